"""The sentences of what is handed on: tables, and packs of the user's facts.

`gpudesk.sentences_catalog` merges them with the others of the catalog.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

PACK_SENTENCES: Final = MappingProxyType(
    {
        "table.format": "{suffix} is no form of a table; there are {known}",
    }
)
