"""Architectures of grouped-query attention with routed experts, as their classes build them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_dense import late_windows
from gpudesk.catalog.importing.hf_fields import Fields
from gpudesk.catalog.importing.hf_structure import (
    Layer,
    Part,
    Reader,
    Structure,
    attention,
    dense,
    experts,
    experts_per_token,
    layer_count,
    moe,
    read_heads,
    same,
    sliding_window,
    windowed,
)
from gpudesk.domain.messages import message


def sparse_layers(f: Fields, count: int) -> list[bool]:
    """Return which layers have experts, by the first of the fields that says it; all where none does."""
    kinds = f.words("mlp_layer_types", count)
    if kinds is not None:
        return [kind != "dense" for kind in kinds]
    if f.is_list("moe_layer_freq"):
        return [bool(flag) for flag in f.wholes("moe_layer_freq", count) or ()]
    first = f.whole_or(0, "first_k_dense_replace", low=0)
    interval = f.whole_or(1, "moe_layer_freq")
    return [number >= first and number % interval == 0 for number in range(count)]


def _stepped(f: Fields, count: int) -> list[bool]:
    """Return which layers have experts where a step and a list of exceptions say it."""
    dense_ones = f.numbers("mlp_only_layers", count) or frozenset()
    step = f.whole_or(1, "decoder_sparse_step")
    return [number not in dense_ones and (number + 1) % step == 0 for number in range(count)]


def mixed(mixers: list[Part], sparse: list[bool], routed: Part, plain: Part | None) -> tuple[Layer, ...]:
    """Return layers with experts or with a dense block."""
    return tuple(Layer(mixer, routed if flag else plain) for mixer, flag in zip(mixers, sparse, strict=True))


def _all_sparse(f: Fields, *, norms: int = 2, final_norms: int = 1, tied: bool = False) -> Structure:
    """Mixtral and its kin: experts of the block's size in every layer, nothing beside them."""
    bias = f.yes("attention_bias", default=False)
    heads = read_heads(f)
    mixer = attention(heads, window=sliding_window(f), qkv_bias=bias, output_bias=bias)
    shared = f.whole_or(0, "shared_intermediate_size", low=0)
    routed = moe(
        experts(f, "num_local_experts", "num_experts"),
        experts_per_token(f),
        f.whole("intermediate_size"),
        shared_intermediate_size=shared,
    )
    layers = same(Part("attention", mixer), routed, layer_count(f), norms)
    return Structure(layers, tied=tied, final_norms=final_norms)


def _phi_moe(f: Fields) -> Structure:
    read = _all_sparse(f, norms=4, final_norms=2)
    left = (message("import.hf.head_bias", count=f.whole("vocab_size")),)
    has_bias = f.yes("lm_head_bias", default=False)
    return Structure(read.layers, final_norms=2, left_out=left if has_bias else ())


def _qwen(f: Fields, *, qk_norm: str, qkv_bias: bool, shared: bool, head_dim: int | None = None) -> Structure:
    """Qwen 2 and 3 with experts: with a shared one behind a gate, or with none."""
    count = layer_count(f)
    heads = read_heads(f, head_dim=head_dim)
    bias = f.yes("attention_bias", default=False)
    mixers = windowed(
        heads,
        late_windows(f, count),
        sliding_window(f, 4096),
        qkv_bias=bias or (qkv_bias and f.yes("qkv_bias", default=True)),
        output_bias=bias,
        qk_norm=qk_norm,
    )
    beside = f.whole_or(0, "shared_expert_intermediate_size", low=0) if shared else 0
    routed = moe(
        experts(f),
        experts_per_token(f),
        f.whole("moe_intermediate_size"),
        shared_intermediate_size=beside,
        shared_gate=beside > 0,
    )
    sparse = _stepped(f, count)
    plain = None if all(sparse) else dense(f.whole("intermediate_size"))
    return Structure(mixed(mixers, sparse, routed, plain))


def deepseek_blocks(f: Fields, count: int) -> tuple[list[bool], Part, Part | None]:
    """Return which layers have experts, the experts, and the dense block of the first layers."""
    size = f.whole("moe_intermediate_size")
    shared = f.whole_or(0, "n_shared_experts", "num_shared_experts", low=0)
    sparse = sparse_layers(f, count)
    routed = moe(
        experts(f),
        experts_per_token(f),
        size,
        shared_intermediate_size=shared * size,
        router_bias=True,
    )
    return sparse, routed, None if all(sparse) else dense(f.whole("intermediate_size"))


def _glm4_moe(f: Fields) -> Structure:
    """GLM 4.5 to 4.7: biases on queries, keys and values alone."""
    count = layer_count(f)
    mixer = attention(
        read_heads(f),
        qkv_bias=f.yes("attention_bias", default=False),
        qk_norm="head" if f.yes("use_qk_norm", default=False) else "none",
    )
    return Structure(mixed([Part("attention", mixer)] * count, *deepseek_blocks(f, count)))


