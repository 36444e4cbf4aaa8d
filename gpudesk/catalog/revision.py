"""Digests of catalog contents and of the files a catalog is built from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gpudesk.catalog.database import CatalogDatabase
from gpudesk.catalog.model_definition import to_canonical_json

#: The table about the file itself; it holds the revision and is excluded from it.
META: Final = "meta"

TableRow = dict[str, Any]
#: Rows by the name of their table.
TableRows = dict[str, list[TableRow]]


def compute_revision(tables: Mapping[str, Sequence[TableRow]]) -> str:
    """Digest the sorted rows of all tables but `meta`, in any order."""
    digest = hashlib.sha256()
    for name, rows in sorted(tables.items()):
        if name != META:
            digest.update(f"{name}\n".encode())
            digest.update("\n".join(sorted(to_canonical_json(_as_stored(row)) for row in rows)).encode())
    return digest.hexdigest()[:16]


def compute_stored_revision(store: CatalogDatabase) -> str:
    names = [row[0] for row in store.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return compute_revision({name: _read_table(store, name) for name in names})


def _read_table(store: CatalogDatabase, table: str) -> list[TableRow]:
    columns = store.columns(table)
    return [dict(zip(columns, row, strict=True)) for row in store.rows(f"SELECT * FROM {table}")]


def _as_stored(row: TableRow) -> TableRow:
    """Return a row as SQLite stores it, with yes and no as numbers."""
    return {column: int(value) if isinstance(value, bool) else value for column, value in row.items()}


#: The subfolders of `data/` in the catalog.
CATALOG_FOLDERS: Final = (
    "accelerators",
    "claims",
    "diffusion",
    "disputes",
    "models",
    "prices",
    "reference_designs",
    "serving_engines",
    "sources",
    "systems",
)


_PACKAGE: Final = Path(__file__).resolve().parents[1]


def compute_inputs_digest(data_dir: Path) -> str:
    """Digest the data files and the code that turns them into a catalog."""
    digest = hashlib.sha256()
    for folder in (*(data_dir / part for part in CATALOG_FOLDERS), _PACKAGE / "domain", _PACKAGE / "catalog"):
        for file in sorted(folder.glob("*.*")):
            if file.suffix in {".toml", ".csv", ".py"}:
                content = file.read_bytes()
                digest.update(f"{folder.name}/{file.name} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()
