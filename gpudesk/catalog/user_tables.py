"""The tables of the user's facts: a column for each field of a fact, and the statements for one fact.

`user_migrations` makes them. A `position` beside the fields keeps the order in which facts were entered.
Notes on the watch list have a table of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, Generic, TypeVar

from gpudesk.domain.claims import Preference, Source
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice
from gpudesk.domain.watching import WatchNote

#: What has a row of its own.
Stored = OwnFact | WatchNote

_T = TypeVar("_T", bound=Stored)


@dataclass(frozen=True, slots=True)
class FactTable(Generic[_T]):
    """A table and the facts in it; `key` are the columns by which one is told from another."""

    name: str
    fact: type[_T]
    key: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the fields."""
        return tuple(field.name for field in fields(self.fact))

    @property
    def select(self) -> str:
        """All rows, in the order in which they were entered."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY position"

    @property
    def select_one(self) -> str:
        """The row of a key."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} WHERE {self._where}"

    @property
    def insert(self) -> str:
        """Another row, after all others."""
        places = ", ".join("?" * len(self.columns))
        return f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({places})"

    @property
    def update(self) -> str:
        """Other values in the place of the row of a key."""
        values = ", ".join(f"{column} = ?" for column in self.columns)
        return f"UPDATE {self.name} SET {values} WHERE {self._where}"

    @property
    def delete(self) -> str:
        """No more row of a key."""
        return f"DELETE FROM {self.name} WHERE {self._where}"

    @property
    def _where(self) -> str:
        return " AND ".join(f"{column} = ?" for column in self.key)


FACT_TABLES: Final[tuple[FactTable[OwnFact], ...]] = (
    FactTable("source", Source, ("id",)),
    FactTable("accelerator", OwnAccelerator, ("id",)),
    FactTable("model", OwnModel, ("id",)),
    FactTable("claim", OwnClaim, ("thing", "attribute", "source")),
    FactTable("preference", Preference, ("thing", "attribute")),
    FactTable("price", OwnPrice, ("id",)),
)
WATCH_TABLE: Final = FactTable("watch", WatchNote, ("signal",))
ALL_TABLES: Final[tuple[FactTable[Any], ...]] = (*FACT_TABLES, WATCH_TABLE)
TABLE_OF: Final = {table.name: table for table in ALL_TABLES}
