"""Readers of latent-attention, linear-attention and state-space architectures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.fields import MOST_LAYERS, ConfigFields, describe_short_list, describe_too_large_size
from gpudesk.catalog.importing.huggingface.experts import find_sparse_layers, find_stepped_layers, read_shared_experts
from gpudesk.catalog.importing.huggingface.structure import (
    FULL,
    LINEAR,
    AttentionHeads,
    DefinitionTable,
    LayerLayout,
    LayerPart,
    ModelStructure,
    StructureReader,
    drop_defaults,
    make_attention,
    make_dense,
    make_interval_pattern,
    make_moe,
    mix_blocks,
    read_attention,
    read_experts_per_token,
    read_heads,
    read_layer_count,
    read_layer_types,
    read_moe,
)
from gpudesk.domain.field_checks import MISSING_FIELD, describe_unknown_word, make_type_error, quote_value
from gpudesk.text.messages import InputError, Message, message_n


def read_latent_attention(f: ConfigFields, **more: object) -> DefinitionTable:
    """Return the table of latent attention; without `q_lora_rank` queries are projected in one step."""
    return {
        "kind": "mla",
        "heads": f.whole("num_attention_heads"),
        "kv_lora_rank": f.whole("kv_lora_rank"),
        "qk_nope_head_dim": f.whole("qk_nope_head_dim"),
        "qk_rope_head_dim": f.whole("qk_rope_head_dim"),
        "v_head_dim": f.whole("v_head_dim"),
    } | drop_defaults({"q_lora_rank": f.maybe("q_lora_rank"), **more})


def _read_blocks(f: ConfigFields, *, router_bias: bool) -> tuple[LayerPart, LayerPart | None]:
    """Return the routed experts with the shared ones beside them, and the dense block where one is named."""
    size = f.whole("moe_intermediate_size")
    shared = f.whole_or(0, "n_shared_experts", "num_shared_experts", low=0)
    routed = read_moe(
        f,
        size,
        experts=("n_routed_experts", "num_experts", "num_local_experts"),
        shared_intermediate_size=shared * size,
        router_bias=router_bias,
    )
    return routed, make_dense(f.whole("intermediate_size")) if f.has("intermediate_size") else None


def _read_deepseek(f: ConfigFields, *, first_dense: int | None = None) -> ModelStructure:
    """Read latent attention with experts after the first layers.

    `first_dense` is how many of them are dense where the class, and not a field, decides it.
    """
    count = read_layer_count(f)
    routed, plain = _read_blocks(f, router_bias=_has_router_bias(f))
    decided = first_dense is not None and not f.has("mlp_layer_types", "first_k_dense_replace")
    sparse = [number >= (first_dense or 0) for number in range(count)] if decided else find_sparse_layers(f, count)
    if plain is None and not all(sparse):
        f.whole("intermediate_size")
    mixers = _list_mixers(f, count)
    layers = tuple(LayerLayout(mixers[number], routed if sparse[number] else plain) for number in range(count))
    return ModelStructure(layers)


def _has_router_bias(f: ConfigFields) -> bool:
    """Whether the router corrects its scores by a number an expert, as all but DeepSeek V2 and Mistral do."""
    return (
        f.word("model_type") not in {"deepseek_v2", "mistral4"}
        and f.word("topk_method", default="noaux_tc") == "noaux_tc"
    )


def _list_mixers(f: ConfigFields, count: int) -> list[LayerPart]:
    """Return the attention of each layer: plain, with an indexer, or with what an earlier one picked."""
    if not f.has("index_topk"):
        return [LayerPart("attention", read_latent_attention(f))] * count
    indexer = {"heads": f.whole("index_n_heads"), "head_dim": f.whole("index_head_dim"), "top_k": f.whole("index_topk")}
    kinds = _find_indexer_kinds(f, count)
    named = "indexed" if "shared" in kinds else "attention"
    picking = LayerPart(named, read_latent_attention(f, indexer=indexer))
    reusing = LayerPart("reusing", read_latent_attention(f, indexer={**indexer, "reused": True}))
    return [reusing if kind == "shared" else picking for kind in kinds]


def _find_indexer_kinds(f: ConfigFields, count: int) -> list[str]:
    """Return which layers pick and which reuse: listed, in letters, or each n-th after an offset."""
    listed = f.words("indexer_types", count)
    if listed is None and isinstance(f.raw("index_topk_pattern"), list):
        listed = f.words("index_topk_pattern", count)
    if listed is not None:
        return ["shared" if kind.lower() in {"shared", "s"} else "full" for kind in listed]
    letters = f.word("index_topk_pattern")
    if letters:
        if len(letters) < count:
            problem = describe_short_list(len(letters), count)
            raise InputError(problem, f.where("index_topk_pattern"))
        return ["shared" if letter == "S" else "full" for letter in letters[:count]]
    interval = f.whole_or(1, "index_topk_freq")
    offset = f.whole_or(2, "index_skip_topk_offset", low=0)
    return ["full" if max(number - offset + 1, 0) % interval == 0 else "shared" for number in range(count)]


def _read_deepseek_v4(f: ConfigFields) -> ModelStructure:
    """DeepSeek V4: one shared key-value head folded by a ratio of each layer's own, and hyper-connections."""
    count = read_layer_count(f)
    ratios = _read_ratios(f, count)
    base = {
        "kind": "compressed",
        "heads": f.whole("num_attention_heads"),
        "head_dim": f.whole("head_dim"),
        "q_lora_rank": f.whole("q_lora_rank"),
        "o_lora_rank": f.whole("o_lora_rank"),
        "o_groups": f.whole("o_groups"),
        "window": f.whole("sliding_window"),
    }
    indexer = {"heads": f.whole("index_n_heads"), "head_dim": f.whole("index_head_dim"), "top_k": f.whole("index_topk")}
    kinds: dict[int, LayerPart] = {}
    for ratio in sorted(set(ratios)):
        if ratio == 0:
            kinds[ratio] = LayerPart("window", dict(base))
        elif ratio < _HEAVY:
            kinds[ratio] = LayerPart("sparse", base | {"compress_ratio": ratio, "indexer": indexer})
        else:
            kinds[ratio] = LayerPart("heavy", base | {"compress_ratio": ratio})
    hashed = f.whole_or(3, "num_hash_layers", low=0)
    by_table = LayerPart("hash_moe", _read_blocks(f, router_bias=False)[0].table)
    by_score = _read_blocks(f, router_bias=True)[0]
    layers = tuple(
        LayerLayout(kinds[ratios[number]], by_table if number < hashed else by_score) for number in range(count)
    )
    streams = f.whole_or(4, "hc_mult", high=64)
    sides = {"residual_streams": streams} if streams > 1 else {}
    return ModelStructure(layers, sides=sides, notes=_describe_hash_tables(f, min(hashed, count)))


