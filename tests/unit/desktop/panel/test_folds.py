"""Long lists in the panel show their first lines; the others are a fold away."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester

from gpudesk.desktop.panel.model import Line
from gpudesk.desktop.panel.node import Kind
from gpudesk.desktop.panel.panel import SourcesPanel
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, catalog_attribute, catalog_source, catalog_thing
from tests.unit.desktop.panel.reading import check

SEED = catalog_source("seed-002")
PART = catalog_thing("mi325x")


def of_kind(panel: SourcesPanel, kind: Kind) -> list[Line]:
    """Return the lines at the top that are of a kind."""
    return [line for line in panel.view.lines.lines if line.node.kind is kind]


@pytest.mark.parametrize(("selected", "kind"), [(SEED, Kind.STATEMENT), (PART, Kind.DISPUTE)])
def test_five_are_in_sight_and_the_others_unfold(
    desk: Desk, panel: SourcesPanel, qtmodeltester: ModelTester, selected: Selection, kind: Kind
) -> None:
    desk.select(selected)
    assert len(of_kind(panel, kind)) == 5
    fold = next(
        line for line in of_kind(panel, Kind.MORE) if {child.node.kind for child in line.children} == {kind}
    )
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
    desk.select(catalog_attribute("mi325x", "memory_bandwidth"))
    shown = of_kind(panel, Kind.STATEMENT)
    assert 3 <= len(shown) <= 6
    assert of_kind(panel, Kind.MORE) == []
