"""Where two costs are equal: the input at which an accelerator costs as much as its rival, or as its rent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import BreakEven, CostColumn
from gpudesk.domain.units import HOURS_PER_MONTH, MONTHS_PER_YEAR
from gpudesk.economics.break_even import (
    hours_per_month_to_own,
    linear_root,
    months_to_own,
    payback_hours_per_month,
    utilisation_to_own,
)
from gpudesk.economics.owning import total
from gpudesk.economics.tokens import served_tokens
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.formulas import (
    NEEDED_TO_OWN,
    THROUGHPUT,
    Deployment,
    owned_per_million,
    software_of,
)

#: Inputs that are solved for so that a token costs as much as the baseline's, with their units.
TO_TIE = ("price_usd", "discount", "engineers", "energy_usd_per_kwh", THROUGHPUT)
_HALVINGS = 200
_CLOSE = 1e-9
_MILLION = 1e6


def own_rent(found: Situation, column: CostColumn) -> Iterator[BreakEven]:
    """Yield from when on owning an accelerator is cheaper than renting it; software costs both the same.

    Months are those after which less cash was paid than rent around the clock, if within the years planned.
    Hours and utilisation weigh all that owning costs against rent for the hours of use alone.
    """
    tco, software, name = column.tco, column.software, found.key
    if tco is None or software is None or "rent_usd_per_hour" not in found.values or column.count is None:
        return
    hourly = found.values["rent_usd_per_hour"] * column.count
    term = tco.years * MONTHS_PER_YEAR
    months = months_to_own(
        tco.at_once_usd - software.at_once_usd,
        tco.per_month_usd - software.per_month_usd,
        hourly * HOURS_PER_MONTH,
    )
    yield BreakEven("months_to_own", name, None, float(months) if months <= term else None, "months")
    owned = tco.total_usd - software.at_once_usd - software.per_month_usd * term
    hours = float(hours_per_month_to_own(owned, tco.years, hourly))
    yield BreakEven("hours_to_own", name, None, hours if hours <= HOURS_PER_MONTH else None, "h/month")
    share = float(utilisation_to_own(owned, tco.years, hourly))
    yield BreakEven("utilisation_to_own", name, None, share if share <= 1.0 else None, None)


def against_api(found: Situation, column: CostColumn, api_usd_per_million: float) -> Iterator[BreakEven]:
    """Yield from how many million output tokens a month on owning, and renting, cost less than a hosted API.

    What is paid does not depend on the load; it bears at most that of all hours in use.
    """
    tokens = column.tokens_per_s
    if tokens is None or not api_usd_per_million > 0.0:
        return
    most = float(served_tokens(tokens.value, HOURS_PER_MONTH, 1.0)) / _MILLION
    likely = found.values["utilisation"]
    for name, costs in (("tokens_to_own", column.owned), ("tokens_to_rent", column.rented)):
        if costs is None:
            continue
        needed = costs.output.value * likely * most / api_usd_per_million
        yield BreakEven(name, found.key, None, needed if needed <= most else None, "M/month")


def port(found: Situation, rival: Situation) -> Iterator[BreakEven]:
    """Yield from how many hours a month on rents that are lower pay for what software costs more.

    Hours are of one accelerator that does what the rival's do. Nothing where the rival's costs as much.
    """
    if found.deployment is None or rival.deployment is None:
        return
    own, other = _rent_of_work(found), _rent_of_work(rival)
    if own is None or other is None:
        return
    values = found.values
    cost = _software_of_fleet(values) - _software_of_fleet(rival.values)
    if cost <= 0.0:
        return
    saved = (other - own) * values[THROUGHPUT] / found.deployment.accelerators
    hours = None
    if saved > 0.0:
        hours = float(payback_hours_per_month(cost, values["years"] * MONTHS_PER_YEAR, saved))
    yield BreakEven("hours_to_port", found.key, rival.key, hours, "h/month")


def _software_of_fleet(values: Mapping[str, float]) -> float:
    return float(total(software_of(values, values["fleet"])))


def _rent_of_work(found: Situation) -> float | None:
    """Return the rent of a deployment for an hour over its tokens/s."""
    rent = found.values.get("rent_usd_per_hour")
    if rent is None or found.deployment is None or THROUGHPUT not in found.values:
        return None
    return rent * found.deployment.accelerators / found.values[THROUGHPUT]


def ties(found: Situation, rival: Situation) -> Iterator[BreakEven]:
    """Yield what each input, all others likely, would have to be for a token to cost the rival's."""
    if not found.knows(NEEDED_TO_OWN) or not rival.knows(NEEDED_TO_OWN):
        return
    for name in TO_TIE:
        value = what_it_takes(name, found, rival)
        unit = "tok/s" if name == THROUGHPUT else INPUTS[name].unit
        cheaper = None if value is not None else _is_cheaper(found, rival)
        yield BreakEven(f"{name}_to_tie", found.key, rival.key, value, unit, cheaper)


def _is_cheaper(found: Situation, rival: Situation) -> bool:
    """Whether a token costs less than the rival's: throughout, where no input makes them equal."""
    assert found.deployment is not None
    assert rival.deployment is not None
    return _per_token(found.values, found.deployment, {}) < _per_token(rival.values, rival.deployment, {})


def what_it_takes(name: str, found: Situation, rival: Situation) -> float | None:
    """Return the value of an input at which owning costs as much a token; None where none within bounds does.

    An input of all accelerators changes for both. Costs over throughput are straight lines in most inputs,
    and their roots exact; the others are halved in.
    """
    deployment, other = found.deployment, rival.deployment
    if deployment is None or other is None:
        return None
    shared = name != THROUGHPUT and not INPUTS[name].each

    def difference(value: float) -> float:
        ours = _per_token(found.values, deployment, {name: value})
        theirs = _per_token(rival.values, other, {name: value} if shared else {})
        return ours - theirs

    if name == THROUGHPUT:
        return _throughput_to_tie(found.values, deployment, difference)
    low, high = INPUTS[name].bounds.low, INPUTS[name].bounds.high
    with_ends = [value for value in (_line(difference),) if value is not None and low <= value <= high]
    return with_ends[0] if with_ends else _halved(difference, low, high)


def _per_token(values: Mapping[str, float], deployment: Deployment, changed: Mapping[str, float]) -> float:
    return float(owned_per_million({**values, **changed}, deployment))


def _throughput_to_tie(
    values: Mapping[str, float], deployment: Deployment, difference: Callable[[float], float]
) -> float:
    """Return the tokens/s at which costs are equal: cost is as the reciprocal of throughput."""
    rate = values[THROUGHPUT]
    ours = _per_token(values, deployment, {})
    return rate * ours / (ours - difference(rate))


def _line(difference: Callable[[float], float]) -> float | None:
    """Return the root of a difference that is a straight line, None for one that is not."""
    root = float(linear_root(difference))
    if not math.isfinite(root):
        return None
    scale = abs(difference(0.0)) + abs(difference(1.0))
    return root if abs(difference(root)) <= _CLOSE * max(scale, abs(root)) else None


def _halved(difference: Callable[[float], float], low: float, high: float) -> float | None:
    """Return a root between two values with differences of unlike sign."""
    at_low, at_high = difference(low), difference(high)
    if not math.isfinite(at_low) or not math.isfinite(at_high) or (at_low > 0.0) == (at_high > 0.0):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if (difference(middle) > 0.0) == (at_low > 0.0):
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
