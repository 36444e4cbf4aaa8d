"""Curves: figures of deployments by concurrency, all points in one vectorized call.

A curve depends on the deployment and the requests but not on the concurrency, so it is computed once and cached while
the concurrency is dragged; the point of the scenario is inserted from the estimate itself.
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

from gpudesk.domain.answer import ConcurrencyCurve, IntervalSeries, LimiterShares
from gpudesk.domain.deployment_analysis import Roofline, RooflineCeiling
from gpudesk.domain.estimate import Estimate, Limiter
from gpudesk.domain.registry import list_curve_figures
from gpudesk.domain.workload import LoadKind
from gpudesk.engine.disaggregation import serve_pools, split_pool_rounds
from gpudesk.engine.loads import RoundTimes, SchedulingConstants
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads, ServingResults, serve_loads
from gpudesk.engine.steps import LIMITERS, Array
from gpudesk.estimation.evaluation import CaseArrays, FigureIntervals, IntervalArrays, compute_figure_intervals
from gpudesk.estimation.operation import (
    EstimateDeployment,
    OperatingPoint,
    find_deployment,
    make_deployment_arrays,
    make_roofline,
    operate,
    split_case_rounds,
)
from gpudesk.estimation.pools import PoolEstimator, PoolOperatingPoint
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpaceTable


#: Points of a curve, evenly spread over the logarithm of concurrency, before duplicates merge.
SPREAD_POINTS: Final = 48
#: Cached curves: those of a scenario and of its previous state.
MOST_KEPT_CURVES: Final = 64

_NAMES: Final = np.array([str(limiter) for limiter in LIMITERS])
_CAPACITY: Final = LIMITERS.index(Limiter.CAPACITY)
_UNKNOWN: Final = IntervalEstimate(float("nan"), float("nan"), float("nan"))

#: Key of a curve: the step row with everything behind it, the requests, and (finite runs) their number.
_CurveKey = tuple[int, int, int, float, bool, tuple[int, int] | None]


@lru_cache(maxsize=512)
def list_curve_points(most: int) -> tuple[int, ...]:
    """Return the points of a curve up to `most`: 1, powers of two, the end, and evenly between them."""
    spread = np.rint(np.geomspace(1, most, SPREAD_POINTS)).astype(int).tolist()
    powers = [1 << exponent for exponent in range(most.bit_length())]
    return tuple(sorted({*spread, *powers, most}))


class CurveTable:
    """Computes and caches curves."""

    def __init__(self, table: SearchSpaceTable, constants: SchedulingConstants) -> None:
        self._table = table
        self._constants = constants
        self._cached_curves: dict[_CurveKey, ConcurrencyCurve] = {}

    def clear(self) -> None:
        """Drop all curves: the rows of the search spaces have moved."""
        self._cached_curves.clear()

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return the curves of estimates that fit, each passing through its estimate."""
        deployments = [find_deployment(estimate, self._table) for estimate in estimates]
        keys = [_make_curve_key(each) for each in deployments]
        missing = {key: each for key, each in zip(keys, deployments, strict=True) if key not in self._cached_curves}
        found = dict(zip(missing, self._make(list(missing.values())), strict=True)) if missing else {}
        curves = [self._cached_curves[key] if key in self._cached_curves else found[key] for key in keys]
        for key, curve in found.items():
            if len(self._cached_curves) >= MOST_KEPT_CURVES:
                del self._cached_curves[next(iter(self._cached_curves))]
            self._cached_curves[key] = curve
        return self._through_estimates(curves, deployments)

    def _make(self, deployments: list[EstimateDeployment]) -> list[ConcurrencyCurve]:
        points = [list_curve_points(each.max_sequences) for each in deployments]
        arrays = make_deployment_arrays(deployments, self._table, [len(each) for each in points])
        arrays = replace(arrays, loads=_make_closed_loops(deployments, points, arrays.loads))
        results = serve_loads(arrays.rows, arrays.requests, arrays.loads, self._constants)
        lengths = [len(each) for each in points]
        every = np.arange(len(arrays.index))
        case = np.repeat(np.arange(len(deployments)), lengths)
        ideal = self._table.coefficients.take_ideal([each.deployment for each in deployments]).select(case)
        factors = np.array([each.space.interval_factors[LoadKind.CONCURRENCY] for each in deployments])[case]
        parts = CurveArrays(
            intervals=compute_figure_intervals(results, arrays, every, ideal, factors),
            limiter=name_limiters(results),
            shares=compute_limiter_shares(split_case_rounds(arrays, results)),
        )
        borders = [0, *np.cumsum(lengths).tolist()]
        return [
            parts.curve(slice(start, end), where, each.max_sequences)
            for (start, end), where, each in zip(pairwise(borders), points, deployments, strict=True)
        ]

    def _through_estimates(
        self, curves: list[ConcurrencyCurve], deployments: list[EstimateDeployment]
    ) -> tuple[ConcurrencyCurve, ...]:
        """Put the estimates on their curves, so that both give the same figures."""
        between = [
            position
            for position, (curve, each) in enumerate(zip(curves, deployments, strict=True))
            if _is_on_curve(each) and each.estimate.concurrency not in curve.concurrency
        ]
        shares = np.empty((len(LIMITERS), 0))
        if between:
            operation = operate([deployments[position] for position in between], self._table, self._constants)
            shares = compute_limiter_shares(operation.rounds)
        at = dict(zip(between, shares.T.tolist(), strict=True))
        return tuple(
            _insert_estimate(curve, each.estimate, at.get(position)) if _is_on_curve(each) else curve
            for position, (curve, each) in enumerate(zip(curves, deployments, strict=True))
        )


