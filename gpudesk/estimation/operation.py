"""The operation of an estimate's deployment under its load: step shares, roofline, KV curve, memory headroom, curves.

A curve has figures of a deployment by concurrency, all points in one vectorized call. It depends on the deployment and
the requests but not on the concurrency, so it is computed once and cached while the concurrency is dragged; the point
of the scenario is inserted from the estimate itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.answer import ConcurrencyCurve, IntervalSeries, LimiterShares
from gpudesk.domain.deployment_analysis import (
    PREFILL_SHARE,
    DeploymentTimeShares,
    KvCacheCurve,
    RequestTimeline,
    Roofline,
    RooflineCeiling,
    RooflinePoint,
    TimeShare,
)
from gpudesk.domain.estimate import Estimate, EstimateRequest, Limiter, LoadKind, ParallelPlan
from gpudesk.domain.registry import list_curve_figures
from gpudesk.domain.sizing import UsableMemory
from gpudesk.engine.loads import RoundTimes, SchedulingConstants
from gpudesk.engine.memory import (
    MemoryBudget,
    MemoryPlan,
    ResolvedDeployment,
    ServingConfiguration,
    compute_cache_profile,
)
from gpudesk.engine.rates import EffectiveRates, compute_lossless_coefficients
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads, ServingResults, make_workload_values, serve_loads
from gpudesk.engine.step_work import HardwareCeilings
from gpudesk.engine.steps import (
    LIMITERS,
    Array,
    CoefficientColumns,
    OperatorTimes,
    StepCoefficients,
    StepTime,
    compute_decode_operators,
    compute_lone_ttft,
    compute_prefill_operators,
    compute_prefill_step,
    compute_round,
)
from gpudesk.estimation.evaluation import (
    CaseArrays,
    FigureIntervals,
    IntervalArrays,
    compute_figure_intervals,
    make_case_arrays,
)
from gpudesk.estimation.search_space import SearchSpace, SearchSpaceTable
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate


@frozen_dataclass
class EstimateDeployment:
    """An estimate with its chosen deployment."""

    estimate: Estimate
    space: SearchSpace
    deployment: ResolvedDeployment

    @property
    def max_sequences(self) -> int:
        """Requests of the estimate that fit in memory."""
        return self.deployment.budget.max_sequences(self.estimate.request.workload.request_tokens)

    @property
    def capacity(self) -> float:
        """Sequences that one replica runs at once, by memory and serving engine."""
        return self.deployment.memory.compute_capacity_for(self.estimate.request.workload.request_tokens)


def get_pool_request(estimate: Estimate) -> EstimateRequest:
    """Return the question of an estimate; with pools, that of the pool whose plan it has, by itself."""
    request = estimate.request
    return request if request.disaggregated is None else request.with_plan(estimate.plan)


def find_memory_plan(estimate: Estimate, table: SearchSpaceTable) -> tuple[SearchSpace, MemoryPlan]:
    """Return the search space of an estimate, and its plan with its memory, fitting or not.

    With pools, these are those of the pool whose plan the estimate has.
    """
    request = get_pool_request(estimate)
    space = table.find_space(request)
    memory_plans = space.list_memory_plans(estimate.plan.count)
    return space, next(memory for memory in memory_plans if memory.plan == estimate.plan)


def find_deployment(estimate: Estimate, table: SearchSpaceTable) -> EstimateDeployment:
    space, memory = find_memory_plan(estimate, table)
    return EstimateDeployment(estimate, space, space.resolve(memory))


def make_deployment_arrays(
    deployments: Sequence[EstimateDeployment], table: SearchSpaceTable, points: Sequence[int] | None = None
) -> CaseArrays:
    """Return a case per deployment under its own load, or as many consecutive ones as `points` says."""
    lengths = points or [1] * len(deployments)
    columns = (
        [each.deployment.position for each in deployments],
        [each.capacity for each in deployments],
        [float(each.deployment.plan.dp) for each in deployments],
        [float(each.deployment.plan.count) for each in deployments],
    )
    return make_case_arrays(
        table.coefficients,
        [make_workload_values(each.estimate.request.workload) for each in deployments],
        lengths,
        *(np.repeat(column, lengths) for column in columns),
    )


@frozen_dataclass
class OperatingPoint:
    """Results of deployments under their own loads, one case each."""

    arrays: CaseArrays
    results: ServingResults
    rounds: RoundTimes


def operate(
    deployments: Sequence[EstimateDeployment], table: SearchSpaceTable, constants: SchedulingConstants
) -> OperatingPoint:
    """Serve the load of each deployment again, and break down its round."""
    arrays = make_deployment_arrays(deployments, table)
    results = serve_loads(arrays.rows, arrays.requests, arrays.loads, constants)
    return OperatingPoint(arrays, results, split_case_rounds(arrays, results))


def split_case_rounds(arrays: CaseArrays, results: ServingResults) -> RoundTimes:
    cycle = compute_round(arrays.rows, arrays.requests, results.running.clip(1.0), results.waiting)
    alone = compute_lone_ttft(arrays.rows, arrays.requests)
    return RoundTimes(cycle.parts, cycle.decode, cycle.prefill, cycle.decoding, alone)


#: Limiters that take time; capacity does not.
_LIMITER_NAMES: Final = tuple(str(limiter) for limiter in LIMITERS[:4])


def compute_step_shares(operation: OperatingPoint) -> DeploymentTimeShares:
    """Return the time breakdown of a single deployment.

    TPOT is the decode step over the tokens that it yields, and the rest is mixed-in prefill.
    """
    rounds = operation.rounds
    decode = _list_step_parts(rounds.decode)
    return DeploymentTimeShares(
        run=_name_shares(np.array([float(part[0]) for part in rounds.parts])),
        token=_split_token_time(operation, decode),
        decode=_name_shares(decode),
        prefill=_name_shares(_list_step_parts(rounds.prefill)),
    )


def _list_step_parts(step: StepTime) -> Array:
    """Seconds of a step in the order of the limiters."""
    return np.array([float(part[0]) for part in (step.read_time, step.arithmetic, step.collectives, step.overhead)])


def _name_shares(seconds: Array, names: tuple[str, ...] = _LIMITER_NAMES) -> tuple[TimeShare, ...]:
    shares = (seconds / seconds.sum()).tolist()
    return tuple(TimeShare(name, share) for name, share in zip(names, shares, strict=True))


def _split_token_time(operation: OperatingPoint, decode: Array) -> tuple[TimeShare, ...] | None:
    later = float(operation.arrays.requests.output[0]) - 1.0
    tpot = float(operation.results.tpot[0])
    if later <= 0 or not np.isfinite(tpot):
        return None
    stepping = float(operation.rounds.decoding[0]) / later
    parts = decode / decode.sum() * stepping
    # Steps of a draining run are partly empty, and speculation beyond the requested tokens makes the last step count in
    # full: both leave no remainder.
    return _name_shares(np.append(parts, max(0.0, tpot - stepping)), (*_LIMITER_NAMES, PREFILL_SHARE))


def compute_request_time(operation: OperatingPoint, estimate: Estimate) -> RequestTimeline | None:
    """Return the time breakdown of one request; None if the load has no such time.

    Its own prefill takes its uncontended time; the rest of TTFT is waiting.
    """
    whole, first = estimate.request_s, estimate.ttft_ms
    if whole is None or first is None:
        return None
    ttft = first.value / 1e3
    prefill = min(float(operation.rounds.alone[0]), ttft)
    return RequestTimeline(ttft - prefill, prefill, whole.value - ttft)


@frozen_dataclass
class _CountedWork:
    """Bytes and FLOPs of one accelerator in one step, by operator class."""

    dense: tuple[float, float]
    experts: tuple[float, float]
    head: tuple[float, float]
    attention: tuple[float, float]

    @property
    def read_bytes(self) -> float:
        return self.dense[0] + self.experts[0] + self.head[0] + self.attention[0]

    @property
    def flop(self) -> float:
        return self.dense[1] + self.experts[1] + self.head[1] + self.attention[1]


def make_roofline(space: SearchSpace, deployment: ResolvedDeployment, operation: OperatingPoint) -> Roofline:
    """Return the roofline of a deployment with its points; `operation` is that of this deployment alone."""
    steps = space.make_step_model(deployment)
    ceilings, rates = steps.ceilings[0], steps.rates
    coefficients = compute_lossless_coefficients(steps.work, rates.expert_evenness)
    # Attention ranks count with their average work, not that of the most loaded.
    coefficients = replace(
        coefficients, attention_ranks=1.0, head_flop=coefficients.head_flop / coefficients.attention_ranks
    )
    decode, prefill = (
        _place_decode(coefficients, ceilings, operation),
        _place_prefill(coefficients, ceilings, operation),
    )
    return Roofline(
        arithmetic=deployment.configuration.kernel.arithmetic,
        paper=RooflineCeiling(ceilings.bandwidth, ceilings.expert_peak.flops),
        effective=RooflineCeiling(
            _compute_effective_bandwidth(decode[0], ceilings, rates),
            _compute_effective_flops(prefill[0], ceilings, rates),
        ),
        prefill=prefill[1],
        decode=decode[1],
    )


def _count_work(classes: OperatorTimes, ceilings: HardwareCeilings) -> _CountedWork:
    def of(times: tuple[np.ndarray, np.ndarray], peak: float) -> tuple[float, float]:
        read_time, arithmetic = times
        return float(read_time[0]) * ceilings.bandwidth, float(arithmetic[0]) * peak

    return _CountedWork(
        dense=of(classes.dense, ceilings.dense_peak.flops),
        experts=of(classes.experts, ceilings.expert_peak.flops),
        head=of(classes.head, ceilings.attention_peak.flops),
        attention=of(classes.attention, ceilings.attention_peak.flops),
    )


def _place_decode(
    coefficients: StepCoefficients, ceilings: HardwareCeilings, operation: OperatingPoint
) -> tuple[_CountedWork, RooflinePoint | None]:
    rows, requests = CoefficientColumns(CoefficientColumns.table([coefficients])), operation.arrays.requests
    running = np.maximum(operation.results.running, 1.0)
    micro_batch = np.maximum(running / rows.stages, 1.0)
    work = _count_work(compute_decode_operators(rows, micro_batch, requests.context), ceilings)
    if requests.output[0] <= 1.0 or operation.results.running[0] <= 0.0:
        return work, None
    # With fewer sequences than pipeline stages the others are idle.
    busy = float(np.minimum(running / rows.stages, 1.0)[0])
    tokens = float((micro_batch * rows.verified_tokens)[0])
    seconds = float(operation.rounds.decode.total[0]) / busy
    return work, RooflinePoint(tokens, work.flop, work.read_bytes, seconds)


def _place_prefill(
    coefficients: StepCoefficients, ceilings: HardwareCeilings, operation: OperatingPoint
) -> tuple[_CountedWork, RooflinePoint | None]:
    arrays, results = operation.arrays, operation.results
    prompt = np.maximum(arrays.requests.prompt, 1.0)
    chunk, step = compute_prefill_step(arrays.rows, prompt, results.waiting, arrays.requests.cached)
    rows = CoefficientColumns(CoefficientColumns.table([coefficients]))
    work = _count_work(compute_prefill_operators(rows, prompt, chunk, chunk, arrays.requests.cached), ceilings)
    if results.running[0] <= 0.0:
        return work, None
    return work, RooflinePoint(float(chunk[0]), work.flop, work.read_bytes, float(step.total[0]))


def _compute_effective_bandwidth(work: _CountedWork, ceilings: HardwareCeilings, rates: EffectiveRates) -> float:
    """Bytes/s: bytes of the step / sum over classes of bytes / (bandwidth x efficiency)."""
    seconds = (
        (work.dense[0] + work.head[0]) / rates.dense_read_efficiency
        + work.experts[0] / rates.expert_read_efficiency
        + work.attention[0] / rates.kv_read_efficiency
    ) / ceilings.bandwidth
    return float(work.read_bytes / (seconds * rates.stretch))


def _compute_effective_flops(work: _CountedWork, ceilings: HardwareCeilings, rates: EffectiveRates) -> float:
    """FLOP/s: FLOPs of the step / sum over classes of FLOPs / (peak x efficiency)."""
    seconds = (
        work.dense[1] / (ceilings.dense_peak.flops * rates.dense_efficiency)
        + work.experts[1] / (ceilings.expert_peak.flops * rates.expert_efficiency)
        + work.head[1] / (ceilings.attention_peak.flops * rates.dense_efficiency)
        + work.attention[1] / (ceilings.attention_peak.flops * rates.attention_efficiency)
    )
    return float(work.flop / (seconds * rates.stretch))


#: Start of the curve, and its end for a model without a stated maximum; tokens.
SHORTEST_CONTEXT: Final = 1024
LONGEST_ASSUMED: Final = 131_072


@lru_cache(maxsize=128)
def list_context_lengths(max_context: int | None, tokens: int) -> tuple[int, ...]:
    """Return powers of two up to the model's maximum, the maximum itself, and the length of the scenario."""
    most = max_context or max(LONGEST_ASSUMED, tokens)
    powers = [1 << exponent for exponent in range(SHORTEST_CONTEXT.bit_length() - 1, most.bit_length())]
    own = [tokens] if tokens <= most else []
    return tuple(sorted({*powers, most, *own}))


