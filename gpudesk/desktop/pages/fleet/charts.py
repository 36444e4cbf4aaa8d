"""Charts of one fleet: a day's requests and the fleet's capacity, and the cost after each year."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import FloatArray, LinearScale, MonthScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.fleet import FleetAnswer, FleetCost, FleetOption, Supply
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.fleet_tables import format_hour, label_supply
from gpudesk.report.labels import format_months
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr
from gpudesk.text.units import MONTHS_PER_YEAR

_THOUSAND: Final = 1000.0
#: Palette indexes whose dashes distinguish the curves of one fleet.
_DASHES: Final = {Supply.OWNED: 1, Supply.RENTED: 2, Supply.AUTOSCALED: 3, Supply.API: 4}


class FleetChart(DeskChart):
    """A chart of one fleet; all of its curves are in the color of its accelerator."""

    def __init__(self, desk: Desk, theme: Theme, scales: tuple[LinearScale, LinearScale], parent: QWidget) -> None:
        super().__init__(desk, theme, scales, parent)
        self.option: FleetOption | None = None
        self.answer: FleetAnswer | None = None
        self.money = MoneyFormatter(desk.formatter)
        self.name, self.slot = "", 0

    def show_fleet(self, answer: FleetAnswer, option: FleetOption, money: MoneyFormatter, name: str, slot: int) -> None:
        self.answer, self.option, self.money, self.name, self.slot = answer, option, money, name, slot
        self.refresh()

    def margins(self) -> QMarginsF:
        px = self.theme.px
        return QMarginsF(px(48), self.head_height() + px(6), px(124), px(40))

    def _read(self, key: str, name: str, *cells: str, slot: int | None = None) -> CursorReadoutRow:
        return CursorReadoutRow(key, self.slot if slot is None else slot, is_variant=False, name=name, cells=cells)


class HourScale(LinearScale):
    """Hours of a day."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        step = 3 if most >= 9 else 6
        return tuple(float(hour) for hour in range(0, 25, step) if low <= hour <= high)

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del low, high, most
        return (0.0, 24.0)


class DayChart(FleetChart):
    """Requests/s of each hour, and the capacity of the fixed and the autoscaled fleet."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget) -> None:
        super().__init__(desk, theme, (HourScale(), LinearScale()), parent)

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("One day")
        self.subtitle = tr("requests per second and capacity, {name}", name=self.name)
        self.x_title = tr("hour of the day")
        series = self._series()
        if series is None:
            return PlotDrawing(note=tr("No fleet for this demand."))
        requests, scaled, fixed = series
        lines = (
            self._steps("fixed", tr("Own or rent"), fixed, self.slot, 2),
            self._steps("autoscaled", label_supply(Supply.AUTOSCALED), scaled, self.slot, 3),
            self._steps("requests", tr("Requests"), requests, 0, 0),
        )
        return PlotDrawing(lines=lines)

    def _steps(self, key: str, name: str, values: FloatArray, slot: int, dash: int) -> PlotCurve:
        edges = np.arange(len(values) + 1, dtype=float)
        return PlotCurve(
            key, slot, False, name, np.repeat(edges, 2)[1:-1], np.repeat(values, 2), capped=False, dash=dash
        )

    def _series(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return requests/s of the hours, and the capacity of the autoscaled and the fixed fleet."""
        hours = () if self.option is None else self.option.hours
        busy = [each for each in hours if each.utilization > 0 and each.replicas]
        if not busy:
            return None
        replica = busy[0].requests_per_s / busy[0].utilization / busy[0].replicas
        requests = np.array([each.requests_per_s for each in hours])
        scaled = np.array([each.replicas * replica for each in hours])
        return requests, scaled, np.full(len(hours), scaled.max())

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        series = self._series()
        if series is None or self.option is None:
            return None
        hour = int(min(max(x, 0), len(self.option.hours) - 1))
        requests, scaled, fixed = (float(each[hour]) for each in series)
        number = self.formatter.estimate
        rows = (
            self._read("fixed", tr("Own or rent"), number(fixed), self.formatter.per_cent(requests / fixed)),
            self._read(
                "autoscaled",
                label_supply(Supply.AUTOSCALED),
                number(scaled),
                self.formatter.per_cent(requests / scaled),
            ),
            self._read("requests", tr("Requests"), number(requests), "", slot=0),
        )
        return hour + 0.5, CursorReadout(format_hour(hour), (tr("requests/s"), tr("in use")), rows)

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        return min(max(value + (6.0 if far else 1.0) * (1.0 if forward else -1.0), 0.5), 23.5)

    def summary(self) -> str:
        series = self._series()
        if series is None or self.option is None:
            return ""
        requests, _, fixed = series
        return tr(
            "{name}: {peak} requests/s at peak, capacity {capacity}, utilization {share} over the day.",
            name=self.name,
            peak=self.formatter.estimate(float(requests.max())),
            capacity=self.formatter.estimate(float(fixed[0])),
            share=self.formatter.per_cent(self.option.utilization),
        )

    def data(self, formatter: Formatter) -> ChartData:
        heads = (
            tr("Hour"),
            tr("Requests/s"),
            tr("Replicas"),
            tr("Autoscaled, requests/s"),
            tr("Own or rent, requests/s"),
        )
        series = self._series()
        rows: list[tuple[str, ...]] = []
        if series is not None and self.option is not None:
            for hour, each in enumerate(self.option.hours):
                requests, scaled, fixed = (formatter.estimate(float(values[hour])) for values in series)
                rows.append((format_hour(hour), requests, formatter.count(each.replicas), scaled, fixed))
        return ChartData(tr("One day, {name}", name=self.name), heads, tuple(rows))


