"""How many accelerators a demand needs: replicas that carry the peak within limits, and those in reserve.

The rate of one replica is the estimator's highest within the latency limits; the peak is spread evenly over
the working replicas. No queueing beyond the engine's own is added: the utilisation cap is the reserve for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.demand import NO_LIMIT_MS, RANGES, Candidate, Demand, DemandKind, Factor, Sizing
from gpudesk.domain.estimates import Banded, Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.units import SECONDS_PER_HOUR
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.workbench.sizing_bound import bound_check

SECONDS_PER_DAY: Final = 86_400.0
EstimateMany = Callable[[Sequence[EstimateRequest]], Sequence[Estimate | InputError]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One accelerator that is to be sized: its question, its facts, and the sizes of a replica to try."""

    request: EstimateRequest
    accelerator: Accelerator
    model: Model
    sizes: tuple[int, ...]
    problem: Message | None = None


@dataclass(frozen=True, slots=True)
class _Replica:
    """One replica at the highest rate that its limits allow."""

    asked: Asked
    estimate: Estimate
    rate: float

    @property
    def size(self) -> int:
        """Accelerators of it."""
        return self.estimate.count


def check_demand(demand: Demand) -> None:
    """Refuse a demand with a number outside its range; raises `InputError` that names the field."""
    for name, bounds in RANGES.items():
        value = getattr(demand, name)
        if value is None or bounds.hold(value):
            continue
        low, high = bounds.low, bounds.high
        if bounds.above:
            problem = message("field.range_above", given=value, low=low, high=high)
        else:
            problem = message("field.range", given=value, low=low, high=high)
        raise InputError(problem, f"demand.{name}")


def demand_factors(demand: Demand, output_tokens: int) -> tuple[Factor, ...]:
    """Return the factors whose product is the requests/s of the peak."""
    average: tuple[Factor, ...]
    if demand.kind is DemandKind.USERS:
        each = demand.requests_per_user_hour / SECONDS_PER_HOUR
        average = (Factor("users", demand.amount), Factor("requests_each", each, "1/s"))
    elif demand.kind is DemandKind.REQUEST_RATE:
        average = (Factor("requests", demand.amount, "1/s"),)
    else:
        average = (
            Factor("tokens_a_day", demand.amount, "tokens"),
            Factor("days_a_second", 1.0 / SECONDS_PER_DAY, "1/s"),
            Factor("requests_a_token", 1.0 / output_tokens),
        )
    return (*average, Factor("peak", demand.peak_factor))


def size_demand(
    demand: Demand, every: Sequence[Asked], estimate_many: EstimateMany, output_tokens: int
) -> Sizing:
    """Return a candidate for each accelerator; raises `InputError` for a demand that cannot be."""
    check_demand(demand)
    rate = math.prod(factor.value for factor in demand_factors(demand, output_tokens))
    tried = _replicas(demand, every, estimate_many, output_tokens)
    chosen = [_best(demand, rate, replicas) for replicas in tried]
    loaded = _loaded(rate, demand, [each for each in chosen if each is not None], estimate_many)
    free = _without_limits([each for each in chosen if each is not None], estimate_many)
    candidates = tuple(
        _unmet(asked, estimate_many)
        if replica is None
        else _candidate(demand, rate, replica, next(loaded), next(free), output_tokens)
        for asked, replica in zip(every, chosen, strict=True)
    )
    return Sizing(demand, rate, rate * output_tokens, candidates)


def _limits(demand: Demand) -> Load:
    return Load(
        LoadKind.LIMITS,
        ttft_ms=demand.ttft_ms or NO_LIMIT_MS,
        tpot_ms=demand.tpot_ms or NO_LIMIT_MS,
        limit="p99",
    )


def _under(request: EstimateRequest, load: Load, count: int) -> EstimateRequest:
    """Return the question about one replica of so many accelerators under a load."""
    return replace(request, workload=replace(request.workload, load=load), count=count, dp=1)


def _replicas(
    demand: Demand, every: Sequence[Asked], estimate_many: EstimateMany, output_tokens: int
) -> list[list[_Replica]]:
    """Return for each accelerator the sizes of a replica that meet the limits, all asked at once."""
    pairs = [(place, size) for place, asked in enumerate(every) for size in asked.sizes]
    load = _limits(demand)
    answers = estimate_many([_under(every[place].request, load, size) for place, size in pairs])
    found: list[list[_Replica]] = [[] for _ in every]
    for (place, _), answer in zip(pairs, answers, strict=True):
        if isinstance(answer, InputError) or not answer.fits or answer.output_tokens_per_s is None:
            continue
        rate = answer.output_tokens_per_s.value / output_tokens
        found[place].append(_Replica(every[place], answer, rate))
    return found


def _working(demand: Demand, rate: float, replica: _Replica) -> int:
    """Return how many replicas carry the peak: ceil(rate / (rate of one x cap))."""
    return max(1, math.ceil(rate / (replica.rate * demand.utilisation_cap) - 1e-9))


def _best(demand: Demand, rate: float, replicas: Sequence[_Replica]) -> _Replica | None:
    """Return the replica with which the fewest accelerators do; among equals the one with more in reserve."""

    def cost(replica: _Replica) -> tuple[int, float]:
        working = _working(demand, rate, replica)
        return (working + demand.spare_replicas) * replica.size, -working * replica.rate

    return min(replicas, key=cost, default=None)


