"""The table of fired rules, with editable weights and a sticky header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpudesk.desktop.pages.decide.trace_model import (
    ANSWER,
    END,
    FIRST,
    GAP,
    MARK,
    PAD,
    RULE,
    WEIGHT,
    AcceleratorHeader,
    RuleTraceLayout,
    RuleTraceWidths,
    TraceFold,
    TraceGroup,
    TraceModel,
    TraceRuleRow,
    TraceTableCell,
    format_trace,
    make_line_key,
    make_trace_table,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_weight, reset_weights
from gpudesk.desktop.session.selection import SelectionKind, select_trace_row
from gpudesk.desktop.ui.tables.painted_table import BY_KEYBOARD, ENTER_KEYS, PaintedTable, VisibleSection
from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, find_scroll_area, make_column, make_row
from gpudesk.desktop.ui.widgets.marked_list import MarkedLine, MarkedList
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import make_menu, pop_up
from gpudesk.domain.decision import WEIGHT_BOUNDS, DecisionRule, RuleEffect
from gpudesk.report.decision.rules import label_rule_source
from gpudesk.report.labels import format_date
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, translate_data

_DECIMALS: Final = 2


class WeightDelegate(QStyledItemDelegate):
    """Makes a number field with the bounds of weights; invalid input stays for correction."""

    def __init__(self, theme: Theme, formatter: Formatter, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._format = NumberFormat(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high, _DECIMALS, formatter.style)

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: Index,
    ) -> QWidget:
        rule = index.sibling(index.row(), 0).data()
        edit = NumberEdit(self._theme, tr("Weight of {rule}, 0 to 100", rule=rule), self._format, parent)
        edit.setFrame(False)
        edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        return edit

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, NumberEdit):
            editor.set_value(float(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, NumberEdit):
            editor.commit()
            if not editor.fault:
                model.setData(index, editor.value)

    def updateEditorGeometry(
        self,
        editor: QWidget,
        option: QStyleOptionViewItem,
        index: Index,  # noqa: ARG002 - Qt's signature
    ) -> None:
        editor.setGeometry(option.rect.adjusted(0, 0, -4, -1))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Keep an invalid field open; the arrow keys take round weights."""
        if isinstance(editor, NumberEdit) and isinstance(event, QKeyEvent):
            pressed = event.type() == QEvent.Type.KeyPress
            if pressed and event.key() in ENTER_KEYS:
                editor.commit()
                if editor.fault:
                    return True
        return super().eventFilter(editor, event)


_HEAD: Final = 34.0
_HEAD_PAD: Final = 9.0
_ICON: Final = 14.0
#: Minimum width of a rule's ids; narrower ones are left out.
_LEAST_IDS: Final = 40.0
#: Distance from the middle of a two-line row to each of its lines.
_LINE: Final = 8.0

#: Effect -> icon, its color, font and color of the figure, color of the word.
_LOOKS: Final = {
    RuleEffect.FAVORS: ("arrow-up", "best_text", "label", "text1", "best_text"),
    RuleEffect.PASSES: ("check", "text2", "small", "text2", "text3"),
    RuleEffect.NONE: ("dot", "text3", "small", "text2", "text3"),
    RuleEffect.REMOVES: ("", "unfit", "label", "unfit", "unfit"),
    RuleEffect.UNDECIDED: ("circle-help", "disputed", "label", "disputed_text", "disputed_text"),
}


