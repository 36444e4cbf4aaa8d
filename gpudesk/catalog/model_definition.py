"""Model definitions as JSON: parsing, single dimensions, consistency of shapes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any, Final

from gpudesk.domain.model import (
    FFN_KINDS,
    MIXER_KINDS,
    Attention,
    AttentionIndexer,
    Compressed,
    Ffn,
    GatedDeltaNet,
    LayerGroup,
    Mamba2,
    Mixer,
    Model,
    MoeFfn,
    reuses_cache,
)
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue

#: Fields of a model other than its name and structure.
MODEL_FIELDS: Final = tuple(
    field.name for field in fields(Model) if field.name not in {"id", "name", "organisation", "layers", "notes", "own"}
)
_PRECISIONS: Final = frozenset({"native_precision", "native_other_precision"})
#: Values of unknown fields.
_UNKNOWN: Final = {
    "hidden_size": 0,
    "vocab_size": 0,
    "tied_embeddings": False,
    "max_context": None,
    "native_precision": None,
}


def to_canonical_json(value: object) -> str:
    """Write a value so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parse_mixer(table: dict[str, Any]) -> Mixer:
    """Return the mixer described by a table with its `kind` and dimensions."""
    fields = dict(table)
    mixer_type = MIXER_KINDS[fields.pop("kind")]
    if fields.get("indexer") is not None:
        fields["indexer"] = AttentionIndexer(**fields["indexer"])
    return mixer_type(**fields)


def parse_ffn(table: dict[str, Any]) -> Ffn:
    """Return the feed-forward block described by a table with its `kind` and dimensions."""
    fields = dict(table)
    return FFN_KINDS[fields.pop("kind")](**fields)


def parse_model(definition: dict[str, Any]) -> Model:
    """Return a model; layers of one kind share one mixer and one feed-forward object."""
    mixers = {name: parse_mixer(table) for name, table in definition["mixers"].items()}
    ffns = {name: parse_ffn(table) for name, table in definition["ffns"].items()}
    layers = tuple(
        LayerGroup(
            count=group["count"], mixer=mixers.get(group["mixer"]), ffn=ffns.get(group["ffn"]), norms=group["norms"]
        )
        for group in definition["layers"]
    )
    fields = {name: definition[name] for name in MODEL_FIELDS if definition.get(name) is not None}
    for name in _PRECISIONS & fields.keys():
        fields[name] = Precision(fields[name])
    fields["unread_fields"] = tuple(fields.get("unread_fields", ()))
    return Model(
        id=definition["id"],
        name=definition["name"],
        organisation=definition["organisation"],
        layers=layers,
        notes=tuple(definition["notes"]),
        **{**_UNKNOWN, **fields},
    )


_GROUPS: Final = frozenset({"mixers", "ffns"})
#: Norms of all groups of layers, if they are equal.
_ALL_NORMS: Final = "layers.norms"


def is_dimension(definition: Mapping[str, Any], name: str) -> bool:
    """Whether an attribute is a dimension in the definition, so that it can have another value.

    The total of all layers is not: it follows from the groups.
    """
    return name == _ALL_NORMS or _find_holder(definition, name) is not None


def find_dimension(definition: Mapping[str, Any], name: str) -> ClaimValue:
    """Return the value of a dimension in a definition; None without one."""
    if name == _ALL_NORMS:
        norms = {group["norms"] for group in definition["layers"]}
        return next(iter(norms)) if len(norms) == 1 else None
    place = _find_holder(definition, name)
    if place is None:
        return None
    table, key = place
    value = table[key]
    return tuple(value) if isinstance(value, list) else value


def patch_definition(definition: Mapping[str, Any], values: Mapping[str, ClaimValue]) -> dict[str, Any]:
    """Return the definition with other dimensions; attributes that are not dimensions are ignored."""
    patched = copy.deepcopy(dict(definition))
    for name, value in values.items():
        if name == _ALL_NORMS:
            for group in patched["layers"]:
                group["norms"] = value
            continue
        place = _find_holder(patched, name)
        if place is not None:
            table, key = place
            table[key] = value
    return patched


