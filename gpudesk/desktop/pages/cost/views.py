"""The views of the Cost page: overview, tokens, rent or buy, simulation, published cases, with tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpudesk.costing.inputs import CostCase
from gpudesk.desktop.pages.cost.charts import (
    CostCurveChart,
    CostDistributionChart,
    OwnershipCostChart,
    RentOrBuyChart,
    SensitivityChart,
    TokenCostChart,
)
from gpudesk.desktop.pages.page import PageView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import Selection, select_best_figure, select_cost
from gpudesk.desktop.ui.charts.chart_data import ChartData, CopyableChart
from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, Hairline, ThemedLabel, make_column, make_row
from gpudesk.domain.answer import AcceleratorChoice, find_best, rank_figures
from gpudesk.domain.cost import BreakEven, CostColumn, CostDistribution
from gpudesk.domain.deployment_analysis import WorkedFigure
from gpudesk.report.break_even import build_break_even_cells
from gpudesk.report.costs import (
    OWNED,
    RENTED,
    TOTAL,
    describe_missing_input,
    list_provider_rent_heads,
    list_provider_rent_rows,
)
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table
from gpudesk.report.explanation.worked_examples import (
    describe_cost_case,
    format_computed_figure,
    format_printed_figure,
    label_cost_case,
    label_worked_claim,
    label_worked_verdict,
)
from gpudesk.report.labels import format_odds
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.translation import tr, translate_data

_THOUSAND: Final = 1000.0
#: The first columns of the token costs, which the panel explains.
_TOKEN_COSTS: Final = 5


def _make_unit_cells(costed: EvaluatedAnswer, column: CostColumn) -> tuple[str, ...]:
    money, formatter = costed.money, costed.formatter
    tokens, efficiency = column.owned or column.rented, column.efficiency
    if tokens is None:
        money_cells = [MISSING_VALUE_TEXT] * 5
    else:
        thousand = tokens.request.value * _THOUSAND
        figures = (tokens.output.value, tokens.input.value, tokens.blended.value, thousand)
        money_cells = [money.small(each) for each in (*figures, tokens.user_month.value)]
    if efficiency is None:
        return (*money_cells, *[MISSING_VALUE_TEXT] * 7)
    banded = (efficiency.tokens_per_s_per_kw, efficiency.tokens_per_s_per_rack, efficiency.joules_per_token)
    large = (efficiency.energy_kwh, efficiency.carbon_kg)
    return (
        *money_cells,
        money.rounded(efficiency.usd_per_gib),
        money.rounded(efficiency.usd_per_gib_for_kv),
        *(formatter.estimate(None if each is None else each.value) for each in banded),
        *(formatter.estimate(None if each is None else each / _THOUSAND) for each in large),
    )


def _format_unit_remark(column: CostColumn) -> str:
    if column.owned is not None:
        return tr("owned")
    if column.rented is not None:
        return tr("rented: {missing}", missing=describe_missing_input(column.missing[0]))
    return "; ".join(describe_missing_input(each) for each in column.missing)


def make_simulation_figures(costed: EvaluatedAnswer, draws: CostDistribution) -> DataTable:
    """Return the odds that each accelerator is the cheapest, and the interval of its cost."""
    names = {part.key: part for part in costed.columns}
    money, formatter = costed.money, costed.formatter
    # At the likely inputs, as on the other views: the median of the simulations differs, because ranges are skewed.
    base_costs = {
        part.key: cost.output.value
        for part, column in costed.pair_column_costs()
        if (cost := column.rented if draws.rented else column.owned) is not None
    }
    ranked = sorted(draws.quantiles.items(), key=lambda pair: -draws.compared.get(pair[0], 0.0))
    rows = [
        FigureRow(
            key,
            names[key].palette_index,
            names[key].is_variant,
            names[key].name,
            (
                format_odds(draws.compared[key], formatter) if key in draws.compared else MISSING_VALUE_TEXT,
                *map(money.small, (base_costs[key], low, high)),
            ),
            tr("rented") if draws.rented else tr("owned"),
        )
        for key, (low, _, high) in ranked
        if key in base_costs
    ]
    for part, column in costed.pair_column_costs():
        if part.key not in draws.quantiles:
            note = tr("excluded: {missing}", missing="; ".join(describe_missing_input(each) for each in column.missing))
            rows.append(FigureRow(*part.identity, (MISSING_VALUE_TEXT,) * 4, note))
    heads = (tr("Cheapest, odds"), tr("Base case"), tr("10th percentile"), tr("90th percentile"))
    note = tr(
        "{n} simulations of all inputs, {code} per million output tokens", n=formatter.count(draws.n), code=money.code
    )
    explained = ("tokens",) * len(heads)
    return build_accelerator_table(note, heads, rows, leading={0}, figures=explained, remarks=tr("Basis"))


_MARGIN, _BETWEEN, _ABOVE = 16, 32, 10
#: In a row the rent is above the middle, the cost of owning below.
_MIDDLE = 0.5


class CostView(PageView):
    """The content of one segment; `charts` in reading order."""

    #: The key of an accelerator whose price is to be entered.
    price_wanted = Signal(str)
    #: The key of the chosen accelerator.
    chosen = Signal(str)

    def __init__(self, theme: Theme, charts: Sequence[CopyableChart], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.charts = tuple(charts)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self.theme.color("page"))

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        raise NotImplementedError

    def choose(self, key: str) -> None:
        """Choose the accelerator of a view that shows only one."""
        del key


def select_cheapest(costed: EvaluatedAnswer) -> Selection | None:
    """Return the selection of the lowest cost per token, owned or rented; None without costs."""
    answer = costed.answer_with_costs
    lowest = {
        ranked[find_best(ranked, figure)].value: figure
        for figure in ("owned_usd_per_million_output", "rented_usd_per_million_output")
        if (ranked := rank_figures(answer, figure))
    }
    return select_best_figure(answer, lowest[min(lowest)]) if lowest else None


class CostOverview(CostView):
    """Tokens and years above, influences on the token cost and rent or buy below."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self._desk = desk
        self._key = ""
        self._costs: EvaluatedAnswer | None = None
        self.tokens = TokenCostChart(theme, desk.formatter)
        self.years = OwnershipCostChart(theme, desk.formatter)
        self.influences = SensitivityChart(theme, desk.formatter)
        self.rent = RentOrBuyChart(desk, theme)
        super().__init__(theme, (self.tokens, self.years, self.influences, self.rent), parent)
        whole = make_column(gap=0, on=self)
        pairs: tuple[tuple[QWidget, QWidget], ...] = ((self.tokens, self.years), (self.influences, self.rent))
        for number, pair in enumerate(pairs):
            around = (_MARGIN, _ABOVE if number else 0, _MARGIN, 6)
            row = make_row(*((chart, 1) for chart in pair), gap=_BETWEEN, margins=around, scaled=theme)
            if number:
                whole.addWidget(Hairline(theme))
            whole.addLayout(row, 5 if number else 4)
        for chart in (self.tokens, self.years):
            chart.link_pressed.connect(self.price_wanted)
            chart.row_selected.connect(lambda key, _: self.chosen.emit(key))
        self.tokens.row_selected.connect(lambda key, _: self._select(key, of_years=False))
        self.years.row_selected.connect(lambda key, _: self._select(key, of_years=True))
        self.rent.curve_clicked.connect(self.chosen)
        theme.changed.connect(self._limit_bars)

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costs = costed
        self.tokens.show_costs(costed)
        self.years.show_costs(costed)
        self._limit_bars()
        self.rent.show_costs(costed)
        answer = self._desk.answer
        if answer is None:
            return
        cheapest = select_cheapest(costed)
        place = costed.place(self._key or ("" if cheapest is None else cheapest.column))
        column = costed.costs.columns[place]
        # The cost of owning if it has a price.
        rented = column.owned is None
        tokens = column.rented if rented else column.owned
        influences = self._desk.service.costing.influences(answer, place, rented=rented)
        now = None if tokens is None else tokens.output.value
        self.influences.show_influences(costed, place, influences, now, rented=rented)

    def choose(self, key: str) -> None:
        self._key = key

    def _limit_bars(self) -> None:
        """Leave the height that the bars do not need to the charts below."""
        tallest = max(chart.measure_tallest() for chart in (self.tokens, self.years))
        for chart in (self.tokens, self.years):
            chart.setMaximumHeight(tallest)

    def _select(self, key: str, *, of_years: bool) -> None:
        """Explain a cost in the panel: of all years, or of a token, owned if there is a price."""
        column = None if self._costs is None else self._costs.costs.columns[self._costs.place(key)]
        upper = self.tokens.press_height_share < _MIDDLE and column is not None and column.rented is not None
        owned = column is not None and column.owned is not None and not upper
        name = TOTAL if of_years else OWNED if owned else RENTED
        self._desk.select(select_cost(key, name))


