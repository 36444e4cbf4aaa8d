"""Architectures of latent attention: DeepSeek, Kimi K2, GLM 4.7 Flash and 5; and DeepSeek V4, which folds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import Fields, quoted
from gpudesk.catalog.importing.hf_moe import sparse_layers
from gpudesk.catalog.importing.hf_structure import (
    Layer,
    Part,
    Reader,
    Structure,
    Table,
    dense,
    experts,
    experts_per_token,
    layer_count,
    moe,
    stated,
)
from gpudesk.domain.messages import InputError, Message, message


def latent(f: Fields, **more: object) -> Table:
    """Return the table of latent attention; without `q_lora_rank` queries are projected in one step."""
    return {
        "kind": "mla",
        "heads": f.whole("num_attention_heads"),
        "kv_lora_rank": f.whole("kv_lora_rank"),
        "qk_nope_head_dim": f.whole("qk_nope_head_dim"),
        "qk_rope_head_dim": f.whole("qk_rope_head_dim"),
        "v_head_dim": f.whole("v_head_dim"),
    } | stated({"q_lora_rank": f.maybe("q_lora_rank"), **more})


def _blocks(f: Fields, *, router_bias: bool) -> tuple[Part, Part | None]:
    """Return the routed experts with the shared ones beside them, and the dense block where one is named."""
    size = f.whole("moe_intermediate_size")
    shared = f.whole_or(0, "n_shared_experts", "num_shared_experts", low=0)
    routed = moe(
        experts(f, "n_routed_experts", "num_experts", "num_local_experts"),
        experts_per_token(f),
        size,
        shared_intermediate_size=shared * size,
        router_bias=router_bias,
    )
    return routed, dense(f.whole("intermediate_size")) if f.has("intermediate_size") else None


def _deepseek(f: Fields, *, first_dense: int | None = None) -> Structure:
    """Read latent attention with experts after the first layers.

    `first_dense` is how many of them are dense where the class, and not a field, decides it.
    """
    count = layer_count(f)
    routed, plain = _blocks(f, router_bias=_has_router_bias(f))
    decided = first_dense is not None and not f.has("mlp_layer_types", "first_k_dense_replace")
    sparse = [number >= (first_dense or 0) for number in range(count)] if decided else sparse_layers(f, count)
    if plain is None and not all(sparse):
        f.whole("intermediate_size")
    mixers = _mixers(f, count)
    layers = tuple(Layer(mixers[number], routed if sparse[number] else plain) for number in range(count))
    return Structure(layers)


def _has_router_bias(f: Fields) -> bool:
    """Whether the router corrects its scores by a number an expert, as all but DeepSeek V2 and Mistral do."""
    return (
        f.word("model_type") not in {"deepseek_v2", "mistral4"}
        and f.word("topk_method", default="noaux_tc") == "noaux_tc"
    )


def _mixers(f: Fields, count: int) -> list[Part]:
    """Return the attention of each layer: plain, with an indexer, or with what an earlier one picked."""
    if not f.has("index_topk"):
        return [Part("attention", latent(f))] * count
    indexer = {
        "heads": f.whole("index_n_heads"),
        "head_dim": f.whole("index_head_dim"),
        "top_k": f.whole("index_topk"),
    }
    kinds = _indexer_kinds(f, count)
    named = "indexed" if "shared" in kinds else "attention"
    picking = Part(named, latent(f, indexer=indexer))
    reusing = Part("reusing", latent(f, indexer={**indexer, "reused": True}))
    return [reusing if kind == "shared" else picking for kind in kinds]


def _indexer_kinds(f: Fields, count: int) -> list[str]:
    """Return which layers pick and which reuse: listed, in letters, or each n-th after an offset."""
    listed = f.words("indexer_types", count)
    if listed is None and isinstance(f.raw("index_topk_pattern"), list):
        listed = f.words("index_topk_pattern", count)
    if listed is not None:
        return ["shared" if kind.lower() in {"shared", "s"} else "full" for kind in listed]
    letters = f.word("index_topk_pattern")
    if letters:
        if len(letters) < count:
            problem = message("import.hf.short_list", found=len(letters), wanted=count)
            raise InputError(problem, f.where("index_topk_pattern"))
        return ["shared" if letter == "S" else "full" for letter in letters[:count]]
    interval = f.whole_or(1, "index_topk_freq")
    offset = f.whole_or(2, "index_skip_topk_offset", low=0)
    return ["full" if max(number - offset + 1, 0) % interval == 0 else "shared" for number in range(count)]


def _deepseek_v4(f: Fields) -> Structure:
    """DeepSeek V4: one shared key-value head folded by a ratio of each layer's own, and hyper-connections."""
    count = layer_count(f)
    ratios = _ratios(f, count)
    base = {
        "kind": "compressed",
        "heads": f.whole("num_attention_heads"),
        "head_dim": f.whole("head_dim"),
        "q_lora_rank": f.whole("q_lora_rank"),
        "o_lora_rank": f.whole("o_lora_rank"),
        "o_groups": f.whole("o_groups"),
        "window": f.whole("sliding_window"),
    }
    indexer = {
        "heads": f.whole("index_n_heads"),
        "head_dim": f.whole("index_head_dim"),
        "top_k": f.whole("index_topk"),
    }
    kinds: dict[int, Part] = {}
    for ratio in sorted(set(ratios)):
        if ratio == 0:
            kinds[ratio] = Part("window", dict(base))
        elif ratio < _HEAVY:
            kinds[ratio] = Part("sparse", base | {"compress_ratio": ratio, "indexer": indexer})
        else:
            kinds[ratio] = Part("heavy", base | {"compress_ratio": ratio})
    hashed = f.whole_or(3, "num_hash_layers", low=0)
    by_table = Part("hash_moe", _blocks(f, router_bias=False)[0].table)
    by_score = _blocks(f, router_bias=True)[0]
    layers = tuple(
        Layer(kinds[ratios[number]], by_table if number < hashed else by_score) for number in range(count)
    )
    streams = f.whole_or(4, "hc_mult", high=64)
    sides = {"residual_streams": streams} if streams > 1 else {}
    return Structure(layers, sides=sides, notes=_hash_tables(f, min(hashed, count)))


