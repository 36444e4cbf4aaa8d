"""The coordinate frame of a plot, and its scene items: layers painted in pixels, bands, curves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterStateGuard, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gpudesk.desktop.ui.charts.chart_data import PlotCurve
from gpudesk.desktop.ui.charts.scales import AxisScale, FloatArray
from gpudesk.desktop.ui.theme.theme import Theme

#: Options read by the imported modules of pyqtgraph; all others count as off.
_OPTIONS: Final = {"background": "k", "leftButtonPan": True, "mouseRateLimit": 100, "segmentedLineMode": "auto"}


def _import_pyqtgraph() -> ModuleType:
    """Import the modules of pyqtgraph for plots, with Qt's own modules in place of its copies.

    The package itself imports all of its widgets. To copy Qt's modules, it would have PySide6 make all of their classes
    and enumerations. Together that takes 0.2 s and 22 MB. It copies what a module lists and its copy lacks.
    OpenGL, which no plot here uses, takes 3 MB more.
    """
    spec = find_spec("pyqtgraph")
    if spec is None:
        raise ModuleNotFoundError("pyqtgraph")
    package = sys.modules["pyqtgraph"] = module_from_spec(spec)
    vars(package).update(getConfigOption=_OPTIONS.get, _connectCleanup=_let_views_go_at_exit)
    modules = (QtCore, QtGui, QtWidgets)
    for module in modules:
        sys.modules[f"pyqtgraph.Qt.{module.__name__.removeprefix('PySide6.')}"] = module
        module.__dir__ = list  # type: ignore[method-assign]
    open_gl = ModuleType("PySide6.QtOpenGLWidgets")
    vars(open_gl).update(QOpenGLWidget=QtWidgets.QWidget)
    stand_ins = {open_gl.__name__: open_gl, "PySide6.QtOpenGL": ModuleType("PySide6.QtOpenGL")}
    sys.modules.update(stand_ins)
    try:
        for name in ("PlotCurveItem", "ViewBox"):
            import_module(f"pyqtgraph.graphicsItems.{name}")
        import_module("pyqtgraph.widgets.GraphicsView")
        return package
    finally:
        for module in modules:
            del module.__dir__
        for name in stand_ins:
            del sys.modules[name]


@cache
def _let_views_go_at_exit() -> None:
    """Stop the callbacks of all views before the application ends, as the package does."""
    application = QtWidgets.QApplication.instance()
    if application is not None:
        application.aboutToQuit.connect(ViewBox.quit)


if TYPE_CHECKING:
    import pyqtgraph as pg
else:
    pg = _import_pyqtgraph()
GraphicsView, ViewBox = pg.widgets.GraphicsView.GraphicsView, pg.graphicsItems.ViewBox.ViewBox

#: Maximum zoom, as a share of the whole range.
_CLOSEST: Final = 1 / 60
#: Bands can extend a linear axis by this much beyond the highest curve; wider ones are cut at the edge.
_MOST_HEADROOM: Final = 1.5
#: Space above the highest curve on a linear axis.
_LEAST_HEADROOM: Final = 1.05

ValueRange = tuple[float, float]


@dataclass(slots=True)
class CoordinateFrame:
    """Maps values to pixels. Ranges are in scale positions; `whole` shows everything."""

    x_scale: AxisScale
    y_scale: AxisScale
    area: QRectF = field(default_factory=lambda: QRectF(0, 0, 1, 1))
    x: ValueRange = (0.0, 1.0)
    y: ValueRange = (0.0, 1.0)
    whole_x: ValueRange = (0.0, 1.0)
    whole_y: ValueRange = (0.0, 1.0)

    @property
    def zoomed(self) -> bool:
        return (self.x, self.y) != (self.whole_x, self.whole_y)

    def pixel_x(self, value: float) -> float:
        share = (self.x_scale.place_of(value) - self.x[0]) / (self.x[1] - self.x[0])
        return self.area.left() + share * self.area.width()

    def pixel_y(self, value: float) -> float:
        share = (self.y_scale.place_of(value) - self.y[0]) / (self.y[1] - self.y[0])
        return self.area.bottom() - share * self.area.height()

    def value_x(self, pixel: float) -> float:
        share = (pixel - self.area.left()) / max(1.0, self.area.width())
        return self.x_scale.value_at(self.x[0] + share * (self.x[1] - self.x[0]))

    def pixels(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return points in pixels, n × 2."""
        across = (self.x_scale.place(x) - self.x[0]) * (self.area.width() / (self.x[1] - self.x[0]))
        up = (self.y_scale.place(y) - self.y[0]) * (self.area.height() / (self.y[1] - self.y[0]))
        return np.stack([self.area.left() + across, self.area.bottom() - up], axis=1)

    def get_x_range(self) -> ValueRange:
        return self.x_scale.value_at(self.x[0]), self.x_scale.value_at(self.x[1])

    def get_y_range(self) -> ValueRange:
        return self.y_scale.value_at(self.y[0]), self.y_scale.value_at(self.y[1])

    def fit(self, x: ValueRange, y: ValueRange, most: tuple[int, int]) -> None:
        """Show everything between values, and store that as the whole; at most `most` ticks."""
        self.whole_x = self._fit_range(self.x_scale, x, most[0])
        self.whole_y = self._fit_range(self.y_scale, y, most[1])
        self.x, self.y = self.whole_x, self.whole_y

    def show_whole(self) -> None:
        self.x, self.y = self.whole_x, self.whole_y

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Zoom to a share of the visible range around a pixel, which stays in place; never beyond the whole."""
        right = (x - self.area.left()) / max(1.0, self.area.width())
        up = (self.area.bottom() - y) / max(1.0, self.area.height())
        self.x = _zoom_range(self.x, self.whole_x, factor, right)
        self.y = _zoom_range(self.y, self.whole_y, factor, up)

    def pan(self, right: float, down: float) -> None:
        self.x = _shift_range(self.x, self.whole_x, -right / max(1.0, self.area.width()))
        self.y = _shift_range(self.y, self.whole_y, down / max(1.0, self.area.height()))

    @staticmethod
    def _fit_range(scale: AxisScale, values: ValueRange, most: int) -> ValueRange:
        low, high = scale.fitted(*values, most)
        return scale.place_of(low), scale.place_of(high)


def find_extents(
    lines: tuple[PlotCurve, ...], points: tuple[tuple[float, float], ...], x_reach: float | None, *, linear_y: bool
) -> tuple[ValueRange, ValueRange] | None:
    """Return the values of x and y that a plot of lines and points must show; None without any lines."""
    drawn_lines = [line for line in lines if len(line.x)]
    if not drawn_lines:
        return None
    x_low = min(float(line.x.min()) for line in drawn_lines)
    x_high = max(float(line.x.max()) for line in drawn_lines)
    for x, _ in points:
        x_low, x_high = min(x_low, x), max(x_high, x)
    if x_reach is not None:
        x_low, x_high = min(x_low, x_reach), max(x_high, x_reach)
    low = min([float(line.y.min()) for line in drawn_lines] + [y for _, y in points])
    high = max([float(line.y.max()) for line in drawn_lines] + [y for _, y in points])
    bands = [line for line in drawn_lines if line.low is not None and line.high is not None]
    band_low = min((float(line.low.min()) for line in bands if line.low is not None), default=low)
    band_high = max((float(line.high.max()) for line in bands if line.high is not None), default=high)
    if linear_y:
        return (x_low, x_high), (low, max(high * _LEAST_HEADROOM, min(band_high, high * _MOST_HEADROOM)))
    return (x_low, x_high), (min(low, band_low), max(high, band_high))


def _zoom_range(visible: ValueRange, whole: ValueRange, factor: float, share: float) -> ValueRange:
    """Return a range with another span; the position at `share` of it stays in place."""
    most = whole[1] - whole[0]
    span = min(most, max(most * _CLOSEST, (visible[1] - visible[0]) * factor))
    fixed = visible[0] + share * (visible[1] - visible[0])
    return _clamp_range((fixed - share * span, fixed + (1 - share) * span), whole)


def _shift_range(visible: ValueRange, whole: ValueRange, share: float) -> ValueRange:
    by = share * (visible[1] - visible[0])
    return _clamp_range((visible[0] + by, visible[1] + by), whole)


def _clamp_range(bounds: ValueRange, whole: ValueRange) -> ValueRange:
    span = min(bounds[1] - bounds[0], whole[1] - whole[0])
    low = min(max(bounds[0], whole[0]), whole[1] - span)
    return (whole[0], whole[1]) if span >= (whole[1] - whole[0]) * (1 - 1e-9) else (low, low + span)


#: Widths of curves, and of those of a pinned answer, in pixels.
CURVE: Final = 2.0
_GHOST: Final = 1.2
#: Opacity of a pinned curve, of 255.
_GHOST_ALPHA: Final = 130

GROUND_Z, BAND_Z, RULE_Z, GHOST_Z, CURVE_Z, OVERLAY_Z = -10.0, 1.0, 2.0, 3.0, 4.0, 10.0


class PixelLayer(QGraphicsItem):
    """Covers the whole scene and paints in its pixels; a `kept` layer repaints only when stale."""

    def __init__(self, painted: Callable[[QPainter], None], z: float, *, is_cached: bool = False) -> None:
        super().__init__()
        self._painted = painted
        self._is_cached = is_cached
        self._picture: QPixmap | None = None
        self._rect = QRectF()
        self.setZValue(z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def resize(self, width: float, height: float) -> None:
        self.prepareGeometryChange()
        self._rect = QRectF(0.0, 0.0, width, height)
        self.stale()

    def stale(self) -> None:
        self._picture = None

    def boundingRect(self) -> QRectF:
        return self._rect

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        del option, widget
        if self._is_cached:
            painter.drawPixmap(0, 0, self._get_picture(painter.device().devicePixelRatio()))
            return
        with QPainterStateGuard(painter):
            self._painted(painter)

    def _get_picture(self, ratio: float) -> QPixmap:
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture = QPixmap((self._rect.size() * ratio).toSize())
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            with QPainter(self._picture) as painter:
                self._painted(painter)
        return self._picture


class BandItem(QGraphicsItem):
    """The area between the interval ends of one curve, in plot positions."""

    def __init__(self) -> None:
        super().__init__()
        self._polygon = QPolygonF()
        self._rect = QRectF()
        self._color = QColor()
        self.setZValue(BAND_Z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_band(self, x: FloatArray, low: FloatArray, high: FloatArray, color: QColor) -> None:
        self.prepareGeometryChange()
        around = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
        self._polygon = pg.functions.arrayToQPolygonF(*around)
        self._rect = self._polygon.boundingRect()
        self._color = color

    def boundingRect(self) -> QRectF:
        return self._rect

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        del option, widget
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._color)
        painter.drawPolygon(self._polygon)


class CurveItem(pg.graphicsItems.PlotCurveItem.PlotCurveItem):  # type: ignore[misc]
    """A curve of the library with given bounds, which it would recompute at every paint."""

    _bounds = QRectF()

    def show_curve(self, x: FloatArray, y: FloatArray, pen: QPen) -> None:
        left, right, bottom, top = float(x.min()), float(x.max()), float(y.min()), float(y.max())
        self._bounds = QRectF(left, bottom, right - left, top - bottom).adjusted(-1e-9, -1e-9, 1e-9, 1e-9)
        self.setData(x, y, pen=pen)

    def boundingRect(self) -> QRectF:
        """Return the bounds of the points; half a line's width makes no visible difference."""
        return self._bounds


