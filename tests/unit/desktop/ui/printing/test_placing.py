"""Labels at the ends of curves on paper: within the bounds, clear of each other, and tied to their ends."""

from itertools import combinations

import numpy as np

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
from gpudesk.desktop.ui.printing.charts import find_leader_line

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
