"""The dialog of every import: what it takes is written beside the window, while it waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit, OwnFacts
from gpudesk.domain.progress import Steps
from gpudesk.text import tr

_T = TypeVar("_T")


class WritingForm(FormDialog):
    """Subclasses call `write` when all is settled, and `finish` with what came of it.

    While it is written the form stays as it is, and cannot be closed; where that fails, all that was entered
    is still there.
    """

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        jobs: Jobs,
        title: str,
        *,
        save: str,
        leave: str,
        parent: QWidget | None = None,
        wide: bool = False,
    ) -> None:
        """Write nothing yet; `jobs` are those of the window."""
        super().__init__(desk, theme, title, save=save, leave=leave, parent=parent, wide=wide)
        self._jobs = jobs
        self.writing = False
        #: The step that was written, once it was.
        self.step: Edit | None = None

    def write(self, steps: Steps[_T], done: Callable[[_T], object]) -> None:
        """Write beside the window; `done` gets what came of it."""
        self.set_writing(writing=True)
        self._jobs.start("import.write", steps, done, self._not_written, self._cancelled)

    def finish(self, step: Edit, facts: OwnFacts) -> None:
        """Put a step that was written in force, and close."""
        self.step = step
        self.desk.workbench.own.adopt(step, facts)
        self.set_writing(writing=False)
        self.saved = True
        self.done(FormDialog.DialogCode.Accepted)

    def reject(self) -> None:
        """Close, but not while it is being written."""
        if not self.writing:
            super().reject()

    def set_writing(self, *, writing: bool) -> None:
        """Let nothing be changed while it is written."""
        self.writing = writing
        for widget in self.held():
            widget.setEnabled(not writing)

    def held(self) -> tuple[QWidget, ...]:
        """Return what cannot be used meanwhile."""
        return (self.save_button, self.leave_button, *self.rows)

    def _not_written(self, error: InputError) -> None:
        self.set_writing(writing=False)
        self.tell(error)

    def _cancelled(self) -> None:
        self.set_writing(writing=False)
        self.say_problem(tr("Cancelled: nothing was written."))
