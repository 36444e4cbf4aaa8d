"""From what is known of two courses to what waiting saves, what that says, and where it turns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gpudesk.domain.buying import PricePoint, Turns, Verdict, WaitSums
from gpudesk.domain.ranges import Range
from gpudesk.economics.owning import Amount
from gpudesk.economics.waiting import (
    Courses,
    avoided_usd,
    cost_of_waiting_usd,
    gain_usd,
    gap_to_tie,
    gap_usd,
    next_usd_to_tie,
    saved_usd,
)
from gpudesk.workbench.deciding.input_draws import likely_of, range_of, share_above

#: What is nothing beside all that the chosen part costs over the months of use.
_NOTHING: Final = 1e-9
#: Prices for which the saving is told, over the one at which waiting breaks even or that of the chosen part.
_PRICES: Final = (0.5, 0.75, 1.0, 1.25, 1.5)
_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class PricedMonth:
    """A month on the next part by the price of an accelerator: `free_usd` + `usd_per_usd` x price."""

    free_usd: Amount
    usd_per_usd: Amount

    def at(self, price_usd: Amount) -> Amount:
        """Return what a month costs at a price."""
        return self.free_usd + self.usd_per_usd * price_usd

    def price_of(self, month_usd: Amount) -> Amount:
        """Return the price at which a month costs so much."""
        return (month_usd - self.free_usd) / self.usd_per_usd


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of both courses, as numbers or as draws; None where nothing is.

    Costs are dollars for a month of the service: on the chosen part, the next one, and without either.
    `waits` is whether there is a next part. `tokens` are the output tokens of a month. `priced` is the next
    part's month by its price, `chosen_price_usd` what an accelerator of the chosen part costs.
    """

    months: Amount
    gap: Amount | None
    buy: Amount | None
    following: Amount | None
    without: Amount | None
    tokens: Amount | None = None
    waits: bool = True
    priced: PricedMonth | None = None
    chosen_price_usd: float | None = None

    def courses(self, next_usd: Amount | None = None) -> Courses | None:
        """Return the two courses, with another cost of the next part if given; None if one is not known.

        A month without either part need not be known where there is none.
        """
        following = self.following if next_usd is None else next_usd
        without = self.without
        if self.gap is None or self.buy is None:
            return None
        if without is None and following is not None and not np.any(np.asarray(self.gap) > 0.0):
            without = np.maximum(self.buy, following)
        if without is None:
            return None
        if not self.waits:
            following = without
        if following is None:
            return None
        return Courses(self.buy, following, without, self.gap, self.months)

    def likely(self) -> Known:
        """Return the same with everything as it most likely is."""
        priced = self.priced
        if priced is not None:
            priced = PricedMonth(likely_of(priced.free_usd), likely_of(priced.usd_per_usd))
        return replace(
            self,
            months=likely_of(self.months),
            gap=_likely(self.gap),
            buy=_likely(self.buy),
            following=_likely(self.following),
            without=_likely(self.without),
            tokens=_likely(self.tokens),
            priced=priced,
        )


def judged(saved: Range, scale_usd: float) -> Verdict:
    """Return the verdict that a saving gives from end to end, `scale_usd` being all that is spent."""
    nothing = _NOTHING * abs(scale_usd)
    if saved.low >= -nothing and saved.high <= nothing:
        return Verdict.EQUAL
    if saved.low >= -nothing:
        return Verdict.WAIT
    return Verdict.BUY if saved.high <= nothing else Verdict.OPEN


def judged_sums(known: Known) -> tuple[WaitSums | None, Verdict]:
    """Return what waiting comes to, None where a cost is not known, and what that says."""
    courses = known.courses()
    if courses is None:
        return None, _judged_without(known)
    saved = saved_usd(courses)
    sums = WaitSums(
        gap_usd=range_of(gap_usd(courses)),
        avoided_usd=range_of(avoided_usd(courses)),
        waiting_usd=range_of(cost_of_waiting_usd(courses)),
        gain_usd=range_of(gain_usd(courses)),
        saved_usd=range_of(saved),
        wait_share=share_above(saved),
    )
    return sums, judged(sums.saved_usd, _scale(courses))


