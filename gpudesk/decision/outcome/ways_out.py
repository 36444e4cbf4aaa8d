"""If nothing meets every limit: the smallest changes after which something does, each computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.decision.facts.accelerator_facts import get_number
from gpudesk.decision.facts.deployments import DeploymentSource, DeploymentTerms, serves_within
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.domain.answer import Answer
from gpudesk.domain.decision import Decision, DecisionCandidate, WayOut, WayOutKind
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.domain.precision import Precision
from gpudesk.text.messages import InputError

if TYPE_CHECKING:
    from gpudesk.decision.facts.accelerator_facts import AcceleratorView

#: Weight formats to try instead of the requested one.
_FORMATS: Final = (Precision.BF16, Precision.FP8, Precision.FP4, Precision.INT4)
_BITS: Final = {Precision.FP8: 8, Precision.INT8: 8, Precision.FP6: 6}
_WIDE, _NARROW = 16, 4
#: Factors by which prompts are shortened.
_SHORTER: Final = (2, 4, 8)
MOST_WAYS_OUT: Final = 3
#: Facts with which rules require a deployment to carry its load, and to keep within the budget.
_CARRIED: Final = frozenset({"fits", "fits_alone", "holds_load", "ttft_ms", "tpot_ms"})
_PAID: Final = frozenset({"spend_usd"})


def list_mendable(decision: Decision) -> tuple[str, ...]:
    """Return the accelerators removed only by fit, load or limits: another deployment could do."""
    return tuple(each.accelerator for each in decision.candidates if _is_removed_by(decision, each, _CARRIED))


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


def find_ways_out(
    service: DeploymentSource, answer: Answer, terms: DeploymentTerms, allowed: Sequence[str]
) -> tuple[WayOut, ...]:
    """Return at most three ways of different kinds, the smallest changes first.

    `answer` is on the deployments to judge; `allowed` are the accelerators that only fit, load and limits rule out. If
    others are ruled out too, no further accelerator is searched.
    """
    ways_out: list[WayOut] = []
    requests = [
        (each, column.choice.count)
        for each, column in zip(answer.scenario.requests(), answer.columns, strict=True)
        if column.accelerator.id in allowed
    ]
    parts = (_try_parts,) if len(allowed) == len(answer.columns) else ()
    for tries in (_try_formats, _try_counts, *parts, _try_prompts):
        tried = list(tries(service, requests, terms))
        estimates = service.estimator.estimate_many([request for _, request in tried])
        working = [
            WayOut(kind, service.catalog.accelerator(estimate.request.accelerator).name, estimate)
            for (kind, _), estimate in zip(tried, estimates, strict=True)
            if not isinstance(estimate, InputError) and serves_within(estimate, terms)
        ]
        if working:
            ways_out.append(min(working, key=_measure_change))
    return tuple(ways_out[:MOST_WAYS_OUT])


def _measure_change(way: WayOut) -> tuple[float, ...]:
    """Return the size of a change: accelerators first, then lost bits and tokens, the format, then throughput.

    At equal width, FP4 comes before INT4: newer accelerators compute in it.
    """
    estimate = way.estimate
    request, rate = estimate.request, estimate.output_tokens_per_s_per_accelerator
    given_up = (-_count_bits(request.weights), -request.workload.input_tokens)
    order = _FORMATS.index(request.weights) if request.weights in _FORMATS else -1
    return estimate.count, *given_up, order, 0.0 if rate is None else -rate.value


_Request = tuple[EstimateRequest, int | None]
_Tries = Iterator[tuple[WayOutKind, EstimateRequest]]


def _count_bits(precision: Precision) -> int:
    if precision in (Precision.FP16, Precision.BF16):
        return _WIDE
    return _BITS.get(precision, _NARROW)


def _open_counts(
    service: DeploymentSource, request: EstimateRequest, requested_count: int | None, *, alone: bool
) -> list[int]:
    """Return the counts for a way out in addition to the requested one: only that one if it is given."""
    if requested_count is not None or alone:
        return [requested_count if requested_count is not None and not alone else 1]
    try:
        return list(service.estimator.list_counts(request.with_open_plan()))
    except InputError:
        return []


def _try_formats(service: DeploymentSource, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    for request, requested_count in requests:
        for weights in _FORMATS:
            if _count_bits(weights) != _count_bits(request.weights):
                other = replace(request, weights=weights)
                for count in _open_counts(service, other, requested_count, alone=terms.alone):
                    yield WayOutKind.WEIGHTS, other.with_open_plan(count)


def _try_counts(service: DeploymentSource, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    for request, requested_count in requests:
        least = 1 if terms.alone else requested_count or 1
        for count in _open_counts(service, request, None, alone=False):
            if count > least:
                yield WayOutKind.COUNT, request.with_open_plan(count)


def _try_parts(service: DeploymentSource, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    if not requests:
        return
    request, _ = requests[0]
    compared = {each.accelerator for each, _ in requests}
    for part in service.catalog.accelerators():
        if part.id not in compared and not part.announced:
            other = replace(request, accelerator=part.id, serving_engine=terms.serving_engine)
            for count in _open_counts(service, other, None, alone=terms.alone):
                yield WayOutKind.ACCELERATOR, other.with_open_plan(count)


def _try_prompts(service: DeploymentSource, requests: Sequence[_Request], terms: DeploymentTerms) -> _Tries:
    for request, requested_count in requests:
        for times in _SHORTER:
            tokens = max(1, request.workload.input_tokens // times)
            shorter = replace(request, workload=replace(request.workload, input_tokens=tokens))
            for count in _open_counts(service, shorter, requested_count, alone=terms.alone):
                yield WayOutKind.CONTEXT, shorter.with_open_plan(count)