def _as_chosen(replica: _Replica, load: Load) -> EstimateRequest:
    """Return the question about the chosen replica, in its plan, under a load."""
    plan = replica.estimate.plan
    asked = _under(replica.asked.request, load, replica.size)
    return replace(
        asked,
        serving_engine=replica.estimate.serving_engine,
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        attention_dp=plan.attention_dp,
    )


def _loaded(
    rate: float, demand: Demand, replicas: Sequence[_Replica], estimate_many: EstimateMany
) -> Iterator[Estimate | InputError]:
    """Yield what each chosen replica does with its share of the peak."""
    return iter(
        estimate_many(
            [
                _as_chosen(
                    each,
                    Load(LoadKind.REQUEST_RATE, request_rate=rate / _working(demand, rate, each)),
                )
                for each in replicas
            ]
        )
    )


def _without_limits(
    replicas: Sequence[_Replica], estimate_many: EstimateMany
) -> Iterator[Estimate | InputError]:
    """Yield what each chosen replica would do if nothing limited its latency."""
    load = Load(LoadKind.LIMITS, ttft_ms=NO_LIMIT_MS, tpot_ms=NO_LIMIT_MS)
    return iter(estimate_many([_as_chosen(each, load) for each in replicas]))


def _candidate(
    demand: Demand,
    rate: float,
    replica: _Replica,
    loaded: Estimate | InputError,
    free: Estimate | InputError,
    output_tokens: int,
) -> Candidate:
    part, size, plan = replica.asked.accelerator, replica.size, replica.estimate.plan
    working = _working(demand, rate, replica)
    copies = working + demand.spare_replicas
    raw = rate / replica.rate / demand.utilisation_cap
    factors = (
        *demand_factors(demand, output_tokens),
        Factor("replica_seconds", 1.0 / replica.rate, "s"),
        Factor("cap", 1.0 / demand.utilisation_cap),
        Factor("rounding", working / raw),
        Factor("tp", float(plan.tp)),
        Factor("pp", float(plan.pp)),
        Factor("reserve", copies / working),
    )
    at_peak = loaded if isinstance(loaded, Estimate) else replica.estimate
    return Candidate(
        accelerator=part.id,
        reason=None,
        replicas=working,
        plan=plan,
        spare=demand.spare_replicas * size,
        count=copies * size,
        nodes=_nodes(part, size, copies),
        concurrency_per_replica=max(1, at_peak.concurrency or 1),
        factors=factors,
        output_tokens_per_s=_times(replica.estimate.output_tokens_per_s, working),
        power_kw=None if part.tdp_w is None else part.tdp_w * copies * size / 1000.0,
        bound=bound_check(
            replica.asked.model,
            part,
            replica.estimate,
            free if isinstance(free, Estimate) else replica.estimate,
            rate * output_tokens,
            (working, copies, demand.utilisation_cap),
        ),
        notes=tuple(_notes(demand, part, at_peak, working)),
        estimate=at_peak,
    )


def _notes(demand: Demand, part: Accelerator, at_peak: Estimate, working: int) -> Iterator[Message]:
    """Yield what of the answer should be read with care."""
    yield from (note for note in at_peak.notes if note.id == "estimate.beyond_context")
    in_flight = max(1, at_peak.concurrency or 1) * working
    if demand.kind is DemandKind.USERS and in_flight > max(demand.amount * demand.peak_factor, working):
        yield message("sizing.in_flight", count=in_flight)
    if part.domain_over_machines is not None:
        yield message("sizing.domain", domain=part.domain_over_machines)


def _nodes(part: Accelerator, size: int, copies: int) -> int:
    """Return the hosts that copies of so many accelerators take; one that fits a host is not split."""
    host = part.cards_per_host
    if size > host:
        return copies * math.ceil(size / host)
    return math.ceil(copies / (host // size))


def _times(figure: Banded | None, count: int) -> Banded | None:
    return None if figure is None else Banded(*(each * count for each in figure))


def _unmet(asked: Asked, estimate_many: EstimateMany) -> Candidate:
    """Say why no replica of an accelerator meets the demand, and what the best of them reaches."""
    if asked.problem is not None:
        return Candidate(asked.request.accelerator, asked.problem)
    one = Load(LoadKind.CONCURRENCY, concurrency=1)
    answers = estimate_many([_under(asked.request, one, size) for size in asked.sizes])
    fitting = [each for each in answers if isinstance(each, Estimate) and each.fits]
    if not fitting:
        return Candidate(asked.request.accelerator, _first_reason(answers))
    tpot = min(each.tpot_ms.value for each in fitting if each.tpot_ms is not None)
    ttft = min(each.ttft_ms.value for each in fitting if each.ttft_ms is not None)
    reason = message(
        "sizing.limits_not_met",
        accelerator=asked.accelerator.name,
        ttft=(ttft, "ms"),
        tpot=(tpot, "ms"),
    )
    return Candidate(asked.request.accelerator, reason)


def _first_reason(answers: Sequence[Estimate | InputError]) -> Message:
    for answer in reversed(answers):
        if isinstance(answer, InputError):
            return answer.problem
        if answer.reason is not None:
            return answer.reason
    return message("sizing.nothing_fits")
