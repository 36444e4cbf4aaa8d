"""Blocks of a sweep: the answers to neighbouring cells of its grid, worked out in a few vectorised calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Limiter
from gpudesk.engine.steps import LIMITERS, Array
from gpudesk.workbench.sweep_answers import FIGURES, Found, GroupAnswers
from gpudesk.workbench.sweep_cells import Cells, Counts, Group, Mask, Positions

#: Names of all columns of figures, in the order of the rows of `SweepBlock.figures`.
FIGURE_COLUMNS: Final = tuple(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high"))
#: Whole numbers of a point: sequences that memory holds, those that run, and accelerators.
COUNT_COLUMNS: Final = ("max_concurrency", "admitted", "count")
#: Words of a point, each a position in its list of `Words`; the word at 0 is empty: there is none.
WORD_COLUMNS: Final = ("reason", "plan", "serving_engine", "limiter", "basis")

#: From so many points on a group is worth calls of its own.
_MANY: Final = 1024

_LIMITER_WORDS: Final = ("", *(limiter.value for limiter in LIMITERS))
_CAPACITY: Final = LIMITERS.index(Limiter.CAPACITY)


@dataclass(frozen=True, slots=True)
class SweepBlock:
    """Answers to the points from `start` on, in the order of the grid.

    `figures` has a row for each of `FIGURE_COLUMNS`, NaN where it is unknown; `counts` one for each of
    `COUNT_COLUMNS`; `words` one for each of `WORD_COLUMNS`. A point without a reason fits.
    """

    start: int
    figures: Array
    counts: Counts
    words: NDArray[np.int16]

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.figures.shape[1])

    @property
    def fits(self) -> Mask:
        """Which points fit."""
        found: Mask = self.words[0] == 0
        return found


class Words:
    """Lists of the words that the columns of a sweep use, in the order in which they came up."""

    def __init__(self) -> None:
        """Start with the empty word in each list."""
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in WORD_COLUMNS}
        for word in _LIMITER_WORDS:
            self.code("limiter", word)

    def code(self, column: str, word: str) -> int:
        """Return the position of a word in the list of a column, to which it is added where it is new."""
        codes = self._codes[column]
        return codes.setdefault(word, len(codes))

    def all(self, column: str) -> tuple[str, ...]:
        """Return the list of a column."""
        return tuple(self._codes[column])


def plan_words(plan: ParallelPlan) -> str:
    """Return a plan as `tp8 ep8 attention-dp`; degrees of 1 are left out, but for TP."""
    degrees = [f"tp{plan.tp}"]
    degrees += [f"{name}{getattr(plan, name)}" for name in ("pp", "ep", "dp") if getattr(plan, name) > 1]
    return " ".join([*degrees, "attention-dp"] if plan.attention_dp else degrees)


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of a block while it is filled, of shape (columns, cells, loads)."""

    figures: Array
    counts: Counts
    words: NDArray[np.int16]

    @classmethod
    def of(cls, cells: int, loads: int) -> _Arrays:
        """Return arrays in which nothing is known."""
        return cls(
            np.full((len(FIGURE_COLUMNS), cells, loads), np.nan),
            np.zeros((len(COUNT_COLUMNS), cells, loads), dtype=np.int64),
            np.zeros((len(WORD_COLUMNS), cells, loads), dtype=np.int16),
        )

    def finished(self, start: int) -> SweepBlock:
        """Return them point after point."""
        points = self.figures[0].size
        return SweepBlock(
            start,
            self.figures.reshape(-1, points),
            self.counts.reshape(-1, points),
            self.words.reshape(-1, points),
        )


class BlockMaker:
    """Makes blocks of cells."""

    def __init__(self, answers: GroupAnswers) -> None:
        """Take what answers the cells."""
        self._answers = answers
        self.words = Words()

    def block(self, start: int, cells: Sequence[Cells]) -> SweepBlock:
        """Return the answers to cells, the first point of which is at `start`."""
        loads = len(self._answers.amounts)
        reasons = [self.words.code("reason", reason) for each in cells for reason in each.reasons]
        block = _Arrays.of(len(reasons), loads)
        block.words[0] = np.array(reasons, dtype=np.int16)[:, np.newaxis]
        few: dict[int, list[tuple[Group, Positions]]] = {}
        first = 0
        for each in cells:
            for group in each.groups:
                if len(group.at) * loads >= _MANY:
                    self._put(block, [group], first + group.at, self._answers.grid(group))
                else:
                    few.setdefault(len(group.chosen), []).append((group, first + group.at))
            first += len(each.reasons)
        for alike in few.values():
            groups = [group for group, _ in alike]
            self._put(block, groups, np.concatenate([at for _, at in alike]), self._answers.list(groups))
        return block.finished(start)

    def _put(self, block: _Arrays, groups: Sequence[Group], at: Positions, found: Found) -> None:
        """Put down what was found of groups, whose cells stand at `at` in the block."""
        shape = (len(at), len(self._answers.amounts))
        code = self.words.code
        for row, figure in enumerate(found.figures):
            block.figures[row, at] = figure.reshape(shape)
        plan = found.plan.reshape(shape)
        of_group = np.repeat(np.arange(len(groups)), [len(group.at) for group in groups])[:, np.newaxis]
        counts = np.array([[each.plan.count for each in group.chosen] for group in groups])
        plans = np.array([[code("plan", plan_words(each.plan)) for each in g.chosen] for g in groups])
        engines = np.array([code("serving_engine", group.setup.frame.engine.id) for group in groups])
        bases = np.array([code("basis", group.setup.basis.value) for group in groups])
        sequences = np.concatenate([group.sequences for group in groups])
        limiter = np.where(found.admitted < found.concurrency, _CAPACITY, found.limiter) + 1
        block.counts[0, at] = np.take_along_axis(sequences, plan, axis=1)
        block.counts[1, at] = found.admitted.reshape(shape)
        block.counts[2, at] = counts[of_group, plan]
        block.words[1, at] = plans[of_group, plan]
        block.words[2, at] = engines[of_group]
        block.words[3, at] = limiter.reshape(shape)
        block.words[4, at] = bases[of_group]
