"""What the leading columns deliver, as a table of figures with their bands."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.session.selection import Selection, cost, figure
from gpudesk.domain.answers import Column
from gpudesk.domain.decisions import Decision
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sentences import sentence
from gpudesk.sheets.decision_words import leading
from gpudesk.sheets.explaining_costs import OWNED, RENTED
from gpudesk.sheets.figures import plan_cell
from gpudesk.sheets.money import Money
from gpudesk.text import tr

_THROUGHPUT, _TTFT, _COST = "output_tokens_per_s", "ttft_ms", "usd_per_million"
#: The figure that each column of the table stands for; a deployment is told by its throughput.
_FIGURES: Final = (_THROUGHPUT, _THROUGHPUT, _TTFT, _COST)


def delivered(found: Decided) -> Figures:
    """Return what the leading column delivers, and the next one beside it."""
    decision = found.decision
    keys = [key for key in (leading(decision), decision.runner_up) if key is not None]
    money = Money(found.formatter, found.answer.scenario.costs.currency)
    heads = (
        tr("Deployment"),
        tr("Output, tok/s"),
        tr("First token, ms"),
        tr("{code} per M output tokens", code=money.code),
    )
    rows = tuple(_row(found, key, money) for key in keys)
    return Figures(tr("What it delivers"), heads, frozenset({1}), _FIGURES, rows, tr("Draws"))


def _row(found: Decided, key: str, money: Money) -> FigureRow:
    formatter, place = found.formatter, found.place(key)
    column = found.answer.columns[place]
    share = found.decision.standings[place].share
    told = tr("leads in {n} of 100", n=formatter.number(share * 100.0))
    look = (key, found.slots[key], found.hollow[key], found.names[key])
    estimate = column.estimate
    if estimate is None or not estimate.fits:
        return FigureRow(*look, (UNKNOWN,) * 4, _why_none(found, column), faulty=True)
    plan = plan_cell(estimate, formatter)
    cells = (
        f"{plan.text}, {plan.detail}" if plan.detail else plan.text,
        formatter.banded(estimate.output_tokens_per_s),
        formatter.banded(estimate.ttft_ms),
        _cost(found.decision, place, money),
    )
    return FigureRow(*look, cells, told)


def _why_none(found: Decided, column: Column) -> str:
    return tr("does not fit") if column.problem is None else sentence(column.problem, found.formatter)


def _cost(decision: Decision, place: int, money: Money) -> str:
    """Return the cost as it is compared, or as it is known, with its band and whether it is rented."""
    name = cost_of(decision, place)
    value = None if name is None else decision.parts[place].get(_FACTS[name])
    if not isinstance(value, Banded):
        return UNKNOWN
    how = tr("rented") if name == RENTED else tr("owned")
    return tr("{amount} ({band}), {how}", amount=money.small(value.value), band=money.band(value), how=how)


#: Cost as it is explained -> the fact that decisions have of it.
_FACTS: Final = {OWNED: "owned_usd_per_million", RENTED: "rented_usd_per_million"}


def cost_of(decision: Decision, place: int) -> str | None:
    """Return by which name the cost of a column is explained: owned or rented, as it is compared."""
    part = decision.parts[place]
    compared = part.get(_COST)
    if compared is not None:
        return RENTED if compared == part.get(_FACTS[RENTED]) else OWNED
    return next((name for name in (RENTED, OWNED) if part.get(_FACTS[name]) is not None), None)


def selection_of(found: Decided, key: str, name: str) -> Selection | None:
    """Return what is selected by a click on a figure of a row; None where nothing explains it."""
    if name != _COST:
        return figure(key, name)
    known = cost_of(found.decision, found.place(key))
    return None if known is None else cost(key, known)
