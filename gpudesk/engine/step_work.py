"""Bytes, FLOPs and transfers of one step, and the peaks and links of the accelerator.

No figure here is fitted: bytes, FLOPs and counts follow from the model, its formats and the parallel plan, ceilings
from the accelerator. `gpudesk.engine.rates` has the shares that are reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import MLA, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import CacheStepWork, ResolvedDeployment, ServingConfiguration
from gpudesk.engine.sharding import compute_narrow_share
from gpudesk.frozen_dataclass import frozen_dataclass

#: Peak fields in the order in which a format falls back to wider arithmetic.
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

#: If an accelerator has no published PCIe rate: PCIe 4.0 x16, both directions, the slowest in the catalog.
FALLBACK_PCIE: Final = 62e9


@frozen_dataclass
class RankLink:
    """The link between the ranks of a group: one direction of one accelerator in bytes/s, and its kind."""

    bandwidth: float
    kind: str


@frozen_dataclass
class ArithmeticPeak:
    """A dense peak in FLOP/s, and the precision for which it is published."""

    flops: float
    precision: str


@lru_cache(maxsize=1_000)
def find_peak(accelerator: Accelerator, arithmetic: Precision) -> ArithmeticPeak | None:
    """Return the dense peak for an arithmetic format, or of the next wider format with a published peak."""
    for name in _PEAKS[arithmetic]:
        flops = accelerator.peak_dense.get(name)
        if flops is not None:
            return ArithmeticPeak(flops, name)
    return None


@lru_cache(maxsize=1_000)
def find_link(accelerator: Accelerator, ranks: int, node_bandwidth: float) -> RankLink:
    """Return the slowest link inside a group of `ranks`: scale-up, PCIe in one host, or between nodes.

    `node_bandwidth` is one direction of one accelerator's network port in bytes/s. A scale-up domain of one or unknown
    means PCIe cards, as many as a host holds.
    """
    domain = accelerator.scale_up_domain or 1
    if accelerator.scale_up_bandwidth is not None and ranks <= domain:
        return RankLink(accelerator.scale_up_bandwidth / 2, "scale-up")
    if ranks <= min(8, accelerator.cards_per_host) and (domain <= 8 or accelerator.scale_up_bandwidth is None):
        return RankLink((accelerator.pcie_bandwidth or FALLBACK_PCIE) / 2, "pcie")
    return RankLink(node_bandwidth, "node")


def find_stage_link(accelerator: Accelerator, plan: ParallelPlan, node_bandwidth: float) -> RankLink:
    """Return the slowest link between one pipeline stage and the next.

    The stages of a replica are placed one after the other, so stages that fill more than a host use the network,
    however fast the links within a stage are.
    """
    if plan.replica > accelerator.cards_per_host:
        return RankLink(node_bandwidth, "node")
    return find_link(accelerator, plan.replica, node_bandwidth)


#: Bytes per element of an activation sent between ranks.
TRAVEL_BYTES = 2
#: Up to this many ranks, one host, attention-DP gathers all tokens around its experts.
MOST_GATHERED = 8


@frozen_dataclass
class HardwareCeilings:
    """Limits of the accelerator: bytes/s of its memory, dense peaks by class, and the links of the plan.

    `link` joins the tensor-parallel ranks, `dispatch_link` the ranks that share experts, `stage_link` the pipeline
    stages. `dense_weights` and `dense_arithmetic` are the formats of the matrices outside routed experts, which some
    checkpoints keep wider. If a checkpoint has two formats there, these are the formats of the larger share,
    `dense_peak` is the combined peak, and `dense_parts` has the share and peak of each.
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