def _hash_tables(f: Fields, layers: int) -> tuple[Message, ...]:
    """Say how large the tables from token to experts are: whole numbers of 32 bits, or of 64."""
    if not layers:
        return ()
    entries = f.whole("vocab_size") * experts_per_token(f) * layers
    low, high = (4.0 * entries, "B"), (8.0 * entries, "B")
    return (message("import.hf.hash_layers", count=layers, low=low, high=high),)


#: Layers that fold less than this pick entries by an indexer; those that fold more read all.
_HEAVY: Final = 32
_KIND_RATIOS: Final[Mapping[str, int]] = MappingProxyType(
    {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
)


def _ratios(f: Fields, count: int) -> list[int]:
    """Return how many tokens each layer folds to one entry; 0 keeps the window alone."""
    listed = f.wholes("compress_ratios", count)
    if listed is not None:
        return listed
    kinds = f.words("layer_types", count)
    if kinds is None:
        raise InputError(message("field.missing"), f.where("compress_ratios"))
    rates = f.table("compress_rates")
    found = []
    for number, kind in enumerate(kinds, start=1):
        if kind not in _KIND_RATIOS:
            problem = message("field.word", given=quoted(kind), allowed=tuple(_KIND_RATIOS))
            raise InputError(problem, f"{f.where('layer_types')}.{number}")
        ratio = _KIND_RATIOS[kind]
        found.append(rates.whole_or(ratio, kind) if rates is not None and ratio else ratio)
    return found


#: By `model_type`.
MLA: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "deepseek_v2": _deepseek,
        "deepseek_v3": _deepseek,
        "kimi_k2": _deepseek,
        "deepseek_v32": _deepseek,
        "glm_moe_dsa": _deepseek,
        "glm4_moe_lite": partial(_deepseek, first_dense=1),
        "mistral4": _deepseek,
        "deepseek_v4": _deepseek_v4,
        "deepseek_ref": _deepseek_v4,
    }
)
