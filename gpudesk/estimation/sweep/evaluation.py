"""Sweeps: go through a grid in order and yield the answers block by block, in constant memory.

Impossible points (a format without a kernel, heads that do not divide) have a reason, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.domain.estimate import EstimateRequest, Limiter, LoadKind, ParallelPlan
from gpudesk.domain.registry import list_curve_figures
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.serving import (
    LOAD_CODES,
    DeploymentLoads,
    ServingResults,
    make_workload_values,
    score_by_rate,
    serve_loads,
    tune_allocator,
)
from gpudesk.engine.steps import LIMITERS, Array, ReplicaRequests
from gpudesk.estimation.estimator import get_serving_constants
from gpudesk.estimation.evaluation import CaseArrays, FigureIntervals, IntervalArrays, compute_figure_intervals
from gpudesk.estimation.search_space import MOST_KEPT_PLANS, SearchSpaceTable
from gpudesk.estimation.sweep.grid import (
    CountArray,
    LengthPairs,
    MaskArray,
    PositionArray,
    Sweep,
    SweepCells,
    SweepGroup,
    make_refused_cells,
    make_sweep_cells,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message


@frozen_dataclass
class SweepFigures:
    """Results of some points; arrays of one shape.

    `figures` are value, low and high of each of `list_curve_figures`, NaN if unknown. `plan` is the index of the
    winning plan in the group.
    """

    figures: tuple[Array, ...]
    admitted: Array
    concurrency: Array
    limiter: PositionArray
    plan: PositionArray

    def replace_where(self, chosen: MaskArray, other: SweepFigures) -> SweepFigures:
        """Return a copy with the selected points of `other`."""
        return SweepFigures(
            tuple(np.where(chosen, b, a) for a, b in zip(self.figures, other.figures, strict=True)),
            np.where(chosen, other.admitted, self.admitted),
            np.where(chosen, other.concurrency, self.concurrency),
            np.where(chosen, other.limiter, self.limiter),
            np.where(chosen, other.plan, self.plan),
        )


class SweepGroupEvaluator:
    """Answers groups; `plans` counts the full estimates, one per plan at each point."""

    def __init__(self, constants: SchedulingConstants, kind: LoadKind, amounts: Sequence[int], *, varied: bool) -> None:
        """Take the common data of all groups: the constants and the loads."""
        self._constants = constants
        self._kind = kind
        self._varied = varied
        self.amounts = np.array(amounts, dtype=np.float64)
        self.plans = 0

    def grid(self, group: SweepGroup) -> SweepFigures:
        """Answer one group as a grid: arrays of shape (cells, loads)."""
        shape = (len(group.at), len(self.amounts))
        arrays = [self._make_grid_arrays(group, plan) for plan in range(len(group.deployments))]
        results = [serve_loads(each.rows, each.requests, each.loads, self._constants) for each in arrays]
        self.plans += len(arrays) * shape[0] * shape[1]
        plan = _choose_best(results, group.fits, shape)
        factors = np.array([group.space.interval_factors[self._kind]])
        figures: SweepFigures | None = None
        for place in np.unique(plan).tolist():
            ideal = group.space.coefficients.take_one_ideal(group.deployments[place])
            bands = compute_figure_intervals(results[place], arrays[place], slice(None), ideal, factors)
            here = _collect_figures(results[place], slice(None), bands, plan)
            figures = here if figures is None else figures.replace_where(plan == place, here)
        if figures is None:
            raise ValueError("a group without cells")
        return figures

    def _make_grid_arrays(self, group: SweepGroup, plan: int) -> CaseArrays:
        """Return one plan of a group as arrays of shape (cells, 1) or (1, loads)."""
        deployment, lengths = group.deployments[plan], group.lengths
        one = np.ones((1, 1))
        return CaseArrays(
            index=np.array([deployment.position]),
            rows=group.space.coefficients.take_one(deployment.position),
            requests=ReplicaRequests(
                prompt=lengths.prompt[:, np.newaxis],
                held_prompt=lengths.context_tokens[:, np.newaxis],
                output=lengths.output[:, np.newaxis],
                capacity=group.capacity[:, plan, np.newaxis],
                varied=one == float(self._varied),
            ),
            loads=self._make_loads(self.amounts[np.newaxis, :], one * deployment.plan.dp),
            counts=one * deployment.plan.count,
        )

    def list(self, groups: Sequence[SweepGroup]) -> SweepFigures:
        """Answer groups with the same number of plans in one list: one point after the other."""
        loads, plans = len(self.amounts), len(groups[0].deployments)
        arrays = self._list_arrays(groups)
        results = serve_loads(arrays.rows, arrays.requests, arrays.loads, self._constants)
        self.plans += len(arrays.index)
        fits = np.repeat(np.concatenate([group.fits for group in groups]), loads, axis=0)
        scores = np.where(fits, score_by_rate(results).reshape(-1, plans), -np.inf)
        plan = scores.argmax(axis=1)
        chosen = np.arange(len(plan)) * plans + plan
        of_group = np.repeat(np.arange(len(groups)), [len(group.at) * loads for group in groups])
        ideal = groups[0].space.coefficients.take_ideal([each for group in groups for each in group.deployments])
        factors = np.array([group.space.interval_factors[self._kind] for group in groups])[of_group]
        bands = compute_figure_intervals(results, arrays, chosen, ideal.select(of_group * plans + plan), factors)
        return _collect_figures(results, chosen, bands, plan)

    def _list_arrays(self, groups: Sequence[SweepGroup]) -> CaseArrays:
        """Return the cases of groups: for each cell and load all plans."""
        loads, plans = len(self.amounts), len(groups[0].deployments)
        cells = sum(len(group.at) for group in groups)

        def of_cell(values: Sequence[Array]) -> Array:
            return np.repeat(np.concatenate(values), loads * plans)

        def of_plan(values: Sequence[Sequence[float]]) -> Array:
            pairs = zip(values, groups, strict=True)
            return np.concatenate([np.tile(np.array(each), len(group.at) * loads) for each, group in pairs])

        index = of_plan([[each.position for each in group.deployments] for group in groups]).astype(np.intp)
        capacity = np.concatenate([group.capacity for group in groups])
        return CaseArrays(
            index=index,
            rows=groups[0].space.coefficients.take(index),
            requests=ReplicaRequests(
                prompt=of_cell([group.lengths.prompt for group in groups]),
                held_prompt=of_cell([group.lengths.context_tokens for group in groups]),
                output=of_cell([group.lengths.output for group in groups]),
                capacity=np.repeat(capacity, loads, axis=0).ravel(),
                varied=np.full(len(index), self._varied, dtype=np.bool_),
            ),
            loads=self._make_loads(
                np.tile(np.repeat(self.amounts, plans), cells),
                of_plan([[float(each.plan.dp) for each in group.deployments] for group in groups]),
            ),
            counts=of_plan([[float(each.plan.count) for each in group.deployments] for group in groups]),
        )

    def _make_loads(self, amount: Array, replicas: Array) -> DeploymentLoads:
        endless = np.broadcast_to(np.float64(np.inf), replicas.shape)
        return DeploymentLoads(
            kind=np.full(replicas.shape, LOAD_CODES[self._kind], dtype=np.int8),
            amount=amount,
            total=endless,
            ttft=endless,
            tpot=endless,
            p99=np.zeros(replicas.shape, dtype=np.bool_),
            replicas=replicas,
        )


def _choose_best(results: Sequence[ServingResults], fits: MaskArray, shape: tuple[int, int]) -> PositionArray:
    """Return the winning plan at each point of a grid; `fits` has the shape (cells, plans)."""
    if len(results) == 1:
        return np.zeros(shape, dtype=np.intp)
    fitting = np.moveaxis(fits, 1, 0)[:, :, np.newaxis]
    scores = [np.broadcast_to(score_by_rate(each), shape) for each in results]
    best: PositionArray = np.where(fitting, np.stack(scores), -np.inf).argmax(axis=0)
    return best


def _collect_figures(
    results: ServingResults, chosen: PositionArray | slice, bands: FigureIntervals, plan: PositionArray
) -> SweepFigures:
    """Return the results of the selected cases, in the shape of `plan`."""

    def spread(values: Array) -> Array:
        return np.broadcast_to(values, plan.shape)

    return SweepFigures(
        tuple(spread(part) for name in list_curve_figures() for part in _mark_known(getattr(bands, name))),
        np.rint(spread(results.admitted[chosen])),
        np.rint(spread(results.concurrency[chosen])),
        np.broadcast_to(results.limiter[chosen], plan.shape),
        plan,
    )


def _mark_known(figure: IntervalArrays) -> IntervalArrays:
    value, low, high = figure
    whole = value + low + high
    if np.isfinite(whole.sum()):
        return figure
    is_known = np.isfinite(whole)
    return np.where(is_known, value, np.nan), np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)


#: Whole numbers of a point: sequences in memory, running sequences, and accelerators.
COUNT_COLUMNS: Final = ("max_concurrency", "admitted", "count")
#: Words of a point, each an index into its list of `SweepWordLists`; index 0 is the empty word.
WORD_COLUMNS: Final = ("reason", "plan", "serving_engine", "limiter", "basis")

#: Groups of at least this many points get their own calls.
_MANY: Final = 1024

_LIMITER_WORDS: Final = ("", *(limiter.value for limiter in LIMITERS))
_CAPACITY: Final = LIMITERS.index(Limiter.CAPACITY)


def list_figure_columns() -> tuple[str, ...]:
    """Return the names of all columns of figures, in the order of the rows of `SweepBlock.figures`."""
    return tuple(f"{name}{end}" for name in list_curve_figures() for end in ("", "_low", "_high"))


@frozen_dataclass
class SweepBlock:
    """Answers to the points from `start` on, in the order of the grid.

    `figures` has a row for each of `list_figure_columns`, NaN if unknown; `counts` one for each of `COUNT_COLUMNS`;
    `words` one for each of `WORD_COLUMNS`. A point without a reason fits.
    """

    start: int
    figures: Array
    counts: CountArray
    words: NDArray[np.int16]

    @property
    def size(self) -> int:
        return int(self.figures.shape[1])

    @property
    def fits(self) -> MaskArray:
        mask: MaskArray = self.words[0] == 0
        return mask


class SweepWordLists:
    """Lists of the words in the columns of a sweep, in order of appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in WORD_COLUMNS}
        for word in _LIMITER_WORDS:
            self.code("limiter", word)

    def code(self, column: str, word: str) -> int:
        """Return the index of a word in the list of a column, adding it if new."""
        codes = self._codes[column]
        return codes.setdefault(word, len(codes))

    def all(self, column: str) -> tuple[str, ...]:
        return tuple(self._codes[column])


