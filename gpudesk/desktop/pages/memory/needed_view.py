"""The accelerators needed: item model, table, and the offer to use a deployment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.scenario_edits import replace_deployment
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.painted_table import ENTER_KEYS, PaintedHeader, PaintedTable, VisibleSection
from gpudesk.desktop.ui.tables.table_base import SELECTABLE, Index, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, ThemePainter, paint_ring
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.layouts import ElidedLabel, ThemedLabel, make_column, make_row
from gpudesk.domain.accelerator import resolve_fp4
from gpudesk.domain.answer import Answer
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.domain.sizing import DeploymentSize, SmallestDeployments
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import drop_count, format_degrees, join_alternatives, label_precision
from gpudesk.report.sizing import (
    explain_degrees,
    label_requests_in_flight,
    label_single_request,
    label_weight_width,
    summarize_reason,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr, trn


@frozen_dataclass
class NeededCell:
    """The smallest deployment of one column in one format; without `count` unknown, with the `reason`.

    `title` describes the load that it holds, `name` is the column's; `many` and `plan` are count and degrees in words.
    `below` is the second line: the plan, or the reason briefly. `present` marks the scenario's own.
    """

    position: int
    title: str
    name: str
    weights: Precision
    vendor: str
    count: int | None
    many: str
    plan: str
    below: str
    reason: str
    present: bool

    @property
    def action(self) -> str:
        """The wording of the edit that uses this deployment; empty without one."""
        if self.count is None:
            return ""
        format_label = label_precision(self.weights)
        return tr("Use {format} on {n} × {name}", format=format_label, n=self.many, name=self.name)

    @property
    def sentence(self) -> str:
        format_label = label_precision(self.weights)
        if self.count is None:
            text = tr(
                "{name} with {format} weights: no deployment. {reason}",
                name=self.name,
                format=format_label,
                reason=self.reason,
            )
        else:
            text = trn(
                "{name} with {format} weights: {n} accelerator",
                "{name} with {format} weights: {n} accelerators, {plan}",
                self.count,
                n=self.many,
                name=self.name,
                format=format_label,
                plan=self.plan,
            )
        return f"{self.title}. {text}"


@frozen_dataclass
class NeededRow:
    """The cells of one weight width, in column order; `present` is the scenario's own."""

    label: str
    present: bool
    cells: tuple[NeededCell, ...]


@frozen_dataclass
class NeededGroup:
    """The load of a group, and its rows."""

    title: str
    rows: tuple[NeededRow, ...]


@frozen_dataclass
class NeededTable:
    """All needs by column; `abbreviations` explains those in the cells."""

    heads: tuple[AcceleratorColumn, ...] = ()
    groups: tuple[NeededGroup, ...] = ()
    abbreviations: str = ""


def make_needed_table(desk: Desk, *, brief: bool = False) -> NeededTable:
    """Return the table of the desk's answer: for all requests in flight, and for a single one.

    With `brief` only the first of these groups.
    """
    answer, formatter = desk.answer, desk.formatter
    if answer is None:
        return NeededTable()
    try:
        deployments = desk.service.needed(answer.scenario)
    except InputError:
        # Faults of a scenario are shown above the page.
        return NeededTable()
    work = answer.scenario.workload
    titles = {True: label_requests_in_flight(work, formatter), False: label_single_request(work, formatter)}
    groups = tuple(
        NeededGroup(
            title,
            tuple(_make_needed_row(desk, answer, title, across, for_load) for across in zip(*deployments, strict=True)),
        )
        for for_load, title in titles.items()
        if title is not None
    )
    return NeededTable(desk.columns, groups[:1] if brief else groups, explain_degrees(deployments))


def _make_needed_row(
    desk: Desk, answer: Answer, title: str, across: Sequence[SmallestDeployments], for_load: bool
) -> NeededRow:
    """Return the row of one weight width, for the whole load or for one request."""
    alike = len({needed.weights for needed in across}) == 1
    cells = tuple(
        _make_needed_cell(place, column, title, needed, needed.load if for_load else needed.one, alike, desk.formatter)
        for place, (column, needed) in enumerate(zip(desk.columns, across, strict=True))
    )
    label = tr("{format} weights", format=label_weight_width(across, desk.formatter))
    own = STORAGE_FORMATS[resolve_fp4(answer.scenario.weights, "")].bits
    return NeededRow(label, across[0].bits == own, cells)


