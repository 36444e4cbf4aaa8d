"""Copies of the user's file before something happens to it: how they are named, made, and let go.

Each is one whole file, in a folder beside the user's, named by its time, its version and its reason.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gpudesk.catalog.disk import to_disk
from gpudesk.catalog.user_faults import told
from gpudesk.catalog.user_migrations import version_of
from gpudesk.catalog.user_place import remove_leftovers, remove_with_companions
from gpudesk.catalog.user_reading import connect, patient, require_whole
from gpudesk.domain.backups import BackupReason

#: How many there are at the most.
KEPT: Final = 5

_NAME: Final = re.compile(r"catalog-(\d{8}T\d{9})Z-v(\d{1,6})-([a-z]+)\.sqlite")
_TIME: Final = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True, order=True)
class CopyName:
    """What the name of a backup says; by time, and then by the name itself."""

    made: datetime
    path: Path
    version: int
    reason: BackupReason


def named_copies(folder: Path) -> tuple[CopyName, ...]:
    """Return what is named as a backup, the oldest first; none where the folder cannot be read."""
    try:
        names = [_read_name(path) for path in folder.iterdir()]
    except OSError:
        return ()
    return tuple(sorted(name for name in names if name is not None))


def _read_name(path: Path) -> CopyName | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    try:
        made = datetime.strptime(f"{match[1]}000", _TIME).replace(tzinfo=UTC)
        return CopyName(made, path, int(match[2]), BackupReason(match[3]))
    except ValueError:
        return None


def make_backup(connection: sqlite3.Connection, folder: Path, reason: BackupReason, now: datetime) -> Path:
    """Copy an open file into `folder` and return the copy; raises `CatalogFileError` where that cannot be.

    Older ones beyond `KEPT` go once the new one is whole and on the disk.
    """
    with told(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _free_name(folder, version_of(connection), reason, now)
        part = path.with_suffix(".part")
        try:
            with told(path):
                with closing(connect(part, "mode=rwc")) as copy:
                    # Nobody else knows the copy: it needs nothing beside it, and ends as one whole file.
                    copy.execute("PRAGMA locking_mode = EXCLUSIVE")
                    connection.backup(copy, progress=patient(path))
                    copy.execute("PRAGMA journal_mode = DELETE")
                    require_whole(copy)
                to_disk(part)
                part.rename(path)
                to_disk(folder)
        finally:
            remove_with_companions(part)
    remove_leftovers(folder, "catalog-*.part")
    _prune(folder, path)
    return path


def _free_name(folder: Path, version: int, reason: BackupReason, now: datetime) -> Path:
    while True:
        time = now.astimezone(UTC).strftime(_TIME)[:-3]
        path = folder / f"catalog-{time}Z-v{version}-{reason.value}.sqlite"
        if not path.exists():
            return path
        now += timedelta(milliseconds=1)


def _prune(folder: Path, newest: Path) -> None:
    """Remove the oldest beyond `KEPT`; the one just made stays, whatever the clock said."""
    others = [name.path for name in named_copies(folder) if name.path != newest]
    for path in others[: max(0, len(others) + 1 - KEPT)]:
        with suppress(OSError):
            path.unlink()
