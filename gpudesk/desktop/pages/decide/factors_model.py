"""The factor table as an item model: rows of factors, columns of accelerators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.pages.decide.trace_model import TraceHead, find_common_unit, strip_unit
from gpudesk.domain.decision import Decision, DecisionFactor, DecisionRule, FactorCell, FactorLevel, FactValue
from gpudesk.report.decision.facts import format_fact, label_fact
from gpudesk.report.decision.rules import label_factor, label_level, label_rule_source
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.translation import tr

Index = QModelIndex | QPersistentModelIndex

_Role = Qt.ItemDataRole
_HERE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_SPOKEN: Final = (_Role.AccessibleTextRole, _Role.ToolTipRole)
#: The column of what a factor is about, and the first of an accelerator; documents come last.
FACTOR, FIRST = range(2)


@dataclass(frozen=True, slots=True)
class FactorTableCell:
    """How an accelerator does in a factor, and what made it so: the likely figure, and that with its band."""

    level: FactorLevel
    word: str
    figure: str
    whole: str


@dataclass(frozen=True, slots=True)
class FactorRow:
    """A factor, by what it is judged, its cells, and the rules of documents that have it."""

    id: str
    name: str
    measure: str
    cells: tuple[FactorTableCell, ...]
    rules: tuple[DecisionRule, ...]

    @property
    def sources(self) -> str:
        """The documents that have it with their dates, each with the ids of its rules."""
        by_document: dict[str, list[str]] = {}
        for rule in self.rules:
            by_document.setdefault(format_document(rule), []).append(rule.id)
        return "; ".join(
            tr("{document}: {ids}", document=document, ids=", ".join(ids)) for document, ids in by_document.items()
        )

    @property
    def said(self) -> str:
        return " ".join(rule.why for rule in self.rules)


def format_document(rule: DecisionRule) -> str:
    return tr("{source}, {date}", source=label_rule_source(rule), date=rule.dated or tr("not dated"))


def make_factor_rows(
    decision: Decision, rules: Mapping[str, DecisionRule], formatter: Formatter
) -> tuple[FactorRow, ...]:
    return tuple(_row(factor, rules, formatter) for factor in decision.factors)


def _row(factor: DecisionFactor, rules: Mapping[str, DecisionRule], formatter: Formatter) -> FactorRow:
    measured = any(cell.level is not FactorLevel.UNKNOWN for cell in factor.cells)
    cells = [_level(factor.fact, cell, formatter) for cell in factor.cells]
    unit = find_common_unit([cell.figure or MISSING_VALUE_TEXT for cell in cells])
    measure = label_fact(factor.fact) if measured else tr("No measure is known")
    return FactorRow(
        id=factor.id,
        name=label_factor(factor.id),
        measure=tr("{measure}, {unit}", measure=measure, unit=unit) if unit else measure,
        cells=tuple(replace(cell, figure=strip_unit(cell.figure, unit)) for cell in cells),
        rules=tuple(rules[each] for each in factor.stated if each in rules),
    )


def _level(fact: str, cell: FactorCell, formatter: Formatter) -> FactorTableCell:
    word = label_level(cell.level)
    word = word[:1].upper() + word[1:]
    if cell.value is None or cell.level is FactorLevel.LACKS:
        return FactorTableCell(cell.level, word, "", "")
    likely: FactValue = cell.value.value if isinstance(cell.value, IntervalEstimate) else cell.value
    return FactorTableCell(
        cell.level, word, format_fact(fact, likely, formatter), format_fact(fact, cell.value, formatter)
    )


class FactorsModel(QAbstractTableModel):
    """Cells over rows of factors."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.heads: tuple[TraceHead, ...] = ()
        self.rows: tuple[FactorRow, ...] = ()

    def show(self, heads: Sequence[TraceHead], rows: Sequence[FactorRow]) -> None:
        """Show other rows; the same factors of the same accelerators only change what they say."""
        alike = [head.key for head in heads] == [head.key for head in self.heads] and [row.id for row in rows] == [
            row.id for row in self.rows
        ]
        if not alike:
            self.beginResetModel()
        self.heads, self.rows = tuple(heads), tuple(rows)
        if not alike:
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, self.columnCount() - 1))

    # Looking up

    def head(self, column: int) -> TraceHead | None:
        place = column - FIRST
        return self.heads[place] if 0 <= place < len(self.heads) else None

    def cell(self, row: int, column: int) -> FactorTableCell | None:
        return None if self.head(column) is None else self.rows[row].cells[column - FIRST]

    def sentence(self, row: int, column: int) -> str:
        factor, head, cell = self.rows[row], self.head(column), self.cell(row, column)
        if head is None or cell is None:
            if column == FACTOR:
                return f"{factor.name}, {factor.measure}"
            return " ".join(f"{format_document(rule)}, {rule.id}: {rule.why}" for rule in factor.rules)
        said = f"{cell.word}, {cell.whole}" if cell.whole else cell.word
        return tr("{factor}, {name}: {said}", factor=factor.name, name=head.name, said=said)

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else FIRST + len(self.heads) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        return _HERE if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if not index.isValid():
            return None
        if role in _SPOKEN:
            return self.sentence(index.row(), index.column())
        if role != _Role.DisplayRole:
            return None
        row, cell = self.rows[index.row()], self.cell(index.row(), index.column())
        if cell is not None:
            return f"{cell.word} {cell.figure}".strip()
        return row.name if index.column() == FACTOR else f"{row.sources}. {row.said}".strip(". ")

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if role != _Role.DisplayRole and role not in _SPOKEN:
            return None
        if orientation == Qt.Orientation.Vertical:
            return self.rows[section].name if 0 <= section < len(self.rows) else None
        head = self.head(section)
        if head is not None:
            return head.name
        if section == FACTOR:
            return tr("Factor")
        return tr("What documents say") if section == self.columnCount() - 1 else None
