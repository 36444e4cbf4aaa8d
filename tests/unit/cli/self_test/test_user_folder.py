"""The check of the user's folder: what cannot be kept there is a doubt and never a failure."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpudesk.cli.self_test import installation
from gpudesk.cli.self_test.installation import check_user_folder
from gpudesk.cli.self_test.report import CheckFinding


def test_folder_that_can_be_written_passes_and_stays_empty(user_home: Path) -> None:
    assert check_user_folder() == CheckFinding(str(user_home))
    assert list(user_home.iterdir()) == []


def test_unusable_folder_is_a_warning_with_its_consequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "file" / "below"))
    outcome = check_user_folder()
    assert outcome.doubt
    assert "cannot write to" in outcome.text
    assert "values, settings and unsaved work are lost on exit" in outcome.text


def test_little_room_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=12_345_678))
    outcome = check_user_folder()
    assert outcome.doubt
    assert outcome.text.endswith("has only 12 MB free")


def test_drive_that_no_two_programs_can_share_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_read_journal_mode", lambda _: "delete")
    outcome = check_user_folder()
    assert outcome.doubt
    assert "two programs cannot share your values" in outcome.text


def test_portable_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudesk.release.find_installation", lambda: "portable")
    assert check_user_folder().text.endswith(", next to the program")
