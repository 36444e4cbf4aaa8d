"""KV cache and memory of one accelerator; deployments without lengths and load: engine, kernel path, plan and memory.

`gpudesk.estimation.search_space` builds them; `gpudesk.engine.rates` computes their step coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import MemoryUse, ParallelPlan
from gpudesk.domain.model import (
    MLA,
    Attention,
    AttentionIndexer,
    Compressed,
    DenseFfn,
    Ffn,
    GatedDeltaNet,
    KimiDelta,
    Lightning,
    Mamba1,
    Mamba2,
    Mixer,
    Model,
    MoeFfn,
    ShortConvolution,
    reuses_cache,
)
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.serving_engine import KernelPathKind, ServingEngine
from gpudesk.domain.sizing import CapacityReadingId
from gpudesk.engine.sharding import NO_PADDING, ExpertPadding, ModelShards, shard_model
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message
from gpudesk.text.units import GB, GIB

#: Recurrent states are kept in fp32 and convolution tails in 16 bits, as published kernels do.
STATE_BYTES = 4
CONV_BYTES = 2
#: An indexer caches its keys in FP8 with one fp32 scale per key.
INDEXER_SCALE_BYTES = 4


@frozen_dataclass
class CacheGrowth:
    """Bytes and arithmetic that grow with a sequence: `per_token` up to `window` tokens (None: no limit).

    `flops_per_token` is the attention arithmetic of one new token against one cached token.
    """

    per_token: float
    flops_per_token: float = 0.0
    window: int | None = None


@frozen_dataclass
class LayerCache:
    """Cache of one layer on one rank: stored bytes, bytes read by a decode step, and a constant state.

    `prefill` has the arithmetic of one prompt token against one earlier token.
    """

    stored: tuple[CacheGrowth, ...] = ()
    growths: tuple[CacheGrowth, ...] = ()
    state_bytes: int = 0
    prefill: tuple[CacheGrowth, ...] = ()


class CacheReservation(NamedTuple):
    """How a serving engine reserves memory for a sequence, if that is more than the sequence fills.

    `window_share`: layers with a window reserve this share of the full length (0: only the window). `state_share`: this
    share of the cache is set apart for recurrent states (0: one pool for everything), of which a sequence takes
    `state_slots`.
    """

    window_share: float = 0.0
    state_share: float = 0.0
    state_slots: int = 1


#: Memory is reserved only for what is filled.
AS_FILLED = CacheReservation()


class CacheStepWork(NamedTuple):
    """What a step reads from the cache and computes over it, for one sequence and all layers of a rank.

    `kv*_bytes`: bytes read per cached token; `att*_flop` and `patt*_flop`: one new token against one cached token, in
    decode and in prefill. Groups 1 and 2 end at their window in tokens. `state_bytes` are read and written;
    `state_layers` have a recurrent state.
    """

    kv_bytes: float = 0.0
    kv1_bytes: float = 0.0
    kv1_window: float = 0.0
    kv2_bytes: float = 0.0
    kv2_window: float = 0.0
    state_bytes: float = 0.0
    state_layers: float = 0.0
    att_flop: float = 0.0
    att1_flop: float = 0.0
    att2_flop: float = 0.0
    patt_flop: float = 0.0
    patt1_flop: float = 0.0
    patt1_window: float = 0.0


NO_STEP_WORK = CacheStepWork()


@frozen_dataclass
class KvCacheProfile:
    """Cache of one sequence on one accelerator, over all layers, merged by window."""

    stored: tuple[CacheGrowth, ...] = ()
    growths: tuple[CacheGrowth, ...] = ()
    state_bytes: int = 0
    step_work: CacheStepWork = NO_STEP_WORK
    holding: CacheReservation = AS_FILLED

    def compute_filled_bytes(self, tokens: int) -> int:
        """Bytes that a sequence of `tokens` fills on the most loaded accelerator, rounded up."""
        return self.state_bytes + self._compute_grown_bytes(tokens, 0.0)

    def sequence_bytes(self, tokens: int) -> int:
        """Bytes that the serving engine reserves for it there, at least what it fills; rounded up."""
        grown = self._compute_grown_bytes(tokens, self.holding.window_share)
        share = self.holding.state_share
        if not (share and self.state_bytes and self.stored):
            return self.state_bytes + grown
        # The pool that runs out first decides; the other stays partly empty.
        states = self.state_bytes * self.holding.state_slots
        return max(math.ceil(states / share), math.ceil(grown / (1.0 - share)))

    def _compute_grown_bytes(self, tokens: int, window_share: float) -> int:
        # Computed for every new length and plan: a plain loop takes half the time of `sum`.
        grown_bytes = 0
        for growth in self.stored:
            window = growth.window
            if window is None or tokens < window:
                grown_bytes += math.ceil(growth.per_token * tokens)
            else:
                grown_bytes += math.ceil(growth.per_token * max(float(window), window_share * tokens))
        return grown_bytes

    def compute_sequences_bytes(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `sequence_bytes` of many lengths at once, exact to the byte."""
        grown = np.zeros(tokens.shape, dtype=np.int64)
        for growth in self.stored:
            within: NDArray[np.float64] | NDArray[np.int64] = tokens
            if growth.window is not None:
                window_tokens = np.maximum(float(growth.window), self.holding.window_share * tokens)
                within = np.where(tokens < growth.window, tokens, window_tokens)
            grown += np.ceil(growth.per_token * within).astype(np.int64)
        share = self.holding.state_share
        if not (share and self.state_bytes and self.stored):
            return grown + self.state_bytes
        states = math.ceil(self.state_bytes * self.holding.state_slots / share)
        return np.maximum(states, np.ceil(grown / (1.0 - share)).astype(np.int64))


