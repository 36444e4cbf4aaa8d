"""Why the plan of an estimate was chosen and others were not.

Reasons are computed: each plan is served under the load of the estimate, and its difference from the chosen plan is the
component of its time that grew most, or the number of sequences that it runs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.domain.estimate import (
    ConsideredPlan,
    Estimate,
    EstimateRequest,
    Load,
    LoadKind,
    ParallelPlan,
    PlanChoice,
    count_parallelism_kinds,
    describe_degrees,
)
from gpudesk.engine.calibration import IntervalFactors
from gpudesk.engine.engine_support import (
    PIPELINE_DEGREES,
    TENSOR_DEGREES,
    count_experts,
    divides_heads,
    list_replica_counts,
)
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import MemoryPlan, ServingConfiguration
from gpudesk.engine.serving import LOAD_CODES, ServingResults, find_lowest_limits, score_plans, serve_loads
from gpudesk.engine.steps import Array
from gpudesk.estimation.deployment import find_objection, make_plan_wishes
from gpudesk.estimation.evaluation import CaseArrays, CaseFigures, compute_figure_intervals, iterate_figures
from gpudesk.estimation.operation import EstimateDeployment, OperatingPoint, operate, split_case_rounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, MessageParameter, Share, Term, message, message_n
from gpudesk.text.units import GIB

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpace, SearchSpaceTable


#: A plan with the reason that rules it out.
PlanExclusion = tuple[ParallelPlan, Message]


def list_plan_exclusions(
    request: EstimateRequest, configuration: ServingConfiguration, count: int
) -> tuple[PlanExclusion, ...]:
    """Return one plan of `count` accelerators for each reason that rules some out.

    Only degrees that the user left open are considered.
    """
    if count == 1 or (request.tp, request.pp, request.dp) != (None, None, None):
        return ()
    exclusions = [*_exclude_tensor(configuration, count), *_exclude_pipeline(configuration, count)]
    if request.ep is None and request.attention_dp is None:
        exclusions += _exclude_experts(configuration, count)
    return tuple(exclusions)


def _list_degrees(count: int) -> tuple[int, ...]:
    return tuple(tp for tp in TENSOR_DEGREES if 1 < tp <= count and count % tp == 0)


def _exclude_tensor(configuration: ServingConfiguration, count: int) -> Iterator[PlanExclusion]:
    """Yield tensor-parallel degrees whose heads do not divide, and the smallest that leaves its host."""
    host, reason = configuration.accelerator.cards_per_host, None
    for tp in _list_degrees(count):
        plan = ParallelPlan(tp, dp=count // tp)
        objection = find_objection(configuration, plan)
        if objection is not None and objection != reason:
            yield plan, (reason := objection)
        elif objection is not None:
            continue
        elif tp > host:
            yield (
                plan,
                message(
                    "plan.beyond_host", "not tried: TP {tp} would span hosts with {host} accelerators", tp=tp, host=host
                ),
            )
            return


def _exclude_pipeline(configuration: ServingConfiguration, count: int) -> Iterator[PlanExclusion]:
    if configuration.engine.supports_pp:
        return
    stages = [pp for pp in PIPELINE_DEGREES if 1 < pp <= configuration.model.layer_count and count % pp == 0]
    if stages:
        plan = ParallelPlan(pp=stages[0], dp=count // stages[0])
        yield (
            plan,
            message("plan.no_pp", "{engine} does not support pipeline parallelism", engine=configuration.engine.name),
        )


def _exclude_experts(configuration: ServingConfiguration, count: int) -> Iterator[PlanExclusion]:
    """Yield the widest plan with expert parallelism, and with data-parallel attention, if it was not tried."""
    experts = count_experts(configuration.model)
    host = configuration.accelerator.cards_per_host
    ranks = [tp for tp in _list_degrees(count) if tp <= host and divides_heads(configuration.model, tp)]
    if not experts or not ranks:
        return
    ep = ranks[-1]
    plan, name = ParallelPlan(ep, ep=ep, dp=count // ep), configuration.engine.name
    spread = ParallelPlan(ep, ep=ep, dp=count // ep, attention_dp=True)
    if experts % ep:
        yield (
            plan,
            message(
                "plan.experts_do_not_divide", "EP {ep} does not divide the {experts} experts", ep=ep, experts=experts
            ),
        )
        return
    if not configuration.engine.supports_ep:
        yield plan, message("plan.no_ep", "{engine} does not support expert parallelism", engine=name)
    elif (objection := find_objection(configuration, plan)) is not None:
        yield plan, objection
    if not configuration.engine.supports_attention_dp:
        yield spread, message("plan.no_attention_dp", "{engine} does not support data-parallel attention", engine=name)
    elif (objection := find_objection(configuration, spread)) is not None:
        yield spread, objection


#: Names of the first four of `LIMITERS` in reasons.
_PARTS: Final = (
    Term("part.reads", "reading memory"),
    Term("part.arithmetic", "compute"),
    Term("part.collectives", "communication"),
    Term("part.overhead", "overhead"),
)


@frozen_dataclass
class PlanTrial:
    """One plan under the load.

    `score` is the ranking of the search. `rate` is in output tokens/s, 0 if the plan misses the limits of the load;
    `lifted` is its rate with as many sequences at once as the chosen plan. `spent` divides the seconds of the
    deployment per request by the first four of `LIMITERS`; `level` does so with the chosen plan's sequences in flight,
    regardless of the limits. `alone` is TTFT and TPOT of a single request in flight, in seconds, as limits count them.
    `idle` replicas have no request.
    """

    plan: ParallelPlan
    figures: CaseFigures
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


@frozen_dataclass
class TimeGrowth:
    """The component of the time that grew most: its shares of the time of both plans, and its factor."""

    part: str
    now: float
    before: float
    times: float

    @property
    def is_share(self) -> bool:
        """Whether its share rose too, which is more telling than the factor."""
        return round(100 * self.now) > round(100 * self.before)


def find_time_growth(mine: tuple[float, ...], theirs: tuple[float, ...]) -> TimeGrowth | None:
    """Return the component that grew most; None if none grew visibly."""
    place = max(range(len(mine)), key=lambda place: mine[place] - theirs[place])
    if mine[place] <= theirs[place]:
        return None
    times = mine[place] / theirs[place] if theirs[place] > 0.0 else math.inf
    growth = TimeGrowth(_PARTS[place], mine[place] / sum(mine), theirs[place] / sum(theirs), times)
    return growth if growth.is_share or times < math.inf else None


def try_plans(
    estimate: Estimate,
    space: SearchSpace,
    fitting: Sequence[MemoryPlan],
    table: SearchSpaceTable,
    constants: SchedulingConstants,
) -> tuple[PlanTrial, ...]:
    """Return the results of each plan, in order; that of the estimate must be among them."""
    tried = [EstimateDeployment(estimate, space, space.resolve(memory)) for memory in fitting]
    operating_point = operate(tried, table, constants)
    figures = _list_trial_figures(tried, operating_point, table)
    scores = score_plans(
        operating_point.arrays.rows,
        operating_point.arrays.requests,
        operating_point.arrays.loads,
        operating_point.results,
        constants,
    )
    admitted = _count_running(operating_point.results)
    spent = _compute_spent_time(operating_point)
    chosen_place = next(place for place, memory in enumerate(fitting) if memory.plan == estimate.plan)
    output = operating_point.arrays.requests.output
    lifted = np.nan_to_num(_compute_lifted_rate(operating_point, float(admitted[chosen_place]), constants) * output)
    level = _compute_level_time(operating_point, float(admitted[chosen_place]), constants)
    ttft, tpot = _compute_single_latency(operating_point, constants)
    idle = _count_idle_replicas(estimate, operating_point.arrays)
    return tuple(
        PlanTrial(
            plan=memory.plan,
            figures=plan_figures,
            score=float(scores[place]),
            rate=0.0 if plan_figures.output_tokens_per_s is None else plan_figures.output_tokens_per_s.value,
            lifted=float(lifted[place]),
            spent=tuple(spent[place].tolist()),
            level=tuple(level[place].tolist()),
            alone=(float(ttft[place]), float(tpot[place])),
            idle=int(idle[place]),
        )
        for place, (memory, plan_figures) in enumerate(zip(fitting, figures, strict=True))
    )


def _list_trial_figures(
    tried: list[EstimateDeployment], operating_point: OperatingPoint, table: SearchSpaceTable
) -> list[CaseFigures]:
    every = np.arange(len(tried))
    ideal = table.coefficients.take_ideal([each.deployment for each in tried])
    factors = np.array([each.space.interval_factors[each.estimate.request.workload.load.kind] for each in tried])
    intervals = compute_figure_intervals(operating_point.results, operating_point.arrays, every, ideal, factors)
    return list(iterate_figures(operating_point.results, every, intervals))


def _count_running(results: ServingResults) -> Array:
    """Sequences that run at once in the whole deployment, at least one."""
    return np.maximum(np.nan_to_num(results.admitted, nan=1.0), 1.0)


def _compute_spent_time(operating_point: OperatingPoint) -> Array:
    """Seconds of the deployment per request by component; one row per case."""
    admitted = _count_running(operating_point.results)
    return np.array([part / admitted for part in operating_point.rounds.parts]).T


def _compute_lifted_rate(operating_point: OperatingPoint, most: float, constants: SchedulingConstants) -> Array:
    """Requests/s if memory and serving engine admitted `most` sequences to every deployment."""
    arrays = operating_point.arrays
    capacity = np.maximum(arrays.requests.capacity, np.ceil(most / arrays.loads.replicas))
    if np.array_equal(capacity, arrays.requests.capacity):
        return operating_point.results.rate
    requests = replace(arrays.requests, capacity=capacity)
    return serve_loads(arrays.rows, requests, arrays.loads, constants).rate


def _has_limits(arrays: CaseArrays) -> bool:
    """Whether the load has latency limits, which is equal for all plans of an estimate."""
    return bool(arrays.loads.kind[0] == LOAD_CODES[LoadKind.LIMITS])


def _compute_level_time(operating_point: OperatingPoint, most: float, constants: SchedulingConstants) -> Array:
    """As `_compute_spent_time`, with `most` sequences in flight if limits decided their number."""
    if not _has_limits(operating_point.arrays):
        return _compute_spent_time(operating_point)
    each = np.ceil(most / operating_point.arrays.loads.replicas)
    # The results of replicas with `each` sequences in flight, if limits decided their number.
    arrays = operating_point.arrays
    anything = np.full_like(each, np.inf)
    loads = replace(arrays.loads, ttft=anything, tpot=anything, p99=np.zeros_like(arrays.loads.p99))
    changed = replace(arrays, requests=replace(arrays.requests, capacity=each), loads=loads)
    results = serve_loads(changed.rows, changed.requests, changed.loads, constants)
    return _compute_spent_time(OperatingPoint(changed, results, split_case_rounds(changed, results)))


def _compute_single_latency(operating_point: OperatingPoint, constants: SchedulingConstants) -> tuple[Array, Array]:
    """Seconds of TTFT and TPOT of one request in flight as limits count them; infinite if neither is missed."""
    arrays = operating_point.arrays
    if not _has_limits(arrays) or not np.any(np.isnan(operating_point.results.rate)):
        return np.full_like(arrays.counts, np.inf), np.full_like(arrays.counts, np.inf)
    return find_lowest_limits(arrays.rows, arrays.requests, arrays.loads, constants)


def _count_idle_replicas(estimate: Estimate, arrays: CaseArrays) -> Array:
    load = estimate.request.workload.load
    load_amount = {
        LoadKind.BATCH: load.batch,
        LoadKind.CONCURRENCY: load.concurrency,
        LoadKind.SATURATE: load.requests,
    }.get(load.kind)
    replicas = arrays.loads.replicas
    return np.zeros_like(replicas) if load_amount is None else np.maximum(replicas - load_amount, 0.0)


#: Rates that differ by less look equal: both are shown in whole percent.
_SAME_RATE: Final = 0.005
#: From this ratio on a plan is described as a multiple; below it, as a percentage.
_TIMES: Final = 3.0


@frozen_dataclass
class PlanIntervals:
    """Errors of plan comparisons: intervals of the ratio of their throughput, TTFT and TPOT."""

    throughput: IntervalFactors
    ttft: IntervalFactors
    tpot: IntervalFactors


def explain_plan_choice(
    estimate: Estimate, table: SearchSpaceTable, constants: SchedulingConstants, bands: PlanIntervals
) -> PlanChoice:
    request = estimate.request
    if estimate.plan.count != estimate.count:
        return PlanChoice(())
    space = table.find_space(request)
    memory = space.list_memory_plans(estimate.count)
    tokens = estimate.request.workload.request_tokens
    fitting = [each for each in memory if each.budget.max_sequences(tokens) >= 1]
    trials = try_plans(estimate, space, fitting, table, constants) if estimate.fits else ()
    short = [each for each in memory if each.budget.max_sequences(tokens) < 1]
    options = [
        *_make_fitting_options(estimate, trials, bands),
        *(_make_unfit_options(each, tokens) for each in _sort_nearest_first(short, tokens)),
        *(_make_unfit_options(each, tokens) for each in _list_smaller_plans(estimate, space, tokens)),
        *(
            ConsideredPlan(plan, fits=None, is_chosen=False, reasons=(why,))
            for plan, why in list_plan_exclusions(request, space.configuration, estimate.count)
        ),
    ]
    return PlanChoice(tuple(options))


# Plans that do not fit


def _sort_nearest_first(memory: list[MemoryPlan], tokens: int) -> list[MemoryPlan]:
    return sorted(memory, key=lambda each: -each.budget.headroom_bytes(tokens))


def _list_smaller_plans(estimate: Estimate, space: SearchSpace, tokens: int) -> list[MemoryPlan]:
    """Return the closest plan of each smaller deployment, if the size was left open."""
    request, configuration = estimate.request, space.configuration
    if request.count is not None:
        return []
    sizes = list_replica_counts(configuration.accelerator, make_plan_wishes(request, configuration.engine))
    smaller = [count for count in sizes if count < estimate.count]
    plan_lists = [space.list_memory_plans(count) for count in reversed(smaller)]
    return [_sort_nearest_first(list(each), tokens)[0] for each in plan_lists if each]


def _make_unfit_options(memory: MemoryPlan, tokens: int) -> ConsideredPlan:
    budget = memory.budget
    if budget.weights_bytes > budget.capacity_bytes:
        why = message(
            "plan.weights_do_not_fit",
            "does not fit: weights take {weights} of {capacity}",
            weights=budget.weights_bytes / GIB,
            capacity=(budget.capacity_bytes / GIB, "GiB"),
        )
    else:
        why = message(
            "plan.does_not_fit",
            "does not fit: one request needs {missing} more",
            missing=(-budget.headroom_bytes(tokens) / GIB, "GiB"),
        )
    return ConsideredPlan(memory.plan, fits=False, is_chosen=False, reasons=(why,))


# Plans that fit


def _make_fitting_options(
    estimate: Estimate, trials: tuple[PlanTrial, ...], bands: PlanIntervals
) -> list[ConsideredPlan]:
    if not trials:
        return []
    chosen_trial = next(trial for trial in trials if trial.plan == estimate.plan)
    others = sorted((trial for trial in trials if trial is not chosen_trial), key=lambda trial: -trial.score)
    load = estimate.request.workload.load
    options = [_make_plan_option(other, chosen_trial, load, bands) for other in others]
    return [_explain_taken(estimate, chosen_trial, others, options, bands), *options]


def _make_plan_option(other: PlanTrial, chosen_trial: PlanTrial, load: Load, bands: PlanIntervals) -> ConsideredPlan:
    reasons = [_list_reasons_against(other, chosen_trial, load)]
    if reasons[0].id == "plan.slower_limits":
        reasons += _compare_at_equal_load(other, chosen_trial)
    within = _is_within_error(other.rate, chosen_trial.rate, bands.throughput) and other.rate < chosen_trial.rate * (
        1.0 - _SAME_RATE
    )
    if within:
        reasons.append(message("plan.within_error", "within the error"))
    return ConsideredPlan(
        plan=other.plan,
        fits=True,
        is_chosen=False,
        reasons=tuple(reasons),
        output_tokens_per_s=other.figures.output_tokens_per_s,
        ttft_ms=other.figures.ttft_ms,
        tpot_ms=other.figures.tpot_ms,
        within_error=within,
    )


def _is_within_error(value: float, against: float, factors: IntervalFactors) -> bool:
    if value <= 0.0 or against <= 0.0:
        return False
    ratio = factors.around(value / against)
    return ratio.low <= 1.0 <= ratio.high


def _explain_taken(
    estimate: Estimate,
    chosen_trial: PlanTrial,
    others: list[PlanTrial],
    options: list[ConsideredPlan],
    bands: PlanIntervals,
) -> ConsideredPlan:
    option = ConsideredPlan(
        plan=chosen_trial.plan,
        fits=True,
        is_chosen=True,
        reasons=(_list_reasons_for(estimate, chosen_trial, others),),
        output_tokens_per_s=estimate.output_tokens_per_s,
        ttft_ms=estimate.ttft_ms,
        tpot_ms=estimate.tpot_ms,
    )
    fewer = [
        other
        for other in options
        if count_parallelism_kinds(other.plan) < count_parallelism_kinds(option.plan)
        and _is_as_good(other, option, bands)
    ]
    simpler_plan = min(fewer, key=lambda other: count_parallelism_kinds(other.plan), default=None)
    simpler = None if simpler_plan is None else simpler_plan.plan
    if chosen_trial.rate <= 0.0:
        missed = _explain_missed_limits(chosen_trial, estimate.request.workload.load)
        return replace(option, reasons=(*option.reasons, missed))
    if simpler is None:
        return option
    return replace(
        option,
        reasons=(
            *option.reasons,
            message(
                "plan.simpler_would_do",
                "{plan} is simpler and equally fast within the error",
                plan=describe_degrees(simpler),
            ),
        ),
    )


def _list_reasons_for(estimate: Estimate, chosen_trial: PlanTrial, others: list[PlanTrial]) -> Message:
    if estimate.count == 1:
        return message("plan.single", "the only plan with one accelerator")
    if not others:
        request = estimate.request
        is_user_plan = request.tp is not None and request.pp is not None
        return (
            message("plan.as_given", "as specified")
            if is_user_plan
            else message("plan.only_one", "the only plan that fits")
        )
    following = others[0]
    plan = describe_degrees(following.plan)
    if chosen_trial.rate <= 0.0:
        return message("plan.nearest_to_limits", "no plan meets the latency limits; this one is closest")
    if following.rate <= 0.0:
        return message("plan.only_one_meets_limits", "the only plan that meets the latency limits")
    ratio = chosen_trial.rate / following.rate
    if ratio >= _TIMES:
        return message("plan.ahead_times", "{times} times as fast as the next plan, {plan}", times=ratio, plan=plan)
    if following.rate < chosen_trial.rate * (1.0 - _SAME_RATE):
        return message("plan.ahead", "{ahead} faster than the next plan, {plan}", ahead=Share(ratio - 1.0), plan=plan)
    ours, theirs = chosen_trial.figures.tpot_ms, following.figures.tpot_ms
    if ours is not None and theirs is not None and ours.value < theirs.value * (1.0 - _SAME_RATE):
        return message(
            "plan.sooner",
            "same throughput as {plan}, with a shorter TPOT: {tpot} against {other}",
            plan=plan,
            tpot=(ours.value, "ms"),
            other=(theirs.value, "ms"),
        )
    return message("plan.level", "less than 1% faster than the next plan, {plan}", plan=plan)


def _is_as_good(other: ConsideredPlan, chosen_plan: ConsideredPlan, bands: PlanIntervals) -> bool:
    ours, theirs = chosen_plan.output_tokens_per_s, other.output_tokens_per_s
    if ours is None or theirs is None:
        return False
    if theirs.value < ours.value and not _is_within_error(theirs.value, ours.value, bands.throughput):
        return False
    return _is_no_later(other.ttft_ms, chosen_plan.ttft_ms, bands.ttft) and _is_no_later(
        other.tpot_ms, chosen_plan.tpot_ms, bands.tpot
    )


def _is_no_later(
    other: IntervalEstimate | None, chosen_interval: IntervalEstimate | None, factors: IntervalFactors
) -> bool:
    if other is None or chosen_interval is None:
        return other is chosen_interval
    return other.value <= chosen_interval.value or _is_within_error(other.value, chosen_interval.value, factors)


def _list_reasons_against(other: PlanTrial, chosen_trial: PlanTrial, load: Load) -> Message:
    if other.rate <= 0.0:
        return _explain_missed_limits(other, load)
    if chosen_trial.figures.stable and not other.figures.stable:
        request_rate = load.request_rate or 0.0
        return message(
            "plan.overloaded",
            "queueing: serves {served} of {asked} requests/s",
            served=request_rate * other.rate / chosen_trial.rate,
            asked=request_rate,
        )
    behind = 1.0 - other.rate / chosen_trial.rate if chosen_trial.rate > 0.0 else 0.0
    if behind < _SAME_RATE:
        return _explain_later(other, chosen_trial)
    if other.idle > chosen_trial.idle:
        return message_n(
            "plan.slower_idle",
            "{behind} slower: {idle} of {replicas} replicas is idle",
            "{behind} slower: {idle} of {replicas} replicas are idle",
            "idle",
            behind=Share(behind),
            idle=other.idle,
            replicas=other.plan.dp,
        )
    if other.admitted < chosen_trial.admitted:
        if other.lifted - other.rate > 0.5 * (chosen_trial.rate - other.rate):
            most = chosen_trial.admitted
            return message(
                "plan.slower_fewer",
                "{behind} slower: fewer concurrent sequences, {admitted} against {most}",
                behind=Share(behind),
                admitted=other.admitted,
                most=most,
            )
        if load.kind is LoadKind.LIMITS:
            most = chosen_trial.admitted
            return message_n(
                "plan.slower_limits",
                "{behind} slower: meets the limits with {admitted} request in flight, against {most}",
                "{behind} slower: meets the limits with {admitted} requests in flight, against {most}",
                "admitted",
                behind=Share(behind),
                admitted=other.admitted,
                most=most,
            )
    return _explain_slower(behind, other, chosen_trial)


def _compare_at_equal_load(other: PlanTrial, chosen_trial: PlanTrial) -> list[Message]:
    """Return why a plan meets the limits only with fewer sequences: the time that grows most at equal load."""
    grown = find_time_growth(other.level, chosen_trial.level)
    most = chosen_trial.admitted
    if grown is None:
        return []
    if grown.is_share:
        return [
            message(
                "plan.as_many_share",
                "with {most}, {part} takes {now} of its time, up from {before}",
                most=most,
                part=grown.part,
                now=Share(grown.now),
                before=Share(grown.before),
            )
        ]
    return [
        message(
            "plan.as_many_times",
            "with {most}, {part} takes {times} times as long per token",
            most=most,
            part=grown.part,
            times=grown.times,
        )
    ]


def _explain_missed_limits(other: PlanTrial, load: Load) -> Message:
    """Return the latency limit that even a single request misses; of two, the one missed by more."""
    ttft, tpot = (1e3 * each for each in other.alone)
    missed = {}
    if load.ttft_ms is not None and ttft > load.ttft_ms:
        missed[ttft / load.ttft_ms] = message(
            "plan.misses_ttft",
            "misses the TTFT limit with a single request: {ttft} against {limit}",
            ttft=(ttft, "ms"),
            limit=_state_growth(load.ttft_ms),
        )
    if load.tpot_ms is not None and tpot > load.tpot_ms:
        missed[tpot / load.tpot_ms] = message(
            "plan.misses_tpot",
            "misses the TPOT limit with a single request: {tpot} against {limit}",
            tpot=(tpot, "ms"),
            limit=_state_growth(load.tpot_ms),
        )
    return missed[max(missed)] if missed else message("plan.misses_limits", "misses the latency limits")


def _state_growth(value: float) -> MessageParameter:
    return int(value) if value == int(value) else value


def _explain_later(other: PlanTrial, chosen_trial: PlanTrial) -> Message:
    ours, theirs = other.figures.tpot_ms, chosen_trial.figures.tpot_ms
    if ours is not None and theirs is not None and ours.value > theirs.value * (1.0 + _SAME_RATE):
        return message(
            "plan.later",
            "same throughput, with a longer TPOT: {tpot} against {other}",
            tpot=(ours.value, "ms"),
            other=(theirs.value, "ms"),
        )
    return message("plan.no_better", "less than 1% slower")


def _explain_slower(behind: float, other: PlanTrial, chosen_trial: PlanTrial) -> Message:
    """Name the component of the time that grew most, by its share or, if that did not rise, by its factor."""
    grown = find_time_growth(other.spent, chosen_trial.spent)
    if grown is None:
        if other.plan.pp > chosen_trial.plan.pp:
            # Not part of a round: prompts wait until the stages are filled.
            return message(
                "plan.slower_stages",
                "{behind} slower: a request passes {pp} stages in sequence",
                behind=Share(behind),
                pp=other.plan.pp,
            )
        return message("plan.slower", "{behind} slower", behind=Share(behind))
    part = grown.part
    if grown.is_share:
        return message(
            "plan.slower_share",
            "{behind} slower: {part} takes {now} of its time, up from {before}",
            behind=Share(behind),
            part=part,
            now=Share(grown.now),
            before=Share(grown.before),
        )
    return message(
        "plan.slower_times",
        "{behind} slower: {part} takes {times} times as long per token",
        behind=Share(behind),
        part=part,
        times=grown.times,
    )
