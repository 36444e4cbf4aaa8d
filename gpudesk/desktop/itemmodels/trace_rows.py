"""The trace of a decision as rows: one for each subject and effect, grouped by how much they weigh."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gpudesk.domain.decisions import Decision, Effect, Fact, Rule, TraceLine
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.questions import Strength
from gpudesk.sheets.decision_words import answer_line, effect_text, fact_text, source_label, tested_text
from gpudesk.sheets.question_words import group_title
from gpudesk.text import tr

#: Between ids of rules, and between what is said of one thing.
_DOT: Final = " · "
#: Between a figure and its unit.
_SPACE: Final = "\N{NO-BREAK SPACE}"


class TraceHead(NamedTuple):
    """A column: its key, what it is called, and how it is drawn."""

    key: str
    name: str
    slot: int
    hollow: bool


class ShownCell(NamedTuple):
    """What a rule does to one accelerator: the figure that it is about, and the effect in a word.

    `figure` is the likely one, without the row's unit; `whole` has band and unit.
    """

    effect: Effect
    figure: str
    whole: str
    word: str


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A rule that fired, with those that say the same of the same accelerators and count with it.

    `unit` is that of all its figures. `changed` says that the weight is the user's.
    """

    line: TraceLine
    also: tuple[TraceLine, ...]
    group: str
    answer: str
    unit: str
    cells: tuple[ShownCell, ...]
    changed: bool

    @property
    def key(self) -> str:
        """The id of the rule that counts."""
        return self.line.rule.id

    @property
    def title(self) -> str:
        """What the rule is about."""
        return self.line.title

    @property
    def lines(self) -> tuple[TraceLine, ...]:
        """All rules of the row, that which counts first."""
        return (self.line, *self.also)

    @property
    def ids(self) -> str:
        """The ids of all its rules."""
        return _DOT.join(line.rule.id for line in self.lines)

    @property
    def weight(self) -> float | None:
        """What the row adds where it favours; None where it adds nothing because it only removes or shows."""
        return None if self.line.case.favours is None else self.line.weight

    @property
    def refuted(self) -> bool:
        """Whether nothing is left of one of its rules."""
        return any(line.rule.unfounded is not None for line in self.lines)

    @property
    def disputed(self) -> bool:
        """Whether a figure that one of its rules rests on is disputed."""
        return any(line.rule.disputes for line in self.lines)


class TraceGroup(NamedTuple):
    """Rows that weigh alike, under a title."""

    title: str
    rows: tuple[TraceRow, ...]


class TraceFold(NamedTuple):
    """The line that shows and hides the rules that did not fire."""

    rules: int
    opened: bool

    @property
    def title(self) -> str:
        """What the fold holds."""
        return tr("Rules that say nothing here ({n})", n=self.rules)


@dataclass(frozen=True, slots=True)
class TraceTable:
    """All rows of a decision; `silent` are the rules that did not fire."""

    heads: tuple[TraceHead, ...] = ()
    groups: tuple[TraceGroup, ...] = ()
    silent: tuple[Rule, ...] = ()

    @property
    def rows(self) -> tuple[TraceRow, ...]:
        """The rows of all groups."""
        return tuple(row for group in self.groups for row in group.rows)


def trace_table(
    decision: Decision,
    heads: Sequence[TraceHead],
    rules: Sequence[Rule],
    changed: Collection[str],
    formatter: Formatter,
) -> TraceTable:
    """Return the trace of a decision; `rules` are all there are, `changed` those with the user's weight."""
    also: dict[str, list[TraceLine]] = {}
    for line in decision.trace:
        if line.counted_with is not None:
            also.setdefault(line.counted_with, []).append(line)
    groups = []
    for strength in Strength:
        title = group_title(strength)
        rows = tuple(
            _row(line, tuple(also.get(line.rule.id, ())), title, decision, changed, formatter)
            for line in decision.trace
            if line.counted_with is None and line.rule.strength is strength
        )
        if rows:
            groups.append(TraceGroup(title, rows))
    by_id: Mapping[str, Rule] = {rule.id: rule for rule in rules}
    silent = tuple(by_id[each] for each in decision.silent if each in by_id)
    return TraceTable(tuple(heads), tuple(groups), silent)


