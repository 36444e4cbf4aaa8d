"""Accelerators under export rules: the score with its product, and the thresholds to compare with.

No legal verdict: every check ends by referring the user to the current rule and to counsel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.reference_data import (
    BIT_LENGTHS,
    ExportCheck,
    ExportLineCheck,
    ExportMetric,
    ExportRule,
    ExportRuleCheck,
    ExportRuleSet,
    ExportScore,
    LimitComparison,
    RefutedStatement,
)
from gpudesk.text.messages import FormatName, Message, message

RatedFigures = Mapping[ExportMetric, float | None]


def check_export(accelerator: Accelerator, rules: ExportRuleSet, destination: str | None = None) -> ExportCheck:
    """Return the score of an accelerator and its comparison with each rule.

    `destination` is the user's text; it is only looked up among those that a rule names.
    """
    place = (destination or "").strip() or None
    scores = _compute_scores(accelerator)
    tpp = max((score.tpp for score in scores if score.tpp is not None), default=None)
    figures: RatedFigures = {
        ExportMetric.TPP: tpp,
        # The catalog lacks the die area, and no value is guessed.
        ExportMetric.DENSITY: None,
        ExportMetric.MEMORY_BANDWIDTH: accelerator.memory_bandwidth,
    }
    refused = tuple(each for each in rules.refused if accelerator.id in each.accelerators)
    checked = tuple(_check_rule(rule, figures, place) for rule in rules.rules)
    notes = (
        *_make_score_notes(accelerator, scores, tpp),
        *(_find_refusal(accelerator, each) for each in refused),
        *_make_place_notes(place),
        message("export.read", "Rules as of {date}; later rules are not included", date=rules.read),
        message(
            "export.verify",
            "This compares published peaks with limits and is not legal advice. Check the current rule and ask your "
            "lawyer before you ship hardware",
        ),
    )
    return ExportCheck(accelerator.id, accelerator.name, scores, tpp, checked, refused, notes, place)


def _compute_scores(accelerator: Accelerator) -> tuple[ExportScore, ...]:
    """Return the product for each format with a dense peak, the largest first."""
    scores = [ExportScore(name, flops, BIT_LENGTHS.get(name)) for name, flops in accelerator.peak_dense.items()]
    return tuple(sorted(scores, key=lambda score: -1.0 if score.tpp is None else score.tpp, reverse=True))


# One rule


def _check_rule(rule: ExportRule, figures: RatedFigures, place: str | None) -> ExportRuleCheck:
    lines = tuple(
        ExportLineCheck(line, tuple(LimitComparison(limit, figures[limit.measured]) for limit in line.limits))
        for line in rule.lines
    )
    is_covered = None
    if place is not None and rule.covers:
        is_covered = place.casefold() in {each.casefold() for each in rule.covers}
    return ExportRuleCheck(rule, lines, is_covered)


# Further notes


def _make_score_notes(
    accelerator: Accelerator, scores: tuple[ExportScore, ...], tpp: float | None
) -> Iterator[Message]:
    if tpp is None:
        yield message(
            "export.no_peak",
            "{accelerator} has no score because its dense peak is unpublished",
            accelerator=accelerator.name,
        )
    left_out = tuple(FormatName(score.precision) for score in scores if score.bits is None)
    if left_out:
        yield message(
            "export.left_out", "Not in the score, because the bit length is unclear: {formats}", formats=left_out
        )
    if accelerator.announced:
        yield message(
            "export.announced",
            "{accelerator} is announced, so its peaks are vendor previews",
            accelerator=accelerator.name,
        )
    yield message("export.no_density", "Performance density needs the die area, which the catalog does not have")


def _find_refusal(accelerator: Accelerator, claim: RefutedStatement) -> Message:
    return message(
        "export.refused",
        "A published statement places {accelerator} below the threshold, but {peak} TFLOPS × {bits} bits = {score}, "
        "with a threshold of {limit}",
        accelerator=accelerator.name,
        peak=round(claim.peak / 1e12),
        bits=claim.bits,
        score=round(claim.tpp),
        limit=round(claim.limit),
    )


def _make_place_notes(place: str | None) -> Iterator[Message]:
    if place is not None:
        yield message(
            "export.destination",
            "The license for {destination} depends on country group, recipient, end user and use; GPU Desk does not "
            "check these",
            destination=place,
        )
