"""Explanations of answers and of rules: what becomes of each accelerator, why, and who says so."""

import re
from collections.abc import Mapping
from dataclasses import replace

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.decision import QUESTIONS, AnswerValue, DecisionRule, RuleEffect
from gpudesk.report.decision.questions import ColumnOutcome
from gpudesk.report.explanation.claims import format_explanation
from gpudesk.report.explanation.decision import DecisionContext, explain_option, explain_ruling
from gpudesk.report.explanation.parts import DecisionExplanation, DecisionFinding, Explanation, ExplanationBasis
from gpudesk.report.labels import format_odds
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter

NAMES = {"h200-sxm": "H200", "mi325x": "MI325X", "b200-hgx": "B200", "mi355x": "MI355X"}


def evaluate(
    service: GpuDeskService,
    answers: Mapping[str, AnswerValue] | None = None,
    weights: Mapping[str, float] | None = None,
) -> DecisionContext:
    scenario = read_template("70b-chat-on-four")
    scenario = replace(scenario, decision=replace(scenario.decision, weights=weights or {}))
    catalog = service.catalog
    disputes = {each.id: each for each in catalog.disputes()}
    return DecisionContext(
        decision=service.decide(service.answer(scenario), answers or {}),
        names=NAMES,
        slots={key: place for place, key in enumerate(NAMES, start=1)},
        is_variant=dict.fromkeys(NAMES, False),
        rules=service.decider.rules,
        formatter=Formatter(),
        source=catalog.source,
        dispute=disputes.get,
        catalog="The catalog",
        weights=weights or {},
    )


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def lines_of(explanation: Explanation | None) -> DecisionExplanation:
    assert explanation is not None
    assert explanation.decision is not None
    return explanation.decision


def find_finding(explanation: Explanation | None, key: str) -> DecisionFinding:
    return next(each for each in lines_of(explanation).findings if each.key == key)


# Answers


def test_limit_inside_an_interval_keeps_the_accelerator_as_undecided(service: GpuDeskService) -> None:
    explanation = explain_option(evaluate(service, {"ttft_limit_ms": 2000.0}), "ttft_limit_ms", 2000.0)
    assert explanation.what == "Effect of this answer"
    assert explanation.conditions == "What is your limit for time to first token? 2 s · Odds of being the cheapest"
    assert explanation.figure == ""
    outcomes = {line.name: line for line in lines_of(explanation).outcomes}
    assert outcomes["H200"].fate is ColumnOutcome.UNDECIDED
    assert outcomes["H200"].state == "undecided"
    assert outcomes["B200"].state == "remains"
    assert plain(outcomes["B200"].text).startswith("Time to first token 5")
    fates = [line.fate for line in lines_of(explanation).outcomes]
    assert fates == [ColumnOutcome.STAYS] * 2 + [ColumnOutcome.UNDECIDED] * 2
    why = find_finding(explanation, "undecided.h200-sxm")
    assert why.title == "Why H200 is undecided"
    assert plain(why.texts[0]).startswith("The 80% interval includes the limit: time to first token, 1,")
    assert why.texts[0].endswith("Measure to be sure; the accelerator is kept for now.")


def test_excluded_accelerators_are_listed_with_numbers(service: GpuDeskService) -> None:
    explanation = explain_option(evaluate(service, {"ttft_limit_ms": 400.0}), "ttft_limit_ms", 400.0)
    why = find_finding(explanation, "removed.h200-sxm")
    assert why.title == "Why H200 is ruled out"
    assert "> TTFT limit 400 ms." in plain(why.texts[0])
    assert lines_of(explanation).outcomes[-1].state == "ruled out"


def test_a_fact_that_is_not_known_is_named(service: GpuDeskService) -> None:
    evaluated = evaluate(service, {"destination": "controlled"})
    line = evaluated.line("D002-15")
    assert line is not None
    unknown = [place for place, cell in enumerate(line.cells) if cell.effect is RuleEffect.UNDECIDED]
    explanation = explain_option(evaluated, "destination", "controlled")
    for place in unknown:
        text = find_finding(explanation, f"undecided.{evaluated.decision.columns[place]}").texts[0]
        assert text.startswith("Not known: ")
    assert explain_ruling(evaluated, "D002-15") is not None


def test_what_only_weighs_shows_the_share_of_each(service: GpuDeskService) -> None:
    evaluated = evaluate(service, {"priority": "cost"})
    explanation = explain_option(evaluated, "priority", "cost")
    shares = {
        evaluated.names[each.key]: format_odds(each.odds, evaluated.formatter) for each in evaluated.decision.candidates
    }
    for line in lines_of(explanation).outcomes:
        assert line.state == f"{shares[line.name]} odds"
        assert line.text.startswith("Cost per million output tokens")
    rules = lines_of(explanation).rulings
    assert lines_of(explanation).rulings_title == "Rules behind this question"
    assert {each.id for each in rules} == {each.id for each in service.decider.rules if "priority" in each.asks}
    applying = [each.applies for each in rules]
    assert applying == sorted(applying, reverse=True)
    assert rules[-1].origin.endswith("does not apply here")


