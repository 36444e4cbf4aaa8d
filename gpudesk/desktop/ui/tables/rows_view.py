"""Ordinary tables: a view as high as its rows, a delegate that paints by token name, and tables of text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterStateGuard, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpudesk.desktop.ui.tables.item_model import Index, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.text.translation import tr

#: What is free above and below several lines of a row together.
ABOVE_BELOW: Final = 8.0


class RowsDelegate(QStyledItemDelegate):
    """Fills the background of a cell and draws its lower rule; subclasses paint its content."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        raise NotImplementedError

    def paint_ground(self, pen: ThemePainter, rect: QRectF, state: QStyle.StateFlag, index: Index) -> None:  # noqa: ARG002 - for rows of several kinds
        if state & QStyle.StateFlag.State_Selected:
            pen.painter.fillRect(rect, pen.colour("selection"))
        elif state & QStyle.StateFlag.State_MouseOver:
            pen.painter.fillRect(rect, pen.colour("hover"))
        pen.hairline(rect.left(), rect.bottom(), rect.right() + 1, rect.bottom(), "grid")

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        with QPainterStateGuard(painter):
            pen, rect = ThemePainter(painter, self._theme), QRectF(option.rect)
            self.paint_ground(pen, rect, option.state, index)
            self.paint_cell(pen, rect, index)


class RowsView(QTableView):
    """Rows are selected whole; what is wider than the page is scrolled. Subclasses write `fit_columns`."""

    #: Heights in lengths of the design, and the space below the rows in pixels.
    row_height = 29.0
    head_height = 26.0
    below = 4

    def __init__(
        self, theme: Theme, model: TableItemModel, heads: QHeaderView | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        if heads is not None:
            heads.setParent(self)
            self.setHorizontalHeader(heads)
        self.setModel(model)
        self.setShowGrid(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        # Where columns have no room, what scrolls them takes none of the rows'.
        self.horizontalScrollBar().rangeChanged.connect(self.fit_height)

    def fit_columns(self) -> None:
        raise NotImplementedError

    def measure_lines(self, row: int) -> int:  # noqa: ARG002 - for rows whose texts wrap
        """Return the pixels that the lines of a row need, 0 where one line is enough."""
        return 0

    def fit_rows(self) -> None:
        """Give each row the height of its lines."""
        least, labels = self._theme.px(self.row_height), self.verticalHeader()
        for row in range(self.model().rowCount()):
            height = max(least, self.measure_lines(row))
            if labels.sectionSize(row) != height:
                labels.resizeSection(row, height)
        self.fit_height()

    def show_anew(self, show: Callable[[], object]) -> None:
        """Show other rows; the current one stays where it still is one."""
        row = self.currentIndex().row()
        show()
        if not self.currentIndex().isValid() and 0 <= row < self.model().rowCount():
            self.setCurrentIndex(self.model().index(row, 0))
        self.measure()

    def measure(self) -> None:
        """Set all sizes by the theme and what is shown."""
        px = self._theme.px
        self.verticalHeader().setDefaultSectionSize(px(self.row_height))
        self.horizontalHeader().setFont(self._theme.font("caption_strong"))
        self.horizontalHeader().setFixedHeight(px(self.head_height))
        self.fit_columns()
        self.fit_rows()

    def fit_height(self) -> None:
        bar = self.horizontalScrollBar()
        scrolls = bar.maximum() > bar.minimum() and self.horizontalScrollBarPolicy() is not _NEVER
        rows = self.verticalHeader().length()
        high = self._theme.px(self.head_height) + rows + self.below + (bar.sizeHint().height() if scrolls else 0)
        self.setFixedHeight(high)


_NEVER = Qt.ScrollBarPolicy.ScrollBarAlwaysOff


#: Between a number and the words after it.
_GAP: Final = "\u2003"
_AROUND: Final = 22.0
#: Names of systems have no spaces: a line may end behind an underscore.
_BREAKABLE: Final = "_\N{ZERO WIDTH SPACE}"
#: What Qt leaves free at the left and the right of a text, in pixels.
_SIDES: Final = 6
_UNBOUNDED: Final = 1 << 15


class TextModel(TableItemModel):
    """Rows of texts; those of `numbers` are set flush right."""

    def __init__(self, heads: Sequence[str], numbers: Collection[int]) -> None:
        super().__init__()
        self._heads, self._numbers = tuple(heads), frozenset(numbers)
        self.rows: tuple[tuple[str, ...], ...] = ()

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.exchange(lambda: self._replace_rows(rows), is_alike=len(rows) == len(self.rows))

    def _replace_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows = tuple(tuple(row) for row in rows)

    def count_rows(self) -> int:
        return len(self.rows)

    def count_columns(self) -> int:
        return len(self._heads)

    def get_text(self, row: int, column: int) -> str:
        text = self.rows[row][column].replace("_", _BREAKABLE)
        return text + _GAP if column in self._numbers else text

    def sentence(self, row: int, column: int) -> str:
        """Return what a screen reader says of a cell: no cell is without a name."""
        return self.rows[row][column] or tr("empty")

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        head = self._heads[section]
        return head + _GAP if section in self._numbers and not spoken else head

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignRight if column in self._numbers else Qt.AlignmentFlag.AlignLeft


class TextTable(RowsView):
    """Columns take what they need; those that give way share what is left, and wrap."""

    row_height = 25.0
    below = 2

    def __init__(
        self,
        theme: Theme,
        name: str,
        heads: Sequence[str],
        *,
        numbers: Collection[int] = (),
        giving: Collection[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        """Begin without rows; columns in `numbers` are set flush right, those in `giving` give way."""
        self._model = TextModel(heads, numbers)
        super().__init__(theme, self._model, parent=parent)
        self._model.setParent(self)
        self._giving = frozenset(giving)
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.follow(self.measure)

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.show_anew(lambda: self._model.show_rows(rows))

    def texts(self) -> list[tuple[str, ...]]:
        return list(self._model.rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()
            self.fit_rows()

    def measure(self) -> None:
        self.setFont(self._theme.font("small"))
        super().measure()

    def measure_lines(self, row: int) -> int:
        metrics, high = self.fontMetrics(), 0
        for column in self._giving:
            text, room = self._model.get_text(row, column), self.columnWidth(column) - _SIDES
            if metrics.horizontalAdvance(text) > room:
                high = max(high, metrics.boundingRect(0, 0, room, _UNBOUNDED, Qt.TextFlag.TextWordWrap, text).height())
        return high + self._theme.px(ABOVE_BELOW) if high else 0

    def fit_columns(self) -> None:
        """Give columns what they hold; those that give way share what is left by what they hold."""
        around, used_width = self._theme.px(_AROUND), 0
        for column in range(self._model.columnCount()):
            if column not in self._giving:
                head = self.horizontalHeader().sectionSizeHint(column)
                # Set once: each new width lays the table out anew.
                self.setColumnWidth(column, max(self.sizeHintForColumn(column), head) + around)
                used_width += self.columnWidth(column)
        remaining = max(self.viewport().width() - used_width, 0)
        natural_widths = {column: max(self.sizeHintForColumn(column), 1) for column in self._giving}
        # The narrowest first, so that what it takes beyond its share is missing where there is more.
        for column in sorted(natural_widths, key=natural_widths.__getitem__):
            share = remaining * natural_widths[column] // sum(natural_widths.values())
            share = max(share, self._theme.px(80), self.horizontalHeader().sectionSizeHint(column))
            self.setColumnWidth(column, share)
            remaining -= share
            del natural_widths[column]