def _make_curve_key(chosen: EstimateDeployment) -> _CurveKey:
    estimate = chosen.estimate
    work = estimate.request.workload
    finite = work.load.kind is LoadKind.CONCURRENCY and work.load.requests is not None
    run = (work.load.requests or 1, estimate.concurrency or 1) if finite else None
    return (chosen.deployment.position, work.input_tokens, work.output_tokens, work.prefix_hit_rate, work.uneven, run)


def _make_closed_loops(
    deployments: list[EstimateDeployment], points: list[tuple[int, ...]], own: DeploymentLoads
) -> DeploymentLoads:
    """Return closed loops at the points; a finite run keeps its number of rounds at all of them."""
    amount = np.array([point for each in points for point in each], dtype=np.float64)
    runs = [_make_curve_key(each)[-1] or (np.inf, 1) for each in deployments]
    lengths = [len(each) for each in points]
    requests, clients = np.repeat(np.array(runs, dtype=np.float64), lengths, axis=0).T
    return replace(
        own,
        kind=np.full(len(amount), LOAD_CODES[LoadKind.CONCURRENCY], dtype=np.int8),
        amount=amount,
        total=np.maximum(amount * requests / clients, amount),
    )


def name_limiters(results: ServingResults) -> NDArray[np.str_]:
    """Name the limiter of each point: memory if fewer sequences run than are requested."""
    return _NAMES[np.where(_mark_waiting(results), _CAPACITY, results.limiter)]


def _mark_waiting(results: ServingResults) -> NDArray[np.bool_]:
    fewer: NDArray[np.bool_] = np.rint(results.admitted) < np.rint(results.concurrency)
    return fewer


def compute_limiter_shares(rounds: RoundTimes) -> Array:
    """Shares of the round by limiter, of shape (4, cases)."""
    parts = np.stack(rounds.parts)
    shares: Array = parts / parts.sum(axis=0)
    return shares


@dataclass(frozen=True, slots=True)
class CurveArrays:
    """All points of all curves one after the other."""

    intervals: FigureIntervals
    limiter: NDArray[np.str_]
    shares: Array

    def curve(self, at: slice, concurrency: tuple[int, ...], most: int) -> ConcurrencyCurve:
        series = {name: _make_series(getattr(self.intervals, name), at) for name in list_curve_figures()}
        return ConcurrencyCurve(
            concurrency=concurrency,
            **series,
            limiter=tuple(self.limiter[at].tolist()),
            shares=LimiterShares(*(tuple(part[at].tolist()) for part in self.shares)),
            max_concurrency=most,
        )


def _make_series(band: IntervalArrays, at: slice) -> IntervalSeries:
    value, low, high = (tuple(each[at].tolist()) for each in band)
    return IntervalSeries(value, low, high)


def _is_on_curve(chosen: EstimateDeployment) -> bool:
    """Whether the estimate is a point of its own curve: a closed loop within the memory limit."""
    estimate = chosen.estimate
    closed = estimate.request.workload.load.kind is LoadKind.CONCURRENCY
    return closed and 1 <= (estimate.concurrency or 0) <= chosen.max_sequences


