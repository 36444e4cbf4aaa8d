"""The user file: facts read at once, changed in transactions, restored from backups."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gpudesk.catalog.database import CatalogBugError, CatalogFileError
from gpudesk.catalog.user_store.connection import (
    UserFileContents,
    checkpoint,
    connect_to_write,
    count_facts,
    holds_anything,
    query_file,
    read_contents,
    read_data_version,
    read_file_state,
)
from gpudesk.catalog.user_store.faults import (
    READ_ONLY_FILE,
    describe_newer_file,
    describe_no_access,
    find_user_file_problem,
    translate_errors,
)
from gpudesk.catalog.user_store.file_system import (
    BackupName,
    begin_file,
    can_write,
    list_backup_names,
    make_backup,
    move_changes_aside,
    set_aside,
)
from gpudesk.catalog.user_store.migrations import USER_VERSION, migrate, read_version
from gpudesk.catalog.user_store.rows import (
    SIGNER_TABLE,
    TABLE_BY_NAME,
    RowChange,
    UnreadableRow,
    encode_row,
    is_row_as_expected,
    list_row_changes,
    write_row_change,
)
from gpudesk.domain.reference_data import WatchNote
from gpudesk.domain.user_facts import Backup, BackupReason, FactEdit, TrustedSigner, UserFacts, get_fact_key
from gpudesk.text.messages import InputError, Message, input_error, message

_BACKUP_GONE: Final = message("own.backup.gone", "does not exist; choose another backup")

#: Facts that one step can change without a prior backup.
SMALL_STEP: Final = 50

_ALL_TABLE_NAMES: Final = (*TABLE_BY_NAME, SIGNER_TABLE.name)


class ChangedElsewhereError(InputError):
    """Another process changed facts that a step needs: nothing was written; `reload` reads the current state."""

    def __init__(self) -> None:
        super().__init__(
            message(
                "own.changed_elsewhere",
                "was changed by another program, so nothing was written; check the current values, then try again",
            )
        )


def _read_clock() -> datetime:
    return datetime.now(UTC)


class UserFile:
    """The user's open file. Threads can share it: one works at a time."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = _read_clock) -> None:
        """Set the path, without reading; use `open`."""
        self.path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._contents = UserFileContents()
        # The origin of the contents: a state of the file, or SQLite's data version.
        self._state = read_file_state(path)
        self._connection: sqlite3.Connection | None = None
        self._data_version: int | None = None

    @classmethod
    def open(cls, path: Path, clock: Callable[[], datetime] = _read_clock) -> UserFile:
        """Read the file at `path`, or the target of a link; a missing file means no facts.

        Raises `CatalogFileError` if it is not a readable user file. `clock` decides when backups are made.
        """
        with translate_errors(path):
            try:
                place = path.resolve()
            except RuntimeError as error:
                # Python's error for circular links.
                raise CatalogFileError(describe_no_access(str(error)), path) from error
            if path.is_symlink() and not place.parent.exists():
                # A disk that is not mounted: a new file there would hide its content.
                raise CatalogFileError(
                    message(
                        "own.file.link",
                        "is a link to {target}, which does not exist; nothing was changed: connect its disk, or "
                        "remove the link",
                        target=str(place),
                    ),
                    path,
                )
        file = cls(place, clock)
        file.reload()
        return file

    @property
    def facts(self) -> UserFacts:
        return self._contents.facts

    @property
    def watched(self) -> tuple[WatchNote, ...]:
        return self._contents.watched

    @property
    def unreadable(self) -> tuple[UnreadableRow, ...]:
        """The rows that are set aside."""
        return self._contents.unreadable

    @property
    def writable(self) -> bool:
        return can_write(self.path)

    @property
    def removed(self) -> bool:
        """Whether the file was read and is now gone: its content exists only here."""
        return self._state[0] is not None and read_file_state(self.path)[0] is None

    @property
    def backups_folder(self) -> Path:
        return self.path.parent / "backups"

    @property
    def changed_elsewhere(self) -> bool:
        """Whether the file differs from the one that was read: changed, replaced, removed or created."""
        with self._lock:
            if self._connection is None or self._replaced:
                return read_file_state(self.path) != self._state
            with translate_errors(self.path):
                return read_data_version(self._connection) != self._data_version

    def reload(self) -> UserFacts:
        """Read the file again; raises `CatalogFileError` if it was removed, and keeps the data already read."""
        with self._lock:
            self._require_not_removed()
            if self._replaced:
                self._leave_replaced()
            if self._connection is None:
                state = read_file_state(self.path)
                there = state[0] is not None or find_user_file_problem(self.path) is not None
                contents = query_file(self.path, read_contents) if there else UserFileContents()
                self._state, self._contents = state, contents
            else:
                with translate_errors(self.path):
                    self._connection.execute("BEGIN")
                    try:
                        self._data_version, self._contents = (
                            read_data_version(self._connection),
                            read_contents(self._connection),
                        )
                    finally:
                        self._connection.execute("ROLLBACK")
            return self.facts

    def apply(self, edit: FactEdit) -> UserFacts:
        """Apply a step, and return the facts after it; the step is written completely, or not at all.

        Raises `ChangedElsewhereError` if the file lacks rows that the step removes, `InputError` at a field that cannot
        be stored, and `CatalogFileError` if the file cannot be written.
        """
        changes = list_row_changes(edit)
        if not changes:
            return self.facts
        with self._lock:
            with self._begin_writing(
                BackupReason.EDIT if len(changes) > SMALL_STEP else BackupReason.DAY
            ) as connection:
                self._require_expected_rows(connection, changes)
                for change in changes:
                    write_row_change(connection, change)
                version = read_data_version(connection)
                contents = self._compute_after(edit) if version == self._data_version else read_contents(connection)
            self._data_version, self._contents = version, contents
            return self.facts

    def _compute_after(self, edit: FactEdit) -> UserFileContents:
        contents = self._contents
        edited_keys = {get_fact_key(fact) for fact in edit.after} | {note.key for note in edit.watched}
        unreadable = tuple(row for row in contents.unreadable if (row.table, *row.key) not in edited_keys)
        return UserFileContents(
            contents.facts.after(edit), contents.signers, edit.list_notes_after(contents.watched), unreadable
        )

    def _require_expected_rows(self, connection: sqlite3.Connection, changes: Iterable[RowChange]) -> None:
        """Refuse a step if rows differ from its expectation; rows set aside count as missing."""
        unreadable = {(row.table, *row.key) for row in self._contents.unreadable}
        for change in changes:
            replaced = change.before is None and (change.table.name, *change.key) in unreadable
            if not replaced and not is_row_as_expected(connection, change):
                raise ChangedElsewhereError

    def write_anew(self) -> UserFacts:
        """Create a new file with all data read, if the file was removed; else change nothing.

        Raises `ChangedElsewhereError` if another process just created one, which stays.
        """
        with self._lock:
            if not self.removed:
                return self.facts
            if not self.writable:
                raise CatalogFileError(READ_ONLY_FILE, self.path)
            if not begin_file(self.path, self._write_all):
                raise ChangedElsewhereError
            self._disconnect()
            return self.reload()

    def _write_all(self, connection: sqlite3.Connection) -> None:
        _insert_contents(connection, self._contents)

    def take_over(self, contents: UserFileContents) -> UserFacts:
        """Replace the contents. If the file was removed, a new one is created."""
        with self._lock:
            if self.removed:
                self._disconnect()
                self._state = read_file_state(self.path)
            with self._begin_writing(BackupReason.RESTORE) as connection:
                for table in _ALL_TABLE_NAMES:
                    connection.execute(f"DELETE FROM {table}")
                _insert_contents(connection, contents)
                version, contents = read_data_version(connection), read_contents(connection)
            self._data_version, self._contents = version, contents
            return self.facts

    # Trusted signers

    def signers(self) -> tuple[TrustedSigner, ...]:
        return self._contents.signers

    def trust(self, signer: TrustedSigner) -> None:
        """Trust a signer from now on; a key that is already trusted gets the new name and day.

        Raises `InputError` at a field that cannot be stored.
        """
        row = encode_row(SIGNER_TABLE, signer)
        self._change_signers(SIGNER_TABLE.insert, row)

    def distrust(self, key: str) -> None:
        """Stop trusting a signer; unknown ones are ignored."""
        self._change_signers(SIGNER_TABLE.delete, (key,))

    def _change_signers(self, statement: str, values: tuple[object, ...]) -> None:
        with self._lock:
            with self._begin_writing(BackupReason.DAY) as connection:
                connection.execute(statement, values)
                version, contents = read_data_version(connection), read_contents(connection)
            self._data_version, self._contents = version, contents

    # Writing

    @contextmanager
    def _begin_writing(self, reason: BackupReason) -> Iterator[sqlite3.Connection]:
        """Yield the connection within a transaction, after a backup if one is due."""
        if not self.writable:
            raise CatalogFileError(READ_ONLY_FILE, self.path)
        connection = self._connect()
        self._back_up(connection, reason)
        with translate_errors(self.path):
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
                    raise input_error(
                        "own.dangling_source",
                        "removes the source of a claim or a price, so nothing was changed; keep the source, or "
                        "remove what uses it",
                    ) from error
                raise
            checkpoint(connection)
            self._state = read_file_state(self.path)

    def _connect(self) -> sqlite3.Connection:
        self._require_not_removed()
        if self._replaced:
            self._leave_replaced()
        # Also while it is open: a file overwritten from outside accepts no step any more.
        problem = find_user_file_problem(self.path)
        if problem is not None:
            raise CatalogFileError(problem, self.path)
        if self._connection is None:
            if read_file_state(self.path)[0] is None:
                begin_file(self.path)
            with translate_errors(self.path):
                self._connection = connect_to_write(self.path)
                version = read_data_version(self._connection)
            now = read_file_state(self.path)
            unchanged = now[0] == self._state[0] and (now[1] is None or now[1][1] == 0)
            self._data_version, self._state = (version if unchanged else None), now
        connection = self._connection
        with translate_errors(self.path):
            self._require_readable_version(connection)
            if read_version(connection) < USER_VERSION:
                make_backup(connection, self.backups_folder, BackupReason.MIGRATION, self._clock())
                migrate(connection)
        return connection

    def _back_up(self, connection: sqlite3.Connection, reason: BackupReason) -> None:
        """Make a backup, unless the file is empty; before small changes only once a day."""
        now = self._clock().astimezone(UTC)
        days = {name.time.date() for name in list_backup_names(self.backups_folder)}
        if reason is BackupReason.DAY and now.date() in days:
            return
        with translate_errors(self.path):
            anything = holds_anything(connection)
        if anything:
            make_backup(connection, self.backups_folder, reason, now)

    def _require_readable_version(self, connection: sqlite3.Connection) -> None:
        version = read_version(connection)
        if version > USER_VERSION:
            raise CatalogFileError(describe_newer_file(version), self.path)

    def _require_not_removed(self) -> None:
        """Refuse if a file was read and is now gone: a new one in its place would hide the loss."""
        if self.removed:
            raise CatalogFileError(
                message(
                    "own.file.removed",
                    "was removed while in use, so nothing was written; your values are still here: save them again, "
                    "restore the file, or restore a backup",
                ),
                self.path,
            )

    @property
    def _replaced(self) -> bool:
        if self._connection is None or self._state[0] is None:
            return False
        now = read_file_state(self.path)[0]
        return now is None or now[0] != self._state[0][0]

    def _leave_replaced(self) -> None:
        """Close a file that was replaced, and its journal: that does not belong to the new one."""
        journal = self._state[1]
        self._disconnect()
        now = read_file_state(self.path)[1]
        if journal is not None and now is not None and now[0] == journal[0] and now[1] > 0:
            with translate_errors(self.path):
                move_changes_aside(self.path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._data_version = None, None

    def close(self) -> None:
        """Close the file; data already read stays. Closing twice is allowed."""
        with self._lock:
            self._disconnect()

    def __enter__(self) -> UserFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _insert_contents(connection: sqlite3.Connection, contents: UserFileContents) -> None:
    everything = FactEdit(Message("", ""), after=tuple(contents.facts), watched=contents.watched)
    for change in list_row_changes(everything):
        write_row_change(connection, change)
    connection.executemany(SIGNER_TABLE.insert, [encode_row(SIGNER_TABLE, each) for each in contents.signers])


#: Errors of the environment: a backup cannot be restored either until they are resolved.
_OUTSIDE_FAULTS: Final = frozenset(
    {"own.file.faulty", "own.file.full", "own.file.link", "own.file.locked", "own.file.no_access", "own.file.read_only"}
)


def list_backups(folder: Path) -> tuple[Backup, ...]:
    """Return the backups in a folder, the newest first; damaged ones are marked."""
    return tuple(_inspect_backup(name) for name in reversed(list_backup_names(folder)))


def _inspect_backup(name: BackupName) -> Backup:
    facts, problem, size = None, None, 0
    try:
        size = name.path.stat().st_size
        facts = query_file(name.path, count_facts)
    except OSError:
        problem = _BACKUP_GONE
    except CatalogFileError as error:
        problem = _reword_for_backup(error.problem)
    return Backup(name.path, name.time, name.version, name.reason, size, facts, problem)


def _reword_for_backup(problem: Message) -> Message:
    parameters = problem.parameters
    if problem.id == "own.file.cut":
        return message(
            "own.backup.cut",
            "is truncated: {size} of {expected} bytes; choose another backup",
            size=parameters["size"],
            expected=parameters["expected"],
        )
    if problem.id == "own.file.damaged":
        return message(
            "own.backup.damaged", "is damaged ({reason}); choose another backup", reason=parameters["reason"]
        )
    if problem.id in {"own.file.foreign", "own.file.folder", "own.file.no_file"}:
        return message("own.backup.foreign", "is not a backup of your values; choose another file")
    return problem


def restore_backup(path: Path, backup: Path) -> UserFacts:
    """Replace the content of the user's file at `path` by that of a backup; return its facts.

    The file is backed up first; an unusable file is moved aside. Raises `CatalogFileError` if the backup is unusable,
    or the system refuses: then the file is unchanged.
    """
    if not backup.exists():
        raise CatalogFileError(_BACKUP_GONE, backup)
    try:
        contents = query_file(backup, read_contents)
    except CatalogFileError as error:
        raise CatalogFileError(_reword_for_backup(error.problem), backup) from error
    try:
        with UserFile.open(path) as file:
            return file.take_over(contents)
    except CatalogFileError as error:
        if error.problem.id in _OUTSIDE_FAULTS:
            raise
    except CatalogBugError:
        # Its tables differ from this program's.
        pass
    set_aside(path)
    with UserFile.open(path) as file:
        return file.take_over(contents)
