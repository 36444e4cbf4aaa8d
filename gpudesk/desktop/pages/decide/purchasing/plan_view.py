"""The base of the views of purchasing plans: a form of inputs, and what the plan comes to or why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from gpudesk.decision.purchasing.plan_inputs import PLAN_INPUTS, WHERE, find_removed_key
from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.purchasing.plan_inputs import PlanComputation, PlanInputRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_plan_input
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.scenario import Scenario
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr

_LEAST: Final = 300.0


class PlanForm(QWidget):
    """Shows inputs as they are in force; each change is asked for by the names of the inputs.

    Subclasses fill `rows` and write `name_step`.
    """

    #: Inputs of plans by name, None for those that are left to the program; and what the step is called.
    stated = Signal(dict, str)

    def __init__(self, theme: Theme, name: str, choices: Mapping[str, str], parent: QWidget | None = None) -> None:
        """Make a field for each of the `choices`, given as name and label of an input."""
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.fields = {key: ChoiceField(theme, label, self) for key, label in choices.items()}
        for key, field in self.fields.items():
            field.chosen.connect(partial(self._choose, key))
        self.said = {
            key: ThemedLabel(theme, font="caption", colour="text3", wrap=True, parent=self) for key in self.fields
        }
        self.rows: dict[str, PlanInputRow] = {}

    def name_step(self, name: str) -> str:
        """Return what the step is called that states an input."""
        raise NotImplementedError

    def _choose(self, name: str, key: str) -> None:
        default = PLAN_INPUTS[name].default
        self.stated.emit({name: None if key in ("", default) else key}, self.name_step(name))

    def set_fault(self, name: str, sentence: str) -> None:
        """Say at an input what is wrong with it, if there is one of the name; take it back at the choices."""
        for each, field in self.fields.items():
            field.set_fault(sentence if each == name else "")
        if name in self.rows:
            self.rows[name].set_fault(sentence)


def describe_removed_part(scenario: Scenario, name: str) -> str:
    """Return that the part stated for an input is not compared any more, empty where it is."""
    key = find_removed_key(scenario, name)
    return "" if key is None else tr("{part}, which you chose, is not compared any more", part=key)


ResultT = TypeVar("ResultT")


class PlanView(DecideView, Generic[ResultT]):
    """Edits the document's inputs of a plan, which is worked out beside the window.

    Subclasses set `result`, and write `show_form` and `show_result`.
    """

    result: QWidget

    def __init__(self, desk: Desk, theme: Theme, name: str, form: PlanForm, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.found: ResultT | None = None
        self.decided: EvaluatedAnswer | None = None
        self.setAccessibleName(name)
        self.form = form
        form.setParent(self)
        form.stated.connect(self._state)
        self.problem = ThemedLabel(theme, colour="unfit", wrap=True, parent=self)
        self.problem.hide()
        self.working = ThemedLabel(theme, font="small", colour="text2", wrap=True, parent=self)
        self.working.hide()
        self.job = PlanComputation(desk, self)
        self.job.found.connect(self._done)
        self.job.failed.connect(self.show_failure)
        self.job.working.connect(self._tell)

    def show_form(self) -> None:
        """Show the inputs in force; may raise `InputError` where there can be no plan."""
        raise NotImplementedError

    def show_result(self, found: ResultT) -> None:
        raise NotImplementedError

    def minimumSizeHint(self) -> QSize:
        """Give way in width, so that blocks come to stand below one another."""
        return QSize(self.theme.px(_LEAST), super().minimumSizeHint().height())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.job.rest(wait=not self.window().isVisible())

    def _done(self, found: ResultT) -> None:
        self.found = found
        self.problem.hide()
        self.show_form()
        self.show_result(found)
        self.result.show()

    def show_failure(self, error: InputError) -> None:
        """Say why there is no plan, at the input that is wrong where it is one of the form."""
        self.found = None
        self.result.hide()
        said = format_message(error.problem, self.desk.formatter)
        said = f"{said[:1].upper()}{said[1:]}"
        self.problem.setText(said)
        self.problem.show()
        try:
            self.show_form()
        except InputError:
            self.form.setEnabled(False)
        else:
            self.form.set_fault((error.where or "").removeprefix(f"{WHERE}."), said)

    def _tell(self, text: str) -> None:
        self.working.setText(f"{text}…" if text else "")
        self.working.setVisible(bool(text))

    def _state(self, inputs: dict[str, AnswerValue | None], step: str) -> None:
        scenario = self.desk.scenario
        for name, value in inputs.items():
            scenario = replace_plan_input(scenario, name, value)
        self.desk.apply(scenario, step)
