"""What a comparison costs: lines that add up, what is missing, roots that are roots, draws that repeat."""

import math
import tracemalloc
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing import inputs as cost_inputs
from gpudesk.costing import scenario_costs
from gpudesk.costing.accelerator_costs import OF_OWNING, OF_RENTING, THROUGHPUT
from gpudesk.costing.scenario_costs import TO_TIE, CostCalculator
from gpudesk.costing.uncertainty import compute_common_error, compute_common_share
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, compute_win_odds
from gpudesk.domain.claim import ProviderClass
from gpudesk.domain.cost import (
    COST_INPUTS,
    BreakEven,
    CostColumn,
    CostInputOrigin,
    CostSettings,
    UncertainValue,
    parse_costs,
    write_cost_section,
)
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.report.costs import describe_software_share, list_rent_class_remarks, list_same_provider_rents
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter, IntervalEstimate

FOUR = "70b-chat-on-four"
#: Inputs that make owning more expensive as they rise, and those that make it cheaper.
DEARER = (
    "price_usd",
    "server_share",
    "network_share",
    "rack_share",
    "spares",
    "capital_rate",
    "energy_usd_per_kwh",
    "pue",
    "accelerator_w",
    "host_w",
    "draw",
    "demand_usd_per_kw_month",
    "hosting_usd_per_kw_month",
    "support",
    "staff_usd_per_year",
    "engineer_usd_per_year",
    "engineers",
    "porting_engineer_months",
)
CHEAPER = ("discount", "residual", "utilisation", "fleet")


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    """Return Llama 3.1 70B on one each of H200, MI325X, B200 and MI355X, of which the last has no price.

    The team's software runs on CUDA, so that it is ported to the others.
    """
    template = read_template(FOUR)
    return service.answer(replace(template, costs=replace(template.costs, runs_on="CUDA")), with_curves=True)


def with_costs(answer: Answer, costs: CostSettings) -> Answer:
    """Return the same answer under other settings of costs, which estimates do not rest on."""
    return replace(answer, scenario=replace(answer.scenario, costs=costs))


def compute_costs(answer: Answer, **inputs: float | UncertainValue) -> Answer:
    """Return the answer with inputs of all, as numbers or ranges."""
    values = {
        name: each if isinstance(each, UncertainValue) else UncertainValue.exactly(each)
        for name, each in inputs.items()
    }
    return with_costs(answer, replace(answer.scenario.costs, inputs=values))


def of(service: GpuDeskService, answer: Answer, key: str) -> CostColumn:
    return next(column for column in service.costing.costs(answer).columns if column.key == key)


def find_break_even(service: GpuDeskService, answer: Answer, name: str, key: str) -> BreakEven:
    costs = service.costing.costs(answer)
    return next(each for each in costs.break_evens if (each.name, each.key) == (name, key))


def test_the_lines_add_up_to_the_total(service: GpuDeskService, answer: Answer) -> None:
    for column in service.costing.costs(answer).columns:
        if column.tco is not None:
            assert math.fsum(line.usd for line in column.tco.lines) == pytest.approx(column.tco.total_usd)


