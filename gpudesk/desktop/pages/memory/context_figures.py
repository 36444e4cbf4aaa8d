"""The table under the charts of the KV cache: what the scenario's requests take and how many are held."""

from __future__ import annotations

from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.pages.memory.context_charts import ContextCurves, Curved
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.charts import KvCurve
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.units import GIB
from gpudesk.text import tr


def context_figures(desk: Desk, contexts: ContextCurves) -> Figures:
    """Return a row for each column that has an estimate, those that hold the most requests first."""
    found = sorted(contexts.found(), key=_most_held, reverse=True)
    tokens = found[0].curve.tokens if found else 0
    return Figures(
        title=tr("At {n} tokens of context", n=desk.formatter.count(tokens)) if found else "",
        heads=(tr("Most in flight"), tr("One request, GiB"), tr("On the fullest, GiB")),
        leading=frozenset({0}),
        figures=("max_concurrency", "memory", "memory"),
        rows=tuple(_row(each, desk.formatter) for each in found),
        remarks_head=tr("Longest request that is held"),
    )


def _most_held(each: Curved) -> int:
    estimate = each.part.column.estimate
    return 0 if estimate is None else estimate.max_concurrency


def _row(each: Curved, formatter: Formatter) -> FigureRow:
    part, curve = each.part, each.curve
    most = _most_held(each)
    whole, fullest = _sizes(curve)
    cells = (
        formatter.count(most) if most else UNKNOWN,
        UNKNOWN if whole is None else formatter.estimate(whole / GIB),
        UNKNOWN if fullest is None else formatter.estimate(fullest / GIB),
    )
    words, faulty = _longest(curve, formatter)
    return FigureRow(part.key, part.slot, part.hollow, part.name, cells, words, faulty)


def _sizes(curve: KvCurve) -> tuple[int | None, int | None]:
    """Return what a request of the scenario takes, whole and on the fullest; None beyond the model."""
    if curve.tokens not in curve.context:
        return None, None
    at = curve.context.index(curve.tokens)
    return curve.sequence_bytes[at], curve.fullest_bytes[at]


def _longest(curve: KvCurve, formatter: Formatter) -> tuple[str, bool]:
    """Return the longest request that is held, of the lengths worked out, and whether it is too short."""
    held = [tokens for tokens, most in zip(curve.context, curve.max_concurrency, strict=True) if most]
    if not held:
        return tr("does not fit"), True
    count = formatter.count
    if len(held) == len(curve.context):
        if curve.max_context is None:
            return tr("{n} tokens and more", n=count(held[-1])), False
        return tr("{n} tokens, all that the model reads", n=count(held[-1])), False
    beyond = curve.context[len(held)]
    words = tr("{n} tokens; none of {beyond}", n=count(held[-1]), beyond=count(beyond))
    return words, held[-1] < curve.tokens