def _make_needed_cell(
    position: int,
    column: AcceleratorColumn,
    title: str,
    needed: SmallestDeployments,
    size: DeploymentSize | None,
    alike: bool,
    formatter: Formatter,
) -> NeededCell:
    """Return a cell; its second line names the format unless all columns have it (`alike`)."""
    many, plan, reason = "", "", ""
    if size is not None:
        many, plan = formatter.count(size.count), format_degrees(size.plan, formatter)
        below = ", ".join(each for each in ("" if alike else label_precision(needed.weights), plan) if each)
    else:
        below = summarize_reason(needed.reason)
        reason = "" if needed.reason is None else capitalize_first(format_message(needed.reason, formatter))
    return NeededCell(
        position=position,
        title=title,
        name=column.name,
        weights=needed.weights,
        vendor=column.column.accelerator.vendor,
        count=None if size is None else size.count,
        many=many,
        plan=plan,
        below=below,
        reason=reason,
        present=_is_current_deployment(column.column.estimate, needed, size),
    )


def _is_current_deployment(estimate: Estimate | None, needed: SmallestDeployments, size: DeploymentSize | None) -> bool:
    if estimate is None or size is None or estimate.count != size.count:
        return False
    weights = estimate.request.weights
    return needed.weights in (weights, *(resolve_fp4(weights, vendor) for vendor in ("NVIDIA", "AMD")))


