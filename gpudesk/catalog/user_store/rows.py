"""User facts as table rows and back, and edits as row changes."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from typing import Any, Final, Generic, TypeVar, cast, get_type_hints

from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.field_checks import (
    CONTROL_CHARACTER,
    HALF_CHARACTER,
    describe_too_long,
    describe_unknown_word,
    make_type_error,
    quote_value,
    refuse_constant,
)
from gpudesk.domain.reference_data import WatchNote, WatchValue
from gpudesk.domain.user_facts import (
    FactEdit,
    FactKey,
    TrustedSigner,
    UserAccelerator,
    UserClaim,
    UserFact,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, input_error, message

_TOO_LARGE: Final = message("own.too_large", "is too large to store exactly; use a smaller number")

#: Facts stored as rows.
StoredRecord = UserFact | WatchNote | TrustedSigner

_T = TypeVar("_T", bound=StoredRecord)


@frozen_dataclass
class FactTable(Generic[_T]):
    """A table of the user's file with its facts, whose fields are its columns.

    `key` are the identifying columns, `since` is the first version of the file with the table.
    """

    name: str
    fact: type[_T]
    key: tuple[str, ...]
    since: int = 1
    order: str = "position"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self.fact))

    @property
    def select(self) -> str:
        """All rows, in the order of entry."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {self.order}"

    @property
    def select_numbered(self) -> str:
        return f"SELECT rowid, {', '.join(self.columns)} FROM {self.name} ORDER BY rowid"

    @property
    def select_one(self) -> str:
        return f"SELECT {', '.join(self.columns)} FROM {self.name} WHERE {self._where}"

    @property
    def insert(self) -> str:
        places = ", ".join("?" * len(self.columns))
        # A row can replace one that was set aside: a step first checks for others.
        return f"INSERT OR REPLACE INTO {self.name} ({', '.join(self.columns)}) VALUES ({places})"

    @property
    def update(self) -> str:
        values = ", ".join(f"{column} = ?" for column in self.columns)
        return f"UPDATE {self.name} SET {values} WHERE {self._where}"

    @property
    def delete(self) -> str:
        return f"DELETE FROM {self.name} WHERE {self._where}"

    @property
    def _where(self) -> str:
        return " AND ".join(f"{column} = ?" for column in self.key)


FACT_TABLES: Final[tuple[FactTable[UserFact], ...]] = (
    FactTable("source", Source, ("id",)),
    FactTable("accelerator", UserAccelerator, ("id",)),
    FactTable("model", UserModel, ("id",)),
    FactTable("system", UserSystem, ("id",), since=4),
    FactTable("claim", UserClaim, ("thing", "attribute", "source")),
    FactTable("preference", ClaimPreference, ("thing", "attribute")),
    FactTable("price", UserPrice, ("id",)),
)
WATCH_TABLE: Final = FactTable("watch", WatchNote, ("signal",), since=3)
SIGNER_TABLE: Final = FactTable("signer", TrustedSigner, ("key",), since=2, order="trusted_on, key")
STORED_TABLES: Final[tuple[FactTable[Any], ...]] = (*FACT_TABLES, WATCH_TABLE)
TABLE_BY_NAME: Final = {table.name: table for table in STORED_TABLES}


StoredRow = tuple[Any, ...]

#: Maximum characters of a text; the definition of a large model has a tenth of that.
LONGEST_TEXT: Final = 1_000_000
_LARGEST_WHOLE: Final = 2**63 - 1


class RowError(ValueError):
    """A row that this program cannot have written; the text names it."""


@frozen_dataclass
class UnreadableRow:
    """A row that is set aside: it stays in the file, unused. `number` is SQLite's row id."""

    table: str
    number: int
    key: tuple[object, ...]
    reason: str

    def describe(self) -> Message:
        names = [each for each in self.key if isinstance(each, str) and each.isprintable()]
        return message(
            "own.row.unreadable",
            "row {row} of the table {table} ({name}) cannot be used: {reason}; it was skipped and stays in the file",
            row=str(self.number),
            table=self.table,
            name=" ".join(names)[:80] or "-",
            reason=self.reason,
        )


