"""Throughput and latency against concurrency, with strips of what limits each accelerator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLineF, QMarginsF, QRectF
from PySide6.QtGui import QPainter

from gpudesk.desktop.pages.performance.pareto_chart import CurvesChart, make_fingerprint
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.ui.charts.chart_data import (
    ChartData,
    CursorLine,
    CursorReadout,
    CursorReadoutRow,
    CurveReading,
    LimitLine,
    PlotCurve,
    PlotDrawing,
    PointMark,
)
from gpudesk.desktop.ui.charts.scales import AxisScale, DecadeScale, LinearScale, PowerOfTwoScale
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, ThemePainter
from gpudesk.domain.answer import ConcurrencyCurve, Scenario
from gpudesk.domain.estimate import Limiter, Load, LoadKind
from gpudesk.domain.registry import FIGURES
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import format_load, get_figure_unit, label_figure
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.desktop.ui.charts.canvas import PlotCanvas


#: Heights in design pixels: the line that names the strips, one strip with its gap, the bar itself.
STRIP_HEAD: Final = 22
STRIP_PITCH: Final = 18
_BAR: Final = 13

#: Height of a color of the key.
_KEY: Final = 8.0
#: Limiter -> fill and text color.
_FILLS: Final = {
    "compute": ("ink2", "text1"),
    "memory bandwidth": ("ink3", "text1"),
    "interconnect": ("ink1", "page"),
    "overhead": ("ink4", "text1"),
    "capacity": ("sunken", "text2"),
}


@frozen_dataclass
class StripPiece:
    """A range of concurrency with one limiter."""

    start: float
    end: float
    limiter: str


@frozen_dataclass
class LimiterStrip:
    """An accelerator's pieces; beyond the last one memory is full. None fit: no pieces."""

    key: str
    slot: int
    name: str
    pieces: tuple[StripPiece, ...]


def split_into_pieces(curve: ConcurrencyCurve) -> tuple[StripPiece, ...]:
    """Return the pieces of a curve; a limiter changes at the geometric middle between two points."""
    pieces: list[StripPiece] = []
    start = float(curve.concurrency[0]) if curve.concurrency else 1.0
    for number, limiter in enumerate(curve.limiter):
        last = number == len(curve.limiter) - 1
        if not last and curve.limiter[number + 1] == limiter:
            continue
        here = float(curve.concurrency[number])
        end = here if last else math.sqrt(here * curve.concurrency[number + 1])
        pieces.append(StripPiece(start, end, limiter))
        start = end
    return tuple(pieces)


class StripBuilder:
    """Makes strips of columns, reusing equal ones."""

    def __init__(self) -> None:
        self._cached_strips: dict[str, tuple[tuple[object, object], LimiterStrip]] = {}

    def strip(self, part: AcceleratorColumn, *, exact: bool) -> LimiterStrip:
        """Return a column's strip; unless `exact`, the positions of points on a curve do not matter."""
        drawing_key, curve = (
            (part.key, part.name, part.palette_index, make_fingerprint(part.column.curve)),
            part.column.curve,
        )
        points = None if curve is None else curve.concurrency
        cached = self._cached_strips.get(part.key)
        if cached is not None and cached[0][0] == drawing_key and (not exact or cached[0][1] == points):
            return cached[1]
        strip = LimiterStrip(part.key, part.palette_index, part.name, () if curve is None else split_into_pieces(curve))
        self._cached_strips[part.key] = ((drawing_key, points), strip)
        return strip


def measure_strips(plot: PlotCanvas, count: int) -> float:
    return float(plot.theme.px(STRIP_HEAD) + count * plot.theme.px(STRIP_PITCH))


def _paint_strip_key(pen: ThemePainter, strips: Sequence[LimiterStrip], line: QRectF) -> None:
    """Explain the fills of the pieces, of which short ones have no room for a word."""
    x, level = line.left(), line.center().y()
    for limiter in dict.fromkeys(piece.limiter for strip in strips for piece in strip.pieces):
        pen.tint(QRectF(x, level - _KEY / 2, 1.5 * _KEY, _KEY), _FILLS[limiter][0], 2)
        x += 2 * _KEY
        room = QRectF(x, line.top(), max(1.0, line.right() - x), line.height())
        x += pen.text(room, Limiter(limiter).label, font="caption", color="text2") + 1.5 * _KEY


