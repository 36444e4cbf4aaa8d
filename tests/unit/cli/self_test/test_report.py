"""The verdict, as people and programs get it: lines, JSON, files, exit codes."""

import json
import os
import sys
from pathlib import Path

import pytest

from gpudesk import __version__
from gpudesk.cli.main import main
from gpudesk.cli.self_test import command
from gpudesk.cli.self_test.report import Check, CheckFailedError, CheckFinding
from gpudesk.paths import MissingFileError
from gpudesk.text.messages import InputError, message

Capture = pytest.CaptureFixture[str]


def raising(error: Exception) -> Check:
    def check() -> CheckFinding:
        raise error

    return check


def checks(monkeypatch: pytest.MonkeyPatch, *outcomes: Check) -> None:
    named_checks = tuple((f"check_{number}", f"Check {number}", each) for number, each in enumerate(outcomes, 1))
    monkeypatch.setattr(command, "CHECKS", named_checks)


def fine() -> CheckFinding:
    return CheckFinding("seen")


def doubtful() -> CheckFinding:
    return CheckFinding("half seen", doubt=True)


@pytest.fixture(autouse=True)
def log_file(user_home: Path) -> Path:
    return user_home / "logs" / "self-test.txt"


def test_all_in_order(monkeypatch: pytest.MonkeyPatch, capsys: Capture, log_file: Path) -> None:
    checks(monkeypatch, fine, CheckFinding)
    assert main(["--self-test"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"GPU Desk {__version__}, commit ")
    assert lines[1:] == [
        "Check 1: ok (seen) [0.00 s]",
        "Check 2: ok [0.00 s]",
        f"Report saved to {log_file}",
        "All checks passed.",
    ]
    # What is kept is what was said, but where it is kept.
    assert log_file.read_text(encoding="utf-8").splitlines() == [*lines[:3], lines[-1]]


def test_warning_is_not_a_failure(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    checks(monkeypatch, doubtful, fine)
    assert main(["--self-test"]) == 0
    output = capsys.readouterr().out
    assert "Check 1: warning (half seen) [" in output
    assert output.endswith("GPU Desk works, with 1 warning about its environment.\n")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CheckFailedError("two\nlines of it"), "two lines of it"),
        (InputError(message("field.missing", "is missing"), "a.json"), "a.json: is missing"),
        (MissingFileError("a.json is missing; restore it"), "a.json is missing; restore it"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    ],
)
def test_failed_check_names_a_remedy_and_others_run(
    error: Exception, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    checks(monkeypatch, raising(error), doubtful, fine)
    assert main(["--self-test"]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[1].startswith(f"Check 1: failed ({expected}) [")
    assert lines[3].startswith("Check 3: ok")
    assert lines[-1].startswith("1 check failed. Reinstall GPU Desk. If it fails again, send this ")
    assert captured.err == ""


@pytest.mark.parametrize("arguments", [["--self-test", "--json"], ["--json", "--self-test"]])
def test_output_is_only_json(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture, log_file: Path
) -> None:
    checks(monkeypatch, fine, doubtful, raising(CheckFailedError("gone")))
    assert main(arguments) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["file"] == str(log_file)
    assert report["release"]["version"] == __version__
    fields = ("id", "check", "ok", "outcome", "found")
    assert [tuple(check[name] for name in fields) for check in report["checks"]] == [
        ("check_1", "Check 1", True, "ok", "seen"),
        ("check_2", "Check 2", True, "warning", "half seen"),
        ("check_3", "Check 3", False, "failed", "gone"),
    ]
    assert report["verdict"].startswith("1 check failed.")


def test_result_goes_to_a_file_by_its_suffix(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    checks(monkeypatch, fine)
    assert main(["--self-test", "-o", str(tmp_path / "a.json")]) == 0
    assert main(["--self-test", "-o", str(tmp_path / "a.txt")]) == 0
    assert "All checks passed." in capsys.readouterr().out
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["ok"] is True
    assert "Check 1: ok (seen)" in (tmp_path / "a.txt").read_text(encoding="utf-8")


def test_unwritable_file_is_reported_after_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    checks(monkeypatch, fine)
    assert main(["--self-test", "-o", str(tmp_path / "none" / "a.txt")]) == 1
    captured = capsys.readouterr()
    assert "All checks passed." in captured.out
    assert captured.err.startswith(f"gpudesk: {tmp_path / 'none' / 'a.txt'}: cannot be written")


def test_users_folder_that_cannot_be_written_keeps_nothing_and_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "file" / "below"))
    checks(monkeypatch, fine)
    assert main(["--self-test", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] is None


def test_wrong_usage_is_reported_before_the_checks(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    checks(monkeypatch, raising(AssertionError()))
    assert main(["--self-test", "--nonsense"]) == 2
    assert main(["estimate", "--self-test"]) == 2
    error_lines = capsys.readouterr().err.splitlines()
    assert error_lines[0] == "gpudesk: unknown argument '--nonsense'; for help, run `gpudesk --self-test --help`"


def test_windowed_program_without_a_terminal_opens_its_report(monkeypatch: pytest.MonkeyPatch, log_file: Path) -> None:
    opened: list[Path] = []
    checks(monkeypatch, fine)
    monkeypatch.setattr(sys, "__stdout__", None)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "startfile", opened.append, raising=False)
    assert main(["--self-test"]) == 0
    assert opened == [log_file]
    # Who names a file knows where it is.
    assert main(["--self-test", "-o", str(log_file.with_name("a.json"))]) == 0
    assert main(["--self-test", "--json"]) == 0
    assert opened == [log_file]


@pytest.mark.parametrize("name", ["result.json", "result.txt"])
def test_folder_with_an_invalid_name_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log_file: Path, name: str
) -> None:
    checks(monkeypatch, lambda: CheckFinding("/home/J\udcfcrgen"))
    target = tmp_path / name
    assert main(["--self-test", "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    path_text = json.loads(text)["checks"][0]["found"] if target.suffix == ".json" else text
    assert "/home/J" in path_text
    assert log_file.exists()
