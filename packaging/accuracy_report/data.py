"""The data of the accuracy report: judged figures, pairs, other estimators, and the summary."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from accuracy_report.kernels import JudgedKernels
from accuracy_report.measures import (
    ErrorMeasure,
    FigureView,
    JudgedFigure,
    PublisherMeasure,
    find_view,
    group_by_view,
    judge_figures,
    make_pair_calibrations,
    measure_errors,
    measure_publishers,
    select_fold,
)
from accuracy_report.wording import ReportNames
from calibration.bench import BENCH_FIGURES, BenchRun
from calibration.fit import HELD_OUT_FOLDS, OTHERS, assign_fold_groups
from calibration.intervals import INTERVAL_FIGURES, PAIR_FOLDS, HeldOutPair, collect_pairs, collect_plan_pairs
from calibration.memory_measurements import JudgedMemory
from gpudesk.domain.answer import LEAST_ODDS, LeadVerdict
from gpudesk.domain.estimate import EstimateBasis, LoadKind
from gpudesk.engine.calibration import (
    IntervalFactors,
    PairRelation,
    compute_lead_odds,
    find_lead_scale,
    find_plan_interval,
    make_ratio_interval,
)
from gpudesk.estimation.published_runs import HeldOutFigure

#: Smaller log ratios count as equal: repeats of one configuration differ by as much.
_ALIKE: Final = math.log(1.03)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair with the interval of its ratio and the odds of its likely leader, fitted without its publisher."""

    pair: HeldOutPair
    fold: str
    band: IntervalFactors
    odds: float

    @property
    def names_leader(self) -> bool:
        """Whether the likely leader is named."""
        return self.odds >= LEAST_ODDS[LeadVerdict.LIKELY_LEADS]

    @property
    def right(self) -> float:
        """1 if the likely leader was measured ahead, 0 if behind; a half for equal ones."""
        if abs(self.pair.measured) < _ALIKE:
            return 0.5
        return float(self.pair.predicted * self.pair.measured > 0)

    @property
    def inside(self) -> bool:
        return math.log(self.band.low) <= self.pair.residual <= math.log(self.band.high)


class JudgedPairs(NamedTuple):
    """Pairs of accelerators, and of parallel plans of one accelerator with their publisher left out."""

    accelerators: tuple[JudgedPair, ...]
    plans: tuple[JudgedPair, ...]


@dataclass(frozen=True, slots=True)
class PairSummary:
    """Results for the pairs of one figure and fold; `named_right` is None if no leader is named."""

    pairs: int
    publishers: int
    named: int
    named_right: float | None
    coverage: float
    median: float
    p90: float
    width: float


#: Edges of the classes of odds: those of the table, and those around each bar.
ODDS_CLASSES: Final = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 1.0))
ODDS_BARS: Final = ((0.55, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95))
#: Allowed error of odds around a bar.
ODDS_TOLERANCE: Final = 0.05
#: Required share of throughput pairs with a named leader, and of right ones among them.
NAMED_BAR: Final = 0.85
RIGHT_BAR: Final = 0.90


@dataclass(frozen=True, slots=True)
class OddsRecord:
    """Predicted odds of some pairs compared with how often the likely leader was right.

    `error` is the standard error of their difference, None for fewer than two publishers.
    """

    low: float
    high: float
    pairs: int
    publishers: int
    predicted: float
    right: float
    error: float | None


def summarize_odds(pairs: Sequence[JudgedPair], classes: Sequence[tuple[float, float]]) -> tuple[OddsRecord, ...]:
    """Return the record of each class of odds with pairs; the upper edge is exclusive, except 1.

    Pairs of one publisher, model and two accelerators differ in the load only and share most of their error. They count
    as the square root of their number, as the runs of a fit do.
    """
    records = []
    for low, high in classes:
        inside = [each for each in pairs if low <= each.odds < high or each.odds == high == 1.0]
        if inside:
            questions = [_question(each.pair) for each in inside]
            sizes = Counter(questions)
            weights = np.array([sizes[each] ** -0.5 for each in questions])
            odds = np.array([each.odds for each in inside])
            right = np.array([each.right for each in inside])
            publishers = [each.pair.first.traits["series"] for each in inside]
            records.append(
                OddsRecord(
                    low,
                    high,
                    len(inside),
                    len(set(publishers)),
                    float(np.average(odds, weights=weights)),
                    float(np.average(right, weights=weights)),
                    estimate_clustered_error(right - odds, weights, publishers),
                )
            )
    return tuple(records)


