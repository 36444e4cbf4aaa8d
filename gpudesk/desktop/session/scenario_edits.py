"""Edits of a scenario: pure functions that return the edited scenario, or the same one if nothing changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gpudesk.domain.accelerator import resolve_fp4
from gpudesk.domain.answer import (
    MAX_ACCELERATORS,
    AcceleratorChoice,
    Scenario,
    assign_palette_indexes,
    find_free_palette_index,
)
from gpudesk.domain.cost import replace_entry
from gpudesk.domain.decision import QUESTIONS, WEIGHT_BOUNDS, AnswerValue
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind, SizingOption

#: Initial values of a new scenario.
_NEW_WORKLOAD = Workload(input_tokens=1000, output_tokens=1000, load=Load(LoadKind.CONCURRENCY, concurrency=8))

#: Initial value of a newly chosen load kind that cannot inherit the former value.
_BEGINNINGS: dict[LoadKind, Load] = {
    LoadKind.CONCURRENCY: Load(LoadKind.CONCURRENCY, concurrency=64),
    LoadKind.BATCH: Load(LoadKind.BATCH, batch=64),
    LoadKind.SATURATE: Load(LoadKind.SATURATE, requests=1000),
    LoadKind.REQUEST_RATE: Load(LoadKind.REQUEST_RATE, request_rate=1.0),
    LoadKind.LIMITS: Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0),
}

#: The field of a load that its slider changes.
LOAD_FIELD: dict[LoadKind, str] = {
    LoadKind.CONCURRENCY: "concurrency",
    LoadKind.BATCH: "batch",
    LoadKind.SATURATE: "requests",
    LoadKind.REQUEST_RATE: "request_rate",
    LoadKind.LIMITS: "tpot_ms",
}


#: Suggested counts; also the steps of the arrow keys.
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)


def make_empty_scenario() -> Scenario:
    """Return the scenario of a new document: a workload, but no model and no accelerators yet."""
    return Scenario(name="", model="", weights=Precision.FP8, workload=_NEW_WORKLOAD, accelerators=(), kv=Precision.FP8)


def replace_workload(scenario: Scenario, **fields: Any) -> Scenario:  # noqa: ANN401 - any field of a workload
    return replace(scenario, workload=replace(scenario.workload, **fields))


def replace_load_kind(scenario: Scenario, kind: LoadKind) -> Scenario:
    """Return the scenario with another kind of load; a number of requests is kept."""
    old = scenario.workload.load
    if old.kind is kind:
        return scenario
    load: Any = _BEGINNINGS[kind]
    count = old.concurrency or old.batch
    if count is not None and kind in (LoadKind.CONCURRENCY, LoadKind.BATCH):
        load = replace(load, **{LOAD_FIELD[kind]: count})
    return replace_workload(scenario, load=load)


def replace_load_value(scenario: Scenario, value: float, field: str | None = None) -> Scenario:
    """Return the scenario with another value of its load: of `field`, by default that of the slider."""
    load: Any = scenario.workload.load
    return replace_workload(scenario, load=replace(load, **{field or LOAD_FIELD[load.kind]: value}))


def read_load_value(load: Load) -> float:
    value: float = getattr(load, LOAD_FIELD[load.kind])
    return value


def edit_accelerator(
    scenario: Scenario,
    position: int,
    **fields: Any,  # noqa: ANN401 - any field of a choice
) -> Scenario:
    choices = list(scenario.accelerators)
    choices[position] = replace(choices[position], **fields)
    return replace(scenario, accelerators=tuple(choices))


def replace_count(scenario: Scenario, position: int, count: int | None) -> Scenario:
    """Return the scenario with another count of an accelerator; its former plan no longer matches."""
    choice = scenario.accelerators[position]
    if choice.count == count:
        return scenario
    return edit_accelerator(scenario, position, count=count, tp=None, pp=None, ep=None, dp=None, attention_dp=None)


def free_counts(scenario: Scenario) -> Scenario:
    """Return the scenario in which every accelerator has the smallest count that fits."""
    for position in range(len(scenario.accelerators)):
        scenario = replace_count(scenario, position, None)
    return scenario


def use_counts(scenario: Scenario, counts: Sequence[int | None]) -> Scenario:
    """Return the scenario with these counts; None keeps the one of the accelerator."""
    for position, count in enumerate(counts):
        scenario = scenario if count is None else replace_count(scenario, position, count)
    return scenario


def find_fitting_count(scenario: Scenario, accelerator: str) -> int | None:
    """Return the count of the others, or the next count if the accelerator already has that.

    None is the smallest that fits, for a first accelerator, and next to different counts.
    """
    counts = {choice.count for choice in scenario.accelerators}
    used_counts = {choice.count for choice in scenario.accelerators if choice.accelerator == accelerator}
    count = counts.pop() if len(counts) == 1 else None
    if not used_counts:
        return count
    least = min(each or 1 for each in used_counts)
    return next((each for each in COUNTS if each not in used_counts and each > least), count)


def add_accelerator(scenario: Scenario, accelerator: str, count: int | None = None) -> Scenario:
    """Return the scenario with one more accelerator, which gets the lowest free palette index.

    A full comparison is returned unchanged.
    """
    if len(scenario.accelerators) >= MAX_ACCELERATORS:
        return scenario
    fixed = fix_palette_indexes(scenario)
    slot = next(
        (choice.slot for choice in fixed.accelerators if choice.accelerator == accelerator), None
    ) or find_free_palette_index(choice.slot for choice in fixed.accelerators if choice.slot is not None)
    choice = AcceleratorChoice(accelerator, count=count, slot=slot)
    return replace(fixed, accelerators=(*fixed.accelerators, choice))


def remove_accelerator(scenario: Scenario, position: int) -> Scenario:
    """Return the scenario without one of its accelerators; the others keep their palette indexes."""
    choices = list(fix_palette_indexes(scenario).accelerators)
    del choices[position]
    return replace(scenario, accelerators=tuple(choices))


def replace_accelerator(scenario: Scenario, position: int, accelerator: str) -> Scenario:
    """Return the scenario with another accelerator in a column, with the same count and an open plan."""
    old = scenario.accelerators[position]
    if old.accelerator == accelerator:
        return scenario
    removed = remove_accelerator(scenario, position)
    added = add_accelerator(removed, accelerator, old.count)
    return move_accelerator(added, len(added.accelerators) - 1, position)


def move_accelerator(scenario: Scenario, position: int, target: int) -> Scenario:
    choices = list(fix_palette_indexes(scenario).accelerators)
    choices.insert(target, choices.pop(position))
    return replace(scenario, accelerators=tuple(choices))


def make_baseline(scenario: Scenario, position: int) -> Scenario:
    """Return the scenario with an accelerator moved first, which makes it the baseline."""
    return move_accelerator(scenario, position, 0)


def fix_palette_indexes(scenario: Scenario) -> Scenario:
    """Return the scenario with all palette indexes made explicit, so that they stay."""
    places = assign_palette_indexes(scenario.accelerators)
    return replace(
        scenario,
        accelerators=tuple(
            replace(choice, slot=slot) for choice, slot in zip(scenario.accelerators, places, strict=True)
        ),
    )


def apply_remedy(scenario: Scenario, position: int, remedy: FitRemedy, vendor: str) -> Scenario:
    """Return the scenario in which the accelerator at a position fits.

    Formats, the memory fraction and the number of requests are those of the scenario, so they change for all columns.
    `vendor` is that of the accelerator.
    """
    value = remedy.value
    if remedy.kind is FitRemedyKind.WEIGHTS:
        return replace(scenario, weights=choose_stated_format(Precision(str(value)), vendor))
    if remedy.kind is FitRemedyKind.KV:
        return replace(scenario, kv=Precision(str(value)))
    if remedy.kind is FitRemedyKind.FRACTION:
        return replace(scenario, memory_fraction=float(value))
    if remedy.kind is FitRemedyKind.COUNT:
        return replace_count(scenario, position, int(value))
    return replace_load_value(scenario, int(value))


def replace_deployment(scenario: Scenario, position: int, weights: Precision, count: int, vendor: str) -> Scenario:
    """Return the scenario with a weight format, for all columns, and with a count of one accelerator."""
    own_weights = scenario.weights if resolve_fp4(scenario.weights, vendor) is weights else None
    chosen = own_weights or choose_stated_format(weights, vendor)
    return replace_count(replace(scenario, weights=chosen), position, count)


def replace_model_and_baseline(
    scenario: Scenario, model: str, weights: Precision, kv: Precision, accelerator: str, count: int | None
) -> Scenario:
    """Return the scenario with another model in these formats, and an accelerator as its baseline.

    The accelerator's plan and serving engine are left open, and its count too if that is None. The others stay; in a
    full comparison the last one is dropped.
    """
    places = (n for n, choice in enumerate(scenario.accelerators) if choice.accelerator == accelerator)
    place = next(places, None)
    if place is None:
        if len(scenario.accelerators) >= MAX_ACCELERATORS:
            scenario = remove_accelerator(scenario, len(scenario.accelerators) - 1)
        scenario = add_accelerator(scenario, accelerator)
        place = len(scenario.accelerators) - 1
    scenario = make_baseline(scenario, place)
    first = AcceleratorChoice(accelerator, count=count, slot=scenario.accelerators[0].slot)
    choices = (first, *scenario.accelerators[1:])
    return replace(scenario, model=model, weights=weights, kv=kv, accelerators=choices)


def choose_stated_format(weights: Precision, vendor: str) -> Precision:
    """Return the format for a scenario: plain FP4 for a vendor's own, so that others use theirs."""
    return Precision.FP4 if weights is resolve_fp4(Precision.FP4, vendor) else weights


