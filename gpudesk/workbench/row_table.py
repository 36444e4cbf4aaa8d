"""A table of step rows that grows, from which the columns of any cases are taken at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.steps import FIELDS, OneRow, Rows, StepRow, row_values


class RowTable:
    """Keeps rows in the order in which they were added."""

    def __init__(self) -> None:
        """Start empty."""
        self._data = np.empty((len(FIELDS), 64))
        self._count = 0

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._count

    def add(self, row: StepRow) -> int:
        """Add a row and return its position."""
        if self._count == self._data.shape[1]:
            self._data = np.concatenate((self._data, np.empty_like(self._data)), axis=1)
        self._data[:, self._count] = row_values(row)
        self._count += 1
        return self._count - 1

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return the rows at `positions`, one for each case."""
        return Rows(self._data, positions)

    def one(self, position: int) -> OneRow:
        """Return the row at one position, for cases of any shape."""
        return OneRow(self._data, position)
