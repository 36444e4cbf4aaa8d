"""Accelerators needed by weight format, as data and as an item model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.tables.item_model import SELECTABLE, TableItemModel
from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.precision import STORAGE_FORMATS, Precision, resolve_fp4
from gpudesk.domain.sizing import DeploymentSize, SmallestDeployments
from gpudesk.report.labels import label_precision
from gpudesk.report.sizing import (
    format_degrees,
    label_requests_in_flight,
    label_single_request,
    label_weight_width,
    summarize_reason,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr, trn


@dataclass(frozen=True, slots=True)
class NeededCell:
    """The smallest deployment of one column in one format; without `count` none is known and `reason` why.

    `title` says what it holds, `name` is the column's; `many` and `plan` are count and degrees in words.
    `below` is the second line: the plan, or the reason in a word or two. `present` marks the scenario's own.
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
        """The wording of the edit that takes this deployment; nothing where there is none."""
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


@dataclass(frozen=True, slots=True)
class NeededRow:
    """The cells of one width of the weights, in the order of the columns; `present` is the scenario's own."""

    label: str
    present: bool
    cells: tuple[NeededCell, ...]


@dataclass(frozen=True, slots=True)
class NeededGroup:
    """The load of a group, and its rows."""

    title: str
    rows: tuple[NeededRow, ...]


@dataclass(frozen=True, slots=True)
class NeededHead:
    """A column: its name, its place in the palette, and the memory of one of them."""

    name: str
    palette_index: int
    is_variant: bool
    memory: str


@dataclass(frozen=True, slots=True)
class NeededTable:
    """All that is needed, by column."""

    heads: tuple[NeededHead, ...] = ()
    groups: tuple[NeededGroup, ...] = ()


def make_needed_table(desk: Desk, *, brief: bool = False) -> NeededTable:
    """Return the table of the desk's answer: for all requests in flight, and for a single one.

    `brief` leaves it at the first of these groups.
    """
    answer, formatter = desk.answer, desk.formatter
    if answer is None:
        return NeededTable()
    try:
        deployments = desk.service.needed(answer.scenario)
    except InputError:
        # What is wrong with a scenario is said above the page.
        return NeededTable()
    heads = tuple(
        NeededHead(
            each.name, each.palette_index, each.is_variant, f"{formatter.gib(each.column.accelerator.memory_bytes)} GiB"
        )
        for each in desk.columns
    )
    return NeededTable(heads, tuple(_make_groups(answer, desk.names, deployments, formatter, brief=brief)))


def _make_groups(
    answer: Answer,
    names: Sequence[str],
    deployments: Sequence[Sequence[SmallestDeployments]],
    formatter: Formatter,
    *,
    brief: bool,
) -> Iterator[NeededGroup]:
    work = answer.scenario.workload
    title = label_requests_in_flight(work, formatter)
    if title is not None:
        yield _GroupBuilder(answer, names, title, for_load=True, formatter=formatter).group(deployments)
        if brief:
            return
    one = label_single_request(work, formatter)
    yield _GroupBuilder(answer, names, one, for_load=False, formatter=formatter).group(deployments)


