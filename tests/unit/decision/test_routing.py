"""Splitting between two parts: counts by hand, costs as elsewhere, plans in order, and what is refused."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.accelerator_costs import Amount
from gpudesk.decision.purchasing.routing import PlanCosts, compare_routing_plans, cost_pools, rank_plans
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.estimate import DisaggregationRequest, EstimateRequest, Load, LoadKind
from gpudesk.domain.routing import RequestKind, RequestMix, RequestRateOrigin, RoutedPlan, RoutePlan, RoutingResult
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

#: H200 and MI325X of the template, and MI355X, which has no price.
PAIR = (0, 1)
UNPRICED = (1, 3)
SHORT, LONG = RequestKind.SHORT, RequestKind.LONG
FIFTH = RequestMix(0.2)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Return Llama 3.1 70B, 4,000 tokens in and 1,000 out, on one each of H200, MI325X, B200 and MI355X."""
    return read_template("70b-chat-on-four")


@pytest.fixture(scope="module")
def open_counts(scenario: Scenario) -> Scenario:
    """Return the same with a demand of 2,000 users, and counts that are free."""
    free = tuple(replace(choice, count=None) for choice in scenario.accelerators)
    demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=3000.0, tpot_ms=80.0)
    return replace(scenario, accelerators=free, demand=demand)


def requests_per_s(service: GpuDeskService, scenario: Scenario, place: int, prompt: int) -> float:
    """Return what a column's deployment answers of requests with 1,000 tokens out."""
    request: EstimateRequest = scenario.requests()[place]
    work = replace(request.workload, input_tokens=prompt)
    rate = service.estimate(replace(request, workload=work)).output_tokens_per_s
    assert rate is not None
    return rate.value / 1000


def find_plan(comparison: RoutingResult, plan: RoutePlan) -> RoutedPlan:
    return next(each for each in comparison.plans if each.plan is plan)


def count(comparison: RoutingResult, plan: RoutePlan) -> int:
    replicas = find_plan(comparison, plan).count
    assert replicas is not None
    return replicas


def of_fleet_of_800(scenario: Scenario) -> Scenario:
    return replace(scenario, costs=scenario.costs.with_input("fleet", UncertainValue.exactly(800.0)))


def price_owned(plan: RoutedPlan) -> float:
    assert plan.owned_usd is not None
    return plan.owned_usd.likely


def test_columns_are_called_as_in_the_whole_comparison(service: GpuDeskService, scenario: Scenario) -> None:
    twice = replace(scenario, accelerators=(*scenario.accelerators, replace(scenario.accelerators[0], count=4)))
    answer = service.answer(twice)
    comparison = compare_routing_plans(twice, PAIR, FIFTH, service, 10.0)
    assert comparison.keys == answer.keys[:2]
    assert {pool.key for plan in comparison.plans for pool in plan.pools} == set(comparison.keys)


def test_counts_match_the_calculation_by_hand(service: GpuDeskService, scenario: Scenario) -> None:
    """Ten requests per second, two of them with prompts four times as long, of accelerators one by one."""
    comparison = compare_routing_plans(scenario, PAIR, FIFTH, service, 10.0)
    short = [requests_per_s(service, scenario, place, 4000) for place in PAIR]
    long = [requests_per_s(service, scenario, place, 16_000) for place in PAIR]
    assert [kind.input_tokens for kind in comparison.classes] == [4000, 16_000]
    assert [kind.requests_per_s for kind in comparison.classes] == [8.0, 2.0]
    assert count(comparison, RoutePlan.ALL_A) == math.ceil(8 / short[0] + 2 / long[0])
    assert count(comparison, RoutePlan.ALL_B) == math.ceil(8 / short[1] + 2 / long[1])
    assert count(comparison, RoutePlan.LONG_A) == math.ceil(8 / short[1]) + math.ceil(2 / long[0])
    assert count(comparison, RoutePlan.LONG_B) == math.ceil(8 / short[0]) + math.ceil(2 / long[1])
    assert comparison.rate_origin is RequestRateOrigin.YOURS
    assert comparison.shared_loss is not None
    mixed = [1 / (0.8 / short[place] + 0.2 / long[place]) for place in PAIR]
    assert comparison.shared_loss.likely == pytest.approx(1 - 2 * min(mixed) / sum(mixed))


