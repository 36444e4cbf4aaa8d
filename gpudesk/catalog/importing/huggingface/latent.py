"""Readers of latent attention with indexers and of compressed attention: DeepSeek and its kin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from gpudesk.catalog.importing.fields import ConfigFields, describe_short_list
from gpudesk.catalog.importing.huggingface.decoder import find_sparse_layers, read_latent_attention
from gpudesk.catalog.importing.huggingface.linear import read_kimi_delta
from gpudesk.catalog.importing.huggingface.structure import (
    FULL,
    LINEAR,
    LayerLayout,
    LayerPart,
    ModelStructure,
    StructureReader,
    make_dense,
    make_interval_pattern,
    read_experts_per_token,
    read_layer_count,
    read_layer_types,
    read_moe,
)
from gpudesk.domain.field_checks import MISSING_FIELD, describe_unknown_word, quote_value
from gpudesk.text.messages import InputError, Message, message_n


def _read_blocks(f: ConfigFields, *, router_bias: bool) -> tuple[LayerPart, LayerPart | None]:
    """Return the routed experts with the shared ones, and the dense block if one is named."""
    size = f.whole("moe_intermediate_size")
    shared = f.read_whole_or(0, "n_shared_experts", "num_shared_experts", low=0)
    routed = read_moe(
        f,
        size,
        experts=("n_routed_experts", "num_experts", "num_local_experts"),
        shared_intermediate_size=shared * size,
        router_bias=router_bias,
    )
    return routed, make_dense(f.whole("intermediate_size")) if f.has("intermediate_size") else None


def _read_deepseek(f: ConfigFields, *, first_dense: int | None = None, output_gate: bool = False) -> ModelStructure:
    """Read latent attention with experts after the first layers.

    `first_dense` is how many of them are dense if the class, and not a field, decides it.
    """
    count = read_layer_count(f)
    # The router corrects its scores by a number per expert, except in DeepSeek V2 and Mistral.
    routed, plain = _read_blocks(
        f,
        router_bias=f.word("model_type") not in {"deepseek_v2", "mistral4"}
        and f.word("topk_method", default="noaux_tc") == "noaux_tc",
    )
    decided = first_dense is not None and not f.has("mlp_layer_types", "first_k_dense_replace")
    sparse = [number >= (first_dense or 0) for number in range(count)] if decided else find_sparse_layers(f, count)
    if plain is None and not all(sparse):
        f.whole("intermediate_size")
    mixers = _list_mixers(f, count, output_gate=output_gate)
    layers = tuple(LayerLayout(mixers[number], routed if sparse[number] else plain) for number in range(count))
    return ModelStructure(layers)


def _read_hunyuan_v4(f: ConfigFields) -> ModelStructure:
    """Hunyuan V4: DeepSeek's attention with a gate and a sink a head, and streams that are not mixed."""
    structure = _read_deepseek(f, output_gate=True)
    streams = f.read_whole_or(4, "hc_mult", high=64)
    sides = {"residual_streams": streams, "residual_mixing": False} if streams > 1 else {}
    sinks = len(structure.layers) * f.whole("num_attention_heads")
    return ModelStructure(structure.layers, sides={**sides, "scalars": sinks})


def _read_glm_next(f: ConfigFields) -> ModelStructure:
    """GLM 5 Next: in three of four layers Kimi's delta attention, and streams whose mean goes to the LM head."""
    structure = _read_deepseek(f, first_dense=3)
    allowed = (FULL, LINEAR, "deepseek_sparse_attention")
    kinds = read_layer_types(f, len(structure.layers), allowed, make_interval_pattern(4, FULL, LINEAR))
    linear = read_kimi_delta(f)
    layers = tuple(
        replace(layer, mixer=linear) if kind == LINEAR else layer
        for kind, layer in zip(kinds, structure.layers, strict=True)
    )
    streams = f.read_whole_or(4, "hc_mult", high=64)
    sides = {"residual_streams": streams, "residual_head": False} if streams > 1 else {}
    return ModelStructure(layers, sides=sides)


