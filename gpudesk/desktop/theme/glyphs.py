"""The glyphs beside figures: what a figure rests on, where sources differ, what fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen

from gpudesk.desktop.theme.icons import draw_icon
from gpudesk.desktop.theme.look import Look

_RADIUS: Final = 3.8
_STROKE: Final = 1.4
_MITRE: Final = Qt.PenJoinStyle.MiterJoin


class GlyphPainter:
    """Draws glyphs around a point in one colour; lengths are those of the design."""

    def __init__(self, painter: QPainter, look: Look, colour: QColor) -> None:
        """Keep what to draw with."""
        self._painter = painter
        self._length = look.length
        self._colour = colour

    def full_circle(self, x: float, y: float) -> None:
        """Draw a full circle."""
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._colour)
        radius = self._length(_RADIUS + _STROKE / 2)
        self._painter.drawEllipse(QPointF(x, y), radius, radius)

    def circle(self, x: float, y: float) -> None:
        """Draw a circle."""
        self._stroke(_STROKE)
        radius = self._length(_RADIUS)
        self._painter.drawEllipse(QPointF(x, y), radius, radius)

    def half_circle(self, x: float, y: float) -> None:
        """Draw a circle whose left half is full."""
        self.circle(x, y)
        radius = self._length(_RADIUS)
        half = QPainterPath(QPointF(x, y - radius))
        half.arcTo(QRectF(x - radius, y - radius, 2 * radius, 2 * radius), 90, 180)
        half.closeSubpath()
        self._painter.fillPath(half, QBrush(self._colour))

    def dashed_circle(self, x: float, y: float) -> None:
        """Draw a circle of six short arcs."""
        self._stroke(_STROKE)
        radius = self._length(_RADIUS)
        box = QRectF(x - radius, y - radius, 2 * radius, 2 * radius)
        for number in range(6):
            self._painter.drawArc(box, (number * 60 + 12) * 16, 36 * 16)

    def diamond(self, x: float, y: float) -> None:
        """Draw a hollow diamond."""
        self._stroke(1.5)
        r = self._length(4.2)
        path = QPainterPath(QPointF(x, y - r))
        for corner in ((x + r, y), (x, y + r), (x - r, y)):
            path.lineTo(*corner)
        path.closeSubpath()
        self._painter.drawPath(path)

    def waves(self, x: float, y: float) -> None:
        """Draw two waves."""
        self._stroke(1.5, Qt.PenCapStyle.RoundCap)
        w, rise, gap = self._length(3.6), self._length(1.6), self._length(1.9)
        for level in (y - gap, y + gap):
            path = QPainterPath(QPointF(x - w, level + rise / 2))
            path.cubicTo(
                x - w / 3, level - rise * 1.6, x + w / 3, level + rise * 1.6, x + w, level - rise / 2
            )
            self._painter.drawPath(path)

    def equals(self, x: float, y: float) -> None:
        """Draw an equals sign."""
        self._stroke(1.4)
        w, gap = self._length(3.4), self._length(1.8)
        for level in (y - gap, y + gap):
            self._painter.drawLine(QLineF(x - w, level, x + w, level))

    def tick(self, x: float, y: float) -> None:
        """Draw a tick."""
        self._stroke(1.7, Qt.PenCapStyle.RoundCap)
        a = self._length(1.0)
        path = QPainterPath(QPointF(x - 4.2 * a, y + 0.2 * a))
        path.lineTo(x - 1.3 * a, y + 3.1 * a)
        path.lineTo(x + 4.4 * a, y - 3.1 * a)
        self._painter.drawPath(path)

    def triangle(self, x: float, y: float) -> None:
        """Draw a triangle."""
        self._stroke(1.5)
        a = self._length(1.0)
        path = QPainterPath(QPointF(x, y - 4.4 * a))
        path.lineTo(x + 5 * a, y + 4 * a)
        path.lineTo(x - 5 * a, y + 4 * a)
        path.closeSubpath()
        self._painter.drawPath(path)

    def barred_circle(self, x: float, y: float) -> None:
        """Draw a barred circle."""
        self._stroke(1.5)
        r = self._length(4.8)
        self._painter.drawEllipse(QPointF(x, y), r, r)
        d = r * 0.7071
        self._painter.drawLine(QLineF(x - d, y - d, x + d, y + d))

    def pencil(self, x: float, y: float) -> None:
        """Draw the pencil of a value of the user's own."""
        size = self._length(12.0)
        draw_icon(self._painter, "pencil", self._colour, QRectF(x - size / 2, y - size / 2, size, size))

    def _stroke(self, width: float, cap: Qt.PenCapStyle = Qt.PenCapStyle.FlatCap) -> None:
        pen = QPen(self._colour, self._length(width), Qt.PenStyle.SolidLine, cap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin if cap == Qt.PenCapStyle.RoundCap else _MITRE)
        self._painter.setPen(pen)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)


#: Shape and colour token of each glyph. The first is called with a painter and the middle.
GLYPHS: Final[dict[str, tuple[Callable[[GlyphPainter, float, float], None], str]]] = {
    "best": (GlyphPainter.tick, "best_text"),
    "overlap": (GlyphPainter.waves, "best_text"),
    "disputed": (GlyphPainter.diamond, "disputed"),
    "measured": (GlyphPainter.full_circle, "text2"),
    "calibrated": (GlyphPainter.half_circle, "text2"),
    "estimated": (GlyphPainter.circle, "text2"),
    "uncalibrated": (GlyphPainter.dashed_circle, "text2"),
    "exact": (GlyphPainter.equals, "text3"),
    "fits": (GlyphPainter.tick, "text1"),
    "partly": (GlyphPainter.triangle, "disputed_text"),
    "unfit": (GlyphPainter.barred_circle, "unfit"),
    "own": (GlyphPainter.pencil, "link"),
}