def test_a_rule_comes_with_both_texts_and_its_document(service: GpuDeskService) -> None:
    explanation = explain_option(evaluate(service, {"priority": "cost"}), "priority", "cost")
    rule = next(each for each in lines_of(explanation).rulings if each.id == "D000-02")
    assert rule.title == "Cost per token comes first"
    assert rule.strength == "Strong preference"
    assert rule.origin == "D000-02 · MI325X vs H200 · 2026-03"
    assert any(line.startswith("Source text: ") for line in rule.lines)
    assert any(line.startswith("Correct: ") for line in rule.lines)
    assert rule.lines[-1].startswith("Source: ")
    assert "2026-03" in rule.lines[-1]


def test_every_answer_to_every_question_can_be_explained(service: GpuDeskService) -> None:
    evaluated = evaluate(service)
    for name, question in QUESTIONS.items():
        for value in question.offered:
            explanation = explain_option(evaluated, name, value)
            assert len(lines_of(explanation).outcomes) == len(NAMES)
            assert lines_of(explanation).rulings, name
            assert all("{" not in line for line in format_explanation(explanation).splitlines())


# Rules


def test_a_cell_of_the_trace_has_its_figure_with_its_band(service: GpuDeskService) -> None:
    evaluated = evaluate(service, {"ttft_limit_ms": 2000.0})
    explanation = explain_ruling(evaluated, "L-01", "h200-sxm")
    assert explanation is not None
    assert explanation.what == "TTFT limit"
    assert explanation.conditions == "Required; H200: undecided"
    assert re.fullmatch(r"1,\d{3} ms", plain(explanation.figure))
    assert re.fullmatch(r"80% interval \d{3} ms to 2,\d{3} ms", plain(explanation.band))
    assert explanation.ground is ExplanationBasis.ESTIMATED
    assert explanation.basis == "Time to first token"
    assert not lines_of(explanation).outcomes
    assert find_finding(explanation, "open").texts[0].startswith("The 80% interval includes the limit")
    assert len(find_finding(explanation, "tested").texts) == 2
    assert find_finding(explanation, "weight").texts == (
        ("Rules out every accelerator that fails it; preferences cannot outweigh it."),
    )
    assert "2 s" in find_finding(explanation, "answer").texts[0]


def test_rule_explanation_lists_its_effect_on_each_accelerator(service: GpuDeskService) -> None:
    explanation = explain_ruling(evaluate(service, {"current_platform": "CUDA"}), "D000-14")
    outcomes = {line.name: line for line in lines_of(explanation).outcomes}
    assert outcomes["H200"].state == "favors it"
    assert outcomes["MI325X"].state == "no effect"
    assert outcomes["MI325X"].text == "Software platform ROCm"
    assert find_finding(explanation, "weight").texts == ("3 for the accelerator it favors.",)
    assert explanation is not None
    assert explanation.figure == ""
    assert explanation.details[0].value.startswith("MI325X")


def test_user_weight_is_shown_next_to_the_default(service: GpuDeskService) -> None:
    explanation = explain_ruling(evaluate(service, {"current_platform": "CUDA"}, {"D000-14": 7.5}), "D000-14")
    assert find_finding(explanation, "weight").texts[0] == "7.5, set by you; 3 by default."


def test_rules_of_one_theme_count_once_and_name_each_other(service: GpuDeskService) -> None:
    evaluated = evaluate(service)
    line = next(each for each in evaluated.decision.trace if each.counted_with is not None)
    explanation = explain_ruling(evaluated, line.rule.id)
    assert (
        find_finding(explanation, "weight").texts[-1]
        == f"Counted once with {line.counted_with}, which covers the same subject."
    )
    assert line.counted_with in {each.id for each in lines_of(explanation).rulings}


def test_unfounded_rule_explains_its_missing_weight(service: GpuDeskService) -> None:
    explanation = explain_ruling(evaluate(service, {"months_to_launch": 12.0}), "D000-05")
    assert find_finding(explanation, "weight").texts[0].startswith("None: The page gives three contradictory dates")
    assert explanation is not None
    assert len(explanation.disputes) == 3


def test_related_rules_are_listed(service: GpuDeskService) -> None:
    explanation = explain_ruling(evaluate(service), "D002-05")
    assert [each.id for each in lines_of(explanation).rulings] == ["D002-05", "D003-06", "D003-20"]
    assert lines_of(explanation).rulings_title == "Rule and related rules"


def test_inapplicable_rule_is_explained(service: GpuDeskService) -> None:
    explanation = explain_ruling(evaluate(service), "D000-06", "mi325x")
    assert explanation is not None
    assert explanation.conditions == "Required; does not apply here"
    assert explanation.figure == ""
    assert not lines_of(explanation).findings
    assert explain_ruling(evaluate(service), "D999-99") is None


def test_every_rule_can_be_explained_for_every_column(service: GpuDeskService) -> None:
    evaluated = evaluate(service, {"priority": "certainty", "team": "small", "budget_usd": 50_000.0})
    rules: tuple[DecisionRule, ...] = service.decider.rules
    for rule in rules:
        for key in ("", *NAMES):
            explanation = explain_ruling(evaluated, rule.id, key)
            assert explanation is not None
            assert explanation.what
            text = format_explanation(explanation)
            assert rule.id in text
            assert "{" not in text
