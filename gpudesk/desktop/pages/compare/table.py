"""The view of the comparison table with its frozen headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.compare.comparison_model import ComparisonModel
from gpudesk.desktop.pages.compare.table_layout import (
    WIDE,
    ComparisonColumnHeader,
    ComparisonLayout,
    ComparisonRowHeader,
    ComparisonWidths,
    lay_out_heading,
    locate_heading,
    shows_range,
)
from gpudesk.desktop.ui.tables.item_model import Index
from gpudesk.desktop.ui.tables.painted_table import PaintedTable, VisibleSection
from gpudesk.desktop.ui.theme.glyphs import FAULT_COLOURS, FAULT_GLYPHS
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.report.comparison.table import shows_basis
from gpudesk.report.comparison.tables import CellMarking, ComparisonCell

_TINTED: Final = (CellMarking.BEST, CellMarking.TIED)
#: From the middle of a high row to the middle of each of its two lines.
_LINE: Final = 7.5


class ComparisonTableView(PaintedTable):
    """Shows a `ComparisonModel`."""

    sort_requested = Signal(int)
    copy_requested = Signal()

    has_menu = True
    ring_radius = 6.0

    def __init__(self, theme: Theme, model: ComparisonModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._measures = ComparisonLayout(theme, self._texts)
        self._table = model
        self._widths = ComparisonWidths(1, 1, WIDE)
        self._kept_scroll = (0, 0)
        self._chosen: frozenset[tuple[int, int]] = frozenset()
        self._heads = ComparisonColumnHeader(theme, self._texts, model, self)
        self._labels = ComparisonRowHeader(theme, self._texts, model, self)
        self.set_up(model, self._heads, self._labels)
        self.offer_head_menus(self._heads)
        self.offer_head_menus(self._labels)
        self._labels.sort_requested.connect(self.sort_requested)
        model.dataChanged.connect(self._update_row_heights)
        theme.changed.connect(self.measure)

    # Places

    @property
    def label_width(self) -> int:
        return self._widths.label

    def measure(self) -> None:
        self._heads.set_extent(self._measures.head_height())
        for row, line in enumerate(self._table.lines):
            self._set_height(row, self._measures.height(line))
        self._fit_columns()

    def _fit_columns(self) -> None:
        model = self._table
        room = self.viewport().width() + self._labels.width()
        heads = [model.head(column) for column in range(model.columnCount())]
        rows = [line.row for line in model.lines if line.row is not None]
        self._widths = self._measures.widths(room, heads, rows)
        self._labels.set_extent(self._widths.label)
        remaining = room - self._widths.label - self._widths.column * len(heads)
        for column in range(len(heads)):
            # What does not divide goes to the first columns, so that the last one ends at the edge.
            extra = 1 if column < remaining < len(heads) else 0
            self._heads.resizeSection(column, self._widths.column + extra)
        self._heads.margins = self._widths.margins
        self._heads.set_extent(self._measures.head_height())
        self.updateGeometries()
        self.viewport().update()

    def _set_height(self, row: int, height: int) -> None:
        if self._labels.sectionSize(row) != height:
            self._labels.resizeSection(row, height)

    def _update_row_heights(self, first: Index, last: Index) -> None:
        for row in range(first.row(), last.row() + 1):
            self._set_height(row, self._measures.height(self._table.lines[row]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    # The current cell

    def get_keys(self, index: Index) -> tuple[str, str]:
        return self._table.lines[index.row()].key, self._table.head(index.column()).key

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:
        return self._table.index_of(row_key, column_key)

    def describe_cell(self, index: Index) -> str:
        """Return all that a cell shows as a sentence; headings show none."""
        return super().describe_cell(index) if self.is_walkable(index.row()) else ""

    def selected_cells(self) -> list[tuple[int, int]]:
        """Return row and column of all cells that are selected together, in reading order."""
        return sorted((index.row(), index.column()) for index in self.selectedIndexes())

    def _store_position(self) -> None:
        super()._store_position()
        self._kept_scroll = (self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _restore_position(self) -> None:
        """Find the current cell again where it is still shown, and scroll to where the view was."""
        follows = self.hasAutoScroll()
        self.setAutoScroll(False)
        super()._restore_position()
        self.setAutoScroll(follows)
        self.horizontalScrollBar().setValue(self._kept_scroll[0])
        self.verticalScrollBar().setValue(self._kept_scroll[1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.key() == Qt.Key.Key_Space and not self._typed.active:
            self.choose_current()
        else:
            super().keyPressEvent(event)

    # Painting

    def paint(self, pen: ThemePainter, area: QRect) -> None:
        self._chosen = self.list_selected_cells(self.find_visible_rows(area))
        super().paint(pen, area)

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:
        line, right = self._table.lines[row.number], area.right() + 1
        if line.row is None:
            pen.hairline(0, row.end - 1, right, row.end - 1, "strong")
            # The words go on from the labels as far as they reach.
            for x, token, colour, text in lay_out_heading(line, self._theme, self._texts):
                self._layer.text(token, colour, text, x - self._widths.label, locate_heading(row, self._theme))
            return
        if row.number == self.hovered_row:
            pen.painter.fillRect(0, row.start, right, row.size, self._theme.colour("hover"))
        for column in columns:
            cell = line.row.cells[self._table.positions[column.number]]
            self._paint_cell(pen, cell, row, column, is_tall=line.has_second_line)
        pen.hairline(0, row.end - 1, right, row.end - 1, "grid")

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        inset = max(2.0, self._theme.length(self._widths.margins.inset) - 2)
        return super().get_ring_box(row, column).adjusted(inset, 2, -inset, -3)

    def _paint_cell(
        self, pen: ThemePainter, cell: ComparisonCell, row: VisibleSection, column: VisibleSection, *, is_tall: bool
    ) -> None:
        margins, length, layer = self._widths.margins, self._theme.length, self._layer
        tinted, chosen = cell.mark in _TINTED, (row.number, column.number) in self._chosen
        if tinted or chosen:
            inset = length(margins.inset)
            box = QRectF(column.start, row.start, column.size, row.size).adjusted(inset, 4, -inset, -5)
            pen.tint(box, "selection" if chosen else "best")
        quiet = "best_text" if tinted and not chosen else "text2" if chosen else "text3"
        left, right = column.start + length(margins.left), column.end - length(margins.gutter)
        middle = row.start + row.size / 2
        level = middle - length(_LINE) if cell.line_below else middle
        if cell.value is None:
            self._write_unknown(cell, left, right, middle, quiet, is_tall=is_tall)
            return
        if cell.line_below:
            layer.right("caption", quiet, cell.line_below, left, right, middle + length(_LINE))
        colour = FAULT_COLOURS.get(cell.mark, "text1")
        if not cell.is_figure or shows_range(cell):
            edge = column.start + length(margins.inset)
            layer.right(self._find_largest_font(cell.text, right - edge), colour, cell.text, edge, right, level)
        else:
            token = "section" if tinted or cell.own else "body"
            figure = self._texts.laid_out(token, cell.text)
            layer.place(token, colour, figure, right - figure.width, level)
            if cell.delta:
                delta = self._texts.laid_out("caption", cell.delta)
                if left + delta.width <= right - figure.width:
                    layer.place("caption", quiet, delta, left, level)
        self._mark_gutter(cell, right, column.end - length(margins.inset), level)

    def _write_unknown(
        self, cell: ComparisonCell, left: float, right: float, middle: float, quiet: str, *, is_tall: bool
    ) -> None:
        """Draw the dash with the reason to its left; where that is too wide, below it or in its place."""
        layer, step = self._layer, self._theme.length(_LINE)
        dash = self._texts.laid_out("body", cell.text)
        end = right - dash.width - self._theme.length(8)
        reason = cell.reason or ""
        beside = self._texts.width("caption", reason) <= end - left
        if reason and not beside and not is_tall:
            layer.right("caption", quiet, reason, left, right, middle)
            return
        level = middle if beside else middle - step
        layer.place("body", quiet, dash, right - dash.width, level)
        if reason:
            layer.right("caption", quiet, reason, left, end if beside else right, level if beside else middle + step)

    def _find_largest_font(self, words: str, room: float) -> str:
        """Return the largest font in which words have room, else the smallest, in which they are cut."""
        return next((token for token in ("body", "small") if self._texts.width(token, words) <= room), "caption")

    def _mark_gutter(self, cell: ComparisonCell, left: float, right: float, level: float) -> None:
        """Draw at most two marks right of the figure: ≈, the method or the pencil, then the dispute."""
        marks: list[tuple[str, str]] = []
        if cell.mark in (CellMarking.TIED, CellMarking.OPEN):
            marks.append(("overlap", "best_text" if cell.mark is CellMarking.TIED else "text3"))
        elif cell.mark in FAULT_GLYPHS:
            marks.append((FAULT_GLYPHS[cell.mark], FAULT_COLOURS[cell.mark]))
        elif shows_basis(cell) and cell.basis is not None:
            marks.append((cell.basis.value, "text3"))
        if cell.own:
            marks.append(("own", "link"))
        if cell.disputed:
            marks.append(("disputed", "disputed"))
        step = self._theme.length(13)
        # A single mark is in the middle of the gutter, two share it.
        x = (left + right) / 2 + self._theme.length(2) - step / 2 * (len(marks) - 1)
        for name, colour in marks:
            self._layer.mark(name, colour, x, level)
            x += step