@frozen_dataclass
class StepWork:
    """One step of one replica on the most loaded accelerator; arrays of one shape, or floats of one deployment.

    Groups of the cache are those of `StepCoefficients`.
    """

    bandwidth: float  # bytes/s of the memory
    dense_bytes: float  # of all dense matrices
    dense_flop: float  # per token, of the dense matrices
    dense_peak: float  # FLOP/s of all ranks that divide them
    expert_bytes: float  # of all routed experts
    expert_flop: float  # per token, of the routed experts
    expert_peak: float  # FLOP/s of all ranks that divide them
    power: float  # W per dense 16-bit TFLOP/s, 0 if unknown
    active_share: float  # k/E of the routed experts
    log_miss: float  # ln(1 - k/E)
    expert_spread: float  # replicas that share one set of experts
    expert_skew: float  # imbalance of expert work between ranks, 0 without EP
    expert_calls: float  # experts per rank, summed over layers
    gathered_ranks: float  # ranks that share experts and receive all tokens of a step; 1 if tokens are dispatched
    has_experts: float  # 0 or 1
    embedding_bytes: float  # of a table of which a step reads a few rows
    head_bytes: float  # of the LM head
    head_flop: float  # per token of one attention rank, of the LM head
    attention_peak: float  # FLOP/s
    kv_bytes: float  # read per cached token of one sequence in group 0
    kv1_bytes: float  # the same in group 1
    kv1_window: float  # tokens
    kv2_bytes: float  # the same in group 2
    kv2_window: float  # tokens
    state_bytes: float  # read and written per sequence
    state_layers: float  # layers with a recurrent state
    att_flop: float  # of one new token against one cached token in decode, group 0
    att1_flop: float  # the same in group 1
    att2_flop: float  # the same in group 2
    patt_flop: float  # of one token against one earlier token in prefill
    patt1_flop: float  # the same if a window ends it
    patt1_window: float  # tokens
    layers: float  # of the model
    moe_layers: float  # layers with experts
    collectives: float  # all-reduces of a step among tensor-parallel ranks
    link_bandwidth: float  # bytes/s between them
    moved: float  # bytes per token over that link, ring
    exchanged: float  # bytes per token over it, direct
    dispatches: float  # all-to-alls per step among the ranks that share experts
    dispatch_bandwidth: float  # bytes/s between them
    dispatch_moved: float  # bytes per token over that link
    transfers: float  # transfers per step between pipeline stages
    stage_bandwidth: float  # bytes/s between them
    stage_moved: float  # bytes per token over that link
    layer_vectors: float  # bytes of the hidden vectors of a token in all layers of an attention rank
    expert_vectors: float  # bytes of the copies of a token for its experts on a rank, in all layers
    attention_ranks: float  # ranks over which attention-DP divides sequences, else 1
    spread_sequences: float  # 0 or 1: ranks have uneven work
    stages: float  # pipeline stages
    months_old: float  # age of the software before the newest calibrated month
    eager: float  # 0 or 1: no graph capture
    server: float  # 0 or 1: behind the HTTP server
    mixed_steps: float  # 0 or 1: prompts run in one step with the tokens of running sequences
    kv_on_demand: float  # 0 or 1: memory is allocated as a sequence grows
    chunk_tokens: float  # most tokens in a step
    step_batch_cap: float  # most sequences in a step
    tokens_per_step: float  # tokens per sequence that a step yields
    verified_tokens: float  # tokens per sequence that a step computes


@lru_cache(maxsize=1_000)
def has_experts(model: Model) -> bool:
    return any(isinstance(group.ffn, MoeFfn) for group in model.layers)


@lru_cache(maxsize=1_000)
def get_attention_key(model: Model) -> str:
    """Return the attention kernels that a model needs: over heads, latents, or latents picked by an indexer."""
    latent = [group.mixer for group in model.layers if isinstance(group.mixer, MLA)]
    if any(mixer.indexer for mixer in latent):
        return "sparse"
    return "latent" if latent else "heads"


def compute_ceilings(
    configuration: ServingConfiguration, plan: ParallelPlan, node_bandwidth: float
) -> HardwareCeilings:
    """Return the limits of the accelerator for a model; raises ValueError if it has no peak for it.

    `node_bandwidth` is one direction of one accelerator's network port in bytes/s.
    """
    part = configuration.accelerator
    arithmetic = configuration.kernel.arithmetic
    dense = _find_dense_ceilings(part, configuration.model, configuration.weights, arithmetic)
    joined = find_link(part, plan.tp, node_bandwidth)
    return HardwareCeilings(
        part.memory_bandwidth,
        dense.weights,
        dense.arithmetic,
        dense.peak,
        _require_peak(part, arithmetic),
        _require_peak(part, Precision.BF16),
        joined,
        find_link(part, plan.ep, node_bandwidth) if plan.ep > 1 else joined,
        find_stage_link(part, plan, node_bandwidth) if plan.pp > 1 else joined,
        dense.parts,
    )