def _describe_hash_tables(f: ConfigFields, layers: int) -> tuple[Message, ...]:
    """Say how large the tables from token to experts are: whole numbers of 32 bits, or of 64."""
    if not layers:
        return ()
    entries = f.whole("vocab_size") * read_experts_per_token(f) * layers
    low, high = (4.0 * entries, "B"), (8.0 * entries, "B")
    return (
        message_n(
            "import.hf.hash_layers",
            "The first layer routes by a table from token to experts, which is not counted: {low}, or {high} where a "
            "serving engine keeps wide numbers",
            "The first {count} layers route by tables from token to experts, which are not counted: {low} in all, or "
            "{high} where a serving engine keeps wide numbers",
            "count",
            count=layers,
            low=low,
            high=high,
        ),
    )


#: Layers that fold less than this pick entries by an indexer; those that fold more read all.
_HEAVY: Final = 32
_KIND_RATIOS: Final[Mapping[str, int]] = MappingProxyType(
    {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
)


def _read_ratios(f: ConfigFields, count: int) -> list[int]:
    """Return how many tokens each layer folds to one entry; 0 keeps the window alone."""
    listed = f.wholes("compress_ratios", count)
    if listed is not None:
        return listed
    kinds = f.words("layer_types", count)
    if kinds is None:
        raise InputError(MISSING_FIELD, f.where("compress_ratios"))
    rates = f.table("compress_rates")
    found = []
    for number, kind in enumerate(kinds, start=1):
        if kind not in _KIND_RATIOS:
            problem = describe_unknown_word(quote_value(kind), tuple(_KIND_RATIOS))
            raise InputError(problem, f"{f.where('layer_types')}.{number}")
        ratio = _KIND_RATIOS[kind]
        found.append(rates.whole_or(ratio, kind) if rates is not None and ratio else ratio)
    return found


#: By `model_type`.
MLA: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {
        "deepseek_v2": _read_deepseek,
        "deepseek_v3": _read_deepseek,
        "kimi_k2": _read_deepseek,
        "deepseek_v32": _read_deepseek,
        "glm_moe_dsa": _read_deepseek,
        "glm4_moe_lite": partial(_read_deepseek, first_dense=1),
        "mistral4": _read_deepseek,
        "deepseek_v4": _read_deepseek_v4,
        "deepseek_ref": _read_deepseek_v4,
    }
)


