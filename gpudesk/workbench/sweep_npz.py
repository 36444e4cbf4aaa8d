"""A sweep as .npz for NumPy: the grid itself, one array a column.

- `axes` names the axes in order; under each of these names lie the values of that axis.
- Every other array has one dimension an axis: `fits`, the figures (NaN where unknown), the counts (0 where it
  does not fit), and columns of words, which hold positions in the list `NAME_words`; the word at 0 is empty.

So, with `grid = numpy.load(file)`, the output rates of the first accelerator and model at the second load are
`grid["output_tokens_per_s"][0, 0, ..., 1]`, and what limits them is `grid["limiter_words"][grid["limiter"]]`
at the same places.
On the axis `tp` 0 stands for a plan that the program chose.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gpudesk.domain.sweeps import Sweep
from gpudesk.workbench.sweep_blocks import (
    COUNT_COLUMNS,
    FIGURE_COLUMNS,
    WORD_COLUMNS,
    SweepBlock,
    Words,
)

_COPIED_BYTES: Final = 1 << 20


class NpzWriter:
    """Collects each column in a file of its own without a name, then packs them into one.

    Memory stays flat so, and nothing is left behind, however it ends.
    """

    def __init__(self, file: IO[bytes], sweep: Sweep, words: Words, folder: Path, stack: ExitStack) -> None:
        """Open the columns in a folder; `stack` closes them."""
        self._file = file
        self._sweep = sweep
        self._words = words
        kinds: dict[str, Any] = {"fits": np.bool_}
        kinds |= dict.fromkeys(FIGURE_COLUMNS, np.float64) | dict.fromkeys(COUNT_COLUMNS, np.int64)
        kinds |= dict.fromkeys(WORD_COLUMNS, np.int16)
        self._columns: dict[str, IO[bytes]] = {}
        for name, kind in kinds.items():
            column = stack.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 - the stack does
            npy.write_array_header_1_0(column, _header(kind, sweep.shape))
            self._columns[name] = column

    def write(self, block: SweepBlock) -> None:
        """Add a block to the columns."""
        self._add("fits", block.fits)
        for names, rows in (
            (FIGURE_COLUMNS, block.figures),
            (COUNT_COLUMNS, block.counts),
            (WORD_COLUMNS, block.words),
        ):
            for name, row in zip(names, rows, strict=True):
                self._add(name, row)

    def finish(self) -> None:
        """Pack axes, words and columns; a column's own file is gone once it is packed."""
        with zipfile.ZipFile(self._file, "w") as packed:
            for name, values in self._small().items():
                with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w") as member:
                    npy.write_array(member, values, allow_pickle=False)
            for name, column in self._columns.items():
                column.seek(0)
                with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    shutil.copyfileobj(column, member, _COPIED_BYTES)
                column.close()

    def _add(self, name: str, values: NDArray[Any]) -> None:
        self._columns[name].write(np.ascontiguousarray(values).data)

    def _small(self) -> dict[str, NDArray[Any]]:
        """Return the axes and the lists of words."""
        axes = zip(self._sweep.names, self._sweep.axes, strict=True)
        found = {"axes": np.array(self._sweep.names)}
        found |= {name: _axis(values) for name, values in axes}
        return found | {f"{name}_words": np.array(self._words.all(name)) for name in WORD_COLUMNS}


def _header(kind: Any, shape: tuple[int, ...]) -> dict[str, Any]:  # noqa: ANN401 - whatever NumPy takes
    return {"descr": npy.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": shape}


def _axis(values: tuple[Any, ...]) -> NDArray[Any]:
    if all(value is None or isinstance(value, int) for value in values):
        return np.array([value or 0 for value in values], dtype=np.int64)
    return np.array([str(value) for value in values])
