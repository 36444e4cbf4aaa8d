"""Helpers for tests of Decide views, which are shown in a scroll area as on the page."""

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


def get_evaluated(desk: Desk) -> EvaluatedAnswer:
    """Return the evaluated answer of the desk, which must exist."""
    evaluated = desk.evaluated
    assert evaluated is not None
    return evaluated


def set_answers(desk: Desk, **answers: AnswerValue) -> None:
    """Replace the answers of the scenario, and evaluate."""
    desk.edit("Answers", decision=replace(desk.scenario.decision, answers=answers))
    desk.flush()


def show_view(view: V, desk: Desk, qtbot: QtBot, width: int = 900, height: int = 640) -> V:
    """Show a view in a scroll area, and refresh it with each answer of the desk."""
    area = FullWidthScrollArea()
    qtbot.addWidget(area)
    area.show_widget(view)
    area.resize(width, height)
    desk.answered.connect(lambda: view.show_decision(get_evaluated(desk)))
    view.show_decision(get_evaluated(desk))
    with qtbot.waitExposed(area):
        area.show()
    area.activateWindow()
    qtbot.waitUntil(area.isActiveWindow)
    # The lower part of a view is filled after the first paint.
    qtbot.wait(20)
    return view
