"""If nothing meets every limit: the smallest changes after which something does, each computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.decision.facts.accelerator_facts import get_number
from gpudesk.decision.facts.deployments import DeploymentTerms, serves_within
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.accelerator import round_up_to_lots
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice, Answer, Scenario
from gpudesk.domain.decision import (
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    QuestionAnswer,
    RuleEffect,
    WayOut,
    WayOutKind,
)
from gpudesk.domain.estimate import EstimateRequest, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, message

if TYPE_CHECKING:
    from gpudesk.decision.facts.accelerator_facts import AcceleratorView

#: Weight formats to try instead of the requested one.
_FORMATS: Final = (Precision.BF16, Precision.FP8, Precision.FP4, Precision.INT4)
_BITS: Final = {Precision.FP8: 8, Precision.INT8: 8, Precision.FP6: 6}
_WIDE, _NARROW = 16, 4
#: Factors by which prompts are shortened.
_SHORTER: Final = (2, 4, 8)
MOST_WAYS_OUT: Final = 3
#: Accelerators of a usual host: more of another accelerator are a large change.
_MOST_OF_ANOTHER: Final = 8
#: Facts with which rules require a deployment to keep within the budget, and to carry its load or be paid for.
_PAID: Final = frozenset({"spend_usd"})
_DEPLOYED: Final = _PAID | {"fits", "fits_alone", "holds_load", "ttft_ms", "tpot_ms", "likely_tpot_ms"}
#: Answers that a way out overrides.
_OVERRIDDEN: Final[Mapping[WayOutKind, str]] = {
    WayOutKind.WEIGHTS: "precision",
    WayOutKind.COUNT: "shape",
    WayOutKind.CONTEXT: "long_context",
}


def list_mendable(decision: Decision) -> tuple[str, ...]:
    """Return the accelerators removed only by fit, load, limits or budget: another deployment could do."""
    return tuple(each.accelerator for each in decision.candidates if _is_removed_by(decision, each, _DEPLOYED))


def find_budget(decision: Decision, views: Sequence[AcceleratorView]) -> WayOut | None:
    """Return the smallest budget that buys what meets all other limits; None where the budget rules out nothing."""
    affordable = [
        (spend, view)
        for candidate, part, view in zip(decision.candidates, decision.parts, views, strict=True)
        if candidate.removed
        and _is_removed_by(decision, candidate, _PAID)
        and (spend := get_number(part, "spend_usd")) is not None
    ]
    if not affordable:
        return None
    spend, view = min(affordable, key=lambda each: each[0])
    assert view.estimate is not None
    return WayOut(WayOutKind.BUDGET, view.column.accelerator.name, view.estimate, math.ceil(spend))


def _is_removed_by(decision: Decision, candidate: DecisionCandidate, facts: frozenset[str]) -> bool:
    """Whether every rule that removes a candidate, if any does, holds it to one of these facts."""
    rules = {line.rule.id: line for line in decision.trace}
    return all(parse_condition(rules[rule].case.requires or "").names & facts for rule in candidate.removed)


def search_ways_out(
    service: PlanningServices,
    answer: Answer,
    terms: DeploymentTerms,
    decision: Decision,
    decide: Callable[[Answer, Mapping[str, AnswerValue]], Decision],
) -> ProgressSteps[tuple[WayOut, ...]]:
    """Search for the smallest change of each kind that meets every limit of a decision, some trials per step.

    With few kinds, their next changes follow. `answer` is on the deployments that it judges; `decide` tries others.
    """
    allowed, answers = list_mendable(decision), decision.answers
    needed = {
        each.accelerator: count
        for each in decision.candidates
        if (count := decision.set_counts.get(each.key)) is not None
    }
    every = answer.scenario.requests()
    requests = [
        (each, column.choice.count)
        for each, column in zip(every, answer.columns, strict=True)
        if column.accelerator.id in allowed
    ]
    user_answers = {name: each.value for name, each in answers.items() if each.origin is not AnswerOrigin.DEFAULT}
    lots = _list_lots(service, answer.scenario, answers)

    def measure(way: WayOut) -> tuple[float, ...]:
        return _measure_change(way, lots.get(way.estimate.request.accelerator, 1))

    kinds = (
        _try_formats(service, requests, terms),
        _try_counts(service, requests, terms, needed),
        _try_parts(service, every, terms, lots),
        _try_prompts(service, requests, terms),
        _try_parts(service, every, terms, lots, other_formats=True),
    )
    smallest: list[WayOut] = []
    further: list[WayOut] = []
    for number, tries in enumerate(kinds):
        progress = JobProgress(message("decide.ways_out", "Searching for alternatives"), number, len(kinds))
        yield progress
        # The last kind has most to try: only its smallest changes, and only if no accelerator helps in this format.
        is_last = number == len(kinds) - 1
        if len(smallest) == MOST_WAYS_OUT or (is_last and _has_other_accelerator(smallest)):
            break
        tried = list(tries)
        estimates = service.estimator.estimate_many([request for _, request in tried])
        working = [
            WayOut(kind, service.catalog.accelerator(estimate.request.accelerator).name, estimate)
            for (kind, _), estimate in zip(tried, estimates, strict=True)
            if not isinstance(estimate, InputError) and serves_within(estimate, terms)
        ]
        ways: list[WayOut] = []
        working = _carry_demand(service, answer.scenario, working)
        for scenario, group in _group_ways(answer.scenario, sorted(working, key=measure)):
            yield progress
            ways += _meet_limits(
                service, scenario, group[:MAX_ACCELERATORS] if is_last else group, user_answers, decide
            )
        ways.sort(key=measure)
        smallest += ways[:1]
        # More accelerators of each are one change for all columns.
        further += [way for way in ways[1:] if way.kind is not WayOutKind.COUNT]
    return (*smallest, *sorted(further, key=measure))[:MOST_WAYS_OUT]


def _list_lots(
    service: PlanningServices, scenario: Scenario, answers: Mapping[str, QuestionAnswer]
) -> Mapping[str, int]:
    """Return the accelerators on sale now in an open way to pay and within the budget, with the smallest paid lot."""
    acquisition, budget = answers["acquisition"].value, answers["budget_usd"].value
    lots: dict[str, int] = {}
    for rented, price in ((False, "price_usd"), (True, "rent_usd_per_hour")):
        if acquisition == ("own" if rented else "rent"):
            continue
        most = budget if isinstance(budget, float) and not rented else math.inf
        prices = {
            each.id: spread.likely
            for each in service.catalog.accelerators()
            if not each.announced
            # As rule L-11: drivers that are licensed for offices only.
            and not (each.is_barred_from_data_centers and (rented or answers["site"].value != "office"))
            # A rack is not bought for a few of its accelerators.
            and (rented or not (each.discontinued or each.domain_over_machines))
            and (spread := service.costing.resolve_inputs(each, 1, scenario)[price].spread) is not None
        }
        for part, lot in zip(prices, service.costing.find_lots([*prices], scenario, rented=rented), strict=True):
            if lot * prices[part] <= most:
                lots[part] = min(lot, lots.get(part, lot))
    return lots


def _has_other_accelerator(ways: Sequence[WayOut]) -> bool:
    return any(way.kind is WayOutKind.ACCELERATOR for way in ways)


def _group_ways(scenario: Scenario, ways: Sequence[WayOut]) -> Iterator[tuple[Scenario, list[WayOut]]]:
    """Yield ways that one decision can compare, with their scenario, and the first of each accelerator."""
    groups: dict[tuple[Precision, Workload], dict[str, WayOut]] = {}
    for way in ways:
        request = way.estimate.request
        groups.setdefault((request.weights, request.workload), {}).setdefault(request.accelerator, way)
    for (weights, workload), first in groups.items():
        yield replace(scenario, weights=weights, workload=workload, demand=None), list(first.values())


def _carry_demand(service: PlanningServices, scenario: Scenario, ways: Sequence[WayOut]) -> list[WayOut]:
    """Return the ways with as many accelerators as a demand needs, spares included; all without a demand."""
    if scenario.demand is None:
        return list(ways)
    parts: dict[tuple[Precision, Workload], set[str]] = {}
    for way in ways:
        request = way.estimate.request
        parts.setdefault((request.weights, request.workload), set()).add(request.accelerator)
    needed: dict[tuple[Precision, Workload, str], float] = {}
    for (weights, workload), accelerators in parts.items():
        choices = tuple(map(AcceleratorChoice, sorted(accelerators)))
        sized = service.size(replace(scenario, weights=weights, workload=workload, accelerators=choices))
        needed |= {(weights, workload, each.accelerator): each.count or math.inf for each in sized.candidates}
    return [
        way
        for way in ways
        for request in [way.estimate.request]
        if way.estimate.count >= needed[request.weights, request.workload, request.accelerator]
    ]


def _meet_limits(
    service: PlanningServices,
    scenario: Scenario,
    ways: Sequence[WayOut],
    answer_values: Mapping[str, AnswerValue],
    decide: Callable[[Answer, Mapping[str, AnswerValue]], Decision],
) -> list[WayOut]:
    """Return the first ways that break no limit of the answers, in as few decisions as possible.

    A limit that a missing fact leaves undecided is named with the way.
    """
    eligible: list[WayOut] = []
    for start in range(0, len(ways), MAX_ACCELERATORS):
        compared = ways[start : start + MAX_ACCELERATORS]
        choices = tuple(
            AcceleratorChoice(
                each.estimate.request.accelerator,
                count=each.estimate.count,
                serving_engine=each.estimate.serving_engine,
            )
            for each in compared
        )
        # Every candidate has a speed, but not every one a price: the limits alone decide.
        answers = {name: value for name, value in answer_values.items() if name != _OVERRIDDEN.get(compared[0].kind)}
        decision = decide(service.answer(replace(scenario, accelerators=choices)), {**answers, "priority": "speed"})
        eligible += [
            way._replace(undecided=_list_undecided(decision, place))
            for place, (way, each) in enumerate(zip(compared, decision.candidates, strict=True))
            if each.eligible
        ]
        if len(eligible) >= MOST_WAYS_OUT:
            break
    return eligible


def _list_undecided(decision: Decision, place: int) -> tuple[str, ...]:
    """Return the titles of limits that a missing fact leaves undecided; intervals count by their likely values."""
    return tuple(
        line.title
        for line in decision.trace
        if line.case.requires is not None
        and line.cells[place].effect is RuleEffect.UNDECIDED
        and not all(isinstance(each.left, IntervalEstimate) for each in line.cells[place].tested if each.holds is None)
    )


def _measure_change(way: WayOut, lot: int) -> tuple[float, ...]:
    """Return the size of a change: paid accelerators first, then lost bits and tokens, the format, then throughput.

    At equal width, FP4 comes before INT4: newer accelerators compute in it.
    """
    estimate = way.estimate
    request, rate = estimate.request, estimate.output_tokens_per_s_per_accelerator
    given_up = (-_count_bits(request.weights), -request.workload.input_tokens)
    order = _FORMATS.index(request.weights) if request.weights in _FORMATS else -1
    paid = round_up_to_lots(estimate.count, lot) if way.kind is WayOutKind.ACCELERATOR else estimate.count
    return paid, *given_up, order, 0.0 if rate is None else -rate.value


_Request = tuple[EstimateRequest, int | None]
_Tries = Iterator[tuple[WayOutKind, EstimateRequest]]


def _count_bits(precision: Precision) -> int:
    if precision in (Precision.FP16, Precision.BF16):
        return _WIDE
    return _BITS.get(precision, _NARROW)


def _open_counts(
    service: PlanningServices, request: EstimateRequest, requested_count: int | None, *, alone: bool
) -> list[int]:
    """Return the counts that a way out tries: only the requested count if there is one."""
    if requested_count is not None or alone:
        return [requested_count if requested_count is not None and not alone else 1]
    try:
        return list(service.estimator.list_counts(request.with_open_plan()))
    except InputError:
        return []


def _try_formats(service: PlanningServices, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    for request, requested_count in requests:
        for weights in _FORMATS:
            if _count_bits(weights) != _count_bits(request.weights):
                other = replace(request, weights=weights)
                for count in _open_counts(service, other, requested_count, alone=terms.alone):
                    yield WayOutKind.WEIGHTS, other.with_open_plan(count)


def _try_counts(
    service: PlanningServices, requests: Sequence[_Request], terms: DeploymentTerms, needed: Mapping[str, int]
) -> _Tries:
    """Yield more of each accelerator: as many as a demand `needed`, if known."""
    for request, requested_count in requests:
        if request.accelerator in needed:
            yield WayOutKind.COUNT, request.with_open_plan(needed[request.accelerator])
            continue
        least = 1 if terms.alone else requested_count or 1
        for count in _open_counts(service, request, None, alone=False):
            if count > least:
                yield WayOutKind.COUNT, request.with_open_plan(count)


def _try_parts(
    service: PlanningServices,
    compared: Sequence[EstimateRequest],
    terms: DeploymentTerms,
    lots: Mapping[str, int],
    *,
    other_formats: bool = False,
) -> _Tries:
    """Yield few of other accelerators; `lots` are of those on sale."""
    accelerators, first = {each.accelerator for each in compared}, compared[0]
    bits = _count_bits(first.weights)
    formats = [each for each in _FORMATS if _count_bits(each) != bits] if other_formats else [first.weights]
    for part in service.catalog.accelerators():
        if part.id in accelerators or part.id not in lots:
            continue
        most = min(_MOST_OF_ANOTHER, part.cards_per_host)
        for weights in formats:
            other = replace(first, accelerator=part.id, weights=weights, serving_engine=terms.serving_engine)
            for count in _open_counts(service, other, None, alone=terms.alone):
                if count <= most and round_up_to_lots(count, lots[part.id]) <= _MOST_OF_ANOTHER:
                    yield WayOutKind.ACCELERATOR, other.with_open_plan(count)


def _try_prompts(service: PlanningServices, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    for request, requested_count in requests:
        for times in _SHORTER:
            tokens = max(1, request.workload.input_tokens // times)
            shorter = replace(request, workload=replace(request.workload, input_tokens=tokens))
            for count in _open_counts(service, shorter, requested_count, alone=terms.alone):
                yield WayOutKind.CONTEXT, shorter.with_open_plan(count)