def _insert_estimate(curve: ConcurrencyCurve, estimate: Estimate, shares: list[float] | None) -> ConcurrencyCurve:
    """Return a curve with the estimate as the point at its concurrency; `shares` for a new point."""
    own = estimate.concurrency or 1
    place = bisect_left(curve.concurrency, own)
    after = place if shares is not None else place + 1

    def insert(values: tuple[float, ...], value: float) -> tuple[float, ...]:
        return (*values[:place], value, *values[after:])

    def put_figure(series: IntervalSeries, figure: IntervalEstimate | None) -> IntervalSeries:
        parts = zip((series.value, series.low, series.high), figure or _UNKNOWN, strict=True)
        value, low, high = (insert(values, each) for values, each in parts)
        return IntervalSeries(value, low, high)

    limiter_shares = curve.shares
    if shares is not None:
        names = [field.name for field in fields(LimiterShares)]
        limiter_shares = LimiterShares(
            *(insert(getattr(limiter_shares, n), each) for n, each in zip(names, shares, strict=True))
        )
    series = {name: put_figure(getattr(curve, name), getattr(estimate, name)) for name in list_curve_figures()}
    return ConcurrencyCurve(
        concurrency=(*curve.concurrency[:place], own, *curve.concurrency[after:]),
        **series,
        limiter=(*curve.limiter[:place], str(estimate.limiter), *curve.limiter[after:]),
        shares=limiter_shares,
        max_concurrency=curve.max_concurrency,
    )


class PoolCharts:
    """Builds the chart data of an estimate with pools."""

    def __init__(self, pools: PoolEstimator, constants: SchedulingConstants) -> None:
        self._pools = pools
        self._constants = constants

    def curve(self, estimate: Estimate) -> ConcurrencyCurve:
        """Return the figures of the same pools by concurrency, including the estimate's own point."""
        done = self._pools.operate(estimate)
        most = estimate.max_concurrency
        load = estimate.request.workload.load
        closed = load.kind is LoadKind.CONCURRENCY
        own = estimate.concurrency or 1
        points = {*list_curve_points(most), *({own} if closed and own <= most else ())}
        amount = np.array(sorted(points), dtype=np.float64)
        rounds = load.requests / own if closed and load.requests is not None else np.inf
        cases = self._pools.make_cases(estimate.request, done.spaces[1], [done.pair] * len(amount))
        kind = np.full(len(amount), LOAD_CODES[LoadKind.CONCURRENCY], dtype=np.int8)
        loads = replace(cases.loads, kind=kind, amount=amount, total=np.maximum(amount * rounds, amount))
        cases = replace(cases, loads=loads)
        results = serve_pools(LoadKind.CONCURRENCY, cases.pools, cases.requests, loads, self._constants)
        parts = CurveArrays(
            intervals=self._pools.compute_intervals(done.pair, cases, results),
            limiter=name_limiters(results),
            shares=compute_limiter_shares(split_pool_rounds(cases.pools, cases.requests, results)),
        )
        return parts.curve(slice(None), tuple(int(each) for each in amount), most)

    def roofline(self, estimate: Estimate) -> Roofline:
        """Return the rooflines of the decode pool with its point, and the point of the prefill pool."""
        done = self._pools.operate(estimate)
        prefill, decode = (
            make_roofline(space, choice.deployment, self._get_operation(done, which))
            for which, (space, choice) in enumerate(zip(done.spaces, done.pair, strict=True))
        )
        effective = RooflineCeiling(decode.effective.bandwidth, prefill.effective.flops)
        return replace(decode, prefill=prefill.prefill, effective=effective)

    def operate(self, estimate: Estimate) -> OperatingPoint:
        """Return the operation of the decode pool under the load of an estimate."""
        return self._get_operation(self._pools.operate(estimate), 1)

    def _get_operation(self, done: PoolOperatingPoint, which: int) -> OperatingPoint:
        """Return the operation of one of the pools (0: prefill, 1: decode) in the form that charts use."""
        cases, results = done.cases, done.results
        arrays = CaseArrays(
            index=np.array([done.pair[which].deployment.position], dtype=np.intp),
            rows=cases.pools.decode if which else cases.pools.prefill,
            requests=cases.requests,
            loads=cases.loads,
            counts=cases.counts,
        )
        return OperatingPoint(arrays, results, split_pool_rounds(cases.pools, cases.requests, results))