def format_sweep_plan(plan: ParallelPlan) -> str:
    """Return a plan as `tp8 ep8 attention-dp`; degrees of 1 are left out, except TP."""
    degrees = [f"tp{plan.tp}"]
    degrees += [f"{name}{getattr(plan, name)}" for name in ("pp", "ep", "dp") if getattr(plan, name) > 1]
    return " ".join([*degrees, "attention-dp"] if plan.attention_dp else degrees)


class SweepBlockBuilder:
    """Makes blocks of cells."""

    def __init__(self, answers: SweepGroupEvaluator) -> None:
        self._answers = answers
        self.words = SweepWordLists()

    def block(self, start: int, cells: Sequence[SweepCells]) -> SweepBlock:
        """Return the answers to cells, the first point of which is at `start`."""
        loads = len(self._answers.amounts)
        reasons = [self.words.code("reason", reason) for each in cells for reason in each.reasons]
        block = SweepBlock(
            start,
            np.full((len(list_figure_columns()), len(reasons), loads), np.nan),
            np.zeros((len(COUNT_COLUMNS), len(reasons), loads), dtype=np.int64),
            np.zeros((len(WORD_COLUMNS), len(reasons), loads), dtype=np.int16),
        )
        block.words[0] = np.array(reasons, dtype=np.int16)[:, np.newaxis]
        few: dict[int, list[tuple[SweepGroup, PositionArray]]] = {}
        first = 0
        for each in cells:
            for group in each.groups:
                if len(group.at) * loads >= _MANY:
                    self._store_figures(block, [group], first + group.at, self._answers.grid(group))
                else:
                    few.setdefault(len(group.deployments), []).append((group, first + group.at))
            first += len(each.reasons)
        for alike in few.values():
            groups = [group for group, _ in alike]
            self._store_figures(block, groups, np.concatenate([at for _, at in alike]), self._answers.list(groups))
        points = len(reasons) * loads
        return SweepBlock(
            start, block.figures.reshape(-1, points), block.counts.reshape(-1, points), block.words.reshape(-1, points)
        )

    def _store_figures(
        self, block: SweepBlock, groups: Sequence[SweepGroup], at: PositionArray, figures: SweepFigures
    ) -> None:
        """Store the results of groups, whose cells are at `at` in a block by cells and loads."""
        shape = (len(at), len(self._answers.amounts))
        code = self.words.code
        for row, figure in enumerate(figures.figures):
            block.figures[row, at] = figure.reshape(shape)
        plan = figures.plan.reshape(shape)
        of_group = np.repeat(np.arange(len(groups)), [len(group.at) for group in groups])[:, np.newaxis]
        counts = np.array([[each.plan.count for each in group.deployments] for group in groups])
        plans = np.array([[code("plan", format_sweep_plan(each.plan)) for each in g.deployments] for g in groups])
        engines = np.array([code("serving_engine", group.space.configuration.engine.id) for group in groups])
        bases = np.array([code("basis", group.space.basis.value) for group in groups])
        sequences = np.concatenate([group.sequences for group in groups])
        limiter = np.where(figures.admitted < figures.concurrency, _CAPACITY, figures.limiter) + 1
        block.counts[0, at] = np.take_along_axis(sequences, plan, axis=1)
        block.counts[1, at] = figures.admitted.reshape(shape)
        block.counts[2, at] = counts[of_group, plan]
        block.words[1, at] = plans[of_group, plan]
        block.words[2, at] = engines[of_group]
        block.words[3, at] = limiter.reshape(shape)
        block.words[4, at] = bases[of_group]


