"""The table of accelerators needed, and the offer to take one of its deployments."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPainterStateGuard,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.pages.memory.needed_model import (
    NeededCell,
    NeededGroup,
    NeededHead,
    NeededModel,
    NeededRow,
    NeededTable,
    format_needed_count,
    make_needed_table,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_deployment
from gpudesk.desktop.ui.charts.chart_data import ChartData, find_menu_position, make_chart_menu
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, ThemePainter, paint_ring
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import make_row
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

_Index = QModelIndex | QPersistentModelIndex

#: Lengths of the design.
_HEAD_HEIGHT: Final = 40.0
_ROW_HEIGHT: Final = 42.0
_GROUP: Final = 34.0
_LABEL_WIDTH: Final = 118.0
_GAP: Final = 3.0
_LINE: Final = 15.0
_LEAST_COLUMN: Final = 76.0
_SWATCH: Final = 25.0

#: From this count on -> tint and colour of the words on it.
_TINTS: Final = ((8, "ink2", "text1"), (4, "ink3", "text1"), (2, "ink4", "text1"), (1, "best", "best_text"))


class NeededDelegate(QStyledItemDelegate):
    """Paints labels, titles and cells."""

    def __init__(self, theme: Theme, formatter: Formatter, view: NeededMatrixView) -> None:
        super().__init__(view)
        self._theme = theme
        self._formatter = formatter
        self._view = view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        with QPainterStateGuard(painter):
            pen = ThemePainter(painter, self._theme)
            rect = QRectF(QRect(option.rect))
            model = self._view.needs_item_model
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

    def _box(self, rect: QRectF) -> QRectF:
        gap = self._theme.length(_GAP)
        return rect.adjusted(gap, gap - 1, -gap, -gap)

    def _cell(self, pen: ThemePainter, rect: QRectF, cell: NeededCell) -> None:
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
        text = format_needed_count(cell, self._formatter)
        pen.text(upper, text, font="section", colour=words, align=CENTRE)
        pen.text(upper.translated(0, line - 1), cell.below, font="caption", colour=words, align=CENTRE)

    def _hatched(self, pen: ThemePainter, box: QRectF, room: float) -> float:
        """Hatch both ends of a cell as far as words of this width leave room; return how wide each end is."""
        side = min(self._theme.length(16), max(3.0, (box.width() - room) / 2))
        for left in (box.left(), box.right() - side):
            pen.hatch(QRectF(left, box.top(), side, box.height()), "strong")
        return side


class _NeededHeader(QHeaderView):
    """Names of the accelerators in their colours, and the memory of one."""

    def __init__(self, theme: Theme, view: NeededMatrixView) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._theme = theme
        self._view = view
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setHighlightSections(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            line, top = self._theme.length(_LINE + 1), self._theme.length(5)
            swatches = self._has_room_for_swatches(pen)
            for column in range(1, self.count()):
                head = self._view.needs_item_model.head(column)
                left, width = self.sectionViewportPosition(column), self.sectionSize(column)
                if head is not None:
                    upper = QRectF(left + 4, top, width - 8, line)
                    self._name(pen, upper, head, swatch=swatches)
                    below = upper.translated(0, line)
                    pen.text(below, head.memory, font="caption", colour="text3", align=CENTRE)
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")

    def _has_room_for_swatches(self, pen: ThemePainter) -> bool:
        """Whether all names have room for their swatches; else none has one."""
        heads = ((self._view.needs_item_model.head(column), column) for column in range(1, self.count()))
        swatch = self._theme.length(_SWATCH)
        return all(
            pen.width(head.name, "small_strong") + swatch + 8 <= self.sectionSize(column)
            for head, column in heads
            if head is not None
        )

    def _name(self, pen: ThemePainter, place: QRectF, head: NeededHead, *, swatch: bool) -> None:
        colour = self._theme.name_color(head.slot)
        if not swatch:
            pen.text(place, head.name, font="small_strong", colour=colour, align=CENTRE)
            return
        width, before = pen.width(head.name, "small_strong"), self._theme.length(_SWATCH)
        left = place.center().x() - (width + before) / 2
        pen.swatch(left, place.center().y(), head.slot, is_variant=head.is_variant)
        rest = QRectF(left + before, place.top(), width + 1, place.height())
        pen.text(rest, head.name, font="small_strong", colour=colour)


class NeededMatrixView(QTableView):
    """As high as its rows; arrow keys walk over the cells, Enter takes the deployment of one."""

    #: The cell that is current, or None.
    current = Signal(object)
    #: The user takes the deployment of a cell.
    taken = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.needs_item_model = NeededModel(formatter, self)
        self.setModel(self.needs_item_model)
        self.setItemDelegate(NeededDelegate(theme, formatter, self))
        self.setHorizontalHeader(_NeededHeader(theme, self))
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
        self.needs_item_model.modelReset.connect(self._dress)
        self.needs_item_model.dataChanged.connect(self._tell)
        self.doubleClicked.connect(self._take)
        self.selectionModel().currentChanged.connect(self._tell)
        theme.follow(self._dress)

    def focus_rect(self) -> QRect | None:
        return None if self.currentIndex().isValid() else self.rect()

    def shows_ring(self, index: _Index) -> bool:
        return self.currentIndex() == index

    def current_cell(self) -> NeededCell | None:
        index = self.currentIndex()
        return self.needs_item_model.cell(index.row(), index.column()) if index.isValid() else None

    # Measures

    def _dress(self) -> None:
        theme = self._theme
        self.clearSpans()
        for number, line in enumerate(self.needs_item_model.lines):
            title = isinstance(line, NeededGroup)
            self.setRowHeight(number, theme.px(_GROUP if title else _ROW_HEIGHT))
            if title and self.needs_item_model.columnCount() > 1:
                self.setSpan(number, 0, 1, self.needs_item_model.columnCount())
        self.horizontalHeader().setFixedHeight(theme.px(_HEAD_HEIGHT))
        self._divide()
        self.updateGeometry()
        self.viewport().update()

    def _divide(self) -> None:
        count = self.needs_item_model.columnCount() - 1
        label = self._label_width()
        self.setColumnWidth(0, label)
        room = self.viewport().width() - label
        each = max(self._theme.px(_LEAST_COLUMN), room // count) if count > 0 else 0
        for column in range(1, count + 1):
            rest = room - each * (count - 1)
            self.setColumnWidth(column, max(each, rest) if column == count else each)

    def _label_width(self) -> int:
        metrics = QFontMetricsF(self._theme.font("section"))
        rows = (line.label for line in self.needs_item_model.lines if isinstance(line, NeededRow))
        widest = max((metrics.horizontalAdvance(label) for label in rows), default=0.0)
        return max(self._theme.px(_LABEL_WIDTH), round(widest) + self._theme.px(12))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._divide()

    def sizeHint(self) -> QSize:
        rows = sum(self.rowHeight(number) for number in range(self.needs_item_model.rowCount()))
        columns = self.needs_item_model.columnCount() - 1
        width = self._theme.px(_LABEL_WIDTH) + columns * self._theme.px(_LEAST_COLUMN)
        return QSize(width, self.horizontalHeader().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(_LABEL_WIDTH), self.sizeHint().height())

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._take()
        else:
            super().keyPressEvent(event)

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        before = self.currentIndex()
        index = super().moveCursor(action, modifiers)
        if not before.isValid():
            return self._first()
        down = index.row() >= before.row()
        row, column = index.row(), max(1, index.column())
        while self.needs_item_model.cell(row, column) is None:
            row += 1 if down else -1
            if not 0 <= row < self.needs_item_model.rowCount():
                return before
        return self.needs_item_model.index(row, column)

    def _first(self) -> QModelIndex:
        model = self.needs_item_model
        cells = (row for row in range(model.rowCount()) if model.cell(row, 1) is not None)
        return model.index(next(cells, 0), 1)

    def focusInEvent(self, event: QFocusEvent) -> None:
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


class NeededBlock(QWidget):
    """`brief` shows the first group only: what the load takes, or one request where it says no number."""

    #: The scenario was given the deployment of a cell.
    taken = Signal()

    def __init__(self, desk: Desk, theme: Theme, *, brief: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.formatter = desk.formatter
        self.theme = theme
        self._brief = brief
        self._table = NeededTable()
        self._subtitle = ThemedLabel(theme, font="small", colour="text3", parent=self)
        self._subtitle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.remark = ThemedLabel(theme, font="small", colour="text2", parent=self)
        self.offer = LinkButton(theme, "", parent=self)
        self.offer.hide()
        self.offer.clicked.connect(self._take_current)
        self.view = NeededMatrixView(theme, desk.formatter, self.title, self)
        self.view.current.connect(self._offer_cell)
        self.view.taken.connect(self._take)
        head = make_row(
            ThemedLabel(theme, self.title, font="section", parent=self), (self._subtitle, 1), self.remark, self.offer
        )
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(head)
        layout.addWidget(self.view)
        self._head = head
        theme.follow(self._dress)

    @property
    def title(self) -> str:
        return tr("Accelerators needed")

    def refresh(self) -> None:
        self._table = make_needed_table(self._desk, brief=self._brief)
        answer = self._desk.answer
        model = "" if answer is None else answer.model.name
        words = tr("smallest count that holds {model}; outlined: the scenario's own", model=model)
        if words != self._subtitle.text():
            self._subtitle.setText(words)
        self.view.needs_item_model.show(self._table)

    def data(self, formatter: Formatter) -> ChartData:
        heads = (tr("Held"), tr("Weights"), *(head.name for head in self._table.heads))
        rows = [
            (group.title, row.label, *(_format_plan(cell, formatter) for cell in row.cells))
            for group in self._table.groups
            for row in group.rows
        ]
        return ChartData(title=self.title, heads=heads, rows=tuple(rows), first_number=2)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))

    def _offer_cell(self, cell: NeededCell | None) -> None:
        action = "" if cell is None or cell.present else cell.action
        if action != self.offer.text():
            self.offer.setText(action)
            self.offer.setAccessibleName(action)
            self.offer.setVisible(bool(action))
        remark = _format_cell_remark(cell)
        if remark != self.remark.text():
            self.remark.setText(remark)

    def _take_current(self) -> None:
        self._take(self.view.current_cell())

    def _take(self, cell: NeededCell | None) -> None:
        if cell is None or cell.count is None:
            return
        scenario = replace_deployment(self._desk.scenario, cell.position, cell.weights, cell.count, cell.vendor)
        self._desk.apply(scenario, cell.action)
        self.taken.emit()

    def _dress(self) -> None:
        self._head.setSpacing(self.theme.px(10))
        self._column.setSpacing(self.theme.px(4))


def _format_cell_remark(cell: NeededCell | None) -> str:
    """Return what is to be said of a cell that offers nothing."""
    if cell is None:
        return ""
    return tr("The scenario's own") if cell.present else cell.reason


def _format_plan(cell: NeededCell, formatter: Formatter) -> str:
    count = format_needed_count(cell, formatter)
    return f"{count} ({cell.below})" if cell.count is not None and cell.below else count
