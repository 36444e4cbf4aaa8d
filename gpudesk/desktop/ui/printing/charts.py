"""The charts of a sheet: throughput against concurrency, and memory bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF

from gpudesk.desktop.ui.charts.scales import (
    Box,
    LabelBounds,
    LabelRequest,
    PlacedLabel,
    labels_collide,
    labels_cover,
    place_labels,
    resample_curve,
    stack_labels,
)
from gpudesk.desktop.ui.printing.paper import (
    SheetPainter,
    SheetPiece,
    find_widest,
    limit_lines,
    measure_line_height,
    measure_width,
    wrap_text,
)
from gpudesk.report.comparison.tables import (
    ComparisonSheet,
    SheetMemoryBar,
    ThroughputPlane,
    ThroughputSeries,
    make_throughput_plane,
)
from gpudesk.report.labels import format_throughput_title
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Height of the title, space above the plot, and below it for ticks and axis title.
CHART_TITLE_HEIGHT: Final = 15.0
_TOP: Final = 8.0
_BELOW: Final = 22.0
_CURVE: Final = 1.2
_MARKER: Final = 2.6
#: With more, overlapping bands hide each other; then only the baseline has one.
_MOST_BANDS: Final = 4
_LABEL_HEIGHT: Final = 17.5
_NAME_HEIGHT: Final = 9.5
_FIRST_LINE: Final = 7.0
_SECOND_LINE: Final = 15.0
#: Space between a curve's end and its label; beyond `_CLOSE`, a leader line connects them.
_NEAR: Final = 4.0
_CLOSE: Final = 11.0


class PaperThroughputChart:
    """The curves with their intervals, from one request in flight to the memory limit."""

    def __init__(self, sheet: ComparisonSheet, formatter: Formatter) -> None:
        self._curves = sheet.throughput
        self._concurrency = sheet.concurrency
        self._formatter = formatter
        self._plane = make_throughput_plane(self._curves, sheet.concurrency)

    def piece(self, room: float, height: float) -> SheetPiece:
        ticks = [self._formatter.number(number * self._plane.step) for number in range(self._plane.step_count + 1)]
        left = find_widest(ticks, "small") + 5
        right = room - max(self._label_width(each) for each in self._curves) - 9
        title = format_throughput_title(closed_loop=self._concurrency is not None)

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            top, bottom = y + CHART_TITLE_HEIGHT + _TOP, y + height - _BELOW
            plane = replace(self._plane, left=x + left, right=x + right, top=top, bottom=bottom)
            ink.text(x, y + 8, title, style="group", color="text1")
            self._draw_grid(ink, plane, ticks)
            self._draw_bands(ink, plane)
            self._draw_working_line(ink, plane)
            for series in self._curves:
                ink.curve(_list_points(plane, series, series.value), series.slot, _CURVE)
            self._draw_markers(ink, plane)
            self._draw_labels(ink, plane, x + room)

        return SheetPiece(height, draw)

    def _draw_grid(self, ink: SheetPainter, plane: ThroughputPlane, ticks: Sequence[str]) -> None:
        pitch = plane.y(0) - plane.y(plane.step)
        stride = math.ceil(measure_line_height("small") / pitch)
        for number, tick in enumerate(ticks):
            if number % stride:
                continue
            y = plane.y(number * plane.step)
            color = "axis" if number == 0 else "grid"
            ink.rule(plane.left, y, plane.right, y, color=color, width=0.6)
            ink.text(plane.left - 4, y + 2.5, tick, style="small", color="text3", align="right")
        for power in plane.ticks:
            x = plane.x(power)
            tick = self._formatter.count(power)
            ink.rule(x, plane.bottom, x, plane.bottom + 2.5, color="axis", width=0.6)
            ink.text(x, plane.bottom + 10, tick, style="small", color="text3", align="center")
        title = tr("requests in flight")
        ink.text(plane.right, plane.bottom + 19, title, style="small_strong", color="text3", align="right")

    def _draw_bands(self, ink: SheetPainter, plane: ThroughputPlane) -> None:
        for series in self._curves if len(self._curves) <= _MOST_BANDS else self._curves[:1]:
            upper, lower = _list_points(plane, series, series.high), _list_points(plane, series, series.low)
            ink.band([*upper, *reversed(lower)], series.slot)

    def _draw_working_line(self, ink: SheetPainter, plane: ThroughputPlane) -> None:
        if self._concurrency is None:
            return
        x = plane.x(self._concurrency)
        ink.rule(x, plane.top - 5, x, plane.bottom, color="text1", width=0.7)
        text = self._formatter.count(self._concurrency)
        after = x - measure_width(text, "note_number") - 3 < plane.left
        place, align = (x + 3, "left") if after else (x - 3, "right")
        ink.text(place, plane.top, text, style="note_number", color="text1", align=align)

    def _draw_markers(self, ink: SheetPainter, plane: ThroughputPlane) -> None:
        for series in self._curves:
            if self._concurrency in series.concurrency:
                at = series.concurrency.index(self._concurrency)
                point = _list_points(plane, series, series.value)[at]
                ink.marker(point.x(), point.y(), series.slot, radius=_MARKER, is_variant=series.is_variant)

    def _draw_labels(self, ink: SheetPainter, plane: ThroughputPlane, right: float) -> None:
        """Name each curve at its end, and mark the memory limit; without space, names alone."""
        lines = [_list_points(plane, each, each.value) for each in self._curves]
        curves = [resample_curve(np.array([(point.x(), point.y()) for point in line])) for line in lines]
        bounds = LabelBounds(plane.left + 2, plane.top - 4, right, plane.bottom - 1)
        requests = [self._request(line[-1], each) for line, each in zip(lines, self._curves, strict=True)]
        boxes = self._list_obstacles(plane)
        places = place_labels(requests, curves, boxes, bounds, _NEAR, strict=True)
        whole = not (labels_collide(places, requests, boxes) or labels_cover(places, requests, curves))
        if not whole:
            requests = [replace(label, height=_NAME_HEIGHT) for label in requests]
            places = stack_labels(requests, plane.right + 9, bounds)
        for series, label, place in zip(self._curves, requests, places, strict=True):
            top = place.y - label.height / 2
            line = find_leader_line(label, place)
            if line is not None:
                ink.leader(*line, series.slot)
            ink.text(place.x, top + _FIRST_LINE, series.name, style="group", color=f"slot{series.slot}")
            if whole:
                ink.text(place.x, top + _SECOND_LINE, self._format_full_label(series), style="small", color="text2")

    def _list_obstacles(self, plane: ThroughputPlane) -> list[Box]:
        """Return what labels avoid: the line of the load."""
        if self._concurrency is None:
            return []
        x = plane.x(self._concurrency)
        return [(x - 1.0, plane.top - 5.0, x + 1.0, plane.bottom)]

    def _request(self, end: QPointF, series: ThroughputSeries) -> LabelRequest:
        return LabelRequest(end.x(), end.y(), self._label_width(series), _LABEL_HEIGHT)

    def _label_width(self, series: ThroughputSeries) -> float:
        return max(measure_width(series.name, "group"), measure_width(self._format_full_label(series), "small"))

    def _format_full_label(self, series: ThroughputSeries) -> str:
        return tr("full at {n}", n=self._formatter.count(series.concurrency[-1]))


def _list_points(plane: ThroughputPlane, series: ThroughputSeries, rates: Sequence[float]) -> list[QPointF]:
    return [
        QPointF(plane.x(concurrency), plane.y(rate))
        for concurrency, rate in zip(series.concurrency, rates, strict=True)
    ]


def find_leader_line(label: LabelRequest, place: PlacedLabel) -> tuple[QPointF, QPointF] | None:
    """Return the line from a curve's end to its label, or None if the label is close enough."""
    end, half = QPointF(label.x, label.y), label.height / 2
    nearest = QPointF(
        min(max(label.x, place.x - 1), place.x + label.width + 1), min(max(label.y, place.y - half), place.y + half)
    )
    away = nearest - end
    return None if abs(away.x()) + abs(away.y()) <= _CLOSE else (end + away * 0.2, nearest - away * 0.06)


