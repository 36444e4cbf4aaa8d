"""Pieces that a line of the panel is laid out from: texts, fills, rules, glyphs and icons in place."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF

from gpudesk.desktop.ui.theme.text_measure import TextMeasure
from gpudesk.desktop.ui.theme.theme_painter import LEFT, RIGHT, ThemePainter


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
    """The key of an accelerator from `x` on around a level."""

    x: float
    y: float
    slot: int
    is_variant: bool = False

    def draw(self, pen: ThemePainter, measure: TextMeasure, y: float) -> None:  # noqa: ARG002 - like texts
        pen.swatch(self.x, y + self.y, self.slot, is_variant=self.is_variant)


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
