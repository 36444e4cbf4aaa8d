"""The part of a sheet that says which accelerator to take: the verdict with its reasons, and the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from gpudesk.domain.decisions import Decision, Effect, Flip, Origin, TraceCell, TraceLine, Verdict
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.decision_words import (
    exclusion_text,
    firmness,
    flip_text,
    leading,
    pilot_text,
    reason_text,
    shares_text,
    verdict_reason,
    verdict_title,
)
from gpudesk.sheets.delivery_lines import delivered, deployment_text
from gpudesk.sheets.fact_words import fact_figure, fact_name, fact_unit, in_sentence
from gpudesk.sheets.question_words import answer_text, group_title
from gpudesk.sheets.rule_words import answer_line, effect_mark, effect_text, source_label
from gpudesk.sheets.sheet import (
    Cell,
    Group,
    Head,
    Mark,
    Recommendation,
    Remark,
    Row,
    Share,
    Table,
    TraceRow,
)
from gpudesk.text import tr

Names = Mapping[str, str]

_MARKS: Final = {Effect.FAVOURS: Mark.BEST, Effect.REMOVES: Mark.FAILS}


def recommendation(
    decision: Decision, flips: Sequence[Flip], heads: Sequence[Head], formatter: Formatter
) -> Recommendation:
    """Return the verdict with what there is to say of it; `heads` are those of the columns in their order."""
    by_key = dict(zip(decision.columns, heads, strict=True))
    names = {key: head.name for key, head in by_key.items()}
    key = leading(decision) if decision.verdict is Verdict.WINNER else None
    shares = tuple(
        Share(names[each.key], each.share, by_key[each.key].slot, by_key[each.key].hollow)
        for each in sorted(decision.standings, key=lambda each: -each.share)
        if each.share > 0.0
    )
    return Recommendation(
        verdict=verdict_title(decision, names, formatter),
        reason=verdict_reason(decision, names, formatter),
        firm=firmness(decision, names),
        shares=shares,
        shares_said=shares_text(decision, names),
        lines=recommendation_lines(decision, flips, names, formatter),
        slot=None if key is None else by_key[key].slot,
        hollow=key is not None and by_key[key].hollow,
    )


def recommendation_lines(
    decision: Decision, flips: Sequence[Flip], names: Names, formatter: Formatter
) -> tuple[Remark, ...]:
    """Return, by subject, what is delivered, what speaks for and against it, what is removed and to be done.

    The lines have no full stop.
    """
    grouped = (
        (tr("Delivers"), _delivers(decision, names, formatter)),
        (tr("For it"), (reason_text(each, decision, names, formatter) for each in decision.reasons)),
        (tr("Against it"), (reason_text(each, decision, names, formatter) for each in decision.against)),
        (tr("Removed"), _removed(decision, names, formatter)),
        (tr("To do"), _to_do(decision, names, formatter)),
        (tr("What would change it"), _changes(flips, decision, names, formatter)),
        (tr("Answers"), _answers(decision, formatter)),
    )
    return tuple(Remark(subject, line.rstrip(".")) for subject, lines in grouped for line in lines)


def _delivers(decision: Decision, names: Names, formatter: Formatter) -> Iterator[str]:
    """Yield how what leads is deployed and what it delivers; the next one's too where nobody wins."""
    ahead = leading(decision)
    keys = (ahead, decision.runner_up) if decision.verdict is Verdict.OPEN else (ahead,)
    for key in keys:
        if key is None:
            continue
        deployed = deployment_text(decision, formatter) if key == ahead else None
        figures = (
            tr("{label} {figure}", label=in_sentence(label), figure=figure)
            for label, figure in delivered(decision, key, formatter)
        )
        said = "; ".join((*((deployed,) if deployed else ()), *figures))
        yield tr("{name}: {said}", name=names[key], said=said)


def _removed(decision: Decision, names: Names, formatter: Formatter) -> Iterator[str]:
    for each in decision.exclusions:
        said = exclusion_text(each, names, formatter, decision)
        yield tr("{said} ({rule})", rule=each.rule.id, said=said)


