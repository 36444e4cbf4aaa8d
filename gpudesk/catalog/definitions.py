"""Models as JSON text in the catalog, and back. The text holds the validated tables of a file."""

from __future__ import annotations

import json
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.models import FFN_KINDS, MIXER_KINDS, Ffn, Indexer, LayerGroup, Mixer, Model
from gpudesk.domain.precision import Precision

#: Fields of a model that are neither its name nor its structure.
MODEL_FIELDS: Final = tuple(
    field.name
    for field in fields(Model)
    if field.name not in {"id", "name", "organisation", "layers", "notes"}
)
_PRECISIONS: Final = frozenset({"native_precision", "native_other_precision"})
#: What the fields hold where a file does not know them.
_UNKNOWN: Final = MappingProxyType(
    {
        "hidden_size": 0,
        "vocab_size": 0,
        "tied_embeddings": False,
        "max_context": None,
        "native_precision": None,
    }
)


def to_json(value: object) -> str:
    """Write a value so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def mixer_of(table: dict[str, Any]) -> Mixer:
    """Make the mixer that a table with its `kind` and dimensions describes."""
    fields = dict(table)
    made = MIXER_KINDS[fields.pop("kind")]
    if fields.get("indexer") is not None:
        fields["indexer"] = Indexer(**fields["indexer"])
    return made(**fields)


def ffn_of(table: dict[str, Any]) -> Ffn:
    """Make the feed-forward block that a table with its `kind` and dimensions describes."""
    fields = dict(table)
    return FFN_KINDS[fields.pop("kind")](**fields)


def model_of(definition: dict[str, Any]) -> Model:
    """Make a model; layers of one kind share one mixer and one feed-forward object."""
    mixers = {name: mixer_of(table) for name, table in definition["mixers"].items()}
    ffns = {name: ffn_of(table) for name, table in definition["ffns"].items()}
    layers = tuple(
        LayerGroup(
            count=group["count"],
            mixer=mixers.get(group["mixer"]),
            ffn=ffns.get(group["ffn"]),
            norms=group["norms"],
        )
        for group in definition["layers"]
    )
    stated = {name: definition[name] for name in MODEL_FIELDS if definition.get(name) is not None}
    for name in _PRECISIONS & stated.keys():
        stated[name] = Precision(stated[name])
    return Model(
        id=definition["id"],
        name=definition["name"],
        organisation=definition["organisation"],
        layers=layers,
        notes=tuple(definition["notes"]),
        **{**_UNKNOWN, **stated},
    )