def compute_kv_curve(estimate: Estimate, configuration: ServingConfiguration, memory: MemoryPlan) -> KvCacheCurve:
    tokens = estimate.request.workload.request_tokens
    lengths = list_context_lengths(configuration.model.max_context, tokens)
    undivided = compute_cache_profile(configuration.model, configuration.kv, ParallelPlan())
    return KvCacheCurve(
        context=lengths,
        sequence_bytes=tuple(undivided.sequence_bytes(length) for length in lengths),
        fullest_bytes=tuple(memory.budget.cache.sequence_bytes(length) for length in lengths),
        max_concurrency=tuple(memory.budget.max_sequences(length) for length in lengths),
        max_context=configuration.model.max_context,
        tokens=tokens,
    )


def compute_memory_room(estimate: Estimate, budget: MemoryBudget) -> UsableMemory:
    """Return the memory headroom of an estimate's deployment, fitting or not."""
    tokens = estimate.request.workload.request_tokens
    static = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    memory_use = budget.compute_use(
        _count_sequences(estimate, budget.count_admitted_sequences(tokens)), budget.cache.sequence_bytes(tokens)
    )
    return UsableMemory(usable_bytes=static + budget.pool_bytes, needed_bytes=static + memory_use.kv_bytes)


def _count_sequences(estimate: Estimate, usual: int) -> int:
    """Return how many requests memory must hold at full length: not those waiting for the serving engine.

    `usual` is how many the engine admits; more run with on-demand memory.
    """
    admitted, concurrency = max(1, estimate.admitted or 1), estimate.concurrency or 1
    if estimate.fits and estimate.max_concurrency <= admitted < concurrency:
        return concurrency
    return max(1, min(admitted, usual))


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

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return the curves of estimates that fit, each passing through its estimate."""
        deployments = [find_deployment(estimate, self._table) for estimate in estimates]
        keys = [_make_curve_key(each) for each in deployments]
        # A copy: calls on other threads drop curves meanwhile.
        known = self._cached_curves.copy()
        missing = {key: each for key, each in zip(keys, deployments, strict=True) if key not in known}
        if missing:
            known.update(zip(missing, self._make(list(missing.values())), strict=True))
            self._cached_curves = dict(islice(known.items(), max(len(known) - MOST_KEPT_CURVES, 0), None))
        curves = [known[key] for key in keys]
        # Put the estimates on their curves, so that both give the same figures.
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
    fewer: NDArray[np.bool_] = np.rint(results.admitted) < np.rint(results.concurrency)
    return _NAMES[np.where(fewer, _CAPACITY, results.limiter)]


def compute_limiter_shares(rounds: RoundTimes) -> Array:
    """Shares of the round by limiter, of shape (4, cases)."""
    parts = np.stack(rounds.parts)
    shares: Array = parts / parts.sum(axis=0)
    return shares


@frozen_dataclass
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
