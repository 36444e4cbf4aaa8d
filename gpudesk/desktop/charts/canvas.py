"""A canvas: curves over two axes with everything around them, painted anew whenever its drawing changes.

The plot library maps and clips the curves; grid, axes, labels, working line and read-out are painted in
pixels by two layers, one below the curves and one above. Ranges are held while a gesture lasts.
"""

from __future__ import annotations

import math

import pyqtgraph as pg
from PySide6.QtCore import QMarginsF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QGraphicsLineItem, QPushButton, QWidget

from gpudesk.desktop.charts.drawing import Drawing, ReadOut
from gpudesk.desktop.charts.frame import Frame, extents
from gpudesk.desktop.charts.ground import most_ticks, paint_ground
from gpudesk.desktop.charts.items import GROUND_Z, OVERLAY_Z, RULE_Z, Curves, Layer
from gpudesk.desktop.charts.labels import Placed
from gpudesk.desktop.charts.lettering import Lettering
from gpudesk.desktop.charts.lines import alike
from gpudesk.desktop.charts.overlay import paint_overlay
from gpudesk.desktop.charts.scales import Array, Linear, Scale
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr


class Canvas(pg.GraphicsView):  # type: ignore[misc]
    """Shows a `Drawing`; `frame` knows what lies where. Subclasses set margins and add to the layers."""

    #: Other values are visible than before.
    ranged = Signal()

    def __init__(
        self,
        theme: Theme,
        formatter: Formatter,
        x_scale: Scale,
        y_scale: Scale,
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty plot."""
        super().__init__(parent, useOpenGL=False)
        self.theme = theme
        self.formatter = formatter
        self.lettering = Lettering(theme)
        self.frame = Frame(x_scale, y_scale)
        self.drawing = Drawing()
        self.title, self.subtitle, self.x_title = "", "", ""
        self.labelled = True
        self.detailed_labels = True
        self.names_alone = False
        self.vertical_grid = False
        self.title_below = True
        self.banded: frozenset[str] = frozenset()
        self.hover_x: float | None = None
        self.hover_read_out: ReadOut | None = None
        self.current: str | None = None
        self.placed: dict[str, Placed] = {}
        self.placed_for: list[tuple[float, float]] = []
        self.dock: int | None = None
        self.read_out_beside = False
        self.blocked: tuple[QRectF, ...] = ()
        self._points: dict[int, Array] = {}
        self._margins_laid_out = QMarginsF()
        self._told: tuple[object, ...] = ()
        self._held = False
        self._set_up_scene()
        self._fit_button = QPushButton(tr("Fit view"), self)
        self._fit_button.hide()
        self._fit_button.clicked.connect(self.fit_view)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._colour()
        theme.changed.connect(self._dress)

    def _set_up_scene(self) -> None:
        self.setCentralItem(None)
        # Whatever changes asks for one paint of the whole by itself; the scene would ask once more, later.
        self.setViewportUpdateMode(pg.QtWidgets.QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        self.setCacheMode(pg.QtWidgets.QGraphicsView.CacheModeFlag.CacheNone)
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0.0)
        self._box.disableAutoRange()
        # The library puts its boxes below everything, so also below the grid.
        self._box.setZValue(0.0)
        self._curves = Curves(self._box, self.theme)
        self._rule = QGraphicsLineItem()
        self._rule.setZValue(RULE_Z)
        self._box.addItem(self._rule, ignoreBounds=True)
        self._ground = Layer(self.paint_ground, GROUND_Z, kept=True)
        self._overlay = Layer(self.paint_overlay, OVERLAY_Z)
        for item in (self._ground, self._box, self._overlay):
            self.scene().addItem(item)

    def close(self) -> bool:
        """Close like any widget; the library would take the scene apart while it is still drawn."""
        return QWidget.close(self)

    # What is shown

    def show_drawing(self, drawing: Drawing) -> None:
        """Show another drawing; ranges follow it unless they are held or the user chose them."""
        before, self.drawing = self.drawing, drawing
        if not (alike(before.lines, drawing.lines) and alike(before.ghosts, drawing.ghosts)):
            self._redraw_curves()
        told = self.title, self.subtitle, self.x_title, drawing.limit, drawing.note, bool(drawing.lines)
        if told != self._told:
            self._told = told
            self.ground_changed()
        self._fit_to_drawing()
        if not self._held and self.margins() != self._margins_laid_out:
            self.lay_out()
        self._show_rule()
        self.viewport().update()

    def ground_changed(self) -> None:
        """Paint the layer below the curves anew."""
        self._ground.stale()
        self.viewport().update()

    def set_bands(self, keys: frozenset[str]) -> None:
        """Shade the bands of these curves only."""
        if keys != self.banded:
            self.banded = keys
            self._redraw_bands()
            self.viewport().update()

    def set_hover(self, x: float | None, read_out: ReadOut | None) -> None:
        """Show what is read off at the mouse, or go back to the drawing's own read-out."""
        self.hover_x, self.hover_read_out = x, read_out
        self.viewport().update()

    def set_current(self, key: str | None) -> None:
        """Mark the curve that the keyboard has chosen."""
        self.current = key
        self.viewport().update()

    def hold(self, held: bool) -> None:
        """Keep the ranges as they are, or let them follow again."""
        self._held = held
        if not held:
            self._fit_to_drawing()
            self.viewport().update()

    @property
    def held(self) -> bool:
        """Whether the ranges are kept."""
        return self._held

    def fit_view(self) -> None:
        """Show everything again."""
        self.frame.show_whole()
        self._range_changed()

    def read_out(self) -> ReadOut | None:
        """Return the figures to be read off now."""
        return self.hover_read_out or self.drawing.read_out

    def _redraw_curves(self) -> None:
        scales = self.frame.x_scale, self.frame.y_scale
        self._curves.ratio = self.devicePixelRatioF()
        self._curves.show(self.drawing.lines, self.drawing.ghosts, *scales)
        self._points.clear()
        self.placed_for = []
        self._redraw_bands()

    def _redraw_bands(self) -> None:
        banded = [line for line in self.drawing.lines if line.key in self.banded]
        self._curves.show_bands(banded, self.frame.x_scale, self.frame.y_scale)

    def _fit_to_drawing(self) -> None:
        rule = self.drawing.rule
        reach = rule.value if rule is not None else None
        linear = isinstance(self.frame.y_scale, Linear)
        points = tuple((mark.x, mark.y) for mark in self.drawing.marks)
        found = extents((*self.drawing.lines, *self.drawing.ghosts), points, reach, linear_y=linear)
        if self._held or found is None:
            return
        zoomed, x, y = self.frame.zoomed, self.frame.x, self.frame.y
        self.frame.fit(*found, most_ticks(self))
        if zoomed:
            self.frame.x, self.frame.y = x, y
            self.frame.pan(0, 0)
        if (x, y) != (self.frame.x, self.frame.y):
            self._range_changed()

    def _show_rule(self) -> None:
        rule = self.drawing.rule
        self._rule.setVisible(rule is not None)
        if rule is not None:
            place = self.frame.x_scale.place_of(rule.value)
            bottom, top = self.frame.whole_y
            self._rule.setLine(place, bottom, place, top)
            self._rule.setPen(self._rule_pen(dashed=rule.read_off))

    # Sizes and ranges

    def margins(self) -> QMarginsF:
        """Return the room around the area of the curves, in pixels."""
        px = self.theme.px
        return QMarginsF(self.y_texts_width(), self.head_height() + px(8), px(24), px(42))

    def y_texts_width(self) -> float:
        """Return the room that the texts at the left take."""
        highest = self.frame.y_scale.value_at(self.frame.whole_y[1])
        width = self.lettering.width(self.formatter.count(highest), "caption")
        return max(float(self.theme.px(48)), math.ceil(width) + self.theme.px(10))

    def foot_height(self) -> float:
        """Return the room between the axis line and the texts of its ticks."""
        return 0.0

    def head_height(self) -> float:
        """Return the height of the line of the title."""
        return float(self.theme.px(26))

    def lay_out(self) -> None:
        """Give the area of the curves what the margins leave."""
        width, height = self.viewport().width(), self.viewport().height()
        whole = QRectF(0, 0, width, height)
        self._margins_laid_out = self.margins()
        area = whole.marginsRemoved(self._margins_laid_out)
        area.setSize(area.size().expandedTo(QRectF(0, 0, 20, 20).size()))
        self.frame.area = QRectF(round(area.x()), round(area.y()), round(area.width()), round(area.height()))
        self._box.setGeometry(self.frame.area)
        self._ground.resize(width, height)
        self._overlay.resize(width, height)
        self._fit_to_drawing()
        self._range_changed()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Lay everything out anew."""
        super().resizeEvent(event)
        if event is not None and hasattr(self, "_fit_button"):
            self.lay_out()

    def _range_changed(self) -> None:
        self._box.setRange(xRange=self.frame.x, yRange=self.frame.y, padding=0, disableAutoRange=True)
        self._points.clear()
        self.placed_for = []
        self._ground.stale()
        self._place_fit_button()
        self.viewport().update()
        self.ranged.emit()

    def _place_fit_button(self) -> None:
        self._fit_button.setVisible(self.frame.zoomed)
        if self.frame.zoomed:
            size = self._fit_button.sizeHint()
            area = self.frame.area
            self._fit_button.setGeometry(
                int(area.right() - size.width() - 8), int(area.top() + 8), size.width(), size.height()
            )

    def pixels_of(self, number: int) -> Array:
        """Return the points of a line of the drawing in pixels, within what is visible."""
        found = self._points.get(number)
        if found is None:
            line = self.drawing.lines[number]
            found = self._points[number] = self.frame.pixels(line.x, line.y)
        return found

    # Painting

    def paint_ground(self, painter: QPainter) -> None:
        """Paint what lies below the curves."""
        if self._curves.ratio != self.devicePixelRatioF():
            # The window went to another screen, and widths of lines count the screen's own pixels.
            QTimer.singleShot(0, self, self._dress)
        paint_ground(self, painter)

    def paint_overlay(self, painter: QPainter) -> None:
        """Paint what lies above the curves."""
        paint_overlay(self, painter)

    def _dress(self) -> None:
        self._colour()
        self._redraw_curves()
        self.lay_out()

    def _colour(self) -> None:
        self.setBackground(self.theme.colour("page"))
        self._show_rule()

    def _rule_pen(self, *, dashed: bool) -> QPen:
        pen = QPen(self.theme.colour("text1"), self.devicePixelRatioF())
        pen.setCosmetic(True)
        if dashed:
            pen.setDashPattern([4, 3])
        return pen
