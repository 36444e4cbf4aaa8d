"""The heads of the trace: swatch and name of each accelerator; they stay in sight while the page scrolls."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from gpudesk.desktop.itemmodels.trace_model import FIRST, WEIGHT, TraceModel
from gpudesk.desktop.pages.decide.trace_measures import END, PAD
from gpudesk.desktop.theme.pen import RIGHT, SWATCH_WIDTH, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.text import tr

_PAD: Final = 9.0
_GAP: Final = 5.0


class TraceHeads(PaintedHeads):
    """Names of accelerators over their cells, and that of the weights."""

    def __init__(self, theme: Theme, model: TraceModel, parent: QWidget) -> None:
        """Paint the heads of a model."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._model = model
        self.setSectionsMovable(False)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all heads and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            swatches = self._has_room_for_swatches(pen)
            for column in range(self.count()):
                self._head(pen, column, swatch=swatches)
            bottom = self.height() - 1
            pad = self._theme.px(PAD)
            pen.hairline(pad, bottom, self.viewport().width() - pad, bottom, "strong")
        finally:
            painter.end()

    def _has_room_for_swatches(self, pen: Pen) -> bool:
        """Whether all names have room behind their swatches; else none has one."""
        before = self._theme.length(_PAD + SWATCH_WIDTH + _GAP) + 2
        return all(
            before + pen.width(head.name, "label") <= self.sectionSize(FIRST + place)
            for place, head in enumerate(self._model.table.heads)
        )

    def _head(self, pen: Pen, column: int, *, swatch: bool) -> None:
        length, height = self._theme.length, self.height() - 1
        left, size = self.sectionViewportPosition(column), self.sectionSize(column)
        head = self._model.head(column)
        if head is None:
            if column == WEIGHT:
                place = QRectF(left, 0, size - length(END), height)
                pen.text(place, tr("Weight"), font="caption_strong", colour="text3", align=RIGHT)
            return
        x = left + length(_PAD)
        if swatch:
            x += pen.swatch(x, height / 2, head.slot, hollow=head.hollow) + length(_GAP)
        place = QRectF(x, 0, max(1.0, left + size - 2 - x), height)
        pen.text(place, head.name, font="label", colour=self._theme.slot_label(head.slot))
