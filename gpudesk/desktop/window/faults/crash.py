"""Crash files of earlier runs, and the facts in a report."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import platform
import re
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import PySide6
from PySide6.QtCore import QLocale, QLockFile, QSysInfo, qVersion
from PySide6.QtGui import QGuiApplication

from gpudesk import __version__, paths
from gpudesk.desktop.session.document import is_abandoned, list_files, make_lock
from gpudesk.desktop.window.faults.log import read_log_lines
from gpudesk.files import read_change_time
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.release import ProgramRelease, find_installation, get_release

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow, ProgramContext


#: A label of a report, and its value.
ReportFact = tuple[str, str]

_BEGUN = time.monotonic()


def collect_program_facts(*, ask_git: bool = False) -> list[ReportFact]:
    """Return version and platform of the program; a checkout knows its commit only from git."""
    # Asking git takes longer than a start may.
    release = get_release() if ask_git or paths.find_build_record_path() is not None else ProgramRelease(__version__)
    kernel = f"{QSysInfo.kernelType()} {QSysInfo.kernelVersion()}"
    commit = f" ({release.short_commit})" if release.short_commit else ""
    return [
        ("GPU Desk", f"{release.version}{commit}, {find_installation()}"),
        ("Python", platform.python_version()),
        ("Qt", f"{qVersion()}, PySide6 {PySide6.__version__}"),
        ("System", f"{QSysInfo.prettyProductName()}, {kernel}, {QSysInfo.currentCpuArchitecture()}"),
    ]


def collect_session_facts(program: ProgramContext | None) -> list[ReportFact]:
    facts = [("Running for", f"{time.monotonic() - _BEGUN:.0f} s")]
    if isinstance(QGuiApplication.instance(), QGuiApplication):
        facts.append(("Screens", f"{_describe_screens()}; {QGuiApplication.platformName()}"))
    if program is None:
        return [*facts, ("Page", "none, while starting")]
    catalog, theme = program.service.catalog, program.theme
    window = program.find_active_window()
    page = "none" if window is None else _find_page_id(window)
    shade = "dark" if theme.dark else "light"
    return [
        ("Catalog", f"{catalog.data_date}, shipped revision {catalog.shipped_revision}"),
        *facts,
        ("Theme", f"{theme.preference} ({shade}), text at {theme.font_percent}%, {QLocale().name()}"),
        ("Page", f"{page}; windows open: {len(program.windows)}"),
    ]


def format_report(facts: Iterable[ReportFact], trace: str, lines: Sequence[str]) -> str:
    """Return a report: facts, trace, the last lines of the log; without the user's home folder."""
    text = "\n".join(f"{name}: {value}" for name, value in facts)
    text += f"\n\n{trace.rstrip()}\n"
    if lines:
        text += "\nLast lines of the log\n" + "\n".join(lines) + "\n"
    return mask_home(text.lstrip())


def mask_home(text: str, home: Path | None = None) -> str:
    """Replace the home folder by `~`, in every form of its path."""
    folder = home or paths.get_home_dir()
    for path in {str(folder), str(folder.resolve())}:
        if len(path) < 2 or path == folder.anchor:
            continue
        # Windows accepts both slashes, and the repr of a string doubles backslashes.
        parts = [re.escape(part) for part in re.split(r"[\\/]", path)]
        text = re.sub(r"(?:/|\\{1,2})".join(parts) + r"(?!\w)", "~", text, flags=re.IGNORECASE)
    return text


def _find_page_id(window: DocumentWindow) -> str:
    return next((spec.id for spec in window.page_specs if window.is_page(spec.id)), "start")


def _describe_screens() -> str:
    screen_texts = []
    for screen in QGuiApplication.screens():
        size = screen.size()
        screen_texts.append(f"{size.width()} x {size.height()} at {screen.devicePixelRatio():g}")
    return ", ".join(screen_texts) or "none"


log = logging.getLogger(__name__)

