"""Aligned text in columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

_GAP = "  "
#: Where a line may end: at any space but that between a number and its unit.
_BREAK: Final = re.compile(
    r"(?<![\d.,])\s+|(?<=[\d.,])\s+(?!(?:%|ms|s|µs|tok/s|[KMGT]i?B(?:/s)?)(?:[\s,;:.)]|$))"
)


def text_width(text: str) -> int:
    """Return how many places a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return the text filled up with spaces."""
    space = " " * max(0, width - text_width(text))
    return space + text if right else text + space


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most `width` places; a word that is longer stands alone.

    A number and its unit are one word.
    """
    lines: list[str] = []
    line = ""
    for word in filter(None, _BREAK.split(text.strip())):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer) > width - (len(indent) if lines else 0):
            lines.append(line)
            line = word
        else:
            line = longer
    lines.append(line)
    return [lines[0], *(indent + following for following in lines[1:])]


def hanging(lead: str, text: str, width: int) -> list[str]:
    """Return the text after its lead, further lines below its beginning."""
    first, *rest = wrapped(text, max(width - text_width(lead), 20))
    return [lead + first, *(" " * text_width(lead) + line for line in rest)]


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    right: Sequence[int] = (),
    strong: Callable[[str], str] = str,
) -> list[str]:
    """Return a table with a head; the last column is wrapped to the width, columns in `right` are flushed."""
    columns = len(head)
    widths = [max(text_width(row[column]) for row in (head, *rows)) for column in range(columns)]
    before = sum(widths[:-1]) + len(_GAP) * (columns - 1)
    widths[-1] = min(widths[-1], max(width - before, 16))
    lines = [strong(_line(head, widths, right)[0])]
    lines.append("─" * min(width, before + widths[-1]))
    for row in rows:
        lines += _line(row, widths, right)
    return lines


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    last = len(widths) - 1
    cells = [padded(text, widths[column], right=column in right) for column, text in enumerate(row[:-1])]
    first, *following = wrapped(row[-1], widths[-1])
    cells.append(padded(first, widths[-1], right=last in right))
    indent = " " * (sum(widths[:-1]) + len(_GAP) * last)
    return [_GAP.join(cells).rstrip(), *(indent + line for line in following)]
