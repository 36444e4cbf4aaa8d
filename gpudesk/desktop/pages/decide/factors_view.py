"""The factors view: each factor judged by a figure of every accelerator."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QWidget

from gpudesk.desktop.pages.decide.factors_model import (
    FACTOR,
    FIRST,
    FactorRow,
    FactorsModel,
    FactorTableCell,
    make_factor_rows,
)
from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.trace_model import TraceHead
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import select_trace_row
from gpudesk.desktop.ui.tables.painted_table import Index, PaintedHeader, PaintedTable, find_visible_sections
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_column, make_row
from gpudesk.domain.decision import FactorLevel
from gpudesk.text.translation import tr

_HEAD_HEIGHT: Final = 34.0
_ROW_HEIGHT: Final = 56.0
_PAD: Final = 8.0
#: From the middle of a row to the middle of each of its lines.
_LINE: Final = 8.5
_FACTOR: Final = (120.0, 250.0)
#: What documents say takes so many lines at most.
_MOST_LINES: Final = 2
_CELL: Final = (80.0, 132.0)
_CELLS: Final = 0.44
_BY_KEY: Final = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class _FactorsHeader(PaintedHeader):
    """Names of accelerators in their colours, and of the other two columns."""

    def __init__(self, theme: Theme, model: FactorsModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme, self._model = theme, model
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setHighlightSections(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            swatches = self._has_room_for_swatches(pen)
            for column in range(self.count()):
                self._head(pen, column, swatch=swatches)
            bottom, pad = self.height() - 1, self._theme.px(_PAD)
            pen.hairline(pad, bottom, self.viewport().width() - pad, bottom, "strong")

    def _has_room_for_swatches(self, pen: ThemePainter) -> bool:
        """Whether all names have room behind their swatches; else none has one."""
        before = self._theme.length(_PAD + 25) + 2
        return all(
            before + pen.width(head.name, "label") <= self.sectionSize(FIRST + place)
            for place, head in enumerate(self._model.heads)
        )

    def _head(self, pen: ThemePainter, column: int, *, swatch: bool) -> None:
        theme, height, head = self._theme, self.height() - 1, self._model.head(column)
        x = self.sectionViewportPosition(column) + theme.length(_PAD)
        right = self.sectionViewportPosition(column) + self.sectionSize(column) - 2
        if head is None:
            text = str(self._model.headerData(column, Qt.Orientation.Horizontal) or "")
            place = QRectF(x, 0, max(1.0, right - x), height)
            pen.text(place, text, font="caption_strong", colour="text3")
            return
        if swatch:
            x += pen.swatch(x, height / 2, head.slot, is_variant=head.is_variant) + theme.length(5)
        place = QRectF(x, 0, max(1.0, right - x), height)
        pen.text(place, head.name, font="label", colour=theme.name_color(head.slot))


class FactorsTableView(PaintedTable):
    """As high as its rows; arrows walk over the cells, each of which has a sentence."""

    #: Number of the row and key of the column (empty for factor and documents) that became current.
    cell_chosen = Signal(int, str)

    def __init__(self, theme: Theme, model: FactorsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._table = theme, model
        self._hovered = -1
        self._texts = TextCache(theme)
        self._layer = TextLayer(theme, self._texts)
        self._heads = _FactorsHeader(theme, model, self)
        self.setHorizontalHeader(self._heads)
        self.set_up(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.setAccessibleName(tr("Factors"))
        model.modelReset.connect(self.measure)
        model.dataChanged.connect(self.viewport().update)
        theme.follow(self.measure)

    # Measures

    def measure(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(_ROW_HEIGHT))
        self._heads.setFixedHeight(self._theme.px(_HEAD_HEIGHT))
        self.setFixedHeight(self._whole_height())
        self._fit_columns()
        self.viewport().update()
        self._heads.viewport().update()

    def _whole_height(self) -> int:
        return self._theme.px(_HEAD_HEIGHT) + len(self._table.rows) * self._theme.px(_ROW_HEIGHT) + 2

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(600), self._whole_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(320), self._whole_height())

    def _fit_columns(self) -> None:
        px, room, count = self._theme.px, self.viewport().width(), max(1, len(self._table.heads))
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        left = max(0, room - cell * len(self._table.heads))
        wanted = max((self._texts.width("body", row.name) for row in self._table.rows), default=0.0)
        about = max((self._texts.width("caption", row.measure) for row in self._table.rows), default=0.0)
        factor = min(round(max(wanted, about)) + px(2 * _PAD), px(_FACTOR[1]), max(px(_FACTOR[0]), left // 2))
        widths = [factor, *(cell for _ in self._table.heads), max(1, left - factor)]
        for column, width in enumerate(widths[: self._table.columnCount()]):
            self._heads.resizeSection(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()

    # The current cell

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid():
            head = self._table.head(current.column())
            self.cell_chosen.emit(current.row(), "" if head is None else head.key)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and event.reason() in _BY_KEY:
            self.setCurrentIndex(self._table.index(0, FACTOR))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select the current cell anew with Enter; the view itself walks and searches."""
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            head = self._table.head(index.column())
            self.cell_chosen.emit(index.row(), "" if head is None else head.key)
        else:
            super().keyPressEvent(event)

    def named_rows(self) -> list[tuple[int, str]]:
        return [(number, row.name) for number, row in enumerate(self._table.rows)]

    def hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def sentence_at(self, index: QModelIndex) -> str:
        return self._table.sentence(index.row(), index.column())

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        self._layer.clear()
        pen, width, pad = ThemePainter(painter, self._theme), self.viewport().width(), self._theme.px(_PAD)
        painter.fillRect(area, pen.colour("page"))
        for row in find_visible_sections(self.verticalHeader(), area.top(), area.bottom()):
            if row.number == self._hovered:
                painter.fillRect(0, row.start, width, row.size, pen.colour("hover"))
            for column in range(self._table.columnCount()):
                place = QRectF(
                    self._heads.sectionViewportPosition(column), row.start, self._heads.sectionSize(column), row.size
                )
                self._column(pen, row.number, column, place)
            level = row.start + row.size - 1
            pen.hairline(pad, level, width - pad, level, "grid")
        self._layer.draw(painter)
        self._ring(pen)

    def _column(self, pen: ThemePainter, row: int, column: int, place: QRectF) -> None:
        factor, cell = self._table.rows[row], self._table.cell(row, column)
        if cell is not None:
            self._cell(pen, cell, place)
        elif column < FIRST:
            self._two_lines(place, (factor.name, "body", "text1"), (factor.measure, "caption", "text3"))
        else:
            self._documents(pen, factor, place)

    def _cell(self, pen: ThemePainter, cell: FactorTableCell, place: QRectF) -> None:
        best = cell.level is FactorLevel.PREFERRED
        if best:
            pen.tint(self._box(place), "best")
        unknown = cell.level in (FactorLevel.UNKNOWN, FactorLevel.LACKS)
        upper = (cell.word, "label" if best else "small", "best_text" if best else "text3" if unknown else "text1")
        self._two_lines(place, upper, (cell.figure, "caption", "best_text" if best else "text3"))

    def _documents(self, pen: ThemePainter, factor: FactorRow, place: QRectF) -> None:
        if not factor.rules:
            return
        left, room = place.left() + self._theme.length(_PAD), place.width() - self._theme.length(2 * _PAD)
        lines = pen.lines(factor.said, max(1.0, room), "caption", _MOST_LINES)
        step = self._theme.line("caption")
        level = place.center().y() - step * len(lines) / 2
        self._layer.text("caption", "text3", factor.sources, left, level, max(1.0, room))
        for number, line in enumerate(lines, 1):
            self._layer.text("caption", "text2", line, left, level + number * step, max(1.0, room))

    def _two_lines(self, place: QRectF, upper: tuple[str, str, str], lower: tuple[str, str, str]) -> None:
        """Write two texts below one another, given with font and colour; one alone in the middle."""
        step = self._theme.length(_LINE) if lower[0] else 0.0
        left, room = place.left() + self._theme.length(_PAD), place.width() - self._theme.length(2 * _PAD)
        for (text, font, colour), way in ((upper, -1), (lower, 1)):
            if text:
                self._layer.text(font, colour, text, left, place.center().y() + way * step, max(1.0, room))

    def _box(self, place: QRectF) -> QRectF:
        return place.adjusted(1, 3, -self._theme.length(6), -4)

    def _ring(self, pen: ThemePainter) -> None:
        index = self.currentIndex()
        if index.isValid():
            pen.painter.setPen(QPen(pen.colour("focus"), 2))
            pen.painter.setBrush(Qt.BrushStyle.NoBrush)
            box = self._box(QRectF(self.visualRect(index))).adjusted(0, -1, 1, 1)
            radius = self._theme.length(5)
            pen.painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)


