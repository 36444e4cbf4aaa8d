"""The Fleet page: the systems for a demand, their racks, and the cost of owning, renting or an API."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from gpudesk.desktop.pages.demand_form import PER_CENT, DemandForm, DemandStart, RecordField, make_default_demand
from gpudesk.desktop.pages.fleet.views import FleetTableView, FleetTimeView, FleetView, RacksView, ShownFleets
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, select_fleet_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, NumberField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, Hairline, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, make_delay
from gpudesk.domain.cost import replace_entry
from gpudesk.domain.fleet import (
    FLEET_BOUNDS,
    HOURS_PER_DAY,
    DailyLoadCurve,
    FleetAnswer,
    FleetSettings,
    LoadCurveKind,
    SiteCooling,
)
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.fleet_tables import describe_fleets, format_hour
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr

#: The highest multiplier, the minimum height of the scale, and the step of a key.
_MOST, _LEAST_SCALE, _KEY_STEP = 24.0, 2.0, 0.1
_CURVE_WIDTH, _CURVE_HEIGHT = 250.0, 62.0
_ANY: Final = "any"
_POLICY = QSizePolicy.Policy


class LoadCurveEditor(PaintedWidget):
    """24 bars, one per hour: a drag draws them; ← → choose an hour, ↑ ↓ change it."""

    #: The current hour changed.
    hour_chosen = Signal(int)
    #: New multipliers: a tuple of 24 numbers.
    drawn = Signal(object)
    gesture_began = Signal()
    gesture_ended = Signal()

    accessible_role = AccessibleRole.Chart

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._formatter = formatter
        self.values: tuple[float, ...] = (1.0,) * HOURS_PER_DAY
        self.hour = 0
        self._is_drawing = False
        #: Fixed while bars are drawn, so that they stay under the mouse.
        self._scale = _LEAST_SCALE
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setToolTip(tr("Demand of each hour over the average hour. Drag to change."))
        theme.follow(self._dress)

    def show_curve(self, multipliers: Sequence[float]) -> None:
        self.values = tuple(multipliers)
        if not self._is_drawing:
            self._scale = max(_LEAST_SCALE, *(each * 1.1 for each in self.values))
        self._describe()
        self.update()

    def choose_hour(self, hour: int) -> None:
        self.hour = min(max(hour, 0), HOURS_PER_DAY - 1)
        self._describe()
        self.hour_chosen.emit(self.hour)
        self.update()

    def set_value(self, hour: int, value: float) -> None:
        values = list(self.values)
        values[hour] = round(min(max(value, 0.0), _MOST), 2)
        if any(values) and tuple(values) != self.values:
            self.drawn.emit(tuple(values))

    def _describe(self) -> None:
        number = self._formatter.number
        hour = tr("{hour}: {value}", hour=format_hour(self.hour), value=number(self.values[self.hour], 2))
        self.setAccessibleName(tr("Load curve, {hour}", hour=hour))
        self.setAccessibleDescription(", ".join(number(each, 2) for each in self.values))

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._is_drawing = True
            self.gesture_began.emit()
            self._draw_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._is_drawing:
            self._draw_to(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._is_drawing and event.button() == Qt.MouseButton.LeftButton:
            self._is_drawing = False
            self.gesture_ended.emit()
            self.show_curve(self.values)

    def _draw_to(self, place: QPointF) -> None:
        area = self._compute_plot_area()
        self.choose_hour(int((place.x() - area.left()) / area.width() * HOURS_PER_DAY))
        share = (area.bottom() - place.y()) / area.height()
        self.set_value(self.hour, share * self._scale)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys, value = Qt.Key, self.values[self.hour]
        moves = {keys.Key_Left: self.hour - 1, keys.Key_Right: self.hour + 1, keys.Key_Home: 0, keys.Key_End: 23}
        steps = {keys.Key_Up: 1, keys.Key_Down: -1, keys.Key_PageUp: 5, keys.Key_PageDown: -5}
        if event.key() in moves:
            self.choose_hour(moves[Qt.Key(event.key())])
        elif event.key() in steps:
            self.set_value(self.hour, value + _KEY_STEP * steps[Qt.Key(event.key())])
        else:
            event.ignore()

    # Painting

    def _dress(self) -> None:
        self.setFixedWidth(self._theme.px(_CURVE_WIDTH))
        self.setMinimumHeight(self._theme.px(_CURVE_HEIGHT))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_CURVE_WIDTH), self._theme.px(_CURVE_HEIGHT))

    def _compute_plot_area(self) -> QRectF:
        below = self._theme.line("caption") + 2
        return QRectF(self.rect()).adjusted(0, 2, 0, -below)

    def paint(self, pen: ThemePainter) -> None:
        area = self._compute_plot_area()
        pitch = area.width() / HOURS_PER_DAY
        for hour, value in enumerate(self.values):
            height = max(1.0, value / self._scale * area.height())
            bar = QRectF(area.left() + hour * pitch + 1, area.bottom() - height, pitch - 2, height)
            is_current = hour == self.hour and self.hasFocus()
            pen.tint(bar, "text1" if is_current else "ink2", radius=1)
        average = area.bottom() - area.height() / self._scale
        pen.hairline(area.left(), average, area.right(), average, "axis")
        self._name_average(pen, area, average)
        for hour in (0, 6, 12, 18):
            place = QRectF(
                area.left() + hour * pitch - 20, area.bottom() + 2, 40 + pitch, pen.metrics("caption").height()
            )
            if not hour:
                place.moveLeft(area.left())
            align = CENTER if hour else Qt.AlignmentFlag.AlignLeft
            pen.text(place, format_hour(hour), font="caption", color="text3", align=align)

    def _name_average(self, pen: ThemePainter, area: QRectF, average: float) -> None:
        """Write the name of the line above it, at the end where no bar reaches higher."""
        text = tr("average")
        size = QRectF(area.left(), average - self._theme.line("caption"), area.width(), self._theme.line("caption"))
        hours = math.ceil(pen.width(text, "caption") / (area.width() / HOURS_PER_DAY))
        for values, align in ((self.values[:hours], Qt.AlignmentFlag.AlignLeft), (self.values[-hours:], RIGHT)):
            if max(values) <= 1:
                pen.text(size, text, font="caption", color="text2", align=align)
                return


class FleetForm(QWidget):
    """Demand and fleet side by side with the curve; emits each change with the name of its step."""

    #: Another demand, None for none, and the name of the step.
    demand_edited = Signal(object, str)
    #: Other settings, and the name of the step.
    settings_edited = Signal(object, str)

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__()
        self._theme = theme
        self._settings = FleetSettings()
        self.setAccessibleName(tr("Demand and fleet"))
        self._make_fields(formatter.style)
        self.demand = DemandForm(
            theme, formatter.style, self, more=(*self.fields.values(), self.cooling), with_peak=False
        )
        self.demand.edited.connect(self.demand_edited)
        self.curve_kind = ChoiceField(theme, tr("Load curve"), self)
        self.curve_kind.set_options([ChoiceOption(kind.value, kind.label) for kind in LoadCurveKind])
        self.curve_kind.chosen.connect(self._choose_curve)
        self.curve = LoadCurveEditor(theme, formatter, self)
        self.curve.drawn.connect(self._draw_curve)
        self.curve.hour_chosen.connect(lambda _: self._show_hour())
        self.hour = NumberField(theme, "", NumberFormat(0.0, _MOST, 2, formatter.style), self)
        self.hour.edited.connect(lambda value: self.curve.set_value(self.curve.hour, float(value)))
        heads = make_row(self.curve_kind, self.hour, STRETCH, gap=0)
        right = make_column(heads, (align_with_fields(theme, (self.curve, 1)), 1), gap=0)
        make_row((make_column(self.demand, STRETCH), 1), right, gap=8, on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def _make_fields(self, style: NumberStyle) -> None:
        self._specs = {
            "growth_per_year": RecordField(tr("Growth per year, %"), tr("Yearly growth of demand."), 1, PER_CENT),
            "spare_systems": RecordField(
                tr("Spare systems"), tr("Whole standby systems, in addition to spare replicas."), 0
            ),
            "kw_per_rack": RecordField(
                tr("Site: kW per rack"), tr("Power and cooling of one rack at your site."), 1, empty=tr("any")
            ),
            "months_to_live": RecordField(
                tr("Months until live"), tr("Time until the fleet must be in service."), 1, empty=tr("any")
            ),
        }
        self.fields = {
            name: spec.make(self._theme, FLEET_BOUNDS[name], style, self) for name, spec in self._specs.items()
        }
        for name, field in self.fields.items():
            field.edited.connect(partial(self._edit, name))
        self.cooling = ChoiceField(self._theme, tr("Site: cooling"), self)
        options = [ChoiceOption(_ANY, tr("any")), *(ChoiceOption(each.value, each.label) for each in SiteCooling)]
        self.cooling.set_options(options)
        self.cooling.chosen.connect(self._choose_cooling)

    def show_fleet(self, demand: Demand, settings: FleetSettings, curve: DailyLoadCurve | None) -> None:
        """Show demand and settings; `curve` is None for invalid settings."""
        self._settings = settings
        self.demand.show_demand(demand)
        for name, field in self.fields.items():
            field.set_value(self._specs[name].to_field(getattr(settings, name)))
        self.cooling.set_value(_ANY if settings.cooling is None else settings.cooling.value)
        self.curve_kind.set_value(settings.curve.value)
        self.curve_kind.setToolTip(settings.curve.label)
        if curve is not None:
            is_custom = settings.curve is LoadCurveKind.OWN
            self.curve.show_curve(settings.own_multipliers if is_custom else curve.multipliers)
        self._show_hour()

    def _show_hour(self) -> None:
        hour = self.curve.hour
        self.hour.set_caption(tr("At {hour}, × average", hour=format_hour(hour)))
        self.hour.set_value(round(self.curve.values[hour], 2))

    def _edit(self, name: str, typed: float) -> None:
        self._ask(tr("Change fleet"), **{name: self._specs[name].to_record(float(typed))})

    def _choose_cooling(self, key: str) -> None:
        self._ask(tr("Change cooling"), cooling=None if key == _ANY else SiteCooling(key))

    def _choose_curve(self, key: str) -> None:
        kind = LoadCurveKind(key)
        own = self._settings.own_multipliers
        if kind is LoadCurveKind.OWN and not own:
            own = tuple(round(each, 2) for each in self.curve.values)
        self._ask(tr("Change load curve"), curve=kind, own_multipliers=own)

    def _draw_curve(self, multipliers: tuple[float, ...]) -> None:
        rounded = tuple(round(each, 2) for each in multipliers)
        self._ask(tr("Draw load curve"), curve=LoadCurveKind.OWN, own_multipliers=rounded)

    def _ask(self, text: str, **fields: Any) -> None:  # noqa: ANN401 - any field of the settings
        settings = replace(self._settings, **fields)
        if settings != self._settings:
            self.settings_edited.emit(settings, text)


SYSTEMS, RACKS, TIME = "systems", "racks", "time"
#: Delay of the fleets during a drag, in milliseconds.
_REST_MS: Final = 120


class FleetPage(MultiViewPage[FleetView]):
    """Shows the fleets for the scenario's demand, below a form of demand and fleet."""

    page_id = "fleet"
    menu_section = 56
    has_verdict = True

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings) -> None:
        self._chosen = ""
        super().__init__(desk, theme, settings)
        self.form = FleetForm(theme, desk.formatter)
        self.form.installEventFilter(self)
        self._form_area = FullWidthScrollArea()
        self._form_area.show_widget(self.form)
        self._upper = QWidget()
        make_column(self._form_area, 6, Hairline(theme), gap=0, on=self._upper)
        #: Scrolls the form with the view below it, so that with large text both have the whole page.
        self._area = FullWidthScrollArea()
        content = QWidget()
        make_column(self._upper, (self.body, 1), gap=0, on=content)
        self._area.show_widget(content)
        self.start = DemandStart(
            theme,
            tr("What should you order?"),
            tr("Describe the traffic. The answer is whole systems, with racks, power and cost."),
        )
        layout = self.layout()
        if isinstance(layout, QBoxLayout):
            layout.addWidget(self._area, 1)
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
        self.form.setContentsMargins(px(16 - FIELD_SIDE), 0, px(16), 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.form and event.type() == QEvent.Type.LayoutRequest:
            self._fit_form()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_form()

    def _fit_form(self) -> None:
        """Give the form its height: if it depended on its width, Qt would give the views their preferred height."""
        needed = self.form.heightForWidth(self.width())
        self._form_area.setFixedHeight(self.form.sizeHint().height() if needed < 0 else needed)

    # Interface of a page

    def title(self) -> str:
        return tr("Fleet")

    def view_specs(self) -> Sequence[PageViewSpec[FleetView]]:
        return (
            PageViewSpec(SYSTEMS, tr("Systems and cost"), FleetTableView),
            PageViewSpec(RACKS, tr("Racks"), RacksView),
            PageViewSpec(TIME, tr("Day and years"), FleetTimeView),
        )

    def make_scroll_area(self, view: FleetView) -> None:  # noqa: ARG002 - all views scroll with the form
        return None

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
        self._area.setVisible(not begins)
        for key, view in self.views.items():
            # A hidden view takes no height.
            view.setSizePolicy(_POLICY.Preferred, _POLICY.Preferred if key == self.view_key else _POLICY.Ignored)
        self.view.updateGeometry()
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

    def describe_verdict(self) -> Sequence[str]:
        evaluated = self.desk.evaluated
        if evaluated is None or evaluated.answer.scenario.demand is None:
            return ()
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
        fields: dict[str, Any] = {field: replace_entry(getattr(fleet, field), accelerator, system or None)}
        self.desk.edit(tr("Choose system"), fleet=replace(fleet, **fields))

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show fleet table"), tr("Copy fleet")

    def focus_content(self) -> None:
        demand = self.desk.scenario.demand
        if demand is None:
            self.start.offers[DemandKind.USERS].setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.body.y() < self._area.viewport().height():
            self.view.focus_first()
        else:
            # The page starts at its top, also with large text.
            self.form.demand.amounts[demand.kind].setFocus(Qt.FocusReason.ShortcutFocusReason)
