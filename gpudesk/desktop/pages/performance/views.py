"""The views of the Performance page: all charts, or one with its table of figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart, FiguresView, format_admitted, format_missing_memory
from gpudesk.desktop.pages.page import ChartsView
from gpudesk.desktop.pages.performance.concurrency_charts import LatencyChart, ThroughputChart, format_load_title
from gpudesk.desktop.pages.performance.limiter_charts import RooflineChart, TimeSplitChart
from gpudesk.desktop.pages.performance.pareto_chart import ParetoChart
from gpudesk.desktop.pages.performance.scaling_figures import DeploymentComparisonBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import CopyButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.domain.estimate import Limiter
from gpudesk.domain.mlperf import MlperfHeadToHead, MlperfRow, MlperfScenario
from gpudesk.domain.registry import FIGURES
from gpudesk.estimation.mlperf_comparison import MlperfComparison
from gpudesk.paths import MissingFileError
from gpudesk.report.comparison.estimate_rows import FigureText, describe_missing_figure
from gpudesk.report.data_table import CellSeverity, DataTable, FigureRow, build_accelerator_table
from gpudesk.report.labels import label_figure, shorten_name
from gpudesk.report.mlperf import (
    build_stated_ratio_row,
    build_submission_rows,
    cite_mlperf_result,
    describe_mlperf_result,
    describe_mlperf_verdict,
    format_ratio,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr, trn


def make_mlperf_figures(
    head_to_head: MlperfHeadToHead,
    names: Mapping[str, str],
    slots: Mapping[str, tuple[int, bool]],
    formatter: Formatter,
) -> DataTable:
    """Return the accelerators side by side; `slots` are those of the scenario's own, the others have none."""
    heads = tuple(
        head for scenario in MlperfScenario for head in (tr("{scenario}, tok/s", scenario=scenario.label), tr("Ratio"))
    )
    return build_accelerator_table(
        title=tr("MLPerf results per accelerator, output tokens per second"),
        heads=heads,
        leading={0, 2, 4},
        figures=("output_tokens_per_s",) * len(heads),
        rows=tuple(
            FigureRow(
                row.accelerator,
                *slots.get(row.accelerator, (0, False)),
                names[row.accelerator],
                tuple(text for scenario in MlperfScenario for text in _make_mlperf_cells(row, scenario, formatter)),
                _format_system(row, formatter),
            )
            for row in head_to_head.rows
        ),
        remarks=tr("Best submission"),
    )


def _make_mlperf_cells(row: MlperfRow, scenario: MlperfScenario, formatter: Formatter) -> tuple[str, str]:
    cell = row.cells.get(scenario)
    if cell is None:
        return MISSING_VALUE_TEXT, MISSING_VALUE_TEXT
    return formatter.count(round(cell.best.per_accelerator)), format_ratio(cell.ratio, formatter)


def _format_system(row: MlperfRow, formatter: Formatter) -> str:
    best = next(iter(row.cells.values())).best
    return describe_mlperf_result(best, formatter)


#: Fallback if the scenario's model has no results: the model with most submissions.
_DEFAULT_MODEL = "llama-2-70b"


