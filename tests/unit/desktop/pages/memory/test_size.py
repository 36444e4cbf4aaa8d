"""The view Size from users: entering a demand, candidates and factors, copying, applying a deployment."""

import math
import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.page import SIZE, MemoryPage
from gpudesk.desktop.pages.memory.size_view import SizingView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.tables.data_table import DataTableModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.fields import NumberField
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.data_table import CellSeverity

USERS = Demand(DemandKind.USERS, 500.0)


@pytest.fixture
def view(page: MemoryPage, desk: Desk) -> SizingView:
    desk.edit("Small", model="llama-3.1-70b", accelerators=(AcceleratorChoice("h200-sxm"), AcceleratorChoice("mi355x")))
    desk.flush()
    page.choose_view(SIZE)
    assert isinstance(page.view, SizingView)
    return page.view


@pytest.fixture
def sized_view(view: SizingView, desk: Desk) -> SizingView:
    desk.edit("Demand", demand=USERS)
    desk.flush()
    view.refresh()
    return view


def get_model(view: SizingView) -> DataTableModel:
    model = view.table.model()
    assert isinstance(model, DataTableModel)
    return model


def list_column(view: SizingView, head: str) -> list[str]:
    table = get_model(view).table
    position = [each.head for each in table.columns].index(head)
    return [row.cells[position].text for row in table.rows]


def type_into(field: NumberField, text: str) -> None:
    field.edit.setFocus()
    field.edit.selectAll()
    QTest.keyClicks(field.edit, text)
    QTest.keyClick(field.edit, Qt.Key.Key_Return)


def map_factors(view: SizingView) -> dict[str, str]:
    rows = view.candidate.table.table.rows
    return {row.cells[0].text: row.cells[1].text for row in rows}


# Entering a demand


def test_view_without_a_demand_offers_three_kinds(view: SizingView, desk: Desk) -> None:
    assert view.start.offers[DemandKind.USERS].isVisible()
    assert not view.form.isVisible()
    QTest.mouseClick(view.start.offers[DemandKind.REQUEST_RATE], Qt.MouseButton.LeftButton)
    assert desk.scenario.demand == Demand(DemandKind.REQUEST_RATE, 2.0)
    assert desk.undo_stack.undoText() == "Enter demand"
    assert view.form.isVisible()
    assert view.form.amounts[DemandKind.REQUEST_RATE].edit.hasFocus()
    desk.undo_stack.undo()
    desk.flush()
    view.refresh()
    assert view.start.offers[DemandKind.USERS].isVisible()


def test_fields_are_one_undo_step_each(sized_view: SizingView, desk: Desk) -> None:
    form = sized_view.form
    type_into(form.amounts[DemandKind.USERS], "2k")
    type_into(form.fields["ttft_ms"], "2000")
    type_into(form.fields["utilisation_cap"], "50")
    type_into(form.fields["spare_replicas"], "2")
    assert desk.scenario.demand == replace(USERS, amount=2000.0, ttft_ms=2000.0, utilisation_cap=0.5, spare_replicas=2)
    type_into(form.fields["ttft_ms"], "none")
    assert desk.scenario.demand.ttft_ms is None
    assert form.fields["ttft_ms"].edit.text() == "none"
    for _ in range(5):
        desk.undo_stack.undo()
    assert desk.scenario.demand == USERS


@pytest.mark.parametrize(
    ("name", "typed", "expected_fault"),
    [
        ("peak_factor", "0.5", "Minimum: 1"),
        ("utilisation_cap", "120", "Maximum: 100"),
        ("spare_replicas", "1.5", "Enter a whole number, such as 2"),
        ("tpot_ms", "soon", "Enter a number"),
    ],
)
def test_invalid_input_is_reported_at_its_field(
    sized_view: SizingView, desk: Desk, name: str, typed: str, expected_fault: str
) -> None:
    field = sized_view.form.fields[name]
    type_into(field, typed)
    assert field.fault.startswith(expected_fault)
    assert field.edit.text() == typed
    assert desk.scenario.demand == USERS
    QTest.keyClick(field.edit, Qt.Key.Key_Escape)
    assert field.fault == ""


def test_kind_of_demand_shows_its_own_fields(sized_view: SizingView, desk: Desk) -> None:
    assert sized_view.form.fields["requests_per_user_hour"].isVisible()
    sized_view.form.kind.chosen.emit(DemandKind.TOKENS_PER_DAY.value)
    assert desk.scenario.demand == replace(USERS, kind=DemandKind.TOKENS_PER_DAY, amount=100e6)
    assert not sized_view.form.fields["requests_per_user_hour"].isVisible()
    assert [kind for kind, field in sized_view.form.amounts.items() if field.isVisible()] == [DemandKind.TOKENS_PER_DAY]


def test_demand_can_be_removed(sized_view: SizingView, desk: Desk) -> None:
    QTest.mouseClick(sized_view.form.remove, Qt.MouseButton.LeftButton)
    assert desk.scenario.demand is None
    assert sized_view.start.offers[DemandKind.USERS].isVisible()


# Results


