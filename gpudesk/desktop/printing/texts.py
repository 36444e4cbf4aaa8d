"""The running text of a sheet: notes, what is to be said, disputes, whose figures these are, sources."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.desktop.printing.columns import Entry, Section
from gpudesk.desktop.printing.letters import Run
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sheets.sheet import DisputeEntry, Note, Remark, Sheet, SourceEntry
from gpudesk.text import tr

_STRONG = "small_strong"


def sections(sheet: Sheet, *, whole_note: bool = False, working: bool = False) -> tuple[Section, ...]:
    """Return the sections that have entries; on request the note in full, and the working of figures."""
    made = (
        Section(tr("Notes"), tuple(_note(note) for note in sheet.notes)),
        Section(tr("About this comparison"), tuple(_whole_note(sheet)) if whole_note else ()),
        Section(tr("About these estimates"), tuple(_remark(remark) for remark in sheet.remarks)),
        Section(tr("How the headline figures come about"), tuple(_working(sheet)) if working else ()),
        Section(tr("Also in dispute"), tuple(_dispute(entry) for entry in sheet.disputes)),
        Section(sheet.whose.title, tuple(_whose(sheet))),
        Section(tr("Sources"), tuple(_source(source) for source in sheet.sources)),
    )
    return tuple(section for section in made if section.entries)


def _note(note: Note) -> Entry:
    return Entry((Run(note.text),), str(note.number), "disputed_text")


def _whole_note(sheet: Sheet) -> Iterator[Entry]:
    return (Entry((Run(paragraph),)) for paragraph in sheet.note.splitlines() if paragraph.strip())


def _remark(remark: Remark) -> Entry:
    words = Run(f"{remark.text}.")
    return Entry((Run(f"{remark.subject}: ", _STRONG), words) if remark.subject else (words,))


def _working(sheet: Sheet) -> Iterator[Entry]:
    for working in sheet.working:
        yield Entry((Run(f"{working.figure} = ", _STRONG), Run(f"{working.formulas}.")))
        for name, numbers in working.lines:
            yield Entry((Run(f"{name}: ", _STRONG), Run(f"{numbers}.", colour="text2")))


def _dispute(entry: DisputeEntry) -> Entry:
    verdict = tr("Verdict: {verdict}.", verdict=entry.verdict)
    return Entry(
        (
            Run(f"{entry.subject}. ", _STRONG),
            Run(f"{entry.disagreement} "),
            Run(f"{verdict} ", _STRONG),
            Run(entry.reason, colour="text2"),
        )
    )


def _whose(sheet: Sheet) -> Iterator[Entry]:
    """Yield an entry for each part: which figures come from which source."""
    rows = [row for group in sheet.whose.groups for row in group.rows]
    for position, head in enumerate(sheet.heads):
        stated: dict[str, list[str]] = {}
        for row in rows:
            if row.cells[position].text != UNKNOWN:
                stated.setdefault(row.cells[position].text, []).append(row.label)
        if stated:
            said = "; ".join(f"{' · '.join(labels)} {number}" for number, labels in stated.items())
            yield Entry((Run(f"{head.name}: ", _STRONG), Run(said)))


def _source(source: SourceEntry) -> Entry:
    rest = ", ".join(word for word in (source.publisher, source.kind, source.date) if word)
    return Entry((Run(f"{source.title}. "), Run(rest, colour="text2")), str(source.number))
