"""The question to answer next: looked for in the background, asked in both views, the next one after each answer."""

from copy import copy
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.page import RESULT, DecidePage
from gpudesk.desktop.pages.decide.question_block import NextQuestionBlock, OptionCard, SmallOptionCard
from gpudesk.desktop.pages.decide.questions_view import NextQuestionBody, QuestionScreenBody, QuestionsView
from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.decision import DialogueScreen
from gpudesk.domain.progress import run_to_end
from tests.unit.desktop.pages.decide.views_of import found_of, say


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> DecidePage:
    made = DecidePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(1180, 760)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def block(page: DecidePage) -> NextQuestionBlock:
    view = page.view
    if isinstance(view, ResultView):
        return view.next_question
    assert isinstance(view, QuestionsView)
    assert isinstance(view.body, NextQuestionBody)
    return view.body.next_question


def wait_for_question(page: DecidePage, qtbot: QtBot) -> str:
    """Return the question that is asked once it is known."""
    page.desk.flush()
    qtbot.waitUntil(lambda: found_of(page.desk).next_questions is not None)
    asked = block(page).block
    assert asked is not None
    return asked.question


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def test_the_dialogue_begins_with_the_first_question_that_matters(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    assert block(page).busy
    asked = wait_for_question(page, qtbot)
    questions = run_to_end(desk.service.find_questions_in_steps(found_of(desk).answer))
    assert asked == next(iter(questions))
    assert block(page).status_label.text() == f"{len(questions) - 1} more questions can change the result"
    shown = block(page).block
    assert shown is not None
    for option in shown.options:
        assert isinstance(option, OptionCard)
        assert option.effect is not None
        known = found_of(desk).find_alternative(asked, option.value)
        assert known is not None
        decision = desk.service.decide(found_of(desk).answer, {asked: option.value})
        assert (known.verdict, known.candidates) == (decision.verdict, decision.candidates)


def test_what_was_found_is_not_looked_for_again(page: DecidePage, qtbot: QtBot) -> None:
    asked = wait_for_question(page, qtbot)
    page.choose_view(RESULT)
    shown = block(page).block
    assert shown is not None
    assert shown.question == asked
    assert not block(page).busy
    assert isinstance(shown.options[0], SmallOptionCard)


def test_an_answer_by_key_leads_to_the_next_question_and_enter_to_the_result(
    page: DecidePage, desk: Desk, qtbot: QtBot
) -> None:
    first = wait_for_question(page, qtbot)
    page.focus_content()
    QTest.keyClick(focused(), Qt.Key.Key_2)
    second = wait_for_question(page, qtbot)
    assert second != first
    assert list(desk.scenario.decision.answers) == [first]
    shown = block(page).block
    assert shown is not None
    assert focused() is shown.chosen
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert page.view_key == RESULT
    desk.undo_stack.undo()
    assert wait_for_question(page, qtbot) == first


def test_a_click_in_the_recommendation_answers(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view(RESULT)
    asked = wait_for_question(page, qtbot)
    shown = block(page).block
    assert shown is not None
    QTest.mouseClick(shown.options[1], Qt.MouseButton.LeftButton)
    assert wait_for_question(page, qtbot) != asked
    assert desk.scenario.decision.answers == {asked: shown.values[1]}
    assert desk.undo_stack.count() == 1


def test_a_question_can_be_skipped_and_comes_again_after_the_last(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    questions = list(found_of(desk).next_questions or ())
    met = []
    for _ in questions:
        met.append(wait_for_question(page, qtbot))
        block(page).skip_link.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(block(page).skip_link, Qt.Key.Key_Space)
    assert met == questions
    assert wait_for_question(page, qtbot) == questions[0]
    assert desk.scenario.decision.answers == {}


def test_the_action_for_the_next_question_skips_this_one(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    first = wait_for_question(page, qtbot)
    actions = {spec.id: spec for spec in page.list_page_actions()}
    actions["decide.next"].run()
    assert wait_for_question(page, qtbot) == list(found_of(desk).next_questions or ())[1] != first
    assert page.view_key == "questions"


def test_where_no_answer_changes_it_that_is_said(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    block(page)._done(found_of(desk), {})
    assert block(page).block is None
    assert block(page).status_label.text() == "Further answers cannot change this recommendation."
    assert not block(page).skip_link.isVisible()


def test_nothing_is_asked_of_work_that_figures_say_nothing_of(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view(RESULT)
    say(desk, work="media")
    assert not block(page).isVisible()
    assert not run_to_end(desk.service.find_questions_in_steps(found_of(desk).answer))


def test_what_was_found_for_a_former_answer_is_dropped(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    asked = wait_for_question(page, qtbot)
    block(page)._done(copy(found_of(desk)), {})
    assert block(page).block is not None
    load = replace(desk.scenario.workload.load, concurrency=65)
    desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
    desk.flush()
    assert found_of(desk).next_questions is None
    assert block(page).busy
    assert wait_for_question(page, qtbot) == asked


def test_nothing_is_looked_for_while_the_load_is_dragged(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    desk.begin_gesture("load")
    say(desk, site="rack")
    assert not block(page).busy
    desk.end_gesture()
    assert block(page).busy


def test_screens_with_all_questions_stay_within_reach(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    view = page.view
    assert isinstance(view, QuestionsView)
    view.steps.focus_current()
    assert focused() is view.steps.next_row
    QTest.keyClick(focused(), Qt.Key.Key_Down)
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert isinstance(view.body, QuestionScreenBody)
    assert view.body.screen_shown is DialogueScreen.SOFTWARE
    QTest.mouseClick(view.steps.next_row, Qt.MouseButton.LeftButton)
    assert block(page).isVisible()
