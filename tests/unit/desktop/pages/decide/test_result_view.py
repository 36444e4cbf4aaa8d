"""The view Recommendation: verdict, figures, reasons, what is out, and what it asks of the page."""

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
from gpudesk.domain.decision import DecisionVerdict, WayOutKind
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.report.costs import OWNED
from gpudesk.report.decision.recommendation import list_arguments_against
from gpudesk.report.decision.rules import describe_reason
from gpudesk.report.decision.verdict import describe_verdict_reason, format_verdict, list_candidate_lines
from gpudesk.text.formatting import IntervalEstimate
from tests.unit.desktop.pages.decide.views_of import found_of, say, shown

#: Answers under which one accelerator leads clearly, and others under which two are close.
CLEAR = {"priority": "cost", "acquisition": "own", "current_platform": "CUDA"}
CLOSE = {"priority": "speed"}
NONE_LEFT = {"site": "pcie"}


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> ResultView:
    """Return the view on four accelerators without answers."""
    return shown(ResultView(desk, theme), desk, qtbot)


def test_the_verdict_is_said_with_its_reason(view: ResultView, desk: Desk) -> None:
    say(desk, **CLEAR)
    found = found_of(desk)
    assert found.decision.verdict is DecisionVerdict.WINNER
    block = view.verdict
    assert block.title.text() == format_verdict(found.decision, found.names, found.formatter)
    assert block.reason.text() == describe_verdict_reason(found.decision, found.names, found.formatter)
    assert block.odds_title.text() == "Odds of being the cheapest"
    assert block.accessibleName().startswith(block.title.text())
    assert block.bars.accessibleName() in block.accessibleName()


def test_each_candidate_has_its_odds_the_best_first(view: ResultView, desk: Desk) -> None:
    say(desk, **CLEAR)
    found = found_of(desk)
    lines = view.verdict.bars.lines
    assert lines == list_candidate_lines(found.decision, found.names, found.formatter)
    assert sum(each.odds for each in lines) == pytest.approx(1.0)
    said = view.verdict.bars.accessibleName()
    for each in lines:
        assert f"{each.deployment}, {each.value}, {each.odds_text}" in said
    view.verdict.bars.grab()


def test_a_close_call_comes_with_what_to_measure(view: ResultView, desk: Desk) -> None:
    say(desk, **CLOSE)
    found = found_of(desk)
    assert found.decision.verdict is DecisionVerdict.OPEN
    assert found.decision.recommended is not None
    assert found.decision.runner_up is not None
    rows = view.delivers.model()
    names = [rows.index(row, 0).data() for row in range(rows.rowCount())]
    assert names == [found.names[found.decision.recommended.key], found.names[found.decision.runner_up]]
    assert view.pilot.isVisible()
    assert view.pilot.texts[0].startswith("Run 640 of your requests")
    say(desk, **CLEAR)
    assert not view.pilot.isVisible()


def test_arguments_stand_for_and_against(view: ResultView, desk: Desk) -> None:
    say(desk, **CLOSE)
    found = found_of(desk)
    reasons = tuple(describe_reason(each, found.names, found.formatter) for each in found.decision.reasons)
    assert view.reasons.texts == reasons
    against = list_arguments_against(found.decision, found.names, found.formatter, found.costs)
    assert view.against.texts == tuple(against)
    assert view.reasons.texts
    assert view.against.texts


def test_a_missing_price_says_from_which_it_would_lead_and_links_to_the_field(
    view: ResultView, desk: Desk, qtbot: QtBot
) -> None:
    say(desk, priority="cost", acquisition="own")
    assert view.unknown.texts[0].startswith("MI355X has no purchase price; it would be the cheapest below $")
    (link,) = view.unknown.links
    assert link.accessibleName().startswith("Enter price: MI355X")
    with qtbot.waitSignal(view.page_requested) as wanted:
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert wanted.args == ["cost", "mi355x"]
    say(desk, priority="cost", acquisition="rent")
    assert not view.unknown.isVisible()


