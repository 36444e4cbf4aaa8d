"""The current answers (the user's, the scenario's, or defaults), and which questions can still matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import OTHER_PLATFORM, SOFTWARE_PLATFORMS
from gpudesk.domain.answer import Scenario
from gpudesk.domain.decision import (
    NO_LIMIT,
    NO_LIMIT_ANSWER,
    OFFLINE_SERVICE,
    QUESTIONS,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    Decision,
    FactValue,
    FactValues,
    QuestionAnswer,
)
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import READING_TPOT_MS
from gpudesk.text.messages import Message, message

#: Longer requests count as long: a document's threshold for long context.
LONG_CONTEXT_TOKENS: Final = 100_000
_OFFICE: Final = "office"
_FOUR_BITS: Final = (Precision.FP4, Precision.NVFP4, Precision.MXFP4)


def resolve_answers(
    scenario: Scenario, user_answers: Mapping[str, AnswerValue] | None = None, native: Precision | None = None
) -> dict[str, QuestionAnswer]:
    """Return the answer to every question; `user_answers` replaces the answers stored in the scenario.

    `native` is the format in which the model is published.
    """
    answers = scenario.decision.answers if user_answers is None else user_answers
    prefilled = _list_prefilled_answers(scenario, native)
    if answers.get("site") == _OFFICE:
        # What runs there is bought, not rented from a cloud.
        prefilled["acquisition"] = "own"
    resolved: dict[str, QuestionAnswer] = {}
    for name, question in QUESTIONS.items():
        if name in answers:
            resolved[name] = QuestionAnswer(answers[name], AnswerOrigin.YOURS)
        elif name in prefilled:
            resolved[name] = QuestionAnswer(prefilled[name], AnswerOrigin.SCENARIO)
        else:
            resolved[name] = QuestionAnswer(question.default, AnswerOrigin.DEFAULT)
    return resolved


def get_reading_tpot_ms(answers: Mapping[str, QuestionAnswer]) -> float | None:
    """Return the TPOT in ms at which users still read along; None if no user waits or the limit is answered."""
    is_open = answers["tpot_limit_ms"].origin is AnswerOrigin.DEFAULT
    return READING_TPOT_MS if is_open and answers["service"].value != OFFLINE_SERVICE else None


def _list_prefilled_answers(scenario: Scenario, native: Precision | None) -> dict[str, AnswerValue]:
    prefilled: dict[str, AnswerValue] = {}
    work = scenario.workload
    if scenario.serving_engine in QUESTIONS["serving_engine"].options:
        prefilled["serving_engine"] = str(scenario.serving_engine)
    if work.input_tokens + work.output_tokens >= LONG_CONTEXT_TOKENS:
        prefilled["long_context"] = "yes"
    # Models published in four bits run everywhere in them; others are quantized for the arithmetic.
    if scenario.weights in _FOUR_BITS and native not in _FOUR_BITS:
        prefilled["precision"] = "fp4"
    if work.load.kind in (LoadKind.BATCH, LoadKind.SATURATE):
        prefilled["service"] = OFFLINE_SERVICE
    elif work.load.kind is LoadKind.LIMITS:
        prefilled["service"] = "interactive"
    prefilled |= _list_limit_answers(scenario)
    if (months := scenario.fleet.months_to_live) is not None:
        prefilled["months_to_launch"] = months
    if (platform := scenario.costs.runs_on) is not None:
        platforms = QUESTIONS["current_platform"].options
        prefilled["current_platform"] = platform if platform in platforms else OTHER_PLATFORM
    return prefilled


def _list_limit_answers(scenario: Scenario) -> dict[str, AnswerValue]:
    limits: dict[str, float | None] = {"ttft_limit_ms": None, "tpot_limit_ms": None}
    if (demand := scenario.demand) is not None:
        limits = {"ttft_limit_ms": demand.ttft_ms, "tpot_limit_ms": demand.tpot_ms}
    load = scenario.workload.load
    if load.kind is LoadKind.LIMITS:
        limits = {"ttft_limit_ms": load.ttft_ms, "tpot_limit_ms": load.tpot_ms}
    return {name: value for name, value in limits.items() if value is not None and QUESTIONS[name].takes(value)}


def convert_answers(answers: Mapping[str, QuestionAnswer]) -> dict[str, FactValue]:
    """Return answers as facts for conditions: no limit is infinity, unknown answers are left out."""
    facts = {name: _convert_answer(name, answered.value) for name, answered in answers.items()}
    return {**facts, "reading_tpot_ms": get_reading_tpot_ms(answers)}


def _convert_answer(name: str, value: AnswerValue) -> FactValue:
    if value == UNKNOWN_ANSWER:
        return None
    if value == NO_LIMIT_ANSWER and QUESTIONS[name].takes_number:
        return NO_LIMIT
    return value


def get_cost_platform(answers: Mapping[str, QuestionAnswer]) -> str | None:
    """Return the platform of the user's software by the answers, from which porting is charged; None without one."""
    platform = answers["current_platform"].value
    return platform if isinstance(platform, str) and platform in (*SOFTWARE_PLATFORMS, OTHER_PLATFORM) else None


