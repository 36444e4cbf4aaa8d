"""Four readings of a memory label, with which published counts of accelerators can be checked.

A label such as 80 or 192 is read as gigabytes or as gibibytes, whole or with a tenth kept free. Published
tables seldom say which; these readings say what each of them gives. Answers never use them: they know the
memory that a device exposes, and what a serving engine takes of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.fit_matrix import ReadingId
from gpudesk.domain.units import GB, GIB

#: Deployment sizes that the readings with a reserve round up to.
OFFERED_COUNTS: Final = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class CapacityReading:
    """How a memory label is read.

    `unit_bytes` is one unit of the label, `usable` the share of it that weights may take. With
    `rounds_up` a count is one of `OFFERED_COUNTS`, or the next power of two beyond them.
    """

    id: ReadingId
    unit_bytes: int
    usable: float
    rounds_up: bool

    def usable_bytes(self, label: float) -> float:
        """Return what weights may take of one accelerator with this memory label, in bytes."""
        return label * self.unit_bytes * self.usable

    def count(self, weights_bytes: float, label: float) -> int:
        """Return how many accelerators hold the weights alone: ceil(weights / usable), then rounded.

        Raises ValueError for a label or weights that are not above 0.
        """
        if label <= 0 or weights_bytes <= 0:
            raise ValueError(f"label {label} and weights {weights_bytes} must be above 0")
        needed = math.ceil(weights_bytes / self.usable_bytes(label))
        return power_of_two(needed) if self.rounds_up else needed


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`; raises ValueError below 1."""
    if count < 1:
        raise ValueError(f"{count} is below 1")
    return 1 << (count - 1).bit_length()


#: A tenth kept free, as the published counts with a reserve have it.
_RESERVED: Final = 0.9

READINGS: Final = {
    each.id: each
    for each in (
        CapacityReading(ReadingId.DECIMAL, GB, 1.0, rounds_up=False),
        CapacityReading(ReadingId.BINARY, GIB, 1.0, rounds_up=False),
        CapacityReading(ReadingId.DECIMAL_RESERVED, GB, _RESERVED, rounds_up=True),
        CapacityReading(ReadingId.BINARY_RESERVED, GIB, _RESERVED, rounds_up=True),
    )
}
