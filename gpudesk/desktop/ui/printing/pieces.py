"""Pieces of a sheet that know their height and draw themselves, and the painter they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gpudesk.desktop.ui.printing.paper import (
    UNITS,
    Paper,
    TextLine,
    make_paper_font,
    measure_ascent,
    measure_line_height,
)
from gpudesk.desktop.ui.theme.glyphs import FLAT
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, LEFT, RIGHT, ThemePainter
from gpudesk.desktop.ui.theme.tokens import PaperPaintStyle

#: Size of swatches, markers and glyphs in points, where the window has pixels.
_MARKS: Final = 0.9

#: Width of a swatch, in points.
SWATCH: Final = 20.0 * _MARKS

_ALIGN: Final = {"left": LEFT, "right": RIGHT, "centre": CENTRE}
#: Half the height of the cap where a curve ends.
_CAP: Final = 4.0


class SheetPainter:
    """Draws in points from the top left corner of the paper. Colours are tokens; `slotN` is a part's name."""

    def __init__(self, painter: QPainter) -> None:
        """Take a painter whose units are a `UNITS`th of a point; it stays the caller's."""
        self._painter = painter
        self._look = PaperPaintStyle(UNITS, _MARKS)
        self._pen = ThemePainter(painter, self._look)

    def text(self, x: float, baseline: float, text: str, *, style: str, colour: str, align: str = "left") -> None:
        """Write one line from, to or around a point on its base line."""
        where = QPointF(x, baseline) * UNITS
        self._pen.text(where, text, font=make_paper_font(style), colour=colour, align=_ALIGN[align])

    def rule(self, x1: float, y1: float, x2: float, y2: float, *, colour: str, width: float) -> None:
        self._pen.rule(x1 * UNITS, y1 * UNITS, x2 * UNITS, y2 * UNITS, colour, width * UNITS)

    def tint(self, x: float, y: float, width: float, height: float, colour: str, *, radius: float) -> None:
        """Fill a rectangle; the radius is in points."""
        self._pen.tint(_rect(x, y, width, height), colour, radius / _MARKS)

    def bar(self, x: float, y: float, width: float, height: float, slot: int) -> None:
        self._pen.tint(_rect(x, y, width, height), self._look.mark_color(slot), 1.5 / _MARKS)

    def hatch(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self._pen.hatch(_rect(x, y, width, height), colour)

    def swatch(self, x: float, y: float, slot: int, *, is_variant: bool) -> None:
        """Draw the key of a part around the level `y`."""
        self._pen.swatch(x * UNITS, y * UNITS, slot, is_variant=is_variant)

    def marker(self, x: float, y: float, slot: int, *, radius: float, is_variant: bool) -> None:
        """Draw the marker of a part around a point; the radius is in points."""
        self._pen.marker(x * UNITS, y * UNITS, slot, radius=radius / _MARKS, is_variant=is_variant)

    def paint(
        self, x: float, y: float, width: float, height: float, draw: Callable[[ThemePainter, QRectF], object]
    ) -> None:
        """Let a picture that is the same on screen paint itself into a rectangle."""
        draw(self._pen, _rect(x, y, width, height))

    def glyph(self, name: str, x: float, y: float) -> None:
        self._pen.glyph(name, x * UNITS, y * UNITS)

    def band(self, corners: Sequence[QPointF], slot: int) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._look.band_color(slot))
        self._painter.drawPolygon(QPolygonF([corner * UNITS for corner in corners]))

    def curve(self, points: Sequence[QPointF], slot: int, width: float) -> None:
        colour = self._look.mark_color(slot)
        pen = QPen(colour, width * UNITS, Qt.PenStyle.SolidLine, FLAT)
        dash = self._look.dash_pattern(slot)
        if dash:
            pen.setDashPattern(dash)
        self._painter.setPen(pen)
        self._painter.drawPolyline(QPolygonF([point * UNITS for point in points]))
        end = points[-1]
        self._pen.rule(
            end.x() * UNITS, (end.y() - _CAP) * UNITS, end.x() * UNITS, (end.y() + _CAP) * UNITS, colour, width * UNITS
        )

    def leader(self, start: QPointF, end: QPointF, slot: int) -> None:
        self._painter.setPen(QPen(self._look.mark_color(slot), 0.5 * UNITS, Qt.PenStyle.SolidLine, FLAT))
        self._painter.drawLine(start * UNITS, end * UNITS)


def _rect(x: float, y: float, width: float, height: float) -> QRectF:
    return QRectF(x * UNITS, y * UNITS, width * UNITS, height * UNITS)


#: Draws at a place: the left end and the top, in points.
DrawPiece = Callable[[SheetPainter, float, float], None]


@dataclass(frozen=True, slots=True)
class SheetPiece:
    """Something with a height that is drawn at a place; its width was settled when it was made."""

    height: float
    draw: DrawPiece


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """A piece with its place on a page."""

    x: float
    y: float
    piece: SheetPiece

    def draw(self, ink: SheetPainter) -> None:
        self.piece.draw(ink, self.x, self.y)


@dataclass(frozen=True, slots=True)
class SheetPages:
    """Pages laid out on paper."""

    paper: Paper
    pages: tuple[tuple[PlacedPiece, ...], ...]

    def draw(self, number: int, ink: SheetPainter) -> None:
        for placed in self.pages[number]:
            placed.draw(ink)


def make_space(height: float) -> SheetPiece:
    return SheetPiece(height, lambda *_: None)


def stack_pieces(pieces: Sequence[SheetPiece]) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for piece in pieces:
            piece.draw(ink, x, y)
            y += piece.height

    return SheetPiece(sum(piece.height for piece in pieces), draw)


def put_side_by_side(pieces: Sequence[SheetPiece], steps: Sequence[float]) -> SheetPiece:
    """Return pieces side by side with a common top; `steps` are their left ends."""

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for piece, step in zip(pieces, steps, strict=True):
            piece.draw(ink, x + step, y)

    return SheetPiece(max((piece.height for piece in pieces), default=0.0), draw)


def make_paragraph(lines: Sequence[TextLine], style: str, step: float | None = None) -> SheetPiece:
    """Return lines of text; `step` is their distance where it is not the style's own."""
    each = measure_line_height(style) if step is None else step

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for number, line in enumerate(lines):
            draw_line(ink, line, x, y + number * each + find_first_baseline(style, each))

    return SheetPiece(each * len(lines), draw)


def find_first_baseline(style: str, height: float) -> float:
    """Return where letters stand that are in the middle of a line of some height."""
    return (height + measure_ascent(style)) / 2


def draw_line(ink: SheetPainter, line: TextLine, x: float, baseline: float) -> None:
    for word in line:
        ink.text(x + word.x, baseline, word.text, style=word.style, colour=word.colour)


def make_rule(width: float, colour: str, thickness: float) -> SheetPiece:
    return SheetPiece(thickness, lambda ink, x, y: ink.rule(x, y, x + width, y, colour=colour, width=thickness))