class RuleTraceTableView(PaintedTable):
    """Enter opens the fold, F2 or a double click edits a weight, Del resets it.

    The keys of a cell are those of its line and of its accelerator, empty in the columns before the accelerators.
    """

    #: The key of a row whose weight is to be reset.
    reset_requested = Signal(str)

    has_menu = True
    has_heading_menu = True

    def __init__(self, theme: Theme, model: TraceModel, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._table, self._formatter = model, formatter
        self._outer: QScrollArea | None = None
        self._kept_column = RULE
        self._measures = RuleTraceLayout(theme, self._texts)
        self._widths = RuleTraceWidths(1, 1, 1, 1, tall=False)
        self.heads = AcceleratorHeader(
            theme, model.head, self, pad=_HEAD_PAD, numbers=(WEIGHT,), unnamed=(RULE, ANSWER)
        )
        self.set_up(model, self.heads)
        self.show_all_rows()
        self.setItemDelegate(WeightDelegate(theme, formatter, self))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setAccessibleName(tr("Decision rules"))
        model.dataChanged.connect(self.measure)
        self.doubleClicked.connect(self._double_clicked)
        self.clicked.connect(self._clicked)
        theme.follow(self.measure)

    # Geometry

    def measure(self) -> None:
        self.heads.set_extent(self._theme.px(_HEAD))
        self._fit_columns()
        self._fit_rows()

    def _fit_rows(self) -> None:
        for number, line in enumerate(self._table.lines):
            height = self._measures.height(line, tall=self._widths.tall)
            if self.rowHeight(number) != height:
                self.setRowHeight(number, height)
        if self.height() != self.measure_whole_height():
            self.setFixedHeight(self.measure_whole_height())
        self.viewport().update()

    def _fit_columns(self) -> None:
        table = self._table.table
        self._widths = self._measures.widths(self.viewport().width(), len(table.heads), table.rows)
        for column in range(self._table.columnCount()):
            if self.heads.sectionSize(column) != self._widths.of(column):
                self.heads.resizeSection(column, self._widths.of(column))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()
            self._fit_rows()

    # Sticky heads

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        outer = find_scroll_area(self)
        if outer is not self._outer:
            self._outer = outer
            if outer is not None:
                outer.verticalScrollBar().valueChanged.connect(self.stick)
        self.stick()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self.stick()

    def stick(self) -> None:
        """Keep the heads at the upper edge of the visible area."""
        outer = getattr(self, "_outer", None)
        if outer is None:
            return
        above = -self.mapTo(outer.viewport(), QPoint(0, 0)).y()
        low = self.height() - self.heads.height() - self._measures.row
        self.heads.move(self.heads.x(), min(max(0, above), max(0, low)))
        self.heads.raise_()

    def _bring_into_sight(self, index: Index) -> None:
        if self._outer is None or not self.hasFocus():
            return
        holder = self._outer.widget() or self
        place = self.visualRect(index)
        top = self.viewport().mapTo(holder, place.topLeft()).y()
        bar, high = self._outer.verticalScrollBar(), self._outer.viewport().height()
        least = top + place.height() + self._theme.px(4) - high
        most = top - self.heads.height() - self._theme.px(4)
        bar.setValue(min(max(bar.value(), least), most))

    # The current cell

    def get_keys(self, index: Index) -> tuple[str, str]:
        head = self._table.head(index.column())
        return make_line_key(self._table.lines[index.row()]), "" if head is None else head.key

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:  # noqa: ARG002 - the column stays
        row = self._table.row_of(row_key)
        column = min(self._kept_column, self._table.columnCount() - 1)
        return self._table.index(row, column) if row >= 0 else QModelIndex()

    def show_rule(self, rule: str, column: str) -> None:
        """Make the cell of a rule current silently; none if the rule is not shown."""
        row = self._table.find_line_of_rule(rule) if rule else -1
        keys = [head.key for head in self._table.table.heads]
        place = FIRST + keys.index(column) if column in keys else RULE
        current = self.currentIndex()
        if not column and current.row() == row and current.column() < FIRST:
            # Answer and weight belong to the rule as a whole.
            place = max(current.column(), RULE)
        index = self._table.index(row, place) if row >= 0 else QModelIndex()
        if index != current:
            self.show_current(index)

    def _store_position(self) -> None:
        super()._store_position()
        self._kept_column = self.currentIndex().column()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self._bring_into_sight(current)

    def choose_current(self) -> None:
        if not self._is_fold(self.currentIndex()):
            super().choose_current()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in BY_KEYBOARD and self.currentIndex().isValid():
            self._bring_into_sight(self.currentIndex())

    # Keys and mouse

    def _is_fold(self, index: Index) -> bool:
        return index.isValid() and isinstance(self._table.lines[index.row()], TraceFold)

    def use_current(self) -> None:
        self._clicked(self.currentIndex())

    def _clicked(self, index: QModelIndex) -> None:
        """Open or close the fold; a cell can already be current while something else is selected."""
        if self._is_fold(index):
            self._table.set_opened(not self._table.opened)
        else:
            self.choose_current()

    def measure_page_height(self) -> int:
        return (
            super().measure_page_height()
            if self._outer is None
            else self._outer.viewport().height() - self.heads.height()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Edit or reset a weight; other keys open, move or search."""
        key, index = event.key(), self.currentIndex()
        enter = key in ENTER_KEYS or (key == Qt.Key.Key_Space and not self._typed.active)
        if not index.isValid():
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_F2 or (enter and index.column() == WEIGHT and not self._is_fold(index)):
            self.edit_weight(index.row())
        elif key == Qt.Key.Key_Delete:
            traced = self._table.find_rule_row(index.row())
            if traced is not None and traced.changed:
                self.reset_requested.emit(traced.key)
        elif enter:
            self.use_current()
        else:
            super().keyPressEvent(event)

    def edit_weight(self, row: int) -> None:
        """Open the field of a row's weight, if it has one and none is open."""
        is_open = self.state() == QAbstractItemView.State.EditingState
        if not is_open and self._table.can_be_weighed(row):
            index = self._table.index(row, WEIGHT)
            self.setCurrentIndex(index)
            self.edit(index)

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() == WEIGHT:
            self.edit_weight(index.row())

    def list_named_rows(self) -> list[tuple[int, str]]:
        return [(number, line.title) for number, line in enumerate(self._table.lines) if self.is_walkable(number)]

    # Painting

    def find_visible_columns(self, area: QRect) -> list[VisibleSection]:
        """Return all columns: texts span several."""
        return super().find_visible_columns(self.viewport().rect().united(area))

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:
        line = self._table.lines[row.number]
        left, pad, end = self._theme.length(PAD), self._theme.px(PAD), self.heads.length()
        if isinstance(line, TraceGroup):
            low = row.end - self._theme.line("label") / 2 - self._theme.length(5)
            self._layer.text("label", "text2", line.title, left, low)
            return
        if row.number == self.hovered_row:
            pen.painter.fillRect(area.left(), row.start, area.width(), row.size, pen.color("hover"))
        match line:
            case TraceRuleRow():
                for column in columns:
                    self._paint_column(pen, line, row, column)
            case TraceFold():
                middle = row.start + row.size / 2
                side = self._theme.length(_ICON)
                pen.icon("chevron-down" if line.opened else "chevron-right", left, middle - side / 2, side, "text2")
                self._layer.text("small_strong", "text2", line.title, left + side + self._theme.length(4), middle)
            case DecisionRule():
                self._write_silent_rule(line, left, end, row.start + row.size / 2)
        pen.hairline(pad, row.end - 1, end - pad, row.end - 1, "grid")

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        """Return the rectangle of the focus ring; for the fold and silent rules the whole line."""
        if not isinstance(self._table.lines[row.number], TraceRuleRow):
            return QRectF(0, row.start, self.heads.length(), row.size).adjusted(2, 1, -4, -2)
        if column.number >= FIRST:
            return self._get_box(row, column).adjusted(0, -1, 0, 1)
        return super().get_ring_box(row, column).adjusted(2, 1, -3, -2)

    def _write_silent_rule(self, rule: DecisionRule, left: float, right: float, middle: float) -> None:
        """Write a rule that did not fire over all columns, since it has no cells."""
        left += self._layer.text("small", "text3", translate_data(rule.title), left, middle, right - left)
        left += self._theme.length(GAP)
        if right - left > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", rule.id, left, middle, right - left)

    # Cells

    def _paint_column(self, pen: ThemePainter, line: TraceRuleRow, row: VisibleSection, column: VisibleSection) -> None:
        middle, end = row.start + row.size / 2, self._theme.length(END)
        right = column.end - end
        if column.number == RULE:
            if self._widths.tall:
                both = column.end + self.heads.sectionSize(ANSWER) - end
                self._write_title(line, column.start, both, middle - self._theme.length(_LINE))
                # Write ids at the left of a line and the answer at the right; both cut if necessary.
                level = middle + self._theme.length(_LINE + 1)
                left, gap = column.start + self._theme.length(PAD), self._theme.length(GAP)
                answer = self._texts.width("caption", line.answer)
                most = max((both - left) / 2, both - left - answer - gap)
                left += self._layer.text("caption", "text3", line.ids, left, level, most) + gap
                self._layer.right("caption", "text3", line.answer, left, both, level)
            else:
                self._write_in_one_line(line, column, middle)
        elif column.number == ANSWER and not self._widths.tall:
            self._layer.right("caption", "text3", line.answer, column.start, right, middle)
        elif column.number == WEIGHT:
            self._write_weight(line, column, right, middle)
        elif column.number >= FIRST:
            self._paint_cell(pen, line.cells[column.number - FIRST], row, column)

    def _write_title(self, line: TraceRuleRow, start: float, right: float, level: float) -> float:
        """Write the subject of a rule, its unit and its marks, as far as they fit; return the end."""
        length, gap = self._theme.length, self._theme.length(GAP)
        x = start + length(PAD)
        marks = [("unfit", "unfit")] if line.refuted else []
        marks += [("disputed", "disputed")] if line.disputed else []
        room = right - length(MARK) * len(marks)
        x += self._layer.text("body", "text1", line.title, x, level, max(1.0, room - x)) + gap
        if line.unit and x + self._texts.width("caption", line.unit) <= room:
            x += self._layer.text("caption", "text3", line.unit, x, level) + gap
        x = min(x, room)
        for name, color in marks:
            self._layer.mark(name, color, x + length(MARK) / 2 - 2, level)
            x += length(MARK)
        return x

    def _write_in_one_line(self, line: TraceRuleRow, column: VisibleSection, middle: float) -> None:
        """Write the ids after the subject of the rule, if they fit."""
        half, right = self._theme.length(GAP / 2), column.end - self._theme.length(4)
        x = self._write_title(line, column.start, right, middle) + half
        if right - x > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", line.ids, x, middle, right - x)

    def _write_weight(self, line: TraceRuleRow, column: VisibleSection, right: float, middle: float) -> None:
        if line.weight is None:
            return
        token, color = ("label", "text1") if line.changed else ("small", "text3")
        width = self._layer.right(token, color, self._formatter.exact(line.weight), column.start, right, middle)
        if line.changed:
            self._layer.mark("own", "link", right - width - self._theme.length(9), middle)

    def _paint_cell(self, pen: ThemePainter, cell: TraceTableCell, row: VisibleSection, column: VisibleSection) -> None:
        """Draw the effect of a rule: glyph and figure, or the word without a figure."""
        icon, tint, font, color, quiet = _LOOKS[cell.effect]
        length = self._theme.length
        box = self._get_box(row, column)
        if cell.effect is RuleEffect.FAVORS:
            pen.tint(box, "best")
        middle, side = row.start + row.size / 2, length(_ICON)
        x = box.left() + length(7)
        if icon:
            pen.icon(icon, x, middle - side / 2, side, tint)
        else:
            self._layer.mark("unfit", tint, x + side / 2, middle)
        x += side + length(5)
        room = box.right() - length(4) - x
        if not cell.figure:
            self._layer.text("small", quiet, cell.word, x, middle, max(1.0, room))
            return
        x += self._layer.text(font, color, cell.figure, x, middle, max(1.0, room)) + length(6)
        is_stated = cell.effect in (RuleEffect.REMOVES, RuleEffect.UNDECIDED)
        if is_stated and self._texts.width("caption", cell.word) <= box.right() - length(4) - x:
            self._layer.text("caption", quiet, cell.word, x, middle)

    def _get_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return QRectF(column.start, row.start, column.size, row.size).adjusted(2, 2, -self._theme.length(8), -3)


class RuleTraceBlock(QWidget):
    """Every rule that fired, its effect on each accelerator, and disagreements between documents."""

    #: The trace was copied to the clipboard.
    copied = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.model = TraceModel(desk.formatter, self)
        self.model.weighed.connect(self.weigh)
        self.view = RuleTraceTableView(theme, self.model, desk.formatter, self)
        self.view.cell_chosen.connect(self._select)
        self.view.reset_requested.connect(self.reset)
        self.view.menu_requested.connect(self._menu)
        subtitle = ThemedLabel(
            theme, tr("effect of each rule; weights apply to arguments only"), font="small", color="text3", parent=self
        )
        subtitle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.usual = LinkButton(theme, tr("Reset weights"), self.reset_all, parent=self)
        self.usual.hide()
        self.copy_link = LinkButton(theme, tr("Copy rules as text"), self.copy, parent=self)
        head = make_row(
            ThemedLabel(theme, tr("Rules"), font="section", parent=self),
            (subtitle, 1),
            self.usual,
            self.copy_link,
            gap=theme.px(10),
            margins=(theme.px(8), 0, theme.px(8), 0),
        )
        self.conflicts = MarkedList(theme, tr("Disagreements between sources"), self)
        table = make_column(head, self.view, gap=theme.px(2))
        make_column(table, self.conflicts, gap=theme.px(12), on=self)
        desk.selection_changed.connect(self._follow_selection)

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        weights = evaluated.answer.scenario.decision.weights
        rules = self._desk.service.decider.rules
        self.model.show(
            make_trace_table(evaluated.decision, evaluated.columns, rules, frozenset(weights), evaluated.formatter)
        )
        self.usual.setVisible(bool(weights))
        self.conflicts.show_lines(_list_conflicts(evaluated, {rule.id: rule for rule in rules}))
        self._follow_selection()

    # Selection

    def _select(self, key: str, column: str) -> None:
        self._desk.select(select_trace_row(key, column))

    def _follow_selection(self) -> None:
        """Mark the row that is selected on the desk, none for other selections."""
        chosen = self._desk.selection
        if chosen is not None and chosen.kind is SelectionKind.TRACE:
            self.view.show_rule(chosen.name, chosen.column)

    # Weights

    def weigh(self, key: str, weight: float) -> None:
        """Weight a row as one step: its rule gets the weight, and those counted with it no more."""
        row = self._find_row(key)
        if row is None:
            return
        scenario = replace_weight(self._desk.scenario, key, weight)
        for line in row.also:
            if line.weight > weight:
                scenario = replace_weight(scenario, line.rule.id, weight)
        self._desk.apply(scenario, tr("Weight of {rule}", rule=row.title))

    def reset(self, key: str) -> None:
        row = self._find_row(key)
        if row is None:
            return
        scenario = self._desk.scenario
        for line in row.lines:
            scenario = replace_weight(scenario, line.rule.id, None)
        self._desk.apply(scenario, tr("Reset weight of {rule}", rule=row.title))

    def reset_all(self) -> None:
        """Reset all weights as one step."""
        self._desk.apply(reset_weights(self._desk.scenario), tr("Reset weights"))

    def _find_row(self, key: str) -> TraceRuleRow | None:
        return self.model.find_rule_row(self.model.row_of(key))

    # Text and menu

    def text(self, formatter: Formatter) -> str:
        return format_trace(self.model.table, formatter)

    def copy(self) -> None:
        QApplication.clipboard().setText(self.text(self._desk.formatter))
        self.copied.emit()

    def _menu(self, line: int, _column: int, place: QPoint) -> None:
        row = self.model.find_rule_row(line)
        menu = make_menu(parent=self)
        menu.setAccessibleName(tr("Rule"))
        edit = menu.addAction(tr("Edit weight"))
        edit.setEnabled(row is not None and row.weight is not None)
        edit.triggered.connect(lambda: self.view.edit_weight(line))
        usual = menu.addAction(tr("Reset weight"))
        usual.setEnabled(row is not None and row.changed)
        usual.triggered.connect(lambda: None if row is None else self.reset(row.key))
        menu.addSeparator()
        menu.addAction(tr("Copy rules as text")).triggered.connect(self.copy)
        pop_up(menu, place)


def _list_conflicts(evaluated: EvaluatedAnswer, rules: Mapping[str, DecisionRule]) -> list[MarkedLine]:
    return [
        MarkedLine(
            "disputed",
            "disputed",
            tr(
                "{one} vs. {other}",
                one=_format_dated_rule(rules[each.one]),
                other=lower_for_sentence(_format_dated_rule(rules[each.other])),
            ),
        )
        for each in evaluated.decision.conflicts
        if each.one in rules and each.other in rules
    ]


def _format_dated_rule(rule: DecisionRule) -> str:
    return tr(
        "{title} ({id}, {source}, {date})",
        title=translate_data(rule.title),
        id=rule.id,
        source=label_rule_source(rule),
        date=format_date(rule.dated),
    )
