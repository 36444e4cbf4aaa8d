"""What kinds of memory can do, as their standards and the parts that use them show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_GIGA: Final = 1e9
#: A channel of graphics memory is as wide as its chip.
_CHIP_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class StackedMemory:
    """Memory in stacks: bytes/s of one stack in known parts and at the most, and the sizes of one in GiB.

    Parts can leave `1 - least_filled` of a stack unused.
    """

    name: str
    slow: float
    fast: float
    fastest: float
    sizes_gib: tuple[int, ...]
    largest_gib: int
    least_filled: float = 0.88


@dataclass(frozen=True, slots=True)
class GraphicsMemory:
    """Memory in single chips: bits/s a pin, the widest bus, and the most GiB on one channel of 32 bits."""

    name: str
    slowest_gbit: float
    fastest_gbit: float
    widest_bits: int
    most_gib_a_channel: int

    @property
    def fastest(self) -> float:
        """Bytes/s over the widest bus, with a tenth for what is to come."""
        return 1.1 * self.widest_bits / 8 * self.fastest_gbit * _GIGA

    def most_gib(self, bandwidth: float) -> float:
        """Return the memory that the bus of a bandwidth carries at the most, where its chips are slow."""
        channels = bandwidth * 8 / (self.slowest_gbit * _GIGA) / _CHIP_BITS
        return channels * self.most_gib_a_channel


_STACKED: Final = (
    StackedMemory("HBM2", 180e9, 310e9, 340e9, (4, 8), 8),
    StackedMemory("HBM2e", 320e9, 465e9, 500e9, (8, 16), 24),
    StackedMemory("HBM3", 480e9, 820e9, 880e9, (16, 24), 24),
    StackedMemory("HBM3e", 700e9, 1260e9, 1400e9, (24, 36), 48),
    StackedMemory("HBM4", 1600e9, 2850e9, 3400e9, (24, 36, 48), 64),
    # Where a source does not say which.
    StackedMemory("HBM", 180e9, 2850e9, 3400e9, (4, 8, 16, 24, 36, 48), 64),
)
_GRAPHICS: Final = (
    GraphicsMemory("GDDR6", 12, 20, 512, 4),
    GraphicsMemory("GDDR6X", 19, 24, 512, 4),
    GraphicsMemory("GDDR7", 24, 36, 512, 8),
    GraphicsMemory("LPDDR5", 5.5, 6.4, 1024, 32),
    GraphicsMemory("LPDDR5X", 6.4, 10.7, 1024, 32),
)
_BY_NAME: Final = {each.name.upper(): each for each in (*_STACKED, *_GRAPHICS)}


def memory_type(name: str) -> StackedMemory | GraphicsMemory | None:
    """Return the kind of memory of a name as sources write it, `HBM3E`; None for an unknown one."""
    word = re.sub(r"[\s-]+", "", name).upper()
    return _BY_NAME.get(word)
