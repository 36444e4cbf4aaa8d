"""One group of measured operators: the terms of its formula, fitted, as entries for the calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerators import Accelerator
from gpudesk.evidence.least_squares import Array, Belief, Fitted, fit
from gpudesk.evidence.operator_rows import AttentionRow, CollectiveRow, GemmRow, OperatorRow

#: Where the rows leave more than this share of what was believed, they say nothing worth an entry.
NOTHING_LEARNT: Final = 0.5
#: What two runs of one call on one part differ by, as a logarithm: no entry is surer than this.
REPEAT: Final = 0.02

Where = Mapping[str, tuple[str, ...]]
Row = TypeVar("Row", GemmRow, AttentionRow, CollectiveRow)


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """One fitted constant: its value, the standard deviation of its logarithm, and the rows behind it.

    `kernels` is the library, empty where all share the value. `variant` is how a narrow matrix is scaled,
    `read` for streaming that writes nothing, `ceiling` where only the best shape of a search is known.
    `median_error` is of the seconds of those rows, as a share. `by_series` is what each part, source and
    library would give alone.
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
class Term:
    """A constant of a formula as its entry will name it, and the rows that it takes part in."""

    constant: str
    where: Where
    belief: Belief
    touches: NDArray[np.bool_]
    kernels: str = ""

    @property
    def name(self) -> Hashable:
        """What makes it the same term for other rows of the formula."""
        return self.constant, self.kernels, tuple(sorted(self.where.items()))


@dataclass(frozen=True, slots=True)
class Formula:
    """Terms, what predicts the seconds of the rows from their values, and which rows err together."""

    terms: tuple[Term, ...]
    predict: Callable[[Array], Array]
    clusters: Sequence[Hashable]


def part_of(row: OperatorRow) -> Accelerator:
    """Return the part of a row that is used, which the catalog has."""
    if row.part is None:
        raise ValueError(f"{row.id}: a row is used whose part the catalog does not have")
    return row.part


def series_of(row: OperatorRow) -> tuple[str, str, str]:
    """Who measured what: the part, the source and the library."""
    return part_of(row).id, row.source, row.kernels


def column(values: Iterable[float]) -> Array:
    """Return the values as an array."""
    return np.fromiter(values, dtype=np.float64)


def grouped(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[tuple[Row, ...]]:
    """The rows that are used, by key, in the order in which keys first appear."""
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        if row.unused is None:
            groups.setdefault(key(row), []).append(row)
    return [tuple(group) for group in groups.values()]


def _fitted(rows: Sequence[Row], formula: Callable[[Sequence[Row]], Formula]) -> tuple[Formula, Fitted]:
    built = formula(rows)
    beliefs = [term.belief for term in built.terms]
    seconds = column(row.seconds for row in rows)
    return built, fit(built.predict, seconds, beliefs, built.clusters, [series_of(row) for row in rows])


def _alone(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], Formula]
) -> dict[str, dict[Hashable, float]]:
    """What each series alone would give for each term that its rows say something about."""
    names = sorted({series_of(row) for row in rows})
    found = {}
    for name in names if len(names) > 1 else ():
        built, fitted = _fitted([row for row in rows if series_of(row) == name], formula)
        found[" ".join(name)] = {
            term.name: float(value)
            for term, value, left in zip(built.terms, fitted.values, fitted.left_open, strict=True)
            if left <= NOTHING_LEARNT
        }
    return found


def group_entries(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], Formula], variant: str = ""
) -> list[OperatorEntry]:
    """Fit a formula to rows of one generation; the scatter between series adds to the errors."""
    whole, fitted = _fitted(rows, formula)
    alone = _alone(rows, formula)
    entries = []
    for place, term in enumerate(whole.terms):
        if fitted.left_open[place] > NOTHING_LEARNT:
            continue
        by_series = tuple((name, found[term.name]) for name, found in alone.items() if term.name in found)
        scatter = scatter_of(value for _, value in by_series)
        errors = np.abs(np.expm1(fitted.residuals[term.touches]))
        entries.append(
            OperatorEntry(
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


def scatter_of(values: Iterable[float]) -> float:
    """Standard deviation of the logarithms; 0 for fewer than two values, which show none."""
    logs = np.log(column(values))
    return float(np.std(logs, ddof=1)) if len(logs) > 1 else 0.0
