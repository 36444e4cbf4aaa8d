"""Derivations of a fleet's figures: accelerators, systems, racks, power, utilization, and each cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from gpudesk.domain.answer import Scenario
from gpudesk.domain.cost import CostLine, ResolvedCostInput, UncertainValue
from gpudesk.domain.deployment_analysis import DerivationTerm, derive_term, format_placeholder, format_sum
from gpudesk.domain.fleet import IDLE_SHARE, FleetAnswer, FleetCost, FleetOption, FleetSettings, Supply
from gpudesk.domain.sizing import SizingOption
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_input_source,
    format_input_range,
    label_cost_input,
    label_cost_line,
)
from gpudesk.report.explanation.cost import COST_LINES
from gpudesk.report.explanation.parts import Explanation, ExplanationBasis
from gpudesk.report.explanation.working import build_term_line, format_term_value, label_term
from gpudesk.report.fleet_tables import FleetCostUnit, format_amount, name_fleet_cost
from gpudesk.report.labels import label_system
from gpudesk.report.rack_drawing import label_order
from gpudesk.report.sizing import label_sizing_factor
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message, to_sentence
from gpudesk.text.translation import tr
from gpudesk.text.units import HOURS_PER_YEAR, MONTHS_PER_YEAR, SECONDS_PER_HOUR

_MILLION: Final = 1e6
#: Inputs that a fleet replaces by the power of its systems.
_OF_POWER: Final = frozenset({"accelerator_w", "host_w", "draw", "idle_draw"})
_BOUGHT: Final = "bought"
_SCENARIO: Final = "scenario"


_COSTS: Final[Mapping[str, tuple[Supply, FleetCostUnit]]] = {
    name_fleet_cost(supply, unit): (supply, unit) for supply in Supply for unit in FleetCostUnit
}


@frozen_dataclass
class DerivedFleet:
    """A fleet with the data for its derivations.

    `sizing` and `inputs` are the sizing and the cost inputs of its accelerator, `output_tokens` those of a request.
    """

    option: FleetOption
    sizing: SizingOption
    answer: FleetAnswer
    settings: FleetSettings
    inputs: Mapping[str, ResolvedCostInput]
    output_tokens: int
    money: MoneyFormatter

    @property
    def replica(self) -> int:
        return self.sizing.plan.replica

    @property
    def working(self) -> int:
        return self.option.used // self.replica

    @property
    def paid(self) -> int:
        return self.option.used + self.option.spare + self.option.idle

    def find_cost(self, supply: Supply) -> FleetCost | None:
        return self.answer.api if supply is Supply.API else self.option.find_supply_cost(supply)


def gather_derived_fleet(
    option: FleetOption,
    answer: FleetAnswer,
    scenario: Scenario,
    inputs: Mapping[str, ResolvedCostInput],
    formatter: Formatter,
) -> DerivedFleet | None:
    """Return a fleet with the data for its derivations; None if the accelerator has no fleet."""
    if option.sizing is None or option.reason is not None:
        return None
    money = MoneyFormatter(formatter, scenario.costs.currency)
    tokens = scenario.workload.output_tokens
    return DerivedFleet(option, option.sizing, answer, scenario.fleet, inputs, tokens, money)


def describe_fleet_source(source: str) -> str:
    return tr("scenario") if source == _SCENARIO else source


def derive_fleet_figure(fleet: DerivedFleet, figure: str) -> DerivationTerm | None:
    """Return the derivation of a figure; None if it has no value."""
    if figure in _COSTS:
        return _derive_cost(fleet, *_COSTS[figure])
    return _FIGURES[figure](fleet)


def explain_fleet_figure(fleet: DerivedFleet, figure: str, name: str, formatter: Formatter) -> Explanation | None:
    """Explain a figure of a fleet; `name` is its accelerator's. None for a figure without meaning here."""
    term = derive_fleet_figure(fleet, figure)
    order = label_order(fleet.option, formatter)
    supply, unit = _COSTS.get(figure, (None, None))
    cost = None if supply is None else fleet.find_cost(supply)
    conditions = order if supply is None else tr("{supply}: {text}", supply=supply.label, text=order)
    if term is None:
        missing = None if cost is None else cost.missing
        if missing is None:
            return None
        band = to_sentence(format_message(missing, formatter))
        return Explanation(what=tr("Cost of {name}", name=name), conditions=conditions, band=band)
    text, unit_text = format_term_value(term, formatter)
    band = ""
    if cost is not None and unit is not None:
        interval = getattr(cost, unit)
        text, unit_text = format_amount(interval.value, fleet.money), fleet.money.code
        low, high = (format_amount(each, fleet.money) for each in (interval.low, interval.high))
        band = tr("80% interval: {low} to {high}", low=low, high=high)
    return Explanation(
        what=tr("{figure}, {deployment}", figure=label_term(term.name), deployment=name),
        conditions=conditions,
        figure=text,
        unit=unit_text,
        band=band,
        ground=ExplanationBasis.ESTIMATED,
        basis=tr("Load curve: {name}.", name=fleet.answer.curve.kind.label),
        working=build_term_line(term, describe_fleet_source, formatter),
    )


