"""The page Performance: how fast, at how many requests in flight, and what limits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.charts import commands
from gpudesk.desktop.charts.pareto import ParetoChart
from gpudesk.desktop.pages.page import Page, chart_actions, view_actions
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
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.answer_stack import AnswerStack
from gpudesk.desktop.widgets.ground import fill
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.text import tr

_SECTION: Final = 52
_MAKERS: Final[dict[str, Callable[[Desk, Theme], View]]] = {
    "overview": Overview,
    "throughput": throughput_view,
    "pareto": pareto_view,
    "latency": latency_view,
    "roofline": roofline_view,
    "split": split_view,
    "scaling": ScalingView,
    "mlperf": MlperfView,
}
#: Views in which bands are shaded.
_BANDED: Final = ("overview", "throughput", "latency", "scaling")
_VIEW, _BANDS, _READ_OFF = "performance.view", "performance.bands", "performance.read_off"
#: Round, model and baseline that were chosen last, with bars between.
_MLPERF, _PICKED = "performance.mlperf", 3


class PerformancePage(Page):
    """Shows the view that was chosen last; the others are made when they are asked for."""

    page_id = "performance"
    needs_curves = True

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Performance"))
        self._views: dict[str, View] = {}
        self.head = Head(desk, theme, self._segments())
        self._scroll = ScrollArea()
        self.body = AnswerStack(theme, self._scroll)
        self.body.wanted.connect(self.wanted)
        self._build()
        self.head.bands.setChecked(settings.get(_BANDS, True))
        self.head.view_chosen.connect(self.choose_view)
        self.head.bands_toggled.connect(self._toggle_bands)
        self.head.copy_requested.connect(self.copy)
        desk.ghost_changed.connect(self._ghost_changed)
        theme.follow(self._dress)
        chosen = settings.get(_VIEW, "overview")
        self.choose_view(chosen if chosen in _MAKERS else "overview")

    @staticmethod
    def _segments() -> tuple[tuple[str, str], ...]:
        return (
            ("overview", tr("Overview")),
            ("throughput", tr("Throughput")),
            ("pareto", tr("Pareto")),
            ("latency", tr("Latency")),
            ("roofline", tr("Roofline")),
            ("split", tr("Prefill and decode")),
            ("scaling", tr("Scaling")),
            ("mlperf", tr("MLPerf")),
        )

    def _build(self) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.head)
        whole.addWidget(self.body, 1)

    def _dress(self) -> None:
        for widget in (self, self._scroll.viewport(), *self._views.values()):
            fill(widget, self.theme.colour("page"))

    # Views

    @property
    def view(self) -> View:
        """The view that is shown."""
        return self._views[self._chosen]

    def choose_view(self, key: str) -> None:
        """Show a view, and begin with it the next time."""
        self._chosen = key
        self.settings.put(_VIEW, key)
        self.head.segment.set_value(key)
        if key not in self._views:
            self._views[key] = self._made(key)
        # A scroll area owns the widget it shows; those that are not shown are taken back before.
        shown = self._scroll.takeWidget()
        if shown is not None:
            shown.setParent(self)
            shown.hide()
        self._scroll.setWidget(self.view)
        self.view.show()
        if self.isVisible():
            self.refresh()

    def _made(self, key: str) -> View:
        view = _MAKERS[key](self.desk, self.theme)
        fill(view, self.theme.colour("page"))
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

    def _read_off(self, speed: float) -> None:
        self.settings.put(_READ_OFF, speed)
        for view in self._views.values():
            for chart in view.charts:
                if isinstance(chart, ParetoChart):
                    chart.set_read_off(speed)
        if self._chosen == "pareto":
            self.view.refresh()

    def _toggle_bands(self, wanted: bool) -> None:
        self.settings.put(_BANDS, wanted)
        for view in self._views.values():
            view.set_bands(wanted)

    # Showing

    def refresh(self) -> None:
        """Show the desk's answer, or what is missing."""
        desk = self.desk
        shown = self.body.show_state(self.problem_text, desk.missing, answered=desk.answer is not None)
        if shown and desk.has_curves:
            self.view.refresh()
        for control in (self.head.segment, self.head.pin, self.head.copy):
            control.setEnabled(shown)
        self.head.bands.setEnabled(shown and self._chosen in _BANDED)

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
        views = view_actions("performance", tr("Performance"), self._segments(), self.choose_view, _SECTION)
        table = (tr("Show chart as table"), self._show_table)
        copied = (tr("Copy charts"), self.copy)
        return [*views, *chart_actions("performance", _SECTION, table, copied, lambda: self.body.usable)]
