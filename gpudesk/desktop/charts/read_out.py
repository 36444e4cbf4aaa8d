"""The read-out: figures at one place of a plot, docked in its emptiest corner or beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from gpudesk.desktop.charts.drawing import ReadOut, ReadOutRow
from gpudesk.desktop.charts.labels import Box, emptiest, resampled
from gpudesk.desktop.charts.scales import Array
from gpudesk.desktop.theme.pen import Pen

if TYPE_CHECKING:
    from gpudesk.desktop.charts.canvas import Canvas
    from gpudesk.desktop.charts.lettering import Lettering
    from gpudesk.desktop.theme.theme import Theme

#: Another corner must be better by this many points of curves before the read-out moves there.
_WORTH_MOVING: Final = 6
_INSET: Final = 10
#: A box that already stands on the plot counts like this many curves beneath.
_BLOCKED: Final = 20
#: And a point that is read off like this many.
_MARKED: Final = 6


@dataclass(frozen=True, slots=True)
class Measure:
    """How large a read-out is, and how wide its columns are."""

    width: float
    height: float
    name: float
    cells: tuple[float, ...]


def measure(read_out: ReadOut, letters: Lettering, theme: Theme) -> Measure:
    """Measure a read-out."""
    gap = _gap(read_out, theme)
    name = max((letters.width(row.name, "small") for row in read_out.rows), default=0.0)
    cells = tuple(
        max(
            [letters.width(head, "caption")]
            + [letters.width(row.cells[number], _cell_token(number)) for row in read_out.rows]
        )
        for number, head in enumerate(read_out.heads)
    )
    swatch = float(theme.px(28))
    width = swatch + name + sum(cells) + gap * len(cells)
    head = (
        letters.width(read_out.title, "caption_strong") + gap + sum(cells[1:]) + gap * max(0, len(cells) - 1)
    )
    head += letters.width(read_out.heads[0], "caption") if read_out.heads else 0.0
    name += max(0.0, head - width)
    width = max(width, head) + 2 * theme.px(_INSET)
    height = theme.px(26) + len(read_out.rows) * theme.px(18) + theme.px(7)
    return Measure(width, float(height), name, cells)


def floating(plot: Canvas) -> list[QRectF]:
    """Return the boxes that lie on the plot."""
    read_out = plot.read_out()
    if read_out is None or not read_out.rows:
        return list(plot.blocked)
    return [*plot.blocked, place(plot, measure(read_out, plot.lettering, plot.theme))]


def _gap(read_out: ReadOut, theme: Theme) -> float:
    """Return the room between columns; many stand closer."""
    return float(theme.px(16 if len(read_out.heads) < 3 else 11))


def paint_read_out(plot: Canvas, painter: QPainter) -> None:
    """Paint the plot's read-out where it hides least."""
    read_out = plot.read_out()
    if read_out is None or not read_out.rows:
        return
    size = measure(read_out, plot.lettering, plot.theme)
    box = place(plot, size)
    pen = Pen(painter, plot.theme)
    painter.setPen(plot.theme.colour("strong"))
    painter.setBrush(plot.theme.colour("raised"))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    _head(plot, painter, read_out, box, size)
    rights = _rights(box, size, _gap(read_out, plot.theme), plot.theme.px(_INSET))
    top = box.top() + plot.theme.px(26)
    for row in read_out.rows:
        middle = top + plot.theme.px(18) / 2
        _row(plot, painter, pen, row, box, rights, middle)
        top += plot.theme.px(18)


def place(plot: Canvas, size: Measure) -> QRectF:
    """Return the box of a read-out: beside the plot where there is room for that, else in a corner."""
    area, inset = plot.frame.area, plot.theme.px(_INSET)
    if plot.read_out_beside:
        left = min(area.right() + inset, plot.viewport().width() - size.width)
        return QRectF(round(left), area.top(), size.width, size.height)
    boxes = corners(area, size, float(inset))
    if plot.dock is None or not (plot.held or plot.hover_read_out is not None):
        curves = [plot.pixels_of(number) for number in range(len(plot.drawing.lines))]
        blocked = [np.tile(_points_in(rect), (_BLOCKED, 1)) for rect in plot.blocked]
        marks = [(plot.frame.pixel_x(mark.x), plot.frame.pixel_y(mark.y)) for mark in plot.drawing.marks]
        blocked.append(np.tile(np.array(marks).reshape(-1, 2), (_MARKED, 1)))
        points = np.concatenate([*blocked, *(resampled(curve) for curve in curves)])
        plot.dock = emptiest(boxes, points, plot.dock, _WORTH_MOVING)[0]
    left, top, _, _ = boxes[plot.dock]
    return QRectF(round(left), round(top), size.width, size.height)


def corners(area: QRectF, size: Measure, inset: float) -> list[Box]:
    """Return the boxes that a read-out has in the corners of an area."""
    lefts = (area.left() + inset, area.right() - inset - size.width)
    tops = (area.top() + inset, area.bottom() - inset - size.height)
    return [(x, y, x + size.width, y + size.height) for y in tops for x in lefts]


def _points_in(rect: QRectF) -> Array:
    xs = np.linspace(rect.left() + 1, rect.right() - 1, 5)
    ys = np.linspace(rect.top() + 1, rect.bottom() - 1, 5)
    return np.array([(x, y) for x in xs for y in ys])


def _cell_token(number: int) -> str:
    return "label" if number == 0 else "caption"


def _rights(box: QRectF, size: Measure, gap: float, inset: float) -> list[float]:
    """Return the right ends of the cells, from the first."""
    right = box.right() - inset
    ends = []
    for width in reversed(size.cells):
        ends.append(right)
        right -= width + gap
    return ends[::-1]


def _head(plot: Canvas, painter: QPainter, read_out: ReadOut, box: QRectF, size: Measure) -> None:
    letters, theme = plot.lettering, plot.theme
    baseline = letters.middle("caption_strong", box.top() + theme.px(15))
    left = box.left() + theme.px(_INSET)
    letters.draw(painter, left, baseline, read_out.title, "caption_strong", theme.colour("text2"))
    rights = _rights(box, size, _gap(read_out, theme), theme.px(_INSET))
    for right, head in zip(rights, read_out.heads, strict=True):
        letters.draw_right(painter, right, baseline, head, "caption", theme.colour("text3"))


def _row(
    plot: Canvas,
    painter: QPainter,
    pen: Pen,
    row: ReadOutRow,
    box: QRectF,
    rights: list[float],
    middle: float,
) -> None:
    letters, theme = plot.lettering, plot.theme
    left = box.left() + theme.px(_INSET)
    pen.swatch(left, middle, row.slot, hollow=row.hollow)
    baseline = letters.middle("small", middle)
    letters.draw(painter, left + theme.px(28), baseline, row.name, "small", theme.colour("text1"))
    for number, (right, cell) in enumerate(zip(rights, row.cells, strict=True)):
        colour = theme.colour("text1" if number == 0 else "text3")
        token = _cell_token(number)
        letters.draw_right(painter, right, letters.middle(token, middle), cell, token, colour)
