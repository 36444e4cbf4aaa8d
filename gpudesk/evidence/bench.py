"""All benchmark runs as arrays: one call of the engine predicts all of them from a vector of constants.

A run whose plan is not stated has one candidate for each plan that fits; one is taken by the rule that holds
for any question. The engine that answers questions is the engine that is fitted: `step_row`, `rates`, `serve`
and `plan_scores` are called as they are, with arrays instead of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.models import Model
from gpudesk.domain.workloads import Workload
from gpudesk.engine.choosing import plan_scores
from gpudesk.engine.loads import Requests, ServingConstants
from gpudesk.engine.memory import MemoryBudget
from gpudesk.engine.operating import step_row
from gpudesk.engine.rates import Slot, constant_keys, constants_of_rates, rates
from gpudesk.engine.serving import Loads, Results, serve
from gpudesk.engine.steps import FIELDS, Rows
from gpudesk.engine.work import Situation, Work, offer, work
from gpudesk.engine.workload_arrays import requests_and_loads, workload_values
from gpudesk.evidence.parameters import Array, Parameters

#: The figures that are compared, as a run names them, and in the unit in which it does.
FIGURES = ("output_tokens_per_s", "tpot_ms", "ttft_ms")


@dataclass(frozen=True, slots=True)
class BenchCandidate:
    """One way of running a run: the deployment with its memory, and sequences that a replica admits."""

    situation: Situation
    budget: MemoryBudget
    capacity: float


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A published run as the fit sees it.

    `figures` are measured values by the names of `FIGURES`; `traits` what it can be left out or sliced by
    (series, model, family, accelerator, vendor, ...); `candidates` never empty.
    """

    id: str
    model: Model
    workload: Workload
    figures: Mapping[str, float]
    traits: Mapping[str, str]
    candidates: tuple[BenchCandidate, ...]


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted figures of each run, the candidate that won, and the engine's results of the winners."""

    figures: Mapping[str, Array]
    winners: NDArray[np.intp]


class Bench:
    """Runs and their candidates as arrays."""

    def __init__(self, runs: Sequence[BenchRun], parameters: Parameters, node_bandwidth: float) -> None:
        """Lay out the runs."""
        self.runs = tuple(runs)
        self.parameters = parameters
        pairs = [(place, run, each) for place, run in enumerate(runs) for each in run.candidates]
        self._owners = np.array([place for place, _, _ in pairs], dtype=np.intp)
        self._starts = np.flatnonzero(np.diff(self._owners, prepend=-1))
        counted, keys = [], []
        for _, run, each in pairs:
            offered = offer(each.situation, run.model, node_bandwidth)
            counted.append(work(each.situation, run.model, each.budget.shards, each.budget.cache, offered))
            keys.append(constant_keys(each.situation, run.model, offered))
        requests, loads = requests_and_loads(
            np.array([workload_values(run.workload) for _, run, _ in pairs]),
            np.array([each.capacity for _, _, each in pairs]),
            np.array([float(each.situation.plan.dp) for _, _, each in pairs]),
        )
        self._everything = _Part(
            work=_stacked(counted),
            positions=parameters.positions(constants_of_rates(), keys),
            requests=requests,
            loads=loads,
        )

    def predict(self, values: Array) -> Predictions:
        """Return the figures of all runs with the constants `values`, each by its best candidate."""
        part, constants = self._everything, _serving_constants(values, self.parameters)
        rows = part.rows(values)
        results = part.serve(rows, constants)
        score = plan_scores(rows, part.requests, part.loads, results, constants)
        best = np.maximum.reduceat(score, self._starts)
        reaching = np.flatnonzero(score >= best[self._owners])
        winners = reaching[np.searchsorted(self._owners[reaching], np.arange(len(self.runs)))]
        return Predictions(_figures(results, part.requests, winners), winners)

    def fixed(self, winners: NDArray[np.intp]) -> FixedPlans:
        """Return the same runs with the candidates `winners` only, which is quicker."""
        return FixedPlans(self._everything.select(winners), self.parameters)

    def rows_behind(self) -> NDArray[np.intp]:
        """Return how many measured figures look up each value, by any of their candidates."""
        seen = np.zeros((self.parameters.size, len(self.runs)), dtype=np.bool_)
        for column in self._everything.positions.values():
            seen[column, self._owners] = True
        rows = np.array([len(run.figures) for run in self.runs], dtype=np.intp)
        behind: NDArray[np.intp] = seen @ rows
        for each in fields(ServingConstants):
            behind[self.parameters.starts[each.name]] = rows.sum()
        return behind


@dataclass(frozen=True, slots=True)
class FixedPlans:
    """Runs whose plans are settled."""

    part: _Part
    parameters: Parameters

    def figures(self, values: Array) -> Mapping[str, Array]:
        """Return the figures of all runs with the constants `values`."""
        results = self.part.serve(self.part.rows(values), _serving_constants(values, self.parameters))
        return _figures(results, self.part.requests, np.arange(len(results.rate)))

    def changed(self, figures: Mapping[str, Array], values: Array, place: int) -> Mapping[str, Array]:
        """Return `figures` with those worked out again that the value at `place` has a part in."""
        concerned = self.part.looking_up(place)
        if concerned is None:
            return self.figures(values)
        again = FixedPlans(self.part.select(concerned), self.parameters).figures(values)
        changed = {name: figure.copy() for name, figure in figures.items()}
        for name, figure in again.items():
            changed[name][concerned] = figure
        return changed


@dataclass(frozen=True, slots=True)
class _Part:
    """Candidates as arrays."""

    work: Work
    positions: Mapping[tuple[str, Slot], NDArray[np.intp]]
    requests: Requests
    loads: Loads

    def select(self, chosen: NDArray[np.intp]) -> _Part:
        return _Part(
            Work(*(getattr(self.work, each.name)[chosen] for each in fields(Work))),
            {key: column[chosen] for key, column in self.positions.items()},
            self.requests.select(chosen),
            self.loads.select(chosen),
        )

    def looking_up(self, place: int) -> NDArray[np.intp] | None:
        """Return the candidates that look up the value at `place`; None where all may depend on it."""
        columns = [column == place for column in self.positions.values()]
        concerned = np.flatnonzero(np.logical_or.reduce(columns))
        return concerned if len(concerned) else None

    def rows(self, values: Array) -> Rows:
        def constant(name: str, slot: Slot = Slot.ALL) -> Array:
            return values[self.positions[name, slot]]

        row = step_row(self.work, rates(constant, self.work))  # type: ignore[arg-type]
        length = len(self.requests.prompt)
        return Rows(np.array([np.broadcast_to(getattr(row, name), length) for name in FIELDS]))

    def serve(self, rows: Rows, constants: ServingConstants) -> Results:
        with np.errstate(all="ignore"):
            return serve(rows, self.requests, self.loads, constants)


def _serving_constants(values: Array, parameters: Parameters) -> ServingConstants:
    """Return the constants of serving dynamics, which are the same for all runs."""
    return ServingConstants(
        **{each.name: values[parameters.starts[each.name]] for each in fields(ServingConstants)}
    )


def _stacked(counted: Sequence[Work]) -> Work:
    return Work(*(np.array([getattr(each, name.name) for each in counted]) for name in fields(Work)))  # type: ignore[arg-type]


def _figures(results: Results, requests: Requests, winners: NDArray[np.intp]) -> dict[str, Array]:
    return {
        "output_tokens_per_s": results.rate[winners] * requests.output[winners],
        "tpot_ms": results.tpot[winners] * 1e3,
        "ttft_ms": results.ttft[winners] * 1e3,
    }
