"""Roofline: bandwidth and compute ceilings of an accelerator, and where prefill and decode lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.charts.drawing import CursorReadout, CursorReadoutRow, PlotCurve, PlotDrawing, PointMark
from gpudesk.desktop.ui.charts.scales import DecadeScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import Roofline, RooflineCeiling, RooflinePoint
from gpudesk.report.labels import label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

_TERA: Final = 1e12
#: The roofs are drawn this much beyond the points and the ridges.
_REACH: Final = 2.5


@dataclass(frozen=True, slots=True)
class RooflineColumn:
    """A column with its roofline."""

    part: AcceleratorColumn
    roofline: Roofline


class RooflineChart(DeskChart):
    """FLOP/s of one accelerator against FLOP/byte, both logarithmic."""

    figure = "output_tokens_per_s"

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, (DecadeScale(), DecadeScale()), parent)
        self.vertical_grid = True
        self._roofed: tuple[RooflineColumn, ...] = ()
        self._answer: Answer | None = None

    @property
    def roofed(self) -> tuple[RooflineColumn, ...]:
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            self._roofed = tuple(self._list_rooflines())
        return self._roofed

    def _list_rooflines(self) -> list[RooflineColumn]:
        columns = []
        for part in self.desk.fitting_columns:
            estimate = part.column.estimate
            roofline = None if estimate is None else self.desk.service.roofline(estimate)
            if roofline is not None:
                columns.append(RooflineColumn(part, roofline))
        return columns

    # The drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Roofline")
        self.subtitle = tr("TFLOPS per accelerator; thick line: achievable, faint line: data-sheet peak")
        self.x_title = tr("FLOP per byte read")
        roofed = self.roofed
        span = _span(roofed)
        return PlotDrawing(
            lines=tuple(self._roof(each, each.roofline.effective, span) for each in roofed),
            ghosts=tuple(self._roof(each, each.roofline.paper, span) for each in roofed),
            marks=_marks(roofed),
            note="" if roofed or self.desk.answer is None else tr("No roofline: no accelerator fits the model"),
        )

    def _roof(self, each: RooflineColumn, roof: RooflineCeiling, span: tuple[float, float]) -> PlotCurve:
        x = np.array(sorted({span[0], min(max(roof.ridge, span[0]), span[1]), span[1]}))
        y = np.array([roof.at(intensity) / _TERA for intensity in x])
        part = each.part
        end = tr("max {n} TFLOPS", n=self.formatter.estimate(roof.flops / _TERA))
        return PlotCurve(part.key, part.name, part.palette_index, part.is_variant, x, y, end=end, capped=False)

    def margins(self) -> QMarginsF:
        px = self.theme.px
        return QMarginsF(self.y_texts_width(), self.head_height() + px(8), px(112), px(44))

    # Reading off

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        roofed = sorted(self.roofed, key=lambda each: -each.roofline.effective.at(x))
        if not roofed:
            return None
        rows = tuple(
            CursorReadoutRow(
                each.part.key,
                each.part.palette_index,
                each.part.is_variant,
                each.part.name,
                (self.formatter.estimate(each.roofline.effective.at(x) / _TERA), self._bound(each, x)),
            )
            for each in roofed
        )
        title = tr("At {n} FLOP/byte", n=self.formatter.estimate(x))
        return x, CursorReadout(title, (tr("TFLOPS"), tr("limit")), rows)

    def _bound(self, each: RooflineColumn, x: float) -> str:
        return tr("memory") if x < each.roofline.effective.ridge else tr("compute")

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        factor = 2.0 if far else 1.1
        return value * factor if forward else value / factor

    # In words and numbers

    def summary(self) -> str:
        sentences = [tr("Memory and compute limits per accelerator.")]
        for each in self.roofed:
            roof = each.roofline.effective
            sentences.append(
                tr(
                    "{name}: memory-bound below {ridge} FLOP/byte; decode at {decode}, prefill at {prefill}.",
                    name=each.part.name,
                    ridge=self.formatter.estimate(roof.ridge),
                    decode=_intensity(each.roofline.decode, self.formatter),
                    prefill=_intensity(each.roofline.prefill, self.formatter),
                )
            )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        heads = (
            tr("Accelerator"),
            tr("Compute format"),
            tr("Achievable bandwidth, TB/s"),
            tr("Data-sheet bandwidth, TB/s"),
            tr("Achievable compute, TFLOPS"),
            tr("Data-sheet compute, TFLOPS"),
            tr("Ridge, FLOP/byte"),
            tr("Decode, FLOP/byte"),
            tr("Decode, TFLOPS"),
            tr("Prefill, FLOP/byte"),
            tr("Prefill, TFLOPS"),
        )
        return ChartData(self.title, heads, tuple(_row(each, formatter) for each in self.roofed), 2)


def _row(each: RooflineColumn, formatter: Formatter) -> tuple[str, ...]:
    roofline = each.roofline
    figures = (
        roofline.effective.bandwidth / _TERA,
        roofline.paper.bandwidth / _TERA,
        roofline.effective.flops / _TERA,
        roofline.paper.flops / _TERA,
        roofline.effective.ridge,
    )
    points = [
        text
        for point in (roofline.decode, roofline.prefill)
        for text in (_intensity(point, formatter), _attained(point, formatter))
    ]
    texts = (formatter.estimate(figure) for figure in figures)
    return (each.part.name, label_precision(roofline.arithmetic), *texts, *points)


def _intensity(point: RooflinePoint | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if point is None else formatter.estimate(point.intensity)


def _attained(point: RooflinePoint | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if point is None else formatter.estimate(point.flops / _TERA)


def _points(each: RooflineColumn) -> list[tuple[str, RooflinePoint]]:
    named_points = ((tr("decode"), each.roofline.decode), (tr("prefill"), each.roofline.prefill))
    return [(name, point) for name, point in named_points if point is not None]


def _span(roofed: tuple[RooflineColumn, ...]) -> tuple[float, float]:
    places = [each.roofline.effective.ridge for each in roofed]
    places += [each.roofline.paper.ridge for each in roofed]
    places += [point.intensity for each in roofed for _, point in _points(each)]
    return (min(places) / _REACH, max(places) * _REACH) if places else (1.0, 1000.0)


def _marks(roofed: tuple[RooflineColumn, ...]) -> tuple[PointMark, ...]:
    """Return the points; the lowest of each kind carries its name, with free space below."""
    marks = []
    for name in (tr("decode"), tr("prefill")):
        kind = [(each, point) for each in roofed for label, point in _points(each) if label == name]
        lowest = min((point.flops for _, point in kind), default=0.0)
        marks += [
            PointMark(
                each.part.key,
                each.part.palette_index,
                point.intensity,
                point.flops / _TERA,
                each.part.is_variant,
                marker=True,
                text=name if point.flops == lowest else "",
            )
            for each, point in kind
        ]
    return tuple(marks)
