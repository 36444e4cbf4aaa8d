"""Plans that take longer than a blink: worked out beside the window, once for each question."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.domain.messages import InputError
from gpudesk.domain.progress import Steps

#: While something is dragged, questions wait until it rests for so long, in milliseconds.
_REST: Final = 120


class PlanJob(QObject):
    """Works out the answer to the last question; what is asked meanwhile takes its place."""

    #: The answer to the last question.
    found = Signal(object)
    #: The `InputError` that says why there is none.
    failed = Signal(object)
    #: What to say of the work that goes on; empty where it is soon over.
    working = Signal(str)

    def __init__(self, desk: Desk, parent: QObject) -> None:
        """Ask nothing yet."""
        super().__init__(parent)
        self._desk = desk
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(lambda text, _can_stop: self.working.emit(text))
        self._asked: tuple[object, ...] = ()
        self._steps: Callable[[], Steps[Any]] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REST)
        self._timer.timeout.connect(self._start)
        # A thread must not outlive what it belongs to.
        self.destroyed.connect(self._jobs.stop)

    @property
    def running(self) -> bool:
        """Whether an answer is still to come."""
        return self._jobs.running or self._timer.isActive()

    def ask(self, asked: tuple[object, ...], steps: Callable[[], Steps[Any]]) -> None:
        """Work out what `steps` begin, unless it is what was asked last.

        `asked` tells questions apart: by words and numbers, and by the identity of everything else.
        """
        if len(asked) == len(self._asked) and all(map(_same, asked, self._asked)):
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


def _same(one: object, other: object) -> bool:
    return one == other if isinstance(one, str | int) else one is other
