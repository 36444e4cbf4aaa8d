"""Texts about counts: accelerators per weight format, a sized demand, and the fit matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.deployment import ParallelPlan, format_plan
from gpudesk.domain.model import Model
from gpudesk.domain.sizing import (
    CapacityReadingId,
    Demand,
    DemandKind,
    FitCell,
    FitQuestion,
    SizingFactor,
    SizingOption,
    SizingResult,
    SmallestDeployments,
)
from gpudesk.domain.workload import Workload
from gpudesk.report.labels import label_precision, label_serving_engine
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, format_message
from gpudesk.text.sentences import capitalize_first, lower_first
from gpudesk.text.translation import tr, trn


def format_degrees(plan: ParallelPlan, formatter: Formatter) -> str:
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    return ", ".join([*named, tr("attention DP")] if plan.attention_dp else named)


def summarize_reason(reason: Message | None) -> str:
    if reason is None:
        return ""
    if reason.id.startswith("model."):
        return tr("not published")
    return tr("too large") if reason.id.startswith(("estimate.", "needed.")) else tr("not supported")


def label_weight_width(across: Sequence[SmallestDeployments], formatter: Formatter) -> str:
    """Return what weights of a width are called: by their format where all columns have the same."""
    if len({needed.weights for needed in across}) == 1:
        return label_precision(across[0].weights)
    return tr("{n} bits", n=formatter.count(across[0].bits))


def label_requests_in_flight(workload: Workload, formatter: Formatter) -> str | None:
    """Return what is to be held where a load says how many requests are in flight; None for one or none."""
    in_flight = workload.load.concurrency or workload.load.batch
    if in_flight is None or in_flight < 2:
        return None
    return trn(
        "{n} request of {tokens} tokens in flight",
        "{n} requests of {tokens} tokens in flight",
        in_flight,
        n=formatter.count(in_flight),
        tokens=_tokens(workload, formatter),
    )


def label_single_request(workload: Workload, formatter: Formatter) -> str:
    return tr("One request of {tokens} tokens", tokens=_tokens(workload, formatter))


def _tokens(workload: Workload, formatter: Formatter) -> str:
    return formatter.count(workload.input_tokens + workload.output_tokens)


#: What factors are called, and their units.
_FACTORS: Final = MappingProxyType(
    {
        "users": "Users active at once",
        "in_flight": "Requests in flight at the busiest time",
        "requests_each": "Requests of a user",
        "requests": "Requests on average",
        "tokens_a_day": "Output tokens a day",
        "days_a_second": "Days in a second",
        "requests_a_token": "Requests for an output token",
        "peak": "Busiest time over the average",
        "replica_seconds": "Time of one replica for a request",
        "replica_in_flight": "Share of a replica for each of them",
        "cap": "Room above the load of a replica",
        "rounding": "Rounding up to whole replicas",
        "tp": "Tensor parallel",
        "pp": "Pipeline stages",
        "reserve": "With the replicas in reserve",
    }
)


def label_sizing_factor(factor: SizingFactor) -> str:
    return tr(_FACTORS[factor.name])


def format_sizing_factor(factor: SizingFactor, formatter: Formatter) -> str:
    """Return a factor's number with its unit; whole ones without decimals."""
    whole = factor.value == int(factor.value) if abs(factor.value) < 1e15 else False
    shown = formatter.count(int(factor.value)) if whole else formatter.estimate(factor.value)
    return shown if factor.unit is None else f"{shown} {factor.unit}"


def describe_demand(demand: Demand, formatter: Formatter) -> str:
    """Return what is asked in a line: how much, at the busiest time, and within which limits."""
    amount = _amount(demand, formatter)
    if demand.kind is DemandKind.CONCURRENCY:
        return ", ".join([amount, *_limits(demand, formatter)])
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
    if demand.kind is DemandKind.CONCURRENCY:
        return _format_in_flight(demand, formatter)
    return tr("{n} output tokens a day", n=amount)


