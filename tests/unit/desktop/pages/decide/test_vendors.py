"""The view Two vendors: inputs in the document, the table of plans, and notes."""

from dataclasses import replace

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.purchasing.plan_view import PlanInputRow
from gpudesk.desktop.pages.decide.purchasing.vendors_view import VendorsView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.charts.chart_data import copy_data
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.routing import RoutePlan
from gpudesk.domain.sizing import Demand, DemandKind
from tests.unit.desktop.pages.decide.view_helpers import show_view


def wait_for_plan(view: VendorsView, desk: Desk, qtbot: QtBot) -> VendorsView:
    desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)
    return view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> VendorsView:
    """Return the view with costs of porting from CUDA, shared by a fleet."""
    costs = replace(desk.scenario.costs, runs_on="CUDA").with_input("fleet", UncertainValue.exactly(800.0))
    desk.edit("Platform", costs=costs)
    desk.flush()
    return wait_for_plan(show_view(VendorsView(desk, theme), desk, qtbot), desk, qtbot)


def type_into(row: PlanInputRow, text: str) -> None:
    edit = row.edits[0]
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


# The plans


def test_plans_equal_those_of_the_service(view: VendorsView, desk: Desk) -> None:
    routing = desk.service.reference_data.routing(desk.scenario)
    rows = view.table.table.rows
    assert view.plan_result is not None
    assert view.plan_result.plans == routing.plans
    assert [row.cells[0].text for row in rows] == [
        "All on H200 SXM",
        "All on MI325X",
        "Long on H200 SXM",
        "Long on MI325X",
    ]
    owned_texts = [row.cells[4].text for row in rows]
    likely = [plan.owned_usd.likely for plan in routing.plans if plan.owned_usd is not None]
    assert owned_texts == [f"{usd / 1000:,.{1 if usd < 99_950 else 0}f}" for usd in likely]
    assert [row.cells[5].text == "" for row in rows] == [True, True, False, False]


