"""Conditions of decision rules: short comparisons of named facts, tested with known values or over draws.

A condition is written as `memory_gib >= needed_gib and platform == 'CUDA'`. Each test has one of three
outcomes, after S. C. Kleene, Introduction to Metamathematics (1952), § 64: true, false, undecided."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.decision import ConditionResult, FactValue, FactValues
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate


class ConditionError(ValueError):
    """An unreadable condition, with the position of the error."""

    def __init__(self, text: str, place: int, why: str) -> None:
        """Keep the text of the condition and the position in it, counted from 0."""
        super().__init__(f"{why}, at character {place + 1} of: {text}")
        self.text, self.place, self.why = text, place, why


@frozen_dataclass
class ConditionOutcome:
    """Whether a condition holds, None if undecided, and every comparison made."""

    holds: bool | None
    tested: tuple[ConditionResult, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RuleCondition:
    """A parsed condition."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def on(self, facts: FactValues) -> ConditionOutcome:
        """Test the condition; facts missing from `facts` are unknown."""
        return _evaluate_condition(self, *map(facts.get, self.names))


@lru_cache(maxsize=512, typed=True)
def _evaluate_condition(condition: RuleCondition, *values: FactValue) -> ConditionOutcome:
    """Test a condition on the values of its names; few of them change between steps of a drag."""
    tested: list[ConditionResult] = []
    holds = _evaluate_truth(condition.tree, dict(zip(condition.names, values, strict=True)), tested)
    return ConditionOutcome(holds, tuple(tested))


