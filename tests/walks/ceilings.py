"""How much of the program each walk may touch: today, and in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that may be measured, now and in the end; the two are the same once the goal is reached."""

    now: int
    goal: int


#: Per walk: files of the program that it touches.
FILES: Final = {
    # Of these, one paints an icon that may have been painted before.
    "slider": Ceiling(now=45, goal=45),
    "wizard": Ceiling(now=78, goal=78),
    "pdf": Ceiling(now=80, goal=80),
    "explain": Ceiling(now=71, goal=71),
}
#: Per walk where it counts: calls of functions of the program.
CALLS: Final = {"slider": Ceiling(now=2000, goal=2000)}
