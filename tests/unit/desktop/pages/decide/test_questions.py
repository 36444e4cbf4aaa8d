"""The dialogue: what each answer would do, giving and removing answers, keys, what is not asked."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.page import DecidePage
from gpudesk.desktop.pages.decide.question_block import OptionButton, OptionCard, QuestionBlock, SmallOptionCard
from gpudesk.desktop.pages.decide.questions_view import QuestionScreenBody, QuestionsView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_decision_option
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.decision import QUESTIONS, DialogueScreen
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.decision.questions import ColumnOutcome, get_question_text
from tests.unit.desktop.pages.decide.views_of import found_of


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> DecidePage:
    """Return the page with four accelerators on two platforms, and nothing answered."""
    made = DecidePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(1180, 760)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    view(made).show_screen(DialogueScreen.SOFTWARE, focus=False)
    return made


def view(page: DecidePage) -> QuestionsView:
    assert isinstance(page.view, QuestionsView)
    return page.view


def block(page: DecidePage, question: str) -> QuestionBlock:
    body = view(page).body
    assert isinstance(body, QuestionScreenBody)
    return next(each for each in body.blocks if each.question == question)


def option(page: DecidePage, question: str, value: str | float) -> OptionButton:
    return next(each for each in block(page, question).options if each.value == value)


def settled(page: DecidePage, qtbot: QtBot) -> None:
    """Wait until all that can be seen is computed."""
    page.desk.flush()
    qtbot.waitUntil(lambda: not view(page).effects.busy)


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def titles(page: DecidePage) -> list[str]:
    body = view(page).body
    assert isinstance(body, QuestionScreenBody)
    return [each.title.text() for each in body.blocks]


# What is asked


def test_the_first_screen_is_shown_with_its_questions(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    assert titles(page)[0] == "Which serving engine do you need?"
    assert len(titles(page)) == 3
    assert isinstance(block(page, "serving_engine").options[0], OptionCard)
    assert isinstance(block(page, "tuned_for").options[0], SmallOptionCard)
    steps = view(page).steps
    assert len(steps.rows) == 9
    assert steps.rows[0].accessibleName().endswith("current question")
    assert steps.rows[1].accessibleName().endswith("not answered")
    assert steps.progress.accessibleName() == "Step 1 of 9, 0 answered"
    assert not view(page).back.isEnabled()


def test_every_question_is_on_some_screen(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    met: list[str] = []
    for screen in DialogueScreen:
        view(page).show_screen(screen)
        body = view(page).body
        assert isinstance(body, QuestionScreenBody)
        met += body.question_ids
        settled(page, qtbot)
        for each in body.blocks:
            assert all(card.effect is not None for card in each.options)
            assert all(card.accessibleName() for card in each.options)
            assert all(card.accessibleDescription() for card in each.options)
    assert met == list(QUESTIONS)


def test_each_answer_shows_what_the_service_decides_under_it(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.LATENCY)
    settled(page, qtbot)
    card = option(page, "ttft_limit_ms", 2000.0)
    assert card.effect is not None
    assert card.effect.text == "All 4 remain; H200 SXM undecided"
    assert [fate for _, fate in card.effect.parts] == [ColumnOutcome.UNDECIDED, *[ColumnOutcome.STAYS] * 3]
    assert desk.answer is not None
    expected = desk.service.decide(desk.answer, {"ttft_limit_ms": 2000.0})
    assert found_of(desk).decide_alternative("ttft_limit_ms", 2000.0) == expected
    assert "key 2" in card.accessibleDescription()


def test_nothing_is_worked_out_in_one_go(page: DecidePage, desk: Desk) -> None:
    # A length of no other test: what is known from one of them takes hardly any time.
    desk.edit("Length", workload=replace(desk.scenario.workload, input_tokens=3977))
    desk.flush()
    view(page).show_screen(DialogueScreen.LATENCY)
    assert view(page).effects.busy
    # The options of the first token's limit are known: that question is among those that matter most.
    assert found_of(desk).find_alternative("tpot_limit_ms", "none") is None
    while found_of(desk).find_alternative("tpot_limit_ms", "none") is None:
        assert view(page).effects.busy
        view(page).effects._step()
    assert found_of(desk).find_alternative("service", "offline") is None


def test_effects_under_a_former_decision_are_dimmed(page: DecidePage, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.SITE)
    settled(page, qtbot)
    cards = block(page, "site").options
    assert not any(card.is_stale for card in cards)
    view(page).answer("site", "pcie")
    page.desk.flush()
    assert all(card.is_stale for card in cards if card.value != "pcie")
    settled(page, qtbot)
    assert not any(card.is_stale for card in cards)


def test_the_steps_count_questions_as_the_recommendation_does(page: DecidePage) -> None:
    view(page).answer("ttft_limit_ms", 1000.0)
    view(page).answer("tpot_limit_ms", 50.0)
    page.desk.flush()
    assert view(page).steps.progress.accessibleName() == "Step 1 of 9, 2 answered"


def test_an_answer_that_removes_all_says_so(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.SITE)
    settled(page, qtbot)
    card = option(page, "site", "pcie")
    assert card.effect is not None
    assert card.effect.text == "None remain"
    assert card.effect.sentence.startswith("None remain; H200 SXM ruled out")
    view(page).answer("site", "pcie")
    settled(page, qtbot)
    assert card.isChecked()
    assert option(page, "site", "open").effect is not None


# Answers


def test_a_click_answers_and_one_step_takes_it_back(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    card = option(page, "serving_engine", "vllm")
    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}
    assert card.isChecked()
    assert desk.undo_stack.undoText() == "Which serving engine do you need? vLLM"
    assert "answered" in view(page).steps.rows[0].accessibleName()
    assert block(page, "serving_engine").reset.isVisible()
    assert block(page, "serving_engine").reset.text() == "Reset to default: Any"
    desk.undo_stack.undo()
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {}
    assert option(page, "serving_engine", "any").isChecked()
    assert not card.isChecked()
    assert not block(page, "serving_engine").reset.isVisible()


def test_the_default_is_marked_and_can_be_gone_back_to(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    assert option(page, "serving_engine", "any").origin == "default"
    view(page).answer("serving_engine", "sglang")
    settled(page, qtbot)
    assert option(page, "serving_engine", "sglang").origin == ""
    QTest.mouseClick(block(page, "serving_engine").reset, Qt.MouseButton.LeftButton)
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {}
    assert desk.undo_stack.undoText() == "Reset answer: Which serving engine do you need?"


def test_what_the_scenario_says_is_its_answer(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Engine", serving_engine="vllm", demand=Demand(DemandKind.USERS, 100.0, ttft_ms=1500.0))
    settled(page, qtbot)
    assert option(page, "serving_engine", "vllm").origin == "from the scenario"
    assert view(page).steps.rows[2].accessibleName().endswith("1.5 s, from the scenario")
    view(page).answer("serving_engine", "any")
    settled(page, qtbot)
    assert block(page, "serving_engine").reset.text() == "Use scenario value: vLLM"
    view(page).show_screen(DialogueScreen.LATENCY)
    settled(page, qtbot)
    card = option(page, "ttft_limit_ms", 1500.0)
    assert card.isChecked()
    assert [each.value for each in block(page, "ttft_limit_ms").options] == [1000, 1500, 2000, 5000, "none"]


def test_a_number_of_ones_own_gets_a_card(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.LATENCY)
    settled(page, qtbot)
    asked = block(page, "ttft_limit_ms")
    QTest.mouseClick(asked.other, Qt.MouseButton.LeftButton)
    assert asked.field is not None
    assert focused() is asked.field
    QTest.keyClicks(asked.field, "1750")
    QTest.keyClick(asked.field, Qt.Key.Key_Return)
    assert view(page).screen_shown is DialogueScreen.LATENCY
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {"ttft_limit_ms": 1750.0}
    card = option(page, "ttft_limit_ms", 1750.0)
    assert card.words.title == "1.75 s"
    assert focused() is card
    assert not asked.field.isVisible()
    assert card.effect is not None


def test_a_number_that_cannot_be_is_said_at_the_field(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.LATENCY)
    settled(page, qtbot)
    asked = block(page, "tpot_limit_ms")
    asked.ask_for_number()
    assert asked.field is not None
    QTest.keyClicks(asked.field, "0")
    QTest.keyClick(asked.field, Qt.Key.Key_Return)
    assert "Minimum: " in asked.field.fault
    assert desk.scenario.decision.answers == {}


# Keys


def test_numbers_choose_and_enter_goes_on(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    page.focus_content()
    assert focused() is option(page, "serving_engine", "any")
    QTest.keyClick(focused(), Qt.Key.Key_2)
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}
    assert focused() is option(page, "serving_engine", "vllm")
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert view(page).screen_shown is DialogueScreen.MEMORY
    assert focused() is option(page, "shape", "free")
    QTest.keyClick(focused(), Qt.Key.Key_9)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}


def test_numbers_choose_in_the_question_that_has_the_focus(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    block(page, "tuned_for").focus_chosen()
    QTest.keyClick(focused(), Qt.Key.Key_3)
    desk.flush()
    assert desk.scenario.decision.answers == {"tuned_for": "cdna4"}


def test_arrows_go_through_the_answers_and_space_chooses(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    page.focus_content()
    for _ in range(2):
        QTest.keyClick(focused(), Qt.Key.Key_Down)
    assert focused() is option(page, "serving_engine", "sglang")
    assert desk.scenario.decision.answers == {}
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    desk.flush()
    assert desk.scenario.decision.answers == {"serving_engine": "sglang"}
    QTest.keyClick(focused(), Qt.Key.Key_End)
    assert focused() is option(page, "serving_engine", "own")
    QTest.keyClick(focused(), Qt.Key.Key_Down)
    assert focused() is option(page, "serving_engine", "any")


def test_tab_stops_once_at_each_question(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    for each in ("serving_engine", "tuned_for", "porting"):
        stops = [card for card in block(page, each).options if card.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert stops == [block(page, each).chosen]


def test_steps_are_gone_through_by_keys(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    steps = view(page).steps
    steps.focus_current()
    for _ in range(3):
        QTest.keyClick(focused(), Qt.Key.Key_Down)
    assert focused() is steps.rows[3]
    assert view(page).screen_shown is DialogueScreen.SOFTWARE
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert view(page).screen_shown is DialogueScreen.SITE
    assert focused() is option(page, "site", "open")
    steps.focus_current()
    QTest.keyClick(focused(), Qt.Key.Key_End)
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert view(page).screen_shown is DialogueScreen.VENDORS


def test_enter_on_a_button_presses_it(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    view(page).show_screen(DialogueScreen.SITE)
    view(page).back.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert view(page).screen_shown is DialogueScreen.LATENCY


def test_after_the_last_screen_comes_the_recommendation(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    dialogue = view(page)
    dialogue.show_screen(DialogueScreen.VENDORS)
    assert dialogue.next.text() == "See recommendation"
    assert not dialogue.recommend.isVisible()
    page.focus_content()
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert page.view_key == "result"
    assert not dialogue.isVisible()


def test_actions_step_through_the_screens(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    actions = {spec.id: spec for spec in page.list_page_actions()}
    assert {"decide.next", "decide.back", "decide.recommend", "decide.questions"} <= set(actions)
    assert actions["decide.next"].shortcuts == ("Alt+Right",)
    actions["decide.next"].run()
    assert view(page).screen_shown is DialogueScreen.MEMORY
    actions["decide.back"].run()
    actions["decide.back"].run()
    assert view(page).screen_shown is DialogueScreen.SOFTWARE
    actions["decide.recommend"].run()
    assert page.view_key == "result"
    assert not actions["decide.next"].enabled()


# What is not asked


def test_a_question_that_cannot_matter_is_named_with_the_reason(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.MONEY)
    QTest.keyClick(focused(), Qt.Key.Key_2)
    settled(page, qtbot)
    assert focused() is option(page, "acquisition", "own")
    body = view(page).body
    assert isinstance(body, QuestionScreenBody)
    assert body.question_ids == ("acquisition", "budget_usd", "adoption_months")
    (left_out,) = body.not_asked
    assert left_out.link.accessibleDescription() == (
        "Skipped: you answered that you own the accelerators, so hours are not rented."
    )
    assert left_out.link.accessibleName().startswith("Ask anyway: How many accelerator-hours")
    QTest.mouseClick(left_out.link, Qt.MouseButton.LeftButton)
    assert focused() is option(page, "monthly_hours", "unknown")
    QTest.keyClick(focused(), Qt.Key.Key_1)
    settled(page, qtbot)
    assert desk.scenario.decision.answers == {"acquisition": "own", "monthly_hours": 500.0}
    view(page).show_screen(DialogueScreen.TIMING)
    view(page).show_screen(DialogueScreen.MONEY)
    assert block(page, "monthly_hours").chosen.value == 500.0


def test_where_the_first_question_is_left_out_the_next_is_asked_large(
    page: DecidePage, desk: Desk, qtbot: QtBot
) -> None:
    desk.edit("One vendor", accelerators=(AcceleratorChoice("h200-sxm"), AcceleratorChoice("b200-hgx")))
    settled(page, qtbot)
    view(page).show_screen(DialogueScreen.TEAM)
    body = view(page).body
    assert isinstance(body, QuestionScreenBody)
    assert body.question_ids == ("tuning", "current_platform")
    assert isinstance(block(page, "tuning").options[0], OptionCard)
    assert len(body.not_asked) == 1


# The panel, what changes meanwhile, and looks


def test_what_is_pointed_at_is_selected_for_the_panel(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    card = option(page, "serving_engine", "tgi")
    QTest.mouseMove(card, QPoint(20, 20))
    card.setFocus(Qt.FocusReason.TabFocusReason)
    assert desk.selection == select_decision_option("serving_engine", "tgi")
    view(page).show_screen(DialogueScreen.LATENCY)
    assert desk.selection == select_decision_option("ttft_limit_ms", "none")
    assert desk.selection is not None
    assert desk.selection.answer == "none"
    assert select_decision_option("ttft_limit_ms", 2000.0).answer == 2000.0


def test_cards_follow_the_scenario(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.LATENCY)
    settled(page, qtbot)
    before = option(page, "ttft_limit_ms", 2000.0).effect
    load = replace(desk.scenario.workload.load, concurrency=512)
    desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
    settled(page, qtbot)
    after = option(page, "ttft_limit_ms", 2000.0).effect
    assert after is not None
    assert after != before
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:2])
    settled(page, qtbot)
    fewer = option(page, "ttft_limit_ms", 5000.0).effect
    assert fewer is not None
    assert len(fewer.parts) == 2


def test_answers_are_radio_buttons_for_screen_readers(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    card = option(page, "serving_engine", "any")
    seen = QAccessible.queryAccessibleInterface(card)
    assert seen is not None
    assert seen.role() == QAccessible.Role.RadioButton
    assert seen.state().checked
    assert seen.text(QAccessible.Text.Name) == "Any, Any engine that serves the model"
    assert seen.text(QAccessible.Text.Description).startswith("All 4 remain")


def test_eight_accelerators_take_more_lines(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    settled(page, qtbot)
    card = option(page, "serving_engine", "any")
    low = card.height()
    more = [AcceleratorChoice(part) for part in ("h100-sxm", "mi300x", "gb200-nvl72", "rtx-pro-6000")]
    known = {part.id for part in desk.service.catalog.accelerators()}
    choices = (*desk.scenario.accelerators, *(each for each in more if each.accelerator in known))
    desk.edit("More", accelerators=choices[:6])
    settled(page, qtbot)
    qtbot.waitUntil(lambda: card.height() > low)
    assert card.rows == 2


def test_a_narrow_card_puts_the_effect_below(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    card = option(page, "serving_engine", "any")
    assert isinstance(card, OptionCard)
    card.resize(2_000, card.height())
    wide, low = not card.narrow, card.sizeHint().height()
    card.resize(300, card.height())
    assert wide
    assert card.narrow
    assert card.sizeHint().height() > low


@pytest.mark.parametrize("percent", [90, 150])
def test_sizes_follow_the_letters(page: DecidePage, theme: Theme, qtbot: QtBot, percent: int) -> None:
    settled(page, qtbot)
    theme.set_font_percent(percent)
    card = option(page, "serving_engine", "any")
    qtbot.waitUntil(lambda: card.height() >= theme.px(64))
    assert view(page).steps.width() == theme.px(246)
    page.grab()


def test_answers_are_copied_as_lines(page: DecidePage, qtbot: QtBot) -> None:
    settled(page, qtbot)
    view(page).answer("priority", "cost")
    settled(page, qtbot)
    page.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == len(QUESTIONS)
    assert f"{get_question_text('priority')} Cost (yours)" in lines
    assert "Buy or rent? Undecided (default)" in lines


def test_a_hidden_page_works_nothing_out(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    view(page).show_screen(DialogueScreen.GOAL)
    page.hide()
    assert view(page).effects.busy
    qtbot.wait(30)
    assert view(page).effects.busy
    page.show()
    settled(page, qtbot)
    assert found_of(desk).decision is found_of(desk).decision
