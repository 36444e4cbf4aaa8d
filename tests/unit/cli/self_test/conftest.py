"""A copy of the program's files as a bundle has them, to be harmed."""

import shutil
from pathlib import Path

import pytest

from bundle_manifest import write_manifest
from gpudesk import paths

ROOT = Path(paths.__file__).parents[1]


@pytest.fixture(scope="session")
def whole_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = tmp_path_factory.mktemp("whole") / "_bundled"
    shutil.copytree(ROOT / "resources", bundle / "resources", ignore=shutil.ignore_patterns("pictures"))
    shutil.copytree(ROOT / "data" / "measurements", bundle / "data" / "measurements")
    shutil.copy(ROOT / "data" / "calibration.json", bundle / "data")
    shutil.copy(paths.get_catalog_path(), bundle / "catalog.sqlite")
    write_manifest(bundle)
    return bundle


@pytest.fixture
def bundle(whole_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "_bundled"
    shutil.copytree(whole_bundle, folder)
    monkeypatch.setattr(paths, "_find_bundle", lambda: folder)
    return folder
