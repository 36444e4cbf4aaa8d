"""Output throughput against requests in flight, drawn as inline SVG: bands, curves, and where memory ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.axes import apart, powers_of_two, tick_step
from gpudesk.sheets.glyphs import COLOURS
from gpudesk.sheets.sheet import Series
from gpudesk.text import tr, trn

#: Lengths of strokes and gaps of each slot's curve, in units of its width.
_DASHES: Final = ("", "7 3", "2 2.5", "8 2.5 2 2.5", "12 3", "4 2", "10 2 2 2 2 2", "1 3")
_STROKE: Final = 1.6
_WIDTH: Final = 430.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 86.0, 8.0, 30.0
#: Labels stand at least this far apart.
_PITCH: Final = 21.0
#: A label of which the second line is left out needs less.
_NARROW_PITCH: Final = 11.0
_MOST_BANDS: Final = 4


@dataclass(frozen=True, slots=True)
class _Plane:
    """Maps requests in flight (logarithmic) and tokens/s (from zero) to places on the paper."""

    most_x: float
    most_y: float
    height: float

    def x(self, concurrency: float) -> float:
        """Place of a number of requests."""
        share = math.log(concurrency) / math.log(self.most_x) if self.most_x > 1 else 0.0
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * share

    def y(self, rate: float) -> float:
        """Place of a rate."""
        return self.height - _BOTTOM - (self.height - _TOP - _BOTTOM) * rate / self.most_y


def throughput_chart(
    series: Sequence[Series], concurrency: int | None, height: float, formatter: Formatter
) -> str:
    """Return the chart of all curves, with a line at the scenario's own concurrency."""
    step = tick_step(max(max(each.high) for each in series))
    highest = math.ceil(max(max(each.high) for each in series) / step) * step
    longest = max(2, *(max(each.concurrency) for each in series), concurrency or 1)
    plane = _Plane(float(longest), highest, height)
    drawn = [_grid(plane, step, formatter)]
    # More bands than a few cover each other; then only the baseline keeps its own.
    drawn += [_band(each, plane) for each in (series if len(series) <= _MOST_BANDS else series[:1])]
    if concurrency is not None and concurrency <= longest:
        drawn.append(_working_line(concurrency, plane, formatter))
    drawn += [_curve(each, plane) for each in series]
    drawn.append(_labels(series, plane, formatter))
    spoken = "; ".join(_spoken(each, formatter) for each in series)
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH:g} {height:g}" role="img" aria-label="{escape(spoken)}">'
        f"{''.join(drawn)}</svg>"
    )


def _spoken(series: Series, formatter: Formatter) -> str:
    return trn(
        "{name}: {rate} tok/s at {n} request in flight, where memory is full",
        "{name}: {rate} tok/s at {n} requests in flight, where memory is full",
        int(series.concurrency[-1]),
        name=series.name,
        rate=formatter.estimate(series.value[-1]),
        n=formatter.count(series.concurrency[-1]),
    )


def _grid(plane: _Plane, step: float, formatter: Formatter) -> str:
    drawn = []
    right = _WIDTH - _RIGHT
    for number in range(round(plane.most_y / step) + 1):
        y = plane.y(number * step)
        colour = "#AEB5BF" if number == 0 else "#ECEEF1"
        drawn.append(f'<path d="M{_LEFT:g} {y:.1f}H{right:g}" stroke="{colour}" stroke-width=".8"/>')
        drawn.append(_text(_LEFT - 5, y + 3, formatter.number(number * step), "end", "tick"))
    drawn += [
        _text(plane.x(tick), plane.height - 18, formatter.count(tick), "middle", "tick")
        for tick in powers_of_two(plane.most_x)
    ]
    drawn.append(_text(right, plane.height - 5, tr("requests in flight"), "end", "tick"))
    return "".join(drawn)


def _band(series: Series, plane: _Plane) -> str:
    upper = [
        f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.high, strict=True)
    ]
    lower = [
        f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.low, strict=True)
    ]
    points = "L".join([*upper, *reversed(lower)])
    return f'<path d="M{points}Z" fill="{_colour(series)}" fill-opacity=".1"/>'


def _curve(series: Series, plane: _Plane) -> str:
    """Return the curve and the cap where memory ends."""
    points = "L".join(
        f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.value, strict=True)
    )
    dash = " ".join(f"{float(part) * _STROKE:g}" for part in _DASHES[_position(series)].split())
    colour = _colour(series)
    x, y = plane.x(series.concurrency[-1]), plane.y(series.value[-1])
    return (
        f'<g fill="none" stroke="{colour}" stroke-width="{_STROKE}">'
        f'<path d="M{points}" stroke-dasharray="{dash}"/><path d="M{x:.1f} {y - 4:.1f}v8"/></g>'
    )


def _working_line(concurrency: int, plane: _Plane, formatter: Formatter) -> str:
    x = plane.x(concurrency)
    bottom = plane.height - _BOTTOM
    return (
        f'<path d="M{x:.1f} {_TOP:g}V{bottom:.1f}" stroke="#16191D" stroke-width=".8"/>'
        f"{_text(x - 3, _TOP + 6, formatter.count(concurrency), 'end', 'name')}"
    )


def _labels(series: Sequence[Series], plane: _Plane, formatter: Formatter) -> str:
    """Return the names at the right, each at the height where its curve ends, pushed apart where needed."""
    pitch = _PITCH if len(series) * _PITCH <= plane.height - _BOTTOM else _NARROW_PITCH
    wanted = sorted(series, key=lambda each: plane.y(each.value[-1]))
    places = apart([plane.y(each.value[-1]) for each in wanted], pitch, _TOP + 4, plane.height - _BOTTOM)
    drawn = []
    x = _WIDTH - _RIGHT + 6
    for each, y in zip(wanted, places, strict=True):
        drawn.append(_text(x, y + 3, each.name, "start", f"name slot{each.slot}"))
        if pitch == _PITCH:
            full = tr("full at {n}", n=formatter.count(each.concurrency[-1]))
            drawn.append(_text(x, y + 12, full, "start", "tick"))
    return "".join(drawn)


def _text(x: float, y: float, text: str, anchor: str, css_class: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css_class}">{escape(text)}</text>'


def _position(series: Series) -> int:
    return (series.slot - 1) % len(COLOURS)


def _colour(series: Series) -> str:
    return COLOURS[_position(series)]
