"""Creating, moving aside and backing up the user file."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gpudesk.catalog.database import sync_to_disk
from gpudesk.catalog.user_store.connection import make_lock_check, open_connection, require_whole
from gpudesk.catalog.user_store.faults import COMPANIONS, USER_APPLICATION_ID, make_companion_path, translate_errors
from gpudesk.catalog.user_store.migrations import migrate, read_version
from gpudesk.domain.user_facts import BackupReason
from gpudesk.paths import make_private_dir

#: Seconds after which a temporary file is abandoned.
_IN_THE_MAKING: Final = 3600


def can_write(path: Path) -> bool:
    """Whether the system allows writing the file at `path`, or creating it with its folders."""
    if path.exists() and not os.access(path, os.W_OK):
        return False
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def begin_file(path: Path, fill: Callable[[sqlite3.Connection], None] | None = None) -> bool:
    """Create a file in the newest version at `path`, empty or filled by `fill`; return whether this process created it.

    A file just created by another process stays. A created file is complete from the moment it has its name.
    """
    with translate_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_leftovers(path.parent, f"{path.name}.*.new")
        # In this order: a file that another process creates now exists before its journal does.
        if any(make_companion_path(path, suffix).exists() for suffix in COMPANIONS) and not path.exists():
            # The journal of a deleted file would be applied to the new one.
            move_changes_aside(path)
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
        try:
            with closing(_make_private_database(fresh)) as connection:
                connection.execute(f"PRAGMA application_id = {USER_APPLICATION_ID}")
                migrate(connection)
                if fill is not None:
                    connection.execute("BEGIN")
                    fill(connection)
                    connection.execute("COMMIT")
            sync_to_disk(fresh)
            is_claimed = _claim_name(fresh, path)
            sync_to_disk(path.parent)
            return is_claimed
        finally:
            remove_with_companions(fresh)


def _make_private_database(path: Path) -> sqlite3.Connection:
    """Create and open an empty file that other users cannot read; SQLite's files next to it are as private.

    No other process knows it yet: it is synced to disk once, when complete, instead of with every statement.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = open_connection(path, "mode=rw")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _claim_name(fresh: Path, path: Path) -> bool:
    """Give a file its name, unless that exists; not every file system can do both atomically."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        return False
    except OSError:
        if path.exists():
            return False
        fresh.rename(path)
    return True


def remove_with_companions(path: Path) -> None:
    """Remove a file that only this process knows; failures are ignored."""
    for name in (path, *(make_companion_path(path, suffix) for suffix in COMPANIONS)):
        with suppress(OSError):
            name.unlink(missing_ok=True)


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove temporary files of crashed processes; recent ones can be in use."""
    for path in folder.glob(pattern):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _IN_THE_MAKING:
                remove_with_companions(path)


def set_aside(path: Path) -> Path:
    """Rename an unusable file, so that a new one can be created; return the new name.

    Nothing is removed. Raises `CatalogFileError` if the system refuses.
    """
    with translate_errors(path):
        # For a link, its target; if that does not exist, the link.
        return _move_aside(path.resolve() if path.exists() else path)


def _move_aside(path: Path) -> Path:
    aside = _find_free_aside_path(path)
    # The file itself last: while its name is taken, no new file is created next to a foreign journal.
    _move_with_suffixes(path, aside, (*COMPANIONS, ""))
    return aside


def move_changes_aside(path: Path) -> None:
    """Rename the journal next to a file, if it belongs to a deleted file."""
    _move_with_suffixes(path, _find_free_aside_path(path), COMPANIONS)


def _find_free_aside_path(path: Path) -> Path:
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}.broken-{now}")
    while any(make_companion_path(aside, suffix).exists() for suffix in (*COMPANIONS, "")):
        aside = path.with_name(f"{path.name}.broken-{now}-{secrets.token_hex(2)}")
    return aside


def _move_with_suffixes(path: Path, aside: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        with suppress(FileNotFoundError):
            make_companion_path(path, suffix).rename(make_companion_path(aside, suffix))


#: The newest are kept, and the first of each of the last days and weeks with any: the state before their changes.
NEWEST_BACKUPS: Final = 5
DAILY_BACKUPS: Final = 7
WEEKLY_BACKUPS: Final = 5

_BACKUP_NAME: Final = re.compile(r"catalog-(\d{8}T\d{9})Z-v(\d{1,6})-([a-z]+)\.sqlite")
_BACKUP_TIME: Final = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True, order=True)
class BackupName:
    """The parts of a backup's name; ordered by time, then by name."""

    time: datetime
    path: Path
    version: int
    reason: BackupReason


def list_backup_names(folder: Path) -> tuple[BackupName, ...]:
    """Return the names of backups, the oldest first; empty if the folder is unreadable."""
    try:
        names = [_parse_backup_name(path) for path in folder.iterdir()]
    except OSError:
        return ()
    return tuple(sorted(name for name in names if name is not None))


def _parse_backup_name(path: Path) -> BackupName | None:
    match = _BACKUP_NAME.fullmatch(path.name)
    if match is None:
        return None
    try:
        time = datetime.strptime(f"{match[1]}000", _BACKUP_TIME).replace(tzinfo=UTC)
        return BackupName(time, path, int(match[2]), BackupReason(match[3]))
    except ValueError:
        return None


def make_backup(connection: sqlite3.Connection, folder: Path, reason: BackupReason, now: datetime) -> Path:
    """Copy an open file into `folder` and return the copy; raises `CatalogFileError` if that fails.

    Obsolete backups are removed once the new one is complete and on disk.
    """
    with translate_errors(folder):
        make_private_dir(folder)
        path = _find_free_backup_path(folder, read_version(connection), reason, now)
        part = path.with_suffix(".part")
        try:
            with translate_errors(path):
                with closing(_make_private_database(part)) as copy:
                    # No other process knows the copy: it needs no journal, and ends as one complete file.
                    copy.execute("PRAGMA locking_mode = EXCLUSIVE")
                    connection.backup(copy, progress=make_lock_check(path))
                    copy.execute("PRAGMA journal_mode = DELETE")
                    require_whole(copy)
                sync_to_disk(part)
                part.rename(path)
                sync_to_disk(folder)
        finally:
            remove_with_companions(part)
    remove_leftovers(folder, "catalog-*.part")
    # The new backup stays, even with a wrong clock.
    names = list_backup_names(folder)
    days = {name.time.date(): name.path for name in reversed(names)}
    weeks = {name.time.isocalendar()[:2]: name.path for name in reversed(names)}
    kept_paths = {path, *(name.path for name in names[-NEWEST_BACKUPS:])}
    kept_paths |= {days[day] for day in sorted(days)[-DAILY_BACKUPS:]}
    kept_paths |= {weeks[week] for week in sorted(weeks)[-WEEKLY_BACKUPS:]}
    for name in names:
        if name.path not in kept_paths:
            with suppress(OSError):
                name.path.unlink()
    return path


def _find_free_backup_path(folder: Path, version: int, reason: BackupReason, now: datetime) -> Path:
    while True:
        time = now.astimezone(UTC).strftime(_BACKUP_TIME)[:-3]
        path = folder / f"catalog-{time}Z-v{version}-{reason.value}.sqlite"
        if not path.exists():
            return path
        now += timedelta(milliseconds=1)
