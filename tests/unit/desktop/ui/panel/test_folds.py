"""Long lists in the panel show their first lines; the others are a fold away."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import (
    Selection,
    select_catalog_attribute,
    select_catalog_entry,
    select_catalog_source,
)
from gpudesk.desktop.ui.panel.view import PanelRow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.report.explanation.parts import DisputeLine, StatementLine
from tests.unit.desktop.ui.panel.reading import check, is_about, is_fold

SEED = select_catalog_source("seed-002")
PART = select_catalog_entry("mi325x")


def of_kind(panel: SourcesPanel, kind: type) -> list[PanelRow]:
    return [line for line in panel.view.lines.lines if is_about(line.node, kind)]


def folded(panel: SourcesPanel) -> list[PanelRow]:
    return [line for line in panel.view.lines.lines if is_fold(line.node)]


@pytest.mark.parametrize(("selected", "kind"), [(SEED, StatementLine), (PART, DisputeLine)])
def test_five_are_in_sight_and_the_others_unfold(
    desk: Desk, panel: SourcesPanel, qtmodeltester: ModelTester, selected: Selection, kind: type
) -> None:
    desk.select(selected)
    assert len(of_kind(panel, kind)) == 5
    fold = next(line for line in folded(panel) if all(is_about(child.node, kind) for child in line.children))
    others = len(fold.children)
    assert others > 1
    assert fold.node.sentence == f"… and {others} more"
    index = panel.view.lines.index_of(fold)
    assert not panel.view.isExpanded(index)
    panel.view.setCurrentIndex(index)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.view.isExpanded(index)
    for child in fold.children:
        assert panel.view.lines.find(child.node.key).isValid()
    check(qtmodeltester, panel.view.lines)


def test_a_list_that_is_hardly_longer_is_shown_whole(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_catalog_attribute("mi325x", "memory_bandwidth"))
    shown = of_kind(panel, StatementLine)
    assert 3 <= len(shown) <= 6
    assert folded(panel) == []