def _question(pair: HeldOutPair) -> tuple[str, ...]:
    """Return the publisher, the model and the accelerators of a pair."""
    ours, theirs = pair.first.traits, pair.second.traits
    return ours["series"], ours["model"], ours["accelerator"], theirs["accelerator"]


def estimate_clustered_error(
    values: NDArray[np.float64], weights: NDArray[np.float64], clusters: Sequence[str]
) -> float | None:
    """Return the standard error of a weighted mean with clustered errors; None for fewer than two clusters.

    Pairs of a publisher share runs, models and loads, so they are not independent (K.-Y. Liang and S. Zeger,
    Longitudinal data analysis using generalized linear models, 1986).
    """
    names, places = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        return None
    deviations = weights * (values - np.average(values, weights=weights))
    sums = np.bincount(places, weights=deviations)
    scale = len(names) / (len(names) - 1)
    return math.sqrt(scale * float(sums @ sums)) / float(weights.sum())


@dataclass(frozen=True, slots=True)
class KnownRatio:
    """A ratio named in publications: the best submission for each accelerator, per accelerator."""

    title: str
    source: str
    load: LoadKind
    tpot_ms: float | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class MeasuredRatio:
    """A known ratio as measured, and as predicted with one trait of both runs held out."""

    known_ratio: KnownRatio
    fold: str
    measured: float
    predicted: float


_MODEL: Final = "llama-2-70b"
KNOWN_RATIOS: Final = (
    KnownRatio("MI300X / H200, Offline, v4.1", "mlperf-inference-v4-1", LoadKind.SATURATE, None, "mi300x", "h200-sxm"),
    KnownRatio("MI300X / H200, Offline, v5.1", "mlperf-inference-v5-1", LoadKind.SATURATE, None, "mi300x", "h200-sxm"),
    KnownRatio("MI355X / B200, Offline, v6.0", "mlperf-inference-v6-0", LoadKind.SATURATE, None, "mi355x", "b200-hgx"),
    KnownRatio(
        "MI355X / B200, Interactive, v6.0", "mlperf-inference-v6-0", LoadKind.LIMITS, 40.0, "mi355x", "b200-hgx"
    ),
)


def judge_pairs(held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun]) -> JudgedPairs:
    groups = dict(zip((run.id for run in runs), assign_fold_groups(runs, "series"), strict=True))
    calibrations = make_pair_calibrations(held_out, runs, "series")

    def judge(pair: HeldOutPair, fold: str, rests_on: EstimateBasis, relation: PairRelation) -> JudgedPair:
        left_out = calibrations[groups.get(pair.first.id, OTHERS)]
        figure = INTERVAL_FIGURES[pair.figure]
        scale = find_lead_scale(left_out, figure, rests_on, rests_on, relation, pair.predicted)
        interval = make_ratio_interval(1.0, scale)
        band = IntervalFactors(interval.low, interval.high)
        if relation is PairRelation.PLANS:
            band = find_plan_interval(left_out, figure, rests_on)
        return JudgedPair(pair, fold, band, compute_lead_odds(math.exp(abs(pair.predicted)), scale))

    accelerators = [
        judge(each, fold, rests_on, each.relation)
        for rests_on, fold in PAIR_FOLDS
        for figure in BENCH_FIGURES
        for each in collect_pairs(held_out, runs, figure, fold)
    ]
    rests_on, fold = PAIR_FOLDS[0]
    plans = [
        judge(each, fold, rests_on, PairRelation.PLANS)
        for figure in BENCH_FIGURES
        for each in collect_plan_pairs(held_out, runs, figure, fold)
    ]
    return JudgedPairs(tuple(accelerators), tuple(plans))


def group_pairs_by_figure(pairs: Iterable[JudgedPair], fold: str) -> dict[str, list[JudgedPair]]:
    sorted_: dict[str, list[JudgedPair]] = {}
    for each in pairs:
        if each.fold == fold:
            sorted_.setdefault(each.pair.figure, []).append(each)
    return sorted_


def summarize_pairs(pairs: Sequence[JudgedPair]) -> PairSummary:
    """Return the results of some pairs; at least one."""
    distinct = [each for each in pairs if each.names_leader]
    errors = np.abs(np.expm1([-each.pair.residual for each in pairs]))
    return PairSummary(
        pairs=len(pairs),
        publishers=len({each.pair.first.traits["series"] for each in pairs}),
        named=len(distinct),
        named_right=float(np.mean([each.right for each in distinct])) if distinct else None,
        coverage=float(np.mean([each.inside for each in pairs])),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        width=float(np.median([each.band.high / each.band.low for each in pairs])),
    )


