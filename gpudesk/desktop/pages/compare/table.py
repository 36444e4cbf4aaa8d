"""The comparison table: column widths and row heights, and the view with its frozen headers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.compare.comparison_model import ComparisonLine, ComparisonModel
from gpudesk.desktop.ui.tables.painted_table import PaintedHeader, PaintedTable, VisibleSection, find_visible_sections
from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.glyphs import FAULT_COLORS, FAULT_GLYPHS
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import CellMarking, ComparisonCell, ComparisonHead, ComparisonRow
from gpudesk.text.translation import tr

#: Design lengths.
LABEL_WIDTH: Final = 232.0
_LEAST_LABEL: Final = 168.0
_MOST_LABEL: Final = 264.0
#: A difference further from its figure cannot be read with it.
_MOST_COLUMN: Final = 300.0
#: Space that distinguishes names; the tooltip has the full name.
_LEAST_NAME: Final = 76.0
LABEL_MARGIN: Final = 16.0
#: Space right of the unit for the arrow of a row.
LABEL_END: Final = 17.0
_SWATCH: Final = 25.0


@frozen_dataclass
class CellMargins:
    """Space in a cell left of the difference and right of the figure, and from the tint to the cell's edge."""

    left: float
    gutter: float
    inset: float
    gap: float


WIDE: Final = CellMargins(left=16.0, gutter=36.0, inset=6.0, gap=8.0)
DENSE: Final = CellMargins(left=6.0, gutter=32.0, inset=2.0, gap=3.0)


