"""The frame of the page Decide: its views, what is missing, and files of rules that cannot be read."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.page import DecidePage
from gpudesk.desktop.pages.decide.questions_view import QuestionsView
from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import select_decision_option
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.decision import DialogueScreen
from gpudesk.service import GpuDeskService
from tests.fakes import replace_data_path
from tests.unit.desktop.pages.decide.views_of import found_of


@pytest.fixture
def window(qapp: QApplication, service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, service)
    made = program.open_new_window()
    made.resize(1440, 900)
    made.open_template("70b-chat-on-four")
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    QTest.keyClick(made, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    yield made
    program.end()


def page_of(window: MainWindow) -> DecidePage:
    assert isinstance(window.page, DecidePage)
    return window.page


def shown_screen(dialogue: QuestionsView) -> str | None:
    return None if dialogue.screen_shown is None else dialogue.screen_shown.value


def test_the_page_opens_by_its_key_and_begins_with_the_questions(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    assert page.view_key == "questions"
    assert window.rail.page == "decide"
    assert list(page._specs)[:2] == ["questions", "result"]


def test_each_view_is_an_action_and_can_be_shown(window: MainWindow, qtbot: QtBot) -> None:
    page = page_of(window)
    actions = {spec.id: spec for spec in window.list_window_actions()}
    for key in page._specs:
        actions[f"decide.{key}"].run()
        assert page.view_key == key
        assert page.view.isVisible()
        page.grab()


def test_keys_of_the_window_go_through_the_dialogue(window: MainWindow, qtbot: QtBot) -> None:
    dialogue = page_of(window).view
    assert isinstance(dialogue, QuestionsView)
    dialogue.show_screen(DialogueScreen.SOFTWARE)
    alt = Qt.KeyboardModifier.AltModifier
    QTest.keyClick(window, Qt.Key.Key_Right, alt)
    QTest.keyClick(window, Qt.Key.Key_Right, alt)
    assert shown_screen(dialogue) == "latency"
    QTest.keyClick(window, Qt.Key.Key_Left, alt)
    assert shown_screen(dialogue) == "memory"
    focus = window.focused()
    assert focus is not None
    QTest.keyClick(focus, Qt.Key.Key_2)
    assert window.desk.scenario.decision.answers == {"shape": "one"}
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.desk.scenario.decision.answers == {}


def test_the_panel_explains_the_answer_that_has_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None and window.body.panel.isVisible())
    panel = window.body.panel
    assert panel is not None
    dialogue = page_of(window).view
    assert isinstance(dialogue, QuestionsView)
    dialogue.show_screen(DialogueScreen.LATENCY)
    assert window.desk.selection == select_decision_option("ttft_limit_ms", "none")
    assert isinstance(panel, SourcesPanel)
    assert panel.explanation is not None
    assert panel.explanation.what == "Effect of this answer"
    focus = window.focused()
    assert focus is not None
    QTest.keyClick(focus, Qt.Key.Key_Up)
    assert panel.explanation.conditions.endswith("? 5 s · Odds of being the cheapest")


def test_tab_reads_the_steps_then_the_questions_then_the_way_on(window: MainWindow, qtbot: QtBot) -> None:
    dialogue = page_of(window).view
    assert isinstance(dialogue, QuestionsView)
    dialogue.show_screen(DialogueScreen.SOFTWARE)
    qtbot.waitUntil(lambda: not dialogue.effects.busy)
    dialogue.steps.focus_current()
    met = []
    for _ in range(5):
        focus = window.focused()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        now = window.focused()
        assert now is not None
        met.append(now.accessibleName())
    assert met[0].startswith("Any, ")
    assert met[1].startswith("No, ")
    assert met[2].startswith("Yes, ")
    assert met[3:] == ["See recommendation now", "Next question"]


def test_a_dragged_load_is_decided_once_for_its_latest_value(window: MainWindow, qtbot: QtBot) -> None:
    page, desk = page_of(window), window.desk
    page.choose_view("result")
    qtbot.waitUntil(page.view.isVisible)
    shown = page.views["result"]
    assert isinstance(shown, ResultView)

    def drag_to(concurrency: int) -> EvaluatedAnswer:
        load = replace(desk.scenario.workload.load, concurrency=concurrency)
        desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
        desk.flush()
        return found_of(desk)

    desk.begin_gesture("load")
    passed = [drag_to(concurrency) for concurrency in (80, 96, 128)]
    assert not any("decision" in each.__dict__ for each in passed)
    qtbot.waitUntil(lambda: shown._evaluated is passed[-1])
    assert ["decision" in each.__dict__ for each in passed] == [False, False, True]
    last = drag_to(64)
    desk.end_gesture()
    assert shown._evaluated is last


def test_what_is_missing_is_said(window: MainWindow) -> None:
    window.desk.edit("None", accelerators=())
    window.desk.flush()
    page = page_of(window)
    assert not page.body.usable
    assert not page.head.copy.isEnabled()
    actions = {spec.id: spec for spec in window.list_window_actions()}
    assert not actions["decide.next"].enabled()
    page.focus_content()


def test_rules_that_cannot_be_read_are_told_in_place(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "seed.toml").write_text("rules = [", encoding="utf-8")
    service = window.desk.service
    kept = service.__dict__.pop("decider")
    replace_data_path(monkeypatch, "rules", lambda: tmp_path)
    try:
        window.desk.edit("Other", name="Another one")
        window.desk.flush()
        page = page_of(window)
        assert not page.body.usable
        assert "seed.toml" in page.body.note.text
    finally:
        service.__dict__["decider"] = kept
