"""Advisory information: software support, reference deployments, weight loading, purchase steps; as plain lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.claim import Source
from gpudesk.domain.decision import ConditionResult, Decision
from gpudesk.domain.deployment_analysis import DerivationTerm, QuotedLinkRate, WeightLoading, WeightLoadTime
from gpudesk.domain.purchase import NegotiationSheet, ProcurementFigure, ProcurementStepStatus
from gpudesk.domain.reference_data import ExportCheck, ExportRuleSet, ReferenceDeployment, SoftwareSupport, SupportEntry
from gpudesk.files import describe_unknown_format
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.export_control import (
    describe_destination,
    describe_refused_claim,
    format_rule_dates,
    format_rule_title,
    get_export_warning,
    get_score_head,
    list_check_notes,
    list_export_rule_lines,
    list_rule_cell_lines,
    list_rule_publications,
    list_scores,
    select_scored_rules,
)
from gpudesk.report.decision.recommendation import format_recommended_deployment, list_delivered_figures
from gpudesk.report.decision.verdict import (
    describe_verdict_reason,
    describe_verdict_terms,
    find_leading_column,
    format_verdict,
)
from gpudesk.report.explanation.working import format_numeric_formula, format_term_value, label_term
from gpudesk.report.labels import format_date, label_document, shorten_name
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
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, join_unit
from gpudesk.text.messages import InputError, Message, capitalize_first, format_message
from gpudesk.text.translation import tr, translate_data, trn


def group_by_software(support: SoftwareSupport, platform: str) -> Iterator[tuple[SupportEntry, ...]]:
    """Yield the statements about each software on a platform, the newest first.

    Software without statements is left out. Entries are never merged.
    """
    for software in support.software:
        entries = support.support(platform, software)
        if entries:
            yield entries


def list_platforms(support: SoftwareSupport) -> tuple[str, ...]:
    """Return the platforms with statements, in the order of the record."""
    return tuple(dict.fromkeys(entry.platform for entry in support.entries))


def split_platforms(platform: str | None) -> tuple[str, ...]:
    """Return the platforms in an accelerator's catalog text, `JAX/XLA, PyTorch`."""
    return tuple(each.strip() for each in (platform or "").split(",") if each.strip())


def describe_support(entry: SupportEntry) -> str:
    """Return one entry as a sentence: level, scope, date, document, and disputes."""
    text = tr(
        "{level}: {scope} ({day}, {document})",
        level=entry.level.label,
        scope=translate_data(entry.scope),
        day=format_date(entry.date),
        document=label_document(entry.source),
    )
    return _add_dispute(text, entry.disputes)


# Deployments


def describe_operator(reference: ReferenceDeployment) -> str:
    """Return the name, or the description of an unnamed operator."""
    who = translate_data(reference.who)
    return who if reference.named else tr("{who} (unnamed)", who=who)


def format_scale(reference: ReferenceDeployment, formatter: Formatter) -> str:
    if reference.count is None:
        return tr("count not published")
    return trn("{n} accelerator", "{n} accelerators", reference.count, n=formatter.count(reference.count))


def describe_reference(reference: ReferenceDeployment, formatter: Formatter) -> str:
    """Return a deployment as a sentence: operator, accelerators, count, date, source."""
    text = tr(
        "{who}: {what}. {scale}, {day}; {basis} ({document})",
        who=describe_operator(reference),
        what=translate_data(reference.what),
        scale=capitalize_first(format_scale(reference, formatter)),
        day=format_date(reference.date),
        basis=translate_data(reference.basis),
        document=label_document(reference.source),
    )
    return _add_dispute(text, reference.disputes)


def _add_dispute(text: str, disputes: tuple[str, ...]) -> str:
    return tr("{text}; sources disagree", text=text) if disputes else text


_SPACE: Final = "\N{NO-BREAK SPACE}"
#: The space between a number and its unit.
_UNIT: Final = re.compile(r"(?<=\d) (?=(?:[KMGT]?i?B(?:/s)?|m?s)(?!\w))")


def format_loaded_weights(loading: WeightLoading, formatter: Formatter) -> str:
    return formatter.memory(loading.weights_bytes)


