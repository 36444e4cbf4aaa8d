"""Texts measured, cut and broken into lines in the theme's fonts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from gpudesk.desktop.ui.theme.theme import Theme

_ELLIPSIS = Qt.TextElideMode
#: Widths and broken texts that are kept.
_MOST_KEPT: Final = 4096


class TextMeasure:
    """Measures texts in the theme's fonts, and keeps what it measured until the theme changes."""

    #: The methods whose results are kept.
    kept: tuple[str, ...] = ("metrics", "width", "lines")

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        for name in self.kept:
            setattr(self, name, lru_cache(_MOST_KEPT)(getattr(self, name)))
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Let all measures go."""
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
        """Break a text at spaces, a word that is too wide anywhere; of more than `most` the last is cut."""
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
    """Return how many letters of a word fit, one at least."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if metrics.horizontalAdvance(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low
