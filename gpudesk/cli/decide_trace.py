"""The trace of a decision on a terminal: a row for each rule that fired, a column for each accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from gpudesk.cli.tables import hanging, padded, text_width, wrapped
from gpudesk.domain.decisions import Decision, TraceCell, TraceLine
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.decision_words import answer_line
from gpudesk.sheets.fact_words import fact_figure, fact_name, fact_unit, in_sentence
from gpudesk.sheets.question_words import group_title
from gpudesk.sheets.rule_words import effect_mark, effects_key
from gpudesk.text import tr

_GAP: Final = "  "
#: Columns of accelerators are no wider than this; what does not fit is left to the text beside them.
_WIDEST: Final = 12
#: The text of a rule needs so much room beside the columns, else figures are left out, else columns.
_ROOM: Final = 30
_LEAST_ROOM: Final = 18


def trace_lines(
    decision: Decision,
    names: Mapping[str, str],
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    """Yield the rules that fired, in their order, as a table that fits; as a list where none does."""
    yield strong(tr("Trace"))
    heads = [names[key] for key in decision.columns]
    grids = ([_cells(line, formatter) for line in decision.trace], [_marks(line) for line in decision.trace])
    for grid, room in zip(grids, (_ROOM, _LEAST_ROOM), strict=True):
        widths = [max(map(text_width, column)) for column in zip(*grid, heads, strict=True)]
        left = _ids(decision) + len(_GAP) + sum(widths) + len(_GAP) * len(widths)
        if width - left >= room:
            yield from _table(decision, heads, grid, widths, formatter, width, strong)
            break
    else:
        yield from _list(decision, heads, formatter, width, strong)
    yield from wrapped(effects_key(), width)


def _ids(decision: Decision) -> int:
    return max((text_width(line.rule.id) for line in decision.trace), default=0)


def _table(
    decision: Decision,
    heads: Sequence[str],
    grid: Sequence[Sequence[str]],
    widths: Sequence[int],
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    ids = _ids(decision)
    blank = " " * ids
    yield strong(_GAP.join([blank, *(padded(*each) for each in zip(heads, widths, strict=True)), tr("Rule")]))
    rows = zip(decision.trace, grid, strict=True)
    for strength, group in groupby(rows, key=lambda row: row[0].rule.strength):
        yield strong(group_title(strength))
        for line, cells in group:
            texts = (padded(*each) for each in zip(cells, widths, strict=True))
            lead = _GAP.join([padded(line.rule.id, ids), *texts, ""])
            yield from hanging(lead, _said(line, decision, formatter), width)


def _list(
    decision: Decision,
    heads: Sequence[str],
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    for strength, group in groupby(decision.trace, key=lambda line: line.rule.strength):
        yield strong(group_title(strength))
        for line in group:
            yield from hanging(f"{line.rule.id}{_GAP}", _said(line, decision, formatter), width)
            cells = zip(heads, line.cells, strict=True)
            said = "; ".join(" ".join(_listed(line, cell, head, formatter)) for head, cell in cells)
            yield from hanging(_GAP * 2, said, width)


def _listed(line: TraceLine, cell: TraceCell, head: str, formatter: Formatter) -> list[str]:
    mark, *figure = _cell(line, cell, formatter).split(" ", 1)
    return [mark, head, *figure]


def _said(line: TraceLine, decision: Decision, formatter: Formatter) -> str:
    """Return what a rule is about, its fact, what it rests on, and what it adds."""
    parts = [line.title]
    if line.rule.shows is not None:
        name, unit = in_sentence(fact_name(line.rule.shows)), fact_unit(line.rule.shows)
        parts.append(name if unit is None else tr("{fact} in {unit}", fact=name, unit=unit))
    parts.append(answer_line(line, formatter, decision.answers))
    if line.counted_with is not None:
        parts.append(tr("counted with {rule}", rule=line.counted_with))
    elif line.case.favours is not None:
        parts.append(tr("weight {number}", number=formatter.stated(line.weight)))
    return "; ".join(parts)


def _marks(line: TraceLine) -> list[str]:
    return [effect_mark(cell.effect) for cell in line.cells]


def _cells(line: TraceLine, formatter: Formatter) -> list[str]:
    return [_cell(line, cell, formatter) for cell in line.cells]


def _cell(line: TraceLine, cell: TraceCell, formatter: Formatter) -> str:
    """Return the mark with the likely figure, as far as it is short."""
    mark = effect_mark(cell.effect)
    if line.rule.shows is None or cell.value is None:
        return mark
    text = f"{mark} {fact_figure(line.rule.shows, cell.value, formatter)}"
    return text if text_width(text) <= _WIDEST else mark
