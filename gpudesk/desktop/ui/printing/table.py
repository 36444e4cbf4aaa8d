"""The running text of a sheet, and its comparison table. Lengths are points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.desktop.ui.printing.paper import (
    MM,
    SWATCH,
    SheetPainter,
    SheetPiece,
    TextLine,
    TextRun,
    draw_line,
    draw_lines,
    find_first_baseline,
    find_widest,
    make_rule,
    measure_line,
    measure_line_height,
    measure_width,
    stack_pieces,
    wrap_runs,
    wrap_text,
)
from gpudesk.desktop.ui.theme.glyphs import FAULT_COLORS, FAULT_GLYPHS
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import (
    TIES,
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonHead,
    ComparisonRow,
    ComparisonSheet,
    ComparisonTable,
    SheetDispute,
    SheetRemark,
    SheetSource,
    label_tie,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr

#: Space between columns, between a number and its text, and below an entry.
_GAP: Final = 16.0
_HANG: Final = 5.0
_BELOW: Final = 1.5
#: A longer entry can be split between columns after this many lines.
_MOST_LINES: Final = 8
_HEADING: Final = 15.0


@frozen_dataclass
class TextEntry:
    """One entry of a section, after its `number` in `number_color`."""

    runs: tuple[TextRun, ...]
    number: str = ""
    number_color: str = "text1"


@frozen_dataclass
class TextSection:
    """A heading with its entries, set in one style."""

    title: str
    entries: tuple[TextEntry, ...]


@frozen_dataclass
class _LineBlock:
    """Unbreakable lines."""

    lines: tuple[TextLine, ...]
    entry: TextEntry | None
    last: bool
    style: str

    @property
    def text_height(self) -> float:
        """Height of the lines, without the space below, which the end of a column does not need."""
        return len(self.lines) * measure_line_height(self.style)

    @property
    def height(self) -> float:
        return self.text_height + (_BELOW if self.last else 0.0)


def _reduce_run_size(run: TextRun) -> TextRun:
    return replace(run, style=run.style.replace("small", "fine"))


class SectionLayout:
    """A section in columns, which returns as much as fits."""

    def __init__(self, section: TextSection, room: float, columns: int, *, style: str = "small") -> None:
        """Break the lines of all entries for columns that share the width `room`."""
        self._fine = style == "fine"
        self.title = section.title
        self._room = room
        self._columns = columns
        self._column = (room - _GAP * (columns - 1)) / columns
        self._number = "fine_number" if self._fine else "note_number"
        hang = find_widest((entry.number for entry in section.entries), self._number)
        self._hang = hang + _HANG if hang else 0.0
        self._style = style
        self._chunks = [chunk for entry in section.entries for chunk in self._split_into_blocks(entry)]

    def _split_into_blocks(self, entry: TextEntry) -> list[_LineBlock]:
        runs = tuple(map(_reduce_run_size, entry.runs)) if self._fine else entry.runs
        lines = wrap_runs(runs, self._column - self._hang)
        parts = [lines[at : at + _MOST_LINES] for at in range(0, len(lines), _MOST_LINES)]
        return [
            _LineBlock(part, entry if number == 0 else None, number == len(parts) - 1, self._style)
            for number, part in enumerate(parts)
        ]

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def take(self, height: float) -> SheetPiece | None:
        """Return a heading with as much as fits into a height, or None if that is too little."""
        room = height - _HEADING
        columns = self._fill_columns(room)
        line_count = sum(map(len, columns))
        if line_count == 0 or (line_count < len(self._chunks) and room < 3 * measure_line_height(self._style)):
            return None
        if line_count == len(self._chunks):
            low = sum(chunk.height for chunk in self._chunks) / self._columns - _BELOW
            high = room
            while high - low > 0.5:
                middle = (low + high) / 2
                if sum(map(len, self._fill_columns(middle))) == len(self._chunks):
                    high = middle
                else:
                    low = middle
            columns = self._fill_columns(high)
        self._chunks = self._chunks[line_count:]
        line = make_rule(self._room, "hair", 0.5)
        title = self.title

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            ink.text(x, y + 9.0, title, style="group", color="text1")
            line.draw(ink, x, y + 12.5)

        return stack_pieces([SheetPiece(_HEADING, draw), self._make_body(columns)])

    def _fill_columns(self, height: float) -> list[list[_LineBlock]]:
        """Return the content of each column if each is filled before the next."""
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

    def _make_body(self, columns: Sequence[Sequence[_LineBlock]]) -> SheetPiece:
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
                color = chunk.entry.number_color
                ink.text(x, baseline, chunk.entry.number, style=self._number, color=color)
            for number, line in enumerate(chunk.lines):
                draw_line(ink, line, x + self._hang, baseline + number * step)
            y += chunk.height


_STRONG = "small_strong"


def make_text_sections(
    sheet: ComparisonSheet, *, whole_note: bool = False, working: bool = False
) -> tuple[TextSection, ...]:
    """Return the non-empty sections; on request the full note, and the derivation of figures."""
    sections = (
        TextSection(
            tr("Notes"),
            tuple(TextEntry((TextRun(note.text),), str(note.number), "disputed_text") for note in sheet.notes),
        ),
        TextSection(tr("About this comparison"), tuple(_list_note_entries(sheet)) if whole_note else ()),
        TextSection(tr("About these estimates"), tuple(_make_remark_entry(remark) for remark in sheet.remarks)),
        TextSection(tr("Headline figure calculations"), tuple(_list_derivation_entries(sheet)) if working else ()),
        TextSection(tr("Other disputed values"), tuple(_make_dispute_entry(entry) for entry in sheet.disputes)),
        TextSection(sheet.whose.title, tuple(_list_attribution_entries(sheet))),
        TextSection(tr("Sources"), tuple(_make_source_entry(source) for source in sheet.sources)),
    )
    return tuple(section for section in sections if section.entries)


def _list_note_entries(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    return (TextEntry((TextRun(paragraph),)) for paragraph in sheet.note.splitlines() if paragraph.strip())


def _make_remark_entry(remark: SheetRemark) -> TextEntry:
    words = TextRun(f"{remark.text}.")
    return TextEntry((TextRun(f"{remark.subject}: ", _STRONG), words) if remark.subject else (words,))


def _list_derivation_entries(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    for working in sheet.working:
        yield TextEntry((TextRun(f"{working.figure} = ", _STRONG), TextRun(f"{working.formulas}.")))
        for name, numbers in working.lines:
            yield TextEntry((TextRun(f"{name}: ", _STRONG), TextRun(f"{numbers}.", color="text2")))


def _make_dispute_entry(entry: SheetDispute) -> TextEntry:
    verdict = tr("Verdict: {verdict}.", verdict=entry.verdict)
    return TextEntry(
        (
            TextRun(f"{entry.subject}. ", _STRONG),
            TextRun(f"{entry.disagreement} "),
            TextRun(f"{verdict} ", _STRONG),
            TextRun(entry.reason, color="text2"),
        )
    )


def _list_attribution_entries(sheet: ComparisonSheet) -> Iterator[TextEntry]:
    """Yield an entry per accelerator: the sources of its figures."""
    rows = [row for group in sheet.whose.groups for row in group.rows]
    for position, head in enumerate(sheet.heads):
        labels_by_source: dict[str, list[str]] = {}
        for row in rows:
            if row.cells[position].text != MISSING_VALUE_TEXT:
                labels_by_source.setdefault(row.cells[position].text, []).append(row.label)
        if labels_by_source:
            stated_text = "; ".join(f"{' · '.join(labels)} {number}" for number, labels in labels_by_source.items())
            yield TextEntry((TextRun(f"{head.name}: ", _STRONG), TextRun(stated_text)))


def _make_source_entry(source: SheetSource) -> TextEntry:
    rest = ", ".join(word for word in (source.publisher, source.kind, source.date) if word)
    return TextEntry((TextRun(f"{source.title}. "), TextRun(rest, color="text2")), str(source.number))


#: Widths: of the labels with their units, of a swatch, of the padding around figures.
_LABELS: Final = 52 * MM
_PAD: Final = 6.0
#: From this many columns on, labels take only the necessary width, and columns have less padding.
_MANY: Final = 4
_NARROW: Final = 75.0
#: Maximum column width, so that figures stay near their labels.
_WIDEST: Final = 64 * MM
#: Maximum width of a column's tint.
_WIDEST_TINT: Final = 46 * MM
#: Space between a figure and an interval next to it, and the width of an error glyph.
_ASIDE: Final = 8.0
_GLYPH: Final = 13.0
_GROUP_COLOR: Final = "strong"
#: Line distance of multi-line labels and texts.
_WRAPPED: Final = 8.6


@frozen_dataclass
class TableDensity:
    """Heights of rows: of one line, of each further line, and of a group's title."""

    row: float
    further: float
    group: float


