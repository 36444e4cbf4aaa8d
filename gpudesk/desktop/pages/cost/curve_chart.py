"""What a token costs against what each user gets: few requests in flight are fast and dear."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.columns import Part
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Mark, ReadOut, ReadOutRow
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Linear, OneTwoFive
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import CostColumn, CostPoint
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.text import tr

_MS = 1000.0


class CurveChart(Chart):
    """Costs of owning as lines of their accelerators, of renting where there is no price and as thin ones."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without costs."""
        super().__init__(desk, theme, (Linear(), OneTwoFive()), parent)
        self._costed: Costed | None = None

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of a comparison."""
        self._costed = costed
        self.refresh()

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(px(48), self.head_height() + px(6), px(104), px(40))

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw what each accelerator costs, with the scenario's own load as a point."""
        self.title = tr("Cost against interactivity")
        code = "" if self._costed is None else self._costed.money.code
        self.subtitle = tr("{code} per million output tokens, owned; thin: rented", code=code)
        self.x_title = tr("tokens per second for each user")
        lines, thin, marks = [], [], []
        for part, column in self._costed.pairs() if self._costed else ():
            owned, rented = (self._line(part, column, rented=each) for each in (False, True))
            first = owned or rented
            if first is not None:
                lines.append(first)
            if owned is not None and rented is not None:
                thin.append(rented)
            marks += self._mark(part, column)
        note = "" if lines else tr("Without a price or a rent there is no cost to draw.")
        return Drawing(tuple(lines), tuple(thin), tuple(marks), note=note)

    def _line(self, part: Part, column: CostColumn, *, rented: bool) -> Line | None:
        points = [(point, _amount(point, rented=rented)) for point in column.curve]
        known = [(point, usd) for point, usd in reversed(points) if usd is not None]
        if len(known) < 2 or self._costed is None:
            return None
        rate = self._costed.money.in_currency(1.0)
        return Line(
            part.key,
            part.name,
            part.slot,
            part.hollow,
            np.array([point.tokens_per_s_per_user for point, _ in known]),
            np.array([usd * rate for _, usd in known]),
            count=np.array([float(point.concurrency) for point, _ in known]),
            end="" if column.owned is not None else tr("rented"),
            capped=False,
        )

    def _mark(self, part: Part, column: CostColumn) -> list[Mark]:
        pace, costs = part.figure("tpot_ms"), column.owned or column.rented
        if pace is None or costs is None or self._costed is None or pace.value <= 0.0:
            return []
        y = self._costed.money.in_currency(costs.output.value)
        return [Mark(part.key, part.slot, _MS / pace.value, y, part.hollow)]

    # Reading

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read the costs where each user gets so much."""
        if self._costed is None:
            return None
        rows = []
        for part, column in self._costed.pairs():
            cells = []
            for rented in (False, True):
                line = self._line(part, column, rented=rented)
                reading = None if line is None else line.at(x)
                text = UNKNOWN if reading is None else self.formatter.estimate(reading.value)
                cells.append(text)
            rows.append(ReadOutRow(part.key, part.slot, part.hollow, part.name, tuple(cells)))
        title = tr("At {n} tok/s each", n=self.formatter.estimate(x))
        return x, ReadOut(title, (tr("owned"), tr("rented")), tuple(rows))

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Go on by a token a second, or by ten."""
        low, high = self.ends()
        return min(max(value + (10.0 if far else 1.0) * (1.0 if forward else -1.0), low), high)

    def summary(self) -> str:
        """Say what each costs at the least and at the most speed for a user."""
        said = []
        for part, column in self._costed.pairs() if self._costed else ():
            line = self._line(part, column, rented=column.owned is None)
            if line is not None:
                said.append(
                    tr(
                        "{name}: {low} at {slow} tok/s each, {high} at {fast}.",
                        name=part.name,
                        low=self.formatter.estimate(float(line.y[0])),
                        slow=self.formatter.estimate(float(line.x[0])),
                        high=self.formatter.estimate(float(line.y[-1])),
                        fast=self.formatter.estimate(float(line.x[-1])),
                    )
                )
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return the points of all curves."""
        heads = (
            tr("Accelerator"),
            tr("In flight"),
            tr("Each user, tok/s"),
            tr("Owned, USD"),
            tr("Rented, USD"),
        )
        rows = [
            (
                part.name,
                formatter.count(point.concurrency),
                formatter.estimate(point.tokens_per_s_per_user),
                formatter.estimate(point.owned_usd),
                formatter.estimate(point.rented_usd),
            )
            for part, column in (self._costed.pairs() if self._costed else ())
            for point in column.curve
        ]
        return Data(tr("Cost against interactivity, per million output tokens"), heads, tuple(rows))


def _amount(point: CostPoint, *, rented: bool) -> float | None:
    return point.rented_usd if rented else point.owned_usd
