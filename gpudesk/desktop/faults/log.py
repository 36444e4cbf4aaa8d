"""The program's log: a file of the user's folder, and its last lines at hand for reports."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from gpudesk import paths
from gpudesk.desktop.faults.records import Tally

log = logging.getLogger(__name__)

LOG_NAME: Final = "gpudesk.log"
#: Lines of the log that a report ends with, and as much of each.
LAST_LINES: Final = 30
_LONGEST_LINE: Final = 400

#: A file that has grown past this is set aside at the next start; so many are kept beside the present one.
_MOST_BYTES: Final = 1 << 20
_KEPT: Final = 3
#: The process is named so that the lines of one that crashed can be found again.
_FORMAT: Final = "%(asctime)s [%(process)d] %(levelname)s %(name)s: %(message)s"

_Handler = Callable[[QtMsgType, QMessageLogContext, str], object]

#: What nobody can do anything about: what the platform without a screen says of each window, that the
#: desktop's accessibility lacks a call that Qt does without, and that a screen reader asks for what has gone.
_NOISE: Final = re.compile(
    r"This plugin does not support |Could not find accessible on path: "
    r'|.*does not implement "GetApplicationBusAddress"'
)


class LogFile(logging.FileHandler):
    """A log that nobody hears of where it cannot be written: the disk may be full, the folder read-only.

    The library has a handler that changes files while they are written; it loads what opens sockets.
    """

    def __init__(self, file: Path) -> None:
        """Write to the end of a file, or to a new one where that has grown large."""
        with contextlib.suppress(OSError):
            if file.stat().st_size > _MOST_BYTES:
                _set_aside(file)
        super().__init__(file, encoding="utf-8", errors="backslashreplace", delay=True)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; the file is made with the first."""
        with contextlib.suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Go on without."""


def _set_aside(file: Path) -> None:
    """Number a file among those before it, the newest 1; the oldest goes."""
    for number in range(_KEPT, 0, -1):
        former = file.with_name(f"{file.name}.{number - 1}") if number > 1 else file
        if former.exists():
            former.replace(file.with_name(f"{file.name}.{number}"))


class LastLines(logging.Handler):
    """Keeps the first line of each of the last records."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__(logging.INFO)
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._lines.append(self.format(record).partition("\n")[0][:_LONGEST_LINE])

    @property
    def lines(self) -> list[str]:
        """The lines, the oldest first."""
        self.acquire()
        try:
            return list(self._lines)
        finally:
            self.release()


def start_log() -> LastLines:
    """Write the log to a file from here on, without one where that cannot be; return its last lines."""
    root = logging.getLogger("gpudesk")
    last = next((each for each in root.handlers if isinstance(each, LastLines)), None)
    if last is None:
        last = LastLines()
        root.addHandler(last)
    root.setLevel(logging.INFO)
    if any(isinstance(handler, LogFile) for handler in root.handlers):
        return last
    try:
        paths.ensure_user_dir()
        folder = paths.logs_dir()
        folder.mkdir(exist_ok=True)
    except OSError:
        return last
    root.addHandler(LogFile(folder / LOG_NAME))
    return last


def lines_of(process: int, until: datetime, folder: Path | None = None) -> list[str]:
    """Return the last lines that a process wrote to the log files until a moment; none where it cannot be."""
    sign, end = f" [{process}] ", f"{until:%Y-%m-%d %H:%M:%S}"
    file = (folder or paths.logs_dir()) / LOG_NAME
    found: deque[str] = deque(maxlen=LAST_LINES)
    for each in (file.with_name(f"{LOG_NAME}.1"), file):
        try:
            text = each.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # Each line begins with its time; those of a trace do not.
        found += (
            line[:_LONGEST_LINE]
            for line in text.splitlines()
            if sign in line[:48] and line[: len(end)] <= end and line[:1].isdigit()
        )
    return list(found)


class QtMessages:
    """Takes what Qt has to say into the log; a message that Qt ends the program with is heard before."""

    _LEVELS: Final = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def __init__(self, on_fatal: Callable[[str], object]) -> None:
        """Listen to nothing yet; `on_fatal` is told what Qt ends the program with."""
        self._on_fatal = on_fatal
        self._tally = Tally()
        self._former: _Handler | None = None
        self._busy = threading.local()

    def install(self) -> None:
        """Listen; whoever listened before still hears all."""
        self._former = cast("_Handler | None", qInstallMessageHandler(self.take))

    def remove(self) -> None:
        """Leave it to whoever listened before."""
        qInstallMessageHandler(self._former)

    def take(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        """Write a message to the log: once, and then at doubling counts."""
        if getattr(self._busy, "now", False):
            # Writing the log has made Qt say something.
            return
        self._busy.now = True
        try:
            if kind is QtMsgType.QtFatalMsg:
                self._on_fatal(text)
            if self._former is not None:
                self._former(kind, context, text)
            self._write(kind, str(context.category or "default"), text)
        finally:
            self._busy.now = False

    def _write(self, kind: QtMsgType, category: str, text: str) -> None:
        level = logging.DEBUG if _NOISE.match(text) else self._LEVELS[kind]
        count = self._tally.count((category, text))
        if kind is QtMsgType.QtFatalMsg or self._tally.is_worth_a_line(count):
            times = f" ({count} times)" if count > 1 else ""
            log.log(level, "Qt, %s: %s%s", category, text, times)
