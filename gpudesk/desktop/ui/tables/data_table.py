"""The table of one- or two-line rows, with icons, bars and marks of estimates; a table of plain texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QPainter, QPainterStateGuard
from PySide6.QtWidgets import QHeaderView, QSizePolicy, QStyle, QWidget

from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.tables.painted_table import BY_KEYBOARD, ENTER_KEYS
from gpudesk.desktop.ui.tables.table_base import ABOVE_BELOW, Index, RowsDelegate, RowsView, TableItemModel
from gpudesk.desktop.ui.tables.text_layer import MarkLegend
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import LEFT, RIGHT, SWATCH_WIDTH, TextMeasure, ThemePainter
from gpudesk.desktop.ui.widgets.fields import align_with_fields
from gpudesk.desktop.ui.widgets.layouts import ElidedLabel, ThemedLabel, make_column, make_row
from gpudesk.report.data_table import CellSeverity, DataCell, DataColumn, DataRow, DataTable, explain_cell_marks
from gpudesk.text.formatting import Formatter, bind_units
from gpudesk.text.translation import tr

#: Design lengths: rows of one line and of two, padding of a cell, an icon, a mark.
_ROW, _TALL_ROW = 26.0, 37.0
_PAD: Final = 8.0
_ICON: Final = 14.0
_MARK: Final = 16.0
_BAR: Final = 8.0
_LEAST_WIDTH: Final = 44.0
#: Total horizontal padding of a cell, in pixels.
_CELL_SIDES: Final = 6
_EMPTY: Final = DataTable("", "", "", (), ())
#: Colors of icons whose texts also mark something unusual.
_ICON_COLORS: Final = {
    "check": "best_text",
    "circle-check": "best_text",
    "circle-alert": "unfit",
    "circle-slash-2": "unfit",
    "circle-help": "disputed_text",
    "triangle-alert": "disputed_text",
}
_SEVERITY_COLORS: Final = {CellSeverity.WARNING: "disputed_text", CellSeverity.FAULT: "unfit"}


class DataTableModel(TableItemModel):
    """The cells of a table; the first column is read aloud as the whole row."""

    def __init__(self) -> None:
        super().__init__()
        self.table = _EMPTY

    def show(self, table: DataTable) -> None:
        alike = table.columns == self.table.columns and len(table.rows) == len(self.table.rows)
        with self.exchanging(is_alike=alike):
            self.table = table

    def cell(self, row: int, column: int) -> DataCell:
        return self.table.rows[row].cells[column]

    def count_rows(self) -> int:
        return len(self.table.rows)

    def count_columns(self) -> int:
        return len(self.table.columns)

    def get_text(self, row: int, column: int) -> str:
        return self.cell(row, column).text

    def sentence(self, row: int, column: int) -> str:
        if column == 0:
            return self.table.rows[row].sentence
        cell = self.cell(row, column)
        if cell.sentence:
            return cell.sentence
        text = ", ".join(part for part in (cell.text, cell.detail) if part) or tr("empty")
        return f"{self.table.columns[column].head}: {text}"

    def get_head(self, section: int, *, spoken: bool) -> str:
        column = self.table.columns[section]
        is_painted = bool(column.slot) or self.has_gap(section)
        return column.head if spoken or not is_painted else ""

    def has_gap(self, column: int) -> bool:
        """Whether a column has space after its figures: for a mark, or before text."""
        columns, following = self.table.columns, column + 1
        is_before_words = following < len(columns) and not columns[following].is_figure
        return columns[column].is_figure and (is_before_words or any(row.cells[column].mark for row in self.table.rows))

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT if self.table.columns[column].is_figure else LEFT


#: Maximum lines of a text and of its second line.
_MOST_LINES: Final = 3
CellLines = tuple[tuple[str, ...], tuple[str, ...]]


def _get_font(cell: DataCell) -> str:
    return "label" if cell.is_strong else "small"


class _DataDelegate(RowsDelegate):
    """Paints a cell by its fields; pale ones in one quiet color. `break_cell` gives its lines in a width."""

    is_pale = False

    def __init__(
        self, theme: Theme, parent: QWidget, break_cell: Callable[[DataColumn, DataCell, float], CellLines]
    ) -> None:
        super().__init__(theme, parent)
        self._break = break_cell

    def paint_background(self, pen: ThemePainter, rect: QRectF, state: QStyle.StateFlag, index: Index) -> None:
        super().paint_background(pen, rect, state, index)
        model = index.model()
        explained = isinstance(model, DataTableModel) and model.table.columns[index.column()].figure
        if state & QStyle.StateFlag.State_HasFocus and explained:
            pen.frame(rect.adjusted(0, 0, -1, -1), "focus", radius=4.0)

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        model = index.model()
        if not isinstance(model, DataTableModel):
            return
        column, cell = model.table.columns[index.column()], model.cell(index.row(), index.column())
        if column.is_bar and cell.share is not None:
            self._paint_bar(pen, rect, cell)
            return
        length = self._theme.length
        side = _CELL_SIDES / 2
        room = rect.adjusted(side, 0, -length(_MARK + 4) if model.has_gap(index.column()) else -side, -1)
        text, details = self._break(column, cell, room.width())
        if cell.is_best:
            pen.tint(rect.adjusted(1, 2, -1, -3), "best", radius=5)
        if cell.slot:
            pen.swatch(room.left(), rect.center().y(), cell.slot, is_variant=cell.is_variant)
            room = room.adjusted(length(SWATCH_WIDTH + 8), 0, 0, 0)
        line, caption = self._theme.line("small"), self._theme.line("caption")
        top = rect.center().y() - (line * len(text) + caption * len(details)) / 2
        upper = QRectF(room.left(), top, room.width(), line)
        if cell.icon:
            side = length(_ICON)
            pen.icon(cell.icon, upper.left(), upper.center().y() - side / 2, side, _ICON_COLORS.get(cell.icon, "text2"))
            upper = upper.adjusted(side + length(6), 0, 0, 0)
        align = RIGHT if column.is_figure else LEFT
        color = _SEVERITY_COLORS.get(cell.severity, "text2" if cell.is_quiet else "text1")
        if cell.slot or self.is_pale:
            color = "text3" if self.is_pale else f"slot{cell.slot}"
        font = _get_font(cell)
        widths = [
            pen.text(upper.translated(0, line * number), words, font=font, color=color, align=align)
            for number, words in enumerate(text)
        ]
        quiet = "best_text" if cell.is_best and not self.is_pale else "text3"
        for number, words in enumerate(details):
            lower = QRectF(room.left(), top + line * len(text) + caption * number, room.width(), caption)
            pen.text(lower, words, font="caption", color=quiet, align=align)
        if cell.mark:
            x = room.right() + length(_MARK / 2 + 1) if column.is_figure else upper.left() + widths[0] + length(12)
            pen.glyph(cell.mark, x, upper.center().y())

    def _paint_bar(self, pen: ThemePainter, rect: QRectF, cell: DataCell) -> None:
        length = self._theme.length
        track = QRectF(
            rect.left() + length(_PAD),
            rect.center().y() - length(_BAR) / 2,
            rect.width() - 2 * length(_PAD),
            length(_BAR),
        )
        pen.tint(track, "sunken", radius=2)
        share = min(max(cell.share or 0.0, 0.0), 1.0)
        used = QRectF(track.left(), track.top(), track.width() * share, track.height())
        if used.width() >= 1:
            pen.tint(used, "ink1" if cell.is_strong else "ink2", radius=2)


class _DataHeader(QHeaderView):
    """Paints accelerator heads after their swatches, and heads of figures with space after them, right-aligned."""

    def __init__(self, theme: Theme, model: DataTableModel) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._rows_model = theme, model

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        super().paintSection(painter, rect, section)
        column, has_gap = self._rows_model.table.columns[section], self._rows_model.has_gap(section)
        if not column.slot and not has_gap:
            return
        with QPainterStateGuard(painter):
            pen, length = ThemePainter(painter, self._theme), self._theme.length
            right = length(_MARK + 4) if has_gap else _CELL_SIDES / 2
            if not column.slot:
                place = QRectF(rect).adjusted(0, 0, -right, 0)
                pen.text(place, column.head, font="caption_strong", color="text3", align=RIGHT)
                return
            place = QRectF(rect).adjusted(length(SWATCH_WIDTH + _PAD), 0, -right, 0)
            place.setLeft(max(place.left(), place.right() - pen.width(column.head, "caption_strong")))
            pen.text(place, column.head, font="caption_strong", color=f"slot{column.slot}")
            left = place.left() - length(SWATCH_WIDTH + _PAD / 2)
            pen.swatch(left, place.center().y(), column.slot, is_variant=column.is_variant)


class DataTableView(RowsView):
    """A click selects a row; Enter or a double click opens it."""

    chosen = Signal(object)
    opened = Signal(object)

    head_height = 24.0
    below = 2
    #: Minimum width of a shrinking text column, in design lengths.
    least_words = _LEAST_WIDTH

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, scrolls: bool = False) -> None:
        """Make a view as high as its rows; or one that `scrolls` through them."""
        self._rows_model = DataTableModel()
        super().__init__(theme, self._rows_model, _DataHeader(theme, self._rows_model), parent)
        self._rows_model.setParent(self)
        self._texts = TextMeasure(theme)
        self.setItemDelegate(_DataDelegate(theme, self, self._break_cell))
        self.setMouseTracking(True)
        self.setWordWrap(False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if scrolls:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
            self.setFrameShape(DataTableView.Shape.StyledPanel)
        self.clicked.connect(self._choose)
        self.doubleClicked.connect(self._open)
        theme.follow(self.measure)

    @property
    def table(self) -> DataTable:
        return self._rows_model.table

    @property
    def current_row(self) -> DataRow | None:
        row = self.currentIndex().row()
        return self.table.rows[row] if 0 <= row < len(self.table.rows) else None

    def show_table(self, table: DataTable) -> None:
        """Show the rows; the selected one stays selected at its new place."""
        selected = self.current_row
        self.setAccessibleName(table.title)
        self.show_anew(lambda: self._rows_model.show(table))
        if selected is not None and (self.current_row is None or self.current_row.key != selected.key):
            self.setCurrentIndex(self.find_row(selected.key))

    def set_pale(self, pale: bool) -> None:
        """Show the rows as belonging to a former query, or not."""
        delegate = self.itemDelegate()
        if isinstance(delegate, _DataDelegate) and delegate.is_pale != pale:
            delegate.is_pale = pale
            self.viewport().update()

    def clear_current(self) -> None:
        self.setCurrentIndex(QModelIndex())
        self.clearSelection()

    def find_row(self, key: str) -> QModelIndex:
        """Return the first cell of a row, an invalid index for an unknown one."""
        keys = [row.key for row in self.table.rows]
        return self._rows_model.index(keys.index(key), 0) if key in keys else QModelIndex()

    def choose_row(self, key: str | None) -> None:
        """Make a row current, in the current column if it is already; None for none."""
        index, current = self.find_row(key or ""), self.currentIndex()
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag
            cell = current if current.row() == index.row() else index
            self.selectionModel().setCurrentIndex(cell, flags.ClearAndSelect | flags.Rows)
        else:
            self.clearSelection()

    def _choose(self) -> None:
        if self.current_row is not None:
            self.chosen.emit(self.current_row)

    def _open(self) -> None:
        if self.current_row is not None:
            self.opened.emit(self.current_row)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and self.hasFocus():
            self._choose()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Choose the current row again: another table's was chosen meanwhile."""
        super().focusInEvent(event)
        if event.reason() in BY_KEYBOARD:
            self._choose()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS and self.current_row is not None:
            self._open()
        else:
            super().keyPressEvent(event)

    def measure(self) -> None:
        tall = any(cell.detail for row in self.table.rows for cell in row.cells)
        self.row_height = _TALL_ROW if tall else _ROW
        super().measure()

    def measure_lines(self, row: int) -> int:
        cells = zip(self.table.columns, self.table.rows[row].cells, strict=True)
        broken = [
            self._break_cell(column, cell, self.columnWidth(number) - _CELL_SIDES)
            for number, (column, cell) in enumerate(cells)
            if not column.is_figure and (not column.is_bar or cell.share is None)
        ]
        usual = 1 + (self.row_height == _TALL_ROW)
        line, caption = self._theme.line("small"), self._theme.line("caption")
        highs = [
            line * len(text) + caption * len(details) + self._theme.px(ABOVE_BELOW)
            for text, details in broken
            if len(text) + len(details) > usual
        ]
        return max(highs, default=0)

    def _break_cell(self, column: DataColumn, cell: DataCell, width: float) -> CellLines:
        """Return the lines of a text and of its second line; figures have one each."""
        details: tuple[str, ...] = (cell.detail,) if cell.detail else ()
        if column.is_figure:
            return (cell.text,), details
        if cell.detail:
            room = width - (self._theme.px(SWATCH_WIDTH + 8) if cell.slot else 0)
            details = self._texts.lines(cell.detail, "caption", room, _MOST_LINES)
        return self._texts.lines(cell.text, _get_font(cell), width - self._measure_marks(cell), _MOST_LINES), details

    def fit_columns(self) -> None:
        """Give figures their width, then texts, then second lines; columns share the rest.

        If space is short, long texts get more than short ones. If it is ample, a text stays near the figures after it,
        and these share what it leaves, so that the table reaches the margin.
        """
        columns, least = self.table.columns, self._theme.px(_LEAST_WIDTH)
        needs = [max(self._measure_column(number), least) for number in range(len(columns))]
        words = [number for number, column in enumerate(columns) if column.stretch and not column.is_figure]
        target_widths = {number: needs[number] for number in words}
        left = max(self.viewport().width() - sum(needs) + sum(target_widths.values()), 0)
        # No text column has to be wider than its texts.
        least_words = {number: min(self._theme.px(self.least_words), need) for number, need in target_widths.items()}
        for number in words:
            needs[number] = max(self._measure_longest_word(number), least_words[number])
        left = max(left - sum(needs[number] for number in words), 0)
        left = _share_room(needs, target_widths, left)
        left = _share_room(needs, {number: self._measure_details(number) for number in words}, left)
        parts, last = sum(column.stretch for column in columns), len(columns) - 1
        extras = [left * column.stretch // max(1, parts) for column in columns]
        for number in words:
            if number != last and not columns[number].is_bar:
                extras[number] = min(extras[number], needs[number] // 2)
        if parts and not columns[last].is_figure:
            extras[last] = left - sum(extras[:last])
        elif parts:
            figures = [number for number, column in enumerate(columns) if column.is_figure]
            for place, number in enumerate(figures):
                extras[number] += (left - sum(extras)) // (len(figures) - place)
        for number, (need, extra) in enumerate(zip(needs, extras, strict=True)):
            self.setColumnWidth(number, need + extra)

    def _measure_column(self, number: int) -> int:
        """Return the width of the head and the texts of a column, without details."""
        px, column = self._theme.px, self.table.columns[number]
        head, strong, plain, detail = (
            QFontMetricsF(self._theme.font(name)) for name in ("caption_strong", "label", "small", "caption")
        )
        has_gap = self._rows_model.has_gap(number)
        head_width = head.horizontalAdvance(column.head) + (px(_PAD + _MARK + 4) if has_gap else px(14))
        if column.slot:
            head_width += px(SWATCH_WIDTH)
        cells = [row.cells[number] for row in self.table.rows]
        if column.is_figure:
            texts = [max(strong.horizontalAdvance(cell.text), detail.horizontalAdvance(cell.detail)) for cell in cells]
            beside = px(_PAD) + (px(_MARK + 4) if has_gap else px(_PAD))
        else:
            texts = [
                (strong if cell.is_strong else plain).horizontalAdvance(cell.text) + self._measure_marks(cell)
                for cell in cells
            ]
            beside = px(_PAD) + 1
        return round(max(max(texts, default=0.0) + beside, head_width)) + 1

    def _measure_longest_word(self, number: int) -> int:
        """Return the width of a text column at which no word is broken."""
        metrics = QFontMetricsF(self._theme.font("label"))
        cells = [row.cells[number] for row in self.table.rows]
        words = [
            max((word for text in (cell.text, cell.detail) for word in bind_units(text).split(" ")), key=len)
            for cell in cells
        ]
        widths = [
            metrics.horizontalAdvance(word) + self._measure_marks(cell) for word, cell in zip(words, cells, strict=True)
        ]
        return round(max(widths, default=0.0)) + _CELL_SIDES + 1

    def _measure_details(self, number: int) -> int:
        """Return the width of a text column's second lines."""
        metrics = QFontMetricsF(self._theme.font("caption"))
        details = (row.cells[number].detail for row in self.table.rows)
        return round(max(map(metrics.horizontalAdvance, details), default=0.0)) + self._theme.px(_PAD) + 2

    def _measure_marks(self, cell: DataCell) -> int:
        """Return the width of the icons and marks next to a cell's text."""
        marks = ((cell.slot, SWATCH_WIDTH + 8), (cell.icon, _ICON + 6), (cell.mark, _MARK + 6))
        return sum(self._theme.px(width) for is_there, width in marks if is_there)


def _share_room(widths: list[int], target_widths: Mapping[int, int], room: int) -> int:
    """Widen columns to their wanted width, the nearest first; return the remaining width."""
    lacks = {number: max(want - widths[number], 0) for number, want in target_widths.items()}
    for place, number in enumerate(sorted(lacks, key=lambda each: lacks[each])):
        added_width = min(lacks[number], room // (len(lacks) - place))
        widths[number] += added_width
        room -= added_width
    return room


class FiguresTable(DataTableView):
    """Figures of accelerators at a load, with stable widths while only the figures change and fit."""

    #: The key of the row and the figure of the cell that was clicked or chosen by key.
    chosen = Signal(str, str)

    least_words = 180.0

    def show_table(self, table: DataTable) -> None:
        heads, count = self.table.columns, len(self.table.rows)
        if (heads, count) != (table.columns, len(table.rows)):
            super().show_table(table)
        else:
            self.setAccessibleName(table.title)
            self._rows_model.show(table)
            if self._cuts_figures():
                self.fit_columns()
            self.fit_rows()

    def _cuts_figures(self) -> bool:
        figures = (number for number, column in enumerate(self.table.columns) if column.is_figure)
        return any(self._measure_column(number) > self.columnWidth(number) for number in figures)

    def _choose(self) -> None:
        index = self.currentIndex()
        figure = self.table.columns[index.column()].figure if index.isValid() else ""
        if figure:
            self.chosen.emit(self.table.rows[index.row()].key, figure)

    _open = _choose


class TextTable(DataTableView):
    """Rows of texts: those of `numbers` are right-aligned, columns in `giving` share the width."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        heads: Sequence[str],
        *,
        numbers: Collection[int] = (),
        giving: Collection[int] = (),
        scrolls: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent, scrolls=scrolls)
        columns = tuple(DataColumn(head, n in numbers, int(n in giving)) for n, head in enumerate(heads))
        self.show_table(DataTable("", name, "", columns, ()))

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.set_cells({str(n): [DataCell(text) for text in row] for n, row in enumerate(rows)})

    def set_cells(self, rows: Mapping[str, Sequence[DataCell]]) -> None:
        """Show the cells of rows by key; the first is read aloud as the whole row."""
        data_rows = (DataRow(key, tuple(cells), cells[0].sentence or cells[0].text) for key, cells in rows.items())
        self.show_table(replace(self.table, rows=tuple(data_rows)))

    def choose_any(self) -> None:
        """Make the first row current, unless one is."""
        if self.current_row is None:
            self.setCurrentIndex(self._rows_model.index(0, 0))

    def texts(self) -> list[tuple[str, ...]]:
        return [tuple(cell.text for cell in row.cells) for row in self.table.rows]


class DataTableSection(QWidget):
    """A title with controls at its right, the table, and a note below it or in its place.

    Its left padding is that of fields, whose texts align with the table.
    """

    def __init__(self, theme: Theme, formatter: Formatter, *controls: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.formatter = formatter
        self._build: Callable[[Formatter], DataTable] | None = None
        self.title = ThemedLabel(theme, font="section")
        self.subtitle = ElidedLabel(theme)
        self.view = DataTableView(theme)
        self.legend = MarkLegend(theme)
        self.legend.margin = 0.0
        self.note = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.head = make_row(self.title, (self.subtitle, 1), *controls, gap=10)
        self._above, self._below = make_column(gap=4), make_column(gap=4)
        parts = ((self.head,), self._above, (self.view,), self._below, (self.legend, self.note))
        items = (align_with_fields(theme, *each, gap=4) if isinstance(each, tuple) else each for each in parts)
        make_column(*items, gap=4, on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def put_above_table(self, *fields: QWidget) -> None:
        for widget in fields:
            self._above.addWidget(widget)

    def put_below_table(self, fields: QWidget) -> None:
        self._below.addWidget(fields)

    def show_table(self, build: Callable[[Formatter], DataTable]) -> None:
        """Show the table that `build` makes with a formatter."""
        self._build = build
        table = build(self.formatter)
        self.title.setText(table.title)
        self.subtitle.set_whole(table.subtitle)
        self.view.show_table(table)
        self.view.setVisible(bool(table.rows))
        marks = explain_cell_marks(table.rows)
        self.legend.explain(marks)
        self.legend.setVisible(bool(marks))
        self.note.show_text(table.note)

    def data(self, formatter: Formatter) -> ChartData:
        if self._build is None:
            return ChartData("", (), ())
        table = self._build(formatter)
        return make_chart_data(table.title, table)


def make_chart_data(title: str, table: DataTable) -> ChartData:
    """Return the texts of a table; named second lines are separate columns, others follow in parentheses."""
    heads, columns = [], []
    for place, column in enumerate(table.columns):
        cells = [row.cells[place] for row in table.rows]
        is_apart = bool(column.detail) and any(cell.detail for cell in cells)
        heads.append(column.head)
        columns.append([cell.text if is_apart or not cell.detail else f"{cell.text} ({cell.detail})" for cell in cells])
        if is_apart:
            heads.append(f"{column.head}, {column.detail}")
            columns.append([cell.detail for cell in cells])
    return ChartData(title=title, heads=tuple(heads), rows=tuple(zip(*columns, strict=True)))
