"""The view Recommendation: verdict, figures, reasons, what is out, and what it asks of the page."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.parts import ElidedParagraph
from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import SelectionKind, select_cost, select_figure, select_trace_row
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.decision import DecisionVerdict
from gpudesk.report.decision.verdict import describe_robustness, describe_verdict_reason, format_verdict
from gpudesk.report.explanation.cost import RENTED
from gpudesk.text.formatting import IntervalEstimate
from tests.unit.desktop.pages.decide.views_of import found_of, say, shown

#: Answers under which one accelerator leads clearly, and the others of its platform alone are left.
CLEAR = {"tuned_for": "cuda", "porting": "no"}
NONE_LEFT = {"site": "pcie"}


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> ResultView:
    """Return the view on four accelerators without answers, which has no clear winner."""
    return shown(ResultView(desk, theme), desk, qtbot)


def test_the_verdict_is_said_with_its_reason_and_how_firm_it_is(view: ResultView, desk: Desk) -> None:
    say(desk, **CLEAR)
    found = found_of(desk)
    assert found.decision.verdict is DecisionVerdict.WINNER
    block = view.verdict
    assert block.title.text() == format_verdict(found.decision, found.names, found.formatter)
    assert block.reason.text == describe_verdict_reason(found.decision, found.names, found.formatter)
    assert block.firmness.text() == describe_robustness(found.decision, found.names, found.formatter)
    assert len(block.reason.lines) <= 2
    assert block.accessibleName().startswith(block.title.text())
    assert block.firmness.text() in block.accessibleName()


def test_shares_of_draws_are_ordered_and_named(view: ResultView, desk: Desk) -> None:
    decision = found_of(desk).decision
    shares = view.verdict.bar.shares
    assert [each.share for each in shares] == sorted((each.share for each in shares), reverse=True)
    assert shares[0].share == max(each.odds for each in decision.candidates)
    assert sum(each.share for each in shares) == pytest.approx(1.0, abs=0.02)
    said = view.verdict.bar.accessibleName()
    assert said.startswith("Of 100 draws: B200 SXM ")
    view.verdict.bar.grab()


def test_draws_in_which_none_is_left_are_shown(view: ResultView, desk: Desk) -> None:
    say(desk, ttft_limit_ms=300.0)
    last = view.verdict.bar.shares[-1]
    assert (last.column, last.name) == (None, "none left")
    assert last.share > 0.1


def test_without_a_winner_the_two_that_lead_stand_there_with_a_pilot(view: ResultView, desk: Desk) -> None:
    found = found_of(desk)
    assert found.decision.verdict is DecisionVerdict.OPEN
    assert view.verdict.title.text().startswith("No clear winner: ")
    rows = view.delivers.model()
    names = [rows.index(row, 0).data() for row in range(rows.rowCount())]
    assert found.decision.runner_up is not None
    assert names == ["B200 SXM", found.names[found.decision.runner_up]]
    assert view.pilot.isVisible()
    assert view.pilot.texts[0].startswith("What would settle it: run 640 requests")
    assert view.reasons.title.text() == "What speaks for B200 SXM, and what against"


def test_figures_are_those_of_the_answer(view: ResultView, desk: Desk) -> None:
    found = found_of(desk)
    assert found.decision.recommended is not None
    place = found.place(found.decision.recommended.key)
    estimate = found.answer.columns[place].estimate
    assert estimate is not None
    model = view.delivers.model()
    texts = [model.index(0, column).data() for column in range(model.columnCount())]
    assert texts[1] == "× 1"
    assert texts[2] == found.formatter.banded(estimate.output_tokens_per_s)
    assert texts[3] == found.formatter.banded(estimate.ttft_ms)
    rented = found.decision.parts[place]["rented_usd_per_million"]
    assert isinstance(rented, IntervalEstimate)
    assert texts[4].startswith(f"{rented.value:.2f} (")
    assert texts[4].endswith("rented")


def test_a_figure_is_explained_by_a_click(view: ResultView, desk: Desk) -> None:
    view.delivers.chosen.emit("b200-hgx", "ttft_ms")
    assert desk.selection == select_figure("b200-hgx", "ttft_ms")
    view.delivers.chosen.emit("b200-hgx", "usd_per_million")
    assert desk.selection == select_cost("b200-hgx", RENTED)


def test_what_is_out_says_the_rule_and_the_figure(view: ResultView, desk: Desk) -> None:
    assert not view.excluded.isVisible()
    say(desk, ttft_limit_ms=600.0)
    said = view.excluded.texts
    assert len(said) == len(found_of(desk).decision.exclusions) > 0
    assert any(text.startswith("H200 SXM: first token within the limit") and "1,110" in text for text in said)


def test_where_none_fits_what_would_help_comes_before_the_trace(view: ResultView, desk: Desk, qtbot: QtBot) -> None:
    say(desk, **NONE_LEFT)
    assert found_of(desk).decision.verdict is DecisionVerdict.NONE_FITS
    assert view.verdict.title.text() == "None of these meets everything that must hold"
    assert not view.verdict.bar.isVisible()
    assert not view.delivers.isVisible()
    assert len(view.excluded.texts) == 4
    assert view.flips.title.text() == "What would help"
    top = QPoint(0, 0)
    qtbot.waitUntil(lambda: view.flips.mapTo(view, top).y() < view.trace.mapTo(view, top).y())
    say(desk)
    assert view.flips.title.text() == "What would change it"
    assert view.delivers.isVisible()


def test_conflicts_name_both_rules_with_their_dates(view: ResultView, desk: Desk) -> None:
    say(desk, vendor_policy="shared_pool")
    assert found_of(desk).decision.conflicts
    said = view.conflicts.texts[0]
    assert "(D000-21, Seed 000, MI325X vs H200, 2026-03)" in said
    assert ", against " in said
    assert "2024-02)" in said
    assert view.conflicts.isVisible()


def test_advice_is_a_list(view: ResultView, desk: Desk) -> None:
    advice = found_of(desk).decision.advice
    assert view.advice.texts == tuple(each.text for each in advice)
    assert "Rent both, and run your own load on each." in view.advice.texts


def test_it_says_how_many_questions_are_answered(view: ResultView, desk: Desk) -> None:
    say(desk, priority="cost", team="rocm")
    assert view.answered.text().startswith("2 of 25 answered by you")


def test_buttons_ask_the_page(view: ResultView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.view_requested) as wanted:
        QTest.mouseClick(view.change, Qt.MouseButton.LeftButton)
    assert wanted.args == ["questions"]
    with qtbot.waitSignal(view.sheet_requested):
        QTest.mouseClick(view.print_sheet, Qt.MouseButton.LeftButton)


def test_all_of_it_is_copied_as_text(view: ResultView, desk: Desk) -> None:
    say(desk, **CLEAR)
    text = view.copied()
    assert text.startswith(view.verdict.title.text())
    for each in (*view.reasons.texts, *view.excluded.texts, *view.advice.texts):
        assert each in text
    assert "Group\tRule\tIds\tAnswer\tWeight\tH200 SXM" in text


def test_the_focus_goes_to_the_trace(view: ResultView) -> None:
    view.focus_first()
    assert view.trace.view.hasFocus()


def test_lists_stand_below_one_another_where_room_is_short(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    view = shown(ResultView(desk, theme), desk, qtbot, width=600)
    assert view._why.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict._row.direction() == QBoxLayout.Direction.TopToBottom
    assert view.verdict.bar.mapTo(view, QPoint(0, 0)).y() > view.verdict.reason.mapTo(view, QPoint(0, 0)).y()


def test_it_is_painted_in_both_themes_and_large_letters(view: ResultView, desk: Desk, theme: Theme) -> None:
    say(desk, **NONE_LEFT)
    theme.set_preference(DARK)
    theme.set_font_percent(150)
    picture = view.grab().toImage()
    assert picture.pixelColor(2, picture.height() - 2) == theme.colour("page")
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
    assert view.trace.view.current_keys() == ("L-01", "mi325x")
    desk.select(select_trace_row("L-01"))
    assert view.trace.view.current_keys() == ("L-01", "")
    assert desk.selection is not None
    assert desk.selection.kind is SelectionKind.TRACE


def test_a_paragraph_is_cut_after_its_lines_and_whole_in_its_tip(theme: Theme, qtbot: QtBot) -> None:
    made = ElidedParagraph(theme)
    qtbot.addWidget(made)
    made.resize(200, 40)
    made.set_text("Many words that need more room than there is on two lines of such a width in all")
    assert len(made.lines) == 2
    assert made.lines[1].endswith("…")
    assert made.toolTip() == made.text
    assert made.accessible_role == QAccessible.Role.StaticText


def test_a_short_paragraph_is_whole(theme: Theme, qtbot: QtBot) -> None:
    made = ElidedParagraph(theme)
    qtbot.addWidget(made)
    made.resize(200, 40)
    made.set_text("Few words")
    assert made.lines == ("Few words",)
    assert made.toolTip() == ""
