"""Roofline: what memory and arithmetic of one accelerator admit, and where prefill and decode stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.columns import Part, fitting
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Mark, ReadOut, ReadOutRow
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import OneTwoFive
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.answers import Answer
from gpudesk.domain.charts import Roof, Roofline, RooflinePoint
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr

_TERA: Final = 1e12
#: The roofs are drawn this much beyond the points and the ridges.
_REACH: Final = 2.5


@dataclass(frozen=True, slots=True)
class Roofed:
    """A column with its roofline."""

    part: Part
    roofline: Roofline


class RooflineChart(Chart):
    """FLOP/s of one accelerator against FLOP/byte, both logarithmic."""

    figure = "output_tokens_per_s"

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Show effective roofs, those of the data sheets faint behind them."""
        super().__init__(desk, theme, (OneTwoFive(), OneTwoFive()), parent)
        self.vertical_grid = True
        self._roofed: tuple[Roofed, ...] = ()
        self._answer: Answer | None = None

    @property
    def roofed(self) -> tuple[Roofed, ...]:
        """The columns that fit, with their rooflines."""
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            self._roofed = tuple(self._found(self._answer))
        return self._roofed

    def _found(self, answer: Answer | None) -> list[Roofed]:
        found = []
        for part in fitting(answer):
            estimate = part.column.estimate
            roofline = None if estimate is None else self.desk.workbench.roofline(estimate)
            if roofline is not None:
                found.append(Roofed(part, roofline))
        return found

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw a roof for every column that fits, and its points under it."""
        self.title = tr("Roofline")
        self.subtitle = tr("TFLOPS of one accelerator; thick: what is reached at the most, faint: data sheet")
        self.x_title = tr("FLOP for each byte read")
        roofed = self.roofed
        span = _span(roofed)
        return Drawing(
            lines=tuple(self._roof(each, each.roofline.effective, span) for each in roofed),
            ghosts=tuple(self._roof(each, each.roofline.paper, span) for each in roofed),
            marks=_marks(roofed),
            note="" if roofed or self.desk.answer is None else tr("None of them fits, so there is no step"),
        )

    def _roof(self, each: Roofed, roof: Roof, span: tuple[float, float]) -> Line:
        x = np.array(sorted({span[0], min(max(roof.ridge, span[0]), span[1]), span[1]}))
        y = np.array([roof.at(intensity) / _TERA for intensity in x])
        part = each.part
        end = tr("{n} TFLOPS at most", n=self.formatter.estimate(roof.flops / _TERA))
        return Line(part.key, part.name, part.slot, part.hollow, x, y, end=end, capped=False)

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(self.y_texts_width(), self.head_height() + px(8), px(112), px(44))

    # Reading off

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read off what the effective roofs admit at an intensity."""
        roofed = sorted(self.roofed, key=lambda each: -each.roofline.effective.at(x))
        if not roofed:
            return None
        rows = tuple(
            ReadOutRow(
                each.part.key,
                each.part.slot,
                each.part.hollow,
                each.part.name,
                (self.formatter.estimate(each.roofline.effective.at(x) / _TERA), self._bound(each, x)),
            )
            for each in roofed
        )
        title = tr("At {n} FLOP for each byte", n=self.formatter.estimate(x))
        return x, ReadOut(title, (tr("TFLOPS"), tr("bound by")), rows)

    def _bound(self, each: Roofed, x: float) -> str:
        return tr("memory") if x < each.roofline.effective.ridge else tr("arithmetic")

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return an intensity a tenth more or less, or twice or half."""
        factor = 2.0 if far else 1.1
        return value * factor if forward else value / factor

    # In words and numbers

    def summary(self) -> str:
        """Say for each accelerator where its ridge is and on which side of it its steps stand."""
        said = [tr("What memory and arithmetic of one accelerator admit.")]
        for each in self.roofed:
            roof = each.roofline.effective
            said.append(
                tr(
                    "{name}: memory limits below {ridge} FLOP for each byte; decode at {decode}, prefill at "
                    "{prefill}.",
                    name=each.part.name,
                    ridge=self.formatter.estimate(roof.ridge),
                    decode=_intensity(each.roofline.decode, self.formatter),
                    prefill=_intensity(each.roofline.prefill, self.formatter),
                )
            )
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return roofs, ridge and points of every column."""
        heads = (
            tr("Accelerator"),
            tr("Arithmetic"),
            tr("Bandwidth reached, TB/s"),
            tr("Bandwidth stated, TB/s"),
            tr("Arithmetic reached, TFLOPS"),
            tr("Arithmetic stated, TFLOPS"),
            tr("Ridge, FLOP/byte"),
            tr("Decode, FLOP/byte"),
            tr("Decode, TFLOPS"),
            tr("Prefill, FLOP/byte"),
            tr("Prefill, TFLOPS"),
        )
        return Data(self.title, heads, tuple(_row(each, formatter) for each in self.roofed), 2)


def _row(each: Roofed, formatter: Formatter) -> tuple[str, ...]:
    found = each.roofline
    figures = (
        found.effective.bandwidth / _TERA,
        found.paper.bandwidth / _TERA,
        found.effective.flops / _TERA,
        found.paper.flops / _TERA,
        found.effective.ridge,
    )
    points = [
        text
        for point in (found.decode, found.prefill)
        for text in (_intensity(point, formatter), _attained(point, formatter))
    ]
    texts = (formatter.estimate(figure) for figure in figures)
    return (each.part.name, precision_name(found.arithmetic), *texts, *points)


def _intensity(point: RooflinePoint | None, formatter: Formatter) -> str:
    return UNKNOWN if point is None else formatter.estimate(point.intensity)


def _attained(point: RooflinePoint | None, formatter: Formatter) -> str:
    return UNKNOWN if point is None else formatter.estimate(point.flops / _TERA)


def _points(each: Roofed) -> list[tuple[str, RooflinePoint]]:
    named = ((tr("decode"), each.roofline.decode), (tr("prefill"), each.roofline.prefill))
    return [(name, point) for name, point in named if point is not None]


def _span(roofed: tuple[Roofed, ...]) -> tuple[float, float]:
    """Return from which intensity to which the roofs are drawn."""
    places = [each.roofline.effective.ridge for each in roofed]
    places += [each.roofline.paper.ridge for each in roofed]
    places += [point.intensity for each in roofed for _, point in _points(each)]
    return (min(places) / _REACH, max(places) * _REACH) if places else (1.0, 1000.0)


def _marks(roofed: tuple[Roofed, ...]) -> tuple[Mark, ...]:
    """Return the points; the lowest of each kind carries its name, below which nothing stands."""
    marks = []
    for name in (tr("decode"), tr("prefill")):
        kind = [(each, point) for each in roofed for found, point in _points(each) if found == name]
        lowest = min((point.flops for _, point in kind), default=0.0)
        marks += [
            Mark(
                each.part.key,
                each.part.slot,
                point.intensity,
                point.flops / _TERA,
                each.part.hollow,
                marker=True,
                text=name if point.flops == lowest else "",
            )
            for each, point in kind
        ]
    return tuple(marks)