def _find_holder(definition: Mapping[str, Any], name: str) -> tuple[Any, str] | None:
    """Return the table that holds a dimension and its key there, or None without it."""
    first, *rest = name.split(".")
    if not rest:
        return (definition, first) if first in MODEL_FIELDS and first in definition else None
    if first == "layers":
        # Groups of layers are numbered from 1.
        layers = definition["layers"]
        if len(rest) != 2 or not rest[0].isdecimal() or not 1 <= int(rest[0]) <= len(layers):
            return None
        group = layers[int(rest[0]) - 1]
        return (group, rest[1]) if rest[1] in group else None
    if first not in _GROUPS:
        return None
    table = definition[first]
    for key in rest[:-1]:
        table = table.get(key)
        if not isinstance(table, dict):
            return None
    return (table, rest[-1]) if rest[-1] in table else None


class ShapeRelation(StrEnum):
    """The required relation between two dimensions."""

    MULTIPLE = "multiple"
    AT_MOST = "at_most"
    KEPT = "kept"


@frozen_dataclass
class ShapeFault:
    """Two dimensions of one layer group (counted from 1) that violate `relation`.

    KEPT concerns only one: whether any layer of the same shape keeps the cache that the group reuses.
    """

    group: int
    dimension: str
    value: int
    relation: ShapeRelation
    other: str
    other_value: int

    def __str__(self) -> str:
        if self.relation is ShapeRelation.KEPT:
            return f"{self.dimension}, but no layer of its shape keeps a cache"
        words = "a multiple of" if self.relation is ShapeRelation.MULTIPLE else "at most"
        return f"{self.dimension} {self.value} is not {words} {self.other} {self.other_value}"


_Rule = tuple[str, int, ShapeRelation, str, int]


def find_shape_faults(model: Model) -> Iterator[ShapeFault]:
    """Yield every inconsistent pair of dimensions."""
    shapes = {_cache_shape(group.mixer) for group in model.layers if not reuses_cache(group.mixer)}
    for number, group in enumerate(model.layers, start=1):
        if reuses_cache(group.mixer) and _cache_shape(group.mixer) not in shapes:
            yield ShapeFault(number, "reuses_cache", 1, ShapeRelation.KEPT, "", 0)
        for name, value, relation, other, other_value in _iterate_rules(group):
            holds = value % other_value == 0 if relation is ShapeRelation.MULTIPLE else value <= other_value
            if not holds:
                yield ShapeFault(number, name, value, relation, other, other_value)


def _cache_shape(mixer: Mixer | None) -> tuple[int | None, ...] | None:
    if not isinstance(mixer, Attention):
        return None
    return mixer.kv_heads, mixer.head_dim, mixer.value_dim, mixer.window


def _iterate_rules(group: LayerGroup) -> Iterator[_Rule]:
    if group.mixer is not None:
        mixer = group.mixer
        match mixer:
            case Attention():
                yield "heads", mixer.heads, ShapeRelation.MULTIPLE, "kv_heads", mixer.kv_heads
            case Compressed():
                yield "heads", mixer.heads, ShapeRelation.MULTIPLE, "o_groups", mixer.o_groups
            case GatedDeltaNet():
                yield "value_heads", mixer.value_heads, ShapeRelation.MULTIPLE, "key_heads", mixer.key_heads
            case Mamba2():
                yield "heads", mixer.heads, ShapeRelation.MULTIPLE, "groups", mixer.groups
            case _:
                pass
    if group.ffn is not None:
        ffn = group.ffn
        if isinstance(ffn, MoeFfn):
            yield "experts_per_token", ffn.experts_per_token, ShapeRelation.AT_MOST, "experts", ffn.experts
