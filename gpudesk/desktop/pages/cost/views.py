"""The views of the page Cost: all at a glance, and one question each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import Shown
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.pages.cost.influence_chart import InfluenceChart
from gpudesk.desktop.pages.cost.rent_chart import RentChart
from gpudesk.desktop.pages.cost.token_chart import TokenChart
from gpudesk.desktop.pages.cost.years_chart import YearsChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import cost
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.sheets.explaining_costs import OWNED, RENTED, TOTAL

_MARGIN, _BETWEEN, _ABOVE = 16, 32, 10
#: Above the middle of a row stands the rent, below it what owning costs.
_MIDDLE = 0.5


class CostView(QWidget):
    """What one segment shows; `charts` in reading order."""

    #: The key of an accelerator whose price is to be entered.
    price_wanted = Signal(str)
    #: The key of an accelerator that was chosen.
    chosen = Signal(str)

    def __init__(self, theme: Theme, charts: Sequence[Shown], parent: QWidget | None = None) -> None:
        """Keep the charts."""
        super().__init__(parent)
        self.theme = theme
        self.charts = tuple(charts)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the ground."""
        painter = QPainter(self)
        try:
            painter.fillRect(event.rect(), self.theme.colour("page"))
        finally:
            painter.end()

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of the desk's answer."""
        raise NotImplementedError

    def choose(self, key: str) -> None:
        """Show one accelerator where the view shows but one."""
        del key

    def current_chart(self) -> Shown:
        """Return the chart that has the focus, else the first."""
        focused = (chart for chart in self.charts if isinstance(chart, QWidget) and chart.hasFocus())
        return next(focused, self.charts[0])


class Overview(CostView):
    """Tokens and years above, what moves a token's cost and rent or buy below."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make four charts."""
        self._desk = desk
        self._key = ""
        self._costs: Costed | None = None
        self.tokens = TokenChart(theme, desk.formatter)
        self.years = YearsChart(theme, desk.formatter)
        self.influences = InfluenceChart(theme, desk.formatter)
        self.rent = RentChart(desk, theme)
        super().__init__(theme, (self.tokens, self.years, self.influences, self.rent), parent)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        pairs: tuple[tuple[QWidget, QWidget], ...] = (
            (self.tokens, self.years),
            (self.influences, self.rent),
        )
        for number, pair in enumerate(pairs):
            row = QHBoxLayout()
            row.setContentsMargins(_MARGIN, _ABOVE if number else 0, _MARGIN, 6)
            row.setSpacing(_BETWEEN)
            for chart in pair:
                row.addWidget(chart, 1)
            if number:
                whole.addWidget(Rule(theme))
            whole.addLayout(row, 5 if number else 4)
        for chart in (self.tokens, self.years):
            chart.link_pressed.connect(self.price_wanted)
            chart.row_selected.connect(self.chosen)
        self.tokens.row_selected.connect(lambda key: self._select(key, of_years=False))
        self.years.row_selected.connect(lambda key: self._select(key, of_years=True))
        self.rent.curve_clicked.connect(self.chosen)

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of the desk's answer."""
        self._costs = costed
        self.tokens.show_costs(costed)
        self.years.show_costs(costed)
        self.rent.show_costs(costed)
        self._show_influences(costed)

    def choose(self, key: str) -> None:
        """Show what moves the cost of one accelerator."""
        self._key = key

    def _select(self, key: str, *, of_years: bool) -> None:
        """Let the panel explain a cost: of all years, or of a token, owned where there is a price."""
        column = None if self._costs is None else self._costs.costs.columns[self._costs.place(key)]
        upper = self.tokens.pressed_at < _MIDDLE and column is not None and column.rented is not None
        owned = column is not None and column.owned is not None and not upper
        name = TOTAL if of_years else OWNED if owned else RENTED
        self._desk.select(cost(key, name))

    def _show_influences(self, costed: Costed) -> None:
        """Show what moves the cost of the chosen accelerator, owned if it has a price, else rented."""
        answer = self._desk.answer
        if answer is None:
            return
        place = costed.place(self._key)
        column = costed.costs.columns[place]
        rented = column.owned is None
        tokens = column.rented if rented else column.owned
        found = self._desk.workbench.costing.influences(answer, place, rented=rented)
        now = None if tokens is None else tokens.output.value
        self.influences.show_influences(costed, place, found, now, rented=rented)
