"""Versions of the user's file: a small file of each older one opens, and becomes new at the first change."""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from catalog_build.schema import SHIPPED_METADATA
from gpudesk.catalog.user_store.migrations import USER_STEPS, USER_VERSION, migrate, read_version
from gpudesk.catalog.user_store.rows import SIGNER_TABLE, STORED_TABLES
from gpudesk.catalog.user_store.user_file import UserFile, list_backups
from gpudesk.domain.claim import Claim, Dispute, DocumentStatement, PriceRecord, Source
from gpudesk.domain.diffusion import DiffusionResult
from gpudesk.domain.user_facts import BackupReason, TrustedSigner
from tests.unit.catalog.user_samples import ALL, numbered, write_version

OLDER = Path(__file__).parents[2] / "data"


def _version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return read_version(connection)


def _schema(connection: sqlite3.Connection) -> dict[str, object]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return {name: _table(connection, name) for (name,) in names}


def _table(connection: sqlite3.Connection, name: str) -> tuple[object, ...]:
    columns = {
        # What must not be null, where it is not another name of the row's number; and the affinity of the type.
        (
            column,
            kind.replace("VARCHAR", "TEXT").replace("FLOAT", "REAL"),
            bool(full or (key and kind == "INTEGER")),
            key,
        )
        for _, column, kind, full, _, key in connection.execute(f"PRAGMA table_info({name})")
    }
    indexes = {
        (
            row[1] if row[3] == "c" else row[3],
            row[2],
            tuple(each[2] for each in connection.execute(f"PRAGMA index_info({row[1]})")),
        )
        for row in connection.execute(f"PRAGMA index_list({name})").fetchall()
    }
    references = connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
    (statement,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    return columns, indexes, references, "DEFERRABLE INITIALLY DEFERRED" in statement


def test_tables_have_the_fields_of_the_records_in_them() -> None:
    """What reads and writes rows takes the columns from the records."""
    tables = {table.name: table for table in (*STORED_TABLES, SIGNER_TABLE)}
    with closing(sqlite3.connect(":memory:")) as connection:
        for version in range(1, USER_VERSION + 1):
            migrate(connection, USER_STEPS[:version])
            assert _schema(connection).keys() == {name for name, table in tables.items() if table.since <= version}
        for name, table in tables.items():
            columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
            fields = {field.name: str(field.type) for field in dataclasses.fields(table.fact)}
            assert {column: not full for _, column, _, full, _, _ in columns if column != "position"} == {
                column: kind.endswith("| None") and (name, column) != ("preference", "value")
                for column, kind in fields.items()
            }
            assert set(table.key) <= fields.keys()


@pytest.mark.parametrize(
    ("table", "record"),
    [
        ("source", Source),
        ("claim", Claim),
        ("price", PriceRecord),
        ("diffusion_result", DiffusionResult),
        ("seed_claim", DocumentStatement),
        ("dispute", Dispute),
    ],
)
def test_shipped_tables_have_the_fields_of_the_records_in_them(table: str, record: type) -> None:
    derived = {"own", "statements", "things", "attributes", "provider_class", *(["unit"] if record is Claim else [])}
    named = {field.name for field in dataclasses.fields(record)} - derived
    beside = {"position", "thing", "attribute", "model"} - ({"attribute"} & named)
    assert {column.name for column in SHIPPED_METADATA.tables[table].columns} - beside == named


def test_there_is_a_file_of_every_older_version() -> None:
    assert {_version(path) for path in OLDER.glob("user-v*.sqlite")} == set(range(1, USER_VERSION))


@pytest.fixture(params=range(1, USER_VERSION))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a file that a former version of the program left."""
    version: int = request.param
    return Path(shutil.copy(OLDER / f"user-v{version}.sqlite", tmp_path / "catalog.sqlite"))


def test_older_file_is_read_whole_and_stays_as_it_is(older: Path) -> None:
    before = older.read_bytes()
    with UserFile.open(older) as file:
        assert set(file.facts) == set(ALL)
        assert file.signers() == ()
        assert file.watched == ()
    assert older.read_bytes() == before
    assert [path.name for path in older.parent.glob("catalog*")] == [older.name]


def test_older_file_becomes_new_at_the_first_change_after_a_backup(older: Path) -> None:
    former = _version(older)
    with UserFile.open(older) as file:
        file.apply(numbered(1))
        file.trust(TrustedSigner("ab" * 32, "A colleague", "2026-07-01"))
        assert set(file.facts) == {*ALL, *numbered(1).after}
        (backup,) = list_backups(file.backups_folder)
    assert _version(older) == USER_VERSION
    assert (backup.version, backup.reason, backup.facts) == (former, BackupReason.MIGRATION, len(ALL))
    with UserFile.open(older) as file:
        assert set(file.facts) == {*ALL, *numbered(1).after}
        assert [signer.name for signer in file.signers()] == ["A colleague"]


def test_older_file_ends_with_the_tables_of_a_new_one(older: Path) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        migrate(new)
        with closing(sqlite3.connect(older, isolation_level=None)) as connection:
            migrate(connection)
            assert _schema(connection) == _schema(new)


def test_older_file_in_a_read_only_place_is_read(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudesk.catalog.user_store.user_file.can_write", lambda _: False)
    with UserFile.open(older) as file:
        assert not file.writable
        assert set(file.facts) == set(ALL)


@pytest.mark.parametrize("broken", [("CREATE TABLE half (a)", "SELECT nothing FROM nowhere")])
def test_step_that_fails_leaves_the_version_before_it_whole(tmp_path: Path, broken: Sequence[str]) -> None:
    path = tmp_path / "catalog.sqlite"
    write_version(path, 1, numbered(1))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        before = _schema(connection)
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, (USER_STEPS[0], broken))
        assert (read_version(connection), _schema(connection)) == (1, before)


def test_two_processes_that_find_an_older_file_make_it_new_once(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    write_version(path, 1, numbered(1))
    with UserFile.open(path) as one, UserFile.open(path) as other:
        one.apply(numbered(2))
        other.apply(numbered(3))
        assert set(other.facts) == {*numbered(1).after, *numbered(2).after, *numbered(3).after}
        backups = list_backups(one.backups_folder)
    assert [backup.reason for backup in backups].count(BackupReason.MIGRATION) == 1
