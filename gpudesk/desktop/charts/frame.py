"""Where things lie on a plot: the visible range, the area in pixels, and the way between the two."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from PySide6.QtCore import QRectF

from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Array, Scale

#: The closest look, as a share of the whole range.
_CLOSEST: Final = 1 / 60
#: Bands may take this much of a linear axis beyond the highest curve; wider ones are cut at the edge.
_MOST_HEADROOM: Final = 1.5
#: Room above the highest curve on a linear axis.
_LEAST_HEADROOM: Final = 1.05

Range = tuple[float, float]


@dataclass(slots=True)
class Frame:
    """Maps values to pixels. Ranges are in places of the scales; `whole` is what shows everything."""

    x_scale: Scale
    y_scale: Scale
    area: QRectF = field(default_factory=lambda: QRectF(0, 0, 1, 1))
    x: Range = (0.0, 1.0)
    y: Range = (0.0, 1.0)
    whole_x: Range = (0.0, 1.0)
    whole_y: Range = (0.0, 1.0)

    @property
    def zoomed(self) -> bool:
        """Whether less than everything is visible."""
        return (self.x, self.y) != (self.whole_x, self.whole_y)

    def pixel_x(self, value: float) -> float:
        """Return where a value of x lies."""
        share = (self.x_scale.place_of(value) - self.x[0]) / (self.x[1] - self.x[0])
        return self.area.left() + share * self.area.width()

    def pixel_y(self, value: float) -> float:
        """Return where a value of y lies."""
        share = (self.y_scale.place_of(value) - self.y[0]) / (self.y[1] - self.y[0])
        return self.area.bottom() - share * self.area.height()

    def value_x(self, pixel: float) -> float:
        """Return the value of x at a pixel."""
        share = (pixel - self.area.left()) / max(1.0, self.area.width())
        return self.x_scale.value_at(self.x[0] + share * (self.x[1] - self.x[0]))

    def pixels(self, x: Array, y: Array) -> Array:
        """Return points in pixels, n × 2."""
        across = (self.x_scale.place(x) - self.x[0]) * (self.area.width() / (self.x[1] - self.x[0]))
        up = (self.y_scale.place(y) - self.y[0]) * (self.area.height() / (self.y[1] - self.y[0]))
        return np.stack([self.area.left() + across, self.area.bottom() - up], axis=1)

    def values_x(self) -> Range:
        """Return the visible values of x."""
        return self.x_scale.value_at(self.x[0]), self.x_scale.value_at(self.x[1])

    def values_y(self) -> Range:
        """Return the visible values of y."""
        return self.y_scale.value_at(self.y[0]), self.y_scale.value_at(self.y[1])

    def fit(self, x: Range, y: Range, most: tuple[int, int]) -> None:
        """Show everything between values, and remember that as the whole; `most` ticks have room."""
        self.whole_x = self._places(self.x_scale, x, most[0])
        self.whole_y = self._places(self.y_scale, y, most[1])
        self.x, self.y = self.whole_x, self.whole_y

    def show_whole(self) -> None:
        """Go back to where everything is visible."""
        self.x, self.y = self.whole_x, self.whole_y

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Show that share of what is visible around a pixel, which stays; never more than the whole."""
        right = (x - self.area.left()) / max(1.0, self.area.width())
        up = (self.area.bottom() - y) / max(1.0, self.area.height())
        self.x = _zoomed(self.x, self.whole_x, factor, right)
        self.y = _zoomed(self.y, self.whole_y, factor, up)

    def pan(self, right: float, down: float) -> None:
        """Move what is visible by pixels, within the whole."""
        self.x = _moved(self.x, self.whole_x, -right / max(1.0, self.area.width()))
        self.y = _moved(self.y, self.whole_y, down / max(1.0, self.area.height()))

    @staticmethod
    def _places(scale: Scale, values: Range, most: int) -> Range:
        low, high = scale.fitted(*values, most)
        return scale.place_of(low), scale.place_of(high)


def extents(
    lines: tuple[Line, ...], points: tuple[tuple[float, float], ...], x_reach: float | None, *, linear_y: bool
) -> tuple[Range, Range] | None:
    """Return the values of x and y that a plot of lines and points must show; None without any lines."""
    shown = [line for line in lines if len(line.x)]
    if not shown:
        return None
    x_low = min(float(line.x.min()) for line in shown)
    x_high = max(float(line.x.max()) for line in shown)
    for x, _ in points:
        x_low, x_high = min(x_low, x), max(x_high, x)
    if x_reach is not None:
        x_low, x_high = min(x_low, x_reach), max(x_high, x_reach)
    low = min([float(line.y.min()) for line in shown] + [y for _, y in points])
    high = max([float(line.y.max()) for line in shown] + [y for _, y in points])
    bands = [line for line in shown if line.low is not None and line.high is not None]
    band_low = min((float(line.low.min()) for line in bands if line.low is not None), default=low)
    band_high = max((float(line.high.max()) for line in bands if line.high is not None), default=high)
    if linear_y:
        return (x_low, x_high), (low, max(high * _LEAST_HEADROOM, min(band_high, high * _MOST_HEADROOM)))
    return (x_low, x_high), (min(low, band_low), max(high, band_high))


def _zoomed(visible: Range, whole: Range, factor: float, share: float) -> Range:
    """Return a range with another span, the place at `share` of it staying where it is."""
    most = whole[1] - whole[0]
    span = min(most, max(most * _CLOSEST, (visible[1] - visible[0]) * factor))
    fixed = visible[0] + share * (visible[1] - visible[0])
    return _inside((fixed - share * span, fixed + (1 - share) * span), whole)


def _moved(visible: Range, whole: Range, share: float) -> Range:
    by = share * (visible[1] - visible[0])
    return _inside((visible[0] + by, visible[1] + by), whole)


def _inside(wanted: Range, whole: Range) -> Range:
    span = min(wanted[1] - wanted[0], whole[1] - whole[0])
    low = min(max(wanted[0], whole[0]), whole[1] - span)
    return (whole[0], whole[1]) if span >= (whole[1] - whole[0]) * (1 - 1e-9) else (low, low + span)
