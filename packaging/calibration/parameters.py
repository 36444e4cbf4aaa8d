"""The calibration constants as one vector, with priors and bounds.

All values are positive and vary on a logarithmic scale. The prior of an override is its ratio to the default of its
constant (shrinkage), so that a generation or serving engine with few rows borrows from all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.calibration import Calibration, CalibrationConstant, ConstantKeys, ConstantOverride
from gpudesk.engine.rates import KeyGroup

Array = NDArray[np.float64]
Where = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class PriorOverride:
    """The prior of a constant's override if all of `where` match; `spread` as in `Prior`, None: the same.

    `pinned` by measured operators, it does not follow the default.
    """

    where: Where
    value: float
    spread: float | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class ConstantPrior:
    """The prior of a constant before any run.

    `spread` is the standard deviation of the natural logarithm; 0 fixes the value. `override_spread` is that of the
    ratio of an override to the default.
    """

    name: str
    unit: str
    meaning: str
    value: float
    spread: float
    overrides: tuple[PriorOverride, ...] = ()
    override_spread: float | None = None
    low: float = 1e-12
    high: float = 1e12
    source: str | None = None


@dataclass(frozen=True)
class ParameterVector:
    """The vector of all constants of `priors`."""

    priors: tuple[ConstantPrior, ...]
    starts: Mapping[str, int] = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        starts, size = {}, 0
        for prior in self.priors:
            starts[prior.name] = size
            size += 1 + len(prior.overrides)
        object.__setattr__(self, "starts", MappingProxyType(starts))
        object.__setattr__(self, "size", size)

    @cached_property
    def initial(self) -> Array:
        return np.array([value for prior in self.priors for value in _values(prior)])

    @cached_property
    def low(self) -> Array:
        return np.repeat([prior.low for prior in self.priors], self._lengths)

    @cached_property
    def high(self) -> Array:
        return np.repeat([prior.high for prior in self.priors], self._lengths)

    @property
    def _lengths(self) -> list[int]:
        return [1 + len(prior.overrides) for prior in self.priors]

    @cached_property
    def spreads(self) -> Array:
        """Standard deviations in the logarithm; for overrides that of their ratio to the default."""
        return np.array([spread for prior in self.priors for spread in _spreads(prior)])

    @cached_property
    def free(self) -> NDArray[np.intp]:
        return np.flatnonzero((self.spreads > 0) & (self.initial > 0))

    @cached_property
    def penalty(self) -> Array:
        """Matrix (size, size) that turns a change of logarithms into standard deviations from the prior."""
        matrix = np.zeros((self.size, self.size))
        for prior in self.priors:
            start = self.starts[prior.name]
            follows = [False, *(not each.pinned for each in prior.overrides)]
            for place, spread in enumerate(_spreads(prior)):
                if spread > 0:
                    matrix[start + place, start + place] = 1.0 / spread
                    if follows[place] and prior.spread > 0:
                        matrix[start + place, start] = -1.0 / spread
        return matrix

    def name(self, position: int) -> str:
        for prior in self.priors:
            place = position - self.starts[prior.name]
            if 0 <= place <= len(prior.overrides):
                where = "" if place == 0 else f" {dict(prior.overrides[place - 1].where)}"
                return prior.name + where
        raise IndexError(position)

    def constant(
        self, prior: ConstantPrior, values: Array, rows: NDArray[np.intp] | None = None
    ) -> CalibrationConstant:
        """Return a constant with its values in `values`, and the rows behind its overrides."""
        start = self.starts[prior.name]
        return CalibrationConstant(
            name=prior.name,
            unit=prior.unit,
            meaning=prior.meaning,
            default=float(values[start]),
            overrides=tuple(
                ConstantOverride(
                    MappingProxyType({key: frozenset(allowed) for key, allowed in each.where.items()}),
                    float(values[start + 1 + place]),
                    0 if rows is None else int(rows[start + 1 + place]),
                )
                for place, each in enumerate(prior.overrides)
            ),
            source=prior.source,
        )

    def calibration(self, values: Array, newest_month: str) -> Calibration:
        """Return the constants in the engine's form."""
        constants = {prior.name: self.constant(prior, values) for prior in self.priors}
        return Calibration("", "", newest_month, MappingProxyType(constants), (), ())

    def positions(
        self, requested: Sequence[tuple[str, KeyGroup]], keys: Sequence[Mapping[KeyGroup, ConstantKeys]]
    ) -> dict[tuple[str, KeyGroup], NDArray[np.intp]]:
        """Return for each constant and key group the position of each deployment's value."""
        places: dict[tuple[str, KeyGroup], NDArray[np.intp]] = {}
        by_name = {prior.name: self.constant(prior, self.initial) for prior in self.priors}
        for name, slot in requested:
            memory: dict[ConstantKeys, int] = {}
            column = np.empty(len(keys), dtype=np.intp)
            for row, each in enumerate(keys):
                key = each[slot]
                if key not in memory:
                    memory[key] = self.starts[name] + _place(by_name[name], key)
                column[row] = memory[key]
            places[name, slot] = column
        return places


def _place(constant: CalibrationConstant, keys: ConstantKeys) -> int:
    override = constant.find_override(keys)
    if override is None:
        return 0
    return 1 + next(place for place, each in enumerate(constant.overrides) if each is override)


def _values(prior: ConstantPrior) -> list[float]:
    return [prior.value, *(each.value for each in prior.overrides)]


def _spreads(prior: ConstantPrior) -> list[float]:
    ratio = prior.spread if prior.override_spread is None else prior.override_spread
    if prior.spread == 0:
        ratio = 0.0
    return [prior.spread, *(ratio if each.spread is None else each.spread for each in prior.overrides)]
