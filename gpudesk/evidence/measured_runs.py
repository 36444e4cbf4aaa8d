"""Published end-to-end runs of data/measurements/: read, checked and converted to figures."""

from __future__ import annotations

import csv
import hashlib
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, message_n

#: Figures of an estimate that published rows are compared with: the rate of the whole deployment in output tokens, and
#: the times of first and further tokens.
MEASURED_FIGURES = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


@frozen_dataclass
class MeasuredFigure:
    """One figure of a run, converted, with its row and the metric as published."""

    row: str
    metric: str
    value: float


@frozen_dataclass
class MeasuredRun:
    """One run with all its measured figures by name.

    `request` is the same run as a request in the names of the catalog; its id is that of the run. `accelerator` and
    `model` are the names in the source. `assumed` names columns that the source leaves open.
    """

    id: str
    source: str
    series: str
    accelerator: str
    model: str
    engine_version: str | None
    request: EstimateRequest
    measured: Mapping[str, MeasuredFigure]
    assumed: frozenset[str]
    note: str | None

    @property
    def figures(self) -> dict[str, float]:
        return {name: figure.value for name, figure in self.measured.items()}


@frozen_dataclass
class UnusedMeasurement:
    """A published figure that is stored and shown, but neither fitted nor judged; `reason` is a key.

    Value and unit are as published; accelerator and model are the names in the source, which the catalog need not have.
    """

    id: str
    run: str
    source: str
    series: str
    accelerator: str
    model: str
    metric: str
    value: float
    unit: str
    reason: str
    note: str | None


@frozen_dataclass
class MeasuredRunSet:
    """All published runs. `reasons` are the sentences for reasons.

    `revision` is the SHA-256 of the source files.
    """

    used: tuple[MeasuredRun, ...]
    unused: tuple[UnusedMeasurement, ...]
    reasons: Mapping[str, str]
    revision: str


_T = TypeVar("_T")

_MONTH: Final = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")
_FLAGS: Final = {"true": True, "false": False}
#: Spread of lengths: none, a tenth, uniform from zero to twice the mean, or as in real traffic.
_LENGTHS: Final = {"fixed": 0.0, "near": 0.05, "uniform": 0.45, "varied": 1.0}
_PRECISIONS: Final = {precision.value: precision for precision in Precision}
_LOADS: Final = {kind.value: kind for kind in LoadKind}
_KV: Final = {precision.value: precision for precision in KV_BYTES}


class CellError(Exception):
    """A fault in one cell."""

    def __init__(self, column: str, problem: str) -> None:
        super().__init__(f"{column}: {problem}")


@frozen_dataclass
class MeasurementRow:
    """One row of a file with its cells by column; an empty cell is unknown or left to the program."""

    file: str
    line: int
    cells: Mapping[str, str]

    def place(self, error: CellError) -> str:
        return f"{self.file}, line {self.line}: {error}"

    def assumed(self) -> tuple[str, ...]:
        return tuple(filter(None, self.cells["assumed"].split(";")))

    def number(self, column: str) -> float:
        cell = self.cells[column]
        try:
            value = float(cell)
        except ValueError:
            raise CellError(column, f"{cell!r} is not a number") from None
        if not math.isfinite(value) or value <= 0:
            raise CellError(column, f"{cell!r} is not above zero")
        return value

    def read_optional_number(self, column: str) -> float | None:
        return self.number(column) if self.cells[column] else None

    def whole(self, column: str) -> int:
        """Return a whole number of at least 1."""
        cell = self.cells[column]
        if not cell.isdecimal() or int(cell) < 1:
            raise CellError(column, f"{cell!r} is no whole number of at least 1")
        return int(cell)

    def read_optional_whole(self, column: str) -> int | None:
        """Return a whole number of at least 1, or None if the cell is empty."""
        return self.whole(column) if self.cells[column] else None

    def flag(self, column: str) -> bool:
        return _look_up_word(self, column, _FLAGS)

    def read_optional_flag(self, column: str) -> bool | None:
        return self.flag(column) if self.cells[column] else None

    def tokens(self, column: str) -> int:
        return max(1, round(self.number(column)))


def _look_up_word(row: MeasurementRow, column: str, words: Mapping[str, _T]) -> _T:
    cell = row.cells[column]
    if cell not in words:
        raise CellError(column, f"{cell!r} is none of {', '.join(words)}")
    return words[cell]


