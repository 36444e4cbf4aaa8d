"""Two sets of answers: kept, exchanged, forgotten, and compared."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.sets_view import AnswerSetsView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.report.decision.questions import get_question_text
from gpudesk.report.decision.verdict import format_verdict
from tests.unit.desktop.pages.decide.views_of import found_of, say, shown


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> AnswerSetsView:
    """Return the view with one answer and nothing kept."""
    say(desk, team="rocm")
    return shown(AnswerSetsView(desk, theme), desk, qtbot)


def click(button: Button, desk: Desk) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.flush()


def keep_and_change(view: AnswerSetsView, desk: Desk) -> None:
    """Save these answers, and put another site and goal in effect."""
    click(view.keep, desk)
    kept = desk.scenario.decision.kept
    assert kept == {"team": "rocm"}
    decision = replace(desk.scenario.decision, answers={"team": "rocm", "site": "oam", "priority": "cost"})
    desk.edit("Other answers", decision=decision)
    desk.flush()


def test_nothing_is_kept_at_first(view: AnswerSetsView) -> None:
    for each in (view.keep, view.exchange, view.forget, view.differ):
        assert not each.isVisibleTo(view)
    assert view.begin.isVisibleTo(view)
    view.focus_first()
    assert view.begin.hasFocus()
    assert view.copied() == ""


def test_kept_answers_are_the_same_at_first(view: AnswerSetsView, desk: Desk) -> None:
    click(view.begin, desk)
    assert desk.scenario.decision.kept == {"team": "rocm"}
    assert not view.keep.isEnabled()
    assert view.status_label.text().startswith("Both sets are equal")
    assert not view.differ.isVisible()
    assert view.rules.texts()[0][0] == "Both sets apply the same rules"


def test_questions_that_differ_come_first(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    assert view.differ.texts() == [
        ("Where will it run?", "OAM servers", "Anywhere (default)"),
        (get_question_text("priority"), "Cost", "Balanced (default)"),
    ]
    assert view.differ_title.text() == "Different answers (2)"
    assert not view.alike.isVisible()
    assert view.fold.text() == "Show equal answers (23)"
    QTest.mouseClick(view.fold, Qt.MouseButton.LeftButton)
    assert view.alike.isVisible()
    assert len(view.alike.texts()) == 23
    assert view.fold.text() == "Hide equal answers"


def test_both_verdicts_stand_side_by_side(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    found = found_of(desk)
    kept = desk.service.decide(found.answer, {"team": "rocm"})
    titles = [verdict.title.text() for verdict in view.verdicts]
    assert titles == [format_verdict(decision, found.names, found.formatter) for decision in (found.decision, kept)]
    assert view.verdicts[0].accessibleName().startswith("Current: ")
    assert view.verdicts[1].accessibleName().startswith("Saved: ")


def test_rankings_say_who_is_out_and_by_what(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    model = view.ranking.model()
    rows = {
        model.index(row, 0).data(): [model.index(row, column).data() for column in range(1, 6)]
        for row in range(model.rowCount())
    }
    assert rows["H200 SXM"][:2] == ["ruled out", "—"]
    assert rows["H200 SXM"][4].startswith("Current: ")
    assert rows["MI325X"][0] in ("1", "2")
    assert rows["MI325X"][1].endswith("%")
    assert sorted(row[2] for row in rows.values()) == ["1", "2", "3", "4"]


def test_rules_that_fire_under_one_set_are_listed(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    found = found_of(desk)
    now = {line.rule.id for line in found.decision.trace}
    kept = {line.rule.id for line in desk.service.decide(found.answer, {"team": "rocm"}).trace}
    assert view.sets is not None
    one_sided = view.sets.one_sided()
    listed = {(rule, words) for _, rule, words in one_sided}
    assert listed == {(rule, "Current") for rule in now - kept} | {(rule, "Saved") for rule in kept - now}
    assert [tuple(row) for row in view.rules.texts()] == [(title, words) for title, _, words in one_sided]


def test_both_sets_are_exchanged_as_one_step(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    steps = desk.undo_stack.count()
    click(view.exchange, desk)
    assert desk.scenario.decision.answers == {"team": "rocm"}
    assert desk.scenario.decision.kept == {"team": "rocm", "site": "oam", "priority": "cost"}
    assert view.differ.texts()[0] == ("Where will it run?", "Anywhere (default)", "OAM servers")
    assert desk.undo_stack.count() == steps + 1
    desk.undo_stack.undo()
    assert desk.scenario.decision.kept == {"team": "rocm"}


def test_kept_answers_can_be_forgotten(view: AnswerSetsView, desk: Desk) -> None:
    keep_and_change(view, desk)
    click(view.forget, desk)
    assert desk.scenario.decision.kept is None
    assert view.sets is None
    assert not view.differ.isVisible()


def test_it_is_copied_and_painted(view: AnswerSetsView, desk: Desk, theme: Theme) -> None:
    keep_and_change(view, desk)
    text = view.copied()
    assert "Current: " in text
    assert "Where will it run?\tOAM servers\tAnywhere (default)" in text
    theme.set_preference(DARK)
    picture = view.grab().toImage()
    assert picture.pixelColor(2, picture.height() - 2) == theme.color("page")
    view.focus_first()
    assert view.keep.hasFocus()
