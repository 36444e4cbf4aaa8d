"""The check of the installation beside the window: the program runs its self-test in a process of its own.

There it can begin Qt without a screen, and whatever it comes upon leaves the window alone.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from gpudesk.text import tr, trn

#: Milliseconds that a process may take to go once it was ended.
_PATIENCE_MS: Final = 2000


@dataclass(frozen=True, slots=True)
class Checked:
    """One check: what it is called, how it came out (`ok`, `warning`, `failed`), what it found."""

    name: str
    outcome: str
    found: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all checks come to; `text` is for the clipboard."""

    said: str
    ok: bool
    checks: tuple[Checked, ...]
    text: str


def self_test_command() -> list[str]:
    """Return what runs the self-test of this program."""
    if getattr(sys, "frozen", False):
        return [*_loader(), sys.executable, "--self-test"]
    # -P: a folder of the same name where the program was started is not taken for it.
    return [sys.executable, "-P", "-m", "gpudesk", "--self-test"]


def _loader() -> list[str]:
    """Return the loader of Linux where that runs the program: some sticks let nothing be marked as one."""
    running = Path("/proc/self/exe")
    if os.access(sys.executable, os.X_OK) or not running.exists():
        return []
    return [str(running.readlink())]


class InstallationCheck(QObject):
    """One run of the self-test. It says how far it is, and in the end exactly one of two things."""

    #: How many checks are done.
    advanced = Signal(int)
    #: All are done: a `Verdict`.
    ended = Signal(object)
    #: It could not be run: why, and all that it said.
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin with nothing run."""
        super().__init__(parent)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._said = ""
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._error)

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._folder is not None

    def start(self, command: list[str] | None = None) -> None:
        """Run the self-test, with another command for tests."""
        self._folder = tempfile.TemporaryDirectory(prefix="gpudesk-", ignore_cleanup_errors=True)
        program, *arguments = command or self_test_command()
        environment = QProcessEnvironment.systemEnvironment()
        # Whose executable is started by itself is otherwise taken for a part of what runs.
        environment.insert("PYINSTALLER_RESET_ENVIRONMENT", "1")
        environment.insert("PYTHONIOENCODING", "utf-8")
        self._process.setProcessEnvironment(environment)
        self._process.start(program, [*arguments, "-o", str(self._result_file(self._folder))])

    def stop(self) -> None:
        """End it, and say nothing of it; once it has ended there is nothing to do."""
        if self.running:
            self._drop_folder()
            self._process.kill()
            self._process.waitForFinished(_PATIENCE_MS)

    @staticmethod
    def _result_file(folder: tempfile.TemporaryDirectory[str]) -> Path:
        return Path(folder.name) / "result.json"

    def _read(self) -> None:
        self._said += bytes(self._process.readAllStandardOutput().data()).decode("utf-8", "replace")
        # The first line says which program this is.
        self.advanced.emit(max(0, self._said.count("\n") - 1))

    def _error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self.running:
            self._drop_folder()
            self.failed.emit(self._process.errorString(), "")

    def _finished(self, code: int, _status: QProcess.ExitStatus) -> None:
        if self._folder is None:
            return
        verdict = _verdict(self._result_file(self._folder))
        self._drop_folder()
        if verdict is not None:
            self.ended.emit(verdict)
        else:
            self.failed.emit(tr("it ended without a result, with status {code}", code=code), self._said)

    def _drop_folder(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None


def _verdict(file: Path) -> Verdict | None:
    """Return what a self-test wrote, None where it is not there or no such thing."""
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        checks = tuple(
            Checked(str(each["check"]), str(each["outcome"]), str(each["found"]), float(each["seconds"]))
            for each in told["checks"]
        )
        return Verdict(str(told["verdict"]), bool(told["ok"]), checks, str(told["text"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def progress_text(done: int) -> str:
    """Return in words how far a run is."""
    if not done:
        return tr("Checking the installation. This takes a few seconds.")
    return trn("{n} check done.", "{n} checks done.", done)
