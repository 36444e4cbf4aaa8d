"""Which rows and columns of a fit matrix are shown, and in what order. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.fit_matrix import FitCell, FitMatrix, FitQuestion
from gpudesk.domain.models import Model
from gpudesk.sheets.fit_words import share_left
from gpudesk.sheets.names import short_name

#: What rows are in order of, beside the counts of one accelerator, which is named by its id.
BY_PARAMETERS: Final = "parameters"
BY_NAME: Final = "name"
BY_MAKER: Final = "maker"


@dataclass(frozen=True, slots=True)
class FitOrder:
    """What narrows and orders a matrix.

    `models` and `parts` are words, all of which a row or a column must have. With `most` above 0 only rows
    and columns stay that have a cell of that many or fewer. `by` is one of the `BY_…` or an accelerator's id.
    """

    models: str = ""
    parts: str = ""
    most: int = 0
    by: str = BY_PARAMETERS
    descending: bool = False


@dataclass(frozen=True, slots=True)
class FitColumn:
    """An accelerator and what it is called in the head."""

    part: Accelerator
    name: str


@dataclass(frozen=True, slots=True)
class FitRow:
    """A model with its cells, in the order of the columns; `parameters` None where nobody knows them."""

    model: Model
    parameters: float | None
    cells: tuple[FitCell, ...]


@dataclass(frozen=True, slots=True)
class FitTable:
    """What is shown; without a question nothing was asked yet. `reading` is empty for the estimator."""

    question: FitQuestion | None = None
    reading: str = ""
    columns: tuple[FitColumn, ...] = ()
    rows: tuple[FitRow, ...] = ()


def arranged(matrix: FitMatrix, parameters: Mapping[str, float], order: FitOrder, reading: str) -> FitTable:
    """Return the rows and columns that an order leaves, columns under their vendors."""
    places = {part.id: place for place, part in enumerate(matrix.accelerators)}
    words, wanted = order.models.casefold().split(), order.parts.casefold().split()
    columns = [
        column
        for column in columns_of(matrix.accelerators)
        if _has(f"{column.part.name} {column.part.vendor} {column.part.id}", wanted)
    ]
    rows = [
        FitRow(model, parameters.get(model.id), cells)
        for model, cells in zip(matrix.models, matrix.rows, strict=True)
        if _has(f"{model.name} {model.organisation} {model.id}", words)
    ]
    rows = _ordered(rows, order, places.get(order.by))
    if order.most:
        shown = [places[column.part.id] for column in columns]
        rows = [row for row in rows if any(_within(row.cells[place], order.most) for place in shown)]
        columns = [
            column
            for column in columns
            if any(_within(row.cells[places[column.part.id]], order.most) for row in rows)
        ]
    kept = [places[column.part.id] for column in columns]
    return FitTable(
        matrix.question,
        reading,
        tuple(columns),
        tuple(FitRow(row.model, row.parameters, tuple(row.cells[place] for place in kept)) for row in rows),
    )


def columns_of(parts: Sequence[Accelerator]) -> tuple[FitColumn, ...]:
    """Return the columns of accelerators, those of one vendor side by side."""
    vendors = {vendor: place for place, vendor in enumerate(dict.fromkeys(part.vendor for part in parts))}
    ordered = sorted(parts, key=lambda part: vendors[part.vendor])
    short = [short_name(part.name) for part in ordered]
    # Two must not be called the same.
    return tuple(
        FitColumn(part, brief if short.count(brief) == 1 else part.name)
        for part, brief in zip(ordered, short, strict=True)
    )


def _has(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _within(cell: FitCell, most: int) -> bool:
    return cell.count is not None and cell.count <= most


def _ordered(rows: list[FitRow], order: FitOrder, by: int | None) -> list[FitRow]:
    """Order the rows; what is not known comes last both ways."""
    rows = sorted(rows, key=lambda row: (row.parameters is None, row.parameters or 0.0))
    if by is not None:
        known = [row for row in rows if row.cells[by].count is not None]
        # Of equal counts the one that leaves more room first: it is the easier to hold.
        known.sort(key=lambda row: (row.cells[by].count, -share_left(row.cells[by])),
                   reverse=order.descending)  # fmt: skip
        return [*known, *(row for row in rows if row.cells[by].count is None)]
    if order.by == BY_NAME:
        return sorted(rows, key=lambda row: row.model.name.casefold(), reverse=order.descending)
    if order.by == BY_MAKER:
        return sorted(rows, key=lambda row: row.model.organisation.casefold(), reverse=order.descending)
    known = [row for row in rows if row.parameters is not None]
    return [*(reversed(known) if order.descending else known), *rows[len(known) :]]