def _read_qwen_next(f: ConfigFields, *, with_experts: bool) -> ModelStructure:
    """Qwen 3 Next and 3.5: gated delta nets, and each n-th layer with gated softmax attention."""
    count = read_layer_count(f)
    kinds = read_layer_types(
        f, count, (FULL, LINEAR), make_interval_pattern(f.whole_or(4, "full_attention_interval"), FULL, LINEAR)
    )
    bias = f.yes("attention_bias", default=False)
    gate = "element" if f.yes("attn_output_gate", default=True) else "none"
    full = make_attention(
        read_heads(f, head_dim=256), qk_norm="head", output_gate=gate, qkv_bias=bias, output_bias=bias
    )
    linear: DefinitionTable = {
        "kind": "gated_delta_net",
        "key_heads": f.whole_or(16, "linear_num_key_heads"),
        "value_heads": f.whole_or(32, "linear_num_value_heads"),
        "key_head_dim": f.whole_or(128, "linear_key_head_dim"),
        "value_head_dim": f.whole_or(128, "linear_value_head_dim"),
        "conv_kernel": f.whole_or(4, "linear_conv_kernel_dim"),
    }
    parts = {FULL: LayerPart("full", full), LINEAR: LayerPart("linear", linear)}
    if not with_experts:
        plain = make_dense(f.whole("intermediate_size"))
        return ModelStructure(tuple(LayerLayout(parts[kind], plain) for kind in kinds))
    routed = read_shared_experts(f)
    return ModelStructure(mix_blocks(f, [parts[kind] for kind in kinds], find_stepped_layers(f, count), routed))


def _read_jamba(f: ConfigFields) -> ModelStructure:
    count = read_layer_count(f)
    hidden = f.whole("hidden_size")
    rank = f.raw("mamba_dt_rank")
    mamba: DefinitionTable = {
        "kind": "mamba1",
        "inner_size": f.whole_or(2, "mamba_expand", high=64) * hidden,
        "state_size": f.whole_or(16, "mamba_d_state"),
        "conv_kernel": f.whole_or(4, "mamba_d_conv"),
        "dt_rank": math.ceil(hidden / 16) if rank in (None, "auto") else f.whole("mamba_dt_rank"),
        "inner_norms": True,
    }
    parts = (LayerPart("mamba", mamba), LayerPart("attention", make_attention(read_heads(f))))
    period, offset = f.whole_or(8, "attn_layer_period"), f.whole_or(4, "attn_layer_offset", low=0)
    expert_period = f.whole_or(2, "expert_layer_period")
    expert_offset = f.whole_or(1, "expert_layer_offset", low=0)
    size = f.whole("intermediate_size")
    many = f.whole_or(16, "num_experts")
    routed = make_moe(many, read_experts_per_token(f), size) if many > 1 else make_dense(size)
    plain = make_dense(size)
    return ModelStructure(
        tuple(
            LayerLayout(parts[number % period == offset], routed if number % expert_period == expert_offset else plain)
            for number in range(count)
        )
    )