def _to_do(decision: Decision, names: Names, formatter: Formatter) -> Iterator[str]:
    if decision.pilot is not None:
        yield pilot_text(decision.pilot, decision, names, formatter)
    by_text: dict[str, list[str]] = {}
    for each in decision.advice:
        by_text.setdefault(each.text, []).append(each.rule)
    for text, rules in by_text.items():
        yield tr("{advice} ({rules})", advice=text.rstrip("."), rules=", ".join(rules))


def _changes(flips: Sequence[Flip], decision: Decision, names: Names, formatter: Formatter) -> Iterator[str]:
    for flip in flips:
        change, now, becomes = flip_text(flip, decision, names, formatter)
        yield tr("{change} ({now}) → {becomes}", change=change, now=now, becomes=becomes)


def _answers(decision: Decision, formatter: Formatter) -> Iterator[str]:
    """Yield what the user answered."""
    for name, answered in decision.answers.items():
        if answered.origin is Origin.YOURS:
            value = in_sentence(answer_text(name, answered.value, formatter))
            yield tr("{question}: {answer}", question=fact_name(name), answer=value)


# The trace


def trace_rows(decision: Decision, formatter: Formatter) -> tuple[TraceRow, ...]:
    """Return a row for each rule that fired, in their order."""
    return tuple(_trace_row(line, decision, formatter) for line in decision.trace)


def _trace_row(line: TraceLine, decision: Decision, formatter: Formatter) -> TraceRow:
    shows = line.rule.shows
    answer, source = answer_line(line, formatter, decision.answers), source_label(line.rule)
    weight = _weight(line, formatter)
    named = () if shows is None else (in_sentence(fact_name(shows)),)
    return TraceRow(
        rule=line.rule.id,
        strength=group_title(line.rule.strength),
        answer=answer,
        source=source,
        weight=weight,
        row=Row(
            label=line.title,
            unit=None if shows is None else fact_unit(shows),
            cells=tuple(_cell(shows, cell, formatter) for cell in line.cells),
            detail="; ".join((*named, answer, source, *((weight,) if weight else ()))),
        ),
        effects=tuple(cell.effect for cell in line.cells),
    )


def _weight(line: TraceLine, formatter: Formatter) -> str:
    if line.counted_with is not None:
        return tr("counted with {rule}", rule=line.counted_with)
    if line.case.favours is None:
        return ""
    return tr("weight {number}", number=formatter.stated(line.weight))


def _cell(shows: str | None, cell: TraceCell, formatter: Formatter) -> Cell:
    mark = _MARKS.get(cell.effect)
    if shows is None or cell.value is None:
        return Cell(UNKNOWN if shows else "", mark=mark)
    if isinstance(cell.value, Banded):
        low, high = formatter.estimate(cell.value.low), formatter.estimate(cell.value.high)
        return Cell(fact_figure(shows, cell.value, formatter), low, high, mark=mark)
    return Cell(fact_figure(shows, cell.value, formatter), mark=mark)


def trace_table(rows: Sequence[TraceRow], *, signed: bool = True) -> Table:
    """Return the rows by their strengths, each figure behind the sign of what its rule does.

    Unless `signed`, what is removed has no sign of its own: whoever draws the cell marks it.
    """
    groups = groupby(rows, key=lambda row: row.strength)
    return Table(
        tr("Trace"),
        tuple(
            Group(title, tuple(_shown_row(row, signed=signed) for row in group)) for title, group in groups
        ),
    )


def _shown_row(row: TraceRow, *, signed: bool) -> Row:
    cells = tuple(
        _signed(cell, effect, signed=signed) for cell, effect in zip(row.row.cells, row.effects, strict=True)
    )
    label = tr("{rule} {title}", rule=row.rule, title=row.row.label)
    return Row(label, row.row.unit, cells, row.row.detail)


def _signed(cell: Cell, effect: Effect, *, signed: bool) -> Cell:
    figure = "" if cell.text == UNKNOWN else cell.text
    if effect is Effect.REMOVES and not signed:
        text = figure or effect_text(effect)
    else:
        text = f"{effect_mark(effect)} {figure}".rstrip()
    return Cell(text, cell.low, cell.high, mark=cell.mark)
