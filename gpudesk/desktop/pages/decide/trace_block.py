"""The trace with its title: what can be copied, weights that are edited and taken back, the selection."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.itemmodels.trace_model import TraceModel
from gpudesk.desktop.itemmodels.trace_rows import TraceHead, TraceRow, trace_table, trace_text
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.trace_view import TraceView
from gpudesk.desktop.session.deciding import with_usual_weights, with_weight
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import SelectionKind, trace_row
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.menu import make_menu
from gpudesk.domain.formatting import MACHINE, Formatter
from gpudesk.text import tr


class TraceBlock(QWidget):
    """Every rule that fired, with what it does to each accelerator."""

    #: The trace was put on the clipboard.
    copied = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without rows."""
        super().__init__(parent)
        self._desk = desk
        self._found: Decided | None = None
        self.model = TraceModel(desk.formatter, self)
        self.model.weighed.connect(self.weigh)
        self.view = TraceView(theme, self.model, desk.formatter, self)
        self.view.cell_chosen.connect(self._select)
        self.view.reset_wanted.connect(self.reset)
        self.view.menu_requested.connect(self._menu)
        subtitle = Label(
            theme,
            tr("every rule that fired, in order; a rule that must hold is never outvoted"),
            font="small",
            colour="text3",
            parent=self,
        )
        subtitle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.usual = LinkButton(theme, tr("Back to usual weights"), parent=self)
        self.usual.clicked.connect(self.reset_all)
        self.usual.hide()
        self.copy_link = LinkButton(theme, tr("Copy the trace as text"), parent=self)
        self.copy_link.clicked.connect(self.copy)
        head = QHBoxLayout()
        head.setContentsMargins(theme.px(8), 0, theme.px(8), 0)
        head.setSpacing(theme.px(10))
        head.addWidget(Label(theme, tr("Trace"), font="section", parent=self))
        head.addWidget(subtitle, 1)
        head.addWidget(self.usual)
        head.addWidget(self.copy_link)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(2))
        whole.addLayout(head)
        whole.addWidget(self.view)
        desk.selection_changed.connect(self._follow_selection)

    def show_decision(self, found: Decided) -> None:
        """Show the trace of a decision."""
        self._found = found
        weights = found.answer.scenario.decision.weights
        heads = [TraceHead(key, found.names[key], found.slots[key], found.hollow[key]) for key in found.keys]
        rules = self._desk.workbench.decider.rules
        self.model.show(trace_table(found.decision, heads, rules, frozenset(weights), found.formatter))
        self.usual.setVisible(bool(weights))
        self._follow_selection()

    # Selection

    def _select(self, key: str, column: str) -> None:
        self._desk.select(trace_row(key, column))

    def _follow_selection(self) -> None:
        """Mark the row that is selected on the desk, none where it is something else."""
        chosen = self._desk.selection
        if chosen is not None and chosen.kind is SelectionKind.TRACE:
            self.view.show_rule(chosen.name, chosen.column)

    # Weights

    def weigh(self, key: str, weight: float) -> None:
        """Give a row a weight as one step: its rule has it, and those counted with it have no more."""
        row = self._row(key)
        if row is None:
            return
        scenario = with_weight(self._desk.scenario, key, weight)
        for line in row.also:
            if line.weight > weight:
                scenario = with_weight(scenario, line.rule.id, weight)
        self._desk.apply(scenario, tr("Weight of {rule}", rule=row.title))

    def reset(self, key: str) -> None:
        """Give a row its usual weight as one step."""
        row = self._row(key)
        if row is None:
            return
        scenario = self._desk.scenario
        for line in row.lines:
            scenario = with_weight(scenario, line.rule.id, None)
        self._desk.apply(scenario, tr("Usual weight of {rule}", rule=row.title))

    def reset_all(self) -> None:
        """Give all rules their usual weights as one step."""
        self._desk.apply(with_usual_weights(self._desk.scenario), tr("Usual weights"))

    def _row(self, key: str) -> TraceRow | None:
        return self.model.row_at(self.model.row_of(key))

    # Text and menu

    def text(self, formatter: Formatter) -> str:
        """Return the trace as lines of cells set apart by tabs."""
        return trace_text(self.model.table, formatter)

    def copy(self) -> None:
        """Copy the trace as text."""
        QApplication.clipboard().setText(self.text(Formatter(MACHINE)))
        self.copied.emit()

    def _menu(self, key: str, place: QPoint) -> None:
        """Offer what can be done with a line."""
        row = self._row(key)
        menu = make_menu(parent=self)
        menu.setAccessibleName(tr("Rule"))
        edit = menu.addAction(tr("Edit the weight"))
        edit.setEnabled(row is not None and row.weight is not None)
        edit.triggered.connect(lambda: self.view.edit_weight(self.model.row_of(key)))
        usual = menu.addAction(tr("Back to the usual weight"))
        usual.setEnabled(row is not None and row.changed)
        usual.triggered.connect(lambda: self.reset(key))
        menu.addSeparator()
        menu.addAction(tr("Copy the trace as text")).triggered.connect(self.copy)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)
