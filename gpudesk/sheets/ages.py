"""How old a figure is, and from when on it counts as stale.

Dates of a year or a month alone count from their end: nothing is called older than it may be.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import Final

from gpudesk.domain.formatting import UNKNOWN
from gpudesk.text import trn

_MONTH: Final = 30.44
_YEAR: Final = 365.25


def end_of(stated: str | None) -> date | None:
    """Return the last day of a year, a month or a day in ISO form; None for anything else."""
    parts = (stated or "").split("-")
    try:
        numbers = [int(part) for part in parts]
        if len(numbers) == 1:
            return date(numbers[0], 12, 31)
        if len(numbers) == 2:
            year, month = numbers
            return date(year, month, monthrange(year, month)[1])
        year, month, day = numbers
        return date(year, month, day)
    except ValueError:
        return None


def age_days(stated: str | None, today: str) -> int | None:
    """Return how many days ago a date ended, 0 where it has not ended yet; None where it is not known."""
    ended, now = end_of(stated), end_of(today)
    return None if ended is None or now is None else max(0, (now - ended).days)


def stale(stated: str | None, today: str, days: int) -> bool:
    """Return whether a date ended more than so many days ago; one that is not known is not stale."""
    age = age_days(stated, today)
    return age is not None and age > days


def age_text(days: int | None) -> str:
    """Return an age in days, months or years."""
    if days is None:
        return UNKNOWN
    if days < 60:
        return trn("{n} day", "{n} days", days)
    if days < 730:
        return trn("{n} month", "{n} months", round(days / _MONTH))
    return trn("{n} year", "{n} years", int(days / _YEAR))
