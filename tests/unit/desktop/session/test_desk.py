"""The desk: named undo steps, one per gesture, one evaluation per event-loop turn, and the last valid answer."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_attribute, select_figure
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template(SAMPLE_TEMPLATE))
    return desk


def has_curves(desk: Desk) -> bool:
    return desk.has_curves


def concurrency(desk: Desk) -> int | None:
    return desk.scenario.workload.load.concurrency


def set_load(desk: Desk, value: int) -> None:
    desk.apply(scenario_edits.replace_load_value(desk.scenario, value), "Change load")


def test_edit_is_named_evaluated_and_undone(desk: Desk, qtbot: QtBot) -> None:
    changed: list[frozenset[str]] = []
    desk.scenario_changed.connect(changed.append)
    before = desk.answer
    with qtbot.waitSignal(desk.answered):
        set_load(desk, 128)
    assert changed == [frozenset({"workload"})]
    assert desk.answer is not None
    assert desk.answer.scenario.workload.load.concurrency == 128
    assert desk.undo_stack.undoText() == "Change load"
    with qtbot.waitSignal(desk.answered):
        desk.undo_stack.undo()
    assert desk.answer == before


def test_cost_edit_reuses_estimates(desk: Desk, qtbot: QtBot) -> None:
    before = desk.answer
    assert before is not None
    costs = desk.scenario.costs.with_input("energy_usd_per_kwh", UncertainValue(0.05, 0.1, 0.3))
    with qtbot.waitSignal(desk.answered):
        desk.edit("Energy", costs=costs)
    assert desk.answer is not None
    assert desk.answer.columns is before.columns
    assert desk.answer == desk.service.answer(desk.scenario)
    assert desk.answer.content_hash != before.content_hash


def test_load_edited_along_with_costs_is_estimated(desk: Desk, qtbot: QtBot) -> None:
    costs = desk.scenario.costs.with_input("energy_usd_per_kwh", UncertainValue(0.05, 0.1, 0.3))
    with qtbot.waitSignal(desk.answered):
        desk.edit("Energy", costs=costs)
        set_load(desk, 128)
    assert desk.answer == desk.service.answer(desk.scenario)


def test_same_value_is_no_edit(desk: Desk) -> None:
    set_load(desk, 64)
    assert desk.undo_stack.count() == 0


def test_gesture_is_one_undo_step(desk: Desk) -> None:
    for values in ((70, 80, 90), (100, 110)):
        desk.begin_gesture("load")
        assert desk.in_gesture
        for value in values:
            set_load(desk, value)
        desk.end_gesture()
    assert desk.undo_stack.count() == 2
    desk.undo_stack.undo()
    assert concurrency(desk) == 90
    desk.undo_stack.undo()
    assert concurrency(desk) == 64


def test_counts_that_are_enough_are_searched_at_the_end_of_a_gesture(desk: Desk, qtbot: QtBot) -> None:
    desk.begin_gesture("load")
    with qtbot.waitSignal(desk.answered):
        set_load(desk, 5000)
    assert desk.answer is not None
    assert desk.answer.lacks_counts
    with qtbot.waitSignal(desk.answered):
        desk.end_gesture()
    assert all(column.enough for column in desk.answer.columns)
    assert desk.answer == desk.service.answer(desk.scenario)


def test_gesture_without_net_change_is_no_undo_step(desk: Desk) -> None:
    desk.begin_gesture("load")
    set_load(desk, 70)
    set_load(desk, 64)
    desk.end_gesture()
    assert desk.undo_stack.count() == 0


def test_edits_of_one_turn_are_evaluated_once(desk: Desk, qtbot: QtBot) -> None:
    answers: list[None] = []
    desk.answered.connect(lambda: answers.append(None))
    for value in range(70, 90):
        set_load(desk, value)
    qtbot.waitUntil(lambda: bool(answers))
    qtbot.wait(20)
    assert len(answers) == 1


def test_invalid_scenario_retains_the_last_valid_answer(desk: Desk) -> None:
    valid_answer = desk.answer
    desk.edit("Change model", model="no-such-model")
    desk.evaluate()
    assert desk.answer is valid_answer
    problems = [desk.problem]
    # The frames of a traceback would keep closed windows alive.
    assert desk.problem is not None
    assert desk.problem.__traceback__ is None
    desk.undo_stack.undo()
    desk.evaluate()
    problems.append(desk.problem)
    assert [problem and problem.where for problem in problems] == ["scenario.model", None]


def test_incomplete_scenario_names_the_missing_field(desk: Desk) -> None:
    desk.open(scenario_edits.make_empty_scenario())
    missing = [desk.missing]
    assert desk.answer is None
    desk.edit("Choose model", model="llama-3.1-70b")
    missing.append(desk.missing)
    desk.apply(scenario_edits.add_accelerator(desk.scenario, "h200-sxm"), "Add H200")
    desk.evaluate()
    missing.append(desk.missing)
    assert missing == ["model", "accelerators", None]
    assert desk.names == ("H200 SXM",)


def test_curves_are_evaluated_only_on_request(desk: Desk) -> None:
    assert not has_curves(desk)
    desk.want_curves("performance", are_wanted=True)
    desk.flush()
    assert has_curves(desk)
    desk.want_curves("performance", are_wanted=False)
    set_load(desk, 65)
    desk.flush()
    assert not has_curves(desk)


def test_costs_are_recomputed_with_curves(desk: Desk) -> None:
    assert desk.evaluated is not None
    assert all(not column.curve for column in desk.evaluated.costs.columns)
    desk.want_curves("cost", are_wanted=True)
    desk.flush()
    assert all(column.curve for column in desk.evaluated.costs.columns)


def test_selection_is_cleared_with_its_column(desk: Desk) -> None:
    desk.select(select_figure("mi325x", "ttft_ms"))
    desk.apply(scenario_edits.remove_accelerator(desk.scenario, 1), "Remove MI325X")
    desk.evaluate()
    removed_selection = desk.selection
    assert removed_selection is None
    desk.select(select_attribute("h200-sxm", "memory"))
    set_load(desk, 65)
    desk.evaluate()
    assert desk.selection is not None


def test_pinned_answer_stays_while_the_scenario_changes(desk: Desk) -> None:
    desk.pin_ghost()
    set_load(desk, 128)
    desk.evaluate()
    assert desk.ghost is not None
    assert desk.ghost.scenario.workload.load.concurrency == 64
    assert all(column.curve is not None for column in desk.ghost.columns)
    desk.clear_ghost()
    assert desk.ghost is None


def test_opening_a_document_clears_the_undo_stack(desk: Desk) -> None:
    set_load(desk, 128)
    desk.open(replace(read_template(SAMPLE_TEMPLATE), name="Other"))
    assert desk.undo_stack.count() == 0
    assert desk.undo_stack.isClean()


def test_accelerators_keep_their_colors(desk: Desk) -> None:
    scenario = scenario_edits.add_accelerator(desk.scenario, "b200-hgx")
    scenario = scenario_edits.remove_accelerator(scenario, 0)
    assert [choice.slot for choice in scenario.accelerators] == [2, 3]
    scenario = scenario_edits.add_accelerator(scenario, "mi355x")
    assert scenario.accelerators[-1].slot == 1
    scenario = scenario_edits.make_baseline(scenario, 2)
    assert [choice.slot for choice in scenario.accelerators] == [1, 2, 3]


def test_seventh_accelerator_is_refused() -> None:
    scenario = scenario_edits.make_empty_scenario()
    for accelerator in ("h200-sxm", "mi325x", "b200-hgx", "mi355x", "h100-sxm", "mi300x", "l40s"):
        scenario = scenario_edits.add_accelerator(scenario, accelerator)
    assert len(scenario.accelerators) == 6
    assert scenario_edits.add_accelerator(scenario, "l4") is scenario


def test_new_count_clears_the_plan_and_new_accelerator_keeps_the_count() -> None:
    scenario = replace(
        read_template(SAMPLE_TEMPLATE),
        accelerators=(AcceleratorChoice("h200-sxm", count=4, tp=4), AcceleratorChoice("mi325x")),
    )
    more = scenario_edits.replace_count(scenario, 0, 8)
    assert (more.accelerators[0].count, more.accelerators[0].tp) == (8, None)
    other = scenario_edits.replace_accelerator(scenario, 0, "b200-hgx")
    assert [choice.accelerator for choice in other.accelerators] == ["b200-hgx", "mi325x"]
    assert other.accelerators[0].count == 4


def test_selection_follows_its_accelerator_when_added_twice(desk: Desk) -> None:
    desk.select(select_figure("h200-sxm", "ttft_ms"))
    desk.apply(scenario_edits.add_accelerator(desk.scenario, "h200-sxm", 2), "Add")
    desk.flush()
    assert desk.selection == select_figure("h200-sxm:1", "ttft_ms")
    desk.undo_stack.undo()
    desk.flush()
    assert desk.selection == select_figure("h200-sxm", "ttft_ms")


def test_deleted_desk_emits_no_clean_changed(desk: Desk, qtbot: QtBot) -> None:
    set_load(desk, 128)
    signals: list[bool] = []
    desk.undo_stack.cleanChanged.connect(signals.append)
    with qtbot.waitSignal(desk.destroyed):
        desk.deleteLater()
    assert signals == []
