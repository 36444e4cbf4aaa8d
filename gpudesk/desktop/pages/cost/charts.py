"""The charts of costs: bars of token costs, of ownership and of sensitivity; curves, payback, distribution."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer
from gpudesk.desktop.session.selection import Selection, select_cost
from gpudesk.desktop.ui.charts.bar_chart import (
    DOT,
    HATCH,
    LINE,
    RING,
    BarChart,
    BarChartStyle,
    BarGroup,
    BarInterval,
    BarLane,
    BarMark,
    BarNote,
    BarRow,
    BarSegment,
    StackedBar,
)
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import AxisScale, DecadeScale, LinearScale, MonthScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.cost import CostColumn, CostDistribution, CostSensitivity, TotalCostOfOwnership
from gpudesk.report.break_even import describe_break_even
from gpudesk.report.costs import (
    COST_PARTS,
    OWNED,
    RENTED,
    describe_missing_input,
    describe_software_share,
    format_input_amount,
    get_input_unit,
    label_cost_input,
    label_cost_line,
    label_cost_parts,
)
from gpudesk.report.labels import format_odds, format_years
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, join_unit
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn
from gpudesk.text.units import HOURS_PER_MONTH, MONTHS_PER_YEAR

_SPACE: Final = "\N{NO-BREAK SPACE}"
#: An interval is shown up to this multiple of its value.
_MOST_OF_INTERVAL: Final = 2.5


class TokenCostChart(BarChart):
    """Two dots per accelerator: filled for renting, open for owning."""

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__(theme, formatter, BarChartStyle(right=64))
        self._costed: EvaluatedAnswer | None = None

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        money, costs = costed.money, costed.costs
        ends = [
            money.convert_to_currency(min(each.high, each.value * _MOST_OF_INTERVAL))
            for column in costs.columns
            for each in (_describe_output(column, rented=True), _describe_output(column, rented=False))
            if each is not None
        ]
        mark = None
        key = [(DOT, tr("rented 24/7")), (RING, self._label_owned_years())]
        if costs.api is not None:
            mark = BarMark(money.convert_to_currency(costs.api.value))
            ends.append(mark.value)
            key.append((LINE, tr("hosted API {amount}", amount=money.small(costs.api.value))))
        if costs.api_missing:
            key.append(("", tr("no hosted API price")))
        rows = tuple(
            BarRow(
                part.key,
                part.name,
                (self._make_interval(column, rented=True), self._make_owned_lane(column)),
                self._describe_token_cost(part.name, column),
                part.palette_index,
                part.is_variant,
            )
            for part, column in costed.pair_column_costs()
        )
        title = tr("Cost per million output tokens")
        subtitle = tr("{code} before taxes, with input processing", code=money.code)
        self.show_groups(BarGroup(title, subtitle, rows, 0.0, max(ends, default=1.0), tuple(key), mark))

    def _make_interval(self, column: CostColumn, *, rented: bool) -> BarInterval | None:
        cost = _describe_output(column, rented=rented)
        if cost is None or self._costed is None:
            return None
        money = self._costed.money
        low, value, high = (money.convert_to_currency(each) for each in (cost.low, cost.value, cost.high))
        return BarInterval(low, value, high, money.small(cost.value), is_filled=rented)

    def _make_owned_lane(self, column: CostColumn) -> BarLane:
        owned = self._make_interval(column, rented=False)
        if owned is not None:
            return owned
        missing = _find_missing_price(column)
        text = describe_missing_input(missing)
        return BarNote(capitalize_first(text), link=_offer_entry(missing))

    def _describe_token_cost(self, name: str, column: CostColumn) -> str:
        sentences = []
        for rented, words in ((True, tr("rented")), (False, tr("owned"))):
            interval = _describe_output(column, rented=rented)
            if interval is not None and self._costed is not None:
                sentences.append(f"{words} {self._costed.money.estimate_with_interval(interval)}")
        sentences += [describe_missing_input(each) for each in column.missing]
        return f"{name}: {'; '.join(sentences)}."

    def _label_owned_years(self) -> str:
        tcos = [column.tco for column in self._costed.costs.columns] if self._costed else []
        years = next((tco.years for tco in tcos if tco is not None), None)
        if years is None:
            return tr("owned")
        return tr("owned, {years}", years=format_years(years, self.formatter))

    def data(self, formatter: Formatter) -> ChartData:
        heads = [tr("Accelerator")]
        for words in (tr("Rented"), tr("Owned")):
            heads += [words, f"{words}{_SPACE}{tr('low')}", f"{words}{_SPACE}{tr('high')}"]
        rows = []
        for part, column in self._costed.pair_column_costs() if self._costed else ():
            cells = [part.name]
            for rented in (True, False):
                interval = _describe_output(column, rented=rented)
                figures = (None,) * 3 if interval is None else (interval.value, interval.low, interval.high)
                cells += [formatter.estimate(each) for each in figures]
            rows.append(tuple(cells))
        return ChartData(tr("Cost per million output tokens, USD"), tuple(heads), tuple(rows))


def _describe_output(column: CostColumn, *, rented: bool) -> IntervalEstimate | None:
    costs = column.rented if rented else column.owned
    return None if costs is None else costs.output


def _find_missing_price(column: CostColumn) -> str:
    """Return the input missing for the cost of owning."""
    return next((each for each in column.missing if each != "rent_usd_per_hour"), "price_usd")


def _offer_entry(missing: str) -> str:
    return tr("Enter price") if missing == "price_usd" else ""


def _explain_no_cost(costed: EvaluatedAnswer | None, without_prices: str) -> str:
    """Return why a chart is empty: nothing fits, or else `without_prices`."""
    is_unfit = costed is not None and costed.columns and not costed.fitting_columns
    return tr("No cost: no accelerator fits the model") if is_unfit else without_prices


_THOUSAND: Final = 1000.0
#: Fill pattern of each segment.
_INKS: Final = ("text1", "ink2", "ink4", "ink1", "ink3", HATCH)


class OwnershipCostChart(BarChart):
    """Stacked bars; the residual value is subtracted at the right."""

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__(theme, formatter, BarChartStyle(right=116, key_below_names=True))
        self._costed: EvaluatedAnswer | None = None

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        tcos = [column.tco for column in costed.costs.columns if column.tco is not None]
        counts = {column.count for column in costed.costs.columns if column.count is not None}
        years = format_years(tcos[0].years, self.formatter) if tcos else ""
        title = tr("Cost over {years}", years=years) if tcos else tr("Cost of ownership")
        unit = tr("thousand {code}", code=costed.money.code)
        deployment = "" if counts == {1} else tr("whole deployment")
        software = describe_software_share(costed.costs.columns, self.formatter)
        subtitle = ", ".join(filter(None, (unit, deployment, self._describe_spares(costed), software)))
        rows = tuple(
            BarRow(
                part.key,
                part.name,
                (self._make_cost_bar(column, costed),),
                self._describe_ownership_cost(part.name, column),
                part.palette_index,
                part.is_variant,
            )
            for part, column in costed.pair_column_costs()
        )
        most = max(
            (costed.money.convert_to_currency(sum(_list_cost_parts(tco))) / _THOUSAND for tco in tcos), default=1.0
        )
        used = [any(amounts) for amounts in zip(*map(_list_cost_parts, tcos), strict=True)]
        key = tuple((ink, part) for ink, part, is_used in zip(_INKS, label_cost_parts(), used, strict=False) if is_used)
        self.show_groups(BarGroup(title, subtitle, rows, 0.0, most, key))

    def _describe_spares(self, costed: EvaluatedAnswer) -> str:
        """Return the note that hardware includes spares, if any."""
        column = next((column for column in costed.costs.columns if column.tco is not None), None)
        share = None if column is None else column.inputs["spares"].spread
        return tr("with {share} spares", share=self.formatter.per_cent(share.likely)) if share and share.likely else ""

    def _make_cost_bar(self, column: CostColumn, costed: EvaluatedAnswer) -> BarLane:
        """Return one bar with the total after it, or the missing input with a link to enter it."""
        tco, money = column.tco, costed.money
        if tco is None:
            missing = _find_missing_price(column)
            text = describe_missing_input(missing)
            return BarNote(capitalize_first(text), framed=True, link=_offer_entry(missing))
        segments, at = [], 0.0
        for usd, ink in zip(_list_cost_parts(tco), _INKS, strict=True):
            start, end = (money.convert_to_currency(each) / _THOUSAND for each in (at, at + usd))
            segments.append(BarSegment(start, end, ink, "" if ink == HATCH else money.thousands(usd)))
            at += usd
        worth = next((line.usd for line in tco.lines if line.name == "residual"), 0.0)
        detail = tr("net of {amount} residual", amount=money.thousands(-worth)) if worth else ""
        return StackedBar(tuple(segments), money.thousands(tco.total_usd), detail)

    def _describe_ownership_cost(self, name: str, column: CostColumn) -> str:
        if column.tco is None or self._costed is None:
            return f"{name}: {'; '.join(describe_missing_input(each) for each in column.missing)}."
        money = self._costed.money
        lines = ", ".join(
            f"{label_cost_line(line.name)} {money.whole(line.usd)}" for line in column.tco.lines if line.usd
        )
        total = tr("{amount} {code} in total", amount=money.whole(column.tco.total_usd), code=money.code)
        return f"{name}: {total}. {lines}."

    def data(self, formatter: Formatter) -> ChartData:
        owned = [(part, column.tco) for part, column in self._costed.pair_column_costs()] if self._costed else []
        names = next(([line.name for line in tco.lines] for _, tco in owned if tco is not None), [])
        heads = (tr("Accelerator"), *(label_cost_line(name) for name in names), tr("Total"))
        rows = []
        for part, tco in owned:
            amounts = ["—"] * (len(names) + 1)
            if tco is not None:
                amounts = [formatter.number(line.usd) for line in tco.lines] + [formatter.number(tco.total_usd)]
            rows.append((part.name, *amounts))
        return ChartData(tr("Cost of ownership, USD"), heads, tuple(rows))


def _list_cost_parts(tco: TotalCostOfOwnership) -> list[float]:
    """Return related cost lines, each at least 0."""
    by_name = {line.name: line.usd for line in tco.lines}
    return [sum(by_name[name] for name in names) for names in COST_PARTS]


_MOST_INFLUENCES: Final = 8


class SensitivityChart(BarChart):
    """Bars around the likely cost, the widest first, with the input values at both ends."""

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__(theme, formatter, BarChartStyle(names=176, right=72, bar=18))
        self._influences: tuple[CostSensitivity, ...] = ()
        self._costed: EvaluatedAnswer | None = None

    def show_influences(
        self,
        costed: EvaluatedAnswer,
        place: int,
        influences: tuple[CostSensitivity, ...],
        now: float | None,
        *,
        rented: bool,
    ) -> None:
        """Show the influences on one accelerator's cost of `now` dollars."""
        self._costed, self._influences = costed, influences[:_MOST_INFLUENCES]
        part, money, now = costed.columns[place], costed.money, now or 0.0
        ends = [money.convert_to_currency(each) for row in self._influences for each in (row.at_low, row.at_high)]
        words = tr("{name} rented", name=part.name) if rented else tr("{name} owned", name=part.name)
        rows = tuple(
            BarRow(
                row.name,
                label_cost_input(row.name),
                (self._make_sensitivity_bar(row, costed, now, part.palette_index),),
                self._describe_sensitivity(row),
            )
            for row in self._influences
        )
        self.show_groups(
            BarGroup(
                tr("Cost sensitivity"),
                tr("{words}, {code} per million output tokens", words=words, code=money.code),
                rows,
                0.0,
                max(ends, default=1.0),
                mark=BarMark(money.convert_to_currency(now), tr("Base case {amount}", amount=money.small(now))),
                note=_explain_no_cost(costed, tr("No cost yet. Enter a price.")),
            )
        )

    def _make_sensitivity_bar(
        self, row: CostSensitivity, costed: EvaluatedAnswer, now: float, palette_index: int
    ) -> StackedBar:
        (low, low_input), (high, high_input) = sorted(((row.at_low, row.low), (row.at_high, row.high)))
        left, middle, right = (costed.money.convert_to_currency(each) for each in (low, now, high))
        segments = (BarSegment(min(left, middle), max(right, middle), palette_index=palette_index),)
        before, after = (self._format_input_end(row.name, each) for each in (low_input, high_input))
        return StackedBar(segments, before=before, after=after)

    def _describe_sensitivity(self, row: CostSensitivity) -> str:
        if self._costed is None:
            return ""
        money = self._costed.money
        return tr(
            "{name} from {low} to {high}: cost from {at_low} to {at_high} {code}.",
            name=label_cost_input(row.name),
            low=self._format_input_end(row.name, row.low),
            high=self._format_input_end(row.name, row.high),
            at_low=money.small(row.at_low),
            at_high=money.small(row.at_high),
            code=money.code,
        )

    def _format_input_end(self, name: str, value: float) -> str:
        """Return an end of an input with its unit; money in the scenario's currency, prices with three digits."""
        if self._costed is None:
            return ""
        money = self._costed.money
        unit = get_input_unit(name)
        if not unit.startswith("USD"):
            text = format_input_amount(name, value, self.formatter)
            return join_unit(text, unit) if unit else text
        amount = float(f"{money.convert_to_currency(value):.3g}")
        return money.add_currency(format_input_amount(name, amount, self.formatter)) + unit[3:]

    def data(self, formatter: Formatter) -> ChartData:
        heads = (tr("Input"), tr("Low"), tr("High"), tr("Unit"), tr("Cost at low, USD"), tr("Cost at high, USD"))
        rows = [
            (
                label_cost_input(row.name),
                format_input_amount(row.name, row.low, formatter),
                format_input_amount(row.name, row.high, formatter),
                get_input_unit(row.name),
                formatter.estimate(row.at_low),
                formatter.estimate(row.at_high),
            )
            for row in self._influences
        ]
        return ChartData(tr("Cost sensitivity"), heads, tuple(rows))