def _format_in_flight(demand: Demand, formatter: Formatter) -> str:
    one = demand.amount == 1
    return tr("one request in flight") if one else tr("{n} requests in flight", n=formatter.stated(demand.amount))


def describe_peak(sizing: SizingResult, formatter: Formatter) -> str:
    """Return what the peak comes to; empty where requests in flight are asked for, which say it themselves."""
    if sizing.requests_per_s is None or sizing.output_tokens_per_s is None:
        return ""
    return tr(
        "{rate} requests/s and {tokens} output tok/s at the peak",
        rate=formatter.estimate(sizing.requests_per_s),
        tokens=formatter.estimate(sizing.output_tokens_per_s),
    )


def _limits(demand: Demand, formatter: Formatter) -> list[str]:
    limits = (
        (demand.ttft_ms, tr("first token within {n} ms", n=formatter.stated(demand.ttft_ms or 0))),
        (demand.tpot_ms, tr("{n} ms a token at the most", n=formatter.stated(demand.tpot_ms or 0))),
    )
    return [text for limit, text in limits if limit is not None]


def describe_sizing(sizing: SizingResult, candidate: SizingOption, name: str, formatter: Formatter) -> str:
    """Return the one sentence that a customer understands; `name` is what the accelerator is called."""
    asked = _asked(sizing.demand, formatter)
    if candidate.count is None or candidate.reason is not None:
        reason = "" if candidate.reason is None else format_message(candidate.reason, formatter)
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


def describe_sizing_with_notes(sizing: SizingResult, candidate: SizingOption, name: str, formatter: Formatter) -> str:
    """Return the same with what should be read with care, each as a sentence of its own."""
    said = describe_sizing(sizing, candidate, name, formatter)
    return " ".join([said, *(f"{format_message(note, formatter)}." for note in candidate.notes)])


def _asked(demand: Demand, formatter: Formatter) -> str:
    amount = formatter.stated(demand.amount)
    if demand.kind is DemandKind.USERS:
        one = demand.amount == 1
        return tr("one user") if one else tr("{n} users at once", n=amount)
    if demand.kind is DemandKind.REQUEST_RATE:
        one = demand.amount == 1
        return tr("one request a second") if one else tr("{n} requests a second", n=amount)
    if demand.kind is DemandKind.CONCURRENCY:
        return _format_in_flight(demand, formatter)
    return tr("{n} output tokens a day", n=amount)


def _working(candidate: SizingOption, formatter: Formatter) -> str:
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


def _reserve(candidate: SizingOption, formatter: Formatter) -> str:
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


def describe_bound(candidate: SizingOption, formatter: Formatter) -> str:
    """Return how the count compares with what reading memory alone would take; empty without an answer."""
    said, *reasons = list_bound_lines(candidate, formatter) or [""]
    return f"{said}: {'; '.join(reasons)}" if reasons else said


def list_bound_lines(candidate: SizingOption, formatter: Formatter) -> list[str]:
    """Return that comparison, then each reason for the difference; nothing without an answer."""
    bound = candidate.bound
    if bound is None:
        return []
    said = tr(
        "Reading memory alone would take {floor}; this is {ratio} times that",
        floor=formatter.estimate(bound.floor),
        ratio=formatter.estimate(bound.ratio),
    )
    return [said, *(format_message(reason, formatter) for reason in bound.reasons)]


def _lower(text: str) -> str:
    """Return a sentence as the part of another; names at its beginning keep their capitals."""
    return lower_first(text) if text[1:2].islower() or text[1:2] == " " else text


#: Shares of the usable memory of the fullest accelerator: from here on room is ample, below here tight.
AMPLE: Final = 0.25
TIGHT: Final = 0.10


class HeadroomLevel(StrEnum):
    """How much of the usable memory a deployment leaves."""

    AMPLE = "ample"
    SOME = "some"
    TIGHT = "tight"


