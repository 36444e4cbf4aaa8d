"""Fleets: whole systems that carry the demand, racks, costs that add up, and public reference designs."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.systems import find_system
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.cost import CostSettings, UncertainValue
from gpudesk.domain.estimate import Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.fleet import (
    IDLE_SHARE,
    FleetAnswer,
    FleetCost,
    FleetOption,
    FleetSettings,
    LoadCurveKind,
    SiteCooling,
    Supply,
    make_load_curve,
)
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind, SizingFactor, SizingOption
from gpudesk.fleet.supply import (
    FLEET_DRAWS,
    RACK_UNITS,
    ReplicaPacking,
    SupplyCost,
    choose_cheapest,
    compute_replica_needs,
    cost_owned,
    cost_rented,
    count_owned,
    fill_racks,
    list_occupancy,
    make_fleet_load,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError
from gpudesk.text.units import HOURS_PER_YEAR

SIX = ("h100-sxm", "mi300x", "h200-sxm", "b200-hgx", "l40s", "gb200-nvl72")
USERS = Demand(DemandKind.USERS, 2000.0, ttft_ms=2000.0, tpot_ms=50.0)


def make_scenario(
    *accelerators: str,
    demand: Demand | None = USERS,
    fleet: FleetSettings | None = None,
    costs: CostSettings | None = None,
    model: str = "llama-3.3-70b",
) -> Scenario:
    return Scenario(
        name="fleet",
        model=model,
        weights=Precision.FP8,
        workload=Workload(2000, 300, Load(LoadKind.CONCURRENCY, concurrency=1)),
        accelerators=tuple(AcceleratorChoice(each) for each in accelerators),
        demand=demand,
        fleet=fleet or FleetSettings(),
        costs=costs or CostSettings(),
    )


@pytest.fixture(scope="module")
def six(service: GpuDeskService) -> FleetAnswer:
    return service.fleet(make_scenario(*SIX, fleet=FleetSettings(growth_per_year=0.3, spare_systems=1)))


def get_only(answer: FleetAnswer) -> FleetOption:
    (option,) = answer.options
    return option


# Packing


@given(
    replica=st.integers(1, 40),
    slots=st.integers(1, 72),
    working=st.integers(1, 200),
    spare=st.integers(0, 5),
    spare_systems=st.integers(0, 3),
)
def test_every_accelerator_is_in_use_spare_or_idle(
    replica: int, slots: int, working: int, spare: int, spare_systems: int
) -> None:
    packing = ReplicaPacking(replica, slots)
    occupancy = list_occupancy(packing, working, spare, spare_systems)
    systems = int(packing.count_systems(float(working + spare))) + spare_systems
    assert len(occupancy) == systems
    assert sum(used for used, _ in occupancy) == working * replica
    assert sum(idle for _, idle in occupancy) == spare * replica + spare_systems * slots
    assert all(0 <= used + idle <= slots for used, idle in occupancy)
    assert packing.count_replicas(systems - spare_systems) >= working + spare
    if replica <= slots:
        # A replica that fits in a system is not split.
        assert all(used % replica == 0 for used, _ in occupancy)


def test_single_cards_leave_slots_empty() -> None:
    packing = ReplicaPacking(2, 8, whole=False)
    assert float(packing.count_systems(5.0)) == 2.0
    assert float(packing.count_accelerators(5.0)) == 10.0
    assert float(ReplicaPacking(2, 8).count_accelerators(5.0)) == 16.0


# Fleets of the catalog's systems


def test_whole_systems_hold_what_the_demand_needs(six: FleetAnswer) -> None:
    for option in six.options:
        assert option.reason is None
        total = option.used + option.spare + option.idle
        if option.system is None:
            assert option.idle == 0
        else:
            assert total == option.systems * option.system.accelerator_count
        racked = [each for rack in option.racks for each in rack.systems]
        assert len(racked) == option.systems
        assert sum(each.used for each in racked) == option.used
        assert sum(each.spare for each in racked) == option.spare
        assert sum(each.idle for each in racked) == option.idle
        assert sum(rack.power_max_kw for rack in option.racks) == pytest.approx(option.power_max_kw)
        assert option.power_average_kw is not None
        assert option.power_max_kw is not None
        assert 0.0 < option.power_average_kw < option.power_max_kw


def test_the_fleet_carries_every_hour(six: FleetAnswer) -> None:
    for option in six.options:
        assert option.sizing is not None
        assert len(option.hours) == 24
        busiest = max(hour.replicas for hour in option.hours)
        assert busiest * option.sizing.plan.replica == option.used
        assert all(0.0 < hour.utilization <= USERS.utilisation_cap + 1e-9 for hour in option.hours)
        average = sum(hour.requests_per_s for hour in option.hours) / 24
        assert average == pytest.approx(USERS.amount * USERS.requests_per_user_hour / 3600.0)
        capacity = busiest * option.sizing.replica_capacity
        assert option.utilization == pytest.approx(average / capacity)


def test_costs_are_the_sum_of_their_lines(six: FleetAnswer) -> None:
    for option in six.options:
        for cost in option.costs:
            assert cost.total_usd is not None
            assert cost.per_month_usd is not None
            assert cost.per_user_month_usd is not None
            lines = {line.name: line.usd for line in cost.lines}
            assert math.fsum(lines.values()) == pytest.approx(cost.total_usd.value)
            assert len(cost.cumulative_usd) == len(option.years) + 1
            assert cost.cumulative_usd[-1].value == pytest.approx(cost.total_usd.value - lines.get("residual", 0.0))
            likely = [each.value for each in cost.cumulative_usd]
            assert likely == sorted(likely)
            assert cost.per_month_usd.value * 36 == pytest.approx(cost.total_usd.value)
            assert cost.total_usd.low <= cost.total_usd.value <= cost.total_usd.high


def test_scaling_down_never_costs_more_than_renting_all_hours(six: FleetAnswer) -> None:
    for option in six.options:
        rented, scaled = option.find_supply_cost(Supply.RENTED), option.find_supply_cost(Supply.AUTOSCALED)
        assert rented is not None
        assert scaled is not None
        assert rented.total_usd is not None
        assert scaled.total_usd is not None
        assert all(ours <= theirs for ours, theirs in zip(scaled.total_usd, rented.total_usd, strict=True))


def test_the_cheapest_has_the_lowest_total(six: FleetAnswer) -> None:
    assert six.cheapest is not None
    assert six.odds is not None
    assert 0.0 < six.odds <= 1.0
    totals = {
        (option.accelerator, cost.supply): cost.total_usd.value
        for option in six.options
        for cost in option.costs
        if cost.total_usd is not None
    }
    assert six.api is not None
    assert six.api.total_usd is not None
    totals["", Supply.API] = six.api.total_usd.value
    assert six.cheapest == min(totals, key=lambda key: totals[key])


@pytest.mark.parametrize("accelerator", ["h100-sxm", "l40s", "gb200-nvl72"])
def test_more_demand_never_takes_fewer_systems(service: GpuDeskService, accelerator: str) -> None:
    counts = [
        get_only(service.fleet(make_scenario(accelerator, demand=replace(USERS, amount=amount)))).systems
        for amount in (10.0, 100.0, 1000.0, 10_000.0, 100_000.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_growth_adds_systems_and_names_the_month(service: GpuDeskService) -> None:
    option = get_only(service.fleet(make_scenario("h100-sxm", fleet=FleetSettings(growth_per_year=1.0))))
    assert [year.demand_factor for year in option.years] == pytest.approx([1.0, 2.0, 4.0])
    systems = [year.systems for year in option.years]
    assert systems == sorted(systems)
    assert [year.added for year in option.years] == [0, systems[1] - systems[0], systems[2] - systems[1]]
    assert option.months_to_next is not None
    assert 0.0 < option.months_to_next < 12.0
    # At that month the working replicas of the ordered systems are just enough.
    assert option.sizing is not None
    assert option.system is not None
    packing = ReplicaPacking(option.sizing.plan.replica, option.system.accelerator_count)
    replicas = packing.count_replicas(option.systems) - USERS.spare_replicas
    peak = max(hour.requests_per_s for hour in option.hours) * 2.0 ** (option.months_to_next / 12.0)
    assert peak == pytest.approx(replicas * option.sizing.replica_capacity * USERS.utilisation_cap)


def test_shrinking_demand_sells_nothing_but_rents_less(service: GpuDeskService) -> None:
    steady = get_only(service.fleet(make_scenario("h100-sxm")))
    option = get_only(service.fleet(make_scenario("h100-sxm", fleet=FleetSettings(growth_per_year=-0.5))))
    assert {year.systems for year in option.years} == {option.systems}
    assert option.months_to_next is None
    ours, theirs = option.find_supply_cost(Supply.RENTED), steady.find_supply_cost(Supply.RENTED)
    assert ours is not None
    assert theirs is not None
    assert ours.total_usd is not None
    assert theirs.total_usd is not None
    assert ours.total_usd.value < theirs.total_usd.value


def test_requests_in_flight_are_those_of_the_busiest_hour(service: GpuDeskService) -> None:
    demand = Demand(DemandKind.CONCURRENCY, 500.0)
    answer = service.fleet(make_scenario("h100-sxm", demand=demand))
    sizing = service.size(make_scenario("h100-sxm", demand=demand)).candidates[0]
    option = get_only(answer)
    assert option.sizing is not None
    assert option.sizing.count == sizing.count
    assert answer.api is not None
    assert answer.api.missing is not None
    assert answer.api.missing.id == "fleet.no_tokens"
    # What is rented does not vary with throughput, its tokens do.
    rented = option.find_supply_cost(Supply.RENTED)
    assert rented is not None
    assert rented.total_usd is not None
    assert rented.per_million_tokens_usd is not None
    widths = [each.high / each.low for each in (rented.total_usd, rented.per_million_tokens_usd)]
    assert widths[1] > 1.05 * widths[0]


def test_a_rented_token_costs_the_same_for_a_fleet_and_a_decision(service: GpuDeskService) -> None:
    """Without spares both serve the peak with the same accelerators, at the throughput that they have under it."""
    for demand in (
        Demand(DemandKind.CONCURRENCY, 200.0, spare_replicas=0),
        Demand(DemandKind.REQUEST_RATE, 4.0, spare_replicas=0),
    ):
        scenario = make_scenario("h200-sxm", "mi325x", demand=demand)
        options = service.fleet(scenario).options
        decision = service.decide(service.answer(scenario), {"acquisition": "rent"})
        for option, part in zip(options, decision.parts, strict=True):
            rented, fact = option.find_supply_cost(Supply.RENTED), part["rented_usd_per_million"]
            assert rented is not None
            assert rented.per_million_tokens_usd is not None
            assert isinstance(fact, IntervalEstimate)
            assert rented.per_million_tokens_usd.value == pytest.approx(fact.value, rel=0.02)


def test_demand_beyond_measure_is_counted_without_racks(service: GpuDeskService) -> None:
    fleet = FleetSettings(LoadCurveKind.OWN, (0.0,) * 23 + (1.0,), growth_per_year=10.0)
    years = CostSettings(inputs={"years": UncertainValue.exactly(15.0)})
    demand = replace(USERS, amount=1e15)
    option = get_only(service.fleet(make_scenario("h100-sxm", demand=demand, fleet=fleet, costs=years)))
    assert option.racks == ()
    assert option.used + option.spare + option.idle == 8 * option.systems
    assert "fleet.no_racks" in [note.id for note in option.notes]
    assert [hour.replicas for hour in option.hours[:23]] == [0] * 23


def test_load_curve_replaces_the_peak_factor_with_a_note(service: GpuDeskService) -> None:
    usual = service.fleet(make_scenario("h100-sxm"))
    fleet = service.fleet(make_scenario("h100-sxm", demand=replace(USERS, peak_factor=5.0)))
    assert fleet.options == usual.options
    assert usual.notes == ()
    assert [note.id for note in fleet.notes] == ["fleet.peak_of_curve"]


# The site and named systems


def test_the_site_refuses_what_it_cannot_cool_or_supply(service: GpuDeskService) -> None:
    liquid = FleetSettings(cooling=SiteCooling.AIR, systems={"gb200-nvl72": "nvidia-gb200-nvl72"})
    air = get_only(service.fleet(make_scenario("gb200-nvl72", fleet=liquid)))
    weak = get_only(service.fleet(make_scenario("h100-sxm", fleet=FleetSettings(kw_per_rack=4.0))))
    for option, reason in ((air, "fleet.needs_liquid"), (weak, "fleet.needs_power")):
        owned_cost, rented = option.find_supply_cost(Supply.OWNED), option.find_supply_cost(Supply.RENTED)
        assert owned_cost is not None
        assert owned_cost.missing is not None
        assert owned_cost.missing.id == reason
        assert (option.system, option.systems, option.racks) == (None, 0, ())
        # What is rented stands elsewhere.
        assert rented is not None
        assert rented.total_usd is not None


def test_unknown_cooling_is_no_reason_but_noted(service: GpuDeskService) -> None:
    settings = FleetSettings(cooling=SiteCooling.AIR, systems={"h100-sxm": "hgx-h100-8"})
    option = get_only(service.fleet(make_scenario("h100-sxm", fleet=settings)))
    assert option.system is not None
    assert "fleet.cooling_unknown" in [note.id for note in option.notes]


def test_racks_keep_the_power_of_the_site(service: GpuDeskService) -> None:
    option = get_only(service.fleet(make_scenario("h100-sxm", fleet=FleetSettings(kw_per_rack=21.0, spare_systems=4))))
    assert all(rack.power_max_kw <= 21.0 for rack in option.racks)
    assert option.racks[0].limited_by == "power"
    assert len(option.racks[0].systems) == 2
    roomy = get_only(service.fleet(make_scenario("h100-sxm", fleet=FleetSettings(kw_per_rack=80.0, spare_systems=8))))
    assert roomy.racks[0].limited_by == "units"
    assert sum(each.rack_units for each in roomy.racks[0].systems) <= RACK_UNITS


def test_a_named_system_is_bought_and_an_unknown_one_refused(service: GpuDeskService) -> None:
    named = FleetSettings(systems={"h100-sxm": "dell-xe8640-h100x4"})
    option = get_only(service.fleet(make_scenario("h100-sxm", fleet=named)))
    assert option.system is not None
    assert option.system.accelerator_count == 4
    assert option.power_estimated
    for settings, where in (
        (FleetSettings(systems={"h100-sxm": "nvidia-dgx-b200"}), "fleet.systems.h100-sxm"),
        (FleetSettings(systems={"h100-sxm": "aws-p5-48xlarge"}), "fleet.systems.h100-sxm"),
        (FleetSettings(instances={"h100-sxm": "nvidia-dgx-h100"}), "fleet.instances.h100-sxm"),
    ):
        with pytest.raises(InputError) as caught:
            service.fleet(make_scenario("h100-sxm", fleet=settings))
        assert caught.value.where == where


def test_a_named_instance_is_rented_whole_at_its_own_price(service: GpuDeskService) -> None:
    named = FleetSettings(instances={"h100-sxm": "aws-p5-48xlarge"})
    rented = get_only(service.fleet(make_scenario("h100-sxm", fleet=named))).find_supply_cost(Supply.RENTED)
    assert rented is not None
    assert rented.rented_count is not None
    assert rented.rented_count % 8 == 0
    usd = next(
        price.usd
        for price in service.catalog.prices("h100-sxm")
        if price.provider == "AWS" and price.term == "on_demand" and price.instance == "p5.48xlarge"
    )
    assert usd is not None
    rent = {line.name: line.usd for line in rented.lines}["rent"]
    assert rent == pytest.approx(rented.rented_count * usd * 3 * HOURS_PER_YEAR)


def test_a_replica_over_systems_names_the_fabric(service: GpuDeskService) -> None:
    named = FleetSettings(systems={"h100-sxm": "dell-xe8640-h100x4"})
    scenario = make_scenario("h100-sxm", fleet=named)
    scenario = replace(scenario, accelerators=(AcceleratorChoice("h100-sxm", tp=8),))
    option = get_only(service.fleet(scenario))
    assert option.systems_per_replica == 2
    assert option.fabric_bits_per_s == 4 * 400e9
    assert "fleet.spans_systems" in [note.id for note in option.notes]


def test_cost_and_fleet_pay_the_same_price_for_hardware(service: GpuDeskService) -> None:
    priced = [each.id for each in service.catalog.accelerators() if service.costing.resolve_purchase_price(each).spread]
    compared, slow = [], Demand(DemandKind.USERS, 200.0)
    for start in range(0, len(priced), 6):
        scenario = make_scenario(*priced[start : start + 6], model="qwen3-8b", demand=slow)
        scenario = replace(scenario, weights=Precision.BF16)
        columns = service.costing.costs(service.answer(scenario)).columns
        for column, option in zip(columns, service.fleet(scenario).options, strict=True):
            owned_cost, tco = option.find_supply_cost(Supply.OWNED), column.tco
            if owned_cost is None or owned_cost.total_usd is None or tco is None:
                continue
            count = column.count if column.systems is None else column.systems.accelerators
            paid = {line.name: line.usd / (count or 1) for line in tco.lines}
            bought = option.used + option.spare + option.idle
            in_fleet = {line.name: line.usd / bought for line in owned_cost.lines}
            compared.append(column.accelerator)
            for name in ("accelerators", "server", "network", "rack"):
                assert in_fleet[name] == pytest.approx(paid[name]), (column.accelerator, name)
            if (system := column.inputs["price_usd"].system) is not None:
                hardware = (paid["accelerators"] + paid["server"]) / 1.03
                assert hardware * system.size == pytest.approx(system.price.median), column.accelerator
    sold_whole = {each.accelerator for each in service.catalog.systems() if each.price_usd is not None}
    assert len(compared) >= 25
    assert {each for each in sold_whole if service.catalog.accelerator(each).tdp_w is not None} <= set(compared)


def test_a_price_that_the_user_states_takes_the_place_of_the_record(service: GpuDeskService) -> None:
    costs = CostSettings(parts={"h100-sxm": {"price_usd": UncertainValue.exactly(1000.0)}})
    option = get_only(service.fleet(make_scenario("h100-sxm", costs=costs)))
    owned_cost = option.find_supply_cost(Supply.OWNED)
    assert owned_cost is not None
    lines = {line.name: line.usd for line in owned_cost.lines}
    total = option.used + option.spare + option.idle
    assert lines["accelerators"] == pytest.approx(total * 1000.0 * 1.03)
    assert lines["server"] == pytest.approx(0.25 * lines["accelerators"])


def test_lowest_likely_cost_leads_regardless_of_most_simulations() -> None:
    def supply(kind: Supply, likely: float, *draws: float) -> tuple[str, SupplyCost]:
        return kind.value, SupplyCost(FleetCost(kind, None), np.array([likely, *draws]))

    steady, skewed = supply(Supply.OWNED, 100.0, 100.0, 100.0, 100.0), supply(Supply.RENTED, 110.0, 90.0, 90.0, 200.0)
    cheapest, odds = choose_cheapest([skewed, steady])
    assert cheapest == ("owned", Supply.OWNED)
    assert odds is not None
    assert 0.5 < odds < 1.0
    assert choose_cheapest([steady, ("other", steady[1])])[1] == 0.5
    assert choose_cheapest([steady, steady]) == (("owned", Supply.OWNED), 1.0)
    assert choose_cheapest([steady, supply(Supply.API, 0.0, 0.0, 0.0, 0.0)]) == (("api", Supply.API), 1.0)
    assert choose_cheapest([]) == (None, None)


def test_an_api_by_the_users_prices(service: GpuDeskService) -> None:
    prices = {"api_input_usd_per_million": 0.5, "api_output_usd_per_million": 1.0}
    costs = CostSettings(inputs={name: UncertainValue.exactly(usd) for name, usd in prices.items()})
    api = service.fleet(make_scenario("h100-sxm", costs=costs)).api
    assert api is not None
    assert api.per_million_tokens_usd == pytest.approx(IntervalEstimate(*(1.0 + 0.5 * 2000 / 300,) * 3))
    half = replace(costs, inputs={"api_input_usd_per_million": UncertainValue.exactly(0.5)})
    api = service.fleet(make_scenario("h100-sxm", costs=half)).api
    assert api is not None
    assert api.missing is not None
    assert api.missing.id == "fleet.half_api_price"


def test_without_a_demand_there_is_no_fleet(service: GpuDeskService) -> None:
    with pytest.raises(InputError) as caught:
        service.fleet(make_scenario("h100-sxm", demand=None))
    assert caught.value.where == "demand"


# A worked example by hand


def make_sizing(requests_per_s: float, throughput: float) -> SizingOption:
    return SizingOption(
        "any",
        None,
        replicas=3,
        plan=ParallelPlan(tp=2),
        count=8,
        factors=(SizingFactor("replica_seconds", 1.0 / requests_per_s, "s"),),
        output_tokens_per_s=IntervalEstimate(throughput, throughput, throughput),
    )


def test_a_worked_example() -> None:
    """4.8 requests/s at the peak, replicas of 2 accelerators that do 2 requests/s up to 80%: 3 replicas and a spare.

    Half of the day has full demand and half none: 12 hours with 3 replicas. One system of 8 for 400,000 USD at 10 kW.
    """
    demand = Demand(DemandKind.REQUEST_RATE, 2.4)
    curve = make_load_curve(FleetSettings(LoadCurveKind.OWN, (1.0,) * 12 + (0.0,) * 12))
    demand = replace(demand, peak_factor=curve.peak_factor)
    load = make_fleet_load(demand, curve, 0.0, 2.0, (100, 50))
    needs = compute_replica_needs(load, make_sizing(2.0, 300.0), 1.0)
    assert set(needs.peak.ravel().tolist()) == {3.0}
    # 2.4 requests/s on average of 6.
    assert needs.utilization[0, 0] == pytest.approx(0.4)
    assert needs.tokens[0] == pytest.approx(2.4 * 50 * 3600 * 8760 * 2)

    values: Mapping[str, float] = {
        **dict.fromkeys(
            ("discount", "server_share", "rack_share", "spares", "demand_usd_per_kw_month", "staff_usd_per_year"), 0.0
        ),
        "price_usd": 50_000.0,
        "network_share": 0.1,
        "residual": 0.2,
        "capital_rate": 0.1,
        "energy_usd_per_kwh": 0.1,
        "pue": 1.5,
        "host_w": 0.0,
        "idle_draw": 0.1,
        "draw": 0.8,
        "hosting_usd_per_kw_month": 100.0,
        "support": 0.05,
        "years": 9.0,
        "engineer_usd_per_year": 0.0,
        "engineers": 0.0,
        "porting_engineer_months": 0.0,
        "fleet": 1.0,
        "rent_usd_per_hour": 2.0,
    }
    packing = ReplicaPacking(2, 8)
    owned_count = count_owned(needs, packing, 1, 0)
    assert owned_count[0, 0] == 8.0
    cost = cost_owned(load, needs, values, 1250.0, owned_count, 2).cost
    lines = {line.name: line.usd for line in cost.lines}
    # 6 accelerators work 40% of the time: 30% of all 8.
    kwh = 10.0 * 0.8 * (IDLE_SHARE + (1.0 - IDLE_SHARE) * 0.3) * 2 * 8760
    assert lines["accelerators"] == pytest.approx(400_000.0)
    assert lines["network"] == pytest.approx(40_000.0)
    assert lines["residual"] == pytest.approx(-88_000.0)
    assert lines["capital"] == pytest.approx(0.1 * 2 * 440_000.0 * 0.6)
    assert lines["power"] == pytest.approx(kwh * 0.1)
    assert lines["cooling"] == pytest.approx(kwh * 0.05)
    assert lines["hosting"] == pytest.approx(10.0 * 24 * 100.0)
    assert lines["support"] == pytest.approx(44_000.0)
    assert cost.cumulative_usd[0].value == pytest.approx(440_000.0)

    single = ReplicaPacking(2, 2)
    rented = cost_rented(load, needs, values, single, autoscaled=False).cost
    scaled = cost_rented(load, needs, values, single, autoscaled=True).cost
    assert rented.total_usd is not None
    assert scaled.total_usd is not None
    assert rented.rented_count == 8
    assert rented.total_usd.value == pytest.approx(8 * 2.0 * 2 * 8760)
    # 8 accelerators for half of the hours, the spare's 2 for the other half.
    assert scaled.total_usd.value == pytest.approx((8 + 2) / 2 * 2.0 * 2 * 8760)


def test_a_slow_draw_needs_more_replicas() -> None:
    curve = make_load_curve(FleetSettings(LoadCurveKind.FLAT))
    load = make_fleet_load(Demand(DemandKind.REQUEST_RATE, 4.8, peak_factor=1.0), curve, 0.5, 2.5, (100, 50))
    factors = np.ones(FLEET_DRAWS + 1)
    factors[1:501] = 0.5
    needs = compute_replica_needs(load, make_sizing(2.0, 300.0), factors)
    assert load.lengths.tolist() == [1.0, 1.0, 0.5]
    assert needs.peak[:, 0].tolist() == [3.0, 5.0, 7.0]
    assert needs.peak[:, 1].tolist() == [6.0, 9.0, 14.0]


# Public reference designs

#: Designs whose power or price says more than their systems: a SuperPOD of GB200 has switch and management racks
#: too, and three state what power supplies could deliver.
MORE_THAN_SYSTEMS = {"superpod-gb200-su", "mi300x-8-oam", "mi355x-8-liquid", "mi355x-rack-128"}


def test_reference_designs_come_out_within_five_per_cent(service: GpuDeskService) -> None:
    compared = 0
    for design in service.catalog.reference_designs():
        system = service.catalog.system(design.system)
        part = service.catalog.accelerator(system.accelerator)
        named = FleetSettings(systems={part.id: system.id})
        spec = find_system(part, service.catalog.list_systems_with(part.id), named)
        occupancy = list_occupancy(ReplicaPacking(1, spec.slots), design.accelerator_count, 0, 0)
        assert sum(used for used, _ in occupancy) == design.accelerator_count
        published = {each.name: each.value for each in service.catalog.attributes(design.id)}
        if published.get("nodes") is not None:
            assert len(occupancy) * system.nodes == published["nodes"], design.id
        if design.id in MORE_THAN_SYSTEMS:
            continue
        price = system.price_usd
        racks = fill_racks(spec, occupancy, None if price is None else price.value / spec.slots, limit_kw=40.0)
        assert sum(rack.power_max_kw for rack in racks) * 1000.0 == pytest.approx(published["power_max"], rel=0.05)
        low, high = published.get("price_low"), published.get("price_high")
        if isinstance(low, int | float) and isinstance(high, int | float):
            usd = (low + high) / 2.0
            assert sum(rack.price_usd or 0.0 for rack in racks) == pytest.approx(usd, rel=0.05)
        compared += 1
    assert compared >= 5
