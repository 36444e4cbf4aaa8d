"""Where the panel is scrolled to: the lines that are read stay where they are while figures change."""

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


def settled(panel: SourcesPanel) -> None:
    for _ in range(3):
        QApplication.processEvents()
    panel.view.executeDelayedItemsLayout()


def change(desk: Desk, panel: SourcesPanel, scenario: Scenario) -> None:
    desk.apply(scenario, "Change")
    desk.flush()
    settled(panel)


def scrolled_to(panel: SourcesPanel, key: str) -> None:
    """Scroll until the line with a key is a little below the upper edge."""
    view = panel.view
    settled(panel)
    index = view.lines.find(key)
    assert index.isValid()
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + view.visualRect(index).top() - 5)
    settled(panel)
    assert 0 < bar.value() < bar.maximum()


def seen(panel: SourcesPanel) -> tuple[str, int]:
    view = panel.view
    index = view.indexAt(QPoint(20, 6))
    line = view.lines.line(index)
    assert line is not None
    return line.node.key, view.visualRect(index).top()


def a_term(panel: SourcesPanel) -> str:
    every = (line.node.key for top in panel.view.lines.lines for line in top.walk())
    return next(key for key in every if "/" in key)


@pytest.fixture
def small(panel: SourcesPanel, desk: Desk) -> SourcesPanel:
    panel.resize(312, 260)
    desk.select(THROUGHPUT)
    settled(panel)
    return panel


def changes(scenario: Scenario) -> dict[str, Scenario]:
    speculating = replace(scenario, workload=replace(scenario.workload, acceptance_length=2.5))
    return {
        "figures only": scenario_edits.replace_load_value(scenario, 65),
        "far more requests": scenario_edits.replace_load_value(scenario, 20_000),
        "older software": replace(scenario, date="2025-01"),
        "another term": speculating,
        "more accelerators": scenario_edits.replace_count(scenario, 2, 4),
    }


@pytest.mark.parametrize("name", changes(read_template("70b-chat-on-four")))
def test_lines_stay_where_they_are_while_their_figures_change(small: SourcesPanel, desk: Desk, name: str) -> None:
    scrolled_to(small, a_term(small))
    before = seen(small)
    change(desk, small, changes(desk.scenario)[name])
    assert seen(small) == before


@pytest.mark.parametrize("name", changes(read_template("70b-chat-on-four")))
def test_a_current_line_out_of_sight_does_not_draw_the_view_to_it(small: SourcesPanel, desk: Desk, name: str) -> None:
    small.view.go_to("head")
    scrolled_to(small, a_term(small))
    before = seen(small)
    change(desk, small, changes(desk.scenario)[name])
    assert seen(small) == before


def test_another_figure_begins_at_its_head(small: SourcesPanel, desk: Desk) -> None:
    scrolled_to(small, a_term(small))
    desk.select(select_figure("b200-hgx", "memory"))
    settled(small)
    assert seen(small)[0] == "head"


def test_who_is_at_the_top_stays_there(small: SourcesPanel, desk: Desk) -> None:
    for scenario in changes(desk.scenario).values():
        change(desk, small, scenario)
        assert small.view.verticalScrollBar().value() == 0
