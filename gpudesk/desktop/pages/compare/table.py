"""The view of the comparison table with its frozen headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from gpudesk.desktop.pages.compare.cells import (
    LABEL_END,
    LABEL_MARGIN,
    WIDE,
    CellMargins,
    ComparisonCellPainter,
    ComparisonLayout,
    ComparisonPaintState,
    ComparisonWidths,
    lay_out_heading,
    locate_heading,
)
from gpudesk.desktop.pages.compare.comparison_model import ComparisonModel
from gpudesk.desktop.ui.tables.painted_table import (
    Index,
    PaintedHeader,
    PaintedTable,
    VisibleSection,
    find_visible_sections,
)
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, ThemePainter
from gpudesk.report.comparison.tables import ComparedHead, ComparedRow
from gpudesk.text.translation import tr

_SWATCH_GAP: Final = 5.0
_ARROW: Final = 12.0
#: Between the parts of the second line of a head.
_DOT: Final = " · "


class ComparisonColumnHeader(PaintedHeader):
    """Swatch and name of each accelerator, what it is, and which one is the baseline."""

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._texts = texts
        self._model = model
        self._height = 1
        self._margins: CellMargins | None = None
        self._label_width = 0
        self.setSectionsMovable(False)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setAccessibleName(tr("Accelerators"))

    def take(self, height: int, margins: CellMargins) -> None:
        self._height, self._margins = height, margins
        self.setFixedHeight(height)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            if self._margins is not None:
                for column in range(self._model.columnCount()):
                    self._head(pen, column, self._margins)
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")

    def _head(self, pen: ThemePainter, column: int, margins: CellMargins) -> None:
        theme, head = self._theme, self._model.head(column)
        start, size = self.sectionViewportPosition(column), self.sectionSize(column)
        left = start + theme.length(margins.left)
        right = start + size - theme.length(8)
        second = self._height - theme.px(8) - theme.line("caption")
        first = second - theme.line("option") - theme.px(1)
        level = first + theme.line("option") / 2
        x = left + pen.swatch(left, level, head.slot, is_variant=head.is_variant) + theme.length(_SWATCH_GAP)
        name = QRectF(x, first, max(1.0, right - x), theme.line("option"))
        end = x + pen.text(name, head.name, font="option", colour=theme.name_color(head.slot))
        detail = head.detail
        if self._model.is_baseline(column) and len(self._model.table.heads) > 1:
            word = tr("Baseline")
            tag = pen.tag_width(word)
            if end + theme.length(8) + tag <= right:
                pen.tag(right - tag, level, word)
            else:
                detail = f"{word}{_DOT}{detail}" if detail else word
        below = QRectF(left, second, max(1.0, right - left), theme.line("caption"))
        pen.text(below, self._shortened(detail, below.width()), font="caption", colour="text3")

    def _shortened(self, detail: str, room: float) -> str:
        """Leave out what stands before the last part, the count, until the rest has room."""
        parts = detail.split(_DOT)
        while len(parts) > 2 and self._texts.width("caption", _DOT.join(parts)) > room:
            del parts[-2]
        return _DOT.join(parts)

    def told(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - a head has one part
        return _describe_head(self._model.head(number), self._model.is_baseline(number))


def _describe_head(head: ComparedHead, baseline: bool) -> str:
    parts = [head.name, head.detail, tr("differences are against it") if baseline else ""]
    return ", ".join(part for part in parts if part)


class ComparisonRowHeader(PaintedHeader):
    """Label and unit of each row; the arrow at the right orders the columns by the row."""

    #: The number of the row whose arrow was clicked.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme = theme
        self._texts = texts
        self._model = model
        self._width = 1
        self._units_below = False
        self.setHighlightSections(False)
        self.setSectionsClickable(True)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setAccessibleName(tr("Rows"))

    def set_header_width(self, width: int) -> None:
        """Take the width of the labels; where high rows have no room for their units beside, all go below."""
        self._width = width
        self._units_below = any(
            self._needed(line.row) > width
            for line in self._model.lines
            if line.row is not None and line.has_second_line
        )
        self.setFixedWidth(width)
        self.viewport().update()

    def _needed(self, row: ComparedRow) -> float:
        """Return the width that a label takes with its unit beside it."""
        texts = self._texts.width("body", row.label) + self._texts.width("caption", row.unit or "")
        return texts + self._theme.length(LABEL_MARGIN + 8 + LABEL_END)

    def sizeHint(self) -> QSize:
        return QSize(self._width, super().sizeHint().height())

    def places(self, top: int, bottom: int) -> list[VisibleSection]:
        return find_visible_sections(self, top, bottom)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            width = self.viewport().width()
            lines = self._model.lines
            for place in self.places(event.rect().top(), event.rect().bottom()):
                bottom = place.start + place.size - 1
                row = lines[place.number].row
                if row is None:
                    pen.hairline(0, bottom, width, bottom, "strong")
                    for x, token, colour, text in lay_out_heading(lines[place.number], self._theme, self._texts):
                        self._text(painter, token, colour, text, x, locate_heading(place, self._theme))
                    continue
                if place.number == self.hovered_section:
                    painter.fillRect(0, place.start, width, place.size, self._theme.colour("hover"))
                self._label(pen, row, place, width)
                pen.hairline(0, bottom, width, bottom, "grid")

    def _label(self, pen: ThemePainter, row: ComparedRow, place: VisibleSection, width: int) -> None:
        theme, painter = self._theme, pen.painter
        middle = place.start + place.size / 2
        right = width - theme.length(LABEL_END)
        arrow = self._arrow(row.key, place.number)
        if arrow:
            # In the margin, so that nothing moves when it comes and goes.
            side = theme.length(_ARROW)
            active = arrow != "arrow-up-down"
            pen.icon(arrow, width - side - 1, middle - side / 2, side, "text1" if active else "text3")
        left = theme.length(LABEL_MARGIN)
        if row.unit:
            unit = self._texts.width("caption", row.unit)
            if row.has_second_line and self._units_below:
                # A high row has room for the unit below its label.
                step = theme.length(7.5)
                self._text(painter, "caption", "text3", row.unit, left, middle + step)
                middle -= step
            else:
                self._text(painter, "caption", "text3", row.unit, right - unit, middle)
                right -= unit + theme.length(8)
        self._text(painter, "body", "text1", row.label, left, middle, max(1.0, right - left))

    def _text(
        self, painter: QPainter, token: str, colour: str, text: str, x: float, middle: float, most: float = 0
    ) -> None:
        laid = self._texts.laid_out(token, text, most)
        painter.setFont(self._texts.font(token))
        painter.setPen(self._theme.colour(colour))
        painter.drawStaticText(round(x), round(middle - laid.rise), laid.text)

    def _arrow(self, key: str, number: int) -> str:
        """Return the icon of a row's arrow: the direction where columns are ordered by it."""
        sorting = self._model.arrangement.sorting
        if sorting is not None and sorting.row == key:
            return "arrow-down" if sorting.descending else "arrow-up"
        orderable = number == self.hovered_section and self._model.columnCount() > 1
        return "arrow-up-down" if orderable else ""

    def set_hovered(self, row: int) -> None:
        if row != self.hovered_section:
            old, self.hovered_section = self.hovered_section, row
            for each in (old, row):
                if 0 <= each < self.count():
                    self.viewport().update(0, self.sectionViewportPosition(each), self.width(), self.sectionSize(each))

    def is_arrow(self, place: QPoint) -> bool:
        return place.x() >= self.viewport().width() - self._theme.length(_ARROW + 4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.logicalIndexAt(event.position().toPoint())
        on_row = 0 <= row < len(self._model.lines) and self._model.lines[row].row is not None
        if on_row and event.button() == Qt.MouseButton.LeftButton:
            if self.is_arrow(event.position().toPoint()):
                self.sort_requested.emit(row)
                return
            self.sectionPressed.emit(row)
            return
        super().mousePressEvent(event)

    def told(self, number: int, place: QPoint) -> str:
        """Return the whole label and the unit in words, or what the arrow does."""
        if self._model.lines[number].row is not None and self.is_arrow(place):
            return tr("Order the columns by this row")
        return super().told(number, place)


_Move = QAbstractItemView.CursorAction


class ComparisonTableView(PaintedTable):
    """Shows a `ComparisonModel`. Everything that carries a figure is painted by `CellPainter` in one go."""

    #: Row key and column key of the cell that became current.
    cell_chosen = Signal(str, str)
    #: The user asks for a menu: row or -1, column or -1, and where on the screen.
    menu_requested = Signal(int, int, QPoint)
    sort_requested = Signal(int)
    copy_requested = Signal()

    def __init__(self, theme: Theme, model: ComparisonModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._texts = TextCache(theme)
        self._measures = ComparisonLayout(theme, self._texts)
        self._painter = ComparisonCellPainter(theme, self._texts)
        self._table = model
        self._widths = ComparisonWidths(1, 1, WIDE)
        self._kept: tuple[str, str] | None = None
        self._kept_scroll = (0, 0)
        self._restoring = False
        #: What stands in place of the rows where none is shown.
        self.empty_text = ""
        self._heads = ComparisonColumnHeader(theme, self._texts, model, self)
        self._labels = ComparisonRowHeader(theme, self._texts, model, self)
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
        model.modelAboutToBeReset.connect(self._store_position)
        model.modelReset.connect(self._restore_position)
        model.dataChanged.connect(self._update_row_heights)

    # Places

    @property
    def label_width(self) -> int:
        return self._widths.label

    def measure(self) -> None:
        model = self._table
        self._heads.take(self._measures.head_height(), self._widths.margins)
        for row, line in enumerate(model.lines):
            self._set_height(row, self._measures.height(line))
        self._fit_columns()

    def _fit_columns(self) -> None:
        model = self._table
        room = self.viewport().width() + self._labels.width()
        heads = [model.head(column) for column in range(model.columnCount())]
        rows = [line.row for line in model.lines if line.row is not None]
        self._widths = self._measures.widths(room, heads, rows)
        self._labels.set_header_width(self._widths.label)
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

    def _update_row_heights(self, first: Index, last: Index) -> None:
        for row in range(first.row(), last.row() + 1):
            self._set_height(row, self._measures.height(self._table.lines[row]))

    def resizeEvent(self, event: QResizeEvent) -> None:
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
        self._kept = self.current_keys()
        self._kept_scroll = (self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _restore_position(self) -> None:
        self._labels.hovered_section = -1
        self.measure()
        follows = self.hasAutoScroll()
        self.setAutoScroll(False)
        if self._kept is not None:
            self.show_current(self._table.index_of(*self._kept))
        self.setAutoScroll(follows)
        self.horizontalScrollBar().setValue(self._kept_scroll[0])
        self.verticalScrollBar().setValue(self._kept_scroll[1])

    def currentChanged(self, current: Index, previous: Index) -> None:
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

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
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
        room = self.viewport().height() - self._labels.sectionSize(rows[place])
        start = self._labels.sectionPosition(rows[place])
        step = 1 if down else -1
        while 0 <= place + step < len(rows):
            if abs(self._labels.sectionPosition(rows[place + step]) - start) > room:
                break
            place += step
        return place

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (key == Qt.Key.Key_Space and not self._typed.active):
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
        return [(number, line.row.label) for number, line in enumerate(self._table.lines) if line.row]

    # The mouse

    def hover(self, row: int) -> None:
        old = self._labels.hovered_section
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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
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
        self._painter.paint(painter, self._shown(area))
        pen = ThemePainter(painter, self._theme)
        if self.horizontalScrollBar().value() > 0:
            # The labels lie above what is scrolled under them.
            pen.hairline(0, 0, 0, self.viewport().height(), "strong")
        if not self._table.lines and self.empty_text:
            room = self.viewport().rect().toRectF()
            pen.text(room, self.empty_text, font="small", colour="text3", align=CENTRE)

    def _shown(self, area: QRect) -> ComparisonPaintState:
        current = self.currentIndex()
        chosen = self.selectedIndexes()
        several = frozenset((each.row(), each.column()) for each in chosen) if len(chosen) > 1 else frozenset()
        columns = [
            VisibleSection(column, self._heads.sectionViewportPosition(column), self._heads.sectionSize(column))
            for column in range(self._table.columnCount())
        ]
        return ComparisonPaintState(
            area=area,
            lines=self._table.lines,
            positions=self._table.positions,
            rows=self._labels.places(area.top(), area.bottom()),
            columns=[
                place for place in columns if place.start + place.size > area.left() and place.start <= area.right()
            ],
            margins=self._widths.margins,
            label_width=self._widths.label,
            hovered=self._labels.hovered_section,
            current=(current.row(), current.column()) if current.isValid() else None,
            chosen=several,
        )
