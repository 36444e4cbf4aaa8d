"""What a deployment reaches of its hardware: calibrated rates and overheads, and the step row they give.

`operating_point` looks the constants up, `step_row` turns shares of the model into seconds. Both are scalar
and cached by their callers; the vectorised part works on the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.models import Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.constants import Calibration
from gpudesk.engine.hardware import Link, Peak, link, peak
from gpudesk.engine.kv import CacheProfile, Growth
from gpudesk.engine.sharding import Shards, narrows_experts_only
from gpudesk.engine.steps import StepRow

#: Bytes of one element of an activation that travels between ranks.
TRAVEL_BYTES = 2
#: Window of a group that is empty.
NO_WINDOW = 0.0


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything beside the model's shares that sets the speed of a step.

    `arithmetic` is the format in which quantised matrices multiply; `months_old` is the age of the
    software before the newest calibrated month (0 or more).
    """

    accelerator: Accelerator
    family: str
    weights: Precision
    arithmetic: Precision
    kv: Precision
    plan: ParallelPlan
    months_old: float = 0.0
    eager: bool = False
    server: bool = True
    acceptance_length: float = 1.0
    max_batched_tokens: int = 8192
    max_batch: int = 1024


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Rates that a deployment reaches and the times it adds; SI units, efficiencies as shares of peak."""

    bandwidth: float
    dense_read_efficiency: float
    expert_read_efficiency: float
    kv_read_efficiency: float
    dense_peak: Peak
    dense_efficiency: float
    expert_peak: Peak
    expert_efficiency: float
    attention_peak: Peak
    attention_efficiency: float
    expert_half_tokens: float
    layer_s: float
    quantise_s: float
    moe_layer_s: float
    step_s: float
    sequence_s: float
    request_s: float
    collective_s: float
    link: Link
    link_efficiency: float
    activation_traffic: float
    expert_traffic: float
    imbalance: float
    stage_bubble: float
    burst_equal: float
    burst_varied: float
    limit_queue: float
    age_factor: float


def calibration_keys(situation: Situation) -> dict[str, str]:
    """Return the keys under which the constants of a situation are looked up."""
    ranks = max(situation.plan.tp, situation.plan.ep)
    return {
        "generation": situation.accelerator.generation,
        "serving_engine": situation.family,
        "ranks": str(min(8, 2 ** max(0, (ranks - 1).bit_length()))),
    }


def operating_point(situation: Situation, model: Model, calibration: Calibration) -> OperatingPoint:
    """Look up what `situation` reaches; raises ValueError for a part without a peak for its arithmetic."""
    keys = {**calibration_keys(situation), "experts": "yes" if _has_experts(model) else "no"}
    part = situation.accelerator
    dense_weights, dense_arithmetic = situation.weights, situation.arithmetic
    if narrows_experts_only(model, situation.weights):
        dense_weights = dense_arithmetic = model.native_other_precision
        if part.peak_dense.get(str(dense_arithmetic)) is None:
            dense_arithmetic = Precision.BF16
    joined = link(part, max(situation.plan.tp, situation.plan.ep), calibration.value("node_bandwidth", keys))

    def of(name: str, precision: Precision | None = None) -> float:
        extra = (
            {"link": joined.kind} if precision is None else {"precision": str(precision), "link": joined.kind}
        )
        return calibration.value(name, {**keys, **extra})

    spread = situation.plan.attention_dp or situation.plan.ep > situation.plan.tp
    eager = of("eager_factor") if situation.eager else 1.0
    return OperatingPoint(
        bandwidth=part.memory_bandwidth,
        dense_read_efficiency=of("weight_read_efficiency", dense_weights),
        expert_read_efficiency=of("weight_read_efficiency", situation.weights) * of("expert_read_factor"),
        kv_read_efficiency=of("kv_read_efficiency", situation.kv),
        dense_peak=_peak(part, dense_arithmetic),
        dense_efficiency=of("gemm_efficiency", dense_arithmetic),
        expert_peak=_peak(part, situation.arithmetic),
        expert_efficiency=of("gemm_efficiency", situation.arithmetic) * of("expert_gemm_factor"),
        attention_peak=_peak(part, Precision.BF16),
        attention_efficiency=of("attention_efficiency"),
        expert_half_tokens=of("expert_half_tokens"),
        layer_s=of("layer_time") * eager,
        quantise_s=of("quantise_time", dense_arithmetic) * eager,
        moe_layer_s=of("moe_layer_time") * eager,
        step_s=of("step_time"),
        sequence_s=of("sequence_time"),
        request_s=of("request_time") if situation.server else of("offline_request_time"),
        collective_s=of("allreduce_latency") + of("collective_overhead"),
        link=joined,
        link_efficiency=of("link_efficiency"),
        activation_traffic=of("activation_traffic"),
        expert_traffic=of("expert_traffic"),
        imbalance=of("attention_dp_imbalance") if spread else 1.0,
        stage_bubble=of("stage_bubble"),
        burst_equal=of("burst_equal"),
        burst_varied=of("burst_varied"),
        limit_queue=of("limit_queue"),
        age_factor=math.exp(of("age_slowdown") * max(0.0, situation.months_old) / 12.0),
    )


def _has_experts(model: Model) -> bool:
    return any(isinstance(group.ffn, MoeFfn) for group in model.layers)


def _peak(accelerator: Accelerator, arithmetic: Precision) -> Peak:
    stated = peak(accelerator, arithmetic)
    if stated is None:
        raise ValueError(accelerator.id)
    return stated


def _collectives(
    situation: Situation, shards: Shards, hidden: int, point: OperatingPoint
) -> tuple[float, float]:
    """Seconds of all collectives of a step: fixed, and per token that goes through the layers."""
    plan = situation.plan
    rate = point.link.bandwidth * point.link_efficiency
    vector_s = hidden * TRAVEL_BYTES / rate
    fixed = per_token = 0.0
    if plan.tp > 1:
        # Attention-DP gathers before and scatters after the feed-forward blocks, like one all-reduce each.
        count = shards.ffn_layers if plan.attention_dp else shards.collectives
        fixed += count * point.collective_s
        per_token += count * 2.0 * (plan.tp - 1) / plan.tp * vector_s
    if plan.ep > plan.tp:
        # All-to-all there and back; a token travels to each of its experts' ranks, divided over its TP group.
        copies = min(shards.experts_per_token, plan.ep - 1)
        fixed += 2.0 * shards.moe_layers * point.collective_s
        per_token += 2.0 * shards.moe_layers * copies * vector_s / plan.tp
    if plan.pp > 1:
        fixed += (plan.pp - 1) * point.collective_s
        per_token += (plan.pp - 1) * vector_s
    return fixed, per_token


def _read_groups(cache: CacheProfile) -> tuple[Growth, Growth, Growth]:
    """Unbounded growth and the two windowed groups; more windows than two are merged into the largest."""
    whole = Growth(0.0)
    windowed: list[Growth] = []
    for growth in cache.read:
        if growth.window is None:
            whole = growth
        else:
            windowed.append(growth)
    while len(windowed) > 2:
        small, large = windowed.pop(0), windowed.pop(0)
        merged = Growth(
            small.per_token + large.per_token, small.flops_per_token + large.flops_per_token, large.window
        )
        windowed.insert(0, merged)
    windowed += [Growth(0.0, 0.0, 0)] * (2 - len(windowed))
    return whole, windowed[0], windowed[1]


def _windowed_prefill(cache: CacheProfile) -> tuple[float, float]:
    """Arithmetic of windowed layers per prefill token and attended token, and their widest window."""
    if not cache.prefill_flops_windowed:
        return 0.0, NO_WINDOW
    flops = sum(each for each, _ in cache.prefill_flops_windowed)
    return flops, float(max(window for _, window in cache.prefill_flops_windowed))


def step_row(
    situation: Situation, model: Model, shards: Shards, cache: CacheProfile, point: OperatingPoint
) -> StepRow:
    """Turn shares of the model into the coefficients of a step, in seconds."""
    plan = situation.plan
    ranks = plan.tp if plan.attention_dp else 1
    attention_share = point.imbalance / ranks
    read_kv = point.bandwidth * point.kv_read_efficiency
    attend = point.attention_peak.flops * point.attention_efficiency
    dense_rate = point.dense_peak.flops * point.dense_efficiency * plan.tp
    expert_rate = point.expert_peak.flops * point.expert_efficiency * plan.tp
    whole, first, second = _read_groups(cache)
    windowed_flops, window = _windowed_prefill(cache)
    comm_fixed, comm_token = _collectives(situation, shards, model.hidden_size, point)
    spread = max(1.0, plan.ep / plan.tp)
    has_experts = shards.expert_count > 0
    active_share = shards.experts_per_token / shards.expert_count if has_experts else 0.0
    # A rank moves the copies of a token for all of its experts, or those that expert parallelism gives it.
    copies = shards.moe_layers * shards.experts_per_token / min(plan.ep, plan.tp)
    passes = point.activation_traffic * shards.layers / ranks + point.expert_traffic * copies
    traffic = passes * model.hidden_size * TRAVEL_BYTES
    speculative = situation.acceptance_length > 1.0
    row = StepRow(
        dense_read=shards.dense.stored_bytes / (point.bandwidth * point.dense_read_efficiency),
        dense_flop=2.0 * shards.dense_elements_undivided / dense_rate,
        expert_read=shards.experts.stored_bytes / (point.bandwidth * point.expert_read_efficiency),
        expert_flop=2.0 * shards.active_expert_elements / expert_rate,
        expert_offset=point.expert_half_tokens / (active_share * spread) if has_experts else 0.0,
        expert_log_miss=math.log1p(-min(active_share, 1.0 - 1e-12)) if has_experts else 0.0,
        expert_spread=spread,
        head_read=shards.head.stored_bytes / (point.bandwidth * point.dense_read_efficiency),
        head_flop=2.0 * shards.head.elements / (point.attention_peak.flops * point.dense_efficiency),
        kv_token=whole.per_token / read_kv * attention_share,
        kv1_token=first.per_token / read_kv * attention_share,
        kv1_window=float(first.window or 0),
        kv2_token=second.per_token / read_kv * attention_share,
        kv2_window=float(second.window or 0),
        state=2.0 * cache.state_bytes_all_stages / read_kv * attention_share,
        att_token=whole.flops_per_token / attend * attention_share,
        att1_token=first.flops_per_token / attend * attention_share,
        att2_token=second.flops_per_token / attend * attention_share,
        patt_token=cache.prefill_flops_full / attend * attention_share,
        patt1_token=windowed_flops / attend * attention_share,
        patt1_window=window,
        comm_fixed=comm_fixed,
        comm_token=comm_token,
        overhead_fixed=shards.layers * (point.layer_s + point.quantise_s)
        + shards.moe_layers * point.moe_layer_s
        + point.step_s,
        overhead_sequence=point.sequence_s,
        activation_token=traffic / (point.bandwidth * point.dense_read_efficiency),
        attention_ranks=float(ranks),
        stages=float(plan.pp),
        bubble=point.stage_bubble,
        request=point.request_s,
        chunk_tokens=float(situation.max_batched_tokens * ranks),
        tokens_per_step=situation.acceptance_length,
        verified_tokens=float(math.ceil(situation.acceptance_length) + 1) if speculative else 1.0,
        step_batch_cap=float(situation.max_batch * ranks),
        burst_equal=point.burst_equal,
        burst_varied=point.burst_varied,
        limit_queue=point.limit_queue,
    )
    return row if point.age_factor == 1.0 else _aged(row, point.age_factor)


def lossless_row(
    situation: Situation, model: Model, shards: Shards, cache: CacheProfile, point: OperatingPoint
) -> StepRow:
    """Return the row of a part that reaches every peak and adds no overhead.

    Times the bandwidth or the peak of its class, each of its coefficients is bytes or FLOPs.
    """
    perfect = replace(
        point,
        dense_read_efficiency=1.0,
        expert_read_efficiency=1.0,
        kv_read_efficiency=1.0,
        dense_efficiency=1.0,
        expert_efficiency=1.0,
        attention_efficiency=1.0,
        expert_half_tokens=0.0,
        layer_s=0.0,
        quantise_s=0.0,
        moe_layer_s=0.0,
        step_s=0.0,
        sequence_s=0.0,
        request_s=0.0,
        collective_s=0.0,
        link_efficiency=1e6,
        activation_traffic=0.0,
        expert_traffic=0.0,
        imbalance=1.0,
        stage_bubble=0.0,
        age_factor=1.0,
    )
    return step_row(situation, model, shards, cache, perfect)


def ideal_row(
    situation: Situation, model: Model, shards: Shards, cache: CacheProfile, point: OperatingPoint
) -> StepRow:
    """Return the row without any loss as the bound of physics.

    The embedding counts as read, as the usual roofline has it, which keeps the bound on the safe side.
    """
    row = lossless_row(situation, model, shards, cache, point)
    return replace(row, dense_read=row.dense_read + shards.embedding_lookup_bytes / point.bandwidth)


#: Fields of a row that are times, which older software stretches.
_TIMES = tuple(
    field.name
    for field in fields(StepRow)
    if field.name.endswith(("_read", "_flop", "_token", "_fixed", "_sequence"))
    or field.name in ("state", "request")
)


def _aged(row: StepRow, factor: float) -> StepRow:
    changes: Mapping[str, float] = {name: getattr(row, name) * factor for name in _TIMES}
    return replace(row, **changes)
