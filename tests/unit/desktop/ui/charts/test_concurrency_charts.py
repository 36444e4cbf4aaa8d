"""Charts of figures by concurrency: curves, keyboard, zoom, pinned results, faults."""

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.performance.concurrency_charts import (
    STRIP_HEAD,
    LatencyChart,
    LimiterStrip,
    StripPiece,
    ThroughputChart,
    describe_strip_end,
    find_next_count,
    split_into_pieces,
)
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts import chart_data
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def chart(desk: Desk, theme: Theme, qtbot: QtBot) -> ThroughputChart:
    throughput_chart = ThroughputChart(desk, theme)
    throughput_chart.show_unfit_columns()
    show(throughput_chart, desk, qtbot)
    return throughput_chart


def show(chart: DeskChart, desk: Desk, qtbot: QtBot, width: int = 900, height: int = 430) -> None:
    qtbot.addWidget(chart)
    desk.answered.connect(chart.refresh)
    chart.resize(width, height)
    chart.show()
    chart.refresh()


def is_zoomed(chart: DeskChart) -> bool:
    return chart.frame.zoomed


def get_hover_x(chart: DeskChart) -> float:
    return chart.hover_x or 0.0


def is_dragging(desk: Desk) -> bool:
    return desk.in_gesture


def get_concurrency(desk: Desk) -> int | None:
    return desk.scenario.workload.load.concurrency


def press_key(chart: DeskChart, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(chart, key, modifier)
    chart.desk.flush()


def get_rule_position(chart: DeskChart) -> QPoint:
    """Return the pixel of the load line, at the middle height of the plot."""
    assert chart.drawing.rule is not None
    area = chart.frame.area
    return QPointF(chart.frame.pixel_x(chart.drawing.rule.value), area.center().y()).toPoint()


# Figures


def test_curves_end_at_the_memory_limit(chart: ThroughputChart, desk: Desk) -> None:
    assert desk.answer is not None
    for line, column in zip(chart.drawing.lines, desk.answer.columns, strict=True):
        assert column.curve is not None
        assert line.x[-1] == column.curve.max_concurrency
        assert line.end == f"memory full at {column.curve.max_concurrency}"


def test_readout_has_the_digits_of_the_answer_best_first(chart: ThroughputChart, desk: Desk) -> None:
    cursor_readout = chart.cursor_readout()
    assert cursor_readout is not None
    assert desk.answer is not None
    assert cursor_readout.title == "At 64 requests in flight"
    rates = [column.estimate.output_tokens_per_s for column in desk.answer.columns if column.estimate is not None]
    best = max(rate for rate in rates if rate is not None)
    assert cursor_readout.rows[0].cells[:2] == (desk.formatter.estimate(best.value), desk.formatter.band(best))
    values = [float(row.cells[0].replace(",", "")) for row in cursor_readout.rows]
    assert values == sorted(values, reverse=True)


def test_title_of_a_single_request(chart: ThroughputChart) -> None:
    readout = chart.read_at(1.0)
    assert readout is not None
    assert readout[1].title == "At 1 request in flight"


def test_readout_of_times_has_the_shortest_first(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    chart = LatencyChart(desk, theme, "ttft_ms")
    show(chart, desk, qtbot, 430, 240)
    readout = chart.read_at(8.0)
    assert readout is not None
    values = [float(row.cells[0].replace(",", "")) for row in readout[1].rows]
    assert values == sorted(values)


def test_readout_beyond_the_end_of_a_curve(chart: ThroughputChart) -> None:
    shortest_end = min(line.x[-1] for line in chart.drawing.lines)
    readout = chart.read_at(shortest_end + 1.0)
    assert readout is not None
    assert readout[1].rows[-1].cells[:2] == ("—", f"queues above {shortest_end:.0f}")


def test_strips_cover_every_concurrency_once(desk: Desk) -> None:
    assert desk.answer is not None
    for column in desk.answer.columns:
        assert column.curve is not None
        pieces = split_into_pieces(column.curve)
        assert pieces[0].start == 1
        assert pieces[-1].end == column.curve.max_concurrency
        for before, after in pairwise(pieces):
            assert before.end == after.start
            assert before.limiter != after.limiter


# The load line


def test_drag_of_the_load_line_is_one_step(chart: ThroughputChart, desk: Desk) -> None:
    start = get_rule_position(chart)
    x_range = chart.frame.whole_x
    QTest.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=start)
    assert is_dragging(desk)
    for right in (10, 20, 30):
        QTest.mouseMove(chart.viewport(), start + QPoint(right, 0))
        desk.flush()
    assert chart.frame.whole_x == x_range
    QTest.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, pos=start + QPoint(30, 0))
    desk.flush()
    assert not is_dragging(desk)
    assert (get_concurrency(desk) or 0) > 64
    assert desk.undo_stack.count() == 1
    desk.undo_stack.undo()
    assert get_concurrency(desk) == 64