def format_load_time(time: WeightLoadTime, formatter: Formatter) -> str:
    return tr("unknown") if time.seconds is None else formatter.quantity(time.seconds, "s")


def list_load_workings(time: WeightLoadTime, formatter: Formatter) -> tuple[str, ...]:
    if time.seconds is None:
        lines = [] if time.reason is None else [tr("{reason}.", reason=format_message(time.reason, formatter))]
        if time.storage_s is not None:
            lines.append(tr("From storage alone: {time}.", time=formatter.quantity(time.storage_s, "s")))
        return tuple(lines)
    # The time itself is one of its terms, or the larger of two.
    lines = [line for each in time.working.inputs for line in _list_steps(each, formatter)]
    if time.storage_s is not None:
        lines.append(tr("The slower of the two sets the time."))
    return tuple(lines)


def _list_steps(term: DerivationTerm, formatter: Formatter) -> Iterator[str]:
    """Yield the terms computed from numbers, inputs first."""
    for each in term.inputs:
        yield from _list_steps(each, formatter)
    if term.formula is not None and "{" in term.formula and term.value is not None:
        value, unit = format_term_value(term, formatter)
        yield tr(
            "{name}: {formula} = {value}",
            name=label_term(term.name),
            formula=_glue_units(format_numeric_formula(term, formatter) or ""),
            value=value if unit is None else join_unit(value, unit),
        )


def _glue_units(text: str) -> str:
    """Return a text in which no number is separated from its unit at a line end."""
    return _UNIT.sub(_SPACE, text)


def describe_quoted_link(quoted: QuotedLinkRate, formatter: Formatter) -> str:
    rate = formatter.quantity(quoted.low_bytes_per_s, "B/s")
    time = formatter.quantity(quoted.slowest_s, "s")
    if quoted.high_bytes_per_s != quoted.low_bytes_per_s:
        rate = tr("{low} to {high}", low=rate, high=formatter.quantity(quoted.high_bytes_per_s, "B/s"))
        time = tr("{slow} to {fast}", slow=time, fast=formatter.quantity(quoted.fastest_s, "s"))
    text = tr(
        "At the {rate} stated in {claim} ({day}): {time}",
        rate=rate,
        claim=quoted.claim,
        day=format_date(quoted.dated),
        time=time,
    )
    return _glue_units(text)


def format_host_count(loading: WeightLoading, formatter: Formatter) -> str:
    count = loading.in_host
    if count is None:
        return MISSING_VALUE_TEXT
    return trn("{n} per host", "{n} per host", count, n=formatter.count(count))


def describe_unknown_time(problem: Message, formatter: Formatter) -> str:
    return tr("unknown: {reason}", reason=format_message(problem, formatter))


#: Condition of a step -> its name.
_FACTS: Final[Mapping[str, str]] = {
    "fleet_size": "accelerators sharing the software",
    "competing_quote": "competing quote available",
    "both_platforms": "serving engine runs on all accelerators",
}
#: Condition of a step -> the missing fact.
_MISSING: Final[Mapping[str, str]] = {
    "fleet_size": "number of accelerators sharing the software",
    "competing_quote": "whether you have a competing quote",
    "both_platforms": "whether the serving engine runs on all accelerators",
}


def label_step_state(line: ProcurementStepStatus) -> str:
    if line.applies is None:
        return tr("Undecided")
    return tr("Applies") if line.applies else tr("Does not apply")


def describe_step_reason(line: ProcurementStepStatus, formatter: Formatter) -> str | None:
    """Return the comparisons behind a step, and missing facts; None if it always applies."""
    if not line.tested:
        return None
    test_texts = [_describe_step_test(each, formatter) for each in line.tested]
    return tr("{tested}.", tested=capitalize_first("; ".join(test_texts)))


def describe_missing_facts(line: ProcurementStepStatus) -> str | None:
    """Return the facts missing to decide whether a step applies; None if decided."""
    if line.applies is not None or not line.missing:
        return None
    return tr("Missing: {facts}.", facts="; ".join(tr(_MISSING[each]) for each in line.missing))


