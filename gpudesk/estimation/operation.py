"""The operation of an estimate's deployment under its load: step shares, roofline, KV curve, memory headroom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.domain.deployment import ParallelPlan
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
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.sizing import UsableMemory
from gpudesk.engine.kv_cache import compute_cache_profile
from gpudesk.engine.loads import RoundTimes, SchedulingConstants, split_round_times
from gpudesk.engine.memory import MemoryBudget, MemoryPlan, ResolvedDeployment, ServingConfiguration
from gpudesk.engine.rates import EffectiveRates, compute_lossless_coefficients
from gpudesk.engine.serving import ServingResults, make_workload_values, serve_loads
from gpudesk.engine.step_work import HardwareCeilings
from gpudesk.engine.steps import (
    LIMITERS,
    Array,
    CoefficientColumns,
    OperatorTimes,
    StepCoefficients,
    StepTime,
    compute_decode_operators,
    compute_prefill_operators,
    compute_prefill_step,
)
from gpudesk.estimation.evaluation import CaseArrays, CaseColumns, make_case_arrays

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpace, SearchSpaceTable


@dataclass(frozen=True, slots=True)
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
        CaseColumns(*(np.repeat(column, lengths) for column in columns)),
    )


@dataclass(frozen=True, slots=True)
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
    running = results.running.clip(1.0)
    return split_round_times(arrays.rows, arrays.requests, running, results.waiting)


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


@dataclass(frozen=True, slots=True)
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
    # Attention ranks count with their average work, not that of the busiest.
    coefficients = replace(
        coefficients, attention_ranks=1.0, head_flop=coefficients.head_flop / coefficients.attention_ranks
    )
    decode, prefill = (
        _place_decode(coefficients, ceilings, operation),
        _place_prefill(coefficients, ceilings, operation),
    )
    return Roofline(
        arithmetic=deployment.configuration.kernel.arithmetic,
        peak_precision=ceilings.expert_peak.precision,
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
        _count_sequences(estimate, budget.admitted_sequences(tokens)), budget.cache.sequence_bytes(tokens)
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
