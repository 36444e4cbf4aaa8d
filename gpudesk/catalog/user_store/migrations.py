"""Versions of the user file, and the steps between them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

#: The version that this program writes; `gpudesk.catalog.schema` says what each version adds.
USER_VERSION: Final = 4


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of an open file; 0 where it has no tables yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] | None = None) -> None:
    """Bring a file to the newest version, one step after the other."""
    if steps is None:
        if read_version(connection) >= USER_VERSION:
            return
        # It takes time to load, and most starts change no tables.
        from gpudesk.catalog.schema import list_user_migrations

        steps = list_user_migrations()
    while read_version(connection) < len(steps):
        _apply_next(connection, steps)


def _apply_next(connection: sqlite3.Connection, steps: Sequence[Sequence[str]]) -> None:
    """Do the next step, unless another process has done it in the meantime."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = read_version(connection)
        if version < len(steps):
            for statement in steps[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