_VIEW_MARGIN: Final = 16
_OWNED, _RENTED = "owned", "rented"


def _lay_out_view(view: QWidget, theme: Theme, chart: QWidget, below: list[QWidget], fields: list[QWidget]) -> None:
    upper = make_row(chart, margins=(_VIEW_MARGIN, 0, _VIEW_MARGIN, 4), scaled=theme)
    lower = [make_row(*fields, STRETCH)] if fields else []
    lower.append(align_with_fields(theme, *below, gap=6))
    margins = (_VIEW_MARGIN - FIELD_SIDE, 8, _VIEW_MARGIN, 12)
    make_column((upper, 1), Hairline(theme), make_column(*lower, gap=6, margins=margins, scaled=theme), gap=0, on=view)


class TokenCostView(CostView):
    """Token cost by speed per user; below, costs per token, request and user."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.chart = CostCurveChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self.title = ThemedLabel(theme, font="section", parent=self)
        self.table = FiguresTable(theme, self)
        self.table.chosen.connect(lambda key, _: self.chart.select_curve(key))
        _lay_out_view(self, theme, self.chart, [self.title, self.table], [])

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self.chart.show_costs(costed)
        code = costed.money.code
        heads = (
            tr("1M output tokens"),
            tr("1M input tokens"),
            tr("1M blended tokens"),
            tr("1,000 requests"),
            tr("User-month"),
            tr("GiB memory"),
            tr("GiB KV cache"),
            tr("tok/s per kW"),
            tr("tok/s per rack"),
            tr("J per token"),
            tr("Energy, MWh"),
            tr("Carbon, t CO₂e"),
        )
        rows = tuple(
            FigureRow(
                *part.identity[:3],
                part.name if column.owned or not column.rented else tr("{name}, rented", name=part.name),
                _make_unit_cells(costed, column),
                _format_unit_remark(column),
            )
            for part, column in costed.pair_column_costs()
        )
        title = tr("Total cost at this load per unit, {code}", code=code)
        explained = (*("tokens",) * _TOKEN_COSTS, *("",) * (len(heads) - _TOKEN_COSTS))
        figures = build_accelerator_table(title, heads, rows, leading={0}, figures=explained, remarks=tr("Basis"))
        self.title.setText(figures.title)
        self.table.show_table(figures)


#: Only the cheapest are shown; the terminal lists all.
_PROVIDERS_SHOWN: Final = 4


class RentOrBuyView(CostView):
    """Rent or buy over the months; below, break-even points of a pair, and the cheapest providers."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self._desk = desk
        self._costed: EvaluatedAnswer | None = None
        self._pair = ("", "")
        self.chart = RentOrBuyChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self.which, self.rival = (
            ChoiceField(theme, words, self) for words in (tr("Break-even for"), tr("Compared with"))
        )
        self.which.chosen.connect(lambda key: self._choose(key, self._pair[1]))
        self.rival.chosen.connect(lambda key: self._choose(self._pair[0], key))
        heads = [tr("Break-even point"), tr("Value"), tr("Used"), tr("Result")]
        self.table = TextTable(theme, tr("Break-even points"), heads, giving=(3,), parent=self)
        self.rents = TextTable(
            theme, tr("Rents by provider"), list_provider_rent_heads(), numbers=(3, 4), giving=(0,), parent=self
        )
        _lay_out_view(self, theme, self.chart, [self.table, self.rents], [self.which, self.rival])

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        self.chart.show_costs(costed)
        rents = list_provider_rent_rows(costed.costs, costed.names, costed.money)[:_PROVIDERS_SHOWN]
        self.rents.set_rows(rents)
        self.rents.setVisible(bool(rents))
        keys = [part.key for part in costed.columns]
        options = [ChoiceOption(part.key, part.name) for part in costed.columns]
        for field in (self.which, self.rival):
            field.set_options(options)
        first, second = self._pair
        rival = second if second in keys else keys[0]
        others = [key for key in keys if key != rival]
        self._choose(first if first in keys else (others[0] if others else rival), rival)

    def _choose(self, key: str, rival: str) -> None:
        self._pair = (key, rival)
        self.which.set_value(key)
        self.rival.set_value(rival)
        costed, answer = self._costed, self._desk.answer
        if costed is None or answer is None:
            return
        # Hours of use repeat the utilization.
        break_evens: list[BreakEven] = [
            each
            for each in costed.costs.break_evens
            if each.key == key and not each.against and each.name != "hours_to_own"
        ]
        if key != rival:
            break_evens += self._desk.service.costing.break_evens(answer, costed.place(key), costed.place(rival))
        rows = [build_break_even_cells(each, costed.names, costed.formatter, costed.money) for each in break_evens]
        self.table.set_rows(rows or [("", "", "", tr("No break-even point yet. Enter prices or rents."))])


