"""The watch list in words that screen, paper and command line share."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.watching import Direction, Signal, Watched, WatchValue
from gpudesk.sheets.fact_words import in_sentence
from gpudesk.text import tr

_SPACE: Final = "\N{NO-BREAK SPACE}"


class WatchState(StrEnum):
    """How a signal stands."""

    PASSED = "passed"
    NOT = "not passed"
    UNKNOWN = "not known"


def watch_state(watched: Watched) -> WatchState:
    """Return how a signal stands."""
    if watched.passed is None:
        return WatchState.UNKNOWN
    return WatchState.PASSED if watched.passed else WatchState.NOT


def state_text(state: WatchState) -> str:
    """Return how a signal stands in a word or two."""
    return {
        WatchState.PASSED: tr("passed"),
        WatchState.NOT: tr("not passed"),
        WatchState.UNKNOWN: tr("not known"),
    }[state]


def threshold_text(signal: Signal, formatter: Formatter) -> str:
    """Return what a signal has to get past, `below 12 %`."""
    limit = signal.threshold
    if limit is None:
        return tr("yes")
    value = _with_unit(formatter.stated(limit.value), limit.unit)
    return (
        tr("below {value}", value=value)
        if limit.direction is Direction.BELOW
        else tr("above {value}", value=value)
    )


def value_text(signal: Signal, value: WatchValue | None, formatter: Formatter) -> str:
    """Return a value of a signal with its unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    text = formatter.stated(float(value))
    return text if signal.threshold is None else _with_unit(text, signal.threshold.unit)


def known_text(watched: Watched, source: str, formatter: Formatter) -> str:
    """Return the value that holds with its date and where it is from: the user's source, or `source`."""
    held = watched.note or watched.known
    if held is None:
        return tr("nothing on record")
    value = value_text(watched.signal, held.value, formatter)
    if watched.note is not None:
        return tr("{value}, {date}; yours: {source}", value=value, date=held.date, source=watched.note.source)
    return tr("{value}, {date}; {source}", value=value, date=held.date, source=source)


def record_text(watched: Watched, source: str, formatter: Formatter) -> str:
    """Return what is on record where the user's note holds instead; empty where it does not."""
    known = watched.known
    if watched.note is None or known is None:
        return ""
    value = value_text(watched.signal, known.value, formatter)
    return tr("on record: {value}, {date}; {source}", value=value, date=known.date, source=source)


def about_text(watched: Watched) -> str:
    """Return what was looked at, or what the user noted beside the value."""
    if watched.note is not None:
        return watched.note.note or ""
    return "" if watched.known is None else watched.known.about


def missing_text(watched: Watched, formatter: Formatter) -> str:
    """Return how far a signal is from its threshold; empty once it is past it, and without a number."""
    if watched.missing is None or watched.passed or watched.signal.threshold is None:
        return ""
    missing = _with_unit(formatter.stated(round(watched.missing, 9)), watched.signal.threshold.unit)
    return tr("{missing} to go", missing=missing)


def changes_text(watched: Watched) -> str:
    """Return what the signal changes as it stands, and what it would if it passed."""
    signal = watched.signal
    if watched.passed:
        return signal.if_passed
    change = tr("If it passes: {change}", change=in_sentence(signal.if_passed))
    return change if watched.passed is None else f"{signal.if_not} {change}"


def idle_text(watched: Watched) -> str:
    """Return that a note of the user's has no effect; empty where it has."""
    note = watched.idle
    if note is None:
        return ""
    return tr("Your note of {date} is not of this signal’s form any more and has no effect.", date=note.date)


def watch_sentence(watched: Watched, source: str, formatter: Formatter) -> str:
    """Return all that there is to say of a signal in a few sentences, as it is read out."""
    known = known_text(watched, source, formatter)
    parts = (
        tr("{title}: {state}", title=watched.signal.title, state=state_text(watch_state(watched))),
        tr("threshold {threshold}", threshold=threshold_text(watched.signal, formatter)),
        known,
        missing_text(watched, formatter),
    )
    return tr(
        "{facts}. {changes}", facts="; ".join(part for part in parts if part), changes=changes_text(watched)
    )


def _with_unit(text: str, unit: str) -> str:
    return f"{text}{_SPACE}{unit}"
