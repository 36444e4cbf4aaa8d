"""The calibration fit, predictions with one group held out, and the calibration file.

Residuals are logarithms of predicted over measured. Each figure has a scale (the spread between publishers); beyond it
a residual counts linearly (pseudo-Huber). Figures of one publisher on one engine share an effect, of zero mean over the
publishers of the engine; predictions are those of a publisher without one. Runs of one series, model, accelerator and
load count as the square root of their number, and all runs by `EVIDENCE` relative to the priors. The search is damped
Gauss-Newton on logarithms of the constants, deterministic.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.bench import BENCH_FIGURES, BenchArrays, BenchRun
from calibration.parameters import Array, ConstantPrior, ParameterVector
from gpudesk.engine.calibration import IntervalRule, LeadScaleKey
from gpudesk.estimation.published_runs import HeldOutFigure

#: Scale of the residuals of each figure, in the logarithm.
SCALES: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.08, "tpot_ms": 0.12, "ttft_ms": 0.20}
#: Weight of a figure relative to the priors: figures of one publisher share errors. At 1 the errors on a held-out
#: publisher are larger: TPOT 53% instead of 50% at the 90th percentile, TTFT 26.6% instead of 25.2% at the median.
EVIDENCE: Final = 0.5
#: Spread of the common error of the figures of one publisher on one engine, in the logarithm: its harness, settings and
#: tuning. Without it, constants bend to fit the habits of the largest publishers.
PUBLISHER_SPREADS: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.05, "tpot_ms": 0.08, "ttft_ms": 0.12}
#: Residual, in the logarithm, of a measured figure without a prediction, because limits are missed or a rate is too
#: high. Less than 1% of other residuals are larger.
UNANSWERED: Final = math.log(5.0)
#: Step of numerical derivatives, in the logarithm.
DIFFERENCE: Final = 1e-3
#: Maximum step of a constant, in the logarithm.
LONGEST_STEP: Final = 0.5
#: A step with a smaller relative gain of the loss is the last.
ENOUGH: Final = 5e-5
#: A constant within this distance of its bound, in the logarithm, is at it.
AT_BOUND: Final = 1e-9
#: Maximum shortenings of a step: at the last, damping is a thousandfold.
MOST_TRIALS: Final = 16
#: The same with slopes of the step before.
FEW_TRIALS: Final = 2


@dataclass(frozen=True, slots=True)
class CalibrationFit:
    """Fitted values in the order of `Parameters`, the loss, and the number of steps."""

    values: Array
    loss: float
    steps: int


@dataclass(frozen=True, slots=True)
class _FitTargets:
    """Targets: for each figure the runs, logarithms of measured values, and weights.

    `publishers` is the effect of each residual. Each effect has the precision of its prior, and a block: those of one
    figure and engine.
    """

    runs: Mapping[str, NDArray[np.intp]]
    logs: Mapping[str, Array]
    weights: Array
    publishers: NDArray[np.intp]
    precisions: Array
    blocks: NDArray[np.intp]

    def remove_effects(self, figures: Mapping[str, Array]) -> tuple[Array, float]:
        """Return the residuals without the effects of their publishers, and what these cost.

        A missing prediction counts as `UNANSWERED` and does not change the effect of its publisher.
        """
        residuals = self._replace_missing(figures)
        weights = np.where(np.isfinite(self.residuals_or_nan(figures)), self.weights, 0.0)
        effects = np.zeros(len(self.precisions))
        for _ in range(_EFFECT_STEPS):
            curved = weights / np.sqrt(1.0 + (residuals - effects[self.publishers]) ** 2)
            effects = self._solve(curved, self._sum(curved * residuals)[:, None])[:, 0]
        removed = np.where(weights > 0, effects[self.publishers], 0.0)
        return residuals - removed, float(self.precisions @ effects**2)

    def compute_reduction(self, curved: Array, slope: Array) -> Array:
        """Return what free effects take from the curvature of the loss."""
        sums = np.stack([self._sum(curved * column) for column in slope.T], axis=1)
        reduction: Array = sums.T @ self._solve(curved, sums)
        return reduction

    def _solve(self, curved: Array, sums: Array) -> Array:
        """Return the effects, of zero mean in each block, with the least loss."""
        inverse = 1.0 / (self._sum(curved) + self.precisions)
        count = int(self.blocks.max()) + 1
        free = inverse[:, None] * sums
        excess = np.stack([np.bincount(self.blocks, column, count) for column in free.T], axis=1)
        shares = inverse / np.bincount(self.blocks, inverse, count)[self.blocks]
        return free - shares[:, None] * excess[self.blocks]

    def _sum(self, values: Array) -> Array:
        sums: Array = np.bincount(self.publishers, values, len(self.precisions)).astype(np.float64, copy=False)
        return sums

    def residuals_or_nan(self, figures: Mapping[str, Array]) -> Array:
        """Return the residuals, NaN for missing predictions."""
        return np.concatenate([self._part(name, figures) for name in BENCH_FIGURES])

    def _part(self, name: str, figures: Mapping[str, Array]) -> Array:
        with np.errstate(all="ignore"):
            part: Array = (np.log(figures[name][self.runs[name]]) - self.logs[name]) / SCALES[name]
        return np.where(np.isfinite(part), part, np.nan)

    def _replace_missing(self, figures: Mapping[str, Array]) -> Array:
        parts = {name: self._part(name, figures) for name in BENCH_FIGURES}
        missing = {name: UNANSWERED / SCALES[name] for name in BENCH_FIGURES}
        return np.concatenate([np.where(np.isnan(part), missing[name], part) for name, part in parts.items()])


#: Repeats of the search for effects, which settle to 1%.
_EFFECT_STEPS: Final = 8


def _weight_key(run: BenchRun) -> tuple[str, ...]:
    return tuple(run.traits[name] for name in ("series", "model", "accelerator", "load"))


def _targets(runs: Sequence[BenchRun], keep: NDArray[np.bool_]) -> _FitTargets:
    crowd = Counter(_weight_key(run) for run, is_kept in zip(runs, keep, strict=True) if is_kept)
    places = {
        name: np.array([p for p, run in enumerate(runs) if keep[p] and name in run.figures], dtype=np.intp)
        for name in BENCH_FIGURES
    }
    logs = {
        name: np.log(np.array([runs[p].figures[name] for p in figure_places])) for name, figure_places in places.items()
    }
    weights = np.concatenate(
        [np.array([EVIDENCE * crowd[_weight_key(runs[p])] ** -0.5 for p in places[name]]) for name in BENCH_FIGURES]
    )
    keys = [(name, runs[p].traits["engine"], runs[p].traits["series"]) for name in BENCH_FIGURES for p in places[name]]
    effects = list(dict.fromkeys(keys))
    blocks = list(dict.fromkeys(key[:2] for key in effects))
    return _FitTargets(
        places,
        logs,
        weights,
        publishers=np.array([effects.index(key) for key in keys], dtype=np.intp),
        precisions=np.array([EVIDENCE * (SCALES[name] / PUBLISHER_SPREADS[name]) ** 2 for name, _, _ in effects]),
        blocks=np.array([blocks.index(key[:2]) for key in effects], dtype=np.intp),
    )


def _loss(targets: _FitTargets, figures: Mapping[str, Array]) -> float:
    residuals, cost = targets.remove_effects(figures)
    return cost + float(np.sum(targets.weights * 2.0 * (np.sqrt(1.0 + residuals**2) - 1.0)))


def fit_to_runs(
    bench: BenchArrays,
    keep: NDArray[np.bool_] | None = None,
    start: Array | None = None,
    most_steps: int = 40,
    first_damping: float = 1.0,
) -> CalibrationFit:
    """Fit the constants to the runs of `keep` (all), starting at `start` (the priors).

    Strong damping at first keeps the search out of local minima behind changes of plans.
    """
    parameters = bench.parameters
    keep = np.ones(len(bench.runs), dtype=np.bool_) if keep is None else keep
    targets = _targets(bench.runs, keep)
    prior = _PriorPenalty(parameters)
    values = (parameters.initial if start is None else start).copy()
    predicted = bench.predict(values)
    loss = _loss(targets, predicted.figures) + prior.loss(values)
    damping, steps = first_damping, 0
    slope: Array | None = None
    for _ in range(most_steps):
        is_reused = slope is not None
        if slope is None:
            slope = _slope(bench, targets, values, predicted.winners)
        residuals, _ = targets.remove_effects(predicted.figures)
        curved = targets.weights / np.sqrt(1.0 + residuals**2)
        # The product of a matrix with itself takes half the arithmetic.
        weighted = np.sqrt(curved)[:, None] * slope
        normal = weighted.T @ weighted - targets.compute_reduction(curved, slope) + prior.normal
        gradient = slope.T @ (curved * residuals) + prior.gradient(values)
        moved, trial, trial_loss = values, predicted, loss
        for _ in range(FEW_TRIALS if is_reused else MOST_TRIALS):
            moved = _moved(parameters, values, normal, gradient, damping)
            trial = bench.predict(moved)
            trial_loss = _loss(targets, trial.figures) + prior.loss(moved)
            if trial_loss < loss:
                break
            damping *= 4.0
        gain = max(loss - trial_loss, 0.0)
        if gain > 0.0:
            values, predicted, loss = moved, trial, trial_loss
            damping, steps = max(damping / 4.0, 1e-6), steps + 1
        if not is_reused and gain < ENOUGH * loss:
            break
        # Slopes cost far more than steps, so each serves two steps. Whether a search is over, only new ones can tell.
        slope = None if is_reused else slope
    return CalibrationFit(values, loss, steps)


class _PriorPenalty:
    """The priors as a quadratic form of the free logarithms."""

    def __init__(self, parameters: ParameterVector) -> None:
        self._free = parameters.free
        self._initial = parameters.initial
        penalty = parameters.penalty[:, self._free]
        self.normal = penalty.T @ penalty

    def _shift(self, values: Array) -> Array:
        free = self._free
        shift: Array = np.log(values[free] / self._initial[free])
        return shift

    def loss(self, values: Array) -> float:
        shift = self._shift(values)
        return float(shift @ self.normal @ shift)

    def gradient(self, values: Array) -> Array:
        gradient: Array = self.normal @ self._shift(values)
        return gradient


def _slope(bench: BenchArrays, targets: _FitTargets, values: Array, winners: NDArray[np.intp]) -> Array:
    """Return the change of the residuals per change of the logarithm of a free constant: (residuals, constants)."""
    settled = bench.fixed(winners)
    at_start = targets.residuals_or_nan(settled.figures(values))
    free = bench.parameters.free
    # A missing prediction, before or after, has no gradient.
    nudged = settled.nudged(values, free.tolist(), math.exp(DIFFERENCE))
    slope = np.empty((len(at_start), len(free)))
    for column in range(len(free)):
        changed = targets.residuals_or_nan({name: figure[column] for name, figure in nudged.items()})
        slope[:, column] = (changed - at_start) / DIFFERENCE
    return np.clip(np.nan_to_num(slope), -200.0, 200.0)


def _moved(parameters: ParameterVector, values: Array, normal: Array, gradient: Array, damping: float) -> Array:
    """Take a downhill step within the bounds.

    A constant that reaches its bound is fixed there, and the others are solved for again: after mere clipping, they
    would overshoot, and the search would end early.
    """
    free = parameters.free
    damped = normal + damping * np.diag(np.diag(normal))
    at = np.log(values[free])
    down, up = np.log(parameters.low[free]) - at, np.log(parameters.high[free]) - at
    at_bound = ((down > -AT_BOUND) & (gradient > 0)) | ((up < AT_BOUND) & (gradient < 0))
    step = np.zeros(len(free))
    for _ in range(len(free)):
        inner = ~at_bound
        rest = gradient[inner] + damped[np.ix_(inner, at_bound)] @ step[at_bound]
        solved = -np.linalg.solve(damped[np.ix_(inner, inner)], rest)
        step[inner] = np.clip(solved, -LONGEST_STEP, LONGEST_STEP)
        beyond = inner & ((step < down - AT_BOUND) | (step > up + AT_BOUND))
        if not beyond.any():
            break
        step[beyond] = np.clip(step[beyond], down[beyond], up[beyond])
        at_bound |= beyond
    moved = values.copy()
    moved[free] = np.clip(values[free] * np.exp(step), parameters.low[free], parameters.high[free])
    return moved


#: Traits that define held-out groups.
HELD_OUT_FOLDS: Final = ("series", "model", "family", "accelerator", "generation", "vendor", "version")
#: Smaller groups are held out together: a fit without three runs shows nothing.
SMALL_GROUP: Final = 9
#: Name of the combined small groups.
OTHERS: Final = "others"
#: Maximum groups of a bundle: larger bundles save less, as their common search ends farther from the others.
LARGEST_BUNDLE: Final = 6


def assign_fold_groups(runs: Sequence[BenchRun], trait: str) -> list[str]:
    """Return the group of each run; small groups are combined."""
    sizes = Counter(run.traits[trait] for run in runs)
    return [run.traits[trait] if sizes[run.traits[trait]] >= SMALL_GROUP else OTHERS for run in runs]


def list_folds(runs: Sequence[BenchRun], trait: str) -> tuple[str, ...]:
    """Return the groups to hold out one by one; empty if all runs are in one group."""
    groups = sorted(set(assign_fold_groups(runs, trait)))
    return tuple(groups) if len(groups) > 1 else ()


def list_bundles(runs: Sequence[BenchRun], trait: str) -> tuple[tuple[str, ...], ...]:
    """Return the groups to hold out in bundles for `predict_left_out`, the largest groups in different ones."""
    sizes = Counter(assign_fold_groups(runs, trait))
    groups = sorted(list_folds(runs, trait), key=lambda group: (-sizes[group], group))
    count = math.ceil(len(groups) / LARGEST_BUNDLE)
    return tuple(tuple(groups[place::count]) for place in range(count))


def predict_left_out(bench: BenchArrays, trait: str, groups: Sequence[str]) -> tuple[HeldOutFigure, ...]:
    """Return every figure of each group as predicted by a fit without any run of that group.

    Constants fitted to all runs would leak the group. So a search without all of `groups` starts at the priors, and
    the search without one of them at its result, in half the time.
    """
    names = np.array(assign_fold_groups(bench.runs, trait))
    others = ~np.isin(names, groups)
    start = fit_to_runs(bench, others).values if len(groups) > 1 and others.any() else None
    figures: list[HeldOutFigure] = []
    for group in groups:
        inside: NDArray[np.bool_] = names == group
        predicted = bench.predict(fit_to_runs(bench, ~inside, start).values).figures
        figures += _figures(bench.runs, np.flatnonzero(inside).tolist(), predicted, trait)
    return tuple(figures)


def _figures(
    runs: Sequence[BenchRun], places: Iterable[int], predicted: Mapping[str, Array], fold: str
) -> Iterator[HeldOutFigure]:
    for place in places:
        run = runs[place]
        for figure in BENCH_FIGURES:
            if figure in run.figures and np.isfinite(predicted[figure][place]):
                yield HeldOutFigure(run.id, figure, fold, run.figures[figure], float(predicted[figure][place]))


FORMAT_VERSION: Final = 1
#: Significant digits of constants, of interval factors, and of scales.
DIGITS, BAND_DIGITS, SCALE_DIGITS = 6, 4, 3


@dataclass(frozen=True, slots=True)
class CalibrationHeader:
    """Content of a calibration file besides its constants."""

    name: str
    source: str
    newest_month: str
    data_revision: str
    bands: tuple[IntervalRule, ...]
    plan_bands: tuple[IntervalRule, ...]
    lead_scales: Mapping[LeadScaleKey, float]


def format_calibration(bench: BenchArrays, values: Array, about: CalibrationHeader) -> str:
    parameters = bench.parameters
    rows = bench.rows_behind()
    constants = [
        f"  {json.dumps(prior.name)}: {_constant(parameters, prior, values, rows)}" for prior in parameters.priors
    ]
    head = {
        "version": FORMAT_VERSION,
        "name": about.name,
        "newest_month": about.newest_month,
        "source": about.source,
        "data": about.data_revision,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    joined = ",\n".join(constants)
    coverage = f' "coverage": {_list(_coverage(bench.runs), 2)}'
    head_text = "{\n" + "\n".join(lines) + '\n "constants": {\n' + joined + "\n },\n" + coverage
    return head_text + _bands(about.bands, about.plan_bands, about.lead_scales)


def replace_intervals(
    text: str,
    bands: Sequence[IntervalRule],
    plan_bands: Sequence[IntervalRule],
    lead_scales: Mapping[LeadScaleKey, float],
) -> str:
    """Return the text of a calibration file with other intervals and scales; the constants stay exactly."""
    head, _, _ = text.partition(_BEFORE_BANDS)
    return head + _bands(bands, plan_bands, lead_scales)


#: The text between the coverage and the intervals, which end the file.
_BEFORE_BANDS: Final = ',\n "bands": '


def _bands(
    bands: Sequence[IntervalRule], plan_bands: Sequence[IntervalRule], lead_scales: Mapping[LeadScaleKey, float]
) -> str:
    single, double = (_list([_band(rule) for rule in rules], 2) for rules in (bands, plan_bands))
    scales = _list(
        ({**key._asdict(), "scale": _significant(scale, SCALE_DIGITS)} for key, scale in lead_scales.items()), 2
    )
    return f'{_BEFORE_BANDS}{single},\n "plan_bands": {double},\n "lead_scales": {scales}\n}}\n'


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _constant(parameters: ParameterVector, prior: ConstantPrior, values: Array, rows: NDArray[np.intp]) -> str:
    start = parameters.starts[prior.name]
    fields: dict[str, Any] = {"unit": prior.unit, "meaning": prior.meaning}
    if prior.source is not None:
        fields["source"] = prior.source
    fields["default"] = _significant(float(values[start]), DIGITS)
    overrides = [
        {
            "where": {key: list(allowed) for key, allowed in each.where.items()},
            "value": _significant(float(values[start + 1 + place]), DIGITS),
            "rows": int(rows[start + 1 + place]),
        }
        for place, each in enumerate(prior.overrides)
    ]
    head = ",\n".join(f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items())
    return "{\n" + head + ',\n   "overrides": ' + _list(overrides, 4) + "\n  }"


def _list(entries: Iterable[Mapping[str, Any]], indent: int) -> str:
    inside = ",\n".join(" " * indent + json.dumps(entry) for entry in entries)
    return f"[\n{inside}\n{' ' * (indent - 1)}]" if inside else "[]"


def _band(rule: IntervalRule) -> dict[str, Any]:
    fields: dict[str, Any] = {"figure": rule.figure, "basis": rule.basis}
    if rule.where:
        fields["where"] = {key: sorted(allowed) for key, allowed in rule.where.items()}
    fields["low"] = _significant(rule.low, BAND_DIGITS)
    fields["high"] = _significant(rule.high, BAND_DIGITS)
    return fields


def _coverage(runs: Sequence[BenchRun]) -> list[dict[str, Any]]:
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts[run.traits["generation"], run.traits["engine"]] += len(run.figures)
    return [
        {"generation": generation, "family": family, "rows": count}
        for (generation, family), count in sorted(counts.items())
    ]
