"""One vectorized call for any mix of loads: divide among replicas, serve, add up, score plans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.engine.loads import (
    ReplicaResults,
    SchedulingConstants,
    get_p99_factors,
    serve_closed_loop,
    serve_open_loop,
    serve_saturated,
    serve_within_limits,
)
from gpudesk.engine.steps import Array, CoefficientColumns, ReplicaRequests, compute_lone_ttft
from gpudesk.frozen_dataclass import frozen_dataclass

#: Codes of the loads in `Loads.kind`.
LOAD_CODES: Final = {kind: code for code, kind in enumerate(LoadKind)}

#: Cases per pass, so that its arrays stay in the cache of one core.
CASES_PER_CHUNK: Final = 8192


@frozen_dataclass
class DeploymentLoads:
    """The load of each case on its whole deployment; arrays of one shape.

    `amount`: sequences of a batch or of a closed loop, or requests/s of an open loop. `total`: requests of the run,
    infinite for steady state. `ttft` and `tpot`: limits in seconds. `replicas`: of the deployment.
    """

    kind: NDArray[np.int8]
    amount: Array
    total: Array
    ttft: Array
    tpot: Array
    p99: NDArray[np.bool_]
    replicas: Array

    def select(self, chosen: NDArray[Any] | slice) -> DeploymentLoads:
        return DeploymentLoads(*(getattr(self, field.name)[chosen] for field in fields(self)))


@frozen_dataclass
class ServingResults:
    """Results of each deployment; arrays of one shape, NaN if a figure has no meaning for the load.

    `concurrency` and `admitted` are sequences of the whole deployment, `rate` is requests/s of the whole deployment,
    `running` sequences of one replica, of which `waiting` queue for prefill together. Times are in seconds; `limiter`
    is an index in `LIMITERS`.
    """

    concurrency: Array
    admitted: Array
    running: Array
    waiting: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: NDArray[np.bool_]
    limiter: NDArray[np.intp]


def serve_replicas(
    kind: LoadKind,
    rows: CoefficientColumns,
    requests: ReplicaRequests,
    loads: DeploymentLoads,
    constants: SchedulingConstants,
) -> tuple[ReplicaResults, ServingResults]:
    """Serve cases of one kind of load; return the results of one replica of each, and of the deployment."""
    if kind is LoadKind.BATCH:
        served = serve_saturated(rows, requests, np.ceil(loads.amount / loads.replicas), constants)
        admitted = np.minimum(loads.amount, served.running * np.minimum(loads.replicas, loads.amount))
        return served, _make_results(served, loads.amount, admitted, loads.amount / served.duration)
    if kind is LoadKind.REQUEST_RATE:
        served = serve_open_loop(rows, requests, loads.amount / loads.replicas)
        return served, _compute_open_loop(served, requests, loads)
    if kind is LoadKind.LIMITS:
        served = serve_within_limits(rows, requests, loads.ttft, loads.tpot, loads.p99, constants)
        return served, _compute_open_loop(served, requests, loads)
    # Clients beyond the number of requests send nothing.
    clients = loads.total if kind is LoadKind.SATURATE else np.minimum(loads.amount, loads.total)
    active = np.minimum(loads.replicas, clients)
    if kind is LoadKind.SATURATE:
        served = serve_saturated(rows, requests, clients / active, constants)
    else:
        served = serve_closed_loop(rows, requests, clients / active, loads.total / active, constants)
    return served, _make_results(served, clients, served.running * active, served.rate * active)


def _compute_open_loop(served: ReplicaResults, requests: ReplicaRequests, loads: DeploymentLoads) -> ServingResults:
    """Count requests in flight of an open loop by Little's law: arrival rate x residence time.

    At least 1 if requests arrive at all; those beyond the admitted number wait. Without a residence time (overload,
    missed limits) the running sequences count.
    """
    stay = served.ttft + requests.later * np.nan_to_num(served.tpot)
    inside = np.maximum(served.rate * stay * loads.replicas, 1.0)
    inside = np.where(np.isnan(stay), served.running * loads.replicas, inside)
    admitted = np.minimum(inside, requests.capacity * loads.replicas)
    return _make_results(served, inside, admitted, served.rate * loads.replicas)


def _make_results(served: ReplicaResults, concurrency: Array, admitted: Array, rate: Array) -> ServingResults:
    return ServingResults(
        concurrency=concurrency,
        admitted=admitted,
        running=served.running,
        waiting=served.waiting,
        rate=rate,
        ttft=served.ttft,
        tpot=served.tpot,
        duration=served.duration,
        stable=served.stable,
        limiter=served.limiter,
    )


def serve_loads(
    rows: CoefficientColumns, requests: ReplicaRequests, loads: DeploymentLoads, constants: SchedulingConstants
) -> ServingResults:
    """Serve every case. `requests.capacity` is per replica; leave out cases that do not fit."""
    present = [kind for kind in LoadKind if bool(np.any(loads.kind == LOAD_CODES[kind]))]
    if len(present) == 1 and len(rows) <= CASES_PER_CHUNK:
        return serve_replicas(present[0], rows, requests, loads, constants)[1]
    if len(rows) > CASES_PER_CHUNK:
        tune_allocator()
    results = _make_empty_results(len(rows))
    for kind in present:
        for chosen in _split_into_chunks(loads.kind == LOAD_CODES[kind]):
            # Inputs of a replica are freed at once, so that the next chunk reuses their place in the CPU cache.
            cases = rows.select(chosen), requests.select(chosen), loads.select(chosen)
            part = serve_replicas(kind, *cases, constants)[1]
            for field in fields(ServingResults):
                getattr(results, field.name)[chosen] = getattr(part, field.name)
    return results


def tune_allocator() -> None:
    """Let arrays of a chunk reuse the memory of the previous chunk.

    The C library returns freed memory to the system and requests it again, which takes longer than the arithmetic,
    until it has freed an unusually large block once.
    """
    np.empty(3 << 20)


def _split_into_chunks(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.intp] | slice]:
    """Yield the cases selected by `mask`, at most CHUNK at a time; as slices if all are selected."""
    everywhere = bool(mask.all())
    cases = np.flatnonzero(mask)
    for start in range(0, len(cases), CASES_PER_CHUNK):
        yield slice(start, start + CASES_PER_CHUNK) if everywhere else cases[start : start + CASES_PER_CHUNK]


def _make_empty_results(cases: int) -> ServingResults:
    arrays = {field.name: np.full(cases, np.nan) for field in fields(ServingResults)}
    return ServingResults(
        **{**arrays, "stable": np.ones(cases, dtype=np.bool_), "limiter": np.zeros(cases, dtype=np.intp)}
    )


def make_workload_values(work: Workload) -> tuple[float, ...]:
    """Return the numbers of a workload as stored in arrays; times in seconds."""
    context_tokens = float(work.input_tokens)
    return (
        context_tokens * (1.0 - work.prefix_hit_rate),
        context_tokens,
        float(work.output_tokens),
        work.spread if work.uneven else 0.0,
        *make_load_values(work.load),
    )


def make_load_values(load: Load) -> tuple[float, float, float, float, float, float]:
    """Return code, amount, total, TTFT and TPOT limits in seconds, and whether they are p99 limits."""
    amount, total = 1.0, math.inf
    if load.kind is LoadKind.BATCH:
        amount = float(load.batch or 1)
    elif load.kind is LoadKind.CONCURRENCY:
        amount = float(load.concurrency or 1)
        total = math.inf if load.requests is None else float(max(load.requests, 1))
    elif load.kind is LoadKind.SATURATE:
        total = float(load.requests or 1)
    elif load.kind is LoadKind.REQUEST_RATE:
        amount = float(load.request_rate or 0.0)
    ttft = math.inf if load.ttft_ms is None else load.ttft_ms / 1e3
    tpot = math.inf if load.tpot_ms is None else load.tpot_ms / 1e3
    return float(LOAD_CODES[load.kind]), amount, total, ttft, tpot, float(load.limit == "p99")


def make_requests_and_loads(
    values: NDArray[np.float64], capacity: Array, replicas: Array
) -> tuple[ReplicaRequests, DeploymentLoads]:
    """Return the requests and the loads of cases.

    `values` has the shape (cases, values of `make_workload_values`); `capacity` is sequences per replica.
    """
    columns = np.ascontiguousarray(values.T)
    prompt, context_tokens, output, spread, kind, amount, total, ttft, tpot, p99 = columns
    return (
        ReplicaRequests(prompt, context_tokens, output, capacity, spread > 0, spread),
        DeploymentLoads(kind.astype(np.int8), amount, total, ttft, tpot, p99 > 0, replicas),
    )


class LowestLimits(NamedTuple):
    """The lowest limits of TTFT and TPOT, in seconds, that a single request in flight meets."""

    ttft: Array
    tpot: Array

    def compute_miss_factor(self, loads: DeploymentLoads) -> Array:
        """Return these over the limits of the loads, for the limit missed by the larger factor."""
        times: Array = np.maximum(self.ttft / loads.ttft, np.nan_to_num(self.tpot) / loads.tpot)
        return times


def score_by_rate(results: ServingResults) -> Array:
    """Return the score by which plans are chosen (highest wins): output rate, less up to 0.1% by TPOT."""
    score = np.nan_to_num(results.rate, nan=-1.0)
    pace = np.nan_to_num(results.tpot, nan=1.0)
    scores: Array = score * (1.0 - 1e-3 * pace / (1.0 + pace))
    return scores


def score_plans(
    rows: CoefficientColumns,
    requests: ReplicaRequests,
    loads: DeploymentLoads,
    results: ServingResults,
    constants: SchedulingConstants,
) -> Array:
    """Return `score_by_rate`; below zero for missed limits, lower the further a plan misses them."""
    scores = score_by_rate(results)
    # Only latency limits can leave a load without a rate.
    missed = np.flatnonzero(np.isnan(results.rate))
    if len(missed):
        missed_loads = loads.select(missed)
        least = find_lowest_limits(rows.select(missed), requests.select(missed), missed_loads, constants)
        scores[missed] = -least.compute_miss_factor(missed_loads)
    return scores


def find_lowest_limits(
    rows: CoefficientColumns, requests: ReplicaRequests, loads: DeploymentLoads, constants: SchedulingConstants
) -> LowestLimits:
    """Return the limits that one request in flight meets in each case, as p99 or as mean."""
    endless = np.full_like(loads.ttft, np.inf)
    single = replace(requests, capacity=np.ones_like(endless))
    anything = replace(loads, ttft=endless, tpot=endless, p99=np.zeros_like(loads.p99))
    results = serve_loads(rows, single, anything, constants)
    first = compute_lone_ttft(rows, requests)
    tail, margin = get_p99_factors(loads.p99, constants)
    return LowestLimits(first + tail * (results.ttft - first), results.tpot / margin)