@frozen_dataclass
class _ColumnPlan:
    """Horizontal positions from the left edge: labels end at `labels`, columns are `column` wide."""

    room: float
    labels: float
    column: float
    gutter: float
    pad: float

    def right(self, position: int) -> float:
        return self.labels + (position + 1) * self.column

    @property
    def inner(self) -> float:
        return self.column - self.gutter - self.pad


@frozen_dataclass
class _WrappedCell:
    """A cell with its lines broken; the second line can be next to the figure."""

    cell: ComparisonCell
    figure: tuple[TextLine, ...]
    second: tuple[TextLine, ...]
    beside: bool

    def height(self, density: TableDensity) -> float:
        below = 0 if self.beside else len(self.second) * density.further
        return density.row + (len(self.figure) - 1) * _WRAPPED + below


class PaperTable:
    """A table for a width; the caller places its pieces on pages.

    `aligned` are groups of another table with the same heads: the columns of both get the same positions.
    """

    def __init__(
        self, table: ComparisonTable, room: float, density: TableDensity, aligned: Sequence[ComparisonGroup] = ()
    ) -> None:
        self._density = density
        self._plan = _plan_columns(replace(table, groups=(*table.groups, *aligned)), room)
        self.head = self._make_head_row(table.heads)
        grouped = [self._group(group) for group in table.groups]
        self.groups = tuple(map(stack_pieces, grouped))
        #: Every row separately, the first of a group below its title: for groups larger than a page.
        self.rows = tuple(row for rows in grouped for row in rows)

    # Heads

    def _make_head_row(self, heads: Sequence[ComparisonHead]) -> SheetPiece:
        plan = self._plan
        room = plan.column - plan.gutter
        above = any(measure_width(head.name, "head") + SWATCH + 4 > room for head in heads)
        names = [wrap_text(head.name, "head", room, f"slot{head.slot}") for head in heads]
        details = [wrap_text(head.detail, "small", room, "text3") for head in heads]
        name_lines = max(map(len, names))
        detail_lines = max(map(len, details))
        swatch_height = 9.0 if above else 0.0
        height = (
            swatch_height + name_lines * measure_line_height("head") + detail_lines * measure_line_height("small") + 4
        )

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            for position, (head, name, detail) in enumerate(zip(heads, names, details, strict=True)):
                right = x + plan.right(position) - plan.gutter
                top = y + (name_lines - len(name)) * measure_line_height("head")
                left = right - find_widest((word.text for line in name for word in line), "head")
                if above:
                    ink.swatch(right - SWATCH, top + 4.5, head.slot, is_variant=head.is_variant)
                else:
                    ink.swatch(left - SWATCH - 4, top + 6.0, head.slot, is_variant=head.is_variant)
                top += swatch_height
                top = draw_lines(ink, name, right, top, "head", is_right=True)
                draw_lines(ink, detail, right, top, "small", is_right=True)
            make_rule(plan.room, "text1", 0.8).draw(ink, x, y + height)

        return SheetPiece(height + 0.8, draw)

    # Groups and rows

    def _group(self, group: ComparisonGroup) -> list[SheetPiece]:
        first, *rest = [self._make_table_row(row, beside=self._fits_beside(row)) for row in group.rows]
        return [stack_pieces([*self._make_group_title(group.title), first]), *rest]

    def _make_group_title(self, title: str) -> list[SheetPiece]:
        if not title:
            return []
        lines, step = wrap_text(title, "group", self._plan.room), measure_line_height("group")
        height = self._density.group + (len(lines) - 1) * step
        across = make_rule(self._plan.room, _GROUP_COLOR, 0.5)

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            for number, line in enumerate(reversed(lines)):
                draw_line(ink, line, x, y + height - 3.5 - number * step)
            across.draw(ink, x, y + height - 0.5)

        return [SheetPiece(height, draw)]

    def _fits_beside(self, row: ComparisonRow) -> bool:
        return all(
            _measure_figure(cell) + _ASIDE + measure_width(second, "small") <= self._plan.inner
            for cell in row.cells
            if (second := _format_detail(cell))
        )

    def _make_table_row(self, row: ComparisonRow, *, beside: bool) -> SheetPiece:
        plan, density = self._plan, self._density
        unit = measure_width(row.unit, "small") + _PAD if row.unit else 0.0
        label = wrap_text(row.label, "body", plan.labels - unit - _PAD)
        detail = wrap_text(row.detail, "small", plan.labels - _PAD, "text3")
        cells = [self._wrap_cell(cell, beside=beside) for cell in row.cells]
        extra_height = (len(label) - 1) * _WRAPPED
        labels = density.row + extra_height + len(detail) * density.further
        height = max(labels, *(cell.height(density) for cell in cells))
        across = make_rule(plan.room, "grid", 0.4)

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            across.draw(ink, x, y + height - 0.4)
            baseline = y + find_first_baseline("body", density.row)
            for number, line in enumerate(label):
                draw_line(ink, line, x, baseline + number * _WRAPPED)
            for number, line in enumerate(detail):
                draw_line(ink, line, x, baseline + extra_height + (number + 1) * density.further)
            if row.unit:
                ink.text(x + plan.labels - _PAD, baseline, row.unit, style="small", color="text3", align="right")
            for position, cell in enumerate(cells):
                self._draw_cell(ink, cell, x + plan.right(position), y, height)

        return SheetPiece(height, draw)

    def _wrap_cell(self, cell: ComparisonCell, *, beside: bool) -> _WrappedCell:
        room = self._plan.inner
        color = FAULT_COLORS.get(cell.mark, "text1")
        if cell.mark in FAULT_GLYPHS:
            room -= _GLYPH
        style = _choose_figure_style(cell)
        if any(measure_width(word, style) > room for word in cell.text.split()):
            # A long word is smaller rather than broken.
            style = "small"
        figure = wrap_text(cell.text, style, room, color) or ((),)
        second = wrap_text(_format_detail(cell), "small", self._plan.inner, _choose_detail_color(cell))
        return _WrappedCell(cell, figure, second, beside and len(figure) == 1 and len(second) == 1)

    def _draw_cell(self, ink: SheetPainter, set_cell: _WrappedCell, right: float, y: float, height: float) -> None:
        cell, plan, density = set_cell.cell, self._plan, self._density
        if cell.mark in (CellMarking.BEST, CellMarking.TIED):
            tint = min(plan.column - 2, _WIDEST_TINT)
            ink.tint(right - tint, y + 0.6, tint, height - 1.6, "best", radius=2.5)
        end = right - plan.gutter
        baseline = y + find_first_baseline("body", density.row)
        for number, line in enumerate(set_cell.figure):
            _right_line(ink, line, end, baseline + number * _WRAPPED)
        if cell.mark in FAULT_GLYPHS:
            left = end - measure_line(set_cell.figure[0])
            ink.glyph(FAULT_GLYPHS[cell.mark], left - 7, baseline - 2.9)
        for number, line in enumerate(set_cell.second):
            if set_cell.beside:
                _right_line(ink, line, end - _measure_figure(cell) - _ASIDE, baseline)
            else:
                last = baseline + (len(set_cell.figure) - 1) * _WRAPPED
                _right_line(ink, line, end, last + (number + 1) * density.further)
        _draw_gutter(ink, cell, end, baseline)