@frozen_dataclass
class _Column:
    """Storage of a field's values: `stored` are their types in the file."""

    encode: Callable[[str, Any], Any]
    stored: frozenset[type]
    decode: Callable[[Any], Any] | None = None


def encode_row(table: FactTable[_T], fact: _T) -> StoredRow:
    """Return the row of a fact; raises `InputError` at a field that cannot be stored unchanged."""
    return tuple(column.encode(name, getattr(fact, name)) for name, column in _list_columns(table).items())


def decode_rows(table: FactTable[_T], rows: list[StoredRow]) -> list[_T]:
    """Return the facts of rows; raises `RowError` for rows that this program cannot have written."""
    if not rows:
        return []
    # Column by column, since there can be tens of thousands of rows.
    columns: list[Iterable[Any]] = []
    for column, stored in zip(_list_columns(table).values(), zip(*rows, strict=True), strict=True):
        if not column.stored.issuperset(map(type, stored)):
            raise RowError(f"a row of the table {table.name} holds what does not belong there")
        columns.append(stored if column.decode is None else map(column.decode, stored))
    return list(map(cast("type[Any]", table.fact), *columns))


def decode_row_by_row(table: FactTable[_T], rows: Iterable[StoredRow]) -> tuple[list[_T], list[UnreadableRow]]:
    """Return the facts of rows and the unreadable rows; the first column of each row is its number."""
    facts, unreadable = list[_T](), list[UnreadableRow]()
    for number, *row in rows:
        try:
            for text in row:
                if isinstance(text, str):
                    text.encode()
            facts += decode_rows(table, [tuple(row)])
        except UnicodeEncodeError:
            unreadable.append(_make_unreadable(table, number, row, "its text is not UTF-8"))
        except RowError as error:
            unreadable.append(_make_unreadable(table, number, row, str(error)))
    return facts, unreadable


def _make_unreadable(table: FactTable[Any], number: int, row: list[Any], reason: str) -> UnreadableRow:
    stored = dict(zip(table.columns, row, strict=True))
    return UnreadableRow(table.name, number, tuple(stored[column] for column in table.key), reason)


@cache
def _list_columns(table: FactTable[Any]) -> Mapping[str, _Column]:
    hints = get_type_hints(table.fact)
    return {name: _COLUMN_BY_TYPE[hints[name]] for name in (field.name for field in fields(table.fact))}


# Writing


def check_text(where: str, value: object) -> str:
    """Return a text that is stored unchanged; raises `InputError` at `where` for any other."""
    if not isinstance(value, str):
        raise make_type_error(where, value, "text")
    if len(value) > LONGEST_TEXT:
        raise InputError(describe_too_long(LONGEST_TEXT), where)
    if "\0" in value:
        raise InputError(CONTROL_CHARACTER, where)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(HALF_CHARACTER, where) from None
    return str(value)


