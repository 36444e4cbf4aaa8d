"""Frozen dataclasses from the plain types of JSON, by their annotations.

The rows were validated when the catalog was built. Loading pydantic to read them back would take longer than
everything else that a short command asks of the catalog.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


def restored(kind: type[_T], plain: object) -> _T:
    """Rebuild a value of `kind`: a dataclass, tuple, set, optional value or enumeration, or a plain type."""
    return cast("_T", _restored(kind, plain))


def _restored(kind: Any, plain: Any) -> Any:  # noqa: ANN401 - types as typing gives them, values as JSON does
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return None if plain is None else _restored(_only_kind(inner), plain)
    if origin in (tuple, frozenset):
        return origin(_restored(inner[0], item) for item in plain)
    if is_dataclass(kind):
        hints = _hints(cast("type", kind))
        return cast("type", kind)(**{name: _restored(hints[name], value) for name, value in plain.items()})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(plain)
    return float(plain) if kind is float else plain


def _only_kind(kinds: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """Return the one kind of an optional value; which of two was meant JSON does not say."""
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return kind


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
