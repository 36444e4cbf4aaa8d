"""Costs in words that screen, paper and command line share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.cost_inputs import INPUTS, CostGroup, Currency, Origin
from gpudesk.domain.costs import CostAnswer, CostColumn, ResolvedInput
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.ranges import Range
from gpudesk.text import tr, trn

_SPACE: Final = "\N{NO-BREAK SPACE}"

_INPUTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "throughput": "Throughput, its band",
        "years": "Years",
        "utilisation": "Hours in use",
        "requests_per_user_month": "Requests of a user in a month",
        "price_usd": "Purchase price",
        "discount": "Discount",
        "server_share": "Server, share of the price",
        "network_share": "Network, share of the price",
        "rack_share": "Rack, share of the price",
        "spares": "Spares",
        "residual": "Value at the end",
        "capital_rate": "Cost of capital in a year",
        "energy_usd_per_kwh": "Energy",
        "pue": "Power overhead (PUE)",
        "accelerator_w": "Power of an accelerator",
        "host_w": "Power of the host, each",
        "draw": "Power drawn, of that",
        "demand_usd_per_kw_month": "Demand charge",
        "hosting_usd_per_kw_month": "Hosting",
        "rack_kw": "Power of a rack",
        "support": "Support in a year",
        "staff_usd_per_year": "Staff, each",
        "engineer_usd_per_year": "An engineer",
        "engineers": "Engineers for upkeep",
        "porting_engineer_months": "Porting, engineer-months",
        "fleet": "Accelerators that share software",
        "rent_usd_per_hour": "Rent",
        "api_input_usd_per_million": "Hosted API, input",
        "api_output_usd_per_million": "Hosted API, output",
        "grid_g_per_kwh": "Carbon of the grid",
        "embodied_kg": "Carbon of making one",
    }
)
_GROUPS: Final[Mapping[CostGroup, str]] = MappingProxyType(
    {
        CostGroup.USE: "Use",
        CostGroup.HARDWARE: "Hardware",
        CostGroup.MONEY: "Capital",
        CostGroup.SITE: "Site and energy",
        CostGroup.SERVICE: "Service",
        CostGroup.SOFTWARE: "Software engineering",
        CostGroup.RENT: "Rent",
        CostGroup.API: "Hosted API",
        CostGroup.CARBON: "Carbon",
    }
)
_LINES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accelerators": "Accelerators",
        "server": "Servers",
        "network": "Network",
        "rack": "Racks",
        "residual": "Value at the end",
        "capital": "Capital",
        "power": "Power",
        "cooling": "Cooling and losses",
        "demand": "Demand charge",
        "hosting": "Hosting",
        "support": "Support",
        "staff": "Staff",
        "porting": "Porting",
        "upkeep": "Upkeep of software",
    }
)
#: Lines that one looks at together, in the order of a bar; what is left over at the end is taken off.
PARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Price": ("accelerators",),
        "Server": ("server", "network", "rack"),
        "Capital": ("capital",),
        "Power": ("power", "cooling", "demand"),
        "Hosting": ("hosting",),
        "Service": ("support", "staff"),
        "Software": ("porting", "upkeep"),
    }
)
_TERMS: Final[Mapping[str, str]] = MappingProxyType(
    {"on_demand": "on demand", "spot": "spot", "reserved": "reserved"}
)
_MISSING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "price_usd": "no purchase price found",
        "rent_usd_per_hour": "no rent found",
        "accelerator_w": "power is not known",
        "throughput": "no throughput at this load",
    }
)
_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {"years": "years", "months": "months", "h/month": "hours a month"}
)


def input_label(name: str) -> str:
    """Return what an input is called."""
    return tr(_INPUTS[name])


def group_label(group: CostGroup) -> str:
    """Return what a group of inputs is called."""
    return tr(_GROUPS[group])


def line_label(name: str) -> str:
    """Return what a line of a total is called."""
    return tr(_LINES[name])


def term_label(term: str) -> str:
    """Return what a term of rents is called."""
    return tr(_TERMS[term])


def missing_text(name: str) -> str:
    """Return what is missing for want of an input."""
    return tr(_MISSING[name])


def is_share(name: str) -> bool:
    """Whether an input is a share of 1, which is shown in per cent."""
    spec = INPUTS.get(name)
    plain = ("pue", "engineers", "fleet", "requests_per_user_month")
    return spec is not None and spec.unit is None and name not in plain


def input_unit(name: str, currency: Currency | None = None) -> str:
    """Return the unit that an input is shown and edited in; empty for plain numbers."""
    if name == "throughput":
        return "tok/s"
    if is_share(name):
        return "%"
    unit = INPUTS[name].unit or ""
    if unit in _UNITS:
        return tr(_UNITS[unit])
    return unit if currency is None else unit.replace("USD", currency.code)


def amount_text(name: str, value: float, formatter: Formatter, currency: Currency | None = None) -> str:
    """Return the value of an input without its unit."""
    if is_share(name):
        return formatter.stated(round(value * 100.0, 4))
    money = (INPUTS[name].unit or "").startswith("USD") if name in INPUTS else False
    if money and currency is not None:
        value *= currency.per_usd
    if name == "throughput":
        return formatter.estimate(value)
    return formatter.stated(float(f"{value:.6g}"))


def range_text(
    name: str, spread: Range | None, formatter: Formatter, currency: Currency | None = None
) -> str:
    """Return a range, `0.14 (0.08 – 0.2) USD/kWh`."""
    if spread is None:
        return UNKNOWN
    likely = amount_text(name, spread.likely, formatter, currency)
    unit = input_unit(name, currency)
    text = likely
    if not spread.is_known:
        low, high = (amount_text(name, each, formatter, currency) for each in (spread.low, spread.high))
        text = f"{likely} ({low}{_SPACE}–{_SPACE}{high})"
    return f"{text}{_SPACE}{unit}" if unit else text


def origin_text(found: ResolvedInput, revision: str) -> str:
    """Return where the value of an input comes from; prices without a date show the catalog's revision."""
    if found.origin is Origin.YOURS and found.source is not None:
        return tr("anecdotal: {note}; {source}", note=found.source.note, source=found.source.title)
    if found.origin is Origin.YOURS:
        return tr("stated by you")
    if found.origin is Origin.NOWHERE:
        return tr("not stated")
    if found.record is not None:
        return _record_text(found, revision)
    if found.source is None:
        return tr("catalog")
    source = found.source
    if not source.title:
        return tr("assumed: {note}", note=source.note)
    dated = f"{source.title}, {source.date}" if source.date else source.title
    return tr("{note}; {source}", note=source.note, source=dated)


