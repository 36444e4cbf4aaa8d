"""Texts of table cells, collected by font and color and drawn together; the legend of marks below a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap, QStaticText, QTransform
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr

#: Of 1.5 kB each: more than any table shows at a time; then the cache is cleared.
_MOST: Final = 1000


@frozen_dataclass
class TextLayout:
    """A text ready for painting: `rise` is the distance from the middle of its capitals up to its upper edge."""

    text: QStaticText
    width: float
    rise: float


class TextCache:
    """Caches texts by font token and maximum width, until the theme changes."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._texts: dict[tuple[str, str, int], TextLayout] = {}
        self._fonts: dict[str, tuple[QFont, QFontMetricsF, float]] = {}
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        self._texts.clear()
        self._fonts.clear()

    def font(self, token: str) -> QFont:
        """Return the font of a token, to set on the painter before its texts are drawn."""
        return self._get_face(token)[0]

    def width(self, token: str, text: str) -> float:
        return self.get_text_layout(token, text).width

    def get_text_layout(self, token: str, text: str, most: float = 0) -> TextLayout:
        """Return a text, cut with an ellipsis to `most` pixels if that is above 0."""
        key = (token, text, int(most))
        layout = self._texts.get(key)
        if layout is None:
            if len(self._texts) >= _MOST:
                self._texts.clear()
            layout = self._texts[key] = self._lay_out(*key)
        return layout

    def _lay_out(self, token: str, text: str, most: int) -> TextLayout:
        font, metrics, rise = self._get_face(token)
        width = metrics.horizontalAdvance(text)
        if most and width > most + 0.5:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, most)
            width = metrics.horizontalAdvance(text)
        static = QStaticText(text)
        static.setTextFormat(Qt.TextFormat.PlainText)
        static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        static.prepare(QTransform(), font)
        return TextLayout(static, width, rise)

    def _get_face(self, token: str) -> tuple[QFont, QFontMetricsF, float]:
        face = self._fonts.get(token)
        if face is None:
            font = self._theme.font(token)
            metrics = QFontMetricsF(font)
            rise = metrics.ascent() - metrics.capHeight() / 2
            face = self._fonts[token] = (font, metrics, rise)
        return face


_GLYPH_BOX: Final = 16.0


class TextLayer:
    """Collects the texts of a paint; `middle` is the y of the capitals' center.

    Fonts and colors are tokens; a color can also be written as `#3458b6`.
    """

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Use cached layouts and glyph pictures, until the theme changes."""
        self._theme = theme
        self._texts = texts
        self._glyphs: dict[tuple[str, str, float], QPixmap] = {}
        self._runs: defaultdict[tuple[str, str], list[tuple[float, float, QStaticText]]] = defaultdict(list)
        self._marks: list[tuple[str, str, float, float]] = []
        theme.changed.connect(self._glyphs.clear)

    def clear(self) -> None:
        self._runs.clear()
        self._marks.clear()

    def text(self, token: str, color: str, text: str, x: float, middle: float, most: float = 0) -> float:
        """Add a text from `x` on, cut to `most` if that is above 0; return its width."""
        layout = self._texts.get_text_layout(token, text, most)
        self.place(token, color, layout, x, middle)
        return layout.width

    def right(self, token: str, color: str, text: str, left: float, right: float, middle: float) -> float:
        """Add a text that ends at `right`, cut if it would start before `left`; return its width."""
        layout = self._texts.get_text_layout(token, text, max(1.0, right - left))
        self.place(token, color, layout, right - layout.width, middle)
        return layout.width

    def place(self, token: str, color: str, layout: TextLayout, x: float, middle: float) -> None:
        self._runs[token, color].append((x, middle - layout.rise, layout.text))

    def mark(self, name: str, color: str, x: float, middle: float) -> None:
        self._marks.append((name, color, x, middle))

    def draw(self, painter: QPainter) -> None:
        """Draw everything collected, texts first."""
        for (token, color), texts in self._runs.items():
            painter.setFont(self._texts.font(token))
            painter.setPen(QColor(color) if color.startswith("#") else self._theme.color(color))
            for x, y, text in texts:
                painter.drawStaticText(QPointF(x, round(y)), text)
        ratio = painter.device().devicePixelRatio()
        half = self._theme.length(_GLYPH_BOX) / 2
        for name, color, x, y in self._marks:
            painter.drawPixmap(QPointF(round(x - half), round(y - half)), self._get_glyph_pixmap(name, color, ratio))

    def _get_glyph_pixmap(self, name: str, color: str, ratio: float) -> QPixmap:
        key = (name, color, ratio)
        pixmap = self._glyphs.get(key)
        if pixmap is None:
            side = self._theme.length(_GLYPH_BOX)
            pixmap = QPixmap(round(side * ratio), round(side * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            with QPainter(pixmap) as painter:
                ThemePainter(painter, self._theme).glyph(name, side / 2, side / 2, color)
            self._glyphs[key] = pixmap
        return pixmap


#: Marks other than glyphs: tints, the hatch of missing values, a frame.
TINT = "best"
_TINTS = (TINT, "ink4", "ink3")
HATCH, OUTLINE = "hatch", "outline"


class MarkLegend(PaintedWidget):
    """Explains the marks in the table, and no others."""

    #: The left margin, in design lengths; with one, a line divides the legend from the table.
    margin = 16.0

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._marks: tuple[tuple[str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._measure)

    def _measure(self) -> None:
        self.setFixedHeight(self._theme.line("small") + self._theme.px(13))
        self.update()

    def explain(self, marks: Sequence[tuple[str, str]]) -> None:
        """Explain marks, given as the name of a glyph and its meaning."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self.setAccessibleName(tr("Legend: {marks}", marks=", ".join(text for _, text in marks)))
            # The legend can be longer than the line.
            self.setToolTip("\n".join(text for _, text in marks))
            self.update()

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        pen.painter.fillRect(self.rect(), theme.color("page"))
        if self.margin:
            pen.hairline(0, 0, self.width(), 0)
        x, level = theme.length(self.margin), self.height() / 2
        signs = [22 if mark in (*_TINTS, HATCH, OUTLINE) else 15 for mark, _ in self._marks]
        needed = sum(map(theme.length, signs)) + sum(pen.width(text, "small") for _, text in self._marks)
        # A long legend moves together before it is cut.
        free = (self.width() - theme.length(2 * self.margin) - needed) / max(1, len(self._marks) - 1)
        gap = min(theme.length(20), max(theme.length(10), free))
        for mark, text in self._marks:
            if mark in (*_TINTS, HATCH, OUTLINE):
                box = QRectF(x, level - theme.length(6), theme.length(16), theme.length(12))
                self._box(pen, mark, box)
                x += theme.length(22)
            else:
                pen.glyph(mark, x + theme.length(4), level)
                x += theme.length(15)
            room = QRectF(x, 0, max(1.0, self.width() - x), self.height())
            x += pen.text(room, text, font="small", color="text2") + gap

    @staticmethod
    def _box(pen: ThemePainter, mark: str, box: QRectF) -> None:
        if mark == HATCH:
            pen.hatch(box)
        elif mark == OUTLINE:
            pen.frame(box, "text1", radius=3)
        else:
            pen.tint(box, mark, radius=3)