class CurveItems:
    """The curves and bands in a view box; items are created once and updated."""

    def __init__(self, box: pg.graphicsItems.ViewBox.ViewBox, theme: Theme) -> None:
        self._box = box
        self._theme = theme
        #: Device pixels per design pixel; in a view box, line widths are in device pixels.
        self.ratio = 1.0
        self._curves: list[CurveItem] = []
        self._ghosts: list[CurveItem] = []
        self._bands: list[BandItem] = []

    def show(
        self, lines: Sequence[PlotCurve], ghosts: Sequence[PlotCurve], x_scale: AxisScale, y_scale: AxisScale
    ) -> None:
        self._fill(self._curves, lines, CURVE_Z, self._make_curve_pen, x_scale, y_scale)
        self._fill(self._ghosts, ghosts, GHOST_Z, self._make_ghost_pen, x_scale, y_scale)

    def show_bands(self, lines: Sequence[PlotCurve], x_scale: AxisScale, y_scale: AxisScale) -> None:
        banded = [line for line in lines if line.low is not None and line.high is not None and len(line.x) > 1]
        while len(self._bands) < len(banded):
            area = BandItem()
            self._bands.append(area)
            self._box.addItem(area, ignoreBounds=True)
        for number, area in enumerate(self._bands):
            area.setVisible(number < len(banded))
        for area, line in zip(self._bands, banded, strict=False):
            if line.low is None or line.high is None:
                continue
            area.show_band(
                x_scale.place(line.x),
                y_scale.place(line.low),
                y_scale.place(line.high),
                self._theme.band_color(line.slot),
            )

    def _fill(
        self,
        items: list[CurveItem],
        lines: Sequence[PlotCurve],
        z: float,
        pen: Callable[[PlotCurve], QPen],
        x_scale: AxisScale,
        y_scale: AxisScale,
    ) -> None:
        while len(items) < len(lines):
            item = CurveItem(antialias=True, skipFiniteCheck=True)
            item.setZValue(z)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            items.append(item)
            self._box.addItem(item, ignoreBounds=True)
        for number, item in enumerate(items):
            item.setVisible(number < len(lines))
        for item, line in zip(items, lines, strict=False):
            item.show_curve(x_scale.place(line.x), y_scale.place(line.y), pen(line))

    def _make_curve_pen(self, line: PlotCurve) -> QPen:
        return self._make_dashed_pen(line, self._theme.mark_color(line.slot), CURVE)

    def _make_ghost_pen(self, line: PlotCurve) -> QPen:
        color = QColor(self._theme.mark_color(line.slot))
        color.setAlpha(_GHOST_ALPHA)
        return self._make_dashed_pen(line, color, _GHOST)

    def _make_dashed_pen(self, line: PlotCurve, color: QColor, width: float) -> QPen:
        pen = QPen(color, width * self.ratio)
        pen.setCosmetic(True)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        dash = self._theme.dash_pattern(line.dash or line.slot)
        if dash:
            pen.setDashPattern(dash)
        return pen