def test_work_out_of_scope_offers_what_is_known(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    say(desk, work="media")
    assert all(" image and video models fit" in text for text in view.unknown.texts[:-1])
    assert view.unknown.links == []
    assert view.unknown.width() <= 900, "long lists of models wrap"
    say(desk, work="fine_tuning")
    assert [text.partition(":")[0] for text in view.unknown.texts] == ["Full fine-tuning", "LoRA", "QLoRA", "Assumed"]
    assert view.verdict.title.text() == "No recommendation for this kind of work"
    assert not view.verdict.bars.isVisible()
    assert not view.delivers.isVisible()
    assert not view.flips.isVisible()
    (link,) = view.unknown.links
    with qtbot.waitSignal(view.page_requested) as wanted:
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert wanted.args == ["memory", ""]


def test_figures_are_those_of_the_answer(view: ResultView, desk: Desk) -> None:
    found = found_of(desk)
    assert found.decision.recommended is not None
    place = found.place(found.decision.recommended.key)
    estimate = found.answer.columns[place].estimate
    assert estimate is not None
    model = view.delivers.model()
    texts = [model.index(0, column).data() for column in range(model.columnCount())]
    assert texts[1] == "× 1"
    assert texts[2] == found.formatter.estimate_with_interval(estimate.output_tokens_per_s)
    assert texts[3] == found.formatter.estimate_with_interval(estimate.ttft_ms)
    value, payment = found.decision.candidates[place].value, found.decision.candidates[place].payment
    assert value is not None
    assert texts[4].startswith(f"{value.value:.2f} (")
    assert texts[4].endswith(f", {payment}")


def test_figures_are_those_of_the_deployment_that_is_decided_about(view: ResultView, desk: Desk) -> None:
    """With counts left open the columns show the fewest that fit, the decision the cheapest that carry the load."""
    desk.edit("Open", accelerators=tuple(replace(each, count=None) for each in desk.scenario.accelerators))
    desk.edit("Load", workload=replace(desk.scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=256)))
    desk.flush()
    found, model = found_of(desk), view.delivers.model()
    leader, second = found.decision.recommended, found.decision.runner_up
    assert leader is not None
    assert second is not None
    places = [found.place(key) for key in (leader.key, second)]
    others = [place for place in places if found.decision.candidates[place].count != 1]
    assert others
    for row, place in enumerate(places):
        candidate, rate = found.decision.candidates[place], found.decision.parts[place]["tokens_per_s"]
        assert isinstance(rate, IntervalEstimate)
        assert model.index(row, 1).data().partition(",")[0] == f"× {candidate.count}"
        assert model.index(row, 2).data() == found.formatter.estimate_with_interval(rate)
    before = desk.selection
    view.delivers.chosen.emit(found.keys[others[0]], "ttft_ms")
    assert desk.selection == before, "the panel explains the columns"


def test_a_figure_is_explained_by_a_click(view: ResultView, desk: Desk) -> None:
    view.delivers.chosen.emit("b200-hgx", "ttft_ms")
    assert desk.selection == select_figure("b200-hgx", "ttft_ms")
    view.delivers.chosen.emit("b200-hgx", "usd_per_million")
    assert desk.selection == select_cost("b200-hgx", OWNED)


def test_what_is_ruled_out_says_why_once_for_each(view: ResultView, desk: Desk) -> None:
    assert not view.excluded.isVisible()
    say(desk, ttft_limit_ms=600.0)
    said = view.excluded.texts
    assert len(said) == len({each.key for each in found_of(desk).decision.exclusions}) > 0
    assert any(text.startswith("H200 SXM: TTFT limit; time to first token") and "1,180" in text for text in said)