def _record_text(found: ResolvedInput, revision: str) -> str:
    record = found.record
    if record is None:
        return ""
    counted = trn("{n} price on record", "{n} prices on record", record.count, n=record.count)
    if record.newest is None:
        return tr("{prices}, undated, catalog {revision}", prices=counted, revision=revision)
    said = tr("{prices}, newest of {date}", prices=counted, date=record.newest)
    if not record.undated:
        return said
    return tr("{said}; {n} undated, catalog {revision}", said=said, n=record.undated, revision=revision)


def busy_text(utilisation: Range, formatter: Formatter) -> str:
    """Return how much of the time a deployment is taken to work."""
    if utilisation.likely >= 1.0:
        return tr("busy all hours")
    return tr("busy {share} of hours", share=formatter.per_cent(utilisation.likely))


def rented_text(term: str, utilisation: Range) -> str:
    """Return on what terms is rented, and that idle hours are paid where there are any."""
    if utilisation.likely >= 1.0:
        return tr("rents {term}", term=term_label(term))
    return tr("rents {term}, idle hours included", term=term_label(term))


def draws_text(share: float, formatter: Formatter) -> str:
    """Return a share of draws in per cent; what is seldom is not nothing."""
    if 0.0 < share < 0.01:
        return tr("under {share}", share=formatter.per_cent(0.01))
    return formatter.per_cent(share)


def missing_lines(column: CostColumn, name: str) -> list[str]:
    """Return what is missing of a column's costs, each as a sentence."""
    return [tr("{name}: {missing}", name=name, missing=missing_text(each)) for each in column.missing]


def api_lines(costs: CostAnswer) -> list[str]:
    """Return, as sentences, why there is no cost of a hosted API although something of it is stated."""
    return [tr("hosted API: no price of {label}", label=tr(_API_SIDES[name])) for name in costs.api_missing]


_API_SIDES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "api_input_usd_per_million": "its input tokens",
        "api_output_usd_per_million": "its output tokens",
    }
)
