"""Texts and marks of a table, gathered by font and colour and drawn in one go.

That keeps a table of hundreds of texts within a few milliseconds a paint.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QStaticText

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.text_cache import LaidOut, TextCache

_GLYPH_BOX: Final = 16.0


class TextLayer:
    """Gathers what a paint writes; `middle` is the level of the capitals.

    Fonts and colours are tokens; a colour may be written as `#3458b6` too.
    """

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Keep what has been laid out, and glyphs as pictures, until the theme changes."""
        self._theme = theme
        self._texts = texts
        self._glyphs: dict[tuple[str, str, float], QPixmap] = {}
        self._runs: defaultdict[tuple[str, str], list[tuple[float, float, QStaticText]]] = defaultdict(list)
        self._marks: list[tuple[str, str, float, float]] = []
        theme.changed.connect(self._glyphs.clear)

    def clear(self) -> None:
        """Begin a paint."""
        self._runs.clear()
        self._marks.clear()

    def text(self, token: str, colour: str, text: str, x: float, middle: float, most: float = 0) -> float:
        """Set a text from `x` on, cut to `most` where that is above nothing; return its width."""
        laid = self._texts.laid_out(token, text, most)
        self.place(token, colour, laid, x, middle)
        return laid.width

    def right(self, token: str, colour: str, text: str, left: float, right: float, middle: float) -> float:
        """Set a text so that it ends at `right`, cut where it would begin before `left`; return its width."""
        laid = self._texts.laid_out(token, text, max(1.0, right - left))
        self.place(token, colour, laid, right - laid.width, middle)
        return laid.width

    def place(self, token: str, colour: str, laid: LaidOut, x: float, middle: float) -> None:
        """Set a text that is laid out already."""
        self._runs[token, colour].append((x, middle - laid.rise, laid.text))

    def mark(self, name: str, colour: str, x: float, middle: float) -> None:
        """Set a glyph around a point."""
        self._marks.append((name, colour, x, middle))

    def draw(self, painter: QPainter) -> None:
        """Draw all that was gathered, texts first."""
        for (token, colour), texts in self._runs.items():
            painter.setFont(self._texts.font(token))
            painter.setPen(QColor(colour) if colour.startswith("#") else self._theme.colour(colour))
            for x, y, text in texts:
                painter.drawStaticText(QPointF(x, round(y)), text)
        ratio = painter.device().devicePixelRatio()
        half = self._theme.length(_GLYPH_BOX) / 2
        for name, colour, x, y in self._marks:
            painter.drawPixmap(QPointF(round(x - half), round(y - half)), self._glyph(name, colour, ratio))

    def _glyph(self, name: str, colour: str, ratio: float) -> QPixmap:
        """Return a mark as a picture, drawn once for each theme and resolution."""
        key = (name, colour, ratio)
        found = self._glyphs.get(key)
        if found is None:
            side = self._theme.length(_GLYPH_BOX)
            found = QPixmap(round(side * ratio), round(side * ratio))
            found.setDevicePixelRatio(ratio)
            found.fill(Qt.GlobalColor.transparent)
            painter = QPainter(found)
            try:
                Pen(painter, self._theme).glyph(name, side / 2, side / 2, colour)
            finally:
                painter.end()
            self._glyphs[key] = found
        return found