def _paint_strip(plot: PlotCanvas, pen: ThemePainter, strip: LimiterStrip, row: QRectF) -> list[QRectF]:
    """Paint the strip of an accelerator, and return the places of its texts."""
    texts: list[QRectF] = []
    name = QRectF(0, row.top(), row.left() - plot.theme.px(8), row.height())
    pen.text(name, strip.name, font="small_strong", color=plot.theme.name_color(strip.slot), align=RIGHT)
    painter = pen.painter
    painter.save()
    painter.setClipRect(row)
    end = row.left()
    for piece in strip.pieces:
        left, right = plot.frame.pixel_x(piece.start), plot.frame.pixel_x(piece.end)
        if right > row.left() and left < row.right():
            bar = QRectF(left, row.top(), right - left, row.height())
            limiter = piece.limiter
            fill, color = _FILLS[limiter]
            pen.tint(bar.adjusted(0, 0, -1, 0), fill, 2.5)
            visible = bar.intersected(row)
            words = Limiter(limiter).label
            width = pen.width(words, "caption") + 12
            if visible.width() > width:
                inside = visible.adjusted(6, 0, -2, 0)
                pen.text(inside, words, font="caption", color=color)
                texts.append(QRectF(visible.left(), row.top(), width, row.height()))
        end = max(end, right)
    if end < row.right() - 1:
        gap = 1 if strip.pieces else 0
        rest = QRectF(end + gap, row.top(), row.right() - end - gap, row.height())
        words, color = describe_strip_end(strip, plot.formatter), "text2" if strip.pieces else "unfit"
        pen.hatch(rest)
        width = pen.width(words, "caption") + 12
        if rest.width() > width + 16:
            plate = QRectF(rest.left() + 8, rest.top(), width, rest.height())
            painter.fillRect(plate, pen.color("page"))
            pen.text(plate, words, font="caption", color=color, align=CENTER)
            texts.append(plate)
    painter.restore()
    return texts


def format_concurrency_title(count: int, formatter: Formatter) -> str:
    return trn("At {n} request in flight", "At {n} requests in flight", count, n=formatter.count(count))


def format_load_title(load: Load, formatter: Formatter) -> str:
    if load.concurrency is not None:
        return format_concurrency_title(load.concurrency, formatter)
    return capitalize_first(format_load(load, formatter))


def describe_strip_end(strip: LimiterStrip, formatter: Formatter) -> str:
    """Return the text beyond the pieces: the deployment queues further requests."""
    if not strip.pieces:
        return tr("does not fit")
    return tr("memory full at {n}", n=formatter.count(strip.pieces[-1].end))


#: One step of the keyboard, as a share of the concurrency; at least one request.
_STEP: Final = 0.05
#: Loads with a steady number of requests in flight. Curves are closed loops, so an open loop is not on them, nor are
#: steps shortened by limits.
_SETTLE: Final = (LoadKind.CONCURRENCY, LoadKind.LIMITS, LoadKind.REQUEST_RATE)


@frozen_dataclass
class _ConcurrencyReading:
    """The reading of one accelerator: its figure, or a text without one."""

    part: AcceleratorColumn
    reading: CurveReading | None
    instead: str
    pinned: CurveReading | None


