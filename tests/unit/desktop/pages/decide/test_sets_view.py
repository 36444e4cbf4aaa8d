"""Two sets of answers: saved, swapped, deleted and compared."""

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
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated, set_answers, show_view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> AnswerSetsView:
    """Return the view with one answer, and no saved set."""
    set_answers(desk, team="rocm")
    return show_view(AnswerSetsView(desk, theme), desk, qtbot)


def click(button: Button, desk: Desk) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.flush()


def save_and_change(view: AnswerSetsView, desk: Desk) -> None:
    """Save the answers, then change two of them."""
    click(view.keep, desk)
    saved_answers = desk.scenario.decision.kept
    assert saved_answers == {"team": "rocm"}
    decision = replace(desk.scenario.decision, answers={"team": "rocm", "site": "oam", "priority": "cost"})
    desk.edit("Other answers", decision=decision)
    desk.flush()


def test_no_set_is_saved_at_first(view: AnswerSetsView) -> None:
    for each in (view.keep, view.exchange, view.forget, view.differ):
        assert not each.isVisibleTo(view)
    assert view.begin.isVisibleTo(view)
    view.focus_first()
    assert view.begin.hasFocus()
    assert view.copied() == ""


def test_saved_set_equals_the_current_one_at_first(view: AnswerSetsView, desk: Desk) -> None:
    click(view.begin, desk)
    assert desk.scenario.decision.kept == {"team": "rocm"}
    assert not view.keep.isEnabled()
    assert view.status_label.text().startswith("Both sets are equal")
    assert not view.differ.isVisible()
    assert view.rules.texts()[0][0] == "Both sets apply the same rules"


def test_different_answers_come_first(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
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


def test_both_verdicts_are_shown(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
    evaluated = get_evaluated(desk)
    saved_decision = desk.service.decide(evaluated.answer, {"team": "rocm"})
    titles = [verdict.title.text() for verdict in view.verdicts]
    assert titles == [
        format_verdict(decision, evaluated.names, evaluated.formatter)
        for decision in (evaluated.decision, saved_decision)
    ]
    assert view.verdicts[0].accessibleName().startswith("Current: ")
    assert view.verdicts[1].accessibleName().startswith("Saved: ")


def test_ranking_has_exclusions_and_reasons(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
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


def test_rules_of_only_one_set_are_listed(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
    evaluated = get_evaluated(desk)
    current_rules = {line.rule.id for line in evaluated.decision.trace}
    saved_rules = {line.rule.id for line in desk.service.decide(evaluated.answer, {"team": "rocm"}).trace}
    assert view.sets is not None
    one_sided = view.sets.one_sided()
    listed = {(rule, words) for _, rule, words in one_sided}
    assert listed == {(rule, "Current") for rule in current_rules - saved_rules} | {
        (rule, "Saved") for rule in saved_rules - current_rules
    }
    assert [tuple(row) for row in view.rules.texts()] == [(title, words) for title, _, words in one_sided]


def test_sets_are_swapped_as_one_step(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
    steps = desk.undo_stack.count()
    click(view.exchange, desk)
    assert desk.scenario.decision.answers == {"team": "rocm"}
    assert desk.scenario.decision.kept == {"team": "rocm", "site": "oam", "priority": "cost"}
    assert view.differ.texts()[0] == ("Where will it run?", "Anywhere (default)", "OAM servers")
    assert desk.undo_stack.count() == steps + 1
    desk.undo_stack.undo()
    assert desk.scenario.decision.kept == {"team": "rocm"}


def test_saved_set_can_be_deleted(view: AnswerSetsView, desk: Desk) -> None:
    save_and_change(view, desk)
    click(view.forget, desk)
    assert desk.scenario.decision.kept is None
    assert view.sets is None
    assert not view.differ.isVisible()


def test_view_is_copied_and_painted(view: AnswerSetsView, desk: Desk, theme: Theme) -> None:
    save_and_change(view, desk)
    text = view.copied()
    assert "Current: " in text
    assert "Where will it run?\tOAM servers\tAnywhere (default)" in text
    theme.set_preference(DARK)
    picture = view.grab().toImage()
    assert picture.pixelColor(2, picture.height() - 2) == theme.color("page")
    view.focus_first()
    assert view.keep.hasFocus()
