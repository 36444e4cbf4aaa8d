"""Limiters: the roofline of an accelerator, and the time breakdown of a request into prefill and decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from gpudesk.desktop.pages.desk_chart import DeskChart, format_missing_memory
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.bar_chart import (
    OUTLINE,
    BarChart,
    BarChartStyle,
    BarGroup,
    BarLane,
    BarNote,
    BarRow,
    BarSegment,
    StackedBar,
)
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import DecadeScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import (
    PREFILL_SHARE,
    DeploymentTimeShares,
    RequestTimeline,
    Roofline,
    RooflineCeiling,
    RooflinePoint,
    TimeShare,
)
from gpudesk.domain.estimate import Limiter
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import join_names, label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

_INKS: Final = {
    "memory bandwidth": "ink3",
    "compute": "ink2",
    "interconnect": "ink1",
    "overhead": "ink4",
    PREFILL_SHARE: OUTLINE,
}
_ORDER: Final = ("memory bandwidth", "compute", "interconnect", "overhead")
#: Waiting is outlined, as in a token; prefill and decode have the colors of their usual limiters.
_TIMES: Final = (("queue_s", OUTLINE), ("prefill_s", "ink2"), ("decode_s", "ink3"))


@frozen_dataclass
class TimeSplit:
    """A column with the times of a request and the shares of steps, if available."""

    part: AcceleratorColumn
    request: RequestTimeline | None
    shares: DeploymentTimeShares | None


def label_time_share(name: str) -> str:
    return tr("prefill of other requests") if name == PREFILL_SHARE else Limiter(name).label


#: No axis: values are at the right.
_STYLE: Final = BarChartStyle(
    names=128,
    right=96,
    bar=16,
    rows=(28, 28, 28),
    head=28,
    key=22,
    axis=0,
    below=18,
    width=(640, 360),
    subtitle="text3",
)


def _format_range(values: Sequence[float], format_value: Callable[[float], str]) -> str:
    """Return the smallest and the largest value; one if they are written alike."""
    low, high = format_value(min(values)), format_value(max(values))
    return low if low == high else tr("{low} to {high}", low=low, high=high)


class TimeSplitChart(BarChart):
    """Three groups of bars: a request in seconds, an output token and a prefill chunk in shares."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(theme, desk.formatter, _STYLE)
        self.desk = desk
        self._answer: Answer | None = None
        self._splits: tuple[TimeSplit, ...] = ()
        self.row_selected.connect(lambda key, name: desk.select(select_figure(key, name)))

    def refresh(self) -> None:
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            bench = self.desk.service
            splits = []
            for part in self.desk.columns:
                estimate = part.column.estimate
                if estimate is None:
                    splits.append(TimeSplit(part, None, None))
                else:
                    splits.append(
                        TimeSplit(
                            part, bench.estimator.request_time(estimate), bench.estimator.compute_time_shares(estimate)
                        )
                    )
            self._splits = tuple(splits)
        token = tr("% of time, including prefill of other requests")
        self.show_groups(
            self._make_request_group(),
            self._make_share_group(tr("One output token"), token, "tpot_ms", (*_ORDER, PREFILL_SHARE)),
            self._make_share_group(tr("One prefill chunk"), tr("% of time"), "ttft_ms", _ORDER),
        )
        if not self.desk.in_gesture:
            self.setAccessibleName(tr("Prefill and decode, chart"))
            self.setAccessibleDescription(self.summary())

    # Groups

    def _make_request_group(self) -> BarGroup:
        longest = max((sum(split.request) for split in self._splits if split.request is not None), default=1.0)
        names = (tr("queueing"), tr("prefill"), tr("decode"))
        return BarGroup(
            tr("One request"),
            tr("time from arrival to last token, mean"),
            tuple(self._request(split, longest) for split in self._splits),
            key=tuple((ink, name) for (_, ink), name in zip(_TIMES, names, strict=True)),
            figure="request_s",
        )

    def _request(self, split: TimeSplit, longest: float) -> BarRow:
        time, inks = split.request, [ink for _, ink in _TIMES]
        if time is None:
            return self._make_bar_row(split, None, MISSING_VALUE_TEXT)
        texts = [self.formatter.quantity(seconds, "s") for seconds in (*time, sum(time))]
        segments = _stack([seconds / longest for seconds in time], inks, texts[:-1])
        return self._make_bar_row(split, segments, texts[-1])

    def _make_share_group(self, title: str, subtitle: str, figure_name: str, order: Sequence[str]) -> BarGroup:
        key = tuple((_INKS[name], label_time_share(name)) for name in order)
        rows = tuple(self._share_row(split, figure_name, order) for split in self._splits)
        return BarGroup(title, subtitle, rows, key=key, figure=figure_name)

    def _share_row(self, split: TimeSplit, figure_name: str, order: Sequence[str]) -> BarRow:
        shares = _get_time_shares(split, figure_name)
        text = self._format_token_time(split.part) if figure_name == "tpot_ms" else ""
        if shares is None:
            return self._make_bar_row(split, None, text)
        by_name = {share.name: share.share for share in shares}
        names = [name for name in order if name in by_name]
        lengths = [by_name[name] for name in names]
        words = [self.formatter.per_cent(length) for length in lengths]
        return self._make_bar_row(split, _stack(lengths, [_INKS[name] for name in names], words), text)

    def _make_bar_row(self, split: TimeSplit, segments: tuple[BarSegment, ...] | None, value: str) -> BarRow:
        part = split.part
        lane: BarLane = (
            BarNote(self._explain_missing(part), color="text3") if segments is None else StackedBar(segments)
        )
        return BarRow(
            part.key, part.name, (lane,), palette_index=part.palette_index, is_variant=part.is_variant, value=value
        )

    def _format_token_time(self, part: AcceleratorColumn) -> str:
        value = part.figure("tpot_ms")
        return MISSING_VALUE_TEXT if value is None else self.formatter.quantity(value.value, "ms")

    def _explain_missing(self, part: AcceleratorColumn) -> str:
        if part.column.estimate is None:
            return tr("cannot be estimated")
        if not part.column.estimate.fits:
            return tr("does not fit: {missing}", missing=format_missing_memory(part, self.desk))
        return tr("not defined for this load")

    # Texts and numbers

    def describe_shares(self) -> list[str]:
        """Return what a request and an output token spend their time on, as ranges over the accelerators."""
        requests = [split.request for split in self._splits if split.request is not None]
        if not requests:
            return []
        waiting, prefill, decode = (
            _format_range([times[place] / sum(times) for times in requests], self.formatter.per_cent)
            for place in range(3)
        )
        sentences = [
            tr(
                "A request spends {decode} of its time in decode, {prefill} in prefill and {waiting} in the queue.",
                decode=decode,
                prefill=prefill,
                waiting=waiting,
            )
        ]
        shares = [
            share.share
            for split in self._splits
            for share in _get_time_shares(split, "tpot_ms") or ()
            if share.name == PREFILL_SHARE
        ]
        if shares:
            share = _format_range(shares, self.formatter.per_cent)
            sentences.append(tr("Prefill of other requests takes {share} of the time per output token.", share=share))
        return sentences

    def summary(self) -> str:
        sentences = []
        for split in self._splits:
            if split.request is None:
                sentences.append(f"{split.part.name}: {self._explain_missing(split.part)}.")
                continue
            waiting, prefill, decode = (self.formatter.estimate(seconds) for seconds in split.request)
            sentences.append(
                tr(
                    "{name}: {waiting} s queueing, {prefill} s prefill, {decode} s decode.",
                    name=split.part.name,
                    waiting=waiting,
                    prefill=prefill,
                    decode=decode,
                )
            )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        heads = [tr("Accelerator"), tr("Queueing, s"), tr("Prefill, s"), tr("Decode, s")]
        heads += [tr("Token: {share}, %", share=label_time_share(name)) for name in (*_ORDER, PREFILL_SHARE)]
        heads += [tr("Prompt: {share}, %", share=label_time_share(name)) for name in _ORDER]
        rows = []
        for split in self._splits:
            times = split.request or (None, None, None)
            cells = [formatter.estimate(seconds) for seconds in times]
            for figure_name, order in (("tpot_ms", (*_ORDER, PREFILL_SHARE)), ("ttft_ms", _ORDER)):
                shares = {share.name: share.share for share in _get_time_shares(split, figure_name) or ()}
                cells += [
                    formatter.number(shares[name] * 100, 1) if name in shares else MISSING_VALUE_TEXT for name in order
                ]
            rows.append((split.part.name, *cells))
        return ChartData(tr("Prefill and decode"), tuple(heads), tuple(rows))


