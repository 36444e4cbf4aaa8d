"""One running program per user folder: later starts and the operating system pass their files to it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from PySide6.QtCore import QEvent, QFileSystemWatcher, QLockFile, QObject, QSysInfo, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from gpudesk import paths
from gpudesk.documents.scenario_file import SCENARIO_SUFFIX
from gpudesk.files import read_side_file, write_atomically
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError

log = logging.getLogger(__name__)

#: Seconds that a later start waits for an answer; counted again while the first one is seen to work.
_ANSWER_S = 0.8
#: Maximum wait in seconds. Older requests are abandoned.
_PATIENCE_S = 10.0
_LOOK_AGAIN_S = 0.02
#: Network folders do not always report changes.
_POLL_MS = 500
_MOST_BYTES = 4 << 20
_SUFFIX = ".json"
#: Variable of a Wayland desktop with the token that allows a window to come to the front.
_ACTIVATION = "XDG_ACTIVATION_TOKEN"


@frozen_dataclass
class _Request:
    """The request of a later start, and its time, in seconds of the system's clock."""

    files: tuple[str, ...]
    written: float
    activation: str = ""

    def to_bytes(self) -> bytes:
        # ASCII, so that names with invalid text are preserved.
        fields = {"files": self.files, "written": self.written, "activation": self.activation}
        return json.dumps(fields, ensure_ascii=True).encode()


class ProgramInstance(QObject):
    """This start: the first of its user folder, which receives later ones, or one of those."""

    #: The files of later starts, as a list of paths.
    asked = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        inbox, machine = find_inbox_dir(), find_machine_name()
        self._folder = inbox / machine
        self._busy = inbox / f"{machine}.busy"
        self._is_busy = False
        self._lock = QLockFile(os.fspath(remove_pipe(inbox / f"{machine}.lock")))
        # A lock is stale when its process is gone, regardless of its age.
        self._lock.setStaleLockTime(0)
        self._watcher: QFileSystemWatcher | None = None
        self._timer = QTimer(self, interval=_POLL_MS)
        self._timer.timeout.connect(self._poll)
        try:
            paths.ensure_user_dir()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            log.info("later starts cannot be heard of in %s: %s", inbox, error)
            return
        if not self._become_first() and _is_unreadable(self._lock):
            self._lock.removeStaleLockFile()
            self._become_first()

    @property
    def listening(self) -> bool:
        """Whether this start is the first; if locks are impossible, each start is independent."""
        return self._lock.isLocked()

    def hand_over(self, files: Sequence[str]) -> bool:
        """Ask the running program, if any, to open these files; return whether it took them.

        If that program ends meanwhile, this one becomes the first.
        """
        if not self._other_is_first():
            return False
        request = self._ask(files)
        if request is None:
            return False
        try:
            return self._is_answered(request)
        except OSError as error:
            log.info("the running program cannot be heard of: %s", error)
            return False

    def listen(self) -> None:
        """Receive the files of later starts from now on, beginning with waiting ones.

        If another program is the first and does not answer, this one replaces it once it is gone.
        """
        if not (self.listening or self._other_is_first()):
            return
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._look)
        self._timer.start()
        QTimer.singleShot(0, self, self._begin)

    def close(self) -> None:
        """Stop listening. Later starts wait, and the first of them is next on `release`."""
        self._timer.stop()
        if self._watcher is not None:
            self._watcher.deleteLater()
            self._watcher = None
            if self.listening:
                self._mark_busy()

    def release(self) -> None:
        """Let another start be the first."""
        self.close()
        if self.listening:
            self._mark_idle()
            self._lock.unlock()

    def _become_first(self) -> bool:
        if not self._lock.tryLock(0):
            return False
        self._mark_busy()
        return True

    def _other_is_first(self) -> bool:
        return not self.listening and self._lock.error() == QLockFile.LockError.LockFailedError

    # Requesting

    def _ask(self, files: Sequence[str]) -> Path | None:
        try:
            absolute = tuple(str(Path(file).absolute()) for file in files)
        except FileNotFoundError as error:
            log.info("the folder that this was started in is gone: %s", error)
            return None
        request = _Request(absolute, time.time(), os.environ.get(_ACTIVATION, ""))
        path = self._folder / f"{uuid4().hex}{_SUFFIX}"
        contents = request.to_bytes()
        if len(contents) > _MOST_BYTES:
            return None
        holder = self._lock.getLockInfo()
        if sys.platform == "win32":
            # Only the started program may let the running one come to the front.
            import ctypes

            ctypes.windll.user32.AllowSetForegroundWindow(holder[0])
        try:
            write_atomically(path, contents)
        except InputError as error:
            log.info("the running program cannot be asked: %s", error)
            return None
        return path

    def _is_answered(self, request: Path) -> bool:
        begun = seen_at = time.monotonic()
        while request.exists():
            if self._become_first():
                _withdraw(request)
                return False
            now = time.monotonic()
            if self._busy.exists():
                seen_at = now
            if now - seen_at > _ANSWER_S or now - begun > _PATIENCE_S:
                log.info("the running program does not answer; this one goes on by itself")
                return not _withdraw(request)
            time.sleep(_LOOK_AGAIN_S)
        return True

    # Receiving

    def _begin(self) -> None:
        if self._watcher is None or not self.listening:
            return
        self._watcher.addPath(os.fspath(self._folder))
        now = time.time()
        for path in _list_plain_files(self._folder):
            with contextlib.suppress(OSError):
                request = _read_request(path) if path.suffix == _SUFFIX else None
                written_at = request.written if request is not None else path.lstat().st_mtime
                if not abs(now - written_at) < _PATIENCE_S:
                    path.unlink()
        self._look()

    def _poll(self) -> None:
        """Also poll, in case a change was not reported; between polls the event loop was free, so it answers."""
        if not self.listening:
            if self._become_first():
                self._begin()
            return
        self._look()
        self._mark_idle()

    def _look(self) -> None:
        """Take all pending requests, and only then open their files, which can be slow."""
        if self._watcher is None or not self.listening:
            return
        requests = [request for path in _list_plain_files(self._folder) if (request := _take(path)) is not None]
        if not requests:
            return
        self._mark_busy()
        if activation := requests[-1].activation:
            # Qt passes it to the desktop with the next window that is to come to the front.
            os.environ[_ACTIVATION] = activation
        self.asked.emit([Path(file) for request in requests for file in request.files])

    def _mark_busy(self) -> None:
        self._is_busy = True
        with contextlib.suppress(OSError):
            self._busy.touch(mode=0o600)

    def _mark_idle(self) -> None:
        if not self._is_busy:
            return
        self._is_busy = False
        with contextlib.suppress(OSError):
            self._busy.unlink(missing_ok=True)


