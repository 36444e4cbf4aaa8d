"""Versions of the user file, and the steps between them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

#: What each version adds. An existing table stays, so that a file with a damaged version number is repaired.
USER_STEPS: Final = (
    (
        """
        CREATE TABLE IF NOT EXISTS accelerator (
            position INTEGER NOT NULL, generation VARCHAR NOT NULL, announced INTEGER NOT NULL,
            id VARCHAR NOT NULL, name VARCHAR NOT NULL, vendor VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (id))
        """,
        """
        CREATE TABLE IF NOT EXISTS model (
            position INTEGER NOT NULL, definition VARCHAR NOT NULL, id VARCHAR NOT NULL, name VARCHAR NOT NULL,
            organisation VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (id))
        """,
        """
        CREATE TABLE IF NOT EXISTS preference (
            position INTEGER NOT NULL, thing VARCHAR NOT NULL, attribute VARCHAR NOT NULL,
            source VARCHAR NOT NULL, value VARCHAR NOT NULL, reason VARCHAR NOT NULL, date VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (thing, attribute))
        """,
        """
        CREATE TABLE IF NOT EXISTS source (
            position INTEGER NOT NULL, title VARCHAR NOT NULL, publisher VARCHAR NOT NULL,
            kind VARCHAR NOT NULL, url VARCHAR, date VARCHAR, trust VARCHAR, id VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (id))
        """,
        """
        CREATE TABLE IF NOT EXISTS claim (
            position INTEGER NOT NULL, value VARCHAR NOT NULL, kind VARCHAR NOT NULL, published VARCHAR,
            conditions VARCHAR, note VARCHAR, thing VARCHAR NOT NULL, attribute VARCHAR NOT NULL,
            source VARCHAR NOT NULL, retrieved VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (thing, attribute, source),
            FOREIGN KEY(source) REFERENCES source (id) DEFERRABLE INITIALLY DEFERRED)
        """,
        "CREATE INDEX IF NOT EXISTS claim_source ON claim (source)",
        """
        CREATE TABLE IF NOT EXISTS price (
            position INTEGER NOT NULL, term VARCHAR NOT NULL, kind VARCHAR NOT NULL, usd FLOAT, usd_low FLOAT,
            usd_high FLOAT, provider VARCHAR, region VARCHAR, instance VARCHAR,
            accelerators_in_instance INTEGER, basis VARCHAR, date VARCHAR, note VARCHAR, id VARCHAR NOT NULL,
            accelerator VARCHAR NOT NULL, source VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (id),
            FOREIGN KEY(source) REFERENCES source (id) DEFERRABLE INITIALLY DEFERRED)
        """,
        "CREATE INDEX IF NOT EXISTS price_source ON price (source)",
    ),
    (
        """
        CREATE TABLE IF NOT EXISTS signer (
            "key" VARCHAR NOT NULL, name VARCHAR NOT NULL, trusted_on VARCHAR NOT NULL,
            PRIMARY KEY ("key"))
        """,
    ),
    (
        """
        CREATE TABLE IF NOT EXISTS watch (
            position INTEGER NOT NULL, signal VARCHAR NOT NULL, value VARCHAR NOT NULL, date VARCHAR NOT NULL,
            source VARCHAR NOT NULL, note VARCHAR,
            PRIMARY KEY (position),
            UNIQUE (signal))
        """,
    ),
    (
        """
        CREATE TABLE IF NOT EXISTS system (
            position INTEGER NOT NULL, kind VARCHAR NOT NULL, provider VARCHAR, instance VARCHAR,
            id VARCHAR NOT NULL, name VARCHAR NOT NULL, vendor VARCHAR NOT NULL, accelerator VARCHAR NOT NULL,
            PRIMARY KEY (position),
            UNIQUE (id))
        """,
    ),
)
#: The version written by this program.
USER_VERSION: Final = len(USER_STEPS)


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of an open file; 0 without tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = USER_STEPS) -> None:
    """Bring a file to the newest version, one step after the other."""
    while read_version(connection) < len(steps):
        # Another process may have run this migration meanwhile.
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
