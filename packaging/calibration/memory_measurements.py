"""Memory printed by serving engines (data/measurements/memory.csv), as rows for comparison."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.engine.memory import MemoryBudget
from gpudesk.evidence.measured_runs import CellError, MeasurementRow, read_formats
from gpudesk.text.units import GIB

MEMORY_FILE: Final = "memory.csv"
#: Metrics of the memory left for the cache, the most relevant ones.
CACHE_METRICS: Final = ("cache", "kv_tokens")
#: A length at which the constant state of a sequence hardly matters to the tokens of a pool.
_LENGTH: Final = 8192
_UNITS: Final = {"kv_tokens": "tokens"}


class MemoryFileError(ValueError):
    """An unreadable row of the file, with the fault."""


@dataclass(frozen=True, slots=True)
class MemoryMeasurement:
    """One figure: in bytes, or in tokens for the metric `kv_tokens`.

    `request` describes the deployment (with any workload); `memory_bytes` is set if the measured accelerator has
    another memory size than the catalog's. `unused` is why it is not judged.
    """

    id: str
    source: str
    request: EstimateRequest
    memory_bytes: int | None
    metric: str
    value: float
    assumed: frozenset[str]
    unused: str | None
    note: str | None

    def part(self, accelerator: Accelerator) -> Accelerator:
        """Return the catalog's accelerator with the measured memory size."""
        return accelerator if self.memory_bytes is None else replace(accelerator, memory_bytes=self.memory_bytes)

    def predicted(self, budget: MemoryBudget) -> float:
        """Return the figure from a memory budget, in its unit."""
        pool = budget.usual_pool_bytes
        by_metric = {
            "cache": float(pool),
            "kv_tokens": pool * _LENGTH / budget.cache.sequence_bytes(_LENGTH),
            "weights": float(budget.weights_bytes),
            "activations": float(budget.activations_bytes),
            "driver_memory": float(budget.capacity_bytes),
        }
        return by_metric[self.metric]


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """A row with the program's value of its figure, in the unit of the row."""

    row: MemoryMeasurement
    predicted: float

    @property
    def ratio(self) -> float:
        return self.predicted / self.row.value


def read_memory_measurements(folder: Path) -> tuple[MemoryMeasurement, ...]:
    """Read every row of a folder of measurements; raises MemoryFileError that names the row."""
    words, aliases = (_table(folder, name) for name in ("memory.toml", "aliases.toml"))
    reader = _MemoryReader(words, aliases)
    rows: list[MemoryMeasurement] = []
    with (folder / MEMORY_FILE).open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file, strict=True)
        if tuple(lines.fieldnames or ()) != tuple(words["columns"]):
            raise MemoryFileError(f"{MEMORY_FILE}: the columns are not those of memory.toml")
        for cells in lines:
            row = MeasurementRow(MEMORY_FILE, lines.line_num, cells)
            try:
                rows.append(reader.row(row))
            except CellError as error:
                raise MemoryFileError(row.place(error)) from error
    return tuple(rows)


def _table(folder: Path, name: str) -> dict[str, Any]:
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


class _MemoryReader:
    """Turns cells into rows by the vocabulary of the two tables."""

    def __init__(self, words: Mapping[str, Any], aliases: Mapping[str, Any]) -> None:
        self._words = words
        self._models: dict[str, str] = aliases["models"] | words["models"]
        self._accelerators: dict[str, str] = aliases["accelerators"]
        self._seen_ids: set[str] = set()

    def row(self, row: MeasurementRow) -> MemoryMeasurement:
        cells = row.cells
        self._check(row)
        tokens = cells["metric"] == "kv_tokens"
        other = self._words["parts"].get(cells["accelerator"])
        return MemoryMeasurement(
            id=cells["id"],
            source=cells["source"],
            request=self._request(row),
            memory_bytes=None if other is None else other["memory_gib"] * GIB,
            metric=cells["metric"],
            value=row.number("value") * (1 if tokens else GIB),
            assumed=frozenset(row.assumed()),
            unused=cells["unused"] or None,
            note=cells["note"] or None,
        )

    def _check(self, row: MeasurementRow) -> None:
        cells = row.cells
        if cells["id"] in self._seen_ids:
            raise CellError("id", f"{cells['id']} is there twice")
        self._seen_ids.add(cells["id"])
        if cells["metric"] not in self._words["metrics"]:
            raise CellError("metric", f"memory.toml does not know {cells['metric']!r}")
        if cells["unit"] != _UNITS.get(cells["metric"], "GiB"):
            raise CellError("unit", f"is {cells['unit']!r}, the metric has another")
        if cells["unused"] and cells["unused"] not in self._words["unused"]:
            raise CellError("unused", f"memory.toml does not know {cells['unused']!r}")
        for name in row.assumed():
            if name not in cells:
                raise CellError("assumed", f"{name!r} is no column")

    def _request(self, row: MeasurementRow) -> EstimateRequest:
        cells = row.cells
        weights, kv = read_formats(row)
        tp, pp = row.whole("tp"), row.whole("pp")
        return EstimateRequest(
            accelerator=self._accelerator(row),
            model=self._model(row),
            weights=weights,
            kv=kv,
            workload=Workload(1, 1, Load(LoadKind.BATCH, batch=1), server=row.flag("server")),
            count=tp * pp,
            serving_engine=cells["serving_engine"],
            date=cells["date"],
            tp=tp,
            pp=pp,
            ep=row.whole("ep"),
            dp=1,
            attention_dp=row.flag("attention_dp"),
            memory_fraction=row.read_optional_number("memory_fraction"),
            max_batch=row.read_optional_whole("max_batch"),
            max_batched_tokens=row.read_optional_whole("max_batched_tokens"),
            id=cells["id"],
        )

    def _accelerator(self, row: MeasurementRow) -> str:
        name = row.cells["accelerator"]
        other = self._words["parts"].get(name)
        accelerator = self._accelerators.get(name) if other is None else str(other["like"])
        if accelerator is None and not row.cells["unused"]:
            raise CellError("accelerator", f"nothing in the catalog is called {name!r}")
        return accelerator or name

    def _model(self, row: MeasurementRow) -> str:
        name = row.cells["model"]
        if name not in self._models:
            raise CellError("model", f"nothing in the catalog is called {name!r}")
        return self._models[name]
