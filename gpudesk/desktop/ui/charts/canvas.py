"""A canvas: curves over two axes, with title, grid, labels, cursor line and readout.

The plot library maps and clips the curves. Grid, axes and labels are painted in pixels by two layers, one below the
curves and one above."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from PySide6.QtCore import QLineF, QMarginsF, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QGraphicsLineItem, QGraphicsView, QPushButton, QWidget

from gpudesk.desktop.ui.charts.chart_data import (
    CELL_FONTS,
    READOUT_INSET,
    CursorReadout,
    PlotCurve,
    PlotDrawing,
    PointMark,
    ReadoutSize,
    are_curves_equal,
    find_corner_boxes,
    find_right_edges,
    measure_readout,
    sample_points,
)
from gpudesk.desktop.ui.charts.plot_items import (
    CURVE,
    GROUND_Z,
    OVERLAY_Z,
    RULE_Z,
    CoordinateFrame,
    CurveItems,
    GraphicsView,
    PixelLayer,
    ViewBox,
    find_extents,
)
from gpudesk.desktop.ui.charts.scales import (
    AxisScale,
    FloatArray,
    LabelBounds,
    LabelRequest,
    LinearScale,
    PlacedLabel,
    count_inner_labels,
    find_emptiest_box,
    format_ticks,
    labels_collide,
    place_labels,
    resample_curve,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import TextPainter, ThemePainter
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Space for a tick's text along the axes, in design pixels.
_X_PITCH: Final = 48
_Y_PITCH: Final = 34
_Y_PITCH_OF_LOG: Final = 20
_TICK: Final = 4.0


def paint_background(plot: PlotCanvas, painter: QPainter) -> None:
    _paint_title(plot, painter)
    if plot.drawing.lines:
        _paint_grid(plot, painter)
        _paint_x_texts(plot, painter)
        _paint_limit(plot, painter)
    else:
        # Paint an axis without numbers, since there is nothing to measure.
        area = plot.frame.area
        painter.setPen(plot.theme.color("axis"))
        painter.drawLine(QLineF(area.left(), area.bottom() + 0.5, area.right(), area.bottom() + 0.5))
    if plot.drawing.note:
        width = plot.text_painter.width(plot.drawing.note, "small")
        center = plot.frame.area.center()
        x, y = center.x() - width / 2, plot.text_painter.middle("small", center.y())
        # A box on the plot says the same.
        if not any(box.intersects(QRectF(x, center.y(), width, 1.0)) for box in plot.blocked):
            plot.text_painter.draw(painter, x, y, plot.drawing.note, "small", plot.theme.color("text3"))


def _paint_title(plot: PlotCanvas, painter: QPainter) -> None:
    letters, theme = plot.text_painter, plot.theme
    baseline = round(letters.metrics("section").ascent() + theme.px(2))
    letters.draw(painter, 0, baseline, plot.title, "section", theme.color("text1"))
    x = letters.width(plot.title, "section") + theme.px(10)
    subtitle = letters.elide_text(plot.subtitle, "small", plot.viewport().width() - x)
    letters.draw(painter, x, baseline, subtitle, "small", theme.color("text3"))


def count_possible_ticks(plot: PlotCanvas) -> tuple[int, int]:
    px, area = plot.theme.px, plot.frame.area
    pitch = px(_Y_PITCH if isinstance(plot.frame.y_scale, LinearScale) else _Y_PITCH_OF_LOG)
    return min(10, max(2, int(area.width() / px(_X_PITCH)))), min(9, max(2, 1 + int(area.height() / pitch)))


def find_x_ticks(plot: PlotCanvas) -> tuple[float, ...]:
    return plot.frame.x_scale.ticks(*plot.frame.get_x_range(), count_possible_ticks(plot)[0])


def _paint_grid(plot: PlotCanvas, painter: QPainter) -> None:
    area, theme = plot.frame.area, plot.theme
    ticks = plot.frame.y_scale.ticks(*plot.frame.get_y_range(), count_possible_ticks(plot)[1])
    heights = [round(plot.frame.pixel_y(tick)) + 0.5 for tick in ticks]
    lines = [QLineF(area.left(), y, area.right(), y) for y in heights]
    across = [round(plot.frame.pixel_x(tick)) + 0.5 for tick in find_x_ticks(plot)]
    if plot.vertical_grid:
        lines += [QLineF(x, area.top(), x, area.bottom()) for x in across]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(theme.color("grid"))
    painter.drawLines(lines)
    painter.setPen(theme.color("axis"))
    bottom = area.bottom() + 0.5
    painter.drawLines(
        [QLineF(area.left(), bottom, area.right(), bottom), *(QLineF(x, bottom, x, bottom + _TICK) for x in across)]
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    texts = format_ticks(plot.frame.y_scale, ticks, plot.formatter)
    letters, right, color = plot.text_painter, area.left() - theme.px(8), theme.color("text3")
    for y, text in zip(heights, texts, strict=True):
        letters.draw_right(painter, right, letters.middle("caption", y), text, "caption", color)


def find_x_text_baseline(plot: PlotCanvas) -> float:
    metrics = plot.text_painter.metrics("caption")
    return round(plot.frame.area.bottom() + plot.measure_foot() + plot.theme.px(7) + metrics.ascent())


def _paint_x_texts(plot: PlotCanvas, painter: QPainter) -> None:
    """Paint the tick labels, and the axis title below them or (if the plot says so) at the right."""
    letters, theme = plot.text_painter, plot.theme
    baseline = find_x_text_baseline(plot)
    width = letters.width(plot.x_title, "caption_strong")
    if plot.title_below:
        end = float(plot.viewport().width())
        title = plot.frame.area.right(), baseline + theme.line("caption")
    else:
        end = plot.viewport().width() - width - theme.px(8)
        title = float(plot.viewport().width()), baseline
    letters.draw_right(painter, *title, plot.x_title, "caption_strong", theme.color("text2"))
    ticks = find_x_ticks(plot)
    for tick, text in zip(ticks, format_ticks(plot.frame.x_scale, ticks, plot.formatter), strict=True):
        left = plot.frame.pixel_x(tick) - letters.width(text, "caption") / 2
        if left + letters.width(text, "caption") <= end:
            letters.draw(painter, left, baseline, text, "caption", theme.color("text3"))


def _paint_limit(plot: PlotCanvas, painter: QPainter) -> None:
    limit = plot.drawing.limit
    if limit is None:
        return
    low, high = plot.frame.get_y_range()
    if not low <= limit.value <= high:
        return
    y = round(plot.frame.pixel_y(limit.value)) + 0.5
    pen = QPen(plot.theme.color("disputed"), 1.0)
    pen.setDashPattern([4, 3])
    painter.setPen(pen)
    area = plot.frame.area
    painter.drawLine(QLineF(area.left(), y, area.right(), y))
    color = plot.theme.color("disputed_text")
    plot.text_painter.draw_haloed(painter, area.left() + plot.theme.px(5), y - 5, limit.text, "caption", color)


#: The readout moves to another corner only if that is better by this many points of curves.
_WORTH_MOVING: Final = 6
#: Weight of a box already on the plot, in curves beneath.
_BLOCKED: Final = 20
#: Weight of a reading point.
_MARKED: Final = 6


def find_floating_boxes(plot: PlotCanvas) -> list[QRectF]:
    cursor_readout = plot.cursor_readout()
    if cursor_readout is None or not cursor_readout.rows:
        return list(plot.blocked)
    return [*plot.blocked, place_readout(plot, measure_readout(cursor_readout, plot.text_painter, plot.theme))]


def paint_readout(plot: PlotCanvas, painter: QPainter) -> None:
    cursor_readout = plot.cursor_readout()
    if cursor_readout is None or not cursor_readout.rows:
        return
    size = measure_readout(cursor_readout, plot.text_painter, plot.theme)
    box = place_readout(plot, size)
    pen = ThemePainter(painter, plot.theme)
    painter.setPen(plot.theme.color("strong"))
    painter.setBrush(plot.theme.color("raised"))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    _paint_readout_head(plot, painter, cursor_readout, box, size)
    rights = find_right_edges(box, size, plot.theme.px(READOUT_INSET))
    top = box.top() + plot.theme.px(26)
    for row in cursor_readout.rows:
        middle = top + plot.theme.px(18) / 2
        letters, theme = plot.text_painter, plot.theme
        left = box.left() + theme.px(READOUT_INSET)
        pen.swatch(left, middle, row.slot, is_variant=row.is_variant)
        baseline = letters.middle("small", middle)
        letters.draw(painter, left + theme.px(28), baseline, row.name, "small", theme.color("text1"))
        color = theme.color("text1")
        for right, cell, token in zip(rights, row.cells, CELL_FONTS, strict=False):
            letters.draw_right(painter, right, letters.middle(token, middle), cell, token, color)
            color = theme.color("text3")
        top += plot.theme.px(18)


def place_readout(plot: PlotCanvas, size: ReadoutSize) -> QRectF:
    """Return the rectangle of a readout: next to the plot if it fits there, else in a corner."""
    area, inset = plot.frame.area, plot.theme.px(READOUT_INSET)
    if plot.read_out_beside:
        left = min(area.right() + inset, plot.viewport().width() - size.width)
        return QRectF(round(left), area.top(), size.width, size.height)
    boxes = find_corner_boxes(area, size, float(inset))
    if plot.dock is None or not (plot.is_held or plot.hover_readout is not None):
        blocked = [np.tile(sample_points(rect), (_BLOCKED, 1)) for rect in plot.blocked]
        marks = [(plot.frame.pixel_x(mark.x), plot.frame.pixel_y(mark.y)) for mark in plot.drawing.marks]
        blocked.append(np.tile(np.array(marks).reshape(-1, 2), (_MARKED, 1)))
        points = np.concatenate([*blocked, *plot.sample_curves()])
        plot.dock = find_emptiest_box(boxes, points, plot.dock, _WORTH_MOVING)[0]
    left, top, _, _ = boxes[plot.dock]
    return QRectF(round(left), round(top), size.width, size.height)


def _paint_readout_head(
    plot: PlotCanvas, painter: QPainter, cursor_readout: CursorReadout, box: QRectF, size: ReadoutSize
) -> None:
    letters, theme = plot.text_painter, plot.theme
    baseline = letters.middle("caption_strong", box.top() + theme.px(15))
    left = box.left() + theme.px(READOUT_INSET)
    letters.draw(painter, left, baseline, cursor_readout.title, "caption_strong", theme.color("text2"))
    rights = find_right_edges(box, size, theme.px(READOUT_INSET))
    color = theme.color("text3")
    for right, head in zip(rights, cursor_readout.heads, strict=True):
        letters.draw_right(painter, right, baseline, head, "caption", color)


#: Half the length of the cap at a curve's end, and the radius of a mark, in pixels.
_CAP: Final = 7.0
_MARK_RADIUS: Final = 4.2
_EDGE: Final = 1.2
#: A label further from its curve's end gets a leader line.
_LEADER_FROM: Final = 14.0
#: Space between labels and the cursor line, in pixels.
_RULE_ROOM: Final = 3.0


class _CurveEnd:
    """The visible end of a curve, its direction there, and whether it is the true end."""

    __slots__ = ("direction", "whole", "x", "y")

    def __init__(self, points: FloatArray, last: int) -> None:
        self.x, self.y = float(points[last, 0]), float(points[last, 1])
        self.whole = last == len(points) - 1
        before = points[max(0, last - 1)]
        self.direction = (self.x - float(before[0]), self.y - float(before[1]))


def _find_curve_end(points: FloatArray, area: QRectF) -> _CurveEnd | None:
    if not len(points):
        return None
    area = area.adjusted(-1, -1, 1, 1)
    inside = (points[:, 0] >= area.left()) & (points[:, 0] <= area.right())
    inside &= (points[:, 1] >= area.top()) & (points[:, 1] <= area.bottom())
    visible = np.flatnonzero(inside)
    return _CurveEnd(points, int(visible[-1])) if len(visible) else None


def _paint_labels(plot: PlotCanvas, painter: QPainter, ends: list[_CurveEnd | None]) -> None:
    letters, theme = plot.text_painter, plot.theme
    visible_ends = [(line, end) for line, end in zip(plot.drawing.lines, ends, strict=True) if end is not None]
    _place_labels(plot, visible_ends)
    small, caption = letters.metrics("label"), letters.metrics("caption")
    for line, end in visible_ends:
        place = plot.placed_labels[line.key]
        detail, height = _measure_label(plot, line, end)
        color = theme.name_color(line.slot)
        if abs(place.shift) > _LEADER_FROM:
            # In the color of the curve, it would look like a part of it.
            painter.setPen(QPen(theme.color("control"), 1.0))
            towards = place.y - 8.0 if place.y > end.y else place.y + 8.0
            painter.drawLine(QLineF(end.x, end.y, end.x, towards))
        baseline = place.y - height / 2 + small.ascent()
        letters.draw_haloed(painter, place.x, baseline, line.name, "label", color)
        if detail:
            below = baseline + small.descent() + caption.ascent()
            letters.draw_haloed(painter, place.x, below, detail, "caption", theme.color("text2"))


def _paint_ghost_labels(plot: PlotCanvas, painter: QPainter) -> None:
    letters, text = plot.text_painter, plot.drawing.ghost_label
    x = plot.frame.area.left() + plot.theme.px(6)
    ghost_points = [(ghost, plot.frame.pixels(ghost.x, ghost.y)) for ghost in plot.drawing.ghosts]
    for ghost, points in sorted(ghost_points, key=lambda each: float(each[1][0, 0])):
        # One after the other, so that pinned curves that start close together keep theirs.
        x = max(x, float(points[0, 0]))
        y = float(np.interp(x, points[:, 0], points[:, 1])) - plot.theme.px(4)
        letters.draw_haloed(painter, x, y, text, "caption", plot.theme.name_color(ghost.slot))
        x += letters.width(text, "caption") + plot.theme.px(6)


def _measure_label(plot: PlotCanvas, line: PlotCurve, end: _CurveEnd) -> tuple[str, float]:
    """Return the second line of the label at a curve's end, and the height of both lines."""
    height = plot.text_painter.metrics("label").height()
    if line.end and plot.detailed_labels and end.whole and not plot.names_alone:
        return line.end, height + plot.text_painter.metrics("caption").height()
    return "", height


