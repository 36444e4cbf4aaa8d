"""The view Printed cases: what documents say of costs, worked out again, with their inputs to take over."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.pages.cost.views import CostView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.desktop.widgets.text_table import TextTable
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import AcceleratorChoice
from gpudesk.domain.worked_examples import WorkedFigure
from gpudesk.sentences import problem
from gpudesk.sheets.case_words import case_conclusion, case_title
from gpudesk.sheets.worked_words import printed_text, verdict_label, worked_text
from gpudesk.text import tr
from gpudesk.workbench.costing.assumptions import CostCase

_MARGIN: Final = 16


class CasesView(CostView):
    """A choice of cases; below, what follows from the chosen one, and its printed figures with verdicts."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make choice, texts and table."""
        super().__init__(theme, (), parent)
        self._desk, self.formatter = desk, desk.formatter
        self._cases = {each.id: each for each in desk.workbench.costing.assumptions.cases}
        cases = [(each, case_title(each)) for each in self._cases]
        self.case = Segment(theme, tr("Case"), cases, self)
        self.case.chosen.connect(lambda _: self._show())
        self.take = Button(theme, tr("Take these inputs"), icon="import", parent=self)
        self.take.setToolTip(tr("Compare the two accelerators by every input that the document states"))
        self.take.clicked.connect(self._take)
        self.source = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.said = Label(theme, wrap=True, parent=self)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        heads = [tr("Number"), tr("Verdict"), tr("What"), tr("Printed"), tr("Arithmetic")]
        self.table = TextTable(
            theme, tr("Printed figures of the case"), heads, numbers=(3, 4), giving=(2,), parent=self
        )
        head = QHBoxLayout()
        head.addWidget(self.case)
        head.addStretch(1)
        head.addWidget(self.take)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(_MARGIN, 0, _MARGIN, _MARGIN)
        whole.setSpacing(theme.px(10))
        whole.addLayout(head)
        for widget in (self.source, self.said, self.table):
            whole.addWidget(widget)
        whole.addStretch(1)
        self.charts = (self,)

    @property
    def _chosen(self) -> CostCase:
        return self._cases[self.case.value]

    def show_costs(self, costed: Costed) -> None:
        """Show the case that is chosen, which does not rest on the scenario."""
        del costed
        self._show()

    def _show(self) -> None:
        case = self._chosen
        source = self._desk.workbench.catalog.source(case.source)
        self.source.setText(tr("As printed in {title}, {date}", title=source.title, date=source.date or "—"))
        try:
            figures = self._figures()
        except InputError as error:
            self.said.setText(problem(error, self.formatter))
            return
        self.said.setText(case_conclusion(case.id, figures, self.formatter))
        self.table.set_rows([_row(each, self.formatter) for each in figures])

    def _figures(self) -> list[WorkedFigure]:
        case = self._chosen
        worked = self._desk.workbench.worked_examples
        return [each for each in worked if case.first <= each.example.id <= case.last]

    def _take(self) -> None:
        """Compare the accelerators of the case by its inputs, as one step."""
        case = self._chosen
        parts = tuple(AcceleratorChoice(part, 1) for part in case.accelerators)
        scenario = replace(self._desk.scenario, accelerators=parts, costs=case.settings)
        self._desk.apply(scenario, tr("Take over {case}", case=case_title(case.id)))

    def data(self, formatter: Formatter) -> Data:
        """Return the printed figures of the chosen case."""
        heads = (tr("Number"), tr("Verdict"), tr("What"), tr("Printed"), tr("Arithmetic"))
        return Data(
            case_title(self._chosen.id), heads, tuple(_row(each, formatter) for each in self._figures()), 3
        )


def _row(figure: WorkedFigure, formatter: Formatter) -> tuple[str, ...]:
    example = figure.example
    return (
        example.id,
        verdict_label(figure),
        example.statement[:1].upper() + example.statement[1:],
        printed_text(example, formatter),
        worked_text(figure, formatter),
    )
