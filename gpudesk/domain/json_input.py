"""JSON from outside: bounded, no duplicate keys, no NaN."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from gpudesk.text.messages import InputError, message
from gpudesk.text.units import MIB


class DuplicateKeyError(ValueError):
    """An object states one key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises `DuplicateKeyError`."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateKeyError(key)
        found[key] = value
    return found


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads although they are not JSON."""
    raise ValueError(name)


#: Larger than every configuration; a file above it is something else.
CONFIG_BYTES: Final = 16 * MIB


def parse_bounded_json(data: bytes, name: str, largest: int = CONFIG_BYTES) -> dict[str, Any]:
    """Return the object in a file called `name`; raises `InputError` for anything else."""
    if len(data) > largest:
        raise InputError(message("import.too_big", most=(float(largest), "B")), name)
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(message("import.not_text"), name) from None
    except json.JSONDecodeError as error:
        raise InputError(message("import.not_json", line=error.lineno), name) from None
    except (RecursionError, ValueError):
        # Nested beyond what any file is, or a number of thousands of digits.
        raise InputError(message("import.nested"), name) from None
    if not isinstance(found, dict):
        raise InputError(message("import.hf.no_object"), name)
    return found
