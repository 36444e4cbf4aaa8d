"""Grounds of one colour, and the hairline between them."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme


class Rule(QWidget):
    """A hairline across the page."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Follow the theme."""
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the line."""
        painter = QPainter(self)
        try:
            Pen(painter, self._theme).hairline(0, 0, self.width(), 0)
        finally:
            painter.end()


def fill(widget: QWidget, colour: QColor) -> None:
    """Give a widget a ground of one colour."""
    widget.setAutoFillBackground(True)
    palette = widget.palette()
    palette.setColor(widget.backgroundRole(), colour)
    widget.setPalette(palette)