@lru_cache(maxsize=1024)
def parse_condition(text: str) -> RuleCondition:
    """Parse a condition; raises `ConditionError` for anything other than comparisons of facts."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        # Python gives no position for an unexpected end.
        place = error.offset - 1 if error.offset else len(text)
        raise ConditionError(text, place, "not a condition") from None
    _check_truth(tree, text)
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return RuleCondition(text, names, tree)


# Parsing

_Comparison = Callable[[Any, Any], bool]
#: Comparison and arithmetic operators, by the node of the tree.
COMPARISON_OPERATORS: Final[Mapping[type[ast.cmpop], _Comparison]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
ARITHMETIC_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _check_truth(node: ast.expr, text: str) -> None:
    """Allow `and`, `or`, `not`, single comparisons, and boolean facts."""
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                _check_truth(part, text)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            _check_truth(part, text)
        case ast.Compare(left=left_operand, ops=[compared], comparators=[right]):
            if type(compared) not in COMPARISON_OPERATORS:
                raise ConditionError(text, node.col_offset, "only ==, !=, <, <=, > and >= compare")
            _check_value(left_operand, text)
            _check_value(right, text)
        case ast.Compare():
            raise ConditionError(text, node.col_offset, "one comparison at a time, joined by 'and'")
        case ast.Name():
            pass
        case _:
            raise ConditionError(text, node.col_offset, "neither a comparison nor a fact")


def _check_value(node: ast.expr, text: str) -> None:
    match node:
        case ast.Name():
            pass
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=part):
            _check_value(part, text)
        case ast.BinOp(left=left_operand, op=operation, right=right) if type(operation) in ARITHMETIC_OPERATORS:
            _check_value(left_operand, text)
            _check_value(right, text)
        case _:
            raise ConditionError(text, node.col_offset, "neither a fact nor a number nor a text")


# Testing


def _evaluate_truth(node: ast.expr, facts: FactValues, tested: list[ConditionResult]) -> bool | None:
    match node:
        case ast.BoolOp(op=joined, values=parts):
            truths = [_evaluate_truth(part, facts, tested) for part in parts]
            return _combine_all(truths) if isinstance(joined, ast.And) else _combine_any(truths)
        case ast.UnaryOp(operand=part):
            inner = _evaluate_truth(part, facts, tested)
            return None if inner is None else not inner
        case ast.Compare(left=left_operand, ops=[compared], comparators=[right]):
            ours, theirs = _evaluate_operand(left_operand, facts), _evaluate_operand(right, facts)
            holds = _compare_values(COMPARISON_OPERATORS[type(compared)], ours, theirs)
            tested.append(ConditionResult(_get_text(node), ours, theirs, holds))
            return holds
    fact = _evaluate_operand(node, facts)
    holds = fact if isinstance(fact, bool) else None
    tested.append(ConditionResult(_get_text(node), fact, None, holds))
    return holds


@lru_cache(maxsize=4096)
def _get_text(node: ast.expr) -> str:
    """Return the source of a node; conditions are parsed once, so nodes are few."""
    return ast.unparse(node)


def _combine_all(truths: list[bool | None]) -> bool | None:
    if False in truths:
        return False
    return None if None in truths else True


def _combine_any(truths: list[bool | None]) -> bool | None:
    if True in truths:
        return True
    return None if None in truths else False


def _evaluate_operand(node: ast.expr, facts: FactValues) -> FactValue:
    match node:
        case ast.Name(id=name):
            return facts.get(name)
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            return value
        case ast.UnaryOp(operand=part):
            return _compute(operator.sub, 0.0, _evaluate_operand(part, facts))
        case ast.BinOp(left=left_operand, op=operation, right=right):
            return _compute(
                ARITHMETIC_OPERATORS[type(operation)],
                _evaluate_operand(left_operand, facts),
                _evaluate_operand(right, facts),
            )
    raise AssertionError(ast.dump(node))


def _compute(work: Callable[[float, float], float], left_value: FactValue, right: FactValue) -> FactValue:
    """Return the result with its interval; None without numbers and for division by 0."""
    ours, theirs = _list_ends(left_value), _list_ends(right)
    if ours is None or theirs is None:
        return None
    if work is operator.truediv and min(theirs) <= 0.0 <= max(theirs):
        return None
    results = [work(each, other) for each in ours for other in theirs]
    middle = work(_get_middle(left_value), _get_middle(right))
    return middle if min(results) == max(results) else IntervalEstimate(middle, min(results), max(results))


def _compare_values(compared: _Comparison, left_value: FactValue, right: FactValue) -> bool | None:
    """Return the comparison of two intervals; None if they overlap, or one is unknown."""
    ours, theirs = _list_ends(left_value), _list_ends(right)
    if ours is not None and theirs is not None:
        return _compare_intervals(compared, ours, theirs)
    if left_value is None or right is None or ours is not None or theirs is not None:
        return None
    if compared not in (operator.eq, operator.ne) or type(left_value) is not type(right):
        return None
    return compared(left_value, right)


_Ends = tuple[float, float]


def _compare_intervals(compared: _Comparison, left_ends: _Ends, right: _Ends) -> bool | None:
    if compared in (operator.eq, operator.ne):
        if left_ends[0] == left_ends[1] == right[0] == right[1]:
            return compared is operator.eq
        apart = left_ends[1] < right[0] or right[1] < left_ends[0]
        return (compared is operator.ne) if apart else None
    outcomes = {compared(each, other) for each in left_ends for other in right}
    return outcomes.pop() if len(outcomes) == 1 else None


def _list_ends(fact: FactValue) -> _Ends | None:
    """Return the ends of a number's interval; None for other values."""
    if isinstance(fact, IntervalEstimate):
        return (fact.low, fact.high)
    if isinstance(fact, bool) or not isinstance(fact, (int, float)):
        return None
    return (float(fact), float(fact))


def _get_middle(fact: FactValue) -> float:
    assert isinstance(fact, (int, float, IntervalEstimate))
    return float(fact.value if isinstance(fact, IntervalEstimate) else fact)


Draws = NDArray[np.float64]
DrawMarks = NDArray[np.bool_]
SimulatedFact = FactValue | Draws | DrawMarks
#: Whether a condition holds: in all draws alike, in each draw, or unknown.
SimulatedTruth = bool | DrawMarks | None


def evaluate_in_draws(condition: RuleCondition, facts: Mapping[str, SimulatedFact]) -> SimulatedTruth:
    """Return whether a condition holds in each draw; an interval fact without draws counts with its value."""
    return _evaluate_truth_in_draws(condition.tree, facts)


