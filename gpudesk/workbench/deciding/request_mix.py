"""The kinds of requests of a scenario, and how many of them there are a second."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.domain.demand import Bounds, Demand, DemandKind
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.routing import LONGER, RateOrigin, RequestClass, RequestKind, RequestMix
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.workloads import LoadKind
from gpudesk.workbench.sizing import check_demand, demand_factors

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_BOUNDS: Final = {
    "long_share": Bounds(0.0, 1.0),
    "long_input_tokens": Bounds(1, 100_000_000),
    "long_output_tokens": Bounds(1, 100_000_000),
}
_RATES: Final = Bounds(0.0, 1e12, above=True)


def check_mix(mix: RequestMix, requests_per_s: float | None) -> None:
    """Refuse a number outside its range; raises `InputError` that names the field."""
    stated = {name: getattr(mix, name) for name in _BOUNDS}
    for name, value in (*stated.items(), ("requests_per_s", requests_per_s)):
        bounds = _BOUNDS.get(name, _RATES)
        if value is None or bounds.hold(value):
            continue
        if bounds.above:
            raise InputError(
                message("field.range_above", given=value, low=bounds.low, high=bounds.high), name
            )
        raise InputError(message("field.range", given=value, low=bounds.low, high=bounds.high), name)


def classes_of(
    scenario: Scenario, mix: RequestMix, requests_per_s: float, workbench: Workbench
) -> tuple[tuple[RequestClass, ...], tuple[Message, ...]]:
    """Return the kinds of requests that there are, short ones first, and what their lengths rest on."""
    work, share = scenario.workload, mix.long_share
    long_output = mix.long_output_tokens or work.output_tokens
    model = workbench.catalog.model(_model(scenario, mix, RequestKind.LONG))
    long_input = mix.long_input_tokens
    notes: tuple[Message, ...] = ()
    if long_input is None:
        long_input, notes = _longer(work.input_tokens, long_output, model)
    lengths = {
        RequestKind.SHORT: (work.input_tokens, work.output_tokens, 1.0 - share),
        RequestKind.LONG: (long_input, long_output, share),
    }
    found = tuple(
        RequestClass(
            kind=kind,
            model=_model(scenario, mix, kind),
            weights=_weights(scenario, mix, kind),
            input_tokens=given,
            output_tokens=made,
            share=part,
            requests_per_s=requests_per_s * part,
        )
        for kind, (given, made, part) in lengths.items()
        if part > 0.0
    )
    return found, notes if share > 0.0 else ()


def rate_of(
    scenario: Scenario, stated: float | None, workbench: Workbench
) -> tuple[float, RateOrigin, Demand | None]:
    """Return the requests/s at the peak, where they come from, and the demand that sets the limits, if any.

    They are those of the scenario's demand, else those stated, else those that arrive by its load, else those
    that the first column answers under its load; that raises `InputError` where it answers none.
    """
    output = scenario.workload.output_tokens
    if scenario.demand is not None:
        check_demand(scenario.demand)
        factors = demand_factors(scenario.demand, output)
        return math.prod(each.value for each in factors), RateOrigin.DEMAND, scenario.demand
    load = scenario.workload.load
    arriving = load.request_rate if load.kind is LoadKind.REQUEST_RATE else None
    rate, origin = stated, RateOrigin.YOURS
    if rate is None and arriving is not None:
        rate, origin = arriving, RateOrigin.LOAD
    if rate is None:
        return _of_baseline(scenario, workbench), RateOrigin.BASELINE, None
    limits = None if arriving is None else _unlimited(rate)
    return rate, origin, limits


def demand_for(demand: Demand, requests_per_s: float) -> Demand:
    """Return a demand with the limits and reserves of another, for so many requests/s at the peak."""
    amount = requests_per_s / demand.peak_factor
    return replace(demand, kind=DemandKind.REQUEST_RATE, amount=amount)


def _unlimited(rate: float) -> Demand:
    return Demand(DemandKind.REQUEST_RATE, rate, peak_factor=1.0, spare_replicas=0)


def _of_baseline(scenario: Scenario, workbench: Workbench) -> float:
    estimate = workbench.estimate(scenario.requests()[0])
    if estimate.output_tokens_per_s is None:
        problem = estimate.reason or message("routing.no_rate")
        raise InputError(problem, estimate.request.accelerator)
    return estimate.output_tokens_per_s.value / scenario.workload.output_tokens


def _longer(short: int, output: int, model: Model) -> tuple[int, tuple[Message, ...]]:
    """Return how long long prompts are, as far as the model's context goes."""
    wanted = LONGER * short
    if model.max_context is None:
        return wanted, (message("routing.context_unknown", model=model.name),)
    room = max(1, model.max_context - output)
    if room >= wanted:
        return wanted, ()
    return room, (message("routing.capped", model=model.name, tokens=model.max_context),)


def _of_second(mix: RequestMix, kind: RequestKind) -> bool:
    return mix.model is not None and mix.model_kind is kind


def _model(scenario: Scenario, mix: RequestMix, kind: RequestKind) -> str:
    return mix.model if mix.model is not None and _of_second(mix, kind) else scenario.model


def _weights(scenario: Scenario, mix: RequestMix, kind: RequestKind) -> Precision:
    return mix.weights if mix.weights is not None and _of_second(mix, kind) else scenario.weights
