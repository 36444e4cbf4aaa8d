"""The decision on the desk's answer, made once for all views of the page."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answers import Answer
from gpudesk.domain.decisions import Decision
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import AnswerValue


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision beside the answer that it is on, with what columns are called and drawn by.

    `names`, `slots` and `hollow` are by the key of a column: its name, its place in the palette (from 1), and
    whether it is a further count of a part, which is drawn hollow.
    """

    answer: Answer
    decision: Decision
    names: Mapping[str, str]
    slots: Mapping[str, int]
    hollow: Mapping[str, bool]
    formatter: Formatter

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns in their order."""
        return self.decision.columns

    @property
    def parts(self) -> tuple[Part, ...]:
        """The columns of the answer."""
        return parts(self.answer)

    def place(self, key: str) -> int:
        """Return the place of a column, 0 where there is none of the key."""
        return self.keys.index(key) if key in self.keys else 0


#: What was decided last: all views of a page show the same answer, one after another.
_made: deque[Decided] = deque(maxlen=2)


def decided(desk: Desk) -> Decided | None:
    """Return the decision on the desk's answer; None without one."""
    answer = desk.answer
    if answer is None:
        return None
    for made in _made:
        if made.answer is answer and made.formatter is desk.formatter:
            return made
    columns = parts(answer)
    found = Decided(
        answer,
        desk.workbench.decide(answer),
        {part.key: part.name for part in columns},
        {part.key: part.slot for part in columns},
        {part.key: part.hollow for part in columns},
        desk.formatter,
    )
    _made.append(found)
    return found


#: Decisions under other answers, by question and answer, on the answers that were shown last.
_ifs: deque[tuple[Answer, dict[tuple[str, AnswerValue], Decision]]] = deque(maxlen=2)


def known_decision_if(desk: Desk, question: str, value: AnswerValue) -> Decision | None:
    """Return what would be decided if a question were answered so, as far as it has been worked out."""
    return _ifs_of(desk.answer).get((question, value))


def decision_if(desk: Desk, question: str, value: AnswerValue) -> Decision | None:
    """Return what would be decided if a question were answered so; None where nothing can be decided.

    Working it out takes about 10 ms; it is kept as long as the desk's answer stays.
    """
    now = decided(desk)
    if now is None:
        return None
    found = known_decision_if(desk, question, value)
    if found is None:
        if now.decision.answers[question].value == value:
            found = now.decision
        else:
            said = {**now.answer.scenario.decision.answers, question: value}
            found = desk.workbench.decide(now.answer, said)
        _ifs_of(now.answer)[question, value] = found
    return found


def _ifs_of(answer: Answer | None) -> dict[tuple[str, AnswerValue], Decision]:
    """Return where decisions on an answer are kept."""
    if answer is None:
        return {}
    for of, kept in _ifs:
        if of is answer:
            return kept
    made: dict[tuple[str, AnswerValue], Decision] = {}
    _ifs.append((answer, made))
    return made
