"""Where the names at the ends of curves go, on screen and on paper: all lengths are pixels or points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.desktop.ui.charts.scales import FloatArray
from gpudesk.report.writers.svg import spread_labels

#: What lying over a curve costs, for each place of the curve beneath, in pixels of shift.
_OVER_CURVE: Final = 9.0
_NEVER_OVER_CURVE: Final = 200.0
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
    """The place of a label: its left edge and its middle, and their distances from its curve's end."""

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
    requests: Sequence[LabelRequest],
    curves: Sequence[FloatArray],
    boxes: Sequence[Box],
    bounds: LabelBounds,
    gap: float,
    *,
    strict: bool = False,
) -> tuple[PlacedLabel, ...]:
    """Return a place for each label, `gap` beside its end; `curves` as `resample_curve` returns them.

    `strict` ones lie over curves only for want of any other place, and may stand above or below their ends.

    No label lies under one of the `boxes` that float on the plot where that can be helped. Labels
    furthest to the right choose first: they have nothing beside them.
    """
    caps = [resample_curve(np.array([(label.x, label.y - _CAP), (label.x, label.y + _CAP)])) for label in requests]
    points = np.concatenate([np.empty((0, 2)), *curves, *caps])
    places: dict[int, PlacedLabel] = {}
    order = sorted(range(len(requests)), key=lambda number: -requests[number].x)
    for number in order:
        obstacles = [*boxes, *(_label_box(places[other], requests[other]) for other in places)]
        places[number] = _best_place(requests[number], points, obstacles, bounds, gap, strict=strict)
    _put_in_order(places, requests)
    return tuple(places[number] for number in range(len(requests)))


def _put_in_order(places: dict[int, PlacedLabel], requests: Sequence[LabelRequest]) -> None:
    """Let labels in one column that are equally high stand in the order of their curves' ends."""
    columns: dict[tuple[int, float], list[int]] = {}
    for number, place in places.items():
        columns.setdefault((round(place.x), requests[number].height), []).append(number)
    for column in columns.values():
        middles = sorted(places[number].y for number in column)
        for number, middle in zip(sorted(column, key=lambda each: requests[each].y), middles, strict=True):
            place = places[number]
            places[number] = PlacedLabel(place.x, middle, middle - requests[number].y, place.aside)


def labels_collide(places: Sequence[PlacedLabel], requests: Sequence[LabelRequest], boxes: Sequence[Box]) -> bool:
    mine = [_label_box(place, label) for place, label in zip(places, requests, strict=True)]
    everything = [*mine, *boxes]
    return any(
        one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]
        for number, one in enumerate(mine)
        for other in everything[number + 1 :]
    )


def labels_cover(places: Sequence[PlacedLabel], requests: Sequence[LabelRequest], curves: Sequence[FloatArray]) -> bool:
    """Whether a label at its place covers one of the curves, which `resample_curve` returned."""
    points = np.concatenate([np.empty((0, 2)), *curves])
    boxes = (_label_box(place, label) for place, label in zip(places, requests, strict=True))
    return any(_count_inside(points, (left, top, right - _LABEL_GAP, bottom)) for left, top, right, bottom in boxes)


def stack_labels(requests: Sequence[LabelRequest], left: float, bounds: LabelBounds) -> tuple[PlacedLabel, ...]:
    """Return places below each other at one left end, in the order of the ends and as near them as can be."""
    order = sorted(range(len(requests)), key=lambda number: requests[number].y)
    pitch = min(max(label.height for label in requests), (bounds.bottom - bounds.top) / len(requests))
    ends = [requests[number].y for number in order]
    middles = spread_labels(ends, pitch, bounds.top + pitch / 2, bounds.bottom - pitch / 2)
    places = {
        number: PlacedLabel(left, middle, middle - requests[number].y, left - requests[number].x)
        for number, middle in zip(order, middles, strict=True)
    }
    return tuple(places[number] for number in range(len(requests)))


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
    label: LabelRequest, points: FloatArray, occupied: Sequence[Box], bounds: LabelBounds, gap: float, *, strict: bool
) -> PlacedLabel:
    shifts = _SHIFT_STEP * np.arange(-_MOST_STEPS, _MOST_STEPS + 1)
    sides = [(label.x + gap, 0.0), (label.x - gap - label.width, _AT_LEFT)]
    if strict:
        sides.append((label.x - label.width / 2, 0.0))
    middles = np.tile(label.y + shifts, len(sides))
    lefts, worse = (np.repeat(each, len(shifts)) for each in zip(*sides, strict=True))
    cost = np.abs(middles - label.y) + worse
    tops, bottoms = middles - label.height / 2, middles + label.height / 2
    rights = lefts + label.width
    outside = (lefts < bounds.left) | (rights > bounds.right) | (tops < bounds.top) | (bottoms > bounds.bottom)
    cost += _OUTSIDE * outside
    for left, top, right, bottom in occupied:
        covered = (lefts < right) & (rights > left) & (tops < bottom) & (bottoms > top)
        cost += _OVER_LABEL * covered
    x, y = points[:, 0], points[:, 1]
    near = (x > lefts.min()) & (x < rights.max()) & (y > tops.min()) & (y < bottoms.max())
    x, y = x[near, None], y[near, None]
    beneath = (x > lefts) & (x < rights) & (y > tops) & (y < bottoms)
    cost += (_NEVER_OVER_CURVE if strict else _OVER_CURVE) * beneath.sum(axis=0)
    best = int(np.argmin(cost))
    return PlacedLabel(
        float(lefts[best]), float(middles[best]), float(middles[best] - label.y), float(lefts[best] - label.x)
    )


def find_emptiest_box(boxes: Sequence[Box], points: FloatArray, former_box: int | None, worth: int) -> tuple[int, int]:
    """Return which of some boxes covers fewest points, and how many.

    The box `former_box` so far stays unless another is better by more than `worth` points.
    """
    covered = [_count_inside(points, box) for box in boxes]
    best = int(np.argmin(covered))
    if former_box is not None and covered[former_box] <= covered[best] + worth:
        best = former_box
    return best, covered[best]


def _count_inside(points: FloatArray, box: Box) -> int:
    left, top, right, bottom = box
    x, y = points[:, 0], points[:, 1]
    return int(np.count_nonzero((x > left) & (x < right) & (y > top) & (y < bottom)))
