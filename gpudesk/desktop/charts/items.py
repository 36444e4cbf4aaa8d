"""Items of a plot's scene: layers painted in pixels, the areas of bands, and the curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Array, Scale
from gpudesk.desktop.theme.theme import Theme

#: Widths of curves, and of those of a pinned answer, in pixels.
CURVE: Final = 2.0
_GHOST: Final = 1.2
#: How much of the ground a pinned curve covers, of 255.
_GHOST_ALPHA: Final = 130

GROUND_Z, BAND_Z, RULE_Z, GHOST_Z, CURVE_Z, OVERLAY_Z = -10.0, 1.0, 2.0, 3.0, 4.0, 10.0


class Layer(QGraphicsItem):
    """Covers the whole scene and paints in its pixels; a `kept` one paints only when it has become stale."""

    def __init__(self, painted: Callable[[QPainter], None], z: float, *, kept: bool = False) -> None:
        """Take the function that paints."""
        super().__init__()
        self._painted = painted
        self._kept = kept
        self._picture: QPixmap | None = None
        self._rect = QRectF()
        self.setZValue(z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def resize(self, width: float, height: float) -> None:
        """Cover a scene of that size."""
        self.prepareGeometryChange()
        self._rect = QRectF(0.0, 0.0, width, height)
        self.stale()

    def stale(self) -> None:
        """Paint anew at the next occasion."""
        self._picture = None

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the whole scene."""
        return self._rect

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint, and leave the painter as it was."""
        del option, widget
        if self._kept:
            painter.drawPixmap(0, 0, self._picture_for(painter.device().devicePixelRatio()))
            return
        painter.save()
        try:
            self._painted(painter)
        finally:
            painter.restore()

    def _picture_for(self, ratio: float) -> QPixmap:
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture = QPixmap((self._rect.size() * ratio).toSize())
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._picture)
            try:
                self._painted(painter)
            finally:
                painter.end()
        return self._picture


class BandArea(QGraphicsItem):
    """The area between the ends of one curve's band, in the places of the plot."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self._polygon = QPolygonF()
        self._rect = QRectF()
        self._colour = QColor()
        self.setZValue(BAND_Z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_band(self, x: Array, low: Array, high: Array, colour: QColor) -> None:
        """Fill between two edges."""
        self.prepareGeometryChange()
        around = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
        self._polygon = pg.functions.arrayToQPolygonF(*around)
        self._rect = self._polygon.boundingRect()
        self._colour = colour

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return what the area covers."""
        return self._rect

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Fill the area."""
        del option, widget
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        painter.drawPolygon(self._polygon)


class CurveItem(pg.PlotCurveItem):  # type: ignore[misc]
    """A curve of the library that is told its bounds, which it would work out anew at every paint."""

    _bounds = QRectF()

    def show_curve(self, x: Array, y: Array, pen: QPen) -> None:
        """Draw through points, in the places of the plot."""
        left, right, bottom, top = float(x.min()), float(x.max()), float(y.min()), float(y.max())
        self._bounds = QRectF(left, bottom, right - left, top - bottom).adjusted(-1e-9, -1e-9, 1e-9, 1e-9)
        self.setData(x, y, pen=pen)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return what the points cover; half a line's width more makes no difference to what is painted."""
        return self._bounds


class Curves:
    """The curves and bands in a view box; items are made once and given new data."""

    def __init__(self, box: pg.ViewBox, theme: Theme) -> None:
        """Draw into a view box."""
        self._box = box
        self._theme = theme
        #: Pixels of the screen in one of the design; in a view box, widths of lines are in the former.
        self.ratio = 1.0
        self._curves: list[CurveItem] = []
        self._ghosts: list[CurveItem] = []
        self._bands: list[BandArea] = []

    def show(self, lines: Sequence[Line], ghosts: Sequence[Line], x_scale: Scale, y_scale: Scale) -> None:
        """Draw curves, and faint ones behind them."""
        self._fill(self._curves, lines, CURVE_Z, self._pen, x_scale, y_scale)
        self._fill(self._ghosts, ghosts, GHOST_Z, self._ghost_pen, x_scale, y_scale)

    def show_bands(self, lines: Sequence[Line], x_scale: Scale, y_scale: Scale) -> None:
        """Shade the bands of some of the curves."""
        banded = [
            line for line in lines if line.low is not None and line.high is not None and len(line.x) > 1
        ]
        while len(self._bands) < len(banded):
            area = BandArea()
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
                self._theme.slot_band(line.slot),
            )

    def _fill(
        self,
        items: list[CurveItem],
        lines: Sequence[Line],
        z: float,
        pen: Callable[[Line], QPen],
        x_scale: Scale,
        y_scale: Scale,
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

    def _pen(self, line: Line) -> QPen:
        return self._dashed(line, self._theme.slot_mark(line.slot), CURVE)

    def _ghost_pen(self, line: Line) -> QPen:
        colour = self._theme.slot_mark(line.slot)
        colour.setAlpha(_GHOST_ALPHA)
        return self._dashed(line, colour, _GHOST)

    def _dashed(self, line: Line, colour: QColor, width: float) -> QPen:
        pen = QPen(colour, width * self.ratio)
        pen.setCosmetic(True)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        dash = self._theme.slot_dash(line.slot)
        if dash:
            pen.setDashPattern(dash)
        return pen
