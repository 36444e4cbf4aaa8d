"""The panel: it follows the selection, explains it, and is navigated and copied by keyboard."""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import Selection, select_attribute, select_figure
from gpudesk.desktop.ui.panel.blocks import LinkBlock, NoteBlock
from gpudesk.desktop.ui.panel.nodes import NodeBuilder, make_empty_nodes
from gpudesk.desktop.ui.panel.view import PanelModel
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.window.sources_panel import SelectionExplainer, SourcesPanel
from gpudesk.domain.answer import Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.report.explanation.parts import (
    ClaimLine,
    DisputeLine,
    ExplainedPlan,
    Explanation,
    ExplanationDetail,
    LimiterShareLine,
    MeasuredRunLine,
    RemedyLine,
    TermLine,
)
from gpudesk.service import GpuDeskService
from tests.unit.desktop.ui.panel.panel_helpers import (
    check_model,
    click_row,
    get_current_text,
    list_folds,
    list_sections,
    list_sentences,
    press_keys,
)

BANDWIDTH = select_attribute("mi325x", "memory_bandwidth")
THROUGHPUT = select_figure("b200-hgx", "output_tokens_per_s")


def replace_with_large_model(scenario: Scenario) -> Scenario:
    """Return the scenario with two of each accelerator, and a model that some of them do not fit."""
    scenario = replace(scenario, model="llama-3.1-405b")
    for position in range(len(scenario.accelerators)):
        scenario = scenario_edits.replace_count(scenario, position, 2)
    return scenario


# Explanations


def test_remedies_are_for_fit_or_queueing(panel: SourcesPanel, desk: Desk) -> None:
    desk.select(select_figure("h200-sxm", "memory"))
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 2000.0), "Many")
    desk.flush()
    assert "Ways to avoid queueing" in "; ".join(list_sections(panel))
    desk.apply(replace_with_large_model(desk.scenario), "On two")
    desk.flush()
    assert "Ways to make it fit" in "; ".join(list_sections(panel))


def test_empty_panel_has_a_hint(panel: SourcesPanel) -> None:
    (text,) = list_sentences(panel, NoteBlock)
    assert text.startswith("Click a figure")


def test_value_has_its_claims(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(BANDWIDTH)
    assert "6.0 TB/s; Claims range from 5.3 to 10.3" in list_sentences(panel, Explanation)[0]
    claims = list_sentences(panel, ClaimLine)
    assert len(claims) == 6
    assert "used" in claims[0]
    assert sum("agrees" in claim for claim in claims) == 2
    assert list_sentences(panel, DisputeLine)
    assert panel.view.accessibleDescription() == list_sentences(panel, Explanation)[0]


def test_figure_has_limiters_and_calculation(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    assert panel.explanation is not None
    assert panel.explanation.figure in list_sentences(panel, Explanation)[0]
    assert list_sentences(panel, LimiterShareLine)[0].startswith("Memory bandwidth")
    assert list_sentences(panel, TermLine)[0].startswith("Output throughput")
    assert any(text.startswith("Memory bandwidth, 7.7 TB/s") for text in list_sentences(panel, ClaimLine))


@pytest.mark.parametrize(
    "selection",
    [
        select_figure("mi355x", "ttft_ms"),
        select_figure("h200-sxm", "memory"),
        select_figure("mi325x", "max_concurrency"),
        select_figure("mi325x", "request_s"),
        select_attribute("mi325x", "price_low"),
        select_attribute("b200-hgx", "supported_precisions"),
    ],
    ids=lambda selection: selection.name,
)
def test_every_kind_of_figure_has_a_value_in_its_head(desk: Desk, panel: SourcesPanel, selection: Selection) -> None:
    desk.select(selection)
    assert panel.explanation is not None
    assert panel.explanation.figure != "—"
    assert panel.explanation.claims
    assert not panel.grab().isNull()


def test_panel_follows_the_scenario(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    before = list_sentences(panel, Explanation)[0]
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 8), "Change load")
    qtbot.waitUntil(lambda: list_sentences(panel, Explanation)[0] != before)
    assert "8 requests in flight" in list_sentences(panel, Explanation)[0]


def test_only_the_head_follows_during_a_drag(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    working = list_sentences(panel, TermLine)[0]
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 8), "Change load")
    desk.flush()
    qtbot.waitUntil(lambda: "8 requests in flight" in list_sentences(panel, Explanation)[0])
    assert list_sentences(panel, TermLine)[0] == working
    desk.end_gesture()
    assert list_sentences(panel, TermLine)[0] != working


