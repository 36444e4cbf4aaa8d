"""The result of buying now or waiting: verdict, figures, and the chart of cost against delay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.decision.purchasing.deferral_costs import SlipPoint, compute_slip_curve
from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorLine,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import FloatArray, LinearScale
from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.marked_list import MarkedLine, MarkedList, MarkIcon
from gpudesk.domain.purchase import DeferralAnalysis, DeferralVerdict, RuleOpinion
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.decision.buy_or_wait import (
    describe_computed_verdict,
    describe_contradiction,
    describe_deferral_rule,
    describe_document_verdict,
    describe_release_slip,
    format_deferral_verdict,
    label_deferral_verdict,
    list_deferral_figures,
    list_deferral_flips,
    list_deferral_notes,
    list_future_price_rows,
)
from gpudesk.report.labels import format_months
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import capitalize_first, lower_for_sentence
from gpudesk.text.translation import tr

_COST, _GAIN = "waiting", "gain"
#: Steps of Shift with an arrow key, in months, and of an arrow key alone.
_FAR, _NEAR = 3.0, 0.25
_EVERY: Final = 4
_TICKS: Final = (1, 2, 3, 6, 12, 24, 60)


@frozen_dataclass
class DelayScale(LinearScale):
    """Whole months up to the last one."""

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        step = next((each for each in _TICKS if (high - low) / each < max(most, 2)), _TICKS[-1])
        return tuple(float(month) for month in range(math.ceil(low / step) * step, int(high) + 1, step))

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del low, most
        return (0.0, max(high, 1.0))


@frozen_dataclass
class DelayChartData:
    """The chart's values, and data for its texts: names by id, and the palette indexes of both accelerators."""

    analysis: DeferralAnalysis
    names: Mapping[str, str]
    money: MoneyFormatter
    palette_indexes: tuple[int, int]


class DelayChart(DeskChart):
    """Cost in the color of the accelerator to buy, gain in that of the next one; a circle between."""

    strides = (_NEAR, _FAR)
    around = (0, 6, 112, 40)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, (DelayScale(), LinearScale()), parent)
        self._facts: DelayChartData | None = None
        self._slips: tuple[SlipPoint, ...] = ()

    def show_facts(self, facts: DelayChartData) -> bool:
        """Show a plan; return whether there is anything to draw."""
        self._facts = facts
        self._slips = compute_slip_curve(facts.analysis)
        if self._slips:
            self.refresh()
        return bool(self._slips)

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        facts = self._facts
        self.title = tr("Cost and gain of waiting")
        self.x_title = tr("slip, months")
        if facts is None or not self._slips:
            self.subtitle = ""
            return PlotDrawing(note=tr("A cost is missing."))
        self.subtitle = tr("thousand {code}; other inputs at their likely values", code=facts.money.code)
        x = np.array([point.slip_months for point in self._slips])
        lines = tuple(
            PlotCurve(key, index, False, name, x, self._compute_amounts(key), capped=False)
            for key, name, index in zip((_COST, _GAIN), self._label_curves(), facts.palette_indexes, strict=True)
        )
        slip = facts.analysis.slip_months.likely
        rule = CursorLine(slip, self.formatter.exact(round(slip, 1)), movable=False) if slip <= x[-1] else None
        return PlotDrawing(lines=lines, marks=self._mark_crossing(facts), rule=rule)

    @staticmethod
    def _label_curves() -> tuple[str, str]:
        return tr("Cost of waiting"), tr("Gain")

    def _compute_amounts(self, key: str) -> FloatArray:
        facts = self._facts
        rate = 1.0 if facts is None else facts.money.convert_to_currency(1.0) / 1000.0
        return np.array([(each.waiting_usd if key == _COST else each.gain_usd) * rate for each in self._slips])

    def _mark_crossing(self, facts: DelayChartData) -> tuple[PointMark, ...]:
        turn = facts.analysis.turns.slip_months
        if turn is None or turn > self._slips[-1].slip_months:
            return ()
        at = self._interpolate_amount(_COST, turn)
        text = format_months(turn, self.formatter)
        return (PointMark(_COST, 0, turn, at, is_variant=True, text=text),)

    def _interpolate_amount(self, key: str, slip: float) -> float:
        x = np.array([point.slip_months for point in self._slips])
        return float(np.interp(slip, x, self._compute_amounts(key)))

    # Reading values

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        facts = self._facts
        if facts is None or not self._slips:
            return None
        slip = min(max(round(x / _NEAR) * _NEAR, 0.0), self._slips[-1].slip_months)
        rows = tuple(
            CursorReadoutRow(key, index, False, name, (self.formatter.number(self._interpolate_amount(key, slip), 1),))
            for key, name, index in zip((_COST, _GAIN), self._label_curves(), facts.palette_indexes, strict=True)
        )
        title = tr("Slip: {months}", months=format_months(slip, self.formatter))
        return slip, CursorReadout(title, (tr("thousand {code}", code=facts.money.code),), rows)

    def stops(self) -> tuple[float, ...]:
        return (0.0, self._slips[-1].slip_months) if self._slips else ()

    def summary(self) -> str:
        facts = self._facts
        return "" if facts is None else describe_release_slip(facts.analysis, facts.names, self.formatter)

    def data(self, formatter: Formatter) -> ChartData:
        code = "USD" if self._facts is None else self._facts.money.code
        heads = (tr("Slip, months"), *self._label_curves())
        rows = tuple(
            (
                formatter.number(point.slip_months),
                *(formatter.number(self._interpolate_amount(key, point.slip_months), 1) for key in (_COST, _GAIN)),
            )
            for point in self._slips[::_EVERY]
        )
        return ChartData(tr("{title}, thousand {code}", title=self.title, code=code), heads, rows)


