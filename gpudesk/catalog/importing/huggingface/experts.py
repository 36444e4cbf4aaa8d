"""Readers of architectures with routed experts that no family describes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.fields import ConfigFields
from gpudesk.catalog.importing.huggingface.decoder import find_sparse_layers, read_shared_size
from gpudesk.catalog.importing.huggingface.families import read_minimax_norm
from gpudesk.catalog.importing.huggingface.structure import (
    CHUNKED,
    FULL,
    SLIDING,
    AttentionHeads,
    LayerLayout,
    LayerPart,
    ModelStructure,
    StructureReader,
    make_attention,
    mix_blocks,
    read_heads,
    read_layer_count,
    read_layer_types,
    read_moe,
    read_sliding_window,
)

#: Names of the number of experts, that of the family first.
_LOCAL: Final = ("num_local_experts", "num_experts")


def _mix_like_deepseek(f: ConfigFields, mixers: list[LayerPart]) -> tuple[LayerLayout, ...]:
    """Return the layers where the first have a dense block and the others experts, shared ones among them."""
    size = f.whole("moe_intermediate_size")
    shared = f.whole_or(0, "n_shared_experts", "num_shared_experts", low=0)
    sparse = find_sparse_layers(f, len(mixers))
    routed = read_moe(f, size, shared_intermediate_size=shared * size, router_bias=True)
    return mix_blocks(f, mixers, sparse, routed)


def _read_minimax_moe(f: ConfigFields, size: str | int) -> LayerPart:
    return read_moe(
        f,
        size,
        experts=_LOCAL,
        shared_intermediate_size=read_shared_size(f, 0),
        router_bias=f.yes("use_routing_bias", default=True),
    )


def _read_llama4(f: ConfigFields) -> ModelStructure:
    """Llama 4: three of four layers attend within chunks; one shared expert beside the routed ones."""
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=128, kv_heads=8)
    bias = f.yes("attention_bias", default=False)
    rotated = f.wholes("no_rope_layers", count) if f.raw("no_rope_layers") else None
    interval = f.whole_or(4, "no_rope_layer_interval")
    turns = rotated or [int((number + 1) % interval != 0) for number in range(count)]
    kinds = read_layer_types(f, count, (FULL, CHUNKED), lambda number: CHUNKED if turns[number] else FULL)
    chunk = f.whole_or(8192, "attention_chunk_size")
    within = LayerPart(
        "chunked", make_attention(heads, window=chunk, window_kind="chunked", qkv_bias=bias, output_bias=bias)
    )
    full = LayerPart("global", make_attention(heads, qkv_bias=bias, output_bias=bias))
    step = f.whole_or(1, "interleave_moe_layer_step")
    listed = f.numbers("moe_layers", count)
    sparse = [number in listed if listed is not None else (number + 1) % step == 0 for number in range(count)]
    size = f.whole("intermediate_size")
    routed = read_moe(f, size, experts=("num_local_experts",), shared_intermediate_size=size)
    mixers = [within if kind == CHUNKED else full for kind in kinds]
    return ModelStructure(mix_blocks(f, mixers, sparse, routed, dense="intermediate_size_mlp"))


def _read_minimax_m3(f: ConfigFields) -> ModelStructure:
    """MiniMax M3: after the first layers attention reads blocks that a small scorer picks."""
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=128)
    norm = read_minimax_norm(f, "per_head")
    sparse = f.table("sparse_attention_config") or ConfigFields({}, f.where("sparse_attention_config"), parent=f)
    block = sparse.whole_or(128, "sparse_block_size")
    blocks = sparse.whole_or(16, "sparse_topk_blocks")
    indexer = {
        "heads": sparse.whole_or(4, "sparse_num_index_heads"),
        "head_dim": sparse.whole_or(128, "sparse_index_dim"),
        "top_k": block * blocks,
        "block": block,
    }
    picked = sparse.wholes("sparse_attention_freq", count) or [0] * count
    full = LayerPart("dense", make_attention(heads, qk_norm=norm))
    picking = LayerPart("sparse", make_attention(heads, qk_norm=norm, indexer=indexer))
    size = f.whole("intermediate_size", "moe_intermediate_size")
    routed = _read_minimax_moe(f, size)
    mixers = [picking if flag else full for flag in picked]
    return ModelStructure(mix_blocks(f, mixers, find_sparse_layers(f, count), routed, dense="dense_intermediate_size"))


def _read_mimo_v2(f: ConfigFields) -> ModelStructure:
    """MiMo V2: values narrower than keys, windows with sinks and heads of their own."""
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=192)
    width = f.whole_or(128, "v_head_dim")
    near = AttentionHeads(
        f.whole_or(heads.heads, "swa_num_attention_heads"),
        f.whole_or(8, "swa_num_key_value_heads"),
        f.whole_or(heads.head_dim, "swa_head_dim"),
    )
    listed = f.wholes("hybrid_layer_pattern", count)
    kinds = read_layer_types(
        f,
        count,
        (FULL, SLIDING),
        lambda number: (
            SLIDING if (listed[number] if listed is not None else number != 0 and (number + 1) % 6 != 0) else FULL
        ),
    )
    window = f.whole_or(128, "sliding_window_size", "sliding_window")
    sliding = LayerPart(
        "sliding",
        make_attention(
            near,
            v_head_dim=f.whole_or(width, "swa_v_head_dim"),
            window=window,
            sinks=f.yes("add_swa_attention_sink_bias", default=True),
        ),
    )
    full = LayerPart(
        "global", make_attention(heads, v_head_dim=width, sinks=f.yes("add_full_attention_sink_bias", default=False))
    )
    mixers = [sliding if kind == SLIDING else full for kind in kinds]
    return ModelStructure(_mix_like_deepseek(f, mixers))


def _read_step(f: ConfigFields) -> ModelStructure:
    """Step 3.5 and 3.7: windows with more heads, a gate a head, one shared expert."""
    count = read_layer_count(f)
    heads = f.whole("num_attention_heads")
    kv_heads = f.whole("num_key_value_heads", "num_attention_groups")
    width = f.whole_or(128, "head_dim")
    other = f.table("attention_other_setting") or ConfigFields({}, parent=f)
    near = f.maybe("num_sliding_attention_heads") or other.whole_or(heads, "num_attention_heads")
    kinds = read_layer_types(f, count, (FULL, SLIDING), lambda _: FULL)
    gate = "head" if f.yes("use_head_wise_attn_gate", default=True) else "none"
    sliding = LayerPart(
        "sliding",
        make_attention(
            AttentionHeads(near, other.whole_or(kv_heads, "num_attention_groups"), other.whole_or(width, "head_dim")),
            window=read_sliding_window(f, 512),
            qk_norm="head",
            output_gate=gate,
        ),
    )
    full = LayerPart("global", make_attention(AttentionHeads(heads, kv_heads, width), qk_norm="head", output_gate=gate))
    routed = read_moe(
        f,
        "moe_intermediate_size",
        experts=("moe_num_experts", "n_routed_experts", "num_experts"),
        per_token=("moe_top_k", "num_experts_per_tok"),
        shared_intermediate_size=f.whole_or(0, "share_expert_dim", "share_expert_dims", low=0),
        router_bias=f.yes("use_moe_router_bias", default=True),
    )
    mixers = [sliding if kind == SLIDING else full for kind in kinds]
    return ModelStructure(mix_blocks(f, mixers, _find_step_sparse_layers(f, count), routed))


def _find_step_sparse_layers(f: ConfigFields, count: int) -> list[bool]:
    """Return which layers have experts: listed in words, or all after the first three."""
    written = f.raw("moe_layers_enum")
    if isinstance(written, str) and not f.has("mlp_layer_types"):
        listed = {part.strip() for part in written.split(",")}
        return [str(number) in listed for number in range(count)]
    if f.has("mlp_layer_types", "first_k_dense_replace"):
        return find_sparse_layers(f, count)
    return [number >= 3 for number in range(count)]


#: By `model_type`.
IRREGULAR_EXPERTS: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {
        "llama4_text": _read_llama4,
        "minimax_m3": _read_minimax_m3,
        "minimax_m3_vl_text": _read_minimax_m3,
        "mimo_v2_flash": _read_mimo_v2,
        "step3p5": _read_step,
        "step3p7": _read_step,
    }
)
