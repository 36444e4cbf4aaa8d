"""Why a plan was taken, on the command line: a line, a block, a table, and JSON."""

import json
from typing import Any

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]

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
EIGHT = ["--accelerators", "h200-sxm:8", *ASKED]


def run(capsys: Capture, *arguments: str) -> str:
    assert entry.main(list(arguments)) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def read(capsys: Capture, *arguments: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    return json.loads(run(capsys, *arguments, "--json"))


def test_estimate_explains_its_plan_only_if_it_chose_one(capsys: Capture) -> None:
    output = run(capsys, "estimate", *EIGHT)
    (line,) = [line for line in output.splitlines() if "Why this plan" in line]
    assert "the next plan, " in line
    assert "Why this plan" not in run(capsys, "estimate", *EIGHT, "--tp", "8", "--pp", "1")
    assert "Why this plan" not in run(capsys, "estimate", "--accelerators", "h200-sxm:1", *ASKED)


def test_estimate_as_json_lists_the_plans(capsys: Capture) -> None:
    result = read(capsys, "estimate", *EIGHT)
    plans = result["plans"]
    assert [plan["taken"] for plan in plans] == [True] + [False] * (len(plans) - 1)
    assert {name: plans[0][name] for name in result["parallel"]} == result["parallel"]
    for figure in ("output_tokens_per_s", "ttft_ms", "tpot_ms"):
        assert plans[0][figure] == result[figure]
    assert all(plan["reason"] for plan in plans)
    assert all(plan["tp"] * plan["pp"] * plan["dp"] == 8 for plan in plans)


def test_batch_answer_lists_no_plans(capsys: Capture, tmp_path: Any) -> None:  # noqa: ANN401 - a path
    line = {
        "accelerator": "h200-sxm",
        "count": 8,
        "model": "llama-3.1-70b",
        "weights": "fp8",
        "input_tokens": 1000,
        "output_tokens": 1000,
        "load": {"concurrency": 64},
    }
    file = tmp_path / "lines"
    file.write_text(json.dumps(line))
    result = json.loads(run(capsys, "estimate", "--batch", str(file)))
    assert "plans" not in result


def test_explain_lists_plans_next_to_the_chosen_one(capsys: Capture) -> None:
    output = run(capsys, "explain", "tpot_ms", *EIGHT)
    term, _, rest = output.partition("\nWhy this plan\n")
    block = rest.partition("\n\n")[0]
    assert "TPOT = " in term
    bullets = [line for line in block.splitlines() if line.startswith("- ")]
    assert ", chosen, " in bullets[0]
    assert len(bullets) == 5
    assert bullets[-1].endswith("slower plans")
    result = read(capsys, "explain", "tpot_ms", *EIGHT)["accelerators"][0]
    assert result["term"]["name"] == "TPOT"
    assert len(result["plans"]) > 5


def test_explain_plan_is_a_table_of_all(capsys: Capture) -> None:
    output = run(capsys, "explain", "plan", "--accelerators", "h100-sxm:4", *ASKED, "--weights", "bf16")
    head, rule, first, *_ = output.splitlines()[1:]
    assert head.split() == ["Plan", "Output", "tok/s", "TTFT", "ms", "TPOT", "ms", "Reason"]
    assert set(rule) == {"─"}
    assert "chosen: " in first
    assert "does not fit: weights take 131 of" in output
    result = read(capsys, "explain", "plan", "--accelerators", "h100-sxm:4", *ASKED)["accelerators"][0]
    assert result["term"] is None
    assert result["plans"][0]["taken"]


def test_pools_show_their_plans(capsys: Capture) -> None:
    options = ["explain", "plan", "--disaggregated", *ASKED, "--weights", "fp8", "--accelerators"]
    _, prefill, decode = run(capsys, *options, "h200-sxm:4").splitlines()
    assert prefill.startswith("Prefill pool ")
    assert decode.startswith("Decode pool ")
    assert all(" TP " in line or " DP " in line for line in (prefill, decode))
    _, reason = run(capsys, *options, "rtx-4090:4").splitlines()
    assert reason.startswith("No split of 4 × ")


def test_explain_plan_lists_plans_that_do_not_fit(capsys: Capture) -> None:
    options = ["--accelerators", "h100-sxm:2", "--model", "llama-3.1-405b", *ASKED[2:]]
    output = run(capsys, "explain", "plan", *options)
    assert "taken" not in output
    assert output.count("does not fit") == 3
