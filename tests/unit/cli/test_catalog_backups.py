"""`gpudesk catalog backups` and `restore`: what is listed, and going back to it and forth again."""

import json
import os
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.cli import main as entry
from tests.unit.catalog.user_samples import ALL, numbered, step

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def two_states() -> Path:
    """The user's file with more facts than its only backup."""
    path = paths.get_user_catalog_path()
    with UserFile.open(path) as file:
        file.apply(step(*ALL))
        file.apply(numbered(1))
    return path


def _facts(path: Path) -> set[object]:
    with UserFile.open(path) as file:
        return set(file.facts)


def _run(capsys: Capture, *arguments: str, code: int = 0) -> str:
    assert entry.main(["catalog", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_without_facts_there_are_no_backups(capsys: Capture) -> None:
    assert _run(capsys, "backups").startswith("No backups yet. ")
    assert _run(capsys, "backups", "--json") == "[]\n"
    assert not paths.get_user_catalog_path().parent.exists()


def test_backups_are_listed_for_people_and_programs(two_states: Path, capsys: Capture) -> None:
    line = _run(capsys, "backups").splitlines()[2].split()
    assert line[:2] == ["1", str(len(ALL))]
    assert line[-6:] == ["the", "first", "change", "of", "the", "day"]
    (listed,) = json.loads(_run(capsys, "backups", "--json"))
    assert listed | {"made": None} == {
        "number": 1,
        "file": str(next((two_states.parent / "backups").iterdir())),
        "made": None,
        "before": "day",
        "facts": len(ALL),
        "bytes": Path(listed["file"]).stat().st_size,
        "version": 4,
        "problem": None,
    }


def test_restore_can_be_undone(two_states: Path, capsys: Capture) -> None:
    before = _facts(two_states)
    lines = _run(capsys, "restore", "1").splitlines()
    assert lines[0] == f"Restored. You now have {len(ALL)} values."
    assert "Restore them with `gpudesk catalog restore 1`" in lines[1]
    assert _facts(two_states) == set(ALL)
    _run(capsys, "restore", "1")
    assert _facts(two_states) == before


def test_file_of_a_backup_is_restored_by_its_name(
    two_states: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (backup,) = (two_states.parent / "backups").iterdir()
    monkeypatch.chdir(backup.parent)
    assert "Restored" in _run(capsys, "restore", backup.name)
    assert _facts(two_states) == set(ALL)


def test_broken_file_gives_way_to_a_backup_and_is_kept(two_states: Path, capsys: Capture) -> None:
    os.truncate(two_states, 5000)
    assert ".broken in its name" in _run(capsys, "restore", "1")
    assert _facts(two_states) == set(ALL)
    (aside,) = two_states.parent.glob("*.broken-*")
    assert aside.stat().st_size == 5000


@pytest.mark.parametrize(
    ("backup", "expected"),
    [
        ("2", "restore: unknown backup 2; list backups with `gpudesk catalog backups`"),
        ("0", "restore: unknown backup 0; "),
        ("9" * 5000, "restore: unknown backup 999"),
        ("nothing.sqlite", "restore: unknown backup nothing.sqlite; list backups with `gpudesk catalog backups`"),
        (".", ".: is not a backup of your values; choose another file"),
        (str(Path(__file__)), "is not a backup of your values; choose another file"),
    ],
)
def test_file_that_is_not_a_backup_is_refused_in_one_line(
    two_states: Path, capsys: Capture, backup: str, expected: str
) -> None:
    before = _facts(two_states)
    output = _run(capsys, "restore", backup, code=1)
    assert output.startswith("gpudesk: ")
    assert output.count("\n") == 1
    assert expected in output
    assert _facts(two_states) == before


def test_damaged_backup_is_refused_with_the_reason(two_states: Path, capsys: Capture) -> None:
    (backup,) = (two_states.parent / "backups").iterdir()
    os.truncate(backup, 5000)
    assert "is truncated: 5,000 of" in _run(capsys, "backups")
    assert json.loads(_run(capsys, "backups", "--json"))[0]["facts"] is None
    assert "is truncated" in _run(capsys, "restore", "1", code=1)
    assert len(_facts(two_states)) > len(ALL)
