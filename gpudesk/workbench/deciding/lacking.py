"""What a cost cannot be told without, said by accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpudesk.domain.answers import Column
from gpudesk.domain.messages import Message, message
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.formulas import THROUGHPUT

#: Inputs that can be missing -> the key of the word that names them.
_WORDS: Final = {
    "price_usd": "lacks.price",
    "accelerator_w": "lacks.power",
    "rent_usd_per_hour": "lacks.rent",
}


def lacking(found: Situation, column: Column, needed: tuple[str, ...]) -> Iterator[Message]:
    """Yield what a column lacks of the inputs needed: why it has no throughput, and which figures."""
    name = column.accelerator.name
    for each in needed:
        if each == THROUGHPUT:
            if found.deployment is None:
                yield message("deciding.no_throughput", accelerator=name)
                yield from _why_not(column)
        elif each not in found.values:
            yield message("deciding.lacks", accelerator=name, kind=_WORDS[each])


def _why_not(column: Column) -> Iterator[Message]:
    """Yield the problem of a column, or why its deployment does not fit or gives no figure."""
    estimate = column.estimate
    if column.problem is not None:
        yield column.problem
    elif estimate is not None and estimate.reason is not None:
        yield estimate.reason
    elif estimate is not None:
        yield from estimate.notes
