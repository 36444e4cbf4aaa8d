"""Bytes, FLOPs and transfers of one step, and the peaks and links that the accelerator has for them.

Nothing here is fitted: bytes, FLOPs and counts follow from the model, its formats and the parallel plan,
ceilings from the accelerator. `gpudesk.engine.rates` has the share that is reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.model import MLA, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.kv_cache import CacheGrowth, KvCacheProfile
from gpudesk.engine.sharding import ModelShards, compute_narrow_share

#: Peak fields in the order in which a format falls back to the next wider arithmetic.
_PEAKS: Final[dict[Precision, tuple[str, ...]]] = {
    Precision.FP16: ("fp16", "bf16"),
    Precision.BF16: ("bf16", "fp16"),
    Precision.FP8: ("fp8", "bf16", "fp16"),
    Precision.INT8: ("int8", "bf16", "fp16"),
    Precision.FP6: ("fp6", "fp8", "bf16", "fp16"),
    Precision.FP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.MXFP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.NVFP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.INT4: ("int4", "bf16", "fp16"),
}

#: Where a part states no PCIe rate: PCIe 4.0 x16, both directions, the slowest among the parts listed.
FALLBACK_PCIE: Final = 62e9


@dataclass(frozen=True, slots=True)
class RankLink:
    """The link between the ranks of a group: one direction of one accelerator in bytes/s, and its kind."""

    bandwidth: float
    kind: str


@dataclass(frozen=True, slots=True)
class ArithmeticPeak:
    """A dense peak in FLOP/s, and the precision under which the part states it."""

    flops: float
    precision: str


def find_peak(accelerator: Accelerator, arithmetic: Precision) -> ArithmeticPeak | None:
    """Return the dense peak for an arithmetic, or that of the next wider one that the part states."""
    for name in _PEAKS[arithmetic]:
        flops = accelerator.peak_dense.get(name)
        if flops is not None:
            return ArithmeticPeak(flops, name)
    return None


def find_link(accelerator: Accelerator, ranks: int, node_bandwidth: float) -> RankLink:
    """Return the slowest link inside a group of `ranks`: scale-up, PCIe in one host, or between nodes.

    `node_bandwidth` is one direction of one accelerator's network port in bytes/s. A scale-up domain of
    one or unknown means cards over PCIe, up to eight in a host.
    """
    domain = accelerator.scale_up_domain or 1
    if accelerator.scale_up_bandwidth is not None and ranks <= domain:
        return RankLink(accelerator.scale_up_bandwidth / 2, "scale-up")
    if ranks <= 8 and (domain <= 8 or accelerator.scale_up_bandwidth is None):
        return RankLink((accelerator.pcie_bandwidth or FALLBACK_PCIE) / 2, "pcie")
    return RankLink(node_bandwidth, "node")


def find_stage_link(accelerator: Accelerator, plan: ParallelPlan, node_bandwidth: float) -> RankLink:
    """Return the slowest link that activations pass from one pipeline stage to the next.

    Stages of a replica stand one behind the other, so that those which fill more than a host hand over
    through the network, however fast the ranks of one stage talk to each other.
    """
    if plan.replica > accelerator.cards_per_host:
        return RankLink(node_bandwidth, "node")
    return find_link(accelerator, plan.replica, node_bandwidth)


#: Bytes of one element of an activation that travels between ranks.
TRAVEL_BYTES = 2
#: Ranks of one host: up to so many, attention-DP gathers all tokens around its experts.
MOST_GATHERED = 8
#: Window of a group that is empty.
NO_WINDOW = 0.0


@dataclass(frozen=True, slots=True)
class OperatingConditions:
    """Everything beside the model's shares that sets the speed of a step.

    `arithmetic` is the format in which quantised matrices multiply; `months_old` is the age of the
    software before the newest calibrated month (0 or more). `mixed_steps`, `kv_on_demand` and
    `present_runtime` are those of the serving engine, see `Setting`.
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
    mixed_steps: bool = True
    kv_on_demand: bool = True
    present_runtime: bool = True


