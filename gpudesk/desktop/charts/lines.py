"""What a plot draws: curves with their bands and ends, and reading values off them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpudesk.desktop.charts.scales import Array


@dataclass(frozen=True, eq=False)
class Line:
    """One curve of an accelerator.

    `x` and `y` are the values along the axes, `low` and `high` the band of `y`. `count` is the number of
    requests in flight at each point (`x` itself where that is what the axis shows). `end` is said where the
    curve stops; `capped` marks that end as a limit.
    """

    key: str
    name: str
    slot: int
    hollow: bool
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    count: Array | None = None
    end: str = ""
    capped: bool = True

    def same_drawing(self, other: Line) -> bool:
        """Whether the other line would be drawn alike."""
        if self is other:
            return True
        mine = (self.key, self.name, self.slot, self.hollow, self.end, self.capped)
        theirs = (other.key, other.name, other.slot, other.hollow, other.end, other.capped)
        return mine == theirs and all(
            _same(getattr(self, name), getattr(other, name)) for name in ("x", "y", "low", "high")
        )

    def at(self, x: float) -> Reading | None:
        """Return the values at a place along `x`, which must rise; None beyond the curve's ends.

        Between points the logarithms of the values are taken to follow a straight line.
        """
        if not len(self.x) or not self.x[0] <= x <= self.x[-1]:
            return None
        y, low, high = (self._between(x, values) for values in (self.y, self.low, self.high))
        return None if y is None else Reading(y, y if low is None else low, y if high is None else high)

    def _between(self, x: float, values: Array | None) -> float | None:
        if values is None:
            return None
        if np.any(values <= 0):
            return float(np.interp(x, self.x, values))
        return float(np.exp(np.interp(np.log(x), np.log(self.x), np.log(values))))


@dataclass(frozen=True, slots=True)
class Reading:
    """A value read off a curve, with its band."""

    value: float
    low: float
    high: float


def _same(one: Array | None, other: Array | None) -> bool:
    if one is other:
        return True
    return one is not None and other is not None and np.array_equal(one, other)


def alike(one: tuple[Line, ...], other: tuple[Line, ...]) -> bool:
    """Whether two sets of lines would be drawn alike."""
    return len(one) == len(other) and all(
        before.same_drawing(after) for before, after in zip(one, other, strict=True)
    )
