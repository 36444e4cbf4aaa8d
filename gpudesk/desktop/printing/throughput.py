"""Output throughput against requests in flight: bands, curves, and where each ends because memory is full."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF

from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.letters import widest, width
from gpudesk.desktop.printing.pieces import Piece
from gpudesk.desktop.printing.placing import Wanted, leader, listed, placed
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.axes import powers_of_two, tick_step
from gpudesk.sheets.labels import throughput_title
from gpudesk.sheets.sheet import Series, Sheet
from gpudesk.text import tr

#: Height of the title, white above the plot, and room below it for ticks and the title of the axis.
TITLE: Final = 15.0
_TOP: Final = 8.0
_BELOW: Final = 22.0
_CURVE: Final = 1.2
_MARKER: Final = 2.6
#: More bands than these cover each other; then only the baseline keeps its own.
_MOST_BANDS: Final = 4
_LABEL_HEIGHT: Final = 17.5
_NAME_HEIGHT: Final = 9.5
_FIRST_LINE: Final = 7.0
_SECOND_LINE: Final = 15.0


@dataclass(frozen=True, slots=True)
class _Plane:
    """Maps requests in flight (logarithmic) and tokens/s (from zero) to places in points."""

    left: float
    right: float
    top: float
    bottom: float
    most_x: float
    most_y: float

    def x(self, concurrency: float) -> float:
        """Place of a number of requests."""
        return self.left + (self.right - self.left) * math.log(concurrency) / math.log(self.most_x)

    def y(self, rate: float) -> float:
        """Place of a rate."""
        return self.bottom - (self.bottom - self.top) * rate / self.most_y

    def points(self, series: Series, rates: Sequence[float]) -> list[QPointF]:
        """Places of one of the lines of a series."""
        return [
            QPointF(self.x(concurrency), self.y(rate))
            for concurrency, rate in zip(series.concurrency, rates, strict=True)
        ]


class ThroughputChart:
    """The curves with their bands, from one request in flight to where memory ends."""

    def __init__(self, sheet: Sheet, formatter: Formatter) -> None:
        """Settle the axes."""
        self._shown = sheet.throughput
        self._concurrency = sheet.concurrency
        self._formatter = formatter
        highest = max(max(each.high) for each in self._shown)
        self._step = tick_step(highest)
        self._count = math.ceil(highest / self._step)
        longest = max(max(each.concurrency) for each in self._shown)
        self._most_x = float(max(2, longest, sheet.concurrency or 1))

    def piece(self, room: float, height: float) -> Piece:
        """Return the chart for a width and a height."""
        ticks = [self._formatter.number(number * self._step) for number in range(self._count + 1)]
        left = widest(ticks, "small") + 5
        right = room - max(self._label_size(each).width() for each in self._shown) - 9
        title = throughput_title(closed_loop=self._concurrency is not None)

        def draw(ink: Ink, x: float, y: float) -> None:
            highest = self._count * self._step
            top, bottom = y + TITLE + _TOP, y + height - _BELOW
            plane = _Plane(x + left, x + right, top, bottom, self._most_x, highest)
            ink.text(x, y + 8, title, style="group", colour="text1")
            self._draw_grid(ink, plane, ticks)
            self._draw_bands(ink, plane)
            self._draw_working_line(ink, plane)
            for series in self._shown:
                ink.curve(plane.points(series, series.value), series.slot, _CURVE)
            self._draw_markers(ink, plane)
            self._draw_labels(ink, plane, x + room)

        return Piece(height, draw)

    def _draw_grid(self, ink: Ink, plane: _Plane, ticks: Sequence[str]) -> None:
        for number, tick in enumerate(ticks):
            y = plane.y(number * self._step)
            colour = "axis" if number == 0 else "grid"
            ink.rule(plane.left, y, plane.right, y, colour=colour, width=0.6)
            ink.text(plane.left - 4, y + 2.5, tick, style="small", colour="text3", align="right")
        for power in powers_of_two(self._most_x):
            x = plane.x(power)
            tick = self._formatter.count(power)
            ink.rule(x, plane.bottom, x, plane.bottom + 2.5, colour="axis", width=0.6)
            ink.text(x, plane.bottom + 10, tick, style="small", colour="text3", align="centre")
        title = tr("requests in flight")
        ink.text(plane.right, plane.bottom + 19, title, style="small_strong", colour="text3", align="right")

    def _draw_bands(self, ink: Ink, plane: _Plane) -> None:
        for series in self._shown if len(self._shown) <= _MOST_BANDS else self._shown[:1]:
            upper, lower = plane.points(series, series.high), plane.points(series, series.low)
            ink.band([*upper, *reversed(lower)], series.slot)

    def _draw_working_line(self, ink: Ink, plane: _Plane) -> None:
        """Draw the scenario's own concurrency, where it has one."""
        if self._concurrency is None:
            return
        x = plane.x(self._concurrency)
        ink.rule(x, plane.top - 5, x, plane.bottom, colour="text1", width=0.7)
        text = self._formatter.count(self._concurrency)
        after = x - width(text, "note_number") - 3 < plane.left
        place, align = (x + 3, "left") if after else (x - 3, "right")
        ink.text(place, plane.top, text, style="note_number", colour="text1", align=align)

    def _draw_markers(self, ink: Ink, plane: _Plane) -> None:
        """Draw each part's marker where its curve meets the scenario's own concurrency."""
        for series in self._shown:
            if self._concurrency in series.concurrency:
                at = series.concurrency.index(self._concurrency)
                point = plane.points(series, series.value)[at]
                ink.marker(point.x(), point.y(), series.slot, radius=_MARKER, hollow=series.hollow)

    def _draw_labels(self, ink: Ink, plane: _Plane, right: float) -> None:
        """Name each curve at its end, and say where memory is full; where there is no room, names alone."""
        ends = [plane.points(each, each.value) for each in self._shown]
        top = plane.top - 4
        bounds = QRectF(plane.left + 2, top, right - plane.left - 2, plane.bottom - 1 - top)
        wanted = [
            Wanted(curve[-1], self._label_size(each)) for curve, each in zip(ends, self._shown, strict=True)
        ]
        places = placed(wanted, ends, bounds)
        whole = not any(place.collides or place.covers for place in places)
        if not whole:
            wanted = [Wanted(label.end, QSizeF(label.size.width(), _NAME_HEIGHT)) for label in wanted]
            places = listed(wanted, plane.right + 9, bounds)
        for series, label, place in zip(self._shown, wanted, places, strict=True):
            line = leader(label.end, place.rect)
            if line is not None:
                ink.leader(*line, series.slot)
            x, y = place.rect.left(), place.rect.top()
            ink.text(x, y + _FIRST_LINE, series.name, style="group", colour=f"slot{series.slot}")
            if whole:
                ink.text(x, y + _SECOND_LINE, self._full(series), style="small", colour="text2")

    def _label_size(self, series: Series) -> QSizeF:
        wide = max(width(series.name, "group"), width(self._full(series), "small"))
        return QSizeF(wide, _LABEL_HEIGHT)

    def _full(self, series: Series) -> str:
        return tr("full at {n}", n=self._formatter.count(series.concurrency[-1]))