class YearsChart(FleetChart):
    """Cumulative cost after each year, by supply; a circle where the next system is needed."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget) -> None:
        super().__init__(desk, theme, (MonthScale(), LinearScale()), parent)

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Cost over the years")
        self.subtitle = tr("paid so far, thousand {code}, {name}", code=self.money.code, name=self.name)
        self.x_title = tr("months")
        lines = tuple(self._line(cost) for cost in self._costs())
        note = "" if lines else tr("No cost yet. Enter a price or a rent.")
        return PlotDrawing(lines=lines, marks=tuple(self._mark_next(lines)), note=note)

    def _costs(self) -> Iterator[FleetCost]:
        if self.option is None or self.answer is None:
            return
        costs = (self.answer.api if supply is Supply.API else self.option.cost_of(supply) for supply in Supply)
        yield from (cost for cost in costs if cost is not None and cost.cumulative_usd)

    def _line(self, cost: FleetCost) -> PlotCurve:
        value, low, high = self._scale(cost)
        months = self._months(cost)
        slot = 0 if cost.supply is Supply.API else self.slot
        dash = _DASHES[cost.supply]
        name = label_supply(cost.supply)
        return PlotCurve(cost.supply.value, slot, False, name, months, value, low, high, capped=False, dash=dash)

    def _scale(self, cost: FleetCost) -> tuple[FloatArray, ...]:
        """Return the cumulative cost with the ends of its interval, in thousands of the displayed currency."""
        rate = self.money.in_currency(1.0) / _THOUSAND
        return tuple(np.array(each) * rate for each in zip(*cost.cumulative_usd, strict=True))

    def _months(self, cost: FleetCost) -> FloatArray:
        """Return the months at the beginning and at the end of each year; the last year can be partial."""
        years = 0.0 if self.answer is None else self.answer.horizon_years
        months: FloatArray = np.minimum(np.arange(len(cost.cumulative_usd), dtype=float), years) * MONTHS_PER_YEAR
        return months

    def _mark_next(self, lines: tuple[PlotCurve, ...]) -> Iterator[PointMark]:
        months = None if self.option is None else self.option.months_to_next
        owned = next((line for line in lines if line.key == Supply.OWNED.value), None)
        if months is None or owned is None:
            return
        text = tr("next system: {months}", months=format_months(round(months), self.formatter))
        amount = float(np.interp(months, owned.x, owned.y))
        yield PointMark(owned.key, self.slot, months, amount, is_variant=True, text=text)

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        rows = []
        for cost in self._costs():
            line = self._line(cost)
            value, low, high = (float(np.interp(x, line.x, each)) for each in self._scale(cost))
            cells = (self.formatter.estimate(value), self.formatter.interval(low, high))
            rows.append(self._read(line.key, line.name, *cells, slot=line.slot))
        if not rows:
            return None
        title = tr("After {months}", months=format_months(round(x), self.formatter))
        return x, CursorReadout(title, (tr("thousand {code}", code=self.money.code), tr("80% interval")), tuple(rows))

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        low, high = self.ends()
        return min(max(value + (12.0 if far else 1.0) * (1.0 if forward else -1.0), low), high)

    def summary(self) -> str:
        texts = [
            tr(
                "{supply}: {amount} thousand {code}.",
                supply=label_supply(cost.supply),
                amount=self.money.rounded_thousands(cost.cumulative_usd[-1].value),
                code=self.money.code,
            )
            for cost in self._costs()
        ]
        months = None if self.option is None else self.option.months_to_next
        if months is not None:
            texts.append(tr("Next system after {months}.", months=format_months(round(months), self.formatter)))
        return " ".join(texts)

    def data(self, formatter: Formatter) -> ChartData:
        costs = list(self._costs())
        money = MoneyFormatter(formatter, self.money.currency)
        heads = (tr("Months"), *(label_supply(cost.supply) for cost in costs))
        months = self._months(costs[0]) if costs else ()
        rows = tuple(
            (
                formatter.stated(float(month)),
                *(money.rounded_thousands(cost.cumulative_usd[place].value) for cost in costs),
            )
            for place, month in enumerate(months)
        )
        title = tr("Cost over the years, thousand {code}, {name}", code=self.money.code, name=self.name)
        return ChartData(title, heads, rows)
