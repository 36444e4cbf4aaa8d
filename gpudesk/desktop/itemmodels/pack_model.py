"""The rows of a catalog pack as an item model: a check for each, what it says, and what is here already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from gpudesk.domain.formatting import Formatter
from gpudesk.domain.own_facts import Key
from gpudesk.domain.packs import Pack, PackRow, chosen_keys
from gpudesk.sheets.pack_lines import PackLine, pack_lines
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_CHECK, _TEXTS = 0, ("label", "theirs", "yours", "shipped", "standing")


class PackModel(QAbstractTableModel):
    """Rows that can be chosen come first. Texts are made when they are asked for."""

    #: The user chose other rows.
    chosen_changed = Signal()

    def __init__(
        self, pack: Pack, rows: Sequence[PackRow], formatter: Formatter, parent: QObject | None = None
    ) -> None:
        """Choose at first what would not displace anything of the user's."""
        super().__init__(parent)
        self._rows = sorted(rows, key=lambda row: not row.can_be_chosen)
        self._lines: list[PackLine] = list(pack_lines(pack, self._rows, formatter))
        self._open = frozenset(row.key for row in rows if row.can_be_chosen)
        self._chosen = set(chosen_keys(rows))

    @property
    def chosen(self) -> frozenset[Key]:
        """The keys of the rows that are chosen."""
        return frozenset(self._chosen)

    @property
    def open(self) -> int:
        """How many rows can be chosen."""
        return len(self._open)

    def choose_all(self) -> None:
        """Choose every row that can be."""
        self._choose(self._open)

    def choose_none(self) -> None:
        """Choose nothing."""
        self._choose(frozenset())

    def toggle(self, row: int) -> None:
        """Choose a row, or no longer."""
        key = self._rows[row].key
        if key in self._open:
            self._chosen ^= {key}
            self._tell(row, row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name and default
        """Return how many facts there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name and default
        """Return how many columns there are: what it is about, theirs, yours, shipped, how they stand."""
        return 0 if parent.isValid() else len(_TEXTS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:  # noqa: ANN401 - Qt's type
        """Return what stands over a column."""
        if orientation is Qt.Orientation.Vertical or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (tr("Fact"), tr("In the pack"), tr("Yours"), tr("Shipped"), tr("Standing"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        """Return a cell's text, or whether its row is chosen."""
        if not index.isValid():
            return None
        row, line = self._rows[index.row()], self._lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return getattr(line, _TEXTS[index.column()])
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == _CHECK and row.key in self._open:
            return Qt.CheckState.Checked if row.key in self._chosen else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return (
                self._spoken(row, line) if index.column() == _CHECK else getattr(line, _TEXTS[index.column()])
            )
        return None

    def setData(  # noqa: N802 - Qt's name
        self,
        index: Index,
        value: Any,  # noqa: ANN401 - Qt's type
        role: int = Qt.ItemDataRole.EditRole,
    ) -> bool:
        """Choose a row, or no longer."""
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != _CHECK:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        if (self._rows[index.row()].key in self._chosen) != checked:
            self.toggle(index.row())
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let rows be checked that can be chosen."""
        found = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if self._rows[index.row()].key in self._open:
            found |= Qt.ItemFlag.ItemIsEnabled
            if index.column() == _CHECK:
                found |= Qt.ItemFlag.ItemIsUserCheckable
        return found

    def _spoken(self, row: PackRow, line: PackLine) -> str:
        state = ""
        if row.key in self._open:
            state = tr("chosen") if row.key in self._chosen else tr("not chosen")
        return ", ".join(filter(None, (line.label, line.standing, state)))

    def _choose(self, keys: frozenset[Key]) -> None:
        if keys != self._chosen:
            self._chosen = set(keys)
            self._tell(0, len(self._rows) - 1)

    def _tell(self, first: int, last: int) -> None:
        roles = [Qt.ItemDataRole.CheckStateRole, Qt.ItemDataRole.AccessibleTextRole]
        self.dataChanged.emit(self.index(first, _CHECK), self.index(last, _CHECK), roles)
        self.chosen_changed.emit()
