"""How wide the columns of a trace are, and how high its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.desktop.itemmodels.trace_model import FIRST, Line
from gpudesk.desktop.itemmodels.trace_rows import TraceFold, TraceGroup, TraceRow
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.text_cache import TextCache

#: Left of the first text, so that the ring of a cell has room; rules end so far from the edges too.
PAD: Final = 8.0
#: Between a text and what follows it in its line, a mark with its room, and right of answers and weights.
GAP: Final = 8.0
MARK: Final = 14.0
END: Final = 12.0

_ROW: Final = 29.0
_TALL: Final = 42.0
_GROUP: Final = 36.0
_SILENT: Final = 25.0
_WEIGHT: Final = 54.0
_CELL: Final = (84.0, 150.0)
_ANSWER: Final = (72.0, 250.0)
_LEAST_RULE: Final = 180.0
#: The cells of accelerators take no more than this share of the width.
_CELLS: Final = 0.52
#: Rows have a second line where ids of more than this share of them have no room in the first.
_CUT: Final = 0.25


@dataclass(frozen=True, slots=True)
class Widths:
    """Widths of the columns in pixels; all accelerators have the same.

    `tall` rows have a second line for ids and answers; what they are about then has both columns' room.
    """

    rule: int
    answer: int
    weight: int
    cell: int
    tall: bool

    def of(self, column: int) -> int:
        """Return the width of a column."""
        return (self.rule, self.answer, self.weight)[column] if column < FIRST else self.cell


class Measures:
    """Measures lines by their texts."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Keep what is measured by."""
        self._theme, self._texts = theme, texts

    def widths(self, room: int, accelerators: int, rows: Sequence[TraceRow]) -> Widths:
        """Share the room: cells and weights first, answers as they need, and rules what is left."""
        px, count = self._theme.px, max(1, accelerators)
        weight = px(_WEIGHT)
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        cell = min(cell, max(px(_CELL[0]) // 2, (room - weight - px(_LEAST_RULE + _ANSWER[0])) // count))
        left = max(0, room - weight - cell * count)
        wanted = max((self._texts.width("caption", row.answer) for row in rows), default=0.0)
        most = min(px(_ANSWER[1]), max(px(_ANSWER[0]), left - px(_LEAST_RULE) * 3 // 2))
        answer = min(max(round(wanted) + px(END + 6), px(_ANSWER[0])), most, left)
        rule = left - answer
        cut = sum(self._needed(row) > rule for row in rows)
        return Widths(rule, answer, weight, cell, cut > _CUT * len(rows))

    def _needed(self, row: TraceRow) -> float:
        """Return the width of a rule with unit, marks and ids in one line."""
        length, width = self._theme.length, self._texts.width
        needed = length(PAD + 4) + width("body", row.title) + length(GAP) + width("caption", row.ids)
        needed += length(MARK) * (row.refuted + row.disputed)
        return needed + (width("caption", row.unit) + length(GAP) if row.unit else 0.0)

    def height(self, line: Line, *, tall: bool) -> int:
        """Return the height of a line."""
        px = self._theme.px
        match line:
            case TraceGroup():
                return px(_GROUP)
            case TraceRow():
                return px(_TALL if tall else _ROW)
            case TraceFold():
                return px(_ROW)
        return px(_SILENT)

    @property
    def row(self) -> int:
        """The height of a plain row."""
        return self._theme.px(_ROW)
