"""Bands: the interval that holds the measured value four times in five, from residuals of held-out rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpudesk.domain.estimates import Banded, Basis
from gpudesk.engine.constants import BandRule, Calibration

#: What a year beyond the newest measurements adds to the width of a band, as a share of it.
WIDENING: Final = 0.25
#: Key and value by which the rule of a ratio is one between plans of the same part.
BETWEEN_PLANS: Final = ("between", "plans")


class BandFactors(NamedTuple):
    """low = value x `low`, high = value x `high`; 0 < low <= 1 <= high."""

    low: float
    high: float

    def around(self, value: float) -> Banded:
        """Put the band around `value`."""
        return Banded(value, value * self.low, value * self.high)

    def widened(self, years: float) -> BandFactors:
        """Return the factors for software that is `years` newer than any measurement.

        Each year adds `WIDENING` to the width on the logarithmic scale: nobody has measured it yet.
        """
        stretch = 1.0 + WIDENING * years
        return BandFactors(self.low**stretch, self.high**stretch)


def _factors(rules: tuple[BandRule, ...], figure: str, basis: Basis, keys: Mapping[str, str]) -> BandFactors:
    matching = [r for r in rules if r.figure == figure and r.basis == basis and r.matches(keys)]
    if not matching:
        raise KeyError(f"{figure}/{basis}")
    rule = max(matching, key=lambda each: len(each.where))
    return BandFactors(rule.low, rule.high)


def band(
    calibration: Calibration, figure: str, basis: Basis, keys: Mapping[str, str] | None = None
) -> BandFactors:
    """Return the band of a figure (throughput, tpot or ttft) on a basis; raises KeyError without one.

    `keys` (those of `BAND_KEYS`) say for what: figures differ in how well they are known by load and model.
    """
    return _factors(calibration.bands, figure, basis, keys or {})


def pair_band(calibration: Calibration, figure: str, first: Basis, second: Basis) -> BandFactors:
    """Return the band of the ratio of a figure between two parts; the weaker basis decides."""
    weaker = max(first, second, key=tuple(Basis).index)
    return _factors(calibration.pair_bands, figure, weaker, {})


def plan_band(calibration: Calibration, figure: str, basis: Basis) -> BandFactors:
    """Return the band of the ratio of a figure between two parallel plans of one part."""
    return _factors(calibration.pair_bands, figure, basis, dict([BETWEEN_PLANS]))


def basis(calibration: Calibration, generation: str, family: str) -> Basis:
    """Return what an estimate for this generation on this serving-engine family rests on.

    calibrated: rows of both together; estimated: one of the two has rows; uncalibrated: neither.
    """
    if calibration.rows(generation, family):
        return Basis.CALIBRATED
    if calibration.generation_rows(generation) or calibration.family_rows(family):
        return Basis.ESTIMATED
    return Basis.UNCALIBRATED
