"""One running program per user folder: a later start passes its files on."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session import single_instance
from gpudesk.desktop.session.single_instance import ProgramInstance, find_inbox_dir

#: Exits with 1 if the running program took the files, with 2 if this process became the first.
HAND_OVER = """
import sys
from gpudesk.desktop.session.single_instance import ProgramInstance
instance = ProgramInstance()
sys.exit(1 if instance.hand_over(sys.argv[1:]) else 2 if instance.listening else 3)
"""

#: The same with a long timeout, so that the first process answers on a busy machine too.
HAND_OVER_PATIENTLY = HAND_OVER.replace(
    "instance =", "from gpudesk.desktop.session import single_instance\nsingle_instance._ANSWER_S = 60.0\ninstance =", 1
)

#: Becomes the first process, and sleeps for a number of seconds without answering.
SLEEP = """
import os, sys, time
from gpudesk.desktop.session.single_instance import ProgramInstance
instance = ProgramInstance()
instance._mark_idle()
print(instance.listening, flush=True)
time.sleep(float(sys.argv[1]))
os._exit(0)
"""

#: Starts as the program does, prints the files that it is asked to open, and exits when it has them all.
RUN = """
import sys, time
from PySide6.QtCore import QCoreApplication, QTimer
from gpudesk.desktop.session.single_instance import ProgramInstance
file, count = sys.argv[1], int(sys.argv[2])
instance = ProgramInstance()
if instance.hand_over([file]):
    print("handed over")
    sys.exit()
app = QCoreApplication([])
opened = [file]
def open_files(files):
    opened.extend(str(each) for each in files)
    time.sleep(0.3)
    if len(opened) == count:
        app.quit()
instance.asked.connect(open_files)
instance.listen()
time.sleep(1.5)
QTimer.singleShot(20_000, app.quit)
app.exec()
instance.release()
print("first" if instance else "", "\\n".join(opened), sep="\\n")
"""


@pytest.fixture
def instance(qtbot: QtBot) -> Iterator[ProgramInstance]:
    first = ProgramInstance()
    first.listen()
    yield first
    first.release()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout for an answer."""
    monkeypatch.setattr(single_instance, "_ANSWER_S", 0.1)