def _plan_columns(table: ComparisonTable, room: float) -> _ColumnPlan:
    rows = [row for group in table.groups for row in group.rows]
    count = max(1, len(table.heads))
    labels = _LABELS
    if count >= _MANY:
        needed = (measure_width(row.label, "body") + measure_width(row.unit or "", "small") for row in rows)
        labels = min(_LABELS, max(needed, default=0.0) + 2 * _PAD)
    column = min((room - labels) / count, _WIDEST)
    pad = _PAD if column > _NARROW else 2.0
    raised = max((_measure_gutter(cell) for row in rows for cell in row.cells), default=0.0)
    # In narrow columns notes can extend over the padding of the next column.
    gutter = max(measure_width(label_tie(), "raised") + 3, min(raised + 3, 18.0 if column > _NARROW else 11.0))
    return _ColumnPlan(room, labels, column, gutter, pad)


def _choose_figure_style(cell: ComparisonCell) -> str:
    return "best" if cell.mark in (CellMarking.BEST, CellMarking.TIED, CellMarking.FAILS) else "body"


def _measure_figure(cell: ComparisonCell) -> float:
    glyph = _GLYPH if cell.mark in FAULT_GLYPHS else 0.0
    return measure_width(cell.text, _choose_figure_style(cell)) + glyph


