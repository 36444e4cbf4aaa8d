"""JSON that the user brings, as an object: bounded before it is parsed, and refused with the reason."""

from __future__ import annotations

import json
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.units import MIB

#: Larger than every configuration; a file above it is something else.
CONFIG_BYTES: Final = 16 * MIB


def json_object(data: bytes, name: str, largest: int = CONFIG_BYTES) -> dict[str, Any]:
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