def _make_optional(encode: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda where, value: None if value is None else encode(where, value)


def _encode_flag(where: str, value: object) -> int:
    if not isinstance(value, bool):
        raise make_type_error(where, value, "boolean")
    return int(value)


def _encode_whole(where: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise make_type_error(where, value, "whole")
    return int(_check_number(where, value))


def _encode_number(where: str, value: object) -> float:
    number = _check_number(where, value)
    if float(number) != number:
        raise InputError(_TOO_LARGE, where)
    return float(number)


def _check_number(where: str, value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise make_type_error(where, value, "number")
    if isinstance(value, float) and not math.isfinite(value):
        raise input_error("own.no_number", "is not a number that can be stored; enter a number", where)
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        # In exports, whole numbers have 64 bits.
        raise InputError(_TOO_LARGE, where)
    return value


def _encode_value(where: str, value: object) -> str:
    if isinstance(value, tuple):
        checked: object = [check_text(where, word) for word in value]
    elif value is None or isinstance(value, bool):
        checked = value
    else:
        checked = check_text(where, value) if isinstance(value, str) else _check_number(where, value)
    json_text = to_canonical_json(checked)
    if len(json_text) > LONGEST_TEXT:
        raise InputError(describe_too_long(LONGEST_TEXT), where)
    return json_text


def _encode_watch_value(where: str, value: object) -> str:
    return to_canonical_json(value if isinstance(value, bool) else _check_number(where, value))


# Reading


def _make_kind_column(kind: type[StrEnum], owner: str) -> _Column:
    members = {member.value: member for member in kind}

    def encode(where: str, value: object) -> str:
        if not isinstance(value, kind):
            raise InputError(describe_unknown_word(quote_value(value), tuple(members)), where)
        return value.value

    def decode(stored: str) -> StrEnum:
        try:
            return members[stored]
        except KeyError:
            raise RowError(f"{stored[:80]!r} is no kind of a {owner}") from None

    return _Column(encode, frozenset({str}), decode)


def _decode_value(stored: str) -> ClaimValue:
    try:
        (value, end) = _DECODER.raw_decode(stored)
    except (ValueError, RecursionError):
        raise RowError(f"{stored[:80]!r} is no value of a claim") from None
    if type(value) in _PLAIN and end == len(stored):
        return cast("ClaimValue", value)
    if isinstance(value, list) and end == len(stored) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise RowError(f"{stored[:80]!r} is no value of a claim")


def _decode_watch_value(stored: str) -> WatchValue:
    value = _decode_value(stored)
    if not isinstance(value, int | float):
        raise RowError(f"{stored[:80]!r} is no number and neither yes nor no")
    return value


_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)
_PLAIN: Final = frozenset({bool, int, float, str, type(None)})

_NONE: Final = type(None)
#: By the annotation of a field.
_COLUMN_BY_TYPE: Final[Mapping[Any, _Column]] = {
    str: _Column(check_text, frozenset({str})),
    str | None: _Column(_make_optional(check_text), frozenset({str, _NONE})),
    bool: _Column(_encode_flag, frozenset({int}), bool),
    int | None: _Column(_make_optional(_encode_whole), frozenset({int, _NONE})),
    float | None: _Column(_make_optional(_encode_number), frozenset({float, _NONE})),
    SourceKind: _make_kind_column(SourceKind, "claim"),
    SystemKind: _make_kind_column(SystemKind, "system"),
    ClaimValue: _Column(_encode_value, frozenset({str}), _decode_value),
    WatchValue: _Column(_encode_watch_value, frozenset({str}), _decode_watch_value),
}


@frozen_dataclass
class RowChange:
    """One row before and after; None without one."""

    table: FactTable[Any]
    key: tuple[str, ...]
    before: StoredRow | None
    after: StoredRow | None


def list_row_changes(edit: FactEdit) -> list[RowChange]:
    """Return the changes of an edit; raises `InputError` at a field that cannot be stored."""
    before = _encode_records((*edit.before, *edit.unwatched))
    after = _encode_records((*edit.after, *edit.watched))
    return [RowChange(TABLE_BY_NAME[key[0]], key[1:], before.get(key), after.get(key)) for key in {**before, **after}]


def _encode_records(stored: tuple[UserFact | WatchNote, ...]) -> dict[FactKey, StoredRow]:
    keyed = {each.key if isinstance(each, WatchNote) else get_fact_key(each): each for each in stored}
    return {key: encode_row(TABLE_BY_NAME[key[0]], each) for key, each in keyed.items()}


def is_row_as_expected(connection: sqlite3.Connection, change: RowChange) -> bool:
    row: StoredRow | None = connection.execute(change.table.select_one, change.key).fetchone()
    return row == change.before


def write_row_change(connection: sqlite3.Connection, change: RowChange) -> None:
    if change.after is None:
        connection.execute(change.table.delete, change.key)
    elif change.before is None:
        connection.execute(change.table.insert, change.after)
    elif change.after != change.before:
        connection.execute(change.table.update, (*change.after, *change.key))