def test_plain_case_matches_the_calculation_by_hand(service: GpuDeskService, answer: Answer) -> None:
    """Price 20,000 and half of it in shares, 1 kW at 0.1 USD/kWh and PUE 1.5 for two years, nothing else."""
    plain = dict.fromkeys(COST_INPUTS, 0.0) | {
        "years": 2.0,
        "utilisation": 0.5,
        "price_usd": 20_000.0,
        "server_share": 0.5,
        "accelerator_w": 800.0,
        "host_w": 200.0,
        "draw": 1.0,
        "pue": 1.5,
        "energy_usd_per_kwh": 0.1,
        "fleet": 1.0,
        "rent_usd_per_hour": 2.0,
        "rack_kw": 10.0,
        "requests_per_user_month": 1.0,
    }
    column = of(service, compute_costs(answer, **plain), "h200-sxm")
    assert column.tco is not None
    assert column.owned is not None
    assert column.rented is not None
    assert column.tokens_per_s is not None
    energy = 1.0 * 1.5 * 2 * 8760 * 0.1
    assert column.tco.total_usd == pytest.approx(30_000.0 + energy)
    tokens = column.tokens_per_s.value * 2 * 8760 * 3600 * 0.5
    assert column.owned.output.value == pytest.approx(column.tco.total_usd / tokens * 1e6)
    assert column.rented.output.value == pytest.approx(2.0 / (column.tokens_per_s.value * 3600 * 0.5) * 1e6)
    assert column.owned.blended.value == pytest.approx(column.owned.output.value / 5)
    assert column.owned.input.value == pytest.approx(column.owned.output.value / 4)
    assert column.efficiency is not None
    assert column.efficiency.accelerators_per_rack == 10
    assert column.efficiency.energy_kwh == pytest.approx(1.5 * 2 * 8760)
    assert column.efficiency.joules_per_token is not None
    assert column.efficiency.joules_per_token.value == pytest.approx(1500 / column.tokens_per_s.value)


def test_the_interval_of_a_cost_is_that_of_throughput_and_price(service: GpuDeskService, answer: Answer) -> None:
    costs = CostSettings()
    with_price = costs.with_input("price_usd", UncertainValue.exactly(22_000.0), "mi325x")
    wide = costs.with_input("price_usd", UncertainValue(11_000.0, 22_000.0, 44_000.0), "mi325x")
    at_known_price, at_any = (of(service, with_costs(answer, costs), "mi325x") for costs in (with_price, wide))
    assert at_known_price.owned is not None
    assert at_known_price.tokens_per_s is not None
    assert at_any.owned is not None
    rate, cost = at_known_price.tokens_per_s, at_known_price.owned.output
    assert cost.low * rate.high == pytest.approx(cost.value * rate.value)
    assert cost.high * rate.low == pytest.approx(cost.value * rate.value)
    assert at_any.owned.output.value == pytest.approx(cost.value)
    assert 0.8 * cost.low < at_any.owned.output.low < 0.97 * cost.low
    assert 1.03 * cost.high < at_any.owned.output.high < 1.4 * cost.high


def test_missing_price_is_reported_and_unranked(service: GpuDeskService, answer: Answer) -> None:
    column = of(service, answer, "mi355x")
    assert column.missing == ("price_usd",)
    assert column.tco is None
    assert column.owned is None
    assert column.rented is not None
    assert "mi355x" not in service.costing.draws(answer, count=1000).cheapest
    assert "mi355x" in service.costing.draws(answer, rented=True, count=1000).cheapest


def test_users_price_is_used(service: GpuDeskService, answer: Answer) -> None:
    own = answer.scenario.costs.with_input("price_usd", UncertainValue(30_000.0, 35_000.0, 40_000.0), "mi355x")
    column = of(service, with_costs(answer, own), "mi355x")
    assert column.missing == ()
    assert column.inputs["price_usd"].origin is CostInputOrigin.YOURS
    assert column.owned is not None
    assert own.with_input("price_usd", None, "mi355x") == answer.scenario.costs


def test_every_input_names_its_source(service: GpuDeskService, answer: Answer) -> None:
    inputs = of(service, answer, "mi325x").inputs
    assert list(inputs) == list(COST_INPUTS)
    price = inputs["price_usd"]
    assert price.origin is CostInputOrigin.RECORD
    assert price.record is not None
    assert price.record.newest is not None
    assert inputs["pue"].origin is CostInputOrigin.DEFAULT
    assert inputs["pue"].source is not None
    assert inputs["pue"].source.title
    assert inputs["engineers"].source is not None
    assert inputs["engineers"].source.title
    for name in ("api_input_usd_per_million", "grid_g_per_kwh", "embodied_kg"):
        assert inputs[name].origin is CostInputOrigin.NOWHERE
        assert inputs[name].spread is None


