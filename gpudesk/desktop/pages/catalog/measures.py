"""Widths of the columns of a catalog list: by what stands in them, and by the room there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.desktop.itemmodels.catalog_model import CatalogModel
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.domain.catalog_tables import CatalogRow, CellValue, Column, ColumnKind, Section
from gpudesk.sheets.catalog_cells import FIGURES
from gpudesk.sheets.catalog_words import column_head
from gpudesk.text import tr

#: Lengths of the design: the margin of the page, the room after words, and the gutter right of figures.
MARGIN: Final = 16.0
WORD_END: Final = 12.0
GUTTER: Final = 21.0
WIDE_GUTTER: Final = 33.0
FIGURE_START: Final = 7.0
SWATCH: Final = 25.0
#: Room for a mark left of a word, and for one right of an age.
MARK: Final = 15.0
_TAG_GAP: Final = 8.0
#: The most that words take by themselves, and the least that they are cut to.
_MOST_WORDS: Final = 250.0
_LEAST_WORDS: Final = 62.0
_MOST_VALUE: Final = 130.0
_MOST_NAME: Final = 300.0
_LEAST_NAME: Final = 128.0
_TAGGED_NAME: Final = 82.0
#: Words that are short by themselves keep more of their width.
_LEAST: Final = {
    ColumnKind.DATE: 96.0,
    ColumnKind.AGE: 100.0,
    ColumnKind.WORD: 110.0,
    ColumnKind.ATTRIBUTE: 104.0,
    ColumnKind.UNIT: 62.0,
}
#: What a column may grow by where there is room to spare.
_SPARE: Final = 46.0
_SAMPLE: Final = 16
#: The share of rows whose words a column holds by itself; few long ones do not take the room of the others.
_MOST_ROWS: Final = 0.9
_SAMPLED_ROWS: Final = 500
#: Longer lists are set closer.
_CLOSE: Final = frozenset({Section.MODELS, Section.PRICES, Section.CLAIMS, Section.DISPUTES, Section.SOURCES})


@dataclass(frozen=True, slots=True)
class Natural:
    """What a column takes by its content, what it can be cut to, and what it would take uncut."""

    width: float
    least: float
    whole: float


class Measures:
    """Computes heights and widths from the theme's letters; what was measured is kept by table."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        """Measure with the cache that paints."""
        self._theme = theme
        self._texts = texts
        self._known: dict[int, Natural] = {}
        self._table: object = None
        self._gutters: dict[int, float] = {}
        theme.changed.connect(self._forget)

    # Heights

    @staticmethod
    def body(section: Section) -> str:
        """Return the font of a section's cells."""
        return "small" if section in _CLOSE else "body"

    def row_height(self, section: Section) -> int:
        """Return the height of a row."""
        if section in _CLOSE:
            return self._theme.line("small") + self._theme.px(8)
        return self._theme.line("body") + self._theme.px(9)

    def heading_height(self) -> int:
        """Return the height of a heading."""
        return self._theme.line("small") + self._theme.px(19)

    def head_height(self, *, grouped: bool) -> int:
        """Return the height of the heads, with or without words over several columns."""
        line = self._theme.line("caption")
        return line + self._theme.px(12) + (line + self._theme.px(4) if grouped else 0)

    # Widths

    def widths(
        self, model: CatalogModel, shown: Sequence[int], room: int, chosen: Mapping[str, int]
    ) -> dict[int, int]:
        """Return the width of each shown column; `chosen` are those that the user set, by key."""
        self._follow(model)
        naturals = {column: self._natural(model, column) for column in shown}
        fixed = {
            column: float(chosen[model.column(column).key])
            for column in shown
            if model.column(column).key in chosen
        }
        free = [column for column in shown if column not in fixed]
        left = room - sum(fixed.values()) - self._theme.length(MARGIN)
        widths = fixed | self._shared({column: naturals[column] for column in free}, left)
        return {column: round(width) for column, width in widths.items()}

    def _shared(self, naturals: Mapping[int, Natural], room: float) -> dict[int, float]:
        """Share the room: what is cut first gets its whole width, then all a little more; else all yield."""
        wanted = {column: natural.width for column, natural in naturals.items()}
        spare = room - sum(wanted.values())
        if spare < 0:
            give = {column: natural.width - natural.least for column, natural in naturals.items()}
            share = min(1.0, -spare / sum(give.values())) if sum(give.values()) > 0 else 0.0
            return {column: wanted[column] - share * give[column] for column in wanted}
        cut = {column: natural.whole - natural.width for column, natural in naturals.items()}
        missing = sum(cut.values())
        if missing > 0:
            share = min(1.0, spare / missing)
            wanted = {column: wanted[column] + share * cut[column] for column in wanted}
            spare = room - sum(wanted.values())
        if wanted and spare > 0:
            each = min(spare / len(wanted), self._theme.length(_SPARE))
            wanted = {column: width + each for column, width in wanted.items()}
        return wanted

    def gutter(self, model: CatalogModel, number: int) -> float:
        """Return the room for marks right of the figures of a column: for one, or for two."""
        self._follow(model)
        found = self._gutters.get(number)
        if found is None:
            marks = (row.marks[number] for row in model.table.rows if row.marks)
            two = any(mark.bit_count() > 1 for mark in marks)
            found = self._gutters[number] = self._theme.length(WIDE_GUTTER if two else GUTTER)
        return found

    def _follow(self, model: CatalogModel) -> None:
        if model.table is not self._table:
            self._forget()
            self._table = model.table

    def _forget(self) -> None:
        self._known.clear()
        self._gutters.clear()

    def _natural(self, model: CatalogModel, number: int) -> Natural:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._measured(model, number)
        return found

    def _measured(self, model: CatalogModel, number: int) -> Natural:
        column, length = model.column(number), self._theme.length
        section = model.table.section
        head = self._texts.width("caption_strong", column_head(section, column))
        content = self._content(model, number, column)
        if column.kind in FIGURES:
            width = max(content, head) + length(FIGURE_START) + self.gutter(model, number)
            if column.kind is ColumnKind.VALUE:
                return Natural(min(width, length(_MOST_VALUE)), min(width, length(_MOST_VALUE)), width)
            return Natural(width, width, width)
        arrow = length(MARK)
        if column.kind is ColumnKind.NAME:
            whole = max(content, head) + length(MARGIN + WORD_END)
            if section is Section.ACCELERATORS:
                whole += length(SWATCH)
            width = min(whole, length(_MOST_NAME))
            least = max(length(_LEAST_NAME), self._tagged(model))
            return Natural(width, min(width, least), whole)
        whole = max(content, head + arrow) + length(WORD_END)
        if column.kind is ColumnKind.DATE:
            return Natural(whole, whole, whole)
        usual = self._usual(model, number) if column.kind is ColumnKind.TEXT else content
        width = min(max(usual, head + arrow) + length(WORD_END), length(_MOST_WORDS))
        least = length(_LEAST.get(column.kind, _LEAST_WORDS))
        return Natural(width, min(width, least), whole)

    def _usual(self, model: CatalogModel, number: int) -> float:
        """Return the width that holds the words of most rows; of long lists some rows stand for all."""
        rows = model.table.rows
        counted = Counter(row.values[number] for row in rows[:: len(rows) // _SAMPLED_ROWS + 1])
        few = (1 - _MOST_ROWS) * counted.total()
        for value in sorted(counted, key=lambda value: 0 if value is None else -len(str(value))):
            few -= counted[value]
            if few < 0:
                break
        else:
            return 0.0
        row = next(row for row in model.table.rows if row.values[number] == value)
        return self._texts.width(self.body(model.table.section), model.text(row, number))

    def _tagged(self, model: CatalogModel) -> float:
        """Return the width that the names beside a tag take, which must not be cut to nothing."""
        announced = [row for row in model.table.rows if row.announced]
        most = self._theme.length(_TAGGED_NAME)
        texts = (min(most, self._texts.width("body_strong", model.text(row, 0))) for row in announced)
        around = self._theme.length(MARGIN + SWATCH + WORD_END + 12 + _TAG_GAP)
        tag = self._texts.width("caption_strong", tr("Announced"))
        return max((text + tag + around for text in texts), default=0.0)

    def _content(self, model: CatalogModel, number: int, column: Column) -> float:
        """Return the width of the widest of the longest texts of a column."""
        font = self.body(model.table.section)
        if column.kind is ColumnKind.NAME:
            font = "body_strong" if font == "body" else "small_strong"
        rows = _longest(model.table.rows, number)
        widest = 0.0
        for row in rows:
            text = model.text(row, number)
            width = self._texts.width(value_font(column, row.values[number], font), text)
            if column.kind is ColumnKind.NAME and row.announced:
                tag = self._texts.width("caption_strong", tr("Announced"))
                width += tag + self._theme.length(12 + _TAG_GAP)
            widest = max(widest, width)
        if column.kind is ColumnKind.AGE or column.key == "stance":
            widest += self._theme.length(MARK)
        return widest


def value_font(column: Column, value: CellValue, font: str) -> str:
    """Return the font of a value: two amounts are set smaller than one."""
    return "small" if column.kind is ColumnKind.MONEY and isinstance(value, tuple) else font


def _longest(rows: Collection[CatalogRow], number: int) -> list[CatalogRow]:
    """Return rows whose values are different and longest as they are written in the data."""
    by_value = {row.values[number]: row for row in rows if row.values[number] is not None}
    if len(by_value) > _SAMPLE:
        longest = sorted(by_value, key=lambda value: len(str(value)), reverse=True)[:_SAMPLE]
        # Large figures have more digits before the point than small ones have in all.
        numbers = [value for value in by_value if isinstance(value, int | float)]
        if numbers:
            longest += [max(numbers), min(numbers)]
        by_value = {value: by_value[value] for value in longest}
    announced = [row for row in rows if row.announced]
    return [*by_value.values(), *announced]