class _DenseCeilings(NamedTuple):
    """Formats and peak of the matrices outside routed experts; `parts` if they have two formats."""

    weights: Precision
    arithmetic: Precision
    peak: ArithmeticPeak
    parts: tuple[tuple[float, ArithmeticPeak], ...] = ()


def _find_dense_ceilings(part: Accelerator, model: Model, weights: Precision, arithmetic: Precision) -> _DenseCeilings:
    narrow_share, narrow = compute_narrow_share(model, weights), _require_peak(part, arithmetic)
    if narrow_share == 1.0:
        return _DenseCeilings(weights, arithmetic, narrow)
    other = model.native_other_precision
    wide_arithmetic = Precision.BF16 if part.peak_dense.get(str(other)) is None else other
    wide = _require_peak(part, wide_arithmetic)
    if narrow_share == 0.0:
        return _DenseCeilings(other, wide_arithmetic, wide)
    parts = ((narrow_share, narrow), (1.0 - narrow_share, wide))
    # Shares of the arithmetic run one after the other.
    flops = 1.0 / sum(share / each.flops for share, each in parts)
    if narrow_share >= 0.5:
        return _DenseCeilings(weights, arithmetic, ArithmeticPeak(flops, narrow.precision), parts)
    return _DenseCeilings(other, wide_arithmetic, ArithmeticPeak(flops, wide.precision), parts)


def _require_peak(accelerator: Accelerator, arithmetic: Precision) -> ArithmeticPeak:
    peak = find_peak(accelerator, arithmetic)
    if peak is None:
        raise ValueError(accelerator.id)
    return peak


def is_dispatched(plan: ParallelPlan) -> bool:
    """Whether tokens are sent only to the ranks of their experts, as in large groups, rather than to all ranks."""
    return plan.ep > plan.tp or (plan.attention_dp and plan.ep > MOST_GATHERED)


