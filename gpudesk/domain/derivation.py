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
    """Return what stands between the braces of a formula for an input of that name."""
    return _NOT_IN_NAMES.sub("_", name).strip("_")


def format_placeholder(name: str) -> str:
    return f"{{{to_placeholder(name)}}}"


def format_sum(names: tuple[str, ...]) -> str:
    return " + ".join(format_placeholder(name) for name in names)


@dataclass(frozen=True, slots=True)
class DerivationTerm:
    """One node of a derivation: a quantity, the formula that gives it, and the terms that enter.

    `formula` holds its inputs by their names (`domain.formulas`), or says in words what no formula would;
    `unit` is the unit used inside; `source` names the claim, constant or setting that a leaf comes from.
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
        """The value to count on with; 0 if none exists."""
        return float(self.value) if isinstance(self.value, int | float) else 0.0


class WorkedExampleVerdict(StrEnum):
    """What arithmetic says of a printed figure."""

    REPRODUCED = "reproducible"
    REFUSED = "contradicted by arithmetic"
    NOT_DERIVABLE = "not derivable"


@dataclass(frozen=True, slots=True)
class FigureTolerance:
    """How near is near enough: within `absolute` or `relative` of what is compared with; both 0 is exact."""

    absolute: float = 0.0
    relative: float = 0.0

    def holds(self, value: float, other: float) -> bool:
        """Whether two numbers agree; exact ones may differ by what floating point does."""
        room = max(self.absolute, self.relative * abs(other), 1e-9 * max(1.0, abs(other)))
        return abs(value - other) <= room


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One printed figure with the inputs that the document gives for it.

    `source` is the id of the document among the sources, None for a figure that follows from several.
    `formula` names the calculation, `inputs` its numbers. What is printed is `stated`, or lies from
    `stated_low` to `stated_high` where either is given; all three are None if the document draws no
    conclusion. `stated_text` is the printed figure as it stands there. `expected` is what the formula gives,
    None if nothing can be derived.
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
    """An example with its working; None if nothing can be derived from what is printed."""

    example: WorkedExample
    working: DerivationTerm | None

    @property
    def verdict(self) -> WorkedExampleVerdict:
        return self.example.judge(None if self.working is None else self.working.number)
