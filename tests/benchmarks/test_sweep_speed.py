"""How fast a sweep evaluates its grid, and how fast it writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from gpudesk.estimation.sweep.evaluation import SweepEvaluation
from gpudesk.estimation.sweep.grid import Sweep, parse_sweep
from gpudesk.estimation.sweep.output import SweepCsvWriter
from gpudesk.service import GpuDeskService
from tests.benchmarks.conftest import Say

#: Points and full estimates a second of processor time, and rows of CSV.
LEAST_RATE = 2_000_000
LEAST_ROWS = 100_000
ROUNDS = 3

#: A million points: two parts, two models, 1,024 pairs of lengths, 256 loads.
MILLION: dict[str, Any] = {
    "accelerators": ("h200-sxm", "mi325x"),
    "models": ("llama-3.1-70b", "qwen3-32b"),
    "weights": ("fp8",),
    "tp": (4,),
    "input_tokens": range(128, 6_400, 200),
    "output_tokens": range(64, 1_650, 50),
    "concurrency": range(1, 257),
}
GRIDS = {
    "closed loop": MILLION,
    "static batch": {**MILLION, "concurrency": (), "batch": range(1, 257)},
    "mixture of experts, three plans a point": {**MILLION, "models": ("gpt-oss-120b", "deepseek-v3"), "tp": (8,)},
}


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        assert opened.calibration.constants
        yield opened


def grid(service: GpuDeskService, axes: dict[str, Any]) -> Sweep:
    """Return a sweep with no settings."""
    return parse_sweep({name: tuple(values) for name, values in axes.items()}, {}, service.catalog)


@pytest.mark.parametrize("name", GRIDS)
def test_points_a_second(service: GpuDeskService, name: str, say: Say) -> None:
    sweep = grid(service, GRIDS[name])
    points, estimates = 0.0, 0.0
    for _ in range(ROUNDS):
        evaluation = SweepEvaluation(sweep, service.catalog, service.calibration)
        began = process_time()
        fit = sum(int(block.fits.sum()) for block in evaluation.blocks())
        seconds = process_time() - began
        assert fit == sweep.points
        points = max(points, sweep.points / seconds)
        estimates = max(estimates, evaluation.plans / seconds)
    say(
        f"{name}: {sweep.points:,} points, {points / 1e6:.2f} million points and "
        f"{estimates / 1e6:.2f} million full estimates with bands a second on one core"
    )
    assert estimates >= LEAST_RATE


def test_rows_of_csv_a_second(service: GpuDeskService, tmp_path: Path, say: Say) -> None:
    sweep = grid(service, {**MILLION, "concurrency": (*range(1, 17), 10_000)})
    evaluation = SweepEvaluation(sweep, service.catalog, service.calibration)
    seconds = 0.0
    with (tmp_path / "sweep.csv").open("wb") as file:
        writer = SweepCsvWriter(file, sweep, evaluation.words)
        for block in evaluation.blocks():
            began = process_time()
            writer.write(block)
            seconds += process_time() - began
    rate = sweep.points / seconds
    say(f"CSV: {sweep.points:,} rows, {rate:,.0f} a second on one core")
    assert rate >= LEAST_ROWS


def test_setups_a_second(service: GpuDeskService, say: Say) -> None:
    """Everything in the catalog: each point has a part, model, format or degree of its own."""
    axes = {
        "accelerators": ("all",),
        "models": ("all",),
        "weights": ("fp8", "bf16"),
        "tp": (1, 8),
        "input_tokens": (1024,),
        "output_tokens": (256,),
        "concurrency": (1, 8, 64),
    }
    sweep = grid(service, axes)
    evaluation = SweepEvaluation(sweep, service.catalog, service.calibration)
    began = process_time()
    fits = np.concatenate([block.fits for block in evaluation.blocks()])
    seconds = process_time() - began
    assert 0.2 < fits.mean() < 0.9
    say(
        f"all parts, all models: {sweep.points // 3:,} deployments of three loads each, "
        f"{sweep.points / 3 / seconds:,.0f} deployments a second on one core"
    )
