"""The user's file from the first fact on: whole steps, undone ones, other processes, links, signers."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk.catalog.database import CatalogFileError
from gpudesk.catalog.user_store.user_file import ChangedElsewhereError, UserFile
from gpudesk.domain.user_facts import FactEdit, TrustedSigner, UserFacts, UserPrice
from gpudesk.text.messages import InputError
from tests.unit.catalog.user_samples import (
    ALL,
    BANDWIDTH,
    CHOICE,
    PURCHASE,
    QUOTE,
    RENT,
    TEST,
    hold_read_lock,
    numbered,
    step,
)

SIGNER = TrustedSigner("ab" * 32, "A colleague", "2026-07-01")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be, in a folder that is not there yet."""
    return tmp_path / "new" / "catalog.sqlite"


@pytest.fixture
def file(path: Path) -> Iterator[UserFile]:
    """An open file without facts."""
    with UserFile.open(path) as file:
        yield file


def _read(path: Path) -> UserFacts:
    with UserFile.open(path) as file:
        return file.facts


def _changed(file: UserFile) -> bool:
    return file.changed_elsewhere


def test_opening_creates_no_files(path: Path) -> None:
    with UserFile.open(path) as file:
        assert len(file.facts) == 0
        assert file.writable
        assert not _changed(file)
    assert not path.parent.exists()


def test_first_step_makes_the_file_for_this_user_alone(path: Path, file: UserFile) -> None:
    assert set(file.apply(step(*ALL))) == set(ALL)
    assert path.parent.stat().st_mode & 0o077 == 0
    file.close()
    assert sorted(each.name for each in path.parent.iterdir()) == ["catalog.sqlite"]
    assert _read(path).facts == UserFacts.of(ALL).facts


def test_reading_again_leaves_the_file_as_it_is(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    file.close()
    before = path.read_bytes()
    assert set(_read(path)) == set(ALL)
    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["catalog.sqlite"]


def test_step_and_its_inverse_restore_the_state(path: Path, file: UserFile) -> None:
    before = file.apply(step(*ALL))
    cheaper = replace(RENT, usd=1.75)
    edit = step(cheaper, before=(RENT, BANDWIDTH, CHOICE))
    after = file.apply(edit)
    assert after.get("price", RENT.id) == cheaper
    assert after.get(*BANDWIDTH.key) is None
    assert _read(path).facts == after.facts
    assert file.apply(edit.invert()).facts == before.facts
    assert _read(path).facts == before.facts


def test_changed_fact_keeps_its_place_and_a_new_one_comes_last(path: Path, file: UserFile) -> None:
    prices = [replace(RENT, id=f"own-{name}") for name in ("c", "a", "b")]
    file.apply(step(QUOTE, *prices))
    file.apply(step(replace(prices[0], usd=9.0), before=(prices[0],)))
    file.apply(step(before=(prices[1],)))
    file.apply(step(prices[1]))
    for facts in (file.facts, _read(path)):
        ids = [fact.id for fact in facts if isinstance(fact, UserPrice)]
        assert ids == ["own-c", "own-b", "own-a"]


def test_facts_of_a_step_may_come_in_any_order(path: Path, file: UserFile) -> None:
    assert set(file.apply(step(*reversed(ALL)))) == set(ALL)
    assert len(file.apply(step(before=ALL))) == 0
    assert len(_read(path)) == 0


def test_step_of_nothing_writes_nothing(path: Path, file: UserFile) -> None:
    file.apply(step())
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("edit", "expected"),
    [(step(BANDWIDTH, RENT), "own.dangling_source"), (step(QUOTE, replace(RENT, note="a\0b")), "field.control")],
)
def test_step_that_cannot_be_kept_leaves_all_as_it_was(
    path: Path, file: UserFile, edit: FactEdit, expected: str
) -> None:
    before = file.apply(step(TEST))
    with pytest.raises(InputError) as caught:
        file.apply(edit)
    assert caught.value.problem.id == expected
    assert file.facts.facts == before.facts == _read(path).facts