def test_the_shared_pools_working_gives_its_loss(service: GpuDeskService, scenario: Scenario) -> None:
    term = compare_routing_plans(scenario, PAIR, FIFTH, service).shared_working
    assert term is not None
    slower, faster = (each.number for each in term.inputs)
    assert slower < faster
    assert term.formula == "1 − 2 × {slower_replica} ÷ ({slower_replica} + {faster_replica})"
    assert term.number == pytest.approx(1 - 2 * slower / (slower + faster))


def test_costs_agree_with_those_of_costs(service: GpuDeskService, scenario: Scenario) -> None:
    """A pool costs as many times what the column's one accelerator does; software grows with it alike."""
    scenario = of_fleet_of_800(scenario)
    comparison = compare_routing_plans(scenario, PAIR, FIFTH, service, 10.0)
    columns = service.costing.costs(service.answer(scenario)).columns
    totals = [column.tco.total_usd for column in columns[:2] if column.tco is not None]
    rents = []
    for column in columns[:2]:
        assert column.rent_usd_per_hour is not None
        assert column.software is not None
        software = column.software.at_once_usd + column.software.per_month_usd * 36
        rents.append(column.rent_usd_per_hour * 8760 * 3 + software)
    for plan in comparison.plans:
        assert plan.rented_usd is not None
        by_key = {pool.key: pool.count for pool in plan.pools}
        counts = [by_key.get(key, 0) for key in comparison.keys]
        assert price_owned(plan) == pytest.approx(sum(n * usd for n, usd in zip(counts, totals, strict=True)))
        paid = sum(n * usd for n, usd in zip(counts, rents, strict=True))
        assert plan.rented_usd.likely == pytest.approx(paid)


def test_a_pool_pays_for_its_software_alone_where_no_fleet_is_stated(
    service: GpuDeskService, scenario: Scenario
) -> None:
    for plan in compare_routing_plans(scenario, PAIR, FIFTH, service, 10.0).plans:
        assert plan.software_usd == plan.software_alone_usd


def test_a_second_stack_of_software_is_borne_by_the_split(service: GpuDeskService, scenario: Scenario) -> None:
    scenario = replace(scenario, costs=replace(scenario.costs, runs_on="CUDA"))
    comparison = compare_routing_plans(of_fleet_of_800(scenario), PAIR, FIFTH, service, 10.0)
    home, other = find_plan(comparison, RoutePlan.ALL_A), find_plan(comparison, RoutePlan.ALL_B)
    split = find_plan(comparison, RoutePlan.LONG_B)
    for plan in (home, other, split):
        assert plan.software_usd is not None
        assert plan.software_alone_usd is not None
    assert home.software_usd == home.software_alone_usd == UncertainValue.exactly(0.0)
    assert split.software_alone_usd == other.software_alone_usd
    assert split.software_alone_usd is not None
    assert split.software_alone_usd.likely == pytest.approx(2 * 280_000 * 3 + 9 / 12 * 280_000)
    assert split.software_usd is not None
    pool = next(pool for pool in split.pools if pool.accelerator == "mi325x")
    assert split.software_usd.likely == pytest.approx(pool.count / 800 * split.software_alone_usd.likely)