def _count_heads(heads: int, ranks: int) -> int:
    """Heads on one rank: divided if there are enough, else one (replicated)."""
    return -(-heads // ranks)


def _make_attention_cache(mixer: Attention, ranks: int, element: float) -> LayerCache:
    kv_heads = _count_heads(mixer.kv_heads, ranks)
    entry = kv_heads * (mixer.head_dim + mixer.value_dim) * element
    flops = 2.0 * _count_heads(mixer.heads, ranks) * (mixer.head_dim + mixer.value_dim)
    main = CacheGrowth(entry, flops, mixer.window)
    if mixer.indexer is None:
        return LayerCache((main,), (main,), prefill=(main,))
    keys = _make_indexer_growth(mixer.indexer)
    growths = (CacheGrowth(entry, flops, mixer.indexer.top_k), keys)
    return LayerCache((main, keys), growths, prefill=growths)


def _make_indexer_growth(indexer: AttentionIndexer) -> CacheGrowth:
    if indexer.reused:
        return CacheGrowth(0.0)
    key_bytes = indexer.head_dim + INDEXER_SCALE_BYTES
    return CacheGrowth(key_bytes / indexer.pool, 2.0 * indexer.heads * indexer.head_dim / indexer.pool)


def _make_mla_cache(mixer: MLA, ranks: int, element: float) -> LayerCache:
    # Decode works on the latents (absorbed projections), prefill on the keys and values that they expand to. Latents do
    # not divide over tensor-parallel ranks.
    width = mixer.kv_lora_rank + mixer.qk_rope_head_dim
    heads = _count_heads(mixer.heads, ranks)
    absorbed = 2.0 * heads * (width + mixer.kv_lora_rank)
    unfolded = 2.0 * heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim + mixer.v_head_dim)
    main = CacheGrowth(width * element, absorbed)
    if mixer.indexer is None:
        return LayerCache((main,), (main,), prefill=(CacheGrowth(0.0, unfolded),))
    keys = _make_indexer_growth(mixer.indexer)
    selected_growth = CacheGrowth(width * element, absorbed, mixer.indexer.top_k)
    prefill = (CacheGrowth(0.0, unfolded, mixer.indexer.top_k), keys)
    return LayerCache((main, keys), (selected_growth, keys), prefill=prefill)


