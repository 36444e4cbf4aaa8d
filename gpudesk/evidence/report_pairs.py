"""Pairs in the accuracy report: was the named winner the measured one, "no winner" right; known ratios.

Pairs are of two accelerators, or of two parallel plans of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.bands import BandFactors, pair_band, plan_band
from gpudesk.engine.constants import Calibration
from gpudesk.evidence.banding import BAND_FIGURES
from gpudesk.evidence.bench import FIGURES, BenchRun
from gpudesk.evidence.held_out import OTHERS, HeldOut, fold_groups
from gpudesk.evidence.judging import Judged, pair_calibrations
from gpudesk.evidence.pairing import PAIR_FOLDS, Pair, pairs, plan_pairs

#: Below it the two are alike within what repeats of one configuration differ by, in the logarithm.
_ALIKE: Final = math.log(1.03)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair with the band of its ratio, which has not seen its publisher."""

    pair: Pair
    fold: str
    band: BandFactors

    @property
    def winner(self) -> int:
        """Which of the two has the higher figure by the estimate: 1, -1, or 0 for no winner."""
        if self.pair.predicted + math.log(self.band.low) > 0:
            return 1
        return -1 if self.pair.predicted + math.log(self.band.high) < 0 else 0

    @property
    def inside(self) -> bool:
        """Whether the band holds the measured ratio."""
        return math.log(self.band.low) <= self.pair.residual <= math.log(self.band.high)

    @property
    def named_right(self) -> bool:
        """Whether the named winner was measured ahead, or within what repeats differ by."""
        return self.winner * self.pair.measured > -_ALIKE


class JudgedPairs(NamedTuple):
    """Pairs of accelerators, and of parallel plans of one accelerator with their publisher left out."""

    accelerators: tuple[JudgedPair, ...]
    plans: tuple[JudgedPair, ...]


@dataclass(frozen=True, slots=True)
class PairRecord:
    """How the pairs of one figure and fold went; shares are None where there is nothing to take them of."""

    pairs: int
    publishers: int
    named: int
    named_right: float | None
    open: int
    open_right: float | None
    coverage: float
    median: float
    p90: float
    width: float


@dataclass(frozen=True, slots=True)
class KnownRatio:
    """A ratio that publications name: the best submission for each accelerator, per accelerator."""

    title: str
    source: str
    load: LoadKind
    tpot_ms: float | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class RatioFound:
    """A known ratio as measured, and as predicted with one trait of both runs left out."""

    known: KnownRatio
    fold: str
    measured: float
    predicted: float


_MODEL: Final = "llama-2-70b"
KNOWN_RATIOS: Final = (
    KnownRatio(
        "MI300X / H200, Offline, v4.1", "mlperf-inference-v4-1", LoadKind.SATURATE, None, "mi300x", "h200-sxm"
    ),
    KnownRatio(
        "MI300X / H200, Offline, v5.1", "mlperf-inference-v5-1", LoadKind.SATURATE, None, "mi300x", "h200-sxm"
    ),
    KnownRatio(
        "MI355X / B200, Offline, v6.0", "mlperf-inference-v6-0", LoadKind.SATURATE, None, "mi355x", "b200-hgx"
    ),
    KnownRatio(
        "MI355X / B200, Interactive, v6.0",
        "mlperf-inference-v6-0",
        LoadKind.LIMITS,
        40.0,
        "mi355x",
        "b200-hgx",
    ),
)


def judged_pairs(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> JudgedPairs:
    """Return all pairs of all figures and folds with cross-fitted bands."""
    groups = dict(zip((run.id for run in runs), fold_groups(runs, "series"), strict=True))
    calibrations = pair_calibrations(held_out, runs, "series")

    def bands(pair: Pair) -> Calibration:
        return calibrations[groups.get(pair.first.id, OTHERS)]

    accelerators = [
        JudgedPair(each, fold, pair_band(bands(each), BAND_FIGURES[figure], rests_on, rests_on))
        for rests_on, fold in PAIR_FOLDS
        for figure in FIGURES
        for each in pairs(held_out, runs, figure, fold)
    ]
    rests_on, fold = PAIR_FOLDS[0]
    plans = [
        JudgedPair(each, fold, plan_band(bands(each), BAND_FIGURES[figure], rests_on))
        for figure in FIGURES
        for each in plan_pairs(held_out, runs, figure, fold)
    ]
    return JudgedPairs(tuple(accelerators), tuple(plans))


def by_figure(found: Iterable[JudgedPair], fold: str) -> dict[str, list[JudgedPair]]:
    """Return the pairs of a fold by figure."""
    sorted_: dict[str, list[JudgedPair]] = {}
    for each in found:
        if each.fold == fold:
            sorted_.setdefault(each.pair.figure, []).append(each)
    return sorted_


def pair_record(found: Sequence[JudgedPair]) -> PairRecord:
    """Return how some pairs went; at least one."""
    named = [each for each in found if each.winner]
    unnamed = [each for each in found if not each.winner]
    errors = np.abs(np.expm1([-each.pair.residual for each in found]))
    return PairRecord(
        pairs=len(found),
        publishers=len({each.pair.first.traits["series"] for each in found}),
        named=len(named),
        named_right=float(np.mean([each.named_right for each in named])) if named else None,
        open=len(unnamed),
        open_right=float(np.mean([each.inside for each in unnamed])) if unnamed else None,
        coverage=float(np.mean([each.inside for each in found])),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        width=float(np.median([each.band.high / each.band.low for each in found])),
    )


def known_ratios(rows: Iterable[Judged]) -> tuple[RatioFound, ...]:
    """Return the known ratios that the rows hold, for each fold."""
    kept = [row for row in rows if row.figure == "output_tokens_per_s" and row.run.model.id == _MODEL]
    result: list[RatioFound] = []
    for known in KNOWN_RATIOS:
        for fold in dict.fromkeys(row.fold for row in kept):
            inside = [row for row in kept if row.fold == fold and _asked(row.run, known)]
            first, second = (_best(inside, part) for part in (known.first, known.second))
            if first is None or second is None:
                continue
            result.append(
                RatioFound(
                    known,
                    fold,
                    _each(first, first.measured) / _each(second, second.measured),
                    _each(first, first.predicted) / _each(second, second.predicted),
                )
            )
    return tuple(result)


def _asked(run: BenchRun, known: KnownRatio) -> bool:
    load = run.workload.load
    return (
        run.traits["source"] == known.source
        and load.kind is known.load
        and (known.tpot_ms is None or load.tpot_ms == known.tpot_ms)
    )


def _best(rows: Sequence[Judged], part: str) -> Judged | None:
    """Return the best submission of an accelerator, by what was measured per accelerator."""
    of_part = [row for row in rows if row.run.traits["accelerator"] == part]
    return max(of_part, key=lambda row: _each(row, row.measured), default=None)


def _each(row: Judged, value: float) -> float:
    return value / row.run.candidates[0].situation.plan.count
