"""Where the parts of the bar chart lie, the same for all rows, so that they stand below one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtGui import QFontMetricsF

from gpudesk.desktop.pages.memory.bars import MemoryBar, remedy_text
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import Formatter

#: Lengths of the design: a row, the bar in it, and two lines of text beside it.
ROW: Final = 54.0
BAR_TOP: Final = 19.0
BAR: Final = 26.0
LINE_APART: Final = 16.0
SWATCH: Final = 28.0
GLYPH: Final = 23.0
LINK_GAP: Final = 10.0
_BETWEEN: Final = 16.0
_MOST_NAME: Final = 190.0
_LEAST_NAME: Final = 112.0
_LEAST_VERDICT: Final = 180.0
_LEAST_BAR: Final = 180.0
#: Narrower than this the chart does not get.
LEAST_WIDTH: Final = 560.0
#: Room for the figure beyond the end of the longest bar.
_TAIL: Final = 8.0


@dataclass(frozen=True, slots=True)
class Measures:
    """Pixels: the bars run from `left` over `width` for `extent` bytes; the verdicts begin at `verdict`."""

    left: float
    width: float
    verdict: float
    total: float
    extent: float

    def x(self, size: float) -> float:
        """Return where a number of bytes from the left end lies."""
        return self.left + self.width * size / self.extent


def measure(
    bars: Sequence[MemoryBar], extent: float, total: float, theme: Theme, formatter: Formatter
) -> Measures:
    """Divide `total` pixels among names, bars of up to `extent` bytes, and verdicts."""
    section = QFontMetricsF(theme.font("section"))
    small, caption = QFontMetricsF(theme.font("small")), QFontMetricsF(theme.font("caption"))
    names = max(
        (max(section.horizontalAdvance(b.name), caption.horizontalAdvance(b.deployment)) for b in bars),
        default=0.0,
    )
    left = theme.length(SWATCH) + min(
        max(names, theme.length(_LEAST_NAME - SWATCH)), theme.length(_MOST_NAME)
    )
    left += theme.length(_BETWEEN)
    verdict = theme.length(_LEAST_VERDICT)
    for bar in bars:
        below = small.horizontalAdvance(bar.detail) if bar.parts else 0.0
        for way in bar.remedies:
            below += theme.length(LINK_GAP) + small.horizontalAdvance(remedy_text(way, formatter)) + 4
        widest = max(section.horizontalAdvance(bar.headline), below)
        verdict = max(verdict, theme.length(GLYPH) + widest + 2)
    width = max(theme.length(_LEAST_BAR), total - left - verdict - theme.length(_BETWEEN))
    # The figure "237 needed" stands behind the end of its bar and must have room before the verdict.
    tail = max(
        (caption.horizontalAdvance(b.needed_text) for b in bars if b.needed > b.usable > 0), default=0.0
    )
    longest = max((b.needed for b in bars if b.needed > b.usable > 0), default=0)
    if longest:
        beyond = width * longest / extent + tail + theme.length(_TAIL) * 2 - width
        width -= max(0.0, beyond)
    return Measures(left, width, total - verdict, total, extent)


def held(before: Measures | None, now: Measures) -> Measures:
    """Return measures in which nothing moves to and fro while something is dragged: room is only given up."""
    if before is None or (before.total, before.extent) != (now.total, now.extent):
        return now
    return replace(
        now,
        left=max(before.left, now.left),
        width=min(before.width, now.width),
        verdict=min(before.verdict, now.verdict),
    )
