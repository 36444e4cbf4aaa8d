"""Labels at the ends of curves: within the bounds, clear of each other, and tied to their ends."""

from itertools import combinations

from PySide6.QtCore import QPointF, QRectF, QSizeF

from gpudesk.desktop.ui.charts.label_placement import (
    PaperLabel,
    find_leader_line,
    list_paper_labels,
    place_paper_labels,
)

BOUNDS = QRectF(0, 0, 320, 120)
SIZE = QSizeF(50, 17)


def straight(y: float, right: float = 260.0) -> list[QPointF]:
    return [QPointF(0, 110), QPointF(right / 2, (110 + y) / 2), QPointF(right, y)]


def test_label_of_a_lonely_curve_stands_right_of_its_end() -> None:
    curve = straight(40)
    (place,) = place_paper_labels([PaperLabel(curve[-1], SIZE)], [curve], BOUNDS)
    assert place.rect.left() >= 260
    assert abs(place.rect.center().y() - 40) < 1
    assert find_leader_line(curve[-1], place.rect) is None


def test_labels_keep_clear_of_curves_and_of_each_other() -> None:
    curves = [straight(20), straight(60, 180), straight(62, 250), straight(90, 120)]
    places = place_paper_labels([PaperLabel(curve[-1], SIZE) for curve in curves], curves, BOUNDS)
    assert not any(place.collides or place.covers for place in places)
    assert all(BOUNDS.contains(place.rect) for place in places)


def test_crowd_is_listed_beside_the_plot_in_the_order_of_its_ends() -> None:
    curves = [straight(60 + number) for number in (3, 1, 2, 0, 5, 4)]
    labels = [PaperLabel(curve[-1], QSizeF(50, 9.5)) for curve in curves]
    places = [place.rect for place in list_paper_labels(labels, 270, BOUNDS)]
    assert all(BOUNDS.contains(rect) for rect in places)
    assert not any(one.intersects(other) for one, other in combinations(places, 2))
    by_height = sorted(range(6), key=lambda number: places[number].top())
    assert by_height == sorted(range(6), key=lambda number: curves[number][-1].y())
