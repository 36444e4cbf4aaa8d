"""Sentences on what is behind a slice that misses a bar: they say what the rows show."""

from __future__ import annotations

from collections.abc import Sequence

from accuracy_report.measures import FigureView, JudgedFigure, find_misses, measure_errors
from accuracy_report.misses import explain_miss, find_cluster, suggest_data_briefly
from accuracy_report.wording import ReportNames
from calibration.bench import BenchRun
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.engine.calibration import IntervalFactors
from tests.unit.calibration.records import RATE, make_run

NAMES = ReportNames(accelerators={"mi300x": "Instinct MI300X"})


def make_rows(runs: Sequence[BenchRun], ratios: Sequence[float], reach: float = 1.3) -> list[JudgedFigure]:
    band = IntervalFactors(1 / reach, reach)
    return [
        JudgedFigure(each, RATE, "series", each.traits["series"], 100.0, 100.0 * ratio, EstimateBasis.CALIBRATED, band)
        for each, ratio in zip(runs, ratios, strict=True)
    ]


def describe(figures: Sequence[JudgedFigure]) -> str:
    return explain_miss(
        figures, FigureView.THROUGHPUT, find_misses(measure_errors(figures), FigureView.THROUGHPUT), figures, NAMES
    )


GOOD = [make_run(f"good {place}", series=f"s{place % 5}") for place in range(80)]


def test_the_group_that_misses_is_named_with_its_direction() -> None:
    bad = [make_run(f"bad {place}", series="odd", accelerator="mi300x") for place in range(20)]
    text = describe(make_rows(GOOD + bad, [1.0] * 80 + [2.0] * 20))
    assert "20 of 100 figures miss by more than 35%." in text
    assert "All of them are in one group:" in text
    assert "odd" in text
    assert "These are predicted too high: the median of predicted / measured is ×2.00." in text


def test_misses_of_one_publisher_suggest_a_second() -> None:
    bad = [make_run(f"bad {place}", series="odd", accelerator="mi300x") for place in range(20)]
    figures = make_rows(GOOD + bad, [1.0] * 80 + [0.5] * 20)
    assert "predicted too low" in describe(figures)
    assert "a second publisher would separate the habits of odd" in describe(figures)
    assert suggest_data_briefly(figures[80:], figures) == "a second publisher"


def test_plans_that_are_left_open_are_asked_for() -> None:
    bad = [make_run(f"bad {place}", series="odd", tp="not stated") for place in range(20)]
    figures = make_rows(GOOD + bad, [1.0] * 80 + [0.5] * 20)
    assert "All figures lack a published plan" in describe(figures)


def test_report_counts_misses_above_and_below() -> None:
    bad = [make_run(f"bad {place}", series="odd") for place in range(20)]
    text = describe(make_rows(GOOD + bad, [1.0] * 80 + [0.5, 2.0] * 10))
    assert "50% of these are predicted too high, the others too low." in text


def test_misses_without_a_common_group_are_reported_as_spread() -> None:
    runs = [
        make_run(
            f"{place}",
            series=f"s{place % 10}",
            accelerator=f"part {place % 7}",
            model=f"m{place % 11}",
            weights=f"w{place % 13}",
            version=f"v{place % 17}",
        )
        for place in range(90)
    ]
    text = describe(make_rows(runs, [2.0 if place % 3 == 0 else 1.0 for place in range(90)]))
    assert "spread over" in text


def test_a_band_that_is_too_wide_is_not_called_an_error() -> None:
    text = describe(make_rows(GOOD, [1.01] * 80))
    assert text.startswith("The interval is wider than needed")


def test_the_hottest_group_holds_more_than_its_share() -> None:
    bad = [make_run(f"bad {place}", series="odd", accelerator="mi300x", weights="bf16") for place in range(20)]
    figures = make_rows(GOOD + bad, [1.0] * 80 + [3.0] * 20)
    hot = find_cluster(figures, figures[80:])
    assert len(hot.rows) == len(hot.missing) == 20
