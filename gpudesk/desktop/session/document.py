"""The document of a window: the scenario's file, which changes only on Save, and its recovery.

Unsaved edits are written to disk within a second, and offered after a crash.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal

from gpudesk import paths
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import make_empty_scenario
from gpudesk.desktop.session.settings import UserSettings, note_recent
from gpudesk.desktop.session.single_instance import find_machine_name, remove_pipe
from gpudesk.documents.scenario_file import SCENARIO_SUFFIX, format_scenario, make_title, parse_scenario, read_template
from gpudesk.domain.answer import Scenario, check_scenario_ids
from gpudesk.files import read_bytes, read_change_time, read_side_file, refuse_pipe, write_atomically
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

log = logging.getLogger(__name__)

_WRITE_AFTER_MS = 400
_MOST_BYTES = 32 << 20
_SUFFIX = ".recovery"
#: Characters of a suggested file name: no folder takes more than 255 bytes.
_LONGEST_NAME = 60


@frozen_dataclass
class RecoveredScenario:
    """What a crash left: the scenario, its document, and the time of the last edit."""

    file: Path
    scenario: Scenario
    document: Path | None
    edited: datetime


class RecoveryFile(QObject):
    """Keeps one document's unsaved edits in a file."""

    #: The file could not be written; emitted once until it can be again.
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        """Choose a unique name; nothing is written before the first edit."""
        super().__init__(parent)
        self._folder = folder or find_recovery_dir()
        self._file = self._folder / f"{uuid4().hex}{_SUFFIX}"
        self._lock: QLockFile | None = None
        self._content: tuple[Scenario, Path | None] | None = None
        self._has_failed = False
        self._timer = QTimer(self, singleShot=True, interval=_WRITE_AFTER_MS)
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
            self._has_failed = False
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
    return paths.get_user_dir() / "recovery"


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


