"""The fields of the decision section of a scenario file: from JSON values to `DecisionSettings` and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.questions import QUESTIONS, WEIGHT_BOUNDS, AnswerValue, DecisionSettings
from gpudesk.workbench.deciding.plan_inputs import parse_plans
from gpudesk.workbench.fields import number, text, unknown_field, wrong_type

_SECTION: Final = "decision"
_FIELDS: Final = ("answers", "weights", "kept", "plans", "done")
_LONGEST_NOTE: Final = 2_000
_MOST_ENTRIES: Final = 500


def parse_decision(fields: Mapping[str, Any]) -> DecisionSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _FIELDS:
            raise unknown_field(_SECTION, name, _FIELDS)
        if value is None:
            continue
        where = f"{_SECTION}.{name}"
        if name in ("answers", "kept"):
            values[name] = parse_answers(value, where)
        elif name == "weights":
            values[name] = _weights(value, where)
        elif name == "plans":
            values[name] = _plans(value, where)
        else:
            values[name] = _notes(value, where)
    return DecisionSettings(**values)


def decision_fields(settings: DecisionSettings) -> dict[str, Any]:
    """Return the fields of the section; what is not said is left out, all of it where nothing is."""
    fields: dict[str, Any] = {
        name: dict(getattr(settings, name))
        for name in ("answers", "weights", "plans", "done")
        if getattr(settings, name)
    }
    if settings.kept is not None:
        fields["kept"] = dict(settings.kept)
    return fields


def parse_answers(value: object, where: str) -> dict[str, AnswerValue]:
    """Return answers by question; raises `InputError` for one that there is not, or that is none of it."""
    found: dict[str, AnswerValue] = {}
    for name, stated in _object(value, where).items():
        if name not in QUESTIONS:
            raise unknown_field(where, name, QUESTIONS)
        if stated is not None:
            found[name] = answer_of(name, stated, f"{where}.{name}")
    return found


def answer_of(name: str, value: object, where: str) -> AnswerValue:
    """Return a value as the answer to a question; raises `InputError` that says what belongs there."""
    question = QUESTIONS[name]
    if isinstance(value, str) or question.bounds is None:
        if question.takes(value):
            return str(value)
        said = "field.word" if question.bounds is None else "decide.number"
        raise InputError(message(said, given=str(value), allowed=question.options), where)
    bounds = question.bounds
    stated: float = number(bounds.low, bounds.high, above=bounds.above)(where, value)
    return stated


def _weights(value: object, where: str) -> dict[str, float]:
    check = number(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high)
    return {rule: check(f"{where}.{rule}", weight) for rule, weight in _object(value, where).items()}


def _plans(value: object, where: str) -> dict[str, AnswerValue]:
    """Return inputs of plans, checked by what each may be."""
    return parse_plans(_object(value, where))


def _notes(value: object, where: str) -> dict[str, str]:
    check = text(_LONGEST_NOTE, empty=True)
    return {step: check(f"{where}.{step}", note) for step, note in _object(value, where).items()}


def _object(value: object, where: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise wrong_type(where, value, "object")
    if len(value) > _MOST_ENTRIES:
        raise InputError(message("decide.too_many", most=_MOST_ENTRIES), where)
    return value
