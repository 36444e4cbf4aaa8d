"""The frozen head of the fit matrix: vendors, names of accelerators, and the memory of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from gpudesk.desktop.itemmodels.fit_arrangement import FitColumn, FitOrder
from gpudesk.desktop.itemmodels.fit_model import FitModel
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.desktop.widgets.painted_table import Place
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

#: Side of the arrow of the order, and what is free below the last line.
ARROW: Final = 12.0
FOOT: Final = 6.0
_MOST_LINES: Final = 3

#: Places in the palette of the scenario's accelerators, and whether further ones, by id.
Slots = Mapping[str, tuple[int, bool]]


class PartHeads(PaintedHeads):
    """Vendors over their accelerators, names of up to three lines, and the memory of each."""

    #: The number of the column that is to order the rows.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget) -> None:
        """Paint the heads of a model."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._theme, self._model, self._formatter = theme, model, formatter
        self._height = 1
        self._lines: list[list[str]] = []
        self.order = FitOrder()
        self.slots: Slots = {}
        self.setSectionsMovable(False)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setAccessibleName(tr("Accelerators"))
        self.sectionClicked.connect(self.sort_requested)

    def measure(self, pen: Pen) -> None:
        """Break the names into lines, and take the height of the longest."""
        columns = self._model.table.columns
        gap = self._theme.length(4)
        self._lines = [
            pen.lines(column.name, self.sectionSize(n) - gap, "caption_strong", most=_MOST_LINES)
            for n, column in enumerate(columns)
        ]
        line = self._theme.line("caption")
        most = max((len(lines) for lines in self._lines), default=1)
        self._height = (most + 2) * line + self._theme.px(FOOT + ARROW + 6)
        self.setFixedHeight(self._height)
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height that was measured."""
        return QSize(super().sizeHint().width(), self._height)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the heads in sight and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            columns = self._model.table.columns
            if len(self._lines) == len(columns):
                for number, column in enumerate(columns):
                    start, size = self.sectionViewportPosition(number), self.sectionSize(number)
                    if start + size > 0 and start < self.viewport().width():
                        self._head(pen, Place(number, start, size), column)
                self._vendors(pen)
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")
            if self.offset() > 0:
                pen.hairline(0, 0, 0, bottom, "strong")
        finally:
            painter.end()

    def _head(self, pen: Pen, place: Place, column: FitColumn) -> None:
        theme, part = self._theme, column.part
        line = theme.line("caption")
        top = self.height() - theme.px(FOOT) - line
        rect = QRectF(place.start, top, place.size, line)
        slot = self.slots.get(part.id)
        self._below(pen, rect, column, slot)
        active = self.order.by == part.id
        colour = "text1" if active else "text2" if slot is None else theme.slot_label(slot[0])
        for words in reversed(self._lines[place.number]):
            rect.translate(0, -line)
            pen.text(rect, words, font="caption_strong", colour=colour, align=CENTRE)
        if active or place.number == self.hovered_number:
            arrow = "arrow-down" if self.order.descending else "arrow-up"
            side = theme.length(ARROW)
            x, y = rect.center().x() - side / 2, rect.top() - side
            pen.icon(arrow if active else "arrow-up-down", x, y, side, "text1" if active else "text3")

    def _below(self, pen: Pen, rect: QRectF, column: FitColumn, slot: tuple[int, bool] | None) -> None:
        """Write what stands below a name: that a part is announced, else its memory and its swatch."""
        theme = self._theme
        if column.part.announced:
            word = tr("Announced")
            pen.tag(rect.center().x() - pen.tag_width(word) / 2, rect.center().y(), word, dashed=True)
            return
        memory = f"{self._formatter.number(column.part.memory_bytes / 2**30)} GiB"
        width = pen.width(memory, "caption")
        left = rect.center().x() - width / 2
        if slot is not None:
            swatch = theme.length(20 + 4)
            left = rect.center().x() - (width + swatch) / 2
            pen.swatch(left, rect.center().y(), slot[0], hollow=slot[1])
            left += swatch
        pen.text(QRectF(left, rect.y(), width + 1, rect.height()), memory, font="caption", colour="text3")

    def _vendors(self, pen: Pen) -> None:
        """Draw each vendor over its accelerators, as far as they are in sight."""
        columns = self._model.table.columns
        first = 0
        for number, column in enumerate(columns):
            last = number == len(columns) - 1 or columns[number + 1].part.vendor != column.part.vendor
            if not last:
                continue
            gap = self._theme.length(4)
            start = max(0.0, self.sectionViewportPosition(first) + gap)
            end = self.sectionViewportPosition(number) + self.sectionSize(number) - gap
            first = number + 1
            end = min(end, float(self.viewport().width()))
            if end - start > self._theme.length(30):
                line = self._theme.line("caption")
                rect = QRectF(start, self._theme.px(3), end - start, line)
                pen.text(rect, column.part.vendor, font="caption_strong", colour="text3", align=CENTRE)
                pen.hairline(start, rect.bottom() + 1, end, rect.bottom() + 1, "strong")

    # The mouse
