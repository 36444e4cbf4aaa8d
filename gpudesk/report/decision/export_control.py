"""Export control in words: scores, rules, thresholds and refused claims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportLimit,
    ExportMetric,
    ExportRule,
    ExportRuleCheck,
    ExportRuleSet,
    ExportScore,
    LimitComparison,
    LimitSide,
    RefutedStatement,
)
from gpudesk.report.labels import format_date, join_names, label_precision, shorten_name
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, Quantity
from gpudesk.text.messages import format_message, lower_for_sentence
from gpudesk.text.translation import tr, translate_data

_TERA: Final = 1e12
_SPACE: Final = "\N{NO-BREAK SPACE}"
#: Notes of a check that views show elsewhere.
_SAID_ELSEWHERE: Final = frozenset({"export.refused", "export.verify"})
#: Notes common to all accelerators.
_SHARED: Final = frozenset({"export.destination", "export.read"})


def get_export_warning() -> str:
    return tr("Arithmetic, not legal advice: check the current rule and ask counsel")


def get_score_head() -> str:
    return tr("TPP score (TFLOPS × bits)")


# Scores


def format_score_product(score: ExportScore, formatter: Formatter) -> str:
    """Return a score as a product, `2,614.9 × 8 = 20,919`."""
    flops = formatter.exact(float(f"{score.flops / _TERA:.9g}"))
    if score.bits is None or score.tpp is None:
        return tr("{flops} TFLOPS, not scored", flops=flops)
    return f"{flops} × {score.bits} = {formatter.number(score.tpp)}"


def list_scores(check: ExportCheck, formatter: Formatter) -> tuple[str, ...]:
    """Return every score with its formats, the largest first."""
    if not check.scores:
        return (MISSING_VALUE_TEXT,)
    lines = []
    for _, group in groupby(check.scores, key=lambda score: (score.flops, score.bits)):
        scores = list(group)
        formats = ", ".join(label_precision(score.precision) for score in scores)
        lines.append(tr("{product} ({formats})", product=format_score_product(scores[0], formatter), formats=formats))
    return tuple(lines)


# Figures of rules


def format_measured_amount(measured: ExportMetric, value: float, formatter: Formatter) -> str:
    """Return a figure of a rule's quantity, with its unit if any."""
    if measured is ExportMetric.TPP:
        return formatter.number(value)
    if measured is ExportMetric.MEMORY_BANDWIDTH:
        return formatter.catalog_with_unit(value, Quantity.MEMORY_BANDWIDTH).replace(" ", _SPACE)
    return formatter.exact(value)


def format_rule_limit(limit: ExportLimit, formatter: Formatter) -> str:
    """Return a rule's condition on a figure, `TPP at least 4,800`."""
    kind, value = (limit.measured.label, format_measured_amount(limit.measured, limit.value, formatter))
    if limit.at_least:
        return tr("{kind} at least {value}", kind=kind, value=value)
    return tr("{kind} below {value}", kind=kind, value=value)


def describe_limit_standing(limit_comparison: LimitComparison, formatter: Formatter) -> str:
    """Return a figure compared with the limit of a rule, `20,919 is above 4,800`."""
    kind = limit_comparison.limit.measured
    limit = format_measured_amount(kind, limit_comparison.limit.value, formatter)
    if limit_comparison.value is None:
        return tr("{kind}: unknown, limit {limit}", kind=kind.label, limit=limit)
    value = format_measured_amount(kind, limit_comparison.value, formatter)
    if limit_comparison.standing is LimitSide.BELOW:
        comparison = tr("below {limit}", limit=limit)
    elif limit_comparison.value == limit_comparison.limit.value:
        comparison = tr("exactly {limit}, which counts as above", limit=limit)
    else:
        comparison = tr("above {limit}", limit=limit)
    return tr("{kind} {value}: {comparison}", kind=kind.label, value=value, comparison=comparison)


def describe_rule_outcome(check: ExportRuleCheck) -> str:
    """Return the outcome of a rule for an accelerator: control, or an eased review, and the deciding line."""
    if not check.lines:
        return tr("No score applies")
    limit_names = _join_lines(check, met=True)
    if limit_names:
        control = tr("Controlled: {lines}", lines=limit_names)
        return control if check.rule.is_control else tr("Eligible: {lines}", lines=limit_names)
    unsettled = _join_lines(check, met=None)
    if unsettled:
        return tr("Undecided: {lines}", lines=unsettled)
    if check.rule.is_control:
        return tr("Not controlled")
    return tr("Not eligible: {lines}", lines=_join_lines(check, met=False))


def _join_lines(check: ExportRuleCheck, *, met: bool | None) -> str:
    return ", ".join(translate_data(line.line.name) for line in check.lines if line.met is met)


