"""The sentences of the dialogue of a decision: why a question is not asked.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DIALOGUE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "dialogue.nothing_to_port": "your software runs unchanged on everything compared",
        "dialogue.one_platform": "everything compared has the same software platform",
        "dialogue.owned": "you said that you own them: hours are not rented",
        "dialogue.rented": "you said that you rent: nothing is bought",
        "dialogue.starts_soon": "it starts in less than six months, before the next part could be had",
    }
)