def describe_step_alternative(line: ProcurementStepStatus) -> str | None:
    """Return the alternative to a step that does not, or might not, apply."""
    if line.applies is True or line.step.otherwise is None:
        return None
    return tr("Otherwise: {text}", text=translate_data(line.step.otherwise))


def describe_expired_step(line: ProcurementStepStatus) -> str | None:
    """Return that the period of the document is over; None if it is not, or has no end."""
    if not line.past or line.step.until is None:
        return None
    return tr("Expired: the source covers the time until {month}.", month=line.step.until)


def _describe_step_test(tested: ConditionResult, formatter: Formatter) -> str:
    """Return one comparison, `accelerators that share the software, 800 > 200: yes`."""
    name, sign, _ = (*tested.text.split(maxsplit=2), "", "")[:3]
    fact_text = tr(_FACTS[name])
    if not sign:
        return tr("{fact}: {outcome}", fact=fact_text, outcome=_describe_outcome(tested.holds))
    value_text = tr("unknown") if tested.left is None else formatter.exact(_convert_to_number(tested.left))
    right = formatter.exact(_convert_to_number(tested.right))
    return tr(
        "{fact}, {left} {sign} {right}: {outcome}",
        fact=fact_text,
        left=value_text,
        sign=sign,
        right=right,
        outcome=_describe_outcome(tested.holds),
    )


def _convert_to_number(fact: object) -> float | None:
    return float(fact) if isinstance(fact, (int, float)) else None


def _describe_outcome(holds: bool | None) -> str:
    if holds is None:
        return tr("unknown")
    return tr("yes") if holds else tr("no")


# Figures


def format_step_amount(figure: ProcurementFigure, formatter: Formatter) -> str:
    """Return a figure with its unit, `16 – 22%`."""
    amount = formatter.exact(figure.value)
    if figure.high is not None:
        amount = f"{amount}{_SPACE}–{_SPACE}{formatter.exact(figure.high)}"
    if figure.unit == "accelerators":
        return trn("{n} accelerator", "{n} accelerators", round(figure.value), n=amount)
    if figure.unit == "years":
        return trn("{n} year", "{n} years", round(figure.value), n=amount)
    return join_unit(amount, figure.unit)


def format_step_figure(figure: ProcurementFigure, formatter: Formatter) -> str:
    """Return a figure with its subject, its date and its marks: anecdotal, computed again, disputed."""
    marks = [format_date(figure.dated)]
    if figure.anecdotal:
        marks.append(tr("anecdotal (unnamed people)"))
    if figure.worked:
        marks.append(tr("recomputed"))
    if figure.disputes:
        marks.append(tr("sources disagree"))
    return tr(
        "{amount}: {label} ({marks})",
        amount=format_step_amount(figure, formatter),
        label=translate_data(figure.label),
        marks="; ".join(marks),
    )


# Completed points


def format_progress(sheet: NegotiationSheet, formatter: Formatter) -> str:
    done_count, total = formatter.count(sheet.done), formatter.count(len(sheet.lines))
    return trn("{n} of {total} step done", "{n} of {total} steps done", len(sheet.lines), n=done_count, total=total)


def summarize_step(line: ProcurementStepStatus, formatter: Formatter) -> str:
    state = tr("{state}. {strength}.", state=label_step_state(line), strength=line.step.strength.label)
    if not line.open_points:
        return state
    open_points = trn("{n} point open.", "{n} points open.", line.open_points, n=formatter.count(line.open_points))
    return f"{state} {open_points}"


class AdvisoryLine(NamedTuple):
    """A line of text; `depth` 0 is a heading, higher depths are indented."""

    depth: int
    text: str


def join_lines(lines: Iterable[AdvisoryLine]) -> str:
    """Return lines as text, indented by two spaces per depth."""
    return "\n".join(f"{'  ' * line.depth}{line.text}" for line in lines)


# Export control


