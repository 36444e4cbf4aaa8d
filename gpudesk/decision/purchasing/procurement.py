"""The steps of a purchase that apply, and the user's notes on the watch list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpudesk.catalog.user_store.edits import NOTHING_CHANGED
from gpudesk.catalog.user_store.entry import check_optional_line, check_optional_note
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.domain.decision import FactValues
from gpudesk.domain.field_checks import accept_boolean, accept_month, accept_number
from gpudesk.domain.purchase import (
    CheckpointStatus,
    CompletionNotes,
    NegotiationSheet,
    ProcurementStep,
    ProcurementStepStatus,
)
from gpudesk.domain.reference_data import WatchNote, WatchSignal, WatchValue
from gpudesk.domain.user_facts import FactEdit
from gpudesk.text.messages import InputError, input_error, message


def make_negotiation_sheet(
    steps: Iterable[ProcurementStep], facts: FactValues, completion_notes: CompletionNotes, today: str
) -> NegotiationSheet:
    """Return every step with whether it applies and whether it is done.

    `facts` are the known `STEP_FACTS`; missing ones and None are unknown. `today` is an ISO day.
    """
    return NegotiationSheet(tuple(_make_step_line(step, facts, completion_notes, today) for step in steps))


def _make_step_line(
    step: ProcurementStep, facts: FactValues, completion_notes: CompletionNotes, today: str
) -> ProcurementStepStatus:
    points = tuple(
        CheckpointStatus(each, each.id in completion_notes, completion_notes.get(each.id, "")) for each in step.points
    )
    condition = None if step.when is None else parse_condition(step.when)
    outcome = None if condition is None else condition.on(facts)
    missing = () if condition is None else tuple(sorted(each for each in condition.names if facts.get(each) is None))
    return ProcurementStepStatus(
        step=step,
        applies=True if outcome is None else outcome.holds,
        tested=() if outcome is None else outcome.tested,
        missing=missing,
        past=step.until is not None and today[: len(step.until)] > step.until,
        is_done=step.id in completion_notes,
        note=completion_notes.get(step.id, ""),
        points=points,
    )


#: Larger than any signal.
_MOST: Final = 1e9


def note_signal(
    notes: Iterable[WatchNote],
    signal: WatchSignal,
    value: WatchValue,
    *,
    date: str,
    source: str,
    note: str | None = None,
) -> FactEdit:
    """Return the step that puts a note on a signal, replacing the user's former one.

    `value` is a number in the unit of the signal's threshold, or yes or no without one; `date` is its ISO month or day,
    `source` its origin. Raises `InputError` at the invalid field: `value`, `date`, `source` or `note`, and at `value`
    if nothing would change.
    """
    checked: WatchValue = accept_boolean("value", value) if signal.threshold is None else _parse_signal_number(value)
    user_note = WatchNote(
        signal.id, checked, _parse_signal_date(date), _parse_signal_source(source), check_optional_note("note", note)
    )
    former = _check_signal(notes, signal)
    if former == user_note:
        raise InputError(NOTHING_CHANGED, "value")
    replaced = () if former is None else (former,)
    return FactEdit(
        message("watch.step.note", "Add note to watch list: {signal}", signal=signal.title),
        unwatched=replaced,
        watched=(user_note,),
    )


def forget_signal(notes: Iterable[WatchNote], signal: WatchSignal) -> FactEdit:
    """Return the step that removes the user's note on a signal; raises `InputError` without one."""
    former = _check_signal(notes, signal)
    if former is None:
        raise input_error("watch.no_note", "you have no note on {signal}", "signal", signal=signal.title)
    return FactEdit(
        message("watch.step.remove", "Remove from watch list: {signal}", signal=signal.title), unwatched=(former,)
    )


def _check_signal(notes: Iterable[WatchNote], signal: WatchSignal) -> WatchNote | None:
    return next((note for note in notes if note.signal == signal.id), None)


def _parse_signal_number(value: WatchValue) -> float:
    number: float = accept_number(-_MOST, _MOST)("value", value)
    return number


def _parse_signal_date(text: str) -> str:
    if not text.strip():
        raise input_error("watch.no_date", "a note needs a date", "date")
    accept_month("date", text.strip())
    return text.strip()


def _parse_signal_source(text: str) -> str:
    source = check_optional_line("source", text)
    if source is None:
        raise input_error("watch.no_source", "a note needs a source", "source")
    return source
