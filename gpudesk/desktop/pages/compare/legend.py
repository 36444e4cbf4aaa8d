"""The foot of the comparison table: what its marks mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.estimates import Basis
from gpudesk.sheets.comparison_parts import ComparedRow
from gpudesk.sheets.sheet import Mark
from gpudesk.text import tr

_BEST: Final = "best"
#: The order in which marks are explained.
_ORDER: Final = (_BEST, "overlap", "disputed", *(basis.value for basis in Basis), "unfit")


def marks_in(rows: Iterable[ComparedRow]) -> tuple[str, ...]:
    """Return the marks that stand in these rows, in the order of their explanation."""
    found: set[str] = set()
    for row in rows:
        for cell in row.cells:
            if cell.mark in (Mark.BEST, Mark.TIED):
                found.add(_BEST)
            if cell.mark in (Mark.TIED, Mark.OPEN):
                found.add("overlap")
            elif cell.mark is Mark.FAILS:
                found.add("unfit")
            elif cell.basis is not None:
                found.add(cell.basis.value)
            if cell.disputed:
                found.add("disputed")
    return tuple(mark for mark in _ORDER if mark in found)


def explanation(mark: str) -> str:
    """Return what a mark means."""
    return {
        _BEST: tr("Best in row"),
        "overlap": tr("Bands overlap"),
        "disputed": tr("Sources differ"),
        Basis.MEASURED.value: tr("Measured"),
        Basis.CALIBRATED.value: tr("Calibrated"),
        Basis.ESTIMATED.value: tr("Estimated"),
        Basis.UNCALIBRATED.value: tr("Uncalibrated"),
        "unfit": tr("Does not run as asked"),
    }[mark]


class Legend(QWidget):
    """Explains the marks that are in the table, and no others."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Explain nothing yet."""
        super().__init__(parent)
        self._theme = theme
        self._marks: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._measure)

    def _measure(self) -> None:
        self.setFixedHeight(self._theme.line("small") + self._theme.px(13))
        self.update()

    def show_marks(self, marks: tuple[str, ...]) -> None:
        """Explain these marks."""
        if marks != self._marks:
            self._marks = marks
            self.setAccessibleName(tr("Marks: {marks}", marks=", ".join(map(explanation, marks))))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw each mark with its meaning."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            painter.fillRect(self.rect(), theme.colour("page"))
            pen.hairline(0, 0, self.width(), 0)
            x, level = theme.length(16), self.height() / 2
            for mark in self._marks:
                if mark == _BEST:
                    box = QRectF(x, level - theme.length(6), theme.length(16), theme.length(12))
                    pen.tint(box, "best", radius=3)
                    x += theme.length(22)
                else:
                    pen.glyph(mark, x + theme.length(4), level)
                    x += theme.length(15)
                text = explanation(mark)
                room = QRectF(x, 0, max(1.0, self.width() - x), self.height())
                x += pen.text(room, text, font="small", colour="text2") + theme.length(20)
        finally:
            painter.end()
