"""The sentences of the commands that start a deployment and measure it.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LAUNCH_SENTENCES: Final[Mapping[str, str]] = MappingProxyType({})

LAUNCH_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

LAUNCH_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
