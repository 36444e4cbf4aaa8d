"""What pools cost, by the functions that cost the columns of a comparison, and which plan costs the least."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import Beyond, Ranking, RoutePlan
from gpudesk.domain.units import HOURS_PER_YEAR
from gpudesk.economics.owning import Amount, ownership_lines, total
from gpudesk.workbench.costing.formulas import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    ownership,
    software_of,
)
from gpudesk.workbench.deciding.input_draws import likely_of, range_of


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """What accelerators cost over all years of use in dollars; None where an input is missing.

    Software is part of what is owned and of what is rented.
    """

    accelerators: Amount
    owned: Amount | None
    rented: Amount | None
    software: Amount
    software_alone: Amount

    def __add__(self, other: PlanCosts) -> PlanCosts:
        """Return what both cost together."""
        return PlanCosts(
            self.accelerators + other.accelerators,
            _sum(self.owned, other.owned),
            _sum(self.rented, other.rented),
            self.software + other.software,
            self.software_alone + other.software_alone,
        )


#: What no accelerators cost.
NO_COSTS: Final = PlanCosts(0.0, 0.0, 0.0, 0.0, 0.0)


def pool_costs(values: Mapping[str, Amount], accelerators: Amount) -> PlanCosts:
    """Return what so many accelerators of one part cost over all years of use.

    Software is their share of that of the fleet; alone it is that of a fleet which they are by themselves.
    """
    software = total(software_of(values, accelerators))
    owned = rented = None
    if _knows(values, NEEDED_TO_OWN):
        owned = total(ownership_lines(ownership(values, accelerators)))
    if _knows(values, NEEDED_TO_RENT):
        hours = values["years"] * HOURS_PER_YEAR
        rented = accelerators * values["rent_usd_per_hour"] * hours + software
    alone = total(software_of({**values, "fleet": accelerators}, accelerators))
    return PlanCosts(accelerators, owned, rented, software, alone)


def ranked(costs: Mapping[RoutePlan, PlanCosts], *, rented: bool) -> Ranking | None:
    """Return which plan costs the least to own, or to rent; None with fewer than two that have that cost.

    A plan is level with the cheapest where the range of their difference holds 0.
    """
    paid = {plan: each.rented if rented else each.owned for plan, each in costs.items()}
    known = {plan: usd for plan, usd in paid.items() if usd is not None}
    if len(known) < 2:
        return None
    cheapest = min(known, key=lambda plan: likely_of(known[plan]))
    level = [
        plan
        for plan, usd in known.items()
        if plan is not cheapest and range_of(usd - known[cheapest]).low <= 0.0
    ]
    return Ranking(cheapest, tuple(level), tuple(_beyond(known, costs)))


def _beyond(known: Mapping[RoutePlan, Amount], costs: Mapping[RoutePlan, PlanCosts]) -> Iterator[Beyond]:
    """Yield what each split costs beyond the cheapest plan with one part."""
    singles = [plan for plan in known if not plan.is_split]
    if not singles:
        return
    single = min(singles, key=lambda plan: likely_of(known[plan]))
    for plan, usd in known.items():
        if plan.is_split:
            ours, theirs = costs[plan], costs[single]
            yield Beyond(
                plan=plan,
                single=single,
                usd=range_of(usd - known[single]),
                software_usd=range_of(ours.software - theirs.software),
                software_alone_usd=range_of(ours.software_alone - theirs.software_alone),
            )


def range_or_none(amount: Amount | None) -> Range | None:
    """Return the range of an amount that may not be known."""
    return None if amount is None else range_of(amount)


def _knows(values: Mapping[str, Amount], needed: tuple[str, ...]) -> bool:
    """Whether all inputs have a value but the throughput, which sets no cost of so many accelerators."""
    return all(name in values for name in needed if name != THROUGHPUT)


def _sum(one: Amount | None, other: Amount | None) -> Amount | None:
    return None if one is None or other is None else one + other
