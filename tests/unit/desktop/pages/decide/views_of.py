"""Views of a decision for tests: shown over the whole of a scroll area, as the page shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea
from gpudesk.domain.decision import AnswerValue

V = TypeVar("V", bound=DecideView)


def found_of(desk: Desk) -> EvaluatedAnswer:
    """Return the decision on the desk's answer."""
    found = desk.evaluated
    assert found is not None
    return found


def say(desk: Desk, **answers: AnswerValue) -> None:
    """Answer these questions, and no others."""
    desk.edit("Answers", decision=replace(desk.scenario.decision, answers=answers))
    desk.flush()


def shown(view: V, desk: Desk, qtbot: QtBot, width: int = 900, height: int = 640) -> V:
    """Show a view, and what it says whenever there is another answer."""
    area = FullWidthScrollArea()
    qtbot.addWidget(area)
    area.show_widget(view)
    area.resize(width, height)
    desk.answered.connect(lambda: view.show_decision(found_of(desk)))
    view.show_decision(found_of(desk))
    with qtbot.waitExposed(area):
        area.show()
    area.activateWindow()
    qtbot.waitUntil(area.isActiveWindow)
    # What stands below the first sight follows the first paint.
    qtbot.wait(20)
    return view
