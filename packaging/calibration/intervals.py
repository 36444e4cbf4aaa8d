"""80% intervals from held-out residuals of figures and of ratios between plans, and scales of the odds of pairs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.bench import BenchRun
from calibration.parameters import Array
from gpudesk.domain.estimate import EstimateBasis, LoadKind, ParallelPlan
from gpudesk.engine.calibration import IntervalRule, LeadScaleKey, PairRelation, compute_error_growth
from gpudesk.estimation.published_runs import HeldOutFigure

#: Names of the figures in interval rules.
INTERVAL_FIGURES: Final[Mapping[str, str]] = {"output_tokens_per_s": "throughput", "tpot_ms": "tpot", "ttft_ms": "ttft"}
#: Share of the residuals excluded on either side. A new publisher scatters more than the existing ones, so an interval
#: of their 80% would cover less than 80% of its figures.
OUTSIDE: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.09, "tpot_ms": 0.098, "ttft_ms": 0.106}
#: Keys that narrow the interval of each figure, in order.
NARROWED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "output_tokens_per_s": (
        ("serving_engine",),
        ("serving_engine", "weights"),
        ("serving_engine", "weights", "experts"),
    ),
    "tpot_ms": (("load",), ("load", "experts")),
    "ttft_ms": (("load",),),
}
#: Exponent of a group's size in its weight: errors within a group are shared. Throughput has far larger groups.
GROUP_WEIGHT: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.25, "tpot_ms": 0.5, "ttft_ms": 0.5}
#: Number of publishers at which a slice counts as much as the wider slice around it.
HALF_TRUSTED: Final = 8.0
#: Smaller slices have no rule of their own.
LEAST_IN_SLICE: Final = 30
#: Folds behind each basis; residuals of one basis are pooled.
BASIS_FOLDS: Final[Mapping[EstimateBasis, tuple[str, ...]]] = {
    EstimateBasis.CALIBRATED: ("series",),
    EstimateBasis.ESTIMATED: ("generation", "series"),
    EstimateBasis.UNCALIBRATED: ("vendor",),
}
#: Minimum widening for a weaker basis, in the logarithm.
BASIS_WIDENING: Final = {EstimateBasis.CALIBRATED: 1.0, EstimateBasis.ESTIMATED: 1.15, EstimateBasis.UNCALIBRATED: 1.35}
#: Minimum width of an interval on either side, in the logarithm.
LEAST: Final = math.log(1.05)

Edges = tuple[float, float]
Where = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FigureResiduals:
    """Residuals of one figure: weights, publishers, and the keys that can narrow an interval."""

    values: Array
    weights: Array
    series: NDArray[np.str_]
    keys: Mapping[str, NDArray[np.str_]]

    def inside(self, mask: NDArray[np.bool_]) -> FigureResiduals:
        keys = {name: column[mask] for name, column in self.keys.items()}
        return FigureResiduals(self.values[mask], self.weights[mask], self.series[mask], keys)


def make_interval_keys(run: BenchRun) -> dict[str, str]:
    """Return the interval keys of a run, as an estimate of it would have."""
    traits = run.traits
    return {
        "load": traits["load"],
        "serving_engine": traits["engine"],
        "weights": traits["weights"],
        "generation": traits["generation"],
        "experts": "no" if traits["experts"] == "dense" else "yes",
    }


def collect_residuals(
    held_out: Iterable[HeldOutFigure], runs: Mapping[str, BenchRun], figure: str, folds: Sequence[str]
) -> FigureResiduals:
    """Return the residuals of a figure from some folds, each with its group's weight."""
    figures = [each for each in held_out if each.figure == figure and each.fold in folds]
    groups = [(each.fold, runs[each.run].traits[each.fold]) for each in figures]
    sizes = Counter(groups)
    interval_keys = {name: make_interval_keys(runs[name]) for name in {each.run for each in figures}}
    names = {name for steps in NARROWED[figure] for name in steps}
    return FigureResiduals(
        values=np.log(np.array([each.measured / each.predicted for each in figures])),
        weights=np.array([sizes[group] ** (GROUP_WEIGHT[figure] - 1.0) for group in groups]),
        series=np.array([runs[each.run].traits["series"] for each in figures], dtype=np.str_),
        keys={
            name: np.array([interval_keys[each.run][name] for each in figures], dtype=np.str_) for name in sorted(names)
        },
    )


