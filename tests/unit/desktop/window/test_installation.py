"""The dialog that checks the installation: progress, result and cancellation."""

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
        {"check": check, "outcome": outcome, "found": detail, "seconds": 0.25} for check, outcome, detail in CHECKS
    ],
}


@pytest.fixture(autouse=True)
def temp_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put temporary files into a folder of the test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "self_test.py"


def open_dialog(theme: Theme, qtbot: QtBot, script: Path, code: str) -> InstallationDialog:
    """Return the dialog over a self-test that runs `code`, which writes its result to the path `result`."""
    script.write_text(f"import os, sys, time\nresult = sys.argv[-1]\n{code}\n")
    dialog = InstallationDialog(theme, command=[sys.executable, str(script)])
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def wait_until_finished(dialog: InstallationDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not dialog.check.running, timeout=20_000)


def get_cell(dialog: InstallationDialog, row: int, column: int, role: int = Qt.ItemDataRole.DisplayRole) -> str:
    return str(dialog.table.model().index(row, column).data(role))


def test_result_is_shown_and_copied(theme: Theme, qtbot: QtBot, script: Path, temp_dir: Path) -> None:
    dialog = open_dialog(theme, qtbot, script, f"open(result, 'w').write({json.dumps(RESULT)!r}); sys.exit(1)")
    assert not dialog.copy.isEnabled()
    assert dialog.leave.text() == "Cancel"
    wait_until_finished(dialog, qtbot)
    assert dialog.status_label.text() == "1 check failed."
    columns = [dialog.table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(3)]
    assert columns == ["Check", "Result", "Time"]
    assert not dialog.bar.isVisible()
    cells = [[get_cell(dialog, row, column) for column in range(3)] for row in range(3)]
    assert cells == [[check, detail, "0.25 s"] for check, _, detail in CHECKS]
    cursor_readout = [get_cell(dialog, row, 0, Qt.ItemDataRole.AccessibleTextRole) for row in range(3)]
    assert cursor_readout == ["Resources: ok", "Your folder: warning", "Fonts: failed"]
    # The first failed check is selected.
    assert dialog.table.currentIndex().row() == 1
    dialog.copy.setFocus()
    QTest.keyClick(dialog.copy, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == "all of it"
    assert dialog.copy.text() == "Copied"
    assert dialog.leave.text() == "Close"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert list(temp_dir.iterdir()) == []


def test_progress_is_shown(theme: Theme, qtbot: QtBot, script: Path, tmp_path: Path) -> None:
    continue_file = tmp_path / "go_on"
    wait = f"while not os.path.exists({str(continue_file)!r}): time.sleep(0.01)"
    code = f"print('head\\nA: ok\\nB: ok', flush=True)\n{wait}"
    dialog = open_dialog(theme, qtbot, script, code)
    assert dialog.status_label.text().startswith("Checking the installation.")
    qtbot.waitUntil(lambda: dialog.status_label.text() == "2 checks completed.", timeout=20_000)
    assert dialog.bar.isVisible()
    continue_file.touch()
    wait_until_finished(dialog, qtbot)


@pytest.mark.parametrize(
    "code",
    [
        "print('torn', flush=True); os.abort()",
        "open(result, 'w').write('{')",
        "open(result, 'w').write('[]')",
        "sys.exit(3)",
    ],
)
def test_crash_of_the_check_is_reported_with_its_output(
    theme: Theme, qtbot: QtBot, script: Path, code: str, temp_dir: Path
) -> None:
    dialog = open_dialog(theme, qtbot, script, code)
    wait_until_finished(dialog, qtbot)
    assert dialog.status_label.text().startswith("Installation check failed: the check stopped with exit code")
    assert dialog.text.startswith(dialog.status_label.text())
    assert ("torn" in dialog.text) == ("torn" in code)
    assert dialog.copy.isEnabled()
    assert list(temp_dir.iterdir()) == []


def test_failure_to_start_is_reported(theme: Theme, qtbot: QtBot, temp_dir: Path) -> None:
    dialog = InstallationDialog(theme, command=["/no/such/program"])
    qtbot.addWidget(dialog)
    wait_until_finished(dialog, qtbot)
    assert dialog.status_label.text().startswith("Installation check failed: ")
    assert dialog.status_label.text().endswith("Reinstall GPU Desk.")
    assert list(temp_dir.iterdir()) == []


def test_closing_the_dialog_ends_the_process(
    theme: Theme, qtbot: QtBot, script: Path, tmp_path: Path, temp_dir: Path
) -> None:
    pid_file = tmp_path / "number"
    code = f"open({str(pid_file)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(60)"
    dialog = open_dialog(theme, qtbot, script, code)
    qtbot.waitUntil(lambda: pid_file.exists() and pid_file.read_text().endswith("\n"), timeout=20_000)
    began = time.monotonic()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert time.monotonic() - began < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert list(temp_dir.iterdir()) == []


def open_from_help(window: MainWindow) -> None:
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "help.check")
    action.run()


def test_help_menu_opens_the_check(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMMAND, lambda: [sys.executable, "-c", "print('in its place')"])
    open_from_help(window)
    (dialog,) = window.findChildren(InstallationDialog)
    assert dialog.isVisible()
    wait_until_finished(dialog, qtbot)
    assert "in its place" in dialog.text
    dialog.close()


def test_self_test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_self_test_command() == [sys.executable, "-P", "-m", "gpudesk", "--self-test"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert make_self_test_command() == [sys.executable, "--self-test"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a loader that is called by name is Linux's")
def test_self_test_command_names_the_loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "gpudesk"
    program.write_bytes(b"not marked as a program")
    loader = str(Path(sys.executable).resolve())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    assert make_self_test_command() == [loader, str(program), "--self-test"]


def test_quitting_kills_the_check(
    qapp: QApplication, service: GpuDeskService, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COMMAND, lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    program = DesktopProgram(qapp, service)
    window = program.open_new_window()
    open_from_help(window)
    (dialog,) = window.findChildren(InstallationDialog)
    check = dialog.check
    destroyed: list[bool] = []
    check.destroyed.connect(lambda: destroyed.append(True))
    assert check.running
    program.end()
    assert destroyed == [True]