_MARGIN: Final = 16.0
_OUT: Final = 8.0


class FactorsView(DecideView):
    """One table with its title, and what is not known in it."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.model = FactorsModel(self)
        self.table = FactorsTableView(theme, self.model, self)
        self.table.cell_chosen.connect(self._select)
        title = ThemedLabel(theme, tr("Factors"), font="section", parent=self)
        subtitle = ThemedLabel(
            theme,
            tr("each judged by a figure of these accelerators, beside what documents say of theirs"),
            font="small",
            colour="text3",
            wrap=True,
            parent=self,
        )
        self.note = ThemedLabel(
            theme,
            tr(
                "Preferred leads in its figure, with bands compared where there are any. What has no measure "
                "stays not known: what a document says of two accelerators is shown, and judges no others."
            ),
            font="small",
            colour="text2",
            wrap=True,
            parent=self,
        )
        px = theme.px
        margin = px(_MARGIN)
        head = make_row(
            (title, 0, Qt.AlignmentFlag.AlignTop), (subtitle, 1), gap=px(10), margins=(margin, 0, margin, 0)
        )
        table = make_row(self.table, margins=(margin - px(_OUT), 0, margin - px(_OUT), 0))
        below = make_row(self.note, margins=(margin, 0, margin, 0))
        make_column(head, table, below, STRETCH, gap=px(8), margins=(0, px(4), 0, margin), on=self)

    def show_decision(self, found: EvaluatedAnswer) -> None:
        rules = {rule.id: rule for rule in self.desk.service.decider.rules}
        heads = [TraceHead(each.key, each.name, each.palette_index, each.is_variant) for each in found.columns]
        self.model.show(heads, make_factor_rows(found.decision, rules, found.formatter))

    def _select(self, row: int, column: str) -> None:
        rules = self.model.rows[row].rules
        if rules:
            self.desk.select(select_trace_row(rules[0].id, column))

    def copied(self) -> str:
        """Return the table as lines of cells set apart by tabs."""
        model, across = self.model, Qt.Orientation.Horizontal
        columns = range(model.columnCount())
        lines = [[str(model.headerData(column, across)) for column in columns]]
        lines += [[str(model.index(row, column).data()) for column in columns] for row in range(model.rowCount())]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
