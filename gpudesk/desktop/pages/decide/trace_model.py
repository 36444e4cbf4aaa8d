"""The trace of a decision: rows by subject and effect, their item model, and column widths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from PySide6.QtCore import QObject, QRect, QRectF, Qt, Signal
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.tables.painted_table import PaintedHeader
from gpudesk.desktop.ui.tables.table_base import HEADING, SELECTABLE, Index, TableItemModel
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.domain.decision import WEIGHT_BOUNDS, Decision, DecisionRule, FactValue, RuleEffect, RuleRole, TraceLine
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.facts import format_fact
from gpudesk.report.decision.rules import describe_condition_result, describe_rule_answers, label_rule_source
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.translation import tr

#: Separators between ids of rules, and between statements about one accelerator.
_DOT: Final = " · "
#: Between a figure and its unit.
_SPACE: Final = "\N{NO-BREAK SPACE}"


class TraceTableCell(NamedTuple):
    """The effect of a rule on one accelerator: its figure, and the effect in a word.

    `figure` is the likely one, without the row's unit; `whole` has interval and unit.
    """

    effect: RuleEffect
    figure: str
    whole: str
    word: str


@frozen_dataclass
class TraceRuleRow:
    """A rule that fired, with those of the same effects that are counted with it.

    `unit` is common to all its figures. `changed` marks a user weight.
    """

    line: TraceLine
    also: tuple[TraceLine, ...]
    group: str
    answer: str
    unit: str
    cells: tuple[TraceTableCell, ...]
    changed: bool

    @property
    def key(self) -> str:
        return self.line.rule.id

    @property
    def title(self) -> str:
        return self.line.title

    @property
    def lines(self) -> tuple[TraceLine, ...]:
        """All rules of the row, the counting one first."""
        return (self.line, *self.also)

    @property
    def ids(self) -> str:
        return _DOT.join(line.rule.id for line in self.lines)

    @property
    def weight(self) -> float | None:
        """The weight of the row as an argument; None if it only removes or shows."""
        return None if self.line.case.favours is None else self.line.weight

    @property
    def refuted(self) -> bool:
        """Whether one of its rules is refuted."""
        return any(line.rule.unfounded is not None for line in self.lines)

    @property
    def disputed(self) -> bool:
        return any(line.rule.disputes for line in self.lines)


class TraceGroup(NamedTuple):
    """Rows with the same effect on the decision, below a title."""

    title: str
    rows: tuple[TraceRuleRow, ...]


class TraceFold(NamedTuple):
    """The line that shows and hides the rules that did not fire."""

    rules: int
    opened: bool

    @property
    def title(self) -> str:
        return tr("Rules that do not apply ({n})", n=self.rules)


@frozen_dataclass
class TraceTable:
    """All rows of a decision; `silent` are the rules that did not fire."""

    heads: tuple[AcceleratorColumn, ...] = ()
    groups: tuple[TraceGroup, ...] = ()
    silent: tuple[DecisionRule, ...] = ()

    @property
    def rows(self) -> tuple[TraceRuleRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


def make_trace_table(
    decision: Decision,
    heads: Sequence[AcceleratorColumn],
    rules: Sequence[DecisionRule],
    changed: Collection[str],
    formatter: Formatter,
) -> TraceTable:
    """Return the trace of a decision; `rules` are all rules, `changed` those with the user's weight."""
    also: dict[str, list[TraceLine]] = {}
    for line in decision.trace:
        if line.counted_with is not None:
            also.setdefault(line.counted_with, []).append(line)
    groups = []
    for role in RuleRole:
        title = role.label
        rows = tuple(
            _make_rule_row(line, tuple(also.get(line.rule.id, ())), title, decision, changed, formatter)
            for line in decision.trace
            if line.counted_with is None and line.role is role
        )
        if rows:
            groups.append(TraceGroup(title, rows))
    by_id: Mapping[str, DecisionRule] = {rule.id: rule for rule in rules}
    silent = tuple(by_id[each] for each in decision.silent if each in by_id)
    return TraceTable(tuple(heads), tuple(groups), silent)


def _make_rule_row(
    line: TraceLine,
    also: tuple[TraceLine, ...],
    group: str,
    decision: Decision,
    changed: Collection[str],
    formatter: Formatter,
) -> TraceRuleRow:
    unit, cells = _make_cells(line, formatter)
    return TraceRuleRow(
        line=line,
        also=also,
        group=group,
        answer=describe_rule_answers(line, formatter, decision.answers),
        unit=unit,
        cells=cells,
        changed=any(each.rule.id in changed for each in (line, *also)),
    )


