"""Answers of a sweep to groups of cells, in two ways that give the same.

Many points of one group are a grid of cells and loads: what depends on the cell alone is worked out once for
all loads. Groups of few points are put into one list of cases, since a call takes its time whatever its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.choosing import rate_scores
from gpudesk.engine.loads import Requests, ServingConstants
from gpudesk.engine.serving import CODES, Loads, Results, serve
from gpudesk.engine.steps import Array
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.cases import SetupTable
from gpudesk.workbench.figures import Band, FigureBands, figure_bands
from gpudesk.workbench.sweep_cells import Group, Mask, Positions

#: Figures of a point, each with value, low and high.
FIGURES: Final = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of some points; arrays of one shape.

    `figures` are value, low and high of each of `FIGURES`, NaN where they are not known. `plan` is the place
    of the plan that won among those of the group.
    """

    figures: tuple[Array, ...]
    admitted: Array
    concurrency: Array
    limiter: Positions
    plan: Positions

    def or_where(self, chosen: Mask, other: Found) -> Found:
        """Return the same with the chosen points of `other`."""
        return Found(
            tuple(np.where(chosen, b, a) for a, b in zip(self.figures, other.figures, strict=True)),
            np.where(chosen, other.admitted, self.admitted),
            np.where(chosen, other.concurrency, self.concurrency),
            np.where(chosen, other.limiter, self.limiter),
            np.where(chosen, other.plan, self.plan),
        )


class GroupAnswers:
    """Answers groups; `plans` counts the full estimates that this took, one for each plan at each point."""

    def __init__(
        self,
        table: SetupTable,
        constants: ServingConstants,
        kind: LoadKind,
        amounts: Sequence[int],
        *,
        varied: bool,
    ) -> None:
        """Take what all groups share: the table of setups, the constants, and the loads."""
        self._table = table
        self._constants = constants
        self._kind = kind
        self._varied = varied
        self.amounts = np.array(amounts, dtype=np.float64)
        self.plans = 0

    def grid(self, group: Group) -> Found:
        """Answer one group as a grid: arrays of shape (cells, loads)."""
        shape = (len(group.at), len(self.amounts))
        arrays = [self._grid_arrays(group, plan) for plan in range(len(group.chosen))]
        results = [serve(each.rows, each.requests, each.loads, self._constants) for each in arrays]
        self.plans += len(arrays) * shape[0] * shape[1]
        plan = _best_of(results, group.fits, shape)
        factors = np.array([group.setup.factors[self._kind]])
        found: Found | None = None
        for place in np.unique(plan).tolist():
            ideal = self._table.one_ideal(group.chosen[place])
            bands = figure_bands(results[place], arrays[place], slice(None), ideal, factors)
            here = _found(results[place], slice(None), bands, plan)
            found = here if found is None else found.or_where(plan == place, here)
        if found is None:
            raise ValueError("a group without cells")
        return found

    def _grid_arrays(self, group: Group, plan: int) -> CaseArrays:
        """Return one plan of a group as arrays of shape (cells, 1) or (1, loads)."""
        chosen, lengths = group.chosen[plan], group.lengths
        one = np.ones((1, 1))
        return CaseArrays(
            index=np.array([chosen.position]),
            rows=self._table.rows.one(chosen.position),
            requests=Requests(
                prompt=lengths.prompt[:, np.newaxis],
                held_prompt=lengths.held[:, np.newaxis],
                output=lengths.output[:, np.newaxis],
                capacity=group.capacity[:, plan, np.newaxis],
                varied=one == float(self._varied),
            ),
            loads=self._loads(self.amounts[np.newaxis, :], one * chosen.plan.dp),
            counts=one * chosen.plan.count,
        )

    def list(self, groups: Sequence[Group]) -> Found:
        """Answer groups of equally many plans in one list: one point after the other."""
        loads, plans = len(self.amounts), len(groups[0].chosen)
        arrays = self._list_arrays(groups)
        results = serve(arrays.rows, arrays.requests, arrays.loads, self._constants)
        self.plans += len(arrays.index)
        fits = np.repeat(np.concatenate([group.fits for group in groups]), loads, axis=0)
        scores = np.where(fits, rate_scores(results).reshape(-1, plans), -np.inf)
        plan = scores.argmax(axis=1)
        chosen = np.arange(len(plan)) * plans + plan
        of_group = np.repeat(np.arange(len(groups)), [len(group.at) * loads for group in groups])
        ideal = self._table.ideal([each for group in groups for each in group.chosen])
        factors = np.array([group.setup.factors[self._kind] for group in groups])[of_group]
        bands = figure_bands(results, arrays, chosen, ideal.select(of_group * plans + plan), factors)
        return _found(results, chosen, bands, plan)

    def _list_arrays(self, groups: Sequence[Group]) -> CaseArrays:
        """Return the cases of groups: for each cell and load all plans."""
        loads, plans = len(self.amounts), len(groups[0].chosen)
        cells = sum(len(group.at) for group in groups)

        def of_cell(values: Sequence[Array]) -> Array:
            return np.repeat(np.concatenate(values), loads * plans)

        def of_plan(values: Sequence[Sequence[float]]) -> Array:
            pairs = zip(values, groups, strict=True)
            return np.concatenate([np.tile(np.array(each), len(group.at) * loads) for each, group in pairs])

        index = of_plan([[each.position for each in group.chosen] for group in groups]).astype(np.intp)
        capacity = np.concatenate([group.capacity for group in groups])
        return CaseArrays(
            index=index,
            rows=self._table.rows.take(index),
            requests=Requests(
                prompt=of_cell([group.lengths.prompt for group in groups]),
                held_prompt=of_cell([group.lengths.held for group in groups]),
                output=of_cell([group.lengths.output for group in groups]),
                capacity=np.repeat(capacity, loads, axis=0).ravel(),
                varied=np.full(len(index), self._varied, dtype=np.bool_),
            ),
            loads=self._loads(
                np.tile(np.repeat(self.amounts, plans), cells),
                of_plan([[float(each.plan.dp) for each in group.chosen] for group in groups]),
            ),
            counts=of_plan([[float(each.plan.count) for each in group.chosen] for group in groups]),
        )

    def _loads(self, amount: Array, replicas: Array) -> Loads:
        """Return loads of these amounts, without limits or end."""
        endless = np.broadcast_to(np.float64(np.inf), replicas.shape)
        return Loads(
            kind=np.full(replicas.shape, CODES[self._kind], dtype=np.int8),
            amount=amount,
            total=endless,
            ttft=endless,
            tpot=endless,
            p99=np.zeros(replicas.shape, dtype=np.bool_),
            replicas=replicas,
        )


