"""Settings: kept over a restart, of the type that is asked for; a broken file or folder does no harm."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings


def test_values_outlive_the_session(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    first = UserSettings(path)
    first.put("theme", "dark")
    first.put("panel.width", 312)
    qtbot.waitUntil(path.exists)
    again = UserSettings(path)
    assert again.get("theme", "system") == "dark"
    assert again.get("panel.width", 300) == 312


@pytest.mark.parametrize(("stored", "default"), [("wide", 312), (True, 1), (3, "x"), (None, [])])
def test_a_value_of_another_type_counts_as_absent(
    tmp_path: Path, qtbot: QtBot, stored: object, default: object
) -> None:
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("value", stored)
    assert settings.get("value", default) == default


@pytest.mark.parametrize("contents", [b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_broken_file_is_set_aside(tmp_path: Path, qtbot: QtBot, contents: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(contents)
    settings = UserSettings(path)
    assert settings.get("theme", "system") == "system"
    assert path.with_suffix(".json.bad").read_bytes() == contents
    settings.put("theme", "light")
    settings.write()
    assert UserSettings(path).get("theme", "system") == "light"


def test_where_nothing_can_be_written_values_hold_for_the_session(tmp_path: Path, qtbot: QtBot) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("in the way")
    settings = UserSettings(obstacle / "settings.json")
    settings.put("theme", "dark")
    settings.write()
    assert settings.get("theme", "system") == "dark"


def test_setting_the_same_value_says_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    settings = UserSettings(tmp_path / "settings.json")
    settings.put("theme", "dark")
    with qtbot.assertNotEmitted(settings.changed):
        settings.put("theme", "dark")


def test_a_path_that_is_no_valid_text_is_kept_with_the_rest(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "settings.json"
    settings = UserSettings(path)
    settings.put("recent_files", ["/stick/L\udcf6sung.gpudesk", "/stick/Lösung.gpudesk"])
    settings.write()
    assert UserSettings(path).get("recent_files", [""]) == ["/stick/L\udcf6sung.gpudesk", "/stick/Lösung.gpudesk"]
