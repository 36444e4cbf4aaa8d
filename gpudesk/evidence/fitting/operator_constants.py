"""Constants of single operators, fitted from measured kernel calls: priors of the calibration fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import Precision
from gpudesk.engine.step_work import RankLink, find_link, find_peak
from gpudesk.evidence.fitting.operator_runs import (
    AttentionRun,
    BandwidthRun,
    CollectiveRun,
    GemmRun,
    OperatorRun,
    OperatorRuns,
    compute_bus_bytes,
)

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
class LogNormalPrior:
    """What is believed of a constant before any row is looked at; `spread` is of its natural logarithm."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True)
class RobustFit:
    """Fitted constants, standard errors of their logarithms, and the residuals of the rows.

    `left_open` is the share of the spread of each belief that the rows leave: near 1 they say nothing.
    """

    values: Array
    errors: Array
    left_open: Array
    residuals: Array


@dataclass(frozen=True, slots=True)
class _RobustProblem:
    """What is minimised: residuals of the rows, and how far the constants are from what is believed."""

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
        """What rows count, and less where they are beyond the scale."""
        weights: Array = self.counts / np.sqrt(1.0 + (residuals / SCALE) ** 2)
        return weights


def fit_robust(
    predict: Callable[[Array], Array],
    measured: Array,
    beliefs: Sequence[LogNormalPrior],
    clusters: Sequence[object],
    series: Sequence[object],
) -> RobustFit:
    """Fit the constants of `predict`, which takes their values and returns what each row should measure.

    `clusters` names what rows share (a part and a matrix): errors of one cluster are taken as one. `series`
    names who measured what: n rows of one series count as the root of n, so that a long one does not decide.
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
    """Curvature of the loss: how sharply rows and beliefs together hold the constants."""
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


#: Where the rows leave more than this share of what was believed, they say nothing worth an entry.
NOTHING_LEARNT: Final = 0.5
#: What two runs of one call on one part differ by, as a logarithm: no entry is surer than this.
REPEAT: Final = 0.02

Where = Mapping[str, tuple[str, ...]]
Row = TypeVar("Row", GemmRun, AttentionRun, CollectiveRun)


@dataclass(frozen=True, slots=True)
class OperatorConstant:
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
class KernelTerm:
    """A constant of a formula as its entry will name it, and the rows that it takes part in."""

    constant: str
    where: Where
    belief: LogNormalPrior
    touches: NDArray[np.bool_]
    kernels: str = ""

    @property
    def name(self) -> Hashable:
        """What makes it the same term for other rows of the formula."""
        return self.constant, self.kernels, tuple(sorted(self.where.items()))


@dataclass(frozen=True, slots=True)
class OperatorFormula:
    """Terms, what predicts the seconds of the rows from their values, and which rows err together."""

    terms: tuple[KernelTerm, ...]
    predict: Callable[[Array], Array]
    clusters: Sequence[Hashable]


def _get_accelerator(row: OperatorRun) -> Accelerator:
    if row.part is None:
        raise ValueError(f"{row.id}: a row is used whose part the catalog does not have")
    return row.part


def _get_series(row: OperatorRun) -> tuple[str, str, str]:
    """Who measured what: the part, the source and the library."""
    return _get_accelerator(row).id, row.source, row.kernels


def _to_array(values: Iterable[float]) -> Array:
    return np.fromiter(values, dtype=np.float64)


def _group_rows(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[tuple[Row, ...]]:
    """The rows that are used, by key, in the order in which keys first appear."""
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
    seconds = _to_array(row.seconds for row in rows)
    return built, fit_robust(built.predict, seconds, beliefs, built.clusters, [_get_series(row) for row in rows])


def _alone(
    rows: Sequence[Row], formula: Callable[[Sequence[Row]], OperatorFormula]
) -> dict[str, dict[Hashable, float]]:
    """What each series alone would give for each term that its rows say something about."""
    names = sorted({_get_series(row) for row in rows})
    values = {}
    for name in names if len(names) > 1 else ():
        built, fitted = _fitted([row for row in rows if _get_series(row) == name], formula)
        values[" ".join(name)] = {
            term.name: float(value)
            for term, value, is_open in zip(built.terms, fitted.values, fitted.left_open, strict=True)
            if is_open <= NOTHING_LEARNT
        }
    return values


def _fit_group(
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
        scatter = _compute_scatter(value for _, value in by_series)
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


def _compute_scatter(values: Iterable[float]) -> float:
    """Standard deviation of the logarithms; 0 for fewer than two values, which show none."""
    logs = np.log(_to_array(values))
    return float(np.std(logs, ddof=1)) if len(logs) > 1 else 0.0


#: Precisions that share an entry: their bytes and their arithmetic are the same.
FAMILIES: Final[Mapping[Precision, tuple[str, ...]]] = {
    Precision.FP16: ("fp16", "bf16"),
    Precision.BF16: ("fp16", "bf16"),
    Precision.FP8: ("fp8",),
    Precision.INT8: ("int8",),
    Precision.INT4: ("int4",),
    Precision.NVFP4: ("nvfp4", "fp4"),
}

#: What is believed before any row: so wide that it decides only what the rows leave open.
READ: Final = LogNormalPrior(0.8, 0.5)
PRODUCT: Final = LogNormalPrior(0.6, 0.5)
CALL: Final = LogNormalPrior(1e-5, 1.2)
REDUCE: Final = LogNormalPrior(1e-5, 1.5)
EXCHANGE: Final = LogNormalPrior(4e-6, 1.5)
LINKED: Final = LogNormalPrior(0.6, 1.0)

#: All collectives of the rows are of one host or one scale-up domain, so that no network port takes part.
NO_NETWORK: Final = 0.0
#: Streaming kernels that write nothing.
READING: Final = frozenset({"dot", "read"})


@dataclass(frozen=True, slots=True)
class OperatorFit:
    """All entries, and how many rows were used and left out."""

    entries: tuple[OperatorConstant, ...]
    used: int
    unused: int

    def find(
        self, constant: str, kernels: str | None = None, variant: str | None = None, **keys: str
    ) -> tuple[OperatorConstant, ...]:
        """Return the entries of a constant that hold for `keys`; None takes any library or variant."""
        return tuple(
            entry
            for entry in self.entries
            if entry.constant == constant
            and kernels in (None, entry.kernels)
            and variant in (None, entry.variant)
            and all(keys.get(name) in values for name, values in entry.where.items())
        )


def fit_operators(rows: OperatorRuns) -> OperatorFit:
    """Fit every group of rows; deterministic."""
    products, rings = _products(rows), _rings(rows)
    entries = (
        *products,
        *_ceilings(rows.gemm, products),
        *_decode_attention(rows),
        *rings,
        *_exchanges(rows, rings),
        *_streams(rows.bandwidth),
    )
    used = sum(row.unused is None for row in rows.all)
    return OperatorFit(entries, used, len(rows.all) - used)


def _library(rows: OperatorRuns, kernels: str) -> dict[str, tuple[str, ...]]:
    """The key of the serving engine whose kernels a library's are; none for a vendor's own library."""
    engine = rows.serving_engines.get(kernels)
    return {} if engine is None else {"serving_engine": (engine,)}


def _libraries(rows: Sequence[GemmRun]) -> dict[str, NDArray[np.bool_]]:
    names = sorted({row.kernels for row in rows})
    return {name: np.array([row.kernels == name for row in rows]) for name in names}


def _products(rows: OperatorRuns) -> list[OperatorConstant]:
    """Matrix products by generation, precision and scheme: reading, arithmetic, and the time of a call."""

    def formula(group: Sequence[GemmRun]) -> OperatorFormula:
        where: Where = {
            "generation": (_get_accelerator(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read_time = _to_array(row.moved_bytes / _get_accelerator(row).memory_bandwidth for row in group)
        work = _to_array(row.flops / _peak(row) for row in group)
        libraries = _libraries(group)
        every = np.ones(len(group), dtype=np.bool_)
        alone = _apart(group[0])
        reached = {**where, **_library(rows, alone)}
        terms = [
            KernelTerm("weight_read_efficiency", reached, READ, every, alone),
            KernelTerm("gemm_efficiency", reached, PRODUCT, every, alone),
        ]
        terms += [
            KernelTerm("gemm_time", {**where, **_library(rows, name)}, CALL, mine, name)
            for name, mine in libraries.items()
        ]
        shares = np.stack(list(libraries.values())).astype(np.float64)

        def predict(values: Array) -> Array:
            busy: Array = np.hypot(read_time / values[0], work / values[1])
            predicted: Array = values[2:] @ shares
            return predicted + busy

        return OperatorFormula(tuple(terms), predict, [(_get_accelerator(row).id, row.n, row.k) for row in group])

    ordinary = (row for row in rows.gemm if not row.best)
    return [
        entry
        for group in _group_rows(
            ordinary, lambda row: (_get_accelerator(row).generation, FAMILIES[row.precision], row.scheme, _apart(row))
        )
        for entry in _fit_group(group, formula, group[0].scheme)
    ]


def _apart(row: GemmRun) -> str:
    """The library, for products of FP8 scaled by blocks, which each computes in its own way; else empty."""
    return row.kernels if row.precision is Precision.FP8 and row.scheme == "block" else ""


def _peak(row: GemmRun) -> float:
    stated = find_peak(_get_accelerator(row), row.arithmetic)
    if stated is None:
        raise ValueError(f"{row.id}: {_get_accelerator(row).id} states no peak for {row.arithmetic}")
    return stated.flops


def _ceilings(rows: Sequence[GemmRun], products: Sequence[OperatorConstant]) -> list[OperatorConstant]:
    """Arithmetic where a generation has nothing but the best shape of a search.

    What large products reach of that ceiling is taken from the generations that have both.
    """
    usual = {
        (*entry.where["generation"], entry.where["precision"]): entry.value
        for entry in products
        if entry.constant == "gemm_efficiency" and entry.variant in ("", "tensor")
    }
    best: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for row in rows:
        if row.best and row.unused is None:
            key = (_get_accelerator(row).generation, FAMILIES[row.precision])
            best.setdefault(key, []).append(row.flops / row.seconds / _peak(row))
    ratios = np.log([usual[key] / np.median(best_value) for key, best_value in best.items() if key in usual])
    if len(ratios) < 2:
        return []
    typical, scatter = float(np.median(ratios)), float(np.std(ratios, ddof=1))
    return [
        OperatorConstant(
            constant="gemm_efficiency",
            where={"generation": (generation,), "precision": family},
            value=float(np.median(best_value) * np.exp(typical)),
            sigma=math.hypot(scatter, float(np.std(np.log(best_value))), REPEAT),
            rows=len(best_value),
            median_error=float(np.median(np.abs(np.expm1(ratios - typical)))),
            variant="ceiling",
        )
        for (generation, family), best_value in best.items()
        if (generation, family) not in usual
    ]


def _decode_attention(rows: OperatorRuns) -> list[OperatorConstant]:
    """Decode attention by generation and format of the cache: reading, and the time of a call."""

    def formula(group: Sequence[AttentionRun]) -> OperatorFormula:
        where: Where = {
            "generation": (_get_accelerator(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read_time = _to_array(row.cache_bytes / _get_accelerator(row).memory_bandwidth for row in group)
        every = np.ones(len(group), dtype=np.bool_)
        kernels = group[0].kernels
        terms = (
            KernelTerm("kv_read_efficiency", where, READ, every, kernels),
            KernelTerm("attention_time", {**where, **_library(rows, kernels)}, CALL, every, kernels),
        )
        clusters = [(_get_accelerator(row).id, row.q_heads, row.context * row.batch) for row in group]
        return OperatorFormula(terms, lambda values: values[1] + read_time / values[0], clusters)

    groups = _group_rows(
        rows.attention, lambda row: (_get_accelerator(row).generation, FAMILIES[row.precision], row.kernels)
    )
    return [entry for group in groups for entry in _fit_group(group, formula)]


def _link(row: CollectiveRun) -> RankLink:
    return find_link(_get_accelerator(row), row.ranks, NO_NETWORK)


def _rings(rows: OperatorRuns) -> list[OperatorConstant]:
    """All-reduce of the vendors' libraries, around a ring: latency and share of the link, both by ranks.

    Over PCIe the share falls with the ranks, which share the lanes of their host; a switch that sums on the
    way raises it, above 1 even, since the formula counts the bytes of a ring.
    """

    def formula(group: Sequence[CollectiveRun]) -> OperatorFormula:
        terms, shares = _by_ranks(group, rows, {"ring_latency": REDUCE, "link_efficiency": LINKED})
        travel = _to_array(compute_bus_bytes(row.ranks, row.size_bytes) / _link(row).bandwidth for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return started + travel / reached

        return OperatorFormula(terms, predict, [(_get_series(row), row.ranks) for row in group])

    ordinary = (row for row in rows.collectives if row.kernels not in rows.serving_engines)
    groups = _group_rows(ordinary, lambda row: (_get_accelerator(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in _fit_group(group, formula)]


def _exchanges(rows: OperatorRuns, rings: Sequence[OperatorConstant]) -> list[OperatorConstant]:
    """All-reduce by serving engines' own kernels, which send from each rank to each other.

    Latency and share of the link, both by ranks. Long messages are handed to the vendor's library where that
    is quicker.
    """
    ring_values = {(entry.constant, *_place(entry.where)): entry.value for entry in rings}

    def formula(group: Sequence[CollectiveRun]) -> OperatorFormula:
        terms, shares = _by_ranks(group, rows, {"allreduce_latency": EXCHANGE, "direct_efficiency": LINKED})
        travel = _to_array((row.ranks - 1) * row.size_bytes / _link(row).bandwidth for row in group)
        ring = _to_array(_around(row, ring_values) for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return np.minimum(started + travel / reached, ring)

        return OperatorFormula(terms, predict, [(_get_series(row), row.ranks) for row in group])

    own = (row for row in rows.collectives if row.kernels in rows.serving_engines)
    groups = _group_rows(own, lambda row: (_get_accelerator(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in _fit_group(group, formula)]


def _by_ranks(
    group: Sequence[CollectiveRun], rows: OperatorRuns, beliefs: Mapping[str, LogNormalPrior]
) -> tuple[tuple[KernelTerm, ...], Array]:
    """Terms of a latency and of a share of the link by ranks, and which of them each row takes."""
    where: Where = {
        "generation": (_get_accelerator(group[0]).generation,),
        "link": (_link(group[0]).kind,),
        **_library(rows, group[0].kernels),
    }
    ranks = sorted({row.ranks for row in group})
    touches = [np.array([row.ranks == count for row in group]) for count in ranks]
    terms = tuple(
        KernelTerm(name, {**where, "ranks": (str(count),)}, belief, mine, group[0].kernels)
        for name, belief in beliefs.items()
        for count, mine in zip(ranks, touches, strict=True)
    )
    return terms, np.stack(touches).astype(np.float64)


def _place(where: Where) -> tuple[str, ...]:
    return (*where["generation"], *where["link"], *where["ranks"])


def _around(row: CollectiveRun, rings: Mapping[tuple[str, ...], float]) -> float:
    """Seconds of an all-reduce by the vendor's library; endless where none was measured."""
    place = (_get_accelerator(row).generation, _link(row).kind, str(row.ranks))
    latency, share = rings.get(("ring_latency", *place)), rings.get(("link_efficiency", *place))
    if latency is None or share is None:
        return math.inf
    return latency + compute_bus_bytes(row.ranks, row.size_bytes) / (_link(row).bandwidth * share)


