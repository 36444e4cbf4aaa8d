"""Runs computed with known constants for a few deployments, with noise added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from calibration.bench import BENCH_FIGURES, BenchArrays, BenchCandidate, BenchRun
from calibration.parameters import Array, ConstantPrior, ParameterVector
from calibration.priors import read_priors
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from tests.unit.engine import published
from tests.unit.engine.bench import H200, MI325X, SETTINGS, configure, deploy

#: Constants that a fit to made-up runs may move; all others keep what is believed of them.
MOVED: Final = ("weight_read_efficiency", "kv_read_efficiency", "gemm_efficiency", "layer_time", "allreduce_latency")
#: Bytes/s of one accelerator's network port.
NODE: Final = 50e9
#: Weights narrow enough for one card, and wide ones.
FORMATS: Final = (Precision.FP8, Precision.BF16)
PARTS: Final = (H200, MI325X)
DATA: Final = Path(__file__).parents[3] / "data"


@cache
def make_parameters() -> ParameterVector:
    """Return all constants, of which few may move, and these freely: runs decide, not beliefs."""
    return ParameterVector(tuple(_freed(prior) for prior in read_priors(DATA)))


def _freed(prior: ConstantPrior) -> ConstantPrior:
    if prior.name not in MOVED:
        return replace(prior, spread=0.0)
    return replace(prior, spread=1.0, override_spread=1.0)


def make_candidate(part: Accelerator, model: Model, weights: Precision, tp: int, tokens: int) -> BenchCandidate:
    """Return a deployment of one replica that vLLM serves."""
    deployment = deploy(configure(part, model, weights)._replace(behind_server=False), ParallelPlan(tp=tp))
    return BenchCandidate(deployment, float(min(SETTINGS.max_batch, deployment.budget.max_sequences(tokens))))


def make_bench(figures: Sequence[Mapping[str, float]] | None = None) -> BenchArrays:
    """Return a bench of runs of one dense model on two parts, measured as `figures` say (1 if None)."""
    model = published.llama_3_1_70b()
    lengths = ((1000, 1000), (4000, 200))
    runs = []
    questions = product(PARTS, FORMATS, (2, 8), lengths, (1, 16, 128), (1.0, 0.5))
    for place, (part, weights, tp, (prompt, output), batch, share) in enumerate(questions):
        work = Workload(round(prompt * share), output, Load(LoadKind.BATCH, batch=batch), varied=False)
        each = make_candidate(part, model, weights, tp, work.input_tokens + work.output_tokens)
        measured = dict.fromkeys(BENCH_FIGURES, 1.0) if figures is None else figures[place]
        runs.append(BenchRun(f"R{place:03}", model, work, measured, make_traits(part, weights, tp, place), (each,)))
    return BenchArrays(runs, make_parameters(), NODE)


def make_traits(part: Accelerator, weights: Precision, tp: int, place: int) -> dict[str, str]:
    """Return what a run can be left out by; each run is a series of its own but for every third."""
    return {
        "series": "one page" if place % 3 == 0 else f"page {place % 5}",
        "model": "llama-70b",
        "accelerator": part.id,
        "generation": part.generation,
        "vendor": part.vendor,
        "load": f"batch {place}",
        "engine": "vllm",
        "experts": "dense",
        "weights": str(weights),
        "tp": str(tp),
    }


def make_truth(shift: float = 0.25) -> Array:
    """Return constants that lie up to `shift` (in the logarithm) next to what is believed, alternately."""
    vector = make_parameters()
    values = vector.initial.copy()
    for count, name in enumerate(MOVED):
        prior = vector.priors[[each.name for each in vector.priors].index(name)]
        start = vector.starts[name]
        places = slice(start, start + 1 + len(prior.overrides))
        values[places] *= np.exp(-shift if count % 2 else -0.5 * shift)
    return values


def make_measured(values: Array, noise: float = 0.0, outliers: float = 0.0) -> list[dict[str, float]]:
    """Return the figures of all runs with constants `values`, with noise and a share of gross errors."""
    random = np.random.default_rng(2)
    predicted = make_bench().predict(values).figures
    length = len(next(iter(predicted.values())))
    stretch = {name: np.exp(noise * random.standard_normal(length)) for name in BENCH_FIGURES}
    wrong = random.random(length) < outliers
    for name in BENCH_FIGURES:
        stretch[name] = np.where(wrong, stretch[name] * random.choice([0.2, 5.0], length), stretch[name])
    return [
        {name: float(predicted[name][place] * stretch[name][place]) for name in BENCH_FIGURES}
        for place in range(length)
    ]


def collect_used_values(values: Array, bench: BenchArrays) -> dict[str, float]:
    behind = bench.rows_behind()
    return {bench.parameters.name(place): float(values[place]) for place in np.flatnonzero(behind).tolist()}
