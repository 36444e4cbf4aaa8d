"""The view of a catalog list with its header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from gpudesk.desktop.pages.catalog.catalog_model import CatalogModel, CatalogSorting
from gpudesk.desktop.pages.catalog.cells import (
    GUTTER,
    MARGIN,
    SWATCH,
    WORD_END,
    CatalogCellPainter,
    CatalogLayout,
    CatalogPaintState,
)
from gpudesk.desktop.ui.tables.painted_table import Index, PaintedHeader, PaintedTable, VisibleSection
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, ThemePainter
from gpudesk.domain.catalog_table import CatalogColumnKind, CatalogSection
from gpudesk.report.catalog_lists import FIGURES, describe_column, label_column, label_column_group
from gpudesk.text.translation import tr


def list_selected_blocks(model: QItemSelectionModel) -> list[tuple[int, int, int, int]]:
    """Return top, bottom, left and right of each selected rectangle."""
    chosen = model.selection()
    found = (chosen.at(number) for number in range(chosen.count()))
    return [(block.top(), block.bottom(), block.left(), block.right()) for block in found]


def list_selected_lines_and_columns(model: QItemSelectionModel) -> tuple[set[int], set[int]]:
    lines: set[int] = set()
    columns: set[int] = set()
    for top, bottom, left, right in list_selected_blocks(model):
        lines.update(range(top, bottom + 1))
        columns.update(range(left, right + 1))
    return lines, columns


def list_selected_cells(model: QItemSelectionModel, lines: Iterable[int]) -> frozenset[tuple[int, int]]:
    """Return (line, column) of the selected cells among lines, none where one cell alone is selected."""
    blocks = list_selected_blocks(model)
    if len(blocks) <= 1 and all(top == bottom and left == right for top, bottom, left, right in blocks):
        return frozenset()
    return frozenset(
        (line, column)
        for line in lines
        for top, bottom, left, right in blocks
        if top <= line <= bottom
        for column in range(left, right + 1)
    )


_ARROW: Final = 12.0


class CatalogHeader(PaintedHeader):
    """Paints what stands over each column, and over several that share it; the first does not scroll."""

    #: The number of the column that is to order the rows.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, measures: CatalogLayout, model: CatalogModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._theme = theme
        self._measures = measures
        self._model = model
        self.sorting: CatalogSorting | None = None
        self._height = 1
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setMinimumSectionSize(theme.px(24))
        self.setAccessibleName(tr("Columns"))
        self.sectionClicked.connect(self.sort_requested)

    def update_header_height(self) -> None:
        grouped = any(self._model.column(number).group for number in self.shown() if number < self._model.columnCount())
        self._height = self._measures.head_height(grouped=grouped)
        self.setFixedHeight(self._height)
        self.viewport().update()

    def shown(self) -> list[int]:
        order = (self.logicalIndex(place) for place in range(self.count()))
        return [number for number in order if not self.isSectionHidden(number)]

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height)

    def start_of(self, number: int) -> int:
        """Return where a column begins on the screen; the first stays where it is."""
        return 0 if number == 0 else self.sectionViewportPosition(number)

    @property
    def frozen_width(self) -> int:
        return self.sectionSize(0) if self.count() else 0

    def number_at(self, place: QPoint) -> int:
        """Return the column under a place, -1 for none."""
        return 0 if 0 <= place.x() < self.frozen_width else super().number_at(place)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            edge = self.frozen_width
            painter.save()
            painter.setClipRect(QRect(edge, 0, max(0, self.width() - edge), self.height()))
            shown = self.shown()
            for number in shown:
                if number:
                    self._head(pen, number)
            self._groups(pen, shown)
            painter.restore()
            if shown and shown[0] == 0:
                self._head(pen, 0)
            bottom, margin = self.height() - 1, self._theme.px(MARGIN)
            width = self.viewport().width()
            right = width - margin if self.length() <= width else width
            pen.hairline(margin, bottom, right, bottom, "strong")
            if self.offset() > 0:
                pen.hairline(edge - 1, 0, edge - 1, bottom, "strong")

    def _head(self, pen: ThemePainter, number: int) -> None:
        theme, column = self._theme, self._model.column(number)
        length = theme.length
        start, size = self.start_of(number), self.sectionSize(number)
        line = theme.line("caption")
        top = self.height() - theme.px(7) - line
        text = label_column(self._model.table.section, column)
        active = self.sorting is not None and self.sorting.column == column.key
        colour = "text1" if active else "text3"
        arrow = self._arrow(number, active=active)
        side = length(_ARROW)
        if column.kind in FIGURES:
            right = start + size - self._measures.gutter(self._model, number)
            pen.text(QRectF(start, top, right - start, line), text, font="caption_strong", colour=colour,
                     align=RIGHT)  # fmt: skip
            x = right + length(3)
        else:
            x = start + (length(MARGIN) if column.kind is CatalogColumnKind.NAME else 0.0)
            if column.kind is CatalogColumnKind.NAME and self._model.table.section is CatalogSection.ACCELERATORS:
                x += length(SWATCH)
            room = start + size - x - (side + 3 if arrow else length(WORD_END) / 2)
            x += pen.text(QRectF(x, top, max(1.0, room), line), text, font="caption_strong", colour=colour)
            x += length(3)
        if arrow:
            pen.icon(arrow, x, top + (line - side) / 2, side, "text1" if active else "text3")

    def _arrow(self, number: int, *, active: bool) -> str:
        if active and self.sorting is not None:
            return "arrow-down" if self.sorting.descending else "arrow-up"
        return "arrow-up-down" if number == self.hovered_section else ""

    def _groups(self, pen: ThemePainter, shown: list[int]) -> None:
        place = 0
        while place < len(shown):
            group = self._model.column(shown[place]).group
            last = place
            while group and last + 1 < len(shown) and self._model.column(shown[last + 1]).group == group:
                last += 1
            if group:
                self._group(pen, group, shown[place], shown[last])
            place = last + 1

    def _group(self, pen: ThemePainter, group: str, first: int, last: int) -> None:
        theme = self._theme
        start = self.start_of(first) + theme.length(10)
        end = self.start_of(last) + self.sectionSize(last) - theme.length(GUTTER - 4)
        # Of columns that are scrolled out of sight in part, over those in sight.
        start, end = max(start, self.frozen_width), min(end, self.width())
        if end - start < theme.length(40):
            return
        line = theme.line("caption")
        top = self.height() - theme.px(7) - 2 * line - theme.px(4)
        pen.text(QRectF(start, top, end - start, line), label_column_group(group), font="caption_strong",
                 colour="text3", align=CENTRE)  # fmt: skip
        pen.hairline(start, top + line + 1, end, top + line + 1, "strong")

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Order by the first column where it lies over another; else click, move or resize."""
        if self._over_frozen(event.position().toPoint()) and event.button() == Qt.MouseButton.LeftButton:
            self.sort_requested.emit(0)
            return
        super().mousePressEvent(event)

    def _over_frozen(self, place: QPoint) -> bool:
        return self.offset() > 0 and place.x() < self.frozen_width

    def told(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - a head has one part
        if number >= self._model.columnCount():
            return ""
        return describe_column(self._model.table.section, self._model.column(number))


_Move = QAbstractItemView.CursorAction
_Flag = QItemSelectionModel.SelectionFlag
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CatalogTableView(PaintedTable):
    """Paints all cells by itself, so that a table of thousands of rows scrolls within a frame."""

    #: The key of the row and of the column that became current, or were chosen again.
    cell_chosen = Signal(str, str)
    sort_requested = Signal(int)
    copy_requested = Signal()
    #: Line and column (-1: a head) and a place on the screen.
    menu_requested = Signal(int, int, QPoint)
    #: Enter or a double click: what is done most with a row.
    used = Signal()
    add_requested = Signal()
    edit_requested = Signal()
    delete_requested = Signal()
    #: The user moved a column or changed its width.
    columns_changed = Signal()

    def __init__(self, theme: Theme, model: CatalogModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = model
        texts = TextCache(theme)
        self._measures = CatalogLayout(theme, texts)
        self._painter = CatalogCellPainter(theme, texts, self._measures, model)
        self._hovered = -1
        self._kept: tuple[str, str, int] | None = None
        self._restoring = False
        self._fitting = False
        self._tall: Sequence[int] = ()
        #: Widths that the user set, by the key of the column.
        self.user_widths: Mapping[str, int] = {}
        #: Places in the palette of the parts of the scenario, and whether further ones, by id.
        self.slots: Mapping[str, tuple[int, bool]] = {}
        #: Whether the letter A acts on the current row.
        self.accepts_add_key = False
        self.heads = CatalogHeader(theme, self._measures, model, self)
        self._set_up(model)
        theme.changed.connect(self.measure)

    def _set_up(self, model: CatalogModel) -> None:
        self.setHorizontalHeader(self.heads)
        self.set_up(model)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        heads = self.heads
        heads.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        heads.customContextMenuRequested.connect(self._head_menu)
        heads.sort_requested.connect(self.sort_requested)
        heads.sectionMoved.connect(self._moved)
        heads.sectionResized.connect(self._resized)
        heads.sectionHandleDoubleClicked.connect(self._forget_width)
        model.modelAboutToBeReset.connect(self._store_position)
        model.modelReset.connect(self._restore_position)
        model.dataChanged.connect(self.viewport().update)

    # Places

    def measure(self) -> None:
        vertical, section = self.verticalHeader(), self._table.table.section
        height = self._measures.row_height(section)
        if vertical.defaultSectionSize() != height:
            vertical.setDefaultSectionSize(height)
        # Qt keeps the heights of lines through a reset.
        for number in self._tall:
            if number < len(self._table.lines):
                vertical.resizeSection(number, height)
        self._tall = self._table.headings
        for number in self._tall:
            vertical.resizeSection(number, self._measures.heading_height())
        self.heads.update_header_height()
        self.fit_columns()

    def fit_columns(self) -> None:
        if self._fitting:
            return
        self._fitting = True
        try:
            shown = [number for number in self.heads.shown() if number < self._table.columnCount()]
            room = self.viewport().width()
            for number, width in self._measures.widths(self._table, shown, room, self.user_widths).items():
                if self.heads.sectionSize(number) != width:
                    self.heads.resizeSection(number, width)
        finally:
            self._fitting = False
        self.viewport().update()

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
        """Return the cell at a place; the first column lies over the others."""
        row, column = self.rowAt(place.y()), self.heads.number_at(place)
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

    def current_keys(self) -> tuple[str, str] | None:
        """Return the keys of row and column of the current cell."""
        index = self.currentIndex()
        row = self._table.row(index.row()) if index.isValid() else None
        return None if row is None else (row.key, self._table.column(index.column()).key)

    def show_current(self, row_key: str, column_key: str = "") -> bool:
        """Make a cell current without saying so, and bring it into sight; return whether it is shown."""
        line = self._table.line_of(row_key)
        column = max(0, self._table.table.place(column_key))
        self._restoring = True
        try:
            if line < 0:
                self.selectionModel().clear()
                return False
            index = self._table.index(line, column)
            self.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect)
        finally:
            self._restoring = False
            self.viewport().update()
        return True

    def _store_position(self) -> None:
        keys = self.current_keys()
        self._kept = None if keys is None else (*keys, self.verticalScrollBar().value())

    def _restore_position(self) -> None:
        self._hovered = -1
        self.measure()
        if self._kept is not None:
            self.show_current(self._kept[0], self._kept[1])

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if not self._restoring and current.isValid():
            self._choose()

    def _choose(self) -> None:
        keys = self.current_keys()
        if keys is not None:
            self.cell_chosen.emit(*keys)

    def selected_lines_and_columns(self) -> tuple[list[int], list[int]]:
        """Return the lines and the columns, from left to right, that hold selected cells."""
        lines, columns = list_selected_lines_and_columns(self.selectionModel())
        rows = [line for line in sorted(lines) if self._table.row(line) is not None]
        return rows, [number for number in self.heads.shown() if number in columns]

    # Keys

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Move by cells, past headings; Home and End within the row, with Ctrl to the first or last row."""
        columns, count = self.heads.shown(), len(self._table.lines)
        if not columns or not count:
            return QModelIndex()
        current = self.currentIndex()
        if not current.isValid():
            return self._table.index(self._nearest(0, 1), columns[0])
        whole = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        line = current.row()
        place = columns.index(current.column()) if current.column() in columns else 0
        last = len(columns) - 1
        match action:
            case _Move.MoveUp:
                line = self._nearest(0, 1) if whole else self._nearest(line - 1, -1)
            case _Move.MoveDown:
                line = self._nearest(count - 1, -1) if whole else self._nearest(line + 1, 1)
            case _Move.MoveLeft | _Move.MovePrevious:
                place = 0 if whole else max(0, place - 1)
            case _Move.MoveRight | _Move.MoveNext:
                place = last if whole else min(last, place + 1)
            case _Move.MoveHome:
                line, place = (self._nearest(0, 1) if whole else line), 0
            case _Move.MoveEnd:
                line, place = (self._nearest(count - 1, -1) if whole else line), last
            case _Move.MovePageUp | _Move.MovePageDown:
                line = self._page(line, down=action == _Move.MovePageDown)
        return self._table.index(line, columns[place])

    def _nearest(self, line: int, step: int) -> int:
        """Return the nearest line of a row from one on, in a direction; else the one that is current."""
        while 0 <= line < len(self._table.lines):
            if self._table.row(line) is not None:
                return line
            line += step
        return max(0, self.currentIndex().row())

    def _page(self, line: int, *, down: bool) -> int:
        height = max(1, self.verticalHeader().defaultSectionSize())
        step = max(1, self.viewport().height() // height - 1)
        target = min(max(0, line + (step if down else -step)), len(self._table.lines) - 1)
        return self._nearest(target, -1 if down else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, current = event.key(), self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif key in _ENTER and current.isValid():
            self._choose()
            self.used.emit()
        elif key == Qt.Key.Key_F2 and current.isValid():
            self.edit_requested.emit()
        elif key == Qt.Key.Key_Delete and current.isValid():
            self.delete_requested.emit()
        elif key == Qt.Key.Key_A and self._is_add_key(event):
            self.add_requested.emit()
        elif key == Qt.Key.Key_Space and not self._typed.active and current.isValid():
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.selectionModel().select(current, _Flag.ClearAndSelect | _Flag.Rows)
            else:
                self._choose()
        else:
            super().keyPressEvent(event)

    def _is_add_key(self, event: QKeyEvent) -> bool:
        return self.accepts_add_key and not self._typed.active and event.modifiers() == Qt.KeyboardModifier.NoModifier

    def event(self, event: QEvent) -> bool:
        """Keep letters from being shortcuts where they act on the row or belong to a word."""
        if event.type() == QEvent.Type.ShortcutOverride:
            key = cast("QKeyEvent", event)
            text = key.text()
            if (self._typed.active and text and text.isprintable()) or (
                key.key() == Qt.Key.Key_A and self._is_add_key(key) and self.currentIndex().isValid()
            ):
                event.accept()
                return True
        return super().event(event)

    def named_rows(self) -> list[tuple[int, str]]:
        """Return the rows by their first cells."""
        return [
            (number, self._table.text(row, 0))
            for number in range(len(self._table.lines))
            if (row := self._table.row(number)) is not None
        ]

    # The mouse

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.currentIndex().isValid():
            self.used.emit()

    def hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def sentence_at(self, index: QModelIndex) -> str:
        return self._table.sentence(index.row(), index.column())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of a row: at the mouse, or at the current cell."""
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if not index.isValid() or self._table.row(index.row()) is None:
            return
        place = event.globalPos()
        if keyboard:
            place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        self.menu_requested.emit(index.row(), index.column(), place)

    def _head_menu(self, place: QPoint) -> None:
        column = self.heads.number_at(place)
        if column >= 0:
            self.menu_requested.emit(-1, column, self.heads.viewport().mapToGlobal(place))

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        self._painter.paint(painter, self._shown(area))

    def _shown(self, area: QRect) -> CatalogPaintState:
        current = self.currentIndex()
        lines = self._lines_in(area)
        columns = [self._place(number) for number in self.heads.shown() if number]
        frozen = self._place(0) if self.heads.count() else None
        return CatalogPaintState(
            area=area,
            width=self.viewport().width(),
            lines=lines,
            columns=[
                place for place in columns if place.start + place.size > area.left() and place.start <= area.right()
            ],
            frozen=frozen,
            scrolled=self.heads.offset() > 0,
            fits=self.heads.length() <= self.viewport().width(),
            hovered=self._hovered,
            current=(current.row(), current.column()) if current.isValid() else None,
            chosen=list_selected_cells(self.selectionModel(), (place.number for place in lines)),
            slots=self.slots,
        )

    def _place(self, number: int) -> VisibleSection:
        return VisibleSection(number, self.heads.start_of(number), self.heads.sectionSize(number))

    def _lines_in(self, area: QRect) -> list[VisibleSection]:
        vertical = self.verticalHeader()
        first, last = self.rowAt(max(0, area.top())), self.rowAt(area.bottom())
        if first < 0:
            return []
        last = len(self._table.lines) - 1 if last < 0 else last
        return [
            VisibleSection(line, vertical.sectionViewportPosition(line), vertical.sectionSize(line))
            for line in range(first, last + 1)
        ]