def read_formats(row: MeasurementRow) -> tuple[Precision, Precision]:
    return _look_up_word(row, "weights", _PRECISIONS), _look_up_word(row, "kv", _KV)


def make_estimate_request(row: MeasurementRow, accelerator: str, model: str) -> EstimateRequest:
    """Return the request for the figures of a run; accelerator and model are catalog ids."""
    date = row.cells["date"]
    weights, kv = read_formats(row)
    if not _MONTH.fullmatch(date):
        raise CellError("date", f"{date!r} is no month (YYYY-MM)")
    spread = _look_up_word(row, "lengths", _LENGTHS)
    return EstimateRequest(
        accelerator=accelerator,
        model=model,
        weights=weights,
        kv=kv,
        workload=Workload(
            input_tokens=row.tokens("input_tokens"),
            output_tokens=row.tokens("output_tokens"),
            load=_read_load(row),
            varied=spread > 0,
            spread=spread or 1.0,
            server=row.flag("server"),
            prefix_hit_rate=row.read_optional_number("prefix_hit_rate") or 0.0,
            eager=row.flag("eager"),
        ),
        count=row.whole("count"),
        serving_engine=row.cells["serving_engine"] or None,
        date=date,
        tp=row.read_optional_whole("tp"),
        pp=row.read_optional_whole("pp"),
        ep=row.read_optional_whole("ep"),
        dp=row.read_optional_whole("dp"),
        attention_dp=row.read_optional_flag("attention_dp"),
        memory_fraction=row.read_optional_number("memory_fraction"),
        max_batch=row.read_optional_whole("max_batch"),
        max_batched_tokens=row.read_optional_whole("max_batched_tokens"),
        id=row.cells["run"],
    )


def _read_load(row: MeasurementRow) -> Load:
    kind = _look_up_word(row, "load", _LOADS)
    if kind is LoadKind.BATCH:
        return Load(kind, batch=row.whole("amount"))
    if kind is LoadKind.CONCURRENCY:
        return Load(kind, concurrency=row.whole("amount"), requests=row.read_optional_whole("requests"))
    if kind is LoadKind.SATURATE:
        return Load(kind, requests=row.whole("requests"))
    if kind is LoadKind.REQUEST_RATE:
        return Load(kind, request_rate=row.number("amount"))
    return Load(kind, ttft_ms=row.number("ttft_limit_ms"), tpot_ms=row.number("tpot_limit_ms"))


#: Columns that tell the figures of one run apart; all other columns are conditions of the run.
OF_A_FIGURE: Final = ("id", "metric", "value", "unit", "assumed", "unused", "note")
#: With fewer output tokens, TPOT is meaningless.
LEAST_OUTPUT_TOKENS: Final = 8
_TABLES: Final = ("aliases.toml", "metrics.toml", "unused.toml")

#: Shared by most of 4,000 runs: an empty set takes 216 bytes.
_NOTHING_ASSUMED: Final[frozenset[str]] = frozenset()
#: Takes the common cells of the rows of one run.
RunCells = Callable[[Mapping[str, str]], tuple[str, ...]]


class MeasurementsError(InputError):
    """The measurement files contradict themselves; `problems` has every fault with file and line."""

    def __init__(self, problems: Iterable[str]) -> None:
        """Keep all problems; the message shows the first and how many there are."""
        self.problems = tuple(problems)
        count, first = len(self.problems), self.problems[0]
        super().__init__(
            message_n(
                "catalog.data",
                "the data files have an error: {first}",
                "the data files have {count} errors, the first: {first}",
                "count",
                count=count,
                first=first,
            )
        )

    def __str__(self) -> str:
        return "\n".join(self.problems)


@frozen_dataclass
class _MetricDefinition:
    """How a metric becomes a figure: which tokens a rate counts, and for which devices."""

    unit: str
    definition: str
    figure: str | None = None
    counts: str | None = None
    per: str | None = None


@frozen_dataclass
class _MeasurementTables:
    columns: tuple[str, ...]
    metrics: Mapping[str, _MetricDefinition]
    reasons: Mapping[str, str]
    accelerators: Mapping[str, str]
    models: Mapping[str, str]
    known_names: frozenset[str]