#: Maximum number of stored crash reports.
MOST_KEPT: Final = 10
_MOST_BYTES: Final = 1 << 18
_NAME: Final = re.compile(r"crash-(\d+)-\d{8}-\d{6}")
_OPEN, _SHOWN = ".log", ".txt"
#: Prefix of each line of the head, unlike any line written by the interpreter.
_HEAD: Final = "# "
#: On Windows the interpreter also logs exceptions that Windows itself handles: errors between its components. The codes
#: of fatal exceptions start with C.
_COPED_WITH: Final = "Windows fatal exception: code 0x8"
_FATAL: Final = ("Fatal Python error: ", "Windows fatal exception: ", "Qt: ")


class CrashLog:
    """The file for a crash of this process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or paths.get_logs_dir()
        self._file: FileIO | None = None
        self.path: Path | None = None
        self._lock: QLockFile | None = None

    def start(self, facts: Iterable[ReportFact]) -> None:
        """Wait for a crash, unless the folder is not writable, or another handler is already installed."""
        if faulthandler.is_enabled():
            return
        now = datetime.now().astimezone()
        path = self._folder / f"crash-{os.getpid()}-{now:%Y%m%d-%H%M%S}{_OPEN}"
        head = [("Started", now.isoformat(timespec="seconds")), *facts]
        # The lock first: another start must not take the file for an abandoned one.
        lock = make_lock(path)
        if not lock.tryLock(0):
            return
        self._lock = lock
        try:
            self._file = FileIO(path, "x")
            self.path = path
            self._file.write("".join(f"{_HEAD}{name}: {value}\n" for name, value in head).encode())
            faulthandler.enable(self._file, all_threads=True)
        except OSError:
            self.end()

    def note(self, text: str) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(f"Qt: {text}\n".encode())

    def end(self) -> None:
        """Stop waiting: the process ends normally. Exceptions handled meanwhile go to the log."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
        if self.path is not None:
            remaining_text = _read_text(self.path)
            if _events(remaining_text):
                log.info("written down while running, and coped with:\n%s", remaining_text)
            _remove(self.path)
            self.path = None
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


@frozen_dataclass
class CrashReport:
    """The report left by a crashed process."""

    file: Path
    ended: datetime
    report: str

    def mark_shown(self) -> None:
        """Keep the report without offering it again."""
        with contextlib.suppress(OSError):
            self.file.replace(self.file.with_suffix(_SHOWN))

    def discard(self) -> None:
        _remove(self.file)


def list_crashes(folder: Path | None = None) -> list[CrashReport]:
    """Return the reports of crashed processes, the newest first; running ones are not touched.

    Files of killed processes are removed, and only the newest reports are kept.
    """
    place = folder or paths.get_logs_dir()
    crashes = [crash for file in _list_ended(place) if (crash := _read_crash(file)) is not None]
    crashes.sort(key=lambda crash: crash.ended, reverse=True)
    for crash in crashes[MOST_KEPT:]:
        crash.discard()
    newest = sorted(_list_crash_files(place, _SHOWN), key=read_change_time, reverse=True)
    for file in newest[max(0, MOST_KEPT - len(crashes)) :]:
        _remove(file)
    return crashes[:MOST_KEPT]


def _list_ended(folder: Path) -> list[Path]:
    """Return the files whose process is gone, and remove stale locks."""
    # The name of a lock can end with that of its machine.
    owners = {lock.name.partition(".")[0] for lock in list_files(folder, "crash-*.lock")}
    of_locks = {folder / f"{owner}{_OPEN}" for owner in owners if _NAME.fullmatch(owner)}
    return [file for file in {*_list_crash_files(folder, _OPEN), *of_locks} if is_abandoned(file) and file.exists()]


def _read_crash(file: Path) -> CrashReport | None:
    """Read a crash file; one without an event is removed."""
    text = _read_text(file)
    if not _events(text):
        _remove(file)
        return None
    ended = read_change_time(file)
    match = _NAME.match(file.name)
    process = int(match.group(1)) if match is not None else 0
    return CrashReport(file, ended, format_report([], text, read_log_lines(process, ended, file.parent)))


def _events(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.startswith(_FATAL)]
    return any(not line.startswith(_COPED_WITH) for line in lines)


def _list_crash_files(folder: Path, suffix: str) -> list[Path]:
    # Not a pipe, which would block the reader.
    crash_files = list_files(folder, f"crash-*{suffix}")
    return [file for file in crash_files if _NAME.fullmatch(file.stem) and file.is_file()]


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
