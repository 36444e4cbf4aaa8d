"""The Decide page: its views, missing input, and unreadable rule files."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.page import DecidePage
from gpudesk.desktop.pages.decide.questions_view import QuestionsView
from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import select_decision_option
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.decision import DialogueScreen
from gpudesk.service import GpuDeskService
from tests.fakes import replace_data_path
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated


@pytest.fixture
def window(qapp: QApplication, service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, service)
    main_window = program.open_new_window()
    main_window.resize(1440, 900)
    main_window.open_template("70b-chat-on-four")
    main_window.activateWindow()
    qtbot.waitUntil(main_window.isActiveWindow)
    QTest.keyClick(main_window, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    yield main_window
    program.end()


def get_page(window: MainWindow) -> DecidePage:
    assert isinstance(window.page, DecidePage)
    return window.page


def get_screen(dialogue: QuestionsView) -> str | None:
    return None if dialogue.screen_shown is None else dialogue.screen_shown.value


def test_page_opens_by_shortcut_with_the_questions(window: MainWindow, qtbot: QtBot) -> None:
    page = get_page(window)
    assert page.view_key == "questions"
    assert window.rail.page == "decide"
    assert list(page._specs)[:2] == ["questions", "result"]


def test_each_view_is_an_action(window: MainWindow, qtbot: QtBot) -> None:
    page = get_page(window)
    actions = {spec.id: spec for spec in window.list_window_actions()}
    for key in page._specs:
        actions[f"decide.{key}"].run()
        assert page.view_key == key
        assert page.view.isVisible()
        page.grab()


def test_window_shortcuts_navigate_the_questions(window: MainWindow, qtbot: QtBot) -> None:
    dialogue = get_page(window).view
    assert isinstance(dialogue, QuestionsView)
    dialogue.show_screen(DialogueScreen.SOFTWARE)
    alt = Qt.KeyboardModifier.AltModifier
    QTest.keyClick(window, Qt.Key.Key_Right, alt)
    QTest.keyClick(window, Qt.Key.Key_Right, alt)
    assert get_screen(dialogue) == "latency"
    QTest.keyClick(window, Qt.Key.Key_Left, alt)
    assert get_screen(dialogue) == "memory"
    focus = window.focused()
    assert focus is not None
    QTest.keyClick(focus, Qt.Key.Key_2)
    assert window.desk.scenario.decision.answers == {"shape": "one"}
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.desk.scenario.decision.answers == {}


def test_panel_explains_the_focused_answer(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None and window.body.panel.isVisible())
    panel = window.body.panel
    assert panel is not None
    dialogue = get_page(window).view
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


def test_tab_order_is_steps_questions_buttons(window: MainWindow, qtbot: QtBot) -> None:
    dialogue = get_page(window).view
    assert isinstance(dialogue, QuestionsView)
    dialogue.show_screen(DialogueScreen.SOFTWARE)
    qtbot.waitUntil(lambda: not dialogue.effects.busy)
    dialogue.steps.focus_current()
    names = []
    for _ in range(5):
        focus = window.focused()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        focused = window.focused()
        assert focused is not None
        names.append(focused.accessibleName())
    assert names[0].startswith("Any, ")
    assert names[1].startswith("No, ")
    assert names[2].startswith("Yes, ")
    assert names[3:] == ["See recommendation now", "Next question"]


@pytest.mark.parametrize("key", ["questions", "result", "vendors"])
def test_labels_keep_their_colors(window: MainWindow, theme: Theme, key: str) -> None:
    """A background role of the view would change the role with which its labels draw."""
    page = get_page(window)
    page.choose_view(key)
    labels = page.view.findChildren(ThemedLabel)
    assert labels
    for label in labels:
        assert label.palette().color(QPalette.ColorGroup.Active, label.foregroundRole()) == theme.color(label._color)


def test_drag_of_the_load_decides_only_its_last_value(window: MainWindow, qtbot: QtBot) -> None:
    page, desk = get_page(window), window.desk
    page.choose_view("result")
    qtbot.waitUntil(page.view.isVisible)
    result_view = page.views["result"]
    assert isinstance(result_view, ResultView)

    def drag_to(concurrency: int) -> EvaluatedAnswer:
        load = replace(desk.scenario.workload.load, concurrency=concurrency)
        desk.edit("Load", workload=replace(desk.scenario.workload, load=load))
        desk.flush()
        return get_evaluated(desk)

    desk.begin_gesture("load")
    evaluated_answers = [drag_to(concurrency) for concurrency in (80, 96, 128)]
    assert not any("decision" in each.__dict__ for each in evaluated_answers)
    qtbot.waitUntil(lambda: result_view._evaluated is evaluated_answers[-1])
    assert ["decision" in each.__dict__ for each in evaluated_answers] == [False, False, True]
    last = drag_to(64)
    desk.end_gesture()
    assert result_view._evaluated is last


def test_missing_accelerators_are_reported(window: MainWindow) -> None:
    window.desk.edit("None", accelerators=())
    window.desk.flush()
    page = get_page(window)
    assert not page.body.usable
    assert not page.head.copy.isEnabled()
    actions = {spec.id: spec for spec in window.list_window_actions()}
    assert not actions["decide.next"].enabled()
    page.focus_content()


def test_unreadable_rules_are_reported_on_the_page(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "seed.toml").write_text("rules = [", encoding="utf-8")
    service = window.desk.service
    cached_decider = service.__dict__.pop("decider")
    replace_data_path(monkeypatch, "rules", lambda: tmp_path)
    try:
        window.desk.edit("Other", name="Another one")
        window.desk.flush()
        page = get_page(window)
        assert not page.body.usable
        assert "seed.toml" in page.body.note.text
    finally:
        service.__dict__["decider"] = cached_decider
