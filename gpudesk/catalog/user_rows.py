"""The user's facts as rows of their tables, and back: exactly what was stated, or a refusal at the field.

Nothing is stored that would not come back as it was. The checks of single fields are made where they are
entered; here is the last guard, whatever the facts came from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final, TypeVar, cast, get_type_hints

from gpudesk.catalog.definitions import to_json
from gpudesk.catalog.user_tables import FactTable, Stored
from gpudesk.domain.claims import ClaimValue, Kind
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.watching import WatchValue

Row = tuple[Any, ...]
_T = TypeVar("_T", bound=Stored)

#: Characters that one text may have; the definition of a large model has a tenth of that.
LONGEST_TEXT: Final = 1_000_000
_LARGEST_WHOLE: Final = 2**63 - 1
_KINDS: Final = {kind.value: kind for kind in Kind}
#: What a value is called in a refusal.
_WORDS: Final = {
    bool: "boolean",
    int: "whole",
    float: "number",
    str: "text",
    tuple: "list",
    type(None): "nothing",
}


class RowError(ValueError):
    """A row that this program cannot have written; the text says which."""


@dataclass(frozen=True, slots=True)
class _Column:
    """How the values of a field are stored: `stored` are their types in the file."""

    encode: Callable[[str, Any], Any]
    stored: frozenset[type]
    decode: Callable[[Any], Any] | None = None


def to_row(table: FactTable[_T], fact: _T) -> Row:
    """Return the row of a fact; raises `InputError` at the field that cannot be kept as it is."""
    return tuple(column.encode(name, getattr(fact, name)) for name, column in _columns(table).items())


def facts_of(table: FactTable[_T], rows: list[Row]) -> list[_T]:
    """Return the facts of rows; raises `RowError` for what this program cannot have written."""
    if not rows:
        return []
    # Column by column, since there can be tens of thousands of rows.
    columns: list[Iterable[Any]] = []
    for column, stored in zip(_columns(table).values(), zip(*rows, strict=True), strict=True):
        if not column.stored.issuperset(map(type, stored)):
            raise RowError(f"a row of the table {table.name} holds what does not belong there")
        columns.append(stored if column.decode is None else map(column.decode, stored))
    return list(map(cast("type[Any]", table.fact), *columns))


@cache
def _columns(table: FactTable[Any]) -> Mapping[str, _Column]:
    hints = get_type_hints(table.fact)
    return {name: _STORED[hints[name]] for name in (field.name for field in fields(table.fact))}


# To the file


def checked_text(where: str, value: object) -> str:
    """Return a text that comes back as it is; raises `InputError` at `where` for any other."""
    if not isinstance(value, str):
        raise _wrong_type(where, value, "text")
    if len(value) > LONGEST_TEXT:
        raise InputError(message("field.long", longest=LONGEST_TEXT), where)
    if "\0" in value:
        raise InputError(message("field.control"), where)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(message("field.half_character"), where) from None
    return str(value)


def _optional_text(where: str, value: object) -> str | None:
    return None if value is None else checked_text(where, value)


def _flag(where: str, value: object) -> int:
    if not isinstance(value, bool):
        raise _wrong_type(where, value, "boolean")
    return int(value)


def _optional_whole(where: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(where, value, "whole")
    if abs(value) > _LARGEST_WHOLE:
        raise InputError(message("own.too_large"), where)
    return int(value)


def _optional_number(where: str, value: object) -> float | None:
    if value is None:
        return None
    number = _number(where, value)
    if float(number) != number:
        raise InputError(message("own.too_large"), where)
    return float(number)


def _number(where: str, value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(where, value, "number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(message("own.no_number"), where)
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        # Where figures are handed on, whole numbers have 64 bits.
        raise InputError(message("own.too_large"), where)
    return value


def _kind(where: str, value: object) -> str:
    if not isinstance(value, Kind):
        raise InputError(message("field.word", given=str(value)[:80], allowed=tuple(_KINDS)), where)
    return value.value


def _value(where: str, value: object) -> str:
    if isinstance(value, tuple):
        checked: object = [checked_text(where, word) for word in value]
    elif value is None or isinstance(value, bool):
        checked = value
    else:
        checked = checked_text(where, value) if isinstance(value, str) else _number(where, value)
    written = to_json(checked)
    if len(written) > LONGEST_TEXT:
        raise InputError(message("field.long", longest=LONGEST_TEXT), where)
    return written


def _measured(where: str, value: object) -> str:
    return to_json(value if isinstance(value, bool) else _number(where, value))


def _wrong_type(where: str, value: object, wanted: str) -> InputError:
    found = next((word for kind, word in _WORDS.items() if isinstance(value, kind)), "object")
    shown = str(value)[:80] if isinstance(value, bool | float | str) else type(value).__name__
    return InputError(message("field.type", given=shown, found=found, wanted=wanted), where)


# From the file


def _read_kind(stored: str) -> Kind:
    try:
        return _KINDS[stored]
    except KeyError:
        raise RowError(f"{stored[:80]!r} is no kind of a claim") from None


def _read_value(stored: str) -> ClaimValue:
    try:
        (value, end) = _DECODER.raw_decode(stored)
    except (ValueError, RecursionError):
        raise RowError(f"{stored[:80]!r} is no value of a claim") from None
    if type(value) in _PLAIN and end == len(stored):
        return cast("ClaimValue", value)
    if isinstance(value, list) and end == len(stored) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise RowError(f"{stored[:80]!r} is no value of a claim")


def _read_measured(stored: str) -> WatchValue:
    value = _read_value(stored)
    if not isinstance(value, int | float):
        raise RowError(f"{stored[:80]!r} is no number and neither yes nor no")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
_PLAIN: Final = frozenset({bool, int, float, str, type(None)})

_NONE: Final = type(None)
#: By the annotation of a field.
_STORED: Final[Mapping[Any, _Column]] = {
    str: _Column(checked_text, frozenset({str})),
    str | None: _Column(_optional_text, frozenset({str, _NONE})),
    bool: _Column(_flag, frozenset({int}), bool),
    int | None: _Column(_optional_whole, frozenset({int, _NONE})),
    float | None: _Column(_optional_number, frozenset({float, _NONE})),
    Kind: _Column(_kind, frozenset({str}), _read_kind),
    ClaimValue: _Column(_value, frozenset({str}), _read_value),
    WatchValue: _Column(_measured, frozenset({str}), _read_measured),
}
