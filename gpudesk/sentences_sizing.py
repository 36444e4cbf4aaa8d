"""The sentences of how many accelerators a demand needs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SIZING_SENTENCES: Final[Mapping[str, str]] = MappingProxyType({})

SIZING_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

SIZING_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
