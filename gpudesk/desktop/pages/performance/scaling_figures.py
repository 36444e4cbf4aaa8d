"""The tables of the view of scaling: one part by count, and two deployments side by side."""

from __future__ import annotations

from collections.abc import Mapping

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.pages.performance.scaling_found import Scaled
from gpudesk.desktop.pages.performance.scaling_words import gigabytes, memory_text, remark, rule_head
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.topology import Deployed, Scaling, ScalingRow, ScalingRule, Topology
from gpudesk.sentences import plan_name
from gpudesk.text import tr


def row_key(row: ScalingRow) -> str:
    """Return the key of a row of the table."""
    return str(row.count)


def of_scaling(
    scaled: Scaled, models: Mapping[int, int], rule: ScalingRule, formatter: Formatter, *, wide: bool
) -> Figures:
    """Return the rows of one part; in little room the most telling columns."""
    name = scaled.part.name.partition(" × ")[0]
    heads = (
        *((tr("Memory, GiB (GB)"), tr("Models")) if wide else ()),
        tr("Model, GB/s"),
        rule_head(rule),
        *((tr("Read, GB/s"),) if wide else ()),
        tr("Links"),
        tr("All, tok/s"),
        tr("Band"),
        *((tr("Each, tok/s"),) if wide else ()),
        tr("TPOT alone, ms"),
        *((tr("Efficiency"),) if wide else ()),
    )
    part = scaled.part
    rows = () if scaled.scaling is None else scaled.scaling.rows
    return Figures(
        title=tr("{name} by number", name=name),
        heads=heads,
        leading=frozenset({6 if wide else 3}),
        figures=("output_tokens_per_s",) * len(heads),
        rows=tuple(
            FigureRow(
                row_key(row),
                part.slot,
                part.hollow,
                f"{formatter.count(row.count)} × {name}",
                (
                    *((_memory(row, models, formatter)) if wide else ()),
                    *_cells(row, scaled.scaling, rule, formatter, wide=wide),
                ),
                remark(row, formatter),
                faulty=not row.fits,
            )
            for row in rows
        ),
        remarks_head=tr("Plan; faster replicas"),
    )


def _memory(row: ScalingRow, models: Mapping[int, int], formatter: Formatter) -> tuple[str, str]:
    """Return the memory of all, and how many models of the catalog they hold."""
    return memory_text(row.memory_bytes, formatter), formatter.count(models.get(row.count))


def _cells(
    row: ScalingRow, scaling: Scaling | None, rule: ScalingRule, formatter: Formatter, *, wide: bool
) -> tuple[str, ...]:
    estimate, single, spread = row.estimate, row.single, row.spread
    rate = None if estimate is None else estimate.output_tokens_per_s
    each = None if estimate is None else estimate.output_tokens_per_s_per_accelerator
    return (
        gigabytes(row.bandwidth, formatter),
        gigabytes(row.by_rule[rule], formatter),
        *((gigabytes(row.drawn, formatter),) if wide else ()),
        formatter.per_cent(None if spread is None else spread.collectives),
        _value(rate, formatter),
        formatter.band(rate),
        *((_value(each, formatter),) if wide else ()),
        _value(None if single is None else single.tpot_ms, formatter),
        *((formatter.per_cent(None if scaling is None else scaling.efficiency(row)),) if wide else ()),
    )


def _value(banded: Banded | None, formatter: Formatter) -> str:
    return UNKNOWN if banded is None else formatter.estimate(banded.value)


def rule_sentence(scaled: Scaled, rule: ScalingRule, formatter: Formatter) -> str:
    """Say how far the model and a rule of thumb differ, at the last count within one host."""
    scaling = scaled.scaling
    rows = () if scaling is None else [row for row in scaling.rows if row.bandwidth and row.count > 1]
    inside = [row for row in rows if row.hosts == 1] or rows
    if scaling is None or not inside:
        return ""
    row = inside[-1]
    ours, theirs = row.bandwidth or 0.0, row.by_rule[rule]
    return tr(
        "On {n} links leave {ours} GB/s by the model and {theirs} GB/s by the rule ({difference}), "
        "which knows neither links nor load.",
        n=formatter.count(row.count),
        ours=gigabytes(ours, formatter),
        theirs=gigabytes(theirs, formatter),
        difference=formatter.difference(theirs / ours),
    )


# Two deployments side by side


