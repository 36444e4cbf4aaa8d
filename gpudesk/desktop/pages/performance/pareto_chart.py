"""Curves of the answer, rebuilt only if changed; throughput per accelerator by tokens/s per user."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF, QRectF, Signal

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.canvas import TAB
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorLine,
    CursorReadout,
    CursorReadoutRow,
    PlotCurve,
    PlotDrawing,
    PointMark,
    ReadoutSize,
    find_corner_boxes,
    measure_readout,
)
from gpudesk.desktop.ui.charts.scales import AxisScale, FloatArray, LinearScale, find_emptiest_box, resample_curve
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import ConcurrencyCurve, IntervalSeries
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr, trn

#: Replaces the figure name: output throughput per accelerator by speed per user.
PARETO: Final = "pareto"


class CurveBuilder:
    """Makes lines of curves, reusing equal ones."""

    def __init__(self, formatter: Formatter) -> None:
        self._formatter = formatter
        self._cached_curves: dict[tuple[str, str], tuple[tuple[object, object], PlotCurve | None]] = {}

    def lines(self, columns: Sequence[AcceleratorColumn], figure: str, *, exact: bool) -> tuple[PlotCurve, ...]:
        """Return the lines of the columns with a curve; `exact` as for `line`."""
        lines = []
        for part in columns:
            line = self.line(part, figure, exact)
            if line is not None:
                lines.append(line)
        return tuple(lines)

    def line(self, part: AcceleratorColumn, figure: str, exact: bool = True) -> PlotCurve | None:
        """Return the line of a figure by concurrency; None without a curve.

        Unless `exact`, curves of one deployment that differ only in the positions of their points are equal.
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
            return self._make_pareto_curve(part, curve)
        count = np.array(curve.concurrency, dtype=np.float64)
        return self._make_curve(part, curve, count, getattr(curve, figure))

    def _make_pareto_curve(self, part: AcceleratorColumn, curve: ConcurrencyCurve) -> PlotCurve | None:
        """Return tokens/s per accelerator by tokens/s per user, for rising concurrency.

        Both have intervals, so neither is shaded.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            per_user = 1000.0 / np.array(curve.tpot_ms.value)
        line = self._make_curve(part, curve, per_user, curve.output_tokens_per_s_per_accelerator)
        return None if line is None else replace(line, low=None, high=None)

    def _make_curve(
        self, part: AcceleratorColumn, curve: ConcurrencyCurve, x: FloatArray, series: IntervalSeries
    ) -> PlotCurve | None:
        value, low, high = (np.array(values) for values in (series.value, series.low, series.high))
        is_known = np.isfinite(x) & np.isfinite(value) & (value > 0) & (low > 0) & np.isfinite(high)
        if not is_known.any():
            return None
        return PlotCurve(
            *part.identity,
            x=x[is_known],
            y=value[is_known],
            low=low[is_known],
            high=high[is_known],
            count=np.array(curve.concurrency, dtype=np.float64)[is_known],
            end=tr("memory full at {n}", n=self._formatter.count(curve.max_concurrency)),
        )


class CurvesChart(DeskChart):
    """A chart of curves of the desk's answer, above those of the pinned one."""

    def __init__(self, desk: Desk, theme: Theme, scales: tuple[AxisScale, AxisScale]) -> None:
        super().__init__(desk, theme, scales)
        self._lines, self._ghost_lines = CurveBuilder(desk.formatter), CurveBuilder(desk.formatter)

    def draw_curves(self, figure: str) -> tuple[tuple[PlotCurve, ...], tuple[PlotCurve, ...]]:
        """Return the curves of a figure, and the pinned ones of the same columns."""
        exact = not self.desk.in_gesture
        lines = self._lines.lines(self.desk.fitting_columns, figure, exact=exact)
        ghosts = self._ghost_lines.lines(self.desk.ghost_columns, figure, exact=exact)
        keys = {line.key for line in lines}
        return lines, tuple(ghost for ghost in ghosts if ghost.key in keys)


def make_fingerprint(curve: ConcurrencyCurve | None) -> object:
    """Return a key that two curves share exactly if they differ only in the positions of their points."""
    if curve is None:
        return None
    ends: list[float] = []
    for each in (curve.output_tokens_per_s, curve.ttft_ms, curve.tpot_ms):
        ends += (each.value[0], each.value[-1], each.low[0], each.low[-1], each.high[0], each.high[-1])
    return curve.max_concurrency, ends


