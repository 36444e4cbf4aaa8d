"""Running text in columns: entries with hanging numbers under a heading, over as many pages as they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.letters import Line, Run, line_height, widest, wrapped
from gpudesk.desktop.printing.pieces import (
    Piece,
    draw_line,
    first_baseline,
    rule,
    stacked,
)

#: White between columns, between a number and its text, and below an entry.
_GAP: Final = 16.0
_HANG: Final = 5.0
_BELOW: Final = 1.5
#: A longer entry may be divided between columns after so many lines.
_MOST_LINES: Final = 8
_HEADING: Final = 15.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a section; `number` stands before it, in `number_colour`."""

    runs: tuple[Run, ...]
    number: str = ""
    number_colour: str = "text1"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its entries, set in one style."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Lines that stay together."""

    lines: tuple[Line, ...]
    entry: Entry | None
    last: bool
    style: str

    @property
    def text_height(self) -> float:
        """Height of the lines, without the white below, which the end of a column does not need."""
        return len(self.lines) * line_height(self.style)

    @property
    def height(self) -> float:
        """Height with the white below."""
        return self.text_height + (_BELOW if self.last else 0.0)


def _finer(run: Run) -> Run:
    return replace(run, style=run.style.replace("small", "fine"))


class SetSection:
    """A section set in columns, which hands out what fits the room there is."""

    def __init__(self, section: Section, room: float, columns: int, *, fine: bool) -> None:
        """Break the lines of all entries for columns that share a width of `room`."""
        self._fine = fine
        self.title = section.title
        self._room = room
        self._columns = columns
        self._column = (room - _GAP * (columns - 1)) / columns
        self._number = "fine_number" if fine else "note_number"
        hang = widest((entry.number for entry in section.entries), self._number)
        self._hang = hang + _HANG if hang else 0.0
        self._style = "fine" if fine else "small"
        self._chunks = [chunk for entry in section.entries for chunk in self._chunked(entry)]

    def _chunked(self, entry: Entry) -> list[_Chunk]:
        runs = [_finer(run) for run in entry.runs] if self._fine else entry.runs
        lines = wrapped(runs, self._column - self._hang)
        parts = [lines[at : at + _MOST_LINES] for at in range(0, len(lines), _MOST_LINES)]
        return [
            _Chunk(part, entry if number == 0 else None, number == len(parts) - 1, self._style)
            for number, part in enumerate(parts)
        ]

    def __bool__(self) -> bool:
        """Whether something is left to be set."""
        return bool(self._chunks)

    def take(self, height: float) -> Piece | None:
        """Return a heading with as much as a height has room for, or None where that is next to nothing."""
        room = height - _HEADING
        filled = self._filled(room)
        taken = sum(map(len, filled))
        if taken == 0 or (taken < len(self._chunks) and room < 3 * line_height(self._style)):
            return None
        if taken == len(self._chunks):
            filled = self._balanced(room)
        self._chunks = self._chunks[taken:]
        return stacked([self._heading(), self._body(filled)])

    def _filled(self, height: float) -> list[list[_Chunk]]:
        """Return what each column holds when each is filled before the next begins."""
        columns: list[list[_Chunk]] = [[]]
        used = 0.0
        for chunk in self._chunks:
            if used + chunk.text_height > height:
                if len(columns) == self._columns or chunk.text_height > height:
                    break
                columns.append([])
                used = 0.0
            columns[-1].append(chunk)
            used += chunk.height
        return columns

    def _balanced(self, most: float) -> list[list[_Chunk]]:
        """Return the columns at the least height that holds everything."""
        low = sum(chunk.height for chunk in self._chunks) / self._columns - _BELOW
        high = most
        while high - low > 0.5:
            middle = (low + high) / 2
            if sum(map(len, self._filled(middle))) == len(self._chunks):
                high = middle
            else:
                low = middle
        return self._filled(high)

    def _heading(self) -> Piece:
        line = rule(self._room, "hair", 0.5)
        title = self.title

        def draw(ink: Ink, x: float, y: float) -> None:
            ink.text(x, y + 9.0, title, style="group", colour="text1")
            line.draw(ink, x, y + 12.5)

        return Piece(_HEADING, draw)

    def _body(self, columns: Sequence[Sequence[_Chunk]]) -> Piece:
        height = max(
            sum(chunk.height for chunk in column[:-1]) + column[-1].text_height
            for column in columns
            if column
        )

        def draw(ink: Ink, x: float, y: float) -> None:
            for number, column in enumerate(columns):
                self._draw_column(ink, x + number * (self._column + _GAP), y, column)

        return Piece(height, draw)

    def _draw_column(self, ink: Ink, x: float, y: float, chunks: Sequence[_Chunk]) -> None:
        step = line_height(self._style)
        for chunk in chunks:
            baseline = y + first_baseline(self._style, step)
            if chunk.entry is not None and chunk.entry.number:
                colour = chunk.entry.number_colour
                ink.text(x, baseline, chunk.entry.number, style=self._number, colour=colour)
            for number, line in enumerate(chunk.lines):
                draw_line(ink, line, x + self._hang, baseline + number * step)
            y += chunk.height
