"""What stands above the curves of a plot: their ends and names, marks, the place read off, the read-out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gpudesk.desktop.charts.drawing import Mark
from gpudesk.desktop.charts.ground import x_text_baseline, x_ticks
from gpudesk.desktop.charts.items import CURVE
from gpudesk.desktop.charts.labels import Bounds, Placed, Wanted, collide, placed_labels
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.read_out import floating, paint_read_out
from gpudesk.desktop.charts.scales import Array, tick_texts
from gpudesk.desktop.theme.pen import Pen

if TYPE_CHECKING:
    from gpudesk.desktop.charts.canvas import Canvas

#: Half the length of the cap at a curve's end, and the radius of a mark, in pixels.
_CAP: Final = 7.0
_MARK: Final = 4.2
_EDGE: Final = 1.2
#: A label further from its curve's end than this has a line leading to it.
_LEADER: Final = 14.0


def paint_overlay(plot: Canvas, painter: QPainter) -> None:
    """Paint caps, names, marks, what the mouse is at, and the read-out."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ends = [_end(plot, number) for number in range(len(plot.drawing.lines))]
    for line, end in zip(plot.drawing.lines, ends, strict=True):
        if end is not None and end.whole and line.capped:
            _cap(plot, painter, line, end)
    if plot.labelled:
        _labels(plot, painter, ends)
    for mark in plot.drawing.marks:
        _mark(plot, painter, mark)
    _hover(plot, painter)
    _rule_text(plot, painter)
    if plot.drawing.rule is not None and plot.drawing.rule.read_off:
        _tab(plot, painter)
    paint_read_out(plot, painter)


class _End:
    """Where a curve ends in sight, the way it goes there, and whether that is its own end."""

    __slots__ = ("direction", "whole", "x", "y")

    def __init__(self, points: Array, last: int) -> None:
        self.x, self.y = float(points[last, 0]), float(points[last, 1])
        self.whole = last == len(points) - 1
        before = points[max(0, last - 1)]
        self.direction = (self.x - float(before[0]), self.y - float(before[1]))


def _end(plot: Canvas, number: int) -> _End | None:
    points = plot.pixels_of(number)
    if not len(points):
        return None
    area = plot.frame.area.adjusted(-1, -1, 1, 1)
    inside = (points[:, 0] >= area.left()) & (points[:, 0] <= area.right())
    inside &= (points[:, 1] >= area.top()) & (points[:, 1] <= area.bottom())
    visible = np.flatnonzero(inside)
    return _End(points, int(visible[-1])) if len(visible) else None


def _cap(plot: Canvas, painter: QPainter, line: Line, end: _End) -> None:
    """Paint the short line across a curve's end."""
    painter.setPen(QPen(plot.theme.slot_mark(line.slot), CURVE))
    across = (0.0, 1.0)
    if plot.vertical_grid and any(end.direction):
        length = float(np.hypot(*end.direction))
        across = (-end.direction[1] / length, end.direction[0] / length)
    x, y = across[0] * _CAP, across[1] * _CAP
    painter.drawLine(QLineF(end.x - x, end.y - y, end.x + x, end.y + y))


def _labels(plot: Canvas, painter: QPainter, ends: list[_End | None]) -> None:
    letters, theme = plot.lettering, plot.theme
    shown = [(line, end) for line, end in zip(plot.drawing.lines, ends, strict=True) if end is not None]
    _place_labels(plot, shown)
    small, caption = letters.metrics("label"), letters.metrics("caption")
    for line, end in shown:
        place = plot.placed[line.key]
        detail = _detail(plot, line, end)
        height = _label_height(plot, detail)
        colour = theme.slot_label(line.slot)
        if abs(place.shift) > _LEADER:
            _leader(painter, end, place, theme.slot_mark(line.slot))
        baseline = place.y - height / 2 + small.ascent()
        letters.draw_haloed(painter, place.x, baseline, line.name, "label", colour)
        if detail:
            below = baseline + small.descent() + caption.ascent()
            letters.draw_haloed(painter, place.x, below, detail, "caption", theme.colour("text2"))


def _detail(plot: Canvas, line: Line, end: _End) -> str:
    return line.end if plot.detailed_labels and end.whole and not plot.names_alone else ""


def _label_height(plot: Canvas, detail: str) -> float:
    height = plot.lettering.metrics("label").height()
    return height + plot.lettering.metrics("caption").height() if detail else height


def _place_labels(plot: Canvas, shown: list[tuple[Line, _End]]) -> None:
    """Find places for the names; while ranges are held each keeps its distance from its curve's end."""
    if plot.placed_for == [(end.x, end.y) for _, end in shown] and len(plot.placed) == len(shown):
        return
    if plot.held and all(line.key in plot.placed for line, _ in shown):
        plot.placed = {line.key: _carried(plot, line, end) for line, end in shown}
    else:
        plot.placed = _places(plot, shown)
    plot.placed_for = [(end.x, end.y) for _, end in shown]


def _carried(plot: Canvas, line: Line, end: _End) -> Placed:
    before = plot.placed[line.key]
    return Placed(end.x + before.aside, end.y + before.shift, before.shift, before.aside)


def _places(plot: Canvas, shown: list[tuple[Line, _End]]) -> dict[str, Placed]:
    """Find places for names with what is said at their ends, or where those collide for names alone."""
    area, width = plot.frame.area, float(plot.viewport().width())
    curves = [plot.pixels_of(number) for number in range(len(plot.drawing.lines))]
    bounds = Bounds(area.left(), area.top() - 4, width, area.bottom())
    boxes = [(box.left(), box.top(), box.right(), box.bottom()) for box in floating(plot)]
    gap = float(plot.theme.px(9))
    plot.names_alone = False
    wanted = _wanted(plot, shown)
    found = placed_labels(wanted, curves, boxes, bounds, gap)
    if plot.detailed_labels and collide(found, wanted, boxes):
        plot.names_alone = True
        found = placed_labels(_wanted(plot, shown), curves, boxes, bounds, gap)
    return {line.key: place for (line, _), place in zip(shown, found, strict=True)}


