"""A checkout's catalog is rebuilt when, and only when, it would say something else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog_build.writer import ensure_built, is_catalog_stale
from gpudesk.catalog.database import CatalogFileError
from gpudesk.catalog.read import Catalog

Edit = Callable[[str, str, str], None]

ENSURE = "import sys, pathlib; sys.path.insert(0, 'packaging'); from catalog_build.writer import ensure_built; \
ensure_built(*map(pathlib.Path, sys.argv[1:]))"


def test_built_once_and_then_kept(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "build" / "catalog.sqlite"
    assert ensure_built(data_dir, path)
    assert not is_catalog_stale(data_dir, path)
    assert not ensure_built(data_dir, path)


def test_changed_value_reaches_the_catalog(data_dir: Path, edit: Edit, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    ensure_built(data_dir, path)
    edit("accelerators/mi325x.toml", "value = 6000", "value = 6001")
    assert ensure_built(data_dir, path)
    with Catalog.open(path) as catalog:
        assert catalog.accelerator("mi325x").memory_bandwidth == 6.001e12


def test_removed_and_added_files_count(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    ensure_built(data_dir, path)
    moved = (data_dir / "diffusion/sd3-medium.toml").rename(tmp_path / "sd3-medium.toml")
    assert ensure_built(data_dir, path)
    with Catalog.open(path) as catalog:
        assert "sd3-medium" not in {model.id for model in catalog.diffusion_models()}
    moved.rename(data_dir / "diffusion/sd3-medium.toml")
    assert is_catalog_stale(data_dir, path)


def test_dates_of_files_do_not_count(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    ensure_built(data_dir, path)
    os.utime(data_dir / "accelerators/mi325x.toml")
    assert not is_catalog_stale(data_dir, path)


@pytest.mark.parametrize("length", [0, 50, 10_000])
def test_cut_catalog_is_rebuilt(data_dir: Path, broken_path: Path, length: int) -> None:
    broken_path.write_bytes(broken_path.read_bytes()[:length])
    assert ensure_built(data_dir, broken_path)
    with Catalog.open(broken_path) as catalog:
        assert len(catalog.accelerators()) == 52


def test_file_that_is_no_catalog_is_not_overwritten(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_text("somebody's notes")
    with pytest.raises(CatalogFileError) as caught:
        ensure_built(data_dir, path)
    assert caught.value.problem.id == "catalog.file.foreign"
    assert path.read_text() == "somebody's notes"


def test_two_processes_at_once(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    command = [sys.executable, "-c", ENSURE, str(data_dir), str(path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, b"")
    assert not is_catalog_stale(data_dir, path)
    assert [file.name for file in tmp_path.glob("catalog*")] == ["catalog.sqlite"]
