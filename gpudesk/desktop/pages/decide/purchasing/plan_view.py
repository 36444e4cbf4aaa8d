"""Views of purchasing plans: their input rows and forms, the job that computes a plan, and its status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.decision.purchasing.plan_inputs import PLAN_INPUTS, WHERE, find_removed_key
from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.page import BackgroundQuery, QueryState
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_plan_input
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import LEFT_OPEN, NO_VALUE, NumberEdit, NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.answer import Scenario
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.progress import ProgressSteps
from gpudesk.domain.sizing import NumberBounds
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr

_DECIMALS: Final = 4
_EDIT, _SMALL_EDIT, _UNIT = 92, 52, 74


class PlanInputRow(QWidget):
    """A label, numbers and their unit on one line, the origin below; `label` can be changed.

    Before its first values it shows that they are being computed.
    """

    #: The position of the typed number, and the number; None if left to the program.
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
        """Make a field for each of the `names`, which describe their numbers."""
        super().__init__(parent)
        self._theme, self._style, self._bounds = theme, style, bounds
        self._decimals = 0 if whole else _DECIMALS
        self._scale = 1.0
        self.label = ThemedLabel(theme, label, wrap=True, parent=self)
        self.edits = tuple(NumberEdit(theme, name, self._format(), self) for name in names)
        for place, edit in enumerate(self.edits):
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.set_value(NO_VALUE)
            edit.edited.connect(lambda typed, place=place: self._edit(place, typed))
        self.unit = ThemedLabel(theme, font="small", color="text2", parent=self)
        self.origin = ThemedLabel(theme, tr("Computing…"), font="caption", color="text3", wrap=True, parent=self)
        self._has_values = False
        self.reset = LinkButton(theme, tr("Reset"), lambda: self.edited.emit(0, None), parent=self)
        self.reset.setAccessibleName(tr("Reset {name}", name=label))
        self.reset.hide()
        px = self._theme.px
        if len(self.edits) == 1:
            numbers = make_row((self.label, 1), *self.edits, self.unit, gap=px(6))
        else:
            numbers = make_column(self.label, make_row(STRETCH, *self.edits, self.unit, gap=px(6)), gap=px(2))
        below = make_row((self.origin, 1), (self.reset, 0, Qt.AlignmentFlag.AlignTop), gap=px(8))
        make_column(numbers, below, gap=px(2), margins=(0, 0, 0, px(5)), on=self)
        theme.follow(self._dress)

    def show_values(
        self, values: Sequence[float | None], unit: str, origin: str, *, is_user_value: bool, scale: float = 1.0
    ) -> None:
        """Show the current values, times `scale`, and their origin."""
        if scale != self._scale:
            self._scale = scale
            for edit in self.edits:
                edit.set_format(self._format())
        # Stated values keep their digits; computed ones are rounded to significant digits.
        digits = "{:.9g}" if is_user_value or not self._decimals else "{:.3g}"
        for edit, value in zip(self.edits, values, strict=True):
            edit.set_value(NO_VALUE if value is None else float(digits.format(value * scale)))
            edit.set_fault("")
            edit.setAccessibleDescription(", ".join(part for part in (unit, origin) if part))
        self.unit.setText(unit)
        self._has_values = True
        self.origin.show_text(origin)
        self.reset.setVisible(is_user_value)

    def stop_waiting(self) -> None:
        """Do not announce values that failed to be computed."""
        if not self._has_values:
            self.origin.show_text("")

    def set_fault(self, sentence: str) -> None:
        self.edits[0].set_fault(sentence)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep all lines of the label: otherwise the row would be as high as its number only."""
        super().resizeEvent(event)
        self.label.setMinimumHeight(max(self.label.heightForWidth(self.label.width()), 0))

    def _format(self) -> NumberFormat:
        return NumberFormat.within(self._bounds, self._decimals, self._style, self._scale, LEFT_OPEN)

    def _edit(self, place: int, typed: float) -> None:
        self.edited.emit(place, None if typed == NO_VALUE else typed / self._scale)

    def _dress(self) -> None:
        px = self._theme.px
        for edit in self.edits:
            edit.setFixedWidth(px(_EDIT if len(self.edits) == 1 else _SMALL_EDIT))
        self.unit.setMinimumWidth(px(_UNIT))


ResultT = TypeVar("ResultT")

#: Delay of queries during a drag, in milliseconds.
_REST: Final = 120


