"""Row heights, column widths and cell painting of the comparison table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.pages.compare.comparison_model import ComparisonLine
from gpudesk.desktop.ui.tables.painted_table import VisibleSection
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.report.comparison.table import shows_basis
from gpudesk.report.comparison.tables import CellMarking, ComparedCell, ComparedHead, ComparedRow

#: Lengths of the design.
LABEL_WIDTH: Final = 232.0
_LEAST_LABEL: Final = 168.0
_MOST_LABEL: Final = 264.0
#: Beyond this a difference stands too far from its figure to be read with it.
_MOST_COLUMN: Final = 300.0
#: Room for what tells one name from another; the tool tip has the whole.
_LEAST_NAME: Final = 76.0
LABEL_MARGIN: Final = 16.0
#: Room right of the unit, in which the arrow of a row appears.
LABEL_END: Final = 17.0
_SWATCH: Final = 25.0


@dataclass(frozen=True, slots=True)
class CellMargins:
    """Room in a cell left of the difference and right of the figure, and of the tint to the cell's edge."""

    left: float
    gutter: float
    inset: float
    gap: float


WIDE: Final = CellMargins(left=16.0, gutter=34.0, inset=6.0, gap=8.0)
DENSE: Final = CellMargins(left=7.0, gutter=20.0, inset=2.0, gap=3.0)


@dataclass(frozen=True, slots=True)
class ComparisonWidths:
    """Widths in pixels: of the labels, and of every column."""

    label: int
    column: int
    margins: CellMargins


class ComparisonLayout:
    """Computes heights and widths from the theme's letters."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme = theme
        self._texts = texts

    def height(self, line: ComparisonLine) -> int:
        """Return the height of a line: a heading, a row, or a row with a second line in its cells."""
        theme = self._theme
        if line.row is None:
            return theme.line("small") + theme.px(19)
        plain = theme.line("body") + theme.px(9)
        return plain + theme.line("caption") if line.row.has_second_line else plain

    def head_height(self) -> int:
        theme = self._theme
        return theme.line("option") + theme.line("caption") + theme.px(23)

    def widths(self, room: int, heads: Iterable[ComparedHead], rows: Iterable[ComparedRow]) -> ComparisonWidths:
        """Return widths that fill the room; where it is short, figures keep theirs.

        Labels yield first, then the names in the heads, which are cut.
        """
        listed, shown = list(heads), list(rows)
        length, needed = self._theme.length, self._least_label(shown)
        full = round(min(max(length(LABEL_WIDTH), needed), length(_MOST_LABEL)))
        count = max(1, len(listed))
        share = (room - full) // count
        wide = self._least_column(listed, shown, WIDE)
        if share >= wide:
            return ComparisonWidths(full, min(share, round(length(_MOST_COLUMN))), WIDE)
        least = round(length(_LEAST_LABEL))
        dense = self._least_column(listed, shown, DENSE)
        if least + count * dense > room:
            dense = self._least_column(listed, shown, DENSE, with_names=False)
        label = min(full, room - count * dense)
        if label < least:
            # The columns have to be scrolled anyway.
            label = full
        return ComparisonWidths(label, max(dense, (room - label) // count), DENSE)

    def _least_column(
        self,
        heads: Iterable[ComparedHead],
        rows: Iterable[ComparedRow],
        margins: CellMargins,
        *,
        with_names: bool = True,
    ) -> int:
        length = self._theme.length
        fixed = length(margins.left) + length(margins.gutter)
        cells = (cell for row in rows for cell in row.cells)
        figures = max((self._cell_width(cell, margins) for cell in cells), default=0.0)
        names = max((self._texts.width("option", head.name) for head in heads), default=0.0)
        if not with_names:
            names = min(names, length(_LEAST_NAME))
        head = length(margins.left) + length(_SWATCH) + names + length(8)
        return int(max(fixed + figures, head)) + 1

    def _cell_width(self, cell: ComparedCell, margins: CellMargins) -> float:
        """Return what a figure takes with its difference and its band; words take what is left."""
        width = self._texts.width
        if cell.value is None:
            return 0.0 if margins is DENSE else self._unknown_width(cell)
        if not cell.is_figure or shows_range(cell):
            return 0.0
        figure = width("section" if cell.mark in (CellMarking.BEST, CellMarking.TIED) else "body", cell.text)
        if cell.delta:
            figure += width("caption", cell.delta) + self._theme.length(margins.gap)
        return max(figure, width("caption", cell.line_below or ""))

    def _unknown_width(self, cell: ComparedCell) -> float:
        reason = self._texts.width("caption", cell.reason or "")
        return reason + self._theme.length(8) + self._texts.width("body", cell.text)

    def _least_label(self, rows: Iterable[ComparedRow]) -> int:
        width, length = self._texts.width, self._theme.length
        widest = max((width("body", row.label) + width("caption", row.unit or "") for row in rows), default=0.0)
        return int(widest + length(LABEL_MARGIN) + length(8) + length(LABEL_END)) + 1


def shows_range(cell: ComparedCell) -> bool:
    """Return whether a cell's text is a range, as of a price, which may be set smaller as words may."""
    return cell.low is not None and cell.band is None


