"""A table of multi-line records, as high as its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF
from PySide6.QtWidgets import QStyle, QWidget

from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.ui.tables.table_base import Index, RowsDelegate, RowsView, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, ThemePainter, break_words
from gpudesk.desktop.ui.widgets.layouts import find_scroll_area

_ABOVE: Final = 6.0
_SIDE: Final = 3.0
_GLYPH: Final = 14.0


class CellParagraph(NamedTuple):
    """One paragraph of a cell; `font` and `color` are tokens."""

    text: str
    font: str = "small"
    color: str = "text1"


class RecordCell(NamedTuple):
    """Paragraphs below one another, after a glyph or the swatch of a palette index."""

    paragraphs: tuple[CellParagraph, ...]
    glyph: str = ""
    swatch: tuple[int, bool] | None = None

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.paragraphs)


def make_cell(text: str, font: str = "small", color: str = "text1", glyph: str = "") -> RecordCell:
    return RecordCell((CellParagraph(text, font, color),), glyph)


class RecordRow(NamedTuple):
    """Cells from left to right; a row that `begins` a group has a line above. `selection` is explained."""

    cells: tuple[RecordCell, ...]
    selection: Selection | None = None
    begins: bool = True


class RecordColumn(NamedTuple):
    """A column: its head, its minimum width in design pixels, its share of the remaining width."""

    text: str
    least: float
    share: float = 0.0


class RecordModel(TableItemModel):
    """Rows of records; a cell that spans several rows is read aloud in each of them."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: tuple[RecordColumn, ...] = ()
        self.rows: tuple[RecordRow, ...] = ()

    def show_heads(self, heads: Sequence[RecordColumn]) -> None:
        with self.exchanging(is_alike=False):
            self.heads, self.rows = tuple(heads), ()

    def show_rows(self, rows: Sequence[RecordRow]) -> None:
        with self.exchanging(is_alike=len(rows) == len(self.rows)):
            self.rows = tuple(rows)

    def count_rows(self) -> int:
        return len(self.rows)

    def count_columns(self) -> int:
        return len(self.heads)

    def get_text(self, row: int, column: int) -> str:
        return self.rows[row].cells[column].text

    def sentence(self, row: int, column: int) -> str:
        above = (self.get_text(number, column) for number in range(row, -1, -1))
        return next((text for text in above if text), "")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - by role
        return None if role == Qt.ItemDataRole.ToolTipRole else super().data(index, role)

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        return None if spoken else self.heads[section].text

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:  # noqa: ARG002 - the same for all
        return Qt.AlignmentFlag.AlignLeft


