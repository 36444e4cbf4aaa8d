"""Bases of ordinary tables: an item model of records, a view as high as its rows, and a delegate for its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, Qt
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

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter

Index = QModelIndex | QPersistentModelIndex
_Role = Qt.ItemDataRole
_SPOKEN: Final = (_Role.AccessibleTextRole, _Role.ToolTipRole)
#: Flags of a cell that can be current, and of one that cannot.
SELECTABLE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
HEADING: Final = Qt.ItemFlag.ItemNeverHasChildren


class TableItemModel(QAbstractTableModel):
    """Subclasses define rows, columns, and the display and accessible texts of cells and heads."""

    def count_rows(self) -> int:
        raise NotImplementedError

    def count_columns(self) -> int:
        raise NotImplementedError

    def get_text(self, row: int, column: int) -> str | None:
        raise NotImplementedError

    def sentence(self, row: int, column: int) -> str | None:
        """Return the full text of a cell, for accessibility and its tooltip."""
        return self.get_text(row, column)

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        """Return the head of a column; if `spoken`, for screen readers."""
        raise NotImplementedError

    def get_label(self, section: int, *, spoken: bool) -> str | None:  # noqa: ARG002 - for rows with labels
        """Return the label of a row; if `spoken`, for screen readers."""
        return None

    def explain_head(self, section: int, *, across: bool) -> str:  # noqa: ARG002 - for heads with a term
        """Return the meaning of a column's head (`across`) or a row's label, for its tooltip."""
        return ""

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:  # noqa: ARG002 - for tables with headings
        return SELECTABLE

    def get_alignment(self, column: int) -> Qt.AlignmentFlag | None:  # noqa: ARG002 - for columns of figures
        return None

    @contextmanager
    def exchanging(self, *, is_alike: bool) -> Iterator[None]:
        """Signal a content change as changed data if rows and columns stay the same, else as a reset."""
        if not is_alike:
            self.beginResetModel()
        yield
        if not is_alike:
            self.endResetModel()
        elif self.count_rows() and self.count_columns():
            self.dataChanged.emit(self.index(0, 0), self.index(self.count_rows() - 1, self.count_columns() - 1))

    # Qt overrides

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else self.count_rows()

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else self.count_columns()

    def flags(self, index: Index) -> Qt.ItemFlag:
        return self.get_flags(index.row(), index.column()) if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if not index.isValid():
            return None
        if role == _Role.DisplayRole:
            return self.get_text(index.row(), index.column())
        if role in _SPOKEN:
            return self.sentence(index.row(), index.column())
        side = self.get_alignment(index.column()) if role == _Role.TextAlignmentRole else None
        return None if side is None else int(side | Qt.AlignmentFlag.AlignVCenter)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        across = orientation is Qt.Orientation.Horizontal
        if not 0 <= section < (self.count_columns() if across else self.count_rows()):
            return None
        if role == _Role.DisplayRole or role in _SPOKEN:
            get = self.get_head if across else self.get_label
            text = get(section, spoken=role in _SPOKEN)
            meaning = self.explain_head(section, across=across) if role == _Role.ToolTipRole else ""
            return f"{text}\n{meaning}" if meaning else text
        side = self.get_alignment(section) if across and role == _Role.TextAlignmentRole else None
        return None if side is None else int(side | Qt.AlignmentFlag.AlignVCenter)


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
        if self.verticalScrollBarPolicy() is not _NEVER:
            return
        bar = self.horizontalScrollBar()
        scrolls = bar.maximum() > bar.minimum() and self.horizontalScrollBarPolicy() is not _NEVER
        rows = self.verticalHeader().length()
        high = self._theme.px(self.head_height) + rows + self.below + (bar.sizeHint().height() if scrolls else 0)
        self.setFixedHeight(high)


_NEVER = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
