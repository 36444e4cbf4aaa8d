"""The revision of a catalog: a digest of what it says, equal for equal facts whenever they were built."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpudesk.catalog.definitions import to_json
from gpudesk.catalog.store import Store

#: The table that tells of the file itself; it holds the revision and is no part of it.
META: Final = "meta"

Row = dict[str, Any]
#: Rows by the name of their table.
Tables = dict[str, list[Row]]


def revision(tables: Mapping[str, Sequence[Row]]) -> str:
    """Digest the sorted rows of all tables but `meta`, in whatever order they come."""
    digest = hashlib.sha256()
    for name, rows in sorted(tables.items()):
        if name != META:
            digest.update(f"{name}\n".encode())
            digest.update("\n".join(sorted(to_json(_stored(row)) for row in rows)).encode())
    return digest.hexdigest()[:16]


def stored_revision(store: Store) -> str:
    """Digest the rows that an open file holds now."""
    names = [row[0] for row in store.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return revision({name: _rows_of(store, name) for name in names})


def _rows_of(store: Store, table: str) -> list[Row]:
    columns = [row[1] for row in store.rows(f"PRAGMA table_info({table})")]
    return [dict(zip(columns, row, strict=True)) for row in store.rows(f"SELECT * FROM {table}")]


def _stored(row: Row) -> Row:
    """Return a row as SQLite keeps it, where yes and no are numbers."""
    return {column: int(value) if isinstance(value, bool) else value for column, value in row.items()}
