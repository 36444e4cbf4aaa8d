"""What is in the way of the user's file: with real files, told by what it is, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk.catalog.database import CatalogBugError, CatalogFileError
from gpudesk.catalog.user_store import connection as connection_module
from gpudesk.catalog.user_store.file_system import set_aside
from gpudesk.catalog.user_store.migrations import USER_VERSION
from gpudesk.catalog.user_store.rows import RowChange
from gpudesk.catalog.user_store.user_file import ChangedElsewhereError, UserFile, list_backups, restore_backup
from gpudesk.domain.user_facts import TrustedSigner, UserClaim, UserPrice
from gpudesk.text.messages import format_input_error, format_message
from tests.unit.catalog.processes import can_mount, own_mounts, run, start
from tests.unit.catalog.user_samples import ALL, hold_read_lock, numbered, step

mounts = pytest.mark.skipif(not can_mount(), reason="this system lets nobody mount")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.sqlite"
    with UserFile.open(path) as file:
        file.apply(step(*ALL))
        file.apply(numbered(1, claims=20))
    return path


FACTS = len(ALL) + len(numbered(1, claims=20).after)


def _facts(path: Path) -> int:
    with UserFile.open(path) as file:
        return len(file.facts)


# What lies there is not a file of GPU Desk


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _cut_in_the_header(path: Path) -> None:
    os.truncate(path, 50)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _text(path: Path) -> None:
    path.write_text("id,name\nmi325x,Instinct MI325X\n" * 20)


def _other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmark (url TEXT)")


def _newer(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[60:64] = struct.pack(">I", USER_VERSION + 1)
    path.write_bytes(content)


def _bad_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x5a" * (len(content) - 4096)
    path.write_bytes(content)


def _no_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE price")


def _row_of_another_hand(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE claim SET kind = 'gossip'")
        connection.commit()


def _no_unicode(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE source SET title = CAST(x'fffe' AS TEXT)")
        connection.commit()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link_in_a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _link_to_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "disk that is not there" / path.name)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_cut, "own.file.cut"),
        (_cut_in_the_header, "own.file.cut"),
        (_empty, "own.file.cut"),
        (_text, "own.file.foreign"),
        (_other_database, "own.file.foreign"),
        (_newer, "own.file.newer"),
        (_bad_pages, "own.file.damaged"),
        (_no_table, "own.file.damaged"),
        (_folder, "own.file.folder"),
        (_pipe, "own.file.no_file"),
        (_link_in_a_circle, "own.file.no_access"),
        (_link_to_nowhere, "own.file.link"),
    ],
)
def test_unusable_file_is_reported_and_not_modified(path: Path, spoil: Callable[[Path], None], expected: str) -> None:
    spoil(path)
    before = _content(path)
    with pytest.raises(CatalogFileError) as caught:
        UserFile.open(path)
    assert caught.value.problem.id == expected
    assert format_input_error(caught.value).startswith(f"{path}: ")
    assert _content(path) == before
    assert not path.with_name(f"{path.name}-wal").exists()


def test_shipped_catalog_in_its_place_is_foreign(path: Path, catalog_path: Path) -> None:
    shutil.copy(catalog_path, path)
    with pytest.raises(CatalogFileError) as caught:
        UserFile.open(path)
    assert caught.value.problem.id == "own.file.foreign"


def test_damaged_file_with_a_journal_is_not_modified(path: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with UserFile.open(path) as file:
        with hold_read_lock(path):
            file.apply(numbered(2))
        for each in path.parent.glob("catalog.sqlite*"):
            shutil.copy(each, left)
    assert (left / "catalog.sqlite-wal").stat().st_size > 0
    copy = left / path.name
    _bad_pages(copy)
    before = {each.name: each.read_bytes() for each in left.iterdir() if not each.name.endswith("-shm")}
    with pytest.raises(CatalogFileError) as caught:
        UserFile.open(copy)
    assert caught.value.problem.id == "own.file.damaged"
    assert {each.name: each.read_bytes() for each in left.iterdir() if not each.name.endswith("-shm")} == before


def test_parent_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a folder")
    with pytest.raises(CatalogFileError) as caught:
        UserFile.open(tmp_path / "home" / "catalog.sqlite")
    assert caught.value.problem.id == "own.file.no_access"


def test_newer_version_in_the_journal_is_reported(path: Path) -> None:
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
        assert path.read_bytes()[60:64] == struct.pack(">I", USER_VERSION)
        with pytest.raises(CatalogFileError) as caught:
            UserFile.open(path)
    assert caught.value.problem.id == "own.file.newer"


def test_broken_file_is_set_aside_and_a_new_one_begun(path: Path) -> None:
    _bad_pages(path)
    broken = path.read_bytes()
    path.with_name(f"{path.name}-wal").write_bytes(b"changes")
    aside = set_aside(path)
    assert aside.name.startswith("catalog.sqlite.broken-")
    assert aside.read_bytes() == broken
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"changes"
    with UserFile.open(path) as file:
        assert len(file.facts) == 0
        file.apply(numbered(1))
    assert _facts(path) == len(numbered(1).after)
    assert set_aside(path) != aside


@pytest.mark.parametrize(
    ("spoil", "table", "reason"),
    [
        (_row_of_another_hand, "claim", "'gossip' is no kind of a claim"),
        (_no_unicode, "source", "its text is not UTF-8"),
    ],
)
def test_rows_that_cannot_be_used_are_set_aside_and_named(
    path: Path, spoil: Callable[[Path], None], table: str, reason: str
) -> None:
    spoil(path)
    before = _content(path)
    with UserFile.open(path) as file:
        damaged = [row for row in file.unreadable if row.table == table and row.reason == reason]
        assert len(damaged) > 1
        assert reason in format_message(damaged[0].describe())
        assert len(file.facts) + len(file.unreadable) == FACTS
        assert _content(path) == before
        again = numbered(1, claims=20)
        file.apply(replace(again, before=tuple(fact for fact in again.after if fact in set(file.facts))))
    with UserFile.open(path) as file:
        assert set(numbered(1, claims=20).after) <= set(file.facts), "stated again, they replace what was set aside"


def test_figures_without_their_source_are_set_aside(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE source SET id = 'own-qvote' WHERE id = 'own-quote'")
        connection.commit()
    with UserFile.open(path) as file:
        assert {row.reason for row in file.unreadable} == {"its source 'own-quote' is missing"}
        named = {fact.source for fact in file.facts if isinstance(fact, UserClaim | UserPrice)}
        assert "own-quote" not in named
        assert named


@pytest.mark.parametrize("version", range(USER_VERSION))
def test_damaged_version_costs_nothing(path: Path, version: int) -> None:
    with UserFile.open(path) as file:
        file.trust(TrustedSigner("k" * 64, "A colleague", "2026-11-20"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with UserFile.open(path) as file:
        assert len(file.facts) == FACTS
        assert len(file.signers()) == 1
        file.apply(numbered(2))
    assert _facts(path) == FACTS + len(numbered(2).after)


@pytest.mark.parametrize(
    "spoil", [_cut, _empty, _text, _other_database, _newer, _bad_pages, _no_table, _no_unicode, _folder, _pipe]
)
def test_backup_replaces_any_file(path: Path, spoil: Callable[[Path], None]) -> None:
    (backup,) = list_backups(path.parent / "backups")
    spoil(path)
    assert set(restore_backup(path, backup.path)) == set(ALL)
    assert _facts(path) == len(ALL)


def test_backup_replaces_unwritable_tables(path: Path) -> None:
    (backup,) = list_backups(path.parent / "backups")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER barred BEFORE INSERT ON source BEGIN SELECT RAISE(ABORT, 'no'); END")
    assert set(restore_backup(path, backup.path)) == set(ALL)


@pytest.mark.parametrize("spoil", [_cut, _text, _bad_pages])
def test_backup_replaces_a_broken_file_and_keeps_it(path: Path, spoil: Callable[[Path], None]) -> None:
    (backup,) = list_backups(path.parent / "backups")
    spoil(path)
    broken = path.read_bytes()
    assert set(restore_backup(path, backup.path)) == set(ALL)
    (aside,) = path.parent.glob("catalog.sqlite.broken-*")
    assert aside.read_bytes() == broken
    assert _facts(path) == len(ALL)


# While it is open


def test_removed_file_is_not_recreated_silently(path: Path) -> None:
    with UserFile.open(path) as file:
        file.apply(numbered(2))
        facts = file.facts
        copy_path = path.with_name("kept")
        shutil.copy(path, copy_path)
        path.unlink()
        assert file.changed_elsewhere
        with pytest.raises(CatalogFileError) as writing:
            file.apply(numbered(3))
        with pytest.raises(CatalogFileError) as reading:
            file.reload()
        assert {writing.value.problem.id, reading.value.problem.id} == {"own.file.removed"}
        assert file.facts is facts
        assert not path.exists()
        path.write_bytes(copy_path.read_bytes())
        file.reload()
        file.apply(numbered(3))
    assert _facts(path) == len(file.facts)


def test_removed_file_is_rewritten_with_all_facts(path: Path) -> None:
    signer = TrustedSigner("k" * 64, "A colleague", "2026-11-20")
    with UserFile.open(path) as file:
        file.apply(numbered(2))
        file.trust(signer)
        facts = dict(file.facts.facts)
        assert dict(file.write_anew().facts) == facts, "while the file is there, nothing is to be done"
        path.unlink()
        path.with_name(f"{path.name}-wal").write_bytes(b"changes of the file that is gone")
        assert file.removed
        assert dict(file.write_anew().facts) == facts
        assert path.is_file()
        file.apply(numbered(3))
        facts_before = dict(file.facts.facts)
    with UserFile.open(path) as file:
        assert dict(file.facts.facts) == facts_before
        assert file.signers() == (signer,)
    assert not list(path.parent.glob("*.new*"))


def test_file_that_another_program_made_meanwhile_is_not_written_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = path.with_name("other.sqlite")
    with UserFile.open(other) as file:
        file.apply(numbered(7))
    with UserFile.open(path) as file:
        facts = file.facts
        path.unlink()

        def both_at_once(fresh: Path, name: Path) -> bool:
            assert fresh.exists()
            other.rename(name)
            return False

        monkeypatch.setattr("gpudesk.catalog.user_store.file_system._claim_name", both_at_once)
        with pytest.raises(ChangedElsewhereError):
            file.write_anew()
        assert file.facts is facts, "what was read stays until it is read again"
    assert _facts(path) == len(numbered(7).after)


def test_folder_that_refuses_leaves_the_facts_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with UserFile.open(path) as file:
        facts = file.facts
        path.unlink()
        monkeypatch.setattr("gpudesk.catalog.user_store.user_file.can_write", lambda _path: False)
        with pytest.raises(CatalogFileError) as caught:
            file.write_anew()
        assert caught.value.problem.id == "own.file.read_only"
        assert file.facts is facts
        assert not path.exists()


def test_backup_can_be_restored_where_the_file_was_removed(path: Path) -> None:
    (backup,) = list_backups(path.parent / "backups")
    with UserFile.open(path) as file:
        path.unlink()
        assert set(restore_backup(path, backup.path)) == set(ALL)
        assert set(file.reload()) == set(ALL)


def test_replaced_file_is_taken_up(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with UserFile.open(other) as file:
        file.apply(numbered(7))
    with UserFile.open(path) as file:
        file.apply(numbered(2))
        other.replace(path)
        assert file.changed_elsewhere
        with pytest.raises(ChangedElsewhereError):
            file.apply(step(before=numbered(2).after))
        assert set(file.reload()) == set(numbered(7).after)
        file.apply(numbered(8))
    assert _facts(path) == len(numbered(7).after) * 2


def test_overwritten_file_refuses_steps(path: Path) -> None:
    with UserFile.open(path) as file:
        file.apply(numbered(2))
        path.write_bytes(b"what somebody else keeps here\n" * 1000)
        before = dict(file.facts.facts)
        with pytest.raises(CatalogFileError) as caught:
            file.apply(numbered(3))
        assert caught.value.problem.id == "own.file.foreign"
        assert dict(file.facts.facts) == before
        assert path.read_bytes().startswith(b"what somebody else")


def test_link_to_nowhere_is_set_aside_and_a_new_file_begun(path: Path) -> None:
    _link_to_nowhere(path)
    aside = set_aside(path)
    assert aside.is_symlink()
    with UserFile.open(path) as file:
        file.apply(numbered(1))
    assert path.is_file()
    assert not path.is_symlink()


def test_journal_of_a_replaced_file_is_not_applied(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with UserFile.open(other) as file:
        file.apply(numbered(7))
    with UserFile.open(path) as file:
        file.apply(numbered(2))
        with hold_read_lock(path):
            file.apply(numbered(3))
        assert path.with_name(f"{path.name}-wal").stat().st_size > 0
        other.replace(path)
        assert set(file.reload()) == set(numbered(7).after)
        file.apply(numbered(8))
    with UserFile.open(path) as file:
        assert set(file.facts) == {*numbered(7).after, *numbered(8).after}
    assert len(list(path.parent.glob("catalog.sqlite.broken-*-wal"))) == 1


def test_statement_that_is_wrong_is_a_mistake_of_the_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(connection: sqlite3.Connection, _change: RowChange) -> None:
        connection.execute("DELETE nothing")

    monkeypatch.setattr("gpudesk.catalog.user_store.user_file.write_row_change", mistaken)
    with UserFile.open(path) as file, pytest.raises(CatalogBugError):
        file.apply(numbered(2))
    assert _facts(path) == FACTS


# Another program keeps it


@pytest.fixture
def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file, while another process keeps everybody from writing; patience is short."""
    monkeypatch.setattr(connection_module, "PATIENCE", 0.1)
    process = start("lock", path)
    assert process.stdout is not None
    assert process.stdout.readline() == '{"locked": true}\n'
    yield path
    process.communicate()


