"""Splitting a service between two accelerators: short and long requests in separate pools, with costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gpudesk.costing.accelerator_costs import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    AcceleratorCostInputs,
    Amount,
    OwnershipInputs,
    cost_software,
    list_missing_inputs,
    list_ownership_lines,
    sum_lines,
)
from gpudesk.costing.uncertainty import (
    DrawTable,
    compute_common_error,
    compute_range,
    compute_range_or_none,
    get_likely,
)
from gpudesk.decision.purchasing.plan_inputs import (
    check_plan_id,
    find_split_positions,
    make_request_mix,
    name_failed_input,
)
from gpudesk.decision.purchasing.request_mix import (
    ReplicaFinder,
    ReplicaRates,
    check_mix,
    compute_even_spread_loss,
    count_busy_replicas,
    count_whole_replicas,
    list_request_classes,
    resolve_request_rate,
)
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.answer import Answer, Scenario, make_column_keys
from gpudesk.domain.cost import CostInputOrigin, UncertainValue
from gpudesk.domain.decision import DecisionRule
from gpudesk.domain.deployment_analysis import DerivationTerm, derive_term
from gpudesk.domain.routing import (
    RequestClass,
    RequestKind,
    RequestMix,
    RequestRateOrigin,
    RoutedPlan,
    RoutedPool,
    RoutePlan,
    RouteRanking,
    RoutingResult,
    SplitSurcharge,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message, input_error, message
from gpudesk.text.units import HOURS_PER_YEAR


@frozen_dataclass
class PlanCosts:
    """The cost of accelerators over all years of use in dollars; None if an input is missing.

    Owned and rented costs both include software.
    """

    accelerators: Amount
    owned: Amount | None
    rented: Amount | None
    software: Amount
    software_alone: Amount

    def __add__(self, other: PlanCosts) -> PlanCosts:
        return PlanCosts(
            self.accelerators + other.accelerators,
            _add_costs(self.owned, other.owned),
            _add_costs(self.rented, other.rented),
            self.software + other.software,
            self.software_alone + other.software_alone,
        )


_RENT: Final = "rent_usd_per_hour"
#: The cost of no accelerators.
NO_COSTS: Final = PlanCosts(0.0, 0.0, 0.0, 0.0, 0.0)


def cost_pools(
    values: Mapping[str, Amount], accelerators: Amount, system_size: int = 1, instance_size: int = 1
) -> PlanCosts:
    """Return the cost of accelerators over all years of use, owned in whole systems, rented in whole instances.

    Software is their share of the fleet's; `software_alone` assumes that they are the whole fleet. Without a fleet
    among the values both are the same.
    """
    values = {"fleet": accelerators, **values}
    software = sum_lines(cost_software(values, accelerators))
    owned = rented = None
    if _has_inputs(values, NEEDED_TO_OWN):
        idle = _round_up(accelerators, system_size) - accelerators
        owned = sum_lines(list_ownership_lines(OwnershipInputs(values, accelerators, idle)))
    if _has_inputs(values, NEEDED_TO_RENT):
        hours = values["years"] * HOURS_PER_YEAR
        rented = _round_up(accelerators, instance_size) * values[_RENT] * hours + software
    alone = sum_lines(cost_software({**values, "fleet": accelerators}, accelerators))
    return PlanCosts(accelerators, owned, rented, software, alone)


def _round_up(accelerators: Amount, size: int) -> Amount:
    return np.ceil(np.asarray(accelerators) / size) * size


def rank_plans(costs: Mapping[RoutePlan, PlanCosts], *, rented: bool) -> RouteRanking | None:
    """Return the cheapest plan to own, or to rent; None with fewer than two known costs.

    A plan ties with the cheapest if the range of their difference contains 0.
    """
    paid = {plan: each.rented if rented else each.owned for plan, each in costs.items()}
    known_costs = {plan: usd for plan, usd in paid.items() if usd is not None}
    if len(known_costs) < 2:
        return None
    cheapest = min(known_costs, key=lambda plan: get_likely(known_costs[plan]))
    level = [
        plan
        for plan, usd in known_costs.items()
        if plan is not cheapest and compute_range(usd - known_costs[cheapest]).low <= 0.0
    ]
    return RouteRanking(cheapest, tuple(level), tuple(_list_split_costs(known_costs, costs)))


def _list_split_costs(
    known_costs: Mapping[RoutePlan, Amount], costs: Mapping[RoutePlan, PlanCosts]
) -> Iterator[SplitSurcharge]:
    """Yield the extra cost of each split over the cheapest single-accelerator plan."""
    singles = [plan for plan in known_costs if not plan.is_split]
    if not singles:
        return
    single = min(singles, key=lambda plan: get_likely(known_costs[plan]))
    for plan, usd in known_costs.items():
        if plan.is_split:
            ours, theirs = costs[plan], costs[single]
            yield SplitSurcharge(
                plan=plan,
                single=single,
                usd=compute_range(usd - known_costs[single]),
                software_usd=compute_range(ours.software - theirs.software),
                software_alone_usd=compute_range(ours.software_alone - theirs.software_alone),
            )


def _has_inputs(values: Mapping[str, Amount], needed: tuple[str, ...]) -> bool:
    """Whether all inputs except the throughput have values; a fixed count needs no throughput."""
    return all(name in values for name in needed if name != THROUGHPUT)


def _add_costs(one: Amount | None, other: Amount | None) -> Amount | None:
    return None if one is None or other is None else one + other


#: The assignment of kinds to the two columns.
_PLACES: Final = {
    RoutePlan.ALL_A: {RequestKind.SHORT: 0, RequestKind.LONG: 0},
    RoutePlan.ALL_B: {RequestKind.SHORT: 1, RequestKind.LONG: 1},
    RoutePlan.LONG_A: {RequestKind.SHORT: 1, RequestKind.LONG: 0},
    RoutePlan.LONG_B: {RequestKind.SHORT: 0, RequestKind.LONG: 1},
}
#: A pool with the position of its column and draws of its accelerators.
_Pooled = tuple[RoutedPool, int, Amount]


def compare_routing_plans(
    scenario: Scenario,
    positions: tuple[int, int],
    mix: RequestMix,
    service: PlanningServices,
    requests_per_s: float | None = None,
) -> RoutingResult:
    """Return the size and cost of plans for a mix of requests on the accelerators of two columns, A and B.

    `requests_per_s` is the total rate at the peak, unless the scenario's demand states it. Raises `InputError` for an
    invalid mix, two columns of one accelerator, and an unknown rate.
    """
    check_mix(mix, requests_per_s)
    chosen = tuple(scenario.accelerators[place] for place in positions)
    if chosen[0].accelerator == chosen[1].accelerator:
        raise input_error(
            "routing.same", "both columns have the same accelerator; choose two different ones", "routing"
        )
    rate, origin, demand = resolve_request_rate(scenario, requests_per_s, service)
    pair = replace(scenario, accelerators=chosen)
    answer = service.answer(pair)
    kinds, notes = list_request_classes(scenario, mix, rate, service)
    cap = 1.0 if demand is None else demand.utilisation_cap
    spare = 0 if demand is None else demand.spare_replicas
    finder = ReplicaFinder(pair, demand, cap, service)
    # The pair alone has other column keys if another column has the same accelerator.
    keys = make_column_keys(scenario.accelerators)
    situations = tuple(
        replace(inputs, key=keys[place])
        for inputs, place in zip(service.costing.situations(answer), positions, strict=True)
    )
    routing_plans = _RoutingPlans(answer, situations, kinds, finder, (cap, spare))
    plans, costs = routing_plans.plans()
    loss, working = routing_plans.shared_loss()
    return RoutingResult(
        keys=(situations[0].key, situations[1].key),
        classes=kinds,
        requests_per_s=rate,
        rate_origin=origin,
        utilisation_cap=cap,
        spare_replicas=spare,
        years=situations[0].values["years"],
        plans=plans,
        owned=rank_plans(costs, rented=False),
        rented=rank_plans(costs, rented=True),
        shared_loss=loss,
        shared_working=working,
        notes=(*notes, *_make_routing_notes(answer, situations, kinds, origin, reserve=demand is not None)),
    )


class _RoutingPlans:
    """The pools of two columns for kinds of requests, and the costs of their plans."""

    def __init__(
        self,
        answer: Answer,
        situations: Sequence[AcceleratorCostInputs],
        kinds: tuple[RequestClass, ...],
        finder: ReplicaFinder,
        reserve: tuple[float, int],
    ) -> None:
        self._situations, self._kinds = situations, kinds
        self._cap, self._spare = reserve
        self._table = DrawTable(compute_common_error(answer))
        self._values = [self._list_values(each) for each in situations]
        singly = answer.scenario.costs.single_accelerators
        self._instance_sizes = [1 if singly else each.inputs[_RENT].instance_size for each in situations]
        one_model = len({(kind.model, kind.weights) for kind in kinds}) == 1
        self._alone = {(place, kind.kind): finder.alone(place, kind) for place in (0, 1) for kind in kinds}
        #: Replicas that serve all kinds, if all use one model.
        self._together = [finder.shared(place, kinds) for place in (0, 1)] if one_model else None

    def plans(self) -> tuple[tuple[RoutedPlan, ...], dict[RoutePlan, PlanCosts]]:
        routed_plans: list[RoutedPlan] = []
        costs: dict[RoutePlan, PlanCosts] = {}
        for plan in RoutePlan:
            if plan.is_split and len(self._kinds) == 1:
                continue
            pools = self._make_pools(plan)
            if isinstance(pools, Message):
                routed_plans.append(RoutedPlan(plan, (), reason=pools))
            else:
                routed, costs[plan] = self._cost_plan(plan, pools)
                routed_plans.append(routed)
        return tuple(routed_plans), costs

    def shared_loss(self) -> tuple[UncertainValue | None, DerivationTerm | None]:
        """Return the loss of one pool of both accelerators that gives each replica equally many requests."""
        if self._together is None:
            return None, None
        rates = []
        for place, replica in enumerate(self._together):
            if isinstance(replica, Message):
                return None, None
            shares = [kind.share for kind in self._kinds]
            rates.append(1.0 / count_busy_replicas(shares, self._draw_rates(place, replica, self._kinds)))
        loss = compute_even_spread_loss(rates[0], rates[1])
        return compute_range(loss), _make_loss_term(get_likely(rates[0]), get_likely(rates[1]))

    def _make_pools(self, plan: RoutePlan) -> list[_Pooled] | Message:
        """Return the pools of a plan: one per kind, or one for all kinds of an accelerator if that is not larger."""
        places = _PLACES[plan]
        apart = _collect_pools(
            [
                self._make_pool(places[kind.kind], self._alone[places[kind.kind], kind.kind], (kind,))
                for kind in self._kinds
            ]
        )
        if plan.is_split or self._together is None:
            return apart
        place = places[RequestKind.SHORT]
        together = _collect_pools([self._make_pool(place, self._together[place], self._kinds)])
        if isinstance(together, Message):
            return apart
        return (
            together
            if isinstance(apart, Message) or _count_accelerators(together) <= _count_accelerators(apart)
            else apart
        )

    def _make_pool(
        self, place: int, replica: ReplicaRates | Message, kinds: tuple[RequestClass, ...]
    ) -> _Pooled | Message:
        if isinstance(replica, Message):
            return replica
        inputs = self._situations[place]
        busy = count_busy_replicas([kind.requests_per_s for kind in kinds], self._draw_rates(place, replica, kinds))
        working = count_whole_replicas(busy, self._cap)
        counts = (working + self._spare) * replica.plan.count
        pool = RoutedPool(
            key=inputs.key,
            accelerator=inputs.accelerator,
            kinds=tuple(kind.kind for kind in kinds),
            plan=replica.plan,
            requests_per_s=replica.rates,
            replicas=round(get_likely(working)),
            spare_replicas=self._spare,
            counts=compute_range(counts),
        )
        return pool, place, counts

    def _list_values(self, inputs: AcceleratorCostInputs) -> dict[str, Amount]:
        """Return the inputs of an accelerator; a fleet only if stated, because pools have their own counts."""
        values = self._table.inputs(inputs)
        if inputs.inputs["fleet"].origin is not CostInputOrigin.YOURS:
            del values["fleet"]
        return values

    def _draw_rates(self, place: int, replica: ReplicaRates, kinds: Sequence[RequestClass]) -> list[Amount]:
        """Return draws of a replica's rate for each kind; those of one accelerator have the same error."""
        return [self._table.rate(self._situations[place], replica.rates[kind.kind]) for kind in kinds]

    def _cost_plan(self, plan: RoutePlan, pooled: Sequence[_Pooled]) -> tuple[RoutedPlan, PlanCosts]:
        """Return a plan and its costs; pools of one accelerator share its software, so they are costed together."""
        by_place: dict[int, Amount] = {}
        for _, place, counts in pooled:
            by_place[place] = by_place.get(place, 0.0) + counts
        costs = NO_COSTS
        for place, counts in by_place.items():
            systems = self._situations[place].systems
            size = 1 if systems is None else systems.size
            costs = costs + cost_pools(self._values[place], counts, size, self._instance_sizes[place])
        routed = RoutedPlan(
            plan,
            tuple(pool for pool, _, _ in pooled),
            counts=compute_range(costs.accelerators),
            owned_usd=compute_range_or_none(costs.owned),
            rented_usd=compute_range_or_none(costs.rented),
            software_usd=compute_range(costs.software),
            software_alone_usd=compute_range(costs.software_alone),
        )
        return routed, costs


