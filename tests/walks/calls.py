"""Counts the calls of the program's own functions while something is done."""

from __future__ import annotations

import inspect
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

import gpudesk

_ROOT = Path(gpudesk.__file__).parent
#: Comparison and hashes of dataclasses, which are not counted, as those of the standard library are not.
_DATACLASS_METHODS = str(_ROOT / "frozen_dataclass.py")
#: A module with nothing but a docstring uses the one name `__doc__`.
_NAMES_OF_EMPTY_MODULE = 1


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program: its file below gpudesk/, its name with that of its class, and its line."""

    file: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Walked:
    """What was touched of the program: the calls of its functions, and its files.

    The files are those with a function that was called, and those that were loaded meanwhile.
    """

    calls: dict[Function, int]
    files: frozenset[str]


class CallCounter:
    """Counts calls in the main thread. The bodies of modules and classes are not calls of functions."""

    def __init__(self) -> None:
        """Begin with none, and count none yet."""
        #: What was touched within each `counting`.
        self.walked_steps: list[Walked] = []
        self._calls: Counter[CodeType] = Counter()
        self._loaded: set[str] = set()
        self._is_own: dict[CodeType, bool] = {}
        self._counts = False
        self._prefix = f"{_ROOT}/"
        #: When a function of the program was last called, counted or not, on the clock `time.monotonic`.
        self.last_call_s = time.monotonic()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """See calls from here on; only those within `counting` are counted."""
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count calls from none on."""
        self._calls, self._loaded = Counter(), set()
        self._counts = True
        try:
            yield
        finally:
            self._counts = False
        self.walked_steps.append(self._walked())

    def _walked(self) -> Walked:
        calls: Counter[Function] = Counter()
        for code, count in self._calls.items():
            file = code.co_filename.removeprefix(self._prefix)
            calls[Function(file, code.co_qualname, code.co_firstlineno)] += count
        return Walked(dict(calls), frozenset(self._loaded | {function.file for function in calls}))

    def _profile(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        own = self._is_own.get(code)
        if own is None:
            own = self._is_own[code] = self._is_function(code)
        if own:
            self.last_call_s = time.monotonic()
            if self._counts:
                self._calls[code] += 1

    def _is_function(self, code: CodeType) -> bool:
        """Whether code is a function of the program; note the module where it is the body of one."""
        if not code.co_filename.startswith(self._prefix) or code.co_filename == _DATACLASS_METHODS:
            return False
        if self._counts and code.co_name == "<module>" and len(code.co_names) > _NAMES_OF_EMPTY_MODULE:
            self._loaded.add(code.co_filename.removeprefix(self._prefix))
        return bool(code.co_flags & inspect.CO_OPTIMIZED)