class ConcurrencyChart(CurvesChart):
    """A figure of all accelerators by requests in flight."""

    def __init__(self, desk: Desk, theme: Theme, figure: str, y_scale: AxisScale) -> None:
        self.figure = figure
        super().__init__(desk, theme, (PowerOfTwoScale(), y_scale))
        self._pinned: dict[str, PlotCurve] = {}
        self._key_steps = 0
        self._dragging = False
        self.docked = True

    # Drawing

    def make_drawing(self) -> PlotDrawing:
        self.title = label_figure(self.figure)
        self.x_title = tr("requests in flight")
        (lines, ghosts), load = self.draw_curves(self.figure), self._load()
        self._pinned = {line.key: line for line in ghosts}
        return PlotDrawing(
            lines=lines,
            ghosts=ghosts,
            marks=self._mark_estimates(load, lines),
            rule=self._make_load_line(load),
            limit=self._limit(load),
            cursor_readout=self._read_out_at_load(load) if self.docked else None,
            note="" if lines or self.desk.answer is None else self._explain_empty(),
        )

    def _load(self) -> Load | None:
        answer = self.desk.answer
        return None if answer is None else answer.scenario.workload.load

    def _make_load_line(self, load: Load | None) -> CursorLine | None:
        if load is None or load.kind is not LoadKind.CONCURRENCY or load.concurrency is None:
            return None
        return CursorLine(float(load.concurrency), self.formatter.count(load.concurrency))

    def _mark_estimates(self, load: Load | None, lines: tuple[PlotCurve, ...]) -> tuple[PointMark, ...]:
        by_key = {line.key: line for line in lines}
        if load is None or load.kind not in _SETTLE:
            return ()
        marks = []
        for part in self.desk.fitting_columns:
            estimate, line = part.column.estimate, by_key.get(part.key)
            value = part.figure(self.figure)
            if estimate is None or estimate.concurrency is None or line is None or value is None:
                continue
            if line.x[0] <= estimate.concurrency <= line.x[-1]:
                marks.append(
                    PointMark(part.key, part.palette_index, estimate.concurrency, value.value, part.is_variant)
                )
        return tuple(marks)

    def in_closed_loop(self) -> bool:
        load = self._load()
        return load is None or load.kind is LoadKind.CONCURRENCY

    def _limit(self, load: Load | None) -> LimitLine | None:
        if load is None or load.kind is not LoadKind.LIMITS or self.figure not in ("ttft_ms", "tpot_ms"):
            return None
        value: float | None = getattr(load, self.figure)
        if value is None:
            return None
        number = self.formatter.estimate(value)
        if load.limit == "mean":
            return LimitLine(value, tr("limit {n} ms, mean", n=number))
        return LimitLine(value, tr("limit {n} ms, p99", n=number))

    def _explain_empty(self) -> str:
        if any(part.column.estimate is not None for part in self.desk.columns):
            return tr("No curve: no accelerator fits the model")
        return tr("No curve: no accelerator has an estimate")

    # Reading values

    def _read_out_at_load(self, load: Load | None) -> CursorReadout | None:
        if load is None:
            return None
        pinned = self._pinned
        reads = []
        for part in self.desk.fitting_columns:
            value, estimate = part.figure(self.figure), part.column.estimate
            reading = None if value is None else CurveReading(*value)
            at = estimate.concurrency if estimate is not None else None
            ghost = pinned[part.key].at(at) if at is not None and part.key in pinned else None
            reads.append(_ConcurrencyReading(part, reading, "", ghost))
        return self._read_out(format_load_title(load, self.formatter), reads)

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        count = max(1, round(x))
        pinned, by_key = self._pinned, {line.key: line for line in self.drawing.lines}
        reads = []
        for part in self.desk.fitting_columns:
            line = by_key.get(part.key)
            if line is None:
                continue
            ghost = pinned[part.key].at(count) if part.key in pinned else None
            instead = tr("queues above {n}", n=self.formatter.count(line.x[-1])) if count > line.x[-1] else ""
            reads.append(_ConcurrencyReading(part, line.at(count), instead, ghost))
        cursor_readout = self._read_out(format_concurrency_title(count, self.formatter), reads)
        return None if cursor_readout is None else (float(count), cursor_readout)

    def _read_out(self, title: str, reads: list[_ConcurrencyReading]) -> CursorReadout | None:
        """Sort the readings, the best first; with a pinned answer the difference from it."""
        if not reads:
            return None
        sign = -1.0 if FIGURES[self.figure].more_is_better else 1.0
        reads.sort(
            key=lambda reading: (reading.reading is None, sign * (reading.reading.value if reading.reading else 0))
        )
        heads: tuple[str, ...] = (str(get_figure_unit(self.figure)), tr("80% interval"))
        if self.desk.ghost is not None:
            heads = (*heads, tr("vs. pinned"))
        rows = tuple(
            CursorReadoutRow(*reading.part.identity, self._format_cells(reading)[: len(heads)]) for reading in reads
        )
        return CursorReadout(title, heads, rows)

    def _format_cells(self, reading: _ConcurrencyReading) -> tuple[str, ...]:
        if reading.reading is None:
            return (MISSING_VALUE_TEXT, reading.instead, "")
        value, low, high = reading.reading.value, reading.reading.low, reading.reading.high
        against = (
            MISSING_VALUE_TEXT if reading.pinned is None else self.formatter.difference(value / reading.pinned.value)
        )
        return (self.formatter.estimate(value), self.formatter.interval(low, high), against)

    # Cursor line

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return the next number of requests: 5% more or less, or (far) the next power of two."""
        return float(find_next_count(round(value), forward=forward, far=far))

    def move_rule(self, value: float) -> None:
        """Set the scenario's concurrency; one drag or one held key is one step."""
        scenario = self._replace_concurrency(max(1, round(value)))
        gesture = None if self._dragging else f"concurrency by key {self._key_steps}"
        self.desk.apply(scenario, tr("Change concurrency"), gesture)

    def _replace_concurrency(self, count: int) -> Scenario:
        if self.desk.scenario.workload.load.kind is not LoadKind.CONCURRENCY:
            return self.desk.scenario
        return replace_load_value(self.desk.scenario, count)

    def drag_rule(self, value: float) -> None:
        if self._dragging:
            self.move_rule(value)

    def grab_rule(self) -> None:
        self._dragging = True
        self.desk.begin_gesture("concurrency")

    def release_rule(self) -> None:
        self._key_steps += 1
        if self._dragging:
            self._dragging = False
            self.desk.end_gesture()

    # Texts and numbers

    def summary(self) -> str:
        unit = get_figure_unit(self.figure)
        sentences = [tr("{figure} vs. concurrency.", figure=label_figure(self.figure))]
        by_key = {line.key: line for line in self.drawing.lines}
        for part in self.desk.columns:
            line = by_key.get(part.key)
            if line is None:
                sentences.append(tr("{name}: no curve.", name=part.name))
                continue
            sentences.append(
                tr(
                    "{name}: {now} {unit} at this load; {end}, with {last} {unit}.",
                    name=part.name,
                    now=self.formatter.estimate_with_interval(part.figure(self.figure)),
                    unit=unit,
                    end=line.end,
                    last=self.formatter.estimate(float(line.y[-1])),
                )
            )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        unit = get_figure_unit(self.figure)
        heads = (
            tr("Accelerator"),
            tr("Limited by"),
            tr("Requests in flight"),
            f"{label_figure(self.figure)}, {unit}",
            tr("Low"),
            tr("High"),
        )
        rows = []
        for part in self.desk.fitting_columns:
            curve = part.column.curve
            if curve is None:
                continue
            for count, banded, limiter in zip(
                curve.concurrency, getattr(curve, self.figure), curve.limiter, strict=True
            ):
                figures = (formatter.estimate(value) for value in banded)
                rows.append((part.name, Limiter(limiter).label, formatter.count(count), *figures))
        title = tr("{figure} vs. concurrency", figure=label_figure(self.figure))
        return ChartData(title, heads, tuple(rows), 2)


