"""The fit matrix as an item model: which rows and columns are shown, in what order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Qt

from gpudesk.desktop.ui.tables.item_model import Index, TableItemModel
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.model import Model
from gpudesk.domain.sizing import FitCell, FitMatrix, FitQuestion
from gpudesk.report.labels import shorten_name
from gpudesk.report.sizing import compute_headroom_share, describe_fit_cell, describe_reading_cell
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

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


def arrange_fit_table(matrix: FitMatrix, parameters: Mapping[str, float], order: FitOrder, reading: str) -> FitTable:
    places = {part.id: place for place, part in enumerate(matrix.accelerators)}
    words, part_words = order.models.casefold().split(), order.parts.casefold().split()
    columns = [
        column
        for column in list_fit_columns(matrix.accelerators)
        if _has(f"{column.part.name} {column.part.vendor} {column.part.id}", part_words)
    ]
    rows = [
        FitRow(model, parameters.get(model.id), cells)
        for model, cells in zip(matrix.models, matrix.rows, strict=True)
        if _has(f"{model.name} {model.organisation} {model.id}", words)
    ]
    rows = _ordered(rows, order, places.get(order.by))
    if order.most:
        columns_shown = [places[column.part.id] for column in columns]
        rows = [row for row in rows if any(_within(row.cells[place], order.most) for place in columns_shown)]
        columns = [
            column for column in columns if any(_within(row.cells[places[column.part.id]], order.most) for row in rows)
        ]
    part_places = [places[column.part.id] for column in columns]
    return FitTable(
        matrix.question,
        reading,
        tuple(columns),
        tuple(FitRow(row.model, row.parameters, tuple(row.cells[place] for place in part_places)) for row in rows),
    )


def list_fit_columns(parts: Sequence[Accelerator]) -> tuple[FitColumn, ...]:
    """Return the columns of accelerators, those of one vendor side by side."""
    vendors = {vendor: place for place, vendor in enumerate(dict.fromkeys(part.vendor for part in parts))}
    ordered = sorted(parts, key=lambda part: vendors[part.vendor])
    short = [shorten_name(part.name) for part in ordered]
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
    """Sort the rows; unknown values come last in both directions."""
    rows = sorted(rows, key=lambda row: (row.parameters is None, row.parameters or 0.0))
    if by is not None:
        known_rows = [row for row in rows if row.cells[by].count is not None]
        # Of equal counts the one that leaves more room first: it is the easier to hold.
        known_rows.sort(key=lambda row: (row.cells[by].count, -compute_headroom_share(row.cells[by])),
                   reverse=order.descending)  # fmt: skip
        return [*known_rows, *(row for row in rows if row.cells[by].count is None)]
    if order.by == BY_NAME:
        return sorted(rows, key=lambda row: row.model.name.casefold(), reverse=order.descending)
    if order.by == BY_MAKER:
        return sorted(rows, key=lambda row: row.model.organisation.casefold(), reverse=order.descending)
    known_rows = [row for row in rows if row.parameters is not None]
    return [*(reversed(known_rows) if order.descending else known_rows), *rows[len(known_rows) :]]


class FitModel(TableItemModel):
    """Cells over a `FitTable`. New counts of the same models and accelerators are signaled as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self.table = FitTable()

    def show(self, table: FitTable) -> None:
        if table == self.table:
            return
        self.exchange(lambda: self._replace_table(table), is_alike=_frame(table) == _frame(self.table))

    def _replace_table(self, table: FitTable) -> None:
        self.table = table

    # Looking up

    def row(self, number: int) -> FitRow:
        return self.table.rows[number]

    def column(self, number: int) -> FitColumn:
        return self.table.columns[number]

    def cell(self, index: Index) -> FitCell | None:
        return self.table.rows[index.row()].cells[index.column()] if index.isValid() else None

    def index_of(self, model: str, part: str) -> QModelIndex:
        """Return the index of a model and an accelerator by their ids, an invalid one where not shown."""
        row = next((n for n, row in enumerate(self.table.rows) if row.model.id == model), -1)
        column = next((n for n, each in enumerate(self.table.columns) if each.part.id == part), -1)
        return self.index(row, column) if row >= 0 and column >= 0 else QModelIndex()

    def sentence(self, row: int, column: int) -> str:
        """Return the full text of a cell, empty before the first query."""
        cell, table = self.table.rows[row].cells[column], self.table
        if table.question is None:
            return ""
        part, model = self.column(column).name, self.row(row).model
        if table.reading:
            return describe_reading_cell(cell, part, model, self._formatter)
        return describe_fit_cell(cell, part, model, table.question, self._formatter)

    # What is shown and read out

    def count_rows(self) -> int:
        return len(self.table.rows)

    def count_columns(self) -> int:
        return len(self.table.columns)

    def get_text(self, row: int, column: int) -> str:
        count = self.table.rows[row].cells[column].count
        return MISSING_VALUE_TEXT if count is None else self._formatter.count(count)

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:  # noqa: ARG002 - all alike
        return Qt.AlignmentFlag.AlignHCenter

    def get_head(self, section: int, *, spoken: bool) -> str:
        column = self.table.columns[section]
        if not spoken:
            return column.name
        part = column.part
        text = f"{part.name}, {part.vendor}, {self._formatter.gib(part.memory_bytes)} GiB"
        return f"{text}, {tr('announced')}" if part.announced else text

    def get_label(self, section: int, *, spoken: bool) -> str:
        row = self.table.rows[section]
        if not spoken:
            return row.model.name
        text = f"{row.model.name}, {row.model.organisation}"
        if row.parameters is None:
            return text
        return tr("{model}, {n} billion parameters", model=text, n=format_parameters(row, self._formatter))


def format_parameters(row: FitRow, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if row.parameters is None else formatter.number(row.parameters / 1e9, 1)


def _frame(table: FitTable) -> tuple[list[str], list[str]]:
    return [row.model.id for row in table.rows], [each.part.id for each in table.columns]