@dataclass(frozen=True, slots=True)
class HardwareCeilings:
    """What the part offers: bytes/s of its memory, dense peaks by class, and the links of the plan.

    `link` joins the tensor-parallel ranks, `dispatch_link` the ranks that share experts, `stage_link` the
    pipeline stages. `dense_weights` and `dense_arithmetic` are the formats of the matrices outside routed
    experts, which some checkpoints leave wider. Where a checkpoint has two formats there, they are those of
    the greater part, `dense_peak` is what both come to, and `dense_parts` has the share and peak of each.
    """

    bandwidth: float
    dense_weights: Precision
    dense_arithmetic: Precision
    dense_peak: ArithmeticPeak
    expert_peak: ArithmeticPeak
    attention_peak: ArithmeticPeak
    link: RankLink
    dispatch_link: RankLink
    stage_link: RankLink
    dense_parts: tuple[tuple[float, ArithmeticPeak], ...] = ()


@dataclass(frozen=True, slots=True)
class StepWork:
    """One step of one replica, for the busiest accelerator; floats, or arrays of one shape.

    Bytes end in `_bytes`, arithmetic in `_flop` (per token; `head_flop`: per token of one attention rank),
    peaks in `_peak` (FLOP/s of all ranks that divide the class), rates in bytes/s. `kv*_bytes`: read of one
    cached token of one sequence; `att*_flop`, `patt*_flop`: one new token against one cached token in decode
    and in prefill. `power`: watts per dense 16-bit TFLOP/s, 0 where unknown. `active_share`: k/E of the
    routed experts, `log_miss`: ln(1 - k/E). `moved`, `dispatch_moved`, `stage_moved`: bytes per token over
    the links; `exchanged`: those of `moved` where each rank sends all to each other instead of around a ring.
    `eager`, `server`, `spread_sequences`, `mixed_steps` and `kv_on_demand` are 0 or 1: no graph capture,
    behind the HTTP server, ranks that differ in how much they have to do, and how the serving engine
    schedules.
    """

    bandwidth: float
    dense_bytes: float
    dense_flop: float
    dense_peak: float
    expert_bytes: float
    expert_flop: float
    expert_peak: float
    power: float
    active_share: float
    log_miss: float
    expert_spread: float
    has_experts: float
    head_bytes: float
    head_flop: float
    attention_peak: float
    kv_bytes: float
    kv1_bytes: float
    kv1_window: float
    kv2_bytes: float
    kv2_window: float
    state_bytes: float
    att_flop: float
    att1_flop: float
    att2_flop: float
    patt_flop: float
    patt1_flop: float
    patt1_window: float
    layers: float
    moe_layers: float
    collectives: float
    link_bandwidth: float
    moved: float
    exchanged: float
    dispatches: float
    dispatch_bandwidth: float
    dispatch_moved: float
    transfers: float
    stage_bandwidth: float
    stage_moved: float
    layer_vectors: float
    expert_vectors: float
    attention_ranks: float
    spread_sequences: float
    stages: float
    months_old: float
    eager: float
    server: float
    mixed_steps: float
    kv_on_demand: float
    chunk_tokens: float
    step_batch_cap: float
    tokens_per_step: float
    verified_tokens: float


def has_experts(model: Model) -> bool:
    return any(isinstance(group.ffn, MoeFfn) for group in model.layers)


def has_latent_cache(model: Model) -> bool:
    return any(isinstance(group.mixer, MLA) for group in model.layers)


def compute_ceilings(situation: OperatingConditions, model: Model, node_bandwidth: float) -> HardwareCeilings:
    """Return what the part offers for `model`; raises ValueError for a part without a peak for it."""
    part, plan = situation.accelerator, situation.plan
    weights, arithmetic, parts = _dense(situation, model)
    joined = find_link(part, plan.tp, node_bandwidth)
    return HardwareCeilings(
        bandwidth=part.memory_bandwidth,
        dense_weights=weights,
        dense_arithmetic=arithmetic,
        dense_peak=_joint_peak(parts) if parts else _peak(part, arithmetic),
        expert_peak=_peak(part, situation.arithmetic),
        attention_peak=_peak(part, Precision.BF16),
        link=joined,
        dispatch_link=find_link(part, plan.ep, node_bandwidth) if plan.ep > 1 else joined,
        stage_link=find_stage_link(part, plan, node_bandwidth) if plan.pp > 1 else joined,
        dense_parts=parts,
    )


