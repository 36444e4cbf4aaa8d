"""The view Recommendation: verdict, figures, reasons, exclusions, and signals to the page."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import SelectionKind, select_cost, select_figure, select_trace_row
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.decision import DecisionVerdict, WayOutKind
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.report.costs import OWNED
from gpudesk.report.decision.recommendation import list_arguments_against, list_candidate_lines
from gpudesk.report.decision.rules import describe_reason
from gpudesk.report.decision.verdict import describe_verdict_reason, format_verdict
from gpudesk.text.formatting import IntervalEstimate
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated, set_answers, show_view

#: Answers with a clear winner, with a close call, and with no accelerator left.
CLEAR = {"priority": "cost", "acquisition": "own", "current_platform": "CUDA"}
CLOSE = {"priority": "speed"}
NONE_LEFT = {"site": "pcie"}


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> ResultView:
    """Return the view on four accelerators without answers."""
    return show_view(ResultView(desk, theme), desk, qtbot)


def test_verdict_has_a_reason(view: ResultView, desk: Desk) -> None:
    set_answers(desk, **CLEAR)
    evaluated = get_evaluated(desk)
    assert evaluated.decision.verdict is DecisionVerdict.WINNER
    block = view.verdict
    assert block.title.text() == format_verdict(evaluated.decision, evaluated.names, evaluated.formatter)
    assert block.reason.text() == describe_verdict_reason(evaluated.decision, evaluated.names, evaluated.formatter)
    assert block.odds_title.text() == "Odds of being the cheapest"
    assert block.accessibleName().startswith(block.title.text())
    assert block.bars.accessibleName() in block.accessibleName()


def test_odds_are_listed_best_first(view: ResultView, desk: Desk) -> None:
    set_answers(desk, **CLEAR)
    evaluated = get_evaluated(desk)
    lines = view.verdict.bars.lines
    assert lines == list_candidate_lines(evaluated.decision, evaluated.names, evaluated.formatter)
    assert sum(each.odds for each in lines) == pytest.approx(1.0)
    names = view.verdict.bars.accessibleName()
    for each in lines:
        assert f"{each.deployment}, {each.value}, {each.odds_text}" in names
    view.verdict.bars.grab()


def test_single_candidate_has_no_odds(view: ResultView, desk: Desk) -> None:
    assert not view.verdict._odds.isHidden()
    desk.edit("One accelerator", accelerators=(AcceleratorChoice("h200-sxm", 1),))
    desk.flush()
    view.show_decision(get_evaluated(desk))
    assert view.verdict.bars.lines == ()
    assert view.verdict._odds.isHidden()
    assert "Odds" not in view.verdict.accessibleName()


def test_close_call_suggests_measurements(view: ResultView, desk: Desk) -> None:
    set_answers(desk, **CLOSE)
    evaluated = get_evaluated(desk)
    assert evaluated.decision.verdict is DecisionVerdict.OPEN
    assert evaluated.decision.recommended is not None
    assert evaluated.decision.runner_up is not None
    rows = view.delivers.model()
    names = [rows.index(row, 0).data() for row in range(rows.rowCount())]
    assert names == [evaluated.names[evaluated.decision.recommended.key], evaluated.names[evaluated.decision.runner_up]]
    assert view.pilot.isVisible()
    assert view.pilot.texts[0].startswith("Run 640 of your requests")
    set_answers(desk, **CLEAR)
    assert not view.pilot.isVisible()


def test_arguments_for_and_against_are_listed(view: ResultView, desk: Desk) -> None:
    set_answers(desk, priority="cost", acquisition="own")
    evaluated = get_evaluated(desk)
    reasons = tuple(describe_reason(each, evaluated.names, evaluated.formatter) for each in evaluated.decision.reasons)
    assert view.reasons.texts == reasons
    against = list_arguments_against(evaluated.decision, evaluated.names, evaluated.formatter, evaluated.costs)
    assert view.against.texts == tuple(against)
    assert view.reasons.texts
    assert view.against.texts


def test_missing_price_has_a_break_even_and_a_link(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    set_answers(desk, priority="cost", acquisition="own")
    assert view.unknown.texts[0].startswith("MI355X has no purchase price; it would be the cheapest below $")
    (link,) = view.unknown.links
    assert link.accessibleName().startswith("Enter price: MI355X")
    with qtbot.waitSignal(view.page_requested) as signal:
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert signal.args == ["cost", "mi355x"]
    set_answers(desk, priority="cost", acquisition="rent")
    assert not view.unknown.isVisible()


def test_work_out_of_scope_has_memory_estimates(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    set_answers(desk, work="media")
    assert all(" image and video models fit" in text for text in view.unknown.texts[:-1])
    assert view.unknown.links == []
    assert view.unknown.width() <= 900, "long lists of models wrap"
    set_answers(desk, work="fine_tuning")
    assert [text.partition(":")[0] for text in view.unknown.texts] == ["Full fine-tuning", "LoRA", "QLoRA", "Assumed"]
    assert view.verdict.title.text() == "No recommendation for this kind of work"
    assert not view.verdict.bars.isVisible()
    assert not view.delivers.isVisible()
    assert not view.flips.isVisible()
    (link,) = view.unknown.links
    with qtbot.waitSignal(view.page_requested) as signal:
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert signal.args == ["memory", ""]


def test_figures_equal_those_of_the_answer(view: ResultView, desk: Desk) -> None:
    evaluated = get_evaluated(desk)
    assert evaluated.decision.recommended is not None
    position = evaluated.place(evaluated.decision.recommended.key)
    estimate = evaluated.answer.columns[position].estimate
    assert estimate is not None
    model = view.delivers.model()
    texts = [model.index(0, column).data() for column in range(model.columnCount())]
    assert texts[1] == "× 1"
    assert texts[2] == evaluated.formatter.estimate_with_interval(estimate.output_tokens_per_s)
    assert texts[3] == evaluated.formatter.estimate_with_interval(estimate.ttft_ms)
    value, payment = evaluated.decision.candidates[position].value, evaluated.decision.candidates[position].payment
    assert value is not None
    assert texts[4].startswith(f"{value.value:.2f} (")
    assert texts[4].endswith(f", {payment}")


def test_figures_of_all_that_a_close_verdict_names_are_shown(view: ResultView, desk: Desk) -> None:
    set_answers(desk, acquisition="rent")
    rows = view.delivers.model()
    names = [rows.index(row, 0).data() for row in range(rows.rowCount())]
    assert len(names) == 3
    assert all(name in view.verdict.title.text() for name in names)


def test_figures_are_those_of_the_recommended_counts(view: ResultView, desk: Desk) -> None:
    """Without counts, columns show the smallest that fit, and the decision the cheapest that carry the load."""
    desk.edit("Open", accelerators=tuple(replace(each, count=None) for each in desk.scenario.accelerators))
    desk.edit("Load", workload=replace(desk.scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=256)))
    desk.flush()
    evaluated, model = get_evaluated(desk), view.delivers.model()
    leader, second = evaluated.decision.recommended, evaluated.decision.runner_up
    assert leader is not None
    assert second is not None
    positions = [evaluated.place(key) for key in (leader.key, second)]
    sized_positions = [position for position in positions if evaluated.decision.candidates[position].count != 1]
    assert sized_positions
    for row, position in enumerate(positions):
        candidate, rate = evaluated.decision.candidates[position], evaluated.decision.parts[position]["tokens_per_s"]
        assert isinstance(rate, IntervalEstimate)
        assert model.index(row, 1).data().partition(",")[0] == f"× {candidate.count}"
        assert model.index(row, 2).data() == evaluated.formatter.estimate_with_interval(rate)
    before = desk.selection
    view.delivers.chosen.emit(evaluated.keys[sized_positions[0]], "ttft_ms")
    assert desk.selection == before, "the panel explains the columns"


def test_click_selects_the_figure(view: ResultView, desk: Desk) -> None:
    view.delivers.chosen.emit("b200-hgx", "ttft_ms")
    assert desk.selection == select_figure("b200-hgx", "ttft_ms")
    view.delivers.chosen.emit("b200-hgx", "usd_per_million")
    assert desk.selection == select_cost("b200-hgx", OWNED)


def test_each_exclusion_has_one_reason(view: ResultView, desk: Desk) -> None:
    assert not view.excluded.isVisible()
    set_answers(desk, ttft_limit_ms=600.0)
    texts = view.excluded.texts
    assert len(texts) == len({each.key for each in get_evaluated(desk).decision.exclusions}) > 0
    assert any(text.startswith("H200 SXM: TTFT limit; time to first token") and "1,140" in text for text in texts)


def test_click_on_an_alternative_applies_it_as_one_step(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Too big", model="llama-3.1-405b", accelerators=desk.scenario.accelerators)
    set_answers(desk, shape="one")
    decision = get_evaluated(desk).decision
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert view.verdict.title.text() == "No accelerator meets every limit"
    assert not view.verdict.bars.isVisible()
    assert not view.delivers.isVisible()
    assert view.flips.title.text() == "Changes that help"
    assert decision.ways_out == (), "the search is a job"
    try_ways_out(view, desk, qtbot)


def test_low_budget_offers_a_larger_one_or_renting(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    set_answers(desk, acquisition="own", budget_usd=1_000.0)
    assert view.verdict.title.text() == "No accelerator meets every limit"
    assert "Purchase price unknown: MI355X" in view.verdict.reason.text()
    qtbot.waitUntil(lambda: bool(view.ways_out.boxes))
    assert [box.change_text.change for box in view.ways_out.boxes] == ["A larger budget", "Renting"]
    try_ways_out(view, desk, qtbot)


def try_ways_out(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(get_evaluated(desk).decision.ways_out))
    decision = get_evaluated(desk).decision
    assert "Alternatives: " in view.verdict.reason.text() or decision.verdict is not DecisionVerdict.NONE_FITS
    assert len(view.ways_out.boxes) == len(decision.ways_out) > 0
    before, steps = desk.scenario, desk.undo_stack.count()
    for position, way in enumerate(decision.ways_out):
        QTest.mouseClick(view.ways_out.boxes[position], Qt.MouseButton.LeftButton)
        desk.flush()
        assert get_evaluated(desk).decision.recommended is not None
        if way.kind is WayOutKind.COUNT:
            assert {choice.count for choice in desk.scenario.accelerators} == {None}
        assert desk.undo_stack.count() == steps + 1
        assert not view.ways_out.isVisible()
        desk.undo_stack.undo()
        desk.flush()
        assert desk.scenario == before
        qtbot.waitUntil(lambda: bool(get_evaluated(desk).decision.ways_out))


def test_conflicts_name_both_rules_with_their_dates(view: ResultView, desk: Desk) -> None:
    set_answers(desk, vendor_policy="shared_pool")
    assert get_evaluated(desk).decision.conflicts
    text = view.trace.conflicts.texts[0]
    assert "(D000-21, MI325X vs H200, 2026-03)" in text
    assert " vs. " in text
    assert "2024-02)" in text
    assert not view.trace.conflicts.isVisible()
    view.show_rules(is_visible=True)
    assert view.trace.conflicts.isVisible()


def test_advice_is_listed(view: ResultView, desk: Desk) -> None:
    set_answers(desk, **CLOSE, months_to_launch=3.0)
    decision = get_evaluated(desk).decision
    assert view.advice.texts == tuple(each.text for each in decision.advice)
    assert view.advice.texts == ("Test both platforms with your own load.",)
    # The estimates and the pilot follow the advice of other rules already.
    assert {"D003-24", "D004-11"} <= {line.rule.id for line in decision.trace}


def test_answered_questions_are_counted(view: ResultView, desk: Desk) -> None:
    set_answers(desk, priority="cost", team="rocm")
    assert view.answered.text().startswith("You have answered 2 of 25")


def test_buttons_emit_requests_to_the_page(view: ResultView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.view_requested) as signal:
        QTest.mouseClick(view.change, Qt.MouseButton.LeftButton)
    assert signal.args == ["questions"]
    with qtbot.waitSignal(view.sheet_requested):
        QTest.mouseClick(view.print_sheet, Qt.MouseButton.LeftButton)


def test_copy_has_rules_only_when_visible(view: ResultView, desk: Desk) -> None:
    set_answers(desk, **CLEAR)
    text = view.copied()
    assert text.startswith(view.verdict.title.text())
    for each in (*view.reasons.texts, *view.against.texts, *view.advice.texts):
        assert each.rstrip(".") in text
    assert "Group\tRule" not in text
    view.show_rules(is_visible=True)
    assert "Group\tRule\tIDs\tAnswer\tWeight\tH200 SXM" in view.copied()


def test_rules_are_hidden_by_default(view: ResultView, desk: Desk) -> None:
    assert not view.trace.isVisible()
    QTest.mouseClick(view.rules_link, Qt.MouseButton.LeftButton)
    assert view.trace.isVisible()
    assert view.rules_link.text() == "Hide all rules"
    groups = [line.title for line in view.trace.model.table.groups]
    assert groups == [each for each in ("Decisive", "Arguments", "No effect") if each in groups]
    QTest.mouseClick(view.rules_link, Qt.MouseButton.LeftButton)
    assert not view.trace.isVisible()


def test_focus_first_focuses_the_first_control(view: ResultView) -> None:
    view.focus_first()
    assert view.change.hasFocus()


def test_lists_are_stacked_in_a_narrow_view(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    view = show_view(ResultView(desk, theme), desk, qtbot, width=600)
    assert view._why.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict._row.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict.bars.mapTo(view, QPoint(0, 0)).y() > view.verdict.reason.mapTo(view, QPoint(0, 0)).y()


def test_view_is_painted_in_dark_theme_and_large_text(view: ResultView, desk: Desk, theme: Theme) -> None:
    set_answers(desk, **NONE_LEFT)
    view.show_rules(is_visible=True)
    theme.set_preference(DARK)
    theme.set_font_percent(150)
    picture = view.grab().toImage()
    assert picture.pixelColor(2, picture.height() - 2) == theme.color("page")
    assert view.trace.view.rowHeight(1) >= theme.px(29)


def test_accelerator_that_does_not_fit_is_excluded(view: ResultView, desk: Desk) -> None:
    choices = tuple(replace(choice, count=1) for choice in desk.scenario.accelerators)
    desk.edit("Too big", model="llama-3.1-405b", accelerators=choices)
    desk.flush()
    assert view.excluded.texts
    assert all(row.weight is None or row.weight >= 0.0 for row in view.trace.model.table.rows)


def test_trace_follows_the_selection_of_the_desk(view: ResultView, desk: Desk) -> None:
    set_answers(desk, ttft_limit_ms=2000.0)
    desk.select(select_trace_row("L-01", "mi325x"))
    assert view.trace.view.get_current_keys() == ("L-01", "mi325x")
    desk.select(select_trace_row("L-01"))
    assert view.trace.view.get_current_keys() == ("L-01", "")
    assert desk.selection is not None
    assert desk.selection.kind is SelectionKind.TRACE
