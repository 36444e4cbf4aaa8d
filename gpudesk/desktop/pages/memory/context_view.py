"""The view of KV cache by context length: per request, and how many requests fit."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import DeskChart, FiguresView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorLine,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import PowerOfTwoScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import KvCacheCurve
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.data_table import CellSeverity, DataTable, FigureRow, build_accelerator_table
from gpudesk.report.labels import label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr
from gpudesk.text.units import GIB, MIB

#: From this many bytes at the shortest length on, the axis is in GiB.
_LEAST_IN_GIB: Final = GIB // 8


@frozen_dataclass
class DoublingScale(PowerOfTwoScale):
    """Powers of two, including those below one, for quantities that double with the context."""

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        del most
        return (2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high)))


@frozen_dataclass
class CacheCurve:
    """A column with its cache by context length."""

    part: AcceleratorColumn
    curve: KvCacheCurve


class CacheCurves:
    """The curves of the desk's answer, computed once for both charts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._answer: Answer | None = None
        self._curves: tuple[CacheCurve, ...] = ()

    def curves(self) -> tuple[CacheCurve, ...]:
        """Return the columns with an estimate and their curves, fitting or not."""
        if self._answer is not self._desk.answer:
            self._answer = self._desk.answer
            service = self._desk.service
            self._curves = tuple(
                CacheCurve(part, service.estimator.compute_kv_by_context(part.column.estimate))
                for part in self._desk.columns
                if part.column.estimate is not None
            )
        return self._curves


class _CacheChart(DeskChart):
    """A chart by context length, with the length of the scenario's requests as the cursor line."""

    around = (48, 8, 112, 44)

    def __init__(self, desk: Desk, theme: Theme, contexts: CacheCurves, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, (PowerOfTwoScale(), DoublingScale()), parent)
        self._contexts = contexts

    # To implement in subclasses

    def make_curves(self, curves: tuple[CacheCurve, ...]) -> tuple[PlotCurve, ...]:
        raise NotImplementedError

    def make_readout_rows(self, tokens: int) -> tuple[CursorReadoutRow, ...]:
        raise NotImplementedError

    def heads(self) -> tuple[str, ...]:
        raise NotImplementedError

    def explain_empty(self) -> str:
        raise NotImplementedError

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        curves = self._contexts.curves()
        self.x_title = tr("context length, tokens")
        lines = self.make_curves(curves)
        tokens = curves[0].curve.tokens if curves else 0
        rule = CursorLine(float(tokens), self.formatter.count(tokens), movable=False) if lines else None
        marks = []
        for line in lines:
            values = line.y[line.x == tokens]
            if len(values):
                marks.append(PointMark(line.key, line.slot, float(tokens), float(values[0]), line.is_variant))
        return PlotDrawing(
            lines=lines,
            marks=tuple(marks),
            rule=rule,
            note="" if lines or self.desk.answer is None else self.explain_empty(),
        )

    def stops(self) -> tuple[int, ...]:
        curves = self._contexts.curves()
        return curves[0].curve.context if curves else ()

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        """Read at the nearest computed length."""
        lengths = self.stops()
        if not lengths:
            return None
        nearest = min(lengths, key=lambda length: abs(np.log(length / max(x, 1.0))))
        title = tr("At {n} tokens", n=self.formatter.count(nearest))
        return float(nearest), CursorReadout(title, self.heads(), self.make_readout_rows(nearest))