def test_software_is_ported_to_other_platforms_than_the_teams(service: GpuDeskService, answer: Answer) -> None:
    def software(key: str, runs_on: str) -> float:
        settings = replace(answer.scenario.costs, runs_on=runs_on)
        tco = of(service, with_costs(answer, settings), key).tco
        assert tco is not None
        return sum(line.usd for line in tco.lines if line.name in ("porting", "upkeep"))

    assert software("h200-sxm", "CUDA") == 0.0
    assert software("mi325x", "CUDA") > 0.0
    assert software("h200-sxm", "ROCm") > 0.0
    assert software("mi325x", "ROCm") == 0.0


def test_a_deployment_pays_for_its_software_alone_unless_a_fleet_is_stated(service: GpuDeskService) -> None:
    template = read_template(FOUR)
    of_eight = tuple(replace(choice, count=8) for choice in template.accelerators)
    answer = service.answer(replace(template, accelerators=of_eight))
    settings = {"engineers": 2.0, "porting_engineer_months": 0.0, "engineer_usd_per_year": 280_000.0, "years": 3.0}
    for fleet, usd in ((None, 2 * 280_000 * 3), (800.0, 2 * 280_000 * 3 * 8 / 800)):
        costs = service.costing.costs(compute_costs(answer, **settings, **({} if fleet is None else {"fleet": fleet})))
        column = next(each for each in costs.columns if each.key == "mi325x")
        assert column.tco is not None
        assert next(line.usd for line in column.tco.lines if line.name == "upkeep") == pytest.approx(usd)
        assert describe_software_share(costs.columns, Formatter()) == (
            "software cost not shared" if fleet is None else "software cost shared by 800 accelerators"
        )


def test_free_software_is_not_reported_as_a_cost(service: GpuDeskService, answer: Answer) -> None:
    free = service.costing.costs(compute_costs(answer, engineers=0.0, porting_engineer_months=0.0))
    assert describe_software_share(free.columns, Formatter()) == ""


def test_rents_are_those_of_the_term(service: GpuDeskService, answer: Answer) -> None:
    spot = replace(answer.scenario.costs, rent_term="spot")
    column = of(service, with_costs(answer, spot), "h200-sxm")
    assert column.rent is not None
    assert column.rent.term == "spot"
    assert column.rent_usd_per_hour == column.rent.median
    block = replace(answer.scenario.costs, rent_term="capacity_block")
    assert of(service, with_costs(answer, block), "mi325x").rented is None


def test_discounts_of_unnamed_buyers_are_taken_only_when_asked_for(service: GpuDeskService, answer: Answer) -> None:
    def discount(settings: CostSettings, key: str) -> UncertainValue | None:
        return of(service, with_costs(answer, settings), key).inputs["discount"].spread

    usual = answer.scenario.costs
    assert discount(usual, "mi325x") == UncertainValue.exactly(0.0)
    reported = service.costing.add_reported_discounts(usual, answer.scenario)
    assert discount(reported, "mi325x") == UncertainValue(0.16, 0.19, 0.22)
    assert discount(reported, "h200-sxm") == UncertainValue(0.08, 0.1, 0.12)


def test_a_hosted_api_is_compared_with_its_prompts(service: GpuDeskService, answer: Answer) -> None:
    assert service.costing.costs(answer).api is None
    priced = compute_costs(answer, api_input_usd_per_million=0.2, api_output_usd_per_million=0.6)
    api = service.costing.costs(priced).api
    assert api is not None
    assert api.value == pytest.approx(0.6 + 0.2 * 4)
    ranges = compute_costs(
        answer, api_input_usd_per_million=0.2, api_output_usd_per_million=UncertainValue(0.4, 0.6, 1.0)
    )
    assert service.costing.costs(ranges).api == pytest.approx((1.4, 1.2, 1.8))


def test_incomplete_api_price_is_reported(service: GpuDeskService, answer: Answer) -> None:
    half = service.costing.costs(compute_costs(answer, api_input_usd_per_million=0.2))
    assert half.api is None
    assert half.api_missing == ("api_output_usd_per_million",)
    assert service.costing.costs(answer).api_missing == ()


