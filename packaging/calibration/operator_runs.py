"""Measured operators of data/measurements/: each row is one kernel call on one accelerator."""

from __future__ import annotations

import csv
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import KV_BYTES, STORAGE_FORMATS, Precision

#: Bytes of one element of the activations around a product.
ACTIVATION_BYTES = 2
#: The key under which a record stores its file name.
_FILE = ""


class OperatorFileError(ValueError):
    """An unreadable row: the file, the row and the fault."""


@dataclass(frozen=True, slots=True)
class OperatorRun:
    """Common fields of a row: its name, source, accelerator and library, and why it is not used (or None).

    `part` is None if the catalog lacks the accelerator.
    """

    id: str
    source: str
    part: Accelerator | None
    kernels: str
    unused: str | None


@dataclass(frozen=True, slots=True)
class GemmRun(OperatorRun):
    """One product of m x k activations with a k x n matrix; `best` for the best shape of a search."""

    precision: Precision
    scheme: str
    m: int
    n: int
    k: int
    best: bool
    seconds: float

    @property
    def flops(self) -> float:
        return 2.0 * self.m * self.n * self.k

    @property
    def moved_bytes(self) -> float:
        """Bytes of the matrix with its scales, of the activations as multiplied, and of the result."""
        stored = STORAGE_FORMATS[self.precision]
        into = ACTIVATION_BYTES if self.scheme == "weight-only" else stored.bits / 8
        return stored.compute_tensor_bytes(self.n * self.k) + self.m * (self.k * into + self.n * ACTIVATION_BYTES)

    @property
    def arithmetic(self) -> Precision:
        return Precision.BF16 if self.scheme == "weight-only" else self.precision


@dataclass(frozen=True, slots=True)
class AttentionRun(OperatorRun):
    """Decode attention of one layer: each of `batch` sequences attends to `context` cached tokens."""

    precision: Precision
    batch: int
    context: int
    q_heads: int
    kv_heads: int
    head_dim: int
    seconds: float

    @property
    def cache_bytes(self) -> float:
        elements = 2 * self.batch * self.context * self.kv_heads * self.head_dim
        return elements * KV_BYTES[self.precision]


#: One in this many shapes is held out, so that a report can show the error on unseen shapes.
HELD_OUT_SHAPES: Final = 3


@dataclass(frozen=True, slots=True)
class KernelRun(OperatorRun):
    """One kernel of a class with held-out shapes, which are the same on all accelerators."""

    seconds: float

    @property
    def shape(self) -> tuple[int | str, ...]:
        raise NotImplementedError

    @property
    def is_held_out(self) -> bool:
        return zlib.crc32(repr(self.shape).encode()) % HELD_OUT_SHAPES == 0


@dataclass(frozen=True, slots=True)
class ExpertRun(KernelRun):
    """Routed experts of one layer on the most loaded rank: permutation, both products, activation and weighted sum.

    `intermediate` is that of a whole expert, which `tensor_ranks` divide; `expert_ranks` divide the experts.
    `routing_divided`: a rank moves only the rows of its own experts, see the constant of that name.
    """

    precision: Precision
    scheme: str
    tokens: int
    experts: int
    top_k: int
    hidden: int
    intermediate: int
    tensor_ranks: int
    expert_ranks: int
    routing_divided: bool = field(default=False, kw_only=True)

    @property
    def shape(self) -> tuple[int | str, ...]:
        return (*self.layer, self.tensor_ranks, self.expert_ranks, self.tokens)

    @property
    def layer(self) -> tuple[int, ...]:
        return self.experts, self.top_k, self.hidden, self.intermediate

    @property
    def expert_elements(self) -> float:
        """Elements of one expert on one rank."""
        return 3.0 * self.hidden * self.intermediate / self.tensor_ranks

    @property
    def stored_bytes(self) -> float:
        elements = self.experts * self.expert_elements / self.expert_ranks
        return STORAGE_FORMATS[self.precision].compute_tensor_bytes(round(elements))

    @property
    def arithmetic(self) -> Precision:
        if self.scheme == "weight-only":
            return Precision.BF16
        return Precision.FP8 if self.precision is Precision.MXFP4 else self.precision