class RequestCacheChart(_CacheChart):
    """KV cache of one request, in GiB or, to avoid long fractions, in MiB."""

    _unit: int = GIB
    _unit_name = ""

    def make_curves(self, curves: tuple[CacheCurve, ...]) -> tuple[PlotCurve, ...]:
        """Return one line if all columns have the same cache, else one each."""
        answer = self.desk.answer
        self.title = tr("KV cache per request")
        if answer is None or not curves:
            return ()
        smallest = min(min(each.curve.sequence_bytes) for each in curves)
        self._unit, self._unit_name = (GIB, tr("GiB")) if smallest >= _LEAST_IN_GIB else (MIB, tr("MiB"))
        self.subtitle = tr(
            "{unit}, {model}, cache in {kv}",
            unit=self._unit_name,
            model=answer.model.name,
            kv=label_precision(answer.scenario.kv),
        )
        if len({each.curve.sequence_bytes for each in curves}) == 1:
            return (self._make_cache_curve(("", 0, False, answer.model.name), curves[0].curve),)
        return tuple(self._make_cache_curve(each.part.identity, each.curve) for each in curves)

    def _make_cache_curve(self, identity: tuple[str, int, bool, str], curve: KvCacheCurve) -> PlotCurve:
        x, y = np.array(curve.context, dtype=np.float64), np.array(curve.sequence_bytes) / self._unit
        is_positive = y > 0
        size, tokens = self.formatter.estimate(y[-1]), self.formatter.count(x[-1])
        end = tr("{size} {unit} at {n}", size=size, unit=self._unit_name, n=tokens)
        return PlotCurve(*identity, x[is_positive], y[is_positive], end=end, capped=curve.max_context is not None)

    def heads(self) -> tuple[str, ...]:
        return (self._unit_name, tr("max per accelerator"))

    def make_readout_rows(self, tokens: int) -> tuple[CursorReadoutRow, ...]:
        """Return the KV cache of a request in each column, and its largest share on one accelerator."""
        return tuple(
            CursorReadoutRow(
                *each.part.identity,
                (
                    self.formatter.estimate(_find_value_at(each.curve, each.curve.sequence_bytes, tokens) / self._unit),
                    self.formatter.estimate(_find_value_at(each.curve, each.curve.fullest_bytes, tokens) / self._unit),
                ),
            )
            for each in self._contexts.curves()
        )

    def explain_empty(self) -> str:
        return tr("No curve: no accelerator has an estimate")

    def summary(self) -> str:
        curves = self._contexts.curves()
        if not curves:
            return self.explain_empty()
        curve = curves[0].curve
        sentences = [tr("KV cache per request by context length.")]
        for tokens in dict.fromkeys((curve.tokens, curve.context[-1])):
            if tokens in curve.context:
                size = self.formatter.memory(_find_value_at(curve, curve.sequence_bytes, tokens))
                sentences.append(tr("{n} tokens: {size}.", n=self.formatter.count(tokens), size=size))
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        curves = self._contexts.curves()
        heads = (
            tr("Tokens"),
            tr("Per request, GiB"),
            *(tr("{name}, max per accelerator, GiB", name=each.part.name) for each in curves),
        )
        rows = tuple(
            (
                formatter.count(tokens),
                _format_gib(curves[0].curve.sequence_bytes[number], formatter),
                *(_format_gib(each.curve.fullest_bytes[number], formatter) for each in curves),
            )
            for number, tokens in enumerate(self.stops())
        )
        return ChartData(self.title, heads, rows, 0)


class RequestCapacityChart(_CacheChart):
    """Maximum requests in flight."""

    figure = "max_concurrency"

    def make_curves(self, curves: tuple[CacheCurve, ...]) -> tuple[PlotCurve, ...]:
        """Return a line for each column that holds a request, up to its maximum length."""
        self.title = tr("Max concurrency")
        self.subtitle = tr("requests of this length, whole deployment")
        lines = (self._make_capacity_curve(each) for each in curves)
        return tuple(line for line in lines if line is not None)

    def _make_capacity_curve(self, each: CacheCurve) -> PlotCurve | None:
        capacities = np.array(each.curve.max_concurrency, dtype=np.float64)
        is_positive = capacities >= 1
        if not is_positive.any():
            return None
        x = np.array(each.curve.context, dtype=np.float64)[is_positive]
        part, count = each.part, self.formatter.count
        if is_positive.all():
            end = tr("{n} at {tokens}", n=count(capacities[-1]), tokens=count(x[-1]))
        else:
            end = tr("0 at {tokens}", tokens=count(each.curve.context[len(x)]))
        return PlotCurve(*part.identity, x, capacities[is_positive], end=end, capped=True)

    def heads(self) -> tuple[str, ...]:
        return (tr("in flight"), "")

    def make_readout_rows(self, tokens: int) -> tuple[CursorReadoutRow, ...]:
        """Return how many requests of a length each column holds, the most first."""
        capacities = [
            (_find_value_at(each.curve, each.curve.max_concurrency, tokens), each.part)
            for each in self._contexts.curves()
        ]
        capacities.sort(key=lambda pair: -pair[0])
        return tuple(CursorReadoutRow(*part.identity, self._format_cells(count)) for count, part in capacities)

    def _format_cells(self, count: int) -> tuple[str, str]:
        return (self.formatter.count(count), "") if count else (MISSING_VALUE_TEXT, tr("does not fit"))

    def explain_empty(self) -> str:
        if self._contexts.curves():
            return tr("No curve: no accelerator fits the model")
        return tr("No curve: no accelerator has an estimate")

    def summary(self) -> str:
        sentences = [tr("Max concurrency by context length.")]
        for each in self._contexts.curves():
            curve = each.curve
            places = [tokens for tokens in dict.fromkeys((curve.tokens, curve.context[-1])) if tokens in curve.context]
            counts = ", ".join(
                tr(
                    "{count} with {n} tokens each",
                    count=self.formatter.count(_find_value_at(curve, curve.max_concurrency, tokens)),
                    n=self.formatter.count(tokens),
                )
                for tokens in places
            )
            sentences.append(f"{each.part.name}: {counts}.")
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        curves = self._contexts.curves()
        heads = (tr("Tokens"), *(each.part.name for each in curves))
        rows = tuple(
            (formatter.count(tokens), *(formatter.count(each.curve.max_concurrency[number]) for each in curves))
            for number, tokens in enumerate(self.stops())
        )
        return ChartData(self.title, heads, rows, 0)


