"""What a scenario answers by itself, what the user says over it, and what is left to defaults."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpudesk.domain.cost_inputs import USUAL_PLATFORM
from gpudesk.domain.decisions import Answered, Origin
from gpudesk.domain.demand import Demand, DemandKind
from gpudesk.domain.precision import Precision
from gpudesk.domain.questions import QUESTIONS, AnswerValue, DecisionSettings, Screen
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.workbench.deciding.answers import answers_of, facts_of

PLAIN = Scenario(
    "", "llama-3.1-70b", Precision.FP8, Workload(1000, 1000, Load(LoadKind.CONCURRENCY, concurrency=8)), ()
)


def test_there_are_at_most_nine_screens_and_25_questions_and_each_can_be_skipped() -> None:
    assert len(Screen) == 9
    assert len(QUESTIONS) == 25
    assert {question.screen for question in QUESTIONS.values()} == set(Screen)
    for question in QUESTIONS.values():
        assert question.takes(question.default), question.id
        assert all(question.takes(value) for value in question.offered), question.id
        assert 2 <= len(question.offered) <= 9, question.id


def test_nothing_said_leaves_every_question_to_its_default() -> None:
    assert answers_of(PLAIN) == {
        name: Answered(question.default, Origin.DEFAULT) for name, question in QUESTIONS.items()
    }
    assert QUESTIONS["current_platform"].default == USUAL_PLATFORM


@pytest.mark.parametrize(
    ("scenario", "question", "value"),
    [
        (replace(PLAIN, serving_engine="vllm"), "serving_engine", "vllm"),
        (replace(PLAIN, weights=Precision.MXFP4), "precision", "fp4"),
        (replace(PLAIN, costs=replace(PLAIN.costs, runs_on="ROCm")), "current_platform", "ROCm"),
        (replace(PLAIN, costs=replace(PLAIN.costs, runs_on="JAX/XLA")), "current_platform", "other"),
        (
            replace(PLAIN, workload=replace(PLAIN.workload, input_tokens=100_000)),
            "long_context",
            "yes",
        ),
        (
            replace(PLAIN, workload=replace(PLAIN.workload, load=Load(LoadKind.BATCH, batch=8))),
            "service",
            "offline",
        ),
        (
            replace(
                PLAIN,
                workload=replace(PLAIN.workload, load=Load(LoadKind.LIMITS, ttft_ms=900.0, tpot_ms=40.0)),
            ),
            "ttft_limit_ms",
            900.0,
        ),
        (replace(PLAIN, demand=Demand(DemandKind.USERS, 100.0, tpot_ms=50.0)), "tpot_limit_ms", 50.0),
    ],
)
def test_a_scenario_answers_what_it_says(scenario: Scenario, question: str, value: AnswerValue) -> None:
    assert answers_of(scenario)[question] == Answered(value, Origin.SCENARIO)
    said = replace(scenario, decision=DecisionSettings(answers={question: QUESTIONS[question].default}))
    assert answers_of(said)[question] == Answered(QUESTIONS[question].default, Origin.YOURS)


def test_what_no_option_names_or_a_model_is_published_in_answers_nothing() -> None:
    assert answers_of(replace(PLAIN, serving_engine="llama.cpp"))["serving_engine"].origin is Origin.DEFAULT
    four = replace(PLAIN, weights=Precision.MXFP4)
    assert answers_of(four, native=Precision.MXFP4)["precision"].origin is Origin.DEFAULT
    assert answers_of(four, native=Precision.BF16)["precision"].value == "fp4"


def test_no_limit_is_beyond_all_numbers_and_what_is_not_known_is_no_fact() -> None:
    facts = facts_of(answers_of(PLAIN))
    assert facts["ttft_limit_ms"] == facts["budget_usd"] == math.inf
    assert facts["monthly_hours"] is None
    assert facts["team"] is None
    assert facts["priority"] == "balanced"
    # Of a question of words "none" is an answer like others.
    assert facts["standing"] == "none"
