"""From engine results to figures: units, bands inside what physics allows, None where nothing is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import Banded
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.disaggregated import PoolResults
from gpudesk.engine.loads import Bounds, Requests, bounds
from gpudesk.engine.serving import CODES, Loads, Results
from gpudesk.engine.steps import Array, Rows
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.results import Figures

#: Value, low and high, each an array; NaN where the figure has no meaning.
Band = tuple[Array, Array, Array]


@dataclass(frozen=True, slots=True)
class FigureBands:
    """The figures of an `Estimate` as arrays, by their names there."""

    output_tokens_per_s: Band
    total_tokens_per_s: Band
    output_tokens_per_s_per_accelerator: Band
    ttft_ms: Band
    tpot_ms: Band
    request_s: Band
    batch_s: Band


def figure_bands(
    results: Results, arrays: CaseArrays, chosen: NDArray[np.intp] | slice, ideal: Rows, factors: Array
) -> FigureBands:
    """Return the figures of the chosen cases with their bands.

    `ideal` are the rows of the chosen cases without any loss; `factors` has the shape (cases, 6): low and
    high factor of throughput, TTFT and TPOT.
    """
    requests, loads = arrays.requests.select(chosen), arrays.loads.select(chosen)
    bound = bounds(ideal, requests, np.maximum(results.running[chosen], 1.0))
    admitted = results.admitted[chosen]
    active = np.minimum(loads.replicas, np.maximum(np.nan_to_num(admitted, nan=1.0), 1.0))
    whole = Bounds(bound.rate * active, bound.tpot, bound.ttft)
    reached = Reached(results.rate[chosen], results.ttft[chosen], results.tpot[chosen])
    return bands_within(whole, reached, requests, loads, arrays.counts[chosen], factors)


@dataclass(frozen=True, slots=True)
class Reached:
    """What whole deployments reach: requests/s, and seconds of TTFT and TPOT."""

    rate: Array
    ttft: Array
    tpot: Array


def bands_within(
    bound: Bounds, reached: Reached, requests: Requests, loads: Loads, counts: Array, factors: Array
) -> FigureBands:
    """Return the figures with bands that stay within the bounds of the whole deployments."""
    # An open loop is never answered faster than it asks.
    asked = np.where(loads.kind == CODES[LoadKind.REQUEST_RATE], loads.amount, np.inf)
    rate = _below(reached.rate, np.minimum(bound.rate, asked), factors[:, 0], factors[:, 1])
    output = _scaled(rate, requests.output)
    ttft = _above(reached.ttft, bound.ttft, factors[:, 2], factors[:, 3])
    tpot = _above(reached.tpot, bound.tpot, factors[:, 4], factors[:, 5])
    gaps = np.maximum(requests.output - 1.0, 0.0)
    value, low, high = (
        first + np.where(gaps > 0, gaps * each, 0.0) for first, each in zip(ttft, tpot, strict=True)
    )
    is_batch = loads.kind == CODES[LoadKind.BATCH]
    size = np.where(is_batch, loads.amount, np.nan)
    return FigureBands(
        output_tokens_per_s=output,
        total_tokens_per_s=_scaled(output, (requests.held_prompt + requests.output) / requests.output),
        output_tokens_per_s_per_accelerator=_scaled(output, 1.0 / counts),
        ttft_ms=_scaled(ttft, 1e3),
        tpot_ms=_scaled(tpot, 1e3),
        request_s=(value, low, high),
        batch_s=(size / rate[0], size / rate[2], size / rate[1]),
    )


def figure_rows(
    results: Results, arrays: CaseArrays, chosen: NDArray[np.intp], ideal: Rows, factors: Array
) -> Iterator[Figures]:
    """Yield the figures of the chosen cases one by one, as `figure_bands` has them."""
    yield from rows_of(results, chosen, figure_bands(results, arrays, chosen, ideal, factors))


def rows_of(
    results: Results | PoolResults, chosen: NDArray[np.intp], bands: FigureBands
) -> Iterator[Figures]:
    """Yield the chosen cases one by one, each with its figures, which `bands` has in the same order."""
    yield from map(
        Figures,
        _whole(results.concurrency[chosen]),
        _whole(results.admitted[chosen]),
        results.stable[chosen].tolist(),
        results.limiter[chosen].tolist(),
        *(_banded(getattr(bands, field.name)) for field in fields(FigureBands)),
    )


def _below(value: Array, bound: Array, low: Array, high: Array) -> Band:
    """Band of a rate: neither value nor band passes the bound."""
    value = np.where(value > 0, np.minimum(value, bound), np.nan)
    return value, value * low, np.maximum(value, np.minimum(value * high, bound))


def _above(value: Array, bound: Array, low: Array, high: Array) -> Band:
    """Band of a time: neither value nor band falls below the bound."""
    value = np.where(value > 0, np.maximum(value, bound), np.nan)
    return value, np.minimum(value, np.maximum(value * low, bound)), value * high


def _scaled(figure: Band, factor: Array | float) -> Band:
    return figure[0] * factor, figure[1] * factor, figure[2] * factor


def _banded(figure: Band) -> list[Banded | None]:
    finite = (np.isfinite(figure[0]) & np.isfinite(figure[1]) & np.isfinite(figure[2])).tolist()
    # Hundreds of thousands are made at once, and the named constructor costs several times the plain one.
    new = tuple.__new__
    rows = zip(figure[0].tolist(), figure[1].tolist(), figure[2].tolist(), strict=True)
    return [new(Banded, row) if known else None for row, known in zip(rows, finite, strict=True)]


def _whole(values: Array) -> list[int | None]:
    return [None if value != value else max(0, round(value)) for value in values.tolist()]