def _make_cells(line: TraceLine, formatter: Formatter) -> tuple[str, tuple[TraceTableCell, ...]]:
    """Return the common unit of a line's figures, and its cells without it."""
    shows = line.shows
    whole = ["" if shows is None else format_fact(shows, cell.value, formatter) for cell in line.cells]
    likely = [
        "" if shows is None else format_fact(shows, _get_likely_value(cell.value), formatter) for cell in line.cells
    ]
    unit = find_common_unit(likely)
    return unit, tuple(
        TraceTableCell(cell.effect, strip_unit(figure, unit), all_of_it, cell.effect.label)
        for cell, figure, all_of_it in zip(line.cells, likely, whole, strict=True)
    )


def _get_likely_value(fact: FactValue) -> FactValue:
    return fact.value if isinstance(fact, IntervalEstimate) else fact


def find_common_unit(figures: Sequence[str]) -> str:
    """Return the common unit of all known figures, empty without one."""
    ends = {
        figure.rpartition(_SPACE)[2] if _SPACE in figure else "" for figure in figures if figure != MISSING_VALUE_TEXT
    }
    unit = ends.pop() if len(ends) == 1 else ""
    return "" if unit[:1].isdigit() else unit


def strip_unit(figure: str, unit: str) -> str:
    """Return a figure without the unit at its end."""
    return figure.removesuffix(_SPACE + unit) if unit else figure


# Sentences


def describe_row(row: TraceRuleRow, formatter: Formatter) -> str:
    parts = [row.title, row.group, row.ids, row.answer]
    if row.weight is not None:
        parts.append(describe_weight(row, formatter))
    if row.refuted:
        parts.append(tr("refuted"))
    if row.disputed:
        parts.append(tr("figures disputed"))
    sources = dict.fromkeys(label_rule_source(line.rule) for line in row.lines)
    return ", ".join([*(part for part in parts if part), *(each for each in sources if each)])


def describe_weight(row: TraceRuleRow, formatter: Formatter) -> str:
    weight = formatter.exact(row.weight)
    return tr("weight {n}, set by you", n=weight) if row.changed else tr("weight {n}", n=weight)


def describe_cell(row: TraceRuleRow, head: AcceleratorColumn, place: int, formatter: Formatter) -> str:
    """Return the full text of a cell: the effect, the figure, and the tested conditions."""
    cell = row.cells[place]
    parts = [cell.word, cell.whole]
    parts += [describe_condition_result(each, formatter) for each in row.line.cells[place].tested]
    effect = ", ".join(dict.fromkeys(part for part in parts if part))
    return tr("{rule}, {name}: {effect}", rule=row.title, name=head.name, effect=effect)


def format_trace(table: TraceTable, formatter: Formatter) -> str:
    """Return the trace as tab-separated lines, for spreadsheets."""
    heads = (tr("Group"), tr("Rule"), tr("IDs"), tr("Answer"), tr("Weight"), *(h.name for h in table.heads))
    lines = [heads]
    for row in table.rows:
        weight = "" if row.weight is None else formatter.exact(row.weight)
        cells = (f"{cell.word} {cell.whole}".strip() for cell in row.cells)
        lines.append((row.group, row.title, row.ids, row.answer, weight, *cells))
    return format_tab_separated(lines)


#: A group title, a row, the fold, or a rule that did not fire.
TraceTableLine = TraceGroup | TraceRuleRow | TraceFold | DecisionRule

_Role = Qt.ItemDataRole
#: Columns before those of accelerators: subject of a rule, related answers, weight.
RULE, ANSWER, WEIGHT, FIRST = range(4)


def make_line_key(line: TraceTableLine) -> str:
    match line:
        case TraceGroup():
            return f"group {line.title}"
        case TraceFold():
            return "fold"
        case DecisionRule():
            return line.id
    return line.key


