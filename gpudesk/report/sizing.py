"""Texts about counts: accelerators per weight format, a sized demand, and the fit matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from gpudesk.domain.accelerator import OwnedSystems
from gpudesk.domain.estimate import Workload, format_plan
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
from gpudesk.report.labels import format_tokens, join_alternatives, label_precision, label_serving_engine, label_system
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, capitalize_first, format_message, lower_for_sentence
from gpudesk.text.translation import tr, trn


def explain_degrees(needed: Sequence[Sequence[SmallestDeployments]]) -> str:
    """Return the abbreviations that `format_degrees` uses for these deployments, with their meanings."""
    names = (
        ("tp", tr("TP: tensor parallel")),
        ("pp", tr("PP: pipeline parallel")),
        ("ep", tr("EP: expert parallel")),
        ("dp", tr("DP: data parallel")),
    )
    sizes = [size for column in needed for each in column for size in (each.load, each.one) if size is not None]
    return ", ".join(text for name, text in names if any(getattr(size.plan, name) > 1 for size in sizes))


def summarize_reason(reason: Message | None) -> str:
    if reason is None:
        return ""
    if reason.id.startswith("model."):
        return tr("not published")
    return tr("too large") if reason.id.startswith(("estimate.", "needed.")) else tr("not supported")


def label_weight_width(across: Sequence[SmallestDeployments], formatter: Formatter) -> str:
    """Return the name of a weight width: the format if all columns share it."""
    if len({needed.weights for needed in across}) == 1:
        return label_precision(across[0].weights)
    return tr("{n}-bit", n=formatter.count(across[0].bits))


def label_requests_in_flight(workload: Workload, formatter: Formatter) -> str | None:
    """Return the requirement if a load determines the requests in flight; None for one or none."""
    in_flight = workload.load.concurrency or workload.load.batch
    if in_flight is None or in_flight < 2:
        return None
    return trn(
        "{n} request of {tokens} tokens in flight",
        "{n} requests of {tokens} tokens in flight",
        in_flight,
        n=formatter.count(in_flight),
        tokens=_format_tokens(workload, formatter),
    )


def label_single_request(workload: Workload, formatter: Formatter) -> str:
    return tr("One request of {tokens} tokens", tokens=_format_tokens(workload, formatter))


def _format_tokens(workload: Workload, formatter: Formatter) -> str:
    return formatter.count(workload.input_tokens + workload.output_tokens)


#: Names of factors, and their units.
_FACTORS: Final = {
    "users": "Users, daily average",
    "in_flight": "Peak requests in flight",
    "requests_each": "Requests per user",
    "requests": "Average requests",
    "tokens_a_day": "Output tokens per day",
    "days_a_second": "Days per second",
    "requests_a_token": "Requests per output token",
    "peak": "Peak ÷ average",
    "replica_seconds": "Replica time per request",
    "replica_in_flight": "Replica share per request",
    "cap": "Headroom per replica",
    "rounding": "Rounding up to whole replicas",
    "tp": "Tensor parallel",
    "pp": "Pipeline stages",
    "reserve": "With spare replicas",
}


def label_sizing_factor(factor: SizingFactor) -> str:
    return tr(_FACTORS[factor.name])


def format_sizing_factor(factor: SizingFactor, formatter: Formatter) -> str:
    """Return a factor's number with its unit; whole ones without decimals."""
    whole = factor.value == int(factor.value) if abs(factor.value) < 1e15 else False
    value_text = formatter.count(int(factor.value)) if whole else formatter.estimate(factor.value)
    return value_text if factor.unit is None else f"{value_text} {factor.unit}".replace(" 1/", "/")


def describe_demand(demand: Demand, formatter: Formatter) -> str:
    """Return the demand in a line: amount, peak, and limits."""
    amount = _format_amount(demand, formatter)
    if demand.kind is DemandKind.CONCURRENCY:
        return ", ".join([amount, *_list_limits(demand, formatter)])
    peak = tr("peak {times} × average", times=formatter.exact(demand.peak_factor))
    return ", ".join([amount, peak, *_list_limits(demand, formatter)])


def _format_amount(demand: Demand, formatter: Formatter) -> str:
    amount = formatter.exact(demand.amount)
    if demand.kind is DemandKind.USERS:
        rate = demand.requests_per_user_hour
        each = trn("{n} request per hour", "{n} requests per hour", rate or 0.0, n=formatter.exact(rate))
        return trn("{n} user with {each}", "{n} users with {each} each", demand.amount, n=amount, each=each)
    if demand.kind is DemandKind.REQUEST_RATE:
        return trn("{n} request per second", "{n} requests per second", demand.amount, n=amount)
    if demand.kind is DemandKind.CONCURRENCY:
        return trn("{n} request in flight", "{n} requests in flight", demand.amount, n=amount)
    return trn("{n} output token per day", "{n} output tokens per day", demand.amount, n=amount)