def test_from_a_load_on_owning_and_renting_cost_less_than_an_api(service: GpuDeskService, answer: Answer) -> None:
    """At the load that is solved for, the cost of a month is what the API charges for its tokens."""
    priced = compute_costs(answer, api_input_usd_per_million=0.2, api_output_usd_per_million=0.6, utilisation=0.5)
    column = of(service, priced, "h200-sxm")
    assert column.tco is not None
    assert column.rent_usd_per_hour is not None
    to_own = find_break_even(service, priced, "tokens_to_own", "h200-sxm").value
    assert to_own is not None
    assert to_own * 1.4 == pytest.approx(column.tco.total_usd / 36)
    rented = find_break_even(service, priced, "tokens_to_rent", "h200-sxm").value
    assert rented is not None
    assert rented * 1.4 == pytest.approx(column.rent_usd_per_hour * 730)
    cheap = compute_costs(answer, api_input_usd_per_million=0.001, api_output_usd_per_million=0.001)
    assert find_break_even(service, cheap, "tokens_to_own", "h200-sxm").value is None


def test_rented_accelerators_bear_software_costs_like_owned_ones(service: GpuDeskService, answer: Answer) -> None:
    """A smaller fleet makes software more expensive, for both alike: from when on one buys is the same."""
    answer, small = compute_costs(answer, fleet=800.0), compute_costs(answer, fleet=8.0)
    for key, grows in (("h200-sxm", False), ("mi325x", True)):
        usual, dearer = of(service, answer, key), of(service, small, key)
        for one, other in ((usual.owned, dearer.owned), (usual.rented, dearer.rented)):
            assert one is not None
            assert other is not None
            assert (other.output.value > one.output.value * 2) is grows
        for name in ("months_to_own", "hours_to_own", "utilisation_to_own"):
            before, after = (find_break_even(service, each, name, key).value for each in (answer, small))
            assert after == pytest.approx(before)


def test_cash_that_is_less_only_after_the_years_planned_is_no_break_even(
    service: GpuDeskService, answer: Answer
) -> None:
    assert find_break_even(service, compute_costs(answer, years=1.5), "months_to_own", "h200-sxm").value is None


def test_software_of_the_same_platform_has_no_break_even(service: GpuDeskService, answer: Answer) -> None:
    rocm = with_costs(answer, replace(answer.scenario.costs, runs_on="ROCm"))
    broken = [each for each in service.costing.costs(rocm).break_evens if each.name == "hours_to_port"]
    assert broken == []
    usual = [each.key for each in service.costing.costs(answer).break_evens if each.name == "hours_to_port"]
    assert usual == ["mi325x", "mi355x"]


def test_always_cheaper_is_distinguished_from_never_cheaper(service: GpuDeskService, answer: Answer) -> None:
    tie = find_break_even(service, compute_costs(answer, fleet=800.0), "discount_to_tie", "mi325x")
    assert tie.value is None
    assert tie.cheaper is True
    dear = find_break_even(service, answer, "discount_to_tie", "mi325x")
    assert dear.value is None
    assert dear.cheaper is False


def test_users_discount_stays_when_reported_discounts_apply(service: GpuDeskService, answer: Answer) -> None:
    usual = answer.scenario.costs
    mine = usual.with_input("discount", UncertainValue.exactly(0.05), "mi325x")
    reported = service.costing.add_reported_discounts(mine, answer.scenario)
    assert reported.get_accelerator_inputs("mi325x")["discount"] == UncertainValue.exactly(0.05)
    assert reported.get_accelerator_inputs("h200-sxm")["discount"] == UncertainValue(0.08, 0.1, 0.12)
    of_all = usual.with_input("discount", UncertainValue.exactly(0.3))
    assert service.costing.add_reported_discounts(of_all, answer.scenario) == of_all


