"""Axis scales: positions of values, ticks, and rounding of ranges.

The plot maps positions linearly to pixels: the value itself, or its logarithm to base 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import spread_labels
from gpudesk.text.formatting import Formatter

FloatArray = npt.NDArray[np.float64]

_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_ONE_TWO_FIVE: Final = (1.0, 2.0, 5.0)
_ONE_THREE: Final = (1.0, 3.0)
#: With fewer logarithmic ticks, round values at even steps are used instead.
_FEWEST: Final = 3
#: Minimum steps in a range when its ends are rounded.
_ROUNDING_STEPS: Final = 7
#: A range extends this far beyond the last count, for the labels at curve ends.
_ROOM_PAST_COUNTS: Final = 1.3
#: Tolerance in comparisons of floating-point ticks with the ends of a range, as a share of the step.
_SLACK: Final = 1e-6


class AxisScale(Protocol):
    """The scale of an axis."""

    def place(self, values: FloatArray) -> FloatArray: ...

    def place_of(self, value: float) -> float: ...

    def value_at(self, place: float) -> float: ...

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return the tick values between two values, about `most` of them at most."""

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return a range that contains everything between two values and ends at one of `most` ticks."""


@frozen_dataclass
class LinearScale:
    """Even steps from zero."""

    def place(self, values: FloatArray) -> FloatArray:
        return values

    def place_of(self, value: float) -> float:
        return value

    def value_at(self, place: float) -> float:
        return place

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        return make_even_ticks(low, high, most)

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return zero, or the round value below a lower minimum, and the round value above."""
        span = max(high, 0.0) - min(low, 0.0)
        if span <= 0:
            return (0.0, 1.0)
        # Charts with few ticks use finer rounding, so that a curve is not squeezed into half of the range.
        step = round_up_step(span / max(_ROUNDING_STEPS, most - 1))
        bottom = math.floor(min(low, 0.0) / step + _SLACK) * step
        return (bottom, math.ceil(high / step - _SLACK) * step)


@frozen_dataclass
class MonthScale(LinearScale):
    """Months in half-years, or whole years, up to the last one."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        step = next((each for each in (6, 12, 24, 36, 60) if (high - low) / each < max(most, 2)), 120)
        return tuple(float(month) for month in range(math.ceil(low / step) * step, int(high) + 1, step))

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del low, most
        return (0.0, max(high, 1.0))


class _LogScale:
    """Equal factors have equal distances."""

    __slots__ = ()

    def place(self, values: FloatArray) -> FloatArray:
        return np.log10(values)

    def place_of(self, value: float) -> float:
        return math.log10(value)

    def value_at(self, place: float) -> float:
        return float(10.0**place)


@frozen_dataclass
class PowerOfTwoScale(_LogScale):
    """Counts in powers of two."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return powers of two, every one or every few; round counts in a narrow range."""
        first = math.ceil(math.log2(low) - _SLACK)
        last = math.floor(math.log2(high) + _SLACK)
        stride = max(1, math.ceil((last - first + 1) / max(1, most)))
        first = math.ceil(first / stride) * stride
        powers = tuple(2.0**power for power in range(first, last + 1, stride))
        if len(powers) >= _FEWEST or most < _FEWEST:
            return powers
        whole = tuple(tick for tick in make_even_ticks(low, high, most) if tick == round(tick) and tick >= 1)
        return whole if len(whole) > len(powers) else powers

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return the power of two below, and a little more than the highest count."""
        del most
        bottom = 2.0 ** math.floor(math.log2(max(low, 1.0)) + _SLACK)
        return (bottom, max(2.0 * bottom, high * _ROOM_PAST_COUNTS))


@frozen_dataclass
class DecadeScale(_LogScale):
    """Quantities over several powers of ten, such as times: ticks at 1, 2 and 5, at 1 and 3, or decades only."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return 1-2-5 ticks, or 1-3 ticks for few decades, or decades, or every few of them."""
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        fine = _select_in_range((factor * 10.0**power for power in decades for factor in _ONE_TWO_FIVE), low, high)
        if len(fine) <= max(most, 1):
            return fine if len(fine) >= _FEWEST else make_even_ticks(low, high, most)
        whole = _select_in_range((10.0**power for power in decades), low, high)
        if len(whole) < _FEWEST:
            return _select_in_range((factor * 10.0**power for power in decades for factor in _ONE_THREE), low, high)
        stride = max(1, math.ceil(len(whole) / max(1, most)))
        return whole[::stride]

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del most
        return (_round_down_to_decade_step(low), 1 / _round_down_to_decade_step(1 / high))


