"""Texts measured, cut, broken into lines and drawn in the theme's fonts."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPixmap

from gpudesk.desktop.ui.theme.theme import Theme

_ELLIPSIS = Qt.TextElideMode
#: Maximum cached widths and broken texts.
_MOST_KEPT: Final = 4096


class TextMeasure:
    """Measures texts in the theme's fonts, and caches the results until the theme changes."""

    #: The methods with caches.
    kept: tuple[str, ...] = ("metrics", "width", "lines")

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        for name in self.kept:
            setattr(self, name, lru_cache(_MOST_KEPT)(getattr(self, name)))
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Clear all caches."""
        for name in self.kept:
            getattr(self, name).cache_clear()

    def metrics(self, font: str) -> QFontMetricsF:
        return QFontMetricsF(self.theme.font(font))

    def width(self, text: str, font: str) -> float:
        return self.metrics(font).horizontalAdvance(text)

    def elided(self, text: str, font: str, width: float, *, middle: bool = False) -> str:
        mode = _ELLIPSIS.ElideMiddle if middle else _ELLIPSIS.ElideRight
        if self.width(text, font) <= width:
            return text
        return self.metrics(font).elidedText(text, mode, width)

    def lines(self, text: str, font: str, width: float, most: int = 0) -> tuple[str, ...]:
        """Break a text at spaces, a word that is too wide anywhere; beyond `most` lines the last is cut."""
        if self.width(text, font) <= width:
            return (text,)
        metrics = self.metrics(font)
        lines: list[str] = []
        current = ""
        for word in text.split(" "):
            longer = f"{current} {word}" if current else word
            if current and metrics.horizontalAdvance(longer) > width:
                lines.append(current)
                longer = word
            while metrics.horizontalAdvance(longer) > width and len(longer) > 1:
                head = _fitting(metrics, longer, width)
                lines.append(longer[:head])
                longer = longer[head:]
            current = longer
        lines.append(current)
        if most and len(lines) > most:
            rest = " ".join(lines[most - 1 :])
            lines = [*lines[: most - 1], metrics.elidedText(rest, _ELLIPSIS.ElideRight, width)]
        return tuple(lines)


def _fitting(metrics: QFontMetricsF, text: str, width: float) -> int:
    """Return how many letters of a word fit, at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if metrics.horizontalAdvance(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low


#: Space for the halo around text on a plot.
_HALO: Final = 4.0
#: Offsets at which text is first written in page color; that is faster than stroking its outline and looks the same.
_AROUND: Final = tuple((2.0 * math.cos(turn * math.pi / 6), 2.0 * math.sin(turn * math.pi / 6)) for turn in range(12))
#: Cached pictures; a chart shows about a dozen texts at a time.
_MOST_PICTURES: Final = 200


class TextPainter(TextMeasure):
    """Measures and draws text by token; clears its caches when the theme changes."""

    kept = (*TextMeasure.kept, "middle", "_ascent")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._pictures: dict[tuple[str, str, int, float], QPixmap] = {}

    def clear(self) -> None:
        super().clear()
        self._pictures.clear()

    def middle(self, token: str, middle: float) -> float:
        """Return the base line of a text whose capital letters are vertically centered at a y."""
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
