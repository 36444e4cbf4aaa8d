"""A table view that paints all visible cells in one pass, with its headers and type-ahead."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Final, cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QTableView, QToolTip, QWidget

from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, PaintedWidget, ThemePainter
from gpudesk.frozen_dataclass import frozen_dataclass

#: Seconds within which typed letters form one word.
_TYPING_S: Final = 1.2
_LONGEST: Final = 32


class TypeAhead:
    """Collects letters to a word and finds it among labels."""

    def __init__(self) -> None:
        self._word = ""
        self._at = 0.0

    @property
    def active(self) -> bool:
        return bool(self._word) and time.monotonic() - self._at < _TYPING_S

    def find(self, letters: str, labels: Sequence[str], current: int) -> int | None:
        """Add letters to the word; return the position of a label that starts with it, else contains it.

        A single letter moves on from the current position (-1 for none); a longer word can match it again.
        """
        self._word = ((self._word if self.active else "") + letters.casefold())[:_LONGEST]
        self._at = time.monotonic()
        start = max(0, current + (1 if len(self._word) == 1 else 0))
        around = [*range(start, len(labels)), *range(min(start, len(labels)))]
        folded = [label.casefold() for label in labels]
        begins = (place for place in around if folded[place].startswith(self._word))
        holds = (place for place in around if self._word in folded[place])
        return next(begins, next(holds, None))


_Flag = QItemSelectionModel.SelectionFlag
_Move = QAbstractItemView.CursorAction
ENTER_KEYS: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
#: Focus reasons other than the mouse.
BY_KEYBOARD: Final = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


@frozen_dataclass
class VisibleSection:
    """A visible row or column: its number in the model, its position, and its size."""

    number: int
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


def find_visible_sections(header: QHeaderView, first: int, last: int) -> list[VisibleSection]:
    """Return the sections of a header between two positions of its viewport, in screen order."""
    begin, end = header.visualIndexAt(max(0, first)), header.visualIndexAt(last)
    if begin < 0:
        return []
    end = header.count() - 1 if end < 0 else end
    numbers = (header.logicalIndex(place) for place in range(begin, end + 1))
    return [
        VisibleSection(number, header.sectionViewportPosition(number), header.sectionSize(number))
        for number in numbers
        if not header.isSectionHidden(number)
    ]


class PaintedHeader(QHeaderView):
    """Paints all its heads in one pass, follows the mouse, and shows tooltips.

    Subclasses implement `paint_heads`. `extent` is the height of heads at the top, the width of labels at the left.
    """

    #: The number of the hovered head, -1 when the mouse leaves.
    hovered = Signal(int)

    def __init__(self, theme: Theme, name: str, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self._theme = theme
        self._extent = 1
        self.hovered_section = -1
        self.setAccessibleName(name)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    @property
    def _is_level(self) -> bool:
        return self.orientation() is Qt.Orientation.Horizontal

    def set_extent(self, extent: int) -> None:
        self._extent = extent
        if self._is_level:
            self.setFixedHeight(extent)
        else:
            self.setFixedWidth(extent)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """Return the extent, which is all that a table needs; Qt would measure up to 200 heads after each change."""
        return QSize(self._extent, self._extent)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.color("page"))
            self.paint_heads(pen, event.rect())

    def set_hovered(self, number: int) -> None:
        """Mark a head as hovered, -1 for none."""
        if number == self.hovered_section:
            return
        old, self.hovered_section = self.hovered_section, number
        for each in (old, number):
            if 0 <= each < self.count():
                start, size = self.sectionViewportPosition(each), self.sectionSize(each)
                place = (start, 0, size, self.height()) if self._is_level else (0, start, self.width(), size)
                self.viewport().update(*place)

    def find_section_at(self, place: QPoint) -> int:
        """Return the number of the head at a position, -1 for none."""
        return self.logicalIndexAt(place)

    def describe_head(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - for heads with several areas
        """Return the tooltip of a head from its model; `place` is the position of the mouse in it."""
        return str(self.model().headerData(number, self.orientation(), Qt.ItemDataRole.ToolTipRole) or "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hovered.emit(self.find_section_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            help_event = cast("QHelpEvent", event)
            number = self.find_section_at(help_event.pos())
            text = "" if number < 0 else self.describe_head(number, help_event.pos())
            QToolTip.showText(help_event.globalPos(), text, self)
            return True
        return super().viewportEvent(event)


class TableCorner(PaintedWidget):
    """Covers the corner between the headers of a table."""

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(theme, view)
        self._view = view
        view.horizontalHeader().installEventFilter(self)
        view.verticalHeader().installEventFilter(self)
        theme.changed.connect(self.update)

    def place(self) -> None:
        self.setGeometry(0, 0, self._view.verticalHeader().width(), self._view.horizontalHeader().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - Qt's signature
        if event.type() == QEvent.Type.Resize:
            self.place()
        return False


class PaintedTable(QTableView):
    """Paints its cells in one pass; arrow keys skip headings, typing finds a row by name.

    Rows with unselectable cells are headings. Subclasses implement `measure`, `paint_row`, `get_keys` and `find_cell`.
    The current cell stays through a reset of the model if its keys are still shown.
    """

    #: Keys of row and column of the cell that became current, or was chosen again.
    cell_chosen = Signal(str, str)
    #: A menu is requested: row or -1, column or -1, and the screen position.
    menu_requested = Signal(int, int, QPoint)

    #: Whether a right click requests a menu, and whether one on a heading does too.
    has_menu = False
    has_heading_menu = False
    #: Radius of the ring of the current cell, in design lengths.
    ring_radius = 5.0

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._texts = TextCache(theme)
        self._layer = TextLayer(theme, self._texts)
        self._typed = TypeAhead()
        self._is_restoring = self._shows_all_rows = False
        self._kept_keys: tuple[str, str] | None = None
        self.hovered_row = -1
        #: The widget shown instead of rows if there are none.
        self.empty_text = ""

    def set_up(self, model: QAbstractItemModel, heads: PaintedHeader, labels: PaintedHeader | None = None) -> None:
        """Show a model below heads, with or without labels at the left.

        Headers must be set before the scroll mode, or PySide crashes.
        """
        self.setHorizontalHeader(heads)
        if labels is None:
            self.verticalHeader().hide()
            self.verticalHeader().setMinimumSectionSize(1)
        else:
            self.setVerticalHeader(labels)
            labels.hovered.connect(self.hover)
        self.setModel(model)
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        model.modelAboutToBeReset.connect(self._store_position)
        model.modelReset.connect(self._restore_position)

    def show_all_rows(self) -> None:
        """Be as high as the rows, so that the page scrolls."""
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

        self._shows_all_rows = True

    def measure_whole_height(self) -> int:
        return self.horizontalHeader().sizeHint().height() + self.verticalHeader().length() + 2

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(600), self.measure_whole_height()) if self._shows_all_rows else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        return (
            QSize(self._theme.px(320), self.measure_whole_height())
            if self._shows_all_rows
            else super().minimumSizeHint()
        )

    # To implement in subclasses

    def measure(self) -> None:
        """Set the sizes of heads, rows and columns by theme and content."""
        raise NotImplementedError

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:
        """Paint a row within an area; texts go to the layer, which is drawn over all rows."""
        raise NotImplementedError

    def get_keys(self, index: Index) -> tuple[str, str] | None:
        """Return the keys of row and column of a cell."""
        raise NotImplementedError

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:
        """Return the cell with these keys, an invalid index if it is not shown."""
        raise NotImplementedError

    def describe_cell(self, index: Index) -> str:
        """Return the full text of a cell as a sentence, empty without any."""
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or "")

    def list_named_rows(self) -> Sequence[tuple[int, str]]:
        """Return the number and the name of each row that can be found by typing."""
        model, upright = self.model(), Qt.Orientation.Vertical
        return [(n, str(model.headerData(n, upright) or "")) for n in range(model.rowCount()) if self.is_walkable(n)]

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return QRectF(column.start, row.start, column.size, row.size)

    def measure_page_height(self) -> int:
        return self.viewport().height()

    # The current cell

    def get_current_keys(self) -> tuple[str, str] | None:
        """Return the keys of row and column of the current cell."""
        index = self.currentIndex()
        return self.get_keys(index) if index.isValid() else None

    def show_current(self, index: QModelIndex) -> None:
        """Make a cell current, or none, without emitting a choice."""
        self._is_restoring = True
        try:
            if index.isValid():
                self.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect)
            else:
                self.selectionModel().clear()
        finally:
            self._is_restoring = False
        self.viewport().update()

    def choose_current(self) -> None:
        keys = self.get_current_keys()
        if keys is not None:
            self.cell_chosen.emit(*keys)

    def use_current(self) -> None:
        """Handle Enter on the current cell."""
        self.choose_current()

    def _store_position(self) -> None:
        self._kept_keys = self.get_current_keys()

    def _restore_position(self) -> None:
        self.hover(-1)
        self.measure()
        if self._kept_keys is not None:
            self.show_current(self.find_cell(*self._kept_keys))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid() and not self._is_restoring:
            self.choose_current()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Repaint all cells: rings and fills extend beyond the changed cells."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def list_selected_blocks(self) -> list[tuple[int, int, int, int]]:
        """Return top, bottom, left and right of each selected rectangle."""
        selection = self.selectionModel().selection()
        blocks = (selection.at(number) for number in range(selection.count()))
        return [(block.top(), block.bottom(), block.left(), block.right()) for block in blocks]

    def list_selected_cells(self, rows: Sequence[VisibleSection]) -> frozenset[tuple[int, int]]:
        """Return (row, column) of the selected cells among rows, empty for a single selected cell."""
        blocks = self.list_selected_blocks()
        if len(blocks) <= 1 and all(top == bottom and left == right for top, bottom, left, right in blocks):
            return frozenset()
        return frozenset(
            (row.number, column)
            for row in rows
            for top, bottom, left, right in blocks
            if top <= row.number <= bottom
            for column in range(left, right + 1)
        )

    # Keys

    def is_walkable(self, row: int) -> bool:
        return bool(self.model().flags(self.model().index(row, 0)) & Qt.ItemFlag.ItemIsSelectable)

    def list_shown_columns(self) -> list[int]:
        """Return the numbers of the columns from left to right."""
        heads = self.horizontalHeader()
        order = (heads.logicalIndex(place) for place in range(heads.count()))
        return [number for number in order if not heads.isSectionHidden(number)]

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Move by cells, past headings; Home and End within the row, with Ctrl to the first or last row."""
        columns, end, current = self.list_shown_columns(), self.model().rowCount() - 1, self.currentIndex()
        row, last = current.row(), len(columns) - 1
        if not current.isValid():
            row = self._find_walkable(0, 1)
            return self.model().index(row, columns[0]) if row >= 0 and columns else QModelIndex()
        whole = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        place = columns.index(current.column()) if current.column() in columns else 0
        match action:
            case _Move.MoveUp:
                row = self._find_walkable(0, 1) if whole else self._find_walkable(row - 1, -1)
            case _Move.MoveDown:
                row = self._find_walkable(end, -1) if whole else self._find_walkable(row + 1, 1)
            case _Move.MoveLeft | _Move.MovePrevious:
                place = 0 if whole else place - 1
            case _Move.MoveRight | _Move.MoveNext:
                place = last if whole else place + 1
            case _Move.MoveHome:
                row, place = (self._find_walkable(0, 1) if whole else row), 0
            case _Move.MoveEnd:
                row, place = (self._find_walkable(end, -1) if whole else row), last
            case _Move.MovePageUp:
                row = self._find_page_up(row)
            case _Move.MovePageDown:
                row = self._find_page_down(row)
        return self.model().index(row, columns[min(max(place, 0), last)])

    def _find_walkable(self, row: int, step: int) -> int:
        """Return the nearest row that can be current, in a direction; else the current one."""
        while 0 <= row < self.model().rowCount():
            if self.is_walkable(row):
                return row
            row += step
        return self.currentIndex().row()

    def _find_page_up(self, row: int) -> int:
        labels = self.verticalHeader()
        level = labels.sectionViewportPosition(row) - self.measure_page_height() + labels.sectionSize(row)
        target = labels.visualIndexAt(level)
        if target >= 0 and labels.sectionViewportPosition(target) < level:
            target += 1
        return self._find_walkable(min(max(target, 0), max(row - 1, 0)), 1)

    def _find_page_down(self, row: int) -> int:
        labels, end = self.verticalHeader(), self.model().rowCount() - 1
        level = labels.sectionViewportPosition(row) + self.measure_page_height() - labels.sectionSize(row)
        target = labels.visualIndexAt(level)
        return self._find_walkable(max(end if target < 0 else target, min(row + 1, end)), -1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS and self.currentIndex().isValid():
            self.use_current()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Handle letters before shortcuts while a word is being typed."""
        if event.type() == QEvent.Type.ShortcutOverride and self._typed.active:
            text = cast("QKeyEvent", event).text()
            if text and text.isprintable():
                event.accept()
                return True
        return super().event(event)

    def keyboardSearch(self, search: str) -> None:
        rows = self.list_named_rows()
        current = self.currentIndex()
        place = next((place for place, (number, _) in enumerate(rows) if number == current.row()), -1)
        match = self._typed.find(search, [name for _, name in rows], place)
        if match is not None:
            self.setCurrentIndex(self.model().index(rows[match][0], max(0, current.column())))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() not in BY_KEYBOARD:
            return
        if self.currentIndex().isValid():
            self.choose_current()
        elif (row := self._find_walkable(0, 1)) >= 0:
            self.setCurrentIndex(self.model().index(row, 0))

    def focus_rect(self) -> QRect | None:
        return None

    # The mouse

    def hover(self, row: int) -> None:
        """Mark a row as hovered, -1 for none."""
        labels = self.verticalHeader()
        if isinstance(labels, PaintedHeader):
            labels.set_hovered(row)
        old, self.hovered_row = self.hovered_row, row
        for each in {old, row} if old != row else ():
            if 0 <= each < labels.count():
                top, height = labels.sectionViewportPosition(each), labels.sectionSize(each)
                self.viewport().update(0, top, self.viewport().width(), height)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hover(self.rowAt(int(event.position().y())))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hover(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the full content of a cell under the mouse as a sentence in a tooltip."""
        if event.type() == QEvent.Type.ToolTip:
            place = cast("QHelpEvent", event)
            index = self.indexAt(place.pos())
            QToolTip.showText(place.globalPos(), self.describe_cell(index) if index.isValid() else "", self)
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of a row: at the mouse, or at the current cell."""
        if not self.has_menu:
            super().contextMenuEvent(event)
            return
        by_keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        # Scroll areas pass on events of their viewport, with its coordinates.
        index = self.currentIndex() if by_keyboard else self.indexAt(event.pos())
        if index.isValid() and (self.has_heading_menu or self.is_walkable(index.row())):
            below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            self.menu_requested.emit(index.row(), index.column(), below if by_keyboard else event.globalPos())

    def offer_head_menus(self, header: PaintedHeader) -> None:
        """Let a right click on a header request a menu too."""
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(partial(self._request_head_menu, header))

    def _request_head_menu(self, header: PaintedHeader, place: QPoint) -> None:
        number, above = header.find_section_at(place), header is self.horizontalHeader()
        if number >= 0 and (above or self.is_walkable(number)):
            row, column = (-1, number) if above else (number, -1)
            self.menu_requested.emit(row, column, header.viewport().mapToGlobal(place))

    # Painting

    def find_visible_rows(self, area: QRect) -> list[VisibleSection]:
        return find_visible_sections(self.verticalHeader(), area.top(), area.bottom())

    def find_visible_columns(self, area: QRect) -> list[VisibleSection]:
        return find_visible_sections(self.horizontalHeader(), area.left(), area.right())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            self.paint(ThemePainter(painter, self._theme), event.rect())

    def paint(self, pen: ThemePainter, area: QRect) -> None:
        """Draw everything in an area in one pass, or the note of an empty table."""
        rows, columns = self.find_visible_rows(area), self.find_visible_columns(area)
        self._layer.clear()
        pen.painter.fillRect(area, self._theme.color("page"))
        for row in rows:
            self.paint_row(pen, row, columns, area)
        self._layer.draw(pen.painter)
        current = self.currentIndex()
        row_now = next((row for row in rows if row.number == current.row()), None)
        column_now = next((column for column in columns if column.number == current.column()), None)
        if row_now is not None and column_now is not None:
            self.paint_ring(pen, self.get_ring_box(row_now, column_now))
        if self.horizontalScrollBar().value() > 0 and isinstance(self.verticalHeader(), PaintedHeader):
            # The labels cover the content scrolled under them.
            pen.hairline(0, 0, 0, self.viewport().height(), "strong")
        if not self.model().rowCount() and self.empty_text:
            room = self.viewport().rect().toRectF()
            pen.text(room, self.empty_text, font="small", color="text3", align=CENTER)

    def paint_ring(self, pen: ThemePainter, box: QRectF) -> None:
        pen.painter.setPen(QPen(pen.color("focus"), 2))
        pen.painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = self._theme.length(self.ring_radius)
        pen.painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)
