"""The table of accelerators needed as an item model: labels first, then a column for each accelerator."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.pages.memory.needed import (
    NeededCell,
    NeededGroup,
    NeededHead,
    NeededRow,
    NeededTable,
    count_text,
)
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class NeededModel(QAbstractTableModel):
    """Lines are titles of groups and their rows. New counts in the same cells are told as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._formatter = formatter
        self._table = NeededTable()
        self._lines: tuple[NeededGroup | NeededRow, ...] = ()

    def show(self, table: NeededTable) -> None:
        """Show a table."""
        if table == self._table:
            return
        lines: list[NeededGroup | NeededRow] = []
        for group in table.groups:
            lines += [group, *group.rows]
        before, heads, old = self._lines, table.heads, self._table.heads
        alike = len(heads) == len(old) and [type(line) for line in lines] == [type(line) for line in before]
        if not alike:
            self.beginResetModel()
        self._table, self._lines = table, tuple(lines)
        if not alike:
            self.endResetModel()
            return
        if heads != old:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads))
        for number, (one, other) in enumerate(zip(before, lines, strict=True)):
            if self._shown(one) != self._shown(other):
                self.dataChanged.emit(self.index(number, 0), self.index(number, len(heads)))

    @staticmethod
    def _shown(line: NeededGroup | NeededRow) -> object:
        """Return what of a line can be seen: not the sentences, which name the load."""
        if isinstance(line, NeededGroup):
            return line.title
        cells = [(cell.count, cell.below, cell.reason, cell.present) for cell in line.cells]
        return line.label, line.present, cells

    # Looking up

    @property
    def lines(self) -> tuple[NeededGroup | NeededRow, ...]:
        """The lines that are shown."""
        return self._lines

    def head(self, column: int) -> NeededHead | None:
        """Return the head of a column; None for that of the labels."""
        return self._table.heads[column - 1] if 0 < column <= len(self._table.heads) else None

    def cell(self, row: int, column: int) -> NeededCell | None:
        """Return the cell at a place; None for labels and titles."""
        line = self._lines[row] if 0 <= row < len(self._lines) else None
        return line.cells[column - 1] if isinstance(line, NeededRow) and column > 0 else None

    # Qt's questions

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return the number of lines."""
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns, labels included."""
        return 0 if parent is not None and parent.isValid() else len(self._table.heads) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let cells be selected, and nothing be edited."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _HERE if self.cell(index.row(), index.column()) is not None else Qt.ItemFlag.ItemIsEnabled

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        """Return the text of a cell, or the sentence about it."""
        if not index.isValid():
            return None
        line, cell = self._lines[index.row()], self.cell(index.row(), index.column())
        if cell is None:
            label = line.title if isinstance(line, NeededGroup) else line.label
            spoken = role in (_Role.DisplayRole, _Role.AccessibleTextRole)
            return label if spoken and index.column() == 0 else None
        if role == _Role.DisplayRole:
            return count_text(cell, self._formatter)
        return cell.sentence if role in (_Role.AccessibleTextRole, _Role.ToolTipRole) else None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:  # noqa: ANN401 - Qt's
        """Return the name of an accelerator."""
        if orientation is not Qt.Orientation.Horizontal or role not in (
            _Role.DisplayRole,
            _Role.AccessibleTextRole,
        ):
            return None
        head = self.head(section)
        if head is None:
            return tr("Weights") if section == 0 else None
        return head.name if role == _Role.DisplayRole else f"{head.name}, {head.memory}"
