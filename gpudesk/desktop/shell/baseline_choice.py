"""The choice of the baseline at the right end of the row of accelerators."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.load_slider import CaptionChoice
from gpudesk.text import tr


class BaselineChoice(CaptionChoice):
    """Says which accelerator differences are taken against, and lets another be chosen."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Begin without accelerators."""
        super().__init__(theme, parent)
        self._theme = theme

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave room for the word, the name and the chevron."""
        theme = self._theme
        word = QFontMetricsF(theme.font("small")).horizontalAdvance(tr("Baseline"))
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self.text())
        return QSize(int(word + name) + theme.px(6 + 6 + 14 + 4), theme.px(28))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the word, the name and the chevron."""
        painter = QPainter(self)
        try:
            theme, pen = self._theme, Pen(painter, self._theme)
            rect = QRectF(self.rect())
            x = pen.text(rect, tr("Baseline"), font="small", colour="text2") + theme.px(6)
            x += pen.text(rect.adjusted(x, 0, 0, 0), self.text(), font="body_strong", colour="text1")
            side = float(theme.px(13))
            colour = "text1" if self.underMouse() else "text2"
            pen.icon("chevron-down", x + theme.px(5), (self.height() - side) / 2 + 1, side, colour)
        finally:
            painter.end()

    def name_it(self) -> None:
        """Say what the value is for, for those who cannot see the word beside it."""
        self.setAccessibleName(tr("Baseline: {name}", name=self.text()))
