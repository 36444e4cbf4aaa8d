"""The fit matrix that was asked for: at once where it is quick, else as a job that can be stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Signal

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.domain.fit_matrix import FitCell, FitMatrix, FitQuestion, ReadingId
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.progress import Progress, Steps
from gpudesk.sentences import sentence

#: Seconds that the window itself works at a matrix before the rest becomes a job.
_AT_ONCE_S: Final = 0.06


class State(Enum):
    """How far a question is."""

    NOTHING = auto()
    WORKING = auto()
    READY = auto()
    STOPPED = auto()
    FAILED = auto()


class MatrixFound(QObject):
    """Holds the last matrix; while a new one is looked for it is that of a former question."""

    #: There is a new matrix, or another state.
    changed = Signal()
    #: What to say of the work that goes on, empty where it is soon over; whether it can be stopped.
    working = Signal(str, bool)

    def __init__(self, desk: Desk, parent: QObject) -> None:
        """Ask nothing yet."""
        super().__init__(parent)
        self._desk = desk
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self.working)
        self._asked: tuple[object, ...] | None = None
        self._known: tuple[object, Mapping[str, float]] | None = None
        self.matrix: FitMatrix | None = None
        self.reading = ""
        self.state = State.NOTHING
        #: What went wrong, in words.
        self.problem = ""

    def ask(self, question: FitQuestion, reading: str) -> bool:
        """Look for the matrix of a question, by the estimator or by a reading of the memory label.

        Return False where that is what was asked last; else the state changes.
        """
        workbench = self._desk.workbench
        asked = (question, reading, workbench.fit if not reading else None, workbench.catalog)
        if asked == self._asked:
            return False
        self._asked = asked
        # Not waited for: what it still brings is of another question.
        self._jobs.cancel()
        if reading:
            self._done(asked, self._read(question, reading))
        else:
            self._find(asked, self._steps(question))
        return True

    def _find(self, asked: tuple[object, ...], steps: Steps[FitMatrix]) -> None:
        """Work for a moment, and leave what is not done by then to a job."""
        # The first time nothing is known that would make it quick.
        end = time.perf_counter() + (0.0 if self.matrix is None else _AT_ONCE_S)
        try:
            next(steps)
            while time.perf_counter() < end:
                next(steps)
        except StopIteration as done:
            self._done(asked, done.value)
            return
        except InputError as error:
            self._failed(asked, error)
            return
        self._set(State.WORKING)
        ends = (partial(self._done, asked), partial(self._failed, asked), partial(self._stopped, asked))
        self._jobs.start("fit", steps, *ends)

    def stop(self) -> None:
        """Look no further; what is known by then is not lost."""
        self._jobs.cancel()

    def rest(self) -> None:
        """Leave nothing running while nobody looks; the next question begins where this one ended."""
        if self.state is State.WORKING:
            self._jobs.stop()
            self._asked, self.state = None, State.NOTHING

    def again(self) -> None:
        """Let the same question be asked again."""
        self._asked = None

    def parameters(self) -> Mapping[str, float]:
        """Return the parameters of the catalog's models by their ids."""
        from gpudesk.workbench.fit_readings import parameters_of

        catalog = self._desk.workbench.catalog
        if self._known is None or self._known[0] is not catalog:
            self._known = catalog, parameters_of(catalog, catalog.models())
        return self._known[1]

    def _steps(self, question: FitQuestion) -> Steps[FitMatrix]:
        """Return the work of a matrix, a step a model."""
        workbench = self._desk.workbench
        parts, models = workbench.catalog.accelerators(), workbench.catalog.models()
        rows: Iterator[tuple[FitCell, ...]] = workbench.fit.rows(question, parts, models)
        found: list[tuple[FitCell, ...]] = []
        for row in rows:
            found.append(row)
            yield Progress(message("fit.finding"), len(found), len(models))
        return FitMatrix(question, parts, models, tuple(found))

    def _read(self, question: FitQuestion, reading: str) -> FitMatrix:
        from gpudesk.workbench.fit_readings import reading_matrix

        catalog = self._desk.workbench.catalog
        parts, models = catalog.accelerators(), catalog.models()
        return reading_matrix(ReadingId(reading), question, parts, models, self.parameters())

    def _done(self, asked: tuple[object, ...], matrix: FitMatrix) -> None:
        if asked == self._asked:
            self.matrix, self.reading = matrix, str(asked[1])
            self._set(State.READY)

    def _failed(self, asked: tuple[object, ...], error: InputError) -> None:
        if asked == self._asked:
            said = sentence(error.problem, self._desk.formatter)
            self.problem = said[:1].upper() + said[1:]
            self._set(State.FAILED)

    def _stopped(self, asked: tuple[object, ...]) -> None:
        if asked == self._asked:
            self._set(State.STOPPED)

    def _set(self, state: State) -> None:
        self.state = state
        self.changed.emit()
