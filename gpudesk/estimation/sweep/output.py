"""A sweep to a file, as CSV or .npz: written block by block, with progress, and cancelable.

CSV has one row per point with the digits of the formatter. In .npz, `axes` names the axes in order, each with an array
of its values; every other array has one dimension per axis.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, product
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Final, Protocol

import numpy as np
import orjson
from numpy.lib import format as npy
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.sweep.evaluation import (
    COUNT_COLUMNS,
    WORD_COLUMNS,
    SweepBlock,
    SweepEvaluation,
    SweepWordLists,
    list_figure_columns,
)
from gpudesk.estimation.sweep.grid import Sweep
from gpudesk.files import open_replacement
from gpudesk.text.messages import Message, input_error

#: The text of an axis value that leaves the choice to the program.
CHOSEN_BY_PROGRAM: Final = "auto"


class SweepCsvWriter:
    """Writes blocks as they arrive."""

    def __init__(self, file: IO[bytes], sweep: Sweep, words: SweepWordLists) -> None:
        self._file = file
        self._words = words
        self._loads = [f"{amount},".encode() for amount in sweep.amounts]
        self._cells = product(*([_format_text(value) for value in axis] for axis in sweep.axes[:-1]))
        columns = [*sweep.names, "fits", "reason", *list_figure_columns(), *COUNT_COLUMNS, *WORD_COLUMNS[1:]]
        file.write(",".join(columns).encode() + b"\n")

    def write(self, block: SweepBlock) -> None:
        """Write the rows of a block of whole cells."""
        cells = islice(self._cells, block.size // len(self._loads))
        heads = [",".join(cell).encode() + b"," for cell in cells]
        axes = [head + load for head in heads for load in self._loads]
        reasons = [f"{'false' if word else 'true'},{word},".encode() for word in self._words.all("reason")]
        fits = _look_up_words(reasons, block.words[0])
        numbers = _format_numbers(block)
        words = self._format_tails(block.words[1:])
        lines = zip(axes, fits, numbers, words, strict=True)
        self._file.write(b"".join([a + f + n + w for a, f, n, w in lines]))

    def finish(self) -> None:
        """Nothing is left to write."""

    def _format_tails(self, codes: NDArray[np.int16]) -> Iterable[bytes]:
        """Return the word columns of each point; few of the possible combinations occur."""
        lists = [self._words.all(name) for name in WORD_COLUMNS[1:]]
        mixed = np.ravel_multi_index(tuple(codes.astype(np.intp)), [len(each) for each in lists])
        present, places = np.unique(mixed, return_inverse=True)
        parts = np.unravel_index(present, [len(each) for each in lists])
        texts = [
            "".join(f",{words[code]}" for words, code in zip(lists, each, strict=True)).encode() + b"\n"
            for each in zip(*(part.tolist() for part in parts), strict=True)
        ]
        return _look_up_words(texts, places)


def _format_text(value: object) -> str:
    return CHOSEN_BY_PROGRAM if value is None else str(value)


def _look_up_words(texts: Sequence[bytes], places: NDArray[np.integer]) -> Iterable[bytes]:
    return map(texts.__getitem__, places.tolist())


def _format_numbers(block: SweepBlock) -> list[bytes]:
    rows = np.empty((block.size, len(block.figures) + len(COUNT_COLUMNS)))
    rows[:, : len(block.figures)] = block.figures.T
    rows[:, len(block.figures) :] = np.where(block.fits, block.counts, np.nan).T
    json_bytes = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    # JSON uses null instead of an empty cell, and 8.0 for 8.
    plain = json_bytes[2:-2].replace(b"null", b"").replace(b".0,", b",").replace(b".0]", b"]")
    lines = plain.split(b"],[")
    lines[-1] = lines[-1].removesuffix(b".0")
    return lines


_COPIED_BYTES: Final = 1 << 20


class SweepNpzWriter:
    """Collects each column in an unnamed temporary file, then packs them into one.

    Memory stays constant, and no file is left behind, however it ends.
    """

    def __init__(self, file: IO[bytes], sweep: Sweep, words: SweepWordLists, folder: Path, stack: ExitStack) -> None:
        self._file = file
        self._sweep = sweep
        self._words = words
        kinds: dict[str, Any] = {"fits": np.bool_}
        kinds |= dict.fromkeys(list_figure_columns(), np.float64) | dict.fromkeys(COUNT_COLUMNS, np.int64)
        kinds |= dict.fromkeys(WORD_COLUMNS, np.int16)
        self._columns: dict[str, IO[bytes]] = {}
        for name, kind in kinds.items():
            column = stack.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 - closed by the stack
            npy.write_array_header_1_0(column, _make_array_header(kind, sweep.shape))
            self._columns[name] = column

    def write(self, block: SweepBlock) -> None:
        self._add("fits", block.fits)
        for names, rows in (
            (list_figure_columns(), block.figures),
            (COUNT_COLUMNS, block.counts),
            (WORD_COLUMNS, block.words),
        ):
            for name, row in zip(names, rows, strict=True):
                self._add(name, row)

    def finish(self) -> None:
        """Pack axes, words and columns; each column's temporary file is removed once packed."""
        with zipfile.ZipFile(self._file, "w") as packed:
            for name, values in self._collect_small_arrays().items():
                with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w") as member:
                    npy.write_array(member, values, allow_pickle=False)
            for name, column in self._columns.items():
                column.seek(0)
                with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    shutil.copyfileobj(column, member, _COPIED_BYTES)
                column.close()

    def _add(self, name: str, values: NDArray[Any]) -> None:
        self._columns[name].write(np.ascontiguousarray(values).data)

    def _collect_small_arrays(self) -> dict[str, NDArray[Any]]:
        axes = zip(self._sweep.names, self._sweep.axes, strict=True)
        arrays = {"axes": np.array(self._sweep.names)}
        arrays |= {name: _make_axis_array(values) for name, values in axes}
        return arrays | {f"{name}_words": np.array(self._words.all(name)) for name in WORD_COLUMNS}


