"""What the tables below the charts of costs say."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.domain.costs import CostColumn, CostDraws
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sheets.cost_words import draws_text, missing_text
from gpudesk.text import tr

_THOUSAND: Final = 1000.0


def unit_figures(costed: Costed) -> Figures:
    """Return what a token, a request and a user cost, and what power and memory yield for their price."""
    code = costed.money.code
    heads = (
        tr("M output"),
        tr("M input"),
        tr("M blended"),
        tr("1,000 requests"),
        tr("User-month"),
        tr("GiB"),
        tr("GiB for KV"),
        tr("tok/s a kW rated"),
        tr("tok/s a rack"),
        tr("J metered"),
        tr("MWh"),
        tr("t CO₂e"),
    )
    rows = tuple(
        FigureRow(part.key, part.slot, part.hollow, part.name, _unit_cells(costed, column), _remark(column))
        for part, column in costed.pairs()
    )
    title = tr("At this load, {code}: all cost over output, over input, or over both tokens", code=code)
    return Figures(title, heads, frozenset({0}), (), rows, tr("Counted"))


def _unit_cells(costed: Costed, column: CostColumn) -> tuple[str, ...]:
    money, formatter = costed.money, costed.formatter
    tokens, found = column.owned or column.rented, column.efficiency
    if tokens is None:
        money_cells = [UNKNOWN] * 5
    else:
        thousand = tokens.request.value * _THOUSAND
        figures = (tokens.output.value, tokens.input.value, tokens.blended.value, thousand)
        money_cells = [money.small(each) for each in (*figures, tokens.user_month.value)]
    if found is None:
        return (*money_cells, *[UNKNOWN] * 7)
    banded = (found.tokens_per_s_per_kw, found.tokens_per_s_per_rack, found.joules_per_token)
    large = (found.energy_kwh, found.carbon_kg)
    return (
        *money_cells,
        money.small(found.usd_per_gib),
        money.small(found.usd_per_gib_for_kv),
        *(formatter.estimate(None if each is None else each.value) for each in banded),
        *(formatter.estimate(None if each is None else each / _THOUSAND) for each in large),
    )


def _remark(column: CostColumn) -> str:
    if column.owned is not None:
        return tr("owned")
    if column.rented is not None:
        return tr("rented: {missing}", missing=missing_text(column.missing[0]))
    return "; ".join(missing_text(each) for each in column.missing)


def draw_figures(costed: Costed, draws: CostDraws) -> Figures:
    """Return how often each accelerator is the cheapest, and between what its cost lies."""
    names = {part.key: part for part in costed.parts}
    money, formatter = costed.money, costed.formatter
    ranked = sorted(draws.cheapest.items(), key=lambda pair: -pair[1])
    rows = [
        FigureRow(
            key,
            names[key].slot,
            names[key].hollow,
            names[key].name,
            (draws_text(share, formatter), *(money.small(each) for each in draws.quantiles[key])),
            tr("rented") if draws.rented else tr("owned"),
        )
        for key, share in ranked
        if key in names
    ]
    for part, column in costed.pairs():
        if part.key not in draws.cheapest:
            said = tr("left out: {missing}", missing="; ".join(missing_text(each) for each in column.missing))
            rows.append(FigureRow(part.key, part.slot, part.hollow, part.name, (UNKNOWN,) * 4, said))
    heads = (tr("Cheapest"), tr("1 in 10 below"), tr("Median"), tr("9 in 10 below"))
    said = tr("In {n} draws, {code} per million output tokens", n=formatter.count(draws.n), code=money.code)
    return Figures(said, heads, frozenset({0}), (), tuple(rows), tr("Remark"))
