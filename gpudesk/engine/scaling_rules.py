"""Rules of thumb for the memory bandwidth of several accelerators together, as published tables use them.

Each multiplies the bandwidth of one accelerator by what `count` of them are worth. They are presets for
checking such tables; answers price collectives by links, messages and steps instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gpudesk.domain.topology import ScalingRule

#: The factor that the published table of one accelerator page was made with.
USUAL_FACTOR: Final = 0.88


def _flat(count: int, factor: float) -> float:
    """All of them lose alike as soon as there are two: n x f."""
    return float(count) if count == 1 else count * factor


def _added(count: int, factor: float) -> float:
    """Each accelerator after the first brings f: 1 + f (n - 1)."""
    return 1.0 + factor * (count - 1)


def _compounding(count: int, factor: float) -> float:
    """Each accelerator after the first costs all of them: n x f^(n - 1)."""
    return count * factor ** (count - 1)


def _per_doubling(count: int, factor: float) -> float:
    """Each doubling costs all of them: n x f^log2(n)."""
    return float(count * factor ** math.log2(count))


_RULES: Final[dict[ScalingRule, Callable[[int, float], float]]] = {
    ScalingRule.FLAT: _flat,
    ScalingRule.ADDED: _added,
    ScalingRule.COMPOUNDING: _compounding,
    ScalingRule.PER_DOUBLING: _per_doubling,
}


def scaled_bandwidth(
    bandwidth: float, count: int, rule: ScalingRule = ScalingRule.FLAT, factor: float = USUAL_FACTOR
) -> float:
    """Return the bandwidth of `count` accelerators of `bandwidth` each by a rule, in the unit given.

    Raises ValueError for a count below 1 or a factor outside 0 to 1.
    """
    if count < 1:
        raise ValueError(f"count {count} is below 1")
    if not 0.0 < factor <= 1.0:
        raise ValueError(f"factor {factor} is not above 0 and at most 1")
    return bandwidth * _RULES[rule](count, factor)


def stream_ceiling(
    bandwidth: float,
    weights_bytes: float,
    count: int = 1,
    rule: ScalingRule = ScalingRule.FLAT,
    factor: float = USUAL_FACTOR,
) -> float:
    """Return tokens/s of one request if reading the weights once for each token were all there is to do."""
    return scaled_bandwidth(bandwidth, count, rule, factor) / weights_bytes


__all__ = ["USUAL_FACTOR", "ScalingRule", "scaled_bandwidth", "stream_ceiling"]
