"""Small drawings of a sheet as inline SVG: the swatch of an accelerator and the memory bars.

Each accelerator has a hue, a dash and a marker, so that paper without colour still tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from gpudesk.sheets.sheet import MemoryBar
from gpudesk.text import tr

#: Colour of each slot's mark on paper.
COLOURS: Final = (
    "#3458B6",
    "#AF4213",
    "#12A594",
    "#66274F",
    "#A4872D",
    "#377FB5",
    "#8B130C",
    "#6C6D6E",
)

_MARKERS: Final = (
    '<circle cx="12" cy="5" r="4"/>',
    '<rect x="8.3" y="1.3" width="7.4" height="7.4"/>',
    '<path d="M12 .8 16.4 8.6H7.6Z"/>',
    '<path d="M12 .4 16.6 5 12 9.6 7.4 5Z"/>',
    '<path d="M12 9.2 16.4 1.4H7.6Z"/>',
    '<path d="M8 1l8 8M16 1l-8 8"/>',
    '<path d="M12 .6 16.3 3.7 14.7 8.7H9.3L7.7 3.7Z"/>',
    '<path d="M12 .6 15.8 2.8V7.2L12 9.4 8.2 7.2V2.8Z"/>',
)
_CROSS: Final = 5

#: Strokes left and right of the marker: (start, end) pairs on a base line of 24.
_STROKES: Final = (
    ((0, 24),),
    ((0, 5), (19, 24)),
    ((0, 2), (4, 6), (18, 20), (22, 24)),
    ((0, 1.5), (3, 6), (18, 21), (22.5, 24)),
    ((0, 6), (18, 24)),
    ((0, 4), (20, 24)),
    ((0, 1), (2.5, 6), (18, 21.5), (23, 24)),
    ((0, 1), (3, 4.5), (19.5, 21), (23, 24)),
)

#: Fills of the parts of a memory bar, the first the darkest.
_INKS: Final = ("#5B6470", "#9AA3AF", "#C9CFD7")
#: The same where they are more than there is.
_SHORT_INKS: Final = ("#A8321F", "#F3CDC6", "#FBEBE8")

_LEFT, _WIDTH, _PITCH, _HEIGHT = 70.0, 190.0, 17.0, 11.0


def swatch(slot: int, *, hollow: bool = False) -> str:
    """Return the key of an accelerator's slot, counted from 1; the second of one part is hollow."""
    position = (slot - 1) % len(COLOURS)
    colour = COLOURS[position]
    # A cross is a line itself; the other markers are set off by the colour of the paper.
    line = f'stroke="{colour}" stroke-width="{1.3 if hollow else 2.2}"'
    edge = line if hollow or position == _CROSS else 'stroke="#fff" stroke-width=".8"'
    fill = '"#fff"' if hollow else f'"{colour}"'
    lines = "".join(f"M{start} 5H{end}" for start, end in _STROKES[position])
    return (
        '<svg class="swatch" viewBox="0 0 24 10" width="24" height="10" aria-hidden="true">'
        f'<path d="{lines}" stroke="{colour}" stroke-width="2" fill="none"/>'
        f"<g {edge} fill={fill}>{_MARKERS[position]}</g></svg>"
    )


def memory_chart(bars: Sequence[MemoryBar]) -> str:
    """Return bars of what fills the memory, against each part's capacity."""
    most = max(bar.extent for bar in bars)
    height = _PITCH * len(bars) + 2
    drawn = "".join(_bar(bar, position, _WIDTH / most) for position, bar in enumerate(bars))
    label = "; ".join(_spoken(bar) for bar in bars)
    return (
        f'<svg class="chart" viewBox="0 0 {_LEFT + _WIDTH + 44:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{drawn}</svg>'
    )


def _spoken(bar: MemoryBar) -> str:
    """Return a bar in words, for those who hear the sheet."""
    parts = ", ".join(f"{name} {size:.0f}" for name, size in bar.parts)
    said = tr("{name}: {parts} of {capacity} GiB", name=bar.name, parts=parts, capacity=bar.label)
    return said if bar.needed is None else f"{said}, {_needed(bar)}"


def _needed(bar: MemoryBar) -> str:
    return tr("does not fit: {needed} needed", needed=bar.needed)


def _bar(bar: MemoryBar, position: int, scale: float) -> str:
    top = position * _PITCH + 2
    middle = top + _HEIGHT / 2 + 4
    drawn = [
        f'<text x="0" y="{middle:g}" class="slot{bar.slot} name">{escape(bar.name)}</text>',
        _block(_LEFT, top, bar.capacity * scale, "#EFF1F3"),
    ]
    x = _LEFT
    inks = _INKS if bar.needed is None else _SHORT_INKS
    for ink, (_, size) in zip(inks, bar.parts, strict=True):
        width = max(size * scale - 1, 0)
        drawn.append(_block(x, top, width, ink))
        if ink is inks[0] and width > 24:
            drawn.append(f'<text x="{x + 6:.1f}" y="{middle:g}" fill="#fff">{size:.0f}</text>')
        x += size * scale
    end = _LEFT + bar.capacity * scale
    drawn.append(
        f'<path d="M{end:.1f} {top - 2:g}V{top + _HEIGHT + 2:g}" stroke="#16191D" stroke-width="2"/>'
    )
    label = bar.label if bar.needed is None else bar.needed
    css_class = "" if bar.needed is None else ' class="fails"'
    place = _LEFT + bar.extent * scale + 6
    drawn.append(f'<text x="{place:.1f}" y="{middle:g}"{css_class}>{escape(label)}</text>')
    return "".join(drawn)


def _block(x: float, top: float, width: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{_HEIGHT:g}" rx="1.5" fill="{fill}"/>'


def memory_legend(bar: MemoryBar) -> str:
    """Return the key of the parts of a bar."""
    return "".join(
        f'<span><i style="background:{ink}"></i>{escape(name)}</span>'
        for ink, (name, _) in zip(_INKS, bar.parts, strict=True)
    )
