"""What stands beside a recommendation as plain lines, which the command line and copies share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpudesk.domain.export_control import ExportCheck, ExportRules
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.procurement import NegotiationSheet, PointLine, StepLine
from gpudesk.domain.references import Reference
from gpudesk.domain.software_support import SoftwareSupport
from gpudesk.domain.weight_loading import LoadTime, WeightLoading
from gpudesk.sheets.export_words import (
    cell_lines,
    destination_text,
    export_warning,
    note_lines,
    read_in_lines,
    refusal_text,
    rule_days,
    rule_lines,
    rule_title,
    score_head,
    score_lines,
    with_figures,
)
from gpudesk.sheets.loading_words import (
    in_host_text,
    quoted_text,
    time_text,
    unknown_text,
    weights_text,
    working_lines,
)
from gpudesk.sheets.loading_words import note_lines as loading_notes
from gpudesk.sheets.procurement_words import (
    because_text,
    figure_text,
    missing_text,
    otherwise_text,
    past_text,
    progress_text,
    summary_text,
)
from gpudesk.sheets.support_words import by_software, reference_sentence, support_sentence
from gpudesk.text import tr


class Line(NamedTuple):
    """A line of text; `depth` 0 is a heading, further ones stand further in."""

    depth: int
    text: str


def as_text(lines: Iterable[Line]) -> str:
    """Return lines as text, each further in by two places a depth."""
    return "\n".join(f"{'  ' * line.depth}{line.text}" for line in lines)


# Export control


def export_lines(checks: Sequence[ExportCheck], rules: ExportRules, formatter: Formatter) -> Iterator[Line]:
    """Yield the warning, each accelerator with its products and standings, what is refused, the rules."""
    yield Line(0, tr("Export check"))
    yield Line(1, tr("{warning}.", warning=export_warning()))
    for check in checks:
        yield Line(1, tr("{name}, {head}", name=check.name, head=score_head()))
        yield from (Line(2, text) for text in score_lines(check, formatter))
        for rule in with_figures(rules):
            found = next(each for each in check.rules if each.rule.id == rule.id)
            said = "; ".join(cell_lines(found, formatter))
            yield Line(2, tr("{rule}, {days}: {said}", rule=rule.name, days=rule_days(rule), said=said))
        yield from (Line(2, refusal_text(each, check.name, formatter)) for each in check.refused)
    yield from (Line(1, tr("{note}.", note=note)) for note in note_lines(checks, formatter))
    yield Line(0, tr("Rules, the newest first"))
    for rule in rules.rules:
        yield Line(1, tr("{rule}, {days}", rule=rule_title(rule), days=rule_days(rule)))
        yield from (Line(2, text) for text in rule_lines(rule, rules, formatter))
        named = destination_text(rule, checks[0]) if checks else None
        if named is not None:
            yield Line(2, named)
        yield from (Line(2, tr("Read in {place}", place=place)) for place in read_in_lines(rule))


# A purchase


def negotiation_lines(sheet: NegotiationSheet, formatter: Formatter) -> Iterator[Line]:
    """Yield every step: whether it applies, what to ask, its figures, its points, what is done and noted."""
    said = progress_text(sheet, formatter)
    yield Line(0, tr("Negotiation sheet: {progress}", progress=said))
    for line in sheet.lines:
        step = line.step
        title = tr("{title} ({id})", title=step.title, id=step.id)
        yield Line(1, _ticked(title, line.note, done=line.done))
        yield Line(2, summary_text(line, formatter))
        yield from (Line(2, text) for text in step_remarks(line, formatter))
        yield Line(2, step.ask)
        yield Line(2, step.why)
        yield from (Line(2, figure_text(figure, formatter)) for figure in step.figures)
        yield from (Line(2, point_text(each)) for each in line.points)


def step_remarks(line: StepLine, formatter: Formatter) -> tuple[str, ...]:
    """Return why a step applies or not, what is missing to tell that, and what holds otherwise."""
    found = (because_text(line, formatter), missing_text(line), otherwise_text(line), past_text(line))
    return tuple(each for each in found if each)


def point_text(line: PointLine) -> str:
    """Return a point with its tick and note."""
    return _ticked(line.point.text, line.note, done=line.done)


def _ticked(text: str, note: str, *, done: bool) -> str:
    mark = tr("[x] {text}", text=text) if done else tr("[ ] {text}", text=text)
    return tr("{text}: {note}", text=mark, note=note) if note else mark


# The record


def support_lines(support: SoftwareSupport, platforms: Iterable[str]) -> Iterator[Line]:
    """Yield what is said of software on each platform, each entry by itself and the newest first."""
    for platform in platforms:
        yield Line(0, tr("Software on {platform}", platform=platform))
        nothing = True
        for entries in by_software(support, platform):
            nothing = False
            yield Line(1, entries[0].name)
            yield from (Line(2, support_sentence(entry)) for entry in entries)
        if nothing:
            yield Line(1, nothing_on(platform))


def nothing_on(platform: str) -> str:
    """Return that no document says anything of software on a platform."""
    return tr("No document on record says anything of software on {platform}.", platform=platform)


def reference_lines(references: Sequence[Reference], formatter: Formatter) -> Iterator[Line]:
    """Yield deployments that documents tell of."""
    yield Line(0, tr("Reference deployments"))
    if not references:
        yield Line(1, no_references())
    yield from (Line(1, reference_sentence(each, formatter)) for each in references)


def no_references() -> str:
    """Return that no deployment is on record."""
    return tr("No document on record tells of a deployment of these accelerators.")


# Loading


def loading_lines(
    loadings: Mapping[str, WeightLoading | Message], names: Mapping[str, str], formatter: Formatter
) -> Iterator[Line]:
    """Yield the time to load weights for each column, with its formulas, and what it leaves out."""
    yield Line(0, tr("Loading the weights"))
    for key, found in loadings.items():
        if isinstance(found, Message):
            yield Line(1, tr("{name}: {said}", name=names[key], said=unknown_text(found, formatter)))
            continue
        yield Line(1, tr("{name}, weights {size}", name=names[key], size=weights_text(found, formatter)))
        yield from _time_lines(tr("One accelerator"), found.one, formatter)
        host = tr("One host, {count}", count=in_host_text(found, formatter))
        yield from _time_lines(host, found.host, formatter)
        yield from (Line(2, quoted_text(each, formatter)) for each in found.quoted)
    notes = all_loading_notes(loadings, names, formatter)
    yield from (Line(1, tr("{note}.", note=note)) for note in notes)


def _time_lines(title: str, time: LoadTime, formatter: Formatter) -> Iterator[Line]:
    yield Line(2, tr("{title}: {time}", title=title, time=time_text(time, formatter)))
    yield from (Line(3, text) for text in working_lines(time, formatter))


def all_loading_notes(
    loadings: Mapping[str, WeightLoading | Message], names: Mapping[str, str], formatter: Formatter
) -> tuple[str, ...]:
    """Return what the times rest on and leave out, each once: with names where it is not for all columns."""
    found = {key: each for key, each in loadings.items() if isinstance(each, WeightLoading)}
    said: dict[str, list[str]] = {}
    for key, loading in found.items():
        for note in loading_notes(loading, formatter):
            said.setdefault(note, []).append(names[key])
    lines = []
    for note, whose in said.items():
        plain = len(whose) == len(found) or any(name in note for name in whose)
        lines.append(note if plain else tr("{names}: {note}", names=", ".join(whose), note=note))
    return tuple(lines)