# Accelerators, systems, racks


def _make_peak_term(fleet: DerivedFleet) -> DerivationTerm:
    names = [each.name for each in fleet.sizing.factors]
    factors = fleet.sizing.factors[: next(place for place, name in enumerate(names) if name.startswith("replica"))]
    terms = tuple(
        DerivationTerm(label_sizing_factor(each), each.value, each.unit, source=_SCENARIO) for each in factors
    )
    formula = " × ".join(format_placeholder(each.name) for each in terms)
    peak = math.prod(each.value for each in factors)
    return derive_term("peak load", peak, _get_load_unit(fleet), formula, *terms)


def _get_load_unit(fleet: DerivedFleet) -> str:
    in_flight = any(each.name == "replica_in_flight" for each in fleet.sizing.factors)
    return "requests" if in_flight else "requests/s"


def _make_capacity_term(fleet: DerivedFleet) -> DerivationTerm:
    source = tr("estimate within the limits")
    return DerivationTerm("capacity of a replica", fleet.sizing.replica_capacity, _get_load_unit(fleet), source=source)


def _make_replica_term(fleet: DerivedFleet) -> DerivationTerm:
    cap = next(1.0 / each.value for each in fleet.sizing.factors if each.name == "cap")
    return derive_term(
        "working replicas",
        fleet.working,
        None,
        "ceil({peak_load} ÷ ({capacity_of_a_replica} × {max_replica_load}))",
        _make_peak_term(fleet),
        _make_capacity_term(fleet),
        DerivationTerm("max replica load", cap, None, source=_SCENARIO),
    )


def _make_size_term(fleet: DerivedFleet) -> DerivationTerm:
    return DerivationTerm("accelerators of a replica", fleet.replica, None, source=tr("smallest that fits the demand"))


def _derive_accelerators(fleet: DerivedFleet) -> DerivationTerm:
    return derive_term(
        "accelerators in use",
        fleet.option.used,
        None,
        "{working_replicas} × {accelerators_of_a_replica}",
        _make_replica_term(fleet),
        _make_size_term(fleet),
    )


def _make_slot_term(fleet: DerivedFleet) -> DerivationTerm:
    system = fleet.option.system
    source = tr("servers for cards") if system is None else label_system(system.name)
    return DerivationTerm("slots of a system", fleet.option.slots, None, source=source)


def _derive_systems(fleet: DerivedFleet) -> DerivationTerm | None:
    option = fleet.option
    if not option.systems:
        return None
    spare_replicas = (option.spare - option.spare_systems * option.slots) // fleet.replica
    spans = option.systems_per_replica > 1
    packing_term = derive_term(
        "systems of a replica" if spans else "replicas of a system",
        option.systems_per_replica if spans else option.slots // fleet.replica,
        None,
        "ceil({accelerators_of_a_replica} ÷ {slots_of_a_system})"
        if spans
        else "floor({slots_of_a_system} ÷ {accelerators_of_a_replica})",
        _make_slot_term(fleet),
        _make_size_term(fleet),
    )
    return derive_term(
        "systems",
        option.systems,
        None,
        "({working_replicas} + {spare_replicas}) × {systems_of_a_replica} + {spare_systems}"
        if spans
        else "ceil(({working_replicas} + {spare_replicas}) ÷ {replicas_of_a_system}) + {spare_systems}",
        _make_replica_term(fleet),
        DerivationTerm("spare replicas", spare_replicas, None, source=_SCENARIO),
        packing_term,
        DerivationTerm("spare systems", option.spare_systems, None, source=_SCENARIO),
    )


