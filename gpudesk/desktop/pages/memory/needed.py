"""How many accelerators a model takes by weight format, as cells and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.messages import InputError, Message
from gpudesk.domain.precision import FORMATS, Precision, concrete
from gpudesk.domain.sizing import Needed, Size
from gpudesk.sentences import sentence
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr, trn


@dataclass(frozen=True, slots=True)
class NeededCell:
    """The smallest deployment of one column in one format; without `count` none is known and `reason` why.

    `below` is the second line: the plan, or the reason in a word or two. `action` is the wording of the edit
    that takes this deployment. `present` marks the scenario's own.
    """

    position: int
    weights: Precision
    vendor: str
    count: int | None
    below: str
    reason: str
    action: str
    present: bool
    sentence: str


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


def needed_table(desk: Desk) -> NeededTable:
    """Return the table of the desk's answer: for all requests in flight, and for a single one."""
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
    return NeededTable(heads, _groups(answer, desk.names, found, formatter))


def _groups(
    answer: Answer, names: Sequence[str], found: Sequence[Sequence[Needed]], formatter: Formatter
) -> tuple[NeededGroup, ...]:
    work = answer.scenario.workload
    tokens = formatter.count(work.input_tokens + work.output_tokens)
    in_flight = work.load.concurrency or work.load.batch
    groups = []
    if in_flight is not None and in_flight > 1:
        title = trn(
            "{n} request of {tokens} tokens in flight",
            "{n} requests of {tokens} tokens in flight",
            in_flight,
            n=formatter.count(in_flight),
            tokens=tokens,
        )
        groups.append(_Grouping(answer, names, title, for_load=True, formatter=formatter).group(found))
    one = tr("One request of {tokens} tokens", tokens=tokens)
    groups.append(_Grouping(answer, names, one, for_load=False, formatter=formatter).group(found))
    return tuple(groups)


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
        formats = {needed.weights for needed in across}
        alike = len(formats) == 1
        label = (
            precision_name(across[0].weights)
            if alike
            else tr("{n} bits", n=self.formatter.count(across[0].bits))
        )
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
        shown = precision_name(needed.weights)
        reason = "" if needed.reason is None else sentence(needed.reason, self.formatter)
        reason = reason[:1].upper() + reason[1:]
        if size is None:
            count, below, action = None, _in_short(needed.reason), ""
            said = tr("{name} with {format} weights: none. {reason}", name=name, format=shown, reason=reason)
        else:
            count = size.count
            degrees = plan_text(size, self.formatter)
            below = ", ".join(each for each in (shown if name_format else "", degrees) if each)
            many = self.formatter.count(count)
            action = tr("Use {format} on {n} × {name}", format=shown, n=many, name=name)
            said = trn(
                "{name} with {format} weights: {n} holds it",
                "{name} with {format} weights: {n} hold it, {plan}",
                count,
                n=many,
                name=name,
                format=shown,
                plan=degrees,
            )
        return NeededCell(
            position=position,
            weights=needed.weights,
            vendor=column.accelerator.vendor,
            count=count,
            below=below,
            reason=reason if size is None else "",
            action=action,
            present=_is_present(column.estimate, needed, size),
            sentence=f"{self.title}. {said}",
        )


def _in_short(reason: Message | None) -> str:
    """Return a reason against all deployments in a word or two; all of it stands in the tool tip."""
    if reason is None:
        return ""
    if reason.id.startswith("model."):
        return tr("not published")
    return tr("too large") if reason.id.startswith(("estimate.", "needed.")) else tr("not supported")


def _is_present(estimate: Estimate | None, needed: Needed, size: Size | None) -> bool:
    """Whether the scenario has this deployment already."""
    if estimate is None or size is None or estimate.count != size.count:
        return False
    wanted = estimate.request.weights
    return needed.weights in (wanted, *(concrete(wanted, vendor) for vendor in ("NVIDIA", "AMD")))


def plan_text(size: Size, formatter: Formatter) -> str:
    """Return the degrees of a plan that are above one."""
    plan = size.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    return ", ".join([*named, tr("attention DP")] if plan.attention_dp else named)


def count_text(cell: NeededCell, formatter: Formatter) -> str:
    """Return the count as it stands in the cell."""
    return UNKNOWN if cell.count is None else formatter.count(cell.count)
