"""What a scenario answers by itself, what the user says over it, and what is left to defaults."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpudesk.decision.facts.answers import convert_answers, resolve_answers
from gpudesk.domain.answer import Scenario
from gpudesk.domain.decision import (
    QUESTIONS,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    DecisionSettings,
    DialogueScreen,
    QuestionAnswer,
)
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind

PLAIN = Scenario(
    "", "llama-3.1-70b", Precision.FP8, Workload(1000, 1000, Load(LoadKind.CONCURRENCY, concurrency=8)), ()
)


def test_there_are_at_most_nine_screens_and_25_questions_and_each_can_be_skipped() -> None:
    assert len(DialogueScreen) == 9
    assert len(QUESTIONS) == 25
    assert {question.screen for question in QUESTIONS.values()} == set(DialogueScreen)
    for question in QUESTIONS.values():
        assert question.takes(question.default), question.id
        assert all(question.takes(value) for value in question.offered), question.id
        assert 2 <= len(question.offered) <= 9, question.id


def test_unanswered_questions_have_their_defaults() -> None:
    assert resolve_answers(PLAIN) == {
        name: QuestionAnswer(question.default, AnswerOrigin.DEFAULT) for name, question in QUESTIONS.items()
    }
    assert QUESTIONS["current_platform"].default == UNKNOWN_ANSWER


@pytest.mark.parametrize(
    ("scenario", "question", "value"),
    [
        (replace(PLAIN, serving_engine="vllm"), "serving_engine", "vllm"),
        (replace(PLAIN, weights=Precision.MXFP4), "precision", "fp4"),
        (replace(PLAIN, costs=replace(PLAIN.costs, runs_on="ROCm")), "current_platform", "ROCm"),
        (replace(PLAIN, costs=replace(PLAIN.costs, runs_on="JAX/XLA")), "current_platform", "other"),
        (replace(PLAIN, workload=replace(PLAIN.workload, input_tokens=100_000)), "long_context", "yes"),
        (replace(PLAIN, workload=replace(PLAIN.workload, load=Load(LoadKind.BATCH, batch=8))), "service", "offline"),
        (
            replace(PLAIN, workload=replace(PLAIN.workload, load=Load(LoadKind.LIMITS, ttft_ms=900.0, tpot_ms=40.0))),
            "ttft_limit_ms",
            900.0,
        ),
        (replace(PLAIN, demand=Demand(DemandKind.USERS, 100.0, tpot_ms=50.0)), "tpot_limit_ms", 50.0),
    ],
)
def test_scenario_facts_answer_their_questions(scenario: Scenario, question: str, value: AnswerValue) -> None:
    assert resolve_answers(scenario)[question] == QuestionAnswer(value, AnswerOrigin.SCENARIO)
    with_defaults = replace(scenario, decision=DecisionSettings(answers={question: QUESTIONS[question].default}))
    assert resolve_answers(with_defaults)[question] == QuestionAnswer(QUESTIONS[question].default, AnswerOrigin.YOURS)


def test_what_runs_in_an_office_is_bought_unless_the_user_rents() -> None:
    at_office = resolve_answers(PLAIN, {"site": "office"})
    assert at_office["acquisition"] == QuestionAnswer("own", AnswerOrigin.SCENARIO)
    rented = resolve_answers(PLAIN, {"site": "office", "acquisition": "rent"})
    assert rented["acquisition"] == QuestionAnswer("rent", AnswerOrigin.YOURS)
    assert resolve_answers(PLAIN, {"site": "open"})["acquisition"].origin is AnswerOrigin.DEFAULT


def test_what_no_option_names_or_a_model_is_published_in_answers_nothing() -> None:
    assert resolve_answers(replace(PLAIN, serving_engine="llama.cpp"))["serving_engine"].origin is AnswerOrigin.DEFAULT
    four = replace(PLAIN, weights=Precision.MXFP4)
    assert resolve_answers(four, native=Precision.MXFP4)["precision"].origin is AnswerOrigin.DEFAULT
    assert resolve_answers(four, native=Precision.BF16)["precision"].value == "fp4"


def test_no_limit_is_infinite_and_unknown_is_not_a_fact() -> None:
    facts = convert_answers(resolve_answers(PLAIN))
    assert facts["ttft_limit_ms"] == facts["budget_usd"] == math.inf
    assert facts["monthly_hours"] is None
    assert facts["team"] is None
    assert facts["priority"] == "balanced"
    # Of a question of words "none" is an answer like others.
    assert facts["standing"] == "none"
