"""What is not known of costs: which input moves one most, and the costs of many draws of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import CostDraws, Influence
from gpudesk.domain.messages import message
from gpudesk.domain.progress import Progress, Steps
from gpudesk.domain.ranges import Range
from gpudesk.economics.uncertainty import (
    Draws,
    band_draws,
    normal_draws,
    quantiles,
    share_cheapest,
    swings,
    triangular,
    uniform_draws,
)
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.formulas import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    OF_OWNING,
    OF_RENTING,
    THROUGHPUT,
    owned_per_million,
    rented_per_million,
)

_BINS: Final = 60
#: The histogram reaches from and to these shares of the draws of all accelerators.
_ENDS: Final = (0.005, 0.99)
_COMMON: Final = "throughput of all"


@dataclass(frozen=True, slots=True)
class Basis:
    """How tokens are paid for, and what that depends on."""

    rented: bool

    @property
    def needed(self) -> tuple[str, ...]:
        """Inputs without which there is no cost."""
        return NEEDED_TO_RENT if self.rented else NEEDED_TO_OWN

    @property
    def inputs(self) -> tuple[str, ...]:
        """Inputs that the cost depends on."""
        return OF_RENTING if self.rented else OF_OWNING


def ranges_of(found: Situation, basis: Basis) -> dict[str, Range]:
    """Return the ranges of the inputs that a cost depends on, the throughput with its band."""
    spreads = {
        name: spread
        for name in basis.inputs
        if name != THROUGHPUT and (spread := found.inputs[name].spread) is not None
    }
    rate = found.tokens_per_s
    if rate is not None:
        spreads[THROUGHPUT] = Range(rate.low, rate.value, rate.high)
    return spreads


def influences(found: Situation, basis: Basis) -> tuple[Influence, ...]:
    """Return what each input that is not known does to a million output tokens, the most first."""
    if not found.knows(basis.needed) or found.deployment is None:
        return ()
    deployment = found.deployment
    per_million = rented_per_million if basis.rented else owned_per_million
    spreads = ranges_of(found, basis)
    moved = swings(spreads, lambda values: float(per_million(values, deployment)))
    return tuple(
        Influence(each.name, each.at_low, each.at_high, spreads[each.name].low, spreads[each.name].high)
        for each in moved
    )


def draw_steps(
    situations: Sequence[Situation], basis: Basis, count: int, seed: int, common: float
) -> Steps[CostDraws]:
    """Draw the costs of all accelerators in the same draws, an accelerator a step, and return them.

    `common` is the share of the variance of throughput's error that all of them have in common.
    """
    costs: dict[str, Draws] = {}
    drawing = Drawing(count, seed, common)
    for number, found in enumerate(situations):
        yield Progress(message("costs.drawing"), number, len(situations))
        if (drawn := drawing.costs(found, basis)) is not None:
            costs[found.key] = drawn
    return _summed_up(costs, count, seed, rented=basis.rented)


class Drawing:
    """Draws of all that costs depend on: what accelerators have in common is drawn once for all of them."""

    def __init__(self, count: int, seed: int, common: float) -> None:
        """Draw so often; `common` is the share of the variance of throughput's error that all have."""
        self.count, self.seed, self.common = count, seed, common
        self._together = normal_draws(seed, _COMMON, count)
        self._shared: dict[str, Draws] = {}

    def error(self, found: Situation) -> Draws:
        """Return the error of an accelerator's throughput in each draw, as a standard normal number."""
        own = normal_draws(self.seed, f"{THROUGHPUT} of {found.key}", self.count)
        return math.sqrt(self.common) * self._together + math.sqrt(1.0 - self.common) * own

    def costs(self, found: Situation, basis: Basis) -> Draws | None:
        """Return the cost of a million output tokens in each draw; None where an input is missing."""
        if not found.knows(basis.needed) or found.deployment is None:
            return None
        per_million = rented_per_million if basis.rented else owned_per_million
        values: dict[str, Draws | float] = {}
        for name, spread in ranges_of(found, basis).items():
            if name == THROUGHPUT:
                values[name] = band_draws(spread.low, spread.likely, spread.high, self.error(found))
            elif spread.is_known:
                values[name] = spread.likely
            else:
                values[name] = _drawn(found, name, spread, self._shared, self.count, self.seed)
        return np.broadcast_to(np.asarray(per_million(values, found.deployment)), (self.count,))


def _drawn(
    found: Situation, name: str, spread: Range, shared: dict[str, Draws], count: int, seed: int
) -> Draws:
    """Return draws of an input: by accelerator where it is one of each, the same ones for all otherwise."""
    if INPUTS[name].each:
        return triangular(spread, uniform_draws(seed, f"{name} of {found.accelerator}", count))
    if name not in shared:
        shared[name] = triangular(spread, uniform_draws(seed, name, count))
    return shared[name]


def _summed_up(costs: Mapping[str, Draws], count: int, seed: int, *, rented: bool) -> CostDraws:
    if not costs:
        return CostDraws(count, seed, rented, {}, {}, (), {})
    every = np.concatenate([each[:: max(1, count // 20_000)] for each in costs.values()])
    low, high = (float(each) for each in np.quantile(every, _ENDS))
    edges = np.linspace(low, high if high > low else low + max(abs(low), 1.0) * 1e-6, _BINS + 1)
    return CostDraws(
        n=count,
        seed=seed,
        rented=rented,
        cheapest=share_cheapest(costs),
        quantiles={name: _three(each) for name, each in costs.items()},
        edges=tuple(edges.tolist()),
        histogram={name: tuple(int(n) for n in np.histogram(each, edges)[0]) for name, each in costs.items()},
    )


def _three(draws: Draws) -> tuple[float, float, float]:
    low, middle, high = quantiles(draws)
    return low, middle, high
