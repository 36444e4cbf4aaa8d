"""The Performance page: throughput, latency, scaling and submitted MLPerf results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from PySide6.QtCore import QLineF, QSize
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.pages.performance.limiter_charts import RooflineChart, TimeSplitChart
from gpudesk.desktop.pages.performance.pareto_chart import ParetoChart
from gpudesk.desktop.pages.performance.scaling_figures import (
    CountsTableBlock,
    DeploymentComparisonBlock,
    ScaledColumn,
    ScalingResults,
    describe_fastest_count,
    describe_plan,
    format_gigabytes,
    format_rule,
    format_rule_head,
    list_rule_names,
)
from gpudesk.desktop.pages.performance.views import (
    MlperfBlock,
    PerformanceOverview,
    PerformanceView,
    TimeSplitView,
    make_latency_view,
    make_pareto_view,
    make_roofline_view,
    make_throughput_view,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, select_best_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import LinearScale, PowerOfTwoScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.page_frame import PageHeader
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import AcceleratorScaling, ScalingRow, ScalingRuleOfThumb
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.verdicts import describe_figure_lead, describe_throughput
from gpudesk.report.labels import format_load, label_figure, label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.translation import tr, trn

THROUGHPUT, BANDWIDTH = "throughput", "bandwidth"

#: A border between counts is drawn half-way to the next power of two.
_BEYOND: Final = 2.0**0.5
#: Minimum height of the chart if the page scrolls.
_HEIGHT: Final = 230


@frozen_dataclass
class PercentScale(LinearScale):
    """100% at the top, 0% at the bottom."""

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del low, high, most
        return (0.0, 100.0)


class ScalingChart(DeskChart):
    """Curves of one replica; a circle marks the scenario, dashed lines the ends of hosts."""

    around = (0, 8, 132, 44)

    figure = "output_tokens_per_s"

    def __init__(self, desk: Desk, theme: Theme, results: ScalingResults) -> None:
        super().__init__(desk, theme, (PowerOfTwoScale(), LinearScale()))
        self._results = results
        self.quantity = THROUGHPUT
        self.rule = ScalingRuleOfThumb.FLAT
        self._borders: tuple[int, ...] = ()
        self.detailed_labels = False

    def set_quantity(self, quantity: str) -> None:
        if quantity != self.quantity:
            self.quantity = quantity
            self.frame.y_scale = LinearScale() if quantity == THROUGHPUT else PercentScale()
            self.fit_view()
            self.refresh()

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.x_title = tr("accelerators")
        scaled = self._results.lines()
        if self.quantity == THROUGHPUT:
            self.title = tr("Output throughput per replica")
            self.subtitle = tr(
                "tokens per second at this load, up to {n} accelerators; dots: your deployment",
                n=_find_highest_count(scaled),
            )
        else:
            self.title = tr("Effective memory bandwidth")
            rule = list_rule_names()[self.rule]
            self.subtitle = tr("% of the total at this load; thin line: {rule}", rule=rule)
        lines = tuple(line for line in map(self._make_curve, scaled) if line is not None)
        borders = tuple(sorted({each.scaling.host for each in scaled if each.scaling is not None}))
        if borders != self._borders:
            self._borders = borders
            self.ground_changed()
        return PlotDrawing(
            lines=lines,
            ghosts=self._make_rule_curves(lines) if self.quantity == BANDWIDTH else (),
            marks=tuple(self._mark_deployments(lines)),
            note="" if lines or self.desk.answer is None else tr("No accelerator fits the model at any count"),
        )

    def _make_curve(self, scaled: ScaledColumn) -> PlotCurve | None:
        if scaled.scaling is None:
            return None
        scaling = scaled.scaling
        points = [
            (row.count, value) for row in scaling.rows if (value := self._compute_value(row, scaling)) is not None
        ]
        if not points:
            return None
        count, values = zip(*points, strict=True)
        y, low, high = (np.array(each, dtype=np.float64) for each in zip(*values, strict=True))
        banded = self.quantity == THROUGHPUT
        part = scaled.part
        return PlotCurve(
            key=part.key,
            name=_strip_count(part.name),
            slot=part.palette_index,
            is_variant=part.is_variant,
            x=np.array(count, dtype=np.float64),
            y=y,
            low=low if banded else None,
            high=high if banded else None,
        )

    def _compute_value(self, row: ScalingRow, scaling: AcceleratorScaling) -> IntervalEstimate | None:
        """Return the chart's value of a row: tokens/s, or bandwidth in percent of the total."""
        if self.quantity == THROUGHPUT:
            return None if row.estimate is None else row.estimate.output_tokens_per_s
        if row.bandwidth is None:
            return None
        return IntervalEstimate(*(100.0 * row.bandwidth / (row.count * scaling.bandwidth),) * 3)

    def _make_rule_curves(self, lines: tuple[PlotCurve, ...]) -> tuple[PlotCurve, ...]:
        chosen = self._results.chosen()
        own = None if chosen is None else next((each for each in lines if each.key == chosen.part.key), None)
        if own is None or chosen is None or chosen.scaling is None:
            return ()
        rows = [row for row in chosen.scaling.rows if row.count in own.x]
        whole = chosen.scaling.bandwidth
        y = np.array([100.0 * row.by_rule[self.rule] / (row.count * whole) for row in rows])
        return (PlotCurve(*own.identity, own.x, y, capped=False),)

    def _mark_deployments(self, lines: tuple[PlotCurve, ...]) -> Iterator[PointMark]:
        """Yield a circle for each deployment of the scenario; replicas are next to the curve of one."""
        keys = {line.key for line in lines}
        for scaled in self._results.columns():
            part, estimate = scaled.part, scaled.part.column.estimate
            value = self._own_value(scaled)
            if estimate is not None and value is not None and keys:
                yield PointMark(part.key, part.palette_index, float(estimate.count), value, part.is_variant)

    def _own_value(self, scaled: ScaledColumn) -> float | None:
        estimate = scaled.part.column.estimate
        if estimate is None or estimate.pools is not None or scaled.scaling is None:
            return None
        if self.quantity == THROUGHPUT:
            throughput = estimate.output_tokens_per_s
            return None if throughput is None else throughput.value
        row = next((row for row in scaled.scaling.rows if row.count == estimate.count), None)
        same = row is not None and row.estimate is not None and row.estimate.plan == estimate.plan
        own_value = self._compute_value(row, scaled.scaling) if same and row is not None else None
        return None if own_value is None else own_value.value

    # Ends of hosts

    def paint_background(self, painter: QPainter) -> None:
        super().paint_background(painter)
        if not self.drawing.lines:
            return
        low, high = self.frame.get_x_range()
        pen = QPen(self.theme.color("axis"), 1.0)
        pen.setDashPattern([2, 3])
        area = self.frame.area
        for border in self._borders:
            if not low < border * _BEYOND < high:
                continue
            x = round(self.frame.pixel_x(border * _BEYOND)) + 0.5
            painter.setPen(pen)
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))
            text = tr("1 host: {n}", n=self.formatter.count(border))
            top = area.top() + self.text_painter.metrics("caption").ascent()
            color = self.theme.color("text3")
            self.text_painter.draw_right(painter, x - self.theme.px(5), top, text, "caption", color)

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(400), max(self.measure_least_height(), self.theme.px(_HEIGHT)))

    # Reading values

    def stops(self) -> tuple[int, ...]:
        counts = {row.count for each in self._results.lines() if each.scaling for row in each.scaling.rows}
        return tuple(sorted(counts))

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        counts = self.stops()
        if not counts:
            return None
        count = min(counts, key=lambda each: abs(np.log(each / max(x, 0.5))))
        rows = [self._read_value(each, count) for each in self._results.lines()]
        rows.sort(key=lambda each: -each[0])
        heads = (tr("tok/s"), tr("80% interval")) if self.quantity == THROUGHPUT else (tr("effective"), tr("GB/s"))
        title = trn("{n} accelerator", "{n} accelerators", count, n=self.formatter.count(count))
        return float(count), CursorReadout(title, heads, tuple(row for _, row in rows))

    def _read_value(self, scaled: ScaledColumn, count: int) -> tuple[float, CursorReadoutRow]:
        part, scaling = scaled.part, scaled.scaling
        row = None if scaling is None else next((row for row in scaling.rows if row.count == count), None)
        value = None if row is None or scaling is None else self._compute_value(row, scaling)
        part_key = (part.key, part.palette_index, part.is_variant, _strip_count(part.name))
        if row is None or value is None:
            unfit = row is not None and row.estimate is not None and not row.estimate.fits
            return 0.0, CursorReadoutRow(*part_key, (MISSING_VALUE_TEXT, tr("does not fit") if unfit else ""))
        if self.quantity == THROUGHPUT:
            cells = (self.formatter.estimate(value.value), self.formatter.band(value))
        else:
            cells = (self.formatter.per_cent(value.value / 100), format_gigabytes(row.bandwidth, self.formatter))
        return value.value, CursorReadoutRow(*part_key, cells)

    # Texts and numbers

    def summary(self) -> str:
        sentences = [tr("Output throughput and memory bandwidth per replica vs. accelerator count.")]
        for each in self._results.columns():
            scaling = each.scaling
            start = None if scaling is None else scaling.start
            peak = None if scaling is None else scaling.peak
            if start is None or peak is None or peak.estimate is None or peak.spread is None:
                sentences.append(tr("{name}: does not fit at any count.", name=each.part.name))
                continue
            sentences.append(
                tr(
                    "{name}: minimum count {start}; fastest count {peak}: {rate} tok/s, link time {share} of a step.",
                    name=each.part.name,
                    start=self.formatter.count(start.count),
                    peak=self.formatter.count(peak.count),
                    rate=self.formatter.estimate_with_interval(peak.estimate.output_tokens_per_s),
                    share=self.formatter.per_cent(peak.spread.collectives),
                )
            )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        heads = (
            tr("Accelerator"),
            tr("Plan"),
            tr("Accelerators"),
            tr("Memory, GiB"),
            tr("Memory, GB"),
            tr("{figure}, tok/s", figure=label_figure("output_tokens_per_s")),
            tr("Low"),
            tr("High"),
            tr("Per accelerator, tok/s"),
            tr("Efficiency, %"),
            tr("TPOT, batch 1, ms"),
            tr("Link time, % of step"),
            tr("Link time, batch 1, % of step"),
            tr("Effective bandwidth, GB/s"),
            tr("Read, GB/s"),
            *(format_rule_head(rule) for rule in ScalingRuleOfThumb),
        )
        rows = tuple(
            (_strip_count(each.part.name), *_format_data_cells(row, each.scaling, formatter))
            for each in self._results.lines()
            if each.scaling is not None
            for row in each.scaling.rows
        )
        return ChartData(tr("Scaling by accelerator count"), heads, rows, 2)


