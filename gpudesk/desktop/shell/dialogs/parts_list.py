"""The works that the program is made of, to go through, to narrow, and to open the terms of."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.filter_field import FilterField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.plain_list import show_as_list
from gpudesk.parts import Part
from gpudesk.text import tr

#: More rows than this are looked for by their names.
_MANY = 30
_ROW, _FIELD = 24.0, 200.0
_OPENING = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


def described(part: Part) -> str:
    """Return name and version of a work, and what it is compiled into."""
    return tr("{work}, in {holder}", work=part.work, holder=part.within) if part.within else part.work


class PartsList(QWidget):
    """Lists works with their terms. Enter or a double click opens one, the field narrows the list."""

    #: The terms of a part are asked for.
    opened = Signal(Part)
    #: Another row is the current one, or none is.
    moved = Signal()

    def __init__(self, theme: Theme, parts: Sequence[Part], parent: QWidget | None = None) -> None:
        """List what is given."""
        super().__init__(parent)
        self._theme = theme
        self._parts = tuple(parts)
        name = tr("Works and their licences")
        self._count = Label(theme, font="small", colour="text3")
        tip = tr("Show works whose name, author or licence has these words")
        self.filter = FilterField(theme, tr("Filter"), tip, framed=True, width=_FIELD)
        self.filter.setVisible(len(self._parts) > _MANY)
        self.filter.changed.connect(self._narrow)
        self.filter.left.connect(self._go_to_rows)
        self.table = _Table(theme, self._parts)
        self.table.setAccessibleName(name)
        self.table.opened.connect(self.open_current)
        self.table.itemSelectionChanged.connect(self.moved)
        head = QHBoxLayout()
        head.setSpacing(theme.px(12))
        head.addWidget(Label(theme, name, font="section"))
        head.addStretch(1)
        head.addWidget(self._count)
        head.addWidget(self.filter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(6))
        column.addLayout(head)
        column.addWidget(self.table, 1)
        self._narrow("")

    @property
    def current(self) -> Part | None:
        """The work whose row is the current one."""
        rows = self.table.selectionModel().selectedRows()
        row = rows[0].row() if rows else -1
        return None if row < 0 or self.table.isRowHidden(row) else self._parts[row]

    def open_current(self) -> None:
        """Ask for the terms of the current row."""
        part = self.current
        if part is not None:
            self.opened.emit(part)

    def _narrow(self, text: str) -> None:
        """Show the rows that have all words that were typed."""
        words = text.casefold().split()
        shown = [row for row, part in enumerate(self._parts) if _has(part, words)]
        for row in set(range(len(self._parts))).difference(shown):
            self.table.setRowHidden(row, True)
        for row in shown:
            self.table.setRowHidden(row, False)
        said = tr("{n} of {total}", n=len(shown), total=len(self._parts))
        self._count.setText(said if words else str(len(self._parts)))
        self.filter.setAccessibleDescription(said)
        if self.current is None:
            self.table.clearSelection()
            if shown:
                self.table.selectRow(shown[0])
        self.moved.emit()

    def _go_to_rows(self) -> None:
        self.table.setFocus(Qt.FocusReason.TabFocusReason)


class _Table(QTableWidget):
    """Rows of two columns; Enter opens the current one, and goes no further to the dialog's own button."""

    opened = Signal()

    def __init__(self, theme: Theme, parts: Sequence[Part]) -> None:
        super().__init__(len(parts), 2)
        for row, part in enumerate(parts):
            for column, text in enumerate((described(part), part.licence or tr("not stated"))):
                cell = QTableWidgetItem(text)
                cell.setToolTip(text)
                self.setItem(row, column, cell)
        self.setFont(theme.font("small"))
        self.verticalHeader().setDefaultSectionSize(theme.px(_ROW))
        show_as_list(self, [tr("Work"), tr("Licence")])
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setWordWrap(False)
        self.doubleClicked.connect(self._open)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open with Enter; all else is as in any table."""
        if Qt.Key(event.key()) in _OPENING:
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit()


def _has(part: Part, words: Sequence[str]) -> bool:
    told = f"{described(part)} {part.licence} {part.author}".casefold()
    return all(word in told for word in words)
