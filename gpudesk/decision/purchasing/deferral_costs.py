"""Buying now or waiting for the next accelerator: monthly costs, the saving by waiting, and where the verdict changes.

Everything refers to one service over its months of use, from its launch on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.costing.accelerator_costs import Amount
from gpudesk.costing.uncertainty import compute_range, compute_share_above, get_likely
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.purchase import (
    DeferralAnalysis,
    DeferralSavings,
    DeferralThresholds,
    DeferralVerdict,
    NextPricePoint,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.units import MONTHS_PER_YEAR


@frozen_dataclass
class DeferralCourses:
    """The monthly cost of the service on each course in dollars, and the number of months.

    `buy_usd` is a month on the chosen accelerator, `next_usd` one on the next, `without_usd` one without either.
    `gap_months` of all `months` of use pass before the next accelerator is available.
    """

    buy_usd: Amount
    next_usd: Amount
    without_usd: Amount
    gap_months: Amount
    months: Amount


def compute_gap_months(launch: Amount, delivery: Amount, months: Amount) -> Amount:
    """Return how many months of use pass before the next accelerator is delivered, all counted from today."""
    return _unwrap_scalar(np.clip(np.asarray(delivery) - launch, 0.0, months))


def compute_after_usd(courses: DeferralCourses) -> Amount:
    """Return the monthly cost of waiting once the next accelerator is available: with or without it, the lower one."""
    return _unwrap_scalar(np.minimum(courses.next_usd, courses.without_usd))


def compute_gap_usd(courses: DeferralCourses) -> Amount:
    """Return the costs and losses before the next accelerator is available."""
    return courses.without_usd * courses.gap_months


def compute_avoided_usd(courses: DeferralCourses) -> Amount:
    return courses.buy_usd * courses.gap_months


def compute_waiting_cost_usd(courses: DeferralCourses) -> Amount:
    """Return the extra cost of the months before the next accelerator, over the chosen one."""
    return compute_gap_usd(courses) - compute_avoided_usd(courses)


def compute_gain_usd(courses: DeferralCourses) -> Amount:
    """Return the saving of the months after, over the chosen one."""
    return (courses.buy_usd - compute_after_usd(courses)) * (courses.months - courses.gap_months)


def compute_saved_usd(courses: DeferralCourses) -> Amount:
    """Return the total saving by waiting; below 0 if it costs more than buying now.

    It never rises with a delay: no month before the delivery is cheaper than one after.
    """
    return compute_gain_usd(courses) - compute_waiting_cost_usd(courses)


def solve_tied_gap(courses: DeferralCourses) -> Amount:
    """Return the months without the next accelerator at which both courses cost the same; NaN without one.

    saved = (buy - after) x months - (without - after) x gap, linear in the gap.
    """
    after = np.asarray(compute_after_usd(courses))
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (courses.buy_usd - after) * courses.months / (courses.without_usd - after)
        return _unwrap_scalar(np.where((gap >= 0.0) & (gap <= courses.months), gap, np.nan))


def solve_tied_next_usd(courses: DeferralCourses) -> Amount:
    """Return the monthly cost of the next accelerator at which both courses cost the same.

    Infinity if waiting never costs more, below 0 if it costs more even for free, minus infinity if no month is left for
    the next accelerator. `next_usd` of the courses is not used.
    """
    remaining_months = np.asarray(courses.months - courses.gap_months, dtype=np.float64)
    spent = np.asarray(courses.buy_usd * courses.months - compute_gap_usd(courses))
    with np.errstate(divide="ignore", invalid="ignore"):
        month = np.where(remaining_months > 0.0, spent / remaining_months, -np.inf)
    return _unwrap_scalar(np.where(np.asarray(courses.buy_usd) >= courses.without_usd, np.inf, month))


def _unwrap_scalar(amount: NDArray[np.float64]) -> Amount:
    return float(amount) if amount.ndim == 0 else amount


#: Negligible relative to the total cost of the chosen accelerator.
_NOTHING: Final = 1e-9
#: Prices at which to compute the saving, relative to the break-even price or that of the chosen accelerator.
_PRICES: Final = (0.5, 0.75, 1.0, 1.25, 1.5)
_MILLION: Final = 1e6


@frozen_dataclass
class MonthlyCostByPrice:
    """A month on the next accelerator by its price: `free_usd` + `usd_per_usd` x price."""

    free_usd: Amount
    usd_per_usd: Amount

    def at(self, price_usd: Amount) -> Amount:
        return self.free_usd + self.usd_per_usd * price_usd

    def solve_price_for(self, month_usd: Amount) -> Amount:
        return (month_usd - self.free_usd) / self.usd_per_usd


@frozen_dataclass
class CourseAmounts:
    """Known amounts of both courses, as numbers or as draws; None if unknown.

    Costs are dollars per month of the service: on the chosen accelerator, the next one, and without either. `waits` is
    whether there is a next one. `tokens` are the monthly output tokens. `priced` is the next accelerator's month by its
    price, `chosen_price_usd` the price of the chosen one.
    """

    months: Amount
    gap: Amount | None
    buy: Amount | None
    following: Amount | None
    without: Amount | None
    tokens: Amount | None = None
    waits: bool = True
    priced: MonthlyCostByPrice | None = None
    chosen_price_usd: float | None = None

    def courses(self, next_usd: Amount | None = None) -> DeferralCourses | None:
        """Return the two courses, with another cost of the next accelerator if given; None if one is unknown.

        The cost of a month without either is not needed if there is no such month.
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
        return DeferralCourses(self.buy, following, without, self.gap, self.months)

    def likely(self) -> CourseAmounts:
        """Return the same with all inputs at their likely values."""
        priced = self.priced
        if priced is not None:
            priced = MonthlyCostByPrice(get_likely(priced.free_usd), get_likely(priced.usd_per_usd))
        return replace(
            self,
            months=get_likely(self.months),
            gap=_get_likely_or_none(self.gap),
            buy=_get_likely_or_none(self.buy),
            following=_get_likely_or_none(self.following),
            without=_get_likely_or_none(self.without),
            tokens=_get_likely_or_none(self.tokens),
            priced=priced,
        )


