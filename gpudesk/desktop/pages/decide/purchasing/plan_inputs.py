"""Input rows of purchasing plans, and the background job that computes a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat
from gpudesk.domain.progress import ProgressSteps
from gpudesk.domain.sizing import NumberBounds
from gpudesk.text.formatting import MISSING_VALUE_TEXT, NumberStyle
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

_DECIMALS: Final = 4
#: The smallest number above nothing that a field takes.
_LEAST: Final = 0.0001
#: Stands in a field for a value that is not known; typed, it leaves the input to the program.
NO_VALUE: Final = -1.0
_EDIT, _SMALL_EDIT, _UNIT = 92, 52, 74


@dataclass(frozen=True, slots=True)
class PlanNumberFormat(NumberFormat):
    """A number of a plan; a field that is emptied leaves it to the program."""

    def text(self, value: float) -> str:
        return MISSING_VALUE_TEXT if value == NO_VALUE else NumberFormat.text(self, value)

    def parse(self, text: str) -> float:
        return NO_VALUE if text.strip() in ("", "-", MISSING_VALUE_TEXT) else NumberFormat.parse(self, text)


class PlanInputRow(QWidget):
    """A label, numbers and their unit on one line, the origin below; `label` can be changed."""

    #: The place of the number that was typed, and the number; None where the input is left to the program.
    edited = Signal(int, object)

    def __init__(
        self,
        theme: Theme,
        label: str,
        names: Sequence[str],
        bounds: NumberBounds,
        style: NumberStyle,
        parent: QWidget | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """Make a field for each of the `names`, which say what the number in it is."""
        super().__init__(parent)
        self._theme, self._style, self._bounds = theme, style, bounds
        self._decimals = 0 if whole else _DECIMALS
        self._scale = 1.0
        self.label = ThemedLabel(theme, label, wrap=True, parent=self)
        self.edits = tuple(NumberEdit(theme, name, self._format(), self) for name in names)
        for place, edit in enumerate(self.edits):
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.edited.connect(lambda typed, place=place: self._edit(place, typed))
        self.unit = ThemedLabel(theme, font="small", colour="text2", parent=self)
        self.origin = ThemedLabel(theme, font="caption", colour="text3", wrap=True, parent=self)
        self.reset = LinkButton(theme, tr("Take it back"), parent=self)
        self.reset.setAccessibleName(tr("Take back what you stated: {name}", name=label))
        self.reset.clicked.connect(lambda: self.edited.emit(0, None))
        self._lay_out()
        theme.follow(self._dress)

    def _lay_out(self) -> None:
        px = self._theme.px
        numbers = make_row((self.label, 1), *self.edits, self.unit, gap=px(6))
        below = make_row((self.origin, 1), (self.reset, 0, Qt.AlignmentFlag.AlignTop), gap=px(8))
        make_column(numbers, below, gap=px(2), margins=(0, 0, 0, px(5)), on=self)

    def show_values(
        self, values: Sequence[float | None], unit: str, origin: str, *, stated: bool, scale: float = 1.0
    ) -> None:
        """Show the values in force, times `scale`, and where they come from."""
        if scale != self._scale:
            self._scale = scale
            for edit in self.edits:
                edit.set_format(self._format())
        # What somebody stated keeps its digits, what was found has no more than it deserves.
        digits = "{:.9g}" if stated or not self._decimals else "{:.3g}"
        for edit, value in zip(self.edits, values, strict=True):
            edit.set_value(NO_VALUE if value is None else float(digits.format(value * scale)))
            edit.set_fault("")
            edit.setAccessibleDescription(", ".join(part for part in (unit, origin) if part))
        self.unit.setText(unit)
        self.origin.setText(origin)
        self.origin.setVisible(bool(origin))
        self.reset.setVisible(stated)

    def set_fault(self, sentence: str) -> None:
        self.edits[0].set_fault(sentence)

    def _format(self) -> PlanNumberFormat:
        bounds, scale = self._bounds, self._scale
        least = _LEAST if bounds.above else bounds.low * scale
        return PlanNumberFormat(least, bounds.high * scale, self._decimals, self._style)

    def _edit(self, place: int, typed: float) -> None:
        self.edited.emit(place, None if typed == NO_VALUE else typed / self._scale)

    def _dress(self) -> None:
        px = self._theme.px
        for edit in self.edits:
            edit.setFixedWidth(px(_EDIT if len(self.edits) == 1 else _SMALL_EDIT))
        self.unit.setFixedWidth(px(_UNIT))


#: While something is dragged, questions wait until it rests for so long, in milliseconds.
_REST: Final = 120


class PlanComputation(QObject):
    """Works out the answer to the last question; what is asked meanwhile takes its place."""

    #: The answer to the last question.
    found = Signal(object)
    #: The `InputError` that says why there is none.
    failed = Signal(object)
    #: What to say of the work that goes on; empty where it is soon over.
    working = Signal(str)

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._desk = desk
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(lambda text, _can_stop: self.working.emit(text))
        self._asked: tuple[object, ...] = ()
        self._steps: Callable[[], ProgressSteps[Any]] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REST)
        self._timer.timeout.connect(self._start)
        # A thread must not outlive what it belongs to.
        self.destroyed.connect(self._jobs.stop)

    @property
    def running(self) -> bool:
        return self._jobs.running or self._timer.isActive()

    def ask(self, asked: tuple[object, ...], steps: Callable[[], ProgressSteps[Any]]) -> None:
        """Work out what `steps` begin, unless it is what was asked last.

        `asked` tells questions apart: by words and numbers, and by the identity of everything else.
        """
        if len(asked) == len(self._asked) and all(map(_return_same, asked, self._asked)):
            return
        self._asked, self._steps = asked, steps
        if self._desk.in_gesture:
            self._timer.start()
        else:
            self._start()

    def rest(self, *, wait: bool) -> None:
        """Work at nothing while nobody looks; the same question may be asked again.

        With `wait` nothing is left running: the window goes.
        """
        if not self.running:
            return
        self._timer.stop()
        self._asked = ()
        if self._jobs.running:
            (self._jobs.stop if wait else self._jobs.cancel)()

    def _start(self) -> None:
        self._timer.stop()
        if self._steps is not None:
            asked = self._asked
            self._jobs.start("plan", self._steps(), partial(self._done, asked), partial(self._fail, asked))

    def _done(self, asked: tuple[object, ...], answer: object) -> None:
        if asked is self._asked:
            self.found.emit(answer)

    def _fail(self, asked: tuple[object, ...], error: InputError) -> None:
        if asked is self._asked:
            self.failed.emit(error)


def _return_same(one: object, other: object) -> bool:
    return one == other if isinstance(one, str | int) else one is other