def find_inbox_dir() -> Path:
    """Return the folder of locks and requests of this machine and of others that share it."""
    return paths.get_user_dir() / "inbox"


def find_machine_name() -> str:
    """Return a name that is unique to this machine."""
    name = bytes(QSysInfo.machineUniqueId().data()) + b" " + QSysInfo.machineHostName().encode()
    return hashlib.sha256(name).hexdigest()[:16]


def remove_pipe(lock: Path) -> Path:
    """Return the path of a lock after removing anything there on which a reader would block forever."""
    with contextlib.suppress(OSError):
        if stat.S_ISFIFO(lock.lstat().st_mode):
            lock.unlink()
    return lock


def _is_unreadable(lock: QLockFile) -> bool:
    """Whether a lock names no process and is not just being written, as after a power failure."""
    path = Path(lock.fileName())
    with contextlib.suppress(OSError):
        return lock.getLockInfo()[0] == 0 and abs(time.time() - path.stat().st_mtime) > _PATIENCE_S
    return False


def _list_plain_files(folder: Path) -> list[Path]:
    """Return the plain files of a folder; neither links nor pipes, which could block a reader."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _take(path: Path) -> _Request | None:
    """Remove a request, which answers it; None for other files, or if just withdrawn."""
    if path.suffix != _SUFFIX:
        return None
    request = _read_request(path)
    try:
        path.unlink()
    except OSError:
        return None
    return request


def _read_request(path: Path) -> _Request | None:
    try:
        fields = read_side_file(path, _MOST_BYTES)
        files, written_at, activation = fields["files"], float(fields["written"]), fields["activation"]
    except (InputError, ValueError, KeyError, TypeError, OverflowError):
        return None
    valid = isinstance(files, list) and all(isinstance(file, str) and "\0" not in file for file in files)
    if not valid or not isinstance(activation, str):
        return None
    return _Request(tuple(files), written_at, activation if activation.isprintable() else "")


def _withdraw(request: Path) -> bool:
    """Withdraw a request; return whether it was not taken before."""
    try:
        request.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        log.info("a request cannot be taken back: %s", error)
    return True


#: The id under which Windows groups the program's windows and its shortcut on the taskbar.
APPLICATION_ID: Final = "io.github.gpudesk.GPUDesk"
#: Suffixes of scenario files; all others can contain facts.
_DOCUMENTS: Final = (SCENARIO_SUFFIX, ".pdf")


class DesktopApplication(QApplication):
    """The application. It receives files by event where a double click does not start a new process.

    macOS does so, also for the double click that starts the program. Files before the first window are kept until there
    is a receiver.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        """Make the application; the first argument is the program's own name."""
        set_windows_app_id()
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._open: Callable[[Sequence[Path]], object] | None = None

    def give_files_to(self, open_files: Callable[[Sequence[Path]], object] | None) -> None:
        """Pass every file requested by the system, and waiting ones, to a receiver; None for no receiver."""
        self._open = open_files
        self._hand_on()

    def event(self, event: QEvent) -> bool:
        """Handle file events; everything else is Qt's own."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if not event.file():
            # A URL, which the program does not support.
            return False
        self._waiting.append(Path(event.file()))
        # Several chosen files arrive one by one; they are opened together.
        QTimer.singleShot(0, self, self._hand_on)
        return True

    def _hand_on(self) -> None:
        if self._open is not None and self._waiting:
            waiting, self._waiting = self._waiting, []
            self._open(waiting)


def set_windows_app_id() -> None:
    """Set the application id in Windows, before the first window opens; the default is the executable's."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APPLICATION_ID)


def split_files(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files to open in a window, and those to search for facts to import."""
    documents = [file for file in files if file.suffix.lower() in _DOCUMENTS]
    return documents, [file for file in files if file not in documents]
