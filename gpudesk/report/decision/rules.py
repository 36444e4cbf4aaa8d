"""Rules in words: effect, strength, document, conditions, and the answers a rule depends on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerOrigin,
    ConditionResult,
    DecisionRule,
    FactValue,
    QuestionAnswer,
    RuleEffect,
    TraceLine,
)
from gpudesk.report.decision.facts import format_fact, label_fact
from gpudesk.report.decision.questions import format_answer
from gpudesk.report.labels import join_alternatives, join_names, label_document
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import capitalize_first, lower_for_sentence
from gpudesk.text.translation import tr, translate_data

#: The text of a negated fact.
_NOT: Final[Mapping[str, str]] = {
    "all_fit_alone": "the model does not fit on one accelerator of every type",
    "announced": "is available",
    "engine_everywhere": "the serving engine does not run on all",
    "leads_memory": "does not have the most memory",
    "needs_port": "needs no port",
    "kv_some_short": "all have enough room for the KV cache",
    "standard_model": "the model has experts or nonstandard attention",
}
#: Bounds above this mean no limit.
_UNBOUNDED: Final = 1e12
_SIGNS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
}
_OPPOSITES: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
}


def describe_condition_result(tested: ConditionResult, formatter: Formatter) -> str:
    """Return one comparison with its numbers, `needed on one, 412 GB > memory 256 GB`."""
    node = ast.parse(tested.text, mode="eval").body
    if not isinstance(node, ast.Compare):
        name = lower_for_sentence(label_fact(tested.text))
        return tr("{fact}: {outcome}", fact=name, outcome=_label_outcome(tested.holds))
    ours, theirs = _name_operand(node.left), _name_operand(node.comparators[0])
    fact_name = ours or theirs
    if fact_name is None:
        return tr("{fact}: {outcome}", fact=tested.text, outcome=_label_outcome(tested.holds))
    name = lower_for_sentence(label_fact(fact_name))
    # A constant is in the unit of the fact compared with it.
    left_text = lower_for_sentence(format_fact(ours or fact_name, tested.left, formatter))
    if isinstance(tested.right, str):
        right_text = lower_for_sentence(format_fact(fact_name, tested.right, formatter))
        if tested.left is None or tested.left == tested.right or tested.holds:
            return tr("{fact}: {value}", fact=name, value=left_text)
        return tr("{fact}: {value}, not {asked}", fact=name, value=left_text, asked=right_text)
    if ours in QUESTIONS and _is_unbounded(tested.right):
        return tr("{fact}: {value}", fact=name, value=left_text)
    right = format_fact(theirs or fact_name, tested.right, formatter)
    if theirs is not None:
        right = tr("{fact} {value}", fact=lower_for_sentence(label_fact(theirs)), value=right)
    compared = type(node.ops[0])
    sign = _SIGNS[_OPPOSITES[compared] if tested.holds is False else compared]
    text = tr("{fact}, {left} {sign} {right}", fact=name, left=left_text, sign=sign, right=right)
    return tr("{comparison}: undecided", comparison=text) if tested.holds is None else text


def _label_outcome(holds: bool | None) -> str:
    if holds is None:
        return tr("undecided")
    return tr("yes") if holds else tr("no")


def describe_condition(text: str, formatter: Formatter) -> str:
    """Return a condition of a rule in words, `weights ≥ 140 GB and fits on one`."""
    return _describe_inner_condition(ast.parse(text, mode="eval").body, formatter)


def _describe_inner_condition(node: ast.expr, formatter: Formatter) -> str:
    match node:
        case ast.BoolOp(op=ast.Or(), values=parts) if (choice := _describe_choice(parts)) is not None:
            name, values = choice
            words = [lower_for_sentence(format_fact(name, each, formatter)) for each in values]
            return tr("{fact}: {value}", fact=lower_for_sentence(label_fact(name)), value=join_alternatives(words))
        case ast.BoolOp(op=operator, values=operands):
            conditions = [_enclose_condition(each, formatter) for each in operands]
            return join_names(conditions) if isinstance(operator, ast.And) else join_alternatives(conditions)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name in _NOT:
            return tr(_NOT[name])
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return tr("not: {fact}", fact=_describe_inner_condition(part, formatter))
        case ast.Compare(left=ast.Name(id=name), ops=[compared], comparators=[right]):
            return _describe_comparison(name, compared, right, formatter)
        case ast.Name(id=name):
            return lower_for_sentence(label_fact(name))
    return ast.unparse(node)


def _enclose_condition(node: ast.expr, formatter: Formatter) -> str:
    """Return an operand of a joined condition; joined operands get brackets, unless they are a choice."""
    inner = _describe_inner_condition(node, formatter)
    joined = isinstance(node, ast.BoolOp) and (isinstance(node.op, ast.And) or _describe_choice(node.values) is None)
    return f"({inner})" if joined else inner


def _describe_choice(parts: Sequence[ast.expr]) -> tuple[str, tuple[str, ...]] | None:
    names, values = set(), []
    for part in parts:
        match part:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=str(value))]):
                names.add(name)
                values.append(value)
            case _:
                return None
    return (names.pop(), tuple(values)) if len(names) == 1 else None


def _describe_comparison(name: str, compared: ast.cmpop, right: ast.expr, formatter: Formatter) -> str:
    label, sign = lower_for_sentence(label_fact(name)), _SIGNS[type(compared)]
    match right:
        case ast.Name(id=other):
            return f"{label} {sign} {lower_for_sentence(label_fact(other))}"
        case ast.Constant(value=str(value)):
            value_text = lower_for_sentence(format_fact(name, value, formatter))
            value_text = value_text if isinstance(compared, ast.Eq) else tr("other than {value}", value=value_text)
            return tr("{fact}: {value}", fact=label, value=value_text)
        case ast.Constant(value=value) if isinstance(value, (int, float)):
            if name in QUESTIONS and _is_unbounded(value):
                return tr("{fact} is set", fact=label)
            return f"{label} {sign} {format_fact(name, value, formatter)}"
    return f"{label} {sign} {ast.unparse(right)}"


def _is_unbounded(fact: FactValue) -> bool:
    return isinstance(fact, (int, float)) and fact >= _UNBOUNDED


def _name_operand(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


_MARKS: Final[Mapping[RuleEffect, str]] = {
    RuleEffect.REMOVES: "⊘",
    RuleEffect.FAVOURS: "↑",
    RuleEffect.PASSES: "✓",
    RuleEffect.NONE: "·",
    RuleEffect.UNDECIDED: "?",
}
_FACTORS: Final[Mapping[str, str]] = {
    "software": "Software",
    "very_large_models": "Very large models",
    "cluster": "Multi-accelerator scaling",
    "cost": "Cost per token",
    "fine_tuning": "Fine-tuning",
    "experts": "Mixture of experts",
    "community": "Community and support",
    "flexibility": "Flexibility",
    "throughput": "Throughput",
    "first_token": "Time to first token",
    "long_context": "Long context",
    "fp4": "FP4",
}
#: The empty condition: that the deployment fits, which every compared one does.
_ANYWAY: Final = "fits"


def get_effect_mark(effect: RuleEffect) -> str:
    """Return the sign of a rule's effect, the same on screen, paper and terminal."""
    return _MARKS[effect]


