"""Readers of architectures outside all families: Falcon, Gemma 3n and 4, Llama 4 and others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Final

from gpudesk.catalog.importing.fields import LARGEST_SIZE, ConfigFields
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
    divide_hidden_size,
    make_attention,
    make_dense,
    make_interval_pattern,
    make_moe,
    mix_blocks,
    read_expert_count,
    read_heads,
    read_layer_count,
    read_layer_types,
    read_moe,
    read_sliding_window,
    repeat_layer,
)
from gpudesk.domain.field_checks import MISSING_FIELD, make_type_error
from gpudesk.text.messages import InputError, message_n


def _read_falcon(f: ConfigFields) -> ModelStructure:
    """Attention and block in parallel; older builds share one key and value head among all."""
    hidden = f.whole("hidden_size", "n_embed")
    heads = f.whole("num_attention_heads", "n_head")
    new = f.yes("new_decoder_architecture", default=False)
    many = f.read_whole_or(heads, "num_kv_heads", "n_head_kv") if new else heads
    kv_heads = many if new or not f.yes("multi_query", default=True) else 1
    bias = f.yes("bias", default=False)
    mixer = make_attention(
        AttentionHeads(heads, kv_heads, divide_hidden_size(f, heads)), qkv_bias=bias, output_bias=bias
    )
    parallel = f.yes("parallel_attn", default=True)
    norms = f.read_whole_or(2 if new else 1, "num_ln_in_parallel_attn", high=2) if parallel else 2
    ffn = make_dense(f.read_whole_or(4 * hidden, "ffn_hidden_size"), gated=False, bias=bias)
    layers = repeat_layer(
        LayerPart("attention", mixer), ffn, read_layer_count(f, "num_hidden_layers", "n_layer"), 2 * norms
    )
    return ModelStructure(layers, tied=True, final_norms=2)


def _read_chatglm(f: ConfigFields) -> ModelStructure:
    """ChatGLM 2 and 3 and GLM-4 9B in their first build, with different field names."""
    heads = f.whole("num_attention_heads")
    grouped = f.yes("multi_query_attention", default=False)
    kv_heads = f.whole("multi_query_group_num") if grouped else heads
    width = f.find_whole("kv_channels", "head_dim") or divide_hidden_size(f, heads)
    every_bias = f.yes("add_bias_linear", default=False)
    mixer = make_attention(
        AttentionHeads(heads, kv_heads, width),
        qkv_bias=every_bias or f.yes("add_qkv_bias", default=True),
        output_bias=every_bias,
    )
    ffn = make_dense(f.whole("ffn_hidden_size", "intermediate_size"), bias=every_bias)
    return ModelStructure(
        repeat_layer(LayerPart("attention", mixer), ffn, read_layer_count(f, "num_layers", "num_hidden_layers"))
    )


#: Vectors per layer: before and after each block; with experts three more, and the scale before the router.
_NORMS: Final = 4
_NORMS_WITH_EXPERTS: Final = 8
#: How many layers at the end reuse keys and values of earlier ones.
_REUSING: Final = "num_kv_shared_layers"


def _read_gemma4(f: ConfigFields, *, layer_input: int = 256) -> ModelStructure:
    count = read_layer_count(f)
    kinds = read_layer_types(f, count, (FULL, SLIDING), make_interval_pattern(6, FULL, SLIDING))
    if kinds:
        # The class makes the last layer global regardless of the list.
        kinds[-1] = FULL
    mixers = _list_mixers(
        kinds, _read_attentions(f, _find_global_layer_fields(f, kinds)), f.read_whole_or(0, _REUSING, low=0)
    )
    with_experts = f.yes("enable_moe_block", default=False)
    size = f.whole("intermediate_size")
    wide = make_dense(2 * size) if f.yes("use_double_wide_mlp", default=False) else make_dense(size)
    plain = _read_gemma_moe(f, size) if with_experts else make_dense(size)
    layers = tuple(
        LayerLayout(
            mixer,
            plain if with_experts or "reuses_cache" not in mixer.table else wide,
            _NORMS_WITH_EXPERTS if with_experts else _NORMS,
        )
        for mixer in mixers
    )
    return ModelStructure(layers, tied=True, sides=_read_layer_inputs(f, layer_input))


def _list_mixers(kinds: list[str], attentions: tuple[LayerPart, LayerPart], reusing: int) -> list[LayerPart]:
    """Return the attention of each layer; the last `reusing` read the cache of the last ones before them."""
    sliding, full = attentions
    keeping = {SLIDING: sliding, FULL: full}
    # Layers after them have the same shape.
    borrowing = {
        kind: LayerPart(f"{part.name}_reusing", part.table | {"reuses_cache": True}) for kind, part in keeping.items()
    }
    first = len(kinds) - reusing
    return [(keeping if number < first else borrowing)[kind] for number, kind in enumerate(kinds)]


def _find_global_layer_fields(f: ConfigFields, kinds: list[str]) -> ConfigFields:
    """Return a newer file's fields of the first global layer, under its number; or nothing."""
    tables = f.table("per_layer_config")
    if tables is not None and FULL in kinds:
        number = kinds.index(FULL)
        for name in (str(number), f"{number:02d}", f"{number:03d}"):
            layer_fields = tables.table(name)
            if layer_fields is not None:
                return layer_fields
    return ConfigFields({}, parent=f)


