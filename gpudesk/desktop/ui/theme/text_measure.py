"""Texts measured, cut and broken into lines in the theme's fonts."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from gpudesk.desktop.ui.theme.theme import Theme

_ELLIPSIS = Qt.TextElideMode
#: Widths and broken texts that are kept.
_MOST_KEPT: Final = 4000


class TextMeasure:
    """Measures texts in the theme's fonts, and keeps what it measured until the theme changes."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._fonts: dict[str, QFont] = {}
        self._metrics: dict[str, QFontMetricsF] = {}
        self._widths: dict[tuple[str, str], float] = {}
        self._broken: dict[tuple[str, str, int, int], tuple[str, ...]] = {}
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Let all measures go."""
        self._fonts.clear()
        self._metrics.clear()
        self._widths.clear()
        self._broken.clear()

    def metrics(self, font: str) -> QFontMetricsF:
        found = self._metrics.get(font)
        if found is None:
            found = self._metrics[font] = QFontMetricsF(self.theme.font(font))
        return found

    def font(self, token: str) -> QFont:
        found = self._fonts.get(token)
        if found is None:
            found = self._fonts[token] = self.theme.font(token)
        return found

    def width(self, text: str, font: str) -> float:
        key = (text, font)
        found = self._widths.get(key)
        if found is None:
            if len(self._widths) > _MOST_KEPT:
                self._widths.clear()
            found = self._widths[key] = self.metrics(font).horizontalAdvance(text)
        return found

    def elided(self, text: str, font: str, width: float, *, middle: bool = False) -> str:
        mode = _ELLIPSIS.ElideMiddle if middle else _ELLIPSIS.ElideRight
        if self.width(text, font) <= width:
            return text
        return self.metrics(font).elidedText(text, mode, width)

    def lines(self, text: str, font: str, width: float, most: int = 0) -> tuple[str, ...]:
        """Break a text at spaces, a word that is too wide anywhere; of more than `most` the last is cut."""
        key = (text, font, int(width), most)
        found = self._broken.get(key)
        if found is None:
            if len(self._broken) > _MOST_KEPT:
                self._broken.clear()
            found = self._broken[key] = tuple(self._break(text, font, width, most))
        return found

    def _break(self, text: str, font: str, width: float, most: int) -> list[str]:
        if self.width(text, font) <= width:
            return [text]
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
        return lines


def _fitting(metrics: QFontMetricsF, text: str, width: float) -> int:
    """Return how many letters of a word fit, one at least."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if metrics.horizontalAdvance(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low
