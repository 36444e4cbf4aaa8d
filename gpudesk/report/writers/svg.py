"""Drawings of a sheet as inline SVG: swatches, memory bars, and throughput by concurrency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Final

from gpudesk.report.comparison.tables import (
    SheetMemoryBar,
    ThroughputPlane,
    ThroughputSeries,
    make_throughput_plane,
    spread_labels,
)
from gpudesk.report.rack_drawing import DrawnBox, FleetSketch, lay_out_racks
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

#: Color of each slot's mark on paper.
COLORS: Final = ("#3458B6", "#AF4213", "#12A594", "#66274F", "#A4872D", "#377FB5", "#8B130C", "#6C6D6E")

_MARKERS: Final = (
    '<circle cx="12" cy="5" r="4"/>',
    '<rect x="8.3" y="1.3" width="7.4" height="7.4"/>',
    '<path d="M12 .8 16.4 8.6H7.6Z"/>',
    '<path d="M12 .4 16.6 5 12 9.6 7.4 5Z"/>',
    '<path d="M12 9.2 16.4 1.4H7.6Z"/>',
    '<path d="M8 1l8 8M16 1l-8 8"/>',
    '<path d="M12 .6 16.3 3.7 14.7 8.7H9.3L7.7 3.7Z"/>',
    '<path d="M12 .6 15.8 2.8V7.2L12 9.4 8.2 7.2V2.8Z"/>',
)
_CROSS: Final = 5

#: Strokes left and right of the marker: (start, end) pairs on a base line of 24.
_STROKES: Final = (
    ((0, 24),),
    ((0, 5), (19, 24)),
    ((0, 2), (4, 6), (18, 20), (22, 24)),
    ((0, 1.5), (3, 6), (18, 21), (22.5, 24)),
    ((0, 6), (18, 24)),
    ((0, 4), (20, 24)),
    ((0, 1), (2.5, 6), (18, 21.5), (23, 24)),
    ((0, 1), (3, 4.5), (19.5, 21), (23, 24)),
)

#: Fills of the segments of a memory bar, the first the darkest.
_INKS: Final = ("#5B6470", "#9AA3AF", "#C9CFD7")
#: The same if they exceed the capacity.
_SHORT_INKS: Final = ("#A8321F", "#F3CDC6", "#FBEBE8")

_BAR_LEFT, _BAR_WIDTH, _BAR_PITCH, _BAR_HEIGHT = 70.0, 190.0, 17.0, 11.0


def draw_swatch(slot: int, *, is_variant: bool = False) -> str:
    """Return the legend of an accelerator's slot, counted from 1; a variant of it with is_variant."""
    position = (slot - 1) % len(COLORS)
    color = COLORS[position]
    # A cross is a line itself; the other markers have an edge in the color of the paper.
    line = f'stroke="{color}" stroke-width="{1.3 if is_variant else 2.2}"'
    edge = line if is_variant or position == _CROSS else 'stroke="#fff" stroke-width=".8"'
    fill = '"#fff"' if is_variant else f'"{color}"'
    lines = "".join(f"M{start} 5H{end}" for start, end in _STROKES[position])
    return (
        '<svg class="swatch" viewBox="0 0 24 10" width="24" height="10" aria-hidden="true">'
        f'<path d="{lines}" stroke="{color}" stroke-width="2" fill="none"/>'
        f"<g {edge} fill={fill}>{_MARKERS[position]}</g></svg>"
    )


def draw_memory_chart(bars: Sequence[SheetMemoryBar]) -> str:
    most = max(bar.extent for bar in bars)
    height = _BAR_PITCH * len(bars) + 2
    bars_svg = "".join(_draw_bar(bar, position, _BAR_WIDTH / most) for position, bar in enumerate(bars))
    label = "; ".join(_describe_memory(bar) for bar in bars)
    return (
        f'<svg class="chart" viewBox="0 0 {_BAR_LEFT + _BAR_WIDTH + 44:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{bars_svg}</svg>'
    )


def _describe_memory(bar: SheetMemoryBar) -> str:
    parts = ", ".join(f"{name} {size:.0f}" for name, size in bar.parts)
    text = tr("{name}: {sizes} of {capacity} GiB", name=bar.name, sizes=parts, capacity=bar.label)
    return text if bar.needed is None else f"{text}, {_get_needed_memory(bar)}"


def _get_needed_memory(bar: SheetMemoryBar) -> str:
    return tr("does not fit: needs {needed}", needed=bar.needed)


