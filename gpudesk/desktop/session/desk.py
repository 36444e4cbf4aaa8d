"""The desk: the open scenario with its answer, selection, undo and pinned answer. Pages see only this."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer, list_columns
from gpudesk.desktop.session.scenario_edits import fix_palette_indexes, make_empty_scenario
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.domain.answer import Answer, ComparisonColumn, Scenario, get_accelerator_id
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError

if TYPE_CHECKING:
    from gpudesk.domain.answer import AnswerImpact


#: With any id but -1, Qt tries to merge a command into the previous one.
_MERGEABLE = 1


class EditScenarioCommand(QUndoCommand):
    """Replaces one scenario by another. Edits of the same `gesture` become one step."""

    def __init__(
        self, before: Scenario, after: Scenario, text: str, gesture: str | None, show: Callable[[Scenario], None]
    ) -> None:
        super().__init__(text)
        self.before = before
        self.after = after
        self.gesture = gesture
        self._show = show

    def id(self) -> int:
        return -1 if self.gesture is None else _MERGEABLE

    def redo(self) -> None:
        self._show(self.after)

    def undo(self) -> None:
        self._show(self.before)

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merge a later edit of the same gesture; a gesture that ends where it started vanishes."""
        if not isinstance(other, EditScenarioCommand) or other.gesture != self.gesture:
            return False
        self.after = other.after
        self.setText(other.text())
        self.setObsolete(self.after == self.before)
        # Qt deletes the other, but its Python object stays: it would keep the desk of a closed window, 2 MB and more.
        vars(other).clear()
        return True


#: Maximum undo steps.
_MOST_STEPS = 500
_NAMES = tuple(field.name for field in fields(Scenario))


