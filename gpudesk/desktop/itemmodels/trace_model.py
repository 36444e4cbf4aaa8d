"""The trace of a decision as an item model: rows under titles of groups, silent rules in a fold."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from gpudesk.desktop.itemmodels.trace_rows import (
    ShownCell,
    TraceFold,
    TraceGroup,
    TraceHead,
    TraceRow,
    TraceTable,
    cell_sentence,
    row_sentence,
    weight_sentence,
)
from gpudesk.domain.decisions import Rule
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import WEIGHT_BOUNDS
from gpudesk.sheets.decision_words import source_label
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex
#: A title of a group, a row, the fold, or a rule that says nothing.
Line = TraceGroup | TraceRow | TraceFold | Rule

_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_SPOKEN: Final = (_Role.AccessibleTextRole, _Role.ToolTipRole)
#: Columns before those of accelerators: what a rule is about, the answer that it rests on, its weight.
RULE, ANSWER, WEIGHT, FIRST = range(4)


def key_of(line: Line) -> str:
    """Return what tells a line from the others."""
    match line:
        case TraceGroup():
            return f"group {line.title}"
        case TraceFold():
            return "fold"
        case Rule():
            return line.id
    return line.key


class TraceModel(QAbstractTableModel):
    """Lines over a `TraceTable`. What changes in the same lines and columns is told as changed data."""

    #: The id of a rule that counts, and the weight that the user gives its row.
    weighed = Signal(str, float)

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        """Begin empty, with the fold closed."""
        super().__init__(parent)
        self._formatter = formatter
        self.table = TraceTable()
        self.lines: tuple[Line, ...] = ()
        self.opened = False

    # Putting in

    def show(self, table: TraceTable) -> None:
        """Show a table."""
        lines = self._lines_of(table)
        alike = [head.key for head in table.heads] == [head.key for head in self.table.heads] and [
            key_of(line) for line in lines
        ] == [key_of(line) for line in self.lines]
        if not alike:
            self.beginResetModel()
        self.table, self.lines = table, lines
        if not alike:
            self.endResetModel()
        elif lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(lines) - 1, self.columnCount() - 1))

    def set_opened(self, opened: bool) -> None:
        """Show the rules that say nothing, or hide them."""
        if opened != self.opened:
            self.beginResetModel()
            self.opened = opened
            self.lines = self._lines_of(self.table)
            self.endResetModel()

    def _lines_of(self, table: TraceTable) -> tuple[Line, ...]:
        lines: list[Line] = []
        for group in table.groups:
            lines += [group, *group.rows]
        if table.silent:
            lines.append(TraceFold(len(table.silent), self.opened))
            lines += table.silent if self.opened else ()
        return tuple(lines)

    # Looking up

    def head(self, column: int) -> TraceHead | None:
        """Return the accelerator of a column, None for those before."""
        place = column - FIRST
        return self.table.heads[place] if 0 <= place < len(self.table.heads) else None

    def row_at(self, row: int) -> TraceRow | None:
        """Return what was traced in a line, None where it is another kind of line."""
        line = self.lines[row] if 0 <= row < len(self.lines) else None
        return line if isinstance(line, TraceRow) else None

    def cell(self, row: int, column: int) -> ShownCell | None:
        """Return what a rule does to an accelerator, None where there is no such cell."""
        traced = self.row_at(row)
        return None if traced is None or self.head(column) is None else traced.cells[column - FIRST]

    def row_of(self, key: str) -> int:
        """Return the number of a line by its key, -1 where it is not shown."""
        return next((number for number, line in enumerate(self.lines) if key_of(line) == key), -1)

    def row_of_rule(self, rule: str) -> int:
        """Return the number of the line that a rule stands in, as one of several or alone; -1 without one."""
        for number, line in enumerate(self.lines):
            if isinstance(line, TraceRow) and any(each.rule.id == rule for each in line.lines):
                return number
        return self.row_of(rule)

    def can_be_weighed(self, row: int) -> bool:
        """Whether the weight of a line can be edited."""
        traced = self.row_at(row)
        return traced is not None and traced.weight is not None

    def sentence(self, row: int, column: int) -> str:
        """Return all that a cell says."""
        line = self.lines[row]
        match line:
            case TraceGroup():
                return line.title
            case TraceFold():
                state = tr("shown") if line.opened else tr("hidden")
                return f"{line.title}, {state}"
            case Rule():
                return tr(
                    "{rule}, {id}, {source}, says nothing here",
                    rule=line.title,
                    id=line.id,
                    source=source_label(line),
                )
        head = self.head(column)
        if head is not None:
            return cell_sentence(line, head, column - FIRST, self._formatter)
        if column == WEIGHT and line.weight is not None:
            return f"{line.title}, {weight_sentence(line, self._formatter)}"
        return row_sentence(line, self._formatter)

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of lines."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of columns, those before the accelerators included."""
        return 0 if parent.isValid() else FIRST + len(self.table.heads)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let rows be selected, the fold and silent rules in their first column, and weights be edited."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        line = self.lines[index.row()]
        if isinstance(line, TraceGroup):
            return Qt.ItemFlag.ItemNeverHasChildren
        if isinstance(line, TraceRow) and index.column() == WEIGHT and self.can_be_weighed(index.row()):
            return _HERE | Qt.ItemFlag.ItemIsEditable
        return _HERE

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        """Return what a cell shows, the sentence about it, or the weight to be edited."""
        if not index.isValid():
            return None
        if role == _Role.DisplayRole:
            return self._text(index.row(), index.column())
        if role in _SPOKEN:
            return self.sentence(index.row(), index.column())
        traced = self.row_at(index.row())
        if role == _Role.EditRole and traced is not None and index.column() == WEIGHT:
            return traced.weight
        return None

    def _text(self, row: int, column: int) -> str:
        line = self.lines[row]
        if isinstance(line, TraceRow):
            cell = self.cell(row, column)
            if cell is not None:
                return f"{cell.word} {cell.whole}".strip()
            weight = "" if line.weight is None else self._formatter.stated(line.weight)
            return (line.title, line.answer, weight)[column]
        return line.title if column == RULE else ""

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:  # noqa: ANN401, N802
        """Say which weight the user gives a row; it is shown when the decision was made anew."""
        traced = self.row_at(index.row())
        if role != _Role.EditRole or traced is None or not self.can_be_weighed(index.row()):
            return False
        if not WEIGHT_BOUNDS.hold(float(value)):
            return False
        if float(value) != traced.weight:
            self.weighed.emit(traced.key, float(value))
        return True

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:  # noqa: ANN401 - by role
        """Return what a column is called."""
        if role != _Role.DisplayRole and role not in _SPOKEN:
            return None
        if orientation == Qt.Orientation.Vertical:
            known = 0 <= section < len(self.lines)
            return self.sentence(section, RULE) if known and role in _SPOKEN else None
        head = self.head(section)
        if head is not None:
            return head.name
        names = (tr("Rule"), tr("Answer"), tr("Weight"))
        return names[section] if 0 <= section < FIRST else None