def compute_quantile(values: Array, weights: Array, share: float) -> float:
    """Return the weighted quantile, with interpolation."""
    order = np.argsort(values, kind="stable")
    ordered, weighed = values[order], weights[order]
    places = (np.cumsum(weighed) - 0.5 * weighed) / weighed.sum()
    return float(np.interp(share, places, ordered))


def _edges(residuals: FigureResiduals, outside: float) -> Edges:
    low, high = (compute_quantile(residuals.values, residuals.weights, share) for share in (outside, 1.0 - outside))
    return min(low, -LEAST), max(high, LEAST)


def _shrunk(slice_: FigureResiduals, wider: Edges, outside: float) -> Edges:
    publishers = len(set(slice_.series.tolist()))
    trust = publishers / (publishers + HALF_TRUSTED)
    low, high = _edges(slice_, outside)
    return trust * low + (1.0 - trust) * wider[0], trust * high + (1.0 - trust) * wider[1]


def make_interval_rule(figure: str, basis: EstimateBasis, edges: Edges, where: Where = ()) -> IntervalRule:
    narrowed = {key: frozenset({value}) for key, value in where}
    return IntervalRule(figure, str(basis), math.exp(edges[0]), math.exp(edges[1]), narrowed)


def fit_interval_rules(held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun]) -> tuple[IntervalRule, ...]:
    """Return the rules of all intervals, for every basis, each figure first as a whole, then by slice."""
    by_id = {run.id: run for run in runs}
    rules: list[IntervalRule] = []
    for figure, name in INTERVAL_FIGURES.items():
        calibrated = collect_residuals(held_out, by_id, figure, BASIS_FOLDS[EstimateBasis.CALIBRATED])
        if not len(calibrated.values):
            continue
        slices = dict(_slices(figure, calibrated))
        for basis, folds in BASIS_FOLDS.items():
            weaker = collect_residuals(held_out, by_id, figure, folds)
            stretch = _stretch(weaker, slices[()], figure, BASIS_WIDENING[basis])
            rules.extend(
                make_interval_rule(name, basis, (low * stretch, high * stretch), where)
                for where, (low, high) in slices.items()
            )
    return tuple(rules)


def _stretch(weaker: FigureResiduals, whole: Edges, figure: str, least: float) -> float:
    if not len(weaker.values):
        return least
    low, high = _edges(weaker, OUTSIDE[figure])
    return max(least, (high - low) / (whole[1] - whole[0]))


def _slices(figure: str, calibrated: FigureResiduals) -> Iterator[tuple[Where, Edges]]:
    """Yield the edges of all residuals, then of each slice, the wider ones first."""
    slices: dict[Where, Edges] = {(): _edges(calibrated, OUTSIDE[figure])}
    yield (), slices[()]
    for names in NARROWED[figure]:
        columns = [calibrated.keys[name] for name in names]
        for values in sorted(set(zip(*(column.tolist() for column in columns), strict=True))):
            mask = np.logical_and.reduce([column == value for column, value in zip(columns, values, strict=True)])
            if np.count_nonzero(mask) < LEAST_IN_SLICE:
                continue
            where = tuple(zip(names, values, strict=True))
            wider = slices.get(where[:-1], slices[()])
            slices[where] = _shrunk(calibrated.inside(mask), wider, OUTSIDE[figure])
            yield where, slices[where]


#: Held-out trait for each basis; for a weaker basis only pairs across it count.
PAIR_FOLDS: Final = (
    (EstimateBasis.CALIBRATED, "series"),
    (EstimateBasis.ESTIMATED, "generation"),
    (EstimateBasis.UNCALIBRATED, "vendor"),
)
#: Coverage of the interval of ratios.
HELD: Final = 0.8
#: Minimum widening for a weaker basis, in the logarithm.
PAIR_WIDENING: Final = 1.1