_BAR: Final = 10.0
_PITCH: Final = 19.0
#: Maximum width share of names.
_NAMES: Final = 0.45
#: Fills of the segments of a bar, the first the darkest.
_INKS: Final = ("ink1", "ink2", "ink3")
#: Height of a line of the legend, and the space above it.
_KEY_LINE: Final = 9.5
_ABOVE_KEY: Final = 2.0


class PaperMemoryChart:
    """A bar for each accelerator."""

    def __init__(self, sheet: ComparisonSheet) -> None:
        self._bars = sheet.memory

    def piece(self, room: float, height: float) -> SheetPiece:
        left = min(find_widest((bar.name for bar in self._bars), "group"), room * _NAMES) + 8
        tails = find_widest(map(_format_bar_label, self._bars), "small") + 7
        scale = (room - left - tails) / max(bar.extent for bar in self._bars)
        key = self._key(room)
        pitch = min(_PITCH, (height - CHART_TITLE_HEIGHT - _ABOVE_KEY - key.height) / len(self._bars))
        height = CHART_TITLE_HEIGHT + len(self._bars) * pitch + _ABOVE_KEY + key.height

        def draw(ink: SheetPainter, x: float, y: float) -> None:
            ink.text(x, y + 8, tr("Memory, GiB"), style="group", color="text1")
            for number, bar in enumerate(self._bars):
                middle = y + CHART_TITLE_HEIGHT + (number + 0.5) * pitch
                name = limit_lines(wrap_text(bar.name, "group", left - 8), 1, left - 8)[0][0].text
                ink.text(x, middle + 2.7, name, style="group", color=f"slot{bar.slot}")
                _draw_bar(ink, bar, x + left, middle, min(_BAR, pitch * 0.62), scale)
            key.draw(ink, x, y + CHART_TITLE_HEIGHT + len(self._bars) * pitch + _ABOVE_KEY)

        return SheetPiece(height, draw)

    def _key(self, room: float) -> SheetPiece:
        names = [name for name, _ in self._bars[0].parts]
        words = [*zip(_INKS, names, strict=True), ("sunken", tr("free"))]
        places: list[tuple[float, int]] = []
        x, line = 0.0, 0
        for _, name in words:
            needed = 9 + measure_width(name, "small")
            if x and x + needed > room:
                x, line = 0.0, line + 1
            places.append((x, line))
            x += needed + 10

        def draw(ink: SheetPainter, left: float, y: float) -> None:
            for (start, row), (token, name) in zip(places, words, strict=True):
                baseline = y + 8 + row * _KEY_LINE
                ink.tint(left + start, baseline - 5.2, 6, 6, token, radius=1)
                ink.text(left + start + 9, baseline, name, style="small", color="text2")

        return SheetPiece(12 + line * _KEY_LINE, draw)


