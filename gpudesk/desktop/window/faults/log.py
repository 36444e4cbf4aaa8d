"""The program's log, its last lines for reports, and error records with their counts."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import traceback
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from types import TracebackType
from typing import Final, cast

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from gpudesk import paths

#: Innermost frames that distinguish errors.
_INNERMOST: Final = 3
#: Maximum characters of a stored trace: its beginning and, mostly, its end.
_LONGEST: Final = 24_000
_HEAD: Final = 4_000
_PACKAGE: Final = "gpudesk"

#: Properties that are equal for recurrences of an error.
Signature = tuple[str, tuple[tuple[str, str, int], ...]]


@dataclass(slots=True)
class FaultRecord:
    """One distinct error, with its first trace; the exception itself would keep its objects alive."""

    kind: str
    place: str
    trace: str
    last: datetime = field(default_factory=lambda: datetime.now().astimezone())
    count: int = 1

    def again(self, count: int) -> None:
        self.count, self.last = count, datetime.now().astimezone()


def make_signature(kind: type[BaseException], trace: TracebackType | None) -> Signature:
    """Return type and innermost frames: never the message, which can contain addresses and values."""
    frames: list[tuple[str, str, int]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((code.co_filename, code.co_name, trace.tb_lineno))
        del frames[:-_INNERMOST]
        trace = trace.tb_next
    return (f"{kind.__module__}.{kind.__qualname__}", tuple(frames))


def make_fault(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, thread: str = ""
) -> FaultRecord:
    """Return an error as text; `thread` names its thread, if it is not the window's."""
    text = "".join(traceback.format_exception(kind, error, trace))
    if len(text) > _LONGEST:
        text = f"{text[:_HEAD]}\n[…]\n{text[_HEAD - _LONGEST :]}"
    return FaultRecord(kind.__name__, _place(trace), f"In the thread {thread}\n{text}" if thread else text)


def _place(trace: TracebackType | None) -> str:
    """Return the innermost line of the program, else the innermost; empty without a trace."""
    place = ""
    is_ours = False
    for frame in traceback.extract_tb(trace) if trace is not None else ():
        parts = PurePath(frame.filename).parts
        ours = _PACKAGE in parts
        if ours or not is_ours:
            is_ours = is_ours or ours
            start = len(parts) - parts[::-1].index(_PACKAGE) if ours else -1
            place = f"{'/'.join(parts[start:])}:{frame.lineno}"
    return place


class FaultTally:
    """Counts recurring errors; thread-safe.

    In a storm of errors only doublings are logged, and only a limited number of errors is distinguished.
    """

    def __init__(self, most: int = 200) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._counts: dict[Hashable, int] = {}

    def count(self, key: Hashable) -> int:
        """Count and return the number of occurrences; 0 beyond the limit of distinct errors."""
        with self._lock:
            if key not in self._counts and len(self._counts) >= self._most:
                return 0
            self._counts[key] = self._counts.get(key, 0) + 1
            return self._counts[key]

    @staticmethod
    def is_worth_a_line(count: int) -> bool:
        """Whether this is the 1st, 2nd, 4th, 8th, … occurrence."""
        return count > 0 and count & (count - 1) == 0

    def ends(self) -> list[tuple[Hashable, int]]:
        with self._lock:
            return [(key, count) for key, count in self._counts.items() if not self.is_worth_a_line(count)]


log = logging.getLogger(__name__)

LOG_NAME: Final = "gpudesk.log"
#: Lines of the log in a report, and maximum length of each.
LAST_LINES: Final = 30
_LONGEST_LINE: Final = 400

#: A larger file is rotated at the next start; number of rotated files.
_MOST_BYTES: Final = 1 << 20
_KEPT: Final = 3
#: The process is named so that the lines of a crashed one can be found again.
_FORMAT: Final = "%(asctime)s [%(process)d] %(levelname)s %(name)s: %(message)s"

