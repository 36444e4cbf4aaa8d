"""Crash reports: written only by crashes, one per process, offered until shown."""

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

#: Starts a crash log in its own process and runs some code.
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
    logs = tmp_path / "logs"
    logs.mkdir()
    return logs


@pytest.fixture
def handler() -> Iterator[None]:
    """Disable the fault handler of pytest, since the program starts without one."""
    was_enabled = faulthandler.is_enabled()
    faulthandler.disable()
    yield
    if was_enabled:
        faulthandler.enable(2)


def crash(folder: Path, code: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", CRASHES, str(folder), code], check=False, capture_output=True, timeout=60
    ).returncode


def write_dump(folder: Path, number: int, text: str, mtime: float | None = None, suffix: str = ".log") -> Path:
    file = folder / f"crash-{999_000_000 + number}-20260504-120000{suffix}"
    file.write_text(text)
    if mtime is not None:
        os.utime(file, (mtime, mtime))
    return file


def list_names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize(
    ("code", "text"),
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
def test_crash_report_has_all_threads(folder: Path, code: str, text: str) -> None:
    assert crash(folder, code) < 0
    (crash_report,) = list_crashes(folder)
    assert text in crash_report.report
    assert "# GPU Desk: 0.1" in crash_report.report
    assert 'File "<string>", line' in crash_report.report
    assert abs((datetime.now().astimezone() - crash_report.ended).total_seconds()) < 60
    if "Thread(" in code:
        assert len(re.findall(r"^(Current t|T)hread 0x", crash_report.report, re.MULTILINE)) == 2


@pytest.mark.parametrize("code", ["log.end()", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_exit_or_kill_leaves_no_report(folder: Path, code: str) -> None:
    crash(folder, code)
    assert list_crashes(folder) == []
    assert list_names(folder) == []


def test_file_of_a_running_process_is_not_touched(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CRASHES, str(folder), "print('on', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (file,) = folder.glob("crash-*.log")
        # The file may hold a trace of an exception that the process survived.
        with file.open("a") as stream:
            stream.write(DUMP)
        assert list_crashes(folder) == []
        assert file.exists()
        process.kill()
        process.wait()
    assert len(list_crashes(folder)) == 1


@pytest.mark.usefixtures("handler")
def test_simultaneous_programs_have_separate_files(folder: Path) -> None:
    log = CrashLog(folder)
    log.start([])
    assert log.path is not None
    assert log.path.exists()
    crash(folder, "os.abort()")
    assert len(list_crashes(folder)) == 1
    assert log.path.exists()
    log.end()
    assert len(list(folder.glob("*.lock"))) == 0
    assert not faulthandler.is_enabled()


@pytest.mark.usefixtures("handler")
@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_unwritable_folder_disables_the_crash_log(folder: Path) -> None:
    folder.chmod(0o500)
    log = CrashLog(folder)
    log.start([("A", "1")])
    assert log.path is None
    log.note("nothing")
    log.end()
    folder.chmod(0o700)


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_missing_folder_disables_the_crash_log(folder: Path, name: str) -> None:
    (folder / "file").write_text("")
    log = CrashLog(folder / name)
    log.start([("A", "1")])
    assert log.path is None
    log.end()
    assert list_crashes(folder / name) == []


@pytest.mark.usefixtures("handler")
def test_full_disk_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class FullDisk:
        def __init__(self, path: Path, _mode: str) -> None:
            path.touch()

        def write(self, _raw: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr("gpudesk.desktop.window.faults.crash.FileIO", FullDisk)
    log = CrashLog(folder)
    log.start([("A", "1")])
    assert log.path is None
    assert list_names(folder) == []


def test_existing_fault_handler_stays_enabled(folder: Path) -> None:
    faulthandler.enable(2)
    log = CrashLog(folder)
    log.start([])
    assert list_names(folder) == []
    log.end()
    assert faulthandler.is_enabled()


@pytest.mark.usefixtures("handler")
def test_survived_exception_goes_to_the_log(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = CrashLog(folder)
    log.start([])
    assert log.path is not None
    with log.path.open("a") as stream:
        stream.write(DUMP)
    with caplog.at_level("INFO"):
        log.end()
    assert "Segmentation fault" in caplog.text
    assert list_names(folder) == []


def test_handled_windows_exception_is_no_crash(folder: Path) -> None:
    write_dump(folder, 1, f"{HEAD}Windows fatal exception: code 0x8001010d\n\nThread 0x1\n  File x\n")
    assert list_crashes(folder) == []
    write_dump(folder, 1, f"{HEAD}Windows fatal exception: access violation\n\nThread 0x1\n  File x\n")
    assert len(list_crashes(folder)) == 1


def test_shown_report_is_retained_but_not_offered_again(folder: Path) -> None:
    file = write_dump(folder, 1, HEAD + DUMP)
    (crash_report,) = list_crashes(folder)
    crash_report.mark_shown()
    assert list_crashes(folder) == []
    assert file.with_suffix(".txt").read_text() == HEAD + DUMP


def test_discarded_report_is_deleted(folder: Path) -> None:
    write_dump(folder, 1, HEAD + DUMP)
    (crash_report,) = list_crashes(folder)
    crash_report.discard()
    crash_report.discard()
    assert list_names(folder) == []


def test_old_reports_are_deleted(folder: Path) -> None:
    for number in range(4):
        write_dump(folder, number, HEAD + DUMP, mtime=1_000_000 + number, suffix=".txt")
    for number in range(4, 4 + 8):
        write_dump(folder, number, HEAD + DUMP, mtime=1_000_000 + number)
    reports = list_crashes(folder)
    assert len(reports) == 8
    assert reports[0].file.name.startswith("crash-999000011-")
    assert len(list_names(folder)) == MOST_KEPT
    assert {name for name in list_names(folder) if name.endswith(".txt")} == {
        "crash-999000002-20260504-120000.txt",
        "crash-999000003-20260504-120000.txt",
    }
    for number in range(20, 25):
        write_dump(folder, number, HEAD + DUMP, mtime=2_000_000 + number)
    assert len(list_crashes(folder)) == MOST_KEPT
    assert len(list_names(folder)) == MOST_KEPT


def test_other_files_are_left_alone(folder: Path) -> None:
    (folder / "crash-notes.log").write_text(DUMP)
    (folder / "crash-notes.txt").write_text(DUMP)
    assert list_crashes(folder) == []
    assert list_names(folder) == ["crash-notes.log", "crash-notes.txt"]


def test_report_has_log_lines_and_masks_the_home_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_dump(folder, 7, f'{HEAD}{DUMP}  File "{tmp_path}/x.py"\n')
    time_text = f"{datetime.now():%Y-%m-%d %H:%M:%S}"  # noqa: DTZ005 - as in the log
    (folder / "gpudesk.log").write_text(
        f"{time_text},000 [999000007] INFO a: page memory\n{time_text},001 [5] INFO a: other\n"
    )
    (crash_report,) = list_crashes(folder)
    assert crash_report.report.endswith(f"Last lines of the log\n{time_text},000 [999000007] INFO a: page memory\n")
    assert 'File "~/x.py"' in crash_report.report
    assert str(tmp_path) not in crash_report.report


@pytest.mark.parametrize("machine", ["", ".0123456789abcdef"], ids=["here", "on a USB stick"])
def test_orphaned_lock_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    crash(folder, "os.abort()")
    (file,) = folder.glob("crash-*.log")
    file.unlink()
    lock = file.with_suffix(".lock")
    lock.rename(file.with_suffix(f"{machine}.lock"))
    monkeypatch.setattr(paths, "is_portable", lambda: bool(machine))
    assert list_crashes(folder) == []
    assert list_names(folder) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_pipe_does_not_block(folder: Path) -> None:
    pipe = folder / "crash-999000001-20260504-120000.log"
    os.mkfifo(pipe)
    # Unblocks a reader; without one, the writer blocks until the end of the test.
    writer = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_WRONLY)), daemon=True)
    writer.start()
    write_dump(folder, 2, HEAD + DUMP)
    assert len(list_crashes(folder)) == 1
    assert writer.is_alive()
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    writer.join(10)
