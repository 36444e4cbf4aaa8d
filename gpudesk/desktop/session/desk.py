"""The desk: the open scenario with its answer, what is selected and what is pinned; pages see only this.

A control asks for an edit. The desk compares, pushes one undo step a gesture, says which fields changed, and
evaluates once for all edits of one turn of the event loop. The last good answer stays while the scenario
cannot be answered.
"""

from __future__ import annotations

import time
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from gpudesk.desktop.session.commands import EditScenario
from gpudesk.desktop.session.edits import empty_scenario, settled
from gpudesk.desktop.session.selection import Selection
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.comparison import column_keys, part_of, repeated, slots
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import Scenario
from gpudesk.sheets.names import column_names
from gpudesk.workbench.workbench import Workbench

if TYPE_CHECKING:
    from gpudesk.workbench.impact import Impact

#: Steps that can be undone.
_MOST_STEPS = 500
_NAMES = tuple(field.name for field in fields(Scenario))


class Desk(QObject):
    """The session of one window."""

    #: The names of the scenario's fields that changed, as a frozenset of str.
    scenario_changed = Signal(object)
    #: There is a new answer, or a new reason why there is none.
    answered = Signal()
    selection_changed = Signal()
    ghost_changed = Signal()
    #: A gesture (a drag of a slider or a line) began or ended.
    gesture_changed = Signal()
    #: Facts of the catalog changed: the ids of the things that they are about, as a frozenset of str.
    catalog_changed = Signal(object)
    #: It is known what a change of the catalog did to the answer.
    impact_changed = Signal()

    def __init__(self, workbench: Workbench, formatter: Formatter, parent: QObject | None = None) -> None:
        """Begin with an empty scenario."""
        super().__init__(parent)
        self.workbench = workbench
        self.formatter = formatter
        self.scenario = empty_scenario()
        self.answer: Answer | None = None
        self.problem: InputError | None = None
        self.elapsed_ms = 0.0
        self.selection: Selection | None = None
        self.ghost: Answer | None = None
        self.impact: Impact | None = None
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(_MOST_STEPS)
        # A stack of edits tells that it is clean when it ends, and nobody can ask it any more.
        self.destroyed.connect(partial(self.undo_stack.blockSignals, True))
        self._gesture: str | None = None
        self._gestures = 0
        self._curves: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.evaluate)
        workbench.own.subscribe(self._facts_changed)
        self.destroyed.connect(partial(workbench.own.unsubscribe, self._facts_changed))

    # The scenario

    def open(self, scenario: Scenario) -> None:
        """Put another document's scenario in force: nothing can be undone, nothing is selected or pinned."""
        self._end_gesture_quietly()
        self.undo_stack.clear()
        self.answer = None
        self.select(None)
        self.clear_ghost()
        self._show(settled(scenario), all_changed=True)
        self.evaluate()

    def edit(self, text: str, gesture: str | None = None, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Change fields of the scenario; `text` names the step for undo."""
        self.apply(replace(self.scenario, **changes), text, gesture)

    def apply(self, scenario: Scenario, text: str, gesture: str | None = None) -> None:
        """Put an edited scenario in force as one step; edits of one gesture are one step together."""
        if scenario == self.scenario:
            return
        self.undo_stack.push(
            EditScenario(self.scenario, scenario, text, gesture or self._gesture, self._show)
        )

    def _show(self, scenario: Scenario, *, all_changed: bool = False) -> None:
        before, self.scenario = self.scenario, scenario
        changed = frozenset(
            name for name in _NAMES if all_changed or getattr(before, name) != getattr(scenario, name)
        )
        if changed:
            self.scenario_changed.emit(changed)
            self._timer.start()

    # Gestures

    @property
    def in_gesture(self) -> bool:
        """Whether something is being dragged."""
        return self._gesture is not None

    def begin_gesture(self, name: str) -> str:
        """Merge all edits from here on into one step; return the gesture's own name."""
        self._gestures += 1
        self._gesture = f"{name}#{self._gestures}"
        self.gesture_changed.emit()
        return self._gesture

    def end_gesture(self) -> None:
        """Let the next edit be a step of its own."""
        if self._gesture is not None:
            self._gesture = None
            self.gesture_changed.emit()

    def _end_gesture_quietly(self) -> None:
        self._gesture = None

    # The answer

    @property
    def missing(self) -> str | None:
        """What the scenario lacks before it can be answered: `model`, `accelerators`, or nothing."""
        if not self.scenario.model:
            return "model"
        return None if self.scenario.accelerators else "accelerators"

    def want_curves(self, who: str, wanted: bool) -> None:
        """Say whether a page needs curves; they are evaluated only while one does."""
        (self._curves.add if wanted else self._curves.discard)(who)
        if wanted and self.answer is not None and not self.has_curves:
            self._timer.start()

    @property
    def has_curves(self) -> bool:
        """Whether the answer holds curves for what fits."""
        return self.answer is not None and all(
            column.curve is not None
            for column in self.answer.columns
            if column.estimate is not None and column.estimate.fits
        )

    def evaluate(self) -> None:
        """Answer the scenario now, and say so."""
        self._timer.stop()
        if self.missing is not None:
            self.answer, self.problem = None, None
            self.answered.emit()
            return
        begun = time.perf_counter()
        try:
            self.answer = self.workbench.answer(self.scenario, with_curves=bool(self._curves))
        except InputError as error:
            self.problem = error
        else:
            self.problem = None
            self.elapsed_ms = (time.perf_counter() - begun) * 1000
        self._drop_stale_selection()
        self.answered.emit()

    def _facts_changed(self, things: frozenset[str]) -> None:
        """Answer anew from the changed catalog, and find out what that did to the result."""
        before = self.answer
        self.catalog_changed.emit(things)
        self.evaluate()
        concerned = {self.scenario.model, *(choice.accelerator for choice in self.scenario.accelerators)}
        self.impact = None
        if before is not None and self.answer is not None and things & concerned:
            from gpudesk.workbench.impact import impact

            self.impact = impact(before, self.answer)
        self.impact_changed.emit()

    def flush(self) -> None:
        """Answer at once what waits for the next turn of the event loop."""
        if self._timer.isActive():
            self.evaluate()

    # Reading the answer by column

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of each column of the answer."""
        return () if self.answer is None else column_keys(self.answer.scenario.accelerators)

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of the answer is called."""
        return () if self.answer is None else column_names(self.answer)

    @property
    def slots(self) -> tuple[int, ...]:
        """The place in the palette of each column of the answer."""
        return () if self.answer is None else slots(self.answer.scenario.accelerators)

    @property
    def hollow(self) -> tuple[bool, ...]:
        """Whether each column of the answer is a further one of its part."""
        return () if self.answer is None else repeated(self.answer.scenario.accelerators)

    def column(self, key: str) -> Column | None:
        """Return the answer's column of a key."""
        if self.answer is None or key not in self.keys:
            return None
        return self.answer.columns[self.keys.index(key)]

    # Selection and ghost

    def select(self, selection: Selection | None) -> None:
        """Select a figure, or nothing."""
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit()

    def _drop_stale_selection(self) -> None:
        chosen = self.selection
        if chosen is None or chosen.of_all or chosen.of_catalog:
            return
        if self.answer is None or chosen.column in self.keys:
            return
        # A part's column gets another key when the part comes a second time, or no longer does.
        part = part_of(chosen.column)
        same = next((key for key in self.keys if part_of(key) == part), None)
        self.select(None if same is None else replace(chosen, column=same))

    def pin_ghost(self) -> None:
        """Keep the present answer, with its curves, to compare with what comes."""
        if self.answer is None:
            return
        self.ghost = self.workbench.answer(self.answer.scenario, with_curves=True)
        self.ghost_changed.emit()

    def clear_ghost(self) -> None:
        """Let the pinned answer go."""
        if self.ghost is not None:
            self.ghost = None
            self.ghost_changed.emit()
