"""Costs of many draws: how often a million output tokens of each accelerator cost how much."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, ReadOut, ReadOutRow
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Linear
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import CostDraws
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.cost_words import draws_text
from gpudesk.text import tr

_PER_CENT = 100.0


class DrawsChart(Chart):
    """One curve for each accelerator over costs; higher is more frequent."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without draws."""
        super().__init__(desk, theme, (Linear(), Linear()), parent)
        self._costed: Costed | None = None
        self._draws: CostDraws | None = None
        self.why_empty = ""

    def show_draws(self, costed: Costed, draws: CostDraws | None, why_empty: str = "") -> None:
        """Show draws, or why there are none."""
        self._costed, self._draws, self.why_empty = costed, draws, why_empty
        self.refresh()

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(px(44), self.head_height() + px(6), px(104), px(40))

    def make_drawing(self) -> Drawing:
        """Draw how often each cost comes."""
        self.title = tr("What it may cost")
        self.subtitle = tr("per cent of draws by cost, the same draws for all accelerators")
        code = "" if self._costed is None else self._costed.money.code
        self.x_title = tr("{code} per million output tokens", code=code)
        lines = self._lines()
        return Drawing(lines=lines, note="" if lines else self.why_empty)

    def _lines(self) -> tuple[Line, ...]:
        draws, costed = self._draws, self._costed
        if draws is None or costed is None or not draws.edges:
            return ()
        edges = np.array(draws.edges) * costed.money.in_currency(1.0)
        middles = (edges[:-1] + edges[1:]) / 2.0
        return tuple(
            Line(
                part.key,
                part.name,
                part.slot,
                part.hollow,
                middles,
                np.array(draws.histogram[part.key]) / draws.n * _PER_CENT,
                end=tr("cheapest in {share}", share=draws_text(draws.cheapest[part.key], self.formatter)),
                capped=False,
            )
            for part in costed.parts
            if part.key in draws.histogram
        )

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read in what share of draws each costs less than this."""
        draws, costed = self._draws, self._costed
        if draws is None or costed is None or not draws.edges:
            return None
        edges = np.array(draws.edges) * costed.money.in_currency(1.0)
        place = int(np.clip(np.searchsorted(edges, x), 0, len(edges) - 1))
        rows = []
        for part in costed.parts:
            if part.key in draws.histogram:
                below = sum(draws.histogram[part.key][:place]) / draws.n
                text = self.formatter.per_cent(below)
                rows.append(ReadOutRow(part.key, part.slot, part.hollow, part.name, (text,)))
        title = tr("Below {amount}", amount=self.formatter.estimate(x))
        return float(edges[place]), ReadOut(title, (tr("of draws"),), tuple(rows))

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Go on by a bar of the histogram, or by ten."""
        if self._draws is None or self._costed is None or len(self._draws.edges) < 2:
            return None
        rate = self._costed.money.in_currency(1.0)
        width = (self._draws.edges[1] - self._draws.edges[0]) * rate
        low, high = self._draws.edges[0] * rate, self._draws.edges[-1] * rate
        return min(max(value + width * (10.0 if far else 1.0) * (1.0 if forward else -1.0), low), high)

    def summary(self) -> str:
        """Say how often each is the cheapest."""
        if self._draws is None or self._costed is None:
            return self.why_empty
        names = self._costed.names
        return " ".join(
            tr("{name}: cheapest in {share}.", name=names[key], share=draws_text(share, self.formatter))
            for key, share in self._draws.cheapest.items()
            if key in names
        )

    def data(self, formatter: Formatter) -> Data:
        """Return the counts of all bars."""
        draws, costed = self._draws, self._costed
        title = tr("What it may cost, draws by USD per million output tokens")
        if draws is None or costed is None:
            return Data(title, (tr("From"), tr("To")), ())
        shown = [part for part in costed.parts if part.key in draws.histogram]
        heads = (tr("From"), tr("To"), *(part.name for part in shown))
        rows = tuple(
            (
                formatter.estimate(low),
                formatter.estimate(high),
                *(formatter.count(draws.histogram[part.key][place]) for part in shown),
            )
            for place, (low, high) in enumerate(zip(draws.edges, draws.edges[1:], strict=False))
        )
        return Data(title, heads, rows, 0)
