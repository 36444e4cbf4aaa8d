"""The fit matrix of all models: counts, filters, sorting, readings, and opening a cell."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.memory.fit_matrix import FitMatrixOptions, read_matrix_options, store_matrix_options
from gpudesk.desktop.pages.memory.matrix_view import FitMatrixView
from gpudesk.desktop.pages.memory.page import FIT, MATRIX, MemoryPage
from gpudesk.desktop.pages.page import QueryState
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_workload
from gpudesk.desktop.session.selection import select_catalog_attribute, select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitQuestion
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def view(page: MemoryPage, qtbot: QtBot) -> FitMatrixView:
    page.resize(1100, 700)
    page.choose_view(MATRIX)
    assert isinstance(page.view, FitMatrixView)
    wait_until_ready(page.view, qtbot)
    return page.view


def wait_until_ready(view: FitMatrixView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: view.query.state is QueryState.READY, timeout=30_000)


def get_state(view: FitMatrixView) -> QueryState:
    return view.query.state


def choose_options(view: FitMatrixView, qtbot: QtBot, **fields: object) -> None:
    view.question.chosen.emit(replace(view.choices, **fields))  # type: ignore[arg-type]
    wait_until_ready(view, qtbot)


def map_counts(view: FitMatrixView, accelerator: str) -> dict[str, int | None]:
    position = [column.part.id for column in view.model.table.columns].index(accelerator)
    return {row.model.id: row.cells[position].count for row in view.model.table.rows}


# Counts


def test_first_search_shows_its_progress_once(page: MemoryPage, qtbot: QtBot) -> None:
    page.resize(1100, 700)
    page.choose_view(MATRIX)
    view = page.view
    assert isinstance(view, FitMatrixView)
    view.query.working.emit("Searching for deployments: 1 of 83", True)
    assert view.table.empty_text == "Searching for deployments: 1 of 83"
    assert view.remark.text() == ""
    assert view.action.text() == "Cancel"
    wait_until_ready(view, qtbot)
    assert view.table.empty_text == "No match. Clear a filter to see more."
    assert view.remark.text() == view.table.describe_cell(view.table.currentIndex())


def test_matrix_starts_at_the_scenario(view: FitMatrixView, desk: Desk) -> None:
    question = view.model.table.question
    workload = desk.scenario.workload
    assert question == FitQuestion(
        desk.scenario.weights, desk.scenario.kv, workload.input_tokens + workload.output_tokens
    )
    assert not view.question.follow.isVisible()
    current = view.table.get_current_cell()
    assert current is not None
    assert (current.model, current.accelerator) == ("llama-3.1-405b", "h200-sxm")
    assert view.narrow.count.text() == "83 of 83 models, 52 of 52 accelerators"


def test_counts_equal_those_of_the_service(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    choose_options(view, qtbot, weights="fp4", context=32_768, concurrency=16)
    question = FitQuestion(Precision.FP4, desk.scenario.kv, 32_768, 16)
    for accelerator in ("h100-sxm", "mi355x", "rtx-4090"):
        fit_matrix = desk.service.fit_matrix(question, [accelerator])
        assert map_counts(view, accelerator) == {row[0].model: row[0].count for row in fit_matrix.rows}


def test_context_follows_the_scenario(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    desk.apply(replace_workload(desk.scenario, input_tokens=60_000), "Longer")
    desk.flush()
    wait_until_ready(view, qtbot)
    assert view.question.context.value == 61_000
    assert view.model.table.question is not None
    assert view.model.table.question.context == 61_000


def test_typed_context_stays_until_reset(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    edit = view.question.context.edit
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, "16k")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    wait_until_ready(view, qtbot)
    desk.apply(replace_workload(desk.scenario, input_tokens=9000), "Longer")
    desk.flush()
    wait_until_ready(view, qtbot)
    assert view.question.context.value == 16_000
    QTest.mouseClick(view.question.follow, Qt.MouseButton.LeftButton)
    wait_until_ready(view, qtbot)
    assert view.question.context.value == 10_000
    assert not view.question.follow.isVisible()


def test_no_query_during_a_drag(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    before = view.model.table.question
    desk.begin_gesture("drag")
    desk.apply(replace_workload(desk.scenario, input_tokens=7000), "Drag")
    desk.flush()
    assert view.model.table.question == before
    desk.end_gesture()
    wait_until_ready(view, qtbot)
    assert view.model.table.question is not None
    assert view.model.table.question.context == 8000


# Filters and sorting


def test_filters_narrow_while_typing(view: FitMatrixView, qtbot: QtBot) -> None:
    QTest.keyClicks(view.narrow.models, "llama 70b")
    QTest.keyClicks(view.narrow.parts, "amd")
    names = [row.model.name for row in view.model.table.rows]
    assert names
    assert all("70B" in name for name in names)
    assert {column.part.vendor for column in view.model.table.columns} == {"AMD"}
    assert view.narrow.count.text() == f"{len(names)} of 83 models, 10 of 52 accelerators"
    view.window().activateWindow()
    QTest.keyClick(view.narrow.parts, Qt.Key.Key_Down)
    assert view.table.hasFocus()


def test_empty_result_has_a_hint(view: FitMatrixView) -> None:
    view.narrow.models.setText("no such model")
    assert view.model.rowCount() == 0
    assert "Clear a filter" in view.table.empty_text
    view.grab()


def test_filter_by_accelerator_count(view: FitMatrixView, qtbot: QtBot) -> None:
    view.narrow.most_changed.emit(1)
    assert view.narrow.most.text() == "Fits 1"
    assert "llama-3.1-405b" in map_counts(view, "mi455x")
    assert map_counts(view, "mi455x")["llama-3.1-405b"] == 1
    assert "tpu-v5e" not in {column.part.id for column in view.model.table.columns}
    QTest.keyClick(view.narrow.most, Qt.Key.Key_Delete)
    assert view.narrow.most.text() == "Any count"
    assert view.model.rowCount() == 83


def test_table_opens_at_its_start(view: FitMatrixView, desk: Desk) -> None:
    cell = view.table.get_current_cell()
    assert cell is not None
    assert (cell.model, cell.accelerator) == (desk.scenario.model, "h200-sxm")
    assert view.table.horizontalScrollBar().value() == view.table.verticalScrollBar().value() == 0
    assert view.table.horizontalScrollBar().maximum() > 0


def test_click_on_a_head_sorts_and_reverses(view: FitMatrixView) -> None:
    heads = view.table.heads
    position = [column.part.id for column in view.model.table.columns].index("h200-sxm")
    view.table.go_to("phi-4", "h200-sxm")
    x = heads.sectionViewportPosition(position) + 20
    point = heads.viewport().rect().center()
    point.setX(x)
    for descending in (False, True):
        QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=point)
        known_counts = [count for count in map_counts(view, "h200-sxm").values() if count is not None]
        assert known_counts == sorted(known_counts, reverse=descending)
    assert view.question.order.value == "h200-sxm"


def test_corner_sorts_by_name_and_size(view: FitMatrixView) -> None:
    corner = view.table.corner
    middle = corner.rect().center()
    QTest.mouseClick(corner, Qt.MouseButton.LeftButton, pos=middle - corner.rect().bottomRight() / 4)
    names = [row.model.name.casefold() for row in view.model.table.rows]
    assert names == sorted(names)
    QTest.mouseClick(corner, Qt.MouseButton.LeftButton, pos=corner.rect().bottomRight())
    sizes = [row.parameters for row in view.model.table.rows if row.parameters is not None]
    assert sizes == sorted(sizes)


def test_order_is_chosen_by_keyboard_and_keeps_the_current_cell(view: FitMatrixView) -> None:
    view.question.order.chosen.emit("name")
    current = view.table.get_current_cell()
    assert current is not None
    assert (current.model, current.accelerator) == ("llama-3.1-405b", "h200-sxm")
    view.question.direction.setFocus()
    QTest.keyClick(view.question.direction, Qt.Key.Key_Space)
    names = [row.model.name.casefold() for row in view.model.table.rows]
    assert names == sorted(names, reverse=True)


# Navigation and opening


def test_keys_move_over_cells_and_show_their_remarks(view: FitMatrixView) -> None:
    table = view.table
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Home)
    assert table.currentIndex().column() == 0
    QTest.keyClick(table, Qt.Key.Key_End)
    assert table.currentIndex().column() == view.model.columnCount() - 1
    row = table.currentIndex().row()
    QTest.keyClick(table, Qt.Key.Key_Up)
    assert table.currentIndex().row() == row - 1
    assert view.remark.text() == table.describe_cell(table.currentIndex())
    QTest.keyClicks(table, "qwen3")
    assert view.model.row(table.currentIndex().row()).model.name.startswith("Qwen3")


def test_current_cell_is_selected_after_a_pause(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    desk.select(None)
    view.table.go_to("llama-3.1-405b", "mi325x")
    assert [desk.selection] == [None]
    view.window().activateWindow()
    view.table.setFocus()
    view.table.go_to("phi-4", "mi325x")
    with qtbot.waitSignal(desk.selection_changed):
        view.table.go_to("phi-4", "gaudi3")
    assert desk.selection == select_catalog_attribute("gaudi3", "memory")
    with qtbot.waitSignal(desk.selection_changed):
        view.table.go_to("llama-3.1-405b", "mi325x")
    assert desk.selection == select_figure("mi325x", "memory")
    choose_options(view, qtbot, reading="decimal")
    with qtbot.waitSignal(desk.selection_changed):
        view.table.go_to("phi-4", "l40s")
    assert desk.selection == select_catalog_attribute("l40s", "memory_label")


def test_cell_without_deployment_cannot_be_opened(view: FitMatrixView, desk: Desk) -> None:
    before = desk.scenario
    view.table.go_to("devstral-2-123b", "h200-sxm")
    assert "no deployment. " in view.remark.text()
    assert not view.action.isVisible()
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert desk.scenario == before


def test_enter_opens_a_cell_as_the_baseline_in_one_step(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    before = desk.scenario
    choose_options(view, qtbot, weights="fp8", kv="fp8")
    view.table.go_to("deepseek-v3.1", "b300-hgx")
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    scenario, cell = desk.scenario, view.table.get_current_cell()
    assert cell is not None
    assert (scenario.model, scenario.weights, scenario.kv) == ("deepseek-v3.1", Precision.FP8, Precision.FP8)
    assert (scenario.accelerators[0].accelerator, scenario.accelerators[0].count) == ("b300-hgx", cell.count)
    others = [choice.accelerator for choice in scenario.accelerators[1:]]
    assert others == [choice.accelerator for choice in before.accelerators]
    assert scenario.workload == before.workload
    assert desk.undo_stack.undoText() == f"Open DeepSeek V3.1 on {cell.count} × B300 SXM"
    desk.undo_stack.undo()
    assert desk.scenario.model == before.model
    assert len(desk.scenario.accelerators) == len(before.accelerators)


def test_opened_deployment_fits(view: FitMatrixView, desk: Desk) -> None:
    view.table.go_to("llama-3.1-405b", "mi325x")
    cell = view.table.get_current_cell()
    QTest.mouseClick(view.action, Qt.MouseButton.LeftButton)
    desk.flush()
    assert cell is not None
    assert desk.answer is not None
    estimate = desk.answer.columns[0].estimate
    assert estimate is not None
    assert (estimate.fits, estimate.count) == (True, cell.count)
    assert [choice.accelerator for choice in desk.scenario.accelerators].count("mi325x") == 1


def test_opening_replaces_the_last_of_six(view: FitMatrixView, desk: Desk) -> None:
    six = ("h200-sxm", "mi325x", "mi355x", "b200-hgx", "h100-sxm", "l40s")
    desk.edit("Six", accelerators=tuple(AcceleratorChoice(accelerator) for accelerator in six))
    desk.flush()
    view.table.go_to("phi-4", "gaudi3")
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    accelerators = [choice.accelerator for choice in desk.scenario.accelerators]
    assert accelerators == ["gaudi3", *six[:5]]


# Readings


def test_reading_has_a_warning(view: FitMatrixView, qtbot: QtBot) -> None:
    assert not view.note.isVisible()
    choose_options(view, qtbot, reading="binary-reserved", weights="fp16")
    assert view.note.isVisible()
    assert "Only for checking published counts" in view.note.text()
    assert map_counts(view, "h100-sxm")["llama-3.1-70b"] == 2
    assert map_counts(view, "mi300x")["llama-3.1-405b"] == 8
    assert not view.question.context.isEnabled()
    assert "with this reading" in view.remark.text()


def test_cell_of_a_reading_opens_without_a_count(view: FitMatrixView, desk: Desk, qtbot: QtBot) -> None:
    choose_options(view, qtbot, reading="decimal")
    view.table.go_to("llama-3.1-70b", "h100-sxm")
    QTest.mouseClick(view.action, Qt.MouseButton.LeftButton)
    assert desk.scenario.accelerators[0].accelerator == "h100-sxm"
    assert desk.scenario.accelerators[0].count is None


# Settings, copying, states


def test_options_are_saved(view: FitMatrixView, desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    choose_options(view, qtbot, weights="int4", concurrency=32, by="mi300x", most=8)
    other = FitMatrixView(desk, theme, settings)
    qtbot.addWidget(other)
    assert other.choices == view.choices
    assert read_matrix_options(settings).weights == "int4"


def test_invalid_settings_fall_back_to_defaults(settings: UserSettings) -> None:
    store_matrix_options(settings, FitMatrixOptions("fp99", "fp1", -5, 0, "mine", most=3))
    settings.put("memory.matrix.descending", "yes")
    assert read_matrix_options(settings) == FitMatrixOptions()


def test_copy_has_the_filtered_counts(view: FitMatrixView, page: MemoryPage) -> None:
    view.narrow.models.setText("llama 3.1")
    view.narrow.parts.setText("mi3")
    page.copy()
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasImage()
    lines = mime.text().splitlines()
    assert lines[0].startswith("Smallest deployment per model: FP8 weights")
    assert lines[1].split("\t")[:3] == ["Model", "Parameters, billion", "MI300A"]
    assert lines[-1].split("\t")[0] == "Llama 3.1 405B"
    assert len(lines) == 2 + view.model.rowCount()


def test_counts_are_shown_in_a_table_dialog(view: FitMatrixView, page: MemoryPage) -> None:
    dialog = page.show_table()
    assert dialog.view.model().rowCount() == 83
    assert dialog.view.model().columnCount() == 54
    dialog.close()


def test_controls_are_named_and_reachable_by_tab(view: FitMatrixView) -> None:
    fields = (view.question.weights, view.question.kv, view.question.reading, view.question.order)
    for control in (*fields, view.question.direction, view.narrow.models, view.narrow.parts, view.table):
        assert control.accessibleName()
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert view.question.context.edit.accessibleName() == "Context, tokens"
    assert "25%" in view.legend.accessibleName()


def test_query_is_stopped_and_continued(view: FitMatrixView, qtbot: QtBot) -> None:
    view.question.chosen.emit(replace(view.choices, weights="bf16", context=50_000, concurrency=64))
    assert get_state(view) is QueryState.WORKING
    view.query.stop()
    qtbot.waitUntil(lambda: view.query.state is QueryState.STOPPED, timeout=10_000)
    assert view.remark.text().startswith("Stopped before all models were checked. The counts are from")
    assert view.action.text() == "Continue"
    QTest.mouseClick(view.action, Qt.MouseButton.LeftButton)
    wait_until_ready(view, qtbot)
    assert view.model.table.question is not None
    assert view.model.table.question.concurrency == 64


def test_hidden_view_stops_its_query(view: FitMatrixView, page: MemoryPage, qtbot: QtBot) -> None:
    view.question.chosen.emit(replace(view.choices, weights="int8", context=70_000, concurrency=48))
    assert get_state(view) is QueryState.WORKING
    page.choose_view(FIT)
    assert get_state(view) is QueryState.NOTHING
    page.choose_view(MATRIX)
    wait_until_ready(view, qtbot)
    assert view.model.table.question is not None
    assert view.model.table.question.context == 70_000


def test_user_values_change_the_counts(
    user_service: GpuDeskService, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    desk = Desk(user_service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template("405b-one-node"))
    page = MemoryPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    page.choose_view(MATRIX)
    view = page.view
    assert isinstance(view, FitMatrixView)
    wait_until_ready(view, qtbot)
    before = map_counts(view, "h100-sxm")["llama-3.1-405b"]
    source = make_user_source("Quote by mail", "A reseller", date="2026-11-18")
    catalog = user_service.catalog
    step = state_value(catalog, "h100-sxm", "memory", 240, "GiB", source, today="2026-11-20", reason="seen")
    user_service.user_catalog.do(step)
    wait_until_ready(view, qtbot)
    after = map_counts(view, "h100-sxm")["llama-3.1-405b"]
    assert before is not None
    assert after is not None
    assert after < before


def test_heads_have_at_most_two_lines_of_names(view: FitMatrixView, theme: Theme) -> None:
    # With the vendor above and the memory below.
    assert view.table.heads.height() < theme.line("caption") * 5 + theme.px(12 + 6)