class RecordTableView(RowsView):
    """Keyboard-accessible: arrows move through the rows, Enter explains one in the panel."""

    #: A row became current, or was chosen by a click or Enter; then also its selection, if it has one.
    current_row = Signal(int)
    chosen = Signal(int)
    explained = Signal(object)

    #: Only the lines of a row determine its height.
    row_height = 1.0
    below = 2

    def __init__(self, theme: Theme, name: str, heads: Sequence[RecordColumn], parent: QWidget | None = None) -> None:
        self._model = RecordModel()
        super().__init__(theme, self._model, parent=parent)
        self._model.setParent(self)
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_RecordDelegate(theme, self))
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.selectionModel().currentChanged.connect(self._moved)
        self.set_heads(heads)
        theme.follow(self.measure)

    @property
    def rows(self) -> tuple[RecordRow, ...]:
        return self._model.rows

    def set_heads(self, heads: Sequence[RecordColumn]) -> None:
        """Replace the columns; the rows are removed."""
        if tuple(heads) != self._model.heads:
            self._model.show_heads(heads)

    def show_rows(self, rows: Sequence[RecordRow]) -> None:
        if tuple(rows) != self.rows:
            self.show_anew(lambda: self._model.show_rows(rows))

    def texts(self) -> list[tuple[str, ...]]:
        return [tuple(each.text for each in row.cells) for row in self.rows]

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.height())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_keyboard = event.reason() is not Qt.FocusReason.MouseFocusReason
        if by_keyboard and not self.currentIndex().isValid() and self.rows:
            self.setCurrentIndex(self._model.index(0, 0))

    def measure(self) -> None:
        self.setFont(self._theme.font("small"))
        super().measure()

    def fit_columns(self) -> None:
        """Share the width among the columns."""
        for column, width in enumerate(self._compute_widths()):
            self.setColumnWidth(column, width)

    def measure_lines(self, row: int) -> int:
        cells = enumerate(self.rows[row].cells)
        return max(measure_cell_height(self._theme, each, self.columnWidth(column)) for column, each in cells)

    def _compute_widths(self) -> list[int]:
        room = self.viewport().width()
        least = [self._theme.px(head.least) for head in self._model.heads]
        if sum(least) > room:
            return [each * room // sum(least) for each in least]
        remaining, shares = room - sum(least), sum(head.share for head in self._model.heads) or 1.0
        return [
            each + int(remaining * head.share / shares) for each, head in zip(least, self._model.heads, strict=True)
        ]

    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(index.row())
        selection = self.rows[index.row()].selection
        if selection is not None:
            self.explained.emit(selection)

    def _moved(self, current: QModelIndex) -> None:
        if current.isValid():
            self.current_row.emit(current.row())
            if self.hasFocus():
                # Scroll the page to a row: the table itself does not scroll.
                rect = self.visualRect(current.siblingAtColumn(0))
                area = find_scroll_area(self)
                area_widget = None if area is None else area.widget()
                if area is not None and area_widget is not None:
                    inside = self.viewport().mapTo(area_widget, rect.center())
                    area.ensureVisible(inside.x(), inside.y(), 0, rect.height() // 2 + self._theme.px(self.head_height))


class _RecordDelegate(RowsDelegate):
    """Paints the paragraphs of a cell."""

    def paint_background(self, pen: ThemePainter, rect: QRectF, state: QStyle.StateFlag, index: Index) -> None:
        if state & QStyle.StateFlag.State_Selected:
            pen.painter.fillRect(rect, pen.color("selection"))
        model = index.model()
        if index.row() and isinstance(model, RecordModel) and model.rows[index.row()].begins:
            pen.hairline(rect.left(), rect.top(), rect.right() + 1, rect.top(), "hair")

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        model = index.model()
        if isinstance(model, RecordModel):
            self._paint_record(pen, rect, model.rows[index.row()].cells[index.column()])

    def _paint_record(self, pen: ThemePainter, rect: QRectF, cell: RecordCell) -> None:
        px, top = self._theme.px, rect.top() + self._theme.px(_ABOVE)
        left, right = rect.left() + px(_SIDE), rect.right() - px(_SIDE) / 2
        first = self._theme.line(cell.paragraphs[0].font) if cell.paragraphs else 0
        if cell.swatch is not None:
            index, is_variant = cell.swatch
            pen.swatch(left, top + first / 2, index, is_variant=is_variant)
        elif cell.glyph:
            pen.glyph(cell.glyph, left + px(_GLYPH) / 2 - 2, top + first / 2)
        left += _measure_mark(self._theme, cell)
        for paragraph in cell.paragraphs:
            high = self._theme.line(paragraph.font)
            for line in pen.lines(paragraph.text, right - left, paragraph.font):
                pen.text(QRectF(left, top, right - left, high), line, font=paragraph.font, color=paragraph.color)
                top += high


def _measure_mark(theme: Theme, cell: RecordCell) -> int:
    """Return the width of a glyph or a swatch before the text."""
    if cell.swatch is not None:
        return theme.px(SWATCH_WIDTH + 8)
    return theme.px(_GLYPH) if cell.glyph else 0


def measure_cell_height(theme: Theme, cell: RecordCell, width: int) -> int:
    """Return the height of a cell in a column of that width, in pixels."""
    room = width - theme.px(_SIDE) - theme.px(_SIDE) / 2 - _measure_mark(theme, cell)
    height = 2 * theme.px(_ABOVE)
    for paragraph in cell.paragraphs:
        metrics = QFontMetricsF(theme.font(paragraph.font))
        height += len(break_words(paragraph.text, room, metrics)) * theme.line(paragraph.font)
    return height
