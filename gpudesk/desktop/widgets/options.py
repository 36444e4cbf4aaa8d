"""Alternatives to choose from, as a list that can be narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex

#: Role under which a row hands out its `Option`, or the name of a group as str.
OPTION_ROLE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Option:
    """One alternative.

    `notes` stand right, each in a column of its own. `tag` stands beside the text in a frame. An option with
    a `reason` cannot be chosen, and says why. `group` heads the options from here on that share it. `words`
    are found by typing though they are not shown.
    """

    key: str
    text: str
    notes: tuple[str, ...] = ()
    tag: str = ""
    reason: str = ""
    group: str = ""
    words: str = ""

    @property
    def spoken(self) -> str:
        """All that is shown, as one line."""
        return ", ".join(part for part in (self.text, self.tag, *self.notes, self.reason) if part)


def next_selectable(model: QAbstractListModel, row: int, by: int) -> int:
    """Return the nearest row from here on that can be chosen, going by 1 or -1; -1 where there is none."""
    row += by
    while 0 <= row < model.rowCount():
        if model.flags(model.index(row)) & Qt.ItemFlag.ItemIsSelectable:
            return row
        row += by
    return -1


class OptionModel(QAbstractListModel):
    """Options that match what was typed, under the names of their groups."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._options: tuple[Option, ...] = ()
        self._wanted: tuple[str, ...] = ()
        self._rows: list[Option | str] = []

    @property
    def options(self) -> tuple[Option, ...]:
        """All options, found or not."""
        return self._options

    @property
    def wanted(self) -> tuple[str, ...]:
        """The words that were typed, in lower case."""
        return self._wanted

    def set_options(self, options: Sequence[Option]) -> None:
        """Offer other options."""
        self._options = tuple(options)
        self._fill()

    def narrow(self, text: str) -> None:
        """Keep the options that have all words of a text in them; those that begin with it come first."""
        self._wanted = tuple(text.casefold().split())
        self._fill()

    def row_of(self, key: str) -> int:
        """Return the row of an option, -1 where it is not among those found."""
        return next((n for n, row in enumerate(self._rows) if isinstance(row, Option) and row.key == key), -1)

    def next_row(self, row: int, by: int) -> int:
        """Return the nearest row from here on to choose, going by 1 or -1; -1 where there is none."""
        return next_selectable(self, row, by)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name and default
        """Return how many rows there are, groups included."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        """Return a row's text, its sentence, or the option itself."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == OPTION_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row if isinstance(row, str) else row.spoken
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, Option) and row.reason:
            return row.reason
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let options be chosen, but not names of groups nor what has a reason against it."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        row = self._rows[index.row()]
        if isinstance(row, str):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        if row.reason:
            return Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def _fill(self) -> None:
        self.beginResetModel()
        found = [option for option in self._options if self._matches(option)]
        if self._wanted:
            first = self._wanted[0]
            found.sort(key=lambda option: not option.text.casefold().startswith(first))
        self._rows = []
        group = ""
        for option in found:
            if option.group != group and not self._wanted:
                group = option.group
                self._rows.append(group)
            self._rows.append(option)
        self.endResetModel()

    def _matches(self, option: Option) -> bool:
        text = f"{option.text} {option.tag} {option.group} {option.words}".casefold()
        return all(word in text for word in self._wanted)
