"""Progress of a long computation that runs in steps and can be stopped."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from gpudesk.text.messages import Message

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class JobProgress:
    """What is done of how many; `what` names them. Where the total is not known yet it is 0."""

    what: Message
    done: int = 0
    total: int = 0


#: Work in steps: it says after each how far it is, can be stopped there, and returns its result in the end.
ProgressSteps = Generator[JobProgress, None, _T]


def run_to_end(steps: ProgressSteps[_T]) -> _T:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: _T = done.value
            return result
