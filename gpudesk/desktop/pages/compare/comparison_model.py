"""The comparison table as an item model: arrangement, rows with headings, and the choice of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Signal

from gpudesk.desktop.ui.tables.table_base import HEADING, SELECTABLE, Index, TableItemModel
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.table import describe_compared_cell, describe_compared_row, make_search_text
from gpudesk.report.comparison.tables import (
    ComparisonCell,
    ComparisonGroup,
    ComparisonHead,
    ComparisonRow,
    ComparisonTable,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr


@frozen_dataclass
class ComparisonSorting:
    """Columns sorted by their values in the row of this key."""

    row: str
    descending: bool


@frozen_dataclass
class ComparisonArrangement:
    """Which rows and columns are shown, and in which order.

    `row_order` holds the keys of moved rows, with their whole group. Columns are hidden by key.
    """

    differences_only: bool = False
    filter: str = ""
    hidden_rows: frozenset[str] = frozenset()
    row_order: tuple[str, ...] = ()
    hidden_columns: frozenset[str] = frozenset()
    sorting: ComparisonSorting | None = None


@frozen_dataclass
class ComparisonLine:
    """One line of the view: a row, or the heading of its group."""

    group: ComparisonGroup
    row: ComparisonRow | None

    @property
    def key(self) -> str:
        """Identifier of the line, independent of its content."""
        return f"group:{self.group.key}" if self.row is None else self.row.key

    @property
    def has_second_line(self) -> bool:
        return self.row is not None and self.row.has_second_line


def list_lines(table: ComparisonTable, arrangement: ComparisonArrangement) -> tuple[ComparisonLine, ...]:
    """Return the visible lines, including headings; an empty group has no heading."""
    lines: list[ComparisonLine] = []
    positions = list_shown_columns(table, arrangement)
    words = arrangement.filter.casefold().split()
    for group in table.groups:
        rows = [
            row
            for row in order_rows(group.rows, arrangement.row_order)
            if row.key not in arrangement.hidden_rows
            and _passes(row, group, words, positions, differences_only=arrangement.differences_only)
        ]
        if rows:
            lines += [ComparisonLine(group, None), *(ComparisonLine(group, row) for row in rows)]
    return tuple(lines)


def _passes(
    row: ComparisonRow,
    group: ComparisonGroup,
    words: Sequence[str],
    positions: Sequence[int],
    *,
    differences_only: bool,
) -> bool:
    """Whether a row contains all search words; with a single column all rows count as differing."""
    if differences_only and len(positions) > 1 and not row.differs(positions):
        return False
    if not words:
        return True
    text = make_search_text(row, group.title)
    return all(word in text for word in words)


def order_rows(rows: Iterable[ComparisonRow], order: Sequence[str]) -> tuple[ComparisonRow, ...]:
    """Return rows in the user's order; a row without a position follows its predecessor."""
    natural = list(rows)
    places = {key: place for place, key in enumerate(order)}
    ordered_rows = sorted((row for row in natural if row.key in places), key=lambda row: places[row.key])
    previous: ComparisonRow | None = None
    for row in natural:
        if row.key not in places:
            ordered_rows.insert(0 if previous is None else ordered_rows.index(previous) + 1, row)
        previous = row
    return tuple(ordered_rows)


def move_row(table: ComparisonTable, arrangement: ComparisonArrangement, key: str, step: int) -> ComparisonArrangement:
    """Return the arrangement with a row moved past its visible neighbor, up (-1) or down (1)."""
    row_keys = [line.key for line in list_lines(table, arrangement) if line.row is not None]
    group = next((group for group in table.groups if any(row.key == key for row in group.rows)), None)
    if group is None:
        return arrangement
    keys = [row.key for row in order_rows(group.rows, arrangement.row_order)]
    visible = [each for each in keys if each in row_keys]
    if key not in visible or not 0 <= visible.index(key) + step < len(visible):
        return arrangement
    neighbor = visible[visible.index(key) + step]
    keys.remove(key)
    keys.insert(keys.index(neighbor) + (1 if step > 0 else 0), key)
    others = tuple(each for each in arrangement.row_order if each not in keys)
    return replace(arrangement, row_order=(*others, *keys))


