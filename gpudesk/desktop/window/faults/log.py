"""The program's log, its last lines for reports, and records of faults with their counts."""

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

#: Frames next to where it happened that tell one fault from another.
_INNERMOST: Final = 3
#: A trace is kept up to so many characters: its beginning and, mostly, its end.
_LONGEST: Final = 24_000
_HEAD: Final = 4_000
_PACKAGE: Final = "gpudesk"

#: What is the same whenever a fault comes again.
Signature = tuple[str, tuple[tuple[str, str, int], ...]]


@dataclass(slots=True)
class FaultRecord:
    """One distinct fault, with the trace of the first time; the error itself would keep alive what it met."""

    kind: str
    place: str
    trace: str
    first: datetime = field(default_factory=lambda: datetime.now().astimezone())
    last: datetime = field(default_factory=lambda: datetime.now().astimezone())
    count: int = 1

    def again(self, count: int) -> None:
        self.count, self.last = count, datetime.now().astimezone()


def make_signature(kind: type[BaseException], trace: TracebackType | None) -> Signature:
    """Return type and innermost frames: never the message, which may hold addresses and values."""
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
    """Return a fault as text; `thread` names the one that it came in, where that is not the window's."""
    text = "".join(traceback.format_exception(kind, error, trace))
    if len(text) > _LONGEST:
        text = f"{text[:_HEAD]}\n[…]\n{text[_HEAD - _LONGEST :]}"
    return FaultRecord(kind.__name__, _place(trace), f"In the thread {thread}\n{text}" if thread else text)


def _place(trace: TracebackType | None) -> str:
    """Return the innermost line of our own code, else the innermost there is; empty without a trace."""
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
    """Counts what comes again and again; safe to use from every thread.

    Of a storm only the doublings are worth a line, and only so many different things are told apart.
    """

    def __init__(self, most: int = 200) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._counts: dict[Hashable, int] = {}

    def count(self, key: Hashable) -> int:
        """Count once more and return how often that was; 0 if there are too many different things."""
        with self._lock:
            if key not in self._counts and len(self._counts) >= self._most:
                return 0
            self._counts[key] = self._counts.get(key, 0) + 1
            return self._counts[key]

    @staticmethod
    def is_worth_a_line(count: int) -> bool:
        """Whether this is the first time, the second, the fourth, the eighth, and so on."""
        return count > 0 and count & (count - 1) == 0

    def ends(self) -> list[tuple[Hashable, int]]:
        with self._lock:
            return [(key, count) for key, count in self._counts.items() if not self.is_worth_a_line(count)]


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
            if file.exists() and (not file.is_file() or file.stat().st_size > _MOST_BYTES):
                # What is no file, such as a pipe, would be waited for with the first line.
                _set_aside(file)
        super().__init__(file, encoding="utf-8", errors="backslashreplace", delay=True)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; the file is made with the first."""
        with contextlib.suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
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
        folder = paths.ensure_logs_dir()
    except OSError:
        return last
    root.addHandler(LogFile(folder / LOG_NAME))
    return last


def read_log_lines(process: int, until: datetime, folder: Path | None = None) -> list[str]:
    """Return the last lines that a process wrote to the log files until a moment; none where it cannot be."""
    sign, end = f" [{process}] ", f"{until:%Y-%m-%d %H:%M:%S}"
    file = (folder or paths.logs_dir()) / LOG_NAME
    lines: deque[str] = deque(maxlen=LAST_LINES)
    for each in (file.with_name(f"{LOG_NAME}.1"), file):
        try:
            text = each.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # Each line begins with its time; those of a trace do not.
        lines += (
            line[:_LONGEST_LINE]
            for line in text.splitlines()
            if sign in line[:48] and line[: len(end)] <= end and line[:1].isdigit()
        )
    return list(lines)


class QtMessageHandler:
    """Takes what Qt has to say into the log; a message that Qt ends the program with is heard before."""

    _LEVELS: Final = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def __init__(self, on_fatal: Callable[[str], object]) -> None:
        """Listen to nothing yet; `on_fatal` is called with the message that Qt ends the program with."""
        self._on_fatal = on_fatal
        self._tally = FaultTally()
        self._former: _Handler | None = None
        self._busy = threading.local()

    def install(self) -> None:
        self._former = cast("_Handler | None", qInstallMessageHandler(self.take))

    def remove(self) -> None:
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
