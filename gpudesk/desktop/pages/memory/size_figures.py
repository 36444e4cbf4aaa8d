"""What the view of a sized demand shows: a row for each candidate, its factors, all of it as a table."""

from __future__ import annotations

from gpudesk.desktop.charts.columns import Part
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.domain.demand import Candidate, Sizing
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sentences import plan_name, sentence
from gpudesk.sheets.labels import basis_label, engine_name
from gpudesk.sheets.sizing_words import bound_text, demand_text, factor_label, factor_text, noted_sentence
from gpudesk.text import tr

Pairs = tuple[tuple[Part, Candidate], ...]


def candidate_figures(pairs: Pairs, formatter: Formatter, *, wide: bool) -> Figures:
    """Return the candidates side by side; in little room the most telling columns."""
    heads = (
        tr("Accelerators"),
        tr("Working"),
        tr("In reserve"),
        tr("Hosts"),
        *((tr("In flight, each"),) if wide else ()),
        tr("In flight, all"),
        tr("At most, tok/s"),
        *((tr("Band"),) if wide else ()),
        tr("Power, kW"),
    )
    return Figures(
        title=tr("Candidates"),
        heads=heads,
        leading=frozenset({0}),
        figures=("count",) * len(heads),
        rows=tuple(_row(part, candidate, formatter, wide=wide) for part, candidate in pairs),
        remarks_head=tr("One replica"),
    )


def _row(part: Part, candidate: Candidate, formatter: Formatter, *, wide: bool) -> FigureRow:
    return FigureRow(
        part.key,
        part.slot,
        part.hollow,
        part.name.partition(" × ")[0],
        _cells(candidate, formatter, wide=wide),
        _remark(candidate, formatter),
        faulty=candidate.count is None,
    )


def _cells(candidate: Candidate, formatter: Formatter, *, wide: bool) -> tuple[str, ...]:
    if candidate.count is None:
        return (UNKNOWN,) * (9 if wide else 7)
    rate = candidate.output_tokens_per_s
    return (
        formatter.count(candidate.count),
        formatter.count(candidate.count - candidate.spare),
        formatter.count(candidate.spare),
        formatter.count(candidate.nodes),
        *((formatter.count(candidate.concurrency_per_replica),) if wide else ()),
        formatter.count(candidate.concurrency),
        UNKNOWN if rate is None else formatter.estimate(rate.value),
        *((formatter.band(rate),) if wide else ()),
        formatter.estimate(candidate.power_kw),
    )


def _remark(candidate: Candidate, formatter: Formatter) -> str:
    if candidate.count is None:
        said = "" if candidate.reason is None else sentence(candidate.reason, formatter)
        return f"{said[:1].upper()}{said[1:]}"
    estimate = candidate.estimate
    if estimate is None:
        return plan_name(candidate.plan)
    engine, basis = engine_name(estimate.serving_engine), basis_label(estimate.basis).lower()
    return tr("{plan}, {engine}, {basis}", plan=plan_name(candidate.plan), engine=engine, basis=basis)


def factor_rows(candidate: Candidate, formatter: Formatter) -> list[tuple[str, str]]:
    """Return the chain of factors, each with its number, and their product, the count."""
    rows = [
        (factor_label(factor), f"{'× ' if place else ''}{factor_text(factor, formatter)}")
        for place, factor in enumerate(candidate.factors)
    ]
    return [*rows, (tr("Accelerators"), f"= {formatter.count(candidate.count)}")]


def best_key(pairs: Pairs) -> str | None:
    """Return the candidate with the fewest accelerators, the first of equals; None where none does."""
    counted = [(candidate.count, place) for place, (_, candidate) in enumerate(pairs) if candidate.count]
    return pairs[min(counted)[1]][0].key if counted else None


def sizing_data(sizing: Sizing | None, pairs: Pairs, formatter: Formatter) -> Data:
    """Return all that was found, one candidate in a column."""
    title = tr("Accelerators for the demand")
    if sizing is None:
        return Data(title=title, heads=(tr("Figure"),), rows=())
    names = [part.name.partition(" × ")[0] for part, _ in pairs]
    facts: list[tuple[str, list[str]]] = [
        (head, [_cells(each, formatter, wide=True)[place] for _, each in pairs])
        for place, head in enumerate(candidate_figures(pairs, formatter, wide=True).heads)
    ]
    facts.append((tr("Replica"), [_remark(each, formatter) for _, each in pairs]))
    facts += _factor_facts(pairs, formatter)
    facts.append((tr("Bound check"), [bound_text(each, formatter) or UNKNOWN for _, each in pairs]))
    said = [
        noted_sentence(sizing, each, name, formatter) for (_, each), name in zip(pairs, names, strict=True)
    ]
    facts.append((tr("In a sentence"), said))
    rows = ((label, *texts) for label, texts in facts)
    return Data(
        title=f"{title}: {demand_text(sizing.demand, formatter)}",
        heads=(tr("Figure"), *names),
        rows=tuple(rows),
    )


def _factor_facts(pairs: Pairs, formatter: Formatter) -> list[tuple[str, list[str]]]:
    """Return the factors across all candidates that have an answer."""
    longest = max((each.factors for _, each in pairs), key=len, default=())
    return [
        (
            tr("Factor: {name}", name=factor_label(factor)),
            [
                factor_text(each.factors[place], formatter) if place < len(each.factors) else UNKNOWN
                for _, each in pairs
            ],
        )
        for place, factor in enumerate(longest)
    ]
