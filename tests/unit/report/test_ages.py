"""How old figures are: dates of a month or a year count from their end."""

import pytest

from gpudesk.report.labels import count_days_since, find_end_of_date, format_age, is_stale_date

TODAY = "2026-11-20"


@pytest.mark.parametrize(
    ("date", "days"),
    [
        ("2026-11-20", 0),
        ("2026-11-10", 10),
        ("2026-10", 20),
        ("2026-11", 0),
        ("2026", 0),
        ("2025", 324),
        ("2026-12-24", 0),
        (None, None),
        ("", None),
        ("soon", None),
        ("2026-13", None),
        ("2026-02-30", None),
        ("2026-01-01-01", None),
    ],
)
def test_ages_count_from_the_end_of_a_date(date: str | None, days: int | None) -> None:
    assert count_days_since(date, TODAY) == days


def test_the_end_of_february() -> None:
    assert str(find_end_of_date("2024-02")) == "2024-02-29"
    assert str(find_end_of_date("2024-Q2")) == "2024-06-30"
    assert str(find_end_of_date("2026-H2")) == "2026-12-31"


def test_stale_is_older_than_the_rule_and_never_the_undated() -> None:
    assert is_stale_date("2026-08-21", TODAY, 90)
    assert not is_stale_date("2026-08-22", TODAY, 90)
    assert not is_stale_date(None, TODAY, 0)


def test_ages_are_written_in_the_unit_that_fits() -> None:
    texts = [format_age(days) for days in (0, 1, 59, 91, 400, 800, None)]
    assert texts == ["0 days", "1 day", "59 days", "3 months", "13 months", "2 years", "—"]
