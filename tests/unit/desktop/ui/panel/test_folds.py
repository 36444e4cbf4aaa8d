"""Long lists in the panel show their first rows; a fold has the others."""

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
from tests.unit.desktop.ui.panel.panel_helpers import check_model, is_about, is_fold

SEED = select_catalog_source("seed-002")
ACCELERATOR = select_catalog_entry("mi325x")


def list_rows(panel: SourcesPanel, kind: type) -> list[PanelRow]:
    return [line for line in panel.view.lines.lines if is_about(line.node, kind)]


def list_folds(panel: SourcesPanel) -> list[PanelRow]:
    return [line for line in panel.view.lines.lines if is_fold(line.node)]


@pytest.mark.parametrize(("selection", "kind"), [(SEED, StatementLine), (ACCELERATOR, DisputeLine)])
def test_list_shows_five_rows_and_a_fold(
    desk: Desk, panel: SourcesPanel, qtmodeltester: ModelTester, selection: Selection, kind: type
) -> None:
    desk.select(selection)
    assert len(list_rows(panel, kind)) == 5
    fold = next(line for line in list_folds(panel) if all(is_about(child.node, kind) for child in line.children))
    folded_count = len(fold.children)
    assert folded_count > 1
    assert fold.node.sentence == f"… and {folded_count} more"
    index = panel.view.lines.index_of(fold)
    assert not panel.view.isExpanded(index)
    panel.view.setCurrentIndex(index)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.view.isExpanded(index)
    for child in fold.children:
        assert panel.view.lines.find(child.node.key).isValid()
    check_model(qtmodeltester, panel.view.lines)


def test_slightly_longer_list_has_no_fold(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_catalog_attribute("mi325x", "memory_bandwidth"))
    rows = list_rows(panel, StatementLine)
    assert 3 <= len(rows) <= 6
    assert list_folds(panel) == []
