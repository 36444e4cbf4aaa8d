"""Fixtures that read the files of data/ as they stand, without the program's own loader."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "data"

Table = dict[str, Any]
Rows = list[dict[str, str]]


@pytest.fixture(scope="session")
def sources() -> Table:
    """Every source of data/sources/ by its slug; a slug that stands in two files fails."""
    merged: Table = {}
    for path in sorted((DATA / "sources").glob("*.toml")):
        sources_of_file = tomllib.loads(path.read_text(encoding="utf-8"))["sources"]
        assert not merged.keys() & sources_of_file.keys(), (
            f"{path.name} repeats {sorted(merged.keys() & sources_of_file.keys())}"
        )
        merged |= sources_of_file
    return merged


@pytest.fixture(scope="session")
def accelerators() -> dict[str, Table]:
    paths = sorted((DATA / "accelerators").glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


@pytest.fixture(scope="session")
def diffusion() -> dict[str, Table]:
    """Every file of data/diffusion/ by its name, which is the id of the model."""
    paths = sorted((DATA / "diffusion").glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


@pytest.fixture(scope="session")
def rows() -> Callable[[str], Rows]:
    """A reader of one CSV table of data/, by its path below data/."""

    def read(name: str) -> Rows:
        with (DATA / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))

    return read
