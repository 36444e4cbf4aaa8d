"""The table below a chart: figures of each accelerator at this load, and what limits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.tables.item_model import Index, TableItemModel
from gpudesk.desktop.ui.tables.rows_view import ABOVE_BELOW, RowsDelegate, RowsView
from gpudesk.desktop.ui.theme.text_measure import TextMeasure
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.text.translation import tr

#: Between the last figure, flush right, and the sentences, flush left.
_GAP = "\u2003"
#: The margin of heads, in pixels: cells begin and end below their heads.
_HEAD_MARGIN = 3
#: What is free right of the sentences, in pixels.
_SENTENCE_RIGHT = 4
#: The width of sentences where figures leave none, in lengths of the design.
_LEAST_SENTENCE = 180.0
#: Lines of a sentence at most.
_MOST_LINES = 3


@dataclass(frozen=True, slots=True)
class FigureRow:
    """An accelerator: texts of its figures, a sentence, and whether that tells of a fault."""

    key: str
    palette_index: int
    is_variant: bool
    name: str
    cells: tuple[str, ...]
    sentence: str
    faulty: bool = False


@dataclass(frozen=True, slots=True)
class FiguresContent:
    """What the table shows: heads of figures, which of them lead (in bold), rows, head of the sentences."""

    title: str
    heads: tuple[str, ...]
    leading: frozenset[int]
    figures: tuple[str, ...]
    rows: tuple[FigureRow, ...]
    remarks_head: str = ""


class FiguresModel(TableItemModel):
    """An item model of those rows: name, figures, sentence."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.figures = FiguresContent("", (), frozenset(), (), ())

    def show_figures(self, figures: FiguresContent) -> None:
        """Show other figures; the same rows and heads only change their texts."""
        before = self.figures
        alike = before.heads == figures.heads and len(before.rows) == len(figures.rows)
        self.exchange(lambda: self._replace_figures(figures), is_alike=alike)

    def _replace_figures(self, figures: FiguresContent) -> None:
        self.figures = figures

    def count_rows(self) -> int:
        return len(self.figures.rows)

    def count_columns(self) -> int:
        return len(self.figures.heads) + 2

    def _is_figure(self, column: int) -> bool:
        return 0 < column <= len(self.figures.heads)

    def get_text(self, row: int, column: int) -> str:
        line = self.figures.rows[row]
        return (line.name, *line.cells, line.sentence)[column]

    def sentence(self, row: int, column: int) -> str:
        text = self.get_text(row, column)
        if not self._is_figure(column):
            return text
        line = self.figures.rows[row]
        return tr("{figure}, {name}: {value}", figure=self.figures.heads[column - 1], name=line.name, value=text)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - by role
        return super().data(index, Qt.ItemDataRole.DisplayRole if role == Qt.ItemDataRole.ToolTipRole else role)

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        remarks = self.figures.remarks_head or tr("Limiting factor")
        return (tr("Accelerator"), *self.figures.heads, remarks if spoken else _GAP + remarks)[section]

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignRight if self._is_figure(column) else Qt.AlignmentFlag.AlignLeft


def _measure_left(theme: Theme) -> float:
    """Return where sentences begin in their column: below the words of its head."""
    return _HEAD_MARGIN + QFontMetricsF(theme.font("caption_strong")).horizontalAdvance(_GAP)


class _FiguresDelegate(RowsDelegate):
    """Paints the name with its swatch, figures at the right, at the left the sentence in the lines of `break_it`."""

    def __init__(self, theme: Theme, parent: QWidget, break_it: Callable[[str], Sequence[str]]) -> None:
        super().__init__(theme, parent)
        self._break = break_it

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        model = index.model()
        if isinstance(model, FiguresModel):
            figures, column, theme, px = model.figures, index.column(), self._theme, self._theme.px
            row = figures.rows[index.row()]
            if column == 0:
                pen.swatch(rect.left() + _HEAD_MARGIN, rect.center().y(), row.palette_index, is_variant=row.is_variant)
                name = rect.adjusted(_HEAD_MARGIN + px(SWATCH_WIDTH) + px(8), 0, -4, 0)
                pen.text(name, row.name, font="section", colour=theme.name_color(row.palette_index))
            elif column == len(figures.heads) + 1:
                colour, line = "unfit" if row.faulty else "text2", theme.line("small")
                lines = self._break(row.sentence)
                room = rect.adjusted(_measure_left(theme), 0, -_SENTENCE_RIGHT, 0)
                for number, words in enumerate(lines):
                    top = rect.center().y() + line * (number - len(lines) / 2)
                    box = QRectF(room.left(), top, room.width(), line)
                    pen.text(box, words, font="small", colour=colour)
            else:
                leads = column - 1 in figures.leading
                font, colour = ("section", "text1") if leads else ("small", "text2")
                pen.text(
                    rect.adjusted(4, 0, -_HEAD_MARGIN, 0), row.cells[column - 1], font=font, colour=colour, align=RIGHT
                )


class FiguresTable(RowsView):
    """A click or Enter selects the row's figure."""

    #: The key of a row and the figure of the cell that was chosen.
    chosen = Signal(str, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._model = FiguresModel()
        super().__init__(theme, self._model, parent=parent)
        self._model.setParent(self)
        self._texts = TextMeasure(theme)
        self.setItemDelegate(_FiguresDelegate(theme, self, self._break_sentence))
        self.setMouseTracking(True)
        self.activated.connect(self._choose)
        self.clicked.connect(self._choose)
        theme.follow(self.measure)

    def show_figures(self, figures: FiguresContent) -> None:
        before = self._model.figures
        self._model.show_figures(figures)
        self.setAccessibleName(figures.title)
        if (before.heads, len(before.rows)) != (figures.heads, len(figures.rows)):
            self.measure()
        else:
            self.fit_rows()

    def fit_columns(self) -> None:
        """Give figures what they need, and sentences what is left."""
        px = self._theme.px
        figures = self._model.figures
        head = QFontMetricsF(self._theme.font("caption_strong"))
        body = QFontMetricsF(self._theme.font("section"))
        self.setColumnWidth(0, px(156))
        for number, text in enumerate(figures.heads):
            widest = max((body.horizontalAdvance(row.cells[number]) for row in figures.rows), default=0.0)
            width = max(head.horizontalAdvance(text) + px(20), widest + px(24), px(80))
            self.setColumnWidth(number + 1, int(width))
        last = self._model.count_columns() - 1
        left = self.viewport().width() - sum(map(self.columnWidth, range(last)))
        self.setColumnWidth(last, max(left, px(_LEAST_SENTENCE), self.horizontalHeader().sectionSizeHint(last)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()
            self.fit_rows()

    def _break_sentence(self, text: str) -> Sequence[str]:
        room = self.columnWidth(self._model.count_columns() - 1) - _measure_left(self._theme) - _SENTENCE_RIGHT
        return self._texts.lines(text, "small", room, _MOST_LINES)

    def measure_lines(self, row: int) -> int:
        lines = len(self._break_sentence(self._model.figures.rows[row].sentence))
        return 0 if lines == 1 else self._theme.line("small") * lines + self._theme.px(ABOVE_BELOW)

    def _choose(self, index: QModelIndex) -> None:
        figures = self._model.figures
        if not index.isValid() or not figures.figures:
            return
        column = min(max(index.column() - 1, 0), len(figures.figures) - 1)
        self.chosen.emit(figures.rows[index.row()].key, figures.figures[column])

    def choose_row(self, key: str | None) -> None:
        keys = [row.key for row in self._model.figures.rows]
        if key in keys:
            index = self._model.index(keys.index(key), 0)
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        else:
            self.clearSelection()
