"""The view Buy or wait: inputs in the document, results, and faults at their fields."""

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
from tests.unit.desktop.pages.decide.view_helpers import show_view

SOON: Mapping[str, AnswerValue] = {"buy_part": "h200-sxm", "next_part": "b200-hgx", "months_to_next": 6.0}


def set_plan(desk: Desk, plans: Mapping[str, AnswerValue], **answers: AnswerValue) -> None:
    """Replace plan inputs and answers."""
    decision = replace(desk.scenario.decision, plans=dict(plans), answers=answers)
    desk.edit("Plan", decision=decision)
    desk.flush()


def wait_for_plan(view: DeferralView, desk: Desk, qtbot: QtBot) -> DeferralView:
    desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)
    return view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> DeferralView:
    """Return the view on buying an H200 or waiting for a B200, with a launch in three months."""
    set_plan(desk, SOON, months_to_launch=3.0)
    return wait_for_plan(show_view(DeferralView(desk, theme), desk, qtbot), desk, qtbot)


def type_into(row: PlanInputRow, text: str, position: int = 0) -> None:
    edit = row.edits[position]
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def map_figures(view: DeferralView) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in view.result.figures.texts()}


# The result


def test_result_is_that_of_the_service(view: DeferralView, desk: Desk) -> None:
    plan_result = desk.service.reference_data.buy_or_wait(desk.scenario, 0, get_today())
    names = {accelerator.id: accelerator.name for accelerator in desk.service.catalog.accelerators()}
    assert view.plan_result == plan_result
    assert plan_result.sums is not None
    assert format_deferral_verdict(plan_result, names).startswith("Buy ")
    assert view.result.title.text() == "Buy H200 SXM now"
    assert view.result.document.text() == "buy now (D002-16)"
    assert view.result.computed.text().startswith("most likely wait; waiting saves money in ")
    assert view.result.rules.texts[0].startswith("Buy now: ")
    assert map_figures(view)["Total saved by waiting"][1] == desk.formatter.estimate(plan_result.sums.saved_usd.likely)
    assert view.result.prices.model().rowCount() == 5
    assert view.result.turns.texts()[2] == ("Release slips by", "8.6 months")
    assert view.result.accessibleName().startswith("Buy H200 SXM now. Published rules: buy now")