_MS = 1000.0


class _CostCurves(DeskChart):
    """A chart of an evaluated answer, with space at the right for curve names."""

    around = (44, 6, 104, 40)

    def __init__(self, desk: Desk, theme: Theme, scales: tuple[AxisScale, AxisScale]) -> None:
        super().__init__(desk, theme, scales)
        self._costed: EvaluatedAnswer | None = None

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        self.refresh()

    def make_selection(self, key: str) -> Selection:
        """Return the cost of the accelerator's tokens: owned if it has a price."""
        owned = {part.key for part, column in self._list_column_costs() if column.owned is not None}
        return select_cost(key, OWNED if key in owned else RENTED)

    @property
    def _code(self) -> str:
        return "" if self._costed is None else self._costed.money.code

    def _list_column_costs(self) -> list[tuple[AcceleratorColumn, CostColumn]]:
        return [] if self._costed is None else list(self._costed.pair_column_costs())


class CostCurveChart(_CostCurves):
    """Costs of owning in the lines of the accelerators.

    Costs of renting replace missing prices, else they are thin lines.
    """

    strides = (1.0, 10.0)
    around = (48, 6, 104, 40)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, (LinearScale(), DecadeScale()))

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Cost vs. interactivity")
        self.subtitle = tr("{code} per million output tokens, input included", code=self._code)
        self.x_title = tr("tokens per second per user")
        lines, thin, marks = [], [], []
        for part, column in self._list_column_costs():
            owned, rented = (self._make_cost_curve(part, column, rented=each) for each in (False, True))
            first = owned or rented
            if first is not None:
                lines.append(first)
            if owned is not None and rented is not None:
                thin.append(rented)
            marks += self._mark_scenario_cost(part, column)
        note = "" if lines else _explain_no_cost(self._costed, tr("No cost yet. Enter a price or a rent."))
        return PlotDrawing(tuple(lines), tuple(thin), tuple(marks), note=note, ghost_label=tr("rented"))

    def _make_cost_curve(self, part: AcceleratorColumn, column: CostColumn, *, rented: bool) -> PlotCurve | None:
        points = [(point, (point.rented_usd if rented else point.owned_usd)) for point in column.curve]
        known_points = [(point, usd) for point, usd in reversed(points) if usd is not None]
        if len(known_points) < 2 or self._costed is None:
            return None
        rate = self._costed.money.convert_to_currency(1.0)
        return PlotCurve(
            *part.identity,
            np.array([point.tokens_per_s_per_user for point, _ in known_points]),
            np.array([usd * rate for _, usd in known_points]),
            count=np.array([float(point.concurrency) for point, _ in known_points]),
            end=tr("rented") if column.owned is None else tr("owned"),
            capped=False,
        )

    def _mark_scenario_cost(self, part: AcceleratorColumn, column: CostColumn) -> list[PointMark]:
        pace, costs = part.figure("tpot_ms"), column.owned or column.rented
        if pace is None or costs is None or self._costed is None or pace.value <= 0.0:
            return []
        y = self._costed.money.convert_to_currency(costs.output.value)
        return [PointMark(part.key, part.palette_index, _MS / pace.value, y, part.is_variant)]

    # Reading values

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        if self._costed is None:
            return None
        rows = []
        for part, column in self._costed.pair_column_costs():
            cells = []
            for rented in (False, True):
                line = self._make_cost_curve(part, column, rented=rented)
                reading = None if line is None else line.at(x)
                text = MISSING_VALUE_TEXT if reading is None else self.formatter.estimate(reading.value)
                cells.append(text)
            rows.append(CursorReadoutRow(*part.identity, tuple(cells)))
        title = tr("At {n} tok/s per user", n=self.formatter.estimate(x))
        return x, CursorReadout(title, (tr("owned"), tr("rented")), tuple(rows))

    def stops(self) -> tuple[float, ...]:
        return self.ends()

    def summary(self) -> str:
        sentences = []
        for part, column in self._list_column_costs():
            line = self._make_cost_curve(part, column, rented=column.owned is None)
            if line is not None:
                sentences.append(
                    tr(
                        "{name}: {low} at {slow} tok/s per user, {high} at {fast}.",
                        name=part.name,
                        low=self.formatter.estimate(float(line.y[0])),
                        slow=self.formatter.estimate(float(line.x[0])),
                        high=self.formatter.estimate(float(line.y[-1])),
                        fast=self.formatter.estimate(float(line.x[-1])),
                    )
                )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        heads = (
            tr("Accelerator"),
            tr("Requests in flight"),
            tr("Per user, tok/s"),
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
            for part, column in self._list_column_costs()
            for point in column.curve
        ]
        return ChartData(tr("Cost vs. interactivity, per million output tokens"), heads, tuple(rows))


