"""The view of a catalog list: heads and first column stay in sight, everything by keyboard too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from gpudesk.desktop.itemmodels.catalog_model import CatalogModel
from gpudesk.desktop.pages.catalog.cell_painter import CellPainter, Shown
from gpudesk.desktop.pages.catalog.chosen_cells import chosen_among, lines_and_columns
from gpudesk.desktop.pages.catalog.heads import CatalogHeads
from gpudesk.desktop.pages.catalog.measures import Measures
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Index, PaintedTable, Place
from gpudesk.desktop.widgets.text_cache import TextCache

_Move = QAbstractItemView.CursorAction
_Flag = QItemSelectionModel.SelectionFlag
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CatalogView(PaintedTable):
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
        """Show a model."""
        super().__init__(parent)
        self._theme = theme
        self._table = model
        texts = TextCache(theme)
        self._measures = Measures(theme, texts)
        self._painter = CellPainter(theme, texts, self._measures, model)
        self._hovered = -1
        self._kept: tuple[str, str, int] | None = None
        self._restoring = False
        self._fitting = False
        self._tall: Sequence[int] = ()
        #: Widths that the user set, by the key of the column.
        self.chosen_widths: Mapping[str, int] = {}
        #: Places in the palette of the parts of the scenario, and whether further ones, by id.
        self.slots: Mapping[str, tuple[int, bool]] = {}
        #: Whether the letter A acts on the current row.
        self.takes_a = False
        self.heads = CatalogHeads(theme, self._measures, model, self)
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
        model.modelAboutToBeReset.connect(self._keep_place)
        model.modelReset.connect(self._restore_place)
        model.dataChanged.connect(self.viewport().update)

    # Places

    def measure(self) -> None:
        """Take heights and widths anew."""
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
        self.heads.take_height()
        self.fit_columns()

    def fit_columns(self) -> None:
        """Share the room among the columns."""
        if self._fitting:
            return
        self._fitting = True
        try:
            shown = [number for number in self.heads.shown() if number < self._table.columnCount()]
            room = self.viewport().width()
            for number, width in self._measures.widths(self._table, shown, room, self.chosen_widths).items():
                if self.heads.sectionSize(number) != width:
                    self.heads.resizeSection(number, width)
        finally:
            self._fitting = False
        self.viewport().update()

    def _moved(self) -> None:
        if not self._fitting:
            self.heads.take_height()
            self.columns_changed.emit()
            self.viewport().update()

    def _resized(self, number: int, old: int, new: int) -> None:
        if self._fitting or not old or not new:
            return
        self.chosen_widths = {**self.chosen_widths, self._table.column(number).key: new}
        # Qt is in the middle of its drag, and reads its sections again after this.
        QTimer.singleShot(0, self, self.fit_columns)
        self.columns_changed.emit()

    def _forget_width(self, number: int) -> None:
        key = self._table.column(number).key
        self.chosen_widths = {name: width for name, width in self.chosen_widths.items() if name != key}
        self.fit_columns()
        self.columns_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Share the new room."""
        super().resizeEvent(event)
        self.fit_columns()

    def visualRect(self, index: Index) -> QRect:  # noqa: N802 - Qt's name
        """Return where a cell is; the first column does not scroll."""
        rect = super().visualRect(index)
        if index.isValid() and index.column() == 0:
            rect.moveLeft(0)
        return rect

    def indexAt(self, place: QPoint) -> QModelIndex:  # noqa: N802 - Qt's name
        """Return the cell at a place; the first column lies over the others."""
        row, column = self.rowAt(place.y()), self.heads.number_at(place)
        return self._table.index(row, column) if row >= 0 and column >= 0 else QModelIndex()

    def scrollTo(  # noqa: N802 - Qt's name
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a cell into sight, out from under the first column."""
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

    def _keep_place(self) -> None:
        keys = self.current_keys()
        self._kept = None if keys is None else (*keys, self.verticalScrollBar().value())

    def _restore_place(self) -> None:
        """Find the current cell again where it is still shown."""
        self._hovered = -1
        self.measure()
        if self._kept is not None:
            self.show_current(self._kept[0], self._kept[1])

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Say which cell is current now."""
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
        lines, columns = lines_and_columns(self.selectionModel())
        rows = [line for line in sorted(lines) if self._table.row(line) is not None]
        return rows, [number for number in self.heads.shown() if number in columns]

    # Keys

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:  # noqa: N802
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

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Copy, use, edit, select a row; the rest moves or searches."""
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
        elif key == Qt.Key.Key_A and self._is_a(event):
            self.add_requested.emit()
        elif key == Qt.Key.Key_Space and not self._typed.active and current.isValid():
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.selectionModel().select(current, _Flag.ClearAndSelect | _Flag.Rows)
            else:
                self._choose()
        else:
            super().keyPressEvent(event)

    def _is_a(self, event: QKeyEvent) -> bool:
        return self.takes_a and not self._typed.active and event.modifiers() == Qt.KeyboardModifier.NoModifier

    def event(self, event: QEvent) -> bool:
        """Keep letters from being shortcuts where they act on the row or belong to a word."""
        if event.type() == QEvent.Type.ShortcutOverride:
            key = cast("QKeyEvent", event)
            text = key.text()
            if (self._typed.active and text and text.isprintable()) or (
                key.key() == Qt.Key.Key_A and self._is_a(key) and self.currentIndex().isValid()
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

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Use the row."""
        super().mouseDoubleClickEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.currentIndex().isValid():
            self.used.emit()

    def hover(self, row: int) -> None:
        """Tint the row under the mouse."""
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def sentence_at(self, index: QModelIndex) -> str:
        """Return all that a cell shows as a sentence."""
        return self._table.sentence(index.row(), index.column())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
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
        """Draw everything in sight in one go."""
        self._painter.paint(painter, self._shown(area))

    def _shown(self, area: QRect) -> Shown:
        current = self.currentIndex()
        lines = self._lines_in(area)
        columns = [self._place(number) for number in self.heads.shown() if number]
        frozen = self._place(0) if self.heads.count() else None
        return Shown(
            area=area,
            width=self.viewport().width(),
            lines=lines,
            columns=[
                place
                for place in columns
                if place.start + place.size > area.left() and place.start <= area.right()
            ],
            frozen=frozen,
            scrolled=self.heads.offset() > 0,
            fits=self.heads.length() <= self.viewport().width(),
            hovered=self._hovered,
            current=(current.row(), current.column()) if current.isValid() else None,
            chosen=chosen_among(self.selectionModel(), (place.number for place in lines)),
            slots=self.slots,
        )

    def _place(self, number: int) -> Place:
        return Place(number, self.heads.start_of(number), self.heads.sectionSize(number))

    def _lines_in(self, area: QRect) -> list[Place]:
        vertical = self.verticalHeader()
        first, last = self.rowAt(max(0, area.top())), self.rowAt(area.bottom())
        if first < 0:
            return []
        last = len(self._table.lines) - 1 if last < 0 else last
        return [
            Place(line, vertical.sectionViewportPosition(line), vertical.sectionSize(line))
            for line in range(first, last + 1)
        ]
