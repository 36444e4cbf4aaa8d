"""Text on charts: fonts with cached metrics, and words with a halo cached as pictures."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from gpudesk.desktop.ui.theme.text_measure import TextMeasure
from gpudesk.desktop.ui.theme.theme import Theme

#: Room for the halo around words that stand on a plot.
_HALO: Final = 4.0
#: Where words are written in page colour first; that is quicker than stroking their outline and looks alike.
_AROUND: Final = tuple((2.0 * math.cos(turn * math.pi / 6), 2.0 * math.sin(turn * math.pi / 6)) for turn in range(12))
#: Pictures kept; a chart shows a dozen words at a time.
_MOST_PICTURES: Final = 200


class TextPainter(TextMeasure):
    """Measures and draws text by token; forgets everything when the theme changes."""

    kept = (*TextMeasure.kept, "middle", "_ascent")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._pictures: dict[tuple[str, str, int, float], QPixmap] = {}

    def clear(self) -> None:
        super().clear()
        self._pictures.clear()

    def middle(self, token: str, middle: float) -> float:
        """Return the base line of a text whose capital letters are centred at a height."""
        return round(middle + self.metrics(token).capHeight() / 2)

    def draw(self, painter: QPainter, x: float, baseline: float, text: str, token: str, colour: QColor) -> None:
        painter.setFont(self.theme.font(token))
        painter.setPen(colour)
        painter.drawText(QPointF(x, baseline), text)

    def draw_right(
        self, painter: QPainter, right: float, baseline: float, text: str, token: str, colour: QColor
    ) -> None:
        self.draw(painter, right - self.width(text, token), baseline, text, token, colour)

    def draw_haloed(self, painter: QPainter, x: float, baseline: float, text: str, token: str, colour: QColor) -> None:
        ratio = painter.device().devicePixelRatio()
        key = (text, token, colour.rgba(), ratio)
        picture = self._pictures.get(key)
        if picture is None:
            if len(self._pictures) > _MOST_PICTURES:
                self._pictures.clear()
            picture = self._pictures[key] = self._haloed(text, token, colour, ratio)
        painter.drawPixmap(QPointF(round(x) - _HALO, round(baseline) - self._ascent(token)), picture)

    def _ascent(self, token: str) -> float:
        return math.ceil(self.metrics(token).ascent()) + _HALO

    def _haloed(self, text: str, token: str, colour: QColor, ratio: float) -> QPixmap:
        width = math.ceil(self.width(text, token)) + 2 * _HALO
        height = self._ascent(token) + math.ceil(self.metrics(token).descent()) + _HALO
        picture = QPixmap(math.ceil(width * ratio), math.ceil(height * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            baseline = self._ascent(token)
            for right, down in _AROUND:
                self.draw(painter, _HALO + right, baseline + down, text, token, self.theme.colour("page"))
            self.draw(painter, _HALO, baseline, text, token, colour)
        return picture