def _place_labels(plot: PlotCanvas, visible_ends: list[tuple[PlotCurve, _CurveEnd]]) -> None:
    """Place the names; with fixed ranges each keeps its distance from its curve's end."""
    is_placed = plot.placed_for == [(end.x, end.y) for _, end in visible_ends] and len(plot.placed_labels) == len(
        visible_ends
    )
    x = _find_rule_x(plot)
    if is_placed and (x is None or x == plot.placed_rule or not _is_inside(x, plot.label_spans)):
        return
    if plot.is_held and all(line.key in plot.placed_labels for line, _ in visible_ends):
        plot.placed_labels = {line.key: _carry_label(plot, line, end) for line, end in visible_ends}
    else:
        plot.placed_labels = _find_places(plot, visible_ends)
        plot.placed_rule = x
    plot.placed_for = [(end.x, end.y) for _, end in visible_ends]


def _find_rule_x(plot: PlotCanvas) -> float | None:
    """Return the cursor line's x in pixels, visible or not; None without one."""
    rule = plot.drawing.rule
    return None if rule is None else plot.frame.pixel_x(rule.value)


def _is_inside(x: float, spans: list[tuple[float, float]]) -> bool:
    for left, right in spans:  # noqa: SIM110 - no generator for each step of a slider
        if left < x < right:
            return True
    return False


