"""The command line from end to end, on the shipped facts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths
from tests.e2e.conftest import Completed, RunProgram

ASKED = [
    "--model",
    "llama-3.1-70b",
    "--weights",
    "fp8",
    "--input-tokens",
    "1000",
    "--output-tokens",
    "1000",
    "--concurrency",
    "64",
]
PAIR = ["--accelerators", "h200-sxm,mi325x", *ASKED]
SAMPLE = ["--template", "mi325x-or-h200-70b"]
LINE = {
    "id": "a1",
    "accelerator": "h200-sxm",
    "count": 8,
    "model": "llama-3.1-70b",
    "weights": "fp8",
    "kv": "fp8",
    "tp": 8,
    "pp": 1,
    "ep": 1,
    "dp": 1,
    "attention_dp": False,
    "input_tokens": 1000,
    "output_tokens": 1000,
    "load": {"concurrency": 64},
}


def get_output(completed: Completed) -> str:
    """Return the output of a command that must succeed without a word on standard error."""
    assert completed.stderr == ""
    assert completed.returncode == 0
    return completed.stdout


def fault(completed: Completed, code: int = 1) -> str:
    """Return the one line of a command that must fail."""
    assert completed.returncode == code, completed.stderr
    assert completed.stderr.count("\n") == 1
    assert "Traceback" not in completed.stderr
    return completed.stderr.strip()


# What the program does


@pytest.mark.parametrize("display", ["", ":4711"])
@pytest.mark.parametrize("arguments", [[], ["mine.gpudesk"], ["sheet.pdf"]])
def test_missing_display_names_commands_that_work(
    gpudesk_process: RunProgram, monkeypatch: pytest.MonkeyPatch, display: str, arguments: list[str]
) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", display)
    output = fault(gpudesk_process(*arguments))
    assert output.startswith("gpudesk: cannot connect to display :4711" if display else "gpudesk: no display")
    assert "`gpudesk sheet`" in output


def test_compare_shows_figures_with_bands_and_sources(gpudesk: RunProgram) -> None:
    output = get_output(gpudesk("compare", *SAMPLE))
    assert "Change from H200 SXM" in output
    assert "Output throughput" in output
    assert " – " in output
    assert "Sources" in output


def test_compare_json_is_json_alone(gpudesk_process: RunProgram) -> None:
    result = json.loads(get_output(gpudesk_process("compare", *PAIR, "--json")))
    assert [part["accelerator"] for part in result["accelerators"]] == ["h200-sxm", "mi325x"]
    for part in result["accelerators"]:
        rate = part["estimate"]["output_tokens_per_s"]
        assert 0 < rate["low"] <= rate["value"] <= rate["high"]
    attributes = {each["name"]: each for each in result["accelerators"][1]["attributes"]}
    assert attributes["memory_bandwidth"]["value"] == 6.0e12
    assert 5.3e12 in [rival["value"] for rival in attributes["memory_bandwidth"]["rivals"]]


def test_estimate_as_text_and_as_json(gpudesk: RunProgram) -> None:
    output = get_output(gpudesk("estimate", *PAIR))
    assert output.count("Output throughput") == 2
    lines = get_output(gpudesk("estimate", *PAIR, "--json")).splitlines()
    result = [json.loads(line) for line in lines]
    assert [each["accelerator"] for each in result] == ["h200-sxm", "mi325x"]
    assert list(result[0])[:5] == ["id", "fits", "serving_engine", "parallel", "count"]


def test_omitted_weight_precision_is_the_models(gpudesk: RunProgram) -> None:
    options = ["--accelerators", "h200-sxm", "--model", "gpt-oss-120b", "--input-tokens", "100"]
    output = get_output(gpudesk("estimate", *options, "--output-tokens", "100", "--batch-size", "1"))
    assert "MXFP4" in output


def test_explain_prints_formulas_numbers_and_sources(gpudesk: RunProgram) -> None:
    output = get_output(gpudesk("explain", "tpot_ms", *PAIR))
    assert "TPOT = " in output
    assert "bandwidth" in output
    assert "[calibration: " in output
    result = json.loads(get_output(gpudesk("explain", "memory", *PAIR, "--json")))
    assert result["accelerators"][0]["term"]["inputs"]


def test_explain_ends_with_the_nearest_published_measurements(gpudesk: RunProgram) -> None:
    output = get_output(gpudesk("explain", "tpot_ms", *PAIR))
    _, _, block = output.rpartition("Similar measured runs (predicted without them)")
    records = json.loads(get_output(gpudesk("explain", "tpot_ms", *PAIR, "--json")))["accelerators"][-1]["record"]
    if paths.find_held_out_path() is None:
        assert "Unknown" in block
        assert records == []
        return
    bullets = [line for line in block.splitlines() if line.startswith("- ")]
    assert len(bullets) == len(records) == 3
    assert all("measured " in " ".join(bullet.split()) for bullet in block.split("\n- ")[1:])
    assert all(record["source"]["url"] for record in records)
    assert [record["distance"] for record in records] == sorted(record["distance"] for record in records)
    assert {record["figure"] for record in records} == {"tpot_ms"}


@pytest.mark.parametrize("suffix", [".html", ".md", ".csv", ".json"])
def test_sheet_is_written_in_every_form(gpudesk: RunProgram, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"sheet{suffix}"
    output = get_output(gpudesk("sheet", *SAMPLE, "-o", str(target)))
    assert output == f"Wrote {target}\n"
    text = target.read_text(encoding="utf-8")
    assert "MI325X" in text
    assert "Output throughput" in text or '"output_tokens_per_s"' in text


def test_same_figures_on_every_form(gpudesk: RunProgram, tmp_path: Path) -> None:
    screen = get_output(gpudesk("compare", *SAMPLE))
    row = next(
        line for line in screen.splitlines() if line.strip().startswith("Output throughput ") and "tok/s" in line
    )
    figures = [word for word in row.split() if word[0].isdigit()]
    assert len(figures) == 2
    for suffix in (".html", ".md"):
        target = tmp_path / f"sheet{suffix}"
        get_output(gpudesk("sheet", *SAMPLE, "-o", str(target)))
        text = target.read_text(encoding="utf-8")
        assert all(figure in text for figure in figures)


def test_catalog_shows_every_attribute_with_value_unit_source_and_rivals(gpudesk: RunProgram) -> None:
    entry = json.loads(get_output(gpudesk("catalog", "show", "mi325x", "--json")))
    attributes = {each["name"]: each for each in entry["attributes"]}
    for each in attributes.values():
        assert {"value", "unit", "source", "rivals"} <= set(each)
        assert each["value"] is None or each["source"]["title"]
    assert attributes["memory_bandwidth"]["value"] == 6.0e12
    assert attributes["memory_bandwidth"]["unit"] == "B/s"
    rivals = [(rival["value"], rival["source"]["id"]) for rival in attributes["memory_bandwidth"]["rivals"]]
    assert (5.3e12, "seed-000") in rivals
    text = get_output(gpudesk("catalog", "show", "mi325x"))
    assert "5.3 TB/s" in text


@pytest.mark.parametrize("entry", ["llama-3.1-70b", "vllm", "sdxl"])
def test_every_kind_of_entry_can_be_shown(gpudesk: RunProgram, entry: str) -> None:
    assert entry in get_output(gpudesk("catalog", "show", entry))
    assert json.loads(get_output(gpudesk("catalog", "show", entry, "--json")))["id"] == entry


@pytest.mark.parametrize(
    "kind",
    ["accelerators", "models", "diffusion-models", "serving-engines", "templates", "prices", "sources", "disputes"],
)
def test_every_kind_can_be_listed(gpudesk: RunProgram, kind: str) -> None:
    assert len(get_output(gpudesk("catalog", "list", kind)).splitlines()) > 4
    assert len(json.loads(get_output(gpudesk("catalog", "list", kind, "--json")))) > 3


def test_catalog_verifies(gpudesk: RunProgram) -> None:
    result = json.loads(get_output(gpudesk("catalog", "verify", "--json")))
    assert result["findings"] == []
    assert "every reference exists" in get_output(gpudesk("catalog", "verify"))


# JSON lines


def answers(completed: Completed) -> list[dict[str, Any]]:
    return [json.loads(line) for line in completed.stdout.splitlines()]


def test_lines_are_answered_in_order(gpudesk_process: RunProgram, tmp_path: Path) -> None:
    lines = "".join(json.dumps(LINE | {"id": number}) + "\n" for number in range(50))
    completed = gpudesk_process("estimate", "--batch", "-", stdin=lines)
    assert get_output(completed)
    assert [answer["id"] for answer in answers(completed)] == list(range(50))
    file = tmp_path / "lines.jsonl"
    file.write_text(lines, encoding="utf-8")
    assert gpudesk_process("estimate", "--batch", str(file)).stdout == completed.stdout


def test_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text((json.dumps(LINE) + "\n") * 20_000, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "gpudesk", "estimate", "--batch", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline().startswith(b'{"id":"a1"')
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0


def test_broken_line_between_two_good_ones(gpudesk_process: RunProgram) -> None:
    good = json.dumps(LINE)
    completed = gpudesk_process("estimate", "--batch", "-", stdin=f"{good}\n{{not json\n\n{good}\n")
    assert completed.returncode == 1
    assert completed.stderr == ""
    first, second, third = answers(completed)
    assert first == third
    assert first["fits"] is True
    assert second["id"] is None
    assert second["line"] == 2
    assert "is not valid JSON" in second["error"]


def test_figures_of_a_line_are_bound_by_physics(gpudesk: RunProgram) -> None:
    alone = LINE | {"count": 1, "tp": 1, "weights": "fp16", "kv": "fp16", "load": {"batch": 1}}
    requests = [alone, alone | {"accelerator": "mi325x"}, alone | {"model": "llama-3.1-405b"}]
    completed = gpudesk("estimate", "--batch", "-", stdin="\n".join(map(json.dumps, requests)))
    h200, mi325x, large = answers(completed)
    assert 0 < h200["output_tokens_per_s"]["value"] < 34.3
    assert 0 < mi325x["output_tokens_per_s"]["value"] < 42.9
    assert h200["memory_gib"]["weights"] * 2**30 == 141_107_412_992
    assert large["fits"] is False
    assert large["needs"] > 1
    assert large["reason"]


# Bad input


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["compare", "--accelerators", "h300", *ASKED], "--accelerators: unknown accelerator 'h300'"),
        (["compare", "--accelerators", "h200", *ASKED], "did you mean h200-sxm"),
        (["compare", "--template", "mi325"], "unknown template 'mi325'"),
        (["estimate", *PAIR, "--model", "llama-3.1-71b"], "--model: unknown model 'llama-3.1-71b'; did you mean"),
        (["estimate", *PAIR, "--weights", "fp5"], "--weights: 'fp5' is not one of fp16"),
        (["estimate", *PAIR, "--serving-engine", "vlm"], "--serving-engine: 'vlm' is not one of vllm"),
        (["estimate", *PAIR, "--input-tokens", "0"], "--input-tokens: 0 is not between 1 and 100,000,000"),
        (
            ["compare", "--accelerators", "h200-sxm:8", *ASKED, "--tp", "3"],
            "8 accelerators do not match TP 3; use a multiple of 3",
        ),
        (["explain", "nonsense", "--accelerators", "h200-sxm", *ASKED], "unknown figure 'nonsense'; use one of"),
        (["sheet", *SAMPLE, "-o", "sheet.docx"], "sheet.docx: .docx is not a supported format"),
        (["catalog", "show", "mi32x"], "unknown catalog entry 'mi32x'; did you mean mi325x, "),
        (["estimate", "--batch", "/no/such/file"], "/no/such/file: cannot be read: no such file or directory"),
        (["compare", "--scenario", "gone.gpudesk"], "gone.gpudesk: cannot be read: no such file or directory"),
        (["sheet", *SAMPLE, "-o", "/no/such/folder/a.md"], "/no/such/folder/a.md: cannot be written"),
    ],
)
def test_bad_input_is_answered_in_one_line(gpudesk: RunProgram, arguments: list[str], output: str) -> None:
    completed = gpudesk(*arguments)
    assert output in fault(completed)
    assert completed.stdout == ""


def test_impossible_tp_is_refused(gpudesk: RunProgram) -> None:
    completed = gpudesk("estimate", "--accelerators", "h200-sxm:7", *ASKED, "--tp", "7")
    assert "TP 7" in fault(completed)


def test_text_instead_of_a_number_is_refused(gpudesk_process: RunProgram) -> None:
    line = json.dumps(LINE | {"output_tokens": "many"})
    completed = gpudesk_process("estimate", "--batch", "-", stdin=line)
    assert completed.returncode == 1
    assert answers(completed) == [
        {"id": "a1", "line": 1, "error": "output_tokens: 'many' is text; expected a whole number"}
    ]


def test_truncated_scenario_is_refused(gpudesk: RunProgram, tmp_path: Path) -> None:
    whole = (Path(__file__).parents[2] / "resources" / "templates" / "405b-one-node.gpudesk").read_bytes()
    half = tmp_path / "half.gpudesk"
    half.write_bytes(whole[: len(whole) // 2])
    output = fault(gpudesk("compare", "--scenario", str(half)))
    assert output.startswith(f"gpudesk: {half}: is incomplete: it ends at line ")


def test_unknown_id_in_a_scenario_names_the_place(gpudesk: RunProgram, tmp_path: Path) -> None:
    whole = (Path(__file__).parents[2] / "resources" / "templates" / "405b-one-node.gpudesk").read_text()
    file = tmp_path / "a.gpudesk"
    file.write_text(whole.replace("h200-sxm", "h201-sxm"))
    output = fault(gpudesk("compare", "--scenario", str(file)))
    assert f"{file}: scenario.accelerators[1].accelerator: unknown accelerator 'h201-sxm'" in output


# Languages


@pytest.mark.parametrize(
    "arguments", [["compare", *SAMPLE], ["estimate", *PAIR], ["--self-test"], ["catalog", "verify"]]
)
def test_text_output_is_translated(gpudesk: RunProgram, arguments: list[str]) -> None:
    """In the made-up language every line that has words has some that came through the translations."""
    output = get_output(gpudesk(*arguments, environment={"GPUDESK_LANGUAGE": "pseudo", "COLUMNS": "1000"}))
    bypassed = [
        line
        for line in output.splitlines()
        if any(sign.isalpha() for sign in line) and "⟦" not in line and not line.startswith(NAMES)
    ]
    assert bypassed == []


#: Lines that hold names of things and figures alone: titles, heads of columns, second lines of cells.
NAMES = ("MI325X or H200", "Chat on one", "1 × ", "  TP ", "  BF16 ", "  FP", " " * 20)


def test_a_saved_scenario_opens_again_with_the_same_answer(gpudesk: RunProgram, tmp_path: Path) -> None:
    saved, first, second = (tmp_path / name for name in ("mine.gpudesk", "a.json", "b.json"))
    get_output(gpudesk("sheet", *SAMPLE, "--concurrency", "32", "-o", str(saved)))
    document = json.loads(saved.read_text(encoding="utf-8"))
    assert document["scenario"]["workload"]["load"] == {"concurrency": 32}
    assert document["catalog"]["revision"]
    get_output(gpudesk("sheet", *SAMPLE, "--concurrency", "32", "-o", str(first)))
    get_output(gpudesk("sheet", "--scenario", str(saved), "-o", str(second)))
    answers = [json.loads(path.read_text(encoding="utf-8")) for path in (first, second)]
    assert answers[0]["accelerators"] == answers[1]["accelerators"]


def test_a_byte_order_mark_before_the_first_line_is_skipped(gpudesk: RunProgram, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"\xef\xbb\xbf" + json.dumps(LINE).encode() + b"\n")
    assert json.loads(get_output(gpudesk("estimate", "--batch", str(lines))))["fits"]