@pytest.mark.parametrize("fitting", [10, 20, 30, 40])
def test_machines_that_fill_a_rack_exactly_all_fit(service: GpuDeskService, answer: Answer, fitting: int) -> None:
    """1.1 kW goes into 11 kW ten times, though 11 // 1.1 is 9."""
    filled = compute_costs(answer, accelerator_w=700.0, host_w=400.0, rack_kw=1.1 * fitting)
    efficiency = of(service, filled, "h200-sxm").efficiency
    assert efficiency is not None
    assert efficiency.accelerators_per_rack == fitting


def test_carbon_needs_the_grid(service: GpuDeskService, answer: Answer) -> None:
    without = of(service, answer, "h200-sxm").efficiency
    assert without is not None
    assert without.carbon_kg is None
    given_grid = of(service, compute_costs(answer, grid_g_per_kwh=400.0), "h200-sxm").efficiency
    assert given_grid is not None
    assert given_grid.energy_kwh is not None
    assert given_grid.carbon_kg == pytest.approx(given_grid.energy_kwh * 0.4)


def test_costs_fall_with_interactivity_given_up(service: GpuDeskService, answer: Answer) -> None:
    curve = of(service, answer, "h200-sxm").curve
    assert len(curve) > 10
    paces = [point.tokens_per_s_per_user for point in curve]
    assert paces == sorted(paces, reverse=True)
    first, last = curve[0], curve[-1]
    assert first.owned_usd is not None
    assert last.owned_usd is not None
    assert last.owned_usd < first.owned_usd


# Break-evens are roots


@pytest.mark.parametrize("name", TO_TIE)
@pytest.mark.parametrize("key", ["mi325x", "b200-hgx"])
def test_at_a_tie_a_token_costs_the_same(service: GpuDeskService, answer: Answer, name: str, key: str) -> None:
    tie = find_break_even(service, answer, f"{name}_to_tie", key)
    assert tie.against == "h200-sxm"
    if tie.value is None:
        return
    if name == THROUGHPUT:
        column, rival = of(service, answer, key), of(service, answer, "h200-sxm")
        assert column.owned is not None
        assert rival.owned is not None
        assert column.tokens_per_s is not None
        at_tie = column.owned.output.value * column.tokens_per_s.value / tie.value
        assert at_tie == pytest.approx(rival.owned.output.value)
        return
    bounds = COST_INPUTS[name].bounds
    assert bounds.hold(tie.value)
    part = key if COST_INPUTS[name].each else None
    settings = answer.scenario.costs.with_input(name, UncertainValue.exactly(tie.value), part)
    tied = with_costs(answer, settings)
    column, rival = of(service, tied, key), of(service, tied, "h200-sxm")
    assert column.owned is not None
    assert rival.owned is not None
    assert column.owned.output.value == pytest.approx(rival.owned.output.value, rel=1e-9)


def test_after_the_months_to_own_both_have_cost_the_same(service: GpuDeskService, answer: Answer) -> None:
    column = of(service, answer, "h200-sxm")
    months = find_break_even(service, answer, "months_to_own", "h200-sxm").value
    assert months is not None
    assert column.tco is not None
    assert column.rent_usd_per_hour is not None
    assert column.software is not None
    bought = column.tco.at_once_usd + months * column.tco.per_month_usd
    hired = months * (730 * column.rent_usd_per_hour + column.software.per_month_usd)
    assert bought == pytest.approx(column.software.at_once_usd + hired)


def test_option_that_never_pays_back_has_no_root(service: GpuDeskService, answer: Answer) -> None:
    cheap = compute_costs(answer, rent_usd_per_hour=0.05)
    for name in ("months_to_own", "hours_to_own", "utilisation_to_own"):
        assert find_break_even(service, cheap, name, "h200-sxm").value is None


