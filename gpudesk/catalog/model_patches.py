"""Other dimensions in the definition of a model, by the paths that its attributes are named by."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from gpudesk.catalog.definitions import MODEL_FIELDS
from gpudesk.domain.claims import ClaimValue

_GROUPS: Final = frozenset({"mixers", "ffns"})
#: Norms of all groups of layers, where they are alike.
_ALL_NORMS: Final = "layers.norms"


def is_dimension(definition: Mapping[str, Any], name: str) -> bool:
    """Whether an attribute is a dimension that the definition states, so that it can have another value.

    The sum of all layers is none: it follows from the groups.
    """
    return name == _ALL_NORMS or _holder(definition, name) is not None


def stated_dimension(definition: Mapping[str, Any], name: str) -> ClaimValue:
    """Return what a definition states of a dimension; None where it states none of that name."""
    if name == _ALL_NORMS:
        norms = {group["norms"] for group in definition["layers"]}
        return next(iter(norms)) if len(norms) == 1 else None
    place = _holder(definition, name)
    if place is None:
        return None
    table, key = place
    value = table[key]
    return tuple(value) if isinstance(value, list) else value


def patched(definition: Mapping[str, Any], values: Mapping[str, ClaimValue]) -> dict[str, Any]:
    """Return the definition with other dimensions; what is no dimension of it is left out."""
    made = copy.deepcopy(dict(definition))
    for name, value in values.items():
        if name == _ALL_NORMS:
            for group in made["layers"]:
                group["norms"] = value
            continue
        place = _holder(made, name)
        if place is not None:
            table, key = place
            table[key] = value
    return made


def _holder(definition: Mapping[str, Any], name: str) -> tuple[Any, str] | None:
    """Return the table that holds a dimension and its key there, or None where there is no such dimension."""
    first, *rest = name.split(".")
    if not rest:
        return (definition, first) if first in MODEL_FIELDS and first in definition else None
    if first == "layers":
        return _of_layers(definition["layers"], rest)
    if first not in _GROUPS:
        return None
    table = definition[first]
    for key in rest[:-1]:
        table = table.get(key)
        if not isinstance(table, dict):
            return None
    return (table, rest[-1]) if rest[-1] in table else None


def _of_layers(layers: list[dict[str, Any]], rest: list[str]) -> tuple[Any, str] | None:
    """Find a dimension of one group of layers, which are numbered from 1."""
    if len(rest) != 2 or not rest[0].isdecimal() or not 1 <= int(rest[0]) <= len(layers):
        return None
    group = layers[int(rest[0]) - 1]
    return (group, rest[1]) if rest[1] in group else None
