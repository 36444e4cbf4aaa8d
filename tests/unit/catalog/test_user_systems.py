"""Systems of the user's: added, changed, exported, removed, and taken by fleets and costs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from gpudesk import paths
from gpudesk.catalog.importing.entry_facts import StatedFigure
from gpudesk.catalog.importing.entry_reader import propose_system
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import (
    add_facts,
    copy_figure,
    make_entry_step,
    make_price_id,
    remove_entry,
    rename_entry,
    state_price,
)
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.cli.commands.catalog import encode_catalog_entry
from gpudesk.costing.systems import find_instance, find_system
from gpudesk.documents.packs import make_pack, make_pack_edit, preview_pack, read_pack, select_keys
from gpudesk.documents.scenario_file import read_template
from gpudesk.documents.user_fact_json import read_user_facts, write_scenario_records
from gpudesk.domain.accelerator import System, SystemKind
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import NO_COST_SETTINGS
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, Supply
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.domain.user_facts import UserAccelerator, UserPrice, UserSystem
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError

DAY, CARD = "2026-11-21", "rtx-pro-6000-blackwell"
QUOTE = make_user_source("Quote 4711", "Our integrator")
SERVER = UserSystem("our-server", "Our server", "Our integrator", SystemKind.SERVER, CARD)
INSTANCE = UserSystem("our-vm", "Our VM", "Our cloud", SystemKind.INSTANCE, "h100-sxm", "Our cloud", "vm.8")
Figures = Mapping[str, tuple[ClaimValue, str | None]]
FIGURES: Figures = {
    "accelerator_count": (8, "accelerators"),
    "power_max": (6.4, "kW"),
    "rack_units": (4, "U"),
    "price_low": (98_000, "USD"),
}
FILE: dict[str, Any] = {
    "kind": "system",
    "name": "Our server",
    "vendor": "Our integrator",
    "system_kind": "server",
    "accelerator": CARD,
    "sources": {"quote": {"title": "Quote 4711", "date": "2026-11-02"}},
    "attributes": {"accelerator_count": {"value": 8}, "power_max": {"value": 6400, "unit": "W"}},
}


@pytest.fixture
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open():
        path = paths.get_built_catalog_path()
    with GpuDeskService(Catalog.open(path)) as opened:
        yield opened


def add(bench: GpuDeskService, system: UserSystem = SERVER, other: Figures = MappingProxyType({})) -> System:
    figures = {name: StatedFigure(*value, QUOTE) for name, value in {**FIGURES, **other}.items()}
    bench.user_catalog.do(make_entry_step(bench.catalog, system, figures, today=DAY))
    return bench.catalog.system(system.id)


def test_a_system_is_listed_changed_and_removed(bench: GpuDeskService) -> None:
    shipped_systems = bench.catalog.systems()
    system = add(bench)
    assert (system.own, system.accelerator_count, system.power_max_w, system.rack_units) == (True, 8, 6400, 4)
    assert bench.catalog.systems() == (*shipped_systems, system)
    assert bench.catalog.thing("our-server").own
    bench.user_catalog.do(rename_entry(bench.catalog, "our-server", "Ours", "Integrator"))
    assert add(bench, replace(SERVER, name="Ours"), {"accelerator_count": (4, "accelerators")}).accelerator_count == 4
    bench.user_catalog.undo()
    bench.user_catalog.undo()
    assert bench.catalog.system("our-server") == system
    bench.user_catalog.do(remove_entry(bench.catalog, "our-server"))
    assert bench.catalog.systems() == shipped_systems
    assert not len(bench.user_catalog.facts)


@pytest.mark.parametrize(
    ("other", "problem", "where"),
    [
        ({"accelerator_slots": (4, "accelerators")}, "system.more_than_slots", "accelerator_count"),
        ({"power_typical": (7000, "W")}, "system.more_than_maximum", "power_typical"),
        ({"price_high": (1000, "USD")}, "system.above_upper_end", "price_low"),
        ({"accelerator_count": (2.5, "accelerators")}, "field.type", "accelerator_count"),
        ({"memory": (80, "GB")}, "import.part.attribute", "memory"),
    ],
)
def test_impossible_value_is_refused_at_its_attribute(
    bench: GpuDeskService, other: Figures, problem: str, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        add(bench, other=other)
    assert (refused.value.problem.id, refused.value.where) == (problem, where)


def test_a_system_without_its_accelerator_waits(bench: GpuDeskService) -> None:
    part = replace(SERVER, accelerator="no-such")
    with pytest.raises(InputError, match=r"own\.no_such_thing"):
        add(bench, part)
    add(bench)
    lost = [replace(fact, accelerator="no-such") if fact == SERVER else fact for fact in bench.user_catalog.facts]
    catalog = bench.catalog.with_user_facts(type(bench.user_catalog.facts).of(lost))
    assert not any(system.own for system in catalog.systems())
    assert "our-server" not in {thing.id for thing in catalog.things()}
    assert {waiting.why.id for waiting in catalog.waiting} == {"own.waits.thing"}


def test_removing_an_accelerator_removes_its_systems(bench: GpuDeskService) -> None:
    attributes = [each for each in bench.catalog.attributes(CARD) if each.preferred is not None]
    figures = {each.name: copy_figure(each.preferred) for each in attributes if each.preferred is not None}
    part = UserAccelerator("ours", "Ours", "NVIDIA", "blackwell")
    bench.user_catalog.do(make_entry_step(bench.catalog, part, figures, today=DAY))
    add(bench, replace(SERVER, accelerator="ours"))
    assert [system.id for system in bench.catalog.list_systems_with("ours")] == ["our-server"]
    bench.user_catalog.do(remove_entry(bench.catalog, "ours"))
    assert not len(bench.user_catalog.facts)
    bench.user_catalog.undo()
    assert bench.catalog.system("our-server").own


# Where it counts


def test_fleets_prefer_the_users_system(bench: GpuDeskService) -> None:
    part = bench.catalog.accelerator(CARD)
    assert find_system(part, bench.catalog.list_systems_with(CARD), NO_FLEET_SETTINGS).system is None
    system = add(bench)
    spec = find_system(part, bench.catalog.list_systems_with(CARD), NO_FLEET_SETTINGS)
    assert (spec.system, spec.slots, spec.power_w) == (system, 8, 6400)


def test_fleet_and_cost_pay_for_the_users_server(bench: GpuDeskService) -> None:
    add(bench)
    scenario = replace(
        read_template("mi300x-or-h100-70b"),
        accelerators=(AcceleratorChoice(CARD, 4),),
        costs=NO_COST_SETTINGS,
        demand=Demand(DemandKind.TOKENS_PER_DAY, 100_000_000.0),
    )
    (option,) = bench.fleet(scenario).options
    assert option.system is not None
    assert (option.system.id, option.used + option.spare + option.idle) == ("our-server", option.systems * 8)
    (column,) = bench.costing.costs(bench.answer(scenario)).columns
    assert column.systems is not None
    assert column.systems.size == 8


def test_the_users_instance_is_rented_at_its_price(bench: GpuDeskService) -> None:
    system = add(bench, INSTANCE)
    systems = bench.catalog.list_systems_with("h100-sxm")
    part = bench.catalog.accelerator("h100-sxm")
    assert find_instance(part, systems, NO_FLEET_SETTINGS, 4, singly=True) == system
    price = UserPrice(
        "", "h100-sxm", "on_demand", QUOTE.id, QUOTE.kind, 1.23, provider="Our cloud", instance="vm.8", date=DAY
    )
    price = replace(price, id=make_price_id(price))
    bench.user_catalog.do(state_price(bench.catalog, price, QUOTE))
    scenario = replace(
        read_template("mi300x-or-h100-70b"),
        accelerators=(AcceleratorChoice("h100-sxm", 4),),
        demand=Demand(DemandKind.TOKENS_PER_DAY, 100_000_000.0),
    )
    (option,) = bench.fleet(scenario).options
    assert option.instance == system
    rented = option.find_supply_cost(Supply.RENTED)
    assert rented is not None
    assert rented.rent_usd_per_hour == 1.23


# Export


def test_exported_system_can_be_imported(bench: GpuDeskService) -> None:
    data = json.dumps(FILE).encode()
    proposal = propose_system(data, name="our-server.json", today=DAY, catalog=bench.catalog)
    bench.user_catalog.do(add_facts(bench.catalog, proposal.facts, proposal.name))
    assert bench.catalog.system("our-server").power_max_w == 6400
    document = json.dumps(encode_catalog_entry(bench, "our-server"), default=str).encode()
    again = propose_system(document, name="again.json", today=DAY, catalog=bench.catalog)
    assert [fact for fact in again.facts if isinstance(fact, UserSystem)] == [SERVER]
    assert again.left_out == ()


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("accelerator", "h100-smx", "catalog.unknown"),
        ("accelerator", None, "field.missing"),
        ("system_kind", "shelf", "field.word"),
        ("system_kind", None, "field.missing"),
        ("vendor", None, "field.missing"),
    ],
)
def test_a_file_is_refused_at_its_field(bench: GpuDeskService, field: str, value: str | None, problem: str) -> None:
    data = json.dumps({**FILE, field: value}).encode()
    with pytest.raises(InputError) as refused:
        propose_system(data, name="our-server.json", today=DAY, catalog=bench.catalog)
    assert (refused.value.problem.id, refused.value.where) == (problem, field)


def test_a_pack_and_a_scenario_carry_systems(bench: GpuDeskService) -> None:
    add(bench)
    facts = bench.user_catalog.facts
    assert select_keys(facts, "all") == frozenset(facts.facts)
    assert SERVER.key in select_keys(facts, "things")
    raw = make_pack(facts, [SERVER.key], "Ours", date=DAY, about=bench.catalog.shipped_revision)
    scenario = replace(read_template("mi300x-or-h100-70b"), accelerators=(AcceleratorChoice(CARD, 4),))
    assert dict(read_user_facts(write_scenario_records(scenario, facts)).facts) == dict(facts.facts)
    bench.user_catalog.do(remove_entry(bench.catalog, SERVER.id))
    pack = read_pack(raw)
    rows = preview_pack(pack, bench.catalog)
    bench.user_catalog.do(make_pack_edit(pack, rows, [SERVER.key], bench.catalog))
    assert dict(bench.user_catalog.facts.facts) == dict(facts.facts)
