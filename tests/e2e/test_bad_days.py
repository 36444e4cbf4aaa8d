"""What must not go wrong at the window, whatever happens around it: crashes, bad files, full disks."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from gpudesk.desktop.faults import FaultReporter
from gpudesk.desktop.pages.first_run.entries import RecoveredNote
from gpudesk.desktop.printing.preview import SheetPreview
from gpudesk.desktop.session.edits import load_value
from gpudesk.workbench.scenario_file import read_scenario, write_scenario
from gpudesk.workbench.templates import read_template
from tests.e2e.conftest import StartProgram
from tests.e2e.window_user import User, names

#: As the program shows it, before tests look in.
SHOW_REPORT = FaultReporter.__dict__["_show"]

#: Opens the sample unless it is given a file, moves the load by a key, and says so.
EDITS = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from gpudesk.cli.main import main
from gpudesk.desktop.main_window import MainWindow

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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a scenario that was saved."""
    path = tmp_path / "chat.gpudesk"
    write_scenario(read_template("70b-chat-on-four"), path)
    return path


def load(user: User) -> float:
    """Return what the load stands at in the window in front."""
    return load_value(user.window.desk.scenario.workload.load)


def load_in(path: Path) -> int | None:
    """Return the load in a file."""
    return read_scenario(path).workload.load.concurrency


def move_load(user: User) -> float:
    """Edit the scenario by the keyboard; return the new load."""
    before = load(user)
    user.window.scenario.load.slider.setFocus()
    user.press("Right")
    assert load(user) > before
    assert user.window.isWindowModified()
    return load(user)


def kept(home: Path) -> list[Path]:
    """Return the recovery files."""
    return list((home / "recovery").glob("*.recovery"))


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
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
        process.send_signal(number)
        code = process.wait(timeout=10)
        assert "Traceback" not in process.stderr.read()
    assert len(kept(home)) == 1
    return code, edited


# Crashes and ends


def test_edits_of_a_killed_program_are_offered_opened_and_saved(
    program: StartProgram, file: Path, user_home: Path
) -> None:
    _, edited = ended_by(signal.SIGKILL, user_home, str(file))
    assert load_in(file) == 64

    def at_window(user: User) -> None:
        note = user.window.start.findChild(RecoveredNote)
        assert note is not None
        assert note.isVisible()
        assert note.label.text().startswith("Recovered: chat, edited ")
        user.click("Open what was recovered of chat")
        assert load(user) == edited
        assert user.window.isWindowModified()
        assert load_in(file) == 64
        user.press("Ctrl+S")
        assert load_in(file) == edited
        assert kept(user_home) == []

    program(at_window)


def test_what_was_recovered_is_discarded_when_asked(program: StartProgram, user_home: Path) -> None:
    ended_by(signal.SIGKILL, user_home)

    def at_window(user: User) -> None:
        user.click("Discard what was recovered of Llama 3.1 70B")
        assert kept(user_home) == []
        assert not any(note.isVisible() for note in user.window.start.findChildren(RecoveredNote))

    program(at_window)


@pytest.mark.parametrize("choice", ["Open", "Discard"])
def test_what_was_recovered_is_offered_above_a_file_that_is_opened(
    program: StartProgram, file: Path, user_home: Path, choice: str
) -> None:
    _, edited = ended_by(signal.SIGKILL, user_home)

    def at_window(user: User) -> None:
        first = user.window
        assert first.note.text.startswith("Recovered: Llama 3.1 70B for chat on four accelerators, edited ")
        user.click(choice, first.note)
        assert first.note.text == ""
        if choice == "Open":
            user.until(lambda: len(user.windows) == 2)
            second = user.windows[-1]
            assert second.desk.scenario.workload.load.concurrency == edited
            assert second.isWindowModified()
        else:
            assert kept(user_home) == []
        assert first.desk.scenario.workload.load.concurrency == 64

    program(at_window, str(file))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_to_end_is_met_without_a_question_and_edits_are_kept(
    user_home: Path, number: signal.Signals
) -> None:
    code, edited = ended_by(number, user_home)
    assert code == 0
    assert f'\\"concurrency\\": {edited}' in kept(user_home)[0].read_text()


def test_a_scenario_without_accelerators_is_recovered_too(program: StartProgram, user_home: Path) -> None:
    def edit(user: User) -> None:
        user.press("Ctrl+N")
        user.window.scenario.input_tokens.edit.setFocus()
        user.press("Ctrl+A")
        user.type("777")
        user.press("Return")
        user.until(lambda: kept(user_home))
        (path,) = kept(user_home)
        path.with_name("a.recovery").write_bytes(path.read_bytes())

    def recovered(user: User) -> None:
        user.click("Open what was recovered of Untitled")
        assert user.window.desk.scenario.workload.input_tokens == 777

    program(edit)
    program(recovered)


# Files