def _read_attentions(f: ConfigFields, of_global: ConfigFields) -> tuple[LayerPart, LayerPart]:
    heads = f.whole("num_attention_heads")
    kv_heads = f.read_whole_or(heads, "num_key_value_heads")
    bias = f.yes("attention_bias", default=False)
    keys_are_values = f.yes("attention_k_eq_v", default=False)
    sliding = make_attention(
        AttentionHeads(heads, kv_heads, f.read_whole_or(256, "head_dim")),
        window=read_sliding_window(f),
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
    )
    global_kv = f.read_whole_or(kv_heads, "num_global_key_value_heads") if keys_are_values else kv_heads
    shape = AttentionHeads(
        heads,
        of_global.read_whole_or(global_kv, "num_key_value_heads"),
        of_global.read_whole_or(f.read_whole_or(512, "global_head_dim"), "head_dim"),
    )
    full = make_attention(shape, qk_norm="head", qkv_bias=bias, output_bias=bias, shared_kv_projection=keys_are_values)
    return LayerPart("sliding", sliding), LayerPart("global", full)


def _read_gemma_moe(f: ConfigFields, size: int) -> LayerPart:
    """Return the experts parallel to the dense block; the router has one scale per expert, counted as its bias."""
    return make_moe(
        read_expert_count(f, "num_experts"),
        f.whole("top_k_experts", "num_experts_per_tok"),
        f.whole("moe_intermediate_size"),
        router_bias=True,
        parallel_dense_intermediate_size=size,
    )


def _read_gemma3n(f: ConfigFields) -> ModelStructure:
    """Read Gemma 3n, which computes one of several streams and predicts the others (AltUp)."""
    count = read_layer_count(f)
    kinds = read_layer_types(f, count, (FULL, SLIDING), make_interval_pattern(5, FULL, SLIDING))
    heads = f.whole("num_attention_heads")
    shape = AttentionHeads(heads, f.read_whole_or(heads, "num_key_value_heads"), f.read_whole_or(256, "head_dim"))
    sliding = LayerPart("sliding", make_attention(shape, window=read_sliding_window(f), qk_norm="head"))
    full = LayerPart("global", make_attention(shape, qk_norm="head"))
    if f.is_list("intermediate_size"):
        listed = f.read_whole_list("intermediate_size", count) or [1] * count
    else:
        listed = [f.whole("intermediate_size")] * count
    blocks = {size: make_dense(size) for size in set(listed)}
    mixers = _list_mixers(kinds, (sliding, full), f.read_whole_or(15, _REUSING, low=0))
    layers = tuple(LayerLayout(mixer, blocks[size], _NORMS) for mixer, size in zip(mixers, listed, strict=True))
    streams = f.read_whole_or(4, "altup_num_inputs", high=64)
    sides = _read_layer_inputs(f) | ({"altup_streams": streams} if streams > 1 else {})
    return ModelStructure(layers, tied=True, sides=sides | {"laurel_rank": f.read_whole_or(64, "laurel_rank")})


def _read_layer_inputs(f: ConfigFields, default: int = 256) -> dict[str, int]:
    """Return the width of the per-layer embeddings, and the tokens in their table."""
    width = f.read_whole_or(default, "hidden_size_per_layer_input", low=0)
    if width == 0:
        return {}
    tokens = f.read_whole_or(262144, "vocab_size_per_layer_input")
    return {"layer_input_size": width, "layer_input_vocab_size": tokens}


#: Widths of blocks are two thirds of the multiplier times the hidden size, rounded up to this.
_ROUNDED_TO: Final = 256


