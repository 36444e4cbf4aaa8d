"""Buying a part now against waiting for the next one: what the months without it cost, what the others gain.

Everything is told for one service over its months of use, from its launch on. Whoever buys has the chosen
part in all of them. Whoever waits has neither part until the next one is there, and pays or loses something
in each of these months; after that the service runs on the next part, or goes on as before where that is
cheaper. The difference is exact: nothing is discounted, and costs of owning are even over the months of use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpudesk.economics.owning import Amount


@dataclass(frozen=True, slots=True)
class Courses:
    """What a month of the service costs on each course in dollars, and for how many months.

    `buy_usd` is a month on the chosen part, `next_usd` one on the next part, `without_usd` one in which
    neither is there. `gap_months` of all `months` of use pass before the next part is there.
    """

    buy_usd: Amount
    next_usd: Amount
    without_usd: Amount
    gap_months: Amount
    months: Amount


def gap_months(launch: Amount, delivery: Amount, months: Amount) -> Amount:
    """Return how many of the months of use pass before the next part is delivered, all counted from today."""
    return _plain(np.clip(np.asarray(delivery) - launch, 0.0, months))


def after_usd(courses: Courses) -> Amount:
    """Return what a month costs whoever waited once the next part can be had: the cheaper way."""
    return _plain(np.minimum(courses.next_usd, courses.without_usd))


def gap_usd(courses: Courses) -> Amount:
    """Return what is paid or lost before the next part is there."""
    return courses.without_usd * courses.gap_months


def avoided_usd(courses: Courses) -> Amount:
    """Return what the chosen part would have cost in these months."""
    return courses.buy_usd * courses.gap_months


def cost_of_waiting_usd(courses: Courses) -> Amount:
    """Return what the months before the next part cost more than on the chosen part."""
    return gap_usd(courses) - avoided_usd(courses)


def gain_usd(courses: Courses) -> Amount:
    """Return what the months after it cost less than on the chosen part."""
    return (courses.buy_usd - after_usd(courses)) * (courses.months - courses.gap_months)


def saved_usd(courses: Courses) -> Amount:
    """Return what waiting saves in all; below 0 where it costs more than buying now.

    It falls, or stays, with each month that the next part is late: no such month costs less than one after.
    """
    return gain_usd(courses) - cost_of_waiting_usd(courses)


def gap_to_tie(courses: Courses) -> Amount:
    """Return the months without the next part at which both courses cost the same; NaN where none are.

    saved = (buy - after) x months - (without - after) x gap, a straight line in the gap.
    """
    after = np.asarray(after_usd(courses))
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (courses.buy_usd - after) * courses.months / (courses.without_usd - after)
        return _plain(np.where((gap >= 0.0) & (gap <= courses.months), gap, np.nan))


def next_usd_to_tie(courses: Courses) -> Amount:
    """Return what a month on the next part may cost for both courses to cost the same.

    Infinity where waiting costs no more whatever the next part does, below 0 where it costs more even for
    nothing, minus infinity where no month is left for the next part. `next_usd` of the courses has no part
    in it.
    """
    left = np.asarray(courses.months - courses.gap_months, dtype=np.float64)
    spent = np.asarray(courses.buy_usd * courses.months - gap_usd(courses))
    with np.errstate(divide="ignore", invalid="ignore"):
        month = np.where(left > 0.0, spent / left, -np.inf)
    return _plain(np.where(np.asarray(courses.buy_usd) >= courses.without_usd, np.inf, month))


def _plain(amount: NDArray[np.float64]) -> Amount:
    return float(amount) if amount.ndim == 0 else amount
