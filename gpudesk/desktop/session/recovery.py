"""Recovery: edits that were not saved yet lie in a file within a second, and are offered after a crash.

Each open document has one file in `recovery/` of the user's folder, with a lock beside it that ends with the
process. A file without a living owner is what a crash left.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal

from gpudesk import paths
from gpudesk.desktop.session.single_instance import machine_name
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.files import read_bytes, write_atomically
from gpudesk.workbench.scenario_file import parse_scenario, scenario_text

log = logging.getLogger(__name__)

_WRITE_AFTER_MS = 400
_MOST_BYTES = 32 << 20
_SUFFIX = ".recovery"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a crash left: the scenario, the document that it belonged to, and when it was last edited."""

    file: Path
    scenario: Scenario
    document: Path | None
    edited: datetime


class RecoveryFile(QObject):
    """Keeps one document's unsaved edits in a file."""

    #: The file could not be written; said once.
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        """Take a name of its own; nothing is written before the first edit."""
        super().__init__(parent)
        self._folder = folder or recovery_dir()
        self._file = self._folder / f"{uuid4().hex}{_SUFFIX}"
        self._lock: QLockFile | None = None
        self._content: tuple[Scenario, Path | None] | None = None
        self._has_failed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WRITE_AFTER_MS)
        self._timer.timeout.connect(self.write)

    def keep(self, scenario: Scenario, document: Path | None) -> None:
        """Write this a little later; what comes until then goes into the same write."""
        self._content = (scenario, document)
        if not self._timer.isActive():
            self._timer.start()

    def write(self) -> bool:
        """Write now what waits to be written; return whether nothing is left to write."""
        self._timer.stop()
        if self._content is None:
            return True
        scenario, document = self._content
        kept = {
            "document": None if document is None else str(document),
            "edited": datetime.now().astimezone().isoformat(timespec="seconds"),
            "scenario": scenario_text(scenario),
        }
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = lock_beside(self._file)
                self._lock.tryLock(0)
            # The path of a document may hold bytes that are no text; ASCII takes them as well.
            write_atomically(self._file, json.dumps(kept, ensure_ascii=True).encode())
        except (OSError, InputError) as error:
            log.info("unsaved edits cannot be kept in %s: %s", self._folder, error)
            if not self._has_failed:
                self._has_failed = True
                self.failed.emit(str(self._folder))
        else:
            self._content = None
        return self._content is None

    def take_over(self, recovered: Recovered) -> None:
        """Go on in the file that a crash left, so that at no moment its edits lie nowhere."""
        self.clear()
        self._file = recovered.file
        self._lock = lock_beside(self._file)
        self._lock.tryLock(0)

    def leave(self) -> None:
        """Write what waits to be written and let the file go, so that the next start offers it."""
        self.write()
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def clear(self) -> None:
        """Forget the edits: they are saved, or were given up."""
        self._timer.stop()
        self._content = None
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


def recovery_dir() -> Path:
    """Return the folder of unsaved edits."""
    return paths.user_dir() / "recovery"


def left_behind(folder: Path | None = None) -> list[Recovered]:
    """Return what crashed instances left, the newest first; those of running instances are not touched."""
    found = []
    for file in files_in(folder or recovery_dir(), f"*{_SUFFIX}"):
        if not is_left(file):
            continue
        recovered = _read(file)
        if recovered is None:
            with contextlib.suppress(OSError):
                file.replace(file.with_suffix(".unreadable"))
        else:
            found.append(recovered)
    return sorted(found, key=lambda each: each.edited, reverse=True)


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder by their names; none where nobody may look into it."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def discard(recovered: Recovered) -> None:
    """Delete what a crash left."""
    with contextlib.suppress(OSError):
        recovered.file.unlink(missing_ok=True)


def lock_beside(file: Path) -> QLockFile:
    """Return the lock of a file that one running program keeps, which is stale when its process is gone.

    Of a process on another machine nobody can tell that, however old its lock is. But files that came along
    with the program, on a stick, are at this machine alone: there each machine has a lock of its own.
    """
    suffix = f".{machine_name()}.lock" if paths.is_portable() else ".lock"
    lock = QLockFile(os.fspath(file.with_suffix(suffix)))
    lock.setStaleLockTime(0)
    return lock


def is_left(file: Path) -> bool:
    """Whether no running program keeps a file; if so, the locks of those that did are removed."""
    lock = lock_beside(file)
    if not lock.tryLock(0):
        return False
    lock.unlock()
    if paths.is_portable():
        for of_another_machine in file.parent.glob(f"{file.stem}.*.lock"):
            with contextlib.suppress(OSError):
                of_another_machine.unlink(missing_ok=True)
    return True


def _read(file: Path) -> Recovered | None:
    try:
        kept = json.loads(read_bytes(file, _MOST_BYTES))
        return Recovered(
            file=file,
            scenario=parse_scenario(kept["scenario"].encode(), str(file)),
            document=None if kept["document"] is None else Path(kept["document"]),
            edited=datetime.fromisoformat(kept["edited"]),
        )
    except (InputError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.info("what a crash left in %s cannot be read: %s", file, error)
        return None
