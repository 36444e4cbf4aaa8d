"""Scrolling of the panel: visible rows keep their position while figures change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Scenario

THROUGHPUT = select_figure("b200-hgx", "output_tokens_per_s")


def wait_for_layout(panel: SourcesPanel) -> None:
    for _ in range(3):
        QApplication.processEvents()
    panel.view.executeDelayedItemsLayout()


def apply(desk: Desk, panel: SourcesPanel, scenario: Scenario) -> None:
    desk.apply(scenario, "Change")
    desk.flush()
    wait_for_layout(panel)


def scroll_to(panel: SourcesPanel, key: str) -> None:
    """Scroll until the row with a key is slightly below the upper edge."""
    view = panel.view
    wait_for_layout(panel)
    index = view.lines.find(key)
    assert index.isValid()
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + view.visualRect(index).top() - 5)
    wait_for_layout(panel)
    assert 0 < bar.value() < bar.maximum()


def get_top_row(panel: SourcesPanel) -> tuple[str, int]:
    view = panel.view
    index = view.indexAt(QPoint(20, 6))
    line = view.lines.line(index)
    assert line is not None
    return line.node.key, view.visualRect(index).top()


def find_term(panel: SourcesPanel) -> str:
    keys = (line.node.key for top in panel.view.lines.lines for line in top.walk())
    return next(key for key in keys if "/" in key)


@pytest.fixture
def small_panel(panel: SourcesPanel, desk: Desk) -> SourcesPanel:
    panel.resize(312, 260)
    desk.select(THROUGHPUT)
    wait_for_layout(panel)
    return panel


def make_changes(scenario: Scenario) -> dict[str, Scenario]:
    with_speculation = replace(scenario, workload=replace(scenario.workload, acceptance_length=2.5))
    return {
        "figures only": scenario_edits.replace_load_value(scenario, 65),
        "far more requests": scenario_edits.replace_load_value(scenario, 20_000),
        "older software": replace(scenario, date="2025-01"),
        "another term": with_speculation,
        "more accelerators": scenario_edits.replace_count(scenario, 2, 4),
    }


@pytest.mark.parametrize("name", make_changes(read_template("70b-chat-on-four")))
def test_visible_rows_keep_their_position(small_panel: SourcesPanel, desk: Desk, name: str) -> None:
    scroll_to(small_panel, find_term(small_panel))
    before = get_top_row(small_panel)
    apply(desk, small_panel, make_changes(desk.scenario)[name])
    assert get_top_row(small_panel) == before


@pytest.mark.parametrize("name", make_changes(read_template("70b-chat-on-four")))
def test_view_does_not_scroll_to_an_invisible_current_row(small_panel: SourcesPanel, desk: Desk, name: str) -> None:
    small_panel.view.go_to("head")
    scroll_to(small_panel, find_term(small_panel))
    before = get_top_row(small_panel)
    apply(desk, small_panel, make_changes(desk.scenario)[name])
    assert get_top_row(small_panel) == before


def test_new_figure_starts_at_its_head(small_panel: SourcesPanel, desk: Desk) -> None:
    scroll_to(small_panel, find_term(small_panel))
    desk.select(select_figure("b200-hgx", "memory"))
    wait_for_layout(small_panel)
    assert get_top_row(small_panel)[0] == "head"


def test_top_position_is_kept(small_panel: SourcesPanel, desk: Desk) -> None:
    for scenario in make_changes(desk.scenario).values():
        apply(desk, small_panel, scenario)
        assert small_panel.view.verticalScrollBar().value() == 0
