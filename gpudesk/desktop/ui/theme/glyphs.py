"""Icons, status glyphs of figures, and the marker outlines of swatches, charts and sheets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Protocol

from PySide6.QtCore import QByteArray, QLineF, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QIcon,
    QIconEngine,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
)
from PySide6.QtSvg import QSvgRenderer

from gpudesk import paths
from gpudesk.desktop.ui.theme.tokens import PaintStyle
from gpudesk.report.comparison.tables import CellMarking

#: The placeholder color of the SVG files.
_PLACEHOLDER = "currentColor"
_PROGRAM_SIZES = (16, 24, 32, 48, 64, 128, 256)


@lru_cache(maxsize=256)
def _read_svg(name: str) -> str:
    return paths.resource(f"icons/{name}.svg").read_text(encoding="utf-8")


def tint_svg(name: str, color: QColor) -> bytes:
    return _read_svg(name).replace(_PLACEHOLDER, color.name()).encode()


#: Of 9 kB each: more than one look has.
@lru_cache(maxsize=128)
def _render_icon(name: str, rgba: int, width: int, height: int) -> QPixmap:
    color = QColor.fromRgba(rgba)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(tint_svg(name, color)))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    with QPainter(image) as painter:
        renderer.render(painter, QRectF(0, 0, width, height))
    return QPixmap.fromImage(image)


def render_icon(name: str, color: QColor, size: float, ratio: float) -> QPixmap:
    """Return an icon `size` device-independent pixels wide for a screen with this device pixel ratio."""
    pixels = max(1, round(size * ratio))
    pixmap = QPixmap(_render_icon(name, color.rgba(), pixels, pixels))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def draw_icon(painter: QPainter, name: str, color: QColor, rect: QRectF) -> None:
    renderer = QSvgRenderer(QByteArray(tint_svg(name, color)))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    renderer.render(painter, rect)


def make_program_icon() -> QIcon:
    """Return the program's own icon, which looks the same in every theme."""
    renderer = QSvgRenderer(str(paths.resource("icons/gpudesk.svg")))
    icon = QIcon()
    for side in _PROGRAM_SIZES:
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            renderer.render(painter)
        icon.addPixmap(pixmap)
    return icon


class IconColors(Protocol):
    """The theme data of an icon when it is painted."""

    def color(self, token: str) -> QColor: ...

    def px(self, n: float) -> int:
        """Return a length of the design in pixels."""


class TintedIconEngine(QIconEngine):
    """Paints an icon in the colors of the current theme, so that an icon once set follows theme switches.

    In a larger place the icon is painted at its own size, in the middle.
    """

    def __init__(self, name: str, color: str, size: float, theme: IconColors) -> None:
        """Store the theme and tokens for painting; `size` is a design length."""
        super().__init__()
        self._name = name
        self._token = color
        self._size = size
        self._theme = theme

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        ratio = painter.device().devicePixelRatio()
        side = self._compute_icon_side(min(rect.width(), rect.height()))
        pixmap = render_icon(self._name, self._color(mode), side, ratio)
        corner = QPoint(rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2)
        painter.drawPixmap(corner, pixmap)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return a picture of at most this many pixels."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(
        self,
        size: QSize,
        mode: QIcon.Mode,
        state: QIcon.State,  # noqa: ARG002 - Qt's signature
        scale: float,
    ) -> QPixmap:
        """Return a picture of at most this many device-independent pixels, sharp at this scale."""
        side = self._compute_icon_side(min(size.width(), size.height()))
        return render_icon(self._name, self._color(mode), side, scale)

    def clone(self) -> QIconEngine:
        return TintedIconEngine(self._name, self._token, self._size, self._theme)

    def _compute_icon_side(self, room: int) -> int:
        return max(1, min(room, self._theme.px(self._size)))

    def _color(self, mode: QIcon.Mode) -> QColor:
        return self._theme.color("disabled" if mode == QIcon.Mode.Disabled else self._token)


# Shapes are scaled relative to the circle of radius 1 so that all look equally large.
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
def make_marker_path(name: str) -> QPainterPath:
    """Return a marker's closed outline around the origin, visually as large as a circle of radius 1."""
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
        path.addPolygon(_make_polygon(corners, radius, first))
        path.closeSubpath()
    return path


#: Of 4 kB each: those of the charts in view.
@lru_cache(maxsize=64)
def make_marker_at(name: str, x: float, y: float, radius: float) -> QPainterPath:
    return QTransform(radius, 0, 0, radius, x, y).map(make_marker_path(name))