def _best_of(results: Sequence[Results], fits: Mask, shape: tuple[int, int]) -> Positions:
    """Return the plan that wins at each point of a grid; `fits` has the shape (cells, plans)."""
    if len(results) == 1:
        return np.zeros(shape, dtype=np.intp)
    held = np.moveaxis(fits, 1, 0)[:, :, np.newaxis]
    scores = [np.broadcast_to(rate_scores(each), shape) for each in results]
    best: Positions = np.where(held, np.stack(scores), -np.inf).argmax(axis=0)
    return best


def _found(results: Results, chosen: Positions | slice, bands: FigureBands, plan: Positions) -> Found:
    """Return what the chosen cases do, in the shape of `plan`."""

    def spread(values: Array) -> Array:
        return np.broadcast_to(values, plan.shape)

    return Found(
        tuple(spread(part) for name in FIGURES for part in _known(getattr(bands, name))),
        np.rint(spread(results.admitted[chosen])),
        np.rint(spread(results.concurrency[chosen])),
        np.broadcast_to(results.limiter[chosen], plan.shape),
        plan,
    )


def _known(figure: Band) -> Band:
    """Return a figure that is known with its whole band, or not at all."""
    value, low, high = figure
    whole = value + low + high
    if np.isfinite(whole.sum()):
        return figure
    known = np.isfinite(whole)
    return np.where(known, value, np.nan), np.where(known, low, np.nan), np.where(known, high, np.nan)
