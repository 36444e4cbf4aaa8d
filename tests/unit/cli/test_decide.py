"""`gpudesk decide`: the recommendation as text and for programs, what is asked, and what cannot be said."""

import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.commands.decide import list_decision_lines
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.decision import QUESTIONS, DecisionFlip, DecisionVerdict
from gpudesk.report.labels import list_column_names
from gpudesk.report.writers.text import measure_text
from gpudesk.service import GpuDeskService

Capture = pytest.CaptureFixture[str]
ASKED = ["--template", "70b-chat-on-four"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def searched() -> None:
    """Have what would change the decision searched for, as the program does."""


@pytest.fixture(autouse=True)
def _others_do_not_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search, which takes nine tenths of the time of the command, where no test looks at it."""
    if "searched" not in request.fixturenames:
        monkeypatch.setattr(GpuDeskService, "flips", lambda _service, _answer: ())


def run_json(capsys: Capture, *more: str) -> dict[str, Any]:
    assert entry.main(["decide", "--json", *ASKED, *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    decision: dict[str, Any] = json.loads(captured.out)
    return decision


def run_text(capsys: Capture, *more: str) -> str:
    """Return what the command writes for people, without protected spaces."""
    assert entry.main(["decide", *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.replace("\N{NO-BREAK SPACE}", " ")


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, (int, float)):
        yield float(value)


def stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


# The result


def test_a_winner_is_recommended_with_its_deployment(capsys: Capture) -> None:
    more = ("--set", "acquisition=own", "--set", "porting=no", "--set", "current_platform=CUDA")
    decision = run_json(capsys, *more, "--set", "priority=cost")
    assert decision["verdict"] == "winner"
    assert decision["recommendation"] == {
        "accelerator": "b200-hgx",
        "key": "b200-hgx",
        "count": 1,
        "parallel": {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "attention_dp": False},
    }
    assert decision["leading"] == "b200-hgx"
    assert decision["robustness"] == decision["shares"]["b200-hgx"] >= 0.8
    assert decision["pilot"] is None
    removed = {(each["accelerator"], each["rule"]) for each in decision["excluded"]}
    assert {("mi325x", "D000-10"), ("mi355x", "D000-10")} <= removed
    assert all(each["because"] for each in decision["excluded"])
    by_key = {each["key"]: each for each in decision["candidates"]}
    assert {key for key, each in by_key.items() if each["eligible"]} == {"h200-sxm", "b200-hgx"}
    objective = by_key["b200-hgx"]["objective"]
    assert (objective["name"], objective["better"], objective["payment"]) == (
        "usd_per_million_output",
        "lower",
        "owned",
    )
    assert objective["low"] < objective["value"] < objective["high"]


def test_close_call_is_recommended_with_a_measurement(capsys: Capture) -> None:
    decision = run_json(capsys, "--set", "priority=speed")
    assert decision["verdict"] == "no clear winner"
    assert decision["recommendation"]["key"] == decision["leading"]
    assert decision["pilot"]["accelerators"] == [decision["leading"], decision["runner_up"]]
    assert 0.0 < decision["robustness"] < 0.8
    facts = {each["fact"] for each in (*decision["reasons"], *decision["against"])}
    assert "tokens_per_s_each" in facts


def test_workload_out_of_scope_shows_why_and_recommends_nothing(capsys: Capture) -> None:
    decision = run_json(capsys, "--set", "work=media")
    assert decision["scope"]["answered"] is False
    assert "images or video" in decision["scope"]["why"]
    assert decision["recommendation"] is None
    assert decision["flips"] == []


def test_no_leader_if_no_accelerator_fits(capsys: Capture) -> None:
    decision = run_json(capsys, "--set", "site=pcie")
    assert decision["verdict"] == "none fits"
    assert decision["recommendation"] is None
    assert decision["leading"] is None
    assert decision["robustness"] == 0.0
    (because,) = decision["excluded"][0]["because"]
    assert because == {"condition": "form == 'pcie'", "left": "sxm", "right": "pcie", "holds": False}


def test_trace_has_tested_values_and_effects(capsys: Capture) -> None:
    compared = ("--accelerators", "mi300x:1,mi325x:1,h200-sxm:1")
    rent = (*compared, "--set", "priority=cost", "--set", "acquisition=rent")
    decision = run_json(capsys, *rent, "--set", "ttft_limit_ms=2000", "--weight", "D000-02=7")
    lines = {line["rule"]: line for line in decision["trace"]}
    cost = lines["D000-02"]
    assert cost["answer"] == {"priority": "cost"}
    assert cost["weight"] == 7.0 == decision["weights"]["D000-02"]
    assert cost["favours"] == ["mi300x"]
    assert cost["theme"] == "cost"
    assert cost["source"] == "seed-000"
    assert cost["pair"] == ["mi325x", "h200-sxm"]
    assert cost["printed"]
    assert cost["corrected"]
    assert "D-095" in cost["disputes"]
    assert cost["effects"]["mi300x"]["effect"] == "favours"
    value = cost["effects"]["mi300x"]["value"]
    assert value["low"] < value["value"] < value["high"]
    limit = lines["L-01"]["effects"]["mi300x"]
    (tested,) = limit["tested"]
    assert tested["condition"] == "ttft_ms <= ttft_limit_ms"
    assert tested["right"] == 2000.0
    assert set(tested["left"]) == {"value", "low", "high"}
    counted_lines = [line for line in decision["trace"] if line["counted_with"]]
    assert counted_lines
    assert all(line["counted_with"] in lines for line in counted_lines)
    assert {line["rule"] for line in decision["trace"]}.isdisjoint(decision["silent"])


def test_programs_get_finite_numbers_and_every_part(capsys: Capture) -> None:
    decision = run_json(capsys)
    assert all(map(math.isfinite, numbers(decision)))
    assert set(decision["answers"]) == set(QUESTIONS)
    assert decision["answers"]["current_platform"] == {"value": "unknown", "origin": "default"}
    assert decision["answers"]["priority"] == {"value": "balanced", "origin": "default"}
    assert {each["rule"] for each in decision["advice"]} <= {line["rule"] for line in decision["trace"]}
    assert sum(decision["shares"].values()) == pytest.approx(1.0)
    assert {each["key"] for each in decision["candidates"]} == set(decision["shares"])
    for factor in decision["factors"]:
        assert set(factor["cells"]) == set(decision["shares"])
    for reason in (*decision["reasons"], *decision["against"]):
        assert set(reason) == {"text", "figure", "unit", "rule", "fact", "against"}
        assert reason["text"]


@pytest.mark.usefixtures("searched")
def test_changes_are_those_that_were_tried_out(capsys: Capture) -> None:
    decision = run_json(capsys)
    assert decision["flips"]
    # Work that figures say nothing of does not change the recommendation.
    assert all(each["becomes"] or each["verdict"] == "none fits" for each in decision["flips"])
    flip = next(each for each in decision["flips"] if each["input"] in QUESTIONS)
    assert set(flip) == {"input", "from", "to", "becomes", "verdict"}
    assert flip["from"] == decision["answers"][flip["input"]]["value"]
    changed = run_json(capsys, "--set", f"{flip['input']}={flip['to']}")
    assert changed["leading"] == (flip["becomes"][0] if flip["becomes"] else None)
    assert changed["verdict"] == flip["verdict"]


# What people read


@pytest.mark.usefixtures("searched")
def test_people_read_verdict_reasons_figures_and_changes(capsys: Capture) -> None:
    answers = ("priority=cost", "acquisition=rent", "months_to_launch=3")
    output = run_text(capsys, *ASKED, *(part for each in answers for part in ("--set", each)))
    first, *rest = output.splitlines()
    assert first == "Rent 1 × MI325X, 1 × MI355X (in a system of 8) or 1 × B200 SXM: too close to call"
    assert "odds of being the cheapest)" in f"{rest[0]} {rest[1]}"
    assert any(line.startswith("For Llama 3.1 70B in FP8, ") for line in rest)
    headings = ("Compared", "Key figures", "For MI325X", "Tipping points", "Next steps", "Assumptions", "Your answers")
    assert [line for line in rest if line in headings] == list(headings)
    assert re.search(r"Output throughput: \d+ \(\d+ – [\d,]+\) tok/s\.", " ".join(output.split()))
    assert "draws" not in output
    assert "{" not in output
    assert "==" not in output


def test_rules_are_listed_by_effect_on_request(capsys: Capture) -> None:
    options = [*ASKED, "--set", "priority=cost"]
    assert "D000-02" not in run_text(capsys, *options)
    rest = run_text(capsys, *options, "--rules").splitlines()
    roles = [line for line in rest if line in ("Decided", "Argued", "No effect")]
    assert roles == [each for each in ("Decided", "Argued", "No effect") if each in roles]
    assert "Rules" in rest
    assert any(line.startswith("D000-02") for line in rest)
    assert any(line.startswith("⊘ rules it out") for line in rest)


def test_exclusions_have_their_numbers(capsys: Capture) -> None:
    output = run_text(capsys, *ASKED, "--set", "ttft_limit_ms=500")
    joined = " ".join(output.split())
    assert re.search(r"H200 SXM: TTFT limit; time to first token, 1,\d{3} \(\d+ – 2,\d{3}\) ms >", joined)
    assert "TTFT limit 500 ms" in joined


@pytest.mark.parametrize("template", ["70b-chat-on-four", "405b-one-node"])
def test_every_line_fits_the_terminal(template: str) -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        answer = service.answer(read_template(template))
        decision = service.decide(answer, {"priority": "cost", "ttft_limit_ms": 700.0})
        names = dict(zip(decision.columns, list_column_names(answer), strict=True))
        costs = service.costing.costs(answer)
    flip = DecisionFlip("serving_engine", "any", "tensorrt-llm", decision.columns[:1], DecisionVerdict.OPEN)
    for width in (50, 80, 100, 160):
        lines = list(list_decision_lines(decision, [flip], names, width, costs, with_rules=True))
        assert max(map(measure_text, lines)) <= width
        assert any(line.startswith("D000-02") for line in lines)


def test_lists_of_questions_and_rules_need_no_scenario(capsys: Capture) -> None:
    questions = run_text(capsys, "--list-questions", "--set", "priority=cost")
    for name in QUESTIONS:
        assert f"\n{name}  " in questions
    assert "current: cost (yours); default: balanced" in questions
    assert "a number above 0, up to 3,600,000, ms" in questions
    rules = run_text(capsys, "--list-rules", "--weight", "D000-03=7")
    line = next(line for line in rules.splitlines() if line.startswith("D000-03"))
    assert "Strong preference" in line
    assert " 7 " in line
    assert "MI325X" in rules
    assert " team  " in line
    assert "figures only" in next(line for line in rules.splitlines() if line.startswith("D001-08"))


def test_json_lists_have_the_active_values(capsys: Capture) -> None:
    limits = ["--ttft-ms", "900", "--tpot-ms", "60"]
    more = ["--set", "ttft_limit_ms=1500", *limits]
    assert entry.main(["decide", "--list-questions", "--json", *ASKED, *more]) == 0
    questions = {each["id"]: each for each in json.loads(capsys.readouterr().out)["questions"]}
    assert set(questions) == set(QUESTIONS)
    limit = questions["ttft_limit_ms"]
    assert (limit["value"], limit["origin"], limit["default"]) == (1500.0, "yours", "none")
    assert limit["number"]["unit"] == "ms"
    token = questions["tpot_limit_ms"]
    assert (token["value"], token["origin"]) == (60.0, "scenario")
    assert [each["id"] for each in questions["priority"]["options"]] == list(QUESTIONS["priority"].options)
    assert questions["team"]["origin"] == "default"
    assert entry.main(["decide", "--list-rules", "--json", "--weight", "D000-03=7"]) == 0
    rules = {each["id"]: each for each in json.loads(capsys.readouterr().out)["rules"]}
    assert rules["D000-03"]["weight"] == 7.0
    assert rules["D000-05"]["weight"] == 0.0
    assert rules["D000-05"]["unfounded"]
    assert rules["L-01"]["source"] is None
    assert rules["D002-04"]["asks"] == ["precision"]
    assert rules["D002-04"]["cases"][0]["requires"] == "native_fp4"


# What is said, and over what


def test_options_come_before_the_file_and_the_file_before_the_scenario(capsys: Capture, tmp_path: Path) -> None:
    scenario = tmp_path / "case.gpudesk"
    assert entry.main(["sheet", *ASKED, "-o", str(scenario)]) == 0
    document = json.loads(scenario.read_text(encoding="utf-8"))
    document["decision"] = {
        "version": 1,
        "answers": {"priority": "speed", "team": "small", "site": "oam"},
        "weights": {"D000-03": 5, "D000-09": 6},
    }
    scenario.write_text(json.dumps(document), encoding="utf-8")
    answers = tmp_path / "answers.json"
    answers.write_text('{"priority": "users", "team": "cuda"}', encoding="utf-8")
    capsys.readouterr()
    more = ["--answers", str(answers), "--set", "priority=certainty", "--weight", "D000-03=4"]
    assert entry.main(["decide", "--json", "--scenario", str(scenario), *more]) == 0
    decision = json.loads(capsys.readouterr().out)
    assert {name: decision["answers"][name]["value"] for name in ("priority", "team", "site")} == {
        "priority": "certainty",
        "team": "cuda",
        "site": "oam",
    }
    assert decision["weights"]["D000-03"] == 4.0
    assert decision["weights"]["D000-09"] == 6.0


def test_answers_come_from_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b'{"priority": "cost", "months_to_launch": 4, "team": null}')
    decision = run_json(capsys, "--answers", "-")
    assert decision["answers"]["priority"] == {"value": "cost", "origin": "yours"}
    assert decision["answers"]["months_to_launch"] == {"value": 4.0, "origin": "yours"}
    assert decision["answers"]["team"]["origin"] == "default"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--set", "foo=1"), "--set: unknown field 'foo'"),
        (("--set", "prioritee=cost"), "unknown field 'prioritee'; did you mean priority?"),
        (("--set", "priority"), "--set: 'priority' is not a valid answer; example: priority=cost"),
        (("--set", "priority=money"), "--set priority: 'money' is not one of balanced, cost"),
        (("--set", "ttft_limit_ms=fast"), "--set ttft_limit_ms: 'fast' must be a number or none"),
        (("--set", "ttft_limit_ms=nan"), "--set ttft_limit_ms: 'nan' must be a number or none"),
        (("--set", "ttft_limit_ms=0"), "--set ttft_limit_ms: 0 is out of range; use a value above 0"),
        (("--weight", "D000-99=1"), "--weight: unknown rule 'D000-99'; did you mean D000-"),
        (("--weight", "d000-03=1"), "unknown rule 'd000-03'; did you mean D000-03"),
        (("--weight", "D000-03"), "--weight: 'D000-03' is not a valid weight"),
        (("--weight", "D000-03=x"), "is not a valid weight"),
        (("--weight", "D000-03=101"), "--weight D000-03: 101 is not between 0 and 100"),
        (("--answers", "nowhere.json"), "nowhere.json: cannot be read"),
    ],
)
def test_invalid_answer_is_reported_at_its_option(capsys: Capture, more: tuple[str, ...], message: str) -> None:
    assert entry.main(["decide", *ASKED, *more]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("title", "name", "value"),
    [
        ("acquisition=buy", "acquisition", "own"),
        ("acquisition=Rent", "acquisition", "rent"),
        ("priority=throughput", "priority", "speed"),
        ("ttft_limit_ms=No limit", "ttft_limit_ms", "none"),
    ],
)
def test_an_answer_may_be_the_title_of_its_option(capsys: Capture, title: str, name: str, value: str) -> None:
    assert run_json(capsys, "--set", title)["answers"][name] == {"value": value, "origin": "yours"}


def test_rental_price_is_labeled_per_accelerator(capsys: Capture) -> None:
    assert entry.main(["decide", *ASKED, "--set", "acquisition=rent"]) == 0
    assert "  Rental price per accelerator: $3.80/h." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"[1]", "is not a JSON object of answers"),
        (b"{", "is not valid JSON at line 1"),
        (b'{"priority": NaN}', "is not a JSON object of answers"),
        (b"[" * 100_000, "is not a JSON object of answers"),
        (b'{"priority": "cost", "priority": "speed"}', "has priority twice"),
        (b'\n{"priority": "\xff"}', "is not UTF-8 text at line 2"),
        (b'{"priority": "money"}', ": priority: 'money' is not one of"),
        (b'{"prioriti": "cost"}', "unknown field 'prioriti'; did you mean priority, porting?"),
        (b'{"ttft_limit_ms": "2 s"}', ": ttft_limit_ms: '2 s' must be a number or none"),
        (b" " * ((1 << 20) + 1), "is larger than"),
    ],
)
def test_faults_of_the_file_name_it_and_the_place(capsys: Capture, tmp_path: Path, raw: bytes, message: str) -> None:
    file = tmp_path / "answers.json"
    file.write_bytes(raw)
    assert entry.main(["decide", *ASKED, "--answers", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"gpudesk: {file}: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_missing_model_or_load_is_named(capsys: Capture) -> None:
    for options in ([], ["--users", "100", "--input-tokens", "800", "--output-tokens", "300"]):
        assert entry.main(["decide", *options]) == 2
        assert "no model given; add --model ID" in capsys.readouterr().err
    assert entry.main(["decide", "--model", "llama-3.1-8b"]) == 1
    assert "no load given; use one of --users" in capsys.readouterr().err
    assert entry.main(["decide", "--accelerators", "h200-sxm"]) == 2
    assert "no model given; add --model ID" in capsys.readouterr().err
    assert entry.main(["decide", *ASKED, "--sets", "priority=cost"]) == 2


TRAFFIC = (
    *("decide", "--model", "llama-3.1-8b", "--weights", "fp8", "--input-tokens", "800", "--output-tokens", "300"),
    *("--accelerators", "l4,l40s", "--users", "50"),
)


def test_deployments_carry_the_traffic_of_users_within_limits(capsys: Capture) -> None:
    assert entry.main([*TRAFFIC, "--ttft-ms", "2000", "--json"]) == 0
    candidates = json.loads(capsys.readouterr().out)["candidates"]
    assert {each["accelerator"]: each["count"] for each in candidates if each["eligible"]} == {"l4": 2, "l40s": 2}
    output = run_text(capsys, *TRAFFIC[1:], "--ttft-ms", "2000")
    assert "50 users with 12 requests per hour" in output
    assert "TTFT up to 2,000 ms" in output


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--concurrency", "8"), "use either --users or --concurrency"),
        (("--dp", "2"), "--dp cannot be set here"),
        (("--users", "-1"), "--users: -1 is out of range"),
    ],
)
def test_traffic_names_options_that_contradict_it(capsys: Capture, options: tuple[str, ...], problem: str) -> None:
    assert entry.main([*TRAFFIC, *options]) != 0
    assert problem in capsys.readouterr().err


def test_no_window_is_loaded() -> None:
    code = (
        "import sys; from gpudesk.cli.main import main; "
        "code = main(['decide', '--template', 'mi300x-or-h100-70b', '--json']); "
        "sys.exit(code or any(name.startswith('PySide6') for name in sys.modules))"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert completed.returncode == 0, completed.stderr


def test_the_site_is_stated_by_options(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["decide", "--template", "70b-chat-on-four", "--rules"]
    entry.main(arguments)
    free = capsys.readouterr().out
    assert entry.main([*arguments, "--cooling", "air", "--kw-per-rack", "8", "--months-to-live", "6"]) == 0
    assert capsys.readouterr().out != free
    assert entry.main([*arguments, "--kw-per-rack", "-1"]) != 0
    assert "--kw-per-rack" in capsys.readouterr().err


def test_a_kind_of_provider_sets_the_rents(capsys: Capture) -> None:
    options = ["decide", "--accelerators", "b200-hgx:8,mi355x:8", "--template", "70b-chat-on-four"]
    leaders = []
    for provider_options in ([], ["--provider-class", "hyperscaler"]):
        assert (
            entry.main([*options, "--set", "acquisition=rent", "--set", "priority=cost", "--json", *provider_options])
            == 0
        )
        leaders.append(json.loads(capsys.readouterr().out)["leading"])
    assert leaders == ["b200-hgx", "mi355x"]


def test_provider_that_reverses_the_order_is_named(capsys: Capture) -> None:
    """B200 is cheaper at specialized clouds; at the one provider that rents both, MI355X is."""
    options = ["decide", "--accelerators", "b200-hgx:8,mi355x:8", "--template", "70b-chat-on-four"]
    assert entry.main([*options, "--set", "acquisition=rent", "--set", "priority=cost"]) == 0
    assert "At Oracle Cloud (OCI), MI355X costs less per token than B200 SXM." in capsys.readouterr().out


LOAD = (
    *("--model", "llama-3.3-70b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "300", "--concurrency", "64"),
)


def test_an_accelerator_that_the_serving_engine_does_not_support_is_not_too_small(capsys: Capture) -> None:
    engine = (*LOAD, "--serving-engine", "tensorrt-llm")
    output = run_text(capsys, "--accelerators", "h100-sxm:8,mi300x:8", *engine)
    assert "TensorRT-LLM does not support Instinct MI300X (ROCm); choose another serving engine." in output
    output = run_text(capsys, "--accelerators", "mi300x:8", *engine)
    assert output.startswith("No accelerator meets every limit\nAlternatives: ")
    assert "TensorRT-LLM does not support Instinct MI300X (ROCm)" in output
    assert "too small" not in output


def test_only_rentable_accelerators_compare_rents(capsys: Capture) -> None:
    """Only hyperscalers rent MI355X, others specialized clouds; this matters only where MI355X can be chosen."""
    both = ("--accelerators", "h200-sxm:8,mi355x:8", *LOAD)
    differ = "MI355X is priced at a hyperscaler; specialized clouds usually charge"
    rented = run_text(capsys, *both, "--set", "acquisition=rent")
    assert differ in rented
    assert "; on record: $2.59/h spot (Vultr), $2.95/h reserved (TensorWave)." in " ".join(rented.split())
    assert differ not in run_text(capsys, *both, "--set", "acquisition=own")
    assert differ not in run_text(capsys, *both, "--set", "acquisition=rent", "--serving-engine", "tensorrt-llm")
    assert differ not in run_text(capsys, *both, "--set", "acquisition=rent", "--set", "ttft_limit_ms=1")


def test_the_fastest_without_a_price_names_the_cheapest_with_one(capsys: Capture) -> None:
    options = ("--accelerators", "mi355x:8,mi300x:8,h100-sxm:8", *LOAD, "--set", "priority=speed")
    against = "Purchase price unknown; MI300X costs $"
    assert against in " ".join(run_text(capsys, *options).split())
    assert against not in " ".join(run_text(capsys, *options, "--set", "acquisition=rent").split())


@pytest.mark.parametrize("accelerators", [("--accelerators", "h100-sxm,mi300x"), ()])
def test_work_without_text_serving_needs_no_load(capsys: Capture, accelerators: tuple[str, ...]) -> None:
    options = (*accelerators, "--model", "llama-3.3-70b", "--weights", "bf16")
    output = run_text(capsys, *options, "--set", "work=fine_tuning")
    assert re.search(r"LoRA: 151 GB; fits on [\d]+ × ", output)
    assert "If rented" not in output
    assert "image and video models fit" in run_text(capsys, *options, "--set", "work=media")


def test_a_cheaper_hosted_api_is_an_argument_against(capsys: Capture) -> None:
    decision = run_json(capsys, "--set", "priority=cost")
    assert decision["api_usd_per_million_output"] is None
    options = ("--accelerators", "h200-sxm", "--model", "deepseek-v3.2", "--weights", "fp8", "--concurrency", "4")
    decision = run_json(capsys, *options, "--set", "priority=cost")
    hosted = decision["api_usd_per_million_output"]
    assert 0.0 < hosted < decision["candidates"][0]["objective"]["value"]
    argument = f"A hosted API costs ${hosted:.2f} per million output tokens"
    assert argument in " ".join(
        run_text(capsys, *ASKED, *options, "--set", "priority=cost").split("Against")[1].split()
    )
    assert run_json(capsys, *options, "--set", "priority=speed")["api_usd_per_million_output"] is None