def test_head_does_not_wait_for_published_runs(
    desk: Desk, panel: SourcesPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = [False]
    monkeypatch.setattr(type(desk.service), "has_records", property(lambda _: is_read[0]))
    monkeypatch.setattr(Jobs, "any_running", lambda: True)
    desk.select(THROUGHPUT)
    assert "tok/s" in list_sentences(panel, Explanation)[0]
    assert list_sentences(panel, TermLine) == []
    is_read[0] = True
    qtbot.waitUntil(lambda: list_sentences(panel, TermLine) != [])


def test_accelerator_that_does_not_fit_has_remedies(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.apply(replace_with_large_model(desk.scenario), "Change model")
    desk.flush()
    desk.select(select_figure("h200-sxm", "memory"))
    assert "GiB short" in list_sentences(panel, Explanation)[0]
    assert any("yes" in text for text in list_sentences(panel, RemedyLine))
    link = next(text for text in list_sentences(panel, LinkBlock) if text.startswith("Use 4"))
    assert panel.view.go_to("apply.0")
    assert get_current_text(panel) == link
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert desk.scenario.accelerators[0].count == 4
    assert desk.undo_stack.undoText() == link
    desk.flush()
    assert "GiB free" in list_sentences(panel, Explanation)[0]


def test_smallest_counts_that_fit_can_be_applied(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.apply(replace_with_large_model(desk.scenario), "Change model")
    desk.flush()
    before = desk.scenario
    desk.select(select_figure("h200-sxm", "memory"))
    assert [text for text in list_sentences(panel, LinkBlock) if text == "Use the smallest counts that fit"] == [
        "Use the smallest counts that fit"
    ]
    assert panel.view.go_to("apply.each")
    assert get_current_text(panel) == "Use the smallest counts that fit"
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    desk.flush()
    assert desk.answer is not None
    counts = [column.estimate.count for column in desk.answer.columns if column.estimate is not None]
    assert len(desk.fitting_columns) == len(desk.columns)
    for position, count in enumerate(counts):
        fewer = desk.service.answer(scenario_edits.replace_count(desk.scenario, position, count // 2 or 1))
        estimate = fewer.columns[position].estimate
        assert count == 1 or estimate is None or not estimate.fits
    desk.undo_stack.undo()
    assert desk.scenario == before


def test_parallel_plans_are_compared(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    assert not list_sentences(panel, ExplainedPlan)
    desk.apply(scenario_edits.replace_count(desk.scenario, 2, 8), "Change of count")
    desk.flush()
    desk.select(select_figure(desk.keys[2], "output_tokens_per_s"))
    plans = list_sentences(panel, ExplainedPlan)
    assert ", chosen, " in plans[0]
    assert not any(", chosen, " in plan for plan in plans[1:])
    (slower,) = [text for text in list_folds(panel) if text.endswith("slower plans")]
    index = panel.view.lines.find("plans.slower")
    assert not panel.view.isExpanded(index)
    panel.view.scrollTo(index)
    click_row(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    press_keys(qtbot, panel, Qt.Key.Key_Down)
    assert get_current_text(panel).split(", ")[0] in {plan.split(", ")[0] for plan in plans[4:]}
    assert int(slower.split()[0]) == len(plans) - 4


def test_current_plan_shows_its_latency(desk: Desk, panel: SourcesPanel) -> None:
    desk.apply(scenario_edits.replace_count(desk.scenario, 0, 8), "Change of count")
    desk.flush()
    desk.select(select_figure(desk.keys[0], "ttft_ms"))
    index = panel.view.lines.find("plan.0")
    before = panel.view.visualRect(index).height()
    panel.view.setCurrentIndex(index)
    QApplication.processEvents()
    assert panel.view.visualRect(index).height() > before
    assert "TTFT" in get_current_text(panel)


# Pin


def test_pinned_panel_keeps_its_figure(desk: Desk, panel: SourcesPanel) -> None:
    (pin,) = [button for button in panel.findChildren(IconButton) if button.accessibleName().startswith("Pin")]
    desk.select(BANDWIDTH)
    pin.click()
    desk.select(THROUGHPUT)
    assert panel.pinned
    assert "Memory bandwidth" in list_sentences(panel, Explanation)[0]
    pin.click()
    assert "Output throughput" in list_sentences(panel, Explanation)[0]


def test_close_button_emits_a_request(panel: SourcesPanel, qtbot: QtBot) -> None:
    buttons = panel.findChildren(IconButton)
    (close,) = [button for button in buttons if button.accessibleName() == "Close panel"]
    with qtbot.waitSignal(panel.close_requested):
        close.click()


# Keyboard and mouse


@pytest.mark.usefixtures("held_out_predictions")
def test_arrow_keys_move_over_terms_and_fold_them(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    press_keys(qtbot, panel, Qt.Key.Key_Down)
    assert get_current_text(panel).startswith("Output throughput, B200")
    nearest = list_sentences(panel, MeasuredRunLine)
    assert panel.view.go_to("record.0")
    press_keys(qtbot, panel, Qt.Key.Key_Down)
    assert get_current_text(panel) == nearest[1]
    press_keys(qtbot, panel, Qt.Key.Key_Down, Qt.Key.Key_Down)
    assert get_current_text(panel).startswith("Memory bandwidth")
    assert panel.view.go_to("term/round/decode step")
    index = panel.view.currentIndex()
    assert not panel.view.isExpanded(index)
    press_keys(qtbot, panel, Qt.Key.Key_Right)
    assert panel.view.isExpanded(index)
    press_keys(qtbot, panel, Qt.Key.Key_Down)
    assert get_current_text(panel).startswith("Dense matrices")
    press_keys(qtbot, panel, Qt.Key.Key_Left, Qt.Key.Key_Left)
    assert not panel.view.isExpanded(panel.view.currentIndex())


def test_folding_is_retained_for_the_next_figure(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    assert panel.view.go_to("term/round")
    press_keys(qtbot, panel, Qt.Key.Key_Left)
    desk.select(BANDWIDTH)
    desk.select(THROUGHPUT)
    assert not panel.view.isExpanded(panel.view.lines.find("term/round"))


def test_enter_on_a_term_moves_to_its_claims(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(select_figure("h200-sxm", "memory"))
    assert panel.view.go_to("term/capacity")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert get_current_text(panel).startswith("Memory capacity")


def test_current_term_shows_its_source(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_figure("h200-sxm", "memory"))
    index = panel.view.lines.find("term/weights")
    before = panel.view.visualRect(index).height()
    panel.view.setCurrentIndex(index)
    QApplication.processEvents()
    assert panel.view.visualRect(index).height() > before


def test_click_on_a_claim_expands_its_source(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    index = panel.view.lines.find("claim.mi325x/memory_bandwidth.4")
    click_row(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    assert any(text.startswith("Retrieved: ") for text in list_sentences(panel, ExplanationDetail))


def test_context_menu_copies_and_folds(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    assert panel.view.go_to("term/round")
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(10, 10), QPoint(10, 10))
    QApplication.sendEvent(panel.view.viewport(), event)
    menu = panel.view.findChild(QMenu)
    assert menu is not None
    assert [action.text() for action in menu.actions()] == ["Copy", "Collapse"]
    menu.actions()[1].trigger()
    assert not panel.view.isExpanded(panel.view.currentIndex())
    menu.close()


# Copying


def test_copy_shortcut_copies_the_row(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    assert panel.view.go_to("claim.mi325x/memory_bandwidth.1")
    qtbot.keyClick(  # type: ignore[no-untyped-call]
        panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier
    )
    assert QGuiApplication.clipboard().text().startswith("5.3 TB/s, rejected")


def test_links_copy_the_figure_and_its_calculation(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    assert panel.view.go_to("link.copy with sources")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert "80% interval" in QGuiApplication.clipboard().text()
    index = panel.view.lines.find("link.copy working")
    panel.view.scrollTo(index)
    click_row(qtbot, panel, index)
    assert QGuiApplication.clipboard().text().startswith("Output throughput: ")


def test_web_address_is_copied_but_never_opened(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    claim = panel.view.lines.find("claim.mi325x/memory_bandwidth.0")
    panel.view.expand(claim)
    address = panel.view.lines.index(panel.view.lines.rowCount(claim) - 1, 0, claim)
    panel.view.setCurrentIndex(address)
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text().startswith("https://")
    panel.view.edit(address)
    field = panel.view.viewport().findChild(QLineEdit)
    assert field is not None
    assert field.isReadOnly()
    assert field.text().startswith("https://")


# The model


def test_model_passes_the_model_tester(service: GpuDeskService, desk: Desk, qtmodeltester: ModelTester) -> None:
    explainer = SelectionExplainer(desk)
    model = PanelModel()
    check_model(qtmodeltester, model)
    for selection in (THROUGHPUT, BANDWIDTH):
        explanation = explainer.explain(selection)
        assert explanation is not None
        model.show(NodeBuilder().build(explanation))
        check_model(qtmodeltester, model)


@pytest.mark.usefixtures("held_out_predictions")
def test_rows_of_the_same_structure_change_in_place(desk: Desk) -> None:
    explainer, model = SelectionExplainer(desk), PanelModel()
    first = explainer.explain(THROUGHPUT)
    assert first is not None
    assert not model.show(NodeBuilder().build(first))
    changed: list[QModelIndex] = []
    model.dataChanged.connect(lambda top, *_: changed.append(top))
    assert model.show(NodeBuilder().build(first))
    assert changed == []
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 60), "Change load")
    desk.flush()
    second = explainer.explain(THROUGHPUT)
    assert second is not None
    assert model.show(NodeBuilder().build(second))
    assert changed
    assert not model.show(make_empty_nodes())


def test_keys_of_rows_are_unique(desk: Desk, panel: SourcesPanel) -> None:
    for selection in (THROUGHPUT, BANDWIDTH, select_figure("mi325x", "ttft_ms")):
        desk.select(selection)
        keys = [line.node.key for top in panel.view.lines.lines for line in top.walk()]
        assert len(set(keys)) == len(keys)


# Appearance


def test_panel_follows_the_theme(desk: Desk, panel: SourcesPanel, theme: Theme) -> None:
    desk.select(BANDWIDTH)
    light = panel.grab().toImage()
    theme.set_preference(DARK)
    dark = panel.grab().toImage()
    corner = (2, panel.height() - 3)
    assert light.pixelColor(*corner) != dark.pixelColor(*corner)
    assert dark.pixelColor(*corner) == theme.color("chrome")


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("width", [280, 480])
def test_rows_do_not_overlap_at_any_width_and_text_size(
    desk: Desk, panel: SourcesPanel, theme: Theme, width: int, percent: int
) -> None:
    theme.set_font_percent(percent)
    panel.resize(width, 700)
    desk.select(THROUGHPUT)
    panel.grab()
    view = panel.view
    bottom = 0
    index = view.lines.index(0, 0)
    while index.isValid():
        rect = view.visualRect(index)
        assert rect.height() >= theme.line("caption") or index.data() == ""
        assert rect.top() >= bottom
        bottom = rect.bottom()
        index = view.indexBelow(index)


def test_cost_edit_keeps_the_explanation_of_a_figure(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    before = panel.explanation
    costs = desk.scenario.costs.with_input("energy_usd_per_kwh", UncertainValue(0.05, 0.1, 0.3))
    with qtbot.waitSignal(desk.answered):
        desk.edit("Energy", costs=costs)
    assert before is not None
    assert panel.explanation is before
    with qtbot.waitSignal(desk.answered):
        desk.apply(scenario_edits.replace_load_value(desk.scenario, 9), "Change load")
    assert panel.explanation is not None
    assert panel.explanation.figure != before.figure


def test_refresh_during_a_drag_is_fast(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    desk.begin_gesture("load")
    seconds = []
    for load in range(2, 32):
        desk.scenario = scenario_edits.replace_load_value(desk.scenario, load)
        desk.evaluated = EvaluatedAnswer(desk.service.answer(desk.scenario), desk.service, desk.formatter)
        start = time.thread_time()
        panel.refresh()
        seconds.append(time.thread_time() - start)
    desk.end_gesture()
    assert median(seconds) < 0.01
