"""How formulas name their inputs: `{memory_bandwidth}` stands for the input "memory bandwidth"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NOT_IN_NAMES: Final = re.compile(r"\W+")


@lru_cache(maxsize=512)
def placeholder(name: str) -> str:
    """Return what stands between the braces of a formula for an input of that name."""
    return _NOT_IN_NAMES.sub("_", name).strip("_")


def slot(name: str) -> str:
    """Return the name of an input as a formula holds it, in braces."""
    return f"{{{placeholder(name)}}}"


def sum_of(names: tuple[str, ...]) -> str:
    """Return the formula that adds inputs of those names up."""
    return " + ".join(slot(name) for name in names)
