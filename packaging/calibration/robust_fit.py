"""Robust fits of kernel formulas: terms with priors, groups of rows, and the resulting entries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibration.operator_runs import AttentionRun, CollectiveRun, GemmRun, KernelRun, OperatorRun
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import Precision

Array = NDArray[np.float64]

#: Spread of repeats of one call and of neighboring shapes, as a logarithm: residuals beyond it count linearly.
SCALE: Final = 0.1
#: Step of the derivatives, and the longest step of the search, both as logarithms.
DIFFERENCE: Final = 1e-5
LONGEST_STEP: Final = 0.7
#: The search ends when no constant changes by more than this share.
SETTLED: Final = 1e-9
MOST_STEPS: Final = 100


@dataclass(frozen=True, slots=True)
class LogNormalPrior:
    """The prior of a constant; `spread` is of its natural logarithm."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True)
class RobustFit:
    """Fitted constants, standard errors of their logarithms, and the residuals of the rows.

    `left_open` is the remaining share of each prior's spread: near 1 the rows are uninformative.
    """

    values: Array
    errors: Array
    left_open: Array
    residuals: Array


@dataclass(frozen=True, slots=True)
class _RobustProblem:
    """The objective: residuals of the rows, and distances of the constants from their priors."""

    predict: Callable[[Array], Array]
    target: Array
    counts: Array
    initial: Array
    precision: Array

    def residuals(self, logs: Array) -> Array:
        log_ratios: Array = np.log(self.predict(np.exp(logs))) - self.target
        return log_ratios

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
        """Weights of the rows, reduced beyond the scale."""
        weights: Array = self.counts / np.sqrt(1.0 + (residuals / SCALE) ** 2)
        return weights


def fit_robust(
    predict: Callable[[Array], Array],
    measured: Array,
    beliefs: Sequence[LogNormalPrior],
    clusters: Sequence[object],
    series: Sequence[object],
) -> RobustFit:
    """Fit the constants of `predict`, which takes their values and returns the prediction of each row.

    `clusters` groups rows with common errors (an accelerator and a matrix). `series` groups rows of one source: n rows
    of one series count as the root of n, so that a long series does not dominate.
    """
    sizes = Counter(series)
    counts = np.array([sizes[name] ** -0.5 for name in series])
    problem = _RobustProblem(
        predict,
        np.log(measured),
        counts / counts.mean(),
        np.log(np.array([belief.value for belief in beliefs])),
        np.diag([(SCALE / belief.spread) ** 2 for belief in beliefs]),
    )
    logs = _lowest(problem)
    inverse: Array = np.linalg.inv(_normal(problem, logs)).astype(np.float64)
    return RobustFit(
        values=np.exp(logs),
        errors=_errors(problem, logs, inverse, clusters),
        left_open=np.sqrt(np.diag(inverse) * np.diag(problem.precision)),
        residuals=problem.residuals(logs),
    )


def _normal(problem: _RobustProblem, logs: Array) -> Array:
    """Curvature of the loss: how strongly rows and priors together determine the constants."""
    slope = problem.slope(logs)
    normal: Array = slope.T @ (problem.weights(problem.residuals(logs))[:, None] * slope) + problem.precision
    return normal


def _lowest(problem: _RobustProblem) -> Array:
    logs, damping = problem.initial.copy(), 1e-3
    for _ in range(MOST_STEPS):
        residuals, slope = problem.residuals(logs), problem.slope(logs)
        normal = _normal(problem, logs)
        gradient = slope.T @ (problem.weights(residuals) * residuals) + problem.precision @ (logs - problem.initial)
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


def _errors(problem: _RobustProblem, logs: Array, inverse: Array, clusters: Sequence[object]) -> Array:
    """Standard errors of the logarithms of the constants.

    Rows of one cluster have common errors, which the formula for independent rows ignores; the larger of it and the
    clustered one is taken, since few clusters make the latter too small.
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


#: With a larger remaining share of the prior's spread, the rows are not worth an entry.
NOTHING_LEARNT: Final = 0.5
#: Spread of two runs of one call on one accelerator, as a logarithm: the minimum error of an entry.
REPEAT: Final = 0.02

Where = Mapping[str, tuple[str, ...]]
Row = TypeVar("Row", bound=GemmRun | AttentionRun | CollectiveRun | KernelRun)


@dataclass(frozen=True, slots=True)
class OperatorConstant:
    """One fitted constant: its value, the standard deviation of its logarithm, and the rows behind it.

    `kernels` is the library, empty if all share the value. `variant` is the scaling of a quantized matrix, `read` for
    read-only streaming, `ceiling` if only the best shape of a search is known. `median_error` is of the seconds of
    those rows, as a share. `by_series` are the values of each accelerator, source and library alone.
    """

    constant: str
    where: Where
    value: float
    sigma: float
    rows: int
    median_error: float
    kernels: str = ""
    variant: str = ""
    by_series: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class KernelTerm:
    """A constant of a formula with the name of its entry, and the rows that use it."""

    constant: str
    where: Where
    belief: LogNormalPrior
    touches: NDArray[np.bool_]
    kernels: str = ""

    @property
    def name(self) -> Hashable:
        """Identity of the term across rows of the formula."""
        return self.constant, self.kernels, tuple(sorted(self.where.items()))


@dataclass(frozen=True, slots=True)
class OperatorFormula:
    """Terms, the prediction of the rows' seconds from their values, and the clusters of rows."""

    terms: tuple[KernelTerm, ...]
    predict: Callable[[Array], Array]
    clusters: Sequence[Hashable]


