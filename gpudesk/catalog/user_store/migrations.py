"""Schema versions of the user file and the steps between them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

#: What each version adds, as statements; the first makes version 1.
MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE source (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            publisher TEXT NOT NULL,
            kind TEXT NOT NULL,
            url TEXT,
            date TEXT,
            trust TEXT
        )""",
        """CREATE TABLE accelerator (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            vendor TEXT NOT NULL,
            generation TEXT NOT NULL,
            announced INTEGER NOT NULL
        )""",
        """CREATE TABLE model (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            organisation TEXT NOT NULL,
            definition TEXT NOT NULL
        )""",
        # What a claim or a price is about can be a thing of the shipped catalog: nothing refers to it here.
        # References are checked at the end of a step, whose facts may come in any order.
        """CREATE TABLE claim (
            position INTEGER PRIMARY KEY,
            thing TEXT NOT NULL,
            attribute TEXT NOT NULL,
            value TEXT NOT NULL,
            source TEXT NOT NULL REFERENCES source (id) DEFERRABLE INITIALLY DEFERRED,
            kind TEXT NOT NULL,
            retrieved TEXT NOT NULL,
            published TEXT,
            conditions TEXT,
            note TEXT,
            UNIQUE (thing, attribute, source)
        )""",
        "CREATE INDEX claim_source ON claim (source)",
        # The source of what is preferred can be a shipped one.
        """CREATE TABLE preference (
            position INTEGER PRIMARY KEY,
            thing TEXT NOT NULL,
            attribute TEXT NOT NULL,
            source TEXT NOT NULL,
            value TEXT NOT NULL,
            reason TEXT NOT NULL,
            date TEXT NOT NULL,
            UNIQUE (thing, attribute)
        )""",
        """CREATE TABLE price (
            position INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            accelerator TEXT NOT NULL,
            term TEXT NOT NULL,
            source TEXT NOT NULL REFERENCES source (id) DEFERRABLE INITIALLY DEFERRED,
            kind TEXT NOT NULL,
            usd REAL,
            usd_low REAL,
            usd_high REAL,
            provider TEXT,
            region TEXT,
            instance TEXT,
            accelerators_in_instance INTEGER,
            basis TEXT,
            date TEXT,
            note TEXT
        )""",
        "CREATE INDEX price_source ON price (source)",
    ),
    (
        """CREATE TABLE signer (
            key TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            trusted_on TEXT NOT NULL
        )""",
    ),
    (
        """CREATE TABLE watch (
            position INTEGER PRIMARY KEY,
            signal TEXT NOT NULL UNIQUE,
            value TEXT NOT NULL,
            date TEXT NOT NULL,
            source TEXT NOT NULL,
            note TEXT
        )""",
    ),
)
#: The version that this program writes.
USER_VERSION: Final = len(MIGRATIONS)


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of an open file; 0 where it has no tables yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring a file to the newest version, one step after the other."""
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
