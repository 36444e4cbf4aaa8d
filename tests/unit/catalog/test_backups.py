"""Backups of the user's file: when they are made, how many stay, what the list says, and taking one back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpudesk.catalog.database import CatalogFileError
from gpudesk.catalog.user_store.file_system import DAILY_BACKUPS, NEWEST_BACKUPS, WEEKLY_BACKUPS
from gpudesk.catalog.user_store.migrations import USER_VERSION
from gpudesk.catalog.user_store.user_file import SMALL_STEP, UserFile, list_backups, restore_backup
from gpudesk.domain.user_facts import Backup, BackupReason, TrustedSigner
from tests.unit.catalog.user_samples import ALL, numbered, step, write_version

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is put on."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def next_day(self) -> None:
        self.now += timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> Iterator[UserFile]:
    with UserFile.open(tmp_path / "catalog.sqlite", clock) as file:
        file.apply(step(*ALL))
        yield file


def _backups(file: UserFile) -> tuple[Backup, ...]:
    return list_backups(file.backups_folder)


def test_first_change_of_a_day_is_backed_up_and_the_next_are_not(file: UserFile, clock: Clock) -> None:
    for number in range(3):
        file.apply(numbered(number))
    (first,) = _backups(file)
    assert (first.reason, first.time, first.facts, first.version) == (BackupReason.DAY, NOON, len(ALL), USER_VERSION)
    assert first.size_bytes == first.path.stat().st_size > 0
    clock.next_day()
    file.trust(TrustedSigner("ab", "A colleague", "2026-07-02"))
    file.apply(numbered(3))
    (second, _) = _backups(file)
    assert second.time == NOON + timedelta(days=1)
    assert second.facts == len(ALL) + 3 * len(numbered(0).after)


def test_file_without_facts_needs_no_backup(tmp_path: Path) -> None:
    with UserFile.open(tmp_path / "catalog.sqlite") as file:
        file.apply(numbered(1, claims=SMALL_STEP))
        assert _backups(file) == ()


def test_step_of_many_facts_is_backed_up_each_time(file: UserFile) -> None:
    file.apply(numbered(1, claims=SMALL_STEP // 2 - 1))
    assert [backup.reason for backup in _backups(file)] == [BackupReason.DAY]
    large = numbered(2, claims=SMALL_STEP // 2)
    file.apply(large)
    file.apply(large.invert())
    assert [backup.reason for backup in _backups(file)] == [BackupReason.EDIT, BackupReason.EDIT, BackupReason.DAY]


def test_recent_backups_and_other_files_are_kept(file: UserFile, clock: Clock) -> None:
    file.backups_folder.mkdir()
    others = ["notes.txt", "catalog-2020.sqlite", "catalog-99999999T999999999Z-v2-day.sqlite"]
    for name in others:
        (file.backups_folder / name).write_text("mine")
    for number in range(70):
        file.apply(numbered(number))
        clock.next_day()
    days = [(backup.time - NOON).days for backup in _backups(file)]
    # The first of July 2026 is a Wednesday: days 33 and 40 are Mondays.
    assert days == [69, 68, 67, 66, 65, 64, 63, 61, 54, 47, 40]
    assert len(days) <= DAILY_BACKUPS + WEEKLY_BACKUPS
    assert {path.name for path in file.backups_folder.iterdir()} >= set(others)


def test_many_large_steps_leave_the_state_before_each_day(file: UserFile, clock: Clock) -> None:
    for day in range(3):
        for number in range(2 * NEWEST_BACKUPS):
            file.apply(numbered(100 * day + number, claims=SMALL_STEP))
            clock.now += timedelta(minutes=1)
        clock.now = NOON + timedelta(days=day + 1)
    times = [backup.time for backup in _backups(file)]
    assert times[NEWEST_BACKUPS:] == [NOON + timedelta(days=day) for day in (2, 1, 0)]


def test_clock_that_was_put_back_does_not_cost_the_new_backup(file: UserFile, clock: Clock) -> None:
    for number in range(60):
        file.apply(numbered(number))
        clock.next_day()
    clock.now = NOON - timedelta(days=9)
    file.apply(numbered(60))
    assert _backups(file)[-1].time == clock.now


def test_backup_that_cannot_be_made_stops_the_step(file: UserFile) -> None:
    file.backups_folder.write_text("a file in its place")
    facts = file.facts
    with pytest.raises(CatalogFileError) as caught:
        file.apply(numbered(1))
    assert caught.value.path == file.backups_folder
    assert file.facts is facts
    with UserFile.open(file.path) as other:
        assert set(other.facts) == set(ALL)


def test_half_a_backup_of_a_killed_program_goes_in_time(file: UserFile) -> None:
    file.backups_folder.mkdir()
    old, young = (file.backups_folder / f"catalog-{name}.part" for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    file.apply(numbered(1))
    assert len(_backups(file)) == 1
    assert (old.exists(), young.exists()) == (False, True)


def test_no_folder_lists_nothing(tmp_path: Path) -> None:
    assert list_backups(tmp_path / "backups") == ()


# Taking one back


def test_restored_backup_has_all_facts_and_can_be_undone(file: UserFile) -> None:
    signer = TrustedSigner("ab", "A colleague", "2026-07-02")
    file.trust(signer)
    file.apply(numbered(1, claims=SMALL_STEP))
    file.distrust(signer.key)
    before = set(file.facts)
    (edit, _) = _backups(file)
    assert set(restore_backup(file.path, edit.path)) == set(ALL)
    assert file.changed_elsewhere
    assert set(file.reload()) == set(ALL)
    assert file.signers() == (signer,)
    (present, *_) = _backups(file)
    assert (present.reason, present.facts) == (BackupReason.RESTORE, len(before))
    restore_backup(file.path, present.path)
    assert set(file.reload()) == before
    assert file.signers() == ()


def test_oldest_of_all_can_be_restored_though_it_makes_room_for_the_backup_before(file: UserFile, clock: Clock) -> None:
    for number in range(60):
        file.apply(numbered(number))
        clock.next_day()
    oldest = _backups(file)[-1]
    facts = oldest.facts
    clock.now = datetime.now(UTC)
    assert len(restore_backup(file.path, oldest.path)) == facts


def test_backup_of_an_older_version_is_restored_in_the_newest(file: UserFile, tmp_path: Path) -> None:
    older = tmp_path / "catalog-20260101T100000000Z-v1-day.sqlite"
    write_version(older, 1, numbered(5))
    before = older.read_bytes()
    assert set(restore_backup(file.path, older)) == set(numbered(5).after)
    file.reload()
    file.trust(TrustedSigner("ab", "A colleague", "2026-07-02"))
    assert older.read_bytes() == before


def test_backup_is_restored_where_there_is_no_file(file: UserFile, tmp_path: Path) -> None:
    file.apply(numbered(1))
    (backup,) = _backups(file)
    path = tmp_path / "new" / "catalog.sqlite"
    restore_backup(path, backup.path)
    with UserFile.open(path) as restored:
        assert set(restored.facts) == set(ALL)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _scribbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x5a" * (len(content) - 4096)
    path.write_bytes(content)


def _text(path: Path) -> None:
    path.write_text("nothing")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_cut, "own.backup.cut"),
        (_scribbled, "own.backup.damaged"),
        (_text, "own.backup.foreign"),
        (_folder, "own.backup.foreign"),
        (Path.unlink, "own.backup.gone"),
    ],
)
def test_damaged_backup_is_listed_as_such_and_refused(
    file: UserFile, spoil: Callable[[Path], None], expected: str
) -> None:
    file.apply(numbered(1))
    (backup,) = _backups(file)
    spoil(backup.path)
    for listed in _backups(file):
        assert listed.problem is not None
        assert (listed.problem.id, listed.facts) == (expected, None)
    before = set(file.facts)
    with pytest.raises(CatalogFileError) as caught:
        restore_backup(file.path, backup.path)
    assert (caught.value.problem.id, caught.value.path) == (expected, backup.path)
    assert not file.changed_elsewhere
    assert set(file.reload()) == before
    assert len(_backups(file)) == backup.path.exists()
