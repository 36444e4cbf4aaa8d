"""Conditions of rules, and what was found of them, in words."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gpudesk.domain.decisions import Fact, Tested
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS
from gpudesk.sheets.fact_words import fact_name, fact_text, in_sentence
from gpudesk.text import tr

#: What it is called that a fact is not so.
_NOT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "all_fit_alone": "the model does not fit on one of each",
        "announced": "ships already",
        "engine_everywhere": "the serving engine does not run on all",
        "leads_memory": "has not the most memory",
        "needs_port": "needs no port",
        "kv_some_short": "all have room for the KV cache",
        "standard_model": "the model has experts, or attention of its own",
    }
)
#: Bounds from here on only say that there is no limit.
_UNBOUNDED: Final = 1e12
_SIGNS: Final[Mapping[type[ast.cmpop], str]] = MappingProxyType(
    {ast.Eq: "=", ast.NotEq: "≠", ast.Lt: "<", ast.LtE: "≤", ast.Gt: ">", ast.GtE: "≥"}
)


def tested_text(tested: Tested, formatter: Formatter) -> str:
    """Return one comparison with its numbers and what came out, `needed on one, 412 GB ≤ 256 GB: no`."""
    node = ast.parse(tested.text, mode="eval").body
    if not isinstance(node, ast.Compare):
        name = in_sentence(fact_name(tested.text))
        return tr("{fact}: {outcome}", fact=name, outcome=_outcome(tested.holds))
    ours, theirs = _name_of(node.left), _name_of(node.comparators[0])
    named = ours or theirs
    if named is None:
        return tr("{fact}: {outcome}", fact=tested.text, outcome=_outcome(tested.holds))
    name = in_sentence(fact_name(named))
    # A constant is in the unit of the fact that it is held against.
    left = in_sentence(fact_text(ours or named, tested.left, formatter))
    if isinstance(tested.right, str):
        asked = in_sentence(fact_text(named, tested.right, formatter))
        return _tested_word(tested, name, left, asked)
    if ours in QUESTIONS and _is_unbounded(tested.right):
        return tr("{fact}: {value}", fact=name, value=left)
    right = fact_text(theirs or named, tested.right, formatter)
    if theirs is not None:
        right = tr("{fact} {value}", fact=in_sentence(fact_name(theirs)), value=right)
    return tr(
        "{fact}, {left} {sign} {right}: {outcome}",
        fact=name,
        left=left,
        sign=_SIGNS[type(node.ops[0])],
        right=right,
        outcome=_outcome(tested.holds),
    )


def _outcome(holds: bool | None) -> str:
    if holds is None:
        return tr("cannot be told")
    return tr("yes") if holds else tr("no")


def _tested_word(tested: Tested, name: str, found: str, asked: str) -> str:
    """Return a word that was found; beside what is asked for where it is another."""
    if tested.left is None or tested.left == tested.right or tested.holds:
        return tr("{fact}: {value}", fact=name, value=found)
    return tr("{fact}: {value}, not {asked}", fact=name, value=found, asked=asked)


def condition_text(text: str, formatter: Formatter) -> str:
    """Return a condition of a rule in words, `weights ≥ 140 GB and fits on one`."""
    return _condition(ast.parse(text, mode="eval").body, formatter)


def _condition(node: ast.expr, formatter: Formatter) -> str:
    match node:
        case ast.BoolOp(op=ast.Or(), values=parts) if (choice := _choice(parts)) is not None:
            name, values = choice
            said = tr(" or ").join(in_sentence(fact_text(name, each, formatter)) for each in values)
            return tr("{fact}: {value}", fact=in_sentence(fact_name(name)), value=said)
        case ast.BoolOp(op=joined, values=parts):
            found = (_inner(each, formatter) for each in parts)
            return (tr(" and ") if isinstance(joined, ast.And) else tr(" or ")).join(found)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name in _NOT:
            return tr(_NOT[name])
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return tr("not: {fact}", fact=_condition(part, formatter))
        case ast.Compare(left=ast.Name(id=name), ops=[compared], comparators=[right]):
            return _compared(name, compared, right, formatter)
        case ast.Name(id=name):
            return in_sentence(fact_name(name))
    return ast.unparse(node)


def _inner(node: ast.expr, formatter: Formatter) -> str:
    """Return a part of what is joined; what is itself joined stands in brackets, unless it is a choice."""
    said = _condition(node, formatter)
    joined = isinstance(node, ast.BoolOp) and (isinstance(node.op, ast.And) or _choice(node.values) is None)
    return f"({said})" if joined else said


def _choice(parts: Sequence[ast.expr]) -> tuple[str, tuple[str, ...]] | None:
    """Return a fact and the words that it may be, where that is all that is asked."""
    names, values = set(), []
    for part in parts:
        match part:
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=str(value))]
            ):
                names.add(name)
                values.append(value)
            case _:
                return None
    return (names.pop(), tuple(values)) if len(names) == 1 else None


def _compared(name: str, compared: ast.cmpop, right: ast.expr, formatter: Formatter) -> str:
    label, sign = in_sentence(fact_name(name)), _SIGNS[type(compared)]
    match right:
        case ast.Name(id=other):
            return f"{label} {sign} {in_sentence(fact_name(other))}"
        case ast.Constant(value=str(value)):
            shown = in_sentence(fact_text(name, value, formatter))
            shown = shown if isinstance(compared, ast.Eq) else tr("other than {value}", value=shown)
            return tr("{fact}: {value}", fact=label, value=shown)
        case ast.Constant(value=value) if isinstance(value, (int, float)):
            if name in QUESTIONS and _is_unbounded(value):
                return tr("{fact} is set", fact=label)
            return f"{label} {sign} {fact_text(name, value, formatter)}"
    return f"{label} {sign} {ast.unparse(right)}"


def _is_unbounded(fact: Fact) -> bool:
    return isinstance(fact, (int, float)) and fact >= _UNBOUNDED


def _name_of(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None