def without_accelerator(contents: dict[str, Any]) -> None:
    contents["scenario"]["accelerators"][1]["accelerator"] = "mi325z"


def without_model(contents: dict[str, Any]) -> None:
    contents["scenario"]["model"] = "llama-3.1-71b"


def newer(contents: dict[str, Any]) -> None:
    contents["gpudesk"] = 2


def foreign(contents: dict[str, Any]) -> None:
    contents.clear()
    contents["name"] = "package"


def spoiled(spoil: Callable[[dict[str, Any]], None]) -> Callable[[Path, Path], Path]:
    def make(file: Path, folder: Path) -> Path:
        contents = json.loads(file.read_text())
        spoil(contents)
        bad = folder / f"{spoil.__name__}.gpudesk"
        bad.write_text(json.dumps(contents))
        return bad

    return make


def cut_short(file: Path, folder: Path) -> Path:
    bad = folder / "half.gpudesk"
    bad.write_bytes(file.read_bytes()[:300])
    return bad


def pdf_without_scenario(_file: Path, folder: Path) -> Path:
    bad = folder / "other.pdf"
    bad.write_bytes(b"%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n")
    return bad


def a_folder(_file: Path, folder: Path) -> Path:
    bad = folder / "folder.gpudesk"
    bad.mkdir()
    return bad


def missing(_file: Path, folder: Path) -> Path:
    return folder / "gone.gpudesk"


BAD = [
    (spoiled(newer), "newer"),
    (spoiled(foreign), "scenario"),
    (spoiled(without_accelerator), "mi325z"),
    (spoiled(without_model), "llama-3.1-71b"),
    (cut_short, "ends too early"),
    (pdf_without_scenario, "scenario"),
    (a_folder, "is a directory"),
    (missing, "no such file"),
]


@pytest.mark.parametrize(("make", "said"), BAD, ids=lambda each: getattr(each, "__name__", None))
def test_a_file_at_fault_is_said_and_the_open_document_stays(
    program: StartProgram, file: Path, tmp_path: Path, make: Callable[[Path, Path], Path], said: str
) -> None:
    bad = make(file, tmp_path)

    def at_window(user: User) -> None:
        edited = move_load(user)
        user.drop(bad)
        user.until(lambda: user.window.note.text)
        assert names(user.windows) == ["chat.gpudesk"]
        note = user.window.note
        assert note.text.startswith("Not opened: ")
        assert note.text.endswith("The open scenario is as it was.")
        assert said in note.text
        assert bad.name in note.text
        assert load(user) == edited
        assert user.window.document.path == file
        user.click("Close the note", note)
        assert note.text == ""

    def from_the_start(user: User) -> None:
        assert user.window.page is None
        assert bad.name in user.window.note.text

    program(at_window, str(file))
    program(from_the_start, str(bad))


def test_an_empty_file_is_said(program: StartProgram, tmp_path: Path) -> None:
    empty = tmp_path / "empty.gpudesk"
    empty.touch()
    program(lambda user: user.until(lambda: "empty.gpudesk" in user.window.note.text), str(empty))


