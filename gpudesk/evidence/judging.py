"""Held-out figures with the band that an estimate would have had that knows nothing of their group either.

A band made of all residuals holds its own rows too well. Here the rules for the figures of a group come from
the residuals of all other groups, and the basis from the rows of all other groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpudesk.domain.estimates import Basis
from gpudesk.engine.bands import BandFactors, band, basis
from gpudesk.engine.constants import BandRule, Calibration
from gpudesk.evidence.banding import BAND_FIGURES, band_keys, band_rules
from gpudesk.evidence.bench import BenchRun
from gpudesk.evidence.held_out import HeldOut, fold_groups
from gpudesk.evidence.pairing import pair_rules


@dataclass(frozen=True)
class Judged:
    """A figure of a run beside what a fit says that has not seen its group, with basis and band factors."""

    run: BenchRun
    figure: str
    fold: str
    group: str
    measured: float
    predicted: float
    basis: Basis
    band: BandFactors

    @cached_property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted / self.measured

    @property
    def error(self) -> float:
        """What the prediction misses by, as a share of what was measured."""
        return abs(self.ratio - 1.0)

    @property
    def inside(self) -> bool:
        """Whether the band around the prediction holds what was measured."""
        return self.predicted * self.band.low <= self.measured <= self.predicted * self.band.high

    @property
    def width(self) -> float:
        """Upper over lower edge of the band."""
        return self.band.high / self.band.low


def judged(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> tuple[Judged, ...]:
    """Return every held-out figure with its cross-fitted band, in the order of folds and groups."""
    found: list[Judged] = []
    by_id = {run.id: run for run in runs}
    for fold in dict.fromkeys(each.fold for each in held_out):
        for group, inside, bands in _left_out(held_out, runs, fold, band_rules):
            for each in inside:
                if each.fold == fold:
                    run = by_id[each.run]
                    rests_on = _basis(bands, run)
                    factors = band(bands, BAND_FIGURES[each.figure], rests_on, band_keys(run))
                    found.append(
                        Judged(
                            run, each.figure, fold, group, each.measured, each.predicted, rests_on, factors
                        )
                    )
    return tuple(found)


def pair_calibrations(
    held_out: Sequence[HeldOut], runs: Sequence[BenchRun], fold: str
) -> Mapping[str, Calibration]:
    """Return for each group of a fold a calibration whose bands of ratios have not seen it."""
    return {group: bands for group, _, bands in _left_out(held_out, runs, fold, pair_rules)}


def _left_out(
    held_out: Sequence[HeldOut],
    runs: Sequence[BenchRun],
    fold: str,
    rules: Callable[[Sequence[HeldOut], Sequence[BenchRun]], tuple[BandRule, ...]],
) -> Iterator[tuple[str, list[HeldOut], Calibration]]:
    """Yield each group of a fold, its figures from all folds, and the bands that all others make."""
    group_of = dict(zip((run.id for run in runs), fold_groups(runs, fold), strict=True))
    inside: dict[str, list[HeldOut]] = defaultdict(list)
    for each in held_out:
        inside[group_of[each.run]].append(each)
    for group in sorted(inside):
        others = [each for each in held_out if group_of[each.run] != group]
        known = [run for run in runs if group_of[run.id] != group]
        made = rules(others, known)
        yield group, inside[group], Calibration("", "", "", {}, made, made, _coverage(known))


def _coverage(runs: Sequence[BenchRun]) -> Mapping[tuple[str, str], int]:
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts[run.traits["generation"], run.traits["engine"]] += len(run.figures)
    return counts


def _basis(calibration: Calibration, run: BenchRun) -> Basis:
    return basis(calibration, run.traits["generation"], run.traits["engine"])