def _wanted(plot: Canvas, shown: list[tuple[Line, _End]]) -> list[Wanted]:
    letters, wanted = plot.lettering, []
    for line, end in shown:
        detail = _detail(plot, line, end)
        width = max(letters.width(line.name, "label"), letters.width(detail, "caption"))
        wanted.append(Wanted(end.x, end.y, width, _label_height(plot, detail)))
    return wanted


def _leader(painter: QPainter, end: _End, place: Placed, colour: QColor) -> None:
    painter.setPen(QPen(colour, 1.0))
    towards = place.y - 8.0 if place.y > end.y else place.y + 8.0
    painter.drawLine(QLineF(end.x, end.y, end.x, towards))


def _mark(plot: Canvas, painter: QPainter, mark: Mark) -> None:
    """Paint the point at which a curve is read, with a ring where the keyboard is."""
    if not _visible_x(plot, mark.x):
        return
    centre = QPointF(plot.frame.pixel_x(mark.x), plot.frame.pixel_y(mark.y))
    if not plot.frame.area.adjusted(-2, -2, 2, 2).contains(centre):
        return
    colour = plot.theme.slot_mark(mark.slot)
    if mark.key == plot.current and plot.hasFocus():
        painter.setPen(QPen(plot.theme.colour("focus"), 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, _MARK + 4, _MARK + 4)
    if mark.text:
        x, y = centre.x() + plot.theme.px(8), plot.lettering.middle("caption", centre.y())
        plot.lettering.draw_haloed(painter, x, y, mark.text, "caption", plot.theme.colour("text2"))
    if mark.marker:
        Pen(painter, plot.theme).marker(centre.x(), centre.y(), mark.slot, hollow=mark.hollow)
    elif mark.hollow:
        painter.setPen(QPen(colour, 1.8))
        painter.setBrush(plot.theme.colour("page"))
        painter.drawEllipse(centre, _MARK - 0.4, _MARK - 0.4)
    else:
        painter.setPen(QPen(plot.theme.colour("page"), _EDGE))
        painter.setBrush(colour)
        painter.drawEllipse(centre, _MARK, _MARK)


def _hover(plot: Canvas, painter: QPainter) -> None:
    """Paint the line at the mouse."""
    if plot.hover_x is None or not _visible_x(plot, plot.hover_x):
        return
    x = round(plot.frame.pixel_x(plot.hover_x)) + 0.5
    painter.setPen(QPen(plot.theme.colour("control"), 1.0))
    painter.drawLine(QLineF(x, plot.frame.area.top(), x, plot.frame.area.bottom()))


def _tab(plot: Canvas, painter: QPainter) -> None:
    """Paint the dashed line to read off at, and its words on the axis."""
    rule = plot.drawing.rule
    if rule is None or not _visible_x(plot, rule.value):
        return
    letters, theme, area = plot.lettering, plot.theme, plot.frame.area
    width, height = letters.width(rule.text, "caption_strong") + theme.px(20), float(theme.px(18))
    x = plot.frame.pixel_x(rule.value)
    left = min(max(0.0, x - width / 2), plot.viewport().width() - width)
    box = QRectF(left, area.bottom() + theme.px(5), width, height)
    # A number that is half hidden reads as another one.
    reach = _reach(plot, box.center().x(), width)
    ascent, line = letters.metrics("caption").ascent(), theme.line("caption")
    plate = QRectF(box.center().x() - reach, x_text_baseline(plot) - ascent, 2 * reach, line)
    painter.fillRect(plate, theme.colour("page"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("button"))
    painter.drawRoundedRect(box, 4, 4)
    baseline = letters.middle("caption_strong", box.center().y())
    letters.draw(
        painter, left + theme.px(10), baseline, rule.text, "caption_strong", theme.colour("button_text")
    )


def _rule_text(plot: Canvas, painter: QPainter) -> None:
    """Write the working line's value on the axis, over the ticks that it hides."""
    rule = plot.drawing.rule
    if rule is None or rule.read_off or not _visible_x(plot, rule.value):
        return
    letters, theme = plot.lettering, plot.theme
    width, x = letters.width(rule.text, "caption_strong"), plot.frame.pixel_x(rule.value)
    baseline = x_text_baseline(plot)
    ascent = letters.metrics("caption").ascent()
    reach = _reach(plot, x, width)
    plate = QRectF(x - reach, baseline - ascent, 2 * reach, theme.line("caption"))
    painter.fillRect(plate, theme.colour("page"))
    letters.draw(painter, x - width / 2, baseline, rule.text, "caption_strong", theme.colour("text1"))


def _reach(plot: Canvas, x: float, width: float) -> float:
    """Return how far to either side of a text on the axis the ticks' numbers go that it touches."""
    letters, ticks = plot.lettering, x_ticks(plot)
    reach = width / 2 + 1
    for tick, text in zip(ticks, tick_texts(plot.frame.x_scale, ticks, plot.formatter), strict=True):
        half, away = letters.width(text, "caption") / 2, abs(plot.frame.pixel_x(tick) - x)
        if away < half + width / 2 + plot.theme.px(5):
            reach = max(reach, away + half + 1)
    return reach


def _visible_x(plot: Canvas, value: float) -> bool:
    low, high = plot.frame.values_x()
    return low * (1 - 1e-9) <= value <= high * (1 + 1e-9)
