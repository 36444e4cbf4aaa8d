"""The form of a fleet: demand, its growth and daily curve, spare systems, and limits of the site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.pages.demand_form import PER_CENT, DemandForm, RecordField
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.domain.fleet import FLEET_BOUNDS, HOURS_PER_DAY, DailyLoadCurve, FleetSettings, LoadCurveKind, SiteCooling
from gpudesk.domain.sizing import Demand
from gpudesk.report.fleet_tables import format_hour
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.translation import tr

#: The highest multiplier, the minimum height of the scale, and the step of a key.
_MOST, _LEAST_SCALE, _KEY_STEP = 24.0, 2.0, 0.1
_CURVE_WIDTH, _CURVE_HEIGHT = 250.0, 62.0
_ANY: Final = "any"


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
        self._values: tuple[float, ...] = (1.0,) * HOURS_PER_DAY
        self.hour = 0
        self._is_drawing = False
        #: Fixed while bars are drawn, so that they stay under the mouse.
        self._scale = _LEAST_SCALE
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setToolTip(tr("Demand of each hour over the average hour. Drag to change."))
        theme.follow(self._dress)

    @property
    def values(self) -> tuple[float, ...]:
        return self._values

    def show_curve(self, multipliers: Sequence[float]) -> None:
        self._values = tuple(multipliers)
        if not self._is_drawing:
            self._scale = max(_LEAST_SCALE, *(each * 1.1 for each in self._values))
        self._describe()
        self.update()

    def choose_hour(self, hour: int) -> None:
        self.hour = min(max(hour, 0), HOURS_PER_DAY - 1)
        self._describe()
        self.hour_chosen.emit(self.hour)
        self.update()

    def set_value(self, hour: int, value: float) -> None:
        values = list(self._values)
        values[hour] = round(min(max(value, 0.0), _MOST), 2)
        if any(values) and tuple(values) != self._values:
            self.drawn.emit(tuple(values))

    def _describe(self) -> None:
        number = self._formatter.number
        hour = tr("{hour}: {value}", hour=format_hour(self.hour), value=number(self._values[self.hour], 2))
        self.setAccessibleName(tr("Load curve, {hour}", hour=hour))
        self.setAccessibleDescription(", ".join(number(each, 2) for each in self._values))

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
            self.show_curve(self._values)

    def _draw_to(self, place: QPointF) -> None:
        area = self._compute_plot_area()
        self.choose_hour(int((place.x() - area.left()) / area.width() * HOURS_PER_DAY))
        share = (area.bottom() - place.y()) / area.height()
        self.set_value(self.hour, share * self._scale)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys, value = Qt.Key, self._values[self.hour]
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
        for hour, value in enumerate(self._values):
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
            align = CENTRE if hour else Qt.AlignmentFlag.AlignLeft
            pen.text(place, format_hour(hour), font="caption", color="text3", align=align)

    def _name_average(self, pen: ThemePainter, area: QRectF, average: float) -> None:
        """Write the name of the line above it, at the end where no bar reaches higher."""
        text = tr("average")
        size = QRectF(area.left(), average - self._theme.line("caption"), area.width(), self._theme.line("caption"))
        hours = math.ceil(pen.width(text, "caption") / (area.width() / HOURS_PER_DAY))
        for values, align in ((self._values[:hours], Qt.AlignmentFlag.AlignLeft), (self._values[-hours:], RIGHT)):
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
        right = make_column(heads, (self.curve, 1), gap=0)
        make_row((make_column(self.demand, STRETCH), 1), right, gap=16, on=self)
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
            is_own = settings.curve is LoadCurveKind.OWN
            self.curve.show_curve(settings.own_multipliers if is_own else curve.multipliers)
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