def _carry_label(plot: PlotCanvas, line: PlotCurve, end: _CurveEnd) -> PlacedLabel:
    before = plot.placed_labels[line.key]
    return PlacedLabel(end.x + before.aside, end.y + before.shift, before.shift, before.aside)


def _find_places(plot: PlotCanvas, visible_ends: list[tuple[PlotCurve, _CurveEnd]]) -> dict[str, PlacedLabel]:
    """Place names with their end texts, or, if those collide, names alone."""
    area, width = plot.frame.area, float(plot.viewport().width())
    curves = plot.sample_curves()
    bounds = LabelBounds(area.left(), area.top() - 4, width, area.bottom())
    boxes = [(box.left(), box.top(), box.right(), box.bottom()) for box in find_floating_boxes(plot)]
    if (x := _find_rule_x(plot)) is not None:
        boxes.append((x - _RULE_ROOM, area.top(), x + _RULE_ROOM, area.bottom()))
    gap = float(plot.theme.px(9))
    plot.names_alone = False
    requests = _make_requests(plot, visible_ends)
    places = place_labels(requests, curves, boxes, bounds, gap)
    collide = labels_collide(places, requests, boxes)
    if plot.detailed_labels and (collide or count_inner_labels(places)):
        plot.names_alone = True
        brief = _make_requests(plot, visible_ends)
        brief_places = place_labels(brief, curves, boxes, bounds, gap)
        plot.names_alone = collide or count_inner_labels(brief_places) < count_inner_labels(places)
        if plot.names_alone:
            requests, places = brief, brief_places
    plot.label_spans = [(place.x, place.x + label.width) for place, label in zip(places, requests, strict=True)]
    return {line.key: place for (line, _), place in zip(visible_ends, places, strict=True)}


