"""Draws of what is not known, for quantities that are worked out of the inputs of costs.

Each number that is not known is an array: its likely value first, then its draws. Whatever is computed of
such arrays has its own likely value first, and its range comes from the draws behind. Names and seed are
those of the draws of costs, so that the same input errs the same way wherever it is drawn.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import ResolvedInput
from gpudesk.domain.estimates import Banded
from gpudesk.domain.ranges import Range
from gpudesk.economics.owning import Amount
from gpudesk.economics.uncertainty import Draws, band_draws, triangular, uniform_draws
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.costs import SEED
from gpudesk.workbench.costing.formulas import THROUGHPUT
from gpudesk.workbench.costing.unknowns import Drawing

DRAWS: Final = 20_000
#: A range holds what is measured four times in five, as a band does.
_ENDS: Final = (0.1, 0.9)


class DrawTable:
    """Draws of inputs: those of all accelerators are the same for each of them.

    `common` is the share of the variance of throughput's error that accelerators have in common.
    """

    def __init__(self, common: float, count: int = DRAWS, seed: int = SEED) -> None:
        """Draw nothing yet."""
        self._drawing = Drawing(count, seed, common)

    def number(self, name: str, spread: Range) -> Amount:
        """Return a number that is not known by its range; one that is known stays a number."""
        if spread.is_known:
            return spread.likely
        drawn = triangular(spread, uniform_draws(self._drawing.seed, name, self._drawing.count))
        return _with_likely(spread.likely, drawn)

    def rate(self, found: Situation, band: Banded) -> Amount:
        """Return a throughput of an accelerator by its band; all of them err alike."""
        if band.low == band.high:
            return band.value
        drawn = band_draws(band.low, band.value, band.high, self._drawing.error(found))
        return _with_likely(band.value, drawn)

    def inputs(self, found: Situation) -> dict[str, Amount]:
        """Return every input of an accelerator that has a value, with its throughput where it has one."""
        values = {
            each.name: self.number(_name(found.accelerator, each), each.spread)
            for each in found.inputs.values()
            if each.spread is not None
        }
        if found.tokens_per_s is not None:
            values[THROUGHPUT] = self.rate(found, found.tokens_per_s)
        return values


def _name(accelerator: str, each: ResolvedInput) -> str:
    return f"{each.name} of {accelerator}" if INPUTS[each.name].each else each.name


def _with_likely(likely: float, drawn: Draws) -> Draws:
    return np.concatenate(([likely], drawn))


def likely_of(amount: Amount) -> float:
    """Return what an amount most likely is."""
    return float(np.ravel(amount)[0])


def range_of(amount: Amount) -> Range:
    """Return the likely value between the ends that four draws in five lie within; ends may be infinite."""
    # Without zeros below zero.
    values = np.ravel(np.asarray(amount, dtype=np.float64)) + 0.0
    if len(values) == 1:
        return Range.exactly(float(values[0]))
    drawn, likely = np.sort(values[1:]), float(values[0])
    # No quantile between two draws: ends may be infinite.
    low, high = (float(drawn[round(share * (len(drawn) - 1))]) for share in _ENDS)
    return Range(min(low, likely), likely, max(high, likely))


def share_above(amount: Amount, limit: float = 0.0) -> float:
    """Return the share of draws in which an amount is above a limit; those that equal it count half."""
    values = np.ravel(np.asarray(amount, dtype=np.float64))
    drawn = values[1:] if len(values) > 1 else values
    return float(np.mean(drawn > limit) + np.mean(drawn == limit) / 2.0)
