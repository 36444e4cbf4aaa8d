"""Blocks of a sweep: the answers to neighbouring cells of its grid, worked out in a few vectorised calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Limiter
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.loads import Requests, ServingConstants
from gpudesk.engine.serving import CODES, Loads, Results, serve
from gpudesk.engine.steps import LIMITERS, Array
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.cases import SetupTable, plan_scores
from gpudesk.workbench.figures import Band, figure_bands
from gpudesk.workbench.sweep_cells import Cells, Counts, Group, Mask, Positions

#: Figures of a point, each with value, low and high.
FIGURES: Final = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")
#: Names of all columns of figures, in the order of the rows of `SweepBlock.figures`.
FIGURE_COLUMNS: Final = tuple(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high"))
#: Whole numbers of a point: sequences that memory holds, those that run, and accelerators.
COUNT_COLUMNS: Final = ("max_concurrency", "admitted", "count")
#: Words of a point, each a position in its list of `Words`; the word at 0 is empty: there is none.
WORD_COLUMNS: Final = ("reason", "plan", "serving_engine", "limiter", "basis")

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
class _Answers:
    """The arrays of a block while it is filled, of shape (columns, cells, loads)."""

    figures: Array
    counts: Counts
    words: NDArray[np.int16]

    @classmethod
    def of(cls, cells: int, loads: int) -> _Answers:
        """Return arrays in which nothing is known."""
        return cls(
            np.full((len(FIGURE_COLUMNS), cells, loads), np.nan),
            np.zeros((len(COUNT_COLUMNS), cells, loads), dtype=np.int64),
            np.zeros((len(WORD_COLUMNS), cells, loads), dtype=np.int16),
        )

    def block(self, start: int) -> SweepBlock:
        """Return them point after point."""
        points = self.figures[0].size
        return SweepBlock(
            start,
            self.figures.reshape(-1, points),
            self.counts.reshape(-1, points),
            self.words.reshape(-1, points),
        )


class BlockMaker:
    """Works blocks out; `plans` counts the full estimates that this took, one for each plan at each point."""

    def __init__(
        self,
        table: SetupTable,
        constants: ServingConstants,
        kind: LoadKind,
        amounts: Sequence[int],
        *,
        varied: bool,
    ) -> None:
        """Take what all cells share: the table of setups, the constants, and the loads."""
        self._table = table
        self._constants = constants
        self._kind = kind
        self._amounts = np.array(amounts, dtype=np.float64)
        self._varied = varied
        self.words = Words()
        self.plans = 0

    def block(self, start: int, cells: Sequence[Cells]) -> SweepBlock:
        """Return the answers to cells, the first point of which is at `start`."""
        reasons = [self.words.code("reason", reason) for each in cells for reason in each.reasons]
        answers = _Answers.of(len(reasons), len(self._amounts))
        answers.words[0] = np.array(reasons, dtype=np.int16)[:, np.newaxis]
        first = 0
        alike: dict[int, list[tuple[int, Group]]] = {}
        for each in cells:
            for group in each.groups:
                alike.setdefault(len(group.chosen), []).append((first, group))
            first += len(each.reasons)
        for found in alike.values():
            at = np.concatenate([begin + group.at for begin, group in found])
            self._answer([group for _, group in found], at, answers)
        return answers.block(start)

    def _answer(self, groups: Sequence[Group], at: Positions, answers: _Answers) -> None:
        """Put down the answers to groups of equally many plans, whose cells stand at `at` in the block."""
        loads, plans = len(self._amounts), len(groups[0].chosen)
        arrays = self._arrays(groups)
        results = serve(arrays.rows, arrays.requests, arrays.loads, self._constants)
        self.plans += len(arrays.index)
        chosen, plan = _best(results, groups, loads)
        of_group = np.repeat(np.arange(len(groups)), [len(group.at) * loads for group in groups])
        ideal = self._table.ideal([each for group in groups for each in group.chosen])
        factors = np.array([group.setup.factors for group in groups]).T[:, of_group].T
        bands = figure_bands(results, arrays, chosen, ideal.select(of_group * plans + plan), factors)
        shape = (len(at), loads)
        parts = [part for name in FIGURES for part in _known(getattr(bands, name))]
        for row, part in enumerate(parts):
            answers.figures[row, at] = part.reshape(shape)
        admitted, concurrency = np.rint(results.admitted[chosen]), np.rint(results.concurrency[chosen])
        sequences = np.concatenate([group.sequences for group in groups])
        cell = np.repeat(np.arange(len(at)), loads)
        answers.counts[0, at] = sequences[cell, plan].reshape(shape)
        answers.counts[1, at] = admitted.reshape(shape)
        answers.counts[2, at] = arrays.counts[chosen].reshape(shape)
        limiter = np.where(admitted < concurrency, _CAPACITY, results.limiter[chosen]) + 1
        for row, codes in enumerate(self._words_of(groups, of_group, plan, limiter), start=1):
            answers.words[row, at] = codes.reshape(shape)

    def _arrays(self, groups: Sequence[Group]) -> CaseArrays:
        """Return the cases of groups: for each cell and load all plans."""
        loads, plans = len(self._amounts), len(groups[0].chosen)
        cells = sum(len(group.at) for group in groups)
        cases = cells * loads * plans

        def of_cell(values: Sequence[Array]) -> Array:
            return np.repeat(np.concatenate(values), loads * plans)

        def of_plan(values: Sequence[Sequence[float]]) -> Array:
            spread = [
                np.tile(each, len(group.at) * loads) for each, group in zip(values, groups, strict=True)
            ]
            return np.concatenate(spread)

        def everywhere(value: float) -> Array:
            return np.broadcast_to(np.float64(value), (cases,))

        capacity = np.concatenate([group.capacity for group in groups])
        index = of_plan([[each.position for each in group.chosen] for group in groups]).astype(np.intp)
        return CaseArrays(
            index=index,
            rows=self._table.rows.take(index),
            requests=Requests(
                prompt=of_cell([group.lengths.prompt for group in groups]),
                held_prompt=of_cell([group.lengths.held for group in groups]),
                output=of_cell([group.lengths.output for group in groups]),
                capacity=np.repeat(capacity, loads, axis=0).ravel(),
                varied=np.full(cases, self._varied, dtype=np.bool_),
            ),
            loads=Loads(
                kind=np.full(cases, CODES[self._kind], dtype=np.int8),
                amount=np.tile(np.repeat(self._amounts, plans), cells),
                total=everywhere(np.inf),
                ttft=everywhere(np.inf),
                tpot=everywhere(np.inf),
                p99=np.zeros(cases, dtype=np.bool_),
                replicas=of_plan([[float(each.plan.dp) for each in group.chosen] for group in groups]),
            ),
            counts=of_plan([[float(each.plan.count) for each in group.chosen] for group in groups]),
        )

    def _words_of(
        self, groups: Sequence[Group], of_group: Positions, plan: Positions, limiter: Positions
    ) -> tuple[NDArray[np.int16 | np.intp], ...]:
        """Return the codes of plan, serving engine, limiter and basis at each point."""
        code = self.words.code
        plans = np.array([[code("plan", plan_words(each.plan)) for each in g.chosen] for g in groups])
        engines = np.array([code("serving_engine", group.setup.frame.engine.id) for group in groups])
        bases = np.array([code("basis", group.setup.basis.value) for group in groups])
        return plans[of_group, plan], engines[of_group], limiter, bases[of_group]


def _best(results: Results, groups: Sequence[Group], loads: int) -> tuple[Positions | slice, Positions]:
    """Return the case that wins at each point, and which of the plans that is; the first among equals."""
    plans = len(groups[0].chosen)
    points = len(results.rate) // plans
    if plans == 1:
        return slice(None), np.zeros(points, dtype=np.intp)
    fits = np.repeat(np.concatenate([group.fits for group in groups]), loads, axis=0)
    scores = np.where(fits, plan_scores(results).reshape(points, plans), -np.inf)
    plan = scores.argmax(axis=1)
    return np.arange(points) * plans + plan, plan


def _known(figure: Band) -> Band:
    """Return a figure that is known with its whole band, or not at all."""
    value, low, high = figure
    whole = value + low + high
    if np.isfinite(whole.sum()):
        return figure
    known = np.isfinite(whole)
    return np.where(known, value, np.nan), np.where(known, low, np.nan), np.where(known, high, np.nan)
