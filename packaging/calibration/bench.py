"""All benchmark runs as arrays: one engine call predicts them from a vector of constants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.parameters import Array, ParameterVector
from gpudesk.domain.estimate import LoadKind, Workload
from gpudesk.domain.model import Model
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.rates import KeyGroup, compute_coefficients, compute_rates, list_rate_constants, make_constant_keys
from gpudesk.engine.serving import (
    DeploymentLoads,
    ServingResults,
    make_requests_and_loads,
    make_workload_values,
    score_plans,
    serve_loads,
)
from gpudesk.engine.step_work import StepWork, compute_ceilings, compute_step_work
from gpudesk.engine.steps import COEFFICIENT_NAMES, CoefficientColumns, ReplicaRequests, stack_coefficients

#: The compared figures, by their names and units in runs.
BENCH_FIGURES = ("output_tokens_per_s", "tpot_ms", "ttft_ms")


@dataclass(frozen=True, slots=True)
class BenchCandidate:
    """A possible configuration of a run: the deployment, and sequences per replica."""

    deployment: ResolvedDeployment
    capacity: float


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A published run as the fit uses it.

    `figures` are measured values by the names of `FIGURES`; `traits` are used for folds and slices (series, model,
    family, accelerator, vendor, ...); `candidates` is never empty. `has_median_ttft`: its TTFT is a median.
    """

    id: str
    model: Model
    workload: Workload
    figures: Mapping[str, float]
    traits: Mapping[str, str]
    candidates: tuple[BenchCandidate, ...]
    has_median_ttft: bool = False

    @property
    def is_median_steady(self) -> bool:
        """Whether most requests of a closed loop come after its first wave, so that their TTFT is the median."""
        load = self.workload.load
        later = load.kind is LoadKind.CONCURRENCY and (load.requests or math.inf) > 2 * (load.concurrency or 1)
        return self.has_median_ttft and later


@dataclass(frozen=True, slots=True)
class BenchPredictions:
    """Predicted figures of each run, the winning candidate, and the engine's results of the winners."""

    figures: Mapping[str, Array]
    winners: NDArray[np.intp]


class BenchArrays:
    """Runs and their candidates as arrays."""

    def __init__(self, runs: Sequence[BenchRun], parameters: ParameterVector, node_bandwidth: float) -> None:
        self.runs = tuple(runs)
        self.parameters = parameters
        pairs = [(place, run, each) for place, run in enumerate(runs) for each in run.candidates]
        self._owners = np.array([place for place, _, _ in pairs], dtype=np.intp)
        self._starts = np.flatnonzero(np.diff(self._owners, prepend=-1))
        deployments = [each.deployment for _, _, each in pairs]
        ceilings = [compute_ceilings(each.configuration, each.plan, node_bandwidth) for each in deployments]
        keys = [make_constant_keys(each, of_plan) for each, of_plan in zip(deployments, ceilings, strict=True)]
        requests, loads = make_requests_and_loads(
            np.array([make_workload_values(run.workload) for _, run, _ in pairs]),
            np.array([each.capacity for _, _, each in pairs]),
            np.array([float(each.plan.dp) for each in deployments]),
        )
        self._everything = _CandidateArrays(
            work=compute_step_work(deployments, ceilings),
            positions=parameters.positions(list_rate_constants(), keys),
            requests=requests,
            loads=loads,
            steady=np.array([run.is_median_steady for _, run, _ in pairs]),
        )

    def predict(self, values: Array) -> BenchPredictions:
        """Return the figures of all runs with the constants `values`, each by its best candidate."""
        part, constants = self._everything, _serving_constants(values, self.parameters)
        rows = part.rows(values)
        results = part.serve(rows, constants)
        score = score_plans(rows, part.requests, part.loads, results, constants)
        best = np.maximum.reduceat(score, self._starts)
        reaching = np.flatnonzero(score >= best[self._owners])
        winners = reaching[np.searchsorted(self._owners[reaching], np.arange(len(self.runs)))]
        return BenchPredictions(_figures(results, part.requests, winners), winners)

    def fixed(self, winners: NDArray[np.intp]) -> FixedPlanBench:
        """Return the same runs with only the candidates `winners`, which is faster."""
        return FixedPlanBench(self._everything.select(winners), self.parameters)

    def rows_behind(self) -> NDArray[np.intp]:
        """Return how many measured figures depend on each value, by any of their candidates."""
        is_behind = np.zeros((self.parameters.size, len(self.runs)), dtype=np.bool_)
        for column in self._everything.positions.values():
            is_behind[column, self._owners] = True
        rows = np.array([len(run.figures) for run in self.runs], dtype=np.intp)
        behind: NDArray[np.intp] = is_behind @ rows
        for each in fields(SchedulingConstants):
            behind[self.parameters.starts[each.name]] = rows.sum()
        return behind


