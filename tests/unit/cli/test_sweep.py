"""`gpudesk sweep`: what it takes, what it says, and that no half file is left."""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.options import parse_number_list, split_list
from gpudesk.estimation.sweep import evaluation

Capture = pytest.CaptureFixture[str]

ASKED = ["--accelerators", "h200-sxm,mi325x", "--models", "llama-3.1-70b", "--weights", "fp8"]
LENGTHS = ["--input-tokens", "1024,8192", "--output-tokens", "256"]
GRID = ["sweep", *ASKED, *LENGTHS, "--tp", "1..8*2", "--concurrency", "1..256*2"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,2,4", [1, 2, 4]),
        ("1_024", [1024]),
        ("1..4", [1, 2, 3, 4]),
        ("8..30+8", [8, 16, 24]),
        ("3..50*4", [3, 12, 48]),
        ("1, 16..64*2", [1, 16, 32, 64]),
        ("7..7", [7]),
    ],
)
def test_numbers_are_lists_and_ranges(text: str, numbers: list[int]) -> None:
    assert parse_number_list(text) == numbers


@pytest.mark.parametrize("text", ["", "1,", "x", "4..1", "1..8*1", "0..8*2", "1..8+0", "1..9999999", "1.5"])
def test_invalid_list_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_number_list(text)


def test_words_are_parted_by_commas() -> None:
    assert split_list("fp8, fp16") == ["fp8", "fp16"]