def test_a_discount_that_ties_is_found(service: GpuDeskService, answer: Answer) -> None:
    """An accelerator that is more expensive a token needs one; at it both cost the same."""
    shared = compute_costs(answer, fleet=800.0)
    dear = with_costs(shared, shared.scenario.costs.with_input("price_usd", UncertainValue.exactly(60_000.0), "mi325x"))
    tie = find_break_even(service, dear, "discount_to_tie", "mi325x")
    assert tie.value is not None
    assert 0.0 < tie.value < 0.95
    settings = dear.scenario.costs.with_input("discount", UncertainValue.exactly(tie.value), "mi325x")
    tied = with_costs(answer, settings)
    column, rival = of(service, tied, "mi325x"), of(service, tied, "h200-sxm")
    assert column.owned is not None
    assert rival.owned is not None
    assert column.owned.output.value == pytest.approx(rival.owned.output.value)


# What holds of all inputs


@given(name=st.sampled_from((*DEARER, *CHEAPER)), place=st.floats(0.02, 0.98), more=st.floats(0.01, 1.0))
def test_cost_goes_the_way_of_each_input(
    service: GpuDeskService, answer: Answer, name: str, place: float, more: float
) -> None:
    """Costs never fall when a price rises."""
    bounds = COST_INPUTS[name].bounds
    top = min(bounds.high, 1e5)
    first = bounds.low + place * (top - bounds.low) * 0.5
    second = min(first + more * (top - first), top)
    costs = []
    for value in (first, second):
        column = of(service, compute_costs(answer, **{name: value}), "mi325x")
        assert column.owned is not None
        costs.append(column.owned.output.value)
    slack = 1e-12 * max(costs)
    assert costs[1] >= costs[0] - slack if name in DEARER else costs[1] <= costs[0] + slack


@pytest.mark.parametrize("rented", [False, True])
def test_every_uncertain_input_moves_the_cost(service: GpuDeskService, answer: Answer, rented: bool) -> None:
    moved = service.costing.influences(answer, 1, rented=rented)
    names = [each.name for each in moved]
    assert set(names) <= set(OF_RENTING if rented else OF_OWNING)
    assert THROUGHPUT in names
    widths = [abs(each.at_high - each.at_low) for each in moved]
    assert widths == sorted(widths, reverse=True)
    assert service.costing.influences(answer, 3) == ()


def test_one_accelerator_at_two_counts_errs_each_time_for_itself(service: GpuDeskService, answer: Answer) -> None:
    """So the band of the ratio of both has it, too."""
    choices = (AcceleratorChoice("h200-sxm", 2), AcceleratorChoice("h200-sxm", 4))
    both = service.answer(replace(answer.scenario, accelerators=choices))
    draws = service.costing.draws(both, count=20_000)
    assert set(draws.cheapest) == {"h200-sxm:2", "h200-sxm:4"}
    assert all(share > 0.001 for share in draws.cheapest.values())


def test_many_draws_take_little_memory_at_once(service: GpuDeskService, answer: Answer) -> None:
    """A window that simulates costs stays below its limit; an array of the draws takes 0.8 MB."""
    service.costing.draws(answer, count=1000)
    tracemalloc.start()
    try:
        service.costing.draws(answer)
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()


def test_draws_repeat_and_hold_for_all(service: GpuDeskService, answer: Answer) -> None:
    first = service.costing.draws(answer, count=20_000, seed=7)
    again = service.costing.draws(answer, count=20_000, seed=7)
    assert first == again
    assert sum(first.cheapest.values()) == pytest.approx(1.0)
    assert service.costing.draws(answer, count=20_000, seed=8) != first
    fewer = replace(answer, scenario=answer.scenario, columns=answer.columns)
    assert service.costing.draws(fewer, count=20_000, seed=7).quantiles == first.quantiles
    for name, (low, middle, high) in first.quantiles.items():
        assert low < middle < high
        assert 0.9 * 20_000 < sum(first.histogram[name]) <= 20_000
    # No draw lies below the first bar, so that the bars up to a cost add up to the share below it.
    assert max(sum(bars) for bars in first.histogram.values()) == 20_000


