"""The sentences of what a comparison costs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

COST_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "costs.assumption": "is no range of an input of costs; restore the file",
        "costs.currency": "{given} is no currency; write it as EUR=0.92@2026-11-01",
        "costs.drawing": "Drawing what is not known",
        "costs.no_part": "{given} is not in the scenario, which has {known}",
        "costs.range": "takes a number, or a list of three: at least, most likely, at most, in this order",
        "costs.set": "{given} states no input; write it as energy_usd_per_kwh=0.1 or mi325x.price_usd=22000",
    }
)

COST_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

COST_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
