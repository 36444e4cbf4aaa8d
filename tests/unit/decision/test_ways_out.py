"""If nothing meets every limit, changes after which something does are computed, and keep all other limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.decision.facts.accelerator_facts import get_number
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import AnswerValue, Decision, DecisionVerdict, WayOutKind
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitQuestion
from gpudesk.report.decision.no_recommendation import describe_way_out
from gpudesk.report.decision.verdict import describe_verdict_reason, format_verdict
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.unit.decision.scenarios import decide, get_leader, make_scenario


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open(with_user_facts=False) as opened:
        yield opened


def test_ways_out_are_computed_where_none_fits(service: GpuDeskService) -> None:
    parts = ("mi325x", "mi355x", "b300-hgx", "h200-sxm", "b200-hgx")
    decision = decide(service, make_scenario("llama-3.1-405b", parts, count=1, in_flight=4, shape="one"))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    ways = {way.kind: way.estimate for way in decision.ways_out}
    assert 1 <= len(ways) <= 3
    assert ways[WayOutKind.WEIGHTS].count == 1
    assert ways[WayOutKind.COUNT].count == 2
    assert all(each.fits for each in ways.values())


def test_three_ways_out_are_found_where_few_kinds_of_change_help(service: GpuDeskService) -> None:
    parts = ("h200-sxm", "h100-sxm")
    decision = decide(service, make_scenario("llama-3.1-405b", parts, count=None, shape="one"))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert len(decision.ways_out) == 3
    assert len({describe_way_out(way, Formatter()) for way in decision.ways_out}) == 3
    others = [way.estimate for way in decision.ways_out if way.kind is WayOutKind.ACCELERATOR]
    assert {each.request.weights for each in others} == {Precision.FP4}, "no single accelerator holds it in FP8"


@pytest.mark.parametrize("acquisition", ["own", "rent", "undecided"])
def test_ways_out_of_an_export_limit_are_on_sale_in_whole_lots(service: GpuDeskService, acquisition: str) -> None:
    """The die area is unpublished, so the check of what is below the score is undecided, and named so."""
    answers = {"destination": "controlled", "acquisition": acquisition, "service": "offline"}
    decision = decide(service, scenario := make_scenario(parts=("h100-sxm", "mi300x"), base_answers=answers))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert len(decision.ways_out) == 3
    prices = {"own": ("price_usd",), "rent": ("rent_usd_per_hour",)}
    for way in decision.ways_out:
        part = service.catalog.accelerator(way.estimate.request.accelerator)
        inputs = service.costing.resolve_inputs(part, way.estimate.count, scenario)
        assert any(inputs[name].spread is not None for name in prices.get(acquisition, sum(prices.values(), ())))
        assert part.memory_bytes > 20 * 2**30
        assert service.reference_data.export_facts(part.id)["export_free"] is None
        assert way.undecided == ("Destination under export control",)
        assert (
            describe_way_out(way, Formatter())[0] == "Another accelerator (undecided: destination under export control)"
        )
    reason = describe_verdict_reason(decision, dict.fromkeys(decision.columns, ""), Formatter())
    assert reason.count("; undecided: destination under export control.") == 1


def test_no_deployment_is_smaller_than_the_model_fits_on(service: GpuDeskService) -> None:
    """Twelve accelerators are for three replicas of four, not for one that is split over one and a half servers."""
    scenario = make_scenario("deepseek-r1", ("h100-sxm", "h200-sxm"), count=None, in_flight=1, acquisition="rent")
    matrix = service.fit_matrix(FitQuestion(scenario.weights, scenario.kv, 1500, 1), ("h100-sxm",), ("deepseek-r1",))
    assert matrix.rows[0][0].count == 16
    assert decide(service, scenario).candidates[0].count == 16


def test_a_rack_is_no_way_out_for_one_accelerator(service: GpuDeskService) -> None:
    scenario = make_scenario("llama-3.1-405b", ("h200-sxm",), count=1, in_flight=4, shape="one", acquisition="own")
    decision = decide(service, scenario)
    assert decision.ways_out
    assert all("NVL72" not in way.name for way in decision.ways_out)


def test_a_budget_below_all_prices_leaves_a_larger_one_and_rent(service: GpuDeskService) -> None:
    def decide_for(**answers: AnswerValue) -> Decision:
        parts = ("h200-sxm", "mi325x", "rtx-pro-6000-blackwell")
        return decide(service, make_scenario(parts=parts, count=None, base_answers=answers))

    decision = decide_for(acquisition="own", budget_usd=10_000.0)
    assert decision.verdict is DecisionVerdict.NONE_FITS
    ways = {way.kind: way for way in decision.ways_out}
    larger, rent = ways[WayOutKind.BUDGET], ways[WayOutKind.RENT]
    assert larger.budget_usd == math.ceil(min(float(str(part["spend_usd"])) for part in decision.parts))
    assert f"for ${larger.budget_usd:,}" in describe_way_out(larger, Formatter())[1]
    assert (
        get_leader(decide_for(acquisition="own", budget_usd=larger.budget_usd)) == larger.estimate.request.accelerator
    )
    assert get_leader(decide_for(acquisition="rent")) == rent.estimate.request.accelerator


@pytest.mark.parametrize(
    ("model", "weights", "parts", "count", "budget"),
    [
        ("llama-3.1-405b", Precision.FP8, ("h200-sxm", "mi300x"), 1, 150_000.0),
        ("llama-3.1-70b", Precision.BF16, ("l40s", "rtx-pro-6000-blackwell"), None, 30_000.0),
    ],
)
def test_ways_out_keep_every_limit(
    service: GpuDeskService, model: str, weights: Precision, parts: tuple[str, ...], count: int | None, budget: float
) -> None:
    """What carries the load for more than the budget does not help: another format or accelerator may be one."""
    limits: dict[str, AnswerValue] = {"acquisition": "own", "budget_usd": budget}
    scenario = make_scenario(model, parts, count=count, in_flight=4, weights=weights, base_answers=limits)
    ways = [
        each for each in decide(service, scenario).ways_out if each.kind not in (WayOutKind.BUDGET, WayOutKind.RENT)
    ]
    assert ways
    for way in ways:
        request = way.estimate.request
        choice = AcceleratorChoice(request.accelerator, count=way.estimate.count)
        other = replace(scenario, weights=request.weights, workload=request.workload, accelerators=(choice,))
        decision = decide(service, other)
        assert decision.candidates[0].removed == ()
        spend = get_number(decision.parts[0], "spend_usd")
        assert spend is not None
        assert spend <= budget


def test_an_unknown_price_is_within_no_budget(service: GpuDeskService) -> None:
    """MI355X has no purchase price: it is not bought for a budget that is too small for all that has one."""
    scenario = make_scenario(parts=("mi355x", "h200-sxm"), count=None, acquisition="own", budget_usd=50_000.0)
    decision = decide(service, scenario)
    assert decision.recommended is None
    names = {key: key for key in decision.columns}
    assert format_verdict(decision, names, Formatter()) == "No accelerator meets every limit"
    assert "Purchase price unknown: mi355x." in describe_verdict_reason(decision, names, Formatter())
    assert {WayOutKind.BUDGET, WayOutKind.RENT} <= {way.kind for way in decision.ways_out}


def test_a_budget_that_only_an_unknown_price_may_meet_has_ways_out(service: GpuDeskService) -> None:
    """The price of MI355X is unknown: nothing is known to be within the budget, which a narrower format meets."""
    parts = ("h200-sxm", "mi325x", "mi355x", "rtx-pro-6000-blackwell")
    answers: dict[str, AnswerValue] = {"priority": "cost", "acquisition": "own", "budget_usd": 150_000.0}
    decision = decide(service, make_scenario("deepseek-r1", parts, count=None, in_flight=16, base_answers=answers))
    names = {key: key for key in decision.columns}
    assert format_verdict(decision, names, Formatter()) == "No accelerator meets every limit"
    assert describe_verdict_reason(decision, names, Formatter()).endswith(" Purchase price unknown: mi355x.")
    assert {WayOutKind.BUDGET, WayOutKind.RENT, WayOutKind.WEIGHTS} == {way.kind for way in decision.ways_out}


def test_the_price_that_would_lead_is_within_the_budget(service: GpuDeskService) -> None:
    parts = ("mi355x", "rtx-pro-6000-blackwell")
    scenario = make_scenario(parts=parts, count=None, acquisition="own")
    free = decide(service, scenario)
    spend = float(str(free.parts[1]["spend_usd"]))
    limited = make_scenario(parts=parts, count=None, acquisition="own", budget_usd=spend)
    needed, affordable = free.candidates[0].needed, decide(service, limited).candidates[0].needed
    assert needed is not None
    assert affordable is not None
    assert affordable < needed
    costs = scenario.costs.with_input("price_usd", UncertainValue.exactly(affordable), "mi355x")
    assert decide(service, replace(limited, costs=costs)).parts[0]["spend_usd"] == pytest.approx(spend)


def test_another_accelerator_takes_as_few_as_it_needs(service: GpuDeskService) -> None:
    """Eight small cards hold too little; the way out names another by its whole name, in its own number."""
    decision = decide(
        service, make_scenario("llama-3.1-405b", ("l4", "rtx-4090"), count=8, site="office", service="offline")
    )
    ways = {way.kind: way for way in decision.ways_out}
    other = ways[WayOutKind.ACCELERATOR]
    assert other.estimate.count < 8
    assert other.name == service.catalog.accelerator(other.estimate.request.accelerator).name
    assert "24 × RTX 4090 in FP8" in describe_way_out(ways[WayOutKind.COUNT], Formatter())[1]
