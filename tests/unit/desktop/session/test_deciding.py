"""Edits of what was said in the dialogue."""

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


def test_an_answer_is_given_changed_and_taken_back(scenario: Scenario) -> None:
    said = replace_answer(scenario, "priority", "cost")
    assert said.decision.answers == {"priority": "cost"}
    assert replace_answer(said, "priority", "speed").decision.answers == {"priority": "speed"}
    more = replace_answer(said, "ttft_limit_ms", 1500.0)
    assert more.decision.answers == {"priority": "cost", "ttft_limit_ms": 1500.0}
    assert replace_answer(replace_answer(more, "priority", None), "ttft_limit_ms", None) == scenario
    assert replace_answer(scenario, "priority", None) == scenario


@pytest.mark.parametrize(("question", "value"), [("priority", "luck"), ("ttft_limit_ms", -1.0)])
def test_what_is_no_answer_is_refused(scenario: Scenario, question: str, value: str | float) -> None:
    with pytest.raises(ValueError, match=question):
        replace_answer(scenario, question, value)


def test_weights_are_set_and_go_back_to_what_is_usual(scenario: Scenario) -> None:
    weighed = replace_weight(replace_weight(scenario, "D000-03", 0.0), "D000-02", 5.0)
    assert weighed.decision.weights == {"D000-03": 0.0, "D000-02": 5.0}
    assert replace_weight(weighed, "D000-03", None).decision.weights == {"D000-02": 5.0}
    assert reset_weights(weighed) == scenario
    with pytest.raises(ValueError, match="weight"):
        replace_weight(scenario, "D000-03", 101.0)


def test_a_second_set_is_kept_and_swapped(scenario: Scenario) -> None:
    said = replace_answer(scenario, "priority", "cost")
    kept = replace_kept_answers(said, said.decision.answers)
    other = replace_answers(kept, {"priority": "speed", "team": "rocm"})
    swapped = swap_answers(other)
    assert swapped.decision.answers == {"priority": "cost"}
    assert swapped.decision.kept == {"priority": "speed", "team": "rocm"}
    assert swap_answers(swapped) == other
    assert swap_answers(said) == said
    assert replace_kept_answers(swapped, None).decision.kept is None


def test_plans_and_steps_are_noted(scenario: Scenario) -> None:
    noted = mark_step_done(replace_plan_input(scenario, "slip", 2.0), "P002-01", "asked on Monday")
    assert noted.decision.plans == {"slip": 2.0}
    assert noted.decision.done == {"P002-01": "asked on Monday"}
    assert replace_plan_input(mark_step_done(noted, "P002-01", None), "slip", None) == scenario


def test_all_of_it_is_saved(scenario: Scenario) -> None:
    said = replace_kept_answers(
        replace_weight(replace_answer(scenario, "priority", "cost"), "D000-02", 5.0), {"team": "rocm"}
    )
    assert parse_scenario(format_scenario(said).encode(), "a file").decision == said.decision
