"""Settings of costs: in a scenario's file and back, refused with the place, defaults with their reasons."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths
from gpudesk.costing.inputs import read_cost_assumptions
from gpudesk.documents.scenario_file import format_scenario, parse_scenario, read_template
from gpudesk.domain.cost import (
    COST_INPUTS,
    CostInputGroup,
    CostInputOrigin,
    CostSettings,
    DisplayCurrency,
    UncertainValue,
    parse_costs,
    write_cost_section,
)
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.fleet import FleetSettings, LoadCurveKind, make_load_curve
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.costs import describe_utilization
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_message

FULL = CostSettings(
    inputs={"years": UncertainValue.exactly(4.0), "energy_usd_per_kwh": UncertainValue(0.1, 0.12, 0.2)},
    parts={"mi325x": {"price_usd": UncertainValue.exactly(22_000.0)}},
    rent_term="spot",
    runs_on="ROCm",
    around=0.2,
    single_accelerators=True,
    currency=DisplayCurrency("EUR", 0.92, "2026-11-01"),
)


def test_settings_survive_a_file() -> None:
    scenario = read_template("70b-chat-on-four")
    for costs in (CostSettings(), FULL):
        text = format_scenario(replace(scenario, costs=costs))
        assert parse_scenario(text.encode(), "file").costs == costs
    assert "costs" not in json.loads(format_scenario(replace(scenario, costs=CostSettings())))


def test_fields_are_read_as_they_are_written() -> None:
    assert parse_costs(write_cost_section(FULL)) == FULL
    assert write_cost_section(CostSettings()) == {}


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"foo": 1}, "costs"),
        ({"inputs": 3}, "costs.inputs"),
        ({"inputs": {"foo": 3}}, "costs.inputs"),
        ({"inputs": {"years": "three"}}, "costs.inputs.years"),
        ({"inputs": {"years": 0}}, "costs.inputs.years"),
        ({"inputs": {"years": [3, 4]}}, "costs.inputs.years"),
        ({"inputs": {"years": [4, 3, 5]}}, "costs.inputs.years"),
        ({"inputs": {"years": [1, 2, 99]}}, "costs.inputs.years[2]"),
        ({"accelerators": {"mi325x": {"years": 3}}}, "costs.accelerators.mi325x"),
        ({"accelerators": {"mi325x": {"price_usd": -1}}}, "costs.accelerators.mi325x.price_usd"),
        ({"rent_term": "weekly"}, "costs.rent_term"),
        ({"runs_on": "Metal"}, "costs.runs_on"),
        ({"around": 2}, "costs.around"),
        ({"single_accelerators": 1}, "costs.single_accelerators"),
        ({"currency": {"code": "EUR"}}, "costs.currency.per_usd"),
        ({"currency": {"code": "EUR", "per_usd": 0, "date": "x"}}, "costs.currency.per_usd"),
        ({"currency": {"name": "euro"}}, "costs.currency"),
    ],
)
def test_impossible_value_is_refused_with_its_path(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_costs(fields)
    assert refused.value.where == where
    assert format_message(refused.value.problem)


def test_every_default_has_a_reason_and_lies_within_bounds() -> None:
    assumed = read_cost_assumptions(paths.get_data_path("cost_assumptions.toml"))
    names = {name for name, spec in COST_INPUTS.items() if spec.group is CostInputGroup.API}
    of_catalog = {"price_usd", "rent_usd_per_hour", "accelerator_w"}
    of_deployment = {"fleet"}
    empty = {"grid_g_per_kwh", "embodied_kg"}
    assert set(assumed.inputs) == set(COST_INPUTS) - names - of_catalog - of_deployment - empty
    for each in (*assumed.inputs.values(), *assumed.discounts.values()):
        assert each.source.note
    assert set(assumed.discounts) == {"AMD", "NVIDIA"}


@pytest.mark.parametrize(
    "text",
    [
        "[years",
        "[years]\nrange = [3, 4]\nnote = ''",
        "[years]\nrange = [4, 3, 5]\nnote = ''",
        "[foo]\nrange = [1, 1, 1]\nnote = ''",
    ],
)
def test_a_broken_file_of_defaults_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cost_assumptions.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as broken:
        read_cost_assumptions(path)
    assert str(path) in str(broken.value.where)
    path.unlink()
    with pytest.raises(InputError):
        read_cost_assumptions(path)


def test_a_demand_gives_the_utilization_until_the_user_states_one(service: GpuDeskService) -> None:
    scenario = read_template("mi300x-or-h100-70b")
    plain = service.costing.costs(service.answer(scenario)).utilisation
    assert (plain.origin, describe_utilization(plain, Formatter())) == (CostInputOrigin.DEFAULT, "100% utilization")
    demand = Demand(DemandKind.TOKENS_PER_DAY, 100_000_000.0, utilisation_cap=0.5)
    with_demand = replace(scenario, demand=demand, fleet=FleetSettings(LoadCurveKind.OFFICE))
    costs = service.costing.costs(service.answer(with_demand))
    share = 0.5 / make_load_curve(with_demand.fleet).peak_factor
    assert costs.busy_share == pytest.approx(share)
    description = describe_utilization(costs.utilisation, Formatter())
    assert description == f"{Formatter().per_cent(share)} utilization (load curve: office hours)"
    flat = service.costing.costs(service.answer(replace(with_demand, fleet=FleetSettings(LoadCurveKind.FLAT))))
    assert flat.busy_share == 0.5
    # Requests that arrive at a rate are those of the peak: nothing is kept free next to them.
    arriving = replace(with_demand.workload, load=Load(LoadKind.REQUEST_RATE, request_rate=1.0))
    peak = service.costing.costs(service.answer(replace(with_demand, workload=arriving)))
    assert peak.busy_share == pytest.approx(1.0 / make_load_curve(with_demand.fleet).peak_factor)
    assert describe_utilization(peak.utilisation, Formatter()) == "50% average load (of the peak)"
    # A stated peak factor is the one that counts are sized for.
    tall = replace(demand, peak_factor=5.0)
    peaked = service.costing.costs(service.answer(replace(with_demand, demand=tall)))
    assert describe_utilization(peaked.utilisation, Formatter()) == "10% utilization (your peak factor)"
    steady = replace(with_demand, demand=replace(demand, peak_factor=1.0), workload=arriving)
    assert service.costing.costs(service.answer(steady)).busy_share == 1.0
    # So are the requests in flight of the demand, unless the load is another.
    in_flight = Demand(DemandKind.CONCURRENCY, 64.0, utilisation_cap=0.5)
    for concurrency, at_peak in ((64, 1.0), (32, 0.5)):
        load = Load(LoadKind.CONCURRENCY, concurrency=concurrency)
        with_concurrency = replace(with_demand, demand=in_flight, workload=replace(with_demand.workload, load=load))
        busy = service.costing.costs(service.answer(with_concurrency)).busy_share
        assert busy == pytest.approx(at_peak / make_load_curve(with_demand.fleet).peak_factor)
    first, second = costs.columns[0].rented, flat.columns[0].rented
    assert first is not None
    assert second is not None
    assert first.output.value > second.output.value
    inputs = {"utilisation": UncertainValue.exactly(0.9)}
    own = service.costing.costs(
        service.answer(replace(with_demand, costs=replace(with_demand.costs, inputs=inputs)))
    ).utilisation
    assert (own.origin, describe_utilization(own, Formatter())) == (CostInputOrigin.YOURS, "90% utilization")
