"""The document: written only on save, its title, recent files, and that a faulty file leaves it unchanged."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document, RecoveredScenario, RecoveryFile, list_recovered
from gpudesk.desktop.session.settings import UserSettings, list_recent_files, note_recent
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_scenario, read_template, write_scenario
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError, format_input_error

#: A file system in memory, which keeps any date.
_MEMORY = Path("/dev/shm")


@pytest.fixture
def settings(qtbot: QtBot) -> UserSettings:
    return UserSettings()


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    return Desk(service, Formatter(ENGLISH_NUMBERS))


@pytest.fixture
def document(desk: Desk, settings: UserSettings) -> Document:
    return Document(desk, settings, RecoveryFile())


@pytest.fixture
def sample_file(tmp_path: Path) -> Path:
    path = tmp_path / "70b chat.gpudesk"
    write_scenario(read_template(SAMPLE_TEMPLATE), path)
    return path


def set_load(desk: Desk, value: int) -> None:
    desk.apply(scenario_edits.replace_load_value(desk.scenario, value), "Change load")


def load_on_disk(path: Path) -> int | None:
    return read_scenario(path).workload.load.concurrency


def test_new_document_is_untouched(document: Document) -> None:
    assert (document.untouched, document.replaceable, document.edited) == (True, True, False)
    document.new()
    assert (document.untouched, document.replaceable, document.edited) == (False, True, False)


def test_edits_reach_the_file_only_on_save(document: Document, desk: Desk, sample_file: Path) -> None:
    document.open_file(sample_file)
    assert document.title == "70b chat.gpudesk"
    states = []
    set_load(desk, 96)
    states.append((document.edited, load_on_disk(sample_file)))
    document.save()
    states.append((document.edited, load_on_disk(sample_file)))
    assert states == [(True, 64), (False, 96)]


def test_undo_to_the_saved_state_is_not_edited(document: Document, desk: Desk, sample_file: Path) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    document.save()
    states = [document.edited]
    for step in (desk.undo_stack.undo, desk.undo_stack.redo):
        step()
        states.append(document.edited)
    assert states == [False, True, False]


def test_save_as_switches_to_the_new_file(document: Document, desk: Desk, sample_file: Path) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    other = sample_file.with_name("other.gpudesk")
    document.save(other)
    assert (document.path, document.title) == (other, "other.gpudesk")
    assert (load_on_disk(sample_file), load_on_disk(other)) == (64, 96)


def test_documents_with_file_or_edits_are_not_replaceable(document: Document, desk: Desk, sample_file: Path) -> None:
    document.open_template(SAMPLE_TEMPLATE)
    states = [document.replaceable]
    set_load(desk, 96)
    states.append(document.replaceable)
    document.open_file(sample_file)
    states.append(document.replaceable)
    assert states == [True, False, False]


def test_saving_an_untitled_document_needs_a_path(document: Document) -> None:
    with pytest.raises(ValueError, match="name"):
        document.save()


def test_suggested_name_is_valid_on_every_system(document: Document, desk: Desk) -> None:
    names = []
    for name in ("70B: chat/agents?", "  ", "Größe 405B"):
        desk.edit("Change of name", name=name)
        names.append(document.suggested_name)
    assert names == ["70B chat agents.gpudesk", "Comparison.gpudesk", "Größe 405B.gpudesk"]


def test_suggested_name_and_temporary_file_fit_the_length_limit(document: Document, desk: Desk, tmp_path: Path) -> None:
    desk.edit("Change of name", name="漢" * 10_000)
    document.save(tmp_path / document.suggested_name)
    document.save(tmp_path / ("a" * 247 + ".gpudesk"))
    assert len(list(tmp_path.glob("*.gpudesk"))) == 2
    with pytest.raises(InputError, match=r"file\.long_name"):
        document.save(tmp_path / ("a" * 248 + ".gpudesk"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipe_is_neither_read_nor_written(document: Document, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gpudesk"
    os.mkfifo(pipe)
    for use in (document.open_file, document.check, document.save):
        with pytest.raises(InputError, match=r"import\.no_file"):
            use(pipe)


def newer_format(file: dict[str, object]) -> None:
    file["gpudesk"] = 2


def newer_scenario_version(file: dict[str, object]) -> None:
    file["scenario"] = {"version": 9}


def foreign_file(file: dict[str, object]) -> None:
    file.clear()


def unknown_model(file: dict[str, object]) -> None:
    scenario = file["scenario"]
    assert isinstance(scenario, dict)
    scenario["model"] = "no-such-model"


@pytest.mark.parametrize(
    ("break_file", "expected_text"),
    [
        (newer_format, "format 2, but GPU Desk reads format 1"),
        (newer_scenario_version, "version 9, but GPU Desk reads version 1"),
        (foreign_file, "scenario"),
        (unknown_model, "no-such-model"),
    ],
)
def test_faulty_file_is_named_and_the_document_stays(
    document: Document,
    desk: Desk,
    sample_file: Path,
    break_file: Callable[[dict[str, object]], None],
    expected_text: str,
) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    before = desk.scenario
    faulty_file = sample_file.with_name("bad.gpudesk")
    contents = json.loads(sample_file.read_text())
    break_file(contents)
    faulty_file.write_text(json.dumps(contents))
    with pytest.raises(InputError) as caught:
        document.open_file(faulty_file)
    assert expected_text in format_input_error(caught.value)
    assert "bad.gpudesk" in format_input_error(caught.value)
    assert desk.scenario is before
    assert (document.path, document.edited) == (sample_file, True)


def test_failed_save_leaves_the_document_edited(document: Document, desk: Desk, sample_file: Path) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    with pytest.raises(InputError):
        document.save(sample_file.parent / "no such folder" / "x.gpudesk")
    assert (document.path, document.edited) == (sample_file, True)
    assert load_on_disk(sample_file) == 64


def test_recent_files_exist_and_come_newest_first(
    document: Document, settings: UserSettings, sample_file: Path
) -> None:
    document.open_file(sample_file)
    other = sample_file.with_name("other.gpudesk")
    document.save(other)
    assert list_recent_files(settings) == [other, sample_file]
    sample_file.unlink()
    assert list_recent_files(settings) == [other]


def test_recent_files_on_a_usb_stick_follow_its_mount_point(
    settings: UserSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "is_portable", lambda: True)
    stick = tmp_path / "stick"
    (stick / "offers").mkdir(parents=True)
    monkeypatch.setattr(paths, "get_user_dir", lambda: stick / "gpudesk-data")
    on_stick, elsewhere = stick / "offers" / "a.gpudesk", tmp_path / "b.gpudesk"
    for file in (on_stick, elsewhere):
        file.touch()
        note_recent(settings, file)
    assert list_recent_files(settings) == [elsewhere, on_stick]
    moved = stick.rename(tmp_path / "another")
    monkeypatch.setattr(paths, "get_user_dir", lambda: moved / "gpudesk-data")
    assert list_recent_files(settings) == [elsewhere, moved / "offers" / "a.gpudesk"]


def test_at_most_ten_recent_files(document: Document, settings: UserSettings, sample_file: Path) -> None:
    document.open_file(sample_file)
    for number in range(11):
        document.save(sample_file.with_name(f"{number}.gpudesk"))
    assert [path.stem for path in list_recent_files(settings)] == [str(n) for n in range(10, 0, -1)]


def test_edits_reach_the_recovery_file_within_a_second(
    document: Document, desk: Desk, sample_file: Path, user_home: Path, qtbot: QtBot
) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    folder = user_home / "recovery"
    qtbot.waitUntil(lambda: bool(list(folder.glob("*.recovery"))), timeout=1000)
    assert list_recovered() == []  # its owner is still running
    recovery = json.loads(next(folder.glob("*.recovery")).read_text())
    assert recovery["document"] == str(sample_file)
    document.save()
    assert list(folder.iterdir()) == []


def test_full_undo_removes_the_recovery_file(
    document: Document, desk: Desk, sample_file: Path, user_home: Path
) -> None:
    document.open_file(sample_file)
    set_load(desk, 96)
    document.keep_now()
    assert list((user_home / "recovery").glob("*.recovery"))
    desk.undo_stack.undo()
    assert not list((user_home / "recovery").glob("*.recovery"))


def test_change_on_disk_is_noticed(document: Document, desk: Desk, sample_file: Path) -> None:
    def edit_and_save() -> None:
        desk.apply(scenario_edits.replace_load_value(desk.scenario, 7), "Load")
        document.save()

    copy = sample_file.with_suffix(".copy")
    steps: list[tuple[Callable[[], object], bool]] = [
        (lambda: document.open_file(sample_file), False),
        (edit_and_save, False),
        # Copied back or synchronized: the same contents with another date, in another file.
        (lambda: os.utime(sample_file, (1, 1)), False),
        (lambda: Path(shutil.copy(sample_file, copy)).replace(sample_file), False),
        (lambda: sample_file.write_bytes(sample_file.read_bytes() + b" "), True),
        (document.save, False),
        (sample_file.unlink, False),
    ]
    for act, has_changed in steps:
        act()
        assert document.has_changed_on_disk is has_changed


def test_recovered_edits_older_than_the_file_count_as_a_conflict(document: Document, sample_file: Path) -> None:
    scenario = read_template(SAMPLE_TEMPLATE)
    saved = datetime.fromtimestamp(sample_file.stat().st_mtime).astimezone()
    for edited, is_changed in ((saved + timedelta(minutes=1), False), (saved - timedelta(minutes=1), True)):
        document.open_recovered(RecoveredScenario(sample_file.with_suffix(".recovery"), scenario, sample_file, edited))
        assert document.has_changed_on_disk is is_changed


@pytest.mark.skipif(not _MEMORY.is_dir(), reason="only file systems of some kinds keep such dates")
@pytest.mark.parametrize("seconds", [2**40, -(2**40)])
def test_file_without_a_valid_date_opens(document: Document, sample_file: Path, seconds: int) -> None:
    with TemporaryDirectory(dir=_MEMORY) as folder:
        file = Path(shutil.copy(sample_file, folder))
        os.utime(file, (seconds, seconds))
        document.open_file(file)
    assert document.path == file
    assert document.saved_at is not None
    assert document.saved_at.timestamp() == 0
