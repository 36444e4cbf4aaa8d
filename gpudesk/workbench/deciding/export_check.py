"""Accelerators beside the rules on exports: the score with its product, and the figures it is held against.

No legal verdict: every check ends by sending the user to the rule in force and to counsel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.export_control import (
    BIT_LENGTHS,
    ExportCheck,
    ExportRule,
    ExportRules,
    Held,
    Limit,
    LineCheck,
    Measured,
    RefusedClaim,
    RuleCheck,
    Score,
)
from gpudesk.domain.messages import Message, Parameter, message

Figures = Mapping[Measured, float | None]

#: What a measured thing is called; the words stand in `gpudesk.sentences`.
_WORDS: Final = {
    Measured.TPP: "export.tpp",
    Measured.DENSITY: "export.density",
    Measured.MEMORY_BANDWIDTH: "export.memory_bandwidth",
}


def export_check(accelerator: Accelerator, rules: ExportRules, destination: str | None = None) -> ExportCheck:
    """Return the score of an accelerator and how it stands to each rule.

    `destination` is what the user calls the place; it is only looked for among those that a rule names.
    """
    place = (destination or "").strip() or None
    scores = _scores(accelerator)
    tpp = max((score.tpp for score in scores if score.tpp is not None), default=None)
    figures: Figures = {
        Measured.TPP: tpp,
        # Die area is not in the catalog, and is not guessed.
        Measured.DENSITY: None,
        Measured.MEMORY_BANDWIDTH: accelerator.memory_bandwidth,
    }
    refused = tuple(each for each in rules.refused if accelerator.id in each.accelerators)
    checked = tuple(_rule_check(rule, figures, place) for rule in rules.rules)
    notes = (
        *_score_notes(accelerator, scores, tpp),
        *(_refusal(accelerator, each) for each in refused),
        *_place_notes(place),
        message("export.read", date=rules.read),
        message("export.verify"),
    )
    return ExportCheck(accelerator.id, accelerator.name, scores, tpp, checked, refused, notes, place)


def _scores(accelerator: Accelerator) -> tuple[Score, ...]:
    """Return the product for each format with a dense peak, the largest first."""
    found = [Score(name, flops, BIT_LENGTHS.get(name)) for name, flops in accelerator.peak_dense.items()]
    return tuple(sorted(found, key=lambda score: -1.0 if score.tpp is None else score.tpp, reverse=True))


# One rule


def _rule_check(rule: ExportRule, figures: Figures, place: str | None) -> RuleCheck:
    lines = tuple(
        LineCheck(line, tuple(_held(limit, figures[limit.measured]) for limit in line.limits))
        for line in rule.lines
    )
    named = None
    if place is not None and rule.covers:
        named = place.casefold() in {each.casefold() for each in rule.covers}
    return RuleCheck(rule, lines, _outcome(rule, lines), named)


def _outcome(rule: ExportRule, lines: tuple[LineCheck, ...]) -> Message:
    if not lines:
        return message("export.no_figure", rule=rule.name)
    met = tuple(each.line.name for each in lines if each.met)
    if met:
        return message("export.met", rule=rule.name, lines=met)
    unsettled = tuple(each.line.name for each in lines if each.met is None)
    if unsettled:
        return message("export.unsettled", rule=rule.name, lines=unsettled)
    return message("export.not_met", rule=rule.name)


def _held(limit: Limit, value: float | None) -> Held:
    name, bound = _WORDS[limit.measured], _shown(limit.measured, limit.value)
    if value is None:
        return Held(limit, value, message("export.unknown", kind=name, limit=bound))
    figure = _shown(limit.measured, value)
    if value >= limit.value:
        return Held(limit, value, message("export.above", kind=name, value=figure, limit=bound))
    return Held(limit, value, message("export.below", kind=name, value=figure, limit=bound))


def _shown(measured: Measured, value: float) -> Parameter:
    """Return a figure as messages take it: whole scores, bandwidth with its unit."""
    if measured is Measured.TPP:
        return round(value)
    return (value, "B/s") if measured is Measured.MEMORY_BANDWIDTH else value


# What is to be said besides


def _score_notes(accelerator: Accelerator, scores: tuple[Score, ...], tpp: float | None) -> Iterator[Message]:
    if tpp is None:
        yield message("export.no_peak", accelerator=accelerator.name)
    left_out = tuple(score.precision.upper() for score in scores if score.bits is None)
    if left_out:
        yield message("export.left_out", formats=left_out)
    if accelerator.announced:
        yield message("export.announced", accelerator=accelerator.name)
    yield message("export.no_density")


def _refusal(accelerator: Accelerator, claim: RefusedClaim) -> Message:
    return message(
        "export.refused",
        statement=claim.statement,
        accelerator=accelerator.name,
        dispute=claim.dispute,
        peak=round(claim.peak / 1e12),
        bits=claim.bits,
        score=round(claim.tpp),
        limit=round(claim.limit),
    )


def _place_notes(place: str | None) -> Iterator[Message]:
    if place is not None:
        yield message("export.destination", destination=place)
