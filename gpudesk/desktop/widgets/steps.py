"""The steps of sliders and arrow keys: few, round, and evenly spread on a logarithmic scale."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

_DECADE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


def counts(least: int, most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, 16, 24 … between the limits, which are steps themselves."""
    powers = [1 << exponent for exponent in range(most.bit_length() + 1)]
    steps = {*powers, *(power * 3 for power in powers), least, most}
    return tuple(sorted(step for step in steps if least <= step <= most))


def decades(least: float, most: float) -> tuple[float, ...]:
    """Return 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15 … between the limits, which are steps themselves."""
    steps = {least, most}
    scale = 1e-6
    while scale <= most:
        steps.update(float(f"{digit * scale:.3g}") for digit in _DECADE)
        scale *= 10
    return tuple(sorted(step for step in steps if least <= step <= most))


def nearest(steps: Sequence[float], value: float) -> int:
    """Return the index of the step that is nearest to a value by ratio."""
    right = bisect_left(steps, value)
    if right == 0 or right == len(steps):
        return min(right, len(steps) - 1)
    low, high = steps[right - 1], steps[right]
    return right if value * value >= low * high else right - 1


def step_from(steps: Sequence[float], value: float, by: int) -> float:
    """Return the step so many above or below a value; the ends hold."""
    index = bisect_right(steps, value) - 1 + by if by > 0 else bisect_left(steps, value) + by
    return steps[min(max(index, 0), len(steps) - 1)]
