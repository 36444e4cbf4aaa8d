"""`gpudesk compare` and `gpudesk sheet`: the verdict and costs, and what is left without a load."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]
SPECIFIED = ["--model", "llama-3.1-70b", "--accelerators", "h200-sxm,mi325x"]


def test_terminal_prints_verdict_and_costs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert entry.main(["compare", "--template", "70b-chat-on-four"]) == 0
    text = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert "Cheapest at 100% utilization: MI325X ($" in text
    assert "Output token cost, rented, USD/M tokens" in text
    assert entry.main(["compare", "--template", "70b-chat-on-four", "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert result["verdict"].startswith("Cheapest at 100% utilization: MI325X ($")
    assert {each["figure"] for each in result["differences"]} >= {"rented_usd_per_million_output"}


def test_without_a_load_there_are_specifications_alone(capsys: Capture, tmp_path: Path) -> None:
    assert entry.main(["compare", *SPECIFIED]) == 0
    output = capsys.readouterr().out
    assert "specifications only" in output
    assert "Bandwidth" in output
    assert "Output throughput" not in output
    for name in ("sheet.html", "sheet.csv", "sheet.md", "sheet.xlsx", "sheet.json"):
        assert entry.main(["sheet", *SPECIFIED, "-o", str(tmp_path / name)]) == 0
    assert json.loads((tmp_path / "sheet.json").read_text())["scenario"]["load"] is None


def test_half_a_load_is_still_an_error(capsys: Capture, tmp_path: Path) -> None:
    assert entry.main(["compare", *SPECIFIED, "--requests", "5"]) != 0
    assert entry.main(["compare", *SPECIFIED, "-o", str(tmp_path / "mine.gpudesk")]) != 0
    assert "no load given" in capsys.readouterr().err


@pytest.mark.parametrize("lengths", [(), ("--input-tokens", "800"), ("--output-tokens", "300")])
def test_missing_length_names_the_option(capsys: Capture, lengths: tuple[str, ...]) -> None:
    options = ("--accelerators", "h100-sxm", "--model", "llama-3.1-8b", "--concurrency", "4", *lengths)
    for command in ("cost", "decide"):
        assert entry.main([command, *options]) == 1
        assert "such as --input-tokens 1000 --output-tokens 300" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_profiles_follow_the_sheet_at_its_load(capsys: Capture, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"sheet{suffix}"
    options = ("--template", "70b-chat-on-four", "--concurrency", "16", "--profile", "mi325x,tpu-v5e,mi325x")
    assert entry.main(["sheet", *options, "-o", str(target)]) == 0
    text = target.read_text().replace("\\", "")
    comparison, first, second = (text.index(title) for title in ("Sources", "Capabilities", "TPU v5e"))
    assert comparison < first < second
    assert text[first:].count("16 in flight, ") == 2


def test_profiles_are_refused_where_they_cannot_follow(capsys: Capture, tmp_path: Path) -> None:
    sheet = ("sheet", "--template", "70b-chat-on-four", "--profile")
    assert entry.main([*sheet, "mi325x", "-o", str(tmp_path / "sheet.csv")]) == 2
    assert "--profile needs a .pdf, .html or .md file" in capsys.readouterr().err
    assert entry.main([*sheet, "mi999", "-o", str(tmp_path / "sheet.md")]) == 1
    assert "unknown accelerator 'mi999'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