def apply_candidate(scenario: Scenario, position: int, candidate: SizingOption, load: Load) -> Scenario:
    """Return the scenario with the working replicas of a sized demand at a position, under its peak.

    Spare replicas serve nothing, so they are not part of the deployment. The load is that of all columns.
    """
    choices = list(scenario.accelerators)
    choices[position] = choices[position].with_plan(replace(candidate.plan, dp=candidate.replicas))
    return replace(scenario, accelerators=tuple(choices), workload=replace(scenario.workload, load=load))


def replace_answer(scenario: Scenario, question: str, value: AnswerValue | None) -> Scenario:
    """Return the scenario with an answer, or with None without one; raises ValueError for an invalid answer."""
    if value is not None and not QUESTIONS[question].takes(value):
        raise ValueError(f"{value!r} does not answer {question}")
    return _replace_decision(scenario, answers=replace_entry(scenario.decision.answers, question, value))


def replace_answers(scenario: Scenario, answers: Mapping[str, AnswerValue]) -> Scenario:
    return _replace_decision(scenario, answers=dict(answers))


def replace_weight(scenario: Scenario, rule: str, weight: float | None) -> Scenario:
    """Return the scenario with another weight of a rule, or with None with its default.

    Raises ValueError for a weight outside `WEIGHT_BOUNDS`.
    """
    if weight is not None and not WEIGHT_BOUNDS.hold(weight):
        raise ValueError(f"no weight of a rule: {weight}")
    return _replace_decision(scenario, weights=replace_entry(scenario.decision.weights, rule, weight))


