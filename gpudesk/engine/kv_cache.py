"""KV cache: what it stores and what a decode step reads from it, per layer kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.model import (
    MLA,
    Attention,
    AttentionIndexer,
    Compressed,
    GatedDeltaNet,
    KimiDelta,
    Lightning,
    Mamba1,
    Mamba2,
    Mixer,
    Model,
    ShortConvolution,
    reuses_cache,
)
from gpudesk.domain.precision import KV_BYTES, Precision

#: Recurrent states are kept in fp32 and convolution tails in 16 bits, as published kernels do.
STATE_BYTES = 4
CONV_BYTES = 2
#: An indexer caches its keys in FP8 with one fp32 scale per key.
INDEXER_SCALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class CacheGrowth:
    """Bytes and arithmetic that grow with a sequence: `per_token` up to `window` tokens (None: no limit).

    `flops_per_token` is the attention arithmetic of one new token against one cached token.
    """

    per_token: float
    flops_per_token: float = 0.0
    window: int | None = None


@dataclass(frozen=True, slots=True)
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
    decode and in prefill. Groups 1 and 2 end at their window in tokens. `state_bytes` are read and written.
    """

    kv_bytes: float = 0.0
    kv1_bytes: float = 0.0
    kv1_window: float = 0.0
    kv2_bytes: float = 0.0
    kv2_window: float = 0.0
    state_bytes: float = 0.0
    att_flop: float = 0.0
    att1_flop: float = 0.0
    att2_flop: float = 0.0
    patt_flop: float = 0.0
    patt1_flop: float = 0.0
    patt1_window: float = 0.0


NO_STEP_WORK = CacheStepWork()


