"""Files at fault, folders that take none, full disks: each is said, and nothing of the user's is lost."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import StartProgram
from tests.e2e.user_actions import list_recovery_files, load, load_in, move_load
from tests.e2e.window_user import User, names


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
    (cut_short, "is incomplete"),
    (pdf_without_scenario, "scenario"),
    (a_folder, "is a directory"),
    (missing, "no such file"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=lambda each: getattr(each, "__name__", None))
def test_invalid_file_is_reported_and_the_document_stays(
    program: StartProgram, file: Path, tmp_path: Path, make: Callable[[Path, Path], Path], message: str
) -> None:
    bad = make(file, tmp_path)

    def at_window(user: User) -> None:
        edited = move_load(user)
        user.drop(bad)
        user.until(lambda: user.window.note.text)
        assert names(user.windows) == ["chat.gpudesk"]
        note = user.window.note
        assert note.text.startswith("File not opened: ")
        assert note.text.endswith("The current scenario is unchanged.")
        assert message in note.text
        assert bad.name in note.text
        assert load(user) == edited
        assert user.window.document.path == file
        user.click("Dismiss", note)
        assert note.text == ""

    def from_the_start(user: User) -> None:
        assert user.window.page is None
        assert bad.name in user.window.note.text

    program(at_window, str(file))
    program(from_the_start, str(bad))


def test_empty_file_is_reported(program: StartProgram, tmp_path: Path) -> None:
    empty = tmp_path / "empty.gpudesk"
    empty.touch()
    program(lambda user: user.until(lambda: "empty.gpudesk" in user.window.note.text), str(empty))


def test_failed_save_is_reported_and_can_go_elsewhere(
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
        assert note.text.endswith("Your changes are in the recovery file.")
        assert f'\\"concurrency\\": {edited:g}' in list_recovery_files(user_home)[0].read_text()
        assert user.window.isWindowModified()
        user.will_choose(elsewhere / "chat.gpudesk")
        user.click("Save as…", note)
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


def test_save_on_a_full_disk_reports_failure(
    program: StartProgram, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_window(user: User) -> None:
        fill_disk(monkeypatch)
        move_load(user)
        user.press("Ctrl+S")
        assert user.window.note.text.endswith("Your changes exist only in this window.")

    program(at_window, str(file))
    assert load_in(file) == 64


def test_read_only_folder_is_reported(program: StartProgram, tmp_path: Path) -> None:
    def at_window(user: User) -> None:
        user.press("Return")
        user.will_choose(tmp_path / "gone" / "a.gpudesk")
        user.press("Ctrl+S")
        assert user.window.note.text.startswith("Not saved: ")
        assert user.window.document.path is None

    program(at_window)


def test_canceled_save_changes_nothing(program: StartProgram) -> None:
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


def test_unwritable_home_is_reported_once(program: StartProgram, file: Path, user_home: Path) -> None:
    user_home.write_text("a file where the folder should be")

    def at_window(user: User) -> None:
        status = user.window.status
        edited = move_load(user)
        user.until(lambda: "Cannot back up unsaved edits" in status.message)
        status.show_message("something else")
        user.press("Right")
        user.qtbot.wait(500)
        assert status.message == "something else"
        user.press("Ctrl+S")
        assert (load_in(file) or 0) > edited
        user.press("Ctrl+2", "Ctrl+3", "Ctrl+W")

    program(at_window, str(file))
