"""Edits of a scenario's answers, weights, alternative answers and plans."""

import pytest

from gpudesk.desktop.session.scenario_edits import (
    mark_step_done,
    replace_answer,
    replace_answers,
    replace_kept_answers,
    replace_plan_input,
    replace_weight,
    reset_weights,
    swap_answers,
)
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, format_scenario, parse_scenario, read_template
from gpudesk.domain.answer import Scenario


@pytest.fixture
def scenario() -> Scenario:
    return read_template(SAMPLE_TEMPLATE)


def test_answer_is_set_changed_and_cleared(scenario: Scenario) -> None:
    answered = replace_answer(scenario, "priority", "cost")
    assert answered.decision.answers == {"priority": "cost"}
    assert replace_answer(answered, "priority", "speed").decision.answers == {"priority": "speed"}
    both = replace_answer(answered, "ttft_limit_ms", 1500.0)
    assert both.decision.answers == {"priority": "cost", "ttft_limit_ms": 1500.0}
    assert replace_answer(replace_answer(both, "priority", None), "ttft_limit_ms", None) == scenario
    assert replace_answer(scenario, "priority", None) == scenario


@pytest.mark.parametrize(("question", "value"), [("priority", "luck"), ("ttft_limit_ms", -1.0)])
def test_invalid_answer_is_refused(scenario: Scenario, question: str, value: str | float) -> None:
    with pytest.raises(ValueError, match=question):
        replace_answer(scenario, question, value)


def test_weights_are_set_and_reset(scenario: Scenario) -> None:
    edited = replace_weight(replace_weight(scenario, "D000-03", 0.0), "D000-02", 5.0)
    assert edited.decision.weights == {"D000-03": 0.0, "D000-02": 5.0}
    assert replace_weight(edited, "D000-03", None).decision.weights == {"D000-02": 5.0}
    assert reset_weights(edited) == scenario
    with pytest.raises(ValueError, match="weight"):
        replace_weight(scenario, "D000-03", 101.0)


def test_alternative_answers_are_swapped(scenario: Scenario) -> None:
    answered = replace_answer(scenario, "priority", "cost")
    with_alternative = replace_kept_answers(answered, answered.decision.answers)
    other = replace_answers(with_alternative, {"priority": "speed", "team": "rocm"})
    swapped = swap_answers(other)
    assert swapped.decision.answers == {"priority": "cost"}
    assert swapped.decision.kept == {"priority": "speed", "team": "rocm"}
    assert swap_answers(swapped) == other
    assert swap_answers(answered) == answered
    assert replace_kept_answers(swapped, None).decision.kept is None


def test_plan_inputs_and_finished_steps_are_recorded(scenario: Scenario) -> None:
    edited = mark_step_done(replace_plan_input(scenario, "slip", 2.0), "P002-01", "asked on Monday")
    assert edited.decision.plans == {"slip": 2.0}
    assert edited.decision.done == {"P002-01": "asked on Monday"}
    assert replace_plan_input(mark_step_done(edited, "P002-01", None), "slip", None) == scenario


def test_answers_weights_and_alternative_survive_saving(scenario: Scenario) -> None:
    edited = replace_kept_answers(
        replace_weight(replace_answer(scenario, "priority", "cost"), "D000-02", 5.0), {"team": "rocm"}
    )
    assert parse_scenario(format_scenario(edited).encode(), "a file").decision == edited.decision
