"""`gpudesk size`: candidates for a demand, as text and for programs, and what cannot be asked."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudesk.cli import main as entry
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService

Capture = pytest.CaptureFixture[str]

ASKED = [
    *("--accelerators", "h200-sxm,h100-sxm", "--model", "llama-3.1-70b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "300"),
]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def run_json(capsys: Capture, *more: str) -> dict[str, Any]:
    assert entry.main(["size", "--json", *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    sizing: dict[str, Any] = json.loads(captured.out)
    return sizing


@pytest.mark.parametrize(
    ("demand", "rate"),
    [
        (("--users", "500"), 500 * 12 / 3600 * 2),
        (("--users", "500", "--requests-per-user-hour", "60", "--peak-factor", "3"), 500 * 60 / 3600 * 3),
        (("--request-rate", "4"), 8.0),
        (("--requests-per-second", "4"), 8.0),
        (("--tokens-per-day", "86.4e6"), 86.4e6 / 86400 / 300 * 2),
    ],
)
def test_factors_lead_from_the_demand_to_the_count(capsys: Capture, demand: tuple[str, ...], rate: float) -> None:
    sizing = run_json(capsys, *ASKED, *demand)
    assert sizing["requests_per_s"] == pytest.approx(rate)
    assert [each["accelerator"] for each in sizing["candidates"]] == ["h200-sxm", "h100-sxm"]
    for each in sizing["candidates"]:
        plan = each["parallel"]
        assert each["count"] == each["replicas"] * plan["tp"] * plan["pp"] + each["spare"]
        assert math.prod(factor["value"] for factor in each["factors"]) == pytest.approx(each["count"])
        assert each["output_tokens_per_s"]["value"] >= sizing["output_tokens_per_s"]
        assert each["nodes"] == math.ceil(each["count"] / 8)
        assert each["power_kw"] == pytest.approx(0.7 * each["count"])


def test_requests_in_flight_are_a_demand(capsys: Capture) -> None:
    sizing = run_json(capsys, *ASKED, "--concurrency", "300")
    assert sizing["requests_per_s"] is None
    for each in sizing["candidates"]:
        assert math.prod(factor["value"] for factor in each["factors"]) == pytest.approx(each["count"])
        assert each["concurrency_per_replica"] * each["replicas"] >= 300


def test_reserve_and_cap_are_the_users(capsys: Capture) -> None:
    lean = run_json(capsys, *ASKED, "--request-rate", "20", "--spare", "0", "--utilisation", "1")
    safe = run_json(capsys, *ASKED, "--request-rate", "20", "--spare", "2", "--utilisation", "0.5")
    for less, more in zip(lean["candidates"], safe["candidates"], strict=True):
        assert less["spare"] == 0
        assert more["count"] > less["count"]


def test_unreachable_limits_are_reported(capsys: Capture) -> None:
    sizing = run_json(capsys, *ASKED, "--users", "10", "--tpot-ms", "0.5")
    for each in sizing["candidates"]:
        assert each["count"] is None
        assert "meets the limits" in each["reason"]
        assert each["sentence"]


def test_unreachable_ttft_limit_is_reported_for_one_output_token(capsys: Capture) -> None:
    """A single output token has no time per token to tell of."""
    sizing = run_json(capsys, *ASKED, "--users", "100", "--output-tokens", "1", "--ttft-ms", "2")
    assert all(each["reason"].endswith(" TTFT") for each in sizing["candidates"])


def test_counts_given_with_the_parts_are_left_open(capsys: Capture) -> None:
    options = [text.replace("h200-sxm,h100-sxm", "h200-sxm:8,h100-sxm:1") for text in ASKED]
    assert run_json(capsys, *options, "--users", "500") == run_json(capsys, *ASKED, "--users", "500")


def test_the_demand_of_a_scenario_is_taken_and_changed(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "chat.gpudesk"
    scenario = replace(read_template("70b-chat-on-four"), demand=Demand(DemandKind.USERS, 2000.0, peak_factor=3.0))
    with GpuDeskService.open(with_user_facts=False) as service:
        service.save_scenario(scenario, file)
    sizing = run_json(capsys, "--scenario", str(file))
    assert sizing["requests_per_s"] == pytest.approx(2000 * 12 / 3600 * 3)
    fewer = run_json(capsys, "--scenario", str(file), "--users", "200")
    assert fewer["requests_per_s"] == pytest.approx(200 * 12 / 3600 * 3)
    sheet = tmp_path / "sheet.json"
    assert entry.main(["sheet", "--scenario", str(file), "-o", str(sheet)]) == 0
    capsys.readouterr()
    assert "2,000 users on average" in sheet.read_text(encoding="utf-8")


def test_power_is_that_of_the_systems_that_are_bought(capsys: Capture) -> None:
    """Four of the eight accelerators of a system are used, yet all of it draws power; a card has no system."""
    options = ("--model", "llama-3.3-70b", "--weights", "fp8", "--input-tokens", "1000", "--output-tokens", "300")
    for accelerator, power in (
        ("h200-sxm", "10.2 kW (1 whole system)"),
        ("mi325x", "≈ 14.4 kW (1 whole system)"),
        ("l40s", "8.40 kW (accelerators alone)"),
    ):
        limits = ("--request-rate", "5", "--tpot-ms", "1000")
        assert entry.main(["size", "--accelerators", accelerator, *options, *limits]) == 0
        output = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
        assert re.search(rf"Power, max +{re.escape(power)}\n", output)


def test_the_text_has_sentence_factors_and_product(capsys: Capture) -> None:
    assert entry.main(["size", *ASKED, "--users", "500", "--ttft-ms", "2000"]) == 0
    output = capsys.readouterr().out
    answer, first, second, *_ = output.splitlines()
    assert re.fullmatch(r"You need \d+ × H200 SXM or \d+ × H100 SXM\.", answer.replace("\N{NO-BREAK SPACE}", " "))
    assert first == "Llama 3.1 70B in FP8, 1,000 input and 300 output tokens."
    assert second.startswith("500 users with 12 requests per hour each, peak 2 × average, TTFT up to 2,000 ms")
    assert "3.33 requests/s and 1,000 output tok/s at peak." in output
    assert " for 500 users on average: " in output
    assert output.count("Users, daily average") == 2
    assert len(re.findall(r"= \d+  accelerators\n", output)) == 2


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 1, "no demand given; use one of --users, --request-rate, --tokens-per-day, --concurrency"),
        (("--users", "0"), 1, "--users: "),
        (("--tokens-per-day", "nan"), 2, "'nan' is not a finite number"),
        (("--users", "5", "--dp", "2"), 2, "--dp cannot be set here"),
        (("--users", "5", "--utilisation", "1.5"), 1, "--utilization: 1.5 is not between"),
        (("--users", "5", "--spare", "-1"), 1, "--spare: -1 is not between"),
        (("--users", "5", "--ttft-ms", "0"), 1, "--ttft-ms: "),
        (("--users", "5", "--request-rate", "1"), 2, "use either --users or --request-rate"),
        (("--users", "many"), 2, "is not a number"),
    ],
)
def test_impossible_request_is_refused_in_one_line(
    capsys: Capture, options: tuple[str, ...], code: int, message: str
) -> None:
    assert entry.main(["size", *ASKED, *options]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_caveats_are_printed(capsys: Capture) -> None:
    """More in flight than users, a prompt beyond the context, and hosts that are several machines."""
    ask = ["size", "--model", "yi-34b", "--input-tokens", "8000", "--output-tokens", "500"]
    users = ["--users", "10", "--requests-per-user-hour", "3600", "--accelerators", "gh200-96gb"]
    assert entry.main([*ask, *users]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "requests are in flight at peak, more than the number of users" in output
    assert "8,500 tokens exceed the 4,096 token context of Yi 34B" in output
    assert "One host means the 32 accelerators of one scale-up network" in output
    assert entry.main([*ask, "--users", "1", "--accelerators", "h100-sxm"]) == 0
    output = capsys.readouterr().out
    assert "1 user with 12 requests per hour" in output
    assert "in flight at peak, more" not in output
    assert "One host means" not in output


def test_one_request_per_second_is_singular(capsys: Capture) -> None:
    assert entry.main(["size", *ASKED, "--request-rate", "1"]) == 0
    output = capsys.readouterr().out
    assert " for 1 request per second: " in output
    assert "1 requests" not in output