def _get_time_shares(split: TimeSplit, figure_name: str) -> tuple[TimeShare, ...] | None:
    if split.shares is None:
        return None
    return split.shares.token if figure_name == "tpot_ms" else split.shares.prefill


def _stack(lengths: Sequence[float], inks: Sequence[str], words: Sequence[str]) -> tuple[BarSegment, ...]:
    """Return consecutive segments."""
    ends = list(accumulate(lengths))
    starts = [0.0, *ends]
    return tuple(BarSegment(*each) for each in zip(starts, ends, inks, words, strict=False))


_TERA: Final = 1e12
#: How far the roofs extend beyond the points and the ridges.
_REACH: Final = 2.5


@frozen_dataclass
class RooflineColumn:
    """A column with its roofline."""

    part: AcceleratorColumn
    roofline: Roofline


class RooflineChart(DeskChart):
    """FLOP/s of one accelerator by FLOP/byte, both logarithmic."""

    around = (0, 8, 112, 44)

    figure = "output_tokens_per_s"

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, (DecadeScale(), DecadeScale()))
        self.vertical_grid = True
        self._roofed: tuple[RooflineColumn, ...] = ()
        self._answer: Answer | None = None

    @property
    def roofed(self) -> tuple[RooflineColumn, ...]:
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            columns = []
            for part in self.desk.fitting_columns:
                estimate = part.column.estimate
                roofline = None if estimate is None else self.desk.service.estimator.roofline(estimate)
                if roofline is not None:
                    columns.append(RooflineColumn(part, roofline))
            self._roofed = tuple(columns)
        return self._roofed

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Roofline")
        self.subtitle = tr("TFLOPS per accelerator; thick line: achievable, faint line: data-sheet peak")
        self.x_title = tr("FLOP per byte read")
        roofed = self.roofed
        span = _compute_span(roofed)
        return PlotDrawing(
            lines=tuple(self._make_roof_curve(each, each.roofline.effective, span) for each in roofed),
            ghosts=tuple(self._make_roof_curve(each, each.roofline.paper, span) for each in roofed),
            marks=_make_point_marks(roofed),
            note="" if roofed or self.desk.answer is None else tr("No roofline: no accelerator fits the model"),
        )

    def _make_roof_curve(self, each: RooflineColumn, roof: RooflineCeiling, span: tuple[float, float]) -> PlotCurve:
        x = np.array(sorted({span[0], min(max(roof.ridge, span[0]), span[1]), span[1]}))
        y = np.array([roof.at(intensity) / _TERA for intensity in x])
        part = each.part
        end = tr("max {n} TFLOPS", n=self.formatter.estimate(roof.flops / _TERA))
        return PlotCurve(*part.identity, x, y, end=end, capped=False)

    # Reading values

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        roofed = sorted(self.roofed, key=lambda each: -each.roofline.effective.at(x))
        if not roofed:
            return None
        rows = tuple(
            CursorReadoutRow(
                *each.part.identity,
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

    # Texts and numbers

    def describe_limits(self) -> list[str]:
        """Return what limits decode and prefill, with their work per byte and the ridge."""
        phases = (
            (tr("Decode"), [(each, each.roofline.decode) for each in self.roofed]),
            (tr("Prefill"), [(each, each.roofline.prefill) for each in self.roofed]),
        )
        return [sentence for name, points in phases if (sentence := self._describe_phase(name, points))]

    def _describe_phase(self, phase: str, points: Sequence[tuple[RooflineColumn, RooflinePoint | None]]) -> str:
        placed = [(each, point.intensity) for each, point in points if point is not None]
        if not placed:
            return ""
        starved = [each for each, intensity in placed if intensity < each.roofline.effective.ridge]
        if 0 < len(starved) < len(placed):
            others = [each.part.name for each, _ in placed if each not in starved]
            return tr(
                "{phase} is limited by memory bandwidth on {names}, by compute on {others}.",
                phase=phase,
                names=join_names([each.part.name for each in starved]),
                others=join_names(others),
            )
        return tr(
            "{phase} is limited by {limiter}: {intensity} FLOP per byte, ridge at {ridge}.",
            phase=phase,
            limiter=(Limiter.MEMORY_BANDWIDTH if starved else Limiter.COMPUTE).label,
            intensity=_format_range([intensity for _, intensity in placed], self.formatter.estimate),
            ridge=_format_range([each.roofline.effective.ridge for each, _ in placed], self.formatter.estimate),
        )

    def summary(self) -> str:
        sentences = [tr("Memory and compute limits per accelerator.")]
        for each in self.roofed:
            roof = each.roofline.effective
            sentences.append(
                tr(
                    "{name}: memory-bound below {ridge} FLOP/byte; decode at {decode}, prefill at {prefill}.",
                    name=each.part.name,
                    ridge=self.formatter.estimate(roof.ridge),
                    decode=_format_intensity(each.roofline.decode, self.formatter),
                    prefill=_format_intensity(each.roofline.prefill, self.formatter),
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
        return ChartData(self.title, heads, tuple(_format_roofline_row(each, formatter) for each in self.roofed), 2)


def _format_roofline_row(each: RooflineColumn, formatter: Formatter) -> tuple[str, ...]:
    roofline = each.roofline
    texts = (
        formatter.estimate(roofline.effective.bandwidth / _TERA),
        formatter.exact(roofline.paper.bandwidth / _TERA),
        formatter.estimate(roofline.effective.flops / _TERA),
        formatter.exact(roofline.paper.flops / _TERA),
        formatter.estimate(roofline.effective.ridge),
    )
    points = [
        text
        for point in (roofline.decode, roofline.prefill)
        for text in (_format_intensity(point, formatter), _format_attained_flops(point, formatter))
    ]
    return (each.part.name, label_precision(roofline.arithmetic), *texts, *points)


def _format_intensity(point: RooflinePoint | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if point is None else formatter.estimate(point.intensity)


def _format_attained_flops(point: RooflinePoint | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if point is None else formatter.estimate(point.flops / _TERA)


def _list_named_points(each: RooflineColumn) -> list[tuple[str, RooflinePoint]]:
    named_points = ((tr("decode"), each.roofline.decode), (tr("prefill"), each.roofline.prefill))
    return [(name, point) for name, point in named_points if point is not None]


def _compute_span(roofed: tuple[RooflineColumn, ...]) -> tuple[float, float]:
    places = [each.roofline.effective.ridge for each in roofed]
    places += [each.roofline.paper.ridge for each in roofed]
    places += [point.intensity for each in roofed for _, point in _list_named_points(each)]
    return (min(places) / _REACH, max(places) * _REACH) if places else (1.0, 1000.0)


def _make_point_marks(roofed: tuple[RooflineColumn, ...]) -> tuple[PointMark, ...]:
    """Return the points; the lowest of each kind has the label, with free space below."""
    marks = []
    for name in (tr("decode"), tr("prefill")):
        kind = [(each, point) for each in roofed for label, point in _list_named_points(each) if label == name]
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
