"""A canvas with mouse control: wheel zoom, drag to pan, hover, and a movable cursor line."""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from gpudesk.desktop.ui.charts.canvas import PlotCanvas
from gpudesk.desktop.ui.charts.scales import AxisScale, FloatArray
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.text.formatting import Formatter

#: Maximum mouse distance for dragging the cursor line, and for clicking a curve, in pixels.
_GRIP: Final = 6.0
_NEAR_CURVE: Final = 9.0
#: A press with less movement is a click.
_CLICK: Final = 4.0
#: Visible share after one notch of the wheel.
_ZOOM: Final = 0.82
_NOTCH: Final = 120.0


class InteractivePlot(PlotCanvas):
    """Emits signals for mouse actions; their receivers decide on the effect."""

    #: The value of x under the mouse, or None.
    hovered = Signal(object)
    #: The cursor line is grabbed, moved to a value of x, released.
    rule_grabbed = Signal()
    rule_moved = Signal(float)
    rule_released = Signal()
    #: The key of a curve that was clicked.
    curve_clicked = Signal(str)

    def __init__(
        self, theme: Theme, formatter: Formatter, x_scale: AxisScale, y_scale: AxisScale, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, formatter, x_scale, y_scale, parent)
        self._pressed: QPointF | None = None
        self._panned = False
        self._dragging_rule = False

    def wheelEvent(self, event: QWheelEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        position = event.position()
        if not self.frame.area.contains(position) or (_is_in_scroll_area(self) and not control):
            event.ignore()
            return
        self.zoom(_ZOOM ** (event.angleDelta().y() / _NOTCH), position)
        event.accept()

    def zoom(self, factor: float, around: QPointF | None = None) -> None:
        """Zoom to a share of the visible range around a pixel, by default the middle."""
        around = self.frame.area.center() if around is None else around
        self.frame.zoom(factor, around.x(), around.y())
        self._range_changed()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the full subtitle, which can be cut, as a tooltip of the head."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.subtitle if event.pos().y() < self.head_height() else "", self)
            return True
        return bool(super().viewportEvent(event))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._pressed, self._panned = event.position(), False
        if self._over_rule(event.position()):
            self._dragging_rule = True
            self.rule_grabbed.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._dragging_rule:
            low, high = self.frame.values_x()
            self.rule_moved.emit(min(high, max(low, self.frame.value_x(position.x()))))
        elif self._pressed is not None:
            self._drag_ground(position)
        else:
            over = self._over_rule(position)
            self.viewport().setCursor(Qt.CursorShape.SplitHCursor if over else Qt.CursorShape.ArrowCursor)
            inside = self.frame.area.contains(position) and not over
            self.hovered.emit(self.frame.value_x(position.x()) if inside else None)

    def _drag_ground(self, position: QPointF) -> None:
        if self._pressed is None:
            return
        moved = position - self._pressed
        if not self.frame.zoomed or (not self._panned and moved.manhattanLength() < _CLICK):
            return
        self._panned = True
        self.frame.pan(moved.x(), moved.y())
        self._pressed = position
        self._range_changed()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        pressed, self._pressed = self._pressed, None
        if self._dragging_rule:
            self._dragging_rule = False
            self.rule_released.emit()
        elif pressed is not None and not self._panned:
            key = self.curve_at(event.position())
            if key is not None:
                self.curve_clicked.emit(key)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        del event
        self.fit_view()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)

    def curve_at(self, position: QPointF) -> str | None:
        """Return the key of the curve nearest to a pixel, if one is near."""
        best, least = None, _NEAR_CURVE
        for number, line in enumerate(self.drawing.lines):
            distance = _distance_to_curve(self.pixels_of(number), position.x(), position.y())
            if distance < least:
                best, least = line.key, distance
        return best

    def _over_rule(self, position: QPointF) -> bool:
        rule = self.drawing.rule
        if rule is None or not rule.movable:
            return False
        low, high = self.frame.values_x()
        near = low <= rule.value <= high and abs(position.x() - self.frame.pixel_x(rule.value)) <= _GRIP
        return near and self.rule_zone().contains(position)

    def rule_zone(self) -> QRectF:
        """Return where the cursor line can be grabbed."""
        return self.frame.area.adjusted(-_GRIP, 0, _GRIP, self.theme.px(20))


def _is_in_scroll_area(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QAbstractScrollArea) and parent.verticalScrollBar().maximum() > 0:
            return True
        parent = parent.parentWidget()
    return False


def _distance_to_curve(points: FloatArray, x: float, y: float) -> float:
    if len(points) < 2:
        return float(np.hypot(points[:, 0] - x, points[:, 1] - y).min()) if len(points) else float("inf")
    starts, steps = points[:-1], np.diff(points, axis=0)
    lengths = np.maximum((steps**2).sum(axis=1), 1e-9)
    along = np.clip(((x - starts[:, 0]) * steps[:, 0] + (y - starts[:, 1]) * steps[:, 1]) / lengths, 0, 1)
    return float(np.hypot(starts[:, 0] + along * steps[:, 0] - x, starts[:, 1] + along * steps[:, 1] - y).min())