class RentOrBuyChart(_CostCurves):
    """Rents in the lines of the accelerators, purchases as thin ones; a circle where buying becomes cheaper."""

    strides = (1.0, 6.0)
    around = (44, 6, 96, 40)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, (MonthScale(), LinearScale()))

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Rent or buy")
        self.subtitle = tr("cash paid, thousand {code}; circle: payback", code=self._code)
        self.x_title = tr("months")
        lines, bought, marks = [], [], []
        for part, column in self._list_column_costs():
            months = self._list_months()
            rent, purchase = self._compute_rented_cash(column, months), self._compute_owned_cash(column, months)
            if rent is not None:
                lines.append(self._make_cash_curve(part, months, rent, tr("rent")))
            if purchase is not None:
                bought.append(self._make_cash_curve(part, months, purchase, ""))
            marks += self._mark_crossing(part, column)
        return PlotDrawing(
            lines=tuple(lines),
            ghosts=tuple(bought),
            marks=tuple(marks),
            note="" if lines else _explain_no_cost(self._costed, tr("No cost yet. Enter a price or a rent.")),
            ghost_label=tr("buy"),
        )

    def _make_cash_curve(self, part: AcceleratorColumn, months: np.ndarray, amounts: np.ndarray, end: str) -> PlotCurve:
        return PlotCurve(*part.identity, months, amounts, end=end, capped=False)

    def _list_months(self) -> np.ndarray:
        """Return the months of the horizon; three years if nothing is owned."""
        tcos = [column.tco for column in self._costed.costs.columns] if self._costed else []
        years = next((tco.years for tco in tcos if tco is not None), 3.0)
        return np.linspace(0.0, years * MONTHS_PER_YEAR, 61)

    def _convert_to_thousands(self, usd: np.ndarray) -> np.ndarray:
        rate = 1.0 if self._costed is None else self._costed.money.convert_to_currency(1.0)
        return usd * rate / _THOUSAND

    def _compute_rented_cash(self, column: CostColumn, months: np.ndarray) -> np.ndarray | None:
        software = column.software
        if column.rent_usd_per_hour is None or column.count is None or software is None:
            return None
        monthly = HOURS_PER_MONTH * column.rent_usd_per_hour * column.rented_count + software.per_month_usd
        return self._convert_to_thousands(software.at_once_usd + months * monthly)

    def _compute_owned_cash(self, column: CostColumn, months: np.ndarray) -> np.ndarray | None:
        if column.tco is None:
            return None
        return self._convert_to_thousands(column.tco.at_once_usd + months * column.tco.per_month_usd)

    def _mark_crossing(self, part: AcceleratorColumn, column: CostColumn) -> list[PointMark]:
        if self._costed is None or column.tco is None:
            return []
        break_evens = (each for each in self._costed.costs.break_evens if each.key == part.key)
        months = next((each.value for each in break_evens if each.name == "months_to_own"), None)
        if months is None or months > column.tco.years * MONTHS_PER_YEAR:
            return []
        (at,) = self._convert_to_thousands(np.array([column.tco.at_once_usd + months * column.tco.per_month_usd]))
        text = trn("{n} month", "{n} months", months, n=self.formatter.estimate(months))
        return [PointMark(part.key, part.palette_index, months, float(at), is_variant=True, text=text)]

    # Reading values

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        if self._costed is None:
            return None
        month = min(max(round(x), 0), int(self._list_months()[-1]))
        rows = []
        for part, column in self._costed.pair_column_costs():
            at = np.array([float(month)])
            cells = [
                MISSING_VALUE_TEXT if point is None else self.formatter.number(float(point[0]), 1)
                for point in (self._compute_rented_cash(column, at), self._compute_owned_cash(column, at))
            ]
            rows.append(CursorReadoutRow(*part.identity, tuple(cells)))
        title = trn("After {n} month", "After {n} months", month, n=self.formatter.count(month))
        return float(month), CursorReadout(title, (tr("rent"), tr("buy")), tuple(rows))

    def stops(self) -> tuple[float, ...]:
        return (0.0, float(self._list_months()[-1]))

    def summary(self) -> str:
        if self._costed is None:
            return ""
        names, money = self._costed.names, self._costed.money
        return " ".join(
            describe_break_even(each, names, self.formatter, money)
            for each in self._costed.costs.break_evens
            if each.name == "months_to_own"
        )

    def data(self, formatter: Formatter) -> ChartData:
        columns = self._list_column_costs()
        heads = [tr("Months")]
        for part, _ in columns:
            heads += [tr("{name}, rent", name=part.name), tr("{name}, buy", name=part.name)]
        rows = []
        for month in range(0, int(self._list_months()[-1]) + 1, 6):
            at = np.array([float(month)])
            cells = [formatter.count(month)]
            for _, column in columns:
                both = (self._compute_rented_cash(column, at), self._compute_owned_cash(column, at))
                cells += [MISSING_VALUE_TEXT if each is None else formatter.number(float(each[0]), 1) for each in both]
            rows.append(tuple(cells))
        return ChartData(tr("Rent or buy, thousand {code}", code=self._code or "USD"), tuple(heads), tuple(rows))