def _find_value_at(curve: KvCacheCurve, values: tuple[int, ...], tokens: int) -> int:
    return values[curve.context.index(tokens)]


def _format_gib(size: int, formatter: Formatter) -> str:
    return formatter.estimate(size / GIB) if size else MISSING_VALUE_TEXT


def _sort_key(each: CacheCurve) -> int:
    estimate = each.part.column.estimate
    return 0 if estimate is None else estimate.max_concurrency


def _make_context_row(each: CacheCurve, formatter: Formatter) -> FigureRow:
    part, curve = each.part, each.curve
    most = _sort_key(each)
    whole, fullest = _format_request_sizes(curve)
    cells = (
        formatter.count(most) if most else MISSING_VALUE_TEXT,
        MISSING_VALUE_TEXT if whole is None else formatter.estimate(whole / GIB),
        MISSING_VALUE_TEXT if fullest is None else formatter.estimate(fullest / GIB),
    )
    words, is_fault = _format_longest_request(curve, formatter)
    return FigureRow(*part.identity, cells, words, CellSeverity.FAULT if is_fault else CellSeverity.NONE)


def _format_request_sizes(curve: KvCacheCurve) -> tuple[int | None, int | None]:
    """Return the cache of a scenario's request, total and on the most loaded accelerator.

    None beyond the model's context.
    """
    if curve.tokens not in curve.context:
        return None, None
    at = curve.context.index(curve.tokens)
    return curve.sequence_bytes[at], curve.fullest_bytes[at]


def _format_longest_request(curve: KvCacheCurve, formatter: Formatter) -> tuple[str, bool]:
    fitting_lengths = [tokens for tokens, most in zip(curve.context, curve.max_concurrency, strict=True) if most]
    if not fitting_lengths:
        return tr("does not fit"), True
    count = formatter.count
    if len(fitting_lengths) == len(curve.context):
        if curve.max_context is None:
            return tr("at least {n} tokens", n=count(fitting_lengths[-1])), False
        return tr("{n} tokens, the model's limit", n=count(fitting_lengths[-1])), False
    beyond = curve.context[len(fitting_lengths)]
    words = tr("{n} tokens; {beyond} does not fit", n=count(fitting_lengths[-1]), beyond=count(beyond))
    return words, fitting_lengths[-1] < curve.tokens


class ContextView(FiguresView):
    """Two charts on the same axis of tokens."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        self._theme = theme
        self._contexts = CacheCurves(desk)
        self.request = RequestCacheChart(desk, theme, self._contexts)
        self.capacity_chart = RequestCapacityChart(desk, theme, self._contexts)
        super().__init__(desk, theme, (self.request, self.capacity_chart), self._make_figures, above=(6, 10), gap=0)

    def _make_figures(self) -> DataTable:
        desk = self._desk
        curves = sorted(self._contexts.curves(), key=_sort_key, reverse=True)
        tokens = curves[0].curve.tokens if curves else 0
        return build_accelerator_table(
            title=tr("At {n} context tokens", n=desk.formatter.count(tokens)) if curves else "",
            heads=(tr("Max concurrency"), tr("Per request, GiB"), tr("Max per accelerator, GiB")),
            leading={0},
            figures=("max_concurrency", "memory", "memory"),
            rows=tuple(_make_context_row(each, desk.formatter) for each in curves),
            remarks=tr("Longest request"),
        )

    def minimumSizeHint(self) -> QSize:
        least = self.request.measure_least_height() + self._theme.px(48) + self.table.height()
        return QSize(self._theme.px(560), least)