def round_up_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in _ROUND if factor * power >= least * (1 - _SLACK))


def make_even_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return multiples of a round step within a range: as many as possible, at most `most`, but two."""
    if high <= low:
        return (low,)
    step = round_up_step((high - low) / max(1, most))
    while True:
        first, last = math.ceil(low / step - _SLACK), math.floor(high / step + _SLACK)
        if last - first < max(2, most):
            return tuple(number * step for number in range(first, last + 1))
        step = round_up_step(step * (1 + 2 * _SLACK))


def format_ticks(scale: AxisScale, ticks: Sequence[float], formatter: Formatter) -> tuple[str, ...]:
    """Return the tick labels: equal decimals on an even scale, individual ones on a logarithmic one."""
    decimals = [_count_decimals(tick) for tick in ticks]
    if isinstance(scale, LinearScale):
        decimals = [max(decimals, default=0)] * len(decimals)
    return tuple([formatter.number(tick, count) for tick, count in zip(ticks, decimals, strict=True)])


def _count_decimals(value: float) -> int:
    for count in range(6):
        if math.isclose(round(value, count), value, rel_tol=1e-9):
            return count
    return 6


def _round_down_to_decade_step(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + _SLACK)
    return max(factor * power for factor in _ONE_TWO_FIVE if factor * power <= value * (1 + _SLACK))


def _select_in_range(values: Iterable[float], low: float, high: float) -> tuple[float, ...]:
    return tuple(value for value in values if low * (1 - _SLACK) <= value <= high * (1 + _SLACK))


#: Cost of covering a curve, per sampled point beneath, in pixels of shift.
_OVER_CURVE: Final = 14.0
_NEVER_OVER_CURVE: Final = 200.0
_OVER_LABEL: Final = 1e5
_OUTSIDE: Final = 1e6
#: Most distance of a label to the right of its curve's end.
_NEXT_TO: Final = 20.0
#: Cost of a label next to what covers the end of its curve.
_BESIDE: Final = 1e4
#: A position left of the end is the last resort.
_AT_LEFT: Final = 40.0
#: Sampling distance of curves in pixels.
_SPACING: Final = 4.0
_SHIFT_STEP: Final = 4.0
#: Half the length of the mark across a curve's end, and the space between labels side by side.
_CAP: Final = 8.0
_LABEL_GAP: Final = 6.0
#: Lines of text have free space above and below, which labels above one another can share to this extent.
_OVERLAP: Final = 0.5
_MOST_STEPS: Final = 24


#: Left, top, right and bottom of a rectangle.
Box = tuple[float, float, float, float]


@frozen_dataclass
class LabelRequest:
    """A label to place: its curve's end, and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float


@frozen_dataclass
class PlacedLabel:
    """The position of a label: its left edge and its middle, and their distances from its curve's end."""

    x: float
    y: float
    shift: float
    aside: float