def test_cheapest_and_tied_plans_are_marked(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    def best(column: int) -> list[tuple[bool, bool]]:
        return [(row.cells[column].is_best, row.cells[column].mark == "overlap") for row in view.table.table.rows]

    high_price = desk.scenario.costs.with_input("price_usd", UncertainValue.exactly(32_000.0), "mi325x")
    desk.edit("Price", costs=high_price)
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result is not None
    assert view.plan_result.owned is not None
    level = view.plan_result.owned.level
    assert level
    are_marked = [each == (True, True) for each in best(4)]
    assert are_marked == [plan in (*level, view.plan_result.owned.cheapest) for plan in RoutePlan]
    assert view.verdict.text().startswith("Owned: all 4 plans are too close to call. Rented: ")
    assert "too close to call with the cheapest" in view.table.table.rows[are_marked.index(True)].cells[4].sentence
    low_price = desk.scenario.costs.with_input("price_usd", UncertainValue.exactly(8_000.0), "mi325x")
    desk.edit("Price", costs=low_price)
    wait_for_plan(view, desk, qtbot)
    assert best(4) == [(False, False), (True, False), (False, False), (False, False)]
    assert view.verdict.text().startswith("Owned: all on MI325X is cheapest. Rented: ")


def test_extra_cost_of_a_split_includes_software(view: VendorsView) -> None:
    assert len(view.beyond.texts) == 2
    assert view.beyond.texts[0].startswith("Owned: Long on H200 SXM, short on MI325X: ")
    assert "compared with all on MI325X. Software: " in view.beyond.texts[0]


def test_shared_pool_has_its_formula(view: VendorsView) -> None:
    loss_text, formula = view.shared.texts
    assert "loses 4%" in loss_text.replace("\N{NO-BREAK SPACE}", " ")
    assert formula.startswith("1 − 2 × slower replica ÷")
    assert any("A router sends each request to the pool for its type" in note for note in view.notes.texts)


def test_disagreeing_documents_have_dates(view: VendorsView) -> None:
    texts = view.mixing.texts
    assert [text.partition("(")[2][:7] for text in texts[:3]] == ["2024-02", "2024-02", "2026-03"]
    assert texts[3] == "Dispute: separate pools with routing work; one mixed pool does not"


def test_cells_have_accessible_sentences(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    free = tuple(replace(choice, count=None) for choice in desk.scenario.accelerators)
    demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=3000.0, tpot_ms=80.0)
    desk.edit("Demand", demand=demand, accelerators=free)
    wait_for_plan(view, desk, qtbot)
    sentences = [
        text for row in view.table.table.rows for text in (row.sentence, *(cell.sentence for cell in row.cells))
    ]
    assert sentences[0] == "All on H200 SXM"
    assert any(each.endswith(" spare") for each in sentences)
    assert any("spare" in each for each in sentences)
    assert any("not applicable" in each for each in sentences)
    assert not view.form.rows["requests_per_s"].edits[0].isEnabled()
    assert "peak demand of the scenario" in view.form.rows["requests_per_s"].origin.text()
    view.table.grab()


def test_impossible_plan_has_a_reason(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    view.form.fields["other_model"].chosen.emit("deepseek-v3")
    wait_for_plan(view, desk, qtbot)
    failed = [row for row in view.table.table.rows if row.cells[0].icon]
    assert failed
    assert failed[0].cells[1].text == "—"
    assert failed[0].sentence.endswith(failed[0].cells[0].detail)
    view.table.grab()


def test_model_passes_the_model_tester(view: VendorsView, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(view.table.model())  # type: ignore[no-untyped-call]


# Inputs


def test_inputs_are_saved_as_one_step_each(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    rows = view.form.rows
    assert rows["long_share"].edits[0].value == 20.0
    assert rows["long_input_tokens"].edits[0].text() == "16,000"
    type_into(rows["long_share"], "50")
    type_into(rows["long_input_tokens"], "9000")
    type_into(rows["requests_per_s"], "12.5")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == {"long_share": 0.5, "long_input_tokens": 9000, "requests_per_s": 12.5}
    assert isinstance(desk.scenario.decision.plans["long_input_tokens"], int)
    assert view.mix.text().startswith("12.5 requests/s (entered by you): 6.25/s short")
    assert rows["requests_per_s"].reset.isVisible()
    type_into(rows["requests_per_s"], "")
    wait_for_plan(view, desk, qtbot)
    assert "requests_per_s" not in desk.scenario.decision.plans
    assert rows["requests_per_s"].origin.text().startswith("capacity of the first column at its load")
    assert desk.undo_stack.undoText() == "Total request rate"
    for _ in range(4):
        desk.undo_stack.undo()
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == {}
    assert rows["long_share"].edits[0].value == 20.0


@pytest.mark.parametrize(
    ("name", "typed", "expected_fault"),
    [
        ("long_share", "120", "Maximum: 100"),
        ("long_input_tokens", "1.5", "Enter a whole number"),
        ("requests_per_s", "0", "Minimum: 0.0001"),
    ],
)
def test_invalid_input_is_reported_at_its_field(
    view: VendorsView, desk: Desk, name: str, typed: str, expected_fault: str
) -> None:
    type_into(view.form.rows[name], typed)
    assert view.form.rows[name].edits[0].fault.startswith(expected_fault)
    assert desk.scenario.decision.plans == {}


def test_accelerators_are_swapped_rather_than_repeated(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    first, second = view.form.fields["vendor_a"], view.form.fields["vendor_b"]
    assert (first.value, second.value) == ("h200-sxm", "mi325x")
    first.chosen.emit("b200-hgx")
    wait_for_plan(view, desk, qtbot)
    assert (first.value, second.value) == ("b200-hgx", "mi325x")
    second.chosen.emit("b200-hgx")
    wait_for_plan(view, desk, qtbot)
    assert (first.value, second.value) == ("mi325x", "b200-hgx")
    assert desk.scenario.decision.plans == {"vendor_a": "mi325x", "vendor_b": "b200-hgx"}
    assert view.plan_result is not None
    assert view.plan_result.keys == ("mi325x", "b200-hgx")


def test_second_model_has_request_type_and_precision(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    fields = view.form.fields
    assert not fields["other_model_kind"].isVisible()
    fields["other_model"].chosen.emit("llama-3.1-8b")
    wait_for_plan(view, desk, qtbot)
    assert fields["other_model_kind"].isVisible()
    assert "by Llama 3.1 8B" in view.mix.text()
    fields["other_model_kind"].chosen.emit("short")
    fields["other_model_weights"].chosen.emit("fp16")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == {
        "other_model": "llama-3.1-8b",
        "other_model_kind": "short",
        "other_model_weights": "fp16",
    }
    fields["other_model_kind"].chosen.emit("long")
    fields["other_model_weights"].chosen.emit("")
    fields["other_model"].chosen.emit("")
    assert desk.scenario.decision.plans == {}


def test_unknown_model_is_reported_at_its_field(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    decision = replace(desk.scenario.decision, plans={"other_model": "llama-9"})
    desk.edit("Unknown", decision=decision)
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result is None
    assert not view.result.isVisible()
    assert view.form.fields["other_model"].fault == view.problem.text()
    assert view.problem.text().startswith("Unknown model 'llama-9'")


def test_single_accelerator_cannot_be_split(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("One", accelerators=(AcceleratorChoice("h200-sxm", count=1),))
    wait_for_plan(view, desk, qtbot)
    assert not view.form.isEnabled()
    assert not view.result.isVisible()
    assert view.problem.text().startswith("Only one accelerator is selected")
    assert view.mixing.isVisible()
    desk.undo_stack.undo()
    wait_for_plan(view, desk, qtbot)
    assert view.form.isEnabled()
    assert view.result.isVisible()
    assert not view.problem.isVisible()


# The frame


def test_copy_has_plans_and_notes(view: VendorsView, desk: Desk) -> None:
    text = view.copied()
    assert text.startswith("Plan\tH200 SXM\tMI325X\tTotal\tOwned\tOwned, range\t"), "none is spare"
    assert view.verdict.text().split(". ")[0] in text
    assert "Dispute: separate pools" in text
    copy_data(view)
    assert "All on MI325X\t" in QGuiApplication.clipboard().text()
    assert view.data(desk.formatter).title == "Plans for two accelerators, thousand USD"


def test_long_job_is_shown(view: VendorsView) -> None:
    view.job.working.emit("Computing the plan", False)
    assert view.working.isVisible()
    assert view.working.text() == "Computing the plan…"
    view.job.working.emit("", False)
    assert not view.working.isVisible()


def test_hidden_view_stops_its_job(view: VendorsView, desk: Desk, qtbot: QtBot) -> None:
    type_into(view.form.rows["long_share"], "40")
    desk.flush()
    view.hide()
    qtbot.waitUntil(lambda: not view.job.running)


def test_deleted_view_waits_for_its_job(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    for hidden in (True, False):
        view = show_view(VendorsView(desk, theme), desk, qtbot)
        type_into(view.form.rows["long_share"], "30" if hidden else "31")
        desk.flush()
        assert view.job.running
        area = view.window()
        if hidden:
            view.hide()
        area.close()
        desk.answered.disconnect()
        shiboken6.delete(area)


@pytest.mark.parametrize(("width", "columns"), [(560, 2), (900, 3), (1500, 3)])
def test_form_fits_any_width(view: VendorsView, theme: Theme, width: int, columns: int) -> None:
    area = view.window()
    area.resize(width, 700)
    assert view.form._columns == columns
    for cell in view.form._cells.values():
        assert cell.mapTo(view, cell.rect().topRight()).x() <= view.width()
    theme.set_preference(DARK)
    view.grab()


def test_keyboard_reaches_fields_and_plans(view: VendorsView) -> None:
    view.focus_first()
    assert view.form.fields["vendor_a"].hasFocus()
    view.table.setFocus()
    view.table.setCurrentIndex(view.table.model().index(0, 0))
    QTest.keyClick(view.table, Qt.Key.Key_Down)
    assert view.table.currentIndex().row() == 1
    assert view.table.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole) == "All on MI325X"
