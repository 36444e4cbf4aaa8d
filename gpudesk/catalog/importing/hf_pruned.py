"""Llama-Nemotron: a Llama whose layers were each pruned by a search, so that every one is described apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import LARGEST, Fields, wrong_type
from gpudesk.catalog.importing.hf_structure import (
    Heads,
    Layer,
    Part,
    Reader,
    Structure,
    attention,
    dense,
    divided_width,
    layer_count,
)
from gpudesk.domain.messages import InputError, message

#: Widths of blocks are two thirds of the multiplier times the hidden size, rounded up to this.
_ROUNDED_TO: Final = 256


def _nemotron_nas(f: Fields) -> Structure:
    count = layer_count(f)
    heads = f.whole("num_attention_heads")
    width = f.maybe("head_dim") or divided_width(f, heads)
    hidden = f.whole("hidden_size")
    if not f.has("block_configs"):
        raise InputError(message("field.missing"), f.where("block_configs"))
    mixers: dict[tuple[int, int | None], Part] = {}
    blocks: dict[int, Part] = {}
    layers = []
    replaced = 0
    for block in f.tables("block_configs", count):
        attended, fed = block.table("attention"), block.table("ffn")
        mixer = ffn = None
        if attended is not None and not attended.yes("no_op", default=False):
            replaced += attended.yes("replace_with_linear", default=False)
            # The field counts the query heads that share one key and value head.
            kv_heads = max(heads // attended.whole("n_heads_in_group"), 1)
            window = attended.maybe("window_length")
            mixer = mixers.setdefault(
                (kv_heads, window), Part("attention", attention(Heads(heads, kv_heads, width), window=window))
            )
        if fed is not None and not fed.yes("no_op", default=False):
            replaced += fed.yes("replace_with_linear", default=False)
            size = _width(fed, hidden)
            ffn = blocks.setdefault(size, Part(f"mlp_{size}", dense(size).table))
        layers.append(Layer(mixer, ffn, (mixer is not None) + (ffn is not None)))
    notes = (message("import.hf.replaced_blocks", count=replaced),) if replaced else ()
    return Structure(tuple(layers), notes=notes)


def _width(f: Fields, hidden: int) -> int:
    """Return the width of a block: stated, or from its multiplier."""
    stated = f.maybe("intermediate_size")
    if stated is not None:
        return stated
    multiplier = f.raw("ffn_mult")
    if not isinstance(multiplier, int | float) or isinstance(multiplier, bool):
        raise wrong_type(f.where("ffn_mult"), multiplier, "number")
    size = 2 * multiplier * hidden / 3 if math.isfinite(multiplier) and abs(multiplier) < LARGEST else -1
    if size < 1:
        raise wrong_type(f.where("ffn_mult"), multiplier, "number")
    return -(-int(size) // _ROUNDED_TO) * _ROUNDED_TO


#: By `model_type`.
PRUNED: Final[Mapping[str, Reader]] = MappingProxyType(
    {"nemotron-nas": _nemotron_nas, "nemotron_nas": _nemotron_nas}
)