class MlperfBlock(QWidget):
    """Starts with the newest round of the scenario's model, and its baseline."""

    #: The user's round, model and baseline; empty for the program's choice.
    chosen = Signal(str, str, str)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self._desk = desk
        self.theme, self.formatter = theme, desk.formatter
        self._selection = ("", "", "")
        self._comparison: MlperfHeadToHead | None = None
        self._row = ""
        self.round = ChoiceField(theme, tr("Round"), self)
        self.model = ChoiceField(theme, tr("Benchmark model"), self)
        self.baseline = ChoiceField(theme, tr("Baseline"), self)
        self.status_label = ThemedLabel(theme, font="page", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        self._submissions_title = ThemedLabel(theme, font="section", parent=self)
        self.submissions = TextTable(
            theme,
            tr("Submissions"),
            [
                tr("Scenario"),
                tr("Per accelerator, tok/s"),
                tr("Total, tok/s"),
                tr("Accelerators"),
                tr("Submitter and system"),
                tr("Software"),
            ],
            numbers=(1, 2, 3),
            giving=(4, 5),
            parent=self,
        )
        self.ratio_table = TextTable(
            theme,
            tr("Published ratios"),
            [tr("Claim"), tr("Published"), tr("MLPerf ratio"), tr("Check"), tr("Computed by"), tr("Document")],
            numbers=(1, 2),
            giving=(0, 4, 5),
            parent=self,
        )
        self.cited = ThemedLabel(theme, font="small", color="text3", wrap=True, parent=self)
        self.copy_citation = CopyButton(theme, tr("Copy citation"), self.cited.text, self)
        self._build()
        self._connect()
        self.setAccessibleName(tr("MLPerf comparison"))

    def _build(self) -> None:
        choices = make_row(self.round, self.model, self.baseline, STRETCH, gap=10)
        text = tr("Output tokens per second per accelerator (best submission), and ratio to the baseline")
        unit = ThemedLabel(self.theme, text, font="small", color="text3", parent=self)
        title = ThemedLabel(self.theme, tr("Published ratios"), font="section", parent=self)
        upper = (self.status_label, unit, self.table, 8, title, self.ratio_table, 8)
        citation = (self.cited, make_row(self.copy_citation, STRETCH), 8)
        items = (*upper, *citation, self._submissions_title, self.submissions, STRETCH)
        make_column(choices, align_with_fields(self.theme, *items, gap=6), gap=6, on=self)

    def _connect(self) -> None:
        self.round.chosen.connect(lambda key: self._pick(key, self._selection[1], self._selection[2]))
        self.model.chosen.connect(lambda key: self._pick(self._selection[0], key, self._selection[2]))
        self.baseline.chosen.connect(lambda key: self._pick(self._selection[0], self._selection[1], key))
        self.table.chosen.connect(lambda key, _: self._choose_row(key))

    # Choosing

    def set_picked(self, selection: tuple[str, str, str]) -> None:
        """Set round, model and baseline; empty values follow the scenario."""
        self._selection = selection

    def _pick(self, round_name: str, model: str, baseline: str) -> None:
        self._selection = (round_name, model, baseline)
        self.chosen.emit(*self._selection)
        self.refresh()

    def _choose_row(self, key: str) -> None:
        self._row = key
        self._show_chosen()

    # Showing

    def refresh(self) -> None:
        """Show the results of the chosen round and model, else of those nearest to the scenario."""
        try:
            mlperf = self._desk.service.mlperf
        except (InputError, MissingFileError) as error:
            problem = format_message(error.problem, self.formatter) if isinstance(error, InputError) else str(error)
            self.status_label.setText(capitalize_first(problem))
            self._show_tables(visible=False)
            return
        self._comparison = self._compare_head_to_head(mlperf)
        head_to_head = self._comparison
        if head_to_head is None:
            return
        self._show_tables(visible=True)
        names = self._collect_names()
        catalog = self._desk.service.catalog
        self.round.set_options(
            [ChoiceOption(each, tr("MLPerf Inference {round}", round=each)) for each in mlperf.rounds]
        )
        self.round.set_value(head_to_head.round)
        models = mlperf.models(head_to_head.round)
        self.model.set_options([ChoiceOption(each, catalog.model(each).name) for each in models])
        self.model.set_value(head_to_head.model)
        self.baseline.set_options([ChoiceOption(row.accelerator, names[row.accelerator]) for row in head_to_head.rows])
        self.baseline.set_value(head_to_head.baseline)
        slots: dict[str, tuple[int, bool]] = {}
        for each in self._desk.columns:
            slots.setdefault(each.column.accelerator.id, (each.palette_index, False))
        self.table.show_table(make_mlperf_figures(head_to_head, names, slots, self.formatter))
        keys = [row.accelerator for row in head_to_head.rows]
        if self._row not in keys or self._row == head_to_head.baseline:
            own = [key for key in (*slots, *keys) if key in keys and key != head_to_head.baseline]
            self._row = own[0] if own else keys[0]
        self._show_chosen()
        self._show_stated(mlperf, names)

    def _show_tables(self, *, visible: bool) -> None:
        for widget in (self.table, self.submissions, self.ratio_table, self.copy_citation):
            widget.setVisible(visible)

    def _compare_head_to_head(self, mlperf: MlperfComparison) -> MlperfHeadToHead | None:
        round_name, model, baseline = self._selection
        rounds = mlperf.rounds
        model_id = model or self._desk.scenario.model
        if round_name not in rounds:
            round_name = next((each for each in rounds if model_id in mlperf.models(each)), rounds[0] if rounds else "")
        models = mlperf.models(round_name)
        if model_id not in models:
            model_id = _DEFAULT_MODEL if _DEFAULT_MODEL in models else next(iter(models), "")
        choices = self._desk.scenario.accelerators
        return mlperf.head_to_head(round_name, model_id, baseline or (choices[0].accelerator if choices else None))

    def _show_chosen(self) -> None:
        head_to_head = self._comparison
        if head_to_head is None:
            return
        names = self._collect_names()
        self.table.choose_row(self._row)
        self.status_label.setText(describe_mlperf_verdict(head_to_head, self._row, names, self.formatter))
        row = head_to_head.row(self._row)
        results = [] if row is None else [each for cell in row.cells.values() for each in cell.results]
        self._submissions_title.setText(tr("Submissions with {name}", name=names[self._row]))
        self.submissions.set_rows(build_submission_rows(results, self.formatter))
        catalog = self._desk.service.catalog
        model, source = catalog.model(head_to_head.model).name, catalog.source(head_to_head.source)
        self.cited.setText(cite_mlperf_result(head_to_head, model, source, catalog.data_date))
        self.copy_citation.reset()

    def _show_stated(self, mlperf: MlperfComparison, names: Mapping[str, str]) -> None:
        catalog = self._desk.service.catalog
        models = {model.id: model.name for model in catalog.models()}
        rows = [
            build_stated_ratio_row(each, names, models, catalog.source(each.source), self.formatter)
            for each in mlperf.published_ratios
        ]
        self.ratio_table.set_rows(rows)

    def _collect_names(self) -> dict[str, str]:
        return {part.id: shorten_name(part.name) for part in self._desk.service.catalog.accelerators()}

    # Interface for charts

    def summary(self) -> str:
        return self.status_label.text()

    def data(self, formatter: Formatter) -> ChartData:
        head_to_head = self._comparison
        model = "" if head_to_head is None else self._desk.service.catalog.model(head_to_head.model).name
        names = self._collect_names()
        heads = (
            tr("Accelerator"),
            tr("MLPerf scenario"),
            tr("Submitter"),
            tr("System"),
            tr("Accelerators"),
            tr("Output tok/s"),
            tr("Per accelerator, tok/s"),
            tr("Ratio to baseline"),
        )
        if head_to_head is None:
            return ChartData(title=tr("MLPerf Inference"), heads=heads, rows=(), first_number=4)
        rows = tuple(
            (
                names[row.accelerator],
                scenario.label,
                result.submitter,
                result.system,
                formatter.count(result.count),
                formatter.exact(result.output_tokens_per_s),
                formatter.count(round(result.per_accelerator)),
                format_ratio(cell.ratio, formatter) if result is cell.best else "",
            )
            for row in head_to_head.rows
            for scenario, cell in row.cells.items()
            for result in cell.results
        )
        title = tr("MLPerf {round}, {model}", round=head_to_head.round, model=model)
        return ChartData(title=title, heads=heads, rows=rows, first_number=4)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event)


