"""Where the names at the ends of curves go, on screen and on paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from gpudesk.desktop.ui.charts.scales import FloatArray
from gpudesk.report.writers.svg import spread_labels

#: What lying over a curve costs, for each place of the curve beneath, in pixels of shift.
_OVER_CURVE: Final = 9.0
_OVER_LABEL: Final = 1e5
_OUTSIDE: Final = 1e6
#: Standing at the left of the end is for want of anything better.
_AT_LEFT: Final = 40.0
#: Curves are looked at every so many pixels.
_SPACING: Final = 4.0
_SHIFT_STEP: Final = 4.0
#: Half the length of what is drawn across a curve's end, and the room between labels side by side.
_CAP: Final = 8.0
_LABEL_GAP: Final = 6.0
#: Lines of text have room above and below, of which labels one above the other may share this much.
_OVERLAP: Final = 0.5
_MOST_STEPS: Final = 24


#: Left, top, right and bottom of a rectangle.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A label to be placed: where its curve ends, and how large it is, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """Where a label stands: its left edge and its middle, and how far those are from its curve's end."""

    x: float
    y: float
    shift: float
    aside: float


@dataclass(frozen=True, slots=True)
class LabelBounds:
    """The room there is for labels."""

    left: float
    top: float
    right: float
    bottom: float


def place_labels(
    wanted: Sequence[LabelRequest], curves: Sequence[FloatArray], boxes: Sequence[Box], bounds: LabelBounds, gap: float
) -> tuple[PlacedLabel, ...]:
    """Return a place for each label, `gap` beside its end; `curves` are points (n × 2) in pixels.

    No label lies under one of the `boxes` that float on the plot where that can be helped. Labels
    furthest to the right choose first: they have nothing beside them.
    """
    caps = [np.array([(label.x, label.y - _CAP), (label.x, label.y + _CAP)]) for label in wanted]
    points = np.concatenate([np.empty((0, 2)), *(resample_curve(curve) for curve in (*curves, *caps))])
    found: dict[int, PlacedLabel] = {}
    order = sorted(range(len(wanted)), key=lambda number: -wanted[number].x)
    for number in order:
        taken = [*boxes, *(_label_box(found[other], wanted[other]) for other in found)]
        found[number] = _best_place(wanted[number], points, taken, bounds, gap)
    _put_in_order(found, wanted)
    return tuple(found[number] for number in range(len(wanted)))


def _put_in_order(found: dict[int, PlacedLabel], wanted: Sequence[LabelRequest]) -> None:
    """Let labels in one column that are equally high stand in the order of their curves' ends."""
    columns: dict[tuple[int, float], list[int]] = {}
    for number, place in found.items():
        columns.setdefault((round(place.x), wanted[number].height), []).append(number)
    for column in columns.values():
        middles = sorted(found[number].y for number in column)
        for number, middle in zip(sorted(column, key=lambda each: wanted[each].y), middles, strict=True):
            place = found[number]
            found[number] = PlacedLabel(place.x, middle, middle - wanted[number].y, place.aside)


def labels_collide(places: Sequence[PlacedLabel], wanted: Sequence[LabelRequest], boxes: Sequence[Box]) -> bool:
    mine = [_label_box(place, label) for place, label in zip(places, wanted, strict=True)]
    everything = [*mine, *boxes]
    return any(
        one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]
        for number, one in enumerate(mine)
        for other in everything[number + 1 :]
    )


