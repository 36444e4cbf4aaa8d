"""Every deployment of a part and some models that the catalog allows, as arrays: all formats and TP degrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.engine_support import TENSOR_DEGREES
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import MemoryPlan, ResolvedDeployment
from gpudesk.engine.serving import ServingResults, make_workload_values, serve_loads
from gpudesk.engine.steps import Array
from gpudesk.estimation.estimator import get_serving_constants
from gpudesk.estimation.evaluation import (
    CaseArrays,
    FigureIntervals,
    compute_figure_intervals,
    explain_unfit,
    make_case_arrays,
)
from gpudesk.estimation.search_space import SearchSpace, SearchSpaceTable
from gpudesk.text.messages import InputError, Message

#: Every format of weights; plain fp4 stands for one of the others.
WEIGHTS = tuple(precision for precision in Precision if precision is not Precision.FP4)
KV = (Precision.FP16, Precision.FP8)
#: Input and output tokens: balanced, prompt-heavy, and a single output token.
BALANCED, LONG_PROMPT, SINGLE = (1000, 1000), (8000, 100), (200, 1)
_LOADS = (
    (BALANCED, Load(LoadKind.BATCH, batch=100)),
    (BALANCED, Load(LoadKind.CONCURRENCY, concurrency=1)),
    (BALANCED, Load(LoadKind.CONCURRENCY, concurrency=400)),
    (BALANCED, Load(LoadKind.CONCURRENCY, concurrency=400, requests=1000)),
    (BALANCED, Load(LoadKind.SATURATE, requests=1500)),
    (BALANCED, Load(LoadKind.REQUEST_RATE, request_rate=0.02)),
    (BALANCED, Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=80.0)),
    (LONG_PROMPT, Load(LoadKind.BATCH, batch=3)),
    (LONG_PROMPT, Load(LoadKind.CONCURRENCY, concurrency=64)),
    (LONG_PROMPT, Load(LoadKind.SATURATE, requests=300)),
    (LONG_PROMPT, Load(LoadKind.REQUEST_RATE, request_rate=8.0)),
    (LONG_PROMPT, Load(LoadKind.LIMITS, ttft_ms=20_000.0, tpot_ms=300.0, limit="mean")),
    (SINGLE, Load(LoadKind.BATCH, batch=100)),
    (SINGLE, Load(LoadKind.CONCURRENCY, concurrency=64)),
    (SINGLE, Load(LoadKind.REQUEST_RATE, request_rate=1.0)),
)
#: Every kind of load with equal and varied requests in turn, all behind a server.
WORKLOADS = tuple(
    Workload(*lengths, load, varied=place % 2 == 0, server=True) for place, (lengths, load) in enumerate(_LOADS)
)


@dataclass(frozen=True, slots=True)
class Deployment:
    """One plan of one model in one format: a deployment of a single replica."""

    request: EstimateRequest
    space: SearchSpace
    memory: MemoryPlan
    deployment: ResolvedDeployment


@dataclass(frozen=True, slots=True)
class Refusal:
    """A combination that is not answered with figures, and why."""

    request: EstimateRequest
    reason: Message


@dataclass(frozen=True, slots=True)
class Every:
    """All combinations of a part: those that run, and those that do not."""

    part: Accelerator
    deployments: tuple[Deployment, ...]
    refusals: tuple[Refusal, ...]


def degrees_of(part: Accelerator) -> tuple[int, ...]:
    """Return the TP degrees that one host or scale-up domain of a part has room for."""
    return tuple(tp for tp in TENSOR_DEGREES if tp <= part.cards_per_host)


def combinations(part: Accelerator, models: Sequence[str]) -> Iterator[EstimateRequest]:
    """Yield each model with every format of weights and cache on a part, the degree of TP left open."""
    for model, weights, kv in product(models, WEIGHTS, KV):
        yield EstimateRequest(part.id, model, weights, WORKLOADS[0], kv, pp=1, dp=1)


def resolve_every(table: SearchSpaceTable, part: Accelerator, models: Sequence[str]) -> Every:
    """Return all combinations of a part with the models of these ids."""
    deployments: list[Deployment] = []
    refusals: list[Refusal] = []
    for request in combinations(part, models):
        try:
            space = table.find_space(request)
        except InputError as error:
            refusals += [Refusal(replace(request, tp=tp), error.problem) for tp in degrees_of(part)]
            continue
        for tp in degrees_of(part):
            plans = space.list_memory_plans(tp)
            attempt = replace(request, tp=tp, count=tp)
            reason = _reason(table, attempt, space, plans)
            if reason is not None:
                refusals.append(Refusal(attempt, reason))
            deployments += [
                Deployment(attempt, space, each, space.resolve(each))
                for each in plans
                if each.budget.max_sequences(_SHORTEST) >= 1
            ]
    return Every(part, tuple(deployments), tuple(refusals))


_SHORTEST = min(work.input_tokens + work.output_tokens for work in WORKLOADS)


def _reason(
    table: SearchSpaceTable, request: EstimateRequest, space: SearchSpace, plans: tuple[MemoryPlan, ...]
) -> Message | None:
    """Return why no plan of a degree holds even the shortest request; None if one does."""
    if not plans:
        try:
            table.find_space(request)
        except InputError as error:
            return error.problem
        raise AssertionError(f"no plan and no reason: {request}")
    nearest = max(plans, key=lambda each: each.budget.headroom_bytes(_SHORTEST))
    if nearest.budget.headroom_bytes(_SHORTEST) >= 0:
        return None
    return explain_unfit(request, space.configuration, nearest, _SHORTEST)


@dataclass(frozen=True, slots=True)
class Answers:
    """All deployments under all workloads; every array has one element for each case.

    `owner` is the place of the case's deployment, `work` that of its workload. `sequences` is what memory
    holds of requests at their full length.
    """

    constants: SchedulingConstants
    owner: NDArray[np.intp]
    work: NDArray[np.intp]
    sequences: Array
    arrays: CaseArrays
    results: ServingResults
    figures: FigureIntervals


def answers(table: SearchSpaceTable, combinations: Every, calibration: Calibration) -> Answers:
    """Ask every deployment for every workload that its memory holds a request of, as the program does."""
    tokens = np.array([work.input_tokens + work.output_tokens for work in WORKLOADS])
    sequences_held = np.array([each.memory.budget.count_max_by_length(tokens) for each in combinations.deployments])
    work, owner = np.nonzero(sequences_held.T >= 1)
    running = [
        combinations.deployments[place].memory.compute_capacity_for(length)
        for place, length in zip(owner.tolist(), tokens[work].tolist(), strict=True)
    ]
    positions = np.array([each.deployment.position for each in combinations.deployments])
    counts = np.array([float(each.memory.plan.count) for each in combinations.deployments])
    columns = positions[owner], running, np.ones(len(owner)), counts[owner]
    lengths = np.bincount(work, minlength=len(WORKLOADS)).tolist()
    arrays = make_case_arrays(table.coefficients, [make_workload_values(each) for each in WORKLOADS], lengths, *columns)
    constants = get_serving_constants(calibration)
    results = serve_loads(arrays.rows, arrays.requests, arrays.loads, constants)
    factors = np.array(
        [[each.space.interval_factors[work.load.kind] for work in WORKLOADS] for each in combinations.deployments]
    )
    ideal = table.coefficients.take_ideal([each.deployment for each in combinations.deployments]).select(owner)
    figures = compute_figure_intervals(results, arrays, slice(None), ideal, factors[owner, work])
    sequences = sequences_held[owner, work].astype(np.float64)
    return Answers(constants, owner, work, sequences, arrays, results, figures)
