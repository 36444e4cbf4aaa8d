"""A catalog built once from the real data, and copies of the data for tests that break them."""

from __future__ import annotations

import pickle
import shutil
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from gpudesk.catalog.build.writer import build_catalog
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.revision import CATALOG_FOLDERS

DATA = Path(__file__).parents[3] / "data"

Edit = Callable[[str, str, str], None]


_loads = tomllib.loads


@cache
def _parse(text: str) -> bytes:
    """Return the document for `pickle`, which copies it faster than `deepcopy`."""
    return pickle.dumps(_loads(text))


@pytest.fixture(autouse=True)
def _each_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests read a hundred files, of which they changed one."""
    monkeypatch.setattr(tomllib, "loads", lambda text: pickle.loads(_parse(text)))


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
