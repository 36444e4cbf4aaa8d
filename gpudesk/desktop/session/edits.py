"""Edits of a scenario: pure functions that return the edited scenario, or the same one where nothing changes.

Positions are those of the scenario's accelerators; a position that there is none of raises IndexError.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from gpudesk.domain.comparison import lowest_free, slots
from gpudesk.domain.precision import Precision
from gpudesk.domain.scenarios import MOST_ACCELERATORS, AcceleratorChoice, Scenario
from gpudesk.domain.workloads import Load, LoadKind, Workload

#: What a new scenario begins with.
_NEW_WORKLOAD = Workload(
    input_tokens=1000, output_tokens=1000, load=Load(LoadKind.CONCURRENCY, concurrency=8)
)

#: The value that a load begins with when its kind is chosen, where the former one has none to carry over.
_BEGINNINGS: dict[LoadKind, Load] = {
    LoadKind.CONCURRENCY: Load(LoadKind.CONCURRENCY, concurrency=64),
    LoadKind.BATCH: Load(LoadKind.BATCH, batch=64),
    LoadKind.SATURATE: Load(LoadKind.SATURATE, requests=1000),
    LoadKind.REQUEST_RATE: Load(LoadKind.REQUEST_RATE, request_rate=1.0),
    LoadKind.LIMITS: Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0),
}

#: The field of a load that its slider moves.
LOAD_FIELD: dict[LoadKind, str] = {
    LoadKind.CONCURRENCY: "concurrency",
    LoadKind.BATCH: "batch",
    LoadKind.SATURATE: "requests",
    LoadKind.REQUEST_RATE: "request_rate",
    LoadKind.LIMITS: "tpot_ms",
}


#: Counts that are offered; the arrow keys reach these too.
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)


def empty_scenario(name: str = "") -> Scenario:
    """Return what a new document holds: a workload, but no model and no accelerators yet."""
    return Scenario(
        name=name, model="", weights=Precision.FP8, workload=_NEW_WORKLOAD, accelerators=(), kv=Precision.FP8
    )


def with_workload(scenario: Scenario, **fields: Any) -> Scenario:  # noqa: ANN401 - any field of a workload
    """Return the scenario with fields of its workload replaced."""
    return replace(scenario, workload=replace(scenario.workload, **fields))


def with_load_kind(scenario: Scenario, kind: LoadKind) -> Scenario:
    """Return the scenario under another kind of load; a number of requests is carried over."""
    old = scenario.workload.load
    if old.kind is kind:
        return scenario
    load: Any = _BEGINNINGS[kind]
    count = old.concurrency or old.batch
    if count is not None and kind in (LoadKind.CONCURRENCY, LoadKind.BATCH):
        load = replace(load, **{LOAD_FIELD[kind]: count})
    return with_workload(scenario, load=load)


def with_load_value(scenario: Scenario, value: float, field: str | None = None) -> Scenario:
    """Return the scenario with another value of its load: of `field`, else of what the slider moves."""
    load: Any = scenario.workload.load
    return with_workload(scenario, load=replace(load, **{field or LOAD_FIELD[load.kind]: value}))


def load_value(load: Load) -> float:
    """Return the value that the slider moves."""
    value: float = getattr(load, LOAD_FIELD[load.kind])
    return value


def with_accelerator(
    scenario: Scenario,
    position: int,
    **fields: Any,  # noqa: ANN401 - any field of a choice
) -> Scenario:
    """Return the scenario with fields of one of its accelerators replaced."""
    choices = list(scenario.accelerators)
    choices[position] = replace(choices[position], **fields)
    return replace(scenario, accelerators=tuple(choices))


def with_count(scenario: Scenario, position: int, count: int | None) -> Scenario:
    """Return the scenario with another count of a part; its old plan no longer multiplies up to it."""
    choice = scenario.accelerators[position]
    if choice.count == count:
        return scenario
    return with_accelerator(
        scenario, position, count=count, tp=None, pp=None, ep=None, dp=None, attention_dp=None
    )


def fitting_count(scenario: Scenario, accelerator: str) -> int | None:
    """Return the count that the others have, or the next one where the part stands there with that."""
    counts = {choice.count for choice in scenario.accelerators}
    count = counts.pop() if len(counts) == 1 else 1
    taken = {choice.count for choice in scenario.accelerators if choice.accelerator == accelerator}
    if count in taken:
        return next((each for each in COUNTS if each not in taken and each > (count or 0)), count)
    return count


def add_accelerator(scenario: Scenario, accelerator: str, count: int | None = None) -> Scenario:
    """Return the scenario with one part more, which takes the lowest free place in the palette.

    A full comparison is returned as it is.
    """
    if len(scenario.accelerators) >= MOST_ACCELERATORS:
        return scenario
    kept = settled(scenario)
    slot = next(
        (choice.slot for choice in kept.accelerators if choice.accelerator == accelerator),
        None,
    ) or lowest_free(choice.slot for choice in kept.accelerators if choice.slot is not None)
    choice = AcceleratorChoice(accelerator, count=count, slot=slot)
    return replace(kept, accelerators=(*kept.accelerators, choice))


def remove_accelerator(scenario: Scenario, position: int) -> Scenario:
    """Return the scenario without one of its accelerators; the others keep their places in the palette."""
    choices = list(settled(scenario).accelerators)
    del choices[position]
    return replace(scenario, accelerators=tuple(choices))


def replace_accelerator(scenario: Scenario, position: int, accelerator: str) -> Scenario:
    """Return the scenario with another part in a column, with the same count and a plan of its own."""
    old = scenario.accelerators[position]
    if old.accelerator == accelerator:
        return scenario
    removed = remove_accelerator(scenario, position)
    added = add_accelerator(removed, accelerator, old.count)
    return move_accelerator(added, len(added.accelerators) - 1, position)


def move_accelerator(scenario: Scenario, position: int, target: int) -> Scenario:
    """Return the scenario with an accelerator moved to another position."""
    choices = list(settled(scenario).accelerators)
    choices.insert(target, choices.pop(position))
    return replace(scenario, accelerators=tuple(choices))


def make_baseline(scenario: Scenario, position: int) -> Scenario:
    """Return the scenario with an accelerator moved first, which makes it the baseline."""
    return move_accelerator(scenario, position, 0)


def settled(scenario: Scenario) -> Scenario:
    """Return the scenario with every accelerator's place in the palette written down, so that it stays."""
    places = slots(scenario.accelerators)
    return replace(
        scenario,
        accelerators=tuple(
            replace(choice, slot=slot) for choice, slot in zip(scenario.accelerators, places, strict=True)
        ),
    )
