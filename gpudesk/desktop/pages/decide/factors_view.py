"""The view Factors: a table of subjects, each judged here by a figure of these accelerators."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.itemmodels.factors_model import FactorsModel, factor_rows
from gpudesk.desktop.itemmodels.trace_rows import TraceHead
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.factors_table import FactorsTable
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import trace_row
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

_MARGIN: Final = 16.0
_OUT: Final = 8.0


class FactorsView(DecideView):
    """One table with its title, and what is not known in it."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without rows."""
        super().__init__(desk, theme, parent)
        self.model = FactorsModel(self)
        self.table = FactorsTable(theme, self.model, self)
        self.table.cell_chosen.connect(self._select)
        title = Label(theme, tr("Factors"), font="section", parent=self)
        subtitle = Label(
            theme,
            tr("each judged by a figure of these accelerators, beside what documents say of theirs"),
            font="small",
            colour="text3",
            wrap=True,
            parent=self,
        )
        self.note = Label(
            theme,
            tr(
                "Preferred leads in its figure, with bands compared where there are any. What has no measure "
                "stays not known: what a document says of two accelerators is shown, and judges no others."
            ),
            font="small",
            colour="text2",
            wrap=True,
            parent=self,
        )
        px = theme.px
        margin = px(_MARGIN)
        head = QHBoxLayout()
        head.setContentsMargins(margin, 0, margin, 0)
        head.setSpacing(px(10))
        head.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(subtitle, 1)
        table, below = QHBoxLayout(), QHBoxLayout()
        table.setContentsMargins(margin - px(_OUT), 0, margin - px(_OUT), 0)
        table.addWidget(self.table)
        below.setContentsMargins(margin, 0, margin, 0)
        below.addWidget(self.note)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, px(4), 0, margin)
        whole.setSpacing(px(8))
        for row in (head, table, below):
            whole.addLayout(row)
        whole.addStretch(1)

    def show_decision(self, found: Decided) -> None:
        """Show the factors of a decision."""
        rules = {rule.id: rule for rule in self.desk.workbench.decider.rules}
        heads = [TraceHead(key, found.names[key], found.slots[key], found.hollow[key]) for key in found.keys]
        self.model.show(heads, factor_rows(found.decision, rules, found.formatter))

    def _select(self, row: int, column: str) -> None:
        """Let the panel explain the rule that a document has of a factor."""
        rules = self.model.rows[row].rules
        if rules:
            self.desk.select(trace_row(rules[0].id, column))

    def copied(self) -> str:
        """Return the table as lines of cells set apart by tabs."""
        model, across = self.model, Qt.Orientation.Horizontal
        columns = range(model.columnCount())
        lines = [[str(model.headerData(column, across)) for column in columns]]
        lines += [
            [str(model.index(row, column).data()) for column in columns] for row in range(model.rowCount())
        ]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    def focus_first(self) -> None:
        """Give the focus to the table."""
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
