"""Disaggregated deployments from the command line."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import RunProgram
from tests.e2e.test_command_line import ASKED, fault, get_output

EIGHT = ["--accelerators", "h200-sxm:8", *ASKED]


def test_estimate_shows_both_pools_and_the_bottleneck(gpudesk: RunProgram) -> None:
    text = get_output(gpudesk("estimate", *EIGHT, "--pools", "prefill=2:tp2,decode=6:tp2"))
    assert "Prefill pool" in text
    assert "2: TP 2" in text
    assert "6: TP 2 × DP 3" in text
    assert "limits the rate" in text
    assert "The KV cache of a prompt" in text


def test_split_between_pools_is_chosen(gpudesk: RunProgram) -> None:
    result = json.loads(get_output(gpudesk("estimate", *EIGHT, "--disaggregated", "--json")))
    pools = result["pools"]
    assert pools["prefill"]["count"] + pools["decode"]["count"] == result["count"] == 8
    assert pools["link"] == "scale-up"


def test_explain_shows_a_term_for_each_pool_and_for_the_transfer(gpudesk: RunProgram) -> None:
    text = get_output(gpudesk("explain", *EIGHT, "--disaggregated"))
    for name in ("prefill pool limit", "link limit", "KV transfer", "stay in the decode pool"):
        assert f"{name} = " in text
    assert "handover = " in get_output(gpudesk("explain", "ttft_ms", *EIGHT, "--disaggregated"))


@pytest.mark.parametrize("load", [["--concurrency", "100"], ["--request-rate", "3"], ["--saturate", "500"]])
def test_estimate_compare_and_sheet_agree_on_both_pools(gpudesk: RunProgram, tmp_path: Path, load: list[str]) -> None:
    without_load = EIGHT[: EIGHT.index("--concurrency")]
    options = [*without_load, "--disaggregated", *load]
    estimated = json.loads(get_output(gpudesk("estimate", *options, "--json")))
    compared = json.loads(get_output(gpudesk("compare", *options, "--json")))["accelerators"][0]["estimate"]
    get_output(gpudesk("sheet", *options, "-o", str(tmp_path / "sheet.json")))
    printed = json.loads((tmp_path / "sheet.json").read_text())["accelerators"][0]["estimate"]
    assert compared == printed
    shared = estimated.keys() & compared.keys()
    assert {"pools", "parallel", "output_tokens_per_s", "ttft_ms", "admitted", "notes"} <= shared
    assert {name: compared[name] for name in shared} == {name: estimated[name] for name in shared}
    assert compared["pools"]["prefill"]["count"] + compared["pools"]["decode"]["count"] == 8


@pytest.mark.parametrize("form", ["text", "json"])
def test_compare_names_the_split(gpudesk: RunProgram, form: str) -> None:
    compared = ["compare", "--accelerators", "h200-sxm:8,mi325x:8", *ASKED, "--disaggregated"]
    output = get_output(gpudesk(*compared, *(["--json"] if form == "json" else [])))
    assert ("prefill," in output) if form == "text" else ("Prefill pool of" in output)


@pytest.mark.parametrize(
    ("pools", "code", "message"),
    [
        ("draft=2", 2, "--pools: 'draft=2' is not a list of pools"),
        ("prefill=2:tp", 2, "--pools: 'prefill=2:tp' is not a list of pools"),
        ("prefill=2,prefill=4", 2, "--pools lists a pool twice"),
        ("prefill=0", 1, "--pools: 0 is not between 1 and"),
        ("prefill=2:tp3", 1, "disaggregated.prefill.count: 2 accelerators do not match TP 3; use a multiple of 3"),
        ("prefill=4,decode=5", 1, "count: the pools need 4 and 5 accelerators, but the total is 8"),
    ],
)
def test_impossible_pools_are_refused_in_one_line(gpudesk: RunProgram, pools: str, code: int, message: str) -> None:
    assert message in fault(gpudesk("estimate", *EIGHT, "--pools", pools), code)


def test_one_plan_for_both_pools_is_refused(gpudesk: RunProgram) -> None:
    assert "remove tp, or set it for" in fault(gpudesk("estimate", *EIGHT, "--disaggregated", "--tp", "2"))


def test_a_scenario_keeps_its_pools(gpudesk: RunProgram, tmp_path: Path) -> None:
    wish = {"prefill": {"count": 2}, "decode": {"count": 6, "tp": 2}}
    scenario = {
        "version": 1,
        "name": "Pools",
        "model": "llama-3.1-70b",
        "weights": "fp8",
        "workload": {"input_tokens": 1000, "output_tokens": 1000, "load": {"concurrency": 64}},
        "accelerators": [{"accelerator": "h200-sxm", "disaggregated": wish}],
    }
    path = tmp_path / "pools.gpudesk"
    path.write_text(json.dumps({"gpudesk": 1, "scenario": scenario}))
    result = json.loads(get_output(gpudesk("estimate", "--scenario", str(path), "--json")))
    assert result["pools"]["prefill"]["count"] == 2
    assert result["pools"]["decode"]["parallel"]["tp"] == 2
    plain = json.loads(get_output(gpudesk("estimate", "--scenario", str(path), "--no-disaggregated", "--json")))
    assert plain["pools"] is None
