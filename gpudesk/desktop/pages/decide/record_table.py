"""A table of multi-line records, as high as its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QPainter, QPainterStateGuard, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from gpudesk.desktop.pages.decide.parts import ColumnStyle
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.ui.tables.text_table import style_as_list
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, ThemePainter, break_words

_Index = QModelIndex | QPersistentModelIndex

_HEAD: Final = 26.0
_ABOVE: Final = 6.0
_SIDE: Final = 4.0
_GLYPH: Final = 14.0


class CellParagraph(NamedTuple):
    """One paragraph of a cell; `font` and `colour` are tokens."""

    text: str
    font: str = "small"
    colour: str = "text1"


class RecordCell(NamedTuple):
    """Paragraphs below one another; before the first a glyph, or the key of a column."""

    said: tuple[CellParagraph, ...]
    glyph: str = ""
    look: ColumnStyle | None = None

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.said)


def make_cell(text: str, font: str = "small", colour: str = "text1", glyph: str = "") -> RecordCell:
    return RecordCell((CellParagraph(text, font, colour),), glyph)


class RecordRow(NamedTuple):
    """Cells from left to right; a row that `begins` a group has a line above. `selection` is explained."""

    cells: tuple[RecordCell, ...]
    selection: Selection | None = None
    begins: bool = True


class RecordColumn(NamedTuple):
    """A column: what stands above it, its least width in pixels of the design, its share of what is left."""

    text: str
    least: float
    share: float = 0.0


class RecordTableView(QTableWidget):
    """Read with the keyboard too: arrows go through the rows, Enter lets the panel explain one."""

    #: A row became the current one, or was chosen by a click or Enter.
    current_row = Signal(int)
    chosen = Signal(int)

    def __init__(self, theme: Theme, name: str, heads: Sequence[RecordColumn], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[RecordRow, ...] = ()
        self._heads: tuple[RecordColumn, ...] = ()
        self._fitting = False
        self.setAccessibleName(name)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_RecordDelegate(theme, self))
        self.set_heads(heads)
        self.cellClicked.connect(lambda row, _column: self.chosen.emit(row))
        self.activated.connect(lambda index: self.chosen.emit(index.row()))
        self.currentCellChanged.connect(self._moved)
        theme.follow(self._dress)

    @property
    def rows(self) -> tuple[RecordRow, ...]:
        return self._rows

    def set_heads(self, heads: Sequence[RecordColumn]) -> None:
        """Show other columns; the rows go."""
        if tuple(heads) == self._heads:
            return
        self._heads = tuple(heads)
        self._rows = ()
        self.setRowCount(0)
        self.setColumnCount(len(heads))
        style_as_list(self, [head.text for head in heads])
        header = self.horizontalHeader()
        header.show()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column in range(len(heads)):
            item = self.horizontalHeaderItem(column)
            if item is not None:
                item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_rows(self, rows: Sequence[RecordRow]) -> None:
        """Show other rows; the current one stays where there are as many."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        self.setRowCount(len(rows))
        above: dict[int, str] = {}
        for number, row in enumerate(rows):
            for column, each in enumerate(row.cells):
                item = self.item(number, column)
                if item is None:
                    item = QTableWidgetItem()
                    self.setItem(number, column, item)
                item.setText(each.text)
                # What stands once for several rows is read in each of them.
                above[column] = each.text or above.get(column, "")
                item.setData(Qt.ItemDataRole.AccessibleTextRole, above[column])
        self._fit()

    def texts(self) -> list[tuple[str, ...]]:
        return [tuple(each.text for each in row.cells) for row in self._rows]

    def cell_at(self, index: _Index) -> RecordCell:
        return self._rows[index.row()].cells[index.column()]

    def begins(self, row: int) -> bool:
        return self._rows[row].begins

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_keyboard = event.reason() is not Qt.FocusReason.MouseFocusReason
        if by_keyboard and self.currentRow() < 0 and self._rows:
            self.setCurrentCell(0, 0)

    def _dress(self) -> None:
        self.setFont(self._theme.font("small"))
        self.horizontalHeader().setFont(self._theme.font("caption_strong"))
        self._fit()

    def _fit(self) -> None:
        if self._fitting:
            return
        self._fitting = True
        try:
            widths = self._widths()
            for column, width in enumerate(widths):
                self.setColumnWidth(column, width)
            total = self._theme.px(_HEAD) + 2
            for number, row in enumerate(self._rows):
                height = max(
                    measure_cell_height(self._theme, each, width) for each, width in zip(row.cells, widths, strict=True)
                )
                self.setRowHeight(number, height)
                total += height
            self.horizontalHeader().setFixedHeight(self._theme.px(_HEAD))
            self.setFixedHeight(total)
        finally:
            self._fitting = False

    def _widths(self) -> list[int]:
        room = self.viewport().width()
        least = [self._theme.px(head.least) for head in self._heads]
        if sum(least) > room:
            return [each * room // sum(least) for each in least]
        left, shares = room - sum(least), sum(head.share for head in self._heads) or 1.0
        return [each + int(left * head.share / shares) for each, head in zip(least, self._heads, strict=True)]

    def _moved(self, row: int) -> None:
        if row < 0:
            return
        self.current_row.emit(row)
        if self.hasFocus():
            self._bring_into_view(self.visualRect(self.model().index(row, 0)))

    def _bring_into_view(self, rect: QRect) -> None:
        """Scroll the page to a row: the table itself is as high as all of them."""
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        shown = None if area is None else area.widget()
        if area is not None and shown is not None:
            inside = self.viewport().mapTo(shown, rect.center())
            area.ensureVisible(inside.x(), inside.y(), 0, rect.height() // 2 + self._theme.px(_HEAD))


class _RecordDelegate(QStyledItemDelegate):
    """Paints the paragraphs of a cell."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        table = self.parent()
        if not isinstance(table, RecordTableView):
            return
        with QPainterStateGuard(painter):
            pen, rect = ThemePainter(painter, self._theme), QRectF(option.rect)
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(rect, pen.colour("selection"))
            if index.row() and table.begins(index.row()):
                pen.hairline(rect.left(), rect.top(), rect.right() + 1, rect.top(), "hair")
            self._paint_cell(pen, rect, table.cell_at(index))

    def _paint_cell(self, pen: ThemePainter, rect: QRectF, shown: RecordCell) -> None:
        px, top = self._theme.px, rect.top() + self._theme.px(_ABOVE)
        left, right = rect.left() + px(_SIDE), rect.right() - px(_SIDE) / 2
        first = self._theme.line(shown.said[0].font) if shown.said else 0
        if shown.look is not None:
            pen.swatch(left, top + first / 2, shown.look.slot, is_variant=shown.look.is_variant)
        elif shown.glyph:
            pen.glyph(shown.glyph, left + px(_GLYPH) / 2 - 2, top + first / 2)
        left += _measure_mark(self._theme, shown)
        for said in shown.said:
            high = self._theme.line(said.font)
            for line in pen.lines(said.text, right - left, said.font):
                pen.text(QRectF(left, top, right - left, high), line, font=said.font, colour=said.colour)
                top += high


def _measure_mark(theme: Theme, shown: RecordCell) -> int:
    """Return the room that a glyph or a key takes before the text."""
    if shown.look is not None:
        return theme.px(SWATCH_WIDTH) + theme.px(_SIDE)
    return theme.px(_GLYPH) if shown.glyph else 0


def measure_cell_height(theme: Theme, shown: RecordCell, width: int) -> int:
    """Return the height of a cell in a column of that width, in pixels."""
    room = width - theme.px(_SIDE) - theme.px(_SIDE) / 2 - _measure_mark(theme, shown)
    height = 2 * theme.px(_ABOVE)
    for said in shown.said:
        metrics = QFontMetricsF(theme.font(said.font))
        height += len(break_words(said.text.split(" "), room, metrics)) * theme.line(said.font)
    return height
