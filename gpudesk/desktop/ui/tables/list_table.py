"""A read-only table of texts that is read row by row, as dialogs show it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ListTable(QTableWidget):
    """One column takes the room that the others leave; numbers stand at the right of theirs.

    Heads that are not shown are read out by screen readers all the same.
    """

    def __init__(
        self,
        heads: Sequence[str],
        *,
        stretched: int = 0,
        numbers: Collection[int] = (),
        heads_shown: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(0, len(heads), parent)
        self._numbers = numbers
        self.setHorizontalHeaderLabels(list(heads))
        for column in range(len(heads)):
            head = self.horizontalHeaderItem(column)
            if head is not None:
                head.setTextAlignment(_RIGHT if column in numbers else _LEFT)
        header = self.horizontalHeader()
        header.setVisible(heads_shown)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)

    def fill_row(self, row: int, texts: Sequence[str], tips: bool = True) -> list[QTableWidgetItem]:
        """Put texts into a row, each its own tooltip too, and return their items."""
        items = [QTableWidgetItem(text) for text in texts]
        for column, item in enumerate(items):
            if tips:
                item.setToolTip(item.text())
            if column in self._numbers:
                item.setTextAlignment(_RIGHT)
            self.setItem(row, column, item)
        return items
