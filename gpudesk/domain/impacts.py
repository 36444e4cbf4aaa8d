"""Impacts: what a change of facts does to the answer of a scenario, by the answers' own verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.answers import Answer
from gpudesk.domain.estimates import Banded, Estimate


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure of one column that is another now; None where there was or is none."""

    figure: str
    before: Banded | None
    after: Banded | None

    @property
    def ratio(self) -> float | None:
        """What it is now over what it was; None where either is missing or nothing."""
        if self.before is None or self.after is None or not self.before.value:
            return None
        return self.after.value / self.before.value


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """One column whose result is another now, by its key, with the figures that changed."""

    key: str
    before: Estimate | None
    after: Estimate | None
    figures: tuple[FigureChange, ...]

    @property
    def fitted(self) -> bool:
        """Whether the deployment did fit."""
        return self.before is not None and self.before.fits

    @property
    def fits(self) -> bool:
        """Whether the deployment does fit now."""
        return self.after is not None and self.after.fits


@dataclass(frozen=True, slots=True)
class LeadChange:
    """The keys of those that lead at a figure, and of those that did; several of them are no winner."""

    figure: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def moved(self) -> bool:
        """Whether others lead than before."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Impact:
    """What became of an answer: the columns that changed, and who leads at what."""

    before: Answer
    after: Answer
    columns: tuple[ColumnChange, ...]
    leads: tuple[LeadChange, ...]

    @property
    def unchanged(self) -> bool:
        """Whether every result is the same to the last digit."""
        return not self.columns and not any(lead.moved for lead in self.leads)