def test_only_one_interval_is_shaded_during_a_drag(chart: ThroughputChart, desk: Desk) -> None:
    all_keys = frozenset(desk.keys)
    assert chart.banded == all_keys
    desk.select(select_figure(desk.keys[2], "output_tokens_per_s"))
    desk.begin_gesture("load")
    assert chart.banded == {desk.keys[2]}
    desk.end_gesture()
    assert chart.banded == all_keys
    chart.set_bands_wanted(False)
    assert chart.banded == frozenset()


def test_arrow_keys_move_the_load_line(chart: ThroughputChart, desk: Desk) -> None:
    chart.setFocus()
    press_key(chart, Qt.Key.Key_Right)
    assert get_concurrency(desk) == 67
    press_key(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert get_concurrency(desk) == 64
    press_key(chart, Qt.Key.Key_Home)
    assert get_concurrency(desk) == 1
    press_key(chart, Qt.Key.Key_End)
    assert get_concurrency(desk) == max(line.x[-1] for line in chart.drawing.lines)
    assert desk.undo_stack.count() == 3


def test_key_steps_reach_every_count_below_30() -> None:
    assert [find_next_count(count, forward=True, far=False) for count in (1, 9, 29)] == [2, 10, 30]
    assert find_next_count(1, forward=False, far=False) == 1
    assert [find_next_count(count, forward=True, far=True) for count in (1, 64, 65)] == [2, 128, 128]
    assert [find_next_count(count, forward=False, far=True) for count in (1, 64, 65)] == [1, 32, 64]


def test_batch_load_has_no_load_line_but_a_readout(chart: ThroughputChart, desk: Desk) -> None:
    load = Load(LoadKind.BATCH, batch=32)
    desk.apply(scenario_edits.replace_workload(desk.scenario, load=load), "Batch")
    desk.flush()
    assert chart.drawing.rule is None
    press_key(chart, Qt.Key.Key_Right)
    positions = [get_hover_x(chart)]
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Escape):
        press_key(chart, key)
        positions.append(get_hover_x(chart))
    assert 0.0 < positions[0] < positions[1]
    assert positions[2] == 0.0
    assert desk.scenario.workload.load == load


def test_limits_are_drawn_on_times(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    chart = LatencyChart(desk, theme, "ttft_ms")
    show(chart, desk, qtbot, 430, 240)
    load = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0)
    desk.apply(scenario_edits.replace_workload(desk.scenario, load=load), "Limits")
    desk.flush()
    assert chart.drawing.limit is not None
    assert chart.drawing.limit.text == "limit 2,000 ms, p99"
    assert chart.grab().toImage().width() >= 430


@pytest.mark.parametrize(
    "load", [Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0), Load(LoadKind.REQUEST_RATE, request_rate=0.2)]
)
def test_marks_show_the_figures_of_other_load_types(desk: Desk, theme: Theme, qtbot: QtBot, load: Load) -> None:
    chart = LatencyChart(desk, theme, "ttft_ms")
    show(chart, desk, qtbot, 430, 240)
    desk.apply(scenario_edits.replace_workload(desk.scenario, load=load), "Load")
    desk.flush()
    assert desk.answer is not None
    estimates = [column.estimate for column in desk.answer.columns]
    figures = [
        estimate.ttft_ms.value for estimate in estimates if estimate is not None and estimate.ttft_ms is not None
    ]
    assert [mark.y for mark in chart.drawing.marks] == figures
    assert len(figures) == len(estimates)
    assert "constant concurrency" in chart.subtitle


