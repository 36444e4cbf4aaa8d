"""Dates of release as the catalog has them, which may be a day, a month, a quarter, a half or a year."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.domain.ranges import Range
from gpudesk.domain.units import MONTHS_PER_YEAR

_DATE: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?:(?P<month>\d\d)(?:-(?P<day>\d\d))?|Q(?P<quarter>[1-4])|H(?P<half>[12])))?"
)
_DAYS_PER_MONTH: Final = 365.0 / MONTHS_PER_YEAR


def span_of(date: str) -> tuple[float, float] | None:
    """Return the first and the last moment of a date, in months of the calendar; None where it is none."""
    found = _DATE.fullmatch(date.strip())
    if found is None:
        return None
    first = int(found["year"]) * MONTHS_PER_YEAR
    if found["day"]:
        moment = first + int(found["month"]) - 1 + (int(found["day"]) - 1) / _DAYS_PER_MONTH
        return moment, moment
    if found["month"]:
        return first + int(found["month"]) - 1, first + int(found["month"])
    if found["quarter"]:
        return first + 3 * (int(found["quarter"]) - 1), first + 3 * int(found["quarter"])
    if found["half"]:
        return first + 6 * (int(found["half"]) - 1), first + 6 * int(found["half"])
    return first, first + MONTHS_PER_YEAR


def months_until(date: str, today: str) -> Range | None:
    """Return how many months after `today` a date lies, its middle most likely; nothing before today.

    None where one of both cannot be read.
    """
    span, now = span_of(date), span_of(today)
    if span is None or now is None:
        return None
    first, last = (max(0.0, moment - now[0]) for moment in span)
    return Range(first, (first + last) / 2.0, last)


def year_after(today: str, months: float) -> int | None:
    """Return the year that lies so many months after `today`; None where that cannot be read."""
    now = span_of(today)
    return None if now is None else int((now[0] + months) // MONTHS_PER_YEAR)
