"""What stands behind an estimate: the deployment that it chose, and what that does under its load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.engine.loads import RoundTimes, ServingConstants, round_times
from gpudesk.engine.serving import Results, serve
from gpudesk.engine.workload_arrays import workload_values
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.case_arrays import CaseArrays, CaseColumns, case_arrays
from gpudesk.workbench.pool_choices import plan_request
from gpudesk.workbench.setups import Placement

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable


@dataclass(frozen=True, slots=True)
class Deployed:
    """An estimate with the plan that it chose; `max_sequences` is what memory admits of its requests."""

    estimate: Estimate
    setup: Setup
    placement: Placement
    candidate: Candidate
    max_sequences: int

    @property
    def capacity(self) -> float:
        """Sequences that one replica runs at once, by its memory and by its serving engine."""
        return self.placement.capacity(tokens_of(self.estimate))


def tokens_of(estimate: Estimate) -> int:
    """Tokens of one whole request, input and output."""
    work = estimate.request.workload
    return work.input_tokens + work.output_tokens


def own_request(estimate: Estimate) -> EstimateRequest:
    """Return the question of an estimate; with pools, that of the pool whose plan it has, alone."""
    request = estimate.request
    return request if request.disaggregated is None else plan_request(request, estimate.plan)


def placement_of(estimate: Estimate, table: SetupTable) -> tuple[Setup, Placement]:
    """Return the setup of an estimate, and its plan with its memory, whether it fits or not.

    With pools, these are those of the pool whose plan the estimate has.
    """
    request = own_request(estimate)
    setup = table.setup(request)
    made = table.placements(request, setup, estimate.plan.count)
    return setup, next(placed for placed in made if placed.plan == estimate.plan)


def deployed(estimate: Estimate, table: SetupTable) -> Deployed:
    """Return the deployment of an estimate that fits."""
    setup, placement = placement_of(estimate, table)
    candidate = table.candidate(own_request(estimate), setup, placement)
    sequences = placement.budget.max_sequences(tokens_of(estimate))
    return Deployed(estimate, setup, placement, candidate, sequences)


def arrays_of(
    deployments: Sequence[Deployed], table: SetupTable, points: Sequence[int] | None = None
) -> CaseArrays:
    """Return a case for each deployment under its own load, or as many in a row as `points` says."""
    lengths = points or [1] * len(deployments)
    columns = (
        [each.candidate.position for each in deployments],
        [each.capacity for each in deployments],
        [float(each.candidate.plan.dp) for each in deployments],
        [float(each.candidate.plan.count) for each in deployments],
    )
    return case_arrays(
        table.rows,
        [workload_values(each.estimate.request.workload) for each in deployments],
        lengths,
        CaseColumns(*(np.repeat(column, lengths) for column in columns)),
    )


@dataclass(frozen=True, slots=True)
class Operation:
    """What deployments do under their own loads, one case for each."""

    arrays: CaseArrays
    results: Results
    rounds: RoundTimes


def operate(deployments: Sequence[Deployed], table: SetupTable, constants: ServingConstants) -> Operation:
    """Serve the load of each deployment once more, and take its round apart."""
    arrays = arrays_of(deployments, table)
    results = serve(arrays.rows, arrays.requests, arrays.loads, constants)
    return Operation(arrays, results, round_of(arrays, results))


def round_of(arrays: CaseArrays, results: Results) -> RoundTimes:
    """Take apart the rounds behind the results."""
    running = results.running.clip(1.0)
    return round_times(arrays.rows, arrays.requests, running, results.waiting)
