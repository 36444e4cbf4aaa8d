"""Architectures whose layers differ in kind: linear attention and state spaces between softmax attention."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import MOST_LAYERS, Fields, quoted, wrong_type
from gpudesk.catalog.importing.hf_mla import latent
from gpudesk.catalog.importing.hf_moe import sparse_layers
from gpudesk.catalog.importing.hf_structure import (
    FULL,
    LINEAR,
    Heads,
    Layer,
    Part,
    Reader,
    Structure,
    Table,
    attention,
    dense,
    every,
    experts,
    experts_per_token,
    layer_count,
    layer_types,
    moe,
    read_heads,
    stated,
)
from gpudesk.domain.messages import InputError, message


def _qwen_next(f: Fields, *, with_experts: bool) -> Structure:
    """Qwen 3 Next and 3.5: gated delta nets, and each n-th layer with gated softmax attention."""
    count = layer_count(f)
    kinds = layer_types(
        f, count, (FULL, LINEAR), every(f.whole_or(4, "full_attention_interval"), FULL, LINEAR)
    )
    bias = f.yes("attention_bias", default=False)
    gate = "element" if f.yes("attn_output_gate", default=True) else "none"
    full = attention(
        read_heads(f, head_dim=256), qk_norm="head", output_gate=gate, qkv_bias=bias, output_bias=bias
    )
    linear: Table = {
        "kind": "gated_delta_net",
        "key_heads": f.whole_or(16, "linear_num_key_heads"),
        "value_heads": f.whole_or(32, "linear_num_value_heads"),
        "key_head_dim": f.whole_or(128, "linear_key_head_dim"),
        "value_head_dim": f.whole_or(128, "linear_value_head_dim"),
        "conv_kernel": f.whole_or(4, "linear_conv_kernel_dim"),
    }
    parts = {FULL: Part("full", full), LINEAR: Part("linear", linear)}
    if not with_experts:
        plain = dense(f.whole("intermediate_size"))
        return Structure(tuple(Layer(parts[kind], plain) for kind in kinds))
    size = f.whole_or(0, "shared_expert_intermediate_size", low=0)
    routed = moe(
        experts(f),
        experts_per_token(f),
        f.whole("moe_intermediate_size"),
        shared_intermediate_size=size,
        shared_gate=size > 0,
    )
    dense_ones = f.numbers("mlp_only_layers", count) or frozenset()
    step = f.whole_or(1, "decoder_sparse_step")
    sparse = [number not in dense_ones and (number + 1) % step == 0 for number in range(count)]
    other = None if all(sparse) else dense(f.whole("intermediate_size"))
    return Structure(
        tuple(Layer(parts[kind], routed if flag else other) for kind, flag in zip(kinds, sparse, strict=True))
    )


def _jamba(f: Fields) -> Structure:
    count = layer_count(f)
    hidden = f.whole("hidden_size")
    rank = f.raw("mamba_dt_rank")
    mamba: Table = {
        "kind": "mamba1",
        "inner_size": f.whole_or(2, "mamba_expand", high=64) * hidden,
        "state_size": f.whole_or(16, "mamba_d_state"),
        "conv_kernel": f.whole_or(4, "mamba_d_conv"),
        "dt_rank": math.ceil(hidden / 16) if rank in (None, "auto") else f.whole("mamba_dt_rank"),
        "inner_norms": True,
    }
    parts = (Part("mamba", mamba), Part("attention", attention(read_heads(f))))
    period, offset = f.whole_or(8, "attn_layer_period"), f.whole_or(4, "attn_layer_offset", low=0)
    expert_period = f.whole_or(2, "expert_layer_period")
    expert_offset = f.whole_or(1, "expert_layer_offset", low=0)
    size = f.whole("intermediate_size")
    many = f.whole_or(16, "num_experts")
    routed = moe(many, experts_per_token(f), size) if many > 1 else dense(size)
    plain = dense(size)
    return Structure(
        tuple(
            Layer(
                parts[number % period == offset],
                routed if number % expert_period == expert_offset else plain,
            )
            for number in range(count)
        )
    )


def mamba2(f: Fields, heads: int, head_dim: int, state: int, groups: int) -> Part:
    """Return a state space of the second kind."""
    return Part(
        "mamba",
        {
            "kind": "mamba2",
            "heads": heads,
            "head_dim": head_dim,
            "state_size": state,
            "groups": groups,
            "conv_kernel": f.whole_or(4, "conv_kernel", "mamba_d_conv"),
        },
    )


#: Letters of a pattern, and the words that newer files have in their place.
_NEMOTRON_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "M": "M",
        "*": "*",
        "-": "-",
        "E": "E",
        "mamba": "M",
        "linear_attention": "M",
        "attention": "*",
        "full_attention": "*",
        "mlp": "-",
        "moe": "E",
    }
)


def _nemotron_h(f: Fields) -> Structure:
    """Nemotron-H and Nemotron 3: each layer is one block behind one norm, by a pattern of letters."""
    kinds = _pattern(f)
    bias = f.yes("attention_bias", default=False)
    shape = Heads(
        f.whole("num_attention_heads"),
        f.whole("num_key_value_heads"),
        f.whole_or(128, "head_dim", "attention_head_dim"),
    )
    mixers = {"*": Part("attention", attention(shape, qkv_bias=bias, output_bias=bias))}
    if "M" in kinds:
        mixers["M"] = mamba2(
            f,
            f.whole("mamba_num_heads"),
            f.whole("mamba_head_dim"),
            f.whole("ssm_state_size"),
            f.whole("n_groups", "mamba_n_groups"),
        )
    ffns = {}
    if "-" in kinds:
        ffns["-"] = dense(f.whole("intermediate_size"), gated=False, bias=f.yes("mlp_bias", default=False))
    if "E" in kinds:
        ffns["E"] = _nemotron_moe(f)
    return Structure(tuple(Layer(mixers.get(kind), ffns.get(kind), norms=1) for kind in kinds))


def _pattern(f: Fields) -> list[str]:
    """Return the letter of each layer."""
    written: object = f.raw("hybrid_override_pattern")
    name = "hybrid_override_pattern"
    if written is None:
        name = "layers_block_type" if f.has("layers_block_type") else "layer_types"
        written = f.raw(name)
    if written is None:
        f.ask("hybrid_override_pattern", "word")
        return []
    if not isinstance(written, str | list):
        raise wrong_type(f.where(name), written, "text")
    if len(written) > MOST_LAYERS:
        raise InputError(message("import.model.large", largest=MOST_LAYERS), f.where(name))
    kinds = []
    for number, kind in enumerate(written, start=1):
        if not isinstance(kind, str) or kind not in _NEMOTRON_KINDS:
            problem = message("field.word", given=quoted(kind), allowed=tuple(_NEMOTRON_KINDS))
            raise InputError(problem, f"{f.where(name)}.{number}")
        kinds.append(_NEMOTRON_KINDS[kind])
    return kinds


def _nemotron_moe(f: Fields) -> Part:
    shared = f.whole_or(0, "n_shared_experts", low=0)
    size = f.whole("moe_intermediate_size")
    return moe(
        experts(f, "n_routed_experts", "num_local_experts"),
        experts_per_token(f),
        size,
        gated=False,
        shared_intermediate_size=shared * f.whole_or(size, "moe_shared_expert_intermediate_size"),
        router_bias=True,
        latent_size=f.maybe("moe_latent_size"),
    )


def _minimax(f: Fields) -> Structure:
    """MiniMax Text 01 and M1: linear attention with a fixed decay, and each n-th layer softmax."""
    count = layer_count(f)
    heads = read_heads(f)
    listed = f.wholes("attn_type_list", count)
    kinds = layer_types(
        f,
        count,
        (FULL, LINEAR),
        (lambda number: FULL if listed[number] else LINEAR) if listed else every(2, LINEAR, FULL),
    )
    parts = {
        LINEAR: Part("linear", {"kind": "lightning", "heads": heads.heads, "head_dim": heads.head_dim}),
        FULL: Part("full", attention(heads)),
    }
    routed = moe(
        experts(f, "num_local_experts", "num_experts"),
        experts_per_token(f),
        f.whole("intermediate_size"),
        shared_intermediate_size=f.whole_or(0, "shared_intermediate_size", low=0),
    )
    return Structure(tuple(Layer(parts[kind], routed) for kind in kinds))


def _kimi_linear(f: Fields) -> Structure:
    """Kimi Linear and K3: delta attention that forgets by channel, and latent attention without rotation."""
    count = layer_count(f)
    linear = f.table("linear_attn_config") or Fields({}, f.where("linear_attn_config"), parent=f)
    kda: Table = {
        "kind": "kimi_delta",
        "heads": linear.whole_or(32, "num_heads"),
        "head_dim": linear.whole_or(128, "head_dim"),
        "conv_kernel": linear.whole_or(4, "short_conv_kernel_size"),
    } | stated({"full_rank_gate": linear.yes("use_full_rank_gate", default=False)})
    whole_ones = linear.numbers("full_attn_layers", count)
    kinds = layer_types(
        f,
        count,
        (FULL, LINEAR),
        lambda number: (
            FULL
            if (number + 1 in whole_ones if whole_ones is not None else number and number % 4 == 0)
            else LINEAR
        ),
    )
    gate = f.yes("mla_use_output_gate", default=False)
    parts = {LINEAR: Part("linear", kda), FULL: Part("full", latent(f, output_gate=gate))}
    size = f.whole("moe_intermediate_size")
    latent_size = f.maybe("routed_expert_hidden_size")
    routed = moe(
        experts(f),
        experts_per_token(f),
        size,
        shared_intermediate_size=f.whole_or(0, "num_shared_experts", "n_shared_experts", low=0) * size,
        router_bias=True,
        latent_size=latent_size,
        latent_norm=latent_size is not None and f.yes("latent_moe_use_norm", default=False),
    )
    sparse = sparse_layers(f, count)
    plain = None if all(sparse) else dense(f.whole("intermediate_size"))
    # Two norms; with residuals from earlier blocks a norm and a query vector more for each of the two.
    residual = f.has("attn_res_block_size")
    layers = tuple(
        Layer(parts[kind], routed if flag else plain, 6 if residual else 2)
        for kind, flag in zip(kinds, sparse, strict=True)
    )
    return Structure(layers, final_norms=3 if residual else 1)


def _granite_hybrid(f: Fields) -> Structure:
    """Granite 4: state spaces and attention in turn, each with experts and a shared block, or that alone."""
    count = layer_count(f)
    hidden = f.whole("hidden_size")
    name = "layers_block_type" if f.has("layers_block_type") else "layer_types"
    kinds = f.words(name, count) or ["mamba"] * count
    bias = f.yes("attention_bias", default=False)
    heads = f.whole_or(128, "mamba_n_heads")
    inner = f.whole_or(2, "mamba_expand", high=64) * hidden
    width = f.raw("mamba_d_head")
    head_dim = max(inner // heads, 1) if width in (None, "auto") else f.whole("mamba_d_head")
    mamba = mamba2(f, heads, head_dim, f.whole_or(256, "mamba_d_state"), f.whole_or(1, "mamba_n_groups"))
    full = Part("attention", attention(read_heads(f), qkv_bias=bias, output_bias=bias))
    shared = f.whole_or(1024, "shared_intermediate_size", low=0)
    many = f.whole_or(0, "num_local_experts", low=0)
    block = (
        moe(many, experts_per_token(f), f.whole("intermediate_size"), shared_intermediate_size=shared)
        if many
        else dense(shared)
    )
    return Structure(tuple(Layer(full if kind in {"attention", FULL} else mamba, block) for kind in kinds))


#: By `model_type`.
HYBRID: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "qwen3_next": partial(_qwen_next, with_experts=True),
        "qwen3_5_text": partial(_qwen_next, with_experts=False),
        "qwen3_5_moe_text": partial(_qwen_next, with_experts=True),
        "jamba": _jamba,
        "nemotron_h": _nemotron_h,
        "minimax": _minimax,
        "minimax_m1": _minimax,
        "minimax_text_01": _minimax,
        "kimi_linear": _kimi_linear,
        "granitemoehybrid": _granite_hybrid,
    }
)
