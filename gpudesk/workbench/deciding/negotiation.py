"""The steps of a purchase here and now: which apply, what is missing to tell, and what is done."""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.advisor.conditions import condition
from gpudesk.domain.decisions import Facts
from gpudesk.domain.procurement import Done, NegotiationSheet, PointLine, ProcurementStep, StepLine


def negotiation_sheet(
    steps: Iterable[ProcurementStep], facts: Facts, done: Done, today: str
) -> NegotiationSheet:
    """Return every step with whether it applies and whether it is done.

    `facts` are those of `STEP_FACTS` that are known; one that is not among them, or None, is not known.
    `today` is an ISO day.
    """
    return NegotiationSheet(tuple(_line(step, facts, done, today) for step in steps))


def _line(step: ProcurementStep, facts: Facts, done: Done, today: str) -> StepLine:
    points = tuple(PointLine(each, each.id in done, done.get(each.id, "")) for each in step.points)
    read = None if step.when is None else condition(step.when)
    outcome = None if read is None else read.on(facts)
    missing = () if read is None else tuple(sorted(each for each in read.names if facts.get(each) is None))
    return StepLine(
        step=step,
        applies=True if outcome is None else outcome.holds,
        tested=() if outcome is None else outcome.tested,
        missing=missing,
        past=step.until is not None and today[: len(step.until)] > step.until,
        done=step.id in done,
        note=done.get(step.id, ""),
        points=points,
    )
