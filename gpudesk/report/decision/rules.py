"""Rules in words: effect, document, conditions, answers; and the reasons and exclusions that follow from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerOrigin,
    ConditionResult,
    Decision,
    DecisionCandidate,
    DecisionReason,
    DecisionRule,
    FactValue,
    QuestionAnswer,
    RuleEffect,
    RuleExclusion,
    TraceLine,
)
from gpudesk.report.decision.facts import format_answer, format_fact, format_fact_in_sentence, get_fact_unit, label_fact
from gpudesk.report.labels import join_alternatives, join_names, label_document
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first, lower_for_sentence
from gpudesk.text.translation import tr, translate_data

#: The text of a negated fact.
_NOT: Final[Mapping[str, str]] = {
    "all_fit_alone": "the model does not fit on one accelerator of every type",
    "announced": "is available",
    "engine_everywhere": "the serving engine does not run on all",
    "license_limit": "license allows data centers",
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
#: Costs that sentences give in dollars alone, because their label has the rest of the unit.
PER_MILLION: Final = frozenset({"usd_per_million", "owned_usd_per_million", "rented_usd_per_million"})
NamesByKey = Mapping[str, str]

#: Facts that make the purchase, or the figures, of a leading column doubtful, the gravest first.
DOUBTS_TO_BUY = ("announced", "used_price", "discontinued", "old_release", "old_price", "old_rent", "sales_region")
DOUBTS: Final = (*DOUBTS_TO_BUY, "basis")
#: A boolean fact -> the two numbers behind it, the smaller one first.
_BEHIND: Final[Mapping[str, tuple[str, str]]] = {
    "fits_alone": ("needs_alone_gb", "memory_gb"),
    "holds_load": ("in_flight", "max_concurrency"),
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
    left_text = format_fact_in_sentence(ours or fact_name, tested.left, formatter)
    if isinstance(tested.right, str):
        right_text = format_fact_in_sentence(fact_name, tested.right, formatter)
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
    RuleEffect.FAVORS: "↑",
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
        question_condition = (
            "" if case.question_condition is None else describe_condition(case.question_condition, formatter)
        )
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


# Reasons and exclusions


def find_candidate(decision: Decision, key: str) -> DecisionCandidate:
    return next(each for each in decision.candidates if each.key == key)


def label_payment(payment: str) -> str:
    return tr("owned") if payment == "owned" else tr("rented")


def describe_reason(reason: DecisionReason, names: NamesByKey, formatter: Formatter) -> str:
    """Return a reason with its figure on both sides, and their difference."""
    fact, line = reason.fact, reason.line
    if line is None and fact in DOUBTS:
        date = formatter.date(str(reason.ours))
        return {
            "basis": tr("Figures are estimates: no published measurement covers this accelerator and serving engine"),
            "announced": tr("Announced, but not available yet"),
            "discontinued": tr("Discontinued: check that you can still buy it at this price"),
            "old_release": tr("Released {date}: check that it is still sold new", date=date),
            "sales_region": tr("Sold only in {region}", region=translate_data(str(reason.ours))),
            "used_price": tr("The price is that of used accelerators: check supply and warranty"),
            "old_price": tr("Price from {date}: ask for a current quote", date=date),
            "old_rent": tr("Price from {date}: ask for a current quote", date=date),
        }[fact]
    if fact is None:
        return line.title if line is not None else ""
    sides = zip((reason.ours, reason.theirs), reason.payments, strict=True)
    ours, theirs = (_format_middle(fact, value, formatter, payment) for value, payment in sides)
    if reason.ours is None or (line is not None and ours == theirs):
        return label_fact(fact) if line is None else line.title
    values = {"label": label_fact(fact), "value": ours}
    change = _format_change(get_middle(reason.ours), get_middle(reason.theirs), formatter)
    if reason.other is not None and reason.theirs is not None:
        name = names[reason.other]
        text = tr("{label}: {value}, compared with {other} for {name}", other=theirs, name=name, **values)
    else:
        text = tr("{label}: {value}", **values)
    # The figure first, then the rule that makes it count.
    details = "; ".join(each for each in (change, "" if line is None else lower_for_sentence(line.title)) if each)
    return f"{text} ({details})" if details else text


def _format_change(ours: FactValue, theirs: FactValue, formatter: Formatter) -> str:
    """Return the difference between the figures of two columns, `+12%`; empty without one."""
    if not isinstance(ours, float) or not isinstance(theirs, float) or theirs == 0.0:
        return ""
    change = formatter.difference(ours / theirs)
    return "" if change == formatter.difference(1.0) else change


def get_reason_figure(reason: DecisionReason) -> tuple[FactValue, str | None]:
    """Return the leading column's figure behind a reason, with its unit."""
    ours = reason.ours.value if isinstance(reason.ours, IntervalEstimate) else reason.ours
    return ours, None if reason.fact is None else get_fact_unit(reason.fact)


