"""Reads the published end-to-end runs of data/measurements/ and turns their metrics into figures.

The files say what each column and metric means (metrics.toml), which names stand for what in the catalog
(aliases.toml) and why rows are not used (unused.toml). Everything is read before anything is refused.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpudesk.domain.measurements import MEASURED_FIGURES, Measured, MeasuredRun, MeasuredRuns, UnusedRow
from gpudesk.domain.messages import InputError, message
from gpudesk.evidence.run_conditions import CellError, Row, estimate_request

#: Columns that tell the figures of one run apart; all others are conditions of the run.
OF_A_FIGURE: Final = ("id", "metric", "value", "unit", "assumed", "unused", "note")
#: Below this many output tokens the time of one of them means nothing.
LEAST_OUTPUT_TOKENS: Final = 8
_TABLES: Final = ("aliases.toml", "metrics.toml", "unused.toml")

#: Takes the cells that the rows of one run have in common.
Conditions = Callable[[Mapping[str, str]], tuple[str, ...]]


class MeasurementsError(InputError):
    """The files of measurements contradict themselves; `problems` has every fault with file and line."""

    def __init__(self, problems: Iterable[str]) -> None:
        """Keep all problems; the message shows the first and how many there are."""
        self.problems = tuple(problems)
        super().__init__(message("catalog.data", count=len(self.problems), first=self.problems[0]))

    def __str__(self) -> str:
        """List every problem, a line each."""
        return "\n".join(self.problems)


@dataclass(frozen=True, slots=True)
class _Metric:
    """How a metric becomes a figure: which tokens a rate counts, and whose rate it is."""

    unit: str
    definition: str
    figure: str | None = None
    counts: str | None = None
    per: str | None = None


@dataclass(frozen=True, slots=True)
class _Tables:
    columns: tuple[str, ...]
    metrics: Mapping[str, _Metric]
    reasons: Mapping[str, str]
    accelerators: Mapping[str, str]
    models: Mapping[str, str]
    known_names: frozenset[str]


def run_files(folder: Path) -> tuple[Path, ...]:
    """Return the files of runs in the order in which they are read."""
    return tuple(sorted(folder.glob("runs-*.csv")))


def read_measured_runs(folder: Path) -> MeasuredRuns:
    """Read every published run of a folder; raises `MeasurementsError` with all faults of its rows."""
    digest = hashlib.sha256()
    contents = {
        path.name: path.read_bytes() for path in (*(folder / name for name in _TABLES), *run_files(folder))
    }
    for name, content in contents.items():
        digest.update(name.encode() + b"\0" + content)
    tables = _tables(contents)
    problems: list[str] = []
    rows: list[Row] = []
    for name, content in contents.items():
        if name.endswith(".csv"):
            rows.extend(_rows(name, content, tables, problems))
    used, unused = _runs(rows, tables, problems)
    if problems:
        raise MeasurementsError(problems)
    return MeasuredRuns(
        used=used,
        unused=unused,
        reasons=tables.reasons,
        definitions=MappingProxyType({name: metric.definition for name, metric in tables.metrics.items()}),
        revision=digest.hexdigest(),
    )


def _tables(contents: Mapping[str, bytes]) -> _Tables:
    aliases, metrics, unused = (tomllib.loads(contents[name].decode()) for name in _TABLES)
    absent: dict[str, dict[str, str]] = aliases["absent"]
    known = (aliases["accelerators"], aliases["models"], *absent.values())
    return _Tables(
        columns=tuple(metrics["columns"]),
        metrics=MappingProxyType({name: _Metric(**entry) for name, entry in metrics["metrics"].items()}),
        reasons=MappingProxyType(unused["reasons"]),
        accelerators=MappingProxyType(aliases["accelerators"]),
        models=MappingProxyType(aliases["models"]),
        known_names=frozenset(name for table in known for name in table),
    )


def _rows(file: str, content: bytes, tables: _Tables, problems: list[str]) -> Iterator[Row]:
    """Yield the rows of a file whose columns are the known ones."""
    lines = csv.reader(content.decode().splitlines(), strict=True)
    header = tuple(next(lines, ()))
    if header != tables.columns:
        problems.append(f"{file}, line 1: the columns are not those of metrics.toml")
        return
    for cells in lines:
        if len(cells) != len(header):
            problems.append(f"{file}, line {lines.line_num}: has {len(cells)} cells, not {len(header)}")
            continue
        yield Row(file, lines.line_num, dict(zip(header, cells, strict=True)))


def _runs(
    rows: list[Row], tables: _Tables, problems: list[str]
) -> tuple[tuple[MeasuredRun, ...], tuple[UnusedRow, ...]]:
    """Put the rows of a run together; adds what is wrong with them to `problems`."""
    unused: list[UnusedRow] = []
    groups: dict[str, list[Row]] = {}
    first: dict[str, Row] = {}
    seen: set[str] = set()
    conditions: Conditions = itemgetter(*(name for name in tables.columns if name not in OF_A_FIGURE))
    for row in rows:
        try:
            _check_row(row, tables, seen)
            _check_same_run(row, first.setdefault(row.cells["run"], row), conditions)
            if row.cells["unused"]:
                unused.append(_unused(row))
            else:
                groups.setdefault(row.cells["run"], []).append(row)
        except CellError as error:
            problems.append(row.place(error))
    used: list[MeasuredRun] = []
    for run in groups.values():
        try:
            used.append(_run(run, tables))
        except CellError as error:
            problems.append(run[0].place(error))
    return tuple(used), tuple(unused)


def _check_row(row: Row, tables: _Tables, seen: set[str]) -> None:
    """Refuse a row that is there twice, or that names what the tables do not have."""
    cells = row.cells
    for name in ("id", "run", "source", "series"):
        if not cells[name]:
            raise CellError(name, "is empty")
    if cells["id"] in seen:
        raise CellError("id", f"{cells['id']} is there twice")
    seen.add(cells["id"])
    for name in ("accelerator", "model"):
        if cells[name] not in tables.known_names:
            raise CellError(name, f"aliases.toml does not know {cells[name]!r}")
    if cells["unused"] and cells["unused"] not in tables.reasons:
        raise CellError("unused", f"unused.toml does not know {cells['unused']!r}")
    for name in row.assumed():
        if not cells.get(name):
            raise CellError("assumed", f"{name!r} is no column, or is empty")
    _check_metric(row, tables)


def _check_metric(row: Row, tables: _Tables) -> None:
    """Refuse a metric that nothing defines, and a unit that is not its own."""
    metric = tables.metrics.get(row.cells["metric"])
    if metric is None:
        raise CellError("metric", f"metrics.toml does not know {row.cells['metric']!r}")
    if row.cells["unit"] != metric.unit:
        raise CellError("unit", f"is {row.cells['unit']!r}, the metric has {metric.unit!r}")


def _check_same_run(row: Row, first: Row, conditions: Conditions) -> None:
    """Refuse a row whose conditions differ from those of the first row of its run."""
    if row is first or conditions(row.cells) == conditions(first.cells):
        return
    for name, cell in row.cells.items():
        if name not in OF_A_FIGURE and cell != first.cells[name]:
            raise CellError(
                name, f"is {cell!r}, but {first.cells[name]!r} in line {first.line} of the same run"
            )


def _unused(row: Row) -> UnusedRow:
    cells = row.cells
    return UnusedRow(
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


def _run(rows: list[Row], tables: _Tables) -> MeasuredRun:
    """Make the run of rows that were measured together."""
    row, cells = rows[0], rows[0].cells
    names: dict[str, str] = {}
    for kind, known in (("accelerator", tables.accelerators), ("model", tables.models)):
        if cells[kind] not in known:
            raise CellError(kind, f"{cells[kind]!r} is not in the catalog, so the row cannot be used")
        names[kind] = known[cells[kind]]
    return MeasuredRun(
        id=cells["run"],
        source=cells["source"],
        series=cells["series"],
        accelerator=cells["accelerator"],
        model=cells["model"],
        engine_version=cells["engine_version"] or None,
        request=estimate_request(row, names["accelerator"], names["model"]),
        measured=MappingProxyType(dict(_figures(rows, tables))),
        assumed=frozenset(name for each in rows for name in each.assumed()),
        note=cells["note"] or None,
    )


def _figures(rows: list[Row], tables: _Tables) -> Iterator[tuple[str, Measured]]:
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
            value = _output_rate(row, metric, value)
        elif metric.figure == "tpot_ms" and row.number("output_tokens") < LEAST_OUTPUT_TOKENS:
            raise CellError("output_tokens", f"a time of an output token needs {LEAST_OUTPUT_TOKENS} of them")
        yield metric.figure, Measured(row.cells["id"], row.cells["metric"], value)


def _output_rate(row: Row, metric: _Metric, value: float) -> float:
    """Return output tokens a second of the whole deployment."""
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