def _make_compressed_cache(mixer: Compressed, ranks: int, element: float) -> LayerCache:
    # One entry of head_dim serves as key and value for all heads.
    entry = mixer.head_dim * element
    flops = 4.0 * _count_heads(mixer.heads, ranks) * mixer.head_dim
    window = CacheGrowth(entry, flops, mixer.window)
    if mixer.compress_ratio is None:
        return LayerCache((window,), (window,), prefill=(window,))
    ratio = mixer.compress_ratio
    folded = CacheGrowth(entry / ratio, flops / ratio)
    if mixer.indexer is None:
        return LayerCache((window, folded), (window, folded), prefill=(window, folded))
    keys = _make_indexer_growth(mixer.indexer)
    keys = CacheGrowth(keys.per_token / ratio, keys.flops_per_token / ratio)
    selected_growth = CacheGrowth(entry / ratio, flops / ratio, mixer.indexer.top_k * ratio)
    growths = (window, selected_growth, keys)
    return LayerCache((window, folded, keys), growths, prefill=growths)


def _compute_state_bytes(
    mixer: GatedDeltaNet | KimiDelta | Mamba1 | Mamba2 | Lightning | ShortConvolution, ranks: int
) -> int:
    match mixer:
        case GatedDeltaNet():
            recurrent = _count_heads(mixer.value_heads, ranks) * mixer.key_head_dim * mixer.value_head_dim
            channels = (
                2 * _count_heads(mixer.key_heads, ranks) * mixer.key_head_dim
                + _count_heads(mixer.value_heads, ranks) * mixer.value_head_dim
            )
            tail = channels * (mixer.conv_kernel - 1)
        case KimiDelta():
            recurrent = _count_heads(mixer.heads, ranks) * mixer.head_dim**2
            tail = 3 * _count_heads(mixer.heads, ranks) * mixer.head_dim * (mixer.conv_kernel - 1)
        case Mamba1():
            recurrent = _count_heads(mixer.inner_size, ranks) * mixer.state_size
            tail = _count_heads(mixer.inner_size, ranks) * (mixer.conv_kernel - 1)
        case Mamba2():
            recurrent = _count_heads(mixer.heads, ranks) * mixer.head_dim * mixer.state_size
            channels = (
                _count_heads(mixer.heads, ranks) * mixer.head_dim
                + 2 * _count_heads(mixer.groups, ranks) * mixer.state_size
            )
            tail = channels * (mixer.conv_kernel - 1)
        case Lightning():
            recurrent = _count_heads(mixer.heads, ranks) * mixer.head_dim**2
            tail = 0
        case ShortConvolution():
            recurrent = 0
            tail = _count_heads(mixer.inner_size, ranks) * (mixer.conv_kernel - 1)
        case _:
            assert_never(mixer)
    return recurrent * STATE_BYTES + tail * CONV_BYTES


def compute_layer_cache(mixer: Mixer, ranks: int, kv: Precision) -> LayerCache:
    """Return the cache of one layer on one of `ranks` tensor-parallel ranks (1 under attention-DP).

    A layer that reuses the cache of another layer stores nothing, but reads and computes in full.
    """
    element = KV_BYTES[kv]
    match mixer:
        case Attention():
            cache = _make_attention_cache(mixer, ranks, element)
            return replace(cache, stored=()) if reuses_cache(mixer) else cache
        case MLA():
            return _make_mla_cache(mixer, ranks, element)
        case Compressed():
            return _make_compressed_cache(mixer, ranks, element)
        case _:
            return LayerCache(state_bytes=_compute_state_bytes(mixer, ranks))


def _merge(growths: Iterable[tuple[int, CacheGrowth]]) -> tuple[CacheGrowth, ...]:
    """Add up growths of equal windows, each taken `count` times; windows in rising order, None first."""
    totals: dict[int | None, tuple[float, float]] = {}
    for count, growth in growths:
        per_token, flops = totals.get(growth.window, (0.0, 0.0))
        totals[growth.window] = (per_token + count * growth.per_token, flops + count * growth.flops_per_token)
    order = sorted(totals, key=lambda window: -1 if window is None else window)
    return tuple(CacheGrowth(totals[window][0], totals[window][1], window) for window in order)


def _merge_windows(growths: Sequence[CacheGrowth]) -> tuple[CacheGrowth, CacheGrowth]:
    """Return two windowed growths; if there are more, the smallest are merged into the next larger one."""
    windowed = [growth for growth in growths if growth.window is not None]
    while len(windowed) > 2:
        small, large = windowed.pop(0), windowed.pop(0)
        merged = CacheGrowth(
            small.per_token + large.per_token, small.flops_per_token + large.flops_per_token, large.window
        )
        windowed.insert(0, merged)
    first, second = windowed + [CacheGrowth(0.0, 0.0, 0)] * (2 - len(windowed))
    return first, second


