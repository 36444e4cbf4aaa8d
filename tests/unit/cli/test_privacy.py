"""What others on the machine see: nothing of the user's files, and no terminal acts on the name of a file."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.cli import main as entry
from gpudesk.cli import output
from tests.unit.catalog.user_samples import ALL, numbered, step

Capture = pytest.CaptureFixture[str]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no modes")


def _list_readable_to_others(folder: Path) -> list[Path]:
    """Return files that others can read, in folders that they can look into."""
    if not stat.S_IMODE(folder.stat().st_mode) & 0o077:
        return []
    readable_paths = []
    for path in folder.iterdir():
        if path.is_dir():
            readable_paths += _list_readable_to_others(path)
        elif stat.S_IMODE(path.stat().st_mode) & 0o077:
            readable_paths.append(path)
    return readable_paths


@posix
def test_files_in_an_open_folder_are_the_users_alone() -> None:
    home = paths.get_user_dir()
    home.mkdir(parents=True)
    home.chmod(0o755)
    (home / "logs").mkdir(mode=0o755)
    output.log_unexpected(ValueError("a fault"), ["cost"])
    with UserFile.open(paths.get_user_catalog_path()) as file:
        file.apply(step(*ALL))
        assert _list_readable_to_others(home) == []
        file.apply(numbered(1))
    assert _list_readable_to_others(home) == []
    assert {path.name for path in home.iterdir()} == {"logs", "backups", "catalog.sqlite"}


@posix
def test_file_of_an_earlier_program_is_closed_with_the_next_step() -> None:
    path = paths.get_user_catalog_path()
    with UserFile.open(path) as file:
        file.apply(step(*ALL))
    path.chmod(0o644)
    with UserFile.open(path) as file:
        file.apply(numbered(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@posix
def test_report_without_a_home_follows_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("mine")
    shared.mkdir()
    (shared / "faults.log").symlink_to(victim)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.setenv("GPUDESK_HOME", str(victim / "home"))
    message = output.log_unexpected(ValueError("a fault"), ["cost"])
    assert victim.read_text() == "mine"
    (folder,) = (path for path in shared.iterdir() if path.is_dir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert str(folder / "faults.log") in message
    assert "a fault" in (folder / "faults.log").read_text()


@pytest.mark.parametrize("command", [["import"], ["compare", "--scenario"]])
def test_control_characters_of_names_are_shown(tmp_path: Path, capsys: Capture, command: list[str]) -> None:
    name = tmp_path / "a\x1b]0;owned\x07\x1b[31m\x9b2J\u202e.json"
    name.write_text("{}")
    assert entry.main([*command, str(name)]) == 1
    output = capsys.readouterr().err
    assert r"a\x1b]0;owned\x07\x1b[31m\x9b2J\u202e.json" in output
    assert output.rstrip("\n").isprintable()


def test_control_characters_in_json_are_escapes(capsys: Capture) -> None:
    output.print_json({"file": "a\x1b[31m\x9b2J\u202e"})
    assert capsys.readouterr().out == '{\n  "file": "a\\u001b[31m\\u009b2J\\u202e"\n}\n'


def test_bold_stays(capsys: Capture) -> None:
    output.print_lines(["\x1b[1mName\x1b[0m \x1b[31mred"])
    assert capsys.readouterr().out == "\x1b[1mName\x1b[0m \\x1b[31mred\n"
