"""Questions as columns of arrays, so that one call answers all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.engine.loads import Requests
from gpudesk.engine.serving import CODES, Loads
from gpudesk.engine.steps import Array, Rows
from gpudesk.workbench.row_table import RowTable


@dataclass(frozen=True, slots=True)
class CaseArrays:
    """Everything that one vectorised call takes."""

    index: NDArray[np.intp]
    rows: Rows
    requests: Requests
    loads: Loads
    counts: Array


@dataclass(frozen=True, slots=True)
class CaseColumns:
    """What differs from case to case beside the workload: step row, admission, replicas, accelerators."""

    rows: Sequence[int]
    capacity: Sequence[float]
    replicas: Sequence[float]
    counts: Sequence[float] | Array


def workload_values(work: Workload) -> tuple[float, ...]:
    """Return what the arrays take from a workload; times in seconds."""
    held = float(work.input_tokens)
    return (
        held * (1.0 - work.prefix_hit_rate),
        held,
        float(work.output_tokens),
        float(work.varied),
        *_load(work.load),
    )


def case_arrays(
    table: RowTable, workloads: Sequence[tuple[float, ...]], lengths: Sequence[int], cases: CaseColumns
) -> CaseArrays:
    """Return the cases as arrays; each of the `workloads` holds for `lengths` cases in a row."""
    columns = np.repeat(np.array(workloads, dtype=np.float64), lengths, axis=0).T
    prompt, held, output, varied, kind, amount, total, ttft, tpot, p99 = np.ascontiguousarray(columns)
    index = np.array(cases.rows, dtype=np.intp)
    return CaseArrays(
        index=index,
        rows=table.take(index),
        requests=Requests(prompt, held, output, np.array(cases.capacity), varied > 0),
        loads=Loads(kind.astype(np.int8), amount, total, ttft, tpot, p99 > 0, np.array(cases.replicas)),
        counts=np.asarray(cases.counts, dtype=np.float64),
    )


def _load(load: Load) -> tuple[float, float, float, float, float, float]:
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
