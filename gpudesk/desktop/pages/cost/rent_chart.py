"""Rent or buy: what each accelerator has cost after so many months, rented around the clock and bought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.columns import Part
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Mark, ReadOut, ReadOutRow
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Linear
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import CostColumn
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.units import HOURS_PER_MONTH, MONTHS_PER_YEAR
from gpudesk.sheets.break_even_words import break_even_text
from gpudesk.text import tr

_THOUSAND: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Months(Linear):
    """Months in halves of years, or whole years, up to the last one."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return multiples of six months, or of as many years as leave few enough."""
        step = next((each for each in (6, 12, 24, 36, 60) if (high - low) / each < max(most, 2)), 120)
        return tuple(float(month) for month in range(math.ceil(low / step) * step, int(high) + 1, step))

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return the months as they are."""
        del low, most
        return (0.0, max(high, 1.0))


class RentChart(Chart):
    """Rents as lines of their accelerators, purchases as thin ones; a circle where buying gets cheaper."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without costs."""
        super().__init__(desk, theme, (Months(), Linear()), parent)
        self._costed: Costed | None = None

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of a comparison."""
        self._costed = costed
        self.refresh()

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(px(44), self.head_height() + px(6), px(96), px(40))

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw what has a rent, and what has a price."""
        self.title = tr("Rent or buy")
        code = "" if self._costed is None else self._costed.money.code
        self.subtitle = tr("thousand {code}; thin: bought; circle: less paid from here", code=code)
        self.x_title = tr("months")
        lines, bought, marks = [], [], []
        for part, column in self._costed.pairs() if self._costed else ():
            months = self._months()
            rent, purchase = self._rented(column, months), self._bought(column, months)
            if rent is not None:
                lines.append(self._line(part, months, rent, tr("rent")))
            if purchase is not None:
                bought.append(self._line(part, months, purchase, ""))
            marks += self._crossing(part, column)
        return Drawing(
            lines=tuple(lines),
            ghosts=tuple(bought),
            marks=tuple(marks),
            note="" if lines else tr("No rents and no prices are known."),
        )

    def _line(self, part: Part, months: np.ndarray, amounts: np.ndarray, end: str) -> Line:
        return Line(part.key, part.name, part.slot, part.hollow, months, amounts, end=end, capped=False)

    def _months(self) -> np.ndarray:
        """Return the months of the horizon; three years where nothing is owned."""
        tcos = [column.tco for column in self._costed.costs.columns] if self._costed else []
        years = next((tco.years for tco in tcos if tco is not None), 3.0)
        return np.linspace(0.0, years * MONTHS_PER_YEAR, 61)

    def _scaled(self, usd: np.ndarray) -> np.ndarray:
        rate = 1.0 if self._costed is None else self._costed.money.in_currency(1.0)
        return usd * rate / _THOUSAND

    def _rented(self, column: CostColumn, months: np.ndarray) -> np.ndarray | None:
        software = column.software
        if column.rent_usd_per_hour is None or column.count is None or software is None:
            return None
        monthly = HOURS_PER_MONTH * column.rent_usd_per_hour * column.count + software.per_month_usd
        return self._scaled(software.at_once_usd + months * monthly)

    def _bought(self, column: CostColumn, months: np.ndarray) -> np.ndarray | None:
        if column.tco is None:
            return None
        return self._scaled(column.tco.at_once_usd + months * column.tco.per_month_usd)

    def _crossing(self, part: Part, column: CostColumn) -> list[Mark]:
        if self._costed is None or column.tco is None:
            return []
        found = (each for each in self._costed.costs.break_evens if each.key == part.key)
        months = next((each.value for each in found if each.name == "months_to_own"), None)
        if months is None or months > column.tco.years * MONTHS_PER_YEAR:
            return []
        (at,) = self._scaled(np.array([column.tco.at_once_usd + months * column.tco.per_month_usd]))
        text = tr("{n} months", n=self.formatter.number(months))
        return [Mark(part.key, part.slot, months, float(at), hollow=True, text=text)]

    # Reading

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read both costs after a whole number of months."""
        if self._costed is None:
            return None
        month = min(max(round(x), 0), int(self._months()[-1]))
        rows = []
        for part, column in self._costed.pairs():
            at = np.array([float(month)])
            cells = [
                UNKNOWN if found is None else self.formatter.number(float(found[0]), 1)
                for found in (self._rented(column, at), self._bought(column, at))
            ]
            rows.append(ReadOutRow(part.key, part.slot, part.hollow, part.name, tuple(cells)))
        title = tr("After {n} months", n=self.formatter.count(month))
        return float(month), ReadOut(title, (tr("rent"), tr("buy")), tuple(rows))

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Go on by a month, or by six."""
        by = (6.0 if far else 1.0) * (1.0 if forward else -1.0)
        return min(max(value + by, 0.0), float(self._months()[-1]))

    def summary(self) -> str:
        """Say from when on buying is cheaper."""
        if self._costed is None:
            return ""
        names, money = self._costed.names, self._costed.money
        return " ".join(
            f"{break_even_text(each, names, self.formatter, money)}."
            for each in self._costed.costs.break_evens
            if each.name == "months_to_own"
        )

    def data(self, formatter: Formatter) -> Data:
        """Return both costs every half year."""
        columns = list(self._costed.pairs()) if self._costed else []
        heads = [tr("Months")]
        for part, _ in columns:
            heads += [tr("{name}, rent", name=part.name), tr("{name}, buy", name=part.name)]
        rows = []
        for month in range(0, int(self._months()[-1]) + 1, 6):
            at = np.array([float(month)])
            cells = [formatter.count(month)]
            for _, column in columns:
                both = (self._rented(column, at), self._bought(column, at))
                cells += [UNKNOWN if each is None else formatter.number(float(each[0]), 1) for each in both]
            rows.append(tuple(cells))
        code = "USD" if self._costed is None else self._costed.money.code
        return Data(tr("Rent or buy, thousand {code}", code=code), tuple(heads), tuple(rows))