def find_known_ratios(rows: Iterable[JudgedFigure]) -> tuple[MeasuredRatio, ...]:
    rate_rows = [row for row in rows if row.figure == "output_tokens_per_s" and row.run.model.id == _MODEL]
    result: list[MeasuredRatio] = []
    for known_ratio in KNOWN_RATIOS:
        for fold in dict.fromkeys(row.fold for row in rate_rows):
            inside = [row for row in rate_rows if row.fold == fold and _matches_ratio(row.run, known_ratio)]
            first, second = (_best(inside, part) for part in (known_ratio.first, known_ratio.second))
            if first is None or second is None:
                continue
            result.append(
                MeasuredRatio(
                    known_ratio,
                    fold,
                    _each(first, first.measured) / _each(second, second.measured),
                    _each(first, first.predicted) / _each(second, second.predicted),
                )
            )
    return tuple(result)


def _matches_ratio(run: BenchRun, known_ratio: KnownRatio) -> bool:
    load = run.workload.load
    return (
        run.traits["source"] == known_ratio.source
        and load.kind is known_ratio.load
        and (known_ratio.tpot_ms is None or load.tpot_ms == known_ratio.tpot_ms)
    )


def _best(rows: Sequence[JudgedFigure], part: str) -> JudgedFigure | None:
    """Return the best submission of an accelerator, by the measurement per accelerator."""
    of_part = [row for row in rows if row.run.traits["accelerator"] == part]
    return max(of_part, key=lambda row: _each(row, row.measured), default=None)


def _each(row: JudgedFigure, value: float) -> float:
    return value / row.run.candidates[0].deployment.plan.count


@dataclass(frozen=True, slots=True)
class PeerAnswers:
    """An estimator's answers in one setting, by run and figure, and its reasons for missing ones."""

    peer: str
    version: str
    setting: str
    values: Mapping[tuple[str, str], float]
    refused: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class PeerSpeed:
    """Runs per second that an estimator answers on one machine."""

    peer: str
    version: str
    how: str
    runs: int
    runs_per_s: float


@dataclass(frozen=True, slots=True)
class PeerError:
    """Median and 90th percentile of the error, and median predicted over measured."""

    median: float
    p90: float
    bias: float


@dataclass(frozen=True, slots=True)
class PeerRecord:
    """An estimator compared with the one of the program on the rows that it answers, of `figure_count` rows."""

    answers: PeerAnswers
    view: FigureView
    figure_count: int
    answered: int
    theirs: PeerError
    ours: PeerError


def read_peers(path: Path) -> tuple[PeerAnswers, ...]:
    values: dict[tuple[str, str, str], dict[tuple[str, str], float]] = {}
    refused: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["peer"], row["version"], row["setting"])
            values.setdefault(key, {})
            refused.setdefault(key, {})
            place = (row["run"], row["figure"])
            if row["value"]:
                values[key][place] = float(row["value"])
            else:
                refused[key][place] = row["reason"]
    return tuple(PeerAnswers(*key, values[key], refused[key]) for key in values)


def read_speeds(path: Path) -> tuple[PeerSpeed, ...]:
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(
            PeerSpeed(row["peer"], row["version"], row["how"], int(row["runs"]), float(row["runs_per_s"]))
            for row in csv.DictReader(file)
        )


def summarize_peers(peers: Iterable[PeerAnswers], rows: Sequence[JudgedFigure]) -> tuple[PeerRecord, ...]:
    records: list[PeerRecord] = []
    by_place = {(row.run.id, row.figure): row for row in rows}
    for peer in peers:
        for view in FigureView:
            view_rows = {place: row for place, row in by_place.items() if find_view(row.figure, row.run) is view}
            answered = [(row, peer.values[place]) for place, row in view_rows.items() if place in peer.values]
            covered = len(answered) + sum(place in peer.refused for place in view_rows)
            if answered:
                theirs = _miss([value / row.measured for row, value in answered])
                ours = _miss([row.ratio for row, _ in answered])
                records.append(PeerRecord(peer, view, covered, len(answered), theirs, ours))
    return tuple(records)


def count_refusals(peer: PeerAnswers) -> list[tuple[str, int]]:
    """Return the reasons for an estimator's missing answers, most frequent first."""
    return Counter(peer.refused.values()).most_common()


