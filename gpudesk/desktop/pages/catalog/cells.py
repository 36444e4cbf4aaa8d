"""Column widths and cell painting of a catalog list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.pages.catalog.catalog_model import CatalogHeading, CatalogModel
from gpudesk.desktop.ui.tables.painted_table import VisibleSection
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.domain.catalog_table import (
    CatalogCellMark,
    CatalogCellValue,
    CatalogColumn,
    CatalogColumnKind,
    CatalogRow,
    CatalogSection,
)
from gpudesk.domain.claim import ClaimStatus
from gpudesk.report.catalog_lists import FIGURES, label_column
from gpudesk.text.translation import tr

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
    CatalogColumnKind.DATE: 96.0,
    CatalogColumnKind.AGE: 100.0,
    CatalogColumnKind.WORD: 110.0,
    CatalogColumnKind.ATTRIBUTE: 104.0,
    CatalogColumnKind.UNIT: 62.0,
}
#: What a column may grow by where there is room to spare.
_SPARE: Final = 46.0
_SAMPLE: Final = 16
#: The share of rows whose words a column holds by itself; few long ones do not take the room of the others.
_MOST_ROWS: Final = 0.9
_SAMPLED_ROWS: Final = 500
#: Longer lists are set closer.
_CLOSE: Final = frozenset(
    {
        CatalogSection.MODELS,
        CatalogSection.PRICES,
        CatalogSection.CLAIMS,
        CatalogSection.DISPUTES,
        CatalogSection.SOURCES,
    }
)


@dataclass(frozen=True, slots=True)
class ColumnWidthRange:
    """What a column takes by its content, what it can be cut to, and what it would take uncut."""

    width: float
    least: float
    whole: float


class CatalogLayout:
    """Computes heights and widths from the theme's letters; what was measured is kept by table."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme = theme
        self._texts = texts
        self._known: dict[int, ColumnWidthRange] = {}
        self._table: object = None
        self._gutters: dict[int, float] = {}
        theme.changed.connect(self._forget)

    # Heights

    @staticmethod
    def body(section: CatalogSection) -> str:
        return "small" if section in _CLOSE else "body"

    def row_height(self, section: CatalogSection) -> int:
        if section in _CLOSE:
            return self._theme.line("small") + self._theme.px(8)
        return self._theme.line("body") + self._theme.px(9)

    def heading_height(self) -> int:
        return self._theme.line("small") + self._theme.px(19)

    def head_height(self, *, grouped: bool) -> int:
        line = self._theme.line("caption")
        return line + self._theme.px(12) + (line + self._theme.px(4) if grouped else 0)

    # Widths

    def widths(self, model: CatalogModel, shown: Sequence[int], room: int, chosen: Mapping[str, int]) -> dict[int, int]:
        """Return the width of each shown column; `chosen` are those that the user set, by key."""
        self._follow(model)
        naturals = {column: self._natural(model, column) for column in shown}
        fixed = {
            column: float(chosen[model.column(column).key]) for column in shown if model.column(column).key in chosen
        }
        free = [column for column in shown if column not in fixed]
        left = room - sum(fixed.values()) - self._theme.length(MARGIN)
        widths = fixed | self._shared({column: naturals[column] for column in free}, left)
        return {column: round(width) for column, width in widths.items()}

    def _shared(self, naturals: Mapping[int, ColumnWidthRange], room: float) -> dict[int, float]:
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

    def _natural(self, model: CatalogModel, number: int) -> ColumnWidthRange:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._measured(model, number)
        return found

    def _measured(self, model: CatalogModel, number: int) -> ColumnWidthRange:
        column, length = model.column(number), self._theme.length
        section = model.table.section
        head = self._texts.width("caption_strong", label_column(section, column))
        content = self._content(model, number, column)
        if column.kind in FIGURES:
            width = max(content, head) + length(FIGURE_START) + self.gutter(model, number)
            if column.kind is CatalogColumnKind.VALUE:
                return ColumnWidthRange(min(width, length(_MOST_VALUE)), min(width, length(_MOST_VALUE)), width)
            return ColumnWidthRange(width, width, width)
        arrow = length(MARK)
        if column.kind is CatalogColumnKind.NAME:
            whole = max(content, head) + length(MARGIN + WORD_END)
            if section is CatalogSection.ACCELERATORS:
                whole += length(SWATCH)
            width = min(whole, length(_MOST_NAME))
            least = max(length(_LEAST_NAME), self._tagged(model))
            return ColumnWidthRange(width, min(width, least), whole)
        whole = max(content, head + arrow) + length(WORD_END)
        if column.kind is CatalogColumnKind.DATE:
            return ColumnWidthRange(whole, whole, whole)
        usual = self._usual(model, number) if column.kind is CatalogColumnKind.TEXT else content
        width = min(max(usual, head + arrow) + length(WORD_END), length(_MOST_WORDS))
        least = length(_LEAST.get(column.kind, _LEAST_WORDS))
        return ColumnWidthRange(width, min(width, least), whole)

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

    def _content(self, model: CatalogModel, number: int, column: CatalogColumn) -> float:
        font = self.body(model.table.section)
        if column.kind is CatalogColumnKind.NAME:
            font = "body_strong" if font == "body" else "small_strong"
        rows = _find_longest_rows(model.table.rows, number)
        widest = 0.0
        for row in rows:
            text = model.text(row, number)
            width = self._texts.width(choose_value_font(column, row.values[number], font), text)
            if column.kind is CatalogColumnKind.NAME and row.announced:
                tag = self._texts.width("caption_strong", tr("Announced"))
                width += tag + self._theme.length(12 + _TAG_GAP)
            widest = max(widest, width)
        if column.kind is CatalogColumnKind.AGE or column.key == "stance":
            widest += self._theme.length(MARK)
        return widest