def test_candidates_equal_those_of_the_service(sized_view: SizingView, desk: Desk) -> None:
    result = desk.service.size(desk.scenario)
    assert list_column(sized_view, "Accelerators") == [str(each.count) for each in result.candidates]
    assert list_column(sized_view, "Spare") == [str(each.spare) for each in result.candidates]
    fewest = min(result.candidates, key=lambda each: each.count or 0)
    assert sized_view.verdict.text().startswith(f"You need {fewest.count} × MI355X")
    assert f"{fewest.count} × MI355X for " in sized_view.candidate.title_label.text()
    assert sized_view.demand_label.text().startswith("500 users with 12 requests per hour each")
    assert "requests/s and" in sized_view.demand_label.text()


def test_factors_multiply_to_the_count(sized_view: SizingView) -> None:
    factor_texts = map_factors(sized_view)
    product = factor_texts.pop("Accelerators").removeprefix("= ")
    numbers = [float(re.sub(r"[^\d.]", "", text)) for text in factor_texts.values()]
    assert math.prod(numbers) == pytest.approx(float(product), rel=0.02)


def test_enter_shows_the_candidate_of_a_row(sized_view: SizingView, desk: Desk, qtbot: QtBot) -> None:
    sized_view.table.setFocus()
    sized_view.table.setCurrentIndex(get_model(sized_view).index(0, 1))
    QTest.keyClick(sized_view.table, Qt.Key.Key_Return)
    assert " H200 SXM" in sized_view.candidate.title_label.text()
    desk.edit("More", demand=replace(USERS, amount=5000.0))
    desk.flush()
    sized_view.refresh()
    assert "for 5,000 users on average: " in sized_view.candidate.title_label.text()
    assert " H200 SXM" in sized_view.candidate.title_label.text()


def test_unmet_limits_are_reported_in_the_rows(sized_view: SizingView, desk: Desk) -> None:
    desk.edit("Strict", demand=replace(USERS, tpot_ms=0.5))
    desk.flush()
    sized_view.refresh()
    remarks = [row.cells[-1] for row in get_model(sized_view).table.rows]
    assert all(remark.severity is CellSeverity.FAULT for remark in remarks)
    assert all("meets the limits" in remark.text for remark in remarks)
    assert sized_view.verdict.text() == "None of these accelerators can serve this demand."
    assert not sized_view.candidate.use.isVisible()
    assert not sized_view.candidate.table.isVisible()


def test_large_count_is_explained(sized_view: SizingView, desk: Desk) -> None:
    desk.edit("Few", demand=replace(USERS, amount=1.0))
    desk.flush()
    sized_view.refresh()
    lines = sized_view.candidate.bound.text().splitlines()
    assert lines[0].startswith("Lower bound from memory bandwidth: ")
    assert any("rounded up to whole" in line for line in lines[1:])


# Applying a result


def test_sentence_is_copied(sized_view: SizingView) -> None:
    QTest.mouseClick(sized_view.candidate.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == sized_view.candidate.title_label.text()
    assert sized_view.candidate.copy.text() == "Copied"


def test_deployment_is_applied_as_one_step(sized_view: SizingView, desk: Desk) -> None:
    result = desk.service.size(desk.scenario)
    before, best = desk.scenario, result.candidates[1]
    assert best.count is not None
    QTest.mouseClick(sized_view.candidate.use, Qt.MouseButton.LeftButton)
    desk.flush()
    choice = desk.scenario.accelerators[1]
    assert choice.count == best.count - best.spare
    assert (choice.tp, choice.pp, choice.dp) == (best.plan.tp, best.plan.pp, best.replicas)
    load = desk.scenario.workload.load
    assert (load.kind, load.request_rate) == (LoadKind.REQUEST_RATE, result.requests_per_s)
    assert desk.answer is not None
    estimate = desk.answer.columns[1].estimate
    assert estimate is not None
    assert estimate.stable
    sized_view.refresh()
    assert not sized_view.candidate.use.isVisible()
    desk.undo_stack.undo()
    assert desk.scenario == before


def test_data_is_copied_and_shown_in_a_table_dialog(page: MemoryPage, sized_view: SizingView) -> None:
    page.copy()
    text = QGuiApplication.clipboard().text()
    assert "Accelerators for this demand: 500 users" in text
    assert "Factor: Users, daily average\t500\t500" in text
    dialog = page.show_table()
    assert isinstance(dialog, QDialog)
    assert dialog.windowTitle().startswith("Accelerators for this demand")
    dialog.close()


def test_model_passes_the_model_tester(sized_view: SizingView, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(get_model(sized_view))  # type: ignore[no-untyped-call]


def test_counts_are_unchanged_during_a_drag(sized_view: SizingView, desk: Desk) -> None:
    before = list_column(sized_view, "Accelerators")
    desk.begin_gesture("load")
    desk.edit("Long", workload=replace(desk.scenario.workload, output_tokens=4000))
    desk.flush()
    sized_view.refresh()
    assert list_column(sized_view, "Accelerators") == before
    desk.end_gesture()
    assert list_column(sized_view, "Accelerators") != before


def test_margins_follow_the_text_size(sized_view: SizingView, theme: Theme, qtbot: QtBot) -> None:
    theme.set_font_percent(150)
    aligned = (sized_view.verdict, sized_view.table, sized_view.form.kind)
    qtbot.waitUntil(lambda: {widget.mapTo(sized_view, QPoint()).x() for widget in aligned} == {theme.px(16)})