def _make_system_power_term(fleet: DerivedFleet) -> DerivationTerm:
    option = fleet.option
    power = None if option.power_max_kw is None else option.power_max_kw / fleet.paid * option.slots
    source = tr("estimated from the TDP") if option.power_estimated else tr("catalog: maximum power of systems")
    return DerivationTerm("power of a system", power, "kW", source=source)


def _derive_racks(fleet: DerivedFleet) -> DerivationTerm | None:
    option, systems = fleet.option, _derive_systems(fleet)
    if not option.racks or systems is None:
        return None
    first, limit_kw = option.racks[0], fleet.settings.kw_per_rack
    limit = _make_input_term(fleet, "rack_kw")
    if limit_kw is not None:
        limit = DerivationTerm(limit.name, limit_kw, "kW", source=_SCENARIO)
    room = derive_term(
        "systems of a rack",
        len(first.systems),
        None,
        "all of them" if first.limited_by is None else "as many as its height and its power allow",
        DerivationTerm("height of a rack", first.height_units, "U"),
        DerivationTerm("height of a system", first.systems[0].rack_units, "U"),
        limit,
        _make_system_power_term(fleet),
    )
    return derive_term("racks", len(option.racks), None, "ceil({systems} ÷ {systems_of_a_rack})", systems, room)


# Power and utilization


def _derive_power(fleet: DerivedFleet) -> DerivationTerm | None:
    option, draw = fleet.option, fleet.inputs["draw"].spread
    if option.power_max_kw is None or option.power_average_kw is None or draw is None:
        return None
    bought = DerivationTerm("accelerators bought", fleet.paid, None)
    most = derive_term(
        "maximum power",
        option.power_max_kw,
        "kW",
        "{power_of_a_system} × {accelerators_bought} ÷ {slots_of_a_system}",
        _make_system_power_term(fleet),
        bought,
        _make_slot_term(fleet),
    )
    busy = derive_term(
        "busy share",
        option.used * option.utilization / fleet.paid,
        None,
        "{accelerators_in_use} × {utilization} ÷ {accelerators_bought}",
        DerivationTerm("accelerators in use", option.used, None),
        _derive_utilization(fleet),
        bought,
    )
    return derive_term(
        "average power",
        option.power_average_kw,
        "kW",
        "{maximum_power} × {draw_under_load} × ({draw_while_idle} + (1 − {draw_while_idle}) × {busy_share})",
        most,
        DerivationTerm("draw under load", draw.likely, None, source=_describe_source(fleet, "draw")),
        DerivationTerm("draw while idle", IDLE_SHARE, None, source=tr("assumption")),
        busy,
    )


def _derive_utilization(fleet: DerivedFleet) -> DerivationTerm:
    peak, curve = _make_peak_term(fleet), fleet.answer.curve
    factor = DerivationTerm("peak over average", curve.peak_factor, None, source=curve.kind.label)
    average, formula = peak.number / curve.peak_factor, "{peak_load} ÷ {peak_over_average}"
    return derive_term(
        "utilization",
        fleet.option.utilization,
        None,
        "{average_load} ÷ ({working_replicas} × {capacity_of_a_replica})",
        derive_term("average load", average, peak.unit, formula, peak, factor),
        DerivationTerm("working replicas", fleet.working, None),
        _make_capacity_term(fleet),
    )


# Costs


