"""Names of the sheets of a workbook."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.sheets.plain_text import shown_text
from gpudesk.text import tr

#: Excel keeps this name for itself.
TAKEN: Final = "history"
_LONGEST_NAME: Final = 31
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\]")


def sheet_name(title: str, taken: set[str]) -> str:
    """Return a name for a sheet and keep it: short, without what Excel forbids, no two alike."""
    plain = _NOT_IN_NAMES.sub(" ", shown_text(title)).strip(" '")[:_LONGEST_NAME].strip(" '") or tr("Table")
    name, number = plain, 1
    while name.casefold() in taken:
        number += 1
        end = f" ({number})"
        name = f"{plain[: _LONGEST_NAME - len(end)].rstrip()}{end}"
    taken.add(name.casefold())
    return name
