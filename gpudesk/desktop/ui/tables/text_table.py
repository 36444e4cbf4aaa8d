"""A read-only table of texts, as high as its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from gpudesk.desktop.ui.theme.theme import Theme


def style_as_list(table: QTableWidget, heads: Sequence[str]) -> None:
    """Let a table be read row by row; its heads are not shown, but read out by screen readers."""
    table.setHorizontalHeaderLabels(list(heads))
    table.horizontalHeader().hide()
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)


_ROW, _HEAD, _AROUND = 25.0, 26.0, 22.0
#: Between a number and the words after it.
_GAP: Final = "\u2003"
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class TextTable(QTableWidget):
    """Columns take what they need; those that give way share what is left."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        heads: Sequence[str],
        *,
        numbers: Collection[int] = (),
        giving: Collection[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        """Begin without rows; columns in `numbers` are set flush right, those in `giving` give way."""
        super().__init__(0, len(heads), parent)
        self._theme = theme
        self._numbers, self._giving = frozenset(numbers), frozenset(giving)
        self.setAccessibleName(name)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        style_as_list(self, [head + _GAP if n in self._numbers else head for n, head in enumerate(heads)])
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(False)
        header = self.horizontalHeader()
        header.show()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column in range(len(heads)):
            head = self.horizontalHeaderItem(column)
            if head is not None:
                head.setTextAlignment(self._side(column))
        theme.follow(self._dress)

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                item = self.item(row, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setTextAlignment(self._side(column))
                    self.setItem(row, column, item)
                item.setText(text + _GAP if column in self._numbers else text)
                item.setToolTip(text)
        self._fit()

    def texts(self) -> list[tuple[str, ...]]:
        return [
            tuple(
                item.text().removesuffix(_GAP)
                for column in range(self.columnCount())
                if (item := self.item(row, column))
            )
            for row in range(self.rowCount())
        ]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()

    def _side(self, column: int) -> Qt.AlignmentFlag:
        return _RIGHT if column in self._numbers else _LEFT

    def _dress(self) -> None:
        self.setFont(self._theme.font("small"))
        self.horizontalHeader().setFont(self._theme.font("caption_strong"))
        self._fit()

    def _fit(self) -> None:
        px = self._theme.px
        self.verticalHeader().setDefaultSectionSize(px(_ROW))
        self.horizontalHeader().setFixedHeight(px(_HEAD))
        self.setFixedHeight(px(_HEAD) + self.rowCount() * px(_ROW) + 2)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give columns what they hold; those that give way share what is left by what they hold."""
        around, taken = self._theme.px(_AROUND), 0
        for column in range(self.columnCount()):
            if column not in self._giving:
                self.resizeColumnToContents(column)
                self.setColumnWidth(column, self.columnWidth(column) + around)
                taken += self.columnWidth(column)
        left = max(self.viewport().width() - taken, 0)
        wanted = {column: max(self.sizeHintForColumn(column), 1) for column in self._giving}
        # The narrowest first, so that what it takes beyond its share is missing where there is more.
        for column in sorted(wanted, key=wanted.__getitem__):
            share = max(left * wanted[column] // sum(wanted.values()), self._theme.px(80))
            self.setColumnWidth(column, share)
            left -= share
            del wanted[column]
