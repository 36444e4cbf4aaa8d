"""Numbers that are not known exactly."""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """A number that is not known: at least `low`, most likely `likely`, at most `high`."""

    low: float
    likely: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Range:
        """Return the range of a number that is known."""
        return cls(value, value, value)

    @classmethod
    def around(cls, likely: float, share: float) -> Range:
        """Return the range of a share on either side."""
        ends = sorted((likely * (1.0 - share), likely * (1.0 + share)))
        return cls(ends[0], likely, ends[1])

    @property
    def is_known(self) -> bool:
        """Whether there is nothing to draw."""
        return self.low == self.high

    @property
    def in_order(self) -> bool:
        """Whether the likely number lies between the ends."""
        return self.low <= self.likely <= self.high
