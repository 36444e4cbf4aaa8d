"""The view Buy or wait: inputs that the document keeps, their results, and faults at their fields."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.purchasing.deferral_view import DeferralForm, DeferralView
from gpudesk.desktop.pages.decide.purchasing.plan_view import PlanInputRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.charts.chart_data import copy_data
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.cost import DisplayCurrency, UncertainValue
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.purchase import DeferralVerdict
from gpudesk.report.decision.buy_or_wait import format_deferral_verdict
from gpudesk.report.labels import get_today
from gpudesk.text.messages import InputError
from tests.unit.desktop.pages.decide.views_of import shown

SOON: Mapping[str, AnswerValue] = {"buy_part": "h200-sxm", "next_part": "b200-hgx", "months_to_next": 6.0}


def plan(desk: Desk, plans: Mapping[str, AnswerValue], **answers: AnswerValue) -> None:
    """Say this of the plan, and nothing else."""
    decision = replace(desk.scenario.decision, plans=dict(plans), answers=answers)
    desk.edit("Plan", decision=decision)
    desk.flush()


def settled(view: DeferralView, desk: Desk, qtbot: QtBot) -> DeferralView:
    desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)
    return view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> DeferralView:
    """Return the view on buying an H200 or waiting for a B200, with a launch in three months."""
    plan(desk, SOON, months_to_launch=3.0)
    return settled(shown(DeferralView(desk, theme), desk, qtbot), desk, qtbot)


def type_into(row: PlanInputRow, text: str, place: int = 0) -> None:
    edit = row.edits[place]
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def cells(view: DeferralView) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in view.result.figures.texts()}


# The result


def test_what_is_shown_is_what_the_service_found(view: DeferralView, desk: Desk) -> None:
    found = desk.service.reference_data.buy_or_wait(desk.scenario, 0, get_today())
    names = {part.id: part.name for part in desk.service.catalog.accelerators()}
    assert view.plan_result == found
    assert found.sums is not None
    assert format_deferral_verdict(found, names).startswith("Buy ")
    assert view.result.title.text() == "Buy H200 SXM now"
    assert view.result.document.text() == "buy now (D002-16)"
    assert view.result.computed.text().startswith("most likely wait; waiting saves money in ")
    assert view.result.rules.texts[0].startswith("Buy now: ")
    assert cells(view)["Total saved by waiting"][1] == desk.formatter.estimate(found.sums.saved_usd.likely)
    assert view.result.prices.model().rowCount() == 5
    assert view.result.turns.texts()[2] == ("Release slips by", "8.4 months")
    assert view.result.accessibleName().startswith("Buy H200 SXM now. Published rules: buy now")


def test_without_a_word_the_recommended_part_is_bought(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    view = settled(shown(DeferralView(desk, theme), desk, qtbot), desk, qtbot)
    recommended = desk.service.decide(desk.answer).recommended if desk.answer is not None else None
    assert recommended is not None
    assert view.form.fields["buy_part"].value == recommended.key
    assert view.form.rows["months_to_launch"].edits[0].value == 9.0
    assert "default" in view.form.rows["months_to_launch"].origin.text()
    assert not view.form.rows["months_to_launch"].reset.isVisible()
    assert not view.result.chart.isVisible(), "the announced part has no price"
    assert "Missing purchase price for" in view.result.notes.texts[0]


def test_until_the_plan_is_computed_the_form_says_so(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    form = DeferralForm(theme, desk.formatter.style)
    qtbot.addWidget(form)
    form.show()
    for row in form.rows.values():
        assert {edit.text() for edit in row.edits} == {"—"}
        assert row.origin.text() == "Computing…"
        assert not row.reset.isVisible()
    view = settled(shown(DeferralView(desk, theme), desk, qtbot), desk, qtbot)
    assert "Computing…" not in {row.origin.text() for row in view.form.rows.values()}
    assert view.form.rows["years"].edits[0].text() == "3"


def test_a_contradiction_is_noted(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    assert not view.result.against.isVisible()
    plan(desk, {**SOON, "usd_per_month": 90_000.0}, months_to_launch=12.0, tuned_for="cdna4")
    assert view.plan_result is not None
    cheap = {**SOON, "months_to_next": 0.0, "slip_low": 0.0, "slip_likely": 0.0, "slip_high": 0.0}
    costs = desk.scenario.costs.with_input("price_usd", UncertainValue.exactly(1000.0), "b200-hgx")
    plan(desk, cheap, months_to_launch=3.0)
    desk.edit("Cheap", costs=costs)
    settled(view, desk, qtbot)
    assert (view.plan_result.document, view.plan_result.computed) == (DeferralVerdict.BUY, DeferralVerdict.WAIT)
    assert view.result.against.isVisible()
    assert "the computed costs recommend waiting" in view.result.against.text()


def test_the_chart_says_up_to_which_slip_waiting_pays(view: DeferralView, desk: Desk) -> None:
    chart = view.result.chart
    assert chart.isVisible()
    assert chart.title == "Cost and gain of waiting"
    assert chart.accessibleDescription().startswith("Waiting for B200 SXM pays off if it slips by at most 8.4 months")
    assert [line.slot for line in chart.drawing.lines] == [1, 3], "the slots of H200 and B200"
    assert view.plan_result is not None
    assert chart.drawing.marks[0].x == view.plan_result.turns.slip_months
    data = chart.data(desk.formatter)
    assert data.heads == ("Slip, months", "Cost of waiting", "Gain")
    assert data.rows[0][0] == "0"
    copy_data(chart)
    assert QGuiApplication.clipboard().text().startswith("Slip, months\tCost of waiting")
    value, read = chart.read_at(3.1) or (0.0, None)
    assert (value, read is not None and read.title) == (3.0, "Slip: 3 months")
    assert chart.step(3.0, forward=True, far=False) == 3.25
    assert chart.step(0.0, forward=False, far=True) == 0.0


# Inputs


def test_numbers_are_kept_in_the_document_one_step_each(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    rows = view.form.rows
    type_into(rows["months_to_next"], "7.5")
    type_into(rows["years"], "4")
    type_into(rows["usd_per_month"], "2500")
    type_into(rows["tokens_per_month"], "1000")
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans == {
        **SOON,
        "months_to_next": 7.5,
        "years": 4.0,
        "usd_per_month": 2500.0,
        "tokens_per_month": 1e9,
    }
    assert view.plan_result is not None
    assert view.plan_result.years == 4.0
    assert rows["usd_per_month"].origin.text() == "entered by you"
    assert desk.undo_stack.undoText() == "Output tokens per month"
    for _ in range(4):
        desk.undo_stack.undo()
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans == SOON
    assert rows["years"].edits[0].value == 3.0
    assert rows["years"].origin.text() == "from the cost inputs"


def test_a_typed_number_stays_while_its_plan_is_computed(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_next"]
    type_into(row, "9")
    desk.flush()
    assert view.job.running
    assert row.edits[0].text() == "9"
    settled(view, desk, qtbot)
    assert row.edits[0].text() == "9"


def test_an_empty_field_and_a_link_leave_an_input_to_the_program(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_next"]
    assert row.reset.isVisible()
    type_into(row, "")
    settled(view, desk, qtbot)
    assert "months_to_next" not in desk.scenario.decision.plans
    assert "is already available" in row.origin.text()
    assert row.edits[0].value == 0.0
    type_into(row, "5")
    settled(view, desk, qtbot)
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    settled(view, desk, qtbot)
    assert "months_to_next" not in desk.scenario.decision.plans
    assert not row.reset.isVisible()


def test_months_to_the_launch_are_an_answer_of_the_dialogue(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_launch"]
    assert row.origin.text() == "your answer"
    type_into(row, "14")
    settled(view, desk, qtbot)
    assert desk.scenario.decision.answers == {"months_to_launch": 14.0}
    assert view.result.title.text() == "Wait for B200 SXM"
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    settled(view, desk, qtbot)
    assert desk.scenario.decision.answers == {}


def test_ends_of_the_slip_give_way_to_the_likely_one_alone(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["slip"]
    type_into(row, "8", place=1)
    settled(view, desk, qtbot)
    plans = desk.scenario.decision.plans
    assert (plans["slip_low"], plans["slip_likely"], plans["slip_high"]) == (0.0, 8.0, 8.0)
    type_into(row, "5", place=2)
    assert row.edits[2].fault == "Enter at least the likely slip"
    assert desk.scenario.decision.plans == plans
    QTest.keyClick(row.edits[2], Qt.Key.Key_Escape)
    type_into(row, "9", place=0)
    assert row.edits[0].fault == "Enter at most the likely slip"
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans == SOON


def test_what_cannot_be_is_said_at_the_field(view: DeferralView, desk: Desk) -> None:
    row = view.form.rows["months_to_next"]
    type_into(row, "500")
    assert row.edits[0].fault == "Maximum: 240"
    assert desk.scenario.decision.plans == SOON


def test_parts_are_chosen_and_left_to_the_program(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    parts = view.form.fields
    parts["buy_part"].chosen.emit("mi325x")
    parts["next_part"].chosen.emit("mi455x")
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans["next_part"] == "mi455x"
    assert view.plan_result is not None
    assert (view.plan_result.chosen, view.plan_result.next_part) == ("mi325x", "mi455x")
    parts["next_part"].chosen.emit("none")
    settled(view, desk, qtbot)
    assert view.plan_result.next_part is None
    parts["next_part"].chosen.emit("newest")
    parts["buy_part"].chosen.emit("")
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans == {"months_to_next": 6.0}


def test_the_list_of_next_parts_begins_with_announced_ones(view: DeferralView) -> None:
    field = view.form.fields["next_part"]
    field.open_list()
    assert field.popup is not None
    options = field._options
    assert [option.key for option in options[:2]] == ["newest", "none"]
    assert options[2].group == "Announced"
    assert "h200-sxm" not in [option.key for option in options], "it would be bought now"
    field.popup.hide()


def test_a_next_part_that_is_the_one_to_buy_is_told_at_its_field(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    view.form.fields["buy_part"].chosen.emit("b200-hgx")
    settled(view, desk, qtbot)
    assert view.plan_result is None
    assert not view.result.isVisible()
    assert "is the accelerator to buy now" in view.problem.text()
    assert view.form.fields["next_part"].fault == view.problem.text()
    assert view.copied().startswith("Watch list")
    desk.undo_stack.undo()
    settled(view, desk, qtbot)
    assert view.result.isVisible()
    assert view.form.fields["next_part"].fault == ""


def test_a_part_that_is_not_compared_any_more_is_told(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[1:])
    settled(view, desk, qtbot)
    assert "Your choice h200-sxm is no longer compared" in view.form.origin_labels["buy_part"].text()
    assert view.form.fields["buy_part"].value != "h200-sxm"


def test_what_the_next_part_lacks_can_be_stated_here(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    assert not any(row.isVisible() for row in view.form.costs.values())
    view.form.fields["buy_part"].chosen.emit("mi325x")
    view.form.fields["next_part"].chosen.emit("mi455x")
    settled(view, desk, qtbot)
    price, power = view.form.costs["price_usd"], view.form.costs["accelerator_w"]
    assert price.isVisible()
    assert power.isVisible()
    assert price.edits[0].text() == "—"
    type_into(power, "2300")
    type_into(price, "60000")
    settled(view, desk, qtbot)
    stated = desk.scenario.costs.get_accelerator_inputs("mi455x")
    assert stated == {"price_usd": UncertainValue.exactly(60_000.0), "accelerator_w": UncertainValue.exactly(2300.0)}
    assert view.result.chart.isVisible()
    assert desk.undo_stack.undoText() == "Cost input: Purchase price"
    QTest.mouseClick(price.reset, Qt.MouseButton.LeftButton)
    settled(view, desk, qtbot)
    assert "price_usd" not in desk.scenario.costs.get_accelerator_inputs("mi455x")


def test_amounts_are_typed_in_the_currency_of_the_scenario(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Currency", costs=replace(desk.scenario.costs, currency=DisplayCurrency("EUR", 0.5, "2026-11-01")))
    settled(view, desk, qtbot)
    row = view.form.rows["usd_per_month"]
    assert row.unit.text() == "EUR/month"
    type_into(row, "1000")
    settled(view, desk, qtbot)
    assert desk.scenario.decision.plans["usd_per_month"] == 2000.0
    assert cells(view)["Cost of delay per month"] == ("", "1,000", "", "EUR/month")


# The frame


def test_the_old_plan_stays_while_something_is_dragged(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    before = view.plan_result
    desk.begin_gesture("load")
    desk.edit("Long", workload=replace(desk.scenario.workload, output_tokens=4000))
    desk.flush()
    assert view.job.running
    assert view.plan_result is before
    desk.end_gesture()
    settled(view, desk, qtbot)
    assert view.plan_result != before


def test_nothing_is_left_running_behind_a_hidden_view(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    plan(desk, {**SOON, "years": 5.0}, months_to_launch=3.0)
    view.hide()
    qtbot.waitUntil(lambda: not view.job.running)
    before = view.plan_result
    view.show()
    assert view._evaluated is not None
    view.show_decision(view._evaluated)
    settled(view, desk, qtbot)
    assert view.plan_result != before


def test_work_that_takes_long_is_told(view: DeferralView) -> None:
    view.job.working.emit("Computing the plan", False)
    assert view.working.text() == "Computing the plan…"
    assert view.working.isVisible()
    view.job.working.emit("", False)
    assert not view.working.isVisible()


def test_a_copy_is_the_plan_and_the_watch_list(view: DeferralView) -> None:
    text = view.copied()
    assert text.startswith("Buy H200 SXM now\nPublished rules: buy now (D002-16)\n")
    assert "Total saved by waiting\t" in text
    assert "ROCm attention kernel gap: not passed" in text


@pytest.mark.parametrize("width", [640, 900, 1500])
def test_form_and_result_fit_any_width(view: DeferralView, theme: Theme, width: int, qtbot: QtBot) -> None:
    area = view.window()
    area.resize(width, 800)
    for row in (*view.form.rows.values(), view.form.fields["buy_part"]):
        right = row.mapTo(view, row.rect().topRight()).x()
        assert right <= view.width()

    def beside() -> bool:
        return view.result.mapTo(view, view.result.rect().topLeft()).x() > view.form.width()

    qtbot.waitUntil(lambda: beside() is (width >= 760))
    theme.set_preference(DARK)
    view.grab()


def test_fields_say_what_they_are(view: DeferralView) -> None:
    for row in (*view.form.rows.values(), *view.form.costs.values()):
        for edit in row.edits:
            assert edit.accessibleName()
    slip = [edit.accessibleName() for edit in view.form.rows["slip"].edits]
    assert slip == ["Slip, min", "Slip, likely", "Slip, max"]
    view.focus_first()
    assert view.form.fields["buy_part"].hasFocus()


def test_a_file_of_signals_that_cannot_be_read_is_told(
    view: DeferralView, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpudesk.text.messages import message

    def broken() -> None:
        raise InputError(message("field.missing", "is missing"), "signals.toml")

    monkeypatch.setattr(desk.service.reference_data, "watch_list", broken)
    view.show_watch_list()
    assert view.watch.problem.isVisible()
    assert "signals.toml" in view.watch.problem.text()