def test_a_save_that_fails_is_said_and_goes_elsewhere(
    program: StartProgram, file: Path, tmp_path: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def at_window(user: User) -> None:
        edited = move_load(user)
        fill_disk(monkeypatch, tmp_path)
        user.press("Ctrl+S")
        note = user.window.note
        assert note.text.startswith(f"Not saved: {file}: ")
        assert "no space left on device" in note.text
        assert note.text.endswith("Your changes are kept in the recovery file.")
        assert f'\\"concurrency\\": {edited:g}' in kept(user_home)[0].read_text()
        assert user.window.isWindowModified()
        user.will_choose(elsewhere / "chat.gpudesk")
        user.click("Save elsewhere…", note)
        assert note.text == ""
        assert load_in(elsewhere / "chat.gpudesk") == edited
        assert not user.window.isWindowModified()
        assert user.window.document.path == elsewhere / "chat.gpudesk"

    program(at_window, str(file))
    assert load_in(file) == 64


def fill_disk(monkeypatch: pytest.MonkeyPatch, folder: Path | None = None) -> None:
    """Let no file be written any more: to a folder, or anywhere."""
    really = os.fsync

    def fsync(descriptor: int) -> None:
        number = os.fstat(descriptor).st_ino
        if folder is None or number in {path.stat().st_ino for path in folder.iterdir()}:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_a_save_on_a_disk_that_is_full_everywhere_claims_nothing(
    program: StartProgram, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_window(user: User) -> None:
        fill_disk(monkeypatch)
        move_load(user)
        user.press("Ctrl+S")
        assert user.window.note.text.endswith("Your changes are in this window only.")

    program(at_window, str(file))
    assert load_in(file) == 64


def test_a_folder_that_takes_no_files_is_said(program: StartProgram, tmp_path: Path) -> None:
    def at_window(user: User) -> None:
        user.press("Return")
        user.will_choose(tmp_path / "gone" / "a.gpudesk")
        user.press("Ctrl+S")
        assert user.window.note.text.startswith("Not saved: ")
        assert user.window.document.path is None

    program(at_window)


def test_a_save_that_is_called_off_changes_nothing(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.press("Return")
        edited = move_load(user)
        user.will_choose(None)
        user.press("Ctrl+S", "Ctrl+O")
        assert load(user) == edited
        assert user.window.document.path is None
        assert user.window.note.text == ""
        assert user.window.isWindowModified()

    program(at_window)


def test_a_home_that_cannot_be_written_is_said_once_and_all_else_works(
    program: StartProgram, file: Path, user_home: Path
) -> None:
    user_home.write_text("a file where the folder should be")

    def at_window(user: User) -> None:
        status = user.window.status
        edited = move_load(user)
        user.until(lambda: "cannot be kept" in status.message)
        status.show_message("something else")
        user.press("Right")
        user.qtbot.wait(500)
        assert status.message == "something else"
        user.press("Ctrl+S")
        assert (load_in(file) or 0) > edited
        user.press("Ctrl+2", "Ctrl+3", "Ctrl+W")

    program(at_window, str(file))


# Closing


def test_keep_editing_keeps_the_window(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        for answer in ("Keep editing", "Esc"):
            user.will_answer(answer)
            user.press("Ctrl+W")
            assert user.window.isVisible()
            assert user.window.isWindowModified()
        assert user.asked == ["Save the changes to “chat.gpudesk”?"] * 2

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
    assert kept(user_home) == []


def test_discard_changes_closes_and_leaves_no_trace(
    program: StartProgram, file: Path, user_home: Path
) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        user.until(lambda: kept(user_home))
        user.will_answer("Discard changes")
        user.press("Ctrl+W")
        assert user.windows == []

    program(at_window, str(file))
    assert load_in(file) == 64
    assert list((user_home / "recovery").iterdir()) == []


def test_a_save_at_the_close_that_is_called_off_keeps_the_window(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.press("Return")
        move_load(user)
        user.will_choose(None)
        user.will_answer("Save")
        user.press("Ctrl+W")
        assert user.window.isVisible()

    program(at_window)


def test_quitting_stops_at_the_window_that_is_kept(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        move_load(user)
        user.press("Ctrl+N")
        user.until(lambda: len(user.windows) == 2)
        user.will_answer("Keep editing")
        user.press("Ctrl+Q")
        assert user.windows[0].document.path == file

    program(at_window, str(file))


# The screen, other starts, the printer, faults


def test_a_window_of_a_monitor_that_is_gone_is_where_it_can_be_reached(
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


def test_a_place_that_is_no_place_is_left_aside(program: StartProgram, user_home: Path) -> None:
    user_home.mkdir()
    (user_home / "settings.json").write_text(json.dumps({"window.geometry": "no place", "window.page": 7}))
    program(lambda user: user.press("Return"))


def start_again(*files: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen([sys.executable, "-m", "gpudesk", *map(str, files)], env=environment)


def test_a_second_start_hands_its_file_to_the_first_and_ends(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        second = start_again(file)
        user.until(lambda: names(user.windows) == ["chat.gpudesk"])
        user.until(lambda: second.poll() is not None)
        assert second.returncode == 0

    program(at_window)


def test_a_second_start_leaves_what_is_being_edited_and_shows_its_file(
    program: StartProgram, file: Path
) -> None:
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


def test_a_second_start_without_a_file_brings_the_window_to_the_front(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.window.showMinimized()
        second = start_again()
        user.until(lambda: second.poll() is not None and not user.window.isMinimized())
        assert len(user.windows) == 1

    program(at_window)


def test_without_a_printer_the_preview_says_so(
    program: StartProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudesk.desktop.printing.preview.printer_is_installed", lambda: False)

    def at_window(user: User) -> None:
        user.press("Return", "Ctrl+P")
        preview = QApplication.activeModalWidget()
        assert isinstance(preview, SheetPreview)
        assert preview.note == "No printer is installed. Save a PDF and print it elsewhere."

    program(at_window)


def logged(log: Path, times: int) -> bool:
    return log.exists() and log.read_text().count("on purpose\n") == times


@pytest.mark.logs_warnings
def test_a_fault_is_reported_once_and_the_window_works_on(
    program: StartProgram, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(FaultReporter, "_show", SHOW_REPORT)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: shown.append(box.detailedText()))

    def broken() -> None:
        raise RuntimeError("on purpose")

    def at_window(user: User) -> None:
        user.press("Return")
        log = user_home / "logs" / "gpudesk.log"
        for times in (1, 2):
            QTimer.singleShot(0, user.window, broken)
            user.until(partial(logged, log, times))
        assert len(shown) == 1
        assert "RuntimeError: on purpose" in shown[0]
        move_load(user)
        user.press("Ctrl+2")
        assert user.window.is_page("performance")

    program(at_window)
