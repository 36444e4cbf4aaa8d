"""Decisions in words: verdict, firmness, reasons, exclusions, changes, and rules without a word of Python."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.decision import (
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionFlip,
    DecisionVerdict,
    FactorLevel,
    PilotMeasurement,
    QuestionAnswer,
    RuleEffect,
    RuleStrength,
)
from gpudesk.domain.scenario import Scenario
from gpudesk.report.decision.rules import (
    describe_rule_answers,
    label_effect,
    label_factor,
    label_level,
    label_rule_source,
    label_rule_strength,
    list_rule_lines,
)
from gpudesk.report.decision.verdict import (
    describe_exclusion,
    describe_flip,
    describe_pilot,
    describe_reason,
    describe_robustness,
    describe_verdict_reason,
    find_leading_column,
    format_draw_shares,
    format_verdict,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter

FORMATTER = Formatter()
NAMES = {"h200-sxm": "H200", "mi325x": "MI325X", "b200-hgx": "B200", "mi355x": "MI355X"}


def decided(service: GpuDeskService, *, weights: Mapping[str, float] | None = None, **said: AnswerValue) -> Decision:
    scenario: Scenario = read_template("70b-chat-on-four")
    settings = replace(scenario.decision, weights=weights or {})
    return service.decide(service.answer(replace(scenario, decision=settings)), said)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_winner_is_named_with_its_count_and_how_firm_that_is(service: GpuDeskService) -> None:
    decision = decided(service, acquisition="rent", porting="no", weights={"D000-25": 100.0})
    assert decision.verdict is DecisionVerdict.WINNER
    assert decision.recommended is not None
    name = NAMES[decision.recommended.key]
    assert format_verdict(decision, NAMES, FORMATTER) == f"Rent {name}, 1 for 64 requests in flight"
    assert describe_robustness(decision, NAMES) == f"Holds in {round(decision.robustness * 100)} of 100 draws"
    reason = describe_verdict_reason(decision, NAMES, FORMATTER)
    assert decision.reasons[0].line is None
    assert reason.endswith(".")


@pytest.mark.parametrize(("acquisition", "verb"), [("own", "Buy"), ("rent", "Rent"), ("undecided", "Take")])
def test_the_verb_is_that_of_the_answer(service: GpuDeskService, acquisition: str, verb: str) -> None:
    decision = replace(decided(service, acquisition=acquisition), verdict=DecisionVerdict.WINNER)
    assert format_verdict(decision, NAMES, FORMATTER).startswith(f"{verb} ")


def test_without_a_load_in_flight_the_accelerators_are_counted(service: GpuDeskService) -> None:
    found = decided(service, acquisition="own")
    parts = tuple({**part, "kv_needed_gb": None} for part in found.parts)
    decision = replace(found, verdict=DecisionVerdict.WINNER, parts=parts)
    assert format_verdict(decision, NAMES, FORMATTER).endswith(", 1 accelerator")
    undeployed = replace(decision, recommended=None)
    assert format_verdict(undeployed, NAMES, FORMATTER).endswith(", which is not deployed here")


def test_nobody_wins_where_no_share_is_clear(service: GpuDeskService) -> None:
    decision = decided(service, priority="cost", team="rocm")
    assert decision.verdict is DecisionVerdict.OPEN
    lead = find_leading_column(decision)
    assert lead is not None
    assert decision.runner_up is not None
    title = format_verdict(decision, NAMES, FORMATTER)
    assert title == f"No clear winner: {NAMES[lead]} or {NAMES[decision.runner_up]}"
    assert describe_robustness(decision, NAMES).startswith(f"{NAMES[lead]} leads in ")
    reason = describe_verdict_reason(decision, NAMES, FORMATTER)
    assert reason.startswith(f"{NAMES[lead]} leads, but in fewer than two draws of three.")
    assert f"{NAMES[lead]} {round(decision.robustness * 100)}" in format_draw_shares(decision, NAMES)
    assert reason.endswith("Measure output throughput on both.")
    alone = replace(decision, runner_up=None, pilot=None)
    assert format_verdict(alone, NAMES, FORMATTER) == f"No clear winner: {NAMES[lead]} is left"


def test_none_fits_names_the_rule_that_removes_most(service: GpuDeskService) -> None:
    decision = decided(service, site="pcie", precision="fp4")
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert find_leading_column(decision) is None
    assert format_verdict(decision, NAMES, FORMATTER) == "None of these meets everything that must hold"
    assert "“Servers that are there” removes 4 of 4" in describe_verdict_reason(decision, NAMES, FORMATTER)
    assert describe_robustness(decision, NAMES) == "All are removed by rules that must hold"


def test_reasons_carry_the_figures_of_both_sides(service: GpuDeskService) -> None:
    decision = decided(service, porting="no")
    said = [plain(describe_reason(each, NAMES, FORMATTER)) for each in decision.reasons]
    assert any("7.7 TB/s against 4.8 TB/s of H200" in text for text in said)
    against = decided(service, priority="cost", acquisition="own", porting="no")
    (found,) = (each for each in against.against)
    assert ", for H200: " in plain(describe_reason(found, NAMES, FORMATTER))


def test_exclusions_name_the_rule_and_its_number(service: GpuDeskService) -> None:
    decision = decided(service, ttft_limit_ms=500.0, porting="no")
    said = {
        (each.key, each.rule.id): plain(describe_exclusion(each, NAMES, FORMATTER, decision))
        for each in decision.exclusions
    }
    limit = said["h200-sxm", "L-01"]
    assert limit.startswith("H200: first token within the limit; time to first token, ")
    assert limit.endswith("ms ≤ limit for the first token 500 ms: no")
    assert said["mi325x", "D000-10"] == "MI325X: software cannot be ported; needs a port: yes"


def test_what_does_not_fit_one_is_said_in_numbers(service: GpuDeskService) -> None:
    scenario = replace(read_template("405b-one-node"))
    decision = service.decide(service.answer(scenario), {"shape": "one"})
    names = dict.fromkeys(decision.columns, "It")
    found = next(each for each in decision.exclusions if each.rule.id == "D003-09")
    assert "needed on one, 416 GB ≤ memory " in plain(describe_exclusion(found, names, FORMATTER, decision))
    assert plain(describe_exclusion(found, names, FORMATTER)).endswith("; fits on one: no")


@pytest.mark.parametrize(
    ("flip", "said"),
    [
        (
            DecisionFlip("ttft_limit_ms", 2000.0, 1600.0, ("b200-hgx",), DecisionVerdict.WINNER),
            ("Limit for the first token: 1.6 s", "now 2 s", "B200"),
        ),
        (
            DecisionFlip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), DecisionVerdict.OPEN),
            ("MI325X, rent: 3.14 USD/h", "now 1.95 USD/h", "B200, no clear winner"),
        ),
        (
            DecisionFlip("serving_engine", "any", "tensorrt-llm", (), DecisionVerdict.NONE_FITS),
            ("Serving engine that is set: TensorRT-LLM", "now any", "none is left"),
        ),
        (
            DecisionFlip("monthly_hours", "unknown", 20_600.0, ("mi325x",), DecisionVerdict.WINNER),
            ("Accelerator hours rented: 20,600 h a month", "now not known", "MI325X"),
        ),
        (
            DecisionFlip("mi355x.price_usd", None, 35_000.0, ("mi355x",), DecisionVerdict.WINNER),
            ("MI355X, purchase price: 35,000 USD", "now not stated", "MI355X"),
        ),
        (
            DecisionFlip("energy_usd_per_kwh", 0.1, 0.3, ("mi355x",), DecisionVerdict.WINNER),
            ("Energy: 0.3 USD/kWh", "now 0.1 USD/kWh", "MI355X"),
        ),
    ],
)
def test_changes_say_what_they_are_now_and_what_follows(
    service: GpuDeskService, flip: DecisionFlip, said: tuple[str, str, str]
) -> None:
    decision = decided(service)
    assert tuple(map(plain, describe_flip(flip, decision, NAMES, FORMATTER))) == said


def test_an_accelerator_in_two_columns_is_called_by_its_id(service: GpuDeskService) -> None:
    found = decided(service)
    twice = tuple(replace(each, accelerator="mi325x") for each in found.candidates)
    flip = DecisionFlip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), DecisionVerdict.WINNER)
    names = {key: f"{name} × 1" for key, name in NAMES.items()}
    change, _, _ = describe_flip(flip, replace(found, candidates=twice), names, FORMATTER)
    assert plain(change) in ("MI325X × 1, rent: 3.14 USD/h", "MI325X, rent: 3.14 USD/h")


def test_a_pilot_says_what_to_run_and_for_how_long(service: GpuDeskService) -> None:
    pilot = PilotMeasurement(("mi355x", "b200-hgx"), "ttft_ms", 640, 0.2)
    assert describe_pilot(pilot, decided(service), NAMES, FORMATTER) == (
        "Run 640 requests of your own load on MI355X and on B200, about 0.2 h each, and compare time to first token."
    )


def test_rules_say_their_source_their_conditions_and_what_holds_instead(service: GpuDeskService) -> None:
    rules = {rule.id: rule for rule in service.decider.rules}
    assert label_rule_source(rules["D000-02"]) == "Seed 000, MI325X vs H200"
    assert label_rule_source(rules["D004-01"]) == "Seed 004, MI325X"
    assert label_rule_source(rules["D002-01"]) == "Seed 002, MI300X, MI325X, H100, H200, B200"
    assert label_rule_source(rules["L-01"]) == "Your own limit"
    assert label_rule_source(replace(rules["D004-01"], pair=())) == "Seed 004"
    lines = list_rule_lines(rules["D000-02"], FORMATTER)
    assert lines[0] == rules["D000-02"].why
    assert "What decides: cost → favoured: has the cheapest tokens" in lines
    assert any(line.startswith("Printed: ") for line in lines)
    assert any(line.startswith("What holds: ") for line in lines)
    assert any(line.startswith("Disputed: D-095") for line in lines)
    unfounded = list_rule_lines(rules["D000-05"], FORMATTER)
    assert any(line.startswith("Adds nothing: ") for line in unfounded)
    against = list_rule_lines(rules["D002-20"], FORMATTER)
    assert any(line.startswith("Says otherwise: D000-21") for line in against)
    for rule in rules.values():
        for line in list_rule_lines(rule, FORMATTER)[1:]:
            assert "==" not in line
            assert " 1e" not in line


def test_answers_are_said_with_whose_they_are(service: GpuDeskService) -> None:
    decision = decided(service, ttft_limit_ms=2000.0, priority="cost")
    lines = {line.rule.id: line for line in decision.trace}
    assert plain(describe_rule_answers(lines["L-01"], FORMATTER)) == "you: 2 s"
    assert describe_rule_answers(lines["D004-03"], FORMATTER) == "not asked"
    theirs = {**decision.answers, "current_platform": QuestionAnswer("CUDA", AnswerOrigin.SCENARIO)}
    assert describe_rule_answers(lines["D000-14"], FORMATTER, theirs) == "scenario: CUDA"
    assert describe_rule_answers(lines["D004-02"], FORMATTER, decision.answers) == "not answered: serving text"
    mine: dict[str, QuestionAnswer] = {**decision.answers, "priority": QuestionAnswer("cost", AnswerOrigin.YOURS)}
    assert describe_rule_answers(lines["D000-02"], FORMATTER, mine) == "you: cost"


def test_effects_levels_factors_and_strengths_have_words(service: GpuDeskService) -> None:
    assert len({label_effect(each) for each in RuleEffect}) == len(RuleEffect)
    assert len({label_level(each) for each in FactorLevel}) == len(FactorLevel)
    assert len({label_rule_strength(each) for each in RuleStrength}) == len(RuleStrength)
    factors = decided(service).factors
    assert len({label_factor(each.id) for each in factors}) == len(factors) >= 12
