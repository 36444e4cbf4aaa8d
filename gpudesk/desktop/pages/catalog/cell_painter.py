"""Paints the lines of a catalog list: names, figures with their marks, words, headings and the ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.itemmodels.catalog_model import CatalogModel, Heading
from gpudesk.desktop.pages.catalog.measures import (
    GUTTER,
    MARGIN,
    MARK,
    SWATCH,
    WORD_END,
    Measures,
    value_font,
)
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Place
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.domain.catalog_tables import CatalogRow, CellMark, ColumnKind, Section
from gpudesk.domain.claims import Stance
from gpudesk.sheets.catalog_cells import FIGURES
from gpudesk.text import tr

#: Glyph and colour of what is said beside a figure, in the order in which they stand.
MARKS: Final = (
    (CellMark.OWN, "own", "link"),
    (CellMark.COMPUTED, "exact", "text3"),
    (CellMark.DISPUTED, "disputed", "disputed"),
)
#: Glyph and colour of what is stale.
STALE: Final = ("partly", "disputed_text")
#: Glyph and colours of glyph and word of how a claim stands.
STANCES: Final = {
    Stance.TAKEN.value: ("fits", "text1", "text1"),
    Stance.AGREES.value: ("", "", "text3"),
    Stance.DIFFERS.value: ("disputed", "disputed", "text2"),
    Stance.REFUSED.value: ("unfit", "unfit", "text2"),
}
_RADIUS: Final = 6.0
_INSET: Final = 10.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a paint is about.

    `frozen` is the first column, which lies over the others. `chosen` are (line, column) of the cells
    that are selected together. `slots` are the places in the palette of the parts of the scenario, by id.
    """

    area: QRect
    width: int
    lines: Sequence[Place]
    columns: Sequence[Place]
    frozen: Place | None
    scrolled: bool
    fits: bool
    hovered: int
    current: tuple[int, int] | None
    chosen: AbstractSet[tuple[int, int]]
    slots: Mapping[str, tuple[int, bool]]


