"""Bands from residuals: where their edges lie, how slices are drawn, and what a weaker basis does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.bench import BenchRun
from calibration.intervals import LEAST, OUTSIDE, compute_quantile, fit_interval_rules
from gpudesk.domain.estimate import EstimateBasis, Load, LoadKind
from gpudesk.engine.calibration import Calibration, IntervalFactors, find_interval
from gpudesk.estimation.published_runs import HeldOutFigure
from tests.unit.calibration.records import RATE, TPOT, make_held_out, make_run, make_spread

FOLDS = ("series", "generation", "vendor")


def find_factors(
    figures: list[HeldOutFigure], runs: list[BenchRun], basis: EstimateBasis, **keys: str
) -> IntervalFactors:
    rules = fit_interval_rules(figures, runs)
    return find_interval(Calibration("", "", "", {}, rules, ()), "throughput", basis, keys)


def test_the_edges_leave_out_what_is_meant_to_lie_outside() -> None:
    runs = [make_run(str(place)) for place in range(101)]
    low, high = find_factors(make_held_out(runs, make_spread(101, 2.0)), runs, EstimateBasis.CALIBRATED)
    reach = (1 - 2 * OUTSIDE[RATE]) * math.log(2)
    assert math.log(low) == pytest.approx(-reach, rel=0.02)
    assert math.log(high) == pytest.approx(reach, rel=0.02)


def test_what_is_always_predicted_too_low_has_a_band_that_reaches_up() -> None:
    runs = [make_run(str(place)) for place in range(50)]
    low, high = find_factors(make_held_out(runs, [0.5] * 50), runs, EstimateBasis.CALIBRATED)
    assert high == pytest.approx(2.0)
    assert low == pytest.approx(math.exp(-LEAST))


def test_a_large_publisher_does_not_outvote_the_others() -> None:
    large = [make_run(f"large {place}", series="large") for place in range(400)]
    small = [make_run(f"small {place}", series=f"small {place % 4}") for place in range(16)]
    runs = large + small
    figures = make_held_out(runs, [*make_spread(400, 1.1), *([0.5, 2.0] * 8)])
    low, high = find_factors(figures, runs, EstimateBasis.CALIBRATED)
    assert low < 0.7
    assert high > 1.4


def test_interval_of_one_publisher_shrinks_toward_all_others() -> None:
    quiet = [make_run(f"quiet {place}", engine="vllm", series=f"quiet {place % 10}") for place in range(200)]
    lone = [make_run(f"lone {place}", engine="sglang", series="lone") for place in range(50)]
    runs = quiet + lone
    figures = make_held_out(runs, [*make_spread(200, 1.2), *make_spread(50, 4.0)])
    rules = {
        tuple(sorted(each.where)): each for each in fit_interval_rules(figures, runs) if each.basis == "calibrated"
    }
    assert ("serving_engine",) in rules
    others, own = (
        find_factors(figures, runs, EstimateBasis.CALIBRATED, serving_engine=engine) for engine in ("vllm", "sglang")
    )
    assert own.high / own.low > others.high / others.low
    assert own.high < 4.0 ** (1 - 2 * OUTSIDE[RATE])


def test_interval_of_many_publishers_is_their_own() -> None:
    calm = [make_run(f"calm {place}", engine="vllm", series=f"calm {place % 40}") for place in range(400)]
    wild = [make_run(f"wild {place}", engine="sglang", series=f"wild {place % 40}") for place in range(400)]
    figures = make_held_out(calm + wild, make_spread(400, 1.2) + make_spread(400, 3.0))
    low, high = find_factors(figures, calm + wild, EstimateBasis.CALIBRATED, serving_engine="vllm", weights="fp8")
    assert high / low < 1.6


def test_a_weaker_basis_has_a_wider_band() -> None:
    runs = [make_run(str(place), series=str(place % 12)) for place in range(120)]
    figures = make_held_out(runs, make_spread(120, 1.5), FOLDS)
    widths = [
        high / low
        for low, high in (
            find_factors(figures, runs, basis)
            for basis in (EstimateBasis.CALIBRATED, EstimateBasis.ESTIMATED, EstimateBasis.UNCALIBRATED)
        )
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3


def test_a_vendor_that_is_predicted_badly_widens_what_is_uncalibrated() -> None:
    runs = [make_run(str(place), series=str(place % 12)) for place in range(120)]
    series = make_held_out(runs, make_spread(120, 1.2), ("series", "generation"))
    low, high = find_factors(
        series + make_held_out(runs, make_spread(120, 3.0), ("vendor",)), runs, EstimateBasis.UNCALIBRATED
    )
    assert high / low > 5.0


def test_a_figure_without_residuals_has_no_rules() -> None:
    runs = [make_run(str(place)) for place in range(40)]
    rules = fit_interval_rules(make_held_out(runs, make_spread(40, 1.5)), runs)
    assert {each.figure for each in rules} == {"throughput"}


def test_every_figure_is_narrowed_by_keys_of_its_own() -> None:
    runs = [
        make_run(f"{load} {place}", {TPOT: 10.0}, load=Load(LoadKind(load)), series=str(place % 8))
        for load in ("saturate", "batch")
        for place in range(60)
    ]
    figures = make_held_out(runs, make_spread(60, 1.2) + make_spread(60, 3.0), figure=TPOT)
    calibration = Calibration("", "", "", {}, fit_interval_rules(figures, runs), ())
    calm, wild = (
        find_interval(calibration, "tpot", EstimateBasis.CALIBRATED, {"load": load}) for load in ("saturate", "batch")
    )
    assert calm.high / calm.low < wild.high / wild.low


def test_the_weighted_quantile_of_equal_weights_is_the_plain_one() -> None:
    values = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    assert compute_quantile(values, np.ones(5), 0.5) == 3.0
    assert compute_quantile(values, np.array([1.0, 1.0, 1.0, 1.0, 100.0]), 0.5) == pytest.approx(4.0, abs=0.1)
