"""Connections that write to the user's file."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from gpudesk.catalog.user_reading import PATIENCE, connect


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a file so that a step, once it was made, outlives a power cut."""
    connection = connect(path, "mode=rw")
    try:
        for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {setting}").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def move_changes_in(connection: sqlite3.Connection) -> None:
    """Let the file hold all by itself, whoever copies it; what cannot be moved now stays beside it."""
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}")


def data_version(connection: sqlite3.Connection) -> int:
    """Return what changes whenever another connection has changed the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
