"""Calibration: fitted constants by generation, precision and serving engine, and 80% intervals.

Every constant has one default and overrides. An override names some of `CONSTANT_KEYS`. The override that names the
most matching keys wins; ties go to the first. A generation without an override uses the default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate


class ConstantKeys(NamedTuple):
    """Keys by which an override can narrow a constant; None matches no override."""

    generation: str | None = None
    precision: str | None = None
    serving_engine: str | None = None
    ranks: str | None = None
    link: str | None = None
    experts: str | None = None
    attention: str | None = None
    runtime: str | None = None


CONSTANT_KEYS: Final = ConstantKeys._fields
#: Keys of a constant that is the same everywhere.
NO_KEYS: Final = ConstantKeys()


@frozen_dataclass
class ConstantOverride:
    """A value that applies if all of `where` match; `rows` counts the published rows it was fitted to."""

    where: Mapping[str, frozenset[str]]
    value: float
    rows: int = 0
    source: str | None = None

    def matches(self, keys: ConstantKeys) -> bool:
        # A plain loop takes half the time of a generator, and there are tens of thousands of overrides.
        for name, allowed in self.where.items():  # noqa: SIM110
            if getattr(keys, name, None) not in allowed:
                return False
        return True


@frozen_dataclass
class CalibrationConstant:
    """A fitted constant with its unit, meaning, default and overrides."""

    name: str
    unit: str
    meaning: str
    default: float
    overrides: tuple[ConstantOverride, ...] = ()
    source: str | None = None
    #: Cached values by the keys that overrides name: most combinations of keys differ only in other keys.
    _values: dict[tuple[str | None, ...], float] = field(default_factory=dict, init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {name for override in self.overrides for name in override.where}
        object.__setattr__(self, "_names", tuple(name for name in CONSTANT_KEYS if name in names))

    def value(self, keys: ConstantKeys) -> float:
        """Return the value of the most specific override that matches `keys`, or the default."""
        key = tuple([getattr(keys, name) for name in self._names])
        value = self._values.get(key)
        if value is None:
            override = self.find_override(keys)
            value = self._values[key] = self.default if override is None else override.value
        return value

    def find_override(self, keys: ConstantKeys) -> ConstantOverride | None:
        """Return the most specific override that matches `keys`, or None if the default applies."""
        matching = [override for override in self.overrides if override.matches(keys)]
        return max(matching, key=lambda override: len(override.where), default=None)


#: Keys by which a rule can narrow an interval.
INTERVAL_KEYS = ("load", "experts", "generation", "serving_engine", "weights")


@frozen_dataclass
class IntervalRule:
    """Factors of the 80% interval of a figure on a basis: low = value x `low`, high = value x `high`.

    The rule applies if all of `where` match (keys of `INTERVAL_KEYS`); the rule with the most keys wins.
    """

    figure: str
    basis: str
    low: float
    high: float
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def matches(self, keys: Mapping[str, str]) -> bool:
        for name, allowed in self.where.items():  # noqa: SIM110 - quicker, as above
            if keys.get(name) not in allowed:
                return False
        return True


class PairRelation(StrEnum):
    """What two compared deployments differ in. The more they share, the more of their errors cancels in the ratio."""

    PLANS = "plans"
    ACCELERATORS = "accelerators"
    GENERATIONS = "generations"
    VENDORS = "vendors"


def relate_accelerators(one: Accelerator, other: Accelerator) -> PairRelation:
    if one.id == other.id:
        return PairRelation.PLANS
    if one.vendor != other.vendor:
        return PairRelation.VENDORS
    return PairRelation.ACCELERATORS if one.generation == other.generation else PairRelation.GENERATIONS


class LeadScaleKey(NamedTuple):
    """A figure (throughput, tpot or ttft), the weaker basis of a pair, and what the pair differs in."""

    figure: str
    basis: str
    between: str


#: Combinations of keys whose constants are kept: a scenario has a few dozen of about 2 kB each.
MOST_KEPT_KEYS: Final = 1_000


class ConstantValues(dict[str, float]):
    """The constants for one combination of keys by name, each computed on first use."""

    def __init__(self, constants: Mapping[str, CalibrationConstant], keys: ConstantKeys) -> None:
        super().__init__()
        self._constants = constants
        self._keys = keys

    def __missing__(self, name: str) -> float:
        value = self[name] = self._constants[name].value(self._keys)
        return value


@frozen_dataclass
class Calibration:
    """All constants, row counts and intervals; `revision` is the hash of the file.

    `plan_bands` are the intervals of ratios between plans of one accelerator. `lead_scales` are scales of the logistic
    error of ln(ratio) between two deployments with equal values.
    """

    name: str
    revision: str
    newest_month: str
    constants: Mapping[str, CalibrationConstant]
    bands: tuple[IntervalRule, ...]
    plan_bands: tuple[IntervalRule, ...]
    coverage: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lead_scales: Mapping[LeadScaleKey, float] = field(default_factory=dict)
    _values_by_keys: dict[ConstantKeys, ConstantValues] = field(default_factory=dict, repr=False, compare=False)

    def value(self, name: str, keys: ConstantKeys) -> float:
        """Return constant `name` for `keys`; raises KeyError if the file lacks it."""
        return self.values(keys)[name]

    def values(self, keys: ConstantKeys) -> Mapping[str, float]:
        """Return the constants for `keys` by name; reading one that the file lacks raises KeyError."""
        constant_values = self._values_by_keys.get(keys)
        if constant_values is None:
            # Thousands of deployments share a few combinations of keys.
            if len(self._values_by_keys) >= MOST_KEPT_KEYS:
                self._values_by_keys.clear()
            constant_values = self._values_by_keys[keys] = ConstantValues(self.constants, keys)
        return constant_values

    def rows(self, generation: str, family: str) -> int:
        return self.coverage.get((generation, family), 0)

    def count_generation_rows(self, generation: str) -> int:
        return sum(rows for (part, _), rows in self.coverage.items() if part == generation)

    def count_family_rows(self, family: str) -> int:
        return sum(rows for (_, engine), rows in self.coverage.items() if engine == family)


#: Share by which each year beyond the newest measurements widens an interval.
WIDENING: Final = 0.25


class IntervalFactors(NamedTuple):
    """low = value x `low`, high = value x `high`; 0 < low <= 1 <= high."""

    low: float
    high: float

    def around(self, value: float) -> IntervalEstimate:
        return IntervalEstimate(value, value * self.low, value * self.high)

    def widen_by_years(self, years: float) -> IntervalFactors:
        """Return the factors for software that is `years` newer than any measurement.

        Each year adds `WIDENING` to the width on the logarithmic scale, since nothing has been measured yet.
        """
        stretch = 1.0 + WIDENING * years
        return IntervalFactors(self.low**stretch, self.high**stretch)


def _find_factors(
    rules: tuple[IntervalRule, ...], figure: str, basis: EstimateBasis, keys: Mapping[str, str]
) -> IntervalFactors:
    matching = [r for r in rules if r.figure == figure and r.basis == basis and r.matches(keys)]
    if not matching:
        raise KeyError(f"{figure}/{basis}")
    rule = max(matching, key=lambda each: len(each.where))
    return IntervalFactors(rule.low, rule.high)


def find_interval(
    calibration: Calibration, figure: str, basis: EstimateBasis, keys: Mapping[str, str] | None = None
) -> IntervalFactors:
    """Return the interval of a figure (throughput, tpot or ttft) on a basis; raises KeyError without one.

    `keys` are those of `INTERVAL_KEYS`: errors depend on load and model.
    """
    return _find_factors(calibration.bands, figure, basis, keys or {})


def _find_weaker(first: EstimateBasis, second: EstimateBasis) -> EstimateBasis:
    return max(first, second, key=tuple(EstimateBasis).index)


#: ln(ratio) of two latencies at which its error has twice the variance of that of equal latencies.
_DOUBLED_VARIANCE: Final = 0.1


def compute_error_growth(figure: str, log_ratio: float) -> float:
    """Return the error scale of an estimated ln(ratio) relative to that of equal values.

    The variance of latency ratios grows with each difference between the systems, so with ln(ratio). Throughput ratios
    of held-out publishers show no such growth.
    """
    return 1.0 if figure == "throughput" else math.sqrt(1.0 + abs(log_ratio) / _DOUBLED_VARIANCE)


def find_lead_scale(
    calibration: Calibration,
    figure: str,
    basis: EstimateBasis,
    other_basis: EstimateBasis,
    relation: PairRelation = PairRelation.VENDORS,
    log_ratio: float = 0.0,
) -> float:
    """Return the scale of the logistic error of an estimated ln(ratio) of a figure; the weaker basis decides.

    Independent Gumbel errors of this scale on both sides give the same error. Raises KeyError without a scale.
    """
    scale = calibration.lead_scales[LeadScaleKey(figure, _find_weaker(basis, other_basis), relation)]
    return scale * compute_error_growth(figure, log_ratio) if log_ratio else scale


def make_ratio_interval(ratio: float, scale: float) -> IntervalEstimate:
    """Return a ratio with its 80% interval, which excludes 1 if the odds of a lead are above 90%."""
    width = 9.0**scale
    return IntervalEstimate(ratio, ratio / width, ratio * width)


def compute_lead_odds(ratio: float, scale: float) -> float:
    """Return the probability that the measured ratio is above 1, for an estimated ratio > 0: 1 / (1 + ratio^(-1/s))."""
    return 0.5 * (1.0 + math.tanh(0.5 * math.log(ratio) / scale))


def find_plan_interval(calibration: Calibration, figure: str, basis: EstimateBasis) -> IntervalFactors:
    """Return the interval of the ratio of a figure between two plans of one accelerator."""
    return _find_factors(calibration.plan_bands, figure, basis, {})


def find_basis(calibration: Calibration, generation: str, family: str) -> EstimateBasis:
    """Return the basis of an estimate for this generation on this serving-engine family.

    calibrated: rows of both together; estimated: rows of either; uncalibrated: rows of neither.
    """
    if calibration.rows(generation, family):
        return EstimateBasis.CALIBRATED
    if calibration.count_generation_rows(generation) or calibration.count_family_rows(family):
        return EstimateBasis.ESTIMATED
    return EstimateBasis.UNCALIBRATED
