"""Where labels go that stand at the ends of curves: beside the end where that is free, else nearby."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from gpudesk.sheets.axes import apart

#: White between an end and its label, and around labels.
_NEAR: Final = 4.0
_APART: Final = 0.5
#: A label that stands further away than this is tied to its end by a line.
_CLOSE: Final = 11.0
#: Distance of the places on a curve that a label keeps clear of.
_STEP: Final = 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A label of some size for the end of a curve."""

    end: QPointF
    size: QSizeF


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label goes, and whether it lies over a curve or another label there."""

    rect: QRectF
    covers: bool = False
    collides: bool = False


def placed(labels: Sequence[Wanted], curves: Sequence[Sequence[QPointF]], bounds: QRectF) -> list[Place]:
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
        Place(rect, _covered(rect, dots) > 0, any(rect.intersects(other) for other in rects if other != rect))
        for rect in rects
    ]


def listed(labels: Sequence[Wanted], left: float, bounds: QRectF) -> list[Place]:
    """Return places below each other at one left end, in the order of the ends and as near them as can be."""
    order = sorted(range(len(labels)), key=lambda each: labels[each].end.y())
    pitch = min(max(label.size.height() for label in labels), bounds.height() / len(labels))
    wanted = [labels[number].end.y() for number in order]
    middles = apart(wanted, pitch, bounds.top() + pitch / 2, bounds.bottom() - pitch / 2)
    found = {}
    for number, middle in zip(order, middles, strict=True):
        size = labels[number].size
        found[number] = Place(QRectF(left, middle - size.height() / 2, size.width(), size.height()))
    return [found[number] for number in range(len(labels))]


def _dotted(curve: Sequence[QPointF]) -> Iterator[QPointF]:
    """Yield points along a curve, close enough that no label slips between."""
    for start, end in pairwise(curve):
        steps = max(1, int(max(abs(end.x() - start.x()), abs(end.y() - start.y())) / _STEP))
        for step in range(steps):
            yield start + (end - start) * (step / steps)
    yield from curve[-1:]


def _candidates(label: Wanted, bounds: QRectF) -> Iterator[QRectF]:
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
    labels = sum(place.intersects(other.adjusted(-_APART, -_APART, _APART, _APART)) for other in taken)
    covered = _covered(place, dots)
    centre = place.center()
    # To the right reads as belonging to the end; so being left of it counts as further.
    aside = abs(centre.x() - end.x()) / 3 + max(0.0, end.x() - centre.x())
    return labels * 10_000 + covered * 100 + abs(centre.y() - end.y()) + aside


def _covered(place: QRectF, dots: np.ndarray) -> int:
    """Return how many places on curves a label lies over."""
    low = np.array((place.left() - 1, place.top() - _APART))
    high = np.array((place.right() + 1, place.bottom() + _APART))
    return int(((dots > low) & (dots < high)).all(axis=1).sum())


def leader(end: QPointF, place: QRectF) -> tuple[QPointF, QPointF] | None:
    """Return the line from an end to its label, or None where the label stands close enough."""
    nearest = QPointF(
        min(max(end.x(), place.left() - 1), place.right() + 1), min(max(end.y(), place.top()), place.bottom())
    )
    away = nearest - end
    return None if abs(away.x()) + abs(away.y()) <= _CLOSE else (end + away * 0.2, nearest - away * 0.06)
