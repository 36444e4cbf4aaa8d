"""Paints the lines of the comparison table: tints, rules, figures, bands, marks and the ring of the cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.itemmodels.arrangement import Line
from gpudesk.desktop.pages.compare.measures import LABEL_MARGIN, Margins, is_range
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Place
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.sheets.comparison_parts import ComparedCell
from gpudesk.sheets.comparison_words import has_basis
from gpudesk.sheets.sheet import Mark

_TINTED: Final = (Mark.BEST, Mark.TIED)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a paint is about. `chosen` are (row, column) of the cells that are selected together."""

    area: QRect
    lines: Sequence[Line]
    positions: Sequence[int]
    rows: Sequence[Place]
    columns: Sequence[Place]
    margins: Margins
    label_width: int
    hovered: int
    current: tuple[int, int] | None
    chosen: frozenset[tuple[int, int]]


class CellPainter:
    """Paints what is right of the labels."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Keep what to look up and what has been laid out."""
        self._theme = theme
        self._texts = texts
        self._layer = TextLayer(theme, texts)

    def paint(self, painter: QPainter, shown: Shown) -> None:
        """Paint the rows and columns of `shown`."""
        self._layer.clear()
        pen = Pen(painter, self._theme)
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

    def _heading(self, pen: Pen, line: Line, row: Place, shown: Shown, right: int) -> None:
        """Draw the rule of a heading, and its words as far as they reach beyond the labels."""
        pen.hairline(0, row.start + row.size - 1, right, row.start + row.size - 1, "strong")
        for x, token, colour, text in heading_words(line, self._theme, self._texts):
            self._layer.text(token, colour, text, x - shown.label_width, heading_middle(row, self._theme))

    def _cell(self, painter: QPainter, cell: ComparedCell, row: Place, column: Place, shown: Shown) -> None:
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
        colour = "unfit" if cell.mark is Mark.FAILS else "text1"
        token = "section" if tinted or cell.own else "body"
        if not cell.is_figure or is_range(cell):
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

    def _unknown(
        self, cell: ComparedCell, left: float, right: float, middle: float, quiet: str, *, tall: bool
    ) -> None:
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
        if cell.mark in (Mark.TIED, Mark.OPEN):
            marks.append(("overlap", "best_text" if cell.mark is Mark.TIED else "text3"))
        elif cell.mark is Mark.FAILS:
            marks.append(("unfit", "unfit"))
        elif has_basis(cell) and cell.basis is not None:
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

    def _fill(self, painter: QPainter, row: Place, column: Place, margins: Margins, colour: str) -> None:
        inset, radius = self._theme.length(margins.inset), self._theme.length(5)
        rect = QRectF(column.start, row.start, column.size, row.size).adjusted(inset, 4, -inset, -5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(colour))
        painter.drawRoundedRect(rect, radius, radius)

    def _ring(self, painter: QPainter, shown: Shown) -> None:
        """Draw the ring of the current cell."""
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


def heading_middle(row: Place, theme: Theme) -> float:
    """Return the level of the words of a heading, which stand low in their line."""
    return row.start + row.size - theme.length(7) - theme.line("small") / 2


def heading_words(line: Line, theme: Theme, texts: TextCache) -> list[tuple[float, str, str, str]]:
    """Return the words of a heading as (x from the left of the table, font, colour, text)."""
    x = theme.length(LABEL_MARGIN)
    words = [(x, "label", "text1", line.group.title)]
    if line.group.note:
        x += texts.width("label", line.group.title) + theme.length(10)
        words.append((x, "small", "text3", line.group.note))
    return words
