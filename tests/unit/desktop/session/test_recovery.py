"""Recovery: edits of a crashed program are offered, those of a running one are not, and none are lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import (
    Document,
    RecoveredScenario,
    RecoveryFile,
    discard_recovered,
    list_recovered,
)
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.window.faults.crash import list_crashes
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, format_scenario, read_template
from gpudesk.documents.settings_file import read_settings
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError, message

#: Writes a recovery file, prints a line, and waits to be killed.
EDITS_AND_WAITS = """
import time
from dataclasses import replace
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from gpudesk.desktop.session.document import RecoveryFile
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
application = QCoreApplication([])
file = RecoveryFile()
file.keep(replace(read_template(SAMPLE_TEMPLATE), name="Crashed"), Path("/somewhere/a.gpudesk"))
file.write()
print("kept", flush=True)
time.sleep(60)
"""


@pytest.fixture
def document(service: GpuDeskService, qtbot: QtBot) -> Document:
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    document = Document(desk, UserSettings(), RecoveryFile())
    desk.setParent(document)
    return document


def crash(home: Path) -> None:
    """Let another process write a recovery file, and kill it; while it lives, its file is not offered."""
    environment = {**os.environ, "GPUDESK_HOME": str(home)}
    with subprocess.Popen(
        [sys.executable, "-c", EDITS_AND_WAITS], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        assert list_recovered() == []
        process.send_signal(signal.SIGKILL)
        process.wait()


def write_recovery(home: Path, changes: dict[str, object], name: str = "a") -> None:
    """Write a recovery file as a crash leaves it, with some fields replaced."""
    (home / "recovery").mkdir(parents=True, exist_ok=True)
    contents = {
        "document": None,
        "edited": "2026-03-01T12:00:00+01:00",
        "scenario": format_scenario(read_template(SAMPLE_TEMPLATE)),
    }
    (home / "recovery" / f"{name}.recovery").write_text(json.dumps(contents | changes))


def only(recovered: list[RecoveredScenario]) -> RecoveredScenario:
    (scenario,) = recovered
    return scenario


def list_suffixes(home: Path) -> list[str]:
    return sorted(path.suffix for path in (home / "recovery").iterdir())


def test_edits_of_a_killed_program_are_recovered_and_saved(document: Document, user_home: Path, tmp_path: Path) -> None:
    crash(user_home)
    recovered = only(list_recovered())
    assert (recovered.scenario.name, recovered.document) == ("Crashed", Path("/somewhere/a.gpudesk"))
    document.open_recovered(recovered)
    assert document.edited
    assert document.path == Path("/somewhere/a.gpudesk")
    assert list_recovered() == []
    document.save(tmp_path / "saved.gpudesk")
    assert list_suffixes(user_home) == []


@pytest.mark.parametrize("portable", [True, False])
def test_lock_of_another_machine_counts_unless_portable(
    user_home: Path, monkeypatch: pytest.MonkeyPatch, portable: bool
) -> None:
    crash(user_home)
    (lock,) = (user_home / "recovery").glob("*.lock")
    process, application, *_ = lock.read_text(encoding="utf-8").split("\n")
    # Host name, machine id and boot id of another machine.
    lock.write_text("\n".join([process, application, "elsewhere", "0" * 32, "1" * 36, ""]), encoding="utf-8")
    monkeypatch.setattr(paths, "is_portable", lambda: portable)
    assert len(list_recovered()) == portable


def test_portable_copy_removes_the_lock_of_another_machine(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crash(user_home)
    (lock,) = (user_home / "recovery").glob("*.lock")
    lock.rename(lock.with_suffix(".0123456789abcdef.lock"))
    monkeypatch.setattr(paths, "is_portable", lambda: True)
    assert len(list_recovered()) == 1
    assert list_suffixes(user_home) == [".recovery"]


def test_discarded_edits_are_deleted(user_home: Path) -> None:
    crash(user_home)
    discard_recovered(only(list_recovered()))
    assert list_recovered() == []
    assert list_suffixes(user_home) == []


def test_recovery_file_stays_when_it_cannot_be_rewritten(
    document: Document, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(user_home)
    recovered = only(list_recovered())

    def fail_to_write(path: Path, _contents: bytes) -> None:
        raise InputError(
            message(
                "file.unwritable",
                "cannot be written: {reason}; choose another folder",
                reason="no space left on device",
            ),
            str(path),
        )

    monkeypatch.setattr("gpudesk.desktop.session.document.write_atomically", fail_to_write)
    document.open_recovered(recovered)
    assert document.edited
    assert recovered.file.exists()


def test_unreadable_recovery_file_is_set_aside(user_home: Path) -> None:
    folder = user_home / "recovery"
    folder.mkdir(parents=True)
    for number, text in enumerate(("{", "[]", '{"document": 3}', '{"scenario": "{}", "document": null}')):
        (folder / f"{number}.recovery").write_text(text)
    assert list_recovered() == []
    assert list_suffixes(user_home) == [".unreadable"] * 4


@pytest.mark.parametrize(
    "changes",
    [
        {"edited": "0001-01-01T00:00:00+14:00"},
        {"edited": "9999-12-31T23:59:59-14:00"},
        {"edited": 3},
        {"document": "a\0b"},
        {"document": "\ud800"},
        {"document": 3},
        {"scenario": []},
        {"scenario": "[" * 100_000},
    ],
)
def test_invalid_field_sets_the_file_aside(user_home: Path, changes: dict[str, object]) -> None:
    write_recovery(user_home, changes)
    assert list_recovered() == []
    assert list_suffixes(user_home) == [".unreadable"]


def test_time_without_zone_is_local(user_home: Path) -> None:
    write_recovery(user_home, {"edited": "2026-03-01T12:00:00"})
    write_recovery(user_home, {"edited": "2026-03-01T12:00:00+00:00"}, "b")
    assert [each.edited.tzinfo is not None for each in list_recovered()] == [True, True]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_in_the_folder_do_not_block(user_home: Path) -> None:
    write_recovery(user_home, {})
    os.mkfifo(user_home / "recovery" / "a.lock")
    os.mkfifo(user_home / "recovery" / "b.recovery")
    assert [each.file.name for each in list_recovered()] == ["a.recovery"]


def test_unwritable_folder_is_reported_once_per_failure(document: Document, user_home: Path, qtbot: QtBot) -> None:
    user_home.write_text("a file where the folder should be")
    recovery = RecoveryFile()
    folders: list[str] = []
    recovery.failed.connect(folders.append)
    scenario = read_template(SAMPLE_TEMPLATE)
    for value in (65, 66):
        recovery.keep(replace_load_value(scenario, value), None)
        recovery.write()
    assert folders == [str(user_home / "recovery")]
    user_home.unlink()
    assert recovery.write()
    recovery.leave()
    shutil.rmtree(user_home)
    user_home.write_text("a file again")
    recovery.keep(scenario, None)
    assert not recovery.write()
    assert len(folders) == 2
    document.open_template(SAMPLE_TEMPLATE)
    assert not document.edited
    qtbot.wait(1)


def test_document_name_may_be_invalid_unicode(qtbot: QtBot) -> None:
    document = Path("/stick/L\udcf6sung.gpudesk")
    file = RecoveryFile()
    file.keep(read_template(SAMPLE_TEMPLATE), document)
    assert file.write()
    file.leave()
    (recovered,) = list_recovered()
    assert recovered.document == document


def test_inaccessible_folder_counts_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test raises the error itself, since root may read every folder."""

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    home = paths.get_user_dir()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", refuse)
        assert list_recovered() == []
        assert list_crashes(home / "logs") == []
        assert read_settings(home / "settings.json").values == {}
