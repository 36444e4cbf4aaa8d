"""Answers of the dialogue and rules in the panel: outcomes, why, and rules that unfold their texts."""

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
from tests.unit.desktop.ui.panel.reading import check, click, lines, sections


def test_an_answer_shows_what_becomes_of_each_accelerator(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_decision_option("ttft_limit_ms", 2000.0))
    outcomes = lines(panel, ColumnOutcomeLine)
    assert len(outcomes) == 4
    assert outcomes[0].startswith("MI325X, remains, Time to first token")
    assert outcomes[-1].startswith("H200 SXM, undecided, ")
    assert "The 80% interval includes the limit" in lines(panel, NoteBlock)[0]
    assert "Rule behind this question" in sections(panel)
    head = lines(panel, Explanation)[0]
    assert head == "Effect of this answer; What is your limit for time to first token? 2 s · Odds of being the cheapest"
    panel.grab()


def test_a_rule_unfolds_its_texts_and_is_copied_with_them(
    desk: Desk, panel: SourcesPanel, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    desk.select(select_decision_option("priority", "cost"))
    check(qtmodeltester, panel.view.lines)
    assert "MI325X vs H200" in lines(panel, RulingLine)[0]
    index = panel.view.lines.find("ruling.D000-02")
    panel.view.scrollTo(index)
    click(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    said = [str(index.model().index(row, 0, index).data()) for row in range(index.model().rowCount(index))]
    assert said[0].startswith("The document compares the price")
    assert any(line.startswith("Source text: ") for line in said)
    copied = str(index.data(COPIED_ROLE))
    assert copied.startswith("Cost per token comes first, Strong preference, D000-02")
    assert "Source text: " in copied


def test_a_cell_and_a_row_of_the_trace_are_explained(desk: Desk, panel: SourcesPanel) -> None:
    desk.apply(replace_answer(desk.scenario, "current_platform", "CUDA"), "Platform")
    desk.flush()
    desk.select(select_trace_row("D000-14", "h200-sxm"))
    assert lines(panel, Explanation)[0].startswith("Platform in production; Strong preference; H200 SXM: ")
    assert not lines(panel, ColumnOutcomeLine)
    assert "Weight" in sections(panel)
    desk.select(select_trace_row("D000-14"))
    assert len(lines(panel, ColumnOutcomeLine)) == 4
    panel.grab()


def test_what_is_selected_stays_while_answers_and_accelerators_change(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_decision_option("priority", "cost"))
    before = lines(panel, ColumnOutcomeLine)
    desk.apply(replace_answer(desk.scenario, "current_platform", "ROCm"), "Platform")
    desk.flush()
    assert desk.selection == select_decision_option("priority", "cost")
    assert lines(panel, ColumnOutcomeLine) != before
    desk.edit("Fewer", accelerators=desk.scenario.accelerators[:2])
    desk.flush()
    assert len(lines(panel, ColumnOutcomeLine)) == 2
    desk.select(select_trace_row("D000-14", "h200-sxm"))
    desk.edit("One", accelerators=desk.scenario.accelerators[1:])
    desk.flush()
    assert desk.selection is None


def test_nothing_is_explained_without_an_answer_or_a_rule(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_trace_row("D999-99"))
    assert panel.explanation is None
    desk.select(select_decision_option("priority", "cost"))
    desk.edit("None", accelerators=())
    desk.flush()
    assert panel.explanation is None
