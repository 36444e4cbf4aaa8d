"""The entry point: exit codes, one line for each fault, never a traceback."""

import io
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpudesk import __version__
from gpudesk.cli import main as entry
from gpudesk.cli import output
from gpudesk.cli.commands import catalog
from gpudesk.cli.output import UsageError
from gpudesk.paths import MissingFileError
from gpudesk.text.messages import InputError, message

Capture = pytest.CaptureFixture[str]


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def fail(_options: object) -> int:
        raise error

    monkeypatch.setattr(catalog, "_list", fail)
    return entry.main(["catalog", "list"])


def test_version(capsys: Capture) -> None:
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gpudesk {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (UsageError("no such thing; see there"), 2, "gpudesk: no such thing; see there\n"),
        (InputError(message("field.missing", "is missing"), "--model"), 1, "gpudesk: --model: is missing\n"),
        (MissingFileError("a is missing; run b"), 1, "gpudesk: a is missing; run b\n"),
        (OSError(28, "No space left"), 1, "gpudesk: cannot write output: no space left on device\n"),
    ],
)
def test_each_fault_has_its_exit_code_and_one_line(
    error: Exception, code: int, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(output, "silence_output", lambda: None)
    assert fail_with(error, monkeypatch) == code
    assert capsys.readouterr().err == expected


def test_mistake_of_the_program_ends_in_one_line_and_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, user_home: Path
) -> None:
    assert fail_with(ZeroDivisionError("by zero"), monkeypatch) == 1
    output = capsys.readouterr().err
    log = user_home / "logs" / "faults.log"
    assert output == f"gpudesk: internal error (ZeroDivisionError); report: {log}\n"
    assert "ZeroDivisionError: by zero" in log.read_text(encoding="utf-8")


def test_report_goes_elsewhere_when_the_user_folder_cannot_be(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert fail_with(KeyError("x"), monkeypatch) == 1
    (report,) = tmp_path.glob("gpudesk-*/faults.log")
    assert str(report) in capsys.readouterr().err
    assert "KeyError" in report.read_text(encoding="utf-8")


def test_closed_pipe_and_interrupt_are_not_errors(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(output, "silence_output", lambda: None)
    assert fail_with(BrokenPipeError(), monkeypatch) == 0
    assert fail_with(KeyboardInterrupt(), monkeypatch) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["compare"],
        ["compare", "--accelerators", "h200-sxm"],
        ["compare", "--template", "a", "--scenario", "b"],
        ["compare", "--nonsense"],
        ["compare", "--accelerators", "h200-sxm:x", "--model", "llama-3.1-70b"],
        ["estimate", "--input-tokens", "many"],
        ["estimate", "--batch", "-", "--model", "llama-3.1-70b"],
        ["sheet", "--template", "405b-one-node"],
        ["catalog"],
        ["catalog", "list", "nonsense"],
        ["catalog", "show"],
    ],
)
def test_wrong_usage_exits_2_with_one_line(arguments: list[str], capsys: Capture) -> None:
    assert entry.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gpudesk: ")
    assert captured.err.count("\n") == 1


def test_text_where_a_number_belongs_is_quoted(capsys: Capture) -> None:
    assert entry.main(["estimate", "--input-tokens", "many"]) == 2
    assert "--input-tokens: 'many' is not a whole number" in capsys.readouterr().err


def test_help_names_the_commands(capsys: Capture) -> None:
    assert entry.main(["--help"]) == 0
    output = capsys.readouterr().out
    for command in ("estimate", "compare", "explain", "launch", "sheet", "catalog", "--self-test", "--version"):
        assert command in output


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", b"4.8 ~ 6.0, -43 to +115, 2 x MI325X | fuer 1 EUR ?\n"),
        ("cp1252", b"4.8 ~ 6.0, -43 to +115, 2 \xd7 MI325X \xb7 f\xfcr 1 \x80 ?\n"),
    ],
)
def test_output_takes_any_character_and_keeps_signs(
    monkeypatch: pytest.MonkeyPatch, encoding: str, expected: bytes
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, newline="\n"))
    output.prepare_streams()
    output.print_line("4.8 ≈ 6.0, \N{MINUS SIGN}43 to +115, 2 × MI325X · für 1 € \ud800")
    sys.stdout.flush()
    assert raw.getvalue() == expected


def test_json_is_valid_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    output.prepare_streams()
    output.print_json_line({"name": "für −1"})
    sys.stdout.flush()
    assert json.loads(raw.getvalue()) == {"name": "für −1"}


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert entry.main(["estimate", "--batch", "-"]) == 0
    sys.stdin.close()
    assert capsys.readouterr() == ("", "")


def test_json_of_a_list_has_no_other_output(capsys: Capture) -> None:
    assert entry.main(["catalog", "list", "accelerators", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    part = {"id": "mi325x", "kind": "accelerator", "name": "Instinct MI325X", "maker": "AMD", "own": False}
    assert part in listed


@pytest.mark.parametrize("name", ["a.gpudesk", "A.GPUDESK", "sheet.PDF", "facts.gpudeskpack"])
def test_file_for_the_window_needs_no_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_window(files: Sequence[str]) -> int:
        opened.extend(files)
        return 0

    monkeypatch.setattr(entry, "_open_window", open_window)
    assert entry.main([name]) == 0
    assert opened == [name]


@pytest.mark.parametrize("arguments", [["--version"], ["catalog", "list"], ["no-such-thing"]])
def test_executable_without_a_terminal_says_nothing_and_ends_as_the_other(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_terminal = entry.main(arguments)
    # What a windowed executable finds on Windows.
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert entry.main(arguments) == with_terminal
    for stream in (sys.stdout, sys.stderr):
        stream.close()


def test_files_that_no_window_opens_are_refused_by_name(tmp_path: Path, capsys: Capture) -> None:
    scenario, notes = tmp_path / "a.gpudesk", tmp_path / "notes.txt"
    for file in (scenario, notes):
        file.touch()
    for files in ([notes], [scenario, notes]):
        assert entry.main([str(file) for file in files]) == 2
        assert capsys.readouterr().err.startswith(
            f"gpudesk: cannot open {notes}: not a scenario (.gpudesk), sheet (.pdf)"
        )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["estimat"],
            "argument COMMAND: unknown value 'estimat' (did you mean estimate?); for help, run `gpudesk --help`",
        ),
        (
            ["estimate", "--concurency=8"],
            "unknown argument '--concurency' (did you mean --concurrency?); for help, run `gpudesk estimate --help`",
        ),
        (
            ["catalog", "list", "--jsn"],
            "unknown argument '--jsn' (did you mean --json?); for help, run `gpudesk catalog list --help`",
        ),
        (
            ["compare", "--input", "8"],
            "unknown argument '--input' (did you mean --input-tokens?); for help, run `gpudesk compare --help`",
        ),
        (["decide", "--goal", "cheapest"], "unknown argument '--goal'; for help, run `gpudesk decide --help`"),
        (["fit", "--nothing"], "unknown argument '--nothing'; for help, run `gpudesk fit --help`"),
    ],
)
def test_unknown_names_suggest_the_closest(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.main(arguments) == 2
    assert capsys.readouterr().err == f"gpudesk: {problem}\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signal_during_class_creation_ends_the_command() -> None:
    class EndsProgram:
        def __set_name__(self, owner: type, name: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(SystemExit) as ended, entry._unwind_when_terminated():
        type("Made", (), {"attribute": EndsProgram()})
    assert ended.value.code == 143