@pytest.mark.parametrize("pair", [*combinations(("h100-sxm", "h200-sxm", "b200-hgx", "mi325x", "l40s"), 2)])
def test_odds_of_a_simulation_are_those_of_the_comparison(
    service: GpuDeskService, answer: Answer, pair: tuple[str, str]
) -> None:
    choices = tuple(AcceleratorChoice(each, 4) for each in pair)
    both = service.costing.add_costs(service.answer(replace(answer.scenario, accelerators=choices)))
    for name in ("owned", "rented"):
        draws = service.costing.draws(both, rented=name == "rented", count=1000)
        figure = f"{name}_usd_per_million_output"
        assert draws.cheapest == {pair[place]: odds for place, odds in compute_win_odds(both, figure).items()}
        assert len(draws.cheapest) == 2
        assert draws.cheapest[pair[0]] == pytest.approx(both.odds[figure, *pair])


def test_accelerators_that_queue_have_no_odds_of_being_the_cheapest(service: GpuDeskService, answer: Answer) -> None:
    choices = (AcceleratorChoice("h100-sxm", 2), AcceleratorChoice("h200-sxm", 8))
    work = replace(answer.scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=128))
    loaded = service.answer(replace(answer.scenario, accelerators=choices, workload=work))
    assert [column.queues for column in loaded.columns] == [True, False]
    draws = service.costing.draws(loaded, rented=True, count=1000)
    assert draws.cheapest == {"h200-sxm": 1.0}
    assert set(draws.quantiles) == {"h100-sxm", "h200-sxm"}


def test_known_inputs_are_not_simulated(service: GpuDeskService, answer: Answer) -> None:
    """But the engine's error, which is never known."""
    settings = replace(answer.scenario.costs, around=0.0)
    draws = service.costing.draws(with_costs(answer, settings), count=50_000)
    column = of(service, with_costs(answer, settings), "h200-sxm")
    assert column.owned is not None
    low, middle, high = draws.quantiles["h200-sxm"]
    assert middle == pytest.approx(column.owned.output.value, rel=0.01)
    assert low == pytest.approx(column.owned.output.low, rel=0.02)
    assert high == pytest.approx(column.owned.output.high, rel=0.02)


def test_errors_in_common_are_those_that_a_ratio_does_not_have(answer: Answer) -> None:
    bands = [column.estimate.output_tokens_per_s for column in answer.columns if column.estimate]
    own = [math.log(band.high / band.low) for band in bands if band is not None]
    ratios = [each.ratio for each in answer.differences if each.figure == "output_tokens_per_s"]
    apart = [math.log(each.high / each.low) for each in ratios]
    mean, wide = (sum(each**2 for each in widths) / len(widths) for widths in (own, apart))
    assert compute_common_error(answer) == pytest.approx(max(0.0, 1.0 - wide / (2.0 * mean)))
    # Half as wide on the logarithmic scale, ratios leave more in common.
    narrow = [IntervalEstimate(each.value, each.low**0.5, each.high**0.5) for each in ratios]
    share = compute_common_share([band for band in bands if band is not None], narrow)
    assert share == pytest.approx(1.0 - wide / (8.0 * mean))
    assert 0.0 < share < 1.0


def test_around_spreads_every_input_within_its_bounds(service: GpuDeskService, answer: Answer) -> None:
    settings = replace(answer.scenario.costs, around=0.2)
    inputs = of(service, with_costs(answer, settings), "h200-sxm").inputs
    for name, each in inputs.items():
        if each.spread is not None:
            assert each.spread.in_order
            assert all(map(COST_INPUTS[name].bounds.hold, each.spread))
    energy = inputs["energy_usd_per_kwh"].spread
    assert energy is not None
    assert energy.low == pytest.approx(0.8 * energy.likely)
    assert inputs["utilisation"].spread == UncertainValue(0.8, 1.0, 1.0)


