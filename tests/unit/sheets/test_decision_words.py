"""Decisions in words: verdict, firmness, reasons, exclusions, changes, and rules without a word of Python."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from gpudesk.domain.decisions import (
    Answered,
    Decision,
    Effect,
    Flip,
    Level,
    Origin,
    Pilot,
    Verdict,
)
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import AnswerValue, Strength
from gpudesk.domain.scenarios import Scenario
from gpudesk.sheets.decision_words import (
    answer_line,
    effect_text,
    exclusion_text,
    factor_name,
    firmness,
    flip_text,
    leading,
    level_text,
    pilot_text,
    reason_text,
    rule_lines,
    shares_text,
    source_label,
    strength_text,
    verdict_reason,
    verdict_title,
)
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

FORMATTER = Formatter()
NAMES = {"h200-sxm": "H200", "mi325x": "MI325X", "b200-hgx": "B200", "mi355x": "MI355X"}


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open(with_own=False) as opened:
        yield opened


def decided(
    workbench: Workbench, *, weights: Mapping[str, float] | None = None, **said: AnswerValue
) -> Decision:
    """Return the decision on four accelerators under answers."""
    scenario: Scenario = read_template("70b-chat-on-four")
    settings = replace(scenario.decision, weights=weights or {})
    return workbench.decide(workbench.answer(replace(scenario, decision=settings)), said)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_winner_is_named_with_its_count_and_how_firm_that_is(workbench: Workbench) -> None:
    decision = decided(workbench, acquisition="rent", porting="no", weights={"D000-25": 100.0})
    assert decision.verdict is Verdict.WINNER
    assert decision.recommended is not None
    name = NAMES[decision.recommended.key]
    assert verdict_title(decision, NAMES, FORMATTER) == f"Rent {name}, 1 for 64 requests in flight"
    assert firmness(decision, NAMES) == f"Holds in {round(decision.robustness * 100)} of 100 draws"
    reason = verdict_reason(decision, NAMES, FORMATTER)
    assert decision.reasons[0].rule.title in reason
    assert reason.endswith(".")


@pytest.mark.parametrize(("acquisition", "verb"), [("own", "Buy"), ("rent", "Rent"), ("undecided", "Take")])
def test_the_verb_is_that_of_the_answer(workbench: Workbench, acquisition: str, verb: str) -> None:
    decision = replace(decided(workbench, acquisition=acquisition), verdict=Verdict.WINNER)
    assert verdict_title(decision, NAMES, FORMATTER).startswith(f"{verb} ")


def test_without_a_load_in_flight_the_accelerators_are_counted(workbench: Workbench) -> None:
    found = decided(workbench, acquisition="own")
    parts = tuple({**part, "kv_needed_gb": None} for part in found.parts)
    decision = replace(found, verdict=Verdict.WINNER, parts=parts)
    assert verdict_title(decision, NAMES, FORMATTER).endswith(", 1 accelerator")
    undeployed = replace(decision, recommended=None)
    assert verdict_title(undeployed, NAMES, FORMATTER).endswith(", which is not deployed here")


def test_nobody_wins_where_no_share_is_clear(workbench: Workbench) -> None:
    decision = decided(workbench, priority="cost", team="rocm")
    assert decision.verdict is Verdict.OPEN
    lead = leading(decision)
    assert lead is not None
    assert decision.runner_up is not None
    title = verdict_title(decision, NAMES, FORMATTER)
    assert title == f"No clear winner: {NAMES[lead]} or {NAMES[decision.runner_up]}"
    assert firmness(decision, NAMES).startswith(f"{NAMES[lead]} leads in ")
    reason = verdict_reason(decision, NAMES, FORMATTER)
    assert reason.startswith(f"{NAMES[lead]} leads, but in fewer than two draws of three.")
    assert f"{NAMES[lead]} {round(decision.robustness * 100)}" in shares_text(decision, NAMES)
    assert reason.endswith("Measure output throughput on both.")
    alone = replace(decision, runner_up=None, pilot=None)
    assert verdict_title(alone, NAMES, FORMATTER) == f"No clear winner: {NAMES[lead]} is left"


def test_none_fits_names_the_rule_that_removes_most(workbench: Workbench) -> None:
    decision = decided(workbench, site="pcie", precision="fp4")
    assert decision.verdict is Verdict.NONE_FITS
    assert leading(decision) is None
    assert verdict_title(decision, NAMES, FORMATTER) == "None of these meets everything that must hold"
    assert "“Servers that are there” removes 4 of 4" in verdict_reason(decision, NAMES, FORMATTER)
    assert firmness(decision, NAMES) == "All are removed by rules that must hold"


def test_reasons_carry_the_figures_of_both_sides(workbench: Workbench) -> None:
    decision = decided(workbench, porting="no")
    said = [plain(reason_text(each, decision, NAMES, FORMATTER)) for each in decision.reasons]
    assert any("7.7 TB/s against 4.8 TB/s of H200" in text for text in said)
    against = decided(workbench, priority="cost", acquisition="own", porting="no")
    (found,) = (each for each in against.against)
    assert ", for H200: " in plain(reason_text(found, against, NAMES, FORMATTER))


def test_exclusions_name_the_rule_and_its_number(workbench: Workbench) -> None:
    decision = decided(workbench, ttft_limit_ms=500.0, porting="no")
    said = {
        (each.key, each.rule.id): plain(exclusion_text(each, NAMES, FORMATTER, decision))
        for each in decision.exclusions
    }
    limit = said["h200-sxm", "L-01"]
    assert limit.startswith("H200: first token within the limit; time to first token, ")
    assert limit.endswith("ms ≤ limit for the first token 500 ms: no")
    assert said["mi325x", "D000-10"] == "MI325X: software cannot be ported; needs a port: yes"


def test_what_does_not_fit_one_is_said_in_numbers(workbench: Workbench) -> None:
    scenario = replace(read_template("405b-one-node"))
    decision = workbench.decide(workbench.answer(scenario), {"shape": "one"})
    names = dict.fromkeys(decision.columns, "It")
    found = next(each for each in decision.exclusions if each.rule.id == "D003-09")
    assert "needed on one, 416 GB ≤ memory " in plain(exclusion_text(found, names, FORMATTER, decision))
    assert plain(exclusion_text(found, names, FORMATTER)).endswith("; fits on one: no")


@pytest.mark.parametrize(
    ("flip", "said"),
    [
        (
            Flip("ttft_limit_ms", 2000.0, 1600.0, ("b200-hgx",), Verdict.WINNER),
            ("Limit for the first token: 1.6 s", "now 2 s", "B200"),
        ),
        (
            Flip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), Verdict.OPEN),
            ("MI325X, rent: 3.14 USD/h", "now 1.95 USD/h", "B200, no clear winner"),
        ),
        (
            Flip("serving_engine", "any", "tensorrt-llm", (), Verdict.NONE_FITS),
            ("Serving engine that is set: TensorRT-LLM", "now any", "none is left"),
        ),
        (
            Flip("monthly_hours", "unknown", 20_600.0, ("mi325x",), Verdict.WINNER),
            ("Accelerator hours rented: 20,600 h a month", "now not known", "MI325X"),
        ),
        (
            Flip("mi355x.price_usd", None, 35_000.0, ("mi355x",), Verdict.WINNER),
            ("MI355X, purchase price: 35,000 USD", "now not stated", "MI355X"),
        ),
        (
            Flip("energy_usd_per_kwh", 0.1, 0.3, ("mi355x",), Verdict.WINNER),
            ("Energy: 0.3 USD/kWh", "now 0.1 USD/kWh", "MI355X"),
        ),
    ],
)
def test_changes_say_what_they_are_now_and_what_follows(
    workbench: Workbench, flip: Flip, said: tuple[str, str, str]
) -> None:
    decision = decided(workbench)
    assert tuple(map(plain, flip_text(flip, decision, NAMES, FORMATTER))) == said


def test_an_accelerator_in_two_columns_is_called_by_its_id(workbench: Workbench) -> None:
    found = decided(workbench)
    twice = tuple(replace(each, accelerator="mi325x") for each in found.standings)
    flip = Flip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), Verdict.WINNER)
    names = {key: f"{name} × 1" for key, name in NAMES.items()}
    change, _, _ = flip_text(flip, replace(found, standings=twice), names, FORMATTER)
    assert plain(change) in ("MI325X × 1, rent: 3.14 USD/h", "MI325X, rent: 3.14 USD/h")


def test_a_pilot_says_what_to_run_and_for_how_long(workbench: Workbench) -> None:
    pilot = Pilot(("mi355x", "b200-hgx"), "ttft_ms", 640, 0.2)
    assert pilot_text(pilot, decided(workbench), NAMES, FORMATTER) == (
        "Run 640 requests of your own load on MI355X and on B200, about 0.2 h each, "
        "and compare time to first token."
    )


def test_rules_say_their_source_their_conditions_and_what_holds_instead(workbench: Workbench) -> None:
    rules = {rule.id: rule for rule in workbench.decider.rules}
    assert source_label(rules["D000-02"]) == "Seed 000, MI325X vs H200"
    assert source_label(rules["D004-01"]) == "Seed 004, MI325X"
    assert source_label(rules["D002-01"]) == "Seed 002, MI300X, MI325X, H100, H200, B200"
    assert source_label(rules["L-01"]) == "Your own limit"
    assert source_label(replace(rules["D004-01"], pair=())) == "Seed 004"
    lines = rule_lines(rules["D000-02"], FORMATTER)
    assert lines[0] == rules["D000-02"].why
    assert "What decides: cost → favoured: has the cheapest tokens" in lines
    assert any(line.startswith("Printed: ") for line in lines)
    assert any(line.startswith("What holds: ") for line in lines)
    assert any(line.startswith("Disputed: D-095") for line in lines)
    unfounded = rule_lines(rules["D000-05"], FORMATTER)
    assert any(line.startswith("Adds nothing: ") for line in unfounded)
    against = rule_lines(rules["D002-20"], FORMATTER)
    assert any(line.startswith("Says otherwise: D000-21") for line in against)
    for rule in rules.values():
        for line in rule_lines(rule, FORMATTER)[1:]:
            assert "==" not in line
            assert " 1e" not in line


def test_answers_are_said_with_whose_they_are(workbench: Workbench) -> None:
    decision = decided(workbench, ttft_limit_ms=2000.0, priority="cost")
    lines = {line.rule.id: line for line in decision.trace}
    assert plain(answer_line(lines["L-01"], FORMATTER)) == "you: 2 s"
    assert answer_line(lines["D004-03"], FORMATTER) == "not asked"
    theirs = {**decision.answers, "current_platform": Answered("CUDA", Origin.SCENARIO)}
    assert answer_line(lines["D000-14"], FORMATTER, theirs) == "scenario: CUDA"
    assert answer_line(lines["D004-02"], FORMATTER, decision.answers) == "not answered: serving text"
    mine: dict[str, Answered] = {**decision.answers, "priority": Answered("cost", Origin.YOURS)}
    assert answer_line(lines["D000-02"], FORMATTER, mine) == "you: cost"


def test_effects_levels_factors_and_strengths_have_words(workbench: Workbench) -> None:
    assert len({effect_text(each) for each in Effect}) == len(Effect)
    assert len({level_text(each) for each in Level}) == len(Level)
    assert len({strength_text(each) for each in Strength}) == len(Strength)
    factors = decided(workbench).factors
    assert len({factor_name(each.id) for each in factors}) == len(factors) >= 12
