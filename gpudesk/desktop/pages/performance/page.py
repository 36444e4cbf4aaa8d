"""The Performance page: throughput, latency, scaling and submitted MLPerf results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.pages.performance.mlperf import MlperfBlock
from gpudesk.desktop.pages.performance.pareto_chart import ParetoChart
from gpudesk.desktop.pages.performance.scaling_view import ScalingView
from gpudesk.desktop.pages.performance.views import (
    PerformanceOverview,
    PerformanceView,
    make_latency_view,
    make_pareto_view,
    make_roofline_view,
    make_split_view,
    make_throughput_view,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton, LinkButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.page_frame import PageHeader
from gpudesk.domain.answer import Answer
from gpudesk.report.comparison.verdicts import describe_figure_lead, describe_throughput
from gpudesk.report.labels import format_load, label_precision
from gpudesk.text.translation import tr


class PerformanceHead(PageHeader):
    """Controls of the page, which connects them."""

    bands_toggled = Signal(bool)
    copy_requested = Signal()

    def __init__(self, desk: Desk, theme: Theme, views: Sequence[tuple[str, str]]) -> None:
        self.bands = QCheckBox(tr("80% intervals"))
        self.pin = IconButton(theme, "pin", tr("Pin result"), key="Ctrl+G")
        super().__init__(theme, tr("Performance"), views, (self.bands, self.pin))
        self._desk = desk
        self.bands.setToolTip(tr("Shade the range that holds 80% of measured values"))
        self.bands.toggled.connect(self.bands_toggled)
        self.pin.clicked.connect(desk.pin_ghost)
        self.copy.setToolTip(tr("Copy as picture and as spreadsheet data"))
        self.copy.clicked.connect(self.copy_requested)
        self.pinned = ThemedLabel(theme, font="small", color="text2")
        self.let_go = LinkButton(theme, tr("Unpin"))
        self.let_go.setAccessibleName(tr("Unpin result"))
        self.let_go.clicked.connect(desk.clear_ghost)
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
    """Return the load and the weight format of a pinned answer."""
    scenario = answer.scenario
    return f"{format_load(scenario.workload.load, desk.formatter)}, {label_precision(scenario.weights)}"


_MARGIN = 16


class MlperfView(PerformanceView):
    """One block on the whole page."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.block = MlperfBlock(desk, theme)
        super().__init__((self.block,), parent)
        # The focus of the page goes where one begins.
        self.block.setFocusProxy(self.block.round)
        make_column(self.block, margins=(_MARGIN, 0, _MARGIN, _MARGIN), scaled=theme, on=self)


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
        self.head.bands_toggled.connect(self._toggle_bands)
        self.head.copy_requested.connect(self.copy)
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
            PageViewSpec("split", tr("Prefill and decode"), make_split_view),
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
                picked = self.settings.get(_MLPERF, "").split("|")
                chart.set_picked((picked[0], picked[1], picked[2]) if len(picked) == _PICKED else ("", "", ""))
                chart.chosen.connect(lambda *chosen: self.settings.put(_MLPERF, "|".join(chosen)))
        return view

    def show_view(self) -> None:
        if self.desk.has_curves:
            self.view.refresh()

    def describe_verdict(self) -> str:
        """Return the leaders of the view: at the reading speed, in latency, else in throughput."""
        answer, formatter, chart = self.desk.answer, self.desk.formatter, self.view.charts[0]
        if answer is None:
            return ""
        if isinstance(chart, ParetoChart):
            return chart.describe_best()
        if isinstance(chart, MlperfBlock):
            # Its verdict is about measured results.
            return ""
        if isinstance(self.view, ScalingView):
            return self.view.describe_verdict()
        if self.view_key == "latency":
            return describe_figure_lead(answer, "ttft_ms", formatter)
        return describe_throughput(answer, formatter)

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

    def focus_content(self) -> None:
        self.view.charts[0].setFocus(Qt.FocusReason.OtherFocusReason)
