"""The factors view: each factor judged by a figure of every accelerator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QRect, QRectF, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.trace_model import AcceleratorHeader, find_common_unit, strip_unit
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.selection import select_trace_row
from gpudesk.desktop.ui.tables.painted_table import PaintedTable, VisibleSection
from gpudesk.desktop.ui.tables.table_base import Index, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import TextMeasure, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.domain.decision import Decision, DecisionFactor, DecisionRule, FactorCell, FactorLevel, FactValue
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.facts import format_fact, label_fact
from gpudesk.report.decision.rules import label_factor, label_payment, label_rule_source
from gpudesk.report.labels import format_date
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, translate_data

#: The column of the factors, and the first of an accelerator; documents come last.
FACTOR, FIRST = range(2)
_COST: Final = "usd_per_million"


@frozen_dataclass
class FactorTableCell:
    """The rating of an accelerator in a factor, and its basis: the likely figure, and that with its interval.

    A cost has the way to pay, since owned and rented accelerators are compared.
    """

    level: FactorLevel
    word: str
    figure: str
    whole: str
    payment: str = ""


@frozen_dataclass
class FactorRow:
    """A factor, its basis, its cells, and the document rules that state it."""

    id: str
    name: str
    measure: str
    cells: tuple[FactorTableCell, ...]
    rules: tuple[DecisionRule, ...]

    @property
    def sources(self) -> str:
        """The documents that state it, with their dates."""
        return "; ".join(dict.fromkeys(map(format_document, self.rules)))

    @property
    def statements(self) -> str:
        return " ".join(translate_data(rule.why) for rule in self.rules)


def format_document(rule: DecisionRule) -> str:
    return tr("{source}, {date}", source=label_rule_source(rule), date=format_date(rule.dated))


def make_factor_rows(
    decision: Decision, rules: Mapping[str, DecisionRule], formatter: Formatter
) -> tuple[FactorRow, ...]:
    return tuple(_make_factor_row(factor, decision, rules, formatter) for factor in decision.factors)


def _make_factor_row(
    factor: DecisionFactor, decision: Decision, rules: Mapping[str, DecisionRule], formatter: Formatter
) -> FactorRow:
    measured = any(cell.level is not FactorLevel.UNKNOWN for cell in factor.cells)
    cells = [_make_level_cell(factor.fact, cell, formatter) for cell in factor.cells]
    unit = find_common_unit([cell.figure or MISSING_VALUE_TEXT for cell in cells])
    cells = [replace(cell, figure=strip_unit(cell.figure, unit)) for cell in cells]
    if factor.fact == _COST:
        cells = [_add_payment(cell, each.payment) for cell, each in zip(cells, decision.candidates, strict=True)]
    measure = label_fact(factor.fact) if measured else tr("No measure available")
    return FactorRow(
        id=factor.id,
        name=label_factor(factor.id),
        measure=tr("{measure}, {unit}", measure=measure, unit=unit) if unit else measure,
        cells=tuple(cells),
        rules=tuple(rules[each] for each in factor.rules if each in rules),
    )


def _make_level_cell(fact: str, cell: FactorCell, formatter: Formatter) -> FactorTableCell:
    word = cell.level.label
    word = capitalize_first(word)
    if cell.value is None or cell.level is FactorLevel.LACKS:
        return FactorTableCell(cell.level, word, "", "")
    likely: FactValue = cell.value.value if isinstance(cell.value, IntervalEstimate) else cell.value
    return FactorTableCell(
        cell.level, word, format_fact(fact, likely, formatter), format_fact(fact, cell.value, formatter)
    )


def _add_payment(cell: FactorTableCell, payment: str | None) -> FactorTableCell:
    if payment is None or not cell.figure:
        return cell
    how = label_payment(payment)
    return replace(cell, payment=how, whole=f"{cell.whole} {how}")


class FactorsModel(TableItemModel):
    """Cells over rows of factors."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.heads: tuple[AcceleratorColumn, ...] = ()
        self.rows: tuple[FactorRow, ...] = ()

    def show(self, heads: Sequence[AcceleratorColumn], rows: Sequence[FactorRow]) -> None:
        """Show other rows; the same factors of the same accelerators only change their texts."""
        alike = [head.key for head in heads] == [head.key for head in self.heads] and [row.id for row in rows] == [
            row.id for row in self.rows
        ]
        with self.exchanging(is_alike=alike):
            self.heads, self.rows = tuple(heads), tuple(rows)

    # Looking up

    def head(self, column: int) -> AcceleratorColumn | None:
        place = column - FIRST
        return self.heads[place] if 0 <= place < len(self.heads) else None

    def cell(self, row: int, column: int) -> FactorTableCell | None:
        return None if self.head(column) is None else self.rows[row].cells[column - FIRST]

    def sentence(self, row: int, column: int) -> str:
        factor, head, cell = self.rows[row], self.head(column), self.cell(row, column)
        if head is None or cell is None:
            if column == FACTOR:
                return f"{factor.name}, {factor.measure}"
            return f"{factor.sources}: {factor.statements}"
        rating = f"{cell.word}, {cell.whole}" if cell.whole else cell.word
        return tr("{factor}, {name}: {rating}", factor=factor.name, name=head.name, rating=rating)

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.rows)

    def count_columns(self) -> int:
        return FIRST + len(self.heads) + 1

    def get_text(self, row: int, column: int) -> str:
        factor, cell = self.rows[row], self.cell(row, column)
        if cell is not None:
            return f"{cell.word} {cell.figure}".strip()
        return factor.name if column == FACTOR else f"{factor.sources}. {factor.statements}".strip(". ")

    def get_label(self, section: int, *, spoken: bool) -> str:  # noqa: ARG002 - one meaning for all columns
        return self.rows[section].name

    def get_head(self, section: int, *, spoken: bool) -> str:  # noqa: ARG002 - one meaning for all columns
        head = self.head(section)
        if head is not None:
            return head.name
        return tr("Factor") if section == FACTOR else tr("Sources")


