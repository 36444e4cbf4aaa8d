"""The table of fired rules, with editable weights and a header that stays in sight."""

from __future__ import annotations

from typing import Final, cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpudesk.desktop.pages.decide.trace_cells import (
    END,
    PAD,
    RuleTraceLayout,
    RuleTracePainter,
    RuleTracePaintState,
    RuleTraceWidths,
)
from gpudesk.desktop.pages.decide.trace_model import (
    FIRST,
    RULE,
    WEIGHT,
    TraceFold,
    TraceGroup,
    TraceModel,
    make_line_key,
)
from gpudesk.desktop.ui.tables.painted_table import (
    Index,
    PaintedHeader,
    PaintedTable,
    VisibleSection,
    find_visible_sections,
)
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat
from gpudesk.domain.decision import WEIGHT_BOUNDS
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

_HEAD_PAD: Final = 9.0
_SWATCH_GAP: Final = 5.0


class RuleTraceHeader(PaintedHeader):
    """Names of accelerators over their cells, and that of the weights."""

    def __init__(self, theme: Theme, model: TraceModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._model = model
        self.setSectionsMovable(False)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            swatches = self._has_room_for_swatches(pen)
            for column in range(self.count()):
                self._head(pen, column, swatch=swatches)
            bottom = self.height() - 1
            pad = self._theme.px(PAD)
            pen.hairline(pad, bottom, self.viewport().width() - pad, bottom, "strong")

    def _has_room_for_swatches(self, pen: ThemePainter) -> bool:
        """Whether all names have room behind their swatches; else none has one."""
        before = self._theme.length(_HEAD_PAD + SWATCH_WIDTH + _SWATCH_GAP) + 2
        return all(
            before + pen.width(head.name, "label") <= self.sectionSize(FIRST + place)
            for place, head in enumerate(self._model.table.heads)
        )

    def _head(self, pen: ThemePainter, column: int, *, swatch: bool) -> None:
        length, height = self._theme.length, self.height() - 1
        left, size = self.sectionViewportPosition(column), self.sectionSize(column)
        head = self._model.head(column)
        if head is None:
            if column == WEIGHT:
                place = QRectF(left, 0, size - length(END), height)
                pen.text(place, tr("Weight"), font="caption_strong", colour="text3", align=RIGHT)
            return
        x = left + length(_HEAD_PAD)
        if swatch:
            x += pen.swatch(x, height / 2, head.slot, is_variant=head.is_variant) + length(_SWATCH_GAP)
        place = QRectF(x, 0, max(1.0, left + size - 2 - x), height)
        pen.text(place, head.name, font="label", colour=self._theme.name_color(head.slot))


_Index = QModelIndex | QPersistentModelIndex
_DECIMALS: Final = 2
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WeightDelegate(QStyledItemDelegate):
    """Makes a number field of the bounds of weights; what cannot be one stays to be mended."""

    def __init__(self, theme: Theme, formatter: Formatter, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._format = NumberFormat(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high, _DECIMALS, formatter.style)

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: _Index,
    ) -> QWidget:
        rule = index.sibling(index.row(), 0).data()
        edit = NumberEdit(self._theme, tr("Weight of {rule}, 0 to 100", rule=rule), self._format, parent)
        edit.setFrame(False)
        edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        return edit

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        if isinstance(editor, NumberEdit):
            editor.set_value(float(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: _Index) -> None:
        if isinstance(editor, NumberEdit):
            editor.commit()
            if not editor.fault:
                model.setData(index, editor.value)

    def updateEditorGeometry(
        self,
        editor: QWidget,
        option: QStyleOptionViewItem,
        index: _Index,  # noqa: ARG002 - Qt's signature
    ) -> None:
        editor.setGeometry(option.rect.adjusted(0, 0, -4, -1))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Keep a field open whose number has to be mended; the arrow keys take round weights."""
        if isinstance(editor, NumberEdit) and isinstance(event, QKeyEvent):
            pressed = event.type() == QEvent.Type.KeyPress
            if pressed and event.key() in _ENTER:
                editor.commit()
                if editor.fault:
                    return True
        return super().eventFilter(editor, event)


_Move = QAbstractItemView.CursorAction
_Trigger = QAbstractItemView.EditTrigger

_HEAD: Final = 34.0
_BY_KEY: Final = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class RuleTraceTableView(PaintedTable):
    """Arrows walk over cells, Enter opens the fold, F2 or a double click edits a weight, Del resets it."""

    #: Key of the line and key of the column (empty before the accelerators) that became current.
    cell_chosen = Signal(str, str)
    #: The key of a row whose usual weight is wanted.
    reset_requested = Signal(str)
    #: The user asks for a menu: key of the line, where on the screen.
    menu_requested = Signal(str, QPoint)

    def __init__(self, theme: Theme, model: TraceModel, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = model
        self._hovered = -1
        self._restoring = False
        self._kept: tuple[str, int] | None = None
        self._outer: QScrollArea | None = None
        self._texts = TextCache(theme)
        self._measures = RuleTraceLayout(theme, self._texts)
        self._widths = RuleTraceWidths(1, 1, 1, 1, tall=False)
        self._painter = RuleTracePainter(theme, self._texts, formatter)
        self.heads = RuleTraceHeader(theme, model, self)
        self.setHorizontalHeader(self.heads)
        self.set_up(model)
        self.setItemDelegate(WeightDelegate(theme, formatter, self))
        self.setEditTriggers(_Trigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        labels = self.verticalHeader()
        labels.hide()
        labels.setMinimumSectionSize(1)
        labels.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setAccessibleName(tr("Trace of the decision"))
        model.modelAboutToBeReset.connect(self._store_position)
        model.modelReset.connect(self._restore_position)
        model.dataChanged.connect(self.measure)
        self.doubleClicked.connect(self._double_clicked)
        self.clicked.connect(self._clicked)
        theme.follow(self.measure)

    # Places

    def measure(self) -> None:
        self.heads.setFixedHeight(self._theme.px(_HEAD))
        self._fit_columns()
        self._fit_rows()
        self.heads.viewport().update()

    def _fit_rows(self) -> None:
        for number, line in enumerate(self._table.lines):
            height = self._measures.height(line, tall=self._widths.tall)
            if self.rowHeight(number) != height:
                self.setRowHeight(number, height)
        if self.height() != self._whole_height():
            self.setFixedHeight(self._whole_height())
        self.viewport().update()

    def _whole_height(self) -> int:
        return self._theme.px(_HEAD) + sum(self.rowHeight(n) for n in range(len(self._table.lines))) + 2

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(600), self._whole_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(320), self._whole_height())

    def _fit_columns(self) -> None:
        table = self._table.table
        shared = self._measures.widths(self.viewport().width(), len(table.heads), table.rows)
        self._widths = shared
        for column in range(self._table.columnCount()):
            if self.heads.sectionSize(column) != shared.of(column):
                self.heads.resizeSection(column, shared.of(column))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()
            self._fit_rows()

    # Heads that stay in sight

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        outer = self.parentWidget()
        while outer is not None and not isinstance(outer, QScrollArea):
            outer = outer.parentWidget()
        if outer is not self._outer:
            self._outer = outer
            if outer is not None:
                outer.verticalScrollBar().valueChanged.connect(self.stick)
        self.stick()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self.stick()

    def stick(self) -> None:
        """Put the heads at the upper edge of what is in sight, over the lines that are not."""
        outer = getattr(self, "_outer", None)
        if outer is None:
            return
        above = -self.mapTo(outer.viewport(), QPoint(0, 0)).y()
        low = self.height() - self.heads.height() - self._measures.row
        self.heads.move(self.heads.x(), min(max(0, above), max(0, low)))
        self.heads.raise_()

    def _bring_into_sight(self, index: Index) -> None:
        if self._outer is None or not self.hasFocus():
            return
        holder = self._outer.widget() or self
        place = self.visualRect(index)
        top = self.viewport().mapTo(holder, place.topLeft()).y()
        bar, high = self._outer.verticalScrollBar(), self._outer.viewport().height()
        least = top + place.height() + self._theme.px(4) - high
        most = top - self.heads.height() - self._theme.px(4)
        bar.setValue(min(max(bar.value(), least), most))

    # The current cell

    def current_keys(self) -> tuple[str, str] | None:
        """Return the key of the current line, and that of its column, empty before the accelerators."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        head = self._table.head(index.column())
        return make_line_key(self._table.lines[index.row()]), "" if head is None else head.key

    def show_rule(self, rule: str, column: str) -> None:
        """Make the cell of a rule current without saying so; none where the rule is not shown."""
        row = self._table.row_of_rule(rule) if rule else -1
        keys = [head.key for head in self._table.table.heads]
        place = FIRST + keys.index(column) if column in keys else RULE
        held = self.currentIndex()
        if not column and held.row() == row and held.column() < FIRST:
            # Answer and weight are of the rule as a whole.
            place = max(held.column(), RULE)
        self._make_current(self._table.index(row, place) if row >= 0 else QModelIndex())

    def _make_current(self, index: QModelIndex) -> None:
        if index == self.currentIndex():
            return
        self._restoring = True
        try:
            if index.isValid():
                self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            else:
                self.selectionModel().clear()
        finally:
            self._restoring = False
        self.viewport().update()

    def _store_position(self) -> None:
        index = self.currentIndex()
        self._kept = (make_line_key(self._table.lines[index.row()]), index.column()) if index.isValid() else None

    def _restore_position(self) -> None:
        self._hovered = -1
        self.measure()
        if self._kept is not None:
            row = self._table.row_of(self._kept[0])
            column = min(self._kept[1], self._table.columnCount() - 1)
            if row >= 0:
                self._make_current(self._table.index(row, column))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid():
            self._bring_into_sight(current)
        keys = self.current_keys()
        if keys is not None and not self._restoring and keys[0] != "fold":
            self.cell_chosen.emit(*keys)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in _BY_KEY:
            index = self.currentIndex()
            if index.isValid():
                self._bring_into_sight(index)
            elif self._stops():
                self.setCurrentIndex(self._table.index(self._stops()[0], RULE))

    # Keys

    def _stops(self) -> list[int]:
        return [n for n, line in enumerate(self._table.lines) if not isinstance(line, TraceGroup)]

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Move by cells, past titles; Home and End within the row, with Ctrl to the first or last row."""
        stops, last = self._stops(), self._table.columnCount() - 1
        if not stops:
            return QModelIndex()
        current = self.currentIndex()
        if not current.isValid():
            return self._table.index(stops[0], RULE)
        place = stops.index(current.row()) if current.row() in stops else 0
        column = current.column()
        whole = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        page = max(1, self._page_height() // self._measures.row - 2)
        match action:
            case _Move.MoveUp:
                place = 0 if whole else place - 1
            case _Move.MoveDown:
                place = len(stops) - 1 if whole else place + 1
            case _Move.MoveLeft | _Move.MovePrevious:
                column = RULE if whole else column - 1
            case _Move.MoveRight | _Move.MoveNext:
                column = last if whole else column + 1
            case _Move.MoveHome:
                place, column = (0 if whole else place), RULE
            case _Move.MoveEnd:
                place, column = (len(stops) - 1 if whole else place), last
            case _Move.MovePageUp | _Move.MovePageDown:
                place += page if action == _Move.MovePageDown else -page
        row = stops[min(max(place, 0), len(stops) - 1)]
        # Lines without cells have their first column only, but keep the column for the next line.
        return self._table.index(row, min(max(column, RULE), last))

    def _page_height(self) -> int:
        return self.height() if self._outer is None else self._outer.viewport().height()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the fold, edit or reset a weight, select anew; the rest moves or searches."""
        key, index = event.key(), self.currentIndex()
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (key == Qt.Key.Key_Space and not self._typed.active)
        if not index.isValid():
            super().keyPressEvent(event)
        elif enter and isinstance(self._table.lines[index.row()], TraceFold):
            self._table.set_opened(not self._table.opened)
        elif key == Qt.Key.Key_F2 or (enter and index.column() == WEIGHT):
            self.edit_weight(index.row())
        elif key == Qt.Key.Key_Delete:
            traced = self._table.row_at(index.row())
            if traced is not None and traced.changed:
                self.reset_requested.emit(traced.key)
        elif enter:
            keys = self.current_keys()
            if keys is not None:
                self.cell_chosen.emit(*keys)
        else:
            super().keyPressEvent(event)

    def edit_weight(self, row: int) -> None:
        """Open the field of a row's weight, where it has one and none is open."""
        open_already = self.state() == QAbstractItemView.State.EditingState
        if not open_already and self._table.can_be_weighed(row):
            index = self._table.index(row, WEIGHT)
            self.setCurrentIndex(index)
            self.edit(index)

    def event(self, event: QEvent) -> bool:
        """Keep letters from being shortcuts while a word is being typed."""
        if event.type() == QEvent.Type.ShortcutOverride and self._typed.active:
            text = cast("QKeyEvent", event).text()
            if text.isprintable() and text:
                event.accept()
                return True
        return super().event(event)

    def named_rows(self) -> list[tuple[int, str]]:
        return [
            (number, line.title) for number, line in enumerate(self._table.lines) if not isinstance(line, TraceGroup)
        ]

    # The mouse

    def _clicked(self, index: QModelIndex) -> None:
        if isinstance(self._table.lines[index.row()], TraceFold):
            self._table.set_opened(not self._table.opened)
            return
        # The cell may be current already while something else is selected.
        keys = self.current_keys()
        if keys is not None:
            self.cell_chosen.emit(*keys)

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() == WEIGHT:
            self.edit_weight(index.row())

    def hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def sentence_at(self, index: QModelIndex) -> str:
        return self._table.sentence(index.row(), index.column())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of a line: at the mouse, or at the current cell."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        else:
            index, place = self.indexAt(event.pos()), event.globalPos()
        if index.isValid():
            self.menu_requested.emit(make_line_key(self._table.lines[index.row()]), place)

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        current = self.currentIndex()
        self._painter.paint(
            painter,
            RuleTracePaintState(
                area=area,
                lines=self._table.lines,
                rows=find_visible_sections(self.verticalHeader(), area.top(), area.bottom()),
                columns=[
                    VisibleSection(column, self.heads.sectionViewportPosition(column), self.heads.sectionSize(column))
                    for column in range(self._table.columnCount())
                ],
                hovered=self._hovered,
                current=(current.row(), current.column()) if current.isValid() else None,
                tall=self._widths.tall,
            ),
        )