@dataclass(frozen=True, slots=True)
class HeldOutPair:
    """Two runs that differ in one thing only: logarithms of the ratio, measured and predicted."""

    first: BenchRun
    second: BenchRun
    figure: str
    measured: float
    predicted: float

    @property
    def residual(self) -> float:
        return self.measured - self.predicted

    @property
    def relation(self) -> PairRelation:
        """What the accelerators of a pair differ in."""
        ours, theirs = self.first.traits, self.second.traits
        if ours["vendor"] != theirs["vendor"]:
            return PairRelation.VENDORS
        return PairRelation.ACCELERATORS if ours["generation"] == theirs["generation"] else PairRelation.GENERATIONS


def collect_pairs(
    held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun], figure: str, fold: str
) -> tuple[HeldOutPair, ...]:
    """Return all pairs of different accelerators for the same question in the same series.

    Their counts are equal for throughput, but can differ for latencies: the number of accelerators decides most
    throughput ratios alone. Several runs of one deployment are combined by their median. From other folds than that of
    series only pairs across the held-out trait count.
    """
    question = _question if figure == "output_tokens_per_s" else _load
    pairs = _pairs(held_out, runs, (figure, fold), question, _accelerators)
    trait = "accelerator" if fold == "series" else fold
    return tuple(each for each in pairs if each.first.traits[trait] != each.second.traits[trait])


def collect_plan_pairs(
    held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun], figure: str, fold: str
) -> tuple[HeldOutPair, ...]:
    """Return all pairs of different plans of one accelerator under the same load in the same series.

    Their sizes can differ: two plans of one size are rarely published, and the gain of several accelerators over one is
    the same kind of evidence. Runs with an unstated plan are left out.
    """
    runs_with_plan = [run for run in runs if len(_plans(run)) == 1]
    return tuple(_pairs(held_out, runs_with_plan, (figure, fold), _same_part, lambda run: str(_plans(run))))


def _plans(run: BenchRun) -> set[ParallelPlan]:
    return {candidate.deployment.plan for candidate in run.candidates}


def _pairs(
    held_out: Sequence[HeldOutFigure],
    runs: Sequence[BenchRun],
    of: tuple[str, str],
    question: Callable[[BenchRun], tuple[object, ...]],
    differs: Callable[[BenchRun], str],
) -> list[HeldOutPair]:
    """Return pairs of runs of the same question that differ, from figure and fold `of`.

    Latencies at latency limits are left out: each system runs at the rate that fills the limits.
    """
    figure, fold = of
    by_id = {
        run.id: run for run in runs if figure == "output_tokens_per_s" or run.workload.load.kind is not LoadKind.LIMITS
    }
    alike: dict[tuple[object, ...], dict[str, list[HeldOutFigure]]] = defaultdict(lambda: defaultdict(list))
    for each in held_out:
        if each.figure == figure and each.fold == fold and each.run in by_id:
            run = by_id[each.run]
            alike[question(run)][differs(run)].append(each)
    pairs: list[HeldOutPair] = []
    for sides in alike.values():
        medians = [(by_id[figures[0].run], *_median(figures)) for _, figures in sorted(sides.items())]
        for (first, *ours), (second, *theirs) in combinations(medians, 2):
            pairs.append(HeldOutPair(first, second, figure, ours[0] - theirs[0], ours[1] - theirs[1]))
    return pairs


def _median(figures: Sequence[HeldOutFigure]) -> tuple[float, float]:
    return median(math.log(each.measured) for each in figures), median(math.log(each.predicted) for each in figures)


def _load(run: BenchRun) -> tuple[object, ...]:
    """Return what two runs must share to be compared; rates of a closed loop and a batch by their size."""
    work, load = run.workload, run.workload.load
    return (
        run.traits["series"],
        run.traits["engine"],
        run.traits["model"],
        run.traits["load"],
        round(work.input_tokens, -1),
        round(work.output_tokens, -1) if work.output_tokens > 400 else 400,
        load.batch or load.concurrency or load.request_rate,
        load.tpot_ms,
    )


def _question(run: BenchRun) -> tuple[object, ...]:
    return (*_load(run), run.candidates[0].deployment.plan.count)


def _accelerators(run: BenchRun) -> str:
    return f"{run.candidates[0].deployment.plan.count} x {run.traits['accelerator']}"


