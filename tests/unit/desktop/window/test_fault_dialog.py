"""The dialog of internal errors: its text, keys and buttons, and that all of several errors are shown."""

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

OpenDialog = Callable[..., FaultDialog]


def make_record(kind: str = "KeyError", location: str = "desktop/app.py:7") -> FaultRecord:
    return FaultRecord(kind, location, f"Traceback\n{kind}: 'x'\n")


@pytest.fixture
def open_dialog(theme: Theme, qtbot: QtBot) -> Iterator[OpenDialog]:
    dialogs: list[FaultDialog] = []

    def show(*faults: FaultRecord) -> FaultDialog:
        messages = [make_fault_message(each, "All is kept.", f"Report of {each.kind}") for each in faults]
        dialog = FaultDialog(theme, messages, "Continue")
        dialogs.append(dialog)
        dialog.present()
        qtbot.waitExposed(dialog)
        return dialog

    yield show
    for dialog in dialogs:
        if isValid(dialog):
            dialog.close()


def test_dialog_shows_the_error_the_saved_work_and_the_report(open_dialog: OpenDialog) -> None:
    dialog = open_dialog(make_record())
    assert dialog.title.text() == "Internal error"
    assert dialog.happened.text() == "An operation failed: KeyError in desktop/app.py:7."
    assert dialog.work_label.text() == "All is kept."
    assert dialog.report.toPlainText() == "Report of KeyError"
    assert dialog.report.isReadOnly()
    assert not dialog.next.isVisible()
    assert not dialog.again.isVisible()


def test_error_without_a_location(open_dialog: OpenDialog) -> None:
    assert open_dialog(make_record(location="")).happened.text() == "An operation failed: KeyError."


def test_copying_the_report_keeps_the_dialog_open(open_dialog: OpenDialog) -> None:
    dialog = open_dialog(make_record())
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "Report of KeyError"
    assert dialog.copy.text() == "Copied"
    assert dialog.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_enter_and_escape_close_the_dialog(open_dialog: OpenDialog, key: Qt.Key) -> None:
    dialog = open_dialog(make_record())
    assert dialog.focusWidget() is dialog.leave
    QTest.keyClick(dialog.focusWidget(), key)
    assert not isValid(dialog) or not dialog.isVisible()


def test_dialog_is_modal(open_dialog: OpenDialog) -> None:
    dialog = open_dialog(make_record())
    assert dialog.isModal()
    assert QApplication.activeModalWidget() is dialog


def test_later_error_is_added_as_a_second_page(open_dialog: OpenDialog) -> None:
    dialog = open_dialog(make_record())
    dialog.copy.click()
    dialog.add(make_fault_message(make_record("ValueError"), "", "Report of ValueError"))
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


def test_repeated_error_is_counted_on_its_page(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    repeated, other = make_record(), make_record("ValueError")
    dialog = open_dialog(repeated, other)
    repeated.again(1200)
    qtbot.waitUntil(dialog.again.isVisible)
    assert dialog.again.text().startswith("Occurred 1200 times, last at ")
    dialog.step(1)
    assert not dialog.again.isVisible()


def test_folder_of_logs_is_opened_or_named(
    open_dialog: OpenDialog, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)
    dialog = open_dialog(make_record())
    QTest.mouseClick(dialog.folder, Qt.MouseButton.LeftButton)
    assert str(user_home / "logs") in dialog.status_label.text()
    assert (user_home / "logs").is_dir()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_enter_on_a_button_keeps_the_dialog_open(open_dialog: OpenDialog, key: Qt.Key) -> None:
    dialog = open_dialog(make_record())
    QGuiApplication.clipboard().clear()
    dialog.copy.setFocus()
    QTest.keyClick(dialog.copy, key)
    assert dialog.isVisible()
    assert QGuiApplication.clipboard().text() == dialog.report.toPlainText()


def test_controls_are_reachable_by_tab_and_named(open_dialog: OpenDialog) -> None:
    dialog = open_dialog(make_record(), make_record("ValueError"))
    focused_widgets = []
    for _ in range(6):
        focus = dialog.focusWidget()
        assert focus is not None
        focused_widgets.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert {dialog.leave, dialog.next, dialog.report, dialog.copy, dialog.folder} <= set(focused_widgets)
    assert all(button.accessibleName() for button in dialog.findChildren(QAbstractButton))
    assert dialog.report.accessibleName() == "Report"
    assert dialog.accessibleDescription().startswith("Internal error. An operation failed")


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("preference", ["light", DARK])
def test_no_text_is_clipped(theme: Theme, open_dialog: OpenDialog, percent: int, preference: str) -> None:
    theme.set_preference(preference)
    theme.set_font_percent(percent)
    dialog = open_dialog(make_record("AVeryLongNameOfAnErrorOfSomeLibrary", "desktop/pages/memory/needed_view.py:88"))
    for label in (dialog.title, dialog.happened, dialog.work_label, dialog.status_label):
        assert label.height() >= label.heightForWidth(label.width())
    for button in dialog.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.width() >= button.sizeHint().width()


def test_counting_many_repeats_is_fast(open_dialog: OpenDialog) -> None:
    repeated = make_record()
    open_dialog(repeated)
    began = time.thread_time()
    for number in range(20_000):
        repeated.again(number)
    assert time.thread_time() - began < 1.0