def test_the_cheapest_and_what_a_split_costs_beyond_it(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = compare_routing_plans(scenario, PAIR, FIFTH, service, 10.0)
    ranking = comparison.owned
    assert ranking is not None
    costs = {plan.plan: price_owned(plan) for plan in comparison.plans}
    assert ranking.cheapest is min(costs, key=costs.__getitem__)
    assert ranking.cheapest not in ranking.level
    single = min((RoutePlan.ALL_A, RoutePlan.ALL_B), key=costs.__getitem__)
    assert [each.plan for each in ranking.beyond] == [RoutePlan.LONG_A, RoutePlan.LONG_B]
    for each in ranking.beyond:
        assert each.single is single
        assert each.usd.likely == pytest.approx(costs[each.plan] - costs[single])
        assert each.usd.in_order
        assert each.software_usd.in_order


def test_plans_that_cost_the_same_within_the_error_are_level() -> None:
    import numpy as np

    def cost(*draws: float) -> PlanCosts:
        usd = np.array(draws)
        return PlanCosts(1.0, usd, None, usd * 0.0, usd * 0.0)

    ranking = rank_plans(
        {
            RoutePlan.ALL_A: cost(10.0, 9.0, 10.0, 11.0),
            RoutePlan.ALL_B: cost(11.0, 8.0, 11.0, 12.0),
            RoutePlan.LONG_A: cost(20.0, 19.0, 20.0, 21.0),
        },
        rented=False,
    )
    assert ranking is not None
    assert ranking.cheapest is RoutePlan.ALL_A
    assert ranking.level == (RoutePlan.ALL_B,)
    assert not ranking.decided
    assert rank_plans({RoutePlan.ALL_A: cost(1.0, 1.0)}, rented=False) is None
    assert rank_plans({RoutePlan.ALL_A: cost(1.0), RoutePlan.ALL_B: cost(1.0)}, rented=True) is None


# Where the requests come from


def test_with_short_requests_alone_the_baseline_answers_them(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = compare_routing_plans(scenario, PAIR, RequestMix(0.0), service)
    assert comparison.rate_origin is RequestRateOrigin.BASELINE
    assert [plan.plan for plan in comparison.plans] == [RoutePlan.ALL_A, RoutePlan.ALL_B]
    assert count(comparison, RoutePlan.ALL_A) == 1
    assert "routing.one_kind" in {note.id for note in comparison.notes}


def test_with_a_demand_plans_are_as_sized(service: GpuDeskService, open_counts: Scenario) -> None:
    comparison = compare_routing_plans(open_counts, PAIR, RequestMix(0.0), service)
    sized = service.size(open_counts).candidates
    assert comparison.rate_origin is RequestRateOrigin.DEMAND
    assert comparison.requests_per_s == pytest.approx(2000 * 12 / 3600 * 2)
    for plan, candidate in zip(comparison.plans, sized[:2], strict=True):
        assert plan.count == candidate.count
        assert plan.spare == candidate.spare


def test_each_pool_keeps_its_spare_replica(service: GpuDeskService, open_counts: Scenario) -> None:
    comparison = compare_routing_plans(open_counts, PAIR, FIFTH, service)
    for plan in comparison.plans:
        assert plan.counts is not None
        assert plan.counts.likely == plan.count
        assert plan.counts.low <= plan.counts.likely <= plan.counts.high
        for pool in plan.pools:
            assert pool.spare_replicas == 1
            assert pool.spare == pool.plan.count
            assert pool.count == (pool.replicas + 1) * pool.plan.count
    for single in (RoutePlan.ALL_A, RoutePlan.ALL_B):
        assert count(comparison, single) <= _apart(comparison, single)


def _apart(comparison: RoutingResult, plan: RoutePlan) -> int:
    """Return what two pools of one part would take, from the two splits."""
    key = comparison.keys[0 if plan is RoutePlan.ALL_A else 1]
    return sum(
        pool.count
        for split in (find_plan(comparison, RoutePlan.LONG_A), find_plan(comparison, RoutePlan.LONG_B))
        for pool in split.pools
        if pool.key == key
    )


def test_requests_that_arrive_by_themselves_are_answered(service: GpuDeskService, scenario: Scenario) -> None:
    arriving = replace(scenario.workload, load=Load(LoadKind.REQUEST_RATE, request_rate=5.0))
    comparison = compare_routing_plans(replace(scenario, workload=arriving), PAIR, FIFTH, service)
    assert (comparison.rate_origin, comparison.requests_per_s) == (RequestRateOrigin.LOAD, 5.0)
    assert comparison.utilisation_cap == 0.8
    assert all(plan.count for plan in comparison.plans)


def test_a_column_further_back_is_no_baseline(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = compare_routing_plans(scenario, (2, 1), FIFTH, service)
    assert comparison.requests_per_s == pytest.approx(requests_per_s(service, scenario, 0, 4000))
    assert comparison.keys == ("b200-hgx", "mi325x")


def test_order_of_the_two_vendors_does_not_matter(service: GpuDeskService, scenario: Scenario) -> None:
    one, other = (compare_routing_plans(scenario, places, FIFTH, service, 20.0) for places in (PAIR, PAIR[::-1]))
    for plan, same in (
        (RoutePlan.ALL_A, RoutePlan.ALL_B),
        (RoutePlan.LONG_A, RoutePlan.LONG_B),
        (RoutePlan.LONG_B, RoutePlan.LONG_A),
    ):
        assert count(one, plan) == count(other, same)
        assert price_owned(find_plan(one, plan)) == pytest.approx(price_owned(find_plan(other, same)))


# Lengths, models, and what is missing


def test_long_prompts_end_within_the_context(service: GpuDeskService, open_counts: Scenario) -> None:
    longer = replace(open_counts, workload=replace(open_counts.workload, input_tokens=60_000), demand=None)
    comparison = compare_routing_plans(longer, PAIR, FIFTH, service, 0.1)
    most = service.catalog.model(longer.model).max_context
    assert most is not None
    assert comparison.classes[1].input_tokens == most - 1000
    assert "routing.capped" in {note.id for note in comparison.notes}
    mix = replace(FIFTH, long_input_tokens=70_000, long_output_tokens=10)
    comparison = compare_routing_plans(longer, PAIR, mix, service, 0.1)
    assert (comparison.classes[1].input_tokens, comparison.classes[1].output_tokens) == (70_000, 10)


def test_a_second_model_has_pools_of_its_own(service: GpuDeskService, scenario: Scenario) -> None:
    scenario = replace(scenario, costs=replace(scenario.costs, runs_on="CUDA"))
    mix = replace(FIFTH, model="llama-3.1-8b")
    comparison = compare_routing_plans(scenario, PAIR, mix, service, 10.0)
    assert [kind.model for kind in comparison.classes] == ["llama-3.1-70b", "llama-3.1-8b"]
    assert all(len(plan.pools) == 2 for plan in comparison.plans)
    assert comparison.shared_loss is None
    both = find_plan(comparison, RoutePlan.ALL_B)
    alone = both.software_alone_usd
    assert alone is not None
    assert alone.likely == pytest.approx(2 * 280_000 * 3 + 9 / 12 * 280_000)
    for_short = compare_routing_plans(scenario, PAIR, replace(mix, model_kind=SHORT), service, 10.0)
    assert [kind.model for kind in for_short.classes] == ["llama-3.1-8b", "llama-3.1-70b"]


def test_a_part_without_a_price_is_ranked_by_rent_alone(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = compare_routing_plans(scenario, UNPRICED, FIFTH, service, 10.0)
    assert comparison.owned is None
    assert comparison.rented is not None
    for plan in comparison.plans:
        whole = plan.plan is RoutePlan.ALL_A
        assert (plan.owned_usd is not None) is whole
        assert plan.rented_usd is not None
    lacks = [note for note in comparison.notes if note.id == "deciding.lacks"]
    assert [note.parameters["kind"] for note in lacks] == ["lacks.price"]


def test_unservable_requests_are_explained(service: GpuDeskService, scenario: Scenario) -> None:
    small = replace(scenario, accelerators=(AcceleratorChoice("l4", count=1), *scenario.accelerators))
    comparison = compare_routing_plans(small, (0, 1), FIFTH, service, 1.0)
    assert find_plan(comparison, RoutePlan.ALL_B).count is not None
    for plan in (RoutePlan.ALL_A, RoutePlan.LONG_A, RoutePlan.LONG_B):
        reason = find_plan(comparison, plan).reason
        assert reason is not None
        assert reason.id == "estimate.weights_do_not_fit"
    assert comparison.shared_loss is None
    assert comparison.owned is None


def test_pools_of_prefill_and_decode_are_not_routed(service: GpuDeskService, scenario: Scenario) -> None:
    apart = AcceleratorChoice("h200-sxm", count=8, disaggregated=DisaggregationRequest())
    mixed = replace(scenario, accelerators=(apart, *scenario.accelerators[1:]))
    reason = find_plan(compare_routing_plans(mixed, PAIR, FIFTH, service, 1.0), RoutePlan.ALL_A).reason
    assert reason is not None
    assert reason.id == "sizing.pools"


def test_every_message_has_a_sentence(service: GpuDeskService, scenario: Scenario) -> None:
    for places, mix, rate in ((PAIR, FIFTH, None), (UNPRICED, RequestMix(0.0), 5.0)):
        for answers in compare_routing_plans(scenario, places, mix, service, rate).notes:
            assert "{" not in format_message(answers)


@pytest.mark.parametrize(
    ("mix", "rate", "where"),
    [
        (RequestMix(1.5), None, "long_share"),
        (RequestMix(float("nan")), None, "long_share"),
        (RequestMix(long_input_tokens=0), None, "long_input_tokens"),
        (RequestMix(long_output_tokens=0), None, "long_output_tokens"),
        (RequestMix(), 0.0, "requests_per_s"),
    ],
)
def test_impossible_value_is_refused_by_its_name(
    service: GpuDeskService, scenario: Scenario, mix: RequestMix, rate: float | None, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        compare_routing_plans(scenario, PAIR, mix, service, rate)
    assert refused.value.where == where


def test_two_columns_of_one_part_and_unknown_models_are_refused(service: GpuDeskService, scenario: Scenario) -> None:
    twice = replace(scenario, accelerators=(scenario.accelerators[0], scenario.accelerators[0]))
    with pytest.raises(InputError):
        compare_routing_plans(twice, PAIR, FIFTH, service)
    with pytest.raises(InputError):
        compare_routing_plans(scenario, PAIR, replace(FIFTH, model="llama-9"), service)


def test_baseline_that_cannot_run_the_model_is_refused(service: GpuDeskService, scenario: Scenario) -> None:
    small = replace(scenario, accelerators=(AcceleratorChoice("l4", count=1), *scenario.accelerators))
    with pytest.raises(InputError) as refused:
        compare_routing_plans(small, (1, 2), FIFTH, service)
    assert refused.value.where == "l4"


# What holds of all


@given(first=st.integers(1, 500), more=st.integers(0, 500), place=st.sampled_from(PAIR))
def test_more_accelerators_are_never_cheaper(
    service: GpuDeskService, scenario: Scenario, first: int, more: int, place: int
) -> None:
    inputs = service.costing.situations(service.answer(scenario))[place]
    values: dict[str, Amount] = dict(inputs.values)
    few, many = (cost_pools(values, float(n)) for n in (first, first + more))
    for name in ("owned", "rented", "software", "software_alone"):
        less, dearer = getattr(few, name), getattr(many, name)
        assert dearer >= less * (1 - 1e-12)


def test_pools_are_rented_in_whole_instances(service: GpuDeskService, scenario: Scenario) -> None:
    """Ten accelerators of a provider that rents eight at a time cost as much as sixteen."""
    inputs = service.costing.situations(service.answer(scenario))[0]
    values: dict[str, Amount] = {**inputs.values, "engineers": 0.0, "porting_engineer_months": 0.0}
    part, whole = cost_pools(values, 10.0, instance_size=8), cost_pools(values, 16.0, instance_size=8)
    assert part.rented == whole.rented
    assert part.rented != cost_pools(values, 10.0).rented


def test_routes_are_priced_by_the_instances_on_record(service: GpuDeskService, scenario: Scenario) -> None:
    """MI355X is rented eight at a time; who pays for single accelerators pays less."""
    positions = (0, 3)
    settings = (replace(scenario.costs, single_accelerators=singly) for singly in (False, True))
    scenarios = (replace(scenario, costs=each) for each in settings)
    comparisons = (compare_routing_plans(each, positions, FIFTH, service, 1.0) for each in scenarios)
    whole, alone = (find_plan(each, RoutePlan.ALL_B) for each in comparisons)
    assert whole.rented_usd is not None
    assert alone.rented_usd is not None
    assert whole.rented_usd.likely > alone.rented_usd.likely


@given(rate=st.floats(0.5, 100.0), more=st.floats(0.0, 100.0), share=st.floats(0.05, 0.95))
def test_more_requests_never_take_fewer_accelerators_or_less_money(
    service: GpuDeskService, scenario: Scenario, rate: float, more: float, share: float
) -> None:
    few, many = (
        compare_routing_plans(scenario, PAIR, RequestMix(share), service, each) for each in (rate, rate + more)
    )
    for plan in RoutePlan:
        assert count(many, plan) >= count(few, plan)
        assert price_owned(find_plan(many, plan)) >= price_owned(find_plan(few, plan)) * (1 - 1e-12)