def _row(
    line: TraceLine,
    also: tuple[TraceLine, ...],
    group: str,
    decision: Decision,
    changed: Collection[str],
    formatter: Formatter,
) -> TraceRow:
    unit, cells = _cells(line, formatter)
    return TraceRow(
        line=line,
        also=also,
        group=group,
        answer=answer_line(line, formatter, decision.answers),
        unit=unit,
        cells=cells,
        changed=any(each.rule.id in changed for each in (line, *also)),
    )


def _cells(line: TraceLine, formatter: Formatter) -> tuple[str, tuple[ShownCell, ...]]:
    """Return the unit that all figures of a line share, and its cells without it."""
    shows = line.rule.shows
    whole = ["" if shows is None else fact_text(shows, cell.value, formatter) for cell in line.cells]
    likely = [
        "" if shows is None else fact_text(shows, _likely(cell.value), formatter) for cell in line.cells
    ]
    unit = common_unit(likely)
    return unit, tuple(
        ShownCell(
            cell.effect,
            without_unit(figure, unit),
            all_of_it,
            effect_text(cell.effect),
        )
        for cell, figure, all_of_it in zip(line.cells, likely, whole, strict=True)
    )


def _likely(fact: Fact) -> Fact:
    return fact.value if isinstance(fact, Banded) else fact


def common_unit(figures: Sequence[str]) -> str:
    """Return the unit that stands at the end of all figures that are known, empty where they share none."""
    ends = {
        figure.rpartition(_SPACE)[2] if _SPACE in figure else "" for figure in figures if figure != UNKNOWN
    }
    unit = ends.pop() if len(ends) == 1 else ""
    return "" if unit[:1].isdigit() else unit


def without_unit(figure: str, unit: str) -> str:
    """Return a figure without the unit at its end."""
    return figure.removesuffix(_SPACE + unit) if unit else figure


# In sentences


def row_sentence(row: TraceRow, formatter: Formatter) -> str:
    """Return all that a row says of its rules."""
    parts = [row.title, row.group, row.ids, row.answer]
    if row.weight is not None:
        parts.append(weight_sentence(row, formatter))
    if row.refuted:
        parts.append(tr("refuted"))
    if row.disputed:
        parts.append(tr("figures disputed"))
    sources = dict.fromkeys(source_label(line.rule) for line in row.lines)
    return ", ".join([*(part for part in parts if part), *(each for each in sources if each)])


def weight_sentence(row: TraceRow, formatter: Formatter) -> str:
    """Return what a row weighs, and whose weight that is."""
    weight = formatter.stated(row.weight)
    return tr("weighs {n}, set by you", n=weight) if row.changed else tr("weighs {n}", n=weight)


def cell_sentence(row: TraceRow, head: TraceHead, place: int, formatter: Formatter) -> str:
    """Return all that a cell says: the effect, the figure, and what was tested of the accelerator."""
    cell = row.cells[place]
    parts = [cell.word, cell.whole]
    parts += [tested_text(each, formatter) for each in row.line.cells[place].tested]
    said = ", ".join(dict.fromkeys(part for part in parts if part))
    return tr("{rule}, {name}: {said}", rule=row.title, name=head.name, said=said)


def trace_text(table: TraceTable, formatter: Formatter) -> str:
    """Return the trace as lines of cells set apart by tabs, as spreadsheets take them."""
    heads = (tr("Group"), tr("Rule"), tr("Ids"), tr("Answer"), tr("Weight"), *(h.name for h in table.heads))
    lines = ["\t".join(heads)]
    for row in table.rows:
        weight = "" if row.weight is None else formatter.stated(row.weight)
        cells = (f"{cell.word} {cell.whole}".strip() for cell in row.cells)
        lines.append("\t".join((row.group, row.title, row.ids, row.answer, weight, *cells)))
    return "\n".join(lines) + "\n"
