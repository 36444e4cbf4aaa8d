"""The steps of a purchase, read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.advisor.conditions import ConditionError, condition
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.procurement import STEP_FACTS, CheckPoint, ProcurementStep, StepFigure, StepStrength
from gpudesk.workbench.deciding.toml_entries import Entry, read_entries, require_once
from gpudesk.workbench.fields import unknown_field

_STRENGTHS: Final = {each.value: each for each in StepStrength}


def read_steps(path: Path) -> tuple[ProcurementStep, ...]:
    """Return the steps in their order; raises `InputError` that names file and place.

    A condition may name the facts of `STEP_FACTS` and no others.
    """
    document = read_entries(path)
    source, dated = document.text("source"), document.date("dated")
    steps = tuple(_step(entry, source, dated) for entry in document.tables("steps"))
    document.end()
    require_once((each for step in steps for each in _ids(step)), str(path))
    return steps


def _step(entry: Entry, source: str, dated: str) -> ProcurementStep:
    step = ProcurementStep(
        id=entry.text("id"),
        source=source,
        dated=dated,
        strength=entry.word("strength", _STRENGTHS),
        title=entry.text("title"),
        ask=entry.text("ask"),
        why=entry.text("why"),
        when=_condition(entry),
        otherwise=entry.optional_text("otherwise"),
        until=entry.optional_date("until"),
        figures=tuple(_figure(each) for each in entry.tables("figures")),
        points=tuple(_point(each) for each in entry.tables("points")),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return step


def _ids(step: ProcurementStep) -> tuple[str, ...]:
    return (step.id, *(point.id for point in step.points))


def _condition(entry: Entry) -> str | None:
    text = entry.optional_text("when")
    if text is None:
        return None
    try:
        names = condition(text).names
    except ConditionError as error:
        raise InputError(message("beside.condition", reason=str(error)), entry.place("when")) from error
    for name in sorted(names):
        if name not in STEP_FACTS:
            raise unknown_field(entry.place("when"), name, STEP_FACTS)
    return text


def _figure(entry: Entry) -> StepFigure:
    figure = StepFigure(
        label=entry.text("label"),
        value=entry.number("value"),
        unit=entry.text("unit"),
        high=entry.optional_number("high"),
        dated=entry.optional_text("dated"),
        accelerators=entry.texts("accelerators"),
        anecdotal=entry.flag("anecdotal") if entry.has("anecdotal") else False,
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
        worked=entry.texts("worked"),
    )
    entry.end()
    return figure


def _point(entry: Entry) -> CheckPoint:
    point = CheckPoint(entry.text("id"), entry.text("text"))
    entry.end()
    return point
