"""The Fleet page: demand and load curve, the table, racks, and one fleet over time."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.fleet.page import RACKS, SYSTEMS, TIME, FleetPage
from gpudesk.desktop.pages.fleet.views import FleetTableView, FleetTimeView, RacksView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_fleet_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import TextPainter
from gpudesk.desktop.ui.widgets.number_edit import NO_VALUE
from gpudesk.domain.answer import Scenario
from gpudesk.domain.fleet import HOURS_PER_DAY, FleetAnswer, FleetSettings, LoadCurveKind, SiteCooling, Supply
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import input_error
from tests.fleets import make_fleets

DEMAND = Demand(DemandKind.USERS, 2000.0)


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> FleetPage:
    """Return the page with four accelerators, over fleets with constant values."""

    def plan(service: GpuDeskService, scenario: Scenario) -> FleetAnswer:
        return make_fleets([choice.accelerator for choice in scenario.accelerators])

    monkeypatch.setattr(GpuDeskService, "fleet", plan)
    fleet_page = FleetPage(desk, theme, settings)
    qtbot.addWidget(fleet_page)
    fleet_page.resize(1180, 760)
    fleet_page.show()
    fleet_page.activateWindow()
    qtbot.waitExposed(fleet_page)
    return fleet_page


@pytest.fixture
def planned_page(page: FleetPage, desk: Desk) -> FleetPage:
    desk.edit("Enter demand", demand=DEMAND)
    desk.flush()
    return page


def get_table_view(page: FleetPage) -> FleetTableView:
    assert isinstance(page.view, FleetTableView)
    return page.view


# The table


@pytest.mark.parametrize(
    ("column", "unit", "figure"),
    [
        (0, "per_month_usd", "fleet_systems"),
        (2, "per_month_usd", "fleet_power"),
        (4, "per_month_usd", "fleet_owned_month"),
        (7, "per_million_tokens_usd", "fleet_api_tokens"),
    ],
)
def test_click_selects_the_figure(planned_page: FleetPage, desk: Desk, column: int, unit: str, figure: str) -> None:
    view = get_table_view(planned_page).section.view
    get_table_view(planned_page).unit.set_value(unit)
    position = view.visualRect(view.model().index(1, column)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert desk.selection == select_fleet_figure(desk.scenario.accelerators[1].accelerator, figure)


# The demand


def test_page_without_a_demand_offers_to_enter_one(page: FleetPage, desk: Desk) -> None:
    assert page.start.isVisible()
    assert not page.form.isVisible()
    assert not page.body.isVisible()
    QTest.mouseClick(page.start.offers[DemandKind.TOKENS_PER_DAY], Qt.MouseButton.LeftButton)
    assert desk.scenario.demand == Demand(DemandKind.TOKENS_PER_DAY, 100_000_000.0)
    assert desk.undo_stack.undoText() == "Enter demand"
    assert page.form.isVisible()
    assert page.form.demand.amounts[DemandKind.TOKENS_PER_DAY].edit.hasFocus()
    desk.undo_stack.undo()
    desk.flush()
    assert page.start.isVisible()


def test_demand_edit_reuses_estimates(planned_page: FleetPage, desk: Desk) -> None:
    columns = desk.columns
    desk.edit("More", demand=replace(DEMAND, amount=4000.0), fleet=FleetSettings(growth_per_year=0.5))
    desk.flush()
    assert [each.column.estimate for each in desk.columns] == [each.column.estimate for each in columns]
    assert desk.columns[0].column is columns[0].column


def test_site_fields_are_one_undo_step_each(planned_page: FleetPage, desk: Desk) -> None:
    for name, typed, value in (("growth_per_year", 50.0, 0.5), ("spare_systems", 2.0, 2), ("kw_per_rack", 40.0, 40.0)):
        planned_page.form.fields[name].edited.emit(typed)
        assert getattr(desk.scenario.fleet, name) == value
    planned_page.form.cooling.chosen.emit("air")
    assert desk.scenario.fleet.cooling is SiteCooling.AIR
    planned_page.form.cooling.chosen.emit("any")
    planned_page.form.fields["kw_per_rack"].edited.emit(NO_VALUE)
    assert desk.scenario.fleet == FleetSettings(growth_per_year=0.5, spare_systems=2)
    assert desk.undo_stack.count() == 7


def test_load_curve_replaces_the_peak_factor(planned_page: FleetPage) -> None:
    assert not planned_page.form.demand.fields["peak_factor"].isVisible()
    assert planned_page.form.demand.fields["spare_replicas"].isVisible()


def test_drag_over_the_curve_is_one_step(planned_page: FleetPage, desk: Desk) -> None:
    curve = planned_page.form.curve
    steps = desk.undo_stack.count()
    bottom = curve.height() - 30
    QTest.mousePress(curve, Qt.MouseButton.LeftButton, pos=QPoint(5, bottom))
    QTest.mouseMove(curve, QPoint(curve.width() // 2, 10))
    QTest.mouseMove(curve, QPoint(curve.width() - 4, bottom))
    QTest.mouseRelease(curve, Qt.MouseButton.LeftButton, pos=QPoint(curve.width() - 4, bottom))
    fleet = desk.scenario.fleet
    assert fleet.curve is LoadCurveKind.OWN
    assert len(fleet.own_multipliers) == HOURS_PER_DAY
    assert fleet.own_multipliers[12] > fleet.own_multipliers[0]
    assert desk.undo_stack.count() == steps + 1
    desk.undo_stack.undo()
    assert desk.scenario.fleet.curve is LoadCurveKind.OFFICE


def test_curve_is_edited_by_keys_and_numbers(planned_page: FleetPage, desk: Desk) -> None:
    curve = planned_page.form.curve
    curve.setFocus()
    QTest.keyClick(curve, Qt.Key.Key_End)
    QTest.keyClick(curve, Qt.Key.Key_Left)
    before = curve.values[22]
    QTest.keyClick(curve, Qt.Key.Key_Up)
    assert desk.scenario.fleet.own_multipliers[22] == pytest.approx(before + 0.1, abs=0.011)
    assert curve.accessibleName() == f"Load curve, 22:00: {Formatter(ENGLISH_NUMBERS).number(curve.values[22], 2)}"
    assert len(curve.accessibleDescription().split(", ")) == HOURS_PER_DAY
    planned_page.form.hour.edited.emit(3.25)
    assert desk.scenario.fleet.own_multipliers[22] == 3.25


def test_curve_is_never_negative_and_never_all_zero(planned_page: FleetPage, desk: Desk) -> None:
    curve = planned_page.form.curve
    curve.set_value(3, -2.0)
    assert desk.scenario.fleet.own_multipliers[3] == 0.0
    curve.show_curve((1.0, *(0.0,) * 23))
    before = desk.scenario.fleet
    curve.set_value(0, 0.0)
    assert desk.scenario.fleet == before


# The table


def test_verdict_and_cheapest_cell(planned_page: FleetPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(planned_page.verdict.text()))
    assert "3 × XE9680" in planned_page.verdict.text()
    assert "72% odds" in planned_page.verdict.text()
    table = get_table_view(planned_page).section.view.table
    best = [(row.key, column) for row in table.rows for column, cell in enumerate(row.cells) if cell.is_best]
    assert best == [("mi325x", 4 + list(Supply).index(Supply.OWNED))]
    last = table.rows[-1]
    assert last.sentence == "MI355X: No deployment meets the limits"


def test_unit_of_costs_can_be_chosen(planned_page: FleetPage) -> None:
    view = get_table_view(planned_page)
    months = view.section.view.table.rows[0].cells[4].text
    view.unit.set_value("per_million_tokens_usd")
    view.unit.chosen.emit("per_million_tokens_usd")
    assert view.section.view.table.subtitle == "Per 1M output tokens, USD"
    assert view.section.view.table.rows[0].cells[4].text != months
    assert [row[0] for row in view.section.data(Formatter(ENGLISH_NUMBERS)).rows][1] == "MI325X (3 × XE9680, 2 racks)"


def test_system_of_the_selected_accelerator_can_be_chosen(planned_page: FleetPage, desk: Desk) -> None:
    view = get_table_view(planned_page)
    assert view.title.text() == "MI325X: 18 in use, 2 spare, 4 idle"
    view.systems["systems"].chosen.emit("other")
    assert desk.scenario.fleet.systems == {"mi325x": "other"}
    view.systems["systems"].chosen.emit("auto")
    assert desk.scenario.fleet.systems == {}
    view.section.view.chosen.emit(view.section.view.table.rows[0])
    assert view.title.text().startswith("H200 SXM: 34 in use")
    assert "next system after 9 months" in view.notes.text()
    assert view.warnings.text() == "Cooling is not published."


def test_problem_is_shown(page: FleetPage, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(service: GpuDeskService, scenario: Scenario) -> FleetAnswer:
        raise input_error("test.fault", "-1 at hour 3 is not possible", "fleet.own_multipliers[3]")

    monkeypatch.setattr(GpuDeskService, "fleet", refuse)
    desk.edit("Enter demand", demand=DEMAND)
    desk.flush()
    assert page.body.note.text == "-1 at hour 3 is not possible"
    assert page.form.isVisible()


# Racks and time


def test_racks_are_drawn_and_have_data(planned_page: FleetPage) -> None:
    planned_page.choose_view(RACKS)
    assert isinstance(planned_page.view, RacksView)
    picture = planned_page.view.picture
    assert "B200 SXM: 22 × HGX Y" in picture.accessibleDescription()
    rows = picture.data(Formatter(ENGLISH_NUMBERS)).rows
    assert ("B200 SXM", "5 racks", "4", "32", "32", "0", "0", "40.8 kW", "$1,140k") in rows
    assert picture.grab().toImage().pixelColor(4, picture.height() - 4) is not None
    dialog = planned_page.show_table()
    assert dialog.windowTitle() == "Racks"
    dialog.close()


def test_label_of_a_mark_stays_right_of_the_axis(planned_page: FleetPage, monkeypatch: pytest.MonkeyPatch) -> None:
    planned_page.choose_view(TIME)
    assert isinstance(planned_page.view, FleetTimeView)
    years = planned_page.view.years
    years.resize(420, 300)
    lefts = []
    draw = TextPainter.draw_haloed

    def record_x(self: TextPainter, painter: QPainter, x: float, *rest: Any) -> None:  # noqa: ANN401 - passed on
        if rest[1].startswith("next system"):
            lefts.append(x)
        draw(self, painter, x, *rest)

    monkeypatch.setattr(TextPainter, "draw_haloed", record_x)
    years.grab()
    assert lefts
    assert lefts[0] >= years.frame.area.left()


def test_one_fleet_over_the_day_and_the_years(planned_page: FleetPage) -> None:
    planned_page.choose_view(TIME)
    assert isinstance(planned_page.view, FleetTimeView)
    day, years = planned_page.view.day, planned_page.view.years
    assert [line.key for line in day.drawing.lines] == ["fixed", "autoscaled", "requests"]
    assert [line.key for line in years.drawing.lines] == [each.value for each in Supply]
    assert len({line.dash for line in years.drawing.lines}) == 4
    cheapest = min(years.drawing.lines, key=lambda line: float(line.y[-1]))
    assert years.banded == {cheapest.key}, "overlapping bands of one color look like one"
    fixed, scaled, _ = day.drawing.lines
    assert (fixed.y >= scaled.y).all()
    assert fixed.y.max() == scaled.y.max()
    assert [line.name for line in day.drawing.lines][:2] == ["Fixed capacity", "Autoscaled capacity"]
    assert years.drawing.marks[0].text == "next system needed: 9 months"
    reading = years.read_at(12.0)
    assert reading is not None
    assert [row.name for row in reading[1].rows] == ["Own", "Rent", "Rent, autoscaled", "Hosted API"]
    assert len(day.data(Formatter(ENGLISH_NUMBERS)).rows) == HOURS_PER_DAY
    assert len(years.data(Formatter(ENGLISH_NUMBERS)).rows) == 4
    planned_page.view.which.chosen.emit("h200-sxm")
    assert day.name == "H200 SXM"


@pytest.mark.parametrize("view", [SYSTEMS, RACKS, TIME])
def test_large_text_scrolls_form_and_view_together(planned_page: FleetPage, theme: Theme, view: str) -> None:
    planned_page.choose_view(view)
    theme.set_font_percent(200)
    planned_page.resize(1210, 530)
    QApplication.processEvents()
    form = planned_page.form
    assert form.height() >= form.heightForWidth(form.width())
    bars = [bar for bar in planned_page.findChildren(QScrollBar) if bar.isVisible()]
    assert [bar.orientation() for bar in bars].count(Qt.Orientation.Vertical) == 1
    assert form.visibleRegion().boundingRect().height() > planned_page.height() // 4
