"""Splitting a service between the parts of two columns: short and long requests in pools of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.domain.answers import Answer, Term
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import (
    RateOrigin,
    RequestClass,
    RequestKind,
    RequestMix,
    RoutedPlan,
    RoutedPool,
    RoutePlan,
    Routing,
)
from gpudesk.domain.scenarios import Scenario
from gpudesk.economics.owning import Amount
from gpudesk.economics.routing import busy_replicas, loss_of_even_spread, whole_replicas
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.costs import common_error
from gpudesk.workbench.costing.formulas import NEEDED_TO_OWN, NEEDED_TO_RENT
from gpudesk.workbench.deciding.input_draws import DrawTable, likely_of, range_of
from gpudesk.workbench.deciding.lacking import lacking
from gpudesk.workbench.deciding.replicas import Replica, ReplicaFinder
from gpudesk.workbench.deciding.request_mix import check_mix, classes_of, rate_of
from gpudesk.workbench.deciding.routed_costs import NO_COSTS, PlanCosts, pool_costs, range_or_none, ranked

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Which of the two columns serves which kind.
_PLACES: Final = {
    RoutePlan.ALL_A: {RequestKind.SHORT: 0, RequestKind.LONG: 0},
    RoutePlan.ALL_B: {RequestKind.SHORT: 1, RequestKind.LONG: 1},
    RoutePlan.LONG_A: {RequestKind.SHORT: 1, RequestKind.LONG: 0},
    RoutePlan.LONG_B: {RequestKind.SHORT: 0, RequestKind.LONG: 1},
}
#: A pool with the place of its column and draws of its accelerators.
_Pooled = tuple[RoutedPool, int, Amount]


def routing(
    scenario: Scenario,
    positions: tuple[int, int],
    mix: RequestMix,
    workbench: Workbench,
    requests_per_s: float | None = None,
) -> Routing:
    """Return what the plans for a mix of requests take and cost on the parts of two columns, A and B.

    `requests_per_s` are all requests at the peak, unless the scenario's demand says how many. Raises
    `InputError` for a mix that cannot be, two columns of one part, and a rate that cannot be told.
    """
    check_mix(mix, requests_per_s)
    chosen = tuple(scenario.accelerators[place] for place in positions)
    if chosen[0].accelerator == chosen[1].accelerator:
        raise InputError(message("routing.same"), "routing")
    rate, origin, demand = rate_of(scenario, requests_per_s, workbench)
    pair = replace(scenario, accelerators=chosen)
    answer = workbench.answer(pair)
    kinds, notes = classes_of(scenario, mix, rate, workbench)
    cap = 1.0 if demand is None else demand.utilisation_cap
    spare = 0 if demand is None else demand.spare_replicas
    finder = ReplicaFinder(pair, demand, cap, workbench)
    situations = workbench.costing.situations(answer)
    made = _Plans(answer, situations, kinds, finder, (cap, spare))
    plans, costs = made.plans()
    loss, working = made.shared_loss()
    return Routing(
        keys=(situations[0].key, situations[1].key),
        classes=kinds,
        requests_per_s=rate,
        rate_origin=origin,
        utilisation_cap=cap,
        spare_replicas=spare,
        years=situations[0].values["years"],
        plans=plans,
        owned=ranked(costs, rented=False),
        rented=ranked(costs, rented=True),
        shared_loss=loss,
        shared_working=working,
        notes=(*notes, *_notes(answer, situations, kinds, origin, reserve=demand is not None)),
    )


class _Plans:
    """The pools of two columns for kinds of requests, and what plans made of them cost."""

    def __init__(
        self,
        answer: Answer,
        situations: Sequence[Situation],
        kinds: tuple[RequestClass, ...],
        finder: ReplicaFinder,
        reserve: tuple[float, int],
    ) -> None:
        self._situations, self._kinds = situations, kinds
        self._cap, self._spare = reserve
        self._table = DrawTable(common_error(answer))
        self._values = [self._table.inputs(each) for each in situations]
        one_model = len({(kind.model, kind.weights) for kind in kinds}) == 1
        self._alone = {(place, kind.kind): finder.alone(place, kind) for place in (0, 1) for kind in kinds}
        #: Replicas that serve all kinds, where they are of one model.
        self._together = [finder.shared(place, kinds) for place in (0, 1)] if one_model else None

    def plans(self) -> tuple[tuple[RoutedPlan, ...], dict[RoutePlan, PlanCosts]]:
        """Return all plans, and what those cost that can be."""
        found: list[RoutedPlan] = []
        costs: dict[RoutePlan, PlanCosts] = {}
        for plan in RoutePlan:
            if plan.is_split and len(self._kinds) == 1:
                continue
            pools = self._pools(plan)
            if isinstance(pools, Message):
                found.append(RoutedPlan(plan, (), reason=pools))
            else:
                routed, costs[plan] = self._routed(plan, pools)
                found.append(routed)
        return tuple(found), costs

    def shared_loss(self) -> tuple[Range | None, Term | None]:
        """Return what one pool of both parts loses where it hands each replica as many requests."""
        if self._together is None:
            return None, None
        rates = []
        for place, replica in enumerate(self._together):
            if isinstance(replica, Message):
                return None, None
            shares = [kind.share for kind in self._kinds]
            rates.append(1.0 / busy_replicas(shares, self._rates(place, replica, self._kinds)))
        loss = loss_of_even_spread(rates[0], rates[1])
        return range_of(loss), _loss_term(likely_of(rates[0]), likely_of(rates[1]))

    def _pools(self, plan: RoutePlan) -> list[_Pooled] | Message:
        """Return the pools of a plan: one a kind, or one for all of a part where that takes no more."""
        places = _PLACES[plan]
        apart = _all_or_reason(
            [
                self._pool(places[kind.kind], self._alone[places[kind.kind], kind.kind], (kind,))
                for kind in self._kinds
            ]
        )
        if plan.is_split or self._together is None:
            return apart
        place = places[RequestKind.SHORT]
        together = _all_or_reason([self._pool(place, self._together[place], self._kinds)])
        if isinstance(together, Message):
            return apart
        return together if isinstance(apart, Message) or _count(together) <= _count(apart) else apart

    def _pool(
        self, place: int, replica: Replica | Message, kinds: tuple[RequestClass, ...]
    ) -> _Pooled | Message:
        if isinstance(replica, Message):
            return replica
        found = self._situations[place]
        busy = busy_replicas([kind.requests_per_s for kind in kinds], self._rates(place, replica, kinds))
        working = whole_replicas(busy, self._cap)
        counts = (working + self._spare) * replica.plan.count
        pool = RoutedPool(
            key=found.key,
            accelerator=found.accelerator,
            kinds=tuple(kind.kind for kind in kinds),
            plan=replica.plan,
            requests_per_s=replica.rates,
            replicas=round(likely_of(working)),
            spare_replicas=self._spare,
            counts=range_of(counts),
        )
        return pool, place, counts

    def _rates(self, place: int, replica: Replica, kinds: Sequence[RequestClass]) -> list[Amount]:
        """Return draws of what a replica answers of each kind; all of one part err alike."""
        return [self._table.rate(self._situations[place], replica.rates[kind.kind]) for kind in kinds]

    def _routed(self, plan: RoutePlan, pooled: Sequence[_Pooled]) -> tuple[RoutedPlan, PlanCosts]:
        """Return a plan and its costs; pools of one part share its software, so they are costed together."""
        by_place: dict[int, Amount] = {}
        for _, place, counts in pooled:
            by_place[place] = by_place.get(place, 0.0) + counts
        costs = NO_COSTS
        for place, counts in by_place.items():
            costs = costs + pool_costs(self._values[place], counts)
        routed = RoutedPlan(
            plan,
            tuple(pool for pool, _, _ in pooled),
            counts=range_of(costs.accelerators),
            owned_usd=range_or_none(costs.owned),
            rented_usd=range_or_none(costs.rented),
            software_usd=range_of(costs.software),
            software_alone_usd=range_of(costs.software_alone),
        )
        return routed, costs


def _count(pools: Sequence[_Pooled]) -> int:
    return sum(pool.count for pool, _, _ in pools)


def _all_or_reason(pools: Sequence[_Pooled | Message]) -> list[_Pooled] | Message:
    """Return all pools, or why the first that cannot be is none."""
    found: list[_Pooled] = []
    for pool in pools:
        if isinstance(pool, Message):
            return pool
        found.append(pool)
    return found


def _loss_term(one: float, other: float) -> Term:
    slower, faster = sorted((one, other))
    return Term(
        "lost in one shared pool",
        likely_of(loss_of_even_spread(one, other)),
        None,
        "1 − 2 × {slower_replica} ÷ ({slower_replica} + {faster_replica})",
        inputs=(
            Term("slower replica", slower, "requests/s", "its rate for the mix of requests"),
            Term("faster replica", faster, "requests/s", "its rate for the mix of requests"),
        ),
    )


def _notes(
    answer: Answer,
    situations: Sequence[Situation],
    kinds: Sequence[RequestClass],
    origin: RateOrigin,
    *,
    reserve: bool,
) -> Iterator[Message]:
    """Yield what the figures rest on, and what they lack."""
    if origin is RateOrigin.BASELINE:
        yield message("routing.rate_of_baseline")
    elif origin is RateOrigin.LOAD:
        yield message("routing.rate_of_load")
    if not reserve:
        yield message("routing.no_reserve")
    if len(kinds) == 1:
        yield message("routing.one_kind")
    for found, column in zip(situations, answer.columns, strict=True):
        needed = dict.fromkeys((*NEEDED_TO_OWN, *NEEDED_TO_RENT))
        yield from lacking(found, column, tuple(name for name in needed if name != "throughput"))
    yield message("routing.apart")
