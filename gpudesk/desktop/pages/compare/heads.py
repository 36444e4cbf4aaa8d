"""The frozen parts of the comparison table: the heads of its columns, and the labels of its rows."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from gpudesk.desktop.itemmodels.comparison_model import ComparisonModel
from gpudesk.desktop.pages.compare.cell_painter import heading_middle, heading_words
from gpudesk.desktop.pages.compare.measures import LABEL_END, LABEL_MARGIN, Margins
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.desktop.widgets.painted_table import Place, places_between
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.sheets.comparison_parts import ComparedHead, ComparedRow
from gpudesk.text import tr

_SWATCH_GAP: Final = 5.0
_ARROW: Final = 12.0
#: Between the parts of the second line of a head.
_DOT: Final = " · "


class ColumnHeads(PaintedHeads):
    """Swatch and name of each accelerator, what it is, and which one is the baseline."""

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        """Paint the heads of a model."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._texts = texts
        self._model = model
        self._height = 1
        self._margins: Margins | None = None
        self._label_width = 0
        self.setSectionsMovable(False)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setAccessibleName(tr("Accelerators"))

    def take(self, height: int, margins: Margins) -> None:
        """Take measures."""
        self._height, self._margins = height, margins
        self.setFixedHeight(height)
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height that was measured."""
        return QSize(super().sizeHint().width(), self._height)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all heads and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            if self._margins is not None:
                for column in range(self._model.columnCount()):
                    self._head(pen, column, self._margins)
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")
        finally:
            painter.end()

    def _head(self, pen: Pen, column: int, margins: Margins) -> None:
        theme, head = self._theme, self._model.head(column)
        start, size = self.sectionViewportPosition(column), self.sectionSize(column)
        left = start + theme.length(margins.left)
        right = start + size - theme.length(8)
        second = self._height - theme.px(8) - theme.line("caption")
        first = second - theme.line("option") - theme.px(1)
        level = first + theme.line("option") / 2
        x = left + pen.swatch(left, level, head.slot, hollow=head.hollow) + theme.length(_SWATCH_GAP)
        name = QRectF(x, first, max(1.0, right - x), theme.line("option"))
        end = x + pen.text(name, head.name, font="option", colour=theme.slot_label(head.slot))
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
        """Return in a sentence what a head stands for."""
        return _told(self._model.head(number), self._model.is_baseline(number))


def _told(head: ComparedHead, baseline: bool) -> str:
    parts = [head.name, head.detail, tr("differences are against it") if baseline else ""]
    return ", ".join(part for part in parts if part)


class RowLabels(PaintedHeads):
    """Label and unit of each row; the arrow at the right orders the columns by the row."""

    #: The number of the row whose arrow was clicked.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, texts: TextCache, model: ComparisonModel, parent: QWidget) -> None:
        """Paint the labels of a model."""
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

    def take_width(self, width: int) -> None:
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

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the width that was measured."""
        return QSize(self._width, super().sizeHint().height())

    def places(self, top: int, bottom: int) -> list[Place]:
        """Return the rows between two levels of the viewport."""
        return places_between(self, top, bottom)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all labels in sight."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            width = self.viewport().width()
            lines = self._model.lines
            for place in self.places(event.rect().top(), event.rect().bottom()):
                bottom = place.start + place.size - 1
                row = lines[place.number].row
                if row is None:
                    pen.hairline(0, bottom, width, bottom, "strong")
                    for x, token, colour, text in heading_words(
                        lines[place.number], self._theme, self._texts
                    ):
                        self._text(painter, token, colour, text, x, heading_middle(place, self._theme))
                    continue
                if place.number == self.hovered_number:
                    painter.fillRect(0, place.start, width, place.size, self._theme.colour("hover"))
                self._label(pen, row, place, width)
                pen.hairline(0, bottom, width, bottom, "grid")
        finally:
            painter.end()

    def _label(self, pen: Pen, row: ComparedRow, place: Place, width: int) -> None:
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
        self,
        painter: QPainter,
        token: str,
        colour: str,
        text: str,
        x: float,
        middle: float,
        most: float = 0,
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
        orderable = number == self.hovered_number and self._model.columnCount() > 1
        return "arrow-up-down" if orderable else ""

    def set_hovered(self, row: int) -> None:
        """Show which row the mouse is on, here or in the cells."""
        if row != self.hovered_number:
            old, self.hovered_number = self.hovered_number, row
            for each in (old, row):
                if 0 <= each < self.count():
                    self.viewport().update(
                        0, self.sectionViewportPosition(each), self.width(), self.sectionSize(each)
                    )

    def is_arrow(self, place: QPoint) -> bool:
        """Return whether a point of a label lies on its arrow."""
        return place.x() >= self.viewport().width() - self._theme.length(_ARROW + 4)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Order the columns where the arrow is clicked; elsewhere select the row."""
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
