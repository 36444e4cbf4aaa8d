"""Accelerators needed: counts and plans by format, and applying one of them."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.needed_view import NeededBlock, NeededCell, NeededModel, make_needed_table
from gpudesk.desktop.pages.memory.page import NEEDED, MemoryFitView, MemoryPage, NeededTableView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def block(page: MemoryPage) -> NeededBlock:
    page.choose_view(NEEDED)
    assert isinstance(page.view, NeededTableView)
    return page.view.needed


def get_cell(block: NeededBlock, row: int, column: int) -> NeededCell:
    needed_cell = block.view.needs_item_model.cell(row, column)
    assert needed_cell is not None
    return needed_cell


def test_counts_and_plans_equal_those_of_the_service(desk: Desk) -> None:
    table = make_needed_table(desk)
    assert desk.answer is not None
    results = desk.service.needed(desk.answer.scenario)
    load, one = table.groups
    assert load.title == "100 requests of 5,000 tokens in flight"
    assert one.title == "One request of 5,000 tokens"
    for group, name in ((load, "load"), (one, "one")):
        counts = [[each.count for each in row.cells] for row in group.rows]
        sizes = [[getattr(needed, name) for needed in across] for across in zip(*results, strict=True)]
        assert counts == [[None if size is None else size.count for size in row] for row in sizes]
    assert [row.label for row in one.rows] == ["BF16 weights", "FP8 weights", "4-bit weights"]
    assert [row.present for row in one.rows] == [False, True, False]
    assert one.rows[2].cells[0].below == "INT4, TP 2"
    assert load.rows[1].cells[2].present


def test_verdict_has_the_counts_of_the_load(page: MemoryPage, block: NeededBlock, desk: Desk) -> None:
    needs = "2 × MI355X; 4 × H200 SXM or MI325X"
    verdict = f"100 requests of 5,000 tokens in flight: FP8 weights need at least {needs}."
    assert page.describe_verdict() == [verdict]
    desk.edit("Other", model="kimi-k2", accelerators=(AcceleratorChoice("b200-hgx"), AcceleratorChoice("tpu-v5e")))
    desk.evaluate()
    block.refresh()
    needed, unable = page.describe_verdict()
    assert needed.endswith(" 8 × B200 SXM.")
    assert unable == "No number of TPU v5e is enough."


def test_impossible_cells_have_a_reason(desk: Desk) -> None:
    desk.edit("Other", model="kimi-k2", accelerators=(AcceleratorChoice("tpu-v5e"), AcceleratorChoice("l4")))
    desk.evaluate()
    one = make_needed_table(desk).groups[-1]
    refused, too_large = one.rows[0].cells
    assert (refused.count, refused.below) == (None, "not supported")
    assert refused.reason.startswith("No serving engine")
    assert (too_large.count, too_large.below) == (None, "too large")
    assert too_large.reason.startswith("The weights do not fit")
    assert too_large.reason in too_large.sentence


def test_load_without_concurrency_has_one_group(desk: Desk) -> None:
    workload = replace(desk.scenario.workload, load=Load(LoadKind.REQUEST_RATE, request_rate=1.0))
    desk.edit("Rate", workload=workload)
    desk.evaluate()
    assert [group.title for group in make_needed_table(desk).groups] == ["One request of 5,000 tokens"]


def test_model_passes_the_model_tester(desk: Desk, qtmodeltester: ModelTester) -> None:
    model = NeededModel(Formatter(ENGLISH_NUMBERS))
    model.show(make_needed_table(desk))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    assert model.headerData(1, Qt.Orientation.Horizontal) == "H200 SXM"
    assert model.index(2, 1).data(Qt.ItemDataRole.AccessibleTextRole) == (
        "100 requests of 5,000 tokens in flight. H200 SXM with FP8 weights: 4 accelerators, TP 4"
    )


def test_new_counts_update_cells_in_place(desk: Desk, qtbot: QtBot) -> None:
    model = NeededModel(Formatter(ENGLISH_NUMBERS))
    model.show(make_needed_table(desk))
    desk.apply(replace_load_value(desk.scenario, 400), "Load")
    desk.evaluate()
    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    with qtbot.waitSignal(model.dataChanged):
        model.show(make_needed_table(desk))
    assert resets == []


def test_fit_view_has_only_the_load(page: MemoryPage) -> None:
    assert isinstance(page.view, MemoryFitView)
    assert page.view.needed.view.needs_item_model.rowCount() == 4
    assert "TP: tensor parallel" in page.view.needed._subtitle.text()


def test_enter_applies_the_deployment_of_a_cell(block: NeededBlock, desk: Desk, qtbot: QtBot) -> None:
    view = block.view
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.get_current_cell() == get_cell(block, 1, 1)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(view, key)
    assert view.get_current_cell() == get_cell(block, 3, 2)
    offer = get_cell(block, 3, 2).action
    assert offer == "Use INT4 on 2 × MI325X"
    assert block.offer.text() == offer
    with qtbot.waitSignal(desk.answered):
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert (desk.scenario.weights, desk.scenario.accelerators[1].count) == (Precision.INT4, 2)
    assert desk.undo_stack.undoText() == offer
    assert desk.undo_stack.count() == 1
    assert not block.offer.isVisible()


def test_arrow_keys_skip_headings(block: NeededBlock, qtbot: QtBot) -> None:
    view = block.view
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == 5
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.currentIndex().row() == 3
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.currentIndex().column() == 1


def test_impossible_cell_shows_only_its_reason(block: NeededBlock, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("Other", accelerators=(AcceleratorChoice("tpu-v5e"), *desk.scenario.accelerators))
    desk.flush()
    block.view.setCurrentIndex(block.view.needs_item_model.index(2, 1))
    assert not block.offer.isVisible()
    assert block.remark.text().startswith("No serving engine")
    before = desk.scenario
    QTest.keyClick(block.view, Qt.Key.Key_Return)
    assert desk.scenario == before
