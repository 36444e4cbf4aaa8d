"""Workloads as columns of arrays: one row of numbers each, and what the loads take from many of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.engine.rounds import Requests
from gpudesk.engine.serving import CODES, Loads
from gpudesk.engine.steps import Array


def workload_values(work: Workload) -> tuple[float, ...]:
    """Return what the arrays take from a workload; times in seconds."""
    held = float(work.input_tokens)
    return (
        held * (1.0 - work.prefix_hit_rate),
        held,
        float(work.output_tokens),
        work.spread if work.uneven else 0.0,
        *_load_values(work.load),
    )


def _load_values(load: Load) -> tuple[float, float, float, float, float, float]:
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
    return float(CODES[load.kind]), amount, total, ttft, tpot, float(load.limit == "p99")


def requests_and_loads(
    values: NDArray[np.float64], capacity: Array, replicas: Array
) -> tuple[Requests, Loads]:
    """Return the requests and the loads of cases.

    `values` has the shape (cases, values of `workload_values`); `capacity` is what a replica admits.
    """
    columns = np.ascontiguousarray(values.T)
    prompt, held, output, spread, kind, amount, total, ttft, tpot, p99 = columns
    return (
        Requests(prompt, held, output, capacity, spread > 0, spread),
        Loads(kind.astype(np.int8), amount, total, ttft, tpot, p99 > 0, replicas),
    )
