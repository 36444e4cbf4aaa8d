"""What the table under each chart says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.charts.pareto import ParetoChart
from gpudesk.desktop.charts.roofline import RooflineChart
from gpudesk.desktop.charts.unfit import full_at, missing_text
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.comparison import HIGHER_IS_BETTER
from gpudesk.domain.estimates import Banded, Limiter
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.domain.workloads import LoadKind
from gpudesk.sentences import sentence
from gpudesk.sheets.comparison_results import why_no_figure
from gpudesk.sheets.labels import FIGURE_UNITS, figure_label, limiter_label
from gpudesk.sheets.names import load_text
from gpudesk.text import tr

_TERA: Final = 1e12


def title(desk: Desk) -> str:
    """Return at what load the figures are."""
    if desk.answer is None:
        return ""
    load = desk.answer.scenario.workload.load
    if load.kind is LoadKind.CONCURRENCY:
        return tr("At {n} in flight", n=desk.formatter.count(load.concurrency))
    words = load_text(load, desk.formatter)
    return words[:1].upper() + words[1:]


def limit_sentence(part: Part, desk: Desk) -> tuple[str, bool]:
    """Return what limits a column, or why it has no figures, and whether that is a fault."""
    estimate = part.column.estimate
    if estimate is None:
        problem = part.column.problem
        return ("" if problem is None else sentence(problem, desk.formatter)), True
    if not estimate.fits:
        missing = missing_text(part, desk)
        if estimate.needs is None:
            return tr("does not fit: {missing}", missing=missing), True
        needs = desk.formatter.count(estimate.needs)
        return tr("does not fit: {missing}; needs {n}", missing=missing, n=needs), True
    if estimate.stable is False or estimate.output_tokens_per_s is None:
        return why_no_figure(part.column, desk.formatter)[0], True
    waiting = full_at(estimate, desk)
    if waiting:
        return waiting, True
    if estimate.limiter is None or estimate.limiter is Limiter.CAPACITY:
        return "", False
    return tr("{limiter} limits", limiter=limiter_label(estimate.limiter)), False


def of_figures(desk: Desk, names: tuple[str, ...]) -> Figures:
    """Return figures of the estimates with their bands, the best of the first on top."""
    heads = tuple(
        text for name in names for text in (f"{figure_label(name)}, {FIGURE_UNITS[name]}", tr("Band"))
    )

    def cells(part: Part) -> tuple[str, ...]:
        found = [part.figure(name) for name in names]
        return tuple(text for banded in found for text in _texts(banded, desk))

    chosen = tuple(name for name in names for _ in range(2))
    leading = frozenset(range(0, len(heads), 2))
    return Figures(title(desk), heads, leading, chosen, _rows(desk, _best_first(desk, names[0]), cells))


def of_pareto(desk: Desk, chart: ParetoChart) -> Figures:
    """Return where each column stands at this load: for one accelerator, and for one user."""
    name = "output_tokens_per_s_per_accelerator"
    heads = (
        tr("One accelerator, tok/s"),
        tr("Band"),
        tr("Each user, tok/s"),
        tr("At {speed}, tok/s", speed=_tab(chart)),
    )
    best = (
        {} if chart.drawing.read_out is None else {row.key: row.cells for row in chart.drawing.read_out.rows}
    )

    def cells(part: Part) -> tuple[str, ...]:
        tpot = part.figure("tpot_ms")
        speed = UNKNOWN if tpot is None else desk.formatter.estimate(1000.0 / tpot.value)
        return (*_texts(part.figure(name), desk), speed, best.get(part.key, (UNKNOWN,))[0])

    chosen = (name, name, "tpot_ms", name)
    return Figures(title(desk), heads, frozenset({0}), chosen, _rows(desk, _best_first(desk, name), cells))


def _tab(chart: ParetoChart) -> str:
    return "" if chart.drawing.rule is None else chart.drawing.rule.text


def of_roofline(desk: Desk, chart: RooflineChart) -> Figures:
    """Return where the steps of each column stand under its roof."""
    heads = (
        tr("Decode, FLOP/byte"),
        tr("Decode, TFLOPS"),
        tr("Prefill, FLOP/byte"),
        tr("Prefill, TFLOPS"),
        tr("Ridge, FLOP/byte"),
    )
    found = {each.part.key: each.roofline for each in chart.roofed}
    number = desk.formatter.estimate

    def cells(part: Part) -> tuple[str, ...]:
        roofline = found.get(part.key)
        if roofline is None:
            return (UNKNOWN,) * len(heads)
        points = [
            (UNKNOWN, UNKNOWN) if point is None else (number(point.intensity), number(point.flops / _TERA))
            for point in (roofline.decode, roofline.prefill)
        ]
        return (*points[0], *points[1], number(roofline.effective.ridge))

    chosen = ("tpot_ms", "tpot_ms", "ttft_ms", "ttft_ms", "output_tokens_per_s")
    ordered = _best_first(desk, "output_tokens_per_s")
    return Figures(title(desk), heads, frozenset({1, 3}), chosen, _rows(desk, ordered, cells))


def _texts(banded: Banded | None, desk: Desk) -> tuple[str, str]:
    if banded is None:
        return UNKNOWN, ""
    return desk.formatter.estimate(banded.value), desk.formatter.band(banded)


def _best_first(desk: Desk, name: str) -> list[Part]:
    sign = -1.0 if HIGHER_IS_BETTER[name] else 1.0

    unranked = () if desk.answer is None else tuple(desk.keys[place] for place in desk.answer.unranked)

    def order(part: Part) -> tuple[bool, bool, float]:
        banded = part.figure(name)
        return banded is None, part.key in unranked, 0.0 if banded is None else sign * banded.value

    return sorted(parts(desk.answer), key=order)


def _rows(desk: Desk, ordered: list[Part], cells: Callable[[Part], tuple[str, ...]]) -> tuple[FigureRow, ...]:
    rows = []
    for part in ordered:
        said, faulty = limit_sentence(part, desk)
        rows.append(FigureRow(part.key, part.slot, part.hollow, part.name, cells(part), said, faulty))
    return tuple(rows)