def test_source_that_a_figure_rests_on_cannot_go_alone(path: Path, file: UserFile) -> None:
    before = file.apply(step(*ALL))
    with pytest.raises(InputError) as caught:
        file.apply(step(before=(TEST,)))
    assert caught.value.problem.id == "own.dangling_source"
    assert file.facts.facts == before.facts == _read(path).facts


# Two programs at once


@pytest.mark.parametrize(
    "edit",
    [
        step(replace(RENT, usd=1.0), before=(replace(RENT, usd=2.0),)),
        step(before=(replace(RENT, note="another"),)),
        step(replace(RENT, usd=1.0)),
        step(before=(replace(RENT, id="own-gone"),)),
        step(numbered(1).after[0], replace(RENT, usd=1.0)),
    ],
)
def test_step_with_a_dangling_reference_is_refused_whole(path: Path, file: UserFile, edit: FactEdit) -> None:
    before = file.apply(step(*ALL))
    with pytest.raises(ChangedElsewhereError):
        file.apply(edit)
    assert file.facts.facts == before.facts == _read(path).facts


def test_change_by_another_program_is_noticed_and_read(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    cheaper = replace(RENT, usd=1.75)
    with UserFile.open(path) as other:
        other.apply(step(cheaper, before=(RENT,)))
        assert not _changed(other)
    assert _changed(file)
    with pytest.raises(ChangedElsewhereError):
        file.apply(step(before=(RENT,)))
    assert file.facts.get("price", RENT.id) == RENT
    assert file.reload().get("price", RENT.id) == cheaper
    assert not _changed(file)
    assert file.apply(step(before=(cheaper,))).get("price", RENT.id) is None


def test_compatible_change_of_another_program_is_merged(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    with UserFile.open(path) as other:
        other.apply(numbered(1))
    file.apply(numbered(2))
    assert set(file.facts) == {*ALL, *numbered(1).after, *numbered(2).after}
    assert not _changed(file)


def test_file_that_another_program_begins_is_noticed(path: Path) -> None:
    with UserFile.open(path) as one, UserFile.open(path) as other:
        one.apply(numbered(1))
        assert _changed(other)
        other.apply(numbered(2))
        assert set(other.facts) == {*numbered(1).after, *numbered(2).after}


def test_read_only_file_reports_changes(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    file.close()
    with UserFile.open(path) as reader:
        assert not _changed(reader)
        file.apply(numbered(1))
        assert _changed(reader)
        reader.reload()
        assert not _changed(reader)
        assert len(reader.facts) == len(ALL) + len(numbered(1).after)


def test_journal_of_a_killed_program_is_read(path: Path, tmp_path: Path) -> None:
    """Copies taken while the file is open are what a crash leaves: a file, and changes next to it."""
    with UserFile.open(path) as file:
        file.apply(numbered(0))
        with hold_read_lock(path):
            file.apply(step(*ALL))
        left = tmp_path / "left"
        left.mkdir()
        for each in path.parent.glob("catalog.sqlite*"):
            (left / each.name).write_bytes(each.read_bytes())
    assert (left / "catalog.sqlite-wal").stat().st_size > 0
    with UserFile.open(left / path.name) as file:
        assert set(file.facts) == {*ALL, *numbered(0).after}
        file.apply(numbered(1))
    assert set(_read(left / path.name)) == {*ALL, *numbered(0).after, *numbered(1).after}


def test_changes_of_a_file_that_is_gone_are_not_taken_for_those_of_a_new_one(path: Path) -> None:
    beside = path.with_name(f"{path.name}-wal")
    with UserFile.open(path) as file:
        file.apply(numbered(0))
        with hold_read_lock(path):
            file.apply(step(*ALL))
        left = beside.read_bytes()
    path.unlink()
    beside.write_bytes(left)
    with UserFile.open(path) as file:
        assert len(file.facts) == 0
        file.apply(numbered(1))
    assert set(_read(path)) == set(numbered(1).after)
    (aside,) = path.parent.glob("*.broken-*-wal")
    assert aside.read_bytes() == left


def test_copy_of_the_open_user_file_is_complete(path: Path, tmp_path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(path.read_bytes())
    assert set(_read(copy)) == set(ALL)


def test_unfinished_journal_is_rolled_back(path: Path, file: UserFile) -> None:
    """Where changes cannot lie next to the file, SQLite writes into it, next to a journal of what was there."""
    file.apply(step(*ALL))
    file.close()
    program = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = DELETE')\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN')\n"
        "c.execute('DELETE FROM price')\n"
        "c.executemany('INSERT INTO source (id, title, publisher, kind) VALUES (?, ?, ?, ?)',"
        " [(f'x{i}', 'y' * 500, 'z', 'user') for i in range(500)])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0
    assert set(_read(path)) == set(ALL)


def test_threads_share_one_file(path: Path, file: UserFile) -> None:
    faults: list[Exception] = []

    def write(first: int) -> None:
        try:
            for number in range(first, first + 5):
                file.apply(numbered(number))
        except Exception as error:  # noqa: BLE001 - told by the test
            faults.append(error)

    threads = [threading.Thread(target=write, args=(100 * each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(file.facts) == 20 * len(numbered(0).after)
    assert _read(path).facts.keys() == file.facts.facts.keys()


# Links, signers, what a file may not do


def test_link_is_followed_to_where_the_file_lies(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere" / "facts.sqlite"
    link = tmp_path / "catalog.sqlite"
    link.symlink_to(place)
    place.parent.mkdir()
    with UserFile.open(link) as file:
        file.apply(step(*ALL))
    assert link.is_symlink()
    assert set(_read(place)) == set(_read(link)) == set(ALL)


def test_path_with_signs_that_mean_something_in_addresses(tmp_path: Path) -> None:
    path = tmp_path / "50% off? #1 ünï" / "catalog.sqlite"
    with UserFile.open(path) as file:
        file.apply(step(*ALL))
    assert set(_read(path)) == set(ALL)


def test_signers_are_trusted_until_they_are_not(path: Path, file: UserFile) -> None:
    file.trust(SIGNER)
    file.trust(replace(SIGNER, name="The colleague", trusted_on="2026-07-02"))
    with UserFile.open(path) as other:
        assert other.signers() == (TrustedSigner(SIGNER.key, "The colleague", "2026-07-02"),)
        other.distrust(SIGNER.key)
        other.distrust("unknown")
    assert _changed(file)
    file.reload()
    assert file.signers() == ()


def test_signer_with_a_name_that_cannot_be_kept_is_refused(path: Path, file: UserFile) -> None:
    with pytest.raises(InputError) as caught:
        file.trust(replace(SIGNER, name="half \udc00"))
    assert (caught.value.where, file.signers()) == ("name", ())


def test_unreadable_file_keeps_the_facts_in_memory(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    with UserFile.open(path) as reader:
        file.close()
        content = path.read_bytes()
        path.write_bytes(content[:5000])
        with pytest.raises(CatalogFileError):
            reader.reload()
        assert set(reader.facts) == set(ALL)
        assert _changed(reader)
        path.write_bytes(content)
        assert set(reader.reload()) == set(ALL)
        assert not _changed(reader)


def test_sql_in_a_name_is_a_name(path: Path, file: UserFile) -> None:
    name = "'); DROP TABLE price; --"
    file.apply(step(QUOTE, replace(RENT, id=name, provider=name), PURCHASE))
    assert _read(path).get("price", name) == replace(RENT, id=name, provider=name)


def test_newer_program_that_came_in_between_is_not_written_over(path: Path, file: UserFile) -> None:
    file.apply(step(*ALL))
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(CatalogFileError) as caught:
        file.apply(numbered(1))
    assert caught.value.problem.id == "own.file.newer"
    assert set(file.facts) == set(ALL)