def list_shown_columns(table: ComparisonTable, arrangement: ComparisonArrangement) -> tuple[int, ...]:
    """Return the positions of the visible columns, in order."""
    visible_positions = [
        position for position, head in enumerate(table.heads) if head.key not in arrangement.hidden_columns
    ]
    sorting = arrangement.sorting
    row = None if sorting is None else find_row(table, sorting.row)
    if sorting is None or row is None:
        return tuple(visible_positions)
    known_positions = [position for position in visible_positions if row.cells[position].value is not None]
    unknown = [position for position in visible_positions if row.cells[position].value is None]
    numbers = all(row.cells[position].is_figure for position in known_positions)

    def value(position: int) -> tuple[float, str]:
        cell = row.cells[position]
        return (float(cell.value or 0), "") if numbers else (0.0, cell.text.casefold())

    # Python's sort is stable in reverse too: ties keep the scenario's order.
    return (*sorted(known_positions, key=value, reverse=sorting.descending), *unknown)


def find_row(table: ComparisonTable, key: str) -> ComparisonRow | None:
    return next((row for group in table.groups for row in group.rows if row.key == key), None)


def choose_next_row_sorting(
    table: ComparisonTable, sorting: ComparisonSorting | None, key: str
) -> ComparisonSorting | None:
    """Return the next sorting by a row: the best first, then reversed, then the scenario's order."""
    row = find_row(table, key)
    best_first = row is None or (row.more_is_better is not False and any(c.is_figure for c in row.cells))
    if sorting is None or sorting.row != key:
        return ComparisonSorting(key, best_first)
    return ComparisonSorting(key, not best_first) if sorting.descending == best_first else None


_EMPTY: Final = ComparisonTable((), ())
_Role = Qt.ItemDataRole


class ComparisonModel(TableItemModel):
    """A `ComparisonTable` in a `ComparisonArrangement`.

    New figures in the same rows and columns are signaled as changed data, so that selection and scrolling stay; other
    changes are a reset.
    """

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self.table = _EMPTY
        self.arrangement = ComparisonArrangement()
        self.lines: tuple[ComparisonLine, ...] = ()
        self.positions: tuple[int, ...] = ()

    # Updates

    def show(self, table: ComparisonTable, arrangement: ComparisonArrangement) -> None:
        new_lines, new_positions = list_lines(table, arrangement), list_shown_columns(table, arrangement)
        if self._has_shape(table, new_lines, new_positions):
            changed = [
                number
                for number, (old, new) in enumerate(zip(self.lines, new_lines, strict=True))
                if (old.row is not new.row and old.row != new.row) or old.group.note != new.group.note
            ]
            heads_changed = table.heads != self.table.heads
            self.table, self.arrangement, self.lines = table, arrangement, new_lines
            last = self.columnCount() - 1
            if heads_changed and last >= 0:
                self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, last)
            for first, end in _runs(changed):
                self.dataChanged.emit(self.index(first, 0), self.index(end, last))
            return
        self.beginResetModel()
        self.table, self.arrangement = table, arrangement
        self.lines, self.positions = new_lines, new_positions
        self.endResetModel()

    def _has_shape(
        self, table: ComparisonTable, new_lines: Sequence[ComparisonLine], new_positions: tuple[int, ...]
    ) -> bool:
        return (
            new_positions == self.positions
            and [head.key for head in table.heads] == [head.key for head in self.table.heads]
            and [line.key for line in new_lines] == [line.key for line in self.lines]
        )

    # Looking up

    @property
    def shown_rows(self) -> int:
        """How many rows are shown, headings not counted."""
        return sum(line.row is not None for line in self.lines)

    @property
    def all_rows(self) -> int:
        return len(self.table.rows)

    def head(self, column: int) -> ComparisonHead:
        return self.table.heads[self.positions[column]]

    def is_baseline(self, column: int) -> bool:
        return self.positions[column] == 0

    def cell(self, row: int, column: int) -> ComparisonCell | None:
        """Return a cell, None in a heading line."""
        line = self.lines[row]
        return None if line.row is None else line.row.cells[self.positions[column]]

    def index_of(self, row_key: str, column_key: str) -> QModelIndex:
        """Return the index of a cell by keys; invalid if it is not shown."""
        row = next((number for number, line in enumerate(self.lines) if line.key == row_key), -1)
        keys = [self.table.heads[position].key for position in self.positions]
        return self.index(row, keys.index(column_key)) if row >= 0 and column_key in keys else QModelIndex()

    def sentence(self, row: int, column: int) -> str:
        """Return the full text of a cell, or the title of a heading line."""
        line = self.lines[row]
        if line.row is None:
            return line.group.title
        return describe_compared_cell(self.table, line.row, self.positions[column], self._formatter)

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.lines)

    def count_columns(self) -> int:
        return len(self.positions)

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:  # noqa: ARG002 - headings span whole lines
        return HEADING if self.lines[row].row is None else SELECTABLE

    def get_text(self, row: int, column: int) -> str:
        cell = self.cell(row, column)
        if cell is None:
            return self.lines[row].group.title if column == 0 else ""
        return cell.text

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:  # noqa: ARG002 - the same for all
        return Qt.AlignmentFlag.AlignRight

    def get_label(self, section: int, *, spoken: bool) -> str:
        line = self.lines[section]
        if line.row is None:
            return line.group.title
        return describe_compared_row(line.row) if spoken else line.row.label

    def get_head(self, section: int, *, spoken: bool) -> str:
        return self._describe_head(section) if spoken else self.head(section).name

    def explain_head(self, section: int, *, across: bool) -> str:
        from gpudesk.report.manual import explain_key

        row = None if across else self.lines[section].row
        return "" if row is None else explain_key(row.key)

    def _describe_head(self, section: int) -> str:
        head = self.head(section)
        parts = [head.name, head.detail, tr("baseline") if self.is_baseline(section) else ""]
        return ", ".join(part for part in parts if part)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each consecutive run."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place