def make_mamba2(f: ConfigFields, heads: int, head_dim: int, state: int, groups: int) -> LayerPart:
    return LayerPart(
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


def _read_nemotron_h(f: ConfigFields) -> ModelStructure:
    """Nemotron-H and Nemotron 3: each layer is one block behind one norm, by a pattern of letters."""
    kinds = _read_pattern(f)
    bias = f.yes("attention_bias", default=False)
    shape = AttentionHeads(
        f.whole("num_attention_heads"),
        f.whole("num_key_value_heads"),
        f.whole_or(128, "head_dim", "attention_head_dim"),
    )
    mixers = {"*": LayerPart("attention", make_attention(shape, qkv_bias=bias, output_bias=bias))}
    if "M" in kinds:
        mixers["M"] = make_mamba2(
            f,
            f.whole("mamba_num_heads"),
            f.whole("mamba_head_dim"),
            f.whole("ssm_state_size"),
            f.whole("n_groups", "mamba_n_groups"),
        )
    ffns = {}
    if "-" in kinds:
        ffns["-"] = make_dense(f.whole("intermediate_size"), gated=False, bias=f.yes("mlp_bias", default=False))
    if "E" in kinds:
        ffns["E"] = _read_nemotron_moe(f)
    return ModelStructure(tuple(LayerLayout(mixers.get(kind), ffns.get(kind), norms=1) for kind in kinds))


def _read_pattern(f: ConfigFields) -> list[str]:
    written: object = f.raw("hybrid_override_pattern")
    name = "hybrid_override_pattern"
    if written is None:
        name = "layers_block_type" if f.has("layers_block_type") else "layer_types"
        written = f.raw(name)
    if written is None:
        f.ask("hybrid_override_pattern", "word")
        return []
    if not isinstance(written, str | list):
        raise make_type_error(f.where(name), written, "text")
    if len(written) > MOST_LAYERS:
        raise InputError(describe_too_large_size(MOST_LAYERS), f.where(name))
    kinds = []
    for number, kind in enumerate(written, start=1):
        if not isinstance(kind, str) or kind not in _NEMOTRON_KINDS:
            problem = describe_unknown_word(quote_value(kind), tuple(_NEMOTRON_KINDS))
            raise InputError(problem, f"{f.where(name)}.{number}")
        kinds.append(_NEMOTRON_KINDS[kind])
    return kinds


def _read_nemotron_moe(f: ConfigFields) -> LayerPart:
    shared = f.whole_or(0, "n_shared_experts", low=0)
    size = f.whole("moe_intermediate_size")
    return read_moe(
        f,
        size,
        experts=("n_routed_experts", "num_local_experts"),
        gated=False,
        shared_intermediate_size=shared * f.whole_or(size, "moe_shared_expert_intermediate_size"),
        router_bias=True,
        latent_size=f.maybe("moe_latent_size"),
    )


def _read_minimax(f: ConfigFields) -> ModelStructure:
    """MiniMax Text 01 and M1: linear attention with a fixed decay, and each n-th layer softmax."""
    count = read_layer_count(f)
    heads = read_heads(f)
    listed = f.wholes("attn_type_list", count)
    kinds = read_layer_types(
        f,
        count,
        (FULL, LINEAR),
        (lambda number: FULL if listed[number] else LINEAR) if listed else make_interval_pattern(2, LINEAR, FULL),
    )
    parts = {
        LINEAR: LayerPart("linear", {"kind": "lightning", "heads": heads.heads, "head_dim": heads.head_dim}),
        FULL: LayerPart("full", make_attention(heads)),
    }
    shared = f.whole_or(0, "shared_intermediate_size", low=0)
    experts = ("num_local_experts", "num_experts")
    routed = read_moe(f, "intermediate_size", experts=experts, shared_intermediate_size=shared)
    return ModelStructure(tuple(LayerLayout(parts[kind], routed) for kind in kinds))


def _read_kimi_linear(f: ConfigFields) -> ModelStructure:
    """Kimi Linear and K3: delta attention that forgets by channel, and latent attention without rotation."""
    count = read_layer_count(f)
    linear = f.table("linear_attn_config") or ConfigFields({}, f.where("linear_attn_config"), parent=f)
    kda: DefinitionTable = {
        "kind": "kimi_delta",
        "heads": linear.whole_or(32, "num_heads"),
        "head_dim": linear.whole_or(128, "head_dim"),
        "conv_kernel": linear.whole_or(4, "short_conv_kernel_size"),
    } | drop_defaults({"full_rank_gate": linear.yes("use_full_rank_gate", default=False)})
    whole_ones = linear.numbers("full_attn_layers", count)
    kinds = read_layer_types(
        f,
        count,
        (FULL, LINEAR),
        lambda number: (
            FULL if (number + 1 in whole_ones if whole_ones is not None else number and number % 4 == 0) else LINEAR
        ),
    )
    gate = f.yes("mla_use_output_gate", default=False)
    parts = {LINEAR: LayerPart("linear", kda), FULL: LayerPart("full", read_latent_attention(f, output_gate=gate))}
    size = f.whole("moe_intermediate_size")
    latent_size = f.maybe("routed_expert_hidden_size")
    routed = read_moe(
        f,
        size,
        shared_intermediate_size=f.whole_or(0, "num_shared_experts", "n_shared_experts", low=0) * size,
        router_bias=True,
        latent_size=latent_size,
        latent_norm=latent_size is not None and f.yes("latent_moe_use_norm", default=False),
    )
    sparse = find_sparse_layers(f, count)
    plain = None if all(sparse) else make_dense(f.whole("intermediate_size"))
    # Two norms; with residuals from earlier blocks a norm and a query vector more for each of the two.
    residual = f.has("attn_res_block_size")
    layers = tuple(
        LayerLayout(parts[kind], routed if flag else plain, 6 if residual else 2)
        for kind, flag in zip(kinds, sparse, strict=True)
    )
    return ModelStructure(layers, final_norms=3 if residual else 1)


def _read_granite_hybrid(f: ConfigFields) -> ModelStructure:
    """Granite 4: state spaces and attention in turn, each with experts and a shared block, or that alone."""
    count = read_layer_count(f)
    hidden = f.whole("hidden_size")
    name = "layers_block_type" if f.has("layers_block_type") else "layer_types"
    kinds = f.words(name, count) or ["mamba"] * count
    heads = f.whole_or(128, "mamba_n_heads")
    inner = f.whole_or(2, "mamba_expand", high=64) * hidden
    width = f.raw("mamba_d_head")
    head_dim = max(inner // heads, 1) if width in (None, "auto") else f.whole("mamba_d_head")
    mamba = make_mamba2(f, heads, head_dim, f.whole_or(256, "mamba_d_state"), f.whole_or(1, "mamba_n_groups"))
    full = read_attention(f)
    shared = f.whole_or(1024, "shared_intermediate_size", low=0)
    many = f.whole_or(0, "num_local_experts", low=0)
    block = (
        make_moe(many, read_experts_per_token(f), f.whole("intermediate_size"), shared_intermediate_size=shared)
        if many
        else make_dense(shared)
    )
    return ModelStructure(tuple(LayerLayout(full if kind in {"attention", FULL} else mamba, block) for kind in kinds))


#: By `model_type`.
HYBRID: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {
        "qwen3_next": partial(_read_qwen_next, with_experts=True),
        "qwen3_5_text": partial(_read_qwen_next, with_experts=False),
        "qwen3_5_moe_text": partial(_read_qwen_next, with_experts=True),
        "jamba": _read_jamba,
        "nemotron_h": _read_nemotron_h,
        "minimax": _read_minimax,
        "minimax_m1": _read_minimax,
        "minimax_text_01": _read_minimax,
        "kimi_linear": _read_kimi_linear,
        "granitemoehybrid": _read_granite_hybrid,
    }
)
