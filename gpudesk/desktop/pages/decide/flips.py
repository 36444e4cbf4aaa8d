"""Changes that would alter the recommendation, or let a deployment meet every limit; a click applies one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple, TypeVar

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from gpudesk.desktop.pages.decide.parts import SearchBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import (
    add_accelerator,
    free_counts,
    replace_accelerator,
    replace_answer,
    replace_count,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.layouts import make_column, make_row
from gpudesk.domain.answer import MAX_ACCELERATORS, Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import (
    COUNTED_WHOLE,
    QUESTIONS,
    SYSTEMS_COUNTED,
    DecisionFlip,
    DecisionVerdict,
    WayOut,
    WayOutKind,
)
from gpudesk.domain.progress import ProgressSteps
from gpudesk.report.decision.no_recommendation import describe_way_out
from gpudesk.report.decision.recommendation import describe_flip
from gpudesk.text.translation import tr

_PAD: Final = 14.0
_ABOVE: Final = 9.0
_ICON: Final = 14.0
_MOST_LINES: Final = 2


class ChangeText(NamedTuple):
    """A change in words, with the scenario after it, and the look of the new leader."""

    after: Callable[[Scenario], Scenario]
    change: str
    now: str
    becomes: str
    leaders: tuple[AcceleratorColumn, ...]

    @property
    def sentence(self) -> str:
        return tr("{change} ({now}); result: {becomes}", change=self.change, now=self.now, becomes=self.becomes)


class ChangeBox(PaintedButton):
    """A button as large as its three lines; the change takes two lines if necessary."""

    def __init__(self, theme: Theme, change: ChangeText, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.change_text = change
        self._lines = 1
        self.setText(change.change)
        self.setAccessibleName(change.sentence)
        self.setAccessibleDescription(tr("Applies this change. You can undo it."))
        self.setToolTip(tr("{sentence}. Click to apply this change.", sentence=change.sentence))
        self.setProperty("ringRadius", 8.0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def count_change_lines(self, width: int) -> int:
        """Return the number of lines of the change in a box of a width, at most two."""
        metrics = QFontMetricsF(self._theme.font("body_strong"))
        room = width - 2 * self._theme.px(_PAD)
        return 1 if metrics.horizontalAdvance(self.change_text.change) <= room else _MOST_LINES

    def set_lines(self, lines: int) -> None:
        self._lines = lines
        self._dress()

    def _dress(self) -> None:
        line, px = self._theme.line, self._theme.px
        text = self._lines * line("body_strong") + line("small") + line("label") + px(2)
        self.setFixedHeight(text + 2 * px(_ABOVE))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(240), self.height())

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        live = self.isEnabled()
        fill = "selection" if self.isDown() else "hover" if self.underMouse() and live else "page"
        pen.frame(QRectF(self.rect()), "hair", radius=8.0, fill=fill)
        pad, y = theme.px(_PAD), float(theme.px(_ABOVE))
        width, high = self.width() - 2 * pad, theme.line("body_strong")
        for words in pen.lines(self.change_text.change, width, "body_strong", self._lines):
            place = QRectF(pad, y, width, high)
            pen.text(place, words, font="body_strong", color="text1" if live else "text3")
            y += high
        y = float(theme.px(_ABOVE) + self._lines * high)
        pen.text(QRectF(pad, y, width, theme.line("small")), self.change_text.now, font="small", color="text3")
        y += theme.line("small") + theme.px(2)
        self._becomes(pen, QRectF(pad, y, width, theme.line("label")), live=live)

    def _becomes(self, pen: ThemePainter, place: QRectF, *, live: bool) -> None:
        theme, middle = self._theme, place.center().y()
        side = theme.px(_ICON)
        pen.icon("corner-down-right", place.left(), middle - side / 2, side, "text2")
        x = place.left() + side + theme.px(8)
        for column in self.change_text.leaders:
            x += pen.swatch(x, middle, column.palette_index, is_variant=column.is_variant) + theme.px(5)
        rest = QRectF(x, place.top(), max(1.0, place.right() - x), place.height())
        pen.text(rest, self.change_text.becomes, font="label", color="text1" if live else "text3")


#: Number of boxes shown at first, and design lengths.
_FEW_FLIPS: Final = 3
_LEAST_BOX: Final = 208.0
_GAP: Final = 12.0


def apply_flip(scenario: Scenario, flip: DecisionFlip) -> Scenario:
    """Return the scenario with the change of a flip: an answer, a cost input, or the counting of systems."""
    if flip.input in QUESTIONS:
        return replace_answer(scenario, flip.input, flip.after)
    if flip.input == SYSTEMS_COUNTED:
        costs = replace(scenario.costs, single_accelerators=flip.after != COUNTED_WHOLE)
        return replace(scenario, costs=costs)
    part, _, name = flip.input.rpartition(".")
    costs = scenario.costs.with_input(name, UncertainValue.exactly(float(flip.after)), part)
    return replace(scenario, costs=costs)


def apply_way_out(scenario: Scenario, way: WayOut) -> Scenario:
    """Return the scenario in which a deployment meets every limit.

    That has another budget, is rented, or has its accelerator, count, format and prompts. With more accelerators, every
    one gets as many as it needs: eight of one compared with one of another are unequal.
    """
    if way.kind is WayOutKind.RENT:
        return replace_answer(scenario, "acquisition", "rent")
    if way.budget_usd is not None:
        return replace_answer(scenario, "budget_usd", way.budget_usd)
    if way.kind is WayOutKind.COUNT:
        return replace_answer(free_counts(scenario), "shape", None)
    request, count = way.estimate.request, way.estimate.count
    changed = replace(
        scenario,
        weights=request.weights,
        workload=replace(scenario.workload, input_tokens=request.workload.input_tokens),
    )
    parts = [each.accelerator for each in changed.accelerators]
    if request.accelerator in parts:
        changed = replace_count(changed, parts.index(request.accelerator), count)
    elif len(parts) < MAX_ACCELERATORS:
        changed = add_accelerator(changed, request.accelerator, count)
    else:
        changed = replace_accelerator(changed, len(parts) - 1, request.accelerator)
        changed = replace_count(changed, len(parts) - 1, count)
    return replace_answer(changed, "precision", None) if way.kind is WayOutKind.WEIGHTS else changed


class ChangeGrid(QWidget):
    """Boxes of changes side by side, as many as fit; a click applies a change as one step."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self.boxes: list[ChangeBox] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.px(_GAP))
        theme.changed.connect(self._arrange)

    def show_changes(self, changes: Sequence[ChangeText]) -> None:
        for box in self.boxes:
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.boxes = [ChangeBox(self._theme, each, self) for each in changes]
        for box in self.boxes:
            box.clicked.connect(partial(self.apply, box.change_text))
        self._arrange()

    def _arrange(self) -> None:
        if not self.boxes:
            return
        gap = self._theme.px(_GAP)
        count = min(max(1, (self.width() + gap) // (self._theme.px(_LEAST_BOX) + gap)), _FEW_FLIPS)
        width = (self.width() - (count - 1) * gap) // count
        lines = max(box.count_change_lines(width) for box in self.boxes)
        for number, box in enumerate(self.boxes):
            box.set_lines(lines)
            self._grid.removeWidget(box)
            self._grid.addWidget(box, number // count, number % count)
            box.show()
        for column in range(_FEW_FLIPS):
            self._grid.setColumnStretch(column, 1 if column < count else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def apply(self, change: ChangeText, checked: bool = False) -> None:
        """Apply a change as one step, which can be undone."""
        del checked
        self._desk.apply(change.after(self._desk.scenario), change.change)


ChangeT = TypeVar("ChangeT")


class ChangesBlock(SearchBlock[tuple[ChangeT, ...]]):
    """Boxes of changes; those of a former answer are disabled."""

    def __init__(self, desk: Desk, theme: Theme, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, title, parent)
        self.grid = ChangeGrid(desk, theme, self)
        self.head = make_row(self.title, (self.status_label, 1), gap=theme.px(10))
        make_column(self.head, self.grid, gap=theme.px(8), on=self)

    @property
    def boxes(self) -> list[ChangeBox]:
        return self.grid.boxes

    def dim(self) -> None:
        for box in self.boxes:
            box.setEnabled(False)


class WaysOutBlock(ChangesBlock[WayOut]):
    """Boxes of changes after which something meets every limit."""

    #: The decision whose ways out are now known.
    found = Signal(object)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, tr("Alternatives"), parent)

    def get_result(self, evaluated: EvaluatedAnswer) -> tuple[WayOut, ...] | None:
        return evaluated.ways_out

    def start_search(self, evaluated: EvaluatedAnswer) -> ProgressSteps[tuple[WayOut, ...]]:
        return self.desk.service.way_out_steps(evaluated.answer, evaluated.decision)

    def keep_result(self, evaluated: EvaluatedAnswer, result: tuple[WayOut, ...]) -> None:
        evaluated.keep_ways_out(result)

    def show_result(self, evaluated: EvaluatedAnswer) -> None:
        ways = evaluated.ways_out or ()
        texts = []
        for way in ways:
            title, deployment = describe_way_out(way, evaluated.formatter)
            rate = evaluated.formatter.estimate_with_interval(way.estimate.output_tokens_per_s, "tok/s")
            texts.append(ChangeText(partial(apply_way_out, way=way), title, rate, deployment, ()))
        self.grid.show_changes(texts)
        self.status_label.setText("" if ways else tr("No change of one input meets every limit."))
        self.found.emit(evaluated)


class FlipsBlock(ChangesBlock[DecisionFlip]):
    """Boxes of changes, the nearest first."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent=parent)
        self._all = False
        self.flips: tuple[DecisionFlip, ...] | None = None
        self.more = LinkButton(theme, tr("Show all"), self._toggle, parent=self)
        self.more.hide()
        self.head.addWidget(self.more)

    # Searching

    def get_result(self, evaluated: EvaluatedAnswer) -> tuple[DecisionFlip, ...] | None:
        return evaluated.flips

    def start_search(self, evaluated: EvaluatedAnswer) -> ProgressSteps[tuple[DecisionFlip, ...]]:
        return self.desk.service.find_flips_in_steps(evaluated.answer)

    def keep_result(self, evaluated: EvaluatedAnswer, result: tuple[DecisionFlip, ...]) -> None:
        evaluated.flips = result

    def show_result(self, evaluated: EvaluatedAnswer) -> None:
        self.flips, self._all = evaluated.flips, False
        self._show_boxes()

    def dim(self) -> None:
        none = self._evaluated is not None and self._evaluated.decision.verdict is DecisionVerdict.NONE_FITS
        self.title.setText(tr("Changes that help") if none else tr("Tipping points"))
        self.flips = None
        super().dim()

    # Display

    def list_shown_flips(self) -> tuple[ChangeText, ...]:
        evaluated = self._evaluated
        if evaluated is None or self.flips is None:
            return ()
        return tuple(
            ChangeText(
                partial(apply_flip, flip=flip),
                *describe_flip(flip, evaluated.decision, evaluated.names, evaluated.formatter),
                tuple(evaluated.column(key) for key in flip.becomes),
            )
            for flip in self.flips
        )

    def _show_boxes(self) -> None:
        changes = self.list_shown_flips()
        self.grid.show_changes(changes if self._all else changes[:_FEW_FLIPS])
        self.status_label.setText(self._summarize_flips(len(changes)))
        self.more.setVisible(len(changes) > _FEW_FLIPS)
        every = tr("Show all ({n})", n=self.desk.formatter.count(len(changes)))
        self.more.setText(tr("Show fewer") if self._all else every)

    def _summarize_flips(self, count: int) -> str:
        if count:
            return tr("click to apply")
        if self._evaluated is not None and self._evaluated.decision.verdict is DecisionVerdict.NONE_FITS:
            return tr("changing one answer or price does not help")
        return tr("no single change affects the recommendation")

    def _toggle(self) -> None:
        self._all = not self._all
        self._show_boxes()
