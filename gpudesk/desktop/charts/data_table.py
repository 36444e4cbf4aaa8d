"""The numbers of a chart as a table: to read, to select, to copy into a spreadsheet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Data:
    """Rows of texts under heads; columns from `first_number` on hold figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first_number: int = 1

    def tab_separated(self) -> str:
        """Return the table as a spreadsheet takes it from the clipboard."""
        return "".join("\t".join(cells) + "\n" for cells in (self.heads, *self.rows))


class DataModel(QAbstractTableModel):
    """An item model of a chart's numbers."""

    def __init__(self, data: Data, parent: QWidget | None = None) -> None:
        """Hold the table."""
        super().__init__(parent)
        self._data = data

    def rowCount(self, parent: _Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self._data.rows)

    def columnCount(self, parent: _Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns."""
        return 0 if parent is not None and parent.isValid() else len(self._data.heads)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        """Return a cell's text, its alignment, or a sentence for screen readers."""
        if not index.isValid():
            return None
        text = self._data.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            row = self._data.rows[index.row()]
            named = ", ".join(row[: self._data.first_number])
            head = self._data.heads[index.column()]
            return text if index.column() < self._data.first_number else f"{named}, {head}: {text}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            number = index.column() >= self._data.first_number
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:  # noqa: ANN401 - Qt's
        """Return a column's head."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._data.heads):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._data.heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            number = section >= self._data.first_number
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


_LEAST_WIDTH = 420.0
_MOST_WIDTH = 920.0


class DataDialog(QDialog):
    """Shows the numbers of a chart beside it; `machine` is the same table with numbers for programs."""

    def __init__(self, data: Data, machine: Data, theme: Theme, parent: QWidget | None = None) -> None:
        """Build the dialog; it stays as it is while the chart goes on."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(data.title)
        self._data, self._machine = data, machine
        self.view = QTableView(self)
        self.view.setAccessibleName(data.title)
        self.view.setModel(DataModel(data, self))
        self.view.setShowGrid(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(theme.px(27))
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        buttons = QDialogButtonBox(self)
        self._copy = QPushButton(tr("Copy table"))
        self._copy.clicked.connect(self.copy)
        buttons.addButton(self._copy, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.addButton(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.view)
        layout.addWidget(buttons)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self.copy_selected)
        self.resize(QSize(self._fit_columns(theme), theme.px(460)))
        self.view.setFocus()

    def _fit_columns(self, theme: Theme) -> int:
        """Give the columns what they need and air between; return the width that shows them."""
        self.view.resizeColumnsToContents()
        columns = range(len(self._data.heads))
        for column in columns:
            self.view.setColumnWidth(column, self.view.columnWidth(column) + theme.px(20))
        wanted = sum(self.view.columnWidth(column) for column in columns) + theme.px(48)
        return min(max(wanted, theme.px(_LEAST_WIDTH)), theme.px(_MOST_WIDTH))

    def copy(self) -> None:
        """Copy everything for a spreadsheet."""
        QGuiApplication.clipboard().setText(self._machine.tab_separated())

    def copy_selected(self) -> None:
        """Copy the rows of the selected cells."""
        rows = sorted({index.row() for index in self.view.selectedIndexes()})
        chosen = replace(self._machine, rows=tuple(self._machine.rows[row] for row in rows))
        QGuiApplication.clipboard().setText(chosen.tab_separated())