def _dense(
    situation: OperatingConditions, model: Model
) -> tuple[Precision, Precision, tuple[tuple[float, ArithmeticPeak], ...]]:
    """Return the formats of weights and arithmetic outside routed experts, and its parts where it has two."""
    part = situation.accelerator
    narrow = compute_narrow_share(model, situation.weights)
    if narrow == 1.0:
        return situation.weights, situation.arithmetic, ()
    wide = arithmetic = model.native_other_precision
    if part.peak_dense.get(str(arithmetic)) is None:
        arithmetic = Precision.BF16
    if narrow == 0.0:
        return wide, arithmetic, ()
    parts = ((narrow, _peak(part, situation.arithmetic)), (1.0 - narrow, _peak(part, arithmetic)))
    if narrow >= 0.5:
        return situation.weights, situation.arithmetic, parts
    return wide, arithmetic, parts


def _joint_peak(parts: tuple[tuple[float, ArithmeticPeak], ...]) -> ArithmeticPeak:
    """Return the peak at which shares of the arithmetic take as long as one after the other."""
    (_, largest) = max(parts, key=lambda each: each[0])
    return ArithmeticPeak(1.0 / sum(share / each.flops for share, each in parts), largest.precision)


def _peak(accelerator: Accelerator, arithmetic: Precision) -> ArithmeticPeak:
    stated = find_peak(accelerator, arithmetic)
    if stated is None:
        raise ValueError(accelerator.id)
    return stated


def _collectives(plan: ParallelPlan, shards: ModelShards) -> tuple[float, float, float]:
    """Collectives of a step among tensor-parallel ranks, and hidden vectors that each token moves in them.

    Around a ring each rank sends its vector less than twice; directly, it sends all of it to each other.
    """
    if plan.tp == 1:
        return 0.0, 0.0, 0.0
    # Attention-DP gathers before and scatters after the feed-forward blocks, like one all-reduce each.
    count = shards.ffn_layers if plan.attention_dp else shards.collectives
    if is_dispatched(plan):
        # Experts that many ranks share are reached by dispatching tokens instead.
        count -= shards.moe_layers
    return float(count), count * 2.0 * (plan.tp - 1) / plan.tp, count * (plan.tp - 1.0)


def is_dispatched(plan: ParallelPlan) -> bool:
    """Whether tokens travel to the ranks of their experts alone, as over many ranks, or to all ranks."""
    return plan.ep > plan.tp or (plan.attention_dp and plan.ep > MOST_GATHERED)


def _dispatches(plan: ParallelPlan, shards: ModelShards) -> tuple[float, float]:
    """All-to-alls of a step, there and back, and hidden vectors that each token moves in them.

    A token travels to the ranks of its experts, divided over its tensor-parallel group.
    """
    if not is_dispatched(plan):
        return 0.0, 0.0
    count = 2.0 * shards.moe_layers
    return count, count * min(shards.experts_per_token, plan.ep - 1) / plan.tp


def _read_groups(cache: KvCacheProfile) -> tuple[CacheGrowth, CacheGrowth, CacheGrowth]:
    """Unbounded growth and the two windowed groups; more windows than two are merged into the largest."""
    whole = CacheGrowth(0.0)
    windowed: list[CacheGrowth] = []
    for growth in cache.read:
        if growth.window is None:
            whole = growth
        else:
            windowed.append(growth)
    while len(windowed) > 2:
        small, large = windowed.pop(0), windowed.pop(0)
        merged = CacheGrowth(
            small.per_token + large.per_token, small.flops_per_token + large.flops_per_token, large.window
        )
        windowed.insert(0, merged)
    windowed += [CacheGrowth(0.0, 0.0, 0)] * (2 - len(windowed))
    return whole, windowed[0], windowed[1]


def _windowed_prefill(cache: KvCacheProfile) -> tuple[float, float]:
    """Arithmetic of windowed layers per prefill token and attended token, and their widest window."""
    if not cache.prefill_flops_windowed:
        return 0.0, NO_WINDOW
    flops = sum(each for each, _ in cache.prefill_flops_windowed)
    return flops, float(max(window for _, window in cache.prefill_flops_windowed))