def _streams(rows: Sequence[BandwidthRun]) -> list[OperatorConstant]:
    """Share of the peak bandwidth that streaming reaches, by generation: all kernels, and reading ones."""
    groups: dict[tuple[str, str], list[BandwidthRun]] = {}
    for row in rows:
        if row.unused is None:
            for variant in ("", "read") if row.kernel in READING else ("",):
                groups.setdefault((_get_accelerator(row).generation, variant), []).append(row)
    return [_stream(generation, variant, group) for (generation, variant), group in groups.items()]


def _stream(generation: str, variant: str, rows: Sequence[BandwidthRun]) -> OperatorConstant:
    by_series: dict[str, list[float]] = {}
    for row in rows:
        share = row.bandwidth / _get_accelerator(row).memory_bandwidth
        by_series.setdefault(" ".join(_get_series(row)), []).append(share)
    shares = np.concatenate([np.array(series_runs) for series_runs in by_series.values()])
    value = float(np.median(shares))
    return OperatorConstant(
        constant="stream_efficiency",
        where={"generation": (generation,)},
        value=value,
        sigma=math.hypot(_compute_scatter(shares), REPEAT),
        rows=len(rows),
        median_error=float(np.median(np.abs(value / shares - 1.0))),
        variant=variant,
        by_series=tuple((name, float(np.median(series_runs))) for name, series_runs in sorted(by_series.items())),
    )