def test_grid_goes_to_the_file_and_speed_to_standard_error(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "grid.npz"
    assert entry.main([*GRID, "-o", str(target)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"Wrote {target}\n"
    took = r"[\d.]+ s \([\d,]+/s\)"
    assert re.fullmatch(rf"gpudesk sweep: computed 144 points in {took}, wrote them in {took}\n", captured.err)
    with np.load(target) as grid:
        assert grid["fits"].shape == (2, 1, 1, 1, 4, 2, 1, 9)
        assert grid["fits"].all()


def test_json_has_the_same_content(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "rows.csv"
    assert entry.main([*GRID, "--kv", "fp8,fp16", "--json", "-o", str(target)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["file"] == str(target)
    assert (result["points"], result["fit"], result["shape"]["kv"]) == (288, 288, 2)
    assert result["evaluation_s"] > 0
    assert len(target.read_text(encoding="utf-8").splitlines()) == 289


def test_impossible_points_are_reported_once_and_counted(tmp_path: Path, capsys: Capture) -> None:
    assert entry.main([*GRID, "--tp", "1,3", "--models", "all", "-o", str(tmp_path / "all.csv")]) == 0
    error_lines = capsys.readouterr().err.splitlines()
    # Three divides the heads of some, but not their vocabulary as serving engines fill it up.
    assert len([line for line in error_lines if "--tp 3" in line]) == 1
    assert any(" points do not fit; reason column: " in line and " heads " in f"{line} " for line in error_lines)
    assert entry.main([*GRID, "--tp", "4,7", "-o", str(tmp_path / "seven.csv")]) == 0
    first, second, _ = capsys.readouterr().err.splitlines()
    assert first.startswith("gpudesk sweep: no point with --tp 7 is possible: TP 7 does not divide")
    assert second == "gpudesk sweep: 36 of 72 points do not fit; reason column: heads 36"
    assert entry.main([*GRID, "--tp", "7", "-o", str(tmp_path / "seven.csv")]) == 0
    assert capsys.readouterr().err.startswith("gpudesk sweep: no point is possible: TP 7 does not")


def test_all_means_all_accelerators(tmp_path: Path, capsys: Capture) -> None:
    options = ["sweep", *ASKED, *LENGTHS, "--batch", "1", "--accelerators", "all", "--json"]
    assert entry.main([*options, "-o", str(tmp_path / "all.csv")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["shape"]["accelerator"] > 20
    assert result["shape"]["batch"] == 1
    assert 0 < result["fit"] < result["points"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--concurrency", ""], 2, "an empty item between commas"),
        (["--tp", "8..1"], 2, "'8..1' is not a range"),
        (["--tp", "1..x*2"], 2, "'1..x*2' is not a range"),
        (["--tp", "0"], 1, "--tp: 0 is not between 1 and"),
        (["--batch", "1"], 2, "--concurrency: batch and concurrency cannot be combined"),
        (["--accelerators", "h200"], 1, "--accelerators: unknown accelerator 'h200'"),
        (["--accelerators", "all,h200-sxm"], 1, "--accelerators: unknown accelerator 'all'"),
        (["--weights", "fp9"], 1, "--weights: 'fp9' is not one of"),
        (["--kv", "fp6"], 1, "--kv: 'fp6' is not one of"),
        (["--date", "soon"], 1, "--date: "),
        (["--memory-fraction", "2"], 1, "--memory-fraction: "),
        (["--input-tokens", "1..20000"], 1, "--input-tokens: has 20,000 values"),
        (["--input-tokens", "1..9999", "--output-tokens", "1..9999"], 1, "the axes make 7,198,560,072 points"),
    ],
)
def test_faults_are_one_line_at_their_place(
    arguments: list[str], code: int, message: str, tmp_path: Path, capsys: Capture
) -> None:
    assert entry.main([*GRID, *arguments, "-o", str(tmp_path / "sweep.csv")]) == code
    line = capsys.readouterr().err
    assert message in line
    assert line.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_load_and_file_are_asked_for(tmp_path: Path, capsys: Capture) -> None:
    assert entry.main(["sweep", *ASKED, *LENGTHS, "-o", str(tmp_path / "sweep.csv")]) == 1
    assert "no load given; use one of batch, concurrency" in capsys.readouterr().err
    assert entry.main(GRID) == 2
    assert "-o" in capsys.readouterr().err
    assert entry.main([*GRID, "-o", "sweep.xlsx"]) == 1
    assert "sweep.xlsx: .xlsx is not a sweep format; use .csv, .npz" in capsys.readouterr().err


def test_progress_is_printed_on_request(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "_MOST_PLANS", 9)
    assert entry.main([*GRID, "--progress", "-o", str(tmp_path / "sweep.csv")]) == 0
    *lines, _ = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].endswith("144 of 144 points")


def test_terminal_sees_progress_in_one_line_that_goes(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "_MOST_PLANS", 9)
    monkeypatch.setattr("gpudesk.cli.commands.sweep._PATIENCE_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert entry.main([*GRID, "-o", str(tmp_path / "sweep.csv")]) == 0
    *updates, last = capsys.readouterr().err.split("\r\x1b[K")
    assert updates[-1].endswith("144 of 144 points")
    assert "\n" not in "".join(updates)
    assert last.startswith("gpudesk sweep: computed")


@pytest.mark.parametrize(
    ("suffix", "sign", "code"),
    [(".csv", signal.SIGINT, 130), (".npz", signal.SIGINT, 130), (".csv", signal.SIGTERM, 143)],
)
def test_interrupt_leaves_no_partial_file(suffix: str, sign: signal.Signals, code: int, tmp_path: Path) -> None:
    huge = ["--input-tokens", "1..4000", "--concurrency", "1..1000", "-o", str(tmp_path / f"sweep{suffix}")]
    # A shell lets what it runs in the background ignore the interrupt, and so do all processes that come of it.
    with subprocess.Popen(
        [sys.executable, "-m", "gpudesk", *GRID, *huge],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no locks
    ) as process:
        deadline = monotonic() + 60
        while not any(tmp_path.iterdir()) and monotonic() < deadline:
            sleep(0.02)
        process.send_signal(sign)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert re.fullmatch(r"gpudesk sweep: 32,000,000 points need about .*\n", errors)
    assert list(tmp_path.iterdir()) == []


def test_size_of_a_large_file_is_reported_and_free_space_checked(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudesk.cli.commands.sweep._MANY_POINTS", 10)
    target = tmp_path / "sweep.csv"
    many = [*GRID, "--input-tokens", "1..10", "--concurrency", "1..10", "-o", str(target)]
    assert entry.main(many) == 0
    assert re.search(r"gpudesk sweep: \d+ points need about \d+", capsys.readouterr().err)
    target.unlink()
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    assert entry.main(many) == 1
    assert "but the disk has" in capsys.readouterr().err
    assert not target.exists()
