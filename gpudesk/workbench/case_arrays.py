"""Questions as columns of arrays, so that one call answers all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.loads import Requests
from gpudesk.engine.serving import Loads
from gpudesk.engine.steps import Array, Rows
from gpudesk.engine.workload_arrays import requests_and_loads
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

    rows: Sequence[int] | NDArray[np.intp]
    capacity: Sequence[float] | Array
    replicas: Sequence[float] | Array
    counts: Sequence[float] | Array


def case_arrays(
    table: RowTable, workloads: Sequence[tuple[float, ...]], lengths: Sequence[int], cases: CaseColumns
) -> CaseArrays:
    """Return the cases as arrays; each of the `workloads` holds for `lengths` cases in a row."""
    values = np.repeat(np.array(workloads, dtype=np.float64), lengths, axis=0)
    requests, loads = requests_and_loads(values, np.array(cases.capacity), np.array(cases.replicas))
    index = np.array(cases.rows, dtype=np.intp)
    return CaseArrays(
        index=index,
        rows=table.take(index),
        requests=requests,
        loads=loads,
        counts=np.asarray(cases.counts, dtype=np.float64),
    )