def _miss(ratios: Sequence[float]) -> PeerError:
    ratio_array = np.array(ratios)
    errors = np.abs(ratio_array - 1.0)
    return PeerError(float(np.median(errors)), float(np.quantile(errors, 0.9)), float(np.median(ratio_array)))


@dataclass(frozen=True)
class AccuracyData:
    """Runs with held-out predictions, other estimators, and the calibration's own data.

    `unused` counts published rows by the reason for not using them; `refused` are runs that the program does not
    answer. `fitted_revision` is that of the fitted measurements. `memory` is the memory use printed by serving engines.
    """

    runs: Sequence[BenchRun]
    held_out: Sequence[HeldOutFigure]
    peers: Sequence[PeerAnswers]
    speeds: Sequence[PeerSpeed]
    names: ReportNames
    unused: Mapping[str, int]
    refused: int
    data_revision: str
    fitted_revision: str
    calibration_revision: str
    newest_month: str
    constants: int
    memory: Sequence[JudgedMemory] = ()
    kernels: JudgedKernels | None = None

    @cached_property
    def rows(self) -> tuple[JudgedFigure, ...]:
        return judge_figures(self.held_out, self.runs)

    @cached_property
    def folds(self) -> tuple[str, ...]:
        """Return the folds that there are, in the order of `FOLDS`."""
        row_folds = {row.fold for row in self.rows}
        return tuple(fold for fold in HELD_OUT_FOLDS if fold in row_folds)

    @cached_property
    def series_rows(self) -> list[JudgedFigure]:
        return select_fold(self.rows, "series")

    @cached_property
    def pairs(self) -> JudgedPairs:
        return judge_pairs(self.held_out, self.runs)

    def unpredicted(self, fold: str) -> dict[str, int]:
        """Return how many published figures a fold does not predict, by figure, without zeros."""
        missing = Counter(figure for run in self.runs for figure in run.figures)
        missing.subtract(row.figure for row in select_fold(self.rows, fold))
        return {figure: missing[figure] for figure in BENCH_FIGURES if missing[figure] > 0}

    @cached_property
    def ratios(self) -> tuple[MeasuredRatio, ...]:
        return find_known_ratios(self.rows)

    @cached_property
    def peer_records(self) -> tuple[PeerRecord, ...]:
        return summarize_peers(self.peers, self.series_rows)


def summarize_accuracy(data: AccuracyData) -> dict[str, Any]:
    """Return the figures of the report for other programs.

    By fold and view, missing predictions, pairs of accelerators and of plans, known ratios.
    """
    folds = {
        fold: {
            str(view): _fields(measure_errors(rows))
            for view, rows in group_by_view(select_fold(data.rows, fold), whole=True).items()
        }
        for fold in data.folds
    }
    publishers = {
        str(view): _fields(measure_publishers(rows))
        for view, rows in group_by_view(data.series_rows, whole=True).items()
    }
    pairs = {fold: _pair_fields(data.pairs.accelerators, fold) for _, fold in PAIR_FOLDS}
    ratios = [
        {
            "ratio": each.known_ratio.title,
            "fold": each.fold,
            "measured": _short(each.measured),
            "predicted": _short(each.predicted),
        }
        for each in data.ratios
    ]
    return {
        "data": data.data_revision,
        "runs": len(data.runs),
        "publishers": publishers,
        "folds": folds,
        "unpredicted": {fold: data.unpredicted(fold) for fold in data.folds},
        "pairs": {fold: figure_pairs for fold, figure_pairs in pairs.items() if figure_pairs},
        "odds": {
            figure: [_fields(record) for record in summarize_odds(figure_pairs, (*ODDS_CLASSES, *ODDS_BARS))]
            for figure, figure_pairs in group_pairs_by_figure(data.pairs.accelerators, PAIR_FOLDS[0][1]).items()
        },
        "plans": _pair_fields(data.pairs.plans, PAIR_FOLDS[0][1]),
        "ratios": ratios,
    }


def _pair_fields(pairs: Sequence[JudgedPair], fold: str) -> dict[str, dict[str, Any]]:
    names = ("pairs", "named", "named_right", "coverage")
    summaries = {
        figure: _fields(summarize_pairs(figure_pairs))
        for figure, figure_pairs in group_pairs_by_figure(pairs, fold).items()
    }
    return {figure: {name: fields[name] for name in names} for figure, fields in summaries.items()}


def _fields(record: ErrorMeasure | PublisherMeasure | PairSummary | OddsRecord) -> dict[str, Any]:
    return {name: _short(value) if isinstance(value, float) else value for name, value in asdict(record).items()}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
