"""The charts of speed against throughput, of rooflines, and of the time split of a request."""

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.performance.limiter_charts import RooflineChart, TimeSplitChart
from gpudesk.desktop.pages.performance.pareto_chart import ParetoChart
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.bar_chart import (
    BarChart,
    BarChartStyle,
    BarGroup,
    BarInterval,
    BarMark,
    BarNote,
    BarRow,
    BarSegment,
    StackedBar,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def pareto(desk: Desk, theme: Theme, qtbot: QtBot) -> ParetoChart:
    pareto_chart = ParetoChart(desk, theme)
    qtbot.addWidget(pareto_chart)
    desk.answered.connect(pareto_chart.refresh)
    pareto_chart.resize(900, 430)
    pareto_chart.show()
    pareto_chart.refresh()
    return pareto_chart


def test_readout_has_accelerators_that_reach_the_speed(pareto: ParetoChart) -> None:
    cursor_readout = pareto.cursor_readout()
    assert cursor_readout is not None
    assert cursor_readout.title == "Best at ≥ 30 tok/s"
    assert pareto.drawing.rule is not None
    assert pareto.drawing.rule.text == "≥ 30 tok/s"
    values = [float(row.cells[0].replace(",", "")) for row in cursor_readout.rows]
    assert values == sorted(values, reverse=True)
    assert all(int(row.cells[1]) >= 1 for row in cursor_readout.rows)


def test_handle_of_the_cursor_line_covers_no_tick_labels(pareto: ParetoChart, theme: Theme) -> None:
    image, area, x = pareto.viewport().grab().toImage(), pareto.frame.area, round(pareto.frame.pixel_x(30.0))
    tab = theme.color("button").rgb()

    def is_dark(y: float) -> bool:
        return any(image.pixel(each, round(y)) == tab for each in range(x - theme.px(24), x + theme.px(24)))

    assert is_dark(area.top() - theme.px(3))
    assert not any(is_dark(y) for y in range(round(area.bottom()) + 4, image.height()))


def test_marks_of_the_load_and_of_the_best_are_labeled(pareto: ParetoChart) -> None:
    pareto.labeled = True
    pareto.refresh()
    labeled_marks = [mark for mark in pareto.drawing.marks if mark.text]
    assert [mark.text for mark in labeled_marks] == ["64 in flight", "best at ≥ 30"]
    assert all(mark.x < 30 for mark in pareto.drawing.marks[:4])
    assert pareto.describe_best()[-1] == "At this load (64 in flight), no accelerator reaches this speed."
    pareto.move_rule(14.0)
    assert "At this load" not in " ".join(pareto.describe_best())
    pareto.move_rule(5000.0)
    assert pareto.describe_best() == ["No accelerator reaches 5,000 tok/s per user."]


def test_hidden_chart_drops_its_cached_picture(pareto: ParetoChart) -> None:
    def has_picture() -> bool:
        return pareto._ground._picture is not None

    picture = pareto.grab().toImage()
    assert has_picture()
    pareto.hide()
    assert not has_picture()
    pareto.show()
    assert pareto.grab().toImage() == picture


def test_cursor_line_is_moved_by_mouse_and_keys(pareto: ParetoChart, desk: Desk) -> None:
    speeds: list[float] = []
    pareto.read_off_changed.connect(speeds.append)
    start = QPointF(pareto.frame.pixel_x(30.0), pareto.frame.area.center().y()).toPoint()
    QTest.mousePress(pareto.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(pareto.viewport(), start + QPoint(60, 0))
    QTest.mouseRelease(pareto.viewport(), Qt.MouseButton.LeftButton, pos=start + QPoint(60, 0))
    assert len(speeds) == 1
    assert speeds[0] > 30
    pareto.set_read_off(30.0)
    pareto.refresh()
    QTest.keyClick(pareto, Qt.Key.Key_Right)
    assert pareto.read_off == 31.0
    QTest.keyClick(pareto, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert pareto.read_off == 21.0
    assert desk.undo_stack.count() == 0


def test_unreachable_speed_is_reported(pareto: ParetoChart) -> None:
    pareto.move_rule(5000.0)
    cursor_readout = pareto.cursor_readout()
    assert cursor_readout is not None
    assert all(row.cells[:2] == ("—", "not reached") for row in cursor_readout.rows)
    assert "does not reach ≥ 5,000 tok/s" in pareto.summary()


def test_limit_on_the_mean_fixes_the_cursor_line(pareto: ParetoChart, desk: Desk) -> None:
    load = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=40.0, limit="mean")
    desk.apply(scenario_edits.replace_workload(desk.scenario, load=load), "Limits")
    desk.flush()
    assert pareto.drawing.rule is not None
    assert pareto.drawing.rule.value == 25.0
    assert not pareto.drawing.rule.movable


def test_readout_of_a_small_plot_is_beside_it(pareto: ParetoChart) -> None:
    pareto.resize(430, 220)
    pareto.refresh()
    pareto.lay_out()
    assert pareto.read_out_beside
    pareto.grab()


def test_points_of_the_roofline_are_below_the_roof(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    chart = RooflineChart(desk, theme)
    qtbot.addWidget(chart)
    chart.resize(900, 430)
    chart.show()
    chart.refresh()
    assert len(chart.drawing.lines) == len(chart.drawing.ghosts) == 4
    assert {mark.text for mark in chart.drawing.marks} == {"", "decode", "prefill"}
    for each in chart.roofed:
        for point in (each.roofline.decode, each.roofline.prefill):
            assert point is not None
            assert point.flops <= each.roofline.paper.at(point.intensity) * 1.001
    readout = chart.read_at(10.0)
    assert readout is not None
    assert {row.cells[1] for row in readout[1].rows} == {"memory"}
    assert len(chart.data(desk.formatter).rows) == 4
    chart.grab()


def test_segments_of_a_request_add_up(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    chart = TimeSplitChart(desk, theme)
    qtbot.addWidget(chart)
    chart.resize(900, 600)
    chart.show()
    chart.refresh()
    assert desk.answer is not None
    requests, tokens, prompts = chart.groups
    longest = max(sum(segment.length for segment in row.segments) for row in requests.rows)
    assert longest == pytest.approx(1.0)
    for row, column in zip(requests.rows, desk.answer.columns, strict=True):
        assert column.estimate is not None
        assert column.estimate.request_s is not None
        assert row.value == f"{desk.formatter.estimate(column.estimate.request_s.value)} s"
    for group in (tokens, prompts):
        assert all(sum(segment.length for segment in row.segments) == pytest.approx(1.0) for row in group.rows)
    QTest.keyClick(chart, Qt.Key.Key_Down)
    QTest.keyClick(chart, Qt.Key.Key_Down)
    QTest.keyClick(chart, Qt.Key.Key_Return)
    assert desk.selection == select_figure(desk.keys[1], "request_s")
    assert all(name in chart.accessibleDescription() for name in desk.names)
    chart.grab()


def test_column_that_does_not_fit_has_a_reason(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    desk.edit("405B", model="llama-3.1-405b")
    desk.flush()
    chart = TimeSplitChart(desk, theme)
    qtbot.addWidget(chart)
    chart.refresh()
    for group in chart.groups:
        assert all(row.note.startswith("does not fit: ") for row in group.rows)


def test_line_of_a_mark_crosses_no_figure(theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = BarChart(theme, Formatter(ENGLISH_NUMBERS), BarChartStyle())
    qtbot.addWidget(chart)
    chart.resize(600, 400)
    texts: dict[str, tuple[float, float]] = {}
    write = ThemePainter.text

    def record(pen: ThemePainter, where: QRectF, text: str, **options: Any) -> float:  # noqa: ANN401 - as in Qt
        width = write(pen, where, text, **options)
        texts[text] = (where.left(), where.left() + width)
        return width

    monkeypatch.setattr(ThemePainter, "text", record)
    intervals = [BarInterval(0.0, 0.2, number / 20, f"{number}.55", is_filled=True) for number in range(6, 14)]
    rows = [BarRow(each.words, "H200", (each,), palette_index=1) for each in intervals]
    note = BarRow("note", "B200", (BarNote("No purchase price", link="Enter price"),))
    for mark in (0.1, 0.35, 0.5, 0.62):
        chart.show_groups(BarGroup("Cost", "USD", (*rows, note), mark=BarMark(mark)))
        chart.grab()
        x = chart._map_to_x(0, mark)
        figures = [*(each.words for each in intervals), "No purchase price", "Enter price"]
        assert not [text for text in figures if texts[text][0] < x < texts[text][1]]


def test_lines_of_the_scale_cross_no_text_at_the_end_of_a_bar(theme: Theme, qtbot: QtBot) -> None:
    chart = BarChart(theme, Formatter(ENGLISH_NUMBERS), BarChartStyle())
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    bar = StackedBar((BarSegment(0.05, 3.0, palette_index=1),), before="l" * 12, after="")
    chart.show_groups(BarGroup("Costs", "USD", (BarRow("input", "Input", (bar,)),), high=4.0))
    band, words = chart.band(0), theme.color("text2")
    zero, middle = round(band.left()), round(band.center().y())
    picture = chart.grab().toImage()
    column = [picture.pixelColor(zero, y) for y in range(picture.height())]
    assert theme.color("strong") in column
    assert theme.color("strong") not in column[middle - 6 : middle + 6]
    before = [picture.pixelColor(x, middle) for x in range(zero - 30, zero)]
    assert any(color.lightness() < (words.lightness() + 255) / 2 for color in before)


def test_long_legend_takes_two_lines(theme: Theme, qtbot: QtBot) -> None:
    chart = BarChart(theme, Formatter(ENGLISH_NUMBERS), BarChartStyle(key_below_names=True))
    qtbot.addWidget(chart)
    key = tuple((ink, "a text that is not short") for ink in ("text1", "ink2", "ink4", "ink1"))
    chart.show_groups(BarGroup("Costs", "USD", (BarRow("input", "Input", ()),), high=4.0, key=key))
    chart.resize(360, 200)
    image = chart.grab().toImage()
    colors = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(50)}
    assert {theme.color(ink).name() for ink, _ in key} <= colors
