"""The view of a catalog list with its header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QPainterStateGuard, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView

from gpudesk.desktop.pages.catalog.catalog_model import CatalogHeading, CatalogModel
from gpudesk.desktop.pages.catalog.table_layout import (
    GUTTER,
    MARGIN,
    MARK,
    RIGHT_MARGIN,
    SWATCH,
    WORD_END,
    CatalogHeader,
    CatalogLayout,
    choose_value_font,
)
from gpudesk.desktop.ui.tables.painted_table import ENTER_KEYS, PaintedTable, VisibleSection
from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.domain.attributes import CatalogCellMark, CatalogColumnKind, CatalogRow, CatalogSection
from gpudesk.domain.claim import ClaimStatus
from gpudesk.report.catalog_lists import FIGURES
from gpudesk.text.translation import tr

#: Glyph and color of a figure's marks, in display order.
MARKS: Final = (
    (CatalogCellMark.OWN, "own", "link"),
    (CatalogCellMark.COMPUTED, "exact", "text3"),
    (CatalogCellMark.DISPUTED, "disputed", "disputed"),
)
#: Glyph and color of stale values.
STALE: Final = ("partly", "disputed_text")
#: Glyph and colors of glyph and text for each status of a claim.
STANCES: Final = {
    ClaimStatus.TAKEN.value: ("fits", "text1", "text1"),
    ClaimStatus.AGREES.value: ("", "", "text3"),
    ClaimStatus.DIFFERS.value: ("disputed", "disputed", "text2"),
    ClaimStatus.REFUSED.value: ("unfit", "unfit", "text2"),
}
_RADIUS: Final = 6.0
_INSET: Final = 10.0


class CatalogTableView(PaintedTable):
    """A table of thousands of rows that scrolls within a frame; its first column stays visible."""

    sort_requested = Signal(int)
    copy_requested = Signal()
    #: Enter or a double click: the default action of a row.
    used = Signal()
    add_requested = Signal()
    edit_requested = Signal()
    delete_requested = Signal()
    #: A column was moved or resized by the user.
    columns_changed = Signal()

    has_menu = True
    ring_radius = _RADIUS

    def __init__(self, theme: Theme, model: CatalogModel) -> None:
        super().__init__(theme)
        self._table = model
        self._measures = CatalogLayout(theme, self._texts)
        self._fitting = False
        self._tall: Sequence[int] = ()
        self._chosen: frozenset[tuple[int, int]] = frozenset()
        self._swatches: list[tuple[float, float, int, bool]] = []
        self._tags: list[tuple[float, float, str]] = []
        #: User-set widths, by the key of the column.
        self.user_widths: Mapping[str, int] = {}
        #: Palette indexes of the scenario's accelerators, and whether they are variants, by id.
        self.scenario_swatches: Mapping[str, tuple[int, bool]] = {}
        #: Whether the letter A acts on the current row.
        self.accepts_add_key = False
        heads = self.heads = CatalogHeader(theme, self._measures, model, self)
        self.set_up(model, heads)
        self.offer_head_menus(heads)
        heads.sort_requested.connect(self.sort_requested)
        heads.sectionMoved.connect(self._moved)
        heads.sectionResized.connect(self._resized)
        heads.sectionHandleDoubleClicked.connect(self._forget_width)
        model.dataChanged.connect(self.viewport().update)
        theme.changed.connect(self.measure)

    # Geometry

    def measure(self) -> None:
        vertical, section = self.verticalHeader(), self._table.table.section
        height = self._measures.row_height(section)
        if vertical.defaultSectionSize() != height:
            vertical.setDefaultSectionSize(height)
        # Qt keeps row heights through a reset.
        for number in self._tall:
            if number < len(self._table.lines):
                vertical.resizeSection(number, height)
        self._tall = self._table.headings
        for number in self._tall:
            vertical.resizeSection(number, self._measures.measure_heading())
        self.heads.update_header_height()
        self.fit_columns()

    def fit_columns(self) -> None:
        if self._fitting:
            return
        self._fitting = True
        try:
            visible_columns = [number for number in self.list_shown_columns() if number < self._table.columnCount()]
            room = self.viewport().width()
            for number, width in self._measures.widths(self._table, visible_columns, room, self.user_widths).items():
                if self.heads.sectionSize(number) != width:
                    self.heads.resizeSection(number, width)
            if self._measures.wraps(self._table.table.section):
                self._fit_rows(visible_columns)
        finally:
            self._fitting = False
        self.viewport().update()

    def _fit_rows(self, visible_columns: Sequence[int]) -> None:
        vertical, section = self.verticalHeader(), self._table.table.section
        word_columns = [
            (number, self.heads.sectionSize(number))
            for number in visible_columns
            if self._table.column(number).kind not in (*FIGURES, CatalogColumnKind.NAME)
        ]
        for line in range(len(self._table.lines)):
            row = self._table.row(line)
            if row is None:
                continue
            counts = (
                len(self._measures.break_words(section, self._table.text(row, number), width))
                for number, width in word_columns
            )
            height = self._measures.row_height(section, max(counts, default=1))
            if vertical.sectionSize(line) != height:
                vertical.resizeSection(line, height)
        self._tall = range(len(self._table.lines))

    def _moved(self) -> None:
        if not self._fitting:
            self.heads.update_header_height()
            self.columns_changed.emit()
            self.viewport().update()

    def _resized(self, number: int, old: int, new: int) -> None:
        if self._fitting or not old or not new:
            return
        self.user_widths = {**self.user_widths, self._table.column(number).key: new}
        # Qt is in the middle of its drag, and reads its sections again after this.
        QTimer.singleShot(0, self, self.fit_columns)
        self.columns_changed.emit()

    def _forget_width(self, number: int) -> None:
        key = self._table.column(number).key
        self.user_widths = {name: width for name, width in self.user_widths.items() if name != key}
        self.fit_columns()
        self.columns_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def visualRect(self, index: Index) -> QRect:
        rect = super().visualRect(index)
        if index.isValid() and index.column() == 0:
            rect.moveLeft(0)
        return rect

    def indexAt(self, place: QPoint) -> QModelIndex:
        """Return the cell at a position; the first column covers the others."""
        row, column = self.rowAt(place.y()), self.heads.find_section_at(place)
        return self._table.index(row, column) if row >= 0 and column >= 0 else QModelIndex()

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if not index.isValid():
            return
        bar, before = self.horizontalScrollBar(), self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        if index.column() == 0:
            bar.setValue(before)
            return
        under = self.heads.frozen_width - self.heads.sectionViewportPosition(index.column())
        if under > 0:
            bar.setValue(bar.value() - under)

    # The current cell

    def get_keys(self, index: Index) -> tuple[str, str] | None:
        row = self._table.row(index.row())
        return None if row is None else (row.key, self._table.column(index.column()).key)

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:
        line, column = self._table.find_catalog_line(row_key), max(0, self._table.table.place(column_key))
        return self._table.index(line, column) if line >= 0 else QModelIndex()

    def show_cell(self, row_key: str, column_key: str = "") -> bool:
        """Make a cell current silently, and scroll to it; return whether it is shown."""
        index = self.find_cell(row_key, column_key)
        self.show_current(index)
        return index.isValid()

    def list_selected_positions(self) -> tuple[list[int], list[int]]:
        """Return the lines and the columns, from left to right, with selected cells."""
        blocks = self.list_selected_blocks()
        lines = {line for top, bottom, _, _ in blocks for line in range(top, bottom + 1)}
        columns = {column for _, _, left, right in blocks for column in range(left, right + 1)}
        rows = [line for line in sorted(lines) if self._table.row(line) is not None]
        return rows, [number for number in self.list_shown_columns() if number in columns]

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, current = event.key(), self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif key in ENTER_KEYS and current.isValid():
            self.choose_current()
            self.used.emit()
        elif key == Qt.Key.Key_F2 and current.isValid():
            self.edit_requested.emit()
        elif key == Qt.Key.Key_Delete and current.isValid():
            self.delete_requested.emit()
        elif self._is_add_key(event):
            self.add_requested.emit()
        elif key == Qt.Key.Key_Space and not self._typed.active and current.isValid():
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                flags = QItemSelectionModel.SelectionFlag
                self.selectionModel().select(current, flags.ClearAndSelect | flags.Rows)
            else:
                self.choose_current()
        else:
            super().keyPressEvent(event)

    def _is_add_key(self, event: QKeyEvent) -> bool:
        unmodified = event.modifiers() == Qt.KeyboardModifier.NoModifier
        return event.key() == Qt.Key.Key_A and self.accepts_add_key and not self._typed.active and unmodified

    def event(self, event: QEvent) -> bool:
        """Handle the letter A before shortcuts if it acts on the row."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride and self.currentIndex().isValid()
        if is_asked and self._is_add_key(cast("QKeyEvent", event)):
            event.accept()
            return True
        return super().event(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.currentIndex().isValid():
            self.used.emit()

    # Painting

    def paint(self, pen: ThemePainter, area: QRect) -> None:
        """Paint lines and columns: scrolling ones first, then the fixed one."""
        painter = pen.painter
        painter.fillRect(area, self._theme.color("page"))
        lines = self.find_visible_rows(area)
        scrolled = [column for column in self.find_visible_columns(area) if column.number]
        frozen = [VisibleSection(0, 0, self.heads.frozen_width)] if self.heads.count() else []
        edge = self.heads.frozen_width
        self._chosen = self.list_selected_cells(lines)
        self._paint_grounds(pen, lines, [*scrolled, *frozen])
        right_of_edge = QRect(edge, 0, self.viewport().width() - edge, area.bottom() + 1)
        with QPainterStateGuard(painter):
            painter.setClipRect(right_of_edge)
            self._paint_columns(pen, lines, scrolled)
        self._paint_columns(pen, lines, frozen)
        if self.heads.offset() > 0:
            pen.hairline(edge - 1, area.top(), edge - 1, area.bottom(), "strong")
        current = self.currentIndex()
        line = next((each for each in lines if each.number == current.row()), None)
        column = next((each for each in (*scrolled, *frozen) if each.number == current.column()), None)
        if line is not None and column is not None:
            with QPainterStateGuard(painter):
                if column.number:
                    painter.setClipRect(right_of_edge)
                self.paint_ring(pen, self.get_ring_box(line, column))

    def _paint_grounds(
        self, pen: ThemePainter, lines: Sequence[VisibleSection], columns: Sequence[VisibleSection]
    ) -> None:
        margin, width, fits = (
            self._theme.length(MARGIN),
            self.viewport().width(),
            self.heads.length() <= self.viewport().width(),
        )
        right, end = (width - self._theme.length(RIGHT_MARGIN), width) if fits else (width, width + _INSET)
        several = len(self._chosen) > 1
        for line in lines:
            bottom = line.end - 1
            if self._table.row(line.number) is None:
                pen.hairline(margin, bottom, right, bottom, "strong")
                continue
            ground = QRectF(_INSET, line.start, end - _INSET, line.size - 1)
            if self.currentIndex().row() == line.number and not several:
                pen.tint(ground, "selection", _RADIUS)
            elif line.number == self.hovered_row:
                pen.tint(ground, "hover", _RADIUS)
            if line.number == self._table.rule:
                pen.hairline(margin, line.start - 1, right, line.start - 1, "control")
            pen.hairline(margin, bottom, right, bottom, "grid")
        if several:
            for line in lines:
                for column in columns:
                    if (line.number, column.number) in self._chosen:
                        rect = QRectF(column.start, line.start, column.size, line.size - 1)
                        pen.painter.fillRect(rect, self._theme.color("selection"))

    def _paint_columns(
        self, pen: ThemePainter, lines: Sequence[VisibleSection], columns: Sequence[VisibleSection]
    ) -> None:
        self._layer.clear()
        self._swatches.clear()
        self._tags.clear()
        for line in lines:
            row = self._table.row(line.number)
            if row is None:
                if any(column.number == 0 for column in columns):
                    self._write_heading(line)
                continue
            # Quiet text must be readable on a selection too.
            quiet = "text2" if self.currentIndex().row() == line.number or self._chosen else "text3"
            for column in columns:
                self._write_cell(row, line, column, quiet)
        self._layer.draw(pen.painter)
        for x, y, index, is_variant in self._swatches:
            pen.swatch(x, y, index, is_variant=is_variant)
        for x, y, text in self._tags:
            pen.tag(x, y, text, dashed=True)

    def _write_heading(self, line: VisibleSection) -> None:
        heading = self._table.lines[line.number]
        if not isinstance(heading, CatalogHeading):
            return
        middle = line.end - self._theme.length(7) - self._theme.line("small") / 2
        x = self._theme.length(MARGIN)
        x += self._layer.text("label", "text1", heading.title, x, middle) + self._theme.length(10)
        if heading.note:
            most = self.viewport().width() - self._theme.length(MARGIN) - x
            self._layer.text("small", "text3", heading.note, x, middle, max(1.0, most))

    def _write_cell(self, row: CatalogRow, line: VisibleSection, column: VisibleSection, quiet: str) -> None:
        kind = self._table.column(column.number).kind
        middle = line.start + line.size / 2
        text = self._table.text(row, column.number)
        if kind is CatalogColumnKind.NAME:
            self._write_name(row, text, column, middle)
        elif kind in FIGURES:
            length = self._theme.length
            body = CatalogLayout.body(self._table.table.section)
            gutter = self._measures.gutter(self._table, column.number)
            right = column.end - gutter
            mark = row.marks[column.number] if row.marks else 0
            is_known = row.values[column.number] is not None
            own = bool(mark & CatalogCellMark.OWN)
            spec, value = self._table.column(column.number), row.values[column.number]
            token = ("section" if body == "body" else "label") if own else choose_value_font(spec, value, body)
            self._layer.right(token, "text1" if is_known else quiet, text, column.start, right, middle)
            marks = [(glyph, color) for flag, glyph, color in MARKS if mark & flag]
            x = right + length(9 if len(marks) > 1 else GUTTER / 2)
            for glyph, color in marks[:2]:
                self._layer.mark(glyph, color, x, middle)
                x += length(14)
        elif kind is CatalogColumnKind.AGE:
            self._write_age(row, text, column, middle, quiet)
        else:
            self._write_words(row, text, column, middle, quiet)

    def _write_name(self, row: CatalogRow, text: str, column: VisibleSection, middle: float) -> None:
        length, section = self._theme.length, self._table.table.section
        token = "body_strong" if CatalogLayout.body(section) == "body" else "small_strong"
        color = "text1"
        if self._table.headings:
            # Already in the heading.
            token, color = CatalogLayout.body(section), "text2"
        x = column.start + length(MARGIN)
        right = column.end - length(WORD_END)
        swatch = self.scenario_swatches.get(row.thing or "") if section is CatalogSection.ACCELERATORS else None
        if section is CatalogSection.ACCELERATORS:
            if swatch is not None:
                self._swatches.append((x, middle, *swatch))
            x += length(SWATCH)
        tag = tr("Announced") if row.announced else ""
        room = right - x - (self._texts.width("caption_strong", tag) + length(20) if tag else 0)
        if swatch is not None:
            color = self._theme.name_color(swatch[0]).name()
        width = self._layer.text(token, color, text, x, middle, max(1.0, room))
        if row.marks and row.marks[0] & CatalogCellMark.OWN:
            self._layer.mark("own", "link", x + width + length(11), middle)
            width += length(18)
        if tag:
            self._tags.append((x + width + length(8), middle, tag))

    def _write_age(self, row: CatalogRow, text: str, column: VisibleSection, middle: float, quiet: str) -> None:
        length = self._theme.length
        body = CatalogLayout.body(self._table.table.section)
        old = self._table.is_stale(row)
        width = self._layer.text(body, "text1" if old else quiet, text, column.start, middle)
        if old:
            self._layer.mark(*STALE, column.start + width + length(11), middle)

    def _write_words(self, row: CatalogRow, text: str, column: VisibleSection, middle: float, quiet: str) -> None:
        value, section = row.values[column.number], self._table.table.section
        body = CatalogLayout.body(section)
        x = float(column.start)
        color = "text2" if value is not None else quiet
        spec = self._table.column(column.number)
        if spec.kind is CatalogColumnKind.ATTRIBUTE:
            color = "text1"
        if spec.key == "stance" and isinstance(value, str) and value in STANCES:
            glyph, tint, color = STANCES[value]
            if glyph:
                self._layer.mark(glyph, tint, x + self._theme.length(6), middle)
            x += self._theme.length(MARK)
        lines = self._measures.break_words(section, text, column.size)
        if len(lines) > 1:
            height = self._theme.line(body)
            top = middle - height * (len(lines) - 1) / 2
            for number, words in enumerate(lines):
                self._layer.text(body, color, words, x, top + number * height)
            return
        most = self._measures.compute_text_room(column.end - x)
        self._layer.text(body, color, text, x, middle, most)

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        left, right = self._find_ends(column)
        return QRectF(left, row.start, right - left, row.size - 1)

    def _find_ends(self, column: VisibleSection) -> tuple[float, float]:
        """Return the ends of the focus ring in a column: around figure and gutter, or text."""
        length = self._theme.length
        spec = self._table.column(column.number)
        if spec.kind is CatalogColumnKind.NAME:
            return column.start + length(_INSET), column.end - length(4)
        if spec.kind in FIGURES:
            return column.start + length(2), column.end - 1
        return column.start - length(6), column.end - length(8)
