"""Faults as they are kept: what tells one from another, and how often each has come."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from types import TracebackType
from typing import Final

#: Frames next to where it happened that tell one fault from another.
_INNERMOST: Final = 3
#: A trace is kept up to so many characters: its beginning and, mostly, its end.
_LONGEST: Final = 24_000
_HEAD: Final = 4_000
_PACKAGE: Final = "gpudesk"

#: What is the same whenever a fault comes again.
Signature = tuple[str, tuple[tuple[str, str, int], ...]]


@dataclass(slots=True)
class Fault:
    """One distinct fault, with the trace of the first time; the error itself would keep alive what it met."""

    kind: str
    place: str
    trace: str
    first: datetime = field(default_factory=lambda: datetime.now().astimezone())
    last: datetime = field(default_factory=lambda: datetime.now().astimezone())
    count: int = 1

    def again(self, count: int) -> None:
        """Note that it has come again, the so-manieth time."""
        self.count, self.last = count, datetime.now().astimezone()


def signature_of(kind: type[BaseException], trace: TracebackType | None) -> Signature:
    """Return type and innermost frames: never the message, which may hold addresses and values."""
    frames: list[tuple[str, str, int]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((code.co_filename, code.co_name, trace.tb_lineno))
        del frames[:-_INNERMOST]
        trace = trace.tb_next
    return (f"{kind.__module__}.{kind.__qualname__}", tuple(frames))


def fault_of(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, thread: str = ""
) -> Fault:
    """Return a fault as text; `thread` names the one that it came in, where that is not the window's."""
    text = "".join(traceback.format_exception(kind, error, trace))
    if len(text) > _LONGEST:
        text = f"{text[:_HEAD]}\n[…]\n{text[_HEAD - _LONGEST :]}"
    return Fault(kind.__name__, _place(trace), f"In the thread {thread}\n{text}" if thread else text)


def _place(trace: TracebackType | None) -> str:
    """Return the innermost line of our own code, else the innermost there is; empty without a trace."""
    place = ""
    is_ours = False
    for frame in traceback.extract_tb(trace) if trace is not None else ():
        parts = PurePath(frame.filename).parts
        ours = _PACKAGE in parts
        if ours or not is_ours:
            is_ours = is_ours or ours
            start = len(parts) - parts[::-1].index(_PACKAGE) if ours else -1
            place = f"{'/'.join(parts[start:])}:{frame.lineno}"
    return place


class Tally:
    """Counts what comes again and again; safe to use from every thread.

    Of a storm only the doublings are worth a line, and only so many different things are told apart.
    """

    def __init__(self, most: int = 200) -> None:
        """Begin with nothing counted."""
        self._most = most
        self._lock = threading.Lock()
        self._counts: dict[Hashable, int] = {}

    def count(self, key: Hashable) -> int:
        """Count once more and return how often that was; 0 where there are too many different things."""
        with self._lock:
            if key not in self._counts and len(self._counts) >= self._most:
                return 0
            self._counts[key] = self._counts.get(key, 0) + 1
            return self._counts[key]

    @staticmethod
    def is_worth_a_line(count: int) -> bool:
        """Whether this is the first time, the second, the fourth, the eighth, and so on."""
        return count > 0 and count & (count - 1) == 0

    def ends(self) -> list[tuple[Hashable, int]]:
        """Return what has come more often than its last line says."""
        with self._lock:
            return [(key, count) for key, count in self._counts.items() if not self.is_worth_a_line(count)]
