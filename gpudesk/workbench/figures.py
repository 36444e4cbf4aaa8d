"""From engine results to figures: units, bands inside what physics allows, None where nothing is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import Banded
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.loads import Requests, bounds
from gpudesk.engine.serving import CODES, Loads, Results
from gpudesk.engine.steps import Array, Rows
from gpudesk.workbench.results import Figures


@dataclass(frozen=True, slots=True)
class CaseArrays:
    """Everything that one vectorised call takes."""

    index: NDArray[np.intp]
    rows: Rows
    requests: Requests
    loads: Loads
    counts: Array


#: Value, low and high, each an array; NaN where the figure has no meaning.
_Band = tuple[Array, Array, Array]


def figure_rows(
    results: Results, arrays: CaseArrays, chosen: NDArray[np.intp], ideal: Rows, factors: Array
) -> Iterator[Figures]:
    """Yield the figures of the chosen cases, one for each question.

    `ideal` are the rows of the chosen cases without any loss; `factors` has the shape (questions, 6): low
    and high factor of throughput, TTFT and TPOT.
    """
    requests, loads = arrays.requests.select(chosen), arrays.loads.select(chosen)
    bound = bounds(ideal, requests, np.maximum(results.running[chosen], 1.0))
    admitted, concurrency = results.admitted[chosen], results.concurrency[chosen]
    active = np.minimum(loads.replicas, np.maximum(np.nan_to_num(admitted, nan=1.0), 1.0))
    rate = _below(results.rate[chosen], bound.rate * active, factors[:, 0], factors[:, 1])
    output = _scaled(rate, requests.output)
    ttft = _above(results.ttft[chosen], bound.ttft, factors[:, 2], factors[:, 3])
    tpot = _above(results.tpot[chosen], bound.tpot, factors[:, 4], factors[:, 5])
    gaps = np.maximum(requests.output - 1.0, 0.0)
    request = tuple(
        first + np.where(gaps > 0, gaps * each, 0.0) for first, each in zip(ttft, tpot, strict=True)
    )
    is_batch = loads.kind == CODES[LoadKind.BATCH]
    size = np.where(is_batch, loads.amount, np.nan)
    columns = (
        _banded(output),
        _banded(_scaled(output, (requests.held_prompt + requests.output) / requests.output)),
        _banded(_scaled(output, 1.0 / arrays.counts[chosen])),
        _banded(_scaled(ttft, 1e3)),
        _banded(_scaled(tpot, 1e3)),
        _banded((request[0], request[1], request[2])),
        _banded((size / rate[0], size / rate[2], size / rate[1])),
    )
    yield from map(
        Figures,
        _whole(concurrency),
        _whole(admitted),
        results.stable[chosen].tolist(),
        results.limiter[chosen].tolist(),
        *columns,
    )


def _below(value: Array, bound: Array, low: Array, high: Array) -> _Band:
    """Band of a rate: neither value nor band passes the bound."""
    value = np.where(value > 0, np.minimum(value, bound), np.nan)
    return value, value * low, np.maximum(value, np.minimum(value * high, bound))


def _above(value: Array, bound: Array, low: Array, high: Array) -> _Band:
    """Band of a time: neither value nor band falls below the bound."""
    value = np.where(value > 0, np.maximum(value, bound), np.nan)
    return value, np.minimum(value, np.maximum(value * low, bound)), value * high


def _scaled(figure: _Band, factor: Array | float) -> _Band:
    return figure[0] * factor, figure[1] * factor, figure[2] * factor


def _banded(figure: _Band) -> list[Banded | None]:
    finite = (np.isfinite(figure[0]) & np.isfinite(figure[1]) & np.isfinite(figure[2])).tolist()
    # Hundreds of thousands are made at once, and the named constructor costs several times the plain one.
    new = tuple.__new__
    rows = zip(figure[0].tolist(), figure[1].tolist(), figure[2].tolist(), strict=True)
    return [new(Banded, row) if known else None for row, known in zip(rows, finite, strict=True)]


def _whole(values: Array) -> list[int | None]:
    return [None if value != value else max(0, round(value)) for value in values.tolist()]