def _format_detail(cell: ComparisonCell) -> str:
    detail = cell.detail or ""
    if cell.band:
        return f"{cell.band} ({detail})" if detail else cell.band
    # A detail that ends in a number would read on into the figure next to it.
    return f"({detail})" if detail[-1:].isdigit() else detail


def _choose_detail_color(cell: ComparisonCell) -> str:
    return "best_text" if cell.mark in (CellMarking.BEST, CellMarking.TIED) else "text2"


def _format_superscript(cell: ComparisonCell) -> str:
    return ",".join(map(str, cell.notes))


def _measure_gutter(cell: ComparisonCell) -> float:
    tie = measure_width(label_tie(), "raised") + 1 if cell.mark in TIES else 0.0
    return tie + measure_width(_format_superscript(cell), "raised")


def _draw_gutter(ink: SheetPainter, cell: ComparisonCell, x: float, baseline: float) -> None:
    """Draw the marks right of a figure: a tie, and the numbers of notes."""
    x += 1.5
    if cell.mark in TIES:
        ink.text(
            x, baseline, label_tie(), style="raised", color="best_text" if cell.mark is CellMarking.TIED else "text2"
        )
        x += measure_width(label_tie(), "raised") + 1
    if cell.notes:
        ink.text(x, baseline - 2.6, _format_superscript(cell), style="raised", color="disputed_text")


def _right_line(ink: SheetPainter, line: TextLine, right: float, baseline: float) -> None:
    draw_line(ink, line, right - measure_line(line), baseline)


def explain_marks(sheet: ComparisonSheet, room: float) -> SheetPiece:
    lines: list[list[tuple[float, str]]] = [[]]
    x = 0.0
    for text in sheet.key:
        needed = measure_width(text, "small")
        if lines[-1] and x + needed > room:
            lines.append([])
            x = 0.0
        lines[-1].append((x, text))
        x += needed + 14
    step = measure_line_height("small")

    def draw(ink: SheetPainter, left: float, y: float) -> None:
        for number, line in enumerate(lines):
            for start, text in line:
                baseline = y + 4 + number * step + find_first_baseline("small", step)
                ink.text(left + start, baseline, text, style="small", color="text2")

    return SheetPiece(4 + step * len(lines), draw)