def _same_part(run: BenchRun) -> tuple[object, ...]:
    kv = run.candidates[0].deployment.configuration.kv
    software = (run.traits["version"], run.traits["weights"], kv)
    return (*_load(run), run.workload.load.requests, run.traits["accelerator"], *software)


def fit_plan_rules(held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun]) -> tuple[IntervalRule, ...]:
    """Return the intervals of ratios between two plans of one accelerator, by basis."""
    rules: list[IntervalRule] = []
    for figure, name in INTERVAL_FIGURES.items():
        width = plans = LEAST
        for basis, fold in PAIR_FOLDS:
            weaker = 1.0 if basis is EstimateBasis.CALIBRATED else PAIR_WIDENING
            width = max(width * weaker, _width(collect_pairs(held_out, runs, figure, fold)))
            plans = max(plans * weaker, _plan_width(collect_plan_pairs(held_out, runs, figure, fold), width))
            rules.append(make_interval_rule(name, basis, (-plans, plans)))
    return tuple(rules)


def _plan_width(pairs: Sequence[HeldOutPair], parts: float) -> float:
    """Return the width for plans, shrunk towards that for `parts`, more so with few publishers."""
    publishers = len({pair.first.traits["series"] for pair in pairs})
    trust = publishers / (publishers + HALF_TRUSTED)
    return min(parts, trust * _width(pairs) + (1.0 - trust) * parts)


def _width(pairs: Sequence[HeldOutPair]) -> float:
    return _quantile(pairs, [pair.residual for pair in pairs], HELD)


def _quantile(pairs: Sequence[HeldOutPair], errors: Sequence[float], share: float) -> float:
    """Return a quantile of the sizes of the errors of pairs, series weighted by the root of their size."""
    if not pairs:
        return 0.0
    sizes = Counter(pair.first.traits["series"] for pair in pairs)
    weights = np.array([sizes[pair.first.traits["series"]] ** -0.5 for pair in pairs])
    return compute_quantile(np.abs(np.array(errors)), weights, share)


#: 80% of all logistic errors are below ln 9 scales.
_SCALES_OF_BAND: Final = math.log(9)
#: The quantile of the errors from which scales follow: the one that gives the results of left-out publishers the
#: highest likelihood. A lower one makes odds too confident.
_ODDS_QUANTILES: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.6, "tpot_ms": 0.7, "ttft_ms": 0.8}


def fit_lead_scales(held_out: Sequence[HeldOutFigure], runs: Sequence[BenchRun]) -> dict[LeadScaleKey, float]:
    """Return the scale of the error of ln(ratio) for each figure, basis and relation of a pair.

    It follows from a quantile of the errors of held-out pairs, relative to their growth with the ratio. The highest
    quantiles come from single publications. Accelerators that differ in more never have a smaller scale, nor does a
    weaker basis.
    """
    scales: dict[LeadScaleKey, float] = {}
    for figure, name in INTERVAL_FIGURES.items():
        stronger = dict.fromkeys(PairRelation, LEAST / _SCALES_OF_BAND)
        for basis, fold in PAIR_FOLDS:
            pairs = collect_pairs(held_out, runs, figure, fold)
            groups = {relation: [pair for pair in pairs if pair.relation is relation] for relation in PairRelation}
            groups[PairRelation.PLANS] = list(collect_plan_pairs(held_out, runs, figure, fold))
            widening = 1.0 if basis is EstimateBasis.CALIBRATED else PAIR_WIDENING
            closer = 0.0
            for relation, group in groups.items():
                fitted = _fit_scale(group, name, _ODDS_QUANTILES[figure])
                scale = stronger[relation] = max(closer, stronger[relation] * widening, fitted)
                scales[LeadScaleKey(name, basis, relation)] = scale
                closer = 0.0 if relation is PairRelation.PLANS else scale
    return scales


def _fit_scale(pairs: Sequence[HeldOutPair], name: str, share: float) -> float:
    """Return the scale of a logistic error, such that a `share` of the errors of the pairs is smaller."""
    errors = [pair.residual / compute_error_growth(name, pair.predicted) for pair in pairs]
    return _quantile(pairs, errors, share) / math.log((1.0 + share) / (1.0 - share))
