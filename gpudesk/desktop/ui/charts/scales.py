"""Axis scales: places of values, ticks, and rounding of ranges.

A place is what the plot maps linearly to pixels: the value itself, or its logarithm to base 10."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from gpudesk.text.formatting import Formatter

FloatArray = npt.NDArray[np.float64]

_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_ONE_TWO_FIVE: Final = (1.0, 2.0, 5.0)
#: Fewer logarithmic ticks than this say too little: round values at even steps take their place.
_FEWEST: Final = 3
#: Steps into which a range is divided at least when its ends are rounded.
_ROUNDING_STEPS: Final = 7
#: A range ends so far past the last count that the words at a curve's end have room.
_ROOM_PAST_COUNTS: Final = 1.3
#: Wiggle room in comparisons of floating-point ticks with the ends of a range, as a share of the step.
_SLACK: Final = 1e-6


class AxisScale(Protocol):
    """What an axis measures with."""

    def place(self, values: FloatArray) -> FloatArray: ...

    def place_of(self, value: float) -> float: ...

    def value_at(self, place: float) -> float: ...

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return the values, at most about `most` of them, of the ticks between two values."""

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return the range that shows everything between two values and ends at one of `most` ticks."""


@dataclass(frozen=True, slots=True)
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
        """Return zero, or the round value below what is less, and the round value above."""
        span = max(high, 0.0) - min(low, 0.0)
        if span <= 0:
            return (0.0, 1.0)
        # Charts with few ticks round finer than these, so that a curve is not pressed into half of the range.
        step = round_up_step(span / max(_ROUNDING_STEPS, most - 1))
        bottom = math.floor(min(low, 0.0) / step + _SLACK) * step
        return (bottom, math.ceil(high / step - _SLACK) * step)


@dataclass(frozen=True, slots=True)
class MonthScale(LinearScale):
    """Months in halves of years, or whole years, up to the last one."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        step = next((each for each in (6, 12, 24, 36, 60) if (high - low) / each < max(most, 2)), 120)
        return tuple(float(month) for month in range(math.ceil(low / step) * step, int(high) + 1, step))

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del low, most
        return (0.0, max(high, 1.0))


class _LogScale:
    """Even factors take even room."""

    __slots__ = ()

    def place(self, values: FloatArray) -> FloatArray:
        return np.log10(values)

    def place_of(self, value: float) -> float:
        return math.log10(value)

    def value_at(self, place: float) -> float:
        return float(10.0**place)


@dataclass(frozen=True, slots=True)
class PowerOfTwoScale(_LogScale):
    """Numbers of things, in powers of two."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return powers of two, every one or every so many; round counts where the range is narrow."""
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
        """Return the power of two below, and somewhat more than the highest count."""
        del most
        bottom = 2.0 ** math.floor(math.log2(max(low, 1.0)) + _SLACK)
        return (bottom, max(2.0 * bottom, high * _ROOM_PAST_COUNTS))


@dataclass(frozen=True, slots=True)
class DecadeScale(_LogScale):
    """Quantities over several powers of ten, such as times: ticks at 1, 2 and 5, or decades only."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return 1-2-5 ticks, or decades, or every so many decades where those are too many."""
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        fine = _within((factor * 10.0**power for power in decades for factor in _ONE_TWO_FIVE), low, high)
        if len(fine) <= max(most, 1):
            return fine if len(fine) >= _FEWEST else make_even_ticks(low, high, most)
        whole = _within((10.0**power for power in decades), low, high)
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
    """Return the ticks as text: the same decimals on an even scale, each its own on a logarithmic one."""
    decimals = [_decimals(tick) for tick in ticks]
    if isinstance(scale, LinearScale):
        decimals = [max(decimals, default=0)] * len(decimals)
    return tuple([formatter.number(tick, count) for tick, count in zip(ticks, decimals, strict=True)])


def _decimals(value: float) -> int:
    for count in range(6):
        if math.isclose(round(value, count), value, rel_tol=1e-9):
            return count
    return 6


def _round_down_to_decade_step(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + _SLACK)
    return max(factor * power for factor in _ONE_TWO_FIVE if factor * power <= value * (1 + _SLACK))


def _within(values: Iterable[float], low: float, high: float) -> tuple[float, ...]:
    return tuple(value for value in values if low * (1 - _SLACK) <= value <= high * (1 + _SLACK))
