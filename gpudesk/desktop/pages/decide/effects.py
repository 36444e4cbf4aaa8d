"""What each answer in sight would do, worked out one by one while the window has nothing else to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from gpudesk.desktop.pages.decide.decided import decision_if
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.questions import AnswerValue


class Effects(QObject):
    """Works out decisions under other answers, each in a turn of the event loop of its own."""

    #: A question, an answer to it, and the `Decision` under that answer.
    found = Signal(str, object, object)

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        """Work nothing out yet."""
        super().__init__(parent)
        self._desk = desk
        self._waiting: deque[tuple[str, AnswerValue]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._step)

    @property
    def busy(self) -> bool:
        """Whether something is still to be worked out."""
        return bool(self._waiting)

    def want(self, options: Iterable[tuple[str, AnswerValue]]) -> None:
        """Work out these answers, the first first, in the place of what was waiting."""
        self._waiting = deque(options)
        if self._waiting:
            self._timer.start()

    def rest(self) -> None:
        """Leave what is waiting until `go_on`: nobody sees it."""
        self._timer.stop()

    def go_on(self) -> None:
        """Work out what is still waiting."""
        if self._waiting:
            self._timer.start()

    def _step(self) -> None:
        if not self._waiting:
            self._timer.stop()
            return
        question, value = self._waiting.popleft()
        decision = decision_if(self._desk, question, value)
        if decision is None:
            self._waiting.clear()
        else:
            self.found.emit(question, value, decision)
