"""Going to a row by typing the beginning of its label."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

#: Letters typed within this time of each other are one word.
_TYPING_S: Final = 1.2
_LONGEST: Final = 32


class TypeAhead:
    """Gathers letters to a word and finds it among labels."""

    def __init__(self) -> None:
        """Begin with no word."""
        self._word = ""
        self._at = 0.0

    @property
    def active(self) -> bool:
        """Whether the next letter belongs to the word that is being typed."""
        return bool(self._word) and time.monotonic() - self._at < _TYPING_S

    def find(self, letters: str, labels: Sequence[str], current: int) -> int | None:
        """Add letters to the word; return the place of a label that begins with it, else of one that has it.

        A single letter goes on from the current place (-1 for none); a longer word may mean it still.
        """
        self._word = ((self._word if self.active else "") + letters.casefold())[:_LONGEST]
        self._at = time.monotonic()
        start = max(0, current + (1 if len(self._word) == 1 else 0))
        around = [*range(start, len(labels)), *range(min(start, len(labels)))]
        folded = [label.casefold() for label in labels]
        begins = (place for place in around if folded[place].startswith(self._word))
        holds = (place for place in around if self._word in folded[place])
        return next(begins, next(holds, None))
