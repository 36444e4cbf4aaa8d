"""Labels at the ends of curves on paper: within the bounds, clear of each other, and tied to their ends."""

from collections.abc import Callable, Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.charts.scales import (
    FloatArray,
    LabelBounds,
    LabelRequest,
    PlacedLabel,
    labels_collide,
    labels_cover,
    place_labels,
    resample_curve,
    stack_labels,
)
from gpudesk.desktop.ui.printing.charts import PaperThroughputChart, find_leader_line
from gpudesk.desktop.ui.printing.paper import measure_width
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.report.comparison.tables import ThroughputSeries
from gpudesk.text.formatting import Formatter

BOUNDS = LabelBounds(0, 0, 320, 120)
WIDTH, HEIGHT = 50.0, 17.0
GAP = 4.0


def straight(y: float, right: float = 260.0) -> FloatArray:
    return resample_curve(np.array([(0.0, 110.0), (right / 2, (110 + y) / 2), (right, y)]))


def request(curve: FloatArray, height: float = HEIGHT) -> LabelRequest:
    return LabelRequest(float(curve[-1, 0]), float(curve[-1, 1]), WIDTH, height)


def is_within(place: PlacedLabel, height: float = HEIGHT) -> bool:
    across = BOUNDS.left <= place.x and place.x + WIDTH <= BOUNDS.right
    return across and BOUNDS.top <= place.y - height / 2 and place.y + height / 2 <= BOUNDS.bottom


def test_label_of_a_lonely_curve_stands_right_of_its_end() -> None:
    curve = straight(40)
    (place,) = place_labels([request(curve)], [curve], [], BOUNDS, GAP, strict=True)
    assert place.x >= 260
    assert abs(place.y - 40) < 1
    assert find_leader_line(request(curve), place) is None


def test_labels_keep_clear_of_curves_and_of_each_other() -> None:
    curves = [straight(20), straight(60, 180), straight(62, 250), straight(90, 120)]
    wanted = [request(curve) for curve in curves]
    places = place_labels(wanted, curves, [], BOUNDS, GAP, strict=True)
    assert not labels_collide(places, wanted, [])
    assert not labels_cover(places, wanted, curves)
    assert all(is_within(place) for place in places)


def test_crowd_is_listed_beside_the_plot_in_the_order_of_its_ends() -> None:
    curves = [straight(60 + number) for number in (3, 1, 2, 0, 5, 4)]
    places = stack_labels([request(curve, 9.5) for curve in curves], 270, BOUNDS)
    assert all(is_within(place, 9.5) for place in places)
    assert all(abs(one.y - other.y) >= 9.5 for one, other in combinations(places, 2))
    by_height = sorted(range(6), key=lambda number: places[number].y)
    assert by_height == sorted(range(6), key=lambda number: float(curves[number][-1, 1]))


class DrawnInk:
    """Notes the texts and lines of a chart, and draws nothing."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, float, str, str]] = []
        self.rules: list[tuple[float, float, float, float]] = []

    def text(self, x: float, y: float, text: str, *, style: str, **_: object) -> None:
        self.texts.append((x, y, text, style))

    def rule(self, x: float, y: float, to_x: float, to_y: float, **_: object) -> None:
        self.rules.append((x, y, to_x, to_y))

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None


def _labels(ink: DrawnInk, *names: str) -> Iterator[tuple[float, float]]:
    """Yield the left and right ends of the labels with these names."""
    for x, _, text, style in ink.texts:
        if text in names or text.startswith("full at"):
            yield x, x + measure_width(text, style)


def test_the_line_of_the_load_strikes_no_label_through(qapp: QApplication) -> None:
    load_fonts()
    ends = {"H200 SXM": (43, 622.0), "MI325X": (117, 840.0), "B200 SXM": (68, 1220.0)}

    def rising(slot: int, name: str) -> ThroughputSeries:
        most, rate = ends[name]
        steps = (1, 4, 16, most)
        values = tuple(rate * (each / most) ** 0.7 for each in steps)
        low, high = (tuple(share * each for each in values) for share in (0.7, 1.4))
        return ThroughputSeries(slot, name, steps, values, low, high)

    sheet = SimpleNamespace(throughput=tuple(rising(*each) for each in enumerate(ends)), concurrency=64)
    ink = DrawnInk()
    PaperThroughputChart(cast("Any", sheet), Formatter()).piece(330.0, 170.0).draw(cast("Any", ink), 0.0, 0.0)
    (line,) = [x for x, y, to_x, to_y in ink.rules if x == to_x and abs(to_y - y) > 50]
    labels = list(_labels(ink, *ends))
    assert len(labels) == 6
    assert not [ends for ends in labels if ends[0] < line < ends[1]]
