"""Edits of what was said in the dialogue: pure functions that return the edited scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from gpudesk.domain.questions import QUESTIONS, WEIGHT_BOUNDS, AnswerValue
from gpudesk.domain.scenarios import Scenario

_V = TypeVar("_V")


def with_answer(scenario: Scenario, question: str, value: AnswerValue | None) -> Scenario:
    """Return the scenario with an answer, or with None without one; raises ValueError for what is none."""
    if value is not None and not QUESTIONS[question].takes(value):
        raise ValueError(f"{value!r} does not answer {question}")
    return _with(scenario, answers=_put(scenario.decision.answers, question, value))


def with_answers(scenario: Scenario, answers: Mapping[str, AnswerValue]) -> Scenario:
    """Return the scenario with other answers in the place of all that were said."""
    return _with(scenario, answers=dict(answers))


def with_weight(scenario: Scenario, rule: str, weight: float | None) -> Scenario:
    """Return the scenario with another weight of a rule, or with None with its usual one.

    Raises ValueError for a weight outside `WEIGHT_BOUNDS`.
    """
    if weight is not None and not WEIGHT_BOUNDS.hold(weight):
        raise ValueError(f"no weight of a rule: {weight}")
    return _with(scenario, weights=_put(scenario.decision.weights, rule, weight))


def with_usual_weights(scenario: Scenario) -> Scenario:
    """Return the scenario without any weight of the user's."""
    return _with(scenario, weights={})


def with_kept(scenario: Scenario, kept: Mapping[str, AnswerValue] | None) -> Scenario:
    """Return the scenario with a second set of answers to compare with, or with None without one."""
    return _with(scenario, kept=None if kept is None else dict(kept))


def with_sets_swapped(scenario: Scenario) -> Scenario:
    """Return the scenario with the kept answers in force, and those in force kept; the same without any."""
    said = scenario.decision
    if said.kept is None:
        return scenario
    return _with(scenario, answers=said.kept, kept=said.answers)


def with_plan(scenario: Scenario, name: str, value: AnswerValue | None) -> Scenario:
    """Return the scenario with an input of a plan, or with None without it."""
    return _with(scenario, plans=_put(scenario.decision.plans, name, value))


def with_step_done(scenario: Scenario, step: str, note: str | None) -> Scenario:
    """Return the scenario with a step of the purchase done and a note on it, or with None not done."""
    return _with(scenario, done=_put(scenario.decision.done, step, note))


def _put(held: Mapping[str, _V], name: str, value: _V | None) -> dict[str, _V]:
    """Return a copy with one entry set, or with None left out."""
    kept = {key: each for key, each in held.items() if key != name}
    return kept if value is None else {**kept, name: value}


def _with(scenario: Scenario, **fields: Any) -> Scenario:  # noqa: ANN401 - any field of the settings
    return replace(scenario, decision=replace(scenario.decision, **fields))
