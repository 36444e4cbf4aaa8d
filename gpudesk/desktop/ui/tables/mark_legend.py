"""The legend of the marks that stand in a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.text.translation import tr

#: Marks that are no glyphs: tints, the hatch of missing values, a frame.
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
            self.setAccessibleName(tr("Legend: {marks}", marks=", ".join(text for _, text in marks)))
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

    def event(self, event: QEvent) -> bool:
        """Show all of the legend as a tool tip: it may be longer than the line."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), "\n".join(text for _, text in self._marks), self)
            return True
        return super().event(event)

    @staticmethod
    def _box(pen: ThemePainter, mark: str, box: QRectF) -> None:
        if mark == HATCH:
            pen.hatch(box)
        elif mark == OUTLINE:
            pen.frame(box, "text1", radius=3)
        else:
            pen.tint(box, mark, radius=3)
