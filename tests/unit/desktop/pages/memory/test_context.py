"""KV cache by context length: both charts, their table and readouts."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.context_view import ContextView
from gpudesk.desktop.pages.memory.page import CONTEXT, MemoryPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_workload
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts import canvas
from gpudesk.desktop.ui.charts.scales import format_ticks
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.text.formatting import ENGLISH_NUMBERS, MACHINE_NUMBERS, Formatter


@pytest.fixture
def view(page: MemoryPage) -> ContextView:
    page.choose_view(CONTEXT)
    assert isinstance(page.view, ContextView)
    return page.view


def test_lines_of_the_model_and_of_accelerators_that_fit_a_request(view: ContextView) -> None:
    (line,) = view.request.drawing.lines
    assert (line.name, line.slot, line.end) == ("Llama 3.1 405B", 0, "31.5 GiB at 131,072")
    capacity_lines = view.capacity_chart.drawing.lines
    assert [each.name for each in capacity_lines] == ["MI325X", "MI355X"]
    assert capacity_lines[1].end == "5 at 131,072"


def test_max_concurrency_equals_that_of_the_answer(view: ContextView, desk: Desk) -> None:
    assert desk.answer is not None
    at_scenario = {mark.key: mark.y for mark in view.capacity_chart.drawing.marks}
    for key, column in zip(desk.keys, desk.answer.columns, strict=True):
        if column.estimate is not None and column.estimate.fits:
            assert at_scenario[key] == column.estimate.max_concurrency


def test_current_length_is_marked_and_fixed(view: ContextView, desk: Desk, qtbot: QtBot) -> None:
    rule = view.capacity_chart.drawing.rule
    assert rule is not None
    assert (rule.value, rule.text, rule.movable) == (5000.0, "5,000", False)
    before = desk.scenario
    view.capacity_chart.setFocus()
    QTest.keyClick(view.capacity_chart, Qt.Key.Key_Right)
    assert desk.scenario == before
    cursor_readout = view.capacity_chart.cursor_readout()
    assert cursor_readout is not None
    assert cursor_readout.title == "At 8,192 tokens"
    assert [row.cells for row in cursor_readout.rows] == [("88", ""), ("56", ""), ("—", "does not fit")]
    QTest.keyClick(view.capacity_chart, Qt.Key.Key_Escape)
    assert view.capacity_chart.cursor_readout() is None


def test_current_length_hides_no_part_of_another_length(view: ContextView) -> None:
    """The marked length covers each tick label that it overlaps as a whole, and no other."""
    chart = view.request
    rule = chart.drawing.rule
    assert rule is not None
    letters = chart.text_painter
    for width in range(360, 760, 20):
        chart.resize(width, 400)
        x = chart.frame.pixel_x(rule.value)
        before, after = canvas._find_reach(chart, x, letters.width(rule.text, "caption_strong"))
        ticks = canvas.find_x_ticks(chart)
        for tick, text in zip(ticks, format_ticks(chart.frame.x_scale, ticks, chart.formatter), strict=True):
            half, away = letters.width(text, "caption") / 2, chart.frame.pixel_x(tick) - x
            is_covered = -before <= away - half and away + half <= after
            assert is_covered or away + half < -before or away - half > after


def test_table_has_the_largest_context_that_fits(view: ContextView, desk: Desk) -> None:
    desk.edit("One accelerator", accelerators=(AcceleratorChoice("h100-sxm", 8),))
    desk.apply(replace_workload(desk.scenario, input_tokens=1000, output_tokens=100), "Short")
    desk.edit("Less memory", memory_fraction=0.68)
    desk.flush()
    (line,) = view.capacity_chart.drawing.lines
    assert line.end == "0 at 131,072"
    table = view.table.model()
    assert table is not None
    assert table.index(0, 4).data() == "65,536 tokens; 131,072 does not fit"


def test_small_caches_are_shown_in_mib(view: ContextView, desk: Desk) -> None:
    desk.edit("Model", model="gpt-oss-120b", accelerators=(AcceleratorChoice("b200-hgx", 1),))
    desk.flush()
    assert view.request.subtitle.startswith("MiB, ")
    assert view.request.drawing.lines[0].end.endswith("MiB at 131,072")


def test_machine_format_has_exact_numbers(view: ContextView, desk: Desk) -> None:
    displayed, machine = (view.request.data(Formatter(ENGLISH_NUMBERS)), view.request.data(Formatter(MACHINE_NUMBERS)))
    row_index = [row[0] for row in machine.rows].index("5000")
    assert displayed.rows[row_index][1] == "1.20"
    assert float(machine.rows[row_index][1]) == pytest.approx(1_290_240_000 / 2**30, abs=1e-6)
    capacity = view.capacity_chart.data(Formatter(MACHINE_NUMBERS))
    assert capacity.rows[row_index] == ("5000", "0", "93", "145")


def test_row_of_the_table_selects_its_figure(view: ContextView, desk: Desk, qtbot: QtBot) -> None:
    model = view.table.model()
    assert model is not None
    position = view.table.visualRect(model.index(1, 1)).center()
    QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert desk.selection == select_figure("mi325x", "max_concurrency")


def test_charts_have_names_and_summaries(view: ContextView) -> None:
    assert view.request.accessibleName() == "KV cache per request, chart"
    assert "5,000 tokens: 1.2 GiB (1.3 GB)" in view.request.accessibleDescription()
    assert (
        "MI325X: 93 with 5,000 tokens each, 3 with 131,072 tokens each." in view.capacity_chart.accessibleDescription()
    )


def test_empty_chart_has_a_note(view: ContextView, desk: Desk) -> None:
    desk.edit("One accelerator", accelerators=(AcceleratorChoice("h200-sxm", 2),))
    desk.flush()
    assert view.capacity_chart.drawing.lines == ()
    assert view.capacity_chart.drawing.note == "No curve: no accelerator fits the model"