@dataclass(frozen=True, slots=True)
class FixedPlanBench:
    """Runs with fixed plans."""

    part: _CandidateArrays
    parameters: ParameterVector

    def figures(self, values: Array) -> Mapping[str, Array]:
        """Return the figures of all runs with the constants `values`."""
        results = self.part.serve(self.part.rows(values), _serving_constants(values, self.parameters))
        return _figures(results, self.part.requests, np.arange(len(results.rate)))

    def nudged(self, values: Array, places: Sequence[int], factor: float) -> Mapping[str, Array]:
        """Return the figures of all runs with each value of `places` changed separately, of shape (places, runs)."""
        figures = {name: np.tile(figure, (len(places), 1)) for name, figure in self.figures(values).items()}
        scheduling = {self.parameters.starts[each.name] for each in fields(SchedulingConstants)}
        columns, concerned = [], []
        for column, place in enumerate(places):
            if place in scheduling:
                changed = values.copy()
                changed[place] *= factor
                for name, figure in self.figures(changed).items():
                    figures[name][column] = figure
            else:
                looking_up = self.part.looking_up(place)
                columns.append(np.full(len(looking_up), column))
                concerned.append(looking_up)
        all_columns, all_runs = np.concatenate(columns), np.concatenate(concerned)
        # Thousands of changed runs at once: one place at a time would mostly spend time on small arrays.
        for start in range(0, len(all_runs), _BATCH):
            batch = slice(start, start + _BATCH)
            part = self.part.select(all_runs[batch])
            rows = part.rows(values, np.asarray(places)[all_columns[batch]], factor)
            results = part.serve(rows, _serving_constants(values, self.parameters))
            for name, figure in _figures(results, part.requests, np.arange(len(rows))).items():
                figures[name][all_columns[batch], all_runs[batch]] = figure
        return figures


#: Runs computed together: more do not fit in the CPU caches.
_BATCH: Final = 8192


@dataclass(frozen=True, slots=True)
class _CandidateArrays:
    """Candidates as arrays; `steady` are those whose TTFT is that of a steady state without bursts."""

    work: StepWork
    positions: Mapping[tuple[str, KeyGroup], NDArray[np.intp]]
    requests: ReplicaRequests
    loads: DeploymentLoads
    steady: NDArray[np.bool_]

    def select(self, mask: NDArray[np.intp]) -> _CandidateArrays:
        return _CandidateArrays(
            StepWork(*(getattr(self.work, each.name)[mask] for each in fields(StepWork))),
            {key: column[mask] for key, column in self.positions.items()},
            self.requests.select(mask),
            self.loads.select(mask),
            self.steady[mask],
        )

    def looking_up(self, place: int) -> NDArray[np.intp]:
        """Return the candidates that depend on the value at `place`."""
        return np.flatnonzero(np.logical_or.reduce([column == place for column in self.positions.values()]))

    def rows(self, values: Array, place: NDArray[np.intp] | None = None, factor: float = 1.0) -> CoefficientColumns:
        """Return step coefficients with the constants `values`, each candidate's value at `place` multiplied."""

        def constant(name: str, slot: KeyGroup = KeyGroup.ALL) -> Array:
            positions = self.positions[name, slot]
            return values[positions] if place is None else values[positions] * np.where(positions == place, factor, 1.0)

        row = compute_coefficients(self.work, compute_rates(constant, self.work))  # type: ignore[arg-type]
        return CoefficientColumns(stack_coefficients(row, len(self.requests.prompt)))

    def serve(self, rows: CoefficientColumns, constants: SchedulingConstants) -> ServingResults:
        with np.errstate(all="ignore"):
            results = serve_loads(rows, self.requests, self.loads, constants)
            if self.steady.any():
                places = np.flatnonzero(self.steady)
                loads = replace(self.loads.select(places), total=np.full(len(places), np.inf))
                calm = _remove_bursts(rows.select(places))
                results.ttft[places] = serve_loads(calm, self.requests.select(places), loads, constants).ttft
        return results


def _remove_bursts(rows: CoefficientColumns) -> CoefficientColumns:
    """Return the coefficients of a steady closed loop in which no request meets a burst."""
    columns = (np.zeros(len(rows)) if name.startswith("burst_") else getattr(rows, name) for name in COEFFICIENT_NAMES)
    return CoefficientColumns(np.array(list(columns)))


def _serving_constants(values: Array, parameters: ParameterVector) -> SchedulingConstants:
    return SchedulingConstants(
        **{each.name: values[parameters.starts[each.name]] for each in fields(SchedulingConstants)}
    )


def _figures(results: ServingResults, requests: ReplicaRequests, winners: NDArray[np.intp]) -> dict[str, Array]:
    return {
        "output_tokens_per_s": results.rate[winners] * requests.output[winners],
        "tpot_ms": results.tpot[winners] * 1e3,
        "ttft_ms": results.ttft[winners] * 1e3,
    }
