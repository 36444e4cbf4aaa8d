"""A decision as JSON values: the verdict, the rules behind it with their numbers, what would change it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpudesk.domain.decisions import (
    Answered,
    Case,
    Decision,
    Effect,
    Exclusion,
    Fact,
    Factor,
    Flip,
    Pilot,
    Rule,
    Standing,
    Tested,
    TraceLine,
    Verdict,
    Weighed,
)
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS, AnswerValue, Question
from gpudesk.sheets.decision_words import (
    because,
    exclusion_text,
    leading,
    pilot_text,
    reason_text,
    verdict_reason,
    verdict_title,
)
from gpudesk.sheets.how_many_json import plan_fields
from gpudesk.sheets.question_words import option_words, question_title, question_why

Names = Mapping[str, str]


def decision_fields(decision: Decision, flips: Sequence[Flip], names: Names) -> dict[str, Any]:
    """Return a decision as JSON values: numbers are finite, what is not known is null.

    `names` are those of the columns by key. Where nobody wins there is no recommendation; `leading` is the
    column that comes out ahead all the same.
    """
    formatter = Formatter()
    return {
        "recommendation": _recommendation(decision),
        "verdict": decision.verdict.value,
        "sentence": verdict_title(decision, names, formatter),
        "why": verdict_reason(decision, names, formatter),
        "leading": leading(decision),
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
    if decision.verdict is not Verdict.WINNER or found is None:
        return None
    return {
        "accelerator": found.accelerator,
        "key": found.key,
        "count": found.count,
        "parallel": plan_fields(found.plan),
    }


def _weighed(weighed: Weighed, decision: Decision, names: Names, formatter: Formatter) -> dict[str, Any]:
    return {
        "rule": weighed.rule.id,
        "title": weighed.line.title,
        "gain": weighed.gain,
        "sentence": reason_text(weighed, decision, names, formatter),
    }


def _excluded(exclusion: Exclusion, decision: Decision, names: Names, formatter: Formatter) -> dict[str, Any]:
    return {
        "accelerator": exclusion.key,
        "rule": exclusion.rule.id,
        "because": [_tested(each) for each in because(exclusion, decision)],
        "sentence": exclusion_text(exclusion, names, formatter, decision),
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
        "favours": [key for key, cell in cells.items() if cell.effect is Effect.FAVOURS],
        "weight": line.weight,
        "counted_with": line.counted_with,
        "shows": rule.shows,
        "effects": {
            key: {
                "effect": cell.effect.value,
                "value": fact_value(cell.value),
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


def _tested(tested: Tested) -> dict[str, Any]:
    return {
        "condition": tested.text,
        "left": fact_value(tested.left),
        "right": fact_value(tested.right),
        "holds": tested.holds,
    }


def fact_value(fact: Fact) -> Any:  # noqa: ANN401 - whatever JSON has for it
    """Return a fact as a JSON value: a band with its ends, null for what is not known or without limit."""
    if isinstance(fact, Banded):
        ends = {"value": fact.value, "low": fact.low, "high": fact.high}
        return ends if all(map(math.isfinite, ends.values())) else None
    if isinstance(fact, float) and not math.isfinite(fact):
        return None
    return fact


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "input": flip.input,
        "from": flip.before,
        "to": flip.after,
        "becomes": list(flip.becomes),
        "verdict": flip.verdict.value,
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "key": standing.key,
        "accelerator": standing.accelerator,
        "score": standing.score,
        "share": standing.share,
        "removed": list(standing.removed),
        "open": list(standing.open_rules),
    }


def _answered(answered: Answered) -> dict[str, Any]:
    return {"value": answered.value, "origin": answered.origin.value}


def _pilot(pilot: Pilot, decision: Decision, names: Names, formatter: Formatter) -> dict[str, Any]:
    return {
        "accelerators": list(pilot.keys),
        "figure": pilot.figure,
        "requests": pilot.requests,
        "hours": pilot.hours,
        "sentence": pilot_text(pilot, decision, names, formatter),
    }


def _factor(factor: Factor, columns: Sequence[str]) -> dict[str, Any]:
    cells = zip(columns, factor.cells, strict=True)
    return {
        "id": factor.id,
        "fact": factor.fact,
        "cells": {key: {"level": cell.level.value, "value": fact_value(cell.value)} for key, cell in cells},
        "stated": list(factor.stated),
    }


# What can be asked and weighed


def question_fields(answers: Mapping[str, Answered]) -> dict[str, Any]:
    """Return all questions with their options and defaults, and the answers in force with their origins."""
    return {"questions": [_question(each, answers[each.id]) for each in QUESTIONS.values()]}


def _question(question: Question, answered: Answered) -> dict[str, Any]:
    bounds = question.bounds
    return {
        "id": question.id,
        "screen": question.screen.value,
        "strength": question.screen.strength.value,
        "title": question_title(question.id),
        "why": question_why(question.id),
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
    words = option_words(question, option, Formatter())
    return {"id": option, "title": words.title, "use": words.use}


def rule_fields(rules: Sequence[tuple[Rule, float]]) -> dict[str, Any]:
    """Return all rules with the weights in force."""
    return {"rules": [_rule(rule, weight) for rule, weight in rules]}


def _case(case: Case) -> dict[str, Any]:
    """Return the conditions of a case as its file has them."""
    return {
        "when": case.when,
        "requires": case.requires,
        "favours": case.favours,
        "checks": case.checks,
        "advice": case.advice,
    }


def _rule(rule: Rule, weight: float) -> dict[str, Any]:
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