_Handler = Callable[[QtMsgType, QMessageLogContext, str], object]

#: Harmless messages: from the offscreen platform about each window, from the desktop's accessibility about an optional
#: call, and from screen readers about deleted objects.
_NOISE: Final = re.compile(
    r"This plugin does not support |Could not find accessible on path: "
    r'|.*does not implement "GetApplicationBusAddress"'
)


class LogFile(logging.FileHandler):
    """A log that fails silently: the disk can be full, the folder read-only.

    The library's rotating handler would load modules that open sockets.
    """

    def __init__(self, file: Path) -> None:
        """Append to a file, or start a new one if it is large."""
        with contextlib.suppress(OSError):
            if file.exists() and (not file.is_file() or file.stat().st_size > _MOST_BYTES):
                # A pipe or another non-file would block the first line.
                # Rotate a file among its predecessors, the newest is 1; the oldest is removed.
                for number in range(_KEPT, 0, -1):
                    former = file.with_name(f"{file.name}.{number - 1}") if number > 1 else file
                    if former.exists():
                        former.replace(file.with_name(f"{file.name}.{number}"))
        super().__init__(file, encoding="utf-8", errors="backslashreplace", delay=True)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; the first creates the file."""
        with contextlib.suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore the error."""


class LastLines(logging.Handler):
    """Keeps the first line of each of the last records."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
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
    """Start logging to a file, if possible; return its last lines."""
    root = logging.getLogger("gpudesk")
    last = next((each for each in root.handlers if isinstance(each, LastLines)), None)
    if last is None:
        last = LastLines()
        root.addHandler(last)
    root.setLevel(logging.INFO)
    if any(isinstance(handler, LogFile) for handler in root.handlers):
        return last
    try:
        folder = paths.ensure_logs_dir()
    except OSError:
        return last
    root.addHandler(LogFile(folder / LOG_NAME))
    return last


def read_log_lines(process: int, until: datetime, folder: Path | None = None) -> list[str]:
    """Return the last lines of a process in the log files before a time; empty on failure."""
    sign, end = f" [{process}] ", f"{until:%Y-%m-%d %H:%M:%S}"
    file = (folder or paths.get_logs_dir()) / LOG_NAME
    lines: deque[str] = deque(maxlen=LAST_LINES)
    for each in (file.with_name(f"{LOG_NAME}.1"), file):
        try:
            text = each.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # Each line starts with its time; those of a trace do not.
        lines += (
            line[:_LONGEST_LINE]
            for line in text.splitlines()
            if sign in line[:48] and line[: len(end)] <= end and line[:1].isdigit()
        )
    return list(lines)


class QtMessageHandler:
    """Logs Qt's messages; a fatal message is passed on before the program ends."""

    _LEVELS: Final = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def __init__(self, on_fatal: Callable[[str], object]) -> None:
        """Not yet installed; `on_fatal` is called with Qt's fatal message."""
        self._on_fatal = on_fatal
        self._tally = FaultTally()
        self._former: _Handler | None = None
        self._busy = threading.local()

    def install(self) -> None:
        self._former = cast("_Handler | None", qInstallMessageHandler(self.take))

    def remove(self) -> None:
        qInstallMessageHandler(self._former)

    def take(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        """Log a message: once, and then at doubling counts."""
        if getattr(self._busy, "now", False):
            # Logging triggered another message of Qt.
            return
        self._busy.now = True
        try:
            if kind is QtMsgType.QtFatalMsg:
                self._on_fatal(text)
            if self._former is not None:
                self._former(kind, context, text)
            category = str(context.category or "default")
            level = logging.DEBUG if _NOISE.match(text) else self._LEVELS[kind]
            count = self._tally.count((category, text))
            if kind is QtMsgType.QtFatalMsg or self._tally.is_worth_a_line(count):
                times = f" ({count} times)" if count > 1 else ""
                log.log(level, "Qt, %s: %s%s", category, text, times)
        finally:
            self._busy.now = False
