"""Parity plots as SVG: measured against predicted on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

from accuracy_report.wording import format_count

#: Side of a panel, and room around it for labels, in pixels.
SIDE: Final = 360
LEFT, TOP, BOTTOM, GAP, RIGHT = 66, 62, 58, 84, 20
#: Room between the outermost points and the frame, in decades.
_ROOM: Final = 0.08
#: Half of the size of a point.
_RADIUS: Final = 2.1
#: Dashed lines: this share above and below the measured value.
MARGIN: Final = 0.25
_FONT: Final = "'Desk Sans', 'Noto Sans', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class ParityPalette:
    """Colors of one theme: surface, text, secondary text, grid, axis, and one for each vendor."""

    surface: str
    text: str
    quiet: str
    grid: str
    axis: str
    vendors: Mapping[str, str]


class ParityPoint(NamedTuple):
    """A figure as measured and as predicted; both above zero."""

    vendor: str
    measured: float
    predicted: float


@dataclass(frozen=True, slots=True)
class ParityPanel:
    """One figure: title, unit, and its points."""

    title: str
    unit: str
    points: Sequence[ParityPoint]


@dataclass(frozen=True, slots=True)
class _LogAxis:
    """A logarithmic axis along `SIDE` pixels; `low` and `high` are powers of ten."""

    low: float
    high: float

    def place(self, value: float) -> float:
        return SIDE * (math.log10(value) - self.low) / (self.high - self.low)


def draw_parity_svg(panels: Sequence[ParityPanel], light: ParityPalette, dark: ParityPalette) -> str:
    """Return the panels side by side; at least one, each with at least one point."""
    width = LEFT + len(panels) * SIDE + (len(panels) - 1) * GAP + RIGHT
    height = TOP + SIDE + BOTTOM
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "font-family": _FONT,
            "font-size": "12",
            "role": "img",
        },
    )
    ET.SubElement(root, "title").text = " ".join(_summary(panel) for panel in panels)
    ET.SubElement(root, "style").text = _dark_style(dark)
    surface = {"class": "surface", "width": str(width), "height": str(height), "fill": light.surface}
    ET.SubElement(root, "rect", surface)
    for place, panel in enumerate(panels):
        group = ET.SubElement(root, "g", {"transform": f"translate({LEFT + place * (SIDE + GAP)} {TOP})"})
        _panel(group, panel, light)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def _summary(panel: ParityPanel) -> str:
    close = sum(abs(point.predicted / point.measured - 1.0) <= MARGIN for point in panel.points)
    return f"{panel.title}: {close} of {len(panel.points)} predictions are within {MARGIN:.0%} of the measurement."


def _dark_style(dark: ParityPalette) -> str:
    rules = [
        f".surface{{fill:{dark.surface}}}",
        f".text{{fill:{dark.text}}}",
        f".quiet{{fill:{dark.quiet}}}",
        f".grid{{stroke:{dark.grid}}}",
        f".axis{{stroke:{dark.axis}}}",
        f".line{{stroke:{dark.quiet}}}",
    ]
    for vendor, color in dark.vendors.items():
        rules.append(f".{_class(vendor)}{{stroke:{color}}}")
        rules.append(f".{_class(vendor)}-fill{{fill:{color};stroke:none}}")
    return f"@media (prefers-color-scheme: dark){{{''.join(rules)}}}"


def _class(vendor: str) -> str:
    return f"v-{vendor.lower()}"


def _panel(group: ET.Element, panel: ParityPanel, light: ParityPalette) -> None:
    values = [value for point in panel.points for value in (point.measured, point.predicted)]
    scale = _LogAxis(math.log10(min(values)) - _ROOM, math.log10(max(values)) + _ROOM)
    _axes(group, scale, panel, light)
    _text(group, f"{panel.title}, {panel.unit}", 0, -44, light.text, "text", {"font-weight": "600"})
    across = 0.0
    for place, (vendor, color) in enumerate(light.vendors.items()):
        points = [point for point in panel.points if point.vendor == vendor]
        _points(group, scale, points, place, color)
        across = _legend(group, across, place, f"{vendor}, {format_count(len(points), 'figure')}", light)
    # Above the points, which would hide them where dense.
    for ratio, dashes in ((1.0, ""), (1.0 + MARGIN, "4 4"), (1.0 - MARGIN, "4 4")):
        _diagonal(group, scale, ratio, dashes, light)


def _axes(group: ET.Element, scale: _LogAxis, panel: ParityPanel, light: ParityPalette) -> None:
    for exponent in range(math.ceil(scale.low), math.floor(scale.high) + 1):
        at = scale.place(10.0**exponent)
        label = _power(exponent)
        for line in ((at, 0, at, SIDE), (0, SIDE - at, SIDE, SIDE - at)):
            _line(group, line, light.grid, "grid")
        _text(group, label, at, SIDE + 18, light.quiet, "quiet", {"text-anchor": "middle"})
        _text(group, label, -8, SIDE - at + 4, light.quiet, "quiet", {"text-anchor": "end"})
    ET.SubElement(
        group, "rect", {"class": "axis", "width": str(SIDE), "height": str(SIDE), "fill": "none", "stroke": light.axis}
    )
    middle = {"text-anchor": "middle"}
    _text(group, f"measured, {panel.unit}", SIDE / 2, SIDE + 42, light.text, "text", middle)
    turned = {**middle, "transform": f"translate({14 - LEFT} {SIDE / 2:g}) rotate(-90)"}
    _text(group, f"predicted, {panel.unit}", 0, 0, light.text, "text", turned)


def _power(exponent: int) -> str:
    """Return a power of ten as an axis label: 0.1, 1, 100, 1k, 1M."""
    for step, letter in ((6, "M"), (3, "k")):
        if exponent >= step:
            return f"{10 ** (exponent - step):,}{letter}"
    return f"{10.0**exponent:g}"


def _diagonal(group: ET.Element, scale: _LogAxis, ratio: float, dashes: str, light: ParityPalette) -> None:
    """Draw the line where predicted is `ratio` times measured, clipped to the panel."""
    shift = SIDE * math.log10(ratio) / (scale.high - scale.low)
    ends = (max(0.0, -shift), SIDE - max(0.0, shift), min(SIDE, SIDE - shift), max(0.0, -shift))
    line = _line(group, ends, light.quiet, "line")
    if dashes:
        line.set("stroke-dasharray", dashes)
        words = f"{'+' if ratio > 1 else '−'}{abs(ratio - 1):.0%}"
        where = (ends[2] - 20, 13.0) if ratio > 1 else (SIDE - 6.0, ends[3] + 58)
        _text(group, words, *where, light.quiet, "quiet", {"text-anchor": "end", "font-size": "11"})


def _line(group: ET.Element, ends: tuple[float, float, float, float], color: str, kind: str) -> ET.Element:
    names = ("x1", "y1", "x2", "y2")
    places = {name: f"{end:.1f}" for name, end in zip(names, ends, strict=True)}
    return ET.SubElement(group, "line", {"class": kind, "stroke": color, **places})


def _text(group: ET.Element, words: str, x: float, y: float, color: str, kind: str, more: Mapping[str, str]) -> None:
    element = ET.SubElement(group, "text", {"class": kind, "fill": color, **more})
    element.set("x", f"{x:.1f}")
    element.set("y", f"{y:.1f}")
    element.text = words


def _points(group: ET.Element, scale: _LogAxis, points: Sequence[ParityPoint], shape: int, color: str) -> None:
    places = dict.fromkeys(
        (round(scale.place(point.measured), 1), round(SIDE - scale.place(point.predicted), 1)) for point in points
    )
    path = "".join(_mark(x, y, shape) for x, y in places)
    if path:
        _shape(group, path, shape, points[0].vendor, color)


def _mark(x: float, y: float, shape: int) -> str:
    """Return a dot for the first vendor, a triangle for the second, as segments of one path.

    A dot is a line with round ends; some viewers do not draw one of zero length.
    """
    if shape == 0:
        return f"M{x:g} {y:g}h.01"
    return f"M{x - 3:.1f} {y + 2.5:.1f}h6l-3-5z"


def _shape(group: ET.Element, path: str, shape: int, vendor: str, color: str) -> None:
    if shape == 0:
        attributes = {"stroke-linecap": "round", "stroke-width": f"{2 * _RADIUS:g}", "stroke": color}
        attributes |= {"class": _class(vendor), "fill": "none", "stroke-opacity": "0.75"}
    else:
        attributes = {"class": f"{_class(vendor)}-fill", "fill": color, "fill-opacity": "0.9"}
    ET.SubElement(group, "path", {"d": path, **attributes})


def _legend(group: ET.Element, across: float, shape: int, words: str, light: ParityPalette) -> float:
    """Draw the entry of a vendor; returns where the next one begins."""
    vendor = list(light.vendors)[shape]
    _shape(group, _mark(across + 5, -20, shape), shape, vendor, light.vendors[vendor])
    _text(group, words, across + 15, -16, light.text, "text", {})
    return across + 40 + 6.6 * len(words)
