"""Calibration constants: fitted figures of the formulas, by generation, precision and serving engine.

Every constant has one default and exceptions. An exception names some of the keys `generation`,
`precision`, `serving_engine`, `ranks`, `link`, `experts` and `attention`; the one that names most wins, the
first of equals. A part without an exception borrows the default, so nothing is ever left without a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Keys by which an exception may narrow a constant.
KEYS = ("generation", "precision", "serving_engine", "ranks", "link", "experts", "attention", "runtime")


@dataclass(frozen=True, slots=True)
class Override:
    """A value that holds where all of `where` match; `rows` counts the published rows behind it."""

    where: Mapping[str, frozenset[str]]
    value: float
    rows: int = 0
    source: str | None = None

    def matches(self, keys: Mapping[str, str]) -> bool:
        """Whether every key that this exception names has one of its values."""
        return all(keys.get(name) in allowed for name, allowed in self.where.items())


@dataclass(frozen=True, slots=True)
class Constant:
    """One fitted figure with its unit, meaning, default and exceptions."""

    name: str
    unit: str
    meaning: str
    default: float
    exceptions: tuple[Override, ...] = ()
    source: str | None = None

    def value(self, keys: Mapping[str, str]) -> float:
        """Return the value of the most specific exception that matches `keys`, else the default."""
        found = self.found(keys)
        return self.default if found is None else found.value

    def found(self, keys: Mapping[str, str]) -> Override | None:
        """Return the most specific exception that matches `keys`, or None where the default holds."""
        matching = [exception for exception in self.exceptions if exception.matches(keys)]
        return max(matching, key=lambda exception: len(exception.where), default=None)


#: Keys by which a rule may narrow a band.
BAND_KEYS = ("load", "experts", "generation", "serving_engine", "weights")


@dataclass(frozen=True, slots=True)
class BandRule:
    """Factors of the 80 % band of one figure on one basis: low = value x `low`, high = value x `high`.

    It holds where all of `where` match (keys of `BAND_KEYS`, or `between` what a ratio is); the rule that
    names most keys wins.
    """

    figure: str
    basis: str
    low: float
    high: float
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def matches(self, keys: Mapping[str, str]) -> bool:
        """Whether every key that this rule names has one of its values."""
        return all(keys.get(name) in allowed for name, allowed in self.where.items())


class Values(dict[str, float]):
    """The constants for one combination of keys by name, each worked out when it is first asked for."""

    def __init__(self, constants: Mapping[str, Constant], keys: Mapping[str, str]) -> None:
        """Take all constants, and the keys of these."""
        super().__init__()
        self._constants = constants
        self._keys = dict(keys)

    def __missing__(self, name: str) -> float:
        """Look a constant up and keep it."""
        value = self[name] = self._constants[name].value(self._keys)
        return value


@dataclass(frozen=True, slots=True)
class Calibration:
    """All constants, the coverage by rows, and the bands; `revision` is the hash of the file."""

    name: str
    revision: str
    newest_month: str
    constants: Mapping[str, Constant]
    bands: tuple[BandRule, ...]
    pair_bands: tuple[BandRule, ...]
    coverage: Mapping[tuple[str, str], int] = field(default_factory=dict)
    _found: dict[tuple[str | None, ...], Values] = field(default_factory=dict, repr=False, compare=False)

    def value(self, name: str, keys: Mapping[str, str]) -> float:
        """Return constant `name` for `keys`; raises KeyError for a constant that the file lacks."""
        return self.values(keys)[name]

    def values(self, keys: Mapping[str, str]) -> Mapping[str, float]:
        """Return the constants for `keys` by name; asked for one that the file lacks it raises KeyError."""
        get = keys.get
        place = tuple([get(key) for key in KEYS])
        found = self._found.get(place)
        if found is None:
            # The same few combinations come up for thousands of deployments.
            found = self._found[place] = Values(self.constants, keys)
        return found

    def rows(self, generation: str, family: str) -> int:
        """Published end-to-end rows of this generation on this serving-engine family."""
        return self.coverage.get((generation, family), 0)

    def generation_rows(self, generation: str) -> int:
        """Published end-to-end rows of this generation on any serving engine."""
        return sum(rows for (part, _), rows in self.coverage.items() if part == generation)

    def family_rows(self, family: str) -> int:
        """Published end-to-end rows of this serving-engine family on any part."""
        return sum(rows for (_, engine), rows in self.coverage.items() if engine == family)
