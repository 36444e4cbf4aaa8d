"""The cells of the table of plans: what each plan takes of either part, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import Ranking, RoutedPlan, Routing
from gpudesk.sheets.money import Money
from gpudesk.sheets.routing_words import (
    beyond_of,
    plan_title,
    pool_cell,
    reason_text,
    signed_text,
    span_text,
)
from gpudesk.text import tr


@dataclass(frozen=True, slots=True)
class PlanCell:
    """A figure with a small line below it; `best` is tinted, `level` says that others may be as good.

    `more` is said of it where it is read out, and in its tool tip.
    """

    text: str
    below: str = ""
    more: str = ""
    best: bool = False
    level: bool = False


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A plan: what it is called on two lines, its cells, or why it cannot be."""

    first: str
    second: str
    cells: tuple[PlanCell, ...]
    reason: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return ", ".join(part for part in (self.first, self.second) if part)


@dataclass(frozen=True, slots=True)
class PlanHead:
    """A head on two lines; with a slot above 0 it is that of an accelerator. `under` is what stands below."""

    text: str
    below: str = ""
    under: str = ""
    slot: int = 0
    hollow: bool = False

    @property
    def name(self) -> str:
        """What the figures are called: both lines, unless the second is about what stands below them."""
        return f"{self.text} {self.below}" if self.below and self.below != self.under else self.text


@dataclass(frozen=True, slots=True)
class PlanTable:
    """Heads of the figures and the plans."""

    heads: tuple[PlanHead, ...] = ()
    lines: tuple[PlanLine, ...] = ()

    def sentence(self, row: int, column: int) -> str:
        """Return what a cell says; column 0 is the plan."""
        line = self.lines[row]
        if column == 0:
            return line.name if not line.reason else f"{line.name}: {line.reason}"
        cell, head = line.cells[column - 1], self.heads[column - 1]
        value = cell.text or tr("does not apply")
        said = tr("{plan}, {head}: {value}", plan=line.name, head=head.name, value=value)
        below = f"{head.under} {cell.below}" if cell.below else ""
        rank = ""
        if cell.best:
            rank = tr("≈ within the error of the cheapest") if cell.level else tr("the cheapest")
        return "; ".join(part for part in (said, below, cell.more, rank) if part)

    def columns(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return all figures by their heads, what stands below them in columns of its own."""
        found: list[tuple[str, tuple[str, ...]]] = []
        for number, head in enumerate(self.heads):
            cells = [line.cells[number] for line in self.lines]
            found.append((head.name, tuple(cell.text for cell in cells)))
            if any(cell.below for cell in cells):
                found.append((f"{head.name}, {head.under}", tuple(cell.below for cell in cells)))
        return tuple(found)


def plan_table(
    found: Routing,
    names: Mapping[str, str],
    slots: Mapping[str, int],
    hollow: Mapping[str, bool],
    money: Money,
    formatter: Formatter,
) -> PlanTable:
    """Return the table of a routing, costs in thousands; names, slots and hollowness are by column keys."""
    ends, reserve = tr("from – to"), tr("in reserve")
    heads = (
        *(PlanHead(names[key], "", tr("replicas"), slots[key], hollow[key]) for key in found.keys),
        PlanHead(tr("Together"), reserve, reserve),
        PlanHead(tr("Owned"), "", ends),
        PlanHead(tr("Beyond"), tr("one vendor"), ends),
        PlanHead(tr("Rented"), "", ends),
        PlanHead(tr("Beyond"), tr("one vendor"), ends),
    )
    lines = tuple(_line(plan, found, names, money, formatter) for plan in found.plans)
    return PlanTable(heads, lines)


def _line(
    plan: RoutedPlan, found: Routing, names: Mapping[str, str], money: Money, formatter: Formatter
) -> PlanLine:
    title = plan_title(plan.plan, found, names)
    pools = [pool_cell(plan, key, formatter) for key in found.keys]
    spare = "" if plan.spare is None else formatter.count(plan.spare)
    cells = (
        *(PlanCell(cell.total, cell.replicas, cell.spare) for cell in pools),
        PlanCell(formatter.count(plan.count), spare),
        _cost(plan, plan.owned_usd, found.owned, money),
        _beyond(plan, found.owned, money),
        _cost(plan, plan.rented_usd, found.rented, money),
        _beyond(plan, found.rented, money),
    )
    return PlanLine(title.first, title.second, cells, reason_text(plan, formatter))


def _cost(plan: RoutedPlan, usd: Range | None, ranking: Ranking | None, money: Money) -> PlanCell:
    if usd is None:
        return PlanCell(UNKNOWN)
    level = ranking is not None and not ranking.decided
    best = ranking is not None and (plan.plan is ranking.cheapest or plan.plan in ranking.level)
    return PlanCell(
        money.thousands(usd.likely), span_text(usd, money.thousands), best=best, level=best and level
    )


def _beyond(plan: RoutedPlan, ranking: Ranking | None, money: Money) -> PlanCell:
    found = beyond_of(ranking, plan.plan)
    if found is None:
        return PlanCell("" if not plan.plan.is_split else UNKNOWN)
    return PlanCell(signed_text(found.usd.likely, money.thousands), span_text(found.usd, money.thousands))
