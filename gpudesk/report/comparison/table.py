"""The comparison table of all facts and figures, and its cells as sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import is_user_entry
from gpudesk.domain.registry import list_compared_attributes, list_compared_figures
from gpudesk.report.comparison.attribute_rows import build_attribute_rows, merge_half_precisions
from gpudesk.report.comparison.estimate_rows import build_memory_use_rows, build_workload_rows
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonGroup,
    ComparisonRow,
    ComparisonTable,
    Headline,
    build_heads,
)
from gpudesk.report.labels import format_load, join_names
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn


def build_comparison_table(answer: Answer, formatter: Formatter) -> ComparisonTable:
    """Return all rows in their groups, results first; rows and groups without any known value are left out."""
    return ComparisonTableBuilder(formatter).table(answer)


class ComparisonTableBuilder:
    """Makes the tables of successive answers; catalog data is cached while the accelerators stay."""

    def __init__(self, formatter: Formatter) -> None:
        self._formatter = formatter
        self._parts: tuple[object, ...] = ()
        self._memory: tuple[ComparisonRow, ...] = ()
        self._rest: tuple[ComparisonGroup, ...] = ()

    def table(self, answer: Answer) -> ComparisonTable:
        self._update_attribute_rows(answer)
        formatter = self._formatter
        results = build_workload_rows(answer, list_compared_figures(), formatter).values()
        known_rows = tuple(row for row in results if any(cell.value is not None for cell in row.cells))
        use = build_memory_use_rows(answer, formatter) if any(each.estimate for each in answer.columns) else ()
        groups = (
            ComparisonGroup("workload", tr("At this workload"), known_rows, _describe_conditions(answer, formatter)),
            ComparisonGroup("memory", tr("Memory"), (*self._memory, *use)),
            *self._rest,
            # Depends on the cost settings, unlike the other rows of the catalog.
            self._build_group(answer, "price", tr("Price")),
        )
        heads = build_heads(answer, lambda column: _describe_column(column, formatter))
        return ComparisonTable(heads, tuple(group for group in groups if group.rows))

    def _update_attribute_rows(self, answer: Answer) -> None:
        accelerator_ids = (column.accelerator.id for column in answer.columns)
        parts = (answer.catalog_revision, answer.unranked, *accelerator_ids)
        if parts == self._parts:
            return
        self._parts = parts

        dense = self._build_group(answer, "dense", tr("Compute, dense"))
        self._memory = self._build_group(answer, "memory", tr("Memory")).rows
        self._rest = (
            replace(dense, rows=merge_half_precisions(answer, dense.rows)),
            self._build_group(answer, "sparse", tr("Compute, sparse")),
            self._build_group(answer, "interconnect", tr("Interconnect")),
            self._build_group(answer, "power", tr("Power and package")),
            self._build_group(answer, "software", tr("Software")),
        )

    def _build_group(self, answer: Answer, key: str, title: str) -> ComparisonGroup:
        return ComparisonGroup(key, title, build_attribute_rows(answer, list_compared_attributes(key), self._formatter))


def _describe_column(column: ComparisonColumn, formatter: Formatter) -> str:
    architecture = column.attributes.get("architecture")
    count = column.choice.count if column.estimate is None else column.estimate.count
    words = [
        tr("announced") if column.accelerator.announced else None,
        tr("yours") if is_user_entry(column.attributes.values()) else None,
        None if architecture is None else architecture.value,
        column.accelerator.form_factor,
        None if count is None else f"× {formatter.count(count)}",
    ]
    return " · ".join(str(word) for word in words if word)


def _describe_conditions(answer: Answer, formatter: Formatter) -> str:
    """Return the load of the results, and the number of accelerators if equal for all deployments."""
    load = format_load(answer.scenario.workload.load, formatter)
    counts = {column.estimate.count for column in answer.columns if column.estimate}
    if len(counts) != 1 or len(answer.columns) == 1:
        return load
    count = counts.pop()
    each = trn("one accelerator each", "{n} accelerators each", count, n=formatter.count(count))
    return tr("{each}, {load}", each=each, load=load)


_SPOKEN_UNITS: Final = {
    "tok/s": "tokens per second",
    "ms": "milliseconds",
    "s": "seconds",
    "GiB": "gibibytes",
    "MiB": "mebibytes",
    "TB/s": "terabytes per second",
    "GB/s": "gigabytes per second",
    "TFLOPS": "teraflops",
    "TOPS": "tera-operations per second",
    "W": "watts",
    "USD": "US dollars",
    "requests": "requests",
}


def speak_unit(unit: str | None) -> str:
    """Return a unit as spoken; words stay unchanged."""
    if not unit:
        return ""
    return tr(_SPOKEN_UNITS[unit]) if unit in _SPOKEN_UNITS else unit


def describe_compared_cell(table: ComparisonTable, row: ComparisonRow, position: int, formatter: Formatter) -> str:
    """Return the full text of a cell as one sentence, the figure first."""
    cell = row.cells[position]
    parts = [row.label, table.heads[position].name]
    if cell.value is None:
        unknown = tr("unknown: {reason}", reason=cell.reason) if cell.reason else tr("unknown")
        return ", ".join([*parts, unknown]) + (f". {cell.explanation}" if cell.explanation else "")
    unit = speak_unit(row.unit)
    parts.append(f"{cell.text} {unit}".rstrip())
    if cell.band is not None and cell.low is not None and cell.high is not None:
        parts.append(
            tr("80% interval {low} to {high}", low=formatter.estimate(cell.low), high=formatter.estimate(cell.high))
        )
    if cell.detail:
        parts.append(cell.detail)
    parts += _describe_mark(table, row, position)
    if cell.delta:
        parts.append(tr("{delta} compared with {baseline}", delta=cell.delta, baseline=table.heads[0].name))
    if cell.basis is not None:
        parts.append(cell.basis.label)
    if cell.own:
        parts.append(tr("your value"))
    if cell.disputed:
        parts.append(tr("{n} sources disagree", n=cell.disputed))
    return ", ".join(parts) + (f". {cell.explanation}" if cell.explanation else "")


def _describe_mark(table: ComparisonTable, row: ComparisonRow, position: int) -> list[str]:
    mark, close = row.cells[position].mark, (CellMarking.TIED, CellMarking.OPEN)
    if mark is CellMarking.BEST:
        return [tr("best in row")]
    if mark in close:
        others = [
            head.name
            for place, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))
            if place != position and cell.mark in close
        ]
        return [tr("too close to call with {names}", names=join_names(others))]
    return [tr("requests queue")] if mark is CellMarking.QUEUES else []


def describe_compared_row(row: ComparisonRow) -> str:
    """Return the subject of a row: label and unit."""
    unit = speak_unit(row.unit)
    return f"{row.label}, {unit}" if unit else row.label


def describe_headline(headline: Headline) -> str:
    figure = f"{headline.text} {speak_unit(headline.unit)}".rstrip()
    names = join_names([leader.name for leader in headline.leaders])
    parts = [headline.label, figure, names, headline.detail, headline.unranked.text, headline.spoken_odds]
    return ", ".join(part for part in parts if part)


def make_search_text(row: ComparisonRow, group: str) -> str:
    """Return the text for filtering: group, label and unit, in lower case."""
    return f"{group} {row.label} {row.unit or ''}".casefold()
