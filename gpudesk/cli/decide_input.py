"""What is said of a decision on the command line: answers of a file and of options, weights of rules."""

from __future__ import annotations

import difflib
import json
import math
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.questions import QUESTIONS, WEIGHT_BOUNDS, AnswerValue
from gpudesk.workbench.decision_fields import answer_of, parse_answers
from gpudesk.workbench.fields import number, unknown_field
from gpudesk.workbench.strict_json import DuplicateKeyError, no_constant, unique

ANSWERS: Final = "--answers"
SET: Final = "--set"
WEIGHT: Final = "--weight"
#: Stands for standard input where a file is named.
_STANDARD_INPUT: Final = "-"
_MOST_BYTES: Final = 1 << 20
#: Rules that are named where one is not there.
_NEAR: Final = 3


def read_answers(name: str) -> dict[str, AnswerValue]:
    """Return the answers of a JSON file, `-` for standard input; raises `InputError` with the place."""
    where = ANSWERS if name == _STANDARD_INPUT else name
    raw = _read(name, where)
    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=unique, parse_constant=no_constant)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(message("scenario.not_utf8", line=line), where) from error
    except json.JSONDecodeError as error:
        problem = message("scenario.not_json", line=error.lineno, column=error.colno)
        raise InputError(problem, where) from error
    except DuplicateKeyError as error:
        raise InputError(message("scenario.twice", field=error.key), where) from error
    except (RecursionError, ValueError) as error:
        raise InputError(message("decide.no_answers"), where) from error
    if type(document) is not dict:
        raise InputError(message("decide.no_answers"), where)
    try:
        return parse_answers(document, "")
    except InputError as error:
        place = (error.where or "").lstrip(".")
        raise InputError(error.problem, f"{where}: {place}" if place else where) from error


def _read(name: str, where: str) -> bytes:
    try:
        if name == _STANDARD_INPUT:
            raw = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as source:
                raw = source.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(message("file.unreadable", reason=reason), where) from error
    if len(raw) > _MOST_BYTES:
        raise InputError(message("decide.too_large", most=(float(_MOST_BYTES), "B")), where)
    return raw


def stated_answers(given: Sequence[str]) -> dict[str, AnswerValue]:
    """Return the answers of options, `priority=cost`; raises `InputError` naming the option."""
    found: dict[str, AnswerValue] = {}
    for each in given:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not name or not value:
            raise InputError(message("decide.answer", given=each), SET)
        found |= _answer(name, value)
    return found


def _answer(name: str, value: str) -> dict[str, AnswerValue]:
    if name not in QUESTIONS:
        raise unknown_field(SET, name, QUESTIONS)
    stated: str | float | None = value
    if QUESTIONS[name].takes_number and value not in QUESTIONS[name].options:
        stated = _finite(value)
        if stated is None:
            raise InputError(message("decide.answer", given=f"{name}={value}"), SET)
    return {name: answer_of(name, stated, f"{SET} {name}")}


def stated_weights(given: Sequence[str], rules: Collection[str]) -> dict[str, float]:
    """Return the weights of options, `D000-03=2`; raises `InputError` naming the option."""
    found: dict[str, float] = {}
    check = number(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high)
    for each in given:
        rule, _, value = (part.strip() for part in each.partition("="))
        weight = _finite(value)
        if weight is None:
            raise InputError(message("decide.weight", given=each), WEIGHT)
        if rule not in rules:
            near = tuple(difflib.get_close_matches(rule.upper(), rules, n=_NEAR, cutoff=0.0))
            raise InputError(message("decide.unknown_rule", given=rule, near=near), WEIGHT)
        found[rule] = check(f"{WEIGHT} {rule}", weight)
    return found


def _finite(text: str) -> float | None:
    """Return the number that a text is; None for what is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
