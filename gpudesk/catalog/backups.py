"""The backups of the user's file: which there are, and taking one back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from gpudesk.catalog.store import CatalogFileError
from gpudesk.catalog.user_copies import CopyName, named_copies
from gpudesk.catalog.user_file import UserFile
from gpudesk.catalog.user_place import set_aside
from gpudesk.catalog.user_reading import asked, count_facts
from gpudesk.domain.backups import Backup
from gpudesk.domain.messages import Message, message
from gpudesk.domain.own_facts import OwnFacts

#: Faults of a file that cannot be mended: its place is free for a backup once it was moved.
_BEYOND_REPAIR: Final = frozenset({"own.file.foreign", "own.file.cut", "own.file.damaged"})


def list_backups(folder: Path) -> tuple[Backup, ...]:
    """Return the backups in a folder, the newest first; one that is damaged says so."""
    return tuple(_looked_at(name) for name in reversed(named_copies(folder)))


def _looked_at(name: CopyName) -> Backup:
    facts, problem, size = None, None, 0
    try:
        size = name.path.stat().st_size
        facts = asked(name.path, count_facts)
    except OSError:
        problem = message("own.backup.gone")
    except CatalogFileError as error:
        problem = _of_a_backup(error.problem)
    return Backup(name.path, name.made, name.version, name.reason, size, facts, problem)


def _of_a_backup(problem: Message) -> Message:
    """Say of a backup what is said of a file that the user has to mend."""
    parameters = problem.parameters
    if problem.id == "own.file.cut":
        return message("own.backup.cut", size=parameters["size"], expected=parameters["expected"])
    if problem.id == "own.file.damaged":
        return message("own.backup.damaged", reason=parameters["reason"])
    if problem.id in {"own.file.foreign", "own.file.folder", "own.file.no_file"}:
        return message("own.backup.foreign")
    return problem


def restore_backup(path: Path, backup: Path) -> OwnFacts:
    """Put what a backup holds in the place of what the user's file at `path` holds; return its facts.

    What the file holds is backed up first; a file that is broken is moved aside. Raises `CatalogFileError`
    where the backup or the file cannot be used: then the file is as it was.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        if not backup.exists():
            raise CatalogFileError(message("own.backup.gone"), backup)
        try:
            asked(backup, lambda whole: whole.backup(copy))
        except CatalogFileError as error:
            raise CatalogFileError(_of_a_backup(error.problem), backup) from error
        with _opened(path) as file:
            return file.take_over(copy)


def _opened(path: Path) -> UserFile:
    try:
        return UserFile.open(path)
    except CatalogFileError as error:
        if error.problem.id not in _BEYOND_REPAIR:
            raise
    set_aside(path)
    return UserFile.open(path)