def _format_data_cells(row: ScalingRow, scaling: AcceleratorScaling, formatter: Formatter) -> tuple[str, ...]:
    estimate, single, efficiency = row.estimate, row.single, scaling.efficiency(row)
    rate = None if estimate is None else estimate.output_tokens_per_s
    each = None if estimate is None else estimate.output_tokens_per_s_per_accelerator
    tpot = None if single is None else single.tpot_ms
    shares = [None if spread is None else spread.collectives for spread in (row.spread, row.single_spread)]
    return (
        describe_plan(row, formatter),
        formatter.count(row.count),
        formatter.gib(row.memory_bytes),
        formatter.gb(row.memory_bytes),
        *((MISSING_VALUE_TEXT,) * 3 if rate is None else (formatter.estimate(value) for value in rate)),
        MISSING_VALUE_TEXT if each is None else formatter.estimate(each.value),
        MISSING_VALUE_TEXT if efficiency is None else formatter.number(efficiency * 100, 1),
        MISSING_VALUE_TEXT if tpot is None else formatter.estimate(tpot.value),
        *(MISSING_VALUE_TEXT if share is None else formatter.number(share * 100, 1) for share in shares),
        format_gigabytes(row.bandwidth, formatter),
        format_gigabytes(row.bandwidth_per_s, formatter),
        *(format_rule(row.by_rule[rule], formatter) for rule in ScalingRuleOfThumb),
    )


