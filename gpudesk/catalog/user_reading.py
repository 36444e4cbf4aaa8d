"""Reading the user's file: whole and checked, in the newest version, and without changing a byte of it."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk.catalog.store import CatalogFileError
from gpudesk.catalog.user_faults import companion, has_changes_beside, told, user_file_problem
from gpudesk.catalog.user_migrations import USER_VERSION, migrate, version_of
from gpudesk.catalog.user_rows import RowError, facts_of
from gpudesk.catalog.user_tables import FACT_TABLES, WATCH_TABLE, FactTable
from gpudesk.domain.messages import message
from gpudesk.domain.own_facts import OwnFacts
from gpudesk.domain.signers import Signer
from gpudesk.domain.watching import WatchNote

_T = TypeVar("_T")

#: Seconds that another process may keep the file to itself: no longer than a window may stand still.
PATIENCE: Final = 0.25

#: What tells one state of a file from another: number, size and time of change; None where it is not there.
State = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """All that is in a file."""

    facts: OwnFacts = field(default_factory=OwnFacts)
    signers: tuple[Signer, ...] = ()
    watched: tuple[WatchNote, ...] = ()


def connect(path: Path, access: str) -> sqlite3.Connection:
    """Open a file with what SQLite's addresses say of access, such as `mode=rw`."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{access}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        # Who uses it holds the lock of its `UserFile`.
        check_same_thread=False,
    )
    try:
        # Nothing that a file says of itself is carried out.
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def file_state(path: Path) -> State:
    """Return the state of a file and of the changes beside it."""
    return (_state(path), _state(companion(path, "-wal")), _state(companion(path, "-journal")))


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def asked(path: Path, question: Callable[[sqlite3.Connection], _T]) -> _T:
    """Put a question to the file at `path` as it lies there; raises `CatalogFileError` where it is not whole.

    A file in an older version answers in the newest one, while it stays what it is.
    """
    problem = user_file_problem(path)
    if problem is not None:
        raise CatalogFileError(problem, path)
    if not has_changes_beside(path):
        # Nobody has it open: no lock is needed, unless somebody comes just now.
        before = file_state(path)
        try:
            answer = _asked(path, "mode=ro&immutable=1", question)
        except CatalogFileError:
            if file_state(path) == before:
                raise
        else:
            if file_state(path) == before:
                return answer
    # What a journal holds can only be taken back by writing.
    mode = "rw" if companion(path, "-journal").exists() else "ro"
    return _asked(path, f"mode={mode}", question)


def _asked(path: Path, access: str, question: Callable[[sqlite3.Connection], _T]) -> _T:
    with told(path), closing(connect(path, access)) as connection:
        require_whole(connection)
        version = version_of(connection)
        if version > USER_VERSION:
            raise CatalogFileError(message("own.file.newer", version=version, supported=USER_VERSION), path)
        if version == USER_VERSION:
            return question(connection)
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy, progress=patient(path))
            migrate(copy)
            return question(copy)


def patient(path: Path) -> Callable[[int, int, int], None]:
    """Return what ends a copy that another process blocks; Python itself would try without end."""

    def look(status: int, _left: int, _pages: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise CatalogFileError(message("own.file.locked"), path)

    return look


def require_whole(connection: sqlite3.Connection) -> None:
    """Raise `RowError` where the pages of a file do not hang together."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise RowError(str(found))


def read_contents(connection: sqlite3.Connection) -> Contents:
    """Read everything; raises `RowError` where the tables or rows are not those that this program writes."""
    try:
        with _without_collecting():
            facts = OwnFacts.of(
                fact
                for table in FACT_TABLES
                for fact in facts_of(table, connection.execute(table.select).fetchall())
            )
        signers = connection.execute("SELECT key, name, trusted_on FROM signer ORDER BY trusted_on, key")
        watched = connection.execute(WATCH_TABLE.select).fetchall()
        return Contents(facts, tuple(Signer(*row) for row in signers), tuple(facts_of(WATCH_TABLE, watched)))
    except sqlite3.OperationalError as error:
        # The statements are right: a table or a column is not there.
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:
            raise RowError(str(error)) from error
        raise


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Look for no garbage meanwhile: of facts none is, and looking takes a quarter more."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def count_facts(connection: sqlite3.Connection) -> int:
    """Return how many facts are in a file."""
    return sum(_count(connection, table) for table in FACT_TABLES)


def holds_anything(connection: sqlite3.Connection) -> bool:
    """Whether there is anything in a file that would be lost with it: facts, or notes on the watch list."""
    return count_facts(connection) > 0 or _count(connection, WATCH_TABLE) > 0


def _count(connection: sqlite3.Connection, table: FactTable[Any]) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])
