"""Ended by the hardest signal at any moment: the file is whole, and each step whole or absent."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gpudesk.catalog.user_store.file_system import NEWEST_BACKUPS
from gpudesk.catalog.user_store.migrations import USER_VERSION, read_version
from gpudesk.catalog.user_store.user_file import UserFile, list_backups
from gpudesk.domain.claim import Source
from gpudesk.domain.user_facts import UserFacts
from tests.unit.catalog import user_file_process
from tests.unit.catalog.processes import KILLS, draw_moments, kill, start
from tests.unit.catalog.user_samples import QUOTE, numbered, step, write_version


def _facts(path: Path) -> UserFacts:
    """Read and check the file as a program does that begins after the crash, and write to it."""
    with UserFile.open(path) as file:
        facts = file.facts
        if path.exists():
            file.apply(step(QUOTE))
            file.apply(step(before=(QUOTE,)))
    return facts


def _steps(facts: UserFacts) -> set[int]:
    """Return which numbered steps are there, each of which must be whole."""
    numbers = {int(fact.id.removeprefix("own-")) for fact in facts if isinstance(fact, Source)}
    expected = [fact for number in numbers for fact in _step(number)]
    assert set(facts) == set(expected)
    return numbers


def _step(number: int) -> tuple[object, ...]:
    return numbered(number, claims=30 if _is_large(number) else 4).after


def _is_large(number: int) -> bool:
    return number % 7 == 0


def test_killed_at_any_moment_of_writing_each_step_is_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "new" / "catalog.sqlite"
    moments = draw_moments(5)
    step_count = 0
    for number in range(max(KILLS, 200)):
        # The machine decides how much is written in a moment.
        if number >= max(KILLS, 20) and step_count > 40:
            break
        reports = kill(user_file_process.write, path, moments.uniform(0, 0.12 + number / 400))
        numbers = _steps(_facts(path))
        # All that was said to be written is, and at most the one step more that no one was told of.
        last = max((line["done"] for line in reports), default=step_count - 1)
        assert numbers in (set(range(last + 1)), set(range(last + 2)))
        step_count = len(numbers)
    assert step_count > 40
    with UserFile.open(path) as file:
        # A kill between a new backup and the removal of the oldest leaves one more, until the next backup.
        file.apply(numbered(step_count, claims=30))
        backups = list_backups(file.backups_folder)
    assert NEWEST_BACKUPS <= len(backups) <= NEWEST_BACKUPS + 1, "the first of the day stays too"
    assert all(backup.problem is None for backup in backups)


def test_killed_while_the_file_is_begun_there_is_none_or_a_whole_one(tmp_path: Path) -> None:
    moments = draw_moments(6)
    whole_files = 0
    for number in range(max(KILLS, 200)):
        if number >= max(KILLS, 12) and whole_files:
            break
        path = tmp_path / str(number) / "catalog.sqlite"
        kill(user_file_process.change, path, moments.uniform(0, 0.02 + number / 1000))
        assert set(_facts(path)) in (set(), set(numbered(1).after))
        whole_files += path.exists()
    assert whole_files > 0


@pytest.fixture
def older(tmp_path: Path) -> Path:
    path = tmp_path / "older.sqlite"
    write_version(path, 1, numbered(0, claims=3000))
    return path


def test_killed_at_any_moment_of_a_migration_the_file_is_old_or_new(older: Path, tmp_path: Path) -> None:
    moments = draw_moments(7)
    facts = set(numbered(0, claims=3000).after)
    for number in range(max(KILLS, 12)):
        path = tmp_path / str(number) / "catalog.sqlite"
        path.parent.mkdir()
        shutil.copy(older, path)
        kill(user_file_process.change, path, moments.uniform(0.02, 0.1))
        with UserFile.open(path) as file:
            assert set(file.facts) in (facts, facts | set(numbered(1).after))
            with closing(sqlite3.connect(path)) as connection:
                version = read_version(connection)
            # Each step is whole; between two of them the file is in the version of the first.
            assert 1 <= version <= USER_VERSION
            copies = list_backups(file.backups_folder)
        assert all(copy.facts == len(facts) for copy in copies)
        assert version == 1 or copies != ()


def test_killed_in_the_middle_of_the_last_step_the_file_is_as_it_was_before_it(older: Path) -> None:
    process = start("die_in_a_migration", older)
    process.communicate()
    assert process.returncode == -9
    with closing(sqlite3.connect(older)) as connection:
        assert read_version(connection) == USER_VERSION - 1
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'system'").fetchone() == (0,)
    assert set(_facts(older)) == set(numbered(0, claims=3000).after)


def test_killed_at_any_moment_of_a_restore_the_file_is_one_or_the_other(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    copy_path = tmp_path / "kept"
    copy_path.mkdir()
    states = [numbered(number, claims=500).after for number in (1, 2)]
    for number, facts in enumerate(states):
        write_version(copy_path / f"catalog-2026070{number + 1}T100000000Z-v2-edit.sqlite", USER_VERSION, step(*facts))
    moments = draw_moments(8)
    restored: set[int] = set()
    for number in range(max(KILLS, 200)):
        if number >= max(KILLS, 12) and len(restored) == len(states):
            break
        reports = kill(user_file_process.restore, path, moments.uniform(0, 0.1 + number / 100))
        restored |= {line["restored"] for line in reports}
        assert set(_facts(path)) in (set(), *map(set, states))
    assert len(restored) == len(states)
