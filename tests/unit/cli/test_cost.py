"""`gpudesk cost`: costs as text and for programs, inputs that are stated, and what cannot be stated."""

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]
ASKED = ["--template", "70b-chat-on-four"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def run_json(capsys: Capture, *more: str) -> dict[str, Any]:
    assert entry.main(["cost", "--json", *ASKED, "--draws", "5000", *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    costs: dict[str, Any] = json.loads(captured.out)
    return costs


def run_text(capsys: Capture, *more: str) -> str:
    """Return what the command writes for people, without protected spaces."""
    assert entry.main(["cost", *ASKED, "--draws", "5000", *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.replace("\N{NO-BREAK SPACE}", " ")


def find_candidate(costs: dict[str, Any], part: str) -> dict[str, Any]:
    each: dict[str, Any] = next(each for each in costs["candidates"] if each["accelerator"] == part)
    return each


def test_open_counts_are_explained(capsys: Capture) -> None:
    note = "Without a count, each has the fewest accelerators that fit."
    options = ("--model", "llama-3.1-8b", "--input-tokens", "800", "--output-tokens", "300", "--concurrency", "4")
    for accelerators, is_said in (("h100-sxm,l4", True), ("h100-sxm:1,l4:1", False)):
        assert entry.main(["cost", "--accelerators", accelerators, *options, "--draws", "100"]) == 0
        assert (note in capsys.readouterr().out.replace("\n", " ")) is is_said


def test_lines_add_up_to_the_total_and_tokens_follow(capsys: Capture) -> None:
    costs = run_json(capsys, "--set", "utilisation=0.5")
    for each in costs["candidates"]:
        if each["tco"] is None:
            continue
        tco = each["tco"]
        assert math.fsum(line["usd"] for line in tco["lines"]) == pytest.approx(tco["total_usd"], abs=0.01)
        tokens = each["output_tokens_per_s"]["value"] * tco["years"] * 8760 * 3600 * 0.5
        assert each["owned"]["usd_per_million_output"]["value"] == pytest.approx(tco["total_usd"] / tokens * 1e6)
        for name in ("usd_per_million_output", "usd_per_million_input", "usd_per_million_blended"):
            assert each[name] == each["owned"][name]
            assert each[name]["low"] < each[name]["value"] < each[name]["high"]


def test_without_a_price_there_is_no_cost_of_owning(capsys: Capture) -> None:
    costs = run_json(capsys)
    part = find_candidate(costs, "mi355x")
    assert part["tco"] is None
    assert part["missing"] == ["price_usd"]
    assert part["basis"] == "rented"
    assert part["rent"] == {"low": 8.6, "median": 8.6, "high": 8.6}
    assert set(costs["draws"]["cheapest"]) == {"h200-sxm", "mi325x", "b200-hgx"}
    assert set(costs["draws"]["cheapest_rented"]) == {"h200-sxm", "mi325x", "b200-hgx", "mi355x"}
    assert sum(costs["draws"]["cheapest"].values()) == pytest.approx(1.0)
    assert costs["tax"] == "excluded"


def test_a_price_that_is_stated_fills_the_gap(capsys: Capture) -> None:
    costs = run_json(capsys, "--set", "mi355x.price_usd=30000:35000:40000")
    part = find_candidate(costs, "mi355x")
    assert part["missing"] == []
    assert part["inputs"]["price_usd"] == {"origin": "yours", "low": 30e3, "likely": 35e3, "high": 40e3}
    assert "mi355x" in costs["draws"]["cheapest"]


def test_break_evens_name_their_accelerator(capsys: Capture) -> None:
    costs = run_json(capsys, "--runs-on", "CUDA")
    names = {(each["name"], each["accelerator"], each["against"]) for each in costs["break_even"]}
    assert ("months_to_own", "h200-sxm", None) in names
    assert ("price_usd_to_tie", "mi325x", "h200-sxm") in names
    assert ("hours_to_port", "mi325x", "h200-sxm") in names
    assert all(each["value"] is None or math.isfinite(each["value"]) for each in costs["break_even"])


def test_people_read_tokens_years_break_evens_and_draws(capsys: Capture) -> None:
    output = run_text(capsys)
    one_line = " ".join(output.split())
    terms = "USD, without taxes; 100% utilization; on-demand rent; servers add 25% to the purchase price"
    assert f"{terms}; costs count only accelerators in use, not whole systems." in one_line
    ported = " ".join(run_text(capsys, "--runs-on", "CUDA").split())
    assert f"{terms}; costs count only accelerators in use, not whole systems; software cost not shared." in ported
    assert "3 years, thousand USD" in output
    assert "MI355X: no purchase price." in output
    assert "H200 SXM: buying pays back after 19.6 months, compared with renting 24/7." in output
    assert " simulations of all inputs: 80% interval, and odds of being the cheapest\nOwned: MI325X 0." in output
    assert "Total" in output


def test_the_only_one_without_a_queue_has_no_odds(capsys: Capture) -> None:
    output = run_text(capsys, "--accelerators", "h200-sxm,mi325x", "--concurrency", "120")
    assert "Requests queue on 1 × H200 SXM." in " ".join(output.split())
    assert " simulations of all inputs: 80% interval\nOwned: " in output
    assert "over 99%" not in output


def test_the_cheapest_provider_is_named_with_class_and_date(capsys: Capture) -> None:
    rents = find_candidate(run_json(capsys), "mi325x")["provider_rents"]
    assert [each["usd_per_hour"] for each in rents] == sorted(each["usd_per_hour"] for each in rents)
    first = rents[0]
    assert {first["provider_class"], first["term"]} == {"specialized", "on_demand"}
    named = f"{first['provider']} (specialized cloud, {first['date']}) ${first['usd_per_hour']:.2f}; next: "
    assert f"Cheapest on-demand rent of MI325X per accelerator-hour: {named}" in " ".join(run_text(capsys).split())


def test_rents_by_provider_are_a_table_the_cheapest_tokens_first(capsys: Capture) -> None:
    head, _, *rows = run_text(capsys, "--providers").splitlines()
    assert head.split("  ")[0] == "Rents by provider"
    costs = [float(row.rpartition("$")[2].split()[0]) for row in rows]
    assert len(costs) > 10
    assert costs == sorted(costs)
    assert {"MI325X", "H200 SXM"} <= {name for row in rows for name in ("MI325X", "H200 SXM") if name in row}
    reserved = run_text(capsys, "--providers", "--accelerators", "gaudi3", "--rent-term", "capacity_block")
    assert reserved == "No provider on record rents these accelerators on these terms.\n"


def test_the_first_line_is_that_of_the_cost_page(capsys: Capture) -> None:
    output = " ".join(run_text(capsys).split())
    assert output.startswith("When owned, MI325X (")
    assert output.index("When rented, 4 are too close to call: MI325X (") < output.index("USD, without taxes")


def test_oversized_model_is_not_reported_as_missing_a_price(capsys: Capture) -> None:
    output = run_text(capsys, "--model", "llama-3.1-405b", "--accelerators", "mi325x:1,h200-sxm:1")
    assert "Cost of ownership: unknown, for the reasons below." in output
    assert "MI325X: costs need a deployment that fits and is supported." in output
    assert "prices are missing" not in output


def test_the_price_of_a_system_is_named_with_those_of_accelerators_that_differ(capsys: Capture) -> None:
    def say(accelerator: str, *options: str) -> str:
        return " ".join(run_text(capsys, "--accelerators", f"{accelerator}:8", *options).split())

    alone = "Prices of single accelerators differ and widen the simulated range: MI300X $12,750."
    whole = say("mi300x", "--no-single")
    assert "used (median in the catalog): MI300X $27,586 (system of 8 for $275,864, 2026)." in whole
    assert alone in whole
    assert "servers at" not in whole
    singly = say("mi300x", "--single")
    assert "used (median in the catalog): MI300X $12,750 (2026-07-01)." in singly
    assert "servers add 25% to the purchase price" in singly
    assert alone not in singly
    assert alone not in say("mi300x", "--no-single", "--set", "mi300x.price_usd=30000")
    assert "alone differ" not in say("h200-sxm", "--no-single")


def test_whole_systems_are_owned_unless_single_accelerators_are(capsys: Capture) -> None:
    price = ("--set", "h200-sxm.price_usd=30000")
    single, whole = run_json(capsys, *price), run_json(capsys, "--no-single", *price)
    ours, others = find_candidate(single, "h200-sxm"), find_candidate(whole, "h200-sxm")
    assert ours["systems"] is None
    assert others["systems"] == {"systems": 1, "size": 8, "used": 1, "idle": 7}
    bought, alone = (each["tco"]["lines"][0]["usd"] for each in (others, ours))
    assert bought == pytest.approx(8 * alone)
    assert others["rented"] == ours["rented"]
    output = " ".join(run_text(capsys, "--no-single").split())
    assert "H200 SXM, MI325X and B200 SXM: 1 system of 8 accelerators, 7 idle each." in output


def test_rent_of_whole_instances_counts_idle_accelerators(capsys: Capture) -> None:
    note = "MI355X: only whole instances are rented; its rental cost includes 7 idle accelerators."
    assert note in run_text(capsys, "--accelerators", "mi355x:1", "--no-single")
    assert "whole instances" not in run_text(capsys, "--accelerators", "mi355x:8,h200-sxm:1", "--no-single")


def test_a_seed_below_zero_is_refused_at_its_option(capsys: Capture) -> None:
    assert entry.main(["cost", *ASKED, "--seed", "-1"]) == 1
    assert "--seed: -1 is not between 0 and" in capsys.readouterr().err


def test_options_change_assumptions(capsys: Capture) -> None:
    plain = run_json(capsys)
    spot = run_json(capsys, "--rent-term", "spot")
    part = "h200-sxm"
    assert find_candidate(spot, part)["rent_usd_per_hour"] < find_candidate(plain, part)["rent_usd_per_hour"]
    home = run_json(capsys, "--runs-on", "ROCm")
    assert find_candidate(home, part)["tco"]["total_usd"] > find_candidate(plain, part)["tco"]["total_usd"]
    cheaper = run_json(capsys, "--reported-discounts")
    assert find_candidate(cheaper, part)["tco"]["total_usd"] < find_candidate(plain, part)["tco"]["total_usd"]
    spread = run_json(capsys, "--around", "0.2")
    assert find_candidate(spread, part)["inputs"]["pue"]["high"] == pytest.approx(1.56)
    assert "EUR, without taxes" in run_text(capsys, "--currency", "EUR=0.9@2026-11-01")


def test_inputs_are_listed_with_where_they_come_from(capsys: Capture) -> None:
    output = run_text(capsys, "--list-inputs", "--set", "draw=0.7")
    assert "mi325x.price_usd" in output
    assert "entered by you" in output
    assert "catalog prices" in output
    assert "Uptime Institute" in output
    assert "no value" in output


def test_inputs_of_a_scenario_apply(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "costs.gpudesk"
    assert entry.main(["sheet", *ASKED, "-o", str(file)]) == 0
    document = json.loads(file.read_text(encoding="utf-8"))
    document["costs"] = {"version": 1, "inputs": {"years": 5}}
    file.write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    assert entry.main(["cost", "--json", "--scenario", str(file), "--draws", "1000"]) == 0
    costs = json.loads(capsys.readouterr().out)
    assert find_candidate(costs, "h200-sxm")["tco"]["years"] == 5


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--set", "foo=3"), "unknown field 'foo'"),
        (("--set", "years"), "'years' is not NAME=VALUE"),
        (("--set", "years=x"), "is not NAME=VALUE"),
        (("--set", "mi325x.years=3"), "--set mi325x"),
        (("--set", "mi300x.price_usd=3"), "'mi300x' is not in the scenario"),
        (("--set", "pue=0.5"), "--set pue: 0.5 is not between"),
        (("--set", "pue=1.5:1.2:2"), "--set pue: must be a number, or three numbers in order"),
        (("--rent-term", "weekly"), "--rent-term"),
        (("--runs-on", "Metal"), "--runs-on"),
        (("--around", "3"), "--around"),
        (("--currency", "EUR"), "'EUR' is not CODE=RATE@DATE"),
        (("--currency", "EUR=x@y"), "is not CODE=RATE@DATE"),
        (("--draws", "0"), "--draws"),
        (("--draws", "1000001"), "--draws"),
    ],
)
def test_invalid_value_is_reported_at_its_option(capsys: Capture, more: tuple[str, ...], message: str) -> None:
    assert entry.main(["cost", *ASKED, *more]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_the_cash_flow_is_written_as_a_workbook(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "cash.xlsx"
    assert entry.main(["cost", *ASKED, "-o", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    assert zipfile.is_zipfile(file)
    assert entry.main(["cost", *ASKED, "-o", str(tmp_path / "cash.pdf")]) == 1
    assert ".xlsx" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["cost", "size"])
def test_rate_near_zero_is_refused(capsys: Capture, command: str) -> None:
    assert entry.main([command, *ASKED, "--request-rate", "5e-324"]) == 1
    assert capsys.readouterr().err == "gpudesk: --request-rate: 5e-324 is too small; the minimum is 1e-09\n"


def test_costs_of_memory_have_three_digits(capsys: Capture) -> None:
    lines = run_text(capsys).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Efficiency"))
    per_gib = [line.split()[-3] for line in lines[start + 2 : start + 4]]
    assert all(len(amount.replace(".", "").lstrip("0")) == 3 for amount in per_gib), per_gib
