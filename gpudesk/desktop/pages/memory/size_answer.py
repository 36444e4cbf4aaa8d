"""One candidate in full: the sentence for a customer, the factors of its count, and the bound check."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.plain_list import show_as_list
from gpudesk.text import tr

_ROW, _FACTORS, _NUMBERS = 23.0, 340.0, 116.0
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CandidateBlock(QWidget):
    """Shows texts that it is given; Copy takes the sentence, Use asks for the deployment."""

    used = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Show nothing yet."""
        super().__init__(parent)
        self._theme = theme
        self.said = Label(theme, font="section", wrap=True, parent=self)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bound_title = Label(theme, tr("Bound check"), font="caption_strong", colour="text3", parent=self)
        self.bound = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.copy = Button(theme, tr("Copy the sentence"), icon="copy", parent=self)
        self.copy.clicked.connect(self.copy_sentence)
        self.use = Button(theme, tr("Use this deployment"), parent=self)
        self.use.clicked.connect(self.used)
        self.table = self._make_table()
        self._lay_out()
        theme.follow(self._dress)

    def show_candidate(self, sentence: str, bound: str, factors: list[tuple[str, str]], use: str) -> None:
        """Show a candidate; without `use` there is no deployment that could be taken."""
        if sentence != self.said.text():
            self.said.setText(sentence)
            self.copy.setText(tr("Copy the sentence"))
        self.bound.setText(bound)
        for label in (self.bound, self.bound_title):
            label.setVisible(bool(bound))
        self.use.setVisible(bool(use))
        self.use.setText(use)
        self.use.setAccessibleName(use)
        self._title.setVisible(bool(factors))
        self.table.setVisible(bool(factors))
        self._fill(factors)

    def copy_sentence(self) -> None:
        """Put the sentence on the clipboard, and say so on the button."""
        QGuiApplication.clipboard().setText(self.said.text())
        self.copy.setText(tr("Copied"))

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 2, self)
        show_as_list(table, [tr("Factor"), tr("Number")])
        table.setAccessibleName(tr("Factors of the count"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setFrameShape(QTableWidget.Shape.NoFrame)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return table

    def _lay_out(self) -> None:
        self._title = Label(self._theme, tr("From the demand to the count"), font="section", parent=self)
        left, right, buttons = QVBoxLayout(), QVBoxLayout(), QHBoxLayout()
        left.addWidget(self._title)
        left.addWidget(self.table)
        left.addStretch(1)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.use)
        buttons.addStretch(1)
        right.addWidget(self.said)
        right.addLayout(buttons)
        right.addSpacing(8)
        right.addWidget(self.bound_title)
        right.addWidget(self.bound)
        right.addStretch(1)
        whole = self._whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addLayout(left)
        whole.addLayout(right, 1)
        self._columns = (left, right)

    def _fill(self, factors: list[tuple[str, str]]) -> None:
        table = self.table
        table.setRowCount(len(factors))
        for row, texts in enumerate(factors):
            for column, text in enumerate(texts):
                item = table.item(row, column)
                if item is None:
                    item = QTableWidgetItem()
                    table.setItem(row, column, item)
                item.setText(text)
                item.setToolTip(text)
                if column:
                    item.setTextAlignment(_RIGHT)
        self._letter()
        self._fit()

    def _letter(self) -> None:
        """Set the product apart from the factors."""
        last = self.table.rowCount() - 1
        for row in range(last + 1):
            for column in range(2):
                item = self.table.item(row, column)
                if item is not None:
                    item.setFont(self._theme.font("section" if row == last else "small"))

    def _fit(self) -> None:
        px, rows = self._theme.px, self.table.rowCount()
        self.table.verticalHeader().setDefaultSectionSize(px(_ROW))
        self.table.setColumnWidth(1, px(_NUMBERS))
        self.table.setFixedSize(px(_FACTORS), rows * px(_ROW) + 2)

    def _dress(self) -> None:
        px = self._theme.px
        self._whole.setSpacing(px(32))
        for stacked in self._columns:
            stacked.setSpacing(px(8))
        self._letter()
        self._fit()
