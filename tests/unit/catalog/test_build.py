"""Building: the same facts give the same revision, a failure leaves everything as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog_build import writer
from catalog_build.schema import SHIPPED_METADATA
from catalog_build.writer import build_catalog, read_data_tables
from gpudesk.catalog.database import APPLICATION_ID, SCHEMA_VERSION, CatalogBugError
from gpudesk.catalog.read import Catalog

Edit = Callable[[str, str, str], None]


def test_same_data_give_the_same_revision(data_dir: Path, tmp_path: Path) -> None:
    first = build_catalog(data_dir, tmp_path / "a.sqlite")
    assert build_catalog(data_dir, tmp_path / "b.sqlite") == first
    assert (tmp_path / "a.sqlite").read_bytes() == (tmp_path / "b.sqlite").read_bytes()


def test_revision_does_not_depend_on_the_order_of_files_and_lines(data_dir: Path, tmp_path: Path) -> None:
    first = build_catalog(data_dir, tmp_path / "a.sqlite")
    for name in ("prices/cloud.csv", "prices/purchase.csv", "claims/seeds.csv", "disputes/seeds.csv"):
        path = data_dir / name
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join([header, *reversed(lines)]) + "\n", encoding="utf-8")
    shutil.move(data_dir / "sources/models.toml", data_dir / "sources/0-models.toml")
    for path in sorted(data_dir.rglob("*.toml")):
        os.utime(path, (0, 0))
    assert build_catalog(data_dir, tmp_path / "b.sqlite") == first


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("accelerators/mi325x.toml", "value = 6000\n", "value = 6001\n"),
        ("accelerators/mi325x.toml", 'verdict = "agrees"', 'verdict = "agrees too"'),
        ("accelerators/mi325x.toml", "announced = false", "announced = true"),
        ("models/phi-4.toml", "vocab_size = 100352", "vocab_size = 100353"),
        ("claims/seeds.csv", "C000-001,seed-000,MI325X", "C000-001,seed-000,MI325"),
        ("sources/seeds.toml", 'date = "2026-03"', 'date = "2026-04"'),
    ],
)
def test_any_changed_fact_gives_another_revision(
    data_dir: Path, edit: Edit, catalog: Catalog, tmp_path: Path, file: str, old: str, new: str
) -> None:
    edit(file, old, new)
    assert build_catalog(data_dir, tmp_path / "changed.sqlite") != catalog.revision


def test_layout_of_a_file_is_no_fact(data_dir: Path, edit: Edit, catalog: Catalog, tmp_path: Path) -> None:
    edit("accelerators/mi325x.toml", 'id = "mi325x"', '# a remark\nid   =   "mi325x"')
    assert build_catalog(data_dir, tmp_path / "same.sqlite") == catalog.revision


def test_file_has_its_identity_and_every_table(catalog_path: Path) -> None:
    connection = sqlite3.connect(f"{catalog_path.as_uri()}?mode=ro", uri=True)
    try:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        assert {name for (name,) in tables} == set(SHIPPED_METADATA.tables)
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def test_database_itself_refuses_two_preferred_claims(broken_path: Path) -> None:
    connection = sqlite3.connect(broken_path)
    try:
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            connection.execute("UPDATE claim SET preferred = 1 WHERE thing = 'mi325x'")
    finally:
        connection.close()


def test_dangling_reference_is_a_fault_of_the_checks(data_dir: Path, tmp_path: Path) -> None:
    tables = {**read_data_tables(data_dir), "meta": []}
    tables["price"][0]["source"] = "nobody"
    with pytest.raises(CatalogBugError, match="FOREIGN KEY"):
        writer._write_tables(tmp_path / "catalog.sqlite", tables)


def test_path_with_signs_that_mean_something_in_addresses(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "50% off? #1 ünï" / "catalog.sqlite"
    revision = build_catalog(data_dir, path)
    with Catalog.open(path) as catalog:
        assert catalog.revision == revision
    assert list(path.parent.iterdir()) == [path]
