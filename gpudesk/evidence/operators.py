"""What single operators reach, fitted from measured calls of kernels: priors of the fit to whole engines.

    product          t0 + ((bytes / (bandwidth x e_w))^2 + (FLOPs / (peak x e_c))^2)^(1/2)
    decode attention t0 + cache bytes / (bandwidth x e_kv)
    all-reduce       the lesser of latency + (t - 1) x bytes / (link x e_d), each rank to each other, and
                     ring latency + 2 (t - 1) / t x bytes / (link x e_l), by ranks

by generation and precision; t0, collectives and products of FP8 scaled by blocks also by library. Each entry
has the name and the keys of a constant of the calibration, or is the fixed time of one call (`gemm_time`,
`attention_time`: a layer has several products and one attention), or is what plain streaming reaches
(`stream_efficiency`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.precision import Precision
from gpudesk.engine.hardware import Link, link, peak
from gpudesk.evidence.least_squares import Array, Belief
from gpudesk.evidence.operator_entries import (
    REPEAT,
    Formula,
    OperatorEntry,
    Term,
    Where,
    column,
    group_entries,
    grouped,
    part_of,
    scatter_of,
    series_of,
)
from gpudesk.evidence.operator_rows import (
    AttentionRow,
    BandwidthRow,
    CollectiveRow,
    GemmRow,
    OperatorRows,
    bus_bytes,
)

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
READ: Final = Belief(0.8, 0.5)
PRODUCT: Final = Belief(0.6, 0.5)
CALL: Final = Belief(1e-5, 1.2)
REDUCE: Final = Belief(1e-5, 1.5)
EXCHANGE: Final = Belief(4e-6, 1.5)
LINKED: Final = Belief(0.6, 1.0)

#: All collectives of the rows are of one host or one scale-up domain, so that no network port takes part.
NO_NETWORK: Final = 0.0
#: Streaming kernels that write nothing.
READING: Final = frozenset({"dot", "read"})


@dataclass(frozen=True, slots=True)
class OperatorFit:
    """All entries, and how many rows were used and left out."""

    entries: tuple[OperatorEntry, ...]
    used: int
    unused: int

    def find(
        self, constant: str, kernels: str | None = None, variant: str | None = None, **keys: str
    ) -> tuple[OperatorEntry, ...]:
        """Return the entries of a constant that hold for `keys`; None takes any library or variant."""
        return tuple(
            entry
            for entry in self.entries
            if entry.constant == constant
            and kernels in (None, entry.kernels)
            and variant in (None, entry.variant)
            and all(keys.get(name) in values for name, values in entry.where.items())
        )


def fit_operators(rows: OperatorRows) -> OperatorFit:
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


def _library(rows: OperatorRows, kernels: str) -> dict[str, tuple[str, ...]]:
    """The key of the serving engine whose kernels a library's are; none for a vendor's own library."""
    engine = rows.serving_engines.get(kernels)
    return {} if engine is None else {"serving_engine": (engine,)}


def _libraries(rows: Sequence[GemmRow]) -> dict[str, NDArray[np.bool_]]:
    """Which rows belong to each library."""
    names = sorted({row.kernels for row in rows})
    return {name: np.array([row.kernels == name for row in rows]) for name in names}


def _products(rows: OperatorRows) -> list[OperatorEntry]:
    """Matrix products by generation, precision and scheme: reading, arithmetic, and the time of a call."""

    def formula(group: Sequence[GemmRow]) -> Formula:
        where: Where = {
            "generation": (part_of(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read = column(row.moved_bytes / part_of(row).memory_bandwidth for row in group)
        work = column(row.flops / _peak(row) for row in group)
        libraries = _libraries(group)
        every = np.ones(len(group), dtype=np.bool_)
        alone = _apart(group[0])
        reached = {**where, **_library(rows, alone)}
        terms = [
            Term("weight_read_efficiency", reached, READ, every, alone),
            Term("gemm_efficiency", reached, PRODUCT, every, alone),
        ]
        terms += [
            Term("gemm_time", {**where, **_library(rows, name)}, CALL, mine, name)
            for name, mine in libraries.items()
        ]
        shares = np.stack(list(libraries.values())).astype(np.float64)

        def predict(values: Array) -> Array:
            busy: Array = np.hypot(read / values[0], work / values[1])
            called: Array = values[2:] @ shares
            return called + busy

        return Formula(tuple(terms), predict, [(part_of(row).id, row.n, row.k) for row in group])

    ordinary = (row for row in rows.gemm if not row.best)
    return [
        entry
        for group in grouped(
            ordinary,
            lambda row: (part_of(row).generation, FAMILIES[row.precision], row.scheme, _apart(row)),
        )
        for entry in group_entries(group, formula, group[0].scheme)
    ]


def _apart(row: GemmRow) -> str:
    """The library, for products of FP8 scaled by blocks, which each computes in its own way; else empty."""
    return row.kernels if row.precision is Precision.FP8 and row.scheme == "block" else ""


def _peak(row: GemmRow) -> float:
    stated = peak(part_of(row), row.arithmetic)
    if stated is None:
        raise ValueError(f"{row.id}: {part_of(row).id} states no peak for {row.arithmetic}")
    return stated.flops


def _ceilings(rows: Sequence[GemmRow], products: Sequence[OperatorEntry]) -> list[OperatorEntry]:
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
            key = (part_of(row).generation, FAMILIES[row.precision])
            best.setdefault(key, []).append(row.flops / row.seconds / _peak(row))
    ratios = np.log([usual[key] / np.median(found) for key, found in best.items() if key in usual])
    if len(ratios) < 2:
        return []
    typical, scatter = float(np.median(ratios)), float(np.std(ratios, ddof=1))
    return [
        OperatorEntry(
            constant="gemm_efficiency",
            where={"generation": (generation,), "precision": family},
            value=float(np.median(found) * np.exp(typical)),
            sigma=math.hypot(scatter, float(np.std(np.log(found))), REPEAT),
            rows=len(found),
            median_error=float(np.median(np.abs(np.expm1(ratios - typical)))),
            variant="ceiling",
        )
        for (generation, family), found in best.items()
        if (generation, family) not in usual
    ]


def _decode_attention(rows: OperatorRows) -> list[OperatorEntry]:
    """Decode attention by generation and format of the cache: reading, and the time of a call."""

    def formula(group: Sequence[AttentionRow]) -> Formula:
        where: Where = {
            "generation": (part_of(group[0]).generation,),
            "precision": FAMILIES[group[0].precision],
        }
        read = column(row.cache_bytes / part_of(row).memory_bandwidth for row in group)
        every = np.ones(len(group), dtype=np.bool_)
        kernels = group[0].kernels
        terms = (
            Term("kv_read_efficiency", where, READ, every, kernels),
            Term("attention_time", {**where, **_library(rows, kernels)}, CALL, every, kernels),
        )
        clusters = [(part_of(row).id, row.q_heads, row.context * row.batch) for row in group]
        return Formula(terms, lambda values: values[1] + read / values[0], clusters)

    groups = grouped(
        rows.attention, lambda row: (part_of(row).generation, FAMILIES[row.precision], row.kernels)
    )
    return [entry for group in groups for entry in group_entries(group, formula)]


def _link(row: CollectiveRow) -> Link:
    return link(part_of(row), row.ranks, NO_NETWORK)


def _rings(rows: OperatorRows) -> list[OperatorEntry]:
    """All-reduce of the vendors' libraries, around a ring: latency and share of the link, both by ranks.

    Over PCIe the share falls with the ranks, which share the lanes of their host; a switch that sums on the
    way raises it, above 1 even, since the formula counts the bytes of a ring.
    """

    def formula(group: Sequence[CollectiveRow]) -> Formula:
        terms, shares = _by_ranks(group, rows, {"ring_latency": REDUCE, "link_efficiency": LINKED})
        travel = column(bus_bytes(row.ranks, row.size_bytes) / _link(row).bandwidth for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return started + travel / reached

        return Formula(terms, predict, [(series_of(row), row.ranks) for row in group])

    ordinary = (row for row in rows.collectives if row.kernels not in rows.serving_engines)
    groups = grouped(ordinary, lambda row: (part_of(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in group_entries(group, formula)]


def _exchanges(rows: OperatorRows, rings: Sequence[OperatorEntry]) -> list[OperatorEntry]:
    """All-reduce by serving engines' own kernels, which send from each rank to each other.

    Latency and share of the link, both by ranks. Long messages are handed to the vendor's library where that
    is quicker.
    """
    known = {(entry.constant, *_place(entry.where)): entry.value for entry in rings}

    def formula(group: Sequence[CollectiveRow]) -> Formula:
        terms, shares = _by_ranks(group, rows, {"allreduce_latency": EXCHANGE, "direct_efficiency": LINKED})
        travel = column((row.ranks - 1) * row.size_bytes / _link(row).bandwidth for row in group)
        ring = column(_around(row, known) for row in group)

        def predict(values: Array) -> Array:
            started, reached = (each @ shares for each in np.split(values, 2))
            return np.minimum(started + travel / reached, ring)

        return Formula(terms, predict, [(series_of(row), row.ranks) for row in group])

    own = (row for row in rows.collectives if row.kernels in rows.serving_engines)
    groups = grouped(own, lambda row: (part_of(row).generation, _link(row).kind, row.kernels))
    return [entry for group in groups for entry in group_entries(group, formula)]


def _by_ranks(
    group: Sequence[CollectiveRow], rows: OperatorRows, beliefs: Mapping[str, Belief]
) -> tuple[tuple[Term, ...], Array]:
    """Terms of a latency and of a share of the link by ranks, and which of them each row takes."""
    where: Where = {
        "generation": (part_of(group[0]).generation,),
        "link": (_link(group[0]).kind,),
        **_library(rows, group[0].kernels),
    }
    ranks = sorted({row.ranks for row in group})
    touches = [np.array([row.ranks == count for row in group]) for count in ranks]
    terms = tuple(
        Term(name, {**where, "ranks": (str(count),)}, belief, mine, group[0].kernels)
        for name, belief in beliefs.items()
        for count, mine in zip(ranks, touches, strict=True)
    )
    return terms, np.stack(touches).astype(np.float64)


def _place(where: Where) -> tuple[str, ...]:
    return (*where["generation"], *where["link"], *where["ranks"])


def _around(row: CollectiveRow, rings: Mapping[tuple[str, ...], float]) -> float:
    """Seconds of an all-reduce by the vendor's library; endless where none was measured."""
    place = (part_of(row).generation, _link(row).kind, str(row.ranks))
    latency, share = rings.get(("ring_latency", *place)), rings.get(("link_efficiency", *place))
    if latency is None or share is None:
        return math.inf
    return latency + bus_bytes(row.ranks, row.size_bytes) / (_link(row).bandwidth * share)


