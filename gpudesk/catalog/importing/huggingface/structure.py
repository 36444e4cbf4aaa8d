"""Layers and components that architecture readers produce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gpudesk.catalog.importing.fields import MOST_EXPERTS, MOST_LAYERS, ConfigFields
from gpudesk.domain.field_checks import describe_unknown_word, quote_value
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, message

DefinitionTable = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class LayerPart:
    """A mixer or a feed-forward block with its name in the definition."""

    name: str
    table: DefinitionTable


@frozen_dataclass
class LayerLayout:
    """One layer; `norms` counts the vectors as long as the hidden size."""

    mixer: LayerPart | None
    ffn: LayerPart | None
    norms: int = 2


@frozen_dataclass
class ModelStructure:
    """The result of a reader. `tied` is the default of the class.

    `sides` are further fields of the model: stream mixing, and per-layer embeddings.
    """

    layers: tuple[LayerLayout, ...]
    tied: bool = False
    final_norms: int = 1
    sides: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    left_out: tuple[Message, ...] = ()


StructureReader = Callable[[ConfigFields], ModelStructure]


def make_layer_tables(structure: ModelStructure) -> DefinitionTable:
    """Return the mixers, feed-forward blocks and layers of a definition; equal layers form one group."""
    mixers = _name_parts(layer.mixer for layer in structure.layers)
    ffns = _name_parts(layer.ffn for layer in structure.layers)
    counts: dict[tuple[str | None, str | None, int], int] = {}
    for layer in structure.layers:
        key = (mixers[1].get(id(layer.mixer)), ffns[1].get(id(layer.ffn)), layer.norms)
        counts[key] = counts.get(key, 0) + 1
    return {
        "mixers": mixers[0],
        "ffns": ffns[0],
        "layers": [
            {"count": count, "norms": norms}
            | ({} if mixer is None else {"mixer": mixer})
            | ({} if ffn is None else {"ffn": ffn})
            for (mixer, ffn, norms), count in counts.items()
        ],
    }


def _name_parts(parts: Iterable[LayerPart | None]) -> tuple[dict[str, DefinitionTable], dict[int, str]]:
    """Return the tables by name, and the name of each by its identity; equal tables share one."""
    tables: dict[str, DefinitionTable] = {}
    names: dict[int, str] = {}
    for part in parts:
        if part is None or id(part) in names:
            continue
        name, number = part.name, 1
        while name in tables and tables[name] != part.table:
            number += 1
            name = f"{part.name}_{number}"
        tables[name] = part.table
        names[id(part)] = name
    return tables, names


def read_layer_count(f: ConfigFields, *names: str) -> int:
    """Return the number of layers, checked before lists of that length are made."""
    return f.whole(*(names or ("num_hidden_layers",)), high=MOST_LAYERS)


@frozen_dataclass
class AttentionHeads:
    """Query heads, key and value heads, and the width of one."""

    heads: int
    kv_heads: int
    head_dim: int


def read_heads(f: ConfigFields, *, head_dim: int | None = None, kv_heads: int | None = None) -> AttentionHeads:
    """Read the heads; without `head_dim` the residual width divided among them."""
    heads = f.whole("num_attention_heads")
    kv = f.find_whole("num_key_value_heads")
    if kv is None:
        kv = heads if kv_heads is None else kv_heads
    width = f.find_whole("head_dim")
    if width is None:
        width = head_dim if head_dim is not None else divide_hidden_size(f, heads)
    return AttentionHeads(heads, kv, width)


def divide_hidden_size(f: ConfigFields, heads: int) -> int:
    """Return the width of a head from the hidden size, if the file does not state it."""
    hidden = f.whole("hidden_size", "n_embd", "n_embed", "d_model", "dim")
    if f.missing:
        return 1
    if hidden % heads:
        problem = message(
            "import.hf.heads_divide",
            "{hidden} is not divisible by {heads} heads; enter head_dim",
            hidden=hidden,
            heads=heads,
        )
        raise InputError(problem, f.where("num_attention_heads"))
    return hidden // heads


def make_attention(heads: AttentionHeads, **more: object) -> DefinitionTable:
    """Return the table of softmax attention; default values are left out."""
    table: DefinitionTable = {
        "kind": "attention",
        "heads": heads.heads,
        "kv_heads": heads.kv_heads,
        "head_dim": heads.head_dim,
    }
    return table | drop_defaults(more)


def drop_defaults(values: Mapping[str, object]) -> DefinitionTable:
    """Leave out default values: None, False and "none"."""
    return {name: value for name, value in values.items() if value not in (None, False, "none") and value != 0}


def make_dense(size: int, *, gated: bool = True, bias: bool = False) -> LayerPart:
    table: DefinitionTable = {"kind": "dense", "intermediate_size": size}
    if not gated:
        table["gated"] = False
    return LayerPart("mlp", table | drop_defaults({"bias": bias}))


def make_moe(experts: int, per_token: int, size: int, *, gated: bool = True, **more: object) -> LayerPart:
    table: DefinitionTable = {
        "kind": "moe",
        "experts": experts,
        "experts_per_token": per_token,
        "intermediate_size": size,
    }
    if not gated:
        table["gated"] = False
    return LayerPart("moe", table | drop_defaults(more))


def read_expert_count(f: ConfigFields, *names: str) -> int:
    return f.whole(*(names or ("num_experts", "num_local_experts", "n_routed_experts")), high=MOST_EXPERTS)


def read_experts_per_token(f: ConfigFields) -> int:
    return f.whole("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", high=MOST_EXPERTS)


def read_attention(f: ConfigFields) -> LayerPart:
    """Return softmax attention whose projections all have a bias, or none, as a field says."""
    has_bias = f.yes("attention_bias", default=False)
    return LayerPart("attention", make_attention(read_heads(f), qkv_bias=has_bias, output_bias=has_bias))


def read_moe(
    f: ConfigFields, size: str | int, *, experts: tuple[str, ...] = (), gated: bool = True, **more: object
) -> LayerPart:
    """Return routed experts of a size, or of a field's size; `experts` are the names of the field with their number."""
    return make_moe(
        read_expert_count(f, *experts),
        read_experts_per_token(f),
        f.whole(size) if isinstance(size, str) else size,
        gated=gated,
        **more,
    )