_TERA: Final = 1e12


def format_figures_title(desk: Desk) -> str:
    if desk.answer is None:
        return ""
    return format_load_title(desk.answer.scenario.workload.load, desk.formatter)


def describe_limiter(part: AcceleratorColumn, desk: Desk) -> tuple[str, CellSeverity]:
    """Return what limits an accelerator, or the problem that it has instead of a result."""
    estimate = part.column.estimate
    if estimate is None:
        problem = part.column.problem
        return ("" if problem is None else format_message(problem, desk.formatter)), CellSeverity.FAULT
    if not estimate.fits:
        missing = format_missing_memory(part, desk)
        if estimate.needs is None:
            return tr("does not fit: {missing}", missing=missing), CellSeverity.FAULT
        return trn(
            "does not fit: {missing}; needs {n} accelerator",
            "does not fit: {missing}; needs {n} accelerators",
            estimate.needs,
            missing=missing,
            n=desk.formatter.count(estimate.needs),
        ), CellSeverity.FAULT
    if estimate.stable is False or estimate.output_tokens_per_s is None:
        return describe_missing_figure(part.column, desk.formatter)[0], CellSeverity.FAULT
    waiting = format_admitted(estimate, desk)
    if waiting:
        return waiting, CellSeverity.WARNING
    if estimate.limiter is None or estimate.limiter is Limiter.CAPACITY:
        return "", CellSeverity.NONE
    return estimate.limiter.label, CellSeverity.NONE