class SimulationView(CostView):
    """Simulated costs, drawn in the background; below, the odds that each accelerator is the cheapest."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self._desk = desk
        self._costed: EvaluatedAnswer | None = None
        self._question: object = None
        self.draws: CostDistribution | None = None
        self.chart = CostDistributionChart(desk, theme)
        super().__init__(theme, (self.chart,), parent)
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self._show_state)
        kinds = ((_OWNED, tr("Owned")), (_RENTED, tr("Rented")))
        self.kind = SegmentedControl(theme, tr("Cost basis"), kinds, self)
        self.kind.chosen.connect(lambda _: self._draw())
        self.title = ThemedLabel(theme, font="section", parent=self)
        self.status_label = ThemedLabel(theme, font="small", color="text2", parent=self)
        self.table = FiguresTable(theme, self)
        self.table.chosen.connect(lambda key, _: self.chart.select_curve(key))
        head = QWidget(self)
        make_row(self.title, self.status_label, STRETCH, (self.kind, 0, Qt.AlignmentFlag.AlignRight), on=head)
        _lay_out_view(self, theme, self.chart, [head, self.table], [])

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        self._draw()

    def _draw(self) -> None:
        """Draw for the current answer; while a job runs, that is left to its end: each takes 20 MB."""
        answer, rented = self._desk.answer, self.kind.value == _RENTED
        if answer is None or self._jobs.running or (answer, rented) == self._question:
            return
        self._question = (answer, rented)
        if self.draws is None or self.draws.rented != rented:
            self._show_no_draws(tr("Simulating costs"))
        steps = self._desk.service.costing.draw_steps(answer, rented=rented)
        self._jobs.start("draws", steps, self._done, self._failed)

    def _done(self, draws: CostDistribution) -> None:
        self._draw()
        if self._jobs.running or self._costed is None:
            return
        self.draws = draws
        why = (
            tr("No cost to simulate. Enter a price.") if not draws.rented else tr("No cost to simulate. Enter a rent.")
        )
        self.chart.show_draws(self._costed, draws, why)
        figures = make_simulation_figures(self._costed, draws)
        self.title.setText(figures.title)
        self.table.show_table(figures)

    def _failed(self, error: InputError) -> None:
        self._show_state(format_message(error.problem, self._desk.formatter), False)
        self._draw()

    def _show_state(self, text: str, can_stop: bool) -> None:
        """Show the progress next to the former result, or in the chart if there is none."""
        del can_stop
        if self.draws is not None:
            self.status_label.setText(text)
        elif text:
            self._show_no_draws(text)

    def _show_no_draws(self, why: str) -> None:
        """Show an empty chart and table, and the reason."""
        self.draws = None
        if self._costed is not None:
            self.chart.show_draws(self._costed, None, why)
            self.title.setText("")
            self.table.show_table(DataTable("figures", "", "", (), ()))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._jobs.running:
            self._jobs.stop()
            self._question = None


class PublishedCasesView(CostView):
    """A choice of cases; below, the results of the chosen one, and its printed figures with verdicts."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, (), parent)
        self._desk, self.formatter = desk, desk.formatter
        self._cases = {each.id: each for each in desk.service.costing.assumptions.cases}
        cases = [(each, label_cost_case(each)) for each in self._cases]
        self.case = SegmentedControl(theme, tr("Case"), cases, self)
        self.case.chosen.connect(lambda _: self._show())
        self.take = Button(theme, tr("Use these inputs"), self._take, icon="import", parent=self)
        self.take.setToolTip(tr("Compare the two accelerators with all inputs of the document"))
        self.source = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.note_label = ThemedLabel(theme, wrap=True, parent=self, selectable=True)
        heads = [tr("Check"), tr("Figure"), tr("Published"), tr("Computed")]
        self.table = TextTable(theme, tr("Published figures"), heads, numbers=(2, 3), giving=(1,), parent=self)
        head = FlowLayout(theme.px(12))
        head.addWidget(self.case)
        head.addWidget(self.take)
        rows = (head, self.source, self.note_label, self.table, STRETCH)
        around = (_VIEW_MARGIN, 0, _VIEW_MARGIN, _VIEW_MARGIN)
        make_column(*rows, gap=10, margins=around, scaled=theme, on=self)
        self.charts = (self,)

    @property
    def _chosen(self) -> CostCase:
        return self._cases[self.case.value]

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        del costed
        self._show()

    def _show(self) -> None:
        case = self._chosen
        source = self._desk.service.catalog.source(case.source)
        date = self._desk.formatter.date(source.date or "—")
        self.source.setText(tr("Source: {title}, {date}", title=translate_data(source.title), date=date))
        try:
            figures = self._list_figures()
        except InputError as error:
            self.note_label.setText(format_input_error(error, self.formatter))
            return
        self.note_label.setText(describe_cost_case(case.id, figures, self.formatter))
        self.table.set_rows([_make_case_row(each, self.formatter)[1:] for each in figures])

    def _list_figures(self) -> list[WorkedFigure]:
        case = self._chosen
        figures = self._desk.service.worked_examples
        return [each for each in figures if case.first <= each.example.id <= case.last]

    def _take(self) -> None:
        case = self._chosen
        parts = tuple(AcceleratorChoice(part, 1) for part in case.accelerators)
        scenario = replace(self._desk.scenario, accelerators=parts, costs=case.settings)
        self._desk.apply(scenario, tr("Use inputs of {case}", case=label_cost_case(case.id)))

    def data(self, formatter: Formatter) -> ChartData:
        heads = (tr("ID"), tr("Check"), tr("Figure"), tr("Published"), tr("Computed"))
        return ChartData(
            label_cost_case(self._chosen.id),
            heads,
            tuple(_make_case_row(each, formatter) for each in self._list_figures()),
            3,
        )


def _make_case_row(figure: WorkedFigure, formatter: Formatter) -> tuple[str, ...]:
    example = figure.example
    return (
        example.id,
        label_worked_verdict(figure),
        label_worked_claim(figure),
        format_printed_figure(figure, formatter),
        format_computed_figure(figure, formatter),
    )
