"""A sized demand in words that screen, paper and command line share."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.domain.demand import Candidate, Demand, DemandKind, Factor, Sizing
from gpudesk.domain.formatting import Formatter
from gpudesk.sentences import sentence
from gpudesk.text import tr, trn

#: What factors are called, and their units.
_FACTORS: Final = MappingProxyType(
    {
        "users": "Users active at once",
        "requests_each": "Requests of a user",
        "requests": "Requests on average",
        "tokens_a_day": "Output tokens a day",
        "days_a_second": "Days in a second",
        "requests_a_token": "Requests for an output token",
        "peak": "Busiest time over the average",
        "replica_seconds": "Time of one replica for a request",
        "cap": "Room above the load of a replica",
        "rounding": "Rounding up to whole replicas",
        "tp": "Tensor parallel",
        "pp": "Pipeline stages",
        "reserve": "With the replicas in reserve",
    }
)


def factor_label(factor: Factor) -> str:
    """Return what a factor is called."""
    return tr(_FACTORS[factor.name])


def factor_text(factor: Factor, formatter: Formatter) -> str:
    """Return a factor's number with its unit; whole ones without decimals."""
    whole = factor.value == int(factor.value) if abs(factor.value) < 1e15 else False
    shown = formatter.count(int(factor.value)) if whole else formatter.estimate(factor.value)
    return shown if factor.unit is None else f"{shown} {factor.unit}"


def demand_text(demand: Demand, formatter: Formatter) -> str:
    """Return what is asked in a line: how much, at the busiest time, and within which limits."""
    amount = _amount(demand, formatter)
    peak = tr("{times} × at the busiest time", times=formatter.stated(demand.peak_factor))
    return ", ".join([amount, peak, *_limits(demand, formatter)])


def _amount(demand: Demand, formatter: Formatter) -> str:
    amount = formatter.stated(demand.amount)
    if demand.kind is DemandKind.USERS:
        each = formatter.stated(demand.requests_per_user_hour)
        if demand.amount == 1:
            return tr("one user with {each} requests an hour", each=each)
        return tr("{n} users with {each} requests an hour each", n=amount, each=each)
    if demand.kind is DemandKind.REQUEST_RATE:
        one = demand.amount == 1
        return tr("one request a second") if one else tr("{n} requests a second", n=amount)
    return tr("{n} output tokens a day", n=amount)


def _limits(demand: Demand, formatter: Formatter) -> list[str]:
    limits = (
        (demand.ttft_ms, tr("first token within {n} ms", n=formatter.stated(demand.ttft_ms or 0))),
        (demand.tpot_ms, tr("{n} ms a token at the most", n=formatter.stated(demand.tpot_ms or 0))),
    )
    return [text for limit, text in limits if limit is not None]


def sizing_sentence(sizing: Sizing, candidate: Candidate, name: str, formatter: Formatter) -> str:
    """Return the one sentence that a customer understands; `name` is what the accelerator is called."""
    asked = _asked(sizing.demand, formatter)
    if candidate.count is None or candidate.reason is not None:
        reason = "" if candidate.reason is None else sentence(candidate.reason, formatter)
        return tr("For {asked} no {name} is named: {reason}.", asked=asked, name=name, reason=_lower(reason))
    return trn(
        "For {asked} you need {n} {name}: {working}{reserve}.",
        "For {asked} you need {n} {name}: {working}{reserve}.",
        candidate.count,
        asked=asked,
        n=formatter.count(candidate.count),
        name=name,
        working=_working(candidate, formatter),
        reserve=_reserve(candidate, formatter),
    )


def noted_sentence(sizing: Sizing, candidate: Candidate, name: str, formatter: Formatter) -> str:
    """Return the same with what should be read with care, each as a sentence of its own."""
    said = sizing_sentence(sizing, candidate, name, formatter)
    return " ".join([said, *(f"{sentence(note, formatter)}." for note in candidate.notes)])


def _asked(demand: Demand, formatter: Formatter) -> str:
    amount = formatter.stated(demand.amount)
    if demand.kind is DemandKind.USERS:
        one = demand.amount == 1
        return tr("one user") if one else tr("{n} users at once", n=amount)
    if demand.kind is DemandKind.REQUEST_RATE:
        one = demand.amount == 1
        return tr("one request a second") if one else tr("{n} requests a second", n=amount)
    return tr("{n} output tokens a day", n=amount)


def _working(candidate: Candidate, formatter: Formatter) -> str:
    size = candidate.plan.replica
    if size == 1:
        return trn(
            "one carries the busiest time",
            "{n}, each with a copy of the model, carry the busiest time",
            candidate.replicas,
            n=formatter.count(candidate.replicas),
        )
    return trn(
        "one copy of the model on {size} carries the busiest time",
        "{n} copies of the model on {size} each carry the busiest time",
        candidate.replicas,
        n=formatter.count(candidate.replicas),
        size=formatter.count(size),
    )


def _reserve(candidate: Candidate, formatter: Formatter) -> str:
    if not candidate.spare:
        return tr(", and none is in reserve")
    copies = candidate.spare // candidate.plan.replica
    if candidate.plan.replica == 1:
        return trn(
            ", and one stands by for one that fails",
            ", and {n} stand by for those that fail",
            copies,
            n=formatter.count(copies),
        )
    return trn(
        ", and another copy stands by for one that fails",
        ", and {n} further copies stand by for those that fail",
        copies,
        n=formatter.count(copies),
    )


def bound_text(candidate: Candidate, formatter: Formatter) -> str:
    """Return how the count compares with what reading memory alone would take; empty without an answer."""
    said, *reasons = bound_lines(candidate, formatter) or [""]
    return f"{said}: {'; '.join(reasons)}" if reasons else said


def bound_lines(candidate: Candidate, formatter: Formatter) -> list[str]:
    """Return that comparison, then each reason for the difference; nothing without an answer."""
    bound = candidate.bound
    if bound is None:
        return []
    said = tr(
        "Reading memory alone would take {floor}; this is {ratio} times that",
        floor=formatter.estimate(bound.floor),
        ratio=formatter.estimate(bound.ratio),
    )
    return [said, *(sentence(reason, formatter) for reason in bound.reasons)]


def _lower(text: str) -> str:
    """Return a sentence as the part of another; names at its beginning keep their capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
