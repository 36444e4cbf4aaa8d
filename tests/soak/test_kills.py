"""Killed at any moment of edits, imports and exports, the program loses a second of edits at most (`make soak`).

`SOAK_KILLS` takes another number of kills of each; `tests/unit/catalog/test_user_file_kills.py` heeds it too, where
facts are written, migrated and restored.
"""

from __future__ import annotations

import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from gpudesk.catalog.user_store.user_file import UserFile, list_backups
from gpudesk.desktop.session.document import list_recovered
from gpudesk.desktop.session.scenario_edits import read_load_value
from gpudesk.documents.scenario_file import read_scenario, read_template, write_scenario
from gpudesk.domain.claim import Source
from gpudesk.domain.user_facts import UserClaim, UserModel, UserPrice
from tests.soak.victims import DOCUMENT, EXPORTS, IMPORTED_FACTS, edit_at_window, export_all, import_files
from tests.unit.catalog.processes import KILLS, kill
from tests.unit.catalog.user_samples import numbered

ROUNDS = KILLS or 50
#: Seconds of edits that may be lost.
MOST_LOST_S = 1.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def _check_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.usefixtures("qapp")
def test_a_kill_loses_at_most_a_second_of_edits(home: Path) -> None:
    moments, document = Random(), home.parent / DOCUMENT
    edited = 0
    for _ in range(ROUNDS):
        write_scenario(read_template("70b-chat-on-four"), document)
        edits = kill(edit_at_window, home, moments.uniform(0, 3), lines=moments.choice((0, 1, 1, 1)))
        edited += bool(edits)
        recovered = list_recovered(home / "recovery")
        loads = [read_load_value(each.scenario.workload.load) for each in recovered]
        last = max(read_load_value(read_scenario(document).workload.load), *loads, 0)
        lost = [edit["at"] for edit in edits if edit["load"] > last]
        assert not lost or edits[-1]["at"] - lost[0] <= MOST_LOST_S, (edits[-1], last)
        assert list((home / "recovery").glob("*.unreadable")) == []
        for each in recovered:
            each.file.unlink()
    assert edited > ROUNDS / 4


def test_each_import_is_whole_or_absent(home: Path) -> None:
    moments, path = Random(), home / "catalog.sqlite"
    imported = 0
    for _ in range(ROUNDS):
        lines = kill(import_files, home, moments.uniform(0, 1), lines=moments.randrange(3))
        last = max((line["done"] for line in lines), default=imported - 1)
        if path.exists():
            _check_database(path)
        with UserFile.open(path) as file:
            sources = {fact.id: fact.title.partition("-")[0] for fact in file.facts if isinstance(fact, Source)}
            facts = Counter(fact.source for fact in file.facts if isinstance(fact, UserPrice | UserClaim))
            models = sum(isinstance(fact, UserModel) for fact in file.facts)
        # All that were said to be imported are, and at most the one more that no one was told of.
        assert last + 1 <= len(sources) <= last + 2
        assert facts == {source: IMPORTED_FACTS[kind] for source, kind in sources.items()}
        assert models == list(sources.values()).count("model")
        imported = len(sources)
    assert imported > ROUNDS / 10
    with UserFile.open(path) as file:
        assert all(backup.problem is None for backup in list_backups(file.backups_folder))


def test_killed_export_leaves_the_former_file_or_the_whole(home: Path) -> None:
    with UserFile.open(home / "catalog.sqlite") as file:
        file.apply(numbered(1))
    facts = (home / "catalog.sqlite").read_bytes()
    kill(export_all, home, 0, lines=len(EXPORTS))
    whole = {name: (home.parent / name).read_bytes() for name in EXPORTS}
    moments, export_count = Random(), 0
    for _ in range(ROUNDS):
        for name in EXPORTS:
            (home.parent / name).write_bytes(b"before")
        export_count += len(kill(export_all, home, moments.uniform(0, 1), lines=moments.randrange(3)))
        for name, contents in whole.items():
            target = home.parent / name
            if target.read_bytes() == b"before":
                continue
            # Workbooks and PDFs say when they were made.
            if name.endswith(".xlsx"):
                assert zipfile.ZipFile(target).testzip() is None
            elif name.endswith(".pdf"):
                assert target.read_bytes().rstrip().endswith(b"%%EOF")
            else:
                assert target.read_bytes() == contents
    assert export_count > ROUNDS / 10
    assert (home / "catalog.sqlite").read_bytes() == facts
