"""Architectures with routed experts whose layers attend differently: windows, chunks, picked blocks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import Fields
from gpudesk.catalog.importing.hf_moe import deepseek_blocks, minimax_norm, mixed, sparse_layers
from gpudesk.catalog.importing.hf_structure import (
    CHUNKED,
    FULL,
    SLIDING,
    Heads,
    Layer,
    Part,
    Reader,
    Structure,
    attention,
    dense,
    every,
    experts,
    experts_per_token,
    layer_count,
    layer_types,
    moe,
    read_heads,
    sliding_window,
    windowed,
)


def _llama4(f: Fields) -> Structure:
    """Llama 4: three of four layers attend within chunks; one shared expert beside the routed ones."""
    count = layer_count(f)
    heads = read_heads(f, head_dim=128, kv_heads=8)
    bias = f.yes("attention_bias", default=False)
    rotated = f.wholes("no_rope_layers", count) if f.raw("no_rope_layers") else None
    interval = f.whole_or(4, "no_rope_layer_interval")
    turns = rotated or [int((number + 1) % interval != 0) for number in range(count)]
    kinds = layer_types(f, count, (FULL, CHUNKED), lambda number: CHUNKED if turns[number] else FULL)
    chunk = f.whole_or(8192, "attention_chunk_size")
    within = Part(
        "chunked",
        attention(heads, window=chunk, window_kind="chunked", qkv_bias=bias, output_bias=bias),
    )
    full = Part("global", attention(heads, qkv_bias=bias, output_bias=bias))
    step = f.whole_or(1, "interleave_moe_layer_step")
    listed = f.numbers("moe_layers", count)
    sparse = [number in listed if listed is not None else (number + 1) % step == 0 for number in range(count)]
    size = f.whole("intermediate_size")
    routed = moe(experts(f, "num_local_experts"), experts_per_token(f), size, shared_intermediate_size=size)
    plain = None if all(sparse) else dense(f.whole("intermediate_size_mlp"))
    return Structure(mixed([within if kind == CHUNKED else full for kind in kinds], sparse, routed, plain))


def _minimax_m3(f: Fields) -> Structure:
    """MiniMax M3: after the first layers attention reads blocks that a small scorer picks."""
    count = layer_count(f)
    heads = read_heads(f, head_dim=128)
    norm = minimax_norm(f, "per_head")
    sparse = f.table("sparse_attention_config") or Fields({}, f.where("sparse_attention_config"), parent=f)
    block = sparse.whole_or(128, "sparse_block_size")
    blocks = sparse.whole_or(16, "sparse_topk_blocks")
    indexer = {
        "heads": sparse.whole_or(4, "sparse_num_index_heads"),
        "head_dim": sparse.whole_or(128, "sparse_index_dim"),
        "top_k": block * blocks,
        "block": block,
    }
    picked = sparse.wholes("sparse_attention_freq", count) or [0] * count
    full = Part("dense", attention(heads, qk_norm=norm))
    picking = Part("sparse", attention(heads, qk_norm=norm, indexer=indexer))
    size = f.whole("intermediate_size", "moe_intermediate_size")
    routed = moe(
        experts(f, "num_local_experts", "num_experts"),
        experts_per_token(f),
        size,
        shared_intermediate_size=f.whole_or(0, "shared_intermediate_size", low=0),
        router_bias=f.yes("use_routing_bias", default=True),
    )
    with_experts = sparse_layers(f, count)
    plain = None if all(with_experts) else dense(f.whole("dense_intermediate_size"))
    mixers = [picking if flag else full for flag in picked]
    return Structure(mixed(mixers, with_experts, routed, plain))


def _gpt_oss(f: Fields) -> Structure:
    """GPT-OSS: windows and global layers in turn, sinks, biases everywhere."""
    count = layer_count(f)
    bias = f.yes("attention_bias", default=True)
    kinds = layer_types(f, count, (FULL, SLIDING), every(2, FULL, SLIDING))
    mixers = windowed(
        read_heads(f, head_dim=64),
        kinds,
        sliding_window(f, 128),
        qkv_bias=bias,
        output_bias=bias,
        sinks=True,
    )
    routed = moe(
        experts(f, "num_local_experts", "num_experts"),
        experts_per_token(f, "num_experts_per_tok", "experts_per_token"),
        f.whole("intermediate_size"),
        bias=True,
        router_bias=True,
    )
    return Structure(tuple(Layer(mixer, routed) for mixer in mixers))


def _mimo_v2(f: Fields) -> Structure:
    """MiMo V2: values narrower than keys, windows with sinks and heads of their own."""
    count = layer_count(f)
    heads = read_heads(f, head_dim=192)
    width = f.whole_or(128, "v_head_dim")
    near = Heads(
        f.whole_or(heads.heads, "swa_num_attention_heads"),
        f.whole_or(8, "swa_num_key_value_heads"),
        f.whole_or(heads.head_dim, "swa_head_dim"),
    )
    listed = f.wholes("hybrid_layer_pattern", count)
    kinds = layer_types(
        f,
        count,
        (FULL, SLIDING),
        lambda number: (
            SLIDING
            if (listed[number] if listed is not None else number != 0 and (number + 1) % 6 != 0)
            else FULL
        ),
    )
    window = f.whole_or(128, "sliding_window_size", "sliding_window")
    sliding = Part(
        "sliding",
        attention(
            near,
            v_head_dim=f.whole_or(width, "swa_v_head_dim"),
            window=window,
            sinks=f.yes("add_swa_attention_sink_bias", default=True),
        ),
    )
    full = Part(
        "global",
        attention(heads, v_head_dim=width, sinks=f.yes("add_full_attention_sink_bias", default=False)),
    )
    mixers = [sliding if kind == SLIDING else full for kind in kinds]
    return Structure(mixed(mixers, *deepseek_blocks(f, count)))


def _step(f: Fields) -> Structure:
    """Step 3.5 and 3.7: windows with more heads, a gate a head, one shared expert."""
    count = layer_count(f)
    heads = f.whole("num_attention_heads")
    kv_heads = f.whole("num_key_value_heads", "num_attention_groups")
    width = f.whole_or(128, "head_dim")
    other = f.table("attention_other_setting") or Fields({}, parent=f)
    near = f.maybe("num_sliding_attention_heads") or other.whole_or(heads, "num_attention_heads")
    kinds = layer_types(f, count, (FULL, SLIDING), lambda _: FULL)
    gate = "head" if f.yes("use_head_wise_attn_gate", default=True) else "none"
    sliding = Part(
        "sliding",
        attention(
            Heads(
                near,
                other.whole_or(kv_heads, "num_attention_groups"),
                other.whole_or(width, "head_dim"),
            ),
            window=sliding_window(f, 512),
            qk_norm="head",
            output_gate=gate,
        ),
    )
    full = Part("global", attention(Heads(heads, kv_heads, width), qk_norm="head", output_gate=gate))
    routed = moe(
        experts(f, "moe_num_experts", "n_routed_experts", "num_experts"),
        experts_per_token(f, "moe_top_k", "num_experts_per_tok"),
        f.whole("moe_intermediate_size"),
        shared_intermediate_size=f.whole_or(0, "share_expert_dim", "share_expert_dims", low=0),
        router_bias=f.yes("use_moe_router_bias", default=True),
    )
    sparse = _step_sparse(f, count)
    plain = None if all(sparse) else dense(f.whole("intermediate_size"))
    mixers = [sliding if kind == SLIDING else full for kind in kinds]
    return Structure(mixed(mixers, sparse, routed, plain))


def _step_sparse(f: Fields, count: int) -> list[bool]:
    """Return which layers have experts: listed in words, or all after the first three."""
    written = f.raw("moe_layers_enum")
    if isinstance(written, str) and not f.has("mlp_layer_types"):
        listed = {part.strip() for part in written.split(",")}
        return [str(number) in listed for number in range(count)]
    if f.has("mlp_layer_types", "first_k_dense_replace"):
        return sparse_layers(f, count)
    return [number >= 3 for number in range(count)]


#: By `model_type`.
MOE_WINDOWS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "llama4_text": _llama4,
        "minimax_m3": _minimax_m3,
        "minimax_m3_vl_text": _minimax_m3,
        "gpt_oss": _gpt_oss,
        "mimo_v2_flash": _mimo_v2,
        "step3p5": _step,
        "step3p7": _step,
    }
)