def describe_effect_marks() -> str:
    return ", ".join(f"{get_effect_mark(each)} {each.label}" for each in RuleEffect)


def label_factor(factor_id: str) -> str:
    return tr(_FACTORS[factor_id])


def label_rule_source(rule: DecisionRule) -> str:
    """Return the short title of a rule's document; `Your limit` for a rule without one."""
    return tr("Your limit") if rule.source is None else label_document(rule.source)


def list_rule_lines(rule: DecisionRule, formatter: Formatter) -> tuple[str, ...]:
    """Return the texts of a rule: reason, conditions, the printed and the correct figures."""
    lines = [translate_data(rule.why), *_describe_cases(rule, formatter)]
    if rule.printed is not None:
        lines.append(tr("Source text: {text}", text=translate_data(rule.printed)))
    if rule.corrected is not None:
        lines.append(tr("Correct: {text}", text=translate_data(rule.corrected)))
    if rule.unfounded is not None:
        lines.append(tr("Unfounded: {text}", text=translate_data(rule.unfounded)))
    if rule.against:
        lines.append(tr("Contradicted by: {rules}", rules=", ".join(rule.against)))
    if rule.disputes:
        lines.append(tr("Sources disagree: {disputes}", disputes=", ".join(rule.disputes)))
    return tuple(lines)


def _describe_cases(rule: DecisionRule, formatter: Formatter) -> Iterator[str]:
    for case in rule.cases:
        when = capitalize_first(describe_condition(case.when, formatter))
        question_condition = "" if case.asked is None else describe_condition(case.asked, formatter)
        if case.requires is not None:
            yield tr("{when} → required: {asked}", when=when, asked=question_condition)
        elif case.favours is not None:
            yield tr("{when} → favored: {asked}", when=when, asked=question_condition)
        elif case.checks == _ANYWAY:
            yield tr("{when} → shown only", when=when)
        elif case.checks is not None:
            yield tr("{when} → shown only: {asked}", when=when, asked=question_condition)
        if case.advice is not None:
            yield tr("{when} → {advice}", when=when, advice=translate_data(case.advice))


def describe_rule_answers(
    line: TraceLine, formatter: Formatter, answers: Mapping[str, QuestionAnswer] | None = None
) -> str:
    """Return the answers behind a rule, `you: 2 s`; with all answers, also their origins."""
    if not line.answers:
        return tr("no answer needed")
    return ", ".join(
        tr(
            _ORIGINS[AnswerOrigin.YOURS if answers is None else answers[name].origin],
            answer=lower_for_sentence(format_answer(name, value, formatter)),
        )
        for name, value in line.answers.items()
    )


_ORIGINS: Final[Mapping[AnswerOrigin, str]] = {
    AnswerOrigin.YOURS: "you: {answer}",
    AnswerOrigin.SCENARIO: "scenario: {answer}",
    AnswerOrigin.DEFAULT: "default: {answer}",
}
