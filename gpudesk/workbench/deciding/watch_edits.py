"""What the user notes on the watch list, as steps that are written to the user's file and undone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.watching import Signal, WatchNote, WatchValue
from gpudesk.workbench.fields import boolean, month, number
from gpudesk.workbench.own_checks import optional_line, optional_note

#: No signal comes near this.
_MOST: Final = 1e9


def note_signal(
    notes: Iterable[WatchNote],
    signal: Signal,
    value: WatchValue,
    *,
    date: str,
    source: str,
    note: str | None = None,
) -> Edit:
    """Return the step that puts a note on a signal, in the place of the user's former one.

    `value` is a number in the unit of the signal's threshold, or yes or no without one; `date` is the ISO
    month or day of it, `source` says where it was found. Raises `InputError` at the field that cannot be:
    `value`, `date`, `source` or `note`, and at `value` where nothing would change.
    """
    checked: WatchValue = boolean("value", value) if signal.threshold is None else _number(value)
    stated = WatchNote(signal.id, checked, _date(date), _source(source), optional_note("note", note))
    former = _of(notes, signal)
    if former == stated:
        raise InputError(message("own.same_value"), "value")
    taken = () if former is None else (former,)
    return Edit(message("watch.step.note", signal=signal.title), unwatched=taken, watched=(stated,))


def forget_signal(notes: Iterable[WatchNote], signal: Signal) -> Edit:
    """Return the step that takes the user's note on a signal away; `InputError` where there is none."""
    former = _of(notes, signal)
    if former is None:
        raise InputError(message("watch.no_note", signal=signal.title), "signal")
    return Edit(message("watch.step.remove", signal=signal.title), unwatched=(former,))


def _of(notes: Iterable[WatchNote], signal: Signal) -> WatchNote | None:
    return next((note for note in notes if note.signal == signal.id), None)


def _number(value: WatchValue) -> float:
    found: float = number(-_MOST, _MOST)("value", value)
    return found


def _date(given: str) -> str:
    if not given.strip():
        raise InputError(message("watch.no_date"), "date")
    month("date", given.strip())
    return given.strip()


def _source(given: str) -> str:
    found = optional_line("source", given)
    if found is None:
        raise InputError(message("watch.no_source"), "source")
    return found
