"""Opening a catalog file: only a whole catalog of this version is read, and nothing is ever written."""

from __future__ import annotations

import random
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudesk.catalog.database import SCHEMA_VERSION, CatalogBugError, CatalogDatabase, CatalogFileError
from gpudesk.catalog.read import Catalog
from gpudesk.text.messages import format_message


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _cut_in_the_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("id,name\nmi325x,Instinct MI325X\n" * 20)


def _other_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.commit()
    connection.close()


def _with_version(path: Path, version: int) -> None:
    content = bytearray(path.read_bytes())
    content[60:64] = struct.pack(">I", version)
    path.write_bytes(content)


def _newer(path: Path) -> None:
    _with_version(path, SCHEMA_VERSION + 1)


def _older(path: Path) -> None:
    _with_version(path, SCHEMA_VERSION - 1)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (Path.unlink, "catalog.file.missing"),
        (_cut, "catalog.file.cut"),
        (_cut_in_the_header, "catalog.file.cut"),
        (_empty, "catalog.file.cut"),
        (_text, "catalog.file.foreign"),
        (_other_database, "catalog.file.foreign"),
        (_newer, "catalog.file.newer"),
        (_older, "catalog.file.older"),
        (_folder, "catalog.file.unreadable"),
    ],
)
def test_unusable_file_is_refused_with_the_reason(
    broken_path: Path, spoil: Callable[[Path], None], expected: str
) -> None:
    spoil(broken_path)
    with pytest.raises(CatalogFileError) as caught:
        CatalogDatabase(broken_path)
    assert caught.value.problem.id == expected
    assert caught.value.where == str(broken_path)


@pytest.mark.parametrize("seed", range(40))
def test_a_single_damaged_byte_is_found_when_it_is_opened(broken_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    content = bytearray(broken_path.read_bytes())
    content[draw.randrange(100, len(content))] ^= 1 << draw.randrange(8)
    broken_path.write_bytes(content)
    with pytest.raises(CatalogFileError) as caught:
        Catalog.open(broken_path)
    assert format_message(caught.value.problem).endswith("reinstall GPU Desk")


def test_damage_after_opening_is_found_when_it_is_read(broken_path: Path) -> None:
    with Catalog.open(broken_path) as catalog:
        with broken_path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (broken_path.stat().st_size - 4096))
        with pytest.raises(CatalogFileError) as caught:
            catalog.accelerators()
    assert caught.value.problem.id == "catalog.file.damaged"


@pytest.mark.parametrize("sql", ["SELECT nothing FROM nowhere", "DELETE FROM claim"])
def test_impossible_question_is_a_bug(catalog_path: Path, sql: str) -> None:
    before = catalog_path.read_bytes()
    with CatalogDatabase(catalog_path) as store, pytest.raises(CatalogBugError):
        store.rows(sql)
    assert catalog_path.read_bytes() == before


def test_reading_leaves_no_extra_files(broken_path: Path) -> None:
    broken_path.chmod(0o444)
    with Catalog.open(broken_path) as catalog:
        assert len(catalog.accelerators()) == 52
        assert [path.name for path in broken_path.parent.glob("*.sqlite*")] == ["catalog.sqlite"]


def test_path_with_signs_that_mean_something_in_addresses(broken_path: Path) -> None:
    odd = broken_path.parent / "50% off? #1 ünï"
    odd.mkdir()
    moved = broken_path.rename(odd / "catalog.sqlite")
    with Catalog.open(moved) as catalog:
        assert len(catalog.models()) == 83


def test_open_catalog_outlives_its_replacement(broken_path: Path, catalog_path: Path) -> None:
    with Catalog.open(broken_path) as catalog:
        revision = catalog.revision
        fresh = broken_path.with_suffix(".new")
        fresh.write_bytes(b"another file")
        fresh.replace(broken_path)
        assert catalog.revision == revision
        assert len(catalog.accelerators()) == 52


def test_closing_twice_keeps_the_facts(catalog_path: Path) -> None:
    catalog = Catalog.open(catalog_path)
    mi325x = catalog.accelerator("mi325x")
    catalog.close()
    catalog.close()
    assert catalog.accelerator("mi325x") is mi325x


def test_few_pages_stay_in_memory(catalog_path: Path) -> None:
    with CatalogDatabase(catalog_path) as store:
        assert store.rows("PRAGMA cache_size") == [(-256,)]
