"""The views and charts of the Fleet page: the table with a choice of systems, the racks, and one fleet over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.page import PageView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_fleet_figure
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.pictures import RackPicture
from gpudesk.desktop.ui.charts.scales import FloatArray, LinearScale, MonthScale
from gpudesk.desktop.ui.tables.data_table import DataTableSection
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    Hairline,
    ThemedLabel,
    find_scroll_area,
    make_column,
    make_row,
    set_beside,
)
from gpudesk.domain.fleet import FleetAnswer, FleetCost, FleetOption, FleetSettings, Supply
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.data_table import DataRow, DataTable
from gpudesk.report.fleet_tables import (
    FleetCostUnit,
    build_fleet_table,
    format_hour,
    list_fleet_figures,
    list_fleet_notes,
)
from gpudesk.report.labels import format_months, label_system
from gpudesk.report.rack_drawing import label_use, sketch_fleets
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message, to_sentence
from gpudesk.text.translation import tr
from gpudesk.text.units import MONTHS_PER_YEAR

_THOUSAND: Final = 1000.0
#: Palette indexes whose dashes distinguish the curves of one fleet.
_DASHES: Final = {Supply.OWNED: 1, Supply.RENTED: 2, Supply.AUTOSCALED: 3, Supply.API: 4}


class FleetChart(DeskChart):
    """A chart of one fleet; all of its curves are in the color of its accelerator."""

    around = (48, 6, 124, 40)

    def __init__(self, desk: Desk, theme: Theme, scales: tuple[LinearScale, LinearScale], parent: QWidget) -> None:
        super().__init__(desk, theme, scales, parent)
        self.option: FleetOption | None = None
        self.answer: FleetAnswer | None = None
        self.money = MoneyFormatter(desk.formatter)
        self.name, self.slot = "", 0

    def show_fleet(self, answer: FleetAnswer, option: FleetOption, money: MoneyFormatter, name: str, slot: int) -> None:
        self.answer, self.option, self.money, self.name, self.slot = answer, option, money, name, slot
        self.refresh()

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

    strides = (1.0, 6.0)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget) -> None:
        super().__init__(desk, theme, (HourScale(), LinearScale()), parent)

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("One day")
        self.subtitle = tr("requests per second: demand and capacity, {name}", name=self.name)
        self.x_title = tr("hour of the day")
        series = self._compute_series()
        if series is None:
            return PlotDrawing(note=tr("No fleet for this demand."))
        requests, scaled, fixed = series
        lines = (
            self._make_step_curve("fixed", tr("Fixed capacity"), fixed, self.slot, 2),
            self._make_step_curve("autoscaled", tr("Autoscaled capacity"), scaled, self.slot, 3),
            self._make_step_curve("requests", tr("Requests"), requests, 0, 0),
        )
        return PlotDrawing(lines=lines)

    def _make_step_curve(self, key: str, name: str, values: FloatArray, slot: int, dash: int) -> PlotCurve:
        edges = np.arange(len(values) + 1, dtype=float)
        return PlotCurve(
            key, slot, False, name, np.repeat(edges, 2)[1:-1], np.repeat(values, 2), capped=False, dash=dash
        )

    def _compute_series(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
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
        series = self._compute_series()
        if series is None or self.option is None:
            return None
        hour = int(min(max(x, 0), len(self.option.hours) - 1))
        requests, scaled, fixed = (float(each[hour]) for each in series)
        number = self.formatter.estimate
        rows = (
            self._read("fixed", tr("Fixed capacity"), number(fixed), self.formatter.per_cent(requests / fixed)),
            self._read(
                "autoscaled", tr("Autoscaled capacity"), number(scaled), self.formatter.per_cent(requests / scaled)
            ),
            self._read("requests", tr("Requests"), number(requests), "", slot=0),
        )
        return hour + 0.5, CursorReadout(format_hour(hour), (tr("requests/s"), tr("in use")), rows)

    def stops(self) -> tuple[float, ...]:
        return (0.5, 23.5)

    def summary(self) -> str:
        series = self._compute_series()
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
            tr("Scaled capacity, requests/s"),
            tr("Fixed capacity, requests/s"),
        )
        series = self._compute_series()
        rows: list[tuple[str, ...]] = []
        if series is not None and self.option is not None:
            for hour, each in enumerate(self.option.hours):
                requests, scaled, fixed = (formatter.estimate(float(values[hour])) for values in series)
                rows.append((format_hour(hour), requests, formatter.count(each.replicas), scaled, fixed))
        return ChartData(tr("One day, {name}", name=self.name), heads, tuple(rows))


class YearsChart(FleetChart):
    """Cumulative cost after each year, by supply; a circle where the next system is needed."""

    strides = (1.0, 12.0)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget) -> None:
        super().__init__(desk, theme, (MonthScale(), LinearScale()), parent)

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Cost over the years")
        self.subtitle = tr("total paid by each month, thousand {code}, {name}", code=self.money.code, name=self.name)
        self.x_title = tr("months")
        lines = tuple(self._make_curve(cost) for cost in self._list_costs())
        note = "" if lines else tr("No cost yet. Enter a price or a rent.")
        return PlotDrawing(lines=lines, marks=tuple(self._mark_next(lines)), note=note)

    def _select_band_keys(self) -> frozenset[str]:
        """Return one curve: the curve at the mouse or the keyboard focus, else the cheapest in the end.

        All bands have one color, so overlapping ones would look like one.
        """
        keys = {line.key for line in self.drawing.lines}
        at_hand = next((key for key in (self._hovered_key, self.current) if key in keys), None)
        cheapest = min(self.drawing.lines, key=lambda line: float(line.y[-1]), default=None)
        return frozenset({at_hand} if at_hand else {cheapest.key} if cheapest else ())

    def _list_costs(self) -> Iterator[FleetCost]:
        if self.option is None or self.answer is None:
            return
        costs = (self.answer.api if supply is Supply.API else self.option.find_supply_cost(supply) for supply in Supply)
        yield from (cost for cost in costs if cost is not None and cost.cumulative_usd)

    def _make_curve(self, cost: FleetCost) -> PlotCurve:
        value, low, high = self._scale(cost)
        months = self._compute_months(cost)
        slot = 0 if cost.supply is Supply.API else self.slot
        dash = _DASHES[cost.supply]
        name = cost.supply.label
        return PlotCurve(cost.supply.value, slot, False, name, months, value, low, high, capped=False, dash=dash)

    def _scale(self, cost: FleetCost) -> tuple[FloatArray, ...]:
        """Return the cumulative cost with the ends of its interval, in thousands of the displayed currency."""
        rate = self.money.convert_to_currency(1.0) / _THOUSAND
        return tuple(np.array(each) * rate for each in zip(*cost.cumulative_usd, strict=True))

    def _compute_months(self, cost: FleetCost) -> FloatArray:
        """Return the months at the beginning and at the end of each year; the last year can be partial."""
        years = 0.0 if self.answer is None else self.answer.horizon_years
        months: FloatArray = np.minimum(np.arange(len(cost.cumulative_usd), dtype=float), years) * MONTHS_PER_YEAR
        return months

    def _mark_next(self, lines: tuple[PlotCurve, ...]) -> Iterator[PointMark]:
        months = None if self.option is None else self.option.months_to_next
        owned = next((line for line in lines if line.key == Supply.OWNED.value), None)
        if months is None or owned is None:
            return
        text = tr("next system needed: {months}", months=format_months(round(months), self.formatter))
        amount = float(np.interp(months, owned.x, owned.y))
        yield PointMark(owned.key, self.slot, months, amount, is_variant=True, text=text)

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        rows = []
        for cost in self._list_costs():
            line = self._make_curve(cost)
            value, low, high = (float(np.interp(x, line.x, each)) for each in self._scale(cost))
            cells = (self.formatter.estimate(value), self.formatter.interval(low, high))
            rows.append(self._read(line.key, line.name, *cells, slot=line.slot))
        if not rows:
            return None
        title = tr("After {months}", months=format_months(round(x), self.formatter))
        return x, CursorReadout(title, (tr("thousand {code}", code=self.money.code), tr("80% interval")), tuple(rows))

    def stops(self) -> tuple[float, ...]:
        return self.ends()

    def summary(self) -> str:
        texts = [
            tr(
                "{supply}: {amount} thousand {code}.",
                supply=cost.supply.label,
                amount=self.money.rounded_thousands(cost.cumulative_usd[-1].value),
                code=self.money.code,
            )
            for cost in self._list_costs()
        ]
        months = None if self.option is None else self.option.months_to_next
        if months is not None:
            texts.append(
                tr("Growth needs the next system after {months}.", months=format_months(round(months), self.formatter))
            )
        return " ".join(texts)

    def data(self, formatter: Formatter) -> ChartData:
        costs = list(self._list_costs())
        money = MoneyFormatter(formatter, self.money.currency)
        heads = (tr("Months"), *(cost.supply.label for cost in costs))
        months = self._compute_months(costs[0]) if costs else ()
        rows = tuple(
            (
                formatter.exact(float(month)),
                *(money.rounded_thousands(cost.cumulative_usd[place].value) for cost in costs),
            )
            for place, month in enumerate(months)
        )
        title = tr("Cost over the years, thousand {code}, {name}", code=self.money.code, name=self.name)
        return ChartData(title, heads, rows)


_MARGIN: Final = 16
#: Below this width charts are placed below one another.
_LEAST_BESIDE: Final = 820.0
#: Margins of the picture below the table.
_ABOVE_PICTURE: Final = 48.0
#: The program's choice.
_AUTOMATIC: Final = "auto"
#: Names of systems are long, with the number of their accelerators at the end.
_WIDEST_SYSTEM: Final = 400.0


@dataclass(frozen=True)
class ShownFleets:
    """The content of the views: the fleets, names and palette indexes by accelerator, and the chosen one."""

    answer: FleetAnswer
    settings: FleetSettings
    looks: Mapping[str, tuple[str, int]]
    money: MoneyFormatter
    chosen: str

    @property
    def option(self) -> FleetOption:
        options = self.answer.options
        return next((each for each in options if each.accelerator == self.chosen), options[0])


class FleetView(PageView):
    """A view of the fleets."""

    #: The accelerator whose fleet is to be shown.
    chosen = Signal(str)
    #: The accelerator, the field of the settings, and the chosen system; empty for any.
    system_wanted = Signal(str, str, str)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self.desk, self.theme, self.formatter = desk, theme, desk.formatter

    def show_fleets(self, fleets: ShownFleets) -> None:
        raise NotImplementedError


class FleetTableView(FleetView):
    """Fleets with their costs; below, for the chosen one, a choice of systems and its notes."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self._fleets: ShownFleets | None = None
        units = [(unit.value, unit.label) for unit in FleetCostUnit]
        self.unit = SegmentedControl(theme, tr("Cost unit"), units)
        self.unit.chosen.connect(lambda _: self._show_table())
        self.section = DataTableSection(theme, desk.formatter, self.unit)
        self.section.view.chosen.connect(self._choose)
        self.picture = RackPicture(theme, desk.formatter)
        self.charts = (self.section, self.picture)
        self.title = ThemedLabel(theme, font="section")
        self.systems = {
            "systems": ChoiceField(theme, tr("System to buy"), self, widest=_WIDEST_SYSTEM),
            "instances": ChoiceField(theme, tr("Instance to rent"), self, widest=_WIDEST_SYSTEM),
        }
        for name, field in self.systems.items():
            field.chosen.connect(partial(self._want_system, name))
        self.notes = ThemedLabel(theme, font="small", color="text2", wrap=True, selectable=True)
        #: Assumptions, unknown values, and violations of site limits.
        self.warnings = ThemedLabel(theme, font="small", color="disputed_text", wrap=True, selectable=True)
        fields = make_row(*self.systems.values(), STRETCH, gap=10)
        title = align_with_fields(theme, 15, self.title, gap=0)
        notes = align_with_fields(theme, self.notes, self.warnings, gap=2)
        self._above = make_column(self.section, title, 2, fields, 2, notes, gap=0)
        self._rule = Hairline(theme)
        lower = QWidget(self)
        make_column(8, self._rule, 8, (self.picture, 1), gap=0, on=lower)
        margins = (_MARGIN - FIELD_SIDE, 8, _MARGIN, _MARGIN)
        make_column(self._above, (align_with_fields(theme, lower), 1), gap=0, margins=margins, scaled=theme, on=self)

    def show_fleets(self, fleets: ShownFleets) -> None:
        self._fleets = fleets
        self._show_table()
        option = fleets.option
        name, _ = fleets.looks.get(option.accelerator, (option.accelerator, 0))
        use = label_use(option.used, option.spare, option.idle, self.formatter)
        self.title.setText(tr("{name}: {use}", name=name, use=use) if use else name)
        systems = self.desk.service.catalog.list_systems_with(option.accelerator)
        for field, is_rented, system in (("systems", False, option.system), ("instances", True, option.instance)):
            options = [
                ChoiceOption(each.id, label_system(each.name)) for each in systems if each.is_rented == is_rented
            ]
            automatic = tr("Automatic") if system is None else tr("Automatic: {name}", name=label_system(system.name))
            self.systems[field].set_options([ChoiceOption(_AUTOMATIC, automatic), *options])
            self.systems[field].set_value(getattr(fleets.settings, field).get(option.accelerator, _AUTOMATIC))
            self.systems[field].setToolTip(self.systems[field].text_shown)
            self.systems[field].setVisible(bool(options))
        notes = list_fleet_notes(replace(option, notes=()), fleets.answer, name, self.formatter, fleets.money)
        self.notes.setText("\n".join(notes))
        warnings = [to_sentence(format_message(note, self.formatter)) for note in option.notes]
        self.warnings.setText("\n".join(warnings))
        self.warnings.setVisible(bool(warnings))
        self.picture.show_fleets(sketch_fleets(fleets.answer, fleets.looks, self.formatter, fleets.money))
        self._fit_picture()

    def _fit_picture(self) -> None:
        """Show the picture if the table leaves space for it; it has a separate view."""
        area = find_scroll_area(self)
        room = self.height()
        if area is not None:
            top = self.mapTo(area.viewport(), QPoint()).y() + area.verticalScrollBar().value()
            room = area.viewport().height() - top
        room -= self._above.sizeHint().height()
        for widget in (self._rule, self.picture):
            widget.setVisible(room >= self.picture.minimumHeight() + self.theme.px(_ABOVE_PICTURE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_picture()

    def _show_table(self) -> None:
        fleets = self._fleets
        if fleets is None:
            return
        unit = FleetCostUnit(self.unit.value)

        def build(formatter: Formatter) -> DataTable:
            money = MoneyFormatter(formatter, fleets.money.currency)
            return build_fleet_table(fleets.answer, fleets.looks, formatter, money, unit)

        self.section.show_table(build)
        self.section.view.choose_row(fleets.option.accelerator)

    def _want_system(self, field: str, key: str) -> None:
        if self._fleets is not None:
            self.system_wanted.emit(self._fleets.option.accelerator, field, "" if key == _AUTOMATIC else key)

    def _choose(self, row: DataRow) -> None:
        """Show the fleet of a row, and explain the clicked figure in the panel."""
        figure = list_fleet_figures(FleetCostUnit(self.unit.value))[self.section.view.currentIndex().column()]
        self.chosen.emit(row.accelerator)
        self.desk.select(select_fleet_figure(row.accelerator, figure))

    def focus_first(self) -> None:
        self.section.view.setFocus(Qt.FocusReason.ShortcutFocusReason)


class RacksView(FleetView):
    """The picture of all fleets."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self.picture = RackPicture(theme, desk.formatter)
        self.charts = (self.picture,)
        make_column((self.picture, 1), gap=0, margins=(_MARGIN, 8, _MARGIN, 8), scaled=theme, on=self)

    def show_fleets(self, fleets: ShownFleets) -> None:
        self.picture.show_fleets(sketch_fleets(fleets.answer, fleets.looks, self.formatter, fleets.money))

    def focus_first(self) -> None:
        self.picture.setFocus(Qt.FocusReason.ShortcutFocusReason)


class FleetTimeView(FleetView):
    """One fleet over a day and over the years."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self.which = ChoiceField(theme, tr("Accelerator"), self)
        self.which.chosen.connect(self.chosen)
        self.day, self.years = DayChart(desk, theme, self), YearsChart(desk, theme, self)
        self.charts = (self.day, self.years)
        self._pair = make_row((self.day, 1), (self.years, 1), gap=24)
        which, charts = make_row(self.which, STRETCH), align_with_fields(theme, (self._pair, 1))
        margins = (_MARGIN - FIELD_SIDE, 0, _MARGIN, 8)
        make_column(which, (charts, 1), gap=0, margins=margins, scaled=theme, on=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        set_beside(self._pair, event.size().width() >= self.theme.px(_LEAST_BESIDE))

    def show_fleets(self, fleets: ShownFleets) -> None:
        options = [ChoiceOption(key, name) for key, (name, _) in fleets.looks.items()]
        self.which.set_options(options)
        option = fleets.option
        self.which.set_value(option.accelerator)
        name, slot = fleets.looks.get(option.accelerator, (option.accelerator, 0))
        for chart in (self.day, self.years):
            chart.show_fleet(fleets.answer, option, fleets.money, name, slot)

    def focus_first(self) -> None:
        self.day.setFocus(Qt.FocusReason.ShortcutFocusReason)
