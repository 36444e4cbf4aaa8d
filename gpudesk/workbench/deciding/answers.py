"""The answers in force: what the user said, what the scenario says of it, or the question's default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.cost_inputs import USUAL_PLATFORM
from gpudesk.domain.decisions import Answered, Fact, Origin
from gpudesk.domain.precision import Precision
from gpudesk.domain.questions import NO_LIMIT, NONE, QUESTIONS, UNKNOWN, AnswerValue
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.workloads import LoadKind

#: Requests of so many tokens are long: what a document takes for the core need of long context.
LONG_CONTEXT_TOKENS: Final = 100_000
_FOUR_BITS: Final = (Precision.FP4, Precision.NVFP4, Precision.MXFP4)
_OTHER: Final = "other"


def answers_of(
    scenario: Scenario, said: Mapping[str, AnswerValue] | None = None, native: Precision | None = None
) -> dict[str, Answered]:
    """Return the answer to every question; `said` stands for what the scenario's own user said.

    `native` is the format that the model is published in.
    """
    stated = scenario.decision.answers if said is None else said
    prefilled = _prefilled(scenario, native)
    found: dict[str, Answered] = {}
    for name, question in QUESTIONS.items():
        if name in stated:
            found[name] = Answered(stated[name], Origin.YOURS)
        elif name in prefilled:
            found[name] = Answered(prefilled[name], Origin.SCENARIO)
        else:
            found[name] = Answered(question.default, Origin.DEFAULT)
    return found


def _prefilled(scenario: Scenario, native: Precision | None) -> dict[str, AnswerValue]:
    """Return what a scenario answers by itself."""
    found: dict[str, AnswerValue] = {}
    work = scenario.workload
    if scenario.serving_engine in QUESTIONS["serving_engine"].options:
        found["serving_engine"] = str(scenario.serving_engine)
    if work.input_tokens + work.output_tokens >= LONG_CONTEXT_TOKENS:
        found["long_context"] = "yes"
    # Models that are published with four bits run so anywhere; others are brought to them for the arithmetic.
    if scenario.weights in _FOUR_BITS and native not in _FOUR_BITS:
        found["precision"] = "fp4"
    if work.load.kind in (LoadKind.BATCH, LoadKind.SATURATE):
        found["service"] = "offline"
    elif work.load.kind is LoadKind.LIMITS:
        found["service"] = "interactive"
    found |= _limits(scenario)
    if (platform := scenario.costs.runs_on) != USUAL_PLATFORM:
        known = QUESTIONS["current_platform"].options
        found["current_platform"] = platform if platform in known else _OTHER
    return found


def _limits(scenario: Scenario) -> dict[str, AnswerValue]:
    """Return the latency limits that a load or a demand sets."""
    stated: dict[str, float | None] = {"ttft_limit_ms": None, "tpot_limit_ms": None}
    if (demand := scenario.demand) is not None:
        stated = {"ttft_limit_ms": demand.ttft_ms, "tpot_limit_ms": demand.tpot_ms}
    load = scenario.workload.load
    if load.kind is LoadKind.LIMITS:
        stated = {"ttft_limit_ms": load.ttft_ms, "tpot_limit_ms": load.tpot_ms}
    return {
        name: value for name, value in stated.items() if value is not None and QUESTIONS[name].takes(value)
    }


def facts_of(answers: Mapping[str, Answered]) -> dict[str, Fact]:
    """Return answers as facts of conditions: no limit is beyond all numbers, what is not known is no fact."""
    return {name: _fact(name, answered.value) for name, answered in answers.items()}


def _fact(name: str, value: AnswerValue) -> Fact:
    if value == UNKNOWN:
        return None
    if value == NONE and QUESTIONS[name].takes_number:
        return NO_LIMIT
    return value


def platform_for_costs(answers: Mapping[str, Answered]) -> str | None:
    """Return the platform that software runs on by the answers, where it is one that costs know."""
    platform = answers["current_platform"].value
    return platform if isinstance(platform, str) and platform in PLATFORMS else None
