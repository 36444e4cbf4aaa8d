"""What stands behind figures of the catalog, without an answer: whose they are, who states them, how old."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import prefer_claim, state_price, state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.claim import ClaimStatus, SourceKind, StalenessLimits
from gpudesk.domain.user_facts import UserPrice
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import build_comparison_table, describe_compared_cell
from gpudesk.report.explanation.catalog_attribute import explain_catalog_attribute
from gpudesk.report.explanation.catalog_entry import (
    CatalogContext,
    explain_catalog_entry,
    explain_dispute,
    explain_price,
    explain_source,
    explain_statement,
)
from gpudesk.report.explanation.claims import format_explanation
from gpudesk.report.explanation.parts import CatalogActionKind, Explanation
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

TODAY = "2026-11-21"
QUOTE = make_user_source("Quote by mail", "A reseller", url=None, date="2026-11-18", kind=SourceKind.USER)


@pytest.fixture(scope="module")
def opened() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as service:
        yield service


@pytest.fixture
def service(opened: GpuDeskService) -> GpuDeskService:
    """The real catalog without facts of the user's, which last as long as the test."""
    return GpuDeskService(Catalog(opened.catalog.shipped))


def view(service: GpuDeskService, **changes: object) -> CatalogContext:
    settings = {"scenario": "Four parts", "used": {"mi325x": "accelerator of the comparison"}}
    return CatalogContext(service.catalog, Formatter(ENGLISH_NUMBERS), TODAY, **{**settings, **changes})  # type: ignore[arg-type]


def explain(service: GpuDeskService, thing: str, name: str, **changes: object) -> Explanation:
    explanation = explain_catalog_attribute(view(service, **changes), thing, name)
    assert explanation is not None
    return explanation


def state(service: GpuDeskService, thing: str, name: str, value: float, unit: str, reason: str = "") -> None:
    service.user_catalog.do(
        state_value(service.catalog, thing, name, value, unit, QUOTE, today="2026-11-18", reason=reason)
    )


def kinds(explanation: Explanation) -> list[CatalogActionKind]:
    return [offer.kind for offer in explanation.offers]


def test_bandwidth_of_the_mi325x_shows_both_figures_and_the_seeds_behind_them(service: GpuDeskService) -> None:
    explanation = explain(service, "mi325x", "memory_bandwidth")
    assert (explanation.what, explanation.value) == ("Memory bandwidth, MI325X", "6.0 TB/s")
    assert explanation.conditions == "Shipped value"
    (group,) = explanation.claims
    claims = [(claim.value, claim.stance, claim.source_id) for claim in group.claims]
    assert claims[0][:2] == ("6.0", ClaimStatus.TAKEN)
    assert ("5.3", ClaimStatus.REFUSED, "seed-000") in claims
    assert ("5.3", ClaimStatus.REFUSED, "seed-002") in claims
    assert ("6.0", ClaimStatus.AGREES, "seed-000") in claims
    printed = {line.id: line.text for line in explanation.statements}
    assert printed["C000-014"] == "MI325X, memory bandwidth: 5.3\N{NO-BREAK SPACE}TB/s (body text)"
    assert printed["C000-070"] == "MI325X, memory bandwidth: 6\N{NO-BREAK SPACE}TB/s (FAQ)"
    assert [use.name for use in explanation.uses] == ["Four parts"]
    assert "C000-014" in format_explanation(explanation)


def test_every_rival_claim_can_be_preferred_and_a_value_entered(service: GpuDeskService) -> None:
    explanation = explain(service, "mi325x", "memory_bandwidth")
    current, *rivals = explanation.claims[0].claims
    assert current.offer is None
    assert all(rival.offer is not None and rival.offer.kind is CatalogActionKind.TAKE for rival in rivals)
    assert kinds(explanation) == [CatalogActionKind.VALUE]
    assert explanation.offers[0].key == "F2"
    locked = explain(service, "mi325x", "memory_bandwidth", writable=False)
    assert not locked.offers
    assert not any(claim.offer for claim in locked.claims[0].claims)


def test_user_value_is_first_with_the_shipped_one_next(service: GpuDeskService) -> None:
    state(service, "mi325x", "tdp", 900, "W", "As limited in our racks")
    explanation = explain(service, "mi325x", "tdp")
    assert explanation.value == "900 W"
    assert explanation.conditions == "Entered by you, 2026-11-18"
    assert explanation.band == "Shipped: 1,000 W · −10%"
    assert explanation.basis == "Your value: Quote by mail"
    first, second, *_ = explanation.claims[0].claims
    assert first.origin.startswith("Yours · ")
    assert second.verdict == "used by the shipped catalog"
    assert explanation.remarks[0] == "Your reason, 2026-11-18: As limited in our racks."
    assert explanation.remarks[-1].startswith("Your value is kept in your own file.")
    assert kinds(explanation) == [CatalogActionKind.REVERT, CatalogActionKind.VALUE, CatalogActionKind.SOURCE]


