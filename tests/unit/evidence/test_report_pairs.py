"""Pairs in the report: winners that are named, "no winner", and known ratios."""

from __future__ import annotations

import math

import pytest

from gpudesk.domain.workload import Load, LoadKind
from gpudesk.engine.calibration import IntervalFactors
from gpudesk.evidence.accuracy.data import JudgedPair, find_known_ratios, judge_pairs, summarize_pairs
from gpudesk.evidence.accuracy.measures import judge_figures
from gpudesk.evidence.fitting.intervals import HeldOutPair
from tests.unit.evidence.records import RATE, held_out, run

BAND = IntervalFactors(0.8, 1.25)


def judged_pair(measured: float, predicted: float) -> JudgedPair:
    pair = HeldOutPair(run("a"), run("b"), RATE, math.log(measured), math.log(predicted))
    return JudgedPair(pair, "series", BAND)


def test_a_winner_is_named_where_the_band_leaves_out_one() -> None:
    assert [judged_pair(1.0, ratio).winner for ratio in (1.3, 1.2, 0.85, 0.7)] == [1, 0, 0, -1]


@pytest.mark.parametrize(("measured", "right"), [(1.5, True), (1.01, True), (0.98, True), (0.9, False), (0.5, False)])
def test_a_named_winner_is_right_if_it_was_measured_ahead_or_level(measured: float, right: bool) -> None:
    assert judged_pair(measured, 1.5).named_right is right


def test_no_winner_is_right_where_the_band_holds_the_measured_ratio() -> None:
    record = summarize_pairs([judged_pair(1.1, 1.0), judged_pair(2.0, 1.0), judged_pair(1.6, 1.5)])
    assert (record.pairs, record.named, record.open) == (3, 1, 2)
    assert record.named_right == 1.0
    assert record.open_right == 0.5
    assert record.coverage == pytest.approx(2 / 3)


def test_the_error_of_a_ratio_is_relative() -> None:
    assert summarize_pairs([judged_pair(1.0, 1.25)]).median == pytest.approx(0.25)


def test_without_named_winners_there_is_no_share_of_them() -> None:
    assert summarize_pairs([judged_pair(1.0, 1.0)]).named_right is None


def test_the_band_of_a_pair_has_not_seen_its_publisher() -> None:
    runs = [
        each
        for series in ("calm 1", "calm 2", "wild")
        for place in range(12)
        for each in (
            run(f"a {series} {place}", series=series, model=f"m{place}"),
            run(f"b {series} {place}", series=series, model=f"m{place}", accelerator="mi300x"),
        )
    ]
    found = judge_pairs(held_out(runs, [1.0, 1.1] * 24 + [1.0, 3.0] * 12), runs).accelerators
    by_series = {each.pair.first.traits["series"]: each for each in found}
    assert not by_series["wild"].inside
    assert by_series["wild"].band.high < 1.2


def test_a_known_ratio_is_of_the_best_submissions_per_accelerator() -> None:
    offline = Load(LoadKind.SATURATE, requests=100)
    mlperf = {"source": "mlperf-inference-v5-1", "model": "llama-2-70b"}
    runs = [
        run("amd", {RATE: 800.0}, count=8, load=offline, accelerator="mi300x", series="amd", **mlperf),
        run("slow", {RATE: 700.0}, count=8, load=offline, accelerator="h200-sxm", series="nv", **mlperf),
        run("best", {RATE: 125.0}, count=1, load=offline, accelerator="h200-sxm", series="nv", **mlperf),
        *(run(f"{place}", series=f"s{place % 3}") for place in range(30)),
    ]
    rows = judge_figures(held_out(runs, [0.9, 1.0, 1.2, *([1.0] * 30)]), runs)
    (found,) = find_known_ratios(rows)
    assert found.measured == pytest.approx(0.8)
    assert found.predicted == pytest.approx(0.8 * 0.9 / 1.2)
