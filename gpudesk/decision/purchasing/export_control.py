"""Accelerators against export rules: the score with its product, and the thresholds it is compared with.

No legal verdict: every check ends by referring the user to the rule in force and to counsel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.reference_data import (
    BIT_LENGTHS,
    ExportCheck,
    ExportLimit,
    ExportLineCheck,
    ExportMetric,
    ExportRule,
    ExportRuleCheck,
    ExportRuleSet,
    ExportScore,
    LimitComparison,
    RefutedStatement,
)
from gpudesk.text.messages import Message, MessageParameter, Term, message

RatedFigures = Mapping[ExportMetric, float | None]

#: What a measured thing is called; the words stand in `gpudesk.sentences`.
_METRIC_TERMS: Final = {
    ExportMetric.TPP: Term("export.tpp", "Total processing performance"),
    ExportMetric.DENSITY: Term("export.density", "Performance density"),
    ExportMetric.MEMORY_BANDWIDTH: Term("export.memory_bandwidth", "Memory bandwidth"),
}


def check_export(accelerator: Accelerator, rules: ExportRuleSet, destination: str | None = None) -> ExportCheck:
    """Return the score of an accelerator and how it stands to each rule.

    `destination` is what the user calls the place; it is only looked for among those that a rule names.
    """
    place = (destination or "").strip() or None
    scores = _compute_scores(accelerator)
    tpp = max((score.tpp for score in scores if score.tpp is not None), default=None)
    figures: RatedFigures = {
        ExportMetric.TPP: tpp,
        # Die area is not in the catalog, and is not guessed.
        ExportMetric.DENSITY: None,
        ExportMetric.MEMORY_BANDWIDTH: accelerator.memory_bandwidth,
    }
    refused = tuple(each for each in rules.refused if accelerator.id in each.accelerators)
    checked = tuple(_check_rule(rule, figures, place) for rule in rules.rules)
    notes = (
        *_make_score_notes(accelerator, scores, tpp),
        *(_find_refusal(accelerator, each) for each in refused),
        *_make_place_notes(place),
        message("export.read", "Rules as they were read on {date}; what came later is not among them", date=rules.read),
        message(
            "export.verify",
            "This is arithmetic with published peaks, and no legal advice: check the rule that is in force, and "
            "ask counsel, before anything is shipped",
        ),
    )
    return ExportCheck(accelerator.id, accelerator.name, scores, tpp, checked, refused, notes, place)


def _compute_scores(accelerator: Accelerator) -> tuple[ExportScore, ...]:
    """Return the product for each format with a dense peak, the largest first."""
    found = [ExportScore(name, flops, BIT_LENGTHS.get(name)) for name, flops in accelerator.peak_dense.items()]
    return tuple(sorted(found, key=lambda score: -1.0 if score.tpp is None else score.tpp, reverse=True))


# One rule


def _check_rule(rule: ExportRule, figures: RatedFigures, place: str | None) -> ExportRuleCheck:
    lines = tuple(
        ExportLineCheck(line, tuple(_compare_limits(limit, figures[limit.measured]) for limit in line.limits))
        for line in rule.lines
    )
    named = None
    if place is not None and rule.covers:
        named = place.casefold() in {each.casefold() for each in rule.covers}
    return ExportRuleCheck(rule, lines, _judge_outcome(rule, lines), named)


def _judge_outcome(rule: ExportRule, lines: tuple[ExportLineCheck, ...]) -> Message:
    if not lines:
        return message("export.no_figure", "{rule}: no score is held against it", rule=rule.name)
    met = tuple(each.line.name for each in lines if each.met)
    if met:
        return message(
            "export.met", "{rule}: the figures are those that it describes ({lines})", rule=rule.name, lines=met
        )
    unsettled = tuple(each.line.name for each in lines if each.met is None)
    if unsettled:
        return message(
            "export.unsettled",
            "{rule}: it cannot be told, since a figure is missing ({lines})",
            rule=rule.name,
            lines=unsettled,
        )
    return message("export.not_met", "{rule}: the figures are not those that it describes", rule=rule.name)


def _compare_limits(limit: ExportLimit, value: float | None) -> LimitComparison:
    name, bound = _METRIC_TERMS[limit.measured], _format_figure(limit.measured, limit.value)
    if value is None:
        return LimitComparison(
            limit, value, message("export.unknown", "{kind} is not known; the limit is {limit}", kind=name, limit=bound)
        )
    figure = _format_figure(limit.measured, value)
    if value >= limit.value:
        return LimitComparison(
            limit,
            value,
            message("export.above", "{kind} {value} is at or above {limit}", kind=name, value=figure, limit=bound),
        )
    return LimitComparison(
        limit, value, message("export.below", "{kind} {value} is below {limit}", kind=name, value=figure, limit=bound)
    )


def _format_figure(measured: ExportMetric, value: float) -> MessageParameter:
    """Return a figure as messages take it: whole scores, bandwidth with its unit."""
    if measured is ExportMetric.TPP:
        return round(value)
    return (value, "B/s") if measured is ExportMetric.MEMORY_BANDWIDTH else value


# What is to be said besides


def _make_score_notes(
    accelerator: Accelerator, scores: tuple[ExportScore, ...], tpp: float | None
) -> Iterator[Message]:
    if tpp is None:
        yield message(
            "export.no_peak",
            "No dense peak of {accelerator} is known, so it has no score",
            accelerator=accelerator.name,
        )
    left_out = tuple(score.precision.upper() for score in scores if score.bits is None)
    if left_out:
        yield message(
            "export.left_out",
            "Not in the score, as it is not settled how many of their bits count: {formats}",
            formats=left_out,
        )
    if accelerator.announced:
        yield message(
            "export.announced",
            "{accelerator} is announced: its peaks are what the vendor says beforehand",
            accelerator=accelerator.name,
        )
    yield message(
        "export.no_density",
        "Performance density takes the area of the dies, which the catalog does not have; it is not guessed",
    )


def _find_refusal(accelerator: Accelerator, claim: RefutedStatement) -> Message:
    return message(
        "export.refused",
        "Statement {statement} puts {accelerator} below the threshold; refused in {dispute}: {peak} TFLOPS × "
        "{bits} bits = {score}, and the threshold is {limit}",
        statement=claim.statement,
        accelerator=accelerator.name,
        dispute=claim.dispute,
        peak=round(claim.peak / 1e12),
        bits=claim.bits,
        score=round(claim.tpp),
        limit=round(claim.limit),
    )


def _make_place_notes(place: str | None) -> Iterator[Message]:
    if place is not None:
        yield message(
            "export.destination",
            "What {destination} means for a licence depends on country groups, on who receives and uses the part "
            "and for what; none of that is judged here",
            destination=place,
        )