@dataclass(frozen=True, slots=True)
class _GroupBuilder:
    """Makes the rows for the whole load, or for one request."""

    answer: Answer
    names: Sequence[str]
    title: str
    for_load: bool
    formatter: Formatter

    def group(self, deployments: Sequence[Sequence[SmallestDeployments]]) -> NeededGroup:
        return NeededGroup(self.title, tuple(self._row(across) for across in zip(*deployments, strict=True)))

    def _row(self, across: Sequence[SmallestDeployments]) -> NeededRow:
        alike = len({needed.weights for needed in across}) == 1
        label = tr("{format} weights", format=label_weight_width(across, self.formatter))
        columns = zip(self.answer.columns, self.names, across, strict=True)
        cells = tuple(
            self._cell(position, column, name, needed, name_format=not alike)
            for position, (column, name, needed) in enumerate(columns)
        )
        own = STORAGE_FORMATS[resolve_fp4(self.answer.scenario.weights, "")].bits
        return NeededRow(label, across[0].bits == own, cells)

    def _cell(
        self, position: int, column: ComparisonColumn, name: str, needed: SmallestDeployments, *, name_format: bool
    ) -> NeededCell:
        size = needed.load if self.for_load else needed.one
        many, plan, reason = "", "", ""
        if size is not None:
            many, plan = self.formatter.count(size.count), format_degrees(size.plan, self.formatter)
            format_label = label_precision(needed.weights) if name_format else ""
            below = ", ".join(each for each in (format_label, plan) if each)
        else:
            below = summarize_reason(needed.reason)
            reason = "" if needed.reason is None else format_message(needed.reason, self.formatter)
        return NeededCell(
            position=position,
            title=self.title,
            name=name,
            weights=needed.weights,
            vendor=column.accelerator.vendor,
            count=None if size is None else size.count,
            many=many,
            plan=plan,
            below=below,
            reason=capitalize_first(reason),
            present=_is_current_deployment(column.estimate, needed, size),
        )


def _is_current_deployment(estimate: Estimate | None, needed: SmallestDeployments, size: DeploymentSize | None) -> bool:
    if estimate is None or size is None or estimate.count != size.count:
        return False
    weights = estimate.request.weights
    return needed.weights in (weights, *(resolve_fp4(weights, vendor) for vendor in ("NVIDIA", "AMD")))


def format_needed_count(cell: NeededCell, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if cell.count is None else formatter.count(cell.count)


class NeededModel(TableItemModel):
    """Lines are titles of groups and their rows. New counts in the same cells are signaled as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self._table = NeededTable()
        self._lines: tuple[NeededGroup | NeededRow, ...] = ()

    def show(self, table: NeededTable) -> None:
        if table == self._table:
            return
        lines: list[NeededGroup | NeededRow] = []
        for group in table.groups:
            lines += [group, *group.rows]
        before, heads, old = self._lines, table.heads, self._table.heads
        alike = len(heads) == len(old) and [type(line) for line in lines] == [type(line) for line in before]
        if not alike:
            self.beginResetModel()
        self._table, self._lines = table, tuple(lines)
        if not alike:
            self.endResetModel()
            return
        if heads != old:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads))
        for number, (one, other) in enumerate(zip(before, lines, strict=True)):
            if self._visible_contents(one) != self._visible_contents(other):
                self.dataChanged.emit(self.index(number, 0), self.index(number, len(heads)))

    @staticmethod
    def _visible_contents(line: NeededGroup | NeededRow) -> object:
        """Return what of a line can be seen: not the sentences, which name the load."""
        if isinstance(line, NeededGroup):
            return line.title
        cells = [(cell.count, cell.below, cell.reason, cell.present) for cell in line.cells]
        return line.label, line.present, cells

    # Looking up

    @property
    def lines(self) -> tuple[NeededGroup | NeededRow, ...]:
        return self._lines

    def head(self, column: int) -> NeededHead | None:
        """Return the head of a column; None for that of the labels."""
        return self._table.heads[column - 1] if 0 < column <= len(self._table.heads) else None

    def cell(self, row: int, column: int) -> NeededCell | None:
        """Return the cell at a place; None for labels and titles."""
        line = self._lines[row] if 0 <= row < len(self._lines) else None
        return line.cells[column - 1] if isinstance(line, NeededRow) and column > 0 else None

    # What is shown and read out

    def count_rows(self) -> int:
        return len(self._lines)

    def count_columns(self) -> int:
        return len(self._table.heads) + 1

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled if self.cell(row, column) is None else SELECTABLE

    def get_text(self, row: int, column: int) -> str | None:
        line, cell = self._lines[row], self.cell(row, column)
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
        return f"{head.name}, {head.memory}" if spoken else head.name
