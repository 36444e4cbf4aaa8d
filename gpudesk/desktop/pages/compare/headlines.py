"""The strip of headline answers: which accelerator leads at what."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, PaintedButton, PaintedWidget, TextMeasure, ThemePainter
from gpudesk.report.comparison.table import describe_headline
from gpudesk.report.comparison.tables import Headline, HeadlineLeader
from gpudesk.text.translation import tr

_MARGIN: Final = 16.0
_GAP: Final = 8.0
_NAME_GAP: Final = 5.0
_GLYPH: Final = 14.0
#: Space above and below the lines.
_PAD: Final = 10.0
#: The bar of odds, and the space above it.
_BAR: Final = 5.0
_ABOVE_BAR: Final = 4.0
#: With at least this many leaders, swatches are left out.
_MANY: Final = 4
#: Left out in narrow windows; the table has it too.
_EXPENDABLE: Final = ("tpot_ms", "ttft_ms")


class LeaderDetail(IntEnum):
    """The level of detail of the leaders."""

    NOTHING = 0
    SWATCHES = 1
    NAMES = 2


class HeadlineBox(PaintedButton):
    """One answer; pressing it selects the figure of the first leader."""

    def __init__(self, measure: TextMeasure, parent: QWidget) -> None:
        super().__init__(measure.theme, parent)
        self._measure = measure
        self.answer: Headline | None = None
        self.naming = LeaderDetail.NAMES
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def figure(self) -> str:
        return "" if self.answer is None else self.answer.figure

    @property
    def leaders(self) -> int:
        return 0 if self.answer is None else len(self.answer.leaders)

    def show_answer(self, answer: Headline) -> None:
        if answer != self.answer:
            self.answer = answer
            sentence = describe_headline(answer)
            self.setAccessibleName(sentence)
            self.setToolTip(sentence)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self.needed()), self.height())

    def needed(self) -> float:
        """Return the width of the answer with the current detail of its leaders."""
        answer, theme = self.answer, self._theme
        if answer is None:
            return 0.0
        first = self._measure_text("small", answer.label)
        for leader in answer.leaders if self.naming > LeaderDetail.NOTHING else ():
            first += theme.length(_GAP + SWATCH_WIDTH)
            if self.naming is LeaderDetail.NAMES:
                first += theme.length(_NAME_GAP) + self._measure_text("label", leader.name)
        second = (
            self._measure_text("headline", answer.text) + theme.length(_GAP) + self._measure_text("small", answer.unit)
        )
        third = self._measure_text("small", answer.detail) + (theme.length(_GLYPH) if answer.is_open else 0)
        fourth = self._measure_text("small", answer.unranked.brief)
        return max(first, second, third, fourth) + theme.length(_GAP)

    def _measure_text(self, font: str, text: str) -> float:
        return self._measure.width(text, font)

    def paint(self, pen: ThemePainter) -> None:
        """Draw the three lines, and a fourth if an unranked accelerator would lead."""
        if self.answer is not None:
            answer = self.answer
            theme = self._theme
            right = float(self.width())
            small, large = theme.line("small"), theme.line("headline")
            top = theme.length(_PAD)
            color = "link" if self.underMouse() else "text2"
            x = pen.text(QRectF(0, top, right, small), answer.label, font="small", color=color)
            for leader in answer.leaders if self.naming > LeaderDetail.NOTHING else ():
                x = self._draw_leader(pen, leader, x + theme.length(_GAP), top + small / 2, right)
            baseline = top + small + large / 2 + pen.metrics("headline").capHeight() / 2
            figure = pen.text(QPointF(0, baseline), answer.text, font="headline")
            pen.text(QPointF(figure + theme.length(_GAP), baseline), answer.unit, font="small", color="text3")
            third = QRectF(0, top + small + large, right, small)
            if answer.is_open:
                pen.glyph("overlap", theme.length(5), third.center().y(), "text2")
                third.setLeft(theme.length(_GLYPH))
            pen.text(third, answer.detail, font="small", color="text2")
            if answer.odds:
                bar = QRectF(
                    0, self.height() - theme.length(_PAD + _BAR), right - theme.length(_GAP), theme.length(_BAR)
                )
                pen.odds_bar(bar, ((leader.slot, odds) for leader, odds in answer.odds))
            if answer.unranked.text:
                fourth = QRectF(0, top + 2 * small + large, right, small)
                unranked = answer.unranked
                fits = self._measure_text("small", unranked.text) <= right
                pen.text(fourth, unranked.text if fits else unranked.brief, font="small", color="text3")

    def _draw_leader(self, pen: ThemePainter, leader: HeadlineLeader, x: float, level: float, right: float) -> float:
        """Draw a swatch and a name as far as they fit; return the x where they end."""
        theme = self._theme
        if x + theme.length(SWATCH_WIDTH) > right:
            return right
        x += pen.swatch(x, level, leader.slot, is_variant=leader.is_variant)
        room = right - x - theme.length(_NAME_GAP)
        if self.naming is not LeaderDetail.NAMES or room < theme.length(24):
            return x
        rect = QRectF(x + theme.length(_NAME_GAP), level - 12, room, 24)
        return rect.left() + pen.text(rect, leader.name, font="label", color=theme.name_color(leader.slot))


class HeadlineStrip(PaintedWidget):
    """The answers side by side, with dividers, each as wide as necessary."""

    #: Column key and figure name that were pressed.
    chosen = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._texts = TextMeasure(theme)
        self._boxes: list[HeadlineBox] = []
        self._shape: tuple[object, ...] = ()
        self._count = 0
        self._has_unranked = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Summary"))
        theme.follow(self._measure)

    def _measure(self) -> None:
        theme = self._theme
        small = (3 if self._has_unranked else 2) * theme.line("small")
        self.setFixedHeight(small + theme.line("headline") + theme.px(2 * _PAD + _BAR + _ABOVE_BAR))
        self._place()
        self.update()

    def show_answers(self, answers: Sequence[Headline], *, steady: bool = False) -> None:
        """Show answers. `steady` keeps sufficient widths, so that nothing moves during a drag."""
        while len(self._boxes) < len(answers):
            box = HeadlineBox(self._texts, self)
            box.clicked.connect(lambda _=False, box=box: self._pressed(box))
            # Built after the table, but read before it.
            QWidget.setTabOrder(self._boxes[-1] if self._boxes else self, box)
            self._boxes.append(box)
        for number, box in enumerate(self._boxes):
            if number < len(answers):
                box.show_answer(answers[number])
        self._count = len(answers)
        has_unranked = any(answer.unranked.text for answer in answers)
        if has_unranked != self._has_unranked:
            self._has_unranked = has_unranked
            self._measure()
        shape = tuple((answer.figure, len(answer.leaders)) for answer in answers)
        fits = all(box.needed() <= box.width() for box in self._list_visible_boxes())
        if steady and fits and shape == self._shape:
            return
        self._shape = shape
        self._place()

    def _pressed(self, box: HeadlineBox) -> None:
        answer = box.answer
        if answer is not None and answer.leaders:
            self.chosen.emit(answer.leaders[0].key, answer.figure)

    def _list_visible_boxes(self) -> list[HeadlineBox]:
        return [box for box in self._boxes if not box.isHidden()]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Give each answer its width; if space is short, the longest lists of leaders shrink."""
        boxes = self._boxes[: self._count]
        if not boxes:
            return
        boxes = self._fit_boxes(boxes)
        for box in self._boxes:
            box.setVisible(box in boxes)
        self._share(boxes, self.width() - self._theme.px(_MARGIN) * (1 + len(boxes)))

    def _fit_boxes(self, boxes: list[HeadlineBox]) -> list[HeadlineBox]:
        """Remove names, then swatches, then whole answers until they fit; return the rest."""
        for box in boxes:
            box.naming = LeaderDetail.NAMES
        # The longest lists first, on ties the less important at the right.
        crowded = sorted(boxes, key=lambda box: (-box.leaders, -boxes.index(box)))
        for naming, least in ((LeaderDetail.SWATCHES, 1), (LeaderDetail.NOTHING, _MANY)):
            for box in crowded:
                if self._is_over(boxes) and box.leaders >= least:
                    box.naming = naming
        for figure in _EXPENDABLE:
            if self._is_over(boxes):
                boxes = [box for box in boxes if box.figure != figure]
        for box in reversed(crowded):
            # Remaining space goes first to answers with a single leader.
            former_naming, box.naming = box.naming, LeaderDetail.NAMES
            if self._is_over(boxes):
                box.naming = former_naming
        return boxes

    def _is_over(self, boxes: Sequence[HeadlineBox]) -> bool:
        margin = self._theme.px(_MARGIN)
        return sum(box.needed() + margin for box in boxes) + margin > self.width()

    def _share(self, boxes: Sequence[HeadlineBox], room: int) -> None:
        margin = self._theme.px(_MARGIN)
        needs = [box.needed() for box in boxes]
        total = sum(needs) or 1.0
        spare = max(0.0, room - total) / len(boxes)
        shrink = min(1.0, room / total)
        x = margin
        for box, need in zip(boxes, needs, strict=True):
            width = int(need * shrink + spare)
            box.setGeometry(x, 0, width, self.height())
            x += width + margin
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("page"))
        for box in self._list_visible_boxes()[1:]:
            x = box.x() - self._theme.px(_MARGIN / 2 + 3)
            pen.hairline(x, self._theme.px(12), x, self.height() - self._theme.px(12))
        pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)
