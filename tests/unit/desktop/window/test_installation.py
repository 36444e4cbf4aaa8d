"""The check of the installation from the window: how far it is, what it found, and ending it early."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.dialogs.installation import InstallationDialog, make_self_test_command
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService

COMMAND = "gpudesk.desktop.window.dialogs.installation.make_self_test_command"
CHECKS = [("Resources", "ok", "98 files"), ("Your folder", "warning", "is full"), ("Fonts", "failed", "gone")]
RESULT = {
    "ok": False,
    "verdict": "1 check failed.",
    "text": "all of it",
    "checks": [
        {"check": check, "outcome": outcome, "found": found, "seconds": 0.25} for check, outcome, found in CHECKS
    ],
}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary folders lie in one of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "self_test.py"


def opened(theme: Theme, qtbot: QtBot, script: Path, code: str) -> InstallationDialog:
    """Return the dialog over a self-test that does as the code says; `result` is where its result goes."""
    script.write_text(f"import os, sys, time\nresult = sys.argv[-1]\n{code}\n")
    dialog = InstallationDialog(theme, command=[sys.executable, str(script)])
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def finished(dialog: InstallationDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not dialog.check.running, timeout=20_000)


def cell(dialog: InstallationDialog, row: int, column: int, role: int = Qt.ItemDataRole.DisplayRole) -> str:
    return str(dialog.table.model().index(row, column).data(role))


def test_what_was_found_is_shown_and_copied(theme: Theme, qtbot: QtBot, script: Path, temporary: Path) -> None:
    dialog = opened(theme, qtbot, script, f"open(result, 'w').write({json.dumps(RESULT)!r}); sys.exit(1)")
    assert not dialog.copy.isEnabled()
    assert dialog.leave.text() == "Cancel"
    finished(dialog, qtbot)
    assert dialog.status_label.text() == "1 check failed."
    columns = [dialog.table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(3)]
    assert columns == ["Check", "Result", "Time"]
    assert not dialog.bar.isVisible()
    cells = [[cell(dialog, row, column) for column in range(3)] for row in range(3)]
    assert cells == [[check, found, "0.25 s"] for check, _, found in CHECKS]
    cursor_readout = [cell(dialog, row, 0, Qt.ItemDataRole.AccessibleTextRole) for row in range(3)]
    assert cursor_readout == ["Resources: ok", "Your folder: warning", "Fonts: failed"]
    # What is wrong first is looked at first.
    assert dialog.table.currentRow() == 1
    dialog.copy.setFocus()
    QTest.keyClick(dialog.copy, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == "all of it"
    assert dialog.copy.text() == "Copied"
    assert dialog.leave.text() == "Close"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert list(temporary.iterdir()) == []


def test_how_far_it_is_is_said(theme: Theme, qtbot: QtBot, script: Path, tmp_path: Path) -> None:
    go_on = tmp_path / "go_on"
    wait = f"while not os.path.exists({str(go_on)!r}): time.sleep(0.01)"
    code = f"print('head\\nA: ok\\nB: ok', flush=True)\n{wait}"
    dialog = opened(theme, qtbot, script, code)
    assert dialog.status_label.text().startswith("Checking the installation.")
    qtbot.waitUntil(lambda: dialog.status_label.text() == "2 checks completed.", timeout=20_000)
    assert dialog.bar.isVisible()
    go_on.touch()
    finished(dialog, qtbot)


@pytest.mark.parametrize(
    "code",
    [
        "print('torn', flush=True); os.abort()",
        "open(result, 'w').write('{')",
        "open(result, 'w').write('[]')",
        "sys.exit(3)",
    ],
)
def test_check_that_ends_without_a_result_is_said_with_what_it_left(
    theme: Theme, qtbot: QtBot, script: Path, code: str, temporary: Path
) -> None:
    dialog = opened(theme, qtbot, script, code)
    finished(dialog, qtbot)
    assert dialog.status_label.text().startswith("Installation check failed: the check stopped with exit code")
    assert dialog.text.startswith(dialog.status_label.text())
    assert ("torn" in dialog.text) == ("torn" in code)
    assert dialog.copy.isEnabled()
    assert list(temporary.iterdir()) == []


def test_program_that_cannot_be_started_is_said(theme: Theme, qtbot: QtBot, temporary: Path) -> None:
    dialog = InstallationDialog(theme, command=["/no/such/program"])
    qtbot.addWidget(dialog)
    finished(dialog, qtbot)
    assert dialog.status_label.text().startswith("Installation check failed: ")
    assert dialog.status_label.text().endswith("Reinstall GPU Desk.")
    assert list(temporary.iterdir()) == []


def test_closing_the_dialog_ends_the_process(
    theme: Theme, qtbot: QtBot, script: Path, tmp_path: Path, temporary: Path
) -> None:
    number = tmp_path / "number"
    code = f"open({str(number)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(60)"
    dialog = opened(theme, qtbot, script, code)
    qtbot.waitUntil(lambda: number.exists() and number.read_text().endswith("\n"), timeout=20_000)
    began = time.monotonic()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert time.monotonic() - began < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)
    assert list(temporary.iterdir()) == []


def check_from_help(window: MainWindow) -> None:
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "help.check")
    action.run()


def test_help_leads_to_it(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMMAND, lambda: [sys.executable, "-c", "print('in its place')"])
    check_from_help(window)
    (dialog,) = window.findChildren(InstallationDialog)
    assert dialog.isVisible()
    finished(dialog, qtbot)
    assert "in its place" in dialog.text
    dialog.close()


def test_program_runs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_self_test_command() == [sys.executable, "-P", "-m", "gpudesk", "--self-test"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert make_self_test_command() == [sys.executable, "--self-test"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a loader that is called by name is Linux's")
def test_program_that_the_loader_runs_is_run_by_it_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "gpudesk"
    program.write_bytes(b"not marked as a program")
    loader = str(Path(sys.executable).resolve())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    assert make_self_test_command() == [loader, str(program), "--self-test"]


def test_program_that_ends_takes_the_check_with_it(
    qapp: QApplication, service: GpuDeskService, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No one waits for it, and Qt does not complain of a process that was lost."""
    monkeypatch.setattr(COMMAND, lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    program = DesktopProgram(qapp, service)
    window = program.open_new_window()
    check_from_help(window)
    (dialog,) = window.findChildren(InstallationDialog)
    check = dialog.check
    ended: list[bool] = []
    check.destroyed.connect(lambda: ended.append(True))
    assert check.running
    program.end()
    assert ended == [True]
