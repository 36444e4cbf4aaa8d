"""The fit matrix as an item model: a row for each model, a column for each accelerator."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.itemmodels.fit_arrangement import FitColumn, FitRow, FitTable
from gpudesk.domain.fit_matrix import FitCell
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.fit_words import cell_sentence, reading_sentence
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_SPOKEN: Final = (_Role.AccessibleTextRole, _Role.ToolTipRole)
_CENTRE: Final = int(Qt.AlignmentFlag.AlignCenter)


class FitModel(QAbstractTableModel):
    """Cells over a `FitTable`. New counts of the same models and accelerators are told as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._formatter = formatter
        self.table = FitTable()

    def show(self, table: FitTable) -> None:
        """Show a table."""
        if table == self.table:
            return
        alike = _frame(table) == _frame(self.table)
        if not alike:
            self.beginResetModel()
        self.table = table
        if not alike:
            self.endResetModel()
        elif table.rows and table.columns:
            last = self.index(len(table.rows) - 1, len(table.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    # Looking up

    def row(self, number: int) -> FitRow:
        """Return a row."""
        return self.table.rows[number]

    def column(self, number: int) -> FitColumn:
        """Return a column."""
        return self.table.columns[number]

    def cell(self, index: Index) -> FitCell | None:
        """Return the cell at an index, None where it is none."""
        return self.table.rows[index.row()].cells[index.column()] if index.isValid() else None

    def index_of(self, model: str, part: str) -> QModelIndex:
        """Return the index of a model and an accelerator by their ids, an invalid one where not shown."""
        row = next((n for n, row in enumerate(self.table.rows) if row.model.id == model), -1)
        column = next((n for n, each in enumerate(self.table.columns) if each.part.id == part), -1)
        return self.index(row, column) if row >= 0 and column >= 0 else QModelIndex()

    def sentence(self, index: Index) -> str:
        """Return all that a cell says, empty where there is none."""
        cell, table = self.cell(index), self.table
        if cell is None or table.question is None:
            return ""
        part, model = self.column(index.column()).name, self.row(index.row()).model
        if table.reading:
            return reading_sentence(cell, part, model, self._formatter)
        return cell_sentence(cell, part, model, table.question, self._formatter)

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of models."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of accelerators."""
        return 0 if parent.isValid() else len(self.table.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let cells be selected, and nothing be edited."""
        return _HERE if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        """Return the count of a cell, or the sentence about it."""
        cell = self.cell(index)
        if cell is None:
            return None
        if role == _Role.DisplayRole:
            return UNKNOWN if cell.count is None else self._formatter.count(cell.count)
        if role in _SPOKEN:
            return self.sentence(index)
        return _CENTRE if role == _Role.TextAlignmentRole else None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:  # noqa: ANN401 - by role
        """Return what a model or an accelerator is called, spoken with what tells it apart."""
        if role != _Role.DisplayRole and role not in _SPOKEN:
            return None
        if orientation == Qt.Orientation.Vertical:
            if not 0 <= section < len(self.table.rows):
                return None
            return self._row_head(self.table.rows[section], spoken=role in _SPOKEN)
        if not 0 <= section < len(self.table.columns):
            return None
        column = self.table.columns[section]
        if role == _Role.DisplayRole:
            return column.name
        part = column.part
        told = f"{part.name}, {part.vendor}, {self._formatter.gib(part.memory_bytes)} GiB"
        return f"{told}, {tr('announced')}" if part.announced else told

    def _row_head(self, row: FitRow, *, spoken: bool) -> str:
        if not spoken:
            return row.model.name
        told = f"{row.model.name}, {row.model.organisation}"
        if row.parameters is None:
            return told
        return tr("{model}, {n} billion parameters", model=told, n=parameters_text(row, self._formatter))


def parameters_text(row: FitRow, formatter: Formatter) -> str:
    """Return the parameters of a model in billions."""
    return UNKNOWN if row.parameters is None else formatter.number(row.parameters / 1e9, 1)


def _frame(table: FitTable) -> tuple[list[str], list[str]]:
    """Return which rows and columns there are."""
    return [row.model.id for row in table.rows], [each.part.id for each in table.columns]
