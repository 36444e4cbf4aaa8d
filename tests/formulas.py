"""Derivations in tests: their terms, and what their formulas give."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from gpudesk.domain.deployment_analysis import DerivationTerm, to_placeholder


def walk(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for each in term.inputs:
        yield from walk(each)


def evaluate_formula(term: DerivationTerm) -> float:
    """Return what a formula gives with the values of its inputs, times in seconds."""
    text = re.sub(r"\{(\w+)\}", lambda match: f"({_inside(term, match.group(1))!r})", term.formula or "")
    text = text.replace("1,000,000", "1e6")
    for sign, python in _OPERATORS.items():
        text = text.replace(sign, python)
    return float(eval(text, {"e": math.e, "ln": math.log, "floor": math.floor, "ceil": _ceil}))


#: What formulas are written with -> what Python computes with.
_OPERATORS = {"×": "*", "÷": "/", "−": "-", "²": "**2", "^½": "**0.5", "^": "**"}


def _inside(term: DerivationTerm, name: str) -> float:
    """Return the value of an input in the unit used inside."""
    each = next(each for each in term.inputs if to_placeholder(each.name) == name)
    assert isinstance(each.value, int | float)
    return each.value / 1e3 if each.unit == "ms" else each.value


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-9)
