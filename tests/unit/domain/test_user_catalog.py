"""The user's facts over the shipped ones: stated, chosen, reset; and what rests on them follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk.catalog.user_store import edits, entry
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.claim import Claim, SourceKind
from gpudesk.domain.user_facts import MOST_FACTS, FactEdit, UserAccelerator, UserClaim, UserFact, UserPrice
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, format_message, message

TODAY = "2026-11-21"
PART, NAME = "mi325x", "memory_bandwidth"
QUOTE = entry.make_user_source("Quote of a reseller", "Reseller", date="2026-11-18")


@pytest.fixture
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as bench:
        yield bench


def state(bench: GpuDeskService, value: float = 5.3, unit: str = "TB/s") -> FactEdit:
    return edits.state_value(bench.catalog, PART, NAME, value, unit, QUOTE, today=TODAY)


def claim_of(bench: GpuDeskService, source: str) -> Claim:
    attribute = bench.catalog.attribute(PART, NAME)
    return next(claim for claim in attribute.claims if claim.source.id == source)


def tokens(bench: GpuDeskService) -> float:
    answer = bench.answer(read_template("70b-chat-on-four"))
    column = next(each for each in answer.columns if each.accelerator.id == PART)
    assert column.estimate is not None
    assert column.estimate.output_tokens_per_s is not None
    return column.estimate.output_tokens_per_s.value


def test_user_value_overrides_and_keeps_the_shipped_one(bench: GpuDeskService) -> None:
    before, revision = tokens(bench), bench.catalog.revision
    bench.user_catalog.do(state(bench))
    attribute = bench.catalog.attribute(PART, NAME)
    assert attribute.value == 5_300_000_000_000
    assert attribute.overridden
    assert attribute.shipped is not None
    assert attribute.shipped.value == 6_000_000_000_000
    assert attribute.preferred is not None
    assert attribute.preferred.own
    assert attribute.preferred.source.title == "Quote of a reseller"
    assert sum(claim.preferred for claim in attribute.claims) == 1
    assert bench.catalog.accelerator(PART).memory_bandwidth == 5.3e12
    assert tokens(bench) < before
    assert bench.catalog.revision != revision
    assert bench.catalog.shipped_revision == revision


def test_every_step_can_be_undone_and_done_again(bench: GpuDeskService) -> None:
    before, revision = bench.user_catalog.facts, bench.catalog.revision
    bench.user_catalog.do(state(bench))
    after, changed = bench.user_catalog.facts, bench.catalog.revision
    assert bench.user_catalog.undo_text is not None
    assert "MI325X" in format_message(bench.user_catalog.undo_text)
    bench.user_catalog.undo()
    assert bench.user_catalog.facts == before
    assert bench.catalog.revision == revision
    assert bench.user_catalog.undo() is None
    bench.user_catalog.redo()
    assert bench.user_catalog.facts == after
    assert bench.catalog.revision == changed


def test_facts_are_there_after_the_program_ended(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench))
    bench.close()
    with GpuDeskService.open() as again:
        assert again.catalog.attribute(PART, NAME).value == 5_300_000_000_000
        assert again.user_catalog.facts == bench.user_catalog.facts


def test_other_claim_can_be_preferred_with_a_reason(bench: GpuDeskService) -> None:
    rival = claim_of(bench, "techpowerup-mi325x")
    with pytest.raises(InputError) as refused:
        edits.prefer_claim(bench.catalog, PART, NAME, rival, "  ", today=TODAY)
    assert refused.value.where == "reason"
    bench.user_catalog.do(edits.prefer_claim(bench.catalog, PART, NAME, rival, "To see what it does", today=TODAY))
    attribute = bench.catalog.attribute(PART, NAME)
    assert attribute.value == rival.value
    assert attribute.reason == "To see what it does"
    assert attribute.shipped_reason is not None
    bench.user_catalog.do(
        edits.prefer_claim(bench.catalog, PART, NAME, claim_of(bench, "amd-geak-sku"), "", today=TODAY)
    )
    assert not bench.catalog.attribute(PART, NAME).overridden
    assert len(bench.user_catalog.facts) == 0


def test_shipped_choice_can_hold_again_with_the_user_value_next_to_it(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench))
    bench.user_catalog.do(edits.take_shipped(bench.catalog, PART, NAME))
    attribute = bench.catalog.attribute(PART, NAME)
    assert attribute.value == 6_000_000_000_000
    assert any(claim.own and not claim.preferred for claim in attribute.claims)
    bench.user_catalog.do(edits.revert_attribute(bench.catalog, PART, NAME))
    assert not any(claim.own for claim in bench.catalog.attribute(PART, NAME).claims)
    assert len(bench.user_catalog.facts) == 0, "the source that nothing rests on is gone too"


def test_price_has_two_ends_that_go_together(bench: GpuDeskService) -> None:
    edit = edits.state_value(bench.catalog, "mi355x", "price_low", 30_000, "USD", QUOTE, today=TODAY, high=34_000)
    bench.user_catalog.do(edit)
    assert bench.catalog.attribute("mi355x", "price_low").value == 30_000
    assert bench.catalog.attribute("mi355x", "price_high").value == 34_000
    bench.user_catalog.do(edits.revert_attribute(bench.catalog, "mi355x", "price_low"))
    assert len(bench.user_catalog.facts) == 0


def test_dimension_of_a_model_moves_its_cache(bench: GpuDeskService) -> None:
    name = "mixers.attention.kv_heads"
    bench.user_catalog.do(edits.state_value(bench.catalog, "llama-3.1-70b", name, 16, None, QUOTE, today=TODAY))
    mixer = bench.catalog.model("llama-3.1-70b").layers[0].mixer
    assert getattr(mixer, "kv_heads", None) == 16
    with pytest.raises(InputError) as refused:
        edits.state_value(bench.catalog, "llama-3.1-70b", name, 7, None, QUOTE, today=TODAY)
    assert refused.value.where == "value"
    assert "7" in format_message(refused.value.problem)


@pytest.mark.parametrize(
    ("value", "unit", "where"),
    [
        (0, "TB/s", "value"),
        (-1.0, "TB/s", "value"),
        (float("nan"), "TB/s", "value"),
        (float("inf"), "TB/s", "value"),
        (1e300, "TB/s", "value"),
        ("fast", "TB/s", "value"),
        (True, "TB/s", "value"),
        (5.3, "GiB", "unit"),
        (5.3, "furlongs", "unit"),
    ],
)
def test_value_that_cannot_be_is_refused_at_its_field(
    bench: GpuDeskService, value: float | str, unit: str, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        edits.state_value(bench.catalog, PART, NAME, value, unit, QUOTE, today=TODAY)
    assert refused.value.where == where
    assert len(bench.user_catalog.facts) == 0


@pytest.mark.parametrize(
    ("title", "url", "date", "where"),
    [
        ("", None, None, "title"),
        ("  ", None, None, "title"),
        ("a\0b", None, None, "title"),
        ("x" * 400, None, None, "title"),
        ("Quote", "not an address", None, "url"),
        ("Quote", "javascript:alert(1)", None, "url"),
        ("Quote", None, "yesterday", "date"),
        ("Quote", None, "2026-13", "date"),
    ],
)
def test_source_that_cannot_be_is_refused_at_its_field(
    title: str, url: str | None, date: str | None, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        entry.make_user_source(title, url=url, date=date)
    assert refused.value.where == where


def make_user_accelerator(part: str = "acme-1") -> list[UserFact]:
    figures: dict[str, ClaimValue] = {
        "memory": 137438953472,
        "memory_bandwidth": 4 * 10**12,
        "software_platform": "cuda",
    }
    claims = [UserClaim(part, name, value, QUOTE.id, SourceKind.USER, TODAY) for name, value in figures.items()]
    return [QUOTE, UserAccelerator(part, "Acme 1", "Acme", "hopper"), *claims]


def test_user_accelerator_is_one_like_the_others_and_can_be_removed(bench: GpuDeskService) -> None:
    bench.user_catalog.do(edits.add_facts(bench.catalog, make_user_accelerator(), "Acme 1"))
    part = bench.catalog.accelerator("acme-1")
    assert (part.vendor, part.memory_bandwidth) == ("Acme", 4e12)
    assert bench.catalog.thing("acme-1").own
    price = UserPrice("p1", "acme-1", "on_demand", QUOTE.id, SourceKind.USER, usd=2.5)
    bench.user_catalog.do(edits.state_price(bench.catalog, price, QUOTE))
    assert [each.usd for each in bench.catalog.prices("acme-1")] == [2.5]
    with pytest.raises(InputError):
        edits.revert_attribute(bench.catalog, "acme-1", "memory")
    bench.user_catalog.do(edits.remove_entry(bench.catalog, "acme-1"))
    assert len(bench.user_catalog.facts) == 0
    with pytest.raises(InputError):
        bench.catalog.accelerator("acme-1")


def test_incomplete_or_duplicate_entry_is_not_added(bench: GpuDeskService) -> None:
    with pytest.raises(InputError) as name_error:
        edits.add_facts(bench.catalog, make_user_accelerator("h100-sxm"), "H100")
    assert name_error.value.where == "id"
    with pytest.raises(InputError) as incomplete:
        edits.add_facts(bench.catalog, make_user_accelerator()[:3], "Acme 1")
    assert incomplete.value.where == "memory_bandwidth"
    with pytest.raises(InputError) as source_error:
        edits.remove_entry(bench.catalog, "h100-sxm")
    assert source_error.value.where == "id"


def test_prices_leave_the_estimator_as_it_is(bench: GpuDeskService) -> None:
    tokens(bench)
    estimator = bench.estimator
    price = UserPrice("p1", PART, "on_demand", QUOTE.id, SourceKind.USER, usd=2.5)
    bench.user_catalog.do(edits.state_price(bench.catalog, price, QUOTE))
    assert bench.estimator is estimator
    bench.user_catalog.do(state(bench))
    assert bench.estimator is not estimator


def test_listeners_learn_what_changed(bench: GpuDeskService) -> None:
    changes: list[frozenset[str]] = []
    bench.user_catalog.subscribe(changes.append)
    bench.user_catalog.do(state(bench))
    bench.user_catalog.undo()
    assert changes == [frozenset({PART}), frozenset({PART})]
    bench.user_catalog.unsubscribe(changes.append)


def test_changes_of_another_process_are_loaded(bench: GpuDeskService) -> None:
    with GpuDeskService.open() as other:
        other.user_catalog.do(state(other))
        assert bench.user_catalog.read_changes()
        assert bench.catalog.attribute(PART, NAME).value == 5_300_000_000_000
        assert not bench.user_catalog.read_changes()
        other.user_catalog.do(state(other, 5.0))
        with pytest.raises(InputError) as refused:
            bench.user_catalog.do(state(bench, 4.0))
    assert refused.value.problem.id == "own.changed_elsewhere"
    assert bench.catalog.attribute(PART, NAME).value == 5_000_000_000_000, "what holds now is shown"
    bench.user_catalog.do(state(bench, 4.0))
    assert bench.catalog.attribute(PART, NAME).value == 4_000_000_000_000


def test_step_that_was_out_of_date_leaves_those_before_it(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench))
    changes: list[frozenset[str]] = []
    bench.user_catalog.subscribe(changes.append)
    unknown = UserPrice("p1", PART, "spot", QUOTE.id, SourceKind.USER, 2)
    foreign = FactEdit(message("own.step.remove", "Remove {name}", name="nothing"), before=(unknown,))
    with pytest.raises(InputError) as refused:
        bench.user_catalog.do(foreign)
    assert refused.value.problem.id == "own.changed_elsewhere"
    assert not changes, "the file holds the same facts"
    assert bench.user_catalog.undo_text is not None
    bench.user_catalog.undo()
    assert not bench.catalog.attribute(PART, NAME).overridden
    # Another program writes, and takes it back.
    with GpuDeskService.open() as other:
        other.user_catalog.do(state(other))
        other.user_catalog.undo()
    assert not bench.user_catalog.read_changes()
    bench.user_catalog.redo()
    assert bench.catalog.attribute(PART, NAME).overridden


def test_values_of_a_removed_file_can_be_saved_again(bench: GpuDeskService, user_home: Path) -> None:
    bench.user_catalog.do(state(bench))
    (user_home / "catalog.sqlite").unlink()
    with pytest.raises(InputError) as refused:
        bench.user_catalog.do(state(bench, 5.0))
    assert refused.value.problem.id == "own.file.removed"
    assert bench.user_catalog.removed
    bench.user_catalog.write_anew()
    bench.user_catalog.do(state(bench, 5.0))
    with GpuDeskService.open() as other:
        assert other.catalog.attribute(PART, NAME).value == 5_000_000_000_000
    bench.user_catalog.undo()
    bench.user_catalog.undo()
    assert not bench.catalog.attribute(PART, NAME).overridden, "the steps before it can be undone"


def test_file_that_cannot_be_read_leaves_the_shipped_catalog(user_home: Path) -> None:
    path = user_home / "catalog.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no catalog at all" * 100)
    with GpuDeskService.open() as bench:
        assert bench.user_catalog.problem is not None
        assert not bench.user_catalog.writable
        assert bench.catalog.attribute(PART, NAME).value == 6_000_000_000_000
        with pytest.raises(InputError):
            bench.user_catalog.do(state(bench))
        aside = bench.user_catalog.set_aside()
        assert aside is not None
        assert aside.read_bytes().startswith(b"no catalog")
        bench.user_catalog.do(state(bench))
        assert bench.catalog.attribute(PART, NAME).overridden


def test_backup_can_be_taken_back(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench))
    prices = [UserPrice(f"p{n}", PART, "spot", QUOTE.id, SourceKind.USER, usd=2 + n / 100) for n in range(60)]
    bench.user_catalog.do(edits.add_facts(bench.catalog, [QUOTE, *prices], "60 prices"))
    assert len(bench.catalog.prices(PART)) > 60
    before = next(backup for backup in bench.user_catalog.backups() if backup.problem is None)
    changes: list[frozenset[str]] = []
    bench.user_catalog.subscribe(changes.append)
    bench.user_catalog.restore(before)
    assert not any(price.own for price in bench.catalog.prices(PART))
    assert bench.catalog.attribute(PART, NAME).overridden
    assert changes == [frozenset({PART})]
    assert bench.user_catalog.undo_text is None


def test_verdicts_on_the_shipped_value_do_not_speak_for_another(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench))
    attribute = bench.catalog.attribute(PART, NAME)
    agreeing = {claim.source.id for claim in attribute.rivals if attribute.agrees(claim)}
    assert agreeing == {"seed-000", "seed-002"}, "those that state 5.3 too, and none that states 6.0"
    assert attribute.disputed


def test_steps_written_in_sequence_all_apply(bench: GpuDeskService) -> None:
    first, meter = state(bench), entry.make_user_source("Meter")
    edit = bench.user_catalog.write(first)
    # In between, another window.
    bench.user_catalog.do(edits.state_value(bench.catalog, "h200-sxm", "tdp", 650, "W", meter, today=TODAY))
    bench.user_catalog.adopt(first, edit)
    assert bench.catalog.attribute(PART, NAME).overridden
    assert bench.catalog.attribute("h200-sxm", "tdp").overridden


def test_price_that_replaces_itself_stays(bench: GpuDeskService) -> None:
    price = UserPrice("p1", PART, "on_demand", QUOTE.id, SourceKind.USER, usd=2.5)
    bench.user_catalog.do(edits.state_price(bench.catalog, price, QUOTE))
    with pytest.raises(InputError) as refused:
        edits.state_price(bench.catalog, price, QUOTE, replaces="p1")
    assert refused.value.problem.id == "own.same_value"
    dearer = UserPrice("p2", PART, "on_demand", QUOTE.id, SourceKind.USER, usd=3.5)
    bench.user_catalog.do(edits.state_price(bench.catalog, dearer, QUOTE, replaces="p1"))
    assert [each.usd for each in bench.catalog.prices(PART) if each.own] == [3.5]


def test_second_price_of_one_provider_and_date_is_refused(bench: GpuDeskService) -> None:
    price = UserPrice("p1", PART, "on_demand", QUOTE.id, SourceKind.USER, usd=2.5, provider="Oracle", date="2026-11-01")
    bench.user_catalog.do(edits.state_price(bench.catalog, price, QUOTE))
    with pytest.raises(InputError) as refused:
        edits.state_price(bench.catalog, replace(price, id="p2", usd=3.5), QUOTE)
    assert refused.value.problem.id == "own.second_price"
    edits.state_price(bench.catalog, replace(price, id="p2", usd=3.5, region="eu-1"), QUOTE)
    edits.state_price(bench.catalog, replace(price, usd=3.5), QUOTE, replaces="p1")


@pytest.mark.parametrize("most", [50, pytest.param(MOST_FACTS, marks=pytest.mark.thorough)])
def test_facts_are_added_up_to_the_limit_and_lists_renewed_there(
    bench: GpuDeskService, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(edits, "MOST_FACTS", most)

    def listed(prices: int, usd: float = 2.0) -> list[UserFact]:
        return [
            QUOTE,
            *(UserPrice(f"own-{n}", PART, "on_demand", QUOTE.id, SourceKind.USER, usd) for n in range(prices)),
        ]

    with pytest.raises(InputError, match=r"own\.too_many"):
        edits.add_facts(bench.catalog, listed(most), "a list")
    bench.user_catalog.do(edits.add_facts(bench.catalog, listed(most - 1), "a list"))
    assert len(bench.user_catalog.facts) == most
    with pytest.raises(InputError, match=r"own\.too_many"):
        edits.add_facts(bench.catalog, listed(most), "one more")
    bench.user_catalog.do(edits.add_facts(bench.catalog, listed(most - 1, 3.0), "the list of today"))
    with GpuDeskService.open() as again:
        assert again.user_catalog.facts == bench.user_catalog.facts
        assert tokens(again) > 0