def make_estimate_figures(desk: Desk, names: tuple[str, ...]) -> DataTable:
    """Return figures of the estimates with their intervals, sorted by the first figure."""
    if desk.answer is None:
        return DataTable("", "", "", (), ())
    texts = {name: FigureText(desk.answer, name, desk.formatter) for name in names}
    heads = tuple(
        head for name, text in texts.items() for head in (f"{_label_briefly(name)}, {text.unit}", tr("80% interval"))
    )

    def cells(part: AcceleratorColumn) -> tuple[str, ...]:
        return tuple(cell for name, text in texts.items() for cell in _format_row_texts(part.figure(name), text))

    chosen = tuple(name for name in names for _ in range(2))
    leading = set(range(0, len(heads), 2))
    rows = _make_rows(desk, _sort_best_first(desk, names[0]), cells)
    return build_accelerator_table(format_figures_title(desk), heads, rows, leading=leading, figures=chosen)


def make_pareto_figures(desk: Desk, chart: ParetoChart) -> DataTable:
    """Return the throughput of each column at this load, per accelerator and per user."""
    name = "output_tokens_per_s_per_accelerator"
    heads = (
        tr("Per accelerator, tok/s"),
        tr("80% interval"),
        tr("Per user, tok/s"),
        tr("Best, {speed}", speed="" if chart.drawing.rule is None else chart.drawing.rule.text),
    )
    best = (
        {}
        if chart.drawing.cursor_readout is None
        else {row.key: row.cells for row in chart.drawing.cursor_readout.rows}
    )

    def cells(part: AcceleratorColumn) -> tuple[str, ...]:
        tpot = part.figure("tpot_ms")
        speed = MISSING_VALUE_TEXT if tpot is None else desk.formatter.estimate(1000.0 / tpot.value)
        return (*_format_texts(part.figure(name), desk), speed, best.get(part.key, (MISSING_VALUE_TEXT,))[0])

    chosen = (name, name, "tpot_ms", name)
    rows = _make_rows(desk, _sort_best_first(desk, name), cells)
    return build_accelerator_table(format_figures_title(desk), heads, rows, leading={0}, figures=chosen)


def make_roofline_figures(desk: Desk, chart: RooflineChart) -> DataTable:
    heads = (
        tr("Decode, FLOP/byte"),
        tr("Decode, TFLOPS"),
        tr("Prefill, FLOP/byte"),
        tr("Prefill, TFLOPS"),
        tr("Ridge, FLOP/byte"),
    )
    rooflines = {each.part.key: each.roofline for each in chart.roofed}
    number = desk.formatter.estimate

    def cells(part: AcceleratorColumn) -> tuple[str, ...]:
        roofline = rooflines.get(part.key)
        if roofline is None:
            return (MISSING_VALUE_TEXT,) * len(heads)
        points = [
            (MISSING_VALUE_TEXT, MISSING_VALUE_TEXT)
            if point is None
            else (number(point.intensity), number(point.flops / _TERA))
            for point in (roofline.decode, roofline.prefill)
        ]
        return (*points[0], *points[1], number(roofline.effective.ridge))

    chosen = ("tpot_ms", "tpot_ms", "ttft_ms", "ttft_ms", "output_tokens_per_s")
    rows = _make_rows(desk, _sort_best_first(desk, "output_tokens_per_s"), cells)
    return build_accelerator_table(format_figures_title(desk), heads, rows, leading={1, 3}, figures=chosen)


def _label_briefly(name: str) -> str:
    return {"ttft_ms": tr("TTFT"), "tpot_ms": tr("TPOT")}.get(name) or label_figure(name)


def _format_row_texts(interval: IntervalEstimate | None, text: FigureText) -> tuple[str, str]:
    if interval is None:
        return MISSING_VALUE_TEXT, ""
    value, low, high = text.list_texts(interval)
    return value, f"{low} – {high}"


def _format_texts(banded: IntervalEstimate | None, desk: Desk) -> tuple[str, str]:
    if banded is None:
        return MISSING_VALUE_TEXT, ""
    return desk.formatter.estimate(banded.value), desk.formatter.band(banded)