def describe_peak(sizing: SizingResult, formatter: Formatter) -> str:
    """Return the request and token rates at the peak; empty if the demand is given as requests in flight."""
    if sizing.requests_per_s is None or sizing.output_tokens_per_s is None:
        return ""
    return tr(
        "{rate} requests/s and {tokens} output tok/s at peak",
        rate=formatter.estimate(sizing.requests_per_s),
        tokens=formatter.estimate(sizing.output_tokens_per_s),
    )


def _list_limits(demand: Demand, formatter: Formatter) -> list[str]:
    limits = (
        (demand.ttft_ms, tr("TTFT up to {n} ms", n=formatter.exact(demand.ttft_ms or 0))),
        (demand.tpot_ms, tr("TPOT up to {n} ms", n=formatter.exact(demand.tpot_ms or 0))),
    )
    return [text for limit, text in limits if limit is not None]


def describe_counts(sizing: SizingResult, names: Sequence[str], formatter: Formatter) -> str:
    """Return the answer for all candidates in a sentence, the fewest first; `names` are without counts."""
    counts = sorted(
        (candidate.count, name)
        for candidate, name in zip(sizing.candidates, names, strict=True)
        if candidate.count is not None and candidate.reason is None
    )
    if not counts:
        return tr("None of these accelerators can serve this demand.")
    needed = [tr("{n} × {name}", n=formatter.count(count), name=name) for count, name in counts]
    return tr("You need {counts}.", counts=join_alternatives(needed))


