"""The negotiation sheet to print: recommendation, purchase steps with notes, export check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.claim import Source
from gpudesk.domain.decision import Decision
from gpudesk.domain.purchase import NegotiationSheet, ProcurementStepStatus
from gpudesk.domain.reference_data import ExportCheck, ExportRuleSet
from gpudesk.files import describe_unknown_format
from gpudesk.report.decision.advisory import format_progress, format_step_figure, list_step_remarks, summarize_step
from gpudesk.report.decision.export_control import (
    describe_destination,
    describe_refused_claim,
    format_rule_dates,
    format_rule_title,
    get_export_warning,
    get_score_head,
    list_check_notes,
    list_rule_cell_lines,
    list_scores,
    select_scored_rules,
)
from gpudesk.report.decision.recommendation import format_recommended_deployment, list_delivered_figures
from gpudesk.report.decision.verdict import describe_verdict_reason, find_leading_column, format_verdict
from gpudesk.report.labels import format_date, shorten_name
from gpudesk.report.writers.document import (
    BulletList,
    CheckList,
    DocumentBlock,
    DocumentHeading,
    DocumentParagraph,
    DocumentTable,
    write_blocks_html,
    write_blocks_markdown,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr, translate_data

#: Forms of the sheet, by the suffix of its file.
FORMS: Final = (".html", ".md")


@dataclass(frozen=True, slots=True)
class NegotiationDocument:
    """What is on the sheet.

    `names` are those of the columns by key, `sources` the documents of the steps by id. `made_on` is an ISO
    day, `revision` that of the catalog.
    """

    title: str
    decision: Decision
    names: Mapping[str, str]
    sheet: NegotiationSheet
    checks: Sequence[ExportCheck]
    rules: ExportRuleSet
    sources: Mapping[str, Source]
    made_on: str
    revision: str
    formatter: Formatter


def write_negotiation_file(paper: NegotiationDocument, suffix: str) -> bytes:
    """Return the contents of a file of that suffix; raises `InputError` for one that is no form of it."""
    blocks = build_negotiation_blocks(paper)
    if suffix.lower() == ".md":
        return write_blocks_markdown(blocks).encode("utf-8")
    if suffix.lower() == ".html":
        return write_blocks_html(_build_title(paper), blocks).encode("utf-8")
    raise InputError(describe_unknown_format(suffix or tr("without a suffix"), FORMS))


def build_negotiation_blocks(paper: NegotiationDocument) -> tuple[DocumentBlock, ...]:
    return (*_build_head(paper), *_build_step_blocks(paper), *_build_export_blocks(paper), *_build_source_blocks(paper))


def _build_title(paper: NegotiationDocument) -> str:
    return tr("Negotiation sheet: {title}", title=paper.title) if paper.title else tr("Negotiation sheet")


def _build_head(paper: NegotiationDocument) -> Iterator[DocumentBlock]:
    decision, names, formatter = paper.decision, paper.names, paper.formatter
    yield DocumentHeading(1, _build_title(paper))
    origin = tr("Made on {day} from catalog {revision}", day=paper.made_on, revision=paper.revision)
    yield DocumentParagraph(origin)
    yield DocumentHeading(2, format_verdict(decision, names, formatter))
    yield DocumentParagraph(describe_verdict_reason(decision, names, formatter))
    key = find_leading_column(decision)
    deployed = format_recommended_deployment(decision, formatter)
    facts = [] if key is None else list(list_delivered_figures(decision, key, formatter))
    if deployed is not None:
        facts.insert(0, (tr("Deployment"), deployed))
    if facts:
        yield BulletList(tuple(tr("{label}: {value}", label=label, value=value) for label, value in facts))


def _build_step_blocks(paper: NegotiationDocument) -> Iterator[DocumentBlock]:
    yield DocumentHeading(2, tr("Steps: {progress}", progress=format_progress(paper.sheet, paper.formatter)))
    for number, line in enumerate(paper.sheet.lines, start=1):
        yield from _build_step_block(number, line, paper.formatter)


def _build_step_block(number: int, line: ProcurementStepStatus, formatter: Formatter) -> Iterator[DocumentBlock]:
    step = line.step
    yield DocumentHeading(3, tr("{number}. {title}", number=number, title=translate_data(step.title)))
    yield DocumentParagraph(translate_data(step.ask))
    yield DocumentParagraph(translate_data(step.why))
    yield DocumentParagraph(" ".join((summarize_step(line, formatter), *list_step_remarks(line, formatter))))
    if step.figures:
        yield DocumentParagraph(tr("Figures:"))
        yield BulletList(tuple(format_step_figure(figure, formatter) for figure in step.figures))
    points = ((each.done, translate_data(each.point.text), each.note) for each in line.points)
    yield DocumentParagraph(tr("Checklist:"))
    yield CheckList(((line.done, tr("Whole step"), line.note), *points))


def _build_export_blocks(paper: NegotiationDocument) -> Iterator[DocumentBlock]:
    formatter, checks = paper.formatter, paper.checks
    yield DocumentHeading(2, tr("Export check"))
    yield DocumentParagraph(tr("{warning}.", warning=get_export_warning()), strong=True)
    rules = select_scored_rules(paper.rules)
    head = (
        tr("Accelerator"),
        get_score_head(),
        *(f"{translate_data(rule.name)}, {format_rule_dates(rule)}" for rule in rules),
    )
    rows = []
    for check in checks:
        outcomes = {each.rule.id: "; ".join(list_rule_cell_lines(each, formatter)) for each in check.rules}
        best = list_scores(check, formatter)[0]
        rows.append((shorten_name(check.name), best, *(outcomes[rule.id] for rule in rules)))
    yield DocumentTable(head, tuple(rows))
    refused = [
        describe_refused_claim(claim, shorten_name(check.name), formatter)
        for check in checks
        for claim in check.refused
    ]
    destinations = [
        tr("{rule}: {destination}", rule=translate_data(rule.name), destination=destination)
        for rule in paper.rules.rules
        if checks and (destination := describe_destination(rule, checks[0])) is not None
    ]
    notes = (tr("{note}.", note=note) for note in list_check_notes(checks, formatter))
    yield BulletList((*refused, *destinations, *notes))


def _build_source_blocks(paper: NegotiationDocument) -> Iterator[DocumentBlock]:
    yield DocumentHeading(2, tr("Sources"))
    documents = (
        tr("{title}, {day}", title=source.title, day=format_date(source.date)) for source in paper.sources.values()
    )
    rules = (
        tr("{rule}, {days}. {title}", rule=format_rule_title(rule), days=format_rule_dates(rule), title=rule.title)
        for rule in paper.rules.rules
    )
    yield BulletList((*documents, *rules))
