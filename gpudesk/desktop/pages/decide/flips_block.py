"""What would change the answer: the nearest changes of one input each, looked for in the background."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.flips_box import FlipBox, ShownFlip
from gpudesk.desktop.pages.decide.result_parts import Look
from gpudesk.desktop.session.deciding import with_answer
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.answers import Answer
from gpudesk.domain.decisions import Flip, Verdict
from gpudesk.domain.messages import InputError
from gpudesk.domain.questions import QUESTIONS
from gpudesk.domain.ranges import Range
from gpudesk.domain.scenarios import Scenario
from gpudesk.sentences import sentence
from gpudesk.sheets.decision_words import flip_text
from gpudesk.text import tr

#: Boxes that are shown at first, and lengths of the design.
_FEW: Final = 3
_LEAST_BOX: Final = 208.0
_GAP: Final = 12.0


def with_flip(scenario: Scenario, flip: Flip) -> Scenario:
    """Return the scenario with the change of a flip: an answer, or what is stated of a cost."""
    if flip.input in QUESTIONS:
        return with_answer(scenario, flip.input, flip.after)
    part, _, name = flip.input.rpartition(".")
    costs = scenario.costs.with_input(name, Range.exactly(float(flip.after)), part)
    return replace(scenario, costs=costs)


class FlipsBlock(QWidget):
    """Boxes of changes, the nearest first; those of a former answer cannot be pressed any more."""

    #: Other changes are shown, or none any more.
    changed = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Look for nothing yet."""
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._found: Decided | None = None
        self._asked: Answer | None = None
        self._all = False
        self.flips: tuple[Flip, ...] | None = None
        self.boxes: list[FlipBox] = []
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self._tell)
        self.title = Label(theme, font="section", parent=self)
        self.said = Label(theme, font="small", colour="text3", parent=self)
        self.more = LinkButton(theme, tr("Show all"), parent=self)
        self.more.hide()
        self.more.clicked.connect(self._toggle)
        head = QHBoxLayout()
        head.setSpacing(theme.px(10))
        head.addWidget(self.title)
        head.addWidget(self.said, 1)
        head.addWidget(self.more)
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.px(_GAP))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(8))
        whole.addLayout(head)
        whole.addLayout(self._grid)
        desk.gesture_changed.connect(self._gesture_changed)
        theme.changed.connect(self._arrange)

    @property
    def busy(self) -> bool:
        """Whether changes are being looked for."""
        return self._jobs.running

    # Looking

    def show_decision(self, found: Decided) -> None:
        """Look for what would change a decision, unless that is known or being looked for."""
        self._found = found
        none = found.decision.verdict is Verdict.NONE_FITS
        self.title.setText(tr("What would help") if none else tr("What would change it"))
        self._look()

    def _look(self) -> None:
        found = self._found
        if found is None or found.answer is self._asked:
            return
        self.flips, self._asked = None, None
        self._jobs.cancel()
        for box in self.boxes:
            box.setEnabled(False)
        if self._desk.in_gesture or not self.isVisible():
            return
        self._asked = asked = found.answer
        self.said.setText("")
        steps = self._desk.workbench.flip_steps(asked)
        self._jobs.start("flips", steps, partial(self._done, asked), self._failed)

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self._look()

    def _done(self, asked: Answer, flips: tuple[Flip, ...]) -> None:
        if asked is not self._asked or self._found is None:
            return
        self.flips = flips
        self._all = False
        self._show()

    def _failed(self, error: InputError) -> None:
        self.said.setText(sentence(error.problem, self._desk.formatter))

    def _tell(self, text: str, can_stop: bool) -> None:
        """Say how far it is; what is said of the result stays."""
        del can_stop
        if text or self.flips is None:
            self.said.setText(text)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look now that somebody sees it."""
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Look for nothing that nobody sees."""
        super().hideEvent(event)
        if self._jobs.running:
            self._jobs.stop()
            self._asked = None

    # Showing

    def shown_flips(self) -> tuple[ShownFlip, ...]:
        """Return all changes in words."""
        found = self._found
        if found is None or self.flips is None:
            return ()
        return tuple(
            ShownFlip(
                flip,
                *flip_text(flip, found.decision, found.names, found.formatter),
                tuple(Look(found.slots[key], found.hollow[key]) for key in flip.becomes),
            )
            for flip in self.flips
        )

    def _show(self) -> None:
        for box in self.boxes:
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        shown = self.shown_flips()
        self.boxes = [FlipBox(self._theme, each, self) for each in (shown if self._all else shown[:_FEW])]
        for box in self.boxes:
            box.clicked.connect(partial(self.apply, box.shown))
        self.said.setText(self._summary(len(shown)))
        self.more.setVisible(len(shown) > _FEW)
        every = tr("Show all ({n})", n=self._desk.formatter.count(len(shown)))
        self.more.setText(tr("Show fewer") if self._all else every)
        self.more.setAccessibleName(self.more.text())
        self._arrange()
        self.changed.emit()

    def _summary(self, count: int) -> str:
        if count:
            return tr("smallest change of one thing, nearest first; a click makes it")
        if self._found is not None and self._found.decision.verdict is Verdict.NONE_FITS:
            return tr("no change of one thing lets an accelerator in; compare others")
        return tr("no change of one thing changes who leads")

    def _toggle(self) -> None:
        self._all = not self._all
        self._show()

    def _arrange(self) -> None:
        """Set the boxes in as many columns as have room, up to three."""
        if not self.boxes:
            return
        gap = self._theme.px(_GAP)
        count = min(max(1, (self.width() + gap) // (self._theme.px(_LEAST_BOX) + gap)), _FEW)
        width = (self.width() - (count - 1) * gap) // count
        lines = max(box.lines_in(width) for box in self.boxes)
        for number, box in enumerate(self.boxes):
            box.set_lines(lines)
            self._grid.removeWidget(box)
            self._grid.addWidget(box, number // count, number % count)
            box.show()
        for column in range(_FEW):
            self._grid.setColumnStretch(column, 1 if column < count else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set the boxes anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    # Making a change

    def apply(self, shown: ShownFlip, checked: bool = False) -> None:
        """Make a change as one step, which can be undone."""
        del checked
        scenario = with_flip(self._desk.scenario, shown.flip)
        self._desk.apply(scenario, shown.change)
