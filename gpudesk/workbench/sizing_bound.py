"""What physics alone would need for a demand, and how the count comes to be more than that."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.demand import BoundCheck
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.messages import message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision, concrete
from gpudesk.engine.hardware import peak
from gpudesk.engine.kv import cache_profile
from gpudesk.engine.sharding import shard

#: Counts above so many times the floor are explained.
EXPLAINED_ABOVE: Final = 10.0
#: A factor of the ratio below this is not worth a reason.
_WORTH_SAYING: Final = 1.05


def bytes_per_token(model: Model, part: Accelerator, estimate: Estimate) -> float:
    """Return the bytes that one output token makes memory read at the least, in bytes.

    Weights are read once a step for the largest batch that the replica holds, of experts those that so many
    tokens choose: 1 - (1 - k / E)^B. Each token reads the cache of its own request, half grown.
    """
    request, alone = estimate.request, ParallelPlan()
    weights, kv = concrete(request.weights, part.vendor), concrete(request.kv, part.vendor)
    batch = max(1, estimate.max_concurrency)
    shards = shard(model, weights, alone)
    chosen = shards.experts_per_token / shards.expert_count if shards.expert_count else 0.0
    experts = shards.experts.stored_bytes * (1.0 - (1.0 - chosen) ** batch)
    work = request.workload
    cache = cache_profile(model, kv, alone).sequence_bytes(work.input_tokens + work.output_tokens // 2)
    return (shards.dense.stored_bytes + shards.head.stored_bytes + experts) / batch + cache


def bound_check(
    model: Model,
    part: Accelerator,
    estimate: Estimate,
    free: Estimate,
    tokens_per_s: float,
    copies: tuple[int, int, float],
) -> BoundCheck:
    """Compare a candidate with the bandwidth floor: tokens/s x bytes a token / memory bandwidth.

    `estimate` is one replica within its limits, `free` the same without limits, `tokens_per_s` the output of
    the peak, `copies` the working replicas, all of them, and the utilisation cap. The factors named as
    reasons, with those too small to be named, multiply to the ratio.
    """
    working, every, cap = copies
    floor = tokens_per_s * bytes_per_token(model, part, estimate) / part.memory_bandwidth
    ratio = every * estimate.count / floor
    if ratio <= EXPLAINED_ABOVE:
        return BoundCheck(floor, ratio, ())
    within, most = _rate(estimate), _rate(free)
    read_s = bytes_per_token(model, part, estimate) / part.memory_bandwidth
    arithmetic = 1.0 + _arithmetic_s(model, part, estimate) / read_s
    needed = tokens_per_s / (within * cap)
    rounding, reserve, limits = working / needed, every / working, most / within
    engine = estimate.count / (read_s * arithmetic * most)
    spare = (every - working) * estimate.count
    factors = (
        (rounding, message("sizing.bound_rounding", factor=rounding, count=estimate.count)),
        (reserve, message("sizing.bound_reserve", factor=reserve, count=spare)),
        (1.0 / cap, message("sizing.bound_cap", factor=1.0 / cap, share=cap)),
        (limits, message("sizing.bound_limits", factor=limits, share=1.0 / limits)),
        (arithmetic, message("sizing.bound_arithmetic", factor=arithmetic)),
        (engine, message("sizing.bound_engine", factor=engine, share=1.0 / engine)),
    )
    said = sorted(factors, key=lambda each: -each[0])
    return BoundCheck(floor, ratio, tuple(reason for factor, reason in said if factor >= _WORTH_SAYING))


def _arithmetic_s(model: Model, part: Accelerator, estimate: Estimate) -> float:
    """Return the seconds of one accelerator at its peak for an output token and its share of the prompt.

    Two operations for each parameter that a token multiplies with; attention is left out.
    """
    work = estimate.request.workload
    weights = concrete(estimate.request.weights, part.vendor)
    rate = peak(part, weights) or peak(part, Precision.BF16)
    if rate is None:
        return 0.0
    shards = shard(model, weights, ParallelPlan())
    elements = shards.dense_elements_undivided + shards.active_expert_elements
    return 2.0 * elements * (1.0 + work.input_tokens / work.output_tokens) / rate.flops


def _rate(estimate: Estimate) -> float:
    rate = estimate.output_tokens_per_s
    return 0.0 if rate is None else rate.value
