"""Edits of what was said in the dialogue."""

import pytest

from gpudesk.desktop.session.deciding import (
    with_answer,
    with_answers,
    with_kept,
    with_plan,
    with_sets_swapped,
    with_step_done,
    with_usual_weights,
    with_weight,
)
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.scenario_file import parse_scenario, scenario_text
from gpudesk.workbench.templates import SAMPLE, read_template


@pytest.fixture
def scenario() -> Scenario:
    return read_template(SAMPLE)


def test_an_answer_is_given_changed_and_taken_back(scenario: Scenario) -> None:
    said = with_answer(scenario, "priority", "cost")
    assert said.decision.answers == {"priority": "cost"}
    assert with_answer(said, "priority", "speed").decision.answers == {"priority": "speed"}
    more = with_answer(said, "ttft_limit_ms", 1500.0)
    assert more.decision.answers == {"priority": "cost", "ttft_limit_ms": 1500.0}
    assert with_answer(with_answer(more, "priority", None), "ttft_limit_ms", None) == scenario
    assert with_answer(scenario, "priority", None) == scenario


@pytest.mark.parametrize(("question", "value"), [("priority", "luck"), ("ttft_limit_ms", -1.0)])
def test_what_is_no_answer_is_refused(scenario: Scenario, question: str, value: str | float) -> None:
    with pytest.raises(ValueError, match=question):
        with_answer(scenario, question, value)


def test_weights_are_set_and_go_back_to_what_is_usual(scenario: Scenario) -> None:
    weighed = with_weight(with_weight(scenario, "D000-03", 0.0), "D000-02", 5.0)
    assert weighed.decision.weights == {"D000-03": 0.0, "D000-02": 5.0}
    assert with_weight(weighed, "D000-03", None).decision.weights == {"D000-02": 5.0}
    assert with_usual_weights(weighed) == scenario
    with pytest.raises(ValueError, match="weight"):
        with_weight(scenario, "D000-03", 101.0)


def test_a_second_set_is_kept_and_swapped(scenario: Scenario) -> None:
    said = with_answer(scenario, "priority", "cost")
    kept = with_kept(said, said.decision.answers)
    other = with_answers(kept, {"priority": "speed", "team": "rocm"})
    swapped = with_sets_swapped(other)
    assert swapped.decision.answers == {"priority": "cost"}
    assert swapped.decision.kept == {"priority": "speed", "team": "rocm"}
    assert with_sets_swapped(swapped) == other
    assert with_sets_swapped(said) == said
    assert with_kept(swapped, None).decision.kept is None


def test_plans_and_steps_are_noted(scenario: Scenario) -> None:
    noted = with_step_done(with_plan(scenario, "slip", 2.0), "P002-01", "asked on Monday")
    assert noted.decision.plans == {"slip": 2.0}
    assert noted.decision.done == {"P002-01": "asked on Monday"}
    assert with_plan(with_step_done(noted, "P002-01", None), "slip", None) == scenario


def test_all_of_it_is_saved(scenario: Scenario) -> None:
    said = with_kept(with_weight(with_answer(scenario, "priority", "cost"), "D000-02", 5.0), {"team": "rocm"})
    assert parse_scenario(scenario_text(said).encode(), "a file").decision == said.decision
