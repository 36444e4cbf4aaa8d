"""`gpudesk launch`: commands as text and as JSON, and what cannot be started."""

import json

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]

ASKED = [
    *("launch", "--model", "deepseek-v3", "--weights", "fp8", "--serving-engine", "sglang"),
    *("--input-tokens", "1000", "--output-tokens", "500", "--concurrency", "64"),
]


def test_a_terminal_gets_commands_to_paste(capsys: Capture) -> None:
    assert entry.main([*ASKED, "--accelerators", "mi325x:8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "8 × Instinct MI325X"
    assert "export SGLANG_USE_AITER=1" in lines
    assert any(line.startswith("# SGLANG_USE_AITER=1: enables AITER") for line in lines)
    assert any(line.startswith("Options for SGLang 0.5.23, from ") for line in lines)


def test_json_has_a_server_for_each_host(capsys: Capture) -> None:
    assert entry.main([*ASKED, "--accelerators", "h100-sxm:16", "--tp", "16", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["accelerator"] == "h100-sxm"
    assert result["parallel"]["tp"] == 16
    assert result["environment"] == []
    assert [each["host"] for each in result["servers"]] == [1, 2]
    assert ["--node-rank 0" in each["command"] for each in result["servers"]] == [True, False]
    assert "sglang.benchmark.serving" in result["benchmark"]


def test_version_is_accepted_or_refused(capsys: Capture) -> None:
    parts = ["--accelerators", "h200-sxm:8"]
    assert entry.main([*ASKED, *parts, "--engine-version", "0.5.5", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["engine_version"] == "0.5.5"
    assert "sglang.launch_server" in result["servers"][0]["command"]
    assert entry.main([*ASKED, *parts, "--engine-version", "1"]) == 1
    assert capsys.readouterr().err == (
        "gpudesk launch: h200-sxm: engine_version: SGLang 1 has no known options; known versions: 0.5.23, 0.5.5\n"
    )


def test_only_fitting_deployments_get_commands(capsys: Capture) -> None:
    assert entry.main([*ASKED, "--accelerators", "h100-sxm:1,h200-sxm:8"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("gpudesk launch: h100-sxm: ")
    assert captured.err.endswith("; 16 accelerators fit\n")
    assert captured.err.count("\n") == 1
    assert captured.out.startswith("8 × H200")