def _dots1(f: Fields) -> Structure:
    count = layer_count(f)
    bias = f.yes("attention_bias", default=False)
    mixer = attention(read_heads(f), qkv_bias=bias, output_bias=bias, qk_norm="head")
    return Structure(mixed([Part("attention", mixer)] * count, *deepseek_blocks(f, count)))


def _minimax_m2(f: Fields) -> Structure:
    """MiniMax M2: norms as wide as all heads together, an expert of the block's size."""
    mixer = attention(read_heads(f, head_dim=128), qk_norm=minimax_norm(f, "per_layer"))
    routed = moe(
        experts(f, "num_local_experts", "num_experts"),
        experts_per_token(f),
        f.whole("intermediate_size"),
        shared_intermediate_size=f.whole_or(0, "shared_intermediate_size", low=0),
        router_bias=f.yes("use_routing_bias", default=True),
    )
    return Structure(same(Part("attention", mixer), routed, layer_count(f)))


def minimax_norm(f: Fields, default: str) -> str:
    """Return how MiniMax normalises queries and keys."""
    if not f.yes("use_qk_norm", default=True):
        return "none"
    return "head" if f.word("qk_norm_type", default=default) == "per_head" else "full"


def _ernie(f: Fields) -> Structure:
    """ERNIE 4.5 with experts: they begin at a layer and may end at one."""
    count = layer_count(f)
    bias = f.yes("use_bias", default=False)
    mixer = Part("attention", attention(read_heads(f), qkv_bias=bias, output_bias=bias))
    size = f.whole("moe_intermediate_size")
    routed = moe(
        experts(f, "moe_num_experts"),
        experts_per_token(f, "moe_k"),
        size,
        shared_intermediate_size=f.whole_or(2, "moe_num_shared_experts", low=0) * size,
        router_bias=True,
    )
    first = f.whole_or(1, "moe_layer_start_index", low=0)
    last = f.whole_or(-1, "moe_layer_end_index", low=-1)
    interval = f.whole_or(1, "moe_layer_interval")
    end = count - 1 if last == -1 else last
    sparse = [(number + 1) % interval == 0 and first <= number <= end for number in range(count)]
    plain = None if all(sparse) else dense(f.whole("intermediate_size"), bias=bias)
    return Structure(mixed([mixer] * count, sparse, routed, plain), tied=True)


def _hunyuan(f: Fields) -> Structure:
    """Hunyuan with experts; sizes may be listed, one a layer, where they are all alike."""
    bias = f.yes("attention_bias", default=False)
    mixer = attention(read_heads(f), qkv_bias=bias, output_bias=bias, qk_norm="head")
    count = layer_count(f)
    size = _alike(f, "moe_intermediate_size", count) or f.whole("intermediate_size")
    per_token = _alike(f, "moe_topk", count) or experts_per_token(f)
    shared = _alike(f, "num_shared_expert", count) or 1
    whole_block = f.whole_or(size, "intermediate_size")
    routed = moe(
        _alike(f, "num_experts", count) or experts(f),
        per_token,
        size,
        shared_intermediate_size=shared * whole_block,
    )
    return Structure(same(Part("attention", mixer), routed, count))


def _alike(f: Fields, name: str, count: int) -> int | None:
    """Return a number that may be a list with the same number for each layer; 0 and None are none."""
    if not f.is_list(name):
        return f.maybe(name)
    listed = f.wholes(name, count) or [0]
    if len(set(listed)) > 1:
        f.ask(name, "whole")
    return listed[0] or None


def _olmoe(f: Fields) -> Structure:
    bias = f.yes("attention_bias", default=False)
    mixer = attention(read_heads(f), qkv_bias=bias, output_bias=bias, qk_norm="full")
    routed = moe(experts(f), experts_per_token(f), f.whole("intermediate_size"))
    return Structure(same(Part("attention", mixer), routed, layer_count(f)))


#: By `model_type`.
MOE: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "mixtral": _all_sparse,
        "phimoe": _phi_moe,
        "granitemoe": _all_sparse,
        "granitemoeshared": _all_sparse,
        "olmoe": _olmoe,
        "qwen2_moe": partial(_qwen, qk_norm="none", qkv_bias=True, shared=True),
        "qwen3_moe": partial(_qwen, qk_norm="head", qkv_bias=False, shared=False),
        "qwen3_vl_moe_text": partial(_qwen, qk_norm="head", qkv_bias=False, shared=False, head_dim=128),
        "glm4_moe": _glm4_moe,
        "glm4v_moe_text": _glm4_moe,
        "dots1": _dots1,
        "minimax_m2": _minimax_m2,
        "ernie4_5_moe": _ernie,
        "hunyuan_v1_moe": _hunyuan,
    }
)
