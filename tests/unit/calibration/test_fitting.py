"""The fit: finds the constants behind made-up runs in spite of outliers, and the same each time."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.bench import BENCH_FIGURES, BenchArrays
from calibration.fit import CalibrationFit, _moved, fit_to_runs
from calibration.parameters import Array, ConstantPrior, ParameterVector
from gpudesk.domain.estimate import Load, LoadKind
from tests.unit.calibration.made_up import MOVED, NODE, bench_of, measured, parameters, truth

#: What is looked at: what runs at large batches depend on most. Latencies are told less well.
TOLD_WELL = ("weight_read_efficiency", "kv_read_efficiency", "gemm_efficiency")


def places(made: BenchArrays, *names: str) -> list[int]:
    behind = made.rows_behind()
    return [place for place in np.flatnonzero(behind).tolist() if made.parameters.name(place).split(" ")[0] in names]


def missed(made: BenchArrays, values: Array, *names: str) -> float:
    at = places(made, *names)
    return float(np.abs(np.log(values[at] / truth()[at])).max())


@pytest.fixture(scope="module")
def exact() -> BenchArrays:
    """Return a bench of runs that were measured without noise."""
    return bench_of(measured(truth()))


@pytest.fixture(scope="module")
def exact_fit(exact: BenchArrays) -> CalibrationFit:
    return fit_to_runs(exact)


def test_exact_runs_give_back_their_constants(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    made = exact
    assert missed(made, made.parameters.initial, *TOLD_WELL) > 0.2
    found = exact_fit
    assert missed(made, found.values, *TOLD_WELL) < 0.02
    assert missed(made, found.values, *MOVED) < 0.12
    predicted = made.predict(found.values).figures
    for name in BENCH_FIGURES:
        ratio = predicted[name] / np.array([run.figures[name] for run in made.runs])
        assert np.abs(np.log(ratio)).max() < 0.03


def test_noise_and_gross_errors_do_not_pull_constants_far() -> None:
    made = bench_of(measured(truth(), noise=0.03, outliers=0.1))
    assert missed(made, fit_to_runs(made).values, *TOLD_WELL) < 0.1


def test_a_fit_gives_the_same_each_time() -> None:
    figures = measured(truth(), noise=0.05, outliers=0.1)
    first, second = fit_to_runs(bench_of(figures)), fit_to_runs(bench_of(figures))
    assert first.values.tolist() == second.values.tolist()
    assert (first.loss, first.steps) == (second.loss, second.steps)


def test_constants_stay_within_their_bounds_and_held_ones_where_they_are() -> None:
    # Figures no part reaches: everything is drawn to its bound.
    made = bench_of(
        [
            {name: value * (30 if "tokens" in name else 1 / 30) for name, value in run.items()}
            for run in measured(truth())
        ]
    )
    found, known = fit_to_runs(made).values, parameters()
    free = known.free
    assert (found[free] >= known.low[free]).all()
    assert (found[free] <= known.high[free]).all()
    assert found[places(made, "weight_read_efficiency")].max() == pytest.approx(0.95)
    held = np.setdiff1d(np.arange(known.size), free)
    assert found[held].tolist() == known.initial[held].tolist()


def test_constants_that_no_run_looks_up_follow_their_default(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    made, found, known = exact, exact_fit.values, exact.parameters
    start = known.starts["gemm_efficiency"]
    unseen = [place for place in range(start + 1, start + 18) if not made.rows_behind()[place]]
    assert len(unseen) > 5
    moved = np.log(found[unseen] / known.initial[unseen])
    assert moved == pytest.approx(np.log(found[start] / known.initial[start]), abs=1e-6)


def test_a_run_that_no_constant_can_answer_breaks_nothing(exact: BenchArrays, exact_fit: CalibrationFit) -> None:
    made, plain = exact, exact_fit
    # One output token has no time between tokens.
    single = replace(made.runs[0], workload=replace(made.runs[0].workload, output_tokens=1))
    single = replace(single, id="odd", figures={"tpot_ms": 20.0}, traits={**single.traits, "load": "odd"})
    odd = BenchArrays([*made.runs, single], made.parameters, NODE)
    assert np.isnan(odd.predict(plain.values).figures["tpot_ms"][-1])
    found = fit_to_runs(odd)
    assert np.isfinite(found.values).all()
    # It adds to the loss, a share of which ends the search.
    assert found.values == pytest.approx(plain.values, rel=2e-3)


def arriving(rate: float, figures: dict[str, float]) -> BenchArrays:
    """Return a bench of one run whose requests arrive at so many a second."""
    made = bench_of(measured(truth()))
    work = replace(made.runs[0].workload, load=Load(LoadKind.REQUEST_RATE, request_rate=rate))
    return BenchArrays([replace(made.runs[0], workload=work, figures=figures)], made.parameters, NODE)


def test_a_figure_that_was_measured_and_is_not_predicted_is_as_bad_as_the_worst() -> None:
    slow = arriving(0.1, {"tpot_ms": 1.0})
    start = slow.parameters.initial
    predicted = float(slow.predict(start).figures["tpot_ms"][0])
    assert np.isnan(arriving(1e3, {"tpot_ms": 1.0}).predict(start).figures["tpot_ms"][0])

    def loss(rate: float, missed_by: float) -> float:
        return fit_to_runs(arriving(rate, {"tpot_ms": predicted * missed_by}), most_steps=0).loss

    exact, twice, four_times, never = loss(0.1, 1.0), loss(0.1, 2.0), loss(0.1, 4.0), loss(1e3, 1.0)
    assert exact < twice < four_times < never


def test_a_fit_does_not_give_up_a_run_for_others() -> None:
    """Slower accelerators would suit three runs, and could not meet the limits that a fourth has met."""
    alone = arriving(0.001, {"tpot_ms": 1.0})
    start, run = alone.parameters.initial, alone.runs[0]
    pace = float(alone.predict(start).figures["tpot_ms"][0])
    load = Load(LoadKind.LIMITS, ttft_ms=1e6, tpot_ms=pace * 1.02, limit="mean")
    limited = replace(run, id="limited", workload=replace(run.workload, load=load))
    met = BenchArrays([limited], alone.parameters, NODE).predict(start).figures
    limited = replace(limited, figures={name: float(met[name][0]) for name in BENCH_FIGURES})
    slower = [
        replace(run, id=name, figures={"tpot_ms": pace * 1.5}, traits={**run.traits, "series": name})
        for name in ("one", "two", "three")
    ]
    made = BenchArrays([limited, *slower], alone.parameters, NODE)
    found = made.predict(fit_to_runs(made).values).figures
    assert np.isfinite(found["output_tokens_per_s"]).all()


def test_runs_that_are_left_out_have_no_say() -> None:
    figures = measured(truth())
    keep = np.arange(len(figures)) % 4 > 0
    wrong = [each if kept else dict.fromkeys(BENCH_FIGURES, 1e6) for each, kept in zip(figures, keep, strict=True)]
    without, with_wrong = fit_to_runs(bench_of(figures), keep), fit_to_runs(bench_of(wrong), keep)
    assert without.values.tolist() == with_wrong.values.tolist()
    assert missed(bench_of(figures), without.values, *TOLD_WELL) < 0.03


def test_many_runs_of_one_kind_count_less_than_many_kinds(exact: BenchArrays) -> None:
    """Nine repeats that disagree with one other run weigh three times as much, not nine times."""
    made = exact
    base = made.runs[0]
    once = replace(base, id="once", figures={"tpot_ms": base.figures["tpot_ms"] * 1.2})

    def pulled(repeats: int, series: str) -> float:
        wrong = {"tpot_ms": base.figures["tpot_ms"] / 1.2}
        others = [
            replace(base, id=f"x{n}", figures=wrong, traits={**base.traits, "series": f"{series}{n if series else ''}"})
            for n in range(repeats)
        ]
        values = fit_to_runs(BenchArrays([once, *others], made.parameters, NODE)).values
        place = places(made, "weight_read_efficiency")
        return float(np.log(values[place] / made.parameters.initial[place]).sum())

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
    taken = np.log(moved / two.initial)
    assert moved[0] == pytest.approx(0.95)
    others = (
        np.array([np.log(0.95 / 0.9) * share, step])
        for share in (0.0, 0.5, 1.0)
        for step in np.linspace(-0.6, 0.6, 121)
    )
    assert lost(taken) <= min(map(lost, others)) + 1e-6
