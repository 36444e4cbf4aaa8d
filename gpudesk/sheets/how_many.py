"""The part of a sheet that says how many accelerators are needed: by weight format, and for a demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpudesk.domain.answers import Answer
from gpudesk.domain.demand import Candidate, Sizing
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.sizing import HowMany, Needed
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.needed_words import (
    degrees_text,
    in_flight_title,
    one_request_title,
    reason_in_short,
    width_label,
)
from gpudesk.sheets.sheet import Cell, Group, Mark, Remark, Row, Table
from gpudesk.sheets.sizing_words import demand_text, noted_sentence
from gpudesk.text import tr


def how_many_table(answer: Answer, how_many: HowMany, formatter: Formatter) -> Table:
    """Return the counts: for one request, for all in flight, and for what users ask of the service."""
    return Table(tr("How many are needed"), tuple(_groups(answer, how_many, formatter)))


def sizing_remarks(sizing: Sizing | None, names: Sequence[str], formatter: Formatter) -> tuple[Remark, ...]:
    """Return the plain sentence of each candidate."""
    if sizing is None:
        return ()
    return tuple(
        Remark("", noted_sentence(sizing, each, name, formatter).rstrip("."))
        for each, name in zip(sizing.candidates, names, strict=True)
    )


def _groups(answer: Answer, how_many: HowMany, formatter: Formatter) -> Iterator[Group]:
    across = tuple(zip(*how_many.needed, strict=True))
    workload = answer.scenario.workload
    title = in_flight_title(workload, formatter)
    if across and title is not None:
        yield Group(_for(title), tuple(_row(needed, formatter, for_load=True) for needed in across))
    if across:
        one = one_request_title(workload, formatter)
        yield Group(_for(one), tuple(_row(needed, formatter, for_load=False) for needed in across))
    if how_many.sizing is not None:
        yield _sizing_group(how_many.sizing, formatter)


def _for(what: str) -> str:
    """Return the heading of rows of counts, which on paper stand by themselves."""
    return tr("Accelerators needed: {what}", what=what[:1].lower() + what[1:])


def _row(across: Sequence[Needed], formatter: Formatter, *, for_load: bool) -> Row:
    alike = len({needed.weights for needed in across}) == 1
    cells = (_cell(needed, formatter, for_load=for_load, name_format=not alike) for needed in across)
    return Row(tr("Weights in {format}", format=width_label(across, formatter)), None, tuple(cells))


def _cell(needed: Needed, formatter: Formatter, *, for_load: bool, name_format: bool) -> Cell:
    size = needed.load if for_load else needed.one
    if size is None:
        return Cell(UNKNOWN, detail=reason_in_short(needed.reason) or None, mark=Mark.FAILS)
    shown = precision_name(needed.weights) if name_format else ""
    detail = ", ".join(each for each in (shown, degrees_text(size.plan, formatter)) if each)
    return Cell(formatter.count(size.count), detail=detail or None)


def _sizing_group(sizing: Sizing, formatter: Formatter) -> Group:
    def row(label: str, unit: str | None, cell: Callable[[Candidate], Cell]) -> Row:
        return Row(
            label,
            unit,
            tuple(_without(each) if each.count is None else cell(each) for each in sizing.candidates),
        )

    def count(value: Callable[[Candidate], int]) -> Callable[[Candidate], Cell]:
        return lambda each: Cell(formatter.count(value(each)))

    fewest = min((each.count for each in sizing.candidates if each.count is not None), default=None)

    def total(each: Candidate) -> Cell:
        best = Mark.BEST if each.count == fewest and len(sizing.candidates) > 1 else None
        return Cell(formatter.count(each.count), detail=_product(each, formatter), mark=best)

    rows = (
        row(tr("Accelerators"), None, total),
        row(tr("Working replicas"), None, count(lambda each: each.replicas)),
        row(tr("Accelerators in reserve"), None, count(lambda each: each.spare)),
        row(tr("Hosts"), None, count(lambda each: each.nodes)),
        row(tr("In flight, each replica"), None, count(lambda each: each.concurrency_per_replica)),
        row(tr("In flight, all replicas"), None, count(lambda each: each.concurrency)),
        row(tr("Throughput at the most"), "tok/s", lambda each: _rate(each, formatter)),
        row(tr("Power of accelerators at TDP"), "kW", lambda each: _power(each, formatter)),
    )
    return Group(demand_text(sizing.demand, formatter), rows)


def _without(candidate: Candidate) -> Cell:  # noqa: ARG001 - the reason is a sentence of its own
    return Cell(UNKNOWN, mark=Mark.FAILS)


def _product(candidate: Candidate, formatter: Formatter) -> str:
    """Return the count as replicas times the accelerators of one, and those in reserve."""
    plan = degrees_text(candidate.plan, formatter)
    replicas = formatter.count(candidate.replicas)
    each = tr("{n} × {plan}", n=replicas, plan=plan) if plan else replicas
    if not candidate.spare:
        return each
    return tr("{working} + {spare} spare", working=each, spare=formatter.count(candidate.spare))


def _rate(candidate: Candidate, formatter: Formatter) -> Cell:
    rate = candidate.output_tokens_per_s
    if rate is None:
        return Cell(UNKNOWN)
    value, low, high = (formatter.estimate(each) for each in rate)
    return Cell(value, low, high)


def _power(candidate: Candidate, formatter: Formatter) -> Cell:
    power = candidate.power_kw
    return Cell(UNKNOWN if power is None else formatter.estimate(power))
