"""`gpudesk fleet`: the answer as text and for programs, settings from options and files, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]

ASKED = [
    *("--accelerators", "h200-sxm,h100-sxm", "--model", "llama-3.3-70b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "300", "--users", "2000"),
]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def plan(capsys: Capture, *more: str) -> dict[str, Any]:
    assert entry.main(["fleet", "--json", *ASKED, *more]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    answer: dict[str, Any] = json.loads(printed.out)
    return answer


def refuse(capsys: Capture, *more: str) -> str:
    assert entry.main(["fleet", *ASKED, *more]) in (1, 2)
    return capsys.readouterr().err


def test_the_answer_comes_first(capsys: Capture) -> None:
    assert entry.main(["fleet", *ASKED, "--growth", "0.5", "--curve", "global"]) == 0
    text = capsys.readouterr().out
    first = text.splitlines()[0]
    assert "per month" in first
    assert " odds of being the cheapest)." in first
    assert "Load curve: Global." in text
    for head in ("Replicas in use over the day", "Systems to own at the start of each year", "Hosted API", "Racks"):
        assert head in text


def test_the_cheapest_providers_are_named_for_each_accelerator(capsys: Capture) -> None:
    assert entry.main(["fleet", *ASKED]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name in ("H200 SXM 141GB", "H100 SXM 80GB"):
        assert f"Cheapest on-demand rent of {name} per accelerator-hour: " in text
    assert re.search(
        r"Rent: \$[\d.]+/h, the median of \d+ prices on record, \$[\d.]+/h to \$[\d.]+/h \(specialized cloud\)\.", text
    )
    first, second, *_ = plan(capsys)["fleets"][0]["provider_rents"]
    assert first["usd_per_hour"] <= second["usd_per_hour"]


def test_missing_rent_is_reported_once(capsys: Capture) -> None:
    assert entry.main(["fleet", *ASKED[2:], "--accelerators", "gaudi3"]) == 0
    assert capsys.readouterr().out.count("Missing rent of Gaudi 3") == 1


def test_fleet_json_has_every_field(capsys: Capture) -> None:
    answer = plan(capsys, "--spare-systems", "1", "--years", "2")
    assert answer["curve"]["kind"] == "office"
    assert answer["horizon_years"] == 2.0
    assert [each["accelerator"] for each in answer["fleets"]] == ["h200-sxm", "h100-sxm"]
    for each in answer["fleets"]:
        assert each["system"] in ("nvidia-dgx-h200", "nvidia-dgx-h100")
        assert each["spare_systems"] == 1
        assert each["used"] + each["spare"] + each["idle"] == 8 * each["systems"]
        assert len(each["hours"]) == 24
        assert [cost["supply"] for cost in each["costs"]] == ["owned", "rented", "autoscaled"]
        assert sum(line["usd"] for line in each["costs"][0]["lines"]) == pytest.approx(
            each["costs"][0]["total_usd"]["value"]
        )
    assert answer["api"]["total_usd"]["value"] > 0.0
    assert answer["cheapest"]["supply"] in ("owned", "rented", "autoscaled", "api")
    months = {
        (each["accelerator"], cost["supply"]): cost["per_month_usd"]["value"]
        for each in answer["fleets"]
        for cost in each["costs"]
    }
    months[None, "api"] = answer["api"]["per_month_usd"]["value"]
    cheapest, second = (tuple(answer[key].values()) for key in ("cheapest", "runner_up"))
    others = {key: usd for key, usd in months.items() if key[0] != cheapest[0]}
    assert months[cheapest] <= months[second] == min(others.values())


def test_own_multipliers_and_named_systems(capsys: Capture) -> None:
    hours = ",".join(["1"] * 12 + ["3"] * 12)
    answer = plan(capsys, "--curve", hours, "--system", "dell-xe8640-h100x4", "--instance", "aws-p5-48xlarge")
    assert answer["curve"]["multipliers"] == pytest.approx([0.5] * 12 + [1.5] * 12)
    h100 = answer["fleets"][1]
    assert (h100["system"], h100["instance"]) == ("dell-xe8640-h100x4", "aws-p5-48xlarge")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--curve", "1,2,3"), "24 numbers"),
        (("--curve", "daytime"), "--curve"),
        (("--curve", ",".join(["1"] * 23 + ["-2"])), "hour 23"),
        (("--curve", ",".join(["0"] * 24)), "Every hour"),
        (("--growth", "-2"), "--growth"),
        (("--kw-per-rack", "0"), "--kw-per-rack"),
        (("--spare-systems", "100"), "--spare-systems"),
        (("--system", "nvidia-dgx-b200"), "--system"),
        (("--system", "nothing"), "--system"),
        (("--instance", "nvidia-dgx-h100"), "--instance"),
        (("--years", "0"), "years"),
        (("--dp", "2"), "--dp"),
    ],
)
def test_impossible_values_are_named(capsys: Capture, options: tuple[str, ...], words: str) -> None:
    assert words in refuse(capsys, *options)


def test_missing_demand_names_the_options_for_one(capsys: Capture) -> None:
    assert entry.main(["fleet", *ASKED[:-2]]) == 1
    assert "--users" in capsys.readouterr().err


def test_scenario_file_has_its_fleet(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "fleet.gpudesk"
    document = {
        "gpudesk": 1,
        "scenario": {
            "version": 1,
            "name": "fleet",
            "model": "llama-3.3-70b",
            "weights": "fp8",
            "workload": {"input_tokens": 1000, "output_tokens": 300, "load": {"concurrency": 8}},
            "accelerators": [{"accelerator": "h100-sxm"}],
        },
        "demand": {"version": 1, "kind": "users", "amount": 500},
        "fleet": {"version": 1, "curve": "flat", "growth_per_year": 0.25, "cooling": "air"},
    }
    path.write_text(json.dumps(document))
    assert entry.main(["fleet", "--json", "--scenario", str(path), "--growth", "0.5"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["curve"]["kind"] == "flat"
    assert [year["demand_factor"] for year in answer["fleets"][0]["years"]] == pytest.approx([1.0, 1.5, 2.25])
