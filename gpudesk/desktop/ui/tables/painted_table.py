"""A table view that paints all visible cells in one pass, with its headers, type-ahead and legend."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableView, QToolTip, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.text.translation import tr

#: Letters typed within this time of each other are one word.
_TYPING_S: Final = 1.2
_LONGEST: Final = 32


class TypeAhead:
    """Gathers letters to a word and finds it among labels."""

    def __init__(self) -> None:
        self._word = ""
        self._at = 0.0

    @property
    def active(self) -> bool:
        return bool(self._word) and time.monotonic() - self._at < _TYPING_S

    def find(self, letters: str, labels: Sequence[str], current: int) -> int | None:
        """Add letters to the word; return the place of a label that begins with it, else of one that has it.

        A single letter goes on from the current place (-1 for none); a longer word may mean it still.
        """
        self._word = ((self._word if self.active else "") + letters.casefold())[:_LONGEST]
        self._at = time.monotonic()
        start = max(0, current + (1 if len(self._word) == 1 else 0))
        around = [*range(start, len(labels)), *range(min(start, len(labels)))]
        folded = [label.casefold() for label in labels]
        begins = (place for place in around if folded[place].startswith(self._word))
        holds = (place for place in around if self._word in folded[place])
        return next(begins, next(holds, None))


class PaintedHeader(QHeaderView):
    """Follows the mouse, and tells in full what a head stands for where the mouse rests."""

    #: The number of the head under the mouse, -1 where it leaves.
    hovered = Signal(int)

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self.hovered_section = -1
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    def set_hovered(self, number: int) -> None:
        """Mark a head as the one under the mouse, -1 for none."""
        if number != self.hovered_section:
            self.hovered_section = number
            self.viewport().update()

    def number_at(self, place: QPoint) -> int:
        """Return the number of the head at a place, -1 where there is none."""
        return self.logicalIndexAt(place)

    def told(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - for heads of several parts
        """Return what a head stands for, as its model has it; `place` is where in it the mouse rests."""
        said = self.model().headerData(number, self.orientation(), Qt.ItemDataRole.ToolTipRole)
        return str(said or "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hovered.emit(self.number_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            asked = cast("QHelpEvent", event)
            number = self.number_at(asked.pos())
            QToolTip.showText(asked.globalPos(), "" if number < 0 else self.told(number, asked.pos()), self)
            return True
        return super().viewportEvent(event)


Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class VisibleSection:
    """A row or a column on the screen: its number in the model, where it begins, and how far it reaches."""

    number: int
    start: int
    size: int


def find_visible_sections(labels: QHeaderView, top: int, bottom: int) -> list[VisibleSection]:
    """Return the rows of labels at the left between two levels of their viewport."""
    first, last = labels.visualIndexAt(max(0, top)), labels.visualIndexAt(bottom)
    if first < 0:
        return []
    last = labels.count() - 1 if last < 0 else last
    return [
        VisibleSection(row, labels.sectionViewportPosition(row), labels.sectionSize(row))
        for row in range(first, last + 1)
    ]


class PaintedTable(QTableView):
    """Cells can be selected, looked at with the mouse, and found by typing the name of their row.

    The tables built on it say what stands where, in `paint`, `sentence_at`, `named_rows` and `hover`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
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
        raise NotImplementedError

    def sentence_at(self, index: QModelIndex) -> str:
        raise NotImplementedError

    def named_rows(self) -> Sequence[tuple[int, str]]:
        """Return the number and the name of each row that can be found by typing."""
        raise NotImplementedError

    def hover(self, row: int) -> None:
        """Show that the mouse is over a row, -1 for none."""
        raise NotImplementedError

    # What Qt tells and asks

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Paint all cells anew: rings and fills reach beyond the cells that changed."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def focus_rect(self) -> QRect | None:
        return None

    def keyboardSearch(self, search: str) -> None:
        rows = self.named_rows()
        current = self.currentIndex()
        place = next((place for place, (number, _) in enumerate(rows) if number == current.row()), -1)
        found = self._typed.find(search, [name for _, name in rows], place)
        if found is not None:
            self.setCurrentIndex(self.model().index(rows[found][0], max(0, current.column())))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hover(self.rowAt(int(event.position().y())))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hover(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        """Say all that a cell shows as a sentence, where the mouse rests."""
        if event.type() == QEvent.Type.ToolTip:
            place = cast("QHelpEvent", event)
            index = self.indexAt(place.pos())
            QToolTip.showText(place.globalPos(), self.sentence_at(index) if index.isValid() else "", self)
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            self.paint(painter, event.rect())


#: The mark that is a tint, not a glyph; further tints; what is not there; what stands in a frame.
TINT = "best"
_TINTS = (TINT, "ink4", "ink3")
HATCH, OUTLINE = "hatch", "outline"


class MarkLegend(QWidget):
    """Explains the marks that are in the table, and no others."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._marks: tuple[tuple[str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._measure)

    def _measure(self) -> None:
        self.setFixedHeight(self._theme.line("small") + self._theme.px(13))
        self.update()

    def explain(self, marks: Sequence[tuple[str, str]]) -> None:
        """Explain marks, given as the name of a glyph and what it means."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self.setAccessibleName(tr("Marks: {marks}", marks=", ".join(text for _, text in marks)))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, theme = ThemePainter(painter, self._theme), self._theme
            painter.fillRect(self.rect(), theme.colour("page"))
            pen.hairline(0, 0, self.width(), 0)
            x, level = theme.length(16), self.height() / 2
            for mark, text in self._marks:
                if mark in (*_TINTS, HATCH, OUTLINE):
                    box = QRectF(x, level - theme.length(6), theme.length(16), theme.length(12))
                    self._box(pen, mark, box)
                    x += theme.length(22)
                else:
                    pen.glyph(mark, x + theme.length(4), level)
                    x += theme.length(15)
                room = QRectF(x, 0, max(1.0, self.width() - x), self.height())
                x += pen.text(room, text, font="small", colour="text2") + theme.length(20)

    @staticmethod
    def _box(pen: ThemePainter, mark: str, box: QRectF) -> None:
        if mark == HATCH:
            pen.hatch(box)
        elif mark == OUTLINE:
            pen.frame(box, "text1", radius=3)
        else:
            pen.tint(box, mark, radius=3)
