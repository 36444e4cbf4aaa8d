"""Pairs of accelerators under one question, and the bands of their ratios."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from calibration.bench import BenchRun
from calibration.intervals import collect_pairs, collect_plan_pairs, fit_lead_scales, fit_plan_rules
from gpudesk.domain.estimate import EstimateBasis, Load, LoadKind
from gpudesk.engine.calibration import (
    Calibration,
    LeadScaleKey,
    PairRelation,
    compute_error_growth,
    compute_lead_odds,
    find_lead_scale,
    find_plan_interval,
    make_ratio_interval,
)
from gpudesk.estimation.published_runs import HeldOutFigure
from tests.unit.calibration.records import RATE, TPOT, make_held_out, make_run


def amd(
    name: str, figures: Mapping[str, float] | None = None, model: str = "llama-3.1-8b", series: str = "one"
) -> BenchRun:
    return make_run(name, figures, accelerator="mi300x", generation="cdna3", vendor="AMD", model=model, series=series)


def test_a_pair_shares_everything_but_the_accelerator() -> None:
    runs = [make_run("a"), amd("b"), amd("other model", model="llama-3.1-70b")]
    pairs = collect_pairs(make_held_out(runs, [1.0, 1.5, 1.0]), runs, RATE, "series")
    assert [(each.first.id, each.second.id) for each in pairs] == [("a", "b")]
    assert pairs[0].residual == pytest.approx(math.log(1.5))


def test_runs_of_two_publishers_are_no_pair() -> None:
    runs = [make_run("a"), amd("b", series="two")]
    assert collect_pairs(make_held_out(runs, [1.0, 1.0]), runs, RATE, "series") == ()


def test_several_runs_of_one_accelerator_count_by_their_median() -> None:
    runs = [make_run("a"), *(amd(f"b{place}", {RATE: 200.0}) for place in range(3))]
    pairs = collect_pairs(make_held_out(runs, [1.0, 1.0, 1.0, 9.0]), runs, RATE, "series")
    assert len(pairs) == 1
    assert pairs[0].measured == pytest.approx(math.log(0.5))
    assert pairs[0].residual == pytest.approx(0.0)


def test_a_fold_counts_only_pairs_that_cross_what_it_leaves_out() -> None:
    runs = [make_run("a"), make_run("b", accelerator="h100-sxm"), amd("c")]
    pairs = collect_pairs(make_held_out(runs, [1.0, 1.0, 1.0], ("vendor",)), runs, RATE, "vendor")
    assert {each.second.traits["vendor"] for each in pairs} == {"AMD"}
    assert len(pairs) == 2


def test_a_latency_at_latency_limits_is_in_no_pair() -> None:
    """Each system runs at the rate that fills the limits, so the two do not carry the same load."""
    load = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0)
    figures = {TPOT: 40.0, RATE: 100.0}
    runs = [make_run(name, figures, load=load, accelerator=name) for name in ("h200-sxm", "mi300x")]
    assert collect_pairs(make_held_out(runs, [1.0, 1.1], figure=TPOT), runs, TPOT, "series") == ()
    assert len(collect_pairs(make_held_out(runs, [1.0, 1.1]), runs, RATE, "series")) == 1


def test_accelerators_of_a_pair_differ_in_number_for_latencies_alone() -> None:
    figures = {TPOT: 40.0, RATE: 100.0}
    runs = [make_run("a", figures), make_run("other count", figures, count=4)]
    runs.append(make_run("b", figures, count=2, accelerator="mi300x"))
    pairs = collect_pairs(make_held_out(runs, [1.0, 1.0, 1.1], figure=TPOT), runs, TPOT, "series")
    assert [{each.first.id, each.second.id} for each in pairs] == [{"a", "b"}, {"other count", "b"}]
    assert collect_pairs(make_held_out(runs, [1.0, 1.0, 1.1]), runs, RATE, "series") == ()


def _many(ratio: float, folds: tuple[str, ...]) -> tuple[list[BenchRun], list[HeldOutFigure]]:
    runs = [
        each
        for place in range(20)
        for each in (make_run(f"a{place}", model=f"m-{place}"), amd(f"b{place}", model=f"m-{place}"))
    ]
    return runs, make_held_out(runs, [1.0, ratio] * 20, folds)


def _find_scale(
    figures: Sequence[HeldOutFigure], runs: Sequence[BenchRun], basis: EstimateBasis = EstimateBasis.CALIBRATED
) -> float:
    calibration = Calibration("", "", "", {}, (), (), lead_scales=fit_lead_scales(figures, runs))
    return find_lead_scale(calibration, "throughput", EstimateBasis.CALIBRATED, basis)


def test_most_errors_lie_within_odds_of_four_to_one() -> None:
    runs, figures = _many(1.4, ("series",))
    scale = _find_scale(figures, runs)
    assert compute_lead_odds(1.4, scale) == pytest.approx(0.8)
    assert make_ratio_interval(1.0, scale).high == pytest.approx(9.0**scale)


def test_shared_errors_cancel_in_a_ratio() -> None:
    runs, _ = _many(1.0, ("series",))
    figures = make_held_out(runs, [1.8] * 40)
    assert make_ratio_interval(1.0, _find_scale(figures, runs)).high < 1.1


def test_a_weaker_basis_of_either_widens_the_interval() -> None:
    runs, figures = _many(1.4, ("series", "generation", "vendor"))
    bases = (EstimateBasis.CALIBRATED, EstimateBasis.ESTIMATED, EstimateBasis.UNCALIBRATED)
    scales = [_find_scale(figures, runs, basis) for basis in bases]
    assert scales == sorted(set(scales))


# Plans


def test_a_pair_of_plans_shares_everything_but_the_plan() -> None:
    runs = [
        make_run("a"),
        make_run("b", count=2),
        make_run("other version", count=4, version="vllm 0.9"),
        make_run("other weights", count=4, weights="bf16"),
        make_run("other part", count=4, accelerator="h100-sxm"),
        make_run("other publisher", count=4, series="two"),
    ]
    pairs = collect_plan_pairs(make_held_out(runs, [1.0, 1.5, 1.0, 1.0, 1.0, 1.0]), runs, RATE, "series")
    assert [(each.first.id, each.second.id) for each in pairs] == [("a", "b")]
    assert pairs[0].residual == pytest.approx(math.log(1.5))


def test_runs_whose_plan_is_not_stated_are_no_pair_of_plans() -> None:
    first, second = make_run("a"), make_run("b", count=2)
    second = replace(second, candidates=(*second.candidates, *make_run("c", count=4).candidates))
    runs = [first, second]
    assert collect_plan_pairs(make_held_out(runs, [1.0, 1.5]), runs, RATE, "series") == ()


def _with_plans(ratio: float, publishers: int) -> Calibration:
    """Return bands from parts that are missed by 1.6 and plans that are missed by `ratio`."""
    series = [f"s{place % publishers}" for place in range(40)]
    pairs_of = [
        (
            make_run(f"a{place}", model=f"m-{place}", series=name),
            make_run(f"b{place}", model=f"m-{place}", series=name, count=2),
            amd(f"c{place}", model=f"m-{place}", series=name),
        )
        for place, name in enumerate(series)
    ]
    runs = [each for group in pairs_of for each in group]
    figures = make_held_out(runs, [1.0, ratio, 1.6] * 40, ("series", "generation", "vendor"))
    return Calibration("", "", "", {}, (), fit_plan_rules(figures, runs))


def test_two_plans_have_a_band_of_their_own_the_more_so_the_more_publishers_show_it() -> None:
    widths = [
        find_plan_interval(_with_plans(1.1, publishers), "throughput", EstimateBasis.CALIBRATED).high
        for publishers in (1, 8, 40)
    ]
    assert widths[1] == pytest.approx(math.sqrt(1.1 * 1.6))
    assert 1.6 > widths[0] > widths[1] > widths[2] > 1.1
    weaker = [find_plan_interval(_with_plans(1.1, 8), "throughput", basis).high for basis in tuple(EstimateBasis)[1:]]
    assert weaker == sorted(weaker)


def test_two_plans_are_never_told_apart_less_well_than_two_parts() -> None:
    calibration = _with_plans(3.0, 40)
    assert find_plan_interval(calibration, "throughput", EstimateBasis.CALIBRATED).high == pytest.approx(1.6)


def test_without_pairs_of_plans_those_of_parts_stand_for_them() -> None:
    runs, figures = _many(1.4, ("series",))
    calibration = Calibration("", "", "", {}, (), fit_plan_rules(figures, runs))
    assert find_plan_interval(calibration, "throughput", EstimateBasis.CALIBRATED).high == pytest.approx(1.4)


# Scales of odds


def test_scales_grow_with_what_a_pair_differs_in_and_with_a_weaker_basis() -> None:
    runs, figures = _many(1.4, ("series", "generation", "vendor"))
    more = [
        each
        for place in range(20)
        for each in (
            make_run(f"c{place}", model=f"n-{place}"),
            make_run(f"d{place}", accelerator="h100-sxm", model=f"n-{place}"),
        )
    ]
    scales = fit_lead_scales([*figures, *make_held_out(more, [1.0, 1.2] * 20)], [*runs, *more])
    apart = [scales[LeadScaleKey("throughput", "calibrated", relation)] for relation in tuple(PairRelation)[1:]]
    assert apart == pytest.approx([math.log(ratio) / math.log(4) for ratio in (1.2, 1.2, 1.4)])
    weaker = [scales[LeadScaleKey("throughput", basis, "accelerators")] for basis in tuple(EstimateBasis)[1:]]
    assert weaker == sorted(set(weaker))


def test_the_growth_of_latency_errors_with_the_ratio_is_no_part_of_their_scale() -> None:
    measured = [1.0, 1.1, 1.3, 2.0, 4.0] * 4
    runs = [
        each
        for place, ratio in enumerate(measured)
        for each in (
            make_run(f"a{place}", {TPOT: 1.0}, model=f"m{place}"),
            amd(f"b{place}", {TPOT: ratio}, f"m{place}"),
        )
    ]
    errors = [0.2 * compute_error_growth("tpot", math.log(ratio)) for ratio in measured]
    # The prediction is what grows the error: measured = predicted x error.
    figures = [
        HeldOutFigure(each.id, TPOT, "series", value, predicted)
        for place, (ratio, error) in enumerate(zip(measured, errors, strict=True))
        for each, value, predicted in (
            (runs[2 * place], 1.0, 1.0),
            (runs[2 * place + 1], ratio * math.exp(error), ratio),
        )
    ]
    scales = fit_lead_scales(figures, runs)
    # 70% of logistic errors are below ln(1.7 / 0.3) scales.
    assert scales[LeadScaleKey("tpot", "calibrated", "vendors")] == pytest.approx(0.2 / math.log(17 / 3))
