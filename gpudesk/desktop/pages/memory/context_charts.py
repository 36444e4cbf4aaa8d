"""KV cache against context length: what one request takes, and how many of them each deployment holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, Mark, ReadOut, ReadOutRow, Rule
from gpudesk.desktop.charts.lines import Line
from gpudesk.desktop.charts.scales import Counts
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.answers import Answer
from gpudesk.domain.charts import KvCurve
from gpudesk.domain.formatting import MACHINE, UNKNOWN, Formatter
from gpudesk.domain.units import GIB, MIB
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr

#: Decimals of GiB in tables for programs.
_MACHINE_DECIMALS: Final = 6
#: From this many bytes at the shortest length on the axis is in GiB.
_LEAST_IN_GIB: Final = GIB // 8


@dataclass(frozen=True, slots=True)
class Doublings(Counts):
    """Powers of two, those below one included: quantities that double with the context."""

    def fitted(self, low: float, high: float, most: int) -> tuple[float, float]:
        """Return the powers of two around."""
        del most
        return (2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high)))


@dataclass(frozen=True, slots=True)
class Curved:
    """A column with its cache against context length."""

    part: Part
    curve: KvCurve


class ContextCurves:
    """The curves of the desk's answer, found once for both charts."""

    def __init__(self, desk: Desk) -> None:
        """Find nothing yet."""
        self._desk = desk
        self._answer: Answer | None = None
        self._found: tuple[Curved, ...] = ()

    def found(self) -> tuple[Curved, ...]:
        """Return the columns that have an estimate with their curves, whether they fit or not."""
        if self._answer is not self._desk.answer:
            self._answer = self._desk.answer
            workbench = self._desk.workbench
            self._found = tuple(
                Curved(part, workbench.kv_against_context(part.column.estimate))
                for part in parts(self._answer)
                if part.column.estimate is not None
            )
        return self._found


class _ContextChart(Chart):
    """A chart against context length, with the length of the scenario's requests as a line to read at."""

    def __init__(
        self, desk: Desk, theme: Theme, contexts: ContextCurves, parent: QWidget | None = None
    ) -> None:
        """Draw what `contexts` finds."""
        super().__init__(desk, theme, (Counts(), Doublings()), parent)
        self._contexts = contexts

    def margins(self) -> QMarginsF:
        """Leave room at the right for the names."""
        px = self.theme.px
        return QMarginsF(px(48), self.head_height() + px(8), px(112), px(44))

    # What subclasses say

    def curve_lines(self, found: tuple[Curved, ...]) -> tuple[Line, ...]:
        """Return the lines to be drawn."""
        raise NotImplementedError

    def rows_at(self, tokens: int) -> tuple[ReadOutRow, ...]:
        """Return what is read off at one of the lengths."""
        raise NotImplementedError

    def heads(self) -> tuple[str, ...]:
        """Return what the cells of a read-out are called."""
        raise NotImplementedError

    def why_empty(self) -> str:
        """Return what is said where there is no line."""
        raise NotImplementedError

    # The drawing

    def make_drawing(self) -> Drawing:
        """Draw the lines, with the length of the scenario's requests as a line across them."""
        found = self._contexts.found()
        self.x_title = tr("tokens of context")
        lines = self.curve_lines(found)
        tokens = found[0].curve.tokens if found else 0
        rule = Rule(float(tokens), self.formatter.count(tokens), movable=False) if lines else None
        return Drawing(
            lines=lines,
            marks=_marks(lines, tokens),
            rule=rule,
            note="" if lines or self.desk.answer is None else self.why_empty(),
        )

    def _lengths(self) -> tuple[int, ...]:
        found = self._contexts.found()
        return found[0].curve.context if found else ()

    def _read_out(self, tokens: int) -> ReadOut:
        title = tr("At {n} tokens", n=self.formatter.count(tokens))
        return ReadOut(title, self.heads(), self.rows_at(tokens))

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Read at the nearest of the lengths that were worked out."""
        lengths = self._lengths()
        if not lengths:
            return None
        nearest = min(lengths, key=lambda length: abs(np.log(length / max(x, 1.0))))
        return float(nearest), self._read_out(nearest)

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return the next length that was worked out; there are few, so far steps are no longer."""
        del far
        beyond = [length for length in self._lengths() if (length > value if forward else length < value)]
        if not beyond:
            return None
        return float(min(beyond) if forward else max(beyond))