_PER_CENT = 100.0


class CostDistributionChart(_CostCurves):
    """One density curve per accelerator over costs."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, (LinearScale(), LinearScale()))
        self._draws: CostDistribution | None = None
        self.explain_empty = ""

    def show_draws(self, costed: EvaluatedAnswer, draws: CostDistribution | None, explain_empty: str = "") -> None:
        self._costed, self._draws, self.explain_empty = costed, draws, explain_empty
        self.refresh()

    def make_selection(self, key: str) -> Selection:
        return select_cost(key, RENTED if self._draws is not None and self._draws.rented else OWNED)

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Cost distribution")
        self.subtitle = tr("% of simulations by cost; all accelerators share the same simulations")
        self.x_title = tr("{code} per million output tokens", code=self._code)
        lines = self._make_histogram_curves()
        return PlotDrawing(lines=lines, note="" if lines else self.explain_empty)

    def _make_histogram_curves(self) -> tuple[PlotCurve, ...]:
        draws, costed = self._draws, self._costed
        if draws is None or costed is None or not draws.edges:
            return ()
        edges = np.array(draws.edges) * costed.money.convert_to_currency(1.0)
        middles = (edges[:-1] + edges[1:]) / 2.0
        return tuple(
            PlotCurve(
                *part.identity,
                middles,
                np.array(draws.histogram[part.key]) / draws.n * _PER_CENT,
                end=self._format_odds(draws, part.key),
                capped=False,
            )
            for part in costed.columns
            if part.key in draws.histogram
        )

    def _format_odds(self, draws: CostDistribution, key: str) -> str:
        odds = draws.compared.get(key)
        return "" if odds is None else tr("cheapest: {odds} odds", odds=format_odds(odds, self.formatter))

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        draws, costed = self._draws, self._costed
        if draws is None or costed is None or not draws.edges:
            return None
        edges = np.array(draws.edges) * costed.money.convert_to_currency(1.0)
        place = int(np.clip(np.searchsorted(edges, x), 0, len(edges) - 1))
        rows = []
        for part in costed.columns:
            if part.key in draws.histogram:
                below = sum(draws.histogram[part.key][:place]) / draws.n
                text = self.formatter.per_cent(below)
                rows.append(CursorReadoutRow(*part.identity, (text,)))
        title = tr("Below {amount}", amount=self.formatter.estimate(x))
        return float(edges[place]), CursorReadout(title, (tr("of simulations"),), tuple(rows))

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Move by one bar of the histogram, or by ten."""
        if self._draws is None or self._costed is None or len(self._draws.edges) < 2:
            return None
        rate = self._costed.money.convert_to_currency(1.0)
        width = (self._draws.edges[1] - self._draws.edges[0]) * rate
        low, high = self._draws.edges[0] * rate, self._draws.edges[-1] * rate
        return min(max(value + width * (10.0 if far else 1.0) * (1.0 if forward else -1.0), low), high)

    def summary(self) -> str:
        if self._draws is None or self._costed is None:
            return self.explain_empty
        names, money = self._costed.names, self._costed.money
        parts = []
        for key, (low, _, high) in self._draws.quantiles.items():
            if key in names:
                interval = f"{names[key]} {money.small(low)} – {money.small(high)}"
                parts.append("; ".join(filter(None, (interval, self._format_odds(self._draws, key)))) + ".")
        return " ".join(parts)

    def data(self, formatter: Formatter) -> ChartData:
        draws, costed = self._draws, self._costed
        title = tr("Cost distribution, simulations by USD per million output tokens")
        if draws is None or costed is None:
            return ChartData(title, (tr("From"), tr("To")), ())
        columns = [part for part in costed.columns if part.key in draws.histogram]
        heads = (tr("From"), tr("To"), *(part.name for part in columns))
        rows = tuple(
            (
                formatter.estimate(low),
                formatter.estimate(high),
                *(formatter.count(draws.histogram[part.key][place]) for part in columns),
            )
            for place, (low, high) in enumerate(zip(draws.edges, draws.edges[1:], strict=False))
        )
        return ChartData(title, heads, rows, 0)