#: Role: whether a line is the heading of a group.
HEADING_ROLE: Final = _Role.UserRole


class RowChoiceModel(QAbstractListModel):
    """Every row of the table with a check box; the one of a heading covers all its rows."""

    #: Keys of the hidden rows, after a change of a check box.
    chosen = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[ComparisonLine, ...] = ()
        self._hidden: frozenset[str] = frozenset()

    def show(self, groups: tuple[ComparisonGroup, ...], hidden: Set[str]) -> None:
        self.beginResetModel()
        self._lines = tuple(
            line
            for group in groups
            for line in (ComparisonLine(group, None), *(ComparisonLine(group, row) for row in group.rows))
        )
        self._hidden = frozenset(hidden)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return (
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsUserCheckable
            | Qt.ItemFlag.ItemNeverHasChildren
        )

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == _Role.DisplayRole:
            return line.group.title if line.row is None else line.row.label
        if role == _Role.CheckStateRole:
            return self._get_check_state(line)
        if role == HEADING_ROLE:
            return line.row is None
        if role == _Role.AccessibleTextRole:
            if line.row is None:
                return tr("All {group} rows", group=line.group.title)
            return f"{describe_compared_row(line.row)}, {line.group.title}"
        return None

    def setData(self, index: Index, value: object, role: int = _Role.EditRole) -> bool:
        if not index.isValid() or role != _Role.CheckStateRole:
            return False
        line = self._lines[index.row()]
        rows = line.group.rows if line.row is None else (line.row,)
        keys = {row.key for row in rows}
        is_checked = Qt.CheckState(value) != Qt.CheckState.Unchecked
        self._hidden = self._hidden - keys if is_checked else self._hidden | keys
        self.dataChanged.emit(self.index(0), self.index(len(self._lines) - 1), [_Role.CheckStateRole])
        self.chosen.emit(self._hidden)
        return True

    def _get_check_state(self, line: ComparisonLine) -> Qt.CheckState:
        rows = line.group.rows if line.row is None else (line.row,)
        hidden = sum(row.key in self._hidden for row in rows)
        if hidden == 0:
            return Qt.CheckState.Checked
        return Qt.CheckState.Unchecked if hidden == len(rows) else Qt.CheckState.PartiallyChecked
