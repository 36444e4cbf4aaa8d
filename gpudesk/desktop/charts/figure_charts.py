"""The charts against concurrency: throughput with its limiters, and the times."""

from __future__ import annotations

from PySide6.QtCore import QMarginsF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.against_concurrency import ConcurrencyChart
from gpudesk.desktop.charts.columns import parts
from gpudesk.desktop.charts.drawing import Drawing
from gpudesk.desktop.charts.scales import Linear, OneTwoFive
from gpudesk.desktop.charts.strips import Strip, StripMaker, paint_rule, paint_strips, strips_height
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr


class ThroughputChart(ConcurrencyChart):
    """Output throughput, with what limits it in strips along the same axis."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Draw output throughput of the whole deployment."""
        super().__init__(desk, theme, "output_tokens_per_s", Linear(), parent)
        self._strips: tuple[Strip, ...] = ()
        self._strip_maker = StripMaker()
        self.title_below = False

    def make_drawing(self) -> Drawing:
        """Draw the curves, and a strip for every column that has an estimate."""
        self.subtitle = (
            tr("tokens per second, whole deployment; band holds the measured value four times in five")
            if self.in_closed_loop()
            else tr("tokens per second in closed loops; band holds the measured value four times in five")
        )
        before, self._strips = self._strips, self._made_strips()
        drawing = super().make_drawing()
        if [(strip.key, strip.name) for strip in before] != [
            (strip.key, strip.name) for strip in self._strips
        ]:
            self.lay_out()
        elif before != self._strips:
            self.ground_changed()
        return drawing

    def _made_strips(self) -> tuple[Strip, ...]:
        shown = (part for part in parts(self.desk.answer) if part.column.estimate is not None)
        return tuple(self._strip_maker.strip(part, exact=not self.desk.in_gesture) for part in shown)

    def foot_height(self) -> float:
        """Leave room for the strips."""
        return strips_height(self, len(self._strips))

    def margins(self) -> QMarginsF:
        """Leave room at the left for names, at the right for those at the curves' ends, below for strips."""
        px = self.theme.px
        names = max((self.lettering.width(strip.name, "small_strong") for strip in self._strips), default=0.0)
        left = min(max(self.y_texts_width(), names + px(10)), px(120))
        return QMarginsF(left, self.head_height() + px(6), px(112), self.foot_height() + px(26))

    def rule_zone(self) -> QRectF:
        """Let the working line be held in the strips too."""
        return super().rule_zone().adjusted(0, 0, 0, self.foot_height())

    def paint_ground(self, painter: QPainter) -> None:
        """Paint the strips with what lies below the curves."""
        super().paint_ground(painter)
        if self.drawing.lines:
            paint_strips(self, painter, self._strips)

    def paint_overlay(self, painter: QPainter) -> None:
        """Lead the working line through the strips, then paint what belongs to the curves."""
        paint_rule(self, painter, len(self._strips) if self.drawing.lines else 0)
        super().paint_overlay(painter)


class LatencyChart(ConcurrencyChart):
    """Time to first token or time per output token."""

    def __init__(self, desk: Desk, theme: Theme, figure: str, parent: QWidget | None = None) -> None:
        """Draw a time in milliseconds."""
        super().__init__(desk, theme, figure, OneTwoFive(), parent)
        self.docked = False
        self.detailed_labels = False

    def make_drawing(self) -> Drawing:
        """Draw the curves of the mean."""
        self.subtitle = (
            tr("milliseconds, mean of all requests")
            if self.in_closed_loop()
            else tr("milliseconds in closed loops, mean")
        )
        return super().make_drawing()

    def margins(self) -> QMarginsF:
        """Leave room at the right for names."""
        px = self.theme.px
        token = "label"
        names = max((self.lettering.width(line.name, token) for line in self.drawing.lines), default=0.0)
        right = max(px(60), names + px(2)) + (px(60) if self.detailed_labels else 0)
        return QMarginsF(self.y_texts_width(), self.head_height() + px(8), min(right, px(160)), px(42))
