"""A crash of the frozen program: written down with its stacks, and kept to be told at the next start."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.frozen.conftest import environment

#: Long enough for a machine that does much else: nothing here is about speed.
PATIENCE_S = 120.0

StartFrozen = Callable[[int], "subprocess.Popen[bytes]"]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.fixture
def start(frozen: Path, tmp_path: Path) -> Iterator[StartFrozen]:
    """Return what starts the program and waits until its window has been open so many times; none outlives its test."""
    programs: list[subprocess.Popen[bytes]] = []
    log = tmp_path / "logs" / "gpudesk.log"

    def started(times: int) -> "subprocess.Popen[bytes]":
        program = subprocess.Popen([str(frozen / "gpudesk")], env=environment(tmp_path), stderr=subprocess.DEVNULL)
        programs.append(program)
        until(lambda: log.exists() and log.read_text(encoding="utf-8").count("reporter: open: ") == times)
        return program

    yield started
    for program in programs:
        program.kill()
        program.wait(PATIENCE_S)


def wait_until_idle(program: "subprocess.Popen[bytes]") -> None:
    """Wait until the program has loaded its pages. A stack that runs while it is written down can end the report."""

    def ticks() -> int:
        fields = Path(f"/proc/{program.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def rests() -> bool:
        before = ticks()
        time.sleep(0.5)
        return ticks() == before

    until(rests)


def reports(home: Path) -> list[Path]:
    return sorted((home / "logs").glob("crash-*.log"))


def test_only_a_crash_leaves_a_report(start: StartFrozen, tmp_path: Path) -> None:
    program = start(1)
    wait_until_idle(program)
    program.send_signal(signal.SIGSEGV)
    assert program.wait(PATIENCE_S) == -signal.SIGSEGV
    (report,) = reports(tmp_path)
    text = report.read_text(encoding="utf-8")
    assert "# GPU Desk: " in text
    assert "frozen" in text
    assert "Fatal Python error: Segmentation fault" in text
    assert "gpudesk/desktop/window/app.py" in text
    program = start(2)
    assert len(reports(tmp_path)) == 2
    program.send_signal(signal.SIGTERM)
    assert program.wait(PATIENCE_S) == 0
    assert reports(tmp_path) == [report]


def test_kill_is_not_a_crash(start: StartFrozen, tmp_path: Path) -> None:
    program = start(1)
    program.kill()
    program.wait(PATIENCE_S)
    program = start(2)
    program.terminate()
    program.wait(PATIENCE_S)
    assert reports(tmp_path) == []
