"""Running text of a sheet: notes, disputes and sources in columns with hanging numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.desktop.ui.printing.paper import TextLine, TextRun, find_widest, measure_line_height, wrap_runs
from gpudesk.desktop.ui.printing.pieces import (
    SheetPainter,
    SheetPiece,
    draw_line,
    find_first_baseline,
    make_rule,
    stack_pieces,
)
from gpudesk.report.comparison.tables import ComparisonSheet, SheetDispute, SheetNote, SheetRemark, SheetSource
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr

#: White between columns, between a number and its text, and below an entry.
_GAP: Final = 16.0
_HANG: Final = 5.0
_BELOW: Final = 1.5
#: A longer entry may be divided between columns after so many lines.
_MOST_LINES: Final = 8
_HEADING: Final = 15.0


@dataclass(frozen=True, slots=True)
class TextEntry:
    """One entry of a section; `number` comes before it, in `number_colour`."""

    runs: tuple[TextRun, ...]
    number: str = ""
    number_colour: str = "text1"


@dataclass(frozen=True, slots=True)
class TextSection:
    """A heading with its entries, set in one style."""

    title: str
    entries: tuple[TextEntry, ...]


@dataclass(frozen=True, slots=True)
class _LineBlock:
    """Lines that stay together."""

    lines: tuple[TextLine, ...]
    entry: TextEntry | None
    last: bool
    style: str

    @property
    def text_height(self) -> float:
        """Height of the lines, without the white below, which the end of a column does not need."""
        return len(self.lines) * measure_line_height(self.style)

    @property
    def height(self) -> float:
        return self.text_height + (_BELOW if self.last else 0.0)


def _finer(run: TextRun) -> TextRun:
    return replace(run, style=run.style.replace("small", "fine"))


class SectionLayout:
    """A section set in columns, which hands out what fits the room there is."""

    def __init__(self, section: TextSection, room: float, columns: int, *, style: str = "small") -> None:
        """Break the lines of all entries for columns that share a width of `room`."""
        self._fine = style == "fine"
        self.title = section.title
        self._room = room
        self._columns = columns
        self._column = (room - _GAP * (columns - 1)) / columns
        self._number = "fine_number" if self._fine else "note_number"
        hang = find_widest((entry.number for entry in section.entries), self._number)
        self._hang = hang + _HANG if hang else 0.0
        self._style = style
        self._chunks = [chunk for entry in section.entries for chunk in self._chunked(entry)]

    def _chunked(self, entry: TextEntry) -> list[_LineBlock]:
        runs = [_finer(run) for run in entry.runs] if self._fine else entry.runs
        lines = wrap_runs(runs, self._column - self._hang)
        parts = [lines[at : at + _MOST_LINES] for at in range(0, len(lines), _MOST_LINES)]
        return [
            _LineBlock(part, entry if number == 0 else None, number == len(parts) - 1, self._style)
            for number, part in enumerate(parts)
        ]

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def take(self, height: float) -> SheetPiece | None:
        """Return a heading with as much as a height has room for, or None where that is next to nothing."""
        room = height - _HEADING
        filled = self._filled(room)
        line_count = sum(map(len, filled))
        if line_count == 0 or (line_count < len(self._chunks) and room < 3 * measure_line_height(self._style)):
            return None
        if line_count == len(self._chunks):
            filled = self._balanced(room)
        self._chunks = self._chunks[line_count:]
        return stack_pieces([self._heading(), self._body(filled)])

    def _filled(self, height: float) -> list[list[_LineBlock]]:
        """Return what each column holds when each is filled before the next begins."""
        columns: list[list[_LineBlock]] = [[]]
        used = 0.0
        for chunk in self._chunks:
            if used + chunk.text_height > height:
                if len(columns) == self._columns or chunk.text_height > height:
                    break
                columns.append([])
                used = 0.0
            columns[-1].append(chunk)
            used += chunk.height
        return columns

    def _balanced(self, most: float) -> list[list[_LineBlock]]:
        low = sum(chunk.height for chunk in self._chunks) / self._columns - _BELOW
        high = most
        while high - low > 0.5:
            middle = (low + high) / 2
            if sum(map(len, self._filled(middle))) == len(self._chunks):
                high = middle
            else:
                low = middle
        return self._filled(high)

    def _heading(self) -> SheetPiece:
        line = make_rule(self._room, "hair", 0.5)
        title = self.title

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            ink.text(x, y + 9.0, title, style="group", colour="text1")
            line.draw(ink, x, y + 12.5)

        return SheetPiece(_HEADING, draw)

    def _body(self, columns: Sequence[Sequence[_LineBlock]]) -> SheetPiece:
        height = max(
            sum(chunk.height for chunk in column[:-1]) + column[-1].text_height for column in columns if column
        )

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            for number, column in enumerate(columns):
                self._draw_column(ink, x + number * (self._column + _GAP), y, column)

        return SheetPiece(height, draw)

    def _draw_column(self, ink: SheetPainter, x: float, y: float, chunks: Sequence[_LineBlock]) -> None:
        step = measure_line_height(self._style)
        for chunk in chunks:
            baseline = y + find_first_baseline(self._style, step)
            if chunk.entry is not None and chunk.entry.number:
                colour = chunk.entry.number_colour
                ink.text(x, baseline, chunk.entry.number, style=self._number, colour=colour)
            for number, line in enumerate(chunk.lines):
                draw_line(ink, line, x + self._hang, baseline + number * step)
            y += chunk.height


_STRONG = "small_strong"


def make_text_sections(
    sheet: ComparisonSheet, *, whole_note: bool = False, working: bool = False
) -> tuple[TextSection, ...]:
    """Return the sections that have entries; on request the note in full, and the working of figures."""
    sections = (
        TextSection(tr("Notes"), tuple(_note(note) for note in sheet.notes)),
        TextSection(tr("About this comparison"), tuple(_whole_note(sheet)) if whole_note else ()),
        TextSection(tr("About these estimates"), tuple(_remark(remark) for remark in sheet.remarks)),
        TextSection(tr("Headline figure calculations"), tuple(_working(sheet)) if working else ()),
        TextSection(tr("Other disputed values"), tuple(_dispute(entry) for entry in sheet.disputes)),
        TextSection(sheet.whose.title, tuple(_whose(sheet))),
        TextSection(tr("Sources"), tuple(_source(source) for source in sheet.sources)),
    )
    return tuple(section for section in sections if section.entries)


def _note(note: SheetNote) -> TextEntry:
    return TextEntry((TextRun(note.text),), str(note.number), "disputed_text")


def _whole_note(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    return (TextEntry((TextRun(paragraph),)) for paragraph in sheet.note.splitlines() if paragraph.strip())


def _remark(remark: SheetRemark) -> TextEntry:
    words = TextRun(f"{remark.text}.")
    return TextEntry((TextRun(f"{remark.subject}: ", _STRONG), words) if remark.subject else (words,))


def _working(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    for working in sheet.working:
        yield TextEntry((TextRun(f"{working.figure} = ", _STRONG), TextRun(f"{working.formulas}.")))
        for name, numbers in working.lines:
            yield TextEntry((TextRun(f"{name}: ", _STRONG), TextRun(f"{numbers}.", colour="text2")))


def _dispute(entry: SheetDispute) -> TextEntry:
    verdict = tr("Verdict: {verdict}.", verdict=entry.verdict)
    return TextEntry(
        (
            TextRun(f"{entry.subject}. ", _STRONG),
            TextRun(f"{entry.disagreement} "),
            TextRun(f"{verdict} ", _STRONG),
            TextRun(entry.reason, colour="text2"),
        )
    )


def _whose(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    """Yield an entry for each part: which figures come from which source."""
    rows = [row for group in sheet.whose.groups for row in group.rows]
    for position, head in enumerate(sheet.heads):
        stated: dict[str, list[str]] = {}
        for row in rows:
            if row.cells[position].text != MISSING_VALUE_TEXT:
                stated.setdefault(row.cells[position].text, []).append(row.label)
        if stated:
            stated_text = "; ".join(f"{' · '.join(labels)} {number}" for number, labels in stated.items())
            yield TextEntry((TextRun(f"{head.name}: ", _STRONG), TextRun(stated_text)))


def _source(source: SheetSource) -> TextEntry:
    rest = ", ".join(word for word in (source.publisher, source.kind, source.date) if word)
    return TextEntry((TextRun(f"{source.title}. "), TextRun(rest, colour="text2")), str(source.number))