def test_where_none_fits_a_click_on_a_way_out_makes_it_as_one_step(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Too big", model="llama-3.1-405b", accelerators=desk.scenario.accelerators)
    say(desk, shape="one")
    decision = found_of(desk).decision
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert view.verdict.title.text() == "No accelerator meets every limit"
    assert not view.verdict.bars.isVisible()
    assert not view.delivers.isVisible()
    assert view.flips.title.text() == "Changes that help"
    assert decision.ways_out == (), "the search is a job"
    try_ways_out(view, desk, qtbot)


def test_a_budget_below_all_prices_is_raised_or_given_up_for_rent_by_a_click(
    view: ResultView, desk: Desk, qtbot: QtBot
) -> None:
    say(desk, acquisition="own", budget_usd=1_000.0)
    assert view.verdict.title.text() == "No recommendation: prices are unknown"
    qtbot.waitUntil(lambda: bool(view.ways_out.boxes))
    assert [box.change_text.change for box in view.ways_out.boxes] == ["A larger budget", "Renting"]
    try_ways_out(view, desk, qtbot)


def try_ways_out(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(found_of(desk).decision.ways_out))
    decision = found_of(desk).decision
    assert "Alternatives: " in view.verdict.reason.text() or decision.verdict is not DecisionVerdict.NONE_FITS
    assert len(view.ways_out.boxes) == len(decision.ways_out) > 0
    before, steps = desk.scenario, desk.undo_stack.count()
    for place, way in enumerate(decision.ways_out):
        QTest.mouseClick(view.ways_out.boxes[place], Qt.MouseButton.LeftButton)
        desk.flush()
        assert found_of(desk).decision.recommended is not None
        if way.kind is WayOutKind.COUNT:
            assert {choice.count for choice in desk.scenario.accelerators} == {None}
        assert desk.undo_stack.count() == steps + 1
        assert not view.ways_out.isVisible()
        desk.undo_stack.undo()
        desk.flush()
        assert desk.scenario == before
        qtbot.waitUntil(lambda: bool(found_of(desk).decision.ways_out))


def test_conflicts_name_both_rules_with_their_dates(view: ResultView, desk: Desk) -> None:
    say(desk, vendor_policy="shared_pool")
    assert found_of(desk).decision.conflicts
    said = view.trace.conflicts.texts[0]
    assert "(D000-21, MI325X vs H200, 2026-03)" in said
    assert " vs. " in said
    assert "2024-02)" in said
    assert not view.trace.conflicts.isVisible()
    view.show_rules(is_visible=True)
    assert view.trace.conflicts.isVisible()


def test_advice_is_a_list(view: ResultView, desk: Desk) -> None:
    say(desk, **CLOSE)
    advice = found_of(desk).decision.advice
    assert view.advice.texts == tuple(each.text for each in advice)
    assert "Rent both and run your own load on each." in view.advice.texts


def test_it_says_how_many_questions_are_answered(view: ResultView, desk: Desk) -> None:
    say(desk, priority="cost", team="rocm")
    assert view.answered.text().startswith("You have answered 2 of 25")


def test_buttons_ask_the_page(view: ResultView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.view_requested) as wanted:
        QTest.mouseClick(view.change, Qt.MouseButton.LeftButton)
    assert wanted.args == ["questions"]
    with qtbot.waitSignal(view.sheet_requested):
        QTest.mouseClick(view.print_sheet, Qt.MouseButton.LeftButton)


def test_all_of_it_is_copied_as_text_rules_only_where_they_are_shown(view: ResultView, desk: Desk) -> None:
    say(desk, **CLEAR)
    text = view.copied()
    assert text.startswith(view.verdict.title.text())
    for each in (*view.reasons.texts, *view.against.texts, *view.advice.texts):
        assert each.rstrip(".") in text
    assert "Group\tRule" not in text
    view.show_rules(is_visible=True)
    assert "Group\tRule\tIDs\tAnswer\tWeight\tH200 SXM" in view.copied()


def test_rules_are_hidden_until_they_are_asked_for(view: ResultView, desk: Desk) -> None:
    assert not view.trace.isVisible()
    QTest.mouseClick(view.rules_link, Qt.MouseButton.LeftButton)
    assert view.trace.isVisible()
    assert view.rules_link.text() == "Hide all rules"
    groups = [line.title for line in view.trace.model.table.groups]
    assert groups == [each for each in ("Decisive", "Arguments", "No effect") if each in groups]
    QTest.mouseClick(view.rules_link, Qt.MouseButton.LeftButton)
    assert not view.trace.isVisible()


def test_the_focus_goes_to_the_first_control(view: ResultView) -> None:
    view.focus_first()
    assert view.change.hasFocus()


def test_lists_stand_below_one_another_where_room_is_short(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    view = shown(ResultView(desk, theme), desk, qtbot, width=600)
    assert view._why.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict._row.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict.bars.mapTo(view, QPoint(0, 0)).y() > view.verdict.reason.mapTo(view, QPoint(0, 0)).y()


def test_it_is_painted_in_both_themes_and_large_letters(view: ResultView, desk: Desk, theme: Theme) -> None:
    say(desk, **NONE_LEFT)
    view.show_rules(is_visible=True)
    theme.set_preference(DARK)
    theme.set_font_percent(150)
    picture = view.grab().toImage()
    assert picture.pixelColor(2, picture.height() - 2) == theme.color("page")
    assert view.trace.view.rowHeight(1) >= theme.px(29)


def test_a_part_that_does_not_fit_says_so_in_the_place_of_figures(view: ResultView, desk: Desk) -> None:
    parts = tuple(replace(choice, count=1) for choice in desk.scenario.accelerators)
    desk.edit("Too big", model="llama-3.1-405b", accelerators=parts)
    desk.flush()
    assert view.excluded.texts
    assert all(row.weight is None or row.weight >= 0.0 for row in view.trace.model.table.rows)


def test_the_selection_of_another_place_is_shown_in_the_trace(view: ResultView, desk: Desk) -> None:
    say(desk, ttft_limit_ms=2000.0)
    desk.select(select_trace_row("L-01", "mi325x"))
    assert view.trace.view.get_current_keys() == ("L-01", "mi325x")
    desk.select(select_trace_row("L-01"))
    assert view.trace.view.get_current_keys() == ("L-01", "")
    assert desk.selection is not None
    assert desk.selection.kind is SelectionKind.TRACE