@dataclass(frozen=True, slots=True)
class PromptRun(KernelRun):
    """Attention of one layer within prompts: each of `batch` sequences has `queries` new tokens."""

    attention: str
    batch: int
    queries: int
    q_heads: int
    kv_heads: int
    head_dim: int
    value_dim: int

    @property
    def shape(self) -> tuple[int | str, ...]:
        heads = self.q_heads, self.kv_heads, self.head_dim
        return (self.attention, *heads, self.batch, self.queries)


@dataclass(frozen=True, slots=True)
class LatentRun(KernelRun):
    """Decode attention of one layer over a latent cache, which all heads share."""

    precision: Precision
    batch: int
    context: int
    q_heads: int

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.precision, self.batch, self.context, self.q_heads


@dataclass(frozen=True, slots=True)
class CollectiveRun(OperatorRun):
    """One collective of `ranks` with a message of `size_bytes` on each."""

    operation: str
    ranks: int
    size_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BandwidthRun(OperatorRun):
    """One streaming kernel; `bandwidth` in bytes/s of reads and writes."""

    kernel: str
    bandwidth: float


@dataclass(frozen=True, slots=True)
class OperatorRuns:
    """All rows, used or not; `serving_engines` maps libraries to the engine with their kernels."""

    gemm: tuple[GemmRun, ...]
    attention: tuple[AttentionRun, ...]
    collectives: tuple[CollectiveRun, ...]
    bandwidth: tuple[BandwidthRun, ...]
    serving_engines: Mapping[str, str]
    experts: tuple[ExpertRun, ...] = ()
    prompts: tuple[PromptRun, ...] = ()
    latent: tuple[LatentRun, ...] = ()

    @property
    def all(self) -> tuple[OperatorRun, ...]:
        return (*self.gemm, *self.attention, *self.collectives, *self.bandwidth, *self.kernels)

    @property
    def kernels(self) -> tuple[KernelRun, ...]:
        return (*self.experts, *self.prompts, *self.latent)


def compute_bus_bytes(ranks: int, size_bytes: float) -> float:
    """Bytes that an all-reduce of `size_bytes` sends over the link of each rank."""
    return 2.0 * (ranks - 1) / ranks * size_bytes


def read_operator_runs(folder: Path, accelerators: Mapping[str, Accelerator]) -> OperatorRuns:
    """Read the files of `folder`, with accelerators by id; raises OperatorFileError that names the row."""
    words = _table(folder, "operators.toml")
    names = _table(folder, "aliases.toml")["accelerators"]
    parts = {name: accelerators[known_names] for name, known_names in names.items() if known_names in accelerators}
    reader = _OperatorReader(folder, parts, words)
    return OperatorRuns(
        gemm=tuple(reader.gemm(row) for row in reader.rows("gemm")),
        attention=tuple(reader.attention(row) for row in reader.rows("attention")),
        collectives=tuple(reader.collective(row) for row in reader.rows("collectives")),
        bandwidth=tuple(reader.bandwidth(row) for row in reader.rows("bandwidth")),
        serving_engines=words["serving_engines"],
        experts=tuple(reader.expert(row) for row in reader.rows("experts")),
        prompts=tuple(reader.prompt(row) for row in reader.rows("prefill")),
        latent=tuple(reader.latent(row) for row in reader.rows("latent")),
    )


