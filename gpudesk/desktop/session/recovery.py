"""Recovery: unsaved edits are written to disk within a second, and offered after a crash."""

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
from gpudesk.desktop.session.single_instance import find_machine_name, remove_pipe
from gpudesk.documents.scenario_file import format_scenario, parse_scenario
from gpudesk.domain.scenario import Scenario
from gpudesk.files import read_side_file, write_atomically
from gpudesk.text.messages import InputError

log = logging.getLogger(__name__)

_WRITE_AFTER_MS = 400
_MOST_BYTES = 32 << 20
_SUFFIX = ".recovery"


@dataclass(frozen=True, slots=True)
class RecoveredScenario:
    """What a crash left: the scenario, its document, and the time of the last edit."""

    file: Path
    scenario: Scenario
    document: Path | None
    edited: datetime


class RecoveryFile(QObject):
    """Keeps one document's unsaved edits in a file."""

    #: The file could not be written; emitted once.
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        """Choose a unique name; nothing is written before the first edit."""
        super().__init__(parent)
        self._folder = folder or find_recovery_dir()
        self._file = self._folder / f"{uuid4().hex}{_SUFFIX}"
        self._lock: QLockFile | None = None
        self._content: tuple[Scenario, Path | None] | None = None
        self._has_failed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WRITE_AFTER_MS)
        self._timer.timeout.connect(self.write)

    def keep(self, scenario: Scenario, document: Path | None) -> None:
        """Write this after a short delay; edits until then are included."""
        self._content = (scenario, document)
        if not self._timer.isActive():
            self._timer.start()

    def write(self) -> bool:
        """Write pending edits now; return whether none are left."""
        self._timer.stop()
        if self._content is None:
            return True
        scenario, document = self._content
        fields = {
            "document": None if document is None else str(document),
            "edited": datetime.now().astimezone().isoformat(timespec="seconds"),
            "scenario": format_scenario(scenario),
        }
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = make_lock(self._file)
                self._lock.tryLock(0)
            # The path of a document can contain invalid text; ASCII escapes preserve it.
            write_atomically(self._file, json.dumps(fields, ensure_ascii=True).encode())
        except (OSError, InputError) as error:
            log.info("unsaved edits cannot be kept in %s: %s", self._folder, error)
            if not self._has_failed:
                self._has_failed = True
                self.failed.emit(str(self._folder))
        else:
            self._content = None
        return self._content is None

    def take_over(self, recovered: RecoveredScenario) -> None:
        """Continue in the file that a crash left, so that its edits are never lost."""
        self.clear()
        self._file = recovered.file
        self._lock = make_lock(self._file)
        self._lock.tryLock(0)

    def leave(self) -> None:
        """Write pending edits and release the file, so that the next start offers it."""
        self.write()
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def clear(self) -> None:
        """Remove the edits: they are saved, or were discarded."""
        self._timer.stop()
        self._content = None
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


def find_recovery_dir() -> Path:
    return paths.user_dir() / "recovery"


def list_recovered(folder: Path | None = None) -> list[RecoveredScenario]:
    """Return what crashed instances left, the newest first; running instances are not touched."""
    scenarios = []
    for file in list_files(folder or find_recovery_dir(), f"*{_SUFFIX}"):
        if not is_abandoned(file):
            continue
        recovered = _read_recovered(file)
        if recovered is None:
            with contextlib.suppress(OSError):
                file.replace(file.with_suffix(".unreadable"))
        else:
            scenarios.append(recovered)
    return sorted(scenarios, key=lambda each: each.edited, reverse=True)


def list_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder by name; empty if it is unreadable."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def discard_recovered(recovered: RecoveredScenario) -> None:
    with contextlib.suppress(OSError):
        recovered.file.unlink(missing_ok=True)


def make_lock(file: Path) -> QLockFile:
    """Return the lock of a file of a running program; it is stale when its process is gone.

    For a process on another machine that is unknown, however old its lock is. But files of a portable program are used
    on this machine alone: there each machine has a separate lock.
    """
    suffix = f".{find_machine_name()}.lock" if paths.is_portable() else ".lock"
    lock = QLockFile(os.fspath(remove_pipe(file.with_suffix(suffix))))
    lock.setStaleLockTime(0)
    return lock


def is_abandoned(file: Path) -> bool:
    """Whether no running program keeps a file; if so, stale locks are removed."""
    lock = make_lock(file)
    if not lock.tryLock(0):
        return False
    lock.unlock()
    if paths.is_portable():
        for of_another_machine in file.parent.glob(f"{file.stem}.*.lock"):
            with contextlib.suppress(OSError):
                of_another_machine.unlink(missing_ok=True)
    return True


def _read_recovered(file: Path) -> RecoveredScenario | None:
    try:
        fields = read_side_file(file, _MOST_BYTES)
        document = None if fields["document"] is None else _read_path(fields["document"])
        return RecoveredScenario(
            file=file,
            scenario=parse_scenario(fields["scenario"].encode(), str(file)),
            document=document,
            edited=datetime.fromisoformat(fields["edited"]).astimezone(),
        )
    except (InputError, ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError) as error:
        log.info("what a crash left in %s cannot be read: %s", file, error)
        return None


def _read_path(text: str) -> Path:
    """Return a path; raises `ValueError` for an invalid one."""
    if b"\0" in os.fsencode(text):
        raise ValueError(text)
    return Path(text)
