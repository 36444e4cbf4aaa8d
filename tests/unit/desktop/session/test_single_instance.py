"""One running program for one user folder: a later start hands its files over."""

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

#: Ends with 1 if the running program took the files, with 2 where this one became the first.
HANDS_OVER = """
import sys
from gpudesk.desktop.session.single_instance import ProgramInstance
instance = ProgramInstance()
sys.exit(1 if instance.hand_over(sys.argv[1:]) else 2 if instance.listening else 3)
"""

#: The same, where the first one is sure to answer, however busy the machine is.
HANDS_OVER_PATIENTLY = HANDS_OVER.replace(
    "instance =", "from gpudesk.desktop.session import single_instance\nsingle_instance._ANSWER_S = 60.0\ninstance =", 1
)

#: Is the first, and does nothing else, for as many seconds.
HOLDS = """
import os, sys, time
from gpudesk.desktop.session.single_instance import ProgramInstance
instance = ProgramInstance()
instance._mark_idle()
print(instance.listening, flush=True)
time.sleep(float(sys.argv[1]))
os._exit(0)
"""

#: Starts as the program does, names the files that it is to open, and ends when it has them all.
STARTS = """
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
    """Wait for an answer for a short while only."""
    monkeypatch.setattr(single_instance, "_ANSWER_S", 0.1)


class Starts:
    """Starts other processes in the same user folder, and ends them."""

    def __init__(self) -> None:
        self._all: list[subprocess.Popen[str]] = []

    def __call__(self, script: str, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, *arguments]
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, encoding="utf-8")
        self._all.append(process)
        return process

    def held_for(self, seconds: float) -> subprocess.Popen[str]:
        holder = self(HOLDS, str(seconds))
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        return holder

    def crash(self) -> None:
        holder = self.held_for(60)
        holder.kill()
        holder.wait()

    def end(self) -> None:
        for process in self._all:
            with process:
                process.kill()


@pytest.fixture
def start(user_home: Path) -> Iterator[Starts]:
    starts = Starts()
    yield starts
    starts.end()


def requests() -> Path:
    """Return the folder of requests, made by the first process."""
    (folder,) = (each for each in find_inbox_dir().iterdir() if each.is_dir())
    return folder


def request_text(*files: str, age_s: float = 0.0) -> str:
    return json.dumps({"files": files, "written": time.time() - age_s, "activation": ""})


def test_a_first_start_finds_nobody(qtbot: QtBot) -> None:
    first = ProgramInstance()
    assert first.listening
    assert not first.hand_over(["a.gpudesk"])
    first.release()
    assert not first.listening


def test_a_later_start_hands_over_absolute_paths(
    instance: ProgramInstance, tmp_path: Path, qtbot: QtBot, start: Starts
) -> None:
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY, "a.gpudesk", "/b.pdf", cwd=tmp_path)
    assert asked.args == [[tmp_path / "a.gpudesk", Path("/b.pdf")]]
    assert later.wait(90) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="names there are always text")
@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is worked in cannot be removed there")
@pytest.mark.usefixtures("instance")
def test_a_start_whose_folder_is_gone_goes_on_by_itself(tmp_path: Path, start: Starts) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    gone = f"import os; os.rmdir(os.getcwd())\n{HANDS_OVER}"
    assert start(gone, "a.gpudesk", cwd=folder).wait(90) == 3


def test_names_with_any_characters_come_through(instance: ProgramInstance, qtbot: QtBot, start: Starts) -> None:
    names = ["/a b/ü\n'\"\\.gpudesk", os.fsdecode(b"/not-\xff-text.gpudesk"), "/" + "x" * 3000 + ".gpudesk"]
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY, *names)
    assert asked.args == [[Path(name) for name in names]]
    assert later.wait(90) == 1


def test_a_later_start_without_files_asks_for_the_window(
    instance: ProgramInstance, qtbot: QtBot, start: Starts
) -> None:
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY)
    assert asked.args == [[]]
    assert later.wait(90) == 1


def test_the_token_of_the_desktop_is_passed_on(
    instance: ProgramInstance, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, start: Starts
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "kwin-42")
    later = start(HANDS_OVER_PATIENTLY)
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN")
    with qtbot.waitSignal(instance.asked):
        pass
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "kwin-42"
    assert later.wait(90) == 1


def test_files_that_come_while_the_first_one_starts_are_opened(qtbot: QtBot, start: Starts) -> None:
    first = ProgramInstance()
    later = start(HANDS_OVER, "/a.gpudesk")
    # Longer than a program is waited for that has nothing to do.
    time.sleep(2)
    with qtbot.waitSignal(first.asked) as asked:
        first.listen()
    assert asked.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1
    first.release()


def test_files_are_taken_where_the_folder_does_not_tell(instance: ProgramInstance, qtbot: QtBot, start: Starts) -> None:
    assert instance._watcher is not None
    assert instance._watcher.removePath(str(requests()))
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY, "/a.gpudesk")
    assert asked.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_an_inbox_that_was_removed_is_made_anew(instance: ProgramInstance, qtbot: QtBot, start: Starts) -> None:
    requests().rmdir()
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY, "/a.gpudesk")
    assert asked.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_of_starts_at_the_same_moment_one_becomes_the_first_and_gets_all_files(start: Starts) -> None:
    files = [f"/{number}.gpudesk" for number in range(8)]
    started = [start(STARTS, file, str(len(files))) for file in files]
    said = [each.communicate(timeout=90)[0].split() for each in started]
    assert sorted(words[0] for words in said) == ["first", *["handed"] * 7]
    (first,) = (words for words in said if words[0] == "first")
    assert sorted(first[1:]) == files


def test_a_first_one_that_does_not_answer_does_not_hold_up_a_later_start(
    qtbot: QtBot, impatient: None, start: Starts
) -> None:
    frozen = start.held_for(60)
    later = ProgramInstance()
    assert not later.hand_over(["/a.gpudesk"])
    assert not later.listening
    # No one opens it a second time when the first one wakes up.
    assert list(requests().iterdir()) == []
    later.listen()
    frozen.kill()
    qtbot.waitUntil(lambda: later.listening)
    later.release()


def test_a_first_one_that_is_busy_is_waited_for_but_not_for_ever(
    qtbot: QtBot, impatient: None, monkeypatch: pytest.MonkeyPatch, start: Starts
) -> None:
    monkeypatch.setattr(single_instance, "_PATIENCE_S", 0.5)
    start.held_for(60)
    later = ProgramInstance()
    later._busy.touch()
    begun = time.monotonic()
    assert not later.hand_over(["/a.gpudesk"])
    assert 0.5 < time.monotonic() - begun < 30


def test_a_later_start_becomes_the_first_when_that_ends_meanwhile(qtbot: QtBot, start: Starts) -> None:
    start.held_for(1.5)
    later = ProgramInstance()
    first = [later.listening]
    # Longer than one is waited for that has nothing to do.
    later._busy.touch()
    assert not later.hand_over(["/a.gpudesk"])
    assert [*first, later.listening] == [False, True]
    assert list(requests().iterdir()) == []
    later.release()


def test_a_lock_that_a_crash_left_is_taken_over(qtbot: QtBot, start: Starts) -> None:
    start.crash()
    after = ProgramInstance()
    assert after.listening
    after.release()


def test_a_lock_that_a_power_cut_left_is_taken_over(qtbot: QtBot, start: Starts) -> None:
    holder = start.held_for(60)
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


def test_requests_that_a_crash_left_are_not_opened_days_later(qtbot: QtBot, start: Starts) -> None:
    start.crash()
    old, fresh, half = (requests() / name for name in ("old.json", "fresh.json", ".half.json.tmp"))
    old.write_text(request_text("/old.gpudesk", age_s=3600))
    fresh.write_text(request_text("/fresh.gpudesk"))
    half.write_text("{")
    os.utime(half, (0, 0))
    first = ProgramInstance()
    with qtbot.waitSignal(first.asked) as asked:
        first.listen()
    assert asked.args == [[Path("/fresh.gpudesk")]]
    assert list(requests().iterdir()) == []
    first.release()


@pytest.mark.parametrize(
    "sent",
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
def test_what_is_no_request_is_removed_and_not_opened(instance: ProgramInstance, qtbot: QtBot, sent: str) -> None:
    asked: list[object] = []
    instance.asked.connect(asked.append)
    file = requests() / "a.json"
    file.write_text(sent)
    qtbot.waitUntil(lambda: not file.exists())
    qtbot.wait(20)
    assert asked == []


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_pipes_folders_and_links_in_the_inbox_hold_nothing_up(
    instance: ProgramInstance, qtbot: QtBot, start: Starts
) -> None:
    os.mkfifo(requests() / "pipe.json")
    (requests() / "folder.json").mkdir()
    (requests() / "link.json").symlink_to("/dev/zero")
    with qtbot.waitSignal(instance.asked) as asked:
        later = start(HANDS_OVER_PATIENTLY, "/a.gpudesk")
    assert asked.args == [[Path("/a.gpudesk")]]
    assert later.wait(90) == 1


def test_where_the_folder_cannot_be_written_each_start_is_a_program_of_its_own(qtbot: QtBot, user_home: Path) -> None:
    user_home.write_text("no folder")
    first, later = ProgramInstance(), ProgramInstance()
    for start_ in (first, later):
        assert not start_.listening
        assert not start_.hand_over(["/a.gpudesk"])
        start_.listen()
    qtbot.wait(20)
    first.release()


def test_where_requests_cannot_be_written_a_later_start_goes_on_by_itself(
    instance: ProgramInstance, qtbot: QtBot, start: Starts
) -> None:
    # A folder of this name cannot be made then, and no file in it.
    folder = requests()
    folder.rmdir()
    folder.write_text("no folder")
    assert start(HANDS_OVER, "/a.gpudesk").wait(90) == 3


def test_other_users_cannot_look_into_the_inbox(instance: ProgramInstance, user_home: Path) -> None:
    for folder in (user_home, requests()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_every_user_folder_has_a_program_of_its_own(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ProgramInstance()
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    other = ProgramInstance()
    assert first.listening
    assert other.listening
    first.release()
    other.release()


def test_every_machine_has_a_program_of_its_own(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ProgramInstance()
    monkeypatch.setattr(single_instance, "find_machine_name", lambda: "another")
    other = ProgramInstance()
    assert first.listening
    assert other.listening
    first.release()
    other.release()


def test_a_program_that_ends_is_waited_for(qtbot: QtBot, impatient: None, start: Starts) -> None:
    first = ProgramInstance()
    first.listen()
    first.close()
    later = start(HANDS_OVER, "/a.gpudesk")
    # What it still has to write, the next one reads.
    QTimer.singleShot(1500, first, first.release)
    qtbot.waitUntil(lambda: later.poll() is not None, timeout=90_000)
    assert later.returncode == 2
