"""The scenario bar: each field edits one value as one undo step, shows the current value, and reports faults."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.catalog.user_store.edits import add_facts
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import (
    make_empty_scenario,
    read_load_value,
    replace_load_value,
    replace_workload,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.fields import ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.load_slider import CaptionButton
from gpudesk.desktop.window.scenario_bar import ScenarioBar
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Scenario
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.unit.desktop.conftest import FOUR


@pytest.fixture
def bar(desk: Desk, theme: Theme, qtbot: QtBot) -> ScenarioBar:
    scenario_bar = ScenarioBar(desk, theme)
    qtbot.addWidget(scenario_bar)
    scenario_bar.resize(1400, 48)
    scenario_bar.show()
    scenario_bar.activateWindow()
    qtbot.waitUntil(scenario_bar.isActiveWindow)
    return scenario_bar


def choose(field: ChoiceField | CaptionButton, typed: str) -> None:
    field.open_list()
    popup = field.popup
    assert popup is not None
    inner = popup.focusWidget()
    if isinstance(inner, QLineEdit):
        QTest.keyClicks(inner, typed)
    else:
        view = popup._view
        while typed not in str(view.currentIndex().data()):
            row = view.currentIndex().row()
            QTest.keyClick(inner, Qt.Key.Key_Down)
            assert view.currentIndex().row() != row, f"{typed} is not offered"
    QTest.keyClick(inner, Qt.Key.Key_Return)


def type_in(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def check_one_step(desk: Desk, text: str, read: Callable[[Scenario], object], before: object, after: object) -> None:
    assert (desk.undo_stack.count(), desk.undo_stack.undoText()) == (1, text)
    assert read(desk.scenario) == after
    desk.undo_stack.undo()
    assert read(desk.scenario) == before
    desk.undo_stack.redo()
    assert read(desk.scenario) == after


@pytest.mark.parametrize(
    ("field", "typed", "read", "before", "after", "text"),
    [
        ("model", "405b", lambda s: s.model, "llama-3.1-70b", "llama-3.1-405b", "Change model"),
        ("engine", "vLLM", lambda s: s.serving_engine, None, "vllm", "Change serving engine"),
    ],
)
def test_choice_changes_its_value(
    bar: ScenarioBar,
    desk: Desk,
    field: str,
    typed: str,
    read: Callable[[Scenario], object],
    before: object,
    after: object,
    text: str,
) -> None:
    widget: ChoiceField = getattr(bar, field)
    choose(widget, typed)
    check_one_step(desk, text, read, before, after)


def choose_first(field: ChoiceField) -> None:
    field.open_list()
    assert field.popup is not None
    inner = field.popup.focusWidget()
    for _ in range(12):
        QTest.keyClick(inner, Qt.Key.Key_Up)
    QTest.keyClick(inner, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("field", "text"), [("weights", "Change weight precision"), ("kv", "Change KV cache precision")]
)
def test_precision_changes(bar: ScenarioBar, desk: Desk, field: str, text: str) -> None:
    choose_first(getattr(bar, field))
    check_one_step(desk, text, lambda s: getattr(s, field), Precision.FP8, Precision.FP16)


@pytest.mark.parametrize(
    ("field", "read", "before", "text"),
    [
        ("input_tokens", lambda s: s.workload.input_tokens, 4000, "Change input tokens"),
        ("output_tokens", lambda s: s.workload.output_tokens, 1000, "Change output tokens"),
    ],
)
def test_typed_number_changes_its_value(
    bar: ScenarioBar, desk: Desk, field: str, read: Callable[[Scenario], object], before: int, text: str
) -> None:
    number: NumberField = getattr(bar, field)
    type_in(number.edit, "2,500")
    check_one_step(desk, text, read, before, 2500)


def test_same_value_again_is_no_step(bar: ScenarioBar, desk: Desk) -> None:
    type_in(bar.input_tokens.edit, "4000")
    choose(bar.model, "llama 3.1 70b")
    assert desk.undo_stack.count() == 0


@pytest.mark.parametrize("typed", ["0", "-5", "many", "1e99", "3.5", ""])
def test_invalid_number_of_tokens_is_reported_at_the_field(bar: ScenarioBar, desk: Desk, typed: str) -> None:
    field = bar.input_tokens
    field.edit.setFocus()
    field.edit.selectAll()
    if typed:
        QTest.keyClicks(field.edit, typed)
    else:
        QTest.keyClick(field.edit, Qt.Key.Key_Delete)
    QTest.keyClick(field.edit, Qt.Key.Key_Return)
    assert field.fault
    assert desk.undo_stack.count() == 0
    assert desk.scenario.workload.input_tokens == 4000
    QTest.keyClick(field.edit, Qt.Key.Key_Escape)
    assert field.fault == ""
    assert field.edit.text() == "4,000"


def test_each_key_on_the_slider_is_one_step(bar: ScenarioBar, desk: Desk) -> None:
    bar.load.slider.setFocus()
    QTest.keyClick(bar.load.slider, Qt.Key.Key_Right)
    after = read_load_value(desk.scenario.workload.load)
    check_one_step(desk, "Change load", lambda s: read_load_value(s.workload.load), 64, after)
    assert isinstance(after, int)


def test_drag_of_the_slider_is_one_step(bar: ScenarioBar, desk: Desk) -> None:
    slider = bar.load.slider
    middle = slider.rect().center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=middle)
    dragged = [desk.in_gesture]
    for step in (10, 20, 40):
        QTest.mouseMove(slider, middle + QPoint(step, 0))
        dragged.append(desk.in_gesture)
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle + QPoint(40, 0))
    dragged.append(desk.in_gesture)
    assert dragged == [True] * 4 + [False]
    assert desk.undo_stack.count() == 1
    desk.undo_stack.undo()
    assert read_load_value(desk.scenario.workload.load) == 64


def test_load_is_typed(bar: ScenarioBar, desk: Desk) -> None:
    type_in(bar.load.field, "100")
    check_one_step(desk, "Change load", lambda s: read_load_value(s.workload.load), 64, 100)


@pytest.mark.parametrize("kind", [kind for kind in LoadKind if kind is not LoadKind.CONCURRENCY])
def test_every_load_type_can_be_chosen_and_changed(bar: ScenarioBar, desk: Desk, kind: LoadKind) -> None:
    bar.load.kind_chosen.emit(kind.value)
    check_one_step(desk, "Change load type", lambda s: s.workload.load.kind, LoadKind.CONCURRENCY, kind)
    desk.flush()
    assert desk.problem is None
    before = read_load_value(desk.scenario.workload.load)
    bar.load.slider.setFocus()
    QTest.keyClick(bar.load.slider, Qt.Key.Key_Right)
    after = read_load_value(desk.scenario.workload.load)
    assert after > before
    assert isinstance(after, int) == (kind in (LoadKind.BATCH, LoadKind.SATURATE))
    desk.flush()
    assert desk.problem is None
    assert bar.ttft.isVisible() == (kind is LoadKind.LIMITS)


def test_load_type_is_chosen_by_keys(bar: ScenarioBar, desk: Desk) -> None:
    choose(bar.load.kind, "Batch")
    assert desk.scenario.workload.load.kind is LoadKind.BATCH
    assert desk.scenario.workload.load.batch == 64


def test_limits_have_a_field_for_each(bar: ScenarioBar, desk: Desk) -> None:
    bar.load.kind_chosen.emit(LoadKind.LIMITS.value)
    desk.undo_stack.clear()
    type_in(bar.ttft.edit, "1500")
    check_one_step(desk, "Change TTFT limit", lambda s: s.workload.load.ttft_ms, 2000.0, 1500.0)
    desk.undo_stack.clear()
    type_in(bar.load.field, "25")
    check_one_step(desk, "Change load", lambda s: s.workload.load.tpot_ms, 50.0, 25.0)


def test_excess_input_tokens_are_reported_with_a_remedy(bar: ScenarioBar, desk: Desk) -> None:
    type_in(bar.input_tokens.edit, "200000")
    assert bar.input_tokens.fault == (
        "Llama 3.1 70B supports at most 131,072 tokens, input and output together; use at most 130,072 input "
        "tokens. Your value is kept without results"
    )
    desk.flush()
    assert bar.input_tokens.edit.text() == "200,000"
    assert desk.answer is None
    assert desk.problem is not None
    type_in(bar.input_tokens.edit, "130072")
    assert bar.input_tokens.fault == ""
    desk.flush()
    assert desk.answer is not None


def test_fields_follow_undo_and_a_new_document(bar: ScenarioBar, desk: Desk) -> None:
    desk.apply(replace_workload(desk.scenario, input_tokens=123), "Change input tokens")
    desk.apply(replace_load_value(desk.scenario, 7), "Change load")
    assert (bar.input_tokens.edit.text(), bar.load.field.text()) == ("123", "7")
    desk.undo_stack.undo()
    desk.undo_stack.undo()
    assert (bar.input_tokens.edit.text(), bar.load.field.text()) == ("4,000", "64")
    desk.open(make_empty_scenario())
    assert bar.model.accessibleName() == "Model: Choose a model"
    assert bar.load.field.text() == "8"


def test_unfinished_input_survives_another_edit(bar: ScenarioBar, desk: Desk) -> None:
    bar.input_tokens.edit.setFocus()
    bar.input_tokens.edit.selectAll()
    QTest.keyClicks(bar.input_tokens.edit, "77")
    desk.apply(replace_load_value(desk.scenario, 7), "Change load")
    assert bar.input_tokens.edit.text() == "77"


def test_unknown_architecture_is_reported_at_the_model_field(
    user_service: GpuDeskService, theme: Theme, qtbot: QtBot
) -> None:
    definition = {
        **user_service.catalog.definition("llama-3.1-8b"),
        "id": "newer",
        "name": "Newer",
        "generic_architecture": "newarch",
    }
    facts = make_model_facts(definition, make_user_source("config.json"), today="2026-11-21")
    user_service.user_catalog.do(add_facts(user_service.catalog, facts, "mine"))
    desk = Desk(user_service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template(FOUR))
    bar = ScenarioBar(desk, theme)
    qtbot.addWidget(bar)
    bar.show()
    choose(bar.model, "newer")
    desk.flush()
    assert "newarch" in bar.model.fault
    choose(bar.model, "llama 3.1 70b")
    desk.flush()
    assert bar.model.fault == ""