def get_accelerator(row: OperatorRun) -> Accelerator:
    if row.part is None:
        raise ValueError(f"{row.id}: a row is used whose part the catalog does not have")
    return row.part


def get_series(row: OperatorRun) -> tuple[str, str, str]:
    """The source of a measurement: the accelerator, the publication and the library."""
    return get_accelerator(row).id, row.source, row.kernels


def to_array(values: Iterable[float]) -> Array:
    return np.fromiter(values, dtype=np.float64)


def find_library_engine(serving_engines: Mapping[str, str], kernels: str) -> dict[str, tuple[str, ...]]:
    """Return the key of the serving engine with a library's kernels; empty for a vendor's own library."""
    engine = serving_engines.get(kernels)
    return {} if engine is None else {"serving_engine": (engine,)}


def group_rows(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[tuple[Row, ...]]:
    """The used rows by key, in order of first appearance."""
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        if row.unused is None:
            groups.setdefault(key(row), []).append(row)
    return [tuple(group) for group in groups.values()]


def _fitted(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], OperatorFormula]
) -> tuple[OperatorFormula, RobustFit]:
    built = formula(rows)
    beliefs = [term.belief for term in built.terms]
    seconds = to_array(row.seconds for row in rows)
    return built, fit_robust(built.predict, seconds, beliefs, built.clusters, [get_series(row) for row in rows])


def _alone(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], OperatorFormula]
) -> dict[str, dict[Hashable, float]]:
    """The value of each term by each informative series alone."""
    names = sorted({get_series(row) for row in rows})
    values = {}
    for name in names if len(names) > 1 else ():
        built, fitted = _fitted([row for row in rows if get_series(row) == name], formula)
        values[" ".join(name)] = {
            term.name: float(value)
            for term, value, is_open in zip(built.terms, fitted.values, fitted.left_open, strict=True)
            if is_open <= NOTHING_LEARNT
        }
    return values


def fit_group(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], OperatorFormula], variant: str = ""
) -> list[OperatorConstant]:
    """Fit a formula to rows of one generation; the scatter between series adds to the errors."""
    whole, fitted = _fitted(rows, formula)
    alone = _alone(rows, formula)
    entries = []
    for place, term in enumerate(whole.terms):
        if fitted.left_open[place] > NOTHING_LEARNT:
            continue
        by_series = tuple((name, constants[term.name]) for name, constants in alone.items() if term.name in constants)
        scatter = compute_scatter(value for _, value in by_series)
        errors = np.abs(np.expm1(fitted.residuals[term.touches]))
        entries.append(
            OperatorConstant(
                constant=term.constant,
                where=term.where,
                value=float(fitted.values[place]),
                sigma=math.hypot(fitted.errors[place], scatter, REPEAT),
                rows=int(term.touches.sum()),
                median_error=float(np.median(errors)),
                kernels=term.kernels,
                variant=variant,
                by_series=by_series,
            )
        )
    return entries


def compute_scatter(values: Iterable[float]) -> float:
    """Standard deviation of the logarithms; 0 for fewer than two values."""
    logs = np.log(to_array(values))
    return float(np.std(logs, ddof=1)) if len(logs) > 1 else 0.0


#: Precisions that share an entry: their bytes and their arithmetic are equal.
FAMILIES: Final[Mapping[Precision, tuple[str, ...]]] = {
    Precision.FP16: ("fp16", "bf16"),
    Precision.BF16: ("fp16", "bf16"),
    Precision.FP8: ("fp8",),
    Precision.INT8: ("int8",),
    Precision.INT4: ("int4",),
    Precision.NVFP4: ("nvfp4", "fp4"),
    Precision.MXFP4: ("mxfp4",),
}