_TINTED: Final = (CellMarking.BEST, CellMarking.TIED)


@dataclass(frozen=True, slots=True)
class ComparisonPaintState:
    """What a paint is about. `chosen` are (row, column) of the cells that are selected together."""

    area: QRect
    lines: Sequence[ComparisonLine]
    positions: Sequence[int]
    rows: Sequence[VisibleSection]
    columns: Sequence[VisibleSection]
    margins: CellMargins
    label_width: int
    hovered: int
    current: tuple[int, int] | None
    chosen: frozenset[tuple[int, int]]


class ComparisonCellPainter:
    """Paints what is right of the labels."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme = theme
        self._texts = texts
        self._layer = TextLayer(theme, texts)

    def paint(self, painter: QPainter, shown: ComparisonPaintState) -> None:
        self._layer.clear()
        pen = ThemePainter(painter, self._theme)
        painter.fillRect(shown.area, self._theme.colour("page"))
        right = shown.area.right() + 1
        for row in shown.rows:
            line = shown.lines[row.number]
            if line.row is None:
                self._heading(pen, line, row, shown, right)
                continue
            hovered = row.number == shown.hovered
            if hovered:
                painter.fillRect(0, row.start, right, row.size, self._theme.colour("hover"))
            cells = line.row.cells
            for column in shown.columns:
                cell = cells[shown.positions[column.number]]
                self._cell(painter, cell, row, column, shown)
            pen.hairline(0, row.start + row.size - 1, right, row.start + row.size - 1, "grid")
        self._layer.draw(painter)
        self._ring(painter, shown)

    def _heading(
        self, pen: ThemePainter, line: ComparisonLine, row: VisibleSection, shown: ComparisonPaintState, right: int
    ) -> None:
        pen.hairline(0, row.start + row.size - 1, right, row.start + row.size - 1, "strong")
        for x, token, colour, text in lay_out_heading(line, self._theme, self._texts):
            self._layer.text(token, colour, text, x - shown.label_width, locate_heading(row, self._theme))

    def _cell(
        self,
        painter: QPainter,
        cell: ComparedCell,
        row: VisibleSection,
        column: VisibleSection,
        shown: ComparisonPaintState,
    ) -> None:
        place = (row.number, column.number)
        margins, length = shown.margins, self._theme.length
        tinted = cell.mark in _TINTED
        chosen = place in shown.chosen
        if tinted or chosen:
            self._fill(painter, row, column, margins, "selection" if chosen else "best")
        quiet = "best_text" if tinted and not chosen else "text2" if chosen else "text3"
        left = column.start + length(margins.left)
        right = column.start + column.size - length(margins.gutter)
        middle = row.start + row.size / 2
        below = cell.line_below
        level = middle - length(7.5) if below else middle
        if cell.value is None:
            tall = shown.lines[row.number].has_second_line
            self._unknown(cell, left, right, middle, quiet, tall=tall)
            return
        if below:
            self._layer.right("caption", quiet, below, left, right, middle + length(7.5))
        colour = "unfit" if cell.mark is CellMarking.FAILS else "text1"
        token = "section" if tinted or cell.own else "body"
        if not cell.is_figure or shows_range(cell):
            edge = column.start + length(margins.inset)
            self._layer.right(self._largest(cell.text, right - edge), colour, cell.text, edge, right, level)
        else:
            laid = self._texts.laid_out(token, cell.text)
            self._layer.place(token, colour, laid, right - laid.width, level)
            if cell.delta:
                delta = self._texts.laid_out("caption", cell.delta)
                if left + delta.width <= right - laid.width:
                    self._layer.place("caption", quiet, delta, left, level)
        self._gutter(cell, right, column.start + column.size - length(margins.inset), level)

    def _unknown(self, cell: ComparedCell, left: float, right: float, middle: float, quiet: str, *, tall: bool) -> None:
        """Draw the dash with the reason to its left; where that is too wide, below it or in its place."""
        dash = self._texts.laid_out("body", cell.text)
        end = right - dash.width - self._theme.length(8)
        reason = cell.reason or ""
        beside = self._texts.width("caption", reason) <= end - left
        if reason and not beside and not tall:
            self._layer.right("caption", quiet, reason, left, right, middle)
            return
        level = middle if beside else middle - self._theme.length(7.5)
        self._layer.place("body", quiet, dash, right - dash.width, level)
        if reason and beside:
            self._layer.right("caption", quiet, reason, left, end, level)
        elif reason:
            self._layer.right("caption", quiet, reason, left, right, middle + self._theme.length(7.5))

    def _largest(self, words: str, room: float) -> str:
        """Return the largest font in which words have room, else the smallest, in which they are cut."""
        for token in ("body", "small"):
            if self._texts.width(token, words) <= room:
                return token
        return "caption"

    def _gutter(self, cell: ComparedCell, left: float, right: float, level: float) -> None:
        """Draw at most two marks beside the figure: ≈, the basis or the pencil, then the dispute."""
        marks: list[tuple[str, str]] = []
        if cell.mark in (CellMarking.TIED, CellMarking.OPEN):
            marks.append(("overlap", "best_text" if cell.mark is CellMarking.TIED else "text3"))
        elif cell.mark is CellMarking.FAILS:
            marks.append(("unfit", "unfit"))
        elif shows_basis(cell) and cell.basis is not None:
            marks.append((cell.basis.value, "text3"))
        if cell.own:
            marks.append(("own", "link"))
        if cell.disputed:
            marks.append(("disputed", "disputed"))
        if not marks:
            return
        step = self._theme.length(13)
        # A single mark stands in the middle of the gutter, two share it.
        x = (left + right) / 2 + self._theme.length(2) - step / 2 * (len(marks) - 1)
        for name, colour in marks:
            self._layer.mark(name, colour, x, level)
            x += step

    # Pieces

    def _fill(
        self, painter: QPainter, row: VisibleSection, column: VisibleSection, margins: CellMargins, colour: str
    ) -> None:
        inset, radius = self._theme.length(margins.inset), self._theme.length(5)
        rect = QRectF(column.start, row.start, column.size, row.size).adjusted(inset, 4, -inset, -5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(colour))
        painter.drawRoundedRect(rect, radius, radius)

    def _ring(self, painter: QPainter, shown: ComparisonPaintState) -> None:
        if shown.current is None:
            return
        row = next((place for place in shown.rows if place.number == shown.current[0]), None)
        column = next((place for place in shown.columns if place.number == shown.current[1]), None)
        if row is None or column is None:
            return
        inset = max(2.0, self._theme.length(shown.margins.inset) - 2)
        rect = QRectF(column.start, row.start, column.size, row.size).adjusted(inset, 2, -inset, -3)
        painter.setPen(QPen(self._theme.colour("focus"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = self._theme.length(6)
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius, radius)


def locate_heading(row: VisibleSection, theme: Theme) -> float:
    """Return the level of the words of a heading, which stand low in their line."""
    return row.start + row.size - theme.length(7) - theme.line("small") / 2


def lay_out_heading(line: ComparisonLine, theme: Theme, texts: TextCache) -> list[tuple[float, str, str, str]]:
    """Return the words of a heading as (x from the left of the table, font, colour, text)."""
    x = theme.length(LABEL_MARGIN)
    words = [(x, "label", "text1", line.group.title)]
    if line.group.note:
        x += texts.width("label", line.group.title) + theme.length(10)
        words.append((x, "small", "text3", line.group.note))
    return words
