"""Whole systems: which is bought, how many, and what their hosts draw."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.systems import find_system, list_priced_systems, resolve_purchase_price
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.accelerator import System, SystemCount, SystemKind, count_systems
from gpudesk.domain.answer import AcceleratorChoice, Answer
from gpudesk.domain.claim import PriceSummary
from gpudesk.domain.cost import NO_COST_SETTINGS, CostColumn, CostInputOrigin, CostSettings, SystemPrice, UncertainValue
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, FleetSettings, SiteCooling
from gpudesk.report.costs import list_partly_used
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter

FOUR = System("four", "Four", "Maker", SystemKind.SERVER, "h100-sxm", 4)
EIGHT = System(
    "eight", "Eight", "Maker", SystemKind.SERVER, "h100-sxm", 8, power_max_w=10_200.0, rack_units=8.0, cooling="air"
)
HOT = replace(EIGHT, id="hot", cooling="liquid", price_low_usd=300_000.0)
CLOUD = System("cloud", "Cloud", "Maker", SystemKind.INSTANCE, "h100-sxm", 2)


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    """Return 10 H100 SXM in five replicas, 9 MI300X and three cards."""
    choices = tuple(
        AcceleratorChoice(name, count, tp=tp)
        for name, count, tp in (("h100-sxm", 10, 2), ("mi300x", 9, 1), ("l40s", 3, 1))
    )
    return service.answer(replace(read_template("mi300x-or-h100-70b"), accelerators=choices, costs=CostSettings()))


def cost(
    service: GpuDeskService,
    answer: Answer,
    costs: CostSettings = NO_COST_SETTINGS,
    fleet: FleetSettings = NO_FLEET_SETTINGS,
) -> tuple[CostColumn, ...]:
    return service.costing.costs(replace(answer, scenario=replace(answer.scenario, costs=costs, fleet=fleet))).columns


def test_the_most_complete_record_is_bought(service: GpuDeskService) -> None:
    h100 = service.catalog.accelerator("h100-sxm")
    spec = find_system(h100, (CLOUD, FOUR, EIGHT, HOT), NO_FLEET_SETTINGS)
    assert (spec.system, spec.slots) == (HOT, 8)
    assert find_system(h100, (EIGHT, HOT), FleetSettings(cooling=SiteCooling.AIR)).system is EIGHT
    assert find_system(h100, (FOUR, EIGHT, HOT), FleetSettings(systems={"h100-sxm": "four"})).slots == 4


@pytest.mark.parametrize(
    ("name", "slots", "is_whole"),
    [("h100-sxm", 8, True), ("gaudi2", 8, True), ("l40s", 8, False), ("tpu-v6e", 256, False)],
)
def test_boards_without_a_system_on_record_are_bought_by_the_host(
    service: GpuDeskService, name: str, slots: int, *, is_whole: bool
) -> None:
    """A board alone is of no use: one without a recorded system must not seem cheaper than one with it."""
    spec = find_system(service.catalog.accelerator(name), (CLOUD,), NO_FLEET_SETTINGS)
    assert (spec.system, spec.slots, spec.is_whole) == (None, slots, is_whole)


def test_a_board_without_a_system_on_record_pays_for_its_idle_neighbors(
    service: GpuDeskService, answer: Answer
) -> None:
    scenario = replace(answer.scenario, accelerators=(AcceleratorChoice("gaudi2", 1),), model="llama-3.1-8b")
    answer = service.answer(scenario)
    (whole,) = cost(service, answer)
    (single,) = cost(service, answer, costs=CostSettings(single_accelerators=True))
    assert whole.systems == SystemCount(1, 8, 1)
    assert whole.tco is not None
    assert single.tco is not None
    assert whole.tco.lines[0].usd == pytest.approx(8 * single.tco.lines[0].usd)


def test_owning_pays_for_whole_systems_and_renting_for_accelerators(service: GpuDeskService, answer: Answer) -> None:
    price = {"price_usd": UncertainValue.exactly(10_000.0)}
    whole = cost(service, answer, costs=CostSettings(inputs=price))
    single = cost(service, answer, costs=CostSettings(inputs=price, single_accelerators=True))
    assert [each.systems for each in whole] == [SystemCount(2, 8, 10), SystemCount(2, 8, 9), None]
    assert [each.systems for each in single] == [None] * 3
    for ours, alone in zip(whole[:2], single[:2], strict=True):
        assert ours.tco is not None
        assert alone.tco is not None
        assert ours.count is not None
        assert ours.count == alone.count
        assert ours.tco.lines[0].usd == pytest.approx(alone.tco.lines[0].usd * 16 / ours.count)
        assert alone.tco.total_usd < ours.tco.total_usd < alone.tco.total_usd * 16 / ours.count
        assert ours.rented == alone.rented
    assert whole[2] == single[2]


def test_whole_instances_are_rented_where_no_provider_rents_fewer(service: GpuDeskService, answer: Answer) -> None:
    choices = (AcceleratorChoice("mi355x", 3), AcceleratorChoice("mi355x", 8), AcceleratorChoice("h200-sxm", 1))
    request = service.answer(replace(answer.scenario, accelerators=choices, costs=CostSettings()))
    whole = cost(service, request)
    single = cost(service, request, costs=CostSettings(single_accelerators=True))
    with_user_rent = cost(
        service, request, costs=CostSettings(inputs={"rent_usd_per_hour": UncertainValue.exactly(8.6)})
    )
    assert [each.idle_rented for each in whole] == [5, 0, 0]
    assert [each.rented_count for each in whole] == [8, 8, 1]
    for ours, alone in zip(whole, single, strict=True):
        assert ours.rented is not None
        assert alone.rented is not None
        ratio = ours.rented_count / alone.rented_count
        assert ours.rented.output.value == pytest.approx(alone.rented.output.value * ratio)
    assert [each.idle_rented for each in with_user_rent] == [5, 0, 0]


def test_a_partly_used_system_is_stated(service: GpuDeskService, answer: Answer) -> None:
    columns = cost(service, answer)
    names = {column.key: column.accelerator for column in columns}
    assert list_partly_used(columns, names, Formatter()) == [
        "h100-sxm: 2 systems of 8 accelerators, 6 idle",
        "mi300x: 2 systems of 8 accelerators, 7 idle",
    ]


def test_the_system_of_the_fleet_is_the_one_that_is_paid_for(service: GpuDeskService, answer: Answer) -> None:
    fours = FleetSettings(systems={"h100-sxm": "dell-xe8640-h100x4"})
    assert cost(service, answer, fleet=fours)[0].systems == SystemCount(3, 4, 10)
    unknown = FleetSettings(systems={"h100-sxm": "no-such-system"})
    assert cost(service, answer, fleet=unknown)[0].systems == SystemCount(2, 8, 10)


ALONE = PriceSummary("h100-sxm", "purchase", 20_000.0, 30_000.0, 40_000.0, 3, 0, None, None, 3, ())
OWN = replace(ALONE, count=1, user_count=1)
SYSTEMS = SystemPrice(8, replace(ALONE, low=300_000.0, median=400_000.0, high=500_000.0))


def test_a_system_sets_the_price_and_prices_of_accelerators_widen_its_range() -> None:
    price = resolve_purchase_price(SYSTEMS, ALONE, 0.25, singly=False)
    assert price.spread == UncertainValue(20_000.0, 40_000.0, 50_000.0)
    assert price.prices is SYSTEMS.price
    assert resolve_purchase_price(SYSTEMS, None, 0.25, singly=True).spread == UncertainValue(30_000, 40_000, 50_000)
    assert resolve_purchase_price(None, None, 0.25, singly=False).spread is None


@pytest.mark.parametrize(
    ("system", "record", "singly", "likely"),
    [
        (None, ALONE, False, 30_000.0),
        (SYSTEMS, ALONE, True, 30_000.0),
        (SYSTEMS, OWN, False, 30_000.0),
        (SystemPrice(8, replace(SYSTEMS.price, user_count=1)), OWN, False, 40_000.0),
    ],
)
def test_user_can_price_accelerators_alone(
    system: SystemPrice | None, record: PriceSummary, singly: bool, likely: float
) -> None:
    price = resolve_purchase_price(system, record, 0.25, singly=singly).spread
    assert price is not None
    assert price.likely == likely


def test_the_price_of_a_system_is_the_median_of_those_as_large_or_the_users_own(service: GpuDeskService) -> None:
    h100 = service.catalog.accelerator("h100-sxm")
    four = replace(FOUR, price_low_usd=100_000.0)
    spec = find_system(h100, (four, EIGHT, HOT), NO_FLEET_SETTINGS)
    dear = replace(HOT, id="dear", price_low_usd=500_000.0)
    assert list_priced_systems(spec, (four, EIGHT, HOT, dear), None) == (HOT, dear)
    assert list_priced_systems(spec, (four, EIGHT, HOT, dear), "hot") == (HOT,)
    own = replace(EIGHT, id="own", own=True, price_low_usd=200_000.0)
    assert list_priced_systems(find_system(h100, (HOT, own), NO_FLEET_SETTINGS), (HOT, own), None) == (own,)


def test_a_price_or_a_share_of_servers_that_the_user_states_leaves_systems_out(
    service: GpuDeskService, answer: Answer
) -> None:
    by_default = cost(service, answer)[0].inputs
    share = UncertainValue.exactly(0.25)
    with_share = cost(service, answer, costs=CostSettings(inputs={"server_share": share}))[0].inputs
    own = CostSettings(parts={"h100-sxm": {"price_usd": UncertainValue.exactly(20_000.0)}})
    assert by_default["price_usd"].system is not None
    assert by_default["server_share"].doubt == share
    assert with_share["price_usd"].system is None
    inputs = cost(service, answer, costs=own)[0].inputs
    assert inputs["price_usd"].spread == UncertainValue.exactly(20_000.0)
    assert inputs["server_share"].doubt == inputs["server_share"].spread != share


def test_hosts_draw_what_published_maxima_leave(service: GpuDeskService, answer: Answer) -> None:
    h100, mi300x, _ = (column.inputs["host_w"] for column in cost(service, answer))
    assert h100.origin is CostInputOrigin.RECORD
    assert h100.spread == UncertainValue.exactly(10_200 / 8 - 700)
    assert mi300x.origin is CostInputOrigin.DEFAULT


@given(st.integers(1, 80), st.integers(1, 20), st.integers(1, 40))
def test_whole_systems_hold_every_replica(size: int, replica: int, copies: int) -> None:
    systems = count_systems(size, replica, copies)
    assert systems.used == replica * copies
    assert systems.accelerators == systems.used + systems.idle == systems.systems * size
    assert systems.idle >= 0
    assert count_systems(size, replica, copies + 1).systems >= systems.systems
