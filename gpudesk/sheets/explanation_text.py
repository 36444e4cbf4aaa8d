"""Explanations as plain text, to be pasted into a letter or a note."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.sheets.claim_lines import stance_word
from gpudesk.sheets.explanation import (
    ClaimGroup,
    ClaimLine,
    Explanation,
    PlanLines,
    RecordLines,
    TermLine,
)
from gpudesk.text import tr


def with_sources(explanation: Explanation) -> str:
    """Return the figure with its band, conditions, basis and the sources behind it."""
    head = f"{explanation.what}: {explanation.value or explanation.conditions}"
    conditions = explanation.conditions if explanation.value else ""
    lines = [head, explanation.band, explanation.basis, explanation.age, conditions]
    if explanation.decision is not None:
        lines += explanation.decision.as_text()
    lines += explanation.facts
    lines += [f"{detail.label}: {detail.value}" for detail in explanation.details]
    if explanation.limits is not None and explanation.limits.shares:
        shares = ", ".join(f"{share.label} {share.text}" for share in explanation.limits.shares)
        lines.append(f"{tr('What limits it')}: {shares}")
    lines += _record(explanation.record)
    lines += _plans(explanation.plans)
    lines += _claims(explanation)
    lines += [f"{dispute.disagreement} {dispute.judged} {dispute.reason}" for dispute in explanation.disputes]
    lines += explanation.remarks
    if explanation.statements:
        lines.append(f"{tr('As printed')}:")
        lines += [f"- {line.sentence}" for line in explanation.statements]
    for group in explanation.stated:
        lines.append(f"{group.label}:")
        lines += [f"- {detail.label}: {detail.value}" for detail in group.figures]
    return "\n".join(line for line in lines if line) + "\n"


def working_text(term: TermLine) -> str:
    """Return a derivation line by line, indented by its levels."""
    return "".join(f"{line}\n" for line in _term_lines(term, 0))


def record_title(record: RecordLines) -> str:
    """Return the heading of published figures, with what is said beside them."""
    if record.of:
        return tr(
            "Nearest published measurements of {figure}, and what fits said that had not seen them",
            figure=record.of,
        )
    return tr("Nearest published measurements, and what fits said that had not seen them")


def claim_text(claim: ClaimLine) -> str:
    """Return one claim with everything that is known about its source."""
    value = f"{claim.value} {claim.unit}" if claim.unit else claim.value
    details = "; ".join(f"{detail.label}: {detail.value}" for detail in claim.details)
    return f"{value}. {details}"


def _record(record: RecordLines | None) -> Iterator[str]:
    """Yield the published figures that are nearest, with what was said of them unseen."""
    if record is None:
        return
    yield f"{record_title(record)}:"
    if record.remark:
        yield f"{record.remark}."
    for line in record.lines:
        yield "- " + ", ".join(part for part in (line.sentence, line.address) if part)


def _plans(plans: PlanLines | None) -> Iterator[str]:
    """Yield the plans that are shown at once."""
    if plans is not None:
        yield f"{tr('Why this plan')}:"
        yield from (f"- {line.sentence}" for line in plans.shown)


def _claims(explanation: Explanation) -> Iterator[str]:
    if explanation.claims:
        yield f"{tr('Sources')}:"
    for group in explanation.claims:
        yield from _group_lines(group)


def _group_lines(group: ClaimGroup) -> Iterator[str]:
    for claim in group.claims:
        value = f"{claim.value} {claim.unit}" if claim.unit else claim.value
        verdict = f" ({claim.verdict})" if claim.verdict else ""
        yield f"- {group.label}, {stance_word(claim.stance)}: {value}{verdict}; {claim.source}"
    if group.reason:
        yield f"  {group.reason}"


def _term_lines(term: TermLine, level: int) -> Iterator[str]:
    value = f"{term.value} {term.unit}" if term.unit else term.value
    formula = f" = {term.formula}" if term.formula else ""
    source = f" [{term.source}]" if term.source else ""
    yield f"{'  ' * level}{term.label}: {value}{formula}{source}"
    for each in term.inputs:
        yield from _term_lines(each, level + 1)