def _format_middle(fact: str, value: FactValue, formatter: Formatter, payment: str | None) -> str:
    if fact in PER_MILLION and isinstance(value, IntervalEstimate):
        amount = tr("${value}", value=formatter.small_amount(value.value))
        return amount if payment is None else tr("{amount} {payment}", amount=amount, payment=label_payment(payment))
    return format_fact(fact, get_middle(value), formatter)


def get_middle(fact: FactValue) -> FactValue:
    return fact.value if isinstance(fact, IntervalEstimate) else fact


def describe_exclusion(
    exclusion: RuleExclusion, names: NamesByKey, formatter: Formatter, decision: Decision | None = None
) -> str:
    """Return the rule that removes an accelerator, and the failed comparison.

    With the decision, boolean facts are replaced by the figures behind them.
    """
    # The title says what a boolean fact would: its figure says more.
    tested = [] if decision is None else _list_shown_fact(exclusion, decision, formatter)
    tested = tested or [
        describe_condition_result(each, formatter) for each in list_exclusion_tests(exclusion, decision)
    ]
    title = translate_data(exclusion.rule.title) if decision is None else _find_line(exclusion.rule, decision).title
    rule = tr("{name}: {title}", name=names[exclusion.key], title=lower_for_sentence(title))
    return "; ".join((rule, *tested))


def describe_unfit(key: str, decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return the number of accelerators that a column needs if the model does not fit; else nothing."""
    is_removed = any(
        each.key == key and any(test.text == "fits" for test in each.because) for each in decision.exclusions
    )
    if not is_removed or find_candidate(decision, key).problem is not None:
        return ""
    needed = decision.parts[decision.columns.index(key)].get("count")
    if not isinstance(needed, float):
        return tr("{name} is too small", name=names[key])
    return tr("{name} needs {n}", name=names[key], n=formatter.count(needed))


def _list_shown_fact(exclusion: RuleExclusion, decision: Decision, formatter: Formatter) -> list[str]:
    """Return the figure behind a rule that tested only a boolean fact."""
    shows = exclusion.rule.shows
    value = None if shows is None else decision.parts[decision.columns.index(exclusion.key)].get(shows)
    tests = list_exclusion_tests(exclusion, decision)
    if shows is None or value is None or isinstance(value, bool) or any(each.right is not None for each in tests):
        return []
    return [
        tr("{label}: {value}", label=lower_for_sentence(label_fact(shows)), value=format_fact(shows, value, formatter))
    ]


def list_exclusion_tests(exclusion: RuleExclusion, decision: Decision | None) -> tuple[ConditionResult, ...]:
    """Return the comparisons for which a rule removes a column, with numbers if the decision is given."""
    if decision is None:
        return exclusion.because
    place = decision.columns.index(exclusion.key)
    # Negated conditions have no failed comparison.
    tested = exclusion.because or _find_line(exclusion.rule, decision).cells[place].tested
    return tuple(_replace_with_numbers(each, decision.parts[place]) for each in tested)


def _find_line(rule: DecisionRule, decision: Decision) -> TraceLine:
    return next(line for line in decision.trace if line.rule.id == rule.id)


def _replace_with_numbers(tested: ConditionResult, part: Mapping[str, FactValue]) -> ConditionResult:
    behind = _BEHIND.get(tested.text)
    if behind is None:
        return tested
    less, more = (part.get(name) for name in behind)
    if not isinstance(less, float) or not isinstance(more, float) or (less <= more) is not tested.holds:
        return tested
    return ConditionResult(f"{behind[0]} <= {behind[1]}", less, more, tested.holds)