def _streams(rows: Sequence[BandwidthRow]) -> list[OperatorEntry]:
    """Share of the peak bandwidth that streaming reaches, by generation: all kernels, and reading ones."""
    groups: dict[tuple[str, str], list[BandwidthRow]] = {}
    for row in rows:
        if row.unused is None:
            for variant in ("", "read") if row.kernel in READING else ("",):
                groups.setdefault((part_of(row).generation, variant), []).append(row)
    return [_stream(generation, variant, group) for (generation, variant), group in groups.items()]


def _stream(generation: str, variant: str, rows: Sequence[BandwidthRow]) -> OperatorEntry:
    by_series: dict[str, list[float]] = {}
    for row in rows:
        share = row.bandwidth / part_of(row).memory_bandwidth
        by_series.setdefault(" ".join(series_of(row)), []).append(share)
    shares = np.concatenate([np.array(found) for found in by_series.values()])
    value = float(np.median(shares))
    return OperatorEntry(
        constant="stream_efficiency",
        where={"generation": (generation,)},
        value=value,
        sigma=math.hypot(scatter_of(shares), REPEAT),
        rows=len(rows),
        median_error=float(np.median(np.abs(value / shares - 1.0))),
        variant=variant,
        by_series=tuple((name, float(np.median(found))) for name, found in sorted(by_series.items())),
    )
