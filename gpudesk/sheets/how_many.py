"""The part of a sheet that says how many accelerators are needed: by weight format, and for a demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudesk.domain.answers import Answer
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
from gpudesk.sheets.sheet import Cell, Group, Mark, Row, Table
from gpudesk.text import tr


def how_many_table(answer: Answer, how_many: HowMany, formatter: Formatter) -> Table:
    """Return the counts: for one request, for all in flight, and for what users ask of the service."""
    return Table(tr("How many are needed"), tuple(_groups(answer, how_many, formatter)))


def _groups(answer: Answer, how_many: HowMany, formatter: Formatter) -> Iterator[Group]:
    across = tuple(zip(*how_many.needed, strict=True))
    workload = answer.scenario.workload
    title = in_flight_title(workload, formatter)
    if across and title is not None:
        yield Group(_for(title), tuple(_row(needed, formatter, for_load=True) for needed in across))
    if across:
        one = one_request_title(workload, formatter)
        yield Group(_for(one), tuple(_row(needed, formatter, for_load=False) for needed in across))


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
