"""External values as the program's dataclasses: each fault becomes an `InputError` with its place.

The dataclass defines the fields, which of them are required, and their types. Checks by field name cover what a type
does not, such as a range. Null equals omitted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gpudesk.domain.field_checks import (
    MISSING_FIELD,
    FieldCheck,
    accept_text,
    describe_unknown_word,
    make_type_error,
    make_unknown_field_error,
    quote_value,
)
from gpudesk.text.messages import InputError

_T = TypeVar("_T")

NO_CHECKS: Final[Mapping[str, FieldCheck]] = MappingProxyType({})
_LONGEST_TEXT: Final = 4000
_LONGEST_NAME: Final = 60
_check_text: Final = accept_text(_LONGEST_TEXT)


def parse_record(
    kind: type[_T],
    value: object,
    where: str = "",
    checks: Mapping[str, FieldCheck] = NO_CHECKS,
    *,
    text: FieldCheck = _check_text,
    ignore_unknown: bool = False,
) -> _T:
    """Return a value, as parsed from JSON or TOML, as a dataclass; raises `InputError` with its place below `where`.

    A check, by the name of a field at any depth, takes the value and returns the value to use; `text` checks texts
    without their own check. Unknown fields are refused, or left out with `ignore_unknown`.
    """
    hint: Any = kind
    field_hints = _list_fields(hint)
    if ignore_unknown:
        value = _drop_unknown(value, hint)
    for name in value if isinstance(value, dict) else ():
        if name not in field_hints:
            raise make_unknown_field_error(where.rstrip(":"), name, field_hints)
    record: _T = _build(hint, _apply_checks(value, where, checks, text), where)
    return record


def join_place(where: str, part: str | int) -> str:
    """Join the place of a field or an item; the place of a file ends with a colon."""
    if isinstance(part, int):
        return f"{where}[{part}]"
    part_text = part if part.isprintable() else part.encode("unicode_escape").decode()
    part_text = part_text if len(part_text) <= _LONGEST_NAME else f"{part_text[:_LONGEST_NAME]}…"
    return f"{where} {part_text}" if where.endswith(":") else f"{where}.{part_text}" if where else part_text


def _drop_unknown(value: object, hint: Any) -> object:  # noqa: ANN401
    """Leave out the fields that a dataclass, and those inside it, do not have."""
    inner = _list_inner(hint, value)
    if isinstance(value, dict) and inner is not None:
        return {name: _drop_unknown(each, inner(name)) for name, each in value.items() if inner(name) is not None}
    if isinstance(value, list) and inner is not None:
        return [_drop_unknown(each, inner(number)) for number, each in enumerate(value)]
    return value


def _apply_checks(value: object, where: str, checks: Mapping[str, FieldCheck], text: FieldCheck) -> object:
    if isinstance(value, dict):
        checked = (
            (
                name,
                checks[name](join_place(where, name), each)
                if name in checks
                else _apply_checks(each, join_place(where, name), checks, text),
            )
            for name, each in value.items()
            if each is not None
        )
        return {name: each for name, each in checked if each is not None}
    if isinstance(value, list):
        return [_apply_checks(each, join_place(where, number), checks, text) for number, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise make_type_error(where, value, "number")
    return text(where, value) if isinstance(value, str) else value


def _build(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - types from typing, values from JSON
    """Return a plain value as a value of a type. Nothing is converted but whole numbers where others are allowed."""
    kind = _choose_kind(hint, value)
    if kind is None or kind is object:
        return value
    if is_dataclass(kind):
        return _build_record(kind, value, where)
    container, inner = get_origin(kind), get_args(kind)
    if container in (tuple, frozenset):
        items = _require(isinstance(value, list | tuple), value, where, "list")
        return container(_build(inner[0], item, join_place(where, place)) for place, item in enumerate(items))
    if container in (dict, Mapping):
        items = _require(isinstance(value, dict), value, where, "object")
        return {name: _build(inner[1], item, join_place(where, name)) for name, item in items.items()}
    if words := _list_words(kind):
        if _require(isinstance(value, str), value, where, "text") not in words:
            raise InputError(describe_unknown_word(quote_value(value), words), where)
        return value if container is Literal else kind(value)
    return _build_scalar(kind, value, where)


def _build_scalar(kind: type, value: Any, where: str) -> Any:  # noqa: ANN401
    is_bool = isinstance(value, bool)
    if kind is float:
        is_number = isinstance(value, int | float) and not is_bool and abs(value) <= sys.float_info.max
        return float(_require(is_number, value, where, "number"))
    if kind is int:
        return _require(isinstance(value, int) and not is_bool, value, where, "whole")
    if kind is bool:
        return _require(is_bool, value, where, "boolean")
    assert kind is str
    return str(_require(isinstance(value, str), value, where, "text"))


def _build_record(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401
    _require(isinstance(value, dict), value, where, "object")
    hints, values = _list_fields(kind), {}
    for each in fields(kind):
        if each.name in value:
            values[each.name] = _build(hints[each.name], value[each.name], join_place(where, each.name))
        elif each.default is MISSING and each.default_factory is MISSING:
            raise InputError(MISSING_FIELD, join_place(where, each.name))
    for name in value:
        if name not in hints:
            raise make_unknown_field_error(where.rstrip(":"), name, hints)
    return kind(**values)


def _require(is_right: bool, value: Any, where: str, wanted: str) -> Any:  # noqa: ANN401
    if not is_right:
        raise make_type_error(where.rstrip(":"), value, wanted)
    return value


def _choose_kind(hint: Any, value: object) -> Any:  # noqa: ANN401
    """Return the type of a union that a value has, or the first that is not None; any other type itself."""
    if get_origin(hint) not in (UnionType, Union):
        return hint
    kinds = [each for each in get_args(hint) if each is not NoneType]
    if value is None and len(kinds) < len(get_args(hint)):
        return None
    if isinstance(value, dict):
        alike = [each for each in kinds if is_dataclass(each) or get_origin(each) in (dict, Mapping)]
    elif isinstance(value, list | tuple):
        alike = [each for each in kinds if get_origin(each) in (tuple, frozenset)]
    else:
        alike = [each for each in kinds if each is type(value)]
        if not alike and type(value) is int:
            alike = [each for each in kinds if each is float]
    return (alike or kinds)[0]


def _list_inner(hint: Any, value: object) -> Callable[[str | int], Any] | None:  # noqa: ANN401
    """Return a function that gives the types inside a type by name or number; None if the type is opaque."""
    container = dict if isinstance(value, dict) else tuple if isinstance(value, list) else None
    kinds: tuple[Any, ...] = get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)
    for kind in kinds:
        if container is dict and is_dataclass(kind):
            by_name = _list_fields(cast("Hashable", kind))
            return lambda part: by_name.get(str(part))
        if container is not None and get_origin(kind) is container:
            each = get_args(kind)[-1 if container is dict else 0]
            return lambda _part: each
    return None


def _drop_none(hint: Any) -> Any:  # noqa: ANN401 - a type as typing gives it
    if get_origin(hint) in (UnionType, Union):
        kinds = [each for each in get_args(hint) if each is not type(None)]
        return kinds[0] if len(kinds) == 1 else hint
    return hint


@cache
def _list_fields(hint: Hashable) -> dict[str, Any]:
    kind = _drop_none(hint)
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _list_words(hint: Any) -> tuple[str, ...]:  # noqa: ANN401
    kind = _drop_none(hint)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(each.value) for each in kind)
    return get_args(kind) if get_origin(kind) is Literal else ()