class CellPainter:
    """Paints everything below the heads."""

    def __init__(self, theme: Theme, texts: TextCache, measures: Measures, model: CatalogModel) -> None:
        """Keep what to look up and what has been laid out."""
        self._measures = measures
        self._theme = theme
        self._texts = texts
        self._model = model
        self._layer = TextLayer(theme, texts)
        self._swatches: list[tuple[float, float, int, bool]] = []
        self._tags: list[tuple[float, float, str]] = []

    def paint(self, painter: QPainter, shown: Shown) -> None:
        """Paint lines and columns: those that scroll first, then the one that does not."""
        pen = Pen(painter, self._theme)
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

    def _grounds(self, pen: Pen, shown: Shown) -> None:
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

    def _chosen(self, pen: Pen, shown: Shown) -> None:
        columns = [*shown.columns, *([shown.frozen] if shown.frozen is not None else [])]
        for line in shown.lines:
            for column in columns:
                if (line.number, column.number) in shown.chosen:
                    rect = QRectF(column.start, line.start, column.size, line.size - 1)
                    pen.painter.fillRect(rect, self._theme.colour("selection"))

    # Cells

    def _columns(self, pen: Pen, shown: Shown, columns: Sequence[Place]) -> None:
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
        for x, y, slot, hollow in self._swatches:
            pen.swatch(x, y, slot, hollow=hollow)
        for x, y, text in self._tags:
            pen.tag(x, y, text, dashed=True)

    @staticmethod
    def _is_selected(line: Place, shown: Shown) -> str:
        """Return the colour of what is quiet: on a selection it must be read as well."""
        here = shown.current is not None and shown.current[0] == line.number
        return "text2" if here or shown.chosen else "text3"

    def _heading(self, line: Place, columns: Sequence[Place], width: int) -> None:
        heading = self._model.lines[line.number]
        first = next((column for column in columns if column.number == 0), None)
        if first is None or not isinstance(heading, Heading):
            return
        middle = line.start + line.size - self._theme.length(7) - self._theme.line("small") / 2
        x = first.start + self._theme.length(MARGIN)
        x += self._layer.text("label", "text1", heading.title, x, middle) + self._theme.length(10)
        if heading.note:
            most = width - self._theme.length(MARGIN) - x
            self._layer.text("small", "text3", heading.note, x, middle, max(1.0, most))

    def _cell(self, row: CatalogRow, line: Place, column: Place, shown: Shown, quiet: str) -> None:
        kind = self._model.column(column.number).kind
        middle = line.start + line.size / 2
        text = self._model.text(row, column.number)
        if kind is ColumnKind.NAME:
            self._name(row, text, column, middle, shown)
        elif kind in FIGURES:
            self._figure(row, text, column, middle, quiet)
        elif kind is ColumnKind.AGE:
            self._age(row, text, column, middle, quiet)
        else:
            self._words(row, text, column, middle, quiet)

    def _name(self, row: CatalogRow, text: str, column: Place, middle: float, shown: Shown) -> None:
        length, section = self._theme.length, self._model.table.section
        token = "body_strong" if Measures.body(section) == "body" else "small_strong"
        colour = "text1"
        if self._model.headings:
            # The heading says it already.
            token, colour = Measures.body(section), "text2"
        x = column.start + length(MARGIN)
        right = column.start + column.size - length(WORD_END)
        slot = shown.slots.get(row.thing or "") if section is Section.ACCELERATORS else None
        if section is Section.ACCELERATORS:
            if slot is not None:
                self._swatches.append((x, middle, *slot))
            x += length(SWATCH)
        tag = tr("Announced") if row.announced else ""
        room = right - x - (self._texts.width("caption_strong", tag) + length(20) if tag else 0)
        if slot is not None:
            colour = self._theme.slot_label(slot[0]).name()
        width = self._layer.text(token, colour, text, x, middle, max(1.0, room))
        if row.marks and row.marks[0] & CellMark.OWN:
            self._layer.mark("own", "link", x + width + length(11), middle)
            width += length(18)
        if tag:
            self._tags.append((x + width + length(8), middle, tag))

    def _figure(self, row: CatalogRow, text: str, column: Place, middle: float, quiet: str) -> None:
        length = self._theme.length
        body = Measures.body(self._model.table.section)
        gutter = self._measures.gutter(self._model, column.number)
        right = column.start + column.size - gutter
        mark = row.marks[column.number] if row.marks else 0
        known = row.values[column.number] is not None
        own = bool(mark & CellMark.OWN)
        spec, value = self._model.column(column.number), row.values[column.number]
        token = ("section" if body == "body" else "label") if own else value_font(spec, value, body)
        self._layer.right(token, "text1" if known else quiet, text, column.start, right, middle)
        found = [(glyph, colour) for flag, glyph, colour in MARKS if mark & flag]
        x = right + length(9 if len(found) > 1 else GUTTER / 2)
        for glyph, colour in found[:2]:
            self._layer.mark(glyph, colour, x, middle)
            x += length(14)

    def _age(self, row: CatalogRow, text: str, column: Place, middle: float, quiet: str) -> None:
        length = self._theme.length
        body = Measures.body(self._model.table.section)
        old = self._model.is_stale(row)
        width = self._layer.text(body, "text1" if old else quiet, text, column.start, middle)
        if old:
            self._layer.mark(*STALE, column.start + width + length(11), middle)

    def _words(self, row: CatalogRow, text: str, column: Place, middle: float, quiet: str) -> None:
        value = row.values[column.number]
        body = Measures.body(self._model.table.section)
        x = float(column.start)
        colour = "text2" if value is not None else quiet
        spec = self._model.column(column.number)
        if spec.kind is ColumnKind.ATTRIBUTE:
            colour = "text1"
        if spec.key == "stance" and isinstance(value, str) and value in STANCES:
            glyph, tint, colour = STANCES[value]
            if glyph:
                self._layer.mark(glyph, tint, x + self._theme.length(6), middle)
            x += self._theme.length(MARK)
        most = column.start + column.size - self._theme.length(WORD_END) - x
        self._layer.text(body, colour, text, x, middle, max(1.0, most))

    def _ring(self, painter: QPainter, shown: Shown, edge: int) -> None:
        """Draw the ring of the current cell."""
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

    def _ends(self, column: Place) -> tuple[float, float]:
        """Return where the ring of a column's cells begins and ends: around figure and gutter, or words."""
        length = self._theme.length
        spec = self._model.column(column.number)
        if spec.kind is ColumnKind.NAME:
            return column.start + length(_INSET), column.start + column.size - length(4)
        if spec.kind in FIGURES:
            return column.start + length(2), column.start + column.size - 1
        return column.start - length(6), column.start + column.size - length(8)
