"""The start page."""

import os
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock, call

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.document import RecoveredScenario
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window import start_page
from gpudesk.desktop.window.start_page import SAMPLE_TEMPLATE_ID, StartPage, list_start_questions
from gpudesk.documents.scenario_file import list_template_ids, read_template

EDITED = datetime(2026, 3, 1, 14, 2).astimezone()
CHAT = RecoveredScenario(Path("first"), read_template(SAMPLE_TEMPLATE_ID), Path("70B chat.gpudesk"), EDITED)
BIG = RecoveredScenario(Path("second"), read_template("405b-one-node"), Path("405B.gpudesk"), EDITED)


@pytest.fixture
def window(theme: Theme) -> Mock:
    return Mock(theme=theme)


@pytest.fixture
def recent(tmp_path: Path) -> Path:
    file = tmp_path / "70b chat.gpudesk"
    file.touch()
    os.utime(file, (EDITED.timestamp(), EDITED.timestamp()))
    return file


@pytest.fixture
def page(window: Mock, qtbot: QtBot) -> StartPage:
    widget = StartPage(window)
    qtbot.addWidget(widget)
    widget.resize(944, 752)
    widget.show()
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    widget.focus_content()
    return widget


def find_button(page: StartPage, name: str) -> QAbstractButton:
    return next(b for b in page.findChildren(QAbstractButton) if b.accessibleName() == name)


def test_enter_opens_the_sample(page: StartPage, window: Mock) -> None:
    assert page.sample.hasFocus()
    QTest.keyClick(page.sample, Qt.Key.Key_Return)
    window.open_template.assert_called_once_with(SAMPLE_TEMPLATE_ID)


def test_enter_activates_the_focused_button(page: StartPage, window: Mock) -> None:
    page.empty.setFocus()
    QTest.keyClick(page.empty, Qt.Key.Key_Enter)
    window.new.assert_called_once()
    window.open_template.assert_not_called()


@pytest.mark.parametrize("position", range(4))
def test_digit_opens_its_question(page: StartPage, window: Mock, position: int) -> None:
    QTest.keyClicks(page.sample, "1234"[position])
    window.open_template.assert_called_once_with(list_start_questions()[position].template)


def test_other_digits_and_chords_open_nothing(page: StartPage, window: Mock) -> None:
    QTest.keyClicks(page.sample, "5")
    QTest.keyClick(page.sample, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    window.open_template.assert_not_called()


def test_questions_match_their_templates() -> None:
    assert {SAMPLE_TEMPLATE_ID, *(question.template for question in list_start_questions())} <= set(list_template_ids())
    for question in list_start_questions():
        scenario = read_template(question.template)
        assert f"{scenario.workload.load.concurrency} requests in flight" in question.detail
        counts = {choice.count or 1 for choice in scenario.accelerators}
        assert {1: "1 accelerator each", 4: "4 accelerators each", 8: "8 each of 6"}[counts.pop()] in question.detail
    assert len(read_template(SAMPLE_TEMPLATE_ID).accelerators) == 4


def test_empty_list_of_recent_files_has_a_hint(page: StartPage) -> None:
    assert "Your saved scenarios appear here." in [
        label.text() for label in page.findChildren(QLabel) if label.isVisible()
    ]


def test_recent_file_is_opened_by_its_row(page: StartPage, window: Mock, recent: Path) -> None:
    page.set_recent([recent])
    row = find_button(page, "Open 70b chat")
    assert "2026-03-01" in row.accessibleDescription()
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    window.open_path.assert_called_once_with(recent)


@pytest.mark.parametrize("name", ["Open", "Discard"])
def test_recovered_files_are_opened_or_discarded(
    page: StartPage, window: Mock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    discard = Mock()
    monkeypatch.setattr(start_page, "list_recovered", lambda: [CHAT, BIG])
    monkeypatch.setattr(start_page, "discard_recovered", discard)
    page.set_recovered([CHAT, BIG])
    texts = [label.text() for label in page.findChildren(QLabel)]
    assert "Recovered: 70B chat, edited 2026-03-01" in texts
    QTest.mouseClick(find_button(page, f"{name} recovered 405B"), Qt.MouseButton.LeftButton)
    assert discard.call_args_list == ([call(BIG)] if name == "Discard" else [])
    assert window.open_recovered.call_args_list == ([call(BIG)] if name == "Open" else [])


def test_tab_follows_the_reading_order_and_scrolls(page: StartPage, qtbot: QtBot, recent: Path) -> None:
    page.set_recent([recent])
    page.set_recovered([CHAT])
    page.resize(500, 300)
    last = find_button(page, "Open 70b chat")
    qtbot.waitUntil(last.isVisible)
    find_button(page, "Open recovered 70B chat").setFocus()
    names = []
    for _ in range(10):
        names.append(page.focusWidget().accessibleName())
        QTest.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    assert names == [
        "Open recovered 70B chat",
        "Discard recovered 70B chat",
        "Open sample: 70B chat",
        "Help me choose",
        "New empty scenario",
        *(question.title for question in list_start_questions()),
        "Open 70b chat",
    ]
    QTest.keyClick(page.focusWidget(), Qt.Key.Key_Backtab)
    assert last.hasFocus()
    bar = page.findChildren(QScrollArea)[0].verticalScrollBar()
    assert bar.value() > bar.maximum() - 60


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="only file systems of some kinds keep such dates")
def test_recent_file_without_a_valid_date_is_listed(page: StartPage) -> None:
    with TemporaryDirectory(dir="/dev/shm") as folder:
        file = Path(folder) / "chat.gpudesk"
        file.touch()
        os.utime(file, (2**40, 2**40))
        page.set_recent([file])
    assert "1970-01-01" in find_button(page, "Open chat").accessibleDescription()
