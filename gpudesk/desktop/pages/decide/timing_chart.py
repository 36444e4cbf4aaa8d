"""What waiting costs and gains against how late the next part is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Mark, ReadOut, ReadOutRow, Rule
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Array, Linear
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.buying import BuyOrWait
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.money import Money
from gpudesk.sheets.waiting_words import months_text, slip_summary
from gpudesk.text import tr
from gpudesk.workbench.deciding.slip_curve import SlipPoint, slip_curve

_COST, _GAIN = "waiting", "gain"
#: What Shift and an arrow key go on by, in months, and an arrow key alone.
_FAR, _NEAR = 3.0, 0.25
_EVERY: Final = 4
_TICKS: Final = (1, 2, 3, 6, 12, 24, 60)


@dataclass(frozen=True, slots=True)
class SlipMonths(Linear):
    """Whole months up to the last one."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return multiples of as many months as leave few enough."""
        step = next((each for each in _TICKS if (high - low) / each < max(most, 2)), _TICKS[-1])
        return tuple(float(month) for month in range(math.ceil(low / step) * step, int(high) + 1, step))

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return the months as they are."""
        del low, most
        return (0.0, max(high, 1.0))


@dataclass(frozen=True, slots=True)
class SlipFacts:
    """What the chart shows, and what is needed to say it: names by id, and the slots of both parts."""

    found: BuyOrWait
    names: Mapping[str, str]
    money: Money
    slots: tuple[int, int]


class SlipChart(Chart):
    """Cost in the colour of the part that would be bought, gain in that of the next one; a circle between."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without a plan."""
        super().__init__(desk, theme, (SlipMonths(), Linear()), parent)
        self._facts: SlipFacts | None = None
        self._slips: tuple[SlipPoint, ...] = ()

    def show_facts(self, facts: SlipFacts) -> bool:
        """Show a plan; return whether there is anything to draw."""
        self._facts = facts
        self._slips = slip_curve(facts.found)
        if self._slips:
            self.refresh()
        return bool(self._slips)

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(self.y_texts_width(), self.head_height() + px(6), px(112), px(40))

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw both amounts by the slip, the slip in force and where they cross."""
        facts = self._facts
        self.title = tr("Cost of waiting against gain")
        self.x_title = tr("months of slip")
        if facts is None or not self._slips:
            self.subtitle = ""
            return Drawing(note=tr("A cost is not known."))
        self.subtitle = tr("thousand {code}, everything else as it most likely is", code=facts.money.code)
        x = np.array([point.slip_months for point in self._slips])
        lines = tuple(
            Line(key, name, slot, False, x, self._amounts(key), capped=False)
            for key, name, slot in zip((_COST, _GAIN), self._names(), facts.slots, strict=True)
        )
        slip = facts.found.slip_months.likely
        rule = Rule(slip, self.formatter.stated(round(slip, 1)), movable=False) if slip <= x[-1] else None
        return Drawing(lines=lines, marks=self._crossing(facts), rule=rule)

    @staticmethod
    def _names() -> tuple[str, str]:
        return tr("Cost of waiting"), tr("Gain")

    def _amounts(self, key: str) -> Array:
        facts = self._facts
        rate = 1.0 if facts is None else facts.money.in_currency(1.0) / 1000.0
        return np.array(
            [(each.waiting_usd if key == _COST else each.gain_usd) * rate for each in self._slips]
        )

    def _crossing(self, facts: SlipFacts) -> tuple[Mark, ...]:
        turn = facts.found.turns.slip_months
        if turn is None or turn > self._slips[-1].slip_months:
            return ()
        at = self._at(_COST, turn)
        text = months_text(turn, self.formatter)
        return (Mark(_COST, 0, turn, at, hollow=True, text=text),)

    def _at(self, key: str, slip: float) -> float:
        x = np.array([point.slip_months for point in self._slips])
        return float(np.interp(slip, x, self._amounts(key)))

    # Reading

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read both amounts at a quarter of a month."""
        facts = self._facts
        if facts is None or not self._slips:
            return None
        slip = min(max(round(x / _NEAR) * _NEAR, 0.0), self._slips[-1].slip_months)
        rows = tuple(
            ReadOutRow(key, slot, False, name, (self.formatter.number(self._at(key, slip), 1),))
            for key, name, slot in zip((_COST, _GAIN), self._names(), facts.slots, strict=True)
        )
        title = tr("Slip of {months}", months=months_text(slip, self.formatter))
        return slip, ReadOut(title, (tr("thousand {code}", code=facts.money.code),), rows)

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Go on by a quarter of a month, or by three months."""
        if not self._slips:
            return None
        by = (_FAR if far else _NEAR) * (1.0 if forward else -1.0)
        return min(max(value + by, 0.0), self._slips[-1].slip_months)

    def summary(self) -> str:
        """Say up to which slip waiting pays."""
        facts = self._facts
        return "" if facts is None else slip_summary(facts.found, facts.names, self.formatter)

    def data(self, formatter: Formatter) -> Data:
        """Return both amounts month by month."""
        code = "USD" if self._facts is None else self._facts.money.code
        heads = (tr("Slip, months"), *self._names())
        rows = tuple(
            (
                formatter.number(point.slip_months),
                *(formatter.number(self._at(key, point.slip_months), 1) for key in (_COST, _GAIN)),
            )
            for point in self._slips[::_EVERY]
        )
        return Data(tr("{title}, thousand {code}", title=self.title, code=code), heads, rows)
