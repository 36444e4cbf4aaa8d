"""Faults of the program itself: told once, counted, kept apart; and crashes, told at the next start."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer, qWarning
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.cli.main import main
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.window.faults.dialog import FaultDialog
from gpudesk.desktop.window.faults.reporter import FaultReporter
from gpudesk.desktop.window.start_page import RecoveredFileNote
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, message
from tests.e2e.conftest import StartProgram
from tests.e2e.user_actions import list_recovery_files, move_load
from tests.e2e.window_user import User

#: As the program shows it, before tests look in.
SHOW = FaultReporter.show

#: Crashes once its window is there; with an edit that was not saved where "edit" is asked for.
CRASHES = """
import faulthandler, sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from gpudesk.cli.main import main
from gpudesk.desktop.window.main_window import MainWindow

how, files = sys.argv[1], sys.argv[2:]

def act():
    (window,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, MainWindow)]
    if "edit" in how:
        QTest.keyClick(window.start.sample, Qt.Key.Key_Return)
        QTest.keyClick(window.scenario.load.slider, Qt.Key.Key_Right)
        window.document.keep_now()
    if "qt" in how:
        from PySide6.QtCore import qFatal
        qFatal("its text stays in Qt")
    faulthandler._sigsegv()

app = QApplication([])
QTimer.singleShot(100, act)
sys.exit(main(files))
"""


def crash(how: str = "") -> str:
    completed = subprocess.run(
        [sys.executable, "-c", CRASHES, how],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode < 0, completed.stderr
    return completed.stderr


@pytest.fixture(autouse=True)
def _shows_faults(program: StartProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FaultReporter, "show", SHOW)


@pytest.fixture
def log(user_home: Path) -> Callable[[], str]:
    return lambda: (user_home / "logs" / "gpudesk.log").read_text(encoding="utf-8")


def broken() -> None:
    raise RuntimeError("on purpose")


def also_broken() -> None:
    raise LookupError("on purpose too")


def nowhere() -> None:
    [].pop()


def soon(user: User, act: Callable[[], object]) -> None:
    QTimer.singleShot(0, user.window, act)


def dialogs() -> list[FaultDialog]:
    fault_dialogs = [each for each in QApplication.topLevelWidgets() if isinstance(each, FaultDialog)]
    return [dialog for dialog in fault_dialogs if dialog.isVisible()]


def dialog_of(user: User) -> FaultDialog:
    user.until(dialogs)
    (dialog,) = dialogs()
    return dialog


@pytest.mark.logs_warnings
def test_fault_is_reported_once_then_counted(program: StartProgram, log: Callable[[], str]) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return")
        soon(user, broken)
        dialog = dialog_of(user)
        assert QApplication.activeModalWidget() is dialog
        assert "RuntimeError in " in dialog.happened.text()
        report = dialog.report.toPlainText()
        assert "RuntimeError: on purpose" in report
        assert "Page: compare" in report
        assert "Last lines of the log" in report
        assert str(Path.home()) not in report
        for _ in range(3):
            soon(user, broken)
        user.until(dialog.again.isVisible)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        user.until(lambda: not dialogs())
        soon(user, broken)
        user.qtbot.wait(100)
        assert not dialogs()
        window.activateWindow()
        user.until(window.isActiveWindow)
        move_load(user)
        user.press("Ctrl+2")
        assert user.window.is_page("performance")

    program(at_window)
    assert log().count("Traceback") == 1
    assert "5 times in all" in log()


@pytest.mark.logs_warnings
def test_second_fault_is_reported_in_the_open_dialog(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        soon(user, broken)
        dialog = dialog_of(user)
        soon(user, also_broken)
        user.until(lambda: dialog.count == 2)
        assert "RuntimeError" in dialog.happened.text()
        dialog.step(1)
        assert "LookupError" in dialog.happened.text()
        assert len(dialogs()) == 1
        dialog.accept()
        user.until(lambda: not dialogs())
        soon(user, nowhere)
        assert "IndexError" in dialog_of(user).happened.text()

    program(at_window)


@pytest.mark.logs_warnings
def test_faults_in_every_paint_neither_freeze_nor_fill_the_disk(program: StartProgram, log: Callable[[], str]) -> None:
    class Stormy(QWidget):
        paints = 0

        def paintEvent(self, _event: object) -> None:
            self.paints += 1
            self.update()
            raise RuntimeError(f"paint {self.paints}")

    def at_window(user: User) -> None:
        stormy = Stormy(user.window)
        stormy.resize(40, 40)
        stormy.show()
        dialog = dialog_of(user)
        user.until(lambda: stormy.paints > 2000)
        began = time.thread_time()
        QApplication.processEvents()
        assert time.thread_time() - began < 0.5
        user.until(dialog.again.isVisible)
        assert dialog.count == 1
        dialog.accept()
        user.until(lambda: not dialogs())
        stormy.hide()
        user.qtbot.wait(50)
        assert not dialogs()

    program(at_window)
    assert log().count("Traceback") == 1
    assert len(log()) < 12_000


@pytest.mark.logs_warnings
def test_fault_in_a_thread_names_the_thread(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        threading.Thread(target=broken, name="reader").start()
        dialog = dialog_of(user)
        assert "In the thread reader" in dialog.report.toPlainText()
        assert dialog.thread() is QApplication.instance().thread()  # type: ignore[union-attr]

    program(at_window)


@pytest.mark.logs_warnings
def test_fault_in_a_job_is_reported_to_user_and_caller(program: StartProgram) -> None:
    def steps() -> ProgressSteps[int]:
        yield JobProgress(message("file.unreadable", "cannot be read: {reason}", reason="x"))
        raise RuntimeError("on purpose")

    def at_window(user: User) -> None:
        errors: list[InputError] = []
        user.window.jobs.start("import", steps(), lambda _: None, errors.append)
        assert "RuntimeError: on purpose" in dialog_of(user).report.toPlainText()
        assert len(errors) == 1

    program(at_window)


@pytest.mark.logs_warnings
def test_a_fault_of_a_finalizer_is_only_logged(program: StartProgram, log: Callable[[], str]) -> None:
    class Odd:
        def __del__(self) -> None:
            raise RuntimeError("on purpose")

    def at_window(user: User) -> None:
        # Three times, which the log counts up at the end.
        for _ in range(3):
            Odd()
        user.until(lambda: "RuntimeError: on purpose" in log())
        user.qtbot.wait(50)
        assert not dialogs()

    program(at_window)
    assert "3 times in all: " in log()


@pytest.mark.logs_warnings
@pytest.mark.qt_log_ignore("on purpose")
def test_qt_warnings_are_logged(program: StartProgram, log: Callable[[], str]) -> None:
    def at_window(user: User) -> None:
        soon(user, lambda: qWarning("on purpose"))
        user.until(lambda: "Qt, default: on purpose" in log())

    program(at_window)


@pytest.mark.logs_warnings
def test_fault_report_states_whether_changes_are_saved(
    program: StartProgram, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_window(user: User) -> None:
        soon(user, broken)
        dialog = dialog_of(user)
        assert dialog.work_label.text() == "You had no unsaved changes."
        dialog.accept()
        user.until(lambda: not dialogs())
        user.window.activateWindow()
        user.press("Return")
        move_load(user)
        soon(user, also_broken)
        dialog = dialog_of(user)
        assert dialog.work_label.text().startswith("Your unsaved changes are backed up")
        assert len(list_recovery_files(user_home)) == 1
        dialog.accept()
        user.until(lambda: not dialogs())
        monkeypatch.setattr(Document, "keep_now", lambda _: False)
        soon(user, nowhere)
        assert "Save them now." in dialog_of(user).work_label.text()

    program(at_window)


@pytest.mark.logs_warnings
def test_fault_before_the_first_window_is_reported(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[tuple[str, str]] = []

    def fail() -> GpuDeskService:
        timer = QTimer()
        timer.setSingleShot(True)
        timer.timeout.connect(broken)
        timer.start(0)
        QTest.qWait(50)
        (dialog,) = dialogs()
        messages.append((dialog.happened.text(), dialog.report.toPlainText()))
        raise InputError(message("file.unreadable", "cannot be read: {reason}", reason="x"), "catalog")

    monkeypatch.setattr(GpuDeskService, "open", staticmethod(fail))
    assert main([]) == 1
    ((happened, report),) = messages
    assert "RuntimeError" in happened
    assert "Page: none, while starting" in report
    assert not dialogs()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ZeroDivisionError("x"), "Internal error (ZeroDivisionError); report: "),
        (
            InputError(message("file.unreadable", "cannot be read: {reason}", reason="denied"), "c.sqlite"),
            "C.sqlite: cannot be read",
        ),
    ],
)
def test_failed_start_without_a_terminal_shows_a_window(
    qapp: QApplication,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    expected: str,
) -> None:
    texts: list[str] = []

    def fail() -> GpuDeskService:
        raise error

    def look() -> None:
        (dialog,) = dialogs()
        texts.append(dialog.happened.text())
        assert type(error).__name__ in dialog.report.toPlainText()
        dialog.leave.click()

    monkeypatch.setattr(GpuDeskService, "open", staticmethod(fail))
    monkeypatch.setattr(sys, "__stderr__", None)
    QTimer.singleShot(300, look)
    assert main([]) == 1
    assert texts[0].startswith(expected)
    assert capsys.readouterr().err.startswith("gpudesk: ")


# Crashes


def reports(user_home: Path) -> list[str]:
    return sorted(file.suffix for file in (user_home / "logs").glob("crash-*"))


def offered(user: User) -> list[str]:
    user.until(lambda: user.window.note.offers)
    return user.window.note.offers


def test_crash_is_reported_once_at_the_next_start(program: StartProgram, user_home: Path) -> None:
    crash()
    assert reports(user_home) == [".lock", ".log"]

    def show_it(user: User) -> None:
        (offer,) = offered(user)
        assert offer.startswith("GPU Desk ended unexpectedly on 20")
        user.click("Show report", user.window.note)
        dialog = dialog_of(user)
        report = dialog.report.toPlainText()
        assert "Segmentation fault" in report
        assert "started: GPU Desk" in report.partition("Last lines of the log")[2]
        assert dialog.leave.text() == "Close"
        dialog.copy.click()
        assert QApplication.clipboard().text() == report
        dialog.accept()
        assert user.window.note.offers == []

    program(show_it)
    assert reports(user_home) == [".txt"]

    def nothing_more(user: User) -> None:
        user.qtbot.wait(200)
        assert user.window.note.offers == []

    program(nothing_more)


def test_discarded_crash_report_is_deleted(program: StartProgram, user_home: Path) -> None:
    crash()

    def discard(user: User) -> None:
        offered(user)
        user.click("Discard", user.window.note)
        assert not user.window.note.isVisible()

    program(discard)
    assert reports(user_home) == []


def test_unread_crash_report_is_offered_again(program: StartProgram, user_home: Path) -> None:
    crash()
    program(lambda user: user.until(lambda: user.window.note.offers))
    crash()

    def both(user: User) -> None:
        (offer,) = offered(user)
        assert offer.startswith("GPU Desk ended unexpectedly 2 times, last on ")
        user.click("Show reports", user.window.note)
        assert dialog_of(user).count == 2

    program(both)


def test_fatal_qt_message_is_in_the_report(program: StartProgram) -> None:
    crash("qt")

    def at_window(user: User) -> None:
        offered(user)
        user.click("Show report", user.window.note)
        report = dialog_of(user).report.toPlainText()
        assert "Qt: [A qFatal() call was made from Python code]" in report
        assert "Aborted" in report

    program(at_window)


def test_start_page_offers_crash_report_and_recovered_file(program: StartProgram, user_home: Path) -> None:
    crash("edit")
    assert len(list_recovery_files(user_home)) == 1

    def at_window(user: User) -> None:
        offered(user)
        (note,) = user.window.start.findChildren(RecoveredFileNote)
        assert note.isVisible()
        user.click("Open recovered")
        assert user.window.note.offers
        user.click("Show report", user.window.note)
        assert dialog_of(user).count == 1

    program(at_window)


def test_open_file_offers_crash_report_and_recovered_file(program: StartProgram, file: Path) -> None:
    crash("edit")

    def at_window(user: User) -> None:
        user.until(lambda: len(user.window.note.offers) == 2)
        first = user.window
        assert [offer.split()[0] for offer in first.note.offers] == ["Recovered:", "GPU"]
        user.click("Show report", first.note)
        dialog_of(user).accept()
        user.until(lambda: not dialogs())
        first.activateWindow()
        user.click("Open", first.note)
        user.until(lambda: len(user.windows) == 2)

    program(at_window, str(file))


def test_log_has_events_but_no_contents(program: StartProgram, file: Path, log: Callable[[], str]) -> None:
    def at_window(user: User) -> None:
        user.press("Ctrl+2")
        move_load(user)
        user.press("Ctrl+S")

    program(at_window, str(file))
    for log_entry in ("started: GPU Desk ", "open: Catalog 20", "page performance", "opened: .gpudesk", "saved"):
        assert log_entry in log()
    assert log().rstrip().endswith("ended")
    for unsaid in (file.stem, "70b", "llama", "h200"):
        assert unsaid not in log().lower()
