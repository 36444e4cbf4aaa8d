"""Runs as arrays: of several plans the one is taken that the program would take."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.bench import BenchArrays, BenchRun
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from tests.unit.calibration.synthetic_runs import NODE, PARTS, make_bench, make_candidate, make_parameters, make_traits
from tests.unit.engine import published


def make_run(load: Load, degrees: tuple[int, ...]) -> BenchRun:
    part, work = PARTS[0], Workload(1000, 1000, load)
    return BenchRun(
        "R",
        published.llama_3_1_70b(),
        work,
        {"output_tokens_per_s": 1.0},
        make_traits(part, Precision.FP8, 1, 0),
        tuple(make_candidate(part, published.llama_3_1_70b(), Precision.FP8, tp, 2000) for tp in degrees),
    )


def find_winner(run: BenchRun) -> int:
    winner = int(BenchArrays([run], make_parameters(), NODE).predict(make_parameters().initial).winners[0])
    return run.candidates[winner].deployment.plan.tp


@pytest.mark.parametrize("degrees", [(2, 4, 8), (8, 4, 2)])
def test_the_plan_of_the_highest_rate_is_taken(degrees: tuple[int, ...]) -> None:
    assert find_winner(make_run(Load(LoadKind.BATCH, batch=8), degrees)) == 8


@pytest.mark.parametrize("degrees", [(2, 4, 8), (8, 4, 2)])
def test_at_a_rate_that_all_plans_keep_up_with_the_pace_decides(degrees: tuple[int, ...]) -> None:
    assert find_winner(make_run(Load(LoadKind.REQUEST_RATE, request_rate=0.01), degrees)) == 8


@pytest.mark.parametrize("degrees", [(2, 4, 8), (8, 4, 2)])
def test_nearest_plan_is_chosen_if_none_meets_the_limits(degrees: tuple[int, ...]) -> None:
    limits = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=0.1)
    run = make_run(limits, degrees)
    assert find_winner(run) == 8
    loose = replace(run, workload=replace(run.workload, load=replace(limits, tpot_ms=1000.0)))
    assert find_winner(loose) == 8


@pytest.mark.parametrize(("requests", "is_below"), [(640, True), (80, False)])
def test_a_median_ttft_leaves_out_the_first_wave_unless_that_is_half_the_run(requests: int, is_below: bool) -> None:
    mean = make_run(Load(LoadKind.CONCURRENCY, concurrency=64, requests=requests), (8,))
    runs = [mean, replace(mean, has_median_ttft=True)]
    figures = BenchArrays(runs, make_parameters(), NODE).predict(make_parameters().initial).figures
    assert bool(figures["ttft_ms"][1] < 0.9 * figures["ttft_ms"][0]) == is_below
    assert figures["output_tokens_per_s"][1] == figures["output_tokens_per_s"][0]


def test_derivatives_taken_together_are_those_taken_one_by_one() -> None:
    bench = make_bench()
    values, factor = bench.parameters.initial, 1.001
    settled = bench.fixed(bench.predict(values).winners)
    places = [bench.parameters.starts[name] for name in ("gemm_efficiency", "tail_wave", "layer_time")]
    together = settled.nudged(values, places, factor)
    for column, place in enumerate(places):
        changed = values.copy()
        changed[place] *= factor
        for name, figure in settled.figures(changed).items():
            assert together[name][column] == pytest.approx(figure, rel=1e-12, nan_ok=True)
    assert np.any(together["tpot_ms"][2] != settled.figures(values)["tpot_ms"])
