"""Constants of single operators, fitted from measured kernel calls: priors of the calibration fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.kernel_constants import fit_kernels
from calibration.operator_runs import (
    AttentionRun,
    BandwidthRun,
    CollectiveRun,
    GemmRun,
    OperatorRuns,
    compute_bus_bytes,
)
from calibration.robust_fit import (
    FAMILIES,
    REPEAT,
    Array,
    KernelTerm,
    LogNormalPrior,
    OperatorConstant,
    OperatorFormula,
    Where,
    compute_scatter,
    find_library_engine,
    fit_group,
    get_accelerator,
    get_series,
    group_rows,
    to_array,
)
from gpudesk.domain.precision import Precision
from gpudesk.engine.step_work import RankLink, find_link, find_peak

#: Priors of all terms: so wide that they decide only what the rows leave open.
READ: Final = LogNormalPrior(0.8, 0.5)
PRODUCT: Final = LogNormalPrior(0.6, 0.5)
CALL: Final = LogNormalPrior(1e-5, 1.2)
REDUCE: Final = LogNormalPrior(1e-5, 1.5)
EXCHANGE: Final = LogNormalPrior(4e-6, 1.5)
LINKED: Final = LogNormalPrior(0.6, 1.0)

#: All measured collectives are within one host or scale-up domain, so no network port is involved.
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
        """Return the entries of a constant for `keys`; None matches any library or variant."""
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
        *fit_kernels(rows),
    )
    used = sum(row.unused is None for row in rows.all)
    return OperatorFit(entries, used, len(rows.all) - used)


def _libraries(rows: Sequence[GemmRun]) -> dict[str, NDArray[np.bool_]]:
    names = sorted({row.kernels for row in rows})
    return {name: np.array([row.kernels == name for row in rows]) for name in names}


def _products(rows: OperatorRuns) -> list[OperatorConstant]:
    """Matrix products by generation, precision and scheme: reading, arithmetic, and call time."""

    def formula(group: Sequence[GemmRun]) -> OperatorFormula:
        where: Where = {
            "generation": (get_accelerator(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read_time = to_array(row.moved_bytes / get_accelerator(row).memory_bandwidth for row in group)
        work = to_array(row.flops / _peak(row) for row in group)
        libraries = _libraries(group)
        every = np.ones(len(group), dtype=np.bool_)
        alone = _apart(group[0])
        reached = {**where, **find_library_engine(rows.serving_engines, alone)}
        terms = [
            KernelTerm("weight_read_efficiency", reached, READ, every, alone),
            KernelTerm("gemm_efficiency", reached, PRODUCT, every, alone),
        ]
        terms += [
            KernelTerm("gemm_time", {**where, **find_library_engine(rows.serving_engines, name)}, CALL, mine, name)
            for name, mine in libraries.items()
        ]
        shares = np.stack(list(libraries.values())).astype(np.float64)

        def predict(values: Array) -> Array:
            busy: Array = np.hypot(read_time / values[0], work / values[1])
            predicted: Array = values[2:] @ shares
            return predicted + busy

        return OperatorFormula(tuple(terms), predict, [(get_accelerator(row).id, row.n, row.k) for row in group])

    ordinary = (row for row in rows.gemm if not row.best)
    return [
        entry
        for group in group_rows(
            ordinary, lambda row: (get_accelerator(row).generation, FAMILIES[row.precision], row.scheme, _apart(row))
        )
        for entry in fit_group(group, formula, group[0].scheme)
    ]


def _apart(row: GemmRun) -> str:
    """The library, for block-scaled FP8 products, which each computes differently; else empty."""
    return row.kernels if row.precision is Precision.FP8 and row.scheme == "block" else ""


def _peak(row: GemmRun) -> float:
    peak = find_peak(get_accelerator(row), row.arithmetic)
    if peak is None:
        raise ValueError(f"{row.id}: {get_accelerator(row).id} states no peak for {row.arithmetic}")
    return peak.flops


def _ceilings(rows: Sequence[GemmRun], products: Sequence[OperatorConstant]) -> list[OperatorConstant]:
    """Arithmetic of generations for which only the best shape of a search is known.

    The share of that ceiling for large products is taken from the generations with both.
    """
    usual = {
        (*entry.where["generation"], entry.where["precision"]): entry.value
        for entry in products
        if entry.constant == "gemm_efficiency" and entry.variant in ("", "tensor")
    }
    best: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for row in rows:
        if row.best and row.unused is None:
            key = (get_accelerator(row).generation, FAMILIES[row.precision])
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
    """Decode attention by generation and cache format: reading, and call time."""

    def formula(group: Sequence[AttentionRun]) -> OperatorFormula:
        where: Where = {
            "generation": (get_accelerator(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read_time = to_array(row.cache_bytes / get_accelerator(row).memory_bandwidth for row in group)
        every = np.ones(len(group), dtype=np.bool_)
        kernels = group[0].kernels
        terms = (
            KernelTerm("kv_read_efficiency", where, READ, every, kernels),
            KernelTerm(
                "attention_time", {**where, **find_library_engine(rows.serving_engines, kernels)}, CALL, every, kernels
            ),
        )
        clusters = [(get_accelerator(row).id, row.q_heads, row.context * row.batch) for row in group]
        return OperatorFormula(terms, lambda values: values[1] + read_time / values[0], clusters)

    groups = group_rows(
        rows.attention, lambda row: (get_accelerator(row).generation, FAMILIES[row.precision], row.kernels)
    )
    return [entry for group in groups for entry in fit_group(group, formula)]


def _link(row: CollectiveRun) -> RankLink:
    return find_link(get_accelerator(row), row.ranks, NO_NETWORK)


def _rings(rows: OperatorRuns) -> list[OperatorConstant]:
    """All-reduce of the vendors' libraries, as a ring: latency and share of the link, both by ranks.

    Over PCIe the share falls with the ranks, which share the lanes of their host; in-network reduction raises it, even
    above 1, since the formula counts the bytes of a ring.
    """

    def formula(group: Sequence[CollectiveRun]) -> OperatorFormula:
        terms, shares = _by_ranks(group, rows, {"ring_latency": REDUCE, "link_efficiency": LINKED})
        travel = to_array(compute_bus_bytes(row.ranks, row.size_bytes) / _link(row).bandwidth for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return started + travel / reached

        return OperatorFormula(terms, predict, [(get_series(row), row.ranks) for row in group])

    ordinary = (row for row in rows.collectives if row.kernels not in rows.serving_engines)
    groups = group_rows(ordinary, lambda row: (get_accelerator(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in fit_group(group, formula)]


def _exchanges(rows: OperatorRuns, rings: Sequence[OperatorConstant]) -> list[OperatorConstant]:
    """All-reduce by serving engines' own kernels, which send directly between all ranks.

    Latency and share of the link, both by ranks. Long messages go to the vendor's library if that is faster.
    """
    ring_values = {(entry.constant, *_place(entry.where)): entry.value for entry in rings}

    def formula(group: Sequence[CollectiveRun]) -> OperatorFormula:
        terms, shares = _by_ranks(group, rows, {"allreduce_latency": EXCHANGE, "direct_efficiency": LINKED})
        travel = to_array((row.ranks - 1) * row.size_bytes / _link(row).bandwidth for row in group)
        ring = to_array(_around(row, ring_values) for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return np.minimum(started + travel / reached, ring)

        return OperatorFormula(terms, predict, [(get_series(row), row.ranks) for row in group])

    own = (row for row in rows.collectives if row.kernels in rows.serving_engines)
    groups = group_rows(own, lambda row: (get_accelerator(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in fit_group(group, formula)]


def _by_ranks(
    group: Sequence[CollectiveRun], rows: OperatorRuns, beliefs: Mapping[str, LogNormalPrior]
) -> tuple[tuple[KernelTerm, ...], Array]:
    """Terms of a latency and of a share of the link by ranks, and the terms of each row."""
    where: Where = {
        "generation": (get_accelerator(group[0]).generation,),
        "link": (_link(group[0]).kind,),
        **find_library_engine(rows.serving_engines, group[0].kernels),
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
    """Seconds of an all-reduce by the vendor's library; infinite if none was measured."""
    place = (get_accelerator(row).generation, _link(row).kind, str(row.ranks))
    latency, share = rings.get(("ring_latency", *place)), rings.get(("link_efficiency", *place))
    if latency is None or share is None:
        return math.inf
    return latency + compute_bus_bytes(row.ranks, row.size_bytes) / (_link(row).bandwidth * share)