def find_next_count(count: int, *, forward: bool, far: bool) -> int:
    """Return the next number of requests for the keyboard; `far` goes to the next power of two."""
    if far:
        power = 1 << (count.bit_length() - 1)
        if forward:
            return power * 2
        return max(1, power if power < count else power // 2)
    by = max(1, round(count * _STEP))
    return max(1, count + by if forward else count - by)


class ThroughputChart(ConcurrencyChart):
    """Output throughput, with its limiters in strips along the same axis."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(desk, theme, "output_tokens_per_s", LinearScale())
        self._strips: tuple[LimiterStrip, ...] = ()
        self._strip_texts: list[QRectF] = []
        self._strip_maker = StripBuilder()
        self.title_below = False

    def make_drawing(self) -> PlotDrawing:
        self.subtitle = (
            tr("tokens per second, whole deployment; shaded: 80% interval")
            if self.in_closed_loop()
            else tr("tokens per second at constant concurrency; shaded: 80% interval")
        )
        exact, columns = not self.desk.in_gesture, self.desk.columns
        strips = [self._strip_maker.strip(part, exact=exact) for part in columns if part.column.estimate is not None]
        before, self._strips = self._strips, tuple(strips)
        drawing = super().make_drawing()
        if [(strip.key, strip.name) for strip in before] != [(strip.key, strip.name) for strip in self._strips]:
            self.lay_out()
        elif before != self._strips:
            self.ground_changed()
        return drawing

    def measure_foot(self) -> float:
        return measure_strips(self, len(self._strips))

    def margins(self) -> QMarginsF:
        """Reserve space at the left for names, at the right for those at the curves' ends, below for strips."""
        px = self.theme.px
        names = max([0.0] + [self.text_painter.width(strip.name, "small_strong") for strip in self._strips])
        left = min(max(self.measure_y_texts(), names + px(10)), px(120))
        return QMarginsF(left, self.head_height() + px(6), px(112), self.measure_foot() + px(26))

    def rule_zone(self) -> QRectF:
        return super().rule_zone().adjusted(0, 0, 0, self.measure_foot())

    def paint_background(self, painter: QPainter) -> None:
        super().paint_background(painter)
        if self.drawing.lines:
            strips = self._strips
            pen = ThemePainter(painter, self.theme)
            theme, area = self.theme, self.frame.area
            top = area.bottom() + theme.px(STRIP_HEAD)
            heading = QRectF(0, area.bottom() + theme.px(5), area.right(), theme.px(STRIP_HEAD) - theme.px(6))
            heading_width = pen.text(heading, tr("Limited by"), font="caption", color="text2")
            # A translated heading may be wider than the labels of the axis.
            heading.setLeft(max(area.left(), heading_width + 1.5 * _KEY))
            _paint_strip_key(pen, strips, heading)
            self._strip_texts = []
            for number, strip in enumerate(strips):
                row = QRectF(area.left(), top + number * theme.px(STRIP_PITCH), area.width(), theme.px(_BAR))
                self._strip_texts += _paint_strip(self, pen, strip, row)

    def paint_overlay(self, painter: QPainter) -> None:
        count = len(self._strips) if self.drawing.lines else 0
        rule, area = self.drawing.rule, self.frame.area
        low, high = self.frame.get_x_range()
        if rule is not None and not rule.read_off and low <= rule.value <= high:
            x = round(self.frame.pixel_x(rule.value)) + 0.5
            painter.setPen(self.theme.color("text1"))
            top = area.bottom()
            for text in self._strip_texts:
                if text.left() < x < text.right():
                    painter.drawLine(QLineF(x, top, x, text.top()))
                    top = text.bottom()
            painter.drawLine(QLineF(x, top, x, area.bottom() + measure_strips(self, count) - 2))
        super().paint_overlay(painter)


class LatencyChart(ConcurrencyChart):
    """Time to first token or time per output token."""

    def __init__(self, desk: Desk, theme: Theme, figure: str) -> None:
        super().__init__(desk, theme, figure, DecadeScale())
        self.docked = False
        self.detailed_labels = False

    def make_drawing(self) -> PlotDrawing:
        self.subtitle = (
            tr("milliseconds, mean of all requests")
            if self.in_closed_loop()
            else tr("milliseconds at constant concurrency, mean")
        )
        return super().make_drawing()

    def margins(self) -> QMarginsF:
        px = self.theme.px
        token = "label"
        names = max([0.0] + [self.text_painter.width(line.name, token) for line in self.drawing.lines])
        right = max(px(60), names + px(2)) + (px(60) if self.detailed_labels else 0)
        return QMarginsF(self.measure_y_texts(), self.head_height() + px(8), min(right, px(160)), px(42))
