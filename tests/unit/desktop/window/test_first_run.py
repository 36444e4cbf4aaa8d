"""The page that a window opens with."""

import pytest
from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.start_page import (
    SAMPLE_TEMPLATE_ID,
    FirstRunPage,
    RecentFile,
    RecoveredFile,
    list_start_questions,
)
from gpudesk.documents.scenario_file import list_template_ids, read_template

CHAT = RecentFile("/home/anna/70b chat.gpudesk", "70b chat.gpudesk", "14:02")


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> FirstRunPage:
    made = FirstRunPage(theme)
    qtbot.addWidget(made)
    made.resize(944, 752)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.focus_content()
    return made


def button(page: FirstRunPage, name: str) -> QAbstractButton:
    return next(b for b in page.findChildren(QAbstractButton) if b.accessibleName() == name)


def test_enter_opens_the_sample(page: FirstRunPage, qtbot: QtBot) -> None:
    assert page.sample.hasFocus()
    with qtbot.waitSignal(page.open_sample):
        QTest.keyClick(page.sample, Qt.Key.Key_Return)


def test_enter_opens_what_has_the_focus(page: FirstRunPage, qtbot: QtBot) -> None:
    page.empty.setFocus()
    with qtbot.assertNotEmitted(page.open_sample), qtbot.waitSignal(page.start_empty):
        QTest.keyClick(page.empty, Qt.Key.Key_Enter)


@pytest.mark.parametrize("position", range(4))
def test_a_digit_opens_its_question(page: FirstRunPage, qtbot: QtBot, position: int) -> None:
    with qtbot.waitSignal(page.open_template) as opened:
        QTest.keyClicks(page.sample, "1234"[position])
    assert opened.args == [list_start_questions()[position].template]


def test_other_digits_and_chords_open_nothing(page: FirstRunPage, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(page.open_template):
        QTest.keyClicks(page.sample, "5")
        QTest.keyClick(page.sample, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)


def test_the_questions_say_what_their_templates_hold() -> None:
    assert {SAMPLE_TEMPLATE_ID, *(question.template for question in list_start_questions())} <= set(list_template_ids())
    for question in list_start_questions():
        scenario = read_template(question.template)
        assert f"{scenario.workload.load.concurrency} requests in flight" in question.detail
        counts = {choice.count or 1 for choice in scenario.accelerators}
        assert {1: "1 accelerator each", 4: "4 accelerators each", 8: "8 each of 6"}[counts.pop()] in question.detail
    assert len(read_template(SAMPLE_TEMPLATE_ID).accelerators) == 4


def test_without_recent_files_it_says_so(page: FirstRunPage) -> None:
    assert "Your saved scenarios appear here." in [
        label.text() for label in page.findChildren(QLabel) if label.isVisible()
    ]


def test_a_recent_file_is_opened_by_its_row(page: FirstRunPage, qtbot: QtBot) -> None:
    page.set_recent([CHAT])
    row = button(page, "Open 70b chat.gpudesk")
    assert "14:02" in row.accessibleDescription()
    with qtbot.waitSignal(page.open_file) as opened:
        QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    assert opened.args == [CHAT.path]


@pytest.mark.parametrize(("name", "signal"), [("Open", "open_recovered"), ("Discard", "discard_recovered")])
def test_what_a_crash_left_is_opened_or_discarded(page: FirstRunPage, qtbot: QtBot, name: str, signal: str) -> None:
    page.set_recovered([RecoveredFile("first", "70B chat", "14:02"), RecoveredFile("second", "405B", "9:10")])
    said = [label.text() for label in page.findChildren(QLabel)]
    assert "Recovered: 70B chat, edited 14:02" in said
    wanted: SignalInstance = getattr(page, signal)
    with qtbot.waitSignal(wanted) as chosen:
        QTest.mouseClick(button(page, f"{name} recovered 405B"), Qt.MouseButton.LeftButton)
    assert chosen.args == ["second"]


def test_tab_goes_as_the_eye_does_and_scrolls(page: FirstRunPage, qtbot: QtBot) -> None:
    page.set_recent([CHAT])
    page.set_recovered([RecoveredFile("first", "70B chat", "14:02")])
    page.resize(500, 300)
    recent = button(page, "Open 70b chat.gpudesk")
    qtbot.waitUntil(recent.isVisible)
    button(page, "Open recovered 70B chat").setFocus()
    passed = []
    for _ in range(10):
        passed.append(page.focusWidget().accessibleName())
        QTest.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    assert passed == [
        "Open recovered 70B chat",
        "Discard recovered 70B chat",
        "Open sample: 70B chat",
        "Help me choose",
        "New empty scenario",
        *(question.title for question in list_start_questions()),
        "Open 70b chat.gpudesk",
    ]
    QTest.keyClick(page.focusWidget(), Qt.Key.Key_Backtab)
    assert recent.hasFocus()
    bar = page.findChildren(QScrollArea)[0].verticalScrollBar()
    assert bar.value() > bar.maximum() - 60
