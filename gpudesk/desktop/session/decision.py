"""The decision on the desk's answer, and decisions under other answers, each computed once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from gpudesk.desktop.session.answer_columns import AcceleratorColumn, list_columns
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answer import Answer
from gpudesk.domain.decision import AnswerValue, Decision
from gpudesk.text.formatting import Formatter


@dataclass(frozen=True, slots=True)
class AnswerDecision:
    """A decision beside the answer that it is on, with what columns are called and drawn by.

    `names`, `slots` and `is_variant` are by the key of a column: its name, its place in the palette (from 1), and
    whether it is a further count of a part, which is drawn is_variant.
    """

    answer: Answer
    decision: Decision
    names: Mapping[str, str]
    slots: Mapping[str, int]
    is_variant: Mapping[str, bool]
    formatter: Formatter

    @property
    def keys(self) -> tuple[str, ...]:
        return self.decision.columns

    @property
    def parts(self) -> tuple[AcceleratorColumn, ...]:
        return list_columns(self.answer)

    def place(self, key: str) -> int:
        """Return the place of a column, 0 where there is none of the key."""
        return self.keys.index(key) if key in self.keys else 0


#: What was decided last: all views of a page show the same answer, one after another.
_recent_decisions: deque[AnswerDecision] = deque(maxlen=2)


def decide_answer(desk: Desk) -> AnswerDecision | None:
    """Return the decision on the desk's answer; None without one."""
    answer = desk.answer
    if answer is None:
        return None
    for made in _recent_decisions:
        if made.answer is answer and made.formatter is desk.formatter:
            return made
    columns = list_columns(answer)
    found = AnswerDecision(
        answer,
        desk.service.decide(answer),
        {part.key: part.name for part in columns},
        {part.key: part.slot for part in columns},
        {part.key: part.is_variant for part in columns},
        desk.formatter,
    )
    _recent_decisions.append(found)
    return found


#: Decisions under other answers, by question and answer, on the answers that were shown last.
_recent_alternatives: deque[tuple[Answer, dict[tuple[str, AnswerValue], Decision]]] = deque(maxlen=2)


def find_cached_decision(desk: Desk, question: str, value: AnswerValue) -> Decision | None:
    """Return what would be decided if a question were answered so, as far as it has been worked out."""
    return _find_alternatives(desk.answer).get((question, value))


def decide_with_answer(desk: Desk, question: str, value: AnswerValue) -> Decision | None:
    """Return what would be decided if a question were answered so; None where nothing can be decided.

    Working it out takes about 10 ms; it is kept as long as the desk's answer stays.
    """
    now = decide_answer(desk)
    if now is None:
        return None
    found = find_cached_decision(desk, question, value)
    if found is None:
        if now.decision.answers[question].value == value:
            found = now.decision
        else:
            said = {**now.answer.scenario.decision.answers, question: value}
            found = desk.service.decide(now.answer, said)
        _find_alternatives(now.answer)[question, value] = found
    return found


def _find_alternatives(answer: Answer | None) -> dict[tuple[str, AnswerValue], Decision]:
    if answer is None:
        return {}
    for of, kept in _recent_alternatives:
        if of is answer:
            return kept
    made: dict[tuple[str, AnswerValue], Decision] = {}
    _recent_alternatives.append((answer, made))
    return made


class AlternativeDecisions(QObject):
    """Works out decisions under other answers, each in a turn of the event loop of its own."""

    #: A question, an answer to it, and the `Decision` under that answer.
    found = Signal(str, object, object)

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._waiting: deque[tuple[str, AnswerValue]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._step)

    @property
    def busy(self) -> bool:
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
        if self._waiting:
            self._timer.start()

    def _step(self) -> None:
        if not self._waiting:
            self._timer.stop()
            return
        question, value = self._waiting.popleft()
        decision = decide_with_answer(self._desk, question, value)
        if decision is None:
            self._waiting.clear()
        else:
            self.found.emit(question, value, decision)
