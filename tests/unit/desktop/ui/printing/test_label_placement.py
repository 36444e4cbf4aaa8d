"""Labels at the ends of curves on paper: within bounds, without overlap, connected to their ends."""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
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


def make_curve(y: float, right: float = 260.0) -> FloatArray:
    return resample_curve(np.array([(0.0, 110.0), (right / 2, (110 + y) / 2), (right, y)]))


def make_request(curve: FloatArray, height: float = HEIGHT) -> LabelRequest:
    return LabelRequest(float(curve[-1, 0]), float(curve[-1, 1]), WIDTH, height)


def is_within(label: PlacedLabel, height: float = HEIGHT) -> bool:
    across = BOUNDS.left <= label.x and label.x + WIDTH <= BOUNDS.right
    return across and BOUNDS.top <= label.y - height / 2 and label.y + height / 2 <= BOUNDS.bottom


def test_label_of_a_single_curve_is_right_of_its_end() -> None:
    curve = make_curve(40)
    (label,) = place_labels([make_request(curve)], [curve], [], BOUNDS, GAP, strict=True)
    assert label.x >= 260
    assert abs(label.y - 40) < 1
    assert find_leader_line(make_request(curve), label) is None


def test_labels_overlap_neither_curves_nor_labels() -> None:
    curves = [make_curve(20), make_curve(60, 180), make_curve(62, 250), make_curve(90, 120)]
    requests = [make_request(curve) for curve in curves]
    labels = place_labels(requests, curves, [], BOUNDS, GAP, strict=True)
    assert not labels_collide(labels, requests, [])
    assert not labels_cover(labels, requests, curves)
    assert all(is_within(label) for label in labels)


def test_many_labels_are_stacked_in_the_order_of_their_ends() -> None:
    curves = [make_curve(60 + number) for number in (3, 1, 2, 0, 5, 4)]
    labels = stack_labels([make_request(curve, 9.5) for curve in curves], 270, BOUNDS)
    assert all(is_within(label, 9.5) for label in labels)
    assert all(abs(first.y - second.y) >= 9.5 for first, second in combinations(labels, 2))
    by_height = sorted(range(6), key=lambda number: labels[number].y)
    assert by_height == sorted(range(6), key=lambda number: float(curves[number][-1, 1]))


class RecordedInk:
    """Records the texts and lines of a chart, and draws nothing."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, float, str, str]] = []
        self.rules: list[tuple[float, float, float, float]] = []

    def text(self, x: float, y: float, text: str, *, style: str, **_: object) -> None:
        self.texts.append((x, y, text, style))

    def rule(self, x: float, y: float, to_x: float, to_y: float, **_: object) -> None:
        self.rules.append((x, y, to_x, to_y))

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None


def _labels(ink: RecordedInk, *names: str) -> Iterator[tuple[float, float]]:
    """Yield the left and right ends of the labels with these names."""
    for x, _, text, style in ink.texts:
        if text in names or text.startswith("full at"):
            yield x, x + measure_width(text, style)


_ENDS = {"H200 SXM": (43, 622.0), "MI325X": (117, 840.0), "B200 SXM": (68, 1220.0)}


def _record_chart(height: float) -> RecordedInk:
    load_fonts()

    def rising(slot: int, name: str) -> ThroughputSeries:
        most, rate = _ENDS[name]
        steps = (1, 4, 16, most)
        values = tuple(rate * (each / most) ** 0.7 for each in steps)
        low, high = (tuple(share * each for each in values) for share in (0.7, 1.4))
        return ThroughputSeries(slot, name, steps, values, low, high)

    sheet = SimpleNamespace(throughput=tuple(rising(*each) for each in enumerate(_ENDS)), concurrency=64)
    ink = RecordedInk()
    PaperThroughputChart(cast("Any", sheet), Formatter()).piece(330.0, height).draw(cast("Any", ink), 0.0, 0.0)
    return ink


def test_load_line_crosses_no_label(qapp: QApplication) -> None:
    ink = _record_chart(170.0)
    (line,) = [x for x, y, to_x, to_y in ink.rules if x == to_x and abs(to_y - y) > 50]
    labels = list(_labels(ink, *_ENDS))
    assert len(labels) == 6
    assert not [ends for ends in labels if ends[0] < line < ends[1]]


def test_tick_labels_of_a_low_chart_do_not_touch(qapp: QApplication) -> None:
    texts = _record_chart(72.0).texts
    numbers = [(x, y) for x, y, text, style in texts if style == "small" and text.replace(",", "").isdigit()]
    left_edge = min(x for x, _ in numbers)
    levels = sorted(y for x, y in numbers if x == left_edge)
    assert len(levels) >= 3
    assert all(below - above >= 8 for above, below in pairwise(levels))
