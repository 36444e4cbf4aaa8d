"""External values as the program's dataclasses: pydantic checks structure, faults become `InputError` with a place.

The dataclass defines the fields, which of them are required, and their types. Checks by field name cover what a type
does not, such as a range. Null equals omitted.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType, ModuleType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

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

# In place of pydantic's search for plugins among all installed packages: it takes 20 ms and 3 MB, and finds none.
_no_plugins: Final = ModuleType("pydantic.plugin._loader")
vars(_no_plugins).update(get_plugins=tuple)
sys.modules.setdefault(_no_plugins.__name__, _no_plugins)

NO_CHECKS: Final[Mapping[str, FieldCheck]] = MappingProxyType({})
_LONGEST_TEXT: Final = 4000
_LONGEST_NAME: Final = 60
_check_text: Final = accept_text(_LONGEST_TEXT)
#: pydantic's error type -> the phrase of `field.type` for the expected value.
_WANTED: Final = MappingProxyType(
    {
        **dict.fromkeys(("int_type", "int_from_float"), "whole"),
        **dict.fromkeys(("float_type", "finite_number"), "number"),
        **dict.fromkeys(("tuple_type", "list_type", "frozen_set_type"), "list"),
        **dict.fromkeys(("dataclass_type", "dict_type"), "object"),
        "string_type": "text",
        "bool_type": "boolean",
    }
)


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
    field_hints, adapter = _list_fields(hint), _make_adapter(hint)
    if ignore_unknown:
        value = _drop_unknown(value, hint)
    for name in value if isinstance(value, dict) else ():
        if name not in field_hints:
            raise make_unknown_field_error(where.rstrip(":"), name, field_hints)
    plain = _apply_checks(value, where, checks, text)
    try:
        record: _T = adapter.validate_json(json.dumps(plain, default=str), strict=True, extra="forbid")
    except ValidationError as error:
        raise _translate(error, hint, plain, where) from error
    return record


@cache
def _make_adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any dataclass
    return TypeAdapter(kind)


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


def _translate(error: ValidationError, hint: Any, plain: object, where: str) -> InputError:  # noqa: ANN401
    """Return the first fault in the order of the fields, as an error of the program."""
    fault = _choose_fault(error.errors(include_url=False, include_context=False), plain)
    place, value = where, plain
    *path, last = fault["loc"] or (None,)
    for part in path:
        place, value, hint = _enter_part(place, value, hint, part)
    if fault["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return make_unknown_field_error(place.rstrip(":"), str(last), _list_fields(hint))
    if fault["type"] in ("missing", "missing_argument"):
        return InputError(MISSING_FIELD, join_place(place, str(last)))
    if last is not None:
        place, value, hint = _enter_part(place, value, hint, last)
    if words := _list_words(hint):
        if not isinstance(value, str):
            return make_type_error(place.rstrip(":"), value, "text")
        return InputError(describe_unknown_word(quote_value(value), words), place)
    return make_type_error(place.rstrip(":"), value, _WANTED.get(fault["type"], "number"))


def _choose_fault(faults: list[Any], plain: object) -> Any:  # noqa: ANN401 - as pydantic describes it
    """Return the first fault; for a union, the fault of the type that fits best."""
    *path, last = faults[0]["loc"] or (None,)
    value: Any = plain
    for part in path:
        _, value, _ = _enter_part("", value, Any, part)
    names_type = (
        isinstance(last, str)
        and faults[0]["type"].endswith("_type")
        and not (isinstance(value, dict) and last in value)
    )
    alike = [fault for fault in faults if list(fault["loc"][: len(path)]) == path]
    return max(alike, key=lambda fault: len(fault["loc"])) if names_type else faults[0]


def _enter_part(where: str, value: Any, hint: Any, part: str | int) -> tuple[str, Any, Any]:  # noqa: ANN401
    """Go from a place to the next inside; pydantic also names union members, which are not places."""
    if (isinstance(value, list) and isinstance(part, int)) or (isinstance(value, dict) and part in value):
        inner = _list_inner(hint, value)
        inner_value: Any = value
        return join_place(where, part), inner_value[part], Any if inner is None else inner(part)
    return where, value, hint


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