#: Names of the readings of a memory label, and what they do.
_READINGS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        CapacityReadingId.DECIMAL: ("Label in GB", "the label read as GB"),
        CapacityReadingId.BINARY: ("Label in GiB", "the label read as GiB"),
        CapacityReadingId.DECIMAL_RESERVED: (
            "GB, 10% reserve",
            "the label read as GB with a tenth kept free, counts of 1, 2, 4, 8, 16",
        ),
        CapacityReadingId.BINARY_RESERVED: (
            "GiB, 10% reserve",
            "the label read as GiB with a tenth kept free, counts of 1, 2, 4, 8, 16",
        ),
    }
)


def label_reading(key: str) -> str:
    return tr(_READINGS[key][0])


def describe_reading(key: str) -> str:
    return tr("For checking printed figures, never what answers use: weights alone, {how}", how=tr(_READINGS[key][1]))


def compute_headroom_share(cell: FitCell) -> float:
    """Return the share of the usable memory that is left on the fullest accelerator, 0 without any."""
    return (cell.headroom_bytes or 0) / cell.usable_bytes if cell.usable_bytes else 0.0


def classify_headroom(share: float) -> HeadroomLevel:
    # As it is shown, so that no figure stands on two tints.
    shown = round(share, 2)
    return HeadroomLevel.AMPLE if shown >= AMPLE else HeadroomLevel.TIGHT if shown < TIGHT else HeadroomLevel.SOME


def describe_matrix_question(question: FitQuestion, formatter: Formatter) -> str:
    """Return what every cell is asked: formats, tokens and sequences."""
    held = trn(
        "{n} sequence of {tokens} tokens",
        "{n} sequences of {tokens} tokens",
        question.concurrency,
        n=formatter.count(question.concurrency),
        tokens=formatter.count(question.context),
    )
    return tr(
        "{weights} weights, {kv} KV cache, {held}",
        weights=label_precision(question.weights),
        kv=label_precision(question.kv),
        held=held,
    )


def describe_fit_cell(cell: FitCell, part: str, model: Model, question: FitQuestion, formatter: Formatter) -> str:
    """Return all that a cell of the estimator says; `part` is what the accelerator is called."""
    weights = label_precision(cell.weights)
    if cell.count is None or cell.plan is None:
        reason = "" if cell.reason is None else format_message(cell.reason, formatter)
        return tr(
            "{model} on {part}, {weights} weights: none. {reason}",
            model=model.name,
            part=part,
            weights=weights,
            reason=capitalize_first(reason),
        )
    said = trn(
        "{model} on {part}, {weights} weights: {n} holds it on {engine}; {left} of {usable} GiB usable left, {share}",
        "{model} on {part}, {weights} weights: {n} hold it on {engine} with {plan}; {left} of {usable} GiB "
        "usable left on the fullest, {share}",
        cell.count,
        model=model.name,
        part=part,
        weights=weights,
        n=formatter.count(cell.count),
        plan=format_plan(cell.plan),
        engine=label_serving_engine(cell.serving_engine or ""),
        left=formatter.gib(cell.headroom_bytes),
        usable=formatter.gib(cell.usable_bytes),
        share=formatter.per_cent(compute_headroom_share(cell)),
    )
    longest = model.max_context
    if longest is None or question.context <= longest:
        return said
    return tr("{said}. The model reads {n} tokens at the most", said=said, n=formatter.count(longest))


def describe_reading_cell(cell: FitCell, part: str, model: Model, formatter: Formatter) -> str:
    """Return what a cell of a reading says: the weights, what one accelerator takes, and the count."""
    if cell.count is None or cell.usable_bytes is None or cell.headroom_bytes is None:
        reason = "" if cell.reason is None else format_message(cell.reason, formatter)
        return tr(
            "{model} on {part}: no count by this reading. {reason}",
            model=model.name,
            part=part,
            reason=capitalize_first(reason),
        )
    needed = (cell.usable_bytes - cell.headroom_bytes) * cell.count
    return tr(
        "{model} on {part}: {n} by this reading. {needed} GB of {weights} weights, {usable} GB in each",
        model=model.name,
        part=part,
        n=formatter.count(cell.count),
        weights=label_precision(cell.weights),
        needed=formatter.gb(needed),
        usable=formatter.gb(cell.usable_bytes),
    )
