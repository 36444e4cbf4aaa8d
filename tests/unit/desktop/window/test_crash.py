"""What a crash leaves: written only by crashes, kept apart by process, offered until it was looked at."""

import faulthandler
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.desktop.window.faults.crash import MOST_KEPT, CrashLog, list_crashes

HEAD = "# Started: 2026-05-04T12:00:00+00:00\n# GPU Desk: 0.1\n"
DUMP = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n  File x\n"

#: Crashes in a process of its own, as far as the program has then come.
CRASHES = """
import sys, os
from pathlib import Path
from gpudesk.desktop.window.faults.crash import CrashLog
log = CrashLog(Path(sys.argv[1]))
log.start([("GPU Desk", "0.1")])
exec(sys.argv[2])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "logs"
    made.mkdir()
    return made


@pytest.fixture
def handler() -> Iterator[None]:
    """Release the handler that pytest has installed, as no one has in the program."""
    was_on = faulthandler.is_enabled()
    faulthandler.disable()
    yield
    if was_on:
        faulthandler.enable(2)


def crash(folder: Path, how: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", CRASHES, str(folder), how], check=False, capture_output=True, timeout=60
    ).returncode


def left(folder: Path, number: int, text: str, at: float | None = None, suffix: str = ".log") -> Path:
    file = folder / f"crash-{999_000_000 + number}-20260504-120000{suffix}"
    file.write_text(text)
    if at is not None:
        os.utime(file, (at, at))
    return file


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("import faulthandler; faulthandler._sigsegv()", "Segmentation fault"),
        ("os.abort()", "Aborted"),
        ("log.note('no platform'); os.abort()", "Qt: no platform"),
        (
            "import threading as t, faulthandler as f; t.Thread(target=f._sigsegv, name='painter').start()",
            "Segmentation fault",
        ),
    ],
)
def test_a_crash_is_written_down_with_all_threads(folder: Path, how: str, said: str) -> None:
    assert crash(folder, how) < 0
    (found,) = list_crashes(folder)
    assert said in found.report
    assert "# GPU Desk: 0.1" in found.report
    assert 'File "<string>", line' in found.report
    assert abs((datetime.now().astimezone() - found.ended).total_seconds()) < 60
    if "Thread(" in how:
        assert len(re.findall(r"^(Current t|T)hread 0x", found.report, re.MULTILINE)) == 2


@pytest.mark.parametrize("how", ["log.end()", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_an_end_or_a_kill_leaves_nothing(folder: Path, how: str) -> None:
    crash(folder, how)
    assert list_crashes(folder) == []
    assert names(folder) == []


def test_the_file_of_a_process_that_runs_is_not_touched(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CRASHES, str(folder), "print('on', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (file,) = folder.glob("crash-*.log")
        # It may even have a trace in it: of what the process has coped with.
        with file.open("a") as opened:
            opened.write(DUMP)
        assert list_crashes(folder) == []
        assert file.exists()
        process.kill()
        process.wait()
    assert len(list_crashes(folder)) == 1


@pytest.mark.usefixtures("handler")
def test_two_programs_at_once_have_a_file_each_and_end_apart(folder: Path) -> None:
    mine = CrashLog(folder)
    mine.start([])
    assert mine.path is not None
    assert mine.path.exists()
    crash(folder, "os.abort()")
    assert len(list_crashes(folder)) == 1
    assert mine.path.exists()
    mine.end()
    assert len(list(folder.glob("*.lock"))) == 0
    assert not faulthandler.is_enabled()


@pytest.mark.usefixtures("handler")
@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_no_fault(folder: Path) -> None:
    folder.chmod(0o500)
    log = CrashLog(folder)
    log.start([("A", "1")])
    assert log.path is None
    log.note("nothing")
    log.end()
    folder.chmod(0o700)


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_a_folder_that_is_not_there_is_no_fault(folder: Path, place: str) -> None:
    (folder / "file").write_text("")
    log = CrashLog(folder / place)
    log.start([("A", "1")])
    assert log.path is None
    log.end()
    assert list_crashes(folder / place) == []


@pytest.mark.usefixtures("handler")
def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, path: Path, _mode: str) -> None:
            path.touch()

        def write(self, _raw: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr("gpudesk.desktop.window.faults.crash.FileIO", Full)
    log = CrashLog(folder)
    log.start([("A", "1")])
    assert log.path is None
    assert names(folder) == []


def test_who_waits_for_a_crash_already_goes_on_doing_so(folder: Path) -> None:
    faulthandler.enable(2)
    log = CrashLog(folder)
    log.start([])
    assert names(folder) == []
    log.end()
    assert faulthandler.is_enabled()


@pytest.mark.usefixtures("handler")
def test_what_was_coped_with_goes_to_the_log_at_the_end(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = CrashLog(folder)
    log.start([])
    assert log.path is not None
    with log.path.open("a") as opened:
        opened.write(DUMP)
    with caplog.at_level("INFO"):
        log.end()
    assert "Segmentation fault" in caplog.text
    assert names(folder) == []


def test_what_windows_copes_with_is_no_crash(folder: Path) -> None:
    left(folder, 1, f"{HEAD}Windows fatal exception: code 0x8001010d\n\nThread 0x1\n  File x\n")
    assert list_crashes(folder) == []
    left(folder, 1, f"{HEAD}Windows fatal exception: access violation\n\nThread 0x1\n  File x\n")
    assert len(list_crashes(folder)) == 1


def test_a_report_that_was_shown_is_kept_and_offered_no_more(folder: Path) -> None:
    file = left(folder, 1, HEAD + DUMP)
    (found,) = list_crashes(folder)
    found.mark_shown()
    assert list_crashes(folder) == []
    assert file.with_suffix(".txt").read_text() == HEAD + DUMP


def test_a_report_that_is_discarded_is_gone(folder: Path) -> None:
    left(folder, 1, HEAD + DUMP)
    (found,) = list_crashes(folder)
    found.discard()
    found.discard()
    assert names(folder) == []


def test_only_the_newest_reports_are_kept(folder: Path) -> None:
    for number in range(4):
        left(folder, number, HEAD + DUMP, at=1_000_000 + number, suffix=".txt")
    for number in range(4, 4 + 8):
        left(folder, number, HEAD + DUMP, at=1_000_000 + number)
    found = list_crashes(folder)
    assert len(found) == 8
    assert found[0].file.name.startswith("crash-999000011-")
    assert len(names(folder)) == MOST_KEPT
    assert {name for name in names(folder) if name.endswith(".txt")} == {
        "crash-999000002-20260504-120000.txt",
        "crash-999000003-20260504-120000.txt",
    }
    for number in range(20, 25):
        left(folder, number, HEAD + DUMP, at=2_000_000 + number)
    assert len(list_crashes(folder)) == MOST_KEPT
    assert len(names(folder)) == MOST_KEPT


def test_a_file_of_somebody_else_is_left_alone(folder: Path) -> None:
    (folder / "crash-notes.log").write_text(DUMP)
    (folder / "crash-notes.txt").write_text(DUMP)
    assert list_crashes(folder) == []
    assert names(folder) == ["crash-notes.log", "crash-notes.txt"]


def test_a_report_ends_with_the_last_lines_of_the_process_and_masks_the_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    left(folder, 7, f'{HEAD}{DUMP}  File "{tmp_path}/x.py"\n')
    now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"  # noqa: DTZ005 - as in the log
    (folder / "gpudesk.log").write_text(f"{now},000 [999000007] INFO a: page memory\n{now},001 [5] INFO a: other\n")
    (found,) = list_crashes(folder)
    assert found.report.endswith(f"Last lines of the log\n{now},000 [999000007] INFO a: page memory\n")
    assert 'File "~/x.py"' in found.report
    assert str(tmp_path) not in found.report


@pytest.mark.parametrize("machine", ["", ".0123456789abcdef"], ids=["here", "on a stick"])
def test_a_lock_that_nothing_belongs_to_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    crash(folder, "os.abort()")
    (file,) = folder.glob("crash-*.log")
    file.unlink()
    lock = file.with_suffix(".lock")
    lock.rename(file.with_suffix(f"{machine}.lock"))
    monkeypatch.setattr(paths, "is_portable", lambda: bool(machine))
    assert list_crashes(folder) == []
    assert names(folder) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    pipe = folder / "crash-999000001-20260504-120000.log"
    os.mkfifo(pipe)
    # Releases the reader; where no one does, it waits itself until the end of the test.
    writer = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_WRONLY)), daemon=True)
    writer.start()
    left(folder, 2, HEAD + DUMP)
    assert len(list_crashes(folder)) == 1
    assert writer.is_alive()
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    writer.join(10)