def format_needed_count(cell: NeededCell, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if cell.count is None else formatter.count(cell.count)


class NeededModel(TableItemModel):
    """Group titles and their rows. New counts in the same cells are signaled as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self._table = NeededTable()
        self.lines: tuple[NeededGroup | NeededRow, ...] = ()

    def show(self, table: NeededTable) -> None:
        lines: list[NeededGroup | NeededRow] = []
        for group in table.groups:
            lines += [group, *group.rows]
        is_alike = len(table.heads) == len(self._table.heads) and [*map(type, lines)] == [*map(type, self.lines)]
        with self.exchanging(is_alike=is_alike):
            self._table, self.lines = table, tuple(lines)
        if is_alike:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(table.heads))

    # Lookup

    def head(self, column: int) -> AcceleratorColumn | None:
        """Return the head of a column; None for the label column."""
        return self._table.heads[column - 1] if 0 < column <= len(self._table.heads) else None

    def cell(self, row: int, column: int) -> NeededCell | None:
        """Return the cell at a position; None for labels and titles."""
        line = self.lines[row] if 0 <= row < len(self.lines) else None
        return line.cells[column - 1] if isinstance(line, NeededRow) and column > 0 else None

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.lines)

    def count_columns(self) -> int:
        return len(self._table.heads) + 1

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled if self.cell(row, column) is None else SELECTABLE

    def get_text(self, row: int, column: int) -> str | None:
        line, cell = self.lines[row], self.cell(row, column)
        if cell is not None:
            return format_needed_count(cell, self._formatter)
        label = line.title if isinstance(line, NeededGroup) else line.label
        return label if column == 0 else None

    def sentence(self, row: int, column: int) -> str | None:
        cell = self.cell(row, column)
        return self.get_text(row, column) if cell is None else cell.sentence

    def get_head(self, section: int, *, spoken: bool) -> str:
        head = self.head(section)
        if head is None:
            return tr("Weights")
        return f"{head.name}, {self.format_memory(head)}" if spoken else head.name

    def format_memory(self, head: AcceleratorColumn) -> str:
        """Return the memory of one accelerator of a column."""
        return f"{self._formatter.gib(head.column.accelerator.memory_bytes)} GiB"


#: Design lengths.
_HEAD_HEIGHT: Final = 40.0
_ROW_HEIGHT: Final = 42.0
_GROUP: Final = 34.0
_LABEL_WIDTH: Final = 118.0
_GAP: Final = 3.0
_LINE: Final = 15.0
_LEAST_COLUMN: Final = 76.0
_SWATCH: Final = 25.0

#: From this count on -> tint and text color.
_TINTS: Final = ((8, "ink2", "text1"), (4, "ink3", "text1"), (2, "ink4", "text1"), (1, "best", "best_text"))


class _NeededHeader(PaintedHeader):
    """Accelerator names in their colors, and the memory of one."""

    def __init__(self, theme: Theme, model: NeededModel, parent: QWidget) -> None:
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self._model = model
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:  # noqa: ARG002 - few heads, all painted
        line, top, swatch = self._theme.length(_LINE + 1), self._theme.length(5), self._theme.length(_SWATCH)
        heads = [(column, head) for column in range(self.count()) if (head := self._model.head(column)) is not None]
        # If one name does not fit with its swatch, none has a swatch.
        swatches = all(
            pen.width(head.name, "small_strong") + swatch + 8 <= self.sectionSize(column) for column, head in heads
        )
        for column, head in heads:
            left, width = self.sectionViewportPosition(column), self.sectionSize(column)
            upper = QRectF(left + 4, top, width - 8, line)
            self._paint_name(pen, upper, head, before=swatch if swatches else 0.0)
            memory = self._model.format_memory(head)
            pen.text(upper.translated(0, line), memory, font="caption", color="text3", align=CENTER)
        bottom = self.height() - 1
        pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")

    def _paint_name(self, pen: ThemePainter, place: QRectF, head: AcceleratorColumn, *, before: float) -> None:
        """Write a name after its swatch of width `before`, or without one if that is 0."""
        color = self._theme.name_color(head.palette_index)
        if not before:
            pen.text(place, head.name, font="small_strong", color=color, align=CENTER)
            return
        width = pen.width(head.name, "small_strong")
        left = place.center().x() - (width + before) / 2
        pen.swatch(left, place.center().y(), head.palette_index, is_variant=head.is_variant)
        rest = QRectF(left + before, place.top(), width + 1, place.height())
        pen.text(rest, head.name, font="small_strong", color=color)


class NeededMatrixView(PaintedTable):
    """Enter or a double click uses the deployment of a cell; labels are in the first column."""

    #: The current cell, or None.
    current = Signal(object)
    #: Use the deployment of a cell.
    taken = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._formatter = formatter
        self.needs_item_model = NeededModel(formatter, self)
        self._heads = _NeededHeader(theme, self.needs_item_model, self)
        self.set_up(self.needs_item_model, self._heads)
        self.show_all_rows()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setAccessibleName(name)
        self.needs_item_model.dataChanged.connect(self._tell)
        self.doubleClicked.connect(self.use_current)
        self.selectionModel().currentChanged.connect(self._tell)
        theme.follow(self.measure)

    def focus_rect(self) -> QRect | None:
        return None if self.currentIndex().isValid() else self.rect()

    # The current cell

    def get_current_cell(self) -> NeededCell | None:
        index = self.currentIndex()
        return self.needs_item_model.cell(index.row(), index.column()) if index.isValid() else None

    def get_keys(self, index: Index) -> None:  # noqa: ARG002 - another answer has other cells
        return None

    def describe_cell(self, index: Index) -> str:
        """Return the full text of a cell, empty for labels."""
        return super().describe_cell(index) if self.is_walkable(index.row()) and index.column() else ""

    def is_walkable(self, row: int) -> bool:
        return self.needs_item_model.cell(row, 1) is not None

    def list_shown_columns(self) -> list[int]:
        return super().list_shown_columns()[1:]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (*ENTER_KEYS, Qt.Key.Key_Space):
            self.use_current()
        else:
            super().keyPressEvent(event)

    def use_current(self) -> None:
        cell = self.get_current_cell()
        if cell is not None and cell.count is not None:
            self.taken.emit(cell)

    def _tell(self) -> None:
        self.viewport().update()
        self.current.emit(self.get_current_cell())

    # Geometry

    def measure(self) -> None:
        theme, model = self._theme, self.needs_item_model
        self.clearSpans()
        for number, line in enumerate(model.lines):
            is_title = isinstance(line, NeededGroup)
            self.setRowHeight(number, theme.px(_GROUP if is_title else _ROW_HEIGHT))
            if is_title and model.columnCount() > 1:
                self.setSpan(number, 0, 1, model.columnCount())
        self._heads.set_extent(theme.px(_HEAD_HEIGHT))
        self._divide()
        self.updateGeometry()
        self.viewport().update()

    def _divide(self) -> None:
        count = self.needs_item_model.columnCount() - 1
        rows = (line.label for line in self.needs_item_model.lines if isinstance(line, NeededRow))
        widest = max((self._texts.width("section", label) for label in rows), default=0.0)
        label = max(self._theme.px(_LABEL_WIDTH), round(widest) + self._theme.px(12))
        self.setColumnWidth(0, label)
        room = self.viewport().width() - label
        each = max(self._theme.px(_LEAST_COLUMN), room // count) if count > 0 else 0
        for column in range(1, count + 1):
            rest = room - each * (count - 1)
            self.setColumnWidth(column, max(each, rest) if column == count else each)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._divide()

    def sizeHint(self) -> QSize:
        columns = self.needs_item_model.columnCount() - 1
        width = self._theme.px(_LABEL_WIDTH) + columns * self._theme.px(_LEAST_COLUMN)
        return QSize(width, self.measure_whole_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(_LABEL_WIDTH), self.measure_whole_height())

    # Painting

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:  # noqa: ARG002 - columns say it
        line, left, right = self.needs_item_model.lines[row.number], -self._heads.offset(), self._heads.length()
        color = "strong" if isinstance(line, NeededGroup) else "grid"
        pen.hairline(left, row.end - 1, left + right, row.end - 1, color)
        label = QRectF(left, row.start, self._heads.sectionSize(0), row.size)
        if isinstance(line, NeededGroup):
            title = QRectF(left, row.start + self._theme.length(8), right, row.size - self._theme.length(8))
            pen.text(title, line.title, font="small_strong", color="text1")
            return
        pen.text(label, line.label, font="section" if line.present else "body")
        for column in columns:
            if column.number:
                self._paint_cell(pen, self._get_box(row, column), line.cells[column.number - 1])

    def _get_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        gap = self._theme.length(_GAP)
        return QRectF(column.start, row.start, column.size, row.size).adjusted(gap, gap - 1, -gap, -gap)

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return self._get_box(row, column).adjusted(0, -1, 1, 1)

    def paint_ring(self, pen: ThemePainter, box: QRectF) -> None:
        paint_ring(pen, box)

    def _paint_cell(self, pen: ThemePainter, box: QRectF, cell: NeededCell) -> None:
        words, side = "text3", 4.0
        if cell.count is None:
            side += self._paint_hatch(pen, box, pen.width(cell.below, "caption") + 8)
        else:
            tint, words = next((tint, words) for least, tint, words in _TINTS if cell.count >= least)
            pen.tint(box, tint)
        if cell.present:
            pen.frame(box, words, radius=5)
        line = self._theme.length(_LINE)
        top = box.center().y() - (line if cell.below else line / 2)
        upper = QRectF(box.left() + side, top, box.width() - 2 * side, line)
        text = format_needed_count(cell, self._formatter)
        pen.text(upper, text, font="section", color=words, align=CENTER)
        pen.text(upper.translated(0, line - 1), cell.below, font="caption", color=words, align=CENTER)

    def _paint_hatch(self, pen: ThemePainter, box: QRectF, room: float) -> float:
        """Hatch both ends of a cell outside text of this width; return the width of each end."""
        side = min(self._theme.length(16), max(3.0, (box.width() - room) / 2))
        for left in (box.left(), box.right() - side):
            pen.hatch(QRectF(left, box.top(), side, box.height()), "strong")
        return side


class NeededBlock(QWidget):
    """`brief` shows only the first group: for the load, or for one request if the load has no number."""

    #: The scenario got the deployment of a cell.
    taken = Signal()

    def __init__(self, desk: Desk, theme: Theme, *, brief: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.formatter = desk.formatter
        self.theme = theme
        self._brief = brief
        self._table = NeededTable()
        self._subtitle = ElidedLabel(theme, self)
        self._subtitle.set_color("text3")
        self.remark = ThemedLabel(theme, font="small", color="text2", parent=self)
        self.offer = LinkButton(theme, "", self._take_current, parent=self)
        self.offer.hide()
        self.view = NeededMatrixView(theme, desk.formatter, self.title, self)
        self.view.current.connect(self._offer_cell)
        self.view.taken.connect(self._take)
        title = ThemedLabel(theme, self.title, font="section", parent=self)
        head = make_row(title, (self._subtitle, 1), self.remark, self.offer, gap=10, scaled=theme)
        make_column(head, self.view, gap=4, scaled=theme, on=self)

    @property
    def title(self) -> str:
        return tr("Accelerators needed")

    def refresh(self) -> None:
        self._table = make_needed_table(self._desk, brief=self._brief)
        answer = self._desk.answer
        model = "" if answer is None else answer.model.name
        words = tr("Minimum for {model}. Green: one is enough. Outlined: scenario.", model=model)
        degrees = self._table.abbreviations
        self._subtitle.set_whole(f"{words} {degrees}." if degrees else words)
        self.view.needs_item_model.show(self._table)

    def describe_counts(self) -> list[str]:
        """Return how many of each accelerator the load needs in the scenario's format, the smallest number first."""
        group = next(iter(self._table.groups), None)
        row = None if group is None else next((each for each in group.rows if each.present), None)
        if group is None or row is None:
            return []
        names: dict[int | None, list[str]] = {}
        for head, cell in zip(self._table.heads, row.cells, strict=True):
            alike = names.setdefault(cell.count, [])
            if (name := drop_count(head.name)) not in alike:
                alike.append(name)
        unable = names.pop(None, [])
        count = self.formatter.count
        needs = [f"{count(number)} × {join_alternatives(names[number])}" for number in sorted(filter(None, names))]
        sentences = []
        if needs:
            values = {"load": group.title, "weights": row.label, "needs": "; ".join(needs)}
            sentences.append(tr("{load}: {weights} need at least {needs}.", **values))
        if unable:
            sentences.append(tr("No number of {names} is enough.", names=join_alternatives(unable)))
        return sentences

    def data(self, formatter: Formatter) -> ChartData:
        heads = (tr("Requests"), tr("Weights"), *(head.name for head in self._table.heads))
        rows = [
            (group.title, row.label, *(_format_plan(cell, formatter) for cell in row.cells))
            for group in self._table.groups
            for row in group.rows
        ]
        return ChartData(title=self.title, heads=heads, rows=tuple(rows), first_number=2)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event)

    def _offer_cell(self, cell: NeededCell | None) -> None:
        action = "" if cell is None or cell.present else cell.action
        if action != self.offer.text():
            self.offer.setText(action)
            self.offer.setVisible(bool(action))
        remark = _format_cell_remark(cell)
        if remark != self.remark.text():
            self.remark.setText(remark)

    def _take_current(self) -> None:
        self._take(self.view.get_current_cell())

    def _take(self, cell: NeededCell | None) -> None:
        if cell is None or cell.count is None:
            return
        scenario = replace_deployment(self._desk.scenario, cell.position, cell.weights, cell.count, cell.vendor)
        self._desk.apply(scenario, cell.action)
        self.taken.emit()


def _format_cell_remark(cell: NeededCell | None) -> str:
    """Return the remark of a cell without an action."""
    if cell is None:
        return ""
    return tr("Current scenario") if cell.present else cell.reason


def _format_plan(cell: NeededCell, formatter: Formatter) -> str:
    count = format_needed_count(cell, formatter)
    return f"{count} ({cell.below})" if cell.count is not None and cell.below else count