def _derive_cost(fleet: DerivedFleet, supply: Supply, unit: FleetCostUnit) -> DerivationTerm | None:
    cost = fleet.find_cost(supply)
    interval = None if cost is None else getattr(cost, unit)
    if cost is None or interval is None:
        return None
    total, usd, code = _make_total_term(fleet, cost), fleet.money.convert_to_currency(interval.value), fleet.money.code
    if unit is FleetCostUnit.TOTAL:
        return total
    if unit is FleetCostUnit.TOKENS:
        millions = total.number / usd
        hours = fleet.option.hours
        rate = math.fsum(hour.requests_per_s for hour in hours) / len(hours)
        seconds = fleet.answer.horizon_years * HOURS_PER_YEAR * SECONDS_PER_HOUR
        growth = millions * _MILLION / (rate * fleet.output_tokens * seconds)
        tokens = derive_term(
            "million output tokens",
            millions,
            None,
            "{average_requests} × {tokens_of_a_request} × {seconds} × {growth} ÷ 1,000,000",
            DerivationTerm("average requests", rate, "1/s", source=fleet.answer.curve.kind.label),
            DerivationTerm("tokens of a request", fleet.output_tokens, None, source=_SCENARIO),
            DerivationTerm("seconds", seconds, None),
            DerivationTerm("growth", growth, None, source=tr("mean demand over that of today")),
        )
        formula = "{total_cost} ÷ {million_output_tokens}"
        return derive_term("cost per million output tokens", usd, code, formula, total, tokens)
    if unit is FleetCostUnit.USER:
        over = DerivationTerm("user-months", total.number / usd, None, source=_SCENARIO)
        return derive_term("cost per user-month", usd, code, "{total_cost} ÷ {user_months}", total, over)
    over = DerivationTerm("months", fleet.answer.horizon_years * MONTHS_PER_YEAR, None, source=_SCENARIO)
    return derive_term("cost per month", usd, code, "{total_cost} ÷ {months}", total, over)


def _make_total_term(fleet: DerivedFleet, cost: FleetCost) -> DerivationTerm:
    terms = tuple(_make_line_term(fleet, cost, line) for line in cost.lines if line.usd)
    formula = format_sum(tuple(each.name for each in terms))
    return derive_term("total cost", math.fsum(each.number for each in terms), fleet.money.code, formula, *terms)


def _make_line_term(fleet: DerivedFleet, cost: FleetCost, line: CostLine) -> DerivationTerm:
    usd, code = fleet.money.convert_to_currency(line.usd), fleet.money.code
    if line.name == "api":
        source = None if cost.source is None else format_message(cost.source)
        return DerivationTerm("hosted API", usd, code, source=source)
    if line.name == "rent":
        hours, hourly = fleet.answer.horizon_years * HOURS_PER_YEAR, cost.rent_usd_per_hour or 0.0
        money = fleet.money
        count = line.usd / hours / hourly if hourly else None
        return derive_term(
            "rent",
            money.convert_to_currency(line.usd),
            money.code,
            "{accelerators_rented} × {hours} × {hourly_rent}",
            DerivationTerm("accelerators rented", count, None, source=tr("mean over all hours and years")),
            DerivationTerm("hours", hours, None, source=_SCENARIO),
            DerivationTerm("hourly rent", money.convert_to_currency(hourly), f"{money.code}/h"),
        )
    words, names = COST_LINES[line.name]
    inputs = [_make_input_term(fleet, name) for name in names if name != _BOUGHT and name not in _OF_POWER]
    if _BOUGHT in names:
        order = label_order(fleet.option, Formatter())
        inputs.insert(0, DerivationTerm("accelerators bought", fleet.paid, None, source=order))
    if "draw" in names and fleet.option.power_average_kw is not None:
        inputs.append(DerivationTerm("average power", fleet.option.power_average_kw, "kW"))
    elif "host_w" in names and fleet.option.power_max_kw is not None:
        inputs.append(DerivationTerm("maximum power", fleet.option.power_max_kw, "kW"))
    return derive_term(label_cost_line(line.name), usd, code, words, *inputs)


def _make_input_term(fleet: DerivedFleet, name: str) -> DerivationTerm:
    spread = fleet.inputs[name].spread
    likely = None if spread is None else UncertainValue.exactly(spread.likely)
    text = format_input_range(name, likely, Formatter(), fleet.money.currency)
    return DerivationTerm(label_cost_input(name), text, None, source=_describe_source(fleet, name))


def _describe_source(fleet: DerivedFleet, name: str) -> str:
    return describe_input_source(fleet.inputs[name])


_FIGURES: Final[Mapping[str, Callable[[DerivedFleet], DerivationTerm | None]]] = {
    "fleet_accelerators": _derive_accelerators,
    "fleet_systems": _derive_systems,
    "fleet_racks": _derive_racks,
    "fleet_power": _derive_power,
    "fleet_utilization": _derive_utilization,
}
#: Explainable figures of fleets.
FLEET_FIGURES: Final = (*_FIGURES, *_COSTS)
