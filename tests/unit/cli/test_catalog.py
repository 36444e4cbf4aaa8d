"""`gpudesk catalog`: lists for programs, and what it needs of the program's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths
from gpudesk.catalog.user_store.edits import prefer_claim, state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.cli import main as entry
from gpudesk.domain.claim import SourceKind
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from tests.fakes import replace_data_path

Capture = pytest.CaptureFixture[str]


def list_rows(capsys: Capture, kind: str) -> list[dict[str, Any]]:
    assert entry.main(["catalog", "list", kind, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert isinstance(rows, list)
    return rows


def test_prices_are_numbers_for_programs(capsys: Capture) -> None:
    prices = list_rows(capsys, "prices")
    assert len({each["id"] for each in prices}) == len(prices) > 10
    single = [each for each in prices if each["usd"] is not None]
    assert all(isinstance(each["usd"], int | float) for each in single)
    ranges = [each for each in prices if each["usd"] is None and each["usd_low"] is not None]
    assert ranges
    assert all(each["usd_low"] <= each["usd_high"] for each in ranges if each["usd_high"] is not None)
    assert {each["source"]["id"] for each in prices} <= {each["id"] for each in list_rows(capsys, "sources")}


@pytest.mark.parametrize("kind", ["prices", "disputes", "templates"])
def test_lists_for_programs_are_the_same_in_every_language(capsys: Capture, kind: str) -> None:
    plain = list_rows(capsys, kind)
    translation.set_language("pseudo")
    assert list_rows(capsys, kind) == plain
    assert "—" not in {value for each in plain for value in each.values() if isinstance(value, str)}


def test_verification_counts_entries_in_lines_for_people_and_by_fixed_names_for_programs(capsys: Capture) -> None:
    assert entry.main(["catalog", "verify"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100
    assert entry.main(["catalog", "verify", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)["counts"]
    translation.set_language("de")
    assert entry.main(["catalog", "verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == plain


@pytest.mark.parametrize(
    "arguments", [["show", "h200-sxm"], ["show", "h200-sxm", "--json"], ["list"], ["verify"]], ids=" ".join
)
def test_the_catalog_needs_no_calibration(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    def missing() -> Path:
        raise paths.MissingFileError("calibration.json is missing; restore it")

    replace_data_path(monkeypatch, "calibration.json", missing)
    assert entry.main(["catalog", *arguments]) == 0
    options = ["--accelerators", "h200-sxm", "--model", "llama-3.1-8b", "--input-tokens", "9"]
    assert entry.main(["estimate", *options, "--output-tokens", "9", "--batch-size", "1"]) == 1
    assert capsys.readouterr().err == "gpudesk: calibration.json is missing; restore it\n"


def test_a_serving_engine_is_shown_in_words_and_plain_numbers(capsys: Capture) -> None:
    assert entry.main(["catalog", "show", "vllm"]) == 0
    output = capsys.readouterr().out
    assert "parallel: (pp yes, ep yes" in output
    assert "  - setting max_batch, value 256, source " in output
    assert "True" not in output
    assert ".0," not in output


@pytest.fixture
def with_user_values() -> None:
    """State a bandwidth of the user and choose another power for MI325X."""
    source = make_user_source("Quote by mail", "Dealer", url=None, date="2026-11-18", kind=SourceKind.USER)
    with GpuDeskService.open() as service:
        edit = state_value(
            service.catalog,
            "mi325x",
            "memory_bandwidth",
            6.1,
            "TB/s",
            source,
            today="2026-11-20",
            reason="measured on our rack",
        )
        service.user_catalog.do(edit)
        rival = service.catalog.attribute("mi325x", "tdp").rivals[0]
        service.user_catalog.do(
            prefer_claim(service.catalog, "mi325x", "tdp", rival, "they throttle", today="2026-11-20")
        )


@pytest.mark.usefixtures("with_user_values")
def test_user_values_are_shown_with_the_choice_and_the_shipped_value(capsys: Capture) -> None:
    assert entry.main(["catalog", "show", "mi325x"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "memory_bandwidth ◇ 6.1 TB/s [your value, Dealer, Quote by mail, entered by you, 2026-11-18]" in output
    assert "vendor data sheet, 2026] preferred in the shipped catalog" in output
    assert "Your preference, 2026-11-20: Measured on our rack. Shipped catalog: 6.0 TB/s, according to AMD" in output
    assert "Your preference, 2026-11-20: They throttle." in output
    # Verdicts that spoke for the shipped value say nothing for another.
    bandwidth_rows = output[output.index("memory_bandwidth") : output.index("last_level_cache")]
    assert "agrees" not in bandwidth_rows
    assert "⊘ 5.3 TB/s" in bandwidth_rows


@pytest.mark.usefixtures("with_user_values")
def test_user_values_are_marked_for_programs(capsys: Capture) -> None:
    assert entry.main(["catalog", "show", "mi325x", "--json"]) == 0
    attributes = {each["name"]: each for each in json.loads(capsys.readouterr().out)["attributes"]}
    bandwidth, power = attributes["memory_bandwidth"], attributes["tdp"]
    assert (bandwidth["value"], bandwidth["claim"]["own"]) == (6.1e12, True)
    assert not any(rival["own"] for rival in bandwidth["rivals"])
    assert bandwidth["preference"]["reason"] == "measured on our rack"
    assert bandwidth["preference"]["shipped_value"] == 6e12
    assert not power["claim"]["own"]
    assert (power["preference"]["date"], power["preference"]["shipped_value"]) == ("2026-11-20", 1000)
    assert attributes["memory"]["preference"] is None


def test_a_copy_of_an_accelerator_is_imported_without_a_question(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert entry.main(["catalog", "show", "mi455x", "--json"]) == 0
    copy = json.loads(capsys.readouterr().out)
    assert (copy["generation"], copy["announced"], copy["own"]) == ("cdna5", True, False)
    file = tmp_path / "copy.json"
    file.write_text(json.dumps({**copy, "id": "ours", "name": "Our part"}), "utf-8")
    assert entry.main(["import", str(file)]) == 0
    capsys.readouterr()
    assert [each["id"] for each in list_rows(capsys, "accelerators") if each["own"]] == ["ours"]
    with GpuDeskService.open() as service:
        ours, theirs = (service.catalog.accelerator(part) for part in ("ours", "mi455x"))
    assert (ours.generation, ours.announced) == (theirs.generation, True)
    assert (ours.memory_bytes, ours.memory_bandwidth, ours.peak_dense) == (
        theirs.memory_bytes,
        theirs.memory_bandwidth,
        theirs.peak_dense,
    )
    monkeypatch.setenv("COLUMNS", "160")
    assert entry.main(["catalog", "list", "accelerators"]) == 0
    assert "Our part (announced, yours)" in capsys.readouterr().out
