"""The window when the system fails: crashes, termination requests, second starts, unwritable folders."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.session.document import list_recovered
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sheet_preview import SheetPreview
from gpudesk.desktop.window.start_page import RecoveredFileNote
from tests.e2e.conftest import StartProgram
from tests.e2e.user_actions import list_recovery_files, load, load_in, move_load
from tests.e2e.window_user import User, names

#: Opens the sample unless it is given a file, moves the load by a key, and says so.
EDITS = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from gpudesk.cli.main import main
from gpudesk.desktop.window.main_window import MainWindow

def edit():
    (window,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, MainWindow)]
    if window.page is None:
        QTest.keyClick(window.start.sample, Qt.Key.Key_Return)
    QTest.keyClick(window.scenario.load.slider, Qt.Key.Key_Right)
    print(window.desk.scenario.workload.load.concurrency, flush=True)

app = QApplication([])
QTimer.singleShot(0, edit)
sys.exit(main(sys.argv[1:]))
"""


def ended_by(number: signal.Signals, home: Path, *arguments: str) -> tuple[int, int]:
    """End another program by a signal once its edit is kept; return the exit code and the edited load."""
    with subprocess.Popen(
        [sys.executable, "-c", EDITS, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        edited = int(process.stdout.readline())
        if number is signal.SIGKILL:
            # Written within a second of the edit; a busy machine may give the program its turn later.
            deadline = time.monotonic() + 30
            while not list_recovery_files(home) and time.monotonic() < deadline:
                assert process.poll() is None
                time.sleep(0.05)
        process.send_signal(number)
        code = process.wait(timeout=90)
        assert "Traceback" not in process.stderr.read()
    assert len(list_recovery_files(home)) == 1
    return code, edited


@pytest.fixture(scope="module")
def killed_program(homes: Path) -> tuple[Path, int]:
    """The home of a program that was killed after an edit of its sample, and the edited load."""
    home = homes / "killed"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPUDESK_HOME", str(home))
        _, edited = ended_by(signal.SIGKILL, home)
    return home, edited


@pytest.fixture
def recovered_load(killed_program: tuple[Path, int], user_home: Path) -> int:
    """Leave to the user what a killed program left; return the load that its sample was edited to."""
    home, edited = killed_program
    shutil.copytree(home, user_home)
    return edited


# Crashes and ends


def test_edits_of_a_killed_program_are_recovered(program: StartProgram, file: Path, user_home: Path) -> None:
    _, edited = ended_by(signal.SIGKILL, user_home, str(file))
    assert load_in(file) == 64

    def at_window(user: User) -> None:
        note = user.window.start.findChild(RecoveredFileNote)
        assert note is not None
        assert note.isVisible()
        assert note.label.text().startswith("Recovered: chat, edited ")
        user.click("Open recovered chat")
        assert load(user) == edited
        assert user.window.isWindowModified()
        assert load_in(file) == 64
        user.press("Ctrl+S")
        assert load_in(file) == edited
        assert list_recovery_files(user_home) == []

    program(at_window)


@pytest.mark.usefixtures("recovered_load")
def test_recovered_file_is_discarded_on_request(program: StartProgram, user_home: Path) -> None:
    def at_window(user: User) -> None:
        user.click("Discard recovered Llama 3.1 70B")
        assert list_recovery_files(user_home) == []
        assert not any(note.isVisible() for note in user.window.start.findChildren(RecoveredFileNote))

    program(at_window)


@pytest.mark.parametrize("choice", ["Open", "Discard"])
def test_recovered_file_is_offered_above_an_opened_file(
    program: StartProgram, file: Path, user_home: Path, recovered_load: int, choice: str
) -> None:
    def at_window(user: User) -> None:
        first = user.window
        (offer,) = first.note.offers
        assert offer.startswith("Recovered: Llama 3.1 70B chat, four accelerators compared, edited ")
        user.click(choice, first.note)
        assert first.note.offers == []
        if choice == "Open":
            user.until(lambda: len(user.windows) == 2)
            second = user.windows[-1]
            assert second.desk.scenario.workload.load.concurrency == recovered_load
            assert second.isWindowModified()
        else:
            assert list_recovery_files(user_home) == []
        assert first.desk.scenario.workload.load.concurrency == 64

    program(at_window, str(file))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_termination_request_keeps_edits_without_asking(user_home: Path, number: signal.Signals) -> None:
    code, edited = ended_by(number, user_home)
    assert code == 0
    assert f'\\"concurrency\\": {edited}' in list_recovery_files(user_home)[0].read_text()


def test_scenario_without_accelerators_is_recovered(program: StartProgram, user_home: Path) -> None:
    def edit(user: User) -> None:
        user.press("Ctrl+N")
        user.window.scenario.input_tokens.edit.setFocus()
        user.press("Ctrl+A")
        user.type("777")
        user.press("Return")
        user.until(lambda: list_recovery_files(user_home))
        (path,) = list_recovery_files(user_home)
        path.with_name("a.recovery").write_bytes(path.read_bytes())

    def recovered(user: User) -> None:
        user.click("Open recovered Untitled")
        assert user.window.desk.scenario.workload.input_tokens == 777

    program(edit)
    program(recovered)


# Closing


def test_keep_editing_keeps_the_window(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        for answer in ("Cancel", "Esc"):
            user.will_answer(answer)
            user.press("Ctrl+W")
            assert user.window.isVisible()
            assert user.window.isWindowModified()
        assert user.asked == ["Save changes to “chat.gpudesk”?"] * 2

    program(at_window, str(file))
    assert load_in(file) == 64


@pytest.mark.parametrize("key", ["Ctrl+W", "Ctrl+Q"])
def test_save_saves_and_closes(program: StartProgram, file: Path, user_home: Path, key: str) -> None:
    edited: list[float] = []

    def at_window(user: User) -> None:
        edited.append(move_load(user))
        user.will_answer("Save")
        user.press(key)
        assert user.windows == []

    program(at_window, str(file))
    assert load_in(file) == edited[0]
    assert list_recovery_files(user_home) == []


def test_discard_changes_closes_without_recovery_file(program: StartProgram, file: Path, user_home: Path) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        user.until(lambda: list_recovery_files(user_home))
        user.will_answer("Discard changes")
        user.press("Ctrl+W")
        assert user.windows == []

    program(at_window, str(file))
    assert load_in(file) == 64
    assert list((user_home / "recovery").iterdir()) == []


def test_canceled_save_at_close_keeps_the_window(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.press("Return")
        move_load(user)
        user.will_choose(None)
        user.will_answer("Save")
        user.press("Ctrl+W")
        assert user.window.isVisible()

    program(at_window)


def test_quitting_stops_at_a_window_kept_open(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        user.press("Ctrl+N")
        user.until(lambda: len(user.windows) == 2)
        user.will_answer("Cancel")
        user.press("Ctrl+Q")
        assert user.windows[0].document.path == file

    program(at_window, str(file))


# The screen, other starts, the printer


def test_window_of_a_disconnected_monitor_moves_into_view(
    program: StartProgram, user_home: Path, qapp: QApplication
) -> None:
    away = QWidget()
    away.setGeometry(7000, 5000, 900, 700)
    geometry = bytes(away.saveGeometry().toBase64().data()).decode()
    user_home.mkdir()
    (user_home / "settings.json").write_text(json.dumps({"window.geometry": geometry}))

    def at_window(user: User) -> None:
        room = user.window.screen().availableGeometry()
        title = user.window.frameGeometry()
        title.setHeight(30)
        assert room.intersects(title.adjusted(40, 0, -40, 0))

    program(at_window)


def test_invalid_window_geometry_is_ignored(program: StartProgram, user_home: Path) -> None:
    user_home.mkdir()
    (user_home / "settings.json").write_text(json.dumps({"window.geometry": "no place", "window.page": 7}))
    program(lambda user: user.press("Return"))


#: The program, with as much patience for the answer of the first one as a busy machine asks for.
STARTS_AGAIN = """
import sys
from gpudesk.desktop.session import single_instance
from gpudesk.cli.main import main
single_instance._ANSWER_S = single_instance._PATIENCE_S = 60.0
sys.exit(main(sys.argv[1:]))
"""


def start_again(*files: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen([sys.executable, "-c", STARTS_AGAIN, *map(str, files)], env=environment)


def test_second_start_passes_its_file_to_the_first(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        second = start_again(file)
        user.until(lambda: names(user.windows) == ["chat.gpudesk"])
        user.until(lambda: second.poll() is not None)
        assert second.returncode == 0

    program(at_window)


def test_second_start_keeps_the_edited_document(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        first = user.window
        user.press("Return")
        move_load(user)
        first.showMinimized()
        second = start_again(file)
        user.until(lambda: len(user.windows) == 2)
        user.until(lambda: user.window is user.windows[1])
        assert user.window.document.path == file
        again = start_again(file)
        user.until(lambda: second.poll() is not None and again.poll() is not None)
        assert len(user.windows) == 2
        assert first.isWindowModified()

    program(at_window)


def test_second_start_without_a_file_raises_the_window(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.window.showMinimized()
        second = start_again()
        user.until(lambda: second.poll() is not None and not user.window.isMinimized())
        assert len(user.windows) == 1

    program(at_window)


def test_preview_reports_a_missing_printer(program: StartProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudesk.desktop.window.sheet_preview.is_print_service_there", lambda: False)

    def at_window(user: User) -> None:
        user.press("Return", "Ctrl+P")
        preview = QApplication.activeModalWidget()
        assert isinstance(preview, SheetPreview)
        assert preview.note == "No printer is installed. Save a PDF and print it elsewhere."

    program(at_window)


def test_recovered_file_is_opened_only_once(program: StartProgram, user_home: Path, recovered_load: int) -> None:
    """Two start pages offer the same edits; the second to ask is told that they are open."""

    def take_up_twice(user: User) -> None:
        first = user.window
        second = cast("MainWindow", first.program.open_new_window())
        (recovered,) = list_recovered()
        second.start.open_recovered(recovered)
        assert second.desk.scenario.workload.load.concurrency == recovered_load
        first.start.open_recovered(recovered)
        assert first.note.text == "These edits are already open in another window."
        assert first.document.untouched

    program(take_up_twice)


@pytest.mark.usefixtures("recovered_load")
@pytest.mark.parametrize("choice", ["Open", "Discard"])
def test_recovery_offer_skips_files_open_in_other_windows(
    program: StartProgram, file: Path, user_home: Path, choice: str
) -> None:
    def take_up_twice(user: User) -> None:
        first = user.window
        second = cast("MainWindow", first.program.open_new_window())
        (recovered,) = list_recovered()
        second.start.open_recovered(recovered)
        user.click(choice, first.note)
        assert len(user.windows) == 2
        assert len(list_recovery_files(user_home)) == 1
        assert first.note.text == "These edits are already open in another window."

    program(take_up_twice, str(file))


def test_unwritable_folder_is_reported_at_start(program: StartProgram, user_home: Path, file: Path) -> None:
    # Where it should be lies a file, so that it cannot be made.
    user_home.write_text("", encoding="utf-8")

    def read_the_note(user: User) -> None:
        assert user.window.note.text.startswith(f"Cannot write to {user_home}.")

    program(read_the_note)
    program(read_the_note, str(file))
