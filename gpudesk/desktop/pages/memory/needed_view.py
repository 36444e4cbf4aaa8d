"""The table of accelerators needed: counts tinted by size, their plans below, and what cannot be, hatched."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpudesk.desktop.pages.memory.bar_painter import paint_ring
from gpudesk.desktop.pages.memory.needed import NeededCell, NeededGroup, NeededHead, NeededRow, count_text
from gpudesk.desktop.pages.memory.needed_model import NeededModel
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

_Index = QModelIndex | QPersistentModelIndex

#: Lengths of the design.
_HEAD: Final = 40.0
_ROW: Final = 42.0
_GROUP: Final = 34.0
_LABEL: Final = 118.0
_GAP: Final = 3.0
_LINE: Final = 15.0
_LEAST_COLUMN: Final = 76.0
_SWATCH: Final = 25.0

#: From this count on -> tint and colour of the words on it.
_TINTS: Final = ((8, "ink2", "text1"), (4, "ink3", "text1"), (2, "ink4", "text1"), (1, "best", "best_text"))


class NeededDelegate(QStyledItemDelegate):
    """Paints labels, titles and cells."""

    def __init__(self, theme: Theme, formatter: Formatter, view: NeededView) -> None:
        """Paint for a view."""
        super().__init__(view)
        self._theme = theme
        self._formatter = formatter
        self._view = view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one cell and the rule below it."""
        painter.save()
        try:
            pen = Pen(painter, self._theme)
            rect = QRectF(QRect(option.rect))
            model = self._view.model_of_needs
            line, cell = model.lines[index.row()], model.cell(index.row(), index.column())
            painter.fillRect(rect, pen.colour("page"))
            colour = "strong" if isinstance(line, NeededGroup) else "grid"
            pen.hairline(rect.left(), rect.bottom() - 1, rect.right(), rect.bottom() - 1, colour)
            if cell is not None:
                self._cell(pen, rect, cell)
                if self._view.shows_ring(index):
                    paint_ring(pen, self._box(rect).adjusted(0, -1, 1, 1))
            elif isinstance(line, NeededRow):
                font = "section" if line.present else "body"
                pen.text(rect, line.label, font=font)
            else:
                low = rect.adjusted(0, self._theme.length(8), 0, 0)
                pen.text(low, line.title, font="small_strong", colour="text1")
        finally:
            painter.restore()

    def _box(self, rect: QRectF) -> QRectF:
        gap = self._theme.length(_GAP)
        return rect.adjusted(gap, gap - 1, -gap, -gap)

    def _cell(self, pen: Pen, rect: QRectF, cell: NeededCell) -> None:
        box = self._box(rect)
        words, side = "text3", 4.0
        if cell.count is None:
            side += self._hatched(pen, box, pen.width(cell.below, "caption") + 8)
        else:
            tint, words = next((tint, words) for least, tint, words in _TINTS if cell.count >= least)
            pen.tint(box, tint)
        if cell.present:
            pen.frame(box, words, radius=5)
        line = self._theme.length(_LINE)
        top = box.center().y() - (line if cell.below else line / 2)
        upper = QRectF(box.left() + side, top, box.width() - 2 * side, line)
        text = count_text(cell, self._formatter)
        pen.text(upper, text, font="section", colour=words, align=CENTRE)
        pen.text(upper.translated(0, line - 1), cell.below, font="caption", colour=words, align=CENTRE)

    def _hatched(self, pen: Pen, box: QRectF, room: float) -> float:
        """Hatch both ends of a cell as far as words of this width leave room; return how wide each end is."""
        side = min(self._theme.length(16), max(3.0, (box.width() - room) / 2))
        for left in (box.left(), box.right() - side):
            pen.hatch(QRectF(left, box.top(), side, box.height()), "strong")
        return side


