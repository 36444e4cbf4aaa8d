"""The Cost page: charts, missing prices, entered values, and invalid inputs."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.cost.page import AssumptionsView, CostPage
from gpudesk.desktop.pages.cost.views import (
    CostOverview,
    PublishedCasesView,
    RentOrBuyView,
    SimulationView,
    TokenCostView,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_load_value, replace_workload
from gpudesk.desktop.session.selection import select_cost
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import TextPainter, ThemePainter
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit
from gpudesk.desktop.window.sources_panel import SelectionExplainer
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import NO_COST_SETTINGS, CostSettings, DisplayCurrency, UncertainValue
from gpudesk.report.costs import OWNED, RENTED, TOTAL

#: The settings of the scenario, which compares single accelerators.
OF_TEMPLATE = CostSettings(single_accelerators=True)


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> CostPage:
    """Return the page with four accelerators, of which MI355X has no price."""
    cost_page = CostPage(desk, theme, settings)
    qtbot.addWidget(cost_page)
    cost_page.resize(1180, 760)
    cost_page.show()
    cost_page.activateWindow()
    qtbot.waitExposed(cost_page)
    return cost_page


def get_overview(page: CostPage) -> CostOverview:
    assert isinstance(page.view, CostOverview)
    return page.view


def show_assumptions(page: CostPage) -> AssumptionsView:
    page.choose_view("assumptions")
    assert isinstance(page.view, AssumptionsView)
    return page.view


def type_into(edit: NumberEdit, text: str) -> None:
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


# The charts


def test_bars_leave_the_height_that_they_do_not_need(page: CostPage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("One accelerator", accelerators=(AcceleratorChoice("h200-sxm", 1),))
    desk.flush()
    page.resize(1500, 1400)
    view = get_overview(page)
    qtbot.waitUntil(lambda: view.height() > 1000)
    assert view.tokens.height() <= view.tokens.measure_tallest()
    assert view.influences.height() > 2 * view.tokens.height()


def test_overview_has_four_charts(page: CostPage) -> None:
    view = get_overview(page)
    assert view.tokens.title == "Cost per million output tokens"
    assert view.tokens.subtitle == "USD before taxes, with input processing"
    assert view.years.title == "Cost over 3 years"
    description = view.tokens.accessibleDescription()
    assert "H200 SXM: rented 1.26" in description
    assert "MI355X: rented 1.79" in description
    assert "no purchase price" in description
    assert "66,502" in view.years.rows[0].sentence
    assert view.influences.subtitle.startswith("MI325X owned"), "the cheapest, until the user chooses another"
    assert view.influences.rows[0].name == "Utilization"
    assert "H200 SXM: buying pays back after 19.6 months, compared with renting 24/7." in view.rent.summary()


def test_totals_equal_those_of_the_service(page: CostPage, desk: Desk) -> None:
    assert desk.answer is not None
    costs = desk.service.costing.costs(desk.answer)
    for row, column in zip(get_overview(page).years.data(desk.formatter).rows, costs.columns, strict=True):
        total_text = row[-1].replace(",", "")
        assert total_text == ("—" if column.tco is None else f"{column.tco.total_usd:.0f}")


def test_click_shows_the_sensitivity_of_another_accelerator(page: CostPage, qtbot: QtBot) -> None:
    view = get_overview(page)
    position = view.tokens.band(0).center().toPoint()
    QTest.mouseClick(view.tokens, Qt.MouseButton.LeftButton, pos=QPoint(20, position.y()))
    assert view.influences.subtitle.startswith("H200 SXM owned")
    assert [len(row.segments) for row in view.influences.rows] == [1] * 8, "two shades would need a legend"
    view.choose("mi355x")
    page.refresh()
    assert view.influences.subtitle.startswith("MI355X rented")


def test_rows_are_chosen_by_keys(page: CostPage) -> None:
    view = get_overview(page)
    view.years.setFocus()
    for _ in range(2):
        QTest.keyClick(view.years, Qt.Key.Key_Down)
    assert view.years.current == 1
    assert view.years.accessibleDescription().startswith("MI325X")
    QTest.keyClick(view.years, Qt.Key.Key_Return)
    assert view.influences.subtitle.startswith("MI325X owned")
    QTest.keyClick(view.years, Qt.Key.Key_Up)
    assert view.years.current == 0


def test_chart_of_unchanged_costs_is_not_repainted(
    page: CostPage, desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, updated = get_overview(page), []
    monkeypatch.setattr(view.years, "update", lambda: updated.append("years"))
    monkeypatch.setattr(view.tokens, "update", lambda: updated.append("tokens"))
    with qtbot.waitSignal(desk.answered):
        desk.apply(replace_load_value(desk.scenario, 48), "Change of load")
    assert updated == ["tokens"]


def test_rent_and_purchase_lines_cross_at_the_break_even(page: CostPage, desk: Desk) -> None:
    view = get_overview(page)
    drawing = view.rent.drawing
    assert [line.key for line in drawing.lines] == ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]
    assert [line.key for line in drawing.ghosts] == ["h200-sxm", "mi325x", "b200-hgx"]
    months = {mark.key: mark.x for mark in drawing.marks}
    assert desk.answer is not None
    for each in desk.service.costing.costs(desk.answer).break_evens:
        if each.name == "months_to_own" and each.value is not None:
            assert months[each.key] == pytest.approx(each.value)
    value, readout = view.rent.read_at(12.2) or (0.0, None)
    assert value == 12.0
    assert readout is not None
    assert readout.heads == ("rent", "buy")


def test_copy_has_the_data_of_all_charts(page: CostPage) -> None:
    page.copy()
    text = QGuiApplication.clipboard().text()
    for title in ("Cost per million output tokens, USD", "Cost of ownership, USD", "Cost sensitivity", "Rent or buy"):
        assert title in text


def test_amounts_are_shown_in_the_chosen_currency(page: CostPage, desk: Desk) -> None:
    costs = replace(desk.scenario.costs, currency=DisplayCurrency("EUR", 0.5, "2026-11-01"))
    desk.edit("Currency", costs=costs)
    desk.flush()
    view = get_overview(page)
    assert "EUR" in view.tokens.subtitle
    assert "33,251" in view.years.rows[0].sentence


# Missing and entered values


def test_link_of_a_missing_price_focuses_its_field(page: CostPage, desk: Desk, qtbot: QtBot) -> None:
    page.resize(1180, 480)
    view = get_overview(page)
    page.grab()
    link = next(link for link in view.tokens._links if link.key == "mi355x")
    QTest.mouseClick(view.tokens, Qt.MouseButton.LeftButton, pos=link.place.center().toPoint())
    inputs = page.view
    assert isinstance(inputs, AssumptionsView)
    price = inputs.rows["mi355x", "price_usd"]
    assert QApplication.focusWidget() is price.edits[1]
    qtbot.waitUntil(lambda: price.edits[1].visibleRegion().boundingRect() == price.edits[1].rect())
    type_into(price.edits[1], "35k")
    desk.flush()
    assert desk.scenario.costs.parts == {"mi355x": {"price_usd": UncertainValue.exactly(35_000.0)}}
    assert price.origin.text() == "Entered by you"
    page.choose_view("overview")
    assert "no purchase price" not in get_overview(page).tokens.accessibleDescription()
    desk.undo_stack.undo()
    desk.flush()
    assert desk.scenario.costs == OF_TEMPLATE
    assert "no purchase price" in get_overview(page).tokens.accessibleDescription()


def test_enter_on_a_row_without_a_price_opens_the_assumptions(page: CostPage) -> None:
    view = get_overview(page)
    page.grab()
    view.years.setFocus()
    QTest.keyClick(view.years, Qt.Key.Key_Up)
    assert view.years.current == 3
    QTest.keyClick(view.years, Qt.Key.Key_Return)
    assert isinstance(page.view, AssumptionsView)


def test_common_input_is_a_range(page: CostPage, desk: Desk) -> None:
    row = show_assumptions(page).rows[None, "energy_usd_per_kwh"]
    assert [edit.text() for edit in row.edits] == ["0.08", "0.14", "0.2"]
    had_reset = row.reset is not None
    assert not had_reset
    type_into(row.edits[1], "0.3")
    desk.flush()
    assert desk.scenario.costs.inputs["energy_usd_per_kwh"] == UncertainValue(0.08, 0.3, 0.3)
    type_into(row.edits[2], "0.4")
    desk.flush()
    assert desk.scenario.costs.inputs["energy_usd_per_kwh"] == UncertainValue(0.08, 0.3, 0.4)
    assert row.reset is not None
    assert row.reset.isVisible()
    assert row.reset.accessibleName() == "Reset Electricity price"
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    desk.flush()
    assert desk.scenario.costs == OF_TEMPLATE
    assert [edit.text() for edit in row.edits] == ["0.08", "0.14", "0.2"]
    assert not row.reset.isVisible()


def test_invisible_fields_are_created_later(page: CostPage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view("assumptions")
    view = page.view
    assert isinstance(view, AssumptionsView)
    first_fields = set(view.findChildren(NumberEdit))
    qtbot.waitUntil(lambda: not view._waiting)
    all_fields = set(view.findChildren(NumberEdit))
    assert len(first_fields) < len(all_fields) / 2
    assert all_fields > {edit for row in view.rows.values() for edit in row.edits}
    last_row = view.rows["mi355x", "discount"]
    assert (last_row.unit.text(), last_row.origin.text() != "") == ("%", True)


def test_api_needs_both_prices(page: CostPage, desk: Desk) -> None:
    rows = show_assumptions(page).rows
    input_price, output_price = (rows[None, f"api_{side}_usd_per_million"] for side in ("input", "output"))
    type_into(input_price.edits[1], "0.2")
    desk.flush()
    assert output_price.origin.text() == "Enter both prices"
    type_into(output_price.edits[1], "0.6")
    desk.flush()
    assert output_price.origin.text() == "Entered by you"


def test_shares_are_edited_in_percent(page: CostPage, desk: Desk) -> None:
    row = show_assumptions(page).rows["mi325x", "discount"]
    assert row.unit.text() == "%"
    type_into(row.edits[1], "18")
    desk.flush()
    assert desk.scenario.costs.parts["mi325x"]["discount"] == UncertainValue.exactly(0.18)
    type_into(row.edits[1], "")
    desk.flush()
    assert desk.scenario.costs == OF_TEMPLATE


@pytest.mark.parametrize(
    ("name", "position", "typed", "expected_fault"),
    [
        ("pue", 1, "0.5", "Minimum: 1"),
        ("pue", 1, "9", "Maximum: 5"),
        ("pue", 1, "much", "Enter a number"),
        ("pue", 0, "1.5", "Enter at most the likely value, 1.3"),
        ("pue", 2, "1.2", "Enter at least the likely value, 1.3"),
    ],
)
def test_invalid_input_is_reported_at_its_field(
    page: CostPage, desk: Desk, name: str, position: int, typed: str, expected_fault: str
) -> None:
    edit = show_assumptions(page).rows[None, name].edits[position]
    type_into(edit, typed)
    desk.flush()
    assert expected_fault in edit.fault
    assert edit.text() == typed
    assert desk.scenario.costs == OF_TEMPLATE


def test_controls_change_common_settings(page: CostPage, desk: Desk) -> None:
    controls = show_assumptions(page).controls
    assert controls.single.isChecked()
    QTest.mouseClick(controls.single, Qt.MouseButton.LeftButton, pos=QPoint(8, controls.single.height() // 2))
    desk.flush()
    assert desk.scenario.costs == NO_COST_SETTINGS
    assert not controls.reset.isEnabled()
    controls.term.set_value("spot")
    controls.term.chosen.emit("spot")
    controls.runs_on.chosen.emit("ROCm")
    QTest.mouseClick(controls.around, Qt.MouseButton.LeftButton, pos=QPoint(8, controls.around.height() // 2))
    QTest.mouseClick(controls.discounts, Qt.MouseButton.LeftButton)
    desk.flush()
    costs = desk.scenario.costs
    assert (costs.rent_term, costs.runs_on, costs.around) == ("spot", "ROCm", 0.2)
    assert costs.parts["mi325x"]["discount"] == UncertainValue(0.16, 0.19, 0.22)
    origin = show_assumptions(page).rows["mi325x", "discount"].origin.text()
    assert origin.startswith("Anecdotal: unnamed buyers")
    QTest.mouseClick(controls.reset, Qt.MouseButton.LeftButton)
    desk.flush()
    assert desk.scenario.costs == NO_COST_SETTINGS
    assert controls.term.value == "on_demand"


def test_inputs_are_those_of_compared_accelerators(page: CostPage, desk: Desk) -> None:
    view = show_assumptions(page)
    assert {key for key, _ in view.rows} == {None, "h200-sxm", "mi325x", "b200-hgx", "mi355x"}
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:2])
    desk.flush()
    assert {key for key, _ in view.rows} == {None, "h200-sxm", "mi325x"}


def test_inputs_are_copied_as_a_table(page: CostPage, desk: Desk) -> None:
    show_assumptions(page)
    page.copy()
    text = QGuiApplication.clipboard().text()
    assert "Electricity price\tall\t$0.14" in text
    assert "Purchase price\tMI355X\t—\tno value" in text
    assert "catalog prices (specialized cloud), newest 2026-" in text
    assert desk.answer is not None
    assert desk.answer.catalog_revision[:8] not in text, "a hash is of no use to a reader"


def test_every_field_is_named(page: CostPage) -> None:
    rows = show_assumptions(page).rows.values()
    names = [edit.accessibleName() for row in rows for edit in row.edits]
    assert all(names)
    assert len(set(names)) == len(names)


# States of the page


def test_page_without_accelerators_hides_the_view(page: CostPage, desk: Desk) -> None:
    desk.edit("None", accelerators=())
    desk.flush()
    assert not page.view.isVisible()
    assert not page.head.copy.isEnabled()


def test_accelerator_that_does_not_fit_has_no_cost_per_token(page: CostPage, desk: Desk) -> None:
    choices = tuple(replace(choice, count=1) for choice in desk.scenario.accelerators)
    desk.edit("Too big", model="llama-3.1-405b", accelerators=choices)
    desk.flush()
    view = get_overview(page)
    assert "throughput at this load unknown" in view.tokens.accessibleDescription()
    assert view.rent.drawing.note or not view.rent.drawing.lines


def test_row_of_a_tool_tip_is_found_by_position(page: CostPage) -> None:
    chart = get_overview(page).years
    assert chart._find_row_at(QPointF(chart.band(2).center())) == 2
    assert chart._find_row_at(QPointF(5.0, 1.0)) == -1


# Other views


def test_cost_per_token_rises_with_interactivity(page: CostPage, desk: Desk) -> None:
    page.choose_view("tokens")
    view = page.view
    assert isinstance(view, TokenCostView)
    lines = {line.key: line for line in view.chart.drawing.lines}
    assert list(lines) == ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]
    for line in lines.values():
        assert line.y[0] < line.y[-1]
    assert lines["mi355x"].end == "rented"
    assert "Cost vs. interactivity" in view.chart.title
    assert view.chart.summary().startswith("H200 SXM: ")
    value, readout = view.chart.read_at(20.0) or (0.0, None)
    assert value == 20.0
    assert readout is not None
    assert len(readout.rows) == 4
    model = view.table.model()
    texts = [model.index(0, column).data() for column in range(model.columnCount())]
    assert texts[:3] == ["H200 SXM", "0.80", "0.20"]
    assert texts[-1] == "owned"


def test_payback_labels_do_not_overlap_the_curves(page: CostPage, monkeypatch: pytest.MonkeyPatch) -> None:
    page.choose_view("rent")
    view = page.view
    assert isinstance(view, RentOrBuyView)
    chart = view.chart
    chart.resize(900, 200)
    boxes = dict[str, QRectF]()

    def record_box(self: TextPainter, _: object, x: float, baseline: float, text: str, token: str, __: object) -> None:
        if text.endswith(" months"):
            boxes[text] = QRectF(x, baseline - 8, self.width(text, token), 8)

    monkeypatch.setattr(TextPainter, "draw_haloed", record_box)
    chart.grab()
    assert list(boxes) == ["19.6 months", "13.0 months", "14.4 months"]
    points = [QPointF(*each) for curve in chart.sample_curves() for each in curve]
    assert not [text for text, box in boxes.items() if any(map(box.contains, points))]


def test_break_even_compares_any_two_accelerators(page: CostPage) -> None:
    page.choose_view("rent")
    view = page.view
    assert isinstance(view, RentOrBuyView)
    assert (view.which.value, view.rival.value) == ("mi325x", "h200-sxm")
    rows = {row[0]: row[1:] for row in view.table.texts()}
    assert rows["MI325X: payback period of buying"][0] == "13.0 months"
    price = tuple(each.replace("\N{NO-BREAK SPACE}", " ") for each in rows["MI325X: break-even purchase price"])
    assert price == ("$36,200", "$22,000 (20,000 – 25,000)", "Above it, H200 SXM costs less per token.")
    assert view.rents.texts()[0][1] == "MI325X"
    assert len(view.rents.texts()) == 4
    assert all(row[4].startswith("$") for row in view.rents.texts()), "cost per token at each rent"
    view.which.chosen.emit("h200-sxm")
    view.rival.chosen.emit("b200-hgx")
    rows = {row[0]: row[1:] for row in view.table.texts()}
    assert rows["H200 SXM: break-even purchase price"][2] == "Above it, B200 SXM costs less per token."
    view.which.chosen.emit("mi355x")
    assert not any("break-even purchase price" in row[0] for row in view.table.texts())


def test_simulation_runs_in_the_background(page: CostPage, qtbot: QtBot) -> None:
    page.choose_view("draws")
    view = page.view
    assert isinstance(view, SimulationView)
    qtbot.waitUntil(lambda: view.draws is not None)
    draws = view.draws
    assert draws is not None
    assert draws.n == 100_000
    assert [line.key for line in view.chart.drawing.lines] == ["h200-sxm", "mi325x", "b200-hgx"]
    model = view.table.model()
    names = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert set(names) == {"H200 SXM", "MI325X", "B200 SXM", "MI355X"}
    assert model.index(3, model.columnCount() - 1).data() == "excluded: no purchase price"
    view.kind.set_value("rented")
    view.kind.chosen.emit("rented")
    qtbot.waitUntil(lambda: view.draws is not None and view.draws.rented)
    assert len(view.chart.drawing.lines) == 4
    value, readout = view.chart.read_at(1.0) or (0.0, None)
    assert readout is not None
    assert value == pytest.approx(1.0, abs=0.2)


def test_simulation_chart_shows_progress_before_its_first_result(page: CostPage, qtbot: QtBot) -> None:
    page.choose_view("draws")
    view = page.view
    assert isinstance(view, SimulationView)
    assert view.draws is None
    assert view.chart.drawing.note == "Simulating costs"
    view._jobs.shown.emit("Simulating costs: 1 of 4", False)
    assert view.chart.drawing.note == "Simulating costs: 1 of 4"
    assert view.status_label.text() == "", "not twice"
    qtbot.waitUntil(lambda: view.draws is not None)
    assert view.chart.drawing.note == ""


def test_quick_edits_run_one_simulation_at_a_time(page: CostPage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view("draws")
    view = page.view
    assert isinstance(view, SimulationView)
    for tokens in (100, 200, 300):
        desk.apply(replace_workload(desk.scenario, output_tokens=tokens), "Output tokens")
        desk.flush()
        assert len(view._jobs._all) == 1
    qtbot.waitUntil(lambda: not view._jobs.running)
    assert view._question == (desk.answer, False), "the last answer is simulated"
    assert view.draws is not None


def test_view_is_saved_and_views_are_actions(page: CostPage, desk: Desk, theme: Theme, settings: UserSettings) -> None:
    page.choose_view("rent")
    assert CostPage(desk, theme, settings).head.segment.value == "rent"
    ids = [spec.id for spec in page.list_page_actions()]
    assert {"cost.overview", "cost.tokens", "cost.rent", "cost.draws", "cost.assumptions"} <= set(ids)


@pytest.mark.parametrize("view", ["overview", "tokens", "rent", "draws", "cases", "assumptions"])
def test_every_view_has_data_to_copy(page: CostPage, view: str) -> None:
    page.choose_view(view)
    for chart in page.view.charts:
        data = chart.data(chart.formatter)
        assert data.title
        assert all(len(row) == len(data.heads) for row in data.rows)


def test_published_case_is_explained_and_applied(page: CostPage, desk: Desk) -> None:
    page.choose_view("cases")
    view = page.view
    assert isinstance(view, PublishedCasesView)
    assert "One of the figures is wrong" in view.note_label.text()
    assert "AMD stack scorecard" in view.source.text()
    (refuted,) = (row for row in view.table.texts() if row[2:] == ("31%", "19.4%"))
    assert refuted[0] == "Refuted"
    (exported,) = (row for row in view.data(desk.formatter).rows if row[0] == "W002-28")
    assert exported[1:] == refuted
    QTest.mouseClick(view.take, Qt.MouseButton.LeftButton)
    desk.flush()
    assert [each.accelerator for each in desk.scenario.accelerators] == ["h200-sxm", "mi325x"]
    assert desk.scenario.costs.parts["mi325x"]["discount"] == UncertainValue.exactly(0.14)
    assert desk.answer is not None
    first, second = desk.service.costing.costs(desk.answer).columns
    assert first.tco is not None
    assert second.tco is not None
    lines = {line.name: line.usd for line in first.tco.lines}
    assert lines["power"] / first.tco.total_usd == pytest.approx(0.4, abs=0.001)
    software = {line.name: line.usd for line in second.tco.lines}["upkeep"]
    assert software == pytest.approx(2100.0)
    desk.undo_stack.undo()
    desk.flush()
    assert len(desk.scenario.accelerators) == 4
    view.case.set_value("rents_of_the_faq")
    view.case.chosen.emit("rents_of_the_faq")
    assert "$710 to $1,300" in view.note_label.text()


def test_click_selects_the_cost_for_the_panel(page: CostPage, desk: Desk) -> None:
    view = get_overview(page)
    band = view.tokens.band(1)
    above = QPoint(20, int(band.top() + band.height() * 0.25))
    below = QPoint(20, int(band.top() + band.height() * 0.75))
    QTest.mouseClick(view.tokens, Qt.MouseButton.LeftButton, pos=above)
    assert desk.selection == select_cost("mi325x", RENTED)
    QTest.mouseClick(view.tokens, Qt.MouseButton.LeftButton, pos=below)
    assert desk.selection == select_cost("mi325x", OWNED)
    explanation = SelectionExplainer(desk).explain(desk.selection)
    assert explanation is not None
    assert explanation.what == "Cost per million output tokens, MI325X × 1, owned"
    QTest.mouseClick(view.years, Qt.MouseButton.LeftButton, pos=QPoint(20, int(view.years.band(0).center().y())))
    assert desk.selection == select_cost("h200-sxm", TOTAL)


def test_currency_needs_rate_and_date(page: CostPage, desk: Desk) -> None:
    row = show_assumptions(page).currency
    assert row.code.text() == ""
    type_into(row.rate, "0.5")
    desk.flush()
    assert desk.scenario.costs == OF_TEMPLATE
    row.code.setText("eur")
    row.day.setText("")
    row.code.editingFinished.emit()
    assert "date of the rate" in row.fault.text()
    row.day.setText("2026-11-01")
    row.day.editingFinished.emit()
    desk.flush()
    assert desk.scenario.costs.currency == DisplayCurrency("EUR", 0.5, "2026-11-01")
    price = show_assumptions(page).rows["h200-sxm", "price_usd"]
    assert [edit.text() for edit in price.edits] == ["14,000", "17,500", "21,875"]
    assert price.unit.text() == "EUR"
    type_into(price.edits[1], "10k")
    desk.flush()
    assert desk.scenario.costs.parts["h200-sxm"]["price_usd"] == UncertainValue(20_000.0, 20_000.0, 43_750.0)
    row.code.setText("")
    row.code.editingFinished.emit()
    desk.flush()
    assert desk.scenario.costs.currency is None


def test_cash_flow_is_saved_as_a_workbook(page: CostPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "cash"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    QTest.mouseClick(page.cash_flow, Qt.MouseButton.LeftButton)
    with zipfile.ZipFile(target.with_suffix(".xlsx")) as book:
        assert "H200 SXM" in book.read("xl/workbook.xml").decode()
    assert page.status_label.text() == f"Saved: {target}.xlsx"
    page.write_cash_flow(tmp_path / "no such folder" / "cash.xlsx")
    assert "no such folder" in page.status_label.text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    page.save_cash_flow()


def test_curves_are_evaluated_only_for_the_tokens_view(page: CostPage, desk: Desk) -> None:
    curve_states = []
    for view, tokens in (("overview", 1500), ("tokens", 1600), ("overview", 1700)):
        page.choose_view(view)
        desk.edit("load", workload=replace(desk.scenario.workload, input_tokens=tokens))
        desk.flush()
        curve_states.append(desk.has_curves)
    assert curve_states == [False, True, False]


def test_published_cases_have_no_verdict_on_the_scenario(page: CostPage) -> None:
    assert page.describe_verdict()
    page.choose_view("cases")
    assert (page.describe_verdict(), page.describe_terms()) == ((), "")


def test_defaults_have_at_most_two_decimals(page: CostPage) -> None:
    rows = show_assumptions(page).rows
    values = [edit.value for row in rows.values() for edit in row.edits if abs(edit.value) >= 1.0]
    assert values
    assert all(value == round(value, 2) for value in values)


def test_without_a_fit_no_chart_asks_for_a_price(page: CostPage, desk: Desk) -> None:
    desk.apply(replace(desk.scenario, model="llama-3.1-405b"), "")
    desk.flush()
    assert get_overview(page).influences.groups[0].note == "No cost: no accelerator fits the model"


def test_amounts_follow_all_bars_or_none(page: CostPage) -> None:
    years = get_overview(page).years
    picture = QImage(1, 1, QImage.Format.Format_RGB32)
    with QPainter(picture) as painter:
        pen = ThemePainter(painter, page.theme)
        years.resize(900, 300)
        assert years._has_room_for_details(pen)
        # The shortest bar still has room for its amount.
        years.resize(350, 300)
        assert not years._has_room_for_details(pen)


def test_focus_of_the_assumptions_goes_to_their_first_field(page: CostPage) -> None:
    view = show_assumptions(page)
    page.focus_content()
    assert QApplication.focusWidget() is view.controls.term


def find_top_of_title(chart: QWidget) -> int:
    image = chart.grab(QRect(0, 0, 90, 30)).toImage()
    pixels = ((x, y) for y in range(image.height()) for x in range(image.width()))
    return next(y for x, y in pixels if image.pixelColor(x, y).lightness() < 100)


def test_titles_of_charts_side_by_side_are_level(page: CostPage) -> None:
    overview = get_overview(page)
    tops = [find_top_of_title(chart) for chart in (overview.influences, overview.rent)]
    assert abs(tops[0] - tops[1]) <= 1