def test_overloaded_accelerator_has_no_mark(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    chart = LatencyChart(desk, theme, "ttft_ms")
    show(chart, desk, qtbot, 430, 240)
    load = Load(LoadKind.REQUEST_RATE, request_rate=1000.0)
    desk.apply(scenario_edits.replace_workload(desk.scenario, load=load), "Load")
    desk.flush()
    assert chart.drawing.lines
    assert chart.drawing.marks == ()


# Selection and zoom


def test_enter_selects_the_chosen_curve(chart: ThroughputChart, desk: Desk) -> None:
    press_key(chart, Qt.Key.Key_Down)
    press_key(chart, Qt.Key.Key_Down)
    press_key(chart, Qt.Key.Key_Return)
    cursor_readout = chart.cursor_readout()
    assert cursor_readout is not None
    assert desk.selection == select_figure(cursor_readout.rows[1].key, "output_tokens_per_s")


def test_click_on_a_curve_selects_it(chart: ThroughputChart, desk: Desk) -> None:
    number = 3
    x, y = chart.get_line_pixels(number)[-3]
    QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    assert desk.selection == select_figure(chart.drawing.lines[number].key, "output_tokens_per_s")


def test_zoom_is_reset_by_button_and_escape(chart: ThroughputChart, desk: Desk) -> None:
    button = next(each for each in chart.findChildren(QPushButton) if each.text() == "Reset zoom")
    assert button.isHidden()
    press_key(chart, Qt.Key.Key_Plus)
    assert is_zoomed(chart)
    assert not button.isHidden()
    zoomed_range = chart.frame.x
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 70), "Load")
    desk.flush()
    assert chart.frame.x == zoomed_range
    button.click()
    assert not is_zoomed(chart)
    press_key(chart, Qt.Key.Key_Plus)
    press_key(chart, Qt.Key.Key_Escape)
    assert not is_zoomed(chart)


# Copying, accessible texts, table


def test_data_is_copied_for_a_spreadsheet(chart: ThroughputChart, desk: Desk) -> None:
    chart_data.copy_data(chart)
    rows = [row.split("\t") for row in QGuiApplication.clipboard().text().splitlines()]
    assert rows[0][3] == "Output throughput, tok/s"
    assert all(len(row) == len(rows[0]) for row in rows)
    assert desk.answer is not None
    points = sum(len(column.curve.concurrency) for column in desk.answer.columns if column.curve)
    assert len(rows) == points + 1
    assert all(float(cell.replace(",", "")) > 0 for row in rows[1:] for cell in row[2:])
    assert [tuple(row) for row in rows[1:]] == list(chart.data(chart.formatter).rows)
    chart_data.copy_to_clipboard([chart], chart.grab())
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasImage()
    assert mime.hasText()


def test_table_dialog_copies_its_rows(chart: ThroughputChart, qtbot: QtBot) -> None:
    dialog = chart_data.show_data_table(chart)
    qtbot.addWidget(dialog)
    model = dialog.view.model()
    assert model.rowCount() == len(chart.data(chart.formatter).rows)
    assert "in flight" in str(model.headerData(2, Qt.Orientation.Horizontal))
    dialog.view.selectRow(1)
    dialog.copy_selected()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 2
    dialog.copy()
    assert len(QGuiApplication.clipboard().text().splitlines()) == model.rowCount() + 1


def test_chart_has_a_name_and_a_summary(chart: ThroughputChart) -> None:
    assert chart.accessibleName() == "Output throughput, chart"
    for line in chart.drawing.lines:
        assert f"{line.name}: " in chart.accessibleDescription()
        assert line.end in chart.accessibleDescription()


def test_context_menu_offers_every_command(chart: ThroughputChart, qtbot: QtBot) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
    QApplication.sendEvent(chart, event)
    menu = chart.findChildren(QMenu)[-1]
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Copy image", "Copy data", "Show as table", "Save image…", "Reset zoom"]


# Pinned results, faults, themes


def test_readout_has_the_difference_to_a_pinned_result(chart: ThroughputChart, desk: Desk) -> None:
    desk.pin_ghost()
    desk.apply(scenario_edits.replace_workload(desk.scenario, input_tokens=2000), "Shorter prompts")
    desk.flush()
    assert len(chart.drawing.ghosts) == 4
    cursor_readout = chart.cursor_readout()
    assert cursor_readout is not None
    assert cursor_readout.heads[-1] == "vs. pinned"
    assert all(row.cells[-1].startswith("+") for row in cursor_readout.rows)
    desk.clear_ghost()
    chart.refresh()
    assert not chart.drawing.ghosts


