"""Connections to the user file: reading everything, writing durably."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk.catalog.database import CatalogFileError
from gpudesk.catalog.user_store.faults import (
    LOCKED_FILE,
    describe_newer_file,
    find_user_file_problem,
    has_changes_beside,
    is_text_error,
    make_companion_path,
    translate_errors,
)
from gpudesk.catalog.user_store.migrations import USER_VERSION, read_version
from gpudesk.catalog.user_store.rows import (
    FACT_TABLES,
    SIGNER_TABLE,
    WATCH_TABLE,
    FactTable,
    RowError,
    StoredRecord,
    UnreadableRow,
    decode_row_by_row,
    decode_rows,
)
from gpudesk.domain.claim import Source
from gpudesk.domain.reference_data import WatchNote
from gpudesk.domain.user_facts import TrustedSigner, UserClaim, UserFacts, UserPrice, get_fact_key
from gpudesk.frozen_dataclass import frozen_dataclass

_T = TypeVar("_T")
_R = TypeVar("_R", bound=StoredRecord)

#: Seconds to wait for another process with the file: no longer than a window may freeze.
PATIENCE: Final = 0.25

#: State of a file: inode, size and modification time; None if it does not exist.
FileState = tuple[tuple[int, int, int] | None, ...]


@frozen_dataclass
class UserFileContents:
    """The content of a file."""

    facts: UserFacts = field(default_factory=UserFacts)
    signers: tuple[TrustedSigner, ...] = ()
    watched: tuple[WatchNote, ...] = ()
    unreadable: tuple[UnreadableRow, ...] = ()


def open_connection(path: Path, access: str) -> sqlite3.Connection:
    """Open a file with an SQLite URI mode, such as `mode=rw`."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{access}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        # The lock of the `UserFile` guards it.
        check_same_thread=False,
    )
    try:
        # No code in the file's schema is executed.
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def read_file_state(path: Path) -> FileState:
    return (
        _read_state(path),
        _read_state(make_companion_path(path, "-wal")),
        _read_state(make_companion_path(path, "-journal")),
    )


def _read_state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def query_file(path: Path, question: Callable[[sqlite3.Connection], _T]) -> _T:
    """Query the file at `path` without migrating it; raises `CatalogFileError` if it is damaged.

    A file in an older version can lack tables.
    """
    problem = find_user_file_problem(path)
    if problem is not None:
        raise CatalogFileError(problem, path)
    if not has_changes_beside(path):
        # It is not open elsewhere: no lock is needed, unless another process opens it just now.
        before = read_file_state(path)
        try:
            answer = _query_connection(path, "mode=ro&immutable=1", question)
        except CatalogFileError:
            if read_file_state(path) == before:
                raise
        else:
            if read_file_state(path) == before:
                return answer
    # A journal can only be rolled back by writing.
    mode = "rw" if make_companion_path(path, "-journal").exists() else "ro"
    return _query_connection(path, f"mode={mode}", question)


def _query_connection(path: Path, access: str, question: Callable[[sqlite3.Connection], _T]) -> _T:
    with translate_errors(path), closing(open_connection(path, access)) as connection:
        require_whole(connection)
        version = read_version(connection)
        if version > USER_VERSION:
            raise CatalogFileError(describe_newer_file(version), path)
        return question(connection)


def make_lock_check(path: Path) -> Callable[[int, int, int], None]:
    """Return a check that ends a copy blocked by another process; Python itself would retry endlessly."""

    def look(status: int, _remaining: int, _pages: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise CatalogFileError(LOCKED_FILE, path)

    return look


def require_whole(connection: sqlite3.Connection) -> None:
    """Raise `RowError` if the pages of a file are inconsistent."""
    row = connection.execute("PRAGMA quick_check(1)").fetchone()
    if row != ("ok",):
        raise RowError("its pages do not hang together" if row is None else str(row[0]))


def read_contents(connection: sqlite3.Connection) -> UserFileContents:
    """Read everything; unusable rows are set aside.

    Raises `RowError` if the tables are not those of this program.
    """
    unreadable = list[UnreadableRow]()
    try:
        with _pause_garbage_collection():
            facts = UserFacts.of(fact for table in FACT_TABLES for fact in _read_table(connection, table, unreadable))
        facts = _drop_unsourced(facts, unreadable)
        signers = _read_table(connection, SIGNER_TABLE, unreadable)
        watched = _read_table(connection, WATCH_TABLE, unreadable)
        return UserFileContents(facts, tuple(signers), tuple(watched), tuple(unreadable))
    except sqlite3.OperationalError as error:
        # The statements are right: a table or a column is missing.
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:
            raise RowError(str(error)) from error
        raise


def _read_table(connection: sqlite3.Connection, table: FactTable[_R], unreadable: list[UnreadableRow]) -> list[_R]:
    """Return the rows of a table; empty if the file's version lacks it."""
    if read_version(connection) < table.since and not _has_table(connection, table.name):
        return []
    try:
        return decode_rows(table, connection.execute(table.select).fetchall())
    except RowError:
        pass
    except sqlite3.OperationalError as error:
        if not is_text_error(error):
            raise
    former = connection.text_factory
    connection.text_factory = _decode_text
    try:
        facts, others = decode_row_by_row(table, connection.execute(table.select_numbered))
    finally:
        connection.text_factory = former
    unreadable += others
    return facts


def _decode_text(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    row = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
    return bool(row.fetchone()[0])


def _drop_unsourced(facts: UserFacts, unreadable: list[UnreadableRow]) -> UserFacts:
    """Set claims and prices with a missing source aside: it is damaged, or its name is."""
    sources = {fact.id for fact in facts if isinstance(fact, Source)}
    lost = [fact for fact in facts if isinstance(fact, UserClaim | UserPrice) and fact.source not in sources]
    if not lost:
        return facts
    for fact in lost:
        table, *key = fact.key
        unreadable.append(UnreadableRow(table, 0, tuple(key), f"its source {fact.source[:80]!r} is missing"))
    lost_keys = {fact.key for fact in lost}
    return UserFacts.of(fact for fact in facts if get_fact_key(fact) not in lost_keys)


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: facts create no garbage, and collecting takes a quarter more time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def count_facts(connection: sqlite3.Connection) -> int:
    return sum(_count_rows(connection, table) for table in FACT_TABLES)


def holds_anything(connection: sqlite3.Connection) -> bool:
    """Whether a file contains data that could be lost: facts, or notes on the watch list."""
    return count_facts(connection) > 0 or _count_rows(connection, WATCH_TABLE) > 0


def _count_rows(connection: sqlite3.Connection, table: FactTable[Any]) -> int:
    if not _has_table(connection, table.name):
        return 0
    return int(connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a file so that a completed step survives a power failure; from then on other users cannot read it."""
    if path.stat().st_mode & 0o077:
        with suppress(OSError):
            path.chmod(0o600)
    connection = open_connection(path, "mode=rw")
    try:
        for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {setting}").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def checkpoint(connection: sqlite3.Connection) -> None:
    """Move all changes into the file, so that a copy is complete; what cannot be moved now stays in the journal."""
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}")


def read_data_version(connection: sqlite3.Connection) -> int:
    """Return the number that changes whenever another connection changes the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
