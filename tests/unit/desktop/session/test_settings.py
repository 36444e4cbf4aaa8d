"""Settings: saved between sessions and of the expected type; a broken file or folder does no harm."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.session.settings import UserSettings, get_folder, list_recent_files


def test_values_survive_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    settings = UserSettings(path)
    settings.put("theme", "dark")
    settings.put("panel.width", 312)
    qtbot.waitUntil(path.exists)
    restarted = UserSettings(path)
    assert restarted.get("theme", "system") == "dark"
    assert restarted.get("panel.width", 300) == 312


@pytest.mark.parametrize(("stored", "default"), [("wide", 312), (True, 1), (3, "x"), (None, [])])
def test_value_of_wrong_type_counts_as_absent(tmp_path: Path, qtbot: QtBot, stored: object, default: object) -> None:
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("value", stored)
    assert settings.get("value", default) == default


@pytest.mark.parametrize("contents", [b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000])
def test_broken_file_is_set_aside(tmp_path: Path, qtbot: QtBot, contents: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(contents)
    settings = UserSettings(path)
    assert settings.get("theme", "system") == "system"
    assert path.with_suffix(".json.bad").read_bytes() == contents
    settings.put("theme", "light")
    settings.write()
    assert UserSettings(path).get("theme", "system") == "light"


def test_unwritable_folder_keeps_values_for_the_session(tmp_path: Path, qtbot: QtBot) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("in the way")
    settings = UserSettings(obstacle / "settings.json")
    settings.put("theme", "dark")
    settings.write()
    assert settings.get("theme", "system") == "dark"


def test_same_value_emits_no_signal(tmp_path: Path, qtbot: QtBot) -> None:
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("theme", "dark")
    with qtbot.assertNotEmitted(settings.changed):
        settings.put("theme", "dark")


def test_path_may_be_invalid_unicode(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    settings = UserSettings(path)
    settings.put("recent_files", ["/stick/L\udcf6sung.gpudesk", "/stick/Lösung.gpudesk"])
    settings.write()
    assert UserSettings(path).get("recent_files", [""]) == ["/stick/L\udcf6sung.gpudesk", "/stick/Lösung.gpudesk"]


def test_invalid_values_are_reported_and_the_old_file_retained(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "dark", "performance.read_off": 1e999}')
    settings = UserSettings(path)
    assert settings.get("theme", "system") == "dark"
    assert settings.problem == (
        f"Invalid settings were reset: performance.read_off. The old file is {path.with_suffix('.json.bad')}."
    )
    assert "1e999" in path.with_suffix(".json.bad").read_text()
    settings.write()
    assert not UserSettings(path).problem


@pytest.mark.parametrize("last", ["", "no such folder", "x" * 70_000, "a\0b", "\udcff"])
def test_missing_folder_falls_back_to_home(
    tmp_path: Path, qtbot: QtBot, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("folder", last)
    assert get_folder(settings, "folder") == paths.get_home_dir()
    assert get_folder(settings, "folder", tmp_path / "other") == tmp_path / "other"


def test_invalid_recent_files_are_dropped(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.gpudesk").touch()
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("recent_files", ["x" * 70_000, "a\0b", 3, str(tmp_path / "a.gpudesk")])
    assert list_recent_files(settings) == [tmp_path / "a.gpudesk"]


def test_self_referencing_link_is_replaced(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to(path)
    settings = UserSettings(path)
    settings.put("theme", "dark")
    settings.write()
    assert UserSettings(path).get("theme", "system") == "dark"
