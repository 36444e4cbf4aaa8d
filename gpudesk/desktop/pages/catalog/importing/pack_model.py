"""Rows of a catalog pack as an item model: a check box, the row, and the value here now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from gpudesk.domain.fact_exchange import FactPack, PackRow, get_chosen_keys
from gpudesk.domain.user_facts import FactKey
from gpudesk.report.catalog_import import PackLine, list_pack_lines
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

Index = QModelIndex | QPersistentModelIndex

_CHECK, _TEXTS = 0, ("label", "theirs", "yours", "shipped", "standing")


class PackModel(QAbstractTableModel):
    """Rows that can be chosen come first. Texts are made when they are asked for."""

    #: The user chose other rows.
    chosen_changed = Signal()

    def __init__(
        self, pack: FactPack, rows: Sequence[PackRow], formatter: Formatter, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = sorted(rows, key=lambda row: not row.can_be_chosen)
        self._lines: list[PackLine] = list(list_pack_lines(pack, self._rows, formatter))
        self._open = frozenset(row.key for row in rows if row.can_be_chosen)
        self._chosen = set(get_chosen_keys(rows))

    @property
    def chosen(self) -> frozenset[FactKey]:
        return frozenset(self._chosen)

    @property
    def open(self) -> int:
        return len(self._open)

    def choose_all(self) -> None:
        self._choose(self._open)

    def choose_none(self) -> None:
        self._choose(frozenset())

    def toggle(self, row: int) -> None:
        key = self._rows[row].key
        if key in self._open:
            self._chosen ^= {key}
            self._tell(row, row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's name and default
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's name and default
        """Return how many columns there are: what it is about, theirs, yours, shipped, how they stand."""
        return 0 if parent.isValid() else len(_TEXTS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        if orientation is Qt.Orientation.Vertical or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (tr("Fact"), tr("In the pack"), tr("Yours"), tr("Shipped"), tr("Standing"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        if not index.isValid():
            return None
        row, line = self._rows[index.row()], self._lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return getattr(line, _TEXTS[index.column()])
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == _CHECK and row.key in self._open:
            return Qt.CheckState.Checked if row.key in self._chosen else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row, line) if index.column() == _CHECK else getattr(line, _TEXTS[index.column()])
        return None

    def setData(
        self,
        index: Index,
        value: Any,  # noqa: ANN401 - Qt's type
        role: int = Qt.ItemDataRole.EditRole,
    ) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != _CHECK:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        if (self._rows[index.row()].key in self._chosen) != checked:
            self.toggle(index.row())
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
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

    def _choose(self, keys: frozenset[FactKey]) -> None:
        if keys != self._chosen:
            self._chosen = set(keys)
            self._tell(0, len(self._rows) - 1)

    def _tell(self, first: int, last: int) -> None:
        roles = [Qt.ItemDataRole.CheckStateRole, Qt.ItemDataRole.AccessibleTextRole]
        self.dataChanged.emit(self.index(first, _CHECK), self.index(last, _CHECK), roles)
        self.chosen_changed.emit()