def _sort_best_first(desk: Desk, name: str) -> list[AcceleratorColumn]:
    sign = -1.0 if FIGURES[name].more_is_better else 1.0

    unranked = () if desk.answer is None else tuple(desk.keys[place] for place in desk.answer.unranked)

    def order(part: AcceleratorColumn) -> tuple[bool, bool, float]:
        banded = part.figure(name)
        return banded is None, part.key in unranked, 0.0 if banded is None else sign * banded.value

    return sorted(desk.columns, key=order)


def _make_rows(
    desk: Desk, ordered: list[AcceleratorColumn], cells: Callable[[AcceleratorColumn], tuple[str, ...]]
) -> tuple[FigureRow, ...]:
    return tuple(FigureRow(*part.identity, cells(part), *describe_limiter(part, desk)) for part in ordered)


_MARGIN = 16
#: Heights of the upper and lower half of the overview, and widths of the two charts in the lower.
_HALVES = (63, 37)
_LOWER = (54, 46)
#: Minimum heights of a plot: one of three on a page, and alone.
_LEAST_OF_THREE: Final = 120
_LEAST_ALONE: Final = 240
#: Charts that can be copied and shown as a table.
PageChart = DeskChart | TimeSplitChart | DeploymentComparisonBlock | MlperfBlock


class PerformanceView(ChartsView):
    """The content of one segment."""

    charts: tuple[PageChart, ...]

    def set_bands(self, are_wanted: bool) -> None:
        for chart in self.charts:
            if isinstance(chart, DeskChart):
                chart.set_bands_wanted(are_wanted)


class PerformanceOverview(PerformanceView):
    """Throughput with its limiters, below throughput by speed and time to first token."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.throughput = ThroughputChart(desk, theme)
        self.throughput.show_unfit_columns()
        self.pareto = ParetoChart(desk, theme)
        self.first_token = LatencyChart(desk, theme, "ttft_ms")
        super().__init__((self.throughput, self.pareto, self.first_token), parent)
        for chart in (self.throughput, self.pareto, self.first_token):
            chart.least_plot = _LEAST_OF_THREE
        upper = make_row(self.throughput, margins=(_MARGIN, 0, _MARGIN, 0), scaled=theme)
        pair = ((self.pareto, _LOWER[0]), (self.first_token, _LOWER[1]))
        lower = make_row(*pair, gap=32, margins=(_MARGIN, 8, _MARGIN, 4), scaled=theme)
        make_column((upper, _HALVES[0]), Hairline(theme), (lower, _HALVES[1]), gap=0, on=self)


class ChartView(FiguresView, PerformanceView):
    """One chart, or two of a kind, on the whole page, with the figures at this load below."""

    def __init__(
        self, desk: Desk, theme: Theme, charts: Sequence[DeskChart], make_figures: Callable[[], DataTable]
    ) -> None:
        super().__init__(desk, theme, charts, make_figures)
        for chart in charts:
            chart.least_plot = _LEAST_ALONE


class TimeSplitView(PerformanceView):
    """The chart of time shares, which contains its figures."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        chart = TimeSplitChart(desk, theme)
        super().__init__((chart,))
        make_column(chart, STRETCH, margins=(_MARGIN, 0, _MARGIN, 4), scaled=theme, on=self)


def make_throughput_view(desk: Desk, theme: Theme) -> PerformanceView:
    chart = ThroughputChart(desk, theme)
    chart.show_unfit_columns()
    chart.docked = False
    return ChartView(desk, theme, [chart], lambda: make_estimate_figures(desk, ("output_tokens_per_s",)))


def make_pareto_view(desk: Desk, theme: Theme) -> PerformanceView:
    chart = ParetoChart(desk, theme)
    chart.labeled = True
    chart.show_unfit_columns()
    return ChartView(desk, theme, [chart], lambda: make_pareto_figures(desk, chart))


def make_latency_view(desk: Desk, theme: Theme) -> PerformanceView:
    charts = [LatencyChart(desk, theme, name) for name in ("ttft_ms", "tpot_ms")]
    charts[0].show_unfit_columns()
    return ChartView(desk, theme, charts, lambda: make_estimate_figures(desk, ("ttft_ms", "tpot_ms")))


def make_roofline_view(desk: Desk, theme: Theme) -> PerformanceView:
    chart = RooflineChart(desk, theme)
    chart.show_unfit_columns()
    return ChartView(desk, theme, [chart], lambda: make_roofline_figures(desk, chart))
