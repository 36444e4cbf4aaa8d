"""Row heights, column widths and the header of a catalog list."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainterStateGuard
from PySide6.QtWidgets import QHeaderView, QWidget

from gpudesk.desktop.pages.catalog.catalog_model import CatalogModel, CatalogSorting
from gpudesk.desktop.ui.tables.painted_table import PaintedHeader
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, TextMeasure, ThemePainter
from gpudesk.domain.attributes import CatalogCellValue, CatalogColumn, CatalogColumnKind, CatalogRow, CatalogSection
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.catalog_lists import FIGURES, label_column, label_column_group
from gpudesk.text.formatting import bind_units
from gpudesk.text.translation import tr

#: Design lengths: the margin of the page, the space after text, and the gutter right of figures.
MARGIN: Final = 16.0
#: The margin right of a table; the scroll bar takes the rest.
RIGHT_MARGIN: Final = 6.0
WORD_END: Final = 12.0
GUTTER: Final = 18.0
WIDE_GUTTER: Final = 33.0
FIGURE_START: Final = 5.0
#: Space left and right of the line below the head of a group of columns; how far its text may go beyond it.
_GROUP_START: Final = 10.0
_GROUP_END: Final = GUTTER - 4.0
_GROUP_OVER: Final = 10.0
SWATCH: Final = 25.0
#: Space for a mark left of a text, and right of an age.
MARK: Final = 15.0
_TAG_GAP: Final = 8.0
#: Maximum text width by default, and the minimum when cut.
_MOST_WORDS: Final = 250.0
_LEAST_WORDS: Final = 84.0
_MOST_VALUE: Final = 130.0
_MOST_NAME: Final = 300.0
_LEAST_NAME: Final = 128.0
_TAGGED_NAME: Final = 72.0
#: Columns of short text keep more of their width.
_LEAST: Final = {
    CatalogColumnKind.DATE: 96.0,
    CatalogColumnKind.AGE: 100.0,
    CatalogColumnKind.ATTRIBUTE: 104.0,
    CatalogColumnKind.UNIT: 62.0,
}
#: Maximum growth of a column if there is room.
_SPARE: Final = 46.0
_SAMPLE: Final = 16
#: Share of rows whose text a column fits by itself, so that few long ones do not take the space of others.
_MOST_ROWS: Final = 0.9
_SAMPLED_ROWS: Final = 500
#: Longer lists have lower rows.
_CLOSE: Final = frozenset(
    {
        CatalogSection.SYSTEMS,
        CatalogSection.MODELS,
        CatalogSection.PRICES,
        CatalogSection.CLAIMS,
        CatalogSection.DISPUTES,
        CatalogSection.SOURCES,
    }
)
#: Lists with wrapped text.
_WRAPPED: Final = frozenset({CatalogSection.ACCELERATORS, CatalogSection.DISPUTES})


@frozen_dataclass
class ColumnWidthRange:
    """Width of a column by its content, its minimum, and its full width."""

    width: float
    least: float
    whole: float


class CatalogLayout:
    """Computes heights and widths from the theme's fonts; measurements are cached by table."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme = theme
        self._texts = texts
        self._measure = TextMeasure(theme)
        self._natural_widths: dict[int, ColumnWidthRange] = {}
        self._table: object = None
        self._gutters: dict[int, float] = {}
        theme.changed.connect(self._forget)

    # Heights

    @staticmethod
    def body(section: CatalogSection) -> str:
        return "small" if section in _CLOSE else "body"

    def row_height(self, section: CatalogSection, line_count: int = 1) -> int:
        if section in _CLOSE:
            return self._theme.line("small") * line_count + self._theme.px(8)
        return self._theme.line("body") * line_count + self._theme.px(9)

    @staticmethod
    def wraps(section: CatalogSection) -> bool:
        return section in _WRAPPED

    def break_words(self, section: CatalogSection, text: str, width: float) -> tuple[str, ...]:
        """Return the lines of a cell's text in a column of this width."""
        if section not in _WRAPPED:
            return (text,)
        return self._measure.lines(text, self.body(section), self.compute_text_room(width))

    def compute_text_room(self, width: float) -> float:
        return max(1.0, width - self._theme.length(WORD_END))

    def measure_heading(self) -> int:
        return self._theme.line("small") + self._theme.px(19)

    def head_height(self, *, grouped: bool) -> int:
        line = self._theme.line("caption")
        return line + self._theme.px(12) + (line + self._theme.px(4) if grouped else 0)

    # Widths

    def widths(
        self, model: CatalogModel, visible_columns: Sequence[int], room: int, chosen: Mapping[str, int]
    ) -> dict[int, int]:
        """Return the width of each visible column; `chosen` are user-set ones, by key."""
        self._follow(model)
        naturals = {column: self._get_width_range(model, column) for column in visible_columns}
        fixed = {
            column: float(chosen[model.column(column).key])
            for column in visible_columns
            if model.column(column).key in chosen
        }
        free = [column for column in visible_columns if column not in fixed]
        remaining = room - sum(fixed.values()) - self._theme.length(RIGHT_MARGIN)
        widths = fixed | self._distribute_width({column: naturals[column] for column in free}, remaining)
        return {column: round(width) for column, width in widths.items()}

    def _distribute_width(self, naturals: Mapping[int, ColumnWidthRange], room: float) -> dict[int, float]:
        """Distribute the width: first to cut columns up to their full width, then a little to all; else shrink all."""
        wished_widths = {column: natural.width for column, natural in naturals.items()}
        spare = room - sum(wished_widths.values())
        if spare < 0:
            give = {column: natural.width - natural.least for column, natural in naturals.items()}
            share = min(1.0, -spare / sum(give.values())) if sum(give.values()) > 0 else 0.0
            return {column: wished_widths[column] - share * give[column] for column in wished_widths}
        cut = {column: natural.whole - natural.width for column, natural in naturals.items()}
        missing = sum(cut.values())
        if missing > 0:
            share = min(1.0, spare / missing)
            wished_widths = {column: wished_widths[column] + share * cut[column] for column in wished_widths}
            spare = room - sum(wished_widths.values())
        if wished_widths and spare > 0:
            each = min(spare / len(wished_widths), self._theme.length(_SPARE))
            wished_widths = {column: width + each for column, width in wished_widths.items()}
        return wished_widths

    def gutter(self, model: CatalogModel, number: int) -> float:
        """Return the space for marks right of a column's figures: for one, or for two."""
        self._follow(model)
        width = self._gutters.get(number)
        if width is None:
            marks = (row.marks[number] for row in model.table.rows if row.marks)
            two = any(mark.bit_count() > 1 for mark in marks)
            width = self._gutters[number] = self._theme.length(WIDE_GUTTER if two else GUTTER)
        return width

    def _follow(self, model: CatalogModel) -> None:
        if model.table is not self._table:
            self._forget()
            self._table = model.table

    def _forget(self) -> None:
        self._natural_widths.clear()
        self._gutters.clear()

    def _get_width_range(self, model: CatalogModel, number: int) -> ColumnWidthRange:
        natural = self._natural_widths.get(number)
        if natural is None:
            natural = self._natural_widths[number] = self._measure_column(model, number)
        return natural

    def _measure_column(self, model: CatalogModel, number: int) -> ColumnWidthRange:
        column, length = model.column(number), self._theme.length
        section = model.table.section
        head = self._texts.width("caption_strong", label_column(section, column))
        content = self._measure_content(model, number, column)
        if column.kind in FIGURES:
            width = max(content, head) + length(FIGURE_START) + self.gutter(model, number)
            if column.group and sum(other.group == column.group for other in model.table.columns) == 1:
                group = self._texts.width("caption_strong", label_column_group(column.group))
                width = max(width, group + length(_GROUP_START + _GROUP_END - 2 * _GROUP_OVER) + 1.0)
            if column.kind is CatalogColumnKind.VALUE:
                return ColumnWidthRange(min(width, length(_MOST_VALUE)), min(width, length(_MOST_VALUE)), width)
            return ColumnWidthRange(width, width, width)
        arrow = length(MARK)
        if column.kind is CatalogColumnKind.NAME:
            around = length(MARGIN + WORD_END) + (length(SWATCH) if section is CatalogSection.ACCELERATORS else 0.0)
            whole = max(content, head) + around
            width = min(max(self._measure_usual_text(model, number), head) + around, length(_MOST_NAME))
            least = max(length(_LEAST_NAME), self._measure_tagged_names(model))
            return ColumnWidthRange(width, min(width, least), whole)
        whole = max(content, head + arrow) + length(WORD_END)
        if column.kind in (CatalogColumnKind.DATE, CatalogColumnKind.WORD):
            return ColumnWidthRange(whole, whole, whole)
        usual = self._measure_usual_text(model, number) if column.kind is CatalogColumnKind.TEXT else content
        width = min(max(usual, head + arrow) + length(WORD_END), length(_MOST_WORDS))
        least = length(_LEAST.get(column.kind, _LEAST_WORDS))
        if section in _WRAPPED and column.kind is CatalogColumnKind.TEXT:
            word = math.ceil(self._measure_widest_word(model, number) + length(WORD_END))
            least, width = max(least, word), max(width, word)
        return ColumnWidthRange(width, min(width, least), whole)

    def _measure_usual_text(self, model: CatalogModel, number: int) -> float:
        """Return the width that fits the text of most rows; long lists are sampled."""
        rows = model.table.rows
        value_counts = Counter(row.values[number] for row in rows[:: len(rows) // _SAMPLED_ROWS + 1])
        few = (1 - _MOST_ROWS) * value_counts.total()
        for value in sorted(value_counts, key=lambda value: 0 if value is None else -len(str(value))):
            few -= value_counts[value]
            if few < 0:
                break
        else:
            return 0.0
        row = next(row for row in model.table.rows if row.values[number] == value)
        return self._texts.width(self._choose_font(model, model.column(number)), model.text(row, number))

    def _measure_widest_word(self, model: CatalogModel, number: int) -> float:
        texts = {model.text(row, number) for row in model.table.rows}
        words = {word for text in texts for word in bind_units(text).split(" ")}
        return max((self._texts.width(self.body(model.table.section), word) for word in words), default=0.0)

    def _choose_font(self, model: CatalogModel, column: CatalogColumn) -> str:
        font = self.body(model.table.section)
        return f"{font}_strong" if column.kind is CatalogColumnKind.NAME else font

    def _measure_tagged_names(self, model: CatalogModel) -> float:
        """Return the width of names next to a tag, which must not be cut completely."""
        announced = [row for row in model.table.rows if row.announced]
        most = self._theme.length(_TAGGED_NAME)
        texts = (min(most, self._texts.width("body_strong", model.text(row, 0))) for row in announced)
        around = self._theme.length(MARGIN + SWATCH + WORD_END + 12 + _TAG_GAP)
        tag = self._texts.width("caption_strong", tr("Announced"))
        return max((text + tag + around for text in texts), default=0.0)

    def _measure_content(self, model: CatalogModel, number: int, column: CatalogColumn) -> float:
        font = self._choose_font(model, column)
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
    """Return the font of a value: ranges are smaller."""
    return "small" if column.kind is CatalogColumnKind.MONEY and isinstance(value, tuple) else font


def _find_longest_rows(rows: Collection[CatalogRow], number: int) -> list[CatalogRow]:
    by_value = {row.values[number]: row for row in rows if row.values[number] is not None}
    if len(by_value) > _SAMPLE:
        longest = sorted(by_value, key=lambda value: len(str(value)), reverse=True)[:_SAMPLE]
        # Large figures have more digits before the point than small ones in total.
        numbers = [value for value in by_value if isinstance(value, int | float)]
        if numbers:
            longest += [max(numbers), min(numbers)]
        by_value = {value: by_value[value] for value in longest}
    announced = [row for row in rows if row.announced]
    return [*by_value.values(), *announced]


_ARROW: Final = 12.0


class CatalogHeader(PaintedHeader):
    """Paints the heads of columns and of groups of columns; the first does not scroll."""

    #: The column to sort the rows by.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, measures: CatalogLayout, model: CatalogModel, parent: QWidget) -> None:
        super().__init__(theme, tr("Columns"), Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._measures = measures
        self._model = model
        self.sorting: CatalogSorting | None = None
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setSectionsClickable(True)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setMinimumSectionSize(theme.px(24))
        self.sectionClicked.connect(self.sort_requested)

    def update_header_height(self) -> None:
        grouped = any(
            self._model.column(number).group for number in self.list_visible() if number < self._model.columnCount()
        )
        self.set_extent(self._measures.head_height(grouped=grouped))

    def list_visible(self) -> list[int]:
        order = (self.logicalIndex(place) for place in range(self.count()))
        return [number for number in order if not self.isSectionHidden(number)]

    def start_of(self, number: int) -> int:
        """Return where a column starts on the screen; the first stays in place."""
        return 0 if number == 0 else self.sectionViewportPosition(number)

    @property
    def frozen_width(self) -> int:
        return self.sectionSize(0) if self.count() else 0

    def find_section_at(self, place: QPoint) -> int:
        """Return the column at a position, -1 for none."""
        return 0 if 0 <= place.x() < self.frozen_width else super().find_section_at(place)

    # Painting

    def set_hovered(self, number: int) -> None:
        super().set_hovered(number)
        self.viewport().update()

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:  # noqa: ARG002 - few heads, all painted
        edge, visible_columns = self.frozen_width, self.list_visible()
        with QPainterStateGuard(pen.painter):
            pen.painter.setClipRect(QRect(edge, 0, max(0, self.width() - edge), self.height()))
            for number in visible_columns:
                if number:
                    self._paint_head(pen, number)
            place = 0
            while place < len(visible_columns):
                group = self._model.column(visible_columns[place]).group
                last = place
                while (
                    group
                    and last + 1 < len(visible_columns)
                    and self._model.column(visible_columns[last + 1]).group == group
                ):
                    last += 1
                if group:
                    self._paint_group(pen, group, visible_columns[place], visible_columns[last])
                place = last + 1
        if visible_columns and visible_columns[0] == 0:
            self._paint_head(pen, 0)
        bottom, margin = self.height() - 1, self._theme.px(MARGIN)
        width = self.viewport().width()
        right = width - self._theme.px(RIGHT_MARGIN) if self.length() <= width else width
        pen.hairline(margin, bottom, right, bottom, "strong")
        if self.offset() > 0:
            pen.hairline(edge - 1, 0, edge - 1, bottom, "strong")

    def _paint_head(self, pen: ThemePainter, number: int) -> None:
        theme, column = self._theme, self._model.column(number)
        length = theme.length
        start, size = self.start_of(number), self.sectionSize(number)
        line = theme.line("caption")
        top = self.height() - theme.px(7) - line
        text = label_column(self._model.table.section, column)
        active = self.sorting is not None and self.sorting.column == column.key
        color = "text1" if active else "text3"
        arrow = self._find_arrow(number, active=active)
        side = length(_ARROW)
        if column.kind in FIGURES:
            right = start + size - self._measures.gutter(self._model, number)
            pen.text(QRectF(start, top, right - start, line), text, font="caption_strong", color=color,
                     align=RIGHT)  # fmt: skip
            x = right + length(3)
        else:
            x = start + (length(MARGIN) if column.kind is CatalogColumnKind.NAME else 0.0)
            if column.kind is CatalogColumnKind.NAME and self._model.table.section is CatalogSection.ACCELERATORS:
                x += length(SWATCH)
            room = start + size - x - (side + 3 if arrow else length(WORD_END) / 2)
            x += pen.text(QRectF(x, top, max(1.0, room), line), text, font="caption_strong", color=color)
            x += length(3)
        if arrow:
            pen.icon(arrow, x, top + (line - side) / 2, side, "text1" if active else "text3")

    def _find_arrow(self, number: int, *, active: bool) -> str:
        if active and self.sorting is not None:
            return "arrow-down" if self.sorting.descending else "arrow-up"
        return "arrow-up-down" if number == self.hovered_section else ""

    def _paint_group(self, pen: ThemePainter, group: str, first: int, last: int) -> None:
        theme = self._theme
        start = self.start_of(first) + theme.length(_GROUP_START)
        end = self.start_of(last) + self.sectionSize(last) - theme.length(_GROUP_END)
        # Partly scrolled columns, over visible ones.
        start, end = max(start, self.frozen_width), min(end, self.width())
        if end - start < theme.length(24):
            return
        line = theme.line("caption")
        top = self.height() - theme.px(7) - 2 * line - theme.px(4)
        over = theme.length(_GROUP_OVER)
        room = QRectF(start - over, top, end - start + 2 * over, line)
        pen.text(room, label_column_group(group), font="caption_strong", color="text3", align=CENTER)
        pen.hairline(start, top + line + 1, end, top + line + 1, "strong")

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Sort by the first column where it covers another; else click, move or resize."""
        if (
            self.offset() > 0 and event.position().toPoint().x() < self.frozen_width
        ) and event.button() == Qt.MouseButton.LeftButton:
            self.sort_requested.emit(0)
            return
        super().mousePressEvent(event)
