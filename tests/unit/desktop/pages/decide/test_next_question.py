"""The next question: searched in the background, shown in both views, followed by another after each answer."""

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
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated, set_answers


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> DecidePage:
    decide_page = DecidePage(desk, theme, settings)
    qtbot.addWidget(decide_page)
    decide_page.resize(1180, 760)
    decide_page.show()
    decide_page.activateWindow()
    qtbot.waitUntil(decide_page.isActiveWindow)
    return decide_page


def get_block(page: DecidePage) -> NextQuestionBlock:
    current_view = page.view
    if isinstance(current_view, ResultView):
        return current_view.next_question
    assert isinstance(current_view, QuestionsView)
    assert isinstance(current_view.body, NextQuestionBody)
    return current_view.body.next_question


def wait_for_question(page: DecidePage, qtbot: QtBot) -> str:
    """Return the next question as soon as it is known."""
    page.desk.flush()
    qtbot.waitUntil(lambda: get_evaluated(page.desk).next_questions is not None)
    question_block = get_block(page).block
    assert question_block is not None
    return question_block.question


def get_focused_widget() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def test_first_question_is_the_most_relevant(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    assert get_block(page).busy
    question = wait_for_question(page, qtbot)
    questions = run_to_end(desk.service.find_questions_in_steps(get_evaluated(desk).answer))
    assert question == next(iter(questions))
    assert get_block(page).status_label.text() == f"{len(questions) - 1} more questions can change the result"
    question_block = get_block(page).block
    assert question_block is not None
    for option in question_block.options:
        assert isinstance(option, OptionCard)
        assert option.effect is not None
        alternative = get_evaluated(desk).find_alternative(question, option.value)
        assert alternative is not None
        decision = desk.service.decide(get_evaluated(desk).answer, {question: option.value})
        assert (alternative.verdict, alternative.candidates) == (decision.verdict, decision.candidates)


def test_views_share_the_next_question(page: DecidePage, qtbot: QtBot) -> None:
    question = wait_for_question(page, qtbot)
    page.choose_view(RESULT)
    question_block = get_block(page).block
    assert question_block is not None
    assert question_block.question == question
    assert not get_block(page).busy
    assert isinstance(question_block.options[0], SmallOptionCard)


def test_digit_answers_and_enter_shows_the_result(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    first = wait_for_question(page, qtbot)
    page.focus_content()
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_2)
    second = wait_for_question(page, qtbot)
    assert second != first
    assert list(desk.scenario.decision.answers) == [first]
    question_block = get_block(page).block
    assert question_block is not None
    assert get_focused_widget() is question_block.chosen
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert page.view_key == RESULT
    desk.undo_stack.undo()
    assert wait_for_question(page, qtbot) == first


def test_click_in_the_recommendation_answers(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view(RESULT)
    question = wait_for_question(page, qtbot)
    question_block = get_block(page).block
    assert question_block is not None
    QTest.mouseClick(question_block.options[1], Qt.MouseButton.LeftButton)
    assert wait_for_question(page, qtbot) != question
    assert desk.scenario.decision.answers == {question: question_block.values[1]}
    assert desk.undo_stack.count() == 1


def test_skipped_questions_return_after_the_last(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    questions = list(get_evaluated(desk).next_questions or ())
    skipped = []
    for _ in questions:
        skipped.append(wait_for_question(page, qtbot))
        get_block(page).skip_link.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(get_block(page).skip_link, Qt.Key.Key_Space)
    assert skipped == questions
    assert wait_for_question(page, qtbot) == questions[0]
    assert desk.scenario.decision.answers == {}


def test_next_action_skips_the_question(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    first = wait_for_question(page, qtbot)
    actions = {spec.id: spec for spec in page.list_page_actions()}
    actions["decide.next"].run()
    assert wait_for_question(page, qtbot) == list(get_evaluated(desk).next_questions or ())[1] != first
    assert page.view_key == "questions"


def test_absence_of_questions_is_reported(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    get_block(page)._done(get_evaluated(desk), {})
    assert get_block(page).block is None
    assert get_block(page).status_label.text() == "Further answers cannot change this recommendation."
    assert not get_block(page).skip_link.isVisible()


def test_no_question_for_work_out_of_scope(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    page.choose_view(RESULT)
    set_answers(desk, work="media")
    assert not get_block(page).isVisible()
    assert not run_to_end(desk.service.find_questions_in_steps(get_evaluated(desk).answer))


def test_result_for_a_former_answer_is_dropped(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    question = wait_for_question(page, qtbot)
    get_block(page)._done(copy(get_evaluated(desk)), {})
    assert get_block(page).block is not None
    load = replace(desk.scenario.workload.load, concurrency=65)
    desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
    desk.flush()
    assert get_evaluated(desk).next_questions is None
    assert get_block(page).busy
    assert wait_for_question(page, qtbot) == question


def test_no_search_while_the_load_is_dragged(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    desk.begin_gesture("load")
    set_answers(desk, site="rack")
    assert not get_block(page).busy
    desk.end_gesture()
    assert get_block(page).busy


def test_screens_with_all_questions_are_reachable(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_question(page, qtbot)
    view = page.view
    assert isinstance(view, QuestionsView)
    view.steps.focus_current()
    assert get_focused_widget() is view.steps.next_row
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Down)
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert isinstance(view.body, QuestionScreenBody)
    assert view.body.screen_shown is DialogueScreen.SOFTWARE
    QTest.mouseClick(view.steps.next_row, Qt.MouseButton.LeftButton)
    assert get_block(page).isVisible()