def _count_step_work(
    growths: Sequence[CacheGrowth], prefill: Sequence[CacheGrowth], state_bytes: int, state_layers: int
) -> CacheStepWork:
    whole = next((growth for growth in growths if growth.window is None), CacheGrowth(0.0))
    first, second = _merge_windows(growths)
    windows = [(growth.flops_per_token, growth.window) for growth in prefill if growth.window is not None]
    widest = max((window for _, window in windows), default=0)
    return CacheStepWork(
        kv_bytes=whole.per_token,
        kv1_bytes=first.per_token,
        kv1_window=float(first.window or 0),
        kv2_bytes=second.per_token,
        kv2_window=float(second.window or 0),
        state_bytes=2.0 * state_bytes,
        state_layers=float(state_layers),
        att_flop=whole.flops_per_token,
        att1_flop=first.flops_per_token,
        att2_flop=second.flops_per_token,
        patt_flop=sum((growth.flops_per_token for growth in prefill if growth.window is None), start=0.0),
        # Several windows become one, the widest, with the same arithmetic once all are full.
        patt1_flop=sum(flops * window for flops, window in windows) / widest if windows else 0.0,
        patt1_window=float(widest),
    )


def compute_cache_profile(
    model: Model, kv: Precision, plan: ParallelPlan, holding: CacheReservation = AS_FILLED
) -> KvCacheProfile:
    """Return the exact cache of one sequence of `model` on an accelerator of `plan`.

    Every serving engine keeps the window of compressed attention separate. Under attention-DP a sequence is whole on
    one rank; otherwise its heads divide over the ranks.
    """
    return _profile_cache(model, kv, 1 if plan.attention_dp else plan.tp, plan.pp, holding)