def of_topology(pair: tuple[Scaled, Scaled], found: Topology, formatter: Formatter, *, wide: bool) -> Figures:
    """Return both deployments; where there is no room, without what links that take no time would bring."""
    heads = (
        tr("KV room, GiB (GB)"),
        tr("At once"),
        *((tr("Links, alone"),) if wide else ()),
        tr("Links"),
        tr("TPOT alone, ms"),
        *((tr("…links free"),) if wide else ()),
        tr("All, tok/s"),
        tr("Band"),
        *((tr("…links free"),) if wide else ()),
        tr("Each, tok/s"),
    )
    return Figures(
        title=tr("Sharding against fewer parts"),
        heads=heads,
        leading=frozenset({4, 6} if wide else {3, 4}),
        figures=tuple(_FIGURE_OF.get(head, "output_tokens_per_s") for head in _keys(wide=wide)),
        rows=tuple(
            FigureRow(
                each.part.key,
                each.part.slot,
                each.part.hollow,
                _name(each, side, formatter),
                _side_cells(side, formatter, wide=wide),
                _ceiling(side, formatter),
            )
            for each, side in zip(pair, (found.baseline, found.other), strict=True)
        ),
        remarks_head=tr("Plan; by the rule of thumb") if wide else tr("Plan"),
    )


#: Figures that cells of the comparison select, where it is not throughput.
_FIGURE_OF = {"room": "memory", "held": "max_concurrency", "alone": "tpot_ms"}


def _keys(*, wide: bool) -> tuple[str, ...]:
    free = ("free",) if wide else ()
    links = ("links",) if wide else ()
    return ("room", "held", *links, "links", "alone", *free, "all", "all", *free, "each")


def _name(scaled: Scaled, side: Deployed, formatter: Formatter) -> str:
    return f"{formatter.count(side.estimate.count)} × {scaled.part.name.partition(' × ')[0]}"


def _side_cells(side: Deployed, formatter: Formatter, *, wide: bool) -> tuple[str, ...]:
    estimate = side.estimate
    rate = estimate.output_tokens_per_s
    return (
        memory_text(side.kv_room_bytes, formatter),
        formatter.count(estimate.max_concurrency),
        *((formatter.per_cent(side.single_spread.collectives),) if wide else ()),
        formatter.per_cent(side.spread.collectives),
        _value(side.single.tpot_ms, formatter),
        *((formatter.estimate(side.free_single_tpot_ms),) if wide else ()),
        _value(rate, formatter),
        formatter.band(rate),
        *((formatter.estimate(side.free_output_tokens_per_s),) if wide else ()),
        _value(estimate.output_tokens_per_s_per_accelerator, formatter),
    )


def _ceiling(side: Deployed, formatter: Formatter) -> str:
    """Return the plan, and what a published table would say of one request."""
    plan, rate = plan_name(side.estimate.plan), formatter.number(side.ceiling, 1)
    return tr("{plan}; flat 0.88: {rate} tok/s alone", plan=plan, rate=rate)


def topology_data(pair: tuple[Scaled, Scaled] | None, found: Topology | None, formatter: Formatter) -> Data:
    """Return all figures of the comparison, one deployment in a column."""
    title = tr("Sharding against fewer parts")
    if pair is None or found is None:
        return Data(title, (tr("Figure"),), ())
    sides = (found.baseline, found.other)
    names = (_name(each, side, formatter) for each, side in zip(pair, sides, strict=True))
    columns = [_figures(side, formatter) for side in sides]
    rows = tuple((name, value, columns[1][name]) for name, value in columns[0].items())
    return Data(title, (tr("Figure"), *names), rows)


def _figures(side: Deployed, formatter: Formatter) -> dict[str, str]:
    estimate, spread, alone = side.estimate, side.spread, side.single_spread
    number = formatter.estimate
    return {
        tr("Plan"): plan_name(estimate.plan),
        tr("KV room, GiB"): formatter.gib(side.kv_room_bytes),
        tr("KV room, GB"): formatter.gb(side.kv_room_bytes),
        tr("Most requests in flight"): formatter.count(estimate.max_concurrency),
        tr("Memory bandwidth, GB/s"): gigabytes(side.bandwidth, formatter),
        tr("Left by links at one request, GB/s"): gigabytes(side.single_arriving, formatter),
        tr("Left by links at this load, GB/s"): gigabytes(side.arriving, formatter),
        tr("Links at one request, % of a step"): formatter.number(alone.collectives * 100, 1),
        tr("Links at this load, % of a step"): formatter.number(spread.collectives * 100, 1),
        tr("Links at one request, ms a token"): number(alone.collective_ms),
        tr("Links at this load, ms a token"): number(spread.collective_ms),
        tr("TPOT of one request, ms"): formatter.banded(side.single.tpot_ms),
        tr("The same if links took no time, ms"): number(side.free_single_tpot_ms),
        tr("TPOT at this load, ms"): formatter.banded(estimate.tpot_ms),
        tr("TPOT if links took no time, ms"): number(side.free_tpot_ms),
        tr("Output throughput, tok/s"): formatter.banded(estimate.output_tokens_per_s),
        tr("Throughput if links took no time, tok/s"): number(side.free_output_tokens_per_s),
        tr("One accelerator, tok/s"): formatter.banded(estimate.output_tokens_per_s_per_accelerator),
        tr("Ceiling of one request by flat 0.88, tok/s"): formatter.number(side.ceiling, 1),
    }