def list_export_lines(
    checks: Sequence[ExportCheck], rules: ExportRuleSet, formatter: Formatter
) -> Iterator[AdvisoryLine]:
    yield AdvisoryLine(0, tr("Export check"))
    yield AdvisoryLine(1, tr("{warning}.", warning=get_export_warning()))
    for check in checks:
        yield AdvisoryLine(1, tr("{name}, {head}", name=check.name, head=get_score_head()))
        yield from (AdvisoryLine(2, text) for text in list_scores(check, formatter))
        for rule in select_scored_rules(rules):
            rule_check = next(each for each in check.rules if each.rule.id == rule.id)
            result = "; ".join(list_rule_cell_lines(rule_check, formatter))
            line = tr(
                "{rule}, {days}: {result}", rule=translate_data(rule.name), days=format_rule_dates(rule), result=result
            )
            yield AdvisoryLine(2, line)
        yield from (AdvisoryLine(2, describe_refused_claim(each, check.name, formatter)) for each in check.refused)
    yield from (AdvisoryLine(1, tr("{note}.", note=note)) for note in list_check_notes(checks, formatter))
    yield AdvisoryLine(0, tr("Rules, newest first"))
    for rule in rules.rules:
        yield AdvisoryLine(1, tr("{rule}, {days}", rule=format_rule_title(rule), days=format_rule_dates(rule)))
        yield from (AdvisoryLine(2, text) for text in list_export_rule_lines(rule, rules, formatter))
        destination = describe_destination(rule, checks[0]) if checks else None
        if destination is not None:
            yield AdvisoryLine(2, destination)
        yield from (AdvisoryLine(2, tr("Source: {place}", place=place)) for place in list_rule_publications(rule))


# A purchase


def list_negotiation_lines(sheet: NegotiationSheet, formatter: Formatter) -> Iterator[AdvisoryLine]:
    """Yield every step: whether it applies, questions, figures, points, completed ones with notes."""
    progress = format_progress(sheet, formatter)
    yield AdvisoryLine(0, tr("Negotiation sheet: {progress}", progress=progress))
    for line in sheet.lines:
        step = line.step
        title = tr("{title} ({id})", title=translate_data(step.title), id=step.id)
        yield AdvisoryLine(1, _format_tick(title, line.note, is_done=line.is_done))
        yield AdvisoryLine(2, summarize_step(line, formatter))
        yield from (AdvisoryLine(2, text) for text in list_step_remarks(line, formatter))
        yield AdvisoryLine(2, translate_data(step.ask))
        yield AdvisoryLine(2, translate_data(step.why))
        yield from (AdvisoryLine(2, format_step_figure(figure, formatter)) for figure in step.figures)
        yield from (
            AdvisoryLine(2, _format_tick(translate_data(each.point.text), each.note, is_done=each.is_done))
            for each in line.points
        )


def list_step_remarks(line: ProcurementStepStatus, formatter: Formatter) -> tuple[str, ...]:
    remarks = (
        describe_step_reason(line, formatter),
        describe_missing_facts(line),
        describe_step_alternative(line),
        describe_expired_step(line),
    )
    return tuple(each for each in remarks if each)


def _format_tick(text: str, note: str, *, is_done: bool) -> str:
    mark = tr("[x] {text}", text=text) if is_done else tr("[ ] {text}", text=text)
    return tr("{text}: {note}", text=mark, note=note) if note else mark


# The record


def list_support_lines(support: SoftwareSupport, platforms: Iterable[str]) -> Iterator[AdvisoryLine]:
    """Yield the statements about software on each platform, one per entry, the newest first."""
    for platform in platforms:
        yield AdvisoryLine(0, tr("Software on {platform}", platform=platform))
        nothing = True
        for entries in group_by_software(support, platform):
            nothing = False
            yield AdvisoryLine(1, translate_data(entries[0].name))
            yield from (AdvisoryLine(2, describe_support(entry)) for entry in entries)
        if nothing:
            yield AdvisoryLine(1, describe_missing_support(platform))


def describe_missing_support(platform: str) -> str:
    return tr("No source describes software support on {platform}.", platform=platform)


