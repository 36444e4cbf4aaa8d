"""From the columns of an answer to the lines and rows that charts of it draw."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Array
from gpudesk.domain.answers import Answer, BandedSeries, Column, Curve
from gpudesk.domain.comparison import column_keys, repeated, slots
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.names import column_names
from gpudesk.text import tr

#: In the place of a figure: output throughput of an accelerator against that of one user.
PARETO: Final = "pareto"


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


#: Answers asked for last with their parts: the present one and the pinned one, many times each.
_asked: deque[tuple[Answer, tuple[Part, ...]]] = deque(maxlen=4)


def parts(answer: Answer | None) -> tuple[Part, ...]:
    """Return the columns of an answer."""
    if answer is None:
        return ()
    for asked, made in _asked:
        if asked is answer:
            return made
    made = _parts(answer)
    _asked.append((answer, made))
    return made


def _parts(answer: Answer) -> tuple[Part, ...]:
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
    """Makes lines of curves; a curve that would be drawn alike gives the same line again."""

    def __init__(self, formatter: Formatter) -> None:
        """Take the formatter for the words at a curve's end."""
        self._formatter = formatter
        self._made: dict[tuple[str, str], tuple[tuple[object, object], Line | None]] = {}

    def line(self, part: Part, figure: str, exact: bool = True) -> Line | None:
        """Return the line of a figure against concurrency; None where there is no curve.

        Unless `exact`, curves of one deployment that differ only in where points lie count as alike.
        """
        curve = part.column.curve
        if curve is None or not curve.concurrency:
            return None
        drawn = (part.key, part.name, part.slot, part.hollow, fingerprint(curve))
        kept = self._made.get((part.key, figure))
        if kept is not None and kept[0][0] == drawn and (not exact or kept[0][1] == curve.concurrency):
            return kept[1]
        line = self._make(part, curve, figure)
        self._made[(part.key, figure)] = ((drawn, curve.concurrency), line)
        return line

    def _make(self, part: Part, curve: Curve, figure: str) -> Line | None:
        if figure == PARETO:
            return self._pareto(part, curve)
        count = np.array(curve.concurrency, dtype=np.float64)
        return self._line(part, curve, count, getattr(curve, figure))

    def _pareto(self, part: Part, curve: Curve) -> Line | None:
        """Return the tokens/s of one accelerator against those of one user, for rising concurrency.

        Both have bands, so neither is shaded.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            per_user = 1000.0 / np.array(curve.tpot_ms.value)
        line = self._line(part, curve, per_user, curve.output_tokens_per_s_per_accelerator)
        return None if line is None else replace(line, low=None, high=None)

    def _line(self, part: Part, curve: Curve, x: Array, series: BandedSeries) -> Line | None:
        """Return the line of the points that have figures, or None without any."""
        value, low, high = (np.array(values) for values in (series.value, series.low, series.high))
        known = np.isfinite(x) & np.isfinite(value) & (value > 0) & (low > 0) & np.isfinite(high)
        if not known.any():
            return None
        return Line(
            key=part.key,
            name=part.name,
            slot=part.slot,
            hollow=part.hollow,
            x=x[known],
            y=value[known],
            low=low[known],
            high=high[known],
            count=np.array(curve.concurrency, dtype=np.float64)[known],
            end=tr("memory full at {n}", n=self._formatter.count(curve.max_concurrency)),
        )


def fingerprint(curve: Curve | None) -> object:
    """Return what two curves share exactly when they are the same but for where their points lie."""
    if curve is None:
        return None
    return curve.max_concurrency, [
        series[end] for series in (curve.output_tokens_per_s, curve.ttft_ms, curve.tpot_ms) for end in (0, -1)
    ]


def fitting(answer: Answer | None) -> Iterator[Part]:
    """Yield the columns that fit."""
    for part in parts(answer):
        if part.column.estimate is not None and part.column.estimate.fits:
            yield part
