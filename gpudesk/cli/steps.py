"""Work in steps, gone through to its end: on the command line nobody looks on."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

_T = TypeVar("_T")


def through(steps: Generator[object, None, _T]) -> _T:
    """Go through the steps and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result
