"""Steps of a purchase: what to ask a vendor for, when that applies, its figures, and what is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.domain.decisions import Tested

#: What a step can depend on: accelerators in the order, whether a rival's quote is at hand, and whether the
#: workload runs on the platforms of both vendors.
STEP_FACTS: Final = ("fleet_size", "competing_quote", "both_platforms")

#: Steps and points that are done, by their ids, each with what the user notes.
Done = Mapping[str, str]


class StepStrength(StrEnum):
    """How much a step matters to the document that gives it."""

    STRONG = "strong"
    MILD = "mild"


@dataclass(frozen=True, slots=True)
class StepFigure:
    """A figure that belongs to a step: one value, or from `value` to `high`, in `unit`.

    `statements`, `disputes` and `worked` (printed figures that are worked out again) are ids. `anecdotal` is
    what rests on unnamed persons.
    """

    label: str
    value: float
    unit: str
    high: float | None = None
    dated: str | None = None
    accelerators: tuple[str, ...] = ()
    anecdotal: bool = False
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckPoint:
    """One point of a step that can be ticked by itself."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ProcurementStep:
    """A step of a purchase in the program's words.

    `when` is the condition under which it applies, None for always; `otherwise` says what holds where it
    does not. `until` is the last ISO month of the time that its document had in mind.
    """

    id: str
    source: str
    dated: str
    strength: StepStrength
    title: str
    ask: str
    why: str
    when: str | None = None
    otherwise: str | None = None
    until: str | None = None
    figures: tuple[StepFigure, ...] = ()
    points: tuple[CheckPoint, ...] = ()
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PointLine:
    """A point and whether it is done, with the user's note."""

    point: CheckPoint
    done: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step here and now: `applies` is None where that cannot be told.

    `tested` are the comparisons behind it and `missing` the facts that it lacks; `past` is whether the time
    that the document had in mind is over.
    """

    step: ProcurementStep
    applies: bool | None
    tested: tuple[Tested, ...]
    missing: tuple[str, ...]
    past: bool
    done: bool
    note: str
    points: tuple[PointLine, ...]

    @property
    def open_points(self) -> int:
        """How many points are still to be done; none once the step is."""
        return 0 if self.done else sum(not each.done for each in self.points)


@dataclass(frozen=True, slots=True)
class NegotiationSheet:
    """All steps in their order."""

    lines: tuple[StepLine, ...]

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(line.done for line in self.lines)
