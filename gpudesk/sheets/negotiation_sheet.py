"""The negotiation sheet to print: the recommendation, the steps with ticks and notes, the export check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.claims import Source
from gpudesk.domain.decisions import Decision
from gpudesk.domain.export_control import ExportCheck, ExportRules
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.procurement import NegotiationSheet, StepLine
from gpudesk.sheets.beside_lines import step_remarks
from gpudesk.sheets.decision_words import firmness, leading, verdict_reason, verdict_title
from gpudesk.sheets.delivery_lines import delivered, deployment_text
from gpudesk.sheets.export_words import (
    cell_lines,
    destination_text,
    export_warning,
    note_lines,
    refusal_text,
    rule_days,
    rule_title,
    score_head,
    score_lines,
    with_figures,
)
from gpudesk.sheets.names import short_name
from gpudesk.sheets.paper_blocks import (
    Block,
    Grid,
    Heading,
    Items,
    Paragraph,
    Ticks,
    blocks_html,
    blocks_markdown,
)
from gpudesk.sheets.procurement_words import figure_text, progress_text, summary_text
from gpudesk.sheets.support_words import day_text, document_label
from gpudesk.text import tr

#: Forms of the sheet, by the suffix of its file.
FORMS: Final = (".html", ".md")


@dataclass(frozen=True, slots=True)
class NegotiationPaper:
    """What is on the sheet.

    `names` are those of the columns by key, `sources` the documents of the steps by id. `made_on` is an ISO
    day, `revision` that of the catalog.
    """

    title: str
    decision: Decision
    names: Mapping[str, str]
    sheet: NegotiationSheet
    checks: Sequence[ExportCheck]
    rules: ExportRules
    sources: Mapping[str, Source]
    made_on: str
    revision: str
    formatter: Formatter


def negotiation_file(paper: NegotiationPaper, suffix: str) -> bytes:
    """Return the contents of a file of that suffix; raises `InputError` for one that is no form of it."""
    blocks = negotiation_blocks(paper)
    if suffix.lower() == ".md":
        return blocks_markdown(blocks).encode("utf-8")
    if suffix.lower() == ".html":
        return blocks_html(_title(paper), blocks).encode("utf-8")
    raise InputError(message("sheet.format", suffix=suffix or tr("without a suffix"), known=FORMS))


def negotiation_blocks(paper: NegotiationPaper) -> tuple[Block, ...]:
    """Return what the sheet says from its head to its sources."""
    return (*_head(paper), *_steps(paper), *_export(paper), *_sources(paper))


def _title(paper: NegotiationPaper) -> str:
    return tr("Negotiation sheet: {title}", title=paper.title) if paper.title else tr("Negotiation sheet")


def _head(paper: NegotiationPaper) -> Iterator[Block]:
    decision, names, formatter = paper.decision, paper.names, paper.formatter
    yield Heading(1, _title(paper))
    made = tr("Made on {day} from catalog {revision}", day=paper.made_on, revision=paper.revision)
    yield Paragraph(made)
    yield Heading(2, verdict_title(decision, names, formatter))
    yield Paragraph(
        tr(
            "{reason} {firm}.",
            reason=verdict_reason(decision, names, formatter),
            firm=firmness(decision, names),
        )
    )
    key = leading(decision)
    deployed = deployment_text(decision, formatter)
    facts = [] if key is None else list(delivered(decision, key, formatter))
    if deployed is not None:
        facts.insert(0, (tr("Deployment"), deployed))
    if facts:
        yield Items(tuple(tr("{label}: {value}", label=label, value=value) for label, value in facts))


def _steps(paper: NegotiationPaper) -> Iterator[Block]:
    yield Heading(2, tr("Steps: {progress}", progress=progress_text(paper.sheet, paper.formatter)))
    for number, line in enumerate(paper.sheet.lines, start=1):
        yield from _step(number, line, paper.formatter)


def _step(number: int, line: StepLine, formatter: Formatter) -> Iterator[Block]:
    step = line.step
    yield Heading(3, tr("{number}. {title} ({id})", number=number, title=step.title, id=step.id))
    yield Paragraph(step.ask)
    yield Paragraph(step.why)
    yield Paragraph(" ".join((summary_text(line, formatter), *step_remarks(line, formatter))))
    if step.figures:
        yield Paragraph(tr("Figures:"))
        yield Items(tuple(figure_text(figure, formatter) for figure in step.figures))
    points = ((each.done, each.point.text, each.note) for each in line.points)
    yield Paragraph(tr("To tick off:"))
    yield Ticks(((line.done, tr("The whole step"), line.note), *points))


def _export(paper: NegotiationPaper) -> Iterator[Block]:
    formatter, checks = paper.formatter, paper.checks
    yield Heading(2, tr("Export check"))
    yield Paragraph(tr("{warning}.", warning=export_warning()), strong=True)
    rules = with_figures(paper.rules)
    head = (tr("Accelerator"), score_head(), *(f"{rule.name}, {rule_days(rule)}" for rule in rules))
    rows = []
    for check in checks:
        found = {each.rule.id: "; ".join(cell_lines(each, formatter)) for each in check.rules}
        best = score_lines(check, formatter)[0]
        rows.append((short_name(check.name), best, *(found[rule.id] for rule in rules)))
    yield Grid(head, tuple(rows))
    refused = [
        refusal_text(claim, short_name(check.name), formatter) for check in checks for claim in check.refused
    ]
    named = [
        tr("{rule}: {said}", rule=rule.name, said=said)
        for rule in paper.rules.rules
        if checks and (said := destination_text(rule, checks[0])) is not None
    ]
    notes = (tr("{note}.", note=note) for note in note_lines(checks, formatter))
    yield Items((*refused, *named, *notes))


def _sources(paper: NegotiationPaper) -> Iterator[Block]:
    yield Heading(2, tr("Sources"))
    documents = (
        tr(
            "{label}: {title}, {day}",
            label=document_label(key),
            title=source.title,
            day=day_text(source.date),
        )
        for key, source in paper.sources.items()
    )
    rules = (
        tr("{rule}, {days}. {title}", rule=rule_title(rule), days=rule_days(rule), title=rule.title)
        for rule in paper.rules.rules
    )
    yield Items((*documents, *rules))
