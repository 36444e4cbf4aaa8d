"""The dialog of faults: what it says, its keys and buttons, and that none of several is lost."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.window.faults.dialog import FaultDialog, make_fault_message
from gpudesk.desktop.window.faults.log import FaultRecord

Open = Callable[..., FaultDialog]


def fault(kind: str = "KeyError", place: str = "desktop/app.py:7") -> FaultRecord:
    return FaultRecord(kind, place, f"Traceback\n{kind}: 'x'\n")


@pytest.fixture
def opened(theme: Theme, qtbot: QtBot) -> Iterator[Open]:
    made: list[FaultDialog] = []

    def open_it(*faults: FaultRecord) -> FaultDialog:
        told = [make_fault_message(each, "All is kept.", f"Report of {each.kind}") for each in faults]
        dialog = FaultDialog(theme, told, "Continue")
        made.append(dialog)
        dialog.present()
        qtbot.waitExposed(dialog)
        return dialog

    yield open_it
    for dialog in made:
        if isValid(dialog):
            dialog.close()


def test_it_says_what_happened_what_was_kept_and_shows_the_report(opened: Open) -> None:
    dialog = opened(fault())
    assert dialog.title.text() == "Internal error"
    assert dialog.happened.text() == "An operation failed: KeyError in desktop/app.py:7."
    assert dialog.work_label.text() == "All is kept."
    assert dialog.report.toPlainText() == "Report of KeyError"
    assert dialog.report.isReadOnly()
    assert not dialog.next.isVisible()
    assert not dialog.again.isVisible()


def test_a_fault_without_a_place_is_said_without(opened: Open) -> None:
    assert opened(fault(place="")).happened.text() == "An operation failed: KeyError."


def test_the_report_is_copied_and_the_dialog_stays(opened: Open) -> None:
    dialog = opened(fault())
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "Report of KeyError"
    assert dialog.copy.text() == "Copied"
    assert dialog.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_enter_and_escape_go_on(opened: Open, key: Qt.Key) -> None:
    dialog = opened(fault())
    assert dialog.focusWidget() is dialog.leave
    QTest.keyClick(dialog.focusWidget(), key)
    assert not isValid(dialog) or not dialog.isVisible()


def test_it_takes_no_other_window_the_event_loop(opened: Open) -> None:
    dialog = opened(fault())
    assert dialog.isModal()
    assert QApplication.activeModalWidget() is dialog


def test_a_fault_that_comes_meanwhile_is_added_and_turned_to(opened: Open) -> None:
    dialog = opened(fault())
    dialog.copy_report()
    dialog.add(make_fault_message(fault("ValueError"), "", "Report of ValueError"))
    assert dialog.report.toPlainText() == "Report of KeyError"
    assert dialog.place.text() == "1 of 2"
    assert not dialog.former.isEnabled()
    QTest.mouseClick(dialog.next, Qt.MouseButton.LeftButton)
    assert dialog.report.toPlainText() == "Report of ValueError"
    assert dialog.copy.text() == "Copy report"
    assert not dialog.work_label.isVisible()
    assert not dialog.next.isEnabled()
    QTest.mouseClick(dialog.former, Qt.MouseButton.LeftButton)
    assert dialog.work_label.isVisible()
    assert dialog.place.text() == "1 of 2"


def test_a_fault_that_comes_again_is_counted_where_it_is_shown(opened: Open, qtbot: QtBot) -> None:
    shown, other = fault(), fault("ValueError")
    dialog = opened(shown, other)
    shown.again(1200)
    qtbot.waitUntil(dialog.again.isVisible)
    assert dialog.again.text().startswith("Occurred 1200 times, last at ")
    dialog.step(1)
    assert not dialog.again.isVisible()


def test_the_folder_of_logs_is_opened_or_named(opened: Open, user_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)
    dialog = opened(fault())
    QTest.mouseClick(dialog.folder, Qt.MouseButton.LeftButton)
    assert str(user_home / "logs") in dialog.status_label.text()
    assert (user_home / "logs").is_dir()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_enter_on_a_button_does_what_it_says_and_leaves_the_dialog_open(opened: Open, key: Qt.Key) -> None:
    dialog = opened(fault())
    QGuiApplication.clipboard().clear()
    dialog.copy.setFocus()
    QTest.keyClick(dialog.copy, key)
    assert dialog.isVisible()
    assert QGuiApplication.clipboard().text() == dialog.report.toPlainText()


def test_all_of_it_can_be_reached_by_the_keyboard_and_has_a_name(opened: Open) -> None:
    dialog = opened(fault(), fault("ValueError"))
    seen = []
    for _ in range(6):
        focus = dialog.focusWidget()
        assert focus is not None
        seen.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert {dialog.leave, dialog.next, dialog.report, dialog.copy, dialog.folder} <= set(seen)
    assert all(button.accessibleName() for button in dialog.findChildren(QAbstractButton))
    assert dialog.report.accessibleName() == "Report"
    assert dialog.accessibleDescription().startswith("Internal error. An operation failed")


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("preference", ["light", DARK])
def test_nothing_is_cut(theme: Theme, opened: Open, percent: int, preference: str) -> None:
    theme.set_preference(preference)
    theme.set_font_percent(percent)
    dialog = opened(fault("AVeryLongNameOfAnErrorOfSomeLibrary", "desktop/pages/memory/needed_view.py:88"))
    for label in (dialog.title, dialog.happened, dialog.work_label, dialog.status_label):
        assert label.height() >= label.heightForWidth(label.width())
    for button in dialog.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.width() >= button.sizeHint().width()


def test_a_storm_of_counts_costs_the_dialog_nothing(opened: Open) -> None:
    shown = fault()
    opened(shown)
    began = time.thread_time()
    for number in range(20_000):
        shown.again(number)
    assert time.thread_time() - began < 1.0
