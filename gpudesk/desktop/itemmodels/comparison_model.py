"""The comparison table as an item model: a row a line, a column an accelerator, headings in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.itemmodels.arrangement import Arrangement, Line, columns, lines
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.comparison_parts import ComparedCell, ComparedHead, ComparisonTable
from gpudesk.sheets.comparison_words import cell_sentence, row_sentence
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_EMPTY: Final = ComparisonTable((), ())
_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class ComparisonModel(QAbstractTableModel):
    """A `ComparisonTable` in an `Arrangement`.

    New figures in the same rows and columns are told as changed data, so that selection and scrolling stay;
    anything else is told as a reset.
    """

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._formatter = formatter
        self.table = _EMPTY
        self.arrangement = Arrangement()
        self._lines: tuple[Line, ...] = ()
        self._positions: tuple[int, ...] = ()

    # Putting in

    def show(self, table: ComparisonTable, arrangement: Arrangement) -> None:
        """Show a table in an arrangement."""
        new_lines, new_positions = lines(table, arrangement), columns(table, arrangement)
        if self._has_shape(table, new_lines, new_positions):
            self._exchange(table, arrangement, new_lines)
            return
        self.beginResetModel()
        self.table, self.arrangement = table, arrangement
        self._lines, self._positions = new_lines, new_positions
        self.endResetModel()

    def _has_shape(
        self, table: ComparisonTable, new_lines: Sequence[Line], new_positions: tuple[int, ...]
    ) -> bool:
        """Whether these lines and columns are those that are shown already."""
        return (
            new_positions == self._positions
            and [head.key for head in table.heads] == [head.key for head in self.table.heads]
            and [line.key for line in new_lines] == [line.key for line in self._lines]
        )

    def _exchange(
        self, table: ComparisonTable, arrangement: Arrangement, new_lines: tuple[Line, ...]
    ) -> None:
        changed = [
            number
            for number, (old, new) in enumerate(zip(self._lines, new_lines, strict=True))
            if (old.row is not new.row and old.row != new.row) or old.group.note != new.group.note
        ]
        heads_changed = table.heads != self.table.heads
        self.table, self.arrangement, self._lines = table, arrangement, new_lines
        last = self.columnCount() - 1
        if heads_changed and last >= 0:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, last)
        for first, end in _runs(changed):
            self.dataChanged.emit(self.index(first, 0), self.index(end, last))

    # Looking up

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are shown."""
        return self._lines

    @property
    def positions(self) -> tuple[int, ...]:
        """The position in the table of each column that is shown."""
        return self._positions

    @property
    def shown_rows(self) -> int:
        """How many rows are shown, headings not counted."""
        return sum(line.row is not None for line in self._lines)

    @property
    def all_rows(self) -> int:
        """How many rows there are."""
        return len(self.table.rows)

    def head(self, column: int) -> ComparedHead:
        """Return the head of a column that is shown."""
        return self.table.heads[self._positions[column]]

    def is_baseline(self, column: int) -> bool:
        """Return whether differences are against this column."""
        return self._positions[column] == 0

    def cell(self, row: int, column: int) -> ComparedCell | None:
        """Return what stands in a cell; None in the line of a heading."""
        line = self._lines[row]
        return None if line.row is None else line.row.cells[self._positions[column]]

    def index_of(self, row_key: str, column_key: str) -> QModelIndex:
        """Return the index of a cell by keys; invalid where it is not shown."""
        row = next((number for number, line in enumerate(self._lines) if line.key == row_key), -1)
        keys = [self.table.heads[position].key for position in self._positions]
        return self.index(row, keys.index(column_key)) if row >= 0 and column_key in keys else QModelIndex()

    def sentence(self, row: int, column: int) -> str:
        """Return everything that a cell says; the title in the line of a heading."""
        line = self._lines[row]
        if line.row is None:
            return line.group.title
        return cell_sentence(self.table, line.row, self._positions[column], self._formatter)

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of lines."""
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of accelerators shown."""
        return 0 if parent.isValid() else len(self._positions)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that cells can be selected; headings cannot."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if self._lines[index.row()].row is None:
            return Qt.ItemFlag.ItemNeverHasChildren
        return _HERE

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        """Return text, sentence or alignment of a cell."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == _Role.DisplayRole:
            cell = self.cell(row, column)
            if cell is None:
                return self._lines[row].group.title if column == 0 else ""
            return cell.text
        if role in (_Role.AccessibleTextRole, _Role.ToolTipRole):
            return self.sentence(row, column)
        if role == _Role.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:  # noqa: ANN401 - by role
        """Return what a column or a row is called, and its sentence."""
        spoken = role in (_Role.AccessibleTextRole, _Role.ToolTipRole)
        if role != _Role.DisplayRole and not spoken:
            return None
        if orientation == Qt.Orientation.Vertical:
            if not 0 <= section < len(self._lines):
                return None
            line = self._lines[section]
            if line.row is None:
                return line.group.title
            return row_sentence(line.row) if spoken else line.row.label
        if not 0 <= section < len(self._positions):
            return None
        return self._head_sentence(section) if spoken else self.head(section).name

    def _head_sentence(self, section: int) -> str:
        head = self.head(section)
        parts = [head.name, head.detail, tr("baseline") if self.is_baseline(section) else ""]
        return ", ".join(part for part in parts if part)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of neighbours."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place
