"""Crashes: what ends the process where Python cannot say so any more, written down for the next start.

Each process has a file in the folder of logs, into which the interpreter writes the stacks of all threads
when the process crashes, and a lock beside it that ends with the process. A file without a living owner is
what a crash left, unless it holds no more than its head: then the process was killed, or the power failed.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLockFile

from gpudesk import paths
from gpudesk.desktop.faults.log import lines_of
from gpudesk.desktop.faults.report import Fact, report_text
from gpudesk.desktop.session.recovery import files_in, is_left, lock_beside

log = logging.getLogger(__name__)

#: As many reports of crashes are kept.
MOST_KEPT: Final = 10
_MOST_BYTES: Final = 1 << 18
_NAME: Final = re.compile(r"crash-(\d+)-\d{8}-\d{6}")
_OPEN, _SHOWN = ".log", ".txt"
#: How each line of the head begins, as none that the interpreter writes does.
_HEAD: Final = "# "
#: On Windows the interpreter also writes down what Windows itself copes with: errors between its components.
#: The codes of what ends a process begin with C.
_COPED_WITH: Final = "Windows fatal exception: code 0x8"
_FATAL: Final = ("Fatal Python error: ", "Windows fatal exception: ", "Qt: ")


class CrashLog:
    """The file that waits for a crash of this process."""

    def __init__(self, folder: Path | None = None) -> None:
        """Write nothing yet."""
        self._folder = folder or paths.logs_dir()
        self._file: FileIO | None = None
        self._path: Path | None = None
        self._lock: QLockFile | None = None

    @property
    def path(self) -> Path | None:
        """The file, None where there is none."""
        return self._path

    def start(self, facts: Iterable[Fact]) -> None:
        """Wait for a crash; where the folder cannot be written, or somebody else waits already, do not."""
        if faulthandler.is_enabled():
            return
        now = datetime.now().astimezone()
        path = self._folder / f"crash-{os.getpid()}-{now:%Y%m%d-%H%M%S}{_OPEN}"
        head = [("Started", now.isoformat(timespec="seconds")), *facts]
        # The lock first: another start must not take the file for one that was left.
        lock = lock_beside(path)
        if not lock.tryLock(0):
            return
        self._lock = lock
        try:
            self._file = FileIO(path, "x")
            self._path = path
            self._file.write("".join(f"{_HEAD}{name}: {value}\n" for name, value in head).encode())
            faulthandler.enable(self._file, all_threads=True)
        except OSError:
            self.end()

    def note(self, text: str) -> None:
        """Write down what is about to end the process."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(f"Qt: {text}\n".encode())

    def end(self) -> None:
        """Wait no more: the process ends as it should. What was coped with meanwhile goes to the log."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
        if self._path is not None:
            left = _read(self._path)
            if _events(left):
                log.info("written down while running, and coped with:\n%s", left)
            _remove(self._path)
            self._path = None
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


@dataclass(frozen=True, slots=True)
class Crash:
    """What a process that crashed has left."""

    file: Path
    ended: datetime
    report: str

    def shown(self) -> None:
        """Keep the report, and offer it no more."""
        with contextlib.suppress(OSError):
            self.file.replace(self.file.with_suffix(_SHOWN))

    def discard(self) -> None:
        """Delete it."""
        _remove(self.file)


def left_crashes(folder: Path | None = None) -> list[Crash]:
    """Return what crashed processes have left, the newest first; those that run are not touched.

    What was left by processes that were killed is removed, and of all reports only the newest are kept.
    """
    place = folder or paths.logs_dir()
    found = [crash for file in _left(place) if (crash := _crash(file)) is not None]
    found.sort(key=lambda crash: crash.ended, reverse=True)
    for crash in found[MOST_KEPT:]:
        crash.discard()
    shown = sorted(_named(place, _SHOWN), key=_changed, reverse=True)
    for file in shown[max(0, MOST_KEPT - len(found)) :]:
        _remove(file)
    return found[:MOST_KEPT]


def _left(folder: Path) -> list[Path]:
    """Return the files whose process is gone, and remove locks that nothing belongs to."""
    # The name of a lock may end with that of its machine.
    owners = {lock.name.partition(".")[0] for lock in files_in(folder, "crash-*.lock")}
    of_locks = {folder / f"{owner}{_OPEN}" for owner in owners if _NAME.fullmatch(owner)}
    return [file for file in {*_named(folder, _OPEN), *of_locks} if is_left(file) and file.exists()]


def _crash(file: Path) -> Crash | None:
    """Read what was left; a file without an event is removed."""
    text = _read(file)
    if not _events(text):
        _remove(file)
        return None
    ended = datetime.fromtimestamp(_changed(file)).astimezone()
    match = _NAME.match(file.name)
    process = int(match.group(1)) if match is not None else 0
    return Crash(file, ended, report_text([], text, lines_of(process, ended, file.parent)))


def _events(text: str) -> bool:
    """Whether a file tells of anything that ended its process."""
    lines = [line for line in text.splitlines() if line.startswith(_FATAL)]
    return any(not line.startswith(_COPED_WITH) for line in lines)


def _named(folder: Path, suffix: str) -> list[Path]:
    # No pipe, on which a reader would wait.
    found = files_in(folder, f"crash-*{suffix}")
    return [file for file in found if _NAME.fullmatch(file.stem) and file.is_file()]


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