_HEAD_HEIGHT: Final = 34.0
_ROW_HEIGHT: Final = 56.0
_PAD: Final = 8.0
#: Half of the line distance.
_LINE: Final = 8.5
_FACTOR: Final = (120.0, 250.0)
#: Maximum lines for the basis of a factor.
_MOST_LINES: Final = 2
#: Total space above and below the documents' text.
_AROUND_LINES: Final = 10.0
_CELL: Final = (80.0, 132.0)
_CELLS: Final = 0.44


class FactorsTableView(PaintedTable):
    """Cells have a sentence each; a cell is identified by the id of its factor and the key of its accelerator or ""."""

    def __init__(self, theme: Theme, model: FactorsModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._table = model
        self._measure = TextMeasure(theme)
        self._heads = AcceleratorHeader(theme, model.head, self, pad=_PAD)
        self.set_up(model, self._heads)
        self.show_all_rows()
        self.setAccessibleName(tr("Factors"))
        model.dataChanged.connect(self.viewport().update)
        theme.follow(self.measure)

    # Geometry

    def measure(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(_ROW_HEIGHT))
        self._heads.set_extent(self._theme.px(_HEAD_HEIGHT))
        self._fit_columns()
        self._fit_rows()
        self.viewport().update()

    def _fit_columns(self) -> None:
        px, room, count = self._theme.px, self.viewport().width(), max(1, len(self._table.heads))
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        remaining = max(0, room - cell * len(self._table.heads))
        natural_width = max((self._texts.width("body", row.name) for row in self._table.rows), default=0.0)
        about = max((self._texts.width("caption", row.measure) for row in self._table.rows), default=0.0)
        factor = min(
            round(max(natural_width, about)) + px(2 * _PAD), px(_FACTOR[1]), max(px(_FACTOR[0]), remaining // 2)
        )
        widths = [factor, *(cell for _ in self._table.heads), max(1, remaining - factor)]
        for column, width in enumerate(widths[: self._table.columnCount()]):
            self._heads.resizeSection(column, width)

    def _fit_rows(self) -> None:
        """Give each row the height of its documents' text."""
        px, line = self._theme.px, self._theme.line("caption")
        for number, factor in enumerate(self._table.rows):
            lines = sum(map(len, self._break_documents(factor)))
            self.verticalHeader().resizeSection(number, max(px(_ROW_HEIGHT), line * lines + px(_AROUND_LINES)))
        self.setFixedHeight(self.measure_whole_height())

    def _break_documents(self, factor: FactorRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines of a factor's sources and of their statements."""
        if not factor.rules:
            return (), ()
        room = max(1.0, self._heads.sectionSize(self._table.columnCount() - 1) - self._theme.length(2 * _PAD))
        return self._measure.lines(factor.sources, "caption", room), self._measure.lines(
            factor.statements, "caption", room
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()
            self._fit_rows()

    # The current cell

    def get_keys(self, index: Index) -> tuple[str, str]:
        head = self._table.head(index.column())
        return self._table.rows[index.row()].id, "" if head is None else head.key

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:
        row = next((number for number, each in enumerate(self._table.rows) if each.id == row_key), -1)
        keys = [head.key for head in self._table.heads]
        column = FIRST + keys.index(column_key) if column_key in keys else FACTOR
        return self._table.index(row, column) if row >= 0 else QModelIndex()

    # Painting

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:  # noqa: ARG002 - columns say it
        width, pad = self.viewport().width(), self._theme.px(_PAD)
        if row.number == self.hovered_row:
            pen.painter.fillRect(0, row.start, width, row.size, pen.color("hover"))
        for column in columns:
            self._paint_column(pen, row.number, column.number, QRectF(column.start, row.start, column.size, row.size))
        pen.hairline(pad, row.end - 1, width - pad, row.end - 1, "grid")

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return self._get_box(super().get_ring_box(row, column)).adjusted(0, -1, 1, 1)

    def _paint_column(self, pen: ThemePainter, row: int, column: int, place: QRectF) -> None:
        factor, cell = self._table.rows[row], self._table.cell(row, column)
        if cell is not None:
            best = cell.level is FactorLevel.PREFERRED
            if best:
                pen.tint(self._get_box(place), "best")
            unknown = cell.level in (FactorLevel.UNKNOWN, FactorLevel.LACKS)
            upper = (cell.word, "label" if best else "small", "best_text" if best else "text3" if unknown else "text1")
            payment_line = f"{cell.figure} {cell.payment}"
            fits = self._texts.width("caption", payment_line) <= place.width() - self._theme.length(2 * _PAD)
            lines = (payment_line.rstrip(),) if fits else (cell.figure, cell.payment)
            self._write_lines(place, upper, *((text, "caption", "best_text" if best else "text3") for text in lines))
        elif column < FIRST:
            room = max(1.0, self._heads.sectionSize(FACTOR) - self._theme.length(2 * _PAD))
            measure = self._measure.lines(factor.measure, "caption", room, _MOST_LINES)
            self._write_lines(place, (factor.name, "body", "text1"), *((each, "caption", "text3") for each in measure))
        else:
            sources, statement_lines = self._break_documents(factor)
            step, left = self._theme.line("caption"), place.left() + self._theme.length(_PAD)
            level = place.center().y() - step * (len(sources) + len(statement_lines) - 1) / 2
            for number, line in enumerate((*sources, *statement_lines)):
                color = "text3" if number < len(sources) else "text2"
                self._layer.text("caption", color, line, left, level + number * step)

    def _write_lines(self, place: QRectF, *texts: tuple[str, str, str]) -> None:
        """Write texts below one another around the middle, given with font and color; empty ones take no space."""
        lines = [each for each in texts if each[0]]
        left, room = place.left() + self._theme.length(_PAD), place.width() - self._theme.length(2 * _PAD)
        level = place.center().y() - self._theme.length(_LINE) * (len(lines) - 1)
        for number, (text, font, color) in enumerate(lines):
            self._layer.text(font, color, text, left, level + 2 * number * self._theme.length(_LINE), max(1.0, room))

    def _get_box(self, place: QRectF) -> QRectF:
        return place.adjusted(1, 3, -self._theme.length(6), -4)


_MARGIN: Final = 16.0
_OUT: Final = 8.0


class FactorsView(DecideView):
    """One table with its title, and the unknown values in it."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.model = FactorsModel(self)
        self.table = FactorsTableView(theme, self.model, self)
        self.table.cell_chosen.connect(self._select)
        title = ThemedLabel(theme, tr("Factors"), font="section", parent=self)
        subtitle = ThemedLabel(
            theme,
            tr("each factor rated by one figure per accelerator"),
            font="small",
            color="text3",
            wrap=True,
            parent=self,
        )
        self.note = ThemedLabel(
            theme,
            tr(
                "Preferred accelerators lead in the figure, by 80% interval where available. "
                "Factors that lack a measure are not rated. Sources do not change a rating."
            ),
            font="small",
            color="text2",
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

    def refresh(self) -> None:
        evaluated = self.evaluated
        rules = {rule.id: rule for rule in self.desk.service.decider.rules}
        self.model.show(evaluated.columns, make_factor_rows(evaluated.decision, rules, evaluated.formatter))

    def _select(self, factor: str, column: str) -> None:
        rules = next(row.rules for row in self.model.rows if row.id == factor)
        if rules:
            self.desk.select(select_trace_row(rules[0].id, column))

    def copied(self) -> str:
        """Return the table as tab-separated lines."""
        model, across = self.model, Qt.Orientation.Horizontal
        columns = range(model.columnCount())
        lines = [[str(model.headerData(column, across)) for column in columns]]
        lines += [[str(model.index(row, column).data()) for column in columns] for row in range(model.rowCount())]
        return format_tab_separated(lines)

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
