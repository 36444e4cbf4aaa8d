"""Worked examples: figures that documents print, and what arithmetic makes of their own inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpudesk.domain.answers import Term


class Verdict(StrEnum):
    """What arithmetic says of a printed figure."""

    REPRODUCED = "reproducible"
    REFUSED = "contradicted by arithmetic"
    NOT_DERIVABLE = "not derivable"


@dataclass(frozen=True, slots=True)
class Tolerance:
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
    `stated_low` to `stated_high` where either is given; all three are None where the document draws no
    conclusion. `stated_text` is the printed figure as it stands there. `expected` is what the formula gives,
    None where nothing can be derived.
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
    tolerance: Tolerance = Tolerance()
    verdict: Verdict = Verdict.NOT_DERIVABLE
    note: str = ""

    def judge(self, value: float | None) -> Verdict:
        """Return what a value that was worked out makes of the printed figure."""
        if value is None:
            return Verdict.NOT_DERIVABLE
        return Verdict.REPRODUCED if self._agrees(value) else Verdict.REFUSED

    def _agrees(self, value: float) -> bool:
        if self.stated is not None:
            return self.tolerance.holds(value, self.stated)
        low, high = self.stated_low, self.stated_high
        above = low is None or value >= low or self.tolerance.holds(value, low)
        below = high is None or value <= high or self.tolerance.holds(value, high)
        return above and below


@dataclass(frozen=True, slots=True)
class WorkedFigure:
    """An example with its working; None where nothing can be derived from what is printed."""

    example: WorkedExample
    working: Term | None

    @property
    def verdict(self) -> Verdict:
        """What the working makes of the printed figure."""
        return self.example.judge(None if self.working is None else self.working.number)
