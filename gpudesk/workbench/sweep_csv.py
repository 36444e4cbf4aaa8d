"""A sweep as CSV: one row a point, in the order of the grid.

Figures have the digits of the formatter: three that count, no decimals from 100 on; a point, no separators.
What is not known is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import IO, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from gpudesk.domain.sweeps import Sweep
from gpudesk.engine.steps import Array
from gpudesk.workbench.sweep_blocks import (
    COUNT_COLUMNS,
    FIGURE_COLUMNS,
    WORD_COLUMNS,
    SweepBlock,
    Words,
)

#: How an axis value reads that leaves the choice to the program.
CHOSEN: Final = "auto"
_MOST_DECIMALS: Final = 10


class CsvWriter:
    """Writes blocks as they come."""

    def __init__(self, file: IO[bytes], sweep: Sweep, words: Words) -> None:
        """Write the head line."""
        self._file = file
        self._words = words
        self._loads = [f"{amount},".encode() for amount in sweep.amounts]
        self._cells = product(*([_text(value) for value in axis] for axis in sweep.axes[:-1]))
        columns = [*sweep.names, "fits", "reason", *FIGURE_COLUMNS, *COUNT_COLUMNS, *WORD_COLUMNS[1:]]
        file.write(",".join(columns).encode() + b"\n")

    def write(self, block: SweepBlock) -> None:
        """Write the rows of a block, which is whole cells."""
        cells = islice(self._cells, block.size // len(self._loads))
        heads = [",".join(cell).encode() + b"," for cell in cells]
        axes = [head + load for head in heads for load in self._loads]
        reasons = [f"{'false' if word else 'true'},{word},".encode() for word in self._words.all("reason")]
        fits = _looked_up(reasons, block.words[0])
        numbers = _numbers(block)
        words = self._tails(block.words[1:])
        lines = zip(axes, fits, numbers, words, strict=True)
        self._file.write(b"".join([a + f + n + w for a, f, n, w in lines]))

    def finish(self) -> None:
        """There is nothing more to write."""

    def _tails(self, codes: NDArray[np.int16]) -> Iterable[bytes]:
        """Return the columns of words of each point; few of the combinations there could be ever come."""
        lists = [self._words.all(name) for name in WORD_COLUMNS[1:]]
        mixed = np.ravel_multi_index(tuple(codes.astype(np.intp)), [len(each) for each in lists])
        present, places = np.unique(mixed, return_inverse=True)
        parts = np.unravel_index(present, [len(each) for each in lists])
        texts = [
            "".join(f",{words[code]}" for words, code in zip(lists, each, strict=True)).encode() + b"\n"
            for each in zip(*(part.tolist() for part in parts), strict=True)
        ]
        return _looked_up(texts, places)


def _text(value: object) -> str:
    return CHOSEN if value is None else str(value)


def _looked_up(texts: Sequence[bytes], places: NDArray[np.integer]) -> Iterable[bytes]:
    return map(texts.__getitem__, places.tolist())


def _numbers(block: SweepBlock) -> list[bytes]:
    """Return figures and counts of each point, between commas."""
    rows = np.empty((block.size, len(FIGURE_COLUMNS) + len(COUNT_COLUMNS)))
    rows[:, : len(FIGURE_COLUMNS)] = rounded(block.figures).T
    rows[:, len(FIGURE_COLUMNS) :] = np.where(block.fits, block.counts, np.nan).T
    written = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    # JSON has null where CSV has nothing, and 8.0 for 8.
    plain = written[2:-2].replace(b"null", b"").replace(b".0,", b",").replace(b".0]", b"]")
    lines = plain.split(b"],[")
    lines[-1] = lines[-1].removesuffix(b".0")
    return lines


def rounded(figures: Array) -> Array:
    """Return estimates with the digits that the formatter shows of them; NaN stays."""
    known = np.where(figures > 0, figures, 1.0)
    decimals = np.clip(2.0 - np.floor(np.log10(known)), 0.0, _MOST_DECIMALS)
    scale = 10.0**decimals
    found: Array = np.rint(figures * scale) / scale
    return found
