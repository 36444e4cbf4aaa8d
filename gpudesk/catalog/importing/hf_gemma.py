"""Gemma 4 and 3n: heads of two widths, keys that serve as values, layers that reuse the cache of others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import Fields
from gpudesk.catalog.importing.hf_structure import (
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
    layer_count,
    layer_types,
    moe,
    sliding_window,
)

#: Vectors a layer: before and after each block; with experts three more, and the scale before the router.
_NORMS: Final = 4
_NORMS_WITH_EXPERTS: Final = 8
#: How many layers at the end take keys and values of earlier ones.
_REUSING: Final = "num_kv_shared_layers"


def _gemma4(f: Fields) -> Structure:
    count = layer_count(f)
    kinds = layer_types(f, count, (FULL, SLIDING), every(6, FULL, SLIDING))
    if kinds:
        # The class makes the last layer global whatever the list says.
        kinds[-1] = FULL
    mixers = _mixers(kinds, _attentions(f, _of_global_layers(f, kinds)), f.whole_or(0, _REUSING, low=0))
    with_experts = f.yes("enable_moe_block", default=False)
    size = f.whole("intermediate_size")
    wide = dense(2 * size) if f.yes("use_double_wide_mlp", default=False) else dense(size)
    plain = _moe(f, size) if with_experts else dense(size)
    layers = tuple(
        Layer(
            mixer,
            plain if with_experts or not _reuses(mixer) else wide,
            _NORMS_WITH_EXPERTS if with_experts else _NORMS,
        )
        for mixer in mixers
    )
    return Structure(layers, tied=True, sides=_layer_inputs(f))


def _mixers(kinds: list[str], attentions: tuple[Part, Part], reusing: int) -> list[Part]:
    """Return the attention of each layer; the last `reusing` read what the last ones before them keep."""
    sliding, full = attentions
    keeping = {SLIDING: sliding, FULL: full}
    # Those after them have the same shape.
    borrowing = {
        kind: Part(f"{part.name}_reusing", part.table | {"reuses_cache": True})
        for kind, part in keeping.items()
    }
    first = len(kinds) - reusing
    return [(keeping if number < first else borrowing)[kind] for number, kind in enumerate(kinds)]


def _reuses(mixer: Part) -> bool:
    return "reuses_cache" in mixer.table


def _of_global_layers(f: Fields, kinds: list[str]) -> Fields:
    """Return what a newer file states for the first global layer alone, under its number; or nothing."""
    tables = f.table("per_layer_config")
    if tables is not None and FULL in kinds:
        number = kinds.index(FULL)
        for name in (str(number), f"{number:02d}", f"{number:03d}"):
            found = tables.table(name)
            if found is not None:
                return found
    return Fields({}, parent=f)


def _attentions(f: Fields, of_global: Fields) -> tuple[Part, Part]:
    heads = f.whole("num_attention_heads")
    kv_heads = f.whole_or(heads, "num_key_value_heads")
    bias = f.yes("attention_bias", default=False)
    keys_are_values = f.yes("attention_k_eq_v", default=False)
    sliding = attention(
        Heads(heads, kv_heads, f.whole_or(256, "head_dim")),
        window=sliding_window(f, 512),
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
    )
    global_kv = f.whole_or(kv_heads, "num_global_key_value_heads") if keys_are_values else kv_heads
    shape = Heads(
        heads,
        of_global.whole_or(global_kv, "num_key_value_heads"),
        of_global.whole_or(f.whole_or(512, "global_head_dim"), "head_dim"),
    )
    full = attention(
        shape,
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
        shared_kv_projection=keys_are_values,
    )
    return Part("sliding", sliding), Part("global", full)


def _moe(f: Fields, size: int) -> Part:
    """Return the experts beside the dense block; the router has one scale an expert, counted as its bias."""
    return moe(
        experts(f, "num_experts"),
        f.whole("top_k_experts", "num_experts_per_tok"),
        f.whole("moe_intermediate_size"),
        router_bias=True,
        parallel_dense_intermediate_size=size,
    )


def _gemma3n(f: Fields) -> Structure:
    """Read Gemma 3n, which computes one of several streams and predicts the others (AltUp)."""
    count = layer_count(f)
    kinds = layer_types(f, count, (FULL, SLIDING), every(5, FULL, SLIDING))
    heads = f.whole("num_attention_heads")
    shape = Heads(heads, f.whole_or(heads, "num_key_value_heads"), f.whole_or(256, "head_dim"))
    sliding = Part("sliding", attention(shape, window=sliding_window(f, 512), qk_norm="head"))
    full = Part("global", attention(shape, qk_norm="head"))
    if f.is_list("intermediate_size"):
        listed = f.wholes("intermediate_size", count) or [1] * count
    else:
        listed = [f.whole("intermediate_size")] * count
    blocks = {size: dense(size) for size in set(listed)}
    mixers = _mixers(kinds, (sliding, full), f.whole_or(15, _REUSING, low=0))
    layers = tuple(Layer(mixer, blocks[size], _NORMS) for mixer, size in zip(mixers, listed, strict=True))
    streams = f.whole_or(4, "altup_num_inputs", high=64)
    sides = _layer_inputs(f) | ({"altup_streams": streams} if streams > 1 else {})
    return Structure(layers, tied=True, sides=sides | {"laurel_rank": f.whole_or(64, "laurel_rank")})


def _layer_inputs(f: Fields) -> dict[str, int]:
    """Return the width of the inputs of each layer's own, and the tokens in their table."""
    width = f.whole_or(256, "hidden_size_per_layer_input", low=0)
    if width == 0:
        return {}
    tokens = f.whole_or(262144, "vocab_size_per_layer_input")
    return {"layer_input_size": width, "layer_input_vocab_size": tokens}


#: By `model_type`.
GEMMA: Final[Mapping[str, Reader]] = MappingProxyType({"gemma4_text": _gemma4, "gemma3n_text": _gemma3n})
