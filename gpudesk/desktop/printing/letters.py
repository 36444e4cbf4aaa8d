"""Letters on paper: how wide texts are, and where their lines break. All lengths are points.

Widths are measured with large letters and scaled down, so that they do not depend on the device that the
sheet is drawn on: screen, printer and PDF break the same lines at the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from PySide6.QtGui import QFont, QFontMetricsF

from gpudesk.desktop.theme.fonts import make_font
from gpudesk.desktop.theme.tokens import PAPER_TYPE

#: Units of the painter in a point: fonts have whole sizes in units, so that points may have parts.
UNITS: Final = 20

_ELLIPSIS: Final = "…"

#: Size in points, weight and distance of lines: the styles of paper, and those that only running text has.
_STYLES: Final[dict[str, tuple[float, int, float]]] = {
    **{name: (style.pixels, style.weight, style.line) for name, style in PAPER_TYPE.items()},
    "raised": (6, 500, 7),
    "fine": (6.4, 400, 7.8),
    "fine_strong": (6.4, 500, 7.8),
    "fine_number": (6.4, 600, 7.8),
}


@dataclass(frozen=True, slots=True)
class Run:
    """Words in one style: a token of `PAPER_TYPE` and a token of colour."""

    text: str
    style: str = "small"
    colour: str = "text1"


@dataclass(frozen=True, slots=True)
class Placed:
    """Words of a run on a line, from the line's left end."""

    x: float
    text: str
    style: str
    colour: str


Line = tuple[Placed, ...]

#: Letters of a word that are not worth keeping before an ellipsis.
_LONGEST_CUT: Final = 10
#: Digits of a group of thousands.
_GROUP: Final = 3
#: What stands behind a number and is not parted from it.
_UNITS_OF_FIGURES: Final = frozenset(
    {"%", "B", "KiB", "MiB", "GiB", "GB", "TB/s", "GB/s", "PFLOPS", "TFLOPS", "TOPS", "W", "USD", "×"}
    | {"tok/s", "ms", "s", "bytes", "bits", "MHz", "tokens", "requests"}
)


@cache
def font(style: str) -> QFont:
    """Return the font of a style, in units of the painter."""
    size, weight, _ = _STYLES[style]
    return make_font(round(size * UNITS), weight)


@cache
def _metrics(style: str) -> QFontMetricsF:
    return QFontMetricsF(font(style))


@lru_cache(maxsize=1 << 14)
def width(text: str, style: str) -> float:
    """Return how wide a text is on one line."""
    return _metrics(style).horizontalAdvance(text) / UNITS


def widest(texts: Iterable[str], style: str) -> float:
    """Return the width of the widest text, zero where there are none."""
    return max((width(text, style) for text in texts), default=0.0)


def ascent(style: str) -> float:
    """Return how far letters rise above the line they stand on; capitals, not accents."""
    return _metrics(style).capHeight() / UNITS


def line_height(style: str) -> float:
    """Return the distance of two lines."""
    return _STYLES[style][2]


def wrapped(runs: Sequence[Run], room: float) -> tuple[Line, ...]:
    """Return the lines that words in several styles make in a room.

    Lines break at spaces, never between a number and its unit; a word that has no room is broken anywhere.
    """
    lines: list[Line] = []
    line: list[Placed] = []
    x = 0.0
    for word in _words(runs):
        gap = width(" ", word[0].style) if line else 0.0
        needed = _width_of(word)
        if line and x + gap + needed > room:
            lines.append(tuple(line))
            line, x, gap = [], 0.0, 0.0
        for part in _broken(word, room) if needed > room else (word,):
            if part is not word and line:
                lines.append(tuple(line))
                line, x, gap = [], 0.0, 0.0
            x = _append(line, part, x, gap)
    if line:
        lines.append(tuple(line))
    return tuple(lines)


_Word = list[Run]


def _words(runs: Sequence[Run]) -> Iterator[_Word]:
    """Yield what stays together: words, also across runs, and numbers with their units."""
    word: _Word = []
    for run in runs:
        for position, text in enumerate(run.text.split(" ")):
            if position and word and not _keeps(word, text):
                yield word
                word = []
            elif position and word:
                text = f" {text}"  # noqa: PLW2901 - the space inside what stays together
            if text:
                word.append(Run(text, run.style, run.colour))
    if word:
        yield word


def _keeps(word: _Word, text: str) -> bool:
    """Whether the next word is the unit of a number, its next three digits, or a count: `× 8`."""
    if text == "×" or word[-1].text.endswith("×"):
        return True
    said = text.rstrip(".,;:)]")
    grouped = len(said) == _GROUP and said.isdigit() and word[-1].text.strip().isdigit()
    return word[-1].text[-1:].isdigit() and (grouped or said in _UNITS_OF_FIGURES)


def _width_of(word: _Word) -> float:
    return sum(width(part.text, part.style) for part in word)


def _broken(word: _Word, room: float) -> Iterator[_Word]:
    """Yield pieces of a word that is too long, each as long as fits."""
    for part in word:
        text = part.text
        while text:
            count = len(text)
            while count > 1 and width(text[:count], part.style) > room:
                count = max(1, min(count - 1, int(count * room / width(text[:count], part.style))))
            yield [Run(text[:count], part.style, part.colour)]
            text = text[count:]


def _append(line: list[Placed], word: _Word, x: float, gap: float) -> float:
    """Put a word at the end of a line; words of one look become one piece. Return the new end."""
    start = x + gap
    for part in word:
        last = line[-1] if line else None
        if last is not None and (last.style, last.colour) == (part.style, part.colour):
            space = " " if gap else ""
            line[-1] = Placed(last.x, f"{last.text}{space}{part.text}", last.style, last.colour)
        else:
            line.append(Placed(start, part.text, part.style, part.colour))
        start += width(part.text, part.style)
        gap = 0.0
    return start


def lines_of(text: str, style: str, room: float, colour: str = "text1") -> tuple[Line, ...]:
    """Return the lines that a text makes in a room."""
    if width(text, style) <= room and "\n" not in text:
        return ((Placed(0.0, text, style, colour),),) if text else ()
    return tuple(
        line
        for paragraph in text.splitlines()
        for line in wrapped((Run(paragraph, style, colour),), room) or ((),)
    )


def at_most(lines: tuple[Line, ...], most: int, room: float) -> tuple[Line, ...]:
    """Return the first lines; the last of them ends in an ellipsis where there are more."""
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    if not last:
        return lines[:most]
    end = last[-1]
    text = end.text
    while text and end.x + width(text + _ELLIPSIS, end.style) > room:
        text = text[:-1]
    if " " in text[-_LONGEST_CUT:]:
        # A word of which only a few letters are left is left out.
        text = text[: text.rindex(" ")]
    shortened = Placed(end.x, text.rstrip() + _ELLIPSIS, end.style, end.colour)
    return (*lines[: most - 1], (*last[:-1], shortened))
