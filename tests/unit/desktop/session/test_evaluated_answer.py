"""What follows from an answer is computed once, and goes with the answer."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    made = Desk(service, Formatter(ENGLISH_NUMBERS))
    scenario = read_template(SAMPLE_TEMPLATE)
    made.open(replace(scenario, decision=replace(scenario.decision, answers={"priority": "cost"})))
    return made


def evaluated_of(desk: Desk) -> EvaluatedAnswer:
    assert desk.evaluated is not None
    return desk.evaluated


def test_curves_change_nothing_that_was_decided(desk: Desk) -> None:
    before = evaluated_of(desk)
    decision, costs = before.decision, before.costs
    before.flips = ()
    with_curves = desk.evaluate_with_curves()
    assert with_curves is not None
    assert with_curves is not before
    assert all(column.column.curve is not None for column in with_curves.columns if column.fits)
    assert with_curves.decision is decision
    assert with_curves.costs is costs
    assert with_curves.flips == ()


def test_an_edit_lets_go_of_all_that_was_decided(desk: Desk) -> None:
    before = evaluated_of(desk)
    before.decide_alternative("priority", "speed")
    before.flips = ()
    desk.edit("Name", name="Another")
    desk.flush()
    after = evaluated_of(desk)
    assert after.flips is None
    assert after.find_alternative("priority", "speed") is None
    assert after.decision == before.decision
    assert after.decision is not before.decision


def test_another_set_of_answers_leaves_the_one_in_force(desk: Desk) -> None:
    evaluated = evaluated_of(desk)
    decision = evaluated.decision
    other = evaluated.decide_with_answers({"priority": "speed"})
    assert other.decision.answers["priority"].value == "speed"
    assert evaluated.decision is decision
    assert other.keys == evaluated.keys


def test_a_recommendation_is_on_the_sheet_only_where_questions_were_answered(desk: Desk) -> None:
    assert evaluated_of(desk).make_sheet_extras().decision is evaluated_of(desk).decision
    desk.edit("No answers", decision=replace(desk.scenario.decision, answers={}))
    desk.flush()
    assert evaluated_of(desk).make_sheet_extras().decision is None
