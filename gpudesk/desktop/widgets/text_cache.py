"""Texts laid out once and painted often: cells of tables draw hundreds of them at each paint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText, QTransform

from gpudesk.desktop.theme.theme import Theme

#: More texts than any table shows; then all are let go.
_MOST: Final = 8000


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A text ready for painting: `rise` is how far its upper edge lies above the middle of its capitals."""

    text: QStaticText
    width: float
    rise: float


class TextCache:
    """Keeps texts by font token and the width that they are cut to, until the theme changes."""

    def __init__(self, theme: Theme) -> None:
        """Follow the theme."""
        self._theme = theme
        self._texts: dict[tuple[str, str, int], LaidOut] = {}
        self._fonts: dict[str, tuple[QFont, QFontMetricsF, float]] = {}
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Let all go."""
        self._texts.clear()
        self._fonts.clear()

    def font(self, token: str) -> QFont:
        """Return the font of a token, to be set on the painter before its texts are drawn."""
        return self._measured(token)[0]

    def width(self, token: str, text: str) -> float:
        """Return how wide a text runs."""
        return self.laid_out(token, text).width

    def laid_out(self, token: str, text: str, most: float = 0) -> LaidOut:
        """Return a text, cut with an ellipsis to `most` pixels where that is above nothing."""
        key = (token, text, int(most))
        found = self._texts.get(key)
        if found is None:
            if len(self._texts) >= _MOST:
                self._texts.clear()
            found = self._texts[key] = self._lay_out(*key)
        return found

    def _lay_out(self, token: str, text: str, most: int) -> LaidOut:
        font, metrics, rise = self._measured(token)
        width = metrics.horizontalAdvance(text)
        if most and width > most + 0.5:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, most)
            width = metrics.horizontalAdvance(text)
        static = QStaticText(text)
        static.setTextFormat(Qt.TextFormat.PlainText)
        static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        static.prepare(QTransform(), font)
        return LaidOut(static, width, rise)

    def _measured(self, token: str) -> tuple[QFont, QFontMetricsF, float]:
        found = self._fonts.get(token)
        if found is None:
            font = self._theme.font(token)
            metrics = QFontMetricsF(font)
            rise = metrics.ascent() - metrics.capHeight() / 2
            found = self._fonts[token] = (font, metrics, rise)
        return found
