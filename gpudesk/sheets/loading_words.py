"""The time to load weights in words: each formula with its numbers, quoted rates, why a time is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpudesk.domain.answers import Term
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.weight_loading import LoadTime, QuotedLink, WeightLoading
from gpudesk.sentences import sentence
from gpudesk.sheets.support_words import day_text
from gpudesk.sheets.terms import numeric_formula, term_label, term_value
from gpudesk.text import tr, trn

_SPACE: Final = "\N{NO-BREAK SPACE}"
#: The space between a number and its unit.
_UNIT: Final = re.compile(r"(?<=\d) (?=(?:[KMGT]?i?B(?:/s)?|m?s)(?!\w))")


def weights_text(loading: WeightLoading, formatter: Formatter) -> str:
    """Return what is loaded into the fullest accelerator."""
    return formatter.memory(loading.weights_bytes)


def time_text(time: LoadTime, formatter: Formatter) -> str:
    """Return the time, or that it is not known."""
    return tr("unknown") if time.seconds is None else formatter.quantity(time.seconds, "s")


def working_lines(time: LoadTime, formatter: Formatter) -> tuple[str, ...]:
    """Return each formula with the numbers in it, or why the time is not known."""
    if time.seconds is None:
        lines = [] if time.reason is None else [tr("{reason}.", reason=sentence(time.reason, formatter))]
        if time.storage_s is not None:
            lines.append(tr("From storage alone: {time}.", time=formatter.quantity(time.storage_s, "s")))
        return tuple(lines)
    # The time itself is one of what it is made of, or the larger of two.
    lines = [line for each in time.working.inputs for line in _steps(each, formatter)]
    if time.storage_s is not None:
        lines.append(tr("The slower of both sets the time."))
    return tuple(lines)


def _steps(term: Term, formatter: Formatter) -> Iterator[str]:
    """Yield the terms that are worked out from numbers, those that others rest on first."""
    for each in term.inputs:
        yield from _steps(each, formatter)
    if term.formula is not None and "{" in term.formula and term.value is not None:
        value, unit = term_value(term, formatter)
        yield tr(
            "{name}: {formula} = {value}",
            name=term_label(term.name),
            formula=_glued(numeric_formula(term, formatter) or ""),
            value=value if unit is None else f"{value}{_SPACE}{unit}",
        )


def _glued(text: str) -> str:
    """Return a text in which no number is parted from its unit at the end of a line."""
    return _UNIT.sub(_SPACE, text)


def quoted_text(quoted: QuotedLink, formatter: Formatter) -> str:
    """Return what a document states of the host link, and how long loading would take at that."""
    rate = formatter.quantity(quoted.low_bytes_per_s, "B/s")
    time = formatter.quantity(quoted.slowest_s, "s")
    if quoted.high_bytes_per_s != quoted.low_bytes_per_s:
        rate = tr("{low} to {high}", low=rate, high=formatter.quantity(quoted.high_bytes_per_s, "B/s"))
        time = tr("{slow} to {fast}", slow=time, fast=formatter.quantity(quoted.fastest_s, "s"))
    said = tr(
        "{claim} states {rate} ({day}), at which it would take {time}",
        claim=quoted.claim,
        rate=rate,
        day=day_text(quoted.dated),
        time=time,
    )
    return _glued(said)


def in_host_text(loading: WeightLoading, formatter: Formatter) -> str:
    """Return how many accelerators of the deployment share a host."""
    count = loading.in_host
    if count is None:
        return UNKNOWN
    return trn("{n} in a host", "{n} in a host", count, n=formatter.count(count))


def unknown_text(problem: Message, formatter: Formatter) -> str:
    """Return that a column has no time to load, and why."""
    return tr("unknown: {reason}", reason=sentence(problem, formatter))


def note_lines(loading: WeightLoading, formatter: Formatter) -> tuple[str, ...]:
    """Return what the times rest on, and what they leave out."""
    return tuple(sentence(note, formatter) for note in loading.notes)
