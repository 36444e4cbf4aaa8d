"""Notes on the watch list in the user's file: the life of facts, though they are none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.database import CatalogFileError
from gpudesk.catalog.user_store.migrations import USER_VERSION, migrate, read_version
from gpudesk.catalog.user_store.rows import WATCH_TABLE, RowError, decode_rows, encode_row
from gpudesk.catalog.user_store.user_file import ChangedElsewhereError, UserFile, list_backups, restore_backup
from gpudesk.domain.reference_data import WatchNote
from gpudesk.domain.user_facts import BackupReason, FactEdit
from gpudesk.text.messages import InputError, message
from tests.unit.catalog.user_samples import ALL, RENT, hold_read_lock, step, write_version

GAP = WatchNote("W002-01", 9.5, "2026-10-02", "Eigene Messung", "zweimal gelesen")
LATER = WatchNote("W002-01", 8, "2026-11", "A page")
REFERENCE = WatchNote("W002-03", True, "2026-11-20", "Pressemitteilung")


def note(*watched: WatchNote, unwatched: tuple[WatchNote, ...] = ()) -> FactEdit:
    return FactEdit(message("own.step.add", "Add {name}", name="a test"), unwatched=unwatched, watched=watched)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "catalog.sqlite"


@pytest.fixture
def file(path: Path) -> Iterator[UserFile]:
    with UserFile.open(path) as file:
        yield file


def _read(path: Path) -> tuple[WatchNote, ...]:
    with UserFile.open(path) as file:
        return file.watched


def test_notes_come_back_as_they_were_and_are_no_facts(path: Path, file: UserFile) -> None:
    assert len(file.apply(note(GAP, REFERENCE))) == 0
    assert file.watched == _read(path) == (GAP, REFERENCE)
    assert [type(each.value) for each in _read(path)] == [float, bool]


def test_step_of_facts_and_notes_is_whole_and_can_be_turned_round(path: Path, file: UserFile) -> None:
    both = FactEdit(message("own.step.add", "Add {name}", name="both"), after=ALL, watched=(GAP,))
    assert set(file.apply(both)) == set(ALL)
    assert file.watched == (GAP,)
    assert len(file.apply(both.invert())) == 0
    assert file.watched == _read(path) == ()


def test_unstorable_note_refuses_its_whole_step(path: Path, file: UserFile) -> None:
    endless = WatchNote("W002-01", float("inf"), "2026-10", "A test")
    with pytest.raises(InputError) as refused:
        file.apply(FactEdit(message("own.step.add", "Add {name}", name="x"), after=ALL, watched=(endless,)))
    assert refused.value.where == "value"
    assert (len(file.facts), file.watched) == (0, ())


def test_changed_note_keeps_its_place(path: Path, file: UserFile) -> None:
    file.apply(note(GAP, REFERENCE))
    file.apply(note(LATER, unwatched=(GAP,)))
    assert file.watched == _read(path) == (LATER, REFERENCE)


def test_note_that_another_process_changed_is_not_written_over(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    with UserFile.open(path) as other:
        other.apply(note(LATER, unwatched=(GAP,)))
        assert file.changed_elsewhere
        with pytest.raises(ChangedElsewhereError):
            file.apply(note(unwatched=(GAP,)))
    file.reload()
    assert file.watched == (LATER,)


def test_step_on_facts_reads_the_notes_of_another_process(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    with UserFile.open(path) as other:
        other.apply(note(REFERENCE))
    file.apply(step(before=(RENT,)))
    assert file.watched == (REFERENCE,)


def test_notes_stay_in_the_journal_during_a_read(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    with hold_read_lock(path):
        file.apply(note(REFERENCE))
        assert _read(path) == (GAP, REFERENCE)


def test_removed_file_is_recreated_with_its_notes(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    path.unlink()
    with pytest.raises(CatalogFileError):
        file.apply(note(REFERENCE))
    file.write_anew()
    assert file.watched == _read(path) == (GAP,)


def test_read_only_file_refuses_notes_with_the_reason(
    path: Path, file: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.apply(note(GAP))
    monkeypatch.setattr("gpudesk.catalog.user_store.user_file.can_write", lambda _: False)
    with pytest.raises(CatalogFileError) as refused:
        file.apply(note(REFERENCE))
    assert refused.value.problem.id == "own.file.read_only"
    assert file.watched == (GAP,)


# Backups and versions


def test_notes_alone_are_worth_a_backup_and_come_back_with_it(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    assert list_backups(file.backups_folder) == ()
    file.apply(note(unwatched=(GAP,)))
    (backup,) = list_backups(file.backups_folder)
    assert (backup.reason, backup.facts) == (BackupReason.DAY, 0)
    file.close()
    restore_backup(path, backup.path)
    assert _read(path) == (GAP,)


@pytest.mark.parametrize("version", range(1, USER_VERSION))
def test_file_of_a_former_version_gets_its_first_note_after_a_backup(path: Path, version: int) -> None:
    path.parent.mkdir()
    write_version(path, version, step(*ALL))
    with UserFile.open(path) as file:
        assert file.watched == ()
        file.apply(note(GAP))
        assert set(file.facts) == set(ALL)
        (backup,) = list_backups(file.backups_folder)
    assert (backup.version, backup.reason, backup.facts) == (version, BackupReason.MIGRATION, len(ALL))
    with closing(sqlite3.connect(path)) as connection:
        assert read_version(connection) == USER_VERSION
    assert _read(path) == (GAP,)


def test_backup_of_a_former_version_is_restored_without_notes(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    older = path.parent / "catalog-20260101T100000000Z-v2-day.sqlite"
    write_version(older, 2, step(*ALL))
    assert set(restore_backup(path, older)) == set(ALL)
    assert _read(path) == ()


def test_file_of_a_newer_version_is_refused(path: Path, file: UserFile) -> None:
    file.apply(note(GAP))
    file.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {USER_VERSION + 1}")
    with pytest.raises(CatalogFileError) as refused:
        UserFile.open(path)
    assert refused.value.problem.id == "own.file.newer"


# Rows


@given(
    st.builds(
        WatchNote,
        st.text(max_size=8),
        st.booleans() | st.integers() | st.floats() | st.just(10**400),
        st.text(max_size=8),
        st.text(st.characters(codec=None), max_size=8),
        st.none() | st.text(max_size=8),
    )
)
def test_note_survives_a_round_trip_or_names_the_invalid_field(note: WatchNote) -> None:
    refused_at: str | None = None
    notes: list[WatchNote] = []
    try:
        notes = _through_a_file(note)
    except InputError as error:
        refused_at = error.where
    assert notes == [note] or refused_at in {field.name for field in fields(note)}
    # Equal is not enough: 1, 1.0 and True are.
    assert [repr(each.value) for each in notes] in ([], [repr(note.value)])


def _through_a_file(note: WatchNote) -> list[WatchNote]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        connection.execute(WATCH_TABLE.insert, encode_row(WATCH_TABLE, note))
        return decode_rows(WATCH_TABLE, connection.execute(WATCH_TABLE.select).fetchall())


@pytest.mark.parametrize("stored", ['"nine"', "null", "[9]", "NaN", "", 9])
def test_row_of_invalid_type_is_reported(stored: object) -> None:
    with pytest.raises(RowError):
        decode_rows(WATCH_TABLE, [("W002-01", stored, "2026-10", "A test", None)])


def test_every_field_of_a_note_has_a_column() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(watch)")]
    assert columns == ["position", *WATCH_TABLE.columns]