class Document(QObject):
    """The file of the desk's scenario. File errors raise `InputError` and change nothing."""

    #: Path, name, or unsaved state.
    changed = Signal()

    def __init__(
        self, desk: Desk, settings: UserSettings, recovery: RecoveryFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._desk = desk
        self._settings = settings
        self._recovery = recovery
        self.path: Path | None = None
        self.saved_at: datetime | None = None
        self.begun = False
        self._always_edited = False
        self._made_title: str | None = None
        #: A digest of the file as last read or written here; None without one, or if it was not read.
        self._on_disk: bytes | None = None
        desk.scenario_changed.connect(self._scenario_changed)
        desk.undo_stack.cleanChanged.connect(self._clean_changed)

    @property
    def edited(self) -> bool:
        return self._always_edited or not self._desk.undo_stack.isClean()

    @property
    def untouched(self) -> bool:
        return not self.begun and not self.edited

    @property
    def replaceable(self) -> bool:
        """Whether another document can replace this one: it has no file, and nothing would be lost."""
        return self.path is None and not self.edited

    @property
    def has_changed_on_disk(self) -> bool:
        """Whether the file's contents differ from what was read from it or written to it here."""
        now = None if self.path is None else _identify_contents(self.path)
        return now is not None and now != self._on_disk

    @property
    def title(self) -> str:
        """The title of the document: its file's name, or that of the scenario."""
        if self.path is not None:
            return self.path.name
        return self._scenario_title or tr("Untitled")

    @property
    def _scenario_title(self) -> str:
        """Return the scenario's name; empty for an initially empty one without a name."""
        if self._made_title is None:
            scenario = self._desk.scenario
            self._made_title = scenario.name and make_title(scenario, self._desk.service.catalog)
        return self._made_title

    @property
    def suggested_name(self) -> str:
        title = self._scenario_title[:_LONGEST_NAME]
        name = "".join(c if c.isalnum() or c in " -_.," else " " for c in title)
        return (" ".join(name.split()) or tr("Comparison")) + SCENARIO_SUFFIX

    def new(self) -> None:
        self._replace(make_empty_scenario(), None, begun=True)

    def open_template(self, template: str) -> None:
        """Open a template; saving asks for a name."""
        self._replace(read_template(template), None, begun=True)

    def open_unsaved(self, scenario: Scenario) -> None:
        """Open a scenario created elsewhere; saving asks for a name."""
        self._replace(scenario, None, begun=True)

    def check(self, path: Path) -> None:
        """Read a file only to check whether it can be opened."""
        self._read(path)

    def _read(self, path: Path) -> Scenario:
        refuse_pipe(path)
        return self._desk.service.read_scenario(path)

    def open_file(self, path: Path) -> None:
        scenario = self._read(path)
        is_scenario = path.suffix.lower() == SCENARIO_SUFFIX
        self._replace(scenario, path.absolute() if is_scenario else None, begun=True)
        if is_scenario:
            self.saved_at = read_change_time(path)
            self._on_disk = _identify_contents(path)
            note_recent(self._settings, path)
        self.changed.emit()

    @property
    def carries_other_facts(self) -> bool:
        """Whether the scenario carries facts of its author that the catalog lacks or has with other values."""
        scenario = self._desk.scenario
        if not scenario.user_records:
            return False
        from gpudesk.documents.packs import find_new_carried_facts

        return find_new_carried_facts(scenario, self._desk.service.catalog) is not None

    def open_recovered(self, recovered: RecoveredScenario) -> None:
        """Open what a crash left; saving suggests the name of its document."""
        check_scenario_ids(recovered.scenario, self._desk.service.catalog)
        self._replace(recovered.scenario, recovered.document, begun=True)
        self._always_edited = True
        if recovered.document is not None and _was_left_alone(recovered.document, recovered.edited):
            self._on_disk = _identify_contents(recovered.document)
        self._recovery.take_over(recovered)
        self.changed.emit()

    def adopt(self, other: Document) -> None:
        """Continue with the document of another window, including unsaved edits, which that window releases."""
        self.path, self.saved_at, self.begun = other.path, other.saved_at, other.begun
        self._always_edited, self._on_disk = other._always_edited, other._on_disk
        self._desk.adopt(other._desk)
        if self.edited:
            self._recovery.keep(self._desk.scenario, self.path)
            self._recovery.write()
        other.close()
        self.changed.emit()

    def save(self, path: Path | None = None) -> None:
        """Write the document, under another name if one is given."""
        target = path or self.path
        if target is None:
            raise ValueError("a document without a name is saved under one")
        refuse_pipe(target)
        self._desk.service.save_scenario(self._desk.scenario, target)
        self.path = target.absolute()
        self._on_disk = _identify_contents(target)
        self.saved_at = datetime.now().astimezone()
        self._always_edited = False
        self._desk.undo_stack.setClean()
        self._recovery.clear()
        note_recent(self._settings, target)
        self.changed.emit()

    def close(self) -> None:
        """Close the document; the user has discarded unsaved edits."""
        self._recovery.clear()

    def leave(self) -> None:
        """Close the document without a question; the next start offers unsaved edits."""
        self._recovery.leave()

    def keep_now(self) -> bool:
        """Update the recovery file at once; return whether it is up to date."""
        return self._recovery.write()

    def _replace(self, scenario: Scenario, path: Path | None, *, begun: bool) -> None:
        self._recovery.clear()
        self.path = path
        self._on_disk = None
        self.saved_at = None
        self.begun = begun
        self._always_edited = False
        self._desk.open(scenario)
        self.changed.emit()

    def _scenario_changed(self, changed: frozenset[str]) -> None:
        if changed & {"name", "model", "accelerators"}:
            self._made_title = None
        if self.edited:
            self._recovery.keep(self._desk.scenario, self.path)
        self.changed.emit()

    def _clean_changed(self, clean: bool) -> None:
        if clean and not self._always_edited:
            self._recovery.clear()
        else:
            self._recovery.keep(self._desk.scenario, self.path)
        self.changed.emit()


def _identify_contents(path: Path) -> bytes | None:
    """Return a digest of a file's contents, empty if it is unreadable; None without a file."""
    try:
        if not path.exists():
            return None
        refuse_pipe(path)
        return sha256(read_bytes(path, _MOST_BYTES)).digest()
    except (InputError, OSError):
        return b""


def _was_left_alone(path: Path, since: datetime) -> bool:
    """Whether a file was not written after a time."""
    try:
        return path.stat().st_mtime <= since.timestamp()
    except (OSError, ValueError, OverflowError):
        return False
