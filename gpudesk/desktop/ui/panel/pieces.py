"""Pieces that a line of the panel is laid out from: texts, fills, rules, glyphs and icons in place."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import LEFT, RIGHT, ThemePainter

_ELLIPSIS = Qt.TextElideMode


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


_MOST_KEPT = 4000


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


@dataclass(frozen=True, slots=True)
class TextPiece:
    """One line of text from (x, top) in a box of this height; `x` is its right end with `right`."""

    x: float
    top: float
    height: float
    text: str
    font: str
    colour: str
    right: bool = False

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:
        baseline = y + self.top + (self.height + measure.metrics(self.font).capHeight()) / 2
        align = RIGHT if self.right else LEFT
        pen.text(QPointF(self.x, baseline), self.text, font=self.font, colour=self.colour, align=align)


@dataclass(frozen=True, slots=True)
class FillPiece:
    """A filled rectangle with round corners, with a border where one is named."""

    x: float
    top: float
    width: float
    height: float
    colour: str
    radius: float = 0.0

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        rect = QRectF(self.x, y + self.top, self.width, self.height)
        pen.tint(rect, self.colour, radius=self.radius)


@dataclass(frozen=True, slots=True)
class RulePiece:
    """A hairline, level or upright."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = "hair"

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        pen.hairline(self.x1, y + self.y1, self.x2, y + self.y2, self.colour)


@dataclass(frozen=True, slots=True)
class GlyphPiece:
    """A glyph around a point."""

    name: str
    x: float
    y: float
    colour: str | None = None

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        pen.glyph(self.name, self.x, y + self.y, self.colour)


@dataclass(frozen=True, slots=True)
class IconPiece:
    """An icon with its top left corner at a point."""

    name: str
    x: float
    top: float
    size: float
    colour: str = "text2"

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        pen.icon(self.name, self.x, y + self.top, self.size, self.colour)


@dataclass(frozen=True, slots=True)
class SwatchPiece:
    """The key of an accelerator from `x` on around a level, and its name in its colour from `name_x` on."""

    x: float
    y: float
    name_x: float
    name: str
    font: str
    slot: int
    is_variant: bool = False

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:
        pen.swatch(self.x, y + self.y, self.slot, is_variant=self.is_variant)
        baseline = y + self.y + measure.metrics(self.font).capHeight() / 2
        colour = pen.look.name_color(self.slot)
        pen.text(QPointF(self.name_x, baseline), self.name, font=self.font, colour=colour)


@dataclass(frozen=True, slots=True)
class KeyPiece:
    """The key of a shortcut, which ends at `right` around a level."""

    right: float
    y: float
    text: str

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        pen.key_hint(self.right - pen.tag_width(self.text), y + self.y, self.text)


LayoutPiece = KeyPiece | SwatchPiece | TextPiece | FillPiece | RulePiece | GlyphPiece | IconPiece


@dataclass(slots=True)
class BlockLayout:
    """The pieces of one line and the height that they take; `fold` is where a click folds it in or out."""

    height: float = 0.0
    pieces: list[LayoutPiece] = field(default_factory=list)
    fold: QRectF | None = None

    def add(self, piece: LayoutPiece) -> None:
        self.pieces.append(piece)

    def space(self, height: float) -> None:
        self.height += height

    def row(self, x: float, text: str, font: str, colour: str, height: float, *, right: float | None = None) -> None:
        """Put a line of text below what is there, ending at `right` where that is given."""
        at = x if right is None else right
        self.add(TextPiece(at, self.height, height, text, font, colour, right=right is not None))
        self.height += height

    def paragraph(self, x: float, lines: tuple[str, ...], font: str, colour: str, height: float) -> None:
        for line in lines:
            self.row(x, line, font, colour, height)

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:
        """Draw all pieces, from the left end of the panel and `y` on."""
        for piece in self.pieces:
            piece.draw(pen, measure, y)
