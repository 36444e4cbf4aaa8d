"""The fit: constants that bring predicted figures near the measured ones, and stay near what was believed.

Residuals are logarithms of predicted over measured. Each figure has a scale (what publishers differ by among
themselves); beyond it a residual counts linearly instead of quadratically (pseudo-Huber), so that single bad
rows cannot pull a constant. Runs of one series, model, accelerator and load count as the square root of their
number: they repeat each other. The search is Gauss-Newton with damping, on logarithms of the constants, and
deterministic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.evidence.bench import FIGURES, Bench, BenchRun
from gpudesk.evidence.parameters import Array, Parameters

#: Scale of the residuals of each figure, in the logarithm.
SCALES: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.08, "tpot_ms": 0.12, "ttft_ms": 0.20}
#: What a figure counts as missed by, in the logarithm, that was measured and is not predicted, since limits
#: are not met or a rate is too high. Less than one in a hundred others is missed by more.
UNANSWERED: Final = math.log(5.0)
#: Length of the step by which derivatives are taken, in the logarithm.
DIFFERENCE: Final = 1e-3
#: No constant moves further than this in one step, in the logarithm.
LONGEST_STEP: Final = 0.5
#: A step that gains less than this share of the loss is the last.
ENOUGH: Final = 5e-5
#: A constant nearer to its bound than this, in the logarithm, is at it.
AT_BOUND: Final = 1e-9
#: How often a step is shortened before the search ends: at the last, damping is a thousandfold.
MOST_TRIALS: Final = 16


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted values in the order of `Parameters`, the loss, and how many steps it took."""

    values: Array
    loss: float
    steps: int


@dataclass(frozen=True, slots=True)
class _Targets:
    """What is compared: for each figure the runs, logarithms of measured values, scales and weights."""

    runs: Mapping[str, NDArray[np.intp]]
    logs: Mapping[str, Array]
    weights: Array

    def residuals(self, figures: Mapping[str, Array]) -> Array:
        """Return how far figures are off; one that is not predicted at all is off by `UNANSWERED`."""
        return np.concatenate([self._counted(name, self._part(name, figures)) for name in FIGURES])

    def known(self, figures: Mapping[str, Array]) -> Array:
        """Return how far figures are off, NaN for those that are not predicted."""
        return np.concatenate([self._part(name, figures) for name in FIGURES])

    def _part(self, name: str, figures: Mapping[str, Array]) -> Array:
        with np.errstate(all="ignore"):
            part: Array = (np.log(figures[name][self.runs[name]]) - self.logs[name]) / SCALES[name]
        return np.where(np.isfinite(part), part, np.nan)

    @staticmethod
    def _counted(name: str, part: Array) -> Array:
        return np.where(np.isnan(part), UNANSWERED / SCALES[name], part)


def _weight_key(run: BenchRun) -> tuple[str, ...]:
    return tuple(run.traits[name] for name in ("series", "model", "accelerator", "load"))


def _targets(runs: Sequence[BenchRun], keep: NDArray[np.bool_]) -> _Targets:
    crowd = Counter(_weight_key(run) for run, kept in zip(runs, keep, strict=True) if kept)
    places = {
        name: np.array([p for p, run in enumerate(runs) if keep[p] and name in run.figures], dtype=np.intp)
        for name in FIGURES
    }
    logs = {name: np.log(np.array([runs[p].figures[name] for p in found])) for name, found in places.items()}
    weights = np.concatenate(
        [np.array([crowd[_weight_key(runs[p])] ** -0.5 for p in places[name]]) for name in FIGURES]
    )
    return _Targets(places, logs, weights)


def _loss(residuals: Array, weights: Array) -> float:
    """Pseudo-Huber loss: quadratic up to one scale, linear beyond."""
    return float(np.sum(weights * 2.0 * (np.sqrt(1.0 + residuals**2) - 1.0)))


