"""Heights of rows and widths of columns of the comparison table, all from the size of letters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gpudesk.desktop.itemmodels.arrangement import Line
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.sheets.comparison_parts import ComparedCell, ComparedHead, ComparedRow
from gpudesk.sheets.sheet import Mark

#: Lengths of the design.
LABEL_WIDTH: Final = 232.0
_LEAST_LABEL: Final = 168.0
_MOST_LABEL: Final = 264.0
#: Beyond this a difference stands too far from its figure to be read with it.
_MOST_COLUMN: Final = 300.0
#: Room for what tells one name from another; the tool tip has the whole.
_LEAST_NAME: Final = 76.0
LABEL_MARGIN: Final = 16.0
#: Room right of the unit, in which the arrow of a row appears.
LABEL_END: Final = 17.0
_SWATCH: Final = 25.0


@dataclass(frozen=True, slots=True)
class Margins:
    """Room in a cell left of the difference and right of the figure, and of the tint to the cell's edge."""

    left: float
    gutter: float
    inset: float
    gap: float


WIDE: Final = Margins(left=16.0, gutter=34.0, inset=6.0, gap=8.0)
DENSE: Final = Margins(left=7.0, gutter=20.0, inset=2.0, gap=3.0)


@dataclass(frozen=True, slots=True)
class Widths:
    """Widths in pixels: of the labels, and of every column."""

    label: int
    column: int
    margins: Margins


class Measures:
    """Computes heights and widths from the theme's letters."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Measure with the cache that paints."""
        self._theme = theme
        self._texts = texts

    def height(self, line: Line) -> int:
        """Return the height of a line: a heading, a row, or a row with a second line in its cells."""
        theme = self._theme
        if line.row is None:
            return theme.line("small") + theme.px(19)
        plain = theme.line("body") + theme.px(9)
        return plain + theme.line("caption") if line.row.has_second_line else plain

    def head_height(self) -> int:
        """Return the height of the frozen head."""
        theme = self._theme
        return theme.line("option") + theme.line("caption") + theme.px(23)

    def widths(self, room: int, heads: Iterable[ComparedHead], rows: Iterable[ComparedRow]) -> Widths:
        """Return widths that fill the room; where it is short, figures keep theirs.

        Labels yield first, then the names in the heads, which are cut.
        """
        listed, shown = list(heads), list(rows)
        length, needed = self._theme.length, self._least_label(shown)
        full = round(min(max(length(LABEL_WIDTH), needed), length(_MOST_LABEL)))
        count = max(1, len(listed))
        share = (room - full) // count
        wide = self._least_column(listed, shown, WIDE)
        if share >= wide:
            return Widths(full, min(share, round(length(_MOST_COLUMN))), WIDE)
        least = round(length(_LEAST_LABEL))
        dense = self._least_column(listed, shown, DENSE)
        if least + count * dense > room:
            dense = self._least_column(listed, shown, DENSE, with_names=False)
        label = min(full, room - count * dense)
        if label < least:
            # The columns have to be scrolled anyway.
            label = full
        return Widths(label, max(dense, (room - label) // count), DENSE)

    def _least_column(
        self,
        heads: Iterable[ComparedHead],
        rows: Iterable[ComparedRow],
        margins: Margins,
        *,
        with_names: bool = True,
    ) -> int:
        length = self._theme.length
        fixed = length(margins.left) + length(margins.gutter)
        cells = (cell for row in rows for cell in row.cells)
        figures = max((self._cell_width(cell, margins) for cell in cells), default=0.0)
        names = max((self._texts.width("option", head.name) for head in heads), default=0.0)
        if not with_names:
            names = min(names, length(_LEAST_NAME))
        head = length(margins.left) + length(_SWATCH) + names + length(8)
        return int(max(fixed + figures, head)) + 1

    def _cell_width(self, cell: ComparedCell, margins: Margins) -> float:
        """Return what a figure takes with its difference and its band; words take what is left."""
        width = self._texts.width
        if cell.value is None:
            return 0.0 if margins is DENSE else self._unknown_width(cell)
        if not cell.is_figure or is_range(cell):
            return 0.0
        figure = width("section" if cell.mark in (Mark.BEST, Mark.TIED) else "body", cell.text)
        if cell.delta:
            figure += width("caption", cell.delta) + self._theme.length(margins.gap)
        return max(figure, width("caption", cell.line_below or ""))

    def _unknown_width(self, cell: ComparedCell) -> float:
        reason = self._texts.width("caption", cell.reason or "")
        return reason + self._theme.length(8) + self._texts.width("body", cell.text)

    def _least_label(self, rows: Iterable[ComparedRow]) -> int:
        width, length = self._texts.width, self._theme.length
        widest = max(
            (width("body", row.label) + width("caption", row.unit or "") for row in rows), default=0.0
        )
        return int(widest + length(LABEL_MARGIN) + length(8) + length(LABEL_END)) + 1


def is_range(cell: ComparedCell) -> bool:
    """Return whether a cell's text is a range, as of a price, which may be set smaller as words may."""
    return cell.low is not None and cell.band is None
