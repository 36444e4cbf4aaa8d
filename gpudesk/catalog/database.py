"""The shipped catalog file: opened read-only, checked by its header; digests of its contents and of its sources."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.text.messages import InputError, Message, explain_system_error, message

_FOREIGN_FILE: Final = message("catalog.file.foreign", "is not a GPU Desk catalog; reinstall GPU Desk")


def sync_to_disk(path: Path) -> None:
    """Wait until a file, or a folder's names, are on disk; Windows cannot open folders."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


#: "GPUD", in the header of the file: identifies a catalog among SQLite databases.
APPLICATION_ID: Final = 0x47505544
#: Incremented with every change of the tables.
SCHEMA_VERSION: Final = 3

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_SIZE: Final = 100
_PAGE_CACHE_KIB: Final = 256
#: Result codes of SQLite that are not the program's fault, by their low byte: the file, and others.
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_ENVIRONMENT: Final = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)

DatabaseRow = tuple[Any, ...]


class CatalogFileError(InputError):
    """The catalog file is unusable in its present state; it is unchanged, and the message says what to do."""

    def __init__(self, problem: Message, path: Path) -> None:
        super().__init__(problem, where=str(path))
        self.path = path


class CatalogBugError(RuntimeError):
    """An impossible request to the catalog: a bug."""


#: The value of `seal` in the table `meta`: a digest of the file computed with zeros in its place.
EMPTY_SEAL: Final = "gpudesk-sha256:" + 64 * "0"
_SEAL: Final = re.compile(rb"gpudesk-sha256:([0-9a-f]{64})")


def seal_file(path: Path) -> None:
    """Write the digest of a catalog file into it, so that a damaged byte is found on opening."""
    content = path.read_bytes()
    sealed = _SEAL.search(content)
    if sealed is None:
        raise CatalogBugError(f"{path} has no place for a seal")
    with path.open("r+b") as file:
        file.seek(sealed.start(1))
        file.write(_compute_seal(content, sealed).encode())


def _find_seal_problem(path: Path) -> Message | None:
    try:
        content = path.read_bytes()
    except OSError as error:
        return _describe_unreadable(explain_system_error(error))
    sealed = _SEAL.search(content)
    if sealed is not None and sealed[1].decode() == _compute_seal(content, sealed):
        return None
    return message("catalog.file.changed", "is damaged: its contents differ from the built catalog; reinstall GPU Desk")


def _compute_seal(content: bytes, sealed: re.Match[bytes]) -> str:
    digest = hashlib.sha256(memoryview(content)[: sealed.start(1)])
    digest.update(64 * b"0")
    digest.update(memoryview(content)[sealed.end(1) :])
    return digest.hexdigest()


class CatalogDatabase:
    """An open catalog file. It is closed by `close` or at the end of a `with` block."""

    def __init__(self, path: Path) -> None:
        """Open the file; raises `CatalogFileError` if it is not a catalog that this program can read."""
        self.path = path
        problem = find_file_problem(path) or _find_seal_problem(path)
        if problem is not None:
            raise CatalogFileError(problem, path)
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            # Nothing is ever written, and SQLite itself serializes threads.
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            # Facts are read once and then cached as objects; SQLite would keep 2 MB of pages.
            self._connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
        except sqlite3.Error as error:
            raise self._translate(error) from error

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[DatabaseRow]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise self._translate(error) from error

    def columns(self, table: str) -> tuple[str, ...]:
        return tuple(row[1] for row in self.rows(f"PRAGMA table_info({table})"))

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        self._connection.close()

    def __enter__(self) -> CatalogDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _translate(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED:
            return CatalogFileError(
                message("catalog.file.damaged", "is damaged: {reason}; reinstall GPU Desk", reason=str(error)),
                self.path,
            )
        if code in _ENVIRONMENT:
            return CatalogFileError(_describe_unreadable(str(error)), self.path)
        return CatalogBugError(f"{self.path}: {error}")


def find_file_problem(path: Path) -> Message | None:
    """Return why the file is not a complete catalog of this version, from its first 100 bytes; None if it is.

    Their layout is section 1.3 of SQLite's file format documentation.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_SIZE)
        size = path.stat().st_size
    except FileNotFoundError:
        return message("catalog.file.missing", "is missing; reinstall GPU Desk, or run `make catalog` in a checkout")
    except OSError as error:
        return _describe_unreadable(explain_system_error(error))
    return _find_header_problem(header, size)


def _find_header_problem(header: bytes, size: int) -> Message | None:
    """Return the problem in the header for a file of `size` bytes; None without one."""
    if not header.startswith(_MAGIC[: len(header)]):
        return _FOREIGN_FILE
    if len(header) < _HEADER_SIZE:
        return _describe_cut(size, _HEADER_SIZE)
    (version, application) = struct.unpack(">I4xI", header[60:72])
    if application != APPLICATION_ID:
        return _FOREIGN_FILE
    if version > SCHEMA_VERSION:
        return message(
            "catalog.file.newer",
            "has version {version}; this program reads version {supported}: use a newer version of GPU Desk",
            version=version,
            supported=SCHEMA_VERSION,
        )
    if version < SCHEMA_VERSION:
        return message(
            "catalog.file.older",
            "has version {version}; this program reads version {supported}: reinstall GPU Desk, or run `make "
            "catalog` in a checkout",
            version=version,
            supported=SCHEMA_VERSION,
        )
    expected = _read_page_size(header) * struct.unpack(">I", header[28:32])[0]
    if size < expected:
        return _describe_cut(size, expected)
    return None


def _read_page_size(header: bytes) -> int:
    (size,) = struct.unpack(">H", header[16:18])
    return 65536 if size == 1 else int(size)


def _describe_cut(size: int, expected: int) -> Message:
    return message(
        "catalog.file.cut", "is truncated: {size} of {expected} bytes; reinstall GPU Desk", size=size, expected=expected
    )


def _describe_unreadable(reason: str) -> Message:
    return message("catalog.file.unreadable", "cannot be read: {reason}", reason=reason)


#: The table about the file itself; it holds the revision and is excluded from it.
META: Final = "meta"

TableRow = dict[str, Any]
#: Rows by the name of their table.
TableRows = dict[str, list[TableRow]]


def compute_revision(tables: Mapping[str, Sequence[TableRow]]) -> str:
    """Digest the sorted rows of all tables but `meta`, in any order."""
    digest = hashlib.sha256()
    for name, rows in sorted(tables.items()):
        if name != META:
            digest.update(f"{name}\n".encode())
            digest.update("\n".join(sorted(to_canonical_json(_convert_row(row)) for row in rows)).encode())
    return digest.hexdigest()[:16]


def compute_stored_revision(store: CatalogDatabase) -> str:
    names = [row[0] for row in store.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return compute_revision({name: _read_table(store, name) for name in names})


def _read_table(store: CatalogDatabase, table: str) -> list[TableRow]:
    columns = store.columns(table)
    return [dict(zip(columns, row, strict=True)) for row in store.rows(f"SELECT * FROM {table}")]


def _convert_row(row: TableRow) -> TableRow:
    """Return a row as SQLite stores it, with yes and no as numbers."""
    return {column: int(value) if isinstance(value, bool) else value for column, value in row.items()}
