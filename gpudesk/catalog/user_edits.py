"""Edits as changes of rows: whether they fit what is in the file, and what they write."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from gpudesk.catalog.user_rows import Row, to_row
from gpudesk.catalog.user_tables import TABLE_OF, FactTable, Stored
from gpudesk.domain.own_facts import Edit, Key, fact_key
from gpudesk.domain.watching import WatchNote


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row before and after; None where there is none."""

    table: FactTable[Any]
    key: tuple[str, ...]
    before: Row | None
    after: Row | None


def changes_of(edit: Edit) -> list[RowChange]:
    """Return what an edit changes; raises `InputError` at a field of a fact that cannot be kept."""
    before = _rows((*edit.before, *edit.unwatched))
    after = _rows((*edit.after, *edit.watched))
    return [
        RowChange(TABLE_OF[key[0]], key[1:], before.get(key), after.get(key)) for key in {**before, **after}
    ]


def _rows(stored: tuple[Stored, ...]) -> dict[Key, Row]:
    keyed = {_key(each): each for each in stored}
    return {key: to_row(TABLE_OF[key[0]], each) for key, each in keyed.items()}


def _key(stored: Stored) -> Key:
    return stored.key if isinstance(stored, WatchNote) else fact_key(stored)


def fits(connection: sqlite3.Connection, change: RowChange) -> bool:
    """Whether the file holds what the change says that it holds."""
    found: Row | None = connection.execute(change.table.select_one, change.key).fetchone()
    return found == change.before


def write(connection: sqlite3.Connection, change: RowChange) -> None:
    """Make the change."""
    if change.after is None:
        connection.execute(change.table.delete, change.key)
    elif change.before is None:
        connection.execute(change.table.insert, change.after)
    elif change.after != change.before:
        connection.execute(change.table.update, (*change.after, *change.key))
