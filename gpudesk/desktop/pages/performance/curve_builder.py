"""Curves of an answer for charts, rebuilt only if changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.drawing import PlotCurve
from gpudesk.desktop.ui.charts.scales import FloatArray
from gpudesk.domain.answer import ConcurrencyCurve, IntervalSeries
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: In the place of a figure: output throughput of an accelerator against that of one user.
PARETO: Final = "pareto"


class CurveBuilder:
    """Makes lines of curves; a curve that would be drawn alike gives the same line again."""

    def __init__(self, formatter: Formatter) -> None:
        self._formatter = formatter
        self._cached_curves: dict[tuple[str, str], tuple[tuple[object, object], PlotCurve | None]] = {}

    def lines(self, columns: Sequence[AcceleratorColumn], figure: str, *, exact: bool) -> tuple[PlotCurve, ...]:
        """Return the lines of those columns that have a curve; `exact` as for `line`."""
        lines = []
        for part in columns:
            line = self.line(part, figure, exact)
            if line is not None:
                lines.append(line)
        return tuple(lines)

    def line(self, part: AcceleratorColumn, figure: str, exact: bool = True) -> PlotCurve | None:
        """Return the line of a figure against concurrency; None where there is no curve.

        Unless `exact`, curves of one deployment that differ only in where points lie count as alike.
        """
        curve = part.column.curve
        if curve is None or not curve.concurrency:
            return None
        drawing_key = (part.key, part.name, part.palette_index, part.is_variant, make_fingerprint(curve))
        cached = self._cached_curves.get((part.key, figure))
        if cached is not None and cached[0][0] == drawing_key and (not exact or cached[0][1] == curve.concurrency):
            return cached[1]
        line = self._make(part, curve, figure)
        self._cached_curves[(part.key, figure)] = ((drawing_key, curve.concurrency), line)
        return line

    def _make(self, part: AcceleratorColumn, curve: ConcurrencyCurve, figure: str) -> PlotCurve | None:
        if figure == PARETO:
            return self._pareto(part, curve)
        count = np.array(curve.concurrency, dtype=np.float64)
        return self._line(part, curve, count, getattr(curve, figure))

    def _pareto(self, part: AcceleratorColumn, curve: ConcurrencyCurve) -> PlotCurve | None:
        """Return the tokens/s of one accelerator against those of one user, for rising concurrency.

        Both have bands, so neither is shaded.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            per_user = 1000.0 / np.array(curve.tpot_ms.value)
        line = self._line(part, curve, per_user, curve.output_tokens_per_s_per_accelerator)
        return None if line is None else replace(line, low=None, high=None)

    def _line(
        self, part: AcceleratorColumn, curve: ConcurrencyCurve, x: FloatArray, series: IntervalSeries
    ) -> PlotCurve | None:
        value, low, high = (np.array(values) for values in (series.value, series.low, series.high))
        is_known = np.isfinite(x) & np.isfinite(value) & (value > 0) & (low > 0) & np.isfinite(high)
        if not is_known.any():
            return None
        return PlotCurve(
            key=part.key,
            name=part.name,
            slot=part.palette_index,
            is_variant=part.is_variant,
            x=x[is_known],
            y=value[is_known],
            low=low[is_known],
            high=high[is_known],
            count=np.array(curve.concurrency, dtype=np.float64)[is_known],
            end=tr("memory full at {n}", n=self._formatter.count(curve.max_concurrency)),
        )


def make_fingerprint(curve: ConcurrencyCurve | None) -> object:
    """Return what two curves share exactly when they are the same but for where their points lie."""
    if curve is None:
        return None
    ends: list[float] = []
    for each in (curve.output_tokens_per_s, curve.ttft_ms, curve.tpot_ms):
        ends += (each.value[0], each.value[-1], each.low[0], each.low[-1], each.high[0], each.high[-1])
    return curve.max_concurrency, ends