def test_accelerators_that_do_not_fit_have_a_remedy(chart: ThroughputChart, desk: Desk, qtbot: QtBot) -> None:
    scenario = replace(desk.scenario, model="llama-3.1-405b")
    for position in range(4):
        scenario = scenario_edits.replace_count(scenario, position, 2)
    desk.apply(scenario, "405B")
    desk.flush()
    assert chart.notice is not None
    assert chart.notice.accessibleName() == "2 of 4 do not fit"
    assert len(chart.drawing.lines) == 2
    use = next(each for each in chart.notice.findChildren(QPushButton))
    assert use.text() == "Use 4"
    assert use.accessibleName().startswith("Use 4 × ")
    use.click()
    desk.flush()
    assert chart.notice.accessibleName() == "1 of 4 does not fit"
    assert len(chart.drawing.lines) == 3


def test_empty_chart_has_a_note(chart: ThroughputChart, desk: Desk) -> None:
    scenario = replace(desk.scenario, model="llama-3.1-405b")
    desk.apply(scenario, "405B on one")
    desk.flush()
    assert not chart.drawing.lines
    assert chart.drawing.note == "No curve: no accelerator fits the model"
    chart.grab()


def test_chart_follows_the_theme(chart: ThroughputChart, theme: Theme) -> None:
    position = get_rule_position(chart)
    before = chart.grab().toImage().pixelColor(position)
    theme.set_preference(DARK)
    after = chart.grab().toImage()
    assert after.pixelColor(2, chart.height() - 2) == theme.color("page")
    assert after.pixelColor(position) != before


def test_strip_end_names_the_memory_limit() -> None:
    strip = LimiterStrip("h200-sxm", 1, "H200 SXM", (StripPiece(1.0, 117.0, "capacity"),))
    formatter = Formatter(ENGLISH_NUMBERS)
    assert describe_strip_end(strip, formatter) == "memory full at 117"
    assert describe_strip_end(replace(strip, pieces=()), formatter) == "does not fit"


def test_load_line_crosses_no_label(chart: ThroughputChart, desk: Desk, qtbot: QtBot) -> None:
    chart.grab()
    visible_count = 0
    for line in chart.drawing.lines:
        label = chart.placed_labels[line.key]
        label_x = chart.frame.value_x(label.x + 15)
        desk.apply(scenario_edits.replace_load_value(desk.scenario, max(1, round(label_x))), "Change load")
        desk.flush()
        chart.grab()
        assert chart.drawing.rule is not None
        x = chart.frame.pixel_x(chart.drawing.rule.value)
        width = chart.text_painter.width(line.name, "label")
        visible_count += chart.frame.area.left() <= x <= chart.frame.area.right()
        assert not 0 < x - chart.placed_labels[line.key].x < width
    assert visible_count


def list_line_pixels(chart: ThroughputChart, image: QImage, y: float) -> list[int]:
    color = chart.theme.color("text1").rgb()
    return [x for x in range(image.width()) if image.pixel(x, round(y)) == color]


def test_load_line_is_straight_through_the_strips(chart: ThroughputChart, desk: Desk) -> None:
    for concurrency in range(5, 61, 5):
        desk.apply(scenario_edits.replace_load_value(desk.scenario, concurrency), "Change load")
        desk.flush()
        image, area = chart.grab().toImage(), chart.frame.area
        above, below = (list_line_pixels(chart, image, y) for y in (area.top() + 3, area.bottom() + 3))
        assert len(below) == 1
        assert below[0] in above


def test_load_line_crosses_no_text_of_a_strip(chart: ThroughputChart, desk: Desk) -> None:
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 2), "Change load")
    desk.flush()
    image, area = chart.grab().toImage(), chart.frame.area
    (x,) = list_line_pixels(chart, image, area.bottom() + 3)
    middle = area.bottom() + chart.theme.px(STRIP_HEAD) + 7
    color = chart.theme.color("text1").rgb()
    # The text of the piece is there: no line through its whole height.
    assert {image.pixel(x, round(middle + away)) for away in range(-6, 7)} != {color}