def _list_mixers(f: ConfigFields, count: int, *, output_gate: bool) -> list[LayerPart]:
    """Return the attention of each layer: plain, with an indexer, or reusing an earlier selection."""
    if not f.has("index_topk"):
        return [LayerPart("attention", read_latent_attention(f, output_gate=output_gate))] * count
    indexer = {"heads": f.whole("index_n_heads"), "head_dim": f.whole("index_head_dim"), "top_k": f.whole("index_topk")}
    pool = f.read_whole_or(1, "index_kpool")
    indexer |= {"pool": pool} if pool > 1 else {}
    kinds = _find_indexer_kinds(f, count)
    kind_name = "indexed" if "shared" in kinds else "attention"
    picking = LayerPart(kind_name, read_latent_attention(f, output_gate=output_gate, indexer=indexer))
    reusing = LayerPart("reusing", {**picking.table, "indexer": {**indexer, "reused": True}})
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
    interval = f.read_whole_or(1, "index_topk_freq")
    offset = f.read_whole_or(2, "index_skip_topk_offset", low=0)
    return ["full" if max(number - offset + 1, 0) % interval == 0 else "shared" for number in range(count)]


def _read_deepseek_v4(f: ConfigFields) -> ModelStructure:
    """DeepSeek V4: one shared key-value head compressed by a ratio per layer, and hyper-connections."""
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
    hashed = f.read_whole_or(3, "num_hash_layers", low=0)
    by_table = LayerPart("hash_moe", _read_blocks(f, router_bias=False)[0].table)
    by_score = _read_blocks(f, router_bias=True)[0]
    layers = tuple(
        LayerLayout(kinds[ratios[number]], by_table if number < hashed else by_score) for number in range(count)
    )
    streams = f.read_whole_or(4, "hc_mult", high=64)
    sides = {"residual_streams": streams} if streams > 1 else {}
    return ModelStructure(layers, sides=sides, notes=_describe_hash_tables(f, min(hashed, count)))


def _describe_hash_tables(f: ConfigFields, layers: int) -> tuple[Message, ...]:
    """Return a note on the size of the tables from token to experts, with entries of 32 or 64 bits."""
    if not layers:
        return ()
    entries = f.whole("vocab_size") * read_experts_per_token(f) * layers
    low, high = (4.0 * entries, "B"), (8.0 * entries, "B")
    return (
        message_n(
            "import.hf.hash_layers",
            "The first layer routes tokens to experts with a table, which is not counted: {low}, or {high} if a "
            "serving engine keeps wide numbers",
            "The first {count} layers route tokens to experts with tables, which are not counted: {low} in total, or "
            "{high} if a serving engine keeps wide numbers",
            "count",
            count=layers,
            low=low,
            high=high,
        ),
    )


#: Layers with lower compression pick entries by an indexer; those with higher read all.
_HEAVY: Final = 32
_KIND_RATIOS: Final[Mapping[str, int]] = {
    "sliding_attention": 0,
    "compressed_sparse_attention": 4,
    "heavily_compressed_attention": 128,
}


def _read_ratios(f: ConfigFields, count: int) -> list[int]:
    """Return how many tokens each layer compresses to one entry; 0 keeps the window alone."""
    listed = f.read_whole_list("compress_ratios", count)
    if listed is not None:
        return listed
    kinds = f.words("layer_types", count)
    if kinds is None:
        raise InputError(MISSING_FIELD, f.where("compress_ratios"))
    rates = f.table("compress_rates")
    ratios = []
    for number, kind in enumerate(kinds, start=1):
        if kind not in _KIND_RATIOS:
            problem = describe_unknown_word(quote_value(kind), tuple(_KIND_RATIOS))
            raise InputError(problem, f"{f.where('layer_types')}.{number}")
        ratio = _KIND_RATIOS[kind]
        ratios.append(rates.read_whole_or(ratio, kind) if rates is not None and ratio else ratio)
    return ratios


#: By `model_type`.
LATENT: Final[Mapping[str, StructureReader]] = {
    "deepseek_v2": _read_deepseek,
    "deepseek_v3": _read_deepseek,
    "kimi_k2": _read_deepseek,
    "deepseek_v32": _read_deepseek,
    "glm_moe_dsa": _read_deepseek,
    "glm5_next_text": _read_glm_next,
    "glm4_moe_lite": partial(_read_deepseek, first_dense=1),
    "mistral4": _read_deepseek,
    "hy_v4": _read_hunyuan_v4,
    "deepseek_v4": _read_deepseek_v4,
    "deepseek_ref": _read_deepseek_v4,
}