def _make_requests(plot: PlotCanvas, visible_ends: list[tuple[PlotCurve, _CurveEnd]]) -> list[LabelRequest]:
    letters, requests = plot.text_painter, []
    for line, end in visible_ends:
        detail, height = _measure_label(plot, line, end)
        width = max(letters.width(line.name, "label"), letters.width(detail, "caption"))
        requests.append(LabelRequest(end.x, end.y, width, height))
    return requests


def _find_center(plot: PlotCanvas, mark: PointMark) -> QPointF | None:
    """Return the center of a mark; None outside the plot."""
    if not _is_x_visible(plot, mark.x):
        return None
    center = QPointF(plot.frame.pixel_x(mark.x), plot.frame.pixel_y(mark.y))
    return center if plot.frame.area.adjusted(-2, -2, 2, 2).contains(center) else None


def _paint_mark_texts(plot: PlotCanvas, painter: QPainter) -> None:
    """Paint texts next to their marks, each where it covers the fewest points of curves."""
    letters, px = plot.text_painter, plot.theme.px
    height, radius = letters.metrics("caption").height(), _MARK_RADIUS + 1
    mark_centers = [(mark, center) for mark in plot.drawing.marks if (center := _find_center(plot, mark)) is not None]
    ghosts = [resample_curve(plot.frame.pixels(ghost.x, ghost.y)) for ghost in plot.drawing.ghosts]
    points = np.concatenate([np.empty((0, 2)), *plot.sample_curves(), *ghosts])
    covered_boxes = [QRectF(each.x() - radius, each.y() - radius, 2 * radius, 2 * radius) for _, each in mark_centers]
    for mark, center in mark_centers:
        if not mark.text:
            continue
        width = letters.width(mark.text, "caption")
        right, left = center.x() + px(4), center.x() - px(4) - width
        levels = [center.y() + px(shift) - height / 2 for shift in (13, -13, 22, -22, 31, -31)]
        boxes = [QRectF(x, y, width, height) for y in levels for x in (right, left)]
        area = plot.frame.area
        boxes = [each for each in boxes if each.left() >= area.left() and each.top() >= area.top()] or boxes
        boxes = [each for each in boxes if not any(map(each.intersects, covered_boxes))] or boxes
        corners = [(each.left(), each.top(), each.right(), each.bottom()) for each in boxes]
        box = boxes[find_emptiest_box(corners, points, None, 0)[0]]
        covered_boxes.append(box)
        y = letters.middle("caption", box.center().y())
        # A ring is a point of one accelerator alone, whose color tells it from its neighbors.
        color = plot.theme.name_color(mark.slot) if mark.is_variant and mark.slot else plot.theme.color("text2")
        letters.draw_haloed(painter, box.left(), y, mark.text, "caption", color)


