"""External JSON: bounded, no duplicate keys, no NaN."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from gpudesk.text.messages import InputError, Message, message
from gpudesk.text.units import MIB

NOT_UTF8: Final = message("import.not_text", "is not UTF-8 text")
NO_FIELDS: Final = message("import.hf.no_object", "contains no fields; choose the config.json of a model")
NESTED_TOO_DEEP: Final = message("import.nested", "is nested too deeply, or contains numbers that are too long")


class DuplicateKeyError(ValueError):
    """An object has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises `DuplicateKeyError`."""
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise DuplicateKeyError(key)
        fields[key] = value
    return fields


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python accepts although they are not JSON."""
    raise ValueError(name)


def _refuse_as_json(_: str) -> NoReturn:
    raise json.JSONDecodeError("no number", "", 0)


#: Real files have less than a tenth of this nesting depth.
_DEEPEST: Final = 100
#: Larger than any configuration.
CONFIG_BYTES: Final = 16 * MIB


def parse_bounded_json(
    data: bytes, name: str | None, largest: int = CONFIG_BYTES, *, no_object: Message = NO_FIELDS, nan: bool = True
) -> dict[str, Any]:
    """Return the object in a file called `name`; raises `InputError` for anything else.

    `no_object` is the error for other values. Without `nan`, NaN and infinities are refused.
    """
    if len(data) > largest:
        raise InputError(describe_too_large_import(largest), name)
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=None if nan else _refuse_as_json)
    except UnicodeDecodeError:
        raise InputError(NOT_UTF8, name) from None
    except json.JSONDecodeError as error:
        raise InputError(describe_not_json(error.lineno), name) from None
    except (RecursionError, ValueError):
        # Nested deeper than any real file, or a number with thousands of digits.
        raise InputError(NESTED_TOO_DEEP, name) from None
    if not isinstance(document, dict):
        raise InputError(no_object, name)
    if is_nested_too_deep(document):
        raise InputError(NESTED_TOO_DEEP, name)
    return document


def is_nested_too_deep(document: object) -> bool:
    """Whether lists and objects are nested deeper than the recursion limit."""
    level = [document]
    for _ in range(_DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def describe_not_json(line: int) -> Message:
    return message("import.not_json", "is not valid JSON at line {line}; correct it or download it again", line=line)


def describe_too_large_import(largest: float) -> Message:
    return message("import.too_big", "is larger than the limit of {most}", most=(float(largest), "B"))


def describe_repeated_field(field: str) -> Message:
    return message("scenario.twice", "has {field} twice in one object; remove one", field=field)