def resample_curve(curve: FloatArray) -> FloatArray:
    """Return points along a polyline (n × 2) at most a few pixels apart."""
    if len(curve) < 2:
        return curve
    lengths = np.hypot(*np.diff(curve, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    steps = np.linspace(0.0, along[-1], int(along[-1] / _SPACING) + 2)
    return np.stack([np.interp(steps, along, curve[:, 0]), np.interp(steps, along, curve[:, 1])], axis=1)


def _label_box(place: PlacedLabel, label: LabelRequest) -> Box:
    half = label.height / 2 - _OVERLAP
    return (place.x, place.y - half, place.x + label.width + _LABEL_GAP, place.y + half)


def _best_place(
    label: LabelRequest, points: FloatArray, taken: Sequence[Box], bounds: LabelBounds, gap: float
) -> PlacedLabel:
    shifts = _SHIFT_STEP * np.arange(-_MOST_STEPS, _MOST_STEPS + 1)
    middles = np.tile(label.y + shifts, 2)
    lefts = np.repeat([label.x + gap, label.x - gap - label.width], len(shifts))
    cost = np.abs(middles - label.y) + _AT_LEFT * (lefts < label.x)
    tops, bottoms = middles - label.height / 2, middles + label.height / 2
    rights = lefts + label.width
    outside = (lefts < bounds.left) | (rights > bounds.right) | (tops < bounds.top) | (bottoms > bounds.bottom)
    cost += _OUTSIDE * outside
    for left, top, right, bottom in taken:
        covered = (lefts < right) & (rights > left) & (tops < bottom) & (bottoms > top)
        cost += _OVER_LABEL * covered
    x, y = points[:, 0], points[:, 1]
    near = (x > lefts.min()) & (x < rights.max()) & (y > tops.min()) & (y < bottoms.max())
    x, y = x[near, None], y[near, None]
    beneath = (x > lefts) & (x < rights) & (y > tops) & (y < bottoms)
    cost += _OVER_CURVE * beneath.sum(axis=0)
    best = int(np.argmin(cost))
    return PlacedLabel(
        float(lefts[best]), float(middles[best]), float(middles[best] - label.y), float(lefts[best] - label.x)
    )


def find_emptiest_box(boxes: Sequence[Box], points: FloatArray, kept: int | None, worth: int) -> tuple[int, int]:
    """Return which of some boxes covers fewest points, and how many.

    The box `kept` so far stays unless another is better by more than `worth` points.
    """
    covered = [
        int(
            np.count_nonzero(
                (points[:, 0] > left) & (points[:, 0] < right) & (points[:, 1] > top) & (points[:, 1] < bottom)
            )
        )
        for left, top, right, bottom in boxes
    ]
    best = int(np.argmin(covered))
    if kept is not None and covered[kept] <= covered[best] + worth:
        best = kept
    return best, covered[best]


#: White between an end and its label, and around labels.
_NEAR: Final = 4.0
_PAPER_LABEL_GAP: Final = 0.5
#: A label that stands further away than this is tied to its end by a line.
_CLOSE: Final = 11.0
#: Distance of the places on a curve that a label keeps clear of.
_DOT_STEP: Final = 2.0


@dataclass(frozen=True, slots=True)
class PaperLabel:
    """A label of some size for the end of a curve."""

    end: QPointF
    size: QSizeF


@dataclass(frozen=True, slots=True)
class PaperLabelPlace:
    """Where a label goes, and whether it lies over a curve or another label there."""

    rect: QRectF
    covers: bool = False
    collides: bool = False


def place_paper_labels(
    labels: Sequence[PaperLabel], curves: Sequence[Sequence[QPointF]], bounds: QRectF
) -> list[PaperLabelPlace]:
    """Return a place for each label, within the bounds and clear of curves and labels where that can be.

    Ends on the right are placed first: they have the least choice.
    """
    dots = np.array([(dot.x(), dot.y()) for curve in curves for dot in _dotted(curve)]).reshape(-1, 2)
    found: dict[int, QRectF] = {}
    for number in sorted(range(len(labels)), key=lambda each: -labels[each].end.x()):
        taken = list(found.values())
        end = labels[number].end
        costs = [(_cost(place, end, dots, taken), place) for place in _candidates(labels[number], bounds)]
        found[number] = min(costs, key=itemgetter(0))[1]
    rects = [found[number] for number in range(len(labels))]
    return [
        PaperLabelPlace(rect, _covered(rect, dots) > 0, any(rect.intersects(other) for other in rects if other != rect))
        for rect in rects
    ]


def list_paper_labels(labels: Sequence[PaperLabel], left: float, bounds: QRectF) -> list[PaperLabelPlace]:
    """Return places below each other at one left end, in the order of the ends and as near them as can be."""
    order = sorted(range(len(labels)), key=lambda each: labels[each].end.y())
    pitch = min(max(label.size.height() for label in labels), bounds.height() / len(labels))
    wanted = [labels[number].end.y() for number in order]
    middles = spread_labels(wanted, pitch, bounds.top() + pitch / 2, bounds.bottom() - pitch / 2)
    found = {}
    for number, middle in zip(order, middles, strict=True):
        size = labels[number].size
        found[number] = PaperLabelPlace(QRectF(left, middle - size.height() / 2, size.width(), size.height()))
    return [found[number] for number in range(len(labels))]


def _dotted(curve: Sequence[QPointF]) -> Iterator[QPointF]:
    """Yield points along a curve, close enough that no label slips between."""
    for start, end in pairwise(curve):
        steps = max(1, int(max(abs(end.x() - start.x()), abs(end.y() - start.y())) / _DOT_STEP))
        for step in range(steps):
            yield start + (end - start) * (step / steps)
    yield from curve[-1:]


def _candidates(label: PaperLabel, bounds: QRectF) -> Iterator[QRectF]:
    """Yield places near an end: to its right first, then above and below it, then to its left."""
    wide, high = label.size.width(), label.size.height()
    x, y = label.end.x(), label.end.y()
    lefts = (x + _NEAR, x - wide / 2, x - wide - _NEAR, bounds.right() - wide)
    for left in lefts:
        for shift in (0.0, -0.5, 0.5, -1.0, 1.0, -1.5, 1.5, -2.0, 2.0, -2.5, 2.5, -3.0, 3.0):
            top = y - high / 2 + shift * high
            top = min(max(top, bounds.top()), bounds.bottom() - high)
            yield QRectF(min(max(left, bounds.left()), bounds.right() - wide), top, wide, high)


def _cost(place: QRectF, end: QPointF, dots: np.ndarray, taken: Sequence[QRectF]) -> float:
    """Return how bad a place is: covering a label is worst, then a curve, then being far from the end."""
    labels = sum(
        place.intersects(other.adjusted(-_PAPER_LABEL_GAP, -_PAPER_LABEL_GAP, _PAPER_LABEL_GAP, _PAPER_LABEL_GAP))
        for other in taken
    )
    covered = _covered(place, dots)
    centre = place.center()
    # To the right reads as belonging to the end; so being left of it counts as further.
    aside = abs(centre.x() - end.x()) / 3 + max(0.0, end.x() - centre.x())
    return labels * 10_000 + covered * 100 + abs(centre.y() - end.y()) + aside


def _covered(place: QRectF, dots: np.ndarray) -> int:
    low = np.array((place.left() - 1, place.top() - _PAPER_LABEL_GAP))
    high = np.array((place.right() + 1, place.bottom() + _PAPER_LABEL_GAP))
    return int(((dots > low) & (dots < high)).all(axis=1).sum())


def find_leader_line(end: QPointF, place: QRectF) -> tuple[QPointF, QPointF] | None:
    nearest = QPointF(
        min(max(end.x(), place.left() - 1), place.right() + 1), min(max(end.y(), place.top()), place.bottom())
    )
    away = nearest - end
    return None if abs(away.x()) + abs(away.y()) <= _CLOSE else (end + away * 0.2, nearest - away * 0.06)
