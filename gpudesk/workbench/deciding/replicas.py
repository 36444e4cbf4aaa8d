"""What one replica of a part answers of each kind of requests, one kind alone or several together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpudesk.domain.demand import Demand
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded, EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.routing import RequestClass, RequestKind
from gpudesk.domain.scenarios import Scenario
from gpudesk.economics.routing import busy_replicas, whole_replicas
from gpudesk.workbench.deciding.request_mix import demand_for

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica of so many accelerators, and the requests/s of each kind that it answers alone."""

    plan: ParallelPlan
    rates: Mapping[RequestKind, Banded]


class ReplicaFinder:
    """Finds replicas of a scenario's columns.

    With a demand a replica is what is found for that: the highest rate within its limits. Else it is the
    column's deployment under the load of the scenario, as it is estimated elsewhere.
    """

    def __init__(self, scenario: Scenario, demand: Demand | None, cap: float, workbench: Workbench) -> None:
        """Take the scenario; replicas are loaded up to a share `cap` of their rates."""
        self._scenario, self._demand, self._cap, self._workbench = scenario, demand, cap, workbench

    def alone(self, position: int, kind: RequestClass) -> Replica | Message:
        """Return a replica that serves one kind, or why there is none."""
        found = self._rate(self._request(position, kind), kind)
        return found if isinstance(found, Message) else Replica(found[0], {kind.kind: found[1]})

    def shared(self, position: int, kinds: Sequence[RequestClass]) -> Replica | Message:
        """Return a replica that serves all kinds in one plan, or why there is none.

        The plans tried are those that each kind would have alone; of those that serve all of them the one
        counts with which the fewest accelerators do.
        """
        why: Message | None = None
        tried: list[tuple[float, Replica]] = []
        for kind in kinds:
            own = self._rate(self._request(position, kind), kind)
            if isinstance(own, Message):
                return own
            found = self._in_plan(position, kinds, own[0])
            if isinstance(found, Message):
                why = why or found
            else:
                tried.append((self._accelerators(found, kinds), found))
        if not tried:
            return why or message("routing.no_rate")
        return min(tried, key=lambda each: each[0])[1]

    def _in_plan(self, position: int, kinds: Sequence[RequestClass], plan: ParallelPlan) -> Replica | Message:
        rates = {}
        for kind in kinds:
            request = _planned(self._request(position, kind), plan)
            found = self._rate(request, kind)
            if isinstance(found, Message):
                return found
            rates[kind.kind] = found[1]
        return Replica(plan, rates)

    def _accelerators(self, replica: Replica, kinds: Sequence[RequestClass]) -> float:
        each = [replica.rates[kind.kind].value for kind in kinds]
        busy = busy_replicas([kind.requests_per_s for kind in kinds], each)
        return float(whole_replicas(busy, self._cap)) * replica.plan.count

    def _request(self, position: int, kind: RequestClass) -> EstimateRequest:
        """Return the question of a column about one kind of requests."""
        asked = self._scenario.requests()[position]
        work = replace(asked.workload, input_tokens=kind.input_tokens, output_tokens=kind.output_tokens)
        return replace(asked, model=kind.model, weights=kind.weights, workload=work)

    def _rate(self, request: EstimateRequest, kind: RequestClass) -> tuple[ParallelPlan, Banded] | Message:
        """Return the plan of a replica and the requests/s that it answers, or why it answers none."""
        if request.disaggregated is not None:
            return message("sizing.pools")
        try:
            return self._loaded(request) if self._demand is None else self._sized(request, kind)
        except InputError as error:
            return error.problem

    def _loaded(self, request: EstimateRequest) -> tuple[ParallelPlan, Banded] | Message:
        estimate = self._workbench.estimate(request)
        if estimate.output_tokens_per_s is None:
            return estimate.reason or message("routing.no_rate")
        return estimate.plan, _over(estimate.output_tokens_per_s, request.workload.output_tokens)

    def _sized(self, request: EstimateRequest, kind: RequestClass) -> tuple[ParallelPlan, Banded] | Message:
        assert self._demand is not None
        demand = demand_for(self._demand, kind.requests_per_s)
        (found,) = self._workbench.estimator.size([request], demand).candidates
        if found.output_tokens_per_s is None:
            return found.reason or message("routing.no_rate")
        each = _over(found.output_tokens_per_s, found.replicas * kind.output_tokens)
        return replace(found.plan, dp=1), each


def _planned(request: EstimateRequest, plan: ParallelPlan) -> EstimateRequest:
    return replace(
        request,
        count=plan.count,
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=plan.dp,
        attention_dp=plan.attention_dp,
    )


def _over(figure: Banded, divisor: float) -> Banded:
    return Banded(*(each / divisor for each in figure))