def list_rule_cell_lines(check: ExportRuleCheck, formatter: Formatter) -> tuple[str, ...]:
    """Return how an accelerator compares with a rule: the figures of its first line, then the outcome."""
    if not check.lines:
        return (describe_rule_outcome(check),)
    return (
        *(describe_limit_standing(comparison, formatter) for comparison in check.lines[0].comparisons),
        describe_rule_outcome(check),
    )


# Rules


def select_scored_rules(rules: ExportRuleSet) -> tuple[ExportRule, ...]:
    """Return the rules with score thresholds, the newest first."""
    return tuple(rule for rule in rules.rules if rule.lines)


def format_rule_dates(rule: ExportRule) -> str:
    published = format_date(rule.published)
    if rule.in_force is None:
        return tr("published {day}", day=published)
    if rule.in_force == rule.published:
        return tr("published and effective {day}", day=published)
    return tr("effective {day}, published {published}", day=format_date(rule.in_force), published=published)


def format_rule_title(rule: ExportRule) -> str:
    name = translate_data(rule.name)
    return tr("{name} ({reference})", name=name, reference=rule.reference) if rule.reference else name


def describe_rule_status(rule: ExportRule, rules: ExportRuleSet) -> str | None:
    if rule.not_enforced_since is not None:
        return tr("Not enforced since {day}, according to its publisher", day=rule.not_enforced_since)
    if rule.superseded_by is not None:
        later = next(each for each in rules.rules if each.id == rule.superseded_by)
        return tr("Superseded by: {rule}", rule=translate_data(later.name))
    return None


def list_rule_conditions(rule: ExportRule, formatter: Formatter) -> tuple[str, ...]:
    """Return the description of a rule: each line with its limits, all of which must be met, and its note."""
    lines = []
    for line in rule.lines:
        first, *others = (format_rule_limit(limit, formatter) for limit in line.limits)
        limits = join_names([first, *map(lower_for_sentence, others)])
        text = tr("{name}: {limits}", name=translate_data(line.name), limits=limits)
        lines.append(text if line.note is None else tr("{text}. {note}", text=text, note=translate_data(line.note)))
    return tuple(lines)


def list_export_rule_lines(rule: ExportRule, rules: ExportRuleSet, formatter: Formatter) -> tuple[str, ...]:
    """Return the full text of a rule: quantity and description, note, later changes."""
    status = describe_rule_status(rule, rules)
    return (
        *((tr("{status}.", status=status),) if status else ()),
        translate_data(rule.counts),
        *(tr("{line}.", line=line.rstrip(".")) for line in list_rule_conditions(rule, formatter)),
        translate_data(rule.note),
    )


def list_rule_publications(rule: ExportRule) -> tuple[str, ...]:
    return tuple(
        tr("{title}, {date}{space}— {url}", title=each.title, date=format_date(each.date), url=each.url, space=_SPACE)
        for each in rule.read_in
    )


def describe_destination(rule: ExportRule, check: ExportCheck) -> str | None:
    """Return whether the text of a rule names the destination; None if undecided."""
    destination = next((each.named for each in check.rules if each.rule.id == rule.id), None)
    if destination is None or check.destination is None:
        return None
    if destination:
        return tr("The rule text on file names {place}.", place=check.destination)
    return tr("The rule text on file does not name {place}.", place=check.destination)


# Refuted statements and further notes


def describe_refused_claim(claim: RefutedStatement, name: str, formatter: Formatter) -> str:
    """Return a refuted statement, with the arithmetic that refutes it."""
    flops = formatter.exact(claim.peak / _TERA)
    product = f"{flops} × {claim.bits} = {formatter.number(claim.tpp)}"
    return tr(
        "Wrong claim: {statement} puts {name} below the threshold. But {product}, and the threshold "
        "is {limit} ({dispute}).",
        statement=claim.statement,
        name=name,
        product=product,
        limit=formatter.number(claim.limit),
        dispute=claim.dispute,
    )


def list_check_notes(checks: Sequence[ExportCheck], formatter: Formatter) -> tuple[str, ...]:
    """Return the notes of checks, each once: with names unless common to all.

    Refuted statements and the warning are shown elsewhere.
    """
    notes: dict[str, list[str]] = {}
    shared: dict[str, None] = {}
    for check in checks:
        for note in check.notes:
            if note.id in _SHARED:
                shared[format_message(note, formatter)] = None
            elif note.id not in _SAID_ELSEWHERE:
                notes.setdefault(format_message(note, formatter), []).append(check.name)
    lines = []
    for text, names in notes.items():
        for_all = len(names) == len(checks) or any(name in text for name in names)
        lines.append(text if for_all else tr("{names}: {note}", names=", ".join(map(shorten_name, names)), note=text))
    return (*lines, *shared)
