"""Cost charts with a row per accelerator or input: per token, over all years, sensitivity."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
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
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.cost import CostColumn, CostSensitivity, TotalCostOfOwnership
from gpudesk.report.costs import (
    COST_PARTS,
    describe_missing_input,
    describe_software_share,
    format_input_amount,
    get_input_unit,
    label_cost_input,
    label_cost_line,
    label_cost_parts,
)
from gpudesk.report.labels import format_years
from gpudesk.text.formatting import Formatter, IntervalEstimate, join_unit
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr

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
                note=tr("No cost yet. Enter a price."),
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