def describe_sizing(sizing: SizingResult, candidate: SizingOption, name: str, formatter: Formatter) -> str:
    """Return the count in a sentence for customers; `name` is the name of the accelerator."""
    demand = _format_demand(sizing.demand, formatter)
    if candidate.count is None or candidate.reason is not None:
        reason = "" if candidate.reason is None else format_message(candidate.reason, formatter)
        return tr(
            "{name} cannot serve {demand}: {reason}.", demand=demand, name=name, reason=lower_for_sentence(reason)
        )
    size = candidate.plan.replica
    values = {
        "demand": demand,
        "n": formatter.count(candidate.count),
        "name": name,
        "size": formatter.count(size),
        "replicas": formatter.count(candidate.replicas),
        "spare": formatter.count(candidate.spare // size),
    }
    if size == 1:
        if candidate.spare:
            return tr("{n} × {name} for {demand}: {replicas} for peak load and {spare} spare.", **values)
        return tr("{n} × {name} for {demand}, without spares.", **values)
    if candidate.spare:
        return tr(
            "{n} × {name} for {demand}: replicas of {size} accelerators, {replicas} for peak load and {spare} spare.",
            **values,
        )
    return trn(
        "{n} × {name} for {demand}: {replicas} replica of {size} accelerators, without spares.",
        "{n} × {name} for {demand}: {replicas} replicas of {size} accelerators, without spares.",
        candidate.replicas,
        **values,
    )


def describe_owned_systems(owned: OwnedSystems, formatter: Formatter) -> str:
    """Return the purchase for a count: `2 × NVIDIA DGX H100 (16 accelerators, 6 idle)`."""
    count = owned.count
    values = {
        "systems": f"{formatter.count(count.systems)} × {label_system(owned.system.name)}",
        "n": formatter.count(count.accelerators),
        "idle": formatter.count(count.idle),
    }
    if count.idle:
        return tr("{systems} ({n} accelerators, {idle} idle)", **values)
    return tr("{systems} ({n} accelerators)", **values)


def format_max_power(candidate: SizingOption, formatter: Formatter) -> tuple[str, str]:
    """Return the maximum power in kW of the systems to buy, else that of the accelerators, with its basis."""
    owned = candidate.systems
    if owned is None or owned.power_kw is None:
        return formatter.estimate(candidate.power_kw), "" if candidate.power_kw is None else tr("accelerators alone")
    power = formatter.estimate(owned.power_kw)
    basis = trn("{n} whole system", "{n} whole systems", owned.count.systems, n=formatter.count(owned.count.systems))
    return f"≈ {power}" if owned.power_estimated else power, basis


def describe_sizing_with_notes(sizing: SizingResult, candidate: SizingOption, name: str, formatter: Formatter) -> str:
    """Return the same with caveats, each as a separate sentence."""
    answer = describe_sizing(sizing, candidate, name, formatter)
    return " ".join([answer, *(f"{format_message(note, formatter)}." for note in candidate.notes)])


def _format_demand(demand: Demand, formatter: Formatter) -> str:
    if demand.kind is DemandKind.USERS:
        return trn("{n} user", "{n} users on average", demand.amount, n=formatter.exact(demand.amount))
    return _format_amount(demand, formatter)


def describe_bound(candidate: SizingOption, formatter: Formatter) -> str:
    """Return the count compared with the lower bound by memory bandwidth; empty without an answer."""
    bound, *reasons = list_bound_lines(candidate, formatter) or [""]
    return f"{bound}: {'; '.join(reasons)}" if reasons else bound


def list_bound_lines(candidate: SizingOption, formatter: Formatter) -> list[str]:
    """Return that comparison, then each reason for the difference; empty without an answer."""
    bound = candidate.bound
    if bound is None:
        return []
    text = tr(
        "Lower bound from memory bandwidth: {floor} accelerators; this count is {ratio} times as high",
        floor=formatter.estimate(bound.floor),
        ratio=formatter.estimate(bound.ratio),
    )
    return [text, *(format_message(reason, formatter) for reason in bound.reasons)]


#: Free shares of the usable memory of the most loaded accelerator above which room is ample, and below which tight.
AMPLE: Final = 0.25
TIGHT: Final = 0.10


class HeadroomLevel(StrEnum):
    """How much usable memory a deployment leaves free."""

    AMPLE = "ample"
    SOME = "some"
    TIGHT = "tight"


#: Names of the readings of a memory label, and their meanings.
_READINGS: Final[Mapping[str, tuple[str, str]]] = {
    CapacityReadingId.DECIMAL: ("Label in GB", "capacity read as GB"),
    CapacityReadingId.BINARY: ("Label in GiB", "capacity read as GiB"),
    CapacityReadingId.DECIMAL_RESERVED: (
        "GB, 10% reserve",
        "capacity read as GB, 10% kept free, counts of 1, 2, 4, 8, 16",
    ),
    CapacityReadingId.BINARY_RESERVED: (
        "GiB, 10% reserve",
        "capacity read as GiB, 10% kept free, counts of 1, 2, 4, 8, 16",
    ),
}


def label_reading(key: str) -> str:
    return tr(_READINGS[key][0])


def describe_reading(key: str) -> str:
    return tr("Only for checking published counts: weights alone, {how}", how=tr(_READINGS[key][1]))


def compute_headroom_share(cell: FitCell) -> float:
    """Return the free share of usable memory on the most loaded accelerator, 0 without any."""
    return (cell.headroom_bytes or 0) / cell.usable_bytes if cell.usable_bytes else 0.0


def classify_headroom(share: float) -> HeadroomLevel:
    # Rounded as displayed, so that equal figures have equal tints.
    rounded = round(share, 2)
    return HeadroomLevel.AMPLE if rounded >= AMPLE else HeadroomLevel.TIGHT if rounded < TIGHT else HeadroomLevel.SOME


def describe_matrix_question(question: FitQuestion, formatter: Formatter) -> str:
    """Return the question of every cell: formats, tokens and sequences."""
    sequences = trn(
        "{n} sequence of {tokens} tokens",
        "{n} sequences of {tokens} tokens",
        question.concurrency,
        n=formatter.count(question.concurrency),
        tokens=formatter.count(question.context),
    )
    return tr(
        "{weights} weights, {kv} KV cache, {sequences}",
        weights=label_precision(question.weights),
        kv=label_precision(question.kv),
        sequences=sequences,
    )


def describe_fit_cell(cell: FitCell, name: str, model: Model, question: FitQuestion, formatter: Formatter) -> str:
    """Return the full text of an estimator cell; `name` is the name of the accelerator."""
    weights = label_precision(cell.weights)
    if cell.count is None or cell.plan is None:
        reason = "" if cell.reason is None else format_message(cell.reason, formatter)
        return tr(
            "{model} on {name}, {weights} weights: no deployment. {reason}",
            model=model.name,
            name=name,
            weights=weights,
            reason=capitalize_first(reason),
        )
    result = trn(
        "{model} on {name}, {weights} weights: fits on {n} with {engine}; {left} of {usable} GiB free ({share})",
        "{model} on {name}, {weights} weights: fits on {n} with {engine}, {plan}; at least {left} of "
        "{usable} GiB free on each ({share})",
        cell.count,
        model=model.name,
        name=name,
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
        return result
    limit = tr("The model's context limit is {tokens}", tokens=format_tokens(longest, formatter))
    return f"{result}. {limit}"


def describe_reading_cell(cell: FitCell, name: str, model: Model, formatter: Formatter) -> str:
    """Return the text of a reading cell: the weights, the usable memory of one accelerator, and the count."""
    if cell.count is None or cell.usable_bytes is None or cell.headroom_bytes is None:
        reason = "" if cell.reason is None else format_message(cell.reason, formatter)
        return tr(
            "{model} on {name}: no count with this reading. {reason}",
            model=model.name,
            name=name,
            reason=capitalize_first(reason),
        )
    needed = (cell.usable_bytes - cell.headroom_bytes) * cell.count
    return tr(
        "{model} on {name}: {n} with this reading. {weights} weights need {needed} GB; each "
        "accelerator has {usable} GB",
        model=model.name,
        name=name,
        n=formatter.count(cell.count),
        weights=label_precision(cell.weights),
        needed=formatter.gb(needed),
        usable=formatter.gb(cell.usable_bytes),
    )