class Desk(QObject):
    """The session of one window."""

    #: The names of the scenario's fields that changed, as a frozenset of str.
    scenario_changed = Signal(object)
    #: There is a new answer, or a new reason for its absence.
    answered = Signal()
    selection_changed = Signal()
    ghost_changed = Signal()
    #: A gesture (a drag of a slider or a line) began or ended.
    gesture_changed = Signal()
    #: Facts of the catalog changed: the ids of their entries, as a frozenset of str.
    catalog_changed = Signal(object)
    #: The effect of a catalog change on the answer is known.
    impact_changed = Signal()

    def __init__(self, service: GpuDeskService, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self.formatter = formatter
        self.scenario = make_empty_scenario()
        #: The current answer with derived data; every page, the panel and the sheet read this one.
        self.evaluated: EvaluatedAnswer | None = None
        self.problem: InputError | None = None
        self.elapsed_ms = 0.0
        self.selection: Selection | None = None
        #: Whether a page has proposed the selection, and the user has selected nothing.
        self.is_selection_proposed = False
        self.ghost: Answer | None = None
        self.impact: AnswerImpact | None = None
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(_MOST_STEPS)
        # A destroyed undo stack emits that it is clean, when nothing can read it any more.
        self.destroyed.connect(partial(self.undo_stack.blockSignals, True))
        self._gesture: str | None = None
        self._gestures = 0
        self._curves: set[str] = set()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.evaluate)
        service.user_catalog.subscribe(self._facts_changed)
        self.destroyed.connect(partial(service.user_catalog.unsubscribe, self._facts_changed))

    # Scenario

    def open(self, scenario: Scenario) -> None:
        """Replace the scenario by another document's: undo, selection and pinned answer are cleared."""
        self._gesture = None
        self.undo_stack.clear()
        self.evaluated = None
        self.select(None)
        self.clear_ghost()
        self._show(fix_palette_indexes(scenario), all_changed=True)
        self.evaluate()

    def adopt(self, other: Desk) -> None:
        """Continue from another desk: its scenario, undo steps, and pinned answer."""
        former, stack = other.undo_stack, self.undo_stack
        self.blockSignals(True)
        for position in range(former.count()):
            if position == former.cleanIndex():
                stack.setClean()
            step = former.command(position)
            if isinstance(step, EditScenarioCommand):
                stack.push(EditScenarioCommand(step.before, step.after, step.text(), step.gesture, self._show))
        if former.cleanIndex() == former.count():
            stack.setClean()
        elif former.cleanIndex() < 0:
            stack.resetClean()
        stack.setIndex(former.index())
        self.blockSignals(False)
        self.ghost = other.ghost
        self._show(other.scenario, all_changed=True)
        self.evaluate()

    def edit(self, text: str, gesture: str | None = None, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Change fields of the scenario; `text` names the step for undo."""
        self.apply(replace(self.scenario, **changes), text, gesture)

    def apply(self, scenario: Scenario, text: str, gesture: str | None = None) -> None:
        """Apply an edited scenario as one step; edits of one gesture are one step together."""
        if scenario == self.scenario:
            return
        self.undo_stack.push(EditScenarioCommand(self.scenario, scenario, text, gesture or self._gesture, self._show))

    def _show(self, scenario: Scenario, *, all_changed: bool = False) -> None:
        before, self.scenario = self.scenario, scenario
        changed = frozenset(name for name in _NAMES if all_changed or getattr(before, name) != getattr(scenario, name))
        if changed:
            self.scenario_changed.emit(changed)
            self._timer.start()

    # Gestures

    @property
    def in_gesture(self) -> bool:
        return self._gesture is not None

    def begin_gesture(self, name: str) -> str:
        """Merge all following edits into one step; return the gesture's unique name."""
        self._gestures += 1
        self._gesture = f"{name}#{self._gestures}"
        self.gesture_changed.emit()
        return self._gesture

    def end_gesture(self) -> None:
        if self._gesture is not None:
            self._gesture = None
            self.gesture_changed.emit()
            if self.answer is not None and self.answer.lacks_counts:
                self._timer.start()

    # Answer

    @property
    def answer(self) -> Answer | None:
        return None if self.evaluated is None else self.evaluated.answer

    def has_answer(self) -> bool:
        return self.evaluated is not None

    @property
    def missing(self) -> str | None:
        """The input missing for an answer: `model`, `accelerators`, or empty."""
        if not self.scenario.model:
            return "model"
        return None if self.scenario.accelerators else "accelerators"

    def want_curves(self, who: str, are_wanted: bool) -> None:
        """Set whether a page needs curves; they are evaluated only while one does."""
        (self._curves.add if are_wanted else self._curves.discard)(who)
        if are_wanted and self.answer is not None and not self.has_curves:
            self._timer.start()

    @property
    def has_curves(self) -> bool:
        return self.answer is not None and all(
            column.curve is not None
            for column in self.answer.columns
            if column.estimate is not None and column.estimate.fits
        )

    def evaluate(self) -> None:
        self._timer.stop()
        if self.missing is not None:
            self.evaluated, self.problem = None, None
            self.answered.emit()
            return
        begun = time.perf_counter()
        try:
            self.evaluated = self._evaluate(self.scenario, with_curves=bool(self._curves))
        except InputError as error:
            self.problem = error.detach()
            if error.problem.id == "scenario.beyond_context":
                # Pools with the former length would be taken for those of the new one.
                self.evaluated = None
        else:
            self.problem = None
            self.elapsed_ms = (time.perf_counter() - begun) * 1000
        self._drop_stale_selection()
        self.answered.emit()

    def _evaluate(self, scenario: Scenario, *, with_curves: bool) -> EvaluatedAnswer:
        answer = self._replace_costs(scenario)
        if answer is None:
            answer = self.service.answer(scenario, with_curves=with_curves, with_counts=not self.in_gesture)
        elif with_curves and not self.has_curves:
            answer = self.service.add_curves(answer)
        return self._take_over(answer, with_cost_curves=with_curves)

    def _take_over(self, answer: Answer, *, with_cost_curves: bool) -> EvaluatedAnswer:
        evaluated = EvaluatedAnswer(answer, self.service, self.formatter)
        if self.evaluated is not None:
            evaluated.take_over(self.evaluated, with_cost_curves=with_cost_curves)
        return evaluated

    def _replace_costs(self, scenario: Scenario) -> Answer | None:
        """Return the current answer for a scenario with other costs, decisions, demand or fleet.

        No estimate depends on these. None if more differs, so that estimates have to be recomputed.
        """
        former = self.answer
        if former is None:
            return None
        before = former.scenario
        edited = replace(
            before, costs=scenario.costs, decision=scenario.decision, demand=scenario.demand, fleet=scenario.fleet
        )
        if edited == before or edited != replace(scenario, user_records=before.user_records):
            return None
        is_same = former.catalog_revision == self.service.catalog.revision
        return replace(former, scenario=edited) if is_same else None

    def evaluate_with_curves(self) -> EvaluatedAnswer | None:
        """Return the answer with its curves, for a sheet; the current answer if it has them."""
        if self.evaluated is None or self.has_curves:
            return self.evaluated
        return self._take_over(self.service.add_curves(self.evaluated.answer), with_cost_curves=False)

    def _facts_changed(self, things: frozenset[str]) -> None:
        before = self.answer
        self.catalog_changed.emit(things)
        self.evaluate()
        concerned = {self.scenario.model, *(choice.accelerator for choice in self.scenario.accelerators)}
        self.impact = None
        if before is not None and self.answer is not None and things & concerned:
            from gpudesk.domain.answer import compare_answers

            self.impact = compare_answers(before, self.answer)
        self.impact_changed.emit()

    def flush(self) -> None:
        """Answer pending edits at once instead of in the next event."""
        if self._timer.isActive():
            self.evaluate()

    # Columns of the answer

    @property
    def columns(self) -> tuple[AcceleratorColumn, ...]:
        return () if self.evaluated is None else self.evaluated.columns

    @property
    def fitting_columns(self) -> tuple[AcceleratorColumn, ...]:
        return () if self.evaluated is None else self.evaluated.fitting_columns

    @property
    def ghost_columns(self) -> tuple[AcceleratorColumn, ...]:
        """The columns of the pinned answer that fit."""
        return () if self.ghost is None else tuple(column for column in list_columns(self.ghost) if column.fits)

    @property
    def keys(self) -> tuple[str, ...]:
        return () if self.evaluated is None else self.evaluated.keys

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, key: str) -> ComparisonColumn | None:
        return next((column.column for column in self.columns if column.key == key), None)

    # Selection and pinned answer

    def select(self, selection: Selection | None) -> None:
        self._set_selection(selection, is_proposed=False)

    def propose_selection(self, selection: Selection | None) -> None:
        """Select what a page shows first, unless the user has selected a figure."""
        if self.selection is None or self.is_selection_proposed:
            self._set_selection(selection, is_proposed=True)

    def _set_selection(self, selection: Selection | None, *, is_proposed: bool) -> None:
        self.is_selection_proposed = is_proposed
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit()

    def select_again(self, selection: Selection | None) -> None:
        """Restore the previous selection; none if its column no longer exists."""
        self.select(selection)
        self._drop_stale_selection()

    def _drop_stale_selection(self) -> None:
        chosen = self.selection
        if chosen is None or self.answer is None or chosen.column in self.keys or chosen.of_all or chosen.of_catalog:
            return
        # The key of a column changes when its accelerator becomes, or stops being, a duplicate.
        part = get_accelerator_id(chosen.column)
        same = next((key for key in self.keys if get_accelerator_id(key) == part), None)
        moved_selection = None if same is None else replace(chosen, column=same)
        self._set_selection(moved_selection, is_proposed=self.is_selection_proposed)

    def pin_ghost(self) -> None:
        """Pin the current answer, with its curves, for comparison with later ones."""
        if self.answer is None:
            return
        self.ghost = self.service.answer(self.answer.scenario, with_curves=True)
        self.ghost_changed.emit()

    def clear_ghost(self) -> None:
        if self.ghost is not None:
            self.ghost = None
            self.ghost_changed.emit()


#: The name of the setting.
RANK_ANNOUNCED: Final = "ranking.announced"


class AnnouncedRanking(QObject):
    """Keeps the answers of a desk in line with the setting."""

    def __init__(self, desk: Desk, settings: UserSettings, parent: QObject) -> None:
        """Apply the setting, and each later change."""
        super().__init__(parent)
        self._desk = desk
        self._settings = settings
        desk.service.rank_announced = self.announced
        settings.changed.connect(self._changed)

    @property
    def announced(self) -> bool:
        return self._settings.get(RANK_ANNOUNCED, default=False)

    def toggle(self) -> None:
        self._settings.put(RANK_ANNOUNCED, not self.announced)

    def _changed(self, name: str) -> None:
        if name == RANK_ANNOUNCED:
            self._desk.flush()
            self._desk.service.rank_announced = self.announced
            self._desk.evaluate()
