"""A decision as JSON values: verdict, rules with their numbers, flips, questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionFactor,
    DecisionFlip,
    DecisionQuestion,
    DecisionReason,
    DecisionRule,
    QuestionAnswer,
    RuleEffect,
    RuleExclusion,
    TraceLine,
)
from gpudesk.report.decision.questions import get_option_texts, get_question_reason, get_question_text
from gpudesk.report.decision.verdict import (
    describe_exclusion,
    describe_pilot,
    describe_reason,
    describe_verdict_reason,
    find_leading_column,
    format_verdict,
    get_reason_figure,
    list_exclusion_tests,
)
from gpudesk.report.writers.json_values import encode_each, encode_fields, encode_value
from gpudesk.report.writers.sizing_json import encode_systems
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message

ColumnNamesByKey = Mapping[str, str]

#: Fields of a condition that was tested, by their keys.
TESTED_CONDITION = "condition=text left right holds"


def encode_decision(decision: Decision, flips: Sequence[DecisionFlip], names: ColumnNamesByKey) -> dict[str, Any]:
    """Return a decision as JSON values: numbers are finite, what is not known is null.

    `names` are those of the columns by key.
    """
    formatter = Formatter()
    recommended = decision.recommended
    pilot, other = decision.pilot, decision.other_payment
    return {
        "recommendation": None
        if recommended is None
        else encode_fields(recommended, "accelerator key count parallel=plan"),
        "verdict": decision.verdict.value,
        "sentence": format_verdict(decision, names, formatter),
        "why": describe_verdict_reason(decision, names, formatter),
        "leading": find_leading_column(decision),
        **encode_fields(decision, "runner_up tied_by robustness"),
        "other_payment": None
        if other is None
        else {
            "payment": other.payment,
            "leading": other.leader.key,
            "runner_up": None if other.runner_up is None else other.runner_up.key,
            "odds": {each.key: each.odds for each in (other.leader, other.runner_up) if each is not None},
        },
        "scope": {
            "answered": decision.scope.answered,
            "why": None if decision.scope.why is None else format_message(decision.scope.why, formatter),
        },
        "candidates": [_encode_candidate(each, decision) for each in decision.candidates],
        "reasons": [_encode_reason(each, names, formatter) for each in decision.reasons],
        "against": [_encode_reason(each, names, formatter) for each in decision.against],
        "excluded": [_encode_exclusion(each, decision, names, formatter) for each in decision.exclusions],
        "trace": [_encode_trace_line(line, decision.columns) for line in decision.trace],
        "silent": list(decision.silent),
        "flips": encode_each(flips, "input from=before to=after becomes verdict"),
        "shares": {each.key: each.odds for each in decision.candidates},
        **encode_fields(decision, "answers advice"),
        "conflicts": [list(each) for each in decision.conflicts],
        "pilot": None
        if pilot is None
        else {
            **encode_fields(pilot, "accelerators=keys figure requests hours"),
            "sentence": describe_pilot(pilot, decision, names, formatter),
        },
        "factors": [_encode_factor(each, decision.columns) for each in decision.factors],
        "weights": {line.rule.id: line.weight for line in decision.trace},
    }


def _encode_candidate(candidate: DecisionCandidate, decision: Decision) -> dict[str, Any]:
    objective, value = decision.objective, candidate.value
    return {
        **encode_fields(candidate, "key accelerator count parallel=plan eligible odds"),
        "objective": {
            "name": objective.name.value,
            "unit": objective.unit,
            "better": "lower" if objective.lower_is_better else "higher",
            "payment": candidate.payment,
            "value": None if value is None else value.value,
            "low": None if value is None else value.low,
            "high": None if value is None else value.high,
        },
        **encode_fields(candidate, "missing needed arguments=score removed open=open_rules"),
        "systems": encode_systems(candidate.systems),
    }


def _encode_reason(reason: DecisionReason, names: ColumnNamesByKey, formatter: Formatter) -> dict[str, Any]:
    figure, unit = get_reason_figure(reason)
    return {
        "text": describe_reason(reason, names, formatter),
        "figure": encode_value(figure),
        "unit": unit,
        "rule": None if reason.line is None else reason.line.rule.id,
        "fact": reason.fact,
        "against": reason.other,
    }


def _encode_exclusion(
    exclusion: RuleExclusion, decision: Decision, names: ColumnNamesByKey, formatter: Formatter
) -> dict[str, Any]:
    return {
        "accelerator": exclusion.key,
        "rule": exclusion.rule.id,
        "because": encode_each(list_exclusion_tests(exclusion, decision), TESTED_CONDITION),
        "sentence": describe_exclusion(exclusion, names, formatter, decision),
    }


def _encode_trace_line(line: TraceLine, columns: Sequence[str]) -> dict[str, Any]:
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
        "answer": encode_value(line.answers),
        "tested": encode_each(line.tested, TESTED_CONDITION),
        "favours": [key for key, cell in cells.items() if cell.effect is RuleEffect.FAVOURS],
        **encode_fields(line, "role weight counted_with"),
        "shows": rule.shows,
        "effects": {
            key: {**encode_fields(cell, "effect value"), "tested": encode_each(cell.tested, TESTED_CONDITION)}
            for key, cell in cells.items()
        },
        "advice": line.case.advice,
        **encode_fields(rule, "printed corrected unfounded disputes"),
    }


def _encode_factor(factor: DecisionFactor, columns: Sequence[str]) -> dict[str, Any]:
    cells = zip(columns, factor.cells, strict=True)
    return {
        **encode_fields(factor, "id fact"),
        "cells": {key: encode_fields(cell, "level value") for key, cell in cells},
        "stated": list(factor.stated),
    }


# What can be asked and weighed


def encode_questions(answers: Mapping[str, QuestionAnswer]) -> dict[str, Any]:
    return {"questions": [_encode_question(each, answers[each.id]) for each in QUESTIONS.values()]}


def _encode_question(question: DecisionQuestion, answered: QuestionAnswer) -> dict[str, Any]:
    bounds = question.bounds
    return {
        **encode_fields(question, "id screen"),
        "strength": question.screen.strength.value,
        "title": get_question_text(question.id),
        "why": get_question_reason(question.id),
        "options": [_encode_option(question.id, each) for each in question.options],
        "number": None
        if bounds is None
        else {"unit": question.unit, **encode_fields(bounds, "low high above"), "presets": list(question.presets)},
        "default": question.default,
        **encode_value(answered),
    }


def _encode_option(question: str, option: AnswerValue) -> dict[str, Any]:
    words = get_option_texts(question, option, Formatter())
    return {"id": option, "title": words.title, "use": words.use}


def encode_rules(rules: Sequence[tuple[DecisionRule, float]]) -> dict[str, Any]:
    return {"rules": [_encode_rule(rule, weight) for rule, weight in rules]}


def _encode_rule(rule: DecisionRule, weight: float) -> dict[str, Any]:
    return {
        **encode_fields(rule, "id strength title theme why source"),
        "dated": rule.dated or None,
        "pair": list(rule.pair),
        "weight": weight,
        "asks": list(rule.asks),
        "cases": encode_each(rule.cases, "when requires favours checks advice"),
        **encode_fields(rule, "printed corrected unfounded disputes against"),
    }
