"""What each plan that fits does under the load of an estimate, all of them in one vectorised call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.choosing import least_limits, plan_scores
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import CODES, Results, serve
from gpudesk.engine.steps import Array
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.deployed import Deployed, Operation, operate, round_of, tokens_of
from gpudesk.workbench.figures import figure_rows
from gpudesk.workbench.results import Figures
from gpudesk.workbench.setups import Placement

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable

#: What the first four of `LIMITERS` are called in a reason.
_PARTS: Final = ("part.reads", "part.arithmetic", "part.collectives", "part.overhead")


@dataclass(frozen=True, slots=True)
class Trial:
    """One plan under the load.

    `score` is what the search ranks plans by. `rate` is in output tokens/s, 0 where the plan does not meet
    the limits of the load; `lifted` is what it would be if the plan ran as many sequences at once as the plan
    taken. `spent` divides the seconds that the deployment takes for one request by the first four of
    `LIMITERS`; `level` does so with as many sequences in flight as the plan taken has, whatever the limits
    of the load. `alone` is TTFT and TPOT of a single request in flight, in seconds, as limits count them.
    `idle` replicas have no request.
    """

    plan: ParallelPlan
    figures: Figures
    score: float
    rate: float
    lifted: float
    spent: tuple[float, ...]
    level: tuple[float, ...]
    alone: tuple[float, float]
    idle: int

    @property
    def admitted(self) -> int:
        """Sequences that run at once in the whole deployment."""
        return self.figures.admitted or 0


@dataclass(frozen=True, slots=True)
class Growth:
    """The part of the time that grew most: its shares of the time of both plans, and by what factor."""

    part: str
    now: float
    before: float
    times: float

    @property
    def is_share(self) -> bool:
        """Whether its share rose too, which says more than the factor."""
        return round(100 * self.now) > round(100 * self.before)


def growth(mine: tuple[float, ...], theirs: tuple[float, ...]) -> Growth | None:
    """Return what grew most; None where nothing did that one could see."""
    place = max(range(len(mine)), key=lambda place: mine[place] - theirs[place])
    if mine[place] <= theirs[place]:
        return None
    times = mine[place] / theirs[place] if theirs[place] > 0.0 else math.inf
    found = Growth(_PARTS[place], mine[place] / sum(mine), theirs[place] / sum(theirs), times)
    return found if found.is_share or times < math.inf else None


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
    scores = plan_scores(done.arrays.rows, done.arrays.requests, done.arrays.loads, done.results, constants)
    admitted = _in_flight(done.results)
    spent = _spent(done)
    taken = next(place for place, placed in enumerate(fitting) if placed.plan == estimate.plan)
    output = done.arrays.requests.output
    lifted = np.nan_to_num(_lifted(done, float(admitted[taken]), constants) * output)
    level = _level(done, float(admitted[taken]), constants)
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
            level=tuple(level[place].tolist()),
            alone=(float(ttft[place]), float(tpot[place])),
            idle=int(idle[place]),
        )
        for place, (placed, found) in enumerate(zip(fitting, figures, strict=True))
    )


def _figures(tried: list[Deployed], done: Operation, table: SetupTable) -> list[Figures]:
    every = np.arange(len(tried))
    ideal = table.ideal([each.candidate for each in tried])
    factors = np.array([each.setup.factors[each.estimate.request.workload.load.kind] for each in tried])
    return list(figure_rows(done.results, done.arrays, every, ideal, factors))


def _in_flight(results: Results) -> Array:
    """Sequences that run at once in the whole deployment, one at least."""
    return np.maximum(np.nan_to_num(results.admitted, nan=1.0), 1.0)


def _spent(done: Operation) -> Array:
    """Seconds of the deployment for one request by what they go to; one row for each case."""
    admitted = _in_flight(done.results)
    return np.array([part / admitted for part in done.rounds.parts]).T


def _lifted(done: Operation, most: float, constants: ServingConstants) -> Array:
    """Requests/s if memory and serving engine admitted `most` sequences to every deployment."""
    arrays = done.arrays
    capacity = np.maximum(arrays.requests.capacity, np.ceil(most / arrays.loads.replicas))
    if np.array_equal(capacity, arrays.requests.capacity):
        return done.results.rate
    requests = replace(arrays.requests, capacity=capacity)
    return serve(arrays.rows, requests, arrays.loads, constants).rate


def _limited(arrays: CaseArrays) -> bool:
    """Whether the load is one of latency limits, as it is for all plans of an estimate or for none."""
    return bool(arrays.loads.kind[0] == CODES[LoadKind.LIMITS])


def _at(arrays: CaseArrays, each: Array, constants: ServingConstants) -> Operation:
    """Return what replicas with `each` sequences in flight do, where limits decided how many there are."""
    anything = np.full_like(each, np.inf)
    loads = replace(arrays.loads, ttft=anything, tpot=anything, p99=np.zeros_like(arrays.loads.p99))
    changed = replace(arrays, requests=replace(arrays.requests, capacity=each), loads=loads)
    results = serve(changed.rows, changed.requests, changed.loads, constants)
    return Operation(changed, results, round_of(changed, results))


def _level(done: Operation, most: float, constants: ServingConstants) -> Array:
    """What `_spent` has, with `most` sequences in flight where limits decided how many there are."""
    if not _limited(done.arrays):
        return _spent(done)
    each = np.ceil(most / done.arrays.loads.replicas)
    return _spent(_at(done.arrays, each, constants))


def _alone(done: Operation, constants: ServingConstants) -> tuple[Array, Array]:
    """Seconds of TTFT and TPOT of one request in flight as limits count them; infinite if none is missed."""
    arrays = done.arrays
    if not _limited(arrays) or not np.any(np.isnan(done.results.rate)):
        return np.full_like(arrays.counts, np.inf), np.full_like(arrays.counts, np.inf)
    return least_limits(arrays.rows, arrays.requests, arrays.loads, constants)


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