def _make_polygon(corners: int, radius: float, first: float) -> QPolygonF:
    angles = (math.radians(first + 360 * corner / corners) for corner in range(corners))
    points = [QPointF(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
    # The centroid of a triangle is below half its height.
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


@lru_cache(maxsize=256)
def split_dashes_from_center(dash: tuple[float, ...], width: float, half: float) -> tuple[tuple[float, float], ...]:
    """Return the drawn intervals of a dashed line of this half length, on one side, from the center outwards.

    The first stroke of the dash crosses the center, so that both sides are equal. `dash` is in pen widths, the result
    in the unit of `width`.
    """
    if not dash:
        return ((0.0, half),)
    strokes: list[tuple[float, float]] = []
    position, index = -dash[0] * width / 2, 0
    while position < half:
        end = position + dash[index % len(dash)] * width
        if index % 2 == 0:
            strokes.append((max(0.0, position), min(end, half)))
        position, index = end, index + 1
    return tuple(strokes)


#: Cap of all strokes of curves and swatches, so that a dash is as long as in its table.
FLAT: Final = Qt.PenCapStyle.FlatCap


_RADIUS: Final = 3.8
_STROKE: Final = 1.4
_MITRE: Final = Qt.PenJoinStyle.MiterJoin


class GlyphPainter:
    """Draws glyphs around a point in one color; lengths are design lengths."""

    def __init__(self, painter: QPainter, look: PaintStyle, color: QColor) -> None:
        self._painter = painter
        self._length = look.length
        self._color = color

    def circle(self, x: float, y: float) -> None:
        self._stroke(_STROKE)
        radius = self._length(_RADIUS)
        self._painter.drawEllipse(QPointF(x, y), radius, radius)

    def half_circle(self, x: float, y: float) -> None:
        self.circle(x, y)
        radius = self._length(_RADIUS)
        half = QPainterPath(QPointF(x, y - radius))
        half.arcTo(QRectF(x - radius, y - radius, 2 * radius, 2 * radius), 90, 180)
        half.closeSubpath()
        self._painter.fillPath(half, QBrush(self._color))

    def dashed_circle(self, x: float, y: float) -> None:
        self._stroke(_STROKE)
        radius = self._length(_RADIUS)
        box = QRectF(x - radius, y - radius, 2 * radius, 2 * radius)
        for number in range(6):
            self._painter.drawArc(box, (number * 60 + 12) * 16, 36 * 16)

    def diamond(self, x: float, y: float) -> None:
        self._stroke(1.5)
        r = self._length(4.2)
        path = QPainterPath(QPointF(x, y - r))
        for corner in ((x + r, y), (x, y + r), (x - r, y)):
            path.lineTo(*corner)
        path.closeSubpath()
        self._painter.drawPath(path)

    def overlapping_bars(self, x: float, y: float) -> None:
        """Draw two intervals that overlap; waves would read as "approximately"."""
        self._stroke(2.0, Qt.PenCapStyle.RoundCap)
        w, gap = self._length(4.0), self._length(1.9)
        self._painter.drawLine(QLineF(x - w, y - gap, x + w * 0.4, y - gap))
        self._painter.drawLine(QLineF(x - w * 0.4, y + gap, x + w, y + gap))

    def equals(self, x: float, y: float) -> None:
        self._stroke(1.4)
        w, gap = self._length(3.4), self._length(1.8)
        for level in (y - gap, y + gap):
            self._painter.drawLine(QLineF(x - w, level, x + w, level))

    def tick(self, x: float, y: float) -> None:
        self._stroke(1.7, Qt.PenCapStyle.RoundCap)
        a = self._length(1.0)
        path = QPainterPath(QPointF(x - 4.2 * a, y + 0.2 * a))
        path.lineTo(x - 1.3 * a, y + 3.1 * a)
        path.lineTo(x + 4.4 * a, y - 3.1 * a)
        self._painter.drawPath(path)

    def triangle(self, x: float, y: float) -> None:
        self._stroke(1.5)
        a = self._length(1.0)
        path = QPainterPath(QPointF(x, y - 4.4 * a))
        path.lineTo(x + 5 * a, y + 4 * a)
        path.lineTo(x - 5 * a, y + 4 * a)
        path.closeSubpath()
        self._painter.drawPath(path)

    def barred_circle(self, x: float, y: float) -> None:
        self._stroke(1.5)
        r = self._length(4.8)
        self._painter.drawEllipse(QPointF(x, y), r, r)
        d = r * 0.7071
        self._painter.drawLine(QLineF(x - d, y - d, x + d, y + d))

    def pencil(self, x: float, y: float) -> None:
        size = self._length(12.0)
        draw_icon(self._painter, "pencil", self._color, QRectF(x - size / 2, y - size / 2, size, size))

    def _stroke(self, width: float, cap: Qt.PenCapStyle = Qt.PenCapStyle.FlatCap) -> None:
        pen = QPen(self._color, self._length(width), Qt.PenStyle.SolidLine, cap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin if cap == Qt.PenCapStyle.RoundCap else _MITRE)
        self._painter.setPen(pen)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)


#: Shape and color token of each glyph. The first is called with a painter and the middle.
GLYPHS: Final[dict[str, tuple[Callable[[GlyphPainter, float, float], None], str]]] = {
    "best": (GlyphPainter.tick, "best_text"),
    "overlap": (GlyphPainter.overlapping_bars, "best_text"),
    "disputed": (GlyphPainter.diamond, "disputed"),
    "calibrated": (GlyphPainter.half_circle, "text2"),
    "estimated": (GlyphPainter.circle, "text2"),
    "uncalibrated": (GlyphPainter.dashed_circle, "text2"),
    "exact": (GlyphPainter.equals, "text3"),
    "fits": (GlyphPainter.tick, "text1"),
    "partly": (GlyphPainter.triangle, "disputed_text"),
    "unfit": (GlyphPainter.barred_circle, "unfit"),
    "own": (GlyphPainter.pencil, "link"),
}
#: Glyphs of unsupported cells; their figures have the color of the glyph.
FAULT_GLYPHS: Final[Mapping[CellMarking | None, str]] = MappingProxyType(
    {CellMarking.FAILS: "unfit", CellMarking.QUEUES: "partly"}
)
FAULT_COLORS: Final[Mapping[CellMarking | None, str]] = MappingProxyType(
    {mark: GLYPHS[name][1] for mark, name in FAULT_GLYPHS.items()}
)
