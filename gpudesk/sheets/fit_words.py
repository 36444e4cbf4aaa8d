"""Which accelerators hold which models, in words: what a cell says, how much room it leaves, the readings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.fit_matrix import FitCell, FitQuestion, ReadingId
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.models import Model
from gpudesk.sentences import plan_name, sentence
from gpudesk.sheets.labels import engine_name, precision_name
from gpudesk.text import tr, trn

#: Shares of the usable memory of the fullest accelerator: from here on room is ample, below here tight.
AMPLE: Final = 0.25
TIGHT: Final = 0.10


class Room(StrEnum):
    """How much of the usable memory a deployment leaves."""

    AMPLE = "ample"
    SOME = "some"
    TIGHT = "tight"


#: Names of the readings of a memory label, and what they do.
_READINGS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        ReadingId.DECIMAL: ("Label in GB", "the label read as GB"),
        ReadingId.BINARY: ("Label in GiB", "the label read as GiB"),
        ReadingId.DECIMAL_RESERVED: (
            "GB, 10 % reserve",
            "the label read as GB with a tenth kept free, counts of 1, 2, 4, 8, 16",
        ),
        ReadingId.BINARY_RESERVED: (
            "GiB, 10 % reserve",
            "the label read as GiB with a tenth kept free, counts of 1, 2, 4, 8, 16",
        ),
    }
)


def reading_name(key: str) -> str:
    """Return what a reading is called."""
    return tr(_READINGS[key][0])


def reading_note(key: str) -> str:
    """Return what a reading does, and what it is for."""
    return tr(
        "For checking printed figures, never what answers use: weights alone, {how}",
        how=tr(_READINGS[key][1]),
    )


def share_left(cell: FitCell) -> float:
    """Return the share of the usable memory that is left on the fullest accelerator, 0 without any."""
    return (cell.headroom_bytes or 0) / cell.usable_bytes if cell.usable_bytes else 0.0


def room_of(share: float) -> Room:
    """Return how much room a share of the usable memory is."""
    # As it is shown, so that no figure stands on two tints.
    shown = round(share, 2)
    return Room.AMPLE if shown >= AMPLE else Room.TIGHT if shown < TIGHT else Room.SOME


def question_text(question: FitQuestion, formatter: Formatter) -> str:
    """Return what every cell is asked: formats, tokens and sequences."""
    held = trn(
        "{n} sequence of {tokens} tokens",
        "{n} sequences of {tokens} tokens",
        question.concurrency,
        n=formatter.count(question.concurrency),
        tokens=formatter.count(question.context),
    )
    return tr(
        "{weights} weights, {kv} KV cache, {held}",
        weights=precision_name(question.weights),
        kv=precision_name(question.kv),
        held=held,
    )


def cell_sentence(cell: FitCell, part: str, model: Model, question: FitQuestion, formatter: Formatter) -> str:
    """Return all that a cell of the estimator says; `part` is what the accelerator is called."""
    weights = precision_name(cell.weights)
    if cell.count is None or cell.plan is None:
        reason = "" if cell.reason is None else sentence(cell.reason, formatter)
        return tr(
            "{model} on {part}, {weights} weights: none. {reason}",
            model=model.name,
            part=part,
            weights=weights,
            reason=reason[:1].upper() + reason[1:],
        )
    said = trn(
        "{model} on {part}, {weights} weights: {n} holds it on {engine}; {left} of {usable} GiB usable left, "
        "{share}",
        "{model} on {part}, {weights} weights: {n} hold it on {engine} with {plan}; {left} of {usable} GiB "
        "usable left on the fullest, {share}",
        cell.count,
        model=model.name,
        part=part,
        weights=weights,
        n=formatter.count(cell.count),
        plan=plan_name(cell.plan),
        engine=engine_name(cell.serving_engine or ""),
        left=formatter.gib(cell.headroom_bytes),
        usable=formatter.gib(cell.usable_bytes),
        share=formatter.per_cent(share_left(cell)),
    )
    longest = model.max_context
    if longest is None or question.context <= longest:
        return said
    return tr("{said}. The model reads {n} tokens at the most", said=said, n=formatter.count(longest))


def reading_sentence(cell: FitCell, part: str, model: Model, formatter: Formatter) -> str:
    """Return what a cell of a reading says: the weights, what one accelerator takes, and the count."""
    if cell.count is None or cell.usable_bytes is None or cell.headroom_bytes is None:
        reason = "" if cell.reason is None else sentence(cell.reason, formatter)
        return tr(
            "{model} on {part}: no count by this reading. {reason}",
            model=model.name,
            part=part,
            reason=reason[:1].upper() + reason[1:],
        )
    needed = (cell.usable_bytes - cell.headroom_bytes) * cell.count
    return tr(
        "{model} on {part}: {n} by this reading. {needed} GB of {weights} weights, {usable} GB in each",
        model=model.name,
        part=part,
        n=formatter.count(cell.count),
        weights=precision_name(cell.weights),
        needed=formatter.gb(needed),
        usable=formatter.gb(cell.usable_bytes),
    )
