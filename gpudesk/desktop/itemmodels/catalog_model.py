"""A section of the catalog as an item model: a line a row, with headings between them where there are any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, Column, ColumnKind, Section
from gpudesk.sheets.ages import stale
from gpudesk.sheets.catalog_cells import FIGURES, CatalogWriter
from gpudesk.sheets.catalog_words import column_head, column_meaning
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_EMPTY: Final = CatalogTable(Section.ACCELERATORS, (), ())


class Heading:
    """A line over rows that belong together: a title, and what sums them up, made when it is seen."""

    def __init__(self, title: str, make_note: Callable[[], str]) -> None:
        """Keep what makes the note."""
        self.title = title
        self._make_note = make_note

    @cached_property
    def note(self) -> str:
        """What sums the rows up."""
        return self._make_note()


#: A line: the place of a row in the table, or what stands over the next rows.
Line = int | Heading


class CatalogModel(QAbstractTableModel):
    """Lines over a `CatalogTable`; texts are written when they are asked for."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self.table = _EMPTY
        self.lines: Sequence[Line] = ()
        #: The line over which a rule stands, since what follows is not ranked; -1 for none.
        self.rule = -1
        #: The lines that are headings.
        self.headings: Sequence[int] = ()
        self._writer: CatalogWriter | None = None
        self._today, self._stale_days = "", 0
        self._stale: dict[str | None, bool] = {}

    def show(
        self,
        table: CatalogTable,
        writer: CatalogWriter,
        lines: Sequence[Line],
        *,
        headings: Sequence[int] = (),
        rule: int = -1,
    ) -> None:
        """Show these lines of a table; `headings` are those that are headings."""
        self.beginResetModel()
        self.table, self._writer, self.lines, self.rule = table, writer, lines, rule
        self.headings = headings
        self.endResetModel()

    def mark_stale(self, today: str, days: int) -> None:
        """Mark the ages of what is older than so many days on a day."""
        if (today, days) != (self._today, self._stale_days):
            self._today, self._stale_days = today, days
            self._stale.clear()
            if self.lines:
                self.dataChanged.emit(
                    self.index(0, 0), self.index(len(self.lines) - 1, self.columnCount() - 1)
                )

    def is_stale(self, row: CatalogRow) -> bool:
        """Return whether the age of a row is marked."""
        found = self._stale.get(row.date)
        if found is None:
            found = self._stale[row.date] = stale(row.date, self._today, self._stale_days)
        return found

    # Looking up

    def row(self, number: int) -> CatalogRow | None:
        """Return the row in a line; None in a heading's."""
        if not 0 <= number < len(self.lines):
            return None
        line = self.lines[number]
        return self.table.rows[line] if isinstance(line, int) else None

    def column(self, number: int) -> Column:
        """Return a column."""
        return self.table.columns[number]

    def line_of(self, key: str) -> int:
        """Return the line of the row with a key, -1 where it is not shown."""
        rows = self.table.rows
        return next(
            (
                number
                for number, line in enumerate(self.lines)
                if isinstance(line, int) and rows[line].key == key
            ),
            -1,
        )

    def text(self, row: CatalogRow, column: int) -> str:
        """Return what stands in a cell."""
        return "" if self._writer is None else self._writer.text(row, column)

    def sentence(self, number: int, column: int) -> str:
        """Return everything that a cell says."""
        line, row = self.lines[number], self.row(number)
        if isinstance(line, Heading):
            return f"{line.title}, {line.note}" if line.note else line.title
        if row is None or self._writer is None:
            return ""
        said = self._writer.sentence(row, column)
        old = self.column(column).kind is ColumnKind.AGE and self.is_stale(row)
        return f"{said}, {tr('stale')}" if old else said

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of lines."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Return the number of columns, hidden ones too."""
        return 0 if parent.isValid() else len(self.table.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that cells can be selected; headings cannot."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemNeverHasChildren if self.row(index.row()) is None else _HERE

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        """Return text, sentence or alignment of a cell."""
        if not index.isValid():
            return None
        number, column = index.row(), index.column()
        if role == _Role.DisplayRole:
            row = self.row(number)
            if row is None:
                return self.sentence(number, 0) if column == 0 else ""
            return self.text(row, column)
        if role in (_Role.AccessibleTextRole, _Role.ToolTipRole):
            return self.sentence(number, column)
        if role == _Role.TextAlignmentRole:
            return int(self.alignment(column) | Qt.AlignmentFlag.AlignVCenter)
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Return on which side the values of a column are in line."""
        figures = self.column(column).kind in FIGURES
        return Qt.AlignmentFlag.AlignRight if figures else Qt.AlignmentFlag.AlignLeft

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:  # noqa: ANN401 - by role
        """Return what a column holds; rows are called by their first cell."""
        spoken = role in (_Role.AccessibleTextRole, _Role.ToolTipRole)
        if role != _Role.DisplayRole and not spoken:
            return None
        if orientation == Qt.Orientation.Vertical:
            row = self.row(section)
            return None if row is None else self.text(row, 0)
        if not 0 <= section < len(self.table.columns):
            return None
        name = column_meaning if spoken else column_head
        return name(self.table.section, self.column(section))
