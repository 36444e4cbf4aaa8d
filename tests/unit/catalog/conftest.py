"""A catalog built once from the real data, and copies of the data for tests that break them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog_build.files import CATALOG_FOLDERS, DataEntry, DataFileReader, DataProblem
from catalog_build.writer import build_catalog
from gpudesk.catalog.read import Catalog

DATA = Path(__file__).parents[3] / "data"

Edit = Callable[[str, str, str], None]


@pytest.fixture(scope="session", autouse=True)
def _each_content_is_read_once() -> Iterator[None]:
    """Most tests read hundreds of files, of which they changed one; records are never changed in place."""
    read = DataFileReader._read_toml
    entries_by_content: dict[tuple[str, bytes, type], tuple[DataEntry[Any] | None, list[DataProblem]]] = {}

    def give(reader: DataFileReader, name: str, schema: type) -> DataEntry[Any] | None:
        try:
            key = name, (reader.data_dir / name).read_bytes(), schema
        except OSError:
            return read(reader, name, schema)
        if key not in entries_by_content:
            once = DataFileReader(reader.data_dir)
            entries_by_content[key] = read(once, name, schema), once.problems
        entry, problems = entries_by_content[key]
        reader.problems += problems
        return entry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DataFileReader, "_read_toml", give)
        yield


@pytest.fixture(scope="session")
def catalog_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalog of the real data; tests that change it copy it first."""
    path = tmp_path_factory.mktemp("catalog") / "catalog.sqlite"
    build_catalog(DATA, path)
    return path


@pytest.fixture
def catalog(catalog_path: Path) -> Iterator[Catalog]:
    with Catalog.open(catalog_path) as catalog:
        yield catalog


@pytest.fixture
def broken_path(catalog_path: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(catalog_path, tmp_path / "catalog.sqlite"))


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    for part in CATALOG_FOLDERS:
        shutil.copytree(DATA / part, tmp_path / "data" / part)
    return tmp_path / "data"


@pytest.fixture
def edit(data_dir: Path) -> Edit:
    """Replace the first occurrence of a text in a file of the copy; it must be there."""

    def replace(name: str, old: str, new: str) -> None:
        path = data_dir / name
        content = path.read_text(encoding="utf-8")
        assert old in content, f"{name} has no {old!r}"
        path.write_text(content.replace(old, new, 1), encoding="utf-8")

    return replace