def _find_highest_count(scaled: tuple[ScaledColumn, ...]) -> int:
    return max((each.scaling.rows[-1].count for each in scaled if each.scaling is not None), default=0)


def _strip_count(name: str) -> str:
    return name.partition(" × ")[0]


_MARGIN = 16
#: Delay of the tables during a drag, in milliseconds.
_REST = 120


class ScalingView(PerformanceView):
    """A chart of all accelerators, the rows of the selected one, and a comparison of two deployments."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        results = self._results = ScalingResults(desk)
        self._desk = desk
        self.chart = ScalingChart(desk, theme, results)
        self.counts = CountsTableBlock(desk, theme, results)
        self.comparison = DeploymentComparisonBlock(desk, theme, results)
        super().__init__((self.chart, self.comparison), parent)
        options = ((THROUGHPUT, tr("Throughput")), (BANDWIDTH, tr("Memory bandwidth")))
        self.quantity = SegmentedControl(theme, tr("Charted figure"), options, self)
        self.quantity.chosen.connect(self.chart.set_quantity)
        self._rest = make_delay(self, _REST, self._show_tables)
        choice = make_row(self.quantity, STRETCH)
        upper = make_column(choice, (self.chart, 1), gap=8, margins=(_MARGIN, 0, _MARGIN, 4), scaled=theme)
        margins = (_MARGIN - FIELD_SIDE, 4, _MARGIN, 12)
        lower = make_column(self.counts, self.comparison, gap=10, margins=margins, scaled=theme)
        make_column((upper, 1), Hairline(theme), lower, gap=0, on=self)
        self.counts.rule_chosen.connect(self._choose_rule)
        desk.selection_changed.connect(self._follow_selection)
        desk.gesture_changed.connect(self._gesture_changed)

    def refresh(self) -> None:
        """Show the desk's answer; the tables after a pause."""
        self.chart.refresh()
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._show_tables()

    def describe_verdict(self) -> list[str]:
        """Return the maximum speed of one replica, and its number of accelerators."""
        return describe_fastest_count(self._results.lines(), self._desk.formatter)

    def _show_tables(self) -> None:
        self._rest.stop()
        if self._desk.answer is not None:
            self.counts.refresh()
            self.comparison.refresh()

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self.refresh()

    def _follow_selection(self) -> None:
        if self.isVisible():
            self.refresh()

    def _choose_rule(self, key: str) -> None:
        self.chart.rule = ScalingRuleOfThumb(key)
        self.chart.refresh()