def _format_bar_label(bar: SheetMemoryBar) -> str:
    return bar.label if bar.needed is None else tr("needs {needed}", needed=bar.needed)


def _draw_bar(ink: SheetPainter, bar: SheetMemoryBar, x: float, middle: float, height: float, scale: float) -> None:
    top = middle - height / 2
    full = bar.capacity * scale
    ink.tint(x, top, full, height, "sunken", radius=1.5)
    at = x
    for token, (_, size) in zip(_INKS, bar.parts, strict=True):
        wide = max(size * scale - 0.6, 0.0)
        ink.tint(at, top, wide, height, token, radius=min(1.5, wide / 2))
        if token == _INKS[0] and min(wide, full) > 22:
            ink.text(at + 4, middle + 2.5, f"{size:.0f}", style="small_strong", color="page")
        at += size * scale
    if bar.needed is not None:
        beyond = (bar.extent - bar.capacity) * scale
        ink.tint(x + full, top, beyond, height, "unfit_tint", radius=0)
        ink.hatch(x + full, top, beyond, height, "unfit")
    ink.rule(x + full, top - 2.5, x + full, top + height + 2.5, color="text1", width=1.4)
    color = "text2" if bar.needed is None else "unfit"
    ink.text(x + bar.extent * scale + 5, middle + 2.5, _format_bar_label(bar), style="small", color=color)
