"""Pairs in the report: odds of leaders, how often they were right, and known ratios."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from accuracy_report.data import (
    NAMED_BAR,
    ODDS_CLASSES,
    ODDS_TOLERANCE,
    RIGHT_BAR,
    JudgedPair,
    estimate_clustered_error,
    find_known_ratios,
    judge_pairs,
    summarize_odds,
    summarize_pairs,
)
from accuracy_report.measures import judge_figures
from calibration.intervals import HeldOutPair
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.engine.calibration import IntervalFactors, compute_lead_odds
from tests.unit.calibration.records import RATE, make_held_out, make_run

SUMMARY = Path("data/accuracy/summary.json")
BAND = IntervalFactors(0.8, 1.25)


def judged_pair(measured: float, predicted: float, model: str = "llama-3.1-8b") -> JudgedPair:
    pair = HeldOutPair(
        make_run("a", model=model), make_run("b", model=model), RATE, math.log(measured), math.log(predicted)
    )
    return JudgedPair(pair, "series", BAND, compute_lead_odds(max(predicted, 1 / predicted), 0.1))


def test_a_leader_is_named_from_80_percent_odds() -> None:
    assert [judged_pair(1.0, ratio).names_leader for ratio in (1.3, 1.16, 1.14, 1.0, 0.88, 0.86)] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(("measured", "right"), [(1.5, 1.0), (1.01, 0.5), (0.98, 0.5), (0.9, 0.0), (0.5, 0.0)])
def test_a_leader_is_right_if_it_was_measured_ahead_and_half_right_if_level(measured: float, right: float) -> None:
    assert judged_pair(measured, 1.5).right == right
    assert judged_pair(1 / measured, 1 / 1.5).right == right


def test_pairs_are_summed_up_by_who_is_named_and_what_bands_hold() -> None:
    record = summarize_pairs([judged_pair(1.1, 1.0), judged_pair(2.0, 1.0), judged_pair(1.6, 1.5)])
    assert (record.pairs, record.named, record.named_right) == (3, 1, 1.0)
    assert record.coverage == pytest.approx(2 / 3)


def test_odds_are_held_against_how_often_they_were_right() -> None:
    pairs = [judged_pair(measured, 1.2) for measured in (1.3, 1.1, 0.8, 1.0)] + [judged_pair(0.5, 1e9)]
    records = summarize_odds(pairs, ODDS_CLASSES)
    assert [(each.low, each.pairs, each.right) for each in records] == [(0.8, 4, 0.625), (0.95, 1, 0.0)]
    assert records[0].predicted == pytest.approx(compute_lead_odds(1.2, 0.1))
    assert records[1].predicted == 1.0


def test_odds_of_throughput_meet_their_bars() -> None:
    """The last report: publishers left out were as often right as their odds say."""
    summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
    around = [each for each in summary["odds"]["output_tokens_per_s"] if each["low"] in (0.55, 0.65, 0.75, 0.85)]
    assert len(around) == 4
    for each in around:
        assert each["right"] == pytest.approx(each["predicted"], abs=ODDS_TOLERANCE), each
    pairs = summary["pairs"]["series"]["output_tokens_per_s"]
    assert pairs["named"] / pairs["pairs"] >= NAMED_BAR
    assert pairs["named_right"] >= RIGHT_BAR


def test_the_error_of_a_ratio_is_relative() -> None:
    assert summarize_pairs([judged_pair(1.0, 1.25)]).median == pytest.approx(0.25)


def test_without_named_leaders_there_is_no_share_of_them() -> None:
    assert summarize_pairs([judged_pair(1.0, 1.0)]).named_right is None


def test_band_and_odds_of_a_pair_have_not_seen_its_publisher() -> None:
    runs = [
        each
        for series in ("calm 1", "calm 2", "wild")
        for place in range(12)
        for each in (
            make_run(f"a {series} {place}", series=series, model=f"m{place}"),
            make_run(f"b {series} {place}", series=series, model=f"m{place}", accelerator="mi300x"),
        )
    ]
    accelerators = judge_pairs(make_held_out(runs, [1.0, 1.1] * 24 + [1.0, 3.0] * 12), runs).accelerators
    by_series = {each.pair.first.traits["series"]: each for each in accelerators}
    assert not by_series["wild"].inside
    assert by_series["wild"].band.high < 1.3
    assert by_series["wild"].odds > by_series["calm 1"].odds


def test_a_known_ratio_is_of_the_best_submissions_per_accelerator() -> None:
    offline = Load(LoadKind.SATURATE, requests=100)
    mlperf = {"source": "mlperf-inference-v5-1", "model": "llama-2-70b"}
    runs = [
        make_run("amd", {RATE: 800.0}, count=8, load=offline, accelerator="mi300x", series="amd", **mlperf),
        make_run("slow", {RATE: 700.0}, count=8, load=offline, accelerator="h200-sxm", series="nv", **mlperf),
        make_run("best", {RATE: 125.0}, count=1, load=offline, accelerator="h200-sxm", series="nv", **mlperf),
        *(make_run(f"{place}", series=f"s{place % 3}") for place in range(30)),
    ]
    rows = judge_figures(make_held_out(runs, [0.9, 1.0, 1.2, *([1.0] * 30)]), runs)
    (ratio,) = find_known_ratios(rows)
    assert ratio.measured == pytest.approx(0.8)
    assert ratio.predicted == pytest.approx(0.8 * 0.9 / 1.2)


def test_values_of_one_cluster_count_as_few_draws() -> None:
    """Two publishers that always agree with themselves are two draws, however many pairs they have."""
    alike = np.repeat([0.1, -0.1], 50)
    equal = np.ones(100)
    assert estimate_clustered_error(alike, equal, ["a"] * 50 + ["b"] * 50) == pytest.approx(0.1)
    apart = [str(place) for place in range(100)]
    assert estimate_clustered_error(alike, equal, apart) == pytest.approx(0.1 / math.sqrt(99))
    assert estimate_clustered_error(alike, equal, ["a"] * 100) is None


def test_loads_of_one_question_count_as_the_root_of_their_number() -> None:
    """Nine loads of one model on two accelerators are three draws, not nine."""
    loads = [judged_pair(0.5, 1.2)] * 9
    other = judged_pair(1.5, 1.2, model="mixtral-8x7b")
    (record,) = summarize_odds([*loads, other], ((0.8, 0.9),))
    assert record.pairs == 10
    assert record.right == pytest.approx(0.25)
