"""Dates of prices and releases, in months: ISO days, months and years, quarters (2024-Q2) and halves (2026-H2)."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.domain.cost import UncertainValue
from gpudesk.text.units import MONTHS_PER_YEAR

_DATE: Final = re.compile(
    r"(?P<year>\d{4})(?:-(?:(?P<month>\d\d)(?:-(?P<day>\d\d))?|Q(?P<quarter>[1-4])|H(?P<half>[12])))?"
)
_DAYS_PER_MONTH: Final = 365.0 / MONTHS_PER_YEAR


def parse_date_span(date: str) -> tuple[float, float] | None:
    """Return the first and the last moment of a date, in calendar months; None if it is not a date."""
    match = _DATE.fullmatch(date.strip())
    if match is None:
        return None
    first = int(match["year"]) * MONTHS_PER_YEAR
    if match["day"]:
        moment = first + int(match["month"]) - 1 + (int(match["day"]) - 1) / _DAYS_PER_MONTH
        return moment, moment
    if match["month"]:
        return first + int(match["month"]) - 1, first + int(match["month"])
    if match["quarter"]:
        return first + 3 * (int(match["quarter"]) - 1), first + 3 * int(match["quarter"])
    if match["half"]:
        return first + 6 * (int(match["half"]) - 1), first + 6 * int(match["half"])
    return first, first + MONTHS_PER_YEAR


def count_months_until(date: str, today: str) -> UncertainValue | None:
    """Return the months from `today` to a date, most likely its middle; at least 0.

    None if either is unreadable.
    """
    span, now = parse_date_span(date), parse_date_span(today)
    if span is None or now is None:
        return None
    first, last = (max(0.0, moment - now[0]) for moment in span)
    return UncertainValue(first, (first + last) / 2.0, last)


def count_years_since(date: str, today: str) -> float:
    """Return the years from the middle of a date to `today`; 0 for a later or an unreadable date."""
    span, now = parse_date_span(date), parse_date_span(today)
    return 0.0 if span is None or now is None else max(0.0, now[0] - sum(span) / 2.0) / MONTHS_PER_YEAR
