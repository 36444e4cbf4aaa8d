"""Charts of a figure against requests in flight, with the working line of the scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.columns import LineMaker, Part, fitting, parts
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Limit, Mark, ReadOut, ReadOutRow, Rule
from gpudesk.desktop.charts.lines import Line, Reading
from gpudesk.desktop.charts.scales import Counts, Scale
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.edits import with_load_value
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import HIGHER_IS_BETTER
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.sheets.labels import FIGURE_UNITS, figure_label, limiter_label
from gpudesk.sheets.names import load_text
from gpudesk.text import tr

#: One step of the keyboard, as a share of the concurrency; at least one request.
_STEP: Final = 0.05
#: Loads that settle at a number of requests in flight. Curves are of closed loops: an open loop stands beside
#: them, as do steps that are kept short under limits.
_SETTLE: Final = (LoadKind.CONCURRENCY, LoadKind.LIMITS, LoadKind.REQUEST_RATE)


@dataclass(frozen=True, slots=True)
class _Read:
    """What one accelerator shows at a place: its figure, and words instead where there is none."""

    part: Part
    reading: Reading | None
    instead: str
    pinned: Reading | None


class ConcurrencyChart(Chart):
    """A figure of all accelerators against requests in flight."""

    def __init__(
        self, desk: Desk, theme: Theme, figure: str, y_scale: Scale, parent: QWidget | None = None
    ) -> None:
        """Draw a figure of the estimates that curves have."""
        self.figure = figure
        super().__init__(desk, theme, (Counts(), y_scale), parent)
        self._lines = LineMaker(desk.formatter)
        self._ghost_lines = LineMaker(desk.formatter)
        self._pinned: dict[str, Line] = {}
        self._key_steps = 0
        self._dragging = False
        self.docked = True
        self.rule_grabbed.connect(self._grab)
        self.rule_moved.connect(self._drag)
        self.rule_released.connect(self._release)

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw every column that fits, and the pinned answer's behind."""
        self.title = figure_label(self.figure)
        self.x_title = tr("requests in flight")
        lines = self._drawn(self.desk.answer, self._lines)
        names = {line.key for line in lines}
        ghosts = tuple(line for line in self._drawn(self.desk.ghost, self._ghost_lines) if line.key in names)
        self._pinned = {line.key: line for line in ghosts}
        return Drawing(
            lines=lines,
            ghosts=ghosts,
            marks=self._marks(lines),
            rule=self._working_line(),
            limit=self._limit(),
            read_out=self._at_this_load() if self.docked else None,
            note="" if lines or self.desk.answer is None else self._why_empty(),
        )

    def _drawn(self, answer: Answer | None, maker: LineMaker) -> tuple[Line, ...]:
        exact = not self.desk.in_gesture
        made = (maker.line(part, self.figure, exact) for part in fitting(answer))
        return tuple(line for line in made if line is not None and len(line.x))

    def _load(self) -> Load | None:
        return None if self.desk.answer is None else self.desk.answer.scenario.workload.load

    def _working_line(self) -> Rule | None:
        load = self._load()
        if load is None or load.kind is not LoadKind.CONCURRENCY or load.concurrency is None:
            return None
        return Rule(float(load.concurrency), self.formatter.count(load.concurrency))

    def _marks(self, lines: tuple[Line, ...]) -> tuple[Mark, ...]:
        load, by_key = self._load(), {line.key: line for line in lines}
        if load is None or load.kind not in _SETTLE:
            return ()
        marks = []
        for part in fitting(self.desk.answer):
            estimate, line = part.column.estimate, by_key.get(part.key)
            value = part.figure(self.figure)
            if estimate is None or estimate.concurrency is None or line is None or value is None:
                continue
            if line.x[0] <= estimate.concurrency <= line.x[-1]:
                marks.append(Mark(part.key, part.slot, estimate.concurrency, value.value, part.hollow))
        return tuple(marks)

    def in_closed_loop(self) -> bool:
        """Whether the scenario's load is what the curves show."""
        load = self._load()
        return load is None or load.kind is LoadKind.CONCURRENCY

    def _limit(self) -> Limit | None:
        load = self._load()
        if load is None or load.kind is not LoadKind.LIMITS or self.figure not in ("ttft_ms", "tpot_ms"):
            return None
        value: float | None = getattr(load, self.figure)
        if value is None:
            return None
        number = self.formatter.estimate(value)
        if load.limit == "mean":
            return Limit(value, tr("limit {n} ms, mean", n=number))
        return Limit(value, tr("limit {n} ms, p99", n=number))

    def _why_empty(self) -> str:
        if any(part.column.estimate is not None for part in parts(self.desk.answer)):
            return tr("None of them fits, so there is no curve")
        return tr("None of them can be estimated, so there is no curve")

    # Reading off

    def _at_this_load(self) -> ReadOut | None:
        load = self._load()
        if load is None:
            return None
        pinned = self._pinned
        reads = []
        for part in fitting(self.desk.answer):
            value, estimate = part.figure(self.figure), part.column.estimate
            reading = None if value is None else Reading(*value)
            at = estimate.concurrency if estimate is not None else None
            ghost = pinned[part.key].at(at) if at is not None and part.key in pinned else None
            reads.append(_Read(part, reading, "", ghost))
        return self._read_out(self._place_text(load), reads)

    def _place_text(self, load: Load) -> str:
        if load.kind is LoadKind.CONCURRENCY:
            return tr("At {n} in flight", n=self.formatter.count(load.concurrency))
        words = load_text(load, self.formatter)
        return words[:1].upper() + words[1:]

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read all curves at a number of requests."""
        count = max(1, round(x))
        pinned, by_key = self._pinned, {line.key: line for line in self.drawing.lines}
        reads = []
        for part in fitting(self.desk.answer):
            line = by_key.get(part.key)
            if line is None:
                continue
            ghost = pinned[part.key].at(count) if part.key in pinned else None
            instead = tr("full at {n}", n=self.formatter.count(line.x[-1])) if count > line.x[-1] else ""
            reads.append(_Read(part, line.at(count), instead, ghost))
        read_out = self._read_out(tr("At {n} in flight", n=self.formatter.count(count)), reads)
        return None if read_out is None else (float(count), read_out)

    def _read_out(self, title: str, reads: list[_Read]) -> ReadOut | None:
        """Put what is read in order, the best first; with a pinned answer the difference from it."""
        if not reads:
            return None
        sign = -1.0 if HIGHER_IS_BETTER[self.figure] else 1.0
        reads.sort(
            key=lambda read: (read.reading is None, sign * (read.reading.value if read.reading else 0))
        )
        heads: tuple[str, ...] = (str(FIGURE_UNITS[self.figure]), tr("band"))
        if self.desk.ghost is not None:
            heads = (*heads, tr("to pinned"))
        rows = tuple(
            ReadOutRow(
                read.part.key,
                read.part.slot,
                read.part.hollow,
                read.part.name,
                self._cells(read)[: len(heads)],
            )
            for read in reads
        )
        return ReadOut(title, heads, rows)

    def _cells(self, read: _Read) -> tuple[str, ...]:
        if read.reading is None:
            return (UNKNOWN, read.instead, "")
        value, low, high = read.reading.value, read.reading.low, read.reading.high
        against = UNKNOWN if read.pinned is None else self.formatter.difference(value / read.pinned.value)
        return (self.formatter.estimate(value), self.formatter.interval(low, high), against)

    # The working line

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return the next number of requests: a twentieth more or less, or (far) the next power of two."""
        return float(next_count(round(value), forward=forward, far=far))

    def move_rule(self, value: float) -> None:
        """Set the scenario's concurrency; all that one drag or one held key does is one step."""
        scenario = self._with_concurrency(max(1, round(value)))
        gesture = None if self._dragging else f"concurrency by key {self._key_steps}"
        self.desk.apply(scenario, tr("Change of concurrency"), gesture)

    def _with_concurrency(self, count: int) -> Scenario:
        if self.desk.scenario.workload.load.kind is not LoadKind.CONCURRENCY:
            return self.desk.scenario
        return with_load_value(self.desk.scenario, count)

    def _drag(self, value: float) -> None:
        if self._dragging:
            self.move_rule(value)

    def _grab(self) -> None:
        self._dragging = True
        self.desk.begin_gesture("concurrency")

    def _release(self) -> None:
        self._key_steps += 1
        if self._dragging:
            self._dragging = False
            self.desk.end_gesture()

    # In words and numbers

    def summary(self) -> str:
        """Say for each accelerator where it stands now and where its curve ends."""
        unit = FIGURE_UNITS[self.figure]
        said = [tr("{figure} against requests in flight.", figure=figure_label(self.figure))]
        by_key = {line.key: line for line in self.drawing.lines}
        for part in parts(self.desk.answer):
            line = by_key.get(part.key)
            if line is None:
                said.append(tr("{name}: no curve.", name=part.name))
                continue
            said.append(
                tr(
                    "{name}: {now} {unit} at this load; {end}, with {last} {unit}.",
                    name=part.name,
                    now=self.formatter.banded(part.figure(self.figure)),
                    unit=unit,
                    end=line.end,
                    last=self.formatter.estimate(float(line.y[-1])),
                )
            )
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return every point of every curve with its band and limiter."""
        unit = FIGURE_UNITS[self.figure]
        heads = (
            tr("Accelerator"),
            tr("Limiter"),
            tr("Requests in flight"),
            f"{figure_label(self.figure)}, {unit}",
            tr("Low"),
            tr("High"),
        )
        rows = []
        for part in fitting(self.desk.answer):
            curve = part.column.curve
            if curve is None:
                continue
            for count, banded, limiter in zip(
                curve.concurrency, getattr(curve, self.figure), curve.limiter, strict=True
            ):
                figures = (formatter.estimate(value) for value in banded)
                rows.append((part.name, limiter_label(limiter), formatter.count(count), *figures))
        title = tr("{figure} against requests in flight", figure=figure_label(self.figure))
        return Data(title, heads, tuple(rows), 2)


def next_count(count: int, *, forward: bool, far: bool) -> int:
    """Return the next number of requests of the keyboard; `far` goes to the next power of two."""
    if far:
        power = 1 << (count.bit_length() - 1)
        if forward:
            return power * 2
        return max(1, power if power < count else power // 2)
    by = max(1, round(count * _STEP))
    return max(1, count + by if forward else count - by)
