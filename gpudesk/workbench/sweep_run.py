"""A sweep into a file: answers and writes block after block, says how far it is, and can be stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import IO, Final, Protocol

import numpy as np

from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.sweeps import Sweep
from gpudesk.engine.constants import Calibration
from gpudesk.workbench.estimating import Facts
from gpudesk.workbench.files import replacing
from gpudesk.workbench.sweep_blocks import SweepBlock
from gpudesk.workbench.sweep_csv import CsvWriter
from gpudesk.workbench.sweep_npz import NpzWriter
from gpudesk.workbench.sweeping import SweepEvaluation

CSV_SUFFIX: Final = ".csv"
NPZ_SUFFIX: Final = ".npz"
SUFFIXES: Final = (CSV_SUFFIX, NPZ_SUFFIX)


class _Writer(Protocol):
    """What takes the blocks of a sweep."""

    def write(self, block: SweepBlock) -> None:
        """Take the next block."""

    def finish(self) -> None:
        """Complete the file."""


class SweepRun:
    """One sweep and the file that it goes to.

    `done` counts the points that are written; `evaluation_s` and `writing_s` are what both halves of the
    work have taken. `reasons` counts the points that do not fit, by reason.
    """

    def __init__(self, sweep: Sweep, catalog: Facts, calibration: Calibration, target: Path) -> None:
        """Prepare; raises `InputError` for a suffix that is none of the two forms."""
        check_suffix(target)
        self.sweep = sweep
        self.target = target
        self.done = 0
        self.evaluation_s = 0.0
        self.writing_s = 0.0
        self.reasons: Counter[str] = Counter()
        self._evaluation = SweepEvaluation(sweep, catalog, calibration)

    def steps(self) -> Generator[int]:
        """Do the work; yield after each block how many points are done.

        The file is there after the last one. When the iterator is closed before, or an error comes, the file
        is as it was before.
        """
        with ExitStack() as stack:
            file = stack.enter_context(replacing(self.target))
            writer = self._writer(file, stack)
            blocks = self._evaluation.blocks()
            while (block := self._next(blocks)) is not None:
                began = perf_counter()
                writer.write(block)
                self.writing_s += perf_counter() - began
                self._count(block)
                yield self.done
            began = perf_counter()
            writer.finish()
        self.writing_s += perf_counter() - began

    @property
    def plans(self) -> int:
        """Full estimates so far: one for each plan at each point that fits."""
        return self._evaluation.plans

    def never(self) -> Iterator[tuple[str, str, Message]]:
        """Yield axis and value of what nothing was possible with, and why; both empty for all of it."""
        return self._evaluation.never()

    def _writer(self, file: IO[bytes], stack: ExitStack) -> _Writer:
        words = self._evaluation.words
        if self.target.suffix.lower() == CSV_SUFFIX:
            return CsvWriter(file, self.sweep, words)
        return NpzWriter(file, self.sweep, words, self.target.resolve().parent, stack)

    def _next(self, blocks: Iterator[SweepBlock]) -> SweepBlock | None:
        began = perf_counter()
        block = next(blocks, None)
        self.evaluation_s += perf_counter() - began
        return block

    def _count(self, block: SweepBlock) -> None:
        self.done += block.size
        words = self._evaluation.words.all("reason")
        counts = np.bincount(block.words[0], minlength=len(words)).tolist()
        self.reasons.update({word: n for word, n in zip(words, counts, strict=True) if word and n})


def check_suffix(target: Path) -> None:
    """Refuse a file whose suffix names no form of a sweep."""
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(message("sweep.format", suffix=target.suffix, known=SUFFIXES), str(target))