#: A speed per user above reading speed.
READING_SPEED: Final = 30.0
_FAR: Final = 10.0
#: Minimum width for a readout on the plot, in widths of the readout; in narrower plots it goes next to them.
_LEAST_WIDTH: Final = 1.9
#: Minimum width of a plot for labels at its points.
_LEAST_LABELED: Final = 120
#: Also if it would cover more of the curves than this, in points a few pixels apart.
_MOST_HIDDEN: Final = 14


@frozen_dataclass
class ParetoPoint:
    """The highest throughput per accelerator at a minimum speed, and its requests in flight."""

    value: float
    speed: float
    count: int


#: With more curve ends there is space only for names.
_MOST_DETAILED: Final = 4

#: A line, and the best point on it.
CurveWithPoint = tuple[PlotCurve, ParetoPoint | None]


def find_best_at(line: PlotCurve, speed: float) -> ParetoPoint | None:
    """Return the best whole number of requests at a minimum speed; None without one.

    Between points, the logarithms of both figures are interpolated over that of the requests.
    """
    if line.count is None:
        return None
    counts = _list_candidate_counts(line.count, line.x / speed)
    at, log_counts = np.log(counts), np.log(line.count)
    speeds = np.exp(np.interp(at, log_counts, np.log(line.x)))
    values = np.exp(np.interp(at, log_counts, np.log(line.y)))
    reached = speeds >= speed * (1 - 1e-12)
    if not reached.any():
        return None
    best = int(np.argmax(np.where(reached, values, 0.0)))
    return ParetoPoint(float(values[best]), float(speeds[best]), int(counts[best]))


def _list_candidate_counts(count: FloatArray, pace: FloatArray) -> FloatArray:
    """Return the whole numbers of requests that can be the best: the points, and both sides of a crossing.

    `pace` is the speed at each point over the required one. Between points both figures are monotonic, so no other
    number can be better.
    """
    log_count, above = np.log(count), np.log(pace)
    before = np.flatnonzero((above[1:] >= 0) != (above[:-1] >= 0))
    share = above[before] / (above[before] - above[before + 1])
    crossed = np.exp(log_count[before] + share * (log_count[before + 1] - log_count[before]))
    tried = np.concatenate((count, np.floor(crossed), np.ceil(crossed)))
    # With duplicates; `np.unique` would load numpy.ma for this alone.
    worth: FloatArray = np.sort(np.clip(tried, count[0], count[-1]))
    return worth