def _paint_mark(plot: PlotCanvas, painter: QPainter, mark: PointMark) -> None:
    center = _find_center(plot, mark)
    if center is None:
        return
    color = plot.theme.mark_color(mark.slot)
    if mark.key == plot.current and plot.hasFocus():
        painter.setPen(QPen(plot.theme.color("focus"), 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, _MARK_RADIUS + 4, _MARK_RADIUS + 4)
    if mark.marker:
        ThemePainter(painter, plot.theme).marker(center.x(), center.y(), mark.slot, is_variant=mark.is_variant)
    elif mark.is_variant:
        painter.setPen(QPen(color, 1.8))
        painter.setBrush(plot.theme.color("page"))
        painter.drawEllipse(center, _MARK_RADIUS - 0.4, _MARK_RADIUS - 0.4)
    else:
        painter.setPen(QPen(plot.theme.color("page"), _EDGE))
        painter.setBrush(color)
        painter.drawEllipse(center, _MARK_RADIUS, _MARK_RADIUS)


def _paint_hover(plot: PlotCanvas, painter: QPainter) -> None:
    if plot.hover_x is None or not _is_x_visible(plot, plot.hover_x):
        return
    x = round(plot.frame.pixel_x(plot.hover_x)) + 0.5
    painter.setPen(QPen(plot.theme.color("control"), 1.0))
    painter.drawLine(QLineF(x, plot.frame.area.top(), x, plot.frame.area.bottom()))


def _paint_cursor_value(plot: PlotCanvas, painter: QPainter) -> None:
    """Paint the value of the cursor line: on a tab above a reading line, else as text among the tick labels."""
    rule = plot.drawing.rule
    if rule is None or not _is_x_visible(plot, rule.value):
        return
    letters, theme = plot.text_painter, plot.theme
    width, x = letters.width(rule.text, "caption_strong"), plot.frame.pixel_x(rule.value)
    if rule.read_off:
        tab = QRectF(0, plot.frame.area.top() - theme.px(TAB), width + theme.px(20), float(theme.px(TAB)))
        tab.moveLeft(min(max(0.0, x - tab.width() / 2), plot.viewport().width() - tab.width()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("button"))
        painter.drawRoundedRect(tab, 4, 4)
        left, baseline = tab.center().x() - width / 2, letters.middle("caption_strong", tab.center().y())
        letters.draw(painter, left, baseline, rule.text, "caption_strong", theme.color("button_text"))
        return
    # A partly hidden number looks like another number.
    (before, after), baseline = _find_reach(plot, x, width), find_x_text_baseline(plot)
    top = baseline - letters.metrics("caption").ascent()
    painter.fillRect(QRectF(x - before, top, before + after, theme.line("caption")), theme.color("page"))
    letters.draw(painter, x - width / 2, baseline, rule.text, "caption_strong", theme.color("text1"))


def _find_reach(plot: PlotCanvas, x: float, width: float) -> tuple[float, float]:
    """Return how far a text on the axis and the tick labels that it overlaps extend to the left and to the right."""
    letters, ticks = plot.text_painter, find_x_ticks(plot)
    before = after = width / 2 + 1
    for tick, text in zip(ticks, format_ticks(plot.frame.x_scale, ticks, plot.formatter), strict=True):
        half, away = letters.width(text, "caption") / 2, plot.frame.pixel_x(tick) - x
        if abs(away) < half + width / 2 + plot.theme.px(5):
            before, after = max(before, half - away + 1), max(after, half + away + 1)
    return before, after


#: Height of the tab of a reading line, for which a chart has a margin above.
TAB: Final = 18


def _is_x_visible(plot: PlotCanvas, value: float) -> bool:
    low, high = plot.frame.get_x_range()
    return low * (1 - 1e-9) <= value <= high * (1 + 1e-9)


class PlotCanvas(GraphicsView):  # type: ignore[misc]
    """Shows a `Drawing`; `frame` maps values to pixels. Subclasses set margins and add to the layers."""

    #: The visible ranges changed.
    ranged = Signal()

    #: Margins left, above, right and below in design lengths; at the left 0 is the width of the figures.
    around = (0, 8, 24, 42)

    def __init__(
        self, theme: Theme, formatter: Formatter, x_scale: AxisScale, y_scale: AxisScale, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, useOpenGL=False)
        self.theme = theme
        self.formatter = formatter
        self.text_painter = TextPainter(theme)
        self.frame = CoordinateFrame(x_scale, y_scale)
        self.drawing = PlotDrawing()
        self.title, self.subtitle, self.x_title = "", "", ""
        self.labeled = True
        self.detailed_labels = True
        self.names_alone = False
        self.vertical_grid = False
        self.title_below = True
        self.banded: frozenset[str] = frozenset()
        self.hover_x: float | None = None
        self.hover_readout: CursorReadout | None = None
        self.current: str | None = None
        self.placed_labels: dict[str, PlacedLabel] = {}
        self.placed_for: list[tuple[float, float]] = []
        self.placed_rule: float | None = None
        self.label_spans: list[tuple[float, float]] = []
        self.dock: int | None = None
        self.read_out_beside = False
        self.blocked: tuple[QRectF, ...] = ()
        self._points: dict[int, FloatArray] = {}
        self._samples: list[FloatArray] | None = None
        self._ends: list[_CurveEnd | None] | None = None
        self._margins_laid_out = QMarginsF()
        self._description: tuple[object, ...] = ()
        self.is_held = False
        self._set_up_scene()
        self._fit_button = QPushButton(tr("Reset zoom"), self)
        self._fit_button.hide()
        self._fit_button.clicked.connect(self.fit_view)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._color()
        theme.changed.connect(self._dress)

    def _set_up_scene(self) -> None:
        self.setCentralItem(None)
        # Every change requests one repaint of the whole; the scene would request another one later.
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        self.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)
        self._box = ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0.0)
        self._box.disableAutoRange()
        # The library puts its boxes below everything, so also below the grid.
        self._box.setZValue(0.0)
        self._curves = CurveItems(self._box, self.theme)
        self._rule = QGraphicsLineItem()
        self._rule.setZValue(RULE_Z)
        self._box.addItem(self._rule, ignoreBounds=True)
        self._ground = PixelLayer(self.paint_background, GROUND_Z, is_cached=True)
        self._overlay = PixelLayer(self.paint_overlay, OVERLAY_Z)
        for item in (self._ground, self._box, self._overlay):
            self.scene().addItem(item)

    def close(self) -> bool:
        """Close like any widget; the library would destroy the scene while it is still drawn."""
        return QWidget.close(self)

    # Display

    def show_drawing(self, drawing: PlotDrawing) -> None:
        """Show another drawing; ranges follow it unless they are fixed or chosen by the user."""
        before, self.drawing = self.drawing, drawing
        if not (are_curves_equal(before.lines, drawing.lines) and are_curves_equal(before.ghosts, drawing.ghosts)):
            self._redraw_curves()
        description = self.title, self.subtitle, self.x_title, drawing.limit, drawing.note, bool(drawing.lines)
        if description != self._description:
            self._description = description
            self.ground_changed()
        self._fit_to_drawing()
        if not self.is_held and self.margins() != self._margins_laid_out:
            self.lay_out()
        self._show_rule()
        self.viewport().update()

    def ground_changed(self) -> None:
        self._ground.stale()
        self.viewport().update()

    def set_bands(self, keys: frozenset[str]) -> None:
        if keys != self.banded:
            self.banded = keys
            self._redraw_bands()
            self.viewport().update()

    def set_hover(self, x: float | None, cursor_readout: CursorReadout | None) -> None:
        """Show the readout at the mouse, or restore the drawing's own."""
        self.hover_x, self.hover_readout = x, cursor_readout
        self.viewport().update()

    def set_current(self, key: str | None) -> None:
        self.current = key
        self.viewport().update()

    def hold(self, is_held: bool) -> None:
        """Fix the ranges, or let them follow again."""
        self.is_held = is_held
        if not is_held:
            self._fit_to_drawing()
            self.viewport().update()

    def fit_view(self) -> None:
        self.frame.show_whole()
        self._range_changed()

    def cursor_readout(self) -> CursorReadout | None:
        return self.hover_readout or self.drawing.cursor_readout

    def _redraw_curves(self) -> None:
        scales = self.frame.x_scale, self.frame.y_scale
        self._curves.ratio = self.devicePixelRatioF()
        self._curves.show(self.drawing.lines, self.drawing.ghosts, *scales)
        self._points.clear()
        self._samples = self._ends = None
        self.placed_for = []
        self._redraw_bands()

    def _redraw_bands(self) -> None:
        banded = [line for line in self.drawing.lines if line.key in self.banded]
        self._curves.show_bands(banded, self.frame.x_scale, self.frame.y_scale)

    def _fit_to_drawing(self) -> None:
        if self.is_held:
            return
        rule = self.drawing.rule
        reach = rule.value if rule is not None else None
        linear = isinstance(self.frame.y_scale, LinearScale)
        points = tuple((mark.x, mark.y) for mark in self.drawing.marks)
        extents = find_extents((*self.drawing.lines, *self.drawing.ghosts), points, reach, linear_y=linear)
        if extents is None:
            return
        zoomed, x, y = self.frame.zoomed, self.frame.x, self.frame.y
        self.frame.fit(*extents, count_possible_ticks(self))
        if zoomed:
            self.frame.x, self.frame.y = x, y
            self.frame.pan(0, 0)
        if (x, y) != (self.frame.x, self.frame.y):
            self._range_changed()

    def _show_rule(self) -> None:
        rule = self.drawing.rule
        self._rule.setVisible(rule is not None)
        if rule is not None:
            # On the pixel on which subclasses continue it outside of the plot.
            pixel = round(self.frame.pixel_x(rule.value)) + 0.5
            place = self.frame.x_scale.place_of(self.frame.value_x(pixel))
            bottom, top = self.frame.whole_y
            self._rule.setLine(place, bottom, place, top)
            pen = QPen(self.theme.color("text1"), self.devicePixelRatioF())
            pen.setCosmetic(True)
            if rule.read_off:
                pen.setDashPattern([4, 3])
            self._rule.setPen(pen)

    # Sizes and ranges

    def margins(self) -> QMarginsF:
        px, (left, top, right, bottom) = self.theme.px, self.around
        return QMarginsF(px(left) or self.measure_y_texts(), self.head_height() + px(top), px(right), px(bottom))

    def measure_y_texts(self) -> float:
        highest = self.frame.y_scale.value_at(self.frame.whole_y[1])
        width = self.text_painter.width(self.formatter.count(highest), "caption")
        return max(float(self.theme.px(48)), math.ceil(width) + self.theme.px(10))

    def measure_foot(self) -> float:
        return 0.0

    def head_height(self) -> float:
        return float(self.theme.px(26))

    def lay_out(self) -> None:
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

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if event is not None and hasattr(self, "_fit_button"):
            self.lay_out()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # The pixmaps of all charts would take 15 MB, and four times that at double density.
        self._ground.stale()

    def _range_changed(self) -> None:
        self._box.setRange(xRange=self.frame.x, yRange=self.frame.y, padding=0, disableAutoRange=True)
        self._points.clear()
        self._samples = self._ends = None
        self.placed_for = []
        self._ground.stale()
        self._show_rule()
        self._fit_button.setVisible(self.frame.zoomed)
        if self.frame.zoomed:
            size = self._fit_button.sizeHint()
            area = self.frame.area
            self._fit_button.setGeometry(
                int(area.right() - size.width() - 8), int(area.top() + 8), size.width(), size.height()
            )
        self.viewport().update()
        self.ranged.emit()

    def get_line_pixels(self, number: int) -> FloatArray:
        """Return the points of a line of the drawing in pixels, within the visible range."""
        pixels = self._points.get(number)
        if pixels is None:
            line = self.drawing.lines[number]
            pixels = self._points[number] = self.frame.pixels(line.x, line.y)
        return pixels

    def sample_curves(self) -> list[FloatArray]:
        """Return points along each line of the drawing in pixels, at most a few apart; cached like its points."""
        if self._samples is None:
            self._samples = [resample_curve(self.get_line_pixels(number)) for number in range(len(self.drawing.lines))]
        return self._samples

    # Painting

    def paint_background(self, painter: QPainter) -> None:
        if self._curves.ratio != self.devicePixelRatioF():
            # The window moved to another screen, and line widths are in device pixels.
            QTimer.singleShot(0, self, self._dress)
        paint_background(self, painter)

    def paint_overlay(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The visible end of each line, None if it is not visible; cached like its points.
        if self._ends is None:
            numbers = range(len(self.drawing.lines))
            self._ends = [_find_curve_end(self.get_line_pixels(number), self.frame.area) for number in numbers]
        ends = self._ends
        for line, end in zip(self.drawing.lines, ends, strict=True):
            if end is not None and end.whole and line.capped:
                painter.setPen(QPen(self.theme.mark_color(line.slot), CURVE))
                across = (0.0, 1.0)
                if self.vertical_grid and any(end.direction):
                    length = float(np.hypot(*end.direction))
                    across = (-end.direction[1] / length, end.direction[0] / length)
                x, y = across[0] * _CAP, across[1] * _CAP
                painter.drawLine(QLineF(end.x - x, end.y - y, end.x + x, end.y + y))
        if self.labeled:
            _paint_labels(self, painter, ends)
        if self.drawing.ghost_label:
            _paint_ghost_labels(self, painter)
        _paint_mark_texts(self, painter)
        for mark in self.drawing.marks:
            _paint_mark(self, painter, mark)
        _paint_hover(self, painter)
        _paint_cursor_value(self, painter)
        paint_readout(self, painter)

    def _dress(self) -> None:
        self._color()
        self._redraw_curves()
        self.lay_out()

    def _color(self) -> None:
        self.setBackground(self.theme.color("page"))
        self._show_rule()
