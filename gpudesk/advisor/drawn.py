"""Conditions over many draws at once: facts are numbers, or arrays of one number for each draw.

The three outcomes are those of `gpudesk.advisor.conditions`, but nothing is left open by a band here: what an
estimate's band leaves open is drawn, so that each draw holds or does not.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpudesk.advisor.conditions import COMPARED, WORKED, Condition
from gpudesk.domain.decisions import Fact
from gpudesk.domain.estimates import Banded

Draws = NDArray[np.float64]
Marks = NDArray[np.bool_]
DrawnFact = Fact | Draws | Marks
#: Whether something holds: in all draws alike, in each draw, or not known at all.
DrawnTruth = bool | Marks | None


def in_draws(condition: Condition, facts: Mapping[str, DrawnFact]) -> DrawnTruth:
    """Return whether a condition holds in each draw; a banded fact that is not drawn counts as its value."""
    return _truth(condition.tree, facts)


def _truth(node: ast.expr, facts: Mapping[str, DrawnFact]) -> DrawnTruth:
    match node:
        case ast.BoolOp(op=joined, values=parts):
            found = [_truth(part, facts) for part in parts]
            return _all(found) if isinstance(joined, ast.And) else _any(found)
        case ast.UnaryOp(operand=part):
            return _not(_truth(part, facts))
        case ast.Compare(left=left, ops=[compared], comparators=[right]):
            return _compared(COMPARED[type(compared)], _value(left, facts), _value(right, facts))
    fact = _value(node, facts)
    if isinstance(fact, bool):
        return fact
    return fact.astype(np.bool_) if isinstance(fact, np.ndarray) else None


def _not(truth: DrawnTruth) -> DrawnTruth:
    if truth is None or isinstance(truth, bool):
        return None if truth is None else not truth
    return np.logical_not(truth)


def _all(found: list[DrawnTruth]) -> DrawnTruth:
    """Return whether all hold: an unknown part makes it unknown wherever no other fails."""
    if any(each is False for each in found):
        return False
    arrays = [each for each in found if isinstance(each, np.ndarray)]
    together = np.logical_and.reduce(arrays) if arrays else None
    if None not in [each for each in found if not isinstance(each, np.ndarray)]:
        return True if together is None else together
    # In draws where a known part fails it fails; elsewhere it is not known, which holds nothing either.
    return None if together is None or bool(together.all()) else np.zeros_like(together)


def _any(found: list[DrawnTruth]) -> DrawnTruth:
    """Return whether one holds: an unknown part makes it unknown where no other does."""
    if any(each is True for each in found):
        return True
    arrays = [each for each in found if isinstance(each, np.ndarray)]
    together = np.logical_or.reduce(arrays) if arrays else None
    if None not in [each for each in found if not isinstance(each, np.ndarray)]:
        return False if together is None else together
    return None if together is None or not bool(together.any()) else together


def _compared(compare: Callable[[Any, Any], Any], left: DrawnFact, right: DrawnFact) -> DrawnTruth:
    if left is None or right is None or isinstance(left, str) is not isinstance(right, str):
        return None
    if isinstance(left, str) and compare not in (operator.eq, operator.ne):
        return None
    found = compare(_likely(left), _likely(right))
    return found if isinstance(found, np.ndarray) else bool(found)


def _value(node: ast.expr, facts: Mapping[str, DrawnFact]) -> DrawnFact:
    match node:
        case ast.Name(id=name):
            return facts.get(name)
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            return value
        case ast.UnaryOp(operand=part):
            inner = _value(part, facts)
            return None if inner is None or isinstance(inner, str) else -_likely(inner)
        case ast.BinOp(left=left, op=worked, right=right):
            return _worked(WORKED[type(worked)], _value(left, facts), _value(right, facts))
    raise AssertionError(ast.dump(node))


def _worked(work: Callable[[Any, Any], Any], left: DrawnFact, right: DrawnFact) -> DrawnFact:
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return None
    other = _likely(right)
    if work is operator.truediv and not np.all(other):
        return None
    worked: DrawnFact = work(_likely(left), other)
    return worked


def _likely(fact: DrawnFact) -> Any:  # noqa: ANN401 - a number or an array, which operators take alike
    return fact.value if isinstance(fact, Banded) else fact
