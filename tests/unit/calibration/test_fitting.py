"""The fit: finds the constants behind made-up runs in spite of outliers, and the same each time."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.bench import BENCH_FIGURES, BenchArrays
from calibration.fit import CalibrationFit, _moved, fit_to_runs
from calibration.parameters import Array, ConstantPrior, ParameterVector
from gpudesk.domain.estimate import Load, LoadKind
from tests.unit.calibration.synthetic_runs import MOVED, NODE, make_bench, make_measured, make_parameters, make_truth

#: What is looked at: what runs at large batches depend on most. Latencies are told less well.
TOLD_WELL = ("weight_read_efficiency", "kv_read_efficiency", "gemm_efficiency")


def find_positions(bench: BenchArrays, *names: str) -> list[int]:
    behind = bench.rows_behind()
    return [place for place in np.flatnonzero(behind).tolist() if bench.parameters.name(place).split(" ")[0] in names]


def measure_miss(bench: BenchArrays, values: Array, *names: str) -> float:
    at = find_positions(bench, *names)
    return float(np.abs(np.log(values[at] / make_truth()[at])).max())


@pytest.fixture(scope="module")
def exact() -> BenchArrays:
    """Return a bench of runs that were measured without noise."""
    return make_bench(make_measured(make_truth()))


@pytest.fixture(scope="module")
def exact_fit(exact: BenchArrays) -> CalibrationFit:
    return fit_to_runs(exact)


def test_exact_runs_give_back_their_constants(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    bench = exact
    assert measure_miss(bench, bench.parameters.initial, *TOLD_WELL) > 0.2
    fit = exact_fit
    assert measure_miss(bench, fit.values, *TOLD_WELL) < 0.02
    assert measure_miss(bench, fit.values, *MOVED) < 0.12
    predicted = bench.predict(fit.values).figures
    for name in BENCH_FIGURES:
        ratio = predicted[name] / np.array([run.figures[name] for run in bench.runs])
        assert np.abs(np.log(ratio)).max() < 0.03


def test_noise_and_gross_errors_do_not_pull_constants_far() -> None:
    bench = make_bench(make_measured(make_truth(), noise=0.03, outliers=0.1))
    assert measure_miss(bench, fit_to_runs(bench).values, *TOLD_WELL) < 0.1


def test_habits_of_the_largest_publisher_hardly_bend_the_constants(
    exact: BenchArrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    habits = {"output_tokens_per_s": 0.8, "tpot_ms": 1.25, "ttft_ms": 1.25}
    runs = [
        replace(
            run,
            traits={**run.traits, "series": "largest"},
            figures={name: figure * habits[name] for name, figure in run.figures.items()},
        )
        if place % 3
        else replace(run, traits={**run.traits, "series": f"page {place % 5}"})
        for place, run in enumerate(exact.runs)
    ]
    bench = BenchArrays(runs, exact.parameters, NODE)

    def measure_bias() -> float:
        predicted = bench.predict(fit_to_runs(bench).values).figures["output_tokens_per_s"]
        return float(np.median(np.log(predicted / [run.figures["output_tokens_per_s"] for run in exact.runs])))

    with_effects = measure_bias()
    monkeypatch.setattr("calibration.fit.PUBLISHER_SPREADS", dict.fromkeys(BENCH_FIGURES, 1e-3))
    assert 0.6 * measure_bias() < with_effects < 0


def test_a_fit_gives_the_same_each_time() -> None:
    figures = make_measured(make_truth(), noise=0.05, outliers=0.1)
    first, second = fit_to_runs(make_bench(figures)), fit_to_runs(make_bench(figures))
    assert first.values.tolist() == second.values.tolist()
    assert (first.loss, first.steps) == (second.loss, second.steps)


def test_constants_stay_within_their_bounds_and_held_ones_where_they_are() -> None:
    # Figures no part reaches: everything is drawn to its bound.
    bench = make_bench(
        [
            {name: value * (30 if "tokens" in name else 1 / 30) for name, value in run.items()}
            for run in make_measured(make_truth())
        ]
    )
    fitted, parameters = fit_to_runs(bench).values, make_parameters()
    free = parameters.free
    assert (fitted[free] >= parameters.low[free]).all()
    assert (fitted[free] <= parameters.high[free]).all()
    assert fitted[find_positions(bench, "weight_read_efficiency")].max() == pytest.approx(0.95)
    fixed = np.setdiff1d(np.arange(parameters.size), free)
    assert fitted[fixed].tolist() == parameters.initial[fixed].tolist()


def test_constants_that_no_run_looks_up_follow_their_default(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    bench, fitted, parameters = exact, exact_fit.values, exact.parameters
    start = parameters.starts["gemm_efficiency"]
    unseen = [place for place in range(start + 1, start + 18) if not bench.rows_behind()[place]]
    assert len(unseen) > 5
    moved = np.log(fitted[unseen] / parameters.initial[unseen])
    assert moved == pytest.approx(np.log(fitted[start] / parameters.initial[start]), abs=1e-6)


def test_run_without_a_prediction_leaves_the_fit_finite(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    bench, plain = exact, exact_fit
    # One output token has no time between tokens.
    single = replace(bench.runs[0], workload=replace(bench.runs[0].workload, output_tokens=1))
    single = replace(single, id="odd", figures={"tpot_ms": 20.0}, traits={**single.traits, "load": "odd"})
    odd = BenchArrays([*bench.runs, single], bench.parameters, NODE)
    assert np.isnan(odd.predict(plain.values).figures["tpot_ms"][-1])
    odd_fit = fit_to_runs(odd)
    assert np.isfinite(odd_fit.values).all()
    # It adds to the loss, a share of which ends the search.
    assert odd_fit.values == pytest.approx(plain.values, rel=2e-3)


def arriving(rate: float, figures: dict[str, float]) -> BenchArrays:
    """Return a bench of one run whose requests arrive at so many a second."""
    bench = make_bench(make_measured(make_truth()))
    work = replace(bench.runs[0].workload, load=Load(LoadKind.REQUEST_RATE, request_rate=rate))
    return BenchArrays([replace(bench.runs[0], workload=work, figures=figures)], bench.parameters, NODE)


def test_a_figure_that_was_measured_and_is_not_predicted_is_as_bad_as_the_worst() -> None:
    slow = arriving(0.1, {"tpot_ms": 1.0})
    start = slow.parameters.initial
    predicted = float(slow.predict(start).figures["tpot_ms"][0])
    assert np.isnan(arriving(1e3, {"tpot_ms": 1.0}).predict(start).figures["tpot_ms"][0])

    def loss(rate: float, missed_by: float) -> float:
        return fit_to_runs(arriving(rate, {"tpot_ms": predicted * missed_by}), most_steps=0).loss

    exact, twice, four_times, never = loss(0.1, 1.0), loss(0.1, 2.0), loss(0.1, 4.0), loss(1e3, 1.0)
    assert exact < twice < four_times < never


def test_fit_keeps_each_measured_run_feasible() -> None:
    """Slower accelerators would suit three runs, and could not meet the limits that a fourth has met."""
    alone = arriving(0.001, {"tpot_ms": 1.0})
    start, run = alone.parameters.initial, alone.runs[0]
    pace = float(alone.predict(start).figures["tpot_ms"][0])
    load = Load(LoadKind.LIMITS, ttft_ms=1e6, tpot_ms=pace * 1.02, limit="mean")
    limited = replace(run, id="limited", workload=replace(run.workload, load=load))
    within_limits = BenchArrays([limited], alone.parameters, NODE).predict(start).figures
    limited = replace(limited, figures={name: float(within_limits[name][0]) for name in BENCH_FIGURES})
    slower = [
        replace(run, id=name, figures={"tpot_ms": pace * 1.5}, traits={**run.traits, "series": name})
        for name in ("one", "two", "three")
    ]
    bench = BenchArrays([limited, *slower], alone.parameters, NODE)
    figures = bench.predict(fit_to_runs(bench).values).figures
    assert np.isfinite(figures["output_tokens_per_s"]).all()


def test_excluded_runs_have_no_influence() -> None:
    figures = make_measured(make_truth())
    keep = np.arange(len(figures)) % 4 > 0
    wrong = [
        each if is_kept else dict.fromkeys(BENCH_FIGURES, 1e6) for each, is_kept in zip(figures, keep, strict=True)
    ]
    without, with_wrong = fit_to_runs(make_bench(figures), keep), fit_to_runs(make_bench(wrong), keep)
    assert without.values.tolist() == with_wrong.values.tolist()
    assert measure_miss(make_bench(figures), without.values, *TOLD_WELL) < 0.03


def test_many_runs_of_one_kind_count_less_than_many_kinds(exact: BenchArrays) -> None:
    """Nine repeats that disagree with one other run weigh three times as much, not nine times."""
    bench = exact
    base = bench.runs[0]
    once = replace(base, id="once", figures={"tpot_ms": base.figures["tpot_ms"] * 1.2})

    def pulled(repeats: int, series: str) -> float:
        wrong = {"tpot_ms": base.figures["tpot_ms"] / 1.2}
        others = [
            replace(base, id=f"x{n}", figures=wrong, traits={**base.traits, "series": f"{series}{n if series else ''}"})
            for n in range(repeats)
        ]
        values = fit_to_runs(BenchArrays([once, *others], bench.parameters, NODE)).values
        place = find_positions(bench, "weight_read_efficiency")
        return float(np.log(values[place] / bench.parameters.initial[place]).sum())

    assert pulled(9, "") < pulled(9, "page ")


def test_a_step_that_ends_at_a_bound_is_the_best_that_stays_within() -> None:
    two = ParameterVector(
        (
            ConstantPrior("bounded", "1", "ends at its bound", 0.9, 0.1, high=0.95),
            ConstantPrior("free", "1", "moves", 1.0, 0.1),
        )
    )
    normal, gradient = np.array([[2.0, 1.8], [1.8, 2.0]]), np.array([-1.0, -0.5])

    def lost(step: Array) -> float:
        return float(gradient @ step + 0.5 * step @ normal @ step)

    moved = _moved(two, two.initial, normal, gradient, 0.0)
    bounded_step = np.log(moved / two.initial)
    assert moved[0] == pytest.approx(0.95)
    others = (
        np.array([np.log(0.95 / 0.9) * share, step])
        for share in (0.0, 0.5, 1.0)
        for step in np.linspace(-0.6, 0.6, 121)
    )
    assert lost(bounded_step) <= min(map(lost, others)) + 1e-6
