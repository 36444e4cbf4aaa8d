"""Outlines of the markers of slots, shared by swatches, charts and the sheet."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QPolygonF, QTransform

#: Radius of the outlines that `marker_path` returns; scale them to the radius wanted.
UNIT_RADIUS: Final = 1.0

# Each shape is drawn larger or smaller than the circle of radius 1 so that all look equally heavy.
_POLYGONS: Final = {
    "triangle-up": (3, 1.2, -90.0),
    "triangle-down": (3, 1.2, 90.0),
    "diamond": (4, 1.2, -90.0),
    "pentagon": (5, 1.1, -90.0),
    "hexagon": (6, 1.06, -90.0),
}
_SQUARE: Final = 0.9
_CROSS_ARM: Final = 1.15
_CROSS_HALF_WIDTH: Final = 0.42


@lru_cache(maxsize=16)
def marker_path(name: str) -> QPainterPath:
    """Return a marker's closed outline around the origin, as heavy as a circle of radius 1."""
    path = QPainterPath()
    if name == "circle":
        path.addEllipse(QPointF(0, 0), 1.0, 1.0)
    elif name == "square":
        path.addRect(QRectF(-_SQUARE, -_SQUARE, 2 * _SQUARE, 2 * _SQUARE))
    elif name == "cross":
        path.addPolygon(_cross())
        path.closeSubpath()
    else:
        corners, radius, first = _POLYGONS[name]
        path.addPolygon(_polygon(corners, radius, first))
        path.closeSubpath()
    return path


def marker_at(name: str, x: float, y: float, radius: float) -> QPainterPath:
    """Return a marker's outline around a point."""
    return QTransform(radius, 0, 0, radius, x, y).map(marker_path(name))


def _polygon(corners: int, radius: float, first: float) -> QPolygonF:
    angles = (math.radians(first + 360 * corner / corners) for corner in range(corners))
    points = [QPointF(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
    # A triangle's middle lies below the middle of its height.
    top, bottom = min(p.y() for p in points), max(p.y() for p in points)
    shift = -(top + bottom) / 2
    return QPolygonF([QPointF(p.x(), p.y() + shift) for p in points])


def _cross() -> QPolygonF:
    a, w = _CROSS_ARM, _CROSS_HALF_WIDTH
    corners = (
        (-w, -a), (w, -a), (w, -w), (a, -w), (a, w), (w, w),
        (w, a), (-w, a), (-w, w), (-a, w), (-a, -w), (-w, -w),
    )  # fmt: skip
    return QPolygonF([QPointF(x, y) for x, y in corners])


def strokes_from_centre(dash: list[float], width: float, half: float) -> list[tuple[float, float]]:
    """Return where a dashed line of this half length has ink, on one side, from the centre outwards.

    The first stroke of the dash lies across the centre, so that both sides are alike. `dash` is in pen
    widths, the result in the unit of `width`.
    """
    if not dash:
        return [(0.0, half)]
    strokes: list[tuple[float, float]] = []
    position, index = -dash[0] * width / 2, 0
    while position < half:
        end = position + dash[index % len(dash)] * width
        if index % 2 == 0:
            strokes.append((max(0.0, position), min(end, half)))
        position, index = end, index + 1
    return strokes


#: Ends of all strokes of curves and swatches, so that a dash is as long as its table says.
FLAT: Final = Qt.PenCapStyle.FlatCap
