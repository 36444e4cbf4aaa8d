"""Reading of curves, conversion between values and pixels, and placement of labels."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QRectF

from gpudesk.desktop.pages.performance.pareto_chart import find_best_at
from gpudesk.desktop.ui.charts.chart_data import PlotCurve, are_curves_equal
from gpudesk.desktop.ui.charts.plot_items import CoordinateFrame, find_extents
from gpudesk.desktop.ui.charts.scales import (
    LabelBounds,
    LabelRequest,
    LinearScale,
    PowerOfTwoScale,
    count_inner_labels,
    find_emptiest_box,
    labels_collide,
    place_labels,
    resample_curve,
)

BOUNDS = LabelBounds(0.0, 0.0, 500.0, 300.0)


def make_curve(key: str = "a", factor: float = 10.0) -> PlotCurve:
    """Return throughput in proportion to concurrency, so that interpolated values are known."""
    count = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    value = factor * count
    return PlotCurve(
        key,
        1,
        is_variant=False,
        name=key,
        x=count,
        y=value,
        low=value * 0.5,
        high=value * 2.0,
        count=count,
        end="memory full at 16",
    )


def test_curve_is_interpolated_up_to_its_end() -> None:
    reading = make_curve().at(3.0)
    assert reading is not None
    assert (reading.value, reading.low, reading.high) == pytest.approx((30.0, 15.0, 60.0))
    assert make_curve().at(16.0) is not None
    assert make_curve().at(17.0) is None


def test_curves_are_compared_by_value() -> None:
    assert are_curves_equal((make_curve(),), (make_curve(),))
    assert not are_curves_equal((make_curve(),), (make_curve(factor=11.0),))
    assert not are_curves_equal((make_curve(),), ())


def test_best_concurrency_at_a_speed_is_a_whole_number() -> None:
    count = np.array([1.0, 10.0, 100.0])
    curve = PlotCurve("a", 1, is_variant=False, name="a", x=100.0 / count, y=5.0 * count, count=count)
    best = find_best_at(curve, 9.0)
    assert best is not None
    assert best.count == 11
    assert best.value == pytest.approx(55.0)
    assert best.speed >= 9.0
    assert find_best_at(curve, 101.0) is None


@given(st.data())
def test_no_other_concurrency_is_better_than_the_best(data: st.DataObject) -> None:
    count = np.array(sorted(data.draw(st.sets(st.integers(1, 400), min_size=1, max_size=8))), dtype=float)
    figure = st.lists(st.floats(1.0, 100.0), min_size=len(count), max_size=len(count)).map(np.array)
    curve = PlotCurve("a", 1, is_variant=False, name="a", x=data.draw(figure), y=data.draw(figure), count=count)
    speed = data.draw(st.floats(1.0, 100.0))
    all_counts = np.arange(count[0], count[-1] + 1)
    speeds, values = (
        np.exp(np.interp(np.log(all_counts), np.log(count), np.log(figures))) for figures in (curve.x, curve.y)
    )
    reached = speeds >= speed * (1 - 1e-12)
    best = find_best_at(curve, speed)
    if not reached.any():
        assert best is None
    else:
        assert best is not None
        assert best.value == pytest.approx(values[reached].max(), rel=1e-9)
        assert best.speed >= speed * (1 - 1e-11)


def test_best_of_very_many_requests_is_computed_fast() -> None:
    count = np.array([1.0, 1e6, 1e12])
    curve = PlotCurve("a", 1, is_variant=False, name="a", x=1e13 / count, y=count, count=count)
    best = find_best_at(curve, 30.0)
    assert best is not None
    assert best.count == pytest.approx(1e13 / 30.0, rel=1e-9)


def test_pixels_and_values_convert_at_any_zoom() -> None:
    frame = CoordinateFrame(PowerOfTwoScale(), LinearScale(), QRectF(50, 10, 400, 200))
    frame.fit((1.0, 256.0), (0.0, 900.0), (8, 5))
    assert frame.pixel_x(1.0) == pytest.approx(50.0)
    assert frame.pixel_y(0.0) == pytest.approx(210.0)
    for _ in range(3):
        assert frame.value_x(frame.pixel_x(40.0)) == pytest.approx(40.0)
        frame.zoom(0.5, frame.pixel_x(40.0), 100.0)
    assert frame.zoomed
    frame.pan(-10_000, 10_000)
    assert frame.x[1] == pytest.approx(frame.whole_x[1])
    frame.zoom(1e6, 200.0, 100.0)
    assert not frame.zoomed


def test_wide_intervals_do_not_flatten_the_curves() -> None:
    extents = find_extents((make_curve(),), (), None, linear_y=True)
    assert extents is not None
    assert extents[1][1] == pytest.approx(160.0 * 1.5)
    assert find_extents((), (), 5.0, linear_y=True) is None


def test_labels_do_not_overlap_and_stay_inside() -> None:
    requests = [LabelRequest(300.0, 100.0 + number, 80.0, 30.0) for number in range(5)]
    labels = place_labels(requests, [], [], BOUNDS, 8.0)
    assert not labels_collide(labels, requests, [])
    assert all(label.y - 15 >= 0 and label.y + 15 <= 300 for label in labels)
    assert all(label.x + 80 <= 500 for label in labels)


def test_labels_side_by_side_keep_a_gap() -> None:
    right, left = LabelRequest(270.0, 100.0, 46.0, 60.0), LabelRequest(207.0, 125.0, 62.0, 16.0)
    labels = place_labels([left, right], [], [], BOUNDS, 9.0)
    assert not labels_collide(labels, [left, right], [])


def test_labels_of_one_column_keep_the_order_of_the_ends() -> None:
    requests = [LabelRequest(200.0, y, 80.0, 30.0) for y in (100.0, 118.0, 104.0, 112.0)]
    labels = place_labels(requests, [], [(0.0, 0.0, 200.0, 300.0)], BOUNDS, 8.0)
    by_end = sorted(zip(requests, labels, strict=True), key=lambda pair: pair[0].y)
    middles = [label.y for _, label in by_end]
    assert middles == sorted(middles)
    assert not labels_collide(labels, requests, [])
    assert all(label.shift == label.y - request.y for label, request in zip(labels, requests, strict=True))


def test_label_avoids_a_curve_and_a_box() -> None:
    request = LabelRequest(200.0, 150.0, 80.0, 20.0)
    curve = resample_curve(np.array([(200.0, 150.0), (400.0, 150.0)]))
    (label,) = place_labels([request], [curve], [], BOUNDS, 8.0)
    assert abs(label.y - 150.0) >= 10.0
    (moved_label,) = place_labels([request], [], [(190.0, 120.0, 400.0, 180.0)], BOUNDS, 8.0)
    assert not labels_collide([moved_label], [request], [(190.0, 120.0, 400.0, 180.0)])


def test_emptiest_box_changes_only_for_a_better_one() -> None:
    boxes = [(0.0, 0.0, 10.0, 10.0), (20.0, 0.0, 30.0, 10.0)]
    points = np.array([(5.0, 5.0)] * 3)
    assert find_emptiest_box(boxes, points, None, 0) == (1, 0)
    assert find_emptiest_box(boxes, points, 0, 5) == (0, 3)
    assert find_emptiest_box(boxes, points, 0, 1) == (1, 0)


def test_charts_import_only_parts_of_pyqtgraph() -> None:
    qt = sys.modules["pyqtgraph.Qt"]
    assert (qt.QtCore, qt.QtGui, qt.QtWidgets) == (QtCore, QtGui, QtWidgets)
    assert not sys.modules.keys() & {"pyqtgraph.imageview", "pyqtgraph.parametertree", "pyqtgraph.widgets.TreeWidget"}
    assert not sys.modules.keys() & {"PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets"}
    assert "QWidget" in dir(QtWidgets)


def test_label_whose_end_is_covered_is_next_to_the_cover() -> None:
    cover = (100.0, 0.0, 260.0, 400.0)
    request = LabelRequest(200.0, 150.0, 80.0, 20.0)
    (label,) = place_labels([request], [], [cover], LabelBounds(0.0, 0.0, 400.0, 400.0), 8.0)
    assert label.x >= cover[2]
    assert count_inner_labels([label]) == 1, "the end text is left out"
