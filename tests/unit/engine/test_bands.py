"""Bands: what an estimate rests on, and how wide that makes it."""

import math
from dataclasses import replace

import pytest

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.engine.calibration import (
    Calibration,
    IntervalFactors,
    IntervalRule,
    LeadScaleKey,
    PairRelation,
    compute_lead_odds,
    find_basis,
    find_interval,
    find_lead_scale,
    find_plan_interval,
    make_ratio_interval,
    relate_accelerators,
)
from gpudesk.text.formatting import IntervalEstimate

CALIBRATION = Calibration(
    "c",
    "r",
    "2026-08",
    {},
    (
        IntervalRule("throughput", "calibrated", 0.8, 1.25),
        IntervalRule("throughput", "estimated", 0.5, 2.0),
        IntervalRule("ttft", "calibrated", 0.4, 3.0),
    ),
    (IntervalRule("throughput", "calibrated", 0.9, 1.1),),
    {("hopper", "vllm"): 10, ("cdna3", "sglang"): 0},
    {
        LeadScaleKey("throughput", "calibrated", "vendors"): 0.1,
        LeadScaleKey("throughput", "estimated", "vendors"): 0.3,
        LeadScaleKey("throughput", "uncalibrated", "vendors"): 0.4,
        LeadScaleKey("tpot", "calibrated", "generations"): 0.1,
        LeadScaleKey("tpot", "estimated", "generations"): 0.2,
        LeadScaleKey("tpot", "calibrated", "vendors"): 0.3,
    },
)


@pytest.mark.parametrize(
    ("generation", "family", "expected"),
    [
        ("hopper", "vllm", EstimateBasis.CALIBRATED),
        ("hopper", "tgi", EstimateBasis.ESTIMATED),
        ("ada", "vllm", EstimateBasis.ESTIMATED),
        ("ada", "tgi", EstimateBasis.UNCALIBRATED),
        # Without rows there is no basis.
        ("cdna3", "sglang", EstimateBasis.UNCALIBRATED),
    ],
)
def test_basis_follows_from_the_rows(generation: str, family: str, expected: EstimateBasis) -> None:
    assert find_basis(CALIBRATION, generation, family) is expected


def test_the_band_is_that_of_figure_and_basis() -> None:
    assert find_interval(CALIBRATION, "throughput", EstimateBasis.ESTIMATED) == IntervalFactors(0.5, 2.0)
    assert find_interval(CALIBRATION, "ttft", EstimateBasis.CALIBRATED).around(10.0) == IntervalEstimate(
        10.0, 4.0, 30.0
    )
    with pytest.raises(KeyError, match="ttft/estimated"):
        find_interval(CALIBRATION, "ttft", EstimateBasis.ESTIMATED)


@pytest.mark.parametrize(
    ("first", "second", "scale"),
    [
        (EstimateBasis.CALIBRATED, EstimateBasis.CALIBRATED, 0.1),
        (EstimateBasis.CALIBRATED, EstimateBasis.ESTIMATED, 0.3),
        (EstimateBasis.UNCALIBRATED, EstimateBasis.CALIBRATED, 0.4),
    ],
)
def test_a_pair_is_as_sure_as_its_weaker_part(first: EstimateBasis, second: EstimateBasis, scale: float) -> None:
    assert find_lead_scale(CALIBRATION, "throughput", first, second) == scale


def test_two_plans_have_a_band_of_their_own() -> None:
    assert find_plan_interval(CALIBRATION, "throughput", EstimateBasis.CALIBRATED) == IntervalFactors(0.9, 1.1)


@pytest.mark.parametrize(("ratio", "holds_one"), [(1.0, True), (1.38, True), (1.40, False), (0.71, False)])
def test_the_interval_of_a_ratio_leaves_out_one_above_90_percent_odds(ratio: float, holds_one: bool) -> None:
    interval = make_ratio_interval(ratio, 0.15)
    odds = compute_lead_odds(ratio, 0.15)
    assert (interval.low <= 1 <= interval.high) is holds_one
    assert (max(odds, 1 - odds) <= 0.9) is holds_one