def _read_nemotron_nas(f: ConfigFields) -> ModelStructure:
    count = read_layer_count(f)
    heads = f.whole("num_attention_heads")
    width = f.find_whole("head_dim") or divide_hidden_size(f, heads)
    hidden = f.whole("hidden_size")
    if not f.has("block_configs"):
        raise InputError(MISSING_FIELD, f.where("block_configs"))
    mixers: dict[tuple[int, int | None], LayerPart] = {}
    blocks: dict[int, LayerPart] = {}
    layers = []
    replaced = 0
    for block in f.tables("block_configs", count):
        attended, fed = block.table("attention"), block.table("ffn")
        mixer = ffn = None
        if attended is not None and not attended.yes("no_op", default=False):
            replaced += attended.yes("replace_with_linear", default=False)
            # The field counts the query heads that share one key and value head.
            kv_heads = max(heads // attended.whole("n_heads_in_group"), 1)
            window = attended.find_whole("window_length")
            mixer = mixers.setdefault(
                (kv_heads, window),
                LayerPart("attention", make_attention(AttentionHeads(heads, kv_heads, width), window=window)),
            )
        if fed is not None and not fed.yes("no_op", default=False):
            replaced += fed.yes("replace_with_linear", default=False)
            size = _read_block_width(fed, hidden)
            ffn = blocks.setdefault(size, LayerPart(f"mlp_{size}", make_dense(size).table))
        layers.append(LayerLayout(mixer, ffn, (mixer is not None) + (ffn is not None)))
    notes = (
        (
            message_n(
                "import.hf.replaced_blocks",
                "One block is replaced by one matrix; it was read as the original block",
                "{count} blocks are replaced by one matrix each; they were read as the original blocks",
                "count",
                count=replaced,
            ),
        )
        if replaced
        else ()
    )
    return ModelStructure(tuple(layers), notes=notes)


def _read_block_width(f: ConfigFields, hidden: int) -> int:
    """Return the width of a block: stated, or from its multiplier."""
    width = f.find_whole("intermediate_size")
    if width is not None:
        return width
    multiplier = f.raw("ffn_mult")
    if not isinstance(multiplier, int | float) or isinstance(multiplier, bool):
        raise make_type_error(f.where("ffn_mult"), multiplier, "number")
    size = 2 * multiplier * hidden / 3 if math.isfinite(multiplier) and abs(multiplier) < LARGEST_SIZE else -1
    if size < 1:
        raise make_type_error(f.where("ffn_mult"), multiplier, "number")
    return -(-int(size) // _ROUNDED_TO) * _ROUNDED_TO


#: Names of the number of experts, that of the family first.
_LOCAL: Final = ("num_local_experts", "num_experts")


def _read_llama4(f: ConfigFields) -> ModelStructure:
    """Llama 4: three of four layers attend within chunks; one shared expert next to the routed ones."""
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=128, kv_heads=8)
    bias = f.yes("attention_bias", default=False)
    rotated = f.read_whole_list("no_rope_layers", count) if f.raw("no_rope_layers") else None
    interval = f.read_whole_or(4, "no_rope_layer_interval")
    turns = rotated or [int((number + 1) % interval != 0) for number in range(count)]
    kinds = read_layer_types(f, count, (FULL, CHUNKED), lambda number: CHUNKED if turns[number] else FULL)
    chunk = f.read_whole_or(8192, "attention_chunk_size")
    within = LayerPart(
        "chunked", make_attention(heads, window=chunk, window_kind="chunked", qkv_bias=bias, output_bias=bias)
    )
    full = LayerPart("global", make_attention(heads, qkv_bias=bias, output_bias=bias))
    step = f.read_whole_or(1, "interleave_moe_layer_step")
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
    block = sparse.read_whole_or(128, "sparse_block_size")
    blocks = sparse.read_whole_or(16, "sparse_topk_blocks")
    indexer = {
        "heads": sparse.read_whole_or(4, "sparse_num_index_heads"),
        "head_dim": sparse.read_whole_or(128, "sparse_index_dim"),
        "top_k": block * blocks,
        "block": block,
    }
    sparse_flags = sparse.read_whole_list("sparse_attention_freq", count) or [0] * count
    full = LayerPart("dense", make_attention(heads, qk_norm=norm))
    picking = LayerPart("sparse", make_attention(heads, qk_norm=norm, indexer=indexer))
    size = f.whole("intermediate_size", "moe_intermediate_size")
    routed = read_moe(
        f,
        size,
        experts=_LOCAL,
        shared_intermediate_size=read_shared_size(f, 0),
        router_bias=f.yes("use_routing_bias", default=True),
    )
    mixers = [picking if flag else full for flag in sparse_flags]
    return ModelStructure(mix_blocks(f, mixers, find_sparse_layers(f, count), routed, dense="dense_intermediate_size"))


#: By `model_type`.
IRREGULAR: Final[Mapping[str, StructureReader]] = {
    "falcon": _read_falcon,
    "llama4_text": _read_llama4,
    "minimax_m3": _read_minimax_m3,
    "minimax_m3_vl_text": _read_minimax_m3,
    "chatglm": _read_chatglm,
    "gemma4_text": _read_gemma4,
    "gemma4_unified_text": partial(_read_gemma4, layer_input=0),
    "gemma3n_text": _read_gemma3n,
    "nemotron-nas": _read_nemotron_nas,
    "nemotron_nas": _read_nemotron_nas,
}
