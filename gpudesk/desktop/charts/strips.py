"""Limiter strips: one bar for each accelerator along the axis of concurrency, with what binds there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter

from gpudesk.desktop.charts.columns import Part, fingerprint
from gpudesk.desktop.theme.pen import CENTRE, RIGHT, Pen
from gpudesk.domain.answers import Curve
from gpudesk.sheets.labels import limiter_label
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.charts.canvas import Canvas

#: Heights in pixels of the design: the line that names the strips, one strip with its gap, the bar itself.
HEAD: Final = 22
PITCH: Final = 18
_BAR: Final = 13

#: What binds -> fill and colour of the words on it.
_FILLS: Final = {
    "compute": ("ink2", "text1"),
    "memory bandwidth": ("ink3", "text1"),
    "interconnect": ("ink1", "page"),
    "overhead": ("ink4", "text1"),
    "capacity": ("sunken", "text2"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of concurrency with one limiter."""

    start: float
    end: float
    limiter: str


@dataclass(frozen=True, slots=True)
class Strip:
    """An accelerator's pieces; beyond the last one memory is full. None fit: no pieces."""

    key: str
    slot: int
    name: str
    pieces: tuple[Piece, ...]


def pieces(curve: Curve) -> tuple[Piece, ...]:
    """Return the stretches of a curve; a limiter changes between two points, in the middle by factor."""
    found: list[Piece] = []
    start = float(curve.concurrency[0]) if curve.concurrency else 1.0
    for number, limiter in enumerate(curve.limiter):
        last = number == len(curve.limiter) - 1
        if not last and curve.limiter[number + 1] == limiter:
            continue
        here = float(curve.concurrency[number])
        end = here if last else math.sqrt(here * curve.concurrency[number + 1])
        found.append(Piece(start, end, limiter))
        start = end
    return tuple(found)


class StripMaker:
    """Makes strips of columns, and the same one again where it would be drawn alike."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[str, tuple[tuple[object, object], Strip]] = {}

    def strip(self, part: Part, *, exact: bool) -> Strip:
        """Return a column's strip; unless `exact`, where points lie on a curve makes no difference."""
        drawn, curve = (part.key, part.name, part.slot, fingerprint(part.column.curve)), part.column.curve
        points = None if curve is None else curve.concurrency
        kept = self._made.get(part.key)
        if kept is not None and kept[0][0] == drawn and (not exact or kept[0][1] == points):
            return kept[1]
        strip = Strip(part.key, part.slot, part.name, () if curve is None else pieces(curve))
        self._made[part.key] = ((drawn, points), strip)
        return strip


def strips_height(plot: Canvas, count: int) -> float:
    """Return how much room strips take."""
    return float(plot.theme.px(HEAD) + count * plot.theme.px(PITCH))


def paint_strips(plot: Canvas, painter: QPainter, strips: Sequence[Strip]) -> None:
    """Paint the strips under the plot's axis."""
    pen = Pen(painter, plot.theme)
    theme, area = plot.theme, plot.frame.area
    top = area.bottom() + theme.px(HEAD)
    heading = QRectF(0, area.bottom() + theme.px(5), area.left(), theme.px(HEAD) - theme.px(6))
    pen.text(heading, tr("Limiter"), font="caption", colour="text2")
    for number, strip in enumerate(strips):
        row = QRectF(area.left(), top + number * theme.px(PITCH), area.width(), theme.px(_BAR))
        _strip(plot, pen, strip, row)


def paint_rule(plot: Canvas, painter: QPainter, count: int) -> None:
    """Continue the working line through the strips."""
    rule, area = plot.drawing.rule, plot.frame.area
    low, high = plot.frame.values_x()
    if rule is not None and not rule.read_off and low <= rule.value <= high:
        x = round(plot.frame.pixel_x(rule.value)) + 0.5
        bottom = area.bottom() + strips_height(plot, count) - 2
        painter.setPen(plot.theme.colour("text1"))
        painter.drawLine(QLineF(x, area.bottom(), x, bottom))


def _strip(plot: Canvas, pen: Pen, strip: Strip, row: QRectF) -> None:
    name = QRectF(0, row.top(), row.left() - plot.theme.px(8), row.height())
    pen.text(name, strip.name, font="small_strong", colour=plot.theme.slot_label(strip.slot), align=RIGHT)
    painter = pen.painter
    painter.save()
    painter.setClipRect(row)
    end = row.left()
    for piece in strip.pieces:
        left, right = plot.frame.pixel_x(piece.start), plot.frame.pixel_x(piece.end)
        if right > row.left() and left < row.right():
            _piece(pen, QRectF(left, row.top(), right - left, row.height()), piece.limiter, row)
        end = max(end, right)
    if end < row.right() - 1:
        gap = 1 if strip.pieces else 0
        _not_there(pen, QRectF(end + gap, row.top(), row.right() - end - gap, row.height()))
    painter.restore()


def _piece(pen: Pen, bar: QRectF, limiter: str, row: QRectF) -> None:
    fill, colour = _FILLS[limiter]
    pen.tint(bar.adjusted(0, 0, -1, 0), fill, 2.5)
    visible = bar.intersected(row)
    words = limiter_label(limiter)
    width = pen.width(words, "caption") + 12
    if visible.width() > width:
        inside = visible.adjusted(6, 0, -2, 0)
        pen.text(inside, words, font="caption", colour=colour)


def _not_there(pen: Pen, rest: QRectF) -> None:
    """Hatch where memory admits no more, and say so where there is room."""
    pen.hatch(rest)
    words = tr("does not fit")
    width = pen.width(words, "caption") + 12
    if rest.width() > width + 16:
        plate = QRectF(rest.left() + 8, rest.top(), width, rest.height())
        pen.painter.fillRect(plate, pen.colour("page"))
        pen.text(plate, words, font="caption", colour="unfit", align=CENTRE)
