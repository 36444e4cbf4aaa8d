"""Dates of release as the catalog has them, counted in months."""

import pytest

from gpudesk.domain.ranges import Range
from gpudesk.workbench.deciding.release_dates import months_until, span_of, year_after


@pytest.mark.parametrize(
    ("date", "first", "last"),
    [
        ("2026", 0, 12),
        ("2026-H2", 6, 12),
        ("2026-Q3", 6, 9),
        ("2026-07", 6, 7),
        ("2026-07-01", 6, 6),
    ],
)
def test_a_date_spans_what_it_names(date: str, first: float, last: float) -> None:
    assert span_of(date) == (2026 * 12 + first, 2026 * 12 + last)


@pytest.mark.parametrize("date", ["late 2025", "", "2026-Q5", "soon", "2026-7"])
def test_what_is_no_date_spans_nothing(date: str) -> None:
    assert span_of(date) is None
    assert months_until(date, "2026-01-01") is None


def test_months_are_counted_from_today_and_never_back() -> None:
    assert months_until("2026-H2", "2026-01-01") == Range(6.0, 9.0, 12.0)
    assert months_until("2026-H2", "2026-10-01") == Range(0.0, 1.5, 3.0)
    assert months_until("2025-06-12", "2026-10-01") == Range(0.0, 0.0, 0.0)


def test_the_year_of_a_launch() -> None:
    assert year_after("2026-11-21", 0.0) == 2026
    assert year_after("2026-11-21", 2.0) == 2027
    assert year_after("someday", 2.0) is None
