"""What stands behind a cost: arithmetic that gives it, inputs with their origin, prices on record."""

from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer
from gpudesk.domain.claim import ClaimStatus
from gpudesk.domain.cost import CostColumn
from gpudesk.report.costs import OWNED, RENTED, TOTAL
from gpudesk.report.explanation.cost import explain_cost, explain_purchase_price
from gpudesk.report.explanation.figure import explain_attribute
from gpudesk.report.explanation.parts import Explanation, ExplanationBasis
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import GERMAN_NUMBERS, MISSING_VALUE_TEXT, Formatter


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return service.answer(read_template("70b-chat-on-four"))


def explain(service: GpuDeskService, answer: Answer, key: str, name: str) -> tuple[CostColumn, Explanation]:
    column = next(each for each in service.costing.costs(answer).columns if each.key == key)
    prices = service.catalog.prices(column.accelerator)
    return column, explain_cost(answer, column, f"{key} × 1", name, Formatter(), prices)


def test_rented_cost_on_another_platform_includes_porting(service: GpuDeskService, answer: Answer) -> None:
    scenario = replace(answer.scenario, costs=replace(answer.scenario.costs, runs_on="CUDA"))
    column, explanation = explain(service, replace(answer, scenario=scenario), "mi325x", RENTED)
    working = explanation.working
    assert column.rented is not None
    assert working is not None
    paid, tokens = working.inputs
    assert [each.name for each in paid.inputs] == ["rent", "porting", "upkeep"]
    cost = float(paid.value.replace(",", "")) / float(tokens.value.replace(",", ""))
    assert cost == pytest.approx(column.rented.output.value, rel=0.01)
    sources = [each.source for each in working.walk() if each.source]
    assert any("catalog prices" in source for source in sources)
    (group,) = explanation.claims
    assert group.label == "Rental prices (on-demand)"
    assert column.rent is not None
    used = [claim for claim in group.claims if claim.stance is ClaimStatus.AGREES]
    assert len(used) == column.rent.count >= 3
    assert {claim.verdict for claim in group.claims if claim not in used} == {"older than the newest list"}
    assert all("2026" in claim.origin for claim in group.claims)


@pytest.mark.parametrize(("runs_on", "bears"), [(None, False), ("ROCm", False), ("CUDA", True)])
def test_software_is_paid_for_only_where_it_must_be_ported(
    service: GpuDeskService, answer: Answer, runs_on: str | None, bears: bool
) -> None:
    scenario = replace(answer.scenario, costs=replace(answer.scenario.costs, runs_on=runs_on))
    _, explanation = explain(service, replace(answer, scenario=scenario), "mi325x", RENTED)
    assert explanation.working is not None
    assert ("porting" in {each.name for each in explanation.working.walk()}) is bears


def test_a_rented_token_is_rent_over_tokens(service: GpuDeskService, answer: Answer) -> None:
    column, explanation = explain(service, answer, "h200-sxm", RENTED)
    assert column.rented is not None
    assert explanation.what == "Cost per million output tokens, h200-sxm × 1, rented"
    assert (explanation.figure, explanation.unit) == (f"{column.rented.output.value:.2f}", "USD")
    assert explanation.band.endswith(", from throughput and price")
    assert explanation.conditions == "100% utilization"
    working = explanation.working
    assert working is not None
    assert [each.name for each in working.inputs] == ["rent", "tokens"]


def test_a_purchase_price_is_that_of_the_costs_with_each_price(service: GpuDeskService, answer: Answer) -> None:
    column = next(each for each in service.costing.costs(answer).columns if each.key == "h200-sxm")
    claim = explain_attribute(answer, 0, "price_low", Formatter())
    assert claim is not None
    explanation = explain_purchase_price(answer, column, claim, Formatter(), service.catalog.prices("h200-sxm"))
    price = column.inputs["price_usd"]
    assert price.spread is not None
    assert price.record is not None
    assert explanation.figure == f"{price.spread.likely:,.0f}"
    assert explanation.basis.startswith(f"{price.record.count} catalog prices")
    used = [line for group in explanation.claims for line in group.claims if line.stance is ClaimStatus.AGREES]
    assert len(used) == price.record.count


def test_the_lines_of_a_total_are_all_there_with_their_inputs(service: GpuDeskService, answer: Answer) -> None:
    column, explanation = explain(service, answer, "mi325x", TOTAL)
    assert column.tco is not None
    assert explanation.figure == f"{column.tco.total_usd:,.0f}"
    assert explanation.ground is ExplanationBasis.EXACT
    working = explanation.working
    assert working is not None
    assert [line.name for line in working.inputs] == [line.name for line in column.tco.lines if line.usd]
    for line in working.inputs:
        assert line.formula
        assert line.inputs
        assert all(each.source for each in line.inputs)
    assert working.outline[0] == "total"


def test_an_owned_token_is_the_total_over_all_tokens(service: GpuDeskService, answer: Answer) -> None:
    column, explanation = explain(service, answer, "h200-sxm", OWNED)
    assert column.owned is not None
    assert explanation.figure == f"{column.owned.output.value:.2f}"
    assert explanation.working is not None
    assert [each.name for each in explanation.working.inputs] == ["total", "tokens"]
    (group,) = explanation.claims
    assert group.label == "Purchase prices"


@pytest.mark.parametrize("name", [OWNED, TOTAL])
def test_missing_price_is_reported(service: GpuDeskService, answer: Answer, name: str) -> None:
    _, explanation = explain(service, answer, "mi355x", name)
    assert explanation.figure == MISSING_VALUE_TEXT
    assert explanation.band == "No purchase price"
    assert explanation.working is None
    (group,) = explanation.claims
    assert {claim.stance for claim in group.claims} == {ClaimStatus.REFUSED}


def test_constants_of_a_calculation_have_the_digits_of_the_language(service: GpuDeskService, answer: Answer) -> None:
    column = service.costing.costs(answer).columns[0]
    explanation = explain_cost(answer, column, "H200 × 1", RENTED, Formatter(GERMAN_NUMBERS), ())
    assert explanation.working is not None
    tokens = next(each for each in explanation.working.walk() if each.name == "tokens")
    assert "× 3.600 ×" in (tokens.formula or "")
