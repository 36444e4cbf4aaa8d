"""The memory bars: verdicts, segments, remedies, keyboard and mouse, accessible texts."""

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.bar_row import VERDICT_PLACE, MemoryBarRow
from gpudesk.desktop.pages.memory.bars import ColumnFitState, ColumnMemoryBar, MemorySegmentKind, make_memory_bars
from gpudesk.desktop.pages.memory.page import MemoryFitView, MemoryPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.estimate import DisaggregationRequest
from gpudesk.domain.precision import Precision


@pytest.fixture(autouse=True)
def _use_largest_memory_fraction(desk: Desk) -> None:
    """Let the serving engine use the largest safe share of the memory."""
    desk.edit("Memory fraction", memory_fraction=0.98)
    desk.flush()


def get_fit_view(page: MemoryPage) -> MemoryFitView:
    assert isinstance(page.view, MemoryFitView)
    return page.view


def list_rows(page: MemoryPage) -> list[MemoryBarRow]:
    return [row for row in get_fit_view(page).bars.rows if row.isVisible()]


def make_bars(desk: Desk) -> tuple[ColumnMemoryBar, ...]:
    return make_memory_bars(desk)


def test_each_column_has_a_verdict(desk: Desk) -> None:
    short, partly, fits = make_bars(desk)
    assert (short.state, short.headline) == (ColumnFitState.UNFIT, "Does not fit on 2")
    assert short.detail == "57.2 GiB short"
    assert short.needed_text == "195.4 needed for 1 request"
    assert (partly.state, partly.headline) == (ColumnFitState.PARTLY, "Fits 93 of 100 requests")
    assert partly.detail == "4.0 GiB short"
    assert (fits.state, fits.headline) == (ColumnFitState.FITS, "Fits, up to 145 requests")
    assert fits.detail.endswith("GiB free")
    assert fits.remedies == ()


def test_bar_of_disaggregated_serving_is_the_decode_pool(desk: Desk) -> None:
    choice = AcceleratorChoice("mi355x", 8, disaggregated=DisaggregationRequest())
    desk.apply(replace(desk.scenario, accelerators=(choice,)), "Pools")
    desk.flush()
    (bar,) = make_bars(desk)
    assert desk.answer is not None
    estimate = desk.answer.columns[0].estimate
    assert estimate is not None
    assert estimate.pools is not None
    assert bar.deployment == f"decode pool, {estimate.pools.decode.count} of 8"


def test_default_fraction_admits_fewer_than_memory_holds(desk: Desk) -> None:
    desk.edit("Memory fraction", memory_fraction=None)
    desk.flush()
    partly = make_bars(desk)[1]
    assert partly.state is ColumnFitState.PARTLY
    assert partly.headline == "Runs 67 of 100 requests"
    assert partly.detail == "memory fits 93"


def test_growing_cache_states_the_count_at_full_length(desk: Desk) -> None:
    workload = replace(desk.scenario.workload, varied=False)
    desk.apply(replace_load_value(replace(desk.scenario, workload=workload), 94.0), "Equal lengths")
    desk.flush()
    bar = make_bars(desk)[1]
    assert bar.state is ColumnFitState.FITS
    assert (bar.headline, bar.detail) == ("Runs 94 requests", "max 93 at full length")
    assert bar.needed <= bar.usable
    assert bar.part(MemorySegmentKind.SHORT) is None


def test_segments_fill_the_capacity_without_gaps(desk: Desk) -> None:
    bar = make_bars(desk)[2]
    assert bar.parts[0].start == 0
    assert bar.parts[-1].end == bar.capacity
    assert all(segment.end == following.start for segment, following in pairwise(bar.parts))
    assert [segment.kind for segment in bar.parts] == [
        MemorySegmentKind.WEIGHTS,
        MemorySegmentKind.KV,
        MemorySegmentKind.OTHER,
        MemorySegmentKind.SPARE,
        MemorySegmentKind.KEPT,
    ]


def test_shortage_ends_at_the_needed_memory(desk: Desk) -> None:
    for bar in make_bars(desk)[:2]:
        short = bar.part(MemorySegmentKind.SHORT)
        assert short is not None
        assert short.end == bar.needed
    unfit, partly = make_bars(desk)[:2]
    short, second_short = unfit.part(MemorySegmentKind.SHORT), partly.part(MemorySegmentKind.SHORT)
    assert short is not None
    assert second_short is not None
    assert short.start == unfit.usable
    assert second_short.start <= partly.usable < second_short.end


def test_sentence_has_both_units(desk: Desk) -> None:
    sentence = make_bars(desk)[0].sentence
    assert sentence.startswith("H200 SXM × 2, TP 2: Does not fit on 2, 57.2 GiB short.")
    assert "Weights: 191.0 GiB (205.0 GB)" in sentence
    assert "KV cache, 1 request: 615 MiB" in sentence


def test_accelerator_without_an_estimate_has_a_reason(desk: Desk) -> None:
    scenario = replace(desk.scenario, accelerators=(AcceleratorChoice("tpu-v5e", 8),))
    desk.apply(scenario, "Compare TPU v5e")
    desk.evaluate()
    (bar,) = make_bars(desk)
    assert (bar.state, bar.headline, bar.parts) == (ColumnFitState.UNKNOWN, "No estimate", ())
    assert bar.reason.startswith("No serving engine")
    assert bar.reason in bar.sentence


