"""Conditions of decision rules: short comparisons of named facts, tested with what is known.

A condition is written as `memory_gib >= needed_gib and platform == 'CUDA'`. Each test has one of three
outcomes, after S. C. Kleene, Introduction to Metamathematics (1952), section 64: it holds, it does not, or
that cannot be told, because a fact is missing or because the limit lies inside the band of an estimate.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.decisions import Fact, Facts, Tested
from gpudesk.domain.estimates import Banded


class ConditionError(ValueError):
    """A condition that cannot be read, with the place where it fails."""

    def __init__(self, text: str, place: int, why: str) -> None:
        """Keep the text of the condition and the place in it, counted from 0."""
        super().__init__(f"{why}, at character {place + 1} of: {text}")
        self.text, self.place, self.why = text, place, why


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition holds, None where that cannot be told, and every comparison that it took."""

    holds: bool | None
    tested: tuple[Tested, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that has been read."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def on(self, facts: Facts) -> Outcome:
        """Test the condition; a fact that is not among `facts` is not known."""
        tested: list[Tested] = []
        holds = _holds(self.tree, facts, tested)
        return Outcome(holds, tuple(tested))


@lru_cache(maxsize=1024)
def condition(text: str) -> Condition:
    """Read a condition; raises `ConditionError` where it has something else than comparisons of facts."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        # Python gives no place for what ends too early.
        place = error.offset - 1 if error.offset else len(text)
        raise ConditionError(text, place, "not a condition") from None
    _check_truth(tree, text)
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Condition(text, names, tree)


# Reading

_Comparison = Callable[[Any, Any], bool]
#: What conditions compare with, and what they work out, by the node of the tree.
COMPARED: Final[Mapping[type[ast.cmpop], _Comparison]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
    }
)
WORKED: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
)


def _check_truth(node: ast.expr, text: str) -> None:
    """Allow `and`, `or`, `not`, single comparisons, and facts that are true or not."""
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                _check_truth(part, text)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            _check_truth(part, text)
        case ast.Compare(left=left, ops=[compared], comparators=[right]):
            if type(compared) not in COMPARED:
                raise ConditionError(text, node.col_offset, "only ==, !=, <, <=, > and >= compare")
            _check_value(left, text)
            _check_value(right, text)
        case ast.Compare():
            raise ConditionError(text, node.col_offset, "one comparison at a time, joined by 'and'")
        case ast.Name():
            pass
        case _:
            raise ConditionError(text, node.col_offset, "neither a comparison nor a fact")


def _check_value(node: ast.expr, text: str) -> None:
    """Allow facts, numbers, texts and the four operations."""
    match node:
        case ast.Name():
            pass
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=part):
            _check_value(part, text)
        case ast.BinOp(left=left, op=worked, right=right) if type(worked) in WORKED:
            _check_value(left, text)
            _check_value(right, text)
        case _:
            raise ConditionError(text, node.col_offset, "neither a fact nor a number nor a text")


# Testing


def _holds(node: ast.expr, facts: Facts, tested: list[Tested]) -> bool | None:
    match node:
        case ast.BoolOp(op=joined, values=parts):
            found = [_holds(part, facts, tested) for part in parts]
            return _all(found) if isinstance(joined, ast.And) else _any(found)
        case ast.UnaryOp(operand=part):
            inner = _holds(part, facts, tested)
            return None if inner is None else not inner
        case ast.Compare(left=left, ops=[compared], comparators=[right]):
            ours, theirs = _value(left, facts), _value(right, facts)
            holds = _compare(COMPARED[type(compared)], ours, theirs)
            tested.append(Tested(ast.unparse(node), ours, theirs, holds))
            return holds
    fact = _value(node, facts)
    holds = fact if isinstance(fact, bool) else None
    tested.append(Tested(ast.unparse(node), fact, None, holds))
    return holds


def _all(found: list[bool | None]) -> bool | None:
    if False in found:
        return False
    return None if None in found else True


def _any(found: list[bool | None]) -> bool | None:
    if True in found:
        return True
    return None if None in found else False


def _value(node: ast.expr, facts: Facts) -> Fact:
    match node:
        case ast.Name(id=name):
            return facts.get(name)
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            return value
        case ast.UnaryOp(operand=part):
            return _worked(operator.sub, 0.0, _value(part, facts))
        case ast.BinOp(left=left, op=worked, right=right):
            return _worked(WORKED[type(worked)], _value(left, facts), _value(right, facts))
    raise AssertionError(ast.dump(node))


def _worked(work: Callable[[float, float], float], left: Fact, right: Fact) -> Fact:
    """Return the result with the least and the most that bands allow; None without numbers or over 0."""
    ours, theirs = _ends(left), _ends(right)
    if ours is None or theirs is None:
        return None
    if work is operator.truediv and min(theirs) <= 0.0 <= max(theirs):
        return None
    found = [work(each, other) for each in ours for other in theirs]
    middle = work(_middle(left), _middle(right))
    return middle if min(found) == max(found) else Banded(middle, min(found), max(found))


def _compare(compared: _Comparison, left: Fact, right: Fact) -> bool | None:
    """Return what holds for all of both bands; None where it holds for a part of them, or one is unknown."""
    ours, theirs = _ends(left), _ends(right)
    if ours is not None and theirs is not None:
        return _over_bands(compared, ours, theirs)
    if left is None or right is None or ours is not None or theirs is not None:
        return None
    if compared not in (operator.eq, operator.ne) or type(left) is not type(right):
        return None
    return compared(left, right)


_Ends = tuple[float, float]


def _over_bands(compared: _Comparison, left: _Ends, right: _Ends) -> bool | None:
    if compared in (operator.eq, operator.ne):
        if left[0] == left[1] == right[0] == right[1]:
            return compared is operator.eq
        apart = left[1] < right[0] or right[1] < left[0]
        return (compared is operator.ne) if apart else None
    found = {compared(each, other) for each in left for other in right}
    return found.pop() if len(found) == 1 else None


def _ends(fact: Fact) -> _Ends | None:
    """Return between what a number lies; None of what is none."""
    if isinstance(fact, Banded):
        return (fact.low, fact.high)
    if isinstance(fact, bool) or not isinstance(fact, (int, float)):
        return None
    return (float(fact), float(fact))


def _middle(fact: Fact) -> float:
    assert isinstance(fact, (int, float, Banded))
    return float(fact.value if isinstance(fact, Banded) else fact)
