"""The inputs of costs: the assumptions file, and the current value for each accelerator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.costing.systems import find_host_power, resolve_purchase_price
from gpudesk.domain.accelerator import COMMON_PLATFORMS, OTHER_PLATFORM, Accelerator, System
from gpudesk.domain.claim import PURCHASE_TERM, PriceSummary
from gpudesk.domain.cost import (
    COST_INPUTS,
    CostDefaultSource,
    CostInputOrigin,
    CostSettings,
    ProviderRent,
    ResolvedCostInput,
    SystemPrice,
    UncertainValue,
    compute_price_drift,
    parse_costs,
)
from gpudesk.domain.dates import count_years_since
from gpudesk.domain.serving_engine import list_platforms
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, message

_WRONG_ASSUMPTION: Final = message("costs.assumption", "is not a valid cost range; restore the file")
_DISCOUNTS: Final = "discounts"
_CASES: Final = "cases"


@frozen_dataclass
class CostAssumption:
    """A range with its origin; `source_id` is a catalog source."""

    spread: UncertainValue
    source: CostDefaultSource
    source_id: str = ""


@frozen_dataclass
class CostCase:
    """A case calculated by a document: its accelerators, all inputs that it states, and its printed figures.

    `source` is the id of the document, `first` and `last` those of the figures.
    """

    id: str
    source: str
    accelerators: tuple[str, ...]
    settings: CostSettings
    first: str
    last: str


@frozen_dataclass
class CostAssumptions:
    """Defaults by input, reported discounts by vendor, and cost cases of the source documents."""

    inputs: Mapping[str, CostAssumption]
    discounts: Mapping[str, CostAssumption]
    cases: tuple[CostCase, ...] = ()


def read_cost_assumptions(path: Path) -> CostAssumptions:
    """Return the content of the file; raises `InputError` that names file and place."""
    document = read_toml(path)
    discounts, cases = document.pop(_DISCOUNTS, {}), document.pop(_CASES, {})
    return CostAssumptions(
        inputs=MappingProxyType(
            {name: _parse_assumption(name, entry, f"{path}: {name}") for name, entry in document.items()}
        ),
        discounts=MappingProxyType(
            {
                vendor: _parse_assumption("discount", entry, f"{path}: {_DISCOUNTS}.{vendor}")
                for vendor, entry in discounts.items()
            }
        ),
        cases=tuple(_parse_cost_case(name, entry, f"{path}: {_CASES}.{name}") for name, entry in cases.items()),
    )


def _parse_cost_case(name: str, entry: Mapping[str, Any], where: str) -> CostCase:
    try:
        first, last = entry["examples"]
        case = CostCase(
            id=name,
            source=entry["source"],
            accelerators=tuple(entry["accelerators"]),
            settings=parse_costs(entry["costs"]),
            first=first,
            last=last,
        )
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(_WRONG_ASSUMPTION, where) from error
    return case


def _parse_assumption(name: str, entry: Mapping[str, Any], where: str) -> CostAssumption:
    try:
        spread = UncertainValue(*(float(each) for each in entry["range"]))
        source = entry.get("source", {})
        default_source = CostDefaultSource(
            entry["note"], source.get("title", ""), source.get("url", ""), source.get("date", "")
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(_WRONG_ASSUMPTION, where) from error
    bounds = COST_INPUTS[name].bounds if name in COST_INPUTS else None
    if bounds is None or not spread.in_order or not all(map(bounds.hold, spread)):
        raise InputError(_WRONG_ASSUMPTION, where)
    return CostAssumption(spread, default_source, source.get("id", ""))


_RENT: Final = "rent_usd_per_hour"
_AGING: Final = ("price_usd", _RENT)
#: Inputs of porting to another platform than the team's own; no cost on that one.
_OF_OTHERS = frozenset({"engineers", "porting_engineer_months"})
_NOTHING = UncertainValue.exactly(0.0)
#: Without a stated fleet it is this deployment alone: sharing with unnamed accelerators would hide its cost.
_OWN_SOFTWARE: Final = CostDefaultSource("each deployment pays for its software alone")


@frozen_dataclass
class AcceleratorRecords:
    """The catalog's data for the costs of one accelerator.

    `prices` are its own by term, and those of the hosted model by the name of the input. `systems` are all with it,
    `system_price` is the price of the one to buy. `today` is the date of the catalog, an ISO day. `class_ratio` is the
    usual ratio of specialized clouds to the kind of provider that rents it, if none of them does on this term;
    `other_rents` are theirs on other terms.
    """

    prices: Mapping[str, PriceSummary]
    systems: Sequence[System]
    system_price: SystemPrice | None
    today: str
    class_ratio: UncertainValue | None = None
    other_rents: tuple[ProviderRent, ...] = ()


def resolve_cost_inputs(
    part: Accelerator,
    count: int,
    settings: CostSettings,
    assumptions: CostAssumptions,
    records: AcceleratorRecords,
    utilization: ResolvedCostInput | None,
    source_title: Callable[[str], str],
) -> Mapping[str, ResolvedCostInput]:
    """Return all inputs of a deployment of `count` accelerators.

    `utilization` is that of the demand; the user's own value overrides it.
    """
    cost_inputs = _resolve_inputs(part, count, settings, assumptions, records, source_title)
    share = cost_inputs["server_share"]
    if cost_inputs["price_usd"].origin is not CostInputOrigin.YOURS and share.spread is not None:
        # A stated server share implies how systems are priced.
        singly = settings.single_accelerators or share.origin is CostInputOrigin.YOURS
        record = records.prices.get(PURCHASE_TERM)
        price = resolve_purchase_price(records.system_price, record, share.spread.likely, singly=singly)
        cost_inputs["price_usd"] = price
        cost_inputs["server_share"] = replace(share, divides=price.system is not None)
    for name in _AGING:
        cost_inputs[name] = _widen_old_price(cost_inputs[name], records.today)
    cost_inputs[_RENT] = _widen_to_class(cost_inputs[_RENT], records)
    if utilization is not None and cost_inputs["utilisation"].origin is not CostInputOrigin.YOURS:
        cost_inputs["utilisation"] = utilization
    if (around := settings.around) is None:
        return cost_inputs
    return {
        name: each
        if each.spread is None or each.source is _OWN_SOFTWARE
        else replace(each, spread=_spread_around(name, each.spread.likely, around))
        for name, each in cost_inputs.items()
    }


def _widen_old_price(price: ResolvedCostInput, today: str) -> ResolvedCostInput:
    """Return a price with a range widened for its age if the catalog has none of the last 12 months."""
    record, spread = price.prices, price.spread
    if price.origin is not CostInputOrigin.RECORD or record is None or spread is None or record.is_user_value:
        return price
    if record.newest is None or not record.is_older_than_year(today):
        return price
    drift = compute_price_drift(count_years_since(record.newest, today))
    return replace(price, spread=UncertainValue(spread.low / drift, spread.likely, spread.high * drift), drift=drift)


def _widen_to_class(rent: ResolvedCostInput, records: AcceleratorRecords) -> ResolvedCostInput:
    """Return a rent with its range extended to the usual price of specialized clouds, if they rented it out."""
    ratio = records.class_ratio
    if ratio is None or rent.origin is not CostInputOrigin.RECORD or rent.spread is None:
        return rent
    low, likely, high = rent.spread
    wider = UncertainValue(min(low, likely * ratio.likely), likely, max(high, likely * ratio.likely))
    like_for_like = UncertainValue(low * ratio.low, likely * ratio.likely, high * ratio.high)
    widened = replace(rent, spread=wider, class_ratio=ratio, like_for_like=like_for_like)
    return replace(widened, other_rents=records.other_rents)


def _spread_around(name: str, likely: float, share: float) -> UncertainValue:
    around, bounds = UncertainValue.around(likely, share), COST_INPUTS[name].bounds
    return UncertainValue(max(around.low, bounds.low), likely, min(around.high, bounds.high))


def _resolve_inputs(
    part: Accelerator,
    count: int,
    settings: CostSettings,
    assumptions: CostAssumptions,
    records: AcceleratorRecords,
    source_title: Callable[[str], str],
) -> dict[str, ResolvedCostInput]:
    user_inputs, prices = settings.get_accelerator_inputs(part.id), records.prices
    recorded = {**prices, "price_usd": prices.get(PURCHASE_TERM), "rent_usd_per_hour": prices.get(settings.rent_term)}
    cost_inputs: dict[str, ResolvedCostInput] = {}
    for name in COST_INPUTS:
        if (own := user_inputs.get(name, settings.inputs.get(name))) is not None:
            source = _find_reported_source(name, own, part, assumptions, source_title)
            cost_inputs[name] = ResolvedCostInput(
                name, CostInputOrigin.YOURS, own, record=recorded.get(name), source=source
            )
        elif (record := recorded.get(name)) is not None:
            spread = UncertainValue(record.low, record.median, record.high)
            cost_inputs[name] = ResolvedCostInput(name, CostInputOrigin.RECORD, spread, record=record)
        elif name == "accelerator_w" and part.tdp_w is not None:
            cost_inputs[name] = ResolvedCostInput(name, CostInputOrigin.RECORD, UncertainValue.exactly(part.tdp_w))
        elif name == "host_w" and (host_w := find_host_power(part, records.systems)) is not None:
            cost_inputs[name] = ResolvedCostInput(name, CostInputOrigin.RECORD, host_w)
        elif name == "fleet":
            fleet = UncertainValue.exactly(float(count))
            cost_inputs[name] = ResolvedCostInput(name, CostInputOrigin.DEFAULT, fleet, source=_OWN_SOFTWARE)
        elif (assumed := assumptions.inputs.get(name)) is not None:
            cost_inputs[name] = _resolve_assumed(
                name, assumed, source_title, none=_is_home_platform(name, part, settings)
            )
        else:
            cost_inputs[name] = ResolvedCostInput(name, CostInputOrigin.NOWHERE, None)
    return cost_inputs


def _find_reported_source(
    name: str,
    user_value: UncertainValue,
    part: Accelerator,
    assumptions: CostAssumptions,
    source_title: Callable[[str], str],
) -> CostDefaultSource | None:
    reported = assumptions.discounts.get(part.vendor)
    if name != "discount" or reported is None or reported.spread != user_value:
        return None
    return replace(reported.source, title=source_title(reported.source_id))


def _is_home_platform(name: str, part: Accelerator, settings: CostSettings) -> bool:
    if name not in _OF_OTHERS or settings.runs_on is None:
        return name in _OF_OTHERS
    platforms = list_platforms(part)
    return not platforms & COMMON_PLATFORMS if settings.runs_on == OTHER_PLATFORM else settings.runs_on in platforms


def _resolve_assumed(
    name: str, assumed: CostAssumption, source_title: Callable[[str], str], *, none: bool
) -> ResolvedCostInput:
    source = assumed.source
    if assumed.source_id:
        source = replace(source, title=source_title(assumed.source_id))
    return ResolvedCostInput(name, CostInputOrigin.DEFAULT, _NOTHING if none else assumed.spread, source=source)
