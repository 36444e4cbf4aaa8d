"""The value of every input for one accelerator: stated by the user, on record, or taken for granted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import PURCHASE
from gpudesk.domain.cost_inputs import INPUTS, CostSettings, Origin
from gpudesk.domain.costs import CostSource, ResolvedInput
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.domain.ranges import Range
from gpudesk.domain.serving_engines import platforms_of
from gpudesk.workbench.costing.assumptions import Assumption, Assumptions

#: What software takes on another platform than the team's own; nothing on that.
_OF_OTHERS = frozenset({"engineers", "porting_engineer_months"})
_NOTHING = Range.exactly(0.0)
Prices = Mapping[str, PriceRange]


def resolve(
    part: Accelerator,
    settings: CostSettings,
    assumptions: Assumptions,
    prices: Prices,
    source_title: Callable[[str], str],
) -> Mapping[str, ResolvedInput]:
    """Return all inputs of one accelerator; `prices` are its own, by term."""
    found = _resolved(part, settings, assumptions, prices, source_title)
    if (share := settings.around) is None:
        return found
    return {
        name: each if each.spread is None else replace(each, spread=_around(name, each.spread.likely, share))
        for name, each in found.items()
    }


def _around(name: str, likely: float, share: float) -> Range:
    """Return a share on either side of a value, within the bounds of the input."""
    around, bounds = Range.around(likely, share), INPUTS[name].bounds
    return Range(max(around.low, bounds.low), likely, min(around.high, bounds.high))


def _resolved(
    part: Accelerator,
    settings: CostSettings,
    assumptions: Assumptions,
    prices: Prices,
    source_title: Callable[[str], str],
) -> dict[str, ResolvedInput]:
    stated = settings.of_part(part.id)
    recorded = {
        "price_usd": prices.get(PURCHASE),
        "rent_usd_per_hour": prices.get(settings.rent_term),
    }
    found: dict[str, ResolvedInput] = {}
    for name in INPUTS:
        if (own := stated.get(name, settings.inputs.get(name))) is not None:
            source = _reported(name, own, part, assumptions, source_title)
            found[name] = ResolvedInput(name, Origin.YOURS, own, record=recorded.get(name), source=source)
        elif (record := recorded.get(name)) is not None:
            spread = Range(record.low, record.median, record.high)
            found[name] = ResolvedInput(name, Origin.RECORD, spread, record=record)
        elif name == "accelerator_w" and part.tdp_w is not None:
            found[name] = ResolvedInput(name, Origin.RECORD, Range.exactly(part.tdp_w))
        elif (assumed := assumptions.inputs.get(name)) is not None:
            found[name] = _assumed(name, assumed, source_title, none=_is_home(name, part, settings))
        else:
            found[name] = ResolvedInput(name, Origin.NOWHERE, None)
    return found


def _reported(
    name: str,
    stated: Range,
    part: Accelerator,
    assumptions: Assumptions,
    source_title: Callable[[str], str],
) -> CostSource | None:
    """Return who reports a discount that was taken over as it is reported."""
    reported = assumptions.discounts.get(part.vendor)
    if name != "discount" or reported is None or reported.spread != stated:
        return None
    return replace(reported.source, title=source_title(reported.source_id))


def _is_home(name: str, part: Accelerator, settings: CostSettings) -> bool:
    return name in _OF_OTHERS and settings.runs_on in platforms_of(part)


def _assumed(
    name: str, assumed: Assumption, source_title: Callable[[str], str], *, none: bool
) -> ResolvedInput:
    source = assumed.source
    if assumed.source_id:
        source = replace(source, title=source_title(assumed.source_id))
    return ResolvedInput(name, Origin.DEFAULT, _NOTHING if none else assumed.spread, source=source)
