"""Export control in words: scores with their products, rules, and on which side of a figure one lies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final

from gpudesk.domain.export_control import (
    ExportCheck,
    ExportRule,
    ExportRules,
    Held,
    Limit,
    Measured,
    RefusedClaim,
    RuleCheck,
    Score,
    Standing,
)
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity
from gpudesk.sentences import sentence
from gpudesk.sheets.fact_words import in_sentence
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.names import short_name
from gpudesk.text import tr

_TERA: Final = 1e12
_SPACE: Final = "\N{NO-BREAK SPACE}"
_MEASURED: Final = MappingProxyType(
    {
        Measured.TPP: "TPP",
        Measured.DENSITY: "Performance density",
        Measured.MEMORY_BANDWIDTH: "Memory bandwidth",
    }
)
#: Notes of a check that views say in places of their own.
_SAID_ELSEWHERE: Final = frozenset({"export.refused", "export.verify"})
#: Notes that hold for every accelerator.
_SHARED: Final = frozenset({"export.destination", "export.read"})


def export_warning() -> str:
    """Return what has to stand beside every check."""
    return tr("Verify with the rule in force and counsel: this is arithmetic, not advice")


def score_head() -> str:
    """Return what scores are made of."""
    return tr("Score: TFLOPS × bits")


# Scores


def product_text(score: Score, formatter: Formatter) -> str:
    """Return a score as the product that it is, `2,614.9 × 8 = 20,919`."""
    flops = formatter.stated(float(f"{score.flops / _TERA:.9g}"))
    if score.bits is None or score.tpp is None:
        return tr("{flops} TFLOPS, not in the score", flops=flops)
    return f"{flops} × {score.bits} = {formatter.number(score.tpp)}"


def score_lines(check: ExportCheck, formatter: Formatter) -> tuple[str, ...]:
    """Return every product with the formats that have it, the largest first."""
    if not check.scores:
        return (UNKNOWN,)
    lines = []
    for _, group in groupby(check.scores, key=lambda score: (score.flops, score.bits)):
        scores = list(group)
        formats = ", ".join(precision_name(score.precision) for score in scores)
        lines.append(tr("{product} ({formats})", product=product_text(scores[0], formatter), formats=formats))
    return tuple(lines)


# Figures of rules


def measured_text(measured: Measured) -> str:
    """Return what a rule counts."""
    return tr(_MEASURED[measured])


def amount_text(measured: Measured, value: float, formatter: Formatter) -> str:
    """Return a figure of what a rule counts, with its unit where it has one."""
    if measured is Measured.TPP:
        return formatter.number(value)
    if measured is Measured.MEMORY_BANDWIDTH:
        return formatter.catalog_with_unit(value, Quantity.MEMORY_BANDWIDTH).replace(" ", _SPACE)
    return formatter.stated(value)


def limit_text(limit: Limit, formatter: Formatter) -> str:
    """Return what a rule asks of a figure, `TPP at least 4,800`."""
    kind, value = measured_text(limit.measured), amount_text(limit.measured, limit.value, formatter)
    if limit.at_least:
        return tr("{kind} at least {value}", kind=kind, value=value)
    return tr("{kind} below {value}", kind=kind, value=value)


def standing_word(standing: Standing) -> str:
    """Return on which side of a figure something lies."""
    words = {Standing.ABOVE: tr("above"), Standing.BELOW: tr("below"), Standing.UNKNOWN: tr("cannot be told")}
    return words[standing]


def held_text(held: Held, formatter: Formatter) -> str:
    """Return a figure beside the limit of a rule, `20,919 is above 4,800`."""
    kind = held.limit.measured
    limit = amount_text(kind, held.limit.value, formatter)
    if held.value is None:
        return tr("{kind}: not known, limit {limit}", kind=measured_text(kind), limit=limit)
    value = amount_text(kind, held.value, formatter)
    if held.standing is Standing.BELOW:
        said = tr("below {limit}", limit=limit)
    elif held.value == held.limit.value:
        said = tr("at {limit} exactly, which counts as above", limit=limit)
    else:
        said = tr("above {limit}", limit=limit)
    return tr("{kind} {value}: {said}", kind=measured_text(kind), value=value, said=said)


def outcome_text(check: RuleCheck) -> str:
    """Return whether a rule describes the figures of an accelerator, and by which of its lines."""
    if not check.lines:
        return tr("No score is held against it")
    met = [line.line.name for line in check.lines if line.met]
    if met:
        return tr("Described: {lines}", lines=", ".join(met))
    unsettled = [line.line.name for line in check.lines if line.met is None]
    if unsettled:
        return tr("Cannot be told: {lines}", lines=", ".join(unsettled))
    return tr("Not described")


def cell_lines(check: RuleCheck, formatter: Formatter) -> tuple[str, ...]:
    """Return how an accelerator stands to a rule: the figures of its first line, then the outcome."""
    if not check.lines:
        return (outcome_text(check),)
    return (*(held_text(held, formatter) for held in check.lines[0].held), outcome_text(check))


# Rules


def with_figures(rules: ExportRules) -> tuple[ExportRule, ...]:
    """Return the rules that a score is held against, the newest first."""
    return tuple(rule for rule in rules.rules if rule.lines)


def rule_days(rule: ExportRule) -> str:
    """Return the days of a rule."""
    if rule.in_force is None:
        return tr("published {day}", day=rule.published)
    if rule.in_force == rule.published:
        return tr("published and in force {day}", day=rule.published)
    return tr("in force {day}, published {published}", day=rule.in_force, published=rule.published)


def rule_title(rule: ExportRule) -> str:
    """Return the name of a rule with its citation."""
    return (
        tr("{name} ({reference})", name=rule.name, reference=rule.reference) if rule.reference else rule.name
    )


def rule_status(rule: ExportRule, rules: ExportRules) -> str | None:
    """Return what happened to a rule later, None where nothing is on record."""
    if rule.not_enforced_since is not None:
        return tr("Not enforced since {day}, says its publisher", day=rule.not_enforced_since)
    if rule.superseded_by is not None:
        later = next(each for each in rules.rules if each.id == rule.superseded_by)
        return tr("Superseded by: {rule}", rule=later.name)
    return None


def line_texts(rule: ExportRule, formatter: Formatter) -> tuple[str, ...]:
    """Return what a rule describes: each line with its limits, which must all hold, and its note."""
    lines = []
    for line in rule.lines:
        first, *others = (limit_text(limit, formatter) for limit in line.limits)
        limits = tr(" and ").join((first, *map(in_sentence, others)))
        text = tr("{name}: {limits}", name=line.name, limits=limits)
        lines.append(text if line.note is None else tr("{text}. {note}", text=text, note=line.note))
    return tuple(lines)


def rule_lines(rule: ExportRule, rules: ExportRules, formatter: Formatter) -> tuple[str, ...]:
    """Return all there is to say of a rule: what it counts and describes, its note, what came later."""
    status = rule_status(rule, rules)
    return (
        *((tr("{status}.", status=status),) if status else ()),
        rule.counts,
        *(tr("{line}.", line=line.rstrip(".")) for line in line_texts(rule, formatter)),
        rule.note,
    )


def read_in_lines(rule: ExportRule) -> tuple[str, ...]:
    """Return where a rule was read, each with its date and address."""
    return tuple(
        tr(
            "{title}, {date}{space}— {url}",
            title=each.title,
            date=each.date or tr("undated"),
            url=each.url,
            space=_SPACE,
        )
        for each in rule.read_in
    )


def destination_text(rule: ExportRule, check: ExportCheck) -> str | None:
    """Return whether what was read of a rule names the destination; None where neither can be said."""
    found = next((each.named for each in check.rules if each.rule.id == rule.id), None)
    if found is None or check.destination is None:
        return None
    if found:
        return tr("What was read of it names {place}.", place=check.destination)
    return tr("What was read of it does not name {place}.", place=check.destination)


# What is refused, and what else is to be said


def refusal_text(claim: RefusedClaim, name: str, formatter: Formatter) -> str:
    """Return a statement that does not hold, with the arithmetic that refuses it."""
    flops = formatter.stated(claim.peak / _TERA)
    product = f"{flops} × {claim.bits} = {formatter.number(claim.tpp)}"
    return tr(
        "Refused: {statement} says that {name} stays below the threshold. {product}, and the threshold is "
        "{limit} ({dispute}).",
        statement=claim.statement,
        name=name,
        product=product,
        limit=formatter.number(claim.limit),
        dispute=claim.dispute,
    )


def note_lines(checks: Sequence[ExportCheck], formatter: Formatter) -> tuple[str, ...]:
    """Return the notes of checks, each once: with the names that it is for where it is not for all of them.

    What is refused, and the warning, are said in places of their own.
    """
    said: dict[str, list[str]] = {}
    shared: dict[str, None] = {}
    for check in checks:
        for note in check.notes:
            if note.id in _SHARED:
                shared[sentence(note, formatter)] = None
            elif note.id not in _SAID_ELSEWHERE:
                said.setdefault(sentence(note, formatter), []).append(check.name)
    lines = []
    for text, names in said.items():
        for_all = len(names) == len(checks) or any(name in text for name in names)
        lines.append(
            text if for_all else tr("{names}: {note}", names=", ".join(map(short_name, names)), note=text)
        )
    return (*lines, *shared)
