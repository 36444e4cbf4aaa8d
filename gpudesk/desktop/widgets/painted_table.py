"""A table that paints what is in sight in one go: what all such tables have, whatever their cells show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
)
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QToolTip, QWidget

from gpudesk.desktop.widgets.type_ahead import TypeAhead

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Place:
    """A row or a column on the screen: its number in the model, where it begins, and how far it reaches."""

    number: int
    start: int
    size: int


def places_between(labels: QHeaderView, top: int, bottom: int) -> list[Place]:
    """Return the rows of labels at the left between two levels of their viewport."""
    first, last = labels.visualIndexAt(max(0, top)), labels.visualIndexAt(bottom)
    if first < 0:
        return []
    last = labels.count() - 1 if last < 0 else last
    return [
        Place(row, labels.sectionViewportPosition(row), labels.sectionSize(row))
        for row in range(first, last + 1)
    ]


class PaintedTable(QTableView):
    """Cells can be selected, looked at with the mouse, and found by typing the name of their row.

    The tables built on it say what stands where, in `paint`, `sentence_at`, `named_rows` and `hover`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin without a model."""
        super().__init__(parent)
        self._typed = TypeAhead()

    def set_up(self, model: QAbstractItemModel) -> None:
        """Show a model: scroll by pixels, follow the mouse, and leave Tab to the window.

        Heads of its own a table sets before: with ones that follow the way of scrolling, PySide crashes.
        """
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

    # What a table says of itself

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Paint what is in sight of an area of the viewport."""
        raise NotImplementedError

    def sentence_at(self, index: QModelIndex) -> str:
        """Return all that a cell shows as a sentence, empty where none is shown."""
        raise NotImplementedError

    def named_rows(self) -> Sequence[tuple[int, str]]:
        """Return the number and the name of each row that can be found by typing."""
        raise NotImplementedError

    def hover(self, row: int) -> None:
        """Show that the mouse is over a row, -1 for none."""
        raise NotImplementedError

    # What Qt tells and asks

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Paint all cells anew: rings and fills reach beyond the cells that changed."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def focus_rect(self) -> QRect | None:
        """Say that the current cell shows the focus by itself."""
        return None

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """Go to the row whose name is being typed."""
        rows = self.named_rows()
        current = self.currentIndex()
        place = next((place for place, (number, _) in enumerate(rows) if number == current.row()), -1)
        found = self._typed.find(search, [name for _, name in rows], place)
        if found is not None:
            self.setCurrentIndex(self.model().index(rows[found][0], max(0, current.column())))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the mouse."""
        super().mouseMoveEvent(event)
        self.hover(self.rowAt(int(event.position().y())))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Forget the mouse."""
        super().leaveEvent(event)
        self.hover(-1)

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Say all that a cell shows as a sentence, where the mouse rests."""
        if event.type() == QEvent.Type.ToolTip:
            place = cast("QHelpEvent", event)
            index = self.indexAt(place.pos())
            QToolTip.showText(place.globalPos(), self.sentence_at(index) if index.isValid() else "", self)
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw everything in sight in one go."""
        painter = QPainter(self.viewport())
        try:
            self.paint(painter, event.rect())
        finally:
            painter.end()
