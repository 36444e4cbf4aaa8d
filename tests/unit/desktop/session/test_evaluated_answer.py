"""Results that follow from an answer are computed once, and dropped with it."""

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
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    scenario = read_template(SAMPLE_TEMPLATE)
    desk.open(replace(scenario, decision=replace(scenario.decision, answers={"priority": "cost"})))
    return desk


def get_evaluated(desk: Desk) -> EvaluatedAnswer:
    assert desk.evaluated is not None
    return desk.evaluated


def test_curves_reuse_decision_and_costs(desk: Desk) -> None:
    before = get_evaluated(desk)
    decision, costs = before.decision, before.costs
    before.flips = ()
    with_curves = desk.evaluate_with_curves()
    assert with_curves is not None
    assert with_curves is not before
    assert all(column.column.curve is not None for column in with_curves.columns if column.fits)
    assert with_curves.decision is decision
    assert with_curves.costs is costs
    assert with_curves.flips == ()


def test_edit_drops_cached_decisions(desk: Desk) -> None:
    before = get_evaluated(desk)
    before.decide_alternative("priority", "speed")
    before.flips = ()
    desk.edit("Name", name="Another")
    desk.flush()
    after = get_evaluated(desk)
    assert after.flips is None
    assert after.find_alternative("priority", "speed") is None
    assert after.decision == before.decision
    assert after.decision is not before.decision


def test_deciding_with_other_answers_leaves_the_current_decision(desk: Desk) -> None:
    evaluated = get_evaluated(desk)
    decision = evaluated.decision
    other = evaluated.decide_with_answers({"priority": "speed"})
    assert other.decision.answers["priority"].value == "speed"
    assert evaluated.decision is decision
    assert other.keys == evaluated.keys


def test_sheet_has_a_recommendation_only_with_answers(desk: Desk) -> None:
    assert get_evaluated(desk).make_sheet_extras().decision is get_evaluated(desk).decision
    desk.edit("No answers", decision=replace(desk.scenario.decision, answers={}))
    desk.flush()
    assert get_evaluated(desk).make_sheet_extras().decision is None