def fit(
    bench: Bench,
    keep: NDArray[np.bool_] | None = None,
    start: Array | None = None,
    most_steps: int = 40,
    first_damping: float = 1.0,
) -> Fit:
    """Fit the constants to the runs of `keep` (all), starting at `start` (the prior values).

    Strong damping at first keeps the search from valleys that a change of plans closes off.
    """
    parameters = bench.parameters
    keep = np.ones(len(bench.runs), dtype=np.bool_) if keep is None else keep
    targets = _targets(bench.runs, keep)
    prior = _Prior(parameters)
    values = (parameters.initial if start is None else start).copy()
    predicted = bench.predict(values)
    loss = _loss(targets.residuals(predicted.figures), targets.weights) + prior.loss(values)
    damping, steps = first_damping, 0
    for _ in range(most_steps):
        residuals, slope = _linear(bench, targets, values, predicted.winners)
        curved = targets.weights / np.sqrt(1.0 + residuals**2)
        normal = slope.T @ (curved[:, None] * slope) + prior.normal
        gradient = slope.T @ (curved * residuals) + prior.gradient(values)
        for _ in range(MOST_TRIALS):
            moved = _moved(parameters, values, normal, gradient, damping)
            trial = bench.predict(moved)
            trial_loss = _loss(targets.residuals(trial.figures), targets.weights) + prior.loss(moved)
            if trial_loss < loss:
                break
            damping *= 4.0
        else:
            break
        gain = loss - trial_loss
        values, predicted, loss = moved, trial, trial_loss
        damping, steps = max(damping / 4.0, 1e-6), steps + 1
        if gain < ENOUGH * loss:
            break
    return Fit(values, loss, steps)


class _Prior:
    """What was believed, as a quadratic form of the logarithms that may move."""

    def __init__(self, parameters: Parameters) -> None:
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


def _linear(bench: Bench, targets: _Targets, values: Array, winners: NDArray[np.intp]) -> tuple[Array, Array]:
    """Residuals, and their derivatives by the logarithms of the constants that may move."""
    settled = bench.fixed(winners)
    figures = settled.figures(values)
    residuals, known = targets.residuals(figures), targets.known(figures)
    free = bench.parameters.free
    # What is not predicted, before or after, says that it is bad, but not in which direction it gets better.
    slope = np.empty((len(residuals), len(free)))
    for column, place in enumerate(free.tolist()):
        nudged = values.copy()
        nudged[place] *= np.exp(DIFFERENCE)
        changed = targets.known(settled.changed(figures, nudged, place))
        slope[:, column] = (changed - known) / DIFFERENCE
    return residuals, np.clip(np.nan_to_num(slope), -200.0, 200.0)


def _moved(parameters: Parameters, values: Array, normal: Array, gradient: Array, damping: float) -> Array:
    """Take a step that stays within the bounds and goes downhill.

    A constant that the step takes to its bound is held there, and the others are solved for again: clipped
    alone, they would go on as if it had moved further, and the search would end before its time.
    """
    free = parameters.free
    damped = normal + damping * np.diag(np.diag(normal))
    at = np.log(values[free])
    down, up = np.log(parameters.low[free]) - at, np.log(parameters.high[free]) - at
    held = ((down > -AT_BOUND) & (gradient > 0)) | ((up < AT_BOUND) & (gradient < 0))
    step = np.zeros(len(free))
    for _ in range(len(free)):
        inner = ~held
        rest = gradient[inner] + damped[np.ix_(inner, held)] @ step[held]
        solved = -np.linalg.solve(damped[np.ix_(inner, inner)], rest)
        step[inner] = np.clip(solved, -LONGEST_STEP, LONGEST_STEP)
        beyond = inner & ((step < down - AT_BOUND) | (step > up + AT_BOUND))
        if not beyond.any():
            break
        step[beyond] = np.clip(step[beyond], down[beyond], up[beyond])
        held |= beyond
    moved = values.copy()
    moved[free] = np.clip(values[free] * np.exp(step), parameters.low[free], parameters.high[free])
    return moved