def test_only_price_can_be_removed(service: GpuDeskService) -> None:
    state(service, "mi355x", "price_low", 30000, "USD")
    explanation = explain(service, "mi355x", "price_low")
    assert explanation.value == "$30,000"
    assert explanation.band == "No value in the shipped catalog"
    assert explanation.offers[0].text == "Remove your value"


def test_choice_of_another_claim_has_its_date(service: GpuDeskService) -> None:
    attribute = service.catalog.attribute("mi325x", "memory_bandwidth")
    rival = next(claim for claim in attribute.claims if claim.value == 5.3e12)
    edit = prefer_claim(service.catalog, "mi325x", "memory_bandwidth", rival, "Measured so here", today="2026-11-19")
    service.user_catalog.do(edit)
    explanation = explain(service, "mi325x", "memory_bandwidth")
    assert explanation.value == "5.3 TB/s"
    assert explanation.conditions == "Chosen by you, 2026-11-19"
    assert explanation.band == "Shipped: 6.0 TB/s · −12%"
    assert explanation.remarks[0] == "Your reason, 2026-11-19: Measured so here."
    assert explanation.remarks[1].startswith("Shipped catalog: 6.0 TB/s, according to AMD's data sheet.")


def test_age_is_shown_and_marked_by_the_users_rule(service: GpuDeskService) -> None:
    price = next(each for each in service.catalog.prices("mi325x") if each.date == "2026-03")
    old = explain_price(view(service), price.id)
    assert old is not None
    assert old.stale
    assert old.age == "8 months old (your limit: 90 days)"
    patient = explain_price(view(service, rule=StalenessLimits(prices=400)), price.id)
    assert patient is not None
    assert (patient.age, patient.stale) == ("8 months old", False)
    assert not explain(service, "mi325x", "memory_bandwidth").age, "the year of its source has not ended"


def test_prices_are_edited_where_they_are_the_users(service: GpuDeskService) -> None:
    shipped_price = service.catalog.prices("mi325x")[0]
    explanation = explain_price(view(service), shipped_price.id)
    assert explanation is not None
    assert [(offer.kind, offer.price) for offer in explanation.offers] == [(CatalogActionKind.PRICE, None)]
    own = UserPrice("own-1", "mi325x", "on_demand", QUOTE.id, SourceKind.USER, 1.95, provider="A reseller")
    service.user_catalog.do(state_price(service.catalog, own, QUOTE))
    mine = explain_price(view(service), "own-1")
    assert mine is not None
    assert (mine.value, mine.basis) == ("$1.95/h", "Your value: Quote by mail")
    assert [(offer.kind, offer.price) for offer in mine.offers] == [(CatalogActionKind.PRICE, "own-1")]
    assert explain_price(view(service), "gone") is None


def test_a_source_shows_all_that_it_states(service: GpuDeskService) -> None:
    explanation = explain_source(view(service), "seed-000")
    group = next(group for group in explanation.statement_groups if group.key == "mi325x")
    figures = {(detail.label, detail.value) for detail in group.figures}
    assert ("Memory bandwidth", "5.3 TB/s, not used") in figures
    assert ("Memory bandwidth", "6.0 TB/s, not used") in figures
    assert any(detail.label == "Note" for detail in explanation.details)
    assert any(line.id == "C000-004" for line in explanation.statements)
    assert not explanation.offers, "a shipped source is not the user's to change"


def test_dispute_names_what_rules_a_statement_out(service: GpuDeskService) -> None:
    public = explain_dispute(view(service), "D-011")
    sums = explain_dispute(view(service), "D-007")
    between = explain_dispute(view(service), "D-001")
    assert public is not None
    assert sums is not None
    assert between is not None
    assert public.basis == "Ruled out by public records"
    assert sums.basis == "Ruled out by arithmetic"
    assert between.basis == "Two contradictory statements"
    assert [line.id for line in between.statements] == ["C000-014", "C000-070"]
    attribute = explain(service, "h200-sxm", "peak_dense_bf16")
    assert "Ruled out by public records." in next(
        line.judged for line in attribute.disputes if line.disagreement.startswith("9.9 TFLOPS against")
    )


