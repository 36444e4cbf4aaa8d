"""What a sheet says beside an answer, where it was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.costs import CostAnswer
from gpudesk.domain.decisions import Decision, Flip
from gpudesk.domain.sizing import HowMany


@dataclass(frozen=True, slots=True)
class Further:
    """How many accelerators are needed, what they cost, which to take, and what would change that."""

    how_many: HowMany | None = None
    costs: CostAnswer | None = None
    decision: Decision | None = None
    flips: tuple[Flip, ...] = ()
