"""Where files lie, in a checkout, a frozen program, and on each system's user folder."""

import os
import stat
import sys
from pathlib import Path

import pytest

from gpudesk import paths

ROOT = Path(__file__).parents[2]


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("GPUDESK_HOME", "XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    bundle = tmp_path / "unpacked" / "gpudesk" / "_bundled"
    (bundle / "resources").mkdir(parents=True)
    (bundle / "data").mkdir()
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "unpacked"), raising=False)
    return bundle


def test_checkout_reads_where_files_are_edited() -> None:
    assert paths.data_dir() == ROOT / "data"
    assert paths.resource("translations") == ROOT / "resources" / "translations"


def test_missing_catalog_names_the_make_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "gpudesk")
    with pytest.raises(paths.MissingFileError, match=r"catalog\.sqlite is missing; run `make catalog`"):
        paths.get_catalog_path()
    assert paths.data_dir() is None


def test_frozen_program_reads_its_bundle(frozen: Path) -> None:
    (frozen / "catalog.sqlite").touch()
    (frozen / "data" / "calibration.json").touch()
    (frozen / "data" / "measurements").mkdir()
    assert paths.get_catalog_path() == frozen / "catalog.sqlite"
    assert paths.get_data_path("calibration.json") == frozen / "data" / "calibration.json"
    assert paths.get_data_path("measurements") == frozen / "data" / "measurements"
    assert paths.resource("") == frozen / "resources"
    assert paths.data_dir() is None


def test_missing_resource_is_named(frozen: Path) -> None:
    with pytest.raises(paths.MissingFileError, match=r"icons/nothing\.svg is missing"):
        paths.resource("icons/nothing.svg")


def test_only_a_bundle_has_records_of_how_it_was_made(frozen: Path) -> None:
    assert paths.find_build_record_path() is None
    (frozen / "build.json").touch()
    (frozen / "parts.json").touch()
    assert paths.find_build_record_path() == frozen / "build.json"
    assert paths.find_parts_path() == frozen / "parts.json"


def test_checkout_has_no_build_record_or_component_list() -> None:
    assert paths.find_build_record_path() is None
    assert paths.find_parts_path() is None


@pytest.mark.usefixtures("no_home")
class TestPortable:
    """A folder next to the frozen program takes what the user keeps."""

    @pytest.fixture
    def folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        folder = tmp_path / "stick" / "gpudesk-data"
        folder.mkdir(parents=True)
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        monkeypatch.setattr(sys, "executable", str(tmp_path / "stick" / "gpudesk"))
        monkeypatch.delenv("APPIMAGE", raising=False)
        return folder

    def test_folder_next_to_the_program(self, folder: Path) -> None:
        assert paths.is_portable()
        assert paths.get_user_dir() == folder
        assert paths.get_logs_dir() == folder / "logs"

    def test_variable_comes_first(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPUDESK_HOME", str(folder.parent / "elsewhere"))
        assert not paths.is_portable()
        assert paths.get_user_dir() == folder.parent / "elsewhere"

    def test_without_the_folder_it_is_the_users_own(self, folder: Path) -> None:
        folder.rmdir()
        assert paths.get_user_dir() == Path.home() / ".local" / "share" / "gpudesk"

    def test_appimage_keeps_user_files_next_to_itself(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/tmp/mounted/usr/bin/gpudesk")
        monkeypatch.setenv("APPIMAGE", str(folder.parent / "GPU_Desk.AppImage"))
        assert paths.get_user_dir() == folder

    def test_image_that_started_the_program_is_not_its_own(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("APPIMAGE", str(folder.parents[1] / "Terminal.AppImage"))
        assert paths.get_user_dir() == folder

    def test_a_checkout_is_not_portable(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(sys, "frozen")
        assert paths.get_user_dir() != folder


def test_without_a_home_the_program_has_a_folder_all_the_same(no_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert paths.get_user_dir().is_absolute()
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_DATA_HOME", str(no_home))
        assert paths.get_user_dir() == no_home / "gpudesk"


def test_unknown_user_in_home_path_is_a_plain_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPUDESK_HOME", "~nobody-of-this-name/desk")
    assert paths.get_user_dir() == tmp_path / "~nobody-of-this-name" / "desk"


def test_user_folder_follows_the_environment_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "Jürgen's files"))
    assert paths.get_user_dir() == tmp_path / "Jürgen's files"
    assert paths.get_user_catalog_path() == tmp_path / "Jürgen's files" / "catalog.sqlite"


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", ".local/share/gpudesk"),
        ("darwin", "Library/Application Support/GPU Desk"),
        ("win32", "AppData/Roaming/GPU Desk"),
    ],
)
def test_user_folder_follows_the_platform(
    no_home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert paths.get_user_dir() == no_home / expected


def test_relative_xdg_folder_counts_as_unset(no_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(no_home / "data"))
    assert paths.get_user_dir() == no_home / "data" / "gpudesk"
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert paths.get_user_dir() == no_home / ".local" / "share" / "gpudesk"


@pytest.mark.skipif(os.name != "posix", reason="modes of folders are POSIX")
def test_user_folder_is_made_for_the_user_alone() -> None:
    folder = paths.ensure_user_dir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert paths.ensure_user_dir() == folder