class _Heads(QHeaderView):
    """Names of the accelerators in their colours, and the memory of one."""

    def __init__(self, theme: Theme, view: NeededView) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._theme = theme
        self._view = view
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setHighlightSections(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all heads and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            line, top = self._theme.length(_LINE + 1), self._theme.length(5)
            swatches = self._has_room_for_swatches(pen)
            for column in range(1, self.count()):
                head = self._view.model_of_needs.head(column)
                left, width = self.sectionViewportPosition(column), self.sectionSize(column)
                if head is not None:
                    upper = QRectF(left + 4, top, width - 8, line)
                    self._name(pen, upper, head, swatch=swatches)
                    below = upper.translated(0, line)
                    pen.text(below, head.memory, font="caption", colour="text3", align=CENTRE)
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")
        finally:
            painter.end()

    def _has_room_for_swatches(self, pen: Pen) -> bool:
        """Whether all names have room for their swatches; else none has one."""
        heads = ((self._view.model_of_needs.head(column), column) for column in range(1, self.count()))
        swatch = self._theme.length(_SWATCH)
        return all(
            pen.width(head.name, "small_strong") + swatch + 8 <= self.sectionSize(column)
            for head, column in heads
            if head is not None
        )

    def _name(self, pen: Pen, place: QRectF, head: NeededHead, *, swatch: bool) -> None:
        colour = self._theme.slot_label(head.slot)
        if not swatch:
            pen.text(place, head.name, font="small_strong", colour=colour, align=CENTRE)
            return
        width, before = pen.width(head.name, "small_strong"), self._theme.length(_SWATCH)
        left = place.center().x() - (width + before) / 2
        pen.swatch(left, place.center().y(), head.slot, hollow=head.hollow)
        rest = QRectF(left + before, place.top(), width + 1, place.height())
        pen.text(rest, head.name, font="small_strong", colour=colour)


class NeededView(QTableView):
    """As high as its rows; arrow keys walk over the cells, Enter takes the deployment of one."""

    #: The cell that is current, or None.
    current = Signal(object)
    #: The user takes the deployment of a cell.
    taken = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, name: str, parent: QWidget | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._theme = theme
        self.model_of_needs = NeededModel(formatter, self)
        self.setModel(self.model_of_needs)
        self.setItemDelegate(NeededDelegate(theme, formatter, self))
        self.setHorizontalHeader(_Heads(theme, self))
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.model_of_needs.modelReset.connect(self._dress)
        self.model_of_needs.dataChanged.connect(self._tell)
        self.doubleClicked.connect(self._take)
        self.selectionModel().currentChanged.connect(self._tell)
        theme.follow(self._dress)

    def focus_rect(self) -> QRect | None:
        """Show the focus by itself, around the cell that is current."""
        return None if self.currentIndex().isValid() else self.rect()

    def shows_ring(self, index: _Index) -> bool:
        """Whether a cell is the one that is current."""
        return self.currentIndex() == index

    def current_cell(self) -> NeededCell | None:
        """Return the cell that is current."""
        index = self.currentIndex()
        return self.model_of_needs.cell(index.row(), index.column()) if index.isValid() else None

    # Measures

    def _dress(self) -> None:
        theme = self._theme
        self.clearSpans()
        for number, line in enumerate(self.model_of_needs.lines):
            title = isinstance(line, NeededGroup)
            self.setRowHeight(number, theme.px(_GROUP if title else _ROW))
            if title and self.model_of_needs.columnCount() > 1:
                self.setSpan(number, 0, 1, self.model_of_needs.columnCount())
        self.horizontalHeader().setFixedHeight(theme.px(_HEAD))
        self._divide()
        self.updateGeometry()
        self.viewport().update()

    def _divide(self) -> None:
        """Give all accelerators the same width."""
        count = self.model_of_needs.columnCount() - 1
        label = self._label_width()
        self.setColumnWidth(0, label)
        room = self.viewport().width() - label
        each = max(self._theme.px(_LEAST_COLUMN), room // count) if count > 0 else 0
        for column in range(1, count + 1):
            rest = room - each * (count - 1)
            self.setColumnWidth(column, max(each, rest) if column == count else each)

    def _label_width(self) -> int:
        metrics = QFontMetricsF(self._theme.font("section"))
        rows = (line.label for line in self.model_of_needs.lines if isinstance(line, NeededRow))
        widest = max((metrics.horizontalAdvance(label) for label in rows), default=0.0)
        return max(self._theme.px(_LABEL), round(widest) + self._theme.px(12))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the new width."""
        super().resizeEvent(event)
        self._divide()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of all rows."""
        rows = sum(self.rowHeight(number) for number in range(self.model_of_needs.rowCount()))
        columns = self.model_of_needs.columnCount() - 1
        width = self._theme.px(_LABEL) + columns * self._theme.px(_LEAST_COLUMN)
        return QSize(width, self.horizontalHeader().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Show all rows always."""
        return QSize(self._theme.px(_LABEL), self.sizeHint().height())

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Take the current deployment with Enter; the view itself walks."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._take()
        else:
            super().keyPressEvent(event)

    def moveCursor(  # noqa: N802 - Qt's name
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Walk over cells only: titles are passed over, labels never reached."""
        before = self.currentIndex()
        index = super().moveCursor(action, modifiers)
        if not before.isValid():
            return self._first()
        down = index.row() >= before.row()
        row, column = index.row(), max(1, index.column())
        while self.model_of_needs.cell(row, column) is None:
            row += 1 if down else -1
            if not 0 <= row < self.model_of_needs.rowCount():
                return before
        return self.model_of_needs.index(row, column)

    def _first(self) -> QModelIndex:
        model = self.model_of_needs
        cells = (row for row in range(model.rowCount()) if model.cell(row, 1) is not None)
        return model.index(next(cells, 0), 1)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Begin at the first cell."""
        super().focusInEvent(event)
        if self.current_cell() is None and event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        ):
            self.setCurrentIndex(self._first())

    def _tell(self) -> None:
        self.current.emit(self.current_cell())

    def _take(self) -> None:
        cell = self.current_cell()
        if cell is not None and cell.count is not None:
            self.taken.emit(cell)