_CHART, _WIDEST = 240.0, 800.0
#: The marks of rule opinions.
_MARKS: Final = {DeferralVerdict.BUY: ("check", "text1"), DeferralVerdict.WAIT: ("history", "text1")}


class DeferralResultBlock(QWidget):
    """Shows one plan; blocks without figures are hidden."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formatter = desk.formatter
        self._facts: DelayChartData | None = None
        self.title = ThemedLabel(theme, font="verdict", wrap=True, parent=self)
        self.document, self.computed = (ThemedLabel(theme, wrap=True, parent=self) for _ in range(2))
        self.against = ThemedLabel(theme, color="disputed_text", wrap=True, parent=self)
        self._against_mark = MarkIcon(theme, "triangle-alert", "disputed", self)
        self.rules = MarkedList(theme, tr("Published rules"), self)
        self.figures = TextTable(
            theme,
            tr("Figures"),
            (tr("Figure"), tr("Low"), tr("Likely"), tr("High"), tr("Unit")),
            numbers=(1, 2, 3),
            giving=(0,),
            parent=self,
        )
        self.chart = DelayChart(desk, theme, self)
        self.summary = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.turns = TextTable(
            theme, tr("Break-even points"), (tr("Condition"), tr("Value")), giving=(0, 1), parent=self
        )
        self.prices = TextTable(
            theme,
            tr("Savings by future price"),
            (tr("Future price"), tr("Likely savings"), tr("Range"), tr("Conclusion")),
            numbers=(0, 1, 2),
            giving=(3,),
            parent=self,
        )
        self.turns_title = ThemedLabel(theme, tr("Break-even points"), font="section", parent=self)
        self.prices_title = ThemedLabel(theme, font="section", parent=self)
        self.notes = MarkedList(theme, tr("Assumptions and notes"), self)
        self._lay_out()
        theme.follow(self._dress)

    def _lay_out(self) -> None:
        px = self._theme.px
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.px(10))
        grid.setVerticalSpacing(self._theme.px(2))
        grid.setColumnStretch(1, 1)
        for line, (caption, label) in enumerate(
            ((tr("Published rules"), self.document), (tr("Computed"), self.computed))
        ):
            head = ThemedLabel(self._theme, caption, font="small", color="text2", parent=self)
            grid.addWidget(head, line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, line, 1)
        grid.addWidget(self._against_mark, 2, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.against, 2, 1)
        whole = make_column(self.title, grid, gap=px(6), on=self)
        for block, above in (
            (self.rules, 8),
            (self.figures, 8),
            (self.chart, 10),
            (self.summary, 0),
            (self.turns_title, 10),
            (self.turns, 0),
            (self.prices_title, 10),
            (self.prices, 0),
            (self.notes, 10),
        ):
            if above:
                whole.addSpacing(px(above))
            whole.addWidget(block)
        whole.addStretch(1)

    def _dress(self) -> None:
        self.chart.setMinimumHeight(self._theme.px(_CHART))
        # In a wider table figures would be too far from their labels.
        self.setMaximumWidth(self._theme.px(_WIDEST))

    # Display

    def show_plan(self, facts: DelayChartData) -> None:
        self._facts = facts
        analysis, names, money, formatter = facts.analysis, facts.names, facts.money, self._formatter
        self.title.setText(format_deferral_verdict(analysis, names))
        self.document.setText(describe_document_verdict(analysis))
        self.computed.setText(describe_computed_verdict(analysis, formatter))
        against = describe_contradiction(analysis)
        self.against.setText(against)
        for widget in (self.against, self._against_mark):
            widget.setVisible(bool(against))
        self.rules.show_lines([_format_side(rule) for rule in analysis.rules])
        self.figures.set_rows(list_deferral_figures(analysis, names, money, formatter))
        self.chart.setVisible(self.chart.show_facts(facts))
        self.summary.show_text(describe_release_slip(analysis, names, formatter))
        turns = list_deferral_flips(analysis, names, money, formatter)
        self.turns.set_rows(turns)
        self._show_prices(facts)
        self.turns.setVisible(bool(turns))
        self.turns_title.setVisible(bool(turns))
        self.notes.show_texts("info", "text2", list_deferral_notes(analysis, formatter))
        self.setAccessibleName(
            tr(
                "{title}. Published rules: {document}. Computed: {computed}",
                title=self.title.text(),
                document=self.document.text(),
                computed=self.computed.text(),
            )
        )

    def _show_prices(self, facts: DelayChartData) -> None:
        rows = list_future_price_rows(facts.analysis, facts.money)
        title = tr("Savings by future price, {code}", code=facts.money.code)
        self.prices_title.setText(title)
        self.prices.set_rows(rows)
        for widget in (self.prices, self.prices_title):
            widget.setVisible(bool(rows))

    def text(self, formatter: Formatter) -> str:
        """Return the whole content as lines, tables with tabs."""
        facts = self._facts
        if facts is None:
            return ""
        analysis, names, money = facts.analysis, facts.names, facts.money
        lines = [
            format_deferral_verdict(analysis, names),
            tr("Published rules: {verdict}", verdict=describe_document_verdict(analysis)),
            tr("Computed: {verdict}", verdict=describe_computed_verdict(analysis, formatter)),
            describe_contradiction(analysis),
            *(f"{rule.rule}: {describe_deferral_rule(rule)}" for rule in analysis.rules),
            format_tab_separated(list_deferral_figures(analysis, names, money, formatter)),
            format_tab_separated(list_deferral_flips(analysis, names, money, formatter)),
            format_tab_separated(list_future_price_rows(analysis, money)),
            describe_release_slip(analysis, names, formatter),
            *list_deferral_notes(analysis, formatter),
        ]
        return "".join(f"{line}\n" for line in lines if line)


def _format_side(rule: RuleOpinion) -> MarkedLine:
    verdict = rule.verdict
    mark, color = ("minus", "text3") if verdict is None else _MARKS[verdict]
    leaning = tr("undecided") if verdict is None else label_deferral_verdict(verdict)
    line = tr("{verdict}: {opinion}", verdict=leaning, opinion=lower_for_sentence(describe_deferral_rule(rule)))
    return MarkedLine(mark, color, capitalize_first(line))