def likely_verdict(known: Known) -> Verdict:
    """Return what is said where everything is as it most likely is."""
    _, verdict = judged_sums(known.likely())
    return verdict


def turns_of(known: Known, launch: float, months_to_next: Range | None, slip: Range) -> Turns:
    """Return where the verdict turns. Each root is put back, and left out where it is none."""
    likely = known.likely()
    gap = _tied_gap(likely)
    delivery = None if gap is None else launch + gap
    planned = None if months_to_next is None else months_to_next.likely
    return Turns(
        gap_months=gap,
        delivery_months=delivery,
        slip_months=None if delivery is None or planned is None else _not_below(delivery - planned),
        launch_months=None if gap is None or planned is None else _not_below(planned + slip.likely - gap),
        usd_per_million=_tied_cost(known),
        price_usd=_tied_price(known),
    )


def price_points(known: Known) -> tuple[PricePoint, ...]:
    """Return what waiting saves at several prices of the next part; nothing where that cannot be told."""
    middle = _tied_price(known)
    price = known.chosen_price_usd if middle is None else middle.likely
    if known.priced is None or price is None:
        return ()
    points = []
    for share in _PRICES:
        courses = known.courses(known.priced.at(share * price))
        if courses is None:
            return ()
        saved = range_of(saved_usd(courses))
        points.append(PricePoint(share * price, saved, judged(saved, _scale(courses))))
    return tuple(points)


def _judged_without(known: Known) -> Verdict:
    """Return what holds whatever the next part costs: from nothing to as much as a month without it."""
    if known.without is None:
        return Verdict.OPEN
    best, worst = known.courses(0.0), known.courses(known.without)
    if best is not None and judged(range_of(saved_usd(best)), _scale(best)) is Verdict.BUY:
        return Verdict.BUY
    if worst is not None and judged(range_of(saved_usd(worst)), _scale(worst)) is Verdict.WAIT:
        return Verdict.WAIT
    return Verdict.OPEN


def _tied_gap(likely: Known) -> float | None:
    """Return the months without the next part at which both courses cost the same."""
    courses = replace(likely, gap=0.0 if likely.gap is None else likely.gap).courses()
    if courses is None or not likely.waits:
        return None
    gap = likely_of(gap_to_tie(courses))
    if not math.isfinite(gap):
        return None
    return gap if _ties(replace(courses, gap_months=gap)) else None


def _tied_month(known: Known) -> Amount | None:
    """Return what a month on the next part may cost, None where no cost turns what most likely holds."""
    courses = known.courses(0.0)
    if courses is None or not known.waits:
        return None
    month = next_usd_to_tie(courses)
    likely = likely_of(month)
    if not math.isfinite(likely) or likely < 0.0:
        return None
    likely_courses = known.likely().courses(likely)
    return month if likely_courses is not None and _ties(likely_courses) else None


def _tied_cost(known: Known) -> Range | None:
    """Return what a million tokens on the next part may cost for both courses to cost the same."""
    month = _tied_month(known)
    if month is None or known.tokens is None:
        return None
    return _from_nothing(range_of(month / known.tokens * _MILLION))


def _tied_price(known: Known) -> Range | None:
    """Return what an accelerator of the next part may cost for both courses to cost the same."""
    month = _tied_month(known)
    if month is None or known.priced is None:
        return None
    found = range_of(known.priced.price_of(month))
    return None if found.likely < 0.0 else _from_nothing(found)


def _from_nothing(found: Range) -> Range:
    return Range(max(found.low, 0.0), found.likely, found.high)


def _ties(courses: Courses) -> bool:
    return abs(likely_of(saved_usd(courses))) <= _NOTHING * _scale(courses)


def _scale(courses: Courses) -> float:
    """Return what is spent or lost at the most, beside which a saving is nothing or not."""
    dearest = max(likely_of(each) for each in (courses.buy_usd, courses.without_usd))
    return dearest * likely_of(courses.months)


def _likely(amount: Amount | None) -> Amount | None:
    return None if amount is None else likely_of(amount)


def _not_below(months: float) -> float | None:
    return months if months >= 0.0 else None
