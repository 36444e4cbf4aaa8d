"""How many accelerators a model takes by weight format, as cells and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.precision import FORMATS, Precision, concrete
from gpudesk.domain.sizing import Needed, Size
from gpudesk.sentences import sentence
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.needed_words import (
    degrees_text,
    in_flight_title,
    one_request_title,
    reason_in_short,
    width_label,
)
from gpudesk.text import tr, trn


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
        shown = precision_name(self.weights)
        return tr("Use {format} on {n} × {name}", format=shown, n=self.many, name=self.name)

    @property
    def sentence(self) -> str:
        """All that is to be said of the cell."""
        shown = precision_name(self.weights)
        if self.count is None:
            said = tr(
                "{name} with {format} weights: none. {reason}",
                name=self.name,
                format=shown,
                reason=self.reason,
            )
        else:
            said = trn(
                "{name} with {format} weights: {n} holds it",
                "{name} with {format} weights: {n} hold it, {plan}",
                self.count,
                n=self.many,
                name=self.name,
                format=shown,
                plan=self.plan,
            )
        return f"{self.title}. {said}"


@dataclass(frozen=True, slots=True)
class NeededRow:
    """The cells of one width of the weights, in the order of the columns; `present` is the scenario's own."""

    label: str
    present: bool
    cells: tuple[NeededCell, ...]


@dataclass(frozen=True, slots=True)
class NeededGroup:
    """What is to be held, and the rows for it."""

    title: str
    rows: tuple[NeededRow, ...]


@dataclass(frozen=True, slots=True)
class NeededHead:
    """A column: its name, its place in the palette, and the memory of one of them."""

    name: str
    slot: int
    hollow: bool
    memory: str


@dataclass(frozen=True, slots=True)
class NeededTable:
    """All that is needed, by column."""

    heads: tuple[NeededHead, ...] = ()
    groups: tuple[NeededGroup, ...] = ()


def needed_table(desk: Desk, *, brief: bool = False) -> NeededTable:
    """Return the table of the desk's answer: for all requests in flight, and for a single one.

    `brief` leaves it at the first of these groups.
    """
    answer, formatter = desk.answer, desk.formatter
    if answer is None:
        return NeededTable()
    try:
        found = desk.workbench.needed(answer.scenario)
    except InputError:
        # What is wrong with a scenario is said above the page.
        return NeededTable()
    heads = tuple(
        NeededHead(name, slot, hollow, f"{formatter.gib(column.accelerator.memory_bytes)} GiB")
        for name, slot, hollow, column in zip(
            desk.names, desk.slots, desk.hollow, answer.columns, strict=True
        )
    )
    return NeededTable(heads, tuple(_groups(answer, desk.names, found, formatter, brief=brief)))


def _groups(
    answer: Answer,
    names: Sequence[str],
    found: Sequence[Sequence[Needed]],
    formatter: Formatter,
    *,
    brief: bool,
) -> Iterator[NeededGroup]:
    work = answer.scenario.workload
    title = in_flight_title(work, formatter)
    if title is not None:
        yield _Grouping(answer, names, title, for_load=True, formatter=formatter).group(found)
        if brief:
            return
    one = one_request_title(work, formatter)
    yield _Grouping(answer, names, one, for_load=False, formatter=formatter).group(found)


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Makes the rows for the whole load, or for one request."""

    answer: Answer
    names: Sequence[str]
    title: str
    for_load: bool
    formatter: Formatter

    def group(self, found: Sequence[Sequence[Needed]]) -> NeededGroup:
        """Return the group of what was found for each column, by format."""
        return NeededGroup(self.title, tuple(self._row(across) for across in zip(*found, strict=True)))

    def _row(self, across: Sequence[Needed]) -> NeededRow:
        alike = len({needed.weights for needed in across}) == 1
        label = width_label(across, self.formatter)
        columns = zip(self.answer.columns, self.names, across, strict=True)
        cells = tuple(
            self._cell(position, column, name, needed, name_format=not alike)
            for position, (column, name, needed) in enumerate(columns)
        )
        own = FORMATS[concrete(self.answer.scenario.weights, "")].bits
        return NeededRow(label, across[0].bits == own, cells)

    def _cell(
        self, position: int, column: Column, name: str, needed: Needed, *, name_format: bool
    ) -> NeededCell:
        size = needed.load if self.for_load else needed.one
        many, plan, reason = "", "", ""
        if size is not None:
            many, plan = self.formatter.count(size.count), degrees_text(size.plan, self.formatter)
            shown = precision_name(needed.weights) if name_format else ""
            below = ", ".join(each for each in (shown, plan) if each)
        else:
            below = reason_in_short(needed.reason)
            reason = "" if needed.reason is None else sentence(needed.reason, self.formatter)
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
            reason=reason[:1].upper() + reason[1:],
            present=_is_present(column.estimate, needed, size),
        )


def _is_present(estimate: Estimate | None, needed: Needed, size: Size | None) -> bool:
    """Whether the scenario has this deployment already."""
    if estimate is None or size is None or estimate.count != size.count:
        return False
    wanted = estimate.request.weights
    return needed.weights in (wanted, *(concrete(wanted, vendor) for vendor in ("NVIDIA", "AMD")))


def count_text(cell: NeededCell, formatter: Formatter) -> str:
    """Return the count as it stands in the cell."""
    return UNKNOWN if cell.count is None else formatter.count(cell.count)
