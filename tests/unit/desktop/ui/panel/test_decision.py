"""The panel on answers and rules: effects, reasons, and texts of rules."""

from __future__ import annotations

from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_answer
from gpudesk.desktop.session.selection import select_decision_option, select_trace_row
from gpudesk.desktop.ui.panel.blocks import NoteBlock
from gpudesk.desktop.ui.panel.view import COPIED_ROLE
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.report.explanation.parts import ColumnOutcomeLine, Explanation, RulingLine
from tests.unit.desktop.ui.panel.panel_helpers import check_model, click_row, list_sections, list_sentences


def test_answer_shows_its_effect_on_each_accelerator(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_decision_option("ttft_limit_ms", 2000.0))
    outcomes = list_sentences(panel, ColumnOutcomeLine)
    assert len(outcomes) == 4
    assert outcomes[0].startswith("B200 SXM, remains, Time to first token")
    assert outcomes[-1].startswith("H200 SXM, undecided, ")
    assert "The 80% interval includes the limit" in list_sentences(panel, NoteBlock)[0]
    assert "Rule behind this question" in list_sections(panel)
    head = list_sentences(panel, Explanation)[0]
    assert head == "Effect of this answer; What is your limit for time to first token? 2 s · Odds of being the cheapest"
    panel.grab()


def test_rule_expands_to_its_texts(desk: Desk, panel: SourcesPanel, qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    desk.select(select_decision_option("priority", "cost"))
    check_model(qtmodeltester, panel.view.lines)
    assert "MI325X vs H200" in list_sentences(panel, RulingLine)[0]
    index = panel.view.lines.find("ruling.D000-02")
    panel.view.scrollTo(index)
    click_row(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    texts = [str(index.model().index(row, 0, index).data()) for row in range(index.model().rowCount(index))]
    assert texts[0].startswith("The document compares the price")
    assert any(line.startswith("Source text: ") for line in texts)
    copied = str(index.data(COPIED_ROLE))
    assert copied.startswith("Cost per token comes first, Strong preference, D000-02")
    assert "Source text: " in copied


def test_cells_and_rows_of_the_rule_table_are_explained(desk: Desk, panel: SourcesPanel) -> None:
    desk.apply(replace_answer(desk.scenario, "current_platform", "CUDA"), "Platform")
    desk.flush()
    desk.select(select_trace_row("D000-14", "h200-sxm"))
    assert list_sentences(panel, Explanation)[0].startswith("Platform in production; Strong preference; H200 SXM: ")
    assert not list_sentences(panel, ColumnOutcomeLine)
    assert "Weight" in list_sections(panel)
    desk.select(select_trace_row("D000-14"))
    assert len(list_sentences(panel, ColumnOutcomeLine)) == 4
    panel.grab()


def test_selection_survives_new_answers_and_accelerators(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_decision_option("priority", "cost"))
    before = list_sentences(panel, ColumnOutcomeLine)
    desk.apply(replace_answer(desk.scenario, "current_platform", "ROCm"), "Platform")
    desk.flush()
    assert desk.selection == select_decision_option("priority", "cost")
    assert list_sentences(panel, ColumnOutcomeLine) != before
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:2])
    desk.flush()
    assert len(list_sentences(panel, ColumnOutcomeLine)) == 2
    desk.select(select_trace_row("D000-14", "h200-sxm"))
    desk.edit("One", accelerators=desk.scenario.accelerators[1:])
    desk.flush()
    assert desk.selection is None


def test_panel_is_empty_without_an_answer_or_a_rule(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_trace_row("D999-99"))
    assert panel.explanation is None
    desk.select(select_decision_option("priority", "cost"))
    desk.edit("None", accelerators=())
    desk.flush()
    assert panel.explanation is None