class ParetoChart(CurvesChart):
    """Output throughput per accelerator by speed per user: each point is one concurrency."""

    figure = "output_tokens_per_s_per_accelerator"
    #: The cursor line moved to these tokens/s per user.
    read_off_changed = Signal(float)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, (LinearScale(), LinearScale()))
        self._user_read_off = READING_SPEED
        self._margins = QMarginsF()
        self.vertical_grid = True
        self.labeled = False
        self.detailed_labels = False

    @property
    def read_off(self) -> float:
        """Tokens/s per user at which curves are read: the limit of the load, else the user's choice."""
        answer = self.desk.answer
        load = None if answer is None else answer.scenario.workload.load
        if load is not None and _limits_mean(load) and load.tpot_ms:
            return 1000.0 / load.tpot_ms
        return self._user_read_off

    def set_read_off(self, speed: float) -> None:
        self._user_read_off = max(1.0, speed)

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = tr("Throughput vs. interactivity")
        self.subtitle = tr("tok/s per accelerator at each concurrency")
        self.x_title = tr("tok/s per user")
        lines, ghosts = self.draw_curves(PARETO)
        answer = self.desk.answer
        limited = answer is not None and _limits_mean(answer.scenario.workload.load)
        speed = self.read_off
        best = [(line, find_best_at(line, speed)) for line in lines]
        self.detailed_labels = len(lines) <= _MOST_DETAILED
        # Without names at the curves the readout next to them says it.
        load_text = self._load_text() if self.frame.area.width() > self.theme.px(_LEAST_LABELED) else ""
        best_text = tr("best at ≥ {n}", n=self._format_speed(speed)) if self.labeled else ""
        return PlotDrawing(
            lines=lines,
            ghosts=ghosts,
            marks=(*_label_highest(self._load_marks(), load_text), *_label_highest(_mark_best_points(best), best_text)),
            rule=CursorLine(speed, self._format_tab(speed), read_off=True, movable=not limited) if lines else None,
            cursor_readout=self._read_out(best, ghosts, speed),
            note="" if lines or answer is None else tr("No curves to compare"),
        )

    def _load_marks(self) -> list[PointMark]:
        """Return the points of the scenario's load."""
        marks = []
        for part in self.desk.fitting_columns:
            tpot, rate = part.figure("tpot_ms"), part.figure(self.figure)
            kind = part.column.estimate.request.workload.load.kind if part.column.estimate else None
            if tpot is not None and rate is not None and kind is LoadKind.CONCURRENCY and not _waits(part):
                marks.append(PointMark(part.key, part.palette_index, 1000.0 / tpot.value, rate.value, part.is_variant))
        return marks

    def _load_text(self) -> str:
        """Return the load of the scenario; empty without a concurrency."""
        answer = self.desk.answer
        concurrency = None if answer is None else answer.scenario.workload.load.concurrency
        return "" if concurrency is None else tr("{n} in flight", n=self.formatter.count(concurrency))

    def describe_best(self) -> list[str]:
        """Return the best column at the reading speed, the next one, and whether none is as fast at the load."""
        speed, marks = self._format_speed(self.read_off), self._load_marks()
        best_points = [(line.name, best) for line in self.drawing.lines if (best := find_best_at(line, self.read_off))]
        if not best_points:
            return [tr("No accelerator reaches {speed} tok/s per user.", speed=speed)]
        sentences = self._describe_leader(best_points, speed)
        if marks and all(mark.x < self.read_off for mark in marks):
            sentences.append(tr("At this load ({n}), no accelerator reaches this speed.", n=self._load_text()))
        return sentences

    def _describe_leader(self, best_points: list[tuple[str, ParetoPoint]], speed: str) -> list[str]:
        text = self.formatter.estimate
        (name, best), *others = sorted(best_points, key=lambda each: -each[1].value)
        values = {"name": name, "value": text(best.value), "n": self.formatter.count(best.count), "speed": speed}
        if not others:
            only = trn(
                "Only {name} reaches {speed} tok/s per user: {value} tok/s with {n} request in flight.",
                "Only {name} reaches {speed} tok/s per user: {value} tok/s with {n} requests in flight.",
                best.count,
                **values,
            )
            return [only]
        leads = trn(
            "At {speed} tok/s per user, {name} has the highest throughput: {value} tok/s with {n} request in flight.",
            "At {speed} tok/s per user, {name} has the highest throughput: {value} tok/s with {n} requests in flight.",
            best.count,
            **values,
        )
        other, second = others[0]
        return [leads, tr("Next: {name}, {rate} tok/s.", name=other, rate=text(second.value))]

    def _format_tab(self, speed: float) -> str:
        return tr("≥ {n} tok/s", n=self._format_speed(speed))

    def _format_speed(self, speed: float) -> str:
        """Format a speed: the cursor is at whole numbers, a limit at any value."""
        return self.formatter.count(speed) if speed == round(speed) else self.formatter.estimate(speed)

    def _read_out(
        self, points: list[CurveWithPoint], ghosts: tuple[PlotCurve, ...], speed: float
    ) -> CursorReadout | None:
        if not points:
            return None
        ordered = sorted(points, key=lambda pair: -pair[1].value if pair[1] is not None else 1.0)
        pinned = {line.key: find_best_at(line, speed) for line in ghosts}
        heads: tuple[str, ...] = (tr("tok/s"), tr("in flight"))
        if self.desk.ghost is not None:
            heads = (*heads, tr("vs. pinned"))
        rows = tuple(
            CursorReadoutRow(*line.identity, self._format_cells(best, pinned.get(line.key))[: len(heads)])
            for line, best in ordered
        )
        return CursorReadout(tr("Best at ≥ {n} tok/s", n=self._format_speed(speed)), heads, rows)

    def _format_cells(self, best: ParetoPoint | None, pinned: ParetoPoint | None) -> tuple[str, ...]:
        if best is None:
            return (MISSING_VALUE_TEXT, tr("not reached"), "")
        against = MISSING_VALUE_TEXT if pinned is None else self.formatter.difference(best.value / pinned.value)
        return (self.formatter.estimate(best.value), self.formatter.count(best.count), against)

    # Reading values

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        speed = float(round(x))
        if speed <= 0:
            return None
        points = [(line, find_best_at(line, speed)) for line in self.drawing.lines]
        cursor_readout = self._read_out(points, self.drawing.ghosts, speed)
        return None if cursor_readout is None else (speed, cursor_readout)

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        by = _FAR if far else 1.0
        return max(1.0, round(value + (by if forward else -by)))

    def move_rule(self, value: float) -> None:
        speed = max(1.0, float(round(value)))
        if speed != self._user_read_off:
            self._user_read_off = speed
            self.refresh()
            self.read_off_changed.emit(speed)

    def grab_rule(self) -> None:
        self.hold(True)

    def release_rule(self) -> None:
        self.hold(self.desk.in_gesture)

    # Size

    def margins(self) -> QMarginsF:
        """Reserve space at the right for the readout if no corner of the plot is free."""
        if self.is_held:
            return self._margins
        self._margins = self._compute_margins()
        return self._margins

    def _compute_margins(self) -> QMarginsF:
        px = self.theme.px
        right = px(96) if self.labeled else px(14)
        margins = QMarginsF(self.measure_y_texts(), self.head_height() + px(8 + TAB), right, px(44))
        cursor_readout, lines = self.drawing.cursor_readout, self.drawing.lines
        if cursor_readout is None or not lines:
            self.read_out_beside = False
            return margins
        size = measure_readout(cursor_readout, self.text_painter, self.theme)
        self.read_out_beside = self._crowded(size, margins)
        if self.read_out_beside:
            margins.setRight(px(12) + math.ceil(size.width) + (right if self.labeled else 0))
        return margins

    def _crowded(self, size: ReadoutSize, margins: QMarginsF) -> bool:
        area = QRectF(self.viewport().rect()).marginsRemoved(margins)
        if area.width() < size.width * _LEAST_WIDTH or area.height() < size.height + self.theme.px(20):
            return True
        docked = replace(self.frame, area=area)
        curves = [resample_curve(docked.pixels(line.x, line.y)) for line in self.drawing.lines]
        x = docked.pixel_x(self.read_off)
        curves.append(resample_curve(np.array([(x, area.top()), (x, area.bottom())])))
        boxes = find_corner_boxes(area, size, float(self.theme.px(10)))
        return find_emptiest_box(boxes, np.concatenate(curves), None, 0)[1] > _MOST_HIDDEN

    # Texts and numbers

    def summary(self) -> str:
        cursor_readout = self.drawing.cursor_readout
        if cursor_readout is None:
            return tr("No curves to compare")
        sentences = [tr("Tokens per second per accelerator vs. per user.")]
        for row in cursor_readout.rows:
            if row.cells[0] == MISSING_VALUE_TEXT:
                sentences.append(
                    tr("{name} does not reach {speed}.", name=row.name, speed=self._format_tab(self.read_off))
                )
            else:
                sentences.append(
                    tr(
                        "{name}: {value} tok/s per accelerator at {speed} per user, requests in flight: {n}.",
                        name=row.name,
                        value=row.cells[0],
                        speed=self._format_tab(self.read_off),
                        n=row.cells[1],
                    )
                )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        """Return every point: requests in flight, speed per user, throughput per accelerator."""
        heads = (
            tr("Accelerator"),
            tr("Requests in flight"),
            tr("tok/s per user"),
            tr("tok/s per accelerator"),
            tr("Low"),
            tr("High"),
        )
        rows = []
        for part in self.desk.fitting_columns:
            curve = part.column.curve
            if curve is None:
                continue
            points = zip(curve.concurrency, curve.tpot_ms, curve.output_tokens_per_s_per_accelerator, strict=True)
            for count, tpot, rate in points:
                speed = formatter.estimate(1000.0 / tpot.value)
                figures = (formatter.estimate(value) for value in rate)
                rows.append((part.name, formatter.count(count), speed, *figures))
        return ChartData(self.title, heads, tuple(rows))


def _label_highest(marks: Sequence[PointMark], text: str) -> tuple[PointMark, ...]:
    """Return marks of one kind, the highest of them with a label."""
    highest = max(marks, key=lambda mark: mark.y, default=None)
    return tuple(replace(mark, text=text) if mark is highest else mark for mark in marks)


def _mark_best_points(points: list[CurveWithPoint]) -> tuple[PointMark, ...]:
    return tuple(
        PointMark(line.key, line.slot, best.speed, best.value, line.is_variant)
        for line, best in points
        if best is not None
    )


def _limits_mean(load: Load) -> bool:
    """Whether the load limits the quantity of the axis, the mean of all users."""
    return load.kind is LoadKind.LIMITS and load.limit == "mean"


def _waits(part: AcceleratorColumn) -> bool:
    """Whether more requests are asked for than memory admits, so that the load is not on the curve."""
    estimate = part.column.estimate
    return estimate is not None and (estimate.admitted or 0) < (estimate.concurrency or 0)