def test_locked_file_is_read_and_refuses_to_be_written(locked: Path) -> None:
    with UserFile.open(locked) as file:
        assert len(file.facts) == FACTS
        with pytest.raises(CatalogFileError) as caught:
            file.apply(numbered(2))
        assert caught.value.problem.id == "own.file.locked"
        assert len(file.facts) == FACTS
        assert not file.changed_elsewhere


def test_lock_that_is_let_go_is_waited_for(path: Path) -> None:
    process = start("lock", path)
    assert process.stdout is not None
    process.stdout.readline()
    with UserFile.open(path) as file:
        assert process.stdin is not None
        process.stdin.close()
        file.apply(numbered(2))
    process.wait()
    process.stdout.close()
    assert _facts(path) == FACTS + len(numbered(2).after)


# A disk without room, and places where nothing may be written


def _check_filled(path: Path, reports: list[dict[str, object]], expected: str) -> None:
    (full, small, large) = reports
    assert (full["problem"], full["again"]) == (expected, expected)
    assert (small["problem"], large["problem"]) == (None, None)


@mounts
def test_full_disk_leaves_whole_steps_and_room_lets_it_go_on(tmp_path: Path) -> None:
    """The folder is on a disk of its own, which ends with the process: it reads its file itself."""
    reports = run(
        "fill", tmp_path / "catalog.sqlite", within=own_mounts(f"mount -t tmpfs -o size=1600k none {tmp_path}")
    )
    _check_filled(tmp_path, reports, "own.file.full")


