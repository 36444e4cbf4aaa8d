"""The kinds of requests of a scenario, and a replica's rate for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gpudesk.costing.accelerator_costs import Amount
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.answer import Scenario
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.routing import DEFAULT_LONG_INPUT_FACTOR, RequestClass, RequestKind, RequestMix, RequestRateOrigin
from gpudesk.domain.sizing import Demand, DemandKind, NumberBounds
from gpudesk.estimation.estimator import POOLS_NOT_SIZED
from gpudesk.estimation.sizing.demand import check_demand, list_demand_factors
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, message

_NO_RATE: Final = message(
    "routing.no_rate", "does not serve any requests under this load; change the load or the limits"
)


#: Four replicas carry four times the rate of one, although a quotient of floats can be just above 4.
_REPLICA_ROUNDING = 1e-9


def count_busy_replicas(rates: Sequence[float], each: Sequence[Amount]) -> Amount:
    """Return how many replicas are kept busy by kinds of requests at these rates.

    `each` is a replica's rate for one kind by itself. A replica divides its time between the kinds, so their shares add
    up.
    """
    busy: Amount = 0.0
    for rate, answered in zip(rates, each, strict=True):
        busy = busy + rate / answered
    return busy


def count_whole_replicas(busy: Amount, cap: float) -> Amount:
    """Return the whole replicas that carry the load if each is loaded up to a share `cap`; at least one."""
    needed = np.maximum(1.0, np.ceil(np.asarray(busy) / cap - _REPLICA_ROUNDING))
    return float(needed) if needed.ndim == 0 else needed


def compute_even_spread_loss(one: Amount, other: Amount) -> Amount:
    """Return the share of two replicas' rates that is lost if both get equally many requests.

    The slower one sets the pace: 1 - 2 min / (one + other).
    """
    return 1.0 - 2.0 * np.minimum(one, other) / (np.asarray(one) + other)


_MIX_BOUNDS: Final = {
    "long_share": NumberBounds(0.0, 1.0),
    "long_input_tokens": NumberBounds(1, 100_000_000),
    "long_output_tokens": NumberBounds(1, 100_000_000),
}
_RATES: Final = NumberBounds(0.0, 1e12, above=True)


def check_mix(mix: RequestMix, requests_per_s: float | None) -> None:
    """Refuse a number outside its range; raises `InputError` that names the field."""
    for name, bounds in _MIX_BOUNDS.items():
        bounds.check(getattr(mix, name), name)
    _RATES.check(requests_per_s, "requests_per_s")


def list_request_classes(
    scenario: Scenario, mix: RequestMix, requests_per_s: float, service: PlanningServices
) -> tuple[tuple[RequestClass, ...], tuple[Message, ...]]:
    """Return the kinds of requests, short ones first, and the basis of their lengths."""
    work, share = scenario.workload, mix.long_share
    long_output = mix.long_output_tokens or work.output_tokens
    model = service.catalog.model(_get_model_id(scenario, mix, RequestKind.LONG))
    long_input = mix.long_input_tokens
    notes: tuple[Message, ...] = ()
    if long_input is None:
        long_input, notes = _lengthen_prompt(work.input_tokens, long_output, model)
    lengths = {
        RequestKind.SHORT: (work.input_tokens, work.output_tokens, 1.0 - share),
        RequestKind.LONG: (long_input, long_output, share),
    }
    classes = tuple(
        RequestClass(
            kind=kind,
            model=_get_model_id(scenario, mix, kind),
            weights=mix.weights if mix.weights is not None and _is_of_second_model(mix, kind) else scenario.weights,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            share=part,
            requests_per_s=requests_per_s * part,
        )
        for kind, (input_tokens, output_tokens, part) in lengths.items()
        if part > 0.0
    )
    return classes, notes if share > 0.0 else ()


def resolve_request_rate(
    scenario: Scenario, user_rate: float | None, service: PlanningServices
) -> tuple[float, RequestRateOrigin, Demand | None]:
    """Return the requests/s at the peak, their origin, and the demand that sets the limits, if any.

    They are those of the scenario's demand, else `user_rate`, else the arrivals of its load, else the first column's
    rate under its load; raises `InputError` if that has none.
    """
    output = scenario.workload.output_tokens
    if scenario.demand is not None:
        check_demand(scenario.demand)
        if scenario.demand.kind is DemandKind.CONCURRENCY:
            load = Load(LoadKind.CONCURRENCY, concurrency=math.ceil(scenario.demand.amount))
            at_peak = replace(scenario, workload=replace(scenario.workload, load=load))
            return _compute_baseline_rate(at_peak, service), RequestRateOrigin.BASELINE, scenario.demand
        factors = list_demand_factors(scenario.demand, output)
        return math.prod(each.value for each in factors), RequestRateOrigin.DEMAND, scenario.demand
    load = scenario.workload.load
    arriving = load.request_rate if load.kind is LoadKind.REQUEST_RATE else None
    rate, origin = user_rate, RequestRateOrigin.YOURS
    if rate is None and arriving is not None:
        rate, origin = arriving, RequestRateOrigin.LOAD
    if rate is None:
        return _compute_baseline_rate(scenario, service), RequestRateOrigin.BASELINE, None
    limits = None if arriving is None else Demand(DemandKind.REQUEST_RATE, rate, peak_factor=1.0, spare_replicas=0)
    return rate, origin, limits


def scale_demand(demand: Demand, requests_per_s: float) -> Demand:
    """Return a demand with the limits and reserves of another, for this many requests/s at the peak."""
    amount = requests_per_s / demand.peak_factor
    return replace(demand, kind=DemandKind.REQUEST_RATE, amount=amount)


def _compute_baseline_rate(scenario: Scenario, service: PlanningServices) -> float:
    estimate = service.estimate(scenario.requests()[0])
    if estimate.output_tokens_per_s is None:
        problem = estimate.reason or _NO_RATE
        raise InputError(problem, estimate.request.accelerator)
    return estimate.output_tokens_per_s.value / scenario.workload.output_tokens


def _lengthen_prompt(short: int, output: int, model: Model) -> tuple[int, tuple[Message, ...]]:
    long_tokens = DEFAULT_LONG_INPUT_FACTOR * short
    if model.max_context is None:
        return long_tokens, (
            message(
                "routing.context_unknown",
                "The context length of {model} is unknown; long prompts are four times the others",
                model=model.name,
            ),
        )
    room = max(1, model.max_context - output)
    if room >= long_tokens:
        return long_tokens, ()
    return room, (
        message(
            "routing.capped",
            "Long prompts are shortened to fit the {tokens} tokens of {model}",
            model=model.name,
            tokens=model.max_context,
        ),
    )


def _is_of_second_model(mix: RequestMix, kind: RequestKind) -> bool:
    return mix.model is not None and mix.model_kind is kind


def _get_model_id(scenario: Scenario, mix: RequestMix, kind: RequestKind) -> str:
    return mix.model if mix.model is not None and _is_of_second_model(mix, kind) else scenario.model


@frozen_dataclass
class ReplicaRates:
    """A replica of this many accelerators, and its requests/s for each kind by itself."""

    plan: ParallelPlan
    rates: Mapping[RequestKind, IntervalEstimate]


class ReplicaFinder:
    """Finds replicas of a scenario's columns.

    With a demand a replica is the one sized for it: the highest rate within its limits. Else it is the column's
    deployment under the load of the scenario, as estimated elsewhere.
    """

    def __init__(self, scenario: Scenario, demand: Demand | None, cap: float, service: PlanningServices) -> None:
        """Take the scenario; replicas are loaded up to a share `cap` of their rates."""
        self._scenario, self._demand, self._cap, self._service = scenario, demand, cap, service

    def alone(self, position: int, kind: RequestClass) -> ReplicaRates | Message:
        rates = self._find_rate(self._request(position, kind), kind)
        return rates if isinstance(rates, Message) else ReplicaRates(rates[0], {kind.kind: rates[1]})

    def shared(self, position: int, kinds: Sequence[RequestClass]) -> ReplicaRates | Message:
        """Return a replica that serves all kinds in one plan, or why none exists.

        The plans tried are the individual ones of each kind; of those that serve all kinds, the one with the fewest
        accelerators wins.
        """
        why: Message | None = None
        tried: list[tuple[float, ReplicaRates]] = []
        for kind in kinds:
            own = self._find_rate(self._request(position, kind), kind)
            if isinstance(own, Message):
                return own
            rates = self._compute_rates_in_plan(position, kinds, own[0])
            if isinstance(rates, Message):
                why = why or rates
            else:
                tried.append((self._count_accelerators(rates, kinds), rates))
        if not tried:
            return why or _NO_RATE
        return min(tried, key=lambda each: each[0])[1]

    def _compute_rates_in_plan(
        self, position: int, kinds: Sequence[RequestClass], plan: ParallelPlan
    ) -> ReplicaRates | Message:
        rates = {}
        for kind in kinds:
            request = self._request(position, kind).with_plan(plan)
            replica_rates = self._find_rate(request, kind)
            if isinstance(replica_rates, Message):
                return replica_rates
            rates[kind.kind] = replica_rates[1]
        return ReplicaRates(plan, rates)

    def _count_accelerators(self, replica: ReplicaRates, kinds: Sequence[RequestClass]) -> float:
        each = [replica.rates[kind.kind].value for kind in kinds]
        busy = count_busy_replicas([kind.requests_per_s for kind in kinds], each)
        return float(count_whole_replicas(busy, self._cap)) * replica.plan.count

    def _request(self, position: int, kind: RequestClass) -> EstimateRequest:
        request = self._scenario.requests()[position]
        work = replace(request.workload, input_tokens=kind.input_tokens, output_tokens=kind.output_tokens)
        return replace(request, model=kind.model, weights=kind.weights, workload=work)

    def _find_rate(
        self, request: EstimateRequest, kind: RequestClass
    ) -> tuple[ParallelPlan, IntervalEstimate] | Message:
        if request.disaggregated is not None:
            return POOLS_NOT_SIZED
        try:
            return (
                self._estimate_loaded_rate(request)
                if self._demand is None
                else self._estimate_sized_rate(request, kind)
            )
        except InputError as error:
            return error.problem

    def _estimate_loaded_rate(self, request: EstimateRequest) -> tuple[ParallelPlan, IntervalEstimate] | Message:
        estimate = self._service.estimate(request)
        if estimate.output_tokens_per_s is None:
            return estimate.reason or _NO_RATE
        return estimate.plan, _divide_figure(estimate.output_tokens_per_s, request.workload.output_tokens)

    def _estimate_sized_rate(
        self, request: EstimateRequest, kind: RequestClass
    ) -> tuple[ParallelPlan, IntervalEstimate] | Message:
        assert self._demand is not None
        demand = scale_demand(self._demand, kind.requests_per_s)
        (candidate,) = self._service.estimator.size([request], demand).candidates
        if candidate.output_tokens_per_s is None:
            return candidate.reason or _NO_RATE
        each = _divide_figure(candidate.output_tokens_per_s, candidate.replicas * kind.output_tokens)
        return replace(candidate.plan, dp=1), each


def _divide_figure(figure: IntervalEstimate, divisor: float) -> IntervalEstimate:
    return IntervalEstimate(*(each / divisor for each in figure))
