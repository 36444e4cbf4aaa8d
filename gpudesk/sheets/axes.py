"""Where ticks and labels of a drawing go, whatever it is drawn with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_MOST_TICKS: Final = 5


def tick_step(highest: float) -> float:
    """Return the smallest round step of which a few reach the highest value."""
    rough = highest / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough)


def powers_of_two(most: float) -> list[int]:
    """Return powers of two up to `most`, thinned so that they have room."""
    exponents = int(math.log2(most))
    stride = max(1, math.ceil((exponents + 1) / 6))
    return [2**exponent for exponent in range(0, exponents + 1, stride)]


def apart(wanted: Sequence[float], pitch: float, top: float, bottom: float) -> list[float]:
    """Return places in rising order at least `pitch` apart, near the wanted ones and within the bounds."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + pitch if places else top))
    limit = bottom
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - pitch
    return places