def choose_value_font(column: CatalogColumn, value: CatalogCellValue, font: str) -> str:
    """Return the font of a value: two amounts are set smaller than one."""
    return "small" if column.kind is CatalogColumnKind.MONEY and isinstance(value, tuple) else font


def _find_longest_rows(rows: Collection[CatalogRow], number: int) -> list[CatalogRow]:
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


#: Glyph and colour of what is said beside a figure, in the order in which they stand.
MARKS: Final = (
    (CatalogCellMark.OWN, "own", "link"),
    (CatalogCellMark.COMPUTED, "exact", "text3"),
    (CatalogCellMark.DISPUTED, "disputed", "disputed"),
)
#: Glyph and colour of what is stale.
STALE: Final = ("partly", "disputed_text")
#: Glyph and colours of glyph and word of how a claim stands.
STANCES: Final = {
    ClaimStatus.TAKEN.value: ("fits", "text1", "text1"),
    ClaimStatus.AGREES.value: ("", "", "text3"),
    ClaimStatus.DIFFERS.value: ("disputed", "disputed", "text2"),
    ClaimStatus.REFUSED.value: ("unfit", "unfit", "text2"),
}
_RADIUS: Final = 6.0
_INSET: Final = 10.0


@dataclass(frozen=True, slots=True)
class CatalogPaintState:
    """What a paint is about.

    `frozen` is the first column, which lies over the others. `chosen` are (line, column) of the cells
    that are selected together. `slots` are the places in the palette of the parts of the scenario, by id.
    """

    area: QRect
    width: int
    lines: Sequence[VisibleSection]
    columns: Sequence[VisibleSection]
    frozen: VisibleSection | None
    scrolled: bool
    fits: bool
    hovered: int
    current: tuple[int, int] | None
    chosen: AbstractSet[tuple[int, int]]
    slots: Mapping[str, tuple[int, bool]]


