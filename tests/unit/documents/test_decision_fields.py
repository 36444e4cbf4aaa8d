"""What is said in the dialogue is kept in the scenario's file, and checked when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.scenario_file import (
    SAMPLE_TEMPLATE,
    format_scenario,
    parse_answers,
    parse_decision,
    read_scenario,
    read_template,
    write_decision_section,
)
from gpudesk.domain.decision import QUESTIONS, AnswerValue, DecisionSettings
from gpudesk.text.messages import InputError


def answers() -> st.SearchStrategy[dict[str, AnswerValue]]:
    of = {
        name: st.sampled_from(question.options)
        if question.bounds is None
        else st.sampled_from(question.options) | st.floats(1.0, 100.0)
        for name, question in QUESTIONS.items()
    }
    return st.fixed_dictionaries({}, optional=of)


@given(answers(), st.none() | answers(), st.dictionaries(st.sampled_from(["D000-01", "D003-02"]), st.floats(0, 100)))
def test_written_settings_are_read_back(
    yours: dict[str, AnswerValue], expected: dict[str, AnswerValue] | None, weights: dict[str, float]
) -> None:
    settings = DecisionSettings(answers=yours, kept=expected, weights=weights, done={"P002-01": "asked"})
    fields = json.loads(json.dumps(write_decision_section(settings)))
    assert parse_decision(fields) == settings


def test_defaults_are_not_written(tmp_path: Path) -> None:
    scenario = read_template(SAMPLE_TEMPLATE)
    assert "decision" not in json.loads(format_scenario(scenario))
    path = tmp_path / "a.gpudesk"
    path.write_text(format_scenario(scenario), encoding="utf-8")
    assert read_scenario(path).decision == DecisionSettings()


@pytest.mark.parametrize(
    ("fields", "where", "problem"),
    [
        ({"answer": {}}, "decision.answer", "field.unknown_near"),
        ({"answers": []}, "decision.answers", "field.type"),
        ({"answers": {"priorty": "cost"}}, "decision.answers.priorty", "field.unknown_near"),
        ({"answers": {"priority": "quality"}}, "decision.answers.priority", "field.word"),
        ({"answers": {"priority": 3}}, "decision.answers.priority", "field.word"),
        ({"answers": {"ttft_limit_ms": 0}}, "decision.answers.ttft_limit_ms", "field.range_above"),
        ({"answers": {"ttft_limit_ms": True}}, "decision.answers.ttft_limit_ms", "field.type"),
        ({"answers": {"ttft_limit_ms": "soon"}}, "decision.answers.ttft_limit_ms", "decide.number"),
        ({"weights": {"D000-01": -1}}, "decision.weights.D000-01", "field.range"),
        ({"weights": {"D000-01": "much"}}, "decision.weights.D000-01", "field.type"),
        ({"plans": {"next_part": []}}, "decision.plans.next_part", "field.type"),
        ({"done": {"P002-01": 1}}, "decision.done.P002-01", "field.type"),
        ({"weights": {str(n): 1 for n in range(501)}}, "decision.weights", "decide.too_many"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], where: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_decision(fields)
    assert raised.value.where is not None
    assert where.startswith(raised.value.where)
    assert raised.value.problem.id == problem


def test_null_means_default() -> None:
    assert parse_answers("answers", {"priority": None}) == {}
    assert parse_decision({"answers": None}) == DecisionSettings()
