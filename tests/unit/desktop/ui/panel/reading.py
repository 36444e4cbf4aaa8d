"""What tests read in the panel and do to it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.panel.model import PanelModel
from gpudesk.desktop.ui.panel.nodes import NodeKind
from gpudesk.desktop.window.sources_panel import SourcesPanel


def lines(panel: SourcesPanel, kind: NodeKind) -> list[str]:
    """Return the sentences of all lines of a kind."""
    found = (line.node for top in panel.view.lines.lines for line in top.walk())
    return [node.sentence for node in found if node.kind is kind]


def current(panel: SourcesPanel) -> str:
    return str(panel.view.currentIndex().data())


def click(qtbot: QtBot, panel: SourcesPanel, index: QModelIndex) -> None:
    place = panel.view.visualRect(index).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)  # type: ignore[no-untyped-call]


def check(model_tester: ModelTester, model: PanelModel) -> None:
    model_tester.check(model)  # type: ignore[no-untyped-call]


def press(qtbot: QtBot, panel: SourcesPanel, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(panel.view, key)  # type: ignore[no-untyped-call]