def test_costs_under_other_settings_that_a_job_asks_for_meanwhile_are_kept_apart(
    service: GpuDeskService, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    costing = CostCalculator(service.catalog, service.costing.assumptions)
    usual = with_costs(answer, answer.scenario.costs)
    dear = compute_costs(answer, energy_usd_per_kwh=9.0)
    expected_ids = {id(each): costing.costs(each) for each in (usual, dear)}
    resolve, inside = cost_inputs.resolve_cost_inputs, [usual]

    def resolve_while_another_thread_asks(*arguments: Any) -> Any:  # noqa: ANN401 - what it stands for
        if inside:
            costing.costs(inside.pop())
        return resolve(*arguments)

    monkeypatch.setattr(scenario_costs, "resolve_cost_inputs", resolve_while_another_thread_asks)
    costing = CostCalculator(service.catalog, costing.assumptions)
    assert costing.costs(dear) == expected_ids[id(dear)]
    # A new answer under the settings of the window, which are known by now.
    assert costing.costs(replace(usual)) == expected_ids[id(usual)]


def test_rents_of_different_provider_classes_are_reported(service: GpuDeskService, answer: Answer) -> None:
    names = {column.key: column.accelerator for column in service.costing.costs(answer).columns}
    mixed = service.costing.costs(answer)
    assert mixed.rent_classes["mi355x"] == (ProviderClass.HYPERSCALER,)
    assert mixed.rent_classes["mi325x"] == (ProviderClass.SPECIALIZED,)
    usual, *same_provider = list_rent_class_remarks(mixed, names)
    assert [line.partition(",")[0] for line in same_provider] == ["At Oracle Cloud (OCI)"]
    inputs = {column.key: column.inputs["rent_usd_per_hour"] for column in mixed.columns}
    ratio = inputs["mi355x"].class_ratio
    assert ratio is not None
    assert usual.startswith(
        f"mi355x is priced at a hyperscaler; specialized clouds usually charge {ratio.likely:.2f}× as much "
    )
    doubt, like_for_like = inputs["mi355x"].spread, inputs["mi355x"].like_for_like
    assert doubt is not None
    assert doubt.low == pytest.approx(ratio.likely * doubt.likely)
    assert like_for_like == pytest.approx([each * doubt.likely for each in ratio])
    assert [key for key, each in inputs.items() if each.class_ratio is not None] == ["mi355x"]
    every = list_same_provider_rents(mixed, names)
    assert any(line.startswith("At DigitalOcean, mi325x rents for 0.") for line in every)
    pair = replace(
        answer,
        scenario=replace(answer.scenario, accelerators=answer.scenario.accelerators[2:]),
        columns=answer.columns[2:],
        differences=(),
    )
    apart = service.costing.costs(pair).rent_classes
    assert apart == {key: mixed.rent_classes[key] for key in apart}
    costs = replace(pair.scenario.costs, provider_class=ProviderClass.HYPERSCALER)
    compared = service.costing.costs(replace(pair, scenario=replace(pair.scenario, costs=costs)))
    # Whose kind of provider is chosen is meant.
    assert all(column.inputs["rent_usd_per_hour"].class_ratio is None for column in compared.columns)
    assert set(compared.rent_classes.values()) == {(ProviderClass.HYPERSCALER,)}
    assert list_rent_class_remarks(compared, names) == []
    rents = {column.accelerator: column.rent_usd_per_hour or 0.0 for column in compared.columns}
    assert rents["mi355x"] < rents["b200-hgx"]


def test_class_of_providers_can_be_chosen(service: GpuDeskService, answer: Answer) -> None:
    settings = parse_costs({"provider_class": "hyperscaler"})
    assert write_cost_section(settings) == {"provider_class": "hyperscaler"}
    column = of(service, with_costs(answer, settings), "h200-sxm")
    assert column.rent is not None
    assert column.rent.classes == (ProviderClass.HYPERSCALER,)


def test_api_prices_on_record_are_defaults(service: GpuDeskService, answer: Answer) -> None:
    assert service.costing.costs(answer).api is None
    hosted = replace(answer, scenario=replace(answer.scenario, model="llama-3.3-70b"))
    api = service.costing.costs(hosted).columns[0].inputs["api_output_usd_per_million"]
    assert api.origin is CostInputOrigin.RECORD
    assert api.record is not None
    assert api.record.count == 5
    assert "Groq" in api.record.providers
