"""`gpudesk catalog`: lists for programs, and what it needs of the program's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths, text
from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]


def listed(capsys: Capture, kind: str) -> list[dict[str, Any]]:
    assert entry.main(["catalog", "list", kind, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, list)
    return found


def test_prices_are_numbers_for_programs(capsys: Capture) -> None:
    found = listed(capsys, "prices")
    assert len({each["id"] for each in found}) == len(found) > 10
    single = [each for each in found if each["usd"] is not None]
    assert all(isinstance(each["usd"], int | float) for each in single)
    ranges = [each for each in found if each["usd"] is None and each["usd_low"] is not None]
    assert ranges
    assert all(each["usd_low"] <= each["usd_high"] for each in ranges if each["usd_high"] is not None)
    assert {each["source"]["id"] for each in found} <= {each["id"] for each in listed(capsys, "sources")}


@pytest.mark.parametrize("kind", ["prices", "disputes", "templates"])
def test_lists_for_programs_are_the_same_in_every_language(capsys: Capture, kind: str) -> None:
    plain = listed(capsys, kind)
    text.set_language("pseudo")
    assert listed(capsys, kind) == plain
    assert "—" not in {value for each in plain for value in each.values() if isinstance(value, str)}


@pytest.mark.parametrize(
    "arguments",
    [["show", "h200-sxm"], ["show", "h200-sxm", "--json"], ["list"], ["verify"]],
    ids=" ".join,
)
def test_the_catalog_needs_no_calibration(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    def missing() -> Path:
        raise paths.MissingFileError("calibration.json is missing; restore it")

    monkeypatch.setattr(paths, "calibration_path", missing)
    assert entry.main(["catalog", *arguments]) == 0
    asked = ["--accelerators", "h200-sxm", "--model", "llama-3.1-8b", "--input-tokens", "9"]
    assert entry.main(["estimate", *asked, "--output-tokens", "9", "--batch-size", "1"]) == 1
    assert capsys.readouterr().err == "gpudesk: calibration.json is missing; restore it\n"


def test_a_serving_engine_is_shown_in_words_and_plain_numbers(capsys: Capture) -> None:
    assert entry.main(["catalog", "show", "vllm"]) == 0
    said = capsys.readouterr().out
    assert "parallel: (pp yes, ep yes" in said
    assert "  - setting max_batch, value 256, source " in said
    assert "True" not in said
    assert ".0," not in said
