"""The frozen left of the fit matrix: names of the models with their parameters, and the corner above."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from gpudesk.desktop.itemmodels.fit_arrangement import BY_NAME, BY_PARAMETERS, FitOrder
from gpudesk.desktop.itemmodels.fit_model import FitModel, parameters_text
from gpudesk.desktop.pages.memory.matrix_heads import ARROW, FOOT
from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.desktop.widgets.painted_table import places_between
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

_MARGIN: Final = 16.0
#: Width of the parameters at the right of the names, and what stands free right of them.
_FIGURES: Final = 58.0
_END: Final = 10.0


class ModelLabels(PaintedHeads):
    """Names of the models, and their parameters in billions."""

    def __init__(
        self, theme: Theme, texts: TextCache, model: FitModel, formatter: Formatter, parent: QWidget
    ) -> None:
        """Paint the labels of a model."""
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme, self._model, self._formatter = theme, model, formatter
        self._texts = texts
        self._layer = TextLayer(theme, texts)
        self._width = 1
        #: The id of the scenario's model.
        self.present = ""
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setAccessibleName(tr("Models"))

    def measure(self, most: int) -> None:
        """Take the width of the longest name, up to `most`."""
        rows = self._model.table.rows
        widest = max((self._texts.width("body_strong", row.model.name) for row in rows), default=0.0)
        room = self._theme.px(_MARGIN + _FIGURES + _END + 8)
        self._width = min(most, max(self._theme.px(190), round(widest) + room))
        self.setFixedWidth(self._width)
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the width that was measured."""
        return QSize(self._width, super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all labels in sight."""
        painter = QPainter(self.viewport())
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            painter.fillRect(event.rect(), theme.colour("page"))
            width = self.viewport().width()
            right = width - theme.length(_END)
            left, names = theme.length(_MARGIN), right - theme.length(_FIGURES)
            self._layer.clear()
            for place in places_between(self, event.rect().top(), event.rect().bottom()):
                row = self._model.row(place.number)
                if place.number == self.hovered_number:
                    painter.fillRect(0, place.start, width, place.size, theme.colour("hover"))
                pen.hairline(left, place.start + place.size - 1, width, place.start + place.size - 1, "grid")
                middle = place.start + place.size / 2
                font = "body_strong" if row.model.id == self.present else "body"
                self._layer.text(font, "text1", row.model.name, left, middle, names - left)
                known = parameters_text(row, self._formatter)
                self._layer.right("caption", "text3", known, names, right, middle)
            self._layer.draw(painter)
        finally:
            painter.end()


class Corner(QWidget):
    """Heads of the names and of the parameters; a click orders by them."""

    #: `BY_NAME` or `BY_PARAMETERS`.
    sort_requested = Signal(str)

    def __init__(self, theme: Theme, view: QTableView) -> None:
        """Lie over the view's own corner."""
        super().__init__(view)
        self._theme, self._view = theme, view
        self.order = FitOrder()
        self.setAccessibleName(tr("Order of the models"))
        view.horizontalHeader().installEventFilter(self)
        view.verticalHeader().installEventFilter(self)
        theme.changed.connect(self.update)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002, N802 - Qt's signature
        """Follow the heads and labels."""
        if event.type() == QEvent.Type.Resize:
            height = self._view.horizontalHeader().height()
            self.setGeometry(0, 0, self._view.verticalHeader().width(), height)
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw both heads level with the last line of the others."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            painter.fillRect(self.rect(), theme.colour("page"))
            bottom, line = self.height() - 1, theme.line("caption")
            pen.hairline(theme.length(_MARGIN), bottom, self.width(), bottom, "strong")
            top = self.height() - theme.px(FOOT) - line
            left, right = theme.length(_MARGIN), self.width() - theme.length(_END)
            for by, text in ((BY_NAME, tr("Model")), (BY_PARAMETERS, tr("Billion parameters"))):
                self._head(pen, QRectF(left, top, right - left, line), by, text)
        finally:
            painter.end()

    def _head(self, pen: Pen, rect: QRectF, by: str, text: str) -> None:
        active = self.order.by == by
        colour = "text1" if active else "text3"
        align = Qt.AlignmentFlag.AlignLeft if by == BY_NAME else RIGHT
        width = pen.text(rect, text, font="caption_strong", colour=colour, align=align)
        if active:
            side = self._theme.length(ARROW)
            x = rect.left() + width + 3 if by == BY_NAME else rect.right() - width - side - 3
            icon = "arrow-down" if self.order.descending else "arrow-up"
            pen.icon(icon, x, rect.center().y() - side / 2, side, "text1")

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Order by the head that is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            right = event.position().x() > self.width() * 0.55
            self.sort_requested.emit(BY_PARAMETERS if right else BY_NAME)
