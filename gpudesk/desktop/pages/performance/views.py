"""The views of the Performance page: all charts, or one with its table of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart, format_admitted, format_missing_memory
from gpudesk.desktop.pages.performance.concurrency_charts import LatencyChart, ThroughputChart, format_load_title
from gpudesk.desktop.pages.performance.limiter_charts import RooflineChart, TimeSplitChart
from gpudesk.desktop.pages.performance.mlperf import MlperfBlock
from gpudesk.desktop.pages.performance.pareto_chart import ParetoChart
from gpudesk.desktop.pages.performance.scaling_figures import DeploymentComparisonBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.selection import SelectionKind, select_figure
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import Hairline, ThemedLabel, make_column, make_row
from gpudesk.domain.estimate import Limiter
from gpudesk.domain.registry import FIGURES
from gpudesk.report.comparison.estimate_rows import FigureText, describe_missing_figure
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table
from gpudesk.report.labels import label_figure
from gpudesk.text.formatting import MISSING_VALUE_TEXT, IntervalEstimate
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr, trn

_TERA: Final = 1e12


def format_figures_title(desk: Desk) -> str:
    if desk.answer is None:
        return ""
    return format_load_title(desk.answer.scenario.workload.load, desk.formatter)


def describe_limiter(part: AcceleratorColumn, desk: Desk) -> tuple[str, bool]:
    estimate = part.column.estimate
    if estimate is None:
        problem = part.column.problem
        return ("" if problem is None else format_message(problem, desk.formatter)), True
    if not estimate.fits:
        missing = format_missing_memory(part, desk)
        if estimate.needs is None:
            return tr("does not fit: {missing}", missing=missing), True
        return trn(
            "does not fit: {missing}; needs {n} accelerator",
            "does not fit: {missing}; needs {n} accelerators",
            estimate.needs,
            missing=missing,
            n=desk.formatter.count(estimate.needs),
        ), True
    if estimate.stable is False or estimate.output_tokens_per_s is None:
        return describe_missing_figure(part.column, desk.formatter)[0], True
    waiting = format_admitted(estimate, desk)
    if waiting:
        return waiting, True
    if estimate.limiter is None or estimate.limiter is Limiter.CAPACITY:
        return "", False
    return estimate.limiter.label, False


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
    rows = []
    for part in ordered:
        limiter_text, faulty = describe_limiter(part, desk)
        rows.append(FigureRow(*part.identity, cells(part), limiter_text, faulty))
    return tuple(rows)


_MARGIN = 16
#: Heights of the upper and lower half of the overview, and widths of the two charts in the lower.
_HALVES = (63, 37)
_LOWER = (54, 46)
#: Minimum heights of a plot: one of three on a page, and alone.
_LEAST_OF_THREE: Final = 120
_LEAST_ALONE: Final = 240
#: Charts that can be copied and shown as a table.
PageChart = DeskChart | TimeSplitChart | DeploymentComparisonBlock | MlperfBlock


class PerformanceView(QWidget):
    """The content of one segment; `charts` in reading order."""

    def __init__(self, charts: Sequence[PageChart], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.charts = tuple(charts)

    def refresh(self) -> None:
        for chart in self.charts:
            chart.refresh()

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


class ChartView(PerformanceView):
    """One chart, or two of a kind, on the whole page, with the figures at this load below."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        charts: Sequence[DeskChart | TimeSplitChart],
        make_figures: Callable[[], DataTable] | None,
    ) -> None:
        """Take the charts, and the builder of the table's figures; bar charts contain their figures."""
        super().__init__(charts)
        self._desk = desk
        self._make_figures = make_figures
        for chart in self.charts:
            if isinstance(chart, DeskChart):
                chart.least_plot = _LEAST_ALONE
        whole = make_column(gap=8, on=self)
        upper = make_row(*((chart, 1) for chart in self.charts), gap=32, margins=(_MARGIN, 0, _MARGIN, 4), scaled=theme)
        whole.addLayout(upper, 1)
        self.table = FiguresTable(theme, self)
        self._title = ThemedLabel(theme, font="section", parent=self)
        if make_figures is not None:
            whole.addWidget(Hairline(theme))
            whole.addLayout(make_column(self._title, self.table, margins=(_MARGIN, 6, _MARGIN, 12), scaled=theme))
        self.table.setVisible(make_figures is not None)
        self._title.setVisible(make_figures is not None)
        self.table.chosen.connect(lambda key, name: desk.select(select_figure(key, name)))
        desk.selection_changed.connect(self._follow_selection)

    def refresh(self) -> None:
        super().refresh()
        if self._make_figures is not None:
            figures = self._make_figures()
            self._title.setText(figures.title)
            self.table.show_table(figures)
            self._follow_selection()

    def _follow_selection(self) -> None:
        chosen = self._desk.selection
        is_figure = chosen is not None and chosen.kind is SelectionKind.FIGURE
        self.table.choose_row(chosen.column if chosen is not None and is_figure else None)


def make_throughput_view(desk: Desk, theme: Theme) -> PerformanceView:
    chart = ThroughputChart(desk, theme)
    chart.show_unfit_columns()
    chart.docked = False
    return ChartView(desk, theme, [chart], lambda: make_estimate_figures(desk, ("output_tokens_per_s",)))


def make_pareto_view(desk: Desk, theme: Theme) -> PerformanceView:
    chart = ParetoChart(desk, theme)
    chart.labelled = True
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


def make_split_view(desk: Desk, theme: Theme) -> PerformanceView:
    view = ChartView(desk, theme, [TimeSplitChart(desk, theme)], None)
    layout = view.layout()
    if layout is not None:
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
    return view