def _draw_bar(bar: SheetMemoryBar, position: int, scale: float) -> str:
    top = position * _BAR_PITCH + 2
    middle = top + _BAR_HEIGHT / 2 + 4
    elements = [
        f'<text x="0" y="{middle:g}" class="slot{bar.slot} name">{escape(bar.name)}</text>',
        _draw_block(_BAR_LEFT, top, bar.capacity * scale, "#EFF1F3"),
    ]
    x = _BAR_LEFT
    inks = _INKS if bar.needed is None else _SHORT_INKS
    for ink, (_, size) in zip(inks, bar.parts, strict=True):
        width = max(size * scale - 1, 0)
        elements.append(_draw_block(x, top, width, ink))
        if ink is inks[0] and width > 24:
            elements.append(f'<text x="{x + 6:.1f}" y="{middle:g}" fill="#fff">{size:.0f}</text>')
        x += size * scale
    end = _BAR_LEFT + bar.capacity * scale
    elements.append(f'<path d="M{end:.1f} {top - 2:g}V{top + _BAR_HEIGHT + 2:g}" stroke="#16191D" stroke-width="2"/>')
    label = bar.label if bar.needed is None else bar.needed
    css_class = "" if bar.needed is None else ' class="fails"'
    place = _BAR_LEFT + bar.extent * scale + 6
    elements.append(f'<text x="{place:.1f}" y="{middle:g}"{css_class}>{escape(label)}</text>')
    return "".join(elements)


def _draw_block(x: float, top: float, width: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{_BAR_HEIGHT:g}" rx="1.5" fill="{fill}"/>'


def draw_memory_legend(bar: SheetMemoryBar) -> str:
    return "".join(
        f'<span><i style="background:{ink}"></i>{escape(name)}</span>'
        for ink, (name, _) in zip(_INKS, bar.parts, strict=True)
    )


#: Lengths of strokes and gaps of each slot's curve, in units of its width.
_DASHES: Final = ("", "7 3", "2 2.5", "8 2.5 2 2.5", "12 3", "4 2", "10 2 2 2 2 2", "1 3")
_STROKE: Final = 1.6
_CHART_WIDTH: Final = 430.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 86.0, 8.0, 30.0
#: Minimum distance of labels.
_PITCH: Final = 21.0
#: A label without its second line needs less.
_NARROW_PITCH: Final = 11.0
_MOST_BANDS: Final = 4


def draw_throughput_chart(
    series: Sequence[ThroughputSeries], concurrency: int | None, height: float, formatter: Formatter
) -> str:
    plane = replace(
        make_throughput_plane(series, concurrency),
        left=_LEFT,
        right=_CHART_WIDTH - _RIGHT,
        top=_TOP,
        bottom=height - _BOTTOM,
    )
    elements = [_draw_grid(plane, formatter)]
    # More than a few intervals cover each other; then only the baseline has one.
    elements += [_draw_band(each, plane) for each in (series if len(series) <= _MOST_BANDS else series[:1])]
    if concurrency is not None:
        x = plane.x(concurrency)
        elements.append(
            f'<path d="M{x:.1f} {_TOP:g}V{plane.bottom:.1f}" stroke="#16191D" stroke-width=".8"/>'
            f"{_draw_text(x - 3, _TOP + 6, formatter.count(concurrency), 'end', 'name')}"
        )
    elements += [_draw_curve(each, plane) for each in series]
    elements.append(_draw_labels(series, plane, formatter))
    spoken = "; ".join(_describe_throughput(each, formatter) for each in series)
    return (
        f'<svg class="chart" viewBox="0 0 {_CHART_WIDTH:g} {height:g}" role="img" aria-label="{escape(spoken)}">'
        f"{''.join(elements)}</svg>"
    )


def _describe_throughput(series: ThroughputSeries, formatter: Formatter) -> str:
    return trn(
        "{name}: {rate} tok/s at {n} request in flight, when memory is full",
        "{name}: {rate} tok/s at {n} requests in flight, when memory is full",
        int(series.concurrency[-1]),
        name=series.name,
        rate=formatter.estimate(series.value[-1]),
        n=formatter.count(series.concurrency[-1]),
    )


def _draw_grid(plane: ThroughputPlane, formatter: Formatter) -> str:
    elements = []
    for number in range(plane.step_count + 1):
        y = plane.y(number * plane.step)
        color = "#AEB5BF" if number == 0 else "#ECEEF1"
        elements.append(f'<path d="M{_LEFT:g} {y:.1f}H{plane.right:g}" stroke="{color}" stroke-width=".8"/>')
        elements.append(_draw_text(_LEFT - 5, y + 3, formatter.number(number * plane.step), "end", "tick"))
    elements += [
        _draw_text(plane.x(tick), plane.bottom + 12, formatter.count(tick), "middle", "tick") for tick in plane.ticks
    ]
    elements.append(_draw_text(plane.right, plane.bottom + 25, tr("requests in flight"), "end", "tick"))
    return "".join(elements)


def _draw_band(series: ThroughputSeries, plane: ThroughputPlane) -> str:
    upper = [f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.high, strict=True)]
    lower = [f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.low, strict=True)]
    points = "L".join([*upper, *reversed(lower)])
    return f'<path d="M{points}Z" fill="{_get_color(series)}" fill-opacity=".1"/>'


