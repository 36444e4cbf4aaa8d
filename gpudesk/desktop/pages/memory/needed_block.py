"""Accelerators needed with its title, and the offer to take the deployment of the current cell."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.pages.memory.needed import (
    NeededCell,
    NeededTable,
    count_text,
    needed_table,
)
from gpudesk.desktop.pages.memory.needed_view import NeededView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.sizing import with_deployment
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr


class NeededBlock(QWidget):
    """`brief` shows the first group only: what the load takes, or one request where it says no number."""

    #: The scenario was given the deployment of a cell.
    taken = Signal()

    def __init__(self, desk: Desk, theme: Theme, *, brief: bool, parent: QWidget | None = None) -> None:
        """Make an empty block."""
        super().__init__(parent)
        self._desk = desk
        self.formatter = desk.formatter
        self.theme = theme
        self._brief = brief
        self._table = NeededTable()
        self._subtitle = Label(theme, font="small", colour="text3", parent=self)
        self._subtitle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.remark = Label(theme, font="small", colour="text2", parent=self)
        self.offer = LinkButton(theme, "", parent=self)
        self.offer.hide()
        self.offer.clicked.connect(self._take_current)
        self.view = NeededView(theme, desk.formatter, self.title, self)
        self.view.current.connect(self._offer_cell)
        self.view.taken.connect(self._take)
        head = QHBoxLayout()
        head.addWidget(Label(theme, self.title, font="section", parent=self))
        head.addWidget(self._subtitle, 1)
        head.addWidget(self.remark)
        head.addWidget(self.offer)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(head)
        layout.addWidget(self.view)
        self._head = head
        theme.follow(self._dress)

    @property
    def title(self) -> str:
        """What the block is called."""
        return tr("Accelerators needed")

    def refresh(self) -> None:
        """Show the desk's answer."""
        self._table = needed_table(self._desk, brief=self._brief)
        answer = self._desk.answer
        model = "" if answer is None else answer.model.name
        words = tr("smallest count that holds {model}; outlined: the scenario's own", model=model)
        if words != self._subtitle.text():
            self._subtitle.setText(words)
        self.view.model_of_needs.show(self._table)

    def data(self, formatter: Formatter) -> Data:
        """Return the counts and plans as a table of texts."""
        heads = (tr("Held"), tr("Weights"), *(head.name for head in self._table.heads))
        rows = [
            (group.title, row.label, *(_with_plan(cell, formatter) for cell in row.cells))
            for group in self._table.groups
            for row in group.rows
        ]
        return Data(title=self.title, heads=heads, rows=tuple(rows), first_number=2)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table."""
        context_menu(self, self, []).popup(menu_position(event, self))

    def _offer_cell(self, cell: NeededCell | None) -> None:
        action = "" if cell is None or cell.present else cell.action
        if action != self.offer.text():
            self.offer.setText(action)
            self.offer.setAccessibleName(action)
            self.offer.setVisible(bool(action))
        remark = _remark(cell)
        if remark != self.remark.text():
            self.remark.setText(remark)

    def _take_current(self) -> None:
        self._take(self.view.current_cell())

    def _take(self, cell: NeededCell | None) -> None:
        if cell is None or cell.count is None:
            return
        scenario = with_deployment(self._desk.scenario, cell.position, cell.weights, cell.count, cell.vendor)
        self._desk.apply(scenario, cell.action)
        self.taken.emit()

    def _dress(self) -> None:
        self._head.setSpacing(self.theme.px(10))
        self._column.setSpacing(self.theme.px(4))


def _remark(cell: NeededCell | None) -> str:
    """Return what is to be said of a cell that offers nothing."""
    if cell is None:
        return ""
    return tr("The scenario's own") if cell.present else cell.reason


def _with_plan(cell: NeededCell, formatter: Formatter) -> str:
    count = count_text(cell, formatter)
    return f"{count} ({cell.below})" if cell.count is not None and cell.below else count