class RequestCacheChart(_ContextChart):
    """KV cache of one request, in GiB or, where that would give long fractions, in MiB."""

    _unit: int = GIB
    _unit_name = ""

    def curve_lines(self, found: tuple[Curved, ...]) -> tuple[Line, ...]:
        """Return one line where all columns keep the cache alike, else one for each."""
        answer = self.desk.answer
        self.title = tr("KV cache of one request")
        if answer is None or not found:
            return ()
        smallest = min(min(each.curve.sequence_bytes) for each in found)
        self._unit, self._unit_name = (GIB, tr("GiB")) if smallest >= _LEAST_IN_GIB else (MIB, tr("MiB"))
        self.subtitle = tr(
            "{unit}, {model}, cache in {kv}",
            unit=self._unit_name,
            model=answer.model.name,
            kv=precision_name(answer.scenario.kv),
        )
        if self._alike(found):
            return (self._line("", answer.model.name, 0, False, found[0].curve),)
        return tuple(
            self._line(each.part.key, each.part.name, each.part.slot, each.part.hollow, each.curve)
            for each in found
        )

    @staticmethod
    def _alike(found: tuple[Curved, ...]) -> bool:
        return len({each.curve.sequence_bytes for each in found}) == 1

    def _line(self, key: str, name: str, slot: int, hollow: bool, curve: KvCurve) -> Line:
        x, y = np.array(curve.context, dtype=np.float64), np.array(curve.sequence_bytes) / self._unit
        known = y > 0
        size, tokens = self.formatter.estimate(y[-1]), self.formatter.count(x[-1])
        end = tr("{size} {unit} at {n}", size=size, unit=self._unit_name, n=tokens)
        return Line(
            key, name, slot, hollow, x[known], y[known], end=end, capped=curve.max_context is not None
        )

    def heads(self) -> tuple[str, ...]:
        """Return what the cells of a read-out are called."""
        return (self._unit_name, tr("on the fullest"))

    def rows_at(self, tokens: int) -> tuple[ReadOutRow, ...]:
        """Return the cache of a request in each column, and what lies on the fullest accelerator."""
        return tuple(
            ReadOutRow(
                each.part.key,
                each.part.slot,
                each.part.hollow,
                each.part.name,
                (
                    self.formatter.estimate(_at(each.curve, each.curve.sequence_bytes, tokens) / self._unit),
                    self.formatter.estimate(_at(each.curve, each.curve.fullest_bytes, tokens) / self._unit),
                ),
            )
            for each in self._contexts.found()
        )

    def why_empty(self) -> str:
        """Return what is said where there is no line."""
        return tr("None of them can be estimated, so there is no curve")

    def summary(self) -> str:
        """Say what a request takes at the scenario's length and at the longest."""
        found = self._contexts.found()
        if not found:
            return self.why_empty()
        curve = found[0].curve
        said = [tr("KV cache of one request against its tokens.")]
        for tokens in dict.fromkeys((curve.tokens, curve.context[-1])):
            if tokens in curve.context:
                size = self.formatter.memory(_at(curve, curve.sequence_bytes, tokens))
                said.append(tr("{n} tokens: {size}.", n=self.formatter.count(tokens), size=size))
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return the cache at each length, whole and on the fullest accelerator of each column."""
        found = self._contexts.found()
        heads = (
            tr("Tokens"),
            tr("One request, GiB"),
            *(tr("{name}, on the fullest, GiB", name=each.part.name) for each in found),
        )
        rows = tuple(
            (
                formatter.count(tokens),
                _gib(found[0].curve.sequence_bytes[number], formatter),
                *(_gib(each.curve.fullest_bytes[number], formatter) for each in found),
            )
            for number, tokens in enumerate(self._lengths())
        )
        return Data(self.title, heads, rows, 0)


class HeldChart(_ContextChart):
    """The most requests in flight."""

    figure = "max_concurrency"

    def curve_lines(self, found: tuple[Curved, ...]) -> tuple[Line, ...]:
        """Return a line for each column that holds a request, as far as it holds one."""
        self.title = tr("Most requests in flight")
        self.subtitle = tr("on the whole deployment, all of that length")
        lines = (self._line(each) for each in found)
        return tuple(line for line in lines if line is not None)

    def _line(self, each: Curved) -> Line | None:
        held = np.array(each.curve.max_concurrency, dtype=np.float64)
        known = held >= 1
        if not known.any():
            return None
        x = np.array(each.curve.context, dtype=np.float64)[known]
        part, count = each.part, self.formatter.count
        if known.all():
            end = tr("{n} at {tokens}", n=count(held[-1]), tokens=count(x[-1]))
        else:
            end = tr("none at {tokens}", tokens=count(each.curve.context[len(x)]))
        return Line(part.key, part.name, part.slot, part.hollow, x, held[known], end=end, capped=True)

    def heads(self) -> tuple[str, ...]:
        """Return what the cells of a read-out are called."""
        return (tr("in flight"), "")

    def rows_at(self, tokens: int) -> tuple[ReadOutRow, ...]:
        """Return how many requests of a length each column holds, the most first."""
        held = [
            (_at(each.curve, each.curve.max_concurrency, tokens), each.part)
            for each in self._contexts.found()
        ]
        held.sort(key=lambda pair: -pair[0])
        return tuple(
            ReadOutRow(part.key, part.slot, part.hollow, part.name, self._cells(count))
            for count, part in held
        )

    def _cells(self, count: int) -> tuple[str, str]:
        return (self.formatter.count(count), "") if count else (UNKNOWN, tr("does not fit"))

    def why_empty(self) -> str:
        """Return what is said where there is no line."""
        if self._contexts.found():
            return tr("None of them fits, so none holds a request")
        return tr("None of them can be estimated, so there is no curve")

    def summary(self) -> str:
        """Say how many requests each column holds at the scenario's length and at the longest."""
        said = [tr("Most requests in flight against their tokens.")]
        for each in self._contexts.found():
            curve = each.curve
            places = [
                tokens
                for tokens in dict.fromkeys((curve.tokens, curve.context[-1]))
                if tokens in curve.context
            ]
            counts = ", ".join(
                tr(
                    "{count} of {n} tokens",
                    count=self.formatter.count(_at(curve, curve.max_concurrency, tokens)),
                    n=self.formatter.count(tokens),
                )
                for tokens in places
            )
            said.append(f"{each.part.name}: {counts}.")
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return how many requests of each length every column holds."""
        found = self._contexts.found()
        heads = (tr("Tokens"), *(each.part.name for each in found))
        rows = tuple(
            (
                formatter.count(tokens),
                *(formatter.count(each.curve.max_concurrency[number]) for each in found),
            )
            for number, tokens in enumerate(self._lengths())
        )
        return Data(self.title, heads, rows, 0)


def _at(curve: KvCurve, values: tuple[int, ...], tokens: int) -> int:
    return values[curve.context.index(tokens)]


def _gib(size: int, formatter: Formatter) -> str:
    if formatter.style is MACHINE:
        return formatter.number(size / GIB, _MACHINE_DECIMALS)
    return formatter.estimate(size / GIB) if size else UNKNOWN


def _marks(lines: tuple[Line, ...], tokens: int) -> tuple[Mark, ...]:
    """Return a circle on each line at the length of the scenario's requests."""
    marks = []
    for line in lines:
        found = line.y[line.x == tokens]
        if len(found):
            marks.append(Mark(line.key, line.slot, float(tokens), float(found[0]), line.hollow))
    return tuple(marks)