def _draw_curve(series: ThroughputSeries, plane: ThroughputPlane) -> str:
    points = "L".join(
        f"{plane.x(x):.1f} {plane.y(y):.1f}" for x, y in zip(series.concurrency, series.value, strict=True)
    )
    dash = " ".join(f"{float(part) * _STROKE:g}" for part in _DASHES[_compute_position(series)].split())
    color = _get_color(series)
    x, y = plane.x(series.concurrency[-1]), plane.y(series.value[-1])
    return (
        f'<g fill="none" stroke="{color}" stroke-width="{_STROKE}">'
        f'<path d="M{points}" stroke-dasharray="{dash}"/><path d="M{x:.1f} {y - 4:.1f}v8"/></g>'
    )


def _draw_labels(series: Sequence[ThroughputSeries], plane: ThroughputPlane, formatter: Formatter) -> str:
    pitch = _PITCH if len(series) * _PITCH <= plane.bottom else _NARROW_PITCH
    by_height = sorted(series, key=lambda each: plane.y(each.value[-1]))
    places = spread_labels([plane.y(each.value[-1]) for each in by_height], pitch, _TOP + 4, plane.bottom)
    elements = []
    x = plane.right + 6
    for each, y in zip(by_height, places, strict=True):
        elements.append(_draw_text(x, y + 3, each.name, "start", f"name slot{each.slot}"))
        if pitch == _PITCH:
            full = tr("full at {n}", n=formatter.count(each.concurrency[-1]))
            elements.append(_draw_text(x, y + 12, full, "start", "tick"))
    return "".join(elements)


def _draw_text(x: float, y: float, text: str, anchor: str, css_class: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css_class}">{escape(text)}</text>'


def _compute_position(series: ThroughputSeries) -> int:
    return (series.slot - 1) % len(COLORS)


def _get_color(series: ThroughputSeries) -> str:
    return COLORS[_compute_position(series)]


#: Lengths of the picture of racks.
_RACKS_WIDTH, _RACKS_HEIGHT, _RACKS_LINE = 720.0, 260.0, 12.0
_EDGE, _RACK_EDGE, _SUNKEN = "#C9CED6", "#868F9B", "#EFF1F3"


def draw_racks(sketches: Sequence[FleetSketch]) -> str:
    """Return the racks of fleets to scale; a rack's title describes its content."""
    drawing = lay_out_racks(sketches, _RACKS_WIDTH, _RACKS_HEIGHT, _RACKS_LINE)
    boxes = "".join(map(_draw_rack_box, drawing.boxes))
    titles = "".join(
        f'<rect {_write_place(box)} fill-opacity="0"><title>{escape(sentence)}</title></rect>'
        for box, sentence in drawing.regions
    )
    middle = drawing.line * 0.75
    texts = "".join(
        _draw_text(text.x, text.y + middle, text.text, "start", f"name slot{text.slot}" if text.slot else "tick")
        for text in drawing.texts
    )
    spoken = "; ".join(f"{sketch.name}: {', '.join(sketch.texts)}" for sketch in sketches)
    return (
        f'<svg class="chart racks" viewBox="0 0 {drawing.width:g} {drawing.height:.1f}" role="img" '
        f'aria-label="{escape(spoken)}">{boxes}{texts}{titles}</svg>'
    )


def _write_place(box: DrawnBox) -> str:
    return f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'


def _draw_rack_box(box: DrawnBox) -> str:
    color = COLORS[(box.slot - 1) % len(COLORS)] if box.slot else "#5F6875"
    if box.kind == "scale":
        path = f"M{box.x:.1f} {box.y - 3:.1f}v6M{box.x:.1f} {box.y:.1f}h{box.width:.1f}m0 -3v6"
        return f'<path d="{path}" stroke="#4E5763" stroke-width=".8" fill="none"/>'
    if box.kind in ("rack", "system"):
        edge, fill = (_RACK_EDGE, "#fff") if box.kind == "rack" else (_EDGE, _SUNKEN)
        return f'<rect {_write_place(box)} rx="1.5" fill="{fill}" stroke="{edge}" stroke-width=".8"/>'
    if box.kind == "used":
        return f'<rect {_write_place(box)} rx=".8" fill="{color}"/>'
    frame = f'<rect {_write_place(box)} rx=".8" fill="#fff" stroke="{color}" stroke-width=".8"/>'
    if box.kind == "idle":
        return frame
    stroke = f"M{box.x:.1f} {box.y + box.height:.1f}l{box.width:.1f} {-box.height:.1f}"
    return f'{frame}<path d="{stroke}" stroke="{color}" stroke-width=".8"/>'