class PerformanceHead(PageHeader):
    """Controls of the page, which connects them."""

    def __init__(self, desk: Desk, theme: Theme, views: Sequence[tuple[str, str]]) -> None:
        self.bands = QCheckBox(tr("80% intervals"))
        self.pin = IconButton(theme, "pin", tr("Pin result"), key="Ctrl+G")
        super().__init__(theme, tr("Performance"), views, (self.bands, self.pin))
        self._desk = desk
        self.bands.setToolTip(tr("Shade the range that holds 80% of measured values"))
        self.pin.clicked.connect(desk.pin_ghost)
        self.pinned = ThemedLabel(theme, font="small", color="text2")
        self.let_go = LinkButton(theme, tr("Unpin"), desk.clear_ghost)
        self.let_go.setAccessibleName(tr("Unpin result"))
        self.add_below(self.pinned)
        self.add_below(self.let_go)
        desk.ghost_changed.connect(self.show_ghost)
        self.show_ghost()

    # Pinned result

    def show_ghost(self) -> None:
        ghost = self._desk.ghost
        for widget in (self.pinned, self.let_go):
            widget.setVisible(ghost is not None)
        if ghost is not None:
            self.pinned.setText(tr("Pinned: {what}", what=describe_pinned_answer(ghost, self._desk)))
        self.pin.setEnabled(self._desk.answer is not None)


def describe_pinned_answer(answer: Answer, desk: Desk) -> str:
    scenario = answer.scenario
    return f"{format_load(scenario.workload.load, desk.formatter)}, {label_precision(scenario.weights)}"


