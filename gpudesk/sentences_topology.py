"""The sentences of what spreading a model over accelerators costs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOPOLOGY_SENTENCES: Final[Mapping[str, str]] = MappingProxyType({})

TOPOLOGY_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

TOPOLOGY_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
