"""What waiting costs and gains by how late the next part is, everything else as it most likely is."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from gpudesk.domain.buying import BuyOrWait
from gpudesk.domain.units import MONTHS_PER_YEAR
from gpudesk.economics.owning import Amount
from gpudesk.economics.waiting import Courses, cost_of_waiting_usd, gain_usd, gap_months

#: Slips are shown at least as far as this, and a little beyond the last one that matters, in months.
_LEAST: Final = 12.0
_BEYOND: Final = 1.25
_STEPS_PER_MONTH: Final = 4


class SlipPoint(NamedTuple):
    """What the months before the next part cost more, and what those after it cost less, by its slip."""

    slip_months: float
    waiting_usd: float
    gain_usd: float


def slip_curve(found: BuyOrWait) -> tuple[SlipPoint, ...]:
    """Return both amounts from no slip on; nothing where one of them is not known."""
    monthly, planned = found.monthly, found.months_to_next
    buy, following, without = monthly.buy_usd, monthly.next_usd, monthly.without_usd
    if planned is None or buy is None or following is None or without is None:
        return ()
    months = found.years * MONTHS_PER_YEAR
    return tuple(
        _point(
            slip,
            Courses(
                buy.likely,
                following.likely,
                without.likely,
                gap_months(found.months_to_launch, planned.likely + slip, months),
                months,
            ),
        )
        for slip in _slips(found, months)
    )


def _slips(found: BuyOrWait, months: float) -> list[float]:
    """Return the slips that are shown: beyond where the verdict turns, and all that are possible."""
    last = max(found.slip_months.high, found.turns.slip_months or 0.0)
    most = math.ceil(min(max(_LEAST, last * _BEYOND), max(_LEAST, months)))
    return [step / _STEPS_PER_MONTH for step in range(most * _STEPS_PER_MONTH + 1)]


def _point(slip: float, courses: Courses) -> SlipPoint:
    return SlipPoint(slip, _number(cost_of_waiting_usd(courses)), _number(gain_usd(courses)))


def _number(amount: Amount) -> float:
    return float(amount)
