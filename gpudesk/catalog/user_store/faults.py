"""Faults of the user file: header, SQLite and system errors as messages."""

from __future__ import annotations

import errno
import sqlite3
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gpudesk.catalog.database import CatalogBugError, CatalogFileError
from gpudesk.catalog.user_store.migrations import USER_VERSION
from gpudesk.catalog.user_store.rows import RowError
from gpudesk.text.messages import Message, explain_system_error, message

_FOREIGN_FILE: Final = message(
    "own.file.foreign", "is not a file with your values; it is unchanged: move it away, or restore a backup"
)
_DISK_FULL: Final = message(
    "own.file.full",
    "cannot be written because the disk is full; your values are unchanged: free some space, then try again",
)
LOCKED_FILE: Final = message(
    "own.file.locked", "is in use by another program, and nothing was changed; close that program, then try again"
)
READ_ONLY_FILE: Final = message(
    "own.file.read_only",
    "cannot be written: the file or its folder is read-only; your values are unchanged: allow writing, or set "
    "GPUDESK_HOME to another folder",
)

#: "GPUU", in the header of the file: distinguishes it from the shipped catalog and other databases.
USER_APPLICATION_ID: Final = 0x47505555
#: SQLite's files next to the database: write-ahead log, shared memory, and the rollback journal used without them.
COMPANIONS: Final = ("-wal", "-shm", "-journal")

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_SIZE: Final = 100


def make_companion_path(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def has_changes_beside(path: Path) -> bool:
    """Whether a journal exists: another process has the file open, or crashed while it had."""
    try:
        return any(
            companion.exists() and companion.stat().st_size > 0
            for companion in (make_companion_path(path, suffix) for suffix in ("-wal", "-journal"))
        )
    except OSError:
        return False


def find_user_file_problem(path: Path) -> Message | None:
    """Return why the file at `path` is not a user file, from its first 100 bytes alone; None if there is no file.

    Their layout is section 1.3 of SQLite's file format documentation.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return message(
                "own.file.folder",
                "is a folder in the place of the file with your values; nothing was changed: move it away",
            )
        if not stat.S_ISREG(status.st_mode):
            # Opening a pipe would block forever.
            return message(
                "own.file.no_file", "is not a regular file for your values; nothing was changed: move it away"
            )
        with path.open("rb") as file:
            header = file.read(_HEADER_SIZE)
    except FileNotFoundError:
        return None
    except OSError as error:
        return describe_os_error(error)
    return _find_header_problem(header, status.st_size, whole=not has_changes_beside(path))


def _find_header_problem(header: bytes, size: int, *, whole: bool) -> Message | None:
    """Return the problem in the header; the size is compared only if there is no write-ahead log."""
    if not header.startswith(_MAGIC[: len(header)]):
        return _FOREIGN_FILE
    if len(header) < _HEADER_SIZE:
        return _describe_cut(size, _HEADER_SIZE)
    (version, application) = struct.unpack(">I4xI", header[60:72])
    if application != USER_APPLICATION_ID:
        return _FOREIGN_FILE
    if version > USER_VERSION:
        return describe_newer_file(version)
    (page_size, pages) = struct.unpack(">H10xI", header[16:32])
    expected = (65536 if page_size == 1 else page_size) * pages
    if whole and size < expected:
        return _describe_cut(size, expected)
    return None


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system into the two error classes for the file at `path`."""
    try:
        yield
    except sqlite3.Error as error:
        problem = describe_sqlite_error(error)
        if problem is None:
            raise CatalogBugError(f"{path}: {error}") from error
        raise CatalogFileError(problem, path) from error
    except (RowError, UnicodeDecodeError) as error:
        # SQLite's messages contain names from the file, which need not be valid text.
        raise CatalogFileError(_describe_damaged(str(error)), path) from error
    except OSError as error:
        raise CatalogFileError(describe_os_error(error), path) from error


def describe_sqlite_error(error: sqlite3.Error) -> Message | None:
    """Return an error that the user can resolve, by the low byte of SQLite's code; None for a bug."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    reason = str(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return LOCKED_FILE
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
        return _DISK_FULL
    if code == sqlite3.SQLITE_READONLY:
        return READ_ONLY_FILE
    if code in (sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return describe_no_access(reason)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM):
        return _describe_faulty(reason)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or is_text_error(error):
        return _describe_damaged(reason)
    return None


def is_text_error(error: sqlite3.Error) -> bool:
    """Whether text in the file is not UTF-8, which has no error code."""
    return "decode to UTF-8" in str(error)


def describe_os_error(error: OSError) -> Message:
    reason = explain_system_error(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _DISK_FULL
    if error.errno == errno.EROFS:
        return READ_ONLY_FILE
    if error.errno in (errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ELOOP):
        return describe_no_access(reason)
    return _describe_faulty(reason)


def _describe_cut(size: int, expected: int) -> Message:
    return message(
        "own.file.cut",
        "is truncated: {size} of {expected} bytes; it was not changed: restore a backup",
        size=size,
        expected=expected,
    )


def _describe_damaged(reason: str) -> Message:
    return message("own.file.damaged", "is damaged ({reason}); it was not changed: restore a backup", reason=reason)


def _describe_faulty(reason: str) -> Message:
    return message(
        "own.file.faulty",
        "cannot be read or written ({reason}); its contents are unchanged: check the disk, then try again",
        reason=reason,
    )


def describe_newer_file(version: int) -> Message:
    return message(
        "own.file.newer",
        "has version {version}; this program writes version {supported}; it was not changed: use a newer version of "
        "GPU Desk",
        version=version,
        supported=USER_VERSION,
    )


def describe_no_access(reason: str) -> Message:
    return message(
        "own.file.no_access",
        "cannot be opened ({reason}); nothing was changed: check the permissions of the file and its folder",
        reason=reason,
    )
