"""The signals of the watch list, read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.watching import Direction, Known, Signal, Threshold
from gpudesk.workbench.deciding.toml_entries import Entry, read_entries, require_once

_DIRECTIONS: Final = {each.value: each for each in Direction}


def read_signals(path: Path) -> tuple[Signal, ...]:
    """Return the signals in their order; raises `InputError` that names file and place."""
    document = read_entries(path)
    source, dated = document.text("source"), document.date("dated")
    signals = tuple(_signal(entry, source, dated) for entry in document.tables("signals"))
    document.end()
    require_once((signal.id for signal in signals), str(path))
    return signals


def _signal(entry: Entry, source: str, dated: str) -> Signal:
    threshold = entry.optional_table("threshold")
    known = [_known(each) for each in entry.tables("known")]
    signal = Signal(
        id=entry.text("id"),
        source=source,
        dated=dated,
        title=entry.text("title"),
        look_for=entry.text("look_for"),
        if_passed=entry.text("if_passed"),
        if_not=entry.text("if_not"),
        threshold=None if threshold is None else _threshold(threshold),
        known=tuple(sorted(known, key=lambda each: each.date, reverse=True)),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    if not all(signal.takes(each.value) for each in signal.known):
        raise InputError(message("beside.form", signal=signal.title), entry.place("known"))
    return signal


def _threshold(entry: Entry) -> Threshold:
    threshold = Threshold(entry.number("value"), entry.text("unit"), entry.word("direction", _DIRECTIONS))
    entry.end()
    return threshold


def _known(entry: Entry) -> Known:
    known = Known(
        value=entry.number_or_flag("value"),
        date=entry.date("date"),
        source=entry.text("source"),
        about=entry.text("about"),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return known
