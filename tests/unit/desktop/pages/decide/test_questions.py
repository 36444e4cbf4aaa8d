"""The questions: effects of answers, answering and resetting, keys, skipped questions."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
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
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.decision import QUESTIONS, DialogueScreen
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.decision.questions import ColumnOutcome, get_question_text
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> DecidePage:
    """Return the page with four accelerators on two platforms, and no answers."""
    decide_page = DecidePage(desk, theme, settings)
    qtbot.addWidget(decide_page)
    decide_page.resize(1180, 760)
    decide_page.show()
    decide_page.activateWindow()
    qtbot.waitUntil(decide_page.isActiveWindow)
    get_view(decide_page).show_screen(DialogueScreen.SOFTWARE, focus=False)
    return decide_page


def get_view(page: DecidePage) -> QuestionsView:
    assert isinstance(page.view, QuestionsView)
    return page.view


def get_block(page: DecidePage, question: str) -> QuestionBlock:
    body = get_view(page).body
    assert isinstance(body, QuestionScreenBody)
    return next(each for each in body.blocks if each.question == question)


def get_option(page: DecidePage, question: str, value: str | float) -> OptionButton:
    return next(each for each in get_block(page, question).options if each.value == value)


def wait_for_effects(page: DecidePage, qtbot: QtBot) -> None:
    """Wait until the effects of all visible answers are computed."""
    page.desk.flush()
    qtbot.waitUntil(lambda: not get_view(page).effects.busy)


def get_focused_widget() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def list_titles(page: DecidePage) -> list[str]:
    body = get_view(page).body
    assert isinstance(body, QuestionScreenBody)
    return [each.title.text() for each in body.blocks]


# Questions and effects


def test_first_screen_has_its_questions(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    assert list_titles(page)[0] == "Which serving engine do you need?"
    assert len(list_titles(page)) == 3
    assert isinstance(get_block(page, "serving_engine").options[0], OptionCard)
    assert isinstance(get_block(page, "tuned_for").options[0], SmallOptionCard)
    steps = get_view(page).steps
    assert len(steps.rows) == 9
    assert steps.rows[0].accessibleName().endswith("current question")
    assert steps.rows[1].accessibleName().endswith("not answered")
    assert steps.progress.accessibleName() == "Step 1 of 9, 0 answered"
    assert not get_view(page).back.isEnabled()


def test_every_question_is_on_a_screen(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    question_ids: list[str] = []
    for screen in DialogueScreen:
        get_view(page).show_screen(screen)
        body = get_view(page).body
        assert isinstance(body, QuestionScreenBody)
        question_ids += body.question_ids
        wait_for_effects(page, qtbot)
        for each in body.blocks:
            assert all(card.effect is not None for card in each.options)
            assert all(card.accessibleName() for card in each.options)
            assert all(card.accessibleDescription() for card in each.options)
    assert question_ids == list(QUESTIONS)


def test_effect_of_an_answer_is_the_decision_of_the_service(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.LATENCY)
    wait_for_effects(page, qtbot)
    card = get_option(page, "ttft_limit_ms", 2000.0)
    assert card.effect is not None
    assert card.effect.text == "All 4 remain; 2 undecided"
    assert [fate for _, fate in card.effect.parts] == [ColumnOutcome.UNDECIDED] * 2 + [ColumnOutcome.STAYS] * 2
    assert desk.answer is not None
    expected = desk.service.decide(desk.answer, {"ttft_limit_ms": 2000.0})
    assert get_evaluated(desk).decide_alternative("ttft_limit_ms", 2000.0) == expected
    assert "key 2" in card.accessibleDescription()


def test_effects_are_computed_in_steps(page: DecidePage, desk: Desk) -> None:
    # A length that no other test uses, since cached estimates would be too fast.
    desk.edit("Length", workload=replace(desk.scenario.workload, input_tokens=3977))
    desk.flush()
    get_view(page).show_screen(DialogueScreen.LATENCY)
    assert get_view(page).effects.busy
    # The effects of the TTFT limit are already known, since that question is among the most relevant.
    assert get_evaluated(desk).find_alternative("tpot_limit_ms", "none") is None
    while get_evaluated(desk).find_alternative("tpot_limit_ms", "none") is None:
        assert get_view(page).effects.busy
        get_view(page).effects._step()
    assert get_evaluated(desk).find_alternative("service", "offline") is None


def test_effects_of_a_former_decision_are_dimmed(page: DecidePage, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.SITE)
    wait_for_effects(page, qtbot)
    cards = get_block(page, "site").options
    assert not any(card.is_stale for card in cards)
    get_view(page).answer("site", "pcie")
    page.desk.flush()
    assert all(card.is_stale for card in cards if card.value != "pcie")
    wait_for_effects(page, qtbot)
    assert not any(card.is_stale for card in cards)


def test_progress_counts_answers(page: DecidePage) -> None:
    get_view(page).answer("ttft_limit_ms", 1000.0)
    get_view(page).answer("tpot_limit_ms", 50.0)
    page.desk.flush()
    assert get_view(page).steps.progress.accessibleName() == "Step 1 of 9, 2 answered"


def test_answer_that_rules_out_all_is_marked(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.SITE)
    wait_for_effects(page, qtbot)
    card = get_option(page, "site", "pcie")
    assert card.effect is not None
    assert card.effect.text == "None remain"
    assert card.effect.sentence.startswith("None remain; H200 SXM ruled out")
    get_view(page).answer("site", "pcie")
    wait_for_effects(page, qtbot)
    assert card.isChecked()
    assert get_option(page, "site", "open").effect is not None


# Answers


def test_click_answers_as_one_undo_step(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "vllm")
    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}
    assert card.isChecked()
    assert desk.undo_stack.undoText() == "Which serving engine do you need? vLLM"
    assert "answered" in get_view(page).steps.rows[0].accessibleName()
    assert get_block(page, "serving_engine").reset.isVisible()
    assert get_block(page, "serving_engine").reset.text() == "Reset to default: Any"
    desk.undo_stack.undo()
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {}
    assert get_option(page, "serving_engine", "any").isChecked()
    assert not card.isChecked()
    assert not get_block(page, "serving_engine").reset.isVisible()


def test_default_is_marked_and_restored(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    assert get_option(page, "serving_engine", "any").origin == "default"
    get_view(page).answer("serving_engine", "sglang")
    wait_for_effects(page, qtbot)
    assert get_option(page, "serving_engine", "sglang").origin == ""
    QTest.mouseClick(get_block(page, "serving_engine").reset, Qt.MouseButton.LeftButton)
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {}
    assert desk.undo_stack.undoText() == "Reset answer: Which serving engine do you need?"


def test_scenario_values_are_answers(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Engine", serving_engine="vllm", demand=Demand(DemandKind.USERS, 100.0, ttft_ms=1500.0))
    wait_for_effects(page, qtbot)
    assert get_option(page, "serving_engine", "vllm").origin == "from the scenario"
    assert get_view(page).steps.rows[2].accessibleName().endswith("1.5 s, from the scenario")
    get_view(page).answer("serving_engine", "any")
    wait_for_effects(page, qtbot)
    assert get_block(page, "serving_engine").reset.text() == "Use scenario value: vLLM"
    get_view(page).show_screen(DialogueScreen.LATENCY)
    wait_for_effects(page, qtbot)
    card = get_option(page, "ttft_limit_ms", 1500.0)
    assert card.isChecked()
    assert [each.value for each in get_block(page, "ttft_limit_ms").options] == [1000, 1500, 2000, 5000, "none"]


def test_typed_number_gets_a_card(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.LATENCY)
    wait_for_effects(page, qtbot)
    question_block = get_block(page, "ttft_limit_ms")
    QTest.mouseClick(question_block.other, Qt.MouseButton.LeftButton)
    assert question_block.field is not None
    assert get_focused_widget() is question_block.field
    QTest.keyClicks(question_block.field, "1750")
    QTest.keyClick(question_block.field, Qt.Key.Key_Return)
    assert get_view(page).screen_shown is DialogueScreen.LATENCY
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {"ttft_limit_ms": 1750.0}
    card = get_option(page, "ttft_limit_ms", 1750.0)
    assert card.words.title == "1.75 s"
    assert get_focused_widget() is card
    assert not question_block.field.isVisible()
    assert card.effect is not None


def test_invalid_number_is_reported_at_the_field(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.LATENCY)
    wait_for_effects(page, qtbot)
    question_block = get_block(page, "tpot_limit_ms")
    question_block.ask_for_number()
    assert question_block.field is not None
    QTest.keyClicks(question_block.field, "0")
    QTest.keyClick(question_block.field, Qt.Key.Key_Return)
    assert "Minimum: " in question_block.field.fault
    assert desk.scenario.decision.answers == {}


# Keys


def test_digits_answer_and_enter_continues(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    page.focus_content()
    assert get_focused_widget() is get_option(page, "serving_engine", "any")
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_2)
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}
    assert get_focused_widget() is get_option(page, "serving_engine", "vllm")
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert get_view(page).screen_shown is DialogueScreen.MEMORY
    assert get_focused_widget() is get_option(page, "shape", "free")
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_9)
    assert desk.scenario.decision.answers == {"serving_engine": "vllm"}


def test_digits_answer_the_focused_question(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    get_block(page, "tuned_for").focus_chosen()
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_3)
    desk.flush()
    assert desk.scenario.decision.answers == {"tuned_for": "cdna4"}


def test_arrow_keys_move_and_space_answers(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    page.focus_content()
    for _ in range(2):
        QTest.keyClick(get_focused_widget(), Qt.Key.Key_Down)
    assert get_focused_widget() is get_option(page, "serving_engine", "sglang")
    assert desk.scenario.decision.answers == {}
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Space)
    desk.flush()
    assert desk.scenario.decision.answers == {"serving_engine": "sglang"}
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_End)
    assert get_focused_widget() is get_option(page, "serving_engine", "own")
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Down)
    assert get_focused_widget() is get_option(page, "serving_engine", "any")


def test_tab_stops_once_per_question(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    for each in ("serving_engine", "tuned_for", "porting"):
        stops = [card for card in get_block(page, each).options if card.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert stops == [get_block(page, each).chosen]


def test_steps_are_opened_by_keys(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    steps = get_view(page).steps
    steps.focus_current()
    for _ in range(3):
        QTest.keyClick(get_focused_widget(), Qt.Key.Key_Down)
    assert get_focused_widget() is steps.rows[3]
    assert get_view(page).screen_shown is DialogueScreen.SOFTWARE
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert get_view(page).screen_shown is DialogueScreen.SITE
    assert get_focused_widget() is get_option(page, "site", "open")
    steps.focus_current()
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_End)
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Space)
    assert get_view(page).screen_shown is DialogueScreen.VENDORS


def test_enter_clicks_the_focused_button(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    get_view(page).show_screen(DialogueScreen.SITE)
    get_view(page).back.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert get_view(page).screen_shown is DialogueScreen.LATENCY


def test_last_screen_continues_to_the_recommendation(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    dialogue = get_view(page)
    dialogue.show_screen(DialogueScreen.VENDORS)
    assert dialogue.next.text() == "See recommendation"
    assert not dialogue.recommend.isVisible()
    page.focus_content()
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_Return)
    assert page.view_key == "result"
    assert not dialogue.isVisible()


def test_actions_step_through_the_screens(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    actions = {spec.id: spec for spec in page.list_page_actions()}
    assert {"decide.next", "decide.back", "decide.recommend", "decide.questions"} <= set(actions)
    assert actions["decide.next"].shortcuts == ("Alt+Right",)
    actions["decide.next"].run()
    assert get_view(page).screen_shown is DialogueScreen.MEMORY
    actions["decide.back"].run()
    actions["decide.back"].run()
    assert get_view(page).screen_shown is DialogueScreen.SOFTWARE
    actions["decide.recommend"].run()
    assert page.view_key == "result"
    assert not actions["decide.next"].enabled()


# Skipped questions


def test_skipped_question_has_a_reason(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.MONEY)
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_2)
    wait_for_effects(page, qtbot)
    assert get_focused_widget() is get_option(page, "acquisition", "own")
    body = get_view(page).body
    assert isinstance(body, QuestionScreenBody)
    assert body.question_ids == ("acquisition", "budget_usd", "adoption_months")
    (skipped,) = body.not_asked
    assert skipped.link.accessibleDescription() == (
        "Skipped: you answered that you own the accelerators, so hours are not rented."
    )
    assert skipped.link.accessibleName().startswith("Ask anyway: How many accelerator-hours")
    QTest.mouseClick(skipped.link, Qt.MouseButton.LeftButton)
    assert get_focused_widget() is get_option(page, "monthly_hours", "unknown")
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_1)
    wait_for_effects(page, qtbot)
    assert desk.scenario.decision.answers == {"acquisition": "own", "monthly_hours": 500.0}
    get_view(page).show_screen(DialogueScreen.TIMING)
    get_view(page).show_screen(DialogueScreen.MONEY)
    assert get_block(page, "monthly_hours").chosen.value == 500.0


def test_first_asked_question_has_large_cards(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("One vendor", accelerators=(AcceleratorChoice("h200-sxm"), AcceleratorChoice("b200-hgx")))
    wait_for_effects(page, qtbot)
    get_view(page).show_screen(DialogueScreen.TEAM)
    body = get_view(page).body
    assert isinstance(body, QuestionScreenBody)
    assert body.question_ids == ("tuning", "current_platform")
    assert isinstance(get_block(page, "tuning").options[0], OptionCard)
    assert len(body.not_asked) == 1


# Panel, updates and appearance


def test_focused_answer_is_selected_for_the_panel(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "tgi")
    QTest.mouseMove(card, QPoint(20, 20))
    card.setFocus(Qt.FocusReason.TabFocusReason)
    assert desk.selection == select_decision_option("serving_engine", "tgi")
    get_view(page).show_screen(DialogueScreen.LATENCY)
    assert desk.selection == select_decision_option("ttft_limit_ms", "none")
    assert desk.selection is not None
    assert desk.selection.answer == "none"
    assert select_decision_option("ttft_limit_ms", 2000.0).answer == 2000.0


def test_cards_follow_the_scenario(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.LATENCY)
    wait_for_effects(page, qtbot)
    before = get_option(page, "ttft_limit_ms", 2000.0).effect
    load = replace(desk.scenario.workload.load, concurrency=512)
    desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
    wait_for_effects(page, qtbot)
    after = get_option(page, "ttft_limit_ms", 2000.0).effect
    assert after is not None
    assert after != before
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:2])
    wait_for_effects(page, qtbot)
    fewer = get_option(page, "ttft_limit_ms", 5000.0).effect
    assert fewer is not None
    assert len(fewer.parts) == 2


def test_answers_are_radio_buttons_for_screen_readers(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "any")
    interface = QAccessible.queryAccessibleInterface(card)
    assert interface is not None
    assert interface.role() == QAccessible.Role.RadioButton
    assert interface.state().checked
    assert interface.text(QAccessible.Text.Name) == "Any, Any engine that serves the model"
    assert interface.text(QAccessible.Text.Description).startswith("All 4 remain")


def test_many_accelerators_take_two_lines(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "any")
    one_row_height = card.height()
    more_choices = [
        AcceleratorChoice(accelerator) for accelerator in ("h100-sxm", "mi300x", "gb200-nvl72", "rtx-pro-6000")
    ]
    catalog_ids = {accelerator.id for accelerator in desk.service.catalog.accelerators()}
    choices = (*desk.scenario.accelerators, *(each for each in more_choices if each.accelerator in catalog_ids))
    desk.edit("More", accelerators=choices[:6])
    wait_for_effects(page, qtbot)
    qtbot.waitUntil(lambda: card.height() > one_row_height)
    assert card.rows == 2


def test_narrow_card_puts_the_effect_below(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "any")
    assert isinstance(card, OptionCard)
    card.resize(2_000, card.height())
    is_wide, wide_height = not card.narrow, card.sizeHint().height()
    card.resize(300, card.height())
    assert is_wide
    assert card.narrow
    assert card.sizeHint().height() > wide_height


def test_effect_that_does_not_fit_is_shortened(page: DecidePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_effects(page, qtbot)
    card = get_option(page, "serving_engine", "any")
    assert card.effect is not None
    texts: list[str] = []

    def note_text(_pen: ThemePainter, _place: QRectF, text: str, **_style: object) -> float:
        texts.append(text)
        return 0.0

    monkeypatch.setattr(ThemePainter, "text", note_text)
    card.effect = replace(card.effect, text="long " * 100, brief="short")
    card.grab()
    assert "short" in texts


@pytest.mark.parametrize("percent", [90, 150])
def test_sizes_follow_the_text_size(page: DecidePage, theme: Theme, qtbot: QtBot, percent: int) -> None:
    wait_for_effects(page, qtbot)
    theme.set_font_percent(percent)
    card = get_option(page, "serving_engine", "any")
    qtbot.waitUntil(lambda: card.height() >= theme.px(64))
    assert get_view(page).steps.width() == theme.px(246)
    page.grab()


def test_answers_are_copied_as_lines(page: DecidePage, qtbot: QtBot) -> None:
    wait_for_effects(page, qtbot)
    get_view(page).answer("priority", "cost")
    wait_for_effects(page, qtbot)
    page.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == len(QUESTIONS)
    assert f"{get_question_text('priority')} Cost (yours)" in lines
    assert "Buy or rent? Undecided (default)" in lines


def test_hidden_page_computes_no_effects(page: DecidePage, desk: Desk, qtbot: QtBot) -> None:
    get_view(page).show_screen(DialogueScreen.GOAL)
    page.hide()
    assert get_view(page).effects.busy
    qtbot.wait(30)
    assert get_view(page).effects.busy
    page.show()
    wait_for_effects(page, qtbot)
    assert get_evaluated(desk).decision is get_evaluated(desk).decision