class Processes:
    """Starts other processes in the same user folder, and kills them at the end."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []

    def __call__(self, script: str, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, *arguments]
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, encoding="utf-8")
        self._processes.append(process)
        return process

    def start_first(self, seconds: float) -> subprocess.Popen[str]:
        holder = self(SLEEP, str(seconds))
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        return holder

    def crash(self) -> None:
        holder = self.start_first(60)
        holder.kill()
        holder.wait()

    def end(self) -> None:
        for process in self._processes:
            with process:
                process.kill()


@pytest.fixture
def processes(user_home: Path) -> Iterator[Processes]:
    children = Processes()
    yield children
    children.end()


def get_request_dir() -> Path:
    """Return the folder of requests, which the first process makes."""
    (folder,) = (each for each in find_inbox_dir().iterdir() if each.is_dir())
    return folder


def format_request(*files: str, age_s: float = 0.0) -> str:
    return json.dumps({"files": files, "written": time.time() - age_s, "activation": ""})


def test_first_start_sends_no_files(qtbot: QtBot) -> None:
    first = ProgramInstance()
    assert first.listening
    assert not first.hand_over(["a.gpudesk"])
    first.release()
    assert not first.listening


def test_later_start_hands_over_absolute_paths(
    instance: ProgramInstance, tmp_path: Path, qtbot: QtBot, processes: Processes
) -> None:
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY, "a.gpudesk", "/b.pdf", cwd=tmp_path)
    assert signal.args == [[tmp_path / "a.gpudesk", Path("/b.pdf")]]
    assert later.wait(90) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="names there are always text")
@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is worked in cannot be removed there")
@pytest.mark.usefixtures("instance")
def test_start_in_a_deleted_folder_runs_on_its_own(tmp_path: Path, processes: Processes) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f"import os; os.rmdir(os.getcwd())\n{HAND_OVER}"
    assert processes(script, "a.gpudesk", cwd=folder).wait(90) == 3


def test_file_names_may_contain_any_characters(instance: ProgramInstance, qtbot: QtBot, processes: Processes) -> None:
    names = ["/a b/ü\n'\"\\.gpudesk", os.fsdecode(b"/not-\xff-text.gpudesk"), "/" + "x" * 3000 + ".gpudesk"]
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY, *names)
    assert signal.args == [[Path(name) for name in names]]
    assert later.wait(90) == 1


def test_later_start_without_files_raises_the_window(
    instance: ProgramInstance, qtbot: QtBot, processes: Processes
) -> None:
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY)
    assert signal.args == [[]]
    assert later.wait(90) == 1


def test_activation_token_is_passed_on(
    instance: ProgramInstance, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, processes: Processes
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "kwin-42")
    later = processes(HAND_OVER_PATIENTLY)
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN")
    with qtbot.waitSignal(instance.asked):
        pass
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "kwin-42"
    assert later.wait(90) == 1


def test_files_handed_over_during_startup_are_opened(qtbot: QtBot, processes: Processes) -> None:
    first = ProgramInstance()
    later = processes(HAND_OVER, "/a.gpudesk")
    # Longer than the timeout for an idle process.
    time.sleep(2)
    with qtbot.waitSignal(first.asked) as signal:
        first.listen()
    assert signal.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1
    first.release()


def test_files_arrive_without_folder_notifications(
    instance: ProgramInstance, qtbot: QtBot, processes: Processes
) -> None:
    assert instance._watcher is not None
    assert instance._watcher.removePath(str(get_request_dir()))
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY, "/a.gpudesk")
    assert signal.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_deleted_inbox_is_recreated(instance: ProgramInstance, qtbot: QtBot, processes: Processes) -> None:
    get_request_dir().rmdir()
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY, "/a.gpudesk")
    assert signal.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_one_of_simultaneous_starts_gets_all_files(processes: Processes) -> None:
    files = [f"/{number}.gpudesk" for number in range(8)]
    programs = [processes(RUN, file, str(len(files))) for file in files]
    outputs = [each.communicate(timeout=90)[0].split() for each in programs]
    assert sorted(words[0] for words in outputs) == ["first", *["handed"] * 7]
    (first,) = (words for words in outputs if words[0] == "first")
    assert sorted(first[1:]) == files


def test_frozen_first_process_does_not_block_a_later_start(qtbot: QtBot, impatient: None, processes: Processes) -> None:
    frozen = processes.start_first(60)
    later = ProgramInstance()
    assert not later.hand_over(["/a.gpudesk"])
    assert not later.listening
    # The first process must not open the file again when it wakes up.
    assert list(get_request_dir().iterdir()) == []
    later.listen()
    frozen.kill()
    qtbot.waitUntil(lambda: later.listening)
    later.release()


def test_wait_for_a_busy_first_process_is_limited(
    qtbot: QtBot, impatient: None, monkeypatch: pytest.MonkeyPatch, processes: Processes
) -> None:
    monkeypatch.setattr(single_instance, "_PATIENCE_S", 0.5)
    processes.start_first(60)
    later = ProgramInstance()
    later._busy.touch()
    start_s = time.monotonic()
    assert not later.hand_over(["/a.gpudesk"])
    assert 0.5 < time.monotonic() - start_s < 30


def test_later_start_takes_over_when_the_first_process_ends(qtbot: QtBot, processes: Processes) -> None:
    processes.start_first(1.5)
    later = ProgramInstance()
    first = [later.listening]
    # Longer than the timeout for an idle process.
    later._busy.touch()
    assert not later.hand_over(["/a.gpudesk"])
    assert [*first, later.listening] == [False, True]
    assert list(get_request_dir().iterdir()) == []
    later.release()


def test_lock_of_a_crashed_process_is_taken_over(qtbot: QtBot, processes: Processes) -> None:
    processes.crash()
    after = ProgramInstance()
    assert after.listening
    after.release()


def test_lock_left_by_a_power_cut_is_taken_over(qtbot: QtBot, processes: Processes) -> None:
    holder = processes.start_first(60)
    later = ProgramInstance()
    assert not later.listening
    holder.kill()
    holder.wait()
    lock = Path(later._lock.fileName())
    lock.write_bytes(b"")
    assert not ProgramInstance().listening
    os.utime(lock, (0, 0))
    after = ProgramInstance()
    assert after.listening
    after.release()


def test_stale_requests_of_a_crashed_process_are_dropped(qtbot: QtBot, processes: Processes) -> None:
    processes.crash()
    old, fresh, partial = (get_request_dir() / name for name in ("old.json", "fresh.json", ".half.json.tmp"))
    old.write_text(format_request("/old.gpudesk", age_s=3600))
    fresh.write_text(format_request("/fresh.gpudesk"))
    partial.write_text("{")
    os.utime(partial, (0, 0))
    first = ProgramInstance()
    with qtbot.waitSignal(first.asked) as signal:
        first.listen()
    assert signal.args == [[Path("/fresh.gpudesk")]]
    assert list(get_request_dir().iterdir()) == []
    first.release()


@pytest.mark.parametrize(
    "contents",
    [
        "{\n",
        '"text"',
        "[1]",
        '{"a": 1}',
        '{"files": [1], "written": 0, "activation": ""}',
        '{"files": ["/a\\u0000b"], "written": 0, "activation": ""}',
        '{"files": [], "written": 1' + "0" * 400 + ', "activation": ""}',
        "[" * 100_000,
        "x" * (single_instance._MOST_BYTES + 1),
    ],
    ids=["half", "text", "list", "object", "numbers", "nul", "infinite", "deep", "huge"],
)
def test_invalid_request_is_removed(instance: ProgramInstance, qtbot: QtBot, contents: str) -> None:
    signals: list[object] = []
    instance.asked.connect(signals.append)
    file = get_request_dir() / "a.json"
    file.write_text(contents)
    qtbot.waitUntil(lambda: not file.exists())
    qtbot.wait(20)
    assert signals == []


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_pipes_folders_and_links_in_the_inbox_do_not_block(
    instance: ProgramInstance, qtbot: QtBot, processes: Processes
) -> None:
    os.mkfifo(get_request_dir() / "pipe.json")
    (get_request_dir() / "folder.json").mkdir()
    (get_request_dir() / "link.json").symlink_to("/dev/zero")
    with qtbot.waitSignal(instance.asked) as signal:
        later = processes(HAND_OVER_PATIENTLY, "/a.gpudesk")
    assert signal.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_unwritable_user_folder_disables_the_hand_over(qtbot: QtBot, user_home: Path) -> None:
    user_home.write_text("no folder")
    first, later = ProgramInstance(), ProgramInstance()
    for program in (first, later):
        assert not program.listening
        assert not program.hand_over(["/a.gpudesk"])
        program.listen()
    qtbot.wait(20)
    first.release()


def test_later_start_runs_on_its_own_without_an_inbox(
    instance: ProgramInstance, qtbot: QtBot, processes: Processes
) -> None:
    # A file of that name prevents making the folder.
    folder = get_request_dir()
    folder.rmdir()
    folder.write_text("no folder")
    assert processes(HAND_OVER, "/a.gpudesk").wait(90) == 3


def test_inbox_is_private_to_the_user(instance: ProgramInstance, user_home: Path) -> None:
    for folder in (user_home, get_request_dir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_user_folder_has_its_own_program(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ProgramInstance()
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    other = ProgramInstance()
    assert first.listening
    assert other.listening
    first.release()
    other.release()


def test_each_machine_has_its_own_program(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ProgramInstance()
    monkeypatch.setattr(single_instance, "find_machine_name", lambda: "another")
    other = ProgramInstance()
    assert first.listening
    assert other.listening
    first.release()
    other.release()


def test_later_start_waits_for_a_closing_program(qtbot: QtBot, impatient: None, processes: Processes) -> None:
    first = ProgramInstance()
    first.listen()
    first.close()
    later = processes(HAND_OVER, "/a.gpudesk")
    # The later process reads what the first one writes on its way out.
    QTimer.singleShot(1500, first, first.release)
    qtbot.waitUntil(lambda: later.poll() is not None, timeout=90_000)
    assert later.returncode == 2