def _count_accelerators(pools: Sequence[_Pooled]) -> int:
    return sum(pool.count for pool, _, _ in pools)


def _collect_pools(pools: Sequence[_Pooled | Message]) -> list[_Pooled] | Message:
    """Return all pools, or why the first impossible one fails."""
    collected: list[_Pooled] = []
    for pool in pools:
        if isinstance(pool, Message):
            return pool
        collected.append(pool)
    return collected


def _make_loss_term(one: float, other: float) -> DerivationTerm:
    slower, faster = sorted((one, other))
    return derive_term(
        "lost in one shared pool",
        get_likely(compute_even_spread_loss(one, other)),
        None,
        "1 − 2 × {slower_replica} ÷ ({slower_replica} + {faster_replica})",
        DerivationTerm("slower replica", slower, "requests/s", "rate for this mix of requests"),
        DerivationTerm("faster replica", faster, "requests/s", "rate for this mix of requests"),
    )


def _make_routing_notes(
    answer: Answer,
    situations: Sequence[AcceleratorCostInputs],
    kinds: Sequence[RequestClass],
    origin: RequestRateOrigin,
    *,
    reserve: bool,
) -> Iterator[Message]:
    if origin is RequestRateOrigin.BASELINE:
        yield message("routing.rate_of_baseline", "Compared at the request rate of the first column")
    elif origin is RequestRateOrigin.LOAD:
        yield message("routing.rate_of_load", "Compared at the request rate of the scenario")
    if not reserve:
        yield message(
            "routing.no_reserve", "Demand is not set, so spare replicas are omitted and all replicas run at full load"
        )
    if len(kinds) == 1:
        yield message("routing.one_kind", "All requests are of one type, so there is no split")
    for inputs, column in zip(situations, answer.columns, strict=True):
        needed = dict.fromkeys((*NEEDED_TO_OWN, *NEEDED_TO_RENT))
        yield from list_missing_inputs(inputs, column, tuple(name for name in needed if name != "throughput"))
    yield message(
        "routing.apart",
        "A router sends each request to the pool for its type. A pool shared by two vendors differs: its slower "
        "replicas set the pace",
    )


def plan_routing(scenario: Scenario, service: PlanningServices) -> RoutingResult:
    """Return the plans for requests shared by two columns; raises `InputError` for wrong inputs."""
    check_plan_id(scenario, "other_model", service.catalog.model)
    mix, rate = make_request_mix(scenario)
    pair = find_split_positions(scenario, lambda part: service.catalog.accelerator(part).vendor)
    return name_failed_input(lambda: compare_routing_plans(scenario, pair, mix, service, rate))


_MIXING: Final = "mixing"


def list_mixing_rules(rules: Sequence[DecisionRule]) -> tuple[DecisionRule, ...]:
    """Return the rules on mixing two vendors, and those that they contradict, the oldest first."""
    own = [rule for rule in rules if rule.theme == _MIXING]
    rivals = {each for rule in own for each in rule.against}
    mixing_rules = [rule for rule in rules if rule in own or rule.id in rivals]
    return tuple(sorted(mixing_rules, key=lambda rule: (rule.dated or "", rule.id)))
