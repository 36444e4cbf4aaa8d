"""Common base of ordinary tables: a view as high as its rows, and a delegate that paints by token name."""

from __future__ import annotations

from collections.abc import Callable
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

#: Total space above and below several lines of a row.
ABOVE_BELOW: Final = 8.0


class RowsDelegate(QStyledItemDelegate):
    """Fills the background of a cell and draws its lower rule; subclasses paint its content."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        raise NotImplementedError

    def paint_background(self, pen: ThemePainter, rect: QRectF, state: QStyle.StateFlag, index: Index) -> None:  # noqa: ARG002 - for rows of several kinds
        if state & QStyle.StateFlag.State_Selected:
            pen.painter.fillRect(rect, pen.color("selection"))
        elif state & QStyle.StateFlag.State_MouseOver:
            pen.painter.fillRect(rect, pen.color("hover"))
        pen.hairline(rect.left(), rect.bottom(), rect.right() + 1, rect.bottom(), "grid")

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        with QPainterStateGuard(painter):
            pen, rect = ThemePainter(painter, self._theme), QRectF(option.rect)
            self.paint_background(pen, rect, option.state, index)
            self.paint_cell(pen, rect, index)


class RowsView(QTableView):
    """Rows are selected whole; wide content scrolls. Subclasses implement `fit_columns`."""

    #: Row heights in design lengths, and the space below the rows in pixels.
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
        # If columns do not fit, the scroll bar takes no height from the rows.
        self.horizontalScrollBar().rangeChanged.connect(self.fit_height)

    def fit_columns(self) -> None:
        raise NotImplementedError

    def measure_lines(self, row: int) -> int:  # noqa: ARG002 - for rows whose texts wrap
        """Return the pixel height of a row's lines, 0 for a single line."""
        return 0

    def fit_rows(self) -> None:
        """Give each row the height of its lines."""
        least, labels = self._theme.px(self.row_height), self.verticalHeader()
        for row in range(self.model().rowCount()):
            height = max(least, self.measure_lines(row))
            if labels.sectionSize(row) != height:
                labels.resizeSection(row, height)
        self.fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()
            self.fit_rows()

    def show_anew(self, show: Callable[[], object]) -> None:
        """Show other rows; the current one stays if it still exists."""
        row = self.currentIndex().row()
        show()
        if not self.currentIndex().isValid() and 0 <= row < self.model().rowCount():
            self.setCurrentIndex(self.model().index(row, 0))
        self.measure()

    def measure(self) -> None:
        """Set all sizes by theme and content."""
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