def _table(folder: Path, name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


class _OperatorReader:
    """Turns the records of the files into rows, with accelerators by their names in the sources."""

    def __init__(self, folder: Path, parts: Mapping[str, Accelerator], words: Mapping[str, Mapping[str, str]]) -> None:
        self._folder = folder
        self._parts = parts
        self._reasons, self._engines = words["unused"], words["serving_engines"]

    def rows(self, kind: str) -> list[dict[str, str]]:
        name = f"operators-{kind}.csv"
        with (self._folder / name).open(encoding="utf-8", newline="") as file:
            return [{**row, _FILE: name} for row in csv.DictReader(file, strict=True)]

    def gemm(self, row: Mapping[str, str]) -> GemmRun:
        m, n, k = (_count(row, name) for name in ("m", "n", "k"))
        metric, value = _metric(row, "kernel_time", "rate", "best_rate"), _value(row)
        return GemmRun(
            *self._common(row),
            precision=_precision(row, "precision"),
            scheme=row["scheme"],
            m=m,
            n=n,
            k=k,
            best=metric == "best_rate",
            seconds=value if metric == "kernel_time" else 2.0 * m * n * k / value,
        )

    def attention(self, row: Mapping[str, str]) -> AttentionRun:
        _metric(row, "kernel_time")
        return AttentionRun(
            *self._common(row),
            precision=_precision(row, "kv_precision"),
            batch=_count(row, "batch"),
            context=_count(row, "context"),
            q_heads=_count(row, "q_heads"),
            kv_heads=_count(row, "kv_heads"),
            head_dim=_count(row, "head_dim"),
            seconds=_value(row),
        )

    def expert(self, row: Mapping[str, str]) -> ExpertRun:
        names = ("tokens", "experts", "top_k", "hidden", "intermediate", "tensor_ranks", "expert_ranks")
        read = ExpertRun(*self._timed(row), _precision(row, "precision"), row["scheme"], *_counts(row, *names))
        keys = {
            "serving_engine": self._engines.get(read.kernels),
            "precision": str(read.precision),
            "generation": None if read.part is None else read.part.generation,
        }
        is_divided = any(all(keys[key] in allowed for key, allowed in where.items()) for where in self._divided)
        return replace(read, routing_divided=is_divided)

    @cached_property
    def _divided(self) -> list[dict[str, list[str]]]:
        """Where `routing_divided` is 1, which no fit changes."""
        priors = tomllib.loads((self._folder.parent / "priors.toml").read_text(encoding="utf-8"))
        return [each["where"] for each in priors["routing_divided"]["overrides"] if each["value"]]

    def prompt(self, row: Mapping[str, str]) -> PromptRun:
        names = ("batch", "queries", "q_heads", "kv_heads", "head_dim", "value_dim")
        return PromptRun(*self._timed(row), row["attention"], *_counts(row, *names))

    def latent(self, row: Mapping[str, str]) -> LatentRun:
        return LatentRun(
            *self._timed(row), _precision(row, "kv_precision"), *_counts(row, "batch", "context", "q_heads")
        )

    def _timed(self, row: Mapping[str, str]) -> tuple[str, str, Accelerator | None, str, str | None, float]:
        _metric(row, "kernel_time")
        return (*self._common(row), _value(row))

    def collective(self, row: Mapping[str, str]) -> CollectiveRun:
        ranks, size = _count(row, "ranks"), _count(row, "bytes")
        metric, value = _metric(row, "collective_time", "bus_bandwidth"), _value(row)
        seconds = value if metric == "collective_time" else compute_bus_bytes(ranks, size) / value
        return CollectiveRun(*self._common(row), row["operation"], ranks, size, seconds)

    def bandwidth(self, row: Mapping[str, str]) -> BandwidthRun:
        _metric(row, "bandwidth")
        return BandwidthRun(*self._common(row), row["kernel"], _value(row))

    def _common(self, row: Mapping[str, str]) -> tuple[str, str, Accelerator | None, str, str | None]:
        name, reason = row["accelerator"], row["unused"] or None
        part = self._parts.get(name)
        if part is None and reason is None:
            raise _fault(row, f"nothing in the catalog is called {name!r}")
        if reason is not None and reason not in self._reasons:
            raise _fault(row, f"operators.toml does not explain {reason!r}")
        return row["id"], row["source"], part, row["kernels"], reason


def _fault(row: Mapping[str, str], problem: str) -> OperatorFileError:
    return OperatorFileError(f"{row[_FILE]}, row {row['id']}: {problem}")


def _metric(row: Mapping[str, str], *allowed: str) -> str:
    if row["metric"] not in allowed:
        raise _fault(row, f"metric is {row['metric']!r}, not one of {', '.join(allowed)}")
    return row["metric"]


def _precision(row: Mapping[str, str], column: str) -> Precision:
    try:
        return Precision(row[column])
    except ValueError as error:
        raise _fault(row, f"{column} is {row[column]!r}, which is no precision") from error


def _count(row: Mapping[str, str], column: str) -> int:
    if not row[column].isdecimal() or int(row[column]) == 0:
        raise _fault(row, f"{column} is {row[column]!r}, not a whole number above 0")
    return int(row[column])


def _counts(row: Mapping[str, str], *columns: str) -> list[int]:
    return [_count(row, column) for column in columns]


def _value(row: Mapping[str, str]) -> float:
    try:
        value = float(row["value"])
    except ValueError as error:
        raise _fault(row, f"value is {row['value']!r}, not a number") from error
    if not 0.0 < value < float("inf"):
        raise _fault(row, f"value is {row['value']!r}, not a finite number above 0")
    return value
