"""The sentences of worked examples.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

WORKED_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "worked.columns": "has other columns than {known}; restore the file",
        "worked.input": "{given} is not written as name=value; restore the file",
        "worked.number": "{given} is no number; restore the file",
        "worked.tolerance": "{given} is no tolerance, such as exact, abs 0.1 or rel 5%; restore the file",
        "worked.verdict": "{given} is not one of {known}; restore the file",
        "worked.unknown": "{given} is no worked example; `gpudesk explain examples` lists all there are",
    }
)
