"""The user's file: own facts read whole, and changed step by step, each step whole or not at all.

It is made at the first change, and brought to a newer version at the first change, after a backup: reading
changes nothing. What goes wrong leaves the facts in memory, and those in the file, as they were before.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

from gpudesk.catalog.store import CatalogFileError
from gpudesk.catalog.user_copies import make_backup, named_copies
from gpudesk.catalog.user_edits import RowChange, changes_of, fits, write
from gpudesk.catalog.user_faults import told, user_file_problem
from gpudesk.catalog.user_migrations import USER_VERSION, migrate, version_of
from gpudesk.catalog.user_place import begin_file, can_write, move_changes_aside
from gpudesk.catalog.user_reading import (
    Contents,
    asked,
    file_state,
    holds_anything,
    read_contents,
)
from gpudesk.catalog.user_rows import checked_text
from gpudesk.catalog.user_tables import TABLE_OF
from gpudesk.catalog.user_writing import connect_to_write, data_version, move_changes_in
from gpudesk.domain.backups import BackupReason
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.own_facts import Edit, OwnFacts
from gpudesk.domain.signers import Signer
from gpudesk.domain.watching import WatchNote

#: Facts that one step may change without a backup before it.
FEW: Final = 50

_TABLES: Final = (*TABLE_OF, "signer")


class ChangedElsewhereError(InputError):
    """Another process changed what a step rests on: nothing was written; `reload` reads what holds now."""

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__(message("own.changed_elsewhere"))


def _now() -> datetime:
    return datetime.now(UTC)


class UserFile:
    """The open file of the user. Threads may share it: one does something at a time."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = _now) -> None:
        """Be at `path`, where nothing has been read yet; `open` is the way in."""
        self.path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._contents = Contents()
        # What the contents were read from: a state of the file, or a version that the connection counts.
        self._state = file_state(path)
        self._connection: sqlite3.Connection | None = None
        self._seen: int | None = None

    @classmethod
    def open(cls, path: Path, clock: Callable[[], datetime] = _now) -> UserFile:
        """Read the file at `path`, or where a link there leads; nothing there means no facts.

        Raises `CatalogFileError` where it is no file of the user's that can be read. `clock` says when
        backups are made.
        """
        with told(path):
            try:
                place = path.resolve()
            except RuntimeError as error:
                # What Python says of links that lead round in a circle.
                raise CatalogFileError(message("own.file.no_access", reason=str(error)), path) from error
            if path.is_symlink() and not place.parent.exists():
                # A disk that is not connected: a new file there would hide all that is on it.
                raise CatalogFileError(message("own.file.link", target=str(place)), path)
        file = cls(place, clock)
        file.reload()
        return file

    @property
    def facts(self) -> OwnFacts:
        """What the file held when it was last read or changed here."""
        return self._contents.facts

    @property
    def watched(self) -> tuple[WatchNote, ...]:
        """The notes on the watch list that it held then, one for a signal."""
        return self._contents.watched

    @property
    def writable(self) -> bool:
        """Whether the system lets the file be changed, or made."""
        return can_write(self.path)

    @property
    def removed(self) -> bool:
        """Whether the file was read and is gone: what it held is here alone."""
        return self._state[0] is not None and file_state(self.path)[0] is None

    @property
    def backups_folder(self) -> Path:
        """Where the backups lie."""
        return self.path.parent / "backups"

    @property
    def changed_elsewhere(self) -> bool:
        """Whether the file is another than the one that was read: changed, replaced, removed or made."""
        with self._lock:
            if self._connection is None or self._replaced:
                return file_state(self.path) != self._state
            with told(self.path):
                return data_version(self._connection) != self._seen

    def reload(self) -> OwnFacts:
        """Read the file anew; raises `CatalogFileError` where it was removed, and keeps what was read."""
        with self._lock:
            self._require_not_removed()
            if self._replaced:
                self._leave_replaced()
            if self._connection is None:
                state = file_state(self.path)
                there = state[0] is not None or user_file_problem(self.path) is not None
                contents = asked(self.path, read_contents) if there else Contents()
                self._state, self._contents = state, contents
            else:
                with told(self.path):
                    self._connection.execute("BEGIN")
                    try:
                        self._seen, self._contents = (
                            data_version(self._connection),
                            read_contents(self._connection),
                        )
                    finally:
                        self._connection.execute("ROLLBACK")
            return self.facts

    def apply(self, edit: Edit) -> OwnFacts:
        """Make a step, and return the facts after it; the step is in the file whole, or not at all.

        Raises `ChangedElsewhereError` where the file does not hold what the step takes away, `InputError` at
        a field that cannot be kept, and `CatalogFileError` where the file cannot be written.
        """
        changes = changes_of(edit)
        if not changes:
            return self.facts
        with self._lock:
            with self._writing(BackupReason.EDIT if len(changes) > FEW else BackupReason.DAY) as connection:
                _require_fitting(connection, changes)
                for change in changes:
                    write(connection, change)
                seen = data_version(connection)
                contents = self._after(edit) if seen == self._seen else read_contents(connection)
            self._seen, self._contents = seen, contents
            return self.facts

    def _after(self, edit: Edit) -> Contents:
        held = self._contents
        return Contents(held.facts.after(edit), held.signers, edit.watched_after(held.watched))

    def write_anew(self) -> OwnFacts:
        """Begin a new file with all that was read, where the file was removed; else change nothing.

        Raises `ChangedElsewhereError` where another process just made one, which stays as it is.
        """
        with self._lock:
            if not self.removed:
                return self.facts
            if not self.writable:
                raise CatalogFileError(message("own.file.read_only"), self.path)
            if not begin_file(self.path, self._write_all):
                raise ChangedElsewhereError
            self._disconnect()
            return self.reload()

    def _write_all(self, connection: sqlite3.Connection) -> None:
        """Write what was read into an empty file."""
        for change in changes_of(Edit(Message(""), after=tuple(self.facts), watched=self.watched)):
            write(connection, change)
        rows = [(each.key, each.name, each.trusted_on) for each in self.signers()]
        connection.executemany("INSERT INTO signer (key, name, trusted_on) VALUES (?, ?, ?)", rows)

    def take_over(self, other: sqlite3.Connection) -> OwnFacts:
        """Put everything of another file, open in the newest version, in the place of what is in here.

        Where the file was removed, a new one is begun.
        """
        with self._lock:
            if self.removed:
                self._disconnect()
                self._state = file_state(self.path)
            with self._writing(BackupReason.RESTORE) as connection:
                for table in _TABLES:
                    connection.execute(f"DELETE FROM {table}")
                    rows = other.execute(f"SELECT * FROM {table}")
                    names = ", ".join(column[0] for column in rows.description)
                    places = ", ".join("?" * len(rows.description))
                    connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)
                seen, contents = data_version(connection), read_contents(connection)
            self._seen, self._contents = seen, contents
            return self.facts

    # Who is trusted

    def signers(self) -> tuple[Signer, ...]:
        """Return whose signature is trusted, by the day of the trust."""
        return self._contents.signers

    def trust(self, signer: Signer) -> None:
        """Trust a signer from now on; a key that is trusted already gets the new name and day.

        Raises `InputError` at a field that cannot be kept.
        """
        row = tuple(checked_text(name, getattr(signer, name)) for name in ("key", "name", "trusted_on"))
        self._change_signers("INSERT OR REPLACE INTO signer (key, name, trusted_on) VALUES (?, ?, ?)", row)

    def distrust(self, key: str) -> None:
        """Trust a signer no longer; one that is not trusted stays so."""
        self._change_signers("DELETE FROM signer WHERE key = ?", (key,))

    def _change_signers(self, statement: str, values: tuple[str, ...]) -> None:
        with self._lock:
            with self._writing(BackupReason.DAY) as connection:
                connection.execute(statement, values)
                seen, contents = data_version(connection), read_contents(connection)
            self._seen, self._contents = seen, contents

    # Writing

    @contextmanager
    def _writing(self, reason: BackupReason) -> Iterator[sqlite3.Connection]:
        """Give the connection within a transaction, after a backup where one is due."""
        if not self.writable:
            raise CatalogFileError(message("own.file.read_only"), self.path)
        connection = self._connected()
        self._back_up(connection, reason)
        with told(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._require_readable_version(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
                    raise InputError(message("own.dangling_source")) from error
                raise
            move_changes_in(connection)
            self._state = file_state(self.path)

    def _connected(self) -> sqlite3.Connection:
        """Return the connection to write through, to a file that is there and in the newest version."""
        self._require_not_removed()
        if self._replaced:
            self._leave_replaced()
        # Also while it is open: what is written over from outside takes no step any more.
        problem = user_file_problem(self.path)
        if problem is not None:
            raise CatalogFileError(problem, self.path)
        if self._connection is None:
            if file_state(self.path)[0] is None:
                begin_file(self.path)
            with told(self.path):
                self._connection = connect_to_write(self.path)
                seen = data_version(self._connection)
            now = file_state(self.path)
            unchanged = now[0] == self._state[0] and (now[1] is None or now[1][1] == 0)
            self._seen, self._state = (seen if unchanged else None), now
        connection = self._connection
        with told(self.path):
            self._require_readable_version(connection)
            if version_of(connection) < USER_VERSION:
                make_backup(connection, self.backups_folder, BackupReason.MIGRATION, self._clock())
                migrate(connection)
        return connection

    def _back_up(self, connection: sqlite3.Connection, reason: BackupReason) -> None:
        """Make a backup where one is due: of anything at all, and once a day before small changes."""
        now = self._clock().astimezone(UTC)
        days = {name.made.date() for name in named_copies(self.backups_folder)}
        if reason is BackupReason.DAY and now.date() in days:
            return
        with told(self.path):
            anything = holds_anything(connection)
        if anything:
            make_backup(connection, self.backups_folder, reason, now)

    def _require_readable_version(self, connection: sqlite3.Connection) -> None:
        version = version_of(connection)
        if version > USER_VERSION:
            raise CatalogFileError(
                message("own.file.newer", version=version, supported=USER_VERSION), self.path
            )

    def _require_not_removed(self) -> None:
        """Refuse where a file was read and is gone: a new one in its place would hide the loss."""
        if self.removed:
            raise CatalogFileError(message("own.file.removed"), self.path)

    @property
    def _replaced(self) -> bool:
        """Whether the connection leads to a file that has lost its place to another."""
        if self._connection is None or self._state[0] is None:
            return False
        now = file_state(self.path)[0]
        return now is None or now[0] != self._state[0][0]

    def _leave_replaced(self) -> None:
        """Let go a file that has lost its place, with the changes beside it: they are none of the other's."""
        beside = self._state[1]
        self._disconnect()
        now = file_state(self.path)[1]
        if beside is not None and now is not None and now[0] == beside[0] and now[1] > 0:
            with told(self.path):
                move_changes_aside(self.path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._seen = None, None

    def close(self) -> None:
        """Let the file go; what was read stays. Closing twice is no error."""
        with self._lock:
            self._disconnect()

    def __enter__(self) -> UserFile:
        """Return the open file itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


def _require_fitting(connection: sqlite3.Connection, changes: Iterable[RowChange]) -> None:
    if not all(fits(connection, change) for change in changes):
        raise ChangedElsewhereError
