"""Curves: the figures of deployments against concurrency, all points of all of them in one vectorised call.

A curve depends on the deployment and the requests but not on how many are in flight, so it is worked out once
and kept while the concurrency is dragged; the point of the scenario is put in from the estimate itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.answers import BandedSeries, Curve, LimiterShares
from gpudesk.domain.estimates import Banded, Estimate, Limiter
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.disaggregated import PoolResults
from gpudesk.engine.loads import RoundTimes, ServingConstants
from gpudesk.engine.serving import CODES, Loads, Results, serve
from gpudesk.engine.steps import LIMITERS, Array
from gpudesk.workbench.deployed import Deployed, arrays_of, deployed, operate, round_of
from gpudesk.workbench.figures import Band, FigureBands, figure_bands

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable

#: Points of a curve that are spread evenly over the logarithm of concurrency, before whole numbers merge.
SPREAD_POINTS: Final = 48
#: Curves that are kept: those of a scenario and of what it was changed from.
MOST_KEPT: Final = 64

_NAMES: Final = np.array([str(limiter) for limiter in LIMITERS])
_CAPACITY: Final = LIMITERS.index(Limiter.CAPACITY)
_UNKNOWN: Final = Banded(float("nan"), float("nan"), float("nan"))
_FIGURES: Final = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")

#: What a curve depends on: the step row with all behind it, the requests, and (finite runs) their number.
_Key = tuple[int, int, int, float, bool, tuple[int, int] | None]


@lru_cache(maxsize=512)
def curve_points(most: int) -> tuple[int, ...]:
    """Return where a curve up to `most` has points: 1, powers of two, the end, and evenly between them."""
    spread = np.rint(np.geomspace(1, most, SPREAD_POINTS)).astype(int).tolist()
    powers = [1 << exponent for exponent in range(most.bit_length())]
    return tuple(sorted({*spread, *powers, most}))


class CurveTable:
    """Makes curves and keeps them."""

    def __init__(self, table: SetupTable, constants: ServingConstants) -> None:
        """Start empty."""
        self._table = table
        self._constants = constants
        self._kept: dict[_Key, Curve] = {}

    def clear(self) -> None:
        """Forget all curves: the rows of the setups have other positions."""
        self._kept.clear()

    def curves(self, estimates: Sequence[Estimate]) -> tuple[Curve, ...]:
        """Return the curves of estimates that fit, each through the estimate itself where it is on it."""
        asked = [deployed(estimate, self._table) for estimate in estimates]
        keys = [_key(each) for each in asked]
        missing = {key: each for key, each in zip(keys, asked, strict=True) if key not in self._kept}
        found = dict(zip(missing, self._make(list(missing.values())), strict=True)) if missing else {}
        curves = [self._kept[key] if key in self._kept else found[key] for key in keys]
        for key, curve in found.items():
            if len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = curve
        return self._through_estimates(curves, asked)

    def _make(self, asked: list[Deployed]) -> list[Curve]:
        points = [curve_points(each.max_sequences) for each in asked]
        arrays = arrays_of(asked, self._table, [len(each) for each in points])
        arrays = replace(arrays, loads=_closed_loop(asked, points, arrays.loads))
        results = serve(arrays.rows, arrays.requests, arrays.loads, self._constants)
        lengths = [len(each) for each in points]
        every = np.arange(len(arrays.index))
        case = np.repeat(np.arange(len(asked)), lengths)
        ideal = self._table.ideal([each.candidate for each in asked]).select(case)
        factors = np.array([each.setup.factors[LoadKind.CONCURRENCY] for each in asked])[case]
        parts = CurveParts(
            bands=figure_bands(results, arrays, every, ideal, factors),
            limiter=limiters_of(results),
            shares=shares_of(round_of(arrays, results)),
        )
        borders = [0, *np.cumsum(lengths).tolist()]
        return [
            parts.curve(slice(start, end), where, each.max_sequences)
            for (start, end), where, each in zip(pairwise(borders), points, asked, strict=True)
        ]

    def _through_estimates(self, curves: list[Curve], asked: list[Deployed]) -> tuple[Curve, ...]:
        """Put the estimates on their curves, so that what is read off one is the figure of the other."""
        between = [
            position
            for position, (curve, each) in enumerate(zip(curves, asked, strict=True))
            if _on_curve(each) and each.estimate.concurrency not in curve.concurrency
        ]
        shares = np.empty((len(LIMITERS), 0))
        if between:
            operation = operate([asked[position] for position in between], self._table, self._constants)
            shares = shares_of(operation.rounds)
        at = dict(zip(between, shares.T.tolist(), strict=True))
        return tuple(
            _through(curve, each.estimate, at.get(position)) if _on_curve(each) else curve
            for position, (curve, each) in enumerate(zip(curves, asked, strict=True))
        )


def _key(asked: Deployed) -> _Key:
    estimate = asked.estimate
    work = estimate.request.workload
    finite = work.load.kind is LoadKind.CONCURRENCY and work.load.requests is not None
    run = (work.load.requests or 1, estimate.concurrency or 1) if finite else None
    return (
        asked.candidate.position,
        work.input_tokens,
        work.output_tokens,
        work.prefix_hit_rate,
        work.uneven,
        run,
    )


def _closed_loop(asked: list[Deployed], points: list[tuple[int, ...]], own: Loads) -> Loads:
    """Return closed loops at the points; a finite run keeps its number of rounds at all of them."""
    amount = np.array([point for each in points for point in each], dtype=np.float64)
    runs = [_key(each)[-1] or (np.inf, 1) for each in asked]
    lengths = [len(each) for each in points]
    requests, clients = np.repeat(np.array(runs, dtype=np.float64), lengths, axis=0).T
    return replace(
        own,
        kind=np.full(len(amount), CODES[LoadKind.CONCURRENCY], dtype=np.int8),
        amount=amount,
        total=np.maximum(amount * requests / clients, amount),
    )


def limiters_of(results: Results | PoolResults) -> NDArray[np.str_]:
    """Name what limits each point: memory where fewer sequences run than are there."""
    return _NAMES[np.where(_waits(results), _CAPACITY, results.limiter)]


def _waits(results: Results | PoolResults) -> NDArray[np.bool_]:
    """Whether fewer sequences run than are there, whole sequences counted."""
    fewer: NDArray[np.bool_] = np.rint(results.admitted) < np.rint(results.concurrency)
    return fewer


def shares_of(rounds: RoundTimes) -> Array:
    """Shares of the round by limiter, of shape (4, cases)."""
    parts = np.stack(rounds.parts)
    shares: Array = parts / parts.sum(axis=0)
    return shares


@dataclass(frozen=True, slots=True)
class CurveParts:
    """All points of all curves one after the other."""

    bands: FigureBands
    limiter: NDArray[np.str_]
    shares: Array

    def curve(self, at: slice, concurrency: tuple[int, ...], most: int) -> Curve:
        """Cut out one curve."""
        series = {name: _series(getattr(self.bands, name), at) for name in _FIGURES}
        return Curve(
            concurrency=concurrency,
            **series,
            limiter=tuple(self.limiter[at].tolist()),
            shares=LimiterShares(*(tuple(part[at].tolist()) for part in self.shares)),
            max_concurrency=most,
        )


def _series(band: Band, at: slice) -> BandedSeries:
    value, low, high = (tuple(each[at].tolist()) for each in band)
    return BandedSeries(value, low, high)


def _on_curve(asked: Deployed) -> bool:
    """Whether the estimate is a point of its own curve: a closed loop that ends no later than memory."""
    estimate = asked.estimate
    closed = estimate.request.workload.load.kind is LoadKind.CONCURRENCY
    return closed and 1 <= (estimate.concurrency or 0) <= asked.max_sequences


def _through(curve: Curve, estimate: Estimate, shares: list[float] | None) -> Curve:
    """Return a curve with the estimate as the point at its concurrency; `shares` where it is a new point."""
    own = estimate.concurrency or 1
    place = bisect_left(curve.concurrency, own)
    after = place if shares is not None else place + 1

    def put(values: tuple[float, ...], value: float) -> tuple[float, ...]:
        return (*values[:place], value, *values[after:])

    def put_figure(series: BandedSeries, figure: Banded | None) -> BandedSeries:
        parts = zip((series.value, series.low, series.high), figure or _UNKNOWN, strict=True)
        value, low, high = (put(values, each) for values, each in parts)
        return BandedSeries(value, low, high)

    held = curve.shares
    if shares is not None:
        names = [field.name for field in fields(LimiterShares)]
        held = LimiterShares(*(put(getattr(held, n), each) for n, each in zip(names, shares, strict=True)))
    series = {name: put_figure(getattr(curve, name), getattr(estimate, name)) for name in _FIGURES}
    return Curve(
        concurrency=(*curve.concurrency[:place], own, *curve.concurrency[after:]),
        **series,
        limiter=(*curve.limiter[:place], str(estimate.limiter), *curve.limiter[after:]),
        shares=held,
        max_concurrency=curve.max_concurrency,
    )
