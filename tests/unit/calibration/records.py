"""Runs with traits, and held-out figures of them with chosen errors, to test bands and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

from calibration.bench import BenchCandidate, BenchRun
from gpudesk.domain.estimate import Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.estimation.published_runs import HeldOutFigure

RATE, TPOT, TTFT = "output_tokens_per_s", "tpot_ms", "ttft_ms"
#: What a run has that does not matter to a test.
_TRAITS = {
    "series": "one",
    "source": "one-2026",
    "model": "llama-3.1-8b",
    "family": "llama-3",
    "accelerator": "h200-sxm",
    "generation": "hopper",
    "vendor": "NVIDIA",
    "load": "saturate",
    "engine": "vllm",
    "version": "vllm 0.11",
    "weights": "fp8",
    "experts": "dense",
    "tp": "1",
    "context": "to 4k",
    "date": "2026-01",
}


def make_run(
    name: str, figures: Mapping[str, float] | None = None, *, count: int = 1, load: Load | None = None, **traits: str
) -> BenchRun:
    """Return a run that a fit could have seen; it has the parts of a candidate that reports look at."""
    all_traits = {**_TRAITS, **traits}
    run_load = load or Load(LoadKind(all_traits["load"]), requests=100)
    candidate = SimpleNamespace(
        deployment=SimpleNamespace(plan=ParallelPlan(dp=count), configuration=SimpleNamespace(kv=Precision.FP8))
    )
    return BenchRun(
        id=name,
        model=cast("Model", SimpleNamespace(id=all_traits["model"], name=all_traits["model"].title())),
        workload=Workload(1000, 1000, run_load),
        figures=figures or {RATE: 100.0},
        traits={**all_traits, "load": str(run_load.kind)},
        candidates=(cast("BenchCandidate", candidate),),
    )


def make_held_out(
    runs: Sequence[BenchRun], ratios: Sequence[float], folds: Sequence[str] = ("series",), figure: str = RATE
) -> list[HeldOutFigure]:
    """Return a figure of each run as every fold predicts it: `ratio` times what was measured."""
    return [
        HeldOutFigure(each.id, figure, fold, each.figures[figure], each.figures[figure] * ratio)
        for fold in folds
        for each, ratio in zip(runs, ratios, strict=True)
    ]


def make_spread(amount: int, reach: float) -> list[float]:
    """Return ratios evenly apart on a logarithmic scale, from 1 / `reach` to `reach`."""
    return [reach ** (2 * place / (amount - 1) - 1) for place in range(amount)]
