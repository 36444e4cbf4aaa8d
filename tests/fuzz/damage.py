"""What can happen to a file: cut, flipped, spliced, and values that no one means where one belongs."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from random import Random
from typing import Any, Final

#: What stands where another value belongs. In JSON text, where NaN and half a character can be written.
ODD_JSON: Final = (
    "null", "true", "0", "-1", "0.0", "-0.0", "1e308", "-1e308", "5e-324", "1e999", "NaN", "-Infinity", "1" + 30 * "0",
    "9" * 5000, "2147483648", "9223372036854775808", '""', '" "', '"\\ud800"', '"\\u0000"', '"\\u202e\\u001b[2J"',
    '"2026-02-30"', '"0000-00-00"', '"9999-12-31"', '"2026-13"', '"NaN"', '"1e400"', '"../../etc/passwd"', '"None"',
    "[]", "{}", "[[]]", '{"": null}', '"' + "a" * 20_000 + '"', "[" * 500 + "]" * 500, '[1, "a", null]',
)  # fmt: skip
ODD_WORDS: Final = (
    b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"'", b",", b";", b"\t", b"{",
    b"]", b"NaN", b"inf", b"-1", b"0", b"1e309", b"5e-324", b"2026-02-30", b"0001-01-01", b"9" * 400, b"a" * 70_000,
    b"\x1b[31m", "\u202e\u2028\u0660".encode(), b"=cmd()", b"%s%n", b"../../../x",
)  # fmt: skip
ODD_STORED: Final = (
    None, 0, -1, 1, 2**63 - 1, 5e-324, 1e308, float("inf"), float("-inf"), "", " ", "NaN", "null", "[]", "{}",
    '"\ud7ff"', "2026-02-30", "0000", "9999-12-31", "\x1b[2J\u202e", "a" * 50_000, b"\xff\xfe", b"", "1e999",
    '{"layers":[{}]}', "user", "purchase", "on_demand", "h200-sxm", "mi325x", "memory", "fp8", "[" * 900,
)  # fmt: skip
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?")


def damage_bytes(raw: bytes, draw: Random) -> bytes:
    """Return the contents after one to three accidents."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        raw = draw.choice(_ACCIDENTS)(raw, draw)
    return raw


def _cut(raw: bytes, draw: Random) -> bytes:
    return raw[: len(raw) * draw.randrange(20) // 20]


def _flip(raw: bytes, draw: Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(draw.choice((1, 1, 2, 5, 40)) if changed else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _splice(raw: bytes, draw: Random) -> bytes:
    first, last = sorted((draw.randint(0, len(raw)), draw.randint(0, len(raw))))
    between = draw.choice((b"", raw[first:last] * 2, draw.choice(ODD_WORDS), draw.randbytes(min(last - first, 4096))))
    return raw[:first] + between + raw[last:]


def _replace_number(raw: bytes, draw: Random) -> bytes:
    numbers = list(_NUMBER.finditer(raw[:100_000]))
    if not numbers:
        return raw
    number = draw.choice(numbers)
    return raw[: number.start()] + draw.choice(ODD_WORDS) + raw[number.end() :]


_ACCIDENTS: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (_cut, _flip, _flip, _splice, _replace_number)


# JSON


def damage_json(raw: bytes, draw: Random) -> bytes:
    """Return a JSON document in which values, keys and lists are other than meant, or its damaged bytes."""
    if draw.random() < 0.3:
        return damage_bytes(raw, draw)
    document = json.loads(raw)
    holes: list[str] = []
    for _ in range(draw.choice((1, 1, 2, 4))):
        _change_node(document, draw, holes)
    text = json.dumps(document)
    for place, odd in enumerate(holes):
        text = text.replace(f'"hole {place}"', odd)
    return text.encode("utf-8", "surrogatepass")


def damage_json_lines(raw: bytes, draw: Random) -> bytes:
    lines = raw.splitlines()
    place = draw.randrange(len(lines))
    lines[place] = damage_json(lines[place], draw).replace(b"\n", b" ")
    return b"\n".join(lines) + b"\n"


def _change_node(document: Any, draw: Random, holes: list[str]) -> None:  # noqa: ANN401 - JSON
    """Change one value somewhere; what JSON cannot hold becomes a hole that is filled in the text."""
    holder = _choose_holder(document, draw)
    if not holder:
        return
    key = draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))
    match draw.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw.choice(("", "\u202e", f"{key} ", str(key).upper(), "id", "version"))] = holder[key]
        case 2:
            holder[key] = [holder[key]]
        case 3 if isinstance(holder, list):
            holder += [holder[key]] * draw.choice((1, 50))
        case 4 if type(holder[key]) in (int, float):
            holder[key] = holder[key] * draw.choice((-1, 0, 1e-9, 0.5, 7, 1e6, 1e12))
        case _:
            holder[key] = f"hole {len(holes)}"
            holes.append(draw.choice(ODD_JSON))


def _choose_holder(document: Any, draw: Random) -> Any:  # noqa: ANN401 - JSON
    """Return an object or a list somewhere in a document, the deeper ones as likely as the others."""
    holders = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list) and node:
            holders.append(node)
            waiting += node.values() if isinstance(node, dict) else node
    return draw.choice(holders) if holders else None


# SQLite


def damage_database(raw: bytes, draw: Random) -> bytes:
    """Return a database with rows that GPU Desk did not write, or its damaged bytes."""
    if draw.random() < 0.5:
        return damage_bytes(raw, draw)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # In memory there are no files next to it: the two bytes that say how it is written have to.
        connection.deserialize(raw[:18] + b"\x01\x01" + raw[20:])
        connection.execute("PRAGMA foreign_keys = OFF")
        for _ in range(draw.choice((1, 1, 3, 10))):
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            with suppress(sqlite3.Error):
                _change_rows(connection, draw.choice(tables)[0], draw)
        return connection.serialize()


def _change_rows(connection: sqlite3.Connection, table: str, draw: Random) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column, at = draw.choice(columns), draw.randrange(100)
    one = (
        f"WHERE rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {at}% (SELECT count(*) FROM {table}))"
    )
    if draw.random() < 0.3:
        one = ""
    match draw.randrange(8):
        case 0:
            connection.execute(f"DELETE FROM {table} {one}")
        case 1:
            connection.execute(f"PRAGMA user_version = {draw.choice((0, 1, 2, 4, -1, 99))}")
        case 2:
            connection.execute(f"UPDATE {table} SET {column} = substr({column}, 1, length({column}) / 2) {one}")
        case 3:
            other = draw.choice(columns)
            connection.execute(f"UPDATE {table} SET {column} = (SELECT {other} FROM {table} LIMIT 1) {one}")
        case 4 if draw.random() < 0.3:
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO {column}_of_old")
        case 5 if draw.random() < 0.3:
            connection.execute(f"DROP TABLE {table}")
        case _:
            connection.execute(f"UPDATE {table} SET {column} = ? {one}", (draw.choice(ODD_STORED),))
