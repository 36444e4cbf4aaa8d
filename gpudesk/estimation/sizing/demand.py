"""Accelerators for a demand: replicas that carry the peak within limits, and spares.

The rate of one replica is the estimator's highest within the latency limits; the peak is spread evenly over the working
replicas. No queueing beyond the engine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.accelerator import Accelerator, count_systems, resolve_fp4
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import (
    ALIKE_TIME,
    DEMAND_BOUNDS,
    NO_LIMIT_MS,
    Demand,
    DemandKind,
    PhysicalBoundCheck,
    SizingFactor,
    SizingOption,
    SizingResult,
    exceeds_one_machine,
    weigh_request_time,
)
from gpudesk.engine.memory import compute_cache_profile
from gpudesk.engine.sharding import shard_model
from gpudesk.engine.step_work import find_peak
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, Share, message, message_n
from gpudesk.text.units import SECONDS_PER_HOUR

#: Counts above this multiple of the floor get reasons.
EXPLAINED_ABOVE: Final = 10.0
#: Smaller factors of the ratio are not worth a reason.
_WORTH_SAYING: Final = 1.05


def compute_bytes_per_token(model: Model, part: Accelerator, estimate: Estimate) -> float:
    """Return the minimum bytes of memory read per output token.

    Weights are read once per step for the largest batch of the replica; of the experts those that this many tokens
    choose: 1 - (1 - k / E)^B. Each token reads the cache of its own request, half grown.
    """
    request, alone = estimate.request, ParallelPlan()
    weights, kv = resolve_fp4(request.weights, part.vendor), resolve_fp4(request.kv, part.vendor)
    batch = max(1, estimate.max_concurrency)
    shards = shard_model(model, weights, alone)
    chosen = shards.experts_per_token / shards.expert_count if shards.expert_count else 0.0
    experts = shards.experts.stored_bytes * (1.0 - (1.0 - chosen) ** batch)
    work = request.workload
    cache = compute_cache_profile(model, kv, alone).sequence_bytes(work.input_tokens + work.output_tokens // 2)
    return (shards.dense.stored_bytes + shards.head.stored_bytes + experts) / batch + cache


def check_physical_bound(
    model: Model,
    part: Accelerator,
    estimate: Estimate,
    free: Estimate,
    tokens_per_s: float,
    copies: tuple[int, int, float],
) -> PhysicalBoundCheck:
    """Compare a deployment with the bandwidth floor: tokens/s x bytes per token / memory bandwidth.

    `estimate` is one replica within its limits, `free` the same without limits, `tokens_per_s` the output of the peak,
    `copies` the working replicas, all of them, and the utilization cap. The factors of all reasons, including unnamed
    small ones, multiply to the ratio.
    """
    working, every, cap = copies
    floor = tokens_per_s * compute_bytes_per_token(model, part, estimate) / part.memory_bandwidth
    ratio = every * estimate.count / floor
    if ratio <= EXPLAINED_ABOVE:
        return PhysicalBoundCheck(floor, ratio, ())
    within, most = _get_rate(estimate), _get_rate(free)
    read_s = compute_bytes_per_token(model, part, estimate) / part.memory_bandwidth
    arithmetic = 1.0 + _compute_arithmetic_s(model, part, estimate) / read_s
    needed = tokens_per_s / (within * cap)
    rounding, reserve, limits = working / needed, every / working, most / within
    engine = estimate.count / (read_s * arithmetic * most)
    spare = (every - working) * estimate.count
    factors = (
        (
            rounding,
            message_n(
                "sizing.bound_rounding",
                "× {factor}: rounded up to whole accelerators",
                "× {factor}: rounded up to whole replicas with {count} accelerators",
                "count",
                factor=rounding,
                count=estimate.count,
            ),
        ),
        (
            reserve,
            message_n(
                "sizing.bound_reserve",
                "× {factor}: one spare accelerator",
                "× {factor}: {count} spare accelerators",
                "count",
                factor=reserve,
                count=spare,
            ),
        ),
        (
            1.0 / cap,
            message(
                "sizing.bound_cap",
                "× {factor}: replicas run at {share} of their maximum rate",
                factor=1.0 / cap,
                share=Share(cap),
            ),
        ),
        (
            limits,
            message(
                "sizing.bound_limits",
                "× {factor}: the latency limits leave {share} of the unlimited rate",
                factor=limits,
                share=Share(1.0 / limits),
            ),
        ),
        (
            arithmetic,
            message(
                "sizing.bound_arithmetic",
                "× {factor}: prefill and compute at peak rate, in addition to reading memory",
                factor=arithmetic,
            ),
        ),
        (
            engine,
            message(
                "sizing.bound_engine",
                "× {factor}: kernels, communication and overhead leave {share} of the peak rates",
                factor=engine,
                share=Share(1.0 / engine),
            ),
        ),
    )
    ordered = sorted(factors, key=lambda each: -each[0])
    return PhysicalBoundCheck(floor, ratio, tuple(reason for factor, reason in ordered if factor >= _WORTH_SAYING))


def _compute_arithmetic_s(model: Model, part: Accelerator, estimate: Estimate) -> float:
    """Return the seconds of one accelerator at its peak for an output token and its share of the prompt.

    Two operations per parameter that a token multiplies with; attention is left out.
    """
    work = estimate.request.workload
    weights = resolve_fp4(estimate.request.weights, part.vendor)
    rate = find_peak(part, weights) or find_peak(part, Precision.BF16)
    if rate is None:
        return 0.0
    shards = shard_model(model, weights, ParallelPlan())
    elements = shards.dense_elements_undivided + shards.active_expert_elements
    return 2.0 * elements * (1.0 + work.input_tokens / work.output_tokens) / rate.flops


def _get_rate(estimate: Estimate) -> float:
    rate = estimate.output_tokens_per_s
    return 0.0 if rate is None else rate.value


SECONDS_PER_DAY: Final = 86_400.0
EstimateBatch = Callable[[Sequence[EstimateRequest]], Sequence[Estimate | InputError]]
#: The dollars by which buying a number of accelerators, in replicas like this one, exceeds a budget.
BudgetExcess = Callable[[Estimate, int], float]


@frozen_dataclass
class SizingRequest:
    """One accelerator to size: its question, its facts, and the sizes of a replica to try."""

    request: EstimateRequest
    accelerator: Accelerator
    model: Model
    sizes: tuple[int, ...]
    problem: Message | None = None


@frozen_dataclass
class _SizedReplica:
    """One replica at the highest rate that its limits allow, in requests/s."""

    sizing: SizingRequest
    estimate: Estimate
    rate: float

    def carries(self, demand: Demand) -> float:
        """Return the capacity of one replica in the unit of the demand: requests/s, or requests in flight."""
        if demand.kind is DemandKind.CONCURRENCY:
            return float(max(1, self.estimate.admitted or self.estimate.concurrency or 1))
        return self.rate

    @property
    def size(self) -> int:
        return self.estimate.count


def check_demand(demand: Demand) -> None:
    """Refuse a demand with a number outside its range; raises `InputError` that names the field."""
    for name, bounds in DEMAND_BOUNDS.items():
        bounds.check(getattr(demand, name), f"demand.{name}")


def list_demand_factors(demand: Demand, output_tokens: int) -> tuple[SizingFactor, ...]:
    """Return the factors whose product is the peak requests/s, or requests in flight."""
    if demand.kind is DemandKind.CONCURRENCY:
        return (SizingFactor("in_flight", demand.amount),)
    average: tuple[SizingFactor, ...]
    if demand.kind is DemandKind.USERS:
        each = demand.requests_per_user_hour / SECONDS_PER_HOUR
        average = (SizingFactor("users", demand.amount), SizingFactor("requests_each", each, "1/s"))
    elif demand.kind is DemandKind.REQUEST_RATE:
        average = (SizingFactor("requests", demand.amount, "1/s"),)
    else:
        average = (
            SizingFactor("tokens_a_day", demand.amount, "tokens"),
            SizingFactor("days_a_second", 1.0 / SECONDS_PER_DAY, "1/s"),
            SizingFactor("requests_a_token", 1.0 / output_tokens),
        )
    return (*average, SizingFactor("peak", demand.peak_factor))


class DemandSizer:
    """The replicas of each accelerator for a demand, from which deployments are chosen, for one budget or several.

    `every` are the accelerators to size. Deployments have the fewest accelerators, or with `quickest` the replicas of
    one host that answer fastest at the peak. Raises `InputError` for a bad demand.
    """

    def __init__(
        self,
        demand: Demand,
        every: Sequence[SizingRequest],
        estimate_many: EstimateBatch,
        output_tokens: int,
        *,
        quickest: bool = False,
    ) -> None:
        check_demand(demand)
        self._demand, self._every, self._estimate_many = demand, every, estimate_many
        self._output_tokens = output_tokens
        self._peak = math.prod(factor.value for factor in list_demand_factors(demand, output_tokens))
        tried = _list_replicas(demand, every, estimate_many, output_tokens, quickest=quickest)
        self._ranked = [_rank_by_count(demand, self._peak, replicas) for replicas in tried]
        if quickest:
            self._ranked = _rank_by_time(demand, self._peak, self._ranked, estimate_many)
        # By the places of accelerators and of their replicas.
        self._options: dict[tuple[int, int | None], SizingOption] = {}

    def size(self, find_excess: BudgetExcess | None = None) -> SizingResult:
        """Return a deployment for each accelerator, within a budget if possible."""
        demand, peak = self._demand, self._peak
        chosen = [_choose_replica(demand, peak, replicas, find_excess) for replicas in self._ranked]
        self._make_options([each for each in enumerate(chosen) if each not in self._options])
        candidates = tuple(self._options[each] for each in enumerate(chosen))
        if demand.kind is DemandKind.CONCURRENCY:
            return SizingResult(demand, None, None, candidates)
        return SizingResult(demand, peak, peak * self._output_tokens, candidates)

    def _make_options(self, chosen: Sequence[tuple[int, int | None]]) -> None:
        replicas = [self._ranked[place][number] for place, number in chosen if number is not None]
        loaded = _estimate_under_peak(self._peak, self._demand, replicas, self._estimate_many)
        load = Load(LoadKind.LIMITS, ttft_ms=NO_LIMIT_MS, tpot_ms=NO_LIMIT_MS)
        free = iter(self._estimate_many([_fix_chosen_plan(each, load) for each in replicas]))
        for place, number in chosen:
            self._options[place, number] = (
                _explain_unmet(self._every[place], self._estimate_many)
                if number is None
                else _make_sizing_row(
                    self._demand, self._peak, self._ranked[place][number], next(loaded), next(free), self._output_tokens
                )
            )


def _make_replica_request(request: EstimateRequest, load: Load, count: int) -> EstimateRequest:
    return replace(request, workload=replace(request.workload, load=load), count=count, dp=1)


def _list_replicas(
    demand: Demand, every: Sequence[SizingRequest], estimate_many: EstimateBatch, output_tokens: int, *, quickest: bool
) -> list[list[_SizedReplica]]:
    """Return for each accelerator its replicas of the highest rate; with `quickest`, also those of tensor parallelism.

    The latter answer faster, at a lower rate.
    """
    load = Load(
        LoadKind.LIMITS, ttft_ms=demand.ttft_ms or NO_LIMIT_MS, tpot_ms=demand.tpot_ms or NO_LIMIT_MS, limit="p99"
    )
    requests: list[tuple[int, EstimateRequest]] = []
    for place, each in enumerate(every):
        for size in each.sizes:
            request = _make_replica_request(each.request, load, size)
            requests.append((place, request))
            if quickest and size > 1 and request.tp is None and request.pp is None:
                requests.append((place, replace(request, tp=size)))
    answers = estimate_many([request for _, request in requests])
    replicas: list[list[_SizedReplica]] = [[] for _ in every]
    for (place, _), answer in zip(requests, answers, strict=True):
        if isinstance(answer, InputError) or not answer.fits or answer.output_tokens_per_s is None:
            continue
        rate = answer.output_tokens_per_s.value / output_tokens
        replicas[place].append(_SizedReplica(every[place], answer, rate))
    return replicas


def _count_working(demand: Demand, peak_demand: float, replica: _SizedReplica) -> int:
    """Return how many replicas carry the peak: ceil(peak demand / (capacity of one x cap))."""
    return max(1, math.ceil(peak_demand / (replica.carries(demand) * demand.utilisation_cap) - 1e-9))


def _count_accelerators(demand: Demand, peak_demand: float, replica: _SizedReplica) -> int:
    return (_count_working(demand, peak_demand, replica) + demand.spare_replicas) * replica.size


def _rank_by_count(demand: Demand, peak_demand: float, replicas: Sequence[_SizedReplica]) -> list[_SizedReplica]:
    """Return the replicas by the accelerators that a demand needs of them; ties go to the one with more reserve."""

    def cost(replica: _SizedReplica) -> tuple[int, float]:
        working = _count_working(demand, peak_demand, replica)
        return _count_accelerators(demand, peak_demand, replica), -working * replica.rate

    return sorted(replicas, key=cost)


def _rank_by_time(
    demand: Demand, peak_demand: float, ranked: Sequence[Sequence[_SizedReplica]], estimate_many: EstimateBatch
) -> list[list[_SizedReplica]]:
    """Return the replicas by the time of a request at the peak, those on one machine first.

    Of nearly equal times the first in the given order comes first.
    """
    loaded = _estimate_under_peak(
        peak_demand, demand, [each for replicas in ranked for each in replicas], estimate_many
    )
    timed = []
    for replicas in ranked:
        times: list[tuple[bool, float, _SizedReplica]] = []
        for replica in replicas:
            at_peak, host = next(loaded), replica.sizing.accelerator.cards_per_host
            seconds = at_peak.request_s if isinstance(at_peak, Estimate) else None
            weighed = math.inf if seconds is None else weigh_request_time(seconds.value, replica.size)
            times.append((exceeds_one_machine(replica.size, host), weighed, replica))
        order: list[_SizedReplica] = []
        while times:
            beyond, least = min(each[:2] for each in times)
            best = next(each for each in times if each[0] == beyond and each[1] * ALIKE_TIME <= least)
            times.remove(best)
            order.append(best[2])
        timed.append(order)
    return timed


def _choose_replica(
    demand: Demand, peak_demand: float, ranked: Sequence[_SizedReplica], find_excess: BudgetExcess | None
) -> int | None:
    """Return the place of the first replica within the budget, else that of the least excess; None without one."""
    if not ranked:
        return None
    if find_excess is None:
        return 0
    excesses: list[float] = []
    for place, replica in enumerate(ranked):
        excesses.append(find_excess(replica.estimate, _count_accelerators(demand, peak_demand, replica)))
        if excesses[-1] == 0.0:
            return place
    return excesses.index(min(excesses))


def _fix_chosen_plan(replica: _SizedReplica, load: Load) -> EstimateRequest:
    fixed = _make_replica_request(replica.sizing.request, load, replica.size).with_plan(replica.estimate.plan)
    return replace(fixed, serving_engine=replica.estimate.serving_engine)


def _estimate_under_peak(
    peak_demand: float, demand: Demand, replicas: Sequence[_SizedReplica], estimate_many: EstimateBatch
) -> Iterator[Estimate | InputError]:
    """Yield the results of each chosen replica with its share of the peak."""
    shares = [peak_demand / _count_working(demand, peak_demand, each) for each in replicas]
    return iter(
        estimate_many(
            [_fix_chosen_plan(each, _share_load(demand, share)) for each, share in zip(replicas, shares, strict=True)]
        )
    )


def _share_load(demand: Demand, share: float) -> Load:
    if demand.kind is DemandKind.CONCURRENCY:
        return Load(LoadKind.CONCURRENCY, concurrency=math.ceil(share))
    return Load(LoadKind.REQUEST_RATE, request_rate=share)


def _make_sizing_row(
    demand: Demand,
    peak_demand: float,
    replica: _SizedReplica,
    loaded: Estimate | InputError,
    free: Estimate | InputError,
    output_tokens: int,
) -> SizingOption:
    part, size, plan = replica.sizing.accelerator, replica.size, replica.estimate.plan
    working = _count_working(demand, peak_demand, replica)
    copies = working + demand.spare_replicas
    carried = replica.carries(demand)
    raw = peak_demand / carried / demand.utilisation_cap
    in_flight = demand.kind is DemandKind.CONCURRENCY
    each = ("replica_in_flight", None) if in_flight else ("replica_seconds", "s")
    factors = (
        *list_demand_factors(demand, output_tokens),
        SizingFactor(each[0], 1.0 / carried, each[1]),
        SizingFactor("cap", 1.0 / demand.utilisation_cap),
        SizingFactor("rounding", working / raw),
        SizingFactor("tp", float(plan.tp)),
        SizingFactor("pp", float(plan.pp)),
        SizingFactor("reserve", copies / working),
    )
    at_peak = loaded if isinstance(loaded, Estimate) else replica.estimate
    return SizingOption(
        accelerator=part.id,
        reason=None,
        replicas=working,
        plan=plan,
        spare=demand.spare_replicas * size,
        count=copies * size,
        nodes=count_systems(part.cards_per_host, size, copies).systems,
        concurrency_per_replica=max(1, at_peak.concurrency or 1),
        factors=factors,
        output_tokens_per_s=_multiply_figure(replica.estimate.output_tokens_per_s, working),
        peak_output_tokens_per_s=_multiply_figure(at_peak.output_tokens_per_s, working),
        power_kw=None if part.tdp_w is None else part.tdp_w * copies * size / 1000.0,
        bound=check_physical_bound(
            replica.sizing.model,
            part,
            replica.estimate,
            free if isinstance(free, Estimate) else replica.estimate,
            peak_demand / carried * replica.rate * output_tokens,
            (working, copies, demand.utilisation_cap),
        ),
        notes=tuple(_make_sizing_notes(demand, part, at_peak, working)),
        estimate=at_peak,
    )


#: Notes of an estimate that matter to a purchase.
_SIZING_NOTES: Final = frozenset({"estimate.beyond_context", "estimate.between_hosts", "estimate.tp_between_hosts"})


def _make_sizing_notes(demand: Demand, part: Accelerator, at_peak: Estimate, working: int) -> Iterator[Message]:
    yield from (note for note in at_peak.notes if note.id in _SIZING_NOTES)
    in_flight = max(1, at_peak.concurrency or 1) * working
    if demand.kind is DemandKind.USERS and in_flight > max(demand.amount * demand.peak_factor, working):
        yield message(
            "sizing.in_flight",
            "{count} requests are in flight at peak, more than the number of users: each user has several, or sends "
            "them less often than specified",
            count=in_flight,
        )
    if part.domain_over_machines is not None:
        yield message(
            "sizing.domain",
            "One host means the {domain} accelerators of one scale-up network, which spans several servers",
            domain=part.domain_over_machines,
        )


def _multiply_figure(figure: IntervalEstimate | None, count: int) -> IntervalEstimate | None:
    return None if figure is None else IntervalEstimate(*(each * count for each in figure))


def _explain_unmet(sizing_request: SizingRequest, estimate_many: EstimateBatch) -> SizingOption:
    if sizing_request.problem is not None:
        return SizingOption(sizing_request.request.accelerator, sizing_request.problem)
    one = Load(LoadKind.CONCURRENCY, concurrency=1)
    answers = estimate_many([_make_replica_request(sizing_request.request, one, size) for size in sizing_request.sizes])
    fitting = [each for each in answers if isinstance(each, Estimate) and each.fits]
    if not fitting:
        return SizingOption(sizing_request.request.accelerator, _find_first_reason(answers))
    # A request of one output token has only a first token.
    tpot = min((each.tpot_ms.value for each in fitting if each.tpot_ms is not None), default=None)
    ttft = min(each.ttft_ms.value for each in fitting if each.ttft_ms is not None)
    if tpot is None:
        reason = message(
            "sizing.first_token_not_met",
            "No tested deployment of {accelerator} meets the limits; a single request reaches {ttft} TTFT",
            accelerator=sizing_request.accelerator.name,
            ttft=(ttft, "ms"),
        )
        return SizingOption(sizing_request.request.accelerator, reason)
    reason = message(
        "sizing.limits_not_met",
        "No tested deployment of {accelerator} meets the limits; a single request reaches {ttft} TTFT and {tpot} TPOT",
        accelerator=sizing_request.accelerator.name,
        ttft=(ttft, "ms"),
        tpot=(tpot, "ms"),
    )
    return SizingOption(sizing_request.request.accelerator, reason)


def _find_first_reason(answers: Sequence[Estimate | InputError]) -> Message:
    for answer in reversed(answers):
        if isinstance(answer, InputError):
            return answer.problem
        if answer.reason is not None:
            return answer.reason
    return message("sizing.nothing_fits", "No tested deployment fits the model and one request")