def test_batch_limit_is_no_shortage_of_memory(desk: Desk) -> None:
    desk.edit("Batch", max_batch=50)
    desk.evaluate()
    bar = make_bars(desk)[2]
    assert (bar.state, bar.headline) == (ColumnFitState.PARTLY, "Runs 50 of 100 requests")
    assert bar.detail == "memory fits 146"
    assert bar.part(MemorySegmentKind.SHORT) is None


def test_link_raises_the_memory_fraction(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    desk.apply(replace_load_value(replace(desk.scenario, memory_fraction=None), 80), "Ask for 80")
    desk.flush()
    row = list_rows(page)[1]
    assert row.bar.headline == "Runs 67 of 80 requests"
    link = row.links[0]
    assert (link.text(), link.accessibleName()) == ("Use 98%", "Allow the serving engine 98% of memory")
    with qtbot.waitSignal(desk.answered):
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    desk.flush()
    assert desk.scenario.memory_fraction == pytest.approx(0.98)
    assert list_rows(page)[1].bar.state is ColumnFitState.FITS


def test_link_applies_a_remedy_as_one_step(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    link = list_rows(page)[0].links[0]
    assert (link.text(), link.accessibleName()) == ("Use 4", "Use 4 × H200 SXM")
    with qtbot.waitSignal(desk.answered):
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert desk.scenario.accelerators[0].count == 4
    assert desk.undo_stack.undoText() == "Use 4 × H200 SXM"
    assert list_rows(page)[0].bar.state is ColumnFitState.FITS
    assert not link.isVisible()
    with qtbot.waitSignal(desk.answered):
        desk.undo_stack.undo()
    assert desk.scenario.accelerators[0].count == 2


def test_narrower_weights_use_the_format_of_each_vendor(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    link = list_rows(page)[1].links[1]
    assert link.text() == "Use INT4"
    with qtbot.waitSignal(desk.answered):
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert desk.scenario.weights == Precision.INT4.value
    desk.apply(replace(desk.scenario, weights=Precision.FP8, accelerators=(AcceleratorChoice("b200-hgx", 2),)), "B200")
    desk.evaluate()
    link = list_rows(page)[0].links[1]
    assert link.text() == "Use NVFP4"
    with qtbot.waitSignal(desk.answered):
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert desk.scenario.weights == Precision.FP4.value


def test_arrow_keys_move_over_segments_and_rows(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    first, second, _ = list_rows(page)
    page.focus_content()
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert desk.selection == select_figure("h200-sxm", "memory")
    assert first.accessibleDescription() == "Weights: 191.0 GiB (205.0 GB)"
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert first.place == MemorySegmentKind.KV
    QTest.keyClick(first, Qt.Key.Key_Down)
    assert desk.selection == select_figure("mi325x", "memory")
    assert (second.place, first.place) == (MemorySegmentKind.KV, "whole")
    QTest.keyClick(second, Qt.Key.Key_End)
    assert desk.selection == select_figure("mi325x", "max_concurrency")
    assert second.place == VERDICT_PLACE
    assert second.accessibleDescription().startswith("Fits 93 of 100 requests.")
    QTest.keyClick(second, Qt.Key.Key_Home)
    assert desk.selection == select_figure("mi325x", "memory")


def test_click_selects_a_segment(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    row = list_rows(page)[2]
    center = row.compute_place_rect(MemorySegmentKind.KV).center().toPoint()
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=center)
    assert row.place == MemorySegmentKind.KV
    assert desk.selection == select_figure("mi355x", "memory")
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=QPoint(row.width() - 40, center.y()))
    assert desk.selection == select_figure("mi355x", "max_concurrency")


def test_bars_follow_the_selection_of_the_desk(page: MemoryPage, desk: Desk) -> None:
    desk.select(select_figure("mi355x", "max_concurrency"))
    assert [row.place for row in list_rows(page)] == ["whole", "whole", VERDICT_PLACE]
    desk.select(select_figure("mi355x", "ttft_ms"))
    assert list_rows(page)[2].place == "whole"


def test_axis_does_not_shrink_during_a_drag(page: MemoryPage, desk: Desk) -> None:
    def get_width() -> float:
        first = list_rows(page)[0]
        return first.compute_place_rect("whole").width()

    desk.begin_gesture("load")
    desk.apply(replace_load_value(desk.scenario, 900), "Load")
    desk.flush()
    full_width = get_width()
    desk.apply(replace_load_value(desk.scenario, 10), "Load")
    desk.flush()
    assert get_width() == pytest.approx(full_width)
    desk.end_gesture()
    QApplication.processEvents()
    assert get_width() > full_width * 1.2


def test_columns_are_added_and_removed(page: MemoryPage, desk: Desk) -> None:
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:1])
    desk.flush()
    assert len(list_rows(page)) == 1
    desk.undo_stack.undo()
    desk.flush()
    assert len(list_rows(page)) == 3


@pytest.mark.parametrize(("preference", "percent"), [(DARK, 100), (DARK, 150)])
def test_bars_are_painted_in_other_themes_and_sizes(
    page: MemoryPage, theme: Theme, preference: str, percent: int
) -> None:
    before = list_rows(page)[0].height()
    theme.set_preference(preference)
    theme.set_font_percent(percent)
    QApplication.processEvents()
    row = list_rows(page)[0]
    assert row.height() == pytest.approx(before * percent / 100, abs=1)
    picture = page.grab().toImage()
    spot = row.mapTo(page, row.compute_place_rect(MemorySegmentKind.WEIGHTS).center().toPoint())
    ratio = picture.devicePixelRatio()
    color = picture.pixelColor(round((spot.x() - 3) * ratio), round(spot.y() * ratio))
    assert color == theme.color("ink1")
