"""A crash of the frozen program: written down with its stacks, and kept to be told at the next start."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.frozen.conftest import environment

PATIENCE_S = 30.0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def started(frozen: Path, home: Path, times: int) -> "subprocess.Popen[bytes]":
    """Start the program, and return it once its window has been open so many times."""
    program = subprocess.Popen([str(frozen / "gpudesk")], env=environment(home), stderr=subprocess.DEVNULL)
    log = home / "logs" / "gpudesk.log"
    until(lambda: log.exists() and log.read_text(encoding="utf-8").count("reporter: open: ") == times)
    return program


def reports(home: Path) -> list[Path]:
    return sorted((home / "logs").glob("crash-*.log"))


def test_a_crash_is_written_down_and_kept_and_an_end_leaves_nothing(frozen: Path, tmp_path: Path) -> None:
    program = started(frozen, tmp_path, 1)
    program.send_signal(signal.SIGSEGV)
    assert program.wait(PATIENCE_S) == -signal.SIGSEGV
    (report,) = reports(tmp_path)
    text = report.read_text(encoding="utf-8")
    assert "# GPU Desk: " in text
    assert "frozen" in text
    assert "Fatal Python error: Segmentation fault" in text
    assert "gpudesk/desktop/window/app.py" in text
    program = started(frozen, tmp_path, 2)
    assert len(reports(tmp_path)) == 2
    program.send_signal(signal.SIGTERM)
    assert program.wait(PATIENCE_S) == 0
    assert reports(tmp_path) == [report]


def test_a_kill_is_no_crash(frozen: Path, tmp_path: Path) -> None:
    program = started(frozen, tmp_path, 1)
    program.kill()
    program.wait(PATIENCE_S)
    program = started(frozen, tmp_path, 2)
    program.terminate()
    program.wait(PATIENCE_S)
    assert reports(tmp_path) == []