#: A block is full with this many full estimates, or points, or spaces: large enough that call overhead is small, small
#: enough that its arrays stay in the CPU cache and progress is visible.
_MOST_PLANS: Final = 8192
_MOST_BLOCK_POINTS: Final = 65_536
_MOST_SETUPS: Final = 256
#: Axes that a space depends on, the first five of a sweep.
SETUP_AXES: Final = 5


class SweepEvaluation:
    """One pass over the grid of a sweep."""

    def __init__(self, sweep: Sweep, catalog: Catalog, calibration: Calibration) -> None:
        self._sweep = sweep
        # The kind of load decides whether an HTTP server is included.
        load = sweep.load_of(sweep.amounts[0])
        self._base = replace(sweep.base, workload=replace(sweep.base.workload, load=load))
        self._make_table = partial(SearchSpaceTable, catalog, calibration)
        self._table = self._make_table()
        self._answers = SweepGroupEvaluator(
            get_serving_constants(calibration), sweep.load, sweep.amounts, varied=self._base.workload.uneven
        )
        self._maker = SweepBlockBuilder(self._answers)
        self._possible: set[tuple[int, int]] = set()
        self._refused: dict[tuple[int, int], Message] = {}

    @property
    def words(self) -> SweepWordLists:
        return self._maker.words

    @property
    def plans(self) -> int:
        """Full estimates so far: one for each plan at each point that fits."""
        return self._answers.plans

    def blocks(self) -> Iterator[SweepBlock]:
        """Yield the answers in the order of the grid; whole cells at a time."""
        tune_allocator()
        waiting: list[SweepCells] = []
        start = points = plans = spaces = 0
        loads = len(self._sweep.amounts)
        for cells, ends in self._evaluate_cells():
            waiting.append(cells)
            points += len(cells.reasons) * loads
            plans += sum(group.sequences.size for group in cells.groups) * loads
            spaces += ends
            pause = ends and (spaces >= _MOST_SETUPS or self._table.plan_count >= MOST_KEPT_PLANS)
            if plans >= _MOST_PLANS or points >= _MOST_BLOCK_POINTS or pause:
                yield self._maker.block(start, waiting)
                start += points
                points = plans = spaces = 0
                waiting = []
            if ends and not waiting and self._table.plan_count >= MOST_KEPT_PLANS:
                self._table = self._make_table()
        if waiting:
            yield self._maker.block(start, waiting)

    def never(self) -> Iterator[tuple[str, str, Message]]:
        """Yield, after all blocks, the axis values without any possible point, with the first reason.

        If nothing is possible at all, this is reported once without an axis: both names are empty.
        """
        if self._refused and not self._possible:
            yield "", "", next(iter(self._refused.values()))
            return
        for (axis, place), reason in sorted(self._refused.items(), key=lambda item: item[0]):
            if (axis, place) not in self._possible:
                yield self._sweep.names[axis], str(self._sweep.axes[axis][place]), reason

    def _evaluate_cells(self) -> Iterator[tuple[SweepCells, bool]]:
        """Yield the cells of one space after the other, in batches, and whether they are its last."""
        lengths = self._list_lengths()
        step = max(1, _MOST_PLANS // len(self._sweep.amounts))
        parts = [lengths.select(slice(first, first + step)) for first in range(0, len(lengths), step)]
        for places in product(*(range(length) for length in self._sweep.shape[:SETUP_AXES])):
            request = self._request(places)
            for part in parts:
                yield self._answer(request, places, part), part is parts[-1]

    def _answer(self, request: EstimateRequest, places: tuple[int, ...], lengths: LengthPairs) -> SweepCells:
        try:
            space = self._table.find_space(request)
            cells = make_sweep_cells(request, space, lengths)
        except InputError as error:
            for place in enumerate(places):
                self._refused.setdefault(place, error.problem)
            return make_refused_cells(error.problem, lengths)
        self._possible.update(enumerate(places))
        return cells

    def _request(self, places: tuple[int, ...]) -> EstimateRequest:
        sweep, base = self._sweep, self._base
        tp = sweep.tp[places[4]]
        return replace(
            base,
            accelerator=sweep.accelerators[places[0]],
            model=sweep.models[places[1]],
            weights=sweep.weights[places[2]],
            kv=sweep.kv[places[3]],
            tp=tp,
            count=None if tp is None else tp * (base.pp or 1) * (base.dp or 1),
        )

    def _list_lengths(self) -> LengthPairs:
        sweep, work = self._sweep, self._base.workload
        pairs = product(sweep.input_tokens, sweep.output_tokens)
        works = (
            replace(work, input_tokens=input_tokens, output_tokens=output_tokens)
            for input_tokens, output_tokens in pairs
        )
        values = np.array([make_workload_values(each)[:3] for each in works])
        return LengthPairs(*np.ascontiguousarray(values.T))
