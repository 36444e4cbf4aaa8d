"""The views of the Fleet page: the table with a choice of systems, the racks, and one fleet over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.fleet.charts import DayChart, YearsChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_fleet_figure
from gpudesk.desktop.ui.charts.chart_data import CopyableChart
from gpudesk.desktop.ui.charts.pictures import RackPicture
from gpudesk.desktop.ui.tables.data_table import DataTableSection
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    Hairline,
    ThemedLabel,
    find_scroll_area,
    make_column,
    make_row,
    set_beside,
)
from gpudesk.domain.fleet import FleetAnswer, FleetOption, FleetSettings
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.data_table import DataRow, DataTable
from gpudesk.report.fleet_tables import (
    FleetCostUnit,
    build_fleet_table,
    label_fleet_cost_unit,
    list_fleet_figures,
    list_fleet_notes,
)
from gpudesk.report.labels import label_system
from gpudesk.report.rack_drawing import label_use, sketch_fleets
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message, to_sentence
from gpudesk.text.translation import tr

_MARGIN: Final = 16.0
#: Below this width charts are placed below one another.
_LEAST_BESIDE: Final = 820.0
#: Margins of the picture below the table.
_ABOVE_PICTURE: Final = 48.0
#: The program's choice.
_AUTOMATIC: Final = "auto"
#: Names of systems are long, with the number of their accelerators at the end.
_WIDEST_SYSTEM: Final = 400.0


@dataclass(frozen=True)
class ShownFleets:
    """The content of the views: the fleets, names and palette indexes by accelerator, and the chosen one."""

    answer: FleetAnswer
    settings: FleetSettings
    looks: Mapping[str, tuple[str, int]]
    money: MoneyFormatter
    chosen: str

    @property
    def option(self) -> FleetOption:
        options = self.answer.options
        return next((each for each in options if each.accelerator == self.chosen), options[0])


class FleetView(QWidget):
    """A view of the fleets; `charts` in reading order."""

    #: The accelerator whose fleet is to be shown.
    chosen = Signal(str)
    #: The accelerator, the field of the settings, and the chosen system; empty for any.
    system_wanted = Signal(str, str, str)

    charts: Sequence[CopyableChart] = ()

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self.desk, self.theme, self.formatter = desk, theme, desk.formatter

    def show_fleets(self, fleets: ShownFleets) -> None:
        raise NotImplementedError

    def focus_first(self) -> None:
        raise NotImplementedError


class FleetTableView(FleetView):
    """Fleets with their costs; below, for the chosen one, a choice of systems and its notes."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self._fleets: ShownFleets | None = None
        units = [(unit.value, label_fleet_cost_unit(unit)) for unit in FleetCostUnit]
        self.unit = SegmentedControl(theme, tr("Cost unit"), units)
        self.unit.chosen.connect(lambda _: self._show_table())
        self.section = DataTableSection(theme, desk.formatter, self.unit)
        self.section.view.chosen.connect(self._choose)
        self.picture = RackPicture(theme, desk.formatter)
        self.charts = (self.section, self.picture)
        self.title = ThemedLabel(theme, font="section")
        self.systems = {
            "systems": ChoiceField(theme, tr("System to buy"), self, widest=_WIDEST_SYSTEM),
            "instances": ChoiceField(theme, tr("Instance to rent"), self, widest=_WIDEST_SYSTEM),
        }
        for name, field in self.systems.items():
            field.chosen.connect(partial(self._want_system, name))
        self.notes = ThemedLabel(theme, font="small", color="text2", wrap=True)
        #: Assumptions, unknown values, and violations of site limits.
        self.warnings = ThemedLabel(theme, font="small", color="disputed_text", wrap=True)
        for label in (self.notes, self.warnings):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        fields = make_row(*self.systems.values(), STRETCH, gap=10)
        details = make_column(self.title, fields, self.notes, self.warnings, gap=2)
        self._above = make_column(self.section, 6, Hairline(theme), 8, details, gap=0)
        self._rule = Hairline(theme)
        lower = QWidget(self)
        make_column(8, self._rule, 8, (self.picture, 1), gap=0, on=lower)
        self._whole = make_column(self._above, (lower, 1), gap=0, on=self)
        theme.follow(self._dress)

    def _dress(self) -> None:
        px = self.theme.px
        self._whole.setContentsMargins(px(_MARGIN), px(8), px(_MARGIN), px(_MARGIN))

    def show_fleets(self, fleets: ShownFleets) -> None:
        self._fleets = fleets
        self._show_table()
        option = fleets.option
        name, _ = fleets.looks.get(option.accelerator, (option.accelerator, 0))
        use = label_use(option.used, option.spare, option.idle, self.formatter)
        self.title.setText(tr("{name}: {use}", name=name, use=use) if use else name)
        systems = self.desk.service.catalog.systems_of(option.accelerator)
        for field, is_rented, shown in (("systems", False, option.system), ("instances", True, option.instance)):
            options = [
                ChoiceOption(each.id, label_system(each.name)) for each in systems if each.is_rented == is_rented
            ]
            automatic = tr("Automatic") if shown is None else tr("Automatic: {name}", name=label_system(shown.name))
            self.systems[field].set_options([ChoiceOption(_AUTOMATIC, automatic), *options])
            self.systems[field].set_value(getattr(fleets.settings, field).get(option.accelerator, _AUTOMATIC))
            self.systems[field].setToolTip(self.systems[field].text_shown)
            self.systems[field].setVisible(bool(options))
        notes = list_fleet_notes(replace(option, notes=()), fleets.answer, name, self.formatter, fleets.money)
        self.notes.setText("\n".join(notes))
        warnings = [to_sentence(format_message(note, self.formatter)) for note in option.notes]
        self.warnings.setText("\n".join(warnings))
        self.warnings.setVisible(bool(warnings))
        self.picture.show_fleets(sketch_fleets(fleets.answer, fleets.looks, self.formatter, fleets.money))
        self._fit_picture()

    def _fit_picture(self) -> None:
        """Show the picture if the table leaves space for it; it has a separate view."""
        area = find_scroll_area(self)
        room = (self.height() if area is None else area.viewport().height()) - self._above.sizeHint().height()
        for widget in (self._rule, self.picture):
            widget.setVisible(room >= self.picture.minimumHeight() + self.theme.px(_ABOVE_PICTURE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_picture()

    def _show_table(self) -> None:
        fleets = self._fleets
        if fleets is None:
            return
        unit = FleetCostUnit(self.unit.value)

        def build(formatter: Formatter) -> DataTable:
            money = MoneyFormatter(formatter, fleets.money.currency)
            return build_fleet_table(fleets.answer, fleets.looks, formatter, money, unit)

        self.section.show_table(build)
        self.section.view.setCurrentIndex(self.section.view.find_row(fleets.option.accelerator))

    def _want_system(self, field: str, key: str) -> None:
        if self._fleets is not None:
            self.system_wanted.emit(self._fleets.option.accelerator, field, "" if key == _AUTOMATIC else key)

    def _choose(self, row: DataRow) -> None:
        """Show the fleet of a row, and explain the clicked figure in the panel."""
        figure = list_fleet_figures(FleetCostUnit(self.unit.value))[self.section.view.currentIndex().column()]
        self.chosen.emit(row.accelerator)
        self.desk.select(select_fleet_figure(row.accelerator, figure))

    def focus_first(self) -> None:
        self.section.view.setFocus(Qt.FocusReason.ShortcutFocusReason)


class RacksView(FleetView):
    """The picture of all fleets."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self.picture = RackPicture(theme, desk.formatter)
        self.charts = (self.picture,)
        self._whole = make_column((self.picture, 1), gap=0, on=self)
        theme.follow(self._dress)

    def _dress(self) -> None:
        px = self.theme.px
        self._whole.setContentsMargins(px(_MARGIN), px(8), px(_MARGIN), px(8))

    def show_fleets(self, fleets: ShownFleets) -> None:
        self.picture.show_fleets(sketch_fleets(fleets.answer, fleets.looks, self.formatter, fleets.money))

    def focus_first(self) -> None:
        self.picture.setFocus(Qt.FocusReason.ShortcutFocusReason)


class FleetTimeView(FleetView):
    """One fleet over a day and over the years."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme)
        self.which = ChoiceField(theme, tr("Accelerator"), self)
        self.which.chosen.connect(self.chosen)
        self.day, self.years = DayChart(desk, theme, self), YearsChart(desk, theme, self)
        self.charts = (self.day, self.years)
        self._pair = make_row((self.day, 1), (self.years, 1), gap=24)
        self._whole = make_column(make_row(self.which, STRETCH), (self._pair, 1), gap=0, on=self)
        theme.follow(self._dress)

    def _dress(self) -> None:
        px = self.theme.px
        self._whole.setContentsMargins(px(_MARGIN), 0, px(_MARGIN), px(8))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        set_beside(self._pair, event.size().width() >= self.theme.px(_LEAST_BESIDE))

    def show_fleets(self, fleets: ShownFleets) -> None:
        options = [ChoiceOption(key, name) for key, (name, _) in fleets.looks.items()]
        self.which.set_options(options)
        option = fleets.option
        self.which.set_value(option.accelerator)
        name, slot = fleets.looks.get(option.accelerator, (option.accelerator, 0))
        for chart in (self.day, self.years):
            chart.show_fleet(fleets.answer, option, fleets.money, name, slot)

    def focus_first(self) -> None:
        self.day.setFocus(Qt.FocusReason.ShortcutFocusReason)
