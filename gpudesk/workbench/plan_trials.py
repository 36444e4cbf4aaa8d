"""What each plan that fits does under the load of an estimate, all of them in one vectorised call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import CODES, serve
from gpudesk.engine.steps import Array
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.cases import plan_scores
from gpudesk.workbench.deployed import Deployed, Operation, operate, tokens_of
from gpudesk.workbench.figures import figure_rows
from gpudesk.workbench.results import Figures
from gpudesk.workbench.setups import Placement

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable


@dataclass(frozen=True, slots=True)
class Trial:
    """One plan under the load.

    `score` is what the search ranks plans by. `rate` is in output tokens/s, 0 where the plan does not meet
    the limits of the load; `lifted` is what it would be if the plan ran as many sequences at once as the plan
    taken. `spent` divides the seconds that the deployment takes for one request by the first four of
    `LIMITERS`. `alone` is TTFT and TPOT of a single request in flight, in seconds, as a limit of the load
    counts them. `idle` replicas have no request.
    """

    plan: ParallelPlan
    figures: Figures
    score: float
    rate: float
    lifted: float
    spent: tuple[float, ...]
    alone: tuple[float, float]
    idle: int

    @property
    def admitted(self) -> int:
        """Sequences that run at once in the whole deployment."""
        return self.figures.admitted or 0


def plan_trials(
    estimate: Estimate,
    setup: Setup,
    fitting: Sequence[Placement],
    table: SetupTable,
    constants: ServingConstants,
) -> tuple[Trial, ...]:
    """Return what each of the plans does, in their order; that of the estimate must be among them."""
    tokens = tokens_of(estimate)
    tried = [
        Deployed(
            estimate,
            setup,
            placed,
            table.candidate(estimate.request, setup, placed),
            placed.budget.max_sequences(tokens),
        )
        for placed in fitting
    ]
    done = operate(tried, table, constants)
    figures = _figures(tried, done, table)
    scores = plan_scores(done.results)
    admitted = np.maximum(np.nan_to_num(done.results.admitted, nan=1.0), 1.0)
    spent = np.array([part / admitted for part in done.rounds.parts]).T
    taken = next(place for place, placed in enumerate(fitting) if placed.plan == estimate.plan)
    output = done.arrays.requests.output
    lifted = np.nan_to_num(_lifted(done, float(admitted[taken]), constants) * output)
    ttft, tpot = _alone(done, constants)
    idle = _idle(estimate, done.arrays)
    return tuple(
        Trial(
            plan=placed.plan,
            figures=found,
            score=float(scores[place]),
            rate=0.0 if found.output_tokens_per_s is None else found.output_tokens_per_s.value,
            lifted=float(lifted[place]),
            spent=tuple(spent[place].tolist()),
            alone=(float(ttft[place]), float(tpot[place])),
            idle=int(idle[place]),
        )
        for place, (placed, found) in enumerate(zip(fitting, figures, strict=True))
    )


def _figures(tried: list[Deployed], done: Operation, table: SetupTable) -> list[Figures]:
    every = np.arange(len(tried))
    ideal = table.ideal([each.candidate for each in tried])
    factors = np.array([each.setup.factors for each in tried])
    return list(figure_rows(done.results, done.arrays, every, ideal, factors))


def _lifted(done: Operation, most: float, constants: ServingConstants) -> Array:
    """Requests/s if memory and serving engine admitted `most` sequences to every deployment."""
    arrays = done.arrays
    capacity = np.maximum(arrays.requests.capacity, np.ceil(most / arrays.loads.replicas))
    if np.array_equal(capacity, arrays.requests.capacity):
        return done.results.rate
    requests = replace(arrays.requests, capacity=capacity)
    return serve(arrays.rows, requests, arrays.loads, constants).rate


def _alone(done: Operation, constants: ServingConstants) -> tuple[Array, Array]:
    """Seconds of TTFT and TPOT of one request in flight as limits count them; infinite if none is missed."""
    arrays = done.arrays
    anything = np.full_like(arrays.loads.ttft, np.inf)
    limited = arrays.loads.kind == CODES[LoadKind.LIMITS]
    if not bool(np.any(limited & np.isnan(done.results.rate))):
        return anything, anything
    loads = replace(arrays.loads, ttft=anything, tpot=anything, p99=np.zeros_like(arrays.loads.p99))
    requests = replace(arrays.requests, capacity=np.ones_like(anything))
    found = serve(arrays.rows, requests, loads, constants)
    margin = np.where(arrays.loads.p99, constants.p99_margin, 1.0)
    return found.ttft / margin, found.tpot / margin


def _idle(estimate: Estimate, arrays: CaseArrays) -> Array:
    """Replicas for which the load has no request."""
    load = estimate.request.workload.load
    asked = {
        LoadKind.BATCH: load.batch,
        LoadKind.CONCURRENCY: load.concurrency,
        LoadKind.SATURATE: load.requests,
    }.get(load.kind)
    replicas = arrays.loads.replicas
    return np.zeros_like(replicas) if asked is None else np.maximum(replicas - asked, 0.0)