def judge_saving(saved: UncertainValue, scale_usd: float) -> DeferralVerdict:
    """Return the verdict for a saving by its ends; `scale_usd` is the total spending."""
    nothing = _NOTHING * abs(scale_usd)
    if saved.low >= -nothing and saved.high <= nothing:
        return DeferralVerdict.EQUAL
    if saved.low >= -nothing:
        return DeferralVerdict.WAIT
    return DeferralVerdict.BUY if saved.high <= nothing else DeferralVerdict.OPEN


def judge_deferral(amounts: CourseAmounts) -> tuple[DeferralSavings | None, DeferralVerdict]:
    """Return the balance of waiting, None if a cost is unknown, and the resulting verdict."""
    courses = amounts.courses()
    if courses is None:
        return None, _judge_any_price(amounts)
    saved = compute_saved_usd(courses)
    sums = DeferralSavings(
        gap_usd=compute_range(compute_gap_usd(courses)),
        avoided_usd=compute_range(compute_avoided_usd(courses)),
        waiting_usd=compute_range(compute_waiting_cost_usd(courses)),
        gain_usd=compute_range(compute_gain_usd(courses)),
        saved_usd=compute_range(saved),
        wait_share=compute_share_above(saved),
    )
    return sums, judge_saving(sums.saved_usd, _compute_scale(courses))


def judge_likely(amounts: CourseAmounts) -> DeferralVerdict:
    """Return the verdict for the likely value of every input."""
    _, verdict = judge_deferral(amounts.likely())
    return verdict


def find_turns(
    amounts: CourseAmounts, launch: float, months_to_next: UncertainValue | None, slip: UncertainValue
) -> DeferralThresholds:
    """Return the values at which the verdict changes. Each root is verified, and left out if false."""
    likely = amounts.likely()
    gap = _find_tied_gap(likely)
    delivery = None if gap is None else launch + gap
    planned = None if months_to_next is None else months_to_next.likely
    return DeferralThresholds(
        gap_months=gap,
        delivery_months=delivery,
        slip_months=None if delivery is None or planned is None else _drop_negative(delivery - planned),
        launch_months=None if gap is None or planned is None else _drop_negative(planned + slip.likely - gap),
        usd_per_million=_find_tied_cost(amounts),
        price_usd=_find_tied_price(amounts),
    )


def compute_price_points(amounts: CourseAmounts) -> tuple[NextPricePoint, ...]:
    """Return the saving by waiting at several prices of the next accelerator; empty if unknown."""
    middle = _find_tied_price(amounts)
    price = amounts.chosen_price_usd if middle is None else middle.likely
    if amounts.priced is None or price is None:
        return ()
    points = []
    for share in _PRICES:
        courses = amounts.courses(amounts.priced.at(share * price))
        if courses is None:
            return ()
        saved = compute_range(compute_saved_usd(courses))
        points.append(NextPricePoint(share * price, saved, judge_saving(saved, _compute_scale(courses))))
    return tuple(points)


