"""Domain values as JSON values, for every writer of JSON: records by the names of their fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, format_message


def encode_value(value: Any) -> Any:  # noqa: ANN401 - of whatever form, and whatever JSON has for it
    """Return a value with all that is in it: records as objects, messages as sentences, enumerations as their words.

    What is not a finite number is null, and so is an interval with such an end. Raises `TypeError` for what has
    no form in JSON.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Message):
        return format_message(value)
    if isinstance(value, IntervalEstimate) and not all(map(math.isfinite, value)):
        return None
    return _encode_members(value)


def _encode_members(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {encode_value(key): encode_value(each) for key, each in value.items()}
    names = getattr(value, "_fields", None)
    if names is None and isinstance(value, tuple | list):
        return [encode_value(each) for each in value]
    return {name: encode_value(getattr(value, name)) for name in names or [field.name for field in fields(value)]}


def encode_fields(record: object, names: str) -> dict[str, Any]:
    """Return the fields and properties of a record by names with blanks between; `key=field` gives one another key."""
    pairs = (name.partition("=") for name in names.split())
    return {key: encode_value(getattr(record, field or key)) for key, _, field in pairs}


def encode_each(records: Iterable[object], names: str) -> list[dict[str, Any]]:
    return [encode_fields(record, names) for record in records]
