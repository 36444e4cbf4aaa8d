"""The Compare page: figures, keyboard, filter, sorting, copying, states."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_attribute, select_cost, select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.documents.scenario_file import read_template
from tests.unit.desktop.pages.compare.conftest import replace_counts


def list_row_keys(page: ComparePage) -> list[str]:
    return [line.key for line in page.model.lines if line.row is not None]


def list_column_names(page: ComparePage) -> list[str]:
    return [page.model.head(column).name for column in range(page.model.columnCount())]


def get_text(page: ComparePage, row: str, column: str) -> str:
    return str(page.model.index_of(row, column).data())


def set_current_cell(page: ComparePage, row: str, column: str) -> None:
    page.view.setFocus()
    page.view.setCurrentIndex(page.model.index_of(row, column))


def find_action(page: ComparePage, name: str) -> ActionSpec:
    return next(spec for spec in page.list_page_actions() if spec.id == f"compare.{name}")


def read_clipboard() -> str:
    return QGuiApplication.clipboard().text()


# Figures


def test_cells_and_headlines_show_the_digits_of_the_answer(page: ComparePage, desk: Desk) -> None:
    assert desk.answer is not None
    estimate = desk.answer.columns[2].estimate
    assert estimate is not None
    assert estimate.output_tokens_per_s is not None
    expected = desk.formatter.estimate(estimate.output_tokens_per_s.value)
    assert get_text(page, "output_tokens_per_s", "b200-hgx") == expected
    accessible_names = [box.accessibleName() for box in page.strip.findChildren(type(page.strip._boxes[0]))]
    assert any(expected in sentence and sentence.startswith("Output throughput") for sentence in accessible_names)


def test_load_change_updates_figures_in_place(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    set_current_cell(page, "memory_bandwidth", "mi325x")
    page.view.verticalScrollBar().setValue(40)
    before = get_text(page, "output_tokens_per_s", "h200-sxm")
    with qtbot.assertNotEmitted(page.model.modelReset), qtbot.waitSignal(desk.answered):
        desk.apply(scenario_edits.replace_load_value(desk.scenario, 16), "Change of load")
    assert get_text(page, "output_tokens_per_s", "h200-sxm") != before
    assert page.view.get_current_keys() == ("memory_bandwidth", "mi325x")
    assert page.view.verticalScrollBar().value() == 40


def test_new_accelerator_keeps_cell_and_scroll_position(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    set_current_cell(page, "memory_bandwidth", "mi325x")
    page.view.verticalScrollBar().setValue(40)
    with qtbot.waitSignal(desk.answered):
        desk.apply(scenario_edits.add_accelerator(desk.scenario, "mi300x", 1), "Add")
    assert "MI300X" in list_column_names(page)
    assert page.view.get_current_keys() == ("memory_bandwidth", "mi325x")
    assert page.view.verticalScrollBar().value() == 40


def test_hidden_page_is_refreshed_when_shown(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    page.hide()
    before = get_text(page, "output_tokens_per_s", "h200-sxm")
    with qtbot.waitSignal(desk.answered):
        desk.apply(scenario_edits.replace_load_value(desk.scenario, 16), "Change of load")
    assert get_text(page, "output_tokens_per_s", "h200-sxm") == before
    page.show()
    assert get_text(page, "output_tokens_per_s", "h200-sxm") != before


# Keyboard and selection


def test_arrow_keys_skip_headings_and_select(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    set_current_cell(page, "basis", "h200-sxm")
    QTest.keyClick(page.view, Qt.Key.Key_Down)
    assert desk.selection == select_attribute("h200-sxm", "memory")
    QTest.keyClick(page.view, Qt.Key.Key_Right)
    assert desk.selection == select_attribute("mi325x", "memory")
    QTest.keyClick(page.view, Qt.Key.Key_End)
    assert desk.selection == select_attribute("mi355x", "memory")
    QTest.keyClick(page.view, Qt.Key.Key_Home)
    assert desk.selection == select_attribute("h200-sxm", "memory")
    QTest.keyClick(page.view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert desk.selection == select_figure("h200-sxm", "output_tokens_per_s")
    QTest.keyClick(page.view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert desk.selection == select_attribute("mi355x", "price_low")
    QTest.keyClick(page.view, Qt.Key.Key_PageUp)
    assert page.view.get_current_keys() != ("price", "mi355x")


def test_enter_selects_the_current_cell_again(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    set_current_cell(page, "memory", "mi325x")
    desk.select(None)
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert desk.selection == select_attribute("mi325x", "memory")


def test_typing_moves_to_a_row_by_label(page: ComparePage, qtbot: QtBot) -> None:
    set_current_cell(page, "output_tokens_per_s", "mi325x")
    QTest.keyClicks(page.view, "board")
    assert page.view.get_current_keys() == ("tdp", "mi325x")


def test_selection_of_the_desk_becomes_the_current_cell(page: ComparePage, desk: Desk) -> None:
    desk.select(select_attribute("b200-hgx", "tdp"))
    assert page.view.get_current_keys() == ("tdp", "b200-hgx")
    desk.select(select_figure("b200-hgx", "memory"))
    qualified = page.view.get_current_keys()
    assert qualified is not None
    assert qualified[1] == "b200-hgx"


def test_headline_selects_the_figure_of_the_leader(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    box = page.strip._boxes[-1]
    QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    assert desk.selection == select_figure("mi355x", "max_concurrency")


def test_cells_have_accessible_sentences(page: ComparePage) -> None:
    table = QAccessible.queryAccessibleInterface(page.view)
    accessible_names = [table.child(number).text(QAccessible.Text.Name) for number in range(20)]
    assert "MI325X, CDNA 3 · OAM · × 1" in accessible_names
    assert "Output throughput, tokens per second" in accessible_names
    assert any(
        name.startswith("Output throughput, B200 SXM,") and "too close to call with MI355X" in name
        for name in accessible_names
    )


# Filter, hidden rows, order


def test_filter_narrows_while_typing_and_counts_rows(page: ComparePage, qtbot: QtBot) -> None:
    find_action(page, "filter").run()
    assert page.filter.hasFocus()
    QTest.keyClicks(page.filter, "bandw")
    assert list_row_keys(page) == ["memory_bandwidth"]
    assert page.view.accessibleDescription() == f"1 of {page.model.all_rows} rows"
    QTest.keyClick(page.filter, Qt.Key.Key_Return)
    assert page.view.hasFocus()
    QTest.keyClick(page.filter, Qt.Key.Key_Escape)
    assert len(list_row_keys(page)) == page.model.all_rows
    QTest.keyClicks(page.filter, "zzz")
    assert list_row_keys(page) == []
    assert page.view.empty_text == "No row contains “zzz”"


def test_row_settings_are_saved(
    page: ComparePage, desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    set_current_cell(page, "tpot_ms", "mi325x")
    find_action(page, "row_up").run()
    find_action(page, "row_up").run()
    set_current_cell(page, "ttft_ms", "mi325x")
    find_action(page, "hide_row").run()
    differences = find_action(page, "differences")
    differences.run()
    assert differences.checked is not None
    assert differences.checked()
    second_page = ComparePage(desk, theme, settings)
    qtbot.addWidget(second_page)
    second_page.show()
    assert list_row_keys(second_page) == list_row_keys(page)
    assert list_row_keys(second_page)[:2] == ["tpot_ms", "output_tokens_per_s"]
    assert "ttft_ms" not in list_row_keys(second_page)
    assert "serving_engine" not in list_row_keys(second_page), "all four run on the same serving engine"
    find_action(second_page, "show_rows").run()
    assert len(list_row_keys(second_page)) == second_page.model.all_rows


def test_rows_are_hidden_in_a_list(page: ComparePage, qtbot: QtBot) -> None:
    find_action(page, "rows").run()
    chooser = page._chooser
    assert chooser.isVisible()
    rows = [chooser.model.index(row).data() for row in range(chooser.model.rowCount())]
    chooser._list.setCurrentIndex(chooser.model.index(rows.index("Bandwidth")))
    QTest.keyClick(chooser._list, Qt.Key.Key_Space)
    assert "memory_bandwidth" not in list_row_keys(page)
    QTest.keyClick(chooser._list, Qt.Key.Key_Return)
    assert "memory_bandwidth" in list_row_keys(page)
    chooser.close()


def test_columns_are_sorted_by_a_row(page: ComparePage, qtbot: QtBot) -> None:
    before = list_column_names(page)
    row = list_row_keys(page).index("max_concurrency") + 1
    labels = page.view._labels
    arrow = QPoint(labels.width() - 6, labels.sectionViewportPosition(row) + 6)
    QTest.mouseClick(labels.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert list_column_names(page) == ["MI355X", "MI325X", "B200 SXM", "H200 SXM"]
    assert page.model.is_baseline(3), "the baseline is unchanged"
    QTest.mouseClick(labels.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert list_column_names(page) == ["H200 SXM", "B200 SXM", "MI325X", "MI355X"]
    QTest.mouseClick(labels.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert list_column_names(page) == before


# Columns


def test_head_menu_edits_the_scenario_in_single_steps(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    def choose(name: str, entry: str) -> None:
        menu = QMenu()
        qtbot.addWidget(menu)
        head = page.model.head(list_column_names(page).index(name))
        page._commands._fill_head_menu(menu, head)
        menu_action = next(each for each in menu.actions() if each.text() == entry)
        assert menu_action.isEnabled()
        menu_action.trigger()
        desk.flush()

    choose("B200 SXM", "Set as baseline")
    assert list_column_names(page)[0] == "B200 SXM"
    choose("B200 SXM", "Move right")
    assert list_column_names(page)[:2] == ["H200 SXM", "B200 SXM"]
    choose("MI325X", "Remove MI325X")
    assert "MI325X" not in list_column_names(page)
    assert desk.undo_stack.undoText() == "Remove MI325X"
    assert desk.undo_stack.count() == 3
    choose("MI355X", "Hide column")
    assert list_column_names(page) == ["H200 SXM", "B200 SXM"]
    assert desk.undo_stack.count() == 3, "hiding a column does not edit the scenario"
    page._corner._link.click()
    assert list_column_names(page) == ["H200 SXM", "B200 SXM", "MI355X"]


def test_column_actions_act_on_the_current_cell(page: ComparePage, desk: Desk) -> None:
    assert not find_action(page, "baseline").enabled()
    set_current_cell(page, "memory", "mi355x")
    assert find_action(page, "baseline").enabled()
    find_action(page, "left").run()
    desk.flush()
    assert list_column_names(page) == ["H200 SXM", "MI325X", "MI355X", "B200 SXM"]
    assert page.view.get_current_keys() == ("memory", "mi355x")


def test_context_menu_is_that_of_the_row_under_the_mouse(page: ComparePage, qtbot: QtBot) -> None:
    for key in ("output_tokens_per_s", "tpot_ms"):
        position = page.view.visualRect(page.model.index_of(key, "mi325x")).center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, position, page.view.viewport().mapToGlobal(position))
        with qtbot.waitSignal(page.view.menu_requested) as signal:
            QApplication.sendEvent(page.view.viewport(), event)
        assert page.model.lines[signal.args[0]].key == key
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        menu.close()


# Copying


def test_one_cell_is_copied_as_its_number(page: ComparePage, qtbot: QtBot) -> None:
    set_current_cell(page, "memory_bandwidth", "mi325x")
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert read_clipboard() == "6.0"


def test_several_cells_are_copied_with_heads_and_units(page: ComparePage, qtbot: QtBot) -> None:
    set_current_cell(page, "memory", "h200-sxm")
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(page.view, Qt.Key.Key_Down, shift)
    QTest.keyClick(page.view, Qt.Key.Key_Right, shift)
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = [line.split("\t") for line in read_clipboard().split("\n")]
    assert [line[:3] for line in lines] == [
        ["Group", "Row", "Unit"],
        ["Memory", "Capacity", "GiB"],
        ["Memory", "Bandwidth", "TB/s"],
    ]
    assert [line[3:] for line in lines[1:]] == [["141.0", "256.0"], ["4.8", "6.0"]]
    assert QGuiApplication.clipboard().mimeData().hasHtml()


def test_filtered_table_is_copied(page: ComparePage) -> None:
    page.filter.setText("dense")
    find_action(page, "copy_table").run()
    lines = read_clipboard().split("\n")
    assert len(lines) == 1 + len(list_row_keys(page))
    assert all(len(line.split("\t")) == 3 + page.model.columnCount() for line in lines)


def test_copied_estimate_has_the_displayed_digits(page: ComparePage) -> None:
    expected = get_text(page, "output_tokens_per_s", "b200-hgx")
    set_current_cell(page, "output_tokens_per_s", "b200-hgx")
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert read_clipboard() == expected


# States


def test_missing_accelerators_have_a_link(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Empty", accelerators=())
    desk.flush()
    assert not page.view.isVisible()
    button = next(each for each in page.body.missing.findChildren(QPushButton) if each.isVisible())
    assert button.text() == "Add an accelerator"
    with qtbot.waitSignal(page.wanted, check_params_cb=lambda what: what == "accelerators"):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.undo_stack.undo()
    desk.flush()
    assert page.view.isVisible()


def test_accelerator_that_does_not_fit_has_a_reason(page: ComparePage, desk: Desk) -> None:
    desk.open(replace_counts(read_template("405b-one-node"), 4, 4, 4, 4, 4, 4))
    cell = page.model.cell(page.model.index_of("output_tokens_per_s", "h100-sxm").row(), 0)
    assert cell is not None
    assert cell.reason == "does not fit on 4"
    assert get_text(page, "fits", "h100-sxm") == "does not fit on 4"
    assert get_text(page, "output_tokens_per_s", "mi355x") != "—"


def test_problem_of_a_column_is_shown(page: ComparePage, desk: Desk) -> None:
    desk.apply(scenario_edits.edit_accelerator(desk.scenario, 0, tp=3, count=4), "Plan")
    desk.flush()
    assert page.body.note.isVisible()
    assert page.body.note.text == "H200 SXM: 4 accelerators do not match TP 3; use a multiple of 3."
    desk.undo_stack.undo()
    desk.flush()
    assert not page.body.note.isVisible()


def test_last_valid_figures_stay_below_a_problem(page: ComparePage, desk: Desk) -> None:
    before = get_text(page, "output_tokens_per_s", "h200-sxm")
    desk.edit("Another model", model="no-such-model")
    desk.flush()
    assert desk.problem is not None
    assert page.body.note.text.endswith("The figures below are from before this change.")
    assert get_text(page, "output_tokens_per_s", "h200-sxm") == before


def test_print_button_requests_the_sheet(page: ComparePage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.preview_requested):
        QTest.mouseClick(page._print, Qt.MouseButton.LeftButton)


# Appearance


def test_best_cells_are_tinted_in_both_themes(page: ComparePage, theme: Theme, qtbot: QtBot) -> None:
    rect = page.view.visualRect(page.model.index_of("max_concurrency", "mi355x"))
    position = QPoint(rect.left() + rect.width() // 2, rect.top() + 7)
    for preference in ("light", DARK):
        theme.set_preference(preference)
        picture = page.view.viewport().grab().toImage()
        assert picture.pixelColor(position) == theme.color("best")
        plain_rect = page.view.visualRect(page.model.index_of("max_concurrency", "h200-sxm"))
        assert picture.pixelColor(plain_rect.center().x(), plain_rect.top() + 7) == theme.color("page")


def test_larger_text_has_higher_rows_and_reachable_columns(page: ComparePage, theme: Theme) -> None:
    row = page.model.index_of("memory_bandwidth", "mi325x").row()
    small = page.view.rowHeight(row)
    theme.set_font_percent(150)
    assert page.view.rowHeight(row) >= 1.4 * small
    page.view.setCurrentIndex(page.model.index_of("memory_bandwidth", "mi355x"))
    assert page.view.viewport().rect().contains(page.view.visualRect(page.view.currentIndex()))


def test_rows_have_three_heights(page: ComparePage) -> None:
    heights = {
        key: page.view.rowHeight(next(row for row, line in enumerate(page.model.lines) if line.key == key))
        for key in ("group:workload", "output_tokens_per_s", "max_concurrency")
    }
    assert heights == {"group:workload": 36, "output_tokens_per_s": 44, "max_concurrency": 29}


def test_verdict_follows_the_answer_and_cost_headline_selects_the_cost(
    page: ComparePage, desk: Desk, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: bool(page.verdict.text()))
    assert page.verdict.isVisible()
    before = page.verdict.text()
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 4), "load")
    qtbot.waitUntil(lambda: page.verdict.isEnabled() and page.verdict.text() != before)
    page.strip.chosen.emit("mi325x", "rented_usd_per_million_output")
    assert desk.selection == select_cost("mi325x", "usd_rented")
    assert page.view.get_current_keys() == ("rented_usd_per_million_output", "mi325x")


def test_counts_of_the_verdict_can_be_applied(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    """Without counts, the table shows the smallest that fit, and the verdict those that carry the load."""
    assert page.decided_counts.isHidden(), "before the first verdict"
    desk.apply(scenario_edits.free_counts(desk.scenario), "Free counts")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 512), "Change load")
    qtbot.waitUntil(lambda: page.verdict.isEnabled() and "The table shows 1 × " in page.verdict.terms.text())
    assert page.decided_counts.isVisible()
    assert desk.evaluated is not None
    counts = [each.count for each in desk.evaluated.decision.candidates if each.eligible]
    QTest.keyClick(page.decided_counts, Qt.Key.Key_Space)
    assert [choice.count for choice in desk.scenario.accelerators if choice.count is not None] == counts
    qtbot.waitUntil(lambda: page.verdict.isEnabled() and "The table shows" not in page.verdict.terms.text())
    assert not page.decided_counts.isVisible()


def test_smallest_counts_that_fit_are_offered(page: ComparePage, desk: Desk, qtbot: QtBot) -> None:
    assert not page.free_counts.isVisible()
    desk.apply(replace(replace_counts(desk.scenario, 1, 1), model="deepseek-r1"), "Change model")
    qtbot.waitUntil(page.free_counts.isVisible)
    QTest.keyClick(page.free_counts, Qt.Key.Key_Space)
    assert {choice.count for choice in desk.scenario.accelerators} == {None}
    qtbot.waitUntil(lambda: not page.free_counts.isVisible())
    assert desk.answer is not None
    assert all(column.estimate is not None and column.estimate.fits for column in desk.answer.columns)


def test_low_page_leaves_its_height_to_the_table(page: ComparePage) -> None:
    page.resize(900, 600)
    assert page.strip.isVisible()
    page.resize(900, 380)
    assert not page.strip.isVisible()
    assert page.view.height() > page.height() // 4