@frozen_dataclass
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
        """Return the height of a line: a heading, a row, or a row with second lines."""
        theme = self._theme
        if line.row is None:
            return theme.line("small") + theme.px(19)
        plain = theme.line("body") + theme.px(9)
        return plain + theme.line("caption") if line.row.has_second_line else plain

    def head_height(self) -> int:
        theme = self._theme
        return theme.line("option") + theme.line("caption") + theme.px(23)

    def widths(self, room: int, heads: Iterable[ComparisonHead], rows: Iterable[ComparisonRow]) -> ComparisonWidths:
        """Return widths that fill the space; if it is short, figures keep theirs.

        Labels shrink first, then the names in the heads, which are cut.
        """
        listed, visible_rows = list(heads), list(rows)
        length, needed = self._theme.length, self._measure_least_label(visible_rows)
        full = round(min(max(length(LABEL_WIDTH), needed), length(_MOST_LABEL)))
        count = max(1, len(listed))
        share = (room - full) // count
        wide = self._measure_least_column(listed, visible_rows, WIDE)
        if share >= wide:
            return ComparisonWidths(full, min(share, round(length(_MOST_COLUMN))), WIDE)
        least = round(length(_LEAST_LABEL))
        dense = self._measure_least_column(listed, visible_rows, DENSE)
        if least + count * dense > room:
            dense = self._measure_least_column(listed, visible_rows, DENSE, with_names=False)
        label = min(full, room - count * dense)
        if label < least:
            # The columns have to scroll anyway.
            label = full
        return ComparisonWidths(label, max(dense, (room - label) // count), DENSE)

    def _measure_least_column(
        self,
        heads: Iterable[ComparisonHead],
        rows: Iterable[ComparisonRow],
        margins: CellMargins,
        *,
        with_names: bool = True,
    ) -> int:
        length = self._theme.length
        fixed = length(margins.left) + length(margins.gutter)
        cells = (cell for row in rows for cell in row.cells)
        figures = max((self._measure_cell(cell, margins) for cell in cells), default=0.0)
        names = max((self._texts.width("option", head.name) for head in heads), default=0.0)
        if not with_names:
            names = min(names, length(_LEAST_NAME))
        head = length(margins.left) + length(_SWATCH) + names + length(8)
        return int(max(fixed + figures, head)) + 1

    def _measure_cell(self, cell: ComparisonCell, margins: CellMargins) -> float:
        """Return the width of a figure with its difference and interval; text takes the rest."""
        width = self._texts.width
        if cell.value is None:
            return 0.0 if margins is DENSE else self._measure_unknown_cell(cell)
        if not cell.is_figure or shows_range(cell):
            return 0.0
        figure = width("section" if cell.mark in (CellMarking.BEST, CellMarking.TIED) else "body", cell.text)
        if cell.delta:
            figure += width("caption", cell.delta) + self._theme.length(margins.gap)
        return max(figure, width("caption", cell.line_below or ""))

    def _measure_unknown_cell(self, cell: ComparisonCell) -> float:
        reason = self._texts.width("caption", cell.reason or "")
        return reason + self._theme.length(8) + self._texts.width("body", cell.text)

    def _measure_least_label(self, rows: Iterable[ComparisonRow]) -> int:
        width, length = self._texts.width, self._theme.length
        widest = max((width("body", row.label) + width("caption", row.unit or "") for row in rows), default=0.0)
        return int(widest + length(LABEL_MARGIN) + length(8) + length(LABEL_END)) + 1


def shows_range(cell: ComparisonCell) -> bool:
    """Return whether a cell's text is a range, such as a price, which can be smaller like text."""
    return cell.low is not None and cell.band is None


def locate_heading(row: VisibleSection, theme: Theme) -> float:
    """Return the y of a heading's text, which is low in its line."""
    return row.start + row.size - theme.length(7) - theme.line("small") / 2


def lay_out_heading(line: ComparisonLine, theme: Theme, texts: TextCache) -> list[tuple[float, str, str, str]]:
    """Return the texts of a heading as (x from the left of the table, font, color, text)."""
    x = theme.length(LABEL_MARGIN)
    words = [(x, "label", "text1", line.group.title)]
    if line.group.note:
        x += texts.width("label", line.group.title) + theme.length(10)
        words.append((x, "small", "text3", line.group.note))
    return words


_SWATCH_GAP: Final = 5.0
_ARROW: Final = 12.0
#: Separator in the second line of a head.
_DOT: Final = " · "


class ComparisonColumnHeader(PaintedHeader):
    """Swatch and name of each accelerator, its description, and the baseline mark."""

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self._texts = texts
        self._model = model
        self.margins = WIDE
        self.setSectionsMovable(False)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:  # noqa: ARG002 - few heads, all painted
        for column in range(self._model.columnCount()):
            theme, head = self._theme, self._model.head(column)
            start, size = self.sectionViewportPosition(column), self.sectionSize(column)
            left = start + theme.length(self.margins.left)
            right = start + size - theme.length(8)
            second = self._extent - theme.px(8) - theme.line("caption")
            first = second - theme.line("option") - theme.px(1)
            level = first + theme.line("option") / 2
            x = left + pen.swatch(left, level, head.slot, is_variant=head.is_variant) + theme.length(_SWATCH_GAP)
            name = QRectF(x, first, max(1.0, right - x), theme.line("option"))
            # The number that tells equal accelerators apart is at the end.
            elide = Qt.TextElideMode.ElideMiddle if head.name.endswith(")") else Qt.TextElideMode.ElideRight
            end = x + pen.text(name, head.name, font="option", color=theme.name_color(head.slot), elide=elide)
            detail = head.detail
            if self._model.is_baseline(column) and len(self._model.table.heads) > 1:
                word = tr("Baseline")
                tag = pen.tag_width(word)
                if end + theme.length(8) + tag <= right:
                    pen.tag(right - tag, level, word)
                else:
                    detail = f"{word}{_DOT}{detail}" if detail else word
            below = QRectF(left, second, max(1.0, right - left), theme.line("caption"))
            room = below.width()
            parts = detail.split(_DOT)
            while len(parts) > 2 and self._texts.width("caption", _DOT.join(parts)) > room:
                del parts[-2]
            pen.text(below, _DOT.join(parts), font="caption", color="text3")
        bottom = self.height() - 1
        pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")

    def describe_head(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - a head has one area
        head, is_baseline = self._model.head(number), self._model.is_baseline(number)
        parts = [head.name, head.detail, tr("baseline for differences") if is_baseline else ""]
        return ", ".join(part for part in parts if part)


class ComparisonRowHeader(PaintedHeader):
    """Label and unit of each row; the arrow at the right sorts the columns by the row."""

    #: The row whose arrow was clicked.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        super().__init__(theme, tr("Rows"), Qt.Orientation.Vertical, parent)
        self._texts = texts
        self._layer = TextLayer(theme, texts)
        self._model = model
        self._units_below = False
        self.setSectionsClickable(True)

    def set_extent(self, extent: int) -> None:
        """Set the width of the labels; if high rows have no room for units next to labels, all go below."""
        self._units_below = any(
            self._measure_label(line.row) > extent
            for line in self._model.lines
            if line.row is not None and line.has_second_line
        )
        super().set_extent(extent)

    def _measure_label(self, row: ComparisonRow) -> float:
        """Return the width of a label with its unit next to it."""
        texts = self._texts.width("body", row.label) + self._texts.width("caption", row.unit or "")
        return texts + self._theme.length(LABEL_MARGIN + 8 + LABEL_END)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:
        width, lines = self.viewport().width(), self._model.lines
        self._layer.clear()
        for place in find_visible_sections(self, area.top(), area.bottom()):
            bottom = place.end - 1
            row = lines[place.number].row
            if row is None:
                pen.hairline(0, bottom, width, bottom, "strong")
                for x, token, color, text in lay_out_heading(lines[place.number], self._theme, self._texts):
                    self._layer.text(token, color, text, round(x), locate_heading(place, self._theme))
                continue
            if place.number == self.hovered_section:
                pen.painter.fillRect(0, place.start, width, place.size, self._theme.color("hover"))
            self._paint_label(pen, row, place, width)
            pen.hairline(0, bottom, width, bottom, "grid")
        self._layer.draw(pen.painter)

    def _paint_label(self, pen: ThemePainter, row: ComparisonRow, place: VisibleSection, width: int) -> None:
        theme, layer = self._theme, self._layer
        middle = place.start + place.size / 2
        right = width - theme.length(LABEL_END)
        arrow = self._find_arrow(row.key, place.number)
        if arrow:
            # In the margin, so that nothing moves when it appears.
            side = theme.length(_ARROW)
            active = arrow != "arrow-up-down"
            pen.icon(arrow, width - side - 1, middle - side / 2, side, "text1" if active else "text3")
        left = theme.length(LABEL_MARGIN)
        if row.unit:
            unit = self._texts.width("caption", row.unit)
            if row.has_second_line and self._units_below:
                # A high row has room for the unit below its label.
                step = theme.length(7.5)
                layer.text("caption", "text3", row.unit, round(left), middle + step)
                middle -= step
            else:
                layer.text("caption", "text3", row.unit, round(right - unit), middle)
                right -= unit + theme.length(8)
        layer.text("body", "text1", row.label, round(left), middle, max(1.0, right - left))

    def _find_arrow(self, key: str, number: int) -> str:
        """Return the icon of a row's arrow: the direction if columns are sorted by it."""
        sorting = self._model.arrangement.sorting
        if sorting is not None and sorting.row == key:
            return "arrow-down" if sorting.descending else "arrow-up"
        orderable = number == self.hovered_section and self._model.columnCount() > 1
        return "arrow-up-down" if orderable else ""

    def is_arrow(self, place: QPoint) -> bool:
        return place.x() >= self.viewport().width() - self._theme.length(_ARROW + 4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        row = self.logicalIndexAt(place)
        on_row = 0 <= row < len(self._model.lines) and self._model.lines[row].row is not None
        if not on_row or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        elif self.is_arrow(place):
            self.sort_requested.emit(row)
        else:
            self.sectionPressed.emit(row)

    def describe_head(self, number: int, place: QPoint) -> str:
        """Return the full label and the unit in words, or the action of the arrow."""
        if self._model.lines[number].row is not None and self.is_arrow(place):
            return tr("Sort columns by this row")
        return super().describe_head(number, place)


_TINTED: Final = (CellMarking.BEST, CellMarking.TIED)
#: Distance from the middle of a high row to each of its two lines.
_LINE: Final = 7.5


class ComparisonTableView(PaintedTable):
    """Shows a `ComparisonModel`."""

    sort_requested = Signal(int)
    copy_requested = Signal()

    has_menu = True
    ring_radius = 6.0

    def __init__(self, theme: Theme, model: ComparisonModel) -> None:
        super().__init__(theme)
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

    # Geometry

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
            # Remaining pixels go to the first columns, so that the last one ends at the edge.
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
        """Return the full text of a cell as a sentence; empty for headings."""
        return super().describe_cell(index) if self.is_walkable(index.row()) else ""

    def list_selected_indices(self) -> list[tuple[int, int]]:
        """Return row and column of all selected cells, in reading order."""
        return sorted((index.row(), index.column()) for index in self.selectedIndexes())

    def _store_position(self) -> None:
        super()._store_position()
        self._kept_scroll = (self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _restore_position(self) -> None:
        """Restore the current cell if it is still shown, and the scroll position."""
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
            # The text extends over the labels as far as necessary.
            for x, token, color, text in lay_out_heading(line, self._theme, self._texts):
                self._layer.text(token, color, text, x - self._widths.label, locate_heading(row, self._theme))
            return
        if row.number == self.hovered_row:
            pen.painter.fillRect(0, row.start, right, row.size, self._theme.color("hover"))
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
        color = FAULT_COLORS.get(cell.mark, "text1")
        if not cell.is_figure or shows_range(cell):
            edge = column.start + length(margins.inset)
            layer.right(self._find_largest_font(cell.text, right - edge), color, cell.text, edge, right, level)
        else:
            token = "section" if tinted or cell.own else "body"
            figure = self._texts.get_text_layout(token, cell.text)
            layer.place(token, color, figure, right - figure.width, level)
            if cell.delta:
                delta = self._texts.get_text_layout("caption", cell.delta)
                if left + delta.width <= right - figure.width:
                    layer.place("caption", quiet, delta, left, level)
        self._mark_gutter(cell, right, column.end - length(margins.inset), level)

    def _write_unknown(
        self, cell: ComparisonCell, left: float, right: float, middle: float, quiet: str, *, is_tall: bool
    ) -> None:
        """Draw the dash with the reason to its left; if that is too wide, below it or in its place."""
        layer, step = self._layer, self._theme.length(_LINE)
        dash = self._texts.get_text_layout("body", cell.text)
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
        """Return the largest font in which a text fits, else the smallest, in which it is cut."""
        return next((token for token in ("body", "small") if self._texts.width(token, words) <= room), "caption")

    def _mark_gutter(self, cell: ComparisonCell, left: float, right: float, level: float) -> None:
        """Draw at most two marks right of the figure: tie or fault, then method; or pencil, then dispute."""
        marks: list[tuple[str, str]] = []
        if cell.mark in (CellMarking.TIED, CellMarking.OPEN):
            marks.append(("overlap", "best_text" if cell.mark is CellMarking.TIED else "text3"))
        elif cell.mark in FAULT_GLYPHS:
            marks.append((FAULT_GLYPHS[cell.mark], FAULT_COLORS[cell.mark]))
        if cell.basis is not None:
            marks.append((cell.basis.value, "text3"))
        if cell.own:
            marks.append(("own", "link"))
        if cell.disputed:
            marks.append(("disputed", "disputed"))
        step = self._theme.length(13)
        # A single mark is centered in the gutter; two end at its right, so that neither touches the figure.
        x = (left + right) / 2 + self._theme.length(2) if len(marks) == 1 else right - self._theme.length(8) - step
        for name, color in marks:
            self._layer.mark(name, color, x, level)
            x += step
