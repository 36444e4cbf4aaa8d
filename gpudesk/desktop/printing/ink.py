"""What pieces of a sheet draw with: the painter's helper of the window, in points and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gpudesk.desktop.printing.letters import UNITS, font
from gpudesk.desktop.theme.look import PaperLook
from gpudesk.desktop.theme.marks import FLAT
from gpudesk.desktop.theme.pen import CENTRE, LEFT, RIGHT, Pen

#: Size of swatches, markers and glyphs in points, where the window has pixels.
_MARKS: Final = 0.9

#: Width of a swatch, in points.
SWATCH: Final = 20.0 * _MARKS

_ALIGN: Final = {"left": LEFT, "right": RIGHT, "centre": CENTRE}
#: Half the height of the cap where a curve ends.
_CAP: Final = 4.0


class Ink:
    """Draws in points from the top left corner of the paper. Colours are tokens; `slotN` is a part's name."""

    def __init__(self, painter: QPainter) -> None:
        """Take a painter whose units are a `UNITS`th of a point; it stays the caller's."""
        self._painter = painter
        self._look = PaperLook(UNITS, _MARKS)
        self._pen = Pen(painter, self._look)

    def text(
        self, x: float, baseline: float, text: str, *, style: str, colour: str, align: str = "left"
    ) -> None:
        """Write one line from, to or around a point on its base line."""
        where = QPointF(x, baseline) * UNITS
        self._pen.text(where, text, font=font(style), colour=self._colour(colour), align=_ALIGN[align])

    def rule(self, x1: float, y1: float, x2: float, y2: float, *, colour: str, width: float) -> None:
        """Draw a line."""
        self._pen.rule(x1 * UNITS, y1 * UNITS, x2 * UNITS, y2 * UNITS, self._colour(colour), width * UNITS)

    def tint(self, x: float, y: float, width: float, height: float, colour: str, *, radius: float) -> None:
        """Fill a rectangle; the radius is in points."""
        self._pen.tint(_rect(x, y, width, height), colour, radius / _MARKS)

    def bar(self, x: float, y: float, width: float, height: float, slot: int) -> None:
        """Fill a rectangle with the colour of a part."""
        self._pen.tint(_rect(x, y, width, height), self._look.slot_mark(slot), 1.5 / _MARKS)

    def hatch(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw slanting strokes over a rectangle."""
        self._pen.hatch(_rect(x, y, width, height), colour)

    def swatch(self, x: float, y: float, slot: int, *, hollow: bool) -> None:
        """Draw the key of a part around the level `y`."""
        self._pen.swatch(x * UNITS, y * UNITS, slot, hollow=hollow)

    def marker(self, x: float, y: float, slot: int, *, radius: float, hollow: bool) -> None:
        """Draw the marker of a part around a point; the radius is in points."""
        self._pen.marker(x * UNITS, y * UNITS, slot, radius=radius / _MARKS, hollow=hollow)

    def glyph(self, name: str, x: float, y: float) -> None:
        """Draw a glyph around a point."""
        self._pen.glyph(name, x * UNITS, y * UNITS)

    def band(self, corners: Sequence[QPointF], slot: int) -> None:
        """Fill the area of a part's band."""
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._look.slot_band(slot))
        self._painter.drawPolygon(QPolygonF([corner * UNITS for corner in corners]))

    def curve(self, points: Sequence[QPointF], slot: int, width: float) -> None:
        """Draw a part's curve in its dash, and the cap at its end."""
        colour = self._look.slot_mark(slot)
        pen = QPen(colour, width * UNITS, Qt.PenStyle.SolidLine, FLAT)
        dash = self._look.slot_dash(slot)
        if dash:
            pen.setDashPattern(dash)
        self._painter.setPen(pen)
        self._painter.drawPolyline(QPolygonF([point * UNITS for point in points]))
        end = points[-1]
        self._pen.rule(
            end.x() * UNITS,
            (end.y() - _CAP) * UNITS,
            end.x() * UNITS,
            (end.y() + _CAP) * UNITS,
            colour,
            width * UNITS,
        )

    def leader(self, start: QPointF, end: QPointF, slot: int) -> None:
        """Draw a thin line from the end of a curve to its label."""
        self._painter.setPen(QPen(self._look.slot_mark(slot), 0.5 * UNITS, Qt.PenStyle.SolidLine, FLAT))
        self._painter.drawLine(start * UNITS, end * UNITS)

    def _colour(self, token: str) -> str | QColor:
        return self._look.slot_label(int(token[4:])) if token.startswith("slot") else token


def _rect(x: float, y: float, width: float, height: float) -> QRectF:
    return QRectF(x * UNITS, y * UNITS, width * UNITS, height * UNITS)
