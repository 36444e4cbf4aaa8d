"""Views of one question each: tokens and units, rent or buy, and what it may cost."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.pages.cost.curve_chart import CurveChart
from gpudesk.desktop.pages.cost.draws_chart import DrawsChart
from gpudesk.desktop.pages.cost.figures import draw_figures, unit_figures
from gpudesk.desktop.pages.cost.rent_chart import RentChart
from gpudesk.desktop.pages.cost.views import CostView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.options import Option
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.desktop.widgets.text_table import TextTable
from gpudesk.domain.costs import BreakEven, CostDraws
from gpudesk.domain.messages import InputError
from gpudesk.sentences import sentence
from gpudesk.sheets.break_even_words import break_even_text
from gpudesk.text import tr

_MARGIN: Final = 16
_OWNED, _RENTED = "owned", "rented"


def _lay_out(view: QWidget, theme: Theme, chart: QWidget, below: list[QWidget]) -> None:
    """Set a chart above what says more."""
    whole = QVBoxLayout(view)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.setSpacing(0)
    upper = QHBoxLayout()
    upper.setContentsMargins(_MARGIN, 0, _MARGIN, 4)
    upper.addWidget(chart)
    lower = QVBoxLayout()
    lower.setContentsMargins(_MARGIN, 8, _MARGIN, 12)
    lower.setSpacing(6)
    for widget in below:
        lower.addWidget(widget)
    whole.addLayout(upper, 1)
    whole.addWidget(Rule(theme))
    whole.addLayout(lower)


class TokensView(CostView):
    """What tokens cost at each speed for a user; below, what a token, a request and a user cost."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make chart and table."""
        self.chart = CurveChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self.title = Label(theme, font="section", parent=self)
        self.table = FiguresTable(theme, self)
        _lay_out(self, theme, self.chart, [self.title, self.table])

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of the desk's answer."""
        self.chart.show_costs(costed)
        figures = unit_figures(costed)
        self.title.setText(figures.title)
        self.table.show_figures(figures)


class RentView(CostView):
    """Rent or buy over the months; below, where costs are equal, of one accelerator against another."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make chart, choices and list."""
        self._desk = desk
        self._costed: Costed | None = None
        self._pair = ("", "")
        self.chart = RentChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self.which, self.rival = (
            ChoiceField(theme, words, self) for words in (tr("What would it take for"), tr("to cost as"))
        )
        self.which.chosen.connect(lambda key: self._choose(key, self._pair[1]))
        self.rival.chosen.connect(lambda key: self._choose(self._pair[0], key))
        self.table = TextTable(
            theme, tr("Break-evens"), [tr("Where costs are equal")], giving=(0,), parent=self
        )
        choices = QWidget(self)
        row = QHBoxLayout(choices)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.which)
        row.addWidget(self.rival)
        row.addStretch(1)
        _lay_out(self, theme, self.chart, [choices, self.table])

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of the desk's answer."""
        self._costed = costed
        self.chart.show_costs(costed)
        keys = [part.key for part in costed.parts]
        options = [Option(part.key, part.name) for part in costed.parts]
        for field in (self.which, self.rival):
            field.set_options(options)
        first, second = self._pair
        rival = second if second in keys else keys[0]
        others = [key for key in keys if key != rival]
        self._choose(first if first in keys else (others[0] if others else rival), rival)

    def _choose(self, key: str, rival: str) -> None:
        """Show what it would take for one accelerator to cost as much a token as another."""
        self._pair = (key, rival)
        self.which.set_value(key)
        self.rival.set_value(rival)
        costed, answer = self._costed, self._desk.answer
        if costed is None or answer is None:
            return
        found: list[BreakEven] = [
            each for each in costed.costs.break_evens if each.key == key and not each.against
        ]
        if key != rival:
            found += self._desk.workbench.costing.break_evens(answer, costed.place(key), costed.place(rival))
        said = [break_even_text(each, costed.names, costed.formatter, costed.money) for each in found]
        self.table.set_rows(
            [(f"{each}.",) for each in said] or [(tr("Without prices and rents there are none."),)]
        )


class DrawsView(CostView):
    """What it may cost, drawn many times in the background; below, how often each is the cheapest."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make choice, chart and table."""
        self._desk = desk
        self._costed: Costed | None = None
        self._asked: object = None
        self.draws: CostDraws | None = None
        self.chart = DrawsChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self._tell)
        kinds = ((_OWNED, tr("Owned")), (_RENTED, tr("Rented")))
        self.kind = Segment(theme, tr("Tokens are"), kinds, self)
        self.kind.chosen.connect(lambda _: self._draw())
        self.title = Label(theme, font="section", parent=self)
        self.said = Label(theme, font="small", colour="text2", parent=self)
        self.table = FiguresTable(theme, self)
        head = QWidget(self)
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.title)
        row.addWidget(self.said)
        row.addStretch(1)
        row.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignRight)
        _lay_out(self, theme, self.chart, [head, self.table])

    def show_costs(self, costed: Costed) -> None:
        """Draw the costs of the desk's answer."""
        self._costed = costed
        self._draw()

    def _draw(self) -> None:
        answer, rented = self._desk.answer, self.kind.value == _RENTED
        if answer is None or (answer, rented) == self._asked:
            return
        self._asked = asked = (answer, rented)
        steps = self._desk.workbench.costing.draw_steps(answer, rented=rented)
        self._jobs.start("draws", steps, partial(self._done, asked), self._failed)

    def _done(self, asked: object, draws: CostDraws) -> None:
        if asked != self._asked or self._costed is None:
            return
        self.draws = draws
        why = (
            tr("Without a price there is nothing to draw.") if not draws.rented else tr("No rents are known.")
        )
        self.chart.show_draws(self._costed, draws, why)
        figures = draw_figures(self._costed, draws)
        self.title.setText(figures.title)
        self.table.show_figures(figures)

    def _failed(self, error: InputError) -> None:
        self.said.setText(sentence(error.problem, self._desk.formatter))

    def _tell(self, text: str, can_stop: bool) -> None:
        del can_stop
        self.said.setText(text)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Draw nothing that nobody looks at."""
        super().hideEvent(event)
        if self._jobs.running:
            self._jobs.stop()
            self._asked = None