def compute_expert_skew(ranks: Any, experts: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Return how far the most loaded rank of an expert group is above the mean, for frequencies of deviation 1.

    The fewer experts a rank has, the less they make up for one another. The largest of n normal variates is
    (2 ln n)^1/2 - 0.6 standard deviations above their mean, within 0.1 from n = 2 to 256.
    """
    largest = np.maximum(np.sqrt(2.0 * np.log(ranks)) - 0.6, 0.0)
    return largest * np.sqrt((ranks - 1.0) / np.maximum(experts, 1.0))


@lru_cache(maxsize=1_000)
def _compute_power(part: Accelerator) -> float:
    flops = part.peak_dense.get("bf16") or part.peak_dense.get("fp16")
    return part.tdp_w / flops * 1e12 if part.tdp_w and flops else 0.0


_get_plan = attrgetter("tp", "pp", "ep", "attention_dp")
_get_shards = attrgetter(
    "dense.stored_bytes",
    "dense_elements_undivided",
    "experts.stored_bytes",
    "active_expert_elements",
    "expert_count",
    "experts_per_token",
    "head.stored_bytes",
    "head.elements",
    "embedding_lookup_bytes",
    "layers",
    "moe_layers",
    "ffn_layers",
    "collectives",
)
_get_ceilings = attrgetter(
    "bandwidth",
    "dense_peak.flops",
    "expert_peak.flops",
    "attention_peak.flops",
    "link.bandwidth",
    "dispatch_link.bandwidth",
    "stage_link.bandwidth",
)
_get_configuration = attrgetter(
    "model.hidden_size", "months_old", "eager", "behind_server", "mixed_steps", "kv_on_demand", "acceptance_length"
)
_get_settings = attrgetter("max_batched_tokens", "max_batch")


def compute_step_work(deployments: Sequence[ResolvedDeployment], ceilings: Sequence[HardwareCeilings]) -> StepWork:
    """Count the work of a step of each deployment: arrays with one value per deployment."""
    # Arrays stand in for the numbers of one deployment, as in all of `gpudesk.engine.rates`.
    columns: Any = np.array(
        [
            (
                *_get_plan(each.memory.plan),
                *_get_shards(each.memory.budget.shards),
                *_get_ceilings(of_plan),
                *_get_configuration(each.configuration),
                *_get_settings(each.memory.settings),
                _compute_power(each.configuration.accelerator),
                *each.memory.budget.cache.step_work,
            )
            for each, of_plan in zip(deployments, ceilings, strict=True)
        ],
        dtype=np.float64,
    ).T.copy()
    tp, pp, ep, attention_dp = columns[:4]
    dense_bytes, dense_elements, expert_bytes, active_elements, experts, chosen = columns[4:10]
    head_bytes, head_elements, embedding_bytes, layers, moe_layers, ffn_layers, all_collectives = columns[10:17]
    bandwidth, dense_peak, expert_peak, attention_peak, link, dispatch_link, stage_link = columns[17:24]
    hidden_size, months_old, eager, server, mixed_steps, kv_on_demand, acceptance_length = columns[24:31]
    batched_tokens, max_batch, power = columns[31:34]
    ranks: Any = np.where(attention_dp > 0, tp, 1.0)
    dispatched = (ep > tp) | ((attention_dp > 0) & (ep > MOST_GATHERED))
    gathered: Any = np.where(dispatched, 1.0, ep)
    # Attention-DP gathers before and scatters after the feed-forward blocks, like one all-reduce each. Experts shared
    # by many ranks get dispatched tokens instead.
    collectives: Any = np.where(attention_dp > 0, ffn_layers, all_collectives) - np.where(dispatched, moe_layers, 0.0)
    collectives = np.where(tp > 1, collectives, 0.0)
    # Both ways; a token goes to the ranks of its experts, divided over its tensor-parallel group.
    dispatches: Any = np.where(dispatched, 2.0 * moe_layers, 0.0)
    vector = hidden_size * TRAVEL_BYTES
    share = np.minimum(chosen / np.maximum(experts, 1.0), 1.0 - 1e-12)
    return StepWork(
        bandwidth=bandwidth,
        dense_bytes=dense_bytes,
        dense_flop=2.0 * dense_elements,
        dense_peak=dense_peak * tp,
        expert_bytes=expert_bytes,
        expert_flop=2.0 * active_elements,
        expert_peak=expert_peak * tp,
        power=power,
        active_share=share,
        log_miss=np.log1p(-share),
        expert_spread=np.maximum(1.0, ep / tp),
        expert_skew=compute_expert_skew(ep, experts),
        expert_calls=moe_layers * experts / ep,
        gathered_ranks=gathered,
        has_experts=np.minimum(experts, 1.0),
        embedding_bytes=embedding_bytes,
        head_bytes=head_bytes,
        head_flop=2.0 * head_elements,
        attention_peak=attention_peak,
        **dict(zip(CacheStepWork._fields, columns[34:], strict=True)),
        layers=layers,
        moe_layers=moe_layers,
        collectives=collectives,
        link_bandwidth=link,
        # In a ring each rank sends its vector less than twice; directly, it sends all of it to every other rank.
        moved=collectives * 2.0 * (tp - 1.0) / tp * vector,
        exchanged=collectives * (tp - 1.0) * vector,
        dispatches=dispatches,
        dispatch_bandwidth=dispatch_link,
        dispatch_moved=dispatches * np.minimum(chosen, ep - 1.0) / tp * vector,
        transfers=pp - 1.0,
        stage_bandwidth=stage_link,
        stage_moved=(pp - 1.0) * vector,
        layer_vectors=layers / ranks * vector,
        # A rank moves the copies of a token for all of its experts, or for those that expert parallelism assigns to it.
        expert_vectors=moe_layers * chosen / np.minimum(ep, tp) * vector,
        attention_ranks=ranks,
        spread_sequences=1.0 * ((attention_dp > 0) | (ep > tp)),
        stages=pp,
        months_old=months_old,
        eager=eager,
        server=server,
        mixed_steps=mixed_steps,
        kv_on_demand=kv_on_demand,
        chunk_tokens=batched_tokens * ranks,
        step_batch_cap=max_batch * ranks,
        tokens_per_step=acceptance_length,
        # To yield tokens, a speculative step computes the accepted ones, the token after them, and one rejected draft.
        # Drafts are whole, but their number is a mean over steps, like the acceptance length. Speculation always costs
        # that one draft: a length of 1 means none.
        verified_tokens=1.0 + acceptance_length * (acceptance_length > 1.0),
    )