class MlperfView(PerformanceView):
    """One block on the whole page."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.block = MlperfBlock(desk, theme)
        super().__init__((self.block,), parent)
        # The focus of the page goes where one begins.
        self.block.setFocusProxy(self.block.round)
        make_column(self.block, margins=(_MARGIN - FIELD_SIDE, 0, _MARGIN, _MARGIN), scaled=theme, on=self)


#: Views with shaded intervals.
_BANDED: Final = ("overview", "throughput", "latency", "scaling")
_BANDS, _READ_OFF = "performance.bands", "performance.read_off"
#: The last chosen round, model and baseline, separated by bars.
_MLPERF, _PICKED = "performance.mlperf", 3


class PerformancePage(MultiViewPage[PerformanceView]):
    """The speed of the desk's answer: all charts, or one with its figures."""

    page_id = "performance"
    menu_section = 52
    has_verdict = True
    needs_curves = True
    head: PerformanceHead

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self.head.bands.setChecked(settings.get(_BANDS, True))
        self.head.bands.toggled.connect(self._toggle_bands)
        desk.ghost_changed.connect(self._ghost_changed)

    def title(self) -> str:
        return tr("Performance")

    def view_specs(self) -> Sequence[PageViewSpec[PerformanceView]]:
        """Return the overview, its charts one by one, and measured results."""
        return (
            PageViewSpec("overview", tr("Overview"), PerformanceOverview),
            PageViewSpec("throughput", tr("Throughput"), make_throughput_view),
            PageViewSpec("pareto", tr("Pareto"), make_pareto_view),
            PageViewSpec("latency", tr("Latency"), make_latency_view),
            PageViewSpec("roofline", tr("Roofline"), make_roofline_view),
            PageViewSpec("split", tr("Prefill and decode"), TimeSplitView),
            PageViewSpec("scaling", tr("Scaling"), ScalingView),
            PageViewSpec("mlperf", tr("MLPerf"), MlperfView),
        )

    def make_head(self, views: Sequence[tuple[str, str]]) -> PerformanceHead:
        return PerformanceHead(self.desk, self.theme, views)

    def set_usable(self, *, usable: bool) -> None:
        """Enable the controls if there is an answer, and that of the bands if they are shaded."""
        super().set_usable(usable=usable)
        self.head.pin.setEnabled(usable)
        self.head.bands.setEnabled(usable and self.view_key in _BANDED)

    # Views

    def make_view(self, key: str, theme: Theme) -> PerformanceView:
        """Return a new view, with bands, reading and choices as before."""
        view = super().make_view(key, theme)
        view.set_bands(self.head.bands.isChecked())
        for chart in view.charts:
            if isinstance(chart, ParetoChart):
                chart.set_read_off(self.settings.get(_READ_OFF, chart.read_off))
                chart.read_off_changed.connect(self._read_off)
            elif isinstance(chart, MlperfBlock):
                selection = self.settings.get(_MLPERF, "").split("|")
                chart.set_picked(
                    (selection[0], selection[1], selection[2]) if len(selection) == _PICKED else ("", "", "")
                )
                chart.chosen.connect(lambda *chosen: self.settings.put(_MLPERF, "|".join(chosen)))
        return view

    def show_view(self) -> None:
        if self.desk.has_curves:
            self.view.refresh()

    def needs_verdict(self) -> bool:
        """Return whether the verdict is about estimates: measured results have their own."""
        return self.view_key != "mlperf"

    def describe_verdict(self) -> Sequence[str]:
        """Return what the view shows: its leaders, else limits or shares of time."""
        answer, formatter, chart = self.desk.answer, self.desk.formatter, self.view.charts[0]
        if answer is None or not self.needs_verdict():
            return ()
        if isinstance(chart, ParetoChart):
            return chart.describe_best()
        if isinstance(chart, RooflineChart):
            return chart.describe_limits()
        if isinstance(chart, TimeSplitChart):
            return chart.describe_shares()
        if isinstance(self.view, ScalingView):
            return self.view.describe_verdict()
        if self.view_key == "latency":
            return (describe_figure_lead(answer, "ttft_ms", formatter),)
        return describe_throughput(answer, formatter)

    def propose_selection(self) -> Selection | None:
        """Return the figure of the verdict; none for measured results."""
        if self.desk.answer is None or self.view_key == "mlperf":
            return None
        return select_best_figure(self.desk.answer, "ttft_ms" if self.view_key == "latency" else "output_tokens_per_s")

    def _read_off(self, speed: float) -> None:
        self.settings.put(_READ_OFF, speed)
        for view in self.views.values():
            for chart in view.charts:
                if isinstance(chart, ParetoChart):
                    chart.set_read_off(speed)
        if self.view_key == "pareto":
            self.refresh()

    def _toggle_bands(self, are_wanted: bool) -> None:
        self.settings.put(_BANDS, are_wanted)
        for view in self.views.values():
            view.set_bands(are_wanted)

    def _ghost_changed(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    # Commands

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show chart table"), tr("Copy charts")
