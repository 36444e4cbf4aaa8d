"""Which rows of the comparison table are shown, as a list with ticks under the headings of their groups."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from gpudesk.desktop.itemmodels.arrangement import Line
from gpudesk.sheets.comparison_parts import ComparedGroup
from gpudesk.sheets.comparison_words import row_sentence
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_Role = Qt.ItemDataRole
#: Whether a line is the heading of a group.
HEADING_ROLE: Final = _Role.UserRole


class RowChoiceModel(QAbstractListModel):
    """Every row of the table with a tick; the tick of a heading is that of all its rows together."""

    #: Keys of the rows that are hidden, after the user changed a tick.
    chosen = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._lines: tuple[Line, ...] = ()
        self._hidden: frozenset[str] = frozenset()

    def show(self, groups: tuple[ComparedGroup, ...], hidden: Set[str]) -> None:
        """List the rows of groups, with ticks at those that are not hidden."""
        self.beginResetModel()
        self._lines = tuple(
            line
            for group in groups
            for line in (Line(group, None), *(Line(group, row) for row in group.rows))
        )
        self._hidden = frozenset(hidden)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of lines, headings included."""
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that every line can be ticked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return (
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsUserCheckable
            | Qt.ItemFlag.ItemNeverHasChildren
        )

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        """Return label, tick or sentence of a line."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == _Role.DisplayRole:
            return line.group.title if line.row is None else line.row.label
        if role == _Role.CheckStateRole:
            return self._tick(line)
        if role == HEADING_ROLE:
            return line.row is None
        if role == _Role.AccessibleTextRole:
            if line.row is None:
                return tr("All rows of {group}", group=line.group.title)
            return f"{row_sentence(line.row)}, {line.group.title}"
        return None

    def setData(self, index: Index, value: object, role: int = _Role.EditRole) -> bool:  # noqa: N802
        """Take a tick."""
        if not index.isValid() or role != _Role.CheckStateRole:
            return False
        line = self._lines[index.row()]
        rows = line.group.rows if line.row is None else (line.row,)
        keys = {row.key for row in rows}
        shown = Qt.CheckState(value) != Qt.CheckState.Unchecked
        self._hidden = self._hidden - keys if shown else self._hidden | keys
        self.dataChanged.emit(self.index(0), self.index(len(self._lines) - 1), [_Role.CheckStateRole])
        self.chosen.emit(self._hidden)
        return True

    def _tick(self, line: Line) -> Qt.CheckState:
        rows = line.group.rows if line.row is None else (line.row,)
        hidden = sum(row.key in self._hidden for row in rows)
        if hidden == 0:
            return Qt.CheckState.Checked
        return Qt.CheckState.Unchecked if hidden == len(rows) else Qt.CheckState.PartiallyChecked
