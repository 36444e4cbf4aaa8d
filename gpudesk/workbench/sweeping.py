"""Sweeps: goes through a grid in order and yields the answers block by block, in memory that stays flat.

What cannot be (a format without a kernel, heads that do not divide) is a point with a reason, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import InputError, Message
from gpudesk.domain.sweeps import Sweep
from gpudesk.engine.constants import Calibration
from gpudesk.engine.workload_arrays import workload_values
from gpudesk.workbench.cases import SetupTable
from gpudesk.workbench.estimating import Facts, serving_constants
from gpudesk.workbench.sweep_answers import GroupAnswers
from gpudesk.workbench.sweep_blocks import BlockMaker, SweepBlock, Words
from gpudesk.workbench.sweep_cells import Cells, Lengths, cells_of, refused_cells

#: A block is full with this many full estimates, or points, or setups: large enough that calls cost little
#: beside the arithmetic, small enough that its arrays stay near the processor and progress is seen.
_MOST_PLANS: Final = 8192
_MOST_POINTS: Final = 65_536
_MOST_SETUPS: Final = 256
#: Axes that a setup depends on, the first five of a sweep.
SETUP_AXES: Final = 5


class SweepEvaluation:
    """One pass over the grid of a sweep."""

    def __init__(self, sweep: Sweep, catalog: Facts, calibration: Calibration) -> None:
        """Prepare; nothing is worked out before `blocks` is asked."""
        self._sweep = sweep
        # Whether a server stands before the serving engine follows from the kind of load.
        load = sweep.load_of(sweep.amounts[0])
        self._base = replace(sweep.base, workload=replace(sweep.base.workload, load=load))
        self._table = SetupTable(catalog, calibration)
        self._answers = GroupAnswers(
            self._table,
            serving_constants(calibration),
            sweep.load,
            sweep.amounts,
            varied=self._base.workload.uneven,
        )
        self._maker = BlockMaker(self._answers)
        self._possible: set[tuple[int, int]] = set()
        self._refused: dict[tuple[int, int], Message] = {}

    @property
    def words(self) -> Words:
        """The words that the blocks so far use."""
        return self._maker.words

    @property
    def plans(self) -> int:
        """Full estimates so far: one for each plan at each point that fits."""
        return self._answers.plans

    def blocks(self) -> Iterator[SweepBlock]:
        """Yield the answers in the order of the grid; whole cells at a time."""
        _keep_freed_memory()
        waiting: list[Cells] = []
        start = points = plans = setups = 0
        loads = len(self._sweep.amounts)
        for cells, ends in self._cells():
            waiting.append(cells)
            points += len(cells.reasons) * loads
            plans += sum(group.sequences.size for group in cells.groups) * loads
            setups += ends
            pause = ends and (setups >= _MOST_SETUPS or self._table.full)
            if plans >= _MOST_PLANS or points >= _MOST_POINTS or pause:
                yield self._maker.block(start, waiting)
                start += points
                points = plans = setups = 0
                waiting = []
            if ends and not waiting:
                self._table.make_room()
        if waiting:
            yield self._maker.block(start, waiting)

    def never(self) -> Iterator[tuple[str, str, Message]]:
        """Yield the axis values that nothing is possible with, after all blocks, with the first reason.

        Where nothing is possible at all, this is said once and of no axis: both names are empty.
        """
        if self._refused and not self._possible:
            yield "", "", next(iter(self._refused.values()))
            return
        for (axis, place), reason in sorted(self._refused.items(), key=lambda item: item[0]):
            if (axis, place) not in self._possible:
                yield self._sweep.names[axis], str(self._sweep.axes[axis][place]), reason

    def _cells(self) -> Iterator[tuple[Cells, bool]]:
        """Yield the cells of setup after setup, some at a time, and whether they are its last."""
        lengths = self._lengths()
        step = max(1, _MOST_PLANS // len(self._sweep.amounts))
        parts = [lengths.select(slice(first, first + step)) for first in range(0, len(lengths), step)]
        for places in product(*(range(length) for length in self._sweep.shape[:SETUP_AXES])):
            request = self._request(places)
            for part in parts:
                yield self._answer(request, places, part), part is parts[-1]

    def _answer(self, request: EstimateRequest, places: tuple[int, ...], lengths: Lengths) -> Cells:
        """Return the cells of the setup at some places of the first axes."""
        try:
            setup = self._table.setup(request)
            cells = cells_of(self._table, request, setup, lengths)
        except InputError as error:
            for place in enumerate(places):
                self._refused.setdefault(place, error.problem)
            return refused_cells(error.problem, lengths)
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

    def _lengths(self) -> Lengths:
        sweep, work = self._sweep, self._base.workload
        pairs = product(sweep.input_tokens, sweep.output_tokens)
        works = (replace(work, input_tokens=given, output_tokens=asked) for given, asked in pairs)
        values = np.array([workload_values(each)[:3] for each in works])
        return Lengths(*np.ascontiguousarray(values.T))


def _keep_freed_memory() -> None:
    """Let arrays of a block reuse the memory of the block before.

    The C library hands freed memory back to the system and asks for it anew, which takes longer than the
    arithmetic does, until it has once freed a larger piece than it is used to.
    """
    np.empty(3 << 20)
