"""What is not known of a cost: draws from ranges, shares of draws that each accelerator wins, what moves it.

A range is read as a triangular distribution: nothing outside its ends, most at its likely value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.ranges import Range

Draws = NDArray[np.float64]

#: A band holds the measured value four times in five: its ends are these quantiles.
_BAND_TAIL: Final = 0.1
#: Of a standard normal distribution, the quantile of nine in ten.
_NORMAL_90: Final = 1.2815515655446004


class Swing(NamedTuple):
    """What a result becomes when one input is at its low and at its high end, all others likely."""

    name: str
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        """How far apart both lie."""
        return abs(self.at_high - self.at_low)


def uniform_draws(seed: int, name: str, count: int) -> Draws:
    """Return numbers from 0 to 1 that depend on the seed and the name alone.

    So what one input draws does not change with which other inputs, or accelerators, there are.
    """
    return _generator(seed, name).random(count)


def normal_draws(seed: int, name: str, count: int) -> Draws:
    """Return numbers of a standard normal distribution that depend on the seed and the name alone."""
    return _generator(seed, name).standard_normal(count)


def _generator(seed: int, name: str) -> np.random.Generator:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])


def triangular(spread: Range, uniform: Draws) -> Draws:
    """Return draws of a range from uniform ones; raises ValueError for one that is not in order."""
    low, likely, high = spread
    if not low <= likely <= high:
        raise ValueError(f"range {spread} is not in order")
    if low == high:
        return np.full_like(uniform, likely)
    width = high - low
    peak = (likely - low) / width
    with np.errstate(invalid="ignore"):
        rising = low + np.sqrt(uniform * width * (likely - low))
        falling = high - np.sqrt((1.0 - uniform) * width * (high - likely))
    return np.where(uniform < peak, rising, falling)


def band_draws(low: float, value: float, high: float, normal: Draws) -> Draws:
    """Return draws of an estimate from its band, which holds it four times in five, and normal ones.

    On a logarithmic scale they are normal below and above the value, with the width that each side has.
    """
    if not 0.0 < low <= value <= high:
        raise ValueError(f"band {low}, {value}, {high} is not in order or not above 0")
    deviation = normal / _NORMAL_90
    below, above = np.log(value / low), np.log(high / value)
    factors: Draws = np.exp(np.where(deviation < 0.0, deviation * below, deviation * above))
    return value * factors


def share_cheapest(costs: Mapping[str, Draws]) -> dict[str, float]:
    """Return in which share of draws each cost is the lowest; draws that tie count for the first."""
    names = list(costs)
    winners = np.argmin(np.stack([costs[name] for name in names]), axis=0)
    counts = np.bincount(winners, minlength=len(names))
    return {name: float(count) / len(winners) for name, count in zip(names, counts, strict=True)}


def quantiles(
    draws: Draws, shares: Sequence[float] = (_BAND_TAIL, 0.5, 1.0 - _BAND_TAIL)
) -> tuple[float, ...]:
    """Return the values below which these shares of the draws lie."""
    return tuple(float(each) for each in np.quantile(draws, shares))


def swings(inputs: Mapping[str, Range], result: Callable[[Mapping[str, float]], float]) -> tuple[Swing, ...]:
    """Return what each input does to a result by itself, from the most to the least."""
    likely = {name: spread.likely for name, spread in inputs.items()}
    found = [
        Swing(name, result(likely | {name: spread.low}), result(likely | {name: spread.high}))
        for name, spread in inputs.items()
        if not spread.is_known
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))
