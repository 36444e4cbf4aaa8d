"""The Fleet page: the systems for a demand, their racks, and the cost of owning, renting or an API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from gpudesk.desktop.pages.demand_form import DemandStart, make_default_demand
from gpudesk.desktop.pages.fleet.form import FleetForm
from gpudesk.desktop.pages.fleet.views import FleetTableView, FleetTimeView, FleetView, RacksView, ShownFleets
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, select_fleet_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, Hairline, make_column
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.fleet import FleetAnswer
from gpudesk.domain.sizing import DemandKind
from gpudesk.report.fleet_tables import describe_fleets
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr

SYSTEMS, RACKS, TIME = "systems", "racks", "time"
#: Delay of the fleets during a drag, in milliseconds.
_REST_MS: Final = 120
#: Maximum share of the page for the form.
_MOST_FORM: Final = 0.4


class FleetPage(MultiViewPage[FleetView]):
    """Shows the fleets for the scenario's demand, below a form of demand and fleet."""

    page_id = "fleet"
    menu_section = 56
    has_verdict = True

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings) -> None:
        self._chosen = ""
        super().__init__(desk, theme, settings)
        self.head.copy.setToolTip(tr("Copy as picture and as spreadsheet data"))
        self.head.copy.clicked.connect(self.copy)
        self.form = FleetForm(theme, desk.formatter)
        self._upper = QWidget()
        self._form_area = FullWidthScrollArea()
        self._form_area.show_widget(self.form)
        self.form.installEventFilter(self)
        self._upper_layout = make_column(self._form_area, 6, Hairline(theme), gap=0, on=self._upper)
        self.start = DemandStart(
            theme,
            tr("What should you order?"),
            tr("Describe the traffic. The answer is whole systems, with racks, power and cost."),
        )
        layout = self.layout()
        if isinstance(layout, QBoxLayout):
            # Below the verdict and its terms.
            layout.insertWidget(3, self._upper)
            layout.addWidget(self.start, 1)
        self.start.begun.connect(self._begin)
        self.form.demand_edited.connect(lambda demand, text: self._edit(text, demand=demand))
        self.form.settings_edited.connect(lambda fleet, text: self._edit(text, fleet=fleet))
        self.form.curve.gesture_began.connect(lambda: desk.begin_gesture("load curve"))
        self.form.curve.gesture_ended.connect(desk.end_gesture)
        self._rest = make_delay(self, _REST_MS, self._show_fleets)
        desk.gesture_changed.connect(self._gesture_changed)
        theme.follow(self._dress_form)

    def _dress_form(self) -> None:
        px = self.theme.px
        self._upper_layout.setContentsMargins(0, 0, 0, 0)
        self.form.setContentsMargins(px(10), 0, px(16), 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.form and event.type() == QEvent.Type.LayoutRequest:
            self._fit_form()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_form()

    def _fit_form(self) -> None:
        """Give the form its height, but leave most of the page to the fleets: with large text it scrolls."""
        needed = self.form.heightForWidth(self.width())
        if needed < 0:
            needed = self.form.sizeHint().height()
        self._form_area.setFixedHeight(min(needed, round(self.height() * _MOST_FORM)))

    # Interface of a page

    def title(self) -> str:
        return tr("Fleet")

    def view_specs(self) -> Sequence[PageViewSpec[FleetView]]:
        return (
            PageViewSpec(SYSTEMS, tr("Systems and cost"), FleetTableView),
            PageViewSpec(RACKS, tr("Racks"), RacksView),
            PageViewSpec(TIME, tr("Day and years"), FleetTimeView),
        )

    def make_view(self, key: str, theme: Theme) -> FleetView:
        view = super().make_view(key, theme)
        view.chosen.connect(self._choose)
        view.system_wanted.connect(self._want_system)
        return view

    def refresh(self) -> None:
        super().refresh()
        has_answer = self.desk.answer is not None and self.desk.missing is None
        has_demand = self.desk.scenario.demand is not None
        begins = has_answer and not has_demand
        self.start.setVisible(begins)
        self.body.setVisible(not begins)
        # Above a problem too, so that it can be fixed here.
        self._upper.setVisible(has_answer and has_demand)
        if begins:
            self.verdict.clear_verdict()
            self.head.copy.setEnabled(False)

    def show_view(self) -> None:
        self._show_form(None)
        if self.desk.in_gesture:
            self._rest.start()
        else:
            self._show_fleets()

    def describe_verdict(self) -> str:
        evaluated = self.desk.evaluated
        if evaluated is None or evaluated.answer.scenario.demand is None:
            return ""
        return describe_fleets(evaluated.fleet, evaluated.collect_fleet_looks(), self.desk.formatter, evaluated.money)

    # Display

    def _show_form(self, answer: FleetAnswer | None) -> None:
        scenario = self.desk.scenario
        if scenario.demand is not None:
            self.form.show_fleet(scenario.demand, scenario.fleet, None if answer is None else answer.curve)

    def _show_fleets(self) -> None:
        """Show the fleets of the answer, which the answer computes once."""
        self._rest.stop()
        evaluated = self.desk.evaluated
        if evaluated is None or evaluated.answer.scenario.demand is None:
            return
        try:
            answer = evaluated.fleet
        except InputError as error:
            self.body.show_state(format_message(error.problem, self.desk.formatter), None, answered=False)
            return
        self._show_form(answer)
        scenario = evaluated.answer.scenario
        self.view.show_fleets(
            ShownFleets(
                answer, scenario.fleet, evaluated.collect_fleet_looks(), evaluated.money, self._find_chosen(answer)
            )
        )

    def _find_chosen(self, answer: FleetAnswer) -> str:
        """Return the user's accelerator while it has a fleet; else the cheapest, or the first."""
        accelerators = [option.accelerator for option in answer.options]
        if self._chosen in accelerators:
            return self._chosen
        return accelerators[0] if answer.cheapest is None else answer.cheapest[0]

    def propose_selection(self) -> Selection | None:
        """Return the number of systems of the chosen or the cheapest fleet."""
        evaluated = self.desk.evaluated
        if evaluated is None or evaluated.answer.scenario.demand is None:
            return None
        return select_fleet_figure(self._find_chosen(evaluated.fleet), "fleet_systems")

    def _gesture_changed(self) -> None:
        if not self.desk.in_gesture and self.isVisible():
            self.refresh()

    # User actions

    def _edit(self, text: str, **fields: Any) -> None:  # noqa: ANN401 - fields of the scenario
        self.desk.edit(text, **fields)
        self._show_form(None)

    def _begin(self, kind: DemandKind) -> None:
        self.desk.edit(tr("Enter demand"), demand=make_default_demand(kind))
        self.desk.flush()
        self.form.demand.amounts[kind].setFocus(Qt.FocusReason.TabFocusReason)

    def _choose(self, accelerator: str) -> None:
        if accelerator != self._chosen:
            self._chosen = accelerator
            self._show_fleets()

    def focus_column(self, key: str) -> None:
        self._choose(key.partition("#")[0])

    def _want_system(self, accelerator: str, field: str, system: str) -> None:
        fleet = self.desk.scenario.fleet
        others = {key: value for key, value in getattr(fleet, field).items() if key != accelerator}
        fields: dict[str, Any] = {field: {**others, accelerator: system} if system else others}
        self.desk.edit(tr("Choose system"), fleet=replace(fleet, **fields))

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show fleet table"), tr("Copy fleet")

    def focus_content(self) -> None:
        demand = self.desk.scenario.demand
        if demand is None:
            self.start.offers[DemandKind.USERS].setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.view.focus_first()