class CatalogCellPainter:
    """Paints everything below the heads."""

    def __init__(self, theme: Theme, texts: TextCache, measures: CatalogLayout, model: CatalogModel) -> None:
        self._measures = measures
        self._theme = theme
        self._texts = texts
        self._model = model
        self._layer = TextLayer(theme, texts)
        self._swatches: list[tuple[float, float, int, bool]] = []
        self._tags: list[tuple[float, float, str]] = []

    def paint(self, painter: QPainter, shown: CatalogPaintState) -> None:
        """Paint lines and columns: those that scroll first, then the one that does not."""
        pen = ThemePainter(painter, self._theme)
        painter.fillRect(shown.area, self._theme.colour("page"))
        self._grounds(pen, shown)
        edge = shown.frozen.start + shown.frozen.size if shown.frozen is not None else 0
        painter.save()
        painter.setClipRect(QRect(edge, 0, shown.width - edge, shown.area.bottom() + 1))
        self._columns(pen, shown, shown.columns)
        painter.restore()
        if shown.frozen is not None:
            self._columns(pen, shown, [shown.frozen])
        if shown.scrolled:
            pen.hairline(edge - 1, shown.area.top(), edge - 1, shown.area.bottom(), "strong")
        self._ring(painter, shown, edge)

    # Grounds and rules

    def _grounds(self, pen: ThemePainter, shown: CatalogPaintState) -> None:
        margin = self._theme.length(MARGIN)
        right = shown.width - margin if shown.fits else shown.width
        several = len(shown.chosen) > 1
        for line in shown.lines:
            row = self._model.row(line.number)
            bottom = line.start + line.size - 1
            if row is None:
                pen.hairline(margin, bottom, right, bottom, "strong")
                continue
            end = shown.width - _INSET if shown.fits else shown.width + _INSET
            ground = QRectF(_INSET, line.start, end - _INSET, line.size - 1)
            if shown.current is not None and shown.current[0] == line.number and not several:
                pen.tint(ground, "selection", _RADIUS)
            elif line.number == shown.hovered:
                pen.tint(ground, "hover", _RADIUS)
            if line.number == self._model.rule:
                pen.hairline(margin, line.start - 1, right, line.start - 1, "control")
            pen.hairline(margin, bottom, right, bottom, "grid")
        if several:
            self._chosen(pen, shown)

    def _chosen(self, pen: ThemePainter, shown: CatalogPaintState) -> None:
        columns = [*shown.columns, *([shown.frozen] if shown.frozen is not None else [])]
        for line in shown.lines:
            for column in columns:
                if (line.number, column.number) in shown.chosen:
                    rect = QRectF(column.start, line.start, column.size, line.size - 1)
                    pen.painter.fillRect(rect, self._theme.colour("selection"))

    # Cells

    def _columns(self, pen: ThemePainter, shown: CatalogPaintState, columns: Sequence[VisibleSection]) -> None:
        self._layer.clear()
        self._swatches.clear()
        self._tags.clear()
        for line in shown.lines:
            row = self._model.row(line.number)
            if row is None:
                self._heading(line, columns, shown.width)
                continue
            quiet = self._is_selected(line, shown)
            for column in columns:
                self._cell(row, line, column, shown, quiet)
        self._layer.draw(pen.painter)
        for x, y, slot, is_variant in self._swatches:
            pen.swatch(x, y, slot, is_variant=is_variant)
        for x, y, text in self._tags:
            pen.tag(x, y, text, dashed=True)

    @staticmethod
    def _is_selected(line: VisibleSection, shown: CatalogPaintState) -> str:
        """Return the colour of what is quiet: on a selection it must be read as well."""
        here = shown.current is not None and shown.current[0] == line.number
        return "text2" if here or shown.chosen else "text3"

    def _heading(self, line: VisibleSection, columns: Sequence[VisibleSection], width: int) -> None:
        heading = self._model.lines[line.number]
        first = next((column for column in columns if column.number == 0), None)
        if first is None or not isinstance(heading, CatalogHeading):
            return
        middle = line.start + line.size - self._theme.length(7) - self._theme.line("small") / 2
        x = first.start + self._theme.length(MARGIN)
        x += self._layer.text("label", "text1", heading.title, x, middle) + self._theme.length(10)
        if heading.note:
            most = width - self._theme.length(MARGIN) - x
            self._layer.text("small", "text3", heading.note, x, middle, max(1.0, most))

    def _cell(
        self, row: CatalogRow, line: VisibleSection, column: VisibleSection, shown: CatalogPaintState, quiet: str
    ) -> None:
        kind = self._model.column(column.number).kind
        middle = line.start + line.size / 2
        text = self._model.text(row, column.number)
        if kind is CatalogColumnKind.NAME:
            self._name(row, text, column, middle, shown)
        elif kind in FIGURES:
            self._figure(row, text, column, middle, quiet)
        elif kind is CatalogColumnKind.AGE:
            self._age(row, text, column, middle, quiet)
        else:
            self._words(row, text, column, middle, quiet)

    def _name(
        self, row: CatalogRow, text: str, column: VisibleSection, middle: float, shown: CatalogPaintState
    ) -> None:
        length, section = self._theme.length, self._model.table.section
        token = "body_strong" if CatalogLayout.body(section) == "body" else "small_strong"
        colour = "text1"
        if self._model.headings:
            # The heading says it already.
            token, colour = CatalogLayout.body(section), "text2"
        x = column.start + length(MARGIN)
        right = column.start + column.size - length(WORD_END)
        slot = shown.slots.get(row.thing or "") if section is CatalogSection.ACCELERATORS else None
        if section is CatalogSection.ACCELERATORS:
            if slot is not None:
                self._swatches.append((x, middle, *slot))
            x += length(SWATCH)
        tag = tr("Announced") if row.announced else ""
        room = right - x - (self._texts.width("caption_strong", tag) + length(20) if tag else 0)
        if slot is not None:
            colour = self._theme.name_color(slot[0]).name()
        width = self._layer.text(token, colour, text, x, middle, max(1.0, room))
        if row.marks and row.marks[0] & CatalogCellMark.OWN:
            self._layer.mark("own", "link", x + width + length(11), middle)
            width += length(18)
        if tag:
            self._tags.append((x + width + length(8), middle, tag))

    def _figure(self, row: CatalogRow, text: str, column: VisibleSection, middle: float, quiet: str) -> None:
        length = self._theme.length
        body = CatalogLayout.body(self._model.table.section)
        gutter = self._measures.gutter(self._model, column.number)
        right = column.start + column.size - gutter
        mark = row.marks[column.number] if row.marks else 0
        known = row.values[column.number] is not None
        own = bool(mark & CatalogCellMark.OWN)
        spec, value = self._model.column(column.number), row.values[column.number]
        token = ("section" if body == "body" else "label") if own else choose_value_font(spec, value, body)
        self._layer.right(token, "text1" if known else quiet, text, column.start, right, middle)
        found = [(glyph, colour) for flag, glyph, colour in MARKS if mark & flag]
        x = right + length(9 if len(found) > 1 else GUTTER / 2)
        for glyph, colour in found[:2]:
            self._layer.mark(glyph, colour, x, middle)
            x += length(14)

    def _age(self, row: CatalogRow, text: str, column: VisibleSection, middle: float, quiet: str) -> None:
        length = self._theme.length
        body = CatalogLayout.body(self._model.table.section)
        old = self._model.is_stale(row)
        width = self._layer.text(body, "text1" if old else quiet, text, column.start, middle)
        if old:
            self._layer.mark(*STALE, column.start + width + length(11), middle)

    def _words(self, row: CatalogRow, text: str, column: VisibleSection, middle: float, quiet: str) -> None:
        value = row.values[column.number]
        body = CatalogLayout.body(self._model.table.section)
        x = float(column.start)
        colour = "text2" if value is not None else quiet
        spec = self._model.column(column.number)
        if spec.kind is CatalogColumnKind.ATTRIBUTE:
            colour = "text1"
        if spec.key == "stance" and isinstance(value, str) and value in STANCES:
            glyph, tint, colour = STANCES[value]
            if glyph:
                self._layer.mark(glyph, tint, x + self._theme.length(6), middle)
            x += self._theme.length(MARK)
        most = column.start + column.size - self._theme.length(WORD_END) - x
        self._layer.text(body, colour, text, x, middle, max(1.0, most))

    def _ring(self, painter: QPainter, shown: CatalogPaintState, edge: int) -> None:
        if shown.current is None:
            return
        line = next((place for place in shown.lines if place.number == shown.current[0]), None)
        everywhere = (*shown.columns, *((shown.frozen,) if shown.frozen is not None else ()))
        column = next((place for place in everywhere if place.number == shown.current[1]), None)
        if line is None or column is None:
            return
        left, right = self._ends(column)
        painter.save()
        if column is not shown.frozen:
            painter.setClipRect(QRect(edge, 0, shown.width - edge, shown.area.bottom() + 1))
        painter.setPen(QPen(self._theme.colour("focus"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = self._theme.length(_RADIUS)
        rect = QRectF(left, line.start, right - left, line.size).adjusted(1, 1, -1, -2)
        painter.drawRoundedRect(rect, radius, radius)
        painter.restore()

    def _ends(self, column: VisibleSection) -> tuple[float, float]:
        """Return where the ring of a column's cells begins and ends: around figure and gutter, or words."""
        length = self._theme.length
        spec = self._model.column(column.number)
        if spec.kind is CatalogColumnKind.NAME:
            return column.start + length(_INSET), column.start + column.size - length(4)
        if spec.kind in FIGURES:
            return column.start + length(2), column.start + column.size - 1
        return column.start - length(6), column.start + column.size - length(8)
