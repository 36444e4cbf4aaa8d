"""The sentences of which accelerators hold which models.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

FIT_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fit.below_one": "{given} is below 1; give a whole number from 1 on",
        "fit.finding": "Looking for the smallest deployments",
        "fit.no_label": "{accelerator} has no memory label to read",
        "fit.no_parameters": "how many parameters {model} has is not known",
    }
)

FIT_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

FIT_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
