"""The view Buy or wait: a form, what it comes to, and the watch list below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.plan_job import PlanJob
from gpudesk.desktop.pages.decide.timing_chart import SlipFacts
from gpudesk.desktop.pages.decide.timing_form import TimingFacts, TimingForm
from gpudesk.desktop.pages.decide.timing_result import TimingResult
from gpudesk.desktop.pages.decide.timing_watch import WatchBlock
from gpudesk.desktop.pages.decide.timing_watch_form import WatchEntry
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.deciding import with_answer, with_plan
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.buying import BuyOrWait
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.questions import AnswerValue
from gpudesk.domain.ranges import Range
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.watching import Signal as WatchedSignal
from gpudesk.domain.watching import Watched
from gpudesk.paths import MissingFileError
from gpudesk.sentences import problem, sentence
from gpudesk.sheets.cost_words import input_label
from gpudesk.sheets.dates import today
from gpudesk.sheets.money import Money
from gpudesk.sheets.names import short_name
from gpudesk.text import tr
from gpudesk.workbench.deciding.plan_inputs import WHERE, bought_position
from gpudesk.workbench.deciding.watch_edits import forget_signal, note_signal

_MARGIN, _LEAST = 16.0, 300.0
_FORM: Final = 328.0
#: From this width on the form stands beside what it comes to.
_BESIDE: Final = 760.0
#: Steps of the user's file that are undone here.
_WATCH_STEPS: Final = frozenset({"watch.step.note", "watch.step.remove"})


class TimingView(DecideView):
    """Edits the document's inputs of the plan; notes on the watch list go to the user's own file."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make form, result and list; they are empty."""
        super().__init__(desk, theme, parent)
        self.found: BuyOrWait | None = None
        self._decided: Decided | None = None
        self._position = 0
        self.setAccessibleName(tr("Buy or wait"))
        self.form = TimingForm(theme, desk.formatter.style, self)
        # Tab goes through all of it before the result beside it.
        self.form.setProperty("readAsBlock", True)
        self.form.stated.connect(self._state)
        self.form.launch_stated.connect(self._state_launch)
        self.form.cost_stated.connect(self._state_cost)
        self.result = TimingResult(desk, theme, self)
        self.result.hide()
        self.said = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.said.hide()
        self.problem = Label(theme, colour="unfit", wrap=True, parent=self)
        self.problem.hide()
        self.watch = WatchBlock(theme, desk.formatter, self)
        self.watch.saved.connect(self._note)
        self.watch.removed.connect(self._forget)
        self.watch.undo_wanted.connect(self._undo)
        self.job = PlanJob(desk, self)
        self.job.found.connect(self._done)
        self.job.failed.connect(self._failed)
        self.job.working.connect(self._tell)
        self._lay_out()

    def _lay_out(self) -> None:
        px = self.theme.px
        margin = px(_MARGIN)
        right = QVBoxLayout()
        right.setSpacing(px(6))
        for widget in (self.said, self.problem, self.result):
            right.addWidget(widget)
        right.addStretch(1)
        self._upper = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._upper.setContentsMargins(margin - px(8), 0, margin, px(12))
        self._upper.setSpacing(px(28))
        self._upper.addWidget(self.form, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._upper.addLayout(right, 100)
        # Takes what the widest result leaves.
        self._upper.addStretch(1)
        lower = QVBoxLayout()
        lower.setContentsMargins(margin, px(12), margin, margin)
        lower.addWidget(self.watch)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(self._upper)
        whole.addWidget(Rule(self.theme, self))
        whole.addLayout(lower)
        whole.addStretch(1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Give way in width, so that blocks come to stand below one another."""
        return QSize(self.theme.px(_LEAST), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the form above the result where both have no room side by side."""
        super().resizeEvent(event)
        px = self.theme.px
        beside = event.size().width() >= px(_BESIDE)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._upper.setDirection(way)
        self.form.setMaximumWidth(px(_FORM))
        self.form.setMinimumWidth(min(px(_FORM), max(px(240), event.size().width() - px(40))))

    # Asking

    def show_decision(self, found: Decided) -> None:
        """Work out the plan of a decision's scenario, and show the watch list."""
        self._decided = found
        scenario = found.answer.scenario
        recommended = found.decision.recommended
        self._position = bought_position(scenario, None if recommended is None else recommended.key)
        self._show_form()
        self.show_watch_list()
        position, beside, day = self._position, self.desk.workbench.beside, today()
        asked = (found.answer, position, day)
        self.job.ask(asked, lambda: beside.buy_or_wait_steps(scenario, position, day))

    def _done(self, found: BuyOrWait) -> None:
        self.found = found
        self.problem.hide()
        self._show_form()
        decided = self._decided
        if decided is not None:
            names, money = self._names(), self._money(decided)
            self.result.show_plan(SlipFacts(found, names, money, self._slots(decided, found)))
        self.result.show()

    def _failed(self, error: InputError) -> None:
        """Say why there is no plan, at the input that is wrong where it is one of the form."""
        self.found = None
        self.result.hide()
        said = sentence(error.problem, self.desk.formatter)
        said = f"{said[:1].upper()}{said[1:]}"
        name = (error.where or "").removeprefix(f"{WHERE}.")
        self._show_form()
        self.form.set_fault(name, said)
        self.problem.setText(said)
        self.problem.show()

    def _tell(self, text: str) -> None:
        self.said.setText(f"{text}…" if text else "")
        self.said.setVisible(bool(text))

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Work out nothing that nobody looks at."""
        super().hideEvent(event)
        self.job.rest(wait=not self.window().isVisible())

    # Showing

    def _show_form(self) -> None:
        decided = self._decided
        if decided is None:
            return
        catalog = self.desk.workbench.catalog
        scenario = decided.answer.scenario
        chosen = scenario.accelerators[self._position].accelerator
        self.form.set_fault("", "")
        self.form.set_parts([part for part in catalog.accelerators() if part.id != chosen])
        self.form.show_facts(
            TimingFacts(
                scenario=scenario,
                found=self.found,
                key=decided.keys[self._position],
                columns=decided.names,
                names=self._names(),
                following=self._following(),
                money=self._money(decided),
            )
        )

    def _following(self) -> Accelerator | None:
        if self.found is None or self.found.next_part is None:
            return None
        return self.desk.workbench.catalog.accelerator(self.found.next_part)

    def _names(self) -> dict[str, str]:
        """Return what accelerators are called, by their ids."""
        return {part.id: short_name(part.name) for part in self.desk.workbench.catalog.accelerators()}

    def _money(self, decided: Decided) -> Money:
        return Money(decided.formatter, decided.answer.scenario.costs.currency)

    @staticmethod
    def _slots(decided: Decided, found: BuyOrWait) -> tuple[int, int]:
        """Return the places of both parts in the palette, 0 for one that is not compared."""
        by_part = {
            choice.accelerator: decided.slots[key]
            for key, choice in zip(decided.keys, decided.answer.scenario.accelerators, strict=True)
        }
        return by_part.get(found.chosen, 0), by_part.get(found.next_part or "", 0)

    # Editing the document

    def _state(self, inputs: dict[str, AnswerValue | None], step: str) -> None:
        scenario = self.desk.scenario
        for name, value in inputs.items():
            scenario = with_plan(scenario, name, value)
        self._apply(scenario, step)

    def _state_launch(self, months: float | None) -> None:
        self._apply(with_answer(self.desk.scenario, "months_to_launch", months), tr("Months to the launch"))

    def _state_cost(self, name: str, value: float | None) -> None:
        following = self._following()
        if following is None:
            return
        scenario = self.desk.scenario
        spread = None if value is None else Range.exactly(value)
        costs = scenario.costs.with_input(name, spread, following.id)
        self._apply(replace(scenario, costs=costs), tr("{name} of costs", name=input_label(name)))

    def _apply(self, scenario: Scenario, step: str) -> None:
        self.desk.apply(scenario, step)

    # The watch list

    def show_watch_list(self) -> None:
        """Show the signals with what is known of them now."""
        own = self.desk.workbench.own
        try:
            signals = self.desk.workbench.beside.watch_list()
        except (InputError, MissingFileError) as error:
            formatter = self.desk.formatter
            self.watch.say_problem(problem(error, formatter) if isinstance(error, InputError) else str(error))
            return
        undo = own.undo_text
        text = ""
        if undo is not None and undo.id in _WATCH_STEPS:
            text = tr("Undo: {step}", step=sentence(undo, self.desk.formatter))
        shown = tuple((each, self._source(each)) for each in signals)
        self.watch.show_signals(shown, writable=own.writable, undo=text)

    def _source(self, watched: Watched) -> str:
        return "" if watched.known is None else self.desk.workbench.catalog.source(watched.known.source).title

    def _note(self, signal: str, entry: WatchEntry) -> None:
        """Write what was typed of a signal, or say in its form what is wrong."""
        if entry.value is None:
            self.watch.tell(signal, "value", entry.fault or tr("The value is missing"))
            return
        value = entry.value
        self._write(
            signal,
            lambda: note_signal(
                self.desk.workbench.own.watched,
                self._signal(signal),
                value,
                date=entry.date,
                source=entry.source,
                note=entry.note,
            ),
        )

    def _forget(self, signal: str) -> None:
        """Take the user's note on a signal away."""
        self._write(signal, lambda: forget_signal(self.desk.workbench.own.watched, self._signal(signal)))

    def _write(self, signal: str, step: Callable[[], Edit]) -> None:
        try:
            self.desk.workbench.own.do(step())
        except InputError as error:
            said = sentence(error.problem, self.desk.formatter)
            named = error.where in ("value", "date", "source", "note")
            text = (
                said if named else tr("Not saved: {problem}. What you entered is still here.", problem=said)
            )
            self.watch.tell(signal, error.where or "", f"{text[:1].upper()}{text[1:]}")

    def _signal(self, signal: str) -> WatchedSignal:
        return next(each for each in self.desk.workbench.beside.signals if each.id == signal)

    def _undo(self) -> None:
        self.watch.say_problem("")
        try:
            self.desk.workbench.own.undo()
        except InputError as error:
            said = problem(error, self.desk.formatter).rstrip(".")
            self.watch.say_problem(tr("Not done: {problem}. Your facts are as they were.", problem=said))

    # What the page asks

    def copied(self) -> str:
        """Return plan and watch list as text."""
        formatter = self.desk.formatter
        plan = "" if self.found is None else self.result.text(formatter)
        return "\n".join(part for part in (plan, self.watch.text(formatter)) if part)

    def focus_first(self) -> None:
        """Give the focus to the part to buy."""
        self.form.parts["buy_part"].setFocus(Qt.FocusReason.OtherFocusReason)
