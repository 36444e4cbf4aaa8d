"""Whether the program can keep what the user does. Where it cannot, it works, and forgets."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gpudesk import paths
from gpudesk.cli.commands.self_test.found import Found
from gpudesk.text import tr

_MB: Final = 1_000_000
#: Bytes below which there is soon no room for a day's backups.
_LEAST_FREE: Final = 100 * _MB


def check_user_folder() -> Found:
    """The user's folder can be written, has room, and SQLite can keep its journal there."""
    from gpudesk.release import installation

    folder = paths.user_dir()
    try:
        paths.ensure_user_dir()
        with TemporaryDirectory(prefix=".self-test-", dir=folder) as inside:
            journal = _journal_of(Path(inside) / "try.sqlite")
        free = shutil.disk_usage(folder).free
    except (OSError, sqlite3.Error) as error:
        said = tr(
            "{folder} cannot be written ({reason}): your facts, settings and unsaved work are not kept",
            folder=folder,
            reason=getattr(error, "strerror", None) or error,
        )
        return Found(said, doubt=True)
    if journal != "wal":
        said = tr("{folder} is on a drive where two programs cannot share your facts", folder=folder)
        return Found(said, doubt=True)
    if free < _LEAST_FREE:
        said = tr("{folder} has room for {n} MB only", folder=folder, n=free // _MB)
        return Found(said, doubt=True)
    if installation() == "portable":
        return Found(tr("{folder}, beside the program", folder=folder))
    return Found(str(folder))


def _journal_of(file: Path) -> str:
    """Return how SQLite keeps its journal in a folder."""
    with closing(sqlite3.connect(file)) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("CREATE TABLE try (word TEXT)")
        connection.execute("INSERT INTO try VALUES ('kept')")
        connection.commit()
    return str(journal)
