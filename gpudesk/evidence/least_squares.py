"""Robust least squares for formulas of a few positive constants.

Residuals are logarithms of predicted over measured. Beyond `SCALE` they count linearly (pseudo-Huber), so
that a kernel that was badly chosen for one shape does not pull the constants of all. The search is
Gauss-Newton with damping on the logarithms of the constants, started at what is believed of them, and
deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: What repeats of one call and neighbouring shapes differ by, as a logarithm: where residuals turn linear.
SCALE: Final = 0.1
#: Step of the derivatives, and the longest step of the search, both as logarithms.
DIFFERENCE: Final = 1e-5
LONGEST_STEP: Final = 0.7
#: The search ends when no constant moves by more than this share.
SETTLED: Final = 1e-9
MOST_STEPS: Final = 100


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of a constant before any row is looked at; `spread` is of its natural logarithm."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fitted constants, standard errors of their logarithms, and the residuals of the rows.

    `left_open` is the share of the spread of each belief that the rows leave: near 1 they say nothing.
    """

    values: Array
    errors: Array
    left_open: Array
    residuals: Array


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is minimised: residuals of the rows, and how far the constants are from what is believed."""

    predict: Callable[[Array], Array]
    target: Array
    counts: Array
    initial: Array
    precision: Array

    def residuals(self, logs: Array) -> Array:
        found: Array = np.log(self.predict(np.exp(logs))) - self.target
        return found

    def loss(self, logs: Array) -> float:
        scaled, shift = self.residuals(logs) / SCALE, logs - self.initial
        rows = 2.0 * SCALE**2 * float(self.counts @ (np.sqrt(1.0 + scaled**2) - 1.0))
        return rows + float(shift @ self.precision @ shift)

    def slope(self, logs: Array) -> Array:
        """Derivatives of the residuals by the logarithms of the constants, one column each."""
        nudges = np.eye(len(logs)) * DIFFERENCE
        columns = [self.residuals(logs + nudge) - self.residuals(logs - nudge) for nudge in nudges]
        return np.stack(columns, axis=1) / (2.0 * DIFFERENCE)

    def weights(self, residuals: Array) -> Array:
        """What rows count, and less where they are beyond the scale."""
        weights: Array = self.counts / np.sqrt(1.0 + (residuals / SCALE) ** 2)
        return weights


def fit(
    predict: Callable[[Array], Array],
    measured: Array,
    beliefs: Sequence[Belief],
    clusters: Sequence[object],
    series: Sequence[object],
) -> Fitted:
    """Fit the constants of `predict`, which takes their values and returns what each row should measure.

    `clusters` names what rows share (a part and a matrix): errors of one cluster are taken as one. `series`
    names who measured what: n rows of one series count as the root of n, so that a long one does not decide.
    """
    sizes = Counter(series)
    counts = np.array([sizes[name] ** -0.5 for name in series])
    problem = _Problem(
        predict,
        np.log(measured),
        counts / counts.mean(),
        np.log(np.array([belief.value for belief in beliefs])),
        np.diag([(SCALE / belief.spread) ** 2 for belief in beliefs]),
    )
    logs = _lowest(problem)
    inverse: Array = np.linalg.inv(_normal(problem, logs)).astype(np.float64)
    return Fitted(
        values=np.exp(logs),
        errors=_errors(problem, logs, inverse, clusters),
        left_open=np.sqrt(np.diag(inverse) * np.diag(problem.precision)),
        residuals=problem.residuals(logs),
    )


def _normal(problem: _Problem, logs: Array) -> Array:
    """Curvature of the loss: how sharply rows and beliefs together hold the constants."""
    slope = problem.slope(logs)
    normal: Array = slope.T @ (problem.weights(problem.residuals(logs))[:, None] * slope) + problem.precision
    return normal


def _lowest(problem: _Problem) -> Array:
    """Logarithms of the constants with the least loss, searched from what is believed."""
    logs, damping = problem.initial.copy(), 1e-3
    for _ in range(MOST_STEPS):
        residuals, slope = problem.residuals(logs), problem.slope(logs)
        normal = _normal(problem, logs)
        gradient = slope.T @ (problem.weights(residuals) * residuals) + problem.precision @ (
            logs - problem.initial
        )
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient)
        step = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if problem.loss(logs + step) > problem.loss(logs):
            damping *= 10.0
            if damping > 1e6:
                break
            continue
        logs, damping = logs + step, max(damping / 10.0, 1e-9)
        if np.max(np.abs(step)) < SETTLED:
            break
    return logs


def _errors(problem: _Problem, logs: Array, inverse: Array, clusters: Sequence[object]) -> Array:
    """Standard errors of the logarithms of the constants.

    Rows of one cluster err together, which the plain formula for independent rows does not know; the larger
    of it and the one that sums each cluster first is taken, since few clusters make the latter too small.
    """
    residuals, slope = problem.residuals(logs), problem.slope(logs)
    pulled = problem.weights(residuals) * residuals
    noise = max(float(np.mean(pulled**2)), (SCALE / 10.0) ** 2)
    names = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(names), len(logs)))
    np.add.at(sums, [names[cluster] for cluster in clusters], slope * pulled[:, None])
    few = len(names) / max(1, len(names) - 1)
    clustered = np.diag(inverse @ (few * sums.T @ sums) @ inverse)
    errors: Array = np.sqrt(np.maximum(noise * np.diag(inverse), clustered))
    return errors