def test_statement_is_shown_as_published_with_its_disputes(service: GpuDeskService) -> None:
    explanation = explain_statement(view(service), "C000-018")
    assert explanation is not None
    assert explanation.value == "425 tok/s"
    assert [line.refused_by for line in explanation.disputes if line.refused_by] == ["Ruled out by arithmetic"]


def test_a_whole_entry_counts_what_is_known_of_it(service: GpuDeskService) -> None:
    explanation = explain_catalog_entry(view(service), "mi325x")
    assert explanation.what == "Instinct MI325X"
    assert "sources disagree on" in explanation.band
    assert any(line.id == "C000-018" for line in explanation.statements)


@pytest.mark.parametrize("thing", ["mi325x", "gpt-oss-120b", "flux1-dev"])
def test_every_attribute_of_every_kind_of_entry_has_an_explanation(service: GpuDeskService, thing: str) -> None:
    for attribute in service.catalog.attributes(thing):
        explanation = explain(service, thing, attribute.name)
        assert explanation.claims[0].claims
        assert explanation.figure


def test_paper_remarks_on_prices_that_are_stale(service: GpuDeskService) -> None:
    answer = service.answer(read_template("mi325x-or-h200-70b"))
    remarks = [remark.text for remark in build_sheet(answer, date=TODAY).remarks]
    assert "Purchase prices older than 90 days: H200 SXM (8 months), MI325X (8 months)" in remarks
    patient = build_sheet(answer, date=TODAY, rule=StalenessLimits(400, 4000))
    assert not any("Purchase prices older" in remark.text for remark in patient.remarks)


def test_unpublished_value_is_explained_and_can_be_entered(service: GpuDeskService) -> None:
    explanation = explain(service, "mi325x", "peak_dense_fp4")
    assert (explanation.what, explanation.conditions, explanation.value) == ("FP4, dense, MI325X", "Not published", "—")
    assert [(offer.kind, offer.text, offer.key) for offer in explanation.offers] == [
        (CatalogActionKind.VALUE, "Enter your value…", "F2")
    ]
    assert not explain(service, "mi325x", "peak_dense_fp4", writable=False).offers
    figured = explain(service, "qwen3-8b", "active_parameters", computed=lambda *_: 8e9)
    assert (figured.figure, figured.basis) != ("—", "")


def test_a_price_without_a_claim_is_the_one_on_record(service: GpuDeskService) -> None:
    assert explain(service, "mi355x", "price_low").conditions == "Not published"
    price = UserPrice("own-1", "mi355x", "purchase", QUOTE.id, SourceKind.USER, 30000.0, date="2026-11-18")
    service.user_catalog.do(state_price(service.catalog, price, QUOTE))
    explanation = explain(service, "mi355x", "price_low")
    assert (explanation.value, explanation.basis) == ("$30,000", "Your value: Quote by mail")


def test_a_memory_shows_the_claims_about_its_label_where_they_differ(service: GpuDeskService) -> None:
    explanation = explain(service, "b200-hgx", "memory")
    assert [group.label for group in explanation.claims] == ["Memory capacity", "Marketed memory"]


def test_values_of_the_user_are_marked_in_the_table_and_noted_on_paper(service: GpuDeskService) -> None:
    state(service, "mi325x", "memory_bandwidth", 5.3, "TB/s", "As in our racks")
    service.user_catalog.do(
        state_value(service.catalog, "mi355x", "price_low", 30000, "USD", QUOTE, today="2026-11-18", high=33000)
    )
    answer = service.answer(read_template("70b-chat-on-four"))
    table = build_comparison_table(answer, Formatter(ENGLISH_NUMBERS))
    own = {
        (row.key, table.heads[position].name)
        for row in table.rows
        for position, cell in enumerate(row.cells)
        if cell.own
    }
    assert own == {("memory_bandwidth", "MI325X"), ("price", "MI355X")}
    row = next(row for row in table.rows if row.key == "memory_bandwidth")
    assert "your value" in describe_compared_cell(table, row, 1, Formatter(ENGLISH_NUMBERS))
    sheet = build_sheet(answer, Formatter(ENGLISH_NUMBERS))
    notes = [note.text for note in sheet.notes]
    assert any(
        text.startswith("MI325X, Bandwidth: 5.3 TB/s, custom value [") and text.endswith("As in our racks.")
        for text in notes
    )
    assert any(text.startswith("MI355X, Price: $30,000 – 33,000, custom value [") for text in notes)
    assert "superscript: custom value or sources disagree, see notes" in sheet.key
