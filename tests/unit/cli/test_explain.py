"""`gpudesk explain`: what can be asked, and what is answered where files of the program are broken."""

import json
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.cli import main as entry
from gpudesk.text import translation

Capture = pytest.CaptureFixture[str]

ASKED = [
    *("--accelerators", "h200-sxm:1,mi325x:1", "--model", "llama-3.1-8b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "100", "--concurrency", "8"),
]


@pytest.fixture
def broken_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "held-out.csv"
    file.write_text("run,figure\n", encoding="utf-8")
    monkeypatch.setattr(paths, "find_held_out_path", lambda: file)
    return file


def test_unexplained_figure_lists_those_with_explanations(capsys: Capture) -> None:
    assert entry.main(["explain", "nonsense", *ASKED]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("gpudesk: unknown figure 'nonsense'; use one of output_tokens_per_s,")
    assert captured.err.endswith(", memory, plan\n")
    assert entry.main(["explain", "ttft", *ASKED]) == 1
    assert capsys.readouterr().err == "gpudesk: unknown figure 'ttft'; did you mean ttft_ms?\n"


def test_terms_of_formulas_are_translated(capsys: Capture) -> None:
    translation.set_language("de")
    assert entry.main(["explain", "ttft_ms", *ASKED]) == 0
    assert "+ Attention im Prompt +" in capsys.readouterr().out


def test_a_broken_record_does_not_stop_the_working(capsys: Capture, broken_records: Path) -> None:
    assert entry.main(["explain", "tpot_ms", *ASKED]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("TPOT = ") == 2
    assert "Nearest published" not in captured.out
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(f"gpudesk explain: similar measured runs are unavailable: {broken_records}: ")


def test_a_broken_record_is_null_for_programs(capsys: Capture, broken_records: Path) -> None:
    assert entry.main(["explain", "tpot_ms", *ASKED, "--json"]) == 1
    accelerators = json.loads(capsys.readouterr().out)["accelerators"]
    assert [each["record"] for each in accelerators] == [None, None]
    assert all(each["term"]["value"] > 0 for each in accelerators)


@pytest.mark.parametrize("figure", ["memory", "plan", "max_concurrency"])
def test_unpublished_figure_needs_no_record(capsys: Capture, broken_records: Path, figure: str) -> None:
    assert entry.main(["explain", figure, *ASKED]) == 0
    assert capsys.readouterr().err == ""


def test_slowdown_of_older_software_uses_its_constant(capsys: Capture) -> None:
    assert entry.main(["explain", "tpot_ms", *ASKED, "--date", "2025-01"]) == 0
    output = capsys.readouterr().out
    assert "= e^(age slowdown × years back^1.5)" in output
    line = next(line for line in output.splitlines() if "slowdown by age = " in line)
    assert "calibration" not in line


def test_units_are_not_repeated(capsys: Capture) -> None:
    assert entry.main(["explain", "max_concurrency", *ASKED]) == 0
    output = capsys.readouterr().out
    assert "tokens of one sequence = 1,100" in output
    assert "1,100 tokens" not in output
    assert "GB)" in output


def test_a_worked_example_needs_no_scenario(capsys: Capture) -> None:
    assert entry.main(["explain", "w001-05"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("W001-05  H100 count for 405B, FP16\nMI300X vs H100")
    assert "= ⌈405 × 2 ÷ 80⌉ = 11\n" in output
    assert output.endswith("Published: 4 – 6, but arithmetic gives 11.\n")


def test_worked_examples_are_listed(capsys: Capture) -> None:
    assert entry.main(["explain", "examples", "--json"]) == 0
    examples = json.loads(capsys.readouterr().out)["examples"]
    refused = [each["id"] for each in examples if each["verdict"] == "contradicted by arithmetic"]
    assert len(examples) == 560
    assert "W004-19" in refused
    (flat,) = (each for each in examples if each["id"] == "W004-04")
    assert (flat["value"], flat["unit"], flat["stated"]) == (42240.0, "GB/s", 42240.0)
    assert entry.main(["explain", "examples"]) == 0
    assert "W003-10" in capsys.readouterr().out


def test_missing_worked_example_is_reported(capsys: Capture) -> None:
    assert entry.main(["explain", "W009-99"]) == 1
    assert capsys.readouterr().err == (
        "gpudesk: figure: unknown checked claim 'W009-99'; list all with `gpudesk explain examples`\n"
    )


FLEET = (
    *("--accelerators", "h200-sxm,mi355x", "--model", "llama-3.3-70b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "300", "--users", "2000"),
)


def test_figures_of_fleets_are_explained(capsys: Capture) -> None:
    assert entry.main(["explain", "fleet_power", *FLEET]) == 0
    text = capsys.readouterr().out
    assert "average power = " in text
    assert "working replicas = " in text
    assert entry.main(["explain", "fleet_rented_tokens", *FLEET, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["figure"] == "fleet_rented_tokens"
    assert [each["accelerator"] for each in answer["accelerators"]] == ["h200-sxm", "mi355x"]
    for each in answer["accelerators"]:
        total, tokens = (term["value"] for term in each["term"]["inputs"])
        assert each["term"]["value"] == pytest.approx(total / tokens)


def test_a_fleet_without_a_figure_does_not_hide_that_of_another(capsys: Capture) -> None:
    assert entry.main(["explain", "fleet_owned_month", *FLEET]) == 1
    printed = capsys.readouterr()
    assert "cost per month = " in printed.out
    assert "Instinct MI355X: this fleet has no such figure" in printed.err
    assert entry.main(["explain", "fleet_mass", *FLEET]) == 1
    assert "unknown figure 'fleet_mass'; did you mean fleet_" in capsys.readouterr().err