class TraceModel(TableItemModel):
    """Lines over a `TraceTable`. Changes within the same lines and columns are signaled as changed data."""

    #: The id of a counting rule, and the new weight of its row.
    weighed = Signal(str, float)

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self.table = TraceTable()
        self.lines: tuple[TraceTableLine, ...] = ()
        self.opened = False

    # Updates

    def show(self, table: TraceTable) -> None:
        lines = self._list_lines(table)
        alike = [head.key for head in table.heads] == [head.key for head in self.table.heads] and [
            make_line_key(line) for line in lines
        ] == [make_line_key(line) for line in self.lines]
        with self.exchanging(is_alike=alike):
            self.table, self.lines = table, lines

    def set_opened(self, opened: bool) -> None:
        if opened != self.opened:
            with self.exchanging(is_alike=False):
                self.opened = opened
                self.lines = self._list_lines(self.table)

    def _list_lines(self, table: TraceTable) -> tuple[TraceTableLine, ...]:
        lines: list[TraceTableLine] = []
        for group in table.groups:
            lines += [group, *group.rows]
        if table.silent:
            lines.append(TraceFold(len(table.silent), self.opened))
            lines += table.silent if self.opened else ()
        return tuple(lines)

    # Looking up

    def head(self, column: int) -> AcceleratorColumn | None:
        place = column - FIRST
        return self.table.heads[place] if 0 <= place < len(self.table.heads) else None

    def find_rule_row(self, row: int) -> TraceRuleRow | None:
        """Return the rule row of a line, None for another kind of line."""
        line = self.lines[row] if 0 <= row < len(self.lines) else None
        return line if isinstance(line, TraceRuleRow) else None

    def cell(self, row: int, column: int) -> TraceTableCell | None:
        traced = self.find_rule_row(row)
        return None if traced is None or self.head(column) is None else traced.cells[column - FIRST]

    def row_of(self, key: str) -> int:
        """Return the number of a line by its key, -1 if it is not shown."""
        return next((number for number, line in enumerate(self.lines) if make_line_key(line) == key), -1)

    def find_line_of_rule(self, rule: str) -> int:
        """Return the number of the line of a rule, alone or with others; -1 without one."""
        for number, line in enumerate(self.lines):
            if isinstance(line, TraceRuleRow) and any(each.rule.id == rule for each in line.lines):
                return number
        return self.row_of(rule)

    def can_be_weighed(self, row: int) -> bool:
        traced = self.find_rule_row(row)
        return traced is not None and traced.weight is not None

    def sentence(self, row: int, column: int) -> str:
        line = self.lines[row]
        match line:
            case TraceGroup():
                return line.title
            case TraceFold():
                state = tr("expanded") if line.opened else tr("collapsed")
                return f"{line.title}, {state}"
            case DecisionRule():
                return tr(
                    "{rule}, {id}, {source}, does not apply",
                    rule=line.title,
                    id=line.id,
                    source=label_rule_source(line),
                )
        head = self.head(column)
        if head is not None:
            return describe_cell(line, head, column - FIRST, self._formatter)
        if column == WEIGHT and line.weight is not None:
            return f"{line.title}, {describe_weight(line, self._formatter)}"
        return describe_row(line, self._formatter)

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.lines)

    def count_columns(self) -> int:
        return FIRST + len(self.table.heads)

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:
        """Rows, the fold and silent rules can be selected, and weights edited."""
        if isinstance(self.lines[row], TraceGroup):
            return HEADING
        is_weight = column == WEIGHT and self.can_be_weighed(row)
        return SELECTABLE | Qt.ItemFlag.ItemIsEditable if is_weight else SELECTABLE

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if role != _Role.EditRole:
            return super().data(index, role)
        traced = self.find_rule_row(index.row())
        return traced.weight if traced is not None and index.column() == WEIGHT else None

    def get_text(self, row: int, column: int) -> str:
        line = self.lines[row]
        if isinstance(line, TraceRuleRow):
            cell = self.cell(row, column)
            if cell is not None:
                return f"{cell.word} {cell.whole}".strip()
            weight = "" if line.weight is None else self._formatter.exact(line.weight)
            return (line.title, line.answer, weight)[column]
        return line.title if column == RULE else ""

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:  # noqa: ANN401
        """Request a user weight for a row; it is shown with the next decision."""
        traced = self.find_rule_row(index.row())
        if role != _Role.EditRole or traced is None or not self.can_be_weighed(index.row()):
            return False
        if not WEIGHT_BOUNDS.hold(float(value)):
            return False
        if float(value) != traced.weight:
            self.weighed.emit(traced.key, float(value))
        return True

    def get_label(self, section: int, *, spoken: bool) -> str | None:
        return self.sentence(section, RULE) if spoken else None

    def get_head(self, section: int, *, spoken: bool) -> str:  # noqa: ARG002 - one meaning for all columns
        head = self.head(section)
        return (tr("Rule"), tr("Answer"), tr("Weight"))[section] if head is None else head.name


#: Space left of the first text for the focus ring; rules have the same distance from the edges.
PAD: Final = 8.0
#: Between a text and the next item in its line, a mark with its space, and right of answers and weights.
GAP: Final = 8.0
MARK: Final = 14.0
END: Final = 12.0

_ROW: Final = 29.0
_TALL: Final = 42.0
_GROUP: Final = 36.0
_SILENT: Final = 25.0
_WEIGHT: Final = 54.0
_CELL: Final = (84.0, 150.0)
_ANSWER: Final = (72.0, 250.0)
_LEAST_RULE: Final = 180.0
#: Maximum width share of the accelerator cells.
_CELLS: Final = 0.52
#: Rows get a second line if the ids of more than this share of them do not fit into the first.
_CUT: Final = 0.25


