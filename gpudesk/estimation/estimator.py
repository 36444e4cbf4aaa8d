"""The estimator: resolves requests with catalog and calibration and answers many of them in one call; curves.

A curve has figures of a deployment by concurrency, all points in one vectorized call. It depends on the deployment and
the requests but not on the concurrency, so it is computed once and cached while the concurrency is dragged; the point
of the scenario is inserted from the estimate itself.
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

from gpudesk.domain.answer import ConcurrencyCurve, FigureDifference, IntervalSeries, LimiterShares
from gpudesk.domain.deployment_analysis import (
    AcceleratorScaling,
    DeploymentTimeShares,
    KvCacheCurve,
    RequestTimeline,
    Roofline,
    RooflineCeiling,
    TopologyComparison,
)
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.estimate import Estimate, EstimateRequest, LaunchSettings, Limiter, PlanChoice
from gpudesk.domain.registry import FIGURES, list_curve_figures, list_judged_figures
from gpudesk.domain.sizing import Demand, FitRemedy, SizingResult, SmallestDeployments, UsableMemory
from gpudesk.domain.workload import LoadKind
from gpudesk.engine.calibration import (
    NO_KEYS,
    Calibration,
    compute_lead_odds,
    find_lead_scale,
    find_plan_interval,
    make_ratio_interval,
    relate_accelerators,
)
from gpudesk.engine.disaggregation import serve_pools, split_pool_rounds
from gpudesk.engine.loads import RoundTimes, SchedulingConstants
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads, ServingResults, make_workload_values, serve_loads
from gpudesk.engine.steps import LIMITERS, Array
from gpudesk.estimation.derivation.figures import explain_figure, explain_pools
from gpudesk.estimation.evaluation import (
    CaseArrays,
    CaseList,
    FigureIntervals,
    IntervalArrays,
    compute_figure_intervals,
    make_estimate,
    make_unfit_estimate,
)
from gpudesk.estimation.operation import (
    EstimateDeployment,
    OperatingPoint,
    compute_kv_curve,
    compute_memory_room,
    compute_request_time,
    compute_step_shares,
    find_deployment,
    find_memory_plan,
    get_pool_request,
    make_deployment_arrays,
    make_roofline,
    operate,
    split_case_rounds,
)
from gpudesk.estimation.plan_comparison import PlanIntervals, explain_plan_choice
from gpudesk.estimation.pools import PoolEstimator, PoolOperatingPoint
from gpudesk.estimation.search_space import EstimatorCatalog, FittingPlans, SearchSpace, SearchSpaceTable
from gpudesk.estimation.sizing.minimum import InsufficientDeployment, MinimumCountFinder, find_remedies, is_short
from gpudesk.estimation.sizing.topology import ScalingTable, compare_topologies
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, message

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import System
    from gpudesk.estimation.line_answers import LineAnswerer, LineQuestion
    from gpudesk.estimation.sizing.demand import SizingRequest


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


POOLS_NOT_SIZED: Final = message(
    "sizing.pools", "has separate prefill and decode pools, which sizing does not support; size it without pools"
)


def get_serving_constants(calibration: Calibration) -> SchedulingConstants:
    names = SchedulingConstants.__dataclass_fields__
    return SchedulingConstants(**{name: calibration.value(name, NO_KEYS) for name in names})


class Estimator:
    """Answers questions about deployments; caches results on accelerators, models and plans."""

    def __init__(self, catalog: EstimatorCatalog, calibration: Calibration) -> None:
        self._calibration = calibration
        self._constants = get_serving_constants(calibration)
        self._table = SearchSpaceTable(catalog, calibration)
        self._curves = CurveTable(self._table, self._constants)
        self._needs = MinimumCountFinder(self._table, self._constants)
        self._pools = PoolEstimator(self._table, self._constants)
        self._lines: LineAnswerer | None = None
        self._pool_charts = PoolCharts(self._pools, self._constants)
        self._scaling = ScalingTable(self._table, self._constants, self.estimate_many)

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Answer one question; raises InputError if it cannot be answered."""
        answer = self.estimate_many([request])[0]
        if isinstance(answer, InputError):
            raise answer
        return answer

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Answer all questions in one vectorized call, in order; a failed one gives its InputError."""
        self._make_room()
        with self._table:
            return self._answer(requests)

    def _answer(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        cases = CaseList(self._table)
        open_requests: list[tuple[int, SearchSpace, FittingPlans]] = []
        answers: list[Estimate | InputError | None] = [None] * len(requests)
        for position, request in enumerate(requests):
            work = request.workload
            try:
                if request.disaggregated is not None:
                    answers[position] = self._pools.estimate(request)
                    continue
                space = self._table.find_space(request)
                fitting = space.find_smallest_fitting(work.request_tokens)
                if fitting is None:
                    answers[position] = make_unfit_estimate(request, space)
                    continue
            except InputError as error:
                answers[position] = error
                continue
            open_requests.append((position, space, fitting))
            cases.add(fitting, make_workload_values(work))
        if open_requests:
            factors = [
                space.interval_factors[requests[position].workload.load.kind] for position, space, _ in open_requests
            ]
            chosen = cases.choose(factors, self._constants)
            for (position, space, fitting), place, figures in zip(
                open_requests, chosen.places, chosen.iterate_figures(), strict=True
            ):
                answers[position] = make_estimate(requests[position], space, fitting, place, figures)
        return [answer for answer in answers if answer is not None]

    def answer_lines(self, questions: Sequence[LineQuestion]) -> list[bytes | InputError]:
        """Return the JSON lines that answer questions, in order; a failed one gives its InputError."""
        from gpudesk.estimation.line_answers import LineAnswerer

        self._make_room()
        if self._lines is None:
            self._lines = LineAnswerer(self._table, self._constants, self._pools.estimate)
        with self._table:
            return self._lines.answer(questions)

    def list_counts(self, request: EstimateRequest) -> tuple[int, ...]:
        """Return the sizes to try for a request that leaves its size open, smallest first.

        Those half as large again are for three replicas. Raises InputError for a request that cannot be answered.
        """
        sizes = self._table.find_space(replace(request, count=None)).counts
        between = {size * 3 // 2 for size in sizes if size % 2 == 0}
        return tuple(sorted({*sizes, *(size for size in between if size < sizes[-1])}))

    def remember(self, most: int) -> None:
        """Cache this many plans, of about 1.5 kB each: for many questions about many deployments."""
        self._table.most_kept = most

    def _make_room(self) -> None:
        if self._table.make_room():
            self._curves.clear()
            self._lines = None

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return for each estimate, which must fit, the figures of its deployment by concurrency."""
        with self._table:
            alone = iter(self._curves.curves([each for each in estimates if each.pools is None]))
            return tuple(next(alone) if each.pools is None else self._pool_charts.curve(each) for each in estimates)

    def roofline(self, estimate: Estimate) -> Roofline | None:
        """Return the roofline of a deployment with its points; None if it does not fit."""
        if not estimate.fits:
            return None
        if estimate.pools is not None:
            return self._pool_charts.roofline(estimate)
        there = find_deployment(estimate, self._table)
        return make_roofline(there.space, there.deployment, self._operate(estimate))

    def step_shares(self, estimate: Estimate) -> DeploymentTimeShares | None:
        """Return the time breakdown of a deployment; None if it does not fit."""
        return compute_step_shares(self._operate(estimate)) if estimate.fits else None

    def request_time(self, estimate: Estimate) -> RequestTimeline | None:
        """Return the time breakdown of one request; None if it does not fit or the load has no such time."""
        return compute_request_time(self._operate(estimate), estimate) if estimate.fits else None

    def _operate(self, estimate: Estimate) -> OperatingPoint:
        """Return the operation of a deployment that fits, or of its decode pool, under its load."""
        if estimate.pools is not None:
            return self._pool_charts.operate(estimate)
        return operate([find_deployment(estimate, self._table)], self._table, self._constants)

    def kv_against_context(self, estimate: Estimate) -> KvCacheCurve:
        """Return the KV cache of a deployment by context length, fitting or not."""
        space, memory = find_memory_plan(estimate, self._table)
        return compute_kv_curve(estimate, space.configuration, memory)

    def memory_room(self, estimate: Estimate) -> UsableMemory:
        """Return the usable memory of a deployment and the memory that its load needs, fitting or not."""
        _, memory = find_memory_plan(estimate, self._table)
        return compute_memory_room(estimate, memory.budget)

    def launch_settings(self, estimate: Estimate, systems: Sequence[System]) -> LaunchSettings:
        from gpudesk.estimation.launch import get_launch_settings

        return get_launch_settings(estimate, self._table, systems)

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[SmallestDeployments, ...], ...]:
        """Return for each request the smallest deployments by weight format, from wide to narrow."""
        self._make_room()
        with self._table:
            return self._needs.needed(requests)

    def size(self, requests: Sequence[EstimateRequest], demand: Demand) -> SizingResult:
        """Return how many of each accelerator a demand needs; counts of requests are ignored."""
        from gpudesk.estimation.sizing.demand import size_demand

        self._make_room()
        output_tokens = requests[0].workload.output_tokens if requests else 1
        sized = [self._to_size(request) for request in requests]
        return size_demand(demand, sized, self.estimate_many, output_tokens)

    def _to_size(self, request: EstimateRequest) -> SizingRequest:
        from gpudesk.estimation.sizing.demand import SizingRequest

        part, model = self._table.find_facts(request)
        free = replace(request, count=None, dp=None)
        if request.disaggregated is not None:
            return SizingRequest(free, part, model, (), POOLS_NOT_SIZED)
        try:
            least = (request.tp or 1) * (request.pp or 1)
            fixed = request.tp is not None or request.pp is not None
            counts = (least,) if fixed else self._table.find_space(free).counts
        except InputError as error:
            return SizingRequest(free, part, model, (), error.problem)
        return SizingRequest(free, part, model, counts)

    def remedies(self, estimate: Estimate) -> tuple[FitRemedy, ...]:
        """Return what would make a deployment fit; empty if it does."""
        if not is_short(estimate):
            return ()
        part, model = self._table.find_facts(estimate.request)
        size = self._needs.for_load(estimate.request)
        unasked = replace(get_pool_request(estimate), memory_fraction=None)
        safe = self._table.find_space(unasked).configuration.settings.memory_fraction
        return find_remedies(InsufficientDeployment(estimate, part, model, size, safe), self.estimate_many)

    def scalings(
        self, requests: Sequence[EstimateRequest], *, brief: bool = False
    ) -> tuple[AcceleratorScaling | InputError, ...]:
        """Return for each request how its accelerator scales with the count, which is ignored."""
        return self._scaling.scalings(requests, brief=brief)

    def topology(self, baseline: Estimate, other: Estimate) -> TopologyComparison:
        """Compare two deployments by the cost of sharding; raises InputError if one does not fit."""
        return compare_topologies(baseline, other, self._table, self._constants, self.estimate_many, self.differences)

    def plans(self, estimate: Estimate) -> PlanChoice:
        """Return every plan considered for an estimate, with the reason for or against it."""
        bands = PlanIntervals(
            *(
                find_plan_interval(self._calibration, figure, estimate.basis)
                for figure in ("throughput", "ttft", "tpot")
            )
        )
        return explain_plan_choice(estimate, self._table, self._constants, bands)

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[FigureDifference, ...]:
        """Compare two estimates figure by figure, each with the interval of the ratio and the odds of a lead."""
        accelerators = (self._table.find_facts(each.request)[0] for each in (baseline, other))
        relation = relate_accelerators(*accelerators)
        found = []
        for figure in list_judged_figures():
            ours, theirs = getattr(other, figure), getattr(baseline, figure)
            if ours is None or theirs is None:
                continue
            kind = {"ttft_ms": "ttft", "tpot_ms": "tpot"}.get(figure, "throughput")
            ratio = ours.value / theirs.value
            scale = find_lead_scale(self._calibration, kind, baseline.basis, other.basis, relation)
            better = ratio if FIGURES[figure].more_is_better else 1.0 / ratio
            found.append(
                FigureDifference(
                    figure=figure,
                    accelerator=other.request.accelerator,
                    baseline=baseline.request.accelerator,
                    ratio=make_ratio_interval(ratio, scale),
                    odds=compute_lead_odds(better, scale),
                )
            )
        return tuple(found)

    def explain(self, estimate: Estimate, figure: str) -> DerivationTerm:
        """Return the derivation of a figure; raises InputError that lists the known figures."""
        pool_term = None if estimate.pools is None else explain_pools(estimate, figure, self._pools)
        return pool_term or explain_figure(estimate, figure, self._table, self._constants)