def test_file_that_may_not_grow_leaves_whole_steps(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    reports = run("fill_what_is_allowed", path)
    _check_filled(path, reports, "own.file.faulty")
    step_count = reports[0]["done"]
    assert _facts(path) == (step_count + 1) * len(numbered(0).after) + len(numbered(0, claims=30).after)


@mounts
def test_place_that_is_mounted_read_only_is_read(path: Path) -> None:
    folder = path.parent
    before = path.read_bytes()
    within = own_mounts(f"mount --bind {folder} {folder}", f"mount -o remount,bind,ro {folder}")
    assert run("look", path, within=within) == [{"facts": FACTS, "writable": False, "problem": "own.file.read_only"}]
    empty = folder / "other" / "catalog.sqlite"
    assert run("look", empty, within=within) == [{"facts": 0, "writable": False, "problem": "own.file.read_only"}]
    assert path.read_bytes() == before


@pytest.fixture
def shared() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "expected"),
    [
        (0o444, 0o555, {"facts": FACTS, "writable": False, "problem": "own.file.read_only"}),
        (0o444, 0o777, {"facts": FACTS, "writable": False, "problem": "own.file.read_only"}),
        (0o666, 0o555, {"facts": FACTS, "writable": False, "problem": "own.file.read_only"}),
        (0o000, 0o555, {"opening": "own.file.no_access"}),
        (0o444, 0o000, {"opening": "own.file.no_access"}),
    ],
)
def test_read_only_user_can_read(
    path: Path, shared: Path, file_mode: int, folder_mode: int, expected: dict[str, object]
) -> None:
    copy = Path(shutil.copy(path, shared / "catalog.sqlite"))
    copy.chmod(file_mode)
    shared.chmod(folder_mode)
    assert run("become_nobody", copy) == [expected]


def test_missing_permission_for_the_folder_is_reported(shared: Path) -> None:
    shared.chmod(0o555)
    assert run("become_nobody", shared / "new" / "catalog.sqlite") == [
        {"facts": 0, "writable": False, "problem": "own.file.read_only"}
    ]
