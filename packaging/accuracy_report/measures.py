"""Held-out figures with cross-fitted intervals, their error measures, and the accuracy bars."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np

from calibration.bench import BenchRun
from calibration.fit import assign_fold_groups
from calibration.intervals import (
    INTERVAL_FIGURES,
    fit_interval_rules,
    fit_lead_scales,
    fit_plan_rules,
    make_interval_keys,
)
from gpudesk.domain.estimate import EstimateBasis, LoadKind
from gpudesk.engine.calibration import Calibration, IntervalFactors, find_basis, find_interval
from gpudesk.estimation.published_runs import HeldOutFigure


@dataclass(frozen=True)
class JudgedFigure:
    """A figure of a run and its prediction by a fit without its group, with basis and interval factors."""

    run: BenchRun
    figure: str
    fold: str
    group: str
    measured: float
    predicted: float
    basis: EstimateBasis
    band: IntervalFactors

    @cached_property
    def ratio(self) -> float:
        return self.predicted / self.measured

    @property
    def error(self) -> float:
        return abs(self.ratio - 1.0)

    @property
    def inside(self) -> bool:
        return self.predicted * self.band.low <= self.measured <= self.predicted * self.band.high

    @property
    def width(self) -> float:
        return self.band.high / self.band.low


def judge_figures(held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun]) -> tuple[JudgedFigure, ...]:
    """Return every held-out figure with its cross-fitted interval, in the order of folds and groups."""
    judged: list[JudgedFigure] = []
    by_id = {run.id: run for run in runs}
    for fold in dict.fromkeys(each.fold for each in held_out):
        for group, inside, others, training_runs in _left_out(held_out, runs, fold):
            bands = Calibration("", "", "", {}, fit_interval_rules(others, training_runs), (), _coverage(training_runs))
            for each in inside:
                if each.fold == fold:
                    run = by_id[each.run]
                    rests_on = _basis(bands, run)
                    factors = find_interval(bands, INTERVAL_FIGURES[each.figure], rests_on, make_interval_keys(run))
                    judged.append(
                        JudgedFigure(run, each.figure, fold, group, each.measured, each.predicted, rests_on, factors)
                    )
    return tuple(judged)


def make_pair_calibrations(
    held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun], fold: str
) -> Mapping[str, Calibration]:
    """Return for each group of a fold a calibration whose intervals and odds of ratios exclude it."""
    return {
        group: Calibration(
            "",
            "",
            "",
            {},
            (),
            fit_plan_rules(others, training_runs),
            lead_scales=fit_lead_scales(others, training_runs),
        )
        for group, _, others, training_runs in _left_out(held_out, runs, fold)
    }


def _left_out(
    held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun], fold: str
) -> Iterator[tuple[str, list[HeldOutFigure], list[HeldOutFigure], list[BenchRun]]]:
    """Yield each group of a fold, its figures from all folds, and figures and runs of all others."""
    group_of = dict(zip((run.id for run in runs), assign_fold_groups(runs, fold), strict=True))
    inside: dict[str, list[HeldOutFigure]] = defaultdict(list)
    for each in held_out:
        inside[group_of[each.run]].append(each)
    for group in sorted(inside):
        others = [each for each in held_out if group_of[each.run] != group]
        training_runs = [run for run in runs if group_of[run.id] != group]
        yield group, inside[group], others, training_runs


def _coverage(runs: Sequence[BenchRun]) -> Mapping[tuple[str, str], int]:
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts[run.traits["generation"], run.traits["engine"]] += len(run.figures)
    return counts


def _basis(calibration: Calibration, run: BenchRun) -> EstimateBasis:
    return find_basis(calibration, run.traits["generation"], run.traits["engine"])


class FigureView(StrEnum):
    """Figures judged together; bursts are loads with all requests at the start."""

    THROUGHPUT = "throughput"
    TPOT = "TPOT"
    BURST_TTFT = "TTFT of bursts"
    OTHER_TTFT = "TTFT of other loads"
    TTFT = "TTFT of all loads"


#: Loads whose first tokens wait for prompts that arrived at the same moment.
BURSTS: Final = frozenset({str(LoadKind.BATCH), str(LoadKind.SATURATE)})


@dataclass(frozen=True, slots=True)
class AccuracyBar:
    """Required median and 90th percentile of the error, and median upper over lower end.

    None if nothing is required.
    """

    median: float | None
    p90: float | None
    width: float | None


BARS: Final[Mapping[FigureView, AccuracyBar]] = {
    FigureView.THROUGHPUT: AccuracyBar(0.11, 0.35, 1.8),
    FigureView.TPOT: AccuracyBar(0.15, 0.40, 2.5),
    FigureView.BURST_TTFT: AccuracyBar(0.16, 0.50, None),
    FigureView.OTHER_TTFT: AccuracyBar(None, None, None),
    FigureView.TTFT: AccuracyBar(None, None, 3.5),
}
#: Required coverage of the interval: in all, and in every slice of at least `LEAST_JUDGED` rows.
WHOLE_COVERAGE: Final = (0.75, 0.88)
SLICE_COVERAGE: Final = (0.65, 0.95)
LEAST_JUDGED: Final = 30
#: Bar of the bias in cells of serving engine, kind of model and load with at least `LEAST_CELL` figures.
MOST_BIAS: Final = 0.10
LEAST_CELL: Final = 20


@dataclass(frozen=True, slots=True)
class ErrorMeasure:
    """Rows; median and 90th percentile of the error; median predicted over measured; interval coverage."""

    rows: int
    median: float
    p90: float
    bias: float
    coverage: float
    width: float


@dataclass(frozen=True, slots=True)
class PublisherMeasure:
    """Medians over publishers of the median and the 90th percentile of the errors of each.

    Every publisher has equal weight, regardless of its number of figures.
    """

    publishers: int
    median: float
    p90: float


@dataclass(frozen=True, slots=True)
class MissedBars:
    """Which bars a set of figures misses."""

    median: bool
    p90: bool
    coverage: bool
    width: bool

    def __bool__(self) -> bool:
        return self.median or self.p90 or self.coverage or self.width


def find_view(figure: str, run: BenchRun) -> FigureView:
    if figure == "output_tokens_per_s":
        return FigureView.THROUGHPUT
    if figure == "tpot_ms":
        return FigureView.TPOT
    return FigureView.BURST_TTFT if run.traits["load"] in BURSTS else FigureView.OTHER_TTFT


def measure_errors(rows: Sequence[JudgedFigure]) -> ErrorMeasure:
    """Return the error measures of some figures; at least one."""
    errors = np.array([row.error for row in rows])
    return ErrorMeasure(
        rows=len(rows),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        bias=float(np.exp(np.median(np.log([row.ratio for row in rows])))),
        coverage=float(np.mean([row.inside for row in rows])),
        width=float(np.median([row.width for row in rows])),
    )


def measure_publishers(rows: Sequence[JudgedFigure]) -> PublisherMeasure:
    """Return the measures by publisher of some figures; at least one."""
    measures = [measure_errors(inside) for inside in group_by_trait(rows, "series").values()]
    return PublisherMeasure(
        publishers=len(measures),
        median=float(np.median([each.median for each in measures])),
        p90=float(np.median([each.p90 for each in measures])),
    )


def find_misses(measure: ErrorMeasure, view: FigureView, coverage: tuple[float, float] = SLICE_COVERAGE) -> MissedBars:
    """Return which bars are missed; too few rows miss none."""
    bar = BARS[view]
    enough = measure.rows >= LEAST_JUDGED
    return MissedBars(
        median=enough and bar.median is not None and measure.median > bar.median,
        p90=enough and bar.p90 is not None and measure.p90 > bar.p90,
        coverage=enough and not coverage[0] <= measure.coverage <= coverage[1],
        width=enough and coverage == WHOLE_COVERAGE and bar.width is not None and measure.width > bar.width,
    )


def group_by_view(rows: Iterable[JudgedFigure], whole: bool = False) -> dict[FigureView, list[JudgedFigure]]:
    """Return the figures of each non-empty view, in the order of the views.

    With `whole` the two views of TTFT are also combined, to judge the width of the interval.
    """
    by_view: dict[FigureView, list[JudgedFigure]] = {view: [] for view in FigureView}
    for row in rows:
        by_view[find_view(row.figure, row.run)].append(row)
    if whole:
        by_view[FigureView.TTFT] = [*by_view[FigureView.BURST_TTFT], *by_view[FigureView.OTHER_TTFT]]
    return {view: inside for view, inside in by_view.items() if inside}


def group_by_trait(rows: Iterable[JudgedFigure], trait: str) -> dict[str, list[JudgedFigure]]:
    return {value: inside for (value,), inside in group_by_traits(rows, trait).items()}


def group_by_traits(rows: Iterable[JudgedFigure], *traits: str) -> dict[tuple[str, ...], list[JudgedFigure]]:
    """Return the figures by the values of some traits of their run, most rows first."""
    by_values: dict[tuple[str, ...], list[JudgedFigure]] = defaultdict(list)
    for row in rows:
        by_values[tuple(row.run.traits[trait] for trait in traits)].append(row)
    return dict(sorted(by_values.items(), key=lambda each: (-len(each[1]), each[0])))


def select_fold(rows: Iterable[JudgedFigure], fold: str) -> list[JudgedFigure]:
    return [row for row in rows if row.fold == fold]