@lru_cache(maxsize=1_000)
def _profile_cache(model: Model, kv: Precision, ranks: int, stages: int, holding: CacheReservation) -> KvCacheProfile:
    stored: list[tuple[int, CacheGrowth]] = []
    growths: list[tuple[int, CacheGrowth]] = []
    prefill: list[tuple[int, CacheGrowth]] = []
    state = all_states = state_layers = 0
    for group in model.layers:
        if group.mixer is None:
            continue
        layer = compute_layer_cache(group.mixer, ranks, kv)
        on_stage = -(-group.count // stages)
        stored += [(on_stage, growth) for growth in layer.stored]
        growths += [(group.count, growth) for growth in layer.growths]
        prefill += [(group.count, growth) for growth in layer.prefill]
        state += on_stage * layer.state_bytes
        all_states += group.count * layer.state_bytes
        state_layers += group.count * (layer.state_bytes > 0)
    if any(isinstance(group.mixer, Compressed) for group in model.layers):
        holding = holding._replace(window_share=0.0)
    merged = _merge(growths)
    return KvCacheProfile(
        stored=_merge(stored),
        growths=merged,
        state_bytes=state,
        step_work=_count_step_work(merged, _merge(prefill), all_states, state_layers),
        holding=holding,
    )


#: Bytes of an activation element.
ACTIVATION_BYTES = 2
#: Number of sequences held if they take no memory.
UNLIMITED_SEQUENCES = 2**31
#: Vectors of hidden size that a layer holds at the peak of its feed-forward block: residual, normalized input, output.
#: With the three of the block that matches vLLM's memory profile of Llama 3.1 8B: 110.6 kB per token.
HIDDEN_VECTORS = 3
#: Vectors as wide as a dense feed-forward block that it holds at once: gate, up, and their product.
FFN_VECTORS = 3


class MemorySettings(NamedTuple):
    """Memory that a serving engine reserves: its memory fraction and base, its own runtime, its step limits.

    `max_batch` is in sequences and `max_batched_tokens` in tokens per step, both of one attention rank.
    `usual_fraction` is the engine's default, used if the user set nothing; with attention-DP it leaves
    `attention_rank_bytes` free for each rank. `collective_bytes` are added to the runtime of a replica of more than one
    accelerator.
    """

    memory_fraction: float
    memory_fraction_of: Literal["total", "free", "static"]
    runtime_bytes: int
    max_batch: int
    max_batched_tokens: int
    usual_fraction: float | None = None
    collective_bytes: int = 0
    attention_rank_bytes: int = 0
    logit_bytes: int = 4
    holding: CacheReservation = AS_FILLED
    padding: ExpertPadding = NO_PADDING


class MemoryBudget(NamedTuple):
    """Memory breakdown of the most loaded accelerator before any sequence is admitted.

    `pool_bytes` is the most that the KV cache can take (0 or less: the weights alone do not fit), `usual_pool_bytes`
    what it takes with the engine's default.
    """

    capacity_bytes: int
    weights_bytes: int
    activations_bytes: int
    runtime_bytes: int
    pool_bytes: int
    usual_pool_bytes: int
    cache: KvCacheProfile
    shards: ModelShards
    attention_ranks: int
    replicas: int

    def max_sequences(self, tokens: int) -> int:
        """Sequences of `tokens` that the whole deployment can hold at once; 0 if none fits."""
        return self.count_sequences(self.cache.sequence_bytes(tokens))

    def count_sequences(self, sequence_bytes: int) -> int:
        """Sequences of this many bytes per rank that the whole deployment can hold at once."""
        if self.pool_bytes <= 0:
            return 0
        if sequence_bytes == 0:
            return UNLIMITED_SEQUENCES
        return self.pool_bytes // sequence_bytes * self.attention_ranks * self.replicas

    def count_max_by_length(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `max_sequences` of many lengths at once."""
        each = self.cache.compute_sequences_bytes(tokens)
        if self.pool_bytes <= 0:
            return np.zeros_like(each)
        sequences = self.pool_bytes // np.maximum(each, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, UNLIMITED_SEQUENCES, sequences)

    def count_admitted_by_length(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `count_admitted_sequences` of many lengths at once."""
        each = self.cache.compute_sequences_bytes(tokens)
        usual = max(self.usual_pool_bytes, 0) // np.maximum(each, 1)
        sequences = self.count_max_by_length(tokens)
        by_usual = np.maximum(usual, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, sequences, np.minimum(sequences, by_usual))

    def count_admitted_sequences(self, tokens: int) -> int:
        """Sequences that the engine admits with its default fraction, raised if the default admits none.

        It is raised for one sequence per rank only, so that more memory never admits fewer.
        """
        return self.count_admitted(self.cache.sequence_bytes(tokens))

    def count_admitted(self, sequence_bytes: int) -> int:
        """Return `count_admitted_sequences` for sequences of this many bytes per rank."""
        return self.limit_admitted(self.count_sequences(sequence_bytes), sequence_bytes)

    def limit_admitted(self, sequences: int, sequence_bytes: int) -> int:
        """Return `count_admitted` from a result of `count_sequences`."""
        if sequence_bytes == 0:
            return sequences
        usual = max(1, self.usual_pool_bytes // sequence_bytes)
        return min(sequences, usual * self.attention_ranks * self.replicas)

    def headroom_bytes(self, tokens: int) -> int:
        """Bytes left (negative: missing) with one sequence of `tokens` on every attention rank."""
        return self.pool_bytes - self.cache.sequence_bytes(tokens)

    def compute_use(self, sequences: int, sequence_bytes: int) -> MemoryUse:
        """Return the breakdown with `sequences` of `sequence_bytes` each in the whole deployment."""
        kv = self.compute_kv_bytes(sequences, sequence_bytes)
        return MemoryUse(
            capacity_bytes=self.capacity_bytes,
            weights_bytes=self.weights_bytes,
            kv_bytes=kv,
            activations_bytes=self.activations_bytes,
            runtime_bytes=self.runtime_bytes,
            free_bytes=self.empty_bytes - kv,
            reserved_bytes=self.empty_bytes - self.pool_bytes,
        )

    def compute_kv_bytes(self, sequences: int, sequence_bytes: int) -> int:
        """Return the bytes on the most loaded rank for `sequences` of `sequence_bytes` each in the whole deployment."""
        return -(-sequences // (self.attention_ranks * self.replicas)) * sequence_bytes

    @property
    def empty_bytes(self) -> int:
        """Free bytes without any sequence."""
        return self.capacity_bytes - self.weights_bytes - self.activations_bytes - self.runtime_bytes


def compute_activation_bytes(model: Model, plan: ParallelPlan, settings: MemorySettings) -> int:
    """Peak activations: the larger of a step and of sampling, which follow one another."""
    return max(compute_step_bytes(model, plan, settings), compute_sampling_bytes(model, settings))


def compute_step_bytes(model: Model, plan: ParallelPlan, settings: MemorySettings) -> int:
    """Activations of a step of `max_batched_tokens`.

    Under attention-DP every rank has its own tokens, so the ranks do not share them.
    """
    elements = _count_step_elements(model, 1 if plan.attention_dp else plan.tp)
    return settings.max_batched_tokens * elements * ACTIVATION_BYTES


@lru_cache(maxsize=1_000)
def _count_step_elements(model: Model, ranks: int) -> int:
    """Elements that one token of a step holds at once."""
    widest = max((_count_ffn_elements(group.ffn, model.hidden_size, ranks) for group in model.layers), default=0)
    # The inputs of all layers are computed before the first, and streams are predicted before they are corrected.
    inputs = model.layer_count * model.layer_input_size
    streams = 2 * (model.altup_streams - 1) * model.hidden_size
    return HIDDEN_VECTORS * model.hidden_size + widest + inputs + streams


def compute_sampling_bytes(model: Model, settings: MemorySettings) -> int:
    """Bytes to sample the tokens of `max_batch` sequences, besides the output of the last layer."""
    tokens = settings.max_batched_tokens
    sampled = min(settings.max_batch, tokens)
    return tokens * model.hidden_size * ACTIVATION_BYTES + sampled * model.vocab_size * settings.logit_bytes


def _count_ffn_elements(ffn: Ffn | None, hidden_size: int, ranks: int) -> int:
    """Elements that one token holds at once in the feed-forward block of a rank."""
    if isinstance(ffn, DenseFfn):
        return FFN_VECTORS * -(-ffn.intermediate_size // ranks)
    if not isinstance(ffn, MoeFfn):
        return 0
    # Tokens are copied for each of their experts. A copy needs room for gate and up, reused by its output, and for
    # their product.
    width = -(-ffn.intermediate_size // ranks)
    copies = ffn.experts_per_token * (max(2 * width, ffn.latent_size or hidden_size) + width)
    return copies + FFN_VECTORS * -(-ffn.shared_intermediate_size // ranks)


def compute_memory_budget(
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    plan: ParallelPlan,
    settings: MemorySettings,
) -> MemoryBudget:
    """Divide the memory of the most loaded accelerator of `plan`; `weights` is a concrete format.

    Raises ValueError if the model's dimensions are not known.
    """
    shards = shard_model(model, weights, plan, settings.padding)
    cache = compute_cache_profile(model, kv, plan, settings.holding)
    activations = compute_activation_bytes(model, plan, settings)
    runtime = settings.runtime_bytes + (settings.collective_bytes if plan.tp * plan.pp > 1 else 0)
    capacity = accelerator.memory_bytes
    occupied_bytes = shards.resident_bytes + activations + runtime

    def pool(fraction: float) -> int:
        if settings.memory_fraction_of == "total":
            return int(capacity * fraction) - occupied_bytes
        if settings.memory_fraction_of == "free":
            return int((capacity - occupied_bytes) * fraction)
        return min(int((capacity - runtime) * fraction) - shards.resident_bytes, capacity - occupied_bytes)

    return MemoryBudget(
        capacity,
        shards.resident_bytes,
        activations,
        runtime,
        pool(settings.memory_fraction),
        pool(settings.usual_fraction or settings.memory_fraction),
        cache,
        shards,
        plan.tp if plan.attention_dp else 1,
        plan.dp,
    )


@frozen_dataclass
class CapacityReading:
    """How a memory label is read.

    `unit_bytes` is one unit of the label, `usable` the share of it available to weights. With `rounds_up` a count is
    rounded up to a power of two.
    """

    id: CapacityReadingId
    unit_bytes: int
    usable: float
    rounds_up: bool

    def usable_bytes(self, label: float) -> float:
        """Return the bytes available to weights on one accelerator with this memory label."""
        return label * self.unit_bytes * self.usable

    def count(self, weights_bytes: float, label: float) -> int:
        """Return how many accelerators hold the weights alone: ceil(weights / usable), then rounded.

        Raises ValueError for a label or weights that are not above 0.
        """
        if label <= 0 or weights_bytes <= 0:
            raise ValueError(f"label {label} and weights {weights_bytes} must be above 0")
        needed = math.ceil(weights_bytes / self.usable_bytes(label))
        return round_up_to_power_of_two(needed) if self.rounds_up else needed


def round_up_to_power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`; raises ValueError below 1."""
    if count < 1:
        raise ValueError(f"{count} is below 1")
    return 1 << (count - 1).bit_length()


#: A tenth kept free, as in the published counts with a reserve.
_RESERVED: Final = 0.9

CAPACITY_READINGS: Final = {
    each.id: each
    for each in (
        CapacityReading(CapacityReadingId.DECIMAL, GB, 1.0, rounds_up=False),
        CapacityReading(CapacityReadingId.BINARY, GIB, 1.0, rounds_up=False),
        CapacityReading(CapacityReadingId.DECIMAL_RESERVED, GB, _RESERVED, rounds_up=True),
        CapacityReading(CapacityReadingId.BINARY_RESERVED, GIB, _RESERVED, rounds_up=True),
    )
}


class MemoryPlan(NamedTuple):
    """A parallel plan with its memory; `settings` are the engine settings used to compute it."""

    plan: ParallelPlan
    budget: MemoryBudget
    settings: MemorySettings

    def with_replicas(self, plan: ParallelPlan) -> MemoryPlan:
        """Return the memory of a plan that differs only in its number of replicas."""
        return MemoryPlan(plan, self.budget._replace(replicas=plan.dp), self.settings)

    @property
    def max_running(self) -> int:
        """Sequences that the serving engine lets one replica run at once, regardless of memory."""
        return self.settings.max_batch * self.budget.attention_ranks

    def compute_capacity(self, admitted: int) -> float:
        """Return how many of the sequences that the engine admits to the deployment one replica runs at once."""
        return float(min(admitted // self.plan.dp, self.max_running))

    def compute_capacity_for(self, tokens: int) -> float:
        """Return `compute_capacity` for sequences of `tokens`."""
        return self.compute_capacity(self.budget.count_admitted_sequences(tokens))


@frozen_dataclass
class KernelPath:
    """How a weight format runs: the path, the arithmetic format, and the reason if it does not run.

    `padding` are the multiples to which kernels pad the matrices of experts.
    """

    path: KernelPathKind
    arithmetic: Precision
    reason: Message | None = None
    padding: ExpertPadding = NO_PADDING


class ServingConfiguration(NamedTuple):
    """What all plans of a request share, independent of lengths and load.

    `months_old` and `months_newer` count from the newest calibrated month backward and forward, 0 or more.
    `mixed_steps`, `kv_on_demand` and `present_runtime` are switches of the serving engine, see `EngineSetting`.
    `limit_tokens` is the most tokens in a step of an attention rank under a load with p99 limits, see
    `SchedulingConstants`.
    """

    accelerator: Accelerator
    model: Model
    engine: ServingEngine
    kernel: KernelPath
    weights: Precision
    kv: Precision
    settings: MemorySettings
    mixed_steps: bool = True
    kv_on_demand: bool = True
    present_runtime: bool = True
    eager: bool = False
    behind_server: bool = True
    acceptance_length: float = 1.0
    months_old: float = 0.0
    months_newer: float = 0.0
    limit_tokens: float = 0.0
    notes: tuple[Message, ...] = ()


@frozen_dataclass
class ResolvedDeployment:
    """A configuration under one plan; `position` is the index of its step coefficients in their table."""

    configuration: ServingConfiguration
    memory: MemoryPlan
    position: int = 0

    @property
    def plan(self) -> ParallelPlan:
        return self.memory.plan

    @property
    def budget(self) -> MemoryBudget:
        return self.memory.budget
