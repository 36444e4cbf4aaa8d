"""What fills the memory of each accelerator, as bars against its capacity."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.letters import at_most, lines_of, widest, width
from gpudesk.desktop.printing.pieces import Piece
from gpudesk.desktop.printing.throughput import TITLE
from gpudesk.sheets.sheet import MemoryBar, Sheet
from gpudesk.text import tr

_BAR: Final = 10.0
_PITCH: Final = 19.0
#: Share of the width that names may take.
_NAMES: Final = 0.45
#: Inks of the parts of a bar, the first the darkest.
_INKS: Final = ("ink1", "ink2", "ink3")
#: Height of a line of the key, and the white above it.
_KEY_LINE: Final = 9.5
_ABOVE_KEY: Final = 2.0


class MemoryChart:
    """A bar for each accelerator."""

    def __init__(self, sheet: Sheet) -> None:
        """Take the bars."""
        self._bars = sheet.memory

    def piece(self, room: float, height: float) -> Piece:
        """Return the chart for a width and a height."""
        left = min(widest((bar.name for bar in self._bars), "group"), room * _NAMES) + 8
        tails = widest(map(_tail, self._bars), "small") + 7
        scale = (room - left - tails) / max(bar.extent for bar in self._bars)
        key = self._key(room)
        pitch = min(_PITCH, (height - TITLE - _ABOVE_KEY - key.height) / len(self._bars))
        height = TITLE + len(self._bars) * pitch + _ABOVE_KEY + key.height

        def draw(ink: Ink, x: float, y: float) -> None:
            ink.text(x, y + 8, tr("Memory, GiB"), style="group", colour="text1")
            for number, bar in enumerate(self._bars):
                middle = y + TITLE + (number + 0.5) * pitch
                name = at_most(lines_of(bar.name, "group", left - 8), 1, left - 8)[0][0].text
                ink.text(x, middle + 2.7, name, style="group", colour=f"slot{bar.slot}")
                _draw_bar(ink, bar, x + left, middle, min(_BAR, pitch * 0.62), scale)
            key.draw(ink, x, y + TITLE + len(self._bars) * pitch + _ABOVE_KEY)

        return Piece(height, draw)

    def _key(self, room: float) -> Piece:
        """Return the names of the parts with their inks, on as few lines as they take."""
        names = [name for name, _ in self._bars[0].parts]
        words = [*zip(_INKS, names, strict=True), ("sunken", tr("left free"))]
        places: list[tuple[float, int]] = []
        x, line = 0.0, 0
        for _, name in words:
            needed = 9 + width(name, "small")
            if x and x + needed > room:
                x, line = 0.0, line + 1
            places.append((x, line))
            x += needed + 10

        def draw(ink: Ink, left: float, y: float) -> None:
            for (start, row), (token, name) in zip(places, words, strict=True):
                baseline = y + 8 + row * _KEY_LINE
                ink.tint(left + start, baseline - 5.2, 6, 6, token, radius=1)
                ink.text(left + start + 9, baseline, name, style="small", colour="text2")

        return Piece(12 + line * _KEY_LINE, draw)


def _tail(bar: MemoryBar) -> str:
    return bar.label if bar.needed is None else tr("{needed} needed", needed=bar.needed)


def _draw_bar(ink: Ink, bar: MemoryBar, x: float, middle: float, height: float, scale: float) -> None:
    """Draw the parts, what exceeds the capacity, the capacity as a tick, and the figure at the end."""
    top = middle - height / 2
    full = bar.capacity * scale
    ink.tint(x, top, full, height, "sunken", radius=1.5)
    at = x
    for token, (_, size) in zip(_INKS, bar.parts, strict=True):
        wide = max(size * scale - 0.6, 0.0)
        ink.tint(at, top, wide, height, token, radius=min(1.5, wide / 2))
        if token == _INKS[0] and min(wide, full) > 22:
            ink.text(at + 4, middle + 2.5, f"{size:.0f}", style="small_strong", colour="page")
        at += size * scale
    if bar.needed is not None:
        beyond = (bar.extent - bar.capacity) * scale
        ink.tint(x + full, top, beyond, height, "unfit_tint", radius=0)
        ink.hatch(x + full, top, beyond, height, "unfit")
    ink.rule(x + full, top - 2.5, x + full, top + height + 2.5, colour="text1", width=1.4)
    colour = "text2" if bar.needed is None else "unfit"
    ink.text(x + bar.extent * scale + 5, middle + 2.5, _tail(bar), style="small", colour=colour)
