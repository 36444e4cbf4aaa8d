"""Derivations of fleets: every formula gives its term, terms give the figures of the fleet, and the panel has them."""

import re
from dataclasses import replace

import pytest

from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.cost import DisplayCurrency
from gpudesk.domain.deployment_analysis import DerivationTerm, to_placeholder
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.fleet import FleetSettings, Supply
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.explanation.fleet import (
    FLEET_FIGURES,
    DerivedFleet,
    derive_fleet_figure,
    explain_fleet_figure,
    gather_derived_fleet,
)
from gpudesk.report.fleet_tables import FleetCostUnit, build_fleet_table, list_fleet_figures, name_fleet_cost
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.formulas import evaluate_formula, walk

DEMANDS = {
    "users": Demand(DemandKind.USERS, 2000.0),
    "rate": Demand(DemandKind.REQUEST_RATE, 40.0, spare_replicas=2),
    "tokens": Demand(DemandKind.TOKENS_PER_DAY, 5e8),
    "in flight": Demand(DemandKind.CONCURRENCY, 600.0, spare_replicas=0),
}
PARTS = ("h100-sxm", "l40s", "gb200-nvl72", "mi355x")


def make_scenario(demand: str = "users") -> Scenario:
    return Scenario(
        name="fleet",
        model="llama-3.3-70b",
        weights=Precision.FP8,
        workload=Workload(1000, 300, Load(LoadKind.CONCURRENCY, concurrency=1)),
        accelerators=tuple(map(AcceleratorChoice, PARTS)),
        demand=DEMANDS[demand],
        fleet=FleetSettings(growth_per_year=0.3, spare_systems=1, kw_per_rack=150.0),
    )


def gather(service: GpuDeskService, scenario: Scenario) -> list[DerivedFleet]:
    answer, fleets = service.fleet(scenario), []
    for option in answer.options:
        part = service.catalog.accelerator(option.accelerator)
        inputs = service.costing.resolve_inputs(part, option.used or 1, scenario)
        fleet = gather_derived_fleet(option, answer, scenario, inputs, Formatter())
        assert fleet is not None
        fleets.append(fleet)
    return fleets


def list_terms(fleet: DerivedFleet) -> list[DerivationTerm]:
    return [term for figure in FLEET_FIGURES if (term := derive_fleet_figure(fleet, figure)) is not None]


@pytest.mark.parametrize("demand", DEMANDS)
def test_every_formula_gives_its_term(service: GpuDeskService, demand: str) -> None:
    for fleet in gather(service, make_scenario(demand)):
        roots = list_terms(fleet)
        assert len(roots) >= 8
        for term in (each for root in roots for each in walk(root)):
            names = [to_placeholder(each.name) for each in term.inputs]
            assert len(set(names)) == len(names)
            if term.formula is not None and "{" in term.formula:
                assert set(re.findall(r"\{(\w+)\}", term.formula)) <= set(names)
                assert evaluate_formula(term) == pytest.approx(term.number, rel=1e-6), (term.name, term.formula)


def test_terms_give_the_figures_of_the_fleet(service: GpuDeskService) -> None:
    for fleet in gather(service, make_scenario()):
        option = fleet.option

        def number(figure: str, fleet: DerivedFleet = fleet) -> float:
            term = derive_fleet_figure(fleet, figure)
            assert term is not None
            return term.number

        assert number("fleet_accelerators") == option.used
        assert number("fleet_systems") == option.systems
        assert number("fleet_racks") == len(option.racks)
        assert number("fleet_utilization") == pytest.approx(option.utilization)
        assert option.power_average_kw is not None
        assert number("fleet_power") == pytest.approx(option.power_average_kw)
        for cost in (*option.costs, fleet.answer.api):
            if cost is None or cost.total_usd is None:
                continue
            for unit in FleetCostUnit:
                assert number(name_fleet_cost(cost.supply, unit)) == pytest.approx(getattr(cost, unit).value)


def test_every_column_of_the_table_is_explained_in_the_currency_shown(service: GpuDeskService) -> None:
    scenario = make_scenario()
    costs = replace(scenario.costs, currency=DisplayCurrency("EUR", 0.5, "2026-11-01"))
    fleet = gather(service, replace(scenario, costs=costs))[0]
    figures = list_fleet_figures(FleetCostUnit.MONTH)
    explained = [explain_fleet_figure(fleet, figure, "H100", Formatter()) for figure in figures]
    assert len(figures) == 4 + len(Supply)
    for each in explained:
        assert each is not None
        assert each.what.endswith(", H100")
        assert each.working is not None
    ownership = explained[4]
    assert ownership is not None
    assert ownership.working is not None
    cost = fleet.option.find_supply_cost(Supply.OWNED)
    assert cost is not None
    assert cost.per_month_usd is not None
    assert (ownership.unit, ownership.figure) == ("EUR", Formatter().estimate(cost.per_month_usd.value * 0.5))
    assert ownership.working.value == ownership.figure


def test_cost_without_a_price_names_the_missing_price(service: GpuDeskService) -> None:
    *_, mi355x = gather(service, make_scenario())
    explained = explain_fleet_figure(mi355x, "fleet_owned_month", "MI355X", Formatter())
    assert explained is not None
    assert explained.working is None
    assert "Missing purchase price" in explained.band


def test_list_price_has_no_interval(service: GpuDeskService) -> None:
    answer = service.fleet(replace(make_scenario(), model="llama-3.1-405b"))
    looks = {part: (part, 0) for part in PARTS}
    table = build_fleet_table(answer, looks, Formatter(), MoneyFormatter(Formatter(), None), FleetCostUnit.TOTAL)
    hosted = [cell for row in table.rows if (cell := row.cells[-1]).text != "—"]
    assert hosted
    assert not any(cell.detail for cell in hosted)
