"""From the columns of an answer to the lines and rows that charts of it draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Array
from gpudesk.domain.answers import Answer, BandedSeries, Column, Curve
from gpudesk.domain.comparison import column_keys, repeated, slots
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.sections import column_names
from gpudesk.text import tr


@dataclass(frozen=True, slots=True)
class Part:
    """One column of an answer with what tells it from the others."""

    key: str
    name: str
    slot: int
    hollow: bool
    column: Column

    def figure(self, name: str) -> Banded | None:
        """Return a figure of the column's estimate."""
        return None if self.column.estimate is None else getattr(self.column.estimate, name)


def parts(answer: Answer | None) -> tuple[Part, ...]:
    """Return the columns of an answer."""
    if answer is None:
        return ()
    choices = answer.scenario.accelerators
    return tuple(
        Part(*told)
        for told in zip(
            column_keys(choices),
            column_names(answer),
            slots(choices),
            repeated(choices),
            answer.columns,
            strict=True,
        )
    )


class LineMaker:
    """Makes lines of curves; a curve that has not changed gives the same line again."""

    def __init__(self, formatter: Formatter) -> None:
        """Take the formatter for the words at a curve's end."""
        self._formatter = formatter
        self._made: dict[tuple[str, str], tuple[Curve, str, Line]] = {}

    def line(self, part: Part, figure: str) -> Line | None:
        """Return the line of a figure against concurrency; None where there is no curve."""
        curve = part.column.curve
        if curve is None or not curve.concurrency:
            return None
        drawn = f"{part.key} {part.name} {part.slot} {part.hollow}"
        kept = self._made.get((part.key, figure))
        if kept is not None and kept[0] is curve and kept[1] == drawn:
            return kept[2]
        line = self._line(part, curve, getattr(curve, figure))
        self._made[(part.key, figure)] = (curve, drawn, line)
        return line

    def _line(self, part: Part, curve: Curve, series: BandedSeries) -> Line:
        count = np.array(curve.concurrency, dtype=np.float64)
        value, low, high = (np.array(values) for values in (series.value, series.low, series.high))
        known = np.isfinite(value) & (value > 0) & (low > 0) & np.isfinite(high)
        return Line(
            key=part.key,
            name=part.name,
            slot=part.slot,
            hollow=part.hollow,
            x=count[known],
            y=value[known],
            low=low[known],
            high=high[known],
            count=count[known],
            end=tr("memory full at {n}", n=self._formatter.count(curve.max_concurrency)),
        )


def pareto_line(part: Part, formatter: Formatter) -> Line | None:
    """Return output throughput of one accelerator against that of one user, a point for each concurrency."""
    curve = part.column.curve
    if curve is None or not curve.concurrency:
        return None
    tpot = np.array(curve.tpot_ms.value)
    rate, low, high = _arrays(curve.output_tokens_per_s_per_accelerator)
    known = np.isfinite(tpot) & (tpot > 0) & np.isfinite(rate) & (rate > 0)
    if not known.any():
        return None
    return Line(
        key=part.key,
        name=part.name,
        slot=part.slot,
        hollow=part.hollow,
        x=1000.0 / tpot[known],
        y=rate[known],
        low=low[known],
        high=high[known],
        count=np.array(curve.concurrency, dtype=np.float64)[known],
        end=tr("memory full at {n}", n=formatter.count(curve.max_concurrency)),
    )


def _arrays(series: BandedSeries) -> tuple[Array, Array, Array]:
    return np.array(series.value), np.array(series.low), np.array(series.high)


def fitting(answer: Answer | None) -> Iterator[Part]:
    """Yield the columns that fit."""
    for part in parts(answer):
        if part.column.estimate is not None and part.column.estimate.fits:
            yield part