#: Below this many months the user cannot wait for the next accelerator, and documents say to buy.
_TOO_SOON_MONTHS: Final = 6.0


class _DialogueState(NamedTuple):
    """The context of a question: the answers, facts of the scenario, and of each column."""

    answers: Mapping[str, QuestionAnswer]
    facts: FactValues
    parts: Sequence[FactValues]


def question_matters(
    question: str, answers: Mapping[str, QuestionAnswer], facts: FactValues, parts: Sequence[FactValues]
) -> bool:
    """Whether an answer to a question can change the decision; always true for answered ones.

    `facts` are those of the scenario and `parts` those of each column, of a decision under the answers.
    """
    return find_skip_reason(question, answers, facts, parts) is None


def find_skip_reason(
    question: str, answers: Mapping[str, QuestionAnswer], facts: FactValues, parts: Sequence[FactValues]
) -> Message | None:
    """Return why a question can be skipped; None if it matters."""
    if answers[question].origin is AnswerOrigin.YOURS:
        return None
    state = _DialogueState(answers, facts, parts)
    reasons = (test(state) for test in _SKIP_TESTS.get(question, ()))
    return next((reason for reason in reasons if reason is not None), None)


def _skip_without_port(state: _DialogueState) -> Message | None:
    """Return the reason to skip questions on porting: the software runs unchanged on every compared accelerator."""
    return (
        message("dialogue.nothing_to_port", "your software runs unchanged on all compared accelerators")
        if state.facts.get("some_need_port") is False
        else None
    )


def _skip_on_one_platform(state: _DialogueState) -> Message | None:
    """Return the reason to skip questions on skills and time: all compared accelerators have one platform."""
    platforms = {part.get("platform") for part in state.parts}
    return (
        message("dialogue.one_platform", "all compared accelerators have the same software platform")
        if len(platforms) == 1 and None not in platforms
        else None
    )


def _skip_when_owned(state: _DialogueState) -> Message | None:
    return (
        message("dialogue.owned", "you answered that you own the accelerators, so hours are not rented")
        if state.answers["acquisition"].value == "own"
        else None
    )


def _skip_when_rented(state: _DialogueState) -> Message | None:
    return (
        message("dialogue.rented", "you answered that you rent, so there is no purchase")
        if state.answers["acquisition"].value == "rent"
        else None
    )


def _skip_when_soon(state: _DialogueState) -> Message | None:
    months = state.answers["months_to_launch"].value
    soon = isinstance(months, (int, float)) and months < _TOO_SOON_MONTHS
    return (
        message("dialogue.starts_soon", "you launch in less than six months, before the next accelerator is available")
        if soon
        else None
    )


def _skip_when_offline(state: _DialogueState) -> Message | None:
    return (
        message("dialogue.nobody_waits", "you answered that no user waits for the result")
        if state.answers["service"].value == OFFLINE_SERVICE
        else None
    )


_SKIP_TESTS: Final[Mapping[str, tuple[Callable[[_DialogueState], Message | None], ...]]] = {
    "porting": (_skip_without_port,),
    "team": (_skip_on_one_platform,),
    "adoption_months": (_skip_without_port, _skip_on_one_platform),
    "monthly_hours": (_skip_when_owned, _skip_without_port),
    "budget_usd": (_skip_when_rented,),
    "ttft_limit_ms": (_skip_when_offline,),
    "tpot_limit_ms": (_skip_when_offline,),
    "waiting": (_skip_when_soon,),
}


def explain_skipped_question(question: str, decision: Decision) -> Message | None:
    """Return why a question can be skipped under the answers of a decision; None if it matters."""
    return find_skip_reason(question, decision.answers, decision.facts, decision.parts)