def list_run_files(folder: Path) -> tuple[Path, ...]:
    """Return the files of runs in the order in which they are read."""
    return tuple(sorted(folder.glob("runs-*.csv")))


def read_measured_runs(folder: Path) -> MeasuredRunSet:
    """Read every published run of a folder; raises `MeasurementsError` with all faults of its rows."""
    digest = hashlib.sha256()
    tables = _read_tables({name: _read_into_digest(folder / name, digest) for name in _TABLES})
    problems: list[str] = []
    used: list[MeasuredRun] = []
    unused: list[UnusedMeasurement] = []
    ids: set[str] = set()
    runs: set[str] = set()
    # One file after the other: the cells of all rows together would take 13 MB, twice the size of the runs.
    for path in list_run_files(folder):
        rows = _read_rows(path.name, _read_into_digest(path, digest), tables, problems)
        more_used, more_unused = _runs(rows, tables, ids, runs, problems)
        used += more_used
        unused += more_unused
    if problems:
        raise MeasurementsError(problems)
    return MeasuredRunSet(used=tuple(used), unused=tuple(unused), reasons=tables.reasons, revision=digest.hexdigest())


def _read_into_digest(path: Path, digest: hashlib._Hash) -> bytes:
    content = path.read_bytes()
    digest.update(path.name.encode() + b"\0" + content)
    return content


def _read_tables(contents: Mapping[str, bytes]) -> _MeasurementTables:
    aliases, metrics, unused = (tomllib.loads(contents[name].decode()) for name in _TABLES)
    absent: dict[str, dict[str, str]] = aliases["absent"]
    known_names = (aliases["accelerators"], aliases["models"], *absent.values())
    return _MeasurementTables(
        columns=tuple(metrics["columns"]),
        metrics=MappingProxyType({name: _MetricDefinition(**entry) for name, entry in metrics["metrics"].items()}),
        reasons=MappingProxyType(unused["reasons"]),
        accelerators=MappingProxyType(aliases["accelerators"]),
        models=MappingProxyType(aliases["models"]),
        known_names=frozenset(name for table in known_names for name in table),
    )


def _read_rows(file: str, content: bytes, tables: _MeasurementTables, problems: list[str]) -> Iterator[MeasurementRow]:
    lines = csv.reader(content.decode().splitlines(), strict=True)
    header = tuple(next(lines, ()))
    if header != tables.columns:
        problems.append(f"{file}, line 1: the columns are not those of metrics.toml")
        return
    for cells in lines:
        if len(cells) != len(header):
            problems.append(f"{file}, line {lines.line_num}: has {len(cells)} cells, not {len(header)}")
            continue
        # Names occur in many rows and stay in memory with the runs.
        yield MeasurementRow(file, lines.line_num, dict(zip(header, map(sys.intern, cells), strict=True)))


def _runs(
    rows: Iterable[MeasurementRow], tables: _MeasurementTables, ids: set[str], runs: set[str], problems: list[str]
) -> tuple[list[MeasuredRun], list[UnusedMeasurement]]:
    """Combine the rows of each run; faults are added to `problems`.

    `ids` and `runs` are those of the files before this one; those of this file are added.
    """
    unused: list[UnusedMeasurement] = []
    groups: dict[str, list[MeasurementRow]] = {}
    first: dict[str, MeasurementRow] = {}
    conditions: RunCells = itemgetter(*(name for name in tables.columns if name not in OF_A_FIGURE))
    for row in rows:
        try:
            _check_row(row, tables, ids)
            _check_same_run(row, first.setdefault(row.cells["run"], row), runs, conditions)
            if row.cells["unused"]:
                unused.append(_read_unused(row))
            else:
                groups.setdefault(row.cells["run"], []).append(row)
        except CellError as error:
            problems.append(row.place(error))
    runs.update(first)
    used: list[MeasuredRun] = []
    for run in groups.values():
        try:
            used.append(_run(run, tables))
        except CellError as error:
            problems.append(run[0].place(error))
    return used, unused