@dataclass(frozen=True, slots=True)
class KvCacheProfile:
    """Cache of one sequence on one accelerator, over all layers, merged by window."""

    stored: tuple[CacheGrowth, ...] = ()
    growths: tuple[CacheGrowth, ...] = ()
    state_bytes: int = 0
    step_work: CacheStepWork = NO_STEP_WORK
    holding: CacheReservation = AS_FILLED

    def filled_bytes(self, tokens: int) -> int:
        """Bytes that a sequence of `tokens` fills on the fullest accelerator, rounded up."""
        return self.state_bytes + self._grown(tokens, 0.0)

    def sequence_bytes(self, tokens: int) -> int:
        """Bytes that the serving engine reserves for it there, at least what it fills; rounded up."""
        grown = self._grown(tokens, self.holding.window_share)
        share = self.holding.state_share
        if not (share and self.state_bytes and self.stored):
            return self.state_bytes + grown
        # The pool that runs out first decides; the other stays partly empty.
        states = self.state_bytes * self.holding.state_slots
        return max(math.ceil(states / share), math.ceil(grown / (1.0 - share)))

    def _grown(self, tokens: int, window_share: float) -> int:
        # Computed for every new length and plan: a plain loop takes half the time of `sum`.
        grown_bytes = 0
        for growth in self.stored:
            window = growth.window
            if window is None or tokens < window:
                grown_bytes += math.ceil(growth.per_token * tokens)
            else:
                grown_bytes += math.ceil(growth.per_token * max(float(window), window_share * tokens))
        return grown_bytes

    def sequences_bytes(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
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


def _heads(heads: int, ranks: int) -> int:
    """Heads on one rank: divided if there are enough, else one (replicated)."""
    return -(-heads // ranks)


def _attention(mixer: Attention, ranks: int, element: float) -> LayerCache:
    kv_heads = _heads(mixer.kv_heads, ranks)
    entry = kv_heads * (mixer.head_dim + mixer.value_dim) * element
    flops = 2.0 * _heads(mixer.heads, ranks) * (mixer.head_dim + mixer.value_dim)
    main = CacheGrowth(entry, flops, mixer.window)
    if mixer.indexer is None:
        return LayerCache((main,), (main,), prefill=(main,))
    keys = _indexer_growth(mixer.indexer)
    growths = (CacheGrowth(entry, flops, mixer.indexer.top_k), keys)
    return LayerCache((main, keys), growths, prefill=growths)


def _indexer_growth(indexer: AttentionIndexer) -> CacheGrowth:
    if indexer.reused:
        return CacheGrowth(0.0)
    return CacheGrowth(indexer.head_dim + INDEXER_SCALE_BYTES, 2.0 * indexer.heads * indexer.head_dim)


def _mla(mixer: MLA, ranks: int, element: float) -> LayerCache:
    # Decode works on the latents (absorbed projections), prefill on the keys and values that they expand to. Latents do
    # not divide over tensor-parallel ranks.
    width = mixer.kv_lora_rank + mixer.qk_rope_head_dim
    heads = _heads(mixer.heads, ranks)
    absorbed = 2.0 * heads * (width + mixer.kv_lora_rank)
    unfolded = 2.0 * heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim + mixer.v_head_dim)
    main = CacheGrowth(width * element, absorbed)
    if mixer.indexer is None:
        return LayerCache((main,), (main,), prefill=(CacheGrowth(0.0, unfolded),))
    keys = _indexer_growth(mixer.indexer)
    picked = CacheGrowth(width * element, absorbed, mixer.indexer.top_k)
    prefill = (CacheGrowth(0.0, unfolded, mixer.indexer.top_k), keys)
    return LayerCache((main, keys), (picked, keys), prefill=prefill)


def _compressed(mixer: Compressed, ranks: int, element: float) -> LayerCache:
    # One entry of head_dim serves as key and value for all heads.
    entry = mixer.head_dim * element
    flops = 4.0 * _heads(mixer.heads, ranks) * mixer.head_dim
    window = CacheGrowth(entry, flops, mixer.window)
    if mixer.compress_ratio is None:
        return LayerCache((window,), (window,), prefill=(window,))
    ratio = mixer.compress_ratio
    folded = CacheGrowth(entry / ratio, flops / ratio)
    if mixer.indexer is None:
        return LayerCache((window, folded), (window, folded), prefill=(window, folded))
    keys = _indexer_growth(mixer.indexer)
    keys = CacheGrowth(keys.per_token / ratio, keys.flops_per_token / ratio)
    picked = CacheGrowth(entry / ratio, flops / ratio, mixer.indexer.top_k * ratio)
    growths = (window, picked, keys)
    return LayerCache((window, folded, keys), growths, prefill=growths)


def _state(mixer: GatedDeltaNet | KimiDelta | Mamba1 | Mamba2 | Lightning | ShortConvolution, ranks: int) -> int:
    match mixer:
        case GatedDeltaNet():
            recurrent = _heads(mixer.value_heads, ranks) * mixer.key_head_dim * mixer.value_head_dim
            channels = (
                2 * _heads(mixer.key_heads, ranks) * mixer.key_head_dim
                + _heads(mixer.value_heads, ranks) * mixer.value_head_dim
            )
            tail = channels * (mixer.conv_kernel - 1)
        case KimiDelta():
            recurrent = _heads(mixer.heads, ranks) * mixer.head_dim**2
            tail = 3 * _heads(mixer.heads, ranks) * mixer.head_dim * (mixer.conv_kernel - 1)
        case Mamba1():
            recurrent = _heads(mixer.inner_size, ranks) * mixer.state_size
            tail = _heads(mixer.inner_size, ranks) * (mixer.conv_kernel - 1)
        case Mamba2():
            recurrent = _heads(mixer.heads, ranks) * mixer.head_dim * mixer.state_size
            channels = _heads(mixer.heads, ranks) * mixer.head_dim + 2 * _heads(mixer.groups, ranks) * mixer.state_size
            tail = channels * (mixer.conv_kernel - 1)
        case Lightning():
            recurrent = _heads(mixer.heads, ranks) * mixer.head_dim**2
            tail = 0
        case ShortConvolution():
            recurrent = 0
            tail = _heads(mixer.inner_size, ranks) * (mixer.conv_kernel - 1)
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
            cache = _attention(mixer, ranks, element)
            return replace(cache, stored=()) if reuses_cache(mixer) else cache
        case MLA():
            return _mla(mixer, ranks, element)
        case Compressed():
            return _compressed(mixer, ranks, element)
        case _:
            return LayerCache(state_bytes=_state(mixer, ranks))


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


def _count_step_work(growths: Sequence[CacheGrowth], prefill: Sequence[CacheGrowth], state_bytes: int) -> CacheStepWork:
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


@lru_cache(maxsize=2_000)
def _profile_cache(model: Model, kv: Precision, ranks: int, stages: int, holding: CacheReservation) -> KvCacheProfile:
    stored: list[tuple[int, CacheGrowth]] = []
    growths: list[tuple[int, CacheGrowth]] = []
    prefill: list[tuple[int, CacheGrowth]] = []
    state = all_states = 0
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
    if any(isinstance(group.mixer, Compressed) for group in model.layers):
        holding = holding._replace(window_share=0.0)
    merged = _merge(growths)
    return KvCacheProfile(
        stored=_merge(stored),
        growths=merged,
        state_bytes=state,
        step_work=_count_step_work(merged, _merge(prefill), all_states),
        holding=holding,
    )
