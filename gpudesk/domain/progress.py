"""Progress of a long computation that runs in steps and can be canceled."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message

_T = TypeVar("_T")


@frozen_dataclass
class JobProgress:
    """Steps done and their total, 0 if unknown; `what` names them."""

    what: Message
    done: int = 0
    total: int = 0


#: Work in steps: it reports progress after each, can be canceled there, and finally returns its result.
ProgressSteps = Generator[JobProgress, None, _T]


def run_to_end(steps: ProgressSteps[_T]) -> _T:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: _T = done.value
            return result
