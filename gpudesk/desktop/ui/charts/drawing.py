"""What a plot shows, as data: curves with bands, points, a cursor line, a limit, a readout and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRectF

from gpudesk.desktop.ui.charts.label_placement import Box
from gpudesk.desktop.ui.charts.scales import FloatArray

if TYPE_CHECKING:
    from gpudesk.desktop.ui.theme.text_measure import TextPainter
    from gpudesk.desktop.ui.theme.theme import Theme


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """One curve of an accelerator.

    `x` and `y` are the values along the axes, `low` and `high` the band of `y`. `count` is the number of
    requests in flight at each point (`x` itself where that is what the axis shows). `end` is said where the
    curve stops; `capped` marks that end as a limit. `dash` is the place in the palette whose dash it has, 0 for
    its own: so several curves of one accelerator differ.
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
    dash: int = 0

    def same_drawing(self, other: PlotCurve) -> bool:
        if self is other:
            return True
        mine = (self.key, self.name, self.slot, self.dash, self.is_variant, self.end, self.capped)
        theirs = (other.key, other.name, other.slot, other.dash, other.is_variant, other.end, other.capped)
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
    """A point that is read off: a circle on a curve, or the slot's `marker`; `text` is its label."""

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


@dataclass(frozen=True, slots=True)
class ReadoutSize:
    """How large a read-out is, how wide its columns are, and the room between them."""

    width: float
    height: float
    name: float
    cells: tuple[float, ...]
    gap: float


def find_corner_boxes(area: QRectF, size: ReadoutSize, inset: float) -> list[Box]:
    lefts = (area.left() + inset, area.right() - inset - size.width)
    tops = (area.top() + inset, area.bottom() - inset - size.height)
    return [(x, y, x + size.width, y + size.height) for y in tops for x in lefts]


def sample_points(rect: QRectF) -> FloatArray:
    xs = np.linspace(rect.left() + 1, rect.right() - 1, 5)
    ys = np.linspace(rect.top() + 1, rect.bottom() - 1, 5)
    return np.array([(x, y) for x in xs for y in ys])


def find_right_edges(box: QRectF, size: ReadoutSize, inset: float) -> list[float]:
    """Return the right ends of the cells, from the first."""
    right = box.right() - inset
    ends = []
    for width in reversed(size.cells):
        ends.append(right)
        right -= width + size.gap
    return ends[::-1]


READOUT_INSET: Final = 10
#: Of the figure itself, and of what more is said of it.
CELL_FONTS: Final = ("label", "caption", "caption")


def measure_readout(cursor_readout: CursorReadout, letters: TextPainter, theme: Theme) -> ReadoutSize:
    # Many columns stand closer.
    gap = float(theme.px(16 if len(cursor_readout.heads) < 3 else 11))
    name = 0.0
    cells = [letters.width(head, "caption") for head in cursor_readout.heads]
    for row in cursor_readout.rows:
        name = max(name, letters.width(row.name, "small"))
        for number, (cell, font) in enumerate(zip(row.cells, CELL_FONTS, strict=False)):
            cells[number] = max(cells[number], letters.width(cell, font))
    swatch = float(theme.px(28))
    width = swatch + name + sum(cells) + gap * len(cells)
    head = letters.width(cursor_readout.title, "caption_strong") + gap + sum(cells[1:]) + gap * max(0, len(cells) - 1)
    head += letters.width(cursor_readout.heads[0], "caption") if cursor_readout.heads else 0.0
    name += max(0.0, head - width)
    width = max(width, head) + 2 * theme.px(READOUT_INSET)
    height = theme.px(26) + len(cursor_readout.rows) * theme.px(18) + theme.px(7)
    return ReadoutSize(width, float(height), name, tuple(cells), gap)