def reset_weights(scenario: Scenario) -> Scenario:
    return _replace_decision(scenario, weights={})


def replace_kept_answers(scenario: Scenario, answers: Mapping[str, AnswerValue] | None) -> Scenario:
    """Return the scenario with a second set of answers to compare with, or with None without one."""
    return _replace_decision(scenario, kept=None if answers is None else dict(answers))


def swap_answers(scenario: Scenario) -> Scenario:
    """Return the scenario with saved and current answers swapped; unchanged without saved ones."""
    decision = scenario.decision
    if decision.kept is None:
        return scenario
    return _replace_decision(scenario, answers=decision.kept, kept=decision.answers)


def replace_plan_input(scenario: Scenario, name: str, value: AnswerValue | None) -> Scenario:
    """Return the scenario with an input of a plan, or with None without it."""
    return _replace_decision(scenario, plans=replace_entry(scenario.decision.plans, name, value))


def mark_step_done(scenario: Scenario, step: str, note: str | None) -> Scenario:
    """Return the scenario with a purchase step done, with a note on it, or with None not done."""
    return _replace_decision(scenario, done=replace_entry(scenario.decision.done, step, note))


def _replace_decision(scenario: Scenario, **fields: Any) -> Scenario:  # noqa: ANN401 - any field of the settings
    return replace(scenario, decision=replace(scenario.decision, **fields))