def _streams(rows: Sequence[BandwidthRun]) -> list[OperatorConstant]:
    """Share of the peak bandwidth in streaming, by generation: all kernels, and reading ones."""
    groups: dict[tuple[str, str], list[BandwidthRun]] = {}
    for row in rows:
        if row.unused is None:
            for variant in ("", "read") if row.kernel in READING else ("",):
                groups.setdefault((get_accelerator(row).generation, variant), []).append(row)
    return [_stream(generation, variant, group) for (generation, variant), group in groups.items()]


def _stream(generation: str, variant: str, rows: Sequence[BandwidthRun]) -> OperatorConstant:
    by_series: dict[str, list[float]] = {}
    for row in rows:
        share = row.bandwidth / get_accelerator(row).memory_bandwidth
        by_series.setdefault(" ".join(get_series(row)), []).append(share)
    shares = np.concatenate([np.array(series_runs) for series_runs in by_series.values()])
    value = float(np.median(shares))
    return OperatorConstant(
        constant="stream_efficiency",
        where={"generation": (generation,)},
        value=value,
        sigma=math.hypot(compute_scatter(shares), REPEAT),
        rows=len(rows),
        median_error=float(np.median(np.abs(value / shares - 1.0))),
        variant=variant,
        by_series=tuple((name, float(np.median(series_runs))) for name, series_runs in sorted(by_series.items())),
    )
