"""What a plot shows, as data: curves with bands, points, a cursor line, a limit, a readout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpudesk.desktop.ui.charts.scales import FloatArray


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """One curve of an accelerator.

    `x` and `y` are the values along the axes, `low` and `high` the band of `y`. `count` is the number of
    requests in flight at each point (`x` itself where that is what the axis shows). `end` is said where the
    curve stops; `capped` marks that end as a limit.
    """

    key: str
    name: str
    slot: int
    is_variant: bool
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    count: FloatArray | None = None
    end: str = ""
    capped: bool = True

    def same_drawing(self, other: PlotCurve) -> bool:
        if self is other:
            return True
        mine = (self.key, self.name, self.slot, self.is_variant, self.end, self.capped)
        theirs = (other.key, other.name, other.slot, other.is_variant, other.end, other.capped)
        return mine == theirs and all(
            _are_arrays_equal(getattr(self, name), getattr(other, name)) for name in ("x", "y", "low", "high")
        )

    def at(self, x: float) -> CurveReading | None:
        """Return the values at a place along `x`, which must rise; None beyond the curve's ends.

        Between points the logarithms of the values are taken to follow a straight line.
        """
        if not len(self.x) or not self.x[0] <= x <= self.x[-1]:
            return None
        y, low, high = (self._between(x, values) for values in (self.y, self.low, self.high))
        return None if y is None else CurveReading(y, y if low is None else low, y if high is None else high)

    def _between(self, x: float, values: FloatArray | None) -> float | None:
        if values is None:
            return None
        if np.any(values <= 0):
            return float(np.interp(x, self.x, values))
        return float(np.exp(np.interp(np.log(x), np.log(self.x), np.log(values))))


@dataclass(frozen=True, slots=True)
class CurveReading:
    """A value read off a curve, with its band."""

    value: float
    low: float
    high: float


def _are_arrays_equal(one: FloatArray | None, other: FloatArray | None) -> bool:
    if one is other:
        return True
    return one is not None and other is not None and np.array_equal(one, other)


def are_curves_equal(one: tuple[PlotCurve, ...], other: tuple[PlotCurve, ...]) -> bool:
    # Curves of a drag are mostly the very same ones.
    return one == other or (
        len(one) == len(other) and all(before.same_drawing(after) for before, after in zip(one, other, strict=True))
    )


@dataclass(frozen=True, slots=True)
class PointMark:
    """A point that is read off: a circle on a curve, or the slot's `marker`; `text` stands beside it."""

    key: str
    slot: int
    x: float
    y: float
    is_variant: bool = False
    marker: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class CursorLine:
    """A line across the plot at a value of `x`: the working line, or dashed with a tab to read off.

    `text` is what its tick says.
    """

    value: float
    text: str
    read_off: bool = False
    movable: bool = True


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A bound on `y` that the load sets, with its words."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class CursorReadoutRow:
    """One accelerator's figures: the first cell is the figure, the others say more."""

    key: str
    slot: int
    is_variant: bool
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CursorReadout:
    """Figures at one place, in the order in which they are to be read; `heads` name the cells."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[CursorReadoutRow, ...]


@dataclass(frozen=True, eq=False)
class PlotDrawing:
    """Everything that a plot shows. `note` is said in its middle where there is nothing to draw.

    `ghost_label` stands near the left end of each ghost.
    """

    lines: tuple[PlotCurve, ...] = ()
    ghosts: tuple[PlotCurve, ...] = ()
    marks: tuple[PointMark, ...] = ()
    rule: CursorLine | None = None
    limit: LimitLine | None = None
    cursor_readout: CursorReadout | None = None
    note: str = ""
    ghost_label: str = ""