def _judge_any_price(amounts: CourseAmounts) -> DeferralVerdict:
    """Return the verdict for any cost of the next accelerator: from nothing to that of a month without it."""
    if amounts.without is None:
        return DeferralVerdict.OPEN
    best, worst = amounts.courses(0.0), amounts.courses(amounts.without)
    if (
        best is not None
        and judge_saving(compute_range(compute_saved_usd(best)), _compute_scale(best)) is DeferralVerdict.BUY
    ):
        return DeferralVerdict.BUY
    if (
        worst is not None
        and judge_saving(compute_range(compute_saved_usd(worst)), _compute_scale(worst)) is DeferralVerdict.WAIT
    ):
        return DeferralVerdict.WAIT
    return DeferralVerdict.OPEN


def _find_tied_gap(likely: CourseAmounts) -> float | None:
    """Return the months without the next accelerator at which both courses cost the same."""
    courses = replace(likely, gap=0.0 if likely.gap is None else likely.gap).courses()
    if courses is None or not likely.waits:
        return None
    gap = get_likely(solve_tied_gap(courses))
    if not math.isfinite(gap):
        return None
    return gap if _is_tie(replace(courses, gap_months=gap)) else None


def _find_tied_month(amounts: CourseAmounts) -> Amount | None:
    """Return the monthly break-even cost of the next accelerator, None if no cost changes the likely verdict."""
    courses = amounts.courses(0.0)
    if courses is None or not amounts.waits:
        return None
    month = solve_tied_next_usd(courses)
    likely = get_likely(month)
    if not math.isfinite(likely) or likely < 0.0:
        return None
    likely_courses = amounts.likely().courses(likely)
    return month if likely_courses is not None and _is_tie(likely_courses) else None


def _find_tied_cost(amounts: CourseAmounts) -> UncertainValue | None:
    """Return the break-even cost of the next accelerator per million tokens."""
    month = _find_tied_month(amounts)
    if month is None or amounts.tokens is None:
        return None
    return _clip_range(compute_range(month / amounts.tokens * _MILLION))


def _find_tied_price(amounts: CourseAmounts) -> UncertainValue | None:
    """Return the break-even price of the next accelerator."""
    month = _find_tied_month(amounts)
    if month is None or amounts.priced is None:
        return None
    price_range = compute_range(amounts.priced.solve_price_for(month))
    return None if price_range.likely < 0.0 else _clip_range(price_range)


def _clip_range(value: UncertainValue) -> UncertainValue:
    return UncertainValue(max(value.low, 0.0), value.likely, value.high)


def _is_tie(courses: DeferralCourses) -> bool:
    return abs(get_likely(compute_saved_usd(courses))) <= _NOTHING * _compute_scale(courses)


def _compute_scale(courses: DeferralCourses) -> float:
    """Return the maximum spending or loss, to judge whether a saving is negligible."""
    dearest = max(get_likely(each) for each in (courses.buy_usd, courses.without_usd))
    return dearest * get_likely(courses.months)


def _get_likely_or_none(amount: Amount | None) -> Amount | None:
    return None if amount is None else get_likely(amount)


def _drop_negative(months: float) -> float | None:
    return months if months >= 0.0 else None


#: Slips shown: at least this far, and a little beyond the last one that matters, in months.
_LEAST: Final = 12.0
_BEYOND: Final = 1.25
_STEPS_PER_MONTH: Final = 4


class SlipPoint(NamedTuple):
    """The extra cost of the months before the next accelerator, and the saving after, by its slip."""

    slip_months: float
    waiting_usd: float
    gain_usd: float


def compute_slip_curve(analysis: DeferralAnalysis) -> tuple[SlipPoint, ...]:
    """Return both amounts by slip, starting at none; empty if either is unknown."""
    monthly, planned = analysis.monthly, analysis.months_to_next
    buy, following, without = monthly.buy_usd, monthly.next_usd, monthly.without_usd
    if planned is None or buy is None or following is None or without is None:
        return ()
    months = analysis.years * MONTHS_PER_YEAR
    return tuple(
        _make_slip_point(
            slip,
            DeferralCourses(
                buy.likely,
                following.likely,
                without.likely,
                compute_gap_months(analysis.months_to_launch, planned.likely + slip, months),
                months,
            ),
        )
        for slip in _list_slips(analysis, months)
    )


def _list_slips(analysis: DeferralAnalysis, months: float) -> list[float]:
    """Return the slips to show: beyond the change of the verdict, and all possible ones."""
    last = max(analysis.slip_months.high, analysis.turns.slip_months or 0.0)
    most = math.ceil(min(max(_LEAST, last * _BEYOND), max(_LEAST, months)))
    return [step / _STEPS_PER_MONTH for step in range(most * _STEPS_PER_MONTH + 1)]


def _make_slip_point(slip: float, courses: DeferralCourses) -> SlipPoint:
    return SlipPoint(
        slip, _convert_to_float(compute_waiting_cost_usd(courses)), _convert_to_float(compute_gain_usd(courses))
    )


def _convert_to_float(amount: Amount) -> float:
    return float(amount)