def list_reference_lines(references: Sequence[ReferenceDeployment], formatter: Formatter) -> Iterator[AdvisoryLine]:
    yield AdvisoryLine(0, tr("Reference deployments"))
    if not references:
        yield AdvisoryLine(1, describe_missing_references())
    yield from (AdvisoryLine(1, describe_reference(each, formatter)) for each in references)


def describe_missing_references() -> str:
    return tr("No source describes a deployment of these accelerators.")


# Loading


def list_loading_lines(
    loadings: Mapping[str, WeightLoading | Message], names: Mapping[str, str], formatter: Formatter
) -> Iterator[AdvisoryLine]:
    """Yield the time to load weights for each column, with its formulas and omissions."""
    yield AdvisoryLine(0, tr("Weight loading time"))
    for key, loading in loadings.items():
        if isinstance(loading, Message):
            problem = describe_unknown_time(loading, formatter)
            yield AdvisoryLine(1, tr("{name}: {problem}", name=names[key], problem=problem))
            continue
        yield AdvisoryLine(
            1, tr("{name}: weights of {size}", name=names[key], size=format_loaded_weights(loading, formatter))
        )
        yield from _list_time_lines(tr("One accelerator"), loading.one, formatter)
        host = tr("One host ({count})", count=format_host_count(loading, formatter))
        yield from _list_time_lines(host, loading.host, formatter)
        yield from (AdvisoryLine(2, describe_quoted_link(each, formatter)) for each in loading.quoted)
    notes = merge_loading_notes(loadings, names, formatter)
    yield from (AdvisoryLine(1, tr("{note}.", note=note)) for note in notes)


def _list_time_lines(title: str, time: WeightLoadTime, formatter: Formatter) -> Iterator[AdvisoryLine]:
    yield AdvisoryLine(2, tr("{title}: {time}", title=title, time=format_load_time(time, formatter)))
    yield from (AdvisoryLine(3, text) for text in list_load_workings(time, formatter))


def merge_loading_notes(
    loadings: Mapping[str, WeightLoading | Message], names: Mapping[str, str], formatter: Formatter
) -> tuple[str, ...]:
    """Return the assumptions and omissions of the times, each once: with names unless common to all columns."""
    loading_times = {key: each for key, each in loadings.items() if isinstance(each, WeightLoading)}
    notes: dict[str, list[str]] = {}
    for key, loading in loading_times.items():
        for note in (format_message(each, formatter) for each in loading.notes):
            notes.setdefault(note, []).append(names[key])
    lines = []
    for note, whose in notes.items():
        plain = len(whose) == len(loading_times) or any(name in note for name in whose)
        lines.append(note if plain else tr("{names}: {note}", names=", ".join(whose), note=note))
    return tuple(lines)


#: Formats of the sheet by file suffix.
FORMS: Final = (".html", ".md")


@frozen_dataclass
class NegotiationDocument:
    """The content of the sheet.

    `names` are those of the columns by key, `sources` the documents of the steps by id. `made_on` is an ISO day,
    `revision` that of the catalog.
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
    """Return the contents of a file of that suffix; raises `InputError` for an unknown suffix."""
    blocks = build_negotiation_blocks(paper)
    if suffix.lower() == ".md":
        return write_blocks_markdown(blocks).encode("utf-8")
    if suffix.lower() == ".html":
        return write_blocks_html(_build_title(paper), blocks).encode("utf-8")
    raise InputError(describe_unknown_format(suffix, FORMS))


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
    for describe in (describe_verdict_reason, describe_verdict_terms):
        if text := describe(decision, names, formatter):
            yield DocumentParagraph(text)
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
    points = ((each.is_done, translate_data(each.point.text), each.note) for each in line.points)
    yield DocumentParagraph(tr("Checklist:"))
    yield CheckList(((line.is_done, tr("Whole step"), line.note), *points))


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
        tr("{title}, {day}", title=translate_data(source.title), day=format_date(source.date))
        for source in paper.sources.values()
    )
    rules = (
        tr("{rule}, {days}. {title}", rule=format_rule_title(rule), days=format_rule_dates(rule), title=rule.title)
        for rule in paper.rules.rules
    )
    yield BulletList((*documents, *rules))
