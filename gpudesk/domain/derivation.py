"""Derivations: terms with formula, value and source; worked examples of the source documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final

from gpudesk.text.messages import Message

_NOT_IN_NAMES: Final = re.compile(r"\W+")


@lru_cache(maxsize=512)
def to_placeholder(name: str) -> str:
    """Return the placeholder of an input in a formula."""
    return _NOT_IN_NAMES.sub("_", name).strip("_")


def format_placeholder(name: str) -> str:
    return f"{{{to_placeholder(name)}}}"


def format_sum(names: tuple[str, ...]) -> str:
    return " + ".join(format_placeholder(name) for name in names)


@dataclass(frozen=True, slots=True)
class DerivationTerm:
    """One node of a derivation: a quantity, its formula, and the input terms.

    `formula` has its inputs by name (`domain.formulas`), or explains in words; `unit` is the internal unit; `source`
    names the claim, constant or setting behind a leaf.
    """

    name: str
    value: float | str | None
    unit: str | None = None
    formula: str | None = None
    source: str | None = None
    inputs: tuple[DerivationTerm, ...] = ()
    note: Message | None = None

    @property
    def number(self) -> float:
        """The value for further computation; 0 without one."""
        return float(self.value) if isinstance(self.value, int | float) else 0.0


class WorkedExampleVerdict(StrEnum):
    """The result of checking a printed figure by calculation."""

    REPRODUCED = "reproducible"
    REFUSED = "contradicted by arithmetic"
    NOT_DERIVABLE = "not derivable"


@dataclass(frozen=True, slots=True)
class FigureTolerance:
    """Tolerance of a comparison: within `absolute` or `relative`; both 0 is exact."""

    absolute: float = 0.0
    relative: float = 0.0

    def holds(self, value: float, other: float) -> bool:
        """Whether two numbers agree; exact ones can differ by floating-point error."""
        room = max(self.absolute, self.relative * abs(other), 1e-9 * max(1.0, abs(other)))
        return abs(value - other) <= room


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One printed figure with the inputs that the document gives for it.

    `source` is the id of the document among the sources, None for a figure derived from several. `formula` names the
    calculation, `inputs` its numbers. The printed figure is `stated`, or between `stated_low` and `stated_high`; all
    three are None if the document draws no conclusion. `stated_text` is the printed figure verbatim. `expected` is the
    result of the formula, None if it cannot be derived.
    """

    id: str
    source: str | None
    statement: str
    formula: str | None
    inputs: Mapping[str, float] = field(default_factory=dict)
    stated: float | None = None
    stated_low: float | None = None
    stated_high: float | None = None
    stated_text: str = ""
    expected: float | None = None
    tolerance: FigureTolerance = FigureTolerance()
    verdict: WorkedExampleVerdict = WorkedExampleVerdict.NOT_DERIVABLE
    note: str = ""

    def judge(self, value: float | None) -> WorkedExampleVerdict:
        if value is None:
            return WorkedExampleVerdict.NOT_DERIVABLE
        return WorkedExampleVerdict.REPRODUCED if self._agrees(value) else WorkedExampleVerdict.REFUSED

    def _agrees(self, value: float) -> bool:
        if self.stated is not None:
            return self.tolerance.holds(value, self.stated)
        low, high = self.stated_low, self.stated_high
        above = low is None or value >= low or self.tolerance.holds(value, low)
        below = high is None or value <= high or self.tolerance.holds(value, high)
        return above and below


@dataclass(frozen=True, slots=True)
class WorkedFigure:
    """An example with its derivation; None if the printed data do not allow one."""

    example: WorkedExample
    working: DerivationTerm | None

    @property
    def verdict(self) -> WorkedExampleVerdict:
        return self.example.judge(None if self.working is None else self.working.number)