def mix_blocks(
    f: ConfigFields,
    mixers: Sequence[LayerPart],
    sparse: Sequence[bool],
    routed: LayerPart,
    *,
    dense: str = "intermediate_size",
) -> tuple[LayerLayout, ...]:
    """Return the layers: sparse ones with routed experts, others with a block of the field's size."""
    plain = None if all(sparse) else make_dense(f.whole(dense))
    return tuple(LayerLayout(mixer, routed if flag else plain) for mixer, flag in zip(mixers, sparse, strict=True))


def repeat_layer(mixer: LayerPart | None, ffn: LayerPart | None, count: int, norms: int = 2) -> tuple[LayerLayout, ...]:
    return (LayerLayout(mixer, ffn, norms),) * count


SLIDING: Final = "sliding_attention"
FULL: Final = "full_attention"
CHUNKED: Final = "chunked_attention"
LINEAR: Final = "linear_attention"


def read_layer_types(f: ConfigFields, count: int, allowed: tuple[str, ...], default: Callable[[int], str]) -> list[str]:
    """Return the kind of each layer as listed in the file, or as computed by the class from the number."""
    listed = f.words("layer_types", count)
    if listed is None:
        return [default(number) for number in range(count)]
    for number, kind in enumerate(listed, start=1):
        if kind not in allowed:
            problem = describe_unknown_word(quote_value(kind), allowed)
            raise InputError(problem, f"{f.where('layer_types')}.{number}")
    return listed


def make_interval_pattern(interval: int, kind: str, other: str) -> Callable[[int], str]:
    """Return the pattern in which each `interval`-th layer is of one kind and all others of the other."""
    return lambda number: kind if (number + 1) % interval == 0 else other


def read_sliding_window(f: ConfigFields) -> int | None:
    """Return the width of the sliding window, 512 unless the file has it; 0 is none."""
    return f.read_whole_or(512, "sliding_window", low=0) or None