def _evaluate_truth_in_draws(node: ast.expr, facts: Mapping[str, SimulatedFact]) -> SimulatedTruth:
    match node:
        case ast.BoolOp(op=joined, values=parts):
            truths = [_evaluate_truth_in_draws(part, facts) for part in parts]
            return _combine_all_in_draws(truths) if isinstance(joined, ast.And) else _combine_any_in_draws(truths)
        case ast.UnaryOp(operand=part):
            return _negate_in_draws(_evaluate_truth_in_draws(part, facts))
        case ast.Compare(left=left_operand, ops=[compared], comparators=[right]):
            return _compare_in_draws(
                COMPARISON_OPERATORS[type(compared)],
                _evaluate_operand_in_draws(left_operand, facts),
                _evaluate_operand_in_draws(right, facts),
            )
    fact = _evaluate_operand_in_draws(node, facts)
    if isinstance(fact, bool):
        return fact
    return fact.astype(np.bool_) if isinstance(fact, np.ndarray) else None


def _negate_in_draws(truth: SimulatedTruth) -> SimulatedTruth:
    if truth is None or isinstance(truth, bool):
        return None if truth is None else not truth
    return np.logical_not(truth)


def _combine_all_in_draws(truths: list[SimulatedTruth]) -> SimulatedTruth:
    """Return whether all hold: an unknown operand makes the result unknown unless another fails."""
    if any(each is False for each in truths):
        return False
    arrays = [each for each in truths if isinstance(each, np.ndarray)]
    together = np.logical_and.reduce(arrays) if arrays else None
    if None not in [each for each in truths if not isinstance(each, np.ndarray)]:
        return True if together is None else together
    # In draws where a known operand fails it fails; elsewhere it is unknown, which counts as not holding.
    return None if together is None or bool(together.all()) else np.zeros_like(together)


def _combine_any_in_draws(truths: list[SimulatedTruth]) -> SimulatedTruth:
    """Return whether any holds: an unknown operand makes the result unknown unless another holds."""
    if any(each is True for each in truths):
        return True
    arrays = [each for each in truths if isinstance(each, np.ndarray)]
    together = np.logical_or.reduce(arrays) if arrays else None
    if None not in [each for each in truths if not isinstance(each, np.ndarray)]:
        return False if together is None else together
    return None if together is None or not bool(together.any()) else together


def _compare_in_draws(
    compare: Callable[[Any, Any], Any], left_fact: SimulatedFact, right: SimulatedFact
) -> SimulatedTruth:
    if left_fact is None or right is None or isinstance(left_fact, str) is not isinstance(right, str):
        return None
    if isinstance(left_fact, str) and compare not in (operator.eq, operator.ne):
        return None
    likely = compare(_get_likely_value(left_fact), _get_likely_value(right))
    return likely if isinstance(likely, np.ndarray) else bool(likely)


def _evaluate_operand_in_draws(node: ast.expr, facts: Mapping[str, SimulatedFact]) -> SimulatedFact:
    match node:
        case ast.Name(id=name):
            return facts.get(name)
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            return value
        case ast.UnaryOp(operand=part):
            inner = _evaluate_operand_in_draws(part, facts)
            return None if inner is None or isinstance(inner, str) else -_get_likely_value(inner)
        case ast.BinOp(left=left_operand, op=operation, right=right):
            return _compute_in_draws(
                ARITHMETIC_OPERATORS[type(operation)],
                _evaluate_operand_in_draws(left_operand, facts),
                _evaluate_operand_in_draws(right, facts),
            )
    raise AssertionError(ast.dump(node))


def _compute_in_draws(work: Callable[[Any, Any], Any], left_fact: SimulatedFact, right: SimulatedFact) -> SimulatedFact:
    if left_fact is None or right is None or isinstance(left_fact, str) or isinstance(right, str):
        return None
    other = _get_likely_value(right)
    if work is operator.truediv and not np.all(other):
        return None
    likely: SimulatedFact = work(_get_likely_value(left_fact), other)
    return likely


def _get_likely_value(fact: SimulatedFact) -> Any:  # noqa: ANN401 - a number or an array, which operators take alike
    return fact.value if isinstance(fact, IntervalEstimate) else fact