def test_the_rule_that_names_most_holds() -> None:
    wide = IntervalRule("tpot", "calibrated", 0.5, 2.0)
    narrow = IntervalRule("tpot", "calibrated", 0.8, 1.2, {"load": frozenset({"batch"})})
    calibration = replace(CALIBRATION, bands=(wide, narrow))
    assert find_interval(calibration, "tpot", EstimateBasis.CALIBRATED, {"load": "batch"}).low == 0.8
    assert find_interval(calibration, "tpot", EstimateBasis.CALIBRATED, {"load": "limits"}).low == 0.5
    assert find_interval(calibration, "tpot", EstimateBasis.CALIBRATED).low == 0.5


def test_software_that_nobody_measured_yet_is_less_sure() -> None:
    now = IntervalFactors(0.8, 1.25)
    assert now.widen_by_years(0.0) == now
    assert now.widen_by_years(2.0).low == pytest.approx(0.8**1.5)
    assert now.widen_by_years(2.0).high == pytest.approx(1.25**1.5)


# Odds


@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.9, 1.0, 1.1, 3.0, 1e6])
def test_the_odds_of_both_add_up_to_one(ratio: float) -> None:
    assert compute_lead_odds(ratio, 0.15) + compute_lead_odds(1.0 / ratio, 0.15) == pytest.approx(1.0, abs=1e-12)
    assert compute_lead_odds(ratio, 0.15) == pytest.approx(1.0 / (1.0 + ratio ** (-1 / 0.15)))


def test_odds_grow_with_the_ratio_from_even_ones() -> None:
    ratios = [0.5, 0.8, 1.0, 1.05, 1.2, 2.0]
    odds = [compute_lead_odds(ratio, 0.15) for ratio in ratios]
    assert odds == sorted(set(odds))
    assert odds[ratios.index(1.0)] == 0.5
    assert compute_lead_odds(1.2, 0.1) > compute_lead_odds(1.2, 0.2)


def test_the_weaker_basis_and_the_relation_decide_the_scale() -> None:
    calibrated, estimated = EstimateBasis.CALIBRATED, EstimateBasis.ESTIMATED
    generations = PairRelation.GENERATIONS
    assert find_lead_scale(CALIBRATION, "tpot", calibrated, calibrated, generations) == 0.1
    assert find_lead_scale(CALIBRATION, "tpot", calibrated, estimated, generations) == 0.2
    assert find_lead_scale(CALIBRATION, "tpot", calibrated, calibrated) == 0.3
    with pytest.raises(KeyError):
        find_lead_scale(CALIBRATION, "tpot", calibrated, estimated)


def test_errors_of_latency_ratios_grow_with_the_ratio_and_those_of_throughput_do_not() -> None:
    basis, generations = EstimateBasis.CALIBRATED, PairRelation.GENERATIONS
    level, apart = (find_lead_scale(CALIBRATION, "tpot", basis, basis, generations, lead) for lead in (0.0, -0.3))
    assert level == 0.1
    assert apart == pytest.approx(0.2)
    assert find_lead_scale(CALIBRATION, "throughput", basis, basis, log_ratio=2.0) == 0.1
    leads = [0.01, 0.1, 0.3, 1.0, 3.0]
    scales = [find_lead_scale(CALIBRATION, "tpot", basis, basis, generations, lead) for lead in leads]
    odds = [compute_lead_odds(math.exp(lead), scale) for lead, scale in zip(leads, scales, strict=True)]
    assert odds == sorted(set(odds))


def test_accelerators_are_related_by_what_they_differ_in() -> None:
    h100, h200, b200, mi300x = (
        Accelerator(name, name, vendor, generation, False, "", 1, 1.0)
        for name, vendor, generation in (
            ("h100", "NVIDIA", "hopper"),
            ("h200", "NVIDIA", "hopper"),
            ("b200", "NVIDIA", "blackwell"),
            ("mi300x", "AMD", "cdna3"),
        )
    )
    relations = [relate_accelerators(h100, other) for other in (h100, h200, b200, mi300x)]
    assert relations == [PairRelation.PLANS, PairRelation.ACCELERATORS, PairRelation.GENERATIONS, PairRelation.VENDORS]