def _make_array_header(kind: Any, shape: tuple[int, ...]) -> dict[str, Any]:  # noqa: ANN401 - as NumPy takes it
    return {"descr": npy.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": shape}


def _make_axis_array(values: tuple[Any, ...]) -> NDArray[Any]:
    if all(value is None or isinstance(value, int) for value in values):
        return np.array([value or 0 for value in values], dtype=np.int64)
    return np.array([str(value) for value in values])


CSV_SUFFIX: Final = ".csv"
NPZ_SUFFIX: Final = ".npz"
SUFFIXES: Final = (CSV_SUFFIX, NPZ_SUFFIX)


class _SweepWriter(Protocol):
    """Receives the blocks of a sweep."""

    def write(self, block: SweepBlock) -> None: ...

    def finish(self) -> None: ...


class SweepRun:
    """One sweep and its output file.

    `evaluated_points` counts the points written; `evaluation_s` and `writing_s` are the times of both halves of the
    work. `reasons` counts the points that do not fit, by reason.
    """

    def __init__(self, sweep: Sweep, catalog: Catalog, calibration: Calibration, target: Path) -> None:
        """Prepare; raises `InputError` for an unknown suffix."""
        check_suffix(target)
        self.sweep = sweep
        self.target = target
        self.evaluated_points = 0
        self.evaluation_s = 0.0
        self.writing_s = 0.0
        self.reasons: Counter[str] = Counter()
        self._evaluation = SweepEvaluation(sweep, catalog, calibration)

    def steps(self) -> Generator[int]:
        """Do the work; yield after each block how many points are done.

        The file exists after the last one. If the iterator is closed earlier, or an error occurs, the file is
        unchanged.
        """
        with ExitStack() as stack:
            file = stack.enter_context(open_replacement(self.target))
            writer = self._make_writer(file, stack)
            blocks = self._evaluation.blocks()
            while (block := self._take_next(blocks)) is not None:
                began = perf_counter()
                writer.write(block)
                self.writing_s += perf_counter() - began
                self._count(block)
                yield self.evaluated_points
            began = perf_counter()
            writer.finish()
        self.writing_s += perf_counter() - began

    @property
    def plans(self) -> int:
        """Full estimates so far: one for each plan at each point that fits."""
        return self._evaluation.plans

    def never(self) -> Iterator[tuple[str, str, Message]]:
        """Yield axis and value without any possible point, and the reason; both empty for the whole sweep."""
        return self._evaluation.never()

    def _make_writer(self, file: IO[bytes], stack: ExitStack) -> _SweepWriter:
        words = self._evaluation.words
        if self.target.suffix.lower() == CSV_SUFFIX:
            return SweepCsvWriter(file, self.sweep, words)
        return SweepNpzWriter(file, self.sweep, words, self.target.resolve().parent, stack)

    def _take_next(self, blocks: Iterator[SweepBlock]) -> SweepBlock | None:
        began = perf_counter()
        block = next(blocks, None)
        self.evaluation_s += perf_counter() - began
        return block

    def _count(self, block: SweepBlock) -> None:
        self.evaluated_points += block.size
        words = self._evaluation.words.all("reason")
        counts = np.bincount(block.words[0], minlength=len(words)).tolist()
        self.reasons.update({word: n for word, n in zip(words, counts, strict=True) if word and n})


def check_suffix(target: Path) -> None:
    if target.suffix.lower() not in SUFFIXES:
        raise input_error(
            "sweep.format",
            "{suffix} is not a sweep format; use {known}",
            str(target),
            suffix=target.suffix,
            known=SUFFIXES,
        )
