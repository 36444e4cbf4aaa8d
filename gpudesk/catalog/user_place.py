"""The place of the user's file: whether it can be written, beginning one, and moving a broken one aside."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gpudesk.catalog.disk import to_disk
from gpudesk.catalog.user_faults import COMPANIONS, USER_APPLICATION_ID, companion, told
from gpudesk.catalog.user_migrations import migrate
from gpudesk.catalog.user_reading import connect

#: Seconds after which nobody is still making a file.
_IN_THE_MAKING: Final = 3600


def can_write(path: Path) -> bool:
    """Whether the system lets us write the file at `path`, or make it and the folders above it."""
    if path.exists() and not os.access(path, os.W_OK):
        return False
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def begin_file(path: Path, fill: Callable[[sqlite3.Connection], None] | None = None) -> bool:
    """Make a file in the newest version at `path`, empty or as `fill` fills it; return whether it is ours.

    One that another process just made stays. Ours is whole from the moment when it has its name.
    """
    with told(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_leftovers(path.parent, f"{path.name}.*.new")
        # In this order: a process that begins the file now has it before anything lies beside it.
        if any(companion(path, suffix).exists() for suffix in COMPANIONS) and not path.exists():
            # Changes of a file that is gone would be taken for those of the new one.
            move_changes_aside(path)
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
        try:
            with closing(connect(fresh, "mode=rwc")) as connection:
                connection.execute(f"PRAGMA application_id = {USER_APPLICATION_ID}")
                migrate(connection)
                if fill is not None:
                    connection.execute("BEGIN")
                    fill(connection)
                    connection.execute("COMMIT")
            to_disk(fresh)
            given = _give_name(fresh, path)
            to_disk(path.parent)
            return given
        finally:
            remove_with_companions(fresh)


def _give_name(fresh: Path, path: Path) -> bool:
    """Let a file have a name, unless one has it already; not every file system can do both at once."""
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
    """Remove a file that only this process knows; what cannot be removed stays."""
    for name in (path, *(companion(path, suffix) for suffix in COMPANIONS)):
        with suppress(OSError):
            name.unlink(missing_ok=True)


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove what a process left that was ended while it made a file; a young one may be in the making."""
    for path in folder.glob(pattern):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _IN_THE_MAKING:
                remove_with_companions(path)


def set_aside(path: Path) -> Path:
    """Give a file that cannot be used another name, so that a new one can be begun; return the name.

    Nothing is removed. Raises `CatalogFileError` where the system refuses.
    """
    with told(path):
        # Of a link, what it leads to; where that is not there, the link.
        return _move_aside(path.resolve() if path.exists() else path)


def _move_aside(path: Path) -> Path:
    aside = _free_name(path)
    # The file itself last: with its name still taken, no other is begun beside changes that are not its own.
    _move(path, aside, (*COMPANIONS, ""))
    return aside


def move_changes_aside(path: Path) -> None:
    """Give the changes beside a file another name, where they belong to a file that is gone."""
    _move(path, _free_name(path), COMPANIONS)


def _free_name(path: Path) -> Path:
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}.broken-{now}")
    while any(companion(aside, suffix).exists() for suffix in (*COMPANIONS, "")):
        aside = path.with_name(f"{path.name}.broken-{now}-{secrets.token_hex(2)}")
    return aside


def _move(path: Path, aside: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        with suppress(FileNotFoundError):
            companion(path, suffix).rename(companion(aside, suffix))
