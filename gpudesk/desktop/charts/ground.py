"""What stands below and around the curves of a plot: title, grid, axes with their ticks, limit, note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLineF
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.charts.scales import Linear, tick_texts

if TYPE_CHECKING:
    from gpudesk.desktop.charts.canvas import Canvas

#: Room that a tick's text takes along the axes, in pixels of the design.
_X_PITCH: Final = 48
_Y_PITCH: Final = 34
_Y_PITCH_OF_LOG: Final = 20
_TICK: Final = 4.0


def paint_ground(plot: Canvas, painter: QPainter) -> None:
    """Paint title, grid, axes, limit and note."""
    _title(plot, painter)
    if plot.drawing.lines:
        _grid(plot, painter)
        _x_texts(plot, painter)
        _limit(plot, painter)
    else:
        _bare_axis(plot, painter)
    if plot.drawing.note:
        width = plot.lettering.width(plot.drawing.note, "small")
        centre = plot.frame.area.center()
        x, y = centre.x() - width / 2, plot.lettering.middle("small", centre.y())
        plot.lettering.draw(painter, x, y, plot.drawing.note, "small", plot.theme.colour("text3"))


def _title(plot: Canvas, painter: QPainter) -> None:
    letters, theme = plot.lettering, plot.theme
    baseline = round(letters.metrics("section").ascent() + theme.px(2))
    letters.draw(painter, 0, baseline, plot.title, "section", theme.colour("text1"))
    x = letters.width(plot.title, "section") + theme.px(10)
    subtitle = letters.elided(plot.subtitle, "small", plot.viewport().width() - x)
    letters.draw(painter, x, baseline, subtitle, "small", theme.colour("text3"))


def _bare_axis(plot: Canvas, painter: QPainter) -> None:
    """Paint an axis without numbers: there is nothing that it could measure."""
    area = plot.frame.area
    painter.setPen(plot.theme.colour("axis"))
    painter.drawLine(QLineF(area.left(), area.bottom() + 0.5, area.right(), area.bottom() + 0.5))


def most_ticks(plot: Canvas) -> tuple[int, int]:
    """Return how many ticks have room along x and along y."""
    px, area = plot.theme.px, plot.frame.area
    pitch = px(_Y_PITCH if isinstance(plot.frame.y_scale, Linear) else _Y_PITCH_OF_LOG)
    return min(10, max(2, int(area.width() / px(_X_PITCH)))), min(7, max(2, int(area.height() / pitch)))


def x_ticks(plot: Canvas) -> tuple[float, ...]:
    """Return the values of x that have a tick."""
    return plot.frame.x_scale.ticks(*plot.frame.values_x(), most_ticks(plot)[0])


def y_ticks(plot: Canvas) -> tuple[float, ...]:
    """Return the values of y that have a line and a text."""
    return plot.frame.y_scale.ticks(*plot.frame.values_y(), most_ticks(plot)[1])


def _grid(plot: Canvas, painter: QPainter) -> None:
    """Paint lines across at the ticks, texts at their left, and the axis line at the bottom."""
    area, theme = plot.frame.area, plot.theme
    ticks = y_ticks(plot)
    heights = [round(plot.frame.pixel_y(tick)) + 0.5 for tick in ticks]
    lines = [QLineF(area.left(), y, area.right(), y) for y in heights]
    across = [round(plot.frame.pixel_x(tick)) + 0.5 for tick in x_ticks(plot)]
    if plot.vertical_grid:
        lines += [QLineF(x, area.top(), x, area.bottom()) for x in across]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(theme.colour("grid"))
    painter.drawLines(lines)
    painter.setPen(theme.colour("axis"))
    bottom = area.bottom() + 0.5
    painter.drawLines(
        [
            QLineF(area.left(), bottom, area.right(), bottom),
            *(QLineF(x, bottom, x, bottom + _TICK) for x in across),
        ]
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    texts = tick_texts(plot.frame.y_scale, ticks, plot.formatter)
    for y, text in zip(heights, texts, strict=True):
        plot.lettering.draw_right(
            painter,
            area.left() - theme.px(8),
            plot.lettering.middle("caption", y),
            text,
            "caption",
            theme.colour("text3"),
        )


def x_text_baseline(plot: Canvas) -> float:
    """Return the base line of the texts below the axis."""
    metrics = plot.lettering.metrics("caption")
    return round(plot.frame.area.bottom() + plot.foot_height() + plot.theme.px(7) + metrics.ascent())


def _x_texts(plot: Canvas, painter: QPainter) -> None:
    """Paint the ticks' texts, and the axis title below them or (where the plot says so) at the right."""
    letters, theme = plot.lettering, plot.theme
    baseline = x_text_baseline(plot)
    width = letters.width(plot.x_title, "caption_strong")
    if plot.title_below:
        end = float(plot.viewport().width())
        title = plot.frame.area.right(), baseline + theme.line("caption")
    else:
        end = plot.viewport().width() - width - theme.px(8)
        title = float(plot.viewport().width()), baseline
    letters.draw_right(painter, *title, plot.x_title, "caption_strong", theme.colour("text2"))
    ticks = x_ticks(plot)
    for tick, text in zip(ticks, tick_texts(plot.frame.x_scale, ticks, plot.formatter), strict=True):
        left = plot.frame.pixel_x(tick) - letters.width(text, "caption") / 2
        if left + letters.width(text, "caption") <= end:
            letters.draw(painter, left, baseline, text, "caption", theme.colour("text3"))


def _limit(plot: Canvas, painter: QPainter) -> None:
    limit = plot.drawing.limit
    if limit is None:
        return
    low, high = plot.frame.values_y()
    if not low <= limit.value <= high:
        return
    y = round(plot.frame.pixel_y(limit.value)) + 0.5
    pen = QPen(plot.theme.colour("disputed"), 1.0)
    pen.setDashPattern([4, 3])
    painter.setPen(pen)
    area = plot.frame.area
    painter.drawLine(QLineF(area.left(), y, area.right(), y))
    colour = plot.theme.colour("disputed_text")
    plot.lettering.draw_haloed(painter, area.left() + plot.theme.px(5), y - 5, limit.text, "caption", colour)
