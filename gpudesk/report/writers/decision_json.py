"""A decision as JSON values: verdict, rules with their numbers, flips, questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerValue,
    ColumnStanding,
    ConditionResult,
    Decision,
    DecisionFactor,
    DecisionFlip,
    DecisionQuestion,
    DecisionRule,
    DecisionVerdict,
    FactValue,
    PilotMeasurement,
    QuestionAnswer,
    RuleCase,
    RuleEffect,
    RuleExclusion,
    TraceLine,
    WeighedRule,
)
from gpudesk.report.decision.questions import get_option_texts, get_question_reason, get_question_text
from gpudesk.report.decision.verdict import (
    describe_exclusion,
    describe_pilot,
    describe_reason,
    describe_verdict_reason,
    find_leading_column,
    format_verdict,
    list_exclusion_tests,
)
from gpudesk.report.writers.sizing_json import encode_plan
from gpudesk.text.formatting import Formatter, IntervalEstimate

ColumnNamesByKey = Mapping[str, str]


def encode_decision(decision: Decision, flips: Sequence[DecisionFlip], names: ColumnNamesByKey) -> dict[str, Any]:
    """Return a decision as JSON values: numbers are finite, what is not known is null.

    `names` are those of the columns by key. Where nobody wins there is no recommendation; `leading` is the
    column that comes out ahead all the same.
    """
    formatter = Formatter()
    return {
        "recommendation": _recommendation(decision),
        "verdict": decision.verdict.value,
        "sentence": format_verdict(decision, names, formatter),
        "why": describe_verdict_reason(decision, names, formatter),
        "leading": find_leading_column(decision),
        "runner_up": decision.runner_up,
        "robustness": decision.robustness,
        "draws": decision.draws,
        "reasons": [_weighed(each, decision, names, formatter) for each in decision.reasons],
        "against": [_weighed(each, decision, names, formatter) for each in decision.against],
        "excluded": [_excluded(each, decision, names, formatter) for each in decision.exclusions],
        "trace": [_line(line, decision.columns) for line in decision.trace],
        "silent": list(decision.silent),
        "flips": [_flip(each) for each in flips],
        "standings": [_standing(each) for each in decision.standings],
        "shares": {each.key: each.share for each in decision.standings},
        "answers": {name: _answered(each) for name, each in decision.answers.items()},
        "advice": [{"rule": each.rule, "text": each.text} for each in decision.advice],
        "conflicts": [[each.one, each.other] for each in decision.conflicts],
        "pilot": None if decision.pilot is None else _pilot(decision.pilot, decision, names, formatter),
        "factors": [_factor(each, decision.columns) for each in decision.factors],
        "weights": {line.rule.id: line.weight for line in decision.trace},
    }


def _recommendation(decision: Decision) -> dict[str, Any] | None:
    found = decision.recommended
    if decision.verdict is not DecisionVerdict.WINNER or found is None:
        return None
    return {
        "accelerator": found.accelerator,
        "key": found.key,
        "count": found.count,
        "parallel": encode_plan(found.plan),
    }


def _weighed(weighed: WeighedRule, decision: Decision, names: ColumnNamesByKey, formatter: Formatter) -> dict[str, Any]:
    return {
        "rule": weighed.rule.id,
        "title": weighed.line.title,
        "gain": weighed.gain,
        "sentence": describe_reason(weighed, decision, names, formatter),
    }


def _excluded(
    exclusion: RuleExclusion, decision: Decision, names: ColumnNamesByKey, formatter: Formatter
) -> dict[str, Any]:
    return {
        "accelerator": exclusion.key,
        "rule": exclusion.rule.id,
        "because": [_tested(each) for each in list_exclusion_tests(exclusion, decision)],
        "sentence": describe_exclusion(exclusion, names, formatter, decision),
    }


def _line(line: TraceLine, columns: Sequence[str]) -> dict[str, Any]:
    cells = dict(zip(columns, line.cells, strict=True))
    rule = line.rule
    return {
        "rule": rule.id,
        "title": line.title,
        "strength": rule.strength.value,
        "theme": line.case.theme or rule.theme,
        "source": rule.source,
        "dated": rule.dated or None,
        "pair": list(rule.pair),
        "answer": dict(line.answers),
        "tested": [_tested(each) for each in line.tested],
        "favours": [key for key, cell in cells.items() if cell.effect is RuleEffect.FAVOURS],
        "weight": line.weight,
        "counted_with": line.counted_with,
        "shows": rule.shows,
        "effects": {
            key: {
                "effect": cell.effect.value,
                "value": encode_fact(cell.value),
                "tested": [_tested(each) for each in cell.tested],
            }
            for key, cell in cells.items()
        },
        "advice": line.case.advice,
        "printed": rule.printed,
        "corrected": rule.corrected,
        "unfounded": rule.unfounded,
        "disputes": list(rule.disputes),
    }


def _tested(tested: ConditionResult) -> dict[str, Any]:
    return {
        "condition": tested.text,
        "left": encode_fact(tested.left),
        "right": encode_fact(tested.right),
        "holds": tested.holds,
    }


def encode_fact(fact: FactValue) -> Any:  # noqa: ANN401 - whatever JSON has for it
    """Return a fact as a JSON value: a band with its ends, null for what is not known or without limit."""
    if isinstance(fact, IntervalEstimate):
        ends = {"value": fact.value, "low": fact.low, "high": fact.high}
        return ends if all(map(math.isfinite, ends.values())) else None
    if isinstance(fact, float) and not math.isfinite(fact):
        return None
    return fact


def _flip(flip: DecisionFlip) -> dict[str, Any]:
    return {
        "input": flip.input,
        "from": flip.before,
        "to": flip.after,
        "becomes": list(flip.becomes),
        "verdict": flip.verdict.value,
    }


def _standing(standing: ColumnStanding) -> dict[str, Any]:
    return {
        "key": standing.key,
        "accelerator": standing.accelerator,
        "score": standing.score,
        "share": standing.share,
        "removed": list(standing.removed),
        "open": list(standing.open_rules),
    }


def _answered(answered: QuestionAnswer) -> dict[str, Any]:
    return {"value": answered.value, "origin": answered.origin.value}


def _pilot(
    pilot: PilotMeasurement, decision: Decision, names: ColumnNamesByKey, formatter: Formatter
) -> dict[str, Any]:
    return {
        "accelerators": list(pilot.keys),
        "figure": pilot.figure,
        "requests": pilot.requests,
        "hours": pilot.hours,
        "sentence": describe_pilot(pilot, decision, names, formatter),
    }


def _factor(factor: DecisionFactor, columns: Sequence[str]) -> dict[str, Any]:
    cells = zip(columns, factor.cells, strict=True)
    return {
        "id": factor.id,
        "fact": factor.fact,
        "cells": {key: {"level": cell.level.value, "value": encode_fact(cell.value)} for key, cell in cells},
        "stated": list(factor.stated),
    }


# What can be asked and weighed


def encode_questions(answers: Mapping[str, QuestionAnswer]) -> dict[str, Any]:
    return {"questions": [_question(each, answers[each.id]) for each in QUESTIONS.values()]}


def _question(question: DecisionQuestion, answered: QuestionAnswer) -> dict[str, Any]:
    bounds = question.bounds
    return {
        "id": question.id,
        "screen": question.screen.value,
        "strength": question.screen.strength.value,
        "title": get_question_text(question.id),
        "why": get_question_reason(question.id),
        "options": [_option(question.id, each) for each in question.options],
        "number": None
        if bounds is None
        else {
            "unit": question.unit,
            "low": bounds.low,
            "high": bounds.high,
            "above": bounds.above,
            "presets": list(question.presets),
        },
        "default": question.default,
        **_answered(answered),
    }


def _option(question: str, option: AnswerValue) -> dict[str, Any]:
    words = get_option_texts(question, option, Formatter())
    return {"id": option, "title": words.title, "use": words.use}


def encode_rules(rules: Sequence[tuple[DecisionRule, float]]) -> dict[str, Any]:
    return {"rules": [_rule(rule, weight) for rule, weight in rules]}


def _case(case: RuleCase) -> dict[str, Any]:
    return {
        "when": case.when,
        "requires": case.requires,
        "favours": case.favours,
        "checks": case.checks,
        "advice": case.advice,
    }


def _rule(rule: DecisionRule, weight: float) -> dict[str, Any]:
    return {
        "id": rule.id,
        "strength": rule.strength.value,
        "title": rule.title,
        "theme": rule.theme,
        "why": rule.why,
        "source": rule.source,
        "dated": rule.dated or None,
        "pair": list(rule.pair),
        "weight": weight,
        "asks": list(rule.asks),
        "cases": [_case(case) for case in rule.cases],
        "printed": rule.printed,
        "corrected": rule.corrected,
        "unfounded": rule.unfounded,
        "disputes": list(rule.disputes),
        "against": list(rule.against),
    }