@frozen_dataclass
class LabelBounds:
    """The area for labels."""

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
    """Return a position for each label, `gap` next to its end; `curves` as `resample_curve` returns them.

    `strict` ones cover curves only as a last resort, and can be above or below their ends. Labels avoid the `boxes`
    that float on the plot if possible. Labels furthest to the right choose first: they have nothing next to them.
    """
    caps = [resample_curve(np.array([(label.x, label.y - _CAP), (label.x, label.y + _CAP)])) for label in requests]
    points = np.concatenate([np.empty((0, 2)), *curves, *caps])
    places: dict[int, PlacedLabel] = {}
    order = sorted(range(len(requests)), key=lambda number: -requests[number].x)
    for number in order:
        obstacles = [*boxes, *(_label_box(places[other], requests[other]) for other in places)]
        places[number] = _find_best_place(requests[number], points, obstacles, bounds, gap, strict=strict)
    _put_in_order(places, requests)
    return tuple(places[number] for number in range(len(requests)))


def _put_in_order(places: dict[int, PlacedLabel], requests: Sequence[LabelRequest]) -> None:
    """Order labels of equal height in one column by their curves' ends."""
    columns: dict[tuple[int, float], list[int]] = {}
    for number, place in places.items():
        columns.setdefault((round(place.x), requests[number].height), []).append(number)
    for column in columns.values():
        middles = sorted(places[number].y for number in column)
        for number, middle in zip(sorted(column, key=lambda each: requests[each].y), middles, strict=True):
            place = places[number]
            places[number] = PlacedLabel(place.x, middle, middle - requests[number].y, place.aside)


def count_inner_labels(places: Sequence[PlacedLabel]) -> int:
    """Return how many labels did not fit right of their curve's end."""
    return sum(not 0 <= place.aside <= _NEXT_TO for place in places)


def labels_collide(places: Sequence[PlacedLabel], requests: Sequence[LabelRequest], boxes: Sequence[Box]) -> bool:
    mine = [_label_box(place, label) for place, label in zip(places, requests, strict=True)]
    everything = [*mine, *boxes]
    return any(
        one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]
        for number, one in enumerate(mine)
        for other in everything[number + 1 :]
    )


def labels_cover(places: Sequence[PlacedLabel], requests: Sequence[LabelRequest], curves: Sequence[FloatArray]) -> bool:
    """Whether a label at its position covers one of the curves, which `resample_curve` returned."""
    points = np.concatenate([np.empty((0, 2)), *curves])
    boxes = (_label_box(place, label) for place, label in zip(places, requests, strict=True))
    return any(_count_inside(points, (left, top, right - _LABEL_GAP, bottom)) for left, top, right, bottom in boxes)


def stack_labels(requests: Sequence[LabelRequest], left: float, bounds: LabelBounds) -> tuple[PlacedLabel, ...]:
    """Return positions below each other at one left end, in the order of the ends and as near to them as possible."""
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


def _find_best_place(
    label: LabelRequest, points: FloatArray, occupied: Sequence[Box], bounds: LabelBounds, gap: float, *, strict: bool
) -> PlacedLabel:
    shifts = _SHIFT_STEP * np.arange(-_MOST_STEPS, _MOST_STEPS + 1)
    sides = [(label.x + gap, 0.0), (label.x - gap - label.width, _AT_LEFT)]
    if strict:
        sides.append((label.x - label.width / 2, 0.0))
    sides += [(right + _LABEL_GAP, _BESIDE) for left, _, right, _ in occupied if left < label.x + gap < right]
    middles = np.tile(label.y + shifts, len(sides))
    lefts, worse = (np.repeat(each, len(shifts)) for each in zip(*sides, strict=True))
    cost = np.abs(middles - label.y) + worse
    tops, bottoms = middles - label.height / 2, middles + label.height / 2
    rights = lefts + label.width
    outside = (lefts < bounds.left) | (rights > bounds.right) | (tops < bounds.top) | (bottoms > bounds.bottom)
    cost += _OUTSIDE * outside
    for left, top, right, bottom in occupied:
        covered = (lefts < right) & (rights + _LABEL_GAP > left) & (tops < bottom) & (bottoms > top)
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
    """Return the box that covers the fewest points, and how many.

    The box `former_box` stays unless another is better by more than `worth` points.
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