@frozen_dataclass
class RuleTraceWidths:
    """Widths of the columns in pixels; all accelerators have the same.

    `tall` rows have a second line for ids and answers; then the subject has the width of both columns.
    """

    rule: int
    answer: int
    weight: int
    cell: int
    tall: bool

    def of(self, column: int) -> int:
        return (self.rule, self.answer, self.weight)[column] if column < FIRST else self.cell


class RuleTraceLayout:
    """Measures lines by their texts."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme, self._texts = theme, texts

    def widths(self, room: int, accelerators: int, rows: Sequence[TraceRuleRow]) -> RuleTraceWidths:
        """Distribute the width: cells and weights first, answers as necessary, and rules the rest."""
        px, count = self._theme.px, max(1, accelerators)
        weight = px(_WEIGHT)
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        cell = min(cell, max(px(_CELL[0]) // 2, (room - weight - px(_LEAST_RULE + _ANSWER[0])) // count))
        remaining = max(0, room - weight - cell * count)
        natural_width = max((self._texts.width("caption", row.answer) for row in rows), default=0.0)
        most = min(px(_ANSWER[1]), max(px(_ANSWER[0]), remaining - px(_LEAST_RULE) * 3 // 2))
        answer = min(max(round(natural_width) + px(END + 6), px(_ANSWER[0])), most, remaining)
        rule = remaining - answer
        cut = sum(self._measure_rule(row) > rule for row in rows)
        return RuleTraceWidths(rule, answer, weight, cell, cut > _CUT * len(rows))

    def _measure_rule(self, row: TraceRuleRow) -> float:
        """Return the width of a rule with unit, marks and ids in one line."""
        length, width = self._theme.length, self._texts.width
        needed = length(PAD + 4) + width("body", row.title) + length(GAP) + width("caption", row.ids)
        needed += length(MARK) * (row.refuted + row.disputed)
        return needed + (width("caption", row.unit) + length(GAP) if row.unit else 0.0)

    def height(self, line: TraceTableLine, *, tall: bool) -> int:
        px = self._theme.px
        match line:
            case TraceGroup():
                return px(_GROUP)
            case TraceRuleRow():
                return px(_TALL if tall else _ROW)
            case TraceFold():
                return px(_ROW)
        return px(_SILENT)

    @property
    def row(self) -> int:
        return self._theme.px(_ROW)


_SWATCH_GAP: Final = 5.0


class AcceleratorHeader(PaintedHeader):
    """Accelerator names in their colors over their columns, and plain heads over the others."""

    def __init__(
        self,
        theme: Theme,
        get_head: Callable[[int], AcceleratorColumn | None],
        parent: QWidget,
        *,
        pad: float,
        numbers: tuple[int, ...] = (),
        unnamed: tuple[int, ...] = (),
    ) -> None:
        """Get the accelerator of a column from `get_head`, None for others.

        Texts begin at `pad`; heads of `numbers` are right-aligned, those of `unnamed` are only for screen readers.
        """
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self._get_head, self._pad, self._numbers, self._unnamed = get_head, pad, numbers, unnamed
        self.setSectionsMovable(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:  # noqa: ARG002 - few heads, all painted
        theme, height = self._theme, self.height() - 1
        heads = {column: self._get_head(column) for column in range(self.count())}
        # If one name does not fit after its swatch, no head has a swatch.
        before = theme.length(self._pad + SWATCH_WIDTH + _SWATCH_GAP) + 2
        swatches = all(
            before + pen.width(head.name, "label") <= self.sectionSize(column)
            for column, head in heads.items()
            if head is not None
        )
        for column, head in heads.items():
            left = self.sectionViewportPosition(column)
            x, right = left + theme.length(self._pad), left + self.sectionSize(column) - 2.0
            if head is not None:
                if swatches:
                    x += pen.swatch(x, height / 2, head.palette_index, is_variant=head.is_variant) + theme.length(
                        _SWATCH_GAP
                    )
                place = QRectF(x, 0, max(1.0, right - x), height)
                pen.text(place, head.name, font="label", color=theme.name_color(head.palette_index))
            elif column in self._numbers:
                place = QRectF(left, 0, self.sectionSize(column) - theme.length(END), height)
                pen.text(place, self._get_text(column), font="caption_strong", color="text3", align=RIGHT)
            elif column not in self._unnamed:
                place = QRectF(x, 0, max(1.0, right - x), height)
                pen.text(place, self._get_text(column), font="caption_strong", color="text3")
        pad = theme.px(PAD)
        pen.hairline(pad, height, self.viewport().width() - pad, height, "strong")

    def _get_text(self, column: int) -> str:
        return str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
