"""The tables below the cost charts."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.ui.tables.figures_table import FigureRow, FiguresContent
from gpudesk.domain.cost import CostColumn, CostDistribution
from gpudesk.report.costs import describe_missing_input, format_draw_share
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr

_THOUSAND: Final = 1000.0


def make_unit_figures(costed: EvaluatedAnswer) -> FiguresContent:
    code = costed.money.code
    heads = (
        tr("1M output tokens"),
        tr("1M input tokens"),
        tr("1M blended tokens"),
        tr("1,000 requests"),
        tr("User-month"),
        tr("GiB memory"),
        tr("GiB KV cache"),
        tr("tok/s per kW"),
        tr("tok/s per rack"),
        tr("J per token"),
        tr("Energy, MWh"),
        tr("Carbon, t CO₂e"),
    )
    rows = tuple(
        FigureRow(
            part.key,
            part.palette_index,
            part.is_variant,
            part.name,
            _make_unit_cells(costed, column),
            _format_unit_remark(column),
        )
        for part, column in costed.column_costs()
    )
    title = tr("Total cost at this load per unit, {code}", code=code)
    return FiguresContent(title, heads, frozenset({0}), (), rows, tr("Basis"))


def _make_unit_cells(costed: EvaluatedAnswer, column: CostColumn) -> tuple[str, ...]:
    money, formatter = costed.money, costed.formatter
    tokens, efficiency = column.owned or column.rented, column.efficiency
    if tokens is None:
        money_cells = [MISSING_VALUE_TEXT] * 5
    else:
        thousand = tokens.request.value * _THOUSAND
        figures = (tokens.output.value, tokens.input.value, tokens.blended.value, thousand)
        money_cells = [money.small(each) for each in (*figures, tokens.user_month.value)]
    if efficiency is None:
        return (*money_cells, *[MISSING_VALUE_TEXT] * 7)
    banded = (efficiency.tokens_per_s_per_kw, efficiency.tokens_per_s_per_rack, efficiency.joules_per_token)
    large = (efficiency.energy_kwh, efficiency.carbon_kg)
    return (
        *money_cells,
        money.small(efficiency.usd_per_gib),
        money.small(efficiency.usd_per_gib_for_kv),
        *(formatter.estimate(None if each is None else each.value) for each in banded),
        *(formatter.estimate(None if each is None else each / _THOUSAND) for each in large),
    )


def _format_unit_remark(column: CostColumn) -> str:
    if column.owned is not None:
        return tr("owned")
    if column.rented is not None:
        return tr("rented: {missing}", missing=describe_missing_input(column.missing[0]))
    return "; ".join(describe_missing_input(each) for each in column.missing)


def make_simulation_figures(costed: EvaluatedAnswer, draws: CostDistribution) -> FiguresContent:
    """Return how often each accelerator is the cheapest, and the interval of its cost."""
    names = {part.key: part for part in costed.columns}
    money, formatter = costed.money, costed.formatter
    ranked = sorted(draws.cheapest.items(), key=lambda pair: -pair[1])
    rows = [
        FigureRow(
            key,
            names[key].palette_index,
            names[key].is_variant,
            names[key].name,
            (format_draw_share(share, formatter), *(money.small(each) for each in draws.quantiles[key])),
            tr("rented") if draws.rented else tr("owned"),
        )
        for key, share in ranked
        if key in names
    ]
    for part, column in costed.column_costs():
        if part.key not in draws.cheapest:
            note = tr("excluded: {missing}", missing="; ".join(describe_missing_input(each) for each in column.missing))
            rows.append(
                FigureRow(part.key, part.palette_index, part.is_variant, part.name, (MISSING_VALUE_TEXT,) * 4, note)
            )
    heads = (tr("Cheapest"), tr("10th percentile"), tr("Median"), tr("90th percentile"))
    note = tr("{n} simulations, {code} per million output tokens", n=formatter.count(draws.n), code=money.code)
    return FiguresContent(note, heads, frozenset({0}), (), tuple(rows), tr("Basis"))
