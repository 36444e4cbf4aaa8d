"""What the program knows of its own state: in a checkout, built, and where no one noted anything."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpudesk
from gpudesk import paths, release
from gpudesk.release import ProgramRelease, read_release


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of sources with a history of one commit."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "file").write_text("first", encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", "file")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-01T12:00:00+02:00")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "build.json"
    monkeypatch.setattr(paths, "find_build_record_path", lambda: path)
    release.get_release.cache_clear()
    yield path
    release.get_release.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    """Run git as an author of its own, independent of the settings of this machine."""
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    completed = subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return completed.stdout.strip()


def test_a_checkout_asks_its_history(sources: Path) -> None:
    release = read_release(sources)
    assert release.commit == git(sources, "rev-parse", "HEAD")
    assert release.version == gpudesk.__version__
    assert not release.modified
    assert release.committed == "2026-11-01T10:00:00Z"


@pytest.mark.parametrize("name", ["file", "another"])
def test_changed_and_new_files_make_a_modified_state(sources: Path, name: str) -> None:
    (sources / name).write_text("second", encoding="utf-8")
    release = read_release(sources)
    assert release.modified
    assert release.short_commit == f"{git(sources, 'rev-parse', 'HEAD')[:10]}+"


def test_the_history_around_a_folder_is_not_its_own(sources: Path) -> None:
    inner = sources / "unpacked"
    inner.mkdir()
    assert read_release(inner) == ProgramRelease(gpudesk.__version__)


def test_a_source_archive_keeps_the_record_that_it_was_made_with(tmp_path: Path) -> None:
    record = ProgramRelease("0.1.0", "a" * 40, "2026-11-01T10:00:00Z", modified=True)
    (tmp_path / release.SOURCE_RECORD).write_text(json.dumps(record.record()), encoding="utf-8")
    assert read_release(tmp_path) == record


def test_a_git_that_points_elsewhere_is_not_followed(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read_release(sources)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert read_release(sources) == expected


@pytest.mark.parametrize("body", ["exit 1", "exec /bin/sleep 5"])
def test_without_an_answer_of_git_only_the_version_is_known(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    assert read_release(sources, patience_s=0.2) == ProgramRelease(gpudesk.__version__)


def test_without_git_only_the_version_is_known(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert read_release(sources) == ProgramRelease(gpudesk.__version__)


def test_a_built_program_reads_its_record(record: Path) -> None:
    built_record = ProgramRelease("0.1.0", "b" * 40, "2026-11-02T10:00:00Z")
    record.write_text(json.dumps(built_record.record()), encoding="utf-8")
    assert release.get_release() == built_record


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "0.1.0"}', "null", "3"])
def test_a_record_that_cannot_be_read_leaves_the_version(record: Path, text: str) -> None:
    record.write_text(text, encoding="utf-8")
    assert release.get_release() == ProgramRelease(gpudesk.__version__)


def test_installation_kind_of_a_checkout() -> None:
    assert release.find_installation() == "checkout"


def test_frozen_program_detects_data_next_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "stick" / "gpudesk"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("APPIMAGE", raising=False)
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "home"))
    assert release.find_installation() == "frozen"
    monkeypatch.delenv("GPUDESK_HOME")
    (program.parent / "gpudesk-data").mkdir(parents=True)
    assert release.find_installation() == "portable"