class PlanQuery(BackgroundQuery[ResultT]):
    """Computes a plan; during a drag, after a pause."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(desk, parent)
        self._steps: Callable[[], ProgressSteps[ResultT]] | None = None
        self._timer = make_delay(self, _REST, self._begin)

    @property
    def running(self) -> bool:
        return super().running or self._timer.isActive()

    def ask(self, question: tuple[object, ...], steps: Callable[[], ProgressSteps[ResultT]]) -> None:
        """Compute the result of `steps`, unless it was the last query.

        `question` identifies queries: words and numbers by value, everything else by identity.
        """
        if self._key is not None and all(map(_return_same, question, self._key)):
            return
        self._key, self._steps = question, steps
        if self._desk.in_gesture:
            self._timer.start()
        else:
            self._begin()

    def leave(self, *, wait: bool) -> None:
        """Stop while the view is hidden; the same query can be asked again.

        With `wait` nothing is left running: the window closes.
        """
        if self.running:
            self._timer.stop()
            self._key = None
            (self._jobs.stop if wait else self._jobs.cancel)()

    def _begin(self) -> None:
        self._timer.stop()
        if self._key is not None and self._steps is not None:
            self._start("plan", self._key, self._steps())


def _return_same(one: object, other: object) -> bool:
    return one == other if isinstance(one, str | int) else one is other


_LEAST_WIDTH: Final = 300.0


class PlanForm(QWidget):
    """Shows the current inputs; emits each change by input name.

    Subclasses fill `rows` and implement `name_step`.
    """

    #: Plan inputs by name, None for those left to the program; and the name of the step.
    stated = Signal(dict, str)

    def __init__(self, theme: Theme, name: str, choices: Mapping[str, str]) -> None:
        """Make a field for each of the `choices`, given as name and label of an input."""
        super().__init__()
        self._theme = theme
        self.setAccessibleName(name)
        self.fields = {key: ChoiceField(theme, label, self) for key, label in choices.items()}
        for key, field in self.fields.items():
            field.chosen.connect(partial(self._choose, key))
        self.origin_labels = {
            key: ThemedLabel(theme, font="caption", color="text3", wrap=True, parent=self) for key in self.fields
        }
        self.rows: dict[str, PlanInputRow] = {}

    def name_step(self, name: str) -> str:
        """Return the name of the step that sets an input."""
        raise NotImplementedError

    def _choose(self, name: str, key: str) -> None:
        default = PLAN_INPUTS[name].default
        self.stated.emit({name: None if key in ("", default) else key}, self.name_step(name))

    def set_fault(self, name: str, sentence: str) -> None:
        """Show a problem at the input of that name, if any, and clear it elsewhere."""
        for each, field in self.fields.items():
            field.set_fault(sentence if each == name else "")
        if name in self.rows:
            self.rows[name].set_fault(sentence)


def describe_removed_part(scenario: Scenario, name: str) -> str:
    """Return that the accelerator of an input is no longer compared, empty if it is."""
    key = find_removed_key(scenario, name)
    return "" if key is None else tr("Your choice {accelerator} is no longer compared", accelerator=key)


class PlanView(DecideView, Generic[ResultT]):
    """Edits the document's inputs of a plan, which is computed in the background.

    Subclasses set `result`, and implement `show_form` and `show_result`.
    """

    result: QWidget

    def __init__(self, desk: Desk, theme: Theme, name: str, form: PlanForm, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.plan_result: ResultT | None = None
        self.setAccessibleName(name)
        self.form = form
        form.setParent(self)
        form.stated.connect(self._state)
        self.problem = ThemedLabel(theme, color="unfit", wrap=True, parent=self)
        self.problem.hide()
        self.working = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.working.hide()
        self.job: PlanQuery[ResultT] = PlanQuery(desk, self)
        self.job.changed.connect(self._follow)
        self.job.working.connect(self._tell)

    def show_form(self) -> None:
        """Show the current inputs; raises `InputError` if no plan is possible."""
        raise NotImplementedError

    def show_result(self, result: ResultT) -> None:
        raise NotImplementedError

    def minimumSizeHint(self) -> QSize:
        """Allow small widths, so that blocks can be placed below one another."""
        return QSize(self.theme.px(_LEAST_WIDTH), super().minimumSizeHint().height())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.job.leave(wait=not self.window().isVisible())

    def show_known_form(self) -> None:
        """Show the inputs, unless a running job will: those of its former plan would undo what was just typed."""
        if self.plan_result is None or not self.job.running:
            self.show_form()

    def _follow(self) -> None:
        if self.job.state is QueryState.FAILED and self.job.error is not None:
            self.show_failure(self.job.error)
        if self.job.state is not QueryState.READY or self.job.result is None:
            return
        self.plan_result = result = self.job.result
        self.problem.hide()
        self.show_form()
        self.show_result(result)
        self.result.show()

    def show_failure(self, error: InputError) -> None:
        """Show why there is no plan, at the invalid input if the form has it."""
        self.plan_result = None
        self.result.hide()
        problem = capitalize_first(format_message(error.problem, self.desk.formatter))
        self.problem.setText(problem)
        self.problem.show()
        for row in self.form.rows.values():
            row.stop_waiting()
        try:
            self.show_form()
        except InputError:
            self.form.setEnabled(False)
        else:
            self.form.set_fault((error.where or "").removeprefix(f"{WHERE}."), problem)

    def _tell(self, text: str, _can_stop: bool) -> None:
        self.working.setText(f"{text}…" if text else "")
        self.working.setVisible(bool(text))

    def _state(self, inputs: dict[str, AnswerValue | None], step: str) -> None:
        scenario = self.desk.scenario
        for name, value in inputs.items():
            scenario = replace_plan_input(scenario, name, value)
        self.desk.apply(scenario, step)
