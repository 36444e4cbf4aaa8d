"""Facts of the user that an upgrade of the shipped catalog left without effect: listed and removable."""

from __future__ import annotations

import dataclasses

import pytest

from gpudesk.catalog.list_rows import make_catalog_table
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.domain.attributes import CatalogRow, CatalogSection
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import UserClaim, UserFact, UserFacts, UserModel, UserPrice
from gpudesk.report.catalog_export import build_catalog_table as export_table
from gpudesk.report.catalog_lists import CatalogCellFormatter
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError
from tests.unit.domain.user_samples import ALL, LAB, MODEL, OFFER, TODAY

GONE = "part-of-yesterday"
NO_LONGER = f"the entry {GONE} is no longer in the catalog"
STRUCTURE = next(fact for fact in MODEL if isinstance(fact, UserModel))


def about(thing: str, name: str, value: float | str) -> tuple[UserFact, ...]:
    return (
        UserClaim(thing, name, value, LAB.id, SourceKind.USER, TODAY),
        ClaimPreference(thing, name, LAB.id, value, "ours", TODAY),
    )


#: What is stated, and by name, attribute, value and reason how it is listed.
LISTED: dict[str, tuple[tuple[UserFact, ...], tuple[str, str, str, str]]] = {
    "a claim of a thing that is gone": ((LAB, *about(GONE, "memory", 2**30)), (GONE, "Capacity", "1.0", NO_LONGER)),
    "both ends of a price of a thing that is gone": (
        (LAB, *about(GONE, "price_low", 1000), *about(GONE, "price_high", 3000)),
        (GONE, "Price, purchase", "1,000 – 3,000", NO_LONGER),
    ),
    "a price of a part that is gone": (
        (OFFER, UserPrice("o-1", GONE, "on_demand", OFFER.id, SourceKind.USER, 2.5, note="of May")),
        (GONE, "Price, on-demand", "2.50", NO_LONGER),
    ),
    "a choice of a claim that is gone": (
        (ClaimPreference("mi325x", "memory_bandwidth", "source-of-yesterday", 5.3e12, "ours", TODAY),),
        ("MI325X", "Bandwidth", "5.3", "the value 5.3 TB/s no longer has a source; the catalog default applies"),
    ),
    "a dimension that is gone": (
        (LAB, *about("llama-3.1-8b", "mixers.gone.heads", 5)),
        (
            "Llama 3.1 8B",
            "mixers.gone.heads",
            "5",
            "the entry llama-3.1-8b no longer has this attribute, so the value is unused",
        ),
    ),
    "a dimension that makes no model any more": (
        (LAB, *about("llama-3.1-8b", "mixers.attention.kv_heads", 7)),
        (
            "Llama 3.1 8B",
            "mixers.attention.kv_heads",
            "7",
            "cannot be combined with the other dimensions; the catalog default applies",
        ),
    ),
    "a model that is shipped by now": (
        (dataclasses.replace(STRUCTURE, id="llama-3.1-8b"),),
        ("Ours 8B", "Model", "Us", "the catalog now has its own entry llama-3.1-8b, which is used instead"),
    ),
    "a model whose structure cannot be read": (
        (UserModel("ours", "Ours", "Us", "["),),
        ("Ours", "Model", "Us", "its structure cannot be read"),
    ),
}


def texts(catalog: Catalog) -> list[tuple[str, str, str, str]]:
    table = make_catalog_table(CatalogSection.YOURS, catalog)
    writer = CatalogCellFormatter(table, Formatter(ENGLISH_NUMBERS), TODAY)
    places = [table.place(key) for key in ("thing", "attribute", "yours", "reason")]
    name, attribute, yours, reason = places
    return [
        (writer.text(row, name), writer.text(row, attribute), writer.text(row, yours), writer.text(row, reason))
        for row in table.rows
        if row.waits is not None
    ]


@pytest.mark.parametrize(("user_facts", "listed"), LISTED.values(), ids=LISTED)
def test_inactive_overrides_are_listed_with_reasons(
    facts: Catalog, user_facts: tuple[UserFact, ...], listed: tuple[str, str, str, str]
) -> None:
    merged = facts.with_user_facts(UserFacts.of(user_facts))
    assert texts(merged) == [listed]
    assert len({row.key for row in rows(merged)}) == len(rows(merged))
    table = export_table("own", merged)
    place = [column.key for column in table.head].index("waits")
    assert {row[place] for row in table.rows} - {None} == {listed[-1]}
    step = edits.forget_inactive(merged, merged.waiting[0])
    after = facts.with_user_facts(merged.user_facts.after(step))
    assert after.waiting == ()
    assert all(isinstance(fact, UserClaim | Source) for fact in after.user_facts), "what has its effect stays"
    assert texts(facts.with_user_facts(after.user_facts.after(step.invert()))) == [listed]


def rows(catalog: Catalog) -> tuple[CatalogRow, ...]:
    return make_catalog_table(CatalogSection.YOURS, catalog).rows


def test_facts_with_effect_do_not_wait(facts: Catalog) -> None:
    merged = facts.with_user_facts(ALL)
    assert merged.waiting == ()
    table = export_table("own", merged)
    assert {row[-1] for row in table.rows} == {None}


def test_claim_remains_next_to_an_inactive_choice(facts: Catalog) -> None:
    claim = UserClaim("mi325x", "memory_bandwidth", 5.5e12, LAB.id, SourceKind.USER, TODAY)
    choice = ClaimPreference("mi325x", "memory_bandwidth", "source-of-yesterday", 5.3e12, "ours", TODAY)
    merged = facts.with_user_facts(UserFacts.of([LAB, claim, choice]))
    held_claim, waiting = rows(merged)
    assert held_claim.waits is None
    assert held_claim.item is not None
    assert waiting.waits is not None
    assert waiting.waits.facts == (choice,)
    step = edits.forget_inactive(merged, waiting.waits)
    assert set(merged.user_facts.after(step)) == {LAB, claim}


def test_removed_override_cannot_be_removed_again(facts: Catalog) -> None:
    merged = facts.with_user_facts(UserFacts.of([LAB, *about(GONE, "memory", 2**30)]))
    with pytest.raises(InputError, match=r"own\.not_own"):
        edits.forget_inactive(facts, merged.waiting[0])


def test_price_of_a_part_that_is_gone_is_removed_by_its_id(facts: Catalog) -> None:
    price = UserPrice("o-1", GONE, "on_demand", OFFER.id, SourceKind.USER, 2.5)
    merged = facts.with_user_facts(UserFacts.of([OFFER, price]))
    assert edits.remove_price(merged, "o-1").before == (price, OFFER)