def _check_row(row: MeasurementRow, tables: _MeasurementTables, ids: set[str]) -> None:
    """Refuse a duplicate row and names that the tables lack."""
    cells = row.cells
    for name in ("id", "run", "source", "series"):
        if not cells[name]:
            raise CellError(name, "is empty")
    if cells["id"] in ids:
        raise CellError("id", f"{cells['id']} is there twice")
    ids.add(cells["id"])
    for name in ("accelerator", "model"):
        if cells[name] not in tables.known_names:
            raise CellError(name, f"aliases.toml does not know {cells[name]!r}")
    if cells["unused"] and cells["unused"] not in tables.reasons:
        raise CellError("unused", f"unused.toml does not know {cells['unused']!r}")
    for name in row.assumed():
        if not cells.get(name):
            raise CellError("assumed", f"{name!r} is no column, or is empty")
    _check_metric(row, tables)


def _check_metric(row: MeasurementRow, tables: _MeasurementTables) -> None:
    metric = tables.metrics.get(row.cells["metric"])
    if metric is None:
        raise CellError("metric", f"metrics.toml does not know {row.cells['metric']!r}")
    if row.cells["unit"] != metric.unit:
        raise CellError("unit", f"is {row.cells['unit']!r}, the metric has {metric.unit!r}")


def _check_same_run(row: MeasurementRow, first: MeasurementRow, runs: set[str], conditions: RunCells) -> None:
    if row.cells["run"] in runs:
        raise CellError("run", f"{row.cells['run']} is in another file too")
    if row is first or conditions(row.cells) == conditions(first.cells):
        return
    for name, cell in row.cells.items():
        if name not in OF_A_FIGURE and cell != first.cells[name]:
            raise CellError(name, f"is {cell!r}, but {first.cells[name]!r} in line {first.line} of the same run")


def _read_unused(row: MeasurementRow) -> UnusedMeasurement:
    cells = row.cells
    return UnusedMeasurement(
        id=cells["id"],
        run=cells["run"],
        source=cells["source"],
        series=cells["series"],
        accelerator=cells["accelerator"],
        model=cells["model"],
        metric=cells["metric"],
        value=row.number("value"),
        unit=cells["unit"],
        reason=cells["unused"],
        note=cells["note"] or None,
    )


def _run(rows: list[MeasurementRow], tables: _MeasurementTables) -> MeasuredRun:
    row, cells = rows[0], rows[0].cells
    names: dict[str, str] = {}
    for kind, known_names in (("accelerator", tables.accelerators), ("model", tables.models)):
        if cells[kind] not in known_names:
            raise CellError(kind, f"{cells[kind]!r} is not in the catalog, so the row cannot be used")
        names[kind] = known_names[cells[kind]]
    return MeasuredRun(
        id=cells["run"],
        source=cells["source"],
        series=cells["series"],
        accelerator=cells["accelerator"],
        model=cells["model"],
        engine_version=cells["engine_version"] or None,
        request=make_estimate_request(row, names["accelerator"], names["model"]),
        measured=MappingProxyType(dict(_list_figures(rows, tables))),
        assumed=frozenset(name for each in rows for name in each.assumed()) or _NOTHING_ASSUMED,
        note=cells["note"] or None,
    )


def _list_figures(rows: list[MeasurementRow], tables: _MeasurementTables) -> Iterator[tuple[str, MeasuredFigure]]:
    """Yield name and figure of every row of a run; each name once."""
    names: set[str] = set()
    for row in rows:
        metric = tables.metrics[row.cells["metric"]]
        if metric.figure not in MEASURED_FIGURES:
            raise CellError("metric", f"{row.cells['metric']!r} is no figure of an estimate")
        if metric.figure in names:
            raise CellError("metric", f"the run has two figures for {metric.figure}")
        names.add(metric.figure)
        value = row.number("value")
        if metric.figure == "output_tokens_per_s":
            value = _compute_output_rate(row, metric, value)
        elif metric.figure == "tpot_ms" and row.number("output_tokens") < LEAST_OUTPUT_TOKENS:
            raise CellError("output_tokens", f"a time of an output token needs {LEAST_OUTPUT_TOKENS} of them")
        yield metric.figure, MeasuredFigure(row.cells["id"], row.cells["metric"], value)


def _compute_output_rate(row: MeasurementRow, metric: _MetricDefinition, value: float) -> float:
    output = row.number("output_tokens")
    if metric.counts == "batch":
        return row.number("amount") * output / value
    if metric.counts == "requests":
        return row.number("requests") * output / value
    if metric.counts == "total":
        value *= output / (row.number("input_tokens") + output)
    if metric.per == "accelerator":
        value *= row.number("count")
    elif metric.per == "request":
        value *= row.number("amount")
    return value
