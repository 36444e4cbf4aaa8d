"""How far a longer piece of work is, as whoever waits for it is told."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from gpudesk.domain.messages import Message

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done of how many; `what` names them. Where the total is not known yet it is 0."""

    what: Message
    done: int = 0
    total: int = 0


#: Work in steps: it says after each how far it is, can be stopped there, and returns its result in the end.
Steps = Generator[Progress, None, _T]


def finished(steps: Steps[_T]) -> _T:
    """Return the result of work in steps, done without a stop."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: _T = done.value
            return result
