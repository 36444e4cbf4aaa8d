"""The page Performance: how fast, at how many requests in flight, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.charts import commands
from gpudesk.desktop.charts.pareto import ParetoChart
from gpudesk.desktop.pages.page import chart_actions
from gpudesk.desktop.pages.performance.head import Head
from gpudesk.desktop.pages.performance.mlperf_block import MlperfBlock
from gpudesk.desktop.pages.performance.mlperf_view import MlperfView
from gpudesk.desktop.pages.performance.scaling_view import ScalingView
from gpudesk.desktop.pages.performance.views import (
    Overview,
    View,
    latency_view,
    pareto_view,
    roofline_view,
    split_view,
    throughput_view,
)
from gpudesk.desktop.pages.views_page import ViewsPage, ViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr

#: Views in which bands are shaded.
_BANDED: Final = ("overview", "throughput", "latency", "scaling")
_BANDS, _READ_OFF = "performance.bands", "performance.read_off"
#: Round, model and baseline that were chosen last, with bars between.
_MLPERF, _PICKED = "performance.mlperf", 3


class PerformancePage(ViewsPage[View]):
    """How fast the desk's answer is: all charts at a glance, or one with its figures."""

    page_id = "performance"
    menu_section = 52
    needs_curves = True
    head: Head

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.head.bands.setChecked(settings.get(_BANDS, True))
        self.head.bands_toggled.connect(self._toggle_bands)
        self.head.copy_requested.connect(self.copy)
        desk.ghost_changed.connect(self._ghost_changed)

    def title(self) -> str:
        """Return what the page is called."""
        return tr("Performance")

    def view_specs(self) -> Sequence[ViewSpec[View]]:
        """Return the overview, its charts one by one, and what was measured elsewhere."""
        return (
            ViewSpec("overview", tr("Overview"), Overview),
            ViewSpec("throughput", tr("Throughput"), throughput_view),
            ViewSpec("pareto", tr("Pareto"), pareto_view),
            ViewSpec("latency", tr("Latency"), latency_view),
            ViewSpec("roofline", tr("Roofline"), roofline_view),
            ViewSpec("split", tr("Prefill and decode"), split_view),
            ViewSpec("scaling", tr("Scaling"), ScalingView),
            ViewSpec("mlperf", tr("MLPerf"), MlperfView),
        )

    def make_head(self, views: Sequence[tuple[str, str]]) -> Head:
        """Return the head, with bands and the pinned result."""
        return Head(self.desk, self.theme, views)

    def set_usable(self, *, usable: bool) -> None:
        """Let the controls be used while there is an answer, and bands where they are shaded."""
        super().set_usable(usable=usable)
        self.head.pin.setEnabled(usable)
        self.head.bands.setEnabled(usable and self.view_key in _BANDED)

    # Views

    def make_view(self, key: str) -> View:
        """Return a new view, with bands and what was read off and picked as it was."""
        view = super().make_view(key)
        view.set_bands(self.head.bands.isChecked())
        for chart in view.charts:
            if isinstance(chart, ParetoChart):
                chart.set_read_off(self.settings.get(_READ_OFF, chart.read_off))
                chart.read_off_changed.connect(self._read_off)
            elif isinstance(chart, MlperfBlock):
                picked = self.settings.get(_MLPERF, "").split("|")
                chart.set_picked(
                    (picked[0], picked[1], picked[2]) if len(picked) == _PICKED else ("", "", "")
                )
                chart.chosen.connect(lambda *chosen: self.settings.put(_MLPERF, "|".join(chosen)))
        return view

    def show_view(self) -> None:
        """Show the desk's answer as soon as its curves are there."""
        if self.desk.has_curves:
            self.view.refresh()

    def _read_off(self, speed: float) -> None:
        self.settings.put(_READ_OFF, speed)
        for view in self.views.values():
            for chart in view.charts:
                if isinstance(chart, ParetoChart):
                    chart.set_read_off(speed)
        if self.view_key == "pareto":
            self.view.refresh()

    def _toggle_bands(self, wanted: bool) -> None:
        self.settings.put(_BANDS, wanted)
        for view in self.views.values():
            view.set_bands(wanted)

    def _ghost_changed(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    # Commands

    def copy(self) -> None:
        """Copy the charts that are shown, and their numbers."""
        commands.copy(list(self.view.charts), self.view.grab())

    def _show_table(self) -> None:
        commands.show_table(self.view.current_chart())

    def focus_content(self) -> None:
        """Give the focus to the first chart."""
        self.view.charts[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands: each view, and what a chart can be asked for."""
        table = (tr("Show chart as table"), self._show_table)
        copied = (tr("Copy charts"), self.copy)
        charts = chart_actions(self.page_id, self.menu_section, table, copied, lambda: self.body.usable)
        return [*super().actions_of_page(), *charts]
