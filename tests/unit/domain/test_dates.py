"""Dates of prices and releases as the catalog has them, counted in months."""

import pytest

from gpudesk.decision.purchasing.deferral import compute_year_after
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.dates import count_months_until, count_years_since, parse_date_span


@pytest.mark.parametrize(
    ("date", "first", "last"),
    [("2026", 0, 12), ("2026-H2", 6, 12), ("2026-Q3", 6, 9), ("2026-07", 6, 7), ("2026-07-01", 6, 6)],
)
def test_date_spans_its_month_quarter_half_or_year(date: str, first: float, last: float) -> None:
    assert parse_date_span(date) == (2026 * 12 + first, 2026 * 12 + last)


@pytest.mark.parametrize("date", ["late 2025", "", "2026-Q5", "soon", "2026-7"])
def test_invalid_date_spans_nothing(date: str) -> None:
    assert parse_date_span(date) is None
    assert count_months_until(date, "2026-01-01") is None


def test_months_are_counted_from_today_and_never_back() -> None:
    assert count_months_until("2026-H2", "2026-01-01") == UncertainValue(6.0, 9.0, 12.0)
    assert count_months_until("2026-H2", "2026-10-01") == UncertainValue(0.0, 1.5, 3.0)
    assert count_months_until("2025-06-12", "2026-10-01") == UncertainValue(0.0, 0.0, 0.0)


def test_the_year_of_a_launch() -> None:
    assert compute_year_after("2026-11-21", 0.0) == 2026
    assert compute_year_after("2026-11-21", 2.0) == 2027
    assert compute_year_after("someday", 2.0) is None


def test_ages_count_from_the_middle_of_a_date_and_never_back() -> None:
    assert count_years_since("2024", "2026-07-01") == 2.0
    assert count_years_since("2024-H1", "2026-04-01") == 2.0
    assert count_years_since("2026-12-24", "2026-07-01") == 0.0
    assert count_years_since("someday", "2026-07-01") == 0.0
