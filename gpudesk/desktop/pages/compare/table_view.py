"""The view of the comparison table: frozen heads and labels, rows of three heights, all by keyboard too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from gpudesk.desktop.itemmodels.comparison_model import ComparisonModel
from gpudesk.desktop.pages.compare.cell_painter import CellPainter, Shown
from gpudesk.desktop.pages.compare.heads import ColumnHeads, RowLabels
from gpudesk.desktop.pages.compare.measures import WIDE, Measures, Widths
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Index, PaintedTable, Place
from gpudesk.desktop.widgets.text_cache import TextCache

_Move = QAbstractItemView.CursorAction


class ComparisonView(PaintedTable):
    """Shows a `ComparisonModel`. Everything that carries a figure is painted by `CellPainter` in one go."""

    #: Row key and column key of the cell that became current.
    cell_chosen = Signal(str, str)
    #: The user asks for a menu: row or -1, column or -1, and where on the screen.
    menu_requested = Signal(int, int, QPoint)
    sort_requested = Signal(int)
    copy_requested = Signal()

    def __init__(self, theme: Theme, model: ComparisonModel, parent: QWidget | None = None) -> None:
        """Show a model."""
        super().__init__(parent)
        self._theme = theme
        self._texts = TextCache(theme)
        self._measures = Measures(theme, self._texts)
        self._painter = CellPainter(theme, self._texts)
        self._table = model
        self._widths = Widths(1, 1, WIDE)
        self._kept: tuple[str, str] | None = None
        self._kept_scroll = (0, 0)
        self._restoring = False
        #: What stands in place of the rows where none is shown.
        self.empty_text = ""
        self._heads = ColumnHeads(theme, self._texts, model, self)
        self._labels = RowLabels(theme, self._texts, model, self)
        self._set_up(model)
        theme.changed.connect(self.measure)

    def _set_up(self, model: ComparisonModel) -> None:
        self.setHorizontalHeader(self._heads)
        self.setVerticalHeader(self._labels)
        self.set_up(model)
        self._heads.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._labels.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._heads.customContextMenuRequested.connect(self._head_menu)
        self._labels.customContextMenuRequested.connect(self._label_menu)
        self._labels.sort_requested.connect(self.sort_requested)
        self._labels.hovered.connect(self.hover)
        model.modelAboutToBeReset.connect(self._keep_place)
        model.modelReset.connect(self._restore_place)
        model.dataChanged.connect(self._heights_again)

    # Places

    @property
    def label_width(self) -> int:
        """Width of the frozen labels."""
        return self._widths.label

    def measure(self) -> None:
        """Take heights and widths anew."""
        model = self._table
        self._heads.take(self._measures.head_height(), self._widths.margins)
        for row, line in enumerate(model.lines):
            self._set_height(row, self._measures.height(line))
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Share the room among the columns."""
        model = self._table
        room = self.viewport().width() + self._labels.width()
        heads = [model.head(column) for column in range(model.columnCount())]
        rows = [line.row for line in model.lines if line.row is not None]
        self._widths = self._measures.widths(room, heads, rows)
        self._labels.take_width(self._widths.label)
        left = room - self._widths.label - self._widths.column * len(heads)
        for column in range(len(heads)):
            # What does not divide goes to the first columns, so that the last one ends at the edge.
            extra = 1 if column < left < len(heads) else 0
            self._heads.resizeSection(column, self._widths.column + extra)
        self._heads.take(self._measures.head_height(), self._widths.margins)
        self.updateGeometries()
        self.viewport().update()

    def _set_height(self, row: int, height: int) -> None:
        if self._labels.sectionSize(row) != height:
            self._labels.resizeSection(row, height)

    def _heights_again(self, first: Index, last: Index) -> None:
        """Follow rows that gained or lost a second line."""
        for row in range(first.row(), last.row() + 1):
            self._set_height(row, self._measures.height(self._table.lines[row]))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Share the new room."""
        super().resizeEvent(event)
        self._fit_columns()

    # The current cell

    def current_keys(self) -> tuple[str, str] | None:
        """Return the keys of row and column of the current cell."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        return self._table.lines[index.row()].key, self._table.head(index.column()).key

    def show_current(self, index: QModelIndex) -> None:
        """Make a cell current without saying so, or none."""
        self._restoring = True
        try:
            if index.isValid():
                self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            else:
                self.selectionModel().clear()
        finally:
            self._restoring = False
        self.viewport().update()

    def _keep_place(self) -> None:
        self._kept = self.current_keys()
        self._kept_scroll = (self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _restore_place(self) -> None:
        """Find the current cell again where it is still shown, and scroll to where the view was."""
        self._labels.hovered_number = -1
        self.measure()
        follows = self.hasAutoScroll()
        self.setAutoScroll(False)
        if self._kept is not None:
            self.show_current(self._table.index_of(*self._kept))
        self.setAutoScroll(follows)
        self.horizontalScrollBar().setValue(self._kept_scroll[0])
        self.verticalScrollBar().setValue(self._kept_scroll[1])

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Say which cell is current now."""
        super().currentChanged(current, previous)
        self.viewport().update()
        if not self._restoring and current.isValid():
            keys = self.current_keys()
            if keys is not None:
                self.cell_chosen.emit(*keys)

    def selected_cells(self) -> list[tuple[int, int]]:
        """Return row and column of all cells that are selected together, in reading order."""
        return sorted((index.row(), index.column()) for index in self.selectedIndexes())

    # Keys

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:  # noqa: N802
        """Move by cells, past headings; Home and End within the row, with Ctrl to the first or last row."""
        rows = [number for number, line in enumerate(self._table.lines) if line.row is not None]
        last = self._table.columnCount() - 1
        if not rows or last < 0:
            return QModelIndex()
        current = self.currentIndex()
        if not current.isValid():
            return self._table.index(rows[0], 0)
        place = rows.index(current.row()) if current.row() in rows else 0
        row, column = place, current.column()
        whole = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        match action:
            case _Move.MoveUp:
                row = 0 if whole else row - 1
            case _Move.MoveDown:
                row = len(rows) - 1 if whole else row + 1
            case _Move.MoveLeft | _Move.MovePrevious:
                column = 0 if whole else column - 1
            case _Move.MoveRight | _Move.MoveNext:
                column = last if whole else column + 1
            case _Move.MoveHome:
                row, column = (0 if whole else row), 0
            case _Move.MoveEnd:
                row, column = (len(rows) - 1 if whole else row), last
            case _Move.MovePageUp | _Move.MovePageDown:
                row = self._page(rows, row, down=action == _Move.MovePageDown)
        row = min(max(row, 0), len(rows) - 1)
        return self._table.index(rows[row], min(max(column, 0), last))

    def _page(self, rows: Sequence[int], place: int, *, down: bool) -> int:
        """Return the row a page away."""
        room = self.viewport().height() - self._labels.sectionSize(rows[place])
        start = self._labels.sectionPosition(rows[place])
        step = 1 if down else -1
        while 0 <= place + step < len(rows):
            if abs(self._labels.sectionPosition(rows[place + step]) - start) > room:
                break
            place += step
        return place

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Copy, select, ask for the menu; the rest moves or searches."""
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (
            key == Qt.Key.Key_Space and not self._typed.active
        ):
            keys = self.current_keys()
            if keys is not None:
                self.cell_chosen.emit(*keys)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep letters from being shortcuts while a word is being typed."""
        if event.type() == QEvent.Type.ShortcutOverride and self._typed.active:
            text = cast("QKeyEvent", event).text()
            if text.isprintable() and text:
                event.accept()
                return True
        return super().event(event)

    def named_rows(self) -> list[tuple[int, str]]:
        """Return the rows by their labels."""
        return [(number, line.row.label) for number, line in enumerate(self._table.lines) if line.row]

    # The mouse

    def hover(self, row: int) -> None:
        """Tint the row under the mouse, and show the arrow by its label."""
        old = self._labels.hovered_number
        if row == old:
            return
        self._labels.set_hovered(row)
        for each in (old, row):
            if 0 <= each < self._table.rowCount():
                top = self._labels.sectionViewportPosition(each)
                self.viewport().update(0, top, self.viewport().width(), self._labels.sectionSize(each))

    def sentence_at(self, index: QModelIndex) -> str:
        """Return all that a cell shows as a sentence; headings show none."""
        shown = self._table.cell(index.row(), index.column()) is not None
        return self._table.sentence(index.row(), index.column()) if shown else ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for the menu of a row: at the mouse, or at the current cell."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            if index.isValid():
                below = self.visualRect(index).bottomLeft()
                self.menu_requested.emit(index.row(), index.column(), self.viewport().mapToGlobal(below))
            return
        # Areas that scroll hand on what their viewport got, with its coordinates.
        index = self.indexAt(event.pos())
        if index.isValid() and self._table.lines[index.row()].row is not None:
            self.menu_requested.emit(index.row(), index.column(), event.globalPos())

    def _head_menu(self, place: QPoint) -> None:
        column = self._heads.logicalIndexAt(place)
        if column >= 0:
            self.menu_requested.emit(-1, column, self._heads.viewport().mapToGlobal(place))

    def _label_menu(self, place: QPoint) -> None:
        row = self._labels.logicalIndexAt(place)
        if 0 <= row < len(self._table.lines) and self._table.lines[row].row is not None:
            self.menu_requested.emit(row, -1, self._labels.viewport().mapToGlobal(place))

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Draw everything in sight in one go, or what is said where nothing is."""
        self._painter.paint(painter, self._shown(area))
        pen = Pen(painter, self._theme)
        if self.horizontalScrollBar().value() > 0:
            # The labels lie above what is scrolled under them.
            pen.hairline(0, 0, 0, self.viewport().height(), "strong")
        if not self._table.lines and self.empty_text:
            room = self.viewport().rect().toRectF()
            pen.text(room, self.empty_text, font="small", colour="text3", align=CENTRE)

    def _shown(self, area: QRect) -> Shown:
        current = self.currentIndex()
        chosen = self.selectedIndexes()
        several = (
            frozenset((each.row(), each.column()) for each in chosen) if len(chosen) > 1 else frozenset()
        )
        columns = [
            Place(column, self._heads.sectionViewportPosition(column), self._heads.sectionSize(column))
            for column in range(self._table.columnCount())
        ]
        return Shown(
            area=area,
            lines=self._table.lines,
            positions=self._table.positions,
            rows=self._labels.places(area.top(), area.bottom()),
            columns=[
                place
                for place in columns
                if place.start + place.size > area.left() and place.start <= area.right()
            ],
            margins=self._widths.margins,
            label_width=self._widths.label,
            hovered=self._labels.hovered_number,
            current=(current.row(), current.column()) if current.isValid() else None,
            chosen=several,
        )
