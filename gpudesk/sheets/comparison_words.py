"""The comparison table in sentences, for those who hear it and for those who point at a cell."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.comparison_headlines import HeadlineAnswer
from gpudesk.sheets.comparison_parts import ComparedCell, ComparedRow, ComparisonTable
from gpudesk.sheets.labels import basis_label
from gpudesk.sheets.sheet import Mark
from gpudesk.text import tr

_SPOKEN_UNITS: Final = MappingProxyType(
    {
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
)


def unit_in_words(unit: str | None) -> str:
    """Return a unit as it is spoken; those that are words already as they are."""
    if not unit:
        return ""
    return tr(_SPOKEN_UNITS[unit]) if unit in _SPOKEN_UNITS else unit


def cell_sentence(table: ComparisonTable, row: ComparedRow, position: int, formatter: Formatter) -> str:
    """Return everything that a cell shows as one sentence, the figure first."""
    cell = row.cells[position]
    parts = [row.label, table.heads[position].name]
    if cell.value is None:
        unknown = tr("unknown: {reason}", reason=cell.reason) if cell.reason else tr("unknown")
        return ", ".join([*parts, unknown]) + (f". {cell.explanation}" if cell.explanation else "")
    unit = unit_in_words(row.unit)
    parts.append(f"{cell.text} {unit}".rstrip())
    if cell.band is not None and cell.low is not None and cell.high is not None:
        parts.append(
            tr("band {low} to {high}", low=formatter.estimate(cell.low), high=formatter.estimate(cell.high))
        )
    elif cell.second:
        parts.append(cell.second)
    parts += _standing(table, row, position)
    if cell.delta:
        parts.append(tr("{delta} against {baseline}", delta=cell.delta, baseline=table.heads[0].name))
    if cell.basis is not None:
        parts.append(basis_label(cell.basis))
    if cell.own:
        parts.append(tr("your value"))
    if cell.disputed:
        parts.append(tr("sources differ: {n}", n=cell.disputed))
    return ", ".join(parts) + (f". {cell.explanation}" if cell.explanation else "")


def _standing(table: ComparisonTable, row: ComparedRow, position: int) -> list[str]:
    """Return what the mark of a cell says."""
    mark = row.cells[position].mark
    if mark is Mark.BEST:
        return [tr("best in the row")]
    if mark in (Mark.TIED, Mark.OPEN):
        others = [
            head.name
            for place, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))
            if place != position and cell.mark is mark
        ]
        return [tr("bands overlap with {names}", names=listed(others))]
    return []


def row_sentence(row: ComparedRow) -> str:
    """Return what a row is about: label and unit."""
    unit = unit_in_words(row.unit)
    return f"{row.label}, {unit}" if unit else row.label


def headline_sentence(headline: HeadlineAnswer) -> str:
    """Return a headline answer as one sentence."""
    figure = f"{headline.text} {unit_in_words(headline.unit)}".rstrip()
    names = listed([leader.name for leader in headline.leaders])
    parts = [headline.label, figure, names, headline.detail, headline.announced.text]
    return ", ".join(part for part in parts if part)


def listed(names: list[str]) -> str:
    """Return names as a list in words: `A`, `A and B`, `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    return tr("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def searched(row: ComparedRow, group: str) -> str:
    """Return the text that a filter looks in: group, label and unit, without case."""
    return f"{group} {row.label} {row.unit or ''}".casefold()


def has_basis(cell: ComparedCell) -> bool:
    """Whether a cell shows on what an estimate rests: those that are tied show that instead."""
    return cell.basis is not None and cell.mark not in (Mark.TIED, Mark.OPEN)