def _power(part: Accelerator) -> float:
    flops = part.peak_dense.get("bf16") or part.peak_dense.get("fp16")
    return part.tdp_w / flops * 1e12 if part.tdp_w and flops else 0.0


def _verified_tokens(acceptance_length: float) -> float:
    """Return how many tokens of a sequence a step computes on average, to yield `acceptance_length` of them.

    What is accepted, the token that follows it, and one draft that is not. Drafts are whole, but their number
    is a mean over steps as the length is. Speculating at all costs that one draft: a length of 1 is without.
    """
    return acceptance_length + 1.0 if acceptance_length > 1.0 else 1.0


def compute_step_work(
    situation: OperatingConditions, model: Model, shards: ModelShards, cache: KvCacheProfile, offered: HardwareCeilings
) -> StepWork:
    """Count what a step of `situation` has to do."""
    plan = situation.plan
    ranks = plan.tp if plan.attention_dp else 1
    whole, first, second = _read_groups(cache)
    windowed_flops, window = _windowed_prefill(cache)
    collectives, vectors, direct = _collectives(plan, shards)
    dispatches, dispatched = _dispatches(plan, shards)
    vector = float(model.hidden_size * TRAVEL_BYTES)
    experts = shards.expert_count > 0
    # A rank moves the copies of a token for all of its experts, or those that expert parallelism gives it.
    copies = shards.moe_layers * shards.experts_per_token / min(plan.ep, plan.tp)
    share = min(shards.experts_per_token / shards.expert_count, 1.0 - 1e-12) if experts else 0.0
    return StepWork(
        bandwidth=offered.bandwidth,
        dense_bytes=float(shards.dense.stored_bytes),
        dense_flop=2.0 * shards.dense_elements_undivided,
        dense_peak=offered.dense_peak.flops * plan.tp,
        expert_bytes=float(shards.experts.stored_bytes),
        expert_flop=2.0 * shards.active_expert_elements,
        expert_peak=offered.expert_peak.flops * plan.tp,
        power=_power(situation.accelerator),
        active_share=share,
        log_miss=math.log1p(-share),
        expert_spread=max(1.0, plan.ep / plan.tp),
        has_experts=float(experts),
        head_bytes=float(shards.head.stored_bytes),
        head_flop=2.0 * shards.head.elements,
        attention_peak=offered.attention_peak.flops,
        kv_bytes=whole.per_token,
        kv1_bytes=first.per_token,
        kv1_window=float(first.window or 0),
        kv2_bytes=second.per_token,
        kv2_window=float(second.window or 0),
        state_bytes=2.0 * cache.state_bytes_all_stages,
        att_flop=whole.flops_per_token,
        att1_flop=first.flops_per_token,
        att2_flop=second.flops_per_token,
        patt_flop=cache.prefill_flops_full,
        patt1_flop=windowed_flops,
        patt1_window=window,
        layers=float(shards.layers),
        moe_layers=float(shards.moe_layers),
        collectives=collectives,
        link_bandwidth=offered.link.bandwidth,
        moved=vectors * vector,
        exchanged=direct * vector,
        dispatches=dispatches,
        dispatch_bandwidth=offered.dispatch_link.bandwidth,
        dispatch_moved=dispatched * vector,
        transfers=plan.pp - 1.0,
        stage_bandwidth=offered.stage_link.bandwidth,
        stage_moved=(plan.pp - 1.0) * vector,
        layer_vectors=shards.layers / ranks * vector,
        expert_vectors=copies * vector,
        attention_ranks=float(ranks),
        spread_sequences=float(plan.attention_dp or plan.ep > plan.tp),
        stages=float(plan.pp),
        months_old=situation.months_old,
        eager=float(situation.eager),
        server=float(situation.server),
        mixed_steps=float(situation.mixed_steps),
        kv_on_demand=float(situation.kv_on_demand),
        chunk_tokens=float(situation.max_batched_tokens * ranks),
        step_batch_cap=float(situation.max_batch * ranks),
        tokens_per_step=situation.acceptance_length,
        verified_tokens=_verified_tokens(situation.acceptance_length),
    )