def test_default_purchase_is_the_recommended_accelerator(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    view = wait_for_plan(show_view(DeferralView(desk, theme), desk, qtbot), desk, qtbot)
    recommended = desk.service.decide(desk.answer).recommended if desk.answer is not None else None
    assert recommended is not None
    assert view.form.fields["buy_part"].value == recommended.key
    assert view.form.rows["months_to_launch"].edits[0].value == 9.0
    assert "default" in view.form.rows["months_to_launch"].origin.text()
    assert not view.form.rows["months_to_launch"].reset.isVisible()
    assert not view.result.chart.isVisible(), "the announced part has no price"
    assert "Missing purchase price for" in view.result.notes.texts[0]


def test_form_shows_that_the_plan_is_being_computed(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    form = DeferralForm(theme, desk.formatter.style)
    qtbot.addWidget(form)
    form.show()
    for row in form.rows.values():
        assert {edit.text() for edit in row.edits} == {"—"}
        assert row.origin.text() == "Computing…"
        assert not row.reset.isVisible()
    view = wait_for_plan(show_view(DeferralView(desk, theme), desk, qtbot), desk, qtbot)
    assert "Computing…" not in {row.origin.text() for row in view.form.rows.values()}
    assert view.form.rows["years"].edits[0].text() == "3"


def test_contradiction_of_rules_and_costs_is_noted(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    assert not view.result.against.isVisible()
    set_plan(desk, {**SOON, "usd_per_month": 90_000.0}, months_to_launch=12.0, tuned_for="cdna4")
    assert view.plan_result is not None
    cheap = {**SOON, "months_to_next": 0.0, "slip_low": 0.0, "slip_likely": 0.0, "slip_high": 0.0}
    costs = desk.scenario.costs.with_input("price_usd", UncertainValue.exactly(1000.0), "b200-hgx")
    set_plan(desk, cheap, months_to_launch=3.0)
    desk.edit("Cheap", costs=costs)
    wait_for_plan(view, desk, qtbot)
    assert (view.plan_result.document, view.plan_result.computed) == (DeferralVerdict.BUY, DeferralVerdict.WAIT)
    assert view.result.against.isVisible()
    assert "the computed costs recommend waiting" in view.result.against.text()


def test_chart_has_the_break_even_slip(view: DeferralView, desk: Desk) -> None:
    chart = view.result.chart
    assert chart.isVisible()
    assert chart.title == "Cost and gain of waiting"
    assert chart.accessibleDescription().startswith("Waiting for B200 SXM pays off if it slips by at most 8.6 months")
    assert [line.slot for line in chart.drawing.lines] == [1, 3], "the slots of H200 and B200"
    assert view.plan_result is not None
    assert chart.drawing.marks[0].x == view.plan_result.turns.slip_months
    data = chart.data(desk.formatter)
    assert data.heads == ("Slip, months", "Cost of waiting", "Gain")
    assert data.rows[0][0] == "0"
    copy_data(chart)
    assert QGuiApplication.clipboard().text().startswith("Slip, months\tCost of waiting")
    value, readout = chart.read_at(3.1) or (0.0, None)
    assert (value, readout is not None and readout.title) == (3.0, "Slip: 3 months")
    assert chart.step(3.0, forward=True, far=False) == 3.25
    assert chart.step(0.0, forward=False, far=True) == 0.0


# Inputs


def test_numbers_are_saved_as_one_step_each(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    rows = view.form.rows
    type_into(rows["months_to_next"], "7.5")
    type_into(rows["years"], "4")
    type_into(rows["usd_per_month"], "2500")
    type_into(rows["tokens_per_month"], "1000")
    wait_for_plan(view, desk, qtbot)
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
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == SOON
    assert rows["years"].edits[0].value == 3.0
    assert rows["years"].origin.text() == "from the cost inputs"


def test_typed_number_stays_while_its_plan_is_computed(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_next"]
    type_into(row, "9")
    desk.flush()
    assert view.job.running
    assert row.edits[0].text() == "9"
    wait_for_plan(view, desk, qtbot)
    assert row.edits[0].text() == "9"


def test_empty_field_and_reset_link_restore_the_default(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_next"]
    assert row.reset.isVisible()
    type_into(row, "")
    wait_for_plan(view, desk, qtbot)
    assert "months_to_next" not in desk.scenario.decision.plans
    assert "is already available" in row.origin.text()
    assert row.edits[0].value == 0.0
    type_into(row, "5")
    wait_for_plan(view, desk, qtbot)
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    wait_for_plan(view, desk, qtbot)
    assert "months_to_next" not in desk.scenario.decision.plans
    assert not row.reset.isVisible()


def test_months_to_launch_are_an_answer(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["months_to_launch"]
    assert row.origin.text() == "your answer"
    type_into(row, "14")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.answers == {"months_to_launch": 14.0}
    assert view.result.title.text() == "Wait for B200 SXM"
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.answers == {}


def test_slip_bounds_follow_only_the_likely_value(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    row = view.form.rows["slip"]
    type_into(row, "8", position=1)
    wait_for_plan(view, desk, qtbot)
    plans = desk.scenario.decision.plans
    assert (plans["slip_low"], plans["slip_likely"], plans["slip_high"]) == (0.0, 8.0, 8.0)
    type_into(row, "5", position=2)
    assert row.edits[2].fault == "Enter at least the likely slip"
    assert desk.scenario.decision.plans == plans
    QTest.keyClick(row.edits[2], Qt.Key.Key_Escape)
    type_into(row, "9", position=0)
    assert row.edits[0].fault == "Enter at most the likely slip"
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == SOON


def test_invalid_input_is_reported_at_its_field(view: DeferralView, desk: Desk) -> None:
    row = view.form.rows["months_to_next"]
    type_into(row, "500")
    assert row.edits[0].fault == "Maximum: 240"
    assert desk.scenario.decision.plans == SOON


def test_accelerators_are_chosen_and_reset(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    fields = view.form.fields
    fields["buy_part"].chosen.emit("mi325x")
    fields["next_part"].chosen.emit("mi455x")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans["next_part"] == "mi455x"
    assert view.plan_result is not None
    assert (view.plan_result.chosen, view.plan_result.next_part) == ("mi325x", "mi455x")
    fields["next_part"].chosen.emit("none")
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result.next_part is None
    fields["next_part"].chosen.emit("newest")
    fields["buy_part"].chosen.emit("")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans == {"months_to_next": 6.0}


def test_next_accelerators_list_announced_ones_first(view: DeferralView) -> None:
    field = view.form.fields["next_part"]
    field.open_list()
    assert field.popup is not None
    options = field._options
    assert [option.key for option in options[:2]] == ["newest", "none"]
    assert options[2].group == "Announced"
    assert "h200-sxm" not in [option.key for option in options], "the one to buy now is no option"
    field.popup.hide()


def test_same_accelerator_twice_is_reported(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    view.form.fields["buy_part"].chosen.emit("b200-hgx")
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result is None
    assert not view.result.isVisible()
    assert "is the accelerator to buy now" in view.problem.text()
    assert view.form.fields["next_part"].fault == view.problem.text()
    assert view.copied().startswith("Watch list")
    desk.undo_stack.undo()
    wait_for_plan(view, desk, qtbot)
    assert view.result.isVisible()
    assert view.form.fields["next_part"].fault == ""


def test_removed_accelerator_is_reported(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[1:])
    wait_for_plan(view, desk, qtbot)
    assert "Your choice h200-sxm is no longer compared" in view.form.origin_labels["buy_part"].text()
    assert view.form.fields["buy_part"].value != "h200-sxm"


def test_missing_costs_of_the_next_accelerator_can_be_entered(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    assert not any(row.isVisible() for row in view.form.costs.values())
    view.form.fields["buy_part"].chosen.emit("mi325x")
    view.form.fields["next_part"].chosen.emit("mi455x")
    wait_for_plan(view, desk, qtbot)
    price, power = view.form.costs["price_usd"], view.form.costs["accelerator_w"]
    assert price.isVisible()
    assert power.isVisible()
    assert price.edits[0].text() == "—"
    type_into(power, "2300")
    type_into(price, "60000")
    wait_for_plan(view, desk, qtbot)
    user_inputs = desk.scenario.costs.get_accelerator_inputs("mi455x")
    assert user_inputs == {
        "price_usd": UncertainValue.exactly(60_000.0),
        "accelerator_w": UncertainValue.exactly(2300.0),
    }
    assert view.result.chart.isVisible()
    assert desk.undo_stack.undoText() == "Cost input: Purchase price"
    QTest.mouseClick(price.reset, Qt.MouseButton.LeftButton)
    wait_for_plan(view, desk, qtbot)
    assert "price_usd" not in desk.scenario.costs.get_accelerator_inputs("mi455x")


def test_amounts_are_typed_in_the_currency_of_the_scenario(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Currency", costs=replace(desk.scenario.costs, currency=DisplayCurrency("EUR", 0.5, "2026-11-01")))
    wait_for_plan(view, desk, qtbot)
    row = view.form.rows["usd_per_month"]
    assert row.unit.text() == "EUR/month"
    type_into(row, "1000")
    wait_for_plan(view, desk, qtbot)
    assert desk.scenario.decision.plans["usd_per_month"] == 2000.0
    assert map_figures(view)["Cost of delay per month"] == ("", "1,000", "", "EUR/month")


# The frame


def test_plan_is_unchanged_during_a_drag(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    before = view.plan_result
    desk.begin_gesture("load")
    desk.edit("Long", workload=replace(desk.scenario.workload, output_tokens=4000))
    desk.flush()
    assert view.job.running
    assert view.plan_result is before
    desk.end_gesture()
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result != before


def test_hidden_view_stops_its_job(view: DeferralView, desk: Desk, qtbot: QtBot) -> None:
    set_plan(desk, {**SOON, "years": 5.0}, months_to_launch=3.0)
    view.hide()
    qtbot.waitUntil(lambda: not view.job.running)
    before = view.plan_result
    view.show()
    assert view._evaluated is not None
    view.show_decision(view._evaluated)
    wait_for_plan(view, desk, qtbot)
    assert view.plan_result != before


def test_long_job_is_shown(view: DeferralView) -> None:
    view.job.working.emit("Computing the plan", False)
    assert view.working.text() == "Computing the plan…"
    assert view.working.isVisible()
    view.job.working.emit("", False)
    assert not view.working.isVisible()


def test_copy_has_the_plan_and_the_watch_list(view: DeferralView) -> None:
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


def test_fields_are_named(view: DeferralView) -> None:
    for row in (*view.form.rows.values(), *view.form.costs.values()):
        for edit in row.edits:
            assert edit.accessibleName()
    slip = [edit.accessibleName() for edit in view.form.rows["slip"].edits]
    assert slip == ["Slip, min", "Slip, likely", "Slip, max"]
    view.focus_first()
    assert view.form.fields["buy_part"].hasFocus()


def test_unreadable_watch_list_is_reported(view: DeferralView, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpudesk.text.messages import message

    def raise_missing() -> None:
        raise InputError(message("field.missing", "is missing"), "signals.toml")

    monkeypatch.setattr(desk.service.reference_data, "watch_list", raise_missing)
    view.show_watch_list()
    assert view.watch.problem.isVisible()
    assert "signals.toml" in view.watch.problem.text()
